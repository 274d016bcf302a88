/* register_allocation.c - linear-scan register allocation over linear code.
 *
 * Values and their liveness are those of compiler/analysis/liveness.h. A value's interval is the
 * code range from its first to its last live point (Poletto and Sarkar, "Linear Scan Register
 * Allocation", 1999). Lanes that have diverged may hold different values in one row: rows are
 * private to a lane, so per-thread liveness is sufficient. */
#include "compiler/codegen/register_allocation.h"

#include "isa/program/insn_query.h"
#include "isa/program/resource_usage.h"

#include <string.h>

#include "base/sort.h"
#include "compiler/analysis/liveness.h"
#include "isa/program/cfg.h"
#include "compiler/codegen/linear_scan.h"
#include "compiler/tuning.h"
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

/* Of a value. */
typedef struct interval {
    uint32_t start, end; /* relative to the function's first instruction; start UINT32_MAX: none */
    uint32_t to;         /* row after renumbering */
    bool read_late;      /* its last reader reads its registers some time after issue */
} interval;

typedef struct allocator {
    pl_program *p;
    pl_arena *a;
    pl_prog_func *f;
    pl_cfg g;
    uint32_t fixed; /* the first row that is not a register */
    pl_liveness live;
    interval *interval; /* by value */
    bool *in_cycle;     /* by block: it may execute several times */
    bool *live_out;     /* by access (live.sets): live at the end of the block */
    /* By value: position after its last read, as seen backwards from here; 0: it is not live. */
    uint32_t *last_use;
    pl_linear_scan *scan;
    uint32_t at; /* the instruction being visited */
    uint32_t block;
    uint32_t delta; /* distance by which fixed rows move down */
} allocator;

static pl_insn *insn_at(const allocator *l, uint32_t at)
{
    return &l->p->code.at[l->f->first + at];
}

/* The value of an operand, plus one; 0: none. */
static inline uint32_t value_of(const allocator *l, const pl_operand_iter *o)
{
    return pl_liveness_value_of(&l->live, *o->row, o->use);
}

static void extend(interval *u, uint32_t at)
{
    if (at < u->start) u->start = at;
    if (at > u->end) u->end = at;
}

/* Steps backwards over one instruction, which occupies positions 2 * at (reads) and 2 * at + 1
 * (writes). */
static void kill(allocator *l, const pl_operand_iter *o)
{
    const uint32_t k = value_of(l, o);
    if (!k || !pl_liveness_defines(&l->live, k - 1, o->rows, o->use)) return;
    uint32_t *until = &l->last_use[k - 1];
    pl_linear_scan_live_range(l->scan, l->live.v[k - 1].alias_of, 2 * l->at + 1,
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

static void mark_live(allocator *l, const pl_operand_iter *o)
{
    const uint32_t k = value_of(l, o);
    const bool reads = o->use & PL_USE_READ;
    if (!k || l->last_use[k - 1]) return;
    if (!reads && (!l->live.guarded || pl_liveness_defines(&l->live, k - 1, o->rows, o->use)))
        return;
    l->last_use[k - 1] = 2 * l->at + 1;
    uint32_t queue = reads ? queue_delay(l, insn_at(l, l->at)) : 0,
             end = l->g.b[l->block].end - l->f->first;
    pl_linear_scan_read_tail(l->scan, l->live.v[k - 1].alias_of, 2 * l->at + 2,
                             2 * (l->at + queue < end ? l->at + queue : end));
}

static inline void renumber(const allocator *l, uint32_t *row, unsigned use)
{
    if (use & PL_USE_PRED) return;
    if (*row >= l->fixed) {
        *row -= l->delta;
    } else {
        const uint32_t k = l->live.of[*row] - 1;
        *row = l->interval[k].to + (*row - l->live.v[k].row);
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

/* Finds the values, and those of them that may be live across blocks. */
static bool find_values(allocator *l)
{
    pl_liveness *v = &l->live;
    if (!pl_liveness_begin(v, l->p, l->a, l->f, false)) return false;
    for (uint32_t r = l->fixed; r < l->f->rows; r++) pl_liveness_exclude(v, r);
    for (uint32_t k = 0; k < l->f->count; k++) pl_liveness_join_operands(v, insn_at(l, k));
    for (pl_interface_iter o = {0}; pl_interface_next(l->f, &o);)
        if (!(o.use & PL_USE_PRED)) pl_liveness_join(v, *o.row, o.rows);
    pl_liveness_number(v);
    for (v->block = 0; v->block < l->g.n; v->block++)
        for (uint32_t pc = l->g.b[v->block].first; pc < l->g.b[v->block].end; pc++) {
            pl_insn *i = &l->p->code.at[pc];
            v->at = pc - l->f->first;
            pl_liveness_locate(v, i, l->in_cycle[v->block]);
            if (pl_insn_mnem(i) == M__umov && v->of[i->op[0]])
                v->v[v->of[i->op[0]] - 1].regs = 0; /* it writes a uniform register */
            i->flags &= (uint16_t) ~(PL_IF_UNIFORM_REG | PL_IF_NARROW64);
        }
    if (!pl_live_spans_of_cfg(&v->sets, l->a, &l->g) || !pl_liveness_number_global(v)) return false;
    for (pl_interface_iter o = {0}; pl_interface_next(l->f, &o);)
        if (!(o.use & PL_USE_PRED)) v->v[v->of[*o.row] - 1].precolored = true;
    pl_liveness_free_undefined(v);
    return true;
}

/* Initialises the intervals with the accesses, and notes these for the liveness across blocks. */
static bool note_accesses(allocator *l)
{
    pl_liveness *v = &l->live;
    l->interval = pl_arena_array(l->a, interval, v->n + 1);
    if (!l->interval) return false;
    for (uint32_t k = 0; k < v->n; k++) l->interval[k].start = UINT32_MAX;
    for (v->block = 0; v->block < l->g.n; v->block++)
        for (uint32_t pc = l->g.b[v->block].first; pc < l->g.b[v->block].end; pc++) {
            v->at = pc - l->f->first;
            pl_liveness_note_accesses(v, &l->p->code.at[pc]);
            PL_FOR_EACH_USE(l->p, &l->p->code.at[pc], o) {
                const uint32_t k = value_of(l, &o);
                if (k) extend(&l->interval[k - 1], v->at);
            }
        }
    return pl_arena_ok(l->a);
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

/* Extends the value's interval through blocks `first` to `end` - 1, which do not access it: it is
 * live throughout. */
static void extend_through(allocator *l, uint32_t u, uint32_t first, uint32_t end)
{
    if (first == end) return;
    extend(&l->interval[u], block_start(l, first));
    pl_linear_scan_live_range(l->scan, l->live.v[u].alias_of, 2 * block_start(l, first),
                              2 * block_end(l, end - 1));
}

static bool solve(allocator *l)
{
    pl_live_spans *sets = &l->live.sets;
    const size_t n = sets->accesses.n;
    /* By access: the next one of the value in block order, plus one; by global value: the first. */
    uint32_t *next = pl_arena_array(l->a, uint32_t, n + 1),
             *head = pl_arena_array(l->a, uint32_t, sets->values + 1);
    l->live_out = pl_arena_array(l->a, bool, n + 1);
    if (!next || !head || !l->live_out || !pl_live_spans_solve(sets)) return false;
    for (size_t k = n; k-- > 0;) {
        const pl_access_point *t = &sets->accesses.at[k];
        next[k] = head[t->value];
        head[t->value] = (uint32_t)k + 1;
        if (t->reads) extend(&l->interval[l->live.value[t->value]], block_start(l, t->block));
    }
    for (size_t k = 0; k < sets->spans.n; k++) {
        const pl_live_span *s = &sets->spans.at[k];
        uint32_t u = l->live.value[s->value], *at = &head[s->value], from = s->first;
        for (; *at && sets->accesses.at[*at - 1].block < s->end; *at = next[*at - 1]) {
            uint32_t b = sets->accesses.at[*at - 1].block;
            if (b < s->first) continue;
            l->live_out[*at - 1] = true;
            extend_through(l, u, from, b);
            from = b + 1;
        }
        extend_through(l, u, from, s->end);
        extend(&l->interval[u], block_end(l, s->end - 1));
        extend(&l->interval[u], block_end(l, s->first));
    }
    return pl_arena_ok(l->a);
}

static void mark_late_reads(allocator *l)
{
    for (uint32_t at = 0; at < l->f->count; at++) {
        if (!reads_late(insn_at(l, at))) continue;
        PL_FOR_EACH_READ(l->p, insn_at(l, at), o) {
            const uint32_t k = value_of(l, &o);
            if (k) l->interval[k - 1].read_late |= l->interval[k - 1].end == at;
        }
    }
}

/* ---- linear scan ---- */

/* State of the row allocation. A row is used for one width only: lane 5 of a 64-bit pair is not
 * lane 5 of a 32-bit row, and lanes that have diverged may hold different values in the same row.
 * Free rows of the most common widths are found by bit masks, with one bit for the first row of
 * each; rows to be freed are listed by position. */
enum { WIDTHS = 3 /* 1, 2, 4 rows */ };
typedef struct register_file {
    allocator *l;
    uint32_t nrows;   /* rows allocated so far */
    uint32_t nunused; /* of these, rows never allocated to a value */
    /* By row: first position at which it is free; and at which it has been read. */
    uint32_t *busy, *unread;
    uint8_t *width;                        /* by register; 0: never allocated */
    uint64_t *free[WIDTHS], *idle[WIDTHS]; /* free rows; those of them that have been read */
    uint32_t words;
    uint32_t at;             /* position for which the masks are valid */
    uint32_t *frees, *reads; /* by position: lists of values, plus one, whose rows become free, or
                                have been read */
    uint32_t *next_free, *next_read; /* by value */
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
    s->next_free = pl_arena_array(a, uint32_t, l->live.n + 1);
    s->next_read = pl_arena_array(a, uint32_t, l->live.n + 1);
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

/* Advances to a position: rows of ended values become free. */
static void advance_to(register_file *s, uint32_t at)
{
    const allocator *l = s->l;
    while (s->at < at) {
        s->at++;
        for (uint32_t k = s->frees[s->at]; k; k = s->next_free[k - 1]) {
            uint32_t row = l->interval[k - 1].to;
            int c = width_class(l->live.v[k - 1].rows);
            set_bit(s->free[c], row, true);
            set_bit(s->idle[c], row, s->unread[row] <= s->at);
        }
        for (uint32_t k = s->reads[s->at]; k; k = s->next_read[k - 1]) {
            uint32_t row = l->interval[k - 1].to;
            if (s->unread[row] == s->at && s->busy[row] <= s->at)
                set_bit(s->idle[width_class(l->live.v[k - 1].rows)], row, true);
        }
    }
}

/* The rows for a value: the first that are free and have been read; if these are not among the
 * first `enough`, the first that are free. */
static uint32_t choose_rows(const register_file *s, uint32_t value, uint32_t enough)
{
    const uint32_t n = s->l->live.v[value].rows, step = alignment(n),
                   start = s->l->interval[value].start;
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
                r >= s->nrows || (s->busy[r] <= start && (!s->width[r] || s->width[r] == n));
            read &= s->unread[r] <= start;
        }
        if (!free_rows) continue;
        if (first == UINT32_MAX) first = row;
        if (row + n > enough) return first;
        if (read) return row;
    }
}

static void assign_rows(register_file *s, uint32_t k, uint32_t row)
{
    interval *u = &s->l->interval[k];
    const uint32_t rows = s->l->live.v[k].rows;
    const int c = width_class(rows);
    const uint32_t busy = u->end + 1,
                   unread = busy + (u->read_late ? s->l->p->tuning->registers.reuse_delay : 0),
                   last = s->l->f->count;
    u->to = row;
    if (row > s->nrows) s->nunused += row - s->nrows;
    for (uint32_t r = row; r < row + rows; r++) {
        s->nunused -= r < s->nrows && !s->width[r];
        s->busy[r] = busy;
        s->unread[r] = unread;
        s->width[r] = (uint8_t)rows;
    }
    s->nrows = row + rows > s->nrows ? row + rows : s->nrows;
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

/* Linear scan: reuses rows that are free at a value's start. Returns the number of rows needed. A
 * row that has not been read yet is avoided for a while, as far as the thread's registers permit:
 * its writer would have to wait for that (emu/sm/control_codes.c). */
static uint32_t scan(allocator *l, pl_arena *a)
{
    enum { HOLES = 16 }; /* intervals have no holes, so that there are more rows than registers */
    pl_key *order = pl_arena_array(a, pl_key, 2 * (size_t)l->live.n + 1);
    register_file s;
    uint32_t n = 0;
    if (!init_register_file(&s, l, a) || !order) return 0;
    for (uint32_t k = 0; k < l->live.n; k++)
        if (l->interval[k].start != UINT32_MAX)
            order[n++] = (pl_key){l->interval[k].start, k}; /* equal starts: in order of rows */
    pl_sort_keys(order, n, order + n);
    for (uint32_t k = 0; k < n; k++) {
        const uint32_t value = order[k].what;
        advance_to(&s, l->interval[value].start);
        assign_rows(&s, value, choose_rows(&s, value, l->f->registers + HOLES));
    }
    return s.nrows;
}

/* Two or three values that an instruction reads should be in different banks. */
static void note_bank_conflicts(const allocator *l, pl_insn *i)
{
    uint32_t same[3], n = 0;
    PL_FOR_EACH_READ(l->p, i, o) {
        const uint32_t k = value_of(l, &o);
        if (!k || !l->live.v[k - 1].regs) continue;
        if (n == 3) return;
        same[n++] = l->live.v[k - 1].alias_of;
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
    for (const pl_operand_slot *u = t->use.slot; t->vectors && u < t->use.slot + t->use.n; u++) {
        uint32_t part[LONGEST], n = 0, first = ((const uint32_t *)(const void *)i)[u->at];
        if (u->count < 2 || u->count > LONGEST || first == UINT32_MAX || (u->use & PL_USE_PRED))
            continue;
        for (; n < u->count; n++) {
            uint32_t row = l->p->pool.at[i->extra_ops + first + n];
            if (row >= l->fixed) break;
            part[n] = l->live.v[l->live.of[row] - 1].alias_of;
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
        const size_t first = t;
        l->live.block = l->block;
        uint32_t start = 2 * (b->first - l->f->first), end = 2 * (b->end - l->f->first);
        for (; t < l->live.sets.accesses.n && l->live.sets.accesses.at[t].block == l->block; t++)
            if (l->live_out[t]) l->last_use[l->live.value[l->live.sets.accesses.at[t].value]] = end;
        for (uint32_t pc = b->end; pc-- > b->first;) {
            pl_insn *i = &l->p->code.at[pc];
            l->at = l->live.at = pc - l->f->first;
            l->live.guarded = i->guard != PL_PT;
            PL_FOR_EACH_WRITE(l->p, i, o) {
                const uint32_t k = value_of(l, &o);
                if (k) pl_linear_scan_written(l->scan, l->live.v[k - 1].alias_of, i->line);
            }
            PL_FOR_EACH_WRITE(l->p, i, o) kill(l, &o);
            PL_FOR_EACH_USE(l->p, i, o) mark_live(l, &o);
            note_vectors(l, i);
            note_bank_conflicts(l, i);
            const unsigned temporary = pl_classes[i->latency_class].temporaries;
            for (uint32_t k = 0; k < temporary; k++)
                pl_linear_scan_live_range(l->scan, l->live.n + k, 2 * l->at, 2 * l->at + 2);
        }
        for (size_t k = first; k < t; k++) {
            uint32_t u = l->live.value[l->live.sets.accesses.at[k].value];
            if (l->last_use[u])
                pl_linear_scan_live_range(l->scan, l->live.v[u].alias_of, start, l->last_use[u]);
            l->last_use[u] = 0;
        }
    }
    return pl_linear_scan_count(l->scan, l->p->opt_level > 0);
}

/* Results of free copies have no registers of their own: the low half of a 64-bit value, its
 * extension, a sign that the reader applies. */
static void alias_free_copies(allocator *l)
{
    for (uint32_t k = 0; k < l->f->count; k++) {
        pl_insn *i = insn_at(l, k);
        if (pl_insn_is_free_copy(i)) pl_liveness_alias_result(&l->live, i);
    }
}

/* Gives the values and temporaries to the linear scan. */
static bool open_scan(allocator *l)
{
    const struct pl_tuning_registers *t = &l->p->tuning->registers;
    const pl_register_counts of = {.spread = (uint32_t)t->full_occupancy - t->beyond_named,
                                   .unit = t->unit,
                                   .first = t->unit - t->beyond_named};
    l->scan = pl_linear_scan_new(l->a, l->live.n + TEMPORARIES, &of);
    if (!l->scan) return false;
    for (uint32_t k = 0; k < l->live.n; k++) pl_linear_scan_value(l->scan, k, l->live.v[k].regs);
    for (uint32_t k = 0; k < TEMPORARIES; k++) pl_linear_scan_value(l->scan, l->live.n + k, 1);
    return pl_arena_ok(l->a);
}

/* Parameters are live at the start, results throughout. */
static void extend_interface(allocator *l)
{
    for (pl_interface_iter o = {0}; pl_interface_next(l->f, &o);) {
        if (o.use & PL_USE_PRED) continue;
        interval *u = &l->interval[l->live.of[*o.row] - 1];
        extend(u, 0);
        if (o.use & PL_USE_READ) extend(u, l->f->count);
    }
}

/* Sets the registers of a thread: those needed, within the limits. */
static void set_registers(allocator *l)
{
    pl_program *p = l->p;
    pl_prog_func *f = l->f;
    bool calls = false;
    uint32_t saved = 0;
    for (uint32_t k = 0; k < f->count; k++) {
        calls = calls || pl_call_uses_abi(p, insn_at(l, k));
        saved += pl_insn_mnem(insn_at(l, k)) == M__save;
    }
    f->registers = count_registers(l) + p->tuning->registers.beyond_named;
    uint32_t min_regs =
        !calls ? p->tuning->registers.min
               : min_registers_saving(
                     p, f->entry ? f->callee_saved_used + p->tuning->calls.kernel_unsaved : saved);
    if (f->registers < min_regs) f->registers = min_regs;
    uint32_t limit = pl_register_limit(p, f);
    if (f->registers > limit) f->registers = limit;
    const uint32_t at_entry = pl_registers_at_entry(p, f);
    if (at_entry) f->registers = at_entry;
}

pl_status pl_allocate_registers(pl_program *p, pl_prog_func *f, uint32_t fixed, pl_arena *scratch)
{
    allocator l = {.p = p, .f = f, .a = scratch, .fixed = fixed};
    pl_status st = pl_cfg_make(p, f, scratch, &l.g);
    if (st != PL_OK) return st;
    find_cycles(&l);
    if (!pl_arena_ok(scratch) || !find_values(&l) || !note_accesses(&l)) return PL_NOMEM;
    alias_free_copies(&l);
    l.last_use = pl_arena_array(scratch, uint32_t, l.live.n + 1);
    if (!l.last_use || !open_scan(&l) || !solve(&l)) return PL_NOMEM;
    extend_interface(&l);
    set_registers(&l);
    mark_late_reads(&l);
    uint32_t rows = scan(&l, scratch);
    if (!pl_arena_ok(scratch)) return PL_NOMEM;
    rows = (rows + 3u) & ~3u;
    if (rows > fixed) return PL_OK;
    l.delta = fixed - rows;
    for (uint32_t k = 0; k < f->count; k++)
        PL_FOR_EACH_USE(p, insn_at(&l, k), o) renumber(&l, o.row, o.use);
    for (pl_interface_iter o = {0}; pl_interface_next(f, &o);) renumber(&l, o.row, o.use);
    for (size_t k = 0; k < f->init.n; k++) f->init.at[k].row -= l.delta;
    f->rows -= l.delta;
    return PL_OK;
}
