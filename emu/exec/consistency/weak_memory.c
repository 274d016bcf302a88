/* weak_memory.c - the writes that instructions of a launch with weak consistency observe and make
 * visible. See weak_memory.h.
 *
 * Terms of the manual and their implementation:
 *   program order, causality order   A warp's view only grows, and a release passes it on.
 *   observation order                A strong load adds the version that it reads to its view, if
 *                                    reader and writer are morally strong.
 *   release pattern                  pl_version.release: the writer's view at its release
 *                                    operation or fence.
 *   acquire pattern                  A warp collects what it could acquire (acquirable) until a
 *                                    fence or an acquire operation adds it to the view.
 *   Fence-SC order                   The order in which fence.sc executes: each joins the views of
 *                                    the preceding ones.
 *   coherence order                  The order of a grain's versions.
 *   atomicity                        No morally strong version is between an atomic operation and
 *                                    the version that it read. */
#include "emu/exec/consistency/weak_memory.h"

#include <stdlib.h>
#include <string.h>

#include "emu/exec/memory/address.h"
#include "emu/exec/async/async.h"
#include "emu/exec/consistency/write_history.h"
#include "emu/exec/tma/tma_operands.h"
#include "isa/program/operand_plan.h"

_Static_assert(PL_MAX_PINNED >= 2 * PL_LANES, "a lane touches two grains at most");

enum {
    LATE_ROWS = 24, /* maximum registers of a late load */
    LATE_ONE_IN = 2,
    LOCATIONS = 4, /* locations whose releases and acquirable writes a warp records separately,
                   without a fence */
    /* Clusters are distinguished modulo this; those that share a view only observe more. */
    CLUSTERS = 64
};

/* The properties of an instruction that matter for consistency. */
typedef struct weak_insn {
    pl_exec_fn *plain, *weak; /* weak: the function that maintains the history; NULL: the
                                 instruction does not access memory of other threads */
    uint8_t reorder;          /* reorder_class */
    uint8_t level;            /* scope */
    bool strong, acquire, release, sc;
    bool other_proxy; /* not of the generic proxy: a load that is not ordered within the launch, or
                     fence.proxy.async */
    uint8_t operand;  /* index of the address operand, or of the barrier number */
} weak_insn;

/* How an instruction may be reordered with respect to an earlier load. */
typedef enum reorder_class {
    REORDER_NEVER,     /* it orders memory, or changes the active mask */
    REORDER_REGISTERS, /* if it does not access the load's registers */
    REORDER_MEMORY,    /* if it accesses neither the load's registers nor its bytes */
    REORDER_LATE       /* the same, and it is a load that may itself be late */
} reorder_class;

/* A load whose value has not been chosen yet. */
typedef struct late_load {
    const pl_insn *insn; /* NULL: no such load */
    pl_lanes active;
    uint32_t exec, pc;
    uint32_t *regs;
    uint32_t rows, bytes;
    struct {
        uint32_t first, n;
        bool written;
    } row[LATE_ROWS];
    const uint8_t *at[PL_LANES];
} late_load;

/* Views that a warp records for a single location. */
typedef struct location_views {
    const uint8_t *at; /* address of a grain; NULL: unused */
    pl_memory_view view[PL_LEVELS];
} location_views;

typedef struct weak_warp {
    pl_memory_view view; /* the versions that it must observe */
    /* Its view at its last releasing fence with at least this scope. */
    pl_memory_view released[PL_LEVELS];
    pl_memory_view acquirable[PL_LEVELS]; /* the views released by the writes that it has read */
    location_views released_at[LOCATIONS], acquirable_at[LOCATIONS];
    uint8_t next_released, next_acquirable;
    late_load late;
    uint32_t barriers; /* bit 2 * number + phase % 2: it waits, or has waited, at this barrier of
                          the block */
    uint8_t cluster;   /* bit phase % 2: the same for the cluster barrier */
    bool grid;         /* it waits, or has waited, for the preceding grid */
} weak_warp;

struct pl_weak_cta {
    uint32_t number, cluster;
    uint32_t phase[PL_NAMED_BARRIERS];
    /* Barriers: of even and odd phases; by then all threads know the views of older phases. */
    pl_memory_view barrier[2 * PL_NAMED_BARRIERS], sc;
    weak_warp warp[];
};

struct pl_weak {
    pl_program *program;
    weak_insn *insn; /* by pc */
    uint64_t draw;
    pl_memory_view sc, cluster_sc[CLUSTERS], cluster_barrier[2 * CLUSTERS], mbarrier[CLUSTERS];
    pl_history history;
};

/* The bytes of one grain that an instruction accesses. */
typedef struct piece {
    pl_location *grain;
    uint8_t *at;
    uint16_t mask, written;      /* written: for atomics, the bytes that were written */
    unsigned position, read_end; /* position of the write; from: for atomics, one past the version
                             that is read */
    uint64_t read; /* atomics: number of the oldest version from which a byte is read, 0: older than
                      all */
    uint8_t newest[PL_GRAIN];   /* contents of memory */
    uint8_t observed[PL_GRAIN]; /* atomics: contents that the operation read */
} piece;

/* Returns a random number below n (splitmix64). */
static unsigned draw(struct pl_weak *k, unsigned n)
{
    uint64_t z = k->draw += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return (unsigned)((z ^ z >> 31) % n);
}

/* Returns a position from `least` to `most`, in half of the cases the last. */
static unsigned draw_position(struct pl_weak *k, unsigned least, unsigned most)
{
    return most == least || draw(k, 2) ? most : least + draw(k, most - least + 1);
}

/* ---- relations between threads ---- */

static weak_warp *state_of(const pl_warp *w)
{
    return &w->cta->weak->warp[w->index];
}

static unsigned distance_to(const pl_warp *w, uint32_t cta, uint32_t cluster)
{
    const struct pl_weak_cta *c = w->cta->weak;
    return c->number == cta        ? PL_LEVEL_CTA
           : c->cluster == cluster ? PL_LEVEL_CLUSTER
                                   : PL_LEVEL_GPU;
}

static uint32_t warp_number(const pl_warp *w)
{
    return w->cta->weak->number * w->cta->nwarps + w->index;
}

static bool morally_strong(const pl_warp *w, const weak_insn *x, const pl_version *v)
{
    unsigned level = distance_to(w, v->cta, v->cluster);
    return v->warp == warp_number(w) ||
           (x->strong && v->strong && x->level >= level && v->level >= level);
}

/* ---- synchronisation ---- */

/* Adds the writes of the preceding grids to the view: all of them are visible once those grids have
 * ended. */
static void join_previous_grids(struct pl_weak *k, const pl_warp *w)
{
    pl_memory_view all = {0};
    for (unsigned n = 0; n < PL_WINDOW; n++) {
        const pl_version *v = &k->history.version[n];
        if (v->number && v->cta < w->grid->first_block) pl_view_add(&k->history, &all, v->number);
    }
    for (unsigned what = PL_FENCED; what < PL_KNOWN; what++)
        pl_view_fence(&k->history, &all, (pl_known)what);
    pl_view_join(&k->history, &state_of(w)->view, &all);
}

/* Joins the views of the barriers that have released the warp. */
static void join_barriers(struct pl_weak *k, pl_warp *w)
{
    struct pl_weak_cta *c = w->cta->weak;
    weak_warp *s = state_of(w);
    for (; s->barriers; s->barriers &= s->barriers - 1)
        pl_view_join(&k->history, &s->view, &c->barrier[__builtin_ctz(s->barriers)]);
    for (unsigned phase = 0; phase < 2; phase++)
        if (s->cluster >> phase & 1)
            pl_view_join(&k->history, &s->view,
                         &k->cluster_barrier[2 * (c->cluster % CLUSTERS) + phase]);
    s->cluster = 0;
    if (s->grid) join_previous_grids(k, w);
    s->grid = false;
}

/* The entry of a location in a warp's table, or NULL. */
static location_views *find_location(location_views *table, const uint8_t *at)
{
    for (unsigned n = 0; n < LOCATIONS; n++)
        if (table[n].at == at) return &table[n];
    return NULL;
}

/* The same, created if necessary. A new entry evicts another, which then applies to every location;
 * this only adds ordering. */
static location_views *find_or_add_location(struct pl_weak *k, location_views *table, uint8_t *next,
                                            const uint8_t *at, pl_memory_view *every[PL_LEVELS])
{
    location_views *p = find_location(table, at);
    if (p) return p;
    p = &table[(*next)++ % LOCATIONS];
    for (unsigned r = 0; p->at && r < PL_LEVELS; r++)
        pl_view_join(&k->history, every[r], &p->view[r]);
    *p = (location_views){.at = at};
    return p;
}

/* The warp reads a version. */
static void observe(struct pl_weak *k, pl_warp *w, const weak_insn *x, const pl_location *g,
                    pl_version *v)
{
    weak_warp *s = state_of(w);
    if (!morally_strong(w, x, v)) return;
    pl_view_add(&k->history, &s->view, v->number);
    if (!v->nreleases) return;
    pl_memory_view *every[PL_LEVELS] = {&s->view, &s->view, &s->view};
    location_views *p =
        find_or_add_location(k, s->acquirable_at, &s->next_acquirable, g->at, every);
    for (unsigned n = 0; n < v->nreleases; n++) {
        pl_release *r = &v->release[n];
        unsigned level = distance_to(w, r->cta, r->cluster);
        /* For every acquiring scope that includes the writer. */
        for (unsigned reach = level; reach < PL_LEVELS; reach++) {
            pl_view_join(&k->history, &p->view[reach], &r->view[level]);
            pl_view_join(&k->history, &s->acquirable[reach], &r->view[level]);
        }
    }
}

/* Observes the versions below position `end` that supply the bytes of `mask`. */
static void observe_below(struct pl_weak *k, pl_warp *w, const weak_insn *x, const pl_location *g,
                          unsigned end, uint16_t mask)
{
    for (; end > 0 && mask; end--) {
        pl_version *v = &k->history.version[g->version[end - 1]];
        if (v->mask & mask) observe(k, w, x, g, v);
        mask &= (uint16_t)~v->mask;
    }
}

static void acquire_at(struct pl_weak *k, pl_warp *w, const weak_insn *x, const pl_location *g)
{
    weak_warp *s = state_of(w);
    location_views *p = find_location(s->acquirable_at, g->at);
    if (x->acquire && p) pl_view_join(&k->history, &s->view, &p->view[x->level]);
}

/* Computes the views that threads acquire from this write, by their distance. */
static void release_at(struct pl_weak *k, pl_warp *w, const weak_insn *x, const pl_location *g,
                       pl_release *out)
{
    struct pl_weak_cta *c = w->cta->weak;
    weak_warp *s = state_of(w);
    *out = (pl_release){.cta = c->number, .cluster = c->cluster};
    if (x->release) { /* later strong writes to the location release it, too */
        pl_memory_view *every[PL_LEVELS] = {&s->released[0], &s->released[1], &s->released[2]};
        location_views *p =
            find_or_add_location(k, s->released_at, &s->next_released, g->at, every);
        for (unsigned r = 0; r <= x->level; r++) pl_view_join(&k->history, &p->view[r], &s->view);
    }
    location_views *p = find_location(s->released_at, g->at);
    for (unsigned r = 0; r < PL_LEVELS; r++) {
        pl_view_join(&k->history, &out->view[r], &s->released[r]);
        if (p) pl_view_join(&k->history, &out->view[r], &p->view[r]);
    }
}

static void fence(pl_warp *w, const weak_insn *x)
{
    struct pl_weak *k = w->grid->weak;
    struct pl_weak_cta *c = w->cta->weak;
    weak_warp *s = state_of(w);
    pl_memory_view *sc[PL_LEVELS] = {&c->sc, &k->cluster_sc[c->cluster % CLUSTERS], &k->sc};
    for (unsigned r = 0; x->acquire && r <= x->level; r++)
        pl_view_join(&k->history, &s->view, &s->acquirable[r]);
    for (unsigned r = 0; x->sc && r <= x->level; r++) pl_view_join(&k->history, &s->view, sc[r]);
    for (unsigned r = 0; x->sc && r <= x->level; r++) pl_view_join(&k->history, sc[r], &s->view);
    for (unsigned r = 0; x->release && r <= x->level; r++)
        pl_view_join(&k->history, &s->released[r], &s->view);
}

/* ---- loads, stores and atomic operations ---- */

static const weak_insn *weak_insn_of(const pl_warp *w, const pl_insn *i)
{
    return &w->grid->weak->insn[i - w->code];
}

/* Collects the grains that the executing lanes access. create: adds those that do not exist.
 * lane_bytes: the bytes of each lane, or NULL. */
static unsigned collect_grains(pl_warp *w, const pl_insn *i, bool create, piece *out,
                               uint8_t *lane_bytes[PL_LANES])
{
    struct pl_weak *k = w->grid->weak;
    uint64_t addr[PL_LANES];
    size_t bytes = (size_t)i->sel[PL_M_COUNT] << i->sel[PL_M_LOG2];
    unsigned n = 0;
    pl_addresses(w, i, weak_insn_of(w, i)->operand, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm,
                 addr);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        pl_space real;
        uint64_t in;
        uint8_t *p = pl_resolve(w, l, (pl_space)i->sel[PL_M_SPACE], addr[l], bytes, &real, &in);
        /* Private memory, or a fault that the plain function reports. */
        if (!p || addr[l] % bytes || real == PL_SP_LOCAL || real == PL_SP_PARAM) continue;
        if (lane_bytes) lane_bytes[l] = p;
        for (size_t done = 0; done < bytes;) {
            unsigned first = (unsigned)((uintptr_t)(p + done) % PL_GRAIN);
            unsigned in_grain =
                bytes - done < PL_GRAIN - first ? (unsigned)(bytes - done) : PL_GRAIN - first;
            uint8_t *at = p + done - first;
            uint16_t mask = (uint16_t)(((1u << in_grain) - 1u) << first);
            unsigned q = 0;
            while (q < n && out[q].at != at) q++;
            pl_location *g = q < n    ? out[q].grain
                             : create ? pl_grain_pin(&k->history, at)
                                      : pl_grain_find(&k->history, at);
            if (q == n && g) out[n++] = (piece){.grain = g, .at = at};
            if (g) out[q].mask |= mask;
            done += in_grain;
        }
    }
    return n;
}

/* Restores in memory the contents of the piece below position `end`. */
static void restore_older_bytes(struct pl_weak *k, piece *p, unsigned end)
{
    uint8_t old[PL_GRAIN];
    memcpy(p->newest, p->at, PL_GRAIN);
    if (end == p->grain->n) return;
    pl_grain_bytes(&k->history, p->grain, end, old);
    for (unsigned b = 0; b < PL_GRAIN; b++)
        if (p->mask >> b & 1) p->at[b] = old[b];
}

static void weak_load(pl_warp *w, const pl_insn *i)
{
    struct pl_weak *k = w->grid->weak;
    const weak_insn *x = weak_insn_of(w, i);
    pl_memory_view nothing = {0};
    piece part[PL_MAX_PINNED];
    join_barriers(k, w);
    unsigned n = collect_grains(w, i, false, part, NULL);
    for (unsigned q = 0; q < n; q++) {
        piece *p = &part[q];
        unsigned least = pl_grain_floor(&k->history, p->grain,
                                        x->other_proxy ? &nothing : &state_of(w)->view, p->mask);
        p->position = draw_position(k, least, p->grain->n);
        restore_older_bytes(k, p, p->position);
    }
    x->plain(w, i);
    for (unsigned q = 0; q < n; q++) {
        memcpy(part[q].at, part[q].newest, PL_GRAIN);
        if (x->strong) observe_below(k, w, x, part[q].grain, part[q].position, part[q].mask);
        acquire_at(k, w, x, part[q].grain);
    }
}

/* True if a write may be placed at this position: not between an atomic operation and the version
 * that it read, if the two are morally strong. */
static bool may_insert_at(const struct pl_weak *k, const pl_warp *w, const weak_insn *x,
                          const piece *p, unsigned position)
{
    const pl_history *h = &k->history;
    for (unsigned n = position; n < p->grain->n; n++) {
        const pl_version *v = &h->version[p->grain->version[n]];
        if (!v->atomic || !(v->mask & p->mask) || !morally_strong(w, x, v)) continue;
        unsigned read_end = 0; /* one past the version that it read */
        for (unsigned m = 0; m < n; m++)
            if (h->version[p->grain->version[m]].number == v->read) read_end = m + 1;
        if (read_end <= position) return false;
    }
    return true;
}

/* An atomic operation passes on the releases of the versions that it reads. */
static void inherit_releases(struct pl_weak *k, const pl_warp *w, const weak_insn *x,
                             const piece *p, pl_version *own)
{
    uint16_t left = p->mask;
    for (unsigned end = p->read_end; end > 0 && left; end--) {
        pl_version *v = &k->history.version[p->grain->version[end - 1]];
        bool acquirable = (v->mask & left) && morally_strong(w, x, v);
        left &= (uint16_t)~v->mask;
        for (unsigned n = 0; acquirable && n < v->nreleases; n++) {
            pl_release *r = &v->release[n];
            unsigned m = 0;
            while (m < own->nreleases &&
                   (own->release[m].cta != r->cta || own->release[m].cluster != r->cluster))
                m++;
            if (m == own->nreleases && m < PL_MAX_RELEASES) {
                own->release[own->nreleases++] = *r;
                continue;
            }
            /* An excess release is treated as if it were the nearest one, which only adds
             * ordering. */
            for (unsigned level = 0; level < PL_LEVELS; level++)
                for (unsigned to = m < own->nreleases ? level : 0;
                     to <= (m < own->nreleases ? level : PL_LEVEL_GPU); to++)
                    pl_view_join(&k->history, &own->release[m < own->nreleases ? m : 0].view[to],
                                 &r->view[level]);
        }
    }
}

/* Inserts the bytes written by the plain function as a version. */
static void insert_version(struct pl_weak *k, pl_warp *w, const weak_insn *x, piece *p, bool atomic)
{
    struct pl_weak_cta *c = w->cta->weak;
    uint16_t covered = 0;
    for (unsigned n = p->position; n < p->grain->n; n++)
        covered |= k->history.version[p->grain->version[n]].mask;
    pl_version made; /* its releases are large: only those in use are filled */
    made.nreleases = x->strong;
    if (x->strong) release_at(k, w, x, p->grain, &made.release[0]);
    if (atomic) inherit_releases(k, w, x, p, &made);
    pl_version *v = pl_grain_insert(&k->history, p->grain, p->position);
    v->read = p->read;
    v->cta = c->number;
    v->cluster = c->cluster;
    v->warp = warp_number(w);
    v->mask = p->mask;
    memcpy(v->bytes, p->at, PL_GRAIN);
    v->level = x->level;
    v->strong = x->strong;
    v->atomic = atomic;
    v->nreleases = made.nreleases;
    memcpy(v->release, made.release, made.nreleases * sizeof *made.release);
    for (unsigned b = 0; b < PL_GRAIN; b++)
        if (p->mask & covered & 1u << b) p->at[b] = p->newest[b];
    pl_view_add(&k->history, &state_of(w)->view, v->number);
}

static void weak_store(pl_warp *w, const pl_insn *i)
{
    struct pl_weak *k = w->grid->weak;
    const weak_insn *x = weak_insn_of(w, i);
    piece part[PL_MAX_PINNED];
    join_barriers(k, w);
    unsigned n = collect_grains(w, i, true, part, NULL);
    for (unsigned q = 0; q < n; q++) memcpy(part[q].newest, part[q].at, PL_GRAIN);
    x->plain(w, i);
    for (unsigned q = 0; q < n && !pl_failed(w->grid); q++) {
        piece *p = &part[q];
        p->position = draw_position(
            k, pl_grain_floor(&k->history, p->grain, &state_of(w)->view, p->mask), p->grain->n);
        if (!may_insert_at(k, w, x, p, p->position)) p->position = p->grain->n;
        insert_version(k, w, x, p, false);
    }
    for (unsigned q = 0; q < n; q++) pl_grain_unpin(&k->history, part[q].grain);
}

/* Chooses the positions at which an atomic operation reads and writes. No morally strong version
 * may be between the two. Versions that are not morally strong are unordered with respect to it,
 * even the one that was read. */
static void choose_atomic_positions(struct pl_weak *k, pl_warp *w, const weak_insn *x, piece *p)
{
    const pl_history *h = &k->history;
    const pl_location *g = p->grain;
    unsigned least = pl_grain_floor(h, g, &state_of(w)->view, p->mask),
             from = draw_position(k, least, g->n), to = from;
    bool backwards = draw(k, 2);
    while (backwards ? to > least : to < g->n) {
        const pl_version *v = &h->version[g->version[backwards ? to - 1 : to]];
        if (((v->mask & p->mask) && morally_strong(w, x, v)) || draw(k, 2)) break;
        to = backwards ? to - 1 : to + 1;
    }
    if (!may_insert_at(k, w, x, p, to)) from = to = g->n;
    restore_older_bytes(k, p, from);
    p->read_end = from;
    p->position = to;
    uint16_t left = p->mask;
    for (; from > 0 && left; from--) {
        const pl_version *v = &h->version[g->version[from - 1]];
        p->read = v->mask & left ? v->number : p->read;
        left &= (uint16_t)~v->mask;
    }
    p->read = left ? 0 : p->read;
}

/* The bytes of one element in a register row. */
static void read_element(const pl_warp *w, uint32_t row, unsigned l, unsigned bytes,
                         uint8_t out[16])
{
    if (bytes <= 4) {
        memcpy(out, &pl_row32(w, row)[l], 4);
        return;
    }
    memcpy(out, &pl_row64(w, row)[l], 8);
    if (bytes == 16) memcpy(out + 8, &pl_row64(w, row)[PL_LANES + l], 8);
}

/* The bytes of a piece that compare-and-swaps have written, lane by lane: one that fails only
 * reads. */
static uint16_t written_by_cas(const pl_warp *w, const pl_insn *i,
                               uint8_t *const lane_bytes[PL_LANES], const piece *p)
{
    unsigned bytes = 1u << i->sel[PL_M_LOG2];
    uint8_t now[PL_GRAIN], expected[16], desired[16];
    uint16_t written = 0;
    memcpy(now, p->observed, PL_GRAIN);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        uintptr_t first = (uintptr_t)lane_bytes[l] - (uintptr_t)p->at;
        if (!lane_bytes[l] || first >= PL_GRAIN) continue;
        read_element(w, i->op[2], l, bytes, expected);
        read_element(w, i->op[3], l, bytes, desired);
        if (memcmp(now + first, expected, bytes) != 0) continue;
        memcpy(now + first, desired, bytes);
        written |= (uint16_t)(((1u << bytes) - 1u) << first);
    }
    return written;
}

static void weak_atomic(pl_warp *w, const pl_insn *i)
{
    uint8_t *lane_bytes[PL_LANES] = {NULL};
    bool swap = pl_insn_has(i, W_cas) || pl_forms[i->form].mnem == M__cast;
    struct pl_weak *k = w->grid->weak;
    const weak_insn *x = weak_insn_of(w, i);
    piece part[PL_MAX_PINNED];
    join_barriers(k, w);
    unsigned n = collect_grains(w, i, true, part, lane_bytes);
    for (unsigned q = 0; q < n; q++) {
        choose_atomic_positions(k, w, x, &part[q]);
        memcpy(part[q].observed, part[q].at, PL_GRAIN);
        part[q].written = swap ? written_by_cas(w, i, lane_bytes, &part[q]) : part[q].mask;
    }
    x->plain(w, i);
    for (unsigned q = 0; q < n; q++) {
        piece *p = &part[q];
        observe_below(k, w, x, p->grain, p->read_end, p->mask);
        acquire_at(k, w, x, p->grain);
        for (unsigned b = 0; b < PL_GRAIN; b++)
            if (p->mask & ~p->written & 1u << b) p->at[b] = p->newest[b];
        p->mask = p->written;
        if (p->mask) insert_version(k, w, x, p, true);
        pl_grain_unpin(&k->history, p->grain);
    }
}

/* ---- other instructions that access or order memory ---- */

static void weak_fence(pl_warp *w, const pl_insn *i)
{
    const weak_insn *x = weak_insn_of(w, i);
    join_barriers(w->grid->weak, w);
    if (x->other_proxy)
        pl_view_fence(&w->grid->weak->history, &state_of(w)->view, PL_FENCED);
    else
        fence(w, x);
    x->plain(w, i);
}

static void weak_barrier(pl_warp *w, const pl_insn *i)
{
    const weak_insn *x = weak_insn_of(w, i);
    struct pl_weak *k = w->grid->weak;
    if (!pl_bar_gathered(w, i)) return;
    uint32_t row = i->op[x->operand];
    unsigned id =
        row == PL_NO_OPERAND ? 0 : pl_row32(w, row)[__builtin_ctz(w->exec)] % PL_NAMED_BARRIERS;
    struct pl_weak_cta *c = w->cta->weak;
    c->phase[id] += !w->cta->barrier[id].open; /* the first arrival of the phase */
    unsigned slot = 2 * id + c->phase[id] % 2;
    join_barriers(k, w);
    pl_view_join(&k->history, &c->barrier[slot], &state_of(w)->view);
    if (x->acquire) state_of(w)->barriers |= 1u << slot;
    x->plain(w, i);
}

static void weak_cluster_barrier(pl_warp *w, const pl_insn *i)
{
    const weak_insn *x = weak_insn_of(w, i);
    struct pl_weak *k = w->grid->weak;
    unsigned phase =
        (unsigned)((x->acquire ? w->split[w->current].cluster_phase : pl_cluster_phase(w->cta)) %
                   2);
    join_barriers(k, w);
    if (x->release)
        pl_view_join(&k->history,
                     &k->cluster_barrier[2 * (w->cta->weak->cluster % CLUSTERS) + phase],
                     &state_of(w)->view);
    x->plain(w, i);
    if (x->acquire) state_of(w)->cluster |= (uint8_t)(1u << phase);
}

static void weak_grid(pl_warp *w, const pl_insn *i)
{
    const weak_insn *x = weak_insn_of(w, i);
    join_barriers(w->grid->weak, w);
    x->plain(w, i);
    state_of(w)->grid = x->acquire && w->grid->previous;
}

/* The objects of a cluster are not distinguished. */
static void weak_mbarrier(pl_warp *w, const pl_insn *i)
{
    const weak_insn *x = weak_insn_of(w, i);
    struct pl_weak *k = w->grid->weak;
    pl_memory_view *shared = &k->mbarrier[w->cta->weak->cluster % CLUSTERS];
    join_barriers(k, w);
    if (x->release) pl_view_join(&k->history, shared, &state_of(w)->view);
    x->plain(w, i);
    if (x->acquire) pl_view_join(&k->history, &state_of(w)->view, shared);
}

/* ---- tensor maps, which the copy engine reads through a separate proxy ---- */

enum { MAP_GRAINS = PL_TENSORMAP_BYTES / PL_GRAIN, MAPS_AT_ONCE = PL_MAX_PINNED / MAP_GRAINS };

/* The address of a lane's map, if other threads may read it; else NULL. */
static uint8_t *map_of(pl_warp *w, const pl_insn *i, unsigned lane)
{
    pl_space real;
    uint64_t in, at = pl_tma_address(w, i, 0, lane);
    uint8_t *p = pl_resolve(w, lane, PL_SP_GENERIC, at, PL_TENSORMAP_BYTES, &real, &in);
    return p && real == PL_SP_GLOBAL && at % PL_TENSORMAP_BYTES == 0 ? p : NULL;
}

/* tensormap.replace, and tensormap.cp_fenceproxy, which also offers its writes. */
static void weak_map_store(pl_warp *w, const pl_insn *i)
{
    struct pl_weak *k = w->grid->weak;
    const weak_insn *x = weak_insn_of(w, i);
    piece part[PL_MAX_PINNED];
    unsigned n = 0;
    bool too_many = false;
    join_barriers(k, w);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        uint8_t *p = map_of(w, i, (unsigned)__builtin_ctz(m));
        bool listed = !p; /* most lanes use the same map */
        for (unsigned q = 0; q < n && !listed; q += MAP_GRAINS) listed = part[q].at == p;
        if (!listed && n + MAP_GRAINS > MAPS_AT_ONCE * MAP_GRAINS) too_many = true;
        for (unsigned g = 0; !listed && !too_many && g < MAP_GRAINS; g++) {
            part[n] = (piece){.grain = pl_grain_pin(&k->history, p + g * PL_GRAIN),
                              .at = p + g * PL_GRAIN};
            memcpy(part[n].newest, part[n].at, PL_GRAIN);
            n++;
        }
    }
    /* The writes to their maps become visible to all threads at once. */
    if (too_many) pl_history_discard(&k->history, NULL, 0);
    x->plain(w, i);
    for (unsigned q = 0; q < n; q++) {
        piece *p = &part[q];
        for (unsigned b = 0; b < PL_GRAIN; b++)
            p->mask |= (uint16_t)((p->at[b] != p->newest[b]) << b);
        p->position = p->grain->n;
        if (p->mask) insert_version(k, w, x, p, false);
        pl_grain_unpin(&k->history, p->grain);
    }
    if (x->release) pl_view_fence(&k->history, &state_of(w)->view, PL_OFFERED);
}

/* fence.proxy.tensormap::generic: a release offers the writes that the warp has observed, an
 * acquire passes on those that were offered. */
static void weak_map_fence(pl_warp *w, const pl_insn *i)
{
    struct pl_weak *k = w->grid->weak;
    const weak_insn *x = weak_insn_of(w, i);
    join_barriers(k, w);
    if (x->release) pl_view_fence(&k->history, &state_of(w)->view, PL_OFFERED);
    fence(w, x);
    for (uint32_t m = x->acquire ? w->exec : 0; m; m &= m - 1) {
        uint8_t *p = map_of(w, i, (unsigned)__builtin_ctz(m));
        if (p) pl_view_map(&k->history, &state_of(w)->view, p, PL_TENSORMAP_BYTES);
    }
    x->plain(w, i);
}

void pl_weak_read_map(pl_warp *w, const uint8_t *map, uint8_t out[PL_TENSORMAP_BYTES])
{
    struct pl_weak *k = w->grid->weak;
    bool old = draw(k, 2); /* the engine reads either an old or the new version of the whole map */
    join_barriers(k, w);
    pl_memory_view mapped = pl_view_of(&k->history, &state_of(w)->view, PL_MAPPED);
    memcpy(out, map, PL_TENSORMAP_BYTES);
    for (unsigned n = 0; old && n < MAP_GRAINS; n++) {
        const pl_location *g = pl_grain_find(&k->history, map + n * PL_GRAIN);
        if (g)
            pl_grain_bytes(&k->history, g, pl_grain_floor(&k->history, g, &mapped, UINT16_MAX),
                           out + n * PL_GRAIN);
    }
}

/* Stores of other kinds (matrices, surfaces, multimem ...) become visible to all threads at
 * once. */
static void weak_other(pl_warp *w, const pl_insn *i)
{
    weak_insn_of(w, i)->plain(w, i);
    pl_history_discard(&w->grid->weak->history, NULL, 0);
}

/* ---- late loads ----
 *
 * A load whose register is not needed yet may return a value that is written after later
 * instructions of its own thread. This is how two threads can each read what the other writes
 * afterwards (load buffering). Dependent instructions still follow it: instructions that use its
 * register, branches, instructions that access its bytes, and all that order memory. So no value
 * depends on itself. */

typedef struct row_list {
    late_load *late; /* collects rows while it has no instruction; otherwise compares with them */
    bool full, overlap;
} row_list;

static void visit_row(row_list *x, uint32_t *row, unsigned rows, unsigned use)
{
    late_load *l = x->late;
    bool written = use & PL_USE_WRITE;
    if (use & PL_USE_PRED) return;
    if (!l->insn) {
        x->full |= l->rows == LATE_ROWS;
        if (x->full) return;
        l->row[l->rows].first = *row;
        l->row[l->rows].n = rows;
        l->row[l->rows++].written = written;
        return;
    }
    for (uint32_t k = 0; k < l->rows; k++)
        x->overlap |= (written || l->row[k].written) && *row < l->row[k].first + l->row[k].n &&
                      l->row[k].first < *row + rows;
}

static void visit_rows(struct pl_weak *k, const pl_insn *i, row_list *x)
{
    pl_insn copy = *i; /* the walk takes a mutable instruction, although nothing changes */
    PL_FOR_EACH_USE(k->program, &copy, o) visit_row(x, o.row, o.rows, o.use);
}

/* The addresses at which the lanes of an instruction access memory; NULL for inactive lanes.
 * Returns the bytes per lane. */
static uint32_t lane_addresses(pl_warp *w, const pl_insn *i, const uint8_t *at[PL_LANES])
{
    uint64_t addr[PL_LANES], in;
    uint32_t bytes = (uint32_t)i->sel[PL_M_COUNT] << i->sel[PL_M_LOG2];
    pl_space real;
    pl_addresses(w, i, weak_insn_of(w, i)->operand, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm,
                 addr);
    for (unsigned l = 0; l < PL_LANES; l++)
        at[l] = w->exec >> l & 1
                    ? pl_resolve(w, l, (pl_space)i->sel[PL_M_SPACE], addr[l], bytes, &real, &in)
                    : NULL;
    return bytes;
}

/* True if the late load must choose its value before this instruction executes. */
static bool must_settle_late(struct pl_weak *k, pl_warp *w, const pl_insn *i)
{
    late_load *late = &state_of(w)->late;
    const weak_insn *x = weak_insn_of(w, i);
    row_list rows = {.late = late};
    if (x->reorder == REORDER_NEVER || w->active != late->active || w->regs != late->regs)
        return true;
    visit_rows(k, i, &rows);
    if (rows.overlap || x->reorder == REORDER_REGISTERS) return rows.overlap;
    const uint8_t *at[PL_LANES];
    uint32_t bytes = lane_addresses(w, i, at);
    for (unsigned l = 0; l < PL_LANES; l++)
        for (unsigned m = 0; at[l] && m < PL_LANES; m++)
            if (late->at[m] && at[l] < late->at[m] + late->bytes && late->at[m] < at[l] + bytes)
                return true;
    return false;
}

/* The late load chooses its value now. */
static void resolve_late(pl_warp *w)
{
    late_load *late = &state_of(w)->late;
    const pl_insn *i = late->insn;
    uint32_t exec = w->exec, pc = w->pc, *regs = w->regs;
    pl_memory_effect *fx = w->fx; /* recorded when the load was issued */
    late->insn = NULL;
    w->fx = NULL;
    w->pc = late->pc;
    w->regs = late->regs;
    pl_warp_set_exec_mask(w, late->exec);
    weak_load(w, i);
    pl_warp_set_exec_mask(w, exec);
    w->regs = regs;
    w->pc = pc;
    w->fx = fx;
}

/* Issues a load and defers its value. The plain function checks for faults and notifies the event
 * sink; its value is discarded. */
static bool issue_late(struct pl_weak *k, pl_warp *w, const pl_insn *i)
{
    late_load *late = &state_of(w)->late;
    row_list rows = {.late = late};
    late->rows = 0;
    visit_rows(k, i, &rows);
    if (rows.full) return false;
    /* Excluded if the destination overwrites the load's address register. */
    for (uint32_t m = 0; m < late->rows; m++)
        for (uint32_t n = 0; n < late->rows; n++)
            if (late->row[m].written && !late->row[n].written &&
                late->row[m].first < late->row[n].first + late->row[n].n &&
                late->row[n].first < late->row[m].first + late->row[m].n)
                return false;
    late->bytes = lane_addresses(w, i, late->at);
    weak_insn_of(w, i)->plain(w, i);
    if (pl_failed(w->grid)) return true;
    late->exec = w->exec;
    late->active = w->active;
    late->pc = w->pc;
    late->regs = w->regs;
    late->insn = i;
    return true;
}

/* Wrapper of every instruction of the launch. */
static void execute_any(pl_warp *w, const pl_insn *i)
{
    struct pl_weak *k = w->grid->weak;
    const weak_insn *x = weak_insn_of(w, i);
    late_load *late = &state_of(w)->late;
    if (late->insn && must_settle_late(k, w, i)) resolve_late(w);
    if (x->reorder == REORDER_LATE && !late->insn && draw(k, LATE_ONE_IN) == 0 &&
        issue_late(k, w, i))
        return;
    (x->weak ? x->weak : x->plain)(w, i);
}

/* ---- binding ---- */

static uint8_t level_of(pl_word scope)
{
    return scope == W_cta ? PL_LEVEL_CTA : scope == W_cluster ? PL_LEVEL_CLUSTER : PL_LEVEL_GPU;
}

/* How an instruction may be reordered with respect to an earlier load. */
static uint8_t reorder_class_of(const pl_insn *i, const weak_insn *x)
{
    const pl_form *f = &pl_forms[i->form];
    bool modelled = x->weak == weak_load || x->weak == weak_store || x->weak == weak_atomic;
    if (modelled && !x->acquire && !x->release && !x->other_proxy)
        return x->weak == weak_load && !pl_insn_has(i, W_volatile) && !pl_insn_has(i, W_mmio)
                   ? REORDER_LATE
                   : REORDER_MEMORY;
    /* Accesses private memory of the thread. */
    if (!x->weak && (f->mnem == M_ld || f->mnem == M_st)) return REORDER_REGISTERS;
    return x->weak || f->effects || i->flags & (PL_IF_CONTROL | PL_IF_MEM) ||
                   i->latency_class == C_sreg_clock
               ? REORDER_NEVER
               : REORDER_REGISTERS;
}

/* Returns the wrapper of an instruction, or NULL if it does not access memory of other threads. */
static pl_exec_fn *wrapper_of(const pl_insn *i, weak_insn *x)
{
    const pl_form *f = &pl_forms[i->form];
    pl_word order = pl_mod(f, i->mods, G_order), sem = pl_mod(f, i->mods, G_sem),
            scope = pl_mod(f, i->mods, G_scope);
    pl_space space = (pl_space)i->sel[PL_M_SPACE];
    bool plain_store = f->mnem == M_st && !(f->effects & PL_EF_ASYNC) && !pl_insn_has(i, W_bulk);
    *x = (weak_insn){.plain = i->exec, .level = level_of(scope)};
    switch ((int)f->mnem) {
    case M_ld:
    case M_ldu:
    case M_st:
        if (space == PL_SP_LOCAL || space == PL_SP_PARAM) return NULL;
        if (f->mnem == M_st && !plain_store) return weak_other;
        /* Volatile and mmio accesses are relaxed with system scope. */
        x->strong = (f->effects & PL_EF_VOLATILE) != 0;
        x->acquire = order == W_acquire;
        x->release = order == W_release;
        x->operand = f->mnem != M_st;
        x->other_proxy = space == PL_SP_CONST || f->mnem == M_ldu || pl_insn_has(i, W_nc);
        return f->mnem == M_st ? weak_store : weak_load;
    case M_atom:
    case M_red:
    case M__cast:
        if (f->effects & PL_EF_ASYNC) return weak_other;
        x->strong = true;
        x->operand = f->mnem != M_red;
        x->acquire = sem == W_acquire || sem == W_acq_rel;
        x->release = sem == W_release || sem == W_acq_rel;
        return weak_atomic;
    case M_membar:
    case M_fence:
        if (pl_insn_has(i, W_alias)) return NULL;
        x->other_proxy = pl_insn_has(i, W_proxy) && pl_insn_has(i, W_async);
        x->level = level_of(f->mnem == M_membar ? pl_mod(f, i->mods, G_level) : scope);
        x->sc = f->mnem == M_membar || sem == W_sc;
        x->acquire = sem != W_release;
        x->release = sem != W_acquire;
        if (!pl_insn_has(i, W_tensormap__generic)) return weak_fence;
        x->acquire = pl_insn_has(i, W_acquire);
        x->release = pl_insn_has(i, W_release);
        return weak_map_fence;
    case M_bar:
    case M_barrier:
        if (pl_insn_has(i, W_warp)) return NULL;
        if (pl_insn_has(i, W_cluster)) {
            x->acquire = pl_insn_has(i, W_wait);
            x->release = pl_insn_has(i, W_arrive) && sem != W_relaxed;
            return weak_cluster_barrier;
        }
        x->acquire = !pl_insn_has(i, W_arrive);
        x->operand = pl_insn_has(i, W_red); /* the result is operand 0 */
        return weak_barrier;
    case M_tensormap:
        x->release = !pl_insn_has(i, W_replace);
        x->strong = x->release;
        return weak_map_store;
    case M_griddepcontrol: x->acquire = pl_insn_has(i, W_wait); return weak_grid;
    case M_mbarrier: {
        bool wait = pl_mod(f, i->mods, G_how) != W_none;
        x->acquire = wait && sem != W_relaxed;
        x->release = !wait && sem != W_relaxed;
        return weak_mbarrier;
    }
    default: return f->effects & (PL_EF_STORE | PL_EF_ATOMIC) ? weak_other : NULL;
    }
}

struct pl_weak *pl_weak_open(pl_program *p, uint64_t seed)
{
    struct pl_weak *k = calloc(1, sizeof *k);
    if (!k || !(k->insn = calloc(p->code.n ? p->code.n : 1, sizeof *k->insn))) {
        free(k);
        return NULL;
    }
    k->program = p;
    k->draw = seed;
    pl_history_init(&k->history);
    for (size_t n = 0; n < p->code.n; n++) {
        pl_insn *i = &p->code.at[n];
        weak_insn *x = &k->insn[n];
        pl_exec_fn *f = i->exec ? wrapper_of(i, x) : NULL;
        x->plain = i->exec;
        x->weak = f;
        x->reorder = reorder_class_of(i, x);
        if (i->exec) i->exec = execute_any;
    }
    return k;
}

void pl_weak_close(struct pl_weak *k)
{
    for (size_t n = 0; k && n < k->program->code.n; n++)
        k->program->code.at[n].exec = k->insn[n].plain;
    if (k) free(k->insn);
    free(k);
}

bool pl_weak_start(pl_cta *c)
{
    size_t bytes = sizeof *c->weak + c->nwarps * sizeof *c->weak->warp;
    if (!c->weak && !(c->weak = malloc(bytes))) return false;
    memset(c->weak, 0, bytes);
    c->weak->number = c->weak->cluster = (uint32_t)c->number;
    const uint32_t *n = c->grid->cluster;
    if (n[0]) {
        uint32_t nx = c->grid->grid[0] / n[0], ny = c->grid->grid[1] / n[1];
        c->weak->cluster = (uint32_t)c->grid->first_block + c->id[0] / n[0] +
                           nx * (c->id[1] / n[1] + ny * (c->id[2] / n[2]));
    }
    pl_history_discard(&c->grid->weak->history, c->shared, c->shared_end);
    return true;
}

void pl_weak_end(struct pl_weak_cta *c)
{
    free(c);
}

/* ---- asynchronous operations ---- */

/* Reads the bytes that the asynchronous proxy observes: memory, or older versions that it may still
 * see. */
static void read_async(struct pl_weak *k, pl_memory_view *fenced, const uint8_t *from, size_t bytes,
                       uint8_t *out)
{
    memcpy(out, from, bytes);
    for (size_t done = 0; done < bytes;) {
        unsigned first = (unsigned)((uintptr_t)(from + done) % PL_GRAIN),
                 in_grain = PL_GRAIN - first;
        in_grain = in_grain < bytes - done ? in_grain : (unsigned)(bytes - done);
        const pl_location *g = pl_grain_find(&k->history, from + done - first);
        uint16_t mask = (uint16_t)(((1u << in_grain) - 1u) << first);
        unsigned end = g ? draw_position(k, pl_grain_floor(&k->history, g, fenced, mask), g->n) : 0;
        if (g && end < g->n) {
            uint8_t old[PL_GRAIN];
            pl_grain_bytes(&k->history, g, end, old);
            memcpy(out + done, old + first, in_grain);
        }
        done += in_grain;
    }
}

void pl_weak_read_source(pl_warp *w, pl_async_op *o)
{
    struct pl_weak *k = w->grid->weak;
    o->weak = k;
    /* The source is shared memory. */
    bool tile = o->kind == PL_ASYNC_TENSOR && o->family == PL_ASYNC_BULK_GROUP;
    bool bulk = o->kind != PL_ASYNC_TENSOR && o->kind != PL_ASYNC_ARRIVE &&
                o->family != PL_ASYNC_GROUP && o->from;
    const uint8_t *from = tile ? o->tensor->tile : o->from;
    size_t bytes = tile ? pl_tma_extent(o->tensor) : o->bytes;
    if ((!tile && !bulk) || !bytes || !(o->owned_source = malloc(bytes))) return;
    join_barriers(k, w);
    pl_memory_view fenced = pl_view_of(&k->history, &state_of(w)->view, PL_FENCED);
    read_async(k, &fenced, from, bytes, o->owned_source);
    if (memcmp(o->owned_source, from, bytes) == 0) { /* no older version: it reads when the
                                               operation is applied */
        free(o->owned_source);
        o->owned_source = NULL;
    } else if (tile)
        o->tensor->tile = o->owned_source;
    else
        o->from = o->owned_source;
}

void pl_weak_note_write(struct pl_weak *k, const uint8_t *to, size_t bytes)
{
    pl_history_discard(&k->history, to, bytes);
}
