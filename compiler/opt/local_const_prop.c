/* local_const_prop.c - constant propagation within a block, for registers with several writes. */
#include "compiler/opt/gvn.h"

#include <string.h>

typedef struct known_constant {
    pl_ir *x;
    /* By row: the row of the constant that it holds, and the block, plus one, in which that
     * holds. */
    uint32_t *constant, *block;
    uint32_t current;
    bool copy; /* the instruction is a copy: special registers are propagated into copies only */
    bool any;
} known_constant;

/* ---- constants in variables ---- */

static void read_constant(known_constant *h, uint32_t *row, unsigned rows, unsigned use)
{
    uint64_t number;
    if ((use & (PL_USE_PRED | PL_USE_WRITE)) || h->block[*row] != h->current ||
        h->x->regs[*row].width != rows ||
        !(h->copy || pl_ir_constant_value(h->x, h->constant[*row], &number)))
        return;
    *row = h->constant[*row];
    h->any = true;
}

bool pl_pass_local_const_prop(pl_ir *x)
{
    known_constant h = {.x = x,
                        .constant = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4),
                        .block = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4)};
    if (!h.constant || !h.block || !pl_pass_merge_blocks(x) || !pl_ir_analyze(x)) return false;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        h.current = b + 1;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            h.copy = pl_insn_mnem(i) == M_mov && pl_gvn_is_copy(i);
            if (pl_insn_pure(i))
                PL_FOR_EACH_READ(x->p, i, o) read_constant(&h, o.row, o.rows, o.use);
            PL_FOR_EACH_WRITE(x->p, i, o)
                for (unsigned r = 0; !(o.use & PL_USE_PRED) && r < o.rows; r++)
                    h.block[*o.row + r] = 0;
            if (!h.copy || x->regs[i->op[1]].kind != PL_REG_PRESET) continue;
            h.constant[i->op[0]] = i->op[1];
            h.block[i->op[0]] = h.current;
        }
    }
    if (!h.any) pl_ir_preserve_all(x);
    return true;
}
