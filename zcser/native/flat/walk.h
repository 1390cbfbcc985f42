/* The way to a scalar of a message, by the steps of a path. */
#ifndef ZCSER_FLAT_WALK_H
#define ZCSER_FLAT_WALK_H

#include "read.h"

/* A place in a message, and the node of what stands there. */
typedef struct {
    Engine *engine;
    Reader reader;
    PyObject *steps;     /* A tuple. */
    Py_ssize_t taken;    /* Steps that led here; of an error, with the one that led nowhere. */
    const Node *node;
    uint64_t at;
    uint64_t kind;       /* As read_value has it. */
    bool is_table;       /* A table itself stands there, and no offset to one. */
} Walk;

/* Go all the way, each step checked. -1 with an EncodeError or DecodeError that has the path. */
int walk_to_scalar(Walk *walk);

/* Raise an EncodeError with the path, and return -1; the reason is let go. */
int walk_refuse(Walk *walk, PyObject *reason);

#endif
