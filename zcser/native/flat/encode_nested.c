/* Encoding nested messages: each is whole in itself, and stands in the tail of the one around it. */
#include "encode.h"

/* Write a message with an encoder of its own, which has what is left of the limits; new reference to its bytes. */
static PyObject *encode_inner(Encoder *inner, const Node *root, PyObject *value)
{
    if (encode_nested_head(inner, root, value) || lay_out_tail(inner)) {
        return NULL;
    }
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)inner->total);
    if (bytes != NULL) {
        write_message(inner, PyBytes_AS_STRING(bytes));
    }
    return bytes;
}

int encode_nested(Encoder *encoder, const Node *node, PyObject *value, size_t slot)
{
    Engine *engine = encoder->engine;
    Encoder *inner = PyMem_Malloc(sizeof *inner); /* Too large for the stack, where messages nest deeply. */
    if (inner == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    PyObject *bytes = NULL;
    if (!encoder_begin(inner, engine)) {
        inner->elements = encoder->elements;
        inner->depth = encoder->depth;
        bytes = encode_inner(inner, &engine->nodes[node->item], value);
        encoder->elements = inner->elements;
        encoder->reason = inner->reason;
        need_alignment(encoder, inner->alignment);
    }
    encoder_end(inner);
    PyMem_Free(inner);
    int failed = bytes == NULL ? -1 : collect_bytes(encoder, node, bytes, slot);
    Py_XDECREF(bytes);
    return failed;
}
