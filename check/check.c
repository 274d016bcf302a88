/* check.c - opening a checker, and binding it to a launch. See check.h. */
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

#include "check/internal.h"

static bool block_starts(const pl_hooks *h, pl_cta *c)
{
    pl_check *k = (pl_check *)(uintptr_t)h;
    const unsigned units = c->nwarps * (c->grid->width / PL_LANES);
    check_block *b = calloc(1, sizeof *b + units * sizeof *b->unit);
    if (!b) return false;
    if (c->check) k->hooks.block_freed(c); /* of the block that used the storage before */
    b->number = (uint32_t)c->number;
    b->units = units;
    b->shadow.small = true;
    c->check = b;
    pl_order_block_starts(k, c, b);
    if (k->tools & PL_CHECK_INIT && !pl_init_block_starts(k, c)) return false;
    return b->cluster != NULL;
}

/* State of its shared memory that other blocks may still query is retained until then. */
static void block_freed(pl_cta *c)
{
    check_block *b = c->check;
    if (!b) return;
    pl_order_block_ends((pl_check *)(uintptr_t)c->grid->hooks, b);
    for (unsigned n = 0; n < b->units; n++) {
        pl_traced_free(b->unit[n].traced);
        pl_products_free(b->unit[n].products);
    }
    pl_validity_free(&b->validity);
    pl_shadow_free(&b->shadow);
    pl_contexts_free(&b->contexts);
    free(b);
    c->check = NULL;
}

static void block_ends(const pl_hooks *h, pl_cta *c)
{
    pl_check *k = (pl_check *)(uintptr_t)h;
    if (k->tools & PL_CHECK_RACE) pl_race_block_ends(k, c);
}

/* free happens before the malloc that returns the same block. */
static void allocates(const pl_hooks *h, uint64_t address, uint64_t bytes)
{
    pl_check *k = (pl_check *)(uintptr_t)h;
    pl_shadow_clear(&k->shadow, address - k->base, (bytes + 3) & ~UINT64_C(3));
}

static void async_starts(const pl_hooks *h, pl_warp *w, const pl_async_op *o)
{
    const pl_check *k = (const pl_check *)(const void *)h;
    const unsigned tools = k->tools;
    if (k->watch.inner) pl_watch_copy(w, o);
    if (tools & PL_CHECK_RACE) pl_race_copy(w, o);
    if (tools & PL_CHECK_INIT) pl_init_copy(w, o);
}

pl_check *pl_check_open(unsigned tools, pl_undefined *undefined)
{
    pl_check *k = calloc(1, sizeof *k);
    if (!k) return NULL;
    k->undefined = undefined ? undefined : &k->own_undefined;
    k->user = pl_undefined_add_user(k->undefined, k);
    if (!k->user) {
        pl_check_close(k);
        return NULL;
    }
    k->tools = tools;
    k->hooks = (pl_hooks){.block_starts = block_starts,
                          .block_ends = block_ends,
                          .block_freed = block_freed,
                          .async_starts = async_starts,
                          .multiplies = pl_check_product,
                          .texel = pl_check_texel,
                          .prints = pl_init_print,
                          .allocates = allocates,
                          .skips = pl_init_skips,
                          .continues_without = pl_sync_divergent_barrier,
                          .excluded_by_mask = pl_sync_mask_mismatch,
                          .faults = pl_mem_fault};
    pl_order_hooks(&k->hooks);
    return k;
}

void pl_check_close(pl_check *k)
{
    if (!k) return;
    pl_undefined_remove_user(k->undefined, k->user);
    pl_undefined_free(&k->own_undefined);
    pl_initcheck_free(k);
    pl_check_launches_end(k);
    free(k->findings.at);
    free(k->accessed.at);
    free(k->early.at);
    free(k);
}

/* Marks the instructions between a backward branch and its target as part of a loop. */
static void find_loops(pl_check *k)
{
    const pl_program *p = k->program;
    size_t start = SIZE_MAX; /* of the loops that end after n */
    for (size_t n = p->code.n; n-- > 0;) {
        const pl_insn *i = &p->code.at[n];
        if (pl_form_mnem[i->form] == M_bra && i->target <= n && i->target < start)
            start = i->target;
        k->insn[n].in_loop = n >= start;
        if (n <= start) start = SIZE_MAX;
    }
}

bool pl_check_begin(pl_check *k, pl_program *p, pl_grid *head, uint64_t seed)
{
    k->insn = calloc(p->code.n ? p->code.n : 1, sizeof *k->insn);
    if (!k->insn) return false;
    k->program = p;
    k->head = head;
    k->base = k->undefined->shared ? k->undefined->base
              : head->memory->base ? head->memory->base
                                   : PL_GLOBAL_BASE;
    k->own_undefined.base = k->base;
    k->own_undefined.bytes = PL_CHECK_SPAN;
    k->seed = seed;
    if (!head->ticket) pl_check_launches_end(k);
    if (!head->ticket) k->time = 1;
    pl_device_launch_begins(k, head);
    k->no_memory = k->launched_dependents = k->launched_early = false;
    for (size_t n = 0; n < p->code.n; n++) {
        pl_insn *i = &p->code.at[n];
        check_insn *x = &k->insn[n];
        x->plain = i->exec;
        if (!i->exec) continue;
        if (k->tools & (PL_CHECK_RACE | PL_CHECK_SYNC)) x->wrapper = pl_order_wrapper(k, i, x);
        if (!x->wrapper && k->tools & PL_CHECK_SYNC) x->wrapper = pl_sync_wrapper(i);
        if (!x->wrapper && k->tools & PL_CHECK_RACE) x->wrapper = pl_race_wrapper(k, i, x);
        if (!x->wrapper && k->tools & PL_CHECK_MEM) x->wrapper = pl_mem_wrapper(i, x);
        if (x->wrapper) i->exec = x->wrapper;
    }
    if (!pl_accumulators_begin(k)) return false;
    find_loops(k);
    for (pl_grid *g = head; g; g = g->next) g->hooks = &k->hooks;
    return (!(k->tools & PL_CHECK_INIT) || pl_initcheck_begin(k)) && pl_watch_begin(k);
}

/* The state of global memory of a launch, and of those that it has launched, is no longer needed.
 */
static void end_family(pl_check *k)
{
    pl_accessed_collect(k);
    pl_shadow_free(&k->shadow);
    pl_contexts_free(&k->contexts);
    pl_order_end(k);
    pl_device_launches_end(k);
}

bool pl_check_end(pl_check *k, bool has_launched)
{
    for (size_t n = 0; n < k->program->code.n; n++) k->program->code.at[n].exec = k->insn[n].plain;
    if (k->tools & PL_CHECK_INIT) pl_initcheck_end(k);
    pl_watch_end(k);
    pl_accumulators_end(k);
    for (pl_grid *g = k->head; g; g = g->next) g->hooks = NULL;
    free(k->insn);
    k->insn = NULL;
    if (has_launched)
        for (pl_grid *g = k->head; g; g = g->next) pl_device_launch_keep(k, g);
    k->launches.retains |= has_launched;
    if (!k->launches.retains) end_family(k);
    return !k->no_memory;
}

void pl_check_launches_end(pl_check *k)
{
    if (k->launches.retains) end_family(k);
}

size_t pl_check_count(const pl_check *k)
{
    return k->findings.n;
}

const pl_check_finding *pl_check_at(const pl_check *k, size_t n)
{
    return &k->findings.at[n];
}
