/* crossbar.c - requests from SMs to slices of the L2, and replies back: ports of SMs and of GPCs,
 * distances, merging of reads by neighbouring SMs. */
#include "memmodel/memsys_parts.h"
#include <string.h>

pl_up_costs pl_up_costs_of(const pl_memsys_config *c)
{
    return (pl_up_costs){
        .header = pl_port_cost(c->header_bytes, c->up_bytes),
        .sector = pl_port_cost(c->sector_bytes, c->up_bytes),
        .partial = pl_port_cost(c->partial_packet, 1),
        .atomic = pl_port_cost(c->sector_bytes, c->up_atomic_bytes),
        .line = pl_port_cost(c->line_bytes, c->up_atomic_bytes),
        .packet = {pl_port_cost(c->atomic_packet, 1), pl_port_cost(c->reduce_packet, 1)},
        .bank_spread =
            pl_port_cost(c->atomic_bank_packet > 0 ? c->atomic_bank_packet : c->atomic_packet, 1),
        .sector_bytes = c->sector_bytes};
}

/* Slices are at different distances from a group of SMs: cycles beyond those of the nearest slice.
 * The slices of a half form a ring. Slices adjacent in number are not adjacent in location.
 * Computed without a division for each group and slice, because each launch does it. */
static void compute_distances(pl_memsys *m)
{
    enum { STEP = 101 }; /* positions from a slice to the next */
    const uint32_t n = m->slices_per_half, step = STEP % n;
    uint16_t *distance = m->distance;
    for (uint32_t position = 0; position < n; position++) /* of group 0, whose position is 0 */
        m->distance_at[position] = (uint16_t)((position < n - position ? position : n - position) *
                                              2 * m->c->slice_distance / n);
    for (uint32_t g = 0; g < m->c->groups; g++) {
        uint32_t position = g * n / m->c->groups;
        for (uint32_t s = 0; s < n; s++) {
            *distance++ = m->distance_at[position];
            position += step;
            if (position >= n) position -= n;
        }
    }
}

/* Precomputes the per-node values that every request needs. A node accesses memory through one
 * half. Blocks are assigned to groups sequentially, and the blocks of small grids are in both
 * halves (lts__t_sectors_op_red.sum of bloom_filter and sssp_relax, 36 and 32 blocks: half of the
 * reductions cross). */
void pl_crossbar_init_nodes(pl_memsys *m, pl_arena *a)
{
    const pl_memsys_config *c = m->c;
    m->slices_per_half = c->slices / c->partitions;
    m->slices_per_piece = pl_slices_per_piece(m->slices_per_half);
    m->by_pairs = pl_divider_of(m->slices_per_half / m->slices_per_piece);
    m->by_owner = pl_divider_of(c->owner_bytes);
    while ((1u << m->line_shift) < c->line_bytes) m->line_shift++;
    m->node = pl_arena_alloc(a, c->nodes * sizeof *m->node);
    m->distance = pl_arena_array(a, uint16_t, (size_t)c->groups * m->slices_per_half);
    m->distance_at = pl_arena_array(a, uint16_t, m->slices_per_half);
    if (!pl_arena_ok(a)) return;
    for (uint32_t n = 0; n < c->nodes; n++) {
        m->node[n].group = (uint16_t)(n * c->groups / c->nodes);
        m->node[n].side = (uint16_t)(m->node[n].group % c->partitions);
        m->node[n].coalescer = (uint16_t)(n * c->coalescers / c->nodes);
    }
    compute_distances(m);
}

/* --- merging of reads ---
 *
 * A coalescer is located between the SMs of a GPC and the L2. A read of sectors that another SM of
 * the set has already requested, and not yet received, does not go to the L2. The reply goes to
 * both, and to four at most. (join.tsv: 132 SMs that read the same lines at the same time make 34.7
 * reads of each: four in six GPCs of 16 SMs, five in two of 18.) A read of other sectors of the
 * line ends the merging: no later read merges with the first one (stencil2d, whose reads overlap:
 * none is merged). */

static uint32_t read_hash(const pl_memsys *m, const pl_mem_req *r)
{
    return (uint32_t)(((r->line >> m->line_shift) + pl_coalescer_of(m, r->node) * 0x51EDull) *
                          0x9E3779B97F4A7C15ull >>
                      32);
}

/* Doubles the table. Entries with equal hashes keep their order: rehashing starts after a free
 * entry and wraps around. */
static bool grow_read_table(pl_memsys *m)
{
    const uint32_t old_mask = m->reads_mask;
    const pl_read_entry *old = m->reads;
    pl_read_entry *reads = m->reads_shift > 1
                               ? pl_arena_array(m->arena, pl_read_entry, 2 * ((size_t)old_mask + 1))
                               : NULL;
    if (!reads || !pl_arena_ok(m->arena)) return false;
    uint32_t first = 0;
    while (old[first].txn) first++;
    m->reads = reads;
    m->reads_shift--;
    m->reads_mask = 2 * old_mask + 1;
    for (uint32_t k = 1; k <= old_mask; k++) {
        const pl_read_entry *u = &old[(first + k) & old_mask];
        if (!u->txn) continue;
        uint32_t at = u->hash >> m->reads_shift;
        while (reads[at].txn) at = (at + 1) & m->reads_mask;
        reads[at] = *u;
    }
    return true;
}

/* Merges read i with a read in flight and returns true; otherwise lists it for later reads, unless
 * it is not mergeable. */
static bool merge_read(pl_memsys *m, uint32_t i, uint32_t hash)
{
    pl_l2_txn *x = &m->txn[i];
    const uint32_t max_sharers = x->r.preloaded ? m->c->max_code_merged : m->c->max_merged;
    bool unmergeable = false;
    uint32_t at = hash >> m->reads_shift;
    for (; m->reads[at].txn; at = (at + 1) & m->reads_mask) {
        if (m->reads[at].hash != hash) continue;
        pl_l2_txn *y = &m->txn[m->reads[at].txn - 1];
        if (y->r.line != x->r.line ||
            pl_coalescer_of(m, y->r.node) != pl_coalescer_of(m, x->r.node))
            continue;
        if (x->r.sectors != y->r.sectors) y->not_mergeable = true;
        unmergeable |= y->not_mergeable;
        if (y->not_mergeable || y->sharers == max_sharers) continue;
        y->sharers++;
        x->next = y->merged;
        y->merged = i;
        return true;
    }
    if (unmergeable) return false;
    x->in_read_table = true;
    m->reads[at] = (pl_read_entry){hash, i + 1};
    if (++m->nreads > m->reads_mask / 2 && !grow_read_table(m)) m->overflow = true;
    return false;
}

/* Removes read i and closes the gap: later entries move up as far as their probe sequences allow.
 */
static void remove_from_read_table(pl_memsys *m, uint32_t i)
{
    uint32_t mask = m->reads_mask, gap = read_hash(m, &m->txn[i].r) >> m->reads_shift;
    if (!m->txn[i].in_read_table) return;
    while (m->reads[gap].txn != i + 1) gap = (gap + 1) & mask;
    for (uint32_t at = (gap + 1) & mask; m->reads[at].txn; at = (at + 1) & mask) {
        uint32_t first = m->reads[at].hash >> m->reads_shift;
        if (((at - first) & mask) < ((at - gap) & mask)) continue;
        m->reads[gap] = m->reads[at];
        gap = at;
    }
    m->reads[gap].txn = 0;
    m->nreads--;
}

/* Sends the reply of transaction i, whose data leave the port of its group at `at`, and frees the
 * transaction. */
static void send_reply(pl_memsys *m, uint32_t i, uint64_t at, uint8_t level)
{
    pl_l2_txn *x = &m->txn[i];
    const pl_mem_req *r = &x->r;
    if (r->silent) {
        pl_l2_txn_free(m, i);
        return;
    }
    uint32_t data = r->op == PL_MEM_READ     ? pl_sector_count(r->sectors)
                    : r->op == PL_MEM_ATOMIC ? 1u
                                             : 0;
    uint32_t sector = r->client == PL_CL_L1 ? m->l1_sector : m->down_sector;
    at = pl_port_pass_later(&m->down[r->node], m->now, at, (uint64_t)sector * data);
    pl_mem_reply out = {
        .time = at,
        .order = m->order++,
        .line = r->line,
        .token = r->token,
        .client = r->client,
        .sectors = r->sectors,
        .level = level,
        .operands = r->op == PL_MEM_REDUCE || r->op == PL_MEM_ATOMIC ? r->max_same_address : 0,
        .far = m->c->partitions > 1 && pl_side_of(m, r->node) != pl_owner_of(m, r->line)};
    pl_reply_add(m, &m->reply[r->node], out);
    pl_l2_txn_free(m, i);
}

void pl_crossbar_reply(pl_memsys *m, uint32_t i, uint64_t at)
{
    pl_l2_txn *x = &m->txn[i];
    const pl_mem_req *r = &x->r;
    uint32_t data = r->op == PL_MEM_READ     ? pl_sector_count(r->sectors)
                    : r->op == PL_MEM_ATOMIC ? 1u
                                             : 0;
    uint32_t follower = r->op == PL_MEM_READ ? x->merged : PL_NO_TXN;
    uint8_t level = x->level;
    if (!r->silent)
        at = pl_port_pass_later(&m->group_down[m->node[r->node].group], m->now, at,
                                (uint64_t)m->group_sector * data);
    if (r->op == PL_MEM_READ) remove_from_read_table(m, i);
    send_reply(m, i, at, level);
    while (follower != PL_NO_TXN) {
        uint32_t next = m->txn[follower].next;
        send_reply(m, follower, at, level);
        follower = next;
    }
}

void pl_memsys_send(pl_memsys *m, pl_mem_outbox *box)
{
    enum { PREFETCH_AHEAD = 4 };
    for (uint32_t k = 0; k < box->n; k++) {
        if (k + PREFETCH_AHEAD < box->n)
            __builtin_prefetch(
                &m->reads[read_hash(m, &box->at[k + PREFETCH_AHEAD]) >> m->reads_shift]);
        const uint32_t i = pl_l2_txn_new(m);
        if (i == PL_NO_TXN) {
            m->overflow = true;
            break;
        }
        pl_l2_txn *x = &m->txn[i];
        x->r = box->at[k];
        x->stage = PL_TXN_AT_SLICE;
        const uint32_t side = pl_side_of(m, x->r.node), slice = pl_slice_of(m, x->r.line, side);
        x->slice = (uint16_t)slice;
        x->set = pl_cache_set(&m->l2[slice], x->r.line);
        x->level = PL_LV_L2;
        x->at_owner = false;
        x->merged = PL_NO_TXN;
        x->in_read_table = x->not_mergeable = false;
        x->sharers = 1;
        uint32_t cost = pl_up_cost(&m->up_costs, &x->r);
        uint64_t at =
            pl_port_pass_later(&m->up[x->r.node], m->horizon < x->r.time ? m->horizon : x->r.time,
                               x->r.time, cost) +
            m->distance[m->node[x->r.node].group * m->slices_per_half + slice -
                        side * m->slices_per_half];
        if (x->r.op == PL_MEM_READ && !x->r.owner_only && merge_read(m, i, read_hash(m, &x->r)))
            continue;
        pl_cache_prefetch_set(&m->l2[slice], x->set);
        pl_wheel_schedule(m, i, at);
    }
    box->n = 0;
}
