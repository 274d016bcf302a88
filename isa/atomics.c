/* atomics.c - atomic operations as the hardware has them.
 *
 * An atomic operation whose old value nobody wants is a reduction (RED). Shared memory adds integers of 32 bits, compares and swaps; sums of
 * floating-point values and what is 64 bits wide are a loop: LDS, the operation, ATOMS.CAST.SPIN, ISETP and BRA. The compare-and-swap takes one
 * lane of each bank a time, so the loop goes round as often as lanes meet in one (ptxas 13.0 for sm_90; tests/data/micro/cast.tsv.xz, 2026-11).
 *
 * Where all lanes name one address, ptxas lets one lane do what the warp wants (isa/converge.c). */
#include <string.h>

#include "isa/passes.h"
#include "isa/tidy.h"

static bool is_atom(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_atom;
}

static bool is_atomic(const pl_insn *i)
{
    return is_atom(i) || pl_insn_mnem(i) == M_red;
}

/* atom d, [a], b without a reader of d: red [a], b. */
static void reduce(pl_ir *x, pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    if (!is_atom(i) || f->noperands < 3 || x->row[i->op[0]].uses || i->op[1] == UINT32_MAX || (f->noperands > 3 && i->op[3] != UINT32_MAX))
        return;
    pl_word words[PL_MAX_MODS];
    unsigned n = 0;
    for (unsigned k = 0; k < f->nslots; k++) {
        if (i->mods[k])
            words[n++] = (pl_word)i->mods[k];
    }
    pl_insn r = *i;
    if (!pl_insn_make(&r, M_red, 3, words, n) && !pl_insn_make(&r, M_red, 2, words, n))
        return;
    if (pl_forms[r.form].operand[0].kind != PL_K_ADDR || pl_operand_count(&pl_forms[r.form], 1, r.mods))
        return;
    r.op[0] = i->op[1];
    r.op[1] = i->op[2];
    r.op[2] = UINT32_MAX;
    *i = r;
}

/* ptxas 13.0 keeps ATOMG in functions with a fence, wherever it stands (25 kernels made for it, sm_90, 2026-11). */
static bool reduce_all(pl_ir *x)
{
    if (!pl_ir_any(x, is_atom) || pl_ir_any(x, pl_insn_fences))
        return true;
    if (!pl_ir_ready(x))
        return false;
    for (size_t b = 0; b < x->b.n; b++)
        for (size_t k = 0; k < x->b.at[b].code.n; k++)
            reduce(x, &x->b.at[b].code.at[k]);
    return true;
}

/* ---- loops ---- */

/* What a loop computes between its load and its compare-and-swap: W_none for an operation that shared memory does by itself. */
static pl_word loops(const pl_insn *i)
{
    static const pl_word wide[] = {W_add, W_min, W_max, W_and, W_or, W_xor};
    pl_word t = pl_insn_type(i);
    if (!is_atomic(i) || (pl_insn_effects(i) & PL_EF_ASYNC) || i->sel[PL_M_SPACE] != PL_SP_SHARED || i->sel[PL_M_COUNT] > 1 ||
        pl_insn_has(i, W_shared__cluster) || pl_insn_has(i, W_acquire) || pl_insn_has(i, W_release) || pl_insn_has(i, W_acq_rel))
        return W_none;
    if (t == W_f32 || t == W_f64)
        return W_add;
    for (size_t k = 0; k < sizeof wide / sizeof *wide && pl_type_bits(t) == 64; k++)
        if (pl_insn_has(i, wide[k]))
            return wide[k];
    return W_none;
}

static bool is_loop(const pl_insn *i)
{
    return loops(i) != W_none;
}

/* An instruction at the end of a block. */
static pl_insn *append(pl_ir *x, uint32_t block, uint32_t line, uint16_t mnem, unsigned noperands, const pl_word *words, unsigned n)
{
    pl_insn *i = pl_ir_append(x, block, line);
    return i && pl_insn_make(i, mnem, noperands, words, n) ? i : NULL;
}

/* An access to the word that an atomic operation is about, at operand 1. */
static pl_insn *append_access(pl_ir *x, uint32_t block, const pl_insn *atomic, uint16_t mnem, unsigned noperands, const pl_word *words, unsigned n)
{
    pl_insn *i = append(x, block, atomic->line, mnem, noperands, words, n);
    if (!i)
        return NULL;
    i->op[1] = atomic->op[is_atom(atomic) ? 1 : 0];
    i->imm = atomic->imm;
    i->flags |= PL_IF_MEM;
    i->sel[PL_M_SPACE] = PL_SP_SHARED;
    i->sel[PL_M_FLAGS] = atomic->sel[PL_M_FLAGS] & (PL_MF_ADDR32 | PL_MF_ADDR32_2 | PL_MF_ADDR32_3);
    pl_insn_shape(i);
    return i;
}

/* The instruction at `at` of block b becomes a loop of its own; *rest gets what stood behind it. */
static bool make_loop(pl_ir *x, uint32_t b, size_t at, uint32_t *rest)
{
    const pl_insn old = x->b.at[b].code.at[at];
    const bool atom = is_atom(&old);
    const pl_word op = loops(&old), type = pl_insn_type(&old);
    const bool wide = pl_type_bits(type) == 64, choice = op == W_min || op == W_max;
    const pl_word bits = wide ? W_b64 : W_b32, count = wide ? W_u64 : W_u32;
    const uint32_t value = old.op[atom ? 2 : 1], line = old.line;
    const uint32_t loop = pl_ir_new_block(x), swap = choice ? pl_ir_new_block(x) : loop, end = pl_ir_new_block(x);
    const uint32_t seen = pl_ir_new(x, wide ? 2 : 1), next = choice ? value : pl_ir_new(x, wide ? 2 : 1);
    const uint32_t done = pl_ir_new(x, wide ? 2 : 1), one = pl_ir_constant(x, 1, wide ? 64 : 32);
    if (!pl_ir_ok(x))
        return false;
    *rest = end;

    if (atom && old.op[0] != UINT32_MAX) {
        pl_insn *i = append(x, end, line, M_mov, 2, &bits, 1);
        if (!i)
            return false;
        i->op[0] = old.op[0];
        i->op[1] = seen;
    }
    for (size_t k = at + 1; k < x->b.at[b].code.n; k++)
        *pl_push(x->a, &x->b.at[end].code) = x->b.at[b].code.at[k];
    x->b.at[end].next = x->b.at[b].next;
    x->b.at[b].code.n = at;
    x->b.at[b].next = loop;
    if (old.guard != PL_PT)
        pl_ir_jump(x, b, line, old.guard, !(old.flags & PL_IF_GUARD_NEG), end);

    pl_insn *i = append_access(x, loop, &old, M_ld, 3, (pl_word[]){W_relaxed, W_cta, W_shared, bits}, 4);
    if (!i)
        return false;
    i->op[0] = seen;
    if (choice) { /* what does not change the word need not be written */
        pl_ir_jump(x, loop, line, pl_ir_compare(x, loop, line, op == W_min ? W_le : W_ge, type, seen, value, PL_PT), false, end);
        x->b.at[loop].next = swap;
    } else {
        const bool sum = op == W_add, real = type == W_f32 || type == W_f64;
        uint16_t mnem = sum ? M_add : op == W_and ? M_and : op == W_or ? M_or : M_xor;
        i = append(x, loop, line, mnem, 3, real ? (pl_word[]){W_rn, type} : (pl_word[]){sum ? count : bits, 0}, real ? 2 : 1);
        if (!i)
            return false;
        i->op[0] = next;
        i->op[1] = seen; /* of two NaNs the first counts */
        i->op[2] = value;
    }
    i = append_access(x, swap, &old, M__cast, 4, (pl_word[]){W_shared, bits}, 2);
    if (!i)
        return false;
    i->op[0] = done;
    i->op[2] = seen;
    i->op[3] = next;
    pl_ir_jump(x, swap, line, pl_ir_compare(x, swap, line, W_ne, bits, done, one, PL_PT), false, loop);
    x->b.at[swap].next = end;
    return pl_ir_ok(x);
}

static bool make_loops(pl_ir *x)
{
    if (!pl_ir_any(x, is_loop))
        return true;
    size_t blocks = x->b.n;
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t in = b;
        for (size_t k = 0; k < x->b.at[in].code.n; k++)
            if (is_loop(&x->b.at[in].code.at[k])) {
                if (!make_loop(x, in, k, &in))
                    return false;
                k = (size_t)-1;
            }
    }
    return true;
}

bool pl_pass_atomics(pl_ir *x)
{
    return reduce_all(x) && make_loops(x);
}
