/* The module zcser.native._header, and its Layout, which reads and opens records of one layout. */
#include "header.h"

static int layout_traverse(Layout *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->unpack_from);
    Py_VISIT(self->place_of);
    Py_VISIT(self->byte_view);
    Py_VISIT(self->released);
    return program_traverse(self, visit, arg);
}

static int layout_clear(Layout *self)
{
    program_clear(self);
    return 0;
}

static void layout_dealloc(Layout *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    program_clear(self);
    program_free(self);
    Py_XDECREF(self->unpack_from);
    Py_XDECREF(self->place_of);
    Py_XDECREF(self->byte_view);
    Py_XDECREF(self->released);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *layout_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"nodes", "unpack_from", "place_of", "byte_view", "released", NULL};
    PyObject *nodes, *unpack_from, *place_of, *byte_view, *released;
    State *state = PyType_GetModuleState(type);
    if (state == NULL
        || !PyArg_ParseTupleAndKeywords(args, kwargs, "O!OOOO:Layout", names, &PyTuple_Type, &nodes, &unpack_from,
                                        &place_of, &byte_view, &released)) {
        return NULL;
    }
    Layout *self = (Layout *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->unpack_from = Py_NewRef(unpack_from);
    self->place_of = Py_NewRef(place_of);
    self->byte_view = Py_NewRef(byte_view);
    self->released = Py_NewRef(released);
    if (program_read(self, nodes)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef layout_methods[] = {
    {"unpack_from", FAST(layout_unpack_from), METH_FASTCALL | METH_KEYWORDS, "Read a whole record."},
    {"view", FAST(layout_view), METH_FASTCALL | METH_KEYWORDS, "Open a record."},
    {"set_view", FAST(layout_set_view), METH_VARARGS, "Set the view class of a record's node."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot layout_slots[] = {
    {Py_tp_doc, "Reads and opens records of one layout."},
    {Py_tp_new, layout_new},
    {Py_tp_dealloc, layout_dealloc},
    {Py_tp_traverse, layout_traverse},
    {Py_tp_clear, layout_clear},
    {Py_tp_methods, layout_methods},
    {0, NULL},
};

static PyType_Spec layout_spec = {
    .name = "zcser.native._header.Layout",
    .basicsize = sizeof(Layout),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = layout_slots,
};

static PyTypeObject *make_type(PyObject *module, PyType_Spec *spec)
{
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, NULL);
}

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    if ((state->layout_type = make_type(module, &layout_spec)) == NULL
        || (state->memory_type = make_type(module, &memory_spec)) == NULL
        || (state->view_type = make_type(module, &view_spec)) == NULL
        || (state->field_type = make_type(module, &field_spec)) == NULL
        || (state->packer_type = make_type(module, &packer_spec)) == NULL) {
        return -1;
    }
    return PyModule_AddType(module, state->layout_type) || PyModule_AddType(module, state->view_type)
                   || PyModule_AddType(module, state->field_type) || PyModule_AddType(module, state->packer_type)
               ? -1
               : 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->layout_type);
    Py_VISIT(state->memory_type);
    Py_VISIT(state->view_type);
    Py_VISIT(state->field_type);
    Py_VISIT(state->packer_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->layout_type);
    Py_CLEAR(state->memory_type);
    Py_CLEAR(state->view_type);
    Py_CLEAR(state->field_type);
    Py_CLEAR(state->packer_type);
    return 0;
}

static void module_free(void *module)
{
    module_clear(module);
}

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
    .m_name = "zcser.native._header",
    .m_doc = "Records of fixed layout; see zcser.header.records.native and zcser.header.native.",
    .m_size = sizeof(State),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__header(void)
{
    return PyModuleDef_Init(&module_definition);
}
