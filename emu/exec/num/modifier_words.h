/* modifier_words.h - maps words of the instruction table to the number helpers.
 *
 * Lane expressions receive a modifier as its word in the source (W_rz, W_none ...). These functions
 * convert words to the enums of num.h; RND, CMP and BOOL are their short names. The upper-case
 * names below them select a helper by the C type of an operand, so that one table row serves all
 * integer types. Words are constants in specialised loops, so all of this is folded away. */
#ifndef PL_EMU_EXEC_NUM_MODIFIER_WORDS_H
#define PL_EMU_EXEC_NUM_MODIFIER_WORDS_H

#include "isa/gen_words.h"

#include "mufu_sequences.h"
#include "bits.h"
#include "convert_fp8.h"
#include "integer.h"
#include "small_floats.h"
#include "video.h"

#define RND(g)    round_word(g)
#define CMP(g)    compare_word(g)
#define BOOL(g)   bool_word(g)
#define PACKED(g) packed_word(g)

static inline int round_word(int w)
{
    switch (w) {
    case W_rz:
    case W_rzi: return PL_RZ;
    case W_rm:
    case W_rmi: return PL_RM;
    case W_rp:
    case W_rpi: return PL_RP;
    default: return PL_RN; /* none, .rn, .rni */
    }
}

/* The format of the elements of a packed type. */
static inline pl_packed packed_word(int w)
{
    switch (w) {
    case W_e4m3x2:
    case W_e4m3x4: return packed_e4m3;
    case W_e5m2x2:
    case W_e5m2x4: return packed_e5m2;
    case W_e3m2x2:
    case W_e3m2x4: return packed_e3m2;
    case W_e2m3x2:
    case W_e2m3x4: return packed_e2m3;
    case W_e2m1p4x4: return packed_e2m1p4;
    case W_ue8m0x4: return packed_ue8m0;
    default: return packed_e2m1;
    }
}

static inline int compare_word(int w)
{
    switch (w) {
    case W_eq: return PL_CMP_EQ;
    case W_ne: return PL_CMP_NE;
    case W_lt: return PL_CMP_LT;
    case W_le: return PL_CMP_LE;
    case W_gt: return PL_CMP_GT;
    case W_ge: return PL_CMP_GE;
    case W_lo: return PL_CMP_LO;
    case W_ls: return PL_CMP_LS;
    case W_hi: return PL_CMP_HI;
    case W_hs: return PL_CMP_HS;
    case W_equ: return PL_CMP_EQU;
    case W_neu: return PL_CMP_NEU;
    case W_ltu: return PL_CMP_LTU;
    case W_leu: return PL_CMP_LEU;
    case W_gtu: return PL_CMP_GTU;
    case W_geu: return PL_CMP_GEU;
    case W_num: return PL_CMP_NUM;
    default: return PL_CMP_NAN;
    }
}

static inline int bool_word(int w)
{
    return w == W_and ? PL_BOOL_AND : w == W_or ? PL_BOOL_OR : PL_BOOL_XOR;
}

/* The Boolean operator of set, setp and lop3 on a comparison's result and a predicate; without one,
 * the result. */
static inline bool combine(int word, bool t, bool c)
{
    switch (word) {
    case W_and: return t & c;
    case W_or: return t | c;
    case W_xor: return t ^ c;
    default: return t;
    }
}

static inline int testp_word(int w)
{
    switch (w) {
    case W_finite: return PL_TESTP_FINITE;
    case W_infinite: return PL_TESTP_INFINITE;
    case W_number: return PL_TESTP_NUMBER;
    case W_notanumber: return PL_TESTP_NOTANUMBER;
    case W_normal: return PL_TESTP_NORMAL;
    default: return PL_TESTP_SUBNORMAL;
    }
}

static inline int prmt_word(int w)
{
    switch (w) {
    case W_f4e: return PL_PRMT_F4E;
    case W_b4e: return PL_PRMT_B4E;
    case W_rc8: return PL_PRMT_RC8;
    case W_ecl: return PL_PRMT_ECL;
    case W_ecr: return PL_PRMT_ECR;
    case W_rc16: return PL_PRMT_RC16;
    default: return PL_PRMT_INDEX;
    }
}

static inline int op2_word(int w)
{
    switch (w) {
    case W_add: return PL_OP2_ADD;
    case W_min: return PL_OP2_MIN;
    case W_max: return PL_OP2_MAX;
    default: return PL_OP2_NONE;
    }
}

/* The value that set writes for "true" into a result of this type: all ones, or 1.0. */
static inline uint32_t set_true(int dtype)
{
    switch (dtype) {
    case W_f32: return PL_F32_ONE;
    case W_f16: return 0x3c00;
    case W_bf16: return 0x3f80;
    case W_u16:
    case W_s16: return 0xffff;
    default: return UINT32_MAX;
    }
}

/* The same for both halves of a packed comparison. */
static inline uint32_t set_true2(int dtype, bool low, bool high)
{
    uint32_t one = dtype == W_f16x2 ? 0x3c00 : dtype == W_bf16x2 ? 0x3f80 : 0xffff;
    return (high ? one << 16 : 0) | (low ? one : 0);
}

/* ---- integers of any type ---- */

/* Sums and products wrap: they are computed unsigned and truncated to the type of a. */
#define ADD(a, b) ((__typeof__(a))((uint64_t)(a) + (uint64_t)(b)))
#define SUB(a, b) ((__typeof__(a))((uint64_t)(a) - (uint64_t)(b)))
#define MUL(a, b) ((__typeof__(a))((uint64_t)(a) * (uint64_t)(b)))
#define NEG(a)    ((__typeof__(a))(0u - (uint64_t)(a)))

#define BY_INT(a, name)                                                                            \
    _Generic((a), uint16_t                                                                         \
             : u16_##name, int16_t                                                                 \
             : s16_##name, uint32_t                                                                \
             : u32_##name, int32_t                                                                 \
             : s32_##name, uint64_t                                                                \
             : u64_##name, int64_t                                                                 \
             : s64_##name)
#define BY_SIGNED(a, name)                                                                         \
    _Generic((a), int16_t : s16_##name, int32_t : s32_##name, int64_t : s64_##name)
#define BY_WORD(a, name)                                                                           \
    _Generic((a), uint32_t                                                                         \
             : u32_##name, int32_t                                                                 \
             : s32_##name, uint64_t                                                                \
             : u64_##name, int64_t                                                                 \
             : s64_##name)
#define BY_INT32(a, name) _Generic((a), uint32_t : u32_##name, int32_t : s32_##name)
#define BY_BITS(a, name)                                                                           \
    _Generic((a), uint16_t : b16_##name, uint32_t : b32_##name, uint64_t : b64_##name)
#define BY_HALF(a, name)                                                                           \
    _Generic((a), uint16_t                                                                         \
             : u16_##name, int16_t                                                                 \
             : s16_##name, uint32_t                                                                \
             : u32_##name, int32_t                                                                 \
             : s32_##name)

/* f16 or f16x2, bf16 or bf16x2. */
#define F16(a, name)  _Generic((a), uint16_t : f16_##name, uint32_t : f16x2_##name)
#define BF16(a, name) _Generic((a), uint16_t : bf16_##name, uint32_t : bf16x2_##name)
#define OOB(a, b, r)  _Generic((a), uint16_t : half_oob, uint32_t : half2_oob)(a, b, r)

#define MULHI(a, b)       BY_INT(a, mulhi)(a, b)
#define MULWIDE(a, b)     BY_HALF(a, mulwide)(a, b)
#define DIV(a, b)         BY_INT(a, div)(a, b)
#define REM(a, b)         BY_INT(a, rem)(a, b)
#define SAD(a, b, c)      BY_INT(a, sad)(a, b, c)
#define ABS(a)            BY_SIGNED(a, abs)(a)
#define SHL(a, n)         BY_BITS(a, shl)(a, n)
#define SHR(a, n)         BY_INT(a, shr)(a, n)
#define INT_CMP(a, b, op) BY_INT(a, cmp)(a, b, op)

/* a + b + carry with the carry flag in and out; for a - b pass ~b. */
#define ADDC(a, b, carry, flag)                                                                    \
    ((__typeof__(a))(sizeof(a) == 8 ? u64_addc((uint64_t)(a), (uint64_t)(b), carry, flag)          \
                                    : u32_addc((uint32_t)(a), (uint32_t)(b), carry, flag)))

/* ---- conversions by word ---- */

static inline int64_t int_low(int dtype)
{
    switch (dtype) {
    case W_s8: return INT8_MIN;
    case W_s16: return INT16_MIN;
    case W_s32: return INT32_MIN;
    case W_s64: return INT64_MIN;
    default: return 0;
    }
}

static inline int64_t int_high(int dtype)
{
    switch (dtype) {
    case W_u8: return UINT8_MAX;
    case W_s8: return INT8_MAX;
    case W_u16: return UINT16_MAX;
    case W_s16: return INT16_MAX;
    case W_u32: return UINT32_MAX;
    case W_s32: return INT32_MAX;
    default: return INT64_MAX;
    }
}

/* cvt.sat between integers; `d` only specifies the result's C type. u64 is the only source that
 * does not fit in int64_t. */
#define SATURATE(d, a, dtype, atype)                                                               \
    ((__typeof__(d))((atype) == W_u64                                                              \
                         ? (int64_t)clamp_u64((uint64_t)(a), (uint64_t)int_high(dtype))            \
                         : clamp_s64((int64_t)(a), int_low(dtype), int_high(dtype))))

static inline uint64_t int_from_f32(uint32_t a, int rnd, bool ftz, int dtype)
{
    switch (dtype) {
    case W_u8: return (uint64_t)narrow_from_f32(a, rnd, ftz, 8, false);
    case W_s8: return (uint64_t)narrow_from_f32(a, rnd, ftz, 8, true);
    case W_u16: return (uint64_t)narrow_from_f32(a, rnd, ftz, 16, false);
    case W_s16: return (uint64_t)narrow_from_f32(a, rnd, ftz, 16, true);
    case W_u32: return u32_from_f32(a, rnd, ftz);
    case W_s32: return (uint64_t)s32_from_f32(a, rnd, ftz);
    case W_u64: return u64_from_f32(a, rnd, ftz);
    default: return (uint64_t)s64_from_f32(a, rnd, ftz);
    }
}

static inline uint64_t int_from_f64(uint64_t a, int rnd, int dtype)
{
    switch (dtype) {
    case W_u8: return (uint64_t)narrow_from_f64(a, rnd, 8, false);
    case W_s8: return (uint64_t)narrow_from_f64(a, rnd, 8, true);
    case W_u16: return (uint64_t)narrow_from_f64(a, rnd, 16, false);
    case W_s16: return (uint64_t)narrow_from_f64(a, rnd, 16, true);
    case W_u32: return u32_from_f64(a, rnd);
    case W_s32: return (uint64_t)s32_from_f64(a, rnd);
    case W_u64: return u64_from_f64(a, rnd);
    default: return (uint64_t)s64_from_f64(a, rnd);
    }
}

/* Integer of any type to a float type: `a` is promoted to 32 bits, or is a 64-bit integer. */
#define FROM_INT(to, a, rnd)                                                                       \
    _Generic((a) + 0, int32_t                                                                      \
             : to##_from_s32, uint32_t                                                             \
             : to##_from_u32, int64_t                                                              \
             : to##_from_s64, uint64_t                                                             \
             : to##_from_u64)((a), rnd)

#endif
