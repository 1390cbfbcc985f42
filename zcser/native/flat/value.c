/* The descent through a message, which makes values or, where there is no room for one, only checks. */
#include "read.h"

/* Fields of a record that are held on the stack. */
#define FEW_FIELDS 16

/* Levels that the stack of a thread has room for (less than 1 KiB each), however high Python's own limit is set. */
#define DEEPEST 5000

static bool is_scalar(Op op)
{
    return op <= OP_ENUM;
}

/* The value of a place by its position in a table. */
static inline int make_field(Reader *reader, const Node *node, Py_ssize_t position, const TableAt *table,
                             PyObject **value)
{
    const Place *place = &node->places[position];
    if (table->known != NULL && place->kind_size == 0 && table->known->slots[position].offset != 0) {
        int found = read_plain(reader, &reader->engine->nodes[place->node],
                               table->at + table->known->slots[position].offset, &reader->bytes, value);
        if (found != 0) {
            return found < 0 ? -1 : 0;
        }
    }
    return read_place(reader, place, table, value);
}

/* Make a record of its table, whose place was counted. */
static int make_fields(Reader *reader, const Node *node, const TableAt *table, PyObject **value)
{
    PyObject *few[FEW_FIELDS], **fields = few;
    Py_ssize_t count = node->place_count, made = 0;
    if (count > FEW_FIELDS) {
        fields = PyMem_Malloc((size_t)count * sizeof *fields);
        if (fields == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    while (made < count && make_field(reader, node, made, table, &fields[node->places[made].position]) == 0) {
        made++;
    }
    if (made == count) {
        *value = make_record(node, fields);
    } else {
        for (Py_ssize_t index = 0; index < made; index++) {
            Py_XDECREF(fields[node->places[index].position]);
        }
        *value = NULL;
    }
    if (fields != few) {
        PyMem_Free(fields);
    }
    return *value == NULL ? -1 : 0;
}

/* Whether nothing is wrong with what stands at a slot's place, if it is a string; its bytes are counted then. Else
   read_place says what is wrong. */
static bool is_good_string(Reader *reader, const Node *node, uint64_t place)
{
    uint64_t first, size;
    if (node->op != OP_STRING || !find_string(reader, node, place, &first, &size)
        || !is_utf8(reader->base + first, size)) {
        return false;
    }
    reader->bytes -= (int64_t)(4 + size + 1);
    return true;
}

static int check_fields(Reader *reader, const Node *node, const TableAt *table)
{
    const Vtable *known = table->known;
    if (known == NULL) {
        for (Py_ssize_t index = 0; index < node->place_count; index++) {
            if (read_place(reader, &node->places[index], table, NULL)) {
                return -1;
            }
        }
        return 0;
    }
    for (uint32_t number = 0; number < known->check_count; number++) {
        const Place *place = &node->places[known->checks[number]];
        uint64_t at = table->at + known->slots[known->checks[number]].offset;
        if (!is_good_string(reader, &reader->engine->nodes[place->node], at)
            && read_place(reader, place, table, NULL)) {
            return -1;
        }
    }
    return 0;
}

static int read_record(Reader *reader, const Node *node, const TableAt *table, PyObject **value)
{
    return value == NULL ? check_fields(reader, node, table) : make_fields(reader, node, table, value);
}

int enter_record(Reader *reader, uint64_t at)
{
    if (!reader->engine->counts_depth) {
        return 0;
    }
    if (reader->depth >= reader->engine->depth) {
        return fault(reader, at, "nested deeper than limits.depth = %zd", reader->engine->depth);
    }
    if (reader->depth >= DEEPEST || Py_EnterRecursiveCall(" while reading a message")) {
        PyErr_Clear();
        return fault_of_all(reader, NOWHERE, false, "nested deeper than Python's stack");
    }
    reader->depth++;
    return 0;
}

void leave_record(Reader *reader)
{
    if (reader->engine->counts_depth) {
        reader->depth--;
        Py_LeaveRecursiveCall();
    }
}

/* The same where the schema is recursive. */
static int read_nested_record(Reader *reader, const Node *node, const TableAt *table, PyObject **value)
{
    if (enter_record(reader, table->at)) {
        return -1;
    }
    int failed = read_record(reader, node, table, value);
    leave_record(reader);
    return failed;
}

int read_alone(Reader *reader, const Node *node, uint64_t at, PyObject **value)
{
    TableAt table;
    if (read_table_at(reader, node, at, &table)) {
        return -1;
    }
    switch (node->op) {
    case OP_TABLE:
        return reader->engine->counts_depth ? read_nested_record(reader, node, &table, value)
                                            : read_record(reader, node, &table, value);
    case OP_TENSOR:
        return read_tensor(reader, node, &table, value);
    default:
        return value == NULL ? check_fields(reader, node, &table) : make_field(reader, node, 0, &table, value);
    }
}

int read_through(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    uint32_t offset = load_u32(reader->base + place);
    if (offset == 0) {
        return fault(reader, place, "an offset is 0");
    }
    return read_alone(reader, node, place + offset, value);
}

static int read_str(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    uint64_t first, size;
    int failed = 0;
    if (find_string(reader, node, place, &first, &size)) {
        reader->bytes -= (int64_t)(4 + size + 1);
    } else {
        failed = read_string(reader, node, place, &first, &size);
    }
    if (!failed && value == NULL) {
        failed = check_text(reader, first, size);
    } else if (!failed) {
        *value = read_text(reader, first, size);
        failed = *value == NULL;
    }
    leave_segment(reader);
    return failed ? -1 : 0;
}

static int read_found_bytes(Reader *reader, const Node *node, uint64_t first, uint64_t size, PyObject **value)
{
    if (node->bound >= 0 && size != (uint64_t)node->bound) {
        return fault(reader, vector_at(node, first), "bytes[%zd] is needed, not %llu bytes", node->bound,
                     (unsigned long long)size);
    }
    if (value == NULL) {
        return 0;
    }
    *value = read_slice(reader, first, size);
    return *value == NULL ? -1 : 0;
}

static int read_bytes(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    uint64_t first, size;
    int failed = read_vector(reader, node, place, 1, 1, &first, &size)
                 || read_found_bytes(reader, node, first, size, value);
    leave_segment(reader);
    return failed ? -1 : 0;
}

int read_value(Reader *reader, const Node *node, uint64_t place, uint64_t kind, PyObject **value)
{
    switch (node->op) {
    case OP_STRING:
        return read_str(reader, node, place, value);
    case OP_BYTES:
        return read_bytes(reader, node, place, value);
    case OP_NUMBERS:
        return read_numbers(reader, node, place, value);
    case OP_STRINGS:
        return read_strings(reader, node, place, value);
    case OP_TABLES:
        return read_tables(reader, node, place, value);
    case OP_MAP:
        return read_map(reader, node, place, value);
    case OP_UNION:
        return read_through(reader, &reader->engine->nodes[node->options[kind - 1].node], place, value);
    case OP_STRUCT:
    case OP_ARRAY:
        return read_inline(reader, node, place, value);
    case OP_STRUCTS:
        return read_structs(reader, node, place, value);
    case OP_ONEOF:
        return read_oneof(reader, node, place, kind, value);
    case OP_ONEOFS:
        return read_oneofs(reader, node, place, kind, value);
    case OP_NESTED:
        return read_nested(reader, node, place, value);
    default:
        return read_through(reader, node, place, value);
    }
}

PyObject *read_lacking(Reader *reader, const Place *place, uint64_t at)
{
    switch (place->missing) {
    case MISSING_ZERO:
        return Py_NewRef(place->lacking);
    case MISSING_NONE:
        return Py_NewRef(Py_None);
    case MISSING_DEFAULT:
        return PyObject_CallNoArgs(place->lacking);
    case MISSING_REFUSED:
        fault(reader, at, "a required field is missing");
        return NULL;
    default:
        return NULL;
    }
}

/* What a place means that its table lacks. */
static int lack(Reader *reader, const Place *place, const TableAt *table, PyObject **value)
{
    if (value != NULL) {
        *value = read_lacking(reader, place, table->at);
        return *value == NULL && place->missing != MISSING_ABSENT ? -1 : 0;
    }
    return place->missing == MISSING_REFUSED ? fault(reader, table->at, "a required field is missing") : 0;
}

int read_number(Reader *reader, const Node *node, uint64_t at, PyObject **value)
{
    if (value != NULL) {
        *value = read_scalar(reader, node, at);
        return *value == NULL ? -1 : 0;
    }
    if (node->op == OP_ENUM) {
        PyObject *member = read_scalar(reader, node, at);
        Py_XDECREF(member);
        return member == NULL ? -1 : 0;
    }
    return 0;
}

int read_place(Reader *reader, const Place *place, const TableAt *table, PyObject **value)
{
    const Node *node = &reader->engine->nodes[place->node];
    if (value == NULL && node->op < OP_ENUM) {
        return 0; /* Every number is one; where it stands was checked with the vtable. */
    }
    int kind, offset = find_slot(reader, node, table, place, &kind), failed = offset < 0;
    if (!failed) {
        uint64_t at = table->at + (uint64_t)offset;
        reader->at = table->at;
        if (offset == 0) {
            failed = lack(reader, place, table, value);
        } else if (is_scalar(node->op)) {
            failed = read_number(reader, node, at, value);
        } else {
            uint64_t base = place->kind_size == 4 ? table->at : 0;
            failed = read_value(reader, node, at, base + (uint64_t)kind, value);
        }
    }
    if (failed) {
        step_name(reader, place->name);
        return -1;
    }
    return 0;
}
