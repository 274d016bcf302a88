/* verify.c - verifies a machine program read from a file. See verify.h.
 *
 * The execution functions index register rows, predicates, pools and tables without bounds checks,
 * because the assembler created them. All their assumptions are checked here once. Memory accesses
 * of the program are checked at run time, as always. */
#include "isa/program/verify.h"

#include <string.h>

#include "isa/program/operand_plan.h"
#include "isa/program/canonicalize.h"
#include "isa/program/insn_query.h"

enum {
    MAX_ROWS = 1 << 22,   /* of one frame: the most that emu/exec/warp.c allows for calls */
    MAX_FRAME = 1 << 28,  /* bytes of local memory */
    MAX_PARAMS = 1 << 20, /* bytes of kernel parameters */
    LAST_SELECTOR = 6     /* bytes and halves of video instructions: pl_sel of ptx/ast.h */
};

typedef struct check {
    pl_program *p;
    const pl_prog_func *f; /* current function */
    const char *why;
} check;

static bool fail(check *c, const char *why)
{
    if (!c->why) c->why = why;
    return false;
}

/* ---- one instruction ---- */

bool pl_insn_words_fit(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 0; k < PL_MAX_MODS; k++) {
        bool found =
            k >= f->nslots ? i->mods[k] == W_none : i->mods[k] == W_none && f->slot[k].optional;
        for (unsigned w = 0; !found && k < f->nslots && w < f->slot[k].n; w++)
            found = f->slot[k].word[w] == i->mods[k];
        if (!found) return false;
    }
    return true;
}

static void check_use(check *c, uint32_t *row, unsigned rows, unsigned use)
{
    if (use & PL_USE_PRED) {
        if (*row >= c->f->preds) fail(c, "an instruction names a predicate outside its function's");
        if ((use & PL_USE_WRITE) && *row <= PL_PF)
            fail(c, "an instruction writes a predicate that never changes");
    } else if (*row > c->f->rows || rows > c->f->rows - *row)
        fail(c, "an instruction names a register outside its function's");
}

static bool is_in_function(const check *c, uint32_t pc)
{
    return pc >= c->f->first && pc - c->f->first < c->f->count;
}

static bool check_immediate(check *c, const pl_insn *i, const pl_ospec *s, uint32_t value)
{
    if (s->lo <= s->hi && ((int32_t)value < s->lo || (int32_t)value > s->hi))
        return fail(c, "an immediate is out of range");
    if (!pl_insn_names_sreg(i)) return true;
    for (unsigned k = 0; k < pl_nsregs; k++)
        if (pl_sregs[k].word == value) return true;
    return fail(c, "an instruction reads a special register that does not exist");
}

/* Checks that operands are in their places, and that vectors are consecutive in the pool. */
static bool check_operands(check *c, const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    const pl_program *p = c->p;
    if (i->extra_ops > p->pool.n || i->nextra > p->pool.n - i->extra_ops)
        return fail(c, "an instruction's operands lie outside the pool");
    unsigned pooled = 0;
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++) {
        const pl_ospec *s = &f->operand[k];
        bool present = i->op[k] != UINT32_MAX;
        switch ((pl_okind)s->kind) {
        case PL_K_VALUE:
        case PL_K_VAR:
        case PL_K_OPAQUE:
            if (!present && !s->optional) return fail(c, "an instruction lacks an operand");
            if (present && pl_operand_count(f, k, i->mods) > 0) {
                if (i->op[k] != pooled)
                    return fail(c, "a vector is at the wrong offset of the pool");
                pooled += (unsigned)pl_operand_count(f, k, i->mods);
            }
            break;
        case PL_K_IMM:
            if (present && !check_immediate(c, i, s, i->op[k])) return false;
            break;
        case PL_K_LABEL:
            if (!is_in_function(c, i->target)) return fail(c, "a branch leaves its function");
            break;
        case PL_K_LABELS:
            if (i->nextra == 0) return fail(c, "a branch has no targets");
            for (unsigned e = 0; e < i->nextra; e++)
                if (!is_in_function(c, p->pool.at[i->extra_ops + e]))
                    return fail(c, "a branch leaves its function");
            pooled = i->nextra;
            break;
        case PL_K_FUNC:
            if (p->calls.at[i->target].callee == UINT32_MAX && !present)
                return fail(c, "an instruction lacks an operand");
            break;
        default: break;
        }
    }
    return pooled == i->nextra || fail(c, "a vector is at the wrong offset of the pool");
}

static bool check_memory(check *c, const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    bool addresses = false;
    for (unsigned k = 0; k < f->noperands; k++) addresses |= f->operand[k].kind == PL_K_ADDR;
    if (!addresses) {
        for (unsigned k = 0; k < sizeof i->sel; k++)
            if (i->sel[k] > LAST_SELECTOR)
                return fail(c, "an operand selects a part that does not exist");
        return true;
    }
    pl_insn as = *i;
    memset(as.sel, 0, sizeof as.sel);
    pl_insn_shape(&as);
    const unsigned given =
        PL_MF_WIDE | PL_MF_ADDR32 | PL_MF_ADDR32_2 | PL_MF_ADDR32_3; /* by the registers */
    if (i->sel[PL_M_LOG2] != as.sel[PL_M_LOG2] || i->sel[PL_M_COUNT] != as.sel[PL_M_COUNT] ||
        ((i->sel[PL_M_FLAGS] ^ as.sel[PL_M_FLAGS]) & ~given) ||
        (as.sel[PL_M_FLAGS] & ~(unsigned)i->sel[PL_M_FLAGS]))
        return fail(c, "a memory access has the wrong size");
    pl_space space = (pl_space)i->sel[PL_M_SPACE];
    if (space != (pl_space)as.sel[PL_M_SPACE] && space != PL_SP_LOCAL && space != PL_SP_PARAM &&
        space != PL_SP_SHARED)
        return fail(c, "a memory access has the wrong state space");
    if (space == PL_SP_PARAM && !c->f->entry)
        return fail(c, "a function reads the parameters of a kernel");
    return true;
}

static bool check_move(check *c, const pl_prog_func *f, const pl_call_move *m, uint32_t at)
{
    if (m->pred)
        return (m->reg && at < f->preds) ||
               fail(c, "a call passes a predicate that does not exist");
    uint64_t end = m->reg ? (uint64_t)at + (m->bytes > 8   ? 4
                                            : m->bytes > 4 ? 2
                                                           : 1)
                          : (uint64_t)at + m->bytes;
    if (m->reg ? m->bytes > 16 || end > f->rows : end > f->frame_bytes)
        return fail(c, "a call passes something outside its function");
    return true;
}

static bool check_call(check *c, const pl_insn *i)
{
    const pl_program *p = c->p;
    if (i->target >= p->calls.n) return fail(c, "a call is outside its table");
    const pl_prog_call *k = &p->calls.at[i->target];
    if ((k->callee != UINT32_MAX && k->callee >= p->funcs.n) || k->first_arg > p->moves.n ||
        k->nargs > p->moves.n - k->first_arg || k->first_ret > p->moves.n ||
        k->nrets > p->moves.n - k->first_ret)
        return fail(c, "a call is outside its table");
    for (uint32_t n = 0; n < k->nargs; n++)
        if (!check_move(c, c->f, &p->moves.at[k->first_arg + n],
                        p->moves.at[k->first_arg + n].from))
            return false;
    for (uint32_t n = 0; n < k->nrets; n++)
        if (!check_move(c, c->f, &p->moves.at[k->first_ret + n], p->moves.at[k->first_ret + n].to))
            return false;
    return true;
}

/* C_free: another instruction performs its work as a side effect; the others: the passes know more
 * about its operands, or about the uses of its result */
static const struct {
    uint16_t of, is;
} known_better[] = {{C_shift64, C_alu},
                    {C_shift64, C_alu_x3},
                    {C_alu64, C_alu},
                    {C_logic64, C_alu},
                    {C_cvt_int64, C_alu},
                    {C_setp64, C_setp},
                    {C_mov, C_alu},
                    {C_mov, C_alu_x2},
                    {C_warp_sync, C_bsync},
                    {C_bfi64, C_alu},
                    {C_bfi64, C_alu_x2},
                    {C_bfi64, C_bfe},
                    {C_bfi64, C_alu_x3},
                    {C_bfi, C_alu},
                    {C_bfi, C_alu_x2},
                    {C_bfi, C_alu_x7},
                    {C_bfe, C_alu},
                    {C_bfe, C_alu_x2},
                    {C_bfe, C_alu_x6},
                    {C_bfe64, C_alu},
                    {C_bfe64, C_alu_x2},
                    {C_bfe64, C_alu_x3},
                    {C_bfe64s, C_alu_x2},
                    {C_bfe64s, C_alu_x6},
                    {C_bfe64s, C_alu_x7},
                    {C_popc64, C_popc},
                    {C_clz64, C_clz},
                    {C_find64, C_popc},
                    {C_find64s, C_popc},
                    {C_mul64_lo, C_imad_wide_sum},
                    {C_mul64_lo, C_imad_hi_sum},
                    {C_mul64_lo, C_imad},
                    {C_imad_wide_sum, C_imad_wide},
                    {C_imad_wide_sum, C_alu},
                    {C_imad_wide, C_alu},
                    {C_imad, C_mul24},
                    {C_imad, C_imad_x3},
                    {C_imad_x3, C_imad},
                    {C_imad_x3, C_mul24},
                    {C_alu_x6, C_alu_x2},
                    {C_alu_x6, C_alu},
                    {C_alu_x2, C_alu},
                    {C_alu, C_alu_x2},
                    {C_alu, C_alu_x3},
                    {C_setp, C_alu_x2},
                    {C_mufu_scaled, C_mufu},
                    {C_mufu_trig, C_mufu},
                    {C_cvt_half, C_cvt_rnd},
                    {C_cvt_i2f, C_cvt_f2i},
                    {C_cvt_f2i, C_cvt_i2f},
                    {C_fminmax, C_fma},
                    {C_clz, C_popc},
                    {C_cvt_tf32, C_alu_x2},
                    {C_cvt_tf32, C_alu_x3},
                    {C_cvt_tf32, C_minmax64},
                    {C_div_f32_rn, C_div_f32_rn_same},
                    {C_rcp_f32_rn, C_rcp_f32_rn_same},
                    {C_sqrt_f32_rn, C_sqrt_f32_rn_same},
                    {C_div_f64, C_div_f64_same},
                    {C_rcp_f64, C_rcp_f64_same},
                    {C_sqrt_f64, C_sqrt_f64_same}};

/* True if passes may have changed the instruction's class from the `derived` class of its form. */
static bool class_fits(const pl_insn *i, uint16_t derived)
{
    const uint16_t is = i->latency_class;
    bool fits = is == derived || is == C_free || (is == C_param && pl_forms[i->form].mnem == M_ld);
    for (size_t k = 0; k < sizeof known_better / sizeof *known_better; k++)
        fits |= derived == known_better[k].of && is == known_better[k].is;
    return fits;
}

static bool check_insn(check *c, pl_insn *i)
{
    const unsigned known = PL_IF_GUARD_NEG | PL_IF_SYNC_POINT | PL_IF_MEM | PL_IF_CONTROL |
                           PL_IF_UNIFORM | PL_IF_D64 | PL_IF_BACK_EDGE;
    if (i->form >= pl_nforms) return fail(c, "an instruction has no form");
    if (!pl_insn_words_fit(i))
        return fail(c, "an instruction has a modifier that its form does not take");
    pl_insn derived = *i;
    derived.flags = (uint16_t)(i->flags & ~PL_INSN_DERIVED);
    pl_insn_finish(&derived);
    if (i->flags != derived.flags || (i->flags & ~known))
        return fail(c, "an instruction has flags that it cannot have");
    if (!class_fits(i, derived.latency_class))
        return fail(c, "an instruction has a class that it cannot have");
    if (i->line >= c->p->lines.n) return fail(c, "an instruction has no line");
    if (i->reconv != UINT32_MAX &&
        (i->reconv < c->f->first || i->reconv > c->f->first + c->f->count))
        return fail(c, "lanes reconverge outside their function");
    if ((pl_forms[i->form].effects & PL_EF_CALL) && !check_call(c, i)) return false;
    if (!check_operands(c, i) || !check_memory(c, i)) return false;
    PL_FOR_EACH_USE(c->p, i, o) check_use(c, o.row, o.rows, o.use);
    /* The traversal treats UINT32_MAX as an absent operand. */
    check_use(c, &i->guard, 1, PL_USE_READ | PL_USE_PRED);
    return !c->why;
}

/* ---- functions ---- */

static bool check_row(check *c, const pl_frame_init *r)
{
    const pl_prog_func *f = c->f;
    if ((r->width != 32 && r->width != 64) || r->row > f->rows || r->width / 32u > f->rows - r->row)
        return fail(c, "a function fills a register that it does not have");
    bool known = r->sreg == 0;
    for (unsigned k = 0; !known && k < pl_nsregs; k++) known = pl_sregs[k].word == r->sreg;
    if (!known) return fail(c, "a function needs a special register that does not exist");
    switch (r->reloc) {
    case PL_RELOC_NONE:
    case PL_RELOC_FRAME:
    case PL_RELOC_SHARED: break;
    case PL_RELOC_VAR:
        if (r->symbol >= c->p->vars.n)
            return fail(c, "a function needs a variable that does not exist");
        break;
    default: return fail(c, "a function needs an unknown kind of address");
    }
    return r->sel <= 3 || fail(c, "a special register has no such component");
}

static bool check_func(check *c, const pl_prog_func *f, uint32_t *next)
{
    c->f = f;
    if (f->count == 0) return true;
    if (f->first != *next) return fail(c, "functions overlap, or leave a gap");
    *next += f->count;
    if (f->rows > MAX_ROWS || f->preds < 2 || f->preds > MAX_ROWS || f->frame_bytes > MAX_FRAME ||
        f->param_bytes > MAX_PARAMS)
        return fail(c, "a function is too large");
    for (size_t k = 0; k < f->init.n; k++)
        if (!check_row(c, &f->init.at[k])) return false;
    for (size_t k = 0; k < f->params.n; k++) {
        const pl_prog_param *q = &f->params.at[k];
        if (q->offset > f->param_bytes || q->size > f->param_bytes - q->offset ||
            q->type >= W_count)
            return fail(c, "a parameter is outside the parameters");
    }
    for (size_t k = 0; k < f->formal.n; k++)
        if (!check_move(c, f, &f->formal.at[k], f->formal.at[k].to)) return false;
    for (size_t k = 0; k < f->result.n; k++)
        if (!check_move(c, f, &f->result.at[k], f->result.at[k].from)) return false;
    for (uint32_t k = 0; k < f->count; k++)
        if (!check_insn(c, &c->p->code.at[f->first + k])) return false;
    const pl_insn *last = &c->p->code.at[f->first + f->count - 1];
    return (last->guard == PL_PT && !(last->flags & PL_IF_GUARD_NEG) &&
            (pl_forms[last->form].effects & (PL_EF_EXIT | PL_EF_BRANCH))) ||
           fail(c, "a function continues past its end");
}

/* Corresponding arguments and parameters of a direct call are both predicates, or neither. */
static bool check_signature(check *c, const pl_prog_call *k)
{
    const pl_program *p = c->p;
    if (k->callee == UINT32_MAX) return true;
    const pl_prog_func *f = &p->funcs.at[k->callee];
    for (uint32_t n = 0; n < k->nargs && n < f->formal.n; n++)
        if (p->moves.at[k->first_arg + n].pred != f->formal.at[n].pred)
            return fail(c, "a call passes a predicate for something else");
    for (uint32_t n = 0; f->count == 0 && n < k->nargs;
         n++) /* system functions read arguments as numbers */
        if (p->moves.at[k->first_arg + n].pred)
            return fail(c, "a call passes a predicate for something else");
    for (uint32_t n = 0; f->count == 0 && n < k->nrets; n++)
        if (p->moves.at[k->first_ret + n].pred)
            return fail(c, "a call passes a predicate for something else");
    for (uint32_t n = 0; n < k->nrets && n < f->result.n; n++)
        if (p->moves.at[k->first_ret + n].pred != f->result.at[n].pred)
            return fail(c, "a call passes a predicate for something else");
    return true;
}

static bool check_var(check *c, const pl_prog_var *v)
{
    if (v->space != PL_SP_GLOBAL && v->space != PL_SP_CONST && v->space != PL_SP_SHARED &&
        v->space != PL_SP_TEX)
        return fail(c, "a variable is in a state space that has none");
    if (v->space == PL_SP_CONST &&
        (v->address > PL_BANK_BYTES || v->size > PL_BANK_BYTES - v->address))
        return fail(c, "a constant is outside the bank");
    return (v->align & (v->align - 1)) == 0 || fail(c, "an alignment is not a power of two");
}

/* A byte of the constant bank belongs to at most one variable. */
static bool check_bank(check *c)
{
    uint8_t taken[PL_BANK_BYTES] = {0};
    for (size_t k = 0; k < c->p->vars.n; k++) {
        const pl_prog_var *v = &c->p->vars.at[k];
        if (v->space != PL_SP_CONST || !v->size) continue;
        if (memchr(taken + v->address, 1, v->size)) return fail(c, "constants overlap");
        memset(taken + v->address, 1, v->size);
    }
    return true;
}

/* An inlined call refers to an earlier entry, so that the chain terminates. */
static bool check_inlines(check *c)
{
    const pl_program *p = c->p;
    for (size_t k = 0; k < p->inlines.n; k++)
        if (p->inlines.at[k].inlined > k) return fail(c, "an inlined call names a later one");
    for (size_t k = 0; k < p->lines.n; k++)
        if (p->lines.at[k].inlined > p->inlines.n)
            return fail(c, "a line names an inlined call that does not exist");
    return true;
}

static bool check_all(check *c)
{
    const pl_program *p = c->p;
    uint32_t next = 0;
    if (!check_inlines(c)) return false;
    for (size_t k = 0; k < p->sources.n; k++)
        if (k ? p->sources.at[k].lines_before < p->sources.at[k - 1].lines_before
              : p->sources.at[k].lines_before != 0)
            return fail(c, "its sources are out of order");
    if (p->text_bytes > UINT32_MAX) return fail(c, "its text is too long");
    for (size_t k = 0; k < p->vars.n; k++)
        if (!check_var(c, &p->vars.at[k])) return false;
    if (!check_bank(c)) return false;
    for (size_t k = 0; k < p->funcs.n; k++)
        if (!check_func(c, &p->funcs.at[k], &next)) return false;
    for (size_t k = 0; k < p->calls.n; k++)
        if (!check_signature(c, &p->calls.at[k])) return false;
    return next == p->code.n || fail(c, "functions overlap, or leave a gap");
}

const char *pl_program_check(pl_program *p)
{
    check c = {.p = p};
    check_all(&c);
    return c.why;
}
