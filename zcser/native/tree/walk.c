/* The walk over a value or a tree. */
#include "tree.h"

/* Without a GIL another thread may change a container while it is walked. */
#ifdef Py_GIL_DISABLED
#define LOCK(container) Py_BEGIN_CRITICAL_SECTION(container)
#define UNLOCK() Py_END_CRITICAL_SECTION()
#define KEEP(object) Py_INCREF(object)
#define LET_GO(object) Py_DECREF(object)
#else
#define LOCK(container) {
#define UNLOCK() }
#define KEEP(object) ((void)(object))
#define LET_GO(object) ((void)(object))
#endif

typedef enum { MISFIT = 0, FITS = 1, FAILED = -1 } Verdict;

/* One walk. `reads` tells a tree that may be mended from a value that may not be changed. */
typedef struct {
    Coder *coder;
    bool reads;
    bool checks;
} Walk;

static Verdict check_rest(const Walk *walk, const Node *node, PyObject *object, PyObject **made, Py_ssize_t level);

#if PY_VERSION_HEX < 0x030C0000 && PYLONG_BITS_IN_DIGIT == 30
static inline Verdict is_in_range(const Node *node, PyObject *number)
{
    const digit *digits = ((PyLongObject *)number)->ob_digit;
    Py_ssize_t size = Py_SIZE(number); /* Below zero where the number is. */
    uint64_t magnitude = 0;
    switch (Py_ABS(size)) {
    case 3:
        if (digits[2] >> 4 != 0) { /* Over 64 bits. */
            return MISFIT;
        }
        magnitude = (uint64_t)digits[2] << 60 | (uint64_t)digits[1] << 30 | digits[0];
        break;
    case 2:
        magnitude = (uint64_t)digits[1] << 30 | digits[0];
        break;
    case 1:
        magnitude = digits[0];
        break;
    case 0:
        break;
    default:
        return MISFIT;
    }
    if (size < 0) {
        return node->low < 0 && magnitude <= 0 - (uint64_t)node->low;
    }
    return magnitude <= node->high && (node->low <= 0 || magnitude >= (uint64_t)node->low);
}
#else
static Verdict is_in_range(const Node *node, PyObject *number)
{
    int overflow = 0;
    int64_t value;
#if PY_VERSION_HEX >= 0x030C0000
    if (PyUnstable_Long_IsCompact((PyLongObject *)number)) {
        value = PyUnstable_Long_CompactValue((PyLongObject *)number);
    } else
#endif
    {
        value = PyLong_AsLongLongAndOverflow(number, &overflow);
    }
    if (overflow == 0) {
        return value >= node->low && (value < 0 || (uint64_t)value <= node->high);
    }
    if (overflow < 0 || node->high <= INT64_MAX) {
        return MISFIT;
    }
    uint64_t large = PyLong_AsUnsignedLongLong(number);
    if (large == UINT64_MAX && PyErr_Occurred()) {
        PyErr_Clear();
        return MISFIT;
    }
    return large <= node->high;
}
#endif

/* Whether a part fits; *made is set to what is to stand in its place, if something is. */
static inline Verdict check(const Walk *walk, const Node *node, PyObject *object, PyObject **made, Py_ssize_t level)
{
    if (Py_TYPE(object) == node->plain) {
        return FITS;
    }
    if (node->op == OP_INT && PyLong_CheckExact(object)) {
        return is_in_range(node, object);
    }
    if (object == Py_None) {
        return node->is_nullable || node->op == OP_NULL;
    }
    return check_rest(walk, node, object, made, level);
}

static Verdict is_text(const Walk *walk, const Node *node, PyObject *text)
{
    if (!PyUnicode_CheckExact(text)) {
        return MISFIT;
    }
    if (node->size < 0 && (!walk->coder->surrogates || PyUnicode_IS_ASCII(text))) {
        return FITS;
    }
    Py_ssize_t size;
    if (PyUnicode_AsUTF8AndSize(text, &size) == NULL) {
        PyErr_Clear();
        return MISFIT;
    }
    return node->size < 0 || size <= node->size;
}

static Verdict check_float(const Walk *walk, const Node *node, PyObject *object, PyObject **made)
{
    double number;
    bool is_new = false;
    if (PyFloat_CheckExact(object)) {
        number = PyFloat_AS_DOUBLE(object);
    } else if (walk->reads && PyLong_CheckExact(object)) {
        number = PyLong_AsDouble(object);
        if (number == -1.0 && PyErr_Occurred()) {
            PyErr_Clear();
            return MISFIT;
        }
        is_new = true;
    } else {
        return MISFIT;
    }
    if (walk->checks) {
        if (walk->coder->finite && !isfinite(number)) {
            return MISFIT;
        }
        if (node->is_single && isfinite(number) && (double)(float)number != number) {
            if (!walk->reads || isinf((float)number)) {
                return MISFIT;
            }
            number = (double)(float)number;
            is_new = true;
        }
    }
    if (is_new) {
        *made = PyFloat_FromDouble(number);
        return *made == NULL ? FAILED : FITS;
    }
    return FITS;
}

static Verdict check_list(const Walk *walk, const Node *node, PyObject *list, PyObject **made, Py_ssize_t level)
{
    (void)made;
    if (node->is_tuple ? !PyTuple_CheckExact(list) : !PyList_CheckExact(list)) {
        return MISFIT;
    }
    const Node *item = node->item;
    Verdict verdict = FITS;
    LOCK(list);
    Py_ssize_t size = Py_SIZE(list);
    bool has_length = node->size < 0 ? size <= walk->coder->elements : size == node->size;
    if (walk->checks && (level > walk->coder->depth || !has_length)) {
        verdict = MISFIT;
    }
    for (Py_ssize_t index = 0; verdict == FITS && index < Py_SIZE(list); index++) {
        PyObject *old = node->is_tuple ? PyTuple_GET_ITEM(list, index) : PyList_GET_ITEM(list, index);
        PyObject *new = NULL;
        KEEP(old);
        verdict = check(walk, item, old, &new, level + 1);
        LET_GO(old);
        if (new != NULL && PyList_SetItem(list, index, new)) {
            verdict = FAILED;
        }
    }
    UNLOCK();
    return verdict;
}

static Verdict check_map(const Walk *walk, const Node *node, PyObject *dict, Py_ssize_t level)
{
    const Node *key_node = node->key, *item = node->item;
    PyObject *key, *old;
    Py_ssize_t position = 0;
    Verdict verdict = FITS;
    if (!PyDict_CheckExact(dict)) {
        return MISFIT;
    }
    LOCK(dict);
    if (walk->checks && (level > walk->coder->depth || PyDict_GET_SIZE(dict) > walk->coder->elements)) {
        verdict = MISFIT;
    }
    while (verdict == FITS && PyDict_Next(dict, &position, &key, &old)) {
        PyObject *new = NULL;
        KEEP(key);
        KEEP(old);
        verdict = walk->checks ? check(walk, key_node, key, NULL, level + 1) : FITS;
        if (verdict == FITS) {
            verdict = check(walk, item, old, &new, level + 1);
        }
        if (new != NULL) {
            /* The key is there: the dict does not change its keys. */
            if (PyDict_SetItem(dict, key, new)) {
                verdict = FAILED;
            }
            Py_DECREF(new);
        }
        LET_GO(old);
        LET_GO(key);
    }
    UNLOCK();
    return verdict;
}

static bool is_same_text(PyObject *one, PyObject *other)
{
    Py_ssize_t length = PyUnicode_GET_LENGTH(one);
    int kind = (int)PyUnicode_KIND(one);
    return length == PyUnicode_GET_LENGTH(other) && kind == (int)PyUnicode_KIND(other)
           && memcmp(PyUnicode_DATA(one), PyUnicode_DATA(other), (size_t)length * (size_t)kind) == 0;
}

static inline bool is_met(const Field *field, PyObject *name)
{
    return field->name == name || field->met == name;
}

/* The number of the field of a name; -1: of none. */
static Py_ssize_t look_up(const Node *node, PyObject *name)
{
    if (!PyUnicode_CheckExact(name)) {
        return -1;
    }
    Py_hash_t hash = PyObject_Hash(name);
    for (size_t slot = (size_t)hash & node->mask; node->table[slot] != 0; slot = (slot + 1) & node->mask) {
        Field *field = &node->fields[node->table[slot] - 1];
        if (is_met(field, name)) {
            return field - node->fields;
        }
        if (field->hash == hash && is_same_text(field->name, name)) {
#ifndef Py_GIL_DISABLED
            Py_XSETREF(field->met, Py_NewRef(name));
#endif
            return field - node->fields;
        }
    }
    return -1;
}

/* As look_up. `guess` is where it would be in the order of the schema. */
static inline Py_ssize_t field_of(const Node *node, PyObject *name, Py_ssize_t guess)
{
    return guess < node->count && is_met(&node->fields[guess], name) ? guess : look_up(node, name);
}

/* Read without the guard: a record of as many entries as fields that must be there has these. */
static Verdict mend_record(const Walk *walk, const Node *node, PyObject *dict, Py_ssize_t level)
{
    for (Py_ssize_t index = 0; index < node->count; index++) {
        const Field *field = &node->fields[index];
        const Node *inner = field->node;
        if (inner->is_inert) {
            continue;
        }
        PyObject *new = NULL, *old = PyDict_GetItemWithError(dict, field->name);
        if (old == NULL) {
            return PyErr_Occurred() ? FAILED : MISFIT;
        }
        Py_INCREF(old);
        Verdict verdict = check(walk, inner, old, &new, level + 1);
        Py_DECREF(old);
        if (new != NULL) {
            int failed = PyDict_SetItem(dict, field->name, new);
            Py_DECREF(new);
            verdict = failed ? FAILED : verdict;
        }
        if (verdict != FITS) {
            return verdict;
        }
    }
    return FITS;
}

static Verdict check_record(const Walk *walk, const Node *node, PyObject *dict, Py_ssize_t level)
{
    PyObject *key, *old;
    Py_ssize_t position = 0, guess = 0, seen = 0;
    Verdict verdict = FITS;
    if (!PyDict_CheckExact(dict)) {
        return MISFIT;
    }
    if (!walk->checks && node->must_count == node->count && !node->skips_unknown) {
        return PyDict_GET_SIZE(dict) == node->count ? mend_record(walk, node, dict, level) : MISFIT;
    }
    LOCK(dict);
    if (walk->checks && level > walk->coder->depth) {
        verdict = MISFIT;
    }
    while (verdict == FITS && PyDict_Next(dict, &position, &key, &old)) {
        Py_ssize_t number = field_of(node, key, guess);
        if (number < 0) {
            if (walk->reads && node->skips_unknown) {
                continue;
            }
            verdict = MISFIT;
            break;
        }
        const Field *field = &node->fields[number];
        PyObject *new = NULL;
        guess = number + 1;
        seen += walk->reads ? field->must_be_there : field->is_required;
        KEEP(key);
        KEEP(old);
        verdict = check(walk, field->node, old, &new, level + 1);
        if (new != NULL) {
            if (PyDict_SetItem(dict, key, new)) {
                verdict = FAILED;
            }
            Py_DECREF(new);
        }
        LET_GO(old);
        LET_GO(key);
    }
    if (verdict == FITS && seen != (walk->reads ? node->must_count : node->required_count)) {
        verdict = MISFIT;
    }
    UNLOCK();
    return verdict;
}

static Verdict check_union(const Walk *walk, const Node *node, PyObject *object, PyObject **made, Py_ssize_t level)
{
    PyTypeObject *type = Py_TYPE(object);
    if (walk->reads && type == &PyLong_Type && node->takes_ints) {
        type = &PyFloat_Type;
    }
    if (walk->reads && walk->checks && node->may_be_rounded && PyFloat_CheckExact(object)) {
        double number = PyFloat_AS_DOUBLE(object);
        if (!(-9223372036854775808.0 < number && number < 9223372036854775808.0)) {
            return MISFIT;
        }
    }
    for (Py_ssize_t index = 0; index < node->count; index++) {
        if (node->options[index].key == (PyObject *)type) {
            return check(walk, node->options[index].node, object, made, level);
        }
    }
    return MISFIT;
}

/* Written alone: in a tuple that was read nothing could be mended. */
static Verdict check_pair(const Walk *walk, const Node *node, PyObject *pair, Py_ssize_t level)
{
    if (walk->reads || !PyTuple_CheckExact(pair) || PyTuple_GET_SIZE(pair) != 2) {
        return MISFIT;
    }
    PyObject *name = PyTuple_GET_ITEM(pair, 0);
    for (Py_ssize_t index = 0; index < node->count; index++) {
        const Option *option = &node->options[index];
        if (option->key == name || (PyUnicode_CheckExact(name) && is_same_text(option->key, name))) {
            return check(walk, option->node, PyTuple_GET_ITEM(pair, 1), NULL, level);
        }
    }
    return MISFIT;
}

static Verdict check_rest(const Walk *walk, const Node *node, PyObject *object, PyObject **made, Py_ssize_t level)
{
    if (!walk->checks && node->is_inert) {
        return FITS;
    }
    if (level > DEEPEST + 1) {
        return MISFIT;
    }
    switch (node->op) {
    case OP_FLOAT:
        return check_float(walk, node, object, made);
    case OP_STR:
        return is_text(walk, node, object);
    case OP_BYTES:
        return PyBytes_CheckExact(object) && (node->size < 0 || PyBytes_GET_SIZE(object) == node->size);
    case OP_ENUM: {
        if (Py_TYPE(object) != node->type) {
            return MISFIT;
        }
        int is_member = PySet_Contains(node->values, object);
        return is_member < 0 ? FAILED : (Verdict)is_member;
    }
    case OP_LIST:
        return check_list(walk, node, object, made, level);
    case OP_MAP:
        return check_map(walk, node, object, level);
    case OP_UNION:
        return check_union(walk, node, object, made, level);
    case OP_RECORD:
        return check_record(walk, node, object, level);
    case OP_PAIR:
        return check_pair(walk, node, object, level);
    case OP_ANY:
        return FITS;
    default:
        return MISFIT;
    }
}

bool fits(Coder *coder, PyObject *value)
{
    const Walk walk = {.coder = coder, .reads = false, .checks = true};
    PyObject *made = NULL;
    Verdict verdict = check(&walk, coder->root, value, &made, 1);
    if (verdict == FAILED) {
        PyErr_Clear();
    }
    return verdict == FITS;
}

int settle(Coder *coder, PyObject *tree, PyObject **made)
{
    const Walk walk = {.coder = coder, .reads = true, .checks = coder->checks};
    *made = NULL;
    Verdict verdict = check(&walk, coder->root, tree, made, 1);
    if (verdict == FITS && *made == NULL) {
        *made = Py_NewRef(tree);
    } else if (verdict != FITS) {
        Py_CLEAR(*made);
    }
    return verdict;
}
