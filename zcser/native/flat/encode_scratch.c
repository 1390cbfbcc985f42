/* The memory of encoders: the engine's scratch memory, and what else grows. */
#include "encode.h"

enum { SMALLEST_HEAD = 1024 };

/* Scratch memory above this is not kept for the next message, unless it was there before. */
static const size_t MOST_KEPT = (size_t)64 << 20;

static void take_scratch(Encoder *encoder, Engine *engine)
{
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(engine);
#endif
    encoder->head = engine->scratch;
    encoder->capacity = engine->scratch_size;
    engine->scratch = NULL;
    engine->scratch_size = 0;
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
}

/* The larger of what comes back and what another call brought back meanwhile stays. */
static void give_scratch(Encoder *encoder, Engine *engine)
{
    char *left = encoder->head;
#ifdef Py_GIL_DISABLED
    Py_BEGIN_CRITICAL_SECTION(engine);
#endif
    engine->growths += encoder->growths;
    bool keep = encoder->capacity > engine->scratch_size && (encoder->capacity <= MOST_KEPT || !encoder->growths);
    if (keep) {
        left = engine->scratch;
        engine->scratch = encoder->head;
        engine->scratch_size = encoder->capacity;
    }
#ifdef Py_GIL_DISABLED
    Py_END_CRITICAL_SECTION();
#endif
    PyMem_Free(left);
    encoder->head = NULL;
}

int encoder_begin(Encoder *encoder, Engine *engine)
{
    encoder->engine = engine;
    encoder->growths = 0;
    encoder->held = encoder->first_held;
    encoder->held_capacity = FIRST_HELD;
    encoder->held_count = 0;
    encoder->forms = encoder->first_forms;
    encoder->form_capacity = FIRST_FORMS;
    encoder->newest = encoder->first_newest;
    encoder->words = NULL;
    encoder->word_capacity = 0;
    encoder->tail = encoder->first_tail;
    encoder->tail_capacity = FIRST_TAIL;
    encoder->tail_count = 0;
    encoder->shared = NULL;
    encoder->repeats = NULL;
    encoder->repeat_capacity = 0;
    take_scratch(encoder, engine);
    if (engine->table_count > FIRST_TABLES) {
        encoder->newest = PyMem_Malloc(engine->table_count * sizeof *encoder->newest);
        if (encoder->newest == NULL) {
            PyErr_NoMemory();
            return -1;
        }
    }
    encoder_clear(encoder);
    return 0;
}

static void release_tail(Encoder *encoder)
{
    while (encoder->tail_count) {
        TailItem *item = &encoder->tail[--encoder->tail_count];
        PyBuffer_Release(&item->data);
        Py_XDECREF(item->array);
    }
}

void encoder_clear(Encoder *encoder)
{
    let_go(encoder, 0);
    release_tail(encoder);
    Py_CLEAR(encoder->shared);
    encoder->repeat_count = 0;
    encoder->size = 0;
    encoder->alignment = 4;
    encoder->total = 0;
    encoder->reason = NULL;
    encoder->elements = encoder->engine->elements;
    encoder->depth = 0;
    encoder->form_count = 0;
    encoder->word_count = 0;
    memset(encoder->newest, 0, encoder->engine->table_count * sizeof *encoder->newest);
}

void encoder_end(Encoder *encoder)
{
    let_go(encoder, 0);
    release_tail(encoder);
    if (encoder->held != encoder->first_held) {
        PyMem_Free(encoder->held);
    }
    if (encoder->forms != encoder->first_forms) {
        PyMem_Free(encoder->forms);
    }
    if (encoder->newest != encoder->first_newest) {
        PyMem_Free(encoder->newest);
    }
    if (encoder->tail != encoder->first_tail) {
        PyMem_Free(encoder->tail);
    }
    Py_XDECREF(encoder->shared);
    if (encoder->repeats != NULL) {
        PyMem_Free(encoder->repeats);
    }
    if (encoder->words != NULL) {
        PyMem_Free(encoder->words);
    }
    give_scratch(encoder, encoder->engine);
}

int grow_head(Encoder *encoder, size_t more)
{
    /* Offsets are of 31 bits, and the reserve is little more than what will be written. */
    if (more > INT32_MAX || encoder->size + more > INT32_MAX) {
        return misfit(encoder, "more bytes than FlatBuffers can address");
    }
    size_t capacity = encoder->capacity < SMALLEST_HEAD ? SMALLEST_HEAD : 2 * encoder->capacity;
    while (capacity < encoder->size + more) {
        capacity *= 2;
    }
    char *grown = PyMem_Realloc(encoder->head, capacity);
    if (grown == NULL) {
        PyErr_NoMemory();
        return -1;
    }
    encoder->head = grown;
    encoder->capacity = capacity;
    encoder->growths++;
    return 0;
}

int align_head_past(Encoder *encoder, size_t align, size_t before, size_t more)
{
    size_t start = ((encoder->size + before + align - 1) & ~(align - 1)) - before, gap = start - encoder->size;
    if (reserve_head(encoder, gap + more)) {
        return -1;
    }
    memset(encoder->head + encoder->size, 0, gap);
    encoder->size = start;
    need_alignment(encoder, align);
    return 0;
}

/* An array with room for `more` items past `count`, twice as large at least; `first` is what it is at the start, or
   NULL. */
static void *grow(void *array, const void *first, size_t count, size_t more, size_t size, size_t *capacity)
{
    size_t wanted = count + more > 2 * *capacity ? count + more : 2 * *capacity;
    void *grown = wanted > PY_SSIZE_T_MAX / size ? NULL : PyMem_Realloc(array == first ? NULL : array, wanted * size);
    if (grown == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    if (first != NULL && array == first) {
        memcpy(grown, first, count * size);
    }
    *capacity = wanted;
    return grown;
}

int grow_held(Encoder *encoder, size_t more)
{
    PyObject **grown = grow(encoder->held, encoder->first_held, encoder->held_count, more, sizeof *grown,
                            &encoder->held_capacity);
    if (grown == NULL) {
        return -1;
    }
    encoder->held = grown;
    return 0;
}

Form *new_form(Encoder *encoder)
{
    if (encoder->form_count == encoder->form_capacity) {
        Form *grown = grow(encoder->forms, encoder->first_forms, encoder->form_count, 1, sizeof *grown,
                           &encoder->form_capacity);
        if (grown == NULL) {
            return NULL;
        }
        encoder->forms = grown;
    }
    return &encoder->forms[encoder->form_count++];
}

int grow_words(Encoder *encoder, size_t more)
{
    if (encoder->word_capacity - encoder->word_count >= more) {
        return 0;
    }
    uint64_t *grown = grow(encoder->words, NULL, encoder->word_count, more, sizeof *grown, &encoder->word_capacity);
    if (grown == NULL) {
        return -1;
    }
    encoder->words = grown;
    return 0;
}

TailItem *new_tail_item(Encoder *encoder)
{
    if (encoder->tail_count == encoder->tail_capacity) {
        TailItem *grown = grow(encoder->tail, encoder->first_tail, encoder->tail_count, 1, sizeof *grown,
                               &encoder->tail_capacity);
        if (grown == NULL) {
            return NULL;
        }
        encoder->tail = grown;
    }
    TailItem *item = &encoder->tail[encoder->tail_count];
    item->array = NULL;
    item->width = 1;
    item->align = ALIGNMENT;
    item->length_size = 4;
    item->is_wide = false;
    item->is_text = false;
    return item;
}

Repeat *new_repeat(Encoder *encoder)
{
    if (encoder->repeat_count == encoder->repeat_capacity) {
        Repeat *grown = grow(encoder->repeats, NULL, encoder->repeat_count, 1, sizeof *grown,
                             &encoder->repeat_capacity);
        if (grown == NULL) {
            return NULL;
        }
        encoder->repeats = grown;
    }
    return &encoder->repeats[encoder->repeat_count++];
}
