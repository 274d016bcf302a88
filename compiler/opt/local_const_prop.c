/* local_const_prop.c - constant propagation within a block, for registers that are written several
 * times. */
#include "compiler/opt/gvn.h"

#include <string.h>

typedef struct known_constant {
    pl_ir *x;
    uint32_t *constant,
        *block; /* by row: the number that it holds, and the block, plus one, where that is known */
    uint32_t now;
    bool copy; /* special registers are copied only */
    bool any;
} known_constant;

/* ---- numbers in variables ---- */

static void forget(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    known_constant *h = ctx;
    for (unsigned k = 0; !(use & PL_USE_PRED) && k < rows; k++) h->block[*row + k] = 0;
}

static void read_number(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    known_constant *h = ctx;
    uint64_t number;
    if ((use & (PL_USE_PRED | PL_USE_WRITE)) || h->block[*row] != h->now ||
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
        h.now = b + 1;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            h.copy = pl_insn_mnem(i) == M_mov && pl_gvn_is_copy(i);
            if (pl_insn_pure(i)) pl_insn_reads_here(x->p, i, read_number, &h);
            pl_insn_writes_here(x->p, i, forget, &h);
            if (!h.copy || x->regs[i->op[1]].kind != PL_REG_PRESET) continue;
            h.constant[i->op[0]] = i->op[1];
            h.block[i->op[0]] = h.now;
        }
    }
    if (!h.any) pl_ir_preserve_all(x);
    return true;
}
