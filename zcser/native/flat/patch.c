/* Changing a scalar of a message in place. */
#include "encode.h"
#include "walk.h"

/* The bytes of a value, or of its normal form, as encoding has them. */
static int make_number(Walk *walk, PyObject *value, char *bytes)
{
    Engine *engine = walk->engine;
    const char *reason = NULL;
    if (!engine->strict && encode_scalar(&reason, walk->node, value, bytes) == 0) {
        return 0;
    }
    PyErr_Clear();
    Py_ssize_t index = walk->node - engine->nodes;
    PyObject *normal = PyObject_CallFunction(engine->normal_part, "nOO", index, value, walk->steps);
    if (normal == NULL) {
        return -1;
    }
    int failed = encode_scalar(&reason, walk->node, normal, bytes);
    Py_DECREF(normal);
    if (failed) {
        PyErr_Clear();
        return walk_refuse(walk, PyUnicode_FromString(reason));
    }
    return 0;
}

static int patch(Engine *engine, const Py_buffer *buffer, PyObject *view, PyObject *steps, PyObject *value)
{
    Walk walk = {.engine = engine, .steps = steps, .node = &engine->nodes[engine->root], .is_table = true};
    char bytes[8];
    int failed = reader_begin(&walk.reader, engine, buffer->buf, buffer->len, view, false, &walk.at);
    if (failed) {
        raise_fault(&walk.reader);
    }
    failed = failed || walk_to_scalar(&walk) || make_number(&walk, value, bytes);
    if (!failed) {
        memcpy((char *)buffer->buf + walk.reader.origin + walk.at, bytes, walk.node->size);
    }
    reader_end(&walk.reader);
    return failed ? -1 : 0;
}

PyObject *engine_patch(Engine *engine, PyObject *const *args, Py_ssize_t nargs)
{
    if (nargs != 3) {
        return PyErr_Format(PyExc_TypeError, "patch() takes a buffer, the steps of a path and a value, not %zd "
                                             "arguments", nargs);
    }
    PyObject *steps = PySequence_Tuple(args[1]);
    PyObject *view = steps == NULL ? NULL : PyObject_CallFunction(engine->writable_view, "Oi", args[0], 0);
    Py_buffer buffer;
    int failed = view == NULL || PyObject_GetBuffer(view, &buffer, PyBUF_WRITABLE);
    if (!failed) {
        failed = patch(engine, &buffer, view, steps, args[2]);
        PyBuffer_Release(&buffer);
    }
    Py_XDECREF(view);
    Py_XDECREF(steps);
    if (failed) {
        return NULL;
    }
    Py_RETURN_NONE;
}
