/* Writing a message whose head is complete: as one, into a buffer, in segments. */
#include "encode.h"

/* Data of the tail from this size on are a segment of their own. */
enum { SMALLEST_SEGMENT = 4096 };

/* Copies from this size on let other threads run. All that they read is held, and what they write is nobody else's, or
   held as well. */
static const size_t LARGE_COPY = (size_t)1 << 20;

/* The message ------------------------------------------------------------------------------------------------------ */

/* Write the message from `start` up to `end`, which both may be where the data of an item begin or end, to `out`;
   `first` is the first item from `start` on. Needs no GIL. */
static void write_range(const Encoder *encoder, size_t start, size_t end, size_t first, char *out)
{
    size_t at = start;
    if (start == 0) {
        memcpy(out, encoder->head, encoder->size);
        at = encoder->size;
    }
    for (size_t index = first; index < encoder->tail_count && encoder->tail[index].at <= end; index++) {
        const TailItem *item = &encoder->tail[index];
        size_t size = (size_t)item->data.len;
        size_t length_at = item->at - item->length_size, count = size / item->width;
        memset(out + (at - start), 0, length_at - at);
        if (item->length_size == 8) {
            store_u64(out + (length_at - start), count);
        } else {
            store_u32(out + (length_at - start), (uint32_t)count);
        }
        at = item->at;
        if (size != 0 && at + size <= end) {
            memcpy(out + (at - start), item->data.buf, size);
            at += size;
        }
    }
    if (at != end) {
        memset(out + (at - start), 0, end - at); /* What ends a string. */
    }
}

void write_message(const Encoder *encoder, char *out)
{
    if (encoder->total < LARGE_COPY) {
        write_range(encoder, 0, encoder->total, 0, out);
        return;
    }
    Py_BEGIN_ALLOW_THREADS
    write_range(encoder, 0, encoder->total, 0, out);
    Py_END_ALLOW_THREADS
}

/* Into a buffer ---------------------------------------------------------------------------------------------------- */

/* Take a buffer that plainly is of writable bytes, and the part of it that begins at the offset. False, with nothing
   taken, for all else, whether it will do or not. */
static bool take_plain(PyObject *out, PyObject *offset, Py_buffer *buffer, Py_ssize_t *start)
{
    if (!PyByteArray_CheckExact(out) && !PyMemoryView_Check(out)) {
        return false;
    }
    *start = 0;
    if (offset != NULL) {
        *start = PyLong_CheckExact(offset) ? PyLong_AsSsize_t(offset) : -1;
    }
    if (*start < 0 || PyObject_GetBuffer(out, buffer, PyBUF_CONTIG | PyBUF_FORMAT)) {
        PyErr_Clear();
        return false;
    }
    if (strcmp(buffer->format, "B") != 0 || *start > buffer->len) {
        PyBuffer_Release(buffer);
        return false;
    }
    return true;
}

int take_buffer(Engine *engine, PyObject *out, PyObject *offset, Py_buffer *buffer, Py_ssize_t *start)
{
    if (take_plain(out, offset, buffer, start)) {
        return 0;
    }
    PyObject *zero = offset == NULL ? PyLong_FromLong(0) : Py_NewRef(offset);
    PyObject *view = zero == NULL ? NULL : PyObject_CallFunctionObjArgs(engine->writable_view, out, zero, NULL);
    Py_XDECREF(zero);
    if (view == NULL) {
        return -1;
    }
    *start = 0;
    int failed = PyObject_GetBuffer(view, buffer, PyBUF_WRITABLE);
    Py_DECREF(view);
    return failed;
}

/* Whether the message would be written over data that it is to hold. */
static bool overlaps(const Encoder *encoder, const char *out)
{
    uintptr_t start = (uintptr_t)out, end = start + encoder->total;
    for (size_t index = 0; index < encoder->tail_count; index++) {
        const Py_buffer *data = &encoder->tail[index].data;
        uintptr_t first = (uintptr_t)data->buf;
        if (first < end && start < first + (size_t)data->len) {
            return true;
        }
    }
    return false;
}

/* Write the message to `available` bytes at `out`, or nothing. */
static int write_into(const Encoder *encoder, char *out, Py_ssize_t available)
{
    Engine *engine = encoder->engine;
    if (encoder->total > (size_t)available) {
        raise_made(PyObject_CallFunction(engine->too_small, "nn", (Py_ssize_t)encoder->total, available));
        return -1;
    }
    if ((uintptr_t)out % encoder->alignment != 0) {
        PyObject *address = PyLong_FromVoidPtr(out);
        if (address != NULL) {
            raise_made(PyObject_CallFunction(engine->misaligned, "Nn", address, (Py_ssize_t)encoder->alignment));
        }
        return -1;
    }
    if (!overlaps(encoder, out)) {
        write_message(encoder, out);
        return 0;
    }
    char *copy = PyMem_Malloc(encoder->total);
    if (copy == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    write_message(encoder, copy);
    memcpy(out, copy, encoder->total);
    PyMem_Free(copy);
    return 0;
}

PyObject *engine_encode_into(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames)
{
    static const char *const NAMES[] = {"value", "out", "offset", NULL};
    PyObject *found[3];
    if (take_arguments("encode_into", NAMES, 2, 3, args, nargs, kwnames, found)) {
        return NULL;
    }
    Encoder encoder;
    PyObject *size = NULL;
    Py_buffer buffer;
    Py_ssize_t start;
    if (!encode_all(&encoder, engine, found[0]) && !take_buffer(engine, found[1], found[2], &buffer, &start)) {
        /* Made before the first byte is written, after which nothing may fail. */
        size = PyLong_FromSize_t(encoder.total);
        if (size != NULL && write_into(&encoder, (char *)buffer.buf + start, buffer.len - start)) {
            Py_CLEAR(size);
        }
        PyBuffer_Release(&buffer);
    }
    encoder_end(&encoder);
    return size;
}

/* In segments ------------------------------------------------------------------------------------------------------ */

static int append_taken(PyObject *list, PyObject *item)
{
    int failed = item == NULL ? -1 : PyList_Append(list, item);
    Py_XDECREF(item);
    return failed;
}

/* Append a copy of the message; see write_range. */
static int append_copy(const Encoder *encoder, PyObject *segments, size_t start, size_t end, size_t first)
{
    PyObject *copy = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)(end - start));
    if (copy == NULL) {
        return -1;
    }
    write_range(encoder, start, end, first, PyBytes_AS_STRING(copy));
    PyObject *view = PyMemoryView_FromObject(copy);
    Py_DECREF(copy);
    return append_taken(segments, view);
}

/* A flat view of an array's bytes. */
static PyObject *array_view(const Encoder *encoder, const TailItem *item)
{
    PyObject *found = PyObject_CallOneArg(encoder->engine->tensor_bytes, item->array);
    if (found == NULL) {
        return NULL;
    }
    PyObject *view = NULL;
    if (PyTuple_Check(found) && PyTuple_GET_SIZE(found) == 2 && PyMemoryView_Check(PyTuple_GET_ITEM(found, 1))) {
        view = PyTuple_GET_ITEM(found, 1);
        const Py_buffer *data = PyMemoryView_GET_BUFFER(view);
        view = data->buf == item->data.buf && data->len == item->data.len
                   ? PyObject_CallMethod(view, "toreadonly", NULL)
                   : NULL;
    }
    if (view == NULL && !PyErr_Occurred()) {
        raise_misfit(encoder->engine, "an array was changed while it was encoded");
    }
    Py_DECREF(found);
    return view;
}

static int append_segments(const Encoder *encoder, PyObject *segments)
{
    size_t start = 0, first = 0;
    for (size_t index = 0; index < encoder->tail_count; index++) {
        const TailItem *item = &encoder->tail[index];
        if (item->data.len >= SMALLEST_SEGMENT) {
            if (append_copy(encoder, segments, start, item->at, first)) {
                return -1;
            }
            PyObject *view = item->array == NULL ? PyMemoryView_FromObject(item->data.obj) : array_view(encoder, item);
            if (append_taken(segments, view)) {
                return -1;
            }
            start = item->at + (size_t)item->data.len;
            first = index + 1;
        }
    }
    return start < encoder->total ? append_copy(encoder, segments, start, encoder->total, first) : 0;
}

PyObject *engine_encode_segments(Engine *engine, PyObject *value)
{
    Encoder encoder;
    PyObject *segments = NULL;
    if (!encode_all(&encoder, engine, value)) {
        segments = PyList_New(0);
        if (segments != NULL && append_segments(&encoder, segments)) {
            Py_CLEAR(segments);
        }
    }
    encoder_end(&encoder);
    return segments;
}
