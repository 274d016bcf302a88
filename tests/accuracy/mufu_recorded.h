/* mufu_recorded.h - the approximate functions by name, and the recorded hashes of their results.
 *
 * A hash covers a block of consecutive inputs: the sum over x of (result ^ mixed(x)) times an odd
 * constant, modulo 2^64. tools/mufu/pack.py describes
 * tests/data/mufu/hashes.bin. */
#ifndef PL_TESTS_MUFU_RECORDED_H
#define PL_TESTS_MUFU_RECORDED_H

#include "emu/exec/num/mufu_sequences.h"
#include <stdio.h>
#include <stdlib.h>

/* The loops below are compiled twice if the linker can select a version at start; AVX2 takes a
 * fifth of the time. */
#if defined __x86_64__ && defined __gnu_linux__
#define MUFU_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define MUFU_CLONES
#endif

typedef uint64_t mufu_block_fn(uint32_t first, uint32_t count);

#define MUFU_FUNCTIONS(F)                                                                          \
    F(rcp_approx_ftz_f32, f32_rcp_approx(x, true))                                                 \
    F(rcp_approx_f32, f32_rcp_approx(x, false))                                                    \
    F(rsqrt_approx_ftz_f32, f32_rsqrt_approx(x, true))                                             \
    F(rsqrt_approx_f32, f32_rsqrt_approx(x, false))                                                \
    F(sqrt_approx_ftz_f32, f32_sqrt_approx(x, true))                                               \
    F(sqrt_approx_f32, f32_sqrt_approx(x, false))                                                  \
    F(ex2_approx_ftz_f32, f32_ex2_approx(x, true))                                                 \
    F(ex2_approx_f32, f32_ex2_approx(x, false))                                                    \
    F(lg2_approx_ftz_f32, f32_lg2_approx(x, true))                                                 \
    F(lg2_approx_f32, f32_lg2_approx(x, false))                                                    \
    F(sin_approx_ftz_f32, f32_sin_approx(x, true))                                                 \
    F(sin_approx_f32, f32_sin_approx(x, false))                                                    \
    F(cos_approx_ftz_f32, f32_cos_approx(x, true))                                                 \
    F(cos_approx_f32, f32_cos_approx(x, false))                                                    \
    F(tanh_approx_f32, f32_tanh_approx(x))                                                         \
    F(ex2_approx_f16, f16_ex2_approx((uint16_t)x))                                                 \
    F(tanh_approx_f16, f16_tanh_approx((uint16_t)x))                                               \
    F(tanh_approx_bf16, bf16_tanh_approx((uint16_t)x))                                             \
    F(ex2_approx_ftz_bf16, bf16_ex2_approx_ftz((uint16_t)x))                                       \
    F(rcp_approx_ftz_f64, (uint32_t)(f64_rcp_approx_ftz((uint64_t)x << 32 | x) >> 32))             \
    F(rsqrt_approx_ftz_f64, (uint32_t)(f64_rsqrt_approx((uint64_t)x << 32 | x, true) >> 32))

/* First the results, 32 at a time, as the emulator computes them. The f64 functions get the high
 * word x. */
#define MUFU_BLOCK(name, result)                                                                   \
    MUFU_CLONES static uint64_t mufu_block_##name(uint32_t first, uint32_t count)                  \
    {                                                                                              \
        uint64_t sum = 0;                                                                          \
        for (uint32_t i = 0; i < count; i += 32) {                                                 \
            uint32_t d[32];                                                                        \
            for (uint32_t lane = 0; lane < 32; lane++) {                                           \
                uint32_t x = first + i + lane;                                                     \
                d[lane] = result;                                                                  \
            }                                                                                      \
            for (uint32_t lane = 0; lane < 32; lane++) {                                           \
                uint32_t mixed = (first + i + lane) * 0x9e3779b1u;                                 \
                sum += d[lane] ^ (mixed << 16 | mixed >> 16);                                      \
            }                                                                                      \
        }                                                                                          \
        return sum * 0xd6e8feb86659fd93u;                                                          \
    }
MUFU_FUNCTIONS(MUFU_BLOCK)

#define MUFU_NAMED(name, result) {#name, mufu_block_##name},
static const struct {
    const char *name;
    mufu_block_fn *block;
} mufu_functions[] = {MUFU_FUNCTIONS(MUFU_NAMED)};
#define MUFU_FUNCTION_COUNT (sizeof mufu_functions / sizeof *mufu_functions)

/* A record: hashes of `count` blocks of 2^log2_block inputs starting at `first`. */
typedef struct mufu_record {
    char name[32];
    uint32_t first, log2_block, count, zero;
} mufu_record;

static inline FILE *mufu_open(void)
{
    char path[4096];
    const char *dir = getenv("srcdir");
    snprintf(path, sizeof path, "%s/tests/data/mufu/hashes.bin", dir ? dir : ".");
    return fopen(path, "rb");
}

/* The next record; the caller frees its hashes. NULL at the end, or if damaged. */
static inline uint64_t *mufu_next(FILE *in, mufu_record *r)
{
    if (fread(r, sizeof *r, 1, in) != 1 || r->count > 1u << 17) return NULL;
    uint64_t *hash = malloc(r->count * sizeof *hash);
    if (hash && fread(hash, sizeof *hash, r->count, in) == r->count) return hash;
    free(hash);
    return NULL;
}

static inline mufu_block_fn *mufu_find(const char *name)
{
    for (size_t i = 0; i < MUFU_FUNCTION_COUNT; i++) {
        if (strcmp(name, mufu_functions[i].name) == 0) return mufu_functions[i].block;
    }
    return NULL;
}

#endif
