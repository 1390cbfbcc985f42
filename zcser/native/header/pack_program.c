/* A packer's parts, from what Python gives. Whatever would have C leave the message is refused here. */
#include "pack.h"

static int wrong(Py_ssize_t index)
{
    PyErr_Format(PyExc_ValueError, "part %zd is none of a layout", index);
    return -1;
}

static int read_number(Part *part, PyObject *details, Py_ssize_t index)
{
    int op, is_swapped;
    if (!PyArg_ParseTuple(details, "ip", &op, &is_swapped)) {
        return -1;
    }
    part->op = (Op)op;
    part->is_swapped = is_swapped;
    return op < 0 || op >= OP_BYTES || scalar_reader(part->op, part->size, is_swapped) == NULL ? wrong(index) : 0;
}

static int read_enum(Part *part, PyObject *details, Py_ssize_t index)
{
    PyObject *number, *values, *numbers, *by_value;
    if (!PyArg_ParseTuple(details, "O!O!O!O", &PyTuple_Type, &number, &PyTuple_Type, &values, &PyTuple_Type, &numbers,
                          &by_value)
        || read_number(part, number, index)) {
        return -1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(values);
    if (count == 0 || PyTuple_GET_SIZE(numbers) != count || (by_value != Py_None && !PyDict_CheckExact(by_value))) {
        return wrong(index);
    }
    part->values = Py_NewRef(values);
    part->by_value = Py_NewRef(by_value);
    part->numbers = PyMem_Calloc((size_t)count, sizeof *part->numbers);
    if (part->numbers == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t position = 0; position < count; position++) {
        if (!scalar_bits(part->op, part->size, PyTuple_GET_ITEM(numbers, position), &part->numbers[position])) {
            return wrong(index);
        }
    }
    return 0;
}

static int read_tensor(Part *part, PyObject *details, Py_ssize_t index)
{
    PyObject *formats, *shape, *bytes_of;
    if (!PyArg_ParseTuple(details, "O!O!O", &PyTuple_Type, &formats, &PyTuple_Type, &shape, &bytes_of)) {
        return -1;
    }
    for (Py_ssize_t number = 0; number < PyTuple_GET_SIZE(formats); number++) {
        if (!PyUnicode_CheckExact(PyTuple_GET_ITEM(formats, number))) {
            return wrong(index);
        }
    }
    part->formats = Py_NewRef(formats);
    part->shape = Py_NewRef(shape);
    part->bytes_of = Py_NewRef(bytes_of);
    part->extents = PyMem_Calloc((size_t)PyTuple_GET_SIZE(shape) + 1, sizeof *part->extents);
    if (part->extents == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t axis = 0; axis < PyTuple_GET_SIZE(shape); axis++) {
        part->extents[axis] = PyLong_AsSsize_t(PyTuple_GET_ITEM(shape, axis));
        if (part->extents[axis] < 0) {
            return PyErr_Occurred() ? -1 : wrong(index);
        }
    }
    return 0;
}

static int read_list(Packer *packer, Part *part, PyObject *details, Py_ssize_t index)
{
    int is_tuple;
    Py_ssize_t item;
    if (!PyArg_ParseTuple(details, "pnn", &is_tuple, &part->count, &item)) {
        return -1;
    }
    if (item < 0 || item >= index || part->count < 0) {
        return wrong(index);
    }
    part->is_tuple = is_tuple;
    part->item = &packer->parts[item];
    Py_ssize_t size = part->item->size;
    if (size == 0 ? part->size != 0 : part->size % size != 0 || part->size / size != part->count) {
        return wrong(index);
    }
    part->height = (uint8_t)(part->item->height + 1);
    part->apart = part->count * part->item->apart;
    part->holes = part->count * part->item->holes;
    return part->height > MAX_HEIGHT ? wrong(index) : 0;
}

static int read_record(Packer *packer, Part *part, PyObject *details, Py_ssize_t index)
{
    PyObject *cls, *members;
    if (!PyArg_ParseTuple(details, "O!O!", &PyType_Type, &cls, &PyTuple_Type, &members)) {
        return -1;
    }
    Py_ssize_t count = PyTuple_GET_SIZE(members), end = 0;
    part->cls = (PyTypeObject *)Py_NewRef(cls);
    part->height = 1;
    part->members = PyMem_Calloc((size_t)count + 1, sizeof *part->members);
    if (part->members == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (; part->member_count < count; part->member_count++) {
        PyObject *name, *given = PyTuple_GET_ITEM(members, part->member_count);
        Py_ssize_t inner, offset;
        if (!PyTuple_CheckExact(given) || !PyArg_ParseTuple(given, "Unn", &name, &inner, &offset)) {
            return PyErr_Occurred() ? -1 : wrong(index);
        }
        if (inner < 0 || inner >= index) {
            return wrong(index);
        }
        Part *found = &packer->parts[inner];
        /* In order: where a place is in scratch memory is told by the holes before it. */
        if (offset < end || found->size > part->size || offset > part->size - found->size) {
            return wrong(index);
        }
        end = offset + found->size;
        part->members[part->member_count] = (Member){Py_NewRef(name), found, offset};
        part->height = found->height >= part->height ? (uint8_t)(found->height + 1) : part->height;
        part->apart += found->apart;
        part->holes += found->holes;
    }
    return part->height > MAX_HEIGHT ? wrong(index) : 0;
}

static int read_part(Packer *packer, PyObject *given, Py_ssize_t index)
{
    Part *part = &packer->parts[index];
    int kind;
    PyObject *details;
    if (!PyTuple_CheckExact(given)
        || !PyArg_ParseTuple(given, "inO!", &kind, &part->size, &PyTuple_Type, &details)) {
        return PyErr_Occurred() ? -1 : wrong(index);
    }
    if (kind < 0 || kind >= PACK_COUNT || part->size < 0) {
        return wrong(index);
    }
    part->kind = (PackKind)kind;
    if ((part->kind == PACK_BYTES || part->kind == PACK_TENSOR) && part->size >= SMALLEST_HOLE) {
        part->apart = part->size;
        part->holes = 1;
    }
    switch (part->kind) {
    case PACK_NUMBER:
        return read_number(part, details, index);
    case PACK_ENUM:
        return read_enum(part, details, index);
    case PACK_TENSOR:
        return read_tensor(part, details, index);
    case PACK_LIST:
        return read_list(packer, part, details, index);
    case PACK_RECORD:
        return read_record(packer, part, details, index);
    default:
        return 0;
    }
}

int packer_read(Packer *packer, PyObject *parts)
{
    Py_ssize_t count = PyTuple_GET_SIZE(parts);
    packer->parts = PyMem_Calloc((size_t)count + 1, sizeof *packer->parts);
    if (packer->parts == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t index = 0; index < count; index++) {
        packer->part_count = index + 1; /* Half a part is freed as well. */
        if (read_part(packer, PyTuple_GET_ITEM(parts, index), index)) {
            return -1;
        }
    }
    packer->root = count == 0 ? NULL : &packer->parts[count - 1];
    return packer->root == NULL ? wrong(-1) : 0;
}

int packer_visit(Packer *packer, visitproc visit, void *arg)
{
    for (Py_ssize_t index = 0; index < packer->part_count; index++) {
        const Part *part = &packer->parts[index];
        Py_VISIT(part->values);
        Py_VISIT(part->by_value);
        Py_VISIT(part->formats);
        Py_VISIT(part->shape);
        Py_VISIT(part->bytes_of);
        Py_VISIT(part->cls);
    }
    return 0;
}

void packer_free(Packer *packer)
{
    for (Py_ssize_t index = 0; index < packer->part_count; index++) {
        Part *part = &packer->parts[index];
        for (Py_ssize_t number = 0; number < part->member_count; number++) {
            Py_DECREF(part->members[number].name);
        }
        PyMem_Free(part->members);
        PyMem_Free(part->numbers);
        PyMem_Free(part->extents);
        Py_XDECREF(part->values);
        Py_XDECREF(part->by_value);
        Py_XDECREF(part->formats);
        Py_XDECREF(part->shape);
        Py_XDECREF(part->bytes_of);
        Py_XDECREF(part->cls);
    }
    PyMem_Free(packer->parts);
}
