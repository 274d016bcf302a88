/* programs.h - the launches of random programs (tests/data/programs/generate.py): sizes, input and
 * digest, shared by the test and the recording program. */
#ifndef PL_TESTS_PROGRAMS_H
#define PL_TESTS_PROGRAMS_H

#include <stddef.h>
#include <stdint.h>

enum {
    PROGRAMS_BLOCKS = 2,
    PROGRAMS_THREADS = 64,
    PROGRAMS_ALL = PROGRAMS_BLOCKS * PROGRAMS_THREADS,
    PROGRAMS_IN = PROGRAMS_ALL * 256,       /* bytes read by the threads */
    PROGRAMS_OUT = PROGRAMS_ALL * 512 + 64, /* bytes written, followed by the shared sums */
};

static inline uint64_t programs_mix(uint64_t z)
{
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static inline void programs_input(uint32_t *in)
{
    for (size_t i = 0; i < PROGRAMS_IN / 4; i++)
        in[i] = (uint32_t)programs_mix(77 * 0x9E3779B97F4A7C15u + i + 1);
}

static inline uint64_t programs_digest(const uint64_t *out)
{
    uint64_t h = 0;
    for (size_t i = 0; i < PROGRAMS_OUT / 8; i++) h = programs_mix(h ^ out[i]) + i;
    return h;
}

#endif
