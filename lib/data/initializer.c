/* initializer.c - the initialisers of buffers. The recordings in tests/data were made with equal
 * values, bit for bit.
 *
 * Floating-point values are computed in double, with every operation rounded. This file must not be
 * compiled with fused multiply-add contraction (configure passes -ffp-contract=off). */
#include "lib/data/initializer.h"
#include <string.h>

uint64_t pl_fill_hash(uint64_t seed, uint64_t i)
{
    uint64_t z = seed * 0x9E3779B97F4A7C15u + i + 1;
    z ^= z >> 30;
    z *= 0xBF58476D1CE4E5B9u;
    z ^= z >> 27;
    z *= 0x94D049BB133111EBu;
    z ^= z >> 31;
    return z;
}

/* Stores the low bytes of bits as element i. */
static inline void store(uint8_t *to, unsigned bytes, uint64_t i, uint64_t bits)
{
    memcpy(to + i * bytes, &bits, bytes);
}

static void fill_const(uint8_t *to, unsigned bytes, uint64_t count, uint64_t bits)
{
    store(to, bytes, 0, bits);
    /* Doubling copies run at memcpy speed. */
    for (uint64_t done = 1; done < count;) {
        uint64_t n = done < count - done ? done : count - done;
        memcpy(to + done * bytes, to, n * bytes);
        done += n;
    }
}

static uint64_t round_bits(const pl_element *e, float f)
{
    if (e->bytes < 4) return pl_element_narrow(e, f);
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static void fill_iota(uint8_t *to, const pl_element *e, uint64_t first, uint64_t end)
{
    for (uint64_t i = first; i < end; i++) {
        uint64_t bits = i;
        if (e->kind == 'f' && e->bytes == 8) {
            double d = (double)i;
            memcpy(&bits, &d, sizeof d);
        } else if (e->kind == 'f') {
            bits = round_bits(e, (float)i);
        }
        store(to, e->bytes, i, bits);
    }
}

static void fill_hash_f32(uint8_t *to, uint64_t first, uint64_t end, const pl_init *p)
{
    double width = p->fhi - p->flo;
    for (uint64_t i = first; i < end; i++) {
        double u = (double)(pl_fill_hash(p->seed, i) >> 40) * 0x1p-24, scaled = width * u;
        float f = (float)(p->flo + scaled);
        memcpy(to + i * sizeof f, &f, sizeof f);
    }
}

static void fill_hash_float(uint8_t *to, const pl_element *e, uint64_t first, uint64_t end,
                            const pl_init *p)
{
    double width = p->fhi - p->flo;
    for (uint64_t i = first; i < end; i++) {
        uint64_t z = pl_fill_hash(p->seed, i), bits;
        if (e->bytes == 8) {
            double scaled = width * ((double)(z >> 11) * 0x1p-53), d = p->flo + scaled;
            memcpy(&bits, &d, sizeof d);
        } else {
            double scaled = width * ((double)(z >> 40) * 0x1p-24);
            bits = round_bits(e, (float)(p->flo + scaled));
        }
        store(to, e->bytes, i, bits);
    }
}

static void fill_hash_int(uint8_t *to, const pl_element *e, uint64_t first, uint64_t end,
                          const pl_init *p)
{
    if (p->limited) {
        for (uint64_t i = first; i < end; i++)
            store(to, e->bytes, i, (uint64_t)p->lo + (pl_fill_hash(p->seed, i) >> 32) % p->span);
    } else {
        for (uint64_t i = first; i < end; i++) store(to, e->bytes, i, pl_fill_hash(p->seed, i));
    }
}

void pl_fill(void *to, const pl_element *e, uint64_t first, uint64_t end, const pl_init *init)
{
    if (first >= end) return;
    switch (init->kind) {
    case PL_INIT_CONST:
        fill_const((uint8_t *)to + first * e->bytes, e->bytes, end - first, init->bits);
        break;
    case PL_INIT_IOTA: fill_iota(to, e, first, end); break;
    case PL_INIT_LIST:
        for (uint64_t i = first; i < end; i++) store(to, e->bytes, i, init->list[i]);
        break;
    case PL_INIT_HASH:
        if (e->kind != 'f')
            fill_hash_int(to, e, first, end, init);
        else if (e->bytes == 4)
            fill_hash_f32(to, first, end, init);
        else
            fill_hash_float(to, e, first, end, init);
        break;
    case PL_INIT_FILE: break; /* the caller reads files */
    }
}
