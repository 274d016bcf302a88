/* lsu.c - memory instructions of an SM: from the lanes' addresses to passes, tags and requests,
 * and back to the scoreboard.
 *
 * The functional model has already moved the data; pl_effect says which lanes touched what. Here
 * that becomes time:
 *   shared memory   passes through the banks
 *   global, local   lines and sectors -> L1 tags -> requests to the L2; stores go through
 *   atomics         requests to the L2, or turns at a shared-memory bank
 *   constant        one access for each different address */
#include "emu/exec/tma/tma_operands.h"
#include "emu/sm/sm.h"
#include "isa/program/cache_policy.h"
#include <assert.h>
#include <string.h>

/* Until Kepler an access of several passes or lines is issued again for each of them: the scheduler
 * issues nothing else meanwhile (Smith, Stack Overflow 35593124: "instruction replays use an
 * instruction issue slot"). */
static void replay(const pl_sm *s, pl_subcore *c, uint32_t turns, uint64_t now)
{
    if (!s->m->issue.replay || turns < 2) return;
    if (c->issue_free < now) c->issue_free = now;
    c->issue_free += (uint64_t)(turns - 1) * s->m->issue.replay * s->m->issue.interval;
}

/* Occupation of the address unit, or of the banks, by so many turns. */
static uint64_t turns_cost(const pl_sm *s, uint32_t turns)
{
    return (uint64_t)(turns * s->m->op[PL_OP_MEM].interval * PL_SUBCYCLES);
}

/* Cycles of the tags for the lines at hand. */
static uint32_t tag_turns(const pl_sm *s)
{
    const pl_l1_config *m = &s->m->l1;
    return pl_tag_turns(&s->lines, (uint32_t)m->line, m->tags, m->tag_low, m->tag_high);
}

/* The data of a load whose last sector has come at `at` pass the banks, and the link to its
 * sub-core: the cycle at which they are there (coalescing.csv: 413 cycles where 32 sectors lie in
 * one bank, 388 where they do not). */
uint64_t pl_lsu_pass(pl_sm *s, const pl_inflight *k, uint64_t at)
{
    uint64_t start =
        pl_port_enter(&s->data, s->now, (uint64_t)k->passes * s->m->shared.pass * PL_SUBCYCLES);
    uint64_t link = pl_port_enter(&s->sub[k->warp % s->nsub].link, s->now,
                                  (uint64_t)k->passes * s->m->shared.link_pass * PL_SUBCYCLES);
    if (link > start) start = link;
    if (s->m->issue
            .replay) { /* a load that misses is issued again when its data have come (Smith) */
        uint64_t again = pl_port_enter(&s->pipe[PL_PIPE_LSU], s->now, turns_cost(s, k->passes));
        if (again > start) start = again;
        replay(s, &s->sub[k->warp % s->nsub], k->passes + 1u, s->now);
    }
    return (start > at ? start : at) + k->passes - 1u;
}

enum {
    POLL = 4
}; /* cycles until a full table is looked at again that does not tell when it has room */

/* There are places for the misses, stores and atomics of an access. */
static bool has_places(const pl_sm *s)
{
    return pl_mshr_available(&s->l1) && s->requests_out + PL_L1_BURST <= s->m->l1.stores;
}

/* Cycle from which no more waits for the way to the L2 than may. */
static uint64_t way_is_free(const pl_sm *s)
{
    const uint64_t free = (s->store_port.free + PL_SUBCYCLES - 1) / PL_SUBCYCLES;
    return free > s->m->l1.backlog ? free - s->m->l1.backlog : 0;
}

/* The L1 can take an access of a warp. */
static bool has_room(const pl_sm *s, uint64_t now)
{
    return has_places(s) && way_is_free(s) <= now;
}

/* When to look again whether the first of those that wait can go on, if no reply comes. */
static uint64_t look_again(const pl_sm *s, uint64_t now)
{
    if (!s->nqueue || !has_places(s)) return PL_NEVER;
    return way_is_free(s) > now ? way_is_free(s) : now + POLL;
}

/* So can the tables of the model. */
static bool has_records(const pl_sm *s)
{
    return s->used_tokens + 128 <= s->ntoken && s->out.n + 512 <= s->out.cap;
}

uint64_t pl_lsu_room(const pl_sm *s, const pl_subcore *c, const pl_decoded_insn *d, uint64_t now)
{
    const bool mio = !pl_decoded_is_lg(d);
    uint32_t n = mio ? s->m->issue.mio_queue : s->m->issue.lg_queue;
    uint64_t oldest = mio ? c->mio[c->mio_at % n] : c->lg[c->lg_at % n];
    if (oldest > now) return oldest;
    if (mio) return now;
    if (c->nqueue >= n || !has_records(s)) return now + POLL;
    if (!s->queue && !has_room(s, now)) return now + POLL;
    return now;
}

static void queue_lg(pl_sm *s, pl_subcore *c, uint64_t leaves)
{
    c->lg[c->lg_at++ % s->m->issue.lg_queue] = leaves;
}
static void queue_mio(pl_sm *s, pl_subcore *c, uint64_t leaves)
{
    c->mio[c->mio_at++ % s->m->issue.mio_queue] = leaves;
}

/* Tells the listener about an access; with a token that is not done yet, keeps that until it is. */
static void emit(pl_sm *s, const pl_sm_warp *t, uint32_t pc, uint64_t now, uint64_t seq,
                 uint32_t sectors, uint32_t passes, pl_level level, uint64_t latency,
                 uint32_t token)
{
    const pl_sink *sink = s->g->sink;
    if (!sink || !sink->mem) return;
    pl_mem_event e = {.seq = seq,
                      .cycle = now,
                      .block = (uint32_t)t->w->cta->number,
                      .warp = t->w->index,
                      .pc = pc,
                      .mask = s->fx.mask,
                      .half = t->w->half,
                      .sm = (uint16_t)s->id,
                      .space = s->fx.space,
                      .kind = s->fx.kind,
                      .size = s->fx.size,
                      .sectors = (uint16_t)sectors,
                      .wavefronts = (uint16_t)passes,
                      .level = (uint16_t)level,
                      .latency = (uint32_t)latency,
                      .addr = s->fx.addr};
    if (token == PL_NO_TOKEN || s->token[token].remaining == 0) {
        sink->mem(sink->ctx, &e);
        return;
    }
    pl_pending_event *late = &s->late[token];
    memcpy(late->addr, s->fx.addr, sizeof late->addr);
    e.addr = late->addr;
    late->event = e;
    s->token[token].told_later = true;
}

void pl_lsu_tell(pl_sm *s, uint32_t token)
{
    pl_inflight *k = &s->token[token];
    pl_mem_event *e = &s->late[token].event;
    k->told_later = false;
    if (k->level > e->level) e->level = k->level;
    if (k->remaining == 0) e->latency = (uint32_t)(k->ready - k->issued);
    s->g->sink->mem(s->g->sink->ctx, e);
}

void pl_lsu_tell_rest(pl_sm *s)
{
    for (uint32_t k = 0; s->late && k < s->fresh_token; k++)
        if (s->token[k].told_later) pl_lsu_tell(s, k);
}

static pl_pc_stat *stat_of(const pl_sm *s, uint32_t pc)
{
    return s->pc_stat ? &s->pc_stat[pc] : NULL;
}

/* An access that leaves its queue at `start`, and holds the link to its sub-core for so many
 * passes, has read its registers. */
static uint64_t registers_read(const pl_sm *s, uint64_t start)
{
    uint32_t registers = s->fx.kind == PL_AC_STORE ? 1 + (s->fx.size + 3u) / 4 : 1;
    return start + registers * s->m->shared.link_pass + s->m->issue.read;
}

static void read_registers(const pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t start,
                           uint8_t kind)
{
    pl_sm_read(t, d, registers_read(s, start), kind);
}

/* The cycle at which an access that comes at `now` finds a place in the input of the L1, which it
 * leaves when its tags are looked up: then its registers are read, and its place in the queue of
 * its sub-core is free. */
static uint64_t take_in(const pl_sm *s, uint64_t now)
{
    uint64_t left = s->lsu_input[s->lsu_input_at % s->m->l1.input];
    return left > now ? left : now;
}

/* Passes that an access holds the link to its sub-core: those of its data; a store brings its
 * addresses and its registers through it (smem.csv: 4, 6 and 10 cycles for stores of 32, 64 and 128
 * bits without conflicts). */
static uint32_t link_passes(const pl_effect *fx, uint32_t passes)
{
    uint32_t registers = fx->kind == PL_AC_STORE ? 1 + (fx->size + 3u) / 4 : 0;
    return registers > passes ? registers : passes;
}

/* What a load needs beyond the cycles that decode.c has counted for the width of its result. */
static void count_writebacks(pl_sm *s, const pl_decoded_insn *d, uint32_t cycles)
{
    if (cycles > d->metric.writebacks) s->stat.writebacks += cycles - d->metric.writebacks;
}

/* --- shared memory --- */

/* Lanes whose address lies in another block of the cluster. */
static uint32_t remote_lanes(const pl_sm *s, const pl_sm_warp *t)
{
    uint32_t lanes = 0;
    if (!t->w->cta->cluster) return 0;
    for (uint32_t m = s->fx.mask; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        if ((s->fx.addr[l] >> 24 & 0xff) != t->w->cta->cluster_rank) lanes |= 1u << l;
    }
    return lanes;
}

static void shared(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                   uint64_t now, uint64_t seq)
{
    const pl_shared_config *m = &s->m->shared;
    const pl_effect *fx = &s->fx;
    bool atomic = fx->kind == PL_AC_ATOMIC || fx->kind == PL_AC_REDUCTION,
         store = fx->kind == PL_AC_STORE, loop = false;
    uint32_t away = remote_lanes(s, t), own = fx->mask & ~away;
    uint32_t extra, passes = pl_bank_passes(own, fx->addr, fx->size, m->banks, m->bank, m->rows,
                                            !store && !atomic, &extra);
    if (passes == 0) passes = 1;
    uint32_t turns = passes, each = m->pass_latency, rounds = 0, round = 0;
    if (atomic) {
        pl_coalesce_atomic(&s->lines, fx->mask, fx->addr, fx->size, (uint32_t)s->m->l1.line,
                           (uint32_t)s->m->l1.sector);
        uint32_t depth = 1;
        for (uint32_t k = 0; k < s->lines.n; k++) {
            if (s->lines.at[k].depth > depth) depth = s->lines.at[k].depth;
        }
        if (d->uniform) depth = 1; /* one lane for its warp, or ATOMS.POPC.INC */
        loop = d->alu != PL_ALU_INT && !d->compare && !d->cast;
        if (loop) { /* load, compute, compare-and-swap: a round for each lane with one address, or
                       with one bank */
            round = fx->size > 4 ? m->atomic_loop_wide : m->atomic_loop;
            rounds = pl_bank_lanes(own, fx->addr, fx->size, m->banks, m->bank);
            rounds = rounds > depth ? rounds : depth;
            turns = rounds * (1 + m->cast_pass);
        } else if (d->cast) {
            turns = m->cast_pass *
                    (fx->size > 4 ? 2 : 1); /* one lane a bank: lanes do not wait for each other,
                                               but 64 bits are two accesses */
        } else {                            /* a compare-and-swap is two accesses */
            turns += (depth - 1) * m->atomic_pass;
            turns *= d->compare ? 2 : 1;
            each *= d->compare ? 2 : 1;
        }
    }
    uint64_t start =
        pl_port_enter(&s->pipe[PL_PIPE_LSU], now, (uint64_t)turns * m->pass * PL_SUBCYCLES);
    uint64_t data = pl_port_enter(&s->data, start, (uint64_t)turns * m->pass * PL_SUBCYCLES);
    if (data > start) start = data;
    uint64_t link = pl_port_enter(&c->link, start,
                                  (uint64_t)link_passes(fx, passes) * m->link_pass * PL_SUBCYCLES);
    if (link > start) start = link;
    queue_mio(s, c, start);
    replay(s, c, turns, now);
    read_registers(s, t, d, start, PL_SB_SHORT);
    uint64_t latency =
        d->cast  ? (fx->size > 4 ? m->cast_wide : m->cast_latency)
        : loop   ? m->atomic_latency + (uint64_t)rounds * round
        : atomic ? m->atomic_latency + (uint64_t)(d->compare ? turns / 2 : turns - 1) * each
                 : m->latency + (uint64_t)(passes - 1) * m->pass_latency;
    if (away) {
        pl_coalesce(&s->lines, away, fx->addr, fx->size, (uint32_t)s->m->l1.line,
                    (uint32_t)s->m->l1.sector);
        uint64_t out = pl_port_enter(&s->remote, start,
                                     (uint64_t)s->lines.sectors * m->remote_pass * PL_SUBCYCLES);
        latency =
            out - start + m->remote_latency + (uint64_t)(s->lines.sectors - 1) * m->remote_pass;
        if (start + latency > t->remote_done) t->remote_done = start + latency;
        const uint32_t ways = atomic ? 2 : 1; /* l1tex__m_l1tex2xbar_write_sectors of cluster_hist,
                                                 bins_of_a_cluster: two for each of an atomic's */
        s->stat.l1_read_sectors +=
            ways * s->lines.sectors; /* there and back through the crossbar */
        s->stat.l1_write_sectors += ways * s->lines.sectors;
    }
    uint64_t ready = start + latency;
    if (!store) s->answered = ready;
    pl_sm_result(t, d, ready,
                 away ? PL_SB_LONG : PL_SB_SHORT); /* other SMs are waited for as memory is (Nsight
                                                      Compute: long scoreboard) */
    uint32_t waves = passes;
    if (atomic) { /* a lane at a time in each bank, whether others have the same word or not, but
                     for counting; a compare-and-swap reads two operands */
        const uint32_t groups = fx->size > 4 && (own & 0xffff) && own >> 16
                                    ? 2
                                    : 1; /* 64 bits: half a warp at a time */
        if (d->cast) {                   /* one lane a bank */
            waves = 2 * groups;
            extra = 0;
        } else if (loop) {
            waves = 3 * rounds * groups;
            extra = 0;
        } else if (!d->uniform && !d->increments) {
            const uint32_t turn = pl_bank_lanes(own, fx->addr, fx->size, m->banks, m->bank);
            extra = turn - 1;
            waves = turn * (d->compare ? 2 : 1) * groups;
        }
    }
    s->stat.shared_passes += waves;
    s->stat.conflicts += extra;
    pl_pc_stat *st = stat_of(s, pc);
    if (st) {
        st->requests++;
        st->wavefronts += passes;
        st->conflicts += extra;
        st->latency += ready - now;
    }
    if (atomic) {
        s->stat.shared_atomics++;
    } else if (store) {
        s->stat.shared_stores++;
        s->stat.shared_store_passes += passes;
        s->stat.store_conflicts += extra;
    } else {
        s->stat.shared_loads +=
            d->kind != PL_KIND_MATRIX_MEMORY; /* flash_forward_64: ldmatrix makes wavefronts of
                                                 loads, but is none */
        s->stat.shared_load_passes += passes;
        count_writebacks(
            s, d,
            passes < d->nwrite
                ? passes
                : d->nwrite); /* dgemm: two for 64 bits of different words, one for the same */
        s->stat.load_conflicts += extra;
    }
    emit(s, t, pc, now, seq, 0, passes, away ? PL_LV_REMOTE_SHARED : PL_LV_SHARED, ready - now,
         PL_NO_TOKEN);
}

/* --- constant memory --- */

static void constant(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                     uint64_t now, uint64_t seq)
{
    const pl_const_config *m = &s->m->constant;
    uint64_t unit[PL_LANES];
    /* bytes of one word are as different as words (idc__requests of present_light_blocks: 13.8 for
     * random ones of 16) */
    const uint32_t width = s->fx.size < m->width ? s->fx.size : m->width;
    for (uint32_t k = s->fx.mask; k; k &= k - 1)
        unit[__builtin_ctz(k)] = s->fx.addr[__builtin_ctz(k)] / width;
    uint32_t passes = pl_distinct(s->fx.mask, unit);
    s->stat.const_requests += passes;
    uint64_t start =
        pl_port_enter(&s->pipe[PL_PIPE_ADU], now, (uint64_t)passes * m->pass * PL_SUBCYCLES);
    uint64_t more = (uint64_t)(passes - 1) * m->pass_latency, ready = start + m->latency + more,
             misses = 0;
    uint64_t seen[PL_LANES];
    uint32_t nseen = 0;
    uint32_t slot = pl_inflight_new(s, t, pc, now, seq, PL_SB_SHORT);
    const uint64_t bank = t->w->program->bank.address;
    for (uint32_t mask = s->fx.mask; mask; mask &= mask - 1) {
        uint64_t line = (PL_CONST_BASE + ((bank + s->fx.addr[__builtin_ctz(mask)]) & 0xffffffff)) &
                        ~(m->line - 1);
        uint32_t k = 0;
        while (k < nseen && seen[k] != line) k++;
        if (k < nseen) continue;
        seen[nseen++] = line;
        s->token[slot].remaining++;
        uint64_t at = pl_const_load(s, line, slot, start);
        if (at == PL_NEVER) continue;
        s->token[slot].remaining--;
        misses += at - start; /* one line after the other */
        at = start + misses + m->latency + more;
        if (at > ready) ready = at;
    }
    queue_mio(s, c, start);
    read_registers(s, t, d, start, PL_SB_SHORT);
    bool known = s->token[slot].remaining == 1;
    if (known)
        pl_sm_result(t, d, ready, PL_SB_SHORT);
    else
        pl_sm_result_later(t, d, &s->token[slot]);
    pl_inflight_done(s, slot, ready);
    pl_pc_stat *st = stat_of(s, pc);
    if (st) {
        st->requests++;
        st->wavefronts += passes;
        if (known) st->latency += ready - now;
    }
    emit(s, t, pc, now, seq, 0, passes, PL_LV_CONST, known ? ready - now : 0, slot);
}

/* --- global and local memory --- */

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

/* Whether the L2 answers with what was there: to atomics, and to reductions on generic addresses,
 * which the machine makes as atomics that write no register (machine code for sm_90;
 * l1tex__t_requests_pipe_lsu_mem_global_op_atom of half2_adds, weights_of_letters). */
static bool is_answered(const pl_effect *fx, const pl_decoded_insn *d)
{
    return fx->kind == PL_AC_ATOMIC || (fx->kind == PL_AC_REDUCTION && d->generic);
}

/* Cycles that an access holds the texture units of the SM, and *further of latency for it. Four
 * lanes a cycle are served, eight where their coordinates are whole; of a group's lanes, lines of
 * the same bank take turns, but for two neighbours; wide texels take their time, and twice that
 * where neighbours are weighed, all of it for each of two planes (tex.tsv, texmiss.tsv). */
static uint64_t texel_turns(const pl_sm *s, const pl_effect *fx, uint64_t *further)
{
    enum { BANKS = 4, NEXT_BANK = 32, WIDE = 16 };
    const pl_l1_config *m = &s->m->l1;
    const uint32_t lanes = m->texture_lanes << !fx->sampled;
    uint32_t turns = 0, groups = 0;
    for (uint32_t first = 0; first < PL_LANES; first += lanes) {
        uint64_t line[PL_LANES];
        uint32_t n = 0, on[BANKS] = {0}, most = 0;
        for (uint32_t l = first; l < first + lanes && l < PL_LANES; l++) {
            uint32_t k = 0;
            if (!(fx->mask >> l & 1)) continue;
            const uint64_t at = fx->addr[l] / m->line;
            while (k < n && line[k] != at) k++;
            if (k < n) continue;
            line[n++] = at;
            const uint32_t here =
                ++on[(at / NEXT_BANK ^ at / NEXT_BANK / BANKS ^ at / NEXT_BANK / BANKS / BANKS) %
                     BANKS];
            if (here > most) most = here;
        }
        turns += n == 2 && (line[0] + 1 == line[1] || line[1] + 1 == line[0]) ? 1 : most;
        groups += n > 0;
    }
    if (fx->gathered || fx->between) groups *= 2;
    if (fx->between) turns *= 2;
    uint64_t wide = m->texture_width ? (uint64_t)fx->size * (uint32_t)__builtin_popcount(fx->mask) /
                                           m->texture_width
                                     : 0;
    if (fx->filtered && fx->size >= WIDE) wide *= fx->between ? 4 : 2;
    if (wide < groups) wide = groups;
    *further = 2 * (wide - groups) + (turns > groups ? turns - groups : 0);
    return turns > wide ? turns : wide;
}

/* Name of a warp in requests that only acknowledge: its slot, and its age because slots are used
 * again. */

/* --- stores on their way out ---
 *
 * A store stays in the L1 for a moment (l1.hold); another one to the same line that comes to the
 * tags meanwhile joins it, whatever warp sends it, and both stay for a moment more
 * (l1tex__m_l1tex2xbar_write_sectors of transpose_naive_row_b16, whose warps fill each other's
 * sectors: nine tenths of what it stores). Four stores that fill a sector word by word reach the L2
 * as one (sgemm_reg: a quarter).
 *
 * A store to local memory is in the L1 too, and words of a sector that is written only in part can
 * be loaded (paths.tsv spread: lanes two rows and more apart). But where stores that have joined
 * write different words of a sector and leave it incomplete, it is not there afterwards: as many
 * sectors of alloca_local are fetched from the L2 as its stores have in common, and where lanes are
 * one row apart (spread 1), each load waits for the L2. Bytes of the same words do no harm
 * (stack_of_fields_in_structures: 8,784 sectors joined, 203 fetched). */

static void let_go(pl_sm *s, pl_mem_req *r)
{
    s->stat.l1_write_sectors += (uint32_t)__builtin_popcount(r->sectors);
    pl_sm_request(s, *r);
    r->sectors = 0;
}

/* Sectors of a line of local memory that the words of these lanes do not fill. */
static uint8_t incomplete(const pl_l1_config *m, uint32_t lanes)
{
    const unsigned words = (unsigned)m->sector / 4;
    uint8_t sectors = 0;
    for (unsigned first = 0; first < PL_LANES; first += words)
        for (unsigned l = first; l < first + words && l < PL_LANES; l++)
            if (!(lanes >> l & 1)) sectors |= (uint8_t)(1u << first / words);
    return sectors;
}

/* Sectors of a line of local memory in which the words of these lanes lie. */
static uint8_t touched(const pl_l1_config *m, uint32_t lanes)
{
    const unsigned words = (unsigned)m->sector / 4;
    uint8_t sectors = 0;
    for (; lanes; lanes &= lanes - 1)
        sectors |= (uint8_t)(1u << (unsigned)__builtin_ctz(lanes) / words);
    return sectors;
}

/* True: a store whose tags are looked up at `start` has joined one that is there. lanes: whose
 * words of local memory it writes, else none. */
static bool join_store(pl_sm *s, const pl_mem_req *r, uint64_t start, uint32_t lanes)
{
    for (uint32_t k = 0; k < s->m->l1.writes; k++) {
        pl_mem_req *w = &s->store_buffer[k];
        if (!w->sectors || w->line != r->line || w->time <= start) continue;
        uint32_t most = (uint32_t)s->m->l1.line / 4, sum = (uint32_t)w->bytes + r->bytes;
        w->sectors |= r->sectors;
        w->bytes = (uint8_t)(sum > most ? most : sum);
        if (w->time < r->time) w->time = r->time;
        if (s->store_buffer_until < r->time) s->store_buffer_until = r->time;
        const uint32_t more = lanes & ~s->store_lanes[k];
        s->store_lanes[k] |= lanes;
        if (more)
            pl_l1_invalidate_sectors(&s->l1, r->line,
                                     touched(&s->m->l1, more) &
                                         incomplete(&s->m->l1, s->store_lanes[k]));
        return true;
    }
    return false;
}

/* A store waits for others, and the oldest goes when there are too many (coalescing.csv: 28 lines
 * of a warp's stores wait for the next ones, 29 do not; paths.tsv rows: four warps that store to 16
 * lines each join nothing; joins.tsv: of bytes and halves it is 12 to 14 lines). */
static void hold_store(pl_sm *s, const pl_mem_req *r, uint32_t lanes, uint32_t places)
{
    uint32_t at = 0;
    for (uint32_t k = 0; k < places; k++) {
        at = s->store_buffer_at++ % s->m->l1.writes;
        if (s->store_buffer[at].sectors) let_go(s, &s->store_buffer[at]);
    }
    s->store_buffer[at] = *r;
    s->store_lanes[at] = lanes;
    s->store_buffer_until = r->time > s->store_buffer_until ? r->time : s->store_buffer_until;
}

void pl_lsu_let_go(pl_sm *s, uint64_t until)
{
    if (s->store_buffer_until == 0) return;
    uint64_t latest = 0;
    for (uint32_t k = 0; k < s->m->l1.writes; k++) {
        pl_mem_req *w = &s->store_buffer[k];
        if (w->sectors && w->time < until) let_go(s, w);
        if (w->sectors && w->time > latest) latest = w->time;
    }
    s->store_buffer_until = latest;
}

/* A copy into shared memory is part of its warp's open group. */
static void start_copy(pl_sm *s, pl_sm_warp *t, uint32_t slot)
{
    s->token[slot].copy = true;
    s->token[slot].group = t->open_group;
    t->copies[t->open_group]++;
}

/* Textures and surfaces are described in memory; an SM reads that when it first uses one. Returns
 * when an access of `start` can begin. */
static uint64_t described(pl_sm *s, uint64_t object, uint64_t start)
{
    for (uint32_t k = 0; k < PL_HEADERS; k++)
        if (s->header[k].object == object)
            return start > s->header[k].since ? start : s->header[k].since;
    s->header[s->header_at].object = object;
    s->header[s->header_at].since = start + s->m->l1.header;
    s->header_at = (s->header_at + 1) % PL_HEADERS;
    return start + s->m->l1.header;
}

/* What the L2 is told about the place of a line. */
static int8_t l2_rank(const pl_decoded_insn *d, const pl_effect *fx, uint64_t line)
{
    static const int8_t rank[] = {[PL_PRIORITY_UNCHANGED] = PL_RANK_UNCHANGED,
                                  [PL_PRIORITY_FIRST] = PL_RANK_FIRST,
                                  [PL_PRIORITY_LAST] = PL_RANK_LAST,
                                  [PL_PRIORITY_NORMAL] = PL_RANK_RESET};
    return fx->policy ? rank[policy_says(fx->policy, line)] : d->rank[1];
}

/* Instructions that concern lines of the L2 only: nobody waits for them. A prefetch brings a whole
 * line to the half that owns it, and nothing to the L1 (policy.tsv.xz: prefetch.L1 and prefetchu.L1
 * do the same as prefetch.L2). */
static void upkeep(pl_sm *s, pl_subcore *c, const pl_decoded_insn *d, uint32_t pc, uint64_t now,
                   uint64_t seq, pl_sm_warp *t)
{
    static const uint8_t op[] = {[PL_UP_PREFETCH] = PL_MEM_READ,
                                 [PL_UP_DEMOTE] = PL_MEM_DEMOTE,
                                 [PL_UP_DISCARD] = PL_MEM_DISCARD};
    const pl_l1_config *m = &s->m->l1;
    pl_coalesce(&s->lines, s->fx.mask, s->fx.addr, 1, (uint32_t)m->line, (uint32_t)m->sector);
    const uint64_t start = pl_port_enter(&s->pipe[PL_PIPE_LSU], now, turns_cost(s, tag_turns(s)));
    queue_lg(s, c, start);
    read_registers(s, t, d, start, PL_SB_LONG);
    for (uint32_t k = 0; k < s->lines.n; k++)
        pl_sm_request(s, (pl_mem_req){.time = start + m->miss + k / m->tags,
                                      .line = s->lines.at[k].line,
                                      .op = op[d->cache_op],
                                      .client = PL_CL_STORE,
                                      .sectors = (uint8_t)((1u << m->line / m->sector) - 1),
                                      .rank = d->rank[1],
                                      .home = true,
                                      .silent = true});
    emit(s, t, pc, now, seq, 0, s->lines.n, PL_LV_L2, 0, PL_NO_TOKEN);
}

/* queued: it comes from the queue; NULL: the warp issues it now. */
static void global(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                   uint64_t now, uint64_t seq, const pl_lsu_entry *queued)
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
        sectors += lines->at[k].chain - (uint32_t)__builtin_popcount(lines->at[k].mask);
    uint32_t bytes = (uint32_t)__builtin_popcount(fx->mask) * fx->size,
             passes = (bytes + m->width - 1) / m->width, extra;
    const uint32_t tags = tag_turns(s);
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
        slot = queued ? queued->token : pl_inflight_new(s, t, pc, now, seq, PL_SB_LONG);
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
    uint64_t start = pl_port_enter(&s->pipe[PL_PIPE_LSU], now, turns_cost(s, store ? turns : tags));
    replay(s, c, turns, now);
    if (!pending) { /* a load that misses passes the banks when its data have come */
        uint64_t held = store ? (uint64_t)(m->store_pass * PL_SUBCYCLES) : 0;
        uint64_t data = pl_port_enter(&s->data, start,
                                      (uint64_t)passes * s->m->shared.pass * PL_SUBCYCLES + held);
        if (data > start && !store)
            start = data; /* what is stored waits in front of the banks, in nobody's way */
        uint64_t link = pl_port_enter(&c->link, start,
                                      (uint64_t)link_passes(fx, passes) * s->m->shared.link_pass *
                                          PL_SUBCYCLES);
        if (link > start) start = link;
    }
    if (!queued) {
        uint64_t in = take_in(s, now);
        queue_lg(s, c, in);
        read_registers(s, t, d, in, PL_SB_LONG);
    }
    s->lsu_input[s->lsu_input_at++ % m->input] = start;
    uint64_t further = d->texture ? m->texture : 0;
    if (d->texture) start = described(s, fx->object, start);
    if (d->texture && m->texture_lanes) {
        uint64_t more;
        start = pl_port_enter(&s->texture_port, start, texel_turns(s, fx, &more) * PL_SUBCYCLES);
        start = pl_port_enter(&c->texels, start,
                              (uint64_t)m->texture_result *
                                  (d->components > 2 ? d->components : 1) * PL_SUBCYCLES);
        further += more + m->texture_component * (d->components > 1 ? d->components - 1u : 0);
    }
    uint64_t ready =
        start + m->latency + further + (uint64_t)(passes - 1) * m->pass_latency + tags - 1;
    const bool answered = is_answered(fx, d);
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
            r.rank = l2_rank(d, fx, r.line);
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
                    (uint32_t)__builtin_popcount(r.sectors);
            const uint32_t lanes = is_local ? s->lanes_of[k] : 0;
            if (store && join_store(s, &r, start, lanes)) continue;
            if (!store) pl_sm_request(s, r);
            s->requests_out++;
            t->last_request = ++s->requests;
            t->stores_sent_at = pl_port_pass(&s->store_port, start, pl_up_cost(&s->xbar_cost, &r));
            if (is_local && r.time < t->stores_sent_at)
                r.time =
                    t->stores_sent_at; /* others can join it while it waits for the way to the L2 */
            if (store)
                hold_store(s, &r, lanes,
                           !is_local && fx->size < 4 && m->part_places ? m->part_places : 1);
        }
        if (!store) s->stat.l1_write_sectors += sectors;
    } else if (answered) {
        slot = queued ? queued->token : pl_inflight_new(s, t, pc, now, seq, PL_SB_LONG);
        s->token[slot].remaining = lines->n;
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
            r.rank = l2_rank(d, fx, r.line);
            pl_l1_invalidate_sectors(&s->l1, r.line, r.sectors);
            pl_sm_request(s, r);
            s->requests_out++;
            s->requests++;
        }
        s->stat.l1_write_sectors += sectors;
        s->stat.l1_read_sectors += sectors;
        pending = true;
        if (!queued) pl_sm_result_later(t, d, &s->token[slot]);
    } else {
        for (uint32_t k = 0; k < lines->n; k++) {
            if (!ask[k]) continue;
            pl_mem_req r = {.time = start + m->miss + k / m->tags,
                            .line = lines->at[k].line,
                            .token = request[k],
                            .op = PL_MEM_READ,
                            .client = PL_CL_L1,
                            .sectors = ask[k],
                            .rank = l2_rank(d, fx, lines->at[k].line),
                            .around = d->prefetch_sectors};
            pl_sm_request(s, r);
            s->stat.l1_read_sectors += copied ? 0 : (uint32_t)__builtin_popcount(ask[k]);
        }
        s->stat.l1_read_sectors += copied ? fx->moves : 0;
        if (d->kind == PL_KIND_COPY) {
            if (!queued) start_copy(s, t, slot);
            ready += s->m->async.copy;
        }
        s->token[slot].remaining = fills + 1;
        if (pending)
            s->token[slot].passes =
                (uint8_t)(s->m->issue.replay
                              ? fills
                              : passes); /* replayed: for the lines that were missing */
        if (queued) {
            /* its scoreboard waits for the token already */
        } else if (pending) {
            pl_sm_result_later(t, d, &s->token[slot]);
        } else {
            pl_sm_result(t, d, ready, PL_SB_LONG);
        }
        pl_inflight_done(s, slot, ready);
    }

    const uint32_t
        turns_back = pending ? tags : 1,
        backs =
            turns_back > d->nwrite
                ? turns_back
                : d->nwrite; /* copy_strided_32: eight for 32 lines; saxpy4: four for 128 bits */
    uint64_t hits = s->l1.hits + s->l1.merges - hits_before;
    pl_pc_stat *st = stat_of(s, pc);
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
            count_writebacks(s, d, backs);
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
        count_writebacks(s, d, backs);
    }
    emit(s, t, pc, issued, seq, sectors, turns, pending || store || atomic ? PL_LV_L2 : PL_LV_L1,
         pending ? 0 : ready - issued, slot);
}

/* --- accesses that wait for room ---
 *
 * Stores and reductions leave an SM no faster than the L2 takes them, and misses need a place in
 * their table. Until there is room, what warps issue waits in front of the tags: l1.input accesses
 * that have read their registers, and behind them those in the queues of the sub-cores, which take
 * turns (behind.tsv.xz: a load waits for up to 50 stores or 60 reductions of a warp each that were
 * issued before it). */

static void wait_for_room(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq)
{
    const uint32_t input = s->m->l1.input, own = s->m->issue.lg_queue;
    pl_lsu_entry q = {.fx = s->fx,
                      .d = d,
                      .issued = now,
                      .seq = seq,
                      .pc = pc,
                      .token = PL_NO_TOKEN,
                      .warp = (uint16_t)pl_warp_index(s, t)};
    if (s->fx.kind != PL_AC_STORE && (s->fx.kind != PL_AC_REDUCTION || is_answered(&s->fx, d))) {
        q.token = pl_inflight_new(s, t, pc, now, seq, PL_SB_LONG);
        pl_sm_result_later(t, d, &s->token[q.token]);
        if (d->kind == PL_KIND_COPY) start_copy(s, t, q.token);
    }
    t->queued++;
    if (s->nqueue < input) {
        s->queue[(s->queue_at + s->nqueue++) % input] = q;
        if (s->queue_next == PL_NEVER) s->queue_next = look_again(s, now);
        read_registers(s, t, d, now, PL_SB_LONG);
        return;
    }
    assert(c->nqueue < own && "pl_lsu_room was asked before the instruction issued");
    c->queue[(c->queue_at + c->nqueue++) % own] = q;
    if (d->read_barrier == PL_SB_NONE) return;
    t->sb[d->read_barrier].pending++;
    t->sb[d->read_barrier].kind = PL_SB_LONG;
}

/* There is a place in the input: the sub-cores take turns. */
static void take_next(pl_sm *s, uint64_t now)
{
    for (uint32_t k = 0; k < s->nsub; k++) {
        pl_subcore *c = &s->sub[(s->queue_turn + k) % s->nsub];
        if (c->nqueue == 0) continue;
        const pl_lsu_entry *q = &s->queue[(s->queue_at + s->nqueue++) % s->m->l1.input];
        s->queue[q - s->queue] = c->queue[c->queue_at];
        c->queue_at = (c->queue_at + 1) % s->m->issue.lg_queue;
        c->nqueue--;
        s->queue_turn = (s->queue_turn + k + 1) % s->nsub;
        s->fx = q->fx;
        if (q->d->read_barrier != PL_SB_NONE)
            pl_sm_end_wait(s, &s->warp[q->warp], q->d->read_barrier, registers_read(s, now));
        return;
    }
}

/* The first in line goes on. */
static void go_on(pl_sm *s, uint64_t now)
{
    const pl_lsu_entry *first = &s->queue[s->queue_at];
    pl_sm_warp *t = &s->warp[first->warp];
    s->fx = first->fx;
    global(s, &s->sub[first->warp % s->nsub], t, first->d, first->pc, now, first->seq, first);
    s->queue_at = (s->queue_at + 1) % s->m->l1.input;
    s->nqueue--;
    if (--t->queued == 0) pl_sm_unqueued(s, t, now);
    take_next(s, now);
}

/* The last request of the SM that counts as sent: as many as `sent` may still be under way. */
static uint64_t last_sent(const pl_sm *s)
{
    return s->requests - s->requests_out + s->m->l1.sent;
}

bool pl_lsu_left(const pl_sm *s, const pl_sm_warp *t)
{
    return t->outstanding == 0 && t->last_request <= last_sent(s);
}

void pl_lsu_pump(pl_sm *s, uint64_t now)
{
    while (s->nqueue && has_room(s, now) && has_records(s)) go_on(s, now);
    s->queue_next = look_again(s, now);
}

/* --- bulk copies and mbarriers --- */

/* Value of operand k of the instruction for one lane, addresses with their offset left out. */
static uint64_t operand_value(const pl_sm_warp *t, const pl_insn *i, uint32_t k, unsigned lane,
                              bool wide)
{
    if (k >= PL_INLINE_OPERANDS || i->op[k] == UINT32_MAX) return 0;
    const uint32_t *row = t->w->regs + (size_t)i->op[k] * PL_LANES;
    return wide ? ((const uint64_t *)(const void *)row)[lane] : row[lane];
}

/* Shared addresses without the cluster rank. */
static uint32_t in_block(uint64_t address)
{
    return (uint32_t)(address & 0xffffff);
}

/* Stands for the warp in a request whose end no warp waits for: slot 0 in an age that it never has.
 */

/* The requests of a bulk copy: one for each line, in order. */
typedef struct line_sender {
    pl_sm *s;
    uint64_t start, line, at; /* at: the line being gathered, PL_NEVER: none */
    uint32_t slot, sent, sectors_sent;
    uint8_t sectors;
    bool load, prefetch;
    const pl_decoded_insn *d;
} line_sender;

static void send_line(line_sender *x)
{
    pl_sm *s = x->s;
    if (x->at == PL_NEVER || s->out.n + 64 >= s->out.cap) return;
    pl_mem_req r = {.time = x->start,
                    .line = x->at,
                    .token = x->load ? x->slot : PL_NO_TOKEN,
                    .op = x->load ? PL_MEM_READ : PL_MEM_WRITE,
                    .client = x->load ? PL_CL_BULK : PL_CL_STORE,
                    .sectors = x->sectors,
                    .bytes = (uint8_t)(x->load ? 0 : x->line / 4),
                    .rank = l2_rank(x->d, &s->fx, x->at),
                    .home = x->prefetch};
    pl_sm_request(s, r);
    s->requests_out += !x->load;
    s->requests += !x->load;
    x->start += x->load ? s->m->async.bulk_line : s->m->async.bulk_store_line;
    x->sent++;
    x->sectors_sent += (uint32_t)__builtin_popcount(x->sectors);
    *(x->load ? &s->stat.l1_read_sectors : &s->stat.l1_write_sectors) +=
        (uint32_t)__builtin_popcount(x->sectors);
}

static void send_bytes(line_sender *x, uint64_t address, uint64_t bytes)
{
    uint64_t sector = x->s->m->l1.sector, end = address + bytes;
    for (uint64_t l = address & ~(x->line - 1); l < end; l += x->line) {
        uint64_t from = address > l ? address - l : 0,
                 to = (end - l < x->line ? end - l : x->line) - 1;
        if (l != x->at) {
            send_line(x);
            x->at = l;
            x->sectors = 0;
        }
        x->sectors |= (uint8_t)((2u << (to / sector)) - (1u << (from / sector)));
    }
}

static bool send_piece(void *ctx, const pl_tma_piece *p)
{
    if (p->valid) send_bytes(ctx, p->address, p->valid);
    return true;
}

/* A bulk or tensor copy of each lane: the engine of the SM sends one request for each line; an
 * mbarrier may count its bytes, and a prefetch is waited for by nobody. Lanes come one after the
 * other; those of an instruction name one mbarrier. */
static void bulk(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                 uint64_t now, uint64_t seq)
{
    const pl_effect *fx = &s->fx;
    const pl_insn *i = &t->w->code[pc];
    const unsigned first = (unsigned)__builtin_ctz(fx->mask);
    bool counted = d->barrier_operand < PL_INLINE_OPERANDS, prefetch = fx->kind == PL_AC_PREFETCH,
         load = counted || prefetch;
    uint64_t issue = now, wait = (load ? s->m->async.bulk : s->m->async.bulk_store) +
                                 (d->tensor ? s->m->async.tensor : 0);
    pl_port_enter(&s->pipe[PL_PIPE_LSU], now, PL_SUBCYCLES);
    queue_lg(s, c, now);
    uint32_t slot = pl_inflight_new(s, t, pc, now, seq, PL_SB_LONG);
    pl_inflight *k = &s->token[slot];
    k->bulk = true;
    t->outstanding--; /* the warp may end before the copy has */
    k->group = t->open_group;
    k->barrier = UINT32_MAX;
    if (counted)
        k->barrier = in_block(operand_value(t, i, d->barrier_operand, first, false));
    else
        k->copy = !prefetch;
    if (k->copy) t->copies[k->group]++;
    line_sender x = {.s = s,
                     .start = s->bulk_free,
                     .line = s->m->l1.line,
                     .at = PL_NEVER,
                     .slot = slot,
                     .load = load,
                     .prefetch = prefetch,
                     .d = d};
    for (uint32_t left = fx->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t size = d->size_operand < PL_INLINE_OPERANDS
                                  ? operand_value(t, i, d->size_operand, lane, false)
                                  : fx->size;
        if (x.start < issue + wait) x.start = issue + wait;
        if (d->tensor)
            pl_tma_pieces(t->w, i, lane, send_piece, &x);
        else
            send_bytes(&x, fx->addr[lane], size ? size : 1);
        send_line(&x);
        x.at = PL_NEVER;
        issue += s->m->async.bulk_lane;
    }
    s->bulk_free = x.start;
    k->remaining =
        load ? x.sent + 1 : 1; /* a copy out is complete soon after its last line has left */
    pl_inflight_done(s, slot, load ? x.start : x.start + s->m->async.bulk_store_end);
    pl_pc_stat *st = stat_of(s, pc);
    if (st) {
        st->requests++;
        st->sectors += x.sectors_sent;
        st->wavefronts += x.sent;
    }
    emit(s, t, pc, now, seq, x.sectors_sent, x.sent, PL_LV_L2, 0, slot);
}

void pl_lsu_passed(pl_sm *s, pl_sm_warp *t, const pl_decoded_insn *d, uint64_t now)
{
    pl_sm_result(t, d, now + s->m->sync.mbarrier, PL_SB_LONG);
    if (!s->fx.mask || t->awaited_copy || d->write_barrier == PL_SB_NONE) return;
    uint32_t barrier = in_block(s->fx.addr[__builtin_ctz(s->fx.mask)]);
    for (uint32_t k = 0; k < s->fresh_token && s->used_tokens;
         k++) { /* the youngest copy that this barrier counts is still under way */
        const pl_inflight *x = &s->token[k];
        if (x->bulk && x->remaining && x->barrier == barrier && x->id > t->awaited_copy &&
            s->warp[x->warp].cta == t->cta)
            t->awaited_copy = x->id;
    }
    if (!t->awaited_copy) return;
    t->awaited_copy_sb = d->write_barrier;
    t->sb[d->write_barrier].pending++;
    t->sb[d->write_barrier].kind = PL_SB_LONG;
}

static void mbarrier(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                     uint64_t now, uint64_t seq)
{
    bool wait = d->kind == PL_KIND_MBARRIER_WAIT;
    uint64_t hold = wait ? 1 : s->m->sync.mbarrier_arrive;
    uint64_t start = pl_port_enter(&s->pipe[PL_PIPE_LSU], now, hold * PL_SUBCYCLES);
    queue_mio(s, c, start);
    if (wait)
        pl_lsu_passed(s, t, d, start);
    else
        pl_sm_result(t, d, start + s->m->sync.mbarrier, PL_SB_SHORT);
    if (!s->fx.mask) return;
    pl_pc_stat *st = stat_of(s, pc);
    if (st) {
        st->requests++;
        st->wavefronts++;
    }
    emit(s, t, pc, now, seq, 0, 1, PL_LV_SHARED, s->m->sync.mbarrier, PL_NO_TOKEN);
}

/* --- entry points --- */

static void access(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                   uint64_t now, uint64_t seq)
{
    if (d->kind == PL_KIND_MBARRIER || d->kind == PL_KIND_MBARRIER_WAIT) {
        mbarrier(s, c, t, d, pc, now, seq);
        return;
    }
    if (!s->fx.mask) { /* no lane accessed memory: only the address unit was busy */
        s->stat.exchanges++;
        pl_port_enter(&s->pipe[PL_PIPE_LSU], now, PL_SUBCYCLES);
        return;
    }
    if (d->cache_op != PL_UP_NONE) {
        upkeep(s, c, d, pc, now, seq, t);
        return;
    }
    if (d->kind == PL_KIND_BULK) {
        bulk(s, c, t, d, pc, now, seq);
        return;
    }
    switch ((pl_space)s->fx.space) {
    case PL_SP_SHARED: shared(s, c, t, d, pc, now, seq); break;
    case PL_SP_CONST: constant(s, c, t, d, pc, now, seq); break;
    default:
        if (s->queue && (s->nqueue || !has_room(s, now)))
            wait_for_room(s, c, t, d, pc, now, seq);
        else
            global(s, c, t, d, pc, now, seq, NULL);
        break;
    }
}

void pl_lsu_issue(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d, uint32_t pc,
                  uint64_t now, uint64_t seq)
{
    pl_warp *w = t->w;
    t->cta->accessed = true;
    s->fx.policy = 0;
    if (d->policy_operand != UINT8_MAX && s->fx.mask)
        s->fx.policy = operand_value(t, &w->code[pc], d->policy_operand,
                                     (unsigned)__builtin_ctz(s->fx.mask), true);
    s->stat.exchanges += d->acquires; /* CCTL */
    s->stat.lsu += d->acquires;
    if (w->halves == 1) {
        access(s, c, t, d, pc, now, seq);
        return;
    }
    /* an access of its own for each half that has lanes to execute it */
    bool any = false;
    for (unsigned h = 0; h < w->halves; h++) {
        if (!s->halves[h].mask && (any || h + 1 < w->halves)) continue;
        s->fx = s->halves[h];
        pl_warp_half(w, h);
        access(s, c, t, d, pc, now, seq);
        any = true;
    }
    pl_warp_half(w, 0);
}

typedef struct fill {
    pl_sm *s;
    uint64_t at;
    uint8_t level;
} fill;

static void filled(void *ctx, uint32_t token)
{
    fill *f = ctx;
    pl_inflight *k = &f->s->token[token];
    if (f->level > k->level) k->level = f->level;
    pl_pc_stat *st = stat_of(f->s, k->pc);
    if (st && k->remaining == 1) st->latency += f->at - k->issued;
    pl_inflight_done(f->s, token, f->at);
}

/* A store or an atomic operation is done. */
static void answered(pl_sm *s, uint64_t now)
{
    s->requests_out--;
    if (s->leaves <= last_sent(s)) pl_sm_leave(s, now);
    if (s->fences <= s->requests - s->requests_out) pl_sm_fences_answered(s, now);
}

void pl_lsu_reply(pl_sm *s, const pl_mem_reply *r, uint64_t now)
{
    s->l2_replied = true;
    s->far_l2_replied |= r->far;
    uint32_t n = (uint32_t)__builtin_popcount(r->sectors);
    fill f = {.s = s, .at = now + s->m->l1.fill, .level = r->level};
    switch ((pl_mem_client)r->client) {
    case PL_CL_L1: {
        const pl_mshr *miss = &s->l1.miss[r->token];
        pl_pc_stat *st = miss->waiters == PL_NO_LINE
                             ? NULL
                             : stat_of(s, s->token[s->l1.waiter[miss->waiters].token].pc);
        if (st) *(r->level == PL_LV_DRAM ? &st->from_dram : &st->from_l2) += n;
        pl_l1_fill(&s->l1, r->token, filled, &f);
        break;
    }
    case PL_CL_ATOMIC:
        filled(&f, r->token);
        answered(s, now);
        break;
    case PL_CL_BULK: filled(&f, r->token); break;
    default: answered(s, now); break;
    }
}
