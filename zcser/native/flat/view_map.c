/* Views of maps: found by a search among the entries, which stand in the order of their keys.

   In a message that was not verified they may not: then a key is found or not, and no more than that is wrong. */
#include "view.h"

/* A key that is looked for. */
typedef struct {
    PyObject *key;
    const char *text;      /* UTF-8 of a str; NULL: it is an int. */
    Py_ssize_t size;
} Sought;

static int find_entry(VectorView *self, Reader *reader, Py_ssize_t index, TableAt *table)
{
    uint64_t target;
    reader->at = self->first - 4;
    if (read_offset(reader, self->first + 4 * (uint64_t)index, &target)) {
        return -1;
    }
    return find_table(reader, target, table);
}

static int compare_text(Reader *reader, const Place *place, const TableAt *table, const Sought *sought, int *order)
{
    int offset = slot_within(reader, table, place->index, 4);
    if (offset <= 0) {
        return offset < 0 ? -1 : fault(reader, table->at, "a map's entry has no key");
    }
    uint64_t first;
    uint32_t size;
    reader->at = table->at;
    if (read_string(reader, &reader->engine->nodes[place->node], table->at + (uint32_t)offset, &first, &size)) {
        return -1;
    }
    Py_ssize_t extra = sought->size - (Py_ssize_t)size;
    *order = memcmp(sought->text, reader->base + first, extra < 0 ? (size_t)sought->size : size);
    if (*order == 0) {
        *order = (extra > 0) - (extra < 0);
    }
    return 0;
}

static int compare_number(Reader *reader, const Place *place, const TableAt *table, const Sought *sought, int *order)
{
    PyObject *found = show_slot(NULL, reader, table, place); /* A scalar: no view is made. */
    if (found == NULL) {
        return -1;
    }
    int is_less = PyObject_RichCompareBool(sought->key, found, Py_LT);
    int is_equal = is_less != 0 ? 0 : PyObject_RichCompareBool(sought->key, found, Py_EQ);
    Py_DECREF(found);
    *order = is_less ? -1 : !is_equal;
    return is_less < 0 || is_equal < 0 ? -1 : 0;
}

/* The table of the entry with a key: 1 if there is one, 0 if not, -1 with a fault or an exception. */
static int search(VectorView *self, Reader *reader, const Sought *sought, TableAt *table)
{
    const Place *place = &reader->engine->nodes[self->head.node->item].places[0];
    Py_ssize_t low = 0, high = self->count;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        int order;
        if (find_entry(self, reader, middle, table)
            || (sought->text != NULL ? compare_text : compare_number)(reader, place, table, sought, &order)) {
            return -1;
        }
        if (order == 0) {
            return 1;
        }
        if (order < 0) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    return 0;
}

/* Whether a map may have a key: one of its keys' class, and no str without UTF-8. -1 with an exception. */
static int prepare(VectorView *self, PyObject *key, Sought *sought)
{
    const Engine *engine = self->head.message->start.engine;
    const Node *entry = &engine->nodes[self->head.node->item];
    *sought = (Sought){.key = key};
    if (engine->nodes[entry->places[0].node].op != OP_STRING) {
        return PyLong_Check(key);
    }
    if (!PyUnicode_Check(key)) {
        return 0;
    }
    sought->text = PyUnicode_AsUTF8AndSize(key, &sought->size);
    if (sought->text != NULL) {
        return 1;
    }
    if (!PyErr_ExceptionMatches(PyExc_UnicodeEncodeError)) {
        return -1;
    }
    PyErr_Clear();
    return 0;
}

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
    int found = prepare(self, key, &sought);
    if (found > 0) {
        found = search(self, &reader, &sought, &table);
    }
    if (found > 0) {
        value = show_slot(message, &reader, &table, &reader.engine->nodes[self->head.node->item].places[1]);
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
    if (find_entry(self, &reader, index, &table) == 0) {
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
