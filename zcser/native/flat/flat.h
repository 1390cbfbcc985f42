/* FlatBuffers in C, driven by the program that zcser/flat/program.py makes of a schema.

   1. An Engine is immutable once made, but for its scratch memory, which one call at a time takes by an exchange: a call
      that finds it taken allocates its own. So calls may overlap, from threads or from Python code that a value runs.
      What is remembered of vtables is added to and never changed; the memory of views that are gone is kept for new
      ones where the GIL guards it.
   2. A value that is not in normal form is a misfit: C says so and nothing else, and Python finds the words, or the
      normal form. C never changes a value, except that it takes an exact int for a float.
   3. Every offset that is read from a message is checked before use, whether the message was verified or not: a buffer
      may change under a view. What is read twice is read into a local variable once.
   4. Errors are -1 or NULL, with a Python exception set, or, in the reader, with a Fault.
*/
#ifndef ZCSER_FLAT_H
#define ZCSER_FLAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Without the GIL, what changes is changed under the object's lock; with the GIL these do nothing. */
#if PY_VERSION_HEX < 0x030D0000
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

/* Of zcser.flat.program. */
#define ALIGNMENT 64u
#define TAIL 256
#define REMEMBERED 32

/* Numbers as of zcser.flat.program.Op. */
typedef enum {
    OP_NULL, OP_BOOL, OP_INT8, OP_UINT8, OP_INT16, OP_UINT16, OP_INT32, OP_UINT32, OP_INT64, OP_UINT64, OP_FLOAT32,
    OP_FLOAT64, OP_ENUM, OP_STRING, OP_BYTES, OP_NUMBERS, OP_STRINGS, OP_TABLE, OP_TABLES, OP_MAP, OP_UNION, OP_TENSOR,
    OP_BOX, OP_ENTRY, OP_STRUCT, OP_ARRAY, OP_STRUCTS, OP_ONEOF, OP_ONEOFS, OP_NESTED, OP_COUNT
} Op;

/* What it means that a table lacks a slot: zcser.flat.layout.Missing, in its order. */
typedef enum { MISSING_ZERO, MISSING_NONE, MISSING_ABSENT, MISSING_DEFAULT, MISSING_REFUSED } Missing;

/* How the object of a record is made. */
typedef enum { MAKE_DICT, MAKE_DIRECT, MAKE_POSITIONAL, MAKE_KEYWORDS } Make;

/* A slot of a table, a field of a struct, or an option of a ONEOF, as a value sees it. */
typedef struct {
    PyObject *name;      /* Interned name of the record's field; NULL in boxes and entries. */
    PyObject *lacking;   /* The value of MISSING_ZERO, or what makes that of MISSING_DEFAULT; else NULL. */
    Py_ssize_t member;   /* Offset of the attribute in objects of the class, where it has __slots__; -1: by its name. */
    uint32_t node;
    uint32_t size;       /* Bytes inline. */
    uint32_t offset;     /* STRUCT: bytes from its start. */
    uint16_t index;      /* In the vtable. ONEOF: the option's number. */
    uint16_t position;   /* Among the fields as the record has them in order; of boxes and entries, among the places. */
    uint16_t align;      /* What its place is a multiple of. */
    uint8_t missing;     /* Missing */
    uint8_t kind_size;   /* Bytes of the slot before, where the number of a union stands, or the offset of a vector of
                            numbers; 0: of no union. */
    bool may_lack;       /* A dict may lack it, although it is never absent. */
    bool is_key;         /* Vectors of the table are sorted by it. */
} Place;

/* A slot of a table, as its bytes are laid out; a union has two. In the order of layout: falling alignment, falling
   size, rising index. */
typedef struct {
    const struct Node *node; /* Of the place. */
    uint16_t index;
    uint16_t place;
    uint32_t size;
    uint16_t align;
    bool is_kind;        /* The number of a union, or the numbers of several. */
} Part;

typedef struct {
    PyObject *type;      /* Exact class of the option's values. */
    uint32_t node;       /* A TABLE, TENSOR or BOX. */
} Option;

/* A field that is found by its interned name; without a name, an empty place of a hash table. */
typedef struct {
    PyObject *name;      /* Borrowed from the place. */
    const Place *place;
} Attribute;

/* A vtable that was met; see read.h. */
typedef struct Vtable Vtable;

typedef struct Node {
    Op op;
    Op number;           /* ENUM: the scalar that it stands in. */
    uint32_t size;       /* Bytes inline; of what an offset leads to 4, or 8: a wide offset. */
    uint16_t align;      /* Of what stands inline: what its place is a multiple of. Of a vector: what the place of its
                            data is a multiple of where that is more than the items ask for, else 0. */
    bool is_tuple;       /* NUMBERS, STRINGS, TABLES: a tuple, not a list. */
    bool has_long_length; /* BYTES, NUMBERS, STRUCTS: the length has 8 bytes. */
    bool is_far;         /* Of what an offset leads to: it is wide, or the length has 8 bytes. */
    bool is_shared;      /* STRING: equal ones of a message stand there once. */
    bool is_in_tail;     /* STRING, BYTES, NUMBERS, STRUCTS: whatever its size is. */
    Make make;           /* TABLE */
    Py_ssize_t bound;    /* STRING: most bytes; BYTES: bytes; of lists and arrays: items; -1: any. */
    uint32_t item;       /* Of vectors and arrays: node of the items; NESTED: its root. */
    uint32_t table;      /* TABLE, BOX, ENTRY, TENSOR: running number among these. */
    /* ENUM. Numbers as bits, sign-extended to 64. */
    Py_ssize_t value_count;
    int64_t *numbers;
    PyObject **values;
    PyObject *by_value;  /* Dict of value to position where the values are no members of a class; else NULL. */
    /* UNION */
    Py_ssize_t option_count;
    Option *options;
    /* STRUCT, ARRAY: records and lists inside each other, itself included; items of all arrays. */
    uint32_t levels;
    uint64_t item_count;
    bool has_enum;
    /* TABLE, BOX, ENTRY, STRUCT, ONEOF */
    Py_ssize_t place_count;
    Place *places;       /* By index; of a STRUCT, by offset. */
    /* TABLE, BOX, ENTRY */
    Py_ssize_t part_count;
    Part *parts;
    Part *written;       /* In the order in which they are written: that of `parts`, or, where a slot has a wide
                            offset, of what they lead to. */
    bool has_wide;       /* A slot has a wide offset. */
    PyObject *cls;       /* TABLE: class of its objects; NULL: dict. */
    PyObject *names;     /* TABLE, STRUCT: tuple of the fields' names, in the record's order; else NULL. */
    bool is_slotted;     /* TABLE: every place has a member. */
    const Place *key;    /* TABLE, STRUCT: the place that vectors of it are sorted by; NULL: none. */
    Vtable *vtables;     /* Those met first in messages, in that order. */
    /* What shows it lazily, a subclass of a type of view.c: of records, lists, arrays and maps; NULL until set. */
    PyObject *view_class;
    PyObject *fields;    /* TABLE, STRUCT, ONEOF: dict of name to Field, for views; NULL until set. */
    Attribute *attributes; /* A hash table, by the address of the name, of the fields that are attributes of the class. */
    size_t attribute_mask;
    PyObject *spare;     /* The memory of a view that is gone, for the next one; NULL: none. */
    /* TENSOR */
    int dtype;           /* Number; -1: any. */
    int dimensions;      /* -1: any shape. */
    int64_t *shape;      /* -1: any extent. */
} Node;

/* Whether values of a node stand in the table or struct itself. */
static inline bool is_inline(Op op)
{
    return op <= OP_ENUM || op == OP_STRUCT || op == OP_ARRAY;
}

typedef struct {
    PyTypeObject *engine_type;
    PyTypeObject *message_type;
    PyTypeObject *table_view_type;
    PyTypeObject *vector_view_type;
    PyTypeObject *map_view_type;
    PyTypeObject *field_type;
    PyTypeObject *patcher_type;
    PyObject *verify_name; /* The interned name of view()'s option. */
} State;

typedef struct {
    PyObject_HEAD
    State *state;
    Node *nodes;
    uint32_t node_count;
    uint32_t table_count;
    uint32_t root;
    /* What a message begins with: its size, if it is prefixed; the root's offset; the identifier, if there is one. */
    bool is_prefixed;
    bool has_identifier;
    char identifier[4];
    uint32_t root_at;    /* Place of the root's offset. */
    uint32_t head_size;  /* Bytes of all this. */
    /* Limits. */
    bool counts_depth;   /* Values may nest deeper than the schema does. */
    Py_ssize_t depth;
    Py_ssize_t elements;
    Py_ssize_t bytes;
    int most_dimensions; /* Of an array. */
    bool refuse_unknown;
    bool strict;         /* Values go through `normal` before they are written. */
    /* Python's part; see zcser.flat.native. */
    PyObject *normal;        /* (value) -> its normal form, or EncodeError. */
    PyObject *normal_part;   /* (index of a node, value, steps) -> the value's normal form, or EncodeError. */
    PyObject *encode_error;  /* (reason) -> EncodeError */
    PyObject *patch_error;   /* (reason, steps) -> EncodeError */
    PyObject *too_small;     /* (needed, available) -> BufferTooSmallError */
    PyObject *misaligned;    /* (address, alignment) -> EncodeError */
    PyObject *writable_view; /* (buffer, offset) -> memoryview of bytes, writable, or EncodeError. */
    PyObject *decode_error;  /* (reason, offset, is_cut, steps from the inside out) -> DecodeError */
    PyObject *unreadable;    /* (exception) -> DecodeError: a constructor refused what was read. */
    PyObject *byte_view;     /* (data) -> read-only memoryview of bytes, or DecodeError. */
    PyObject *segment_views; /* (list or tuple) -> tuple of bytes and such memoryviews, one at least, or DecodeError. */
    PyObject *byte_array;    /* (memoryview of bytes) -> array over them, which holds the memoryview. */
    PyObject *released;      /* () -> ReleasedViewError */
    PyObject *no_field;      /* (record's name, name) -> KeyError */
    PyObject *tensor_bytes;  /* (array) -> (number of its dtype, its bytes), or None where it is not in normal form. */
    PyObject *ndarray;       /* numpy.ndarray */
    PyObject *copy_array;    /* numpy.ndarray.copy */
    PyObject *frozen_copy;   /* (array) -> a read-only copy */
    PyObject *dtypes;        /* Tuple of dtypes by number; None where one is not available. */
    PyObject *itemsizes;     /* Bytes: their itemsizes by number; 0 where one is not available. */
    PyObject *alignments;    /* Bytes: what their addresses are to be a multiple of, likewise. */
    /* Memory that encoders write to before they know the size. */
    char *scratch;
    size_t scratch_size;
    uint64_t growths;
    PyObject *spare_message; /* The memory of a Message that is gone, as `spare` of a node. */
} Engine;

/* program.c: reads the tuples that zcser.flat.native.engine makes of a program; see there. */
int program_read(Engine *engine, PyObject *nodes, Py_ssize_t root);
void program_free(Engine *engine);
int program_traverse(Engine *engine, visitproc visit, void *arg);

/* vtable.c: let go of what is remembered of a node. */
void forget_vtables(Node *node);

/* encode.c */
PyObject *engine_encode(Engine *engine, PyObject *value);
PyObject *engine_encode_into(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *engine_encode_segments(Engine *engine, PyObject *value);
PyObject *engine_encoded_size(Engine *engine, PyObject *value);

/* read.c */
PyObject *engine_decode(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *engine_decode_segments(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *engine_verify(Engine *engine, PyObject *data);

/* patch.c */
PyObject *engine_patch(Engine *engine, PyObject *const *args, Py_ssize_t nargs);
PyObject *engine_patcher(Engine *engine, PyObject *paths);
extern PyType_Spec patcher_spec;

/* view.c */
PyObject *engine_view(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *engine_view_segments(Engine *engine, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *engine_set_view(Engine *engine, PyObject *args);
int view_add_types(PyObject *module, State *state);
void view_free_spares(Engine *engine);

/* module.c: what a FASTCALL method was given, by position or by name, into `found`, in the order of `names` (which end
   with NULL); borrowed, and NULL where it was not given. The first `required` must be there; no more than `positional`
   come by position. -1 with TypeError. */
int take_arguments(const char *function, const char *const *names, Py_ssize_t required, Py_ssize_t positional,
                   PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **found);

/* Little-endian, whatever the machine and the address are. */
#if PY_BIG_ENDIAN
#error "zcser's C engine is for little-endian machines; the Python one serves the others"
#endif
#define ZF_LOAD(name, type)                                   \
    static inline type name(const void *place)                \
    {                                                         \
        type value;                                           \
        memcpy(&value, place, sizeof value);                  \
        return value;                                         \
    }
ZF_LOAD(load_u16, uint16_t)
ZF_LOAD(load_u32, uint32_t)
ZF_LOAD(load_u64, uint64_t)
ZF_LOAD(load_i16, int16_t)
ZF_LOAD(load_i32, int32_t)
ZF_LOAD(load_i64, int64_t)
ZF_LOAD(load_f32, float)
ZF_LOAD(load_f64, double)
#undef ZF_LOAD

static inline void store_u16(void *place, uint16_t value) { memcpy(place, &value, 2); }
static inline void store_u32(void *place, uint32_t value) { memcpy(place, &value, 4); }
static inline void store_u64(void *place, uint64_t value) { memcpy(place, &value, 8); }

#endif
