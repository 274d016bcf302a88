/* wait_value.c - values in memory that streams write and wait for.
 *
 * Operations are executed in call order, and end at a time on the application's clock that may be
 * in the future. So each word that streams write or wait for has a history: its values, and the
 * times from which they were valid. A wait ends when its stream has reached it and the history has
 * a matching value; until then the stream is blocked (blocked_stream.c). */
#include "cudart/blocked.h"
#include "cudart/state.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    WAIT_32 = 1, /* CUstreamBatchMemOpType */
    WRITE_32 = 2,
    FLUSH = 3,
    WAIT_64 = 4,
    WRITE_64 = 5,
    BARRIER = 6,
    MAX_OPS = 256,        /* per call */
    GREATER_OR_EQUAL = 0, /* CUstreamWaitValue_flags */
    EQUAL = 1,
    AND = 2,
    NOR = 3,
    MAX_VALUES = 8, /* per history */
    MAX_WORDS = 256 /* with a history; beyond that the oldest one is dropped */
};

unsigned cuda_value_bytes(const cuda_memory_op *p)
{
    if (p->kind == FLUSH || p->kind == BARRIER) return 0;
    return p->kind == WAIT_64 || p->kind == WRITE_64 ? 8 : 4;
}

bool cuda_value_waits(const cuda_memory_op *p)
{
    return p->kind == WAIT_32 || p->kind == WAIT_64;
}

static int check_op(const cuda_memory_op *p)
{
    enum { FLUSHES = 1 << 30, NO_BARRIER = 1 };
    bool device = false;
    if (p->kind == FLUSH) return CU_NOT_SUPPORTED;
    if (p->kind == BARRIER) return p->barrier > 1 ? CU_INVALID_VALUE : CU_OK;
    if (p->kind < WAIT_32 || p->kind > WRITE_64) return CU_INVALID_VALUE;
    if (!p->address || p->address % cuda_value_bytes(p) ||
        !cuda_bytes((void *)(uintptr_t)p->address, cuda_value_bytes(p), &device) || !device)
        return CU_INVALID_VALUE;
    return (p->flags & ~(unsigned)FLUSHES) > (cuda_value_waits(p) ? NOR : NO_BARRIER)
               ? CU_INVALID_VALUE
           : cuda_value_waits(p) && p->flags & FLUSHES ? CU_NOT_SUPPORTED /* no such device */
                                                       : CU_OK;
}

/* 32-bit values are compared modulo 2^32. */
static bool is_satisfied(const cuda_memory_op *p, uint64_t current)
{
    const unsigned n = cuda_value_bytes(p);
    const uint64_t mask = n == 8 ? UINT64_MAX : UINT32_MAX;
    const uint64_t value = p->value & mask, difference = (current - value) & mask;
    switch (p->flags & 3) {
    case GREATER_OR_EQUAL: return !(difference >> (8 * n - 1));
    case EQUAL: return current == value;
    case AND: return (current & value) != 0;
    default: return (~(current | value) & mask) != 0;
    }
}

/* ---------------------------------------------------------------- the history of words */

static struct word {
    uint64_t address;
    unsigned bytes, n;
    struct {
        uint64_t value;
        double from; /* ns */
    } history[MAX_VALUES];
} * words;

static size_t nwords, oldest;

/* Other threads may write it at any time. False: the memory no longer exists. */
static bool read_word(uint64_t address, unsigned bytes, uint64_t *value)
{
    const uint8_t *p = cuda_bytes((void *)(uintptr_t)address, bytes, NULL);
    if (!p) return false;
    *value = bytes == 8 ? __atomic_load_n((const uint64_t *)(const void *)p, __ATOMIC_ACQUIRE)
                        : __atomic_load_n((const uint32_t *)(const void *)p, __ATOMIC_ACQUIRE);
    return true;
}

/* Returns its history, which starts now if there was none; NULL: no memory. */
static struct word *history_of(const cuda_memory_op *p)
{
    const unsigned n = cuda_value_bytes(p);
    for (size_t k = 0; k < nwords; k++)
        if (words[k].address == p->address && words[k].bytes == n) return &words[k];
    if (!words) words = calloc(MAX_WORDS, sizeof *words);
    if (!words) return NULL;
    struct word *w = nwords < MAX_WORDS ? &words[nwords++] : &words[oldest++ % MAX_WORDS];
    *w = (struct word){.address = p->address, .bytes = n, .n = 1};
    if (!read_word(p->address, n, &w->history[0].value)) w->history[0].value = 0;
    return w;
}

void cuda_record_values(double now)
{
    for (size_t k = 0; k < nwords; k++) {
        struct word *w = &words[k];
        uint64_t value;
        if (!read_word(w->address, w->bytes, &value) || value == w->history[w->n - 1].value)
            continue;
        if (w->n == MAX_VALUES)
            memmove(&w->history[0], &w->history[1], --w->n * sizeof *w->history);
        const double last_change = w->history[w->n - 1].from;
        w->history[w->n].value = value;
        w->history[w->n++].from = now > last_change ? now : last_change;
    }
}

/* Computes when a wait that begins at `begin` ends; false: no value so far ends it. */
bool cuda_value_ends(const cuda_memory_op *p, double begin, double *end)
{
    const struct word *w = history_of(p);
    for (unsigned k = 0; w && k < w->n; k++) {
        const bool superseded = k + 1 < w->n && w->history[k + 1].from <= begin;
        if (superseded || !is_satisfied(p, w->history[k].value)) continue;
        *end = w->history[k].from > begin ? w->history[k].from : begin;
        return true;
    }
    return false;
}

/* ---------------------------------------------------------------- lists of values */

bool cuda_memory_ops_text(const cuda_memory_ops *m, char *text, size_t size)
{
    static const char *const condition[] = {"be at least", "be", "have a bit of", "lack a bit of"};
    if (m->next >= m->n || !cuda_value_waits(&m->at[m->next])) return false;
    const cuda_memory_op *p = &m->at[m->next];
    uint64_t current = 0;
    read_word(p->address, cuda_value_bytes(p), &current);
    snprintf(text, size,
             "for the %u-bit value at 0x%" PRIx64 " to %s %" PRIu64 " (0x%" PRIx64
             "), and it is %" PRIu64,
             8 * cuda_value_bytes(p), p->address, condition[p->flags & 3], p->value, p->value,
             current);
    return true;
}

bool cuda_memory_ops_shared(const cuda_memory_ops *m)
{
    const cuda_alloc *a = m->next < m->n ? cuda_alloc_find(m->at[m->next].address) : NULL;
    return a && (a->fd || a->registered);
}

int cuda_memory_ops_make(unsigned n, const void *values, unsigned flags, cuda_op *op)
{
    const cuda_memory_op *list = values;
    int error = flags || n > MAX_OPS || (n && !list) ? CU_INVALID_VALUE : CU_OK;
    for (unsigned k = 0; k < n && !error; k++) error = check_op(&list[k]);
    if (error) return error;
    cuda_memory_ops *m = calloc(1, sizeof *m + n * sizeof *m->at);
    if (!m) return CU_MEMORY_ALLOCATION;
    m->n = n;
    if (n) memcpy(m->at, list, n * sizeof *m->at);
    for (unsigned k = 0; k < n; k++)
        if (cuda_value_bytes(&m->at[k])) history_of(&m->at[k]);
    *op = (cuda_op){.kind = OP_MEMORY, .u.values = m};
    return CU_OK;
}

cuda_memory_ops *cuda_copy_memory_ops(const cuda_memory_ops *m)
{
    const size_t bytes = sizeof *m + m->n * sizeof *m->at;
    cuda_memory_ops *copy = malloc(bytes);
    if (!copy) return NULL;
    memcpy(copy, m, bytes);
    copy->next = 0;
    return copy;
}
