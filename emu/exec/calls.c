/* calls.c - calls and returns: frames of registers, predicates and local memory. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "emu/exec/runtime/cuda_builtins.h"
#include "emu/exec/simt_splits.h"

/* Frees the previous array when one grows, unless it is part of the block's storage. */
static void replace_array(pl_warp *w, uint8_t what, void *old)
{
    if (w->grown & what) free(old);
    w->grown |= what;
}

/* Returns a free call node, and in *row and *pred the end of all frames in use. Frames of divergent
 * splits must not overlap, since lane l of a 64-bit row pair is at another location than lane l of
 * a 32-bit row. Returns 0 if out of memory. */
static uint16_t new_node(pl_warp *w, uint32_t *row, uint32_t *pred)
{
    for (uint32_t k = 1; k < w->ncalls; k++) w->call[k].used = false;
    for (unsigned k = 0; k < w->nsplits; k++)
        for (uint16_t c = w->split[k].call; c && !w->call[c].used; c = w->call[c].parent)
            w->call[c].used = true;
    for (uint16_t k = 1; k < w->conv_used; k++)
        for (uint16_t c = w->conv[k].used ? w->conv[k].call : 0; c && !w->call[c].used;
             c = w->call[c].parent)
            w->call[c].used = true;
    uint16_t spare = 0;
    *row = *pred = 0;
    for (uint32_t k = 0; k < w->ncalls; k++) {
        const pl_call_frame *c = &w->call[k];
        if (k && !c->used) {
            spare = spare ? spare : (uint16_t)k;
            continue;
        }
        const pl_prog_func *f = &w->program->funcs.at[c->func];
        *row = c->row + f->rows > *row ? c->row + f->rows : *row;
        *pred = c->pred + f->preds > *pred ? c->pred + f->preds : *pred;
    }
    if (spare) return spare;
    uint32_t n = w->ncalls * 2;
    pl_call_frame *c = n <= 65536 ? calloc(n, sizeof *c) : NULL;
    if (!c) return 0;
    memcpy(c, w->call, w->ncalls * sizeof *c);
    replace_array(w, PL_GROWN_CALL, w->call);
    w->call = c;
    spare = (uint16_t)w->ncalls;
    w->ncalls = n;
    return spare;
}

/* Returns true if the storage of a warp may grow by `bytes`, and counts them. */
static bool may_grow(pl_warp *w, uint64_t bytes)
{
    pl_grid *g = w->grid->head;
    const uint64_t all = __atomic_add_fetch(&g->grown_bytes, bytes, __ATOMIC_RELAXED);
    return !g->limits.memory || all <= g->limits.memory;
}

bool pl_warp_reserve_local(pl_warp *w, uint32_t bytes, uint32_t uncounted)
{
    /* Bounds the depth even of functions that save nothing: `uncounted` counts a 64th. */
    enum { UNCOUNTED = 64 };
    const uint32_t limit = w->grid->stack_limit;
    const bool deep = bytes - uncounted > limit;
    if (deep || bytes / UNCOUNTED > limit) {
        pl_fault(w, w->exec, 0, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "stack overflow: %u bytes of %s needed, the limit is %" PRIu64,
                 deep ? bytes - uncounted : bytes,
                 deep ? "local memory" : "parameters and local memory",
                 deep ? (uint64_t)limit : (uint64_t)limit * UNCOUNTED + UNCOUNTED - 1);
        return false;
    }
    if (bytes <= w->local_bytes) return true;
    uint32_t n = w->local_bytes ? w->local_bytes * 2 : 256;
    while (n < bytes) n *= 2;
    const unsigned lanes = w->halves * PL_LANES;
    uint8_t *p = may_grow(w, (uint64_t)lanes * (n - w->local_bytes)) ? calloc(lanes, n) : NULL;
    if (!p) {
        pl_fault(w, w->exec, 0, "CUDA_ERROR_OUT_OF_MEMORY",
                 "no memory for %u bytes of local memory per thread", n);
        return false;
    }
    for (unsigned l = 0; w->local && l < lanes; l++)
        memcpy(p + (size_t)l * n, w->local + (size_t)l * w->local_bytes, w->local_bytes);
    replace_array(w, PL_GROWN_LOCAL, w->local);
    w->local = p;
    w->local_bytes = n;
    return true;
}

/* Adds zeroed rows to a file with rows of `unit` words for each half. NULL: out of memory. */
static uint32_t *grow_file(uint32_t *file, unsigned halves, uint32_t rows, uint32_t more,
                           size_t unit)
{
    uint32_t *p = aligned_alloc(64, (halves * more * unit * sizeof *p + 63) / 64 * 64);
    for (unsigned h = 0; p && h < halves; h++) {
        memcpy(p + h * more * unit, file + h * rows * unit, rows * unit * sizeof *p);
        memset(p + (h * more + rows) * unit, 0, (more - rows) * unit * sizeof *p);
    }
    return p;
}

/* Makes space for a frame and updates the current frame's pointers. */
static bool grow_files(pl_warp *w, uint32_t rows, uint32_t preds)
{
    if (rows > w->file_rows) {
        uint32_t n = w->file_rows * 2 > rows ? w->file_rows * 2 : rows;
        if (!may_grow(w, (uint64_t)(n - w->file_rows) * w->halves * PL_LANES *
                             sizeof *w->register_file))
            return false;
        uint32_t *p = grow_file(w->register_file, w->halves, w->file_rows, n, PL_LANES);
        if (!p) return false;
        replace_array(w, PL_GROWN_FILE, w->register_file);
        w->register_file = p;
        w->file_rows = n;
    }
    if (preds > w->pred_rows) {
        uint32_t n = w->pred_rows * 2 > preds ? w->pred_rows * 2 : preds;
        uint32_t *p = grow_file(w->predicate_file, w->halves, w->pred_rows, n, 1);
        if (!p) return false;
        replace_array(w, PL_GROWN_PREDS, w->predicate_file);
        w->predicate_file = p;
        w->pred_rows = n;
    }
    return true;
}

/* Fills the constant and special rows of a frame for the executing lanes of the half. */
static void init_frame(pl_warp *w, const pl_prog_func *f, const pl_call_frame *node)
{
    uint32_t *rows = w->register_file + ((size_t)w->half * w->file_rows + node->row) * PL_LANES;
    uint32_t *preds = w->predicate_file + (size_t)w->half * w->pred_rows + node->pred;
    preds[PL_PT] |= w->exec;
    preds[PL_PF] &= ~w->exec;
    for (size_t k = 0; k < f->init.n; k++) {
        const pl_frame_init *r = &f->init.at[k];
        uint64_t v[PL_LANES];
        if (r->sreg)
            pl_warp_sreg(w, (pl_word)r->sreg, r->sel, v);
        else {
            uint64_t bits = r->bits;
            if (r->reloc == PL_RELOC_VAR)
                bits += w->program->vars.at[r->symbol].address;
            else if (r->reloc == PL_RELOC_FRAME)
                bits += node->local;
            else if (r->reloc == PL_RELOC_SHARED)
                bits += w->cta->shared_base + w->cta->shared_start;
            for (unsigned l = 0; l < PL_LANES; l++) v[l] = bits;
        }
        uint32_t *d = rows + (size_t)r->row * PL_LANES;
        uint64_t *d64 = (uint64_t *)(void *)d;
        for (unsigned l = 0; r->width == 64 && l < PL_LANES; l++) {
            uint64_t m = (uint64_t)(int64_t)(int32_t)w->mask[l];
            d64[l] = (v[l] & m) | (d64[l] & ~m);
        }
        for (unsigned l = 0; r->width != 64 && l < PL_LANES; l++)
            d[l] = ((uint32_t)v[l] & w->mask[l]) | (d[l] & ~w->mask[l]);
    }
}

/* Copies arguments or results between two frames for the given lanes of the half. */
static void copy_moves(pl_warp *w, const pl_call_move *from, const pl_call_move *to, uint32_t n,
                       const pl_call_frame *a, const pl_call_frame *b, uint32_t lanes)
{
    uint32_t *file = w->register_file + (size_t)w->half * w->file_rows * PL_LANES,
             *preds = w->predicate_file + (size_t)w->half * w->pred_rows;
    uint8_t *local = w->local ? w->local + (size_t)pl_first_lane(w) * w->local_bytes : NULL;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t bytes = from[k].bytes < to[k].bytes ? from[k].bytes : to[k].bytes;
        if (from[k].pred || to[k].pred) {
            uint32_t *d = &preds[b->pred + to[k].to], s = preds[a->pred + from[k].from];
            *d = (*d & ~lanes) | (s & lanes);
            continue;
        }
        for (unsigned l = 0; l < PL_LANES; l++) {
            if (!((lanes >> l) & 1u)) continue;
            uint8_t *s, *d;
            uint8_t *fa = (uint8_t *)(file + (size_t)(a->row + from[k].from) * PL_LANES);
            uint8_t *fb = (uint8_t *)(file + (size_t)(b->row + to[k].to) * PL_LANES);
            size_t ea = from[k].bytes > 4 ? 8 : 4, eb = to[k].bytes > 4 ? 8 : 4;
            s = from[k].reg ? fa + l * ea
                            : local + (size_t)l * w->local_bytes + a->local + from[k].from;
            d = to[k].reg ? fb + l * eb : local + (size_t)l * w->local_bytes + b->local + to[k].to;
            memcpy(d, s, bytes);
        }
    }
}

void pl_warp_call(pl_warp *w, const pl_insn *i, uint32_t callee, const pl_prog_call *c)
{
    const pl_prog_func *f = &w->program->funcs.at[callee];
    uint16_t parent = w->split[w->current].call;
    uint32_t row, pred;
    if (f->system && w->grid->system) {
        pl_system_call(w, f, c);
        return;
    }
    /* Called through a pointer of another type. */
    if (!f->count || c->nargs != f->formal.n || c->nrets > f->result.n) {
        pl_fault(w, w->exec, 0, "CUDA_ERROR_INVALID_PC",
                 f->count ? "function '%s' does not have the parameters of this call"
                          : "function '%s' has no body",
                 f->name);
        return;
    }
    uint16_t n = new_node(w, &row, &pred);
    pl_call_frame node = {.ret_pc = w->pc + 1,
                          .site = (uint32_t)(i - w->code),
                          .func = callee,
                          .parent = parent,
                          .used = true};
    node.row = (row + 1u) & ~1u;
    node.pred = pred;
    node.local = (w->call[parent].local_top + 15u) & ~15u;
    node.local_top = node.local + f->frame_bytes;
    node.uncounted =
        w->call[parent].uncounted + node.local_top - w->call[parent].local_top - f->local_bytes;
    if (!n || node.row + f->rows > 1u << 22 ||
        !grow_files(w, node.row + f->rows, node.pred + f->preds)) {
        pl_fault(w, w->exec, 0, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "calls are nested too deeply (function '%s')", f->name);
        return;
    }
    if (!pl_warp_reserve_local(w, node.local_top, node.uncounted)) return;
    w->call[n] = node;
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_set_half(w, h);
        pl_warp_set_exec(w, pl_of_half(w, w->all));
        init_frame(w, f, &w->call[n]);
        copy_moves(w, w->program->moves.at + c->first_arg, f->formal.at, c->nargs, &w->call[parent],
                   &w->call[n], w->exec);
    }
    pl_warp_set_half(w, 0);
    w->split[w->current].call = n;
    w->regs = pl_warp_frame(w, &w->split[w->current]);
    w->pred = pl_warp_preds(w, &w->split[w->current]);
    w->next = f->first;
}

void pl_warp_return(pl_warp *w, pl_lanes lanes)
{
    pl_simt_split *s = &w->split[w->current];
    uint16_t n = s->call;
    if (!n) {
        pl_warp_exit(w, lanes);
        return;
    }
    const pl_call_frame node = w->call[n];
    const pl_insn *site = &w->code[node.site];
    const pl_prog_call *c = &w->program->calls.at[site->target];
    const pl_prog_func *f = &w->program->funcs.at[node.func];
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_set_half(w, h);
        copy_moves(w, f->result.at, w->program->moves.at + c->first_ret, c->nrets, &w->call[n],
                   &w->call[node.parent], pl_of_half(w, lanes));
    }
    pl_warp_set_half(w, 0);
    if (lanes != w->active) { /* the other lanes continue in the function */
        pl_warp_diverge(w, lanes, node.ret_pc, w->pc + 1, UINT32_MAX);
        w->split[w->nsplits - 1].call = node.parent;
        return;
    }
    s->call = node.parent;
    w->regs = pl_warp_frame(w, s);
    w->pred = pl_warp_preds(w, s);
    w->next = node.ret_pc;
}
