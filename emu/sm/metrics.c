/* metrics.c - metrics of a launch under the names of Nsight Compute.
 *
 * `.sum` metrics are totals over the GPU, `.avg` averages over units; ratios and percentages are
 * computed from the sums. Units are those of Nsight Compute (percent from 0 to 100). A launch
 * includes the counts of its device-side launches. Everything derives from pl_sm_stat and
 * pl_memsys_stat, so the printed summary, the trace and the JSON output cannot disagree. */
#include "emu/sm/metrics.h"
#include "emu/sm/division_slow_path.h"
#include "emu/sm/gpu_parts.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void add(pl_timing_result *out, const char *component, const char *name, const char *unit,
                double value)
{
    if (out->ncounters == PL_MAX_COUNTERS) return;
    out->counter[out->ncounters++] = (pl_counter){component, name, unit, value};
}

static double ratio(double a, double b)
{
    return b > 0 ? a / b : 0;
}

/* The minimum and maximum over the units of the GPU. */
typedef struct extremes {
    uint64_t min, max;
} extremes;
static const extremes none = {UINT64_MAX, 0};

static void update_extremes(extremes *e, uint64_t v)
{
    if (v < e->min) e->min = v;
    if (v > e->max) e->max = v;
}

static void sum_up(pl_sm_stat *t, const pl_sm_stat *s)
{
    const uint64_t *from = (const uint64_t *)(const void *)s;
    uint64_t *to = (uint64_t *)(void *)t;
    for (size_t i = 0; i < sizeof *t / sizeof *to; i++) to[i] += from[i];
}
_Static_assert(sizeof(pl_sm_stat) % sizeof(uint64_t) == 0, "pl_sm_stat holds 64-bit sums only");

pl_totals *pl_totals_open(const pl_machine *m)
{
    pl_totals *t = calloc(1, sizeof *t);
    if (!t) return NULL;
    t->m = m;
    t->used = calloc(m->sm.count, sizeof *t->used);
    t->sm = malloc(m->sm.count * sizeof *t->sm);
    t->sub = malloc((size_t)m->sm.count * m->sm.subcores * sizeof *t->sub);
    if (t->used && t->sm && t->sub) return t;
    pl_totals_close(t);
    return NULL;
}

void pl_totals_close(pl_totals *t)
{
    if (!t) return;
    free(t->used);
    free(t->sm);
    free(t->sub);
    free(t);
}

/* Marks the functions that the entry may call, and returns the marks: all functions with code if
 * some function makes an indirect call. NULL: out of memory. */
static bool *reached_from(const pl_program *p, const pl_prog_func *entry)
{
    const size_t n = p->funcs.n;
    bool *reached = calloc(n + 1, sizeof *reached), all = false;
    uint32_t *todo = calloc(n + 1, sizeof *todo);
    size_t left = 0;
    for (uint32_t k = 0; reached && todo && k < n; k++)
        if (&p->funcs.at[k] == entry) reached[k] = true, todo[left++] = k;
    while (left) {
        const pl_prog_func *f = &p->funcs.at[todo[--left]];
        for (size_t pc = f->first; pc < f->first + (size_t)f->count; pc++) {
            const pl_insn *i = &p->code.at[pc];
            if (!(pl_forms[i->form].effects & PL_EF_CALL) || i->target >= p->calls.n) continue;
            const uint32_t callee = p->calls.at[i->target].callee;
            const bool any = callee == UINT32_MAX && !all;
            for (uint32_t k = any ? 0 : callee; k < n && (any || k == callee); k++)
                if (!reached[k] && !(any && p->funcs.at[k].entry))
                    reached[k] = true, todo[left++] = k;
            all |= any;
        }
    }
    if (!todo) {
        free(reached);
        reached = NULL;
    }
    free(todo);
    return reached;
}

/* Bytes of code that a launch loads into the L2, in units of 256. They include the entry, the
 * functions that it may call, and the subroutines of quotients and roots, one of each kind
 * (dram__sectors_read.sum of launches that load nothing). */
static bool code_bytes(const pl_gpu_model *x, const pl_grid *g, uint64_t *bytes)
{
    enum { CODE_UNIT = 256 };
    const pl_program *p = g->program;
    uint64_t sum = 0;
    bool *reached = reached_from(p, g->entry), seen[PL_DIVISION_COUNT] = {false};
    if (!reached) return false;
    for (uint32_t k = 0; k < p->funcs.n; k++) {
        const pl_prog_func *f = &p->funcs.at[k];
        if (!reached[k] || f->count == 0) continue;
        size_t end = (size_t)f->first + f->count;
        sum += (end < p->code.n ? x->dec->at[end].address : x->dec->bytes) -
               x->dec->at[f->first].address;
        for (size_t pc = f->first; pc < end; pc++) {
            const uint8_t slow = x->dec->at[pc].division_path;
            if (!seen[slow])
                sum += (uint64_t)pl_division_path_length(slow) * x->m->fetch.instruction;
            seen[slow] = true;
        }
    }
    free(reached);
    *bytes = (sum + CODE_UNIT - 1) / CODE_UNIT * CODE_UNIT;
    return true;
}

/* Adds the counts of SM k. */
static void add_sm(pl_totals *t, uint32_t k, const pl_sm *sm)
{
    struct pl_sub_total *sub = &t->sub[k * t->m->sm.subcores];
    if (!t->used[k]) {
        memset(&t->sm[k], 0, sizeof t->sm[k]);
        memset(sub, 0, t->m->sm.subcores * sizeof *sub);
        t->used[k] = true;
    }
    sum_up(&t->sm[k], &sm->stat);
    for (uint32_t q = 0; q < sm->nsub; q++) {
        const pl_subcore *c = &sm->sub[q];
        sub[q].issues += c->issues;
        sub[q].eligible += c->issues + c->not_selected_cycles;
        sub[q].active += c->cycles_active;
    }
}

bool pl_totals_add(pl_totals *t, const pl_gpu_model *x, uint64_t cycles)
{
    const pl_grid *head = x->g;
    if (t->grids == 0) {
        memcpy(t->grid, head->grid, sizeof t->grid);
        memcpy(t->block, head->block, sizeof t->block);
        t->barriers = head->entry->barriers;
        t->cluster = head->cluster[0] * head->cluster[1] * head->cluster[2];
        t->occupancy = x->part[0].occupancy;
    }
    for (const pl_grid *g = head; g; g = g->next) {
        t->grids++;
        t->page_fault_cycles += g->page_fault_cycles;
        /* the launch loads the kernel's code into the L2, whether it executes or not
         * (dram__sectors_read.sum less the sectors read by loads: that and 72) */
        uint64_t bytes;
        if (!t->m->launch.dram_sectors) continue;
        if (!code_bytes(x, g, &bytes)) return false;
        t->code_read += t->m->launch.dram_sectors + bytes / t->m->l1.sector;
    }
    if (head->page_faults) {
        const pl_fault_stat *f = &head->page_faults->stat;
        t->page_fault_cycles += f->cycles;
        t->page_fault_batches += f->batches;
        t->page_fault_bytes += f->chunks * PL_MANAGED_CHUNK;
    }
    for (uint32_t k = 0; k < t->m->sm.count; k++)
        if (x->status[k].open) add_sm(t, k, &x->sm[k]);
    const pl_memsys_stat *mem = pl_memsys_stats(x->mem);
    const pl_dram *d = pl_memsys_dram(x->mem);
    t->mem.requests += mem->requests;
    t->mem.read_sectors += mem->read_sectors;
    t->mem.write_sectors += mem->write_sectors;
    t->mem.atomic_sectors += mem->atomic_sectors;
    t->mem.reduce_sectors += mem->reduce_sectors;
    t->mem.hit_sectors += mem->hit_sectors;
    t->mem.miss_sectors += mem->miss_sectors;
    t->mem.fills += mem->fills;
    t->mem.data_requests += mem->data_requests;
    t->mem.data_sectors += mem->data_sectors;
    t->mem.data_hits += mem->data_hits;
    t->mem.far_requests += mem->far_requests;
    t->mem.far_sectors += mem->far_sectors;
    t->mem.far_writes += mem->far_writes;
    t->dram_read += d->sectors_read;
    t->dram_written += d->sectors_written;
    t->cycles += cycles;
    return true;
}

/* Sums of the launch, from which all metrics are derived. */
typedef struct metrics {
    pl_timing_result *out;
    const pl_totals *all;
    const pl_machine *m;
    pl_sm_stat t;
    extremes issue, eligible, sub, resident, tensor;
    uint64_t max_active, min_active; /* active cycles of an SM */
    uint64_t issue_active, eligible_sum, sub_cycles, cycles;
    double sms, active, sub_active; /* number of SMs; their active cycles, and those of their
                                       sub-cores */
    double sub_average;             /* cycles in which an average sub-core had a resident warp */
    double sector;                  /* bytes */
} metrics;

static void add_up(metrics *x)
{
    const pl_machine *m = x->m;
    bool idle = false;
    for (uint32_t k = 0; k < m->sm.count; k++) {
        const pl_sm_stat *own = &x->all->sm[k];
        if (!x->all->used[k]) {
            idle = true;
            continue;
        }
        sum_up(&x->t, own);
        if (own->cycles_active > x->max_active) x->max_active = own->cycles_active;
        if (own->cycles_active < x->min_active) x->min_active = own->cycles_active;
        for (uint32_t q = 0; q < m->sm.subcores; q++) {
            const struct pl_sub_total *c = &x->all->sub[k * m->sm.subcores + q];
            x->issue_active += c->issues;
            x->eligible_sum += c->eligible;
            x->sub_cycles += c->active;
            update_extremes(&x->issue, c->issues);
            update_extremes(&x->eligible, c->eligible);
            update_extremes(&x->sub, c->active);
        }
        update_extremes(&x->resident, own->warp_cycles);
        update_extremes(&x->tensor, own->tensor_cycles);
    }
    if (idle) {
        extremes *const all[] = {&x->issue, &x->eligible, &x->sub, &x->resident, &x->tensor};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++) update_extremes(all[k], 0);
        x->min_active = 0;
    }
    x->sms = m->sm.count;
    x->active = (double)x->t.cycles_active;
    x->sub_active = x->active * m->sm.subcores;
    x->sub_average = (double)x->sub_cycles / (x->sms * m->sm.subcores);
    x->sector = (double)m->l1.sector;
}

static void add_launch(const metrics *x)
{
    const uint32_t *grid = x->all->grid, *block = x->all->block;
    add(x->out, "launch", "launch__grid_size", "block", (double)grid[0] * grid[1] * grid[2]);
    add(x->out, "launch", "launch__block_size", "thread", (double)block[0] * block[1] * block[2]);
    add(x->out, "launch", "launch__occupancy_limit_warps", "block", x->out->occupancy.by_warps);
    add(x->out, "launch", "launch__occupancy_limit_blocks", "block", x->out->occupancy.by_blocks);
    add(x->out, "launch", "launch__occupancy_limit_registers", "block",
        x->out->occupancy.by_registers);
    /* The limit as Nsight Compute reports it: of the setting, not of the storage. */
    const pl_occupancy *o = &x->out->occupancy;
    add(x->out, "launch", "launch__occupancy_limit_shared_mem", "block",
        o->shared_per_block ? (double)(o->carveout / o->shared_per_block) : o->by_shared);
    add(x->out, "launch", "launch__occupancy_limit_barriers", "block", o->by_barriers);
    /* Clusters that can be resident at once: all blocks of one are in one group of SMs. */
    uint32_t groups = x->m->mem.groups, clusters = 0;
    for (uint32_t k = 0; x->all->cluster && k < groups; k++)
        clusters += ((k + 1) * x->m->sm.count / groups - k * x->m->sm.count / groups) * o->blocks /
                    x->all->cluster;
    add(x->out, "launch", "launch__cluster_max_active", "cluster", clusters);
    add(x->out, "launch", "launch__barrier_count", "", x->all->barriers);
    add(x->out, "launch", "launch__shared_mem_config_size", "B",
        (double)x->out->occupancy.carveout);
    add(x->out, "launch", "launch__waves_per_multiprocessor", "",
        /* Rounded to two decimals, as reported. */
        rint(100 * ratio((double)grid[0] * grid[1] * grid[2], x->sms * o->blocks)) / 100);
    add(x->out, "launch", "gpc__cycles_elapsed.max", "cycle", (double)x->cycles);
    add(x->out, "launch", "ptxloom__page_fault_cycles.sum", "cycle",
        (double)x->all->page_fault_cycles);
    add(x->out, "launch", "ptxloom__page_fault_batches.sum", "",
        (double)x->all->page_fault_batches);
    add(x->out, "launch", "ptxloom__page_fault_bytes.sum", "byte",
        (double)x->all->page_fault_bytes);
    add(x->out, "launch", "gpu__time_duration.sum", "ns",
        (double)x->cycles * 1000.0 / x->m->clock_mhz);
}

static void add_sm_cycles(const metrics *x)
{
    add(x->out, "sm", "sm__cycles_active.avg", "cycle", x->active / x->sms);
    add(x->out, "sm", "sm__cycles_active.max", "cycle", (double)x->max_active);
    add(x->out, "sm", "sm__cycles_active.min", "cycle", (double)x->min_active);
    add(x->out, "sm", "sm__cycles_active.sum", "cycle", x->active);
    add(x->out, "sm", "sm__ctas_launched.sum", "block", (double)x->t.blocks);
    add(x->out, "sm", "smsp__warps_launched.sum", "warp", (double)x->t.warps);
    add(x->out, "sm", "sm__warps_active.avg.pct_of_peak_sustained_active", "%",
        100 * ratio((double)x->t.warp_cycles, x->active * x->m->sm.warps));
    add(x->out, "sm", "smsp__inst_executed.sum", "inst", (double)x->t.inst);
    add(x->out, "sm", "smsp__thread_inst_executed.sum", "inst", (double)x->t.thread_inst);
    add(x->out, "sm", "smsp__thread_inst_executed_pred_on.sum", "inst", (double)x->t.thread_on);
    add(x->out, "sm", "smsp__thread_inst_executed_per_inst_executed.ratio", "",
        ratio((double)x->t.thread_inst, (double)x->t.inst));
    add(x->out, "sm", "smsp__issue_active.sum", "cycle", (double)x->issue_active);
    add(x->out, "sm", "smsp__issue_active.avg.pct_of_peak_sustained_active", "%",
        100 * ratio((double)x->issue_active, (double)x->sub_cycles));
    add(x->out, "sm", "smsp__cycles_active.sum", "cycle", (double)x->sub_cycles);
    add(x->out, "sm", "smsp__cycles_active.avg", "cycle", x->sub_average);
    add(x->out, "sm", "smsp__cycles_active.max", "cycle", (double)x->sub.max);
    add(x->out, "sm", "smsp__cycles_active.min", "cycle", (double)x->sub.min);
    add(x->out, "sm", "smsp__warps_eligible.avg.per_cycle_active", "warp",
        ratio((double)x->eligible_sum, (double)x->sub_cycles));
    add(x->out, "sm", "smsp__warps_eligible.max.per_cycle_active", "warp",
        ratio((double)x->eligible.max, x->sub_average));
    add(x->out, "sm", "smsp__warps_eligible.min.per_cycle_active", "warp",
        ratio((double)x->eligible.min, x->sub_average));
}

/* Adds the minimum and maximum over units. */
static void add_sm_ranges(const metrics *x)
{
    const struct {
        const char *least, *most;
        const extremes *of;
        double peak; /* peak of one unit, during the active cycles of an average one; the recorded
                        launches use this divisor */
    } range[] = {{"smsp__issue_active.min.pct_of_peak_sustained_active",
                  "smsp__issue_active.max.pct_of_peak_sustained_active", &x->issue, x->sub_average},
                 {"sm__warps_active.min.pct_of_peak_sustained_active",
                  "sm__warps_active.max.pct_of_peak_sustained_active", &x->resident,
                  x->active / x->sms * x->m->sm.warps},
                 {"sm__pipe_tensor_cycles_active.min.pct_of_peak_sustained_active",
                  "sm__pipe_tensor_cycles_active.max.pct_of_peak_sustained_active", &x->tensor,
                  x->active / x->sms * x->m->sm.subcores}};
    for (size_t k = 0; k < sizeof range / sizeof *range; k++) {
        add(x->out, "sm", range[k].least, "%",
            100 * ratio((double)range[k].of->min, range[k].peak));
        add(x->out, "sm", range[k].most, "%", 100 * ratio((double)range[k].of->max, range[k].peak));
    }
}

static void add_branches(const metrics *x)
{
    add(x->out, "sm", "sm__inst_executed.avg.per_cycle_active", "inst/cycle",
        ratio((double)x->t.inst, x->active));
    add(x->out, "sm", "smsp__inst_executed_op_branch.sum", "inst", (double)x->t.branches);
    add(x->out, "sm", "smsp__sass_branch_targets.sum", "", (double)x->t.targets);
    add(x->out, "sm", "smsp__sass_branch_targets_threads_divergent.sum", "",
        (double)x->t.divergent);
    add(x->out, "sm", "smsp__sass_branch_targets_threads_uniform.sum", "",
        (double)(x->t.targets - (x->t.divergent < x->t.targets ? x->t.divergent : x->t.targets)));
}

static void add_pipes(const metrics *x)
{
    const uint64_t *unit = x->t.pipe_inst, f32 = unit[PL_PIPE_FMA] + unit[PL_PIPE_HALF];
    const struct {
        const char *name;
        uint64_t n;
    } pipes[] = {
        {"smsp__inst_executed_pipe_alu.sum", unit[PL_PIPE_ALU]},
        {"smsp__inst_executed_pipe_fma.sum", f32},
        {"smsp__inst_executed_pipe_fmaheavy.sum", f32 - x->t.lite},
        {"smsp__inst_executed_pipe_fmalite.sum", x->t.lite},
        {"smsp__inst_executed_pipe_fma_type_fp16.sum", unit[PL_PIPE_HALF]},
        {"smsp__inst_executed_pipe_fp64.sum", unit[PL_PIPE_FP64]},
        {"smsp__inst_executed_pipe_xu.sum", unit[PL_PIPE_XU]},
        {"smsp__inst_executed_pipe_lsu.sum", unit[PL_PIPE_LSU] + x->t.lsu},
        {"smsp__inst_executed_pipe_tensor.sum", unit[PL_PIPE_TENSOR]},
        {"smsp__inst_executed_pipe_adu.sum", x->t.adu},
        {"smsp__inst_executed_pipe_cbu.sum", x->t.cbu},
    };
    for (size_t k = 0; k < sizeof pipes / sizeof *pipes; k++)
        add(x->out, "sm", pipes[k].name, "inst", (double)pipes[k].n);
    add(x->out, "sm", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "%",
        100 * ratio((double)x->t.tensor_cycles, x->sub_active));
}

static void add_stalls(const metrics *x)
{
    static const char *const stall_names[] = {
#define X(name, word, text) "smsp__average_warps_issue_stalled_" word "_per_issue_active.ratio",
        PL_STALLS(X)
#undef X
    };
    for (unsigned k = 1; k < PL_STALL_COUNT; k++)
        add(x->out, "sm", stall_names[k], "",
            ratio((double)x->t.stall[k], (double)x->issue_active));
}

static void add_l1_requests(const metrics *x)
{
    add(x->out, "l1", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request",
        (double)x->t.loads);
    add(x->out, "l1", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request",
        (double)x->t.stores);
    add(x->out, "l1", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "request",
        (double)x->t.atomics);
    add(x->out, "l1", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "request",
        (double)x->t.reds);
    add(x->out, "l1", "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "request",
        (double)x->t.local_loads);
    add(x->out, "l1", "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "request",
        (double)x->t.local_stores);
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector",
        (double)x->t.load_sectors);
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector",
        (double)x->t.store_sectors);
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector",
        (double)x->t.atomic_sectors);
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sector",
        (double)x->t.red_sectors);
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "sector",
        (double)x->t.load_hits);
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum", "sector",
        (double)(x->t.load_sectors - x->t.load_hits));
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector",
        (double)x->t.local_load_sectors);
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector",
        (double)x->t.local_store_sectors);
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum", "sector",
        (double)x->t.local_load_hits);
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum", "sector",
        (double)x->t.store_hits);
    add(x->out, "l1", "l1tex__t_sectors_pipe_lsu_mem_local_op_st_lookup_hit.sum", "sector",
        (double)x->t.local_store_hits);
    add(x->out, "l1", "l1tex__t_sector_hit_rate.pct", "%",
        100 * ratio((double)(x->t.load_hits + x->t.local_load_hits),
                    (double)(x->t.load_sectors + x->t.local_load_sectors)));
}

static void add_l1_data(const metrics *x)
{
    /* shuffles, special registers that differ by lane, fences and one pass of each barrier use the
     * same pipe */
    add(x->out, "l1", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "",
        (double)(x->t.shared_passes + x->t.exchanges + x->t.barriers + x->t.wgmma_halves / 2));
    add(x->out, "l1", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "",
        (double)x->t.shared_load_passes);
    add(x->out, "l1", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "",
        (double)x->t.shared_store_passes);
    add(x->out, "l1", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "",
        (double)x->t.conflicts);
    add(x->out, "l1", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "",
        (double)x->t.load_conflicts);
    add(x->out, "l1", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "",
        (double)x->t.store_conflicts);
    add(x->out, "l1", "l1tex__lsu_writeback_active.sum", "cycle", (double)x->t.writebacks);
    add(x->out, "l1", "l1tex__m_xbar2l1tex_read_sectors.sum", "sector",
        (double)x->t.l1_read_sectors);
    add(x->out, "l1", "l1tex__m_l1tex2xbar_write_sectors.sum", "sector",
        (double)x->t.l1_write_sectors);
    add(x->out, "l1", "smsp__sass_inst_executed_op_shared_ld.sum", "inst",
        (double)x->t.shared_loads);
    add(x->out, "l1", "smsp__sass_inst_executed_op_global_ld.sum", "inst",
        (double)(x->t.loads - x->t.copies));
    add(x->out, "l1", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%",
        100 * ratio((double)x->t.load_bytes, (double)x->t.load_sectors * x->sector));
    add(x->out, "l1", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "%",
        100 * ratio((double)x->t.store_bytes, (double)x->t.store_sectors * x->sector));
    add(x->out, "l1", "idc__requests.sum", "request", (double)x->t.const_requests);
    add(x->out, "l1", "idc__requests_lookup_miss.sum", "request", (double)x->t.const_misses);
    add(x->out, "l1", "sm__icc_requests.sum", "request", (double)x->t.code_requests);
    add(x->out, "l1", "sm__icc_requests_lookup_miss.sum", "request", (double)x->t.code_misses);
}

static void add_l2(const metrics *x)
{
    const pl_memsys_stat *mem = &x->all->mem;
    /* Requests of the launches themselves: requests without a named kind, and code, which each GPC
     * reads once and which misses in both halves. The more slices an SM has used, the more of them
     * it notifies, in both halves: up to all of them. */
    const double code = (double)(x->all->code_read * x->m->launch.code_reads),
                 misses = 2 * (double)x->all->code_read;
    const double launches = (double)x->all->grids,
                 reads = (double)mem->read_sectors + code + x->m->launch.l2_reads * launches;
    /* The half that owns a line is not known: stores are forwarded to another half in the
     * proportion of the other halves. */
    const double near = (double)(mem->write_sectors - mem->far_writes),
                 others = rint(near * (1 - 1.0 / x->m->mem.partitions));
    const double writes = near + others + x->m->launch.l2_writes * launches;
    const double named = reads + writes + (double)(mem->atomic_sectors + mem->reduce_sectors),
                 far = (double)(mem->far_sectors - mem->far_writes) + others + rint(code / 3);
    const double pairs = (double)x->m->sm.count * x->m->mem.slices * launches;
    double notifications = x->m->launch.l2_reply_overhead * (named - far);
    if (notifications > 2 * pairs) notifications = 2 * pairs;
    notifications = 2 * rint(notifications / 2);
    const double launch_requests = x->m->launch.l2_requests * launches,
                 looked_up = launch_requests + notifications / 2;
    const double hits = (double)mem->hit_sectors + looked_up + (code > misses ? code - misses : 0),
                 lookup_misses = (double)mem->miss_sectors + misses;
    add(x->out, "l2", "lts__t_requests.sum", "request",
        (double)mem->requests + looked_up + rint(code / (double)(x->m->l1.line / x->m->l1.sector)));
    add(x->out, "l2", "lts__t_sectors_op_read.sum", "sector", reads);
    add(x->out, "l2", "lts__t_sectors_op_write.sum", "sector", writes);
    add(x->out, "l2", "lts__t_sectors_op_atom.sum", "sector", (double)mem->atomic_sectors);
    add(x->out, "l2", "lts__t_sectors_op_red.sum", "sector", (double)mem->reduce_sectors);
    add(x->out, "l2", "lts__t_sectors.sum", "sector", named + launch_requests + notifications);
    add(x->out, "l2", "lts__t_requests_srcunit_tex.sum", "request", (double)mem->data_requests);
    add(x->out, "l2", "lts__t_sectors_srcunit_tex.sum", "sector", (double)mem->data_sectors);
    add(x->out, "l2", "lts__t_sectors_srcunit_tex_lookup_hit.sum", "sector",
        (double)mem->data_hits);
    add(x->out, "l2", "ptxloom__l2_sectors_other.sum", "sector",
        named + launch_requests + notifications - (double)mem->data_sectors);
    add(x->out, "l2", "lts__t_sectors_srcunit_ltcfabric.sum", "sector", far + notifications / 2);
    add(x->out, "l2", "lts__t_sectors_srcnode_gpc.sum", "sector", named - far + notifications / 2);
    add(x->out, "l2", "lts__t_sectors_lookup_hit.sum", "sector", hits);
    add(x->out, "l2", "lts__t_sectors_lookup_miss.sum", "sector", lookup_misses);
    add(x->out, "l2", "lts__t_sector_hit_rate.pct", "%", 100 * ratio(hits, hits + lookup_misses));
    add(x->out, "l2", "lts__d_sectors_fill_device.sum", "sector",
        (double)(mem->fills + x->all->code_read));
}

static void add_dram(const metrics *x)
{
    const double dram_read = (double)(x->all->dram_read + x->all->code_read);
    add(x->out, "dram", "dram__sectors_read.sum", "sector", dram_read);
    add(x->out, "dram", "ptxloom__dram_sectors_code.sum", "sector", (double)x->all->code_read);
    add(x->out, "dram", "dram__sectors_write.sum", "sector", (double)x->all->dram_written);
    add(x->out, "dram", "dram__bytes_read.sum", "B", dram_read * x->sector);
    add(x->out, "dram", "dram__bytes_write.sum", "B", (double)x->all->dram_written * x->sector);
    add(x->out, "dram", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%",
        100 * ratio((dram_read + (double)x->all->dram_written) * x->sector,
                    x->m->mem.dram.bytes_per_cycle * (double)x->cycles));
}

void pl_metrics_of(pl_timing_result *out, const pl_totals *all)
{
    metrics x = {.out = out,
                 .all = all,
                 .m = all->m,
                 .issue = none,
                 .eligible = none,
                 .sub = none,
                 .resident = none,
                 .tensor = none,
                 .min_active = UINT64_MAX,
                 .cycles = all->cycles};
    add_up(&x);
    out->inst_executed = x.t.inst;
    out->thread_inst_executed = x.t.thread_inst;
    out->sm_active = x.max_active;
    out->cycles = x.cycles;
    out->occupancy = all->occupancy;
    out->ncounters = 0;
    add_launch(&x);
    add_sm_cycles(&x);
    add_sm_ranges(&x);
    add_branches(&x);
    add_pipes(&x);
    add_stalls(&x);
    add_l1_requests(&x);
    add_l1_data(&x);
    add_l2(&x);
    add_dram(&x);
}
