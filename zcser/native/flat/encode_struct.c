/* Encoding structs and arrays, which stand inline, and vectors of structs. */
#include "encode.h"

static int encode_fields(Encoder *encoder, const Node *node, PyObject *record, char *place)
{
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        const Place *field = &node->places[position];
        PyObject *value = dict_item(record, field->name);
        if (value == NULL) {
            return misfit(encoder, "a field is missing");
        }
        int failed = encode_inline(encoder, &encoder->engine->nodes[field->node], value, place + field->offset);
        Py_DECREF(value);
        if (failed) {
            return -1;
        }
    }
    return PyDict_GET_SIZE(record) == node->place_count ? 0 : misfit(encoder, "an unknown field");
}

static int encode_struct(Encoder *encoder, const Node *node, PyObject *record, char *place)
{
    if (!PyDict_CheckExact(record)) {
        return misfit(encoder, "a record of another class");
    }
    if (enter(encoder)) {
        return -1;
    }
    memset(place, 0, node->size);
    int failed = encode_fields(encoder, node, record, place);
    leave(encoder);
    return failed;
}

/* The items of an array or of a vector of structs. */
static int encode_items(Encoder *encoder, const Node *node, PyObject *list, Py_ssize_t count, char *place)
{
    const Node *item = &encoder->engine->nodes[node->item];
    for (Py_ssize_t index = 0; index < count; index++, place += item->size) {
        PyObject *value = list_item(node, list, index);
        if (value == NULL) {
            return list_changed(encoder);
        }
        int failed = encode_inline(encoder, item, value, place);
        Py_DECREF(value);
        if (failed) {
            return -1;
        }
    }
    return list_size(node, list) == count ? 0 : list_changed(encoder);
}

static int encode_array(Encoder *encoder, const Node *node, PyObject *list, char *place)
{
    if (check_list(encoder, node, list) || count_elements(encoder, node->bound) || enter(encoder)) {
        return -1;
    }
    int failed = encode_items(encoder, node, list, node->bound, place);
    leave(encoder);
    return failed;
}

int encode_inline(Encoder *encoder, const Node *node, PyObject *value, char *place)
{
    switch (node->op) {
    case OP_STRUCT:
        return encode_struct(encoder, node, value, place);
    case OP_ARRAY:
        return encode_array(encoder, node, value, place);
    default:
        return encode_scalar(&encoder->reason, node, value, place);
    }
}

int encode_struct_apart(Encoder *encoder, const Node *node, PyObject *value, size_t *target)
{
    size_t align = node->align < 4 ? 4 : node->align;
    if (align_head_past(encoder, align, 0, node->size)
        || encode_struct(encoder, node, value, encoder->head + encoder->size)) {
        return -1;
    }
    *target = encoder->size;
    encoder->size += node->size;
    return 0;
}

/* Structs that the tail will hold; they are written now, as the list may change. */
static int collect_structs(Encoder *encoder, const Node *node, PyObject *list, Py_ssize_t count, size_t slot)
{
    const Node *item = &encoder->engine->nodes[node->item];
    if (count > PY_SSIZE_T_MAX / (Py_ssize_t)item->size) {
        return misfit(encoder, "more bytes than there can be");
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)item->size * count);
    if (bytes == NULL) {
        return -1;
    }
    need_alignment(encoder, item->align);
    int failed = encode_items(encoder, node, list, count, PyBytes_AS_STRING(bytes))
                 || collect_bytes(encoder, node, bytes, slot);
    Py_DECREF(bytes);
    if (!failed) {
        TailItem *found = &encoder->tail[encoder->tail_count - 1];
        found->align = found->align < item->align ? item->align : found->align;
    }
    return failed ? -1 : 0;
}

int encode_structs(Encoder *encoder, const Node *node, PyObject *list, size_t slot, size_t *vector)
{
    const Node *item = &encoder->engine->nodes[node->item];
    if (check_list(encoder, node, list)) {
        return -1;
    }
    Py_ssize_t count = list_size(node, list);
    if (count_elements(encoder, count) || enter(encoder)) {
        return -1;
    }
    int failed = node->is_in_tail ? collect_structs(encoder, node, list, count, slot)
                                  : begin_vector(encoder, count, item->size, item->align, vector)
                                        || encode_items(encoder, node, list, count, encoder->head + *vector + 4);
    leave(encoder);
    return failed ? -1 : 0;
}
