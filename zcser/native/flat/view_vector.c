/* Views of lists. */
#include "view.h"

Py_ssize_t vector_length(VectorView *self)
{
    if (message_enter(self->head.message)) {
        return -1;
    }
    message_leave(self->head.message);
    return self->count;
}

/* The item of a ONEOFS. */
static PyObject *show_union(VectorView *self, Reader *reader, const Node *item, Py_ssize_t index)
{
    int kind = read_item_kind(reader, self->numbers, self->first, (uint64_t)index);
    if (kind <= 0) {
        return kind < 0 ? NULL : Py_NewRef(Py_None);
    }
    return show_oneof(self->head.message, reader, item, self->first + 4 * (uint64_t)index, (uint64_t)kind);
}

static PyObject *show_item(VectorView *self, Reader *reader, Py_ssize_t index)
{
    const Node *node = self->head.node, *item = &reader->engine->nodes[node->item];
    uint64_t place = self->first + (uint64_t)index * (is_inline(item->op) ? item->size : 4u);
    PyObject *value = NULL;
    reader->at = self->first - 4;
    switch (node->op) {
    case OP_NUMBERS:
        value = read_scalar(reader, item, place);
        break;
    case OP_STRINGS:
        read_value(reader, item, place, 0, &value);
        break;
    case OP_ARRAY:
    case OP_STRUCTS:
        value = show_inline(self->head.message, reader, item, place);
        break;
    case OP_ONEOFS:
        value = show_union(self, reader, item, index);
        break;
    default:
        value = show_offset(self->head.message, reader, item, place);
    }
    if (value == NULL) {
        step_item(reader, index);
    }
    return value;
}

/* The item at an index that counts from the start. */
static PyObject *read_item(VectorView *self, Py_ssize_t index)
{
    if (message_enter(self->head.message)) {
        return NULL;
    }
    Reader reader = self->head.message->start;
    return message_finish(self->head.message, &reader, show_item(self, &reader, index));
}

static PyObject *read_items(VectorView *self, PyObject *slice)
{
    Py_ssize_t start, stop, step;
    if (PySlice_Unpack(slice, &start, &stop, &step)) {
        return NULL;
    }
    Py_ssize_t count = PySlice_AdjustIndices(self->count, &start, &stop, step);
    if (message_enter(self->head.message)) {
        return NULL;
    }
    Reader reader = self->head.message->start;
    PyObject *items = PyList_New(count);
    for (Py_ssize_t index = 0; items != NULL && index < count; index++) {
        PyObject *item = show_item(self, &reader, start + index * step);
        if (item == NULL) {
            Py_CLEAR(items);
        } else {
            PyList_SET_ITEM(items, index, item);
        }
    }
    return message_finish(self->head.message, &reader, items);
}

static PyObject *no_item(VectorView *self, PyObject *index)
{
    return PyErr_Format(PyExc_IndexError, "index %S is outside a list of %zd items", index, self->count);
}

static PyObject *vector_subscript(VectorView *self, PyObject *index)
{
    if (PySlice_Check(index)) {
        return read_items(self, index);
    }
    Py_ssize_t position = PyNumber_AsSsize_t(index, NULL); /* Clipped. */
    if (position == -1 && PyErr_Occurred()) {
        return NULL;
    }
    position += position < 0 ? self->count : 0;
    return position < 0 || position >= self->count ? no_item(self, index) : read_item(self, position);
}

static PyObject *vector_item(VectorView *self, PyObject *index)
{
    Py_ssize_t position = PyNumber_AsSsize_t(index, NULL);
    if (position == -1 && PyErr_Occurred()) {
        return NULL;
    }
    return position < 0 || position >= self->count ? no_item(self, index) : read_item(self, position);
}

/* The first item that a search for a key comes upon; None where there is none. */
static PyObject *vector_lookup(VectorView *self, PyObject *key)
{
    Message *message = self->head.message;
    const Engine *engine = message->start.engine;
    const Node *node = self->head.node;
    const Place *place = node->op == OP_TABLES || node->op == OP_STRUCTS ? engine->nodes[node->item].key : NULL;
    if (place == NULL || (engine->nodes[place->node].op > OP_ENUM && engine->nodes[place->node].op != OP_STRING)) {
        PyErr_SetString(PyExc_TypeError, "the items of this list have no key that can be looked up");
        return NULL;
    }
    if (message_enter(message)) {
        return NULL;
    }
    Reader reader = message->start;
    Sought sought;
    TableAt table;
    Py_ssize_t index = 0;
    int found = sought_begin(engine, place, node->op == OP_STRUCTS, key, &sought);
    if (found > 0 && (found = search(self, &reader, &sought, &index, &table)) < 0) {
        step_item(&reader, index);
    }
    PyObject *value = found < 0 ? NULL : found == 0 ? Py_NewRef(Py_None) : show_item(self, &reader, index);
    return message_finish(message, &reader, value);
}

static PyMethodDef vector_methods[] = {
    VIEW_METHODS,
    {"_zc_lookup", (PyCFunction)vector_lookup, METH_O, "The item with a key, or None."},
    {"_zc_item", (PyCFunction)vector_item, METH_O, "The item at an index that counts from the start."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot vector_slots[] = {
    VIEW_SLOTS,
    {Py_tp_doc, "A list in a message."},
    {Py_tp_methods, vector_methods},
    {Py_mp_length, vector_length},
    {Py_mp_subscript, vector_subscript},
    {0, NULL},
};

PyType_Spec vector_view_spec = {
    .name = "zcser.native._flat.VectorView",
    .basicsize = sizeof(VectorView),
    .flags = VIEW_FLAGS,
    .slots = vector_slots,
};

/* How the buffer protocol names a scalar; NULL: it cannot. */
static const char *format_of(const Node *item)
{
    switch (item->op == OP_ENUM ? item->number : item->op) {
    case OP_BOOL: return "?";
    case OP_INT8: return "b";
    case OP_UINT8: return "B";
    case OP_INT16: return "h";
    case OP_UINT16: return "H";
    case OP_INT32: return "i";
    case OP_UINT32: return "I";
    case OP_INT64: return "q";
    case OP_UINT64: return "Q";
    case OP_FLOAT32: return "f";
    case OP_FLOAT64: return "d";
    default: return NULL;
    }
}

static int numbers_get_buffer(VectorView *self, Py_buffer *buffer, int flags)
{
    Message *message = self->head.message;
    const Engine *engine = message->start.engine;
    const Node *node = self->head.node, *item = &engine->nodes[node->item];
    buffer->obj = NULL;
    if ((flags & PyBUF_WRITABLE) == PyBUF_WRITABLE || (node->op != OP_NUMBERS && node->op != OP_ARRAY)
        || format_of(item) == NULL) {
        PyErr_SetString(PyExc_BufferError, "a view is read-only, and only a list of numbers has a buffer");
        return -1;
    }
    if (message_enter(message)) { /* Until the buffer is given back. */
        return -1;
    }
    if ((uintptr_t)(message->start.base + self->first) % item->size != 0) {
        /* numpy then goes through the items; native code must not be handed what it may not read. */
        message_leave(message);
        PyErr_Format(
            PyExc_BufferError, "the items lie at an address that is no multiple of %d; copy the message to another place",
            (int)item->size);
        return -1;
    }
    *buffer = (Py_buffer){
        .buf = (void *)(message->start.base + self->first),
        .obj = Py_NewRef(self),
        .len = self->count * item->size,
        .itemsize = item->size,
        .readonly = 1,
        .ndim = 1,
        .format = flags & PyBUF_FORMAT ? (char *)format_of(item) : NULL,
        .shape = (flags & PyBUF_ND) == PyBUF_ND ? &self->count : NULL,
    };
    if ((flags & PyBUF_STRIDES) == PyBUF_STRIDES) {
        buffer->strides = &buffer->itemsize;
    }
    return 0;
}

static void numbers_release_buffer(VectorView *self, Py_buffer *buffer)
{
    (void)buffer;
    message_leave(self->head.message);
}

static PyType_Slot numbers_slots[] = {
    VIEW_SLOTS,
    {Py_tp_doc, "A list of numbers in a message: a buffer of them."},
    {Py_bf_getbuffer, numbers_get_buffer},
    {Py_bf_releasebuffer, numbers_release_buffer},
    {0, NULL},
};

PyType_Spec numbers_view_spec = {
    .name = "zcser.native._flat.NumbersView",
    .basicsize = sizeof(VectorView),
    .flags = VIEW_FLAGS,
    .slots = numbers_slots,
};
