/* Reading a message with every step checked: what the decoder, the verifier and the views share.

   The rules are those of zcser/flat/verify.py, and a message that one refuses the other refuses. */
#ifndef ZCSER_FLAT_READ_H
#define ZCSER_FLAT_READ_H

#include "flat.h"

/* How far the tables of a vtable reach, and what else its bytes tell of all of them. */
typedef struct {
    uint32_t vtable_size;
    uint32_t size;           /* Bytes that a table reaches at least. */
    uint32_t mask;           /* What a table's position must be under it: `rest`. */
    uint32_t rest;
    bool has_unknown;        /* They have a field that is not in the schema. */
} Extent;

/* Where a place stands in a table; 0: the table lacks it. */
typedef struct {
    uint16_t offset;
    uint16_t kind_offset;    /* Of the slot before, if the place has one. */
} Slot;

/* A vtable that was found right for a node, and what follows from its bytes alone. Messages of a schema have few of
   them: a table whose vtable has the same bytes needs no second look at its slots. */
struct Vtable {
    Vtable *next;
    const Node *node;
    Extent extent;
    uint32_t head;           /* Its first 4 bytes. */
    uint32_t check_count;
    const Slot *slots;       /* By place. */
    const uint16_t *checks;  /* Places that it has whose values have to be looked at where a message is checked. */
    const uint8_t *bytes;
};

/* Vtables that are remembered of a node. */
#define MOST_VTABLES 16

/* Without the GIL, a list of vtables is gone through while another thread adds to it. */
#ifdef Py_GIL_DISABLED
#define LOAD_VTABLE(link) ((Vtable *)_Py_atomic_load_ptr_acquire(&(link)))
#define STORE_VTABLE(link, vtable) _Py_atomic_store_ptr_release(&(link), vtable)
#else
#define LOAD_VTABLE(link) (link)
#define STORE_VTABLE(link, vtable) ((link) = (vtable))
#endif

/* One of the buffers that a message comes in. */
typedef struct {
    const uint8_t *base;
    uint64_t start;          /* Where it begins in the message. */
    uint64_t size;
    PyObject *source;        /* As a reader has it; owned. */
    PyObject *pin;           /* Of a source other than bytes: a memoryview that nobody else has or releases; owned. */
    bool is_reached;         /* Something leads there. */
} Segment;

/* All of them, in order. */
typedef struct {
    uint64_t total;          /* Bytes of the message. */
    Py_ssize_t count;        /* 1 at least. */
    Segment items[];
} Segments;

/* A message at work, and what is wrong with it. */
typedef struct {
    Engine *engine;
    const uint8_t *base;
    uint64_t end;            /* Bytes of the message. */
    uint64_t origin;         /* Of a nested message: where it begins in the outermost one, which `source` holds. */
    PyObject *source;        /* Borrowed: what arrays and slices are made of: bytes, or a read-only memoryview. */
    uint64_t skipped;        /* Bytes of it before `base`. */
    PyObject *slices;        /* A memoryview of `source`, made when first needed; owned. */
    Segments *segments;      /* Borrowed. NULL: the message is whole; those that are nested in another always are. */
    bool copy;               /* Bytes and tensors are copied out. */
    bool is_stable;          /* The message cannot change while it is read. */
    bool has_unknown;        /* A field that is not in the schema was met. */
    bool notes_reached;      /* Segments that something leads to are marked. */
    bool is_away;            /* In another segment than the first, which all that concerns the message above is of. */
    uint64_t at;             /* Table at work: offsets past the end, and strings that are no UTF-8, are blamed on it. */
    int64_t elements;        /* Left, of limits.elements. */
    int64_t bytes;           /* Left, of what a message of this size may show. */
    Py_ssize_t depth;        /* Records, lists and maps around the place at work, where the schema is recursive. */
    /* The fault. */
    PyObject *reason;        /* NULL: none. */
    uint64_t offset;         /* NOWHERE: of no place in the message. */
    bool is_cut;
    PyObject *steps;         /* List of names and indices, from the inside out; None: of no path; NULL: empty. */
} Reader;

/* A table: its place, its vtable, and how far it reaches. */
typedef struct {
    uint64_t at;
    uint64_t vtable;
    uint32_t vtable_size;
    uint32_t size;
    const Vtable *known;     /* NULL: its slots are looked up one by one. */
} TableAt;

#define NOWHERE UINT64_MAX

/* Set the fault and return -1. Offsets are those of the message at work. The format is PyUnicode_FromFormat's. */
int fault(Reader *reader, uint64_t offset, const char *format, ...);
int fault_cut(Reader *reader, uint64_t offset, const char *format, ...);

/* The same of the message as a whole: no step of a path is added to it. */
int fault_of_all(Reader *reader, uint64_t offset, bool is_cut, const char *format, ...);

/* Say which of the bounds of the message was passed, and return -1. */
int overspent(Reader *reader, uint64_t offset);

/* The exception that is set, which is no longer set then; NULL: none is. New reference. */
PyObject *take_exception(void);

/* Add a step to the path of a fault, outwards. */
void step_name(Reader *reader, PyObject *name);
void step_item(Reader *reader, Py_ssize_t index);

/* Raise what the reader's fault, or else the exception that is set, means for the user. NULL; clears the fault. */
PyObject *raise_fault(Reader *reader);

/* Begin with a message: checks its size, prefix and identifier, and finds the root. The reader is to be given back with
   reader_end. */
int reader_begin(Reader *reader, Engine *engine, const uint8_t *base, Py_ssize_t size, PyObject *source, bool copy,
                 uint64_t *root);
int reader_begin_segments(Reader *reader, Engine *engine, Segments *segments, bool copy, uint64_t *root);
void reader_end(Reader *reader);

/* Go into the nested message of some bytes, and find its root: `outer` is for leave_nested, which is to follow in any
   case. */
int enter_nested(Reader *reader, uint64_t first, uint64_t size, Reader *outer, uint64_t *root);
void leave_nested(Reader *reader, const Reader *outer);

/* vtable.c: check a vtable that is not known. It is afterwards, if it can be, or else `known` is NULL. */
int meet_vtable(Reader *reader, const Node *node, int64_t start, Extent *extent, const Vtable **known);

/* Find a table of a node at a place: checks its vtable and every slot's place, and counts its bytes. */
int read_table_at(Reader *reader, const Node *node, uint64_t at, TableAt *table);

/* Offset of a slot in its table; 0: the table lacks it. */
static inline uint32_t slot_of(const Reader *reader, const TableAt *table, uint32_t index)
{
    uint32_t entry = 4 + 2 * index;
    return entry + 2 <= table->vtable_size ? load_u16(reader->base + table->vtable + entry) : 0;
}

/* The fault that a message in a mutable buffer did not stay as it was checked. */
int fault_of_change(Reader *reader, uint64_t offset);

/* The same, checked against the table's end: a message may change after its vtable was checked. -1 with a fault. */
static inline int slot_within(Reader *reader, const TableAt *table, uint32_t index, uint32_t size)
{
    uint32_t offset = slot_of(reader, table, index);
    return offset != 0 && offset + size > table->size ? fault_of_change(reader, table->at) : (int)offset;
}

/* Follow the offset at a place (which lies in the message) to something that begins with 4 bytes of its own. */
int read_offset(Reader *reader, uint64_t place, uint64_t *target);

/* The vector that the offset at `place` leads to, of items of `width` bytes, the first at a multiple of `align`; counts
   its bytes. Of `node` only the widths of offset and length matter, and whether the items may stand in a segment of
   their own: then the reader may be in that one afterwards, whatever came of it, and leave_segment is to follow. */
int read_vector(Reader *reader, const Node *node, uint64_t place, uint32_t width, uint32_t align, uint64_t *first,
                uint64_t *count);

/* read_vector and read_string of a node that is far, up to the vector's length, whose string ends with `after` bytes;
   and of any vector at `at` whose length has 4 bytes. */
int read_far(Reader *reader, const Node *node, uint64_t place, uint32_t width, uint32_t after, uint64_t *first,
             uint64_t *count);
int read_short(Reader *reader, uint64_t at, uint32_t width, uint32_t after, uint64_t *first, uint64_t *count);

/* Of a vector whose offset and length have 4 bytes; and of one that may stand in a segment of its own. */
extern const Node PLAIN_VECTOR, PLAIN_BYTES;

/* The string that the offset at `place` leads to; counts its bytes. Its UTF-8 is not looked at. leave_segment is to
   follow. */
int read_string(Reader *reader, const Node *node, uint64_t place, uint64_t *first, uint64_t *size);

/* The same, if offset and length have 4 bytes and nothing is wrong; else false, and read_string says what is. Counts
   nothing. */
static inline bool find_string(const Reader *reader, const Node *node, uint64_t place, uint64_t *first, uint64_t *size)
{
    uint32_t offset = load_u32(reader->base + place);
    uint64_t at = place + offset;
    if (node->is_far || offset == 0 || at & 3 || at + 4 > reader->end) {
        return false;
    }
    *first = at + 4;
    *size = load_u32(reader->base + at);
    return *first + *size < reader->end && reader->base[*first + *size] == 0
           && (node->bound < 0 || *size <= (uint64_t)node->bound);
}

/* Whether bytes are UTF-8 as Python has it. */
bool is_utf8(const uint8_t *bytes, size_t size);

/* The str of bytes that do not change meanwhile, if they are ASCII, or few; NULL without an exception: Python's decoder
   is to be asked. */
PyObject *text_of(const uint8_t *bytes, size_t size);

/* Whether all bytes are ASCII. */
bool is_ascii(const uint8_t *bytes, size_t size);

/* dtype, shape and data of a tensor whose table was found. `shape` has room for 64. leave_segment is to follow. */
int read_tensor_at(Reader *reader, const Node *node, const TableAt *table, int *dtype, int *dimensions, int64_t *shape,
                   uint64_t *first, uint64_t *size);

/* The same as read_value, of a tensor whose table was found. */
int read_tensor(Reader *reader, const Node *node, const TableAt *table, PyObject **value);

/* A scalar or enum at a place that lies in the message. New reference, or NULL with a fault. */
PyObject *read_scalar(Reader *reader, const Node *node, uint64_t place);

/* The value that stands at a slot's place, if it is a number, a member of an enum, or a string of an immutable message,
   and nothing is wrong with it, as with most: 1, its bytes taken off from `bytes`. 0: read_value has to be asked; -1
   with an exception. */
int read_plain(const Reader *reader, const Node *node, uint64_t place, int64_t *bytes, PyObject **value);

/* The value of a node that stands at a slot's place, or, with `value` NULL, a check of it alone. For a UNION or ONEOF,
   `kind` is its number, for a ONEOFS the place of the offset to the numbers, and 0 for all else. */
int read_value(Reader *reader, const Node *node, uint64_t place, uint64_t kind, PyObject **value);

/* The same of a scalar. */
int read_number(Reader *reader, const Node *node, uint64_t at, PyObject **value);

/* The value of a table that stands alone: of a TABLE, TENSOR or BOX. `value` as above. */
int read_alone(Reader *reader, const Node *node, uint64_t at, PyObject **value);

/* The value of a slot that its table lacks: a new reference, NULL with a fault, or for MISSING_ABSENT without one. */
PyObject *read_lacking(Reader *reader, const Place *place, uint64_t at);

/* The str of bytes of the message: a new reference, or NULL with a fault; or only whether there is one. */
PyObject *read_text(Reader *reader, uint64_t first, uint64_t size);
int check_text(Reader *reader, uint64_t first, uint64_t size);

/* The bits of a scalar or of an enum's number, sign-extended. */
int64_t read_bits(const Reader *reader, Op op, uint64_t place);

/* An enum's value by its number, borrowed; NULL: there is none. */
PyObject *enum_value(const Node *node, int64_t number);

/* Where the vector begins whose items begin at `first`, and whose length has 4 bytes; and any vector of a node. */
#define AT(first) ((first) - 4)
static inline uint64_t vector_at(const Node *node, uint64_t first)
{
    return first - (node->has_long_length ? 8 : 4);
}

/* Follow the offset of an item of the vector of offsets at `first`. */
int read_item_offset(Reader *reader, uint64_t first, uint64_t index, uint64_t *target);

/* Count the items of a list or map that stands at `at`, and look at the depth. */
int count_items(Reader *reader, uint64_t at, uint64_t count);

/* Enter a record that stands at `at`, where the depth counts: the message says how deep it goes. -1 with a fault. */
int enter_record(Reader *reader, uint64_t at);
void leave_record(Reader *reader);

/* A list or tuple that the collector does not know yet: nobody is to see it before its items are there. */
PyObject *new_sequence(const Node *node, uint64_t count);

/* Give out a sequence that is full, or let go of one that is not. */
int end_sequence(PyObject *sequence, uint64_t count, bool is_full, PyObject **value);

/* The scalars of a list or array that stands at `at`, the first item at `first`. */
int read_scalars(Reader *reader, const Node *node, uint64_t at, uint64_t first, uint64_t count, PyObject **value);

/* Follow the offset at a place to a table, and read what stands alone there. */
int read_through(Reader *reader, const Node *node, uint64_t place, PyObject **value);

/* struct.c: what stands inline, a scalar, STRUCT or ARRAY; a STRUCTS; and a STRUCT that the offset at `place` leads to,
   whose bytes are counted. */
int read_inline(Reader *reader, const Node *node, uint64_t at, PyObject **value);
int read_structs(Reader *reader, const Node *node, uint64_t place, PyObject **value);
int find_struct(Reader *reader, const Node *node, uint64_t place, uint64_t *at);

/* oneof.c */
int read_oneof(Reader *reader, const Node *node, uint64_t place, uint64_t kind, PyObject **value);
int read_oneofs(Reader *reader, const Node *node, uint64_t place, uint64_t kind, PyObject **value);

/* The vectors of a ONEOFS, which are of the same length. */
int find_oneofs(Reader *reader, const Node *node, uint64_t place, uint64_t kind, uint64_t *numbers, uint64_t *first,
                uint64_t *count);

/* The number of an item of a ONEOFS, checked against what is there; 0 of one that is None, -1 with a fault. */
int read_item_kind(Reader *reader, uint64_t numbers, uint64_t first, uint64_t index);

/* The option of a ONEOF that has a number, from 1 on; NULL: none. */
const Place *option_numbered(const Node *node, uint32_t number);

/* segments.c */

/* Of a list or tuple of buffers. NULL with an exception. */
Segments *segments_new(Engine *engine, PyObject *given);
void segments_free(Segments *segments);
int segments_traverse(const Segments *segments, visitproc visit, void *arg);

/* Whether a vector or string of a node may stand in a segment of its own. */
static inline bool may_stand_apart(Op op)
{
    return op == OP_STRING || op == OP_BYTES || op == OP_NUMBERS || op == OP_STRUCTS || op == OP_NESTED;
}

/* read_vector and read_string of such a node, up to the vector's alignment. */
int read_in_segments(Reader *reader, const Node *node, uint64_t place, uint32_t width, uint32_t after, uint64_t *first,
                     uint64_t *count);

/* Go back to the first segment. */
void return_home(Reader *reader);
static inline void leave_segment(Reader *reader)
{
    if (reader->is_away) {
        return_home(reader);
    }
}

/* After all of a message was read: refuse segments that nothing leads to, unless there is a field that the schema does
   not have, whose they may be. */
int check_reached(Reader *reader);

/* nested.c */
int read_nested(Reader *reader, const Node *node, uint64_t place, PyObject **value);

/* The items of a NUMBERS and of a STRUCTS that were found. `value` as above. */
int read_found_numbers(Reader *reader, const Node *node, uint64_t first, uint64_t count, PyObject **value);
int read_found_structs(Reader *reader, const Node *node, uint64_t first, uint64_t count, PyObject **value);

/* The same as read_value, of these nodes alone. */
int read_numbers(Reader *reader, const Node *node, uint64_t place, PyObject **value);
int read_strings(Reader *reader, const Node *node, uint64_t place, PyObject **value);
int read_tables(Reader *reader, const Node *node, uint64_t place, PyObject **value);
int read_map(Reader *reader, const Node *node, uint64_t place, PyObject **value);

/* What stands in a place of a table that was found, or for its lack; `value` as above, and NULL where it is absent. */
int read_place(Reader *reader, const Place *place, const TableAt *table, PyObject **value);

/* The object of a record, of its fields in the record's order, NULL where one is absent. Takes the fields over. */
PyObject *make_record(const Node *node, PyObject **fields);

/* The number of a union, checked against what is there: 0 (and no fault) only where both slots are lacking, and of a
   ONEOFS the offset in the table of the slot of its numbers, likewise. -1 with a fault. */
int read_kind(Reader *reader, const Node *node, const TableAt *table, Slot slot);
int read_kinds(Reader *reader, const TableAt *table, Slot slot);

/* Find a place's slot in a table: its offset, 0 where it is lacking, and `kind`: of a union its number or numbers as
   above, else 0. -1 with a fault. */
static inline int find_slot(Reader *reader, const Node *node, const TableAt *table, const Place *place, int *kind)
{
    Slot slot = {0, 0};
    *kind = 0;
    if (table->known != NULL) {
        slot = table->known->slots[place - table->known->node->places];
    } else {
        int offset = slot_within(reader, table, place->index, place->size);
        int kind_offset
            = place->kind_size == 0 ? 0 : slot_within(reader, table, place->index - 1u, place->kind_size);
        if (offset < 0 || kind_offset < 0) {
            return -1;
        }
        slot = (Slot){(uint16_t)offset, (uint16_t)kind_offset};
    }
    if (place->kind_size != 0) {
        *kind = place->kind_size == 1 ? read_kind(reader, node, table, slot) : read_kinds(reader, table, slot);
        return *kind <= 0 ? *kind : slot.offset;
    }
    return slot.offset;
}

/* A read-only slice of the message, or a copy of it, as the reader says. */
PyObject *read_slice(Reader *reader, uint64_t first, uint64_t size);

/* An array over the message, or a copy of it, as the reader says. */
PyObject *read_array(Reader *reader, int dtype, int dimensions, const int64_t *shape, uint64_t first);

#endif
