/* ir.h - a function as a graph of blocks, the form in which the optimising passes change it.
 *
 * pl_ir_open copies the code range of a function into blocks, passes edit the blocks, pl_ir_close
 * writes them back. Inside, the target of a branch (and each entry of a brx.idx table) is a block
 * number, and leaving a block at its end is explicit (`next`). Rows keep their meaning: a row that
 * is written once is a value, one that is written several times is a variable. Rows filled when the
 * frame starts (constants, addresses, special registers) are values that are there everywhere.
 *
 * A register without a value holds anything, but one thing in a thread until it is written. So a
 * row that is written once is a variable if it may be read before, or in a later iteration of a
 * loop than it was written in. What its write depends on may have changed meanwhile. pl_ir_count
 * finds these (`carried`) and counts what the register held at first as a write of its own. */
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
    /* Block after the last instruction, PL_IR_NONE: the end is never reached. */
    uint32_t fallthrough;
    /* pl_ir_graph fills these */
    uint32_t npreds, first_pred; /* number of predecessors; first of them in pl_ir.preds */
    uint32_t rpo_index;          /* position in reverse postorder; PL_IR_NONE: not reachable */
    uint32_t idom;               /* immediate dominator, itself for block 0 */
    uint32_t dom_pre, dom_size;  /* position in a walk over the dominator tree; blocks that it
                            dominates,  itself included */
    uint32_t loop;               /* header of the innermost loop, PL_IR_NONE: in no loop */
    uint32_t parent_loop;        /* of a loop header: header of the loop around it */
    uint32_t loop_depth;         /* loops around it */
    uint32_t nlatches;           /* of a loop header: back edges */
} pl_ir_block;

typedef enum pl_reg_kind { PL_REG_VIRTUAL, PL_REG_PRESET, PL_REG_DISCARD } pl_reg_kind;

typedef struct pl_ir_reg {
    uint32_t ndefs, nuses;         /* instructions and interface that write, read it */
    uint32_t def_block, def_index; /* of the last write */
    uint32_t init;                 /* PL_REG_PRESET: index in f->init */
    uint32_t exposed;              /* number in a pl_exposed_regs list (loop_carried.h), plus one */
    uint8_t kind;                  /* pl_reg_kind */
    uint8_t width;                 /* width of the last write */
    bool precolored;               /* parameter or result of a function: not renamed */
    bool predicated;               /* the last write is under a guard */
    /* It is written once, and read before or in a later iteration; `defs` is 2. */
    bool loop_carried;
} pl_ir_reg;

typedef struct pl_ir {
    pl_program *p;
    pl_prog_func *f;
    pl_arena *a;   /* what lives as long as the graph */
    pl_arena *tmp; /* what lives as long as the pass at work */
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
    } pending_inserts;     /* pl_ir_insert_deferred; from tmp */
    uint32_t discard_reg;  /* first of four registers that take discarded results, PL_IR_NONE: the
                              function has none */
    uint32_t max_pressure; /* registers that live at once and those that instructions need while
                           they run, as pl_pass_schedule left the blocks */
    /* pl_ir_graph */
    uint32_t *predecessors;
    bool has_loops;         /* there are loops */
    bool irreducible;       /* there are cycles with several entries, which `loop` does not show */
    uint32_t *rpo, nrpo;    /* reachable blocks in reverse postorder */
    uint32_t *stack, *edge; /* its working memory */
    size_t edge_capacity, block_capacity;
    struct {
        uint32_t *at;
        size_t n, cap;
    } edges; /* the graph that the blocks describe now: successors block by block, PL_IR_NONE after
                those of each */
    /* pl_ir_count */
    pl_ir_reg *regs;
    pl_ir_reg *preds; /* the same for predicates */
    bool may_diverge; /* pl_pass_converge: there are branches where lanes may diverge, ends of some
                   lanes, slow paths */
    size_t reg_capacity, pred_capacity;
    uint32_t nregs_described; /* rows that have been */
    bool has_dead;            /* there may be removed instructions: pl_ir_remove */
    bool uses_valid; /* nothing has changed since: pl_ir_preserve_all, pl_ir_preserve_counts */
    bool defs_stale; /* but `block` and `at` of rows are not right */
} pl_ir;

pl_status pl_ir_open(pl_ir *x, pl_program *p, pl_prog_func *f, uint32_t sink, pl_arena *scratch,
                     pl_arena *tmp);
/* False: out of memory. */
static inline bool pl_ir_ok(const pl_ir *x)
{
    return pl_arena_ok(x->a) && pl_arena_ok(x->tmp);
}

/* Writes the function back after f->first. *fixed becomes the first row that register allocation
 * leaves alone. */
pl_status pl_ir_close(pl_ir *x, uint32_t *fixed);

/* Edges, reverse postorder, dominators, loops. Call again after edges change. */
bool pl_ir_graph(pl_ir *x);
/* Reads and writes of every row. */
bool pl_ir_count(pl_ir *x);
/* Preserves all use counts and positions. For the end of a pass that changed nothing since
 * pl_ir_count. */
static inline void pl_ir_preserve_all(pl_ir *x)
{
    x->uses_valid = true;
}
/* Preserves use counts only: instructions have moved, or come and gone. */
static inline void pl_ir_preserve_counts(pl_ir *x)
{
    x->uses_valid = x->defs_stale = true;
}
/* pl_ir_count for passes that do not ask where rows are written. */
bool pl_ir_uses(pl_ir *x);
/* What most passes begin with: dead instructions go, then graph and count. False: out of memory. */
bool pl_ir_analyze(pl_ir *x);
/* Describes rows that have come since: constants that a pass makes while it works. Pointers to
 * descriptions do not outlive this. */
bool pl_ir_extend_reg_info(pl_ir *x);
/* Is there such an instruction? Passes that look for a rare one ask before they analyse the
 * function. */
static inline bool pl_ir_any(const pl_ir *x, bool (*wanted)(const pl_insn *i))
{
    for (size_t b = 0; b < x->blocks.n; b++)
        for (size_t k = 0; k < x->blocks.at[b].code.n; k++)
            if (wanted(&x->blocks.at[b].code.at[k])) return true;
    return false;
}
/* The instruction is gone; what stands after it moves with the next pl_ir_sweep. */
static inline void pl_ir_remove(pl_ir *x, pl_insn *i)
{
    i->form = PL_IR_DEAD;
    x->has_dead = true;
}
/* Takes out removed instructions. */
void pl_ir_sweep(pl_ir *x);
/* How often the instruction reads the register whose first row this is. */
uint32_t pl_ir_reads(const pl_ir *x, pl_insn *i, uint32_t row);

/* True if a is on every path to b. */
static inline bool pl_ir_dominates(const pl_ir *x, uint32_t a, uint32_t b)
{
    return x->blocks.at[b].dom_pre - x->blocks.at[a].dom_pre < x->blocks.at[a].dom_size;
}
/* The last block that dominates both; a: PL_IR_NONE is no block yet. */
uint32_t pl_ir_common_dominator(const pl_ir *x, uint32_t a, uint32_t b);

/* The instruction that wrote a row last, NULL for one that no instruction writes. */
static inline pl_insn *pl_ir_writer(const pl_ir *x, uint32_t row)
{
    const pl_ir_reg *r = &x->regs[row];
    return r->def_block == PL_IR_NONE ? NULL : &x->blocks.at[r->def_block].code.at[r->def_index];
}
/* Has the register one value, and is it there at the end of a block? UINT32_MAX, no register, is.
 */
bool pl_ir_available_at(const pl_ir *x, uint32_t row, uint32_t block);
bool pl_ir_pred_available_at(const pl_ir *x, uint32_t pred, uint32_t block);
/* True if the register has one value, which it may get elsewhere as well. */
static inline bool pl_ir_is_value(const pl_ir *x, uint32_t row, bool pred)
{
    const pl_ir_reg *r = &(pred ? x->preds : x->regs)[row];
    return r->ndefs == 1 && !r->precolored && (pred ? row > PL_PF : r->kind == PL_REG_VIRTUAL);
}
/* The block in the preheader of the outermost loop around `block` that does not change these
 * registers (UINT32_MAX: none), which have one value each; `block` where all loops do. */
uint32_t pl_ir_hoist_block(const pl_ir *x, uint32_t block, uint32_t a, uint32_t b);
/* A new register of that many rows. */
uint32_t pl_ir_new(pl_ir *x, unsigned rows);
uint32_t pl_ir_new_pred(pl_ir *x);
/* The row that holds this number (32 or 64 bits wide). */
uint32_t pl_ir_constant(pl_ir *x, uint64_t bits, unsigned width);
/* The row that holds the start of the frame in local memory. */
uint32_t pl_ir_frame(pl_ir *x);
/* The row that holds a special register of 32 bits without components. */
uint32_t pl_ir_sreg(pl_ir *x, pl_word sreg);
/* True if the row is a plain constant. */
static inline bool pl_ir_constant_value(const pl_ir *x, uint32_t row, uint64_t *bits)
{
    if (row >= x->f->rows || x->kind.at[row] != PL_REG_PRESET) return false;
    const pl_frame_init *i = &x->f->init.at[x->init.at[row]];
    if (i->sreg || i->reloc || i->row != row) return false;
    *bits = i->bits;
    return true;
}
/* The special register after a row, W_none. */
static inline pl_word pl_ir_special_register(const pl_ir *x, uint32_t row)
{
    if (row >= x->f->rows || x->kind.at[row] != PL_REG_PRESET) return W_none;
    return (pl_word)x->f->init.at[x->init.at[row]].sreg;
}
/* A copy of an instruction with operand lists of its own. */
pl_insn pl_ir_clone(pl_ir *x, const pl_insn *i);
/* Puts an instruction before position `at` of a block: what stands after moves, so this is
 * for a few. */
pl_insn *pl_ir_insert(pl_ir *x, uint32_t block, size_t at);
/* At the end of a block: an instruction; setp.cmp.type p, a, b whose result is returned
 * (setp.cmp.and with predicate `also`, PL_PT: without); a branch if the guard is true, or false.
 * Out of memory shows in pl_ir_ok. */
pl_insn *pl_ir_append(pl_ir *x, uint32_t block, uint32_t line);
uint32_t pl_ir_compare(pl_ir *x, uint32_t block, uint32_t line, pl_word cmp, pl_word type,
                       uint32_t a, uint32_t b, uint32_t also);
void pl_ir_jump(pl_ir *x, uint32_t block, uint32_t line, uint32_t guard, bool negated,
                uint32_t target);
/* pl_ir_insert, but nothing moves until pl_ir_flush_inserts; of several for one place the first
 * comes first. What is returned stays until the next call. */
pl_insn *pl_ir_insert_deferred(pl_ir *x, uint32_t block, size_t at);
/* Puts in what pl_ir_insert_deferred has collected. False: out of memory. */
bool pl_ir_flush_inserts(pl_ir *x);
/* The same at the end of a pass that has collected something and removed what it stands for, or
 * done nothing since it counted. False: out of memory. */
bool pl_ir_finish_inserts(pl_ir *x, bool any);
uint32_t pl_ir_new_block(pl_ir *x);
/* A block before the loop with this header, which leads nowhere else. */
uint32_t pl_ir_preheader(pl_ir *x, uint32_t header);
/* Where a block goes on with block `to`, it goes on with `instead`. */
void pl_ir_redirect(pl_ir *x, uint32_t from, uint32_t to, uint32_t instead);

/* The branch that ends the block, NULL when it ends otherwise. */
static inline pl_insn *pl_ir_branch(const pl_ir *x, uint32_t block)
{
    const pl_ir_block *b = &x->blocks.at[block];
    pl_insn *i = b->code.n ? &b->code.at[b->code.n - 1] : NULL;
    return i && pl_insn_is_jump(i) ? i : NULL;
}

/* The position after what a block does, before its branch. */
static inline size_t pl_ir_end(const pl_ir *x, uint32_t block)
{
    return x->blocks.at[block].code.n - (pl_ir_branch(x, block) ? 1u : 0u);
}

/* The blocks that may follow a block: how many, and number k of them. */
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

/* True if the block belongs to the loop with this header or to one inside it. */
static inline bool pl_ir_in_loop(const pl_ir *x, uint32_t block, uint32_t header)
{
    uint32_t loop = x->blocks.at[block].loop;
    while (loop != PL_IR_NONE && loop != header) loop = x->blocks.at[loop].parent_loop;
    return loop == header;
}

/* The block before all loops around a block, itself: there are none. A loop that begins with
 * the function has none before it. */
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

/* True if some edge of the block leaves its innermost loop. */
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

/* The register of element k that an access moves; `operand` names it, or the vector that it is in.
 */
static inline uint32_t pl_ir_data_row(const pl_ir *x, const pl_insn *i, unsigned operand,
                                      unsigned k)
{
    return i->sel[PL_M_COUNT] == 1 ? i->op[operand] : x->p->pool.at[i->extra_ops + k];
}

#endif
