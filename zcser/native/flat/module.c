/* The module zcser.native._flat: its Engine, which encodes, decodes and opens messages of one schema. */
#include "flat.h"

#include <stddef.h>

static Py_ssize_t position_of(const char *const *names, PyObject *name)
{
    for (Py_ssize_t position = 0; names[position] != NULL; position++) {
        if (PyUnicode_CompareWithASCIIString(name, names[position]) == 0) {
            return position;
        }
    }
    return -1;
}

int take_arguments(const char *function, const char *const *names, Py_ssize_t required, Py_ssize_t positional,
                   PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **found)
{
    if (nargs > positional) {
        PyErr_Format(PyExc_TypeError, "%s() takes %zd positional arguments at most, not %zd", function, positional, nargs);
        return -1;
    }
    for (Py_ssize_t position = 0; names[position] != NULL; position++) {
        found[position] = position < nargs ? args[position] : NULL;
    }
    Py_ssize_t named = kwnames == NULL ? 0 : PyTuple_GET_SIZE(kwnames);
    for (Py_ssize_t index = 0; index < named; index++) {
        PyObject *name = PyTuple_GET_ITEM(kwnames, index);
        Py_ssize_t position = position_of(names, name);
        if (position < 0) {
            PyErr_Format(PyExc_TypeError, "%s() has no argument %R", function, name);
            return -1;
        }
        if (found[position] != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() was given %R twice", function, name);
            return -1;
        }
        found[position] = args[nargs + index];
    }
    for (Py_ssize_t position = 0; position < required; position++) {
        if (found[position] == NULL) {
            PyErr_Format(PyExc_TypeError, "%s() needs its argument '%s'", function, names[position]);
            return -1;
        }
    }
    return 0;
}

static PyObject *engine_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);

typedef struct {
    const char *name;
    size_t offset;
} Part_of_engine;

/* What Python gives under these names, in the dict `calls`. */
static const Part_of_engine CALLS[] = {
    {"normal", offsetof(Engine, normal)},
    {"normal_part", offsetof(Engine, normal_part)},
    {"encode_error", offsetof(Engine, encode_error)},
    {"patch_error", offsetof(Engine, patch_error)},
    {"too_small", offsetof(Engine, too_small)},
    {"misaligned", offsetof(Engine, misaligned)},
    {"writable_view", offsetof(Engine, writable_view)},
    {"decode_error", offsetof(Engine, decode_error)},
    {"unreadable", offsetof(Engine, unreadable)},
    {"byte_view", offsetof(Engine, byte_view)},
    {"segment_views", offsetof(Engine, segment_views)},
    {"byte_array", offsetof(Engine, byte_array)},
    {"released", offsetof(Engine, released)},
    {"no_field", offsetof(Engine, no_field)},
    {"tensor_bytes", offsetof(Engine, tensor_bytes)},
    {"ndarray", offsetof(Engine, ndarray)},
    {"copy_array", offsetof(Engine, copy_array)},
    {"frozen_copy", offsetof(Engine, frozen_copy)},
    {"dtypes", offsetof(Engine, dtypes)},
    {"itemsizes", offsetof(Engine, itemsizes)},
    {"alignments", offsetof(Engine, alignments)},
};
#define CALL_COUNT (sizeof CALLS / sizeof *CALLS)

static PyObject **call_of(Engine *engine, size_t index)
{
    return (PyObject **)((char *)engine + CALLS[index].offset);
}

static int engine_traverse(Engine *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    for (size_t index = 0; index < CALL_COUNT; index++) {
        Py_VISIT(*call_of(self, index));
    }
    return program_traverse(self, visit, arg);
}

static int engine_clear(Engine *self)
{
    /* The program stays until the end: it cannot be made half. What the calls hold is enough to break a cycle. */
    for (size_t index = 0; index < CALL_COUNT; index++) {
        Py_CLEAR(*call_of(self, index));
    }
    return 0;
}

static void engine_dealloc(Engine *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    engine_clear(self);
    view_free_spares(self);
    program_free(self);
    PyMem_Free(self->scratch);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyObject *get_scratch_size(Engine *self, void *closure)
{
    (void)closure;
    return PyLong_FromSize_t(self->scratch_size);
}

static PyObject *get_growths(Engine *self, void *closure)
{
    (void)closure;
    return PyLong_FromUnsignedLongLong(self->growths);
}

static PyObject *reserve(Engine *self, PyObject *argument)
{
    Py_ssize_t size = PyLong_AsSsize_t(argument);
    if (size == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (size > (Py_ssize_t)self->scratch_size) {
        char *grown = PyMem_Realloc(self->scratch, (size_t)size);
        if (grown == NULL) {
            return PyErr_NoMemory();
        }
        self->scratch = grown;
        self->scratch_size = (size_t)size;
    }
    Py_RETURN_NONE;
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef engine_methods[] = {
    {"encode", FAST(engine_encode), METH_O, "Encode to fresh bytes."},
    {"encode_into", FAST(engine_encode_into), METH_FASTCALL | METH_KEYWORDS, "Encode into a writable buffer."},
    {"encode_segments", FAST(engine_encode_segments), METH_O, "Encode to memoryviews; big ones alias the value."},
    {"encoded_size", FAST(engine_encoded_size), METH_O, "Bytes that encode gives."},
    {"decode", FAST(engine_decode), METH_FASTCALL | METH_KEYWORDS, "Decode a message."},
    {"decode_segments", FAST(engine_decode_segments), METH_FASTCALL | METH_KEYWORDS, "Decode a message in segments."},
    {"verify", FAST(engine_verify), METH_O, "Check a message."},
    {"view", FAST(engine_view), METH_FASTCALL | METH_KEYWORDS, "Open a message."},
    {"view_segments", FAST(engine_view_segments), METH_FASTCALL | METH_KEYWORDS, "Open a message in segments."},
    {"patch", FAST(engine_patch), METH_FASTCALL, "Change a scalar of a message in place."},
    {"patcher", FAST(engine_patcher), METH_O, "What changes the scalars at some paths when it is called."},
    {"set_view", FAST(engine_set_view), METH_VARARGS, "Set the view class of a node, and its fields by name."},
    {"reserve", FAST(reserve), METH_O, "Have scratch memory of a size at least."},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef engine_getset[] = {
    {"scratch_size", (getter)get_scratch_size, NULL, "Bytes of scratch memory.", NULL},
    {"growths", (getter)get_growths, NULL, "How often it had to grow.", NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyType_Slot engine_slots[] = {
    {Py_tp_doc, "Encodes, decodes and opens messages of one schema."},
    {Py_tp_new, engine_new},
    {Py_tp_dealloc, engine_dealloc},
    {Py_tp_traverse, engine_traverse},
    {Py_tp_clear, engine_clear},
    {Py_tp_methods, engine_methods},
    {Py_tp_getset, engine_getset},
    {0, NULL},
};

static PyType_Spec engine_spec = {
    .name = "zcser.native._flat.Engine",
    .basicsize = sizeof(Engine),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = engine_slots,
};

static PyObject *engine_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[]
        = {"nodes", "root", "identifier", "is_prefixed", "limits", "refuse_unknown", "strict", "calls", NULL};
    Engine *self;
    PyObject *nodes, *calls, *identifier;
    Py_ssize_t root, depth, elements, bytes;
    int counts_depth, most_dimensions, refuse_unknown, strict, is_prefixed;
    if (!PyArg_ParseTupleAndKeywords(
            args, kwargs, "O!nO!p(pnnni)ppO!:Engine", names, &PyTuple_Type, &nodes, &root, &PyBytes_Type, &identifier,
            &is_prefixed, &counts_depth, &depth, &elements, &bytes, &most_dimensions, &refuse_unknown, &strict,
            &PyDict_Type, &calls)) {
        return NULL;
    }
    if (PyBytes_GET_SIZE(identifier) != 0 && PyBytes_GET_SIZE(identifier) != sizeof self->identifier) {
        PyErr_SetString(PyExc_ValueError, "identifier is to have 4 bytes, or none");
        return NULL;
    }
    State *state = PyType_GetModuleState(type);
    if (state == NULL) {
        return NULL;
    }
    self = (Engine *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->state = state;
    self->is_prefixed = is_prefixed;
    self->has_identifier = PyBytes_GET_SIZE(identifier) != 0;
    memcpy(self->identifier, PyBytes_AS_STRING(identifier), (size_t)PyBytes_GET_SIZE(identifier));
    self->root_at = is_prefixed ? 4 : 0;
    self->head_size = self->root_at + 4 + (uint32_t)PyBytes_GET_SIZE(identifier);
    self->counts_depth = counts_depth;
    self->depth = depth;
    self->elements = elements;
    self->bytes = bytes;
    self->most_dimensions = most_dimensions;
    self->refuse_unknown = refuse_unknown;
    self->strict = strict;
    for (size_t index = 0; index < CALL_COUNT; index++) {
        PyObject *call = PyDict_GetItemString(calls, CALLS[index].name);
        if (call == NULL) {
            PyErr_Format(PyExc_ValueError, "calls has no %s", CALLS[index].name);
            Py_DECREF(self);
            return NULL;
        }
        *call_of(self, index) = Py_NewRef(call);
    }
    if (!PyTuple_CheckExact(self->dtypes) || !PyBytes_CheckExact(self->itemsizes)
        || !PyBytes_CheckExact(self->alignments) || PyTuple_GET_SIZE(self->dtypes) != PyBytes_GET_SIZE(self->itemsizes)
        || PyTuple_GET_SIZE(self->dtypes) != PyBytes_GET_SIZE(self->alignments)) {
        PyErr_SetString(
            PyExc_ValueError, "dtypes is to be a tuple, itemsizes and alignments bytes, all of the same length");
        Py_DECREF(self);
        return NULL;
    }
    if (program_read(self, nodes, root)) {
        Py_DECREF(self);
        return NULL;
    }
    return (PyObject *)self;
}

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    state->engine_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &engine_spec, NULL);
    state->patcher_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &patcher_spec, NULL);
    if (state->engine_type == NULL || state->patcher_type == NULL || PyModule_AddType(module, state->engine_type)
        || PyModule_AddType(module, state->patcher_type)) {
        return -1;
    }
    return view_add_types(module, state);
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->engine_type);
    Py_VISIT(state->message_type);
    Py_VISIT(state->table_view_type);
    Py_VISIT(state->vector_view_type);
    Py_VISIT(state->map_view_type);
    Py_VISIT(state->field_type);
    Py_VISIT(state->patcher_type);
    Py_VISIT(state->verify_name);
    return 0;
}

static int module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->engine_type);
    Py_CLEAR(state->message_type);
    Py_CLEAR(state->table_view_type);
    Py_CLEAR(state->vector_view_type);
    Py_CLEAR(state->map_view_type);
    Py_CLEAR(state->field_type);
    Py_CLEAR(state->patcher_type);
    Py_CLEAR(state->verify_name);
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
    .m_name = "zcser.native._flat",
    .m_doc = "FlatBuffers messages, driven by a program; see zcser.flat.native.",
    .m_size = sizeof(State),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__flat(void)
{
    return PyModuleDef_Init(&module_definition);
}
