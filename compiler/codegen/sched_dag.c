/* sched_dag.c - builds the dependence graph of a scheduling region: latencies and ordering
 * constraints. */
#include "compiler/codegen/schedule.h"

#include <limits.h>
#include <string.h>

/* An atomic operation without .acquire or .release does not order other accesses, so a reduction
 * counts as a store. */
static bool plain_reduction(const pl_insn *i)
{
    return pl_insn_mnem(i) == M_red && pl_insn_effects(i) == PL_EF_ATOMIC &&
           !pl_insn_has(i, W_release);
}

bool pl_sched_plain_store(const pl_insn *i)
{
    bool stores = pl_insn_effects(i) == PL_EF_STORE && !(i->flags & PL_IF_CONTROL);
    return (stores || plain_reduction(i)) && (i->flags & PL_IF_MEM) &&
           !(i->sel[PL_M_FLAGS] & PL_MF_POLL);
}

/* Cycles from an instruction to its reader, as the assembler assumes them: the column `latency` of
 * isa/table/classes.isa. They are fixed latencies of sm_80 to sm_100, and typical ones of results
 * with a scoreboard (tests/data/micro, 2026-11). Everything else takes schedule.fixed_latency.
 * Beside a chain of 50 to 400 FFMA, ptxas places a global load 303 cycles before its reader,
 * regardless of the chain's length (2026-11). */

/* schedule.long_latency: results that take at least this long are waited for (the others arrive in
 * time). schedule.lead: other instructions that take a register are placed at most this far before
 * their use. Between loads and their readers ptxas leaves issue slots unused rather than compute an
 * address or a constant early. */

/* Registers that a region may take. full_regs is 32 less the stack pointer and the registers that
 * register_allocation.c adds: the most with which an SM of sm_90 holds all its warps. ptxas keeps
 * to that where it can (of 780 functions compared, 80 take 32, and none 33 to 37). A schedule that
 * exceeds its limit is repeated with schedule.regs_step fewer, down to schedule.min_regs. If one
 * region still needs more, the whole function gets the next step of registers.steps (four warps per
 * SM fewer). That step fits the pressure of source order plus schedule.text_margin (for full_regs,
 * plus schedule.full_margin). It is one step lower if that lengthens the schedule by less than
 * 1/schedule.step_gain. ptxas takes no more registers for loads in flight than three or four of
 * them need (kernels of 1 to 96 loads, across which 0 to 80 values are live, 2026-11). Loads of 16
 * bytes that can overlap get schedule.wide_load_regs more than source order needs, up to
 * schedule.wide_load_limit; beyond it the source order of three recorded kernels needs more here
 * than in ptxas. With fewer than schedule.tight_room registers left, instructions that complete
 * started work go first, and an instruction that is ready within schedule.soon cycles goes before
 * others. */

/* Of 32 registers ptxas leaves schedule.load_spare_regs free when it issues another global load,
 * unless fewer than 4 are in flight. That holds for 26 of 29 live in loops of 8 to 32 loads of 4, 8
 * and 16 bytes beside 0 to 32 values (ptxas 13.0 for sm_90, 2026-11). Its register pressure there
 * differs from ours by a few: here the condition is schedule.loads_in_flight, or
 * schedule.wide_loads_in_flight of more than 8 bytes. */
/* The same for loads from shared memory (28 loops of 8 to 24 loads of 4, 8 and 16 bytes beside 2 to
 * 14 values, 2026-11). */

/* registers.predicates: predicates of a thread, except for the one that is always true. If source
 * order fits in them, so does the order of ptxas. Of 4 to 24 predicated loads, whose sums have the
 * same guards and wait for them, seven are in flight, or six if another comparison follows
 * (2026-11). Otherwise ptxas moves predicates to registers or repeats comparisons, which is not
 * done here. With schedule.predicate_margin predicates left, comparisons are placed when they are
 * needed. */

uint32_t pl_sched_latency_of(const sched *l, const pl_class_info *c, const pl_insn *i)
{
    if (pl_insn_effects(i) & PL_EF_LOAD) switch ((pl_space)i->sel[PL_M_SPACE]) {
        case PL_SP_SHARED: return l->t->schedule.shared_load_latency;
        case PL_SP_CONST:
        case PL_SP_PARAM: return l->t->schedule.constant_load_latency;
        default: return l->t->schedule.global_load_latency;
        }
    return c->latency ? c->latency : l->t->schedule.fixed_latency;
}

/* Units that accept an instruction every second cycle or less often, and the cycles between two
 * (tests/data/micro, 2026-11): the assembler places other instructions in between. Additions,
 * copies and shifts by a constant use whichever integer unit is free. See the columns `unit` and
 * `unit_cycles` of isa/table/classes.isa. PL_SCHED_NONE: none. */
uint8_t pl_sched_unit_of(const pl_class_info *c, const pl_insn *i)
{
    uint16_t m = pl_insn_mnem(i);
    return i->latency_class == C_alu && (m == M_add || m == M_sub || m == M_shl || m == M__mov)
               ? PL_SCHED_NONE
               : c->unit;
}

/* The earliest cycle, relative to the start of the region, at which it can issue. */
uint32_t pl_sched_issue_cycle(const sched *l, const ready_insn *c)
{
    return l->unit_free_at[c->unit] > c->earliest ? l->unit_free_at[c->unit] : c->earliest;
}

/* True for cross-lane exchanges and matrix instructions, which access registers only. */
static bool lane_exchange(const pl_insn *i)
{
    return pl_insn_effects(i) == PL_EF_CONVERGE && i->latency_class != C_warp_sync;
}

bool pl_sched_is_load(const pl_insn *i)
{
    return (pl_insn_effects(i) & ~(uint32_t)PL_EF_CONVERGE) == PL_EF_LOAD &&
           !(i->sel[PL_M_FLAGS] & PL_MF_POLL);
}

/* True if a machine basic block begins after it: divergent lanes have left, continue in groups, or
 * reconverge (compiler/codegen/insert_reconvergence.c). */
bool pl_sched_is_convergence_query(const pl_insn *i)
{
    const uint16_t m = pl_insn_mnem(i);
    return m == M__apart || m == M__agree || m == M__groups || m == M__bsync;
}

/* True if the instruction ends a region: nothing moves across it. */
bool pl_sched_ends_region(sched *l, const pl_insn *i)
{
    uint16_t m = pl_insn_mnem(i);
    return (pl_insn_effects(i) & (PL_EF_BRANCH | PL_EF_EXIT | PL_EF_CALL)) || m == M__slow ||
           m == M_activemask || m == M_griddepcontrol || pl_sched_is_convergence_query(i) ||
           pl_sched_class_of(l, i->latency_class)->region_end;
}

static void add_edge(sched *l, uint32_t from, uint32_t to, uint32_t cycles)
{
    if (from == PL_IR_NONE || from == to) return;
    dep_edge *e = pl_push(l->x->tmp, &l->edges);
    if (!e) return;
    *e = (dep_edge){to, cycles, l->node[from].edges};
    l->node[from].edges = (uint32_t)(l->edges.n - 1);
    l->node[to].npreds++;
}

/* Adds register edges: a reader follows the write; a write follows the previous write and its
 * readers. */
void pl_sched_add_register_edges(sched *l, uint32_t at)
{
    const sched_node *n = &l->node[at];
    for (uint32_t k = n->uses; k < n->writes; k++) {
        const operand_use *u = &l->uses.at[k];
        uint32_t from = l->last_writer[u->value];
        if (from == PL_IR_NONE && l->loading_region[u->value] == l->region)
            l->node[at].min_start = l->t->schedule.shared_load_latency;
        if (from != PL_IR_NONE)
            add_edge(l, from, at,
                     u->guard && l->node[from].latency < l->t->schedule.guard_latency
                         ? l->t->schedule.guard_latency
                         : l->node[from].latency);
        range_reader *r = pl_push(l->x->tmp, &l->readers);
        *r = (range_reader){at, l->readers_of[u->value]};
        l->readers_of[u->value] = (uint32_t)(l->readers.n - 1);
    }
    for (uint32_t k = n->writes; k < n->end; k++) {
        const operand_use *u = &l->uses.at[k];
        add_edge(l, l->last_writer[u->value], at, 1);
        for (uint32_t r = l->readers_of[u->value]; r != PL_IR_NONE; r = l->readers.at[r].next)
            add_edge(l, l->readers.at[r].at, at, 0);
        l->last_writer[u->value] = at;
        l->readers_of[u->value] = PL_IR_NONE;
    }
}

static uint32_t address_row(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if (f->operand[k].kind == PL_K_ADDR) return i->op[k];
    return PL_IR_NONE;
}

static pl_access access_of(const sched *l, uint32_t at)
{
    const pl_insn *i = &l->code[at];
    uint32_t row = address_row(i);
    bool known = row != PL_IR_NONE && row < l->x->f->rows && l->x->regs[row].ndefs == 1;
    return (pl_access){.at = at,
                       .space = i->sel[PL_M_SPACE],
                       .base = known ? row : PL_UNKNOWN_BASE,
                       .from = i->imm,
                       .to = i->imm + ((int64_t)i->sel[PL_M_COUNT] << i->sel[PL_M_LOG2])};
}

/* Adds edges for memory and the carry flag. *last: the last instruction that orders all memory,
 * *flags: the last one that accesses the flag, or PL_IR_NONE. */
void pl_sched_add_memory_edges(sched *l, uint32_t at, uint32_t *last, uint32_t *flags)
{
    const pl_insn *i = &l->code[at];
    bool load = pl_sched_is_load(i), store = pl_sched_plain_store(i);
    if (pl_insn_pure(i) || lane_exchange(i) || (load && pl_insn_has(i, W_nc)) ||
        pl_insn_reads_cbank(l->x, i))
        return; /* .nc loads read memory that is constant during the launch (PTX manual,
                   ld.global.nc), and so is the constant bank: ptxas moves them across barriers,
                   fences and atomics */
    if (!pl_insn_effects(i) && !(i->flags & (PL_IF_CONTROL | PL_IF_MEM))) {
        add_edge(l, *flags, at, l->t->schedule.fixed_latency);
        *flags = at;
        return;
    }
    const pl_access a = access_of(l, at);
    const uint32_t *loads = NULL;
    uint32_t n = 0;
    add_edge(l, *last, at, 1);
    add_edge(l,
             load    ? pl_memory_dependence_of_load(l->memory, &a)
             : store ? pl_memory_dependence_of_store(l->memory, &a, &loads, &n)
                     : pl_memory_dependence_of_all(l->memory, &loads, &n),
             at, 1);
    for (uint32_t k = 0; k < n; k++) add_edge(l, loads[k], at, 0);
    if (!load && !store) {
        *last = at;
        pl_memory_dependence_start(l->memory);
    }
}
