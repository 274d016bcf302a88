/* wgmma_operands.c - wgmma: operands in shared memory, which the tensor cores read through the
 * asynchronous proxy until the group of the product has been waited for. */
#include <string.h>

#include "check/race.h"
#include "emu/exec/lane_loops.h"
#include "emu/exec/memory/address.h"
#include "emu/exec/mma/mma.h"

/* Enters the reads of an operand's lines by a warp: pieces of 16 bytes. */
static void operand_races(pl_warp *w, const pl_matrix_source *s, int first, int lines, int k)
{
    const check_insn x = {.flags = PL_ACCESS_ASYNC};
    const unsigned lane = (unsigned)__builtin_ctz(w->exec | 1u << 31);
    const int elements_per_16_bytes = 128 / s->bits, di = s->trans ? elements_per_16_bytes : 1,
              dj = s->trans ? 1 : elements_per_16_bytes;
    pl_visit v;
    pl_visit_open(&v, w, &w->code[w->pc], &x);
    v.self.unit = (uint8_t)(PL_PRODUCTS + unit_index(w));
    v.self.stamp = v.u->group[2].stamp;
    v.proxy = PL_PROXY_SHARED;
    for (int i = 0; i < lines; i += di)
        for (int j = 0; j < k; j += dj) {
            const uint32_t at = pl_wgmma_address(&s->desc, s->bits, s->trans, first + i, j);
            const place p = {
                .owner = block_of(w->cta), .address = at, .bytes = w->cta->shared + at};
            if (at + 16 <= s->size) pl_visit_enter(&v, lane, &p, 16);
        }
    pl_visit_close(&v, &w->code[w->pc]);
}

/* Marks the lines of an operand that have an undefined element, one bit each. */
static void undefined_lines(pl_warp *w, const pl_matrix_source *s, int first, int lines, int k,
                            uint32_t *bad)
{
    struct pl_fetched *x = &check_of(w)->init.fetched;
    const int elements_per_16_bytes = 128 / s->bits, di = s->trans ? elements_per_16_bytes : 1,
              dj = s->trans ? 1 : elements_per_16_bytes;
    const uint64_t slice = (uint64_t)w->cta->cluster_rank * PL_SHARED_SLICE;
    for (int i = 0; i < lines; i += di)
        for (int j = 0; j < k; j += dj) {
            const uint32_t at = pl_wgmma_address(&s->desc, s->bits, s->trans, first + i, j);
            uint8_t bits[16];
            uint32_t origin = 0;
            if (at + 16 > s->size ||
                !pl_init_read(w, 0, PL_SP_SHARED, slice + at, 16, bits, &origin))
                continue;
            if (!x->operand) x->operand = origin;
            for (int e = 0; e < 16; e++) {
                const int line = s->trans ? i + e * 8 / s->bits : i;
                if (bits[e]) bad[line / 32] |= 1u << line % 32;
            }
        }
}

void pl_check_product(const pl_hooks *h, pl_warp *w, const pl_wgmma_op *op,
                      const pl_matrix_source *a, const pl_matrix_source *b, int k)
{
    const unsigned tools = ((const pl_check *)(const void *)h)->tools;
    const int first = (int)(pl_first_thread(w) / PL_LANES % 4) * 16,
              k_of_a = op->sparse ? k / 2 : k;
    if (tools & PL_CHECK_RACE) {
        if (a) operand_races(w, a, first, 16, k_of_a);
        operand_races(w, b, 0, op->n, k);
    }
    if (!(tools & PL_CHECK_INIT)) return;
    struct pl_fetched *x = &check_of(w)->init.fetched;
    uint32_t rows = 0;
    x->adds = op->scale_d;
    if (pl_init_all_defined(w, PL_SP_SHARED)) return;
    if (a) undefined_lines(w, a, first, 16, k_of_a, &rows);
    x->rows = (uint16_t)rows;
    undefined_lines(w, b, 0, op->n, k, x->lines);
}

static bool is_undefined(const struct pl_fetched *x, unsigned row, unsigned column)
{
    return (x->rows >> row | x->lines[column / 32] >> column % 32) & 1u;
}

/* Marks rows of an operand in registers: register r of lane l belongs to row l / 4, or 8 below it.
 */
static void undefined_rows(const pl_warp *w, const pl_insn *i, const pl_traced *s,
                           struct pl_fetched *x)
{
    const int n = pl_operand_count(&pl_forms[i->form], 1, i->mods);
    for (unsigned r = 0; s && (int)r < n; r++) {
        const uint32_t at = pl_traced_row(w) + pl_more(w, i, i->op[1] + r);
        for (uint32_t m = pl_traced_undefined(s, at, 1); m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            x->rows |= (uint16_t)(1u << (l / 4 + 8 * (r & 1)));
            if (!x->operand) x->operand = s->origin[(size_t)at * PL_LANES + l];
        }
    }
}

/* Returns the undefined bits of element e of a lane's result that originate from the operands. */
static uint32_t undefined_from_operands(const struct pl_fetched *x, unsigned e, unsigned lane,
                                        bool half)
{
    const unsigned of_tile = half ? 2 : 4, r = e % of_tile,
                   row = lane / 4 + 8 * (half ? r : r >> 1),
                   column = e / of_tile * 8 + lane % 4 * 2;
    if (half)
        return is_undefined(x, row, column) * 0xffffu |
               is_undefined(x, row, column + 1) * 0xffff0000u;
    return is_undefined(x, row, column + (r & 1)) ? UINT32_MAX : 0;
}

/* Elements of the result are undefined if their row, column or accumulator is. */
void pl_init_product(pl_warp *w, const pl_insn *i)
{
    struct pl_fetched *x = &check_of(w)->init.fetched;
    const uint32_t exec = w->exec;
    *x = (struct pl_fetched){.adds = true};
    pl_traced *s = unit_of(w)->traced;
    if (s && s->n) pl_traced_guard(w, i, s);
    pl_init_inner(w, i);
    if (s && s->n) undefined_rows(w, i, s, x);
    if (x->operand) s = pl_traced_of(w);
    unsigned n;
    const pl_init_use *use = pl_init_results(w, i, &n);
    const bool half = pl_operand_type(&pl_forms[i->form], 0, i->mods) == W_f16x2;
    for (unsigned e = 0; s && (s->n || x->operand) && e < n; e++) {
        const uint32_t at = pl_traced_row(w) + use[e].row;
        uint64_t bits[PL_LANES];
        uint32_t origin[PL_LANES];
        if (at >= s->rows) continue;
        for (unsigned l = 0; l < PL_LANES; l++) {
            const uint32_t now = undefined_from_operands(x, e, l, half);
            bits[l] = (x->adds ? pl_traced_bits(s, at, false, l) : 0) | now;
            origin[l] = now ? x->operand : s->origin[(size_t)at * PL_LANES + l];
        }
        pl_traced_set(s, at, false, exec, bits, origin);
    }
}
