/* Encoding unions whose values are dicts with one key, the name of the option; and vectors of such. */
#include "encode.h"

static const Place *option_named(const Node *node, PyObject *name)
{
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        const Place *option = &node->places[position];
        if (option->name == name || PyUnicode_Compare(option->name, name) == 0) {
            return option;
        }
    }
    return NULL;
}

/* A new reference to the only key of a dict, and, unless `value` is NULL, to its value; NULL where there is not one. */
static PyObject *only_item(PyObject *dict, PyObject **value)
{
    PyObject *key = NULL, *item = NULL;
    Py_ssize_t position = 0;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(dict);
#endif
    if (PyDict_GET_SIZE(dict) == 1 && PyDict_Next(dict, &position, &key, &item)) {
        Py_INCREF(key);
        if (value != NULL) {
            *value = Py_NewRef(item);
        }
    }
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    return key;
}

/* The option that a value is of, and a new reference to what it holds, unless `value` is NULL. */
static const Place *take_option(Encoder *encoder, const Node *node, PyObject *dict, PyObject **value)
{
    PyObject *key = PyDict_CheckExact(dict) ? only_item(dict, value) : NULL;
    const Place *option = key != NULL && PyUnicode_CheckExact(key) ? option_named(node, key) : NULL;
    if (key != NULL) {
        Py_DECREF(key);
        if (option == NULL && value != NULL) {
            Py_CLEAR(*value);
        }
    }
    if (option == NULL) {
        misfit(encoder, "no dict with one key, an option of the union");
    }
    return option;
}

static int encode_held(Encoder *encoder, const Node *node, PyObject *value, size_t slot, size_t *target)
{
    switch (node->op) {
    case OP_STRING:
        return encode_text(encoder, node, value, slot, target);
    case OP_STRUCT:
        return encode_struct_apart(encoder, node, value, target);
    default:
        return encode_alone(encoder, node, value, target);
    }
}

/* Write what the offset at `slot` leads to, which the tail may hold; the option that it is of, or NULL on a misfit. */
static const Place *encode_dict(Encoder *encoder, const Node *node, PyObject *dict, size_t slot, size_t *target)
{
    PyObject *value = NULL;
    const Place *option = take_option(encoder, node, dict, &value);
    if (option == NULL) {
        return NULL;
    }
    int failed = enter(encoder);
    if (!failed) {
        failed = encode_held(encoder, &encoder->engine->nodes[option->node], value, slot, target);
        leave(encoder);
    }
    Py_DECREF(value);
    return failed ? NULL : option;
}

int encode_oneof(Encoder *encoder, const Node *node, size_t held, size_t slot, size_t *target)
{
    PyObject *dict = encoder->held[held];
    const Place *option = encode_dict(encoder, node, dict, slot, target);
    if (option == NULL) {
        return -1;
    }
    encoder->held[held] = Py_NewRef(option->name);
    Py_DECREF(dict);
    return 0;
}

uint8_t number_of_name(const Node *node, const PyObject *name)
{
    Py_ssize_t position = 0;
    while (node->places[position].name != name) {
        position++;
    }
    return (uint8_t)node->places[position].index;
}

int encode_numbers_of(Encoder *encoder, const Node *node, PyObject *list, size_t slot)
{
    const Node *item = &encoder->engine->nodes[node->item];
    size_t vector;
    if (check_list(encoder, node, list)) {
        return -1;
    }
    Py_ssize_t count = list_size(node, list);
    if (count_elements(encoder, count) || begin_vector(encoder, count, 1, 1, &vector)) {
        return -1;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        PyObject *value = list_item(node, list, index);
        if (value == NULL) {
            return list_changed(encoder);
        }
        const Place *option = value == Py_None ? NULL : take_option(encoder, item, value, NULL);
        bool is_none = value == Py_None;
        Py_DECREF(value);
        if (option == NULL && !is_none) {
            return -1;
        }
        encoder->head[vector + 4 + (size_t)index] = option == NULL ? 0 : (char)option->index;
    }
    point(encoder, slot, vector);
    return 0;
}

/* Write an item whose number was written before; the offset of one that is None is 0. */
static int encode_item(Encoder *encoder, const Node *item, PyObject *value, uint8_t number, size_t slot)
{
    if (value == Py_None) {
        store_u32(encoder->head + slot, 0);
        return number == 0 ? 0 : list_changed(encoder);
    }
    size_t target = slot;
    const Place *option = encode_dict(encoder, item, value, slot, &target);
    if (option == NULL) {
        return -1;
    }
    point(encoder, slot, target);
    return number == option->index ? 0 : list_changed(encoder);
}

int encode_oneofs(Encoder *encoder, const Node *node, PyObject *list, size_t slot, size_t *vector)
{
    /* The slot before, which is as large, leads to the numbers. */
    size_t numbers = slot - 4 + load_u32(encoder->head + slot - 4) + 4;
    const Node *item = &encoder->engine->nodes[node->item];
    Py_ssize_t count = load_u32(encoder->head + numbers - 4);
    if (begin_vector(encoder, count, 4, 4, vector) || enter(encoder)) {
        return -1;
    }
    int failed = 0;
    for (Py_ssize_t index = 0; !failed && index < count; index++) {
        PyObject *value = list_item(node, list, index);
        uint8_t number = (uint8_t)encoder->head[numbers + (size_t)index];
        failed = value == NULL ? list_changed(encoder)
                               : encode_item(encoder, item, value, number, *vector + 4 + 4 * (size_t)index);
        Py_XDECREF(value);
    }
    leave(encoder);
    return failed ? -1 : list_size(node, list) == count ? 0 : list_changed(encoder);
}
