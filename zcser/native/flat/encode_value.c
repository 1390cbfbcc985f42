/* Encoding what an offset leads to. */
#include "encode.h"

static int encode_bytes(Encoder *encoder, const Node *node, PyObject *value, size_t slot, size_t *target)
{
    if (!PyBytes_CheckExact(value)) {
        return misfit(encoder, "no bytes");
    }
    Py_ssize_t size = PyBytes_GET_SIZE(value);
    if (node->bound >= 0 && size != node->bound) {
        return misfit(encoder, "bytes of another size");
    }
    if (size >= TAIL || node->is_in_tail) {
        return collect_bytes(encoder, node, value, slot);
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
        return encode_text(encoder, node, value, slot, target);
    case OP_BYTES:
        return encode_bytes(encoder, node, value, slot, target);
    case OP_NUMBERS:
    case OP_STRINGS:
    case OP_TABLES:
        return encode_list(encoder, node, value, slot, target);
    case OP_MAP:
        return encode_map(encoder, node, value, target);
    default:
        return encode_alone(encoder, node, value, target);
    }
}

int encode_kind(Encoder *encoder, const Node *node, size_t held, size_t slot)
{
    PyObject *value = encoder->held[held];
    if (node->op == OP_ONEOFS) {
        return encode_numbers_of(encoder, node, value, slot);
    }
    encoder->head[slot] = (char)number_of_name(node, value);
    return 0;
}

static int encode_apart(Encoder *encoder, const Node *node, size_t held, size_t slot, size_t *target)
{
    PyObject *value = encoder->held[held];
    switch (node->op) {
    case OP_STRUCTS:
        return encode_structs(encoder, node, value, slot, target);
    case OP_ONEOF:
        return encode_oneof(encoder, node, held, slot, target);
    case OP_ONEOFS:
        return encode_oneofs(encoder, node, value, slot, target);
    default:
        return encode_nested(encoder, node, value, slot);
    }
}

int encode_further(Encoder *encoder, const Node *node, size_t held, size_t slot)
{
    size_t target = slot;
    if (is_inline(node->op)) {
        return encode_inline(encoder, node, encoder->held[held], encoder->head + slot);
    }
    if (encode_apart(encoder, node, held, slot, &target)) {
        return -1;
    }
    point(encoder, slot, target);
    return 0;
}
