/* control_codes.c - assigns stall counts and scoreboards of a program for a machine; see
 * control_codes.h.
 *
 * Two passes over the basic blocks of each function. The first assigns scoreboards to results of
 * variable latency, as in machine code of ptxas for sm_90. Results that the same instruction waits
 * for first share a scoreboard. A scoreboard is free again at the first instruction that waits for
 * it. An instruction whose operands are read late, and overwritten, gets another one for that. The
 * second is a data-flow analysis of the pending results of each register, iterated over the blocks
 * until nothing changes. It yields the cycles required between two adjacent instructions, and the
 * scoreboards that a reader waits for. Results of fixed latency are in their registers when a block
 * ends. */
#include "compiler/codegen/control_codes.h"
#include "base/guard.h"
#include "isa/program/cfg.h"
#include <string.h>

/* ROUNDS: maximum iterations of the second pass, since a result pending at the end of a block is
 * rarely pending beyond the next one. AFTER_VARIABLE: cycles between an instruction with a
 * scoreboard and the next one if that waits for it. FIRST_LONG: the first scoreboard available to
 * results from memory (both: machine code for sm_90). */
enum { ASSIGN_ROUNDS = 2, ROUNDS = 4, MAX_STALL = 4095, AFTER_VARIABLE = 2, FIRST_LONG = 2 };

/* The pending result of a register or predicate. */
typedef struct entry {
    uint32_t epoch; /* of another block: no entry */
    uint32_t ready; /* cycle, relative to the start of the block, at which the reader closest to its
                       unit can issue */
    uint32_t stamp; /* number of the instruction in the block, from 1; 0: before the block */
    uint8_t mask;   /* scoreboards of the pending result */
    uint8_t readers;       /* scoreboards of instructions that have not read it yet */
    uint8_t side;          /* pl_side of the producer */
    uint32_t read;         /* number of the last of those readers, as stamp */
    const pl_price *price; /* of the producer, if its result takes longer than other stall counts
                              cover; else NULL */
    uint32_t product;      /* index of that producer among those of the block, from 1; 0: it is in
                              another block */
    bool high;   /* 64-bit result; the second of two instructions computes its high half */
    bool matrix; /* of a tensor core: the end of a block does not wait for it (machine code for
                    sm_90: HMMA 1, 2 or 9 cycles before BRA) */
} entry;

/* The pending result at the end of a block. */
typedef struct pending_result {
    uint32_t slot, remaining; /* cycles from the first one in which the next block may issue */
    uint8_t mask, readers, side;
} pending_result;

typedef struct block_end {
    pending_result *at;
    uint32_t n;
    uint32_t lead; /* cycles that its own first instruction has to wait for other blocks */
} block_end;

/* What a scoreboard is used for, by duration: a wait for one is a wait for all results that share
 * it. */
typedef enum use { FOR_REGISTERS, FOR_SHORT, FOR_LONG } use;

/* State of the scoreboards while a block is visited. */
typedef struct scoreboard_state {
    uint32_t until[PL_SCOREBOARDS]; /* first instruction that waits for it; UINT32_MAX: in a later
                                       block; 0: it is free */
    uint8_t use[PL_SCOREBOARDS];    /* the slowest of its uses */
    bool unread[PL_SCOREBOARDS];    /* it also covers operands that a later block overwrites */
    /* Results from memory in this block may use the scoreboards FIRST_LONG to memory_end - 1. */
    uint32_t memory_end;
} scoreboard_state;

typedef struct control {
    pl_control_insn *insn;    /* of the program */
    const uint32_t *row_list; /* of their registers and predicates */
    const pl_machine *m;
    const pl_prog_func *f;
    pl_arena *tmp;
    pl_cfg g;
    entry *row; /* rows, then predicates */
    uint32_t rows, slots, epoch;
    uint32_t *next_wait; /* by slot: next instruction that waits for it, while a block is visited
                         backwards */
    uint32_t *until; /* by instruction of the function: first one that needs its result; UINT32_MAX:
                        in another block */
    uint32_t *first_overwrite; /* by instruction: first one that overwrites its operands, if that
                            must wait; UINT32_MAX: in another block; 0: none */
    uint32_t *next_write;      /* by slot: next write of it, while a block is visited backwards */
    uint32_t *last_write;      /* by slot: last instruction of the function that writes it */
    uint32_t *first_after;     /* by block: first instruction that may follow its end */
    scoreboard_state scoreboards;
    uint32_t cleared[PL_SB_COUNT]; /* stamp of the last instruction that waited for it */
    uint32_t unit[PL_PIPE_COUNT];  /* cycle at which the pipe accepts the warp's next instruction */
    block_end *end;                /* by block */
    struct {
        pending_result *at;
        size_t n, cap;
    } out;
    struct {
        uint32_t *at;
        size_t n, cap;
    } touched; /* slots with an entry in this block */
} control;

/* --- scoreboards --- */

/* Registers and predicates of d as slots, read (how = 0) or written (1); the last one read is the
 * guard if d->guarded. */
static uint32_t slots_of(const control *x, const pl_control_insn *d, unsigned how,
                         uint32_t out[128])
{
    uint32_t n = 0;
    if (!x->row_list) return 0; /* a program without registers */
    const uint32_t *r = x->row_list + d->rows + (how ? d->nread : 0);
    for (uint32_t k = 0; k < (how ? d->nwrite : d->nread); k++)
        if (r[k] < x->rows) out[n++] = r[k];
    r = x->row_list + d->rows + d->nread + d->nwrite + (how ? d->npread : 0);
    for (uint32_t k = 0; k < (how ? d->npwrite : d->npread); k++)
        if (x->rows + r[k] < x->slots) out[n++] = x->rows + r[k];
    return n;
}

/* Finds for each instruction of the block the next one that waits for its results. */
static void find_readers(control *x, const pl_cfg_block *b)
{
    uint32_t slot[128];
    for (uint32_t pc = b->end; pc-- > b->first;) {
        const pl_control_insn *d = &x->insn[pc];
        uint32_t first = UINT32_MAX, n = slots_of(x, d, 1, slot);
        for (uint32_t k = 0; k < n; k++)
            if (x->next_wait[slot[k]] < first) first = x->next_wait[slot[k]];
        x->until[pc - x->f->first] = first;
        const bool free = !d->price->issues;
        for (uint32_t k = 0; k < n; k++) /* if its guard is false, the previous value is read */
            if (!d->guarded || !d->variable)
                x->next_wait[slot[k]] = free || d->variable ? UINT32_MAX : pc;
        n = slots_of(x, d, 0, slot);
        /* an instruction that does not issue forwards its operands: its readers are theirs */
        for (uint32_t k = 0; k < n; k++)
            if (!free)
                x->next_wait[slot[k]] = pc;
            else if (first < x->next_wait[slot[k]])
                x->next_wait[slot[k]] = first;
    }
    for (uint32_t pc = b->first; pc < b->end; pc++) {
        for (unsigned how = 0; how < 2; how++)
            for (uint32_t k = slots_of(x, &x->insn[pc], how, slot); k-- > 0;)
                x->next_wait[slot[k]] = UINT32_MAX;
    }
}

/* --- operands that are read late --- */

/* Finds for each block the first instruction that may follow its end, and for each slot the last
 * one that writes it. */
static void find_last_writes(control *x)
{
    uint32_t slot[128];
    bool changed = true;
    for (uint32_t k = 0; k < x->slots; k++) x->last_write[k] = 0;
    for (uint32_t pc = x->f->first; pc < x->f->first + x->f->count; pc++) {
        if (!x->insn[pc].price->issues) continue;
        for (uint32_t n = slots_of(x, &x->insn[pc], 1, slot); n-- > 0;) x->last_write[slot[n]] = pc;
    }
    for (uint32_t b = 0; b < x->g.n; b++) x->first_after[b] = UINT32_MAX;
    while (changed) {
        changed = false;
        for (uint32_t b = x->g.n; b-- > 0;) {
            for (uint32_t k = 0; k < pl_cfg_successor_count(&x->g.b[b]); k++) {
                uint32_t to = pl_cfg_successor(&x->g, &x->g.b[b], k);
                if (to >= x->g.n) continue;
                uint32_t first_after =
                    x->g.b[to].first < x->first_after[to] ? x->g.b[to].first : x->first_after[to];
                changed |= first_after < x->first_after[b];
                if (first_after < x->first_after[b]) x->first_after[b] = first_after;
            }
        }
    }
}

/* Finds for each late-reading instruction of block b the next one that overwrites its operands. No
 * wait is required if its result, or a later instruction of its queue, is waited for before that:
 * queues are first in, first out. */
static void find_overwrites(control *x, uint32_t b)
{
    const pl_cfg_block *block = &x->g.b[b];
    uint32_t slot[128],
        earlier_wait[3] = {0, 0,
                           0}; /* by queue: first wait for a later instruction of it; 0: none */
    for (uint32_t pc = block->end; pc-- > block->first;) {
        const pl_control_insn *d = &x->insn[pc];
        uint32_t n, *first = &x->first_overwrite[pc - x->f->first], queue = d->queue;
        *first = 0;
        if (queue) {
            n = slots_of(x, d, 0, slot);
            if (d->guarded) n--; /* read when it issues */
            for (uint32_t k = 0; k < n; k++) {
                uint32_t at = x->next_write[slot[k]];
                if (at == UINT32_MAX && x->last_write[slot[k]] < x->first_after[b]) continue;
                if (!*first || at < *first) *first = at;
            }
            const bool awaited = d->nwrite + d->npwrite && x->until[pc - x->f->first] <= *first &&
                                 x->until[pc - x->f->first] != UINT32_MAX;
            if (awaited || (earlier_wait[queue] && earlier_wait[queue] <= *first)) *first = 0;
            if (*first && (!earlier_wait[queue] || *first < earlier_wait[queue]))
                earlier_wait[queue] = *first;
        }
        if (!d->price->issues) continue;
        n = slots_of(x, d, 1, slot);
        for (uint32_t k = 0; k < n; k++) x->next_write[slot[k]] = pc;
    }
    for (uint32_t pc = block->first; pc < block->end; pc++)
        for (uint32_t k = slots_of(x, &x->insn[pc], 1, slot); k-- > 0;)
            x->next_write[slot[k]] = UINT32_MAX;
}

static uint32_t distance(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Chooses a scoreboard for a result that instruction `end` waits for (UINT32_MAX: one of another
 * block), as ptxas does for sm_90. It is one for which `end` waits anyway, else the first free one,
 * else the one that is waited for closest to `end`. This rule chooses the one of ptxas for 94 % of
 * 20,000 loads from memory in its machine code, and for 87 % of 42,000 others. Those from
 * FIRST_LONG on are for results from memory; results that another block waits for use the last one
 * exclusively. Operands that another block overwrites share one. `except`: not this. */
static uint8_t choose_scoreboard(scoreboard_state *x, uint32_t end, use kind, uint8_t except)
{
    const bool cross_block = end == UINT32_MAX;
    const uint32_t first = kind == FOR_LONG ? FIRST_LONG : 0,
                   last = kind == FOR_LONG ? x->memory_end : PL_SCOREBOARDS;
    uint32_t shared = PL_SCOREBOARDS, free = PL_SCOREBOARDS, nearest = PL_SCOREBOARDS;
    for (uint32_t k = last; k-- > 0;) {
        if (k == except) continue;
        const bool in_use = x->until[k] > 0;
        if (in_use && (cross_block ? kind == FOR_REGISTERS && x->unread[k] : x->until[k] == end))
            shared = k;
        if (k < first) continue;
        if (!in_use) free = k;
        const uint32_t mismatch = distance(x->use[k], kind),
                       best_mismatch =
                           nearest == PL_SCOREBOARDS ? UINT32_MAX : distance(x->use[nearest], kind);
        if (mismatch < best_mismatch ||
            (mismatch == best_mismatch &&
             distance(x->until[k], end) < distance(x->until[nearest], end)))
            nearest = k;
    }
    const uint32_t best = cross_block && kind == FOR_LONG ? PL_SCOREBOARDS - 1
                          : shared < PL_SCOREBOARDS       ? shared
                          : free < PL_SCOREBOARDS         ? free
                                                          : nearest;
    if (!x->until[best]) {
        x->until[best] = end;
        x->unread[best] = false;
        x->use[best] = (uint8_t)kind;
    } else {
        if (end < x->until[best]) x->until[best] = end;
        if (kind > x->use[best]) x->use[best] = (uint8_t)kind;
    }
    x->unread[best] |= cross_block && kind == FOR_REGISTERS;
    return (uint8_t)best;
}

/* True if its result comes from memory. */
static bool from_memory(const pl_control_insn *d)
{
    return d->variable && d->queue == PL_QUEUE_LG;
}

/* Assigns the scoreboards of instruction pc. */
static void assign_scoreboards(control *x, uint32_t pc)
{
    pl_control_insn *d = &x->insn[pc];
    const uint32_t end = x->until[pc - x->f->first],
                   first_overwrite = x->first_overwrite[pc - x->f->first];
    d->code.write_barrier =
        d->variable ? choose_scoreboard(&x->scoreboards, end, from_memory(d) ? FOR_LONG : FOR_SHORT,
                                        PL_SB_NONE)
                    : PL_SB_NONE;
    d->code.read_barrier = first_overwrite ? choose_scoreboard(&x->scoreboards, first_overwrite,
                                                               FOR_REGISTERS, d->code.write_barrier)
                                           : PL_SB_NONE;
}

/* --- stall counts and waits --- */

/* Latency in cycles of an instruction without a scoreboard. */
static uint32_t latency_of(const control *x, const pl_control_insn *d)
{
    switch ((pl_kind)d->kind) {
    case PL_KIND_MATH:
        /* Others block the warp until they complete. */
        return d->price->ends ? d->price->issues : d->price->cross_pipe_latency;
    case PL_KIND_PARAM:
        return d->bank && d->guarded ? x->m->constant.predicated_latency : d->price->latency;
    case PL_KIND_CLOCK: return d->price->latency;
    default: return 1;
    }
}

static entry *entry_of(control *x, uint32_t slot)
{
    entry *e = &x->row[slot];
    if (e->epoch == x->epoch) return e;
    *e = (entry){.epoch = x->epoch};
    uint32_t *t = pl_push(x->tmp, &x->touched);
    if (pl_arena_ok(x->tmp)) *t = slot;
    return e;
}

/* Scoreboards that are still pending for e. */
static uint8_t pending_scoreboards(const control *x, const entry *e)
{
    uint8_t open = 0;
    for (unsigned k = 0; k < PL_SB_COUNT; k++)
        if (e->mask >> k & 1 && e->stamp >= x->cleared[k]) open |= (uint8_t)(1u << k);
    return open;
}

/* Scoreboards of instructions that have not read it yet. */
static uint8_t unread_scoreboards(const control *x, const entry *e)
{
    uint8_t open = 0;
    for (unsigned k = 0; k < PL_SCOREBOARDS; k++)
        if (e->readers >> k & 1 && e->read >= x->cleared[k]) open |= (uint8_t)(1u << k);
    return open;
}

/* Merges the pending results of the predecessors of block b. */
static void begin_block(control *x, uint32_t b)
{
    x->epoch++;
    x->touched.n = 0;
    uint8_t carried = 0, unread = 0;
    memset(x->cleared, 0, sizeof x->cleared);
    memset(x->unit, 0, sizeof x->unit);
    for (uint32_t k = x->g.pred_start[b]; k < x->g.pred_start[b + 1]; k++) {
        const block_end *from = &x->end[x->g.pred[k]];
        for (uint32_t n = 0; n < from->n; n++) {
            entry *e = entry_of(x, from->at[n].slot);
            if (from->at[n].remaining > e->ready) {
                e->ready = from->at[n].remaining;
                e->side = from->at[n].side;
            }
            e->mask |= from->at[n].mask;
            e->readers |= from->at[n].readers;
            carried |= from->at[n].mask;
            unread |= from->at[n].readers;
        }
    }
    for (unsigned k = 0; k < PL_SCOREBOARDS; k++) {
        x->scoreboards.until[k] = (carried | unread) >> k & 1 ? UINT32_MAX : 0;
        x->scoreboards.use[k] =
            carried >> k & 1 ? k < FIRST_LONG ? FOR_SHORT : FOR_LONG : FOR_REGISTERS;
        x->scoreboards.unread[k] = unread >> k & 1;
    }
    x->scoreboards.memory_end = PL_SCOREBOARDS;
    for (uint32_t pc = x->g.b[b].first; pc < x->g.b[b].end; pc++)
        if (from_memory(&x->insn[pc]) && x->until[pc - x->f->first] == UINT32_MAX)
            x->scoreboards.memory_end = PL_SCOREBOARDS - 1;
}

/* Cycles that d waits for e in addition to those between two instructions of its producer's
 * pipe. */
static uint32_t extra_latency(const control *x, const entry *e, const pl_control_insn *d)
{
    const pl_issue_config *m = &x->m->issue;
    bool producer_far = e->side == PL_SIDE_HALF || e->side == PL_SIDE_FP64,
         far = producer_far || d->side == PL_SIDE_HALF || d->side == PL_SIDE_FP64;
    if (d->address_unit || d->price->variable) {
        const uint32_t half = e->high ? m->high : e->price ? 1 : 0; /* e->price: of a product */
        return producer_far ? 0 : m->queued + half;
    }
    if (e->price && e->price == d->price) return e->price->latency - e->price->cross_pipe_latency;
    if (!e->side || !d->side || e->side == d->side) return 0;
    return far ? m->far : m->cross;
}

/* Records the pending results at the end of the block; `next`: first cycle of the successor.
 * Returns true if something changed. */
static bool end_block(control *x, uint32_t b, uint32_t next)
{
    block_end *old = &x->end[b];
    x->out.n = 0;
    for (size_t k = 0; k < x->touched.n; k++) {
        const entry *e = &x->row[x->touched.at[k]];
        uint8_t mask = pending_scoreboards(x, e), readers = unread_scoreboards(x, e);
        uint32_t remaining_cycles = e->ready > next ? e->ready - next : 0;
        if (!mask && !readers && !remaining_cycles) continue;
        pending_result *c = pl_push(x->tmp, &x->out);
        if (!pl_arena_ok(x->tmp)) return false;
        *c = (pending_result){x->touched.at[k], remaining_cycles, mask, readers, e->side};
    }
    bool unchanged = old->n == x->out.n;
    for (uint32_t k = 0; unchanged && k < old->n; k++)
        unchanged = old->at[k].slot == x->out.at[k].slot &&
                    old->at[k].remaining == x->out.at[k].remaining &&
                    old->at[k].mask == x->out.at[k].mask &&
                    old->at[k].readers == x->out.at[k].readers;
    if (unchanged) return false;
    if (old->n < x->out.n) old->at = pl_arena_array(x->tmp, pending_result, x->out.n);
    old->n = pl_arena_ok(x->tmp) ? (uint32_t)x->out.n : 0;
    if (old->n) memcpy(old->at, x->out.at, old->n * sizeof *old->at);
    return true;
}

/* The first cycle from `t` on at which the units of d accept it from this warp; reserves them. */
static uint32_t reserve_units(control *x, const pl_control_insn *d, uint32_t t)
{
    uint32_t cycles[6] = {0};
    const pl_price *p = d->price;
    for (unsigned phase = 0; phase < 2; phase++)
        for (uint32_t k = 0; k < p->npipes; k++) {
            uint32_t pipe =
                d->on_fma && p->pipe[k].pipe == PL_PIPE_ALU ? PL_PIPE_HEAVY : p->pipe[k].pipe;
            if (phase == 0) {
                bool is_memory_pipe = pipe == PL_PIPE_MIO || pipe == PL_PIPE_ADU ||
                                      (pipe == PL_PIPE_LSU && d->address_unit);
                cycles[k] = is_memory_pipe ? x->m->issue.memory
                            : pipe >= PL_PIPE_FIRST_SHARED || d->kind == PL_KIND_WGMMA
                                ? 0
                                : p->pipe[k].cycles;
                if (cycles[k] && x->unit[pipe] > t) t = x->unit[pipe];
            } else if (cycles[k]) {
                x->unit[pipe] = t + cycles[k];
            }
        }
    return t;
}

static uint16_t stall_of(uint32_t cycles)
{
    return (uint16_t)(cycles < MAX_STALL ? cycles : MAX_STALL);
}

/* First cycle at which all results of fixed latency are in their registers; 0: the machine requires
 * no such wait. */
static uint32_t drain_cycle(const control *x)
{
    uint32_t t = 0;
    if (!x->m->issue.drain) return 0;
    for (size_t k = 0; k < x->touched.n; k++) {
        const uint32_t slot = x->touched.at[k], ready = x->row[slot].ready;
        if (!ready || x->row[slot].matrix) continue;
        const uint32_t arrival =
            ready + (slot < x->rows ? x->m->issue.drain : x->m->issue.guard_latency);
        t = arrival > t ? arrival : t;
    }
    return t;
}

/* True if block b ends with a branch, or leads to a join. Its pending results must be in their
 * registers then, since the successor is not known (machine code for sm_90). */
static bool must_drain(const control *x, uint32_t b, const pl_control_insn *last)
{
    bool left = last->kind == PL_KIND_BRANCH;
    for (uint32_t k = 0; k < pl_cfg_successor_count(&x->g.b[b]); k++) {
        const uint32_t to = pl_cfg_successor(&x->g, &x->g.b[b], k);
        left |= to < x->g.n && x->g.pred_start[to + 1] - x->g.pred_start[to] > 1;
    }
    return left;
}

/* State of the walk through a block. */
typedef struct walk {
    control *x;
    uint32_t b;            /* the block */
    bool assign;           /* also assign scoreboards */
    pl_control_insn *last; /* last instruction that issued */
    uint32_t now, next;    /* cycle of its issue; first cycle after it */
    uint32_t stamp;
    uint32_t products;     /* number of producers with late results */
    uint32_t slot[128], n; /* slots that the instruction reads, or writes */
} walk;

/* The waits of an instruction. */
typedef struct dependences {
    uint32_t t;      /* cycle */
    uint8_t wait;    /* scoreboards */
    uint32_t newest; /* most recent late result among its operands */
    /* for an instruction that does not issue: the operand that arrives last, which determines its
     * result */
    const pl_price *price;
    uint32_t product;
    uint8_t side;
} dependences;

static dependences operand_waits(walk *v, const pl_control_insn *d)
{
    const control *x = v->x;
    const bool free = d->free;
    dependences a = {.t = free ? 0 : v->next};
    v->n = slots_of(x, d, 0, v->slot);
    for (uint32_t k = 0; k < v->n; k++) {
        const entry *e = &x->row[v->slot[k]];
        if (e->epoch != x->epoch) continue;
        uint32_t ready = e->ready;
        const bool guard = d->guarded && k + 1 == v->n;
        if (!free && ready)
            ready += guard ? pending_scoreboards(x, e) ? 0 : x->m->issue.guard_latency
                           : extra_latency(x, e, d);
        a.wait |= pending_scoreboards(x, e);
        if (e->price && e->product > a.newest) a.newest = e->product;
        if (ready < a.t) continue;
        a.t = ready;
        if (!free) continue;
        a.side = e->side;
        a.price = e->price;
        a.product = e->product;
    }
    return a;
}

/* Scoreboards to wait for in addition to those of its operands. An older result must not overwrite
 * a newer one; two of variable latency keep their order. */
static uint8_t result_waits(const walk *v, const pl_control_insn *d)
{
    const control *x = v->x;
    const pl_control_insn *last = v->last;
    uint8_t wait = 0;
    for (uint32_t k = 0; k < v->n; k++) {
        const entry *e = &x->row[v->slot[k]];
        if (e->epoch != x->epoch) continue;
        wait |= unread_scoreboards(x, e);
        if (!d->variable) wait |= pending_scoreboards(x, e);
    }
    if (last && last->acquires && last->code.write_barrier != PL_SB_NONE)
        wait |= (uint8_t)(1u << last->code.write_barrier);
    if (d->waits_all) wait |= (1u << PL_SCOREBOARDS) - 1;
    return wait;
}

/* True if the instruction waits for a scoreboard of the last one that issued. */
static bool waits_for_last(const pl_control_insn *last, uint8_t wait)
{
    return last &&
           ((last->code.write_barrier != PL_SB_NONE && wait >> last->code.write_barrier & 1) ||
            (last->code.read_barrier != PL_SB_NONE && wait >> last->code.read_barrier & 1));
}

/* Issues the instruction: sets the stall count of the previous one, and its own. */
static void issue_insn(walk *v, pl_control_insn *d, dependences *a, uint32_t pc)
{
    control *x = v->x;
    d->code.interlock = a->newest && v->products - a->newest < PL_PRODUCTS
                            ? (uint8_t)(v->products - a->newest + 1)
                            : 0;
    v->products += d->late;
    a->wait |= result_waits(v, d);
    if (d->drains_pipe && drain_cycle(x) > a->t) a->t = drain_cycle(x);
    uint32_t t = reserve_units(x, d, a->t);
    if (waits_for_last(v->last, a->wait) && t < v->now + AFTER_VARIABLE)
        t = v->now + AFTER_VARIABLE;
    if (v->last)
        v->last->code.stall = stall_of(t - v->now);
    else
        x->end[v->b].lead = t;
    for (unsigned k = 0; k < PL_SB_COUNT; k++)
        if (a->wait >> k & 1) x->cleared[k] = v->stamp;
    for (unsigned k = 0; k < PL_SCOREBOARDS; k++)
        if (a->wait >> k & 1) x->scoreboards.until[k] = 0;
    d->code.wait_mask = a->wait;
    if (v->assign) assign_scoreboards(x, pc);
    v->last = d;
    v->now = t;
    v->next = t + (d->kind == PL_KIND_BRANCH ? x->m->issue.branch : d->price->issues);
    d->code.stall = stall_of(v->next - t);
}

/* Records the result of an instruction that issues. */
static void note_result(const walk *v, entry *e, const pl_control_insn *d)
{
    const control *x = v->x;
    const pl_price *p = d->price;
    /* if its guard is false, the previous value is read */
    const uint8_t before = d->guarded ? pending_scoreboards(x, e) : 0;
    const bool is_late = d->late;
    e->stamp = v->stamp;
    e->matrix = p->npipes && p->pipe[0].pipe == PL_PIPE_TENSOR;
    e->readers = 0;
    if (d->code.write_barrier != PL_SB_NONE) {
        e->ready = 0;
        e->mask = (uint8_t)(before | 1u << d->code.write_barrier);
        e->side = 0;
        e->price = NULL;
        e->high = false;
        return;
    }
    e->ready = v->now + latency_of(x, d);
    e->mask = d->bank ? 1u << PL_SB_BANK_WAIT : 0;
    e->side = d->side;
    e->price = is_late ? p : NULL;
    e->product = is_late ? v->products : 0;
    e->high = d->kind == PL_KIND_MATH && p->issues == 2 && p->npipes &&
              p->pipe[0].pipe == PL_PIPE_ALU && v->n == 2;
}

/* Records the result of one that does not issue: it is available when its operands are. */
static void note_free_result(const walk *v, entry *e, const pl_control_insn *d,
                             const dependences *a)
{
    e->stamp = v->stamp;
    e->matrix = false;
    e->price = a->price;
    e->product = a->product;
    e->ready = a->t;
    e->mask = (uint8_t)(a->wait | (d->bank ? 1u << PL_SB_BANK_WAIT : 0));
    e->side = a->side;
    e->high = false;
}

/* Records that its operands must not be overwritten before its read barrier is cleared. */
static void note_reads(walk *v, const pl_control_insn *d)
{
    control *x = v->x;
    v->n = slots_of(x, d, 0, v->slot);
    for (uint32_t k = 0; k + d->guarded < v->n; k++) {
        entry *e = entry_of(x, v->slot[k]);
        if (!unread_scoreboards(x, e)) e->readers = 0;
        e->readers |= (uint8_t)(1u << d->code.read_barrier);
        e->read = v->stamp;
    }
}

/* Computes stall counts and waits of block b, and with `assign` its scoreboards. Returns true if
 * something changed. */
static bool assign_block(control *x, uint32_t b, bool assign)
{
    const pl_cfg_block *block = &x->g.b[b];
    walk v = {.x = x, .b = b, .assign = assign};
    begin_block(x, b);
    x->end[b].lead = 0;
    for (uint32_t pc = block->first; pc < block->end; pc++) {
        pl_control_insn *d = &x->insn[pc];
        const bool free = d->free;
        if (assign) d->code.write_barrier = d->code.read_barrier = PL_SB_NONE;
        v.stamp++;
        dependences a = operand_waits(&v, d);
        v.n = slots_of(x, d, 1, v.slot);
        if (!free) issue_insn(&v, d, &a, pc);
        for (uint32_t k = 0; k < v.n; k++) {
            entry *e = entry_of(x, v.slot[k]);
            if (free)
                note_free_result(&v, e, d, &a);
            else
                note_result(&v, e, d);
        }
        if (!free && d->code.read_barrier != PL_SB_NONE) note_reads(&v, d);
    }
    if (v.last && must_drain(x, b, v.last) && drain_cycle(x) > v.next) {
        v.next = drain_cycle(x);
        v.last->code.stall = stall_of(v.next - v.now);
    }
    return end_block(x, b, v.next);
}

/* After its last instruction, a block waits for the results that the first instructions of its
 * successors need. */
static void add_successor_waits(control *x)
{
    for (uint32_t b = 0; b < x->g.n; b++) {
        const pl_cfg_block *block = &x->g.b[b];
        uint32_t lead = 0;
        for (uint32_t k = 0; k < pl_cfg_successor_count(block); k++) {
            uint32_t to = pl_cfg_successor(&x->g, block, k);
            if (to < x->g.n && x->end[to].lead > lead) lead = x->end[to].lead;
        }
        for (uint32_t pc = block->end; pc-- > block->first;) {
            pl_control_insn *d = &x->insn[pc];
            if (d->free) continue;
            d->code.stall = stall_of(d->code.stall + lead);
            break;
        }
    }
}

/* The wait for the result of a matrix instruction may exceed the maximum stall count, in the block
 * or after the branch that ends it: NOPs fill the gap. A store waits a cycle less than arithmetic
 * there, since it is queued. Results of f64 have scoreboards, but hold their unit so long that the
 * next one waits as well (machine code for sm_90). */
static void add_nops(control *x)
{
    const uint32_t max_stall = x->m->issue.max_stall, queue_lead = x->m->issue.queued + 1;
    pl_control_insn *last = NULL; /* the matrix instruction that directly precedes */
    for (uint32_t pc = x->f->first; max_stall && pc < x->f->first + x->f->count; pc++) {
        pl_control_insn *d = &x->insn[pc];
        if (d->free) continue;
        const bool matrix =
            d->price->issues == 1 && d->price->npipes && d->price->pipe[0].pipe == PL_PIPE_TENSOR;
        if (last && last->price->pipe[0].cycles >= max_stall)
            last->code.nops = matrix;
        else if (last) {
            uint32_t wait = last->code.stall;
            if (d->kind == PL_KIND_BRANCH && d->code.stall > wait) wait = d->code.stall;
            if (d->address_unit && wait > queue_lead) wait -= queue_lead;
            last->code.nops = (uint8_t)(wait > max_stall ? (wait - 1) / max_stall : 0);
        }
        last = matrix ? d : NULL;
    }
}

static bool assign_function(control *x, const pl_program *p, const pl_prog_func *f)
{
    if (!f->count) return true;
    x->f = f;
    x->rows = f->rows;
    x->slots = f->rows + f->preds;
    if (pl_cfg_make(p, f, x->tmp, &x->g) != PL_OK) return false;
    x->row = pl_arena_array(x->tmp, entry, x->slots + 1);
    x->next_wait = pl_arena_array(x->tmp, uint32_t, x->slots + 1);
    x->until = pl_arena_array(x->tmp, uint32_t, f->count);
    x->first_overwrite = pl_arena_array(x->tmp, uint32_t, f->count);
    x->next_write = pl_arena_array(x->tmp, uint32_t, x->slots + 1);
    x->last_write = pl_arena_array(x->tmp, uint32_t, x->slots + 1);
    x->first_after = pl_arena_array(x->tmp, uint32_t, x->g.n + 1);
    x->end = pl_arena_array(x->tmp, block_end, x->g.n + 1);
    x->out.at = NULL;
    x->touched.at = NULL;
    x->out.n = x->out.cap = x->touched.n = x->touched.cap = 0;
    x->epoch = 0;
    if (!pl_arena_ok(x->tmp)) return false;
    for (uint32_t k = 0; k < x->slots; k++) x->next_wait[k] = x->next_write[k] = UINT32_MAX;
    find_last_writes(x);
    for (uint32_t b = 0; b < x->g.n; b++) {
        find_readers(x, &x->g.b[b]);
        find_overwrites(x, b);
    }
    bool changed = true;
    for (unsigned round = 0; changed && round < ASSIGN_ROUNDS + ROUNDS; round++) {
        changed = round < ASSIGN_ROUNDS;
        for (uint32_t b = 0; b < x->g.n; b++) changed |= assign_block(x, b, round < ASSIGN_ROUNDS);
    }
    add_successor_waits(x);
    add_nops(x);
    return pl_arena_ok(x->tmp);
}

static bool assign_all(control *x, const pl_program *p)
{
    PL_GUARD(return false)
    for (size_t k = 0; k < p->funcs.n; k++) {
        if (!assign_function(x, p, &p->funcs.at[k])) return false;
        pl_arena_reset(x->tmp);
    }
    return true;
}

bool pl_pass_assign_control_codes(pl_control_insn *insns, const uint32_t *rows, const pl_program *p,
                                  const pl_machine *m)
{
    control x = {.insn = insns, .row_list = rows, .m = m, .tmp = pl_arena_open()};
    const bool ok = x.tmp && assign_all(&x, p);
    pl_arena_close(x.tmp);
    return ok;
}
