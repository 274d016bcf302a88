/* spill.c - spilling and rematerialization: where register pressure exceeds the registers of a
 * thread, values are spilled to local memory and reloaded before they are used.
 *
 * A kernel's own limit is `.maxnreg`, or follows from `.minnctapersm` blocks of `.maxntid` threads;
 * without either it is 255. Blocks are visited in reverse postorder with the set of values in
 * registers. If a value is needed and the set is full, the one with the farthest next use is
 * evicted. (Belady; on control flow as in Braun and Hack, "Register Spilling and Live-Range
 * Splitting for SSA-Form Programs", 2009.) A use after the end of a loop is farther than any use in
 * it. A value that is evicted anywhere is stored where it is computed, so that eviction costs
 * nothing. A value that a single instruction loads from the constant bank, a special register or a
 * constant is rematerialized instead. */
#include <stdlib.h>
#include <string.h>

#include "compiler/analysis/liveness.h"
#include "compiler/codegen/register_allocation.h"
#include "compiler/passes.h"
#include "compiler/tuning.h"
#include "isa/program/operand_plan.h"
#include "isa/program/canonicalize.h"
#include "isa/program/resource_usage.h"

/* Distances in instructions: LOOP_END is added for leaving a loop; NEVER: no further use. */
enum { LOOP_END = 1 << 20, NEVER = 1 << 30 };

/* Spilling is skipped if the liveness sets would be too large: if the live-ins of all blocks are
 * more than MAX_LIVE_PER_INSN * instructions + MAX_LIVE_BASE, or the sets take more than MAX_CELLS
 * bits. */
enum { MAX_LIVE_PER_INSN = 64, MAX_LIVE_BASE = 1 << 20, MAX_CELLS = 1 << 26 };

/* registers.reserved: registers that no value can have, the stack pointer and two that every thread
 * has beyond the highest one named (register_allocation.c). spill.transfer_regs: if values are
 * spilled, one more for spills and reloads (the traffic is then that of ptxas 13.0: ten kernels
 * with .maxnreg 32, 2026-11). spill.min_regs: the minimum left for values. */

typedef struct spill_value {
    uint32_t row, rows;
    uint32_t regs; /* registers of a thread that it occupies */
    /* At the current instruction: next of its accesses in `accesses`, plus one. */
    uint32_t next_access;
    uint32_t start, end;      /* live range, in positions of all instructions */
    uint32_t frame_slot;      /* offset in the frame */
    uint32_t reg_slot;        /* position in `in_regs`, plus one; 0: it is not in a register */
    const pl_insn *remat;     /* instruction that computes it anywhere */
    bool precolored, spilled; /* never evicted; evicted somewhere */
} spill_value;

typedef struct by_distance {
    uint32_t value, distance;
} by_distance;

typedef struct access {
    uint32_t at, next;
    bool reads;
} access;

/* A range of `lists`: values in ascending order. */
typedef struct value_list {
    uint32_t first, n;
} value_list;

typedef struct spiller {
    pl_ir *x;
    pl_liveness f;
    uint32_t n, reg_limit, blocks; /* values; registers for them; blocks before edges were split */
    spill_value *v;                /* as in f */
    uint32_t words;        /* of a set of the values live across blocks, by f.v[].global_index */
    uint64_t *in, *out;    /* by block: live-in values, live-out values */
    uint32_t *next_use_in; /* distance of the next use from the start of a block, for each live-in
                              value: next_use_at */
    by_distance *ranked;   /* working memory for the values of one block */
    uint32_t *rank;        /* by word of the sets `in`: number of values before it */
    value_list *entry, *exit; /* by block: values in registers */
    struct {
        uint32_t *at;
        size_t n, cap;
    } lists;
    uint32_t *pressure; /* by block: maximum rows needed at once; by loop header: the maximum of its
                           blocks */
    uint32_t *loop_pressure;
    struct {
        uint32_t *at;
        size_t n, cap;
    } in_regs; /* values currently in registers */
    struct {
        access *at;
        size_t n, cap;
    } accesses;
    struct {
        pl_insn *at;
        size_t n, cap;
    } code;
    struct {
        uint32_t *at;
        size_t n, cap;
    } frame_values; /* values with a spill slot */
    struct {
        uint32_t *at;
        size_t n, cap;
    } operands; /* values that the current instruction accesses */
    uint32_t block, at, weight;
    uint32_t frame;     /* row that holds the frame address */
    uint32_t base, end; /* frame offsets: after its variables, after everything */
} spiller;

static spill_value *value_of(spiller *s, uint32_t row, unsigned use)
{
    uint32_t k = pl_liveness_value_of(&s->f, row, use);
    return k ? &s->v[k - 1] : NULL;
}

static bool is_in_register(const spiller *s, uint32_t k)
{
    return s->v[k].reg_slot != 0;
}

static void load_into_reg(spiller *s, spill_value *v)
{
    *pl_push(s->x->tmp, &s->in_regs) = (uint32_t)(v - s->v);
    v->reg_slot = (uint32_t)s->in_regs.n;
    s->weight += v->regs;
}

static void release(spiller *s, spill_value *v)
{
    uint32_t last = s->in_regs.at[--s->in_regs.n];
    s->in_regs.at[v->reg_slot - 1] = last;
    s->v[last].reg_slot = v->reg_slot;
    v->reg_slot = 0;
    s->weight -= v->regs;
}

/* Sets the values in registers to this list. */
static void load_all(spiller *s, value_list list)
{
    while (s->in_regs.n) release(s, &s->v[s->in_regs.at[s->in_regs.n - 1]]);
    for (uint32_t k = 0; k < list.n; k++) load_into_reg(s, &s->v[s->lists.at[list.first + k]]);
}

static bool contains(const spiller *s, value_list list, uint32_t v)
{
    uint32_t low = list.first, high = list.first + list.n;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (s->lists.at[middle] == v) return true;
        if (s->lists.at[middle] < v)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

static int ascending(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Turns the values from `first` on in `lists` into a list. */
static value_list make_list(spiller *s, size_t first)
{
    if (s->lists.n > first) /* an empty array has no address to offset */
        qsort(s->lists.at + first, s->lists.n - first, sizeof *s->lists.at, ascending);
    return (value_list){(uint32_t)first, (uint32_t)(s->lists.n - first)};
}

static bool is_live(const spiller *s, const uint64_t *sets, uint32_t block, uint32_t v)
{
    uint32_t k = s->f.v[v].global_index;
    return k != UINT32_MAX && (sets[(size_t)block * s->words + k / 64] >> k % 64 & 1);
}

static bool is_new_def(const spiller *s, const spill_value *v, unsigned rows, unsigned use)
{
    return pl_liveness_defines(&s->f, (uint32_t)(v - s->v), rows, use);
}

static uint32_t temporaries(const pl_insn *i)
{
    return pl_classes[i->latency_class].temporaries;
}

/* ---- pressure ---- */

/* Computes the maximum rows live at once in each block; returns the overall maximum. */
static uint32_t measure_pressure(spiller *s)
{
    pl_ir *x = s->x;
    uint32_t max = 0;
    for (s->block = 0; s->block < x->blocks.n; s->block++) {
        if (x->blocks.at[s->block].rpo_index == PL_IR_NONE) continue;
        pl_liveness_go_to_end(&s->f, s->block);
        uint32_t max_here = s->f.reg_pressure;
        for (s->at = (uint32_t)x->blocks.at[s->block].code.n; s->at-- > 0;) {
            pl_insn *i = &x->blocks.at[s->block].code.at[s->at];
            pl_liveness_visit(&s->f, s->block, s->at);
            PL_FOR_EACH_WRITE(x->p, i, o) {
                uint32_t k = pl_liveness_value_of(&s->f, *o.row, o.use);
                if (k-- && pl_liveness_defines(&s->f, k, o.rows, o.use))
                    pl_liveness_set(&s->f, k, false);
            }
            PL_FOR_EACH_USE(x->p, i, o) {
                uint32_t k = pl_liveness_value_of(&s->f, *o.row, o.use);
                if (k-- && !pl_liveness_defines(&s->f, k, o.rows, o.use))
                    pl_liveness_set(&s->f, k, true);
            }
            uint32_t rows = s->f.reg_pressure + temporaries(i);
            max_here = rows > max_here ? rows : max_here;
        }
        s->pressure[s->block] = max_here;
        max = max_here > max ? max_here : max;
    }
    return max;
}

static bool exceeds_limits(const spiller *s)
{
    const pl_ir *x = s->x;
    size_t live = 0, insns = 0;
    for (size_t b = 0; b < x->blocks.n; b++) insns += x->blocks.at[b].code.n;
    for (size_t k = 0; k < s->f.sets.spans.n; k++)
        live += s->f.sets.spans.at[k].end - s->f.sets.spans.at[k].first;
    return live > MAX_LIVE_PER_INSN * insns + MAX_LIVE_BASE ||
           (size_t)s->words * 64 * x->blocks.n > MAX_CELLS;
}

static void raise_to(uint32_t *a, uint32_t b)
{
    *a = *a > b ? *a : b;
}

static void measure_loop_pressure(spiller *s)
{
    const pl_ir *x = s->x;
    for (uint32_t j = x->nrpo; j-- > 0;) { /* a loop's blocks before its header */
        uint32_t b = x->rpo[j];
        const pl_ir_block *k = &x->blocks.at[b];
        if (k->loop != PL_IR_NONE) raise_to(&s->loop_pressure[k->loop], s->pressure[b]);
        if (k->nlatches && k->parent_loop != PL_IR_NONE)
            raise_to(&s->loop_pressure[k->parent_loop], s->loop_pressure[b]);
    }
}

/* Converts the spans to live-in and live-out sets. */
static bool make_sets(spiller *s)
{
    const pl_live_spans *l = &s->f.sets;
    size_t n = (size_t)s->words * s->x->blocks.n;
    s->in = pl_arena_array(s->x->tmp, uint64_t, n + 1);
    s->out = pl_arena_array(s->x->tmp, uint64_t, n + 1);
    if (!s->in || !s->out) return false;
    for (size_t k = 0; k < l->spans.n; k++)
        for (uint32_t b = l->spans.at[k].first; b < l->spans.at[k].end; b++)
            s->out[(size_t)b * s->words + l->spans.at[k].value / 64] |=
                1ull << l->spans.at[k].value % 64;
    memcpy(s->in, s->out, n * sizeof *s->in);
    for (size_t k = 0; k < l->accesses.n; k++) {
        const pl_access_point *t = &l->accesses.at[k];
        uint64_t *word = &s->in[(size_t)t->block * s->words + t->value / 64],
                 bit = 1ull << t->value % 64;
        *word = t->reads ? *word | bit : *word & ~bit;
    }
    return true;
}

/* ---- distances ---- */

/* k: the value's index among those that are live across blocks. */
static uint32_t *next_use_at(const spiller *s, uint32_t b, uint32_t k)
{
    size_t word = (size_t)b * s->words + k / 64;
    return &s->next_use_in[s->rank[word] +
                           (uint32_t)__builtin_popcountll(s->in[word] & ((1ull << k % 64) - 1))];
}

/* Distance of the next use after the end of block b. */
static uint32_t next_use_out(const spiller *s, uint32_t b, uint32_t k)
{
    const pl_ir *x = s->x;
    uint32_t best = NEVER;
    for (uint32_t e = 0; e < pl_ir_successors(x, b); e++) {
        uint32_t q = pl_ir_successor(x, b, e),
                 d = s->in[(size_t)q * s->words + k / 64] >> k % 64 & 1 ? *next_use_at(s, q, k)
                                                                        : NEVER;
        if (d >= NEVER) continue;
        if (x->blocks.at[b].loop != PL_IR_NONE && !pl_ir_in_loop(x, q, x->blocks.at[b].loop))
            d += LOOP_END;
        best = d < best ? d : best;
    }
    return best;
}

static void note_first_use(spiller *s, uint32_t *row, unsigned rows, unsigned use)
{
    spill_value *v = value_of(s, *row, use);
    if (!v || !is_live(s, s->in, s->block, (uint32_t)(v - s->v))) return;
    uint32_t *d = next_use_at(s, s->block, s->f.v[v - s->v].global_index);
    if (*d == UINT32_MAX) *d = is_new_def(s, v, rows, use) ? NEVER : s->at;
}

/* For values that block b does not access, propagates the distance from its successors. */
static bool propagate_distances(spiller *s, uint32_t b, const uint8_t *known)
{
    const pl_ir_block *k = &s->x->blocks.at[b];
    bool changed = false;
    for (uint32_t w = 0; w < s->words; w++) {
        size_t word = (size_t)b * s->words + w;
        uint32_t c = s->rank[word];
        for (uint64_t left = s->in[word]; left; left &= left - 1, c++) {
            if (known[c]) continue;
            uint32_t d = next_use_out(s, b, w * 64 + (uint32_t)__builtin_ctzll(left));
            d = d < NEVER ? d + (uint32_t)k->code.n : NEVER;
            if (d < s->next_use_in[c]) {
                s->next_use_in[c] = d;
                changed = true;
            }
        }
    }
    return changed;
}

static bool find_next_use_distances(spiller *s)
{
    pl_ir *x = s->x;
    size_t words = (size_t)s->words * x->blocks.n;
    uint32_t nlive = 0;
    if (!(s->rank = pl_arena_array(x->tmp, uint32_t, words + 1))) return false;
    for (size_t w = 0; w < words; w++) {
        s->rank[w] = nlive;
        nlive += (uint32_t)__builtin_popcountll(s->in[w]);
    }
    s->next_use_in = pl_arena_array(x->tmp, uint32_t, nlive + 1u);
    uint8_t *known = pl_arena_array(x->tmp, uint8_t, nlive + 1u); /* set by the block itself */
    if (!s->next_use_in || !known) return false;
    memset(s->next_use_in, 0xff, nlive * sizeof *s->next_use_in);
    for (s->block = 0; s->block < x->blocks.n; s->block++)
        for (s->at = 0; s->at < x->blocks.at[s->block].code.n; s->at++) {
            pl_insn *i = &x->blocks.at[s->block].code.at[s->at];
            pl_liveness_visit(&s->f, s->block, s->at);
            /* reads before writes: v = v + 1 needs v */
            PL_FOR_EACH_READ(x->p, i, o) note_first_use(s, o.row, o.rows, o.use);
            PL_FOR_EACH_WRITE(x->p, i, o) note_first_use(s, o.row, o.rows, o.use);
        }
    for (uint32_t c = 0; c < nlive; c++)
        if (s->next_use_in[c] != UINT32_MAX)
            known[c] = 1;
        else
            s->next_use_in[c] = NEVER;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t j = x->nrpo; j-- > 0;) changed |= propagate_distances(s, x->rpo[j], known);
    }
    return true;
}

/* ---- values in registers ---- */

static int nearer_use(const void *a, const void *b)
{
    const by_distance *x = a, *y = b;
    if (x->distance != y->distance) return x->distance < y->distance ? -1 : 1;
    return x->value < y->value ? -1 : x->value > y->value;
}

/* Chooses the values in registers at the start of block b. */
static void choose_entry(spiller *s, uint32_t b)
{
    pl_ir *x = s->x;
    by_distance *r = s->ranked;
    uint32_t n = 0, weight = 0;
    bool header = x->blocks.at[b].nlatches > 0;
    uint32_t max = header ? s->loop_pressure[b] : 0;
    for (uint32_t w = 0; w < s->words; w++)
        for (uint64_t rest = s->in [(size_t)b * s->words + w]; rest; rest &= rest - 1) {
            uint32_t number = w * 64 + (uint32_t)__builtin_ctzll(rest), k = s->f.value[number];
            bool any = b == 0 || header || s->v[k].precolored;
            for (uint32_t e = 0; e < x->blocks.at[b].npreds && !any; e++)
                any = contains(s, s->exit[x->predecessors[x->blocks.at[b].first_pred + e]], k);
            if (any) r[n++] = (by_distance){k, s->v[k].precolored ? 0 : *next_use_at(s, b, number)};
        }
    qsort(r, n, sizeof *r, nearer_use);
    uint32_t through = 0, left = UINT32_MAX; /* registers of values that are only live through the
                                                loop, and the number available to them */
    for (uint32_t k = 0; k < n; k++)
        through += r[k].distance >= LOOP_END ? s->v[r[k].value].regs : 0;
    if (header) left = s->reg_limit + through > max ? s->reg_limit + through - max : 0;
    size_t first = s->lists.n;
    for (uint32_t k = 0; k < n; k++) {
        const spill_value *v = &s->v[r[k].value];
        bool across = r[k].distance >= LOOP_END;
        if (!v->precolored && (weight + v->regs > s->reg_limit || (across && v->regs > left)))
            continue;
        *pl_push(x->tmp, &s->lists) = r[k].value;
        weight += v->regs;
        left -= across ? v->regs : 0;
    }
    s->entry[b] = make_list(s, first);
}

static void list_access(spiller *s, uint32_t *row, unsigned rows, unsigned use)
{
    spill_value *v = value_of(s, *row, use);
    if (!v) return;
    bool reads = !is_new_def(s, v, rows, use);
    if (v->next_access && s->accesses.at[v->next_access - 1].at == s->at) {
        s->accesses.at[v->next_access - 1].reads |= reads;
        return;
    }
    uint32_t next = v->next_access;
    *pl_push(s->x->tmp, &s->accesses) = (access){s->at, next, reads};
    v->next_access = (uint32_t)s->accesses.n;
}

/* Distance of the next use of a value after the current instruction. */
static uint32_t distance(const spiller *s, const spill_value *v)
{
    uint32_t k = (uint32_t)(v - s->v);
    if (v->next_access)
        return s->accesses.at[v->next_access - 1].reads
                   ? s->accesses.at[v->next_access - 1].at - s->at
                   : NEVER;
    if (!is_live(s, s->out, s->block, k)) return NEVER;
    uint32_t d = next_use_out(s, s->block, s->f.v[k].global_index);
    return d < NEVER ? d + (uint32_t)s->x->blocks.at[s->block].code.n - s->at : NEVER;
}

/* Marks the value as evicted somewhere, and assigns a spill slot. */
static void evict(spiller *s, spill_value *v)
{
    if (v->spilled) return;
    v->spilled = true;
    if (v->remat) return;
    v->frame_slot = s->end; /* a slot of its own for now */
    s->end += 8;
    *pl_push(s->x->tmp, &s->frame_values) = (uint32_t)(v - s->v);
}

static bool is_operand(const spiller *s, uint32_t k)
{
    for (size_t n = 0; n < s->operands.n; n++)
        if (s->operands.at[n] == k) return true;
    return false;
}

/* Evicts values until at most that many registers are in use. */
static void evict_to(spiller *s, uint32_t rows)
{
    while (s->weight > rows) {
        uint32_t worst = UINT32_MAX, farthest = 0;
        for (size_t n = 0; n < s->in_regs.n; n++) {
            uint32_t k = s->in_regs.at[n];
            const spill_value *v = &s->v[k];
            if (v->precolored || v->rows > 2 || !v->regs || is_operand(s, k)) continue;
            uint32_t d = distance(s, v);
            d += v->remat && d < NEVER ? d / 2 : 0; /* it is recomputed without a memory access */
            if (worst == UINT32_MAX || d > farthest || (d == farthest && k < worst)) {
                worst = k;
                farthest = d;
            }
        }
        if (worst == UINT32_MAX) return;
        release(s, &s->v[worst]);
        if (distance(s, &s->v[worst]) < NEVER) evict(s, &s->v[worst]);
    }
}

static bool make_spill_access(spiller *s, pl_insn *i, const spill_value *v, bool store,
                              uint32_t line)
{
    *i = (pl_insn){.guard = PL_PT, .reconv = UINT32_MAX, .line = line};
    for (int k = 0; k < PL_INLINE_OPERANDS; k++) i->op[k] = UINT32_MAX;
    if (!pl_insn_make(i, store ? M_st : M_ld, 3,
                      (const pl_word[]){W_local, v->rows == 2 ? W_b64 : W_b32}, 2))
        return false;
    i->op[store ? 0 : 1] = s->frame;
    i->op[store ? 1 : 0] = v->row;
    i->imm = v->frame_slot;
    pl_insn_shape(i);
    pl_insn_finish(i);
    return true;
}

static bool make_reload(spiller *s, pl_insn *i, spill_value *v, uint32_t line)
{
    evict(s, v);
    if (v->remat) {
        *i = pl_ir_clone(s->x, v->remat);
        return true;
    }
    return make_spill_access(s, i, v, false, line);
}

/* Replaces the code of the block by the instruction list. */
static bool replace_code(spiller *s, uint32_t b)
{
    pl_ir_block *k = &s->x->blocks.at[b];
    if (s->code.n > k->code.cap) {
        k->code.cap = s->code.n + s->code.n / 2;
        k->code.at = pl_arena_array(s->x->a, pl_insn, k->code.cap);
    }
    if (s->code.n && k->code.at) memcpy(k->code.at, s->code.at, s->code.n * sizeof *k->code.at);
    k->code.n = s->code.n;
    return k->code.at || !s->code.n;
}

/* True for a call of a function that shares registers with its callers: parameters and constants
 * are loaded again after it. */
static bool clobbers_constants(const pl_ir *x, const pl_insn *i)
{
    if (!(pl_insn_effects(i) & PL_EF_CALL)) return false;
    uint32_t callee = x->p->calls.at[i->target].callee;
    return callee != UINT32_MAX && !x->p->funcs.at[callee].abi_calls;
}

static void release_constants(spiller *s)
{
    for (size_t k = s->in_regs.n; k-- > 0;) {
        spill_value *v = &s->v[s->in_regs.at[k]];
        if (v->regs && v->remat && pl_insn_mnem(v->remat) != M__s2r) release(s, v);
    }
}

/* Rewrites a block: values are reloaded before they are used. */
static bool rewrite_block(spiller *s, uint32_t b)
{
    pl_ir *x = s->x;
    s->block = b;
    s->accesses.n = s->code.n = 0;
    load_all(s, s->entry[b]);
    for (s->at = (uint32_t)x->blocks.at[b].code.n; s->at-- > 0;) {
        pl_insn *i = &x->blocks.at[b].code.at[s->at];
        pl_liveness_visit(&s->f, b, s->at);
        PL_FOR_EACH_USE(x->p, i, o) list_access(s, o.row, o.rows, o.use);
    }
    uint32_t count = (uint32_t)x->blocks.at[b].code.n;
    for (s->at = 0; s->at < count; s->at++) {
        pl_insn i = x->blocks.at[b].code.at[s->at];
        s->operands.n = 0;
        PL_FOR_EACH_USE(x->p, &i, op) {
            spill_value *v = value_of(s, *op.row, op.use);
            if (v) *pl_push(s->x->tmp, &s->operands) = (uint32_t)(v - s->v);
        }
        uint32_t reg_limit = s->reg_limit > temporaries(&i) ? s->reg_limit - temporaries(&i) : 1;
        for (size_t n = 0; n < s->operands.n; n++) {
            spill_value *v = &s->v[s->operands.at[n]];
            bool reads = v->next_access && s->accesses.at[v->next_access - 1].at == s->at &&
                         s->accesses.at[v->next_access - 1].reads;
            if (is_in_register(s, s->operands.at[n]) || !reads) continue;
            load_into_reg(s, v);
            evict_to(s, reg_limit);
            pl_insn reload;
            if (!make_reload(s, &reload, v, i.line)) return false;
            *pl_push(x->tmp, &s->code) = reload;
        }
        evict_to(s, reg_limit);
        for (size_t n = 0; n < s->operands.n; n++) { /* dead operands make room for results */
            spill_value *v = &s->v[s->operands.at[n]];
            if (v->next_access && s->accesses.at[v->next_access - 1].at == s->at)
                v->next_access = s->accesses.at[v->next_access - 1].next;
        }
        for (size_t n = 0; n < s->operands.n; n++) {
            spill_value *v = &s->v[s->operands.at[n]];
            if (is_in_register(s, s->operands.at[n]) && !v->precolored && distance(s, v) >= NEVER)
                release(s, v);
        }
        for (size_t n = 0; n < s->operands.n; n++) {
            spill_value *v = &s->v[s->operands.at[n]];
            if (!is_in_register(s, s->operands.at[n]) && (v->precolored || distance(s, v) < NEVER))
                load_into_reg(s, v);
        }
        s->operands.n = 0;
        if (clobbers_constants(x, &i)) release_constants(s);
        evict_to(s, s->reg_limit);
        *pl_push(x->tmp, &s->code) = i;
        if (!pl_ir_ok(x)) return false;
    }
    size_t first = s->lists.n;
    for (size_t k = 0; k < s->in_regs.n; k++)
        if (is_live(s, s->out, b, s->in_regs.at[k])) *pl_push(x->tmp, &s->lists) = s->in_regs.at[k];
    s->exit[b] = make_list(s, first);
    return replace_code(s, b);
}

/* ---- edges ---- */

/* Values that `to` expects in registers and that `from` does not leave there are reloaded on the
 * edge between them. */
static bool resolve_edge(spiller *s, uint32_t from, uint32_t edge)
{
    pl_ir *x = s->x;
    uint32_t to = pl_ir_successor(x, from, edge);
    uint32_t reload_block = PL_IR_NONE;
    size_t at = 0;
    for (uint32_t n = 0; n < s->entry[to].n; n++) {
        uint32_t k = s->lists.at[s->entry[to].first + n];
        if (contains(s, s->exit[from], k) || s->v[k].precolored) continue;
        if (reload_block == PL_IR_NONE) {
            pl_insn *jump = pl_ir_branch(x, from);
            uint32_t nsuccessors = pl_ir_successors(x, from);
            if (nsuccessors == 1) {
                reload_block = from;
                at = x->blocks.at[from].code.n - (jump ? 1u : 0u);
                /* back edge: no separate jump for reloads */
            } else if (jump && pl_ir_dominates(x, to, from)) {
                reload_block = from;
                at = x->blocks.at[from].code.n - 1;
            } else if (x->blocks.at[to].npreds == 1) {
                reload_block = to;
            } else {
                reload_block = pl_ir_new_block(x);
                x->blocks.at[reload_block].fallthrough = to;
                jump = pl_ir_branch(x, from);
                if (edge + 1 == nsuccessors && x->blocks.at[from].fallthrough != PL_IR_NONE)
                    x->blocks.at[from].fallthrough = reload_block;
                else if (pl_forms[jump->form].noperands == 2)
                    x->p->pool.at[jump->extra_ops + edge] = reload_block;
                else
                    jump->target = reload_block;
            }
        }
        pl_insn reload;
        uint32_t line = x->blocks.at[from].code.n
                            ? x->blocks.at[from].code.at[x->blocks.at[from].code.n - 1].line
                            : 0;
        if (!make_reload(s, &reload, &s->v[k], line)) return false;
        pl_insn *i = pl_ir_insert(x, reload_block, at++);
        if (!i) return false;
        *i = reload;
    }
    return true;
}

/* ---- stores ---- */

static bool load_from_slot(const spiller *s, const pl_insn *i)
{
    return pl_insn_mnem(i) == M_ld && i->sel[PL_M_SPACE] == PL_SP_LOCAL && i->op[1] == s->frame &&
           i->imm >= s->base;
}

static bool store_to_slot(const spiller *s, const pl_insn *i)
{
    return pl_insn_mnem(i) == M_st && i->sel[PL_M_SPACE] == PL_SP_LOCAL && i->op[0] == s->frame &&
           i->imm >= s->base;
}

static bool store_spilled_values(spiller *s)
{
    pl_ir *x = s->x;
    for (size_t b = 0; b < x->blocks.n; b++) {
        s->code.n = 0;
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn i = x->blocks.at[b].code.at[k];
            *pl_push(x->tmp, &s->code) = i;
            if (load_from_slot(s, &i)) {
                x->f->spill_loads += 1u << i.sel[PL_M_LOG2];
                continue;
            }
            s->operands.n = 0;
            PL_FOR_EACH_USE(x->p, &i, o) {
                spill_value *v = o.use & PL_USE_WRITE ? value_of(s, *o.row, o.use) : NULL;
                if (v && v->spilled && !v->remat)
                    *pl_push(s->x->tmp, &s->operands) = (uint32_t)(v - s->v);
            }
            for (size_t n = 0; n < s->operands.n; n++) {
                pl_insn spill_store;
                if (!make_spill_access(s, &spill_store, &s->v[s->operands.at[n]], true, i.line))
                    return false;
                x->f->spill_stores += 1u << spill_store.sel[PL_M_LOG2];
                spill_store.guard = i.guard;
                spill_store.flags |= (uint16_t)(i.flags & PL_IF_GUARD_NEG);
                *pl_push(x->tmp, &s->code) = spill_store;
            }
        }
        if (!replace_code(s, (uint32_t)b)) return false;
    }
    return true;
}

/* ---- spill slots ---- */

static void extend_range(spill_value *v, uint32_t at)
{
    v->start = at < v->start ? at : v->start;
    v->end = at > v->end ? at : v->end;
}

static int by_start(const void *a, const void *b)
{
    const spill_value *x = *(spill_value *const *)a, *y = *(spill_value *const *)b;
    if (x->start != y->start) return x->start < y->start ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* Computes the live range of each value with a spill slot, in positions of all instructions. */
static bool find_live_ranges(spiller *s)
{
    pl_ir *x = s->x;
    uint32_t *begin = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1),
             *end = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    if (!begin || !end) return false;
    s->at = 0;
    for (uint32_t b = 0; b < x->blocks.n; b++) {
        begin[b] = ++s->at;
        for (uint32_t c = 0; c < x->blocks.at[b].code.n; c++, s->at++)
            PL_FOR_EACH_USE(x->p, &x->blocks.at[b].code.at[c], o) {
                spill_value *v = value_of(s, *o.row, o.use);
                if (v) extend_range(v, s->at);
            }
        end[b] = s->at;
    }
    /* liveness predates the blocks added on edges: those reload values that are live at both
     * ends */
    for (size_t k = 0; k < s->f.sets.spans.n; k++) {
        const pl_live_span *p = &s->f.sets.spans.at[k];
        spill_value *v = &s->v[s->f.value[p->value]];
        extend_range(v, end[p->first]);
        extend_range(v, end[p->end - 1]);
        if (is_live(s, s->in, p->first, (uint32_t)(v - s->v))) extend_range(v, begin[p->first]);
    }
    for (size_t k = 0; k < s->f.sets.accesses.n; k++) {
        const pl_access_point *t = &s->f.sets.accesses.at[k];
        if (t->reads) extend_range(&s->v[s->f.value[t->value]], begin[t->block]);
    }
    return true;
}

/* A min-heap of numbers, compared by their upper half. */
typedef struct heap {
    uint64_t *at;
    uint32_t n;
} heap;

static void heap_add(heap *h, uint64_t x)
{
    uint32_t k = h->n++;
    for (; k > 0 && h->at[(k - 1) / 2] > x; k = (k - 1) / 2) h->at[k] = h->at[(k - 1) / 2];
    h->at[k] = x;
}

static uint64_t heap_take(heap *h)
{
    uint64_t min = h->at[0], x = h->at[--h->n];
    uint32_t k = 0;
    for (uint32_t c; (c = 2 * k + 1) < h->n; k = c) {
        c += c + 1 < h->n && h->at[c + 1] < h->at[c];
        if (h->at[c] >= x) break;
        h->at[k] = h->at[c];
    }
    h->at[k] = x;
    return min;
}

/* Values whose live ranges do not overlap share a spill slot: a linear scan takes the first free
 * slot. Words and pairs have separate slots. */
static bool share_slots(spiller *s)
{
    pl_ir *x = s->x;
    uint32_t n = (uint32_t)s->frame_values.n, *offset = pl_arena_array(x->tmp, uint32_t, n + 1),
             *width = pl_arena_array(x->tmp, uint32_t, n + 1);
    spill_value **order = pl_arena_array(x->tmp, spill_value *, n + 1),
                **of_slot = pl_arena_array(x->tmp, spill_value *, n + 1);
    heap used_slots = {pl_arena_array(x->tmp, uint64_t, n + 1), 0},
         open[2] = {{pl_arena_array(x->tmp, uint64_t, n + 1), 0},
                    {pl_arena_array(x->tmp, uint64_t, n + 1), 0}};
    if (!offset || !width || !order || !of_slot || !used_slots.at || !open[0].at || !open[1].at)
        return false;
    for (uint32_t k = 0; k < s->n; k++) s->v[k].start = UINT32_MAX;
    for (uint32_t k = 0; k < n; k++) order[k] = of_slot[k] = &s->v[s->frame_values.at[k]];
    if (!find_live_ranges(s)) return false;
    qsort(order, n, sizeof *order, by_start);
    uint32_t nslots = 0;
    for (uint32_t k = 0; k < n; k++) {
        heap *free_slots = &open[order[k]->rows - 1];
        while (used_slots.n && used_slots.at[0] >> 32 < order[k]->start) {
            uint32_t c = (uint32_t)heap_take(&used_slots);
            heap_add(&open[width[c] - 1], c);
        }
        uint32_t c = free_slots->n ? (uint32_t)heap_take(free_slots) : nslots++;
        width[c] = order[k]->rows;
        order[k]->frame_slot = c;
        heap_add(&used_slots, (uint64_t)order[k]->end << 32 | c);
    }
    uint32_t end = s->base; /* pairs first */
    for (uint32_t wide = 2; wide >= 1; wide--)
        for (uint32_t c = 0; c < nslots; c++)
            if (width[c] == wide) {
                offset[c] = end;
                end += 4 * wide;
            }
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            pl_insn *i = &x->blocks.at[b].code.at[k];
            if (load_from_slot(s, i) || store_to_slot(s, i))
                i->imm = offset[of_slot[(i->imm - s->base) / 8]->frame_slot];
        }
    s->end = end;
    return true;
}

/* ---- the pass ---- */

/* True if the value can be rematerialized at any point. */
static bool is_rematerializable(const pl_ir *x, const pl_insn *i)
{
    uint64_t number;
    if (i->guard != PL_PT) return false;
    switch (pl_insn_mnem(i)) {
    case M__s2r:
    case M__ldc: return true;
    case M__mov: return pl_ir_constant_value(x, i->op[1], &number);
    case M_ld:
        return x->f->entry && i->sel[PL_M_SPACE] == PL_SP_PARAM && i->op[1] == UINT32_MAX &&
               i->sel[PL_M_COUNT] == 1;
    default: return false;
    }
}

static void find_rematerializable(spiller *s)
{
    pl_ir *x = s->x;
    for (uint32_t k = 0; k < s->n; k++) {
        spill_value *v = &s->v[k];
        const pl_insn *w = s->f.v[k].writes == 1 ? pl_ir_writer(x, v->row) : NULL;
        if (!w || !is_rematerializable(x, w)) continue;
        pl_insn *copy = pl_arena_new(x->tmp, pl_insn);
        *copy = *w;
        v->remat = copy;
    }
}

/* The registers that values may occupy. */
static uint32_t available_registers(const pl_ir *x)
{
    const uint32_t limit = pl_register_limit(x->p, x->f),
                   reserved = (uint32_t)x->p->tuning->registers.reserved,
                   min = x->p->tuning->spill.min_regs;
    return limit > reserved + min ? limit - reserved : min;
}

/* *calls: the function has calls; *clobbers: some of them overwrite constants. */
static void find_calls(const pl_ir *x, bool *calls, bool *clobbers)
{
    *calls = *clobbers = false;
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++) {
            *calls |= (pl_insn_effects(&x->blocks.at[b].code.at[k]) & PL_EF_CALL) != 0;
            *clobbers |= clobbers_constants(x, &x->blocks.at[b].code.at[k]);
        }
}

/* Allocates the tables of the pass, after the liveness analysis. */
static bool make_tables(spiller *s)
{
    const pl_ir *x = s->x;
    s->loop_pressure = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    s->entry = pl_arena_array(x->tmp, value_list, x->blocks.n + 1);
    s->exit = pl_arena_array(x->tmp, value_list, x->blocks.n + 1);
    s->ranked = pl_arena_array(x->tmp, by_distance, s->n + 1);
    s->v = pl_arena_array(x->tmp, spill_value, s->n + 1);
    if (!s->loop_pressure || !s->entry || !s->exit || !s->ranked || !s->v || !make_sets(s))
        return false;
    for (uint32_t k = 0; k < s->n; k++)
        s->v[k] = (spill_value){.row = s->f.v[k].row,
                                .rows = s->f.v[k].rows,
                                .regs = s->f.v[k].regs,
                                .precolored = s->f.v[k].precolored};
    return true;
}

/* Rewrites the blocks, then the edges between them. */
static bool rewrite_function(spiller *s)
{
    pl_ir *x = s->x;
    for (uint32_t j = 0; j < x->nrpo; j++) {
        choose_entry(s, x->rpo[j]);
        if (!rewrite_block(s, x->rpo[j])) return false;
    }
    s->blocks = (uint32_t)x->blocks.n;
    for (uint32_t j = 0; j < x->nrpo; j++)
        for (uint32_t e = 0, n = pl_ir_successors(x, x->rpo[j]); e < n; e++)
            if (!resolve_edge(s, x->rpo[j], e)) return false;
    return store_spilled_values(s) && share_slots(s);
}

bool pl_pass_spill(pl_ir *x)
{
    const uint32_t min_regs = x->p->tuning->spill.min_regs,
                   transfer_regs = x->p->tuning->spill.transfer_regs;
    spiller s = {.x = x, .reg_limit = available_registers(x)};
    bool calls, clobbers;
    pl_ir_sweep(x);
    find_calls(x, &calls, &clobbers);
    /* no pass has added instructions that take registers */
    if (!calls && x->f->entry && x->max_pressure <= s.reg_limit) return true;
    if (!pl_ir_analyze(x)) return false;
    if (x->f->rows <= s.reg_limit && !clobbers) return true;
    if (!pl_liveness_values(&s.f, x, false)) return false;
    s.n = s.f.n;
    s.pressure = pl_arena_array(x->tmp, uint32_t, x->blocks.n + 1);
    if (!s.pressure || !pl_liveness_solve(&s.f)) return false;
    const bool fits = measure_pressure(&s) <= s.reg_limit;
    s.words = (s.f.sets.values + 63) / 64;
    if ((fits && !clobbers) || exceeds_limits(&s)) return true;
    if (!make_tables(&s)) return false;
    measure_loop_pressure(&s);
    if (!fits && s.reg_limit >= min_regs + transfer_regs) s.reg_limit -= transfer_regs;
    if (!find_next_use_distances(&s)) return false;
    find_rematerializable(&s);
    s.frame = pl_ir_frame(x);
    s.base = s.end = (x->f->frame_bytes + 7u) & ~7u;
    if (!rewrite_function(&s)) return false;
    x->f->local_bytes += s.end - s.base;
    x->f->frame_bytes = (s.end + 7u) & ~7u;
    return pl_ir_graph(x) && pl_ir_ok(x);
}
