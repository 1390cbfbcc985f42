/* Unions of a message whose values are dicts with one key, the name of the option; and vectors of such. */
#include "read.h"

const Place *option_numbered(const Node *node, uint32_t number)
{
    /* Most are numbered from 1. */
    if (number - 1u < (size_t)node->place_count && node->places[number - 1].index == number) {
        return &node->places[number - 1];
    }
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        if (node->places[position].index == number) {
            return &node->places[position];
        }
    }
    return NULL;
}

int read_kinds(Reader *reader, const TableAt *table, Slot slot)
{
    if (slot.kind_offset == 0 && slot.offset != 0) {
        return fault(reader, table->at, "a union has a value but no type");
    }
    if (slot.kind_offset != 0 && slot.offset == 0) {
        return fault(reader, table->at, "a union has a type but no value");
    }
    return slot.kind_offset;
}

/* What the offset of an option leads to. */
static int read_option(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    uint64_t at;
    switch (node->op) {
    case OP_STRUCT:
        return find_struct(reader, node, place, &at) ? -1 : read_inline(reader, node, at, value);
    case OP_STRING:
        return read_value(reader, node, place, 0, value);
    default:
        return read_through(reader, node, place, value);
    }
}

int read_oneof(Reader *reader, const Node *node, uint64_t place, uint64_t kind, PyObject **value)
{
    const Place *option = option_numbered(node, (uint32_t)kind);
    PyObject *held = NULL;
    if (enter_record(reader, place)) {
        return -1;
    }
    reader->at = place;
    int failed = option == NULL
                     ? fault(reader, place, "%d is no option of the union", (int)kind)
                     : read_option(reader, &reader->engine->nodes[option->node], place, value == NULL ? NULL : &held);
    leave_record(reader);
    if (failed) {
        step_name(reader, option == NULL ? NULL : option->name);
        return -1;
    }
    if (value == NULL) {
        return 0;
    }
    *value = PyDict_New();
    if (*value != NULL && PyDict_SetItem(*value, option->name, held)) {
        Py_CLEAR(*value);
    }
    Py_DECREF(held);
    return *value == NULL ? -1 : 0;
}

int find_oneofs(Reader *reader, const Node *node, uint64_t place, uint64_t kind, uint64_t *numbers, uint64_t *first,
                uint64_t *count)
{
    uint64_t number_count;
    if (read_vector(reader, &PLAIN_VECTOR, kind, 1, 1, numbers, &number_count)
        || read_vector(reader, node, place, 4, 4, first, count)) {
        return -1;
    }
    if (number_count != *count) {
        return fault(reader, AT(*first), "%llu unions have %llu types", (unsigned long long)*count,
                     (unsigned long long)number_count);
    }
    return 0;
}

int read_item_kind(Reader *reader, uint64_t numbers, uint64_t first, uint64_t index)
{
    uint8_t number = reader->base[numbers + index];
    bool is_there = load_u32(reader->base + first + 4 * index) != 0;
    if (number == 0 && is_there) {
        return fault(reader, AT(first), "a union has a value but no type");
    }
    if (number != 0 && !is_there) {
        return fault(reader, AT(first), "a union has a type but no value");
    }
    return number;
}

static int read_item(Reader *reader, const Node *item, uint64_t place, int number, PyObject **value)
{
    if (number != 0) {
        return number < 0 ? -1 : read_oneof(reader, item, place, (uint64_t)number, value);
    }
    if (value != NULL) {
        *value = Py_NewRef(Py_None);
    }
    return 0;
}

static int read_each(Reader *reader, const Node *node, uint64_t numbers, uint64_t first, uint64_t count,
                     PyObject **value)
{
    const Node *item = &reader->engine->nodes[node->item];
    PyObject *sequence = value == NULL ? NULL : new_sequence(node, count);
    if (value != NULL && sequence == NULL) {
        return -1;
    }
    PyObject **items = sequence == NULL ? NULL : PySequence_Fast_ITEMS(sequence);
    uint64_t index = 0, table = reader->at;
    reader->depth++;
    while (index < count
           && read_item(reader, item, first + 4 * index, read_item_kind(reader, numbers, first, index),
                        items == NULL ? NULL : items + index) == 0) {
        reader->at = table;
        index++;
    }
    reader->depth--;
    if (index < count) {
        step_item(reader, (Py_ssize_t)index);
    }
    return end_sequence(sequence, count, index == count, value);
}

int read_oneofs(Reader *reader, const Node *node, uint64_t place, uint64_t kind, PyObject **value)
{
    uint64_t numbers, first, count;
    if (find_oneofs(reader, node, place, kind, &numbers, &first, &count) || count_items(reader, AT(first), count)) {
        return -1;
    }
    return read_each(reader, node, numbers, first, count, value);
}
