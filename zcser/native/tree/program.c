/* Nodes from the tuples of zcser.tree.native. */
#include "tree.h"

static int bad_program(const char *part)
{
    PyErr_Format(PyExc_ValueError, "bad program: %s", part);
    return -1;
}

static int find_node(const Coder *coder, Py_ssize_t number, const Node **node)
{
    if (number < 0 || number >= coder->node_count) {
        return bad_program("a node's number");
    }
    *node = &coder->nodes[number];
    return 0;
}

static int read_range(Node *node, PyObject *parts)
{
    if (PyTuple_GET_SIZE(parts) == 0) {
        return 0;
    }
    long long low;
    unsigned long long high;
    if (!PyArg_ParseTuple(parts, "LO", &low, &parts)) {
        return -1;
    }
    high = PyLong_AsUnsignedLongLong(parts);
    if (high == (unsigned long long)-1 && PyErr_Occurred()) {
        return -1;
    }
    node->is_bounded = true;
    node->low = low;
    node->high = high;
    return 0;
}

static int read_enum(Node *node, PyObject *parts)
{
    PyObject *type, *values;
    if (!PyArg_ParseTuple(parts, "O!O", &PyType_Type, &type, &values)) {
        return -1;
    }
    if (!PyFrozenSet_CheckExact(values) || (type != (PyObject *)&PyLong_Type && type != (PyObject *)&PyUnicode_Type)) {
        return bad_program("the values of an enum");
    }
    node->type = (PyTypeObject *)Py_NewRef(type);
    node->values = Py_NewRef(values);
    return 0;
}

static int read_options(const Coder *coder, Node *node, PyObject *parts)
{
    Py_ssize_t count = PyTuple_GET_SIZE(parts);
    node->options = PyMem_Calloc((size_t)count + 1, sizeof *node->options);
    if (node->options == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; node->count < count; node->count++) {
        Option *option = &node->options[node->count];
        PyObject *key;
        Py_ssize_t number;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(parts, node->count), "On", &key, &number)
            || find_node(coder, number, &option->node)) {
            return -1;
        }
        if (node->op == OP_PAIR ? !PyUnicode_CheckExact(key) : !PyType_Check(key)) {
            return bad_program("what an option is told by");
        }
        option->key = Py_NewRef(key);
        if (node->op == OP_PAIR) {
            PyUnicode_InternInPlace(&option->key);
        }
    }
    return 0;
}

static int read_fields(const Coder *coder, Node *node, PyObject *parts)
{
    Py_ssize_t count = PyTuple_GET_SIZE(parts);
    size_t slots = 8;
    while (slots < 2 * (size_t)count) {
        slots *= 2;
    }
    if (count >= UINT16_MAX) {
        return bad_program("more fields than a record has");
    }
    node->fields = PyMem_Calloc((size_t)count + 1, sizeof *node->fields);
    node->table = PyMem_Calloc(slots, sizeof *node->table);
    if (node->fields == NULL || node->table == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    node->mask = slots - 1;
    for (; node->count < count; node->count++) {
        Field *field = &node->fields[node->count];
        int is_required, must_be_there;
        Py_ssize_t number;
        PyObject *name;
        if (!PyArg_ParseTuple(
                PyTuple_GET_ITEM(parts, node->count), "Unpp", &name, &number, &is_required, &must_be_there)
            || find_node(coder, number, &field->node)) {
            return -1;
        }
        if (!PyUnicode_CheckExact(name)) {
            return bad_program("a field's name");
        }
        field->hash = PyObject_Hash(name);
        field->is_required = is_required;
        field->must_be_there = must_be_there;
        node->required_count += is_required;
        node->must_count += must_be_there;
        size_t slot = (size_t)field->hash & node->mask;
        while (node->table[slot] != 0) {
            slot = (slot + 1) & node->mask;
        }
        node->table[slot] = (uint16_t)(node->count + 1);
        field->name = Py_NewRef(name);
        PyUnicode_InternInPlace(&field->name);
    }
    return 0;
}

static int read_node(Coder *coder, Node *node, PyObject *tuple)
{
    int op, is_single, is_tuple, takes_ints, may_be_rounded, is_inert, skips_unknown;
    Py_ssize_t item, key;
    PyObject *parts;
    if (!PyArg_ParseTuple(
            tuple, "innnppppppO!", &op, &node->size, &item, &key, &is_single, &is_tuple, &takes_ints, &may_be_rounded,
            &is_inert, &skips_unknown, &PyTuple_Type, &parts)) {
        return -1;
    }
    if (op < 0 || op >= OP_COUNT) {
        return bad_program("a node");
    }
    node->op = (Op)op;
    node->owns = true;
    node->is_single = is_single;
    node->is_tuple = is_tuple;
    node->takes_ints = takes_ints;
    node->may_be_rounded = may_be_rounded;
    node->is_inert = is_inert;
    node->skips_unknown = skips_unknown;
    if (find_node(coder, item, &node->item) || find_node(coder, key, &node->key)) {
        return -1;
    }
    switch (node->op) {
    case OP_INT:
        return read_range(node, parts);
    case OP_ENUM:
        return read_enum(node, parts);
    case OP_UNION:
    case OP_PAIR:
        return read_options(coder, node, parts);
    case OP_RECORD:
        return read_fields(coder, node, parts);
    default:
        return 0;
    }
}

/* After all other nodes: an OPTIONAL's item may stand behind it. */
static int fold_optionals(Coder *coder)
{
    for (Py_ssize_t index = 0; index < coder->node_count; index++) {
        Node *node = &coder->nodes[index];
        if (node->op == OP_OPTIONAL) {
            *node = *node->item;
            if (node->op == OP_OPTIONAL || node->op == OP_NULL || node->is_nullable) {
                node->owns = false;
                return bad_program("an optional's item");
            }
            node->is_nullable = true;
            node->owns = false;
        }
    }
    return 0;
}

static PyTypeObject *plain_type(const Coder *coder, const Node *node)
{
    switch (node->op) {
    case OP_BOOL:
        return &PyBool_Type;
    case OP_INT:
        return node->is_bounded ? NULL : &PyLong_Type;
    case OP_FLOAT:
        return coder->checks && (coder->finite || node->is_single) ? NULL : &PyFloat_Type;
    case OP_STR:
        return node->size < 0 && !coder->surrogates ? &PyUnicode_Type : NULL;
    case OP_BYTES:
        return node->size < 0 ? &PyBytes_Type : NULL;
    default:
        return NULL;
    }
}

int program_read(Coder *coder, PyObject *nodes, Py_ssize_t root)
{
    Py_ssize_t count = PyTuple_GET_SIZE(nodes);
    coder->nodes = PyMem_Calloc((size_t)count + 1, sizeof *coder->nodes);
    if (coder->nodes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    coder->node_count = count;
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *tuple = PyTuple_GET_ITEM(nodes, index);
        if (!PyTuple_CheckExact(tuple)) {
            return bad_program("a node is no tuple");
        }
        if (read_node(coder, &coder->nodes[index], tuple)) {
            return -1;
        }
        coder->has_bytes |= coder->nodes[index].op == OP_BYTES;
        coder->nodes[index].plain = plain_type(coder, &coder->nodes[index]);
    }
    if (fold_optionals(coder)) {
        return -1;
    }
    return find_node(coder, root, &coder->root);
}

void program_free(Coder *coder)
{
    for (Py_ssize_t index = 0; coder->nodes != NULL && index < coder->node_count; index++) {
        Node *node = &coder->nodes[index];
        if (!node->owns) {
            continue;
        }
        for (Py_ssize_t part = 0; part < node->count; part++) {
            if (node->options != NULL) {
                Py_XDECREF(node->options[part].key);
            } else {
                Py_XDECREF(node->fields[part].name);
                Py_XDECREF(node->fields[part].met);
            }
        }
        Py_XDECREF(node->type);
        Py_XDECREF(node->values);
        PyMem_Free(node->options);
        PyMem_Free(node->fields);
        PyMem_Free(node->table);
    }
    PyMem_Free(coder->nodes);
    coder->nodes = NULL;
}
