/* sync.c - misuse of barriers, masks, shuffles and mbarriers with which the launch may continue.
 * Errors that end a launch are reported by the plain functions (mem.c is notified of them). */
#include <stdio.h>
#include <string.h>

#include "check/internal.h"
#include "emu/exec/memory/address.h"

/* True if the code at pc only ends the thread. */
static bool only_exits(const pl_program *p, uint32_t pc)
{
    for (uint32_t steps = 0; pc < p->code.n && steps < 8; steps++) {
        const pl_insn *i = &p->code.at[pc];
        const int m = pl_forms[i->form].mnem;
        if (m == M_ret || m == M_exit) return true;
        if (m == M_bra && i->guard == PL_PT)
            pc = i->target;
        else if (m == M__bsync)
            pc++;
        else
            return false;
    }
    return false;
}

/* True if lanes for which the guard at pc is false execute code after it other than an exit. */
static bool executes_after(const pl_program *p, uint32_t pc)
{
    const pl_insn *barrier = &p->code.at[pc];
    for (const pl_insn *i = barrier + 1; i < p->code.at + p->code.n; i++) {
        const pl_form *f = &pl_forms[i->form];
        if (i->guard == barrier->guard && !((i->flags ^ barrier->flags) & PL_IF_GUARD_NEG))
            continue;
        if (f->mnem == M_ret || f->mnem == M_exit) return false;
        if ((i->flags & (PL_IF_MEM | PL_IF_CONTROL)) || (f->effects & PL_EF_BRANCH)) return true;
    }
    return false;
}

static void report_divergent_barrier(pl_check *k, pl_warp *w, unsigned lane)
{
    pl_check_finding *f =
        pl_finding_at(k, w, PL_FK_SYNC_DIVERGENT, lane,
                      "waits at a __syncthreads() that other threads of its warp skip");
    if (f) f->space = PL_SP_SHARED;
}

void pl_sync_divergent_barrier(const pl_hooks *h, pl_warp *w, uint32_t reconverge_pc,
                               uint32_t barrier, pl_lanes waiting)
{
    pl_check *k = (pl_check *)(uintptr_t)h;
    const uint32_t pc = w->pc;
    const unsigned half = w->half;
    if (!(k->tools & PL_CHECK_SYNC) || only_exits(k->program, reconverge_pc)) return;
    const unsigned lane = (unsigned)__builtin_ctzll(waiting);
    pl_warp_set_half(w, lane / PL_LANES);
    w->pc = barrier;
    report_divergent_barrier(k, w, lane % PL_LANES);
    w->pc = pc;
    pl_warp_set_half(w, half);
}

/* Threads of a block that wait at __syncthreads() of different lines. */
void pl_sync_arrives(pl_check *k, pl_warp *w, const pl_arrival *a)
{
    check_barrier *b = barrier_of(k, block_of(w->cta), a->id);
    const uint32_t line = w->code[w->pc].line + 1;
    const uint32_t off = pl_of_half(w, w->active & ~w->all);
    if (off && pl_bar_is_aligned(&w->code[w->pc]) && executes_after(k->program, w->pc))
        report_divergent_barrier(k, w, (unsigned)__builtin_ctz(pl_of_half(w, w->all) | 1u << 31));
    if (!b) return;
    if (!b->line) b->line = line;
    if (a->id || a->threads || !a->wait || a->reduces || line == b->line) return;
    const uint32_t lanes = pl_of_half(w, a->lanes);
    pl_check_finding *f = pl_finding_at(
        k, w, PL_FK_SYNC_DIVERGENT, lanes ? (unsigned)__builtin_ctz(lanes) : 0,
        "waits at a __syncthreads() while other threads of its block wait at another one");
    if (f) f->space = PL_SP_SHARED;
}

bool pl_sync_mask_mismatch(const pl_hooks *h, pl_warp *w, uint32_t lanes, uint32_t mask)
{
    pl_check *k = (pl_check *)(uintptr_t)h;
    const unsigned l = (unsigned)__builtin_ctz(lanes);
    char text[160];
    if (!(k->tools & PL_CHECK_SYNC)) return false;
    snprintf(text, sizeof text,
             "lane %u executes %s with the mask 0x%08x, which does not include it",
             pl_first_lane(w) + l, pl_mnems[pl_forms[w->code[w->pc].form].mnem].name, mask);
    pl_finding_at(k, w, PL_FK_SYNC_MASK, l, text);
    return true;
}

unsigned pl_shuffle_source(const pl_insn *i, unsigned l, uint32_t b, uint32_t c)
{
    const int mode = pl_insn_has(i, W_up)     ? W_up
                     : pl_insn_has(i, W_down) ? W_down
                     : pl_insn_has(i, W_bfly) ? W_bfly
                                              : W_idx;
    const uint32_t n = b & 31u, clamp = c & 31u, seg = (c >> 8) & 31u,
                   max = (l & seg) | (clamp & ~seg), min = l & seg;
    const uint32_t j = mode == W_up     ? l - n
                       : mode == W_down ? l + n
                       : mode == W_bfly ? l ^ n
                                        : min | (n & ~seg);
    const bool in = mode == W_up ? (int32_t)j >= (int32_t)max : (int32_t)j <= (int32_t)max;
    return in ? j & 31u : l;
}

static void shuffle_sources(pl_check *k, pl_warp *w, const pl_insn *i, const uint32_t *b,
                            const uint32_t *c, uint32_t exec)
{
    for (uint32_t m = exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m), from = pl_shuffle_source(i, l, b[l], c[l]);
        char text[160];
        if (exec >> from & 1u) continue;
        snprintf(text, sizeof text,
                 "lane %u shuffles the value of lane %u, which does not take part%s",
                 pl_first_lane(w) + l, pl_first_lane(w) + from,
                 pl_alive(w) >> from & 1u ? "" : ": it has exited");
        pl_finding_at(k, w, PL_FK_SYNC_SHUFFLE, l, text);
    }
}

static void shuffle(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    uint32_t b[PL_LANES], c[PL_LANES];
    const uint32_t exec = w->exec, pc = w->pc;
    const unsigned splits = w->nsplits;
    memcpy(b, pl_row32(w, i->op[3]), sizeof b);
    memcpy(c, pl_row32(w, i->op[4]), sizeof c);
    check_insn_of(k, w, i)->plain(w, i);
    if (w->stop || w->next != pc + 1 || w->nsplits != splits || w->exec != exec) return;
    shuffle_sources(k, w, i, b, c, exec);
}

static void report_mbarrier(pl_check *k, pl_warp *w, unsigned lane, uint64_t address,
                            const char *what)
{
    char text[160];
    snprintf(text, sizeof text, "the mbarrier at shared address 0x%llx is %s",
             (unsigned long long)address, what);
    pl_check_finding *f = pl_finding_at(k, w, PL_FK_SYNC_MBARRIER, lane, text);
    if (f) f->space = PL_SP_SHARED;
}

/* A warp arrives as a whole: if it has more arrivals than the phase still lacks, the launch fails
 * (H100, 2026-11). */
static void check_arrivals(pl_check *k, pl_warp *w, const pl_insn *i, uint32_t lanes,
                           const place *at)
{
    const bool arrives = pl_insn_has(i, W_arrive) || pl_insn_has(i, W_arrive_drop);
    if (!arrives || pl_forms[i->form].mnem != M_mbarrier) return;
    const bool counted = i->op[2] != PL_NO_OPERAND && !pl_insn_has(i, W_expect_tx);
    const uint32_t lacks = pl_mbar_read(at->bytes).pending;
    uint64_t arrivals = 0;
    for (uint32_t m = lanes; m; m &= m - 1)
        arrivals += counted ? pl_row32(w, i->op[2])[__builtin_ctz(m)] : 1;
    if (arrivals <= lacks || arrivals == 1) return;
    char text[100];
    snprintf(text, sizeof text, "given %llu arrivals at once, of which its phase lacks %u",
             (unsigned long long)arrivals, lacks);
    report_mbarrier(k, w, (unsigned)__builtin_ctz(lanes), at->address, text);
}

void pl_sync_mbarrier(pl_warp *w, const pl_insn *i, unsigned lane, uint32_t lanes, const place *at,
                      sync_object *o)
{
    pl_check *k = check_of(w);
    const bool init = pl_insn_has(i, W_init), inval = pl_insn_has(i, W_inval);
    const char *wrong = init && o->initialised ? "initialised again without mbarrier.inval"
                        : init || inval        ? NULL
                        : o->initialised       ? NULL
                        : o->invalidated       ? "used after mbarrier.inval"
                                               : "used without mbarrier.init";
    if (init || inval) {
        o->initialised = init;
        o->invalidated = inval;
    }
    if (!(k->tools & PL_CHECK_SYNC)) return;
    if (wrong)
        report_mbarrier(k, w, lane, at->address, wrong);
    else if (!init && !inval)
        check_arrivals(k, w, i, lanes, at);
}

void pl_sync_overwrites(pl_check *k, pl_warp *w, unsigned lane, const place *p, unsigned bytes)
{
    check_block *b = p->owner;
    const uint64_t end = p->address + bytes;
    if (!(k->tools & PL_CHECK_SYNC)) return;
    for (uint64_t at = p->address & ~7ull; at < end; at += 8) {
        const sync_place *s = pl_sync_find(&b->places, at);
        const sync_state *of = s ? pl_sync_state(&b->places, s) : NULL;
        if (!of || !of->object || !of->object->initialised) continue;
        report_mbarrier(k, w, lane, at, "overwritten with data without mbarrier.inval");
    }
}

pl_exec_fn *pl_sync_wrapper(const pl_insn *i)
{
    const uint32_t mask = pl_member_mask_operand(i);
    return pl_forms[i->form].mnem == M_shfl && mask != UINT32_MAX && i->op[mask] != PL_NO_OPERAND
               ? shuffle
               : NULL;
}
