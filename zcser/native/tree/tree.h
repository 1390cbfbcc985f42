/* Guards over trees of builtins in C: what zcser/tree/native.py makes of a schema, walked once for each value or tree.

   1. C only says that all is well, or does the little that can be done in place. Whatever else there is, it hands to
      Python's own walk, which does the same at leisure and has the words: both give equal results and equal errors.
   2. A walk that checks runs no Python code: exact builtins alone are looked into, and a dict is gone through, never
      asked for a key. So what is borrowed stays, but for other threads where there is no GIL: there, a container is
      locked while it is gone through, and what it holds is kept.
   3. Recursion ends at DEEPEST containers, whatever the limits say; Python goes on from there.
   4. A Coder is immutable once made, but for the keys that it last met, which are kept under the GIL alone. Errors are
      NULL or -1 with an exception set; a verdict of false is none. */
#ifndef ZCSER_TREE_H
#define ZCSER_TREE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define DEEPEST 200

/* Numbers as of zcser.tree.native.Op. */
typedef enum {
    OP_NULL, OP_BOOL, OP_INT, OP_FLOAT, OP_STR, OP_BYTES, OP_ENUM, OP_OPTIONAL, OP_LIST, OP_MAP, OP_UNION, OP_RECORD,
    OP_PAIR, OP_ANY, OP_COUNT
} Op;

typedef struct Node Node;

typedef struct {
    PyObject *name;        /* Exact str, interned. */
    PyObject *met;         /* An equal one: libraries give the same object for a key again and again. NULL: none yet. */
    Py_hash_t hash;
    const Node *node;
    bool is_required;      /* Written: a dict must have it. */
    bool must_be_there;    /* Read: without it there is something to do, or to refuse. */
} Field;

typedef struct {
    PyObject *key;         /* UNION: exact class of the option's values. PAIR: its name, an exact str, interned. */
    const Node *node;
} Option;

struct Node {
    /* What each visit reads comes first. */
    PyTypeObject *plain;   /* Exact class of which every object fits; NULL: there is none. */
    Op op;
    bool is_nullable;      /* An OPTIONAL is a copy of its item's node with this. */
    bool is_inert;         /* Read without the guard: nothing in it is ever changed. */
    bool is_bounded;       /* INT: by `low` and `high`. */
    bool is_single;        /* FLOAT: of 32 bits. */
    int64_t low;
    uint64_t high;         /* Never below zero. */
    Field *fields;         /* RECORD */
    Py_ssize_t count;      /* Of the options or fields. */
    Py_ssize_t required_count;
    Py_ssize_t must_count;
    Py_ssize_t size;       /* STR: most bytes; BYTES: bytes; LIST: items; -1: any. */
    const Node *item;      /* OPTIONAL, LIST, MAP */
    const Node *key;       /* MAP */
    bool is_tuple;         /* LIST */
    bool takes_ints;       /* UNION: an int read is a float. */
    bool may_be_rounded;   /* UNION: a float of 2**63 or more read may be an int. */
    bool skips_unknown;    /* RECORD read: entries that are no fields may stay. */
    bool owns;             /* Its parts are its own, not those of the node that it is a copy of. */
    PyTypeObject *type;    /* ENUM: int or str. */
    PyObject *values;      /* ENUM: frozenset. */
    Option *options;       /* UNION, PAIR */
    uint16_t *table;       /* RECORD: of a power of two, by hash; field + 1, or 0. */
    size_t mask;
};

typedef struct {
    PyObject_HEAD
    Node *nodes;
    Py_ssize_t node_count;
    const Node *root;
    bool checks;           /* The guard is on. */
    bool finite;           /* No float is NaN or infinite. */
    bool surrogates;       /* The library would take lone ones. */
    bool can_write;        /* Every normal value is its own tree. */
    bool can_read;
    bool ends_apart;       /* Reading MessagePack, `loads` passes over what stands behind the message. */
    bool has_bytes;        /* Of a tree: a value that aliases them is Python's to make. */
    Py_ssize_t depth;      /* Not over DEEPEST. */
    Py_ssize_t elements;
    Py_ssize_t bytes;
    /* Python's part; see zcser.tree.native. */
    PyObject *dumps;       /* (tree) -> bytes; NULL: reads alone. */
    PyObject *loads;       /* (bytes) -> tree */
    PyObject *encode;      /* (value) -> bytes, or EncodeError */
    PyObject *decode;      /* (data, copy=) -> value, or DecodeError */
    PyObject *write;       /* (value) -> tree */
    PyObject *read;        /* (tree) -> value */
} Coder;

/* program.c: reads the tuples of zcser.tree.native. */
int program_read(Coder *coder, PyObject *nodes, Py_ssize_t root);
void program_free(Coder *coder);

/* walk.c: whether a value is normal and its own tree. */
bool fits(Coder *coder, PyObject *value);

/* walk.c: whether a tree is now the value that it stands for, in *made: itself, mended in place, or another object.
   -1 with an exception. */
int settle(Coder *coder, PyObject *tree, PyObject **made);

/* spans.c: whether bytes are one message of MessagePack, to their end. */
bool is_whole_message(const char *message, Py_ssize_t size);

PyObject *find_spans(PyObject *module, PyObject *args);

#endif
