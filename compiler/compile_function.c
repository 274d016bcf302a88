/* compile_function.c - see compile_function.h. References to code and table entries are relative to
 * the start of the part; joining relocates them. */
#include "compiler/compile_function.h"

#include <string.h>

void pl_compile_unit_start(pl_program *part, const pl_program *before, pl_arena *arena,
                           pl_plan_cache *plans)
{
    *part = *before;
    part->arena = arena;
    part->plans = plans;
}

/* Copies a vector to the arena; its capacity becomes its size. */
#define KEEP(arena, v)                                                                             \
    ((v)->at = copy_bytes((arena), (v)->at, (v)->n * sizeof *(v)->at), (v)->cap = (v)->n)

static void *copy_bytes(pl_arena *a, const void *at, size_t bytes)
{
    return bytes ? pl_arena_copy(a, at, bytes) : NULL;
}

static void keep_tables(pl_prog_func *f, pl_arena *arena)
{
    KEEP(arena, &f->init);
    KEEP(arena, &f->params);
    KEEP(arena, &f->formal);
    KEEP(arena, &f->result);
    KEEP(arena, &f->hazards);
}

void pl_compile_unit_keep(pl_program *part, pl_prog_func *f, pl_arena *arena)
{
    KEEP(arena, &part->code);
    KEEP(arena, &part->pool);
    KEEP(arena, &part->lines);
    KEEP(arena, &part->calls);
    KEEP(arena, &part->moves);
    keep_tables(f, arena);
    part->arena = arena;
}

/* Appends the line table. Adjacent equal lines share one entry (isa/program/canonicalize.c), also
 * across functions. Returns the offset to add to line numbers of the part. */
static uint32_t join_lines(pl_program *p, const pl_program *part)
{
    size_t first = part->lines.n && p->lines.n &&
                   memcmp(part->lines.at, &p->lines.at[p->lines.n - 1], sizeof *p->lines.at) == 0;
    uint32_t moved = (uint32_t)(p->lines.n - first);
    for (size_t k = first; k < part->lines.n; k++)
        *pl_push(p->arena, &p->lines) = part->lines.at[k];
    return moved;
}

void pl_compile_unit_join(pl_program *p, pl_prog_func *f, const pl_program *part)
{
    uint32_t code = (uint32_t)p->code.n, pool = (uint32_t)p->pool.n, calls = (uint32_t)p->calls.n,
             moves = (uint32_t)p->moves.n;
    /* The first part, if it is large: its arena memory is taken over, and nothing is copied. */
    if (!code && pl_arena_transfer(p->arena, part->arena, part->code.at)) {
        p->code.at = part->code.at;
        p->code.n = part->code.n;
        p->code.cap = part->code.cap;
    }
    uint32_t lines = join_lines(p, part);
    for (size_t k = 0; k < part->pool.n; k++) *pl_push(p->arena, &p->pool) = part->pool.at[k];
    for (size_t k = 0; k < part->moves.n; k++) *pl_push(p->arena, &p->moves) = part->moves.at[k];
    for (size_t k = 0; k < part->calls.n; k++) {
        pl_prog_call c = part->calls.at[k];
        c.first_arg += c.nargs ? moves : 0;
        c.first_ret += c.nrets ? moves : 0;
        *pl_push(p->arena, &p->calls) = c;
    }
    for (size_t k = p->code.n - code; k < part->code.n; k++) {
        pl_insn *i = pl_push(p->arena, &p->code);
        *i = part->code.at[k];
        uint32_t effects = pl_forms[i->form].effects, operands = pl_forms[i->form].noperands;
        i->line += lines;
        i->extra_ops += i->nextra ? pool : 0;
        i->reconv += i->reconv != UINT32_MAX ? code : 0;
        if (effects & PL_EF_CALL)
            i->target += calls;
        else if ((effects & PL_EF_BRANCH) && operands == 1)
            i->target += code;
        else if ((effects & PL_EF_BRANCH) && operands == 2 && pl_arena_ok(p->arena))
            for (uint32_t t = 0; t < i->nextra; t++) p->pool.at[i->extra_ops + t] += code;
    }
    f->first = code;
    keep_tables(f, p->arena);
}
