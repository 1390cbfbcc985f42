/* Values without parts: scalars, enums, strings. */
#include "read.h"

static int64_t bits_at(Op op, const uint8_t *at)
{
    switch (op) {
    case OP_INT8:
        return (int8_t)*at;
    case OP_INT16:
        return load_i16(at);
    case OP_UINT16:
        return load_u16(at);
    case OP_INT32:
        return load_i32(at);
    case OP_UINT32:
        return load_u32(at);
    case OP_INT64:
    case OP_UINT64:
        return load_i64(at);
    default:
        return *at;
    }
}

int64_t read_bits(const Reader *reader, Op op, uint64_t place)
{
    return bits_at(op, reader->base + place);
}

PyObject *enum_value(const Node *node, int64_t number)
{
    /* Most enums are numbered from 0. */
    if ((uint64_t)number < (uint64_t)node->value_count && node->numbers[number] == number) {
        return node->values[number];
    }
    for (Py_ssize_t index = 0; index < node->value_count; index++) {
        if (node->numbers[index] == number) {
            return node->values[index];
        }
    }
    return NULL;
}

static PyObject *read_enum(Reader *reader, const Node *node, uint64_t place)
{
    int64_t number = read_bits(reader, node->number, place);
    PyObject *value = enum_value(node, number);
    if (value == NULL) {
        bool is_unsigned = node->number == OP_UINT64;
        fault(reader, place, is_unsigned ? "%llu is no member of the enum" : "%lld is no member of the enum",
              (long long)number);
        return NULL;
    }
    return Py_NewRef(value);
}

static PyObject *number_at(Op op, const uint8_t *at)
{
    switch (op) {
    case OP_NULL:
        return Py_NewRef(Py_None);
    case OP_BOOL:
        return PyBool_FromLong(*at);
    case OP_INT64:
        return PyLong_FromLongLong(load_i64(at));
    case OP_UINT64:
        return PyLong_FromUnsignedLongLong(load_u64(at));
    case OP_FLOAT32:
        return PyFloat_FromDouble(load_f32(at));
    case OP_FLOAT64:
        return PyFloat_FromDouble(load_f64(at));
    default:
        return PyLong_FromLongLong(bits_at(op, at));
    }
}

PyObject *read_scalar(Reader *reader, const Node *node, uint64_t place)
{
    return node->op == OP_ENUM ? read_enum(reader, node, place) : number_at(node->op, reader->base + place);
}

/* Python's words for what is wrong with the UTF-8 of a string. */
static int fault_of_utf8(Reader *reader)
{
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        return -1;
    }
    PyObject *error = take_exception();
    PyObject *reason = error == NULL ? NULL : PyUnicodeDecodeError_GetReason(error);
    if (reason != NULL) {
        fault(reader, reader->at, "a string is not UTF-8: %U", reason);
    } else if (!PyErr_Occurred()) {
        fault(reader, reader->at, "a string is not UTF-8"); /* It changed, and is by now. */
    }
    Py_XDECREF(reason);
    Py_XDECREF(error);
    return -1;
}

static PyObject *decode_utf8(const Reader *reader, const char *bytes, uint64_t size)
{
    if (reader->is_stable) {
        PyObject *text = text_of((const uint8_t *)bytes, size);
        return text != NULL || PyErr_Occurred() ? text : PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)size, NULL);
    }
    /* Python's decoder reads bytes twice: they must not change in between. */
    PyObject *copy = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);
    PyObject *text = copy == NULL ? NULL : PyUnicode_DecodeUTF8(PyBytes_AS_STRING(copy), (Py_ssize_t)size, NULL);
    Py_XDECREF(copy);
    return text;
}

PyObject *read_text(Reader *reader, uint64_t first, uint64_t size)
{
    const uint8_t *bytes = reader->base + first;
    PyObject *text;
    if (is_ascii(bytes, size)) {
        text = PyUnicode_New((Py_ssize_t)size, 0x7F);
        if (text != NULL && size != 0) {
            memcpy(PyUnicode_DATA(text), bytes, size);
            if (!reader->is_stable && !is_ascii(PyUnicode_DATA(text), size)) {
                Py_DECREF(text);
                fault_of_change(reader, first);
                return NULL;
            }
        }
        return text;
    }
    text = decode_utf8(reader, (const char *)bytes, size);
    if (text == NULL) {
        fault_of_utf8(reader);
    }
    return text;
}

int check_text(Reader *reader, uint64_t first, uint64_t size)
{
    if (is_utf8(reader->base + first, size)) {
        return 0;
    }
    Py_XDECREF(decode_utf8(reader, (const char *)reader->base + first, size));
    return fault_of_utf8(reader);
}

int read_plain(const Reader *reader, const Node *node, uint64_t place, int64_t *bytes, PyObject **value)
{
    uint64_t first, size;
    switch (node->op) {
    case OP_STRING:
        if (!reader->is_stable || !find_string(reader, node, place, &first, &size)) {
            return 0;
        }
        *bytes -= (int64_t)(4 + size + 1);
        *value = text_of(reader->base + first, size);
        return *value != NULL ? 1 : PyErr_Occurred() ? -1 : 0;
    case OP_ENUM:
        *value = Py_XNewRef(enum_value(node, read_bits(reader, node->number, place)));
        return *value != NULL;
    default:
        if (node->op > OP_ENUM) {
            return 0;
        }
        *value = number_at(node->op, reader->base + place);
        return *value != NULL ? 1 : -1;
    }
}
