/* lower_wmma.c - lowers wmma to machine instructions: each lane accesses its part of the matrix,
 * and products become mma.
 *
 * A fragment is a sequence of registers. One register of all 32 lanes is a tile of eight lines,
 * four lanes per line. Lines are rows of A, C and D, and columns of B; they are those of the
 * transpose where m8n32 is computed as such:
 *
 *     lane 0 1 2 3      line 0 of the tile
 *          4 5 6 7      line 1
 *          ...
 *
 * If the tile's lines are contiguous in memory, a register is one 32-bit load: 8 lines, 16 adjacent
 * bytes of each. Otherwise tiles of 16-bit elements are loaded in memory order and transposed
 * (MOVM), larger elements are loaded one by one, and bytes four to a register. Factors in shared
 * memory are loaded by LDSM, four tiles at a time. (ptxas 13.0 for sm_90, all shapes, layouts and
 * spaces; 2026-11. The layouts are those of emu/exec/mma/fragment_layout.c.)
 *
 * Products read the first half of the eight registers that PTX gives f16 factors; the others are
 * copies. A product of 16 x 16, 32 x 8 or 8 x 32 is two of 16 x 8, side by side or one above the
 * other (for tf32 also split along k). They are scheduled separately where their fragments are
 * loaded: the first executes while the second's factor is in flight, and frees its registers
 * sooner. */
#include <string.h>

#include "compiler/passes.h"
#include "isa/program/operand_plan.h"
#include "isa/program/canonicalize.h"

enum {
    TILE_LINES = 8,
    LINE_LANES = 4,
    MAX_REGS = 8,
    TILES = 4,
    MAX_OFFSET = 1 << 20,
    ONE_BY_ONE = 1 << 8
}; /* lines of a tile, lanes of a line; registers of a fragment; tiles of one LDSM; bytes; a flag in
      wmma_lowering.unit */

/* A computed address: `lines` lines of memory after the first tile at a base. */
typedef struct lane_address {
    uint32_t base, stride, row, hoist_block, block, at;
    unsigned unit, bits, lines; /* how lanes share tiles; size of elements; distance */
    bool wide;
} lane_address;

typedef struct addresses {
    lane_address *at;
    size_t n, cap;
} addresses;

typedef struct wmma_lowering {
    pl_ir *x;
    addresses *find_address;
    pl_insn from;   /* the wmma instruction */
    uint32_t block; /* and its position */
    size_t at;
    uint32_t hoist_block; /* block for the computations, placed at its end if it is another block */
    unsigned address;     /* index of the address operand */
    uint32_t base, stride; /* registers; UINT32_MAX: the address is a constant */
    bool wide;             /* addresses are 64-bit */
    bool factor, store;    /* A or B; else C or D */
    bool lines_contiguous; /* lines of tiles are lines of memory */
    bool two_steps;   /* tiles are ordered in pairs of lines first: those of the left factor of a
                         product */
    unsigned bits, k; /* bits of an element; elements of a line of factors */
    unsigned regs, nunique; /* registers of the fragment; those that are not copies */
    uint32_t reg[MAX_REGS];
    uint32_t line, position_in_line; /* of the lane in its tile: line and position in it */
    unsigned unit; /* elements per access of a lane; with the flag ONE_BY_ONE: one by one */
} wmma_lowering;

/* First element of the tile of a register or register pair: line and position in it. */
typedef struct origin {
    unsigned line, position;
} origin;

static pl_insn *make(wmma_lowering *m, pl_insn *i, uint16_t mnem, unsigned noperands,
                     const pl_word *words, unsigned n)
{
    if (!i || !pl_insn_make(i, mnem, noperands, words, n)) return NULL;
    i->line = m->from.line;
    i->flags |= PL_IF_FROM_WMMA;
    return i;
}

static pl_insn *emit(wmma_lowering *m, uint16_t mnem, unsigned noperands, const pl_word *words,
                     unsigned n)
{
    return make(m, pl_ir_insert_deferred(m->x, m->block, m->at), mnem, noperands, words, n);
}

/* Hoists computations that depend only on these registers out of loops in which they are
 * invariant. */
static void set_hoist_block(wmma_lowering *m, uint32_t a, uint32_t b)
{
    m->hoist_block = pl_ir_hoist_block(m->x, m->block, a, b);
}

static uint32_t compute(wmma_lowering *m, uint16_t mnem, const pl_word *words, unsigned n,
                        unsigned rows, uint32_t a, uint32_t b, uint32_t c)
{
    const size_t at = m->hoist_block == m->block ? m->at : pl_ir_end(m->x, m->hoist_block);
    uint32_t to = pl_ir_new(m->x, rows);
    pl_insn *i = make(m, pl_ir_insert_deferred(m->x, m->hoist_block, at), mnem,
                      c == UINT32_MAX ? b == UINT32_MAX ? 2 : 3 : 4, words, n);
    if (i) {
        i->op[0] = to;
        i->op[1] = a;
        i->op[2] = b;
        i->op[3] = c;
        /* only a mad.wide of the source is split into a product and a sum */
        if (mnem == M_mad && rows == 2) i->latency_class = C_imad_wide;
    }
    return to;
}

static uint32_t number(wmma_lowering *m, unsigned n)
{
    return pl_ir_constant(m->x, n, 32);
}

static uint32_t emit_shr(wmma_lowering *m, uint32_t a, unsigned right)
{
    const pl_word t = W_u32;
    return right ? compute(m, M_shr, &t, 1, 1, a, number(m, right), UINT32_MAX) : a;
}

static uint32_t emit_shl(wmma_lowering *m, uint32_t a, unsigned log2)
{
    const pl_word t = W_b32;
    return log2 ? compute(m, M_shl, &t, 1, 1, a, number(m, log2), UINT32_MAX) : a;
}

static uint32_t emit_and(wmma_lowering *m, uint32_t a, unsigned mask)
{
    const pl_word t = W_b32;
    return compute(m, M_and, &t, 1, 1, a, number(m, mask), UINT32_MAX);
}

/* a * b + c as an address. */
static uint32_t emit_mad(wmma_lowering *m, uint32_t a, uint32_t b, uint32_t c)
{
    return m->wide ? compute(m, M_mad, (pl_word[]){W_wide, W_u32}, 2, 2, a, b, c)
                   : compute(m, M_mad, (pl_word[]){W_lo, W_u32}, 2, 1, a, b, c);
}

/* The address of element `index`, whose size is 1 << log2 bytes. */
static uint32_t element_address(wmma_lowering *m, uint32_t index, unsigned log2)
{
    const pl_word shift = m->wide ? W_b64 : W_b32, add = m->wide ? W_s64 : W_s32;
    const unsigned rows = m->wide ? 2 : 1;
    uint32_t bytes =
        log2 ? compute(m, M_shl, &shift, 1, rows, index, number(m, log2), UINT32_MAX) : index;
    return m->base == UINT32_MAX ? bytes
                                 : compute(m, M_add, &add, 1, rows, m->base, bytes, UINT32_MAX);
}

static void set_address(wmma_lowering *m, pl_insn *i, uint32_t address, unsigned offset)
{
    i->guard = m->from.guard;
    i->op[pl_forms[i->form].operand[0].kind == PL_K_ADDR ? 0 : 1] = address;
    i->imm = m->from.imm + offset;
    i->flags |= (uint16_t)(PL_IF_MEM | (m->from.flags & PL_IF_GUARD_NEG));
    i->sel[PL_M_SPACE] = m->from.sel[PL_M_SPACE];
    i->sel[PL_M_FLAGS] = (uint8_t)(m->wide ? 0 : PL_MF_ADDR32);
    pl_insn_shape(i);
}

static void set_list(wmma_lowering *m, pl_insn *i, unsigned operand, const uint32_t *rows,
                     unsigned n)
{
    i->extra_ops = (uint32_t)m->x->p->pool.n;
    i->nextra = (uint16_t)n;
    i->op[operand] = 0;
    for (unsigned k = 0; k < n; k++) *pl_push(m->x->p->arena, &m->x->p->pool) = rows[k];
}

/* Emits a load or store of one or two registers. */
static void emit_access(wmma_lowering *m, pl_word type, const uint32_t *rows, unsigned n,
                        uint32_t address, unsigned offset)
{
    static const pl_word spaces[] = {[PL_SP_GLOBAL] = W_global, [PL_SP_SHARED] = W_shared};
    pl_word words[3];
    unsigned count = 0;
    if (m->from.sel[PL_M_SPACE] != PL_SP_GENERIC) words[count++] = spaces[m->from.sel[PL_M_SPACE]];
    if (n == 2) words[count++] = W_v2;
    words[count++] = type;
    pl_insn *i = emit(m, m->store ? M_st : M_ld, 3, words, count);
    if (!i) return;
    if (n == 2)
        set_list(m, i, m->store ? 1 : 0, rows, n);
    else
        i->op[m->store ? 1 : 0] = rows[0];
    set_address(m, i, address, offset);
}

/* Emits an instruction that writes a result, under the guard of the wmma instruction. */
static uint32_t emit_guarded(wmma_lowering *m, uint16_t mnem, unsigned noperands,
                             const pl_word *words, unsigned n, uint32_t to, uint32_t a)
{
    pl_insn *i = emit(m, mnem, noperands, words, n);
    if (i) {
        i->guard = m->from.guard;
        i->flags |= m->from.flags & PL_IF_GUARD_NEG;
        i->op[0] = to;
        i->op[1] = a;
    }
    return to;
}

static uint32_t emit_transpose(wmma_lowering *m, uint32_t to, uint32_t a)
{
    return emit_guarded(m, M_movmatrix, 2, (pl_word[]){W_sync, W_aligned, W_m8n8, W_trans, W_b16},
                        5, to, a);
}

/* ---- layouts ---- */

static bool has(const wmma_lowering *m, pl_word w)
{
    return pl_insn_has(&m->from, w);
}

/* The tile of a factor register: pieces of 16 bytes along a line, in groups of eight lines. */
static origin of_factor(const wmma_lowering *m, unsigned r)
{
    const unsigned per = m->bits < 32 ? 32 / m->bits : 1, pieces = m->k / (LINE_LANES * per);
    if (!m->two_steps) return (origin){r / pieces * TILE_LINES, r % pieces * LINE_LANES * per};
    return (origin){r / (2 * pieces) * 2 * TILE_LINES + r % 2 * TILE_LINES,
                    r % (2 * pieces) / 2 * LINE_LANES * per};
}

/* The tile of a pair of adjacent accumulators: two of a tile of 16 lines and 8 positions, then the
 * next tile. */
static origin of_sum(const wmma_lowering *m, unsigned pair)
{
    const bool tall = has(m, W_m32n8k16) || has(m, W_m8n32k16),
               small = has(m, W_m8n8k4) || has(m, W_m8n8k32) || has(m, W_m8n8k128);
    if (small) return (origin){0, 0};
    return (origin){pair % 2 * TILE_LINES + (tall ? pair / 2 * 2 * TILE_LINES : 0),
                    tall ? 0 : pair / 2 * TILE_LINES};
}

/* ---- loads and stores per lane ---- */

typedef struct overlap {
    uint32_t row, other;
    bool hit;
} overlap;

static void note_overlap(overlap *o, uint32_t *row, unsigned rows, unsigned use)
{
    if (use & PL_USE_PRED) return;
    o->hit |= (*row <= o->row + 1 && o->row < *row + rows) ||
              (*row <= o->other && o->other < *row + rows);
}

/* True if the registers of an address still have the values that they had at an earlier
 * position. */
static bool unchanged(const wmma_lowering *m, size_t since)
{
    overlap o = {m->base, m->stride, false};
    const pl_ir_block *b = &m->x->blocks.at[m->block];
    for (size_t k = since; k < m->at && !o.hit; k++)
        if (b->code.at[k].form != PL_IR_DEAD)
            PL_FOR_EACH_WRITE(m->x->p, &b->code.at[k], op)
                note_overlap(&o, op.row, op.rows, op.use);
    return !o.hit;
}

/* The address `lines` lines after the first tile, if it has been computed; else UINT32_MAX. */
static uint32_t find_address(const wmma_lowering *m, unsigned lines)
{
    for (size_t k = m->find_address->n; k-- > 0;) {
        const lane_address *c = &m->find_address->at[k];
        if (c->base == m->base && c->stride == m->stride && c->unit == m->unit &&
            c->bits == m->bits && c->lines == lines && c->wide == m->wide &&
            c->hoist_block == m->hoist_block &&
            (m->hoist_block != m->block || (c->block == m->block && unchanged(m, c->at))))
            return c->row;
    }
    return UINT32_MAX;
}

static uint32_t record_address(wmma_lowering *m, unsigned lines, uint32_t row)
{
    *pl_push(m->x->tmp, m->find_address) =
        (lane_address){m->base,         m->stride, row,     m->hoist_block, m->block,
                       (uint32_t)m->at, m->unit,   m->bits, lines,          m->wide};
    return row;
}

/* The address `lines` lines after the first tile; a line of memory has `stride` units of
 * `bytes`. */
static uint32_t line_address(wmma_lowering *m, uint32_t first, uint32_t stride, unsigned lines,
                             unsigned bytes)
{
    uint32_t row = lines ? find_address(m, lines) : first;
    return row == UINT32_MAX
               ? record_address(m, lines, emit_mad(m, stride, number(m, lines * bytes), first))
               : row;
}

static uint32_t widen(wmma_lowering *m, uint32_t a)
{
    return m->wide ? compute(m, M_cvt, (pl_word[]){W_u64, W_u32}, 2, 2, a, UINT32_MAX, UINT32_MAX)
                   : a;
}

static unsigned log2_of(unsigned n)
{
    return (unsigned)__builtin_ctz(n);
}

/* One access of a unit for each register or pair: lines of tiles are lines of memory, or of the
 * transposed tile. `size`: elements of a unit. */
static void access_by_lines(wmma_lowering *m, unsigned size)
{
    const unsigned bytes = size * m->bits / 8, step = m->factor || m->bits < 32 ? 1 : 2,
                   n = m->nunique / step;
    const pl_word type = m->bits == 64 ? W_b64 : W_b32;
    const bool transpose = !m->lines_contiguous;
    uint32_t address[MAX_REGS];
    unsigned offset[MAX_REGS];
    set_hoist_block(m, m->stride, UINT32_MAX);
    uint32_t stride = emit_shr(m, m->stride, log2_of(size)),
             index = emit_mad(m, m->line, stride, widen(m, m->position_in_line));
    set_hoist_block(m, m->stride, m->base);
    m->unit = size;
    uint32_t first = find_address(m, 0);
    if (first == UINT32_MAX)
        first = record_address(m, 0, element_address(m, index, log2_of(bytes)));
    for (unsigned r = 0; r < n; r++) {
        origin o = m->factor ? of_factor(m, r) : of_sum(m, r);
        address[r] = line_address(m, first, stride, transpose ? o.position : o.line, bytes);
        offset[r] = (transpose ? o.line : o.position) * m->bits / 8;
    }
    for (unsigned r = 0; r < n; r++) {
        uint32_t to = m->reg[r];
        if (transpose)
            to = m->store ? emit_transpose(m, pl_ir_new(m->x, 1), m->reg[r]) : pl_ir_new(m->x, 1);
        emit_access(m, type, transpose ? &to : &m->reg[r * step], step, address[r], offset[r]);
        if (transpose && !m->store) emit_transpose(m, m->reg[r], to);
    }
}

/* Elements of 32 bits and more, one by one. The lane's second element of a pair is the next one in
 * the line of the tile. */
static void access_by_elements(wmma_lowering *m)
{
    const unsigned log2 = log2_of(m->bits / 8), step = m->factor ? 1 : 2;
    const pl_word type = m->bits == 64 ? W_b64 : W_b32;
    uint32_t address[MAX_REGS];
    unsigned offset[MAX_REGS];
    if (m->factor && m->bits == 32) { /* each address is computed separately */
        for (unsigned r = 0; r < m->nunique; r++) {
            origin o = of_factor(m, r);
            const pl_word add = W_s32;
            set_hoist_block(m, m->stride, UINT32_MAX);
            uint32_t line =
                o.line ? compute(m, M_add, &add, 1, 1, m->line, number(m, o.line), UINT32_MAX)
                       : m->line;
            uint32_t position_in_line = o.position
                                            ? compute(m, M_add, &add, 1, 1, m->position_in_line,
                                                      number(m, o.position), UINT32_MAX)
                                            : m->position_in_line;
            uint32_t index = m->lines_contiguous ? compute(m, M_mad, (pl_word[]){W_lo, W_s32}, 2, 1,
                                                           line, m->stride, position_in_line)
                                                 : compute(m, M_mad, (pl_word[]){W_lo, W_s32}, 2, 1,
                                                           position_in_line, m->stride, line);
            set_hoist_block(m, m->stride, m->base);
            address[r] = m->wide && m->base != UINT32_MAX
                             ? compute(m, M_mad, (pl_word[]){W_wide, W_s32}, 2, 2, index,
                                       number(m, 4), m->base)
                         : m->wide ? compute(m, M_mul, (pl_word[]){W_wide, W_s32}, 2, 2, index,
                                             number(m, 4), UINT32_MAX)
                                   : element_address(m, index, log2);
            offset[r] = 0;
        }
    } else {
        set_hoist_block(m, m->stride, UINT32_MAX);
        uint32_t first_position =
            m->factor ? m->position_in_line : emit_shl(m, m->position_in_line, 1);
        uint32_t index = m->lines_contiguous
                             ? emit_mad(m, m->line, m->stride, widen(m, first_position))
                             : emit_mad(m, first_position, m->stride, widen(m, m->line));
        set_hoist_block(m, m->stride, m->base);
        m->unit = (unsigned)(ONE_BY_ONE + m->lines_contiguous + 2 * m->factor);
        uint32_t first = find_address(m, 0);
        if (first == UINT32_MAX) first = record_address(m, 0, element_address(m, index, log2));
        for (unsigned r = 0; r < m->nunique; r++) {
            origin o = m->factor ? of_factor(m, r) : of_sum(m, r / step);
            unsigned position = o.position + r % step;
            address[r] = line_address(m, first, m->stride, m->lines_contiguous ? o.line : position,
                                      m->bits / 8);
            offset[r] = (m->lines_contiguous ? position : o.line) * m->bits / 8;
        }
    }
    for (unsigned r = 0; r < m->nunique; r++)
        emit_access(m, type, &m->reg[r], 1, address[r], offset[r]);
}

/* Factors of bytes whose adjacent elements are in different lines. */
static void access_by_bytes(wmma_lowering *m)
{
    enum { PER = 4 };
    uint32_t address[MAX_REGS][PER], byte[MAX_REGS][PER];
    unsigned offset[MAX_REGS];
    set_hoist_block(m, m->stride, UINT32_MAX);
    uint32_t index = emit_mad(m, emit_shl(m, m->position_in_line, 2), m->stride, widen(m, m->line));
    set_hoist_block(m, m->stride, m->base);
    m->unit = ONE_BY_ONE;
    uint32_t first = find_address(m, 0);
    if (first == UINT32_MAX) first = record_address(m, 0, element_address(m, index, 0));
    for (unsigned r = 0; r < m->nunique; r++) {
        origin o = of_factor(m, r);
        offset[r] = o.line;
        for (unsigned j = 0; j < PER; j++) {
            address[r][j] = line_address(m, first, m->stride, o.position + j, 1);
            byte[r][j] = pl_ir_new(m->x, 1);
        }
    }
    for (unsigned r = 0; r < m->nunique; r++)
        for (unsigned j = 0; j < PER; j++)
            emit_access(m, W_u8, &byte[r][j], 1, address[r][j], offset[r]);
    m->hoist_block = m->block;
    for (unsigned r = 0; r < m->nunique; r++) {
        const pl_word lo[] = {W_lo, W_u32}, t = W_b32;
        uint32_t half[2];
        for (unsigned j = 0; j < 2; j++)
            half[j] =
                compute(m, M_mad, lo, 2, 1, byte[r][2 * j + 1], number(m, 256), byte[r][2 * j]);
        pl_insn *i = emit(m, M_prmt, 4, &t, 1);
        if (!i) return;
        i->guard = m->from.guard;
        i->flags |= m->from.flags & PL_IF_GUARD_NEG;
        i->op[0] = m->reg[r];
        i->op[1] = half[0];
        i->op[2] = half[1];
        i->op[3] = number(m, 0x5410);
    }
}

/* ---- LDSM ---- */

/* Lane l provides the address of row l % 8 of tile l / 8. The direction to the tiles one and two
 * further determines the meaning of bits 3 and 4 of the lane number. */
static void access_by_tiles(wmma_lowering *m, uint32_t lane)
{
    const unsigned max = m->bits == 8 ? 2 : TILES;
    for (unsigned r = 0, n; r < m->nunique; r += n) {
        n = m->nunique - r < max ? m->nunique - r : max;
        set_hoist_block(m, m->stride, UINT32_MAX);
        uint32_t line = emit_and(m, lane, TILE_LINES - 1), position = UINT32_MAX;
        const origin o = of_factor(m, r);
        for (unsigned bit = 0; 1u << bit < n; bit++) {
            bool lines = (of_factor(m, r + (1u << bit)).line != o.line) == m->lines_contiguous;
            uint32_t step = emit_shl(m, emit_shr(m, lane, 3 + bit), 3);
            if (!bit) step = emit_and(m, step, TILE_LINES);
            if (!lines)
                position = step;
            else {
                const pl_word t = bit ? W_s32 : W_b32;
                line = compute(m, bit ? M_add : M_or, &t, 1, 1, step, line, UINT32_MAX);
            }
        }
        uint32_t index = compute(m, position == UINT32_MAX ? M_mul : M_mad,
                                 (pl_word[]){W_lo, W_u32}, 2, 1, line, m->stride, position);
        set_hoist_block(m, m->stride, m->base);
        uint32_t address = element_address(m, index, log2_of(m->bits / 8));
        unsigned lines = m->lines_contiguous ? o.line : o.position;
        address = lines ? emit_mad(m, m->stride, number(m, lines * m->bits / 8), address) : address;
        const pl_word many = n == 4   ? W_x4
                             : n == 2 ? W_x2
                                      : W_x1,
                      words[] = {W_sync, W_aligned, W_m8n8, many, W_shared, W_b16, W_trans};
        pl_insn *i = emit(m, M_ldmatrix, 2, words, m->lines_contiguous ? 6 : 7);
        if (!i) return;
        set_list(m, i, 0, &m->reg[r], n);
        set_address(m, i, address, (m->lines_contiguous ? o.position : o.line) * m->bits / 8);
    }
}

/* ---- the instructions ---- */

typedef struct wmma_shape {
    pl_word word;
    uint8_t m, n, k;
} wmma_shape;

static const wmma_shape shapes[] = {{W_m16n16k16, 16, 16, 16}, {W_m32n8k16, 32, 8, 16},
                                    {W_m8n32k16, 8, 32, 16},   {W_m16n16k8, 16, 16, 8},
                                    {W_m8n8k4, 8, 8, 4},       {W_m8n8k32, 8, 8, 32},
                                    {W_m8n8k128, 8, 8, 128}};

static const wmma_shape *shape_of(const pl_insn *i)
{
    unsigned s = 0;
    while (s + 1 < sizeof shapes / sizeof *shapes && !pl_insn_has(i, shapes[s].word)) s++;
    return &shapes[s];
}

static bool is_product(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_wmma && !(pl_insn_effects(i) & (PL_EF_LOAD | PL_EF_STORE));
}

static bool is_wmma(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_wmma;
}

/* Registers of a factor with the given number of lines. */
static unsigned factor_registers(unsigned lines, unsigned k, unsigned bits)
{
    return bits == 64 ? 1 : lines * k * bits / (32 * PL_LANES);
}

/* Replaces copies in the operands of products by their originals, so that copies without other uses
 * are dead. */
static void replace_copies(pl_ir *x, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    const wmma_shape *s = shape_of(i);
    for (unsigned k = 1; k <= 2; k++) {
        unsigned n = (unsigned)pl_operand_count(f, k, i->mods),
                 nunique = factor_registers(k == 1 ? s->m : s->n, s->k, 16);
        if (pl_operand_type(f, k, i->mods) != W_f16x2) continue;
        for (unsigned r = nunique; r < n; r++)
            x->p->pool.at[i->extra_ops + i->op[k] + r] =
                x->p->pool.at[i->extra_ops + i->op[k] + r % nunique];
    }
}

static unsigned bits_of(const pl_insn *i)
{
    static const struct {
        pl_word type;
        uint8_t bits;
    } types[] = {{W_f16, 16}, {W_bf16, 16}, {W_tf32, 32}, {W_f64, 64}, {W_s8, 8},
                 {W_u8, 8},   {W_s4, 4},    {W_u4, 4},    {W_b1, 1}};
    for (unsigned k = 0; k < sizeof types / sizeof *types; k++)
        if (pl_insn_has(i, types[k].type)) return types[k].bits;
    return 32;
}

/* The four lists of a product's registers. */
enum { D, A, B, C, LISTS };

static bool overlaps(const uint32_t *a, unsigned n, const uint32_t *b, unsigned m)
{
    for (unsigned i = 0; i < n * m; i++)
        if (a[i % n] == b[i / n]) return true;
    return false;
}

static void emit_mma(pl_ir *x, uint32_t block, size_t at, const pl_insn *from, const pl_word *words,
                     unsigned nwords, const uint32_t *const rows[LISTS], const unsigned n[LISTS])
{
    wmma_lowering m = {.x = x, .from = *from, .block = block, .at = at};
    pl_insn *i = emit(&m, M_mma, LISTS, words, nwords);
    if (!i) return;
    i->guard = from->guard;
    i->flags |= from->flags & PL_IF_GUARD_NEG;
    i->extra_ops = (uint32_t)x->p->pool.n;
    for (unsigned k = 0; k < LISTS; k++) {
        i->op[k] = (uint32_t)(x->p->pool.n - i->extra_ops);
        for (unsigned r = 0; r < n[k]; r++) *pl_push(x->p->arena, &x->p->pool) = rows[k][r];
    }
    i->nextra = (uint16_t)(x->p->pool.n - i->extra_ops);
}

/* Splits a product into those of the machine: two (for tf32: four) of 16 x 8. It is not split if a
 * result is also a factor, which the second one would read. */
static void split_product(pl_ir *x, uint32_t block, size_t at)
{
    pl_insn *i = &x->blocks.at[block].code.at[at], from = *i;
    const pl_form *f = &pl_forms[from.form];
    const wmma_shape *s = shape_of(&from);
    const unsigned bits = pl_operand_type(f, A, from.mods) == W_f16x2 ? 16 : bits_of(&from),
                   max = s->m > s->n ? s->m : s->n;
    if (bits < 8 || bits > 32 || max < 16) return;
    uint32_t rows[LISTS][MAX_REGS];
    unsigned n[LISTS];
    for (unsigned k = 0; k < LISTS; k++) {
        n[k] = (unsigned)pl_operand_count(f, k, from.mods);
        for (unsigned r = 0; r < n[k]; r++)
            rows[k][r] = x->p->pool.at[from.extra_ops + from.op[k] + r];
    }
    const unsigned half = n[D] / 2;
    if (n[D] != n[C] || overlaps(rows[D], n[D], rows[A], n[A]) ||
        overlaps(rows[D], n[D], rows[B], n[B]) || overlaps(rows[D], half, rows[C] + half, half))
        return;
    const bool flipped = s->m == 8, tall = max == 32, tf32 = pl_insn_has(&from, W_tf32),
               whole = pl_insn_has(&from, W_s32);
    const unsigned steps = tf32 ? 2 : 1, nleft = factor_registers(16, s->k, bits),
                   right = factor_registers(8, s->k, bits);
    const pl_word sum = whole       ? W_s32
                        : n[D] == 4 ? W_f16
                                    : W_f32,
                  factor = tf32                         ? W_tf32
                           : pl_insn_has(&from, W_bf16) ? W_bf16
                           : !whole                     ? W_f16
                           : pl_insn_has(&from, W_u8)   ? W_u8
                                                        : W_s8;
    const pl_word words[] = {
        W_sync, W_aligned,  tf32 ? W_m16n8k4 : W_m16n8k16, W_row, W_col, sum, factor, factor,
        sum,    W_satfinite};
    const unsigned nwords = sizeof words / sizeof *words - !pl_insn_has(&from, W_satfinite),
                   size[LISTS] = {half, nleft / steps, right / steps, half};
    pl_ir_remove(x, i);
    for (unsigned t = 0; t < 2; t++)
        for (unsigned k = 0; k < steps; k++)
            emit_mma(x, block, at, &from, words, nwords,
                     (const uint32_t *const[LISTS]){
                         rows[D] + t * half,
                         rows[flipped ? B : A] + (tall ? t * nleft : 0) + k * nleft / steps,
                         rows[flipped ? A : B] + (tall ? 0 : t * right) + k * right / steps,
                         (k ? rows[D] : rows[C]) + t * half},
                     size);
}

/* Rebases an address at a constant offset from another one, so that adjacent tiles share its
 * computation. */
static void rebase_address(wmma_lowering *m)
{
    const pl_ir *x = m->x;
    uint64_t step;
    if (m->base == UINT32_MAX || x->kind.at[m->base] == PL_REG_PRESET ||
        x->regs[m->base].ndefs != 1)
        return;
    const pl_ir_reg *r = &x->regs[m->base]; /* a sum that does not dominate this position may be of
                                               another iteration */
    if (r->def_block == PL_IR_NONE ||
        (r->def_block == m->block ? r->def_index >= m->at
                                  : !pl_ir_dominates(x, r->def_block, m->block)))
        return;
    const pl_insn *w = pl_ir_writer(x, m->base);
    if (!w || pl_insn_mnem(w) != M_add || !pl_insn_is_integer(w, m->wide ? 64 : 32) ||
        w->guard != PL_PT || !pl_ir_constant_value(x, w->op[2], &step))
        return;
    int64_t by = m->wide ? (int64_t)step : (int32_t)step;
    if (x->regs[w->op[1]].ndefs != 1 || by < -MAX_OFFSET || by > MAX_OFFSET) return;
    m->base = w->op[1];
    m->from.imm += by;
}

/* Describes a load or store of a fragment. */
static wmma_lowering describe_access(pl_ir *x, uint32_t block, size_t at, addresses *find_address)
{
    const pl_insn *i = &x->blocks.at[block].code.at[at];
    const pl_form *f = &pl_forms[i->form];
    wmma_lowering m = {.x = x,
                       .find_address = find_address,
                       .from = *i,
                       .block = block,
                       .at = at,
                       .store = (f->effects & PL_EF_STORE) != 0,
                       .bits = bits_of(i)};
    const wmma_shape *s = shape_of(i);
    const unsigned data = m.store ? 1 : 0;
    const bool b = has(&m, W_b), flipped = has(&m, W_m8n32k16), row = has(&m, W_row);
    m.address = 1 - data;
    m.factor = b || has(&m, W_a);
    m.wide = i->sel[PL_M_SPACE] != PL_SP_SHARED && !(i->sel[PL_M_FLAGS] & PL_MF_ADDR32);
    m.base = i->op[m.address];
    m.k = s->k;
    m.two_steps = b ? flipped : s->m >= 16;
    m.lines_contiguous = m.factor ? row != b : row != flipped;
    m.regs = m.nunique = (unsigned)pl_operand_count(f, data, i->mods);
    if (m.factor) m.nunique = factor_registers(b ? s->n : s->m, m.k, m.bits);
    for (unsigned r = 0; r < m.regs; r++) m.reg[r] = x->p->pool.at[i->extra_ops + i->op[data] + r];
    const unsigned line = m.factor ? (row == b ? (b ? s->n : s->m) : m.k) : row ? s->n : s->m;
    m.stride = i->op[2] == UINT32_MAX ? pl_ir_constant(x, line, 32) : i->op[2];
    return m;
}

/* The index of the lane in its warp, or in its half of a wide warp: each half has its own
 * fragments. */
static uint32_t emit_lane(wmma_lowering *m)
{
    const uint32_t lane = compute(m, M_mov, (pl_word[]){W_u32}, 1, 1, pl_ir_sreg(m->x, W_laneid),
                                  UINT32_MAX, UINT32_MAX);
    return m->x->p->lanes > PL_LANES ? emit_and(m, lane, PL_LANES - 1) : lane;
}

/* Emits the accesses of a lane, by its line and its position in the line. */
static void emit_lane_accesses(wmma_lowering *m, uint32_t lane)
{
    m->line = emit_shr(m, lane, 2);
    m->position_in_line = emit_and(m, lane, LINE_LANES - 1);
    if (m->factor && m->bits == 8 && m->lines_contiguous) { /* ptxas counts bytes here, not words */
        m->position_in_line = emit_and(m, emit_shl(m, lane, 2), 4 * (LINE_LANES - 1));
        access_by_lines(m, 1);
    } else if (m->factor ? m->bits < 32 && (m->lines_contiguous || m->bits == 16)
                         : m->lines_contiguous || m->bits == 16)
        access_by_lines(m, m->factor ? 32 / m->bits : 2);
    else if (m->bits == 8)
        access_by_bytes(m);
    else
        access_by_elements(m);
}

static bool lower_access(pl_ir *x, uint32_t block, size_t at, addresses *find_address)
{
    wmma_lowering m = describe_access(x, block, at, find_address);
    const bool in_shared = m.from.sel[PL_M_SPACE] == PL_SP_SHARED;
    pl_ir_remove(x, &x->blocks.at[block].code.at[at]);
    rebase_address(&m);

    set_hoist_block(&m, UINT32_MAX, UINT32_MAX);
    const uint32_t lane = emit_lane(&m);
    if (!m.wide && m.base != UINT32_MAX && !(m.from.sel[PL_M_FLAGS] & PL_MF_ADDR32)) {
        m.hoist_block = m.block;
        m.base =
            compute(&m, M_cvt, (pl_word[]){W_u32, W_u64}, 2, 1, m.base, UINT32_MAX, UINT32_MAX);
    }
    if (m.factor && in_shared && (m.bits == 16 || (m.bits == 8 && m.lines_contiguous)))
        access_by_tiles(&m, lane);
    else
        emit_lane_accesses(&m, lane);
    for (unsigned r = m.nunique; r < m.regs; r++)
        emit_guarded(&m, M_mov, 2, (pl_word[]){W_b32}, 1, m.reg[r], m.reg[r % m.nunique]);
    return pl_ir_ok(x);
}

bool pl_pass_lower_wmma(pl_ir *x)
{
    if (!pl_ir_any(x, is_wmma)) return true;
    if (!pl_ir_analyze(x)) return false;
    addresses find_address = {0};
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            if (is_product(i)) {
                replace_copies(x, i);
                split_product(x, b, k);
            } else if (is_wmma(i) && !lower_access(x, b, k, &find_address))
                return false;
        }
    return pl_ir_flush_inserts(x);
}
