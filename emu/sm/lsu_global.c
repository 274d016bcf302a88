/* lsu_global.c - accesses to global and local memory: lines and sectors, L1 tags, requests to the
 * L2; stores go through the store buffer, atomics to the L2. */
#include "emu/sm/units.h"

/* Local memory is laid out so that lanes with the same offset share lines: word w of lane l is at w
 * * 128 + l * 4. Each warp slot of the GPU has its own area; these are consecutive. */
static void local_lines(pl_sm *s, const pl_sm_warp *t)
{
    const uint64_t warp = (uint64_t)s->id * PL_SM_WARPS + pl_warp_index(s, t),
                   words = s->g->stack_limit / 4 + 1;
    uint64_t base = PL_LOCAL_BASE + (warp * t->w->halves + t->w->half) * words * PL_LANES * 4,
             addr[PL_LANES];
    const pl_memory_effect *fx = &s->fx;
    pl_lines part;
    s->lines.n = s->lines.sectors = 0;
    for (uint32_t word = 0; word == 0 || word * 4 < fx->size; word++) {
        for (uint32_t m = fx->mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            addr[l] = base + (fx->addr[l] / 4 + word) % words * 128 + l * 4;
        }
        pl_coalesce(&part, fx->mask, addr, 4, (uint32_t)s->m->l1.line, (uint32_t)s->m->l1.sector);
        for (uint32_t k = 0; k < part.n && s->lines.n < PL_COALESCE_LINES; k++) {
            uint32_t lanes = 0;
            for (uint32_t m = fx->kind == PL_AC_STORE ? fx->mask : 0; m; m &= m - 1) {
                unsigned l = (unsigned)__builtin_ctz(m);
                if (addr[l] - part.at[k].line < s->m->l1.line) lanes |= 1u << l;
            }
            s->lanes_of[s->lines.n] = lanes;
            s->lines.at[s->lines.n++] = part.at[k];
        }
        s->lines.sectors += part.sectors;
    }
}

/* The L1 only transfers whole lines. */
static void whole_lines(pl_sm *s)
{
    uint32_t sectors = (uint32_t)(s->m->l1.line / s->m->l1.sector);
    for (uint32_t k = 0; k < s->lines.n; k++) s->lines.at[k].mask = (uint8_t)((1u << sectors) - 1);
    s->lines.sectors = s->lines.n * sectors;
}

static uint32_t payload_words(const pl_sm *s, const pl_decoded_insn *d, uint32_t k)
{
    bool atomic = s->fx.kind == PL_AC_ATOMIC || s->fx.kind == PL_AC_REDUCTION;
    uint32_t lanes = atomic ? s->lines.at[k].words : s->lines.at[k].lanes;
    /* Compare-and-swap has two operands. */
    uint32_t size = atomic && d->alu == PL_ALU_WIDE && s->fx.size < 8 ? 8 : s->fx.size;
    uint32_t words = (lanes * size + 3) / 4,
             most = (uint32_t)s->m->l1.line / 4 * (size > s->fx.size ? 2 : 1);
    return words > most ? most : words;
}

/* Operations of an atomic on a line beyond the first of each pass, in units of 4 bytes. */
static uint8_t extra_words(const pl_sm *s, uint32_t k)
{
    return (uint8_t)((uint32_t)(s->lines.at[k].lanes - s->lines.at[k].sector_ops) * s->fx.size / 4);
}

/* Instructions that only affect lines of the L2; nothing waits for them. A prefetch fetches a whole
 * line into the half that owns it, and nothing into the L1 (policy.tsv.xz: prefetch.L1 and
 * prefetchu.L1 behave like prefetch.L2). */
void pl_lsu_cache_control(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq)
{
    static const uint8_t op[] = {[PL_UP_PREFETCH] = PL_MEM_READ,
                                 [PL_UP_DEMOTE] = PL_MEM_DEMOTE,
                                 [PL_UP_DISCARD] = PL_MEM_DISCARD};
    const pl_l1_config *m = &s->m->l1;
    pl_coalesce(&s->lines, s->fx.mask, s->fx.addr, 1, (uint32_t)m->line, (uint32_t)m->sector);
    const uint64_t start =
        pl_port_enter(&s->unit[PL_UNIT_LSU].port, now, pl_lsu_cost(s, pl_lsu_tag_cycles(s)));
    pl_lg_queue_push(s, c, start);
    pl_lsu_read_registers(s, t, d, start, PL_SB_LONG);
    for (uint32_t k = 0; k < s->lines.n; k++)
        pl_sm_request(s, (pl_mem_req){.time = start + m->miss + k / m->tags,
                                      .line = s->lines.at[k].line,
                                      .op = op[d->cache_op],
                                      .client = PL_CL_STORE,
                                      .sectors = (uint8_t)((1u << m->line / m->sector) - 1),
                                      .rank = d->rank[1],
                                      .owner_only = true,
                                      .silent = true});
    pl_lsu_emit(
        s, t, pc, now, seq,
        (pl_access_event){.wavefronts = s->lines.n, .level = PL_LV_L2, .token = PL_NO_TOKEN});
}

/* The cycle at which an access that arrives at `now` finds a slot in the input of the L1. It leaves
 * the slot at its tag lookup: then its registers are read, and its slot in the queue of its
 * sub-core is free. */
static uint64_t input_slot_cycle(const pl_sm *s, uint64_t now)
{
    uint64_t left = s->lsu_input[s->lsu_input_at % s->m->l1.lsu_queue];
    return left > now ? left : now;
}

/* An access in progress in the unit. */
typedef struct global_access {
    pl_sm *s;
    pl_subcore *c;
    pl_sm_warp *t;
    const pl_decoded_insn *d;
    const pl_lsu_entry *queued; /* its queue entry; NULL: the warp issues it now */
    uint64_t now, seq, issued;
    uint64_t start, ready; /* cycle of the tag lookup; cycle at which the data are available */
    uint64_t hits;         /* sectors; the hardware counts sectors in flight as hits */
    pl_l1_policy policy;
    pl_mem_rank rank;
    uint32_t pc;
    uint32_t sectors; /* atomics: one per pass; the number of passes is given by the busiest address
                         of the sector */
    uint32_t bytes;   /* bytes requested by the lanes */
    uint32_t tags, passes, cycles; /* cycles of the tags; of the banks; the maximum of both */
    uint32_t slot;                 /* entry in flight, PL_NO_TOKEN: no reply is expected */
    uint32_t fills;                /* number of fills that it waits for */
    bool local, atomic, store, load;
    bool returns_value; /* the L2 returns a value: an atomic */
    bool to_shared;     /* a copy into shared memory that does not allocate in the L1 */
    bool invalidate;    /* a load that bypasses the L1, whose sectors are invalidated */
    bool pending;       /* data are fetched from the L2 */
    uint32_t mshr[PL_COALESCE_LINES]; /* per line: MSHR, and requested sectors */
    uint8_t miss_sectors[PL_COALESCE_LINES];
} global_access;

/* Coalesces the lanes' addresses into lines and sectors. */
static inline void coalesce_access(global_access *x)
{
    pl_sm *s = x->s;
    const pl_l1_config *m = &s->m->l1;
    const pl_memory_effect *fx = &s->fx;
    if (x->local)
        local_lines(s, x->t);
    else if (x->atomic)
        pl_coalesce_atomic(&s->lines, fx->mask, fx->addr, fx->size, (uint32_t)m->line,
                           (uint32_t)m->sector);
    else
        pl_coalesce(&s->lines, fx->mask, fx->addr, fx->size, (uint32_t)m->line,
                    (uint32_t)m->sector);
    /* Integer additions of a whole warp to one address that is the same for all lanes. The
     * assembler lets one lane add the sum (vote, population count, one atomic; seen in machine code
     * for sm_70 to sm_120). */
    if (x->atomic && x->d->uniform && s->lines.unique == 1)
        s->lines.at[0].max_same_address = s->lines.at[0].sector_ops = 1;
}

/* Selects its effect on the tags of the L1. */
static inline void choose_policy(global_access *x)
{
    const pl_l1_config *m = &x->s->m->l1;
    const pl_decoded_insn *d = x->d;
    const bool bypass = x->s->fx.bypass_l1 || d->bypasses_l1,
               cached = d->texture || (d->read_only && m->read_only),
               none = x->load && !x->local && m->global == PL_L1_BYPASS && !cached;
    x->invalidate = bypass && !none;
    x->policy = bypass || none ? PL_L1_TAG_BYPASS : (pl_l1_policy)d->l1_policy;
    x->rank = x->local ? PL_RANK_NORMAL : (pl_mem_rank)d->rank[0];
    if (x->load && !x->local && m->global == PL_L1_LINES && x->policy != PL_L1_TAG_BYPASS)
        whole_lines(x->s);
}

/* Counts the passes through the banks, which are those of shared memory. */
static inline void count_passes(global_access *x)
{
    pl_sm *s = x->s;
    const pl_memory_effect *fx = &s->fx;
    const pl_lines *lines = &s->lines;
    uint32_t extra;
    x->sectors = lines->sectors;
    for (uint32_t k = 0; x->atomic && k < lines->n; k++)
        x->sectors += lines->at[k].sector_ops - pl_sector_count(lines->at[k].mask);
    x->bytes = pl_count_lanes(fx->mask) * fx->size;
    x->passes = (x->bytes + s->m->l1.width - 1) / s->m->l1.width;
    x->tags = pl_lsu_tag_cycles(s);
    /* The texture units have separate banks. */
    if (x->d->texture)
        x->passes = 1;
    else if (!x->local && !x->atomic)
        x->passes = pl_bank_passes(fx->mask, fx->addr, fx->size, &s->banks, !x->store, &extra);
    else if (x->atomic && x->passes < lines->n)
        x->passes = lines->n; /* words of local memory are in the bank of their lane */
    /* It reaches shared memory through the L1. */
    if (x->d->kind == PL_KIND_COPY && !x->d->bypasses_l1) s->stat.exchanges += x->passes;
    /* The requests below are per line, as for loads; the number of sectors is independent of
     * that. */
    if (x->to_shared) x->sectors = fx->slots;
}

/* A load looks up its sectors; missing sectors allocate MSHRs. */
static inline void lookup_l1(global_access *x)
{
    pl_sm *s = x->s;
    const pl_lines *lines = &s->lines;
    uint32_t missing_lines = 0;
    x->slot = x->queued ? x->queued->token
                        : pl_lsu_inflight_new(s, x->t, x->pc, x->now, x->seq, PL_SB_LONG);
    for (uint32_t k = 0; k < lines->n; k++) {
        if (x->invalidate) pl_l1_invalidate_sectors(&s->l1, lines->at[k].line, lines->at[k].mask);
        x->fills += pl_l1_load(&s->l1, lines->at[k].line, lines->at[k].mask, x->slot, x->policy,
                               x->rank, &x->mshr[k], &x->miss_sectors[k]);
        missing_lines += x->miss_sectors[k] != 0;
    }
    x->pending = x->fills > 0;
    /* misses are written as they arrive, two at a time unless their banks conflict
     * (l1tex__data_pipe_lsu_wavefronts.sum of gather_idx: 16 for 33 sectors; of
     * transpose_naive_col: 32 for 32 sectors of one bank) */
    if (x->passes < (missing_lines + 1) / 2) x->passes = (missing_lines + 1) / 2;
}

/* The access passes the address unit, the banks and the link. A load that misses passes the banks
 * when its data have arrived. */
static inline void pass_banks(global_access *x)
{
    pl_sm *s = x->s;
    const pl_l1_config *m = &s->m->l1;
    const pl_shared_config *banks = &s->m->shared;
    x->cycles = x->passes > x->tags ? x->passes : x->tags;
    x->start = pl_port_enter(&s->unit[PL_UNIT_LSU].port, x->now,
                             pl_lsu_cost(s, x->store ? x->cycles : x->tags));
    pl_lsu_replay(s, x->c, x->cycles, x->now);
    if (x->pending) return;
    const uint64_t store_cycles = x->store ? (uint64_t)(m->store_pass * PL_SUBCYCLES) : 0;
    const uint64_t data = pl_port_enter(
        &s->data, x->start, (uint64_t)x->passes * banks->pass * PL_SUBCYCLES + store_cycles);
    /* stores wait before the banks, where they do not delay other accesses */
    if (data > x->start && !x->store) x->start = data;
    const uint64_t link = pl_port_enter(&x->c->link, x->start,
                                        (uint64_t)pl_lsu_link_passes(&s->fx, x->passes) *
                                            banks->link_pass * PL_SUBCYCLES);
    if (link > x->start) x->start = link;
}

/* The access leaves its queue and the input of the L1. */
static inline void leave_queue(global_access *x)
{
    pl_sm *s = x->s;
    if (!x->queued) {
        const uint64_t in = input_slot_cycle(s, x->now);
        pl_lg_queue_push(s, x->c, in);
        pl_lsu_read_registers(s, x->t, x->d, in, PL_SB_LONG);
    }
    s->lsu_input[s->lsu_input_at++ % s->m->l1.lsu_queue] = x->start;
}

/* A request to the L2 for line k of a store, a reduction or an atomic. */
static inline pl_mem_req request_of(const global_access *x, uint32_t k)
{
    const pl_coalesced_line *line = &x->s->lines.at[k];
    pl_mem_req r = {.line = line->line,
                    .token = PL_NO_TOKEN,
                    .client = PL_CL_STORE,
                    .sectors = line->mask,
                    .bytes = (uint8_t)payload_words(x->s, x->d, k),
                    .alu = x->d->alu,
                    .sector_ops = line->sector_ops,
                    .max_same_address = line->max_same_address,
                    .rank = pl_lsu_l2_rank(x->d, &x->s->fx, line->line)};
    if (x->atomic) {
        r.extra_words = extra_words(x->s, k);
        r.word_mask = line->word_mask;
    }
    return r;
}

/* Counts a request in transit, and the cycle at which the warp's stores have left the SM. */
static inline void count_sent(global_access *x, const pl_mem_req *r)
{
    pl_sm *s = x->s;
    s->requests_out++;
    x->t->last_request = ++s->requests;
    x->t->stores_sent_at = pl_port_pass(&s->store_port, x->start, pl_up_cost(&s->xbar_cost, r));
}

/* Sends a store to the store buffer. Loads hit sectors that a store has written, even if it wrote
 * only a part; a load of other bytes of the sector is not distinguished.
 * (l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit of nussinov_wavefront, distance_columns:
 * all but those read first.) */
static inline void send_stores(global_access *x)
{
    pl_sm *s = x->s;
    const pl_l1_config *m = &s->m->l1;
    const bool allocates = x->local || m->allocate == PL_L1_ALL;
    const uint32_t entries =
        !x->local && s->fx.size < 4 && m->store_buffer_partial ? m->store_buffer_partial : 1;
    for (uint32_t k = 0; k < s->lines.n; k++) {
        const uint32_t lanes = x->local ? s->lanes_of[k] : 0;
        pl_mem_req r = request_of(x, k);
        r.op = PL_MEM_WRITE;
        r.time = x->start + (x->local ? m->local_hold : m->store_buffer_hold) + k;
        if (m->allocate == PL_L1_EVICT && !x->local)
            pl_l1_invalidate_sectors(&s->l1, r.line, UINT8_MAX);
        if (pl_l1_store(&s->l1, r.line, r.sectors,
                        allocates ? (pl_l1_policy)x->d->l1_policy : PL_L1_TAG_BYPASS, x->rank))
            *(x->local ? &s->stat.local_store_hits : &s->stat.store_hits) +=
                pl_sector_count(r.sectors);
        if (pl_store_buffer_merge(s, &r, x->start, lanes)) continue;
        count_sent(x, &r);
        /* others can be merged with it while it waits for the port to the L2 */
        if (x->local && r.time < x->t->stores_sent_at) r.time = x->t->stores_sent_at;
        pl_store_buffer_insert(s, &r, lanes, entries);
    }
}

static inline void send_reductions(global_access *x)
{
    pl_sm *s = x->s;
    for (uint32_t k = 0; k < s->lines.n; k++) {
        pl_mem_req r = request_of(x, k);
        r.op = PL_MEM_REDUCE;
        r.time = x->start + (x->local ? s->m->l1.local_hold : s->m->l1.miss) + k;
        pl_l1_invalidate_sectors(&s->l1, r.line, r.sectors);
        pl_l1_store(&s->l1, r.line, r.sectors,
                    x->local ? (pl_l1_policy)x->d->l1_policy : PL_L1_TAG_BYPASS, x->rank);
        pl_sm_request(s, r);
        count_sent(x, &r);
        s->operands_out += r.max_same_address - 1u;
    }
    s->stat.l1_write_sectors += x->sectors;
}

static inline void send_atomics(global_access *x)
{
    pl_sm *s = x->s;
    const pl_memory_effect *fx = &s->fx;
    const uint32_t n = s->lines.n;
    uint32_t extra;
    x->slot = x->queued ? x->queued->token
                        : pl_lsu_inflight_new(s, x->t, x->pc, x->now, x->seq, PL_SB_LONG);
    s->inflight.at[x->slot].remaining = n;
    const bool spread_banks =
        n > 1 && 2 * pl_bank_passes(fx->mask, fx->addr, fx->size, &s->banks, true, &extra) <= n;
    for (uint32_t k = 0; k < n; k++) {
        pl_mem_req r = request_of(x, k);
        r.op = PL_MEM_ATOMIC;
        r.client = PL_CL_ATOMIC;
        r.token = x->slot;
        r.time = x->start + s->m->l1.miss + k;
        r.bank_spread = spread_banks;
        pl_l1_invalidate_sectors(&s->l1, r.line, r.sectors);
        pl_sm_request(s, r);
        s->requests_out++;
        s->operands_out += r.max_same_address - 1u;
        s->requests++;
    }
    s->stat.l1_write_sectors += x->sectors;
    s->stat.l1_read_sectors += x->sectors;
    x->pending = true;
    if (!x->queued) pl_scoreboard_result_later(x->t, x->d, &s->inflight.at[x->slot]);
}

/* Requests the sectors that a load misses; its scoreboard records the cycle of its data, or waits
 * for them. */
static inline void send_misses(global_access *x)
{
    pl_sm *s = x->s;
    const pl_l1_config *m = &s->m->l1;
    pl_inflight *k = &s->inflight.at[x->slot];
    for (uint32_t l = 0; l < s->lines.n; l++) {
        if (!x->miss_sectors[l]) continue;
        pl_mem_req r = {.time = x->start + m->miss + l / m->tags,
                        .line = s->lines.at[l].line,
                        .token = x->mshr[l],
                        .op = PL_MEM_READ,
                        .client = PL_CL_L1,
                        .sectors = x->miss_sectors[l],
                        .rank = pl_lsu_l2_rank(x->d, &s->fx, s->lines.at[l].line),
                        .prefetch_sectors = x->d->prefetch_sectors};
        pl_sm_request(s, r);
        s->stat.l1_read_sectors += x->to_shared ? 0 : pl_sector_count(x->miss_sectors[l]);
    }
    s->stat.l1_read_sectors += x->to_shared ? s->fx.moved_sectors : 0;
    if (x->d->kind == PL_KIND_COPY) {
        if (!x->queued) pl_lsu_start_copy(s, x->t, x->slot);
        x->ready += s->m->async.copy;
    }
    k->remaining = x->fills + 1;
    /* replayed for the lines that missed */
    if (x->pending) k->passes = (uint8_t)(s->m->issue.replay ? x->fills : x->passes);
    if (x->queued) {
        /* its scoreboard already waits for the token */
    } else if (x->pending) {
        pl_scoreboard_result_later(x->t, x->d, k);
    } else {
        pl_scoreboard_result(x->t, x->d, x->ready, PL_SB_LONG);
    }
    pl_lsu_part_done(s, x->slot, x->ready);
}

static inline void count_local(const global_access *x, uint32_t writebacks)
{
    pl_sm_stat *sum = &x->s->stat;
    const uint32_t words = (x->s->fx.size + 3u) / 4; /* one request per word: their lines differ */
    if (x->store) {
        sum->local_stores += words;
        sum->local_store_sectors += x->s->lines.sectors;
        return;
    }
    sum->local_loads += words;
    sum->local_load_sectors += x->s->lines.sectors;
    sum->local_load_hits += x->hits;
    pl_lsu_count_writebacks(x->s, x->d, writebacks);
}

static inline void count_global(const global_access *x, uint32_t writebacks)
{
    pl_sm_stat *sum = &x->s->stat;
    if (x->returns_value) {
        sum->atomics++;
        sum->atomic_sectors += x->sectors;
    } else if (x->atomic) {
        sum->reds++;
        sum->red_sectors += x->sectors;
    } else if (x->store) {
        sum->stores++;
        sum->store_sectors += x->s->lines.sectors;
        sum->store_bytes += x->bytes;
    } else {
        sum->loads++;
        sum->copies += x->d->kind == PL_KIND_COPY;
        sum->load_sectors += x->sectors;
        sum->load_hits += x->hits;
        sum->load_bytes += x->bytes;
        pl_lsu_count_writebacks(x->s, x->d, writebacks);
    }
}

static inline void count_access(const global_access *x)
{
    /* copy_strided_32: eight for 32 lines; saxpy4: four for 128 bits */
    const uint32_t cycles = x->pending ? x->tags : 1,
                   writebacks = cycles > x->d->nwrite ? cycles : x->d->nwrite;
    pl_pc_stat *st = pl_sm_pc_stat(x->s, x->pc);
    if (st) {
        st->requests++;
        st->sectors += x->sectors;
        st->wavefronts += x->cycles;
        st->l1_hits += x->hits;
        if (!x->pending && x->load) st->latency += x->ready - x->issued;
    }
    if (x->local)
        count_local(x, writebacks);
    else if (!x->d->texture) /* those are counted at the texture units, which have no counters */
        count_global(x, writebacks);
}

void pl_lsu_access_global(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq, const pl_lsu_entry *queued)
{
    const pl_memory_effect *fx = &s->fx;
    const pl_l1_config *m = &s->m->l1;
    global_access x;
    x.s = s;
    x.c = c;
    x.t = t;
    x.d = d;
    x.queued = queued;
    x.pc = pc;
    x.now = now;
    x.seq = seq;
    x.issued = queued ? queued->issued : now;
    x.local = fx->space == PL_SP_LOCAL || fx->space == PL_SP_PARAM;
    x.atomic = fx->kind == PL_AC_ATOMIC || fx->kind == PL_AC_REDUCTION;
    x.store = fx->kind == PL_AC_STORE;
    x.load = !x.atomic && !x.store;
    x.returns_value = pl_lsu_returns_value(fx, d);
    x.to_shared = d->kind == PL_KIND_COPY && d->bypasses_l1;
    x.slot = PL_NO_TOKEN;
    x.fills = 0;
    x.pending = false;
    coalesce_access(&x);
    choose_policy(&x);
    count_passes(&x);
    const uint64_t hits = s->l1.hits + s->l1.merges;
    if (x.load) lookup_l1(&x);
    pass_banks(&x);
    leave_queue(&x);
    uint64_t further = 0;
    if (d->texture) x.start = pl_texture_unit_enter(s, c, d, x.start, &further);
    x.ready =
        x.start + m->latency + further + (uint64_t)(x.passes - 1) * m->pass_latency + x.tags - 1;
    if (x.store)
        send_stores(&x);
    else if (x.returns_value)
        send_atomics(&x);
    else if (x.atomic)
        send_reductions(&x);
    else
        send_misses(&x);
    x.hits = s->l1.hits + s->l1.merges - hits;
    count_access(&x);
    pl_lsu_emit(s, t, pc, x.issued, seq,
                (pl_access_event){.sectors = x.sectors,
                                  .wavefronts = x.cycles,
                                  .level = x.pending || !x.load ? PL_LV_L2 : PL_LV_L1,
                                  .latency = x.pending ? 0 : x.ready - x.issued,
                                  .token = x.slot});
}
