/* operands.c - iteration over the registers of an instruction, based on the operand descriptions of
 * its form.
 *
 * Passes visit every instruction dozens of times, and a module has few kinds of instructions. The
 * descriptions are therefore evaluated once for each combination of form and modifiers, and cached
 * while a module is assembled. */
#include "isa/program/operand_plan.h"

#include <stddef.h>
#include <string.h>

static uint8_t rows_of(unsigned bits)
{
    return bits > 64 ? 4 : bits > 32 ? 2 : 1;
}

#define WORD_OFFSET(member) ((uint8_t)(offsetof(pl_insn, member) / 4))

/* True if every operand is a constant or a single register that is either read or written. */
static bool has_only_scalars(const pl_form *f, const uint16_t *mods)
{
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++) {
        const pl_ospec *s = &f->operand[k];
        if (s->kind != PL_K_IMM && ((s->kind != PL_K_VALUE && s->kind != PL_K_VAR) ||
                                    (s->read && s->written) || pl_operand_count(f, k, mods)))
            return false;
    }
    return true;
}

static_assert(W_count << PL_TRAIT_TYPE <= UINT16_MAX + 1, "traits have 16 bits");

unsigned pl_traits_find(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    const uint16_t m = f->mnem;
    pl_word t = W_none;
    for (unsigned k = 0; k < f->nslots && !t; k++)
        t = pl_word_kind[i->mods[k]] ? (pl_word)i->mods[k] : W_none;
    const bool carry = pl_insn_has(i, W_cc), carries = m == M_addc || m == M_subc || m == M_madc;
    const bool integer =
        (pl_word_kind[t] == 'u' || pl_word_kind[t] == 's' || pl_word_kind[t] == 'b') &&
        (pl_word_bits[t] == 32 || pl_word_bits[t] == 64);
    unsigned traits = 0;
    if (!f->effects && m != M_activemask && m != M__sreg && m != M__s2ur && !carry && !carries)
        traits |= PL_TRAIT_PURE;
    const bool packed = t == W_u16x2 || t == W_s16x2 || t == W_u8x4 || t == W_s8x4;
    if (integer && !packed && !carry && !pl_insn_has(i, W_sat) && !pl_insn_has(i, W_relu))
        traits |= PL_TRAIT_INTEGER;
    if (pl_word_bits[t] == 64) traits |= PL_TRAIT_WIDE;
    if (has_only_scalars(f, i->mods)) traits |= PL_TRAIT_SCALARS;
    if ((f->effects & ~(uint32_t)PL_EF_LOAD) == 0 && m != M__sreg && !carry && f->noperands &&
        f->operand[0].written)
        traits |= PL_TRAIT_REMOVABLE;
    return traits | (unsigned)t << PL_TRAIT_TYPE;
}

static void add_to_list(pl_operand_list *l, pl_operand_slot u)
{
    if (u.count)
        l->plain = false;
    else if (l->scalars == l->n)
        l->scalars++;
    l->slot[l->n++] = u;
}

static void add_slot(pl_operand_plan *p, pl_operand_slot u)
{
    p->vectors |= u.count > 0;
    p->wide |= u.rows > 1;
    add_to_list(&p->use, u);
    if (u.use & PL_USE_READ) add_to_list(&p->reads, u);
    if (u.use & PL_USE_WRITE) add_to_list(&p->writes, u);
}

static void make_plan(pl_operand_plan *p, const pl_insn *i)
{
    static const uint8_t narrow[] = {PL_MF_ADDR32, PL_MF_ADDR32_2, PL_MF_ADDR32_3};
    const pl_form *f = &pl_forms[i->form];
    uint8_t flags = i->sel[PL_M_FLAGS];
    unsigned addresses = 0;
    const bool calls = (f->effects & PL_EF_CALL) != 0;
    *p = (pl_operand_plan){.key = pl_plan_key(i),
                           .calls = calls,
                           .wide = calls,
                           .use.plain = !calls,
                           .reads.plain = !calls,
                           .writes.plain = !calls,
                           .traits = (uint16_t)pl_traits_find(i)};
    memcpy(p->mods, i->mods, sizeof p->mods);
    add_slot(p, (pl_operand_slot){
                    .at = WORD_OFFSET(guard), .use = PL_USE_READ | PL_USE_PRED, .rows = 1});
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++) {
        const pl_ospec *s = &f->operand[k];
        pl_operand_slot u = {
            .at = (uint8_t)(WORD_OFFSET(op) + k),
            .use = (uint8_t)((s->read ? PL_USE_READ : 0) | (s->written ? PL_USE_WRITE : 0)),
            .rows = 2};
        switch ((pl_okind)s->kind) {
        case PL_K_VALUE:
        case PL_K_VAR: {
            pl_word type = pl_operand_type(f, k, i->mods);
            int count = pl_operand_count(f, k, i->mods);
            assert(count <= UINT8_MAX);
            u.count = (uint8_t)count;
            u.rows = rows_of(pl_word_bits[type]);
            if (type == W_pred)
                u.use |= PL_USE_PRED;
            else if ((i->flags & PL_IF_MEM) && u.rows == 1 && (flags & PL_MF_WIDE) &&
                     k == (f->operand[0].kind == PL_K_ADDR))
                u.rows = 2; /* a relaxed load or store of a 64-bit register */
            break;
        }
        case PL_K_ADDR:
            u.rows = flags & narrow[addresses < 3 ? addresses : 2] ? 1 : 2;
            u.use = PL_USE_READ;
            addresses++;
            break;
        case PL_K_FUNC:
        case PL_K_OPAQUE: u.use = PL_USE_READ; break;
        default: continue;
        }
        assert(u.use & (PL_USE_READ | PL_USE_WRITE));
        add_slot(p, u);
    }
}

const pl_operand_plan *pl_plan_find(const pl_program *p, pl_insn *i, pl_operand_plan *own)
{
    enum { SLOTS = 2 * PL_PLAN_CACHE_SIZE };
    pl_plan_cache *all = p->plans;
    uint64_t m[4], key = pl_plan_key(i);
    memcpy(m, i->mods, sizeof m);
    uint64_t h = ((key ^ m[0] ^ m[1] * 3 ^ m[2] * 5 ^ m[3] * 7) * 0x9e3779b97f4a7c15ull) >> 32;
    for (; all; h++) {
        uint16_t *number = &all->number[h % SLOTS];
        /* The module has more kinds of instructions than the cache holds. */
        if (!*number && all->n == PL_PLAN_CACHE_SIZE) break;
        if (!*number) {
            *number = ++all->n;
            make_plan(&all->at[*number - 1u], i);
        }
        const pl_operand_plan *t = &all->at[*number - 1u];
        if ((t->key ^ key) | (t->mods[0] ^ m[0]) | (t->mods[1] ^ m[1]) | (t->mods[2] ^ m[2]) |
            (t->mods[3] ^ m[3]))
            continue;
        i->plan = *number;
        i->traits = t->traits;
        return t;
    }
    make_plan(own, i);
    return own;
}

pl_plan_cache *pl_plan_cache_new(pl_arena *a)
{
    return pl_arena_new(a, pl_plan_cache);
}

/* Arguments first, then results; `move` indexes both. */
void pl_operand_rest_begin(pl_operand_iter_state *r, const pl_operand_list *l, bool calls,
                           const pl_program *p, const pl_insn *i, unsigned which)
{
    r->slot = l->slot + l->scalars;
    r->end = l->slot + l->n;
    r->left = r->move = r->nmoves = 0;
    if (!calls) return;
    const pl_prog_call *c = &p->calls.at[i->target];
    r->move = which & PL_USE_READ ? 0 : c->nargs;
    r->nmoves = c->nargs + (which & PL_USE_WRITE ? c->nrets : 0);
}

static bool next_move(pl_operand_iter_state *r, pl_program *p, const pl_insn *i)
{
    while (r->move < r->nmoves) {
        const pl_prog_call *c = &p->calls.at[i->target];
        const uint32_t k = r->move++;
        const bool result = k >= c->nargs;
        pl_call_move *m = &p->moves.at[result ? c->first_ret + k - c->nargs : c->first_arg + k];
        if (!m->reg) continue;
        r->row = result ? &m->to : &m->from;
        r->rows = m->bytes > 4 ? 2 : 1;
        r->use = (result ? PL_USE_WRITE : PL_USE_READ) | (m->pred ? PL_USE_PRED : 0);
        return true;
    }
    return false;
}

bool pl_operand_rest_next(pl_operand_iter_state *r, pl_program *p, pl_insn *i)
{
    while (r->slot < r->end) {
        const pl_operand_slot *u = r->slot++;
        r->row = (uint32_t *)(void *)i + u->at;
        if (*r->row == UINT32_MAX) continue;
        if (u->count) {
            r->row = &p->pool.at[i->extra_ops + *r->row];
            r->left = u->count - 1u;
        }
        r->rows = u->rows;
        r->use = u->use;
        return true;
    }
    return next_move(r, p, i);
}

bool pl_interface_next(pl_prog_func *f, pl_interface_iter *o)
{
    while (o->next < f->formal.n + f->result.n) {
        const size_t k = o->next++;
        const bool result = k >= f->formal.n;
        pl_call_move *m = result ? &f->result.at[k - f->formal.n] : &f->formal.at[k];
        if (!m->reg) continue;
        o->row = result ? &m->from : &m->to;
        o->rows = m->bytes > 4 ? 2 : 1;
        o->use = (result ? PL_USE_READ : PL_USE_WRITE) | (m->pred ? PL_USE_PRED : 0);
        return true;
    }
    return false;
}
