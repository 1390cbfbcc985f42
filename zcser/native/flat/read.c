/* The steps of reading a message: its root, tables, vectors, strings, each checked. */
#include "read.h"

#define SMALLEST 12 /* Bytes of the smallest message: the root's offset, a table without fields, its vtable. */

/* The bytes of a message, each counted as often as it is reached, may be the first and the second times its size. */
#define AMPLIFICATION_BASE ((int64_t)1 << 20)
#define AMPLIFICATION_FACTOR 16

#define ULL(number) ((unsigned long long)(number))

int reader_begin(Reader *reader, Engine *engine, const uint8_t *base, Py_ssize_t size, PyObject *source, bool copy,
                 uint64_t *root)
{
    *reader = (Reader){
        .engine = engine,
        .base = base,
        .end = (uint64_t)size,
        .source = source,
        .copy = copy,
        .is_stable = PyBytes_CheckExact(source),
        .elements = engine->elements,
    };
    if (size > engine->bytes) {
        return fault_of_all(reader, NOWHERE, false, "%zd bytes are more than limits.bytes = %zd", size, engine->bytes);
    }
    if (size < SMALLEST) {
        return fault_of_all(reader, reader->end, true, "%zd bytes are fewer than any message has", size);
    }
    reader->bytes = AMPLIFICATION_BASE + AMPLIFICATION_FACTOR * (int64_t)size;
    uint32_t at = load_u32(base);
    if (at < 4 || at & 3) {
        return fault(reader, 0, "the root would be at byte %u", (unsigned)at);
    }
    if ((uint64_t)at + 4 > reader->end) {
        return fault_cut(reader, 0, "the root at byte %u is past the end", (unsigned)at);
    }
    *root = at;
    return 0;
}

void reader_end(Reader *reader)
{
    Py_CLEAR(reader->slices);
    Py_CLEAR(reader->reason);
    Py_CLEAR(reader->steps);
}

/* What is gathered about a vtable on the way through its slots. */
typedef struct {
    uint64_t start;
    uint32_t count;      /* Slots that it has. */
    uint32_t next;       /* First of them that was not yet known to the node. */
    uint32_t inline_size;
    uint32_t residue;    /* Where 8-byte slots want their tables, modulo 8; 8: nowhere yet. */
    bool is_torn;        /* 8-byte slots want several places. */
} Slots;

/* Refuse slots before `index` that the node does not have, where the options say so. */
static int check_unknown(Reader *reader, Slots *slots, uint32_t index)
{
    if (reader->engine->refuse_unknown) {
        for (; slots->next < slots->count && slots->next < index; slots->next++) {
            if (load_u16(reader->base + slots->start + 4 + 2 * slots->next) != 0) {
                return fault(reader, slots->start, "a field is not in the schema, and unknown_fields is 'refuse'");
            }
        }
        slots->next = index + 1;
    }
    return 0;
}

static int check_slot(Reader *reader, Slots *slots, uint32_t index, uint32_t size)
{
    if (index >= slots->count) {
        return 0;
    }
    uint64_t place = slots->start + 4 + 2 * index;
    uint32_t offset = load_u16(reader->base + place);
    if (offset == 0) {
        return 0;
    }
    if (offset < 4) {
        return fault(reader, place, "slot %u lies outside its table", (unsigned)index);
    }
    if (offset + size > slots->inline_size) {
        /* The official Python builder before 25.12.19 has tables of several sizes share a vtable with one's size. */
        slots->inline_size = offset + size;
    }
    if (offset & ((size < 4 ? size : 4) - 1)) {
        return fault(reader, place, "slot %u is not aligned to %u bytes", (unsigned)index, (unsigned)size);
    }
    if (size == 8) {
        uint32_t residue = (8 - (offset & 7)) & 7;
        slots->is_torn = slots->is_torn || (slots->residue != 8 && slots->residue != residue);
        slots->residue = residue;
    }
    return 0;
}

static int check_slots(Reader *reader, const Node *node, Slots *slots)
{
    if (node->op == OP_TENSOR) {
        return check_slot(reader, slots, 0, 1) || check_slot(reader, slots, 1, 4) || check_slot(reader, slots, 2, 4);
    }
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        const Place *place = &node->places[position];
        if (reader->engine->nodes[place->node].op == OP_UNION && check_slot(reader, slots, place->index - 1u, 1)) {
            return -1;
        }
        if (check_slot(reader, slots, place->index, place->size)) {
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
        bool is_union = reader->engine->nodes[place->node].op == OP_UNION;
        if (check_unknown(reader, slots, place->index - (is_union ? 1u : 0u))) {
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
    Slots slots = {.start = at, .count = (size - 4) / 2, .inline_size = load_u16(reader->base + at + 2), .residue = 8};
    if (slots.inline_size < 4) {
        return fault(reader, at + 2, "a table has %u bytes", (unsigned)slots.inline_size);
    }
    if (check_slots(reader, node, &slots)) {
        return -1;
    }
    if (slots.is_torn) {
        return fault(reader, at, "slots of 8 bytes are not aligned to each other");
    }
    if (reader->engine->refuse_unknown && check_all_known(reader, node, &slots)) {
        return -1;
    }
    bool is_wide = slots.residue != 8;
    *checked = (CheckedVtable){node, at, size, slots.inline_size, is_wide ? 7 : 3, is_wide ? slots.residue : 0};
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

/* What the offset at a place leads to is a vector of `count` items, up to `stop`: whether it may stand there. */
static int read_sized(Reader *reader, uint64_t place, uint32_t width, uint32_t after, uint64_t *at, uint32_t *count)
{
    if (read_offset(reader, place, at)) {
        return -1;
    }
    if (*at & 3) {
        return fault(reader, *at, "a vector at byte %llu is not aligned", ULL(*at));
    }
    *count = load_u32(reader->base + *at);
    uint64_t stop = *at + 4 + (uint64_t)width * *count + after;
    if (stop > reader->end) {
        return fault_cut(reader, *at, "a vector up to byte %llu leads past the end at %llu", ULL(stop),
                         ULL(reader->end));
    }
    reader->bytes -= (int64_t)(stop - *at);
    return 0;
}

int read_vector(Reader *reader, uint64_t place, uint32_t width, uint64_t *first, uint32_t *count)
{
    uint64_t at = 0;
    if (read_sized(reader, place, width, 0, &at, count)) {
        return -1;
    }
    *first = at + 4;
    if (width == 8 && *count != 0 && *first & 7) {
        return fault(reader, at, "a vector of 8-byte items is not aligned");
    }
    return 0;
}

int read_string(Reader *reader, const Node *node, uint64_t place, uint64_t *first, uint32_t *size)
{
    uint64_t at = 0;
    if (read_sized(reader, place, 1, 1, &at, size)) {
        return -1;
    }
    *first = at + 4;
    if (reader->base[*first + *size] != 0) {
        return fault(reader, *first + *size, "a string has no terminator");
    }
    if (node->bound >= 0 && *size > node->bound) {
        return fault(reader, at, "%u bytes do not fit str[%zd]", (unsigned)*size, node->bound);
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
    if (kind > node->option_count) {
        return fault(reader, table->at, "%d is no option of the union", kind);
    }
    return kind;
}
