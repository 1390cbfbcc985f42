/* What is seen of a message's parts: values, or views that are made for them. */
#include "view.h"

/* An object of a node's view class; what follows its `head` is not set, and it is not tracked yet. */
static View *new_view(Message *message, const Node *shown)
{
    Engine *engine = message->start.engine;
    Node *node = &engine->nodes[shown - engine->nodes];
    if (node->view_class == NULL) {
        PyErr_SetString(PyExc_SystemError, "the engine was given no view class for a node");
        return NULL;
    }
    View *view = (View *)new_of((PyTypeObject *)node->view_class, &node->spare);
    if (view != NULL) {
        view->weak_references = NULL;
        view->message = (Message *)Py_NewRef(message);
        view->node = node;
    }
    return view;
}

static PyObject *show_table(Message *message, const Node *node, const TableAt *table)
{
    TableView *view = (TableView *)new_view(message, node);
    if (view != NULL) {
        view->table = *table;
        PyObject_GC_Track(view);
    }
    return (PyObject *)view;
}

/* Of the items found from `first` on. */
static PyObject *new_vector(Message *message, const Node *node, uint64_t place, uint64_t first, uint64_t count)
{
    VectorView *view = (VectorView *)new_view(message, node);
    if (view != NULL) {
        view->place = place;
        view->kind = 0;
        view->first = first;
        view->numbers = 0;
        view->count = (Py_ssize_t)count;
        PyObject_GC_Track(view);
    }
    return (PyObject *)view;
}

/* A vector that was found, and may be in a segment of its own. */
static PyObject *show_found(Message *message, Reader *reader, const Node *node, uint64_t place, uint64_t first,
                            uint64_t count)
{
    if (node->op != OP_MAP && node->bound >= 0 && count != (uint64_t)node->bound) {
        fault(reader, vector_at(node, first), "%zd items are needed, not %llu", node->bound, (unsigned long long)count);
        return NULL;
    }
    if (!reader->is_away) {
        return new_vector(message, node, place, first, count);
    }
    Message *segment = message_nested(message, reader);
    PyObject *view = segment == NULL ? NULL : new_vector(segment, node, place, first, count);
    Py_XDECREF(segment);
    return view;
}

static PyObject *show_vector(Message *message, Reader *reader, const Node *node, uint64_t place)
{
    bool is_apart = node->op != OP_NUMBERS && node->op != OP_STRUCTS;
    const Node *item = &reader->engine->nodes[node->item];
    uint32_t width = is_apart ? 4 : item->size, align = node->op == OP_STRUCTS ? item->align : width;
    uint64_t first, count;
    PyObject *view = NULL;
    if (read_vector(reader, node, place, width, align, &first, &count) == 0) {
        view = show_found(message, reader, node, place, first, count);
    }
    leave_segment(reader);
    return view;
}

static PyObject *show_oneofs(Message *message, Reader *reader, const Node *node, uint64_t place, uint64_t kind)
{
    uint64_t numbers, first, count;
    if (find_oneofs(reader, node, place, kind, &numbers, &first, &count)) {
        return NULL;
    }
    VectorView *view = (VectorView *)new_vector(message, node, place, first, count);
    if (view != NULL) {
        view->kind = kind;
        view->numbers = numbers;
    }
    return (PyObject *)view;
}

static PyObject *show_struct(Message *message, const Node *node, uint64_t at)
{
    TableView *view = (TableView *)new_view(message, node);
    if (view != NULL) {
        view->struct_at = at;
        PyObject_GC_Track(view);
    }
    return (PyObject *)view;
}

PyObject *show_inline(Message *message, Reader *reader, const Node *node, uint64_t at)
{
    switch (node->op) {
    case OP_STRUCT:
        return show_struct(message, node, at);
    case OP_ARRAY:
        return new_vector(message, node, at, at, (uint64_t)node->bound);
    default:
        return read_scalar(reader, node, at);
    }
}

PyObject *show_oneof(Message *message, Reader *reader, const Node *node, uint64_t place, uint64_t kind)
{
    const Place *option = option_numbered(node, (uint32_t)kind);
    if (option == NULL) {
        fault(reader, place, "%d is no option of the union", (int)kind);
        return NULL;
    }
    TableView *view = (TableView *)new_view(message, node);
    if (view != NULL) {
        view->oneof.place = place;
        view->oneof.option = option;
        PyObject_GC_Track(view);
    }
    return (PyObject *)view;
}

PyObject *show_option(Message *message, Reader *reader, const Node *node, uint64_t place)
{
    uint64_t at;
    PyObject *value = NULL;
    reader->at = place;
    switch (node->op) {
    case OP_STRUCT:
        return find_struct(reader, node, place, &at) ? NULL : show_struct(message, node, at);
    case OP_STRING:
        return read_value(reader, node, place, 0, &value) ? NULL : value;
    default:
        return show_offset(message, reader, node, place);
    }
}

int find_table(Reader *reader, uint64_t at, TableAt *table)
{
    reader->at = at;
    int64_t start = (int64_t)at - load_i32(reader->base + at);
    if (start < 0 || (uint64_t)start + 4 > reader->end) {
        return fault(reader, at, "a vtable would start at byte %lld", (long long)start);
    }
    uint32_t size = load_u16(reader->base + start);
    if ((uint64_t)start + size > reader->end) {
        return fault_cut(reader, (uint64_t)start, "a vtable of %u bytes leads past the end", (unsigned int)size);
    }
    uint64_t rest = reader->end - at;
    *table = (TableAt){at, (uint64_t)start, size, rest < INT32_MAX ? (uint32_t)rest : INT32_MAX, NULL};
    return 0;
}

/* What is seen of a value in a table of its own. */
PyObject *show_alone(Message *message, Reader *reader, const Node *node, uint64_t at)
{
    if (node->op == OP_TENSOR) {
        PyObject *value = NULL;
        return read_alone(reader, node, at, &value) ? NULL : value;
    }
    TableAt table;
    if (find_table(reader, at, &table)) {
        return NULL;
    }
    return node->op == OP_BOX ? show_slot(message, reader, &table, &node->places[0])
                              : show_table(message, node, &table);
}

PyObject *show_offset(Message *message, Reader *reader, const Node *node, uint64_t place)
{
    uint64_t target;
    return read_offset(reader, place, &target) ? NULL : show_alone(message, reader, node, target);
}

static PyObject *show_nested(Message *message, Reader *reader, const Node *node, uint64_t place)
{
    uint64_t first, size, root;
    Reader outer;
    PyObject *value = NULL;
    if (read_vector(reader, node, place, 1, 1, &first, &size)) {
        leave_segment(reader);
        return NULL;
    }
    if (enter_nested(reader, first, size, &outer, &root) == 0) {
        Message *inner = message_nested(message, reader);
        value = inner == NULL ? NULL : show_alone(inner, reader, &reader->engine->nodes[node->item], root);
        Py_XDECREF(inner);
    }
    leave_nested(reader, &outer);
    leave_segment(reader);
    return value;
}

PyObject *show_slot(Message *message, Reader *reader, const TableAt *table, const Place *place)
{
    const Node *node = &reader->engine->nodes[place->node];
    reader->at = table->at;
    int kind, offset = find_slot(reader, node, table, place, &kind);
    if (offset <= 0) {
        if (offset < 0) {
            return NULL;
        }
        return place->missing == MISSING_ABSENT ? Py_NewRef(Py_None) : read_lacking(reader, place, table->at);
    }
    uint64_t at = table->at + (uint32_t)offset;
    PyObject *value = NULL;
    switch (node->op) {
    case OP_STRING:
    case OP_BYTES:
        return read_value(reader, node, at, 0, &value) ? NULL : value;
    case OP_NUMBERS:
    case OP_STRINGS:
    case OP_TABLES:
    case OP_MAP:
    case OP_STRUCTS:
        return show_vector(message, reader, node, at);
    case OP_UNION:
        return show_offset(message, reader, &reader->engine->nodes[node->options[kind - 1].node], at);
    case OP_TABLE:
    case OP_BOX:
    case OP_TENSOR:
        return show_offset(message, reader, node, at);
    case OP_STRUCT:
    case OP_ARRAY:
        return show_inline(message, reader, node, at);
    case OP_ONEOF:
        return show_oneof(message, reader, node, at, (uint64_t)kind);
    case OP_ONEOFS:
        return show_oneofs(message, reader, node, at, table->at + (uint64_t)kind);
    case OP_NESTED:
        return show_nested(message, reader, node, at);
    default:
        return read_scalar(reader, node, at);
    }
}
