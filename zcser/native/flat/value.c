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
    while (made < count && read_place(reader, &node->places[made], table, &fields[node->places[made].position]) == 0) {
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

static int check_fields(Reader *reader, const Node *node, const TableAt *table)
{
    for (Py_ssize_t index = 0; index < node->place_count; index++) {
        if (read_place(reader, &node->places[index], table, NULL)) {
            return -1;
        }
    }
    return 0;
}

static int read_record(Reader *reader, const Node *node, const TableAt *table, PyObject **value)
{
    return value == NULL ? check_fields(reader, node, table) : make_fields(reader, node, table, value);
}

/* The same where the schema is recursive: the message says how deep it goes. */
static int read_nested_record(Reader *reader, const Node *node, const TableAt *table, PyObject **value)
{
    if (reader->depth >= reader->engine->depth) {
        return fault(reader, table->at, "nested deeper than limits.depth = %zd", reader->engine->depth);
    }
    if (reader->depth >= DEEPEST || Py_EnterRecursiveCall(" while reading a message")) {
        PyErr_Clear();
        return fault_of_all(reader, NOWHERE, false, "nested deeper than Python's stack");
    }
    reader->depth++;
    int failed = read_record(reader, node, table, value);
    reader->depth--;
    Py_LeaveRecursiveCall();
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
        return read_place(reader, &node->places[0], &table, value);
    }
}

/* Follow the offset at a place to a table, and read what stands alone there. */
static int read_through(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    uint32_t offset = load_u32(reader->base + place);
    if (offset == 0) {
        return fault(reader, place, "an offset is 0");
    }
    return read_alone(reader, node, place + offset, value);
}

static int read_str(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    uint64_t first;
    uint32_t size;
    if (read_string(reader, node, place, &first, &size)) {
        return -1;
    }
    if (value == NULL) {
        return check_text(reader, first, size);
    }
    *value = read_text(reader, first, size);
    return *value == NULL ? -1 : 0;
}

static int read_bytes(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    uint64_t first;
    uint32_t size;
    if (read_vector(reader, place, 1, &first, &size)) {
        return -1;
    }
    if (node->bound >= 0 && size != node->bound) {
        return fault(reader, first - 4, "bytes[%zd] is needed, not %u bytes", node->bound, (unsigned)size);
    }
    if (value == NULL) {
        return 0;
    }
    *value = read_slice(reader, first, size);
    return *value == NULL ? -1 : 0;
}

int read_value(Reader *reader, const Node *node, uint64_t place, uint32_t kind, PyObject **value)
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

static int read_present(Reader *reader, const Node *node, uint64_t at, uint32_t kind, PyObject **value)
{
    if (!is_scalar(node->op)) {
        return read_value(reader, node, at, kind, value);
    }
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
    int kind = 0, offset = slot_within(reader, table, place->index, place->size), failed = offset < 0;
    if (!failed && node->op == OP_UNION) {
        kind = read_kind(reader, node, table, place->index);
        failed = kind < 0;
        offset = kind == 0 ? 0 : offset;
    }
    if (!failed) {
        reader->at = table->at;
        failed = offset == 0 ? lack(reader, place, table, value)
                             : read_present(reader, node, table->at + (uint64_t)offset, (uint32_t)kind, value);
    }
    if (failed) {
        step_name(reader, place->name);
        return -1;
    }
    return 0;
}
