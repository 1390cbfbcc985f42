/* The program of an engine: read from tuples, kept as arrays.

   A node is (op, size, align, number, values, by_value, bound, item, is_tuple, has_long_length, is_shared, options,
   places, cls, make, dtype, shape), a place (index, node, missing, name, lacking, position, may_lack, offset, is_key),
   which of a ONEOF is an option; zcser/flat/native/engine.py makes them of zcser.flat.program. What is wrong with them
   is a mistake there, and a ValueError. */
#include "program.h"

#include <structmember.h>

int bad_program(const char *what)
{
    PyErr_Format(PyExc_ValueError, "not a program: %s", what);
    return -1;
}

void *program_allocate(Py_ssize_t count, size_t size)
{
    /* One more, so that nothing is asked for nothing. */
    void *memory = PyMem_Calloc((size_t)count + 1, size);
    if (memory == NULL) {
        PyErr_NoMemory();
    }
    return memory;
}

/* Where objects of a class hold an attribute, if that is a slot of the class; else -1. Classes that change their slots
   afterwards are not foreseen. */
static Py_ssize_t member_offset(PyObject *cls, PyObject *name)
{
#ifdef Py_GIL_DISABLED
    /* Without the GIL a slot must not be read past the interpreter's own locks. */
    (void)cls, (void)name;
    return -1;
#else
    if (!PyType_Check(cls)) {
        return -1;
    }
    PyObject *found = PyObject_GetAttr(cls, name);
    if (found == NULL) {
        PyErr_Clear();
        return -1;
    }
    Py_ssize_t offset = -1;
    if (Py_IS_TYPE(found, &PyMemberDescr_Type)) {
        PyMemberDef *member = ((PyMemberDescrObject *)found)->d_member;
        if (member->type == T_OBJECT_EX) {
            offset = member->offset;
        }
    }
    Py_DECREF(found);
    return offset;
#endif
}

static int read_values(Node *node, PyObject *values, PyObject *by_value)
{
    Py_ssize_t count = PyTuple_GET_SIZE(values);
    node->numbers = program_allocate(count, sizeof *node->numbers);
    node->values = program_allocate(count, sizeof *node->values);
    if (node->numbers == NULL || node->values == NULL) {
        return -1;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *number, *value;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(values, index), "O!O", &PyLong_Type, &number, &value)) {
            return -1;
        }
        node->numbers[index] = (int64_t)PyLong_AsUnsignedLongLongMask(number);
        if (PyErr_Occurred()) {
            return -1;
        }
        node->values[index] = Py_NewRef(value);
        node->value_count = index + 1;
    }
    node->by_value = by_value == Py_None ? NULL : Py_NewRef(by_value);
    return 0;
}

static int read_options(Engine *engine, Node *node, PyObject *options)
{
    Py_ssize_t count = PyTuple_GET_SIZE(options);
    node->options = program_allocate(count, sizeof *node->options);
    if (node->options == NULL) {
        return -1;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *type;
        unsigned int target;
        if (!PyArg_ParseTuple(PyTuple_GET_ITEM(options, index), "OI", &type, &target)) {
            return -1;
        }
        if (target >= engine->node_count) {
            return bad_program("an option's node");
        }
        node->options[index] = (Option){Py_NewRef(type), target};
        node->option_count = index + 1;
    }
    return 0;
}

static int read_shape(Node *node, PyObject *shape)
{
    node->dimensions = -1;
    if (shape == Py_None) {
        return 0;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(shape);
    node->shape = program_allocate(count, sizeof *node->shape);
    if (node->shape == NULL) {
        return -1;
    }
    node->dimensions = (int)count;
    for (Py_ssize_t index = 0; index < count; index++) {
        node->shape[index] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, index));
        if (node->shape[index] == -1 && PyErr_Occurred()) {
            return -1;
        }
    }
    return 0;
}

static int read_place(Node *node, Py_ssize_t count, PyObject *tuple, Place *place)
{
    unsigned int index, target, missing, order;
    int may_lack, offset, is_key;
    PyObject *name, *lacking;
    if (!PyArg_ParseTuple(tuple, "IIIOOIpip", &index, &target, &missing, &name, &lacking, &order, &may_lack, &offset,
                          &is_key)) {
        return -1;
    }
    if (index >= 0x8000 || missing > MISSING_REFUSED || order >= count || (node->op == OP_STRUCT && offset < 0)) {
        return bad_program("a place");
    }
    *place = (Place){.index = (uint16_t)index, .node = target, .position = (uint16_t)order, .missing = (uint8_t)missing,
                     .may_lack = may_lack, .is_key = is_key, .offset = offset < 0 ? 0 : (uint32_t)offset, .member = -1};
    if (missing == MISSING_ZERO || missing == MISSING_DEFAULT) {
        place->lacking = Py_NewRef(lacking);
    }
    if (name != Py_None) {
        if (!PyUnicode_CheckExact(name)) {
            return bad_program("a name");
        }
        place->name = Py_NewRef(name);
        PyUnicode_InternInPlace(&place->name);
        place->member = node->cls == NULL ? -1 : member_offset(node->cls, place->name);
    }
    if (place->is_key) {
        node->key = place;
    }
    return 0;
}

static int read_places(Node *node, PyObject *places)
{
    Py_ssize_t count = PyTuple_GET_SIZE(places);
    node->places = program_allocate(count, sizeof *node->places);
    if (node->places == NULL) {
        return -1;
    }
    node->place_count = count;
    for (Py_ssize_t position = 0; position < count; position++) {
        if (read_place(node, count, PyTuple_GET_ITEM(places, position), &node->places[position])) {
            return -1;
        }
    }
    return 0;
}

/* The names of a record's fields in the record's order. */
static int read_names(Node *node)
{
    node->names = PyTuple_New(node->place_count);
    if (node->names == NULL) {
        return -1;
    }
    node->is_slotted = true;
    for (Py_ssize_t index = 0; index < node->place_count; index++) {
        const Place *place = &node->places[index];
        if (place->name == NULL || PyTuple_GET_ITEM(node->names, place->position) != NULL) {
            return bad_program("the order of a record's fields");
        }
        PyTuple_SET_ITEM(node->names, place->position, Py_NewRef(place->name));
        node->is_slotted = node->is_slotted && place->member >= 0;
    }
    return 0;
}

static bool has_item(int op)
{
    switch (op) {
    case OP_NUMBERS:
    case OP_STRINGS:
    case OP_TABLES:
    case OP_MAP:
    case OP_ARRAY:
    case OP_STRUCTS:
    case OP_ONEOFS:
    case OP_NESTED:
        return true;
    default:
        return false;
    }
}

static int read_node(Engine *engine, Node *node, PyObject *tuple)
{
    int op, align, number, is_tuple, has_long_length, is_shared, make, dtype;
    Py_ssize_t size, bound, item;
    PyObject *values, *by_value, *options, *places, *cls, *shape;
    if (!PyArg_ParseTuple(
            tuple, "iniiO!OnnpppO!O!OiiO", &op, &size, &align, &number, &PyTuple_Type, &values, &by_value, &bound,
            &item, &is_tuple, &has_long_length, &is_shared, &PyTuple_Type, &options, &PyTuple_Type, &places, &cls,
            &make, &dtype, &shape)) {
        return -1;
    }
    bool is_wide = op == OP_STRUCT || op == OP_ARRAY;
    if (op < 0 || op >= OP_COUNT || number < 0 || number > OP_FLOAT64 || size < (op != OP_ARRAY)
        || size > (is_wide ? INT32_MAX : 8)) {
        return bad_program("a node");
    }
    if (align < 0 || align > 0x4000 || (align & (align - 1)) || (is_wide && align == 0)) {
        return bad_program("an alignment");
    }
    Py_ssize_t first = has_item(op) ? 0 : -1, stop = has_item(op) ? (Py_ssize_t)engine->node_count : 0;
    if (item < first || item >= stop) {
        return bad_program("an item");
    }
    node->op = (Op)op;
    node->size = (uint32_t)size;
    node->align = (uint16_t)align;
    node->number = (Op)number;
    node->bound = bound;
    node->item = item < 0 ? 0 : (uint32_t)item;
    node->is_tuple = is_tuple;
    node->has_long_length = has_long_length;
    node->is_shared = is_shared;
    node->is_far = !is_wide && op > OP_ENUM && (size == 8 || has_long_length);
    node->is_in_tail = op == OP_STRING ? is_shared || size == 8
                                       : (op == OP_BYTES || op == OP_NUMBERS || op == OP_STRUCTS)
                                             && (size == 8 || align != 0 || has_long_length);
    node->make = (Make)make;
    node->dtype = dtype;
    node->cls = cls == Py_None ? NULL : Py_NewRef(cls);
    if (op == OP_TABLE || op == OP_BOX || op == OP_ENTRY || op == OP_TENSOR) {
        node->table = engine->table_count++;
    }
    if (read_values(node, values, by_value) || read_options(engine, node, options) || read_places(node, places)
        || read_shape(node, shape) || ((op == OP_TABLE || op == OP_STRUCT) && read_names(node))) {
        return -1;
    }
    if (node->make == MAKE_DIRECT && !PyType_Check(cls)) {
        return bad_program("a class");
    }
    return 0;
}

int program_read(Engine *engine, PyObject *nodes, Py_ssize_t root)
{
    Py_ssize_t count = PyTuple_GET_SIZE(nodes);
    if (root < 0 || root >= count || count > INT32_MAX) {
        return bad_program("the root");
    }
    engine->nodes = program_allocate(count, sizeof *engine->nodes);
    if (engine->nodes == NULL) {
        return -1;
    }
    engine->node_count = (uint32_t)count;
    engine->root = (uint32_t)root;
    for (Py_ssize_t index = 0; index < count; index++) {
        if (read_node(engine, &engine->nodes[index], PyTuple_GET_ITEM(nodes, index))) {
            return -1;
        }
    }
    return program_lay_out(engine);
}

void program_free(Engine *engine)
{
    if (engine->nodes == NULL) {
        return;
    }
    for (uint32_t index = 0; index < engine->node_count; index++) {
        Node *node = &engine->nodes[index];
        for (Py_ssize_t position = 0; position < node->value_count; position++) {
            Py_DECREF(node->values[position]);
        }
        for (Py_ssize_t position = 0; position < node->option_count; position++) {
            Py_DECREF(node->options[position].type);
        }
        for (Py_ssize_t position = 0; position < node->place_count; position++) {
            Py_XDECREF(node->places[position].name);
            Py_XDECREF(node->places[position].lacking);
        }
        Py_XDECREF(node->by_value);
        Py_XDECREF(node->cls);
        Py_XDECREF(node->names);
        Py_XDECREF(node->view_class);
        Py_XDECREF(node->fields);
        PyMem_Free(node->numbers);
        PyMem_Free(node->values);
        PyMem_Free(node->options);
        PyMem_Free(node->places);
        if (node->written != node->parts) {
            PyMem_Free(node->written);
        }
        PyMem_Free(node->parts);
        PyMem_Free(node->shape);
        PyMem_Free(node->attributes);
        forget_vtables(node);
    }
    PyMem_Free(engine->nodes);
    engine->nodes = NULL;
}

int program_traverse(Engine *engine, visitproc visit, void *arg)
{
    for (uint32_t index = 0; engine->nodes != NULL && index < engine->node_count; index++) {
        Node *node = &engine->nodes[index];
        for (Py_ssize_t position = 0; position < node->value_count; position++) {
            Py_VISIT(node->values[position]);
        }
        for (Py_ssize_t position = 0; position < node->option_count; position++) {
            Py_VISIT(node->options[position].type);
        }
        for (Py_ssize_t position = 0; position < node->place_count; position++) {
            Py_VISIT(node->places[position].lacking);
        }
        Py_VISIT(node->by_value);
        Py_VISIT(node->cls);
        Py_VISIT(node->view_class);
        Py_VISIT(node->fields);
    }
    return 0;
}
