/* Whole messages: decoded or checked. */
#include "read.h"

/* Read a message from memory that stays there meanwhile; `value` NULL to check it alone. */
static int read_message(Engine *engine, const void *base, Py_ssize_t size, PyObject *source, bool copy,
                        PyObject **value)
{
    Reader reader;
    uint64_t root;
    int failed = reader_begin(&reader, engine, base, size, source, copy, &root)
                 || read_alone(&reader, &engine->nodes[engine->root], root, value);
    if (!failed && reader.bytes < 0) {
        failed = overspent(&reader, 0);
        if (value != NULL) {
            Py_CLEAR(*value);
        }
    }
    if (failed) {
        raise_fault(&reader);
    }
    reader_end(&reader);
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

PyObject *engine_verify(Engine *engine, PyObject *data)
{
    if (read_buffer(engine, data, true, NULL)) {
        return NULL;
    }
    Py_RETURN_NONE;
}
