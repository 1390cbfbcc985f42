/* Structs and arrays of a message, which stand inline, and vectors of structs. */
#include "read.h"

static int read_part(Reader *reader, const Node *node, uint64_t at, PyObject **value);

static int read_fields(Reader *reader, const Node *node, uint64_t at, PyObject *dict)
{
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        const Place *place = &node->places[position];
        PyObject *field = NULL;
        if (read_part(reader, &reader->engine->nodes[place->node], at + place->offset, dict == NULL ? NULL : &field)) {
            step_name(reader, place->name);
            return -1;
        }
        int failed = dict == NULL ? 0 : PyDict_SetItem(dict, place->name, field);
        Py_XDECREF(field);
        if (failed) {
            return -1;
        }
    }
    return 0;
}

/* Count what `count` structs hold, and look at their depth; they, or the vector of them, stand at `at`. */
static int count_parts(Reader *reader, const Node *node, uint64_t at, uint64_t count)
{
    if (count != 0 && reader->engine->counts_depth
        && reader->depth + (Py_ssize_t)node->levels > reader->engine->depth) {
        return fault(reader, at, "nested deeper than limits.depth = %zd", reader->engine->depth);
    }
    if (node->item_count != 0 && count > (uint64_t)reader->elements / node->item_count) {
        reader->elements = -1;
        return overspent(reader, at);
    }
    reader->elements -= (int64_t)(count * node->item_count);
    return 0;
}

/* A struct whose parts were counted. */
static int read_counted(Reader *reader, const Node *node, uint64_t at, PyObject **value)
{
    PyObject *dict = value == NULL ? NULL : PyDict_New();
    if ((value != NULL && dict == NULL) || read_fields(reader, node, at, dict)) {
        Py_XDECREF(dict);
        return -1;
    }
    if (value != NULL) {
        *value = dict;
    }
    return 0;
}

/* The items of a list of structs, or of an array that is not of numbers alone. */
static int read_each(Reader *reader, const Node *node, uint64_t first, uint64_t count, PyObject **value)
{
    const Node *item = &reader->engine->nodes[node->item];
    PyObject *sequence = value == NULL ? NULL : new_sequence(node, count);
    if (value != NULL && sequence == NULL) {
        return -1;
    }
    PyObject **items = sequence == NULL ? NULL : PySequence_Fast_ITEMS(sequence);
    uint64_t index = 0;
    while (index < count
           && read_part(reader, item, first + index * item->size, items == NULL ? NULL : items + index) == 0) {
        index++;
    }
    if (index < count) {
        step_item(reader, (Py_ssize_t)index);
    }
    return end_sequence(sequence, count, index == count, value);
}

static int read_part(Reader *reader, const Node *node, uint64_t at, PyObject **value)
{
    if (value == NULL && !node->has_enum && node->op != OP_ENUM) {
        return 0; /* Every number is one. */
    }
    switch (node->op) {
    case OP_STRUCT:
        return read_counted(reader, node, at, value);
    case OP_ARRAY:
        return reader->engine->nodes[node->item].op < OP_ENUM
                   ? read_scalars(reader, node, at, at, (uint64_t)node->bound, value)
                   : read_each(reader, node, at, (uint64_t)node->bound, value);
    default:
        return read_number(reader, node, at, value);
    }
}

int read_inline(Reader *reader, const Node *node, uint64_t at, PyObject **value)
{
    return count_parts(reader, node, at, 1) ? -1 : read_part(reader, node, at, value);
}

int read_found_structs(Reader *reader, const Node *node, uint64_t first, uint64_t count, PyObject **value)
{
    const Node *item = &reader->engine->nodes[node->item];
    uint64_t at = vector_at(node, first);
    if (count_items(reader, at, count)) {
        return -1;
    }
    reader->depth++;
    int failed = count_parts(reader, item, at, count)
                 || ((value != NULL || item->has_enum) && read_each(reader, node, first, count, value));
    reader->depth--;
    return failed ? -1 : 0;
}

int read_structs(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    const Node *item = &reader->engine->nodes[node->item];
    uint64_t first, count;
    int failed = read_vector(reader, node, place, item->size, item->align, &first, &count)
                 || read_found_structs(reader, node, first, count, value);
    leave_segment(reader);
    return failed ? -1 : 0;
}

int find_struct(Reader *reader, const Node *node, uint64_t place, uint64_t *at)
{
    uint32_t offset = load_u32(reader->base + place);
    if (offset == 0) {
        return fault(reader, place, "an offset is 0");
    }
    *at = place + offset;
    if (*at & (node->align - 1u)) {
        return fault(reader, *at, "a struct at byte %llu is not aligned", (unsigned long long)*at);
    }
    if (*at + node->size > reader->end) {
        return fault_cut(reader, *at, "a struct of %u bytes leads past the end at %llu", (unsigned)node->size,
                         (unsigned long long)reader->end);
    }
    reader->bytes -= node->size;
    return reader->bytes < 0 ? overspent(reader, *at) : 0;
}
