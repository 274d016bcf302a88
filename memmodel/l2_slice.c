/* l2_slice.c - a slice of the L2: tags, misses, fills and writes. A line belongs to a slice in the
 * half of the L2 that owns it, and may have a copy in a slice of the other half. */
#include "memmodel/memsys_parts.h"
#include <string.h>

/* Writes the dirty sectors of an evicted line to memory; nothing waits for them. */
static void write_back(pl_memsys *m, uint64_t now, const pl_cache *l2, const pl_cache_line *old)
{
    if (old->tag == 0 || old->dirty == 0) return;
    pl_dram_access(&m->dram, now, pl_cache_address(l2, old), pl_sector_count(old->dirty),
                   m->c->sector_bytes, true);
}

/* Sectors to fetch when the sectors of `missing` are missing. */
static uint8_t fetch_mask(const pl_memsys *m, const pl_mem_req *r, uint8_t missing)
{
    uint32_t block_sectors = m->c->l2_fill_sectors, sectors = m->c->line_bytes / m->c->sector_bytes;
    if (r->prefetch_sectors > block_sectors)
        block_sectors = r->prefetch_sectors < sectors ? r->prefetch_sectors : sectors;
    uint8_t out = 0, block = (uint8_t)((1u << block_sectors) - 1);
    for (uint32_t s = 0; s < sectors; s += block_sectors) {
        if (missing >> s & block) out |= (uint8_t)(block << s);
    }
    return out;
}

/* Number of requests that fetch these sectors: one per block. */
static uint32_t fill_blocks(const pl_memsys *m, uint8_t sectors)
{
    uint32_t block_sectors = m->c->l2_fill_sectors, n = 0;
    uint8_t block = (uint8_t)((1u << block_sectors) - 1);
    for (uint32_t s = 0; s < m->c->line_bytes / m->c->sector_bytes; s += block_sectors)
        n += (sectors >> s & block) != 0;
    return n;
}

/* Forwards a transaction to the slice of the other half that owns its line. */
static void forward_to_owner(pl_memsys *m, uint32_t i, uint64_t now)
{
    pl_l2_txn *x = &m->txn[i];
    x->at_owner = true;
    x->origin_line = x->line;
    x->origin_slice = x->slice;
    x->origin_fetch = x->fetch;
    x->slice = (uint16_t)pl_slice_of(m, x->r.line, pl_owner_of(m, x->r.line));
    x->set = pl_cache_set(&m->l2[x->slice], x->r.line);
    pl_cache_prefetch_set(&m->l2[x->slice], x->set);
    x->stage = PL_TXN_AT_SLICE;
    if (x->r.op == PL_MEM_ATOMIC || x->r.op == PL_MEM_REDUCE)
        now = pl_port_enter(&m->cross_half[pl_owner_of(m, x->r.line)], now,
                            (uint64_t)m->cross_half_word * x->r.bytes);
    pl_wheel_schedule(m, i, now + m->c->far_latency);
}

/* Invalidates the copy in the half that does not own the line, as a whole
 * (lts__t_sectors_lookup_miss.sum of bfs_level). */
static void invalidate_copy(pl_memsys *m, uint64_t address, uint32_t owner)
{
    for (uint32_t p = 0; p < m->c->partitions; p++) {
        if (p == owner) continue;
        pl_cache *l2 = &m->l2[pl_slice_of(m, address, p)];
        uint32_t k = pl_cache_find(l2, address);
        if (k != PL_NO_LINE && l2->line[k].waiters == PL_NO_TXN && !l2->line[k].pending)
            l2->line[k].valid = 0;
    }
}

/* True if the transaction is a node's request for data at this slice. */
static bool is_data_request(const pl_l2_txn *x)
{
    return !x->at_owner && x->r.client != PL_CL_CODE && x->r.client != PL_CL_CONST;
}

static void count_hits(pl_memsys *m, const pl_l2_txn *x, uint64_t now, uint32_t hits,
                       uint32_t misses)
{
    if (x->r.preloaded) return;
    m->stat.hit_sectors += hits;
    m->stat.miss_sectors += misses;
    if (is_data_request(x)) m->stat.data_hits += hits;
    if (!m->sink) return;
    if (hits) m->sink->unit(m->sink->ctx, PL_US_L2_HITS, x->slice, now, hits);
    if (misses) m->sink->unit(m->sink->ctx, PL_US_L2_MISSES, x->slice, now, misses);
}

/* Sectors that a request requires from its current slice. */
static uint8_t required_sectors(const pl_l2_txn *x)
{
    return x->at_owner && x->r.op == PL_MEM_READ ? x->origin_fetch : x->r.sectors;
}

/* sectors: those that it requires from its current slice. */
static void count_request(pl_memsys *m, const pl_l2_txn *x, uint32_t sectors)
{
    const bool is_atomic = x->r.op == PL_MEM_ATOMIC || x->r.op == PL_MEM_REDUCE;
    if (x->r.preloaded) return;
    const uint32_t requests =
        x->at_owner && x->r.op == PL_MEM_READ ? fill_blocks(m, x->origin_fetch) : 1;
    if (is_atomic) sectors = x->r.sector_ops; /* one operation each */
    m->stat.requests += requests;
    *(x->r.op == PL_MEM_READ     ? &m->stat.read_sectors
      : x->r.op == PL_MEM_WRITE  ? &m->stat.write_sectors
      : x->r.op == PL_MEM_ATOMIC ? &m->stat.atomic_sectors
                                 : &m->stat.reduce_sectors) += sectors;
    if (x->at_owner) {
        m->stat.far_requests += requests;
        m->stat.far_sectors += sectors;
        if (x->r.op == PL_MEM_WRITE) m->stat.far_writes += sectors;
    } else if (is_data_request(x)) {
        m->stat.data_requests++;
        m->stat.data_sectors += sectors;
    }
}

/* Updates the rank of a line that an access hit or allocated. A copy in the half that does not own
 * the line does not persist. An evict_first access does not demote an evict_last line
 * (policy.tsv.xz: ld.hint.last, ld.hint.first). An ordinary access makes an evict_first line
 * ordinary. */
static void touch_line(pl_cache *l2, uint32_t k, pl_mem_rank rank, bool owned)
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

/* The line for a request, found or allocated; or PL_NO_TXN. */
static uint32_t find_or_allocate(pl_memsys *m, const pl_l2_txn *x, uint64_t now, bool owned)
{
    pl_cache *l2 = &m->l2[x->slice];
    uint32_t k = pl_cache_find_in(l2, x->set, x->r.line);
    if (k == PL_NO_LINE) {
        pl_cache_line old = {0};
        /* It is allocated in the requesting half only. */
        if (x->r.rank == PL_RANK_FIRST && x->at_owner && x->r.op == PL_MEM_READ) return PL_NO_TXN;
        k = pl_cache_claim(l2, x->r.line, PL_RANK_NORMAL, &old);
        write_back(m, now, l2, &old);
    }
    if (k == PL_NO_LINE) return PL_NO_TXN;
    touch_line(l2, k, (pl_mem_rank)x->r.rank, owned);
    return k;
}

/* Prefetches the line after the one that x reads into the half that owns it. Only a read of the
 * first sector of a pair of lines does that (policy.tsv.xz: ld.L2::256B). */
static void fetch_next(pl_memsys *m, const pl_l2_txn *x, uint64_t now)
{
    const uint32_t sectors = m->c->line_bytes / m->c->sector_bytes;
    if (x->r.prefetch_sectors <= sectors || !(x->r.sectors & 1) || x->r.line & m->c->line_bytes)
        return;
    const uint32_t i = pl_l2_txn_new(m);
    if (i == PL_NO_TXN) return;
    pl_l2_txn *y = &m->txn[i];
    *y = (pl_l2_txn){
        .r = x->r, .stage = PL_TXN_AT_SLICE, .level = PL_LV_L2, .merged = PL_NO_TXN, .sharers = 1};
    y->r.line += m->c->line_bytes;
    y->r.sectors = (uint8_t)((1u << sectors) - 1);
    y->r.prefetch_sectors = 0;
    y->r.owner_only = y->r.silent = true;
    y->slice = (uint16_t)pl_slice_of(m, y->r.line, pl_side_of(m, y->r.node));
    y->set = pl_cache_set(&m->l2[y->slice], y->r.line);
    pl_wheel_schedule(m, i, now);
}

/* Applies a change of priority or contents to a line, in both halves. */
static void apply_cache_op(pl_memsys *m, uint32_t i)
{
    const pl_mem_req *r = &m->txn[i].r;
    for (uint32_t p = 0; p < m->c->partitions; p++) {
        pl_cache *l2 = &m->l2[pl_slice_of(m, r->line, p)];
        const uint32_t k = pl_cache_find(l2, r->line);
        if (k == PL_NO_LINE) continue;
        if (r->op == PL_MEM_DEMOTE && l2->line[k].rank == PL_RANK_LAST)
            pl_cache_rank(l2, k, PL_RANK_NORMAL);
        if (r->op == PL_MEM_DISCARD && l2->line[k].waiters == PL_NO_TXN && !l2->line[k].pending)
            pl_cache_drop(l2, k);
    }
    pl_l2_txn_free(m, i);
}

/* Check bits cover whole sectors: the bytes of a sector that a write does not cover must be read to
 * compute them. The write does not wait for the read. */
static void read_partial_sectors(pl_memsys *m, const pl_mem_req *r, const pl_cache_line *line,
                                 uint64_t now)
{
    const uint32_t missing = pl_sector_count(r->sectors & (uint8_t)~line->valid),
                   n = pl_sector_count(r->sectors);
    const uint32_t parts = n - r->bytes * 4u / m->c->sector_bytes,
                   fetched = missing < parts ? missing : parts;
    if (!fetched) return;
    pl_dram_access(&m->dram, now, r->line, fetched, m->c->sector_bytes, false);
    m->stat.fills += fetched;
}

/* A request at its current slice. */
typedef struct l2_access {
    pl_memsys *m;
    pl_l2_txn *x;
    uint32_t i; /* of the transaction */
    uint32_t n; /* sectors */
    uint32_t owner;
    uint64_t now, out; /* arrival, and departure from the slice */
    uint8_t sectors;
    bool owned;   /* the slice may modify the line */
    bool partial; /* a write that covers its sectors only in part */
} l2_access;

/* The time for which the request occupies the slice. */
static inline uint64_t slice_cost(const l2_access *a)
{
    const pl_memsys *m = a->m;
    uint64_t cost = (uint64_t)m->sector_cost * a->n;
    if (cost < m->request_cost) cost = m->request_cost;
    if (a->x->r.op != PL_MEM_WRITE || !a->owned) return cost;
    uint64_t write = a->partial ? m->partial_cost + (uint64_t)m->partial_next * (a->n - 1)
                                : (uint64_t)m->write_cost * a->n;
    /* read-modify-write: check bits cover whole sectors */
    if (a->partial && m->c->dram.ecc_ratio) write *= 2;
    return cost < write ? write : cost;
}

/* A read of a recently written line leaves the slice later. */
static inline void wait_for_write(l2_access *a)
{
    pl_memsys *m = a->m;
    const pl_mem_req *r = &a->x->r;
    pl_recent_write *of_slice = &m->recent_writes[(size_t)a->x->slice * PL_RECENT_WRITES],
                    *w = &of_slice[(r->line >> m->line_shift) % PL_RECENT_WRITES];
    if (!m->written[a->x->slice]) {
        if (r->op != PL_MEM_WRITE) return;
        memset(of_slice, 0, PL_RECENT_WRITES * sizeof *of_slice);
        m->written[a->x->slice] = true;
    }
    if (r->op == PL_MEM_WRITE)
        *w = (pl_recent_write){r->line, a->now + m->c->write_read_delay};
    else if (w->line == r->line && w->until > a->out)
        a->out = w->until;
}

/* Only the owner modifies a line: the request is forwarded to it. Sectors that are written whole
 * become readable here too (policy.tsv.xz: st_full). */
static inline void redirect_to_owner(l2_access *a)
{
    pl_memsys *m = a->m;
    pl_l2_txn *x = a->x;
    pl_cache *l2 = &m->l2[x->slice];
    count_hits(m, x, a->now, a->n, 0);
    const uint32_t copy =
        x->r.op == PL_MEM_WRITE && !a->partial ? find_or_allocate(m, x, a->now, false) : PL_NO_TXN;
    if (copy != PL_NO_TXN) l2->line[copy].valid |= a->sectors & (uint8_t)~l2->line[copy].pending;
    x->fetch = x->r.op == PL_MEM_READ ? a->sectors : 0;
    x->line = PL_NO_TXN;
    forward_to_owner(m, a->i, a->out);
}

static inline void write_line(l2_access *a, uint32_t k)
{
    pl_memsys *m = a->m;
    pl_l2_txn *x = a->x;
    if (k != PL_NO_TXN) {
        pl_cache_line *line = &m->l2[x->slice].line[k];
        count_hits(m, x, a->now, a->n, 0);
        if (a->partial && m->c->dram.ecc_ratio) read_partial_sectors(m, &x->r, line, a->out);
        /* partly written sectors are fetched before a read (dram__sectors_read of alloca_local) */
        if (!a->partial || m->c->dram.ecc_ratio) line->valid |= a->sectors;
        line->dirty |= a->sectors;
    }
    /* nothing waits for the latency of the slice */
    const uint64_t accepted = a->out - m->slice[x->slice].latency;
    if (accepted > m->stat.last_effect) m->stat.last_effect = accepted;
    pl_crossbar_reply(m, a->i, a->out + (x->at_owner ? m->c->far_latency : 0));
}

/* Fetches missing sectors from memory, or from the slice that owns the line. */
static inline void fetch(l2_access *a)
{
    if (!a->owned) {
        forward_to_owner(a->m, a->i, a->out);
        return;
    }
    a->x->stage = PL_TXN_AT_DRAM;
    pl_wheel_schedule(a->m, a->i, a->out);
}

/* A read, or an atomic, of line k. */
static inline void read_line(l2_access *a, uint32_t k)
{
    pl_memsys *m = a->m;
    pl_l2_txn *x = a->x;
    pl_cache_line *line = &m->l2[x->slice].line[k];
    if (x->r.preloaded) line->valid |= a->sectors & (uint8_t)~line->pending;
    const uint8_t missing = a->sectors & (uint8_t)~line->valid;
    const uint8_t to_fetch = missing & (uint8_t)~line->pending;
    x->fetch =
        to_fetch ? fetch_mask(m, &x->r, to_fetch) & (uint8_t) ~(line->valid | line->pending) : 0;
    /* all fetched sectors count as misses (lts__t_sectors_lookup_miss.sum of copy_strided_32: two
     * sectors for each sector read) */
    count_hits(m, x, a->now, a->n - pl_sector_count(to_fetch), pl_sector_count(x->fetch));
    x->line = k;
    if (!missing) {
        x->stage = PL_TXN_FILLED;
        pl_wheel_schedule(m, a->i, a->out);
        return;
    }
    x->level = PL_LV_DRAM;
    if (!to_fetch) { /* all missing sectors are already being fetched */
        x->next = line->waiters;
        line->waiters = a->i;
        x->stage = PL_TXN_FILLED;
        return;
    }
    line->pending |= x->fetch;
    fetch_next(m, x, a->out);
    fetch(a);
}

void pl_l2_access(pl_memsys *m, uint32_t i, uint64_t now)
{
    pl_l2_txn *x = &m->txn[i];
    const pl_mem_req *r = &x->r;
    l2_access a = {.m = m, .x = x, .i = i, .now = now, .sectors = required_sectors(x)};
    a.n = pl_sector_count(a.sectors);
    a.owner = pl_owner_of(m, r->line);
    a.owned = m->c->partitions < 2 || x->at_owner || pl_side_of(m, r->node) == a.owner;
    a.partial = r->op == PL_MEM_WRITE && r->bytes * 4u < a.n * m->c->sector_bytes;
    a.out = pl_port_pass(&m->slice[x->slice], now, slice_cost(&a));
    if (m->recent_writes) wait_for_write(&a);
    if (r->op >= PL_MEM_DEMOTE) {
        apply_cache_op(m, i);
        return;
    }
    count_request(m, x, a.n);
    if (!a.owned && (r->op != PL_MEM_READ || r->owner_only)) {
        redirect_to_owner(&a);
        return;
    }
    const uint32_t k = find_or_allocate(m, x, now, a.owned);
    const bool whole = r->op == PL_MEM_WRITE && !a.partial;
    if (r->op != PL_MEM_READ && m->c->partitions > 1 && !(whole && x->at_owner))
        invalidate_copy(m, r->line, a.owner);
    if (r->op == PL_MEM_WRITE) {
        write_line(&a, k);
    } else if (k == PL_NO_TXN) { /* every way has a fill pending: bypass the cache */
        count_hits(m, x, now, 0, a.n);
        x->line = PL_NO_TXN;
        x->fetch = a.sectors;
        fetch(&a);
    } else {
        read_line(&a, k);
    }
}

/* The data are in the slice, or the atomic can be performed there. */
static void complete_access(pl_memsys *m, uint32_t i, uint64_t now)
{
    pl_l2_txn *x = &m->txn[i];
    const pl_mem_req *r = &x->r;
    if (r->op == PL_MEM_ATOMIC || r->op == PL_MEM_REDUCE) {
        now = pl_atomic_unit_perform(m, &m->atomic[x->slice], r, now);
        pl_atomic_unit_stall_slice(m, x->slice);
        if (x->line != PL_NO_TXN) {
            pl_cache *l2 = &m->l2[x->slice];
            pl_cache_line *line = &l2->line[x->line];
            if (pl_cache_address(l2, line) == r->line) line->dirty |= r->sectors;
        }
        if (now > m->stat.last_effect) m->stat.last_effect = now;
        pl_crossbar_reply(m, i, now + (x->at_owner ? m->c->far_latency : 0));
        return;
    }
    if (x->at_owner) { /* back to the origin slice */
        x->at_owner = false;
        x->slice = x->origin_slice;
        x->line = x->origin_line;
        x->fetch = x->origin_fetch;
        x->stage = PL_TXN_FILLED;
        pl_wheel_schedule(m, i, now + m->c->far_latency);
        return;
    }
    pl_crossbar_reply(m, i, now);
}

void pl_l2_fetch(pl_memsys *m, uint32_t i, uint64_t now)
{
    pl_l2_txn *x = &m->txn[i];
    uint32_t sectors = pl_sector_count(x->fetch);
    uint64_t done = pl_dram_access(&m->dram, now, x->r.line, sectors, m->c->sector_bytes, false);
    m->stat.fills += sectors;
    x->stage = PL_TXN_FILLED;
    pl_wheel_schedule(m, i, done);
}

/* A fill arrived with transaction i; waiting transactions continue too. */
void pl_l2_fill(pl_memsys *m, uint32_t i, uint64_t now)
{
    pl_l2_txn *x = &m->txn[i];
    if (x->fetch && x->line != PL_NO_TXN) {
        /* The fill is written into the slice first. */
        pl_port_enter(&m->slice[x->slice], now, (uint64_t)m->fill_cost * pl_sector_count(x->fetch));
        pl_cache_line *line = &m->l2[x->slice].line[x->line];
        line->pending &= (uint8_t)~x->fetch;
        line->valid |= x->fetch;
        x->fetch = 0;
        uint32_t w = line->waiters, still_waiting = PL_NO_TXN, ready = PL_NO_TXN;
        while (w != PL_NO_TXN) { /* the list is last in, first out; this reverses it */
            uint32_t next = m->txn[w].next;
            bool complete = (required_sectors(&m->txn[w]) & (uint8_t)~line->valid) == 0;
            uint32_t *to = complete ? &ready : &still_waiting;
            m->txn[w].next = *to;
            *to = w;
            w = next;
        }
        line->waiters = PL_NO_TXN;
        while (still_waiting != PL_NO_TXN) {
            uint32_t next = m->txn[still_waiting].next;
            m->txn[still_waiting].next = line->waiters;
            line->waiters = still_waiting;
            still_waiting = next;
        }
        if (required_sectors(x) &
            (uint8_t)~line->valid) { /* the remainder arrives with another fill */
            x->next = line->waiters;
            line->waiters = i;
        } else {
            complete_access(m, i, now);
        }
        while (ready != PL_NO_TXN) {
            uint32_t next = m->txn[ready].next;
            complete_access(m, ready, now);
            ready = next;
        }
        return;
    }
    complete_access(m, i, now);
}
