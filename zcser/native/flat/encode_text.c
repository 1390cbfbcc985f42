/* Encoding strings: UTF-8 straight into the message, without the copy that a str would keep of it. */
#include "encode.h"

/* Whether a code point has no UTF-8 form: half of a surrogate pair. */
static inline bool is_surrogate(Py_UCS4 point)
{
    return (point & 0xFFFFF800u) == 0xD800u;
}

/* Bytes of UTF-8 of a str's data. */
static size_t utf8_size(int kind, const void *data, Py_ssize_t length)
{
    size_t size = (size_t)length;
    for (Py_ssize_t index = 0; index < length; index++) {
        Py_UCS4 point = PyUnicode_READ(kind, data, index);
        size += (point >= 0x80) + (point >= 0x800) + (point >= 0x10000);
    }
    return size;
}

/* Write UTF-8; false for a lone surrogate. */
static bool write_utf8(int kind, const void *data, Py_ssize_t length, unsigned char *place)
{
    for (Py_ssize_t index = 0; index < length; index++) {
        Py_UCS4 point = PyUnicode_READ(kind, data, index);
        if (point < 0x80) {
            *place++ = (unsigned char)point;
        } else if (point < 0x800) {
            *place++ = (unsigned char)(0xC0 | point >> 6);
            *place++ = (unsigned char)(0x80 | (point & 0x3F));
        } else if (point < 0x10000) {
            if (is_surrogate(point)) {
                return false;
            }
            *place++ = (unsigned char)(0xE0 | point >> 12);
            *place++ = (unsigned char)(0x80 | (point >> 6 & 0x3F));
            *place++ = (unsigned char)(0x80 | (point & 0x3F));
        } else {
            *place++ = (unsigned char)(0xF0 | point >> 18);
            *place++ = (unsigned char)(0x80 | (point >> 12 & 0x3F));
            *place++ = (unsigned char)(0x80 | (point >> 6 & 0x3F));
            *place++ = (unsigned char)(0x80 | (point & 0x3F));
        }
    }
    return true;
}

int encode_string(Encoder *encoder, PyObject *value, Py_ssize_t most, size_t *target)
{
    if (!PyUnicode_CheckExact(value)) {
        return misfit(encoder, "no str");
    }
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(value)) {
        return -1;
    }
#endif
    bool is_ascii = PyUnicode_IS_ASCII(value);
    Py_ssize_t length = PyUnicode_GET_LENGTH(value);
    size_t size = is_ascii ? (size_t)length : utf8_size(PyUnicode_KIND(value), PyUnicode_DATA(value), length);
    if (most >= 0 && size > (size_t)most) {
        return misfit(encoder, "more bytes of UTF-8 than a str may have");
    }
    if (align_head(encoder, size + 5)) {
        return -1;
    }
    char *place = encoder->head + encoder->size;
    store_u32(place, (uint32_t)size);
    if (is_ascii) {
        memcpy(place + 4, PyUnicode_DATA(value), size);
    } else if (!write_utf8(PyUnicode_KIND(value), PyUnicode_DATA(value), length, (unsigned char *)place + 4)) {
        return misfit(encoder, "a lone surrogate");
    }
    place[4 + size] = 0;
    *target = encoder->size;
    encoder->size += size + 5;
    return 0;
}
