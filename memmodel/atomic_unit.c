/* atomic_unit.c - the atomic ALU of a slice of the L2. */
#include "memmodel/memsys_parts.h"

/* Cycles that operations of one request on the same address occupy the unit beyond the interval of
 * other operations. Each waits for the result of the previous one; the unit performs another
 * request in half of that time. (atomics.tsv ways, 8 and 16 lanes on each word: an addition of
 * floating-point numbers takes 2.38 cycles, 3.28 if all are on one word.) */
static uint64_t dependent_cost(const pl_memsys *m, const pl_mem_req *r, uint64_t deepest)
{
    const uint64_t same = m->atomic_address_interval[r->alu], other = m->atomic_op_cost[r->alu];
    return same > other ? (same - other) * (deepest - 1) / 2 : 0;
}

/* The cycle at which an atomic has been performed. Operations on the same address, and sectors, are
 * processed sequentially. The unit starts the next request once it has started all operations of
 * this one. A request for a word that this one modifies also waits until the word can be modified
 * again. */
uint64_t pl_atomic_unit_perform(const pl_memsys *m, pl_atomic_unit *u, const pl_mem_req *r,
                                uint64_t now)
{
    const uint32_t sectors = pl_sector_count(r->sectors);
    uint64_t deepest = r->max_same_address ? r->max_same_address : 1,
             rounds = r->sector_ops > sectors ? r->sector_ops - sectors + 1 : 1;
    const uint64_t extra =
                       r->alu == PL_ALU_FLOAT ? (uint64_t)m->atomic_word_cost * r->extra_words : 0,
                   same = m->atomic_address_interval[r->alu];
    uint64_t busy = m->atomic_op_cost[r->alu] * rounds +
                    (uint64_t)m->atomic_sector[r->alu] * (sectors - 1) + extra +
                    dependent_cost(m, r, deepest),
             at = now * PL_SUBCYCLES;
    if (u->free < at) u->free = at;
    if (r->line == u->line && r->sectors & u->sectors && r->word_mask & u->word_mask &&
        u->words_free > u->free)
        u->free = u->words_free;
    u->line = r->line;
    u->sectors = r->sectors;
    u->word_mask = r->word_mask;
    u->words_free =
        u->free +
        (r->op == PL_MEM_ATOMIC && m->atomic_line_interval > same ? m->atomic_line_interval
                                                                  : same) +
        same * (deepest - 1) + extra;
    u->free += busy;
    uint64_t out = u->free > u->words_free ? u->free : u->words_free;
    return (out + PL_SUBCYCLES - 1) / PL_SUBCYCLES;
}

/* Stalls accesses to a slice while the queue of its arithmetic is full. */
void pl_atomic_unit_stall_slice(pl_memsys *m, uint32_t slice)
{
    const uint64_t limit = (uint64_t)m->c->atomic_queue_limit * PL_SUBCYCLES,
                   free = m->atomic[slice].free;
    if (limit && free > limit && free - limit > m->slice[slice].free)
        m->slice[slice].free = free - limit;
}
