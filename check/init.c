/* init.c - the init checker over a launch: the initial state at its start, and outputs that depend
 * on uninitialised memory at its end. */
#include "check/init.h"
#include "base/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/internal.h"
#include "emu/exec/memory/address.h"
#include "isa/program/operand_plan.h"

typedef struct collector {
    pl_check *k;
    const pl_insn *i;
    uint32_t n;
    bool failed;
} collector;

static void collect(collector *c, uint32_t *row, unsigned rows, unsigned use)
{
    pl_init_tables *t = &c->k->init;
    if (row == &c->i->guard) return;
    if (t->uses == t->capuses && !pl_array_grow(&t->use, &t->capuses, sizeof *t->use)) {
        c->failed = true;
        return;
    }
    t->use[t->uses++] =
        (pl_init_use){.row = *row, .rows = (uint8_t)rows, .pred = (use & PL_USE_PRED) != 0};
    c->n++;
}

/* Sets the state of global memory that no earlier launch has seen. In a whole program, the host
 * reports the state of its own memory. */
static bool init_memory_state(pl_check *k)
{
    pl_memory *m = k->head->memory;
    bool ok = true;
    for (size_t n = 0; n < m->n && ok; n++) {
        pl_alloc *a = &m->alloc[n];
        if (a->flags & PL_ALLOC_CHECKED) continue;
        a->flags |= PL_ALLOC_CHECKED;
        if (!k->undefined->shared || !a->borrowed)
            ok = pl_undefined_set(k->undefined, a->address, a->size,
                                  !(a->flags & PL_ALLOC_UNDEFINED));
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
    if (!t->insn || !init_memory_state(k)) return false;
    for (size_t n = 0; n < p->code.n; n++) {
        pl_insn *i = &p->code.at[n];
        pl_init_insn *x = &t->insn[n];
        if (!i->exec) continue;
        pl_insn copy = *i; /* its plan exists only during assembly */
        copy.plan = 0;
        collector c = {.k = k, .i = &copy};
        x->first = (uint32_t)t->uses;
        PL_FOR_EACH_READ(p, &copy, o) collect(&c, o.row, o.rows, o.use);
        x->reads = (uint8_t)c.n;
        c.n = 0;
        PL_FOR_EACH_WRITE(p, &copy, o) collect(&c, o.row, o.rows, o.use);
        x->writes = (uint8_t)c.n;
        if (c.failed) return false;
        x->rule = (uint8_t)pl_rule_of(i);
        x->inner = i->exec;
        pl_exec_fn *memory = pl_init_memory_wrapper(i);
        i->exec = memory ? memory : pl_init_propagate;
    }
    return true;
}

void pl_initcheck_end(pl_check *k)
{
    const pl_memory *m = k->head->memory;
    for (size_t n = 0; n < m->n; n++) {
        const pl_alloc *a = &m->alloc[n];
        pl_undefined_read read;
        char name[120];
        if (!(a->flags & PL_ALLOC_OUTPUT)) continue;
        snprintf(name, sizeof name, "the output %.80s", a->name ? a->name : "");
        const pl_undefined_what what = {name, a->address, a->element};
        k->no_memory |= !pl_undefined_scan(k->undefined, a->address, a->size, &what, &read);
    }
    free(k->init.insn);
    k->init.insn = NULL;
}

void pl_initcheck_free(pl_check *k)
{
    free(k->init.insn);
    free(k->init.use);
}
