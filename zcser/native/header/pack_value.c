/* Reading values into scratch memory, and holding what is not copied there. */
#include "pack.h"

static const int MISFIT = -1;

static char *place(const Pass *pass, Py_ssize_t at)
{
    return pass->scratch + (at - pass->skipped);
}

static int pack_enum(Pass *pass, const Part *part, PyObject *value, Py_ssize_t at)
{
    Py_ssize_t position = 0, count = PyTuple_GET_SIZE(part->values);
    while (position < count && PyTuple_GET_ITEM(part->values, position) != value) {
        position++;
    }
    if (position == count) {
        /* The class first: to a dict True is 1. */
        if (part->by_value == Py_None || !Py_IS_TYPE(value, Py_TYPE(PyTuple_GET_ITEM(part->values, 0)))) {
            return MISFIT;
        }
        PyObject *found = PyDict_GetItemWithError(part->by_value, value);
        position = found == NULL ? -1 : PyLong_AsSsize_t(found);
        if (position < 0 || position >= count) {
            return MISFIT;
        }
    }
    scalar_store(part->size, part->is_swapped, place(pass, at), part->numbers[position]);
    return 0;
}

static int pack_utf8(Pass *pass, const Part *part, const char *text, Py_ssize_t size, Py_ssize_t at)
{
    if (size > part->size || (size > 0 && text[size - 1] == 0)) {
        return MISFIT; /* Too long, or the same as its padding. */
    }
    memcpy(place(pass, at), text, (size_t)size);
    return 0;
}

static int pack_text(Pass *pass, const Part *part, PyObject *value, Py_ssize_t at)
{
    if (!PyUnicode_CheckExact(value)) {
        return MISFIT;
    }
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(value)) {
        return -1;
    }
#endif
    if (PyUnicode_IS_ASCII(value)) {
        return pack_utf8(pass, part, PyUnicode_DATA(value), PyUnicode_GET_LENGTH(value), at);
    }
    /* Not by AsUTF8, of which a str keeps a copy. */
    PyObject *encoded = PyUnicode_AsUTF8String(value);
    if (encoded == NULL) {
        return -1;
    }
    int failed = pack_utf8(pass, part, PyBytes_AS_STRING(encoded), PyBytes_GET_SIZE(encoded), at);
    Py_DECREF(encoded);
    return failed;
}

/* Hold bytes for their place, or copy and give them back. */
static void keep_data(Pass *pass, const Part *part, Py_buffer *data, Py_ssize_t at)
{
    if (part->holes == 0) {
        memcpy(place(pass, at), data->buf, (size_t)part->size);
        PyBuffer_Release(data);
        return;
    }
    pass->holes[pass->hole_count++].at = at;
    pass->skipped += part->size;
}

/* Where the buffer of the next part is to be taken: it may point into itself, so that it cannot be moved. */
static Py_buffer *next_data(Pass *pass, const Part *part, Py_buffer *other)
{
    return part->holes == 0 ? other : &pass->holes[pass->hole_count].data;
}

static int pack_bytes(Pass *pass, const Part *part, PyObject *value, Py_ssize_t at)
{
    if (!PyBytes_CheckExact(value) || PyBytes_GET_SIZE(value) != part->size) {
        return MISFIT;
    }
    Py_buffer other, *data = next_data(pass, part, &other);
    if (PyObject_GetBuffer(value, data, PyBUF_SIMPLE)) {
        return -1;
    }
    keep_data(pass, part, data, at);
    return 0;
}

/* Whether an array's own buffer says that it has the dtype and shape. */
static bool is_of_part(const Part *part, const Py_buffer *data)
{
    if (data->format == NULL || data->len != part->size || data->ndim != PyTuple_GET_SIZE(part->shape)) {
        return false;
    }
    for (int axis = 0; axis < data->ndim; axis++) {
        if (data->shape[axis] != part->extents[axis]) {
            return false;
        }
    }
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(part->formats); number++) {
        if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(part->formats, number), data->format) == 0) {
            return true;
        }
    }
    return false;
}

static int take_odd_data(const Part *part, PyObject *array, Py_buffer *data)
{
    PyObject *found = PyObject_CallOneArg(part->bytes_of, array);
    int failed = found == NULL || found == Py_None ? MISFIT : PyObject_GetBuffer(found, data, PyBUF_SIMPLE);
    Py_XDECREF(found);
    if (!failed && data->len != part->size) {
        PyBuffer_Release(data);
        return MISFIT;
    }
    return failed;
}

static int pack_tensor(Pass *pass, const Part *part, PyObject *value, Py_ssize_t at)
{
    if (!Py_IS_TYPE(value, pass->packer->ndarray)) {
        return MISFIT;
    }
    Py_buffer other, *data = next_data(pass, part, &other);
    bool is_taken = PyTuple_GET_SIZE(part->formats) > 0
                    && PyObject_GetBuffer(value, data, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0;
    if (is_taken && !is_of_part(part, data)) {
        PyBuffer_Release(data);
        is_taken = false;
    }
    if (!is_taken) {
        if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_ValueError)
            && !PyErr_ExceptionMatches(PyExc_BufferError)) {
            return -1;
        }
        PyErr_Clear();
        if (take_odd_data(part, value, data)) {
            return -1;
        }
    }
    keep_data(pass, part, data, at);
    return 0;
}

static Py_ssize_t list_size(const Part *part, PyObject *list)
{
    return part->is_tuple ? PyTuple_GET_SIZE(list) : PyList_GET_SIZE(list);
}

/* A new reference, or NULL where the list has become too short. */
static PyObject *list_item(const Part *part, PyObject *list, Py_ssize_t index)
{
    if (part->is_tuple) {
        return Py_NewRef(PyTuple_GET_ITEM(list, index));
    }
#ifdef Py_GIL_DISABLED
    return PyList_GetItemRef(list, index);
#else
    return index < PyList_GET_SIZE(list) ? Py_NewRef(PyList_GET_ITEM(list, index)) : NULL;
#endif
}

static int pack_list(Pass *pass, const Part *part, PyObject *list, Py_ssize_t at)
{
    if (!Py_IS_TYPE(list, part->is_tuple ? &PyTuple_Type : &PyList_Type) || list_size(part, list) != part->count) {
        return MISFIT;
    }
    for (Py_ssize_t index = 0; index < part->count; index++) {
        PyObject *item = list_item(part, list, index);
        if (item == NULL) {
            return MISFIT;
        }
        int failed = pack_value(pass, part->item, item, at + index * part->item->size);
        Py_DECREF(item);
        if (failed) {
            return -1;
        }
    }
    return list_size(part, list) == part->count ? 0 : MISFIT;
}

/* A new reference, or NULL, with an exception or without. */
static PyObject *record_item(const Part *part, PyObject *record, PyObject *name)
{
    if (part->cls != &PyDict_Type) {
        return PyObject_GetAttr(record, name);
    }
#if PY_VERSION_HEX >= 0x030D0000
    PyObject *value;
    (void)PyDict_GetItemRef(record, name, &value);
    return value;
#else
    return Py_XNewRef(PyDict_GetItemWithError(record, name));
#endif
}

static int pack_record(Pass *pass, const Part *part, PyObject *record, Py_ssize_t at)
{
    if (!Py_IS_TYPE(record, part->cls)
        || (part->cls == &PyDict_Type && PyDict_GET_SIZE(record) != part->member_count)) {
        return MISFIT;
    }
    for (Py_ssize_t number = 0; number < part->member_count; number++) {
        const Member *member = &part->members[number];
        PyObject *value = record_item(part, record, member->name);
        if (value == NULL) {
            return -1;
        }
        int failed = pack_value(pass, member->part, value, at + member->offset);
        Py_DECREF(value);
        if (failed) {
            return -1;
        }
    }
    return 0;
}

int pack_value(Pass *pass, const Part *part, PyObject *value, Py_ssize_t at)
{
    uint64_t bits;
    switch (part->kind) {
    case PACK_NUMBER:
        if (!scalar_bits(part->op, part->size, value, &bits)) {
            return MISFIT;
        }
        scalar_store(part->size, part->is_swapped, place(pass, at), bits);
        return 0;
    case PACK_ENUM:
        return pack_enum(pass, part, value, at);
    case PACK_NULL:
        return value == Py_None ? 0 : MISFIT;
    case PACK_TEXT:
        return pack_text(pass, part, value, at);
    case PACK_BYTES:
        return pack_bytes(pass, part, value, at);
    case PACK_TENSOR:
        return pack_tensor(pass, part, value, at);
    case PACK_LIST:
        return pack_list(pass, part, value, at);
    default:
        return pack_record(pass, part, value, at);
    }
}
