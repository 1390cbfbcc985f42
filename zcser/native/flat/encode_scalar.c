/* Encoding scalars: the numbers of a table's slots and of a vector's items. No code of the user runs here. */
#include "encode.h"

/* Integers whose doubles are exact lie between this and its opposite. */
static const long long EXACT = 1LL << 53;

typedef struct {
    long long low, high;
} Range;

/* By Op. */
static const Range RANGES[OP_UINT64] = {
    [OP_INT8] = {INT8_MIN, INT8_MAX},    [OP_UINT8] = {0, UINT8_MAX},
    [OP_INT16] = {INT16_MIN, INT16_MAX}, [OP_UINT16] = {0, UINT16_MAX},
    [OP_INT32] = {INT32_MIN, INT32_MAX}, [OP_UINT32] = {0, UINT32_MAX},
    [OP_INT64] = {INT64_MIN, INT64_MAX},
};

static int no_fit(const char **reason, const char *words)
{
    *reason = words;
    return -1;
}

static int encode_bool(const char **reason, PyObject *value, char *place)
{
    if (value != Py_True && value != Py_False) {
        return no_fit(reason, "no bool");
    }
    *place = value == Py_True;
    return 0;
}

static int encode_int(const char **reason, Op op, uint8_t size, PyObject *value, char *place)
{
    if (!PyLong_CheckExact(value)) {
        return no_fit(reason, "no int");
    }
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    uint64_t bits = (uint64_t)number;
    if (op == OP_UINT64) {
        if (overflow > 0) {
            bits = PyLong_AsUnsignedLongLong(value);
            if (bits == UINT64_MAX && PyErr_Occurred()) {
                return no_fit(reason, "an int outside 64 bits");
            }
        } else if (number < 0) {
            return no_fit(reason, "a negative int where none may be");
        }
    } else if (overflow || number < RANGES[op].low || number > RANGES[op].high) {
        return no_fit(reason, "an int outside its width");
    }
    memcpy(place, &bits, size);
    return 0;
}

static int encode_float(const char **reason, Op op, PyObject *value, char *place)
{
    double number;
    if (PyFloat_CheckExact(value)) {
        number = PyFloat_AS_DOUBLE(value);
    } else if (PyLong_CheckExact(value)) {
        int overflow;
        long long integer = PyLong_AsLongLongAndOverflow(value, &overflow);
        if (overflow || integer < -EXACT || integer > EXACT) {
            return no_fit(reason, "an int that may not be exact as a float");
        }
        number = (double)integer;
    } else {
        return no_fit(reason, "no float");
    }
    if (op == OP_FLOAT64) {
        memcpy(place, &number, 8);
        return 0;
    }
    float single = (float)number;
    if (Py_IS_INFINITY(single) && !Py_IS_INFINITY(number)) {
        return no_fit(reason, "a float too large for float32");
    }
    memcpy(place, &single, 4);
    return 0;
}

static int encode_enum(const char **reason, const Node *node, PyObject *value, char *place)
{
    Py_ssize_t position = 0;
    while (position < node->value_count && node->values[position] != value) {
        position++;
    }
    if (position == node->value_count) {
        if (node->by_value == NULL || !Py_IS_TYPE(value, Py_TYPE(node->values[0]))) {
            return no_fit(reason, "no member of an enum");
        }
        PyObject *found = PyDict_GetItemWithError(node->by_value, value);
        if (found == NULL) {
            return no_fit(reason, "no member of an enum");
        }
        position = PyLong_AsSsize_t(found);
    }
    memcpy(place, &node->numbers[position], node->size);
    return 0;
}

int encode_scalar(const char **reason, const Node *node, PyObject *value, char *place)
{
    switch (node->op) {
    case OP_NULL:
        *place = 0;
        return value == Py_None ? 0 : no_fit(reason, "a value where None is needed");
    case OP_BOOL:
        return encode_bool(reason, value, place);
    case OP_FLOAT32:
    case OP_FLOAT64:
        return encode_float(reason, node->op, value, place);
    case OP_ENUM:
        return encode_enum(reason, node, value, place);
    default:
        return encode_int(reason, node->op, node->size, value, place);
    }
}
