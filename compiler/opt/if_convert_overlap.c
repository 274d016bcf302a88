/* if_convert_overlap.c - dependences of and on the body of a branch. */
#include "compiler/opt/if_convert.h"

#include <string.h>

static void mark(if_convert *a, uint32_t row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows; k++) (use & PL_USE_PRED ? a->pred : a->row)[row + k] = a->query;
}

static void mark_reads(if_convert *a, pl_insn *i)
{
    PL_FOR_EACH_READ(a->x->p, i, o) mark(a, *o.row, o.rows, o.use);
}

void pl_ifc_mark_writes(if_convert *a, pl_insn *i)
{
    PL_FOR_EACH_WRITE(a->x->p, i, o) mark(a, *o.row, o.rows, o.use);
}

static void test_marked(if_convert *a, uint32_t row, unsigned rows, unsigned use)
{
    for (unsigned k = 0; k < rows; k++)
        a->hit |= (use & PL_USE_PRED ? a->pred : a->row)[row + k] == a->query;
}

/* True if the instruction depends on a marked register; its results are then marked too. */
bool pl_ifc_depends_on_marked(if_convert *a, pl_insn *i)
{
    a->hit = false;
    PL_FOR_EACH_READ(a->x->p, i, o) test_marked(a, *o.row, o.rows, o.use);
    if (a->hit) pl_ifc_mark_writes(a, i);
    return a->hit;
}

/* Backwards: true if the instruction computes a marked register; its operands are then marked
 * too. */
static bool feeds_marked(if_convert *a, pl_insn *i)
{
    a->hit = false;
    PL_FOR_EACH_WRITE(a->x->p, i, o) test_marked(a, *o.row, o.rows, o.use);
    if (a->hit) mark_reads(a, i);
    return a->hit;
}

/* True if a global load of the block before the body is still in flight at its branch. That is, no
 * store or branch condition there depends on it (a later store to shared memory may), nor does the
 * address of a load in the body. If `guarded`, the load is predicated, the branch may depend on it,
 * and barriers may follow it. */
bool pl_ifc_has_load_in_flight(if_convert *a, const pl_ir_block *head, const pl_ir_block *body,
                               bool guarded)
{
    a->query++;
    for (size_t k = body->code.n; k-- > 0;) {
        pl_insn *i = &body->code.at[k];
        if (pl_ifc_is_global_load(i))
            mark_reads(a, i);
        else
            feeds_marked(a, i);
    }
    for (size_t k = head->code.n; k-- > 0;) {
        pl_insn *i = &head->code.at[k];
        const uint32_t e = pl_insn_effects(i);
        if ((e & PL_EF_BARRIER) && !guarded) return false;
        if ((e & (PL_EF_ATOMIC | PL_EF_CONVERGE)) || ((e & PL_EF_BRANCH) && !guarded) ||
            pl_ifc_is_plain_store(i, false))
            mark_reads(a, i);
        else if (!feeds_marked(a, i) && pl_ifc_is_global_load(i) && guarded == (i->guard != PL_PT))
            return true;
    }
    return false;
}

/* True if `head` has a predicated global load that neither the body nor a shared-memory store in it
 * depends on. */
bool pl_ifc_has_predicated_load_in_flight(if_convert *a, const pl_ir_block *head,
                                          const pl_ir_block *body)
{
    bool any = false;
    a->query++;
    for (size_t k = 0; k < body->code.n; k++) mark_reads(a, &body->code.at[k]);
    for (size_t k = head->code.n; k-- > 0;) {
        pl_insn *i = &head->code.at[k];
        const bool load = pl_ifc_is_global_load(i) && i->guard != PL_PT;
        if (feeds_marked(a, i) && load) return false;
        if (pl_ifc_is_plain_store(i, true)) mark_reads(a, i);
        any |= load;
    }
    return any;
}

/* The register of the first result; PL_IR_NONE. */
uint32_t pl_ifc_result_of(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    return f->noperands && f->operand[0].written && f->operand[0].kind == PL_K_VALUE ? i->op[0]
                                                                                     : PL_IR_NONE;
}

static void sink(sink_count *s, const uint32_t *row, unsigned use);

void pl_ifc_sink_reads(sink_count *s, pl_insn *i)
{
    const pl_insn *reader = s->a->i;
    s->a->i = i;
    PL_FOR_EACH_READ(s->a->x->p, i, o) sink(s, o.row, o.use);
    s->a->i = reader;
}

/* True if ptxas may sink the instruction past the branch that ends its block. This includes loads
 * from shared memory that no store or barrier follows. */
static bool is_sinkable(const pl_ir_block *b, const pl_insn *i)
{
    if (pl_insn_pure(i)) return true;
    if (!pl_ifc_is_data_load(i) || pl_ifc_is_global_load(i) || i < b->code.at ||
        i >= b->code.at + b->code.n)
        return false;
    for (const pl_insn *j = i + 1; j < b->code.at + b->code.n; j++)
        if (pl_insn_effects(j) &
            (PL_EF_STORE | PL_EF_ATOMIC | PL_EF_BARRIER | PL_EF_CONVERGE | PL_EF_FENCE))
            return false;
    return true;
}

/* The number of writes of the register in the block. */
static uint32_t writes_of(const pl_ir_block *b, uint32_t row)
{
    uint32_t n = 0;
    for (size_t k = 0; k < b->code.n; k++) n += pl_ifc_result_of(&b->code.at[k]) == row;
    return n;
}

/* Counts one of the instructions before the branch that compute a sunk register. */
static void sink_write(sink_count *s, pl_insn *i, bool in_body)
{
    const bool is_copy = pl_insn_is_copy(i),
               is_number = is_copy && pl_ir_constant_value(s->a->x, i->op[1], &(uint64_t){0});
    /* For the result of the body, see required_overlap(). */
    s->n += is_copy ? is_number && !in_body : pl_insn_cost(s->a->x, i) != 0;
    s->depth++;
    pl_ifc_sink_reads(s, i);
    s->depth--;
}

/* A register written both by the block before the body and by the body: the former's value is read
 * by the body, and by the code after both. */
static void sink_preserved(sink_count *s, uint32_t row)
{
    pl_ir *x = s->a->x;
    pl_ir_block *head = &x->blocks.at[s->head];
    for (size_t k = head->code.n; k-- > 0;) {
        pl_insn *i = &head->code.at[k];
        if (pl_ifc_result_of(i) != row) {
            if (pl_ir_reads(x, i, row)) return;
            continue;
        }
        if (!is_sinkable(head, i)) return;
        sink_write(s, i, true);
        if (i->guard == PL_PT) return;
    }
}

/* A register that the block before the body writes several times, or that it and the block after
 * the body write: guarded writes preserve part of the value. */
static void sink_variable(sink_count *s, uint32_t row, uint32_t known)
{
    pl_ir *x = s->a->x;
    pl_ir_block *head = &x->blocks.at[s->head];
    uint32_t own_reads = 0; /* reads by its own writers */
    for (size_t k = 0; k < head->code.n; k++) {
        if (pl_ifc_result_of(&head->code.at[k]) != row) continue;
        if (!is_sinkable(head, &head->code.at[k])) return;
        own_reads += pl_ir_reads(x, &head->code.at[k], row);
    }
    if (writes_of(head, row) + writes_of(&x->blocks.at[s->join], row) != x->regs[row].ndefs ||
        x->regs[row].nuses != known + own_reads)
        return;
    for (size_t k = 0; k < head->code.n; k++)
        if (pl_ifc_result_of(&head->code.at[k]) == row) sink_write(s, &head->code.at[k], false);
}

static void sink(sink_count *s, const uint32_t *row, unsigned use)
{
    enum { MAX_DEPTH = 8 };
    const pl_ir *x = s->a->x;
    const uint32_t word = pl_ifc_word_of(s->a, row, use);
    if ((use & PL_USE_PRED) || *row >= x->nregs_described) return;
    if (word && s->words &&
        (s->a->word[*row] <= s->a->nparams ||
         x->blocks.at[x->regs[*row].def_block].loop ==
             x->blocks.at[s->join].loop)) /* special registers are not read again in loops */
        pl_ifc_request_load(s->a, word, s->depth > 0);
    if (word) return;
    const pl_ir_reg *r = &x->regs[*row];
    uint64_t *known = &s->a->reads[*row];
    *known = *known >> 32 == s->a->query ? *known + 1 : (uint64_t)s->a->query << 32 | 1;
    if (r->kind == PL_REG_VIRTUAL && r->ndefs > 1 && s->depth <= MAX_DEPTH) {
        if (writes_of(&x->blocks.at[s->body], *row) == 0)
            sink_variable(s, *row, (uint32_t)*known);
        else if ((uint32_t)*known == 1)
            sink_preserved(s, *row);
    }
    if (r->kind != PL_REG_VIRTUAL || r->ndefs != 1 || r->nuses != (uint32_t)*known ||
        r->def_block == PL_IR_NONE || r->def_block == s->body ||
        pl_ir_dominates(x, s->join, r->def_block) ||
        x->blocks.at[r->def_block].loop != x->blocks.at[s->join].loop ||
        r->def_index >= x->blocks.at[r->def_block].code.n || s->depth > MAX_DEPTH)
        return;
    pl_insn *i = &x->blocks.at[r->def_block].code.at[r->def_index];
    if (i->op[0] != *row || i->guard != PL_PT || !is_sinkable(&x->blocks.at[s->head], i)) return;
    s->n += pl_insn_cost(x, i) && i->latency_class != C_mov;
    s->depth++;
    pl_ifc_sink_reads(s, i);
    s->depth--;
}

/* Visits what the body reads, except for the addresses of its loads. */
void pl_ifc_sink_body(sink_count *s)
{
    enum { MAX_BODY = 64 };
    if_convert *a = s->a;
    pl_ir_block *body = &a->x->blocks.at[s->body];
    bool address[MAX_BODY];
    if (body->code.n > MAX_BODY) return;
    a->query++;
    for (size_t k = body->code.n; k-- > 0;) {
        pl_insn *i = &body->code.at[k];
        address[k] = pl_ifc_is_global_load(i) || feeds_marked(a, i);
        if (pl_ifc_is_global_load(i)) mark_reads(a, i);
    }
    pl_ifc_begin_query(a);
    for (size_t k = 0; k < body->code.n; k++)
        if (!address[k]) pl_ifc_sink_reads(s, &body->code.at[k]);
}

/* The only successor of the block; PL_IR_NONE: several. */
uint32_t pl_ifc_only_successor(const pl_ir *x, uint32_t b)
{
    const pl_insn *jump = pl_ir_branch(x, b);
    if (!jump) return x->blocks.at[b].fallthrough;
    return jump->guard == PL_PT && pl_forms[jump->form].noperands == 1 ? jump->target : PL_IR_NONE;
}
