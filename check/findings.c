/* findings.c - the list of findings: each pair of instructions once per kind, with its first
 * occurrence and the number of occurrences. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "check/internal.h"

/* An unordered read and write are one finding, whichever came first; a read that observed the write
 * is more informative. */
static bool same_kind(pl_finding_kind listed, pl_finding_kind kind)
{
    return listed == kind || (listed == PL_FK_RACE_RAW && kind == PL_FK_RACE_WAR) ||
           (listed == PL_FK_RACE_WAR && kind == PL_FK_RACE_RAW);
}

static bool same_instructions(uint32_t a, uint32_t b, const pl_check_finding *f)
{
    return (f->by.pc == a && f->other.pc == b) || (f->by.pc == b && f->other.pc == a);
}

pl_check_finding *pl_finding_of(pl_check *k, pl_finding_kind kind, uint32_t pc, uint32_t other,
                                bool *fresh)
{
    *fresh = false;
    for (size_t n = 0; n < k->findings.n; n++) {
        pl_check_finding *f = &k->findings.at[n];
        if (!same_kind(f->kind, kind) || !same_instructions(pc, other, f)) continue;
        if (!k->seed) f->seed = 0; /* the default schedule shows it, too */
        *fresh = f->kind == PL_FK_RACE_WAR && kind == PL_FK_RACE_RAW;
        if (*fresh) {
            f->kind = kind;
            f->by = (pl_finding_access){.pc = pc};
            f->other = (pl_finding_access){.pc = other};
        }
        return f;
    }
    if (k->findings.n == k->findings.cap &&
        !pl_array_grow(&k->findings.at, &k->findings.cap, sizeof *k->findings.at))
        return NULL;
    *fresh = true;
    k->findings.at[k->findings.n] =
        (pl_check_finding){.kind = kind, .by.pc = pc, .other.pc = other, .seed = k->seed};
    return &k->findings.at[k->findings.n++];
}

pl_check_finding *pl_finding_between(pl_check *k, pl_warp *w, pl_finding_kind kind, unsigned lane,
                                     uint32_t other, bool *fresh)
{
    pl_check_finding *f = pl_finding_of(k, kind, w->pc, other, fresh);
    if (!f) {
        k->no_memory = true;
        return NULL;
    }
    f->count++;
    if (!*fresh) return f;
    f->by.kernel = w->grid->entry->name;
    memcpy(f->by.block, w->cta->id, sizeof f->by.block);
    pl_grid_thread(w->grid, pl_first_thread(w) + lane, f->by.thread);
    return f;
}

pl_check_finding *pl_finding_at(pl_check *k, pl_warp *w, pl_finding_kind kind, unsigned lane,
                                const char *text)
{
    bool fresh;
    pl_check_finding *f = pl_finding_between(k, w, kind, lane, UINT32_MAX, &fresh);
    if (fresh) snprintf(f->text, sizeof f->text, "%s", text);
    return f;
}

void pl_finding_access_fill(const pl_check *k, pl_finding_access *p, uint32_t block, unsigned unit,
                            unsigned lane)
{
    const pl_grid *g = k->head;
    while (g->next && block >= g->next->first_block) g = g->next;
    if (block < g->first_block) g = pl_device_launch_grid(k, block);
    if (!g) return;
    const uint32_t linear = block - (uint32_t)g->first_block;
    p->kernel = g->entry->name;
    p->block[0] = linear % g->grid[0];
    p->block[1] = linear / g->grid[0] % g->grid[1];
    p->block[2] = linear / g->grid[0] / g->grid[1];
    pl_grid_thread(g, unit * PL_LANES + lane, p->thread);
}

/* Returns the CUDA C++ name of a function-scope variable: _ZZ3revPiE4tile is "tile". */
static const char *plain_name(const char *name)
{
    const char *found = name;
    if (strncmp(name, "_ZZ", 3) != 0) return name;
    for (const char *p = name; *p; p++) {
        char *end;
        if (p > name && p[-1] >= '0' && p[-1] <= '9') continue;
        const unsigned long n = strtoul(p, &end, 10);
        if (end != p && n && strlen(end) == n) found = end;
    }
    return found;
}

static void name_shared(pl_check_finding *f, const char *name, uint64_t offset)
{
    snprintf(f->where, sizeof f->where, "byte %" PRIu64 " of '%.80s' in", offset, plain_name(name));
}

/* Describes an address in shared memory: "byte 12 of 'tile' in". */
static void shared_variable(const pl_warp *w, pl_check_finding *f)
{
    const pl_program *p = w->program;
    const pl_prog_func *entry = w->grid->entry;
    const uint64_t at = f->address - w->cta->shared_start;
    for (size_t n = 0; n < entry->shared.n; n++) {
        const pl_prog_shared *v = &entry->shared.at[n];
        if (at - v->offset < v->size) {
            name_shared(f, v->name, at - v->offset);
            return;
        }
    }
    for (size_t n = 0; n < p->vars.n; n++) {
        const pl_prog_var *v = &p->vars.at[n];
        if (v->space != PL_SP_SHARED || v->unsized || at - v->address >= v->size) continue;
        name_shared(f, v->name, at - v->address);
        return;
    }
    if (at >= entry->static_shared && w->grid->dynamic_shared)
        snprintf(f->where, sizeof f->where, "byte %" PRIu64 " of dynamic",
                 at - entry->static_shared);
    else
        snprintf(f->where, sizeof f->where, "byte %" PRIu64 " of", at);
}

void pl_finding_where(const pl_warp *w, pl_check_finding *f)
{
    if (f->space == PL_SP_SHARED) {
        shared_variable(w, f);
        return;
    }
    const pl_alloc *a = pl_memory_find(w->grid->memory, f->address);
    const uint64_t at = a ? f->address - a->address : 0;
    if (a && a->element)
        snprintf(f->where, sizeof f->where, "element %" PRIu64 " of %.60s (%s[%" PRIu64 "]) in",
                 at / a->element, a->name ? a->name : "an allocation", a->type,
                 a->size / a->element);
    else if (a)
        snprintf(f->where, sizeof f->where, "byte %" PRIu64 " of %.80s in", at,
                 a->name ? a->name : "an allocation");
    else
        snprintf(f->where, sizeof f->where, "0x%" PRIx64 " in", f->address);
}
