/* Encoding arrays: a table of dtype and shape in the head, the data in the tail. */
#include "encode.h"

enum { MOST_DIMENSIONS = 64 };

/* Numbers of zcser.core.dtypes, by what a format's letter says and the bytes of an item. */
static int number_of_format(const char *format, Py_ssize_t size)
{
    static const int UNSIGNED[9] = {-1, 1, 2, -1, 3, -1, -1, -1, 4};
    static const int SIGNED[9] = {-1, 5, 6, -1, 7, -1, -1, -1, 8};
    if (format == NULL) {
        return size == 1 ? UNSIGNED[1] : -1;
    }
    if (*format == '@' || *format == '=' || *format == '<' || *format == '^') {
        format++;
    }
    bool is_complex = *format == 'Z';
    format += is_complex;
    if (*format == 0 || format[1] != 0 || size > 16) {
        return -1;
    }
    if (is_complex) {
        return *format == 'f' ? 12 : *format == 'd' ? 13 : -1;
    }
    switch (*format) {
    case '?':
        return 0;
    case 'B': case 'H': case 'I': case 'L': case 'Q': case 'N':
        return size <= 8 ? UNSIGNED[size] : -1;
    case 'b': case 'h': case 'i': case 'l': case 'q': case 'n':
        return size <= 8 ? SIGNED[size] : -1;
    case 'e':
        return 9;
    case 'f':
        return 10;
    case 'd':
        return 11;
    default:
        return -1;
    }
}

typedef struct {
    int dtype;
    int dimensions;
    int64_t shape[MOST_DIMENSIONS];
} Kind;

/* Bytes of an array's data, as its shape says. */
static uint64_t data_size(const Kind *kind, uint64_t item)
{
    uint64_t size = item;
    for (int index = 0; index < kind->dimensions; index++) {
        size *= (uint64_t)kind->shape[index];
    }
    return size;
}

static int take_shape(Encoder *encoder, PyObject *array, Kind *kind)
{
    PyObject *shape = PyObject_GetAttrString(array, "shape");
    if (shape == NULL) {
        return -1;
    }
    int failed = 0;
    Py_ssize_t count = PyTuple_CheckExact(shape) ? PyTuple_GET_SIZE(shape) : MOST_DIMENSIONS + 1;
    if (count > MOST_DIMENSIONS) {
        failed = misfit(encoder, "an array of too many dimensions");
    }
    for (Py_ssize_t index = 0; !failed && index < count; index++) {
        kind->shape[index] = PyLong_AsLongLong(PyTuple_GET_ITEM(shape, index));
        failed = kind->shape[index] < 0 ? misfit(encoder, "a shape that is none") : 0;
    }
    kind->dimensions = failed ? 0 : (int)count;
    Py_DECREF(shape);
    return failed;
}

/* The data of an array that the buffer protocol has no letter for, by way of Python. */
static int take_odd_data(Encoder *encoder, PyObject *array, Kind *kind, Py_buffer *data)
{
    PyObject *found = PyObject_CallOneArg(encoder->engine->tensor_bytes, array);
    if (found == NULL) {
        return -1;
    }
    int failed = -1;
    PyObject *buffer;
    if (found == Py_None) {
        misfit(encoder, "an array of another dtype or order");
    } else if (PyArg_ParseTuple(found, "iO", &kind->dtype, &buffer)
               && !PyObject_GetBuffer(buffer, data, PyBUF_SIMPLE)) {
        uint64_t item = (uint8_t)PyBytes_AS_STRING(encoder->engine->itemsizes)[kind->dtype];
        failed = take_shape(encoder, array, kind);
        if (!failed && data_size(kind, item) != (uint64_t)data->len) {
            failed = misfit(encoder, "an array was changed while it was encoded");
        }
        if (failed) {
            PyBuffer_Release(data);
        }
    }
    Py_DECREF(found);
    return failed;
}

static int take_data(Encoder *encoder, PyObject *array, Kind *kind, Py_buffer *data)
{
    if (PyObject_GetBuffer(array, data, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) {
        if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError)) {
            return -1;
        }
        PyErr_Clear();
        return take_odd_data(encoder, array, kind, data);
    }
    kind->dtype = number_of_format(data->format, data->itemsize);
    if (kind->dtype < 0) {
        PyBuffer_Release(data);
        return take_odd_data(encoder, array, kind, data);
    }
    kind->dimensions = data->ndim;
    for (int index = 0; index < data->ndim; index++) {
        kind->shape[index] = data->shape[index];
    }
    return 0;
}

static bool fits(const Node *node, const Kind *kind)
{
    if (node->dtype >= 0 && kind->dtype != node->dtype) {
        return false;
    }
    if (node->dimensions < 0) {
        return true;
    }
    bool same = kind->dimensions == node->dimensions;
    for (int index = 0; same && index < node->dimensions; index++) {
        same = node->shape[index] < 0 || node->shape[index] == kind->shape[index];
    }
    return same;
}

/* Offset of the vtable of a tensor's tables: there is one form of them. */
static int find_vtable(Encoder *encoder, const Node *node, uint32_t *vtable)
{
    static const uint16_t VTABLE[] = {10, 13, 12, 4, 8}; /* Its size, the table's; dtype, shape, data. */
    uint32_t known = encoder->newest[node->table];
    if (known) {
        *vtable = encoder->forms[known - 1].vtable;
        return 0;
    }
    if (align_head(encoder, sizeof VTABLE)) {
        return -1;
    }
    *vtable = (uint32_t)encoder->size;
    memcpy(encoder->head + encoder->size, VTABLE, sizeof VTABLE);
    encoder->size += sizeof VTABLE;
    Form form = {.vtable = *vtable, .size = VTABLE[1]};
    return remember_form(encoder, node, &form);
}

/* Write the table and the shape; the offset of the data stands at `patch`. */
static int write_table(Encoder *encoder, const Node *node, const Kind *kind, size_t *table, size_t *patch)
{
    enum { SHAPE = 4, DATA = 8, DTYPE = 12, SIZE = 13 };
    uint32_t vtable;
    if (find_vtable(encoder, node, &vtable) || align_head(encoder, SIZE)) {
        return -1;
    }
    size_t at = encoder->size;
    store_u32(encoder->head + at, (uint32_t)(at - vtable));
    encoder->head[at + DTYPE] = (char)kind->dtype;
    encoder->size += SIZE;
    size_t size = 8 * (size_t)kind->dimensions;
    if (align_head_eight(encoder, 4 + size)) {
        return -1;
    }
    point(encoder, at + SHAPE, encoder->size);
    store_u32(encoder->head + encoder->size, (uint32_t)kind->dimensions);
    memcpy(encoder->head + encoder->size + 4, kind->shape, size);
    encoder->size += 4 + size;
    *table = at;
    *patch = at + DATA;
    return 0;
}

int encode_tensor(Encoder *encoder, const Node *node, PyObject *array, size_t *table)
{
    if ((PyObject *)Py_TYPE(array) != encoder->engine->ndarray) {
        return misfit(encoder, "no array");
    }
    TailItem *item = new_tail_item(encoder);
    Kind kind;
    if (item == NULL || take_data(encoder, array, &kind, &item->data)) {
        return -1;
    }
    item->array = Py_NewRef(array);
    encoder->tail_count++;
    return fits(node, &kind) ? write_table(encoder, node, &kind, table, &item->patch)
                             : misfit(encoder, "an array of another dtype or shape");
}
