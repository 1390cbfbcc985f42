/* Encoding a message: what the files encode*.c share.

   1. The head of a message is written front to back into scratch memory, by offsets: the memory moves when it grows.
      What the tail will hold is collected, with the places in the head that lead to it.
   2. Every object is held by a reference of the encoder's own for as long as its bytes are needed, since code of the
      user may run in between. A value is read once: what was found is what is written.
   3. -1 is a misfit, with a reason, or with an exception that Python code raised; the caller tells which are to be let
      through. Nothing is cleaned up on the way out: encoder_end and encoder_clear give all back.
*/
#ifndef ZCSER_FLAT_ENCODE_H
#define ZCSER_FLAT_ENCODE_H

#include "flat.h"

/* Sizes of the arrays that an encoder begins with, on the stack: those of most messages. */
enum { FIRST_HELD = 48, FIRST_FORMS = 16, FIRST_TABLES = 48, FIRST_TAIL = 4 };

/* Which slots a node's tables have, and their vtable in this message. Indices of forms are one more, so that 0 is
   none. */
typedef struct {
    uint64_t present;      /* A bit per place; of a node with more than 64 places, where its words stand. */
    uint32_t vtable;
    uint32_t size;         /* Bytes of the table. */
    uint32_t next;         /* The node's form that was met before. */
    bool has_eight;        /* A slot of 8 bytes. */
} Form;

/* What stands in the tail. */
typedef struct {
    Py_buffer data;
    PyObject *array;       /* Where the data are those of an array. */
    size_t patch;          /* Place in the head of the offset that leads to it. */
    size_t at;             /* Place of the data, once the head is complete; the length stands before it. */
} TailItem;

typedef struct {
    Engine *engine;
    /* The head. */
    char *head;
    size_t size;
    size_t capacity;
    size_t alignment;      /* That the message's address needs for its scalars: 4 or 8. */
    size_t total;          /* Bytes of the whole message, once the head is complete. */
    uint64_t growths;
    const char *reason;    /* Of a misfit. */
    Py_ssize_t elements;   /* Left, of limits.elements. */
    Py_ssize_t depth;
    /* Values of the tables at work, NULL where a table lacks one; references of the encoder's own. */
    PyObject **held;
    size_t held_count;
    size_t held_capacity;
    Form *forms;
    size_t form_count;
    size_t form_capacity;
    uint32_t *newest;      /* By number of the node's table: its newest form. */
    uint64_t *words;       /* Of wide tables. */
    size_t word_count;
    size_t word_capacity;
    TailItem *tail;
    size_t tail_count;
    size_t tail_capacity;
    PyObject *first_held[FIRST_HELD];
    Form first_forms[FIRST_FORMS];
    uint32_t first_newest[FIRST_TABLES];
    TailItem first_tail[FIRST_TAIL];
} Encoder;

/* encode.c */

/* Write the head of a value, or of its normal form, and lay out the whole. To be ended in any case. */
int encode_all(Encoder *encoder, Engine *engine, PyObject *value);
/* Raise an error that a call made, which is let go; NULL where the call failed. */
void raise_made(PyObject *error);
/* Raise what a misfit, or the exception that is set, means for a value that was to be normal. */
void raise_misfit(Engine *engine, const char *reason);

/* encode_out.c */

void write_message(const Encoder *encoder, char *out);

/* encode_scratch.c */

/* Begin with nothing written; takes the engine's memory. To be ended even if it fails. */
int encoder_begin(Encoder *encoder, Engine *engine);
/* Forget what was written, to begin again. */
void encoder_clear(Encoder *encoder);
void encoder_end(Encoder *encoder);

int grow_head(Encoder *encoder, size_t more);
int grow_held(Encoder *encoder, size_t more);
Form *new_form(Encoder *encoder);
/* Room for more words at the end of `words`; they do not count yet. */
int grow_words(Encoder *encoder, size_t more);
/* A further item of the tail, which is not there until tail_count says so. */
TailItem *new_tail_item(Encoder *encoder);

/* encode_table.c */

/* Write a table whose values are the `place_count` held last, which are let go. */
int encode_table(Encoder *encoder, const Node *node, size_t *table);
/* The value of a node that stands alone: a TABLE, TENSOR or BOX. */
int encode_alone(Encoder *encoder, const Node *node, PyObject *value, size_t *table);
/* An entry of a map, an ENTRY. */
int encode_entry(Encoder *encoder, const Node *node, PyObject *key, PyObject *value, size_t *table);
/* Remember a form, whose vtable was written, as the newest of a node. */
int remember_form(Encoder *encoder, const Node *node, Form *form);

/* encode_value.c */

/* Write what the offset at `slot` leads to, of any node that is no scalar and no union. What stands in the tail is only
   collected, and `target` left as it is. */
int encode_value(Encoder *encoder, const Node *node, PyObject *value, size_t slot, size_t *target);

/* encode_scalar.c */

/* Write the number of a scalar of a node. */
int encode_scalar(Encoder *encoder, const Node *node, PyObject *value, char *place);

/* encode_vector.c */

int encode_list(Encoder *encoder, const Node *node, PyObject *list, size_t *vector);
int encode_map(Encoder *encoder, const Node *node, PyObject *map, size_t *vector);

/* encode_text.c */

/* The length, UTF-8 and a 0, of any str; `most` bytes, or any with -1. */
int encode_string(Encoder *encoder, PyObject *value, Py_ssize_t most, size_t *target);

/* encode_tensor.c */
int encode_tensor(Encoder *encoder, const Node *node, PyObject *array, size_t *table);

static inline int misfit(Encoder *encoder, const char *reason)
{
    encoder->reason = reason;
    return -1;
}

/* Room for `more` bytes of the head. */
static inline int reserve_head(Encoder *encoder, size_t more)
{
    return encoder->capacity - encoder->size >= more ? 0 : grow_head(encoder, more);
}

/* The next multiple of 4, with zeros before it, and room for `more` bytes there. */
static inline int align_head(Encoder *encoder, size_t more)
{
    if (reserve_head(encoder, more + 3)) {
        return -1;
    }
    memset(encoder->head + encoder->size, 0, 3);
    encoder->size = (encoder->size + 3) & ~(size_t)3;
    return 0;
}

/* As above, to 4 bytes before a multiple of 8. */
static inline int align_head_eight(Encoder *encoder, size_t more)
{
    if (align_head(encoder, more + 4)) {
        return -1;
    }
    if ((encoder->size & 4) == 0) {
        store_u32(encoder->head + encoder->size, 0);
        encoder->size += 4;
    }
    encoder->alignment = 8;
    return 0;
}

/* Write, at a place, the offset that leads from there to a later one. */
static inline void point(Encoder *encoder, size_t place, size_t target)
{
    store_u32(encoder->head + place, (uint32_t)(target - place));
}

/* Hold a reference, which is the encoder's from here on. Room was reserved. */
static inline void hold(Encoder *encoder, PyObject *value)
{
    encoder->held[encoder->held_count++] = value;
}

static inline int reserve_held(Encoder *encoder, size_t more)
{
    return encoder->held_capacity - encoder->held_count >= more ? 0 : grow_held(encoder, more);
}

/* Let go of all but the first `count` held. */
static inline void let_go(Encoder *encoder, size_t count)
{
    while (encoder->held_count > count) {
        Py_XDECREF(encoder->held[--encoder->held_count]);
    }
}

/* Enter a record, list or map, where their depth counts. */
static inline int enter(Encoder *encoder)
{
    if (!encoder->engine->counts_depth) {
        return 0;
    }
    if (encoder->depth >= encoder->engine->depth) {
        return misfit(encoder, "nested deeper than limits.depth");
    }
    if (Py_EnterRecursiveCall(" while a message is encoded")) {
        return -1;
    }
    encoder->depth++;
    return 0;
}

static inline void leave(Encoder *encoder)
{
    if (encoder->engine->counts_depth) {
        encoder->depth--;
        Py_LeaveRecursiveCall();
    }
}

#endif
