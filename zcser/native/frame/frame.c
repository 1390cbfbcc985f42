/* The check of a plain frame, of one segment and without a checksum. Every byte of it stands in zcser.frame.layout, and
   the twin of this file is zcser.frame.plain. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <limits.h>
#include <stdint.h>
#include <string.h>

enum { HEAD_SIZE = 64, ALGORITHM = 5, POWER = 6, FLAGS = 7, PAYLOAD = 8, COUNT = 56, CRC = 60 };

#define MAGIC_AND_VERSION "\x89ZCF\x01"
#define LARGEST_POWER 6 /* An alignment beyond that of the head would leave a gap behind it. */
#define APART 1

typedef struct {
    uint32_t crc_table[256];
} State;

static uint64_t load(const uint8_t *place, int size)
{
    uint64_t number = 0;
    for (int index = size - 1; index >= 0; index--) {
        number = number << 8 | place[index];
    }
    return number;
}

/* CRC-32 as in IEEE 802.3 and zlib, reflected. */
static void make_crc_table(uint32_t *table)
{
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) {
            crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xEDB88320) : 0);
        }
        table[byte] = crc;
    }
}

static uint32_t crc_of(const uint32_t *table, const uint8_t *bytes, int size)
{
    uint32_t crc = UINT32_MAX;
    for (int index = 0; index < size; index++) {
        crc = crc >> 8 ^ table[(crc ^ bytes[index]) & 0xFF];
    }
    return ~crc;
}

/* Where a plain frame of `room` bytes at most ends, from its first byte; 0: it is not plain, or something is wrong. */
static uint64_t plain_size(const State *state, const uint8_t *head, uint64_t room)
{
    if (room < HEAD_SIZE || memcmp(head, MAGIC_AND_VERSION, ALGORITHM) != 0 || head[ALGORITHM] != 0
        || head[POWER] > LARGEST_POWER || head[FLAGS] > APART || load(head + COUNT, 4) != 1) {
        return 0;
    }
    uint64_t payload = load(head + PAYLOAD, 8), mask = ((uint64_t)1 << head[POWER]) - 1;
    if (payload > room - HEAD_SIZE) {
        return 0;
    }
    uint64_t size = HEAD_SIZE + ((payload + mask) & ~mask);
    return size <= room && crc_of(state->crc_table, head, CRC) == load(head + CRC, 4) ? size : 0;
}

PyDoc_STRVAR(plain_end_doc,
             "plain_end(buffer, offset, max_bytes, /)\n--\n\n"
             "Where a frame without a checksum and of one segment ends; 0: it is none, or something is wrong.");

static PyObject *plain_end(PyObject *module, PyObject *const *args, Py_ssize_t count)
{
    if (count != 3) {
        return PyErr_Format(PyExc_TypeError, "plain_end takes 3 arguments, not %zd", count);
    }
    int beyond_offset, beyond_limit;
    long long offset = PyLong_AsLongLongAndOverflow(args[1], &beyond_offset);
    if (offset == -1 && PyErr_Occurred()) {
        return NULL;
    }
    long long limit = PyLong_AsLongLongAndOverflow(args[2], &beyond_limit);
    if (limit == -1 && PyErr_Occurred()) {
        return NULL;
    }
    if (beyond_limit > 0) {
        limit = LLONG_MAX;
    }
    Py_buffer buffer;
    if (PyObject_GetBuffer(args[0], &buffer, PyBUF_SIMPLE)) {
        return NULL;
    }
    uint64_t size = 0;
    if (!beyond_offset && offset >= 0 && offset <= buffer.len && limit >= 0) {
        uint64_t room = (uint64_t)(buffer.len - offset);
        size = plain_size(PyModule_GetState(module), (const uint8_t *)buffer.buf + offset,
                          room < (uint64_t)limit ? room : (uint64_t)limit);
    }
    PyBuffer_Release(&buffer);
    return PyLong_FromLongLong(size == 0 ? 0 : offset + (long long)size);
}

static int module_exec(PyObject *module)
{
    State *state = PyModule_GetState(module);
    make_crc_table(state->crc_table);
    return 0;
}

static PyMethodDef module_methods[] = {
    {"plain_end", (PyCFunction)(void (*)(void))plain_end, METH_FASTCALL, plain_end_doc},
    {NULL, NULL, 0, NULL},
};

static PyModuleDef_Slot module_slots[] = {
    {Py_mod_exec, module_exec},
#if PY_VERSION_HEX >= 0x030C0000
    {Py_mod_multiple_interpreters, Py_MOD_PER_INTERPRETER_GIL_SUPPORTED},
#endif
#if PY_VERSION_HEX >= 0x030D0000
    {Py_mod_gil, Py_MOD_GIL_NOT_USED},
#endif
    {0, NULL},
};

static PyModuleDef module_definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "zcser.native._frame",
    .m_doc = "The check of a plain frame; see zcser.frame.plain.",
    .m_size = sizeof(State),
    .m_methods = module_methods,
    .m_slots = module_slots,
};

PyMODINIT_FUNC PyInit__frame(void)
{
    return PyModuleDef_Init(&module_definition);
}
