/* Buffers: what is taken without asking Python, and the export that views hold. */
#include "header.h"

/* Whether a buffer is bytes without gaps, and no pointers to objects. */
static bool is_plain(const Py_buffer *buffer)
{
    bool is_row = buffer->ndim == 1 && buffer->suboffsets == NULL && buffer->strides != NULL
                  && buffer->strides[0] == buffer->itemsize;
    return (is_row || PyBuffer_IsContiguous(buffer, 'C'))
           && (buffer->format == NULL || strchr(buffer->format, 'O') == NULL);
}

int buffer_take(PyObject *source, Py_ssize_t offset, Py_ssize_t size, Py_buffer *buffer)
{
    int flags = PyBytes_CheckExact(source) || PyByteArray_CheckExact(source) ? PyBUF_SIMPLE : PyBUF_FULL_RO;
    if (PyObject_GetBuffer(source, buffer, flags)) {
        PyErr_Clear();
        return 1;
    }
    if (offset < 0 || offset > buffer->len - size || (flags == PyBUF_FULL_RO && !is_plain(buffer))) {
        PyBuffer_Release(buffer);
        return 1;
    }
    return 0;
}

int place_arguments(const char *function, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **source,
                    PyObject **offset, Py_ssize_t *number)
{
    *source = nargs > 0 ? args[0] : NULL;
    *offset = nargs > 1 ? args[1] : NULL;
    Py_ssize_t named = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t index = 0; index < named; index++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, index);
        PyObject **taken = PyUnicode_CompareWithASCIIString(name, "buffer") == 0   ? source
                           : PyUnicode_CompareWithASCIIString(name, "offset") == 0 ? offset
                                                                                   : NULL;
        if (taken == NULL || *taken != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() has no argument %R, or was given it twice", function, name);
            return -1;
        }
        *taken = args[nargs + index];
    }
    if (nargs > 2 || *source == NULL) {
        PyErr_Format(PyExc_TypeError, "%s() takes a buffer, and an offset", function);
        return -1;
    }
    *number = 0;
    if (*offset == NULL) {
        return 0;
    }
    *number = PyLong_CheckExact(*offset) ? PyLong_AsSsize_t(*offset) : -1;
    if (*number < 0) {
        PyErr_Clear();
        return 1;
    }
    return 0;
}

static void let_go(Memory *self)
{
    PyBuffer_Release(&self->buffer);
    Py_CLEAR(self->source);
}

void memory_release(Memory *self)
{
    bool is_last;
    Py_BEGIN_CRITICAL_SECTION(self);
    is_last = !self->is_released && self->users == 0;
    self->is_released = true;
    Py_END_CRITICAL_SECTION();
    if (is_last) {
        let_go(self);
    }
}

PyObject *source_bytes(const Layout *layout, PyObject *source)
{
    return layout->byte_view == Py_None ? Py_NewRef(source) : PyObject_CallOneArg(layout->byte_view, source);
}

int raise_released(const Layout *layout)
{
    PyObject *error = PyObject_CallNoArgs(layout->released);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return -1;
}

int memory_enter(Memory *self)
{
    bool is_released;
    Py_BEGIN_CRITICAL_SECTION(self);
    is_released = self->is_released;
    self->users += !is_released;
    Py_END_CRITICAL_SECTION();
    return is_released ? raise_released(self->layout) : 0;
}

void memory_leave(Memory *self)
{
    bool is_last;
    Py_BEGIN_CRITICAL_SECTION(self);
    is_last = --self->users == 0 && self->is_released;
    Py_END_CRITICAL_SECTION();
    if (is_last) {
        let_go(self);
    }
}

Memory *memory_new(Layout *layout, PyObject *source, Py_ssize_t offset)
{
    Memory *self = PyObject_GC_New(Memory, layout->state->memory_type);
    if (self == NULL) {
        return NULL;
    }
    self->layout = (Layout *)Py_NewRef(layout);
    self->buffer.obj = NULL;
    self->source = NULL;
    self->users = 0;
    self->is_released = false;
    /* In its place at once: what an exporter fills in may point into itself. */
    if (buffer_take(source, offset, layout->root->size, &self->buffer)) {
        self->buffer.obj = NULL;
        self->is_released = true;
    } else {
        self->source = Py_NewRef(source);
    }
    PyObject_GC_Track(self);
    return self;
}

static int memory_traverse(Memory *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->layout);
    Py_VISIT(self->buffer.obj);
    Py_VISIT(self->source);
    return 0;
}

static int memory_clear(Memory *self)
{
    /* The layout stays, as the nodes of views are its own; it breaks its own cycles. */
    memory_release(self);
    return 0;
}

static void memory_dealloc(Memory *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    memory_clear(self);
    Py_DECREF(self->layout);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyType_Slot memory_slots[] = {
    {Py_tp_doc, "A buffer under views."},
    {Py_tp_dealloc, memory_dealloc},
    {Py_tp_traverse, memory_traverse},
    {Py_tp_clear, memory_clear},
    {0, NULL},
};

PyType_Spec memory_spec = {
    .name = "zcser.native._header.Memory",
    .basicsize = sizeof(Memory),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = memory_slots,
};
