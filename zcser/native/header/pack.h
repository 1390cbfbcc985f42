/* Writing values of one layout: what the files pack*.c share. zcser.header.native drives it.

   1. A Packer is a program that Python made, of parts that lie in order within their records. It is checked when it is
      read, and does not change afterwards.
   2. C writes what fits as it is. Whatever else there is, a value of another class, out of range or of another shape,
      a buffer that will not do, is for Python: it writes the value after all, or finds the words.
   3. A value is read once, front to back: tensors and bytes of 256 bytes and more are held by their buffers, all else
      is written to scratch memory. Nothing may fail once the first byte of a message is written.
*/
#ifndef ZCSER_HEADER_PACK_H
#define ZCSER_HEADER_PACK_H

#include "header.h"

/* The numbers are those of zcser.header.native. */
typedef enum {
    PACK_NUMBER,
    PACK_ENUM,
    PACK_NULL,
    PACK_TEXT,  /* UTF-8, padded with NUL. */
    PACK_BYTES,
    PACK_TENSOR,
    PACK_LIST,
    PACK_RECORD,
    PACK_COUNT
} PackKind;

struct Part;

typedef struct {
    PyObject *name;
    struct Part *part;
    Py_ssize_t offset;
} Member;

typedef struct Part {
    PackKind kind;
    Op op; /* Of a NUMBER or ENUM, a scalar's. */
    bool is_swapped;
    bool is_tuple;     /* Of a LIST. */
    uint8_t height;    /* Records and lists from here down. */
    Py_ssize_t size;   /* In bytes. */
    Py_ssize_t apart;  /* Of these, bytes that are held and not in scratch memory; */
    Py_ssize_t holes;  /* and in how many places. */
    PyObject *values;  /* Of an ENUM, a tuple; */
    uint64_t *numbers; /* its numbers; */
    PyObject *by_value; /* and a dict of values to their positions, or None where they are found by identity alone. */
    PyObject *formats; /* Of a TENSOR, a tuple of letters that the buffers of its dtype have; */
    PyObject *shape;   /* a tuple; */
    Py_ssize_t *extents;
    PyObject *bytes_of; /* and (array) -> its bytes, where its own buffer has no such letter; None: it will not do. */
    Py_ssize_t count; /* Of a LIST. */
    struct Part *item;
    PyTypeObject *cls; /* Of a RECORD. */
    Member *members;
    Py_ssize_t member_count;
} Part;

typedef struct {
    PyObject_HEAD
    Part *parts;
    Py_ssize_t part_count;
    Part *root;
    PyTypeObject *ndarray;
    Py_ssize_t alignment; /* That the address of a message must have. */
} Packer;

/* Bytes that are held, for a place in the message. */
typedef struct {
    Py_buffer data;
    Py_ssize_t at;
} Hole;

enum { FIRST_SCRATCH = 1024, FIRST_HOLES = 4, SMALLEST_HOLE = 256 };

/* A value that is read, and what was found. */
typedef struct {
    const Packer *packer;
    char *scratch;       /* Of the message, without its holes; zeros where nothing is written. */
    Py_ssize_t skipped;  /* Bytes of the holes so far. */
    Hole *holes;
    Py_ssize_t hole_count;
    char first_scratch[FIRST_SCRATCH];
    Hole first_holes[FIRST_HOLES];
} Pass;

/* pack_program.c */
int packer_read(Packer *packer, PyObject *parts);
int packer_visit(Packer *packer, visitproc visit, void *arg);
void packer_free(Packer *packer);

/* pack_value.c: read a value that stands at byte `at`. -1 where it does not fit, with an exception or without. */
int pack_value(Pass *pass, const Part *part, PyObject *value, Py_ssize_t at);

#endif
