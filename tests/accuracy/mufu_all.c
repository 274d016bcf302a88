/* mufu_all.c - compares every input of every approximate function with the recorded hardware.
 *
 *     mufu_all [FUNCTION]...        all functions unless some are named, such as
 *       ex2_approx_ftz_f32
 *
 * Computes all 2^32 results of 15 f32 functions, all 2^16 of the 16-bit ones and the recorded high
 * words of the 64-bit ones, and compares the hash of each block. Two AVX2 cores need about two
 * minutes. The exit status is 0 if all agree. */
#include "tests/accuracy/mufu_recorded.h"
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#define MAX_THREADS 64

/* One record, shared by the threads: each takes the next block until none remains. */
typedef struct work {
    mufu_record record;
    const uint64_t *hash;
    mufu_block_fn *block;
    atomic_uint next, wrong, first_wrong;
} work;

static void *compare(void *p)
{
    work *w = p;
    uint32_t size = 1u << w->record.log2_block, k;
    while ((k = atomic_fetch_add(&w->next, 1)) < w->record.count) {
        uint32_t first = w->record.first + k * size;
        if (w->block(first, size) == w->hash[k]) continue;
        atomic_fetch_add(&w->wrong, 1);
        atomic_store(&w->first_wrong, first);
    }
    return NULL;
}

static bool selected(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(name, argv[i]) == 0) return true;
    }
    return argc < 2;
}

int main(int argc, char **argv)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    int threads = cores < 1 ? 1 : cores > MAX_THREADS ? MAX_THREADS : (int)cores, records = 0;
    uint32_t wrong = 0;
    FILE *in = mufu_open();
    if (!in) {
        perror("tests/data/mufu/hashes.bin");
        return 3;
    }
    work w;
    uint64_t *hash;
    for (; (hash = mufu_next(in, &w.record)) != NULL; free(hash)) {
        if (!selected(w.record.name, argc, argv)) continue;
        w.hash = hash;
        w.block = mufu_find(w.record.name);
        if (!w.block) {
            fprintf(stderr, "unknown function %s\n", w.record.name);
            return 3;
        }
        atomic_init(&w.next, 0);
        atomic_init(&w.wrong, 0);
        atomic_init(&w.first_wrong, 0);
        pthread_t id[MAX_THREADS];
        int started = 0;
        while (started < threads - 1 && pthread_create(&id[started], NULL, compare, &w) == 0)
            started++;
        compare(&w);
        while (started > 0) pthread_join(id[--started], NULL);
        printf("%-22s from %08x: %u of %u blocks of 2^%u agree", w.record.name, w.record.first,
               w.record.count - w.wrong, w.record.count, w.record.log2_block);
        printf(w.wrong ? ", not the one at %08x\n" : "\n", w.first_wrong);
        fflush(stdout);
        wrong += w.wrong;
        records++;
    }
    fclose(in);
    printf("mufu_all: %s\n", records == 0 ? "no such function" : wrong ? "DIFFERS" : "identical");
    return records == 0 || wrong ? 1 : 0;
}
