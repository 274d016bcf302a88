/* pass_manager.c - runs passes.def over one function. See pass_manager.h. */
#include "compiler/pass_manager.h"
#include "base/clock.h"
#include "base/stop_flag.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "compiler/codegen/find_reconvergence.h"
#include "compiler/ir/ir_print.h"
#include "compiler/ir/ir_verify.h"
#include "compiler/codegen/register_allocation.h"
#include "compiler/opt/contract_fma.h"
#include "compiler/opt/fold_approx.h"
#include "compiler/compile_function.h"
#include "compiler/passes.h"
#include "isa/program/canonicalize.h"

static_assert(PL_PASS_COUNT <= 64, "sets of passes are masks of 64 bits");
static_assert(!(PL_IF_COMPILE_ONLY & (PL_IF_UNIFORM_REG | PL_IF_NARROW64)),
              "these notes are on an instruction at once");

const pl_pass_info pl_passes[PL_PASS_COUNT] = {
#define CODE_PASS(name, level, file, summary) {#name, file, summary, PL_PASS_CODE, level, false},
#define CODE_PASS_REQUIRED(name, level, file, summary)                                             \
    {#name, file, summary, PL_PASS_CODE, level, true},
#define IR_PASS(name, file, summary)          {#name, file, summary, PL_PASS_IR, 2, false},
#define IR_PASS_REQUIRED(name, file, summary) {#name, file, summary, PL_PASS_IR, 2, true},
#define LAUNCH_PASS(name, file, summary)      {#name, file, summary, PL_PASS_LAUNCH, 0, true},
#define NESTED_PASS(name, file, summary)      {#name, file, summary, PL_PASS_NESTED, 2, true},
#define AGAIN(name)
#include "compiler/passes.def"
};

const uint8_t pl_pass_pipeline[] = {
#define CODE_PASS(name, level, file, summary)          PL_PASS_##name,
#define CODE_PASS_REQUIRED(name, level, file, summary) PL_PASS_##name,
#define IR_PASS(name, file, summary)                   PL_PASS_##name,
#define IR_PASS_REQUIRED(name, file, summary)          PL_PASS_##name,
#define LAUNCH_PASS(name, file, summary)
#define NESTED_PASS(name, file, summary)
#define AGAIN(name) PL_PASS_##name,
#include "compiler/passes.def"
};
const uint32_t pl_pass_pipeline_length = sizeof pl_pass_pipeline / sizeof *pl_pass_pipeline;

typedef bool ir_pass(pl_ir *x);
static ir_pass *const ir_passes[PL_PASS_COUNT] = {
#define CODE_PASS(name, level, file, summary)
#define CODE_PASS_REQUIRED(name, level, file, summary)
#define IR_PASS(name, file, summary)          [PL_PASS_##name] = pl_pass_##name,
#define IR_PASS_REQUIRED(name, file, summary) [PL_PASS_##name] = pl_pass_##name,
#define LAUNCH_PASS(name, file, summary)
#define NESTED_PASS(name, file, summary)
#define AGAIN(name)
#include "compiler/passes.def"
};

pl_pass_id pl_pass_find(const char *name, size_t n)
{
    uint32_t k = 0;
    while (k < PL_PASS_COUNT &&
           (strlen(pl_passes[k].name) != n || memcmp(pl_passes[k].name, name, n) != 0))
        k++;
    return (pl_pass_id)k;
}

/* The state of one function in the pass pipeline. */
typedef struct run {
    pl_program *p;
    pl_prog_func *f;
    pl_pass_options *o; /* NULL: no options */
    uint32_t fixed;     /* first row that register allocation leaves unchanged */
    pl_arena *work, *pass;
    pl_ir x;
    pl_ir_verifier verifier;
    bool open;  /* the function is in `x`, not in the program's code */
    bool large; /* working memory is freed rather than kept for the next pass */
} run;

/* ---- passes over the instruction list ---- */

static void clear(pl_arena *a, bool large)
{
    if (large)
        pl_arena_release(a);
    else
        pl_arena_reset(a);
}

/* Lanes that call different functions reconverge after the call; in optimised code only if there is
 * a reconvergence point (compiler/codegen/calling_convention.c). */
static bool reconverges_after_call(const pl_program *p, const pl_insn *call)
{
    return p->calls.at[call->target].callee == UINT32_MAX &&
           (p->opt_level == 0 || pl_forms[call[1].form].mnem == M__bsync);
}

/* Marks the reconvergence points after calls, and backward branches as back edges. */
static void mark_calls(pl_program *p, const pl_prog_func *f)
{
    const uint32_t end = f->first + f->count;
    for (uint32_t pc = f->first; pc < end; pc++) {
        pl_insn *i = &p->code.at[pc];
        const pl_form *fm = &pl_forms[i->form];
        if ((fm->effects & PL_EF_CALL) && pc + 1 < end) {
            i[1].flags |= PL_IF_SYNC_POINT;
            i->reconv =
                reconverges_after_call(p, i) ? pl_reconvergence_pc(p, pc + 1, end) : UINT32_MAX;
            if (i->reconv != UINT32_MAX) p->code.at[i->reconv].flags |= PL_IF_SYNC_POINT;
        }
        if ((fm->effects & PL_EF_BRANCH) && fm->noperands == 1 && i->target <= pc)
            i->flags |= PL_IF_BACK_EDGE;
    }
}

static pl_status find_reconvergence(run *r)
{
    mark_calls(r->p, r->f);
    pl_status st = pl_find_reconvergence(r->p, r->f, r->work);
    pl_arena_reset(r->work);
    return st;
}

static pl_status allocate_registers(run *r)
{
    pl_status st = pl_allocate_registers(r->p, r->f, r->fixed, r->work);
    clear(r->work, r->large);
    return st;
}

static pl_status run_code_pass(run *r, pl_pass_id id)
{
    switch (id) {
    case PL_PASS_fold_approx: return pl_fold_approx(r->p, r->f, &r->fixed, r->work, r->pass);
    case PL_PASS_contract_fma: return pl_contract_fma(r->p, r->f, &r->fixed, r->work, r->pass);
    case PL_PASS_find_reconvergence: return find_reconvergence(r);
    case PL_PASS_allocate_registers: return allocate_registers(r);
    case PL_PASS_compact_tables: pl_program_canonicalize(r->p); return PL_OK;
    default:
        assert(false && "passes.def names a code pass that has no function");
        return PL_INVALID;
    }
}

/* ---- passes over the block graph ---- */

static pl_status open_graph(run *r)
{
    r->open = true;
    pl_status st = pl_ir_open(&r->x, r->p, r->f, r->fixed, r->work, r->pass);
    if (st == PL_OK && r->o && r->o->verify) st = pl_ir_verify_open(&r->verifier, &r->x);
    return st;
}

static pl_status close_graph(run *r)
{
    r->open = false;
    pl_arena_reset(r->pass);
    pl_status st = pl_ir_close(&r->x, &r->fixed);
    clear(r->work, r->large);
    clear(r->pass, r->large);
    return st;
}

/* True if the pass may introduce reads of undefined registers. SROA: registers that replace memory
 * may be read before they are written. A predicated load that becomes a block no longer counts as a
 * write of its register. Unrolled loop copies have an edge around all of them that no thread takes.
 * The return address is written by the caller. */
static bool may_undefine(pl_pass_id id)
{
    return id == PL_PASS_sroa || id == PL_PASS_expand_predicated_memory ||
           id == PL_PASS_loop_unroll || id == PL_PASS_lower_calls;
}

static pl_status verify(run *r, pl_pass_id id)
{
    char why[160];
    pl_arena_reset(r->pass);
    pl_status st = pl_ir_verify(&r->verifier, &r->x, may_undefine(id), why, sizeof why);
    if (st == PL_INVALID && !atomic_flag_test_and_set(&r->o->failed))
        snprintf(r->o->finding, sizeof r->o->finding, "after %s, in %.40s: %s", pl_passes[id].name,
                 r->f->name, why);
    return st;
}

static pl_status run_ir_pass(run *r, pl_pass_id id)
{
    pl_arena_reset(r->pass);
    return ir_passes[id](&r->x) && pl_ir_ok(&r->x) ? PL_OK : PL_NOMEM;
}

/* ---- the pipeline ---- */

static pl_status print_after(run *r, pl_pass_id id)
{
    pl_arena_reset(r->pass);
    const char *name = pl_passes[id].name;
    const pl_ir_text t =
        r->open ? pl_ir_print(&r->x, name) : pl_code_print(r->p, r->f, name, r->pass);
    if (!t.at) return PL_NOMEM;
    r->o->print(r->o->to, t.at, t.n);
    return PL_OK;
}

static pl_status run_pass(run *r, pl_pass_id id)
{
    const bool ir = pl_passes[id].kind == PL_PASS_IR;
    pl_pass_options *o = r->o;
    if (o && pl_stop_flag(o->stop)) return PL_INTERRUPTED;
    if (o && (o->skip >> id & 1)) return PL_OK;
    const double start = o && o->time ? pl_clock_seconds() : 0;
    pl_status st = ir ? run_ir_pass(r, id) : run_code_pass(r, id);
    if (o && o->time) {
        o->time[id].seconds += pl_clock_seconds() - start;
        o->time[id].runs++;
    }
    if (st == PL_OK && o && o->verify && ir) st = verify(r, id);
    if (st == PL_OK && o && (o->print_after >> id & 1)) st = print_after(r, id);
    return st;
}

pl_status pl_run_passes(pl_program *part, pl_prog_func *f, uint32_t fixed, pl_arena *work,
                        pl_arena *pass)
{
    run r = {.p = part,
             .f = f,
             .o = part->passes,
             .fixed = fixed,
             .work = work,
             .pass = pass,
             .large = f->count > PL_COMPILE_UNIT_LARGE};
    pl_status st = PL_OK;
    pl_arena_reset(work);
    pl_arena_reset(pass);
    for (uint32_t k = 0; k < pl_pass_pipeline_length && st == PL_OK; k++) {
        const pl_pass_id id = (pl_pass_id)pl_pass_pipeline[k];
        const bool ir = pl_passes[id].kind == PL_PASS_IR;
        if (pl_passes[id].level > part->opt_level || (ir && !f->count)) continue;
        if (ir && !r.open)
            st = open_graph(&r);
        else if (!ir && r.open)
            st = close_graph(&r);
        if (st == PL_OK) st = run_pass(&r, id);
    }
    return st;
}
