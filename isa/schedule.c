/* schedule.c - the order of the instructions of a block.
 *
 * Warps issue in order, so the assembler fills the time that a result takes with other work. First loads are gathered in batches, as early as
 * their addresses are known: of a stretch of code without barriers ptxas issues several loads with the arithmetic of their addresses, then what
 * waits for them (its output for sm_90, 2026-11). Then each stretch is list-scheduled: of the instructions whose operands are there, the
 * one at the start of the longest chain of latencies comes first, as long as there are registers (Gibbons and Muchnick, "Efficient
 * Instruction Scheduling for a Pipelined Architecture", 1986; Goodman and Hsu, "Code Scheduling and Register Allocation in Large Basic
 * Blocks", 1988).
 *
 * What stays in order: writes and reads of a register; stores, and the loads that may see them; what other lanes or threads can observe;
 * additions with carry. Arithmetic moves past barriers and atomics, loads past reductions that they cannot see. */
#include <string.h>

#include "isa/live.h"
#include "isa/passes.h"
#include "isa/plan.h"

/* Rows that the loads of a batch fill; instructions looked ahead; rows noted for one instruction. */
enum { BATCH = 8, WINDOW = 96, MOST_ROWS = 24 };

typedef struct rows {
    uint32_t read[MOST_ROWS], written[MOST_ROWS]; /* predicates with the top bit set */
    unsigned nread, nwritten;
    bool many;  /* more than fit: it stays where it is */
} rows;

typedef struct scheduler {
    pl_ir *x;
    pl_insn *code;
    rows *r;          /* by position in the segment */
    uint8_t *emitted, *chosen;
    uint32_t n;
    pl_insn *out;
    uint32_t nout;
} scheduler;

static void note(void *ctx, uint32_t *row, unsigned count, unsigned use)
{
    rows *r = ctx;
    uint32_t top = use & PL_USE_PRED ? 1u << 31 : 0;
    for (unsigned k = 0; k < (top ? 1 : count); k++) {
        if (use & PL_USE_READ) {
            if (r->nread < MOST_ROWS)
                r->read[r->nread++] = (*row + k) | top;
            else
                r->many = true;
        }
        if (use & PL_USE_WRITE) {
            if (r->nwritten < MOST_ROWS)
                r->written[r->nwritten++] = (*row + k) | top;
            else
                r->many = true;
        }
    }
}

static bool meets(const uint32_t *a, unsigned na, const uint32_t *b, unsigned nb)
{
    for (unsigned i = 0; i < na; i++)
        for (unsigned k = 0; k < nb; k++)
            if (a[i] == b[k])
                return true;
    return false;
}

static bool plain_load(const pl_insn *i)
{
    return pl_insn_effects(i) == PL_EF_LOAD && !(i->flags & PL_IF_CONTROL) && !(i->sel[PL_M_FLAGS] & PL_MF_POLL);
}

static bool waits(const pl_insn *i)
{
    return plain_load(i) && i->sel[PL_M_SPACE] != PL_SP_PARAM && i->cls != C_free;
}

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

/* Ends a stretch: what others may see, what moves lanes, what reads flags or clocks. */
static bool fixed(const pl_insn *i)
{
    return !pl_forms[i->form].noperands || (!pl_insn_pure(i) && !plain_load(i) && !plain_store(i));
}

/* May the load see what the store writes? Not in another space; a generic address may be in any. */
static bool may_see(const pl_insn *load, const pl_insn *store)
{
    pl_space a = (pl_space)load->sel[PL_M_SPACE], b = (pl_space)store->sel[PL_M_SPACE];
    return a == b || a == PL_SP_GENERIC || b == PL_SP_GENERIC;
}

/* Marks what must come before `at` so that it can be emitted now; false: something in between forbids it. */
static bool choose(scheduler *s, uint32_t from, uint32_t at)
{
    if (s->chosen[at] || s->emitted[at])
        return true;
    if (s->r[at].many)
        return false;
    s->chosen[at] = 1;
    for (uint32_t k = at; k-- > from;) {
        if (s->emitted[k])
            continue;
        if (s->r[k].many || (plain_load(&s->code[at]) && plain_store(&s->code[k]) && may_see(&s->code[at], &s->code[k])))
            return false;
        bool needs = meets(s->r[at].read, s->r[at].nread, s->r[k].written, s->r[k].nwritten);
        bool clash = meets(s->r[at].written, s->r[at].nwritten, s->r[k].read, s->r[k].nread) ||
                     meets(s->r[at].written, s->r[at].nwritten, s->r[k].written, s->r[k].nwritten);
        if (needs) {
            if (waits(&s->code[k]) && !s->chosen[k])
                return false; /* its address is another load's result */
            if (!choose(s, from, k))
                return false;
        } else if (clash && !s->chosen[k])
            return false;
    }
    return true;
}

/* Rows that a load fills: bytes arrive packed. */
static unsigned loaded(const pl_insn *i)
{
    unsigned bytes = (unsigned)i->sel[PL_M_COUNT] << i->sel[PL_M_LOG2];
    return bytes > 4 ? bytes / 4 : 1;
}

/* One stretch of movable instructions. */
static void stretch(scheduler *s)
{
    uint32_t again = 0;
    memset(s->emitted, 0, s->n);
    for (uint32_t i = 0; i < s->n; i++) {
        if (i >= again) {
            unsigned filled = 0;
            for (uint32_t k = i; k < s->n && k < i + WINDOW && filled < BATCH; k++) {
                if (s->emitted[k] || !waits(&s->code[k]))
                    continue;
                memset(s->chosen + i, 0, k - i + 1);
                if (!choose(s, i, k))
                    break;
                for (uint32_t e = i; e <= k; e++)
                    if (s->chosen[e] && !s->emitted[e]) {
                        s->emitted[e] = 1;
                        s->out[s->nout++] = s->code[e];
                    }
                filled += loaded(&s->code[k]);
                again = k + 1;
            }
            if (again <= i)
                again = i + 1;
        }
        if (!s->emitted[i]) {
            s->emitted[i] = 1;
            s->out[s->nout++] = s->code[i];
        }
    }
}

/* ---- list scheduling ---- */

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

/* Registers that a stretch may take: as many as in the order of the text, or FREE if that is more: 32 with those that live.c adds, a step of
 * the occupancy that ptxas keeps to. With less than ROOM left, chains that have begun go before others. Instructions looked ahead. */
enum { FREE = 29, ROOM = 6, AHEAD = 256, MOST_CELLS = 1 << 28 };

typedef struct edge {
    uint32_t from, cycles, next; /* next: index of a further edge to the same instruction, PL_IR_NONE */
} edge;

typedef struct use {
    uint32_t slot; /* register row, or number of rows + predicate */
    bool write, guard;
} use;

typedef struct reader {
    uint32_t at, next;
} reader;

typedef struct node {
    uint32_t edges, after;     /* first of the edges from what must come before; how many that must come behind are not placed yet */
    uint32_t depth, earliest;  /* cycles from the start of the stretch; least distance from its end */
    uint32_t uses, nuses;      /* range in list.uses */
    uint32_t cycles;           /* until its result */
    uint8_t memory;            /* what it does to memory */
    uint8_t unit, held;        /* unit that it holds for so many cycles; UNITS: none */
} node;

enum { NOTHING, LOADS, STORES }; /* node.memory; LOADS: of what somebody may write */

typedef struct list {
    pl_ir *x;
    pl_insn *code, *out;
    uint32_t n, at;
    node *node;
    uint32_t *ready, nready;
    struct { edge *at; size_t n, cap; } edges;
    struct { use *at; size_t n, cap; } uses;
    struct { reader *at; size_t n, cap; } readers;
    uint32_t *writer, *read; /* by slot: last write in this stretch; first of the readers since then; PL_IR_NONE */
    bool *live, *before, *behind; /* by slot: holds a value now; in front of the stretch; behind it */
    uint32_t *turned;        /* slots that an instruction made live or not */
    uint32_t slots;
    int many, before_many;   /* registers live behind the stretch, in front of it */
    int limit;               /* that a thread may have */
    uint64_t *in, *use, *kill; /* bit sets by block, as in rpo: live at its start; read before written there; written there */
    uint64_t *out_of;          /* a set: live at the end of one block */
    struct { uint32_t *at; size_t n, cap; } across; /* rows that live across blocks: members of the sets */
    uint32_t *number;          /* by row: its place there, plus one */
    size_t words, block;
    uint16_t latency[C_count]; /* by class, 0: not looked up yet */
    uint8_t unit[C_count];     /* the same: index in `units` plus one, past its end: none */
    uint32_t free[UNITS];      /* distance from the end of the stretch at which the unit takes another instruction */
    unsigned phase;          /* PL_USE_READ or PL_USE_WRITE, while uses are visited */
} list;

static uint16_t latency_of_class(uint16_t cls)
{
    const char *c = pl_class_text[cls];
    for (size_t k = 0; k < sizeof latencies / sizeof *latencies; k++)
        if (strncmp(c, latencies[k].class_name, strlen(latencies[k].class_name)) == 0)
            return latencies[k].cycles;
    return FIXED;
}

static uint32_t latency_of(list *l, const pl_insn *i)
{
    if (pl_insn_effects(i) & PL_EF_LOAD)
        switch ((pl_space)i->sel[PL_M_SPACE]) {
        case PL_SP_SHARED: return NEAR_LOAD;
        case PL_SP_CONST:
        case PL_SP_PARAM: return BANK_LOAD;
        default: return FAR_LOAD;
        }
    if (!l->latency[i->cls])
        l->latency[i->cls] = latency_of_class(i->cls);
    return l->latency[i->cls];
}

/* The unit that the instruction holds, and for how long; UNITS: none. */
static void find_unit(list *l, const pl_insn *i, node *n)
{
    enum { KNOWN = sizeof units / sizeof *units };
    uint16_t m = pl_insn_mnem(i);
    n->unit = UNITS;
    if (i->cls == C_alu && (m == M_add || m == M_sub || m == M_shl || m == M__mov))
        return;
    if (!l->unit[i->cls]) {
        uint8_t k = 0;
        const char *c = pl_class_text[i->cls];
        while (k < KNOWN && strncmp(c, units[k].class_name, strlen(units[k].class_name)) != 0)
            k++;
        l->unit[i->cls] = (uint8_t)(k + 1);
    }
    if (l->unit[i->cls] > KNOWN)
        return;
    n->unit = units[l->unit[i->cls] - 1].unit;
    n->held = units[l->unit[i->cls] - 1].cycles;
}

/* Distance from the end of the stretch at which it can stand. */
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

/* Ends a stretch: nothing moves past it. */
static bool wall(const pl_insn *i)
{
    return (pl_insn_effects(i) & (PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL)) || pl_insn_mnem(i) == M__sreg || i->cls == C_sleep || i->cls == C_wgmma ||
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
    *e = (edge){from, cycles, l->node[to].edges};
    l->node[to].edges = (uint32_t)(l->edges.n - 1);
    l->node[from].after++;
}

static void note_use(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    list *l = ctx;
    bool pred = how & PL_USE_PRED;
    for (unsigned k = 0; k < (pred ? 1 : count); k++)
        for (unsigned w = 0; w < 2; w++) {
            if (!(how & (w ? PL_USE_WRITE : PL_USE_READ)))
                continue;
            use *u = pl_push(l->x->tmp, &l->uses);
            if (!u)
                return;
            *u = (use){pred ? l->x->f->rows + *row : *row + k, w == 1, pred && *row == l->code[l->at].guard};
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

/* Registers more or less when instruction `at` is put in front of what has been placed; `for_good`: it is. */
static int pressure(list *l, uint32_t at, bool for_good)
{
    const node *n = &l->node[at];
    bool guarded = l->code[at].guard != PL_PT;
    uint32_t turned = 0;
    int d = 0;
    for (unsigned w = 2; w-- > 0;)
        for (uint32_t k = n->uses; k < n->uses + n->nuses; k++) {
            const use *u = &l->uses.at[k];
            if (u->write != (w == 1) || u->slot >= l->x->f->rows || (u->write && guarded) || l->live[u->slot] != u->write)
                continue;
            if (l->x->row[u->slot].kind == PL_ROW_REG)
                d += u->write ? -1 : 1;
            l->live[u->slot] = !u->write;
            l->turned[turned++] = u->slot;
        }
    while (!for_good && turned > 0) {
        turned--;
        l->live[l->turned[turned]] = !l->live[l->turned[turned]];
    }
    return d;
}

/* Walks the stretch backwards in the order of the text, from what is live behind it (`live`): the most registers at once. Afterwards `live` is what is
 * live in front of it. */
static int text_order(list *l)
{
    int now = l->many, most = now;
    for (uint32_t at = l->n; at-- > 0;) {
        const node *n = &l->node[at];
        bool guarded = l->code[at].guard != PL_PT;
        for (unsigned w = 2; w-- > 0;)
            for (uint32_t k = n->uses; k < n->uses + n->nuses; k++) {
                const use *u = &l->uses.at[k];
                if (u->write != (w == 1) || u->slot >= l->x->f->rows || (u->write && guarded) || l->live[u->slot] != u->write)
                    continue;
                l->live[u->slot] = !u->write;
                if (l->x->row[u->slot].kind == PL_ROW_REG)
                    now += u->write ? -1 : 1;
            }
        most = now > most ? now : most;
    }
    l->before_many = now;
    return most;
}

/* Copies what `from` says of the rows that the stretch touches. */
static void copy_live(const list *l, bool *to, const bool *from)
{
    for (size_t k = 0; k < l->uses.n; k++)
        to[l->uses.at[k].slot] = from[l->uses.at[k].slot];
}

typedef enum tightness { LOOSE, TIGHT, FULL } tightness;

/* Which of the ready instructions comes next (backwards): index in `ready`. */
static uint32_t pick(list *l, uint32_t cycle, uint32_t youngest, tightness tight)
{
    uint32_t best = PL_IR_NONE;
    int best_d = 0;
    for (uint32_t k = 0; k < l->nready; k++) {
        uint32_t a = l->ready[k];
        if (a + AHEAD < youngest)
            continue;
        const node *n = &l->node[a];
        int d = tight ? pressure(l, a, false) : 0;
        bool better = best == PL_IR_NONE;
        if (!better) {
            uint32_t o = l->ready[best];
            const node *m = &l->node[o];
            uint32_t n_at = possible(l, n), m_at = possible(l, m);
            bool now = n_at <= cycle, then = m_at <= cycle;
            if (tight == FULL && (d > 0) != (best_d > 0))
                better = d <= 0;
            else if (tight == FULL && d > 0)
                better = a > o;
            else if (now != then)
                better = now;
            else if (!now && n_at != m_at)
                better = n_at < m_at;
            else if (tight && (d > 0) != (best_d > 0))
                better = d <= 0;
            else if (tight && d > 0)
                better = a > o;
            else if (tight == FULL && d != best_d)
                better = d < best_d;
            else
                better = n->depth > m->depth || (n->depth == m->depth && a > o);
        }
        if (better) {
            best = k;
            best_d = d;
        }
    }
    return best;
}

static bool schedule_stretch(list *l)
{
    uint32_t last = PL_IR_NONE, flags = PL_IR_NONE, cycle = 0, left = l->n, youngest = l->n - 1;
    l->edges.n = l->uses.n = l->readers.n = 0;
    for (l->at = 0; l->at < l->n; l->at++) {
        const pl_insn *i = &l->code[l->at];
        l->node[l->at] = (node){.edges = PL_IR_NONE, .uses = (uint32_t)l->uses.n, .cycles = latency_of(l, i),
                                .memory = plain_store(i) ? STORES : any_load(i) && !pl_insn_has(i, W_nc) ? LOADS : NOTHING};
        find_unit(l, &l->code[l->at], &l->node[l->at]);
        pl_insn_uses_here(l->x->p, &l->code[l->at], note_use, l);
    }
    if (!pl_arena_ok(l->x->tmp))
        return false;
    memset(l->free, 0, sizeof l->free);
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
    copy_live(l, l->behind, l->live);
    int most = text_order(l);
    most = most > FREE ? most : FREE;
    most = most < l->limit ? most : l->limit;
    copy_live(l, l->before, l->live);
    copy_live(l, l->live, l->behind);
    l->nready = 0;
    for (uint32_t at = 0; at < l->n; at++)
        for (uint32_t e = l->node[at].edges; e != PL_IR_NONE; e = l->edges.at[e].next) {
            uint32_t d = l->node[l->edges.at[e].from].depth + l->edges.at[e].cycles;
            l->node[at].depth = d > l->node[at].depth ? d : l->node[at].depth;
        }
    for (uint32_t at = 0; at < l->n; at++)
        if (!l->node[at].after)
            l->ready[l->nready++] = at;
    for (int live = l->many; left;) {
        uint32_t k = pick(l, cycle, youngest, live >= most ? FULL : live >= most - ROOM ? TIGHT : LOOSE), at = l->ready[k];
        node *n = &l->node[at];
        l->ready[k] = l->ready[--l->nready];
        uint32_t least = possible(l, n);
        cycle = least > cycle ? least : cycle;
        if (n->unit != UNITS)
            l->free[n->unit] = cycle + n->held;
        l->out[--left] = l->code[at];
        n->after = PL_IR_NONE;
        live += pressure(l, at, true);
            for (uint32_t e = n->edges; e != PL_IR_NONE; e = l->edges.at[e].next) {
            node *o = &l->node[l->edges.at[e].from];
            if (o->earliest < cycle + l->edges.at[e].cycles)
                o->earliest = cycle + l->edges.at[e].cycles;
            if (--o->after == 0)
                l->ready[l->nready++] = l->edges.at[e].from;
        }
        cycle++;
        while (youngest && l->node[youngest].after == PL_IR_NONE)
            youngest--;
    }
    copy_live(l, l->live, l->before);
    l->many = l->before_many;
    memcpy(l->code, l->out, l->n * sizeof *l->code);
    return true;
}

/* ---- the pass ---- */

static void batches(scheduler *s, pl_irb *k)
{
    for (size_t at = 0; at < k->code.n;) {
        size_t end = at;
        while (end < k->code.n && !fixed(&k->code.at[end]))
            end++;
        s->code = k->code.at + at;
        s->n = (uint32_t)(end - at);
        s->nout = 0;
        for (uint32_t i = 0; i < s->n; i++) {
            s->r[i] = (rows){0};
            pl_insn_uses_here(s->x->p, &s->code[i], note, &s->r[i]);
        }
        stretch(s);
        memcpy(s->code, s->out, s->n * sizeof *s->code);
        at = end + 1;
    }
}

/* A register that a block reads before it writes it lives across blocks; all others live and die in one, and need no sets. */
static void find_exposed(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    list *l = ctx;
    for (unsigned k = 0; !(how & PL_USE_PRED) && how & PL_USE_READ && k < count; k++) {
        uint32_t r = *row + k;
        if (l->writer[r] == l->block + 1 || l->number[r] || l->x->row[r].kind != PL_ROW_REG)
            continue;
        *pl_push(l->x->tmp, &l->across) = r;
        l->number[r] = (uint32_t)l->across.n;
    }
}

static void note_written(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    list *l = ctx;
    for (unsigned k = 0; !(how & PL_USE_PRED) && how & PL_USE_WRITE && k < count; k++)
        l->writer[*row + k] = (uint32_t)l->block + 1;
}

static void set_bits(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    list *l = ctx;
    for (unsigned k = 0; !(how & PL_USE_PRED) && how & PL_USE_READ && k < count; k++) {
        uint32_t n = l->number[*row + k];
        if (n && !(l->kill[l->block * l->words + (n - 1) / 64] >> (n - 1) % 64 & 1))
            l->use[l->block * l->words + (n - 1) / 64] |= 1ull << (n - 1) % 64;
    }
}

static void kill_bits(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    list *l = ctx;
    for (unsigned k = 0; !(how & PL_USE_PRED) && how & PL_USE_WRITE && k < count; k++) {
        uint32_t n = l->number[*row + k];
        if (n)
            l->kill[l->block * l->words + (n - 1) / 64] |= 1ull << (n - 1) % 64;
    }
}

/* What is live at the end of a block, in l->out_of. */
static void live_behind(list *l, uint32_t b)
{
    memset(l->out_of, 0, l->words * sizeof *l->out_of);
    for (uint32_t k = 0, n = pl_ir_successors(l->x, b); k < n; k++) {
        const uint64_t *in = l->in + l->x->b.at[pl_ir_successor(l->x, b, k)].order * l->words;
        for (size_t w = 0; w < l->words; w++)
            l->out_of[w] |= in[w];
    }
}

/* What is live at the start of every block. */
static bool liveness(list *l)
{
    pl_ir *x = l->x;
    l->number = pl_arena_array(x->tmp, uint32_t, x->f->rows + 1);
    if (!pl_arena_ok(x->tmp))
        return false;
    for (l->block = 0; l->block < x->nrpo; l->block++) {
        const pl_irb *b = &x->b.at[x->rpo[l->block]];
        for (size_t k = 0; k < b->code.n; k++) {
            pl_insn_uses_here(x->p, &b->code.at[k], find_exposed, l);
            if (b->code.at[k].guard == PL_PT)
                pl_insn_uses_here(x->p, &b->code.at[k], note_written, l);
        }
    }
    l->words = l->across.n / 64 + 1;
    l->in = pl_arena_array(x->tmp, uint64_t, x->nrpo * l->words);
    l->use = pl_arena_array(x->tmp, uint64_t, x->nrpo * l->words);
    l->kill = pl_arena_array(x->tmp, uint64_t, x->nrpo * l->words);
    l->out_of = pl_arena_array(x->tmp, uint64_t, l->words);
    if (!pl_arena_ok(x->tmp))
        return false;
    for (l->block = 0; l->block < x->nrpo; l->block++) {
        const pl_irb *b = &x->b.at[x->rpo[l->block]];
        for (size_t k = 0; k < b->code.n; k++) {
            pl_insn_uses_here(x->p, &b->code.at[k], set_bits, l);
            if (b->code.at[k].guard == PL_PT)
                pl_insn_uses_here(x->p, &b->code.at[k], kill_bits, l);
        }
    }
    for (bool again = true; again;) {
        again = false;
        for (size_t o = x->nrpo; o-- > 0;) {
            live_behind(l, x->rpo[o]);
            for (size_t w = 0; w < l->words; w++) {
                uint64_t live = (l->out_of[w] & ~l->kill[o * l->words + w]) | l->use[o * l->words + w];
                again |= live != l->in[o * l->words + w];
                l->in[o * l->words + w] = live;
            }
        }
    }
    return true;
}

static void set_live(list *l, uint32_t row, bool live)
{
    if (l->x->row[row].kind == PL_ROW_REG)
        l->many += live - l->live[row];
    l->live[row] = live;
}

/* A wall keeps its place: what it writes is not live in front of it, what it reads is. */
static void pass_wall(void *ctx, uint32_t *row, unsigned count, unsigned how)
{
    list *l = ctx;
    if (!(how & PL_USE_PRED))
        for (unsigned k = 0; k < count; k++)
            if (how & l->phase)
                set_live(l, *row + k, l->phase == PL_USE_READ);
}

static bool lists(list *l, uint32_t b)
{
    pl_ir *x = l->x;
    pl_irb *k = &x->b.at[b];
    live_behind(l, b);
    l->many = 0;
    for (size_t w = 0; w < l->words; w++)
        for (uint64_t set = l->out_of[w]; set; set &= set - 1)
            set_live(l, l->across.at[w * 64 + (size_t)__builtin_ctzll(set)], true);
    for (size_t end = k->code.n; end > 0;) {
        size_t at = end;
        while (at > 0 && !wall(&k->code.at[at - 1]))
            at--;
        l->code = k->code.at + at;
        l->n = (uint32_t)(end - at);
        if (l->n > 0 && !schedule_stretch(l))
            return false;
        if (at > 0) {
            l->phase = PL_USE_WRITE;
            if (k->code.at[at - 1].guard == PL_PT)
                pl_insn_uses(x->p, &k->code.at[at - 1], pass_wall, l);
            l->phase = PL_USE_READ;
            pl_insn_uses(x->p, &k->code.at[at - 1], pass_wall, l);
            at--;
        }
        end = at;
    }
    for (size_t w = 0; w < l->words; w++) /* now they hold what is live in front of the block */
        for (uint64_t set = l->in[k->order * l->words + w]; set; set &= set - 1)
            l->live[l->across.at[w * 64 + (size_t)__builtin_ctzll(set)]] = false;
    return true;
}

bool pl_pass_schedule(pl_ir *x)
{
    size_t most = 0;
    if (!pl_ir_ready(x))
        return false;
    for (size_t b = 0; b < x->b.n; b++)
        most = x->b.at[b].code.n > most ? x->b.at[b].code.n : most;
    scheduler s = {.x = x, .r = pl_arena_array(x->tmp, rows, most + 1), .emitted = pl_arena_array(x->tmp, uint8_t, most + 1),
                   .chosen = pl_arena_array(x->tmp, uint8_t, most + 1), .out = pl_arena_array(x->tmp, pl_insn, most + 1)};
    list l = {.x = x, .slots = x->f->rows + x->f->preds + 1, .out = s.out, .node = pl_arena_array(x->tmp, node, most + 1),
              .ready = pl_arena_array(x->tmp, uint32_t, most + 1)};
    l.limit = (int)pl_register_limit(x->p, x->f) - (32 - FREE);
    l.writer = pl_arena_array(x->tmp, uint32_t, l.slots);
    l.read = pl_arena_array(x->tmp, uint32_t, l.slots);
    l.turned = pl_arena_array(x->tmp, uint32_t, l.slots);
    l.live = pl_arena_array(x->tmp, bool, l.slots);
    l.before = pl_arena_array(x->tmp, bool, l.slots);
    l.behind = pl_arena_array(x->tmp, bool, l.slots);
    /* Liveness takes time and memory of blocks times registers: a function of very many keeps the order of its batches. */
    bool listed = (size_t)x->b.n * x->f->rows <= MOST_CELLS;
    if (!pl_arena_ok(x->tmp) || (listed && !liveness(&l)))
        return false;
    for (uint32_t b = 0; b < x->b.n; b++) {
        batches(&s, &x->b.at[b]);
        if (listed && x->b.at[b].order != PL_IR_NONE && !lists(&l, b))
            return false;
    }
    return true;
}
