/* What the files program*.c share. */
#ifndef ZCSER_FLAT_PROGRAM_H
#define ZCSER_FLAT_PROGRAM_H

#include "flat.h"

/* Raise a ValueError, and return -1. */
int bad_program(const char *what);

/* Zeroed memory for some items; NULL with an exception. */
void *program_allocate(Py_ssize_t count, size_t size);

/* Once all nodes are read: the sizes of places, the parts of tables, what structs and arrays hold. */
int program_lay_out(Engine *engine);

#endif
