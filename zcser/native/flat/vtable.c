/* Vtables of messages: checked, and remembered by the engine.

   1. What is remembered was checked in a copy, as the message may change meanwhile.
   2. Only a table that may have this vtable whatever its values are is remembered: none that lacks what is required.
   3. The first few of a node are kept for as long as the engine is; there is no more room then, and others are checked
      again for each table. So nobody's messages can take the room of those that came before, or use up memory. */
#include "read.h"

/* What is gathered about a vtable on the way through its slots. */
typedef struct {
    const uint8_t *bytes; /* The vtable, or a copy of it. */
    uint64_t start;       /* Its place in the message. */
    uint32_t count;      /* Slots that it has. */
    uint32_t next;       /* First of them that was not yet known to the node. */
    uint32_t inline_size;
    uint32_t mask;       /* What slots want of the table's position under it: `rest`. */
    uint32_t rest;
    bool is_torn;        /* Slots want several places. */
    bool has_unknown;
} Slots;

/* Note slots before `index` that the node does not have. */
static void note_unknown(Slots *slots, uint32_t index)
{
    for (; slots->next < slots->count && slots->next < index; slots->next++) {
        slots->has_unknown = slots->has_unknown || load_u16(slots->bytes + 4 + 2 * slots->next) != 0;
    }
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
    uint32_t offset = load_u16(slots->bytes + 4 + 2 * index);
    if (offset == 0) {
        return 0;
    }
    if (offset < 4 || offset & 3 & (align - 1)) {
        return bad_slot(reader, slots->start + 4 + 2 * index, offset, index, align);
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

/* Note whether there are slots that the node does not have, and refuse them where the options say so. */
static int check_unknown(Reader *reader, const Node *node, Slots *slots)
{
    if (node->op == OP_TENSOR) {
        slots->next = 3;
    }
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        const Place *place = &node->places[position];
        note_unknown(slots, place->index - (place->kind_size != 0 ? 1u : 0u));
        slots->next = place->index + 1u;
    }
    note_unknown(slots, UINT16_MAX);
    return slots->has_unknown && reader->engine->refuse_unknown
               ? fault(reader, slots->start, "a field is not in the schema, and unknown_fields is 'refuse'")
               : 0;
}

/* Check the slots of a vtable of `size` bytes for a node. */
static int check_vtable(Reader *reader, const Node *node, const uint8_t *bytes, uint64_t start, uint32_t size,
                        Extent *extent)
{
    Slots slots = {
        .bytes = bytes, .start = start, .count = (size - 4) / 2, .inline_size = load_u16(bytes + 2), .mask = 3};
    if (slots.inline_size < 4) {
        return fault(reader, start + 2, "a table has %u bytes", (unsigned)slots.inline_size);
    }
    if (check_slots(reader, node, &slots)) {
        return -1;
    }
    if (slots.is_torn) {
        return fault(reader, start, "slots of 8 bytes and more are not aligned to each other");
    }
    if (check_unknown(reader, node, &slots)) {
        return -1;
    }
    *extent = (Extent){size, slots.inline_size, slots.mask, slots.rest, slots.has_unknown};
    return 0;
}

/* The end of a node's list of vtables; NULL: there is no room for more. */
static Vtable **end_of_vtables(Node *node)
{
    Vtable **link = &node->vtables;
    for (int count = 0; count < MOST_VTABLES; count++) {
        Vtable *vtable = LOAD_VTABLE(*link);
        if (vtable == NULL) {
            return link;
        }
        link = &vtable->next;
    }
    return NULL;
}

/* A copy of a vtable, with room for what follows from it; NULL, without an exception: there is no memory. */
static Vtable *copy_vtable(const Node *node, const uint8_t *bytes, uint32_t size)
{
    size_t count = (size_t)node->place_count;
    Vtable *copy = PyMem_Malloc(sizeof *copy + count * (sizeof(Slot) + sizeof(uint16_t)) + size);
    if (copy != NULL) {
        Slot *slots = (Slot *)(copy + 1);
        uint16_t *checks = (uint16_t *)(slots + count);
        uint8_t *own = (uint8_t *)(checks + count);
        memcpy(own, bytes, size);
        *copy = (Vtable){.node = node, .slots = slots, .checks = checks, .bytes = own};
    }
    return copy;
}

/* The offset of a slot of a copy. */
static uint16_t copied_slot(const Vtable *vtable, uint32_t index)
{
    uint32_t entry = 4 + 2 * index;
    return entry + 2 <= vtable->extent.vtable_size ? load_u16(vtable->bytes + entry) : 0;
}

/* Note where the places of a node stand; false: a table lacks one that is required. */
static bool note_slots(const Engine *engine, Vtable *vtable)
{
    const Node *node = vtable->node;
    Slot *slots = (Slot *)vtable->slots;
    uint16_t *checks = (uint16_t *)vtable->checks;
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        const Place *place = &node->places[position];
        Slot *slot = &slots[position];
        slot->offset = copied_slot(vtable, place->index);
        slot->kind_offset = place->kind_size == 0 ? 0 : copied_slot(vtable, place->index - 1u);
        if (slot->offset != 0 || slot->kind_offset != 0) {
            if (engine->nodes[place->node].op >= OP_ENUM) {
                checks[vtable->check_count++] = (uint16_t)position;
            }
        } else if (place->missing == MISSING_REFUSED) {
            return false;
        }
    }
    return true;
}

/* Add a vtable, which is taken over; what is known then, or NULL where there is no room. */
static const Vtable *keep_vtable(Engine *engine, Node *node, Vtable *vtable)
{
    Vtable **end;
    (void)engine; /* With the GIL. */
    Py_BEGIN_CRITICAL_SECTION(engine);
    end = end_of_vtables(node);
    if (end != NULL) {
        STORE_VTABLE(*end, vtable);
    }
    Py_END_CRITICAL_SECTION();
    if (end == NULL) {
        PyMem_Free(vtable);
        return NULL;
    }
    return vtable;
}

int meet_vtable(Reader *reader, const Node *met, int64_t start, Extent *extent, const Vtable **known)
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
    Node *node = &reader->engine->nodes[met - reader->engine->nodes];
    Vtable *copy = end_of_vtables(node) == NULL ? NULL : copy_vtable(node, reader->base + at, size);
    if (check_vtable(reader, node, copy == NULL ? reader->base + at : copy->bytes, at, size, extent)) {
        PyMem_Free(copy);
        return -1;
    }
    *known = NULL;
    if (copy != NULL) {
        copy->extent = *extent;
        copy->head = load_u32(copy->bytes);
        if ((uint16_t)copy->head == size && note_slots(reader->engine, copy)) {
            *known = keep_vtable(reader->engine, node, copy);
        } else {
            PyMem_Free(copy);
        }
    }
    return 0;
}

void forget_vtables(Node *node)
{
    for (Vtable *vtable = node->vtables; vtable != NULL;) {
        Vtable *next = vtable->next;
        PyMem_Free(vtable);
        vtable = next;
    }
    node->vtables = NULL;
}
