/* What makes a view of a part of a message, and what all views have. */
#include "view.h"

/* An object of a node's view class; what follows its `head` is not set, and it is not tracked yet. */
static View *new_view(Message *message, const Node *node)
{
    if (node->view_class == NULL) {
        PyErr_SetString(PyExc_SystemError, "the engine was given no view class for a node");
        return NULL;
    }
    View *view = PyObject_GC_New(View, (PyTypeObject *)node->view_class);
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

static PyObject *show_vector(Message *message, Reader *reader, const Node *node, uint64_t place)
{
    uint32_t width = node->op == OP_NUMBERS ? reader->engine->nodes[node->item].size : 4;
    uint64_t first;
    uint32_t count;
    if (read_vector(reader, place, width, &first, &count)) {
        return NULL;
    }
    if (node->op != OP_MAP && node->bound >= 0 && (Py_ssize_t)count != node->bound) {
        fault(reader, first - 4, "%zd items are needed, not %u", node->bound, (unsigned int)count);
        return NULL;
    }
    VectorView *view = (VectorView *)new_view(message, node);
    if (view != NULL) {
        view->place = place;
        view->first = first;
        view->count = (Py_ssize_t)count;
        PyObject_GC_Track(view);
    }
    return (PyObject *)view;
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
    *table = (TableAt){at, (uint64_t)start, size, rest < INT32_MAX ? (uint32_t)rest : INT32_MAX};
    return 0;
}

/* What is seen of a value in a table of its own. */
static PyObject *show_alone(Message *message, Reader *reader, const Node *node, uint64_t at)
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

PyObject *show_slot(Message *message, Reader *reader, const TableAt *table, const Place *place)
{
    const Node *node = &reader->engine->nodes[place->node];
    reader->at = table->at;
    int kind = 0;
    if (node->op == OP_UNION && (kind = read_kind(reader, node, table, place->index)) < 0) {
        return NULL;
    }
    int offset = node->op == OP_UNION && kind == 0 ? 0 : slot_within(reader, table, place->index, place->size);
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
        return show_vector(message, reader, node, at);
    case OP_UNION:
        return show_offset(message, reader, &reader->engine->nodes[node->options[kind - 1].node], at);
    case OP_TABLE:
    case OP_BOX:
    case OP_TENSOR:
        return show_offset(message, reader, node, at);
    default:
        return read_scalar(reader, node, at);
    }
}

/* Check the whole message. What the reader may still show is counted anew after that. */
static int verify_root(Reader *reader, const Node *node, uint64_t root)
{
    CheckedVtable checked[CHECKED_VTABLES] = {{0}};
    const Reader start = *reader;
    reader->checked = checked;
    if (read_alone(reader, node, root, NULL)) {
        reader->checked = NULL;
        return -1;
    }
    *reader = start;
    return 0;
}

/* The arguments of view(data, *, verify=True); whether to verify, or -1 with an exception. */
static int view_arguments(const State *state, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                          PyObject **data)
{
    PyObject *found[2] = {NULL, NULL};
    if (nargs == 1 && kwnames != NULL && PyTuple_GET_SIZE(kwnames) == 1
        && PyTuple_GET_ITEM(kwnames, 0) == state->verify_name) {
        found[0] = args[0]; /* As all callers have it that write the name out. */
        found[1] = args[1];
    } else {
        static const char *const names[] = {"data", "verify", NULL};
        if (take_arguments("view", names, 1, 1, args, nargs, kwnames, found)) {
            return -1;
        }
    }
    *data = found[0];
    return found[1] == NULL ? 1 : PyObject_IsTrue(found[1]);
}

PyObject *engine_view(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *data = NULL;
    int verify = view_arguments(engine->state, args, nargs, kwnames, &data);
    Message *message = verify < 0 ? NULL : message_new(engine, data);
    if (message == NULL) {
        return NULL;
    }
    message->users = 1;
    Reader reader;
    uint64_t root;
    PyObject *view = NULL;
    const Reader *start = &message->start;
    if (reader_begin(&reader, engine, start->base, (Py_ssize_t)start->end, start->source, false, &root) == 0) {
        message->start = reader;
        const Node *node = &engine->nodes[engine->root];
        if (!verify || verify_root(&reader, node, root) == 0) {
            view = show_alone(message, &reader, node, root);
        }
    }
    view = message_finish(message, &reader, view);
    Py_DECREF(message);
    return view;
}

int view_traverse(View *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->message);
    return 0;
}

void view_dealloc(View *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    if (self->weak_references != NULL) {
        PyObject_ClearWeakRefs((PyObject *)self);
    }
    Py_XDECREF(self->message);
    type->tp_free(self);
    Py_DECREF(type);
}

PyObject *view_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args, (void)kwargs;
    PyErr_Format(PyExc_TypeError, "a %s is made by a codec's view()", type->tp_name);
    return NULL;
}

PyObject *view_value(View *self, PyObject *unused)
{
    (void)unused;
    if (message_enter(self->message)) {
        return NULL;
    }
    CheckedVtable checked[CHECKED_VTABLES] = {{0}};
    Reader reader = self->message->start;
    reader.checked = checked;
    reader.copy = true;
    PyObject *value = NULL;
    if (self->node->op == OP_TABLE) {
        read_alone(&reader, self->node, ((TableView *)self)->table.at, &value);
    } else {
        read_value(&reader, self->node, ((VectorView *)self)->place, 0, &value);
    }
    return message_finish(self->message, &reader, value);
}

PyObject *view_release(View *self, PyObject *unused)
{
    (void)unused;
    message_release(self->message);
    Py_RETURN_NONE;
}

PyObject *view_retained(View *self, PyObject *unused)
{
    (void)unused;
    Message *message = self->message;
    uint64_t size;
    Py_BEGIN_CRITICAL_SECTION(message);
    size = message->is_released ? 0 : message->start.end;
    Py_END_CRITICAL_SECTION();
    return PyLong_FromUnsignedLongLong(size);
}

PyMemberDef view_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(View, weak_references), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

/* Whether a class is one whose objects `new_view` and `view_dealloc` can make and free: a plain subclass. */
static bool is_view_class(PyObject *cls, PyTypeObject *base)
{
    return PyType_Check(cls) && PyType_IsSubtype((PyTypeObject *)cls, base)
           && ((PyTypeObject *)cls)->tp_basicsize == base->tp_basicsize && ((PyTypeObject *)cls)->tp_itemsize == 0;
}

static bool are_fields(const State *state, const Node *node, PyObject *fields)
{
    PyObject *name, *field;
    Py_ssize_t position = 0;
    while (PyDict_Next(fields, &position, &name, &field)) {
        if (!Py_IS_TYPE(field, state->field_type) || ((Field *)field)->node != node) {
            return false;
        }
    }
    return true;
}

PyObject *engine_set_view(Engine *engine, PyObject *args)
{
    const State *state = engine->state;
    Py_ssize_t index;
    PyObject *cls, *fields;
    if (!PyArg_ParseTuple(args, "nOO:set_view", &index, &cls, &fields)) {
        return NULL;
    }
    Node *node = index < 0 || index >= (Py_ssize_t)engine->node_count ? NULL : &engine->nodes[index];
    bool is_table = node != NULL && node->op == OP_TABLE;
    bool is_list = node != NULL && (node->op == OP_NUMBERS || node->op == OP_STRINGS || node->op == OP_TABLES);
    if (!(is_table && is_view_class(cls, state->table_view_type) && PyDict_CheckExact(fields)
          && are_fields(state, node, fields))
        && !(is_list && is_view_class(cls, state->vector_view_type))
        && !(node != NULL && node->op == OP_MAP && is_view_class(cls, state->map_view_type))) {
        PyErr_SetString(PyExc_ValueError, "set_view() takes the index of a node, a view class for it, and its fields");
        return NULL;
    }
    PyObject *own = is_table ? PyDict_Copy(fields) : NULL;
    if (is_table && own == NULL) {
        return NULL;
    }
    /* What type() gives a class would only, and slowly, look for slots and a dict that there are none of. */
    ((PyTypeObject *)cls)->tp_dealloc = (destructor)view_dealloc;
    Py_XSETREF(node->view_class, Py_NewRef(cls));
    Py_XSETREF(node->fields, own);
    Py_RETURN_NONE;
}

static PyTypeObject *make_type(PyObject *module, PyType_Spec *spec, PyTypeObject *base)
{
    return (PyTypeObject *)PyType_FromModuleAndSpec(module, spec, (PyObject *)base);
}

int view_add_types(PyObject *module, State *state)
{
    if ((state->message_type = make_type(module, &message_spec, NULL)) == NULL
        || (state->table_view_type = make_type(module, &table_view_spec, NULL)) == NULL
        || (state->vector_view_type = make_type(module, &vector_view_spec, NULL)) == NULL
        || (state->map_view_type = make_type(module, &map_view_spec, NULL)) == NULL
        || (state->field_type = make_type(module, &field_spec, NULL)) == NULL
        || (state->verify_name = PyUnicode_InternFromString("verify")) == NULL) {
        return -1;
    }
    PyTypeObject *numbers = make_type(module, &numbers_view_spec, state->vector_view_type);
    int fails = numbers == NULL || PyModule_AddType(module, numbers) || PyModule_AddType(module, state->table_view_type)
                || PyModule_AddType(module, state->vector_view_type) || PyModule_AddType(module, state->map_view_type)
                || PyModule_AddType(module, state->field_type);
    Py_XDECREF(numbers);
    return fails ? -1 : 0;
}
