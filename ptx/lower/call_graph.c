/* call_graph.c - finds functions whose address is taken, and functions that may be recursive.
 *
 * Functions without callees are repeatedly removed from the graph of direct calls, then functions
 * without callers. The remaining ones are on a cycle or on a path between two cycles. Both steps
 * are linear in the number of calls. */
#include "ptx/lower/call_graph.h"

typedef struct edge {
    /* Next edges of the caller, of the callee, plus one. */
    uint32_t caller, callee, next_out, next_in;
} edge;

typedef struct graph {
    pl_arena *a;
    uint8_t *linked;
    struct {
        edge *at;
        size_t n, cap;
    } edges;
    uint32_t *out, *in;   /* by function: first edge, plus one */
    uint32_t *nout, *nin; /* number of edges to functions not yet removed */
    uint8_t *removed;
} graph;

static void add_reference(graph *g, const pl_operand *o, uint32_t caller, bool called)
{
    if (o->kind != PL_O_FUNC) return;
    uint32_t callee = o->func->index;
    if (!called) {
        g->linked[callee] = PL_CALLED_BY_ADDRESS;
        return;
    }
    *pl_push(g->a, &g->edges) = (edge){caller, callee, g->out[caller], g->in[callee]};
    g->out[caller] = g->in[callee] = (uint32_t)g->edges.n;
    g->nout[caller]++;
    g->nin[callee]++;
}

static void read_body(graph *g, const pl_func *f)
{
    for (size_t n = 0; n < f->uses.n; n++)
        add_reference(g, f->uses.at[n].op, f->index, f->uses.at[n].called);
}

/* Removes functions that have no remaining edges on one side. */
static void remove_acyclic(graph *g, uint32_t n, uint32_t *todo, bool callers)
{
    uint32_t depth = 0, *remaining = callers ? g->nin : g->nout;
    for (uint32_t k = 0; k < n; k++)
        if (!g->removed[k] && !remaining[k]) {
            g->removed[k] = 1;
            todo[depth++] = k;
        }
    while (depth) {
        uint32_t k = todo[--depth];
        for (uint32_t e = callers ? g->out[k] : g->in[k]; e;
             e = callers ? g->edges.at[e - 1].next_out : g->edges.at[e - 1].next_in) {
            uint32_t other = callers ? g->edges.at[e - 1].callee : g->edges.at[e - 1].caller;
            if (g->removed[other]) continue;
            (callers ? g->nin : g->nout)[other]--;
            if (!remaining[other]) {
                g->removed[other] = 1;
                todo[depth++] = other;
            }
        }
    }
}

void pl_find_linked(const pl_ast *ast, pl_arena *scratch, uint8_t *linked)
{
    uint32_t n = (uint32_t)ast->funcs.n, *todo = pl_arena_array(scratch, uint32_t, n + 1);
    graph g = {.a = scratch,
               .linked = linked,
               .out = pl_arena_array(scratch, uint32_t, n + 1),
               .in = pl_arena_array(scratch, uint32_t, n + 1),
               .nout = pl_arena_array(scratch, uint32_t, n + 1),
               .nin = pl_arena_array(scratch, uint32_t, n + 1),
               .removed = pl_arena_array(scratch, uint8_t, n + 1)};
    if (!todo || !g.out || !g.in || !g.nout || !g.nin || !g.removed) return;
    for (uint32_t k = 0; k < n; k++) read_body(&g, ast->funcs.at[k]);
    for (size_t v = 0; v < ast->vars.n; v++)
        for (size_t r = 0; r < ast->vars.at[v]->reloc.n; r++)
            if (ast->vars.at[v]->reloc.at[r].func)
                linked[ast->vars.at[v]->reloc.at[r].func->index] = PL_CALLED_BY_ADDRESS;
    remove_acyclic(&g, n, todo, false);
    remove_acyclic(&g, n, todo, true);
    for (uint32_t k = 0; k < n; k++) linked[k] |= !g.removed[k] || ast->funcs.at[k]->prototype_only;
}

bool pl_linked_part(const pl_ast *ast, const uint8_t *linked)
{
    for (size_t k = 0; k < ast->funcs.n; k++) {
        const pl_func *f = ast->funcs.at[k];
        for (size_t n = 0; n < f->body.n && linked[f->index] & PL_CALLED_BY_ADDRESS; n++) {
            const pl_stmt *s = &f->body.at[n];
            if (s->kind == PL_S_INSN && s->guard &&
                (pl_forms[s->what->form].effects & PL_EF_BRANCH))
                return true;
        }
    }
    return false;
}
