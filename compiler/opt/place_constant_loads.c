/* place_constant_loads.c - code placement and rematerialization of constant loads: where parameters
 * and special registers are loaded; the prologue of a kernel.
 *
 * This follows machine code of ptxas 13.0 for sm_90 (2026-11). A parameter, or a constant at a
 * known address, is loaded from its bank (LDC, ULDC) in each block that needs it, unless it is
 * available on every path from earlier blocks. %ntid and similar registers are constant-bank words
 * too. Loads for a loop are placed in its preheader if the loop is innermost and fewer than a fifth
 * of its instructions are loads; for a predicated use they have its predicate. No value stays live
 * from before an outer loop into it or across it. %tid and %ctaid are read by S2R or S2UR before
 * all their uses. After a point of high register pressure no loaded value is kept live, nor are
 * values computed from it by a few instructions: they are loaded or rematerialized again. A kernel
 * begins with the stack pointer; global accesses need a descriptor (ULDC.64). The base of the
 * shared memory window (S2UR, UMOV, ULEA) is placed like a parameter.
 *
 * A 64-bit constant-bank word is loaded once for each kind of use: addresses, IMAD.WIDE or stores,
 * other arithmetic, which takes uniform registers. A predicated body was a block of its own: it
 * loads values that are not available before it by itself, under its predicate. */
#include "compiler/opt/place_constant_loads.h"

#include <string.h>

/* Register pressure is high where more than place_constant_loads.crowded_regs values are live. That
 * applies to a thread that is to have at most 32 registers; it needs the remaining ones in addition
 * to values. */

/* The block where a constant load for block b is placed: the preheader if its loop is innermost.
 * Loops with nested loops keep their constant loads, and so do loops with a high share of loads. A
 * preheader may be in another loop. */
uint32_t pl_place_load_block(const placement *p, uint32_t b)
{
    const loop_shape *r = p->loop_shapes;
    uint32_t header = p->x->blocks.at[b].loop;
    if (header != PL_IR_NONE && r[header].load_heavy) return b;
    for (; header != PL_IR_NONE && !r[header].has_nested && p->x->blocks.at[header].idom != header;
         header = p->x->blocks.at[b].loop)
        b = p->x->blocks.at[header].idom;
    return b;
}

/* True for special registers that the hardware keeps in the constant bank: sizes, which do not
 * differ between CTAs. */
static bool in_constant_bank(pl_word sreg)
{
    const char *s = pl_word_text[sreg];
    return *s == 'n' || sreg == W_dynamic_smem_size || sreg == W_total_smem_size;
}

static bool is_constant_load(const pl_ir *x, const pl_insn *i)
{
    if (i->guard != PL_PT) return false;
    uint16_t m = pl_insn_mnem(i);
    if (m == M_ld) return pl_insn_reads_cbank_word(x, i) && x->regs[i->op[0]].ndefs == 1;
    return pl_insn_is_copy(i) && pl_ir_special_register(x, i->op[1]) &&
           x->regs[i->op[0]].ndefs == 1;
}

static void request(placement *p, constant_load *f, uint32_t block)
{
    *pl_push(p->x->tmp, &p->sites) = (load_site){0, block, PL_IR_NONE, f->first_site};
    f->first_site = (uint32_t)p->sites.n;
}

static void add_read(placement *p, uint32_t *row, unsigned rows, unsigned use)
{
    if (use & PL_USE_PRED) return;
    for (unsigned k = 0; k < rows; k++)
        if (p->of[*row + k]) {
            constant_load *f = &p->loads.at[p->of[*row + k] - 1];
            f->block = pl_ir_common_dominator(p->x, f->block, p->block);
            if ((f->bank || f->at_high_pressure) && f->i.op[0] == *row + k)
                request(p, f,
                        f->at_high_pressure && f->bank ? p->block
                                                       : pl_place_load_block(p, p->block));
        }
}

/* ---- loops ---- */

/* The approximate number of machine instructions. */
static uint32_t insn_count(const pl_insn *i)
{
    return pl_classes[i->latency_class].place_cost;
}

static bool is_global_load(const pl_insn *i)
{
    return (i->flags & PL_IF_MEM) && pl_insn_loads(i, PL_SPACES_GLOBAL);
}

/* Counts a variable that is written before a loop and in it, since it takes part in every iteration
 * like an instruction. */
static void count_variable(placement *p, uint32_t *row, unsigned rows, unsigned use)
{
    const pl_ir *x = p->x;
    const uint32_t header = x->blocks.at[p->block].loop;
    if ((use & PL_USE_PRED) || *row >= x->f->rows || x->regs[*row].ndefs < 2 ||
        p->seen[*row] == header + 1)
        return;
    p->seen[*row] = header + 1;
    p->loop_shapes[header].variables += rows;
}

static void count_load(placement *p, uint32_t *row, unsigned rows, unsigned use)
{
    const uint32_t header = p->x->blocks.at[p->block].loop;
    (void)rows;
    if ((use & PL_USE_PRED) || !p->of[*row] || !p->loads.at[p->of[*row] - 1].bank ||
        p->seen[*row] == header + 1)
        return;
    p->seen[*row] = header + 1;
    p->loop_shapes[header].constant_loads++;
}

static bool has_body(const pl_ir_block *b)
{
    bool any = false;
    for (size_t k = 0; k < b->code.n && !any; k++)
        any = b->code.at[k].form != PL_IR_DEAD && b->code.at[k].guard != PL_PT &&
              (b->code.at[k].flags & PL_IF_MEM);
    return any;
}

/* Finds the loops that keep their constant loads: those with nested loops, and those with more than
 * a fifth of loads (from 200 loops compiled by ptxas). */
static bool find_loop_shapes(placement *p)
{
    pl_ir *x = p->x;
    p->loop_shapes = pl_arena_array(x->tmp, loop_shape, x->blocks.n + 1);
    p->seen = pl_arena_array(x->tmp, uint32_t, x->f->rows + 4);
    if (!p->loop_shapes || !p->seen) return false;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        if (x->blocks.at[b].rpo_index != PL_IR_NONE && x->blocks.at[b].nlatches &&
            x->blocks.at[b].parent_loop != PL_IR_NONE)
            p->loop_shapes[x->blocks.at[b].parent_loop].has_nested = true;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        for (uint32_t h = b->loop; h != PL_IR_NONE; h = x->blocks.at[h].parent_loop)
            p->loop_shapes[h].may_diverge |= h != x->rpo[j] || has_body(b);
        for (size_t k = 0;
             b->loop != PL_IR_NONE && !p->loop_shapes[b->loop].has_nested && k < b->code.n; k++)
            if (b->code.at[k].form != PL_IR_DEAD) {
                p->loop_shapes[b->loop].insns += insn_count(&b->code.at[k]);
                p->loop_shapes[b->loop].loads += is_global_load(&b->code.at[k]);
            }
    }
    for (uint32_t j = 0; j < x->nrpo; j++) { /* most loops need no closer analysis */
        const uint32_t header = x->blocks.at[p->block = x->rpo[j]].loop;
        if (header == PL_IR_NONE ||
            p->loop_shapes[header].loads * x->p->tuning->place_constant_loads.load_share <=
                p->loop_shapes[header].insns)
            continue;
        for (size_t k = 0; k < x->blocks.at[p->block].code.n; k++) {
            pl_insn *i = &x->blocks.at[p->block].code.at[k];
            if (i->form == PL_IR_DEAD) continue;
            PL_FOR_EACH_WRITE(x->p, i, o) count_variable(p, o.row, o.rows, o.use);
            PL_FOR_EACH_READ(x->p, i, op) count_load(p, op.row, op.rows, op.use);
        }
    }
    for (uint32_t b = 0; b < x->blocks.n; b++)
        p->loop_shapes[b].load_heavy =
            p->loop_shapes[b].loads * x->p->tuning->place_constant_loads.load_share >
            p->loop_shapes[b].insns + p->loop_shapes[b].variables +
                p->loop_shapes[b].constant_loads;
    return true;
}

/* Computes how far values are kept live. A value loaded before a loop with nested loops is not
 * available after its header; a value not to be kept at high register pressure is not available
 * after such a point on the path. */
static bool find_availability(placement *p)
{
    const pl_ir *x = p->x;
    p->available_since = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    p->sinkable_from = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    if (!p->available_since || !p->sinkable_from) return false;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const uint32_t b = x->rpo[j];
        const pl_ir_block *k = &x->blocks.at[b];
        uint32_t since = 0, sinkable = 0;
        for (uint32_t e = 0; e < k->npreds; e++) {
            const uint32_t from = x->predecessors[k->first_pred + e];
            if (x->blocks.at[from].rpo_index >= k->rpo_index) /* back edge */
                continue;
            const uint32_t s =
                pl_ir_dominates(x, p->available_since[from], b) ? p->available_since[from] : b;
            since = x->blocks.at[s].dom_pre > x->blocks.at[since].dom_pre ? s : since;
            const uint32_t l = p->has_high_pressure && !p->high_pressure[from] &&
                                       pl_ir_dominates(x, p->sinkable_from[from], b)
                                   ? p->sinkable_from[from]
                                   : b;
            sinkable = x->blocks.at[l].dom_pre > x->blocks.at[sinkable].dom_pre ? l : sinkable;
        }
        p->sinkable_from[b] = sinkable;
        p->available_since[b] = k->nlatches && p->loop_shapes[b].has_nested ? b : since;
    }
    return true;
}

typedef struct operand_parts {
    placement *p;
    uint32_t block;
} operand_parts;

/* Finds the sites of each constant load. A load in one block serves all blocks that it dominates,
 * unless it would be live at high register pressure on the way. */
static bool find_load_sites(placement *p)
{
    pl_ir *x = p->x;
    struct {
        load_site *at;
        size_t n, cap;
    } found = {0};
    struct {
        pl_key *at;
        size_t n, cap;
    } keys = {0};
    for (size_t k = p->loads.n; k-- > 0;) {
        constant_load *f = &p->loads.at[k];
        keys.n = 0;
        for (uint32_t h = f->first_site; h; h = p->sites.at[h - 1].next)
            *pl_push(x->tmp, &keys) =
                (pl_key){x->blocks.at[p->sites.at[h - 1].block].dom_pre, p->sites.at[h - 1].block};
        size_t n = keys.n;
        for (size_t m = 0; m < n; m++) *pl_push(x->tmp, &keys) = (pl_key){0};
        if (!pl_arena_ok(x->tmp)) return false;
        if (n) pl_sort_keys(keys.at, n, keys.at + n);
        f->first_placed = (uint32_t)found.n;
        f->first_request = (uint32_t)p->requests.n;
        uint32_t last = 0; /* the nearest dominating site, plus one */
        for (size_t m = 0; m < n; m++) {
            const uint32_t block = keys.at[m].what;
            if (m && keys.at[m - 1].what == block) continue;
            while (last && !pl_ir_dominates(x, found.at[last - 1].block, block))
                last = found.at[last - 1].next;
            const uint32_t from = last ? x->blocks.at[found.at[last - 1].block].dom_pre : 0;
            const bool is_available =
                last && x->blocks.at[p->available_since[block]].dom_pre <= from &&
                (!f->at_high_pressure || x->blocks.at[p->sinkable_from[block]].dom_pre <= from);
            if (!is_available) {
                *pl_push(x->tmp, &found) = (load_site){(uint32_t)k, block, PL_IR_NONE, last};
                last = (uint32_t)found.n;
                f->nplaced++;
            }
            *pl_push(x->tmp, &p->requests) = (load_request){x->blocks.at[block].dom_pre, last - 1};
            f->nrequests++;
            operand_parts t = {p, block};
            if (f->depth && !is_available && pl_arena_ok(x->tmp))
                PL_FOR_EACH_USE(x->p, &f->i, o)
                    if (!(o.use & PL_USE_PRED) && (o.use & PL_USE_READ) && t.p->of[*o.row])
                        request(t.p, &t.p->loads.at[t.p->of[*o.row] - 1], t.block);
            f = &p->loads.at[k];
        }
    }
    p->sites.at = found.at;
    p->sites.n = found.n;
    p->sites.cap = found.cap;
    return pl_arena_ok(x->tmp);
}

/* The site that provides a block with a value loaded at several sites. */
static load_site *load_site_of(placement *p, const constant_load *f, uint32_t block)
{
    uint32_t low = f->first_request, high = f->first_request + f->nrequests,
             pre = p->x->blocks
                       .at[f->at_high_pressure && f->bank ? block : pl_place_load_block(p, block)]
                       .dom_pre;
    while (high - low > 1) {
        uint32_t mid = low + (high - low) / 2;
        if (p->requests.at[mid].pre <= pre)
            low = mid;
        else
            high = mid;
    }
    return &p->sites.at[p->requests.at[low].site];
}

static void use_site_register(placement *p, uint32_t *row, unsigned rows, unsigned use)
{
    (void)rows;
    if ((use & PL_USE_PRED) || !(use & PL_USE_READ) || !p->of[*row]) return;
    const constant_load *f = &p->loads.at[p->of[*row] - 1];
    if (f->nplaced > 1) *row += load_site_of(p, f, p->block)->row - f->i.op[0];
}

/* Assigns a register to each site of a word that is loaded at several. */
static bool assign_site_registers(placement *p)
{
    pl_ir *x = p->x;
    size_t n = p->loads.n;
    if (!find_load_sites(p)) return false;
    uint32_t *of = pl_arena_array(x->tmp, uint32_t, x->f->rows + 2 * p->sites.n + 4);
    if (!of) return false;
    memcpy(of, p->of, x->f->rows * sizeof *of);
    p->of = of;
    for (size_t k = 0; k < n; k++)
        for (uint32_t h = 0; h < p->loads.at[k].nplaced; h++) {
            const uint32_t row = p->loads.at[k].i.op[0], rows = p->loads.at[k].rows;
            load_site *at = &p->sites.at[p->loads.at[k].first_placed + h];
            at->row = h ? pl_ir_new(x, rows) : row;
            constant_load *f = h ? pl_push(x->tmp, &p->loads) : &p->loads.at[k];
            if (!f) return false;
            if (h)
                *f = (constant_load){.bank = true,
                                     .rows = (uint8_t)rows,
                                     .i = p->loads.at[k].depth ? pl_ir_clone(x, &p->loads.at[k].i)
                                                               : p->loads.at[k].i,
                                     .depth = p->loads.at[k].depth};
            f->i.op[0] = at->row;
            f->block = at->block;
            for (unsigned r = 0; h && r < rows; r++) p->of[at->row + r] = (uint32_t)p->loads.n;
        }
    for (size_t k = 0; k < p->loads.n; k++)
        if (p->loads.at[k].depth) {
            p->block = p->loads.at[k].block;
            PL_FOR_EACH_USE(x->p, &p->loads.at[k].i, o) use_site_register(p, o.row, o.rows, o.use);
        }
    for (p->block = 0; p->block < x->blocks.n; p->block++)
        for (size_t k = 0;
             x->blocks.at[p->block].rpo_index != PL_IR_NONE && k < x->blocks.at[p->block].code.n;
             k++)
            if (x->blocks.at[p->block].code.at[k].form != PL_IR_DEAD)
                PL_FOR_EACH_READ(x->p, &x->blocks.at[p->block].code.at[k], o)
                    use_site_register(p, o.row, o.rows, o.use);
    return pl_ir_ok(x);
}

typedef struct reader {
    placement *p;
    pl_insn *i;
    uint32_t *by_kind; /* by load and kind of use: the load for that kind, plus one */
} reader;

static void use_kind_register(reader *r, uint32_t *row, unsigned rows, unsigned use)
{
    placement *p = r->p;
    if ((use & PL_USE_PRED) || rows != 2 || !p->of[*row]) return;
    const uint32_t n = p->of[*row] - 1;
    const constant_load *f = &p->loads.at[n];
    if (!f->bank || f->depth || f->i.op[0] != *row) return;
    uint32_t *by_kind = r->by_kind + (size_t)n * PL_CBANK_READ_KINDS,
             *own = &by_kind[pl_cbank_read_kind(r->i, row)];
    bool first = true;
    for (unsigned w = 0; w < PL_CBANK_READ_KINDS; w++) first &= !by_kind[w];
    if (first) *own = n + 1;
    if (!*own) {
        constant_load other = *f;
        other.i.op[0] = pl_ir_new(p->x, 2);
        if (!pl_ir_ok(p->x)) return;
        *pl_push(p->x->tmp, &p->loads) = other;
        *own = (uint32_t)p->loads.n;
        p->of[other.i.op[0]] = p->of[other.i.op[0] + 1] = *own;
    }
    *row = p->loads.at[*own - 1].i.op[0];
}

static bool split_by_read_kind(placement *p)
{
    pl_ir *x = p->x;
    reader r = {p, NULL, pl_arena_array(x->tmp, uint32_t, p->loads.n * PL_CBANK_READ_KINDS + 1)};
    bool any = false;
    for (size_t k = 0; k < p->loads.n && !any; k++)
        any = p->loads.at[k].bank && x->regs[p->loads.at[k].i.op[0]].width == 2;
    for (uint32_t j = 0; j < x->nrpo && any && r.by_kind; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n && pl_ir_ok(x); k++) {
            r.i = &x->blocks.at[x->rpo[j]].code.at[k];
            if (r.i->form != PL_IR_DEAD)
                PL_FOR_EACH_READ(x->p, r.i, o) use_kind_register(&r, o.row, o.rows, o.use);
        }
    return pl_ir_ok(x);
}

static void emit_needed(operand_walk *n, uint32_t *row, unsigned rows, unsigned use);

/* Inserts the load before position `at` of the current block, after its operands. */
static void emit_load(placement *p, size_t at, constant_load *f)
{
    operand_walk n = {p, at};
    if (f->placed) return;
    f->placed = true;
    if (f->depth)
        PL_FOR_EACH_USE(p->x->p, &f->i, o) emit_needed(&n, o.row, o.rows, o.use);
    pl_insn *i = pl_ir_insert_deferred(p->x, p->block, at);
    if (i) *i = f->i;
}

static void emit_needed(operand_walk *n, uint32_t *row, unsigned rows, unsigned use)
{
    if (use & PL_USE_PRED) return;
    for (unsigned k = 0; k < rows; k++) {
        uint32_t f = n->p->of[*row + k];
        if (f && n->p->loads.at[f - 1].block == n->p->block)
            emit_load(n->p, n->at, &n->p->loads.at[f - 1]);
    }
}

/* Inserts all loads of the current block that are not placed yet. */
static void emit_remaining(placement *p, size_t at, uint32_t first)
{
    for (uint32_t k = first; k; k = p->loads.at[k - 1].next) emit_load(p, at, &p->loads.at[k - 1]);
}

/* Marks values that are live at high register pressure. Constant loads do not count towards the
 * pressure. */
static bool find_high_pressure(placement *p)
{
    pl_ir *x = p->x;
    pl_liveness *f = &p->liveness;
    if (x->f->rows <= x->p->tuning->place_constant_loads.crowded_regs) return true;
    p->high_pressure = pl_arena_array(x->tmp, uint8_t, x->blocks.n + 1);
    if (!p->high_pressure || !pl_liveness_values(f, x, false)) return false;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            const pl_insn *i = &x->blocks.at[b].code.at[k];
            if (x->blocks.at[b].rpo_index != PL_IR_NONE && is_constant_load(x, i) &&
                f->of[i->op[0]])
                f->v[f->of[i->op[0]] - 1].regs = 0;
        }
    if (!pl_liveness_solve(f)) return false;
    uint32_t max_pressure = 0;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        if (x->blocks.at[b].rpo_index == PL_IR_NONE) continue;
        pl_liveness_go_to_end(f, b);
        for (uint32_t k = (uint32_t)x->blocks.at[b].code.n; k-- > 0;) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            pl_liveness_visit(f, b, k);
            pl_liveness_step_defs(f, i);
            pl_liveness_step_uses(f, i);
            max_pressure = f->reg_pressure > max_pressure ? f->reg_pressure : max_pressure;
            if (f->reg_pressure > x->p->tuning->place_constant_loads.crowded_regs) {
                pl_liveness_mark(f);
                p->high_pressure[b] = 1;
                p->has_high_pressure = true;
            }
        }
    }
    p->must_spill = max_pressure + x->p->tuning->place_constant_loads.spill_margin >=
                    pl_register_limit(x->p, x->f);
    return pl_ir_ok(x);
}

typedef struct remat_chain {
    placement *p;
    unsigned depth; /* of the operands */
    unsigned nloads;
    bool other;
} remat_chain;

static void measure_operand(remat_chain *c, uint32_t *row, unsigned rows, unsigned use)
{
    const pl_ir *x = c->p->x;
    (void)rows;
    if ((use & PL_USE_PRED) || !(use & PL_USE_READ)) {
        c->other |= (use & PL_USE_PRED) != 0;
        return;
    }
    if (x->kind.at[*row] != PL_REG_VIRTUAL) return;
    uint32_t f = c->p->of[*row];
    if (!f) {
        c->other = true;
        return;
    }
    c->nloads++;
    unsigned depth = c->p->loads.at[f - 1].depth;
    c->depth = depth > c->depth ? depth : c->depth;
}

/* The number of steps to rematerialize a value that is computed from one constant load in a few
 * steps and would be live at high register pressure. 0: it does not qualify, or it depends on two
 * loads, as an index of block and thread does. ptxas keeps the latter live unless it has to spill
 * (kernels with 8 to 200 live values, 2026-11). */
static uint8_t remat_cost(placement *p, pl_insn *i)
{
    static const bool cheap[M_count] = {
        [M_and] = true, [M_or] = true,  [M_xor] = true,  [M_shl] = true,  [M_shr] = true,
        [M_add] = true, [M_sub] = true, [M__lea] = true, [M_lop3] = true, [M__lop3] = true};
    const pl_ir *x = p->x;
    if (!p->has_high_pressure || i->form == PL_IR_DEAD || !cheap[pl_insn_mnem(i)] ||
        i->guard != PL_PT || !pl_insn_pure(i) || pl_insn_has(i, W_cc) ||
        x->regs[i->op[0]].ndefs != 1 || x->regs[i->op[0]].precolored ||
        x->regs[i->op[0]].width != 1 || !p->liveness.of[i->op[0]] ||
        !pl_liveness_was_live_at_mark(&p->liveness, p->liveness.of[i->op[0]] - 1))
        return 0;
    remat_chain c = {.p = p};
    PL_FOR_EACH_USE(x->p, i, o) measure_operand(&c, o.row, o.rows, o.use);
    if (c.other || !c.nloads || (c.nloads > 1 && !p->must_spill) ||
        c.depth >= x->p->tuning->place_constant_loads.remat_steps)
        return 0;
    PL_FOR_EACH_USE(x->p, i, op)
        if (!(op.use & PL_USE_PRED) && (op.use & PL_USE_READ) && p->of[*op.row])
            p->loads.at[p->of[*op.row] - 1].at_high_pressure = true;
    return (uint8_t)(c.depth + 1);
}

/* Rows that the pass may add: loads for other kinds of use, and those of predicated
 * instructions. */
static size_t count_extra_rows(const pl_ir *x)
{
    size_t rows = 0;
    for (uint32_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            const pl_insn *i = &x->blocks.at[b].code.at[k];
            rows += i->guard != PL_PT         ? 2 * PL_INLINE_OPERANDS
                    : pl_insn_mnem(i) == M_ld ? 2 * (PL_CBANK_READ_KINDS - 1)
                                              : 0;
        }
    return rows;
}

/* Adds a load, or a computation that repeats one, and removes its instruction. */
static constant_load *collect_load(placement *p, pl_insn *i)
{
    pl_ir *x = p->x;
    const uint32_t row = i->op[0];
    const uint8_t width = x->regs[row].width;
    *pl_push(x->tmp, &p->loads) = (constant_load){.i = *i, .block = PL_IR_NONE, .rows = width};
    for (unsigned r = 0; r < width; r++) p->of[row + r] = (uint32_t)p->loads.n;
    return &p->loads.at[p->loads.n - 1];
}

static bool collect_loads(placement *p)
{
    pl_ir *x = p->x;
    p->of = pl_arena_array(x->tmp, uint32_t, x->f->rows + count_extra_rows(x) + 4);
    if (!p->of) return false;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (size_t k = 0; k < x->blocks.at[x->rpo[j]].code.n; k++) {
            pl_insn *i = &x->blocks.at[x->rpo[j]].code.at[k];
            if (i->form == PL_IR_DEAD) continue;
            const bool is_load = is_constant_load(x, i);
            const uint8_t depth = is_load ? 0 : remat_cost(p, i);
            if (!pl_ir_ok(x) || (!is_load && !depth)) continue;
            constant_load *f = collect_load(p, i);
            if (!is_load) {
                f->depth = depth;
                f->at_high_pressure = true;
                i->form = PL_IR_DEAD;
                continue;
            }
            f->at_high_pressure =
                p->has_high_pressure &&
                pl_liveness_was_live_at_mark(&p->liveness, p->liveness.of[i->op[0]] - 1);
            const bool ld = pl_insn_mnem(i) == M_ld,
                       in_bank = !ld && in_constant_bank(pl_ir_special_register(x, i->op[1]));
            f->bank = ld || in_bank;
            if (pl_insn_mnem(i) == M_mov) {
                const pl_word type = x->regs[i->op[0]].width == 2 ? W_u64 : W_u32;
                pl_insn_make(&f->i, in_bank ? M__ldc : M__s2r, 2, &type, 1);
            }
            pl_ir_remove(x, i);
        }
    return pl_ir_ok(x);
}

/* The block that dominates all accesses to global memory, which need its descriptor. */
static uint32_t dominator_of_global_accesses(const pl_ir *x)
{
    uint32_t at = PL_IR_NONE;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        const pl_ir_block *b = &x->blocks.at[x->rpo[j]];
        bool any = false;
        for (size_t k = 0; k < b->code.n && !any; k++) {
            const pl_insn *i = &b->code.at[k];
            if (!(pl_insn_effects(i) & (PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC)) ||
                !(i->flags & PL_IF_MEM))
                continue;
            pl_space s = (pl_space)i->sel[PL_M_SPACE];
            any = s == PL_SP_GLOBAL || s == PL_SP_GENERIC;
        }
        if (any) at = pl_ir_common_dominator(x, at, x->rpo[j]);
    }
    return at == PL_IR_NONE ? at : pl_ir_outside_loops(x, at);
}

/* Inserts a machine-only instruction at the start of a block. */
static bool insert_prologue(pl_ir *x, uint32_t block, uint16_t mnem)
{
    pl_ir_block *b = &x->blocks.at[block];
    uint32_t line = b->code.n ? b->code.at[0].line : 0;
    pl_insn *i = pl_ir_insert(x, block, 0);
    if (!i) return false;
    i->line = line;
    return pl_insn_make(i, mnem, 0, NULL, 0);
}

/* Records the uses of the loads. */
static void add_reads(placement *p)
{
    pl_ir *x = p->x;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        p->block = x->rpo[j];
        for (size_t k = 0; k < x->blocks.at[p->block].code.n; k++)
            if (x->blocks.at[p->block].code.at[k].form != PL_IR_DEAD)
                PL_FOR_EACH_READ(x->p, &x->blocks.at[p->block].code.at[k], o)
                    add_read(p, o.row, o.rows, o.use);
    }
}

/* Lists the loads by their blocks. first_load: by block, the first load placed there, plus one. */
static void list_by_block(placement *p, uint32_t *first_load)
{
    for (size_t k = p->loads.n; k-- > 0;) {
        constant_load *f = &p->loads.at[k];
        if (f->block == PL_IR_NONE) continue;
        if (!f->bank && !f->at_high_pressure) f->block = pl_ir_outside_loops(p->x, f->block);
        f->next = first_load[f->block];
        first_load[f->block] = (uint32_t)k + 1;
    }
}

/* Inserts the loads of each block before their first use. */
static void emit_loads(placement *p, const uint32_t *first_load)
{
    pl_ir *x = p->x;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        if (!first_load[b]) continue;
        const pl_ir_block *k = &x->blocks.at[b];
        p->block = b;
        operand_walk n = {.p = p};
        for (; n.at < k->code.n; n.at++)
            if (k->code.at[n.at].form != PL_IR_DEAD)
                PL_FOR_EACH_READ(x->p, &k->code.at[n.at], op)
                    emit_needed(&n, op.row, op.rows, op.use);
        emit_remaining(p, pl_ir_end(x, b), first_load[b]);
    }
}

/* Sets the classes of accesses whose cost depends on their place: arguments and results of calls
 * are passed in registers, and words of the constant bank cost as much as parameters. */
static void set_access_classes(pl_ir *x)
{
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            if (i->latency_class == C_param &&
                (pl_insn_mnem(i) == M_ld || pl_insn_mnem(i) == M_st) &&
                i->sel[PL_M_SPACE] == PL_SP_LOCAL)
                i->latency_class = C_free;
            if (i->sel[PL_M_SPACE] == PL_SP_CONST && pl_insn_reads_cbank_word(x, i))
                i->latency_class = C_param;
        }
}

/* Inserts the loads of the stack pointer and of the descriptor of global memory. */
static bool insert_prologues(pl_ir *x)
{
    const uint32_t global = dominator_of_global_accesses(x);
    return (global == PL_IR_NONE || insert_prologue(x, global, M__desc)) &&
           insert_prologue(x, 0, M__stack);
}

bool pl_pass_place_constant_loads(pl_ir *x)
{
    placement p = {.x = x};
    pl_ir_sweep(x);
    if (!pl_ir_graph(x) || !pl_ir_count(x) || !find_high_pressure(&p) || !collect_loads(&p) ||
        !find_loop_shapes(&p) || !find_availability(&p))
        return false;
    const uint32_t rows = x->f->rows;
    if (!split_by_read_kind(&p) || !pl_place_loads_in_bodies(&p)) return false;
    add_reads(&p);
    uint32_t *first_load = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    if (!assign_site_registers(&p) || !first_load) return false;
    list_by_block(&p, first_load);
    emit_loads(&p, first_load);
    if (!pl_ir_flush_inserts(x)) return false;
    pl_ir_sweep(x);
    set_access_classes(x);
    if (x->f->entry && !insert_prologues(x)) return false;
    pl_ir_sweep(x);
    /* Loads without uses have been removed; the others have a register of their own or were moved
     * to their use. */
    if (x->f->rows == rows && !p.has_high_pressure) pl_ir_preserve_counts(x);
    return pl_ir_ok(x);
}
