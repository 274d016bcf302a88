/* memoize.c - launches that repeat an earlier one on the same memory are not executed again.
 *
 * Benchmarks launch a kernel hundreds of times with the same arguments. The effects of a kernel
 * depend on its arguments, its textures and surfaces, and on the memory that it accesses, unless it
 * makes system calls or reads a clock; such kernels are excluded.
 *
 * The first launch records which allocations the kernel accesses. The second saves their contents
 * before and after it. Each later one compares the contents with those before, byte by byte. If
 * they are equal, it copies those after. Launches whose memory changes each time are abandoned, and
 * so are old ones when memory for the copies of others is lacking. */
#include <stdlib.h>
#include <string.h>

#include "emu/exec/exec.h"
#include "isa/program/insn_query.h"
#include "lib/internal.h"

enum {
    ENTRIES = 64,              /* remembered launches */
    MIN_INSTRUCTIONS = 100000, /* warp instructions: a launch with fewer takes a few milliseconds */
    MAX_BYTES_PER_INSN =
        64, /* of memory per instruction: comparing more takes as long as executing */
    MAX_MISSES =
        2, /* after this many launches with different memory contents an entry is abandoned */
    MAX_SAVED_BYTES = 512 << 20 /* bytes of saved contents */
};

/* An allocation that the kernel accesses. */
typedef struct memo_region {
    uint64_t address, size;
    uint8_t *before, *after; /* owned; after NULL: unchanged */
} memo_region;

typedef enum memo_state { SEEN, KNOWN, ABANDONED } memo_state;

/* Identity of a launch; compared as bytes, so it has no padding. */
typedef struct memo_key {
    const pl_module *module;
    const pl_prog_func *entry;
    uint32_t grid[3], block[3], cluster[3], dynamic_shared, stack_limit;
    uint32_t flags;   /* MEMO_COOPERATIVE, ... */
    uint64_t objects; /* number of changes to textures and surfaces */
    int64_t async_mode;
} memo_key;

enum { MEMO_COOPERATIVE = 1, MEMO_SIMT_STACK = 2, MEMO_COUNTED = 4 };

typedef struct memo_entry {
    memo_key key;
    uint8_t *params;
    memo_state state;
    unsigned misses;
    uint64_t used; /* number of the latest launch */
    memo_region *region;
    size_t nregions, bytes;
    /* results */
    uint64_t executed, lane_executed, longest_warp;
    pl_pc_stat *stat;
} memo_entry;

struct pl_memo {
    memo_entry entry[ENTRIES];
    size_t n, bytes; /* bytes: of all copies */
    uint64_t launches;
    /* State of the current launch. current: the entry whose contents are being saved. first: it is
     * the first launch with this key. */
    memo_entry *current;
    bool first;
};

/* ---- which kernels ---- */

/* True for special registers that differ between otherwise identical launches. */
static bool is_launch_specific(pl_word sreg)
{
    return sreg == W_gridid || sreg == W_current_graph_exec || sreg == W_globaltimer ||
           sreg == W_globaltimer_lo || sreg == W_globaltimer_hi;
}

/* True if the instruction depends on more than registers, textures and memory. */
static bool has_other_inputs(const pl_program *p, const pl_insn *i)
{
    if (pl_insn_names_sreg(i)) return is_launch_specific((pl_word)i->op[1]);
    if (!(pl_insn_effects(i) & PL_EF_CALL)) return false;
    const uint32_t callee = pl_insn_callee(p, i);
    return callee >= p->funcs.n || p->funcs.at[callee].system;
}

/* True if function f and its callees depend on memory only. visited: by function. */
static bool depends_only_on_memory(const pl_program *p, size_t f, uint8_t *visited)
{
    uint32_t *todo = malloc(p->funcs.n * sizeof *todo);
    size_t n = 0;
    bool ok = todo != NULL;
    if (ok) todo[n++] = (uint32_t)f;
    visited[f] = 1;
    while (ok && n) {
        const pl_prog_func *x = &p->funcs.at[todo[--n]];
        for (size_t k = 0; k < x->init.n; k++)
            ok &= !x->init.at[k].sreg || !is_launch_specific((pl_word)x->init.at[k].sreg);
        for (size_t pc = x->first; ok && pc < x->first + (size_t)x->count; pc++) {
            const pl_insn *i = &p->code.at[pc];
            ok = !has_other_inputs(p, i);
            if (!ok || !(pl_insn_effects(i) & PL_EF_CALL)) continue;
            const uint32_t callee = pl_insn_callee(p, i);
            if (!visited[callee]) todo[n++] = callee;
            visited[callee] = 1;
        }
    }
    free(todo);
    return ok;
}

/* The result is cached by function: 0 unknown, 1 yes, 2 no. */
static bool is_repeatable(pl_module *m, const pl_prog_func *f)
{
    const pl_program *p = m->program;
    const size_t k = (size_t)(f - p->funcs.at);
    if (!m->repeatable) m->repeatable = calloc(p->funcs.n, 1);
    if (!m->repeatable) return false;
    if (!m->repeatable[k]) {
        uint8_t *visited = calloc(p->funcs.n, 1);
        m->repeatable[k] = visited && depends_only_on_memory(p, k, visited) ? 1 : 2;
        free(visited);
    }
    return m->repeatable[k] == 1;
}

/* ---- entries ---- */

static void free_copies(pl_memo *o, memo_entry *e)
{
    for (size_t k = 0; k < e->nregions; k++) {
        free(e->region[k].before);
        free(e->region[k].after);
        e->region[k].before = e->region[k].after = NULL;
    }
    o->bytes -= e->bytes;
    e->bytes = 0;
}

static void abandon(pl_memo *o, memo_entry *e)
{
    free_copies(o, e);
    e->state = ABANDONED;
}

static void remove_entry(pl_memo *o, memo_entry *e)
{
    free_copies(o, e);
    free(e->region);
    free(e->params);
    free(e->stat);
    *e = o->entry[--o->n];
}

void pl_memo_forget(pl_gpu *gpu, const pl_module *m)
{
    pl_memo *o = gpu->memo;
    for (size_t k = o ? o->n : 0; k-- > 0;)
        if (!m || o->entry[k].key.module == m) remove_entry(o, &o->entry[k]);
    if (m) return;
    free(o);
    gpu->memo = NULL;
}

static memo_key key_of(const pl_module *m, const pl_grid *g)
{
    memo_key k = {.module = m, .entry = g->entry};
    memcpy(k.grid, g->grid, sizeof k.grid);
    memcpy(k.block, g->block, sizeof k.block);
    memcpy(k.cluster, g->cluster, sizeof k.cluster);
    k.dynamic_shared = g->dynamic_shared;
    k.stack_limit = g->stack_limit;
    k.objects = g->objects->changes;
    k.async_mode = g->async_mode;
    k.flags = (g->cooperative ? MEMO_COOPERATIVE : 0) | (g->simt_stack ? MEMO_SIMT_STACK : 0) |
              (g->pc_stat ? MEMO_COUNTED : 0);
    return k;
}

static memo_entry *find_exactly(pl_memo *o, const memo_key *key, const uint8_t *params)
{
    for (size_t k = 0; k < o->n; k++) {
        memo_entry *e = &o->entry[k];
        if (memcmp(&e->key, key, sizeof *key) == 0 &&
            (!key->entry->param_bytes || memcmp(e->params, params, key->entry->param_bytes) == 0))
            return e;
    }
    return NULL;
}

/* A launch without counts can repeat one with counts. */
static memo_entry *find(pl_memo *o, const memo_key *key, const uint8_t *params)
{
    memo_entry *e = find_exactly(o, key, params);
    if (e || key->flags & MEMO_COUNTED) return e;
    memo_key counted = *key;
    counted.flags |= MEMO_COUNTED;
    return find_exactly(o, &counted, params);
}

/* Returns a free entry, if necessary that of the least recently repeated launch. */
static memo_entry *new_entry(pl_memo *o)
{
    if (o->n == ENTRIES) {
        memo_entry *oldest = o->entry;
        for (size_t k = 1; k < o->n; k++)
            if (o->entry[k].used < oldest->used) oldest = &o->entry[k];
        remove_entry(o, oldest);
    }
    memo_entry *e = &o->entry[o->n];
    *e = (memo_entry){.used = o->launches};
    return e;
}

/* ---- regions ---- */

static bool touched(const pl_grid *g, const pl_alloc *a)
{
    const pl_bank *bank = &g->program->bank;
    return a->touched || (bank->size && a->address == bank->address);
}

/* Collects the regions that the launch has accessed, by address. False: a region cannot be
 * compared, or they are too large. */
static bool collect_regions(const pl_grid *g, memo_entry *e)
{
    const pl_memory *m = g->memory;
    uint64_t bytes = 0;
    size_t n = 0;
    for (size_t k = 0; k < m->n; k++) {
        const pl_alloc *a = &m->alloc[k];
        if (!touched(g, a)) continue;
        if (a->valid || a->size > MAX_SAVED_BYTES / 2 || (bytes += a->size) > MAX_SAVED_BYTES / 2)
            return false;
        n++;
    }
    if (bytes / MAX_BYTES_PER_INSN > g->executed) return false;
    memo_region *r = calloc(n ? n : 1, sizeof *r);
    if (!r) return false;
    free(e->region);
    e->region = r;
    e->nregions = 0;
    for (size_t k = 0; k < m->n; k++)
        if (touched(g, &m->alloc[k]))
            r[e->nregions++] =
                (memo_region){.address = m->alloc[k].address, .size = m->alloc[k].size};
    return true;
}

/* Returns the bytes of a region, if it is still an allocation of this size. */
static uint8_t *region_bytes(const pl_memory *m, const memo_region *r)
{
    const pl_alloc *a = pl_memory_find(m, r->address);
    return a && a->address == r->address && a->size == r->size && !a->valid ? a->bytes : NULL;
}

static bool is_subset(const pl_grid *g, const memo_entry *e)
{
    size_t k = 0;
    for (size_t at = 0; at < g->memory->n; at++) {
        const pl_alloc *a = &g->memory->alloc[at];
        if (!touched(g, a)) continue;
        while (k < e->nregions && e->region[k].address < a->address) k++;
        if (k == e->nregions || e->region[k].address != a->address) return false;
    }
    return true;
}

/* Abandons launches that have not been repeated for a while, the oldest first, until that many
 * bytes can be saved. False: there are not enough of them. */
static bool make_room(pl_memo *o, uint64_t size)
{
    while (o->bytes + size > MAX_SAVED_BYTES) {
        memo_entry *oldest = NULL;
        for (memo_entry *e = o->entry; e < o->entry + o->n; e++)
            if (e->bytes && (!oldest || e->used < oldest->used)) oldest = e;
        if (!oldest || o->launches - oldest->used < ENTRIES) return false;
        abandon(o, oldest);
    }
    return true;
}

static uint8_t *save(pl_memo *o, memo_entry *e, const uint8_t *bytes, uint64_t size)
{
    uint8_t *copy = make_room(o, size) ? malloc(size) : NULL;
    if (!copy) return NULL;
    memcpy(copy, bytes, size);
    e->bytes += size;
    o->bytes += size;
    return copy;
}

/* Saves the contents before a launch. */
static bool save_before(pl_memo *o, memo_entry *e, const pl_memory *m)
{
    free_copies(o, e);
    for (size_t k = 0; k < e->nregions; k++) {
        const uint8_t *bytes = region_bytes(m, &e->region[k]);
        if (!bytes) return false;
        e->region[k].before = save(o, e, bytes, e->region[k].size);
        if (!e->region[k].before) return false;
    }
    return true;
}

static bool save_after(pl_memo *o, memo_entry *e, const pl_memory *m)
{
    for (size_t k = 0; k < e->nregions; k++) {
        memo_region *r = &e->region[k];
        const uint8_t *bytes = region_bytes(m, r);
        if (!bytes) return false;
        if (memcmp(bytes, r->before, r->size) == 0) continue;
        r->after = save(o, e, bytes, r->size);
        if (!r->after) return false;
    }
    return true;
}

static bool matches_before(const memo_entry *e, const pl_memory *m)
{
    for (size_t k = 0; k < e->nregions; k++) {
        const uint8_t *bytes = region_bytes(m, &e->region[k]);
        if (!bytes || memcmp(bytes, e->region[k].before, e->region[k].size) != 0) return false;
    }
    return true;
}

/* ---- launches ---- */

static void replay(const memo_entry *e, pl_grid *g)
{
    for (size_t k = 0; k < e->nregions; k++) {
        const memo_region *r = &e->region[k];
        if (r->after) memcpy(region_bytes(g->memory, r), r->after, r->size);
    }
    g->executed = e->executed;
    g->lane_executed = e->lane_executed;
    g->longest_warp = e->longest_warp;
    g->blocks_done = pl_grid_blocks(g);
    g->complete = true;
    if (g->pc_stat)
        memcpy(g->pc_stat + g->counted.first, e->stat, g->counted.count * sizeof *e->stat);
}

/* True if this launch must be executed. If useful, its accesses are recorded from here on. */
static bool must_execute(pl_memo *o, memo_entry *e, pl_grid *g)
{
    if (e && e->state == KNOWN && matches_before(e, g->memory)) {
        e->misses = 0;
        replay(e, g);
        return false;
    }
    if (e && e->state != ABANDONED) {
        if ((e->state == KNOWN && ++e->misses > MAX_MISSES) || !save_before(o, e, g->memory))
            abandon(o, e);
        else
            o->current = e;
    }
    o->first = !e;
    if (!o->first && !o->current) return true;
    for (size_t k = 0; k < g->memory->n; k++) g->memory->alloc[k].touched = false;
    return true;
}

bool pl_memo_replay(pl_gpu *gpu, pl_module *m, pl_grid *g)
{
    pl_memo *o = gpu->memo;
    if (o) {
        o->current = NULL;
        o->first = false;
    }
    if (g->block_memory || !is_repeatable(m, g->entry)) return false;
    if (!o) o = gpu->memo = calloc(1, sizeof *o);
    if (!o) return false;
    o->launches++;
    const memo_key key = key_of(m, g);
    memo_entry *e = find(o, &key, g->params);
    if (e) e->used = o->launches;
    return !must_execute(o, e, g);
}

/* Records the first launch with this key. */
static void record_first_launch(pl_memo *o, const pl_module *m, const pl_grid *g)
{
    if (g->executed < MIN_INSTRUCTIONS) return;
    memo_entry *e = new_entry(o);
    const size_t n = g->entry->param_bytes;
    e->key = key_of(m, g);
    e->params = malloc(n ? n : 1);
    e->stat = malloc(((g->pc_stat ? g->counted.count : 0) + 1) * sizeof *e->stat);
    if (!e->params || !e->stat) {
        free(e->params);
        free(e->stat);
        return;
    }
    if (n) memcpy(e->params, g->params, n);
    if (!collect_regions(g, e)) e->state = ABANDONED;
    o->n++;
}

void pl_memo_record(pl_gpu *gpu, const pl_module *m, const pl_grid *g, bool ok)
{
    pl_memo *o = gpu->memo;
    memo_entry *e = o ? o->current : NULL;
    ok = ok && !g->undefined.set;
    if (o && o->first && ok) record_first_launch(o, m, g);
    if (!e) return;
    if (!ok || !is_subset(g, e) || !save_after(o, e, g->memory)) {
        abandon(o, e);
        return;
    }
    e->executed = g->executed;
    e->lane_executed = g->lane_executed;
    e->longest_warp = g->longest_warp;
    if (g->pc_stat)
        memcpy(e->stat, g->pc_stat + g->counted.first, g->counted.count * sizeof *e->stat);
    else
        e->key.flags &= ~(unsigned)MEMO_COUNTED;
    e->state = KNOWN;
}
