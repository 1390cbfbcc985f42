/* Views of maps, whose entries are found by a search. */
#include "view.h"

static PyObject *no_key(PyObject *key)
{
    PyObject *arguments = PyTuple_Pack(1, key); /* A tuple would be taken for several. */
    if (arguments != NULL) {
        PyErr_SetObject(PyExc_KeyError, arguments);
        Py_DECREF(arguments);
    }
    return NULL;
}

/* Add a key to the path of a fault. */
static void step_key(Reader *reader, PyObject *key)
{
    PyObject *name = reader->reason == NULL ? NULL : PyObject_Str(key);
    if (name == NULL) {
        PyErr_Clear();
        return;
    }
    step_name(reader, name);
    Py_DECREF(name);
}

static PyObject *map_subscript(VectorView *self, PyObject *key)
{
    Message *message = self->head.message;
    Sought sought;
    if (message_enter(message)) {
        return NULL;
    }
    Reader reader = message->start;
    PyObject *value = NULL;
    TableAt table;
    const Place *places = reader.engine->nodes[self->head.node->item].places;
    Py_ssize_t index;
    int found = sought_begin(reader.engine, &places[0], false, key, &sought);
    if (found > 0) {
        found = search(self, &reader, &sought, &index, &table);
    }
    if (found > 0) {
        value = show_slot(message, &reader, &table, &places[1]);
        if (value == NULL) {
            step_key(&reader, key);
        }
    }
    if (found == 0) {
        reader_end(&reader);
        message_leave(message);
        return no_key(key);
    }
    return message_finish(message, &reader, value);
}

static PyObject *map_key(VectorView *self, PyObject *argument)
{
    Py_ssize_t index = PyNumber_AsSsize_t(argument, NULL);
    if (index == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (index < 0 || index >= self->count) {
        return PyErr_Format(PyExc_IndexError, "entry %zd is outside a map of %zd", index, self->count);
    }
    if (message_enter(self->head.message)) {
        return NULL;
    }
    Reader reader = self->head.message->start;
    PyObject *key = NULL;
    TableAt table;
    if (find_item(self, &reader, index, &table) == 0) {
        key = show_slot(NULL, &reader, &table, &reader.engine->nodes[self->head.node->item].places[0]);
    }
    return message_finish(self->head.message, &reader, key);
}

static PyMethodDef map_methods[] = {
    VIEW_METHODS,
    {"_zc_key", (PyCFunction)map_key, METH_O, "The key of the entry at an index."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot map_slots[] = {
    VIEW_SLOTS,
    {Py_tp_doc, "A map in a message."},
    {Py_tp_methods, map_methods},
    {Py_mp_length, vector_length},
    {Py_mp_subscript, map_subscript},
    {0, NULL},
};

PyType_Spec map_view_spec = {
    .name = "zcser.native._flat.MapView",
    .basicsize = sizeof(VectorView),
    .flags = VIEW_FLAGS,
    .slots = map_slots,
};
