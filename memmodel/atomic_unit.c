/* atomic_unit.c - the atomic ALU of a slice of the L2. */
#include "memmodel/memsys_parts.h"

/* The cycle at which an atomic has been performed. Operations on the same address, and sectors, are
 * processed sequentially. The unit starts the next request once it has started all operations of
 * this one. A request for a word that this one modifies also waits until the word can be modified
 * again. */
uint64_t pl_atomic_unit_perform(const pl_memsys *m, pl_atomic_unit *u, const pl_mem_req *r,
                                uint64_t now)
{
    const uint32_t sectors = pl_sector_count(r->sectors);
    uint64_t deepest = r->max_same_address ? r->max_same_address : 1,
             turns = r->sector_ops > sectors ? r->sector_ops - sectors + 1 : 1;
    const uint64_t more = r->alu == PL_ALU_FLOAT ? (uint64_t)m->atomic_more * r->extra_words : 0,
                   same = m->atomic_same[r->alu];
    uint64_t hold = m->atomic_turn[r->alu] * turns +
                    (uint64_t)m->atomic_sector[r->alu] * (sectors - 1) + more,
             at = now * PL_SUBCYCLES;
    if (u->free < at) u->free = at;
    if (r->line == u->line && r->sectors & u->sectors && r->word_mask & u->places &&
        u->changed > u->free)
        u->free = u->changed;
    u->line = r->line;
    u->sectors = r->sectors;
    u->places = r->word_mask;
    u->changed = u->free +
                 (r->op == PL_MEM_ATOMIC && m->atomic_again > same ? m->atomic_again : same) +
                 same * (deepest - 1) + more;
    u->free += hold;
    uint64_t out = u->free > u->changed ? u->free : u->changed;
    return (out + PL_SUBCYCLES - 1) / PL_SUBCYCLES;
}

/* Stalls accesses to a slice while the queue of its arithmetic is full. */
void pl_atomic_unit_hold_slice(pl_memsys *m, uint32_t slice)
{
    const uint64_t room = (uint64_t)m->c->atomic_wait * PL_SUBCYCLES, free = m->atomic[slice].free;
    if (room && free > room && free - room > m->slice[slice].free)
        m->slice[slice].free = free - room;
}
