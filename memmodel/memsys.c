/* memsys.c - crossbar, L2 slices and memory partitions as one event-driven system; see memsys.h.
 *
 * A request is a transaction that moves through stages. Transactions are held in a timing wheel. A
 * stage takes a transaction from the list of its cycle, passes it through ports (which return the
 * cycle at which it leaves), and schedules it for the cycle of its next stage. A transaction that
 * waits for a fill is queued at its cache line instead. */
#include "memmodel/memsys_parts.h"
#include <string.h>

/* Ports and units, by slice, node and group. */
static bool allocate(pl_memsys *m, pl_arena *a, pl_arena *tags, pl_arena *sparse)
{
    const pl_memsys_config *c = m->c;
    m->txn = pl_arena_array(sparse, pl_l2_txn, m->ntxn);
    m->head = pl_arena_array(tags, uint32_t, PL_WHEEL);
    m->tail = pl_arena_array(tags, uint32_t, PL_WHEEL);
    m->reads_shift = 32 - PL_FIRST_READS;
    m->reads_mask = (1u << PL_FIRST_READS) - 1;
    m->reads = pl_arena_array(a, pl_read_entry, (size_t)m->reads_mask + 1);
    m->l2 = pl_arena_array(a, pl_cache, c->slices);
    m->slice = pl_arena_array(a, pl_port, c->slices);
    m->atomic = pl_arena_array(a, pl_atomic_unit, c->slices);
    if (c->write_read_delay)
        m->recent_writes =
            pl_arena_array(tags, pl_recent_write, (size_t)c->slices * PL_RECENT_WRITES);
    m->written = pl_arena_array(a, bool, c->slices);
    m->up = pl_arena_array(a, pl_port, c->nodes);
    m->down = pl_arena_array(a, pl_port, c->nodes);
    m->group_down = pl_arena_array(a, pl_port, c->groups);
    m->reply = pl_arena_alloc_aligned(tags, sizeof *m->reply * c->nodes, _Alignof(pl_replies));
    return pl_arena_ok(a) && pl_arena_ok(tags) && pl_arena_ok(sparse);
}

/* The caches of the slices. */
static void init_slices(pl_memsys *m, pl_arena *a, pl_arena *tags)
{
    const pl_memsys_config *c = m->c;
    pl_cache_init_all(m->l2, c->slices, a, tags, c->l2_bytes / c->slices, c->line_bytes, c->l2_ways,
                      true);
    if (c->dram.map == PL_MAP_INTERLEAVED)
        pl_cache_set_interleave(m->l2, c->dram.channels, PL_CHANNEL_BYTES / c->line_bytes);
    else
        pl_cache_set_slices(m->l2, c->slices / c->partitions);
    pl_cache_set_evict_last_quota(m->l2, (double)c->l2_persisting / (double)c->l2_bytes);
    pl_cache_copy_settings(m->l2, c->slices);
    for (uint32_t s = 0; s < c->slices; s++) m->slice[s].latency = c->l2_latency;
}

/* Replies that an SM may have at once. */
static uint32_t replies_of_node(const pl_memsys_config *c)
{
    enum { FURTHER_REPLIES = 64 }; /* besides its share of the transactions */
    return c->in_flight / c->nodes + FURTHER_REPLIES;
}

/* The ports and the replies of the SMs. */
static void init_nodes(pl_memsys *m, pl_arena *sparse)
{
    const pl_memsys_config *c = m->c;
    const uint32_t cap = replies_of_node(c);
    pl_mem_reply *at = pl_arena_array(sparse, pl_mem_reply, (size_t)3 * cap * c->nodes);
    for (uint32_t n = 0; at && n < c->nodes; n++, at += (size_t)3 * cap) {
        pl_replies *r = &m->reply[n];
        m->up[n].latency = c->xbar_latency;
        m->down[n].latency = 1;
        *r = (pl_replies){.heap = at,
                          .published = at + cap,
                          .pending = at + (size_t)2 * cap,
                          .cap = cap,
                          .first_in_heap = UINT64_MAX,
                          .first_published = UINT64_MAX,
                          .first_pending = UINT64_MAX};
    }
    for (uint32_t g = 0; g < c->groups; g++) m->group_down[g].latency = c->xbar_latency;
}

/* The occupations of ports, in units of a port. */
static void compute_costs(pl_memsys *m)
{
    const pl_memsys_config *c = m->c;
    m->up_costs = pl_up_costs_of(c);
    m->fill_cost = pl_port_cost(c->l2_fill, 1);
    m->atomic_word_cost = pl_port_cost(c->atomic_word_cost, 1);
    m->atomic_line_interval = pl_port_cost(c->atomic_line_interval, 1);
    m->down_sector = pl_port_cost(c->sector_bytes, c->down_bytes);
    m->l1_sector =
        c->l1_down_bytes > 0 ? pl_port_cost(c->sector_bytes, c->l1_down_bytes) : m->down_sector;
    m->group_sector = pl_port_cost(c->sector_bytes, c->group_down_bytes);
    m->request_cost = pl_port_cost(c->slice_request, 1);
    m->partial_cost = pl_port_cost(c->partial_write, 1);
    m->partial_next = pl_port_cost(c->partial_next, 1);
    m->write_cost = pl_port_cost(c->write, 1);
    m->cross_half_word = pl_port_cost(4, c->far_atomic_bytes);
    m->sector_cost = pl_port_cost(c->sector_bytes, c->slice_bytes);
    for (unsigned k = 0; k < PL_ALU_KINDS; k++) {
        m->atomic_sector[k] = pl_port_cost(c->atomic_sector[k], 1);
        m->atomic_op_cost[k] = pl_port_cost(c->atomic_op_cost[k], 1);
        m->atomic_address_interval[k] = pl_port_cost(c->atomic_address_interval[k], 1);
    }
}

pl_model_bytes pl_memsys_bytes(const pl_memsys_config *c)
{
    const pl_memsys *m = NULL; /* for sizes only */
    const uint64_t recent = c->write_read_delay ? PL_RECENT_WRITES * sizeof *m->recent_writes : 0,
                   tags = pl_cache_tag_bytes(c->l2_bytes / c->slices, c->line_bytes, c->l2_ways),
                   slice = sizeof *m->l2 + sizeof *m->slice + sizeof *m->atomic +
                           sizeof *m->written + recent + tags,
                   node = sizeof *m->up + sizeof *m->down + sizeof *m->reply + sizeof *m->node,
                   group = sizeof *m->group_down + c->slices * sizeof *m->distance,
                   ring = c->slices * sizeof *m->distance_at,
                   channel = sizeof *m->dram.channel + c->dram.banks * sizeof *m->dram.bank,
                   reads = sizeof *m->reads << PL_FIRST_READS,
                   wheel = PL_WHEEL * (sizeof *m->head + sizeof *m->tail),
                   replies = (uint64_t)3 * replies_of_node(c) * sizeof(pl_mem_reply);
    return (pl_model_bytes){.dense = sizeof *m + reads + wheel + ring + c->slices * slice +
                                     c->nodes * node + c->groups * group +
                                     c->dram.channels * channel,
                            .sparse = c->in_flight * sizeof *m->txn + c->nodes * replies};
}

pl_memsys *pl_memsys_open(pl_arena *a, pl_arena *tags, pl_arena *sparse, const pl_memsys_config *c)
{
    pl_memsys *m = pl_arena_new(a, pl_memsys);
    if (!m) return NULL;
    m->c = c;
    m->ntxn = c->in_flight;
    m->arena = a;
    if (!allocate(m, a, tags, sparse)) return NULL;
    pl_crossbar_init_nodes(m, a);
    if (!pl_arena_ok(a)) return NULL;
    m->free = PL_NO_TXN;
    m->overflow_list = m->first_fault = PL_NO_TXN;
    init_slices(m, a, tags);
    init_nodes(m, sparse);
    pl_dram_init(&m->dram, a, tags, &c->dram);
    compute_costs(m);
    return pl_arena_ok(a) && pl_arena_ok(tags) && pl_arena_ok(sparse) ? m : NULL;
}

/* --- replies --- */

static bool earlier(const pl_mem_reply *a, const pl_mem_reply *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void pl_reply_add(pl_memsys *m, pl_replies *h, pl_mem_reply r)
{
    if (h->npending == h->cap) {
        m->overflow = true;
        return;
    }
    if (r.time < h->first_pending) h->first_pending = r.time;
    h->pending[h->npending++] = r;
}

void pl_memsys_publish_replies(pl_memsys *m)
{
    for (uint32_t n = 0; n < m->c->nodes; n++) {
        pl_replies *h = &m->reply[n];
        h->waits_for_pages = h->faults > 0;
        if (h->npending == 0) continue;
        if (h->npending + h->npublished + h->nheap > h->cap) {
            m->overflow = true;
            return;
        }
        if (h->first_pending < h->first_published) h->first_published = h->first_pending;
        if (h->npublished == 0) {
            pl_mem_reply *empty = h->published;
            h->published = h->pending;
            h->pending = empty;
        } else {
            memcpy(h->published + h->npublished, h->pending, h->npending * sizeof *h->pending);
        }
        h->npublished += h->npending;
        h->npending = 0;
        h->first_pending = UINT64_MAX;
    }
}

static void move_published_to_heap(pl_replies *h)
{
    for (uint32_t k = 0; k < h->npublished; k++) {
        const pl_mem_reply *r = &h->published[k];
        uint32_t i = h->nheap++;
        while (i > 0 && earlier(r, &h->heap[(i - 1) / 2])) {
            h->heap[i] = h->heap[(i - 1) / 2];
            i = (i - 1) / 2;
        }
        h->heap[i] = *r;
    }
    h->npublished = 0;
    h->first_published = UINT64_MAX;
    h->first_in_heap = h->heap[0].time;
}

uint64_t pl_memsys_reply_time(const pl_memsys *m, uint32_t node)
{
    const pl_replies *h = &m->reply[node];
    return h->first_in_heap < h->first_published ? h->first_in_heap : h->first_published;
}

bool pl_memsys_waits_for_pages(const pl_memsys *m, uint32_t node)
{
    return m->reply[node].waits_for_pages;
}

bool pl_memsys_reply(pl_memsys *m, uint32_t node, uint64_t now, pl_mem_reply *out)
{
    pl_replies *h = &m->reply[node];
    if (h->npublished) move_published_to_heap(h);
    if (h->first_in_heap > now) return false;
    *out = h->heap[0];
    pl_mem_reply last = h->heap[--h->nheap];
    uint32_t i = 0;
    for (;;) {
        uint32_t child = 2 * i + 1;
        if (child >= h->nheap) break;
        if (child + 1 < h->nheap && earlier(&h->heap[child + 1], &h->heap[child])) child++;
        if (!earlier(&h->heap[child], &last)) break;
        h->heap[i] = h->heap[child];
        i = child;
    }
    if (h->nheap) h->heap[i] = last;
    h->first_in_heap = h->nheap ? h->heap[0].time : UINT64_MAX;
    return true;
}

void pl_memsys_watch(pl_memsys *m, const pl_sink *sink)
{
    m->sink = m->dram.sink = sink && sink->unit ? sink : NULL;
}

void pl_memsys_set_tlb(pl_memsys *m, pl_tlb *tlb)
{
    m->tlb = m->c->page_walk ? tlb : NULL;
}

void pl_memsys_set_page_faults(pl_memsys *m, pl_page_faults *faults)
{
    m->faults = faults && m->c->faults.batch ? faults : NULL;
    if (m->faults) pl_page_faults_begin(faults);
}

void pl_memsys_set_host(pl_memsys *m, const pl_mem_range *range, size_t n)
{
    m->host = range;
    m->nhost = m->c->link_read > 0 && m->c->link_write > 0 ? n : 0;
    m->link[0].latency = m->c->link_latency;
}

void pl_memsys_set_horizon(pl_memsys *m, uint64_t cycle)
{
    m->horizon = cycle;
}

void pl_memsys_run(pl_memsys *m, uint64_t until)
{
    pl_memsys_set_horizon(m, until > m->c->xbar_latency ? until - m->c->xbar_latency : 0);
    pl_memsys_run_events(m, until);
    pl_memsys_publish_replies(m);
}

/* A request at cycle `at` without a translation is rescheduled for when the translation is ready.
 * Code and constants are always translated, and nothing waits for a store. */
static bool waits_for_translation(pl_memsys *m, uint32_t i, uint64_t at)
{
    const pl_mem_req *r = &m->txn[i].r;
    uint64_t ready = at;
    if (r->client == PL_CL_CODE || r->client == PL_CL_CONST || r->preloaded) return false;
    if (!pl_tlb_translate(m->tlb, r->line / m->c->page_bytes, at, m->c->page_walk, &ready))
        m->overflow = true;
    if (ready == at || r->op == PL_MEM_WRITE) return false;
    pl_wheel_schedule(m, i, ready);
    return true;
}

/* A request for a page that is not on the GPU is kept until the driver has migrated it. Prefetches
 * do not fault. */
static bool waits_for_page(pl_memsys *m, uint32_t i, uint64_t at)
{
    const pl_mem_req *r = &m->txn[i].r;
    if (r->client == PL_CL_CODE || r->client == PL_CL_CONST || r->silent ||
        !pl_page_faults_access(m->faults, &m->c->faults, r->line, r->node, at))
        return false;
    m->txn[i].next = PL_NO_TXN;
    if (m->first_fault == PL_NO_TXN)
        m->first_fault = i;
    else
        m->txn[m->last_fault].next = i;
    m->last_fault = i;
    m->reply[r->node].faults++;
    return true;
}

/* The driver starts or ends a batch: then the requests for pages are repeated, in their order. */
static void step_page_faults(pl_memsys *m)
{
    if (!pl_page_faults_step(m->faults, &m->c->faults)) return;
    uint32_t i = m->first_fault;
    m->first_fault = PL_NO_TXN;
    while (i != PL_NO_TXN) {
        const uint32_t next = m->txn[i].next;
        m->reply[m->txn[i].r.node].faults--;
        pl_wheel_schedule(m, i, m->now);
        i = next;
    }
}

static bool is_host_memory(const pl_memsys *m, uint64_t line)
{
    size_t lo = 0, hi = m->nhost;
    while (lo < hi) {
        const size_t mid = (lo + hi) / 2;
        if (m->host[mid].address + m->host[mid].size <= line)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < m->nhost && line + m->c->line_bytes > m->host[lo].address;
}

/* A request for host memory crosses the link and bypasses the L2 (mapped.tsv: a repeated read takes
 * as long). Nothing waits for the transfer of a write. */
static void access_host_memory(pl_memsys *m, uint32_t i, uint64_t at)
{
    pl_l2_txn *x = &m->txn[i];
    if (x->r.op >= PL_MEM_DEMOTE) {
        pl_l2_txn_free(m, i);
        return;
    }
    const bool writes = x->r.op == PL_MEM_WRITE;
    uint32_t bytes = pl_sector_count(x->r.sectors) * m->c->sector_bytes;
    if (!writes && bytes < m->c->link_min_bytes) bytes = m->c->link_min_bytes;
    const double rate = writes ? m->c->link_write : m->c->link_read;
    const uint64_t out = pl_port_pass(&m->link[writes], at, pl_port_cost(bytes, rate));
    x->level = PL_LV_DRAM;
    if (x->r.op != PL_MEM_READ && out > m->stat.last_effect) m->stat.last_effect = out;
    pl_crossbar_reply(m, i, out);
}

/* Processes the events of cycle `at`, including those that are scheduled for it meanwhile. */
static void process_events(pl_memsys *m, uint64_t at)
{
    const unsigned bucket = (unsigned)(at % PL_WHEEL);
    uint64_t *busy = &m->busy[bucket / 64], bit = 1ull << (bucket % 64);
    while (*busy & bit) {
        uint32_t next = m->head[bucket];
        *busy &= ~bit;
        while (next != PL_NO_TXN) {
            const uint32_t i = next;
            next = m->txn[i].next;
            if (next != PL_NO_TXN) __builtin_prefetch(&m->txn[next], 1);
            switch (m->txn[i].stage) {
            case PL_TXN_AT_SLICE:
                if (m->faults && waits_for_page(m, i, at)) break;
                if (m->tlb && waits_for_translation(m, i, at)) break;
                if (m->nhost && is_host_memory(m, m->txn[i].r.line))
                    access_host_memory(m, i, at);
                else
                    pl_l2_access(m, i, at);
                break;
            case PL_TXN_AT_DRAM: pl_l2_fetch(m, i, at); break;
            default: pl_l2_fill(m, i, at); break;
            }
        }
    }
}

void pl_memsys_run_events(pl_memsys *m, uint64_t until)
{
    for (;;) {
        if (m->used == 0) {
            m->now = m->last_refill = until;
            return;
        }
        if (m->now >= m->last_refill + PL_WHEEL / 4) pl_wheel_refill(m);
        uint64_t at = pl_wheel_next(m);
        const uint64_t step = m->faults ? pl_page_faults_next(m->faults) : UINT64_MAX;
        if (step < at) at = step;
        uint64_t stop = m->last_refill + PL_WHEEL / 4;
        if (stop > until) stop = until;
        if (at >= stop) {
            m->now = stop;
            if (m->now >= until) return;
            continue;
        }
        m->now = at;
        if (at == step) step_page_faults(m);
        process_events(m, at);
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
