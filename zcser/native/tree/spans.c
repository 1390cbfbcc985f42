/* The big bins of a MessagePack message: the C twin of zcser/tree/spans.py, whose head tells the rules. */
#include "tree.h"

static uint64_t big_endian(const uint8_t *place, size_t width)
{
    uint64_t value = 0;
    for (size_t index = 0; index < width; index++) {
        value = value << 8 | place[index];
    }
    return value;
}

typedef struct {
    size_t width;   /* Bytes of the length or count. */
    uint64_t more;  /* Bytes that no length tells of. */
    uint64_t items; /* Of a container without a count. */
    uint64_t each;  /* Items for each of the count; 0: it is a length. */
    bool is_bin;
} Shape;

/* Of an object's first byte; false: of none. The order is that of the format's table. */
static bool shape_of(uint8_t byte, Shape *shape)
{
    *shape = (Shape){0};
    if (byte < 0x80 || byte >= 0xE0) {
        return true;
    }
    if (byte < 0x90) {
        shape->items = 2 * (uint64_t)(byte & 15);
    } else if (byte < 0xA0) {
        shape->items = byte & 15;
    } else if (byte < 0xC0) {
        shape->more = byte & 31;
    } else if (byte >= 0xC4 && byte <= 0xC6) {
        shape->width = (size_t)1 << (byte - 0xC4);
        shape->is_bin = true;
    } else if (byte >= 0xC7 && byte <= 0xC9) {
        shape->width = (size_t)1 << (byte - 0xC7);
        shape->more = 1;
    } else if (byte == 0xCA || byte == 0xCB) {
        shape->more = (uint64_t)4 << (byte - 0xCA);
    } else if (byte >= 0xCC && byte <= 0xD3) {
        shape->more = (uint64_t)1 << ((byte - 0xCC) & 3);
    } else if (byte >= 0xD4 && byte <= 0xD8) {
        shape->more = 1 + ((uint64_t)1 << (byte - 0xD4));
    } else if (byte >= 0xD9 && byte <= 0xDB) {
        shape->width = (size_t)1 << (byte - 0xD9);
    } else if (byte >= 0xDC) {
        shape->width = byte & 1 ? 4 : 2;
        shape->each = byte < 0xDE ? 1 : 2;
    }
    return byte != 0xC1;
}

static int append_span(PyObject *spans, uint64_t begin, uint64_t start, uint64_t stop)
{
    PyObject *span = Py_BuildValue("nnn", (Py_ssize_t)begin, (Py_ssize_t)start, (Py_ssize_t)stop);
    int failed = span == NULL || PyList_Append(spans, span);
    Py_XDECREF(span);
    return failed ? -1 : 0;
}

/* 1: a whole message; 0: not; -1 with an exception. */
static int walk_message(const uint8_t *message, uint64_t size, uint64_t least, uint64_t steps, PyObject *spans)
{
    uint64_t at = 0, left = 1;
    while (left > 0) {
        Shape shape;
        if (at >= size || steps == 0 || !shape_of(message[at], &shape)) {
            return 0;
        }
        steps--;
        uint64_t start = at + 1 + shape.width;
        if (start > size) {
            return 0;
        }
        uint64_t length = big_endian(message + at + 1, shape.width);
        uint64_t stop = start + shape.more + (shape.each == 0 ? length : 0);
        if (stop > size) {
            return 0;
        }
        left += shape.items + shape.each * length - 1;
        if (left > size - stop) { /* Every object takes a byte at least. */
            return 0;
        }
        if (shape.is_bin && length >= least && append_span(spans, at, start, stop)) {
            return -1;
        }
        at = stop;
    }
    return at == size;
}

bool is_whole_message(const char *message, Py_ssize_t size)
{
    /* No bin is as large as the least that is looked for: there is no list for it. */
    return walk_message((const uint8_t *)message, (uint64_t)size, UINT64_MAX, (uint64_t)size, NULL) == 1;
}

PyObject *find_spans(PyObject *module, PyObject *args)
{
    (void)module;
    Py_buffer message;
    Py_ssize_t least, steps;
    if (!PyArg_ParseTuple(args, "y*nn", &message, &least, &steps)) {
        return NULL;
    }
    PyObject *spans = PyList_New(0);
    if (spans != NULL) {
        uint64_t from = (uint64_t)Py_MAX(least, 0), most = (uint64_t)Py_MAX(steps, 0);
        int found = walk_message(message.buf, (uint64_t)message.len, from, most, spans);
        if (found < 0) {
            Py_CLEAR(spans);
        } else if (found == 0) {
            Py_SETREF(spans, PyList_New(0));
        }
    }
    PyBuffer_Release(&message);
    return spans;
}
