/* The layout of a program's tables and structs, once all nodes are known. */
#include "program.h"

#include <stdlib.h>

static int compare_parts(const void *left, const void *right)
{
    const Part *one = left, *other = right;
    if (one->align != other->align) {
        return other->align - one->align;
    }
    return one->size != other->size ? (one->size < other->size ? 1 : -1) : one->index - other->index;
}

/* By number; a union's is written once its value is, the numbers of several before. */
static int compare_order(const void *left, const void *right)
{
    const Part *one = left, *other = right;
    return one->place != other->place ? one->place - other->place
           : one->size == 1           ? 1
           : other->size == 1         ? -1
                                      : one->index - other->index;
}

/* Sizes, once those of all nodes are known; of a union, those of the slot before. */
static int measure(Engine *engine, const Node *node, Place *place)
{
    if (place->node >= engine->node_count) {
        return bad_program("a place's node");
    }
    const Node *target = &engine->nodes[place->node];
    place->size = target->size;
    place->align = target->op == OP_STRUCT || target->op == OP_ARRAY ? target->align : (uint16_t)target->size;
    place->kind_size = target->op == OP_UNION || target->op == OP_ONEOF ? 1 : target->op == OP_ONEOFS ? 4 : 0;
    if (node->op == OP_STRUCT && (!is_inline(target->op) || place->offset + (uint64_t)place->size > node->size)) {
        return bad_program("a struct's field");
    }
    if (place->kind_size != 0 && place->index == 0) {
        return bad_program("a union's place");
    }
    return 0;
}

/* The parts of a table. */
static int lay_out(Engine *engine, Node *node)
{
    bool is_table = node->op == OP_TABLE || node->op == OP_BOX || node->op == OP_ENTRY;
    node->parts = program_allocate(2 * node->place_count, sizeof *node->parts);
    if (node->parts == NULL) {
        return -1;
    }
    for (Py_ssize_t position = 0; position < node->place_count; position++) {
        Place *place = &node->places[position];
        if (measure(engine, node, place)) {
            return -1;
        }
        const Node *target = &engine->nodes[place->node];
        if (is_table && place->kind_size != 0) {
            node->parts[node->part_count++]
                = (Part){target, place->index - 1, (uint16_t)position, place->kind_size, place->kind_size, true};
        }
        if (is_table) {
            node->parts[node->part_count++]
                = (Part){target, place->index, (uint16_t)position, place->size, place->align, false};
            node->has_wide = node->has_wide || (!is_inline(target->op) && place->size == 8);
        }
    }
    qsort(node->parts, (size_t)node->part_count, sizeof *node->parts, compare_parts);
    node->written = node->parts;
    if (node->has_wide) {
        node->written = program_allocate(node->part_count, sizeof *node->written);
        if (node->written == NULL) {
            return -1;
        }
        memcpy(node->written, node->parts, (size_t)node->part_count * sizeof *node->written);
        qsort(node->written, (size_t)node->part_count, sizeof *node->written, compare_order);
    }
    return 0;
}

/* Structs and arrays inside each other; a schema has fewer. */
enum { MOST_LEVELS = 100 };

/* What a struct or array holds. What stands inline is read and written without a look at its end: its parts fill it. */
static int gauge(Engine *engine, Node *node, int outer)
{
    bool is_array = node->op == OP_ARRAY;
    if ((!is_array && node->op != OP_STRUCT) || node->levels != 0) {
        return 0;
    }
    Py_ssize_t count = is_array ? 1 : node->place_count;
    uint64_t items = 0;
    uint32_t levels = 0;
    for (Py_ssize_t position = 0; position < count; position++) {
        Node *part = &engine->nodes[is_array ? node->item : node->places[position].node];
        if (outer == MOST_LEVELS || gauge(engine, part, outer + 1)) {
            return bad_program("a struct in itself");
        }
        items += part->item_count;
        node->has_enum = node->has_enum || part->has_enum || part->op == OP_ENUM;
        levels = part->levels > levels ? part->levels : levels;
    }
    if (is_array) {
        const Node *item = &engine->nodes[node->item];
        if (!is_inline(item->op) || node->bound < 0 || (uint64_t)node->bound * item->size != node->size) {
            return bad_program("an array");
        }
        items = (uint64_t)node->bound * (1 + items);
    }
    node->item_count = items;
    node->levels = levels + 1;
    return 0;
}

int program_lay_out(Engine *engine)
{
    for (uint32_t index = 0; index < engine->node_count; index++) {
        if (lay_out(engine, &engine->nodes[index])) {
            return -1;
        }
    }
    for (uint32_t index = 0; index < engine->node_count; index++) {
        if (gauge(engine, &engine->nodes[index], 0)) {
            return -1;
        }
    }
    return 0;
}
