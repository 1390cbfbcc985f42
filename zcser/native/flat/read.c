/* The steps of reading a message: its tables, vectors, strings, each checked. */
#include "read.h"

#define ULL(number) ((unsigned long long)(number))

const Node PLAIN_VECTOR = {.size = 4}, PLAIN_BYTES = {.op = OP_BYTES, .size = 4};

/* Whether vtables whose first 4 bytes are equal are so in all bytes. */
static inline bool is_same_vtable(const uint8_t *one, const uint8_t *other, uint32_t size)
{
    uint32_t at = 4;
    for (; at + 8 <= size; at += 8) {
        if (load_u64(one + at) != load_u64(other + at)) {
            return false;
        }
    }
    return load_u32(one + size - 4) == load_u32(other + size - 4)
           && (at + 4 > size || load_u32(one + at) == load_u32(other + at));
}

/* What is known of a vtable, if it lies in the message and was met before. */
static inline const Vtable *known_vtable(const Reader *reader, const Node *node, int64_t start)
{
    if (start < 0 || start & 1 || (uint64_t)start + 4 > reader->end) {
        return NULL;
    }
    const uint8_t *bytes = reader->base + start;
    uint32_t head = load_u32(bytes);
    uint64_t rest = reader->end - (uint64_t)start;
    for (const Vtable *vtable = LOAD_VTABLE(node->vtables); vtable != NULL; vtable = LOAD_VTABLE(vtable->next)) {
        if (vtable->head == head && vtable->extent.vtable_size <= rest
            && is_same_vtable(vtable->bytes, bytes, vtable->extent.vtable_size)) {
            return vtable;
        }
    }
    return NULL;
}

int read_table_at(Reader *reader, const Node *node, uint64_t at, TableAt *table)
{
    reader->at = at;
    if (at + 4 > reader->end) {
        return fault_cut(reader, at, "an offset leads past the end");
    }
    int64_t start = (int64_t)at - load_i32(reader->base + at);
    Extent fresh;
    const Vtable *known = known_vtable(reader, node, start);
    const Extent *extent = known == NULL ? &fresh : &known->extent;
    if (known == NULL && meet_vtable(reader, node, start, &fresh, &known)) {
        return -1;
    }
    if ((at & extent->mask) != extent->rest) {
        return fault(reader, at, "a table at byte %llu is not aligned", ULL(at));
    }
    if (at + extent->size > reader->end) {
        return fault_cut(reader, at, "a table of %u bytes leads past the end at %llu", (unsigned)extent->size,
                         ULL(reader->end));
    }
    reader->has_unknown |= extent->has_unknown;
    reader->bytes -= extent->size;
    if (reader->bytes < 0) {
        return overspent(reader, at);
    }
    *table = (TableAt){at, (uint64_t)start, extent->vtable_size, extent->size, known};
    return 0;
}

int read_offset(Reader *reader, uint64_t place, uint64_t *target)
{
    uint32_t offset = load_u32(reader->base + place);
    if (offset == 0) {
        return fault(reader, place, "an offset is 0");
    }
    if (place + offset + 4 > reader->end) {
        return fault_cut(reader, reader->at, "an offset leads past the end");
    }
    *target = place + offset;
    return 0;
}

static int fault_of_end(Reader *reader, uint64_t at, uint64_t stop)
{
    return fault_cut(reader, at, "a vector up to byte %llu leads past the end at %llu", ULL(stop), ULL(reader->end));
}

/* The vector or string at `at`, whose length has 4 bytes. */
static inline int read_length(Reader *reader, uint64_t at, uint32_t width, uint32_t after, uint64_t *first,
                              uint64_t *count)
{
    if (at & 3) {
        return fault(reader, at, "a vector at byte %llu is not aligned", ULL(at));
    }
    *first = at + 4;
    *count = load_u32(reader->base + at);
    uint64_t stop = *first + width * *count + after;
    if (stop > reader->end) {
        return fault_of_end(reader, at, stop);
    }
    reader->bytes -= (int64_t)(stop - at);
    return 0;
}

int read_short(Reader *reader, uint64_t at, uint32_t width, uint32_t after, uint64_t *first, uint64_t *count)
{
    return read_length(reader, at, width, after, first, count);
}

/* What the offset at a place leads to is a vector of `count` items and `after` bytes: whether it may stand there. */
static int read_sized(Reader *reader, const Node *node, uint64_t place, uint32_t width, uint32_t after, uint64_t *first,
                      uint64_t *count)
{
    uint64_t at = 0;
    if (reader->segments != NULL && may_stand_apart(node->op)) {
        return read_in_segments(reader, node, place, width, after, first, count);
    }
    if (node->is_far) {
        return read_far(reader, node, place, width, after, first, count);
    }
    return read_offset(reader, place, &at) ? -1 : read_length(reader, at, width, after, first, count);
}

/* The same as read_vector, of a vector that is far, or with which something is wrong. */
static int read_other_vector(Reader *reader, const Node *node, uint64_t place, uint32_t width, uint32_t align,
                             uint64_t *first, uint64_t *count)
{
    if (read_sized(reader, node, place, width, 0, first, count)) {
        return -1;
    }
    if (align > 4 && *count != 0 && (reader->is_away ? reader->origin + *first : *first) & (align - 1)) {
        return fault(reader, vector_at(node, *first), "a vector of %u-byte items is not aligned to %u bytes",
                     (unsigned)width, (unsigned)align);
    }
    return 0;
}

int read_vector(Reader *reader, const Node *node, uint64_t place, uint32_t width, uint32_t align, uint64_t *first,
                uint64_t *count)
{
    uint32_t offset = load_u32(reader->base + place);
    uint64_t at = place + offset;
    if (!node->is_far && offset != 0 && (at & 3) == 0 && at + 4 <= reader->end) {
        *first = at + 4;
        *count = load_u32(reader->base + at);
        uint64_t stop = *first + width * *count;
        if (stop <= reader->end && (align <= 4 || (*first & (align - 1)) == 0)) {
            reader->bytes -= (int64_t)(stop - at);
            return 0;
        }
    }
    return read_other_vector(reader, node, place, width, align, first, count);
}

int read_string(Reader *reader, const Node *node, uint64_t place, uint64_t *first, uint64_t *size)
{
    if (read_sized(reader, node, place, 1, 1, first, size)) {
        return -1;
    }
    if (reader->segments == NULL && reader->base[*first + *size] != 0) {
        return fault(reader, *first + *size, "a string has no terminator");
    }
    if (node->bound >= 0 && *size > (uint64_t)node->bound) {
        return fault(reader, AT(*first), "%llu bytes do not fit str[%zd]", ULL(*size), node->bound);
    }
    return 0;
}

int read_kind(Reader *reader, const Node *node, const TableAt *table, Slot slot)
{
    int kind = slot.kind_offset == 0 ? 0 : reader->base[table->at + slot.kind_offset];
    if (kind == 0 && slot.offset != 0) {
        return fault(reader, table->at, "a union has a value but no type");
    }
    if (kind != 0 && slot.offset == 0) {
        return fault(reader, table->at, "a union has a type but no value");
    }
    if (kind > node->option_count && node->op == OP_UNION) {
        return fault(reader, table->at, "%d is no option of the union", kind);
    }
    return kind;
}
