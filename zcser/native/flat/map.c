/* Maps of a message: vectors of entries, sorted by key. */
#include "read.h"

/* The key of an entry: where it stands, and its object, where there is one. */
typedef struct {
    const uint8_t *text; /* Of a string. */
    uint64_t size;
    int64_t bits;
    PyObject *object;    /* Owned. */
} Key;

static int read_text_key(Reader *reader, const Node *node, uint64_t place, bool is_made, Key *key)
{
    uint64_t first;
    int failed = read_string(reader, node, place, &first, &key->size);
    if (!failed) {
        key->text = reader->base + first;
        failed = is_made ? (key->object = read_text(reader, first, key->size)) == NULL
                         : check_text(reader, first, key->size);
    }
    leave_segment(reader);
    return failed ? -1 : 0;
}

static int read_key(Reader *reader, const Place *place, const Node *node, const TableAt *table, bool is_made, Key *key)
{
    *key = (Key){.object = NULL};
    int offset = slot_within(reader, table, place->index, place->size);
    if (offset < 0) {
        return -1;
    }
    uint64_t at = table->at + (uint64_t)offset;
    if (offset == 0 && place->missing != MISSING_ZERO) {
        return fault(reader, table->at, "a required field is missing");
    }
    if (node->op != OP_STRING) {
        key->bits = offset == 0 ? 0 : read_bits(reader, node->op, at);
        key->bits = node->op == OP_BOOL ? key->bits != 0 : key->bits;
        if (is_made) {
            key->object = offset == 0 ? Py_NewRef(place->lacking) : read_scalar(reader, node, at);
        }
    } else {
        return read_text_key(reader, node, at, is_made, key);
    }
    return is_made && key->object == NULL ? -1 : 0;
}

/* The object of a key of which only the place was kept; NULL with an exception. */
static PyObject *key_object(const Node *node, const Key *key)
{
    if (key->object != NULL) {
        return Py_NewRef(key->object);
    }
    if (node->op == OP_STRING) {
        return PyUnicode_DecodeUTF8((const char *)key->text, (Py_ssize_t)key->size, "replace");
    }
    if (node->op == OP_BOOL) {
        return PyBool_FromLong((long)key->bits);
    }
    return node->op == OP_UINT64 ? PyLong_FromUnsignedLongLong((uint64_t)key->bits) : PyLong_FromLongLong(key->bits);
}

static bool comes_before(const Node *node, const Key *one, const Key *other)
{
    if (node->op == OP_UINT64) {
        return (uint64_t)one->bits < (uint64_t)other->bits;
    }
    if (node->op != OP_STRING) {
        return one->bits < other->bits;
    }
    uint64_t shared = one->size < other->size ? one->size : other->size;
    int order = memcmp(one->text, other->text, shared);
    return order < 0 || (order == 0 && one->size < other->size);
}

static int fault_of_order(Reader *reader, const Node *node, uint64_t at, const Key *last, const Key *next)
{
    PyObject *before = key_object(node, last), *after = before == NULL ? NULL : key_object(node, next);
    if (after != NULL) {
        fault(reader, at, "key %R comes after %R: not in order, or twice", after, before);
    }
    Py_XDECREF(before);
    Py_XDECREF(after);
    return -1;
}

/* An entry, into a dict unless that is NULL; its key into `key`. */
static int read_entry(Reader *reader, const Node *entry, uint64_t at, PyObject *dict, Key *key)
{
    const Node *node = &reader->engine->nodes[entry->places[0].node];
    TableAt table;
    PyObject *value = NULL;
    *key = (Key){.object = NULL};
    if (read_table_at(reader, entry, at, &table)
        || read_key(reader, &entry->places[0], node, &table, dict != NULL, key)) {
        return -1;
    }
    if (read_place(reader, &entry->places[1], &table, dict == NULL ? NULL : &value)) {
        PyObject *step = reader->reason == NULL ? NULL : key_object(node, key);
        step_name(reader, step);
        Py_XDECREF(step);
        return -1;
    }
    int failed = dict == NULL ? 0 : PyDict_SetItem(dict, key->object, value);
    Py_XDECREF(value);
    return failed;
}

static int read_entries(Reader *reader, const Node *node, uint64_t first, uint64_t count, PyObject *dict)
{
    const Node *entry = &reader->engine->nodes[node->item], *key_node = &reader->engine->nodes[entry->places[0].node];
    Key keys[2] = {{.object = NULL}, {.object = NULL}};
    int failed = 0;
    for (uint64_t index = 0; !failed && index < count; index++) {
        Key *next = &keys[index & 1], *last = &keys[~index & 1];
        uint64_t target;
        Py_CLEAR(next->object);
        failed = read_item_offset(reader, first, index, &target) || read_entry(reader, entry, target, dict, next);
        if (!failed && index != 0 && !comes_before(key_node, last, next)) {
            failed = fault_of_order(reader, key_node, AT(first), last, next);
        }
    }
    Py_XDECREF(keys[0].object);
    Py_XDECREF(keys[1].object);
    return failed ? -1 : 0;
}

int read_map(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    uint64_t first, count;
    if (read_vector(reader, node, place, 4, 4, &first, &count) || count_items(reader, AT(first), count)) {
        return -1;
    }
    PyObject *dict = value == NULL ? NULL : PyDict_New();
    if (value != NULL && dict == NULL) {
        return -1;
    }
    reader->depth++;
    int failed = read_entries(reader, node, first, count, dict);
    reader->depth--;
    if (failed) {
        Py_XDECREF(dict);
        return -1;
    }
    if (value != NULL) {
        *value = dict;
    }
    return 0;
}
