/* copy_engine.c - the copy engine of an SM: converts bulk and tensor copies to requests, one per
 * line. */
#include "emu/exec/tma/tma_operands.h"
#include "emu/sm/units.h"

/* The requests of a bulk copy: one per line, in order. */
typedef struct line_sender {
    pl_sm *s;
    uint64_t start, line, at; /* at: the line being collected, PL_NEVER: none */
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
                    .rank = pl_lsu_l2_rank(x->d, &s->fx, x->at),
                    .owner_only = x->prefetch};
    pl_sm_request(s, r);
    s->requests_out += !x->load;
    s->requests += !x->load;
    x->start += x->load ? s->m->async.bulk_line : s->m->async.bulk_store_line;
    x->sent++;
    x->sectors_sent += pl_sector_count(x->sectors);
    *(x->load ? &s->stat.l1_read_sectors : &s->stat.l1_write_sectors) +=
        pl_sector_count(x->sectors);
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

/* A bulk or tensor copy of each lane: the engine of the SM sends one request per line. An mbarrier
 * may count its bytes; nothing waits for a prefetch. Lanes are served sequentially, and those of an
 * instruction use the same mbarrier. */
void pl_copy_engine_issue(pl_sm *s, pl_subcore *c, pl_sm_warp *t, const pl_decoded_insn *d,
                          uint32_t pc, uint64_t now, uint64_t seq)
{
    const pl_memory_effect *fx = &s->fx;
    const pl_insn *i = &t->w->code[pc];
    pl_port *engine = &s->unit[PL_UNIT_COPY_ENGINE].port;
    const unsigned first = (unsigned)__builtin_ctz(fx->mask);
    bool counted = d->barrier_operand < PL_INLINE_OPERANDS, prefetch = fx->kind == PL_AC_PREFETCH,
         load = counted || prefetch;
    uint64_t issue = now, wait = (load ? s->m->async.bulk : s->m->async.bulk_store) +
                                 (d->tensor ? s->m->async.tensor : 0);
    pl_port_enter(&s->unit[PL_UNIT_LSU].port, now, PL_SUBCYCLES);
    pl_lg_queue_push(s, c, now);
    uint32_t slot = pl_lsu_inflight_new(s, t, pc, now, seq, PL_SB_LONG);
    pl_inflight *k = &s->inflight.at[slot];
    k->bulk = true;
    t->outstanding--; /* the warp may exit before the copy has completed */
    k->group = t->open_group;
    k->barrier = UINT32_MAX;
    if (counted)
        k->barrier = pl_shared_offset(pl_lsu_operand(t, i, d->barrier_operand, first, false));
    else
        k->copy = !prefetch;
    if (k->copy) t->copies[k->group]++;
    line_sender x = {.s = s,
                     .start = engine->free / PL_SUBCYCLES,
                     .line = s->m->l1.line,
                     .at = PL_NEVER,
                     .slot = slot,
                     .load = load,
                     .prefetch = prefetch,
                     .d = d};
    for (uint32_t left = fx->mask; left; left &= left - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(left);
        const uint64_t size = d->size_operand < PL_INLINE_OPERANDS
                                  ? pl_lsu_operand(t, i, d->size_operand, lane, false)
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
    engine->free = x.start * PL_SUBCYCLES;
    /* A store is complete soon after its last line has been sent. */
    k->remaining = load ? x.sent + 1 : 1;
    pl_lsu_part_done(s, slot, load ? x.start : x.start + s->m->async.bulk_store_end);
    pl_pc_stat *st = pl_sm_pc_stat(s, pc);
    if (st) {
        st->requests++;
        st->sectors += x.sectors_sent;
    }
    /* No wavefronts: the data of a bulk copy does not go through the LSU's data stage. */
    pl_lsu_emit(s, t, pc, now, seq,
                (pl_access_event){.sectors = x.sectors_sent, .level = PL_LV_L2, .token = slot});
}
