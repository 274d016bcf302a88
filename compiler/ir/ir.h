/* ir.h - a function as a graph of basic blocks, the form on which the optimising passes work.
 *
 * pl_ir_open copies the code range of a function into blocks, passes edit the blocks, and
 * pl_ir_close writes them back. In the graph, the target of a branch (and each entry of a brx.idx
 * table) is a block number, and falling through at the end of a block is explicit (`fallthrough`).
 * Rows keep their meaning: a row with one write is a value, a row with several writes is a
 * variable. Rows initialised at frame entry (constants, addresses, special registers) are values
 * that are available everywhere.
 *
 * An undefined register holds an arbitrary value, but the same one in a thread until it is written.
 * So a row with one write is a variable if it may be read before that write, or in a later
 * iteration of a loop than the write. The inputs of the write may have changed in between.
 * pl_ir_count finds these rows (`loop_carried`) and counts the initial content of the register as
 * an additional write. */
#ifndef PL_COMPILER_IR_IR_H
#define PL_COMPILER_IR_IR_H

#include "base/status.h"
#include "isa/program/operands.h"
#include "isa/program/insn_build.h"
#include "isa/program/insn_query.h"
#include "isa/program/program.h"

enum { PL_IR_NONE = 0xffffffff };

typedef struct pl_ir_block {
    struct {
        pl_insn *at;
        size_t n, cap;
    } code;
    /* Successor after the last instruction; PL_IR_NONE: control never reaches the end. */
    uint32_t fallthrough;
    /* filled in by pl_ir_graph */
    uint32_t npreds, first_pred; /* predecessors: number, first index in pl_ir.predecessors */
    uint32_t rpo_index;          /* position in reverse postorder; PL_IR_NONE: unreachable */
    uint32_t idom;               /* immediate dominator; block 0 is its own */
    uint32_t dom_pre, dom_size;  /* preorder number in the dominator tree; number of blocks that it
                                    dominates, itself included */
    uint32_t loop;               /* header of the innermost loop, PL_IR_NONE: not in a loop */
    uint32_t parent_loop;        /* of a loop header: header of the enclosing loop */
    uint32_t loop_depth;         /* number of enclosing loops */
    uint32_t nlatches;           /* of a loop header: number of back edges */
} pl_ir_block;

typedef enum pl_reg_kind { PL_REG_VIRTUAL, PL_REG_PRESET, PL_REG_DISCARD } pl_reg_kind;

typedef struct pl_ir_reg {
    uint32_t ndefs, nuses; /* writes and reads, including those of the function's interface */
    uint32_t def_block, def_index; /* position of the last write */
    uint32_t init;                 /* PL_REG_PRESET: index in f->init */
    uint32_t exposed;              /* index in a pl_exposed_regs list (loop_carried.h), plus one */
    uint8_t kind;                  /* pl_reg_kind */
    uint8_t width;                 /* width of the last write */
    bool precolored;               /* parameter or result of the function: not renamed */
    bool predicated;               /* the last write has a guard */
    /* It has one write, and is read before it or in a later iteration; `ndefs` is 2. */
    bool loop_carried;
} pl_ir_reg;

typedef struct pl_ir {
    pl_program *p;
    pl_prog_func *f;
    pl_arena *a;   /* lifetime of the graph */
    pl_arena *tmp; /* lifetime of the current pass */
    struct {
        pl_ir_block *at;
        size_t n, cap;
    } blocks;
    struct {
        uint8_t *at;
        size_t n, cap;
    } kind; /* pl_reg_kind by row */
    struct {
        uint32_t *at;
        size_t n, cap;
    } init; /* by row: index in f->init */
    struct {
        struct pl_ir_added *at;
        size_t n, cap;
    } pending_inserts;    /* pl_ir_insert_deferred; from tmp */
    uint32_t discard_reg; /* first of four registers that receive discarded results, PL_IR_NONE: the
                             function has none */
    uint32_t max_pressure; /* most registers live at once, including temporaries that instructions
                              need during execution, after pl_pass_schedule */
    /* results of pl_ir_graph */
    uint32_t *predecessors;
    bool has_loops;   /* the graph has loops */
    bool irreducible; /* there are cycles with several entries, which `loop` does not represent */
    uint32_t *rpo, nrpo;    /* reachable blocks in reverse postorder */
    uint32_t *stack, *edge; /* working memory of pl_ir_graph */
    size_t edge_capacity, block_capacity;
    struct {
        uint32_t *at;
        size_t n, cap;
    } edges; /* the edges for which the graph was computed: successors block by block, each list
                terminated by PL_IR_NONE */
    /* results of pl_ir_count */
    pl_ir_reg *regs;
    pl_ir_reg *preds; /* the same for predicates */
    bool may_diverge; /* set by pl_pass_insert_reconvergence: the function has branches where lanes
                         may diverge, exits of some lanes, or slow paths */
    size_t reg_capacity, pred_capacity;
    uint32_t nregs_described; /* number of rows that `regs` describes */
    bool has_dead;            /* there may be removed instructions: pl_ir_remove */
    bool uses_valid; /* counts are still valid: pl_ir_preserve_all, pl_ir_preserve_counts */
    bool defs_stale; /* but `def_block` and `def_index` of rows are out of date */
} pl_ir;

pl_status pl_ir_open(pl_ir *x, pl_program *p, pl_prog_func *f, uint32_t sink, pl_arena *scratch,
                     pl_arena *tmp);
/* False: out of memory. */
static inline bool pl_ir_ok(const pl_ir *x)
{
    return pl_arena_ok(x->a) && pl_arena_ok(x->tmp);
}

/* Writes the function back from f->first on. *fixed becomes the first row that register allocation
 * leaves unchanged. */
pl_status pl_ir_close(pl_ir *x, uint32_t *fixed);

/* Computes edges, reverse postorder, dominators and loops. To be called again after edges
 * change. */
bool pl_ir_graph(pl_ir *x);
/* Counts reads and writes of every row. */
bool pl_ir_count(pl_ir *x);
/* Preserves all use counts and positions, at the end of a pass that has changed nothing since
 * pl_ir_count. */
static inline void pl_ir_preserve_all(pl_ir *x)
{
    x->uses_valid = true;
}
/* Preserves use counts only: instructions were moved, or inserted and removed again. */
static inline void pl_ir_preserve_counts(pl_ir *x)
{
    x->uses_valid = x->defs_stale = true;
}
/* Like pl_ir_count, for passes that do not need the positions of writes. */
bool pl_ir_uses(pl_ir *x);
/* The common prologue of passes: removes dead instructions, then computes graph and counts. Returns
 * false when out of memory. */
bool pl_ir_analyze(pl_ir *x);
/* Describes rows created since, such as constants that a pass adds while it runs. Invalidates
 * pointers to descriptions. */
bool pl_ir_extend_reg_info(pl_ir *x);
/* True if there is such an instruction. Passes that handle a rare one check this before they
 * analyse the function. */
static inline bool pl_ir_any(const pl_ir *x, bool (*matches)(const pl_insn *i))
{
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            if (matches(&x->blocks.at[b].code.at[k])) return true;
    return false;
}
/* Removes the instruction; those after it move at the next pl_ir_sweep. */
static inline void pl_ir_remove(pl_ir *x, pl_insn *i)
{
    i->form = PL_IR_DEAD;
    x->has_dead = true;
}
/* Compacts blocks, dropping removed instructions. */
void pl_ir_sweep(pl_ir *x);
/* The number of times the instruction reads the register whose first row this is. */
uint32_t pl_ir_reads(const pl_ir *x, pl_insn *i, uint32_t row);

/* True if block a dominates block b. */
static inline bool pl_ir_dominates(const pl_ir *x, uint32_t a, uint32_t b)
{
    return x->blocks.at[b].dom_pre - x->blocks.at[a].dom_pre < x->blocks.at[a].dom_size;
}
/* The nearest common dominator of both. a: PL_IR_NONE is not a block yet. */
uint32_t pl_ir_common_dominator(const pl_ir *x, uint32_t a, uint32_t b);

/* The last instruction to write a row, NULL if none writes it. */
static inline pl_insn *pl_ir_writer(const pl_ir *x, uint32_t row)
{
    const pl_ir_reg *r = &x->regs[row];
    return r->def_block == PL_IR_NONE ? NULL : &x->blocks.at[r->def_block].code.at[r->def_index];
}
/* True if the register has one value that is available at the end of the block. UINT32_MAX, no
 * register, counts as available. */
bool pl_ir_available_at(const pl_ir *x, uint32_t row, uint32_t block);
bool pl_ir_pred_available_at(const pl_ir *x, uint32_t pred, uint32_t block);
/* True if the register has one value. It may be written in any block. */
static inline bool pl_ir_is_value(const pl_ir *x, uint32_t row, bool pred)
{
    const pl_ir_reg *r = &(pred ? x->preds : x->regs)[row];
    return r->ndefs == 1 && !r->precolored && (pred ? row > PL_PF : r->kind == PL_REG_VIRTUAL);
}
/* The block before the outermost loop around `block` in which these registers (UINT32_MAX: none),
 * with one value each, are invariant; `block` if no loop qualifies. */
uint32_t pl_ir_hoist_block(const pl_ir *x, uint32_t block, uint32_t a, uint32_t b);
/* A new register of the given number of rows. */
uint32_t pl_ir_new(pl_ir *x, unsigned rows);
uint32_t pl_ir_new_pred(pl_ir *x);
/* The row that holds this constant (32 or 64 bits wide). */
uint32_t pl_ir_constant(pl_ir *x, uint64_t bits, unsigned width);
/* The row that holds the frame address in local memory. */
uint32_t pl_ir_frame(pl_ir *x);
/* The row that holds a 32-bit special register without components. */
uint32_t pl_ir_sreg(pl_ir *x, pl_word sreg);
/* True if the row is a plain constant; *bits is its value. */
static inline bool pl_ir_constant_value(const pl_ir *x, uint32_t row, uint64_t *bits)
{
    if (row >= x->f->rows || x->kind.at[row] != PL_REG_PRESET) return false;
    const pl_frame_init *i = &x->f->init.at[x->init.at[row]];
    if (i->sreg || i->reloc || i->row != row) return false;
    *bits = i->bits;
    return true;
}
/* The special register that a row holds, or W_none. */
static inline pl_word pl_ir_special_register(const pl_ir *x, uint32_t row)
{
    if (row >= x->f->rows || x->kind.at[row] != PL_REG_PRESET) return W_none;
    return (pl_word)x->f->init.at[x->init.at[row]].sreg;
}
/* Copies an instruction, with its own operand lists. */
pl_insn pl_ir_clone(pl_ir *x, const pl_insn *i);
/* Inserts an instruction before position `at` of a block. All following instructions move, so this
 * suits a few insertions only. */
pl_insn *pl_ir_insert(pl_ir *x, uint32_t block, size_t at);
/* These append to a block: an instruction; setp.cmp.type p, a, b, returning p (setp.cmp.and with
 * predicate `and_pred`, unless it is PL_PT); a branch taken if the guard is true, or false.
 * Out-of-memory is reported by pl_ir_ok. */
pl_insn *pl_ir_append(pl_ir *x, uint32_t block, uint32_t line);
uint32_t pl_ir_compare(pl_ir *x, uint32_t block, uint32_t line, pl_word cmp, pl_word type,
                       uint32_t a, uint32_t b, uint32_t and_pred);
void pl_ir_jump(pl_ir *x, uint32_t block, uint32_t line, uint32_t guard, bool negated,
                uint32_t target);
/* Like pl_ir_insert, but nothing moves until pl_ir_flush_inserts. Several insertions at one
 * position keep their order. The result is valid until the next call. */
pl_insn *pl_ir_insert_deferred(pl_ir *x, uint32_t block, size_t at);
/* Performs the insertions of pl_ir_insert_deferred. Returns false when out of memory. */
bool pl_ir_flush_inserts(pl_ir *x);
/* Like pl_ir_flush_inserts, at the end of a pass that has queued insertions and removed the
 * replaced instructions, or (any: false) changed nothing since it counted. Returns false when out
 * of memory. */
bool pl_ir_finish_inserts(pl_ir *x, bool any);
uint32_t pl_ir_new_block(pl_ir *x);
/* The preheader of the loop with this header: its only successor is the header. */
uint32_t pl_ir_preheader(pl_ir *x, uint32_t header);
/* Redirects the edges from a block to block `to` to block `new_target`. */
void pl_ir_redirect(pl_ir *x, uint32_t from, uint32_t to, uint32_t new_target);

/* The branch that ends the block, NULL if it ends otherwise. */
static inline pl_insn *pl_ir_branch(const pl_ir *x, uint32_t block)
{
    const pl_ir_block *b = &x->blocks.at[block];
    pl_insn *i = b->code.n ? &b->code.at[b->code.n - 1] : NULL;
    return i && pl_insn_is_jump(i) ? i : NULL;
}

/* The position at the end of a block, before its branch. */
static inline size_t pl_ir_end(const pl_ir *x, uint32_t block)
{
    return x->blocks.at[block].code.n - (pl_ir_branch(x, block) ? 1u : 0u);
}

/* Successors of a block: their number, and successor k. */
static inline uint32_t pl_ir_successors(const pl_ir *x, uint32_t block)
{
    const pl_insn *i = pl_ir_branch(x, block);
    return (uint32_t)((i ? pl_insn_is_table(i) ? i->nextra : 1u : 0u) +
                      (x->blocks.at[block].fallthrough != PL_IR_NONE));
}

static inline uint32_t pl_ir_successor(const pl_ir *x, uint32_t block, uint32_t k)
{
    const pl_insn *i = pl_ir_branch(x, block);
    uint32_t jumps = i ? pl_insn_is_table(i) ? i->nextra : 1u : 0u;
    if (k >= jumps) return x->blocks.at[block].fallthrough;
    return pl_insn_is_table(i) ? x->p->pool.at[i->extra_ops + k] : i->target;
}

/* True if the block belongs to the loop with this header or to a nested one. */
static inline bool pl_ir_in_loop(const pl_ir *x, uint32_t block, uint32_t header)
{
    uint32_t loop = x->blocks.at[block].loop;
    while (loop != PL_IR_NONE && loop != header) loop = x->blocks.at[loop].parent_loop;
    return loop == header;
}

/* The block before all loops around a block; the block itself if there are none. If a loop begins
 * at the function entry, the result is its header. */
static inline uint32_t pl_ir_outside_loops(const pl_ir *x, uint32_t block)
{
    for (uint32_t header = x->blocks.at[block].loop; header != PL_IR_NONE;
         header = x->blocks.at[block].loop) {
        block = x->blocks.at[header].idom;
        if (block == header) break;
    }
    return block;
}

/* True if the block may be executed several times in one call of the function. */
static inline bool pl_ir_in_cycle(const pl_ir *x, uint32_t block)
{
    return x->blocks.at[block].loop != PL_IR_NONE || x->irreducible;
}

/* True if an edge of the block leaves its innermost loop. */
static inline bool pl_ir_leaves_loop(const pl_ir *x, uint32_t block)
{
    const pl_ir_block *b = &x->blocks.at[block];
    bool leaves = false;
    for (uint32_t k = 0; b->loop != PL_IR_NONE && k < pl_ir_successors(x, block); k++) {
        const pl_ir_block *to = &x->blocks.at[pl_ir_successor(x, block, k)];
        leaves |= to->loop_depth <= b->loop_depth && to->loop != b->loop;
    }
    return leaves;
}

/* The register of element k of an access; `operand` is that register or the vector that contains
 * it. */
static inline uint32_t pl_ir_data_row(const pl_ir *x, const pl_insn *i, unsigned operand,
                                      unsigned k)
{
    return i->sel[PL_M_COUNT] == 1 ? i->op[operand] : x->p->pool.at[i->extra_ops + k];
}

#endif
