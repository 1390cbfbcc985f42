/* The walk over a protobuf message's wire form in C; zcser/protowire/pure.py is its twin in Python.

   1. A Walker and a Prover are immutable once made, so that calls may overlap.
   2. A walk notes edits, in the order of the wire: lengths that change, and payloads. What stands between them is copied.
   3. Tags and lengths have 5 bytes at most and numbers 10, as in upb. Everything else about bytes that are stepped over
      is upb's to judge, which parses what a walk gives.
   4. The buffer may change under a walk: every place is checked before it is read, and what is read twice is kept.
   5. Functions give -1 or NULL where a message cannot be walked. With no exception set, that is all there is to say.
*/
#ifndef ZCSER_PROTOWIRE_H
#define ZCSER_PROTOWIRE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { VARINT, FIXED64, LENGTH, GROUP, GROUP_END, FIXED32 };

/* Of zcser.protowire: stand_in, routes, padding, nesting. */
#define STAND_IN_SIZE 12u
#define BYTES (-1)
#define TENSOR (-2)
#define ALIGNMENT 64u
#define PADDING_TAG 0x7au
#define PADDING_BYTES 67u
#define MAX_NESTING 100

#define MOST_BYTES INT32_MAX
#define LONGEST_VARINT 10

/* A field that leads to a payload: its tag, and BYTES, TENSOR or the number of a node. */
typedef struct {
    uint64_t tag;
    int32_t target;
} Route;

/* The routes of one message, by rising tag. */
typedef struct {
    Py_ssize_t count;
    Route *routes;
} Node;

typedef struct {
    PyObject_HEAD
    Py_ssize_t node_count;
    Node *nodes;
    Py_ssize_t root;
} Walker;

/* A payload that lies elsewhere: its first byte in the message, and its size. */
typedef struct {
    uint64_t place;
    uint64_t size;
} Gap;

/* A place where a message is changed. */
typedef struct {
    uint64_t tag;      /* Of the field, as all places in the message. */
    uint64_t length;   /* Of its length. */
    uint64_t body;     /* Of what follows that. */
    uint64_t old_size;
    uint64_t new_size;
    int32_t target;    /* As of a Route. */
    uint32_t payload;  /* Of a payload: the number of its buffer. */
} Edit;

#define EDITS_AT_HAND 32

typedef struct {
    const Walker *walker;
    const uint8_t *data;
    uint64_t size;        /* Of the message, gaps and all. */
    bool is_cut;          /* Payloads get stand-ins; else stand-ins make room for payloads. */
    uint64_t least;       /* Cut: payloads of so many bytes get a stand-in. */
    bool is_aligned;      /* Splice: there is padding around the data of tensors. */
    /* Gaps, of which those before `gap` were stepped over. */
    const Gap *gaps;
    Py_ssize_t gap_count;
    Py_ssize_t gap;
    uint64_t elsewhere;   /* Bytes of those gaps. */
    uint64_t limit;       /* Where what can be read from here on ends: at the next gap, or at the end. */
    Edit *edits;
    Py_ssize_t edit_count;
    Py_ssize_t edit_room;
    Edit at_hand[EDITS_AT_HAND];
} Walk;

/* Of zcser.protowire.proof: what is asked of a field that leads to no message, and the fields of a tensor. */
#define SEEN (-1)
#define NUMBER (-2)
#define NUMBERS (-3)
#define DTYPE_TAG 0x08u
#define EXTENT_TAG 0x10u
#define SHAPE_TAG 0x12u
#define DATA_TAG 0x1au
#define MOST_DTYPES 256
#define MAX_RANK 32 /* Which every numpy takes. */

/* What is asked of a field. */
typedef struct {
    uint64_t tag;
    int32_t target;    /* The number of a message, or SEEN, NUMBER, NUMBERS. */
    uint64_t bit;      /* Stands for the field in `seen`; 0 where nobody asks whether it is there. */
    int64_t low;       /* Of a number, both included. */
    int64_t high;
    uint64_t members;  /* Bit n: low + n is one; 0 where each is that lies between. */
} Rule;

/* What is asked of a message. */
typedef struct {
    Py_ssize_t count;
    Rule *rules;        /* By rising tag. */
    uint64_t required;  /* Bits of fields that it must have. */
    uint64_t some;      /* And of those of which it must have one, if there are any. */
    bool is_tensor;     /* Then there are no rules, but: */
    int dtype;          /* Its number, or -1. */
    Py_ssize_t rank;    /* Or -1. */
    int64_t *extents;   /* -1 for any. */
} Rules;

typedef struct {
    PyObject_HEAD
    Py_ssize_t count;
    Rules *rules;
    Py_ssize_t root;
    uint64_t dtype_count;
    uint8_t itemsizes[MOST_DTYPES];  /* By number; 0 where there is no such dtype. */
} Prover;

/* prove.c: whether it is certain that a message breaks no rule. */
bool prove(const Prover *prover, const uint8_t *data, Py_ssize_t size);

/* prover.c */
extern PyType_Spec prover_spec;

/* walk.c: walks the whole message; the bytes that it grows by into `growth`. */
int walk_message(Walk *walk, int64_t *growth);
void walk_rewind(Walk *walk);
uint64_t walk_pass_gap(Walk *walk);

/* write.c */
PyObject *write_cut(Walk *walk, int64_t growth);
PyObject *write_spliced(Walk *walk, int64_t growth);

static inline unsigned varint_size(uint64_t number)
{
    unsigned size = 1;
    while (number > 127) {
        number >>= 7;
        size++;
    }
    return size;
}

static inline uint8_t *put_varint(uint8_t *to, uint64_t number)
{
    while (number > 127) {
        *to++ = (uint8_t)(number | 128);
        number >>= 7;
    }
    *to++ = (uint8_t)number;
    return to;
}

static inline uint32_t load_u32(const uint8_t *from)
{
    return (uint32_t)from[0] | (uint32_t)from[1] << 8 | (uint32_t)from[2] << 16 | (uint32_t)from[3] << 24;
}

static inline uint8_t *put_u32(uint8_t *to, uint32_t number)
{
    for (int byte = 0; byte < 4; byte++) {
        *to++ = (uint8_t)(number >> 8 * byte);
    }
    return to;
}

#endif
