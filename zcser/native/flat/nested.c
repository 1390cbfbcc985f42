/* Nested messages: bytes of a message that are a message of their own, with its own root and end. */
#include "read.h"

int read_nested(Reader *reader, const Node *node, uint64_t place, PyObject **value)
{
    uint64_t first, size, root;
    if (read_vector(reader, node, place, 1, 1, &first, &size)) {
        leave_segment(reader);
        return -1;
    }
    Reader outer;
    int failed = enter_nested(reader, first, size, &outer, &root)
                 || read_alone(reader, &reader->engine->nodes[node->item], root, value);
    leave_nested(reader, &outer);
    leave_segment(reader);
    return failed ? -1 : 0;
}
