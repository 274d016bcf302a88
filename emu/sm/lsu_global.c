/* lsu_global.c - accesses to global and local memory: lines and sectors, L1 tags, requests to the
 * L2; stores go through the store buffer, atomics to the L2. */
#include "emu/sm/units.h"

/* Local memory is laid out so that lanes with one offset share lines: word w of lane l lies at w *
 * 128 + l * 4. Each place of a warp on the GPU has its own, one after the other. */
static void local_lines(pl_sm *s, const pl_sm_warp *t)
{
    const uint64_t warp = (uint64_t)s->id * PL_SM_WARPS + pl_warp_index(s, t),
                   words = s->g->stack_limit / 4 + 1;
    uint64_t base = PL_LOCAL_BASE + (warp * t->w->halves + t->w->half) * words * PL_LANES * 4,
             addr[PL_LANES];
    const pl_effect *fx = &s->fx;
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

/* The L1 moves whole lines only. */
static void whole_lines(pl_sm *s)
{
    uint32_t sectors = (uint32_t)(s->m->l1.line / s->m->l1.sector);
    for (uint32_t k = 0; k < s->lines.n; k++) s->lines.at[k].mask = (uint8_t)((1u << sectors) - 1);
    s->lines.sectors = s->lines.n * sectors;
}

static uint32_t line_payload(const pl_sm *s, const pl_decoded_insn *d, uint32_t k)
{
    bool atomic = s->fx.kind == PL_AC_ATOMIC || s->fx.kind == PL_AC_REDUCTION;
    uint32_t lanes = atomic ? s->lines.at[k].words : s->lines.at[k].lanes;
    uint32_t size = atomic && d->alu == PL_ALU_WIDE && s->fx.size < 8
                        ? 8
                        : s->fx.size; /* compare-and-swap has two operands */
    uint32_t words = (lanes * size + 3) / 4,
             most = (uint32_t)s->m->l1.line / 4 * (size > s->fx.size ? 2 : 1);
    return words > most ? most : words;
}

/* Operations of an atomic on a line beyond the first of each turn, in units of 4 bytes. */
static uint8_t line_more(const pl_sm *s, uint32_t k)
{
    return (uint8_t)((uint32_t)(s->lines.at[k].lanes - s->lines.at[k].chain) * s->fx.size / 4);
}

/* Instructions that concern lines of the L2 only: nobody waits for them. A prefetch brings a whole
 * line to the half that owns it, and nothing to the L1 (policy.tsv.xz: prefetch.L1 and prefetchu.L1
 * do the same as prefetch.L2). */
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
                                      .home = true,
                                      .silent = true});
    pl_lsu_emit(s, t, pc, now, seq, 0, s->lines.n, PL_LV_L2, 0, PL_NO_TOKEN);
}

/* The cycle at which an access that comes at `now` finds a place in the input of the L1, which it
 * leaves when its tags are looked up: then its registers are read, and its place in the queue of
 * its sub-core is free. */
static uint64_t input_slot(const pl_sm *s, uint64_t now)
{
    uint64_t left = s->lsu_input[s->lsu_input_at % s->m->l1.input];
    return left > now ? left : now;
}

/* queued: it comes from the queue; NULL: the warp issues it now. */
void pl_lsu_access_global(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq, const pl_lsu_entry *queued)
{
    const pl_l1_config *m = &s->m->l1;
    const pl_effect *fx = &s->fx;
    const uint64_t issued = queued ? queued->issued : now;
    bool is_local = fx->space == PL_SP_LOCAL || fx->space == PL_SP_PARAM;
    bool atomic = fx->kind == PL_AC_ATOMIC || fx->kind == PL_AC_REDUCTION,
         store = fx->kind == PL_AC_STORE;
    if (is_local)
        local_lines(s, t);
    else if (atomic)
        pl_coalesce_atomic(&s->lines, fx->mask, fx->addr, fx->size, (uint32_t)m->line,
                           (uint32_t)m->sector);
    else
        pl_coalesce(&s->lines, fx->mask, fx->addr, fx->size, (uint32_t)m->line,
                    (uint32_t)m->sector);
    /* Integer additions of a whole warp to an address that is the same for all lanes: the assembler
     * lets one lane add the sum (vote, population count, one atomic; seen in machine code for sm_70
     * to sm_120). */
    if (atomic && d->uniform && s->lines.unique == 1)
        s->lines.at[0].depth = s->lines.at[0].chain = 1;
    const bool load = !atomic && !store, past = fx->bypass_l1 || d->passes_l1,
               kept = d->texture || (d->read_only && m->read_only),
               none = load && !is_local && m->global == PL_L1_BYPASS && !kept;
    const pl_l1_policy way = past || none ? PL_L1_TAG_BYPASS : (pl_l1_policy)d->l1_policy;
    const pl_mem_rank rank = is_local ? PL_RANK_NORMAL : (pl_mem_rank)d->rank[0];
    if (load && !is_local && m->global == PL_L1_LINES && way != PL_L1_TAG_BYPASS) whole_lines(s);
    const pl_lines *lines = &s->lines;
    uint32_t sectors = lines->sectors; /* of atomics: one for each turn, as many as the busiest
                                          address of the sector needs */
    for (uint32_t k = 0; atomic && k < lines->n; k++)
        sectors += lines->at[k].chain - pl_sector_count(lines->at[k].mask);
    uint32_t bytes = pl_count_lanes(fx->mask) * fx->size,
             passes = (bytes + m->width - 1) / m->width, extra;
    const uint32_t tags = pl_lsu_tag_cycles(s);
    /* the data lie in the banks that shared memory has */
    if (d->texture)
        passes = 1; /* its units have banks of their own */
    else if (!is_local && !atomic)
        passes = pl_bank_passes(fx->mask, fx->addr, fx->size, s->m->shared.banks, s->m->shared.bank,
                                s->m->shared.rows, !store, &extra);
    else if (atomic && passes < lines->n)
        passes = lines->n; /* words of local memory lie in the bank of their lane */
    if (d->kind == PL_KIND_COPY && !d->passes_l1)
        s->stat.exchanges += passes; /* it goes to shared memory by way of the L1 */
    /* What is asked for below is lines, as for loads; how many sectors they are for is another
     * matter. */
    const bool copied = d->kind == PL_KIND_COPY && d->passes_l1;
    if (copied) sectors = fx->slots;
    uint64_t hits_before =
        s->l1.hits + s->l1.merges; /* the hardware counts what is on its way as present */
    uint32_t slot = PL_NO_TOKEN, fills = 0, request[PL_COALESCE_LINES];
    uint8_t ask[PL_COALESCE_LINES];
    bool pending = false;
    if (load) {
        slot = queued ? queued->token : pl_lsu_inflight_new(s, t, pc, now, seq, PL_SB_LONG);
        for (uint32_t k = 0; k < lines->n; k++) {
            if (past && !none)
                pl_l1_invalidate_sectors(&s->l1, lines->at[k].line, lines->at[k].mask);
            fills += pl_l1_load(&s->l1, lines->at[k].line, lines->at[k].mask, slot, way, rank,
                                &request[k], &ask[k]);
        }
        pending = fills > 0;
        uint32_t asked = 0;
        for (uint32_t k = 0; k < lines->n; k++) asked += ask[k] != 0;
        /* misses are written as they come, two at a time unless their banks collide
         * (l1tex__data_pipe_lsu_wavefronts.sum of gather_idx: 16 for 33 sectors; of
         * transpose_naive_col: 32 for 32 sectors of one bank) */
        if (passes < (asked + 1) / 2) passes = (asked + 1) / 2;
    }
    uint32_t turns = passes > tags ? passes : tags;
    uint64_t start =
        pl_port_enter(&s->unit[PL_UNIT_LSU].port, now, pl_lsu_cost(s, store ? turns : tags));
    pl_lsu_replay(s, c, turns, now);
    if (!pending) { /* a load that misses passes the banks when its data have come */
        uint64_t held = store ? (uint64_t)(m->store_pass * PL_SUBCYCLES) : 0;
        uint64_t data = pl_port_enter(&s->data, start,
                                      (uint64_t)passes * s->m->shared.pass * PL_SUBCYCLES + held);
        if (data > start && !store)
            start = data; /* what is stored waits in front of the banks, in nobody's way */
        uint64_t link = pl_port_enter(&c->link, start,
                                      (uint64_t)pl_lsu_link_passes(fx, passes) *
                                          s->m->shared.link_pass * PL_SUBCYCLES);
        if (link > start) start = link;
    }
    if (!queued) {
        uint64_t in = input_slot(s, now);
        pl_lg_queue_push(s, c, in);
        pl_lsu_read_registers(s, t, d, in, PL_SB_LONG);
    }
    s->lsu_input[s->lsu_input_at++ % m->input] = start;
    uint64_t further = 0;
    if (d->texture) start = pl_texture_unit_enter(s, c, d, start, &further);
    uint64_t ready =
        start + m->latency + further + (uint64_t)(passes - 1) * m->pass_latency + tags - 1;
    const bool answered = pl_lsu_is_answered(fx, d);
    if (store || (atomic && !answered)) {
        for (uint32_t k = 0; k < lines->n; k++) {
            pl_mem_req r = {.time = start +
                                    (is_local ? m->local_hold
                                     : store  ? m->hold
                                              : m->miss) +
                                    k,
                            .line = lines->at[k].line,
                            .token = PL_NO_TOKEN,
                            .op = store ? PL_MEM_WRITE : PL_MEM_REDUCE,
                            .client = PL_CL_STORE,
                            .sectors = lines->at[k].mask,
                            .bytes = (uint8_t)line_payload(s, d, k),
                            .alu = d->alu,
                            .depth = lines->at[k].chain,
                            .turns = lines->at[k].depth};
            if (atomic) r.more = line_more(s, k), r.places = lines->at[k].places;
            r.rank = pl_lsu_l2_rank(d, fx, r.line);
            /* Loads find what a store has written even if it was part of a sector only
             * (l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit of nussinov_wavefront,
             * distance_columns: all but those read first); that they ask for other bytes of it is
             * not looked at. */
            const bool place = is_local || (store && m->allocate == PL_L1_ALL);
            if (!store || (m->allocate == PL_L1_EVICT && !is_local))
                pl_l1_invalidate_sectors(&s->l1, r.line, store ? UINT8_MAX : r.sectors);
            bool there = pl_l1_store(&s->l1, r.line, r.sectors,
                                     place ? (pl_l1_policy)d->l1_policy : PL_L1_TAG_BYPASS, rank);
            if (store && there)
                *(is_local ? &s->stat.local_store_hits : &s->stat.store_hits) +=
                    pl_sector_count(r.sectors);
            const uint32_t lanes = is_local ? s->lanes_of[k] : 0;
            if (store && pl_store_buffer_merge(s, &r, start, lanes)) continue;
            if (!store) pl_sm_request(s, r);
            s->requests_out++;
            t->last_request = ++s->requests;
            t->stores_sent_at = pl_port_pass(&s->store_port, start, pl_up_cost(&s->xbar_cost, &r));
            if (is_local && r.time < t->stores_sent_at)
                r.time =
                    t->stores_sent_at; /* others can join it while it waits for the way to the L2 */
            if (store)
                pl_store_buffer_insert(
                    s, &r, lanes, !is_local && fx->size < 4 && m->part_places ? m->part_places : 1);
        }
        if (!store) s->stat.l1_write_sectors += sectors;
    } else if (answered) {
        slot = queued ? queued->token : pl_lsu_inflight_new(s, t, pc, now, seq, PL_SB_LONG);
        s->inflight.at[slot].remaining = lines->n;
        const bool apart = lines->n > 1 &&
                           2 * pl_bank_passes(fx->mask, fx->addr, fx->size, s->m->shared.banks,
                                              s->m->shared.bank, s->m->shared.rows, true, &extra) <=
                               lines->n;
        for (uint32_t k = 0; k < lines->n; k++) {
            pl_mem_req r = {.time = start + m->miss + k,
                            .line = lines->at[k].line,
                            .token = slot,
                            .op = PL_MEM_ATOMIC,
                            .client = PL_CL_ATOMIC,
                            .sectors = lines->at[k].mask,
                            .bytes = (uint8_t)line_payload(s, d, k),
                            .alu = d->alu,
                            .depth = lines->at[k].chain,
                            .turns = lines->at[k].depth};
            r.more = line_more(s, k), r.places = lines->at[k].places;
            r.apart = apart;
            r.rank = pl_lsu_l2_rank(d, fx, r.line);
            pl_l1_invalidate_sectors(&s->l1, r.line, r.sectors);
            pl_sm_request(s, r);
            s->requests_out++;
            s->requests++;
        }
        s->stat.l1_write_sectors += sectors;
        s->stat.l1_read_sectors += sectors;
        pending = true;
        if (!queued) pl_scoreboard_result_later(t, d, &s->inflight.at[slot]);
    } else {
        for (uint32_t k = 0; k < lines->n; k++) {
            if (!ask[k]) continue;
            pl_mem_req r = {.time = start + m->miss + k / m->tags,
                            .line = lines->at[k].line,
                            .token = request[k],
                            .op = PL_MEM_READ,
                            .client = PL_CL_L1,
                            .sectors = ask[k],
                            .rank = pl_lsu_l2_rank(d, fx, lines->at[k].line),
                            .around = d->prefetch_sectors};
            pl_sm_request(s, r);
            s->stat.l1_read_sectors += copied ? 0 : pl_sector_count(ask[k]);
        }
        s->stat.l1_read_sectors += copied ? fx->moves : 0;
        if (d->kind == PL_KIND_COPY) {
            if (!queued) pl_lsu_start_copy(s, t, slot);
            ready += s->m->async.copy;
        }
        s->inflight.at[slot].remaining = fills + 1;
        if (pending)
            s->inflight.at[slot].passes =
                (uint8_t)(s->m->issue.replay
                              ? fills
                              : passes); /* replayed: for the lines that were missing */
        if (queued) {
            /* its scoreboard waits for the token already */
        } else if (pending) {
            pl_scoreboard_result_later(t, d, &s->inflight.at[slot]);
        } else {
            pl_scoreboard_result(t, d, ready, PL_SB_LONG);
        }
        pl_lsu_part_done(s, slot, ready);
    }

    const uint32_t
        turns_back = pending ? tags : 1,
        backs =
            turns_back > d->nwrite
                ? turns_back
                : d->nwrite; /* copy_strided_32: eight for 32 lines; saxpy4: four for 128 bits */
    uint64_t hits = s->l1.hits + s->l1.merges - hits_before;
    pl_pc_stat *st = pl_sm_pc_stat(s, pc);
    if (st) {
        st->requests++;
        st->sectors += sectors;
        st->wavefronts += turns;
        st->l1_hits += hits;
        if (!pending && !store && !atomic) st->latency += ready - issued;
    }
    if (is_local) {
        const uint32_t words = (fx->size + 3u) / 4; /* a request each: their lines differ */
        if (store) {
            s->stat.local_stores += words;
            s->stat.local_store_sectors += lines->sectors;
        } else {
            s->stat.local_loads += words;
            s->stat.local_load_sectors += lines->sectors;
            s->stat.local_load_hits += hits;
            pl_lsu_count_writebacks(s, d, backs);
        }
    } else if (d->texture) {
        /* counted with the texture units, of which there are no counters here */
    } else if (answered) {
        s->stat.atomics++;
        s->stat.atomic_sectors += sectors;
    } else if (atomic) {
        s->stat.reds++;
        s->stat.red_sectors += sectors;
    } else if (store) {
        s->stat.stores++;
        s->stat.store_sectors += lines->sectors;
        s->stat.store_bytes += bytes;
    } else {
        s->stat.loads++;
        s->stat.copies += d->kind == PL_KIND_COPY;
        s->stat.load_sectors += sectors;
        s->stat.load_hits += hits;
        s->stat.load_bytes += bytes;
        pl_lsu_count_writebacks(s, d, backs);
    }
    pl_lsu_emit(s, t, pc, issued, seq, sectors, turns,
                pending || store || atomic ? PL_LV_L2 : PL_LV_L1, pending ? 0 : ready - issued,
                slot);
}
