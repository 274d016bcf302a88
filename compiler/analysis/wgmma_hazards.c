/* wgmma_hazards.c - see wgmma_hazards.h.
 *
 * A forward data-flow analysis over the blocks. For each product (wgmma.mma_async), the state
 * records how many groups may have been committed since it started: one bit per count, none once it
 * has been waited for. For each register that a product uses, it records which instruction may have
 * written it since the last wgmma.fence. States are joined by union. */
#include "compiler/analysis/wgmma_hazards.h"

#include <string.h>

#include "isa/program/cfg.h"
#include "isa/program/insn_query.h"
#include "isa/program/operand_plan.h"

enum { OLDEST = 7, MAX_STATE = 1 << 26, MAX_HAZARDS = 4096, MAX_REPORTS_PER_ACCESS = 16 };

typedef struct product_use {
    uint32_t product, next; /* next use of the same register; from 1 on, 0: none */
    bool sum;
} product_use;

typedef struct state {
    uint8_t *pending;  /* by product */
    uint32_t *written; /* by register: 1 + position of the write, 0: none */
    uint32_t *copied;  /* by register: the register that it is a copy of, or 0 */
} state;

/* AS_*: by a product. */
typedef enum access_kind { READS, WRITES, AS_SUM, AS_MATRIX } access_kind;

typedef struct finder {
    pl_program *p;
    pl_prog_func *f;
    pl_arena *a;
    pl_cfg g;
    uint32_t *of; /* by row: its number among the registers of products, from 1 on, or 0 */
    uint32_t registers;
    uint32_t *first; /* by that number: first use in `uses` */
    struct {
        product_use *at;
        size_t n, cap;
    } uses;
    struct {
        uint32_t *at;
        size_t n, cap;
    } products;   /* code positions */
    state *start; /* state at the start of each block */
    state current;
    bool report;
    uint32_t at, block;
} finder;

static bool is_product(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_wgmma && pl_insn_has(i, W_mma_async);
}

/* ---- registers of products ---- */

static uint32_t count_of(const pl_insn *i, unsigned operand)
{
    const int n = pl_operand_count(&pl_forms[i->form], operand, i->mods);
    return n > 0 ? (uint32_t)n : 0;
}

static uint32_t row_of(const finder *x, const pl_insn *i, unsigned operand, uint32_t n)
{
    return x->p->pool.at[i->extra_ops + i->op[operand] + n];
}

static void add_use(finder *x, uint32_t row, uint32_t product, bool sum)
{
    if (row >= x->f->rows) return;
    if (!x->of[row]) x->of[row] = ++x->registers;
    const uint32_t r = x->of[row], last = x->first[r];
    if (last && x->uses.at[last - 1].product == product && x->uses.at[last - 1].sum == sum) return;
    *pl_push(x->a, &x->uses) = (product_use){product, x->first[r], sum};
    x->first[r] = (uint32_t)x->uses.n;
}

static void find_products(finder *x)
{
    for (uint32_t k = x->f->first; k < x->f->first + x->f->count; k++) {
        const pl_insn *i = &x->p->code.at[k];
        if (!is_product(i)) continue;
        const uint32_t product = (uint32_t)x->products.n;
        *pl_push(x->a, &x->products) = k;
        for (unsigned operand = 0; operand < 2; operand++)
            for (uint32_t n = 0; n < count_of(i, operand); n++)
                add_use(x, row_of(x, i, operand, n), product, !operand);
    }
}

/* True for a register copy, also of a constant. Compilers insert copies anywhere, independently of
 * the source, and ptxas removes them again. So a copy of an accumulator stands for that
 * accumulator, and a copied value counts as written where its source is. */
static bool is_copy(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_mov && !count_of(i, 0) && !count_of(i, 1) &&
           pl_forms[i->form].noperands == 2 &&
           pl_type_bits(pl_operand_type(&pl_forms[i->form], 0, i->mods)) == 32;
}

/* Registers connected to product registers by copies are tracked too. */
static void find_copies(finder *x)
{
    for (bool again = true; again;) {
        again = false;
        for (uint32_t k = x->f->first + x->f->count; k-- > x->f->first;) {
            const pl_insn *i = &x->p->code.at[k];
            if (!is_copy(i) || i->op[0] >= x->f->rows || i->op[1] >= x->f->rows) continue;
            uint32_t *to = &x->of[i->op[0]], *from = &x->of[i->op[1]];
            if (!*to == !*from) continue;
            *(*to ? from : to) = ++x->registers;
            again = true;
        }
    }
}

/* ---- reporting ---- */

static const pl_prog_line *line_of(const finder *x, uint32_t at)
{
    return &x->p->lines.at[x->p->code.at[at].line];
}

static bool is_anchor(const finder *x, uint32_t at)
{
    return pl_insn_mnem(&x->p->code.at[at]) == M_wgmma;
}

/* Finds an instruction of the block that no pass moves or removes, with the same pending products
 * as at the access. */
static void find_anchor(const finder *x, uint32_t access, pl_wgmma_hazard *h)
{
    const pl_cfg_block *b = &x->g.b[x->block];
    uint32_t at = access;
    h->anchor = *line_of(x, access);
    h->when = PL_ANCHOR_SELF;
    h->first_line = line_of(x, b->first)->ptx_line;
    h->last_line = line_of(x, b->end - 1)->ptx_line;
    if (is_anchor(x, access) || x->p->code.at[access].guard != PL_PT) return;
    while (at > b->first && !is_anchor(x, at - 1)) at--;
    if (at > b->first) {
        h->anchor = *line_of(x, at - 1);
        h->when = PL_ANCHOR_BEFORE;
        return;
    }
    for (at = access; at < b->end && !is_anchor(x, at);) at++;
    if (at == b->end) return;
    h->anchor = *line_of(x, at);
    h->when = PL_ANCHOR_AFTER;
}

static void report_hazard(finder *x, pl_hazard_kind kind, uint32_t access, uint32_t product)
{
    if (x->f->hazards.n >= MAX_HAZARDS) return;
    pl_wgmma_hazard h = {
        .kind = kind, .access = *line_of(x, access), .product = *line_of(x, product)};
    const uint32_t block = x->block;
    x->block = x->g.of[access - x->f->first];
    find_anchor(x, access, &h);
    x->block = block;
    *pl_push(x->p->arena, &x->f->hazards) = h;
}

static pl_word shape_of(const finder *x, uint32_t at)
{
    const pl_insn *i = &x->p->code.at[at];
    return pl_mod(&pl_forms[i->form], i->mods, G_shape);
}

/* Reports each pending product that uses the register accessed by the current instruction. Several
 * products of one shape may accumulate into one sum, and read one matrix. */
static void access(finder *x, uint32_t r, access_kind kind)
{
    unsigned n = 0;
    for (uint32_t u = x->first[r]; u && n < MAX_REPORTS_PER_ACCESS; u = x->uses.at[u - 1].next) {
        const product_use *use = &x->uses.at[u - 1];
        const uint32_t product = x->products.at[use->product];
        if (!x->current.pending[use->product] || (kind == AS_MATRIX && !use->sum) ||
            (kind == AS_SUM && use->sum && shape_of(x, product) == shape_of(x, x->at)))
            continue;
        const bool writes = kind == WRITES || kind == AS_SUM;
        report_hazard(x,
                      use->sum
                          ? (writes ? PL_HAZARD_ACCUMULATOR_WRITTEN : PL_HAZARD_ACCUMULATOR_READ)
                      : writes ? PL_HAZARD_MATRIX_WRITTEN
                               : PL_HAZARD_MATRIX_READ,
                      x->at, product);
        n++;
    }
}

/* The accumulator that a register stands for: itself, or the one that it is a copy of. */
static uint32_t accumulator_of(const finder *x, uint32_t r)
{
    return x->current.copied[r] ? x->current.copied[r] : r;
}

static void note_access(finder *x, uint32_t row, unsigned rows, unsigned use)
{
    if (use & PL_USE_PRED) return;
    for (uint32_t k = row; k < row + rows && k < x->f->rows; k++) {
        const uint32_t r = x->of[k];
        if (!r) continue;
        if (x->report && use & PL_USE_READ) access(x, accumulator_of(x, r), READS);
        if (!(use & PL_USE_WRITE)) continue;
        if (x->report) access(x, r, WRITES);
        x->current.written[r] = x->at + 1;
        x->current.copied[r] = 0;
    }
}

static void propagate_copy(finder *x, const pl_insn *i)
{
    const uint32_t to = i->op[0] < x->f->rows ? x->of[i->op[0]] : 0,
                   from = i->op[1] < x->f->rows ? x->of[i->op[1]] : 0;
    if (!to) return;
    const uint32_t of = from ? accumulator_of(x, from) : 0;
    if (x->report && of != to) access(x, to, WRITES);
    x->current.written[to] = from ? x->current.written[from] : 0;
    x->current.copied[to] = of && of != to && x->first[of] ? of : 0;
}

/* ---- state ---- */

/* Visits the registers of a product: the accumulators, then those of matrix A. */
static void for_each_register(finder *x, const pl_insn *i,
                              void fn(finder *x, uint32_t r, unsigned operand))
{
    for (unsigned operand = 0; operand < 2; operand++)
        for (uint32_t n = 0; n < count_of(i, operand); n++) {
            const uint32_t row = row_of(x, i, operand, n);
            if (row < x->f->rows) fn(x, x->of[row], operand);
        }
}

static void report_register(finder *x, uint32_t r, unsigned operand)
{
    access(x, accumulator_of(x, r), operand ? AS_MATRIX : AS_SUM);
    if (x->current.written[r])
        report_hazard(x, PL_HAZARD_UNFENCED, x->current.written[r] - 1, x->at);
}

/* Clears hazards that have been reported. Later products of the shape follow this one. */
static void clear_register(finder *x, uint32_t r, unsigned operand)
{
    x->current.written[r] = 0;
    if (!operand) x->current.copied[r] = 0;
}

static void start_product(finder *x, const pl_insn *i)
{
    uint32_t product = 0;
    while (x->products.at[product] != x->at) product++;
    if (x->report) for_each_register(x, i, report_register);
    for_each_register(x, i, clear_register);
    uint8_t *pending = &x->current.pending[product];
    *pending = i->guard == PL_PT ? 1 : *pending | 1;
}

static void step(finder *x, pl_insn *i)
{
    const bool always = i->guard == PL_PT;
    uint8_t *pending = x->current.pending;
    if (pl_insn_mnem(i) != M_wgmma) {
        if (is_copy(i) && always)
            propagate_copy(x, i);
        else
            PL_FOR_EACH_USE(x->p, i, o) note_access(x, *o.row, o.rows, o.use);
    } else if (is_product(i)) {
        start_product(x, i);
    } else if (pl_insn_has(i, W_fence)) {
        if (always) memset(x->current.written, 0, (x->registers + 1) * sizeof *x->current.written);
    } else if (pl_insn_has(i, W_commit_group)) {
        for (size_t k = 0; k < x->products.n; k++)
            pending[k] = (uint8_t)(pending[k] << 1 | (pending[k] & 1u << OLDEST) |
                                   (always ? 0 : pending[k]));
    } else if (pl_insn_has(i, W_wait_group) && always && i->imm < OLDEST) {
        for (size_t k = 0; k < x->products.n; k++) pending[k] &= (uint8_t)((2u << i->imm) - 1);
    }
}

static void visit_block(finder *x, uint32_t block)
{
    const pl_cfg_block *b = &x->g.b[block];
    const state *from = &x->start[block];
    const size_t words = (x->registers + 1) * sizeof *from->written;
    memcpy(x->current.pending, from->pending, x->products.n);
    memcpy(x->current.written, from->written, words);
    memcpy(x->current.copied, from->copied, words);
    x->block = block;
    for (x->at = b->first; x->at < b->end; x->at++) step(x, &x->p->code.at[x->at]);
}

static bool join_words(uint32_t *to, const uint32_t *from, size_t n)
{
    bool grown = false;
    for (size_t k = 0; k < n; k++) {
        if (to[k] || !from[k]) continue;
        to[k] = from[k];
        grown = true;
    }
    return grown;
}

/* True if the state at the start of the block has grown. */
static bool join(finder *x, uint32_t block)
{
    const state *to = &x->start[block], *from = &x->current;
    bool grown = join_words(to->written, from->written, x->registers + 1);
    grown |= join_words(to->copied, from->copied, x->registers + 1);
    for (size_t k = 0; k < x->products.n; k++) {
        grown |= from->pending[k] & ~to->pending[k];
        to->pending[k] |= from->pending[k];
    }
    return grown;
}

static state new_state(const finder *x)
{
    return (state){.pending = pl_arena_array(x->a, uint8_t, x->products.n),
                   .written = pl_arena_array(x->a, uint32_t, x->registers + 1),
                   .copied = pl_arena_array(x->a, uint32_t, x->registers + 1)};
}

static void solve(finder *x)
{
    uint8_t *dirty = pl_arena_array(x->a, uint8_t, x->g.n + 1);
    memset(dirty, 1, x->g.n);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t b = 0; b < x->g.n; b++) {
            if (!dirty[b]) continue;
            dirty[b] = 0;
            visit_block(x, b);
            const pl_cfg_block *from = &x->g.b[b];
            for (uint32_t k = 0; k < pl_cfg_successor_count(from); k++) {
                const uint32_t to = pl_cfg_successor(&x->g, from, k);
                if (to >= x->g.n || !join(x, to)) continue;
                dirty[to] = 1;
                again |= to <= b;
            }
        }
    }
    x->report = true;
    for (uint32_t b = 0; b < x->g.n; b++) visit_block(x, b);
}

void pl_find_wgmma_hazards(pl_program *part, pl_prog_func *f, pl_arena *scratch)
{
    uint32_t k = f->first;
    while (k < f->first + f->count && !is_product(&part->code.at[k])) k++;
    if (k == f->first + f->count) return;
    finder x = {.p = part, .f = f, .a = scratch};
    x.of = pl_arena_array(scratch, uint32_t, f->rows + 1);
    x.first = pl_arena_array(scratch, uint32_t, f->rows + 2);
    find_products(&x);
    find_copies(&x);
    if (pl_cfg_make(part, f, scratch, &x.g) != PL_OK) return;
    if (x.g.n * (x.products.n + 8 * (size_t)x.registers) > MAX_STATE) return;
    x.start = pl_arena_array(scratch, state, x.g.n + 1);
    for (uint32_t b = 0; b < x.g.n; b++) x.start[b] = new_state(&x);
    x.current = new_state(&x);
    solve(&x);
}
