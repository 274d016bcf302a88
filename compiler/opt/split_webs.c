/* split_webs.c - renaming of webs: each unrelated value of a register gets a register of its own.
 *
 * A web is a set of writes that reach common reads: they are joined (union-find), and every web but
 * one gets a new register. The writes that reach the start of a block are found as for SSA form. At
 * a join of several there is a phi (Cytron and others, "Efficiently Computing Static Single
 * Assignment Form and the Control Dependence Graph", 1991); elsewhere the nearest definition above
 * in the dominator tree reaches. There is no phi where the variable is not live. A predicated write
 * preserves the value in other lanes, so it reads too. Hand-written PTX and unrolled loop bodies
 * benefit: for the other passes, a register with one write is a value. */
#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/liveness.h"
#include "compiler/passes.h"
#include "isa/program/operand_plan.h"

typedef struct variable {
    uint32_t row, rows; /* or the number of a predicate */
    /* Its writes: nodes first .. first + n; the first one is the value at function entry. */
    uint32_t first, n;
    uint32_t accesses;   /* the blocks that access it: a list, plus one */
    bool pred, mixed;    /* mixed: accessed with different widths */
    bool crosses_blocks; /* a block reads a value from another block */
} variable;

/* The accesses of a block to a variable. */
typedef struct block_access {
    uint32_t block, node; /* node: the value at the start of the block */
    uint32_t last;        /* its last write, PL_IR_NONE: none */
    uint32_t next;        /* next access to the same variable, plus one */
    bool reads_first;     /* it reads before it writes */
} block_access;

/* A block that writes the current variable, or has a phi of it. */
typedef struct phi_site {
    uint32_t block, pre;
    uint32_t dom_parent; /* the nearest site above it in the dominator tree, plus one */
} phi_site;

typedef struct frontier {
    uint32_t block, next; /* next: plus one */
} frontier;

/* The position of an instruction. */
typedef struct access_point {
    uint32_t block, insn_index;
} access_point;

typedef struct webs {
    pl_ir *x;
    struct {
        access_point *at;
        size_t n, cap;
    } points;          /* instructions that access a candidate variable */
    bool accesses_any; /* the instruction being collected does */
    uint32_t *of[2];   /* by row, by predicate: variable, plus one */
    struct {
        variable *at;
        size_t n, cap;
    } v;
    uint32_t nwrites; /* number of writes of all variables */
    struct {
        uint32_t *at;
        size_t n, cap;
    } up; /* union-find over nodes: writes, then nodes for values at block starts and phis */
    struct {
        block_access *at;
        size_t n, cap;
    } accesses;
    uint32_t *row;      /* by write that represents a web: its row */
    uint32_t *reaching; /* by variable: node that reaches the current point, valid if `in` is the
                           current block */
    uint32_t *in;       /* by variable: last block that accessed it, plus one */
    uint32_t *access;   /* by variable: its access in that block, plus one */
    uint32_t *seen;     /* by variable: writes numbered so far */
    uint32_t naccesses; /* accesses visited so far */
    uint32_t block;
    bool renaming, guarded;
    /* dominance frontiers by block: lists, plus one */
    uint32_t *frontier;
    struct {
        frontier *at;
        size_t n, cap;
    } frontiers;
    pl_live_spans sets; /* liveness of variables */
    /* By variable: its first interval in `spans`; `spans` holds indices into those of the sets. */
    uint32_t *span, *spans;
    /* by block: the variable, plus one, for which the block has an access, has a phi; that access,
     * that phi's node */
    uint32_t *has_access, *has_phi, *accessed, *phi;
    struct {
        phi_site *at;
        size_t n, cap;
    } sites;
    struct {
        uint32_t *at;
        size_t n, cap;
    } worklist, live_phis; /* blocks; phis that are used */
    bool *is_live_phi;     /* by block */
} webs;

static uint32_t find_root(webs *w, uint32_t k)
{
    uint32_t *up = w->up.at;
    while (up[k] != k) k = up[k] = up[up[k]];
    return k;
}

static void union_nodes(webs *w, uint32_t a, uint32_t b)
{
    a = find_root(w, a);
    b = find_root(w, b);
    if (a < b)
        w->up.at[b] = a;
    else
        w->up.at[a] = b;
}

static uint32_t new_node(webs *w)
{
    uint32_t k = (uint32_t)w->up.n;
    *pl_push(w->x->tmp, &w->up) = k;
    return k;
}

/* Finds the variables: rows with several writes that are always accessed with the same width. */
static inline void collect_accesses(webs *w, uint32_t *row, unsigned rows, unsigned use)
{
    bool pred = (use & PL_USE_PRED) != 0;
    pl_ir *x = w->x;
    const pl_ir_reg *info = pred ? x->preds : x->regs;
    unsigned n = pred ? 1 : rows;
    uint32_t have = w->of[pred][*row];
    if (!have && info[*row].ndefs < 2) /* most rows */
        return;
    bool eligible = true;
    w->accesses_any = true;
    for (unsigned k = 0; k < n; k++)
        eligible &= !info[*row + k].precolored && info[*row + k].kind == PL_REG_VIRTUAL &&
                    !(pred && *row <= PL_PF);
    if (!have) {
        if (!eligible) return;
        *pl_push(x->tmp, &w->v) = (variable){.row = *row, .rows = n, .pred = pred, .n = 1};
        if (!pl_ir_ok(x)) return;
        for (unsigned k = 0; k < n; k++) {
            uint32_t other = w->of[pred][*row + k];
            if (other) w->v.at[other - 1].mixed = w->v.at[w->v.n - 1].mixed = true;
            w->of[pred][*row + k] = (uint32_t)w->v.n;
        }
        have = (uint32_t)w->v.n;
    }
    variable *v = &w->v.at[have - 1];
    v->mixed |= v->row != *row || v->rows != n || !eligible;
    for (unsigned k = 1; k < n; k++)
        if (w->of[pred][*row + k] != have) {
            v->mixed = true;
            if (w->of[pred][*row + k]) w->v.at[w->of[pred][*row + k] - 1].mixed = true;
        }
    v->n += (use & PL_USE_WRITE) != 0;
}

/* The node that reaches this point in the block. If the first access of a block is a read, a new
 * node represents the value at the block's start. */
static uint32_t reaching_def(webs *w, uint32_t index, bool reads)
{
    if (w->in[index] == w->block + 1) return w->reaching[index];
    variable *v = &w->v.at[index];
    if (!w->renaming) {
        block_access *t = pl_push(w->x->tmp, &w->accesses);
        *t = (block_access){w->block, reads ? new_node(w) : PL_IR_NONE, PL_IR_NONE, v->accesses,
                            reads};
        v->accesses = (uint32_t)w->accesses.n;
        v->crosses_blocks |= reads;
    }
    w->in[index] = w->block + 1;
    w->access[index] = ++w->naccesses;
    return w->reaching[index] = w->accesses.at[w->naccesses - 1].node;
}

static void step_variable(webs *w, uint32_t index, uint32_t *row, unsigned use, bool write)
{
    if (w->v.at[index].mixed || w->v.at[index].row != *row) return;
    bool preserves = write && (w->guarded || (use & PL_USE_READ)); /* the previous value matters */
    uint32_t node = reaching_def(w, index, !write || preserves);
    if (write) {
        uint32_t def = w->v.at[index].first + ++w->seen[index];
        if (preserves && !w->renaming) union_nodes(w, node, def);
        w->reaching[index] = node = def;
        w->accesses.at[w->access[index] - 1].last = def;
    }
    if (w->renaming) *row = w->row[find_root(w, node)];
}

static inline void step(webs *w, uint32_t *row, unsigned use, bool write)
{
    uint32_t index = w->of[(use & PL_USE_PRED) != 0][*row];
    if (index) /* few rows are variables */
        step_variable(w, index - 1, row, use, write);
}

/* Visits reads before writes within an instruction. Each operand is one or the other, so it is
 * renamed once. */
static void rename_block(webs *w, bool renaming)
{
    pl_ir *x = w->x;
    w->renaming = renaming;
    w->naccesses = 0;
    memset(w->seen, 0, w->v.n * sizeof *w->seen);
    memset(w->in, 0, w->v.n * sizeof *w->in);
    for (size_t k = 0; k < w->points.n; k++) {
        pl_insn *i = &x->blocks.at[w->points.at[k].block].code.at[w->points.at[k].insn_index];
        w->block = w->points.at[k].block;
        w->guarded = i->guard != PL_PT;
        PL_FOR_EACH_READ(x->p, i, o)
            if (!(o.use & PL_USE_WRITE)) step(w, o.row, o.use, false);
        PL_FOR_EACH_WRITE(x->p, i, o) step(w, o.row, o.use, true);
    }
}

/* ---- across blocks ---- */

/* Computes dominance frontiers: for every block, the blocks where its dominance ends (Cooper,
 * Harvey and Kennedy). False: they are too large. */
static bool find_frontiers(webs *w)
{
    enum { MAX_FRONTIERS = 1 << 20, MAX_PER_BLOCK = 64 };
    pl_ir *x = w->x;
    w->frontier = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    if (!w->frontier) return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        for (uint32_t e = 0; e < b->npreds && (b->npreds > 1 || !j); e++)
            for (uint32_t r = x->predecessors[b->first_pred + e]; !j || r != b->idom;
                 r = x->blocks.at[r].idom) {
                uint32_t last = w->frontier[r];
                if (!last || w->frontiers.at[last - 1].block != x->rpo[j]) {
                    *pl_push(x->tmp, &w->frontiers) = (frontier){x->rpo[j], last};
                    w->frontier[r] = (uint32_t)w->frontiers.n;
                }
                if (!r || w->frontiers.n > MAX_FRONTIERS + MAX_PER_BLOCK * x->blocks.n) break;
            }
    }
    return w->frontiers.n <= MAX_FRONTIERS + MAX_PER_BLOCK * x->blocks.n;
}

static int by_dom_preorder(const void *a, const void *b)
{
    const phi_site *x = a, *y = b;
    return x->pre < y->pre ? -1 : x->pre > y->pre;
}

static void add_site(webs *w, uint32_t block)
{
    *pl_push(w->x->tmp, &w->sites) = (phi_site){block, w->x->blocks.at[block].dom_pre, 0};
    *pl_push(w->x->tmp, &w->worklist) = block;
}

static bool dominates_block(const pl_ir *x, const phi_site *s, uint32_t block)
{
    return pl_ir_dominates(x, s->block, block);
}

static bool find_live_ranges(webs *w)
{
    pl_ir *x = w->x;
    if (!pl_liveness_spans(&w->sets, x)) return false;
    w->sets.values = (uint32_t)w->v.n;
    for (uint32_t k = 0; k < w->v.n; k++)
        for (uint32_t t = w->v.at[k].crosses_blocks ? w->v.at[k].accesses : 0; t;
             t = w->accesses.at[t - 1].next)
            if (x->blocks.at[w->accesses.at[t - 1].block].rpo_index != PL_IR_NONE)
                pl_live_spans_access(&w->sets, k, w->accesses.at[t - 1].block,
                                     w->accesses.at[t - 1].reads_first);
    if (!pl_live_spans_solve(&w->sets)) return false;
    w->span = pl_arena_array(x->tmp, uint32_t, w->v.n + 2);
    w->spans = pl_arena_array(x->tmp, uint32_t, w->sets.spans.n + 1);
    if (!w->span || !w->spans) return false;
    for (size_t k = 0; k < w->sets.spans.n; k++) w->span[w->sets.spans.at[k].value + 1]++;
    for (size_t k = 0; k < w->v.n; k++) w->span[k + 1] += w->span[k];
    for (size_t k = w->sets.spans.n; k-- > 0;)
        w->spans[--w->span[w->sets.spans.at[k].value + 1]] = (uint32_t)k;
    return true;
}

static bool is_accessed(const webs *w, uint32_t index, uint32_t block)
{
    return w->has_access[block] == index + 1;
}

/* The block's last write, PL_IR_NONE: none. */
static uint32_t last_write_in(const webs *w, uint32_t index, uint32_t block)
{
    return is_accessed(w, index, block) ? w->accesses.at[w->accessed[block]].last : PL_IR_NONE;
}

/* True if the variable is live at the start of the block. */
static bool is_live_in(const webs *w, uint32_t index, uint32_t block)
{
    if (is_accessed(w, index, block)) return w->accesses.at[w->accessed[block]].reads_first;
    uint32_t low = w->span[index + 1],
             all = index + 2 <= w->v.n ? w->span[index + 2] : (uint32_t)w->sets.spans.n, high = all;
    while (low < high) { /* the first interval that does not end before the block */
        uint32_t middle = low + (high - low) / 2;
        if (w->sets.spans.at[w->spans[middle]].end <= block)
            low = middle + 1;
        else
            high = middle;
    }
    return low < all && w->sets.spans.at[w->spans[low]].first <= block;
}

/* Finds the sites of a variable, its writes and phis; each is linked to the nearest one above
 * it. */
static void find_sites(webs *w, uint32_t index)
{
    pl_ir *x = w->x;
    w->sites.n = w->worklist.n = 0;
    for (uint32_t t = w->v.at[index].accesses; t; t = w->accesses.at[t - 1].next) {
        const block_access *k = &w->accesses.at[t - 1];
        if (x->blocks.at[k->block].rpo_index == PL_IR_NONE) continue;
        w->has_access[k->block] = index + 1;
        w->accessed[k->block] = t - 1;
        if (k->last != PL_IR_NONE) add_site(w, k->block);
    }
    while (w->worklist.n && pl_ir_ok(x))
        for (uint32_t f = w->frontier[w->worklist.at[--w->worklist.n]]; f;
             f = w->frontiers.at[f - 1].next) {
            uint32_t b = w->frontiers.at[f - 1].block;
            if (w->has_phi[b] == index + 1 || !is_live_in(w, index, b)) continue;
            w->has_phi[b] = index + 1;
            w->is_live_phi[b] = false;
            w->phi[b] = new_node(w);
            if (last_write_in(w, index, b) == PL_IR_NONE) add_site(w, b);
        }
    if (w->sites.n > 1) qsort(w->sites.at, w->sites.n, sizeof *w->sites.at, by_dom_preorder);
    for (uint32_t k = 1; k < w->sites.n; k++) {
        uint32_t up = k; /* index of the site above, plus one */
        while (up && !dominates_block(x, &w->sites.at[up - 1], w->sites.at[k].block))
            up = w->sites.at[up - 1].dom_parent;
        w->sites.at[k].dom_parent = up;
    }
}

static uint32_t mark_live_phi(webs *w, uint32_t block)
{
    if (!w->is_live_phi[block]) {
        w->is_live_phi[block] = true;
        *pl_push(w->x->tmp, &w->live_phis) = block;
    }
    return w->phi[block];
}

/* The node that reaches the end of a block. */
static uint32_t reaching_at_end(webs *w, uint32_t index, uint32_t block)
{
    uint32_t low = 0, high = (uint32_t)w->sites.n, pre = w->x->blocks.at[block].dom_pre;
    while (low < high) { /* the last site not after it in tree order */
        uint32_t middle = low + (high - low) / 2;
        if (w->sites.at[middle].pre <= pre)
            low = middle + 1;
        else
            high = middle;
    }
    while (low && !dominates_block(w->x, &w->sites.at[low - 1], block))
        low = w->sites.at[low - 1].dom_parent;
    if (!low) return w->v.at[index].first;
    uint32_t b = w->sites.at[low - 1].block, last = last_write_in(w, index, b);
    return last != PL_IR_NONE ? last : mark_live_phi(w, b);
}

static uint32_t reaching_at_start(webs *w, uint32_t index, uint32_t block)
{
    const pl_ir_block *b = &w->x->blocks.at[block];
    if (b->rpo_index != PL_IR_NONE && w->has_phi[block] == index + 1)
        return mark_live_phi(w, block);
    return block == 0 || b->rpo_index == PL_IR_NONE ? w->v.at[index].first
                                                    : reaching_at_end(w, index, b->idom);
}

/* Joins the value that a block reads at its start with the writes that reach it. */
static void join_reaching_defs(webs *w, uint32_t index)
{
    const pl_ir *x = w->x;
    find_sites(w, index);
    w->live_phis.n = 0;
    for (uint32_t t = w->v.at[index].accesses; t; t = w->accesses.at[t - 1].next)
        if (w->accesses.at[t - 1].reads_first)
            union_nodes(w, w->accesses.at[t - 1].node,
                        reaching_at_start(w, index, w->accesses.at[t - 1].block));
    while (w->live_phis.n && pl_ir_ok(x)) {
        uint32_t b = w->live_phis.at[--w->live_phis.n];
        for (uint32_t e = 0; e < x->blocks.at[b].npreds; e++)
            union_nodes(w, w->phi[b],
                        reaching_at_end(w, index, x->predecessors[x->blocks.at[b].first_pred + e]));
        if (b == 0) union_nodes(w, w->phi[b], w->v.at[index].first);
    }
}

bool pl_pass_split_webs(pl_ir *x)
{
    webs w = {.x = x};
    if (!pl_ir_analyze(x)) return false;
    w.of[0] = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4);
    w.of[1] = pl_arena_array(x->tmp, uint32_t, x->f->preds + 1);
    if (!w.of[0] || !w.of[1]) return false;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (uint32_t k = 0; k < x->blocks.at[b].code.n; k++) {
            w.accesses_any = false;
            PL_FOR_EACH_USE(x->p, &x->blocks.at[b].code.at[k], o)
                collect_accesses(&w, o.row, o.rows, o.use);
            if (w.accesses_any) *pl_push(x->tmp, &w.points) = (access_point){b, k};
        }
    if (!pl_ir_ok(x)) return false;
    for (size_t k = 0; k < w.v.n; k++) {
        w.v.at[k].first = w.nwrites;
        w.nwrites += w.v.at[k].mixed ? 0 : w.v.at[k].n;
    }
    if (!w.nwrites) {
        pl_ir_preserve_all(x);
        return true;
    }
    uint32_t rows = x->f->rows, preds = x->f->preds;
    w.row = pl_arena_array(x->tmp, uint32_t, w.nwrites);
    uint32_t **by_var[] = {&w.reaching, &w.in, &w.access, &w.seen},
             **by_block[] = {&w.has_access, &w.has_phi, &w.accessed, &w.phi};
    for (size_t k = 0; k < 4; k++) {
        *by_var[k] = pl_arena_array(x->tmp, uint32_t, w.v.n);
        *by_block[k] = pl_arena_array(x->tmp, uint32_t, x->blocks.n);
    }
    w.is_live_phi = pl_arena_array(x->tmp, bool, x->blocks.n);
    for (uint32_t k = 0; k < w.nwrites; k++) new_node(&w);
    if (!pl_ir_ok(x)) return false;
    rename_block(&w, false);
    if (!find_frontiers(&w)) /* the function is left unchanged */
        return pl_ir_ok(x);
    if (!find_live_ranges(&w)) return false;
    for (uint32_t k = 0; k < w.v.n && pl_ir_ok(x); k++)
        if (w.v.at[k].crosses_blocks) join_reaching_defs(&w, k);
    if (!pl_ir_ok(x)) return false;
    for (size_t k = 0; k < w.v.n; k++) {
        variable *v = &w.v.at[k];
        bool first_done = false; /* the first web keeps the row */
        for (uint32_t d = v->first; !v->mixed && d < v->first + v->n; d++) {
            if (find_root(&w, d) != d) continue;
            w.row[d] = !first_done ? v->row : v->pred ? pl_ir_new_pred(x) : pl_ir_new(x, v->rows);
            first_done = true;
        }
    }
    if (x->f->rows == rows && x->f->preds == preds)
        pl_ir_preserve_all(x);
    else
        rename_block(&w, true);
    return pl_ir_ok(x);
}
