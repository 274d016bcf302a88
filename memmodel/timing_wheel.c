/* timing_wheel.c - events of the memory system by cycle: a list for each of the next PL_WHEEL
 * cycles, and one list of later events. */
#include "memmodel/memsys_parts.h"

static void link_bucket(pl_memsys *m, uint32_t i, unsigned bucket)
{
    const uint64_t bit = 1ull << (bucket % 64);
    m->txn[i].next = PL_NO_TXN;
    if (m->busy[bucket / 64] & bit)
        m->txn[m->tail[bucket]].next = i;
    else
        m->head[bucket] = i;
    m->busy[bucket / 64] |= bit;
    m->tail[bucket] = i;
}

/* Schedules transaction i for cycle `at`; the caller has set its stage. */
void pl_wheel_schedule(pl_memsys *m, uint32_t i, uint64_t at)
{
    m->txn[i].r.time = at;
    if (at >= m->now + PL_WHEEL) {
        m->txn[i].next = m->overflow_list;
        m->overflow_list = i;
        return;
    }
    link_bucket(m, i, (unsigned)(at % PL_WHEEL));
}

/* Moves events that are now within the wheel's range into the wheel. Preserves the scheduling order
 * among transactions of one cycle. */
void pl_wheel_refill(pl_memsys *m)
{
    uint32_t list = PL_NO_TXN, i = m->overflow_list, next;
    m->overflow_list = PL_NO_TXN;
    m->last_refill = m->now;
    for (; i != PL_NO_TXN; i = next) { /* reverse: the list is last in, first out */
        next = m->txn[i].next;
        m->txn[i].next = list;
        list = i;
    }
    for (i = list; i != PL_NO_TXN; i = next) {
        next = m->txn[i].next;
        pl_wheel_schedule(m, i, m->txn[i].r.time);
    }
}

/* First cycle >= m->now with an event inside the wheel, or UINT64_MAX. */
uint64_t pl_wheel_next(const pl_memsys *m)
{
    unsigned start = (unsigned)(m->now % PL_WHEEL), word = start / 64;
    uint64_t bits = m->busy[word] & (~0ull << (start % 64));
    for (unsigned k = 0; k <= PL_WHEEL / 64; k++) {
        if (bits) {
            unsigned bucket = word * 64 + (unsigned)__builtin_ctzll(bits);
            return m->now + (bucket + PL_WHEEL - start) % PL_WHEEL;
        }
        word = (word + 1) % (PL_WHEEL / 64);
        bits = m->busy[word];
        if (k + 1 == PL_WHEEL / 64) bits &= ~(~0ull << (start % 64));
    }
    return UINT64_MAX;
}

uint64_t pl_memsys_next(const pl_memsys *m)
{
    uint64_t at = pl_wheel_next(m);
    for (uint32_t i = m->overflow_list; i != PL_NO_TXN; i = m->txn[i].next) {
        if (m->txn[i].r.time < at) at = m->txn[i].r.time;
    }
    if (m->faults && pl_page_faults_next(m->faults) < at) at = pl_page_faults_next(m->faults);
    return at;
}
