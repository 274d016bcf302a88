/* lower_atomics.c - lowers atomic operations to those of the hardware.
 *
 * An atomic operation whose old value is unused becomes a reduction (RED). Shared memory adds
 * 32-bit integers and performs compare-and-swap; sums of floats and 64-bit operations become a
 * loop: LDS, the operation, ATOMS.CAST.SPIN, ISETP and BRA. The compare-and-swap serves one lane
 * per bank at a time, so the loop takes as many iterations as lanes share a bank (ptxas 13.0 for
 * sm_90; tests/data/micro/cast.tsv.xz, 2026-11).
 *
 * If the address is uniform, one lane performs the operation for its warp
 * (compiler/codegen/insert_reconvergence.c). An address at a constant offset from a parameter is
 * computed in a register (add_offsets). */
#include <string.h>

#include "compiler/passes.h"
#include "isa/program/canonicalize.h"

static bool is_atom(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_atom;
}

static bool is_atomic(const pl_insn *i)
{
    return is_atom(i) || pl_insn_mnem(i) == M_red;
}

/* atom d, [a], b with d unused: red [a], b. */
static void to_reduction(pl_ir *x, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (!is_atom(i) || f->noperands < 3 || x->regs[i->op[0]].nuses || i->op[1] == UINT32_MAX ||
        (f->noperands > 3 && i->op[3] != UINT32_MAX))
        return;
    pl_word words[PL_MAX_MODS];
    unsigned n = 0;
    for (unsigned k = 0; k < f->nslots; k++) {
        if (i->mods[k]) words[n++] = (pl_word)i->mods[k];
    }
    pl_insn r = *i;
    if (!pl_insn_make(&r, M_red, 3, words, n) && !pl_insn_make(&r, M_red, 2, words, n)) return;
    if (pl_forms[r.form].operand[0].kind != PL_K_ADDR ||
        pl_operand_count(&pl_forms[r.form], 1, r.mods))
        return;
    r.op[0] = i->op[1];
    r.op[1] = i->op[2];
    r.op[2] = UINT32_MAX;
    *i = r;
}

/* ptxas 13.0 keeps ATOMG in functions with a fence, regardless of its position (25 kernels made for
 * it, sm_90, 2026-11). */
static bool to_reductions(pl_ir *x)
{
    if (!pl_ir_any(x, is_atom) || pl_ir_any(x, pl_insn_is_fence)) return true;
    if (!pl_ir_analyze(x)) return false;
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            to_reduction(x, &x->blocks.at[b].code.at[k]);
    return true;
}

/* ---- loops ---- */

/* The operation of a loop between its load and its compare-and-swap; W_none: shared memory supports
 * the operation directly. */
static pl_word loop_operation(const pl_insn *i)
{
    static const pl_word wide[] = {W_add, W_min, W_max, W_and, W_or, W_xor};
    pl_word t = pl_insn_type(i);
    if (!is_atomic(i) || (pl_insn_effects(i) & PL_EF_ASYNC) || i->sel[PL_M_SPACE] != PL_SP_SHARED ||
        i->sel[PL_M_COUNT] > 1 || pl_insn_has(i, W_shared__cluster) || pl_insn_has(i, W_acquire) ||
        pl_insn_has(i, W_release) || pl_insn_has(i, W_acq_rel))
        return W_none;
    if (t == W_f32 || t == W_f64) return W_add;
    for (size_t k = 0; k < sizeof wide / sizeof *wide && pl_type_bits(t) == 64; k++)
        if (pl_insn_has(i, wide[k])) return wide[k];
    return W_none;
}

static bool needs_loop(const pl_insn *i)
{
    return loop_operation(i) != W_none;
}

/* Appends an instruction to a block. */
static pl_insn *append(pl_ir *x, uint32_t block, uint32_t line, uint16_t mnem, unsigned noperands,
                       const pl_word *words, unsigned n)
{
    pl_insn *i = pl_ir_append(x, block, line);
    return i && pl_insn_make(i, mnem, noperands, words, n) ? i : NULL;
}

/* Appends an access to the word of an atomic operation, with its address as operand 1. */
static pl_insn *append_access(pl_ir *x, uint32_t block, const pl_insn *atomic, uint16_t mnem,
                              unsigned noperands, const pl_word *words, unsigned n)
{
    pl_insn *i = append(x, block, atomic->line, mnem, noperands, words, n);
    if (!i) return NULL;
    i->op[1] = atomic->op[is_atom(atomic) ? 1 : 0];
    i->imm = atomic->imm;
    i->flags |= PL_IF_MEM;
    i->sel[PL_M_SPACE] = PL_SP_SHARED;
    i->sel[PL_M_FLAGS] = atomic->sel[PL_M_FLAGS] & (PL_MF_ADDR32 | PL_MF_ADDR32_2 | PL_MF_ADDR32_3);
    pl_insn_shape(i);
    return i;
}

/* A loop that implements an atomic operation by compare-and-swap. */
typedef struct cas_loop {
    pl_insn original;
    pl_word op, type, bits; /* bits: the untyped word */
    bool is_minmax;
    uint32_t line, value;     /* value: the operand */
    uint32_t old_value, next; /* contents of the word: as loaded, and to be stored */
    uint32_t loop, swap, end; /* blocks; swap: `loop` unless is_minmax */
} cas_loop;

static cas_loop make_cas_loop(pl_ir *x, const pl_insn *original)
{
    const pl_word op = loop_operation(original), type = pl_insn_type(original);
    const bool wide = pl_type_bits(type) == 64;
    cas_loop c = {.original = *original,
                  .op = op,
                  .type = type,
                  .bits = wide ? W_b64 : W_b32,
                  .is_minmax = op == W_min || op == W_max,
                  .line = original->line,
                  .value = original->op[is_atom(original) ? 2 : 1]};
    c.loop = pl_ir_new_block(x);
    c.swap = c.is_minmax ? pl_ir_new_block(x) : c.loop;
    c.end = pl_ir_new_block(x);
    c.old_value = pl_ir_new(x, wide ? 2 : 1);
    c.next = c.is_minmax ? c.value : pl_ir_new(x, wide ? 2 : 1);
    return c;
}

/* Splits block b at the instruction: the instructions after it move to c->end, which first copies
 * the result. */
static bool split_block(pl_ir *x, uint32_t b, size_t at, const cas_loop *c)
{
    const pl_insn *o = &c->original;
    if (is_atom(o) && o->op[0] != UINT32_MAX) {
        pl_insn *i = append(x, c->end, c->line, M_mov, 2, &c->bits, 1);
        if (!i) return false;
        i->op[0] = o->op[0];
        i->op[1] = c->old_value;
    }
    for (size_t k = at + 1; k < x->blocks.at[b].code.n; k++)
        *pl_push(x->a, &x->blocks.at[c->end].code) = x->blocks.at[b].code.at[k];
    x->blocks.at[c->end].fallthrough = x->blocks.at[b].fallthrough;
    x->blocks.at[b].code.n = at;
    x->blocks.at[b].fallthrough = c->loop;
    if (o->guard != PL_PT)
        pl_ir_jump(x, b, c->line, o->guard, !(o->flags & PL_IF_GUARD_NEG), c->end);
    return true;
}

/* Computes c->next. A minimum or maximum that does not change the word leaves the loop. */
static bool emit_operation(pl_ir *x, const cas_loop *c)
{
    if (c->is_minmax) {
        pl_ir_jump(x, c->loop, c->line,
                   pl_ir_compare(x, c->loop, c->line, c->op == W_min ? W_le : W_ge, c->type,
                                 c->old_value, c->value, PL_PT),
                   false, c->end);
        x->blocks.at[c->loop].fallthrough = c->swap;
        return true;
    }
    const bool is_add = c->op == W_add, is_float = c->type == W_f32 || c->type == W_f64;
    const pl_word count = c->bits == W_b64 ? W_u64 : W_u32;
    const uint16_t mnem = is_add ? M_add : c->op == W_and ? M_and : c->op == W_or ? M_or : M_xor;
    pl_insn *i =
        append(x, c->loop, c->line, mnem, 3,
               is_float ? (pl_word[]){W_rn, c->type} : (pl_word[]){is_add ? count : c->bits, 0},
               is_float ? 2 : 1);
    if (!i) return false;
    i->op[0] = c->next;
    i->op[1] = c->old_value; /* of two NaNs the first one is returned */
    i->op[2] = c->value;
    return true;
}

/* Turns the instruction at `at` of block b into a loop; *remainder is the block with the
 * instructions after it. */
static bool lower_to_loop(pl_ir *x, uint32_t b, size_t at, uint32_t *remainder)
{
    const cas_loop c = make_cas_loop(x, &x->blocks.at[b].code.at[at]);
    const bool wide = c.bits == W_b64;
    const uint32_t swapped = pl_ir_new(x, wide ? 2 : 1), one = pl_ir_constant(x, 1, wide ? 64 : 32);
    if (!pl_ir_ok(x)) return false;
    *remainder = c.end;
    if (!split_block(x, b, at, &c)) return false;
    pl_insn *i = append_access(x, c.loop, &c.original, M_ld, 3,
                               (pl_word[]){W_relaxed, W_cta, W_shared, c.bits}, 4);
    if (!i) return false;
    i->op[0] = c.old_value;
    if (!emit_operation(x, &c)) return false;
    i = append_access(x, c.swap, &c.original, M__cast, 4, (pl_word[]){W_shared, c.bits}, 2);
    if (!i) return false;
    i->op[0] = swapped;
    i->op[2] = c.old_value;
    i->op[3] = c.next;
    pl_ir_jump(x, c.swap, c.line,
               pl_ir_compare(x, c.swap, c.line, W_ne, c.bits, swapped, one, PL_PT), false, c.loop);
    x->blocks.at[c.swap].fallthrough = c.end;
    return pl_ir_ok(x);
}

static bool lower_to_loops(pl_ir *x)
{
    if (!pl_ir_any(x, needs_loop)) return true;
    size_t blocks = x->blocks.n;
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t in = b;
        for (size_t k = 0; k < x->blocks.at[in].code.n; k++)
            if (needs_loop(&x->blocks.at[in].code.at[k])) {
                if (!lower_to_loop(x, in, k, &in)) return false;
                k = (size_t)-1;
            }
    }
    return true;
}

/* ---- constant offsets from parameters ---- */

/* The sum of a parameter and a constant in a vector register; the block that dominates all its
 * uses, and the first position in it. */
typedef struct address_sum {
    uint32_t base, block, line, row;
    size_t at;
    int64_t offset;
} address_sum;

typedef struct address_sums {
    address_sum *at;
    size_t n, cap;
} address_sums;

static bool is_parameter(const pl_ir *x, uint32_t row)
{
    if (!x->f->entry || row >= x->f->rows || x->regs[row].ndefs != 1 ||
        x->regs[row].def_block == PL_IR_NONE)
        return false;
    const pl_insn *w = pl_ir_writer(x, row);
    return w->form != PL_IR_DEAD && pl_insn_mnem(w) == M_ld && w->sel[PL_M_SPACE] == PL_SP_PARAM &&
           w->op[1] == UINT32_MAX && w->op[0] == row;
}

static bool is_global(const pl_insn *i)
{
    return is_atomic(i) && !(pl_insn_effects(i) & PL_EF_ASYNC) &&
           (i->sel[PL_M_SPACE] == PL_SP_GLOBAL || i->sel[PL_M_SPACE] == PL_SP_GENERIC) &&
           !(i->sel[PL_M_FLAGS] & PL_MF_ADDR32);
}

/* True for an atomic operation at a constant offset from a parameter; *operand is its address
 * operand. */
static bool is_at_offset(const pl_ir *x, const pl_insn *i, unsigned *operand)
{
    *operand = is_atom(i) ? 1 : 0;
    return is_global(i) && i->op[*operand] != UINT32_MAX && i->imm &&
           is_parameter(x, i->op[*operand]);
}

static address_sum *sum_of(const address_sums *all, uint32_t base)
{
    for (size_t n = 0; n < all->n; n++)
        if (all->at[n].base == base) return &all->at[n];
    return NULL;
}

static bool emit_sum(pl_ir *x, address_sum *s)
{
    const uint32_t in_block = pl_ir_hoist_block(x, s->block, s->base, UINT32_MAX),
                   number = pl_ir_constant(x, (uint64_t)s->offset, 64), total = pl_ir_new(x, 2);
    const size_t at = in_block == s->block ? s->at : pl_ir_end(x, in_block);
    pl_insn *add = pl_ir_insert_deferred(x, in_block, at);
    s->row = pl_ir_new(x, 2);
    if (!add || !pl_insn_make(add, M_add, 3, &(pl_word){W_s64}, 1)) return false;
    add->op[0] = total;
    add->op[1] = s->base;
    add->op[2] = number;
    add->line = s->line;
    pl_insn *move = pl_ir_insert_deferred(x, in_block, at);
    if (!move || !pl_insn_make(move, M__taken, 2, &(pl_word){W_b64}, 1)) return false;
    move->op[0] = s->row;
    move->op[1] = total;
    move->line = s->line;
    return true;
}

/* ptxas 13.0 (sm_90, 40 small kernels, 2026-11) adds a constant to a parameter in the uniform
 * datapath if it is the address of an atomic operation. It moves the sum into vector registers
 * (ULDC, UIADD3, UIADD3.X, two MOV). Loads and stores encode the constant. All other atomic
 * operations at offsets from the same parameter use that sum, which is computed before all of
 * them. */
static bool add_offsets(pl_ir *x)
{
    if (!pl_ir_any(x, is_global)) return true;
    address_sums all = {0};
    unsigned a;
    if (!pl_ir_analyze(x)) return false;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++) {
            const uint32_t b = x->rpo[j];
            const pl_insn *i = &x->blocks.at[b].code.at[k];
            if (!is_at_offset(x, i, &a)) continue;
            address_sum *s = sum_of(&all, i->op[a]);
            if (!s)
                *pl_push(x->tmp, &all) = (address_sum){
                    .base = i->op[a], .block = b, .at = k, .line = i->line, .offset = i->imm};
            else if (!pl_ir_dominates(x, s->block, b)) {
                while (!pl_ir_dominates(x, s->block, b)) s->block = x->blocks.at[s->block].idom;
                s->at = pl_ir_end(x, s->block);
            }
        }
    for (size_t n = 0; n < all.n; n++)
        if (!emit_sum(x, &all.at[n])) return false;
    for (uint32_t j = 0; all.n && j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++) {
            pl_insn *i = &x->blocks.at[x->rpo[j]].code.at[k];
            const address_sum *s = is_at_offset(x, i, &a) ? sum_of(&all, i->op[a]) : NULL;
            if (s) {
                i->op[a] = s->row;
                i->imm -= s->offset;
            }
        }
    return pl_ir_flush_inserts(x);
}

bool pl_pass_lower_atomics(pl_ir *x)
{
    return to_reductions(x) && add_offsets(x) && lower_to_loops(x);
}
