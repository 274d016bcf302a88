/* shared_base_reassoc.c - reassociation of shared memory addresses: variables are addressed from a
 * common base.
 *
 * The address of an element is the start of its variable plus an offset, which the variables of a
 * kernel often have in common, for example rows of two tiles. If the address is used only in
 * accesses, the displacement of the variable from the start of the block's shared memory moves into
 * the access. Equal offsets become one register (pl_pass_gvn), as in the code of ptxas 13.0. */
#include "compiler/passes.h"

/* The part of the 24-bit offset available to accesses; the rest is for variables. */
enum { MAX_OFFSET = 1 << 22 };

typedef struct base_reassoc {
    pl_ir *x;
    uint32_t *relocatable_uses; /* by row: uses for which the base can be changed */
    int64_t *offset;            /* by row: the displacement to add to its value */
    /* Row that holds the start of the block's shared memory, PL_IR_NONE: not yet known. */
    uint32_t start;
} base_reassoc;

/* The frame initialiser of a variable's address, NULL if the row does not hold one. */
static const pl_frame_init *variable(const pl_ir *x, uint32_t row)
{
    if (row >= x->f->rows || x->kind.at[row] != PL_REG_PRESET) return NULL;
    const pl_frame_init *i = &x->f->init.at[x->init.at[row]];
    return i->reloc == PL_RELOC_SHARED && i->width == 32 && !i->sreg ? i : NULL;
}

/* The address operand of a shared memory access, plus one; 0: none. */
static unsigned address_of(const pl_insn *i)
{
    if (i->form == PL_IR_DEAD || !(i->flags & PL_IF_MEM) || i->sel[PL_M_SPACE] != PL_SP_SHARED ||
        !(i->sel[PL_M_FLAGS] & PL_MF_ADDR32) || i->imm < -MAX_OFFSET || i->imm >= MAX_OFFSET)
        return 0;
    return pl_insn_address(i);
}

/* For a sum whose result is a value: the number of operands that are summands; *first is the first
 * of them. 0: it is not a sum. */
static unsigned count_summands(const pl_ir *x, const pl_insn *i, unsigned *first)
{
    uint16_t m = pl_insn_mnem(i);
    pl_word t = pl_insn_type(i);
    char kind = pl_type_kind(t);
    if ((m != M_add && m != M_mad && m != M__lea && m != M__iadd3) || i->guard != PL_PT ||
        pl_type_bits(t) != 32 || t == W_u16x2 || t == W_s16x2 ||
        (kind != 'u' && kind != 's' && kind != 'b') || pl_insn_has(i, W_sat) ||
        pl_insn_has(i, W_cc) || !pl_insn_pure(i) || (m == M_mad && !pl_insn_has(i, W_lo)) ||
        x->regs[i->op[0]].ndefs != 1 || x->regs[i->op[0]].precolored)
        return 0;
    *first = m == M_mad || m == M__lea ? 3 : 1;
    return m == M_add ? 2 : m == M__iadd3 ? 3 : 1;
}

static bool is_relocatable(const base_reassoc *b, uint32_t row)
{
    return b->relocatable_uses[row] && b->relocatable_uses[row] == b->x->regs[row].nuses;
}

static void count_relocatable_uses(base_reassoc *b, const pl_insn *i)
{
    unsigned first = 0, n = count_summands(b->x, i, &first), address = address_of(i);
    if (address) b->relocatable_uses[i->op[address - 1]]++;
    if (n && is_relocatable(b, i->op[0]))
        for (unsigned k = first; k < first + n; k++) b->relocatable_uses[i->op[k]]++;
}

static void rebase(base_reassoc *b, pl_insn *i)
{
    unsigned first = 0, n = count_summands(b->x, i, &first), address = address_of(i);
    if (address) i->imm += b->offset[i->op[address - 1]];
    if (!n || !is_relocatable(b, i->op[0])) return;
    for (unsigned k = first; k < first + n; k++) {
        const pl_frame_init *v = variable(b->x, i->op[k]);
        b->offset[i->op[0]] += v ? (int64_t)v->bits : b->offset[i->op[k]];
        if (v && v->bits) i->op[k] = b->start;
    }
}

/* The row that holds the start of the block's shared memory; created if needed. */
static uint32_t shared_memory_base(pl_ir *x)
{
    pl_prog_func *f = x->f;
    for (size_t k = 0; k < f->init.n; k++) {
        const pl_frame_init *v = variable(x, f->init.at[k].row);
        if (v && !v->bits) return v->row;
    }
    uint32_t row = pl_ir_new(x, 1);
    if (!pl_ir_ok(x)) return row;
    x->kind.at[row] = PL_REG_PRESET;
    x->init.at[row] = (uint32_t)f->init.n;
    *pl_push(x->p->arena, &f->init) =
        (pl_frame_init){.row = row, .width = 32, .reloc = PL_RELOC_SHARED};
    return row;
}

bool pl_pass_shared_base_reassoc(pl_ir *x)
{
    bool any = false;
    for (size_t k = 0; k < x->f->init.n && !any; k++) {
        const pl_frame_init *v = variable(x, x->f->init.at[k].row);
        any = v && v->bits;
    }
    if (!any) return true;
    base_reassoc b = {.x = x, .start = shared_memory_base(x)};
    if (!pl_ir_analyze(x)) return false;
    b.relocatable_uses = pl_arena_array(x->tmp, uint32_t, x->f->rows);
    b.offset = pl_arena_array(x->tmp, int64_t, x->f->rows);
    if (!pl_ir_ok(x)) return false;
    for (uint32_t j = x->nrpo; j-- > 0;)
        for (size_t k = x->blocks.at[x->rpo[j]].code.n; k-- > 0;)
            count_relocatable_uses(&b, &x->blocks.at[x->rpo[j]].code.at[k]);
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++)
            rebase(&b, &x->blocks.at[x->rpo[j]].code.at[k]);
    return true;
}
