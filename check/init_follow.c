/* init_follow.c - propagation of values that depend on uninitialised memory.
 *
 * Each bit of a register and of memory is defined or undefined, as in Memcheck (Seward, Nethercote
 * 2005). Loads, stores and copies propagate undefined bits, and so does arithmetic. Only an
 * observable use is an error: a branch, an address, an atomic operation, an output. Registers are
 * defined at the start; a group of lanes without an undefined register costs one test per
 * instruction.
 *
 * init_rules.c computes which bits of a result are undefined. */
#include "check/init.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/internal.h"
#include "isa/program/operands.h"

/* ---- registers ---- */

uint32_t pl_traced_row(const pl_warp *w)
{
    return (uint32_t)((w->regs - w->register_file) / PL_LANES) - w->half * w->file_rows;
}

uint32_t pl_traced_pred(const pl_warp *w)
{
    return (uint32_t)(w->pred - w->predicate_file) - w->half * w->pred_rows;
}

static bool grow(uint32_t **at, size_t old, size_t now)
{
    uint32_t *p = realloc(*at, now * sizeof *p);
    if (!p) return false;
    memset(p + old, 0, (now - old) * sizeof *p);
    *at = p;
    return true;
}

pl_traced *pl_traced_of(pl_warp *w)
{
    check_unit *u = unit_of(w);
    if (!u->traced && (u->traced = calloc(1, sizeof *u->traced)) != NULL)
        u->traced->local.starts_undefined = true;
    pl_traced *s = u->traced;
    bool ok = s != NULL;
    if (ok && w->file_rows > s->rows) {
        ok = grow(&s->undefined, s->rows, w->file_rows) &&
             grow(&s->bits, (size_t)s->rows * PL_LANES, (size_t)w->file_rows * PL_LANES) &&
             grow(&s->origin, (size_t)s->rows * PL_LANES, (size_t)w->file_rows * PL_LANES);
        if (ok) s->rows = w->file_rows;
    }
    if (ok && w->pred_rows > s->preds) {
        ok = grow(&s->pred, s->preds, w->pred_rows) &&
             grow(&s->pred_origin, (size_t)s->preds * PL_LANES, (size_t)w->pred_rows * PL_LANES);
        if (ok) s->preds = w->pred_rows;
    }
    if (!ok) check_of(w)->no_memory = true;
    return ok ? s : NULL;
}

void pl_traced_free(pl_traced *s)
{
    if (!s) return;
    free(s->undefined);
    free(s->bits);
    free(s->origin);
    free(s->pred);
    free(s->pred_origin);
    pl_validity_free(&s->local);
    free(s);
}

static void set_mask(pl_traced *s, uint32_t *mask, uint32_t lanes, uint32_t undefined)
{
    const uint32_t now = (*mask & ~lanes) | (undefined & lanes);
    s->n += (uint32_t)(now != 0) - (uint32_t)(*mask != 0);
    *mask = now;
}

uint32_t pl_traced_undefined(const pl_traced *s, uint32_t row, unsigned rows)
{
    if (!s || row >= s->rows) return 0;
    return s->undefined[row] | (rows > 2 ? s->undefined[row + 2] : 0);
}

uint64_t pl_traced_bits(const pl_traced *s, uint32_t row, bool wide, unsigned lane)
{
    if (!(s->undefined[row] >> lane & 1u)) return 0;
    return wide ? ((const uint64_t *)(const void *)&s->bits[(size_t)row * PL_LANES])[lane]
                : s->bits[(size_t)row * PL_LANES + lane];
}

void pl_traced_set(pl_traced *s, uint32_t row, bool wide, uint32_t lanes, const uint64_t *bits,
                   const uint32_t *origin)
{
    uint32_t undefined = 0;
    for (uint32_t m = lanes; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        if (!bits[l] || (!wide && !(uint32_t)bits[l])) continue;
        undefined |= 1u << l;
        if (wide)
            ((uint64_t *)(void *)&s->bits[(size_t)row * PL_LANES])[l] = bits[l];
        else
            s->bits[(size_t)row * PL_LANES + l] = (uint32_t)bits[l];
        s->origin[(size_t)row * PL_LANES + l] = origin[l];
    }
    set_mask(s, &s->undefined[row], lanes, undefined);
    if (wide) set_mask(s, &s->undefined[row + 1], lanes, undefined);
}

void pl_traced_set_pred(pl_traced *s, uint32_t pred, uint32_t lanes, uint32_t undefined,
                        const uint32_t *origin)
{
    for (uint32_t m = lanes & undefined; m; m &= m - 1)
        s->pred_origin[(size_t)pred * PL_LANES + (unsigned)__builtin_ctz(m)] =
            origin[__builtin_ctz(m)];
    set_mask(s, &s->pred[pred], lanes, undefined);
}

/* ---- origins of undefined values ---- */

uint32_t pl_init_origin(pl_warp *w, unsigned lane, pl_space space, uint64_t address, uint32_t from)
{
    pl_check *k = check_of(w);
    pl_undefined *u = k->undefined;
    for (uint32_t n = u->norigins; n > 1; n--) {
        const pl_origin *o = &u->origin[n - 1];
        if (o->pc == w->pc && o->from == from && o->space == space && o->user == k->user)
            return n - 1;
    }
    pl_origin *o = pl_origin_new(u, &k->no_memory);
    if (!o) return 1;
    *o =
        (pl_origin){.user = k->user, .pc = w->pc, .from = from, .space = space, .address = address};
    o->kernel = w->grid->entry->name;
    memcpy(o->block, w->cta->id, sizeof o->block);
    pl_grid_thread(w->grid, pl_first_thread(w) + lane, o->thread);
    pl_check_finding f = {.space = space, .address = address};
    if (space == PL_SP_LOCAL)
        snprintf(f.where, sizeof f.where, "byte %llu of", (unsigned long long)address);
    else
        pl_finding_where(w, &f);
    snprintf(o->where, sizeof o->where, "%s %s memory", f.where,
             space == PL_SP_LOCAL    ? "local"
             : space == PL_SP_SHARED ? "shared"
                                     : "global");
    return u->norigins - 1;
}

void pl_origin_describe(const pl_undefined *u, pl_check_finding *f, const pl_origin *o,
                        const char *what)
{
    f->space = o->space;
    f->address = o->address;
    f->other.verb = "reads";
    memcpy(f->other.block, o->block, sizeof o->block);
    memcpy(f->other.thread, o->thread, sizeof o->thread);
    const bool other_module = f->other.pc == UINT32_MAX && u->user[o->user - 1];
    snprintf(f->text, sizeof f->text, "%s depends on %s, which is uninitialised%s%s%s", what,
             o->where, other_module ? ": kernel '" : "", other_module ? o->kernel : "",
             other_module ? "' of another module has read it" : "");
}

void pl_init_report(pl_warp *w, pl_finding_kind kind, uint32_t lanes, uint32_t origin,
                    const char *what)
{
    pl_check *k = check_of(w);
    if (!origin || origin >= k->undefined->norigins) return;
    const pl_origin *o = pl_origin_read(k->undefined, origin);
    bool fresh;
    pl_check_finding *f = pl_finding_between(k, w, kind, (unsigned)__builtin_ctz(lanes),
                                             o->user == k->user ? o->pc : UINT32_MAX, &fresh);
    if (fresh) pl_origin_describe(k->undefined, f, o, what);
}

void pl_traced_report(pl_warp *w, pl_traced *s, uint32_t row, unsigned rows, uint32_t lanes,
                      pl_finding_kind kind, const char *what)
{
    const uint32_t bad = pl_traced_undefined(s, row, rows) & lanes;
    if (!bad) return;
    pl_init_report(w, kind, bad, s->origin[(size_t)row * PL_LANES + (unsigned)__builtin_ctz(bad)],
                   what);
    for (unsigned n = 0; n < rows; n++) set_mask(s, &s->undefined[row + n], bad, 0);
}

static void report_pred(pl_warp *w, pl_traced *s, uint32_t pred, uint32_t lanes, const char *what)
{
    const uint32_t bad = s->pred[pred] & lanes;
    if (!bad) return;
    pl_init_report(w, PL_FK_INIT_BRANCH, bad,
                   s->pred_origin[(size_t)pred * PL_LANES + (unsigned)__builtin_ctz(bad)], what);
    set_mask(s, &s->pred[pred], bad, 0);
}

/* ---- computing instructions ---- */

/* True if executing the instruction has effects other than its result. */
static bool has_side_effects(const pl_insn *i)
{
    const unsigned seen_effects = PL_EF_STORE | PL_EF_ATOMIC | PL_EF_BARRIER | PL_EF_BRANCH |
                                  PL_EF_EXIT | PL_EF_CALL | PL_EF_ASYNC | PL_EF_CONVERGE;
    return pl_form_effects[i->form] & seen_effects || i->flags & PL_IF_CONTROL;
}

/* Returns the lanes of the split with an undefined guard that controls nothing but a result;
 * reports the others. */
static uint32_t guard_of(pl_warp *w, const pl_insn *i, pl_traced *s)
{
    if (i->guard == PL_PT) return 0;
    const uint32_t pred = pl_traced_pred(w) + i->guard,
                   lanes = pred < s->preds ? s->pred[pred] & pl_of_half(w, w->active) : 0;
    if (!lanes || !has_side_effects(i)) return lanes;
    report_pred(w, s, pred, lanes, "a branch");
    return 0;
}

static const pl_init_insn *init_insn_of(const pl_warp *w, const pl_insn *i)
{
    return &check_of(w)->init.insn[i - w->code];
}

/* Reads the operands: returns the lanes with undefined bits, and the origin for each. */
static uint32_t read_operands(const pl_warp *w, const pl_traced *s, const pl_init_insn *x,
                              uint32_t *origin)
{
    const pl_init_use *use = &check_of(w)->init.use[x->first];
    const uint32_t rb = pl_traced_row(w), pb = pl_traced_pred(w);
    uint32_t all = 0;
    for (unsigned n = 0; n < x->reads; n++) {
        const uint32_t at = use[n].pred ? pb + use[n].row : rb + use[n].row,
                       lanes = use[n].pred ? (at < s->preds ? s->pred[at] : 0)
                                           : pl_traced_undefined(s, at, use[n].rows);
        const uint32_t *from = use[n].pred ? s->pred_origin : s->origin;
        for (uint32_t m = lanes & ~all; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            origin[l] = from[(size_t)at * PL_LANES + l];
        }
        all |= lanes;
    }
    return all;
}

/* Sets the undefined bits of result n of the lanes; all results use the same bits if there is only
 * one kind. bits NULL: none. */
static void write_results(const pl_warp *w, pl_traced *s, const pl_init_insn *x, uint32_t lanes,
                          uint64_t (*bits)[PL_LANES], unsigned kinds, const uint32_t *origin)
{
    static const uint64_t none[PL_LANES] = {0};
    const pl_init_use *use = &check_of(w)->init.use[x->first + x->reads];
    const uint32_t rb = pl_traced_row(w), pb = pl_traced_pred(w);
    unsigned kind = 0;
    for (unsigned n = 0; n < x->writes; n++) {
        const unsigned step = use[n].pred || use[n].rows == 1 ? 1 : 2;
        for (unsigned k = 0; k < use[n].rows; k += step, kind += kind + 1 < kinds) {
            const uint64_t *now = bits ? bits[kind] : none;
            const uint32_t at = use[n].row + k;
            if (!use[n].pred) {
                if (rb + at + step <= s->rows)
                    pl_traced_set(s, rb + at, step > 1, lanes, now, origin);
                continue;
            }
            uint32_t undefined = 0;
            for (unsigned l = 0; l < PL_LANES; l++) undefined |= (uint32_t)(now[l] != 0) << l;
            if (at != PL_PT && at != PL_PF && pb + at < s->preds)
                pl_traced_set_pred(s, pb + at, lanes, undefined, origin);
        }
    }
}

/* Some register is undefined, possibly one of this instruction. */
static void propagate_undefined(pl_warp *w, const pl_insn *i, pl_traced *s)
{
    const pl_init_insn *x = init_insn_of(w, i);
    const uint32_t exec = w->exec, undefined_guard = guard_of(w, i, s);
    uint32_t origin[PL_LANES], from = read_operands(w, s, x, origin);
    uint64_t bits[PL_RESULTS][PL_LANES] = {{0}};
    unsigned kinds = 1;
    if (x->rule == PL_RULE_CONTROL) {
        const pl_init_use *use = &check_of(w)->init.use[x->first];
        for (unsigned n = 0; from & exec && n < x->reads; n++)
            if (use[n].pred)
                report_pred(w, s, pl_traced_pred(w) + use[n].row, exec, "a branch");
            else
                pl_traced_report(w, s, pl_traced_row(w) + use[n].row, use[n].rows, exec,
                                 PL_FK_INIT_BRANCH, "a branch");
        from = 0;
    }
    if (!(from & exec) && !undefined_guard) {
        x->inner(w, i);
        if (!w->stop) write_results(w, s, x, exec, NULL, 1, NULL);
        return;
    }
    for (unsigned l = 0; l < PL_LANES; l++) bits[0][l] = from >> l & 1u ? UINT64_MAX : 0;
    if (from & exec) kinds = pl_rule_apply(w, i, x, s, from, bits, origin);
    const uint32_t pred = pl_traced_pred(w) + i->guard;
    for (uint32_t m = undefined_guard; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        for (unsigned n = 0; n < kinds; n++) bits[n][l] = UINT64_MAX;
        origin[l] = s->pred_origin[(size_t)pred * PL_LANES + l];
    }
    x->inner(w, i);
    if (!w->stop) write_results(w, s, x, exec | undefined_guard, bits, kinds, origin);
}

void pl_init_propagate(pl_warp *w, const pl_insn *i)
{
    pl_traced *s = unit_of(w)->traced;
    if (s && s->n)
        propagate_undefined(w, i, s);
    else
        init_insn_of(w, i)->inner(w, i);
}

void pl_init_inner(pl_warp *w, const pl_insn *i)
{
    init_insn_of(w, i)->inner(w, i);
}

const pl_init_use *pl_init_results(const pl_warp *w, const pl_insn *i, unsigned *n)
{
    const pl_init_insn *x = init_insn_of(w, i);
    *n = x->writes;
    return &check_of(w)->init.use[x->first + x->reads];
}

void pl_init_skips(const pl_hooks *h, pl_warp *w, const pl_insn *i)
{
    const pl_check *k = (const pl_check *)(const void *)h;
    pl_traced *s = k->tools & PL_CHECK_INIT ? unit_of(w)->traced : NULL;
    if (!s || !s->n) return;
    const uint32_t undefined_guard = guard_of(w, i, s), pred = pl_traced_pred(w) + i->guard;
    uint64_t bits[1][PL_LANES];
    if (!undefined_guard || i->flags & PL_IF_MEM) return;
    for (unsigned l = 0; l < PL_LANES; l++) bits[0][l] = undefined_guard >> l & 1u ? UINT64_MAX : 0;
    write_results(w, s, init_insn_of(w, i), undefined_guard, bits, 1,
                  &s->pred_origin[(size_t)pred * PL_LANES]);
}

void pl_traced_guard(pl_warp *w, const pl_insn *i, pl_traced *s)
{
    const uint32_t pred = pl_traced_pred(w) + i->guard;
    if (i->guard == PL_PT || pred >= s->preds) return;
    report_pred(w, s, pred, pl_of_half(w, w->active), "a branch");
}
