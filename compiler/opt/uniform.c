/* uniform.c - uniform registers: values that are equal in all lanes and need no vector register.
 *
 * ptxas 13.0 for sm_90 (its output, 2026-11) loads parameters and sizes into uniform registers
 * (ULDC, S2UR) if every use can encode one. Integer, logic and floating-point arithmetic takes one
 * operand that is a uniform register, a constant-bank word or a constant; memory accesses, matrix
 * instructions and the 64-bit addend of IMAD.WIDE take none. Constants at known addresses are
 * loaded in the same way. Two adjacent words are one load. Loop counters are in uniform registers
 * (UIADD3) as long as they are uniform. They are not if lanes leave the loop in different
 * iterations, nor if the counter is compared with a constant, or with a word that other
 * instructions read from a uniform register. */
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"
#include "compiler/analysis/divergence.h"

enum { MAX_ITERATIONS = 16 };

/* By mnemonic: 32-bit operands, 64-bit operands, f64 operands may be uniform registers; the uniform
 * datapath implements it. */
enum { NARROW = 1, WIDE = 2, DOUBLES = 4, COMPUTES = 8 };
static const uint8_t abilities[M_count] = {[M_add] = NARROW | WIDE | COMPUTES,
                                           [M_sub] = NARROW | WIDE | COMPUTES,
                                           [M_mul] = NARROW | DOUBLES | COMPUTES,
                                           [M_mad] = NARROW | DOUBLES | COMPUTES,
                                           [M__lea] = NARROW | WIDE | COMPUTES,
                                           [M__iadd2] = NARROW | COMPUTES,
                                           [M__isub2] = NARROW | COMPUTES,
                                           [M__msub] = NARROW | COMPUTES,
                                           [M__iadd3] = NARROW | WIDE | COMPUTES,
                                           [M_and] = NARROW | WIDE | COMPUTES,
                                           [M_or] = NARROW | WIDE | COMPUTES,
                                           [M_xor] = NARROW | WIDE | COMPUTES,
                                           [M_lop3] = NARROW | COMPUTES,
                                           [M_shl] = NARROW | COMPUTES,
                                           [M_shr] = NARROW | COMPUTES,
                                           [M_shf] = NARROW,
                                           [M_setp] = NARROW | WIDE,
                                           [M_selp] = NARROW,
                                           [M_min] = NARROW,
                                           [M_max] = NARROW,
                                           [M_fma] = NARROW | DOUBLES,
                                           [M__fms] = NARROW | DOUBLES,
                                           [M__fnma] = NARROW | DOUBLES,
                                           [M__mov] = NARROW | COMPUTES,
                                           [M_cvt] = NARROW | COMPUTES,
                                           [M_prmt] = NARROW};

typedef struct uniform_analysis {
    pl_ir *x;
    uint8_t *is_uniform; /* by row: it is loaded or computed without vector registers, as far as its
                            uses permit */
    bool *computed; /* by instruction, in visiting order: the uniform datapath could execute it */
    const pl_insn *i;
    bool all, changed; /* every operand of the instruction is uniform; a row was rejected */
    bool converged; /* no further rows were rejected, and no use chose between a variable and such a
                       value */
} uniform_analysis;

/* True if operand k may be a uniform register, depending on its width. */
static bool accepts_uniform(const pl_insn *i, unsigned k)
{
    const pl_form *f = &pl_forms[i->form];
    uint16_t m = pl_insn_mnem(i);
    uint8_t ability = abilities[m];
    if (!ability || f->operand[k].kind != PL_K_VALUE || f->operand[k].written ||
        pl_operand_count(f, k, i->mods) || (i->flags & PL_IF_MEM))
        return false;
    pl_word type = pl_operand_type(f, k, i->mods);
    int bits = pl_type_bits(type);
    if (bits == 64) return (ability & WIDE) || ((ability & DOUBLES) && type == W_f64);
    return (ability & NARROW) && bits == 32 && !((m == M_shl || m == M_shr) && k == 1);
}

static bool is_constant_load(const pl_ir *x, const pl_insn *i)
{
    uint16_t m = pl_insn_mnem(i);
    if (i->form == PL_IR_DEAD || i->guard != PL_PT ||
        (m != M_ld && m != M__ldc && m != M__s2r && m != M_mov))
        return false;
    if (x->regs[i->op[0]].precolored) return false;
    if (m == M_ld && i->sel[PL_M_SPACE] == PL_SP_CONST) /* at a known address */
        return i->op[1] != UINT32_MAX && x->regs[i->op[1]].kind == PL_REG_PRESET &&
               i->sel[PL_M_COUNT] == 1;
    if (m == M_ld)
        return x->f->entry && i->sel[PL_M_SPACE] == PL_SP_PARAM && i->op[1] == UINT32_MAX &&
               i->sel[PL_M_COUNT] == 1;
    return m == M__ldc || pl_ir_special_register(x, i->op[1]) == W_ctaid;
}

/* True for the integer arithmetic and logic of the uniform datapath. */
static bool is_uniform_computation(const pl_ir *x, const pl_insn *i)
{
    if (i->form == PL_IR_DEAD || i->guard != PL_PT || !(abilities[pl_insn_mnem(i)] & COMPUTES))
        return false;
    const pl_form *f = &pl_forms[i->form];
    if (!f->noperands || !pl_insn_pure(i) || pl_insn_has(i, W_cc) ||
        (f->operand[0].kind != PL_K_VALUE) || !f->operand[0].written ||
        pl_operand_count(f, 0, i->mods) || pl_operand_type(f, 0, i->mods) == W_pred ||
        x->regs[i->op[0]].precolored)
        return false;
    for (unsigned k = 0; k < f->noperands; k++)
        if (f->operand[k].kind == PL_K_VALUE &&
            (pl_operand_count(f, k, i->mods) ||
             pl_type_kind(pl_operand_type(f, k, i->mods)) == 'f'))
            return false;
    return true;
}

static bool all_uniform(uniform_analysis *c, pl_insn *i)
{
    c->all = true;
    PL_FOR_EACH_USE(c->x->p, i, o) {
        if (o.use & PL_USE_PRED)
            c->all = false;
        else if ((o.use & PL_USE_READ) && c->x->kind.at[*o.row] == PL_REG_VIRTUAL &&
                 !c->is_uniform[*o.row])
            c->all = false;
    }
    return c->all;
}

static void reject(uniform_analysis *c, uint32_t row, unsigned rows)
{
    for (unsigned k = 0; k < rows; k++) {
        c->changed |= c->is_uniform[row + k];
        c->is_uniform[row + k] = 0;
    }
}

/* Rejects a row that an instruction of the vector datapath reads in a position that takes no
 * uniform register. */
static void visit_vector_read(uniform_analysis *c, uint32_t *row, unsigned rows, unsigned use)
{
    if ((use & PL_USE_PRED) || !c->is_uniform[*row]) return;
    const pl_form *f = &pl_forms[c->i->form];
    bool named = false;
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if (c->i->op[k] == *row && f->operand[k].kind != PL_K_IMM &&
            pl_operand_type(f, k, c->i->mods) != W_pred) {
            if (!accepts_uniform(c->i, k)) {
                reject(c, *row, rows);
                return;
            }
            named = true;
        }
    if (!named) reject(c, *row, rows);
}

/* For an instruction that reads a variable and a value with other uses, the value is the operand
 * that is not a vector register. Returns the first such value; PL_IR_NONE: there is no choice. */
static uint32_t preferred_operand(const uniform_analysis *c, unsigned n)
{
    uint32_t value = PL_IR_NONE;
    bool variable = false;
    for (unsigned k = 0; k < n; k++) {
        const uint32_t row = c->i->op[k];
        if (row >= c->x->f->rows || !c->is_uniform[row] || !accepts_uniform(c->i, k)) continue;
        const pl_ir_reg *r = &c->x->regs[row];
        variable |= r->ndefs > 1;
        value = value == PL_IR_NONE && r->ndefs == 1 && r->nuses > 1 ? row : value;
    }
    return variable ? value : PL_IR_NONE;
}

/* At most one operand of an instruction is not a vector register. */
static void limit_uniform_operands(uniform_analysis *c)
{
    if (c->i->flags & PL_IF_MEM) return;
    const pl_form *f = &pl_forms[c->i->form];
    const uint32_t rows = c->x->f->rows;
    const unsigned n = f->noperands < PL_INLINE_OPERANDS ? f->noperands : PL_INLINE_OPERANDS;
    uint64_t v;
    bool any = false;
    for (unsigned k = 0; k < n && !any; k++) any = c->i->op[k] < rows && c->is_uniform[c->i->op[k]];
    if (!any) return;
    uint32_t first = preferred_operand(c, n);
    if (first != PL_IR_NONE && !c->converged) return;
    for (unsigned k = 0; k < n; k++)
        if (pl_ir_constant_value(c->x, c->i->op[k], &v) && v &&
            !(pl_insn_mnem(c->i) == M__lea && k == 2) && accepts_uniform(c->i, k))
            first = c->i->op[k];
    for (unsigned k = 0; k < n; k++) {
        uint32_t row = c->i->op[k];
        if (row >= rows || !c->is_uniform[row] || row == first || !accepts_uniform(c->i, k))
            continue;
        if (first != PL_IR_NONE)
            reject(c, row, pl_type_bits(pl_operand_type(f, k, c->i->mods)) == 64 ? 2 : 1);
        else
            first = row;
    }
}

/* The index of the 32-bit word that the instruction loads, relative to the start of parameters or
 * constants; UINT32_MAX: none. */
static uint32_t bank_word(const pl_ir *x, const pl_insn *i)
{
    if (!is_constant_load(x, i) || x->regs[i->op[0]].ndefs != 1 || pl_insn_mnem(i) != M_ld ||
        pl_type_bits(pl_insn_type(i)) != 32)
        return UINT32_MAX;
    uint64_t at = (uint64_t)i->imm;
    if (i->sel[PL_M_SPACE] == PL_SP_CONST) {
        const pl_frame_init *r = &x->f->init.at[x->init.at[i->op[1]]];
        if (r->reloc != PL_RELOC_VAR) return UINT32_MAX;
        at += r->bits + x->p->vars.at[r->symbol].address;
    }
    return at < PL_BANK_BYTES ? (uint32_t)at / 4 : UINT32_MAX;
}

typedef struct pairable_uses {
    const pl_insn *i;
    /* By row: it has a use that is neither predicated nor an integer division. */
    uint8_t *is_pairable;
} pairable_uses;

/* Merges loads of two adjacent words that a block loads into registers of the same kind into one
 * 64-bit load (LDC.64, ULDC.64). They remain separate if lanes exit or call a subroutine between
 * them, or if all uses of one are predicated instructions or divisions. */
static bool merge_word_loads(pl_ir *x)
{
    enum { WORDS = PL_BANK_BYTES / 4 };
    uint32_t *loaded_in = NULL; /* by word of the parameters, of the constants: region that has
                                 loaded it; likewise for uniform registers */
    uint32_t region = 0;
    pairable_uses w = {NULL, pl_arena_array(x->tmp, uint8_t, x->f->rows + 4)};
    if (!w.is_pairable) return false;
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            if (x->blocks.at[b].code.at[k].form != PL_IR_DEAD) {
                w.i = &x->blocks.at[b].code.at[k];
                PL_FOR_EACH_READ(x->p, &x->blocks.at[b].code.at[k], o)
                    if (!(o.use & PL_USE_PRED))
                        w.is_pairable[*o.row] |=
                            w.i->guard == PL_PT &&
                            !((pl_insn_mnem(w.i) == M_div || pl_insn_mnem(w.i) == M_rem) &&
                              pl_type_kind(pl_insn_type(w.i)) != 'f');
            }
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        region++;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            const uint32_t word = bank_word(x, i);
            region +=
                i->form != PL_IR_DEAD &&
                ((pl_insn_effects(i) & (PL_EF_EXIT | PL_EF_BRANCH)) || pl_insn_mnem(i) == M__slow);
            if (word == UINT32_MAX || !w.is_pairable[i->op[0]]) continue;
            loaded_in = loaded_in ? loaded_in : pl_arena_array(x->tmp, uint32_t, 4 * WORDS);
            if (!loaded_in) return false;
            uint32_t *in = loaded_in + (i->sel[PL_M_SPACE] == PL_SP_CONST ? WORDS : 0) +
                           (i->flags & PL_IF_UNIFORM_REG ? 2 * WORDS : 0);
            if (in[word ^ 1] == region) i->latency_class = C_free;
            in[word] = region;
        }
    }
    return true;
}

static void mark_uniform(uniform_analysis *c, uint32_t row)
{
    c->is_uniform[row] = 1;
    if (c->x->regs[row].width == 2) c->is_uniform[row + 1] = 1;
}

/* Allows variables that are uniform and have two writes by loads and the uniform datapath: their
 * initial value and the step in a loop. They may be rejected later because of an operand or a use.
 * (If ptxas unrolls a loop, predicated instructions count, too, which takes a register.) */
static bool mark_uniform_variables(uniform_analysis *c)
{
    enum { START_AND_STEP = 2 };
    pl_ir *x = c->x;
    pl_divergence v;
    bool any = false;
    uint32_t *defs = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4);
    if (!defs) return false;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++) {
            const pl_insn *i = &x->blocks.at[x->rpo[j]].code.at[k];
            if ((is_constant_load(x, i) || is_uniform_computation(x, i)) &&
                x->regs[i->op[0]].ndefs == START_AND_STEP)
                any |= ++defs[i->op[0]] == START_AND_STEP;
        }
    if (!any) return true;
    if (!pl_divergence_find(&v, x)) return false;
    for (uint32_t r = 0; r < x->f->rows; r++)
        if (defs[r] == START_AND_STEP && !v.row[r]) mark_uniform(c, r);
    return true;
}

bool pl_pass_uniform_regs(pl_ir *x)
{
    uniform_analysis c = {.x = x};
    size_t insns = 0;
    pl_ir_sweep(x);
    if (!pl_ir_graph(x) || !pl_ir_uses(x)) return false;
    c.is_uniform = pl_arena_array(x->tmp, uint8_t, x->f->rows + 4);
    for (size_t b = 0; b < x->blocks.n; b++) insns += x->blocks.at[b].code.n;
    c.computed = pl_arena_array(x->tmp, bool, insns + 1);
    if (!c.is_uniform || !c.computed || !mark_uniform_variables(&c)) return false;
    size_t n = 0;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++) {
            pl_insn *i = &x->blocks.at[x->rpo[j]].code.at[k];
            bool computed = c.computed[n++] = is_uniform_computation(x, i);
            if ((is_constant_load(x, i) || (computed && all_uniform(&c, i))) &&
                x->regs[i->op[0]].ndefs == 1)
                mark_uniform(&c, i->op[0]);
        }
    c.changed = true;
    for (unsigned iteration = 0; iteration < MAX_ITERATIONS && (c.changed || !c.converged);
         iteration++) {
        c.converged |= !c.changed;
        c.changed = false;
        n = 0;
        for (uint32_t j = 0; j < x->nrpo; j++)
            for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++) {
                pl_insn *i = &x->blocks.at[x->rpo[j]].code.at[k];
                c.i = i;
                bool result = c.computed[n++] && c.is_uniform[i->op[0]];
                if (result && all_uniform(&c, i)) continue;
                if (result) reject(&c, i->op[0], x->regs[i->op[0]].width);
                PL_FOR_EACH_READ(x->p, i, o) visit_vector_read(&c, o.row, o.rows, o.use);
                limit_uniform_operands(&c);
            }
    }
    for (size_t b = 0; b < x->blocks.n && !c.changed; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            if (i->op[0] < x->f->rows && c.is_uniform[i->op[0]] &&
                (is_constant_load(x, i) || is_uniform_computation(x, i)))
                i->flags |= PL_IF_UNIFORM_REG;
        }
    pl_ir_preserve_all(x);
    return merge_word_loads(x);
}
