/* What is wrong with a message: kept in its reader on the way out, raised as an error of zcser at the end. */
#include "read.h"

static int set_fault(Reader *reader, uint64_t offset, bool is_cut, const char *format, va_list arguments)
{
    PyObject *reason = PyUnicode_FromFormatV(format, arguments);
    if (reason == NULL) {
        return -1;
    }
    Py_XSETREF(reader->reason, reason);
    reader->offset = offset == NOWHERE ? NOWHERE : reader->origin + offset;
    reader->is_cut = is_cut;
    Py_CLEAR(reader->steps);
    return -1;
}

int fault(Reader *reader, uint64_t offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_fault(reader, offset, false, format, arguments);
    va_end(arguments);
    return -1;
}

int fault_cut(Reader *reader, uint64_t offset, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_fault(reader, offset, true, format, arguments);
    va_end(arguments);
    return -1;
}

int fault_of_all(Reader *reader, uint64_t offset, bool is_cut, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    set_fault(reader, offset, is_cut, format, arguments);
    va_end(arguments);
    if (reader->reason != NULL) {
        reader->steps = Py_NewRef(Py_None);
    }
    return -1;
}

int fault_of_change(Reader *reader, uint64_t offset)
{
    return fault(reader, offset, "the message changed while it was read");
}

int overspent(Reader *reader, uint64_t offset)
{
    if (reader->elements < 0) {
        return fault(reader, offset, "the message has more elements than limits.elements");
    }
    return fault(reader, offset, "the message shows the same bytes again and again");
}

/* Takes the step over. */
static void add_step(Reader *reader, PyObject *step)
{
    if (step != NULL && reader->steps == NULL) {
        reader->steps = PyList_New(0);
    }
    if (step == NULL || reader->steps == NULL || PyList_Append(reader->steps, step)) {
        /* The exception tells more than a path with a gap. */
        Py_CLEAR(reader->reason);
    }
    Py_XDECREF(step);
}

void step_name(Reader *reader, PyObject *name)
{
    if (name != NULL && reader->reason != NULL && reader->steps != Py_None) {
        add_step(reader, Py_NewRef(name));
    }
}

void step_item(Reader *reader, Py_ssize_t index)
{
    if (reader->reason != NULL && reader->steps != Py_None) {
        add_step(reader, PyLong_FromSsize_t(index));
    }
}

/* Raise `error` (which is taken over, and may be NULL) for the exception `cause` (taken over; NULL: none). */
static void raise_error(PyObject *error, PyObject *cause)
{
    if (error != NULL && PyExceptionInstance_Check(error)) {
        if (cause != NULL) {
            PyException_SetContext(error, Py_NewRef(cause));
            PyException_SetCause(error, Py_NewRef(cause));
        }
        PyErr_SetObject((PyObject *)Py_TYPE(error), error);
    }
    Py_XDECREF(error);
    Py_XDECREF(cause);
}

PyObject *take_exception(void)
{
#if PY_VERSION_HEX >= 0x030C0000
    return PyErr_GetRaisedException();
#else
    PyObject *type, *exception, *traceback;
    PyErr_Fetch(&type, &exception, &traceback);
    PyErr_NormalizeException(&type, &exception, &traceback);
    if (traceback != NULL) {
        PyException_SetTraceback(exception, traceback);
    }
    Py_XDECREF(type);
    Py_XDECREF(traceback);
    return exception;
#endif
}

/* What the exception that is set means for the user: that a value could not be made. What is no Exception stays. */
static void raise_unreadable(Reader *reader)
{
    if (PyErr_ExceptionMatches(PyExc_Exception)) {
        PyObject *cause = take_exception();
        raise_error(PyObject_CallOneArg(reader->engine->unreadable, cause), cause);
    }
}

PyObject *raise_fault(Reader *reader)
{
    if (reader->reason == NULL) {
        raise_unreadable(reader);
        return NULL;
    }
    PyObject *offset = reader->offset == NOWHERE ? Py_NewRef(Py_None) : PyLong_FromUnsignedLongLong(reader->offset);
    PyObject *steps = reader->steps == NULL ? PyTuple_New(0) : Py_NewRef(reader->steps);
    if (offset != NULL && steps != NULL) {
        raise_error(PyObject_CallFunctionObjArgs(reader->engine->decode_error, reader->reason, offset,
                                                 reader->is_cut ? Py_True : Py_False, steps, NULL), NULL);
    }
    Py_XDECREF(offset);
    Py_XDECREF(steps);
    Py_CLEAR(reader->reason);
    Py_CLEAR(reader->steps);
    return NULL;
}
