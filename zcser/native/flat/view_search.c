/* The search for a key among the items of a vector, which stand in the order of their keys.

   In a message that was not verified, and in a list that nobody sorted, they may not: then a key is found or not, and
   no more than that is wrong. */
#include "view.h"

int find_item(const VectorView *self, Reader *reader, Py_ssize_t index, TableAt *table)
{
    uint64_t target;
    reader->at = self->first - 4;
    if (read_offset(reader, self->first + 4 * (uint64_t)index, &target)) {
        return -1;
    }
    return find_table(reader, target, table);
}

static int compare_text(Reader *reader, const Sought *sought, const TableAt *table, int *order)
{
    int offset = slot_within(reader, table, sought->place->index, 4);
    if (offset <= 0) {
        return offset < 0 ? -1 : fault(reader, table->at, "an item has no key");
    }
    uint64_t first, size;
    const Node *node = &reader->engine->nodes[sought->place->node];
    reader->at = table->at;
    int failed = read_string(reader, node, table->at + (uint32_t)offset, &first, &size);
    if (!failed) {
        Py_ssize_t extra = sought->size - (Py_ssize_t)size;
        *order = memcmp(sought->text, reader->base + first, extra < 0 ? (size_t)sought->size : (size_t)size);
        if (*order == 0) {
            *order = (extra > 0) - (extra < 0);
        }
    }
    leave_segment(reader);
    return failed;
}

/* Compare with a key that was found, and is let go. */
static int compare_number(const Sought *sought, PyObject *found, int *order)
{
    if (found == NULL) {
        return -1;
    }
    int is_less = PyObject_RichCompareBool(sought->key, found, Py_LT);
    int is_equal = is_less != 0 ? 0 : PyObject_RichCompareBool(sought->key, found, Py_EQ);
    Py_DECREF(found);
    *order = is_less ? -1 : !is_equal;
    return is_less < 0 || is_equal < 0 ? -1 : 0;
}

static int compare(const VectorView *self, Reader *reader, const Sought *sought, Py_ssize_t index, TableAt *table,
                   int *order)
{
    if (sought->is_inline) {
        const Node *item = &reader->engine->nodes[self->head.node->item];
        uint64_t at = self->first + (uint64_t)index * item->size + sought->place->offset;
        return compare_number(sought, read_scalar(reader, &reader->engine->nodes[sought->place->node], at), order);
    }
    if (find_item(self, reader, index, table)) {
        return -1;
    }
    if (sought->text != NULL) {
        return compare_text(reader, sought, table, order);
    }
    /* A scalar: no view is made. */
    return compare_number(sought, show_slot(NULL, reader, table, sought->place), order);
}

int search(const VectorView *self, Reader *reader, const Sought *sought, Py_ssize_t *index, TableAt *table)
{
    Py_ssize_t low = 0, high = self->count;
    while (low < high) {
        int order = 0;
        *index = low + (high - low) / 2;
        if (compare(self, reader, sought, *index, table, &order)) {
            return -1;
        }
        if (order == 0) {
            return 1;
        }
        if (order < 0) {
            high = *index;
        } else {
            low = *index + 1;
        }
    }
    return 0;
}

int sought_begin(const Engine *engine, const Place *place, bool is_inline, PyObject *key, Sought *sought)
{
    Op op = engine->nodes[place->node].op;
    *sought = (Sought){.place = place, .is_inline = is_inline, .key = key};
    if (op != OP_STRING) {
        return PyLong_Check(key) || ((op == OP_FLOAT32 || op == OP_FLOAT64) && PyFloat_Check(key));
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
    PyErr_Clear(); /* What has no UTF-8 is no key. */
    return 0;
}
