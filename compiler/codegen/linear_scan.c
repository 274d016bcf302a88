/* linear_scan.c - linear-scan register allocation: assigns machine registers to the live ranges of
 * a function. See linear_scan.h.
 *
 * Linear scan with holes: values are visited in the order in which their live ranges start. Each
 * takes the first registers that are free in all of its intervals (Traub, Holloway and Smith,
 * "Quality and Speed in Linear-scan Register Allocation", 1998). A 64-bit value starts at an even
 * register; the elements of a vector are adjacent, starting at a multiple of their number. So a
 * function may need more registers than are live at once. R1 is the stack pointer. Other orders
 * than that of the scan are tried too: see allocate_respecting_tails. */
#include "compiler/codegen/linear_scan.h"

#include <assert.h>
#include <string.h>

#include "base/sort.h"

/* Maximum registers examined; the stack pointer's. */
enum { MAX_REGISTERS = 1024, STACK_POINTER = 1, NONE = UINT32_MAX, BANKS = 2, LONGEST_VECTOR = 32 };

/* Registers are processed a word at a time, positions FANOUT at a time. */
enum {
    WORD = 64,
    PLANES = MAX_REGISTERS / WORD,
    LOG2_FANOUT = 3,
    FANOUT = 1 << LOG2_FANOUT,
    LEVELS = 11,
    AT_TOP = 16
};
static_assert((int)LONGEST_VECTOR <= (int)WORD, "a vector does not leave a word or two");

typedef struct interval {
    uint32_t from, to;
} interval;

typedef struct live_range {
    uint32_t value;
    interval interval;
} live_range;

typedef struct interval_set {
    uint32_t width, start;
    uint32_t group;                      /* first value of its vector, itself if it is in none */
    uint32_t next;                       /* next in the vector; NONE: last */
    uint32_t offset;                     /* offset in its vector, in registers */
    uint32_t first_interval, nintervals; /* its intervals, after sorting */
    /* Range in `tail` of the pass: where its registers have not been read yet. */
    uint32_t tail, ntails;
    uint32_t line;      /* source line: the first that writes it; NONE: none does */
    uint32_t conflicts; /* first of the values read together with it, index in `conflict_list` plus
                           one */
    uint32_t reg;       /* its first register; NONE: not assigned yet */
} interval_set;

typedef struct bank_conflict {
    uint32_t value, next;
} bank_conflict;

struct pl_linear_scan {
    pl_register_counts of;
    pl_arena *a;
    interval_set *v;
    uint32_t n;
    struct {
        live_range *at;
        size_t n, cap;
    } live_ranges, tail_ranges;
    struct {
        bank_conflict *at;
        size_t n, cap;
    } conflict_list;
    interval *s, *tail; /* by value */
    bool respect_tails; /* tails are respected */
    /* The occupation of WORD registers by position, one bit each. A plane has a word for each
     * position (level 0) and, at each higher level, two for each FANOUT of the level below: `any`
     * holds registers occupied in at least one of them, `all` those that an interval occupies from
     * the first to the last of them; the levels below do not repeat the latter. So an interval
     * costs a few words per level regardless of its length, and all registers are examined
     * together. */
    uint64_t *plane[PLANES];
    uint64_t *tails[PLANES], *starts[PLANES]; /* likewise for tails, and for positions at which the
                                                 contents of a register start */
    uint32_t planes;                          /* number of planes with an occupied register */
    /* offsets of their words; at level 0 both are the same */
    uint32_t levels, any[LEVELS], all[LEVELS];
    size_t words; /* in a plane */
};

pl_linear_scan *pl_linear_scan_new(pl_arena *a, uint32_t values, const pl_register_counts *of)
{
    pl_linear_scan *c = pl_arena_new(a, pl_linear_scan);
    c->a = a;
    c->n = values;
    c->of = *of;
    if (c->of.spread > WORD) c->of.spread = WORD; /* limit of the search for another register */
    c->v = pl_arena_array(a, interval_set, values + 1);
    if (!c->v || !pl_arena_ok(a)) return NULL;
    for (uint32_t k = 0; k < values; k++)
        c->v[k] =
            (interval_set){.group = k, .next = NONE, .start = NONE, .line = NONE, .reg = NONE};
    return c;
}

void pl_linear_scan_value(pl_linear_scan *c, uint32_t v, uint32_t rows)
{
    c->v[v].width = rows;
}

void pl_linear_scan_written(pl_linear_scan *c, uint32_t v, uint32_t line)
{
    if (line < c->v[v].line) c->v[v].line = line;
}

void pl_linear_scan_vector(pl_linear_scan *c, const uint32_t *values, uint32_t n)
{
    uint32_t offset = 0;
    for (uint32_t k = 0, rows = 0; k < n; k++) {
        const interval_set *v = &c->v[values[k]];
        rows += v->width;
        if (rows > LONGEST_VECTOR || !v->width || v->group != values[k] || v->next != NONE) return;
        for (uint32_t m = 0; m < k; m++)
            if (values[m] == values[k]) return;
    }
    for (uint32_t k = 0; k < n; k++) {
        interval_set *v = &c->v[values[k]];
        v->group = values[0];
        v->next = k + 1 < n ? values[k + 1] : NONE;
        v->offset = offset;
        offset += v->width;
    }
}

void pl_linear_scan_bank_conflict(pl_linear_scan *c, uint32_t a, uint32_t b)
{
    const uint32_t both[] = {a, b};
    for (unsigned k = 0; k < 2 && a != b; k++) {
        interval_set *v = &c->v[both[k]];
        *pl_push(c->a, &c->conflict_list) = (bank_conflict){both[1 - k], v->conflicts};
        v->conflicts = (uint32_t)c->conflict_list.n;
    }
}

void pl_linear_scan_live_range(pl_linear_scan *c, uint32_t v, uint32_t from, uint32_t to)
{
    if (from >= to || !c->v[v].width) return;
    /* An interval adjacent to the latest one is merged with it, and possibly with the preceding
     * one: values are often live through many consecutive blocks. */
    for (unsigned k = 0; k < 2 && c->live_ranges.n; k++) {
        const live_range *l = &c->live_ranges.at[c->live_ranges.n - 1];
        if (l->value != v || (l->interval.to != from && l->interval.from != to)) break;
        from = from < l->interval.from ? from : l->interval.from;
        to = to > l->interval.to ? to : l->interval.to;
        c->live_ranges.n--;
    }
    *pl_push(c->a, &c->live_ranges) = (live_range){v, {from, to}};
}

void pl_linear_scan_read_tail(pl_linear_scan *c, uint32_t v, uint32_t from, uint32_t to)
{
    if (from < to && c->v[v].width) *pl_push(c->a, &c->tail_ranges) = (live_range){v, {from, to}};
}

/* Sorts the intervals by start (counting sort): indices of `live_ranges`. */
static uint32_t *by_start(pl_linear_scan *c)
{
    uint32_t last = 0;
    for (size_t k = 0; k < c->live_ranges.n; k++)
        last =
            c->live_ranges.at[k].interval.from > last ? c->live_ranges.at[k].interval.from : last;
    uint32_t *next_slot = pl_arena_array(c->a, uint32_t, (size_t)last + 2),
             *order = pl_arena_array(c->a, uint32_t, c->live_ranges.n + 1);
    if (!next_slot || !order || !pl_arena_ok(c->a)) return NULL;
    for (size_t k = 0; k < c->live_ranges.n; k++)
        next_slot[c->live_ranges.at[k].interval.from + 1]++;
    for (size_t k = 0; k < last; k++) next_slot[k + 1] += next_slot[k];
    for (size_t k = 0; k < c->live_ranges.n; k++)
        order[next_slot[c->live_ranges.at[k].interval.from]++] = (uint32_t)k;
    return order;
}

/* Sorts the intervals of every value and merges adjacent ones. */
static bool group_intervals(pl_linear_scan *c)
{
    const uint32_t *order = by_start(c);
    c->s = pl_arena_array(c->a, interval, c->live_ranges.n + 1);
    if (!order || !c->s || !pl_arena_ok(c->a)) return false;
    for (uint32_t v = 0; v < c->n; v++) c->v[v].nintervals = 0;
    for (size_t k = 0; k < c->live_ranges.n; k++) c->v[c->live_ranges.at[k].value].nintervals++;
    for (uint32_t v = 0, at = 0; v < c->n; v++) {
        c->v[v].first_interval = at;
        at += c->v[v].nintervals;
        c->v[v].nintervals = 0;
    }
    for (size_t k = 0; k < c->live_ranges.n; k++) {
        const live_range *l = &c->live_ranges.at[order[k]];
        interval_set *v = &c->v[l->value];
        interval *last = c->s + v->first_interval + v->nintervals;
        if (v->nintervals && l->interval.from <= last[-1].to)
            last[-1].to = l->interval.to > last[-1].to ? l->interval.to : last[-1].to;
        else {
            *last = l->interval;
            v->nintervals++;
        }
    }
    for (uint32_t k = 0; k < c->n; k++) {
        const interval_set *v = &c->v[k];
        interval_set *group = &c->v[v->group];
        if (v->nintervals && c->s[v->first_interval].from < group->start)
            group->start = c->s[v->first_interval].from;
    }
    return true;
}

/* ---- occupied registers ---- */

/* Computes the layout of a plane. */
static void lay_out_planes(pl_linear_scan *c)
{
    uint32_t end = 0;
    for (size_t k = 0; k < c->live_ranges.n; k++)
        end = c->live_ranges.at[k].interval.to > end ? c->live_ranges.at[k].interval.to : end;
    for (size_t k = 0; k < c->tail_ranges.n; k++)
        end = c->tail_ranges.at[k].interval.to > end ? c->tail_ranges.at[k].interval.to : end;
    c->words = 0;
    for (c->levels = 0; !c->levels || end >> (c->levels - 1) * LOG2_FANOUT > AT_TOP; c->levels++) {
        const uint32_t n = (end >> c->levels * LOG2_FANOUT) + 1;
        c->any[c->levels] = c->all[c->levels] = (uint32_t)c->words;
        c->words += n;
        if (c->levels) {
            c->all[c->levels] = (uint32_t)c->words;
            c->words += n;
        }
    }
}

/* The registers of a plane that are occupied anywhere in the interval. At each level, the positions
 * before the first multiple of FANOUT and after the last one are examined; the part in between is
 * examined at the next level. */
static uint64_t occupied_in(const pl_linear_scan *c, const uint64_t *plane, interval s)
{
    uint32_t from = s.from, to = s.to, first = s.from, last = s.to - 1;
    uint64_t result = 0;
    for (uint32_t k = 0;; k++) {
        const uint64_t *any = plane + c->any[k];
        uint32_t head = (from + FANOUT - 1) & ~(uint32_t)(FANOUT - 1),
                 tail = to & ~(uint32_t)(FANOUT - 1);
        if (head >= tail || k + 1 == c->levels) /* no part in between */
            head = tail = to;
        for (; from < head; from++) result |= any[from];
        for (uint32_t at = tail; at < to; at++) result |= any[at];
        if (k + 1 == c->levels) return result;
        from = head / FANOUT;
        to = tail / FANOUT;
        const uint64_t *all = plane + c->all[k + 1];
        result |= all[first /= FANOUT] | all[last /= FANOUT];
    }
}

static void occupy_in(const pl_linear_scan *c, uint64_t *plane, interval s, uint64_t registers)
{
    uint32_t from = s.from, to = s.to, first = s.from, last = s.to - 1;
    for (uint32_t k = 0;; k++) {
        uint64_t *any = plane + c->any[k], *all = plane + c->all[k];
        uint32_t head = (from + FANOUT - 1) & ~(uint32_t)(FANOUT - 1),
                 tail = to & ~(uint32_t)(FANOUT - 1);
        if (head >= tail || k + 1 == c->levels) head = tail = to;
        for (; from < head; from++) {
            any[from] |= registers;
            all[from] |= registers;
        }
        for (uint32_t at = tail; at < to; at++) {
            any[at] |= registers;
            all[at] |= registers;
        }
        if (k + 1 == c->levels) return;
        from = head / FANOUT;
        to = tail / FANOUT;
        any = plane + c->any[k + 1];
        any[first /= FANOUT] |= registers;
        any[last /= FANOUT] |= registers;
    }
}

static interval start_of(interval s)
{
    return (interval){s.from, s.from + 1};
}

/* The registers of plane p that are not free in all of the value's intervals. They include those
 * not yet read where an interval starts, and those whose contents start where the value's own tails
 * would delay them. */
static uint64_t occupied(const pl_linear_scan *c, const interval_set *v, uint32_t p)
{
    uint64_t t = p ? 0 : 1u << STACK_POINTER;
    if (p >= c->planes) return t;
    for (uint32_t k = 0; k < v->nintervals; k++)
        t |= occupied_in(c, c->plane[p], c->s[v->first_interval + k]);
    for (uint32_t k = 0; k < v->nintervals && c->respect_tails; k++)
        t |= occupied_in(c, c->tails[p], start_of(c->s[v->first_interval + k]));
    for (uint32_t k = 0; k < v->ntails && c->respect_tails; k++)
        t |= occupied_in(c, c->starts[p], c->tail[v->tail + k]);
    return t;
}

static uint64_t *new_time_plane(pl_linear_scan *c)
{
    return pl_arena_array(c->a, uint64_t, c->words);
}

/* Assigns the registers from `row` on to the value, one plane at a time. */
static void occupy(pl_linear_scan *c, uint32_t row, const interval_set *v)
{
    for (uint32_t end = row + v->width, n; row < end && row < MAX_REGISTERS; row += n) {
        const uint32_t p = row / WORD, at = row % WORD;
        n = end - row < WORD - at ? end - row : WORD - at;
        for (; c->planes <= p; c->planes++)
            if (!c->plane[c->planes]) {
                c->plane[c->planes] = new_time_plane(c);
                c->tails[c->planes] = new_time_plane(c);
                c->starts[c->planes] = new_time_plane(c);
                if (!pl_arena_ok(c->a)) return;
            }
        const uint64_t registers = ((1ull << n) - 1) << at;
        for (uint32_t k = 0; k < v->nintervals; k++)
            occupy_in(c, c->plane[p], c->s[v->first_interval + k], registers);
        for (uint32_t k = 0; k < v->nintervals && c->respect_tails; k++)
            occupy_in(c, c->starts[p], start_of(c->s[v->first_interval + k]), registers);
        for (uint32_t k = 0; k < v->ntails && c->respect_tails; k++)
            occupy_in(c, c->tails[p], c->tail[v->tail + k], registers);
    }
}

/* The registers of plane p at which the vector can start, one bit each. */
static uint64_t free_starts(const pl_linear_scan *c, uint32_t group, uint32_t p)
{
    uint64_t t = 0;
    for (uint32_t m = group; m != NONE; m = c->v[m].next) {
        const interval_set *v = &c->v[m];
        const uint32_t end = v->offset + v->width;
        const uint64_t low = occupied(c, v, p), high = end > 1 ? occupied(c, v, p + 1) : 0;
        for (uint32_t k = v->offset; k < end; k++) t |= k ? low >> k | high << (WORD - k) : low;
    }
    return ~t;
}

/* The first register at a multiple of `step` from which that many are free; *alternatives: a mask
 * of the alternatives in its plane. */
static uint32_t first_free_start(const pl_linear_scan *c, uint32_t group, uint32_t rows,
                                 uint32_t step, uint64_t *alternatives)
{
    const uint64_t aligned = step == 1 ? UINT64_MAX : step == 2 ? UINT64_MAX / 3 : UINT64_MAX / 15;
    for (uint32_t p = 0;; p++) {
        *alternatives = free_starts(c, group, p);
        if (p + 1 == PLANES) /* guarantees a result */
            *alternatives |= UINT64_MAX << (WORD - rows);
        if (*alternatives & aligned)
            return p * WORD + (uint32_t)__builtin_ctzll(*alternatives & aligned);
    }
}

typedef struct start {
    uint32_t at, group, rows, line;
} start;

/* Orders in which values are assigned: by the start of their live range, wide ones first; by source
 * line, before instructions were moved. */
enum { BY_START, BY_SOURCE_LINE };

static uint64_t sort_key(const start *s, int by)
{
    const uint32_t narrowness = 4 - s->rows;
    return by == BY_SOURCE_LINE ? (uint64_t)s->line << 32 | (uint64_t)s->at << 3 | narrowness
                                : (uint64_t)narrowness << 32 | s->at;
}

/* A stable sort. `key` has space for 2 n entries, `copy` for n. */
static void sort_starts(start *order, uint32_t n, int by, pl_key *key, start *copy)
{
    for (uint32_t k = 0; k < n; k++) key[k] = (pl_key){sort_key(&order[k], by), k};
    pl_sort_keys(key, n, key + n);
    memcpy(copy, order, n * sizeof *order);
    for (uint32_t k = 0; k < n; k++) order[k] = copy[key[k].what];
}

/* Counts the values read together with v in each bank. */
static void count_bank_conflicts(const pl_linear_scan *c, const interval_set *v, uint32_t *n)
{
    for (uint32_t k = 0; k < BANKS; k++) n[k] = 0;
    for (uint32_t k = v->conflicts; k; k = c->conflict_list.at[k - 1].next) {
        uint32_t at = c->v[c->conflict_list.at[k - 1].value].reg;
        if (at != NONE) n[at % BANKS]++;
    }
}

/* Assigns registers in this order. Values of one register are spread over the banks of the first
 * `spread` registers, to avoid conflicts with values read together. Stops once it takes more than
 * `enough`. */
static uint32_t scan_in_order(pl_linear_scan *c, const start *order, uint32_t n, uint32_t spread,
                              uint32_t enough)
{
    static const uint64_t bank[BANKS] = {UINT64_MAX / 3, UINT64_MAX / 3 << 1};
    uint32_t max = STACK_POINTER + 1;
    for (uint32_t p = 0; p < c->planes; p++) {
        memset(c->plane[p], 0, c->words * sizeof *c->plane[p]);
        memset(c->tails[p], 0, c->words * sizeof *c->tails[p]);
        memset(c->starts[p], 0, c->words * sizeof *c->starts[p]);
    }
    c->planes = 0;
    for (uint32_t k = 0; k < c->n; k++) c->v[k].reg = NONE;
    for (uint32_t k = 0; k < n && max <= enough; k++) {
        uint32_t group = order[k].group, rows = 0, step = 1;
        for (uint32_t m = group; m != NONE; m = c->v[m].next) rows += c->v[m].width;
        while (step < rows && step < 4) step *= 2;
        uint64_t alternatives;
        uint32_t base = first_free_start(c, group, rows, step, &alternatives);
        if (rows == 1 && base < spread && c->v[group].conflicts) {
            uint32_t nconflicts[BANKS], other = (base + 1) % BANKS;
            count_bank_conflicts(c, &c->v[group], nconflicts);
            alternatives &= bank[other] & ((1ull << spread) - 1) & ~((1ull << base) - 1);
            if (nconflicts[other] < nconflicts[base % BANKS] && alternatives)
                base = (uint32_t)__builtin_ctzll(alternatives);
        }
        for (uint32_t m = group; m != NONE; m = c->v[m].next) {
            c->v[m].reg = base + c->v[m].offset;
            occupy(c, base + c->v[m].offset, &c->v[m]);
        }
        if (!pl_arena_ok(c->a)) return 0;
        max = base + rows > max ? base + rows : max;
    }
    return max;
}

/* A lower bound for any order: the maximum number of registers live at once, and the stack pointer.
 * 0: out of memory. */
static uint32_t min_registers(const pl_linear_scan *c)
{
    uint32_t last = 0, n = 0, max = 0;
    for (uint32_t k = 0; k < c->n; k++)
        if (c->v[k].nintervals && c->s[c->v[k].first_interval + c->v[k].nintervals - 1].to > last)
            last = c->s[c->v[k].first_interval + c->v[k].nintervals - 1].to;
    uint32_t *delta = pl_arena_array(c->a, uint32_t, (size_t)last + 1);
    if (!delta || !pl_arena_ok(c->a)) return 0;
    for (uint32_t k = 0; k < c->n; k++)
        for (uint32_t t = 0; t < c->v[k].nintervals; t++) {
            delta[c->s[c->v[k].first_interval + t].from] += c->v[k].width;
            delta[c->s[c->v[k].first_interval + t].to] -= c->v[k].width;
        }
    for (uint32_t at = 0; at < last; at++) {
        n += delta[at];
        max = n > max ? n : max;
    }
    return max + 1;
}

/* Lists values in assignment order; returns their number. */
static uint32_t list_starts(const pl_linear_scan *c, start *order, int by, pl_key *key, start *copy)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < c->n; k++)
        if (c->v[k].group == k && c->v[k].start != NONE) {
            uint32_t rows = 0;
            for (uint32_t m = k; m != NONE; m = c->v[m].next) rows += c->v[m].width;
            order[n++] = (start){c->v[k].start, k, rows > 4 ? 4 : rows,
                                 c->v[k].line == NONE ? 0 : c->v[k].line};
        }
    sort_starts(order, n, by, key, copy);
    return n;
}

/* Groups the tails by value. */
static bool group_tails(pl_linear_scan *c)
{
    c->tail = pl_arena_array(c->a, interval, c->tail_ranges.n + 1);
    if (!c->tail || !pl_arena_ok(c->a)) return false;
    for (size_t k = 0; k < c->tail_ranges.n; k++) c->v[c->tail_ranges.at[k].value].ntails++;
    for (uint32_t v = 0, at = 0; v < c->n; v++) {
        c->v[v].tail = at;
        at += c->v[v].ntails;
        c->v[v].ntails = 0;
    }
    for (size_t k = 0; k < c->tail_ranges.n; k++) {
        interval_set *v = &c->v[c->tail_ranges.at[k].value];
        c->tail[v->tail + v->ntails++] = c->tail_ranges.at[k].interval;
    }
    return true;
}

/* Avoids the registers of queued instructions that have not read them yet, as ptxas does if
 * registers are plentiful; 0: out of memory. The order in which ptxas assigns registers is known
 * for straight-line code only, where it is source order before instructions are moved; after that
 * it improves some assignments. The mean of the counts for that order and for the order of
 * live-range starts is closest to ptxas 13.0. For 792 recorded launches (2026-11), the granule of 8
 * registers that contains it is the same in 602, and in 583 to 594 with either order alone. */
static uint32_t allocate_respecting_tails(pl_linear_scan *c, start *order, pl_key *key, start *copy)
{
    static const uint8_t sort_keys[] = {BY_START, BY_SOURCE_LINE};
    uint32_t both = 0;
    if (!group_tails(c)) return 0;
    c->respect_tails = true;
    for (unsigned k = 0; k < sizeof sort_keys; k++) {
        const uint32_t n = list_starts(c, order, sort_keys[k], key, copy),
                       max = scan_in_order(c, order, n, c->of.spread, c->of.spread);
        both += max <= c->of.spread ? max : c->of.spread + 1;
    }
    c->respect_tails = false;
    return both / 2;
}

/* If registers are plentiful, queued readers are respected. Otherwise, ptxas moves values between
 * registers. It does not give a thread an allocation unit more than the maximum live at once
 * requires (in 43 of 54 kernels in which that is more than 32). */
uint32_t pl_linear_scan_count(pl_linear_scan *c, bool thorough)
{
    start *order = pl_arena_array(c->a, start, c->n + 1),
          *copy = pl_arena_array(c->a, start, c->n + 1);
    pl_key *key = pl_arena_array(c->a, pl_key, 2 * (size_t)c->n + 1);
    if (!order || !copy || !key) return 0;
    lay_out_planes(c);
    if (!group_intervals(c)) return 0;
    const bool tails = thorough && c->tail_ranges.n;
    if (tails) {
        uint32_t max = allocate_respecting_tails(c, order, key, copy);
        if (max <= c->of.spread) return max;
    }
    uint32_t n = list_starts(c, order, BY_START, key, copy),
             max = scan_in_order(c, order, n, c->of.spread, MAX_REGISTERS);
    if (max <= c->of.spread) return tails ? c->of.spread : max;
    const uint32_t min = min_registers(c), enough = min > c->of.spread ? min : c->of.spread;
    const uint32_t unit =
        enough > c->of.spread
            ? (min - c->of.first + c->of.unit - 1) / c->of.unit * c->of.unit + c->of.first
            : c->of.spread;
    const uint32_t other = max > enough ? scan_in_order(c, order, n, 0, max - 1) : max;
    max = other < max ? other : max;
    return thorough && unit < max ? unit : max;
}
