/* Proofs: that a message breaks no rule of its schema, from its wire form alone.

   1. The message was parsed before: its wire form is sound, and strings are UTF-8.
   2. A proof that fails says nothing. zcser/protowire/check.py then looks at the parsed message, and finds what is wrong
      with it, if anything is: there alone stand the rules, and the words and paths of errors.
   3. So each occurrence of a field is held to its rule, those too that a later one replaces. Nothing is proved of a
      message that came in parts, to be merged, nor of one with a group.
*/
#include "protowire.h"

typedef struct {
    uint64_t tag;
    const uint8_t *body;
    uint64_t number;     /* The value of a varint; else the size of the body. */
} Field;

static inline bool read_varint(const uint8_t **at, const uint8_t *end, uint64_t *number)
{
    *number = 0;
    for (int shift = 0; shift < 7 * LONGEST_VARINT && *at < end; shift += 7) {
        uint8_t byte = *(*at)++;
        *number |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            return true;
        }
    }
    return false;
}

static inline bool next_field(const uint8_t **at, const uint8_t *end, Field *field)
{
    if (!read_varint(at, end, &field->tag)) {
        return false;
    }
    uint64_t size = 0;
    field->body = *at;
    switch (field->tag & 7) {
    case VARINT:
        return read_varint(at, end, &field->number);
    case FIXED64:
        size = 8;
        break;
    case FIXED32:
        size = 4;
        break;
    case LENGTH:
        if (!read_varint(at, end, &size)) {
            return false;
        }
        break;
    default:
        return false;
    }
    if (size > (uint64_t)(end - *at)) {
        return false;
    }
    field->body = *at;
    field->number = size;
    *at += size;
    return true;
}

static inline bool has_member(const Rule *rule, uint64_t number)
{
    int64_t value = (int64_t)number;
    return value >= rule->low && value <= rule->high
        && (rule->members == 0 || (rule->members >> (value - rule->low) & 1) != 0);
}

static bool prove_numbers(const Rule *rule, const uint8_t *at, const uint8_t *end)
{
    uint64_t number;
    while (at < end) {
        if (!read_varint(&at, end, &number) || !has_member(rule, number)) {
            return false;
        }
    }
    return true;
}

/* One more extent of a tensor: whether it is what the schema asks for, and the items still fit a message. */
static inline bool add_extent(const Rules *rules, uint64_t extent, int *rank, uint64_t *items)
{
    if (*rank == MAX_RANK || extent == 0 || extent > MOST_BYTES) {
        return false;
    }
    if (rules->rank >= 0 && (*rank >= rules->rank || (rules->extents[*rank] >= 0 && (uint64_t)rules->extents[*rank] != extent))) {
        return false;
    }
    ++*rank;
    *items *= extent;
    return *items <= MOST_BYTES;
}

static bool prove_tensor(const Prover *prover, const Rules *rules, const uint8_t *at, const uint8_t *end)
{
    uint64_t dtype = 0, size = 0, items = 1, extent;
    int rank = 0;
    Field field;
    while (at < end) {
        if (!next_field(&at, end, &field)) {
            return false;
        }
        switch (field.tag) {
        case DTYPE_TAG:
            dtype = field.number;
            break;
        case EXTENT_TAG:
            if (!add_extent(rules, field.number, &rank, &items)) {
                return false;
            }
            break;
        case SHAPE_TAG:
            for (const uint8_t *from = field.body; from < at;) {
                if (!read_varint(&from, at, &extent) || !add_extent(rules, extent, &rank, &items)) {
                    return false;
                }
            }
            break;
        case DATA_TAG:
            size = field.number == STAND_IN_SIZE ? load_u32(field.body + 8) : field.number;
            break;
        }
    }
    return dtype < prover->dtype_count && (rules->dtype < 0 || dtype == (uint64_t)rules->dtype)
        && (rules->rank < 0 || rank == rules->rank) && size > 0 && items * prover->itemsizes[dtype] == size;
}

static const Rule *find_rule(const Rules *rules, uint64_t tag)
{
    Py_ssize_t low = 0, high = rules->count;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (rules->rules[middle].tag < tag) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low < rules->count && rules->rules[low].tag == tag ? &rules->rules[low] : NULL;
}

static bool prove_message(const Prover *prover, const Rules *rules, const uint8_t *at, const uint8_t *end, int depth)
{
    if (rules->is_tensor) {
        return prove_tensor(prover, rules, at, end);
    }
    uint64_t seen = 0;
    Field field;
    while (at < end) {
        if (!next_field(&at, end, &field)) {
            return false;
        }
        const Rule *rule = find_rule(rules, field.tag);
        if (rule == NULL) {
            continue;
        }
        bool holds = true;
        if (rule->target == NUMBER) {
            holds = has_member(rule, field.number);
        }
        else if (rule->target == NUMBERS) {
            holds = prove_numbers(rule, field.body, at);
        }
        else if (rule->target >= 0) {
            holds = (seen & rule->bit) == 0 && depth < MAX_NESTING
                && prove_message(prover, &prover->rules[rule->target], field.body, at, depth + 1);
        }
        if (!holds) {
            return false;
        }
        seen |= rule->bit;
    }
    return (seen & rules->required) == rules->required && (rules->some == 0 || (seen & rules->some) != 0);
}

bool prove(const Prover *prover, const uint8_t *data, Py_ssize_t size)
{
    return prove_message(prover, &prover->rules[prover->root], data, data + size, 1);
}
