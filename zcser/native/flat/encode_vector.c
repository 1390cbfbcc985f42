/* Encoding lists and maps. */
#include "encode.h"

#include <stdlib.h>

int count_elements(Encoder *encoder, Py_ssize_t count)
{
    if (count > encoder->elements) {
        return misfit(encoder, "more items in all lists and maps than limits.elements");
    }
    encoder->elements -= count;
    return 0;
}

int list_changed(Encoder *encoder)
{
    return misfit(encoder, "a list was changed while it was encoded");
}

int begin_vector(Encoder *encoder, Py_ssize_t count, size_t width, size_t align, size_t *vector)
{
    size_t size = 4 + width * (size_t)count;
    if (align_head_before(encoder, align, size)) {
        return -1;
    }
    *vector = encoder->size;
    store_u32(encoder->head + encoder->size, (uint32_t)count);
    encoder->size += size;
    return 0;
}

/* No code of the user runs here. */
static int encode_numbers(Encoder *encoder, const Node *node, PyObject *list, char *place, Py_ssize_t count)
{
    const Node *item = &encoder->engine->nodes[node->item];
    for (Py_ssize_t index = 0; index < count; index++, place += item->size) {
        PyObject *value = list_item(node, list, index);
        if (value == NULL) {
            return list_changed(encoder);
        }
        int failed = encode_scalar(&encoder->reason, item, value, place);
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
        size_t slot = vector + 4 + 4 * (size_t)index, target = slot;
        int failed = node->op == OP_STRINGS ? encode_text(encoder, item, value, slot, &target)
                                            : encode_alone(encoder, item, value, &target);
        Py_DECREF(value);
        if (failed) {
            return -1;
        }
        point(encoder, slot, target);
    }
    return 0;
}

/* Numbers that the tail will hold; they are written now, as the list may change. */
static int collect_numbers(Encoder *encoder, const Node *node, PyObject *list, Py_ssize_t count, size_t slot)
{
    const Node *item = &encoder->engine->nodes[node->item];
    PyObject *bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)item->size * count);
    if (bytes == NULL) {
        return -1;
    }
    need_alignment(encoder, item->size);
    int failed = encode_numbers(encoder, node, list, PyBytes_AS_STRING(bytes), count)
                 || collect_bytes(encoder, node, bytes, slot);
    Py_DECREF(bytes);
    return failed ? -1 : 0;
}

static int encode_contents(Encoder *encoder, const Node *node, PyObject *list, Py_ssize_t count, size_t slot,
                           size_t *vector)
{
    if (node->op != OP_NUMBERS) {
        return begin_vector(encoder, count, 4, 4, vector) ? -1 : encode_items(encoder, node, list, *vector, count);
    }
    if (node->is_in_tail) {
        return collect_numbers(encoder, node, list, count, slot);
    }
    size_t width = encoder->engine->nodes[node->item].size;
    return begin_vector(encoder, count, width, width, vector)
               ? -1
               : encode_numbers(encoder, node, list, encoder->head + *vector + 4, count);
}

int encode_list(Encoder *encoder, const Node *node, PyObject *list, size_t slot, size_t *vector)
{
    if (check_list(encoder, node, list)) {
        return -1;
    }
    Py_ssize_t count = list_size(node, list);
    if (count_elements(encoder, count) || enter(encoder)) {
        return -1;
    }
    int failed = encode_contents(encoder, node, list, count, slot, vector);
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
        || count_elements(encoder, (Py_ssize_t)count) || begin_vector(encoder, (Py_ssize_t)count, 4, 4, vector)
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
