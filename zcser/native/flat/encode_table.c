/* Encoding tables: what values their slots take, their vtables, and their bytes.

   The values of a table are held side by side, one for each place, before any byte of it is written: which slots it has
   says where each stands. */
#include "encode.h"

#define PLACES_PER_WORD 64

/* Whether None means that the table lacks the slot. */
static bool is_lacking(const Encoder *encoder, const Place *place)
{
    return place->missing == MISSING_NONE
           || (place->missing == MISSING_ZERO && encoder->engine->nodes[place->node].op == OP_NULL);
}

/* Hold the value of a place; steals the reference. */
static void hold_value(Encoder *encoder, const Place *place, PyObject *value)
{
    if (value == Py_None && is_lacking(encoder, place)) {
        Py_DECREF(value);
        value = NULL;
    }
    hold(encoder, value);
}

static int hold_attributes(Encoder *encoder, const Node *node, PyObject *record)
{
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        const Place *place = &node->places[position];
        PyObject *value;
        if (place->member >= 0) {
            value = *(PyObject **)((char *)record + place->member);
            if (value == NULL) {
                return misfit(encoder, "a field is unset");
            }
            Py_INCREF(value);
        } else {
            value = PyObject_GetAttr(record, place->name);
            if (value == NULL) {
                return misfit(encoder, "a field is unset");
            }
        }
        hold_value(encoder, place, value);
    }
    return 0;
}

static int hold_items(Encoder *encoder, const Node *node, PyObject *record)
{
    Py_ssize_t found = 0;
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        const Place *place = &node->places[position];
        PyObject *value = dict_item(record, place->name);
        if (value != NULL) {
            found++;
            hold_value(encoder, place, value);
        } else if (PyErr_Occurred() || (place->missing != MISSING_ABSENT && !place->may_lack)) {
            return misfit(encoder, "a field is missing");
        } else {
            hold(encoder, NULL);
        }
    }
    return found == PyDict_GET_SIZE(record) ? 0 : misfit(encoder, "an unknown field");
}

static int encode_record(Encoder *encoder, const Node *node, PyObject *record, size_t *table)
{
    PyTypeObject *cls = node->cls == NULL ? &PyDict_Type : (PyTypeObject *)node->cls;
    if (!Py_IS_TYPE(record, cls)) {
        return misfit(encoder, "a record of another class");
    }
    if (reserve_held(encoder, (size_t)node->place_count) || enter(encoder)) {
        return -1;
    }
    int failed = node->cls == NULL ? hold_items(encoder, node, record) : hold_attributes(encoder, node, record);
    if (!failed) {
        failed = encode_table(encoder, node, table);
    }
    leave(encoder);
    return failed;
}

/* Begin a table: its offset to the vtable, and room for its slots. */
static int begin_table(Encoder *encoder, const Form *form, size_t *table)
{
    if (form->align == 4   ? align_head(encoder, form->size)
        : form->align == 8 ? align_head_eight(encoder, form->size)
                           : align_head_past(encoder, form->align, 4, form->size)) {
        return -1;
    }
    *table = encoder->size;
    encoder->size += form->size;
    store_u32(encoder->head + *table, (uint32_t)(*table - form->vtable));
    return 0;
}

/* The form of the tables of a node that have its first place alone, if one was met; NULL: none was. */
static inline const Form *form_of_first(const Encoder *encoder, const Node *node)
{
    uint32_t index = encoder->newest[node->table];
    while (index != 0 && encoder->forms[index - 1].present != 1) {
        index = encoder->forms[index - 1].next;
    }
    return index == 0 ? NULL : &encoder->forms[index - 1];
}

/* A BOX of a scalar or string, of which most are, of a form that was met: nothing has to be held, as no code of the user
   runs. */
static int encode_plain_box(Encoder *encoder, const Node *node, const Form *form, PyObject *value, size_t *table)
{
    const Node *item = node->parts[0].node;
    size_t target, slot;
    if (begin_table(encoder, form, table)) {
        return -1;
    }
    slot = *table + 4;
    if (item->op != OP_STRING) {
        return encode_scalar(&encoder->reason, item, value, encoder->head + slot);
    }
    if (encode_string(encoder, value, item->bound, &target)) {
        return -1;
    }
    point(encoder, slot, target);
    return 0;
}

int encode_alone(Encoder *encoder, const Node *node, PyObject *value, size_t *table)
{
    if (node->op == OP_TABLE) {
        return encode_record(encoder, node, value, table);
    }
    if (node->op == OP_TENSOR) {
        return encode_tensor(encoder, node, value, table);
    }
    const Node *item = node->parts[0].node;
    if (item->op <= OP_STRING && item->op != OP_NULL && !item->is_in_tail && value != Py_None) {
        const Form *form = form_of_first(encoder, node);
        if (form != NULL) {
            return encode_plain_box(encoder, node, form, value, table);
        }
    }
    if (reserve_held(encoder, 1)) {
        return -1;
    }
    hold_value(encoder, node->places, Py_NewRef(value));
    return encode_table(encoder, node, table);
}

int encode_entry(Encoder *encoder, const Node *node, PyObject *key, PyObject *value, size_t *table)
{
    if (reserve_held(encoder, 2)) {
        return -1;
    }
    hold(encoder, Py_NewRef(key));
    hold_value(encoder, &node->places[1], Py_NewRef(value));
    return encode_table(encoder, node, table);
}

/* Write the vtable of a table whose values are those held from `base` on, and say what it is of. */
static int write_vtable(Encoder *encoder, const Node *node, size_t base, Form *form)
{
    PyObject *const *values = encoder->held + base;
    Py_ssize_t last = node->place_count;
    while (last > 0 && values[last - 1] == NULL) {
        last--;
    }
    size_t size = 4 + (last == 0 ? 0 : 2 * ((size_t)node->places[last - 1].index + 1));
    if (align_head(encoder, size)) {
        return -1;
    }
    char *vtable = encoder->head + encoder->size;
    memset(vtable + 4, 0, size - 4);
    size_t table_size = 4;
    form->vtable = (uint32_t)encoder->size;
    form->align = 4;
    for (Py_ssize_t number = 0; number < node->part_count; number++) {
        const Part *part = &node->parts[number];
        if (values[part->place] != NULL) {
            store_u16(vtable + 4 + 2 * part->index, (uint16_t)table_size);
            table_size += part->size;
            form->align = part->align > form->align ? part->align : form->align;
        }
    }
    if (table_size > UINT16_MAX) {
        return misfit(encoder, "a table of more bytes than a vtable can address");
    }
    form->size = (uint32_t)table_size;
    store_u16(vtable, (uint16_t)size);
    store_u16(vtable + 2, (uint16_t)table_size);
    encoder->size += size;
    return 0;
}

int remember_form(Encoder *encoder, const Node *node, Form *form)
{
    uint32_t *newest = &encoder->newest[node->table];
    Form *kept = new_form(encoder);
    if (kept == NULL) {
        return -1;
    }
    form->next = *newest;
    *kept = *form;
    *newest = (uint32_t)encoder->form_count;
    return 0;
}

/* Which of up to 64 places are held. */
static inline uint64_t held_word(PyObject *const *values, size_t count)
{
    uint64_t word = 0;
    for (size_t position = 0; position < count; position++) {
        word |= (uint64_t)(values[position] != NULL) << position;
    }
    return word;
}

/* Set the words of a wide table behind those that are kept. */
static int set_words(Encoder *encoder, const Node *node, size_t base, size_t words)
{
    if (grow_words(encoder, words)) {
        return -1;
    }
    size_t left = (size_t)node->place_count;
    for (size_t word = 0; word < words; word++, base += PLACES_PER_WORD, left -= PLACES_PER_WORD) {
        size_t count = left < PLACES_PER_WORD ? left : PLACES_PER_WORD;
        encoder->words[encoder->word_count + word] = held_word(encoder->held + base, count);
    }
    return 0;
}

/* The form of the values held from `base` on; writes its vtable where the message has none that is remembered. */
static int find_form(Encoder *encoder, const Node *node, size_t base, Form *form)
{
    size_t words = 0;
    if (node->place_count <= PLACES_PER_WORD) {
        form->present = held_word(encoder->held + base, (size_t)node->place_count);
    } else {
        words = ((size_t)node->place_count + PLACES_PER_WORD - 1) / PLACES_PER_WORD;
        if (set_words(encoder, node, base, words)) {
            return -1;
        }
        form->present = encoder->word_count;
    }
    int count = 0;
    for (uint32_t index = encoder->newest[node->table]; index != 0; count++) {
        const Form *known = &encoder->forms[index - 1];
        if (words == 0 ? known->present == form->present
                       : !memcmp(encoder->words + known->present, encoder->words + form->present, 8 * words)) {
            *form = *known;
            return 0;
        }
        index = known->next;
    }
    if (write_vtable(encoder, node, base, form)) {
        return -1;
    }
    if (count == REMEMBERED) {
        return 0;
    }
    encoder->word_count += words;
    return remember_form(encoder, node, form);
}

/* Write a union's table, and say which option it is of. The value might change its own class meanwhile. */
static int encode_option(Encoder *encoder, const Node *node, PyObject *value, size_t *table, uint8_t *number)
{
    for (Py_ssize_t index = 0; index < node->option_count; index++) {
        const Option *option = &node->options[index];
        if ((PyObject *)Py_TYPE(value) == option->type) {
            *number = (uint8_t)(index + 1);
            return encode_alone(encoder, &encoder->engine->nodes[option->node], value, table);
        }
    }
    return misfit(encoder, "a value of no option of a union");
}

/* The place of a slot of a table at `at`. */
static inline size_t place_of_slot(const Encoder *encoder, const Form *form, size_t at, uint32_t index)
{
    return at + load_u16(encoder->head + form->vtable + 4 + 2 * (size_t)index);
}

/* Write one slot of a table at `at`, and of a union that of its number too. */
static int encode_part(Encoder *encoder, const Part *part, const Form *form, size_t held, size_t at, size_t slot)
{
    const Node *node = part->node;
    if (node->op <= OP_ENUM) {
        return encode_scalar(&encoder->reason, node, encoder->held[held], encoder->head + slot);
    }
    if (node->op >= OP_STRUCT) {
        return part->is_kind ? encode_kind(encoder, node, held, slot) : encode_further(encoder, node, held, slot);
    }
    size_t target = slot;
    if (node->op == OP_UNION) {
        uint8_t number;
        if (part->is_kind) {
            return 0;
        }
        if (encode_option(encoder, node, encoder->held[held], &target, &number)) {
            return -1;
        }
        encoder->head[place_of_slot(encoder, form, at, part->index - 1u)] = (char)number;
    } else if (encode_value(encoder, node, encoder->held[held], slot, &target)) {
        return -1;
    }
    point(encoder, slot, target);
    return 0;
}

int encode_table(Encoder *encoder, const Node *node, size_t *table)
{
    size_t base = encoder->held_count - (size_t)node->place_count, at;
    Form form;
    if (find_form(encoder, node, base, &form) || begin_table(encoder, &form, &at)) {
        return -1;
    }
    /* Parts of 4 bytes, which may lead elsewhere, stand in the order of their slots, as what they lead to does; wide
       ones do not. */
    size_t slot = at + 4;
    for (Py_ssize_t number = 0; number < node->part_count; number++) {
        const Part *part = &node->written[number];
        size_t held = base + part->place;
        if (encoder->held[held] != NULL) {
            if (node->has_wide) {
                slot = place_of_slot(encoder, &form, at, part->index);
            }
            if (encode_part(encoder, part, &form, held, at, slot)) {
                return -1;
            }
            slot += part->size;
        }
    }
    let_go(encoder, base);
    *table = at;
    return 0;
}
