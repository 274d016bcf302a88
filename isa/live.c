/* live.c - liveness and linear-scan register allocation.
 *
 * A unit is a group of consecutive rows that instructions use together (a 64-bit register is two). Liveness is found unit by unit,
 * walking from the blocks that read it against the flow to the blocks that write it (Boissinot and others, "Computing Liveness Sets
 * for SSA-Form Programs", 2011): most units live in one block or two, so that this takes time and memory in proportion to the code,
 * where bit sets would take blocks times units. A unit's interval is the code range from its first to its last live point (Poletto and Sarkar, "Linear
 * Scan Register Allocation", 1999). A guarded write keeps the lanes that the guard excludes, so it does not end the old value. Lanes
 * that have parted may hold different units in one row: rows are private to a lane, so per-thread liveness is enough. */
#include "isa/live.h"

#include <stdlib.h>
#include <string.h>

#include "isa/cfg.h"
#include "isa/plan.h"

/* Registers that ptxas takes beyond what is live at once, because it moves more than loads and forms addresses early; and the fewest of
 * a function that calls by the convention, which gives callees the first ones: fitted to `registers` of h200/suite (H200, ptxas 13.0, 2026-11). */
enum { SCHEDULING = 3, WITH_CALLS = 24, FEWEST = 10 };

/* Registers of a thread that code can name; rows of a register file; the step in which a thread gets them; the fewest it gets by launch
 * bounds (CUDA C++ Programming Guide, "Compute Capabilities"; before sm_32 an instruction has 6 bits for a register). */
enum { MOST = 255, MOST_OLD = 63, FILE_WARPS = 65536 / PL_LANES, UNIT = 8, LEAST = 16 };

/* Registers that the steps of an instruction need while it runs, by the start of its class: read off machine code for sm_90. */
static const struct { const char *class_name; uint8_t rows; } temporaries[] = {
    {"div32", 5}, {"rem32", 5}, {"divisor32", 5}, {"div64", 12}, {"rem64", 12}, {"div_f64", 12}, {"sqrt_f64", 12}, {"rcp_f64", 10},
    {"rsqrt_f64", 8}, {"div_f32_rn", 4}, {"sqrt_f32_rn", 4}, {"rcp_f32_rn", 4}, {"mul64", 3}, {"bfi", 3}, {"bfe", 2}, {"mma_fp8", 8}};

uint8_t pl_live_temporaries(uint16_t cls)
{
    for (size_t k = 0; k < sizeof temporaries / sizeof *temporaries; k++)
        if (strncmp(pl_class_text[cls], temporaries[k].class_name, strlen(temporaries[k].class_name)) == 0)
            return temporaries[k].rows;
    return 0;
}

static uint32_t product(const uint32_t *size)
{
    return size[0] * (size[1] ? size[1] : 1) * (size[2] ? size[2] : 1);
}

uint32_t pl_register_limit(const pl_program *p, const pl_prog_func *f)
{
    uint32_t limit = p->sm >= 32 || p->sm < 10 ? MOST : MOST_OLD;
    if (f->maxnreg)
        return f->maxnreg < limit ? f->maxnreg : limit;
    uint32_t threads = f->reqntid[0] ? product(f->reqntid) : product(f->maxntid);
    uint32_t warps = (threads + PL_LANES - 1) / PL_LANES * (f->minnctapersm ? f->minnctapersm : 1);
    if (!warps)
        return limit;
    uint32_t share = (p->sm >= 30 ? FILE_WARPS : FILE_WARPS / 2) / warps / UNIT * UNIT;
    return share < LEAST ? LEAST : share < limit ? share : limit;
}

/* A call of a function that keeps to the calling convention. */
static bool is_linked(const pl_program *p, const pl_insn *i)
{
    if (!(pl_forms[i->form].effects & PL_EF_CALL))
        return false;
    uint32_t callee = p->calls.at[i->target].callee;
    return callee == UINT32_MAX || p->funcs.at[callee].linked || p->funcs.at[callee].system;
}

typedef struct unit {
    uint32_t row, rows;   /* as numbered before */
    bool uniform;         /* in uniform registers: it takes none of a thread's */
    uint32_t start, end;  /* live interval, relative to the function's first instruction */
    uint32_t to;          /* new row */
    uint32_t block;       /* the only block that touches it; UINT32_MAX: several do */
    uint32_t born;        /* position of the write that starts a unit of one block; UINT32_MAX: it starts with a read */
    bool used;
} unit;

/* One block touches a unit. */
typedef struct touch {
    uint32_t unit, block;
    uint32_t next;      /* of the same unit, plus one */
    bool use, def, out; /* read before it is written; written first; live at the end */
} touch;

typedef struct live {
    pl_program *p;
    pl_arena *a;
    pl_prog_func *f;
    pl_cfg g;
    uint32_t fixed;
    uint32_t *unit_of;  /* by old row */
    unit *u;
    uint32_t n;         /* units */
    struct { touch *at; size_t n, cap; } touches; /* in the order of the blocks */
    uint32_t *newest;   /* by unit: its last touch, plus one */
    uint32_t *touch_of; /* by block: touch of the unit at work, if it is that unit's */
    uint32_t *left_by;  /* by block: last unit found live at its end, plus one */
    uint32_t *rows_out; /* by block: rows live at its end */
    uint32_t *stack, depth;
    uint8_t *now;       /* by unit: live here */
    uint8_t *temporary; /* by class: rows that its steps need, plus one; 0: not looked up yet */
    uint32_t rows;      /* live here */
    uint32_t at;        /* instruction being visited */
    uint32_t block;
    bool guarded, umov;
    uint32_t delta;     /* how far fixed rows move down */
} live;

static void join(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    live *l = ctx;
    if ((use & PL_USE_PRED) || *row >= l->fixed)
        return;
    for (unsigned k = 1; k < rows; k++) /* rows of one operand belong to one unit: mark them as continued */
        l->unit_of[*row + k] = 1;
}

/* Where is it touched, and how first? Reads come before writes within one instruction. */
static void locate(live *l, uint32_t row, bool write)
{
    unit *u = &l->u[l->unit_of[row]];
    if (!u->used) {
        u->used = true;
        u->block = l->block;
        u->born = write ? l->at : UINT32_MAX;
    } else if (u->block != l->block)
        u->block = UINT32_MAX;
}

static void locate_read(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    live *l = ctx;
    (void)rows;
    if (!(use & PL_USE_PRED) && (use & PL_USE_READ) && *row < l->fixed)
        locate(l, *row, false);
}

static void locate_write(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    live *l = ctx;
    if (!(use & PL_USE_PRED) && (use & PL_USE_WRITE) && *row < l->fixed)
        locate(l, *row, rows == l->u[l->unit_of[*row]].rows);
    if (l->umov && !(use & PL_USE_PRED) && (use & PL_USE_WRITE) && *row < l->fixed)
        l->u[l->unit_of[*row]].uniform = true;
}

/* Does this write start the value anew? Under a guard it does when nothing before it, in the only block that knows the unit, has
 * written or read it: other lanes hold nothing worth keeping. */
static bool starts(const live *l, uint32_t u, unsigned rows, unsigned use)
{
    if (!(use & PL_USE_WRITE) || (use & PL_USE_READ) || rows != l->u[u].rows)
        return false;
    return !l->guarded || (l->u[u].block == l->block && l->u[u].born == l->at);
}

static void summarise(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    live *l = ctx;
    (void)rows;
    if ((use & PL_USE_PRED) || *row >= l->fixed)
        return;
    uint32_t u = l->unit_of[*row];
    if (!l->newest[u] || l->touches.at[l->newest[u] - 1].block != l->block) {
        bool whole = starts(l, u, rows, use);
        uint32_t next = l->newest[u];
        *pl_push(l->a, &l->touches) = (touch){.unit = u, .block = l->block, .next = next, .use = !whole, .def = whole};
        l->newest[u] = (uint32_t)l->touches.n;
    }
}

/* Reads come before writes within one instruction. */
static void summarise_reads(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    if (use & PL_USE_READ)
        summarise(ctx, row, rows, use);
}

static void summarise_writes(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    if ((use & PL_USE_WRITE) && !(use & PL_USE_READ))
        summarise(ctx, row, rows, use);
}

static void extend(unit *u, uint32_t at)
{
    if (at < u->start)
        u->start = at;
    if (at > u->end)
        u->end = at;
}

static void reach(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    live *l = ctx;
    (void)rows;
    if (!(use & PL_USE_PRED) && *row < l->fixed)
        extend(&l->u[l->unit_of[*row]], l->at);
}

static uint32_t weight(const unit *u)
{
    return u->uniform ? 0 : u->rows;
}

/* Backward step over one instruction for counting what is live. */
static void kill(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    live *l = ctx;
    if ((use & PL_USE_PRED) || *row >= l->fixed)
        return;
    uint32_t u = l->unit_of[*row];
    if (l->now[u] && starts(l, u, rows, use)) {
        l->now[u] = 0;
        l->rows -= weight(&l->u[u]);
    }
}

static void revive(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    live *l = ctx;
    if ((use & PL_USE_PRED) || *row >= l->fixed)
        return;
    uint32_t u = l->unit_of[*row];
    if (!(use & PL_USE_READ) && (!l->guarded || starts(l, u, rows, use)))
        return;
    if (!l->now[u]) {
        l->now[u] = 1;
        l->rows += weight(&l->u[u]);
    }
}

static void renumber(void *ctx, uint32_t *row, unsigned rows, unsigned use)
{
    live *l = ctx;
    (void)rows;
    if (use & PL_USE_PRED)
        return;
    if (*row >= l->fixed)
        *row -= l->delta;
    else {
        const unit *u = &l->u[l->unit_of[*row]];
        *row = u->to + (*row - u->row);
    }
}

static void make_units(live *l, pl_arena *a)
{
    for (uint32_t k = 0; k < l->f->count; k++)
        pl_insn_uses_here(l->p, &l->p->code.at[l->f->first + k], join, l);
    for (size_t k = 0; k < l->f->formal.n; k++) /* register parameters and results of functions */
        if (l->f->formal.at[k].reg && !l->f->formal.at[k].pred && l->f->formal.at[k].bytes > 4)
            join(l, &l->f->formal.at[k].to, 2, 0);
    for (size_t k = 0; k < l->f->result.n; k++)
        if (l->f->result.at[k].reg && !l->f->result.at[k].pred && l->f->result.at[k].bytes > 4)
            join(l, &l->f->result.at[k].from, 2, 0);
    l->u = pl_arena_array(a, unit, l->fixed + 1);
    if (!pl_arena_ok(a))
        return;
    for (uint32_t r = 0; r < l->fixed; r++) {
        if (!l->unit_of[r])
            l->u[l->n++] = (unit){.row = r, .start = UINT32_MAX};
        l->unit_of[r] = l->n - 1;
        l->u[l->n - 1].rows++;
    }
}

/* The unit is live at the start of the block, and so at the end of the blocks in front of it. */
static void enter(live *l, unit *u, uint32_t block)
{
    extend(u, l->g.b[block].first - l->f->first);
    for (uint32_t e = l->g.pred_start[block]; e < l->g.pred_start[block + 1]; e++) {
        uint32_t p = l->g.pred[e], index = (uint32_t)(u - l->u);
        if (l->left_by[p] == index + 1)
            continue;
        l->left_by[p] = index + 1;
        l->rows_out[p] += weight(u);
        extend(u, l->g.b[p].end - l->f->first);
        touch *t = l->touch_of[p] ? &l->touches.at[l->touch_of[p] - 1] : NULL;
        if (t && t->unit == index)
            t->out = true;
        else
            l->stack[l->depth++] = p;
    }
}

static void solve(live *l)
{
    for (uint32_t k = 0; k < l->n; k++) {
        bool any = false;
        for (uint32_t t = l->newest[k]; t; t = l->touches.at[t - 1].next) {
            l->touch_of[l->touches.at[t - 1].block] = t;
            any |= l->touches.at[t - 1].use;
        }
        for (uint32_t t = any ? l->newest[k] : 0; t; t = l->touches.at[t - 1].next)
            if (l->touches.at[t - 1].use) {
                enter(l, &l->u[k], l->touches.at[t - 1].block);
                while (l->depth)
                    enter(l, &l->u[k], l->stack[--l->depth]);
            }
    }
}

static int by_start(const void *a, const void *b)
{
    const unit *x = *(unit *const *)a, *y = *(unit *const *)b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Linear scan: rows that are free again at a unit's start are used again. Returns the number of rows needed. */
static uint32_t scan(live *l, pl_arena *a)
{
    unit **order = pl_arena_array(a, unit *, l->n + 1);
    uint32_t *busy = pl_arena_array(a, uint32_t, l->fixed * 2 + 16), most = 0; /* per new row: first point at which it is free */
    /* A row is used for one width only: lane 5 of a 64-bit pair is not lane 5 of a 32-bit row, and lanes that have parted may hold
     * different units in the same row. */
    uint8_t *width = pl_arena_array(a, uint8_t, l->fixed * 2 + 16);
    uint32_t n = 0;
    if (!pl_arena_ok(a))
        return 0;
    for (uint32_t k = 0; k < l->n; k++)
        if (l->u[k].start != UINT32_MAX)
            order[n++] = &l->u[k];
    qsort(order, n, sizeof *order, by_start);
    for (uint32_t k = 0; k < n; k++) {
        unit *u = order[k];
        uint32_t step = u->rows >= 4 ? 4 : u->rows == 2 ? 2 : 1, row = 0;
        for (;; row += step) {
            bool free_rows = true;
            for (uint32_t r = 0; r < u->rows && free_rows; r++)
                free_rows = row + r >= most || (busy[row + r] <= u->start && (!width[row + r] || width[row + r] == u->rows));
            if (free_rows)
                break;
        }
        u->to = row;
        for (uint32_t r = 0; r < u->rows; r++) {
            busy[row + r] = u->end + 1;
            width[row + r] = (uint8_t)u->rows;
        }
        if (row + u->rows > most)
            most = row + u->rows;
    }
    return most;
}

/* Largest number of 32-bit registers live at once. */
static uint32_t pressure(live *l)
{
    uint32_t most = 0;
    size_t t = 0;
    for (l->block = 0; l->block < l->g.n; l->block++) {
        const pl_block *b = &l->g.b[l->block];
        size_t first = t;
        for (; t < l->touches.n && l->touches.at[t].block == l->block; t++)
            l->now[l->touches.at[t].unit] = l->touches.at[t].out;
        l->rows = l->rows_out[l->block];
        for (uint32_t pc = b->end; pc-- > b->first;) {
            pl_insn *i = &l->p->code.at[pc];
            l->at = pc - l->f->first;
            l->guarded = i->guard != PL_PT;
            pl_insn_uses_twice(l->p, i, kill, revive, l);
            if (!l->temporary[i->cls])
                l->temporary[i->cls] = (uint8_t)(pl_live_temporaries(i->cls) + 1u);
            uint32_t rows = l->rows + l->temporary[i->cls] - 1u;
            most = rows > most ? rows : most;
        }
        for (size_t k = first; k < t; k++)
            l->now[l->touches.at[k].unit] = 0;
    }
    return most;
}

pl_status pl_live_allocate(pl_program *p, pl_prog_func *f, uint32_t fixed, pl_arena *a)
{
    live l = {.p = p, .f = f, .a = a, .fixed = fixed};
    pl_status st = pl_cfg_make(p, f, a, &l.g);
    if (st != PL_OK)
        return st;
    l.unit_of = pl_arena_array(a, uint32_t, fixed + 4);
    if (!pl_arena_ok(a))
        return PL_NOMEM;
    make_units(&l, a);
    l.newest = pl_arena_array(a, uint32_t, l.n + 1);
    l.now = pl_arena_array(a, uint8_t, l.n + 1);
    l.touch_of = pl_arena_array(a, uint32_t, l.g.n + 1);
    l.left_by = pl_arena_array(a, uint32_t, l.g.n + 1);
    l.rows_out = pl_arena_array(a, uint32_t, l.g.n + 1);
    l.stack = pl_arena_array(a, uint32_t, l.g.n + 1);
    l.temporary = pl_arena_array(a, uint8_t, C_count);
    if (!pl_arena_ok(a))
        return PL_NOMEM;
    for (l.block = 0; l.block < l.g.n; l.block++)
        for (uint32_t pc = l.g.b[l.block].first; pc < l.g.b[l.block].end; pc++) {
            l.at = pc - f->first;
            l.umov = pl_forms[p->code.at[pc].form].mnem == M__umov;
            pl_insn_uses_twice(p, &p->code.at[pc], locate_read, locate_write, &l);
        }
    for (l.block = 0; l.block < l.g.n; l.block++)
        for (uint32_t pc = l.g.b[l.block].first; pc < l.g.b[l.block].end; pc++) {
            pl_insn *i = &p->code.at[pc];
            l.guarded = i->guard != PL_PT;
            l.at = pc - f->first;
            pl_insn_uses_twice(p, i, summarise_reads, summarise_writes, &l);
            pl_insn_uses_here(p, i, reach, &l);
        }
    if (!pl_arena_ok(a))
        return PL_NOMEM;
    solve(&l);
    /* parameters arrive at the start, results leave at the end */
    for (size_t k = 0; k < f->formal.n; k++)
        if (f->formal.at[k].reg && !f->formal.at[k].pred)
            extend(&l.u[l.unit_of[f->formal.at[k].to]], 0);
    for (size_t k = 0; k < f->result.n; k++)
        if (f->result.at[k].reg && !f->result.at[k].pred) {
            extend(&l.u[l.unit_of[f->result.at[k].from]], 0);
            extend(&l.u[l.unit_of[f->result.at[k].from]], f->count);
        }
    bool calls = false;
    for (uint32_t k = 0; k < f->count && !calls; k++)
        calls = is_linked(p, &p->code.at[f->first + k]);
    f->registers = pressure(&l) + SCHEDULING;
    uint32_t fewest = calls ? WITH_CALLS : FEWEST;
    if (f->registers < fewest)
        f->registers = fewest;
    uint32_t limit = pl_register_limit(p, f);
    if (f->registers > limit)
        f->registers = limit;
    uint32_t rows = scan(&l, a);
    if (!pl_arena_ok(a))
        return PL_NOMEM;
    rows = (rows + 3u) & ~3u;
    if (rows > fixed)
        return PL_OK;
    l.delta = fixed - rows;
    for (uint32_t k = 0; k < f->count; k++)
        pl_insn_uses_here(p, &p->code.at[f->first + k], renumber, &l);
    for (size_t k = 0; k < f->formal.n; k++)
        if (f->formal.at[k].reg)
            renumber(&l, &f->formal.at[k].to, 1, f->formal.at[k].pred ? PL_USE_PRED : 0);
    for (size_t k = 0; k < f->result.n; k++)
        if (f->result.at[k].reg)
            renumber(&l, &f->result.at[k].from, 1, f->result.at[k].pred ? PL_USE_PRED : 0);
    for (size_t k = 0; k < f->init.n; k++)
        f->init.at[k].row -= l.delta;
    f->rows -= l.delta;
    return PL_OK;
}
