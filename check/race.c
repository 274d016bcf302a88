/* race.c - happens-before races: two unordered accesses to the same bytes, at least one of them a
 * write.
 *
 * Each access is compared with the contents of its cells (shadow.h), using the vector clock of its
 * lane (vector_clock.h). Two strong accesses whose scopes include each other do not race. The
 * verdict does not depend on which of the two executed first, only on the synchronisation between
 * them. */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"
#include "emu/exec/memory/address.h"

bool pl_place_of(pl_warp *w, unsigned lane, pl_space space, uint64_t address, unsigned bytes,
                 place *p)
{
    pl_space resolved_space;
    uint64_t resolved;
    p->owner = NULL;
    p->reserved = false;
    p->bytes = pl_resolve(w, lane, space, address, bytes, &resolved_space, &resolved);
    if (!p->bytes || address % (bytes & (0u - bytes))) {
        p->bytes = NULL;
        return false;
    }
    if (resolved_space == PL_SP_SHARED) {
        const uint32_t rank = (uint32_t)(resolved / PL_SHARED_SLICE);
        const pl_cta *c = rank == w->cta->cluster_rank ? w->cta : w->cta->cluster->cta[rank];
        p->owner = block_of(c);
        p->address = resolved % PL_SHARED_SLICE;
        p->reserved = p->address < c->shared_start;
        return true;
    }
    const pl_check *k = check_of(w);
    p->address = resolved - k->base;
    if (resolved_space != PL_SP_GLOBAL || !is_tracked(k, resolved))
        p->bytes = NULL; /* no concurrent writer */
    return true;
}

/* The contexts of one instruction of a group are equal until the group synchronises. 0: no memory.
 */
static uint32_t context_of(pl_visit *v, bool shared, pl_contexts *pool, const pl_shadow *s)
{
    struct recent_contexts **recent = &v->u->recent[shared];
    const uint32_t at = v->self.pc % RECENT;
    if (!*recent || (*recent)->generation != pool->generation) {
        free(*recent);
        *recent = calloc(1, sizeof(**recent));
        if (!*recent) return 0;
        (*recent)->generation = pool->generation;
    }
    struct recent_contexts *r = *recent;
    const pl_context *x = &pool->at[r->context[at]];
    if (r->context[at] && x->pc == v->self.pc && x->stamp == v->self.stamp &&
        x->block == v->self.block && x->unit == v->self.unit && x->flags == v->self.flags)
        return r->context[at];
    const uint32_t n = pl_context_new(pool, s, &v->self);
    if (r->generation == pool->generation) r->context[at] = n;
    return n;
}

/* True if the grid of an earlier access had ended before this one began, or before the lane's
 * griddepcontrol.wait. */
static bool follows_grid(const pl_visit *v, const pl_context *x, unsigned lane)
{
    return v->w->grid->ticket ? pl_device_launch_completed(v->k, x->block)
                              : pl_order_knows_earlier_grids(v->w, lane);
}

/* True if the access happens before the current access of the lane. */
static bool happens_before(pl_visit *v, const pl_context *x, pl_access_id t, unsigned lane)
{
    const bool own = x->block == v->self.block;
    if (own && x->unit == unit_index(v->w) && pl_access_lane(t) == lane && !pl_access_multi_lane(t))
        return true;
    if (own && x->unit < PL_UNITS && x->stamp <= v->u->floor) return true;
    if (pl_access_context(t) == v->ordered_context) return true;
    const pl_vector_clock *clock = clock_of(v->u, lane);
    if (x->stamp <= pl_vector_clock_time(clock, x->block, x->unit, PL_EVERY)) {
        if (!v->u->diverged) v->ordered_context = pl_access_context(t);
        return true;
    }
    if (!pl_access_multi_lane(t) &&
        x->stamp <= pl_vector_clock_time(clock, x->block, x->unit, pl_access_lane(t)))
        return true;
    if (x->block < v->w->grid->first_block && follows_grid(v, x, lane)) return true;
    /* Lanes of a warp execute in lockstep. */
    return v->w->grid->capability < 70 && own && x->unit == v->self.unit && x->pc != v->self.pc;
}

static bool observed_at(const pl_visit *v, const pl_context *x, pl_access_id t, unsigned lane,
                        unsigned scope)
{
    const fence_state *f = fence_of(v->u, lane);
    const pl_vector_clock *acquired = f ? f->acquired[scope] : NULL;
    return x->flags & v->self.flags & PL_ACCESS_STRONG &&
           x->stamp <= pl_vector_clock_time(acquired, x->block, x->unit, pl_access_lane(t));
}

/* The same for a read and an earlier write that are both strong: the lane's reads have observed the
 * write, even without a following fence. */
static bool observed(const pl_visit *v, const pl_context *x, pl_access_id t, unsigned lane)
{
    return observed_at(v, x, t, lane, PL_SCOPE_GPU) &&
           !(v->self.flags & PL_ACCESS_WRITES && (x->flags | v->self.flags) & PL_ACCESS_VOLATILE);
}

/* True if the thread only reads the memory, possibly polling until another thread writes it. */
static bool polls(const pl_visit *v, const pl_context *x)
{
    return !(x->flags & PL_ACCESS_WRITES) && v->k->insn[x->pc].in_loop;
}

/* True for accesses that are ordered only by chance: two writes of different warps, one of them
 * volatile, or a volatile write and a volatile read that does not poll for it. It is not a race in
 * the PTX model, but rarely intended. */
static bool only_volatile_order(const pl_visit *v, const pl_context *x)
{
    const unsigned both = x->flags & v->self.flags, any = x->flags | v->self.flags;
    const bool same_warp = x->block == v->self.block && x->unit == v->self.unit;
    if (!(both & PL_ACCESS_STRONG) || (same_warp && both & PL_ACCESS_WRITES)) return false;
    return both & PL_ACCESS_WRITES
               ? any & PL_ACCESS_VOLATILE && !(both & PL_ACCESS_ATOMIC)
               : both & PL_ACCESS_VOLATILE && !polls(v, x) && !polls(v, &v->self);
}

/* True if a fence or an atomic operation would order the two with a wider scope. */
static bool is_too_narrow(const pl_visit *v, const pl_context *x, pl_access_id t, unsigned lane)
{
    return !pl_access_multi_lane(t) && (x->flags | v->self.flags) & PL_ACCESS_VOLATILE &&
           observed_at(v, x, t, lane, PL_SCOPE_NONE) && !observed_at(v, x, t, lane, PL_SCOPE_GPU);
}

static bool is_morally_strong(const pl_visit *v, const pl_context *x)
{
    if (!(x->flags & v->self.flags & PL_ACCESS_STRONG)) return false;
    const unsigned distance = pl_order_distance(v->w, x->block);
    return x->level >= distance && v->self.level >= distance;
}

static pl_finding_kind kind_of(const pl_visit *v, const pl_context *x, bool narrow)
{
    const unsigned both = x->flags & v->self.flags, any = x->flags | v->self.flags;
    if ((x->flags ^ v->self.flags) & PL_ACCESS_PATHS) return PL_FK_RACE_PROXY;
    if (any & PL_ACCESS_ASYNC) return PL_FK_RACE_ASYNC;
    if (both & PL_ACCESS_STRONG)
        return is_morally_strong(v, x) && !narrow ? PL_FK_RACE_VOLATILE : PL_FK_RACE_SCOPE;
    if (any & PL_ACCESS_STRONG) return PL_FK_RACE_MIXED;
    return both & PL_ACCESS_WRITES       ? PL_FK_RACE_WAW
           : x->flags & PL_ACCESS_WRITES ? PL_FK_RACE_RAW
                                         : PL_FK_RACE_WAR;
}

static uint64_t value_at(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    memcpy(&v, p, bytes < sizeof v ? bytes : sizeof v);
    return v;
}

static void add_candidate(pl_visit *v, const pl_context *x, pl_finding_kind kind, pl_access_id t,
                          unsigned lane, const place *p, unsigned bytes)
{
    for (unsigned n = 0; n < v->n; n++) {
        pl_race_candidate *s = &v->candidate[n];
        if (s->kind != kind || s->other.pc != x->pc || s->at.owner != p->owner ||
            (kind == PL_FK_RACE_WAW && v->n < PL_RACE_CANDIDATES))
            continue;
        s->count++;
        return;
    }
    if (v->n == PL_RACE_CANDIDATES) return;
    v->candidate[v->n++] =
        (pl_race_candidate){.kind = kind,
                            .other = *x,
                            .access = t,
                            .lane = lane,
                            .bytes = bytes,
                            .count = 1,
                            .same_insn = x->block == v->self.block && x->unit == v->self.unit &&
                                         x->pc == v->self.pc && x->stamp == v->self.stamp,
                            .at = *p};
    memcpy(v->candidate[v->n - 1].old_value, p->bytes, bytes < 32 ? bytes : 32);
}

/* True if a missing proxy fence hides the write: accesses through different proxies need one in
 * addition. */
static bool lacks_proxy_fence(const pl_visit *v, const pl_context *x, pl_access_id t, unsigned lane)
{
    const unsigned differing = x->flags ^ v->self.flags;
    if (!(x->flags & PL_ACCESS_WRITES) || (!v->proxy && !(differing & PL_ACCESS_PATHS)) ||
        (x->block < v->w->grid->first_block && follows_grid(v, x, lane)))
        return false;
    if (differing & PL_ACCESS_PATHS) return true; /* no fence orders them */
    if (x->unit >= PL_UNITS) return false;
    return x->stamp > pl_vector_clock_time(clock_of(v->u, lane), x->block | v->proxy, x->unit,
                                           pl_access_multi_lane(t) ? PL_EVERY : pl_access_lane(t));
}

/* Compares the access with one entry of a cell. True if the entry is ordered before it. */
static bool compare(pl_visit *v, pl_access_id t, unsigned lane, const place *p, unsigned bytes)
{
    const pl_context *x = &v->pool->at[pl_access_context(t)];
    /* Every scope includes the threads of the same block. */
    if (x->flags & v->self.flags & PL_ACCESS_ATOMIC && x->block == v->self.block) return false;
    if (happens_before(v, x, t, lane)) {
        if ((v->proxy || (x->flags ^ v->self.flags) & PL_ACCESS_PATHS) &&
            lacks_proxy_fence(v, x, t, lane))
            add_candidate(v, x, PL_FK_RACE_PROXY, t, lane, p, bytes);
        return true;
    }
    if (!((x->flags | v->self.flags) & PL_ACCESS_WRITES) || observed(v, x, t, lane)) return false;
    if (is_morally_strong(v, x) && v->observed_write && x->flags & PL_ACCESS_WRITES) return true;
    if (is_morally_strong(v, x) && !only_volatile_order(v, x) && !is_too_narrow(v, x, t, lane))
        return false;
    add_candidate(v, x, kind_of(v, x, is_too_narrow(v, x, t, lane)), t, lane, p, bytes);
    return false;
}

/* Adds an access to the three that later writes are compared with. */
static void insert(pl_visit *v, pl_cell *c, pl_access_id t, unsigned lane)
{
    const pl_access_id old[3] = {c->other[0], c->other[1], c->other[2]};
    pl_access_id group = 0, block = 0;
    c->other[0] = t;
    for (unsigned n = 0; n < 3; n++) {
        if (!old[n] || pl_access_context(old[n]) == pl_access_context(t)) continue;
        const pl_context *x = &v->pool->at[pl_access_context(old[n])];
        if (happens_before(v, x, old[n], lane)) continue;
        if (x->block != v->self.block)
            block = block ? block : old[n];
        else if (x->unit != v->self.unit || !group)
            group = group ? group : old[n];
    }
    c->other[1] = group;
    c->other[2] = block;
}

/* True if the scopes of two atomic operations include each other. */
static bool scopes_include(const pl_visit *v, const pl_context *x, const pl_context *y)
{
    const uint32_t own = v->self.block;
    const unsigned distance = x->block == y->block ? PL_SCOPE_CTA
                              : x->block == own    ? pl_order_distance(v->w, y->block)
                              : y->block == own    ? pl_order_distance(v->w, x->block)
                                                   : PL_SCOPE_GPU;
    return x->level >= distance && y->level >= distance;
}

/* True for atomic operations on the same bytes, which observe each other: an access after the last
 * of them is also after the earlier ones (observation order, then base causality order). */
static bool ordered_by_atomics(pl_visit *v, const pl_cell *c, pl_access_id t, unsigned lane)
{
    const pl_context *last = &v->pool->at[pl_access_context(c->write)],
                     *x = &v->pool->at[pl_access_context(t)];
    if (!(last->flags & x->flags & PL_ACCESS_ATOMIC) || v->proxy ||
        v->self.flags & (PL_ACCESS_ATOMIC | PL_ACCESS_ASYNC | PL_ACCESS_PATHS))
        return false;
    const bool own = last->block == v->self.block && last->unit == v->self.unit;
    return scopes_include(v, x, last) &&
           ((own && pl_access_lane(c->write) == lane) || happens_before(v, last, c->write, lane));
}

static void enter_read(pl_visit *v, pl_cell *c, pl_access_id t, unsigned lane, const place *p,
                       unsigned bytes)
{
    if (c->other[0] == t) return;
    if (pl_access_context(c->other[0]) == pl_access_context(t)) { /* another lane of the group */
        if (c->write) compare(v, c->write, lane, p, bytes);
        if (pl_access_lane(c->other[0]) != lane) c->other[0] |= PL_MULTI_LANE;
        return;
    }
    if (c->write && !ordered_by_atomics(v, c, c->write, lane)) compare(v, c->write, lane, p, bytes);
    for (unsigned n = 0; n < 3; n++) /* atomic operations that are not ordered */
        if (c->other[n] && v->pool->at[pl_access_context(c->other[n])].flags & PL_ACCESS_WRITES &&
            !ordered_by_atomics(v, c, c->other[n], lane))
            compare(v, c->other[n], lane, p, bytes);
    if (c->other[0])
        insert(v, c, t, lane);
    else
        c->other[0] = t;
}

/* True if a strong read of the lane observed the write of the cell: its strong write then follows
 * that write. */
static bool has_observed(const pl_visit *v, const pl_cell *c, unsigned lane)
{
    for (unsigned n = 0; n < 3; n++) {
        if (!c->other[n]) continue;
        const pl_context *x = &v->pool->at[pl_access_context(c->other[n])];
        if (x->block == v->self.block && x->unit == v->self.unit && x->flags & PL_ACCESS_STRONG &&
            pl_access_lane(c->other[n]) == lane)
            return true;
    }
    return false;
}

static bool is_plain(const pl_visit *v, pl_access_id t)
{
    return t && !(v->pool->at[pl_access_context(t)].flags & PL_ACCESS_STRONG);
}

/* A strong write follows the accesses of the cell. Later strong accesses do not race with it, but
 * they may with the plain ones, which therefore remain. */
static void keep_plain(pl_visit *v, pl_cell *c, unsigned lane)
{
    for (unsigned n = 0; n < 3; n++)
        if (!is_plain(v, c->other[n])) c->other[n] = 0;
    if (is_plain(v, c->write)) insert(v, c, c->write, lane);
}

static void enter_write(pl_visit *v, pl_cell *c, pl_access_id t, unsigned lane, const place *p,
                        unsigned bytes)
{
    const bool others = c->other[0] | c->other[1] | c->other[2];
    if (c->write == t && !others) return;
    bool ordered = true;
    v->observed_write = others && c->write && has_observed(v, c, lane);
    if (c->write)
        ordered = ordered_by_atomics(v, c, c->write, lane) || compare(v, c->write, lane, p, bytes);
    for (unsigned n = 0; others && n < 3; n++)
        if (c->other[n] && !ordered_by_atomics(v, c, c->other[n], lane))
            ordered &= compare(v, c->other[n], lane, p, bytes);
    if (!ordered && v->self.flags & PL_ACCESS_STRONG) {
        /* an access that is concurrent with it may still race with a third one */
        if (c->write && pl_access_context(c->write) != pl_access_context(t)) {
            const pl_access_id old = c->write;
            c->write = t;
            insert(v, c, old, lane);
            return;
        }
        c->write = c->write ? t | PL_MULTI_LANE : t;
        return;
    }
    if (v->self.flags & PL_ACCESS_STRONG)
        keep_plain(v, c, lane);
    else
        c->other[0] = c->other[1] = c->other[2] = 0;
    c->write = t;
}

/* Enters [p, p + bytes) for one lane. */
static void enter(pl_visit *v, unsigned lane, const place *p, unsigned bytes)
{
    pl_shadow *s = p->owner ? &p->owner->shadow : &v->k->shadow;
    pl_contexts *pool = p->owner ? &p->owner->contexts : &v->k->contexts;
    if (p->reserved) return;
    if (v->k->early.requested && !p->owner && !v->w->grid->ticket &&
        !pl_order_knows_earlier_grids(v->w, lane))
        pl_accessed_early(v->k, &v->self, p->address, bytes);
    if (v->pool != pool) { /* another block's shared memory: rarely several in succession */
        v->pool = pool;
        v->ordered_context = 0;
        v->context[p->owner != NULL] = p->owner && p->owner != v->block
                                           ? pl_context_new(pool, s, &v->self)
                                           : context_of(v, p->owner != NULL, pool, s);
    }
    if (p->owner && p->owner != v->block) pl_race_remote_access(v, lane, p);
    if (v->self.flags & PL_ACCESS_WRITES && p->owner && p->address < p->owner->objects_to &&
        p->address + bytes > p->owner->objects_from)
        pl_sync_overwrites(v->k, v->w, lane, p, bytes);
    const uint32_t context = v->context[p->owner != NULL];
    if (!context) {
        v->k->no_memory = true;
        return;
    }
    for (unsigned done = 0; done < bytes;) {
        const uint64_t at = p->address + done;
        const unsigned remaining = PL_PAGE - (unsigned)(at % PL_PAGE),
                       here = bytes - done < remaining ? bytes - done : remaining;
        pl_page *page = pl_shadow_page(s, at, (at | here) & 3);
        if (!page) {
            v->k->no_memory = true;
            return;
        }
        unsigned n;
        pl_cell *c = pl_page_cells(page, at, here, &n);
        const pl_access_id t =
            pl_access_id_make(context, v->agent_lane < PL_LANES ? v->agent_lane : lane);
        for (unsigned j = 0; j < n; j++)
            if (v->self.flags & PL_ACCESS_WRITES)
                enter_write(v, &c[j], t, lane, p, bytes);
            else
                enter_read(v, &c[j], t, lane, p, bytes);
        done += here;
    }
}

void pl_visit_enter(pl_visit *v, unsigned lane, const place *p, unsigned bytes)
{
    enter(v, lane, p, bytes);
}

/* ---- findings ---- */

const char *pl_race_verb(const pl_context *x, const pl_insn *i)
{
    static const struct {
        pl_word op;
        const char *verb;
    } atomic[] = {{W_add, "atomically adds to"},
                  {W_cas, "compares and swaps"},
                  {W_exch, "atomically exchanges"},
                  {W_min, "atomically takes the minimum with"},
                  {W_max, "atomically takes the maximum with"}};
    const bool writes = x->flags & PL_ACCESS_WRITES;
    if (pl_forms[i->form].mnem == M_wgmma) return "multiplies";
    if (x->flags & PL_ACCESS_ASYNC) return writes ? "copies to" : "copies from";
    if (!(x->flags & PL_ACCESS_ATOMIC))
        return writes ? "writes" : x->flags & PL_ACCESS_TEXTURE ? "fetches" : "reads";
    for (size_t n = 0; n < sizeof atomic / sizeof *atomic; n++)
        if (pl_insn_has(i, atomic[n].op)) return atomic[n].verb;
    return "atomically changes";
}

/* Reads the registers that a lane of a plain store writes, as the bytes in memory. */
static bool stored_value(const pl_visit *v, const pl_insn *i, unsigned lane, unsigned bytes,
                         uint64_t value[4])
{
    const unsigned count = i->sel[PL_M_COUNT], element_bytes = count ? bytes / count : 0;
    if (pl_forms[i->form].mnem != M_st || !element_bytes || element_bytes > 8 || bytes > 32 ||
        i->op[1] == PL_NO_OPERAND)
        return false;
    memset(value, 0, 4 * sizeof *value);
    for (unsigned n = 0; n < count; n++) {
        const uint32_t row = count == 1 ? i->op[1] : pl_more(v->w, i, i->op[1] + n);
        if (row == PL_NO_OPERAND) return false;
        const uint64_t element = i->sel[PL_M_FLAGS] & PL_MF_WIDE || element_bytes == 8
                                     ? pl_row64(v->w, row)[lane]
                                     : pl_row32(v->w, row)[lane];
        memcpy((uint8_t *)value + n * element_bytes, &element, element_bytes);
    }
    return true;
}

static void report(pl_visit *v, const pl_insn *i, const pl_race_candidate *s)
{
    uint64_t value[4] = {value_at(s->at.bytes, s->bytes)}, other_value[4];
    memcpy(other_value, s->old_value, sizeof other_value);
    pl_finding_kind kind = s->kind;
    if (kind == PL_FK_RACE_VOLATILE &&
        ((v->self.flags & PL_ACCESS_WRITES && *value == *other_value) ||
         ((s->other.flags ^ v->self.flags) & PL_ACCESS_VOLATILE &&
          pl_order_has_release(v->k, &s->at))))
        return; /* not observable; or the release of a lock */
    const bool plain = stored_value(v, i, s->lane, s->bytes, value);
    if (s->same_insn && plain) stored_value(v, i, pl_access_lane(s->access), s->bytes, other_value);
    if (kind == PL_FK_RACE_WAW && plain && memcmp(value, other_value, sizeof value) == 0)
        kind = PL_FK_RACE_SAME_VALUE;
    bool fresh;
    pl_check_finding *f = pl_finding_of(v->k, kind, v->self.pc, s->other.pc, &fresh);
    if (!f) {
        v->k->no_memory = true;
        return;
    }
    f->count += s->count;
    if (!fresh) return;
    const pl_insn *other = &v->w->code[s->other.pc];
    f->space = s->at.owner ? PL_SP_SHARED : PL_SP_GLOBAL;
    f->address = s->at.owner ? s->at.address : s->at.address + v->k->base;
    f->bytes = s->bytes;
    f->texels = (v->self.flags | s->other.flags) & PL_ACCESS_PATHS;
    f->same_block = s->other.block == v->self.block;
    f->other_grid = s->other.block - v->w->grid->first_block >= pl_grid_blocks(v->w->grid);
    f->same_warp = f->same_block && s->other.unit == v->self.unit;
    f->by.verb = pl_race_verb(&v->self, i);
    f->other.verb = pl_race_verb(&s->other, other);
    f->other.multi_lane = pl_access_multi_lane(s->access) && f->same_warp;
    pl_finding_access_fill(v->k, &f->by, v->self.block, unit_index(v->w), s->lane);
    if (s->other.unit >= PL_OBJECTS)
        pl_finding_access_fill(v->k, &f->other, s->other.block, s->other.issuer / PL_LANES,
                               s->other.issuer % PL_LANES);
    else
        pl_finding_access_fill(v->k, &f->other, s->other.block, s->other.unit % PL_UNITS,
                               pl_access_lane(s->access));
    f->by.has_value = s->bytes <= 8 && v->self.flags & PL_ACCESS_WRITES &&
                      !(v->self.flags & PL_ACCESS_SURFACE); /* not executed yet */
    f->by.value = *value;
    f->other.has_value = s->bytes <= 8 && s->other.flags & PL_ACCESS_WRITES;
    f->other.value = *other_value;
    if (!(v->self.flags & PL_ACCESS_WRITES)) f->other.value = value_at(s->at.bytes, s->bytes);
    pl_finding_where(v->w, f);
}

/* ---- instructions ---- */

void pl_visit_open(pl_visit *v, pl_warp *w, const pl_insn *i, const check_insn *x)
{
    v->k = check_of(w);
    v->w = w;
    v->u = unit_of(w);
    v->block = block_of(w->cta);
    v->context[0] = v->context[1] = 0;
    v->pool = NULL;
    v->observed_write = false;
    v->ordered_context = 0;
    v->n = 0;
    v->agent_lane = PL_LANES;
    v->proxy = 0;
    pl_order_apply_barriers(w, v->u);
    v->self = (pl_context){.block = v->block->number,
                           .stamp = v->u->stamp,
                           .pc = (uint32_t)(i - w->code),
                           .unit = (uint8_t)unit_index(w),
                           .flags = x->flags,
                           .level = x->level & 15u};
}

void pl_visit_close(pl_visit *v, const pl_insn *i)
{
    for (unsigned n = 0; n < v->n; n++) report(v, i, &v->candidate[n]);
}

/* Enters the accesses of lanes, in the order in which they execute. */
static void enter_lanes(pl_visit *v, const check_insn *x, uint32_t lanes, const place at[PL_LANES],
                        unsigned bytes)
{
    const unsigned first = x->flags & PL_ACCESS_ATOMIC ? pl_initial_lane(v->w) : 0;
    if (!lanes) return;
    for (uint32_t m = pl_lanes_from(lanes, first); m; m &= m - 1) {
        const unsigned l = pl_lane_from(m, first);
        enter(v, l, &at[l], bytes);
    }
}

/* The lanes of a compare and swap that do not write: it is an atomic read. */
static uint32_t enter_failing(pl_warp *w, const pl_insn *i, const check_insn *x, uint32_t lanes,
                              const place at[PL_LANES], unsigned bytes)
{
    const bool swaps =
        x->flags & PL_ACCESS_ATOMIC && pl_forms[i->form].mnem == M_atom && pl_insn_has(i, W_cas);
    const uint32_t failing = swaps ? pl_race_failing_lanes(w, i, lanes, at, bytes) : 0;
    if (!failing) return 0;
    check_insn read = *x;
    pl_visit v;
    read.flags &= (uint8_t)~PL_ACCESS_WRITES;
    pl_visit_open(&v, w, i, &read);
    enter_lanes(&v, &read, failing, at, bytes);
    pl_visit_close(&v, i);
    return failing;
}

/* ld, st, atom and red. */
static void access_memory(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    const check_insn *x = check_insn_of(k, w, i);
    const unsigned bytes = (unsigned)i->sel[PL_M_COUNT] << i->sel[PL_M_LOG2];
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    const bool strong = x->flags & PL_ACCESS_STRONG, writes = x->flags & PL_ACCESS_WRITES;
    uint64_t addr[PL_LANES];
    place at[PL_LANES];
    pl_visit v;
    pl_visit_open(&v, w, i, x);
    pl_addresses(w, i, x->operand, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, addr);
    const uint32_t exec = w->exec;
    uint32_t found = 0;
    for (uint32_t m = exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        if (pl_place_of(w, l, space, addr[l], bytes, &at[l]) && at[l].bytes) found |= 1u << l;
    }
    const uint32_t failing = enter_failing(w, i, x, found, at, bytes);
    enter_lanes(&v, x, found & ~failing, at, bytes);
    found &= pl_mem_execute(w, i, x);
    const unsigned first = strong ? pl_initial_lane(w) : 0;
    for (uint32_t m = strong && found ? pl_lanes_from(found, first) : 0; m; m &= m - 1) {
        const unsigned l = pl_lane_from(m, first);
        if (!writes || x->flags & PL_ACCESS_ATOMIC) pl_order_reads(w, x, l, &at[l]);
        if (writes && !(failing >> l & 1u)) pl_order_writes(w, x, l, &at[l]);
    }
    for (uint32_t m = writes && !strong && (k->places.groups || v.block->places.groups) ? found : 0;
         m; m &= m - 1) /* a plain store ends a release at the location */
        pl_order_writes(w, x, (unsigned)__builtin_ctz(m), &at[__builtin_ctz(m)]);
    pl_visit_close(&v, i);
}

/* Instructions that report the memory that they accessed. */
static void other_memory(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    const check_insn *x = check_insn_of(k, w, i);
    pl_memory_effect own, *const fx = w->fx;
    pl_visit v;
    pl_visit_open(&v, w, i, x);
    if (!fx) w->fx = &own;
    w->fx->mask = 0;
    x->plain(w, i);
    const pl_memory_effect *e = w->fx;
    for (uint32_t m = pl_failed(w->grid) ? 0 : e->mask; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        place p;
        if ((e->space == PL_SP_SHARED || e->space == PL_SP_GLOBAL) && e->size &&
            pl_place_of(w, l, (pl_space)e->space, e->addr[l], e->size, &p) && p.bytes)
            enter(&v, l, &p, e->size);
    }
    w->fx = fx;
    pl_visit_close(&v, i);
}

unsigned pl_copy_reads(const pl_warp *w, const pl_insn *i, unsigned lane)
{
    const pl_form *f = &pl_forms[i->form];
    const unsigned bytes = i->op[2];
    if (f->noperands < 4 || i->op[3] == PL_NO_OPERAND) return bytes;
    if (f->operand[3].type == W_pred) return pl_pred_read(w, i, 3) >> lane & 1u ? 0 : bytes;
    const uint32_t n = pl_row32(w, i->op[3])[lane];
    return n > bytes ? n % bytes : n;
}

/* cp.async: an agent of the lane copies until it is waited for. */
static void copy_async(pl_warp *w, const pl_insn *i)
{
    pl_check *k = check_of(w);
    const check_insn *x = check_insn_of(k, w, i);
    const unsigned flags = i->sel[PL_M_FLAGS], bytes = i->op[2];
    uint64_t to[PL_LANES], from[PL_LANES];
    check_insn half = *x;
    pl_addresses(w, i, 0, flags & PL_MF_ADDR32, i->imm, to);
    pl_addresses(w, i, 1, flags & PL_MF_ADDR32_2, (int32_t)i->target, from);
    for (int write = 0; write < 2; write++) {
        pl_visit v;
        half.flags = (uint8_t)(PL_ACCESS_ASYNC | (write ? PL_ACCESS_WRITES : 0));
        pl_visit_open(&v, w, i, &half);
        v.self.unit = (uint8_t)(PL_AGENTS + unit_index(w));
        v.self.stamp = v.u->group[0].stamp;
        for (uint32_t m = w->exec; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            place p;
            const unsigned here = write ? bytes : pl_copy_reads(w, i, l);
            if (here &&
                pl_place_of(w, l, write ? PL_SP_SHARED : PL_SP_GLOBAL, write ? to[l] : from[l],
                            here, &p) &&
                p.bytes)
                enter(&v, l, &p, here);
        }
        pl_visit_close(&v, i);
    }
    x->plain(w, i);
}

/* ld.const. No thread writes constants, but copies in other streams do (touched.c). */
static void read_constants(pl_warp *w, const pl_insn *i)
{
    const pl_check *k = check_of(w);
    const check_insn *x = check_insn_of(k, w, i);
    const unsigned bytes = (unsigned)i->sel[PL_M_COUNT] << i->sel[PL_M_LOG2];
    uint64_t at[PL_LANES], previous = UINT64_MAX;
    pl_visit v;
    pl_visit_open(&v, w, i, x);
    pl_addresses(w, i, 1, i->sel[PL_M_FLAGS] & PL_MF_ADDR32, i->imm, at);
    for (uint32_t m = w->exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        pl_space space;
        place p = {.owner = NULL};
        p.bytes = pl_resolve(w, l, PL_SP_CONST, at[l], bytes, &space, &p.address);
        if (!p.bytes || at[l] == previous || !is_tracked(k, w->program->bank.address)) continue;
        p.address += w->program->bank.address - k->base;
        enter(&v, l, &p, bytes);
        previous = at[l]; /* lanes usually read the same constant */
    }
    pl_visit_close(&v, i);
    if (k->tools & PL_CHECK_MEM)
        pl_mem_load_constant(w, i);
    else
        x->plain(w, i);
}

pl_exec_fn *pl_race_wrapper(const pl_check *k, const pl_insn *i, check_insn *x)
{
    const pl_form *f = &pl_forms[i->form];
    const pl_word order = pl_mod(f, i->mods, G_order), sem = pl_mod(f, i->mods, G_sem),
                  scope = pl_mod(f, i->mods, G_scope);
    const pl_space space = (pl_space)i->sel[PL_M_SPACE];
    x->level = pl_order_level(scope);
    switch ((int)f->mnem) {
    case M_ld:
    case M_ldu:
    case M_st:
        if (space == PL_SP_CONST) return k->accessed.requested ? read_constants : NULL;
        if (space == PL_SP_LOCAL || space == PL_SP_PARAM) return NULL;
        if (f->effects & PL_EF_ASYNC || pl_insn_has(i, W_bulk)) return NULL;
        x->flags = f->mnem == M_st ? PL_ACCESS_WRITES : 0;
        if (f->effects & PL_EF_VOLATILE) x->flags |= PL_ACCESS_STRONG;
        if (pl_insn_has(i, W_volatile)) x->flags |= PL_ACCESS_VOLATILE;
        if (pl_insn_has(i, W_nc)) x->flags |= PL_ACCESS_TEXTURE;
        x->acquire = order == W_acquire;
        x->release = order == W_release;
        x->operand = f->mnem != M_st;
        return access_memory;
    case M_atom:
    case M_red:
    case M__cast:
        if (f->effects & PL_EF_ASYNC) return NULL;
        x->flags = PL_ACCESS_WRITES | PL_ACCESS_STRONG | PL_ACCESS_ATOMIC;
        x->operand = f->mnem != M_red;
        x->acquire = sem == W_acquire || sem == W_acq_rel;
        x->release = sem == W_release || sem == W_acq_rel;
        return access_memory;
    case M_cp:
        return f->noperands >= 3 && !pl_insn_has(i, W_bulk) && !pl_insn_has(i, W_mbarrier)
                   ? copy_async
                   : NULL;
    case M_ldmatrix: return other_memory;
    case M_stmatrix: x->flags = PL_ACCESS_WRITES; return other_memory;
    default: return NULL;
    }
}
