/* Changing scalars of a message in place: all of those that a call names, or none. */
#include "encode.h"
#include "walk.h"

#include <stddef.h>
#include <structmember.h>

/* Changes of a call that are held on the stack. */
enum { FEW_CHANGES = 8 };

/* Bytes that are to stand at a place of the buffer. */
typedef struct {
    uint64_t at;
    uint32_t size;
    char bytes[8];
} Change;

/* The paths that a call is to change, compiled: what is known of them before there is a message. */
typedef struct {
    PyObject_HEAD
    vectorcallfunc vectorcall;
    Engine *engine;
    PyObject *paths;      /* A tuple of tuples of steps. */
    const Place **places; /* Of each path: where it leads, if that is a scalar of the root, else NULL; of none, NULL. */
} Patcher;

/* The bytes of a value, or of its normal form, as encoding has them. */
static int make_number(Walk *walk, PyObject *value, char *bytes)
{
    Engine *engine = walk->engine;
    const char *reason = NULL;
    if (!engine->strict && encode_scalar(&reason, walk->node, value, bytes) == 0) {
        return 0;
    }
    PyErr_Clear();
    Py_ssize_t index = walk->node - engine->nodes;
    PyObject *normal = PyObject_CallFunction(engine->normal_part, "nOO", index, value, walk->steps);
    if (normal == NULL) {
        return -1;
    }
    int failed = encode_scalar(&reason, walk->node, normal, bytes);
    Py_DECREF(normal);
    if (failed) {
        PyErr_Clear();
        return walk_refuse(walk, PyUnicode_FromString(reason));
    }
    return 0;
}

/* Find a change step by step. The reader is as it begins. */
static int find_change(Engine *engine, const Reader *start, uint64_t root, PyObject *steps, PyObject *value,
                       Change *change)
{
    Walk walk = {.engine = engine, .reader = *start, .steps = steps, .node = &engine->nodes[engine->root], .at = root,
                 .is_table = true};
    int failed = walk_to_scalar(&walk) || make_number(&walk, value, change->bytes);
    change->at = walk.reader.origin + walk.at;
    change->size = walk.node->size;
    reader_end(&walk.reader);
    return failed;
}

/* The same of a scalar of the root's table, if that is known to have it and the value is in normal form; else false,
   and find_change says what there is. */
static bool find_at_once(const Engine *engine, const TableAt *table, const Place *place, PyObject *value,
                         Change *change)
{
    const Vtable *known = table->known;
    const char *reason;
    if (place == NULL || known == NULL || engine->strict) {
        return false;
    }
    uint16_t offset = known->slots[place - known->node->places].offset;
    if (offset == 0) {
        return false;
    }
    const Node *node = &engine->nodes[place->node];
    if (encode_scalar(&reason, node, value, change->bytes)) {
        PyErr_Clear();
        return false;
    }
    change->at = table->at + offset;
    change->size = node->size;
    return true;
}

/* Find what values change that are to stand at the ends of paths; of each path, `places` may know the place. */
static int find_changes(Engine *engine, const Py_buffer *buffer, PyObject *paths, const Place *const *places,
                        PyObject *const *values, Change *changes)
{
    Reader start;
    uint64_t root;
    TableAt table = {.known = NULL};
    if (reader_begin(&start, engine, buffer->buf, buffer->len, buffer->obj, false, &root)) {
        raise_fault(&start);
        return -1;
    }
    if (places[0] != NULL && read_table_at(&start, &engine->nodes[engine->root], root, &table)) {
        reader_end(&start); /* find_change finds what is wrong again. */
        table.known = NULL;
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(paths); index++) {
        if (!find_at_once(engine, &table, places[index], values[index], &changes[index])
            && find_change(engine, &start, root, PyTuple_GET_ITEM(paths, index), values[index], &changes[index])) {
            return -1;
        }
    }
    return 0;
}

static void write_change(char *message, const Change *change)
{
    char *place = message + change->at;
    switch (change->size) {
    case 8:
        memcpy(place, change->bytes, 8);
        break;
    case 4:
        memcpy(place, change->bytes, 4);
        break;
    case 2:
        memcpy(place, change->bytes, 2);
        break;
    default:
        *place = change->bytes[0];
    }
}

static int patch(Engine *engine, PyObject *out, PyObject *paths, const Place *const *places, PyObject *const *values)
{
    Py_ssize_t count = PyTuple_GET_SIZE(paths), start;
    Change few[FEW_CHANGES], *changes = few;
    Py_buffer buffer;
    if (count > FEW_CHANGES && (changes = PyMem_Malloc((size_t)count * sizeof *changes)) == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    int failed = take_buffer(engine, out, NULL, &buffer, &start);
    if (!failed) {
        failed = find_changes(engine, &buffer, paths, places, values, changes);
        for (Py_ssize_t index = 0; !failed && index < count; index++) {
            write_change(buffer.buf, &changes[index]);
        }
        PyBuffer_Release(&buffer);
    }
    if (changes != few) {
        PyMem_Free(changes);
    }
    return failed;
}

PyObject *engine_patch(Engine *engine, PyObject *const *args, Py_ssize_t nargs)
{
    static const Place *const UNKNOWN[] = {NULL};
    if (nargs != 3) {
        return PyErr_Format(PyExc_TypeError, "patch() takes a buffer, the steps of a path and a value, not %zd "
                                             "arguments", nargs);
    }
    PyObject *steps = PySequence_Tuple(args[1]), *paths = steps == NULL ? NULL : PyTuple_Pack(1, steps);
    int failed = paths == NULL || patch(engine, args[0], paths, UNKNOWN, &args[2]);
    Py_XDECREF(paths);
    Py_XDECREF(steps);
    if (failed) {
        return NULL;
    }
    Py_RETURN_NONE;
}

/* Patchers --------------------------------------------------------------------------------------------------------- */

/* The place of the root that a path of one step leads to, if that is a scalar; NULL, without an exception, if not. */
static const Place *root_place(const Engine *engine, PyObject *steps)
{
    const Node *root = &engine->nodes[engine->root];
    PyObject *step = PyTuple_GET_SIZE(steps) == 1 ? PyTuple_GET_ITEM(steps, 0) : NULL;
    if (step == NULL || !PyUnicode_CheckExact(step) || root->op != OP_TABLE) {
        return NULL;
    }
    for (Py_ssize_t position = 0; position < root->place_count; position++) {
        const Place *place = &root->places[position];
        if (PyUnicode_Compare(place->name, step) == 0) {
            return engine->nodes[place->node].op <= OP_ENUM ? place : NULL;
        }
    }
    return NULL;
}

static PyObject *patcher_call(Patcher *self, PyObject *const *args, size_t nargsf, PyObject *kwnames)
{
    Py_ssize_t given = PyVectorcall_NARGS(nargsf), wanted = 1 + PyTuple_GET_SIZE(self->paths);
    if (given != wanted || (kwnames != NULL && PyTuple_GET_SIZE(kwnames) != 0)) {
        return PyErr_Format(PyExc_TypeError, "a patcher of %zd paths takes a buffer and as many values, by position",
                            wanted - 1);
    }
    if (patch(self->engine, args[0], self->paths, self->places, args + 1)) {
        return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *tuple_of_tuples(PyObject *sequences)
{
    PyObject *list = PySequence_List(sequences);
    for (Py_ssize_t index = 0; list != NULL && index < PyList_GET_SIZE(list); index++) {
        PyObject *steps = PySequence_Tuple(PyList_GET_ITEM(list, index));
        if (steps == NULL || PyList_SetItem(list, index, steps)) {
            Py_CLEAR(list);
        }
    }
    PyObject *tuple = list == NULL ? NULL : PyList_AsTuple(list);
    Py_XDECREF(list);
    return tuple;
}

PyObject *engine_patcher(Engine *engine, PyObject *paths)
{
    PyObject *own = tuple_of_tuples(paths);
    Patcher *self = own == NULL ? NULL : PyObject_GC_New(Patcher, engine->state->patcher_type);
    if (self == NULL) {
        Py_XDECREF(own);
        return NULL;
    }
    self->vectorcall = (vectorcallfunc)patcher_call;
    self->engine = (Engine *)Py_NewRef(engine);
    self->paths = own;
    self->places = PyMem_Calloc((size_t)PyTuple_GET_SIZE(own) + 1, sizeof *self->places);
    PyObject_GC_Track(self);
    if (self->places == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    for (Py_ssize_t index = 0; index < PyTuple_GET_SIZE(own); index++) {
        self->places[index] = root_place(engine, PyTuple_GET_ITEM(own, index));
    }
    return (PyObject *)self;
}

static int patcher_traverse(Patcher *self, visitproc visit, void *arg)
{
    /* Nothing to clear: like a tuple, a patcher cannot be the whole of a cycle. */
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(self->engine);
    Py_VISIT(self->paths);
    return 0;
}

static void patcher_dealloc(Patcher *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    Py_XDECREF(self->engine);
    Py_XDECREF(self->paths);
    PyMem_Free(self->places);
    type->tp_free(self);
    Py_DECREF(type);
}

static PyMemberDef patcher_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Patcher, vectorcall), READONLY, NULL},
    {NULL, 0, 0, 0, NULL},
};

static PyType_Slot patcher_slots[] = {
    {Py_tp_doc, "Changes scalars in the messages of an engine: called with a buffer and their values."},
    {Py_tp_dealloc, patcher_dealloc},
    {Py_tp_traverse, patcher_traverse},
    {Py_tp_members, patcher_members},
    {Py_tp_call, PyVectorcall_Call},
    {0, NULL},
};

PyType_Spec patcher_spec = {
    .name = "zcser.native._flat.Patcher",
    .basicsize = sizeof(Patcher),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_HAVE_VECTORCALL
             | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = patcher_slots,
};
