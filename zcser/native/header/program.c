/* A layout's nodes, from what Python gives. Whatever would have C leave a record is refused here. */
#include "header.h"

/* Whether objects of a class are tuples and nothing else, so that C can make them. */
static bool is_plain_tuple(PyObject *cls)
{
    if (!PyType_Check(cls) || !PyType_IsSubtype((PyTypeObject *)cls, &PyTuple_Type)) {
        return false;
    }
    const PyTypeObject *type = (PyTypeObject *)cls;
    return type->tp_basicsize == PyTuple_Type.tp_basicsize && type->tp_itemsize == PyTuple_Type.tp_itemsize
           && type->tp_dictoffset == 0 && type->tp_weaklistoffset == 0;
}

static int wrong(Py_ssize_t index)
{
    PyErr_Format(PyExc_ValueError, "node %zd is none of a layout", index);
    return -1;
}

static int read_places(Layout *layout, Node *node, PyObject *places, Py_ssize_t index)
{
    Py_ssize_t count = PyTuple_GET_SIZE(places);
    node->is_flat = true;
    node->places = PyMem_Calloc((size_t)count + 1, sizeof *node->places);
    if (node->places == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; node->place_count < count; node->place_count++) {
        Place *place = &node->places[node->place_count];
        PyObject *name, *read, *write, *given = PyTuple_GET_ITEM(places, node->place_count);
        Py_ssize_t inner, offset;
        if (!PyTuple_CheckExact(given) || !PyArg_ParseTuple(given, "UnnOO", &name, &inner, &offset, &read, &write)) {
            return PyErr_Occurred() ? -1 : wrong(index);
        }
        if (inner < 0 || inner >= index) {
            return wrong(index);
        }
        Node *part = &layout->nodes[inner];
        if (offset < 0 || part->size > node->size || offset > node->size - part->size) {
            return wrong(index);
        }
        *place = (Place){Py_NewRef(name), part, offset, Py_NewRef(read), Py_NewRef(write)};
        node->is_flat = node->is_flat && part->read_scalar != NULL;
        node->height = part->height >= node->height ? (uint8_t)(part->height + 1) : node->height;
    }
    return 0;
}

static int read_node(Layout *layout, PyObject *given, Py_ssize_t index)
{
    Node *node = &layout->nodes[index];
    int op, is_swapped, is_list, is_own;
    Py_ssize_t item;
    PyObject *places, *cls, *read;
    if (!PyTuple_CheckExact(given)
        || !PyArg_ParseTuple(given, "ippnnnO!OpO", &op, &is_swapped, &is_list, &node->size, &node->count, &item,
                             &PyTuple_Type, &places, &cls, &is_own, &read)) {
        return PyErr_Occurred() ? -1 : wrong(index);
    }
    if (op < 0 || op >= OP_COUNT || node->size < 0 || node->count < 0) {
        return wrong(index);
    }
    node->op = (Op)op;
    node->is_swapped = is_swapped;
    node->is_list = is_list;
    node->cls = Py_NewRef(cls);
    node->read = Py_NewRef(read);
    switch (node->op) {
    case OP_BYTES:
    case OP_ASIDE:
        return 0;
    case OP_ARRAY:
        if (item < 0 || item >= index) {
            return wrong(index);
        }
        node->item = &layout->nodes[item];
        node->height = (uint8_t)(node->item->height + 1);
        if (node->item->size == 0 || node->size % node->item->size != 0
            || node->size / node->item->size != node->count || node->height > MAX_HEIGHT) {
            return wrong(index);
        }
        return 0;
    case OP_RECORD:
        node->is_tuple = is_plain_tuple(cls);
        if (node->is_tuple && is_own) {
            own_record_type((PyTypeObject *)cls);
        }
        if (read_places(layout, node, places, index)) {
            return -1;
        }
        return node->height > MAX_HEIGHT ? wrong(index) : 0;
    default:
        node->read_scalar = scalar_reader(node->op, node->size, is_swapped);
        return node->read_scalar == NULL ? wrong(index) : 0;
    }
}

int program_read(Layout *layout, PyObject *nodes)
{
    Py_ssize_t count = PyTuple_GET_SIZE(nodes);
    layout->nodes = PyMem_Calloc((size_t)count + 1, sizeof *layout->nodes);
    if (layout->nodes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        layout->node_count = index + 1; /* Half a node is freed as well. */
        if (read_node(layout, PyTuple_GET_ITEM(nodes, index), index)) {
            return -1;
        }
    }
    layout->root = count == 0 ? NULL : &layout->nodes[count - 1];
    return layout->root == NULL || layout->root->op != OP_RECORD ? wrong(count - 1) : 0;
}

int program_traverse(Layout *layout, visitproc visit, void *arg)
{
    for (Py_ssize_t index = 0; index < layout->node_count; index++) {
        const Node *node = &layout->nodes[index];
        Py_VISIT(node->cls);
        Py_VISIT(node->read);
        Py_VISIT(node->view_type);
        for (Py_ssize_t number = 0; number < node->place_count; number++) {
            Py_VISIT(node->places[number].read);
            Py_VISIT(node->places[number].write);
        }
    }
    return 0;
}

void program_clear(Layout *layout)
{
    /* The nodes stay until the end, as views have them. Without view types there is no cycle. */
    for (Py_ssize_t index = 0; index < layout->node_count; index++) {
        Py_CLEAR(layout->nodes[index].view_type);
    }
}

void program_free(Layout *layout)
{
    for (Py_ssize_t index = 0; index < layout->node_count; index++) {
        Node *node = &layout->nodes[index];
        for (Py_ssize_t number = 0; number < node->place_count; number++) {
            Py_XDECREF(node->places[number].name);
            Py_XDECREF(node->places[number].read);
            Py_XDECREF(node->places[number].write);
        }
        PyMem_Free(node->places);
        Py_XDECREF(node->cls);
        Py_XDECREF(node->read);
    }
    PyMem_Free(layout->nodes);
    layout->nodes = NULL;
    layout->node_count = 0;
}
