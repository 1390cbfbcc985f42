/* The start of a message: its size, its identifier, its root; and that of a nested one. */
#include "read.h"

#define SMALLEST 12 /* Bytes of the smallest message: the root's offset, a table without fields, its vtable. */

/* The bytes of a message, each counted as often as it is reached, may be the first and the second times its size. */
#define AMPLIFICATION_BASE ((int64_t)1 << 20)
#define AMPLIFICATION_FACTOR 16

#define ULL(number) ((unsigned long long)(number))

/* Find the root of a message whose first 4 bytes, after a prefix, stand at `start`. */
static int read_root(Reader *reader, uint64_t start, uint64_t *root)
{
    uint32_t offset = load_u32(reader->base + start);
    *root = start + offset;
    if (offset < 4 || offset & 3) {
        return fault(reader, start, "the root would be at byte %llu", ULL(*root));
    }
    if (*root + 4 > reader->end) {
        return fault_cut(reader, start, "the root at byte %llu is past the end", ULL(*root));
    }
    return 0;
}

/* Whether the size that a message begins with is its own. */
static int check_prefix(Reader *reader)
{
    uint32_t size = load_u32(reader->base);
    uint64_t rest = (reader->segments == NULL ? reader->end : reader->segments->total) - 4;
    if (size > rest) {
        return fault_cut(reader, 0, "the size prefix says %u bytes, but %llu follow it", (unsigned)size, ULL(rest));
    }
    if (size < rest) {
        return fault(reader, 0, "the size prefix says %u bytes, but %llu follow it", (unsigned)size, ULL(rest));
    }
    return 0;
}

static int check_identifier(Reader *reader, uint64_t at)
{
    const char *wanted = reader->engine->identifier;
    if (memcmp(reader->base + at, wanted, sizeof reader->engine->identifier) == 0) {
        return 0;
    }
    PyObject *found = PyBytes_FromStringAndSize((const char *)reader->base + at, sizeof reader->engine->identifier);
    PyObject *own = found == NULL ? NULL : PyBytes_FromStringAndSize(wanted, sizeof reader->engine->identifier);
    if (own != NULL) {
        fault(reader, at, "the file identifier is %R, not %R", found, own);
    }
    Py_XDECREF(found);
    Py_XDECREF(own);
    return -1;
}

/* What stands around the root's offset; it lies in the smallest message. */
static int check_start(Reader *reader)
{
    const Engine *engine = reader->engine;
    return (engine->is_prefixed && check_prefix(reader))
                   || (engine->has_identifier && check_identifier(reader, engine->root_at + 4))
               ? -1
               : 0;
}

/* Begin with a message of `total` bytes, the first `size` of which are at `base`. */
static int begin(Reader *reader, Engine *engine, const uint8_t *base, Py_ssize_t size, Py_ssize_t total,
                 PyObject *source, Segments *segments, bool copy, uint64_t *root)
{
    reader->engine = engine;
    reader->base = base;
    reader->end = (uint64_t)size;
    reader->origin = 0;
    reader->source = source;
    reader->skipped = 0;
    reader->slices = NULL;
    reader->segments = segments;
    reader->copy = copy;
    reader->is_stable = PyBytes_CheckExact(source);
    reader->has_unknown = false;
    reader->notes_reached = segments != NULL;
    reader->is_away = false;
    reader->at = 0;
    reader->elements = engine->elements;
    reader->bytes = AMPLIFICATION_BASE + AMPLIFICATION_FACTOR * (int64_t)total;
    reader->depth = 0;
    reader->reason = NULL;
    reader->offset = 0;
    reader->is_cut = false;
    reader->steps = NULL;
    if (total > engine->bytes) {
        return fault_of_all(reader, NOWHERE, false, "%zd bytes are more than limits.bytes = %zd", total, engine->bytes);
    }
    if (size < SMALLEST) {
        return fault_of_all(reader, reader->end, true, "%zd bytes are fewer than any message has", size);
    }
    if (engine->head_size != 4 && check_start(reader)) {
        return -1;
    }
    return read_root(reader, engine->root_at, root);
}

int reader_begin(Reader *reader, Engine *engine, const uint8_t *base, Py_ssize_t size, PyObject *source, bool copy,
                 uint64_t *root)
{
    return begin(reader, engine, base, size, size, source, NULL, copy, root);
}

int reader_begin_segments(Reader *reader, Engine *engine, Segments *segments, bool copy, uint64_t *root)
{
    const Segment *head = &segments->items[0];
    return begin(reader, engine, head->base, (Py_ssize_t)head->size, (Py_ssize_t)segments->total, head->source,
                 segments, copy, root);
}

int enter_nested(Reader *reader, uint64_t first, uint64_t size, Reader *outer, uint64_t *root)
{
    *outer = *reader;
    reader->base += first;
    reader->end = size;
    reader->origin += first;
    reader->skipped += first;
    reader->segments = NULL;
    reader->is_away = false;
    if (size < SMALLEST) {
        return fault_cut(reader, 0, "%llu bytes are fewer than any message has", ULL(size));
    }
    return read_root(reader, 0, root);
}

void leave_nested(Reader *reader, const Reader *outer)
{
    reader->base = outer->base;
    reader->end = outer->end;
    reader->origin = outer->origin;
    reader->skipped = outer->skipped;
    reader->segments = outer->segments;
    reader->is_away = outer->is_away;
    reader->at = outer->at;
}

void reader_end(Reader *reader)
{
    Py_CLEAR(reader->slices);
    Py_CLEAR(reader->reason);
    Py_CLEAR(reader->steps);
}
