/* materialize_constants.c - moves constants that an instruction cannot encode to registers.
 *
 * A machine instruction can encode one 32-bit constant. It cannot encode any where it needs
 * consecutive registers or sends data to memory: atomics, stores, matrix operands, constants that a
 * register shifts. Zero is a register of its own (RZ).
 *
 * ptxas 13.0 moves the others to registers in the block that needs them, in loops too. There a move
 * costs less than a register that is live throughout (66 of 78 in loops of one block, 2026-11). If
 * such a loop has materialize_constants.hoist_uses of them, the constant is set in the preheader,
 * unless it takes two registers (IMAD.WIDE adds to the pair in place).
 *
 * An operand of f64 arithmetic holds the upper half of a constant. If the lower half is not zero,
 * both are moved to uniform registers in the block that needs them; so are constant vectors of IDP
 * (its output for sm_90, 2026-11). The address of a variable that is the addend of IMAD.WIDE with a
 * multiple is loaded from the constant bank. */
#include <string.h>

#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"

typedef struct materialized_constant {
    uint32_t constant, row, block, next; /* next entry of the same constant, plus one */
    uint32_t calls; /* number of calls before it in the function, for addresses of variables */
} materialized_constant;

typedef struct constant_materializer {
    pl_ir *x;
    uint32_t block, line;
    uint32_t calls; /* number of calls visited */
    size_t at;
    unsigned capacity;         /* constants that the current instruction can still encode */
    uint32_t encoded_constant; /* the constant that it encodes */
    bool pairs;                /* zero needs a register too */
    bool doubles;    /* f64 arithmetic: it encodes the upper half of a constant whose lower half is
                        zero */
    bool uniform;    /* the current operand takes a uniform register, materialized in the block that
                        needs it */
    uint32_t *first; /* by row of a constant: newest entry, plus one */
    struct {
        materialized_constant *at;
        size_t n, cap;
    } materialized;
} constant_materializer;

/* True if the constant is worth a register in the loop that consists of this block. Earlier uses
 * already have that register, or need none. */
static bool is_used_often(constant_materializer *m, uint32_t constant)
{
    uint32_t nuses = 0;
    const pl_ir_block *b = &m->x->blocks.at[m->block];
    for (size_t k = m->at;
         k < b->code.n && nuses < m->x->p->tuning->materialize_constants.hoist_uses; k++)
        if (b->code.at[k].form != PL_IR_DEAD) nuses += pl_ir_reads(m->x, &b->code.at[k], constant);
    return nuses >= m->x->p->tuning->materialize_constants.hoist_uses;
}

static uint32_t register_for(constant_materializer *m, uint32_t constant, unsigned rows)
{
    pl_ir *x = m->x;
    bool loop = rows == 1 && !m->uniform && x->blocks.at[m->block].loop == m->block &&
                x->blocks.at[m->block].idom != m->block;
    for (uint32_t k = m->first[constant]; k; k = m->materialized.at[k - 1].next)
        if (m->materialized.at[k - 1].block == m->block ||
            (loop && m->materialized.at[k - 1].block == x->blocks.at[m->block].idom))
            return m->materialized.at[k - 1].row;
    loop = loop && is_used_often(m, constant);
    uint32_t in_block = loop ? x->blocks.at[m->block].idom : m->block;
    size_t at = loop ? pl_ir_end(x, in_block) : m->at;
    uint32_t row = pl_ir_new(x, rows);
    pl_insn *i = pl_ir_insert_deferred(x, in_block, at);
    if (!i || !pl_insn_make(i, m->uniform ? M__umov : M__mov, 2,
                            &(pl_word){rows == 2 ? W_b64 : W_b32}, 1))
        return constant;
    i->op[0] = row;
    i->op[1] = constant;
    i->line = m->line;
    uint32_t next = m->first[constant];
    *pl_push(x->tmp, &m->materialized) =
        (materialized_constant){.constant = constant, .row = row, .block = in_block, .next = next};
    m->first[constant] = (uint32_t)m->materialized.n;
    return row;
}

/* True if a constant is shifted by a register. */
static bool shifts_constant(const pl_ir *x, const pl_insn *i)
{
    uint64_t v, count;
    const uint16_t m = i->form == PL_IR_DEAD ? (uint16_t)M_count : pl_insn_mnem(i);
    if ((m != M_shl && m != M_shr && m != M_shf) || pl_type_bits(pl_insn_type(i)) != 32)
        return false;
    return (pl_ir_constant_value(x, i->op[1], &v) ||
            (m == M_shf && pl_ir_constant_value(x, i->op[2], &v))) &&
           !pl_ir_constant_value(x, i->op[m == M_shf ? 3 : 2], &count);
}

/* The number of constants that can be encoded; *pairs: zero counts as one. */
static unsigned encodable_constants(const pl_insn *i, bool *pairs)
{
    uint16_t m = pl_insn_mnem(i);
    uint32_t e = pl_insn_effects(i);
    *pairs = false;
    if (e & PL_EF_ATOMIC) {
        *pairs = pl_insn_has(i, W_cas);
        return 0;
    }
    if (((e & PL_EF_STORE) && (m == M_st || m == M_red)) || i->latency_class == C_idp) return 0;
    if (m == M_fma || m == M_mad || m == M__fms || m == M__fnma || m == M__iadd3 || m == M__iadd2 ||
        m == M__isub2 || m == M__msub || m == M__minmax3 || m == M__addmax || m == M__submax ||
        m == M_selp || m == M__lea || m == M__leahi || m == M_lop3 || m == M__lop3 || m == M_setp ||
        m == M_shf || m == M_prmt)
        return 1;
    return UINT32_MAX;
}

/* The addend of a product with a constant that is the address of a variable: IMAD.WIDE cannot
 * encode both. */
static uint32_t *address_addend(const pl_ir *x, pl_insn *i)
{
    uint64_t factor;
    if (i->form == PL_IR_DEAD || pl_insn_mnem(i) != M_mad || !pl_insn_has(i, W_wide) ||
        i->latency_class == C_free || i->latency_class == C_alu ||
        !pl_ir_constant_value(x, i->op[2], &factor))
        return NULL;
    const uint32_t row = i->op[3];
    const pl_frame_init *r = row < x->f->rows && x->kind.at[row] == PL_REG_PRESET
                                 ? &x->f->init.at[x->init.at[row]]
                                 : NULL;
    return r && r->reloc == PL_RELOC_VAR && x->p->vars.at[r->symbol].space == PL_SP_GLOBAL
               ? &i->op[3]
               : NULL;
}

/* Loads the address from the driver's table (LDC), in each block that needs it, and again after a
 * call. */
static uint32_t load_address(constant_materializer *m, uint32_t symbol)
{
    pl_ir *x = m->x;
    for (uint32_t k = m->first[symbol]; k; k = m->materialized.at[k - 1].next)
        if (m->materialized.at[k - 1].block == m->block &&
            m->materialized.at[k - 1].calls == m->calls)
            return m->materialized.at[k - 1].row;
    const uint32_t row = pl_ir_new(x, 2);
    pl_insn *i = pl_ir_insert_deferred(x, m->block, m->at);
    if (!i || !pl_insn_make(i, M__ldc, 2, &(pl_word){W_u64}, 1)) return symbol;
    i->op[0] = row;
    i->op[1] = symbol;
    i->line = m->line;
    const uint32_t next = m->first[symbol];
    *pl_push(x->tmp, &m->materialized) = (materialized_constant){
        .constant = symbol, .row = row, .block = m->block, .next = next, .calls = m->calls};
    m->first[symbol] = (uint32_t)m->materialized.n;
    return row;
}

/* True for an increment in shared memory: ATOMS.POPC.INC adds one without an operand for that. */
static bool is_increment(const pl_ir *x, const pl_insn *i)
{
    uint64_t n;
    return pl_insn_mnem(i) == M_red && i->form != PL_IR_DEAD &&
           i->sel[PL_M_SPACE] == PL_SP_SHARED && (pl_insn_has(i, W_add) || pl_insn_has(i, W_inc)) &&
           pl_type_bits(pl_insn_type(i)) == 32 && pl_ir_constant_value(x, i->op[1], &n) &&
           (uint32_t)n == (pl_insn_has(i, W_add) ? 1 : UINT32_MAX);
}

static bool computes_doubles(const pl_insn *i)
{
    static const bool is_arithmetic[M_count] = {
        [M_add] = true,  [M_sub] = true,   [M_mul] = true, [M_fma] = true, [M_mad] = true,
        [M__fms] = true, [M__fnma] = true, [M_min] = true, [M_max] = true, [M_setp] = true};
    return i->form != PL_IR_DEAD && is_arithmetic[pl_insn_mnem(i)] &&
           (pl_insn_type(i) == W_f64 || pl_insn_has(i, W_f64));
}

static void place_constant(constant_materializer *m, uint32_t *operand, unsigned rows)
{
    uint64_t v;
    if (!pl_ir_constant_value(m->x, *operand, &v) || (v == 0 && !m->pairs) ||
        *operand == m->encoded_constant)
        return;
    if (m->capacity > 0 && !(m->doubles && (uint32_t)v)) {
        m->capacity--;
        m->encoded_constant = *operand;
        return;
    }
    *operand = register_for(m, *operand, rows);
}

/* A 16-bit constant that is stored as it is, or whose lower byte is, needs a register, too. */
static void materialize_short(const pl_ir *x, const pl_insn *i)
{
    uint64_t v;
    if (i->form == PL_IR_DEAD || pl_insn_mnem(i) != M_st || i->sel[PL_M_COUNT] != 1 ||
        i->op[1] >= x->f->rows || x->regs[i->op[1]].ndefs != 1)
        return;
    pl_insn *w = pl_ir_writer(x, i->op[1]);
    if (w && w->form != PL_IR_DEAD && pl_insn_is_copy(w) && w->latency_class == C_mov &&
        pl_type_bits(pl_insn_type(w)) == 16 && pl_ir_constant_value(x, w->op[1], &v) && (uint16_t)v)
        w->latency_class = C_alu;
}

bool pl_pass_materialize_constants(pl_ir *x)
{
    if (!pl_ir_analyze(x)) return false;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++)
            materialize_short(x, &x->blocks.at[x->rpo[j]].code.at[k]);
    constant_materializer m = {.x = x, .first = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4)};
    uint32_t rows = x->f->rows;
    if (!m.first) return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        m.block = x->rpo[j];
        for (m.at = 0; m.at < x->blocks.at[m.block].code.n && pl_ir_ok(x); m.at++) {
            pl_insn *insn = &x->blocks.at[m.block].code.at[m.at];
            m.calls += insn->form != PL_IR_DEAD && (pl_insn_effects(insn) & PL_EF_CALL);
            uint32_t *address = address_addend(x, insn);
            m.line = insn->line;
            if (address) *address = load_address(&m, *address);
            m.capacity = encodable_constants(insn, &m.pairs);
            if (shifts_constant(x, insn)) m.capacity = 0;
            m.doubles = computes_doubles(insn);
            if (m.doubles) m.capacity = 1;
            if (m.capacity == UINT32_MAX || is_increment(x, insn)) continue;
            pl_insn i = *insn;
            const pl_form *f = &pl_forms[i.form];
            m.encoded_constant = PL_IR_NONE;
            m.line = i.line;
            for (unsigned k = f->noperands; k-- > 0;) {
                const pl_ospec *s = &f->operand[k];
                if (k >= PL_INLINE_OPERANDS || s->kind != PL_K_VALUE || s->written ||
                    i.op[k] == UINT32_MAX)
                    continue;
                pl_word type = pl_operand_type(f, k, i.mods);
                bool relaxed = k == (f->operand[0].kind == PL_K_ADDR) && (i.flags & PL_IF_MEM) &&
                               (i.sel[PL_M_FLAGS] & PL_MF_WIDE);
                unsigned width = pl_type_bits(type) > 32 || relaxed ? 2 : 1;
                if (type == W_pred || pl_type_bits(type) > 64) continue;
                int count = pl_operand_count(f, k, i.mods);
                for (int e = 0; e < (count ? count : 1); e++) {
                    uint32_t row =
                        count ? x->p->pool.at[i.extra_ops + i.op[k] + (unsigned)e] : i.op[k];
                    if (row >= rows) continue;
                    m.uniform = m.doubles || (i.latency_class == C_idp &&
                                              k < 3); /* IDP: the vectors, but not the addend */
                    place_constant(&m, &row, width);
                    if (count)
                        x->p->pool.at[i.extra_ops + i.op[k] + (unsigned)e] = row;
                    else
                        i.op[k] = row;
                }
            }
            x->blocks.at[m.block].code.at[m.at] = i;
        }
    }
    return pl_ir_flush_inserts(x);
}
