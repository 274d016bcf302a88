/* memsys.c - crossbar, L2 slices and memory partitions as one event-driven system; see memsys.h.
 *
 * A request is a record that moves through stages. Records wait in a wheel: one list for each of
 * the next WHEEL cycles, and a list of those beyond. A stage takes a record from the list of its
 * cycle, passes it through ports (which tell when it comes out), and files it under the cycle of
 * its next stage. A record that waits for a fill hangs on its cache line instead. */
#include "memmodel/memsys.h"
#include <string.h>

enum { WHEEL = 8192, FIRST_READS = 12, RECENT = 64 };
#define NONE UINT32_MAX

typedef enum stage { AT_SLICE, AT_DRAM, FILLED, IDLE } stage;

typedef struct record {
    pl_mem_req r;
    uint32_t next;      /* in a list of the wheel, of waiters, or of free records */
    uint32_t followers; /* list, by next: reads of the same sectors by SMs of one coalescer, served
                           together with this one */
    uint32_t line;      /* FILLED: index in the slice's cache, NONE when it bypasses */
    uint32_t set;       /* of the slice's cache */
    uint16_t slice;
    uint8_t stage, level;
    uint8_t fetch;   /* sectors that this slice waits for */
    uint8_t sharers; /* nodes that it answers */
    bool listed;     /* others find it in the table of reads */
    bool mixed;      /* a read of other sectors of its line has come: nobody joins it any more */
    bool away; /* it has gone on to the slice of the other half that owns the line; what it left
                  behind: */
    uint8_t home_fetch;
    uint16_t home_slice;
    uint32_t home_line;
} record;

/* What goes back to one node. Its own thread reads `due` and `landed` while another thread plays
 * events, which adds to `made`: that lies in another cache line of the host. */
typedef struct replies {
    _Alignas(64) pl_mem_reply *due; /* heap, the earliest on top */
    pl_mem_reply *landed;           /* handed over, not in the heap yet */
    uint32_t ndue, nlanded;
    uint64_t first_due, first_landed; /* UINT64_MAX: there are none */
    _Alignas(64) pl_mem_reply *made;  /* by pl_memsys_run_events since the last hand-over */
    uint32_t nmade, cap;
    uint64_t first_made;
} replies;

/* A read under way that others may join: an entry of an open-addressed table, so that looking for
 * one touches no record. */
typedef struct under_way {
    uint32_t hash; /* of line and coalescer; its upper bits are the place where the search begins */
    uint32_t rec;  /* plus one; 0: free */
} under_way;

struct pl_memsys {
    const pl_memsys_config *c; /* not owned */
    record *rec;
    uint32_t nrec, free, used;
    uint32_t fresh; /* records from here on were never used */
    uint32_t head[WHEEL], tail[WHEEL];
    under_way *reads; /* at least twice as many as are in use, a power of two */
    uint32_t reads_shift, reads_mask, nreads;
    pl_arena *arena;           /* the table grows in it */
    uint64_t busy[WHEEL / 64]; /* which lists are not empty */
    uint32_t beyond;           /* records due after the wheel's end */
    uint64_t now;              /* all events before it are played */
    uint64_t drawn;            /* when `beyond` was last looked through */
    uint64_t sent;             /* no request leaves earlier from now on */
    pl_cache *l2;              /* one a slice */
    pl_port *slice;
    struct written_line {
        uint64_t line, until;
    } * written; /* by slice, RECENT each: the last writes, until when reads of their lines wait;
                    NULL: they don't */
    struct atomic_unit {
        uint64_t free;          /* when it can begin the next (1/PL_SUBCYCLES cycles) */
        uint64_t line, changed; /* the line it worked on last, and when what it changed there can be
                                   changed again */
        uint8_t sectors, places;     /* of that line */
    } * atomic;                      /* arithmetic of a slice */
    pl_port *up, *down, *group_down; /* by node, by node, by group */
    pl_port across[2];               /* atomics on their way to the other half, by half */
    replies *reply;                  /* by node */
    pl_dram dram;
    const pl_sink *sink; /* hears about slices; NULL: nobody */
    pl_memsys_stat stat;
    uint64_t order;
    struct {
        uint16_t group, side, coalescer;
    } * node;                            /* where it is */
    uint16_t *distance;                  /* by group and slice of a half */
    uint32_t half, together, line_shift; /* slices of a half, and as pl_slices_together says */
    pl_divider by_pairs, by_owner;
    pl_up_costs up_costs;
    uint32_t atomic_again, atomic_more, fill_cost, sector_cost, down_sector, group_sector,
        request_cost, partial_cost, partial_next, write_cost, l1_sector;
    uint32_t atomic_sector[PL_ALU_KINDS], atomic_turn[PL_ALU_KINDS], atomic_same[PL_ALU_KINDS],
        across_word;
    bool overflow;
};

pl_up_costs pl_up_costs_of(const pl_memsys_config *c)
{
    return (pl_up_costs){
        .header = pl_port_cost(c->header_bytes, c->up_bytes),
        .sector = pl_port_cost(c->sector_bytes, c->up_bytes),
        .partial = pl_port_cost(c->partial_packet, 1),
        .atomic = pl_port_cost(c->sector_bytes, c->up_atomic_bytes),
        .line = pl_port_cost(c->line_bytes, c->up_atomic_bytes),
        .packet = {pl_port_cost(c->atomic_packet, 1), pl_port_cost(c->reduce_packet, 1)},
        .apart = pl_port_cost(c->atomic_apart > 0 ? c->atomic_apart : c->atomic_packet, 1),
        .sector_bytes = c->sector_bytes};
}

/* Slices lie at different distances from a group of SMs: cycles beyond those to the nearest one.
 * Neighbours in number are none in place. */
static uint32_t distance_of(const pl_memsys *m, uint32_t group, uint32_t slice)
{
    uint32_t n = m->half, place = (slice * 101 + group * n / m->c->groups) % n,
             there = place < n - place ? place : n - place;
    return there * 2 * m->c->spread / n;
}

/* What is asked of every request is worked out once. A node reads through one half: groups get
 * blocks one after the other, and those of small grids lie in both halves
 * (lts__t_sectors_op_red.sum of bloom_filter and sssp_relax, 36 and 32 blocks: half of the
 * reductions cross). */
static void place_nodes(pl_memsys *m, pl_arena *a)
{
    const pl_memsys_config *c = m->c;
    m->half = c->slices / c->partitions;
    m->together = pl_slices_together(m->half);
    m->by_pairs = pl_divider_of(m->half / m->together);
    m->by_owner = pl_divider_of(c->owner_bytes);
    while ((1u << m->line_shift) < c->line_bytes) m->line_shift++;
    m->node = pl_arena_alloc(a, c->nodes * sizeof *m->node);
    m->distance = pl_arena_array(a, uint16_t, (size_t)c->groups * m->half);
    if (!pl_arena_ok(a)) return;
    for (uint32_t n = 0; n < c->nodes; n++) {
        m->node[n].group = (uint16_t)(n * c->groups / c->nodes);
        m->node[n].side = (uint16_t)(m->node[n].group % c->partitions);
        m->node[n].coalescer = (uint16_t)(n * c->coalescers / c->nodes);
    }
    for (uint32_t g = 0; g < c->groups; g++)
        for (uint32_t s = 0; s < m->half; s++)
            m->distance[g * m->half + s] = (uint16_t)distance_of(m, g, s);
}

pl_memsys *pl_memsys_open(pl_arena *a, pl_arena *tags, pl_arena *sparse, const pl_memsys_config *c)
{
    pl_memsys *m = pl_arena_new(a, pl_memsys);
    if (!m) return NULL;
    m->c = c;
    m->nrec = c->in_flight;
    m->rec = pl_arena_array(sparse, record, m->nrec);
    m->arena = a;
    m->reads_shift = 32 - FIRST_READS;
    m->reads_mask = (1u << FIRST_READS) - 1;
    m->reads = pl_arena_array(a, under_way, (size_t)m->reads_mask + 1);
    m->l2 = pl_arena_array(a, pl_cache, c->slices);
    m->slice = pl_arena_array(a, pl_port, c->slices);
    m->atomic = pl_arena_array(a, struct atomic_unit, c->slices);
    if (c->written) m->written = pl_arena_array(a, struct written_line, (size_t)c->slices * RECENT);
    m->up = pl_arena_array(a, pl_port, c->nodes);
    m->down = pl_arena_array(a, pl_port, c->nodes);
    m->group_down = pl_arena_array(a, pl_port, c->groups);
    m->reply = pl_arena_alloc_aligned(a, sizeof *m->reply * c->nodes, _Alignof(replies));
    if (!pl_arena_ok(a)) return NULL;
    place_nodes(m, a);
    if (!pl_arena_ok(a)) return NULL;
    m->free = NONE;
    for (unsigned i = 0; i < WHEEL; i++) m->head[i] = NONE;
    m->beyond = NONE;
    pl_cache_init_all(m->l2, c->slices, a, tags, c->l2_bytes / c->slices, c->line_bytes, c->l2_ways,
                      true);
    for (uint32_t s = 0; s < c->slices; s++) {
        if (c->dram.map == PL_MAP_TURNS)
            pl_cache_in_turn(&m->l2[s], c->dram.channels, PL_CHANNEL_BYTES / c->line_bytes);
        else
            pl_cache_is_slice(&m->l2[s], c->slices / c->partitions);
        pl_cache_keep_last(&m->l2[s], (double)c->l2_persisting / (double)c->l2_bytes);
        m->slice[s].latency = c->l2_latency;
    }
    for (uint32_t n = 0; n < c->nodes; n++) {
        m->up[n].latency = c->xbar_latency;
        m->down[n].latency = 1;
        m->reply[n].cap = m->nrec / c->nodes + 64;
        m->reply[n].due = pl_arena_array(sparse, pl_mem_reply, m->reply[n].cap);
        m->reply[n].landed = pl_arena_array(sparse, pl_mem_reply, m->reply[n].cap);
        m->reply[n].made = pl_arena_array(sparse, pl_mem_reply, m->reply[n].cap);
        m->reply[n].first_due = m->reply[n].first_landed = m->reply[n].first_made = UINT64_MAX;
    }
    for (uint32_t g = 0; g < c->groups; g++) m->group_down[g].latency = c->xbar_latency;
    pl_dram_init(&m->dram, a, &c->dram);
    m->up_costs = pl_up_costs_of(c);
    m->fill_cost = pl_port_cost(c->l2_fill, 1);
    m->atomic_more = pl_port_cost(c->atomic_more, 1);
    m->atomic_again = pl_port_cost(c->atomic_again, 1);
    m->down_sector = pl_port_cost(c->sector_bytes, c->down_bytes);
    m->l1_sector =
        c->l1_down_bytes > 0 ? pl_port_cost(c->sector_bytes, c->l1_down_bytes) : m->down_sector;
    m->group_sector = pl_port_cost(c->sector_bytes, c->group_down_bytes);
    m->request_cost = pl_port_cost(c->slice_request, 1);
    m->partial_cost = pl_port_cost(c->partial_write, 1);
    m->partial_next = pl_port_cost(c->partial_next, 1);
    m->write_cost = pl_port_cost(c->write, 1);
    m->across_word = pl_port_cost(4, c->far_atomic_bytes);
    m->sector_cost = pl_port_cost(c->sector_bytes, c->slice_bytes);
    for (unsigned k = 0; k < PL_ALU_KINDS; k++) {
        m->atomic_sector[k] = pl_port_cost(c->atomic_sector[k], 1);
        m->atomic_turn[k] = pl_port_cost(c->atomic_turn[k], 1);
        m->atomic_same[k] = pl_port_cost(c->atomic_same[k], 1);
    }
    return pl_arena_ok(a) && pl_arena_ok(tags) ? m : NULL;
}

/* --- the wheel --- */

static void link_bucket(pl_memsys *m, uint32_t i, unsigned bucket)
{
    m->rec[i].next = NONE;
    if (m->head[bucket] == NONE) {
        m->head[bucket] = i;
        m->busy[bucket / 64] |= 1ull << (bucket % 64);
    } else {
        m->rec[m->tail[bucket]].next = i;
    }
    m->tail[bucket] = i;
}

/* Files record i under cycle `at`, its stage set by the caller. */
static void file(pl_memsys *m, uint32_t i, uint64_t at)
{
    m->rec[i].r.time = at;
    if (at >= m->now + WHEEL) {
        m->rec[i].next = m->beyond;
        m->beyond = i;
        return;
    }
    link_bucket(m, i, (unsigned)(at % WHEEL));
}

/* Moves what has come into the wheel's reach. Keeps the order of filing among records of one cycle.
 */
static void draw_in(pl_memsys *m)
{
    uint32_t list = NONE, i = m->beyond, next;
    m->beyond = NONE;
    m->drawn = m->now;
    for (; i != NONE; i = next) { /* reverse: the list is last in, first out */
        next = m->rec[i].next;
        m->rec[i].next = list;
        list = i;
    }
    for (i = list; i != NONE; i = next) {
        next = m->rec[i].next;
        file(m, i, m->rec[i].r.time);
    }
}

/* First cycle >= m->now with an event inside the wheel, or UINT64_MAX. */
static uint64_t next_in_wheel(const pl_memsys *m)
{
    unsigned start = (unsigned)(m->now % WHEEL), word = start / 64;
    uint64_t bits = m->busy[word] & (~0ull << (start % 64));
    for (unsigned k = 0; k <= WHEEL / 64; k++) {
        if (bits) {
            unsigned bucket = word * 64 + (unsigned)__builtin_ctzll(bits);
            return m->now + (bucket + WHEEL - start) % WHEEL;
        }
        word = (word + 1) % (WHEEL / 64);
        bits = m->busy[word];
        if (k + 1 == WHEEL / 64) bits &= ~(~0ull << (start % 64));
    }
    return UINT64_MAX;
}

uint64_t pl_memsys_next(const pl_memsys *m)
{
    uint64_t at = next_in_wheel(m);
    for (uint32_t i = m->beyond; i != NONE; i = m->rec[i].next) {
        if (m->rec[i].r.time < at) at = m->rec[i].r.time;
    }
    return at;
}

/* --- replies --- */

static bool earlier(const pl_mem_reply *a, const pl_mem_reply *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static void make_reply(pl_memsys *m, replies *h, pl_mem_reply r)
{
    if (h->nmade == h->cap) {
        m->overflow = true;
        return;
    }
    if (r.time < h->first_made) h->first_made = r.time;
    h->made[h->nmade++] = r;
}

void pl_memsys_publish_replies(pl_memsys *m)
{
    for (uint32_t n = 0; n < m->c->nodes; n++) {
        replies *h = &m->reply[n];
        if (h->nmade == 0) continue;
        if (h->nmade + h->nlanded + h->ndue > h->cap) {
            m->overflow = true;
            return;
        }
        if (h->first_made < h->first_landed) h->first_landed = h->first_made;
        if (h->nlanded == 0) {
            pl_mem_reply *empty = h->landed;
            h->landed = h->made;
            h->made = empty;
        } else {
            memcpy(h->landed + h->nlanded, h->made, h->nmade * sizeof *h->made);
        }
        h->nlanded += h->nmade;
        h->nmade = 0;
        h->first_made = UINT64_MAX;
    }
}

static void take_landed(replies *h)
{
    for (uint32_t k = 0; k < h->nlanded; k++) {
        const pl_mem_reply *r = &h->landed[k];
        uint32_t i = h->ndue++;
        while (i > 0 && earlier(r, &h->due[(i - 1) / 2])) {
            h->due[i] = h->due[(i - 1) / 2];
            i = (i - 1) / 2;
        }
        h->due[i] = *r;
    }
    h->nlanded = 0;
    h->first_landed = UINT64_MAX;
    h->first_due = h->due[0].time;
}

uint64_t pl_memsys_reply_time(const pl_memsys *m, uint32_t node)
{
    const replies *h = &m->reply[node];
    return h->first_due < h->first_landed ? h->first_due : h->first_landed;
}

bool pl_memsys_reply(pl_memsys *m, uint32_t node, uint64_t now, pl_mem_reply *out)
{
    replies *h = &m->reply[node];
    if (h->nlanded) take_landed(h);
    if (h->first_due > now) return false;
    *out = h->due[0];
    pl_mem_reply last = h->due[--h->ndue];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= h->ndue) break;
        if (child + 1 < h->ndue && earlier(&h->due[child + 1], &h->due[child])) child++;
        if (!earlier(&h->due[child], &last)) break;
        h->due[i] = h->due[child];
        i = child;
    }
    if (h->ndue) h->due[i] = last;
    h->first_due = h->ndue ? h->due[0].time : UINT64_MAX;
    return true;
}

/* --- stages --- */

/* Stands for the unpublished hash. */
static uint64_t scatter(uint64_t n)
{
    n ^= n >> 4 ^ n >> 9 ^ n >> 15;
    return n * 0x9E3779B97F4A7C15ull;
}

/* The half that a node reads through. */
static uint32_t side_of(const pl_memsys *m, uint32_t node)
{
    return m->node[node].side;
}

/* The half that owns a line: memory behind it, atomics on it. */
static uint32_t owner_of(const pl_memsys *m, uint64_t line)
{
    return (uint32_t)(scatter(pl_divide(line, &m->by_owner)) >> 20) % m->c->partitions;
}

/* The slice of a half that serves a line. A kilobyte lies in two slices, 256 bytes in each in turn
 * (l2_slicemap.bin: lines 0, 1, 4 and 5 of eight are equally far from every SM, and so are the
 * others), and as many neighbouring kilobytes as there are pairs in all of them: a footprint fills
 * the cache evenly (mem_latency.csv: no miss at 28 MB of 30). */
static uint32_t slice_of(const pl_memsys *m, uint64_t line, uint32_t partition)
{
    if (m->c->dram.map == PL_MAP_TURNS) { /* which of a channel's slices is not published: a hash */
        const uint32_t channels = m->c->dram.channels, each = m->c->slices / channels;
        return pl_dram_channel_of(&m->dram, line) * each +
               (uint32_t)(scatter(line / PL_CHANNEL_BYTES / channels) >> 32) % each;
    }
    uint64_t number = line >> m->line_shift, piece = number / PL_PIECE_LINES,
             row = pl_divide(piece, &m->by_pairs);
    uint32_t pair =
        (uint32_t)pl_remainder(piece - row * m->by_pairs.by + (scatter(row) >> 32), &m->by_pairs);
    return partition * m->half + pair * m->together + ((uint32_t)(number >> 1) & (m->together - 1));
}

static uint32_t coalescer_of(const pl_memsys *m, uint32_t node)
{
    return m->node[node].coalescer;
}

/* --- reads that join others ---
 *
 * Between the SMs of a GPC and the L2 stands a coalescer: a read that another SM of the set has
 * sent already, of the same sectors, and not got an answer to, does not go to the L2; the reply
 * comes to both, and to four at most (join.tsv: 132 SMs that read the same lines at the same time
 * make 34.7 reads of each: four in six GPCs of 16 SMs, five in two of 18). A read of other sectors
 * of the line ends that: nobody joins the first one any more (stencil2d, whose reads overlap: none
 * is joined). */

static uint32_t read_hash(const pl_memsys *m, const pl_mem_req *r)
{
    return (uint32_t)(((r->line >> m->line_shift) + coalescer_of(m, r->node) * 0x51EDull) *
                          0x9E3779B97F4A7C15ull >>
                      32);
}

/* A table of twice the size. Reads of one hash stay in their order: the search for one begins at a
 * free place and goes round. */
static bool more_reads(pl_memsys *m)
{
    const uint32_t old_mask = m->reads_mask;
    const under_way *old = m->reads;
    under_way *reads =
        m->reads_shift > 1 ? pl_arena_array(m->arena, under_way, 2 * ((size_t)old_mask + 1)) : NULL;
    if (!reads || !pl_arena_ok(m->arena)) return false;
    uint32_t first = 0;
    while (old[first].rec) first++;
    m->reads = reads;
    m->reads_shift--;
    m->reads_mask = 2 * old_mask + 1;
    for (uint32_t k = 1; k <= old_mask; k++) {
        const under_way *u = &old[(first + k) & old_mask];
        if (!u->rec) continue;
        uint32_t at = u->hash >> m->reads_shift;
        while (reads[at].rec) at = (at + 1) & m->reads_mask;
        reads[at] = *u;
    }
    return true;
}

/* Makes read i known to those who may join it; or joins one that is under way: true. */
static bool join(pl_memsys *m, uint32_t i, uint32_t hash)
{
    record *x = &m->rec[i];
    const uint32_t most = x->r.held ? m->c->code_joined : m->c->joined;
    bool alone = false;
    uint32_t at = hash >> m->reads_shift;
    for (; m->reads[at].rec; at = (at + 1) & m->reads_mask) {
        if (m->reads[at].hash != hash) continue;
        record *y = &m->rec[m->reads[at].rec - 1];
        if (y->r.line != x->r.line || coalescer_of(m, y->r.node) != coalescer_of(m, x->r.node))
            continue;
        if (x->r.sectors != y->r.sectors) y->mixed = true;
        alone |= y->mixed;
        if (y->mixed || y->sharers == most) continue;
        y->sharers++;
        x->next = y->followers;
        y->followers = i;
        return true;
    }
    if (alone) return false;
    x->listed = true;
    m->reads[at] = (under_way){hash, i + 1};
    if (++m->nreads > m->reads_mask / 2 && !more_reads(m)) m->overflow = true;
    return false;
}

/* Takes read i out, and closes the gap: entries behind it move up as far as their search allows. */
static void leave(pl_memsys *m, uint32_t i)
{
    uint32_t mask = m->reads_mask, gap = read_hash(m, &m->rec[i].r) >> m->reads_shift;
    if (!m->rec[i].listed) return;
    while (m->reads[gap].rec != i + 1) gap = (gap + 1) & mask;
    for (uint32_t at = (gap + 1) & mask; m->reads[at].rec; at = (at + 1) & mask) {
        uint32_t first = m->reads[at].hash >> m->reads_shift;
        if (((at - first) & mask) < ((at - gap) & mask)) continue;
        m->reads[gap] = m->reads[at];
        gap = at;
    }
    m->reads[gap].rec = 0;
    m->nreads--;
}

static void release(pl_memsys *m, uint32_t i)
{
    m->rec[i].stage = IDLE;
    m->rec[i].next = m->free;
    m->free = i;
    m->used--;
}

/* Sends the reply of record i, whose data leave the way into its group at `at`, and frees the
 * record. */
static void reply(pl_memsys *m, uint32_t i, uint64_t at, uint8_t level)
{
    record *x = &m->rec[i];
    const pl_mem_req *r = &x->r;
    if (r->silent) {
        release(m, i);
        return;
    }
    uint32_t data = r->op == PL_MEM_READ     ? (uint32_t)__builtin_popcount(r->sectors)
                    : r->op == PL_MEM_ATOMIC ? 1u
                                             : 0;
    uint32_t sector = r->client == PL_CL_L1 ? m->l1_sector : m->down_sector;
    at = pl_port_pass_later(&m->down[r->node], m->now, at, (uint64_t)sector * data);
    pl_mem_reply out = {.time = at,
                        .order = m->order++,
                        .line = r->line,
                        .token = r->token,
                        .client = r->client,
                        .sectors = r->sectors,
                        .level = level,
                        .far = m->c->partitions > 1 && side_of(m, r->node) != owner_of(m, r->line)};
    make_reply(m, &m->reply[r->node], out);
    release(m, i);
}

static void answer(pl_memsys *m, uint32_t i, uint64_t at)
{
    record *x = &m->rec[i];
    const pl_mem_req *r = &x->r;
    uint32_t data = r->op == PL_MEM_READ     ? (uint32_t)__builtin_popcount(r->sectors)
                    : r->op == PL_MEM_ATOMIC ? 1u
                                             : 0;
    uint32_t follower = r->op == PL_MEM_READ ? x->followers : NONE;
    uint8_t level = x->level;
    if (!r->silent)
        at = pl_port_pass_later(&m->group_down[m->node[r->node].group], m->now, at,
                                (uint64_t)m->group_sector * data);
    if (r->op == PL_MEM_READ) leave(m, i);
    reply(m, i, at, level);
    while (follower != NONE) {
        uint32_t next = m->rec[follower].next;
        reply(m, follower, at, level);
        follower = next;
    }
}

void pl_memsys_send(pl_memsys *m, pl_mem_outbox *box)
{
    enum { SOON = 4 };
    for (uint32_t k = 0; k < box->n; k++) {
        if (k + SOON < box->n)
            __builtin_prefetch(&m->reads[read_hash(m, &box->at[k + SOON]) >> m->reads_shift]);
        if (m->free == NONE && m->fresh == m->nrec) {
            m->overflow = true;
            break;
        }
        uint32_t i = m->free != NONE ? m->free : m->fresh++;
        if (i == m->free) m->free = m->rec[i].next;
        m->used++;
        record *x = &m->rec[i];
        x->r = box->at[k];
        x->stage = AT_SLICE;
        const uint32_t side = side_of(m, x->r.node), slice = slice_of(m, x->r.line, side);
        x->slice = (uint16_t)slice;
        x->set = pl_cache_set(&m->l2[slice], x->r.line);
        x->level = PL_LV_L2;
        x->away = false;
        x->followers = NONE;
        x->listed = x->mixed = false;
        x->sharers = 1;
        uint32_t cost = pl_up_cost(&m->up_costs, &x->r);
        uint64_t at =
            pl_port_pass_later(&m->up[x->r.node], m->sent < x->r.time ? m->sent : x->r.time,
                               x->r.time, cost) +
            m->distance[m->node[x->r.node].group * m->half + slice - side * m->half];
        if (x->r.op == PL_MEM_READ && !x->r.home && join(m, i, read_hash(m, &x->r))) continue;
        pl_cache_expect(&m->l2[slice], x->set);
        file(m, i, at);
    }
    box->n = 0;
}

/* Changed sectors of an evicted line go to memory; nobody waits for them. */
static void write_back(pl_memsys *m, uint64_t now, const pl_cache *l2, const pl_cache_line *old)
{
    if (old->tag == 0 || old->dirty == 0) return;
    pl_dram_access(&m->dram, now, pl_cache_address(l2, old),
                   (uint32_t)__builtin_popcount(old->dirty), m->c->sector_bytes, true);
}

/* Sectors that are fetched when `want` are missing. */
static uint8_t fetch_mask(const pl_memsys *m, const pl_mem_req *r, uint8_t want)
{
    uint32_t per = m->c->l2_fill_sectors, sectors = m->c->line_bytes / m->c->sector_bytes;
    if (r->around > per) per = r->around < sectors ? r->around : sectors;
    uint8_t out = 0, block = (uint8_t)((1u << per) - 1);
    for (uint32_t s = 0; s < sectors; s += per) {
        if (want >> s & block) out |= (uint8_t)(block << s);
    }
    return out;
}

/* Requests that fetch these sectors: one for each block. */
static uint32_t fill_blocks(const pl_memsys *m, uint8_t sectors)
{
    uint32_t per = m->c->l2_fill_sectors, n = 0;
    uint8_t block = (uint8_t)((1u << per) - 1);
    for (uint32_t s = 0; s < m->c->line_bytes / m->c->sector_bytes; s += per)
        n += (sectors >> s & block) != 0;
    return n;
}

/* The record goes on to the slice of the other half that owns its line. */
static void go_home(pl_memsys *m, uint32_t i, uint64_t now)
{
    record *x = &m->rec[i];
    x->away = true;
    x->home_line = x->line;
    x->home_slice = x->slice;
    x->home_fetch = x->fetch;
    x->slice = (uint16_t)slice_of(m, x->r.line, owner_of(m, x->r.line));
    x->set = pl_cache_set(&m->l2[x->slice], x->r.line);
    pl_cache_expect(&m->l2[x->slice], x->set);
    x->stage = AT_SLICE;
    if (x->r.op == PL_MEM_ATOMIC || x->r.op == PL_MEM_REDUCE)
        now = pl_port_enter(&m->across[owner_of(m, x->r.line)], now,
                            (uint64_t)m->across_word * x->r.bytes);
    file(m, i, now + m->c->far_latency);
}

/* A copy in the half that does not own the line is out of date: all of it
 * (lts__t_sectors_lookup_miss.sum of bfs_level). */
static void drop_copy(pl_memsys *m, uint64_t address, uint32_t owner)
{
    for (uint32_t p = 0; p < m->c->partitions; p++) {
        if (p == owner) continue;
        pl_cache *l2 = &m->l2[slice_of(m, address, p)];
        uint32_t k = pl_cache_find(l2, address);
        if (k != PL_NO_LINE && l2->line[k].waiters == NONE && !l2->line[k].pending)
            l2->line[k].valid = 0;
    }
}

void pl_memsys_watch(pl_memsys *m, const pl_sink *sink)
{
    m->sink = m->dram.sink = sink && sink->unit ? sink : NULL;
}

/* Whether the record stands for data that a node asked this slice for. */
static bool asked_for_data(const record *x)
{
    return !x->away && x->r.client != PL_CL_CODE && x->r.client != PL_CL_CONST;
}

static void count_hits(pl_memsys *m, const record *x, uint64_t now, uint32_t hits, uint32_t misses)
{
    if (x->r.held) return;
    m->stat.hit_sectors += hits;
    m->stat.miss_sectors += misses;
    if (asked_for_data(x)) m->stat.data_hits += hits;
    if (!m->sink) return;
    if (hits) m->sink->unit(m->sink->ctx, PL_US_L2_HITS, x->slice, now, hits);
    if (misses) m->sink->unit(m->sink->ctx, PL_US_L2_MISSES, x->slice, now, misses);
}

/* Sectors that a request wants from the slice where it is. */
static uint8_t wanted(const record *x)
{
    return x->away && x->r.op == PL_MEM_READ ? x->home_fetch : x->r.sectors;
}

/* sectors: those that it wants from the slice where it is. */
static void count_request(pl_memsys *m, const record *x, uint32_t sectors)
{
    const bool adds = x->r.op == PL_MEM_ATOMIC || x->r.op == PL_MEM_REDUCE;
    if (x->r.held) return;
    const uint32_t requests = x->away && x->r.op == PL_MEM_READ ? fill_blocks(m, x->home_fetch) : 1;
    if (adds) sectors = x->r.depth; /* a turn each */
    m->stat.requests += requests;
    *(x->r.op == PL_MEM_READ     ? &m->stat.read_sectors
      : x->r.op == PL_MEM_WRITE  ? &m->stat.write_sectors
      : x->r.op == PL_MEM_ATOMIC ? &m->stat.atomic_sectors
                                 : &m->stat.reduce_sectors) += sectors;
    if (x->away) {
        m->stat.far_requests += requests;
        m->stat.far_sectors += sectors;
        if (x->r.op == PL_MEM_WRITE) m->stat.far_writes += sectors;
    } else if (asked_for_data(x)) {
        m->stat.data_requests++;
        m->stat.data_sectors += sectors;
    }
}

/* An access finds a line, or has got a place for one. A copy in the half that does not own it does
 * not persist; what was to go last is not made to go first (policy.tsv.xz: ld.hint.last,
 * ld.hint.first), and an ordinary access to what was to go first makes it ordinary. */
static void use(pl_cache *l2, uint32_t k, pl_mem_rank rank, bool owned)
{
    const pl_mem_rank old = (pl_mem_rank)l2->line[k].rank;
    if (!l2->ranked && rank == PL_RANK_NORMAL) return;
    if (rank == PL_RANK_RESET)
        pl_cache_rank(l2, k, PL_RANK_NORMAL);
    else if (rank == PL_RANK_FIRST && old != PL_RANK_LAST)
        pl_cache_rank(l2, k, rank);
    else if (rank == PL_RANK_LAST && owned)
        pl_cache_rank(l2, k, rank);
    else if (rank != PL_RANK_FIRST && old == PL_RANK_FIRST)
        pl_cache_rank(l2, k, PL_RANK_NORMAL);
}

/* The line for a request: found, or with a place that has been made for it; or NONE. */
static uint32_t line_for(pl_memsys *m, const record *x, uint64_t now, bool owned)
{
    pl_cache *l2 = &m->l2[x->slice];
    uint32_t k = pl_cache_find_in(l2, x->set, x->r.line);
    if (k == PL_NO_LINE) {
        pl_cache_line old = {0};
        if (x->r.rank == PL_RANK_FIRST && x->away && x->r.op == PL_MEM_READ)
            return NONE; /* there is a place for it in the half that asks, only */
        k = pl_cache_claim(l2, x->r.line, PL_RANK_NORMAL, &old);
        write_back(m, now, l2, &old);
    }
    if (k == PL_NO_LINE) return NONE;
    use(l2, k, (pl_mem_rank)x->r.rank, owned);
    return k;
}

/* Brings the line behind the one that record x reads to the half that owns it. Only a read of the
 * first sector of a pair of lines does that (policy.tsv.xz: ld.L2::256B). */
static void fetch_next(pl_memsys *m, const record *x, uint64_t now)
{
    const uint32_t sectors = m->c->line_bytes / m->c->sector_bytes;
    if (x->r.around <= sectors || !(x->r.sectors & 1) || x->r.line & m->c->line_bytes ||
        (m->free == NONE && m->fresh == m->nrec))
        return;
    uint32_t i = m->free != NONE ? m->free : m->fresh++;
    if (i == m->free) m->free = m->rec[i].next;
    m->used++;
    record *y = &m->rec[i];
    *y = (record){.r = x->r, .stage = AT_SLICE, .level = PL_LV_L2, .followers = NONE, .sharers = 1};
    y->r.line += m->c->line_bytes;
    y->r.sectors = (uint8_t)((1u << sectors) - 1);
    y->r.around = 0;
    y->r.home = y->r.silent = true;
    y->slice = (uint16_t)slice_of(m, y->r.line, side_of(m, y->r.node));
    y->set = pl_cache_set(&m->l2[y->slice], y->r.line);
    file(m, i, now);
}

/* Priorities and contents of a line, in both halves. */
static void keep_up(pl_memsys *m, uint32_t i)
{
    const pl_mem_req *r = &m->rec[i].r;
    for (uint32_t p = 0; p < m->c->partitions; p++) {
        pl_cache *l2 = &m->l2[slice_of(m, r->line, p)];
        const uint32_t k = pl_cache_find(l2, r->line);
        if (k == PL_NO_LINE) continue;
        if (r->op == PL_MEM_DEMOTE && l2->line[k].rank == PL_RANK_LAST)
            pl_cache_rank(l2, k, PL_RANK_NORMAL);
        if (r->op == PL_MEM_DISCARD && l2->line[k].waiters == NONE && !l2->line[k].pending)
            pl_cache_drop(l2, k);
    }
    release(m, i);
}

/* Check bits of memory are those of whole sectors: what a write leaves of one must be read to make
 * them. The write does not wait for it. */
static void complete_sectors(pl_memsys *m, const pl_mem_req *r, const pl_cache_line *line,
                             uint64_t now)
{
    const uint32_t missing = (uint32_t)__builtin_popcount(r->sectors & (uint8_t)~line->valid),
                   n = (uint32_t)__builtin_popcount(r->sectors);
    const uint32_t parts = n - r->bytes * 4u / m->c->sector_bytes,
                   fetched = missing < parts ? missing : parts;
    if (!fetched) return;
    pl_dram_access(&m->dram, now, r->line, fetched, m->c->sector_bytes, false);
    m->stat.fills += fetched;
}

static void at_slice(pl_memsys *m, uint32_t i, uint64_t now)
{
    record *x = &m->rec[i];
    const pl_mem_req *r = &x->r;
    pl_cache *l2 = &m->l2[x->slice];
    uint8_t sectors = wanted(x);
    uint32_t n = (uint32_t)__builtin_popcount(sectors), owner = owner_of(m, r->line);
    bool owned = m->c->partitions < 2 || x->away || side_of(m, r->node) == owner;
    bool partial = r->op == PL_MEM_WRITE && r->bytes * 4u < n * m->c->sector_bytes;
    uint64_t cost = (uint64_t)m->sector_cost * n;
    if (cost < m->request_cost) cost = m->request_cost;
    if (r->op == PL_MEM_WRITE && owned) {
        uint64_t write = partial ? m->partial_cost + (uint64_t)m->partial_next * (n - 1)
                                 : (uint64_t)m->write_cost * n;
        if (partial && m->c->dram.check)
            write *= 2; /* read, changed and written: check bits are those of whole sectors */
        if (cost < write) cost = write;
    }
    uint64_t out = pl_port_pass(&m->slice[x->slice], now, cost);
    if (m->written) {
        struct written_line *w =
            &m->written[(size_t)x->slice * RECENT + (r->line >> m->line_shift) % RECENT];
        if (r->op == PL_MEM_WRITE)
            *w = (struct written_line){r->line, now + m->c->written};
        else if (w->line == r->line && w->until > out)
            out = w->until;
    }
    if (r->op >= PL_MEM_DEMOTE) {
        keep_up(m, i);
        return;
    }
    count_request(m, x, n);
    const bool whole = r->op == PL_MEM_WRITE && !partial;
    if (!owned && (r->op != PL_MEM_READ || r->home)) { /* only the owner changes a line */
        count_hits(m, x, now, n, 0);
        const uint32_t copy =
            whole ? line_for(m, x, now, false) : NONE; /* sectors that are written whole can be read
                                                          here, too (policy.tsv.xz: st_full) */
        if (copy != NONE) l2->line[copy].valid |= sectors & (uint8_t)~l2->line[copy].pending;
        x->fetch = r->op == PL_MEM_READ ? sectors : 0;
        x->line = NONE;
        go_home(m, i, out);
        return;
    }
    uint32_t k = line_for(m, x, now, owned);
    if (r->op != PL_MEM_READ && m->c->partitions > 1 && !(whole && x->away))
        drop_copy(m, r->line, owner);
    if (r->op == PL_MEM_WRITE) {
        if (k != NONE) {
            pl_cache_line *line = &l2->line[k];
            count_hits(m, x, now, n, 0);
            if (partial && m->c->dram.check) complete_sectors(m, r, line, out);
            if (!partial || m->c->dram.check)
                line->valid |= sectors; /* what is there in part is fetched before it is read
                                           (dram__sectors_read of alloca_local) */
            line->dirty |= sectors;
        }
        const uint64_t taken =
            out - m->slice[x->slice].latency; /* nobody waits for its way through the slice */
        if (taken > m->stat.last_effect) m->stat.last_effect = taken;
        answer(m, i, out + (x->away ? m->c->far_latency : 0));
        return;
    }
    if (k == NONE) { /* every way waits for a fill: go past the cache */
        count_hits(m, x, now, 0, n);
        x->line = NONE;
        x->fetch = sectors;
        if (!owned) {
            go_home(m, i, out);
            return;
        }
        x->stage = AT_DRAM;
        file(m, i, out);
        return;
    }
    pl_cache_line *line = &l2->line[k];
    if (r->held) line->valid |= sectors & (uint8_t)~line->pending;
    uint8_t missing = sectors & (uint8_t)~line->valid;
    uint8_t ask = missing & (uint8_t)~line->pending;
    x->fetch = ask ? fetch_mask(m, r, ask) & (uint8_t) ~(line->valid | line->pending) : 0;
    /* all that is fetched counts as missed (lts__t_sectors_lookup_miss.sum of copy_strided_32: two
     * sectors for each that is read) */
    count_hits(m, x, now, n - (uint32_t)__builtin_popcount(ask),
               (uint32_t)__builtin_popcount(x->fetch));
    x->line = k;
    if (!missing) {
        x->stage = FILLED;
        file(m, i, out);
        return;
    }
    x->level = PL_LV_DRAM;
    if (!ask) { /* someone else fetches all that is missing */
        x->next = line->waiters;
        line->waiters = i;
        x->stage = FILLED;
        return;
    }
    line->pending |= x->fetch;
    fetch_next(m, x, out);
    if (!owned) {
        go_home(m, i, out);
        return;
    }
    x->stage = AT_DRAM;
    file(m, i, out);
}

/* The cycle at which an atomic has been performed. The unit takes a turn for each operation on one
 * and the same address, and one sector after the other. It begins the next request when it has
 * begun all turns of this one, unless that needs a word that this one leaves. */
static uint64_t compute(const pl_memsys *m, struct atomic_unit *u, const pl_mem_req *r,
                        uint64_t now)
{
    const uint32_t sectors = (uint32_t)__builtin_popcount(r->sectors);
    uint64_t deepest = r->turns ? r->turns : 1,
             turns = r->depth > sectors ? r->depth - sectors + 1 : 1;
    const uint64_t more = r->alu == PL_ALU_FLOAT ? (uint64_t)m->atomic_more * r->more : 0,
                   same = m->atomic_same[r->alu];
    uint64_t hold = m->atomic_turn[r->alu] * turns +
                    (uint64_t)m->atomic_sector[r->alu] * (sectors - 1) + more,
             at = now * PL_SUBCYCLES;
    if (u->free < at) u->free = at;
    if (r->line == u->line && r->sectors & u->sectors && r->places & u->places &&
        u->changed > u->free)
        u->free = u->changed;
    u->line = r->line;
    u->sectors = r->sectors;
    u->places = r->places;
    u->changed = u->free +
                 (r->op == PL_MEM_ATOMIC && m->atomic_again > same ? m->atomic_again : same) +
                 same * (deepest - 1) + more;
    u->free += hold;
    uint64_t out = u->free > u->changed ? u->free : u->changed;
    return (out + PL_SUBCYCLES - 1) / PL_SUBCYCLES;
}

/* What comes to a slice waits behind atomics once the queue of its arithmetic is full. */
static void hold_slice(pl_memsys *m, uint32_t slice)
{
    const uint64_t room = (uint64_t)m->c->atomic_wait * PL_SUBCYCLES, free = m->atomic[slice].free;
    if (room && free > room && free - room > m->slice[slice].free)
        m->slice[slice].free = free - room;
}

/* Data, or the right to compute on it, is in the slice. */
static void filled(pl_memsys *m, uint32_t i, uint64_t now)
{
    record *x = &m->rec[i];
    const pl_mem_req *r = &x->r;
    if (r->op == PL_MEM_ATOMIC || r->op == PL_MEM_REDUCE) {
        now = compute(m, &m->atomic[x->slice], r, now);
        hold_slice(m, x->slice);
        if (x->line != NONE) {
            pl_cache *l2 = &m->l2[x->slice];
            pl_cache_line *line = &l2->line[x->line];
            if (pl_cache_address(l2, line) == r->line) line->dirty |= r->sectors;
        }
        if (now > m->stat.last_effect) m->stat.last_effect = now;
        answer(m, i, now + (x->away ? m->c->far_latency : 0));
        return;
    }
    if (x->away) { /* back to the slice that asked */
        x->away = false;
        x->slice = x->home_slice;
        x->line = x->home_line;
        x->fetch = x->home_fetch;
        x->stage = FILLED;
        file(m, i, now + m->c->far_latency);
        return;
    }
    answer(m, i, now);
}

static void at_dram(pl_memsys *m, uint32_t i, uint64_t now)
{
    record *x = &m->rec[i];
    uint32_t sectors = (uint32_t)__builtin_popcount(x->fetch);
    uint64_t done = pl_dram_access(&m->dram, now, x->r.line, sectors, m->c->sector_bytes, false);
    m->stat.fills += sectors;
    x->stage = FILLED;
    file(m, i, done);
}

/* A fill arrived with record i: those who waited for it go on too. */
static void fill(pl_memsys *m, uint32_t i, uint64_t now)
{
    record *x = &m->rec[i];
    if (x->fetch && x->line != NONE) {
        pl_port_enter(&m->slice[x->slice], now,
                      (uint64_t)m->fill_cost *
                          (uint32_t)__builtin_popcount(x->fetch)); /* it is written there first */
        pl_cache_line *line = &m->l2[x->slice].line[x->line];
        line->pending &= (uint8_t)~x->fetch;
        line->valid |= x->fetch;
        x->fetch = 0;
        uint32_t w = line->waiters, again = NONE, ready = NONE;
        while (w != NONE) { /* the list is last in, first out; this turns it round */
            uint32_t next = m->rec[w].next;
            bool complete = (wanted(&m->rec[w]) & (uint8_t)~line->valid) == 0;
            uint32_t *to = complete ? &ready : &again;
            m->rec[w].next = *to;
            *to = w;
            w = next;
        }
        line->waiters = NONE;
        while (again != NONE) {
            uint32_t next = m->rec[again].next;
            m->rec[again].next = line->waiters;
            line->waiters = again;
            again = next;
        }
        if (wanted(x) & (uint8_t)~line->valid) { /* the rest comes with another fill */
            x->next = line->waiters;
            line->waiters = i;
        } else {
            filled(m, i, now);
        }
        while (ready != NONE) {
            uint32_t next = m->rec[ready].next;
            filled(m, ready, now);
            ready = next;
        }
        return;
    }
    filled(m, i, now);
}

void pl_memsys_set_horizon(pl_memsys *m, uint64_t cycle)
{
    m->sent = cycle;
}

void pl_memsys_run(pl_memsys *m, uint64_t until)
{
    pl_memsys_set_horizon(m, until > m->c->xbar_latency ? until - m->c->xbar_latency : 0);
    pl_memsys_run_events(m, until);
    pl_memsys_publish_replies(m);
}

void pl_memsys_run_events(pl_memsys *m, uint64_t until)
{
    for (;;) {
        if (m->used == 0) {
            m->now = m->drawn = until;
            return;
        }
        if (m->now >= m->drawn + WHEEL / 4) draw_in(m);
        uint64_t at = next_in_wheel(m);
        uint64_t stop = m->drawn + WHEEL / 4;
        if (stop > until) stop = until;
        if (at >= stop) {
            m->now = stop;
            if (m->now >= until) return;
            continue;
        }
        m->now = at;
        unsigned bucket = (unsigned)(at % WHEEL);
        while (m->head[bucket] != NONE) {
            uint32_t i = m->head[bucket];
            m->head[bucket] = m->rec[i].next;
            if (m->head[bucket] != NONE) __builtin_prefetch(&m->rec[m->head[bucket]], 1);
            switch (m->rec[i].stage) {
            case AT_SLICE: at_slice(m, i, at); break;
            case AT_DRAM: at_dram(m, i, at); break;
            default: fill(m, i, at); break;
            }
        }
        m->busy[bucket / 64] &= ~(1ull << (bucket % 64));
    }
}

const pl_memsys_stat *pl_memsys_stats(const pl_memsys *m)
{
    return &m->stat;
}
const pl_dram *pl_memsys_dram(const pl_memsys *m)
{
    return &m->dram;
}
uint32_t pl_memsys_pending(const pl_memsys *m)
{
    return m->used;
}
bool pl_memsys_overflowed(const pl_memsys *m)
{
    return m->overflow;
}
