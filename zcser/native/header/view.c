/* Views of records, and the descriptors that read and write their fields. */
#include "header.h"

PyObject *view_new(Memory *memory, const Node *node, char *start)
{
    PyTypeObject *type = node->view_type;
    if (type == NULL) {
        PyErr_SetString(PyExc_RuntimeError, "the layout is at its end");
        return NULL;
    }
    View *self = (View *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->memory = (Memory *)Py_NewRef(memory);
        self->node = node;
        self->start = start;
    }
    return (PyObject *)self;
}

/* Open what Python found a place in: another buffer, perhaps, and another offset. */
static PyObject *view_aside(Layout *self, PyObject *source, PyObject *offset)
{
    PyObject *found = PyObject_CallFunctionObjArgs(self->place_of, source, offset, NULL);
    PyObject *memory_view;
    Py_ssize_t at;
    Memory *memory = NULL;
    if (found != NULL && PyArg_ParseTuple(found, "On", &memory_view, &at)) {
        memory = memory_new(self, memory_view, at);
    }
    Py_XDECREF(found);
    if (memory != NULL && memory->is_released) {
        PyErr_SetString(PyExc_BufferError, "the buffer changed while it was opened");
        Py_CLEAR(memory);
    }
    PyObject *view = memory == NULL ? NULL : view_new(memory, self->root, (char *)memory->buffer.buf + at);
    Py_XDECREF(memory);
    return view;
}

PyObject *layout_view(Layout *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *source, *offset;
    Py_ssize_t number;
    int is_aside = place_arguments("view", args, nargs, kwnames, &source, &offset, &number);
    if (is_aside) {
        return is_aside < 0 ? NULL : view_aside(self, source, offset);
    }
    Memory *memory = memory_new(self, source, number);
    if (memory == NULL) {
        return NULL;
    }
    PyObject *view = memory->is_released ? view_aside(self, source, offset)
                                         : view_new(memory, self->root, (char *)memory->buffer.buf + number);
    Py_DECREF(memory);
    return view;
}

static int view_traverse(View *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->memory);
    return 0;
}

static void view_dealloc(View *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (self->weak_references != NULL) {
        PyObject_ClearWeakRefs((PyObject *)self);
    }
    Py_XDECREF(self->memory);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *view_refuse(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    PyErr_Format(PyExc_TypeError, "a %s is made by a layout's view()", type->tp_name);
    return NULL;
}

static Py_ssize_t view_offset(const View *self)
{
    return self->start - (char *)self->memory->buffer.buf;
}

static PyObject *view_value(View *self, PyObject *unused)
{
    (void)unused;
    Memory *memory = self->memory;
    if (memory_enter(memory)) {
        return NULL;
    }
    PyObject *value = unpack(memory->layout, self->node, memory->buffer.buf, view_offset(self), memory->source);
    memory_leave(memory);
    return value;
}

static PyObject *view_release(View *self, PyObject *unused)
{
    (void)unused;
    memory_release(self->memory);
    Py_RETURN_NONE;
}

static PyObject *view_retained(View *self, PyObject *unused)
{
    (void)unused;
    Memory *memory = self->memory;
    Py_ssize_t size;
    Py_BEGIN_CRITICAL_SECTION(memory);
    size = memory->is_released ? 0 : memory->buffer.len;
    Py_END_CRITICAL_SECTION();
    return PyLong_FromSsize_t(size);
}

static PyMethodDef view_methods[] = {
    {"_zc_value", (PyCFunction)view_value, METH_NOARGS, "The whole record."},
    {"_zc_release", (PyCFunction)view_release, METH_NOARGS, "Let go of the buffer."},
    {"_zc_retained", (PyCFunction)view_retained, METH_NOARGS, "Bytes of the buffer."},
    {NULL, NULL, 0, NULL},
};

static PyMemberDef view_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(View, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot view_slots[] = {
    {Py_tp_doc, "A record in a buffer."},
    {Py_tp_new, view_refuse},
    {Py_tp_dealloc, view_dealloc},
    {Py_tp_traverse, view_traverse},
    {Py_tp_members, view_members},
    {Py_tp_methods, view_methods},
    {0, NULL},
};

PyType_Spec view_spec = {
    .name = "zcser.native._header.View",
    .basicsize = sizeof(View),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = view_slots,
};

PyObject *layout_set_view(Layout *self, PyObject *args)
{
    Py_ssize_t index;
    PyObject *cls;
    if (!PyArg_ParseTuple(args, "nO:set_view", &index, &cls)) {
        return NULL;
    }
    const PyTypeObject *base = self->state->view_type;
    if (index < 0 || index >= self->node_count || self->nodes[index].op != OP_RECORD || !PyType_Check(cls)
        || !PyType_IsSubtype((PyTypeObject *)cls, (PyTypeObject *)base)
        || ((PyTypeObject *)cls)->tp_basicsize != base->tp_basicsize || ((PyTypeObject *)cls)->tp_itemsize != 0) {
        PyErr_SetString(PyExc_ValueError, "set_view() takes the index of a record's node, and a view class for it");
        return NULL;
    }
    /* What type() gives a class would only, and slowly, look for slots and a dict that there are none of. */
    ((PyTypeObject *)cls)->tp_dealloc = (destructor)view_dealloc;
    Py_XSETREF(self->nodes[index].view_type, (PyTypeObject *)Py_NewRef(cls));
    Py_RETURN_NONE;
}

static PyObject *field_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"", "", "", NULL};
    State *state = PyType_GetModuleState(type);
    Layout *layout;
    Py_ssize_t node, place;
    if (state == NULL
        || !PyArg_ParseTupleAndKeywords(args, kwargs, "O!nn:Field", names, state->layout_type, &layout, &node, &place)) {
        return NULL;
    }
    if (node < 0 || node >= layout->node_count || place < 0 || place >= layout->nodes[node].place_count) {
        PyErr_SetString(PyExc_ValueError, "Field() takes the index of a record's node, and of a place in it");
        return NULL;
    }
    Field *self = (Field *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->layout = (Layout *)Py_NewRef(layout);
        self->record = &layout->nodes[node];
        self->place = &self->record->places[place];
    }
    return (PyObject *)self;
}

static int field_traverse(Field *self, visitproc visit, void *arg)
{
    /* Nothing to clear: like a tuple, a field cannot be the whole of a cycle. */
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->layout);
    return 0;
}

static void field_dealloc(Field *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->layout);
    type->tp_free(self);
    Py_DECREF(type);
}

/* The view that a field is asked for: one of its own record, whatever its class is by now. */
static View *view_of_field(const Field *self, PyObject *view)
{
    bool is_view = Py_TYPE(view)->tp_dealloc == (destructor)view_dealloc
                   || PyObject_TypeCheck(view, self->layout->state->view_type);
    if (is_view && ((View *)view)->node == self->record) {
        return (View *)view;
    }
    PyErr_Format(PyExc_TypeError, "the field %R of another record than %s", self->place->name, Py_TYPE(view)->tp_name);
    return NULL;
}

/* Call a function of Python's with the memory, the place of the field, and perhaps a value. */
static PyObject *call_aside(const Field *self, View *view, PyObject *function, PyObject *value)
{
    Memory *memory = (Memory *)Py_NewRef(view->memory);
    PyObject *result = NULL;
    if (memory_enter(memory) == 0) {
        PyObject *bytes = source_bytes(memory->layout, memory->source);
        PyObject *at = bytes == NULL ? NULL : PyLong_FromSsize_t(view_offset(view) + self->place->offset);
        if (at != NULL) {
            result = PyObject_CallFunctionObjArgs(function, bytes, at, value, NULL);
        }
        Py_XDECREF(bytes);
        Py_XDECREF(at);
        memory_leave(memory);
    }
    Py_DECREF(memory);
    return result;
}

static PyObject *field_get(Field *self, PyObject *object, PyObject *owner)
{
    (void)owner;
    if (object == NULL || object == Py_None) {
        return Py_NewRef(self);
    }
    View *view = view_of_field(self, object);
    if (view == NULL) {
        return NULL;
    }
    const Node *node = self->place->node;
    if (node->op >= OP_BYTES && node->op != OP_RECORD) {
        return call_aside(self, view, self->place->read, NULL);
    }
    Memory *memory = view->memory;
    bool is_released;
    PyObject *value = NULL;
    Py_BEGIN_CRITICAL_SECTION(memory);
    is_released = memory->is_released;
    if (!is_released && node->op != OP_RECORD) {
        value = node->read_scalar(view->start + self->place->offset);
    }
    Py_END_CRITICAL_SECTION();
    if (is_released) {
        raise_released(self->layout);
        return NULL;
    }
    return node->op == OP_RECORD ? view_new(memory, node, view->start + self->place->offset) : value;
}

static int field_set(Field *self, PyObject *object, PyObject *value)
{
    View *view = view_of_field(self, object);
    if (view == NULL) {
        return -1;
    }
    if (value == NULL) {
        PyErr_Format(PyExc_AttributeError, "the field %R cannot be deleted", self->place->name);
        return -1;
    }
    const Node *node = self->place->node;
    Memory *memory = view->memory;
    uint64_t bits;
    bool is_done = false;
    if (node->op < OP_BYTES && scalar_bits(node->op, node->size, value, &bits)) {
        Py_BEGIN_CRITICAL_SECTION(memory);
        if (!memory->is_released && !memory->buffer.readonly) {
            char *at = view->start + self->place->offset;
            scalar_store(node->size, node->is_swapped, at, bits);
            is_done = true;
        }
        Py_END_CRITICAL_SECTION();
    }
    if (is_done) {
        return 0;
    }
    PyObject *done = call_aside(self, view, self->place->write, value);
    Py_XDECREF(done);
    return done == NULL ? -1 : 0;
}

static PyType_Slot field_slots[] = {
    {Py_tp_doc, "A field of a record."},
    {Py_tp_new, field_new},
    {Py_tp_dealloc, field_dealloc},
    {Py_tp_traverse, field_traverse},
    {Py_tp_descr_get, field_get},
    {Py_tp_descr_set, field_set},
    {0, NULL},
};

PyType_Spec field_spec = {
    .name = "zcser.native._header.Field",
    .basicsize = sizeof(Field),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = field_slots,
};
