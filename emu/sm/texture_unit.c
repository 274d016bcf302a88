/* texture_unit.c - the texture unit of an SM: descriptors of textures and surfaces, serialisation
 * of lanes, and the return of filtered values to the sub-core. */
#include "emu/sm/units.h"

/* Descriptors of textures and surfaces are in memory; an SM reads one on first use. Returns the
 * cycle at which an access issued at `start` can begin. */
static uint64_t descriptor_ready(pl_sm *s, uint64_t object, uint64_t start)
{
    for (uint32_t k = 0; k < PL_TEXTURE_HEADERS; k++)
        if (s->header[k].object == object)
            return start > s->header[k].available_at ? start : s->header[k].available_at;
    s->header[s->header_at].object = object;
    s->header[s->header_at].available_at = start + s->m->l1.header;
    s->header_at = (s->header_at + 1) % PL_TEXTURE_HEADERS;
    return start + s->m->l1.header;
}

/* Cycles for which an access occupies the texture units of the SM; *further: its additional
 * latency. Four lanes per cycle are served, eight if their coordinates are integers. Within a group
 * of lanes, lines of the same bank are serialised, except for two neighbouring lines. Wide texels
 * take longer, twice as long with linear filtering, and all of it for each of two planes (tex.tsv,
 * texmiss.tsv). */
static uint64_t quad_passes(const pl_sm *s, const pl_memory_effect *fx, uint64_t *further)
{
    enum { BANKS = 4, NEXT_BANK = 32, WIDE = 16 };
    const pl_l1_config *m = &s->m->l1;
    const uint32_t lanes = m->texture_lanes << !fx->sampled;
    uint32_t passes = 0, groups = 0;
    for (uint32_t first = 0; first < PL_LANES; first += lanes) {
        uint64_t line[PL_LANES];
        uint32_t n = 0, on[BANKS] = {0}, busiest = 0;
        for (uint32_t l = first; l < first + lanes && l < PL_LANES; l++) {
            uint32_t k = 0;
            if (!(fx->mask >> l & 1)) continue;
            const uint64_t at = fx->addr[l] / m->line;
            while (k < n && line[k] != at) k++;
            if (k < n) continue;
            line[n++] = at;
            const uint32_t bank_lines =
                ++on[(at / NEXT_BANK ^ at / NEXT_BANK / BANKS ^ at / NEXT_BANK / BANKS / BANKS) %
                     BANKS];
            if (bank_lines > busiest) busiest = bank_lines;
        }
        passes += n == 2 && (line[0] + 1 == line[1] || line[1] + 1 == line[0]) ? 1 : busiest;
        groups += n > 0;
    }
    if (fx->gathered || fx->mip_filtered) groups *= 2;
    if (fx->mip_filtered) passes *= 2;
    uint64_t transfer =
        m->texture_width ? (uint64_t)fx->size * pl_count_lanes(fx->mask) / m->texture_width : 0;
    if (fx->filtered && fx->size >= WIDE) transfer *= fx->mip_filtered ? 4 : 2;
    if (transfer < groups) transfer = groups;
    *further = 2 * (transfer - groups) + (passes > groups ? passes - groups : 0);
    return passes > transfer ? passes : transfer;
}

uint64_t pl_texture_unit_enter(pl_sm *s, pl_subcore *c, const pl_decoded_insn *d, uint64_t start,
                               uint64_t *further)
{
    const pl_l1_config *m = &s->m->l1;
    *further = m->texture;
    start = descriptor_ready(s, s->fx.object, start);
    if (!m->texture_lanes) return start;
    uint64_t more;
    start = pl_port_enter(&s->unit[PL_UNIT_TEXTURE].port, start,
                          quad_passes(s, &s->fx, &more) * PL_SUBCYCLES);
    start = pl_port_enter(&c->texels, start,
                          (uint64_t)m->texture_result * (d->components > 2 ? d->components : 1) *
                              PL_SUBCYCLES);
    *further += more + m->texture_component * (d->components > 1 ? d->components - 1u : 0);
    return start;
}
