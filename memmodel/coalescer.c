/* coalescer.c - lines, sectors and bank passes of a vector access; see coalescer.h. */
#include "memmodel/coalescer.h"
#include "memmodel/request.h"
#include <stdbool.h>
#include <string.h>

/* n / d: sectors, words and banks are powers of two on every machine so far, and a division takes
 * longer than the rest of their loop. */
static inline uint64_t quotient(uint64_t n, uint32_t d)
{
    return d & (d - 1) ? n / d : n >> __builtin_ctz(d);
}

static inline void add_sectors(pl_lines *out, uint64_t line, uint8_t mask)
{
    /* neighbouring lanes mostly share a line, so search backwards */
    for (uint32_t i = out->n; i-- > 0;) {
        if (out->at[i].line != line) continue;
        out->at[i].mask |= mask;
        out->at[i].lanes++;
        return;
    }
    out->at[out->n].line = line;
    out->at[out->n].mask = mask;
    out->at[out->n].lanes = 1;
    out->at[out->n].max_same_address = 1;
    out->n++;
}

/* The sectors of a line between two bytes, inclusive. */
static inline uint8_t sectors_of(uint64_t from, uint64_t to, uint32_t sector, bool power)
{
    const unsigned shift = (unsigned)__builtin_ctz(sector),
                   low = (unsigned)(power ? from >> shift : from / sector),
                   high = (unsigned)(power ? to >> shift : to / sector);
    return (uint8_t)((2u << high) - (1u << low));
}

void pl_coalesce(pl_lines *out, uint32_t mask, const uint64_t *address, uint32_t size,
                 uint32_t line, uint32_t sector)
{
    const bool power = !(sector & (sector - 1));
    const uint64_t last_byte = (size ? size : 1) - 1;
    out->n = out->sectors = out->unique = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t first = address[__builtin_ctz(m)], last = first + last_byte;
        uint64_t l = first & ~(uint64_t)(line - 1);
        if (last - l < line) { /* the common case */
            add_sectors(out, l, sectors_of(first - l, last - l, sector, power));
            continue;
        }
        for (; l <= last; l += line) {
            const uint64_t from = first > l ? first - l : 0,
                           to = last - l < line - 1 ? last - l : line - 1;
            add_sectors(out, l, sectors_of(from, to, sector, power));
        }
    }
    for (uint32_t i = 0; i < out->n; i++) out->sectors += pl_sector_count(out->at[i].mask);
}

uint32_t pl_tag_cycles(const pl_lines *lines, uint32_t line, uint32_t tags, uint32_t low,
                       uint32_t high)
{
    if (!(low | high) || lines->n < 2) return (lines->n + tags - 1) / tags;
    uint32_t lookups[4] = {0}, max = 0;
    for (uint32_t i = 0; i < lines->n; i++) {
        const uint32_t number = (uint32_t)quotient(lines->at[i].line, line);
        const uint32_t bank = (unsigned)__builtin_parity(number & high) * 2u +
                              (unsigned)__builtin_parity(number & low);
        if (++lookups[bank] > max) max = lookups[bank];
    }
    return max;
}

void pl_coalesce_atomic(pl_lines *out, uint32_t mask, const uint64_t *address, uint32_t size,
                        uint32_t line, uint32_t sector)
{
    pl_coalesce(out, mask, address, size, line, sector);
    uint64_t seen[PL_COALESCE_LANES];
    uint8_t lanes[PL_COALESCE_LANES];
    uint32_t n = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t a = address[__builtin_ctz(m)];
        uint32_t k = 0;
        while (k < n && seen[k] != a) k++;
        if (k == n) {
            seen[n] = a;
            lanes[n++] = 0;
        }
        lanes[k]++;
    }
    out->unique = n;
    uint8_t busiest[PL_COALESCE_LINES][8];
    for (uint32_t i = 0; i < out->n; i++) {
        memset(busiest[i], 0, sizeof busiest[i]);
        out->at[i].words = out->at[i].word_mask = 0;
    }
    for (uint32_t k = 0; k < n; k++) {
        uint64_t first = seen[k] & ~(uint64_t)(line - 1);
        for (uint32_t i = 0; i < out->n; i++) {
            if (out->at[i].line != first) continue;
            uint8_t *d = &busiest[i][(seen[k] - first) / sector];
            if (lanes[k] > *d) *d = lanes[k];
            if (lanes[k] > out->at[i].max_same_address) out->at[i].max_same_address = lanes[k];
            out->at[i].words++;
            out->at[i].word_mask |= (uint8_t)((size > 4 ? 3u : 1u) << seen[k] / 4 % 8);
            break;
        }
    }
    for (uint32_t i = 0; i < out->n; i++) {
        uint32_t sum = 0;
        for (uint32_t k = 0; k < 8; k++) sum += busiest[i][k];
        out->at[i].sector_ops = (uint8_t)(sum ? sum : 1);
    }
}

/* Passes of one group of lanes: the busiest bank determines the number. Lanes that read the same
 * word share it. Words are held in one list per bank, so that conflict-free patterns need no
 * comparisons. */
static uint32_t group_passes(uint32_t mask, const uint64_t *address, uint32_t size,
                             const pl_banks *b)
{
    const uint32_t banks = b->count, width = b->width, rows = b->rows;
    enum { BANKS = 64, END = 255 };
    uint64_t word[4 * PL_COALESCE_LANES];
    uint8_t next[4 * PL_COALESCE_LANES], head[BANKS], in_bank[BANKS];
    uint32_t n = 0, max = 0;
    memset(head, END, sizeof head);
    memset(in_bank, 0, sizeof in_bank);
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t a = address[__builtin_ctz(m)];
        const uint64_t last = quotient(a + size - 1, width);
        for (uint64_t at = quotient(a, width); at <= last && n < 4 * PL_COALESCE_LANES; at++) {
            const uint64_t bank = at - quotient(at, banks) * banks;
            /* Words of one pass count as one. */
            uint64_t w = rows == 1 ? at : quotient(at, banks * rows) * banks + bank;
            uint32_t list = (uint32_t)bank % BANKS, k = head[list];
            while (k != END && word[k] != w) k = next[k];
            if (k != END) continue;
            word[n] = w;
            next[n] = head[list];
            head[list] = (uint8_t)n++;
            uint32_t c = ++in_bank[list];
            if (c > max) max = c;
        }
    }
    return max;
}

/* True if the lanes access consecutive words from an aligned first one: the most frequent pattern,
 * and conflict-free. */
static bool is_consecutive(uint32_t mask, const uint64_t *address, uint32_t size)
{
    if (mask != UINT32_MAX) return false;
    for (unsigned i = 1; i < PL_COALESCE_LANES; i++) {
        if (address[i] != address[0] + (uint64_t)i * size) return false;
    }
    return address[0] % size == 0;
}

/* True if all lanes access one address: one word, or several adjacent ones in as many banks. */
static bool all_equal(uint32_t mask, const uint64_t *address)
{
    uint64_t differ = 0;
    for (unsigned i = 1; i < PL_COALESCE_LANES; i++) differ |= address[i] ^ address[0];
    return mask == UINT32_MAX && differ == 0;
}

/* True if lanes at this distance have equal addresses, as far as both are in the mask. */
static bool lanes_agree(uint32_t mask, const uint64_t *address, unsigned distance)
{
    for (unsigned i = 0; i < PL_COALESCE_LANES; i++) {
        unsigned j = i ^ distance;
        if (j > i && mask >> i & 1 && mask >> j & 1 && address[i] != address[j]) return false;
    }
    return true;
}

uint32_t pl_bank_passes(uint32_t mask, const uint64_t *address, uint32_t size,
                        const pl_banks *banks, bool load, uint32_t *extra)
{
    const uint32_t width = banks->width;
    uint32_t lanes = PL_COALESCE_LANES, passes = 0, min_passes = 0;
    *extra = 0;
    if (!mask) return 0;
    if (size > 16) size = 16;
    uint32_t row = banks->count * width * banks->rows; /* bytes that one pass can move */
    uint32_t group = size <= width ? lanes : row / size;
    if (group > lanes) group = lanes;
    if (size >= width && is_consecutive(mask, address, size)) return lanes / group;
    if (group == lanes && size <= width * banks->count && all_equal(mask, address)) return 1;
    if (load && group < lanes && (lanes_agree(mask, address, 1) || lanes_agree(mask, address, 2)))
        group *= 2;
    for (uint32_t first = 0; first < lanes; first += group) {
        uint32_t part = group == lanes ? mask : mask & (((1u << group) - 1) << first);
        if (!part) continue;
        passes += group_passes(part, address, size, banks);
        min_passes++;
    }
    *extra = passes > min_passes ? passes - min_passes : 0;
    return passes;
}

uint32_t pl_bank_lanes(uint32_t mask, const uint64_t *address, uint32_t size, const pl_banks *banks)
{
    const uint32_t width = banks->width;
    uint32_t rounds = 1,
             group = size > width ? PL_COALESCE_LANES * width / size : PL_COALESCE_LANES;
    for (uint32_t first = 0; first < PL_COALESCE_LANES; first += group) {
        uint8_t lanes[64] = {0};
        uint32_t max = 1;
        for (uint32_t m = group == PL_COALESCE_LANES ? mask : mask & (((1u << group) - 1) << first);
             m; m &= m - 1) {
            const uint64_t at = quotient(address[__builtin_ctz(m)], width);
            uint32_t n = ++lanes[(at - quotient(at, banks->count) * banks->count) % 64];
            max = n > max ? n : max;
        }
        rounds += max - 1;
    }
    return rounds;
}

uint32_t pl_distinct(uint32_t mask, const uint64_t *address)
{
    uint32_t n = 0;
    while (mask) {
        uint64_t a = address[__builtin_ctz(mask)];
        uint32_t same = 0;
        for (uint32_t m = mask; m; m &= m - 1) {
            unsigned l = (unsigned)__builtin_ctz(m);
            if (address[l] == a) same |= 1u << l;
        }
        mask &= ~same;
        n++;
    }
    return n;
}
