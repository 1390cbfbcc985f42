/* What a walk gives: the message with its edits. */
#include "protowire.h"

/* Copy what stands between two places; -1 where a gap does. */
static int put_between(const Walk *walk, uint8_t **to, uint64_t from, uint64_t end)
{
    if (end > walk->limit) {
        return -1;
    }
    if (end > from) {
        memcpy(*to, walk->data + (from - walk->elsewhere), (size_t)(end - from));
        *to += end - from;
    }
    return 0;
}

PyObject *write_cut(Walk *walk, int64_t growth)
{
    PyObject *head = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)((int64_t)walk->size + growth));
    if (head == NULL) {
        return NULL;
    }
    uint8_t *to = (uint8_t *)PyBytes_AS_STRING(head);
    uint64_t done = 0;
    walk_rewind(walk);
    for (Py_ssize_t index = 0; index < walk->edit_count; index++) {
        const Edit *edit = &walk->edits[index];
        if (put_between(walk, &to, done, edit->length)) {
            goto unwalkable;
        }
        to = put_varint(to, edit->new_size);
        done = edit->body;
        if (edit->target < 0) {
            to = put_u32(to, edit->payload);
            to = put_u32(to, edit->payload != 0 ? 0 : (uint32_t)(edit->body - walk->elsewhere));
            to = put_u32(to, (uint32_t)edit->old_size);
            done += edit->old_size;
            if (edit->payload != 0) {
                walk_pass_gap(walk);
            }
        }
    }
    if (put_between(walk, &to, done, walk->size)) {
        goto unwalkable;
    }
    return head;

unwalkable:
    Py_DECREF(head);
    return NULL;
}

/* A padding field of so many bytes in all. */
static uint8_t *put_padding(uint8_t *to, unsigned size)
{
    *to++ = PADDING_TAG;
    *to++ = (uint8_t)(size - 2);
    memset(to, 0, size - 2);
    return to + (size - 2);
}

static int add_cut(PyObject *cuts, uint64_t number)
{
    PyObject *object = PyLong_FromUnsignedLongLong(number);
    int status = object == NULL ? -1 : PyList_Append(cuts, object);
    Py_XDECREF(object);
    return status;
}

PyObject *write_spliced(Walk *walk, int64_t growth)
{
    uint64_t payload_bytes = 0;
    for (Py_ssize_t index = 0; index < walk->edit_count; index++) {
        payload_bytes += walk->edits[index].target < 0 ? walk->edits[index].new_size : 0;
    }
    uint64_t size = (uint64_t)((int64_t)walk->size + growth) - payload_bytes;
    PyObject *text = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    PyObject *cuts = PyList_New(0);
    if (text == NULL || cuts == NULL) {
        goto failed;
    }
    uint8_t *const first = (uint8_t *)PyBytes_AS_STRING(text);
    uint8_t *to = first;
    uint64_t done = 0, spliced = 0;
    for (Py_ssize_t index = 0; index < walk->edit_count; index++) {
        const Edit *edit = &walk->edits[index];
        bool is_padded = edit->target == TENSOR && walk->is_aligned;
        unsigned before = 0;
        if (is_padded) {
            put_between(walk, &to, done, edit->tag);
            done = edit->tag;
            uint64_t place = (uint64_t)(to - first) + spliced + (edit->length - edit->tag) + varint_size(edit->new_size);
            before = 2 + (unsigned)(-(place + 2) % ALIGNMENT);
            to = put_padding(to, before);
        }
        put_between(walk, &to, done, edit->length);
        to = put_varint(to, edit->new_size);
        done = edit->body;
        if (edit->target < 0) {
            if (add_cut(cuts, (uint64_t)(to - first)) || add_cut(cuts, edit->payload)) {
                goto failed;
            }
            spliced += edit->new_size;
            done += STAND_IN_SIZE;
        }
        if (is_padded) {
            to = put_padding(to, PADDING_BYTES - before);
        }
    }
    put_between(walk, &to, done, walk->size);
    PyObject *both = PyTuple_Pack(2, text, cuts);
    Py_DECREF(text);
    Py_DECREF(cuts);
    return both;

failed:
    Py_XDECREF(text);
    Py_XDECREF(cuts);
    return NULL;
}
