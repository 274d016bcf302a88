/* num_sums.c - prints checksums of the arithmetic behind all results: scalar helpers, approximate
 * functions, and tensor cores. tests/compilers.sh compiles it with every available compiler, at
 * several optimisation levels and for several processors, and compares the output. */
#include <inttypes.h>
#include <stdio.h>

#define LANES_NAME num_lanes_here
void num_lanes_here(uint64_t *sum);

#include "emu/exec/num/mufu_sequences.h"
#include "emu/exec/mma/mma.h"
#include "tests/unit/num_lanes.h"

enum { APPROXIMATE = 8 };

static void approximate(uint64_t sum[APPROXIMATE])
{
    for (uint64_t x = 0; x < 0x100000000u; x += 49999) {
        const uint32_t a = (uint32_t)x;
        const uint32_t r[APPROXIMATE] = {mufu_rcp(a), mufu_rsq(a), mufu_sqrt(a), mufu_ex2(a),
                                         mufu_lg2(a), mufu_sin(a), mufu_cos(a),  mufu_tanh(a)};
        for (int k = 0; k < APPROXIMATE; k++) sum[k] = (sum[k] ^ r[k]) * 0x100000001b3u;
    }
}

/* One instruction applied to random fragments, fifty times. */
static uint64_t product(pl_tensor_op op)
{
    static uint64_t storage[4][PL_TENSOR_MAX_REGS][PL_TENSOR_LANES];
    const void *in[3][PL_TENSOR_MAX_REGS];
    void *out[PL_TENSOR_MAX_REGS];
    const size_t wide = op.a == PL_TT_F64 ? 2 : 1;
    uint64_t state = 7, sum = 0;
    for (int r = 0; r < PL_TENSOR_MAX_REGS; r++) {
        for (int k = 0; k < 3; k++) in[k][r] = storage[k][r];
        out[r] = storage[3][r];
    }
    for (int round = 0; round < 50; round++) {
        for (int k = 0; k < 3; k++)
            for (int r = 0; r < PL_TENSOR_MAX_REGS; r++)
                for (int l = 0; l < PL_TENSOR_LANES; l++) storage[k][r][l] = lane_operand(&state);
        pl_tensor_mma(&op, out, in[0], in[1], in[2], NULL);
        for (int r = 0; r < pl_tensor_regs(&op, PL_TM_D); r++)
            for (size_t w = 0; w < wide * PL_TENSOR_LANES; w++)
                sum = (sum ^ ((const uint32_t *)out[r])[w]) * 0x100000001b3u;
    }
    return sum;
}

int main(void)
{
    static const pl_tensor_op ops[] = {
        {.m = 16, .n = 8, .k = 16, .a = PL_TT_F16, .b = PL_TT_F16, .c = PL_TT_F32, .d = PL_TT_F32},
        {.m = 16, .n = 8, .k = 16, .a = PL_TT_F16, .b = PL_TT_F16, .c = PL_TT_F16, .d = PL_TT_F16},
        {.m = 16,
         .n = 8,
         .k = 16,
         .a = PL_TT_BF16,
         .b = PL_TT_BF16,
         .c = PL_TT_F32,
         .d = PL_TT_F32},
        {.m = 16, .n = 8, .k = 8, .a = PL_TT_TF32, .b = PL_TT_TF32, .c = PL_TT_F32, .d = PL_TT_F32},
        {.m = 16,
         .n = 8,
         .k = 32,
         .a = PL_TT_E4M3,
         .b = PL_TT_E5M2,
         .c = PL_TT_F32,
         .d = PL_TT_F32},
        {.m = 8, .n = 8, .k = 4, .a = PL_TT_F16, .b = PL_TT_F16, .c = PL_TT_F32, .d = PL_TT_F32},
        {.m = 8, .n = 8, .k = 4, .a = PL_TT_F64, .b = PL_TT_F64, .c = PL_TT_F64, .d = PL_TT_F64},
        {.m = 16, .n = 8, .k = 32, .a = PL_TT_S8, .b = PL_TT_U8, .c = PL_TT_S32, .d = PL_TT_S32},
    };
    uint64_t sum[LANE_SUMS] = {0}, mufu[APPROXIMATE] = {0};
    num_lanes_here(sum);
    for (int k = 0; k < LANE_SUMS; k++) printf("lane %d %016" PRIx64 "\n", k, sum[k]);
    approximate(mufu);
    for (int k = 0; k < APPROXIMATE; k++) printf("approximate %d %016" PRIx64 "\n", k, mufu[k]);
    for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) {
        for (int sm = 70; sm <= 90; sm += 10) {
            pl_tensor_op op = ops[k];
            op.gen = pl_tensor_gen_of(sm);
            printf("tensor %zu sm_%d %016" PRIx64 "\n", k, sm, product(op));
        }
    }
    return 0;
}
