/* What the views of a message share: view.c, view_table.c, view_vector.c, view_map.c.

   1. All views of a message share one Message, which holds what they read from. Nothing else changes but that `release`
      lets go of it: at once, or when the last read at work and the last buffer handed out are done. Those of a nested
      message, and vectors in another segment than the first, have a Message of their own, which is used and released as
      the outermost one is.
   2. A view knows its table or vector, whose place and extent were checked when the view was made and lie in the
      message for good, as a message never changes its size. What is read there is checked at each access.
   3. What runs while a read is at work (a finaliser, a class of the user's) may release the message: the source stays
      until the read has left.
   4. The path of a fault begins at the part that the view shows: a view does not know where it came from.
*/
#ifndef ZCSER_FLAT_VIEW_H
#define ZCSER_FLAT_VIEW_H

#include "read.h"

#include <stddef.h>
#include <structmember.h>

typedef struct Message {
    PyObject_HEAD
    Reader start;          /* A reader as it begins; the outermost message owns its engine and its source. */
    struct Message *outer; /* Of a nested message, or a segment: the outermost one, owned; else NULL. */
    PyObject *pin;         /* Of a source other than bytes: a memoryview that nobody else has or releases. */
    Segments *segments;    /* Of a message in segments, which own its sources; owned. NULL: it is whole, or nested. */
    Py_ssize_t users;      /* Reads at work, and buffers handed out. */
    bool is_released;
} Message;

/* What all views begin with. */
typedef struct {
    PyObject_HEAD
    PyObject *weak_references;
    Message *message;
    const Node *node;
} View;

/* A record: a TABLE, STRUCT or ONEOF. */
typedef struct {
    View head;
    union {
        TableAt table;
        uint64_t struct_at;
        struct {
            uint64_t place;    /* Of the offset that leads to the value. */
            const Place *option;
        } oneof;
    };
} TableView;

/* A list, an array or a map. */
typedef struct {
    View head;
    uint64_t place;        /* Of the offset that leads to the vector; of an array, its own. */
    uint64_t kind;         /* ONEOFS: of the offset that leads to the numbers; else 0. */
    uint64_t first;        /* Of the items. */
    uint64_t numbers;      /* ONEOFS: of the first number. */
    Py_ssize_t count;
} VectorView;

/* A key that is looked for. */
typedef struct {
    const Place *place;    /* Where items have theirs. */
    bool is_inline;        /* Items are structs. */
    PyObject *key;
    const char *text;      /* UTF-8 of a str; NULL: it is a number. */
    Py_ssize_t size;
} Sought;

/* A record's field: reads it from the view of the record, by its name or as a descriptor. */
typedef struct {
    PyObject_HEAD
    Engine *engine;
    const Node *node;
    const Place *place;
} Field;

/* An object of a class, in the `spare` memory where there is some; NULL with an exception. And keep the memory of one
   that is gone, if there is no spare. Without the GIL, there never is. */
static inline PyObject *new_of(PyTypeObject *type, PyObject **spare)
{
    PyObject *found = *spare;
    if (found == NULL) {
        return _PyObject_GC_New(type);
    }
    *spare = NULL;
    return PyObject_Init(found, type);
}

static inline void free_to(PyObject *gone, PyObject **spare)
{
#ifndef Py_GIL_DISABLED
    if (*spare == NULL) {
        *spare = gone;
        return;
    }
#endif
    (void)spare;
    PyObject_GC_Del(gone);
}

/* A message over any buffer, or over segments, with its bytes: the rest of its reader begins later. NULL with an
   exception. */
Message *message_new(Engine *engine, PyObject *data);
Message *message_of_segments(Engine *engine, PyObject *given);

/* A message nested in another, or a segment of it, at work in a reader that entered it. NULL with an exception. */
Message *message_nested(Message *outer, const Reader *reader);

/* What message_enter and message_release act on. */
static inline Message *outermost(Message *self)
{
    return self->outer == NULL ? self : self->outer;
}

/* Let go of the source, once nobody uses it. */
void message_release(Message *self);

/* Begin to use a message, whose source stays until `message_leave`; -1 with ReleasedViewError. */
int message_enter(Message *self);
void message_leave(Message *self);

/* Give back a reader that began as a copy of `start`, leave the message, and hand on what was read: NULL means a fault
   or an exception. */
PyObject *message_finish(Message *self, Reader *reader, PyObject *value);

/* Find a table. That it has a vtable is enough to open it: its slots are checked one by one, when they are read. */
int find_table(Reader *reader, uint64_t at, TableAt *table);

/* What is seen of a value: itself, or a view of it. NULL with a fault or an exception. */
PyObject *show_slot(Message *message, Reader *reader, const TableAt *table, const Place *place);
PyObject *show_offset(Message *message, Reader *reader, const Node *node, uint64_t place);
PyObject *show_alone(Message *message, Reader *reader, const Node *node, uint64_t at);
/* What stands inline, a scalar, STRUCT or ARRAY. */
PyObject *show_inline(Message *message, Reader *reader, const Node *node, uint64_t at);
/* The view of a ONEOF of a number, and what the offset of its option leads to. */
PyObject *show_oneof(Message *message, Reader *reader, const Node *node, uint64_t place, uint64_t kind);
PyObject *show_option(Message *message, Reader *reader, const Node *node, uint64_t place);

/* view_search.c */

/* Begin to look for a key in the items of a vector: 1, or 0 if they cannot have it, -1 with an exception. */
int sought_begin(const Engine *engine, const Place *place, bool is_inline, PyObject *key, Sought *sought);
/* The item with a key, and its table unless it is a struct: 1 if there is one, 0 if not, -1 with a fault or an
   exception. */
int search(const VectorView *self, Reader *reader, const Sought *sought, Py_ssize_t *index, TableAt *table);
/* The table that an item of a vector of offsets is. */
int find_item(const VectorView *self, Reader *reader, Py_ssize_t index, TableAt *table);

/* view_table.c: find the fields of a node that a class has as attributes, for reading them. -1 with an exception. */
int set_attributes(Node *node, PyObject *cls, PyObject *fields);

/* What all views have, for the slots of their types. */
PyObject *view_new(PyTypeObject *type, PyObject *args, PyObject *kwargs);
void view_dealloc(View *self);
int view_traverse(View *self, visitproc visit, void *arg);
PyObject *view_value(View *self, PyObject *unused);
PyObject *view_release(View *self, PyObject *unused);
PyObject *view_retained(View *self, PyObject *unused);
extern PyMemberDef view_members[];

#define VIEW_METHODS                                                                                      \
    {"_zc_value", (PyCFunction)view_value, METH_NOARGS, "Decode this part of the message, with copies."}, \
    {"_zc_release", (PyCFunction)view_release, METH_NOARGS, "Let go of the message."},                    \
    {"_zc_retained", (PyCFunction)view_retained, METH_NOARGS, "Bytes of the message."}
#define VIEW_SLOTS                                                                         \
    {Py_tp_new, view_new}, {Py_tp_dealloc, view_dealloc}, {Py_tp_traverse, view_traverse}, \
    {Py_tp_members, view_members}
#define VIEW_FLAGS (Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_IMMUTABLETYPE)

/* How many items or entries there are; -1 with ReleasedViewError. */
Py_ssize_t vector_length(VectorView *self);

extern PyType_Spec message_spec, table_view_spec, field_spec, vector_view_spec, numbers_view_spec, map_view_spec;

#endif
