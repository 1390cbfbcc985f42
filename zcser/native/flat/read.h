/* Reading a message with every step checked: what the decoder, the verifier and the views share.

   The rules are those of zcser/flat/verify.py, and a message that one refuses the other refuses. */
#ifndef ZCSER_FLAT_READ_H
#define ZCSER_FLAT_READ_H

#include "flat.h"

/* What a vtable that was checked for a node says of that node's tables. */
typedef struct {
    const Node *node;        /* NULL: an empty place of the cache. */
    uint64_t vtable;
    uint32_t vtable_size;
    uint32_t size;           /* Bytes that a table reaches at least. */
    uint32_t mask;           /* What a table's position must be under it: `rest`. */
    uint32_t rest;
} CheckedVtable;

/* Vtables that a reader remembers; a power of two. */
#define CHECKED_VTABLES 32

/* A message at work, and what is wrong with it. */
typedef struct {
    Engine *engine;
    const uint8_t *base;
    uint64_t end;            /* Bytes of the message. */
    PyObject *source;        /* Borrowed: what arrays and slices are made of: bytes, or a read-only memoryview. */
    PyObject *slices;        /* A memoryview of `source`, made when first needed; owned. */
    bool copy;               /* Bytes and tensors are copied out. */
    bool is_stable;          /* The message cannot change while it is read. */
    CheckedVtable *checked;  /* CHECKED_VTABLES of them, zeroed, where many tables will be read; else NULL. */
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
} TableAt;

#define NOWHERE UINT64_MAX

/* Set the fault and return -1. The format is PyUnicode_FromFormat's. */
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

/* Begin with a message: checks its size, and finds the root. The reader is to be given back with reader_end. */
int reader_begin(Reader *reader, Engine *engine, const uint8_t *base, Py_ssize_t size, PyObject *source, bool copy,
                 uint64_t *root);
void reader_end(Reader *reader);

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

/* The vector that the offset at `place` leads to, of items of `width` bytes; counts its bytes. */
int read_vector(Reader *reader, uint64_t place, uint32_t width, uint64_t *first, uint32_t *count);

/* The string that the offset at `place` leads to; counts its bytes. Its UTF-8 is not looked at. */
int read_string(Reader *reader, const Node *node, uint64_t place, uint64_t *first, uint32_t *size);

/* Whether bytes are UTF-8 as Python has it. */
bool is_utf8(const uint8_t *bytes, size_t size);

/* Whether all bytes are ASCII. */
bool is_ascii(const uint8_t *bytes, size_t size);

/* dtype, shape and data of a tensor whose table was found. `shape` has room for 64. */
int read_tensor_at(Reader *reader, const Node *node, const TableAt *table, int *dtype, int *dimensions, int64_t *shape,
                   uint64_t *first, uint32_t *size);

/* The same as read_value, of a tensor whose table was found. */
int read_tensor(Reader *reader, const Node *node, const TableAt *table, PyObject **value);

/* A scalar or enum at a place that lies in the message. New reference, or NULL with a fault. */
PyObject *read_scalar(Reader *reader, const Node *node, uint64_t place);

/* The value of a node that stands at a slot's place (not of a scalar), or, with `value` NULL, a check of it alone.
   For a UNION, `kind` is its number, and 0 for all else. */
int read_value(Reader *reader, const Node *node, uint64_t place, uint32_t kind, PyObject **value);

/* The value of a table that stands alone: of a TABLE, TENSOR or BOX. `value` as above. */
int read_alone(Reader *reader, const Node *node, uint64_t at, PyObject **value);

/* The value of a slot that its table lacks: a new reference, NULL with a fault, or for MISSING_ABSENT without one. */
PyObject *read_lacking(Reader *reader, const Place *place, uint64_t at);

/* The str of bytes of the message: a new reference, or NULL with a fault; or only whether there is one. */
PyObject *read_text(Reader *reader, uint64_t first, uint32_t size);
int check_text(Reader *reader, uint64_t first, uint32_t size);

/* The bits of a scalar or of an enum's number, sign-extended. */
int64_t read_bits(const Reader *reader, Op op, uint64_t place);

/* An enum's value by its number, borrowed; NULL: there is none. */
PyObject *enum_value(const Node *node, int64_t number);

/* Where the vector begins whose items begin at `first`. */
#define AT(first) ((first) - 4)

/* Follow the offset of an item of the vector of offsets at `first`. */
int read_item_offset(Reader *reader, uint64_t first, uint32_t index, uint64_t *target);

/* Count the items of a list or map that stands at `at`, and look at the depth. */
int count_items(Reader *reader, uint64_t at, uint32_t count);

/* The same as read_value, of these nodes alone. */
int read_numbers(Reader *reader, const Node *node, uint64_t place, PyObject **value);
int read_strings(Reader *reader, const Node *node, uint64_t place, PyObject **value);
int read_tables(Reader *reader, const Node *node, uint64_t place, PyObject **value);
int read_map(Reader *reader, const Node *node, uint64_t place, PyObject **value);

/* What stands in a place of a table that was found, or for its lack; `value` as above, and NULL where it is absent. */
int read_place(Reader *reader, const Place *place, const TableAt *table, PyObject **value);

/* The object of a record, of its fields in the record's order, NULL where one is absent. Takes the fields over. */
PyObject *make_record(const Node *node, PyObject **fields);

/* The number of a union whose value's slot is `index`, checked against what is there:
   0 (and no fault) only where both slots are lacking. -1 with a fault. */
int read_kind(Reader *reader, const Node *node, const TableAt *table, uint32_t index);

/* A read-only slice of the message, or a copy of it, as the reader says. */
PyObject *read_slice(Reader *reader, uint64_t first, uint32_t size);

/* An array over the message, or a copy of it, as the reader says. */
PyObject *read_array(Reader *reader, int dtype, int dimensions, const int64_t *shape, uint64_t first);

#endif
