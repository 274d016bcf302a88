/* init.c - the init checker over a launch: what it knows when the launch begins, and outputs that
 * depend on memory that nobody has written when it ends. */
#include "check/init.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/internal.h"
#include "emu/exec/memory/address.h"
#include "isa/program/operands.h"

typedef struct collector {
    pl_check *k;
    const pl_insn *i;
    unsigned which;
    uint32_t n;
    bool failed;
} collector;

static void collect(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    collector *c = ctx;
    pl_init_tables *t = &c->k->init;
    if (!(use & c->which) || row == &c->i->guard) return;
    if (t->uses == t->capuses) {
        const uint32_t cap = t->capuses ? 2 * t->capuses : 256;
        pl_init_use *u = realloc(t->use, cap * sizeof *u);
        if (!u) {
            c->failed = true;
            return;
        }
        t->use = u;
        t->capuses = cap;
    }
    t->use[t->uses++] =
        (pl_init_use){.row = *row, .rows = (uint8_t)rows, .pred = (use & PL_USE_PRED) != 0};
    c->n++;
}

/* Global memory that nobody has looked at before. */
static bool take_memory(pl_check *k)
{
    pl_memory *m = k->head->memory;
    bool ok = true;
    for (size_t n = 0; n < m->n && ok; n++) {
        pl_alloc *a = &m->alloc[n];
        if (a->checked || !is_followed(k, a->address)) continue;
        a->checked = true;
        const uint64_t at = a->address - k->base;
        if (a->unwritten) ok = pl_validity_forget(&k->init.global, at, a->size);
        for (uint64_t done = 0; !a->unwritten && ok && done < a->size;) {
            const unsigned here =
                a->size - done < PL_VALIDITY_PAGE ? (unsigned)(a->size - done) : PL_VALIDITY_PAGE;
            ok = !k->init.global.undefined_pages ||
                 pl_validity_set(&k->init.global, at + done, here, NULL, 0);
            done += here;
        }
    }
    return ok;
}

bool pl_initcheck_begin(pl_check *k)
{
    pl_program *p = k->program;
    pl_init_tables *t = &k->init;
    t->uses = 0;
    free(t->insn);
    t->insn = calloc(p->code.n ? p->code.n : 1, sizeof *t->insn);
    if (!t->insn || !take_memory(k)) return false;
    for (size_t n = 0; n < p->code.n; n++) {
        pl_insn *i = &p->code.at[n];
        pl_init_insn *x = &t->insn[n];
        if (!i->exec) continue;
        pl_insn copy = *i; /* its plan went with the assembler */
        copy.plan = 0;
        collector c = {.k = k, .i = &copy, .which = PL_USE_READ};
        x->first = t->uses;
        pl_insn_uses(p, &copy, collect, &c);
        x->reads = (uint8_t)c.n;
        c.n = 0;
        c.which = PL_USE_WRITE;
        pl_insn_uses(p, &copy, collect, &c);
        x->writes = (uint8_t)c.n;
        if (c.failed) return false;
        x->rule = (uint8_t)pl_rule_of(i);
        x->inner = i->exec;
        pl_exec_fn *memory = pl_init_memory_follower(i);
        i->exec = memory ? memory : pl_init_follow;
    }
    return true;
}

static void report_output(pl_check *k, const pl_alloc *a, uint64_t at, uint32_t origin)
{
    const pl_origin *store = &k->init.origin[origin], *load = pl_origin_read(k, origin);
    bool fresh;
    pl_check_finding *f = pl_finding_of(k, PL_FK_INIT_OUTPUT, store->pc, load->pc, &fresh);
    k->no_memory |= !f;
    if (!f) return;
    f->count++;
    if (!fresh) return;
    f->by.kernel = store->kernel;
    memcpy(f->by.block, store->block, sizeof store->block);
    memcpy(f->by.thread, store->thread, sizeof store->thread);
    char what[200];
    snprintf(what, sizeof what, "%s %llu of the output %.80s", a->element ? "element" : "word",
             (unsigned long long)(at / (a->element ? a->element : 4)), a->name ? a->name : "");
    pl_origin_describe(f, load, what);
}

/* An output holds elements that were stored undefined. Where only some bytes of one are, it is
 * likely that these are padding. */
static void look_at_output(pl_check *k, const pl_alloc *a)
{
    const uint64_t step = a->element ? a->element : 4;
    for (uint64_t at = 0; at + step <= a->size; at += step) {
        const uint64_t from = a->address - k->base + at;
        const pl_vpage *p = pl_validity_page(&k->init.global, from);
        if (!p) {
            at += PL_VALIDITY_PAGE - from % PL_VALIDITY_PAGE - step;
            continue;
        }
        const unsigned in = (unsigned)(from % PL_VALIDITY_PAGE);
        unsigned n = 0;
        while (n < step && in + n < PL_VALIDITY_PAGE && p->bits[in + n]) n++;
        if (n == step && p->origin[in / 4]) report_output(k, a, at, p->origin[in / 4]);
    }
}

void pl_initcheck_end(pl_check *k)
{
    const pl_memory *m = k->head->memory;
    for (size_t n = 0; n < m->n && k->init.global.undefined_pages; n++)
        if (m->alloc[n].output && is_followed(k, m->alloc[n].address))
            look_at_output(k, &m->alloc[n]);
    free(k->init.insn);
    k->init.insn = NULL;
}

void pl_initcheck_free(pl_check *k)
{
    free(k->init.insn);
    free(k->init.use);
    free(k->init.origin);
    pl_validity_free(&k->init.global);
}
