/* Bools, chars and numbers, at any address and in either byte order. */
#include "header.h"

static uint16_t swap_2(uint16_t bits)
{
    return (uint16_t)(bits << 8 | bits >> 8);
}

static uint32_t swap_4(uint32_t bits)
{
    return (uint32_t)swap_2((uint16_t)bits) << 16 | swap_2((uint16_t)(bits >> 16));
}

static uint64_t swap_8(uint64_t bits)
{
    return (uint64_t)swap_4((uint32_t)bits) << 32 | swap_4((uint32_t)(bits >> 32));
}

static PyObject *long_object(long long number)
{
    /* Of the functions for longs, the one that is fast where a number has one digit. */
    return number >= LONG_MIN && number <= LONG_MAX ? PyLong_FromLong((long)number) : PyLong_FromLongLong(number);
}

static PyObject *int_2(uint16_t bits) { return PyLong_FromLong((int16_t)bits); }
static PyObject *int_4(uint32_t bits) { return PyLong_FromLong((int32_t)bits); }
static PyObject *int_8(uint64_t bits) { return long_object((int64_t)bits); }
static PyObject *uint_2(uint16_t bits) { return PyLong_FromLong(bits); }
static PyObject *uint_4(uint32_t bits) { return long_object(bits); }

static PyObject *uint_8(uint64_t bits)
{
    return bits <= INT64_MAX ? long_object((int64_t)bits) : PyLong_FromUnsignedLongLong(bits);
}

static PyObject *float_2(uint16_t bits)
{
    return PyFloat_FromDouble(PyFloat_Unpack2((const char *)&bits, PY_LITTLE_ENDIAN));
}

static PyObject *float_4(uint32_t bits)
{
    return PyFloat_FromDouble(PyFloat_Unpack4((const char *)&bits, PY_LITTLE_ENDIAN));
}

static PyObject *float_8(uint64_t bits)
{
    double value;
    memcpy(&value, &bits, 8);
    return PyFloat_FromDouble(value);
}

/* A function that reads a number, and one that reads it in the other byte order. */
#define READER(kind, size, type)                            \
    static PyObject *read_##kind##_##size(const char *at)    \
    {                                                       \
        type bits;                                          \
        memcpy(&bits, at, size);                            \
        return kind##_##size(bits);           \
    }                                                       \
    static PyObject *swap_##kind##_##size(const char *at)    \
    {                                                       \
        type bits;                                          \
        memcpy(&bits, at, size);                            \
        return kind##_##size(swap_##size(bits));            \
    }
READER(int, 2, uint16_t)
READER(int, 4, uint32_t)
READER(int, 8, uint64_t)
READER(uint, 2, uint16_t)
READER(uint, 4, uint32_t)
READER(uint, 8, uint64_t)
READER(float, 2, uint16_t)
READER(float, 4, uint32_t)
READER(float, 8, uint64_t)

static PyObject *read_bool(const char *at) { return PyBool_FromLong(*at != 0); }
static PyObject *read_char(const char *at) { return PyBytes_FromStringAndSize(at, 1); }
static PyObject *read_int_1(const char *at) { return PyLong_FromLong((int8_t)*at); }
static PyObject *read_uint_1(const char *at) { return PyLong_FromLong((uint8_t)*at); }

ScalarReader scalar_reader(Op op, Py_ssize_t size, bool is_swapped)
{
    static const ScalarReader INTS[] = {read_int_1, read_int_2, read_int_4, read_int_8};
    static const ScalarReader SWAPPED_INTS[] = {read_int_1, swap_int_2, swap_int_4, swap_int_8};
    static const ScalarReader UINTS[] = {read_uint_1, read_uint_2, read_uint_4, read_uint_8};
    static const ScalarReader SWAPPED_UINTS[] = {read_uint_1, swap_uint_2, swap_uint_4, swap_uint_8};
    static const ScalarReader FLOATS[] = {NULL, read_float_2, read_float_4, read_float_8};
    static const ScalarReader SWAPPED_FLOATS[] = {NULL, swap_float_2, swap_float_4, swap_float_8};
    int place = size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : size == 8 ? 3 : -1;
    if (place < 0 || ((op == OP_BOOL || op == OP_CHAR) && size != 1)) {
        return NULL;
    }
    switch (op) {
    case OP_BOOL:
        return read_bool;
    case OP_CHAR:
        return read_char;
    case OP_INT:
        return (is_swapped ? SWAPPED_INTS : INTS)[place];
    case OP_UINT:
        return (is_swapped ? SWAPPED_UINTS : UINTS)[place];
    default:
        return (is_swapped ? SWAPPED_FLOATS : FLOATS)[place];
    }
}

void scalar_store(Py_ssize_t size, bool is_swapped, char *at, uint64_t bits)
{
    uint8_t one = (uint8_t)bits;
    uint16_t two = is_swapped ? swap_2((uint16_t)bits) : (uint16_t)bits;
    uint32_t four = is_swapped ? swap_4((uint32_t)bits) : (uint32_t)bits;
    uint64_t eight = is_swapped ? swap_8(bits) : bits;
    switch (size) {
    case 1:
        memcpy(at, &one, 1);
        break;
    case 2:
        memcpy(at, &two, 2);
        break;
    case 4:
        memcpy(at, &four, 4);
        break;
    default:
        memcpy(at, &eight, 8);
    }
}

static bool int_bits(Op op, Py_ssize_t size, PyObject *value, uint64_t *bits)
{
    if (op == OP_UINT) {
        *bits = PyLong_AsUnsignedLongLong(value);
        if (*bits == UINT64_MAX && PyErr_Occurred()) {
            PyErr_Clear();
            return false;
        }
        return size == 8 || *bits >> 8 * size == 0;
    }
    int overflow;
    long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
    *bits = (uint64_t)number;
    if (overflow || size == 8) {
        return !overflow;
    }
    long long limit = 1LL << (8 * size - 1);
    return number >= -limit && number < limit;
}

static bool float_bits(Py_ssize_t size, double value, uint64_t *bits)
{
    uint16_t two = 0;
    uint32_t four = 0;
    switch (size) {
    case 2:
        if (PyFloat_Pack2(value, (char *)&two, PY_LITTLE_ENDIAN)) {
            PyErr_Clear();
            return false;
        }
        *bits = two;
        return true;
    case 4:
        if (PyFloat_Pack4(value, (char *)&four, PY_LITTLE_ENDIAN)) {
            PyErr_Clear();
            return false;
        }
        *bits = four;
        return true;
    default:
        memcpy(bits, &value, 8);
        return true;
    }
}

bool scalar_bits(Op op, Py_ssize_t size, PyObject *value, uint64_t *bits)
{
    switch (op) {
    case OP_BOOL:
        *bits = value == Py_True;
        return PyBool_Check(value);
    case OP_CHAR:
        if (!PyBytes_CheckExact(value) || PyBytes_GET_SIZE(value) != 1) {
            return false;
        }
        *bits = (uint8_t)PyBytes_AS_STRING(value)[0];
        return true;
    case OP_INT:
    case OP_UINT:
        return PyLong_CheckExact(value) && int_bits(op, size, value, bits);
    default:
        return PyFloat_CheckExact(value) && float_bits(size, PyFloat_AS_DOUBLE(value), bits);
    }
}
