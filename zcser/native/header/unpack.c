/* Whole records. */
#include "header.h"

/* Of the namedtuples that zcser makes. What type() gives a class would look for a dict, slots and a finaliser first. */
static void record_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_TRASHCAN_BEGIN(self, record_dealloc)
    for (Py_ssize_t index = PyTuple_GET_SIZE(self) - 1; index >= 0; index--) {
        Py_XDECREF(PyTuple_GET_ITEM(self, index));
    }
    type->tp_free(self);
    Py_DECREF(type);
    Py_TRASHCAN_END
}

void own_record_type(PyTypeObject *type)
{
    type->tp_dealloc = record_dealloc;
}

static PyObject *unpack_aside(const Layout *layout, const Node *node, Py_ssize_t offset, PyObject *source)
{
    PyObject *memory = source_bytes(layout, source);
    PyObject *at = PyLong_FromSsize_t(offset);
    PyObject *value = NULL;
    if (memory != NULL && at != NULL) {
        value = PyObject_CallFunctionObjArgs(node->read, memory, at, NULL);
    }
    Py_XDECREF(memory);
    Py_XDECREF(at);
    return value;
}

static PyObject *unpack_array(const Layout *layout, const Node *node, const char *base, Py_ssize_t offset,
                              PyObject *source)
{
    PyObject *sequence = node->is_list ? PyList_New(node->count) : PyTuple_New(node->count);
    for (Py_ssize_t index = 0; sequence != NULL && index < node->count; index++) {
        PyObject *item = unpack(layout, node->item, base, offset + index * node->item->size, source);
        if (item == NULL) {
            Py_CLEAR(sequence);
        } else if (node->is_list) {
            PyList_SET_ITEM(sequence, index, item);
        } else {
            PyTuple_SET_ITEM(sequence, index, item);
        }
    }
    return sequence;
}

/* A tuple, or an object of a plain subclass of tuple, with the fields as its items. */
static PyObject *unpack_fields(const Layout *layout, const Node *node, const char *base, Py_ssize_t offset,
                               PyObject *source, PyTypeObject *type)
{
    PyTupleObject *fields = PyObject_GC_NewVar(PyTupleObject, type, node->place_count);
    if (fields == NULL) {
        return NULL;
    }
#if PY_VERSION_HEX >= 0x030E0000
    fields->ob_hash = -1; /* Not known yet. */
#endif
    for (Py_ssize_t index = 0; index < node->place_count; index++) {
        const Place *place = &node->places[index];
        Py_ssize_t at = offset + place->offset;
        PyObject *field = place->node->read_scalar != NULL ? place->node->read_scalar(base + at)
                                                           : unpack(layout, place->node, base, at, source);
        PyTuple_SET_ITEM(fields, index, field);
        if (field == NULL) {
            while (++index < node->place_count) {
                PyTuple_SET_ITEM(fields, index, NULL);
            }
            Py_DECREF(fields);
            return NULL;
        }
    }
    if (!node->is_flat) {
        PyObject_GC_Track(fields); /* Else there is nothing for the collector to find, as it would see itself. */
    }
    return (PyObject *)fields;
}

PyObject *unpack(const Layout *layout, const Node *node, const char *base, Py_ssize_t offset, PyObject *source)
{
    switch (node->op) {
    case OP_BYTES:
        return PyBytes_FromStringAndSize(base + offset, node->size);
    case OP_ARRAY:
        return unpack_array(layout, node, base, offset, source);
    case OP_ASIDE:
        return unpack_aside(layout, node, offset, source);
    case OP_RECORD:
        if (node->is_tuple) {
            return unpack_fields(layout, node, base, offset, source, (PyTypeObject *)node->cls);
        }
        PyObject *fields = unpack_fields(layout, node, base, offset, source, &PyTuple_Type);
        PyObject *value = fields == NULL ? NULL : PyObject_CallObject(node->cls, fields);
        Py_XDECREF(fields);
        return value;
    default:
        return node->read_scalar(base + offset);
    }
}

PyObject *layout_unpack_from(Layout *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    PyObject *source, *offset;
    Py_ssize_t number;
    int is_aside = place_arguments("unpack_from", args, nargs, kwnames, &source, &offset, &number);
    if (is_aside < 0) {
        return NULL;
    }
    const Node *root = self->root;
    Py_buffer buffer;
    PyObject *value = NULL;
    if (is_aside) {
        /* Python looks at the offset. */
    } else if (PyBytes_CheckExact(source)) {
        if (number <= PyBytes_GET_SIZE(source) - root->size) {
            value = unpack(self, root, PyBytes_AS_STRING(source), number, source);
        }
    } else if (buffer_take(source, number, root->size, &buffer) == 0) {
        value = unpack(self, root, buffer.buf, number, source);
        PyBuffer_Release(&buffer);
    }
    if (value != NULL || (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_Exception))) {
        return value;
    }
    PyErr_Clear(); /* Python finds the words. */
    return PyObject_CallFunctionObjArgs(self->unpack_from, source, offset, NULL);
}
