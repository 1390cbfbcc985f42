/* Encoding lists and maps. */
#include "encode.h"

#include <stdlib.h>

static int count_elements(Encoder *encoder, Py_ssize_t count)
{
    if (count > encoder->elements) {
        return misfit(encoder, "more items in all lists and maps than limits.elements");
    }
    encoder->elements -= count;
    return 0;
}

static int list_changed(Encoder *encoder)
{
    return misfit(encoder, "a list was changed while it was encoded");
}

static inline Py_ssize_t list_size(const Node *node, PyObject *list)
{
    return node->is_tuple ? PyTuple_GET_SIZE(list) : PyList_GET_SIZE(list);
}

/* A new reference, or NULL where the list has become too short. */
static inline PyObject *list_item(const Node *node, PyObject *list, Py_ssize_t index)
{
    if (node->is_tuple) {
        return Py_NewRef(PyTuple_GET_ITEM(list, index));
    }
#ifdef Py_GIL_DISABLED
    return PyList_GetItemRef(list, index);
#else
    return index < PyList_GET_SIZE(list) ? Py_NewRef(PyList_GET_ITEM(list, index)) : NULL;
#endif
}

/* Write the length of a vector and leave its items open. */
static int begin_vector(Encoder *encoder, Py_ssize_t count, size_t width, size_t *vector)
{
    size_t size = 4 + width * (size_t)count;
    if (width == 8 ? align_head_eight(encoder, size) : align_head(encoder, size)) {
        return -1;
    }
    *vector = encoder->size;
    store_u32(encoder->head + encoder->size, (uint32_t)count);
    encoder->size += size;
    return 0;
}

/* No code of the user runs here. */
static int encode_numbers(Encoder *encoder, const Node *node, PyObject *list, size_t vector, Py_ssize_t count)
{
    const Node *item = &encoder->engine->nodes[node->item];
    char *place = encoder->head + vector + 4;
    for (Py_ssize_t index = 0; index < count; index++, place += item->size) {
        PyObject *value = list_item(node, list, index);
        if (value == NULL) {
            return list_changed(encoder);
        }
        int failed = encode_scalar(encoder, item, value, place);
        Py_DECREF(value);
        if (failed) {
            return -1;
        }
    }
    return 0;
}

static int encode_items(Encoder *encoder, const Node *node, PyObject *list, size_t vector, Py_ssize_t count)
{
    const Node *item = &encoder->engine->nodes[node->item];
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *value = list_item(node, list, index);
        if (value == NULL) {
            return list_changed(encoder);
        }
        size_t target;
        int failed = node->op == OP_STRINGS ? encode_string(encoder, value, item->bound, &target)
                                            : encode_alone(encoder, item, value, &target);
        Py_DECREF(value);
        if (failed) {
            return -1;
        }
        point(encoder, vector + 4 + 4 * (size_t)index, target);
    }
    return 0;
}

int encode_list(Encoder *encoder, const Node *node, PyObject *list, size_t *vector)
{
    if (!Py_IS_TYPE(list, node->is_tuple ? &PyTuple_Type : &PyList_Type)) {
        return misfit(encoder, node->is_tuple ? "no tuple" : "no list");
    }
    Py_ssize_t count = list_size(node, list);
    if (node->bound >= 0 && count != node->bound) {
        return misfit(encoder, "a list of another length");
    }
    size_t width = node->op == OP_NUMBERS ? encoder->engine->nodes[node->item].size : 4;
    if (count_elements(encoder, count) || begin_vector(encoder, count, width, vector)) {
        return -1;
    }
    if (enter(encoder)) {
        return -1;
    }
    int failed = node->op == OP_NUMBERS ? encode_numbers(encoder, node, list, *vector, count)
                                        : encode_items(encoder, node, list, *vector, count);
    leave(encoder);
    return failed ? -1 : list_size(node, list) == count ? 0 : list_changed(encoder);
}

/* A map's entries as they are held: the key before the value. */
enum { KEY, VALUE, ENTRY };

static int compare_texts(const void *left, const void *right)
{
    return PyUnicode_Compare(*(PyObject *const *)left, *(PyObject *const *)right);
}

static int compare_numbers(const void *left, const void *right)
{
    PyObject *one = *(PyObject *const *)left, *other = *(PyObject *const *)right;
    /* Neither fails with ints. */
    return PyObject_RichCompareBool(one, other, Py_LT) == 1 ? -1 : PyObject_RichCompareBool(one, other, Py_GT);
}

static int hold_entries_of(Encoder *encoder, PyTypeObject *key_type, PyObject *map, size_t *count)
{
    if (reserve_held(encoder, ENTRY * (size_t)PyDict_GET_SIZE(map))) {
        return -1;
    }
    PyObject *key, *value;
    Py_ssize_t position = 0;
    while (PyDict_Next(map, &position, &key, &value)) {
        if (!Py_IS_TYPE(key, key_type)) {
            return misfit(encoder, "a key of another class");
        }
        hold(encoder, Py_NewRef(key));
        hold(encoder, Py_NewRef(value));
        ++*count;
    }
    return 0;
}

/* Hold the entries of a map as it is at this moment, in the order of their keys. Code points sort as UTF-8 does. */
static int hold_entries(Encoder *encoder, Op key, PyObject *map, size_t *count)
{
    PyTypeObject *key_type = key == OP_STRING ? &PyUnicode_Type : key == OP_BOOL ? &PyBool_Type : &PyLong_Type;
    size_t base = encoder->held_count;
    int failed;
    *count = 0;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(map);
#endif
    failed = hold_entries_of(encoder, key_type, map, count);
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    if (failed) {
        return -1;
    }
    int (*compare)(const void *, const void *) = key == OP_STRING ? compare_texts : compare_numbers;
    PyObject **entries = encoder->held + base;
    for (size_t index = 1; index < *count; index++) {
        if (compare(&entries[ENTRY * (index - 1)], &entries[ENTRY * index]) > 0) {
            qsort(entries, *count, ENTRY * sizeof *entries, compare);
            break;
        }
    }
    return 0;
}

static int encode_entries(Encoder *encoder, const Node *entry, size_t base, size_t count, size_t vector)
{
    for (size_t index = 0; index < count; index++) {
        PyObject *const *held = encoder->held + base + ENTRY * index;
        size_t target;
        if (encode_entry(encoder, entry, held[KEY], held[VALUE], &target)) {
            return -1;
        }
        point(encoder, vector + 4 + 4 * index, target);
    }
    return 0;
}

int encode_map(Encoder *encoder, const Node *node, PyObject *map, size_t *vector)
{
    if (!PyDict_CheckExact(map)) {
        return misfit(encoder, "no dict");
    }
    const Node *entry = &encoder->engine->nodes[node->item];
    size_t base = encoder->held_count, count;
    if (hold_entries(encoder, encoder->engine->nodes[entry->places[KEY].node].op, map, &count)
        || count_elements(encoder, (Py_ssize_t)count) || begin_vector(encoder, (Py_ssize_t)count, 4, vector)
        || enter(encoder)) {
        return -1;
    }
    int failed = encode_entries(encoder, entry, base, count, *vector);
    leave(encoder);
    if (!failed) {
        let_go(encoder, base);
    }
    return failed;
}
