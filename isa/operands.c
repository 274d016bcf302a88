/* operands.c - walking over the registers of an instruction, driven by the operand descriptions of its form.
 *
 * Passes walk over every instruction dozens of times, and a module has few kinds of instructions; so what the descriptions say
 * is worked out once for each combination of form and modifiers, and kept while a module is assembled. */
#include "isa/plan.h"

#include <assert.h>
#include <string.h>

#include "isa/types.h"

struct pl_plans {
    pl_plan at[1024]; /* by hash; a newer plan takes the place of an older one */
};

static uint8_t rows_of(unsigned bits)
{
    return bits > 64 ? 4 : bits > 32 ? 2 : 1;
}

static void make_plan(pl_plan *p, const pl_insn *i, uint8_t flags, uint8_t memory)
{
    static const uint8_t narrow[] = {PL_MF_ADDR32, PL_MF_ADDR32_2, PL_MF_ADDR32_3};
    const pl_form *f = &pl_forms[i->form];
    unsigned addresses = 0;
    *p = (pl_plan){.form = i->form, .flags = flags, .memory = memory, .made = true, .calls = (f->effects & PL_EF_CALL) != 0};
    memcpy(p->mods, i->mods, sizeof p->mods);
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++) {
        const pl_ospec *s = &f->operand[k];
        pl_plan_use u = {.operand = (uint8_t)k, .use = (uint8_t)((s->read ? PL_USE_READ : 0) | (s->written ? PL_USE_WRITE : 0)), .rows = 2};
        switch ((pl_okind)s->kind) {
        case PL_K_VALUE:
        case PL_K_VAR: {
            pl_word type = pl_operand_type(f, k, i->mods);
            u.count = (uint16_t)pl_operand_count(f, k, i->mods);
            u.rows = rows_of(pl_word_bits[type]);
            if (type == W_pred)
                u.use |= PL_USE_PRED;
            else if (memory && u.rows == 1 && (flags & PL_MF_WIDE) && k == (f->operand[0].kind == PL_K_ADDR))
                u.rows = 2; /* a relaxed load or store of a 64-bit register */
            break;
        }
        case PL_K_ADDR:
            u.rows = flags & narrow[addresses < 3 ? addresses : 2] ? 1 : 2;
            u.use = PL_USE_READ;
            addresses++;
            break;
        case PL_K_FUNC:
        case PL_K_OPAQUE:
            u.use = PL_USE_READ;
            break;
        default:
            continue;
        }
        p->use[p->n++] = u;
    }
}

const pl_plan *pl_plan_of(const pl_program *p, const pl_insn *i, pl_plan *own)
{
    uint8_t flags = i->sel[PL_M_FLAGS], memory = (i->flags & PL_IF_MEM) != 0;
    uint64_t m[4], h = i->form * 0x9e3779b97f4a7c15ull ^ flags;
    static_assert(sizeof m == sizeof i->mods, "modifiers are hashed as four numbers");
    if (!p->plans) {
        make_plan(own, i, flags, memory);
        return own;
    }
    memcpy(m, i->mods, sizeof m);
    h = (h ^ m[0] ^ m[1] * 3 ^ m[2] * 5 ^ m[3] * 7) * 0x9e3779b97f4a7c15ull;
    pl_plan *t = &p->plans->at[h >> 54];
    if (!t->made || t->form != i->form || t->flags != flags || t->memory != memory || memcmp(t->mods, i->mods, sizeof t->mods))
        make_plan(t, i, flags, memory);
    return t;
}

pl_plans *pl_plans_new(pl_arena *a)
{
    return pl_arena_new(a, pl_plans);
}

static void visit_moves(pl_program *p, uint32_t first, uint32_t n, bool results, pl_use_fn *fn, void *ctx)
{
    for (uint32_t k = 0; k < n; k++) {
        pl_prog_move *m = &p->moves.at[first + k];
        unsigned use = (results ? PL_USE_WRITE : PL_USE_READ) | (m->pred ? PL_USE_PRED : 0);
        if (m->reg)
            fn(ctx, results ? &m->to : &m->from, m->bytes > 4 ? 2 : 1, use);
    }
}

void pl_call_uses(pl_program *p, const pl_insn *i, pl_use_fn *fn, void *ctx)
{
    const pl_prog_call *c = &p->calls.at[i->target];
    visit_moves(p, c->first_arg, c->nargs, false, fn, ctx);
    visit_moves(p, c->first_ret, c->nrets, true, fn, ctx);
}

void pl_insn_uses(pl_program *p, pl_insn *i, pl_use_fn *fn, void *ctx)
{
    pl_insn_uses_here(p, i, fn, ctx);
}
