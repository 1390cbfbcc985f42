/* The object of a record, of its fields. */
#include "read.h"

static void drop(PyObject **fields, Py_ssize_t count)
{
    for (Py_ssize_t index = 0; index < count; index++) {
        Py_XDECREF(fields[index]);
    }
}

static PyObject *make_dict(const Node *node, PyObject **fields)
{
    PyObject *dict = PyDict_New();
    for (Py_ssize_t index = 0; dict != NULL && index < node->place_count; index++) {
        if (fields[index] != NULL && PyDict_SetItem(dict, PyTuple_GET_ITEM(node->names, index), fields[index])) {
            Py_CLEAR(dict);
        }
    }
    drop(fields, node->place_count);
    return dict;
}

/* By a call; a class's fields are all there. */
static PyObject *make_by_call(const Node *node, PyObject **fields, bool is_named)
{
    PyObject *object = PyObject_Vectorcall(node->cls, fields, is_named ? 0 : (size_t)node->place_count,
                                           is_named ? node->names : NULL);
    drop(fields, node->place_count);
    return object;
}

/* As the dataclass's own __init__ would. Nobody sees the object before it is whole: while attributes are set by name,
   which may allocate, the collector does not know it. */
static PyObject *make_direct(const Node *node, PyObject **fields)
{
    PyTypeObject *type = (PyTypeObject *)node->cls;
    if (type->tp_flags & Py_TPFLAGS_IS_ABSTRACT) {
        return make_by_call(node, fields, false); /* Python has the words for it. */
    }
    PyObject *object = type->tp_alloc(type, 0);
    if (object == NULL) {
        drop(fields, node->place_count);
        return NULL;
    }
    if (node->is_slotted) {
        for (Py_ssize_t index = 0; index < node->place_count; index++) {
            const Place *place = &node->places[index];
            *(PyObject **)((char *)object + place->member) = fields[place->position];
        }
        return object;
    }
    bool is_tracked = PyObject_IS_GC(object);
    if (is_tracked) {
        PyObject_GC_UnTrack(object);
    }
    int failed = 0;
    for (Py_ssize_t index = 0; !failed && index < node->place_count; index++) {
        failed = PyObject_GenericSetAttr(object, PyTuple_GET_ITEM(node->names, index), fields[index]);
    }
    drop(fields, node->place_count);
    if (is_tracked) {
        PyObject_GC_Track(object);
    }
    if (failed) {
        Py_CLEAR(object);
    }
    return object;
}

PyObject *make_record(const Node *node, PyObject **fields)
{
    switch (node->make) {
    case MAKE_DIRECT:
        return make_direct(node, fields);
    case MAKE_POSITIONAL:
        return make_by_call(node, fields, false);
    case MAKE_KEYWORDS:
        return make_by_call(node, fields, true);
    default:
        return make_dict(node, fields);
    }
}
