/* op_misc.c - sleeping, and instructions that only affect timing. */
#include "emu/exec/memory/address.h"

void exec_nop(pl_warp *w, const pl_insn *i)
{
    (void)w;
    (void)i;
}

void exec_nanosleep(pl_warp *w, const pl_insn *i)
{
    uint32_t ns = pl_row32(w, i->op[0])[__builtin_ctz(w->exec)];
    if (ns > 1000000) ns = 1000000; /* the manual's limit: one millisecond */
    if (w->all != w->active) {
        w->yield = true;
        return;
    }
    w->split[w->current].wake = w->clock + 2ull * ns; /* about two cycles per nanosecond */
    pl_warp_wait(w, PL_SPLIT_SLEEP);
}

void exec_griddepcontrol(pl_warp *w, const pl_insn *i)
{
    if (i->mods[0] == W_wait)
        pl_grid_wait(w);
    else
        pl_grid_launch_dependents(w);
}

void exec_setmaxnreg(pl_warp *w, const pl_insn *i)
{
    pl_warp_set_registers(w, (uint32_t)i->imm, i->mods[0] == W_inc);
}

/* Without a timing model a loop that waits for the clock to reach a value would execute an
 * instruction per cycle. The clock is therefore accelerated progressively while it is read
 * repeatedly. */
static void accelerate_clock(pl_warp *w)
{
    enum { MAX_GAP = 256, FREE_READS = 16, READS_PER_DOUBLING = 2, MAX_SHIFT = 20 };
    w->clock_reads = w->clock - w->clock_read <= MAX_GAP ? w->clock_reads + 1 : 0;
    if (w->clock_reads > FREE_READS) {
        const uint32_t shift = (w->clock_reads - FREE_READS) / READS_PER_DOUBLING;
        w->clock += UINT64_C(1) << (shift < MAX_SHIFT ? shift : MAX_SHIFT);
    }
    w->clock_read = w->clock;
}

/* %clock and related registers; `which` is the word of the special register. */
void exec_sreg(pl_warp *w, const pl_insn *i, int type)
{
    uint64_t v[PL_LANES];
    if (i->op[1] != W_smid) w->uses_clock = true;
    if (i->op[1] != W_smid && !w->grid->has_timing_model) accelerate_clock(w);
    pl_warp_sreg(w, (pl_word)i->op[1], 0, v);
    if (type == W_u64) {
        pl_blend64(w, pl_row64(w, i->op[0]), v);
        return;
    }
    uint32_t t[PL_LANES];
    for (unsigned l = 0; l < PL_LANES; l++) t[l] = (uint32_t)v[l];
    pl_blend32(w, pl_row32(w, i->op[0]), t);
}
