/* Records of fixed layout: what the files of zcser.native._header share. zcser.header.records.native drives it.

   1. A Layout is a program that Python made: nodes, each a part of the record, with all offsets within the record's size.
      It is checked when it is read, and does not change afterwards but for the classes of its views, which Python sets
      before anyone has the layout.
   2. C does what needs no words. Whatever else there is, an error, a value of another class than a number's own, an array,
      a buffer that gives no plain bytes, is done by a function of Python's, so that both engines say and do the same.
   3. Bytes are read and written only between the start and the end of a buffer whose export is held.
*/
#ifndef ZCSER_HEADER_H
#define ZCSER_HEADER_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <structmember.h>

/* Without the GIL, what changes is changed under the object's lock; with the GIL these do nothing. */
#if PY_VERSION_HEX < 0x030D0000
#define Py_BEGIN_CRITICAL_SECTION(object) {
#define Py_END_CRITICAL_SECTION() }
#endif

/* The numbers are those of zcser.header.records.native. */
typedef enum {
    OP_BOOL, OP_CHAR, OP_INT, OP_UINT, OP_FLOAT, /* Scalars. */
    OP_BYTES,
    OP_ARRAY,  /* Of `count` items; Python reads it for views. */
    OP_ASIDE,  /* Python reads it, for views and for whole records. */
    OP_RECORD,
    OP_COUNT
} Op;

struct Node;

/* The object of a scalar at a place; NULL with an exception. Its bytes are read before anything else is done. */
typedef PyObject *(*ScalarReader)(const char *at);

typedef struct {
    PyObject *name;
    struct Node *node;
    Py_ssize_t offset;
    PyObject *read;  /* (memory, offset) -> what a view has, of bytes and arrays; else None. */
    PyObject *write; /* (memory, offset, value): writes, or raises with the field's name. */
} Place;

typedef struct Node {
    Op op;
    bool is_swapped; /* Its byte order is not this machine's. */
    bool is_list;    /* Of an ARRAY: not a tuple. */
    bool is_tuple;   /* Of a RECORD: `cls` is a subclass of tuple without anything of its own. */
    bool is_flat;    /* Of a RECORD: numbers alone. */
    uint8_t height;  /* Records and arrays from here down. */
    ScalarReader read_scalar;
    Py_ssize_t size; /* In bytes. */
    Py_ssize_t count;
    struct Node *item;
    Place *places; /* In the order of the values. */
    Py_ssize_t place_count;
    PyObject *cls;           /* Of a RECORD's values. */
    PyObject *read;          /* Of an ASIDE: (memory, offset) -> its part of a whole record. */
    PyTypeObject *view_type; /* Of a RECORD; set last, NULL until then. */
} Node;

#define MAX_HEIGHT 128 /* No C stack is at stake; Python stays below it. */

typedef struct {
    PyTypeObject *layout_type;
    PyTypeObject *memory_type;
    PyTypeObject *view_type;
    PyTypeObject *field_type;
    PyTypeObject *packer_type;
} State;

typedef struct {
    PyObject_HEAD
    State *state; /* Of the module, which the type keeps. */
    Node *nodes;
    Py_ssize_t node_count;
    Node *root;
    PyObject *unpack_from; /* (buffer, offset) -> record: in Python, or its error. */
    PyObject *place_of;    /* (buffer, offset) -> (memory, offset): the same for a place. */
    PyObject *byte_view;   /* (buffer) -> memoryview of bytes; None where all buffers are bytes as they come. */
    PyObject *released;    /* () -> the error of a read through a released view. */
} Layout;

/* A buffer that views read from: shared by the view that opened it and those of the records inside it. */
typedef struct {
    PyObject_HEAD
    Layout *layout;   /* Whose nodes the views have. */
    Py_buffer buffer; /* The export; `obj` is NULL when it was given back. */
    PyObject *source;
    Py_ssize_t users; /* Reads and writes at work that call Python. */
    bool is_released;
} Memory;

typedef struct {
    PyObject_HEAD
    PyObject *weak_references;
    Memory *memory;
    const Node *node; /* A RECORD. */
    char *start;      /* Of the record, in the memory. */
} View;

/* A descriptor of views of one record, which reads and writes a field. */
typedef struct {
    PyObject_HEAD
    Layout *layout;
    const Node *record;
    const Place *place;
} Field;

/* program.c: reads the tuples that zcser.header.records.native makes; see there. -1 with an exception. */
int program_read(Layout *layout, PyObject *nodes);
int program_traverse(Layout *layout, visitproc visit, void *arg);
void program_clear(Layout *layout);
void program_free(Layout *layout);

/* scalar.c: how a scalar is read; NULL if there is none of this size. */
ScalarReader scalar_reader(Op op, Py_ssize_t size, bool is_swapped);
void scalar_store(Py_ssize_t size, bool is_swapped, char *at, uint64_t bits);
/* The bits of a value that Python's own number is, in range; false, without an exception, of any other. */
bool scalar_bits(Op op, Py_ssize_t size, PyObject *value, uint64_t *bits);

/* unpack.c. What is unpacked lies at `base + offset`; `source` is the object whose memory begins at `base`. */
PyObject *unpack(const Layout *layout, const Node *node, const char *base, Py_ssize_t offset, PyObject *source);
/* Has objects of a plain tuple class, which nobody else made, freed in less time. */
void own_record_type(PyTypeObject *type);
PyObject *layout_unpack_from(Layout *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);

/* memory.c. The export of a buffer that is plain bytes to its end, and has a record of `size` at `offset`: 0; or 1,
   without an exception, where Python is to look. */
int buffer_take(PyObject *source, Py_ssize_t offset, Py_ssize_t size, Py_buffer *buffer);
/* The arguments (buffer, offset=0) of a method; 0, or 1 where the offset is for Python to look at, -1 with an exception. */
int place_arguments(const char *function, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames, PyObject **source,
                    PyObject **offset, Py_ssize_t *number);
/* One that is released already is without a buffer, as Python is to look. NULL with an exception. */
Memory *memory_new(Layout *layout, PyObject *source, Py_ssize_t offset);
void memory_release(Memory *self);
/* Begin to use a memory, which stays until `memory_leave`; -1 with ReleasedViewError. */
int memory_enter(Memory *self);
void memory_leave(Memory *self);
int raise_released(const Layout *layout);
/* The buffer as Python's functions take it. */
PyObject *source_bytes(const Layout *layout, PyObject *source);

/* view.c */
PyObject *view_new(Memory *memory, const Node *node, char *start);
PyObject *layout_view(Layout *self, PyObject *const *args, Py_ssize_t nargs, PyObject *kwnames);
PyObject *layout_set_view(Layout *self, PyObject *args);

extern PyType_Spec memory_spec, view_spec, field_spec, packer_spec;

#endif
