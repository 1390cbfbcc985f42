/* The walk: from field to field, into messages that lead to payloads, over all others. */
#include "protowire.h"

#define LONGEST_SIZE 5

void walk_rewind(Walk *walk)
{
    walk->gap = 0;
    walk->elsewhere = 0;
    walk->limit = walk->gap_count > 0 ? walk->gaps[0].place : walk->size;
}

/* Step over the gap that begins here; its number among the buffers. */
uint64_t walk_pass_gap(Walk *walk)
{
    walk->elsewhere += walk->gaps[walk->gap].size;
    walk->gap++;
    walk->limit = walk->gap < walk->gap_count ? walk->gaps[walk->gap].place : walk->size;
    return (uint64_t)walk->gap;
}

/* The byte at a place before `limit`. */
static inline const uint8_t *byte_at(const Walk *walk, uint64_t at)
{
    return walk->data + (at - walk->elsewhere);
}

static inline int read_size(const Walk *walk, uint64_t *at, uint64_t end, uint64_t *number)
{
    uint64_t found = 0;
    for (int shift = 0; shift < 7 * LONGEST_SIZE && *at < end; shift += 7) {
        uint8_t byte = *byte_at(walk, (*at)++);
        found |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) {
            *number = found;
            return 0;
        }
    }
    return -1;
}

static inline int step_over_varint(const Walk *walk, uint64_t *at, uint64_t end)
{
    for (int count = 0; count < LONGEST_VARINT && *at < end; count++) {
        if (*byte_at(walk, (*at)++) < 128) {
            return 0;
        }
    }
    return -1;
}

static inline int step_over(uint64_t *at, uint64_t end, uint64_t size)
{
    if (size > end - *at) {
        return -1;
    }
    *at += size;
    return 0;
}

static int step_over_group(const Walk *walk, uint64_t *at, uint64_t end)
{
    uint64_t tag, size;
    for (uint64_t open = 1; open > 0;) {
        if (read_size(walk, at, end, &tag)) {
            return -1;
        }
        int status = 0;
        switch (tag & 7) {
        case VARINT:
            status = step_over_varint(walk, at, end);
            break;
        case FIXED64:
            status = step_over(at, end, 8);
            break;
        case LENGTH:
            status = read_size(walk, at, end, &size) || step_over(at, end, size);
            break;
        case GROUP:
            open++;
            break;
        case GROUP_END:
            open--;
            break;
        case FIXED32:
            status = step_over(at, end, 4);
            break;
        default:
            return -1;
        }
        if (status) {
            return -1;
        }
    }
    return 0;
}

static const Route *find_route(const Node *node, uint64_t tag)
{
    Py_ssize_t low = 0, high = node->count;
    while (low < high) {
        Py_ssize_t middle = low + (high - low) / 2;
        if (node->routes[middle].tag < tag) {
            low = middle + 1;
        }
        else {
            high = middle;
        }
    }
    return low < node->count && node->routes[low].tag == tag ? &node->routes[low] : NULL;
}

/* Note an edit; its place among them. */
static Py_ssize_t add_edit(Walk *walk, const Edit *edit)
{
    if (walk->edit_count == walk->edit_room) {
        Py_ssize_t room = 2 * walk->edit_room;
        Edit *grown = PyMem_Malloc((size_t)room * sizeof *grown);
        if (grown == NULL) {
            PyErr_NoMemory();
            return -1;
        }
        memcpy(grown, walk->edits, (size_t)walk->edit_count * sizeof *grown);
        if (walk->edits != walk->at_hand) {
            PyMem_Free(walk->edits);
        }
        walk->edits = grown;
        walk->edit_room = room;
    }
    walk->edits[walk->edit_count] = *edit;
    return walk->edit_count++;
}

static int walk_fields(Walk *walk, const Node *node, uint64_t at, uint64_t end, int depth, int64_t *growth);

/* Note a payload, or a stand-in, if there is to be an edit for it. */
static int walk_payload(Walk *walk, Edit *edit, int64_t *growth)
{
    if (!walk->is_cut) {
        if (edit->old_size != STAND_IN_SIZE) {
            return 0;
        }
        const uint8_t *stand_in = byte_at(walk, edit->body);
        edit->payload = load_u32(stand_in);
        edit->new_size = load_u32(stand_in + 8);
        if (edit->target == TENSOR && walk->is_aligned) {
            *growth += PADDING_BYTES;
        }
    }
    else {
        const Gap *gap = walk->gap < walk->gap_count ? &walk->gaps[walk->gap] : NULL;
        if (gap != NULL && gap->place == edit->body && gap->size == edit->old_size) {
            edit->payload = (uint32_t)walk_pass_gap(walk);
        }
        else if (edit->old_size < walk->least && edit->old_size != STAND_IN_SIZE) {
            return 0;
        }
        edit->new_size = STAND_IN_SIZE;
    }
    *growth += (int64_t)edit->new_size - (int64_t)edit->old_size + (int64_t)varint_size(edit->new_size)
        - (int64_t)(edit->body - edit->length);
    return add_edit(walk, edit) < 0 ? -1 : 0;
}

/* Walk a message inside another one. */
static int walk_inside(Walk *walk, Edit *edit, int depth, int64_t *growth)
{
    if (depth == MAX_NESTING) {
        return -1;
    }
    const Node *node = &walk->walker->nodes[edit->target];
    Py_ssize_t place = add_edit(walk, edit);
    int64_t inside = 0;
    if (place < 0 || walk_fields(walk, node, edit->body, edit->body + edit->old_size, depth + 1, &inside)) {
        return -1;
    }
    if (walk->edit_count == place + 1) {
        walk->edit_count = place;
        return 0;
    }
    uint64_t size = (uint64_t)((int64_t)edit->old_size + inside);
    walk->edits[place].new_size = size;
    *growth += inside + (int64_t)varint_size(size) - (int64_t)(edit->body - edit->length);
    return 0;
}

static int walk_fields(Walk *walk, const Node *node, uint64_t at, uint64_t end, int depth, int64_t *growth)
{
    while (at < end) {
        /* A gap ends what can be read; only a payload steps over it. */
        uint64_t readable = end < walk->limit ? end : walk->limit;
        Edit edit = {.tag = at};
        uint64_t tag;
        if (read_size(walk, &at, readable, &tag)) {
            return -1;
        }
        int status = 0;
        switch (tag & 7) {
        case VARINT:
            status = step_over_varint(walk, &at, readable);
            break;
        case FIXED64:
            status = step_over(&at, readable, 8);
            break;
        case FIXED32:
            status = step_over(&at, readable, 4);
            break;
        case GROUP:
            status = step_over_group(walk, &at, readable);
            break;
        case LENGTH: {
            edit.length = at;
            if (read_size(walk, &at, readable, &edit.old_size)) {
                return -1;
            }
            edit.body = at;
            status = step_over(&at, end, edit.old_size);
            const Route *route = status == 0 ? find_route(node, tag) : NULL;
            if (route != NULL) {
                edit.target = route->target;
                status = edit.target < 0 ? walk_payload(walk, &edit, growth) : walk_inside(walk, &edit, depth, growth);
            }
            if (at > walk->limit) {
                return -1;
            }
            break;
        }
        default:
            return -1;
        }
        if (status) {
            return -1;
        }
    }
    return 0;
}

int walk_message(Walk *walk, int64_t *growth)
{
    walk_rewind(walk);
    *growth = 0;
    const Node *root = &walk->walker->nodes[walk->walker->root];
    if (walk_fields(walk, root, 0, walk->size, 1, growth)) {
        return -1;
    }
    return walk->gap == walk->gap_count ? 0 : -1;
}
