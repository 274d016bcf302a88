/* schedule.c - the order of the instructions of a block.
 *
 * Warps issue in order, so the assembler fills the time that a result takes with other work: of the instructions whose operands are there,
 * the one at the start of the longest chain of latencies comes first, as long as there are registers (Gibbons and Muchnick, "Efficient
 * Instruction Scheduling for a Pipelined Architecture", 1986; Goodman and Hsu, "Code Scheduling and Register Allocation in Large Basic
 * Blocks", 1988). So loads are issued as soon as their addresses are known, then whatever does not wait for them, as in the code of
 * ptxas for sm_90 (2026-11). Where registers run out, what was begun early holds them: then orders that look less far ahead are made too.
 *
 * What stays in order: writes and reads of a register; stores, and the loads that may see them; what other lanes or threads can observe;
 * additions with carry. Arithmetic moves past barriers and atomics, loads past reductions that they cannot see. */
#include <string.h>

#include "isa/flow.h"
#include "isa/live.h"
#include "isa/passes.h"
#include "isa/plan.h"

/* An atomic operation without .acquire or .release orders no other access: for those, a reduction is a store. */
static bool plain_reduction(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_red && pl_insn_effects(i) == PL_EF_ATOMIC && !pl_insn_has(i, W_release);
}

static bool plain_store(const pl_insn *i)
{
    bool stores = pl_insn_effects(i) == PL_EF_STORE && !(i->flags & PL_IF_CONTROL);
    return (stores || plain_reduction(i)) && (i->flags & PL_IF_MEM) && !(i->sel[PL_M_FLAGS] & PL_MF_POLL);
}

/* May the load see what the store writes? Not in another space; a generic address may be in any. */
static bool may_see(const pl_insn *load, const pl_insn *store)
{
    pl_space a = (pl_space)load->sel[PL_M_SPACE], b = (pl_space)store->sel[PL_M_SPACE];
    return a == b || a == PL_SP_GENERIC || b == PL_SP_GENERIC;
}

/* Cycles from an instruction to its reader, as the assembler expects them: fixed latencies of sm_80 to sm_100, and typical ones of what a
 * scoreboard ends (h200/micro, 2026-11). The start of the name of its class decides; everything else takes FIXED. */
enum { FIXED = 5, TO_GUARD = 13, FAR_LOAD = 400, NEAR_LOAD = 30, BANK_LOAD = 40 };
static const struct { const char *class_name; uint16_t cycles; } latencies[] = {
    {"mma_f64", 32}, {"mma_fp8", 48}, {"mma_", 26}, {"wmma_mma", 34}, {"redux", 44}, {"gather", 44}, {"shfl", 26}, {"match", 28}, {"movmatrix", 34},
    {"sreg", 24}, {"mufu_scaled", 40}, {"mufu_trig", 28}, {"mufu", 24}, {"div", 60}, {"rem", 60}, {"sqrt", 60}, {"rcp", 60}, {"rsqrt", 60},
    {"popc", 18}, {"clz", 22}, {"brev", 22}, {"cvt_f2i", 24}, {"cvt_rnd", 24}, {"cvt_64", 24}, {"fp64", 8}, {"imad_wide", 6}, {"imad_hi", 6},
    {"mul64", 17}, {"half", 6}, {"atom", FAR_LOAD}, {"mapa", 20}, {"vote", 12}};

/* Units that take an instruction every second cycle or less, and the cycles between two (h200/micro, 2026-11): the assembler puts other work in
 * between. Additions, copies and shifts by a number go to whichever integer unit is free. By the start of the class's name, as above. */
enum { ON_ALU, ON_HEAVY, ON_FP64, ON_XU, UNITS };
static const struct { const char *class_name; uint8_t unit, cycles; } units[] = {
    {"alu", ON_ALU, 2}, {"setp_f64", ON_FP64, 2}, {"setp", ON_ALU, 2}, {"fminmax", ON_ALU, 2}, {"half_minmax", ON_ALU, 2}, {"cvt_half", ON_ALU, 2},
    {"cvt_i2f", ON_ALU, 2}, {"cvt_int", ON_ALU, 2}, {"imad_", ON_HEAVY, 4}, {"imad", ON_HEAVY, 2}, {"idp", ON_HEAVY, 2}, {"fp64", ON_FP64, 2},
    {"mufu", ON_XU, 8}};

/* Registers that a stretch may take. FULL make 32 with the stack pointer and what live.c adds, the most with which an SM of sm_90 holds all
 * its warps; ptxas keeps to that where it can (of 780 functions compared, 80 take 32, and none 33 to 37). An order that starts too much takes
 * more than it may: then it is made with LESS, down to FREE. Where that does not suffice for one stretch, all of the function take
 * the registers to the end of the UNIT, in which they are given out, that this one needs in the order of the text; a UNIT more where loads that
 * run ahead make it shorter by a part that is WORTH it, a UNIT less where it gets only a LITTLE longer by that. With less than ROOM left, what has
 * begun goes before what has not. */
enum { FREE = 21, FULL = 28, GAPS = 3, LESS = 1, UNIT = 8, LONG = 100, WORTH = 2, LITTLE = 8, EARLY = 8, ROOM = 2, MOST_CELLS = 1 << 28 };

/* Instructions looked ahead: less where registers do not suffice, since what is begun early holds its registers. */
static const uint32_t windows[] = {256, 64, 24};

typedef struct edge {
    uint32_t to, cycles, next; /* next: index of a further edge from the same instruction, PL_IR_NONE */
} edge;

typedef struct use {
    uint32_t slot; /* value of the flow, or number of values + predicate */
    uint32_t held; /* what the register holds: index in list.held; of a predicate PL_IR_NONE */
    bool write, guard;
    bool starts;   /* a write that keeps nothing of what was there */
} use;

/* What a register holds from one write to the next. */
typedef struct held {
    uint32_t reads, left; /* in this stretch; of these not placed yet */
    int rows;
    bool behind;    /* it lives behind the stretch */
} held;

typedef struct reader {
    uint32_t at, next;
} reader;

typedef struct node {
    uint32_t edges, before;    /* first of the edges to what must come behind; how many must come before */
    uint32_t wait;             /* of these not placed yet; PL_IR_NONE: it is placed itself */
    uint32_t height, earliest; /* cycles to the end of the stretch; least distance from its start */
    uint32_t urgent;           /* the same, and EARLY more for loads: their addresses need not all be there first */
    uint32_t uses, nuses;      /* range in list.uses */
    uint32_t cycles;           /* until its result */
    int spare;                 /* registers that it needs while it runs */
    uint8_t memory;            /* what it does to memory */
    uint8_t unit, busy;        /* unit that it holds for so many cycles; UNITS: none */
} node;

enum { NOTHING, LOADS, STORES }; /* node.memory; LOADS: of what somebody may write */

/* What is known of a class: cycles until the result, 0: not looked up yet; registers needed while it runs. */
typedef struct cost {
    uint16_t cycles;
    uint8_t spare;
    uint8_t unit, busy; /* unit that it holds, and for how long; UNITS: none */
} cost;

typedef struct list {
    pl_ir *x;
    pl_insn *code, *out;
    uint32_t n, at;
    node *node;
    uint32_t *ready, nready;
    uint32_t *order, *best;  /* instructions in the order that is being made; in the best so far */
    uint32_t window;         /* how far ahead of the first that is not placed */
    cost *cost;              /* by class */
    uint32_t free[UNITS];    /* distance from the start of the stretch at which the unit takes another instruction */
    struct { edge *at; size_t n, cap; } edges;
    struct { use *at; size_t n, cap; } uses;
    struct { reader *at; size_t n, cap; } readers;
    struct { held *at; size_t n, cap; } held;
    uint32_t *writer, *read; /* by slot: last write in this stretch; first of the readers since then; PL_IR_NONE */
    uint32_t *holds;         /* by slot: what it holds, index in `held` */
    bool *live, *behind;     /* by value: in a register now; behind the stretch */
    pl_flow f;
    uint32_t slots, block, start; /* block at work; position of the stretch in it */
    int many, limit;         /* registers live here; that a thread may have */
    int needed;              /* what the stretches need: more than one may take where another takes them anyway */
    bool measuring;          /* find that out; the order stays */
    unsigned phase;          /* PL_USE_READ or PL_USE_WRITE, while uses are visited */
} list;

static uint32_t latency_of(list *l, const pl_insn *i)
{
    cost *c = &l->cost[i->cls];
    if (!c->cycles) {
        c->cycles = FIXED;
        for (size_t k = 0; k < sizeof latencies / sizeof *latencies && c->cycles == FIXED; k++)
            if (strncmp(pl_class_text[i->cls], latencies[k].class_name, strlen(latencies[k].class_name)) == 0)
                c->cycles = latencies[k].cycles;
        c->spare = pl_live_temporaries(i->cls);
        c->unit = UNITS;
        for (size_t k = 0; k < sizeof units / sizeof *units && c->unit == UNITS; k++)
            if (strncmp(pl_class_text[i->cls], units[k].class_name, strlen(units[k].class_name)) == 0) {
                c->unit = units[k].unit;
                c->busy = units[k].cycles;
            }
    }
    if (pl_insn_effects(i) & PL_EF_LOAD)
        switch ((pl_space)i->sel[PL_M_SPACE]) {
        case PL_SP_SHARED: return NEAR_LOAD;
        case PL_SP_CONST:
        case PL_SP_PARAM: return BANK_LOAD;
        default: return FAR_LOAD;
        }
    return c->cycles;
}

/* The unit that the instruction holds; UNITS: none. */
static uint8_t unit_of(const list *l, const pl_insn *i)
{
    uint16_t m = pl_insn_mnem(i);
    return i->cls == C_alu && (m == M_add || m == M_sub || m == M_shl || m == M__mov) ? UNITS : l->cost[i->cls].unit;
}

/* Distance from the start of the stretch at which it can stand. */
static uint32_t possible(const list *l, const node *n)
{
    return n->unit != UNITS && l->free[n->unit] > n->earliest ? l->free[n->unit] : n->earliest;
}

/* Registers only: what lanes exchange, matrix instructions. */
static bool lane_exchange(const pl_insn *i)
{
    return pl_insn_effects(i) == PL_EF_CONVERGE && i->cls != C_warp_sync;
}

static bool any_load(const pl_insn *i)
{
    return (pl_insn_effects(i) & ~(uint32_t)PL_EF_CONVERGE) == PL_EF_LOAD && !(i->sel[PL_M_FLAGS] & PL_MF_POLL);
}

/* A subroutine of ptxas does it, or may have to: there a block ends. A product of 8-bit floats is a dozen instructions that ptxas leaves together,
 * and loads for the next behind them. */
static bool stands_alone(const pl_insn *i)
{
    const char *name = pl_class_text[i->cls];
    return pl_insn_mnem(i) == M__slow || strncmp(name, "div64", 5) == 0 || strncmp(name, "rem64", 5) == 0 || strncmp(name, "mma_fp8", 7) == 0;
}

/* Ends a stretch: nothing moves past it. */
static bool wall(const pl_insn *i)
{
    if (stands_alone(i))
        return true;
    return (pl_insn_effects(i) & (PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL)) || i->cls == C_sreg_clock || i->cls == C_sleep || i->cls == C_wgmma ||
           i->cls == C_wgmma_fence || i->cls == C_wgmma_commit || i->cls == C_wgmma_wait || i->cls == C_setmaxnreg ||
           pl_insn_mnem(i) == M_activemask || pl_insn_mnem(i) == M_griddepcontrol || strncmp(pl_class_text[i->cls], "tcgen05", 7) == 0;
}

static void join(list *l, uint32_t from, uint32_t to, uint32_t cycles)
{
    if (from == PL_IR_NONE || from == to)
        return;
    edge *e = pl_push(l->x->tmp, &l->edges);
    if (!e)
        return;
    *e = (edge){to, cycles, l->node[from].edges};
    l->node[from].edges = (uint32_t)(l->edges.n - 1);
    l->node[to].before++;
}

static void note_use(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    list *l = ctx;
    bool pred = how & PL_USE_PRED;
    uint32_t value = pl_flow_of(&l->f, *row, how);
    if (!pred && !value)
        return;
    for (unsigned w = 0; w < 2; w++) {
        if (!(how & (w ? PL_USE_WRITE : PL_USE_READ)))
            continue;
        use *u = pl_push(l->x->tmp, &l->uses);
        if (!u)
            return;
        *u = (use){pred ? l->f.n + *row : value - 1, PL_IR_NONE, w == 1, pred && *row == l->code[l->at].guard,
                   w && !pred && pl_flow_starts(&l->f, value - 1, count, how)};
        l->node[l->at].nuses++;
    }
}

/* Edges by registers: a reader follows the write; a write follows the write before and its readers. */
static void register_order(list *l, uint32_t at)
{
    const node *n = &l->node[at];
    for (uint32_t k = n->uses; k < n->uses + n->nuses; k++) {
        const use *u = &l->uses.at[k];
        uint32_t from = l->writer[u->slot];
        if (u->write)
            continue;
        if (from != PL_IR_NONE)
            join(l, from, at, u->guard && l->node[from].cycles < TO_GUARD ? TO_GUARD : l->node[from].cycles);
        reader *r = pl_push(l->x->tmp, &l->readers);
        if (!r)
            return;
        *r = (reader){at, l->read[u->slot]};
        l->read[u->slot] = (uint32_t)(l->readers.n - 1);
    }
    for (uint32_t k = n->uses; k < n->uses + n->nuses; k++) {
        const use *u = &l->uses.at[k];
        if (!u->write)
            continue;
        join(l, l->writer[u->slot], at, 1);
        for (uint32_t r = l->read[u->slot]; r != PL_IR_NONE; r = l->readers.at[r].next)
            join(l, l->readers.at[r].at, at, 0);
        l->writer[u->slot] = at;
        l->read[u->slot] = PL_IR_NONE;
    }
}

static uint32_t address_row(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if (f->operand[k].kind == PL_K_ADDR)
            return i->op[k];
    return PL_IR_NONE;
}

/* Two accesses through one value, to different bytes. */
static bool apart(const list *l, const pl_insn *a, const pl_insn *b)
{
    uint32_t row = address_row(a);
    if (row == PL_IR_NONE || row >= l->x->f->rows || row != address_row(b) || l->x->row[row].defs != 1 || a->sel[PL_M_SPACE] != b->sel[PL_M_SPACE])
        return false;
    int64_t m = (int64_t)a->sel[PL_M_COUNT] << a->sel[PL_M_LOG2], n = (int64_t)b->sel[PL_M_COUNT] << b->sel[PL_M_LOG2];
    return a->imm + m <= b->imm || b->imm + n <= a->imm;
}

/* Must the store and the load, in whichever order they stand, stay so? */
static bool conflict(const list *l, const pl_insn *load, const pl_insn *store)
{
    return may_see(load, store) && !apart(l, load, store);
}

/* Edges by memory and by the carry flag. *last: the one before that orders all memory, *flags: that touched the flag, or PL_IR_NONE. */
static void memory_order(list *l, uint32_t at, uint32_t *last, uint32_t *flags)
{
    const pl_insn *i = &l->code[at];
    bool load = any_load(i), store = plain_store(i);
    if (pl_insn_pure(i) || lane_exchange(i) || (load && pl_insn_has(i, W_nc)))
        return; /* nobody writes what .nc reads (PTX manual, ld.global.nc): ptxas moves it past barriers */
    if (!pl_insn_effects(i) && !(i->flags & (PL_IF_CONTROL | PL_IF_MEM))) {
        join(l, *flags, at, FIXED);
        *flags = at;
        return;
    }
    uint32_t first = *last == PL_IR_NONE ? 0 : *last;
    for (uint32_t k = first; k < at; k++) {
        if (l->node[k].memory == NOTHING && k != *last)
            continue;
        const pl_insn *o = &l->code[k];
        bool before = l->node[k].memory == STORES, loads = l->node[k].memory == LOADS;
        if (k == *last)
            join(l, k, at, 1);
        else if (load ? before && conflict(l, i, o) : store ? before || (loads && conflict(l, o, i)) : before || loads)
            join(l, k, at, before ? 1 : 0);
    }
    if (!load && !store)
        *last = at;
}

/* Finds what each register holds between writes, and who reads it. */
static bool find_held(list *l)
{
    for (size_t k = 0; k < l->uses.n; k++)
        l->holds[l->uses.at[k].slot] = PL_IR_NONE;
    l->held.n = 0;
    for (uint32_t at = 0; at < l->n; at++) {
        const node *n = &l->node[at];
        for (unsigned w = 0; w < 2; w++)
            for (uint32_t k = n->uses; k < n->uses + n->nuses; k++) {
                use *u = &l->uses.at[k];
                if (u->write != (w == 1) || u->slot >= l->f.n)
                    continue;
                if (l->holds[u->slot] == PL_IR_NONE || u->starts) {
                    *pl_push(l->x->tmp, &l->held) = (held){.rows = (int)l->f.v[u->slot].weight};
                    l->holds[u->slot] = (uint32_t)(l->held.n - 1);
                }
                u->held = l->holds[u->slot];
                l->held.at[u->held].reads += !u->starts;
            }
    }
    for (size_t k = 0; k < l->uses.n; k++) {
        const use *u = &l->uses.at[k];
        if (u->held != PL_IR_NONE && u->held == l->holds[u->slot])
            l->held.at[u->held].behind = l->behind[u->slot];
    }
    return pl_arena_ok(l->x->tmp);
}

/* Registers more or less when instruction `at` is placed; `for_good`: it is. */
static int pressure(list *l, uint32_t at, bool for_good)
{
    const node *n = &l->node[at];
    int d = 0;
    for (uint32_t k = n->uses; k < n->uses + n->nuses; k++) {
        const use *u = &l->uses.at[k];
        if (u->held == PL_IR_NONE)
            continue;
        held *h = &l->held.at[u->held];
        if (u->starts)
            d += h->left || h->behind ? h->rows : 0;
        else {
            h->left--;
            d -= !h->left && !h->behind ? h->rows : 0;
        }
    }
    for (uint32_t k = n->uses; k < n->uses + n->nuses && !for_good; k++) {
        const use *u = &l->uses.at[k];
        if (u->held != PL_IR_NONE && !u->starts)
            l->held.at[u->held].left++;
    }
    return d;
}

/* Walks the stretch backwards in the order of the text, from what is live behind it (`live`, `many`): the most registers at once. Afterwards
 * these say what is live in front of it. */
static int text_order(list *l)
{
    int now = l->many, most = now;
    for (uint32_t at = l->n; at-- > 0;) {
        const node *n = &l->node[at];
        for (unsigned w = 2; w-- > 0;)
            for (uint32_t k = n->uses; k < n->uses + n->nuses; k++) {
                const use *u = &l->uses.at[k];
                if (u->starts != (w == 1) || u->slot >= l->f.n || l->live[u->slot] != u->starts)
                    continue;
                l->live[u->slot] = !u->starts;
                now += (u->starts ? -1 : 1) * (int)l->f.v[u->slot].weight;
            }
        most = now > most ? now : most;
    }
    l->many = now;
    return most;
}

/* Which of the ready instructions comes next: index in `ready`. room: registers left. */
static uint32_t pick(list *l, uint32_t cycle, uint32_t oldest, int room)
{
    uint32_t best = PL_IR_NONE;
    int best_d = 0;
    bool tight = room < ROOM, best_fits = true;
    for (uint32_t k = 0; k < l->nready; k++) {
        uint32_t a = l->ready[k];
        if (a > oldest + l->window)
            continue;
        const node *n = &l->node[a];
        int d = tight ? pressure(l, a, false) : 0;
        bool better = best == PL_IR_NONE, fits = !tight || (d <= 0 && !n->spare) || d + n->spare <= room;
        if (!better) {
            uint32_t o = l->ready[best];
            const node *m = &l->node[o];
            uint32_t n_at = possible(l, n), m_at = possible(l, m);
            bool now = n_at <= cycle, then = m_at <= cycle;
            if (fits != best_fits)
                better = fits;
            else if (!fits)
                better = a < o;
            else if (now != then)
                better = now;
            else if (!now && n_at != m_at)
                better = n_at < m_at;
            else if (tight && (d > 0) != (best_d > 0))
                better = d <= 0;
            else if (tight && d > 0)
                better = a < o;
            else if (room <= 0 && d != best_d)
                better = d < best_d;
            else
                better = n->urgent > m->urgent || (n->urgent == m->urgent && a < o);
        }
        if (better) {
            best = k;
            best_d = d;
            best_fits = fits;
        }
    }
    return best;
}

/* What an order is like: cycles until its last instruction; most registers at once; did the limit decide? */
typedef struct outcome {
    uint32_t cycles;
    int most;
    bool tight;
} outcome;

/* Puts the stretch in order, in l->order. */
static outcome arrange(list *l, int most)
{
    uint32_t cycle = 0, oldest = 0;
    int live = l->many;
    outcome o = {.most = live};
    l->nready = 0;
    memset(l->free, 0, sizeof l->free);
    for (uint32_t at = 0; at < l->n; at++) {
        node *n = &l->node[at];
        n->wait = n->before;
        n->earliest = 0;
        if (!n->before)
            l->ready[l->nready++] = at;
    }
    for (size_t k = 0; k < l->held.n; k++)
        l->held.at[k].left = l->held.at[k].reads;
    for (uint32_t placed = 0; placed < l->n; placed++) {
        uint32_t k = pick(l, cycle, oldest, most - live), at = l->ready[k];
        node *n = &l->node[at];
        l->ready[k] = l->ready[--l->nready];
        uint32_t least = possible(l, n);
        cycle = least > cycle ? least : cycle;
        if (n->unit != UNITS)
            l->free[n->unit] = cycle + n->busy;
        l->order[placed] = at;
        n->wait = PL_IR_NONE;
        live += pressure(l, at, true);
        o.tight |= most - live < ROOM;
        o.most = live + n->spare > o.most ? live + n->spare : o.most;
        for (uint32_t e = n->edges; e != PL_IR_NONE; e = l->edges.at[e].next) {
            node *m = &l->node[l->edges.at[e].to];
            if (m->earliest < cycle + l->edges.at[e].cycles)
                m->earliest = cycle + l->edges.at[e].cycles;
            if (--m->wait == 0)
                l->ready[l->nready++] = l->edges.at[e].to;
        }
        cycle++;
        while (oldest < l->n && l->node[oldest].wait == PL_IR_NONE)
            oldest++;
    }
    o.cycles = cycle;
    return o;
}

/* The best order within so many registers, in l->best. */
static outcome try_windows(list *l, int most)
{
    outcome best = {0};
    for (unsigned k = 0; k < sizeof windows / sizeof *windows && (!k || (best.tight && l->n > windows[k])); k++) {
        l->window = windows[k];
        outcome o = arrange(l, most);
        int over = o.most > most ? o.most - most : 0, least = best.most > most ? best.most - most : 0;
        if (k && (over > least || (over == least && o.cycles >= best.cycles)))
            continue;
        best = o;
        uint32_t *order = l->order;
        l->order = l->best;
        l->best = order;
    }
    return best;
}

static int within(const list *l, int most)
{
    return most < l->limit ? most : l->limit;
}

/* What a stretch needs that does not do with FULL. */
static void measure(list *l, int text)
{
    int used = 32 - FULL, step = (text + used + UNIT - 1) / UNIT * UNIT - used;
    uint32_t next = try_windows(l, within(l, step + UNIT)).cycles, cycles = try_windows(l, within(l, step)).cycles;
    if (cycles > next + next / WORTH)
        step += UNIT;
    else {
        outcome less = try_windows(l, within(l, step - UNIT));
        step -= less.most <= step - UNIT && less.cycles <= cycles + cycles / LITTLE ? UNIT : 0;
    }
    l->needed = step > l->needed ? step : l->needed;
}

static bool schedule_stretch(list *l)
{
    uint32_t last = PL_IR_NONE, flags = PL_IR_NONE;
    l->edges.n = l->uses.n = l->readers.n = 0;
    for (l->at = 0; l->at < l->n; l->at++) {
        const pl_insn *i = &l->code[l->at];
        l->node[l->at] = (node){.edges = PL_IR_NONE, .uses = (uint32_t)l->uses.n, .cycles = latency_of(l, i), .spare = l->cost[i->cls].spare,
                                .memory = plain_store(i) ? STORES : any_load(i) && !pl_insn_has(i, W_nc) ? LOADS : NOTHING,
                                .unit = unit_of(l, i), .busy = l->cost[i->cls].busy};
        pl_flow_visit(&l->f, l->block, l->start + l->at);
        pl_insn_uses_here(l->x->p, &l->code[l->at], note_use, l);
    }
    if (!pl_arena_ok(l->x->tmp))
        return false;
    for (size_t k = 0; k < l->uses.n; k++)
        if (l->uses.at[k].slot < l->f.n)
            l->behind[l->uses.at[k].slot] = l->live[l->uses.at[k].slot];
    int text = text_order(l);
    int full = FULL;
    for (uint32_t at = 0; at < l->n && full == FULL; at++)
        full -= (l->code[at].flags & PL_IF_MEM) && l->code[at].sel[PL_M_COUNT] >= 4 ? GAPS : 0;
    if (l->measuring && text <= full)
        return true;
    for (size_t k = 0; k < l->uses.n; k++) {
        uint32_t slot = l->uses.at[k].slot;
        l->writer[slot] = l->read[slot] = PL_IR_NONE;
    }
    for (uint32_t at = 0; at < l->n; at++) {
        register_order(l, at);
        memory_order(l, at, &last, &flags);
    }
    if (!pl_arena_ok(l->x->tmp))
        return false;
    if (!find_held(l))
        return false;
    for (uint32_t at = l->n; at-- > 0;) {
        node *n = &l->node[at];
        for (uint32_t e = n->edges; e != PL_IR_NONE; e = l->edges.at[e].next) {
            uint32_t h = l->node[l->edges.at[e].to].height + l->edges.at[e].cycles;
            n->height = h > n->height ? h : n->height;
        }
        n->urgent = n->height + (n->cycles >= LONG ? EARLY : 0);
    }
    if (l->measuring) {
        measure(l, text);
        return true;
    }
    bool done = false;
    for (int most = full; most >= FREE && l->needed <= full && !done; most -= LESS)
        done = try_windows(l, within(l, most)).most <= full;
    if (!done)
        try_windows(l, within(l, l->needed > full ? l->needed : full));
    for (uint32_t k = 0; k < l->n; k++)
        l->out[k] = l->code[l->best[k]];
    memcpy(l->code, l->out, l->n * sizeof *l->code);
    return true;
}

/* ---- the pass ---- */

/* A wall keeps its place: what it writes is not live in front of it, what it reads is. */
static void pass_wall(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    list *l = ctx;
    uint32_t value = pl_flow_of(&l->f, *row, how);
    bool reads = l->phase == PL_USE_READ;
    if (!value-- || pl_flow_starts(&l->f, value, count, how) == reads || l->live[value] == reads)
        return;
    l->live[value] = reads;
    l->many += (reads ? 1 : -1) * (int)l->f.v[value].weight;
}

static bool lists(list *l, uint32_t b)
{
    pl_ir *x = l->x;
    pl_irb *k = &x->b.at[b];
    l->block = b;
    l->many = 0;
    memset(l->live, 0, l->f.n * sizeof *l->live);
    for (uint32_t w = 0; w < l->f.words; w++)
        for (uint64_t left = l->f.out[(size_t)b * l->f.words + w]; left; left &= left - 1) {
            uint32_t v = w * 64 + (uint32_t)__builtin_ctzll(left);
            l->live[v] = true;
            l->many += (int)l->f.v[v].weight;
        }
    for (size_t end = k->code.n; end > 0;) {
        size_t at = end;
        while (at > 0 && !wall(&k->code.at[at - 1]))
            at--;
        l->code = k->code.at + at;
        l->start = (uint32_t)at;
        l->n = (uint32_t)(end - at);
        if (l->n > 0 && !schedule_stretch(l))
            return false;
        if (at > 0) {
            pl_flow_visit(&l->f, b, (uint32_t)--at);
            l->phase = PL_USE_WRITE;
            pl_insn_uses(x->p, &k->code.at[at], pass_wall, l);
            l->phase = PL_USE_READ;
            pl_insn_uses(x->p, &k->code.at[at], pass_wall, l);
        }
        end = at;
    }
    return true;
}

bool pl_pass_schedule(pl_ir *x)
{
    size_t most = 0;
    list l = {.x = x};
    if (!pl_ir_ready(x) || !pl_flow_values(&l.f, x) || !pl_flow_narrow(&l.f))
        return false;
    if ((size_t)x->b.n * l.f.words * 64 > MOST_CELLS) /* liveness takes time and memory of blocks times values */
        return pl_ir_ok(x);
    for (size_t b = 0; b < x->b.n; b++)
        most = x->b.at[b].code.n > most ? x->b.at[b].code.n : most;
    l.slots = l.f.n + x->f->preds + 1;
    l.limit = (int)pl_register_limit(x->p, x->f) - (32 - FULL);
    l.out = pl_arena_array(x->tmp, pl_insn, most + 1);
    l.node = pl_arena_array(x->tmp, node, most + 1);
    l.cost = pl_arena_array(x->tmp, cost, C_count);
    l.order = pl_arena_array(x->tmp, uint32_t, most + 1);
    l.best = pl_arena_array(x->tmp, uint32_t, most + 1);
    l.ready = pl_arena_array(x->tmp, uint32_t, most + 1);
    l.writer = pl_arena_array(x->tmp, uint32_t, l.slots);
    l.read = pl_arena_array(x->tmp, uint32_t, l.slots);
    l.holds = pl_arena_array(x->tmp, uint32_t, l.slots);
    l.live = pl_arena_array(x->tmp, bool, l.slots);
    l.behind = pl_arena_array(x->tmp, bool, l.slots);
    if (!pl_arena_ok(x->tmp) || !pl_flow_live(&l.f))
        return false;
    for (unsigned round = 0; round < 2; round++) {
        l.measuring = round == 0;
        for (uint32_t b = 0; b < x->b.n; b++)
            if (x->b.at[b].order != PL_IR_NONE && !lists(&l, b))
                return false;
    }
    return true;
}
