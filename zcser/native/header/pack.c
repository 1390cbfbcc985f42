/* The Packer: messages of values, as bytes or into a buffer. */
#include "pack.h"

/* Copies from this size on let other threads run. All that they read is held, and what they write is nobody else's, or
   held as well. */
static const Py_ssize_t LARGE_COPY = (Py_ssize_t)1 << 20;

static void pass_end(Pass *pass)
{
    while (pass->hole_count > 0) {
        PyBuffer_Release(&pass->holes[--pass->hole_count].data);
    }
    if (pass->holes != pass->first_holes) {
        PyMem_Free(pass->holes);
    }
    if (pass->scratch != pass->first_scratch) {
        PyMem_Free(pass->scratch);
    }
}

/* Memory for a value; to be ended even if it fails. */
static int pass_begin(Pass *pass, const Packer *packer)
{
    const Part *root = packer->root;
    size_t size = (size_t)(root->size - root->apart), holes = (size_t)root->holes;
    pass->packer = packer;
    pass->skipped = 0;
    pass->hole_count = 0;
    pass->scratch = pass->first_scratch;
    pass->holes = pass->first_holes;
    if (size <= FIRST_SCRATCH) {
        memset(pass->scratch, 0, size);
    } else {
        pass->scratch = PyMem_Calloc(size, 1);
    }
    if (holes > FIRST_HOLES) {
        pass->holes = PyMem_Malloc(holes * sizeof *pass->holes);
    }
    if (pass->scratch == NULL || pass->holes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    return 0;
}

/* Read a value. 1, without an exception, where Python is to look; to be ended in any case. */
static int pass_value(Pass *pass, const Packer *packer, PyObject *value)
{
    if (pass_begin(pass, packer) == 0 && pack_value(pass, packer->root, value, 0) == 0) {
        return 0;
    }
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception)) {
        return -1;
    }
    PyErr_Clear();
    return 1;
}

static void write_parts(const Pass *pass, char *out)
{
    const char *from = pass->scratch;
    Py_ssize_t at = 0;
    for (Py_ssize_t number = 0; number < pass->hole_count; number++) {
        const Hole *hole = &pass->holes[number];
        memcpy(out + at, from, (size_t)(hole->at - at));
        memcpy(out + hole->at, hole->data.buf, (size_t)hole->data.len);
        from += hole->at - at;
        at = hole->at + hole->data.len;
    }
    memcpy(out + at, from, (size_t)(pass->packer->root->size - at));
}

static void write_message(const Pass *pass, char *out)
{
    if (pass->packer->root->size < LARGE_COPY) {
        write_parts(pass, out);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    write_parts(pass, out);
    Py_END_ALLOW_THREADS
}

static PyObject *packer_pack(Packer *self, PyObject *value)
{
    Pass pass;
    PyObject *message = NULL;
    int is_aside = pass_value(&pass, self, value);
    if (is_aside == 0) {
        message = PyBytes_FromStringAndSize(NULL, self->root->size);
        if (message != NULL) {
            write_message(&pass, PyBytes_AS_STRING(message));
        }
    }
    pass_end(&pass);
    return is_aside > 0 ? Py_NewRef(Py_None) : message;
}

/* Whether the message would be written over data that it is to hold. */
static bool overlaps(const Pass *pass, const char *out)
{
    uintptr_t start = (uintptr_t)out, end = start + (size_t)pass->packer->root->size;
    for (Py_ssize_t number = 0; number < pass->hole_count; number++) {
        const Py_buffer *data = &pass->holes[number].data;
        uintptr_t first = (uintptr_t)data->buf;
        if (first < end && start < first + (size_t)data->len) {
            return true;
        }
    }
    return false;
}

/* Write to a buffer of plain bytes with room at an aligned place; false, with nothing written, for any other. */
static bool write_into(const Pass *pass, PyObject *out, PyObject *offset)
{
    const Packer *packer = pass->packer;
    Py_buffer buffer;
    Py_ssize_t start = PyLong_CheckExact(offset) ? PyLong_AsSsize_t(offset) : -1;
    if (start < 0 || PyObject_GetBuffer(out, &buffer, PyBUF_CONTIG | PyBUF_FORMAT)) {
        return false;
    }
    bool is_room = strcmp(buffer.format, "B") == 0 && start <= buffer.len - packer->root->size;
    char *place = (char *)buffer.buf + (is_room ? start : 0);
    if (is_room && (uintptr_t)place % (uintptr_t)packer->alignment == 0 && !overlaps(pass, place)) {
        write_message(pass, place);
    } else {
        is_room = false;
    }
    PyBuffer_Release(&buffer);
    return is_room;
}

static PyObject *packer_pack_into(Packer *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 3) {
        PyErr_SetString(PyExc_TypeError, "pack_into() takes a value, a buffer and an offset");
        return NULL;
    }
    /* Made before the first byte is written, after which nothing may fail. */
    PyObject *size = PyLong_FromSsize_t(self->root->size);
    if (size == NULL) {
        return NULL;
    }
    Pass pass;
    int is_aside = pass_value(&pass, self, args[0]);
    if (is_aside == 0 && !write_into(&pass, args[1], args[2])) {
        is_aside = PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception) ? -1 : 1;
    }
    pass_end(&pass);
    if (is_aside == 0) {
        return size;
    }
    Py_DECREF(size);
    if (is_aside < 0) {
        return NULL;
    }
    PyErr_Clear();
    Py_RETURN_NONE;
}

static PyObject *packer_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"parts", "ndarray", "alignment", NULL};
    PyObject *parts, *ndarray;
    Py_ssize_t alignment;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!O!n:Packer", names, &PyTuple_Type, &parts, &PyType_Type, &ndarray,
                                     &alignment)) {
        return NULL;
    }
    if (alignment < 1) {
        PyErr_SetString(PyExc_ValueError, "an alignment is a positive number");
        return NULL;
    }
    Packer *self = (Packer *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->ndarray = (PyTypeObject *)Py_NewRef(ndarray);
    self->alignment = alignment;
    if (packer_read(self, parts)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int packer_traverse(Packer *self, visitproc visit, void *arg)
{
    /* Nothing to clear: like a tuple, a packer cannot be the whole of a cycle. */
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->ndarray);
    return packer_visit(self, visit, arg);
}

static void packer_dealloc(Packer *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    packer_free(self);
    Py_XDECREF(self->ndarray);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMethodDef packer_methods[] = {
    {"pack", (PyCFunction)packer_pack, METH_O, "The message of a value; None where Python is to look."},
    {"pack_into", (PyCFunction)(void (*)(void))packer_pack_into, METH_FASTCALL,
     "Write the message of a value to a buffer; its size, or None, with nothing written, where Python is to look."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot packer_slots[] = {
    {Py_tp_doc, "Writes values of one layout."},
    {Py_tp_new, packer_new},
    {Py_tp_dealloc, packer_dealloc},
    {Py_tp_traverse, packer_traverse},
    {Py_tp_methods, packer_methods},
    {0, NULL},
};

PyType_Spec packer_spec = {
    .name = "zcser.native._header.Packer",
    .basicsize = sizeof(Packer),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = packer_slots,
};
