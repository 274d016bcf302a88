/* coalescer.h - maps the addresses of a vector access to the lines and sectors that the memory
 * system sees.
 *
 * Global and local accesses: lanes that touch the same 128-byte line share one tag look-up, lanes
 * that touch the same 32-byte sector share one sector. Shared memory: 32 banks of 4 bytes; lanes
 * that access different words of one bank are served in different passes ("wavefronts"). 64-bit
 * accesses are served half a warp, 128-bit accesses a quarter of a warp at a time. Source: NVIDIA
 * developer forum, "bank conflicts of vector loads", and smem.tsv / coalescing.tsv recorded on an
 * H200. */
#ifndef PL_MEMMODEL_COALESCER_H
#define PL_MEMMODEL_COALESCER_H

#include <stdbool.h>
#include <stdint.h>

enum { PL_COALESCE_LANES = 32, PL_COALESCE_LINES = 2 * PL_COALESCE_LANES };

/* A line, and its accesses by lanes. */
typedef struct pl_coalesced_line {
    uint64_t line;
    uint8_t mask;             /* sectors */
    uint8_t lanes;            /* lanes that touch it */
    uint8_t max_same_address; /* most lanes with the same address */
    uint8_t word_mask; /* atomics: which of the eight words of a sector they touch, all sectors
                       together */
    uint8_t
        sector_ops; /* atomics: most lanes with the same address in a sector, summed over sectors */
    uint8_t words;  /* distinct addresses */
} pl_coalesced_line;

typedef struct pl_lines {
    uint32_t n;       /* distinct lines, in the order of the first lane that touches them */
    uint32_t sectors; /* distinct sectors in all */
    uint32_t unique;  /* distinct addresses among the lanes */
    pl_coalesced_line at[PL_COALESCE_LINES];
} pl_lines;

/* Computes the lines of `line` bytes and sectors of `sector` bytes that the lanes in `mask` access
 * with `size` bytes each. */
void pl_coalesce(pl_lines *out, uint32_t mask, const uint64_t *address, uint32_t size,
                 uint32_t line, uint32_t sector);
/* Cycles of their tag look-ups, `tags` a cycle. If `low` or `high` is set, the tags are in four
 * banks that look up one tag a cycle each. `low` and `high` select bits of the line's number; their
 * parities form the bank number (sets.tsv: H200, driver 580.159.04, 2026-11). */
uint32_t pl_tag_cycles(const pl_lines *lines, uint32_t line, uint32_t tags, uint32_t low,
                       uint32_t high);
/* As pl_coalesce, and also counts lanes with equal addresses (atomics). */
void pl_coalesce_atomic(pl_lines *out, uint32_t mask, const uint64_t *address, uint32_t size,
                        uint32_t line, uint32_t sector);
/* The banks of a memory. A pass opens `rows` neighbouring rows. (Kepler with 4-byte banks: two, so
 * that words n and n + 32 of 64 aligned ones share a pass.) */
typedef struct pl_banks {
    uint32_t count, width /* bytes */, rows;
} pl_banks;

/* Passes through the banks that an access of `size` bytes per lane takes. `extra` receives the
 * passes beyond those of conflict-free addresses. Wide accesses are served in groups of lanes whose
 * data fill a row of the banks: half a warp for 8 bytes, a quarter for 16. Loads use groups of
 * twice the size if lanes n and n ^ 1, or n and n ^ 2, agree throughout the warp (smem.tsv: H200,
 * driver 580.159.04, 2026-11). */
uint32_t pl_bank_passes(uint32_t mask, const uint64_t *address, uint32_t size,
                        const pl_banks *banks, bool load, uint32_t *extra);
/* Passes that serve the lanes of each bank. Accesses wider than a bank are served by parts of a
 * warp, whose first passes overlap. */
uint32_t pl_bank_lanes(uint32_t mask, const uint64_t *address, uint32_t size,
                       const pl_banks *banks);
/* Distinct addresses: passes of a unit that serves one address at a time (the constant cache). */
uint32_t pl_distinct(uint32_t mask, const uint64_t *address);

#endif
