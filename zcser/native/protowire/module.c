/* The module zcser.native._protowire, and its Walker, which walks the messages of one schema. */
#include "protowire.h"

typedef struct {
    PyTypeObject *walker_type;
    PyTypeObject *prover_type;
} State;

static void walker_dealloc(Walker *self)
{
    PyTypeObject *type = Py_TYPE(self);
    for (Py_ssize_t index = 0; index < self->node_count; index++) {
        PyMem_Free(self->nodes[index].routes);
    }
    PyMem_Free(self->nodes);
    type->tp_free(self);
    Py_DECREF(type);
}

static int read_node(Walker *self, PyObject *pairs, Node *node)
{
    if (!PyTuple_CheckExact(pairs)) {
        PyErr_SetString(PyExc_TypeError, "a node is to be a tuple of pairs");
        return -1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(pairs);
    node->routes = PyMem_Calloc((size_t)count + 1, sizeof *node->routes);
    if (node->routes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    node->count = count;
    for (Py_ssize_t index = 0; index < count; index++) {
        unsigned long long tag;
        int target;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(pairs, index), "Ki", &tag, &target)) {
            return -1;
        }
        if (target < TENSOR || target >= self->node_count || (index > 0 && tag <= node->routes[index - 1].tag)) {
            PyErr_SetString(PyExc_ValueError, "a route leads nowhere, or does not stand in the order of tags");
            return -1;
        }
        node->routes[index] = (Route){.tag = tag, .target = target};
    }
    return 0;
}

static PyObject *walker_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"nodes", "root", NULL};
    PyObject *nodes;
    Py_ssize_t root;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!n:Walker", names, &PyTuple_Type, &nodes, &root)) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(nodes);
    if (root < 0 || root >= count || count > INT32_MAX) {
        PyErr_SetString(PyExc_ValueError, "root is to be the number of a node");
        return NULL;
    }
    Walker *self = (Walker *)type->tp_alloc(type, 0);
    if (self == NULL) {
        return NULL;
    }
    self->root = root;
    self->nodes = PyMem_Calloc((size_t)count, sizeof *self->nodes);
    if (self->nodes == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    self->node_count = count;
    for (Py_ssize_t index = 0; index < count; index++) {
        if (read_node(self, PyTuple_GET_ITEM(nodes, index), &self->nodes[index])) {
            Py_DECREF(self);
            return NULL;
        }
    }
    return (PyObject *)self;
}

/* Gaps as Python gives them, into memory to be freed; NULL with an exception where they are none. */
static Gap *read_gaps(PyObject *given, Py_ssize_t *count, uint64_t *size)
{
    PyObject *pairs = PySequence_Fast(given, "gaps are to be a sequence");
    if (pairs == NULL) {
        return NULL;
    }
    *count = PySequence_Fast_GET_SIZE(pairs);
    Gap *gaps = PyMem_Calloc((size_t)*count + 1, sizeof *gaps);
    if (gaps == NULL) {
        PyErr_NoMemory();
    }
    uint64_t end = 0, elsewhere = 0;
    for (Py_ssize_t index = 0; gaps != NULL && index < *count; index++) {
        unsigned long long place, extent;
        int is_pair = PyArg_ParseTuple(PySequence_Fast_GET_ITEM(pairs, index), "KK", &place, &extent);
        bool fits = is_pair && place >= end && extent > 0 && place <= MOST_BYTES && extent <= MOST_BYTES
            && place - elsewhere <= *size;
        if (!fits) {
            if (is_pair) {
                PyErr_SetString(PyExc_ValueError, "gaps are to lie in the message, one behind the other");
            }
            PyMem_Free(gaps);
            gaps = NULL;
            break;
        }
        gaps[index] = (Gap){.place = place, .size = extent};
        end = place + extent;
        elsewhere += extent;
    }
    *size += elsewhere;
    Py_DECREF(pairs);
    return gaps;
}

/* Walk, and give what `write` makes of it; None where the message cannot be walked. */
static PyObject *run(Walk *walk, PyObject *(*write)(Walk *, int64_t))
{
    walk->edits = walk->at_hand;
    walk->edit_room = EDITS_AT_HAND;
    int64_t growth;
    PyObject *found = NULL;
    if (walk->size <= MOST_BYTES && walk_message(walk, &growth) == 0) {
        found = write(walk, growth);
    }
    if (walk->edits != walk->at_hand) {
        PyMem_Free(walk->edits);
    }
    if (found == NULL && !PyErr_Occurred()) {
        Py_RETURN_NONE;
    }
    return found;
}

static PyObject *walker_cut(Walker *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs < 2 || nargs > 3) {
        PyErr_SetString(PyExc_TypeError, "cut() takes data, least and perhaps gaps");
        return NULL;
    }
    Walk walk = {.walker = self, .is_cut = true};
    Py_ssize_t least = PyLong_AsSsize_t(args[1]);
    if (least < 1) {
        if (!PyErr_Occurred()) {
            PyErr_SetString(PyExc_ValueError, "least is to be 1 or more");
        }
        return NULL;
    }
    walk.least = (uint64_t)least;
    Py_buffer buffer;
    if (PyObject_GetBuffer(args[0], &buffer, PyBUF_SIMPLE)) {
        return NULL;
    }
    walk.data = buffer.buf;
    walk.size = (uint64_t)buffer.len;
    PyObject *found = NULL;
    Gap *gaps = NULL;
    if (nargs == 3) {
        gaps = read_gaps(args[2], &walk.gap_count, &walk.size);
        walk.gaps = gaps;
    }
    if (nargs == 2 || gaps != NULL) {
        found = run(&walk, write_cut);
    }
    PyMem_Free(gaps);
    PyBuffer_Release(&buffer);
    return found;
}

static PyObject *walker_splice(Walker *self, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 2 || !PyBytes_CheckExact(args[0])) {
        PyErr_SetString(PyExc_TypeError, "splice() takes bytes, and whether tensors are aligned");
        return NULL;
    }
    int is_aligned = PyObject_IsTrue(args[1]);
    if (is_aligned < 0) {
        return NULL;
    }
    Walk walk = {
        .walker = self,
        .data = (const uint8_t *)PyBytes_AS_STRING(args[0]),
        .size = (uint64_t)PyBytes_GET_SIZE(args[0]),
        .is_aligned = is_aligned,
    };
    return run(&walk, write_spliced);
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef walker_methods[] = {
    {"cut", FAST(walker_cut), METH_FASTCALL, "A message with stand-ins for its payloads; None where it is none."},
    {"splice", FAST(walker_splice), METH_FASTCALL, "A message less its payloads, and where these belong."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot walker_slots[] = {
    {Py_tp_doc, "Walks the messages of one schema."},
    {Py_tp_new, walker_new},
    {Py_tp_dealloc, walker_dealloc},
    {Py_tp_methods, walker_methods},
    {0, NULL},
};

static PyType_Spec walker_spec = {
    .name = "zcser.native._protowire.Walker",
    .basicsize = sizeof(Walker),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = walker_slots,
};

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    state->walker_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &walker_spec, NULL);
    state->prover_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &prover_spec, NULL);
    if (state->walker_type == NULL || state->prover_type == NULL) {
        return -1;
    }
    return PyModule_AddType(module, state->walker_type) || PyModule_AddType(module, state->prover_type) ? -1 : 0;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    State *state = PyModule_GetState(module);
    Py_VISIT(state->walker_type);
    Py_VISIT(state->prover_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    State *state = PyModule_GetState(module);
    Py_CLEAR(state->walker_type);
    Py_CLEAR(state->prover_type);
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
    .m_name = "zcser.native._protowire",
    .m_doc = "The walk over protobuf messages; see zcser.protowire.engine.",
    .m_size = sizeof(State),
    .m_slots = module_slots,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
    .m_free = module_free,
};

PyMODINIT_FUNC PyInit__protowire(void)
{
    return PyModuleDef_Init(&module_definition);
}
