/* Encoding: from a value to a message of known size, and the errors on the way.

   The bytes are those that the head of zcser/flat/program.py settles. The head of the message is complete before
   anything is written elsewhere: its size is known then, and nothing can fail for what the value is. */
#include "encode.h"

/* Errors ----------------------------------------------------------------------------------------------------------- */

void raise_made(PyObject *error)
{
    if (error != NULL) {
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
        Py_DECREF(error);
    }
}

void raise_reason(Engine *engine, PyObject *reason)
{
    if (reason != NULL) {
        raise_made(PyObject_CallOneArg(engine->encode_error, reason));
        Py_DECREF(reason);
    }
}

/* Whether the exception that is set, if any, is the user's to see: no wrong value is behind it. */
static bool is_grave(void)
{
    return PyErr_Occurred()
           && (!PyErr_ExceptionMatches(PyExc_Exception) || PyErr_ExceptionMatches(PyExc_MemoryError));
}

/* The exception that is set, which is cleared. */
static PyObject *take_exception(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *error, *traceback;
    PyErr_Fetch(&type, &error, &traceback);
    PyErr_NormalizeException(&type, &error, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(error, traceback);
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return error;
#endif
}

static void put_exception(PyObject *error)
{
    PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    Py_DECREF(error);
}

void raise_misfit(Engine *engine, const char *reason)
{
    if (!PyErr_Occurred()) {
        raise_reason(engine, PyUnicode_FromFormat("the message cannot be built: %s", reason));
        return;
    }
    if (is_grave()) {
        return;
    }
    PyObject *cause = take_exception();
    PyObject *words = PyErr_GivenExceptionMatches(cause, PyExc_RecursionError)
                          ? PyUnicode_FromString("nested deeper than Python's stack")
                          : PyUnicode_FromFormat("the message cannot be built: %S", cause);
    PyObject *error = words == NULL ? NULL : PyObject_CallOneArg(engine->encode_error, words);
    Py_XDECREF(words);
    if (error == NULL) {
        Py_DECREF(cause);
    } else if (PyObject_TypeCheck(cause, Py_TYPE(error))) {
        put_exception(cause);
        Py_DECREF(error);
    } else {
        PyException_SetCause(error, cause);
        put_exception(error);
    }
}

/* The head --------------------------------------------------------------------------------------------------------- */

/* Write the offset of the root, whose table begins `size` bytes from the start, and what it leads to. */
static int encode_root(Encoder *encoder, const Node *root, PyObject *value, size_t start, size_t size)
{
    size_t table;
    encoder->size = size;
    if (encode_alone(encoder, root, value, &table)) {
        return -1;
    }
    point(encoder, start, table);
    return 0;
}

static int encode_head(Encoder *encoder, PyObject *value)
{
    const Engine *engine = encoder->engine;
    if (reserve_head(encoder, 4 + 4 + sizeof engine->identifier)) {
        return -1;
    }
    /* Zeros where there is none, which the table is then written over. */
    memcpy(encoder->head + engine->root_at + 4, engine->identifier, sizeof engine->identifier);
    return encode_root(encoder, &engine->nodes[engine->root], value, engine->root_at, engine->head_size);
}

int encode_nested_head(Encoder *encoder, const Node *root, PyObject *value)
{
    return reserve_head(encoder, 4) ? -1 : encode_root(encoder, root, value, 0, 4);
}

/* Lay out a message whose head is written. */
static int lay_out(Encoder *encoder)
{
    const Engine *engine = encoder->engine;
    if (encoder->tail_count == 0 && encoder->size <= (size_t)engine->bytes) {
        encoder->total = encoder->size; /* Which grow_head bounds. */
    } else if (lay_out_tail(encoder)) {
        return -1;
    }
    if (engine->is_prefixed) {
        store_u32(encoder->head, (uint32_t)(encoder->total - 4));
    }
    return 0;
}

static PyObject *normal_of(Engine *engine, PyObject *value)
{
    PyObject *normal = PyObject_CallOneArg(engine->normal, value);
    if (normal == NULL) {
        raise_misfit(engine, NULL);
    }
    return normal;
}

int encode_all(Encoder *encoder, Engine *engine, PyObject *value)
{
    if (encoder_begin(encoder, engine)) {
        return -1;
    }
    if (!engine->strict) {
        if (!encode_head(encoder, value)) {
            return lay_out(encoder);
        }
        if (is_grave()) {
            return -1;
        }
        PyErr_Clear();
        encoder_clear(encoder);
    }
    PyObject *normal = normal_of(engine, value);
    if (normal == NULL) {
        return -1;
    }
    int failed = encode_head(encoder, normal);
    if (failed) {
        raise_misfit(engine, encoder->reason);
    }
    Py_DECREF(normal);
    return failed ? -1 : lay_out(encoder);
}

/* Calls ------------------------------------------------------------------------------------------------------------ */

PyObject *engine_encode(Engine *engine, PyObject *value)
{
    Encoder encoder;
    PyObject *message = NULL;
    if (!encode_all(&encoder, engine, value)) {
        message = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)encoder.total);
        if (message != NULL) {
            write_message(&encoder, PyBytes_AS_STRING(message));
        }
    }
    encoder_end(&encoder);
    return message;
}

PyObject *engine_encoded_size(Engine *engine, PyObject *value)
{
    Encoder encoder;
    PyObject *size = encode_all(&encoder, engine, value) ? NULL : PyLong_FromSize_t(encoder.total);
    encoder_end(&encoder);
    return size;
}
