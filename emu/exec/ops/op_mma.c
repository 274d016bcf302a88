/* op_mma.c - the matrix instructions for a whole warp: ldmatrix, stmatrix, movmatrix, mma, wmma and
 * wgmma.
 *
 * The computation and the layout of elements in registers are in mma.h. This file locates the
 * registers and the memory of an instruction. Matrix instructions require all lanes of a warp; if
 * some are inactive (undefined in PTX) their registers are read unchanged and not written. */
#include <string.h>

#include "emu/exec/hooks.h"
#include "emu/exec/memory/span.h"
#include "emu/exec/num/modifier_words.h"
#include "emu/exec/mma/mma.h"

enum { MAX_ROWS = 128 }; /* registers of the longest operand: wgmma's D with n = 256 */

/* ---- words to numbers ---- */

typedef struct shape {
    int m, n, k;
} shape;

static int parse_number(const char **s)
{
    int v = 0;
    while (**s >= '0' && **s <= '9') v = v * 10 + *(*s)++ - '0';
    return v;
}

/* "m16n8k16" */
static shape shape_of(int word)
{
    const char *s = pl_word_text[word] + 1;
    shape r;
    r.m = parse_number(&s);
    s++;
    r.n = parse_number(&s);
    s++;
    r.k = parse_number(&s);
    return r;
}

static pl_tensor_type type_of(int word)
{
    switch (word) {
    case W_f16: return PL_TT_F16;
    case W_bf16: return PL_TT_BF16;
    case W_tf32: return PL_TT_TF32;
    case W_f32: return PL_TT_F32;
    case W_f64: return PL_TT_F64;
    case W_e4m3: return PL_TT_E4M3;
    case W_e5m2: return PL_TT_E5M2;
    case W_e3m2: return PL_TT_E3M2;
    case W_e2m3: return PL_TT_E2M3;
    case W_e2m1: return PL_TT_E2M1;
    case W_s8: return PL_TT_S8;
    case W_u8: return PL_TT_U8;
    case W_s4: return PL_TT_S4;
    case W_u4: return PL_TT_U4;
    case W_b1: return PL_TT_B1;
    case W_s32: return PL_TT_S32;
    default: return PL_TT_NONE;
    }
}

/* The generation of the machine's tensor cores: a program for sm_80 runs on a later machine with
 * that machine's arithmetic. */
static pl_tensor_gen generation(const pl_warp *w)
{
    return pl_tensor_gen_of((int)w->cta->grid->capability);
}

/* ---- registers ---- */

/* The rows of vector operand k. */
static void rows_of(const pl_warp *w, const pl_insn *i, unsigned k, int count, bool wide,
                    void **rows)
{
    for (int e = 0; e < count; e++) {
        uint32_t row = pl_more(w, i, i->op[k] + (uint32_t)e);
        rows[e] = wide ? (void *)pl_row64(w, row) : (void *)pl_row32(w, row);
    }
}

/* The destination of results: the registers themselves, or `spare` if some lanes must keep
 * theirs. */
typedef struct result {
    void *rows[MAX_ROWS];
    uint64_t spare[16][PL_LANES];
} result;

static void open_result(const pl_warp *w, const pl_insn *i, int count, bool wide, result *r)
{
    rows_of(w, i, 0, count, wide, r->rows);
    if (w->exec != UINT32_MAX)
        for (int e = 0; e < count; e++) r->rows[e] = r->spare[e];
}

static void close_result(pl_warp *w, const pl_insn *i, int count, bool wide, result *r)
{
    if (w->exec == UINT32_MAX) return;
    for (int e = 0; e < count; e++) {
        uint32_t row = pl_more(w, i, i->op[0] + (uint32_t)e);
        if (wide)
            pl_blend64(w, pl_row64(w, row), r->rows[e]);
        else
            pl_blend32(w, pl_row32(w, row), r->rows[e]);
    }
}

/* ---- mma and wmma.mma: `extra` is the operation on bits, or the rounding of f64 ---- */

static void multiply(pl_warp *w, const pl_insn *i, const pl_tensor_op *op, const uint32_t *meta)
{
    const bool wide = op->a == PL_TT_F64;
    const int count = pl_tensor_regs(op, PL_TM_D);
    void *a[PL_TENSOR_MAX_REGS], *b[PL_TENSOR_MAX_REGS], *c[PL_TENSOR_MAX_REGS];
    result d;
    rows_of(w, i, 1, pl_tensor_regs(op, PL_TM_A), wide, a);
    rows_of(w, i, 2, pl_tensor_regs(op, PL_TM_B), wide, b);
    rows_of(w, i, 3, pl_tensor_regs(op, PL_TM_C), wide, c);
    open_result(w, i, count, wide, &d);
    pl_tensor_mma(op, d.rows, (const void *const *)a, (const void *const *)b,
                  (const void *const *)c, meta);
    close_result(w, i, count, wide, &d);
}

/* A dense product of mma or wmma. */
static pl_tensor_op dense_op(const pl_warp *w, pl_tensor_family family, shape s, int sat, int extra)
{
    return (pl_tensor_op){.family = family,
                          .gen = generation(w),
                          .m = s.m,
                          .n = s.n,
                          .k = s.k,
                          .saturate = sat != W_none,
                          .bits_and = extra == W_and,
                          .rounding = RND(extra)};
}

void exec_mma(pl_warp *w, const pl_insn *i, int shape_word, int d, int a, int b, int sat, int extra)
{
    pl_tensor_op op = dense_op(w, PL_TF_MMA, shape_of(shape_word), sat, extra);
    op.a = type_of(a);
    op.b = type_of(b);
    op.c = type_of(d);
    op.d = type_of(d);
    multiply(w, i, &op, NULL);
}

void exec_mma_m8n8k4(pl_warp *w, const pl_insn *i, int a_layout, int b_layout, int d, int c)
{
    const pl_tensor_op op = {.family = PL_TF_MMA,
                             .gen = generation(w),
                             .m = 8,
                             .n = 8,
                             .k = 4,
                             .a = PL_TT_F16,
                             .b = PL_TT_F16,
                             .c = type_of(c),
                             .d = type_of(d),
                             .a_col = a_layout == W_col,
                             .b_row = b_layout == W_row};
    multiply(w, i, &op, NULL);
}

void exec_mma_sp(pl_warp *w, const pl_insn *i, int shape_word, int d, int a, int b, int sat)
{
    const shape s = shape_of(shape_word);
    const pl_tensor_op op = {.family = PL_TF_MMA,
                             .gen = generation(w),
                             .m = s.m,
                             .n = s.n,
                             .k = s.k,
                             .a = type_of(a),
                             .b = type_of(b),
                             .c = type_of(d),
                             .d = type_of(d),
                             .saturate = sat != W_none,
                             .sparse = true,
                             .selector = (int)i->op[5]};
    multiply(w, i, &op, pl_row32(w, i->op[4]));
}

/* Two 16-bit operands in braces: the byte of the scale register, and the lanes of a quad that hold
 * it. The manual requires the same values in all lanes. */
static void scale_place(const pl_warp *w, const pl_insn *i, unsigned k, pl_tensor_scale *s)
{
    s->byte = (int)(pl_row32(w, pl_more(w, i, i->op[k]))[0] & 3);
    s->lane = (int)(pl_row32(w, pl_more(w, i, i->op[k] + 1))[0] & 3);
}

void exec_mma_scaled(pl_warp *w, const pl_insn *i, int shape_word, int a, int b, int svec,
                     int stype, int sparse)
{
    const shape s = shape_of(shape_word);
    const unsigned at = sparse != W_none ? 6 : 4;
    /* The mxf4 kinds have two elements per byte. */
    const bool packed = s.k == (sparse != W_none ? 128 : 64);
    pl_tensor_scale sa = {.row = pl_row32(w, i->op[at])}, sb = {.row = pl_row32(w, i->op[at + 2])};
    scale_place(w, i, at + 1, &sa);
    scale_place(w, i, at + 3, &sb);
    sa.count = sb.count = svec == W_scale_vec__4X ? 4 : svec == W_scale_vec__2X || packed ? 2 : 1;
    sa.ue4m3 = sb.ue4m3 = stype == W_ue4m3;
    const pl_tensor_op op = {.family = PL_TF_MMA,
                             .gen = generation(w),
                             .m = s.m,
                             .n = s.n,
                             .k = s.k,
                             .a = packed ? PL_TT_E2M1X2 : type_of(a),
                             .b = packed ? PL_TT_E2M1X2 : type_of(b),
                             .c = PL_TT_F32,
                             .d = PL_TT_F32,
                             .sparse = sparse != W_none,
                             .scale_a = &sa,
                             .scale_b = &sb};
    multiply(w, i, &op, sparse != W_none ? pl_row32(w, i->op[4]) : NULL);
}

void exec_wmma_mma(pl_warp *w, const pl_insn *i, int shape_word, int d, int a, int b, int c,
                   int sat, int extra)
{
    pl_tensor_op op = dense_op(w, PL_TF_WMMA, shape_of(shape_word), sat, extra);
    op.a = type_of(a);
    op.b = type_of(b);
    op.c = type_of(c);
    op.d = type_of(d);
    multiply(w, i, &op, NULL);
}

/* ---- wmma.load, wmma.store ---- */

/* A matrix in memory. */
typedef struct area {
    int rows, cols, bits;
    bool by_column;
    uint64_t stride; /* elements from one row (column) to the next */
    uint64_t address[PL_LANES];
    pl_space space;
    bool write;
    uint8_t *bytes; /* the whole matrix, if one allocation holds it and all lanes have the same
                       address; else NULL */
} area;

static bool open_area(pl_warp *w, const pl_insn *i, const pl_tensor_op *op, pl_tensor_operand which,
                      unsigned at, unsigned stride_at, int layout, area *m)
{
    const pl_tensor_type t = which == PL_TM_A   ? op->a
                             : which == PL_TM_B ? op->b
                             : which == PL_TM_C ? op->c
                                                : op->d;
    const unsigned flags = i->sel[PL_M_FLAGS];
    m->rows = which == PL_TM_B ? op->k : op->m;
    m->cols = which == PL_TM_A ? op->k : op->n;
    m->bits = pl_tensor_bits(t);
    m->by_column = layout == W_col;
    m->space = (pl_space)i->sel[PL_M_SPACE];
    m->bytes = NULL;
    m->write = at == 0; /* the address is the first operand of a store */
    if (w->exec == 0) return false;
    const unsigned lane = (unsigned)__builtin_ctz(w->exec);
    const int line = m->by_column ? m->rows : m->cols, lines = m->by_column ? m->cols : m->rows;
    m->stride =
        i->op[stride_at] == PL_NO_OPERAND ? (uint64_t)line : pl_row32(w, i->op[stride_at])[lane];
    pl_addresses(w, i, at, flags & PL_MF_ADDR32, i->imm, m->address);
    const uint64_t span =
        (m->stride * (uint64_t)(lines - 1) + (uint64_t)line) * (uint64_t)m->bits / 8;
    bool same = true;
    for (unsigned l = 0; l < PL_LANES; l++) same &= m->address[l] == m->address[lane];
    pl_space real;
    uint64_t in_space;
    if (same)
        m->bytes = (m->write ? pl_resolve_write : pl_resolve)(w, lane, m->space, m->address[lane],
                                                              span, &real, &in_space);
    if (!m->bytes) return true;
    m->space = real;
    for (unsigned l = 0; l < PL_LANES; l++) m->address[l] = in_space;
    return true;
}

/* The element's bytes for one lane; NULL after a fault. For elements smaller than a byte, the
 * 32-bit word that holds them. */
static uint8_t *element(pl_warp *w, const area *m, unsigned lane, pl_fragment_coord at,
                        const char *what)
{
    const uint64_t row = (uint64_t)at.row, col = (uint64_t)at.col;
    const uint64_t index = m->by_column ? col * m->stride + row : row * m->stride + col;
    const uint64_t offset = index * (uint64_t)m->bits / 8,
                   size = m->bits < 8 ? 4 : (uint64_t)m->bits / 8;
    if (m->bytes) return m->bytes + offset;
    pl_space real;
    uint64_t in_space;
    uint8_t *p = (m->write ? pl_resolve_write : pl_resolve)(
        w, lane, m->space, m->address[lane] + offset, size, &real, &in_space);
    if (!p || (m->address[lane] + offset) % size) {
        pl_access_fault(w, lane, m->space, m->address[lane] + offset, size, what);
        return NULL;
    }
    return p;
}

/* For timing the matrix is read once, and each lane accesses the next equal share of its lines. */
static void record_area(pl_warp *w, const area *m, pl_access_kind kind)
{
    if (!w->fx) return;
    const uint64_t line = (uint64_t)(m->by_column ? m->rows : m->cols) * (uint64_t)m->bits / 8;
    const uint64_t lines = (uint64_t)(m->by_column ? m->cols : m->rows),
                   share = line * lines / PL_LANES;
    const uint64_t step = m->stride * (uint64_t)m->bits / 8;
    uint64_t addr[PL_LANES];
    for (unsigned l = 0; l < PL_LANES; l++)
        addr[l] = m->address[l] + l * share / line * step + l * share % line;
    pl_record_effect(w, m->space == PL_SP_GENERIC ? PL_SP_GLOBAL : m->space, kind, (unsigned)share,
                     w->exec, addr, 0);
}

static pl_tensor_op wmma_op(const pl_warp *w, int shape_word, pl_tensor_type ab, pl_tensor_type cd)
{
    const shape s = shape_of(shape_word);
    return (pl_tensor_op){.family = PL_TF_WMMA,
                          .gen = generation(w),
                          .m = s.m,
                          .n = s.n,
                          .k = s.k,
                          .a = ab,
                          .b = ab,
                          .c = cd,
                          .d = cd};
}

void exec_wmma_load(pl_warp *w, const pl_insn *i, int which_word, int layout, int shape_word,
                    int type, int ss)
{
    const pl_tensor_type t = type_of(type);
    const pl_tensor_operand which = which_word == W_a   ? PL_TM_A
                                    : which_word == W_b ? PL_TM_B
                                                        : PL_TM_C;
    /* The layout of C only depends on the shape; the type of the multiplicands is irrelevant
     * then. */
    const pl_tensor_op op = which == PL_TM_C ? wmma_op(w, shape_word, PL_TT_NONE, t)
                                             : wmma_op(w, shape_word, t, PL_TT_F32);
    const bool wide = t == PL_TT_F64;
    const int count = pl_tensor_regs(&op, which), bits = pl_tensor_bits(t),
              slots = bits < 8 || bits >= 32 ? 1 : 32 / bits;
    uint64_t v[PL_TENSOR_MAX_REGS][PL_LANES];
    area m;
    (void)ss; /* already in sel[PL_M_SPACE] */
    if (!open_area(w, i, &op, which, 1, 2, layout, &m)) return;
    for (int r = 0; r < count; r++) {
        uint32_t narrow[PL_LANES];
        for (unsigned l = 0; l < PL_LANES; l++) {
            v[r][l] = narrow[l] = 0;
            if (!(w->exec >> l & 1u)) continue;
            for (int j = 0; j < slots; j++) {
                const uint8_t *p =
                    element(w, &m, l, pl_fragment_coord_of(&op, which, (int)l, r, j), "load");
                uint64_t x = 0;
                if (!p) return;
                memcpy(&x, p, bits < 8 ? 4 : (size_t)bits / 8);
                v[r][l] |= x << (j * bits);
            }
            narrow[l] = (uint32_t)v[r][l];
        }
        const uint32_t row = pl_more(w, i, i->op[0] + (uint32_t)r);
        if (wide)
            pl_blend64(w, pl_row64(w, row), v[r]);
        else
            pl_blend32(w, pl_row32(w, row), narrow);
    }
    record_area(w, &m, PL_AC_LOAD);
}

void exec_wmma_store(pl_warp *w, const pl_insn *i, int layout, int shape_word, int type, int ss)
{
    const pl_tensor_type t = type_of(type);
    const pl_tensor_op op = wmma_op(w, shape_word, PL_TT_NONE, t);
    const int count = pl_tensor_regs(&op, PL_TM_D), bits = pl_tensor_bits(t),
              slots = bits >= 32 ? 1 : 32 / bits;
    area m;
    (void)ss;
    if (!open_area(w, i, &op, PL_TM_D, 0, 2, layout, &m)) return;
    for (int r = 0; r < count; r++) {
        const uint32_t row = pl_more(w, i, i->op[1] + (uint32_t)r);
        for (unsigned l = 0; l < PL_LANES; l++) {
            if (!(w->exec >> l & 1u)) continue;
            const uint64_t x = t == PL_TT_F64 ? pl_row64(w, row)[l] : pl_row32(w, row)[l];
            for (int j = 0; j < slots; j++) {
                uint8_t *p =
                    element(w, &m, l, pl_fragment_coord_of(&op, PL_TM_D, (int)l, r, j), "store");
                const uint64_t y = x >> (j * bits);
                if (!p) return;
                memcpy(p, &y, (size_t)bits / 8);
            }
        }
    }
    record_area(w, &m, PL_AC_STORE);
}

/* ---- ldmatrix, stmatrix, movmatrix ---- */

static unsigned matrices(int num)
{
    return num == W_x4 ? 4 : num == W_x2 ? 2 : 1;
}

/* Pointers to the rows of COUNT matrices: lane 8 * m + r supplies the address of row r of matrix
 * m. */
static bool matrix_rows(pl_warp *w, const pl_insn *i, unsigned at, unsigned count,
                        pl_access_kind kind, uint8_t *row[PL_LANES])
{
    uint64_t addr[PL_LANES];
    pl_space space = (pl_space)i->sel[PL_M_SPACE], real = space;
    const uint32_t lanes = count == 4 ? UINT32_MAX : (1u << 8 * count) - 1;
    pl_span s;
    if (count == 4 && space == PL_SP_SHARED && w->exec == UINT32_MAX && !w->fx &&
        pl_span_find(w, i, at, space, 16, false, &s)) {
        for (unsigned l = 0; l < PL_LANES; l++) row[l] = s.base + s.off[l];
        return true;
    }
    pl_addresses(w, i, at, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    for (unsigned l = 0; l < 8 * count; l++) {
        uint64_t in_space;
        row[l] = pl_resolve(w, l, space, addr[l], 16, &real, &in_space);
        if (!row[l] || addr[l] % 16 || real != PL_SP_SHARED) {
            pl_access_fault(w, l, space, addr[l], 16,
                            kind == PL_AC_LOAD ? "matrix load" : "matrix store");
            return false;
        }
        addr[l] = in_space;
    }
    pl_record_effect(w, real, kind, 16, lanes, addr, 0);
    return true;
}

void exec_ldmatrix(pl_warp *w, const pl_insn *i, int num, int trans, int ss)
{
    const unsigned count = matrices(num);
    uint8_t *row[PL_LANES], piece[8][16];
    (void)ss;
    if (!matrix_rows(w, i, 1, count, PL_AC_LOAD, row)) return;
    uint32_t v[4][PL_LANES];
    for (unsigned m = 0; m < count; m++) {
        for (unsigned r = 0; r < 8; r++) memcpy(piece[r], row[8 * m + r], 16);
        pl_ldmatrix_8x8(v[m], (const uint8_t(*)[16])piece, trans != W_none);
    }
    for (unsigned m = 0; m < count; m++)
        pl_blend32(w, pl_row32(w, pl_more(w, i, i->op[0] + m)), v[m]);
}

/* Expands one row of 16 bytes to 16 elements of a byte each. 4- and 6-bit elements are packed at
 * the start of the row, followed by padding; each is placed in the low bits of its byte. */
static void expand_row(uint8_t out[16], const uint8_t *row, int fmt)
{
    const unsigned bits = fmt == W_b4x16_p64 ? 4 : fmt == W_b6x16_p32 ? 6 : 8;
    for (unsigned e = 0; e < 16; e++) {
        const unsigned at = e * bits, byte = at / 8, next = byte < 15 ? byte + 1 : byte;
        out[e] = (uint8_t)((row[byte] | (unsigned)row[next] << 8) >> at % 8 & ((1u << bits) - 1));
    }
}

/* The element of a transposed 8-bit matrix held by byte B of register R of a lane. Register pairs
 * share a matrix of 16 rows. Layouts of CUTLASS' copy traits SM100_U8x8_LDSM_T and
 * SM100_U8x4_STSM_T; not recorded, since no such machine was available. */
static unsigned load_row(unsigned lane, unsigned r, unsigned b)
{
    return 16 * (r / 2) + 4 * (lane % 4) + 2 * (r % 2) + b % 2;
}

static unsigned store_row(unsigned lane, unsigned r, unsigned b)
{
    return 8 * r + 2 * (lane % 4) + b % 2;
}

static unsigned byte_column(unsigned lane, unsigned b)
{
    return lane / 4 + 8 * (b / 2);
}

/* ldmatrix on elements of 8 bits and less: m8n16 gives a lane four adjacent elements of one row;
 * m16n16 is transposed. */
void exec_ldmatrix_b8(pl_warp *w, const pl_insn *i, int num, int trans, int fmt, int ss)
{
    const unsigned tall = trans != W_none ? 2 : 1, regs = matrices(num) * tall;
    uint8_t *row[PL_LANES], element[PL_LANES][16];
    (void)ss;
    if (!matrix_rows(w, i, 1, regs, PL_AC_LOAD, row)) return;
    for (unsigned r = 0; r < 8 * regs; r++) expand_row(element[r], row[r], fmt);
    for (unsigned r = 0; r < regs; r++) {
        uint32_t v[PL_LANES] = {0};
        for (unsigned l = 0; l < PL_LANES; l++)
            for (unsigned b = 0; b < 4; b++)
                v[l] |= (uint32_t)(trans != W_none ? element[load_row(l, r, b)][byte_column(l, b)]
                                                   : element[8 * r + l / 4][l % 4 * 4 + b])
                        << 8 * b;
        pl_blend32(w, pl_row32(w, pl_more(w, i, i->op[0] + r)), v);
    }
}

/* Rows of 16 signed 4-bit elements in 8 bytes; each is sign-extended to a byte. */
void exec_ldmatrix_s4(pl_warp *w, const pl_insn *i, int num)
{
    const unsigned regs = matrices(num);
    uint8_t *row[PL_LANES];
    if (!matrix_rows(w, i, 1, regs, PL_AC_LOAD, row)) return;
    for (unsigned r = 0; r < regs; r++) {
        uint32_t v[PL_LANES] = {0};
        for (unsigned l = 0; l < PL_LANES; l++)
            for (unsigned b = 0; b < 4; b++) {
                unsigned column = l % 4 * 4 + b,
                         nibble = row[8 * r + l / 4][column / 2] >> column % 2 * 4 & 0xfu;
                v[l] |= (nibble & 8 ? nibble | 0xf0u : nibble) << 8 * b;
            }
        pl_blend32(w, pl_row32(w, pl_more(w, i, i->op[0] + r)), v);
    }
}

void exec_stmatrix_b8(pl_warp *w, const pl_insn *i, int num, int ss)
{
    const unsigned regs = matrices(num);
    uint8_t *row[PL_LANES];
    (void)ss;
    if (!matrix_rows(w, i, 0, regs, PL_AC_STORE, row)) return;
    for (unsigned r = 0; r < regs; r++) {
        const uint32_t *v = pl_row32(w, pl_more(w, i, i->op[1] + r));
        for (unsigned l = 0; l < PL_LANES; l++)
            for (unsigned b = 0; b < 4; b++)
                row[store_row(l, r, b)][byte_column(l, b)] = (uint8_t)(v[l] >> 8 * b);
    }
}

void exec_stmatrix(pl_warp *w, const pl_insn *i, int num, int trans, int ss)
{
    const unsigned count = matrices(num);
    uint8_t *row[PL_LANES], piece[8][16];
    (void)ss;
    if (!matrix_rows(w, i, 0, count, PL_AC_STORE, row)) return;
    for (unsigned m = 0; m < count; m++) {
        pl_stmatrix_8x8(piece, pl_row32(w, pl_more(w, i, i->op[1] + m)), trans != W_none);
        for (unsigned r = 0; r < 8; r++) memcpy(row[8 * m + r], piece[r], 16);
    }
}

void exec_movmatrix(pl_warp *w, const pl_insn *i)
{
    uint32_t v[PL_LANES];
    pl_movmatrix(v, pl_row32(w, i->op[1]));
    pl_blend32(w, pl_row32(w, i->op[0]), v);
}

/* ---- wgmma ---- */

/* The product is applied when it is issued: each of the four warps computes its 16 rows from the
 * current contents of shared memory, so fence and commit have no effect. At a wait the warps of a
 * group wait for each other (pl_warp_stops_at_group_wait). */
void exec_wgmma(pl_warp *w, const pl_insn *i, int shape_word, int d, int a, int b, int sat,
                int sparse, int a_regs, int tail)
{
    const shape s = shape_of(shape_word);
    const unsigned sd = sparse != W_none ? 5 : 3, imm = sd + 1,
                   lane = (unsigned)__builtin_ctz(w->exec | 1u << 31);
    const bool in_regs = a_regs != W_none, has_signs = d != W_s32, has_trans = tail == W_trans;
    pl_wgmma_op op = {.gen = generation(w),
                      .n = s.n,
                      .k = s.k,
                      .a = type_of(a),
                      .b = type_of(b),
                      .d = type_of(d),
                      .scale_d = pl_pred_read(w, i, sd) >> lane & 1u,
                      .saturate = sat != W_none,
                      .sparse = sparse != W_none};
    if (has_signs) {
        op.negate_a = (int32_t)i->op[imm] < 0;
        op.negate_b = (int32_t)i->op[imm + 1] < 0;
    }
    if (has_trans) {
        op.a_trans = !in_regs && i->op[imm + 2] != 0;
        op.b_trans = i->op[imm + (in_regs ? 2 : 3)] != 0;
    }
    if (op.sparse) op.selector = (int)i->op[4];
    const int count = pl_wgmma_d_regs(&op);
    void *rows[MAX_ROWS], *ra[4];
    uint32_t *dr[MAX_ROWS];
    const uint32_t *ar[4];
    rows_of(w, i, 0, count, false, rows);
    for (int e = 0; e < count; e++) dr[e] = rows[e];
    if (in_regs) {
        rows_of(w, i, 1, 4, false, ra);
        for (int e = 0; e < 4; e++) ar[e] = ra[e];
    }
    const uint64_t a_desc = in_regs ? 0 : pl_row64(w, i->op[1])[lane],
                   b_desc = pl_row64(w, i->op[2])[lane];
    const pl_hooks *h = w->grid->hooks;
    uint32_t fault;
    if (h) {
        pl_matrix_source sa, sb;
        const int k =
            pl_wgmma_sources(&op, a_desc, b_desc, w->cta->shared, w->cta->shared_end, &sa, &sb);
        h->multiplies(h, w, &op, in_regs ? NULL : &sa, &sb, k);
    }
    if (!pl_wgmma_warp(&op, (int)(pl_first_thread(w) / PL_LANES % 4), dr, in_regs ? ar : NULL,
                       a_desc, b_desc, op.sparse ? pl_row32(w, i->op[3]) : NULL, w->cta->shared,
                       w->cta->shared_end, &fault))
        pl_fault(
            w, w->exec, fault, "CUDA_ERROR_ILLEGAL_ADDRESS",
            "a matrix descriptor reaches shared address 0x%x, but the block's memory ends at 0x%x",
            fault, w->cta->shared_end);
}

void exec_wgmma_fence(pl_warp *w, const pl_insn *i)
{
    (void)w;
    (void)i;
}

void exec_wgmma_commit(pl_warp *w, const pl_insn *i)
{
    (void)w;
    (void)i;
}

void exec_wgmma_wait(pl_warp *w, const pl_insn *i)
{
    (void)i;
    w->group_waits++;
}
