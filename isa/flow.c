/* flow.c - liveness over a block graph, solved with bit sets against the flow; see flow.h. */
#include "isa/flow.h"
#include "isa/plan.h"

static inline void join(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    pl_flow *f = ctx;
    if ((use & PL_USE_PRED) || f->x->kind.at[*row] != PL_ROW_REG)
        return;
    for (unsigned k = 1; k < rows; k++)
        f->of[*row + k] = UINT32_MAX;
}

static inline void locate(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    pl_flow *f = ctx;
    uint32_t k = pl_flow_of(f, *row, use);
    if (!k)
        return;
    pl_flow_value *v = &f->v[k - 1];
    if (v->block == UINT32_MAX) {
        v->block = f->block;
        v->born = (use & PL_USE_READ) || rows != v->rows ? UINT32_MAX : f->at;
    } else if (v->block != f->block)
        v->block = UINT32_MAX - 1;
    v->writes += (use & PL_USE_WRITE) != 0;
    if ((use & PL_USE_WRITE) && (f->x->b.at[f->block].code.at[f->at].flags & PL_IF_ELSEWHERE))
        v->weight = 0;
}

bool pl_flow_values(pl_flow *f, pl_ir *x)
{
    uint32_t rows = x->f->rows;
    *f = (pl_flow){.x = x, .of = pl_arena_array(x->tmp, uint32_t, rows + 4), .v = pl_arena_array(x->tmp, pl_flow_value, rows + 1)};
    if (!f->of || !f->v)
        return false;
    for (size_t b = 0; b < x->b.n; b++)
        for (size_t k = 0; k < x->b.at[b].code.n; k++)
            pl_insn_uses_here(x->p, &x->b.at[b].code.at[k], join, f);
    for (uint32_t r = 0; r < rows; r++) {
        if (x->kind.at[r] != PL_ROW_REG) {
            f->of[r] = 0;
            continue;
        }
        if (f->of[r] != UINT32_MAX)
            f->v[f->n++] = (pl_flow_value){.row = r, .block = UINT32_MAX, .pinned = x->row[r].pinned};
        f->of[r] = f->n;
        f->v[f->n - 1].rows++;
        f->v[f->n - 1].weight++;
    }
    f->words = (f->n + 63) / 64;
    for (f->block = 0; f->block < x->b.n; f->block++)
        for (f->at = 0; f->at < x->b.at[f->block].code.n; f->at++)
            pl_insn_uses_here(x->p, &x->b.at[f->block].code.at[f->at], locate, f);
    return true;
}

bool pl_flow_narrow(pl_flow *f)
{
    uint32_t *to = pl_arena_array(f->x->tmp, uint32_t, f->n + 1), across = 0, n = 0;
    pl_flow_value *v = pl_arena_array(f->x->tmp, pl_flow_value, f->n + 1);
    if (!to || !v)
        return false;
    for (int local = 0; local < 2; local++) {
        for (uint32_t k = 0; k < f->n; k++) {
            bool stays = f->v[k].block < f->x->b.n && f->v[k].born != UINT32_MAX && !f->v[k].pinned;
            if (stays == (local == 1)) {
                v[n] = f->v[k];
                to[k] = n++;
            }
        }
        across = local ? across : n;
    }
    for (uint32_t r = 0; r < f->x->f->rows; r++)
        f->of[r] = f->of[r] ? to[f->of[r] - 1] + 1 : 0;
    f->v = v;
    f->words = (across + 63) / 64;
    return true;
}

const pl_insn *pl_flow_visit(pl_flow *f, uint32_t block, uint32_t at)
{
    const pl_insn *i = &f->x->b.at[block].code.at[at];
    f->block = block;
    f->at = at;
    f->guarded = i->guard != PL_PT;
    return i;
}

bool pl_flow_starts(const pl_flow *f, uint32_t k, unsigned rows, unsigned use)
{
    const pl_flow_value *v = &f->v[k];
    if (!(use & PL_USE_WRITE) || (use & PL_USE_READ) || rows != v->rows)
        return false;
    return !f->guarded || (v->block == f->block && v->born == f->at);
}

static void summarise(pl_flow *f, uint32_t row, unsigned rows, unsigned use)
{
    uint32_t k = pl_flow_of(f, row, use);
    if (!k-- || k / 64 >= f->words)
        return;
    if (!pl_flow_starts(f, k, rows, use)) {
        if (!pl_flow_has(f, f->def, f->block, k))
            pl_flow_put(f, f->use, f->block, k);
    } else if (!pl_flow_has(f, f->use, f->block, k))
        pl_flow_put(f, f->def, f->block, k);
}

/* Reads come before writes within one instruction. */
static void reads(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    if (use & PL_USE_READ)
        summarise(ctx, *row, rows, use);
}

static void writes(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    if (!(use & PL_USE_READ))
        summarise(ctx, *row, rows, use);
}

static void solve(pl_flow *f)
{
    pl_ir *x = f->x;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t j = x->nrpo; j-- > 0;) {
            size_t b = (size_t)x->rpo[j] * f->words;
            for (uint32_t e = 0, n = pl_ir_successors(x, x->rpo[j]); e < n; e++) {
                const uint64_t *from = f->in + (size_t)pl_ir_successor(x, x->rpo[j], e) * f->words;
                for (uint32_t w = 0; w < f->words; w++)
                    f->out[b + w] |= from[w];
            }
            for (uint32_t w = 0; w < f->words; w++) {
                uint64_t v = f->use[b + w] | (f->out[b + w] & ~f->def[b + w]);
                changed |= v != f->in[b + w];
                f->in[b + w] = v;
            }
        }
    }
}

bool pl_flow_live(pl_flow *f)
{
    pl_ir *x = f->x;
    size_t set = (size_t)f->words * x->b.n + 1;
    uint64_t **all[] = {&f->in, &f->out, &f->use, &f->def};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++)
        if (!(*all[k] = pl_arena_array(x->tmp, uint64_t, set)))
            return false;
    for (uint32_t b = 0; b < x->b.n; b++)
        for (uint32_t k = 0; k < x->b.at[b].code.n; k++) {
            pl_flow_visit(f, b, k);
            pl_insn_uses_twice(x->p, &x->b.at[b].code.at[k], reads, writes, f);
        }
    solve(f);
    return true;
}
