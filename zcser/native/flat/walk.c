/* The way to a scalar of a message: each step is checked, whether the message was verified or not. */
#include "walk.h"

#include "encode.h"
#include "view.h"

int walk_refuse(Walk *walk, PyObject *reason)
{
    PyObject *steps = reason == NULL ? NULL : PyTuple_GetSlice(walk->steps, 0, walk->taken);
    if (steps != NULL) {
        raise_made(PyObject_CallFunctionObjArgs(walk->engine->patch_error, reason, steps, NULL));
    }
    Py_XDECREF(reason);
    Py_XDECREF(steps);
    return -1;
}

static int refuse_absent(Walk *walk)
{
    return walk_refuse(walk, PyUnicode_FromString("the field is not in the message, and there is no room for it; encode "
                                                  "the changed value instead"));
}

/* Go to what stands in a slot of a table. */
static int go_to_slot(Walk *walk, const TableAt *table, const Place *place)
{
    const Node *node = &walk->engine->nodes[place->node];
    int kind, offset = find_slot(&walk->reader, node, table, place, &kind);
    if (offset <= 0) {
        return offset < 0 ? -1 : refuse_absent(walk);
    }
    walk->node = node;
    walk->at = table->at + (uint64_t)offset;
    walk->kind = (place->kind_size == 4 ? table->at : 0) + (uint64_t)kind;
    walk->is_table = false;
    return 0;
}

static void go_to_item(Walk *walk, uint64_t at)
{
    walk->node = &walk->engine->nodes[walk->node->item];
    walk->at = at;
    walk->is_table = false;
}

static int go_to_nested(Walk *walk)
{
    uint64_t first, size, root;
    Reader outer;
    if (read_vector(&walk->reader, walk->node, walk->at, 1, 1, &first, &size)
        || enter_nested(&walk->reader, first, size, &outer, &root)) {
        return -1;
    }
    go_to_item(walk, root);
    walk->is_table = true;
    return 0;
}

/* Pass through what is no step of a path: offsets to tables, boxes, unions without names, nested messages. */
static int settle(Walk *walk)
{
    for (;;) {
        TableAt table;
        switch (walk->node->op) {
        case OP_UNION:
            walk->node = &walk->engine->nodes[walk->node->options[walk->kind - 1].node];
            break;
        case OP_NESTED:
            if (go_to_nested(walk)) {
                return -1;
            }
            break;
        case OP_TABLE:
        case OP_BOX:
        case OP_TENSOR:
            if (!walk->is_table && read_offset(&walk->reader, walk->at, &walk->at)) {
                return -1;
            }
            walk->is_table = true;
            if (walk->node->op != OP_BOX) {
                return 0;
            }
            if (read_table_at(&walk->reader, walk->node, walk->at, &table)
                || go_to_slot(walk, &table, &walk->node->places[0])) {
                return -1;
            }
            break;
        default:
            return 0;
        }
    }
}

/* The place that a step names, among those of a record. */
static const Place *place_named(Walk *walk, PyObject *step)
{
    const Node *node = walk->node;
    for (Py_ssize_t position = 0; PyUnicode_Check(step) && position < node->place_count; position++) {
        if (PyUnicode_Compare(node->places[position].name, step) == 0) {
            return &node->places[position];
        }
    }
    if (!PyErr_Occurred()) {
        walk_refuse(walk, PyUnicode_FromFormat("there is no field %R here", step));
    }
    return NULL;
}

/* An int of a step, which may be its digits; NULL with an exception. */
static PyObject *step_number(Walk *walk, PyObject *step)
{
    PyObject *number = PyUnicode_Check(step) ? PyLong_FromUnicodeObject(step, 10) : PyNumber_Index(step);
    if (number == NULL && (PyErr_ExceptionMatches(PyExc_ValueError) || PyErr_ExceptionMatches(PyExc_TypeError))) {
        PyErr_Clear();
        walk_refuse(walk, PyUnicode_FromFormat("a number is needed here, not %R", step));
    }
    return number;
}

/* The index that a step means in a list of `count` items. */
static int step_index(Walk *walk, PyObject *step, uint64_t count, uint64_t *index)
{
    PyObject *number = step_number(walk, step);
    if (number == NULL) {
        return -1;
    }
    Py_ssize_t found = PyNumber_AsSsize_t(number, NULL); /* Clipped. */
    Py_DECREF(number);
    if (found < 0 || (uint64_t)found >= count) {
        return walk_refuse(walk, PyUnicode_FromFormat("index %S is outside a list of %llu items", step,
                                                 (unsigned long long)count));
    }
    *index = (uint64_t)found;
    return 0;
}

static int go_into_record(Walk *walk, PyObject *step)
{
    TableAt table;
    const Place *place = place_named(walk, step);
    if (place == NULL) {
        return -1;
    }
    switch (walk->node->op) {
    case OP_TABLE:
        return read_table_at(&walk->reader, walk->node, walk->at, &table) ? -1 : go_to_slot(walk, &table, place);
    case OP_STRUCT:
        walk->at += place->offset;
        break;
    default: /* OP_ONEOF */
        if (place->index != walk->kind) {
            return refuse_absent(walk);
        }
        if (walk->engine->nodes[place->node].op == OP_STRUCT
            && find_struct(&walk->reader, &walk->engine->nodes[place->node], walk->at, &walk->at)) {
            return -1;
        }
    }
    walk->node = &walk->engine->nodes[place->node];
    walk->is_table = false;
    return 0;
}

static int go_into_list(Walk *walk, PyObject *step)
{
    const Node *node = walk->node, *item = &walk->engine->nodes[node->item];
    uint64_t first = walk->at, count = (uint64_t)node->bound, index = 0;
    uint32_t width = is_inline(item->op) ? item->size : 4, align = item->op == OP_STRUCT ? item->align : width;
    if (node->op != OP_ARRAY && read_vector(&walk->reader, node, walk->at, width, align, &first, &count)) {
        return -1;
    }
    if (step_index(walk, step, count, &index)) {
        return -1;
    }
    go_to_item(walk, first + index * width);
    return 0;
}

static int go_into_unions(Walk *walk, PyObject *step)
{
    uint64_t numbers, first, count, index = 0;
    if (find_oneofs(&walk->reader, walk->node, walk->at, walk->kind, &numbers, &first, &count)
        || step_index(walk, step, count, &index)) {
        return -1;
    }
    int kind = read_item_kind(&walk->reader, numbers, first, index);
    if (kind <= 0) {
        return kind < 0 ? -1 : refuse_absent(walk);
    }
    go_to_item(walk, first + 4 * index);
    walk->kind = (uint64_t)kind;
    return 0;
}

static int go_into_map(Walk *walk, PyObject *step)
{
    const Node *entry = &walk->engine->nodes[walk->node->item];
    VectorView entries = {.head.node = walk->node};
    uint64_t count;
    if (read_vector(&walk->reader, walk->node, walk->at, 4, 4, &entries.first, &count)) {
        return -1;
    }
    bool is_text = walk->engine->nodes[entry->places[0].node].op == OP_STRING;
    PyObject *key = is_text ? Py_NewRef(step) : step_number(walk, step);
    if (key == NULL) {
        return -1;
    }
    entries.count = (Py_ssize_t)count;
    Sought sought;
    Py_ssize_t index;
    TableAt table;
    int found = sought_begin(walk->engine, &entry->places[0], false, key, &sought);
    if (found > 0) {
        found = search(&entries, &walk->reader, &sought, &index, &table);
    }
    Py_DECREF(key);
    if (found <= 0) {
        return found < 0 ? -1 : walk_refuse(walk, PyUnicode_FromFormat("there is no key %R here", step));
    }
    /* The search looked at the key alone. */
    return read_table_at(&walk->reader, entry, table.at, &table) ? -1 : go_to_slot(walk, &table, &entry->places[1]);
}

static int go(Walk *walk, PyObject *step)
{
    switch (walk->node->op) {
    case OP_TABLE:
    case OP_STRUCT:
    case OP_ONEOF:
        return go_into_record(walk, step);
    case OP_NUMBERS:
    case OP_STRINGS:
    case OP_TABLES:
    case OP_ARRAY:
    case OP_STRUCTS:
        return go_into_list(walk, step);
    case OP_ONEOFS:
        return go_into_unions(walk, step);
    case OP_MAP:
        return go_into_map(walk, step);
    default:
        return walk_refuse(walk, PyUnicode_FromString("nothing stands inside this value that can be changed in place"));
    }
}

/* Raise what was wrong with the message, with the path. */
static void raise_fault_of_walk(Walk *walk)
{
    for (Py_ssize_t index = walk->taken; index > 0; index--) {
        PyObject *step = PyTuple_GET_ITEM(walk->steps, index - 1);
        step_name(&walk->reader, step);
    }
    raise_fault(&walk->reader);
}

int walk_to_scalar(Walk *walk)
{
    int failed = settle(walk);
    while (!failed && walk->taken < PyTuple_GET_SIZE(walk->steps)) {
        PyObject *step = PyTuple_GET_ITEM(walk->steps, walk->taken++);
        failed = go(walk, step) || settle(walk);
    }
    if (failed) {
        if (walk->reader.reason != NULL) {
            raise_fault_of_walk(walk);
        }
        return -1;
    }
    return walk->node->op <= OP_ENUM
               ? 0
               : walk_refuse(walk, PyUnicode_FromString("only a bool, a number or a member of an enum can be changed in "
                                                        "place"));
}
