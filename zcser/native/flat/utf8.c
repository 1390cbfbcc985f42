/* Whether bytes are UTF-8, as Python's strict decoder has it: shortest forms, no surrogates, up to U+10FFFF. */
#include "read.h"

#define HIGH_BITS 0x8080808080808080u

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
