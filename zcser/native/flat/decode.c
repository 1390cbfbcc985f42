/* Whole messages: decoded or checked. */
#include "read.h"

/* Read a message that was begun with, from its root on. */
static int read_root_value(Reader *reader, uint64_t root, PyObject **value)
{
    const Node *node = &reader->engine->nodes[reader->engine->root];
    int failed = read_alone(reader, node, root, value);
    if (!failed) {
        failed = (reader->bytes < 0 && overspent(reader, 0))
                 || (reader->segments != NULL && check_reached(reader));
        if (failed && value != NULL) {
            Py_CLEAR(*value);
        }
    }
    return failed;
}

static int finish(Reader *reader, int failed)
{
    if (failed) {
        raise_fault(reader);
    }
    reader_end(reader);
    return failed;
}

/* Read a message from memory that stays there meanwhile; `value` NULL to check it alone. */
static int read_message(Engine *engine, const void *base, Py_ssize_t size, PyObject *source, bool copy,
                        PyObject **value)
{
    Reader reader;
    uint64_t root;
    int failed = reader_begin(&reader, engine, base, size, source, copy, &root)
                 || read_root_value(&reader, root, value);
    return finish(&reader, failed);
}

/* The same of segments. */
static int read_segments(Engine *engine, PyObject *given, bool copy, PyObject **value)
{
    Segments *segments = segments_new(engine, given);
    if (segments == NULL) {
        return -1;
    }
    Reader reader;
    uint64_t root;
    int failed = reader_begin_segments(&reader, engine, segments, copy, &root)
                 || read_root_value(&reader, root, value);
    failed = finish(&reader, failed);
    segments_free(segments);
    return failed;
}

/* The same of any buffer. */
static int read_buffer(Engine *engine, PyObject *data, bool copy, PyObject **value)
{
    if (PyBytes_CheckExact(data)) {
        return read_message(engine, PyBytes_AS_STRING(data), PyBytes_GET_SIZE(data), data, copy, value);
    }
    PyObject *view = PyObject_CallOneArg(engine->byte_view, data);
    if (view == NULL) {
        return -1;
    }
    Py_buffer buffer;
    int failed = PyObject_GetBuffer(view, &buffer, PyBUF_SIMPLE);
    if (!failed) {
        failed = read_message(engine, buffer.buf, buffer.len, view, copy, value);
        PyBuffer_Release(&buffer);
    }
    Py_DECREF(view);
    return failed;
}

PyObject *engine_decode(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"data", "copy", NULL};
    PyObject *found[2] = {nargs == 1 ? args[0] : NULL, NULL}, *value = NULL;
    if ((nargs != 1 || kwnames != NULL) && take_arguments("decode", names, 1, 1, args, nargs, kwnames, found)) {
        return NULL;
    }
    int copy = found[1] == NULL ? 1 : PyObject_IsTrue(found[1]);
    if (copy < 0 || read_buffer(engine, found[0], copy, &value)) {
        return NULL;
    }
    return value;
}

PyObject *engine_decode_segments(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const names[] = {"segments", "copy", NULL};
    PyObject *found[2], *value = NULL;
    if (take_arguments("decode_segments", names, 1, 1, args, nargs, kwnames, found)) {
        return NULL;
    }
    int copy = found[1] == NULL ? 1 : PyObject_IsTrue(found[1]);
    if (copy < 0 || read_segments(engine, found[0], copy, &value)) {
        return NULL;
    }
    return value;
}

PyObject *engine_verify(Engine *engine, PyObject *data)
{
    if (read_buffer(engine, data, true, NULL)) {
        return NULL;
    }
    Py_RETURN_NONE;
}
