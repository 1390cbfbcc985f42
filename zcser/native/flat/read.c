/* The steps of reading a message: its tables, vectors, strings, each checked. */
#include "read.h"

#define ULL(number) ((unsigned long long)(number))

const Node PLAIN_VECTOR = {.size = 4}, PLAIN_BYTES = {.op = OP_BYTES, .size = 4};

/* What is gathered about a vtable on the way through its slots. */
typedef struct {
    uint64_t start;
    uint32_t count;      /* Slots that it has. */
    uint32_t next;       /* First of them that was not yet known to the node. */
    uint32_t inline_size;
    uint32_t mask;       /* What slots want of the table's position under it: `rest`. */
    uint32_t rest;
    bool is_torn;        /* Slots want several places. */
} Slots;

/* Refuse slots before `index` that the node does not have, where the options say so. */
static int check_unknown(Reader *reader, Slots *slots, uint32_t index)
{
    if (reader->refuse_unknown) {
        for (; slots->next < slots->count && slots->next < index; slots->next++) {
            if (load_u16(reader->base + slots->start + 4 + 2 * slots->next) != 0) {
                return fault(reader, slots->start, "a field is not in the schema, and unknown_fields is 'refuse'");
            }
        }
        slots->next = index + 1;
    }
    return 0;
}

static int bad_slot(Reader *reader, uint64_t place, uint32_t offset, uint32_t index, uint32_t align)
{
    if (offset < 4) {
        return fault(reader, place, "slot %u lies outside its table", (unsigned)index);
    }
    return fault(reader, place, "slot %u is not aligned to %u bytes", (unsigned)index, (unsigned)align);
}

/* Note where a slot that is aligned to more than 4 bytes wants its table. */
static inline void want_place(Slots *slots, uint32_t offset, uint32_t align)
{
    uint32_t mask = align - 1, rest = (0 - offset) & mask, shared = mask & slots->mask;
    slots->is_torn = slots->is_torn || (rest & shared) != (slots->rest & shared);
    slots->rest = mask > slots->mask ? rest : slots->rest;
    slots->mask = mask > slots->mask ? mask : slots->mask;
}

static inline int check_slot(Reader *reader, Slots *slots, uint32_t index, uint32_t size, uint32_t align)
{
    if (index >= slots->count) {
        return 0;
    }
    uint64_t place = slots->start + 4 + 2 * index;
    uint32_t offset = load_u16(reader->base + place);
    if (offset == 0) {
        return 0;
    }
    if (offset < 4 || offset & 3 & (align - 1)) {
        return bad_slot(reader, place, offset, index, align);
    }
    if (offset + size > slots->inline_size) {
        /* The official Python builder before 25.12.19 has tables of several sizes share a vtable with one's size. */
        slots->inline_size = offset + size;
    }
    if (align > 4) {
        want_place(slots, offset, align);
    }
    return 0;
}

static int check_slots(Reader *reader, const Node *node, Slots *slots)
{
    if (node->op == OP_TENSOR) {
        return check_slot(reader, slots, 0, 1, 1) || check_slot(reader, slots, 1, 4, 4)
               || check_slot(reader, slots, 2, 4, 4);
    }
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        const Place *place = &node->places[position];
        if (place->kind_size != 0
            && check_slot(reader, slots, place->index - 1u, place->kind_size, place->kind_size)) {
            return -1;
        }
        if (check_slot(reader, slots, place->index, place->size, place->align)) {
            return -1;
        }
    }
    return 0;
}

static int check_all_known(Reader *reader, const Node *node, Slots *slots)
{
    if (node->op == OP_TENSOR) {
        slots->next = 3;
    }
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        const Place *place = &node->places[position];
        if (check_unknown(reader, slots, place->index - (place->kind_size != 0 ? 1u : 0u))) {
            return -1;
        }
        slots->next = place->index + 1u;
    }
    return check_unknown(reader, slots, UINT16_MAX);
}

/* Check a vtable for a node. */
static int check_vtable(Reader *reader, const Node *node, int64_t start, CheckedVtable *checked)
{
    if (start < 0 || start & 1) {
        return fault(reader, start < 0 ? 0 : (uint64_t)start, "a vtable would start at byte %lld", (long long)start);
    }
    uint64_t at = (uint64_t)start;
    if (at + 4 > reader->end) {
        return fault_cut(reader, at, "a vtable leads past the end");
    }
    uint32_t size = load_u16(reader->base + at);
    if (size < 4 || size & 1) {
        return fault(reader, at, "a vtable has %u bytes", (unsigned)size);
    }
    if (at + size > reader->end) {
        return fault_cut(reader, at, "a vtable of %u bytes leads past the end", (unsigned)size);
    }
    Slots slots = {.start = at, .count = (size - 4) / 2, .inline_size = load_u16(reader->base + at + 2), .mask = 3};
    if (slots.inline_size < 4) {
        return fault(reader, at + 2, "a table has %u bytes", (unsigned)slots.inline_size);
    }
    if (check_slots(reader, node, &slots)) {
        return -1;
    }
    if (slots.is_torn) {
        return fault(reader, at, "slots of 8 bytes and more are not aligned to each other");
    }
    if (reader->refuse_unknown && check_all_known(reader, node, &slots)) {
        return -1;
    }
    *checked = (CheckedVtable){node, at, size, slots.inline_size, slots.mask, slots.rest};
    return 0;
}

int read_table_at(Reader *reader, const Node *node, uint64_t at, TableAt *table)
{
    reader->at = at;
    if (at + 4 > reader->end) {
        return fault_cut(reader, at, "an offset leads past the end");
    }
    int64_t start = (int64_t)at - load_i32(reader->base + at);
    CheckedVtable fresh = {.node = NULL};
    CheckedVtable *checked = &fresh;
    if (reader->checked != NULL) {
        checked = &reader->checked[(((uint64_t)start >> 1) ^ node->table) % CHECKED_VTABLES];
    }
    if ((checked->node != node || checked->vtable != (uint64_t)start) && check_vtable(reader, node, start, checked)) {
        return -1;
    }
    if ((at & checked->mask) != checked->rest) {
        return fault(reader, at, "a table at byte %llu is not aligned", ULL(at));
    }
    if (at + checked->size > reader->end) {
        return fault_cut(reader, at, "a table of %u bytes leads past the end at %llu", (unsigned)checked->size,
                         ULL(reader->end));
    }
    reader->bytes -= checked->size;
    if (reader->bytes < 0) {
        return overspent(reader, at);
    }
    *table = (TableAt){at, checked->vtable, checked->vtable_size, checked->size};
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

int read_vector(Reader *reader, const Node *node, uint64_t place, uint32_t width, uint32_t align, uint64_t *first,
                uint64_t *count)
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

int read_kind(Reader *reader, const Node *node, const TableAt *table, uint32_t index)
{
    int kind_offset = slot_within(reader, table, index - 1, 1);
    int offset = slot_within(reader, table, index, 4);
    if (kind_offset < 0 || offset < 0) {
        return -1;
    }
    int kind = kind_offset == 0 ? 0 : reader->base[table->at + (uint64_t)kind_offset];
    if (kind == 0 && offset != 0) {
        return fault(reader, table->at, "a union has a value but no type");
    }
    if (kind != 0 && offset == 0) {
        return fault(reader, table->at, "a union has a type but no value");
    }
    if (kind > node->option_count && node->op == OP_UNION) {
        return fault(reader, table->at, "%d is no option of the union", kind);
    }
    return kind;
}
