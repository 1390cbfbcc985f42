/* Whether bytes are UTF-8, as Python's strict decoder has it: shortest forms, no surrogates, up to U+10FFFF. */
#include "read.h"

#define HIGH_BITS 0x8080808080808080u

/* Bytes up to which a str is made faster here than by Python's decoder, which allocates twice. */
#define SHORT 32

bool is_ascii(const uint8_t *bytes, size_t size)
{
    uint64_t found = 0;
    if (size >= 8) {
        for (size_t at = 0; at + 8 <= size; at += 8) {
            found |= load_u64(bytes + at);
        }
        found |= load_u64(bytes + size - 8); /* The rest, and some of it again. */
    } else {
        for (size_t at = 0; at < size; at++) {
            found |= bytes[at];
        }
    }
    return (found & HIGH_BITS) == 0;
}

static bool is_continuation(uint8_t byte)
{
    return (byte & 0xC0) == 0x80;
}

/* Bytes of the character that begins with a byte above ASCII; 0 where there is none. */
static size_t character_size(const uint8_t *bytes, size_t size)
{
    /* Read once: the bytes may change. */
    uint8_t first = bytes[0], second = size > 1 ? bytes[1] : 0;
    if (!is_continuation(second)) {
        return 0;
    }
    if (first < 0xC2) {
        return 0; /* A continuation, or two bytes for what fits one. */
    }
    if (first < 0xE0) {
        return 2;
    }
    if (size < 3 || !is_continuation(bytes[2])) {
        return 0;
    }
    if (first < 0xF0) {
        bool is_long = first == 0xE0 && second < 0xA0, is_surrogate = first == 0xED && second >= 0xA0;
        return is_long || is_surrogate ? 0 : 3;
    }
    if (size < 4 || !is_continuation(bytes[3])) {
        return 0;
    }
    bool is_long = first == 0xF0 && second < 0x90, is_beyond = first > 0xF4 || (first == 0xF4 && second >= 0x90);
    return is_long || is_beyond ? 0 : 4;
}

bool is_utf8(const uint8_t *bytes, size_t size)
{
    if (is_ascii(bytes, size)) {
        return true;
    }
    size_t at = 0;
    while (at < size) {
        if (at + 8 <= size && (load_u64(bytes + at) & HIGH_BITS) == 0) {
            at += 8;
        } else if (bytes[at] < 0x80) {
            at++;
        } else {
            size_t taken = character_size(bytes + at, size - at);
            if (taken == 0) {
                return false;
            }
            at += taken;
        }
    }
    return true;
}

/* The code point that begins at a byte of UTF-8 above ASCII, and the bytes that it takes. */
static inline Py_UCS4 take_character(const uint8_t *bytes, size_t *taken)
{
    Py_UCS4 first = bytes[0];
    if (first < 0xE0) {
        *taken = 2;
        return (first & 0x1F) << 6 | (bytes[1] & 0x3F);
    }
    if (first < 0xF0) {
        *taken = 3;
        return (first & 0x0F) << 12 | (Py_UCS4)(bytes[1] & 0x3F) << 6 | (bytes[2] & 0x3F);
    }
    *taken = 4;
    return (first & 0x07) << 18 | (Py_UCS4)(bytes[1] & 0x3F) << 12 | (Py_UCS4)(bytes[2] & 0x3F) << 6
           | (bytes[3] & 0x3F);
}

/* How many characters there are, and at least the greatest of them; false: the bytes are no UTF-8. */
static bool measure(const uint8_t *bytes, size_t size, size_t *count, Py_UCS4 *most)
{
    uint8_t greatest = 0;
    *count = 0;
    for (size_t at = 0; at < size; ++*count) {
        size_t taken = bytes[at] < 0x80 ? 1 : character_size(bytes + at, size - at);
        if (taken == 0) {
            return false;
        }
        greatest = bytes[at] > greatest ? bytes[at] : greatest;
        at += taken;
    }
    /* First bytes rise with what they begin. */
    *most = greatest < 0x80 ? 0x7F : greatest < 0xC4 ? 0xFF : greatest < 0xF0 ? 0xFFFF : 0x10FFFF;
    return true;
}

#define FILL(type)                                                                                     \
    do {                                                                                               \
        type *characters = PyUnicode_DATA(text);                                                       \
        for (size_t at = 0, taken = 1; at < size; at += taken, taken = 1) {                            \
            *characters++ = (type)(bytes[at] < 0x80 ? bytes[at] : take_character(bytes + at, &taken)); \
        }                                                                                              \
    } while (0)

PyObject *text_of(const uint8_t *bytes, size_t size)
{
    size_t count = size;
    Py_UCS4 most = 0x7F;
    bool is_plain = is_ascii(bytes, size);
    if (!is_plain && (size > SHORT || !measure(bytes, size, &count, &most))) {
        return NULL;
    }
    PyObject *text = PyUnicode_New((Py_ssize_t)count, most);
    if (text == NULL || size == 0) {
        return text;
    }
    if (is_plain) {
        memcpy(PyUnicode_DATA(text), bytes, size);
    } else if (most == 0xFF) {
        FILL(Py_UCS1);
    } else if (most == 0xFFFF) {
        FILL(Py_UCS2);
    } else {
        FILL(Py_UCS4);
    }
    return text;
}
