/* The tail of a message: what is left to it, and where that stands. */
#include "encode.h"

/* How the value of a node stands in the tail. */
static void set_kind(const Engine *engine, TailItem *item, const Node *node, size_t slot)
{
    bool has_items = node->op == OP_NUMBERS || node->op == OP_STRUCTS;
    item->patch = slot;
    item->width = has_items ? engine->nodes[node->item].size : 1;
    item->is_wide = node->size == 8;
    item->length_size = node->has_long_length ? 8 : 4;
    item->align = node->align > ALIGNMENT ? node->align : ALIGNMENT;
}

int collect_bytes(Encoder *encoder, const Node *node, PyObject *bytes, size_t slot)
{
    TailItem *item = new_tail_item(encoder);
    if (item == NULL || PyObject_GetBuffer(bytes, &item->data, PyBUF_SIMPLE)) {
        return -1;
    }
    set_kind(encoder->engine, item, node, slot);
    encoder->tail_count++;
    return 0;
}

static int collect_utf8(Encoder *encoder, const Node *node, PyObject *value, size_t slot)
{
    PyObject *bytes = PyUnicode_AsUTF8String(value);
    if (bytes == NULL) {
        return -1;
    }
    int failed = node->bound >= 0 && PyBytes_GET_SIZE(bytes) > node->bound
                     ? misfit(encoder, "more bytes of UTF-8 than a str may have")
                     : collect_bytes(encoder, node, bytes, slot);
    Py_DECREF(bytes);
    if (!failed) {
        encoder->tail[encoder->tail_count - 1].is_text = true;
    }
    return failed;
}

/* The item of the tail of an equal string that was met before, at `index`: 1 if there is one, 0 if not. */
static int find_shared(Encoder *encoder, PyObject *value, size_t *index)
{
    if (encoder->shared == NULL) {
        encoder->shared = PyDict_New();
        return encoder->shared == NULL ? -1 : 0;
    }
    PyObject *found = PyDict_GetItemWithError(encoder->shared, value);
    if (found == NULL) {
        return PyErr_Occurred() ? -1 : 0;
    }
    *index = PyLong_AsSize_t(found);
    return 1;
}

static int share(Encoder *encoder, PyObject *value, size_t index)
{
    PyObject *number = PyLong_FromSize_t(index);
    int failed = number == NULL ? -1 : PyDict_SetItem(encoder->shared, value, number);
    Py_XDECREF(number);
    return failed;
}

int collect_text(Encoder *encoder, const Node *node, PyObject *value, size_t slot)
{
    if (!PyUnicode_CheckExact(value)) {
        return misfit(encoder, "no str");
    }
    if (!node->is_shared) {
        return collect_utf8(encoder, node, value, slot);
    }
    size_t index;
    int found = find_shared(encoder, value, &index);
    if (found < 0) {
        return -1;
    }
    if (found == 0) {
        if (collect_utf8(encoder, node, value, slot)) {
            return -1;
        }
        encoder->tail[encoder->tail_count - 1].align = 4;
        return share(encoder, value, encoder->tail_count - 1);
    }
    if (node->bound >= 0 && encoder->tail[index].data.len > node->bound) {
        return misfit(encoder, "more bytes of UTF-8 than a str may have");
    }
    Repeat *repeat = new_repeat(encoder);
    if (repeat == NULL) {
        return -1;
    }
    *repeat = (Repeat){slot, index, node->size == 8};
    return 0;
}

static void point_wide(Encoder *encoder, size_t place, size_t target, bool is_wide)
{
    if (is_wide) {
        store_u64(encoder->head + place, target - place);
    } else {
        point(encoder, place, target);
    }
}

/* Whether offsets reach as far as they have to: those of 4 bytes up to `reach`. */
static int check_size(Encoder *encoder, size_t reach)
{
    Engine *engine = encoder->engine;
    size_t total = encoder->total, addressed = engine->is_prefixed ? total : reach;
    if (total > (size_t)engine->bytes) {
        raise_reason(engine, PyUnicode_FromFormat("%zu bytes are more than limits.bytes = %zd", total, engine->bytes));
        return -1;
    }
    if (addressed > INT32_MAX) {
        raise_reason(engine, PyUnicode_FromFormat("%zu bytes are more than FlatBuffers can address", addressed));
        return -1;
    }
    return 0;
}

int lay_out_tail(Encoder *encoder)
{
    size_t end = encoder->size, reach = end;
    for (size_t index = 0; index < encoder->tail_count; index++) {
        TailItem *item = &encoder->tail[index];
        size_t align = item->align;
        item->at = (end + item->length_size + align - 1) & ~(align - 1);
        point_wide(encoder, item->patch, item->at - item->length_size, item->is_wide);
        end = item->at + (size_t)item->data.len + item->is_text;
        /* A length of 4 bytes is enough for what an offset of 4 bytes reaches. */
        bool is_short = item->length_size == 4 && (size_t)item->data.len / item->width > UINT32_MAX;
        reach = item->is_wide && !is_short ? reach : end;
    }
    for (size_t index = 0; index < encoder->repeat_count; index++) {
        const Repeat *repeat = &encoder->repeats[index];
        const TailItem *item = &encoder->tail[repeat->item];
        point_wide(encoder, repeat->patch, item->at - item->length_size, repeat->is_wide);
    }
    encoder->total = end;
    return check_size(encoder, reach);
}
