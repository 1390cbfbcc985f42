/* Exact allocation counts and timing loops for one thread of CPython, without Python.h.
 *
 * 1. One source and one binary for every CPython from 3.11 on: whatever of the interpreter is needed comes in as a
 *    function pointer. The layout of PyMemAllocatorEx is that of the stable documentation (ctx, malloc, calloc, realloc,
 *    free).
 * 2. Two uses of one library. Loaded by ctypes it hooks Python's three allocator domains (raw, mem, obj). Preloaded
 *    (LD_PRELOAD) it stands before malloc and its family as well; without that, native counts are not taken.
 * 3. Only the outermost layer counts: pymalloc's fall-back to raw, and raw's malloc, are one allocation, not three. A
 *    thread-local depth tells.
 * 4. The loops allocate nothing themselves, and count or time exactly n calls.
 * 5. What is not seen: other threads, memory that comes from mmap directly, and allocators that bypass libc.
 *
 * Linux with glibc or musl. On macOS the hooks and the loops work as they are; malloc would be reached through
 * DYLD_INSERT_LIBRARIES and an __interpose section (dyld's dyld-interposing.h). That path is untested and not compiled.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>
#ifdef __linux__
#include <malloc.h>
#endif

#define EXPORT __attribute__((visibility("default")))

enum { RAW, MEM, OBJ, NATIVE, LAYERS };

typedef struct {
    uint64_t calls[LAYERS];    /* malloc, calloc and realloc of nothing */
    uint64_t bytes[LAYERS];    /* as asked for, reallocations with their new size */
    uint64_t frees[LAYERS];
    uint64_t reallocs[LAYERS];
    int64_t live, peak;        /* native bytes, by malloc_usable_size */
} counts_t;

typedef struct {
    counts_t counts;
    int depth;
    int on;
} state_t;

/* initial-exec: a dynamic TLS block would be allocated by malloc, inside malloc. */
static __thread state_t state __attribute__((tls_model("initial-exec")));

/* --- Python's domains ------------------------------------------------------------------------------------------- */

typedef struct {
    void *ctx;
    void *(*malloc)(void *, size_t);
    void *(*calloc)(void *, size_t, size_t);
    void *(*realloc)(void *, void *, size_t);
    void (*free)(void *, void *);
} allocator_t;

static allocator_t base[NATIVE];
static int layer_of[NATIVE] = {RAW, MEM, OBJ};
static int installed;

static inline int outermost(void) { return state.depth == 0 && state.on; }

static void *hook_malloc(void *ctx, size_t size) {
    int layer = *(int *)ctx, counts = outermost();
    state.depth++;
    void *found = base[layer].malloc(base[layer].ctx, size);
    state.depth--;
    if (counts && found) {
        state.counts.calls[layer]++;
        state.counts.bytes[layer] += size;
    }
    return found;
}

static void *hook_calloc(void *ctx, size_t items, size_t size) {
    int layer = *(int *)ctx, counts = outermost();
    state.depth++;
    void *found = base[layer].calloc(base[layer].ctx, items, size);
    state.depth--;
    if (counts && found) {
        state.counts.calls[layer]++;
        state.counts.bytes[layer] += items * size;
    }
    return found;
}

static void *hook_realloc(void *ctx, void *old, size_t size) {
    int layer = *(int *)ctx, counts = outermost();
    state.depth++;
    void *found = base[layer].realloc(base[layer].ctx, old, size);
    state.depth--;
    if (counts && found) {
        if (old)
            state.counts.reallocs[layer]++;
        else
            state.counts.calls[layer]++;
        state.counts.bytes[layer] += size;
    }
    return found;
}

static void hook_free(void *ctx, void *old) {
    int layer = *(int *)ctx, counts = outermost();
    state.depth++;
    base[layer].free(base[layer].ctx, old);
    state.depth--;
    if (counts && old)
        state.counts.frees[layer]++;
}

/* get and set are PyMem_GetAllocator and PyMem_SetAllocator. The caller holds the GIL. */
EXPORT void zc_install(void (*get)(int, allocator_t *), void (*set)(int, allocator_t *)) {
    if (installed)
        return;
    for (int layer = 0; layer < NATIVE; layer++) {
        get(layer, &base[layer]);
        allocator_t hook = {&layer_of[layer], hook_malloc, hook_calloc, hook_realloc, hook_free};
        set(layer, &hook);
    }
    installed = 1;
}

EXPORT void zc_uninstall(void (*set)(int, allocator_t *)) {
    if (!installed)
        return;
    for (int layer = 0; layer < NATIVE; layer++)
        set(layer, &base[layer]);
    installed = 0;
}

/* --- malloc and its family -------------------------------------------------------------------------------------- */

#ifdef __linux__

static struct {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void (*free)(void *);
    void *(*memalign)(size_t, size_t);
    int (*posix_memalign)(void **, size_t, size_t);
    void *(*aligned_alloc)(size_t, size_t);
} real;
static int resolving;

/* dlsym may call calloc before there is one to call: such memory comes from here, and is never given back. */
static char early[8192] __attribute__((aligned(16)));
static size_t early_used;

static void *early_alloc(size_t size) {
    size_t at = early_used;
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof early - at)
        return NULL;
    early_used = at + size;
    return early + at;
}

static int is_early(void *old) { return (char *)old >= early && (char *)old < early + sizeof early; }

static void resolve(void) {
    resolving = 1;
    real.malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    real.calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    real.realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    real.memalign = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "memalign");
    real.posix_memalign = (int (*)(void **, size_t, size_t))dlsym(RTLD_NEXT, "posix_memalign");
    real.aligned_alloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "aligned_alloc");
    real.free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    resolving = 0;
}

static inline int ready(void) {
    if (real.free)
        return 1;
    if (resolving)
        return 0;
    resolve();
    return real.free != NULL;
}

static void grew(int64_t by) {
    state.counts.live += by;
    if (state.counts.live > state.counts.peak)
        state.counts.peak = state.counts.live;
}

static void *counted(void *found, size_t size) {
    if (found && state.on) {
        if (state.depth == 0) {
            state.counts.calls[NATIVE]++;
            state.counts.bytes[NATIVE] += size;
        }
        grew((int64_t)malloc_usable_size(found));
    }
    return found;
}

EXPORT void *malloc(size_t size) { return ready() ? counted(real.malloc(size), size) : early_alloc(size); }

EXPORT void *calloc(size_t items, size_t size) {
    if (!ready()) /* the static array is zero already */
        return size && items > sizeof early / size ? NULL : early_alloc(items * size);
    return counted(real.calloc(items, size), items * size);
}

EXPORT void free(void *old) {
    if (!old || is_early(old) || !ready())
        return;
    if (state.on) {
        if (state.depth == 0)
            state.counts.frees[NATIVE]++;
        grew(-(int64_t)malloc_usable_size(old));
    }
    real.free(old);
}

EXPORT void *realloc(void *old, size_t size) {
    if (!ready() || is_early(old)) {
        void *found = malloc(size);
        if (found && old) {
            size_t room = (size_t)(early + sizeof early - (char *)old);
            memcpy(found, old, size < room ? size : room);
        }
        return found;
    }
    if (!state.on)
        return real.realloc(old, size);
    int64_t before = old ? (int64_t)malloc_usable_size(old) : 0;
    void *found = real.realloc(old, size);
    if (found) {
        if (state.depth == 0) {
            if (old)
                state.counts.reallocs[NATIVE]++;
            else
                state.counts.calls[NATIVE]++;
            state.counts.bytes[NATIVE] += size;
        }
        grew((int64_t)malloc_usable_size(found) - before);
    } else if (size == 0 && old) {
        grew(-before);
    }
    return found;
}

EXPORT void *reallocarray(void *old, size_t items, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(items, size, &total)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, total);
}

EXPORT void *memalign(size_t alignment, size_t size) {
    return ready() && real.memalign ? counted(real.memalign(alignment, size), size) : NULL;
}

EXPORT void *aligned_alloc(size_t alignment, size_t size) {
    return ready() && real.aligned_alloc ? counted(real.aligned_alloc(alignment, size), size) : NULL;
}

EXPORT int posix_memalign(void **out, size_t alignment, size_t size) {
    if (!ready() || !real.posix_memalign)
        return ENOMEM;
    int code = real.posix_memalign(out, alignment, size);
    if (code == 0)
        counted(*out, size);
    return code;
}

#endif

/* --- Loops ------------------------------------------------------------------------------------------------------ */

typedef void *(*call_t)(void *, void *); /* PyObject_CallOneArg */
typedef void (*decref_t)(void *);        /* Py_DecRef */
typedef int (*check_t)(void);            /* PyErr_CheckSignals: from 3.12 on the collector runs there; else NULL */

static inline uint64_t now_ns(void) {
    struct timespec at;
    clock_gettime(CLOCK_MONOTONIC, &at);
    return (uint64_t)at.tv_sec * 1000000000u + (uint64_t)at.tv_nsec;
}

/* Whether malloc of this process is the one above: then it was called, and has resolved, long before this. */
EXPORT int zc_preloaded(void) {
#ifdef __linux__
    return real.free != NULL;
#else
    return 0;
#endif
}

/* Make n calls, the result of each dropped before the next. -1: a call raised. */
static int run(call_t call, decref_t decref, void *function, void **arguments, long n) {
    for (long i = 0; i < n; i++) {
        void *result = call(function, arguments[i]);
        if (!result)
            return -1;
        decref(result);
    }
    return 0;
}

static int same(const counts_t *a, const counts_t *b) {
    /* Not live and peak: they are of usable sizes, which depend on the holes in the heap. */
    return memcmp(a, b, offsetof(counts_t, live)) == 0;
}

/* Count what n calls allocate and free, after warm calls that are not counted; again, with the next n arguments, until
 * two passes in a row agree, at most the given number of passes. No code of Python's runs between them: what it leaves
 * behind (a name that the cache of type attributes holds alone, and drops for the operation's) would be counted as the
 * operation's. -1: a call raised. */
EXPORT int zc_count(call_t call, decref_t decref, void *function, void **arguments, long warm, long n, long passes,
                    counts_t *out) {
    state.depth = 0;
    if (run(call, decref, function, arguments, warm))
        return -1;
    arguments += warm;
    for (long pass = 0; pass < passes; pass++, arguments += n) {
        memset(&state.counts, 0, sizeof state.counts);
        state.on = 1;
        int failed = run(call, decref, function, arguments, n);
        state.on = 0;
        if (failed)
            return -1;
        int agrees = pass && same(&state.counts, out);
        *out = state.counts;
        if (agrees)
            break;
    }
    return 0;
}

/* Nanoseconds of n calls, the dropping of results included. -1: a call raised. */
EXPORT int64_t zc_batch(call_t call, decref_t decref, check_t check, void *function, void **arguments, long n) {
    uint64_t begin = now_ns();
    for (long i = 0; i < n; i++) {
        void *result = call(function, arguments[i]);
        if (!result)
            return -1;
        decref(result);
        if (check && check())
            return -1;
    }
    return (int64_t)(now_ns() - begin);
}

/* Time each call by itself. The result is dropped inside the window, or, where kept is given, put there instead.
 * begin and took hold n items each. Stops before the first call after the deadline. Calls made, or -1: a call raised. */
EXPORT long zc_time(call_t call, decref_t decref, check_t check, void *function, void **arguments, long n,
                    uint64_t *begin, uint64_t *took, void **kept, uint64_t deadline_ns) {
    for (long i = 0; i < n; i++) {
        uint64_t from = now_ns();
        void *result = call(function, arguments[i]);
        if (!result)
            return -1;
        if (!kept)
            decref(result);
        if (check && check())
            return -1;
        uint64_t to = now_ns();
        if (kept)
            kept[i] = result;
        begin[i] = from;
        took[i] = to - from;
        if (to > deadline_ns)
            return i + 1;
    }
    return n;
}

/* As zc_time without a call: what the clock and the recording cost. */
EXPORT void zc_time_empty(long n, uint64_t *begin, uint64_t *took) {
    for (long i = 0; i < n; i++) {
        uint64_t from = now_ns();
        uint64_t to = now_ns();
        begin[i] = from;
        took[i] = to - from;
    }
}
