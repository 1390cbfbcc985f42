/* Tensors and slices of a message: checked, and shown to numpy. */
#include "read.h"

static Py_ssize_t itemsize_of(const Engine *engine, int dtype)
{
    if (dtype < 0 || dtype >= PyBytes_GET_SIZE(engine->itemsizes)) {
        return 0;
    }
    return (uint8_t)PyBytes_AS_STRING(engine->itemsizes)[dtype];
}

static PyObject *shape_tuple(int dimensions, const int64_t *shape)
{
    PyObject *tuple = PyTuple_New(dimensions);
    for (int axis = 0; tuple != NULL && axis < dimensions; axis++) {
        PyObject *extent = PyLong_FromLongLong(shape[axis]);
        if (extent == NULL) {
            Py_CLEAR(tuple);
        } else {
            PyTuple_SET_ITEM(tuple, axis, extent);
        }
    }
    return tuple;
}

static PyObject *shape_list(int dimensions, const int64_t *shape)
{
    PyObject *tuple = shape_tuple(dimensions, shape);
    PyObject *list = tuple == NULL ? NULL : PySequence_List(tuple);
    Py_XDECREF(tuple);
    return list;
}

/* The tensor type of a node, as the schema writes it. */
static PyObject *tensor_words(const Engine *engine, const Node *node)
{
    PyObject *words = node->dtype < 0 ? PyUnicode_FromString("tensor any")
                                      : PyUnicode_FromFormat("tensor %S", PyTuple_GET_ITEM(engine->dtypes,
                                                                                                 node->dtype));
    for (int axis = 0; words != NULL && axis < node->dimensions; axis++) {
        const char *format = node->shape[axis] < 0 ? "%U%s?" : "%U%s%lld";
        Py_SETREF(words, PyUnicode_FromFormat(format, words, axis == 0 ? "[" : ", ", (long long)node->shape[axis]));
    }
    if (words != NULL && node->dimensions >= 0) {
        Py_SETREF(words, PyUnicode_FromFormat(node->dimensions == 0 ? "%U[]" : "%U]", words));
    }
    return words;
}

/* A tensor that was found, for the words of a fault. */
typedef struct {
    uint64_t at;
    int dtype;
    int dimensions;
    const int64_t *shape;
    uint64_t size;
} Found;

typedef enum { WRONG_DTYPE, NEGATIVE, WRONG_SHAPE, WRONG_SIZE, TOO_LARGE } Wrong;

static int fault_of_tensor(Reader *reader, const Node *node, const Found *found, Wrong wrong)
{
    PyObject *words = tensor_words(reader->engine, node), *shape = shape_list(found->dimensions, found->shape);
    PyObject *dtype = PyTuple_GET_ITEM(reader->engine->dtypes, found->dtype);
    if (words == NULL || shape == NULL) {
        Py_XDECREF(words);
        Py_XDECREF(shape);
        return -1;
    }
    switch (wrong) {
    case WRONG_DTYPE:
        fault(reader, found->at, "%U is needed, not dtype %S", words, dtype);
        break;
    case NEGATIVE:
        fault(reader, found->at, "a tensor has a negative extent: %S", shape);
        break;
    case WRONG_SHAPE:
        fault(reader, found->at, "%U is needed, not shape %S", words, shape);
        break;
    case WRONG_SIZE:
        fault(reader, found->at, "shape %S of %S does not take %llu bytes", shape, dtype,
              (unsigned long long)found->size);
        break;
    default:
        fault(reader, found->at, "shape %S is larger than an array can be", shape);
    }
    Py_DECREF(words);
    Py_DECREF(shape);
    return -1;
}

static bool shape_fits(const Node *node, int dimensions, const int64_t *shape)
{
    if (node->dimensions < 0) {
        return true;
    }
    bool fits = node->dimensions == dimensions;
    for (int axis = 0; fits && axis < dimensions; axis++) {
        fits = node->shape[axis] < 0 || node->shape[axis] == shape[axis];
    }
    return fits;
}

/* Bytes of an array with the extents that are not 0; -1: more than an array can be. */
static int64_t extent_bytes(Py_ssize_t itemsize, int dimensions, const int64_t *shape)
{
    int64_t bytes = itemsize;
    for (int axis = 0; axis < dimensions; axis++) {
        if (shape[axis] != 0) {
            /* Few tensors are so large that a division has to tell. */
            if ((bytes | shape[axis]) > INT32_MAX && bytes > INT64_MAX / shape[axis]) {
                return -1;
            }
            bytes *= shape[axis];
        }
    }
    return bytes;
}

static int check_tensor(Reader *reader, const Node *node, const Found *found)
{
    Py_ssize_t itemsize = itemsize_of(reader->engine, found->dtype);
    if (itemsize == 0) {
        return fault(reader, found->at, found->dtype < PyBytes_GET_SIZE(reader->engine->itemsizes)
                     ? "dtype number %d needs ml_dtypes, or a newer one: pip install -U 'zcser[dtypes]'"
                     : "unknown dtype number %d", found->dtype);
    }
    if (node->dtype >= 0 && node->dtype != found->dtype) {
        return fault_of_tensor(reader, node, found, WRONG_DTYPE);
    }
    bool is_empty = false;
    for (int axis = 0; axis < found->dimensions; axis++) {
        if (found->shape[axis] < 0) {
            return fault_of_tensor(reader, node, found, NEGATIVE);
        }
        is_empty = is_empty || found->shape[axis] == 0;
    }
    if (!shape_fits(node, found->dimensions, found->shape)) {
        return fault_of_tensor(reader, node, found, WRONG_SHAPE);
    }
    int64_t bytes = extent_bytes(itemsize, found->dimensions, found->shape);
    if ((is_empty ? 0 : bytes) != (int64_t)found->size) {
        return fault_of_tensor(reader, node, found, WRONG_SIZE);
    }
    /* Only where an extent is 0; numpy refuses such a shape all the same. */
    return bytes < 0 ? fault_of_tensor(reader, node, found, TOO_LARGE) : 0;
}

int read_tensor_at(Reader *reader, const Node *node, const TableAt *table, int *dtype, int *dimensions, int64_t *shape,
                   uint64_t *first, uint64_t *size)
{
    uint64_t at = table->at, extents, count;
    int number = slot_within(reader, table, 0, 1), shape_offset = slot_within(reader, table, 1, 4),
        data = slot_within(reader, table, 2, 4);
    if (number < 0 || shape_offset < 0 || data < 0) {
        return -1;
    }
    if (shape_offset == 0 || data == 0) {
        return fault(reader, at, "a tensor without shape or data");
    }
    if (read_vector(reader, &PLAIN_VECTOR, at + (uint64_t)shape_offset, 8, 8, &extents, &count)) {
        return -1;
    }
    if (count > (uint32_t)reader->engine->most_dimensions) {
        return fault(reader, extents - 4, "a tensor has %u dimensions", (unsigned)count);
    }
    memcpy(shape, reader->base + extents, 8 * (size_t)count);
    *dimensions = (int)count;
    *dtype = number == 0 ? 0 : reader->base[at + (uint64_t)number];
    if (read_vector(reader, &PLAIN_BYTES, at + (uint64_t)data, 1, 1, first, size)) {
        return -1;
    }
    Found found = {reader->at, *dtype, *dimensions, shape, *size}; /* The table, as it is counted from here. */
    return check_tensor(reader, node, &found);
}

static bool is_aligned(const Reader *reader, int dtype, uint64_t first)
{
    uintptr_t alignment = (uint8_t)PyBytes_AS_STRING(reader->engine->alignments)[dtype];
    return alignment == 0 || (uintptr_t)(reader->base + first) % alignment == 0;
}

PyObject *read_array(Reader *reader, int dtype, int dimensions, const int64_t *shape, uint64_t first)
{
    PyObject *array = NULL, *extents = shape_tuple(dimensions, shape);
    PyObject *offset = PyLong_FromUnsignedLongLong(reader->skipped + first);
    /* Of a memoryview, numpy would hold the object below it, and not what locks its size. */
    PyObject *source = PyBytes_CheckExact(reader->source) ? Py_NewRef(reader->source)
                                                          : PyObject_CallOneArg(reader->engine->byte_array, reader->source);
    if (extents != NULL && offset != NULL && source != NULL) {
        PyObject *args[] = {NULL, extents, PyTuple_GET_ITEM(reader->engine->dtypes, dtype), source, offset};
        array = PyObject_Vectorcall(reader->engine->ndarray, args + 1, 4 | PY_VECTORCALL_ARGUMENTS_OFFSET, NULL);
    }
    Py_XDECREF(extents);
    Py_XDECREF(offset);
    Py_XDECREF(source);
    if (array != NULL && reader->copy) {
        Py_SETREF(array, PyObject_CallOneArg(reader->engine->copy_array, array));
    } else if (array != NULL && !is_aligned(reader, dtype, first)) {
        /* Native code must not be handed what it may not read. */
        Py_SETREF(array, PyObject_CallOneArg(reader->engine->frozen_copy, array));
    }
    return array;
}

int read_tensor(Reader *reader, const Node *node, const TableAt *table, PyObject **value)
{
    int dtype, dimensions;
    int64_t shape[64];
    uint64_t first, size;
    int failed = read_tensor_at(reader, node, table, &dtype, &dimensions, shape, &first, &size);
    if (!failed && value != NULL) {
        *value = read_array(reader, dtype, dimensions, shape, first);
        failed = *value == NULL;
    }
    leave_segment(reader);
    return failed ? -1 : 0;
}

PyObject *read_slice(Reader *reader, uint64_t first, uint64_t size)
{
    if (reader->copy) {
        return PyBytes_FromStringAndSize((const char *)reader->base + first, (Py_ssize_t)size);
    }
    if (reader->slices == NULL) {
        reader->slices = PyMemoryView_FromObject(reader->source);
        if (reader->slices == NULL) {
            return NULL;
        }
    }
    Py_ssize_t start = (Py_ssize_t)(reader->skipped + first);
    return PySequence_GetSlice(reader->slices, start, start + (Py_ssize_t)size);
}
