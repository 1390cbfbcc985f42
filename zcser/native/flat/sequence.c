/* Vectors of a message that are lists or tuples as values. */
#include "read.h"

int count_items(Reader *reader, uint64_t at, uint64_t count)
{
    reader->elements -= (int64_t)count;
    if (reader->elements < 0) {
        return overspent(reader, at);
    }
    if (reader->engine->counts_depth && reader->depth >= reader->engine->depth) {
        return fault(reader, at, "nested deeper than limits.depth = %zd", reader->engine->depth);
    }
    return 0;
}

/* The items of a list that was found are counted. */
static int check_items(Reader *reader, const Node *node, uint64_t first, uint64_t count)
{
    if (count_items(reader, vector_at(node, first), count)) {
        return -1;
    }
    if (node->bound >= 0 && count != (uint64_t)node->bound) {
        return fault(reader, vector_at(node, first), "%zd items are needed, not %llu", node->bound,
                     (unsigned long long)count);
    }
    return 0;
}

/* The vector of a list of offsets: found, its items counted. */
static int read_list(Reader *reader, const Node *node, uint64_t place, uint64_t *first, uint64_t *count)
{
    return read_vector(reader, node, place, 4, 4, first, count) || check_items(reader, node, *first, *count) ? -1 : 0;
}

PyObject *new_sequence(const Node *node, uint64_t count)
{
    PyObject *sequence = node->is_tuple ? PyTuple_New((Py_ssize_t)count) : PyList_New((Py_ssize_t)count);
    if (sequence != NULL && count != 0) {
        PyObject_GC_UnTrack(sequence);
    }
    return sequence;
}

int end_sequence(PyObject *sequence, uint64_t count, bool is_full, PyObject **value)
{
    if (!is_full) {
        Py_XDECREF(sequence);
        return -1;
    }
    if (value != NULL) {
        if (count != 0) {
            PyObject_GC_Track(sequence);
        }
        *value = sequence;
    }
    return 0;
}

/* Numbers by a loop of their own for each kind. */
#define EACH(make)                                          \
    for (uint64_t index = 0; index < count; index++) {      \
        if ((items[index] = (make)) == NULL) {              \
            return -1;                                      \
        }                                                   \
    }                                                       \
    return 0

static int fill_numbers(Op op, const uint8_t *first, uint64_t count, PyObject **items)
{
    switch (op) {
    case OP_NULL:
        EACH(Py_NewRef(Py_None));
    case OP_BOOL:
        EACH(PyBool_FromLong(first[index]));
    case OP_INT8:
        EACH(PyLong_FromLong((int8_t)first[index]));
    case OP_UINT8:
        EACH(PyLong_FromLong(first[index]));
    case OP_INT16:
        EACH(PyLong_FromLong(load_i16(first + 2 * index)));
    case OP_UINT16:
        EACH(PyLong_FromLong(load_u16(first + 2 * index)));
    case OP_INT32:
        EACH(PyLong_FromLong(load_i32(first + 4 * index)));
    case OP_UINT32:
        EACH(PyLong_FromUnsignedLong(load_u32(first + 4 * index)));
    case OP_INT64:
        EACH(PyLong_FromLongLong(load_i64(first + 8 * index)));
    case OP_UINT64:
        EACH(PyLong_FromUnsignedLongLong(load_u64(first + 8 * index)));
    case OP_FLOAT32:
        EACH(PyFloat_FromDouble(load_f32(first + 4 * index)));
    default:
        EACH(PyFloat_FromDouble(load_f64(first + 8 * index)));
    }
}
#undef EACH

/* `items` may be NULL, for a check alone. */
static int fill_enums(Reader *reader, const Node *item, uint64_t at, uint64_t first, uint64_t count, PyObject **items)
{
    for (uint64_t index = 0; index < count; index++) {
        PyObject *value = enum_value(item, read_bits(reader, item->number, first + (uint64_t)item->size * index));
        if (value == NULL) {
            return fault(reader, at, "an item is no member of the enum");
        }
        if (items != NULL) {
            items[index] = Py_NewRef(value);
        }
    }
    return 0;
}

int read_scalars(Reader *reader, const Node *node, uint64_t at, uint64_t first, uint64_t count, PyObject **value)
{
    const Node *item = &reader->engine->nodes[node->item];
    PyObject *sequence = value == NULL ? NULL : new_sequence(node, count);
    PyObject **items = sequence == NULL ? NULL : PySequence_Fast_ITEMS(sequence);
    bool is_full = value == NULL || sequence != NULL;
    if (is_full && item->op == OP_ENUM) {
        is_full = fill_enums(reader, item, at, first, count, items) == 0;
    } else if (is_full && items != NULL) {
        is_full = fill_numbers(item->op, reader->base + first, count, items) == 0;
    }
    return end_sequence(sequence, count, is_full, value);
}

int read_found_numbers(Reader *reader, const Node *node, uint64_t first, uint64_t count, PyObject **value)
{
    return check_items(reader, node, first, count)
                   || read_scalars(reader, node, vector_at(node, first), first, count, value)
               ? -1
               : 0;
}

int read_numbers(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    uint32_t width = reader->engine->nodes[node->item].size;
    uint64_t first, count;
    int failed = read_vector(reader, node, place, width, width, &first, &count)
                 || read_found_numbers(reader, node, first, count, value);
    leave_segment(reader);
    return failed ? -1 : 0;
}

static int read_item_text(Reader *reader, const Node *item, uint64_t place, PyObject **value)
{
    uint64_t first, size;
    int failed = read_string(reader, item, place, &first, &size)
                 || (value == NULL ? check_text(reader, first, size)
                                   : (*value = read_text(reader, first, size)) == NULL)
                 || (reader->bytes < 0 && overspent(reader, AT(first)));
    leave_segment(reader);
    return failed ? -1 : 0;
}

int read_strings(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    const Node *item = &reader->engine->nodes[node->item];
    uint64_t first, count, index = 0;
    if (read_list(reader, node, place, &first, &count)) {
        return -1;
    }
    PyObject *sequence = value == NULL ? NULL : new_sequence(node, count);
    if (value != NULL && sequence == NULL) {
        return -1;
    }
    PyObject **items = sequence == NULL ? NULL : PySequence_Fast_ITEMS(sequence);
    while (index < count
           && read_item_text(reader, item, first + 4 * index, items == NULL ? NULL : items + index) == 0) {
        index++;
    }
    if (index < count) {
        step_item(reader, (Py_ssize_t)index);
    }
    return end_sequence(sequence, count, index == count, value);
}

int read_item_offset(Reader *reader, uint64_t first, uint64_t index, uint64_t *target)
{
    uint64_t place = first + 4 * index;
    uint32_t offset = load_u32(reader->base + place);
    *target = place + offset;
    return offset == 0 ? fault(reader, AT(first), "an offset is 0") : 0;
}

int read_tables(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    const Node *item = &reader->engine->nodes[node->item];
    uint64_t first, target, count, index = 0;
    if (read_list(reader, node, place, &first, &count)) {
        return -1;
    }
    PyObject *sequence = value == NULL ? NULL : new_sequence(node, count);
    if (value != NULL && sequence == NULL) {
        return -1;
    }
    PyObject **items = sequence == NULL ? NULL : PySequence_Fast_ITEMS(sequence);
    reader->depth++;
    while (index < count && read_item_offset(reader, first, index, &target) == 0
           && read_alone(reader, item, target, items == NULL ? NULL : items + index) == 0) {
        index++;
    }
    reader->depth--;
    if (index < count) {
        step_item(reader, (Py_ssize_t)index);
    }
    return end_sequence(sequence, count, index == count, value);
}
