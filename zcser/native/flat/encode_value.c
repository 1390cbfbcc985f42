/* Encoding what an offset leads to. */
#include "encode.h"

static int collect_bytes(Encoder *encoder, PyObject *value, size_t slot)
{
    TailItem *item = new_tail_item(encoder);
    if (item == NULL || PyObject_GetBuffer(value, &item->data, PyBUF_SIMPLE)) {
        return -1;
    }
    item->array = NULL;
    item->patch = slot;
    encoder->tail_count++;
    return 0;
}

static int encode_bytes(Encoder *encoder, const Node *node, PyObject *value, size_t slot, size_t *target)
{
    if (!PyBytes_CheckExact(value)) {
        return misfit(encoder, "no bytes");
    }
    Py_ssize_t size = PyBytes_GET_SIZE(value);
    if (node->bound >= 0 && size != node->bound) {
        return misfit(encoder, "bytes of another size");
    }
    if (size >= TAIL) {
        return collect_bytes(encoder, value, slot);
    }
    if (align_head(encoder, 4 + (size_t)size)) {
        return -1;
    }
    char *place = encoder->head + encoder->size;
    store_u32(place, (uint32_t)size);
    memcpy(place + 4, PyBytes_AS_STRING(value), (size_t)size);
    *target = encoder->size;
    encoder->size += 4 + (size_t)size;
    return 0;
}

int encode_value(Encoder *encoder, const Node *node, PyObject *value, size_t slot, size_t *target)
{
    switch (node->op) {
    case OP_STRING:
        return encode_string(encoder, value, node->bound, target);
    case OP_BYTES:
        return encode_bytes(encoder, node, value, slot, target);
    case OP_NUMBERS:
    case OP_STRINGS:
    case OP_TABLES:
        return encode_list(encoder, node, value, target);
    case OP_MAP:
        return encode_map(encoder, node, value, target);
    default:
        return encode_alone(encoder, node, value, target);
    }
}
