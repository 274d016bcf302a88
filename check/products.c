/* products.c - wgmma: its operands in shared memory, which the tensor cores read by the
 * asynchronous proxy, until somebody waits for the group of the product. */
#include "check/race.h"
#include "emu/exec/mma/mma.h"

/* Lines of an operand of wgmma that a warp reads: pieces of 16 bytes. */
static void operand_races(pl_warp *w, const pl_matrix_source *s, int first, int lines, int k)
{
    const check_insn x = {.flags = PL_ACCESS_ASYNC};
    const unsigned lane = (unsigned)__builtin_ctz(w->exec | 1u << 31);
    const int per = 128 / s->bits, di = s->trans ? per : 1, dj = s->trans ? 1 : per;
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

void pl_check_product(const pl_hooks *h, pl_warp *w, const pl_wgmma_op *op,
                      const pl_matrix_source *a, const pl_matrix_source *b, int k)
{
    const unsigned tools = ((const pl_check *)(const void *)h)->tools;
    const int first = (int)(pl_first_thread(w) / PL_LANES % 4) * 16;
    if (!(tools & PL_CHECK_RACE)) return;
    if (a) operand_races(w, a, first, 16, op->sparse ? k / 2 : k);
    operand_races(w, b, 0, op->n, k);
}
