/* Views of records, and the fields that read them. */
#include "view.h"

/* The field of a struct, or an option of a union, None where it is of another. */
static PyObject *show_part(TableView *self, Reader *reader, const Place *place)
{
    Message *message = self->head.message;
    const Node *node = &reader->engine->nodes[place->node];
    if (self->head.node->op == OP_STRUCT) {
        return show_inline(message, reader, node, self->struct_at + place->offset);
    }
    return place == self->oneof.option ? show_option(message, reader, node, self->oneof.place) : Py_NewRef(Py_None);
}

/* What most fields are, read without what the others need: 1; 0 if this is another, or wrong; -1 with an exception. No
   code runs meanwhile that could release the message. */
static int read_plain_field(TableView *self, const Place *place, PyObject **value)
{
#ifdef Py_GIL_DISABLED
    (void)self, (void)place, (void)value;
#else
    Message *message = self->head.message;
    if (self->head.node->op == OP_TABLE && place->kind_size == 0 && !outermost(message)->is_released) {
        const Reader *start = &message->start;
        uint32_t offset = slot_of(start, &self->table, place->index);
        int64_t bytes = 0;
        if (offset != 0 && offset + place->size <= self->table.size) {
            return read_plain(start, &start->engine->nodes[place->node], self->table.at + offset, &bytes, value);
        }
    }
#endif
    return 0;
}

static PyObject *read_field(TableView *self, const Place *place)
{
    PyObject *plain = NULL;
    if (read_plain_field(self, place, &plain) != 0) {
        return plain;
    }
    Message *message = self->head.message;
    if (message_enter(message)) {
        return NULL;
    }
    Reader reader = message->start;
    PyObject *value = self->head.node->op == OP_TABLE ? show_slot(message, &reader, &self->table, place)
                                                      : show_part(self, &reader, place);
    if (value == NULL) {
        step_name(&reader, place->name);
    }
    return message_finish(message, &reader, value);
}

static PyObject *no_field(TableView *self, PyObject *name)
{
    const Node *node = self->head.node;
    PyObject *record = PyObject_GetAttrString(node->view_class, "_zc_record");
    PyObject *names = node->fields == NULL ? PyList_New(0) : PyDict_Keys(node->fields);
    PyObject *error = NULL;
    if (record != NULL && names != NULL) {
        PyObject *call = self->head.message->start.engine->no_field;
        error = PyObject_CallFunctionObjArgs(call, record, names, name, NULL);
    }
    Py_XDECREF(record);
    Py_XDECREF(names);
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
    return NULL;
}

static PyObject *table_subscript(TableView *self, PyObject *name)
{
    PyObject *fields = self->head.node->fields;
    PyObject *field = fields == NULL ? NULL : PyDict_GetItemWithError(fields, name);
    if (field != NULL) {
        return read_field(self, ((Field *)field)->place);
    }
    if (PyErr_Occurred()) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) {
            return NULL;
        }
        PyErr_Clear(); /* Of a name without a hash. */
    }
    return no_field(self, name);
}

static inline size_t hash_of(const PyObject *name)
{
    return (uintptr_t)name >> 4;
}

int set_attributes(Node *node, PyObject *cls, PyObject *fields)
{
    size_t size = 4;
    while (size < 2 * (size_t)PyDict_GET_SIZE(fields)) {
        size *= 2;
    }
    Attribute *attributes = PyMem_Calloc(size, sizeof *attributes);
    if (attributes == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    PyObject *key, *field;
    Py_ssize_t position = 0;
    while (PyDict_Next(fields, &position, &key, &field)) {
        const Place *place = ((Field *)field)->place;
        PyObject *found = PyObject_GetAttr(cls, place->name); /* A field is its own attribute of a class. */
        if (found == field) {
            size_t at = hash_of(place->name) & (size - 1);
            while (attributes[at].name != NULL) {
                at = (at + 1) & (size - 1);
            }
            attributes[at] = (Attribute){place->name, place};
        } else if (found == NULL) {
            PyErr_Clear();
        }
        Py_XDECREF(found);
    }
    PyMem_Free(node->attributes);
    node->attributes = attributes;
    node->attribute_mask = size - 1;
    return 0;
}

/* Attributes that are fields, which the names in code find at once; the rest as of any object. */
static PyObject *table_getattro(TableView *self, PyObject *name)
{
    const Node *node = self->head.node;
    if ((PyObject *)Py_TYPE(self) == node->view_class) {
        for (size_t at = hash_of(name);; at++) {
            const Attribute *attribute = &node->attributes[at & node->attribute_mask];
            if (attribute->name == name) {
                return read_field(self, attribute->place);
            }
            if (attribute->name == NULL) {
                break;
            }
        }
    }
    return PyObject_GenericGetAttr((PyObject *)self, name);
}

static PyMethodDef table_methods[] = {
    VIEW_METHODS,
    {NULL, NULL, 0, NULL},
};

static PyType_Slot table_slots[] = {
    VIEW_SLOTS,
    {Py_tp_doc, "A record in a message."},
    {Py_tp_getattro, table_getattro},
    {Py_tp_methods, table_methods},
    {Py_mp_subscript, table_subscript},
    {0, NULL},
};

PyType_Spec table_view_spec = {
    .name = "zcser.native._flat.TableView",
    .basicsize = sizeof(TableView),
    .flags = VIEW_FLAGS,
    .slots = table_slots,
};

static PyObject *field_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"", "", "", NULL};
    State *state = PyType_GetModuleState(type);
    Engine *engine;
    Py_ssize_t node, place;
    if (state == NULL || !PyArg_ParseTupleAndKeywords(
                             args, kwargs, "O!nn:Field", names, state->engine_type, &engine, &node, &place)) {
        return NULL;
    }
    if (node < 0 || node >= (Py_ssize_t)engine->node_count || place < 0 || place >= engine->nodes[node].place_count
        || (engine->nodes[node].op != OP_TABLE && engine->nodes[node].op != OP_STRUCT
            && engine->nodes[node].op != OP_ONEOF)) {
        PyErr_SetString(PyExc_ValueError, "Field() takes the index of a record's node, and of a place in it");
        return NULL;
    }
    Field *self = (Field *)type->tp_alloc(type, 0);
    if (self != NULL) {
        self->engine = (Engine *)Py_NewRef(engine);
        self->node = &engine->nodes[node];
        self->place = &self->node->places[place];
    }
    return (PyObject *)self;
}

static int field_traverse(Field *self, visitproc visit, void *arg)
{
    /* Nothing to clear: like a tuple, a field cannot be the whole of a cycle. */
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->engine);
    return 0;
}

static void field_dealloc(Field *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->engine);
    type->tp_free(self);
    Py_DECREF(type);
}

/* The view that a field is asked to read: one of its own record. */
static TableView *view_of_field(Field *self, PyObject *view)
{
    /* A view's class alone does not tell: it can be changed, to that of another record. */
    bool is_view = (PyObject *)Py_TYPE(view) == self->node->view_class
                   || PyObject_TypeCheck(view, self->engine->state->table_view_type);
    if (is_view && ((View *)view)->node == self->node) {
        return (TableView *)view;
    }
    PyErr_Format(PyExc_TypeError, "the field %R of another record than %s", self->place->name, Py_TYPE(view)->tp_name);
    return NULL;
}

static PyObject *field_get(Field *self, PyObject *view, PyObject *owner)
{
    (void)owner;
    if (view == NULL || view == Py_None) {
        return Py_NewRef(self);
    }
    TableView *table = view_of_field(self, view);
    return table == NULL ? NULL : read_field(table, self->place);
}

/* Whether a record has what may be absent from it. */
static bool has_place(const TableView *self, const Place *place)
{
    switch (self->head.node->op) {
    case OP_TABLE:
        return place->missing != MISSING_ABSENT
               || slot_of(&self->head.message->start, &self->table, place->index) != 0;
    case OP_ONEOF:
        return place == self->oneof.option;
    default:
        return true;
    }
}

static PyObject *field_is_present(Field *self, PyObject *view)
{
    TableView *table = view_of_field(self, view);
    if (table == NULL || message_enter(table->head.message)) {
        return NULL;
    }
    Message *message = table->head.message;
    bool is_there = has_place(table, self->place);
    message_leave(message);
    return PyBool_FromLong(is_there);
}

static PyMethodDef field_methods[] = {
    {"is_present", (PyCFunction)field_is_present, METH_O, "Whether a field that may be absent is there."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot field_slots[] = {
    {Py_tp_doc, "A field of a record."},
    {Py_tp_new, field_new},
    {Py_tp_dealloc, field_dealloc},
    {Py_tp_traverse, field_traverse},
    {Py_tp_descr_get, field_get},
    {Py_tp_methods, field_methods},
    {0, NULL},
};

PyType_Spec field_spec = {
    .name = "zcser.native._flat.Field",
    .basicsize = sizeof(Field),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE,
    .slots = field_slots,
};
