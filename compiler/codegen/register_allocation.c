/* register_allocation.c - liveness and linear-scan register allocation.
 *
 * A unit is a group of consecutive rows that instructions use together (a 64-bit register is two).
 * A unit's interval is the code range from its first to its last live point (Poletto and Sarkar,
 * "Linear Scan Register Allocation", 1999). A guarded write preserves the value in the lanes that
 * the guard excludes, so it does not end the old value. Lanes that have diverged may hold different
 * units in one row: rows are private to a lane, so per-thread liveness is sufficient. */
#include "compiler/codegen/register_allocation.h"

#include "isa/program/insn_query.h"
#include "isa/program/resource_usage.h"

#include <string.h>

#include "base/sort.h"
#include "compiler/analysis/loop_carried.h"
#include "isa/program/cfg.h"
#include "compiler/codegen/linear_scan.h"
#include "compiler/ir/ir.h"
#include "compiler/tuning.h"
#include "compiler/analysis/live_spans.h"
#include "isa/program/operand_plan.h"

/* registers.beyond_named: registers that a thread has beyond the highest one that its code names.
 * registers.min_with_calls: the minimum of a function whose calls follow the convention. Of 810
 * functions compared (ptxas 13.0 for sm_90, 2026-11) 720 have two more, the others some that their
 * code does not use. calls.kernel_unsaved: registers that functions save and in which kernels keep
 * nothing, the return address. */
enum { TEMPORARIES = 16 };

/* The minimum registers of a function that saves that many for its callers: R2, R16 to R31, and
 * then four of each eight; callees may clobber the others. */
static uint32_t min_registers_saving(const pl_program *p, uint32_t saved)
{
    enum { FIRST = 16, SOLID = 17, NEXT = 36, GROUP = 4 };
    uint32_t max = saved < SOLID + 1 ? FIRST + saved - 2
                                     : NEXT + (saved - SOLID - 1) / GROUP * 2 * GROUP +
                                           (saved - SOLID - 1) % GROUP;
    return saved < 2 ||
                   max + 1 + p->tuning->registers.beyond_named < p->tuning->registers.min_with_calls
               ? p->tuning->registers.min_with_calls
               : max + 1 + p->tuning->registers.beyond_named;
}

typedef struct live_unit {
    uint32_t row, rows;  /* before renumbering */
    bool uniform;        /* it occupies no vector register */
    bool narrow;         /* its two rows occupy one register */
    uint32_t start, end; /* live interval, relative to the function's first instruction */
    uint32_t to;         /* new row */
    uint32_t alias_of; /* unit whose register it shares: itself, unless it is a part or an extension
                          of another value */
    pl_first_access first;
    uint8_t writes; /* saturates at 2 */
    bool read_late; /* its last reader reads its registers some time after issue */
} live_unit;

/* An access of an instruction to a unit. These are computed once, so that the walks below need not
 * decode operands every time. */
typedef struct unit_ref {
    uint32_t unit;
    uint8_t rows, use; /* PL_USE_READ, PL_USE_WRITE */
} unit_ref;

typedef struct allocator {
    pl_program *p;
    pl_arena *a;
    pl_prog_func *f;
    pl_cfg g;
    uint32_t fixed;
    uint32_t *unit_of; /* by old row */
    live_unit *u;
    uint32_t n; /* number of units */
    struct {
        unit_ref *at;
        size_t n, cap;
    } refs;             /* of all instructions in order */
    uint32_t *ref;      /* by instruction: index of its first one */
    pl_live_spans sets; /* of the units that may be live across blocks; accesses in block order */
    uint32_t *global_index; /* by unit: its index among these */
    uint32_t *global_unit;  /* by that index: the unit */
    uint32_t *seen;         /* by that index: last block that accesses it, plus one */
    bool *in_cycle;         /* by block: it may execute several times */
    uint32_t *pred_def;     /* by predicate: position of its last write, from 1 on */
    bool *live_out;         /* by access: live at the end of the block */
    /* By unit: position after its last read, as seen backwards from here; 0: it is not live. */
    uint32_t *last_use;
    pl_linear_scan *scan;
    uint32_t at; /* the instruction being visited */
    uint32_t block;
    bool predicated;
    uint32_t delta; /* distance by which fixed rows move down */
} allocator;

static inline void join_rows(allocator *l, uint32_t *row, unsigned rows, unsigned use)
{
    if ((use & PL_USE_PRED) || *row >= l->fixed) return;
    for (unsigned k = 1; k < rows;
         k++) /* rows of one operand belong to one unit: mark them as continued */
        l->unit_of[*row + k] = 1;
}

static const unit_ref *refs_of(const allocator *l, uint32_t at)
{
    return l->refs.n ? l->refs.at + l->ref[at] : NULL; /* a function without registers has none */
}

static const unit_ref *refs_end(const allocator *l, uint32_t at)
{
    return l->refs.n ? l->refs.at + l->ref[at + 1] : NULL;
}

/* Within one instruction, reads precede writes. */
static void note_accesses(allocator *l, pl_insn *i)
{
    const bool is_uniform = pl_forms[i->form].mnem == M__umov || (i->flags & PL_IF_UNIFORM_REG);
    const unit_ref *first = refs_of(l, l->at), *end = refs_end(l, l->at);
    for (const unit_ref *r = first; r < end; r++)
        if (r->use & PL_USE_READ)
            pl_note_read(&l->u[r->unit].first, l->block, i, l->pred_def, l->in_cycle[l->block]);
    PL_FOR_EACH_WRITE(l->p, i, o)
        if (o.use & PL_USE_PRED) l->pred_def[*o.row] = l->at + 1;
    for (const unit_ref *r = first; r < end; r++) {
        live_unit *u = &l->u[r->unit];
        if (!(r->use & PL_USE_WRITE)) continue;
        pl_note_write(&u->first, l->block, l->at, i, l->pred_def, l->at + 1, r->rows == u->rows);
        if (u->writes < 2) u->writes++;
        u->uniform |= is_uniform;
        u->narrow |= (i->flags & PL_IF_NARROW64) != 0;
    }
}

/* True if this access defines the value anew. */
static inline bool is_new_def(const allocator *l, const unit_ref *r)
{
    const live_unit *u = &l->u[r->unit];
    if (!(r->use & PL_USE_WRITE) || (r->use & PL_USE_READ) || r->rows != u->rows) return false;
    return pl_starts_value(&u->first, l->block, l->at, l->predicated);
}

/* The first access in a block decides. */
static inline void note_block_access(allocator *l, const unit_ref *r)
{
    uint32_t k = l->global_index[r->unit];
    if (k == UINT32_MAX || l->seen[k] == l->block + 1) return;
    l->seen[k] = l->block + 1;
    pl_live_spans_access(&l->sets, k, l->block, !is_new_def(l, r));
}

static void extend(live_unit *u, uint32_t at)
{
    if (at < u->start) u->start = at;
    if (at > u->end) u->end = at;
}

/* Within one instruction, reads precede writes. */
static void note_block_accesses(allocator *l)
{
    const unit_ref *first = refs_of(l, l->at), *end = refs_end(l, l->at);
    for (const unit_ref *r = first; r < end; r++) {
        extend(&l->u[r->unit], l->at);
        if (r->use & PL_USE_READ) note_block_access(l, r);
    }
    for (const unit_ref *r = first; r < end; r++)
        if (!(r->use & PL_USE_READ)) note_block_access(l, r);
}

static uint32_t regs_of(const live_unit *u)
{
    return u->uniform ? 0 : u->narrow ? 1 : u->rows;
}

/* Steps backwards over one instruction, which occupies positions 2 * at (reads) and 2 * at + 1
 * (writes). */
static void kill(allocator *l, const unit_ref *r)
{
    uint32_t *until = &l->last_use[r->unit];
    if (!is_new_def(l, r)) return;
    pl_linear_scan_live_range(l->scan, l->u[r->unit].alias_of, 2 * l->at + 1,
                              *until ? *until : 2 * l->at + 2);
    *until = 0;
}

/* Memory instructions, shuffles and special functions wait in a queue before they read their
 * registers. */
static bool reads_late(const pl_insn *i)
{
    const unsigned memory = PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC;
    if (pl_forms[i->form].effects & memory)
        return (i->flags & PL_IF_MEM) && i->sel[PL_M_SPACE] != PL_SP_PARAM;
    return pl_classes[i->latency_class].reads_late;
}

/* Number of instructions after this one until its operands have been read. Memory accesses, and
 * other instructions that units process in turn, wait in a queue. An earlier write of such a
 * register has to wait for a scoreboard. ptxas assigns it to another value within five instructions
 * in 19 of 100 cases after a store, 73 after arithmetic. */
static uint32_t queue_delay(const allocator *l, const pl_insn *i)
{
    if (!l->p->opt_level || !reads_late(i)) return 0;
    if (!(i->flags & PL_IF_MEM)) return l->p->tuning->registers.unit_wait;
    return pl_forms[i->form].effects & (PL_EF_STORE | PL_EF_ATOMIC)
               ? l->p->tuning->registers.store_wait
               : l->p->tuning->registers.memory_wait;
}

static void mark_live(allocator *l, const unit_ref *r)
{
    if (!(r->use & PL_USE_READ) && (!l->predicated || is_new_def(l, r))) return;
    if (l->last_use[r->unit]) return;
    l->last_use[r->unit] = 2 * l->at + 1;
    uint32_t queue = r->use & PL_USE_READ ? queue_delay(l, &l->p->code.at[l->f->first + l->at]) : 0,
             end = l->g.b[l->block].end - l->f->first;
    pl_linear_scan_read_tail(l->scan, l->u[r->unit].alias_of, 2 * l->at + 2,
                             2 * (l->at + queue < end ? l->at + queue : end));
}

static inline void renumber(allocator *l, uint32_t *row, unsigned rows, unsigned use)
{
    (void)rows;
    if (use & PL_USE_PRED) return;
    if (*row >= l->fixed)
        *row -= l->delta;
    else {
        const live_unit *u = &l->u[l->unit_of[*row]];
        *row = u->to + (*row - u->row);
    }
}

/* Marks blocks that may be in a cycle. Every cycle has at least one backward jump; all blocks
 * between such a jump and its target are marked. */
static void find_cycles(allocator *l)
{
    const pl_cfg *g = &l->g;
    uint32_t *until = pl_arena_array(l->a, uint32_t, g->n + 1), end = 0;
    l->in_cycle = pl_arena_array(l->a, bool, g->n + 1);
    if (!until || !l->in_cycle) return;
    for (uint32_t b = 0; b < g->n; b++)
        for (uint32_t k = g->pred_start[b]; k < g->pred_start[b + 1]; k++)
            until[b] = g->pred[k] >= b && g->pred[k] + 1 > until[b] ? g->pred[k] + 1 : until[b];
    for (uint32_t b = 0; b < g->n; b++) {
        end = until[b] > end ? until[b] : end;
        l->in_cycle[b] = b < end;
    }
}

static void make_units(allocator *l, pl_arena *a)
{
    for (uint32_t k = 0; k < l->f->count; k++) {
        pl_insn *i = &l->p->code.at[l->f->first + k];
        pl_operand_plan own;
        if (pl_plan_of(l->p, i, &own)->wide)
            PL_FOR_EACH_USE(l->p, i, o) join_rows(l, o.row, o.rows, o.use);
    }
    for (size_t k = 0; k < l->f->formal.n; k++) /* register parameters and results of functions */
        if (l->f->formal.at[k].reg && !l->f->formal.at[k].pred && l->f->formal.at[k].bytes > 4)
            join_rows(l, &l->f->formal.at[k].to, 2, 0);
    for (size_t k = 0; k < l->f->result.n; k++)
        if (l->f->result.at[k].reg && !l->f->result.at[k].pred && l->f->result.at[k].bytes > 4)
            join_rows(l, &l->f->result.at[k].from, 2, 0);
    l->u = pl_arena_array(a, live_unit, l->fixed + 1);
    if (!pl_arena_ok(a)) return;
    for (uint32_t r = 0; r < l->fixed; r++) {
        if (!l->unit_of[r]) {
            l->u[l->n] = (live_unit){
                .row = r, .start = UINT32_MAX, .alias_of = l->n, .first.block = PL_NO_BLOCK};
            l->n++;
        }
        l->unit_of[r] = l->n - 1;
        l->u[l->n - 1].rows++;
    }
    l->ref = pl_arena_array(a, uint32_t, l->f->count + 1);
    for (uint32_t k = 0; k < l->f->count && l->ref; k++) {
        l->ref[k] = (uint32_t)l->refs.n;
        PL_FOR_EACH_USE(l->p, &l->p->code.at[l->f->first + k], op)
            if (!(op.use & PL_USE_PRED) && *op.row < l->fixed)
                *pl_push(l->a, &l->refs) =
                    (unit_ref){l->unit_of[*op.row], (uint8_t)op.rows, (uint8_t)op.use};
        l->ref[k + 1] = (uint32_t)l->refs.n;
    }
}

/* A unit that one block writes first and no other block accesses is not live at the end of any
 * block. */
static bool number_global_units(allocator *l)
{
    l->global_index = pl_arena_array(l->a, uint32_t, l->n + 1);
    l->global_unit = pl_arena_array(l->a, uint32_t, l->n + 1);
    if (!l->global_index || !l->global_unit) return false;
    for (uint32_t k = 0; k < l->n; k++) {
        const pl_first_access *f = &l->u[k].first;
        bool is_local = f->block == PL_NO_BLOCK || f->def_pos != UINT32_MAX;
        l->global_index[k] = is_local ? UINT32_MAX : l->sets.values;
        if (!is_local) l->global_unit[l->sets.values++] = k;
    }
    l->seen = pl_arena_array(l->a, uint32_t, l->sets.values + 1);
    return l->seen != NULL;
}

/* Positions where block b begins and ends. */
static uint32_t block_start(const allocator *l, uint32_t b)
{
    return l->g.b[b].first - l->f->first;
}

static uint32_t block_end(const allocator *l, uint32_t b)
{
    return l->g.b[b].end - l->f->first;
}

/* Extends the unit through blocks `first` to `end` - 1, which do not access it: it is live
 * throughout. */
static void extend_through(allocator *l, uint32_t u, uint32_t first, uint32_t end)
{
    if (first == end) return;
    extend(&l->u[u], block_start(l, first));
    pl_linear_scan_live_range(l->scan, l->u[u].alias_of, 2 * block_start(l, first),
                              2 * block_end(l, end - 1));
}

static bool solve(allocator *l)
{
    uint32_t blocks = l->g.n, *npred = pl_arena_array(l->a, uint32_t, blocks + 1);
    if (!npred) return false;
    for (uint32_t b = 0; b < blocks; b++) npred[b] = l->g.pred_start[b + 1] - l->g.pred_start[b];
    l->sets.blocks = blocks;
    l->sets.preds = l->g.pred;
    l->sets.pred = l->g.pred_start;
    l->sets.npred = npred;
    size_t n = l->sets.accesses.n;
    /* Next access of a unit in block order, plus one. */
    uint32_t *next = pl_arena_array(l->a, uint32_t, n + 1), *head = l->seen;
    l->live_out = pl_arena_array(l->a, bool, n + 1);
    if (!next || !l->live_out || !pl_live_spans_solve(&l->sets)) return false;
    memset(head, 0, l->sets.values * sizeof *head);
    for (size_t k = n; k-- > 0;) {
        const pl_access_point *t = &l->sets.accesses.at[k];
        next[k] = head[t->value];
        head[t->value] = (uint32_t)k + 1;
        if (t->reads) extend(&l->u[l->global_unit[t->value]], block_start(l, t->block));
    }
    for (size_t k = 0; k < l->sets.spans.n; k++) {
        const pl_live_span *s = &l->sets.spans.at[k];
        uint32_t u = l->global_unit[s->value], *at = &head[s->value], from = s->first;
        for (; *at && l->sets.accesses.at[*at - 1].block < s->end; *at = next[*at - 1]) {
            uint32_t b = l->sets.accesses.at[*at - 1].block;
            if (b < s->first) continue;
            l->live_out[*at - 1] = true;
            extend_through(l, u, from, b);
            from = b + 1;
        }
        extend_through(l, u, from, s->end);
        extend(&l->u[u], block_end(l, s->end - 1));
        extend(&l->u[u], block_end(l, s->first));
    }
    return pl_arena_ok(l->a);
}

static void mark_late_reads(allocator *l)
{
    for (uint32_t at = 0; at < l->f->count; at++) {
        if (!reads_late(&l->p->code.at[l->f->first + at])) continue;
        for (const unit_ref *r = refs_of(l, at), *end = refs_end(l, at); r < end; r++)
            if (r->use & PL_USE_READ) l->u[r->unit].read_late |= l->u[r->unit].end == at;
    }
}

/* ---- linear scan ---- */

/* State of the row allocation. A row is used for one width only: lane 5 of a 64-bit pair is not
 * lane 5 of a 32-bit row, and lanes that have diverged may hold different units in the same row.
 * Free rows of the most common widths are found by bit masks, with one bit for the first row of
 * each; rows to be freed are listed by position. */
enum { WIDTHS = 3 /* 1, 2, 4 rows */ };
typedef struct register_file {
    allocator *l;
    uint32_t nrows;   /* rows allocated so far */
    uint32_t nunused; /* of these, rows never allocated to a unit */
    /* By row: first position at which it is free; and at which it has been read. */
    uint32_t *busy, *unread;
    uint8_t *width;                        /* by register; 0: never allocated */
    uint64_t *free[WIDTHS], *idle[WIDTHS]; /* free rows; those of them that have been read */
    uint32_t words;
    uint32_t at;             /* position for which the masks are valid */
    uint32_t *frees, *reads; /* by position: lists of units, plus one, whose rows become free, or
                                have been read */
    uint32_t *next_free, *next_read; /* by unit */
} register_file;

static int width_class(uint32_t rows)
{
    return rows == 1 ? 0 : rows == 2 ? 1 : rows == 4 ? 2 : -1;
}

static uint32_t alignment(uint32_t rows)
{
    return rows >= 4 ? 4 : rows == 2 ? 2 : 1;
}

static bool init_register_file(register_file *s, allocator *l, pl_arena *a)
{
    const size_t n = (size_t)l->fixed * 2 + 16, positions = (size_t)l->f->count + 2;
    *s = (register_file){.l = l, .words = (uint32_t)(n / 64 + 1)};
    s->busy = pl_arena_array(a, uint32_t, n);
    s->unread = pl_arena_array(a, uint32_t, n);
    s->width = pl_arena_array(a, uint8_t, n);
    for (int c = 0; c < WIDTHS; c++) {
        s->free[c] = pl_arena_array(a, uint64_t, s->words);
        s->idle[c] = pl_arena_array(a, uint64_t, s->words);
    }
    s->frees = pl_arena_array(a, uint32_t, positions);
    s->reads = pl_arena_array(a, uint32_t, positions);
    s->next_free = pl_arena_array(a, uint32_t, l->n + 1);
    s->next_read = pl_arena_array(a, uint32_t, l->n + 1);
    return pl_arena_ok(a);
}

static inline void set_bit(uint64_t *bits, uint32_t row, bool on)
{
    bits[row / 64] = on ? bits[row / 64] | 1ull << row % 64 : bits[row / 64] & ~(1ull << row % 64);
}

/* The first set bit before `end`, else `end`. */
static uint32_t first_set_bit(const uint64_t *bits, uint32_t end)
{
    for (uint32_t w = 0; w * 64 < end; w++)
        if (bits[w]) {
            uint32_t row = w * 64 + (uint32_t)__builtin_ctzll(bits[w]);
            return row < end ? row : end;
        }
    return end;
}

/* Advances to a position: rows of ended units become free. */
static void advance_to(register_file *s, uint32_t at)
{
    const allocator *l = s->l;
    while (s->at < at) {
        s->at++;
        for (uint32_t k = s->frees[s->at]; k; k = s->next_free[k - 1]) {
            uint32_t row = l->u[k - 1].to;
            int c = width_class(l->u[k - 1].rows);
            set_bit(s->free[c], row, true);
            set_bit(s->idle[c], row, s->unread[row] <= s->at);
        }
        for (uint32_t k = s->reads[s->at]; k; k = s->next_read[k - 1]) {
            uint32_t row = l->u[k - 1].to;
            if (s->unread[row] == s->at && s->busy[row] <= s->at)
                set_bit(s->idle[width_class(l->u[k - 1].rows)], row, true);
        }
    }
}

/* The rows for a unit: the first that are free and have been read; if these are not among the first
 * `enough`, the first that are free. */
static uint32_t choose_rows(const register_file *s, const live_unit *u, uint32_t enough)
{
    const uint32_t step = alignment(u->rows), n = u->rows;
    const int c = width_class(n);
    if (c >= 0 && !s->nunused) {
        uint32_t fresh = (s->nrows + step - 1) / step * step,
                 row = first_set_bit(s->idle[c], fresh);
        return row + n > enough ? first_set_bit(s->free[c], fresh) : row;
    }
    for (uint32_t row = 0, first = UINT32_MAX;; row += step) {
        bool free_rows = true, read = true;
        for (uint32_t r = row; r < row + n && free_rows; r++) {
            free_rows =
                r >= s->nrows || (s->busy[r] <= u->start && (!s->width[r] || s->width[r] == n));
            read &= s->unread[r] <= u->start;
        }
        if (!free_rows) continue;
        if (first == UINT32_MAX) first = row;
        if (row + n > enough) return first;
        if (read) return row;
    }
}

static void assign_rows(register_file *s, uint32_t k, uint32_t row)
{
    live_unit *u = &s->l->u[k];
    const int c = width_class(u->rows);
    const uint32_t busy = u->end + 1,
                   unread = busy + (u->read_late ? s->l->p->tuning->registers.reuse_delay : 0),
                   last = s->l->f->count;
    u->to = row;
    if (row > s->nrows) s->nunused += row - s->nrows;
    for (uint32_t r = row; r < row + u->rows; r++) {
        s->nunused -= r < s->nrows && !s->width[r];
        s->busy[r] = busy;
        s->unread[r] = unread;
        s->width[r] = (uint8_t)u->rows;
    }
    s->nrows = row + u->rows > s->nrows ? row + u->rows : s->nrows;
    if (c < 0) return;
    set_bit(s->free[c], row, false);
    set_bit(s->idle[c], row, false);
    if (busy <= last) {
        s->next_free[k] = s->frees[busy];
        s->frees[busy] = k + 1;
    }
    if (unread > busy && unread <= last) {
        s->next_read[k] = s->reads[unread];
        s->reads[unread] = k + 1;
    }
}

/* Linear scan: reuses rows that are free at a unit's start. Returns the number of rows needed. A
 * row that has not been read yet is avoided for a while, as far as the thread's registers permit:
 * its writer would have to wait for that (emu/sm/control_codes.c). */
static uint32_t scan(allocator *l, pl_arena *a)
{
    enum { HOLES = 16 }; /* intervals have no holes, so that there are more rows than registers */
    pl_key *order = pl_arena_array(a, pl_key, 2 * (size_t)l->n + 1);
    register_file s;
    uint32_t n = 0;
    if (!init_register_file(&s, l, a) || !order) return 0;
    for (uint32_t k = 0; k < l->n; k++)
        if (l->u[k].start != UINT32_MAX)
            order[n++] = (pl_key){l->u[k].start, k}; /* equal starts: in order of rows */
    pl_sort_keys(order, n, order + n);
    for (uint32_t k = 0; k < n; k++) {
        const live_unit *u = &l->u[order[k].what];
        advance_to(&s, u->start);
        assign_rows(&s, order[k].what, choose_rows(&s, u, l->f->registers + HOLES));
    }
    return s.nrows;
}

/* Two or three values that an instruction reads should be in different banks. */
static void note_bank_conflicts(allocator *l)
{
    uint32_t same[3], n = 0;
    for (const unit_ref *r = refs_of(l, l->at), *end = refs_end(l, l->at); r < end; r++) {
        const live_unit *u = &l->u[r->unit];
        if (!(r->use & PL_USE_READ) || u->uniform) continue;
        if (n == 3) return;
        same[n++] = u->alias_of;
    }
    for (uint32_t x = 0; x < n; x++)
        for (uint32_t y = x + 1; y < n; y++)
            pl_linear_scan_bank_conflict(l->scan, same[x], same[y]);
}

/* Operands that name several values occupy adjacent registers. */
static void note_vectors(allocator *l, pl_insn *i)
{
    enum { LONGEST = 8 };
    pl_operand_plan own;
    const pl_operand_plan *t = pl_plan_of(l->p, i, &own);
    for (const pl_operand_slot *u = t->use; t->vectors && u < t->use + t->n; u++) {
        uint32_t part[LONGEST], n = 0, first = ((const uint32_t *)(const void *)i)[u->at];
        if (u->count < 2 || u->count > LONGEST || first == UINT32_MAX || (u->use & PL_USE_PRED))
            continue;
        for (; n < u->count; n++) {
            uint32_t row = l->p->pool.at[i->extra_ops + first + n];
            if (row >= l->fixed) break;
            part[n] = l->u[l->unit_of[row]].alias_of;
        }
        if (n == u->count) pl_linear_scan_vector(l->scan, part, n);
    }
}

/* Number of machine registers, from the first to the highest one used; 0: out of memory. */
static uint32_t count_registers(allocator *l)
{
    size_t t = 0;
    for (l->block = 0; l->block < l->g.n; l->block++) {
        const pl_cfg_block *b = &l->g.b[l->block];
        size_t first = t;
        uint32_t start = 2 * (b->first - l->f->first), end = 2 * (b->end - l->f->first);
        for (; t < l->sets.accesses.n && l->sets.accesses.at[t].block == l->block; t++)
            if (l->live_out[t]) l->last_use[l->global_unit[l->sets.accesses.at[t].value]] = end;
        for (uint32_t pc = b->end; pc-- > b->first;) {
            pl_insn *i = &l->p->code.at[pc];
            l->at = pc - l->f->first;
            l->predicated = i->guard != PL_PT;
            const unit_ref *r1 = refs_of(l, l->at), *r2 = refs_end(l, l->at);
            for (const unit_ref *r = r1; r < r2; r++)
                if (r->use & PL_USE_WRITE)
                    pl_linear_scan_written(l->scan, l->u[r->unit].alias_of, i->line);
            for (const unit_ref *r = r1; r < r2; r++) kill(l, r);
            for (const unit_ref *r = r1; r < r2; r++) mark_live(l, r);
            note_vectors(l, i);
            note_bank_conflicts(l);
            const unsigned temporary = pl_classes[i->latency_class].temporaries;
            for (uint32_t k = 0; k < temporary; k++)
                pl_linear_scan_live_range(l->scan, l->n + k, 2 * l->at, 2 * l->at + 2);
        }
        for (size_t k = first; k < t; k++) {
            uint32_t u = l->global_unit[l->sets.accesses.at[k].value];
            if (l->last_use[u])
                pl_linear_scan_live_range(l->scan, l->u[u].alias_of, start, l->last_use[u]);
            l->last_use[u] = 0;
        }
    }
    return pl_linear_scan_count(l->scan, l->p->opt_level > 0);
}

/* Aliases the result of the instruction to the register of its operand, if it reads only one
 * unit. */
static void alias_result(allocator *l, uint32_t at)
{
    uint32_t from = UINT32_MAX;
    for (const unit_ref *r = refs_of(l, at); r < refs_end(l, at); r++)
        if (r->use & PL_USE_READ) {
            if (from != UINT32_MAX && from != r->unit) return;
            from = r->unit;
        }
    for (const unit_ref *r = refs_of(l, at); r < refs_end(l, at); r++) {
        live_unit *u = &l->u[r->unit];
        if (!(r->use & PL_USE_WRITE) || u->writes != 1) continue;
        if (from != UINT32_MAX)
            u->alias_of = l->u[from].alias_of;
        else
            u->uniform = true;
    }
}

/* Results of free copies have no registers of their own: the low half of a 64-bit value, its
 * extension, a sign that the reader applies. */
static void alias_free_copies(allocator *l)
{
    for (uint32_t k = 0; k < l->f->count; k++) {
        const pl_insn *i = &l->p->code.at[l->f->first + k];
        if (pl_insn_is_free_copy(i)) alias_result(l, k);
    }
}

pl_status pl_allocate_registers(pl_program *p, pl_prog_func *f, uint32_t fixed, pl_arena *scratch)
{
    allocator l = {.p = p, .f = f, .a = scratch, .fixed = fixed};
    pl_status st = pl_cfg_make(p, f, scratch, &l.g);
    if (st != PL_OK) return st;
    l.unit_of = pl_arena_array(scratch, uint32_t, fixed + 4);
    if (!pl_arena_ok(scratch)) return PL_NOMEM;
    make_units(&l, scratch);
    l.sets.a = scratch;
    l.pred_def = pl_arena_array(scratch, uint32_t, f->preds + 1);
    find_cycles(&l);
    l.last_use = pl_arena_array(scratch, uint32_t, l.n + 1);
    const struct pl_tuning_registers *t = &p->tuning->registers;
    const pl_register_counts of = {.spread = (uint32_t)t->full_occupancy - t->beyond_named,
                                   .unit = t->unit,
                                   .first = t->unit - t->beyond_named};
    l.scan = pl_linear_scan_new(scratch, l.n + TEMPORARIES, &of);
    if (!pl_arena_ok(scratch)) return PL_NOMEM;
    for (l.block = 0; l.block < l.g.n; l.block++)
        for (uint32_t pc = l.g.b[l.block].first; pc < l.g.b[l.block].end; pc++) {
            pl_insn *i = &p->code.at[pc];
            l.at = pc - f->first;
            note_accesses(&l, i);
            i->flags &= (uint16_t) ~(PL_IF_UNIFORM_REG | PL_IF_NARROW64);
        }
    if (!number_global_units(&l)) return PL_NOMEM;
    for (l.block = 0; l.block < l.g.n; l.block++)
        for (uint32_t pc = l.g.b[l.block].first; pc < l.g.b[l.block].end; pc++) {
            l.predicated = p->code.at[pc].guard != PL_PT;
            l.at = pc - f->first;
            note_block_accesses(&l);
        }
    if (!pl_arena_ok(scratch)) return PL_NOMEM;
    alias_free_copies(&l);
    for (uint32_t k = 0; k < l.n; k++) pl_linear_scan_value(l.scan, k, regs_of(&l.u[k]));
    for (uint32_t k = 0; k < TEMPORARIES; k++) pl_linear_scan_value(l.scan, l.n + k, 1);
    if (!solve(&l)) return PL_NOMEM;
    /* parameters are live-in at the start, results live-out at the end */
    for (size_t k = 0; k < f->formal.n; k++)
        if (f->formal.at[k].reg && !f->formal.at[k].pred)
            extend(&l.u[l.unit_of[f->formal.at[k].to]], 0);
    for (size_t k = 0; k < f->result.n; k++)
        if (f->result.at[k].reg && !f->result.at[k].pred) {
            extend(&l.u[l.unit_of[f->result.at[k].from]], 0);
            extend(&l.u[l.unit_of[f->result.at[k].from]], f->count);
        }
    bool calls = false;
    uint32_t saved = 0;
    for (uint32_t k = 0; k < f->count; k++) {
        calls = calls || pl_call_uses_abi(p, &p->code.at[f->first + k]);
        saved += pl_insn_mnem(&p->code.at[f->first + k]) == M__save;
    }
    f->registers = count_registers(&l) + p->tuning->registers.beyond_named;
    uint32_t min_regs =
        !calls ? p->tuning->registers.min
               : min_registers_saving(
                     p, f->entry ? f->callee_saved_used + p->tuning->calls.kernel_unsaved : saved);
    if (f->registers < min_regs) f->registers = min_regs;
    uint32_t limit = pl_register_limit(p, f);
    if (f->registers > limit) f->registers = limit;
    const uint32_t at_entry = pl_registers_at_entry(p, f);
    if (at_entry) f->registers = at_entry;
    mark_late_reads(&l);
    uint32_t rows = scan(&l, scratch);
    if (!pl_arena_ok(scratch)) return PL_NOMEM;
    rows = (rows + 3u) & ~3u;
    if (rows > fixed) return PL_OK;
    l.delta = fixed - rows;
    for (uint32_t k = 0; k < f->count; k++)
        PL_FOR_EACH_USE(p, &p->code.at[f->first + k], o) renumber(&l, o.row, o.rows, o.use);
    for (size_t k = 0; k < f->formal.n; k++)
        if (f->formal.at[k].reg)
            renumber(&l, &f->formal.at[k].to, 1, f->formal.at[k].pred ? PL_USE_PRED : 0);
    for (size_t k = 0; k < f->result.n; k++)
        if (f->result.at[k].reg)
            renumber(&l, &f->result.at[k].from, 1, f->result.at[k].pred ? PL_USE_PRED : 0);
    for (size_t k = 0; k < f->init.n; k++) f->init.at[k].row -= l.delta;
    f->rows -= l.delta;
    return PL_OK;
}
