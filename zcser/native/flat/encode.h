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
    uint16_t align;        /* Of its slots, 4 at least. */
} Form;

/* What stands in the tail. */
typedef struct {
    Py_buffer data;
    PyObject *array;       /* Where the data are those of an array. */
    size_t patch;          /* Place in the head of the offset that leads to it. */
    size_t at;             /* Place of the data, once the head is complete; the length stands before it. */
    uint32_t width;        /* Bytes of an item, of which the length is the number. */
    uint16_t align;        /* Of the data. */
    uint8_t length_size;
    bool is_wide;          /* The offset has 8 bytes. */
    bool is_text;          /* A 0 follows. */
} TailItem;

/* A further offset that leads to a shared string. */
typedef struct {
    size_t patch;
    size_t item;           /* Of the tail. */
    bool is_wide;
} Repeat;

typedef struct {
    Engine *engine;
    /* The head. */
    char *head;
    size_t size;
    size_t capacity;
    size_t alignment;      /* That the message's address needs for its scalars, 4 or 8, and structs. */
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
    PyObject *shared;      /* Dict of strings that stand in the tail once, to their items' indices; NULL: none yet. */
    Repeat *repeats;
    size_t repeat_count;
    size_t repeat_capacity;
    PyObject *first_held[FIRST_HELD];
    Form first_forms[FIRST_FORMS];
    uint32_t first_newest[FIRST_TABLES];
    TailItem first_tail[FIRST_TAIL];
} Encoder;

/* encode.c */

/* Write the head of a value, or of its normal form, and lay out the whole. To be ended in any case. */
int encode_all(Encoder *encoder, Engine *engine, PyObject *value);
/* Raise an EncodeError for a reason, which is let go. */
void raise_reason(Engine *engine, PyObject *reason);
/* Raise an error that a call made, which is let go; NULL where the call failed. */
void raise_made(PyObject *error);
/* Raise what a misfit, or the exception that is set, means for a value that was to be normal. */
void raise_misfit(Engine *engine, const char *reason);

/* encode_out.c */

void write_message(const Encoder *encoder, char *out);
/* Take a writable buffer, and where the part of it begins that is to be written from `offset` (NULL: 0) on; -1 with an
   EncodeError. */
int take_buffer(Engine *engine, PyObject *out, PyObject *offset, Py_buffer *buffer, Py_ssize_t *start);

/* encode_scratch.c */

/* Begin with nothing written; takes the engine's memory. To be ended even if it fails. */
int encoder_begin(Encoder *encoder, Engine *engine);
/* Forget what was written, to begin again. */
void encoder_clear(Encoder *encoder);
void encoder_end(Encoder *encoder);

int grow_head(Encoder *encoder, size_t more);
/* The place from which on `before` bytes lead to a multiple of `align`, with zeros before it, and room for `more`
   there. */
int align_head_past(Encoder *encoder, size_t align, size_t before, size_t more);
int grow_held(Encoder *encoder, size_t more);
Form *new_form(Encoder *encoder);
/* Room for more words at the end of `words`; they do not count yet. */
int grow_words(Encoder *encoder, size_t more);
/* A further item of the tail, its data still to be set, which is not there until tail_count says so. */
TailItem *new_tail_item(Encoder *encoder);
Repeat *new_repeat(Encoder *encoder);

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

/* Write what the offset at `slot` leads to, of any node that is no scalar and no union, and before STRUCT. What stands
   in the tail is only collected, and `target` left as it is. */
int encode_value(Encoder *encoder, const Node *node, PyObject *value, size_t slot, size_t *target);
/* Write the slot of a node from STRUCT on, and what it leads to; and the slot before it. */
int encode_further(Encoder *encoder, const Node *node, size_t held, size_t slot);
int encode_kind(Encoder *encoder, const Node *node, size_t held, size_t slot);

/* encode_scalar.c */

/* Write the number of a scalar of a node; `reason` is set on a misfit. */
int encode_scalar(const char **reason, const Node *node, PyObject *value, char *place);

/* encode_vector.c */

int encode_list(Encoder *encoder, const Node *node, PyObject *list, size_t slot, size_t *vector);
int encode_map(Encoder *encoder, const Node *node, PyObject *map, size_t *vector);

int count_elements(Encoder *encoder, Py_ssize_t count);
/* A misfit: a list was changed while it was encoded. */
int list_changed(Encoder *encoder);
/* Write the length of a vector and leave its items open; the first is to stand at a multiple of `align`. */
int begin_vector(Encoder *encoder, Py_ssize_t count, size_t width, size_t align, size_t *vector);

/* encode_text.c */

/* The length, UTF-8 and a 0, of any str; `most` bytes, or any with -1. */
int encode_string(Encoder *encoder, PyObject *value, Py_ssize_t most, size_t *target);

/* encode_tail.c */

/* Leave bytes to the tail, where the offset of a node's value at `slot` will lead to them. */
int collect_bytes(Encoder *encoder, const Node *node, PyObject *bytes, size_t slot);
/* The same of a str. */
int collect_text(Encoder *encoder, const Node *node, PyObject *value, size_t slot);
/* Find the places of the tail, and lead there. */
int lay_out_tail(Encoder *encoder);

/* A STRING, in the head or left to the tail. */
static inline int encode_text(Encoder *encoder, const Node *node, PyObject *value, size_t slot, size_t *target)
{
    return node->is_in_tail ? collect_text(encoder, node, value, slot)
                            : encode_string(encoder, value, node->bound, target);
}

/* encode_struct.c */

/* Write what stands inline: a STRUCT, an ARRAY or a scalar, its gaps 0. The head does not move meanwhile. */
int encode_inline(Encoder *encoder, const Node *node, PyObject *value, char *place);
/* A STRUCT that an offset leads to. */
int encode_struct_apart(Encoder *encoder, const Node *node, PyObject *value, size_t *target);
/* A STRUCTS. */
int encode_structs(Encoder *encoder, const Node *node, PyObject *list, size_t slot, size_t *vector);

/* encode_oneof.c */

/* Write what the offset of a ONEOF leads to. What is held becomes the option's name. */
int encode_oneof(Encoder *encoder, const Node *node, size_t held, size_t slot, size_t *target);
/* The number of the option of a name that encode_oneof left. */
uint8_t number_of_name(const Node *node, const PyObject *name);
/* Write the numbers of a ONEOFS, whose slot is `slot`; and the offsets and values, whose slot comes next. */
int encode_numbers_of(Encoder *encoder, const Node *node, PyObject *list, size_t slot);
int encode_oneofs(Encoder *encoder, const Node *node, PyObject *list, size_t slot, size_t *vector);

/* encode_nested.c */

/* Write a NESTED as a message of its own, and leave it to the tail. */
int encode_nested(Encoder *encoder, const Node *node, PyObject *value, size_t slot);

/* encode.c: write the head of a message without a prefix or identifier. */
int encode_nested_head(Encoder *encoder, const Node *root, PyObject *value);

/* encode_tensor.c */
int encode_tensor(Encoder *encoder, const Node *node, PyObject *array, size_t *table);

#include "encode_inline.h"

#endif
