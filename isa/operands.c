/* operands.c - walking over the registers of an instruction, driven by the operand descriptions of its form. */
#include "isa/operands.h"

#include "isa/types.h"

static unsigned rows_of(unsigned bits)
{
    return bits > 64 ? 4 : bits > 32 ? 2 : 1;
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

void pl_insn_uses(pl_program *p, pl_insn *i, pl_use_fn *fn, void *ctx)
{
    const pl_form *f = &pl_forms[i->form];
    unsigned addresses = 0;
    bool memory = (i->flags & PL_IF_MEM) != 0;
    if (i->guard != PL_PT)
        fn(ctx, &i->guard, 1, PL_USE_READ | PL_USE_PRED);
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++) {
        const pl_ospec *s = &f->operand[k];
        unsigned use = (s->read ? PL_USE_READ : 0) | (s->written ? PL_USE_WRITE : 0), rows;
        if (i->op[k] == UINT32_MAX || s->kind == PL_K_IMM) {
            addresses += s->kind == PL_K_ADDR;
            continue;
        }
        switch ((pl_okind)s->kind) {
        case PL_K_VALUE:
        case PL_K_VAR: {
            pl_word type = pl_type_of_operand(f, k, i->mods);
            int count = pl_operand_may_be_vector(s) ? pl_operand_count(f, k, i->mods) : 0;
            rows = rows_of(pl_word_bits[type]);
            if (type == W_pred)
                use |= PL_USE_PRED;
            else if (memory && rows == 1 && (i->sel[PL_M_FLAGS] & PL_MF_WIDE) && k == (f->operand[0].kind == PL_K_ADDR))
                rows = 2; /* a relaxed load or store of a 64-bit register */
            if (count)
                for (int e = 0; e < count; e++)
                    fn(ctx, &p->pool.at[i->more + i->op[k] + (unsigned)e], rows, use);
            else
                fn(ctx, &i->op[k], rows, use);
            break;
        }
        case PL_K_ADDR: {
            static const uint8_t narrow[] = {PL_MF_ADDR32, PL_MF_ADDR32_2, PL_MF_ADDR32_3};
            rows = i->sel[PL_M_FLAGS] & narrow[addresses < 3 ? addresses : 2] ? 1 : 2;
            addresses++;
            fn(ctx, &i->op[k], rows, PL_USE_READ);
            break;
        }
        case PL_K_FUNC:
        case PL_K_OPAQUE:
            fn(ctx, &i->op[k], 2, PL_USE_READ);
            break;
        default:
            break;
        }
    }
    if (f->effects & PL_EF_CALL) {
        const pl_prog_call *c = &p->calls.at[i->target];
        visit_moves(p, c->first_arg, c->nargs, false, fn, ctx);
        visit_moves(p, c->first_ret, c->nrets, true, fn, ctx);
    }
}
