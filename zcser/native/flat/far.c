/* Vectors and strings that an offset of 8 bytes leads to, and vectors whose length has 8 bytes. */
#include "read.h"

#define ULL(number) ((unsigned long long)(number))

static int read_wide_offset(Reader *reader, uint64_t place, uint64_t *target)
{
    uint64_t offset = load_u64(reader->base + place);
    if (offset == 0) {
        return fault(reader, place, "an offset is 0");
    }
    if (offset > reader->end || place + offset + 4 > reader->end) {
        return fault_cut(reader, reader->at, "an offset leads past the end");
    }
    *target = place + offset;
    return 0;
}

static int read_long(Reader *reader, uint64_t at, uint32_t width, uint64_t *first, uint64_t *count)
{
    *first = at + 8;
    if (*first > reader->end) {
        return fault_cut(reader, reader->at, "an offset leads past the end");
    }
    if (at & 7) {
        return fault(reader, at, "a vector at byte %llu is not aligned", ULL(at));
    }
    *count = load_u64(reader->base + at);
    if (*count > (reader->end - *first) / width) {
        return fault_cut(reader, at, "a vector of %llu items leads past the end at %llu", ULL(*count),
                         ULL(reader->end));
    }
    reader->bytes -= (int64_t)(8 + width * *count);
    return 0;
}

int read_far(Reader *reader, const Node *node, uint64_t place, uint32_t width, uint32_t after, uint64_t *first,
             uint64_t *count)
{
    uint64_t at = 0;
    if (node->size == 8 ? read_wide_offset(reader, place, &at) : read_offset(reader, place, &at)) {
        return -1;
    }
    return node->has_long_length ? read_long(reader, at, width, first, count)
                                 : read_short(reader, at, width, after, first, count);
}
