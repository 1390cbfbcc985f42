/* The type zcser.native._protowire.Prover: the rules of one schema, as Python gives them. */
#include "protowire.h"

static void prover_dealloc(Prover *self)
{
    PyTypeObject *type = Py_TYPE(self);
    for (Py_ssize_t index = 0; index < self->count; index++) {
        PyMem_Free(self->rules[index].rules);
        PyMem_Free(self->rules[index].extents);
    }
    PyMem_Free(self->rules);
    type->tp_free(self);
    Py_DECREF(type);
}

/* A tensor's extents: those of a tuple, -1 for any; or None, which asks for none. */
static int read_extents(PyObject *given, Rules *rules)
{
    rules->rank = -1;
    if (given == Py_None) {
        return 0;
    }
    if (!PyTuple_CheckExact(given)) {
        PyErr_SetString(PyExc_TypeError, "a shape is to be a tuple or None");
        return -1;
    }
    rules->rank = PyTuple_GET_SIZE(given);
    rules->extents = PyMem_Calloc((size_t)rules->rank + 1, sizeof *rules->extents);
    if (rules->extents == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t index = 0; index < rules->rank; index++) {
        rules->extents[index] = PyLong_AsLongLong(PyTuple_GET_ITEM(given, index));
        if (rules->extents[index] == -1 && PyErr_Occurred()) {
            return -1;
        }
    }
    return 0;
}

static int read_rule(const Prover *self, PyObject *given, Rule *rule)
{
    unsigned long long tag, bit, members;
    long long low, high;
    int target;
    if (!PyArg_ParseTuple(given, "KiKLLK", &tag, &target, &bit, &low, &high, &members)) {
        return -1;
    }
    bool has_wire_type = target == SEEN || (tag & 7) == (target == NUMBER ? VARINT : LENGTH);
    if (target < NUMBERS || target >= self->count || !has_wire_type) {
        PyErr_SetString(PyExc_ValueError, "a rule leads nowhere, or from a field of another wire type");
        return -1;
    }
    if (members != 0 && (uint64_t)high - (uint64_t)low > 63) {
        PyErr_SetString(PyExc_ValueError, "members are to lie within 64 numbers");
        return -1;
    }
    *rule = (Rule){.tag = tag, .target = target, .bit = bit, .low = low, .high = high, .members = members};
    return 0;
}

static int read_rules(const Prover *self, PyObject *given, Rules *rules)
{
    PyObject *items;
    if (!PyTuple_CheckExact(given)) {
        PyErr_SetString(PyExc_TypeError, "the rules of a message are to be a tuple");
        return -1;
    }
    if (PyTuple_GET_SIZE(given) == 2) {
        rules->is_tensor = true;
        return PyArg_ParseTuple(given, "iO", &rules->dtype, &items) ? read_extents(items, rules) : -1;
    }
    unsigned long long required, some;
    if (!PyArg_ParseTuple(given, "KKO!", &required, &some, &PyTuple_Type, &items)) {
        return -1;
    }
    rules->required = required;
    rules->some = some;
    rules->count = PyTuple_GET_SIZE(items);
    rules->rules = PyMem_Calloc((size_t)rules->count + 1, sizeof *rules->rules);
    if (rules->rules == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t index = 0; index < rules->count; index++) {
        if (read_rule(self, PyTuple_GET_ITEM(items, index), &rules->rules[index])) {
            return -1;
        }
        if (index > 0 && rules->rules[index].tag <= rules->rules[index - 1].tag) {
            PyErr_SetString(PyExc_ValueError, "rules are to stand in the order of tags");
            return -1;
        }
    }
    return 0;
}

static PyObject *prover_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"messages", "root", "itemsizes", NULL};
    PyObject *messages;
    Py_ssize_t root;
    Py_buffer itemsizes;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O!ny*:Prover", names, &PyTuple_Type, &messages, &root, &itemsizes)) {
        return NULL;
    }
    Prover *self = NULL;
    Py_ssize_t count = PyTuple_GET_SIZE(messages);
    if (root < 0 || root >= count || count > INT32_MAX || itemsizes.len > MOST_DTYPES) {
        PyErr_SetString(PyExc_ValueError, "root is to be the number of a message, and dtypes are no more than 256");
        goto failed;
    }
    self = (Prover *)type->tp_alloc(type, 0);
    if (self == NULL) {
        goto failed;
    }
    self->root = root;
    self->dtype_count = (uint64_t)itemsizes.len;
    memcpy(self->itemsizes, itemsizes.buf, (size_t)itemsizes.len);
    self->rules = PyMem_Calloc((size_t)count, sizeof *self->rules);
    if (self->rules == NULL) {
        PyErr_NoMemory();
        goto failed;
    }
    self->count = count;
    for (Py_ssize_t index = 0; index < count; index++) {
        if (read_rules(self, PyTuple_GET_ITEM(messages, index), &self->rules[index])) {
            goto failed;
        }
    }
    PyBuffer_Release(&itemsizes);
    return (PyObject *)self;

failed:
    Py_XDECREF(self);
    PyBuffer_Release(&itemsizes);
    return NULL;
}

static PyObject *prover_proves(Prover *self, PyObject *message)
{
    if (!PyBytes_CheckExact(message)) {
        PyErr_SetString(PyExc_TypeError, "proves() takes bytes");
        return NULL;
    }
    return PyBool_FromLong(prove(self, (const uint8_t *)PyBytes_AS_STRING(message), PyBytes_GET_SIZE(message)));
}

static PyMethodDef prover_methods[] = {
    {"proves", (PyCFunction)prover_proves, METH_O, "Whether it is certain that a parsed message breaks no rule."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot prover_slots[] = {
    {Py_tp_doc, "Proves messages of one schema."},
    {Py_tp_new, prover_new},
    {Py_tp_dealloc, prover_dealloc},
    {Py_tp_methods, prover_methods},
    {0, NULL},
};

PyType_Spec prover_spec = {
    .name = "zcser.native._protowire.Prover",
    .basicsize = sizeof(Prover),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = prover_slots,
};
