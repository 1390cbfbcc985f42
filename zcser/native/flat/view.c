/* Opening a message, and what all views have. */
#include "view.h"

/* Check the whole message. What the reader may still show is counted anew after that. */
static int verify_root(Reader *reader, const Node *node, uint64_t root)
{
    int64_t elements = reader->elements, bytes = reader->bytes;
    int failed = read_alone(reader, node, root, NULL) || (reader->bytes < 0 && overspent(reader, 0))
                 || (reader->segments != NULL && check_reached(reader));
    reader->elements = elements;
    reader->bytes = bytes;
    return failed ? -1 : 0;
}

/* The arguments of view(data, *, verify=True); whether to verify, or -1 with an exception. */
static int view_arguments(const State *state, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames,
                          PyObject **data)
{
    PyObject *found[2] = {NULL, NULL};
    if (nargs == 1 && kwnames == NULL) {
        *data = args[0];
        return 1;
    }
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

/* The view of a message whose bytes are there; takes the message over. */
static PyObject *open_message(Engine *engine, Message *message, bool verify)
{
    message->users = 1;
    Reader reader;
    uint64_t root;
    PyObject *view = NULL;
    const Reader *start = &message->start;
    int failed = message->segments == NULL
                     ? reader_begin(&reader, engine, start->base, (Py_ssize_t)start->end, start->source, false, &root)
                     : reader_begin_segments(&reader, engine, message->segments, false, &root);
    if (!failed) {
        const Node *node = &engine->nodes[engine->root];
        if (!verify || verify_root(&reader, node, root) == 0) {
            reader.notes_reached = false; /* From now on threads may share the segments. */
            message->start = reader;
            view = show_alone(message, &reader, node, root);
        }
    }
    view = message_finish(message, &reader, view);
    Py_DECREF(message);
    return view;
}

PyObject *engine_view(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *data = NULL;
    int verify = view_arguments(engine->state, args, nargs, kwnames, &data);
    Message *message = verify < 0 ? NULL : message_new(engine, data);
    return message == NULL ? NULL : open_message(engine, message, verify);
}

PyObject *engine_view_segments(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"segments", "verify", NULL};
    PyObject *found[2];
    if (take_arguments("view_segments", names, 1, 1, args, nargs, kwnames, found)) {
        return NULL;
    }
    int verify = found[1] == NULL ? 1 : PyObject_IsTrue(found[1]);
    Message *message = verify < 0 ? NULL : message_of_segments(engine, found[0]);
    return message == NULL ? NULL : open_message(engine, message, verify);
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
    Message *message = self->message;
    Engine *engine = message->start.engine;
    Node *node = &engine->nodes[self->node - engine->nodes];
    if ((PyObject *)type == node->view_class) {
        free_to((PyObject *)self, &node->spare);
    } else {
        PyObject_GC_Del(self);
    }
    Py_DECREF(message); /* The engine may go with it. */
    Py_DECREF(type);
}

void view_free_spares(Engine *engine)
{
    for (uint32_t index = 0; engine->nodes != NULL && index < engine->node_count; index++) {
        if (engine->nodes[index].spare != NULL) {
            PyObject_GC_Del(engine->nodes[index].spare);
            engine->nodes[index].spare = NULL;
        }
    }
    if (engine->spare_message != NULL) {
        PyObject_GC_Del(engine->spare_message);
        engine->spare_message = NULL;
    }
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
    Reader reader = self->message->start;
    reader.copy = true;
    PyObject *value = NULL;
    const TableView *record = (TableView *)self;
    const VectorView *vector = (VectorView *)self;
    switch (self->node->op) {
    case OP_TABLE:
        read_alone(&reader, self->node, record->table.at, &value);
        break;
    case OP_STRUCT:
        read_value(&reader, self->node, record->struct_at, 0, &value);
        break;
    case OP_ONEOF:
        read_value(&reader, self->node, record->oneof.place, record->oneof.option->index, &value);
        break;
    case OP_NUMBERS:
        read_found_numbers(&reader, self->node, vector->first, (uint64_t)vector->count, &value);
        break;
    case OP_STRUCTS:
        read_found_structs(&reader, self->node, vector->first, (uint64_t)vector->count, &value);
        break;
    default:
        read_value(&reader, self->node, vector->place, vector->kind, &value);
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
    Message *message = outermost(self->message);
    uint64_t size;
    Py_BEGIN_CRITICAL_SECTION(message);
    size = message->is_released ? 0 : message->segments == NULL ? message->start.end : message->segments->total;
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
    bool is_table = node != NULL && (node->op == OP_TABLE || node->op == OP_STRUCT || node->op == OP_ONEOF);
    bool is_list = node != NULL && (node->op == OP_NUMBERS || node->op == OP_STRINGS || node->op == OP_TABLES
                                    || node->op == OP_ARRAY || node->op == OP_STRUCTS || node->op == OP_ONEOFS);
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
    if (is_table && set_attributes(node, cls, fields)) {
        Py_DECREF(own);
        return NULL;
    }
    if (node->spare != NULL) {
        PyObject_GC_Del(node->spare); /* Of another class, which may be larger. */
        node->spare = NULL;
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
