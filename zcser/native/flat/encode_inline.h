/* The small steps of encoding, for encode.h alone. */
#ifndef ZCSER_FLAT_ENCODE_INLINE_H
#define ZCSER_FLAT_ENCODE_INLINE_H

static inline int misfit(Encoder *encoder, const char *reason)
{
    encoder->reason = reason;
    return -1;
}

/* Room for `more` bytes of the head. */
static inline int reserve_head(Encoder *encoder, size_t more)
{
    return encoder->capacity - encoder->size >= more ? 0 : grow_head(encoder, more);
}

/* The next multiple of 4, with zeros before it, and room for `more` bytes there. */
static inline int align_head(Encoder *encoder, size_t more)
{
    if (reserve_head(encoder, more + 3)) {
        return -1;
    }
    memset(encoder->head + encoder->size, 0, 3);
    encoder->size = (encoder->size + 3) & ~(size_t)3;
    return 0;
}

/* The message's address is to be a multiple of `align`. */
static inline void need_alignment(Encoder *encoder, size_t align)
{
    if (encoder->alignment < align) {
        encoder->alignment = align;
    }
}

/* As above, to 4 bytes before a multiple of 8. */
static inline int align_head_eight(Encoder *encoder, size_t more)
{
    if (align_head(encoder, more + 4)) {
        return -1;
    }
    if ((encoder->size & 4) == 0) {
        store_u32(encoder->head + encoder->size, 0);
        encoder->size += 4;
    }
    need_alignment(encoder, 8);
    return 0;
}

/* As above, to 4 bytes before a multiple of any alignment, a power of two. */
static inline int align_head_before(Encoder *encoder, size_t align, size_t more)
{
    if (align <= 4) {
        return align_head(encoder, more);
    }
    return align == 8 ? align_head_eight(encoder, more) : align_head_past(encoder, align, 4, more);
}

/* Write, at a place, the offset that leads from there to a later one. */
static inline void point(Encoder *encoder, size_t place, size_t target)
{
    store_u32(encoder->head + place, (uint32_t)(target - place));
}

/* Hold a reference, which is the encoder's from here on. Room was reserved. */
static inline void hold(Encoder *encoder, PyObject *value)
{
    encoder->held[encoder->held_count++] = value;
}

static inline int reserve_held(Encoder *encoder, size_t more)
{
    return encoder->held_capacity - encoder->held_count >= more ? 0 : grow_held(encoder, more);
}

/* Let go of all but the first `count` held. */
static inline void let_go(Encoder *encoder, size_t count)
{
    while (encoder->held_count > count) {
        Py_XDECREF(encoder->held[--encoder->held_count]);
    }
}

/* A new reference, or NULL, with an exception or without. */
static inline PyObject *dict_item(PyObject *dict, PyObject *key)
{
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *value;
    (void)PyDict_GetItemRef(dict, key, &value);
    return value;
#else
    return Py_XNewRef(PyDict_GetItemWithError(dict, key));
#endif
}

static inline Py_ssize_t list_size(const Node *node, PyObject *list)
{
    return node->is_tuple ? PyTuple_GET_SIZE(list) : PyList_GET_SIZE(list);
}

/* A new reference, or NULL where the list has become too short. */
static inline PyObject *list_item(const Node *node, PyObject *list, Py_ssize_t index)
{
    if (node->is_tuple) {
        return Py_NewRef(PyTuple_GET_ITEM(list, index));
    }
#ifdef Py_GIL_DISABLED
    return PyList_GetItemRef(list, index);
#else
    return index < PyList_GET_SIZE(list) ? Py_NewRef(PyList_GET_ITEM(list, index)) : NULL;
#endif
}

/* Whether a value is a list or tuple, as the node wants it, of as many items as it wants. */
static inline int check_list(Encoder *encoder, const Node *node, PyObject *list)
{
    if (!Py_IS_TYPE(list, node->is_tuple ? &PyTuple_Type : &PyList_Type)) {
        return misfit(encoder, node->is_tuple ? "no tuple" : "no list");
    }
    return node->bound >= 0 && list_size(node, list) != node->bound ? misfit(encoder, "a list of another length") : 0;
}

/* Enter a record, list or map, where their depth counts. */
static inline int enter(Encoder *encoder)
{
    if (!encoder->engine->counts_depth) {
        return 0;
    }
    if (encoder->depth >= encoder->engine->depth) {
        return misfit(encoder, "nested deeper than limits.depth");
    }
    if (Py_EnterRecursiveCall(" while a message is encoded")) {
        return -1;
    }
    encoder->depth++;
    return 0;
}

static inline void leave(Encoder *encoder)
{
    if (encoder->engine->counts_depth) {
        encoder->depth--;
        Py_LeaveRecursiveCall();
    }
}

#endif
