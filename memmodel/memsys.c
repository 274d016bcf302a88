/* memsys.c - crossbar, L2 slices and memory partitions as one event-driven system; see memsys.h.
 *
 * A request is a transaction that moves through stages. Transactions are held in a timing wheel. A
 * stage takes a transaction from the list of its cycle, passes it through ports (which return the
 * cycle at which it leaves), and schedules it for the cycle of its next stage. A transaction that
 * waits for a fill is queued at its cache line instead. */
#include "memmodel/memsys_parts.h"
#include <string.h>

pl_memsys *pl_memsys_open(pl_arena *a, pl_arena *tags, pl_arena *sparse, const pl_memsys_config *c)
{
    pl_memsys *m = pl_arena_new(a, pl_memsys);
    if (!m) return NULL;
    m->c = c;
    m->nrec = c->in_flight;
    m->rec = pl_arena_array(sparse, pl_l2_txn, m->nrec);
    m->arena = a;
    m->reads_shift = 32 - PL_FIRST_READS;
    m->reads_mask = (1u << PL_FIRST_READS) - 1;
    m->reads = pl_arena_array(a, pl_read_entry, (size_t)m->reads_mask + 1);
    m->l2 = pl_arena_array(a, pl_cache, c->slices);
    m->slice = pl_arena_array(a, pl_port, c->slices);
    m->atomic = pl_arena_array(a, pl_atomic_unit, c->slices);
    if (c->written)
        m->written = pl_arena_array(a, pl_written_line, (size_t)c->slices * PL_RECENT_WRITES);
    m->up = pl_arena_array(a, pl_port, c->nodes);
    m->down = pl_arena_array(a, pl_port, c->nodes);
    m->group_down = pl_arena_array(a, pl_port, c->groups);
    m->reply = pl_arena_alloc_aligned(a, sizeof *m->reply * c->nodes, _Alignof(pl_replies));
    if (!pl_arena_ok(a)) return NULL;
    pl_crossbar_place_nodes(m, a);
    if (!pl_arena_ok(a)) return NULL;
    m->free = PL_NO_TXN;
    for (unsigned i = 0; i < PL_WHEEL; i++) m->head[i] = PL_NO_TXN;
    m->beyond = PL_NO_TXN;
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

/* --- replies --- */

static bool earlier(const pl_mem_reply *a, const pl_mem_reply *b)
{
    return a->time != b->time ? a->time < b->time : a->order < b->order;
}

void pl_reply_add(pl_memsys *m, pl_replies *h, pl_mem_reply r)
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
        pl_replies *h = &m->reply[n];
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

static void take_landed(pl_replies *h)
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
    const pl_replies *h = &m->reply[node];
    return h->first_due < h->first_landed ? h->first_due : h->first_landed;
}

bool pl_memsys_reply(pl_memsys *m, uint32_t node, uint64_t now, pl_mem_reply *out)
{
    pl_replies *h = &m->reply[node];
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

void pl_memsys_watch(pl_memsys *m, const pl_sink *sink)
{
    m->sink = m->dram.sink = sink && sink->unit ? sink : NULL;
}

void pl_memsys_set_tlb(pl_memsys *m, pl_tlb *tlb)
{
    m->tlb = m->c->page_walk ? tlb : NULL;
}

void pl_memsys_set_host(pl_memsys *m, const pl_mem_range *range, size_t n)
{
    m->host = range;
    m->nhost = m->c->link_read > 0 && m->c->link_write > 0 ? n : 0;
    m->link[0].latency = m->c->link_latency;
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

/* A request at cycle `at` without a translation is rescheduled for when the translation is ready.
 * Code and constants are always translated, and nothing waits for a store. */
static bool waits_for_translation(pl_memsys *m, uint32_t i, uint64_t at)
{
    const pl_mem_req *r = &m->rec[i].r;
    uint64_t goes_on = at;
    if (r->client == PL_CL_CODE || r->client == PL_CL_CONST || r->held) return false;
    if (!pl_tlb_translate(m->tlb, r->line / m->c->page_bytes, at, m->c->page_walk, &goes_on))
        m->overflow = true;
    if (goes_on == at || r->op == PL_MEM_WRITE) return false;
    pl_wheel_schedule(m, i, goes_on);
    return true;
}

static bool is_of_host(const pl_memsys *m, uint64_t line)
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
static void pass_link(pl_memsys *m, uint32_t i, uint64_t at)
{
    pl_l2_txn *x = &m->rec[i];
    if (x->r.op >= PL_MEM_DEMOTE) {
        pl_l2_txn_free(m, i);
        return;
    }
    const bool writes = x->r.op == PL_MEM_WRITE;
    uint32_t bytes = pl_sector_count(x->r.sectors) * m->c->sector_bytes;
    if (!writes && bytes < m->c->link_least) bytes = m->c->link_least;
    const double rate = writes ? m->c->link_write : m->c->link_read;
    const uint64_t out = pl_port_pass(&m->link[writes], at, pl_port_cost(bytes, rate));
    x->level = PL_LV_DRAM;
    if (x->r.op != PL_MEM_READ && out > m->stat.last_effect) m->stat.last_effect = out;
    pl_crossbar_answer(m, i, out);
}

void pl_memsys_run_events(pl_memsys *m, uint64_t until)
{
    for (;;) {
        if (m->used == 0) {
            m->now = m->drawn = until;
            return;
        }
        if (m->now >= m->drawn + PL_WHEEL / 4) pl_wheel_refill(m);
        uint64_t at = pl_wheel_next(m);
        uint64_t stop = m->drawn + PL_WHEEL / 4;
        if (stop > until) stop = until;
        if (at >= stop) {
            m->now = stop;
            if (m->now >= until) return;
            continue;
        }
        m->now = at;
        unsigned bucket = (unsigned)(at % PL_WHEEL);
        while (m->head[bucket] != PL_NO_TXN) {
            uint32_t i = m->head[bucket];
            m->head[bucket] = m->rec[i].next;
            if (m->head[bucket] != PL_NO_TXN) __builtin_prefetch(&m->rec[m->head[bucket]], 1);
            switch (m->rec[i].stage) {
            case PL_TXN_AT_SLICE:
                if (m->tlb && waits_for_translation(m, i, at)) break;
                if (m->nhost && is_of_host(m, m->rec[i].r.line))
                    pass_link(m, i, at);
                else
                    pl_l2_access(m, i, at);
                break;
            case PL_TXN_AT_DRAM: pl_l2_fetch(m, i, at); break;
            default: pl_l2_fill(m, i, at); break;
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
