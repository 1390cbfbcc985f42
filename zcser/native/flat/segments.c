/* Messages that come in segments, and what of them stands in another segment than the first.

   1. The segments follow each other: every place is counted as in the message that they would be together. Each vector
      and string has its length in one segment and its data in one, that one or the next; all else stands in the first.
      What lies otherwise is refused.
   2. A reader is in the first segment, whose bytes alone it reaches. Where it comes to a vector that stands elsewhere,
      it goes there, and goes back when that was read: see leave_segment.
   3. What is refused, and in which words, is the same as in zcser/flat/segments.py. */
#include "read.h"

#define ULL(number) ((unsigned long long)(number))

/* Take over a source: bytes, or a memoryview of bytes. */
static int set_segment(Segment *segment, PyObject *source)
{
    segment->source = Py_NewRef(source);
    if (PyBytes_CheckExact(source)) {
        segment->base = (const uint8_t *)PyBytes_AS_STRING(source);
        segment->size = (uint64_t)PyBytes_GET_SIZE(source);
        return 0;
    }
    segment->pin = PyMemoryView_FromObject(source);
    if (segment->pin == NULL) {
        return -1;
    }
    segment->base = PyMemoryView_GET_BUFFER(segment->pin)->buf;
    segment->size = (uint64_t)PyMemoryView_GET_BUFFER(segment->pin)->len;
    return 0;
}

Segments *segments_new(Engine *engine, PyObject *given)
{
    PyObject *sources = PyObject_CallOneArg(engine->segment_views, given);
    if (sources == NULL) {
        return NULL;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(sources);
    Segments *self = PyMem_Calloc(1, sizeof *self + (size_t)count * sizeof *self->items);
    if (self == NULL) {
        Py_DECREF(sources);
        PyErr_NoMemory();
        return NULL;
    }
    self->count = count;
    for (Py_ssize_t index = 0; index < count; index++) {
        Segment *segment = &self->items[index];
        if (set_segment(segment, PyTuple_GET_ITEM(sources, index))) {
            segments_free(self);
            self = NULL;
            break;
        }
        segment->start = self->total;
        self->total += segment->size;
    }
    Py_DECREF(sources);
    return self;
}

void segments_free(Segments *segments)
{
    for (Py_ssize_t index = 0; segments != NULL && index < segments->count; index++) {
        Py_XDECREF(segments->items[index].source);
        Py_XDECREF(segments->items[index].pin);
    }
    PyMem_Free(segments);
}

int segments_traverse(const Segments *segments, visitproc visit, void *arg)
{
    for (Py_ssize_t index = 0; index < segments->count; index++) {
        Py_VISIT(segments->items[index].source);
        Py_VISIT(segments->items[index].pin);
    }
    return 0;
}

/* The last segment that begins at or before a place, which those without bytes at the same place come before. */
static Segment *segment_at(Segments *segments, uint64_t place)
{
    Py_ssize_t low = 0, high = segments->count;
    while (high - low > 1) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (segments->items[middle].start <= place) {
            low = middle;
        } else {
            high = middle;
        }
    }
    return &segments->items[low];
}

static Segment *reach(Reader *reader, uint64_t place)
{
    Segment *segment = segment_at(reader->segments, place);
    if (reader->notes_reached) { /* No view is there yet, nor another thread. */
        segment->is_reached = true;
    }
    return segment;
}

static void enter(Reader *reader, const Segment *segment)
{
    reader->base = segment->base;
    reader->end = segment->size;
    reader->origin = segment->start;
    reader->source = segment->source;
    reader->skipped = 0;
    reader->is_stable = PyBytes_CheckExact(segment->source);
    Py_CLEAR(reader->slices);
}

static void go_away(Reader *reader, const Segment *segment)
{
    enter(reader, segment);
    reader->at -= reader->origin; /* Of the first segment: it may wrap around, and so does what is added to it. */
    reader->is_away = true;
}

void return_home(Reader *reader)
{
    reader->at += reader->origin;
    reader->is_away = false;
    enter(reader, &reader->segments->items[0]);
}

/* Follow the offset at a place to the length of a vector, all of which lies in the message. */
static int find_length(Reader *reader, const Node *node, uint64_t place, uint32_t size, uint64_t *at)
{
    uint64_t total = reader->segments->total;
    uint64_t offset = node->size == 8 ? load_u64(reader->base + place) : load_u32(reader->base + place);
    if (offset == 0) {
        return fault(reader, place, "an offset is 0");
    }
    if (offset > total || place + offset + size > total) {
        return fault_cut(reader, reader->at, "an offset leads past the end");
    }
    *at = place + offset;
    return *at & (size - 1) ? fault(reader, *at, "a vector at byte %llu is not aligned", ULL(*at)) : 0;
}

/* Whether a vector of `count` items and `after` bytes, whose length takes `size` bytes, ends in the message. */
static int check_end(Reader *reader, uint64_t at, uint32_t size, uint32_t width, uint32_t after, uint64_t count)
{
    uint64_t total = reader->segments->total, rest = total - at - size;
    if (count <= rest / width && width * count + after <= rest) {
        reader->bytes -= (int64_t)(size + width * count + after);
        return 0;
    }
    if (size == 8) {
        return fault_cut(reader, at, "a vector of %llu items leads past the end at %llu", ULL(count), ULL(total));
    }
    return fault_cut(reader, at, "a vector up to byte %llu leads past the end at %llu",
                     ULL(at + size + width * count + after), ULL(total));
}

int read_in_segments(Reader *reader, const Node *node, uint64_t place, uint32_t width, uint32_t after, uint64_t *first,
                     uint64_t *count)
{
    uint32_t size = node->has_long_length ? 8 : 4;
    uint64_t at = 0;
    if (find_length(reader, node, place, size, &at)) {
        return -1;
    }
    const Segment *segment = reach(reader, at);
    uint64_t local = at - segment->start;
    if (segment->size - local < size) {
        return fault(reader, at, "the length of the vector at byte %llu crosses segments", ULL(at));
    }
    *count = size == 8 ? load_u64(segment->base + local) : load_u32(segment->base + local);
    if (check_end(reader, at, size, width, after, *count)) {
        return -1;
    }
    uint64_t start = at + size, stop = start + width * *count;
    if (start != stop && start == segment->start + segment->size) {
        segment = reach(reader, start);
    }
    if (stop > segment->start + segment->size) {
        return fault(reader, at, "the vector at byte %llu crosses segments: one of them is missing, or cut", ULL(at));
    }
    if (after != 0) {
        const Segment *last = reach(reader, stop);
        if (last->base[stop - last->start] != 0) {
            return fault(reader, stop, "a string has no terminator");
        }
    }
    if (segment != &reader->segments->items[0]) {
        go_away(reader, segment);
    }
    *first = start - segment->start;
    return 0;
}

int check_reached(Reader *reader)
{
    for (Py_ssize_t index = 1; !reader->has_unknown && index < reader->segments->count; index++) {
        const Segment *segment = &reader->segments->items[index];
        if (!segment->is_reached) {
            return fault_of_all(reader, segment->start, false,
                                "nothing in the message leads to segment %zd, of %llu bytes", index,
                                ULL(segment->size));
        }
    }
    return 0;
}
