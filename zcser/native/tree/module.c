/* The module zcser.native._tree: guards over trees of builtins, and a walk over MessagePack. */
#include "tree.h"

#include <stddef.h>

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

/* What Python gives, in the order of the names of coder_new. */
static const size_t CALLS[] = {
    offsetof(Coder, dumps), offsetof(Coder, loads), offsetof(Coder, encode),
    offsetof(Coder, decode), offsetof(Coder, write), offsetof(Coder, read),
};
#define CALL_COUNT (sizeof CALLS / sizeof *CALLS)

static PyObject **call_of(Coder *coder, size_t index)
{
    return (PyObject **)((char *)coder + CALLS[index]);
}

static int coder_traverse(Coder *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    for (size_t index = 0; index < CALL_COUNT; index++) {
        Py_VISIT(*call_of(self, index));
    }
    return 0;
}

static int coder_clear(Coder *self)
{
    for (size_t index = 0; index < CALL_COUNT; index++) {
        Py_CLEAR(*call_of(self, index));
    }
    return 0;
}

static void coder_dealloc(Coder *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    coder_clear(self);
    program_free(self);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *coder_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"nodes",      "root",   "checks", "finite", "surrogates", "can_write", "can_read",
                            "ends_apart", "limits", "dumps",  "loads",  "encode",     "decode",    "write",
                            "read",       NULL};
    PyObject *nodes, *given[CALL_COUNT];
    Py_ssize_t root, depth, elements, bytes;
    int checks, finite, surrogates, can_write, can_read, ends_apart;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O!npppppp(nnn)OOOOOO", names, &PyTuple_Type, &nodes, &root, &checks, &finite, &surrogates,
            &can_write, &can_read, &ends_apart, &depth, &elements, &bytes, &given[0], &given[1], &given[2], &given[3], &given[4],
            &given[5])) {
        return NULL;
    }
    Coder *self = (Coder *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->checks = checks;
    self->finite = finite;
    self->surrogates = surrogates;
    self->can_write = can_write;
    self->can_read = can_read;
    self->ends_apart = ends_apart;
    self->depth = depth < DEEPEST ? depth : DEEPEST;
    self->elements = elements;
    self->bytes = bytes;
    for (size_t index = 0; index < CALL_COUNT; index++) {
        *call_of(self, index) = Py_NewRef(given[index]);
    }
    if (program_read(self, nodes, root)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static PyObject *coder_write(Coder *self, PyObject *value)
{
    if (self->can_write && (!self->checks || fits(self, value))) {
        return Py_NewRef(value);
    }
    return PyObject_CallOneArg(self->write, value);
}

static PyObject *coder_read(Coder *self, PyObject *tree)
{
    PyObject *value;
    int is_settled = self->can_read ? settle(self, tree, &value) : 0;
    if (is_settled < 0) {
        return NULL;
    }
    return is_settled ? value : PyObject_CallOneArg(self->read, tree);
}

static PyObject *coder_encode(Coder *self, PyObject *value)
{
    if (self->can_write && (!self->checks || fits(self, value))) {
        PyObject *data = PyObject_CallOneArg(self->dumps, value);
        if (data != NULL && PyBytes_CheckExact(data) && PyBytes_GET_SIZE(data) <= self->bytes
            && (!self->checks || PyBytes_GET_SIZE(data) <= self->elements)) {
            return data;
        }
        /* Whatever it is, Python finds it again, and the words for it. */
        Py_XDECREF(data);
        PyErr_Clear();
    }
    return PyObject_CallOneArg(self->encode, value);
}

static PyObject *decode_slowly(Coder *self, PyObject *data, PyObject *copy)
{
    PyObject *args[] = {data, copy};
    PyObject *names = Py_BuildValue("(s)", "copy");
    if (names == NULL) {
        return NULL;
    }
    PyObject *value = PyObject_Vectorcall(self->decode, args, 1, names);
    Py_DECREF(names);
    return value;
}

static PyObject *coder_decode(Coder *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    Py_ssize_t named = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    if (nargs != 1 || named > 1
        || (named == 1 && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(kwnames, 0), "copy") != 0)) {
        PyErr_SetString(PyExc_TypeError, "decode() takes the data, and copy= by name");
        return NULL;
    }
    PyObject *data = args[0], *copy = named == 1 ? args[1] : Py_True;
    /* An item takes a byte or more: no more items than bytes. */
    if (self->can_read && (copy == Py_True || !self->has_bytes) && PyBytes_CheckExact(data) && PyBytes_GET_SIZE(data) <= self->bytes
        && PyBytes_GET_SIZE(data) <= self->elements
        && (!self->ends_apart || is_whole_message(PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data)))) {
        PyObject *tree = PyObject_CallOneArg(self->loads, data);
        if (tree != NULL) {
            PyObject *value;
            int is_settled = settle(self, tree, &value);
            Py_DECREF(tree);
            if (is_settled > 0) {
                return value;
            }
        }
        PyErr_Clear();
    }
    return decode_slowly(self, data, copy);
}

static PyMethodDef coder_methods[] = {
    {"encode", (PyCFunction)coder_encode, METH_O, "Encode to fresh bytes."},
    {"decode", FAST(coder_decode), METH_FASTCALL | METH_KEYWORDS, "Decode a message."},
    {"write", (PyCFunction)coder_write, METH_O, "The tree of a value."},
    {"read", (PyCFunction)coder_read, METH_O, "The value of a tree, which is used up."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot coder_slots[] = {
    {Py_tp_doc, "Guards and calls of one codec; see zcser.tree.native."},
    {Py_tp_new, coder_new},
    {Py_tp_dealloc, coder_dealloc},
    {Py_tp_traverse, coder_traverse},
    {Py_tp_clear, coder_clear},
    {Py_tp_methods, coder_methods},
    {0, NULL},
};

static PyType_Spec coder_spec = {
    .name = "zcser.native._tree.Coder",
    .basicsize = sizeof(Coder),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = coder_slots,
};

static int module_exec(PyObject *module)
{
    PyObject *type = PyType_FromModuleAndSpec(module, &coder_spec, NULL);
    if (type == NULL) {
        return -1;
    }
    int failed = PyModule_AddType(module, (PyTypeObject *)type);
    Py_DECREF(type);
    return failed;
}

static PyMethodDef module_methods[] = {
    {"find_spans", find_spans, METH_VARARGS, "The big bins of a MessagePack message."},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "zcser.native._tree",
    .m_doc = "Guards over trees of builtins; see zcser.tree.native.",
    .m_size = 0,
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__tree(void)
{
    return PyModuleDef_Init(&module_definition);
}
