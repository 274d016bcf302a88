/* metrics.c - metrics of a launch under the names of Nsight Compute.
 *
 * `.sum` metrics are totals over the GPU, `.avg` averages over units, ratios and percentages are
 * computed from the sums; units as in Nsight Compute (percent from 0 to 100). A launch that makes
 * others on the device counts theirs as its own. Everything derives from pl_sm_stat and
 * pl_memsys_stat, so the printed summary, the trace and the JSON output cannot disagree. */
#include "emu/sm/metrics.h"
#include "emu/sm/division_slow_path.h"
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

/* The least and the most that any unit of the GPU shows. */
typedef struct extremes {
    uint64_t least, most;
} extremes;
static const extremes none = {UINT64_MAX, 0};

static void widen(extremes *e, uint64_t v)
{
    if (v < e->least) e->least = v;
    if (v > e->most) e->most = v;
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
    t->sm = calloc(m->sm.count, sizeof *t->sm);
    t->sub = calloc((size_t)m->sm.count * m->sm.subcores, sizeof *t->sub);
    if (t->sm && t->sub) return t;
    pl_totals_close(t);
    return NULL;
}

void pl_totals_close(pl_totals *t)
{
    if (!t) return;
    free(t->sm);
    free(t->sub);
    free(t);
}

/* Marks what the entry may call, and returns it: all that have code when some function calls one by
 * its address. NULL: out of memory. */
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

/* Bytes of code that a launch brings to the L2, 256 at a time: of the entry, of the functions that
 * it may call, and of the subroutines of quotients and roots, one of each kind
 * (dram__sectors_read.sum of launches that load nothing). */
static bool code_bytes(const pl_grid *g, const pl_sm *sm, uint64_t *bytes)
{
    enum { PIECE = 256 };
    const pl_program *p = g->program;
    uint64_t sum = 0;
    bool *reached = reached_from(p, g->entry), seen[PL_DIVISION_COUNT] = {false};
    if (!reached) return false;
    for (uint32_t k = 0; k < p->funcs.n; k++) {
        const pl_prog_func *f = &p->funcs.at[k];
        if (!reached[k] || f->count == 0) continue;
        size_t end = (size_t)f->first + f->count;
        sum += (end < p->code.n ? sm->dec->at[end].address : sm->dec->bytes) -
               sm->dec->at[f->first].address;
        for (size_t pc = f->first; pc < end; pc++) {
            const uint8_t slow = sm->dec->at[pc].division_path;
            if (!seen[slow]) sum += (uint64_t)pl_slow_length(slow) * sm->m->fetch.instruction;
            seen[slow] = true;
        }
    }
    free(reached);
    *bytes = (sum + PIECE - 1) / PIECE * PIECE;
    return true;
}

bool pl_totals_add(pl_totals *t, const pl_grid *head, const pl_occupancy *o, const pl_sm *sm,
                   const pl_memsys *mem, uint64_t cycles)
{
    if (t->grids == 0) {
        memcpy(t->grid, head->grid, sizeof t->grid);
        memcpy(t->block, head->block, sizeof t->block);
        t->barriers = head->entry->barriers;
        t->cluster = head->cluster[0] * head->cluster[1] * head->cluster[2];
        t->occupancy = *o;
    }
    for (const pl_grid *g = head; g; g = g->next) {
        t->grids++;
        /* the launch brings the kernel's code to the L2, used or not (dram__sectors_read.sum less
         * what loads read: that and 72) */
        uint64_t bytes;
        if (!t->m->launch.dram_sectors) continue;
        if (!code_bytes(g, sm, &bytes)) return false;
        t->code_read += t->m->launch.dram_sectors + bytes / t->m->l1.sector;
    }
    for (uint32_t k = 0; k < t->m->sm.count; k++) {
        sum_up(&t->sm[k], &sm[k].stat);
        for (uint32_t q = 0; q < sm[k].nsub; q++) {
            const pl_subcore *c = &sm[k].sub[q];
            struct pl_sub_total *sub = &t->sub[k * t->m->sm.subcores + q];
            sub->issues += c->issues;
            sub->eligible += c->issues + c->passed_over;
            sub->active += c->cycles_active;
        }
    }
    const pl_memsys_stat *x = pl_memsys_stats(mem);
    const pl_dram *d = pl_memsys_dram(mem);
    t->mem.requests += x->requests;
    t->mem.read_sectors += x->read_sectors;
    t->mem.write_sectors += x->write_sectors;
    t->mem.atomic_sectors += x->atomic_sectors;
    t->mem.reduce_sectors += x->reduce_sectors;
    t->mem.hit_sectors += x->hit_sectors;
    t->mem.miss_sectors += x->miss_sectors;
    t->mem.fills += x->fills;
    t->mem.data_requests += x->data_requests;
    t->mem.data_sectors += x->data_sectors;
    t->mem.data_hits += x->data_hits;
    t->mem.far_requests += x->far_requests;
    t->mem.far_sectors += x->far_sectors;
    t->mem.far_writes += x->far_writes;
    t->dram_read += d->sectors_read;
    t->dram_written += d->sectors_written;
    t->cycles += cycles;
    return true;
}

void pl_counters(pl_timing_result *out, const pl_totals *all)
{
    const pl_machine *m = all->m;
    const uint64_t cycles = all->cycles;
    pl_sm_stat t = {0};
    uint64_t most = 0, least = UINT64_MAX, issue_active = 0, eligible_sum = 0, sub_cycles = 0;
    extremes issue = none, eligible = none, sub = none, resident = none, tensor = none;
    for (uint32_t k = 0; k < m->sm.count; k++) {
        const pl_sm_stat *own = &all->sm[k];
        sum_up(&t, own);
        if (own->cycles_active > most) most = own->cycles_active;
        if (own->cycles_active < least) least = own->cycles_active;
        for (uint32_t q = 0; q < m->sm.subcores; q++) {
            const struct pl_sub_total *c = &all->sub[k * m->sm.subcores + q];
            issue_active += c->issues;
            eligible_sum += c->eligible;
            sub_cycles += c->active;
            widen(&issue, c->issues);
            widen(&eligible, c->eligible);
            widen(&sub, c->active);
        }
        widen(&resident, own->warp_cycles);
        widen(&tensor, own->tensor_cycles);
    }
    out->inst_executed = t.inst;
    out->thread_inst_executed = t.thread_inst;
    out->sm_active = most;
    out->cycles = cycles;
    out->occupancy = all->occupancy;
    out->ncounters = 0;
    const pl_memsys_stat *x = &all->mem;
    const uint32_t *grid = all->grid, *block = all->block;
    double sms = m->sm.count, active = (double)t.cycles_active,
           sub_active = active * m->sm.subcores;
    double schedulers = sms * m->sm.subcores,
           sub_average = (double)sub_cycles / schedulers; /* cycles with a warp of its own */
    double ns = (double)cycles * 1000.0 / m->clock_mhz, sector = (double)m->l1.sector;

    add(out, "launch", "launch__grid_size", "block", (double)grid[0] * grid[1] * grid[2]);
    add(out, "launch", "launch__block_size", "thread", (double)block[0] * block[1] * block[2]);
    add(out, "launch", "launch__occupancy_limit_warps", "block", out->occupancy.by_warps);
    add(out, "launch", "launch__occupancy_limit_blocks", "block", out->occupancy.by_blocks);
    add(out, "launch", "launch__occupancy_limit_registers", "block", out->occupancy.by_registers);
    const pl_occupancy *o = &out->occupancy; /* the limit as Nsight Compute states it: of the
                                                setting, not of the storage */
    add(out, "launch", "launch__occupancy_limit_shared_mem", "block",
        o->shared_per_block ? (double)(o->carveout / o->shared_per_block) : o->by_shared);
    add(out, "launch", "launch__occupancy_limit_barriers", "block", o->by_barriers);
    uint32_t groups = m->mem.groups,
             clusters = 0; /* that are resident at once: all blocks of one lie in a group of SMs */
    for (uint32_t k = 0; all->cluster && k < groups; k++)
        clusters +=
            ((k + 1) * m->sm.count / groups - k * m->sm.count / groups) * o->blocks / all->cluster;
    add(out, "launch", "launch__cluster_max_active", "cluster", clusters);
    add(out, "launch", "launch__barrier_count", "", all->barriers);
    add(out, "launch", "launch__shared_mem_config_size", "B", (double)out->occupancy.carveout);
    add(out, "launch", "launch__waves_per_multiprocessor", "",
        rint(100 * ratio((double)grid[0] * grid[1] * grid[2], sms * o->blocks)) /
            100); /* as reported: two decimals */
    add(out, "launch", "gpc__cycles_elapsed.max", "cycle", (double)cycles);
    add(out, "launch", "gpu__time_duration.sum", "ns", ns);

    add(out, "sm", "sm__cycles_active.avg", "cycle", active / sms);
    add(out, "sm", "sm__cycles_active.max", "cycle", (double)most);
    add(out, "sm", "sm__cycles_active.min", "cycle", (double)least);
    add(out, "sm", "sm__cycles_active.sum", "cycle", active);
    add(out, "sm", "sm__ctas_launched.sum", "block", (double)t.blocks);
    add(out, "sm", "smsp__warps_launched.sum", "warp", (double)t.warps);
    add(out, "sm", "sm__warps_active.avg.pct_of_peak_sustained_active", "%",
        100 * ratio((double)t.warp_cycles, active * m->sm.warps));
    add(out, "sm", "smsp__inst_executed.sum", "inst", (double)t.inst);
    add(out, "sm", "smsp__thread_inst_executed.sum", "inst", (double)t.thread_inst);
    add(out, "sm", "smsp__thread_inst_executed_pred_on.sum", "inst", (double)t.thread_on);
    add(out, "sm", "smsp__thread_inst_executed_per_inst_executed.ratio", "",
        ratio((double)t.thread_inst, (double)t.inst));
    add(out, "sm", "smsp__issue_active.sum", "cycle", (double)issue_active);
    add(out, "sm", "smsp__issue_active.avg.pct_of_peak_sustained_active", "%",
        100 * ratio((double)issue_active, (double)sub_cycles));
    add(out, "sm", "smsp__cycles_active.sum", "cycle", (double)sub_cycles);
    add(out, "sm", "smsp__cycles_active.avg", "cycle", sub_average);
    add(out, "sm", "smsp__cycles_active.max", "cycle", (double)sub.most);
    add(out, "sm", "smsp__cycles_active.min", "cycle", (double)sub.least);
    add(out, "sm", "smsp__warps_eligible.avg.per_cycle_active", "warp",
        ratio((double)eligible_sum, (double)sub_cycles));
    add(out, "sm", "smsp__warps_eligible.max.per_cycle_active", "warp",
        ratio((double)eligible.most, sub_average));
    add(out, "sm", "smsp__warps_eligible.min.per_cycle_active", "warp",
        ratio((double)eligible.least, sub_average));
    const struct {
        const char *least, *most;
        const extremes *of;
        double peak; /* of one unit, while an average one was active: so the recorded launches
                        divide */
    } range[] = {{"smsp__issue_active.min.pct_of_peak_sustained_active",
                  "smsp__issue_active.max.pct_of_peak_sustained_active", &issue, sub_average},
                 {"sm__warps_active.min.pct_of_peak_sustained_active",
                  "sm__warps_active.max.pct_of_peak_sustained_active", &resident,
                  active / sms * m->sm.warps},
                 {"sm__pipe_tensor_cycles_active.min.pct_of_peak_sustained_active",
                  "sm__pipe_tensor_cycles_active.max.pct_of_peak_sustained_active", &tensor,
                  active / sms * m->sm.subcores}};
    for (size_t k = 0; k < sizeof range / sizeof *range; k++) {
        add(out, "sm", range[k].least, "%", 100 * ratio((double)range[k].of->least, range[k].peak));
        add(out, "sm", range[k].most, "%", 100 * ratio((double)range[k].of->most, range[k].peak));
    }
    add(out, "sm", "sm__inst_executed.avg.per_cycle_active", "inst/cycle",
        ratio((double)t.inst, active));
    add(out, "sm", "smsp__inst_executed_op_branch.sum", "inst", (double)t.branches);
    add(out, "sm", "smsp__sass_branch_targets.sum", "", (double)t.targets);
    add(out, "sm", "smsp__sass_branch_targets_threads_divergent.sum", "", (double)t.divergent);
    add(out, "sm", "smsp__sass_branch_targets_threads_uniform.sum", "",
        (double)(t.targets - (t.divergent < t.targets ? t.divergent : t.targets)));
    const uint64_t *unit = t.pipe_inst, f32 = unit[PL_PIPE_FMA] + unit[PL_PIPE_HALF];
    const struct {
        const char *name;
        uint64_t n;
    } pipes[] = {
        {"smsp__inst_executed_pipe_alu.sum", unit[PL_PIPE_ALU]},
        {"smsp__inst_executed_pipe_fma.sum", f32},
        {"smsp__inst_executed_pipe_fmaheavy.sum", f32 - t.lite},
        {"smsp__inst_executed_pipe_fmalite.sum", t.lite},
        {"smsp__inst_executed_pipe_fma_type_fp16.sum", unit[PL_PIPE_HALF]},
        {"smsp__inst_executed_pipe_fp64.sum", unit[PL_PIPE_FP64]},
        {"smsp__inst_executed_pipe_xu.sum", unit[PL_PIPE_XU]},
        {"smsp__inst_executed_pipe_lsu.sum", unit[PL_PIPE_LSU] + t.lsu},
        {"smsp__inst_executed_pipe_tensor.sum", unit[PL_PIPE_TENSOR]},
        {"smsp__inst_executed_pipe_adu.sum", t.adu},
        {"smsp__inst_executed_pipe_cbu.sum", t.cbu},
    };
    for (size_t k = 0; k < sizeof pipes / sizeof *pipes; k++)
        add(out, "sm", pipes[k].name, "inst", (double)pipes[k].n);
    add(out, "sm", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active", "%",
        100 * ratio((double)t.tensor_cycles, sub_active));
    static const char *const stall_names[] = {
#define X(name, word, text) "smsp__average_warps_issue_stalled_" word "_per_issue_active.ratio",
        PL_STALLS(X)
#undef X
    };
    for (unsigned k = 1; k < PL_STALL_COUNT; k++)
        add(out, "sm", stall_names[k], "", ratio((double)t.stall[k], (double)issue_active));

    add(out, "l1", "l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum", "request", (double)t.loads);
    add(out, "l1", "l1tex__t_requests_pipe_lsu_mem_global_op_st.sum", "request", (double)t.stores);
    add(out, "l1", "l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum", "request",
        (double)t.atomics);
    add(out, "l1", "l1tex__t_requests_pipe_lsu_mem_global_op_red.sum", "request", (double)t.reds);
    add(out, "l1", "l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum", "request",
        (double)t.local_loads);
    add(out, "l1", "l1tex__t_requests_pipe_lsu_mem_local_op_st.sum", "request",
        (double)t.local_stores);
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum", "sector",
        (double)t.load_sectors);
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum", "sector",
        (double)t.store_sectors);
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum", "sector",
        (double)t.atomic_sectors);
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum", "sector",
        (double)t.red_sectors);
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum", "sector",
        (double)t.load_hits);
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum", "sector",
        (double)(t.load_sectors - t.load_hits));
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum", "sector",
        (double)t.local_load_sectors);
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum", "sector",
        (double)t.local_store_sectors);
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum", "sector",
        (double)t.local_load_hits);
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_global_op_st_lookup_hit.sum", "sector",
        (double)t.store_hits);
    add(out, "l1", "l1tex__t_sectors_pipe_lsu_mem_local_op_st_lookup_hit.sum", "sector",
        (double)t.local_store_hits);
    add(out, "l1", "l1tex__t_sector_hit_rate.pct", "%",
        100 * ratio((double)(t.load_hits + t.local_load_hits),
                    (double)(t.load_sectors + t.local_load_sectors)));
    /* shuffles, special registers that differ by lane, fences and one pass of each barrier go the
     * same way */
    add(out, "l1", "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum", "",
        (double)(t.shared_passes + t.exchanges + t.barriers + t.wgmma_halves / 2));
    add(out, "l1", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum", "",
        (double)t.shared_load_passes);
    add(out, "l1", "l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum", "",
        (double)t.shared_store_passes);
    add(out, "l1", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum", "", (double)t.conflicts);
    add(out, "l1", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum", "",
        (double)t.load_conflicts);
    add(out, "l1", "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum", "",
        (double)t.store_conflicts);
    add(out, "l1", "l1tex__lsu_writeback_active.sum", "cycle", (double)t.writebacks);
    add(out, "l1", "l1tex__m_xbar2l1tex_read_sectors.sum", "sector", (double)t.l1_read_sectors);
    add(out, "l1", "l1tex__m_l1tex2xbar_write_sectors.sum", "sector", (double)t.l1_write_sectors);
    add(out, "l1", "smsp__sass_inst_executed_op_shared_ld.sum", "inst", (double)t.shared_loads);
    add(out, "l1", "smsp__sass_inst_executed_op_global_ld.sum", "inst",
        (double)(t.loads - t.copies));
    add(out, "l1", "smsp__sass_average_data_bytes_per_sector_mem_global_op_ld.pct", "%",
        100 * ratio((double)t.load_bytes, (double)t.load_sectors * sector));
    add(out, "l1", "smsp__sass_average_data_bytes_per_sector_mem_global_op_st.pct", "%",
        100 * ratio((double)t.store_bytes, (double)t.store_sectors * sector));
    add(out, "l1", "idc__requests.sum", "request", (double)t.const_requests);
    add(out, "l1", "idc__requests_lookup_miss.sum", "request", (double)t.const_misses);
    add(out, "l1", "sm__icc_requests.sum", "request", (double)t.code_requests);
    add(out, "l1", "sm__icc_requests_lookup_miss.sum", "request", (double)t.code_misses);

    /* Of the launches themselves: requests of no kind that has a name, and code, which each GPC
     * reads once and which misses in both halves. The more slices an SM has used, the more of them
     * it has something to tell, in both halves: at most all. */
    const double code = (double)(all->code_read * m->launch.code_reads),
                 misses = 2 * (double)all->code_read;
    const double launches = (double)all->grids,
                 reads = (double)x->read_sectors + code + m->launch.l2_reads * launches;
    /* Which half owns a line is not known: a store goes on to another half as often as there are
     * others. */
    const double near = (double)(x->write_sectors - x->far_writes),
                 others = rint(near * (1 - 1.0 / m->mem.partitions));
    const double writes = near + others + m->launch.l2_writes * launches;
    const double named = reads + writes + (double)(x->atomic_sectors + x->reduce_sectors),
                 far = (double)(x->far_sectors - x->far_writes) + others + rint(code / 3);
    const double pairs = (double)m->sm.count * m->mem.slices * launches;
    double told = m->launch.l2_told * (named - far);
    if (told > 2 * pairs) told = 2 * pairs;
    told = 2 * rint(told / 2);
    const double own = m->launch.l2_requests * launches, looked_up = own + told / 2;
    const double found = (double)x->hit_sectors + looked_up + (code > misses ? code - misses : 0),
                 missed = (double)x->miss_sectors + misses;
    add(out, "l2", "lts__t_requests.sum", "request",
        (double)x->requests + looked_up + rint(code / (double)(m->l1.line / m->l1.sector)));
    add(out, "l2", "lts__t_sectors_op_read.sum", "sector", reads);
    add(out, "l2", "lts__t_sectors_op_write.sum", "sector", writes);
    add(out, "l2", "lts__t_sectors_op_atom.sum", "sector", (double)x->atomic_sectors);
    add(out, "l2", "lts__t_sectors_op_red.sum", "sector", (double)x->reduce_sectors);
    add(out, "l2", "lts__t_sectors.sum", "sector", named + own + told);
    add(out, "l2", "lts__t_requests_srcunit_tex.sum", "request", (double)x->data_requests);
    add(out, "l2", "lts__t_sectors_srcunit_tex.sum", "sector", (double)x->data_sectors);
    add(out, "l2", "lts__t_sectors_srcunit_tex_lookup_hit.sum", "sector", (double)x->data_hits);
    add(out, "l2", "ptxloom__l2_sectors_other.sum", "sector",
        named + own + told - (double)x->data_sectors);
    add(out, "l2", "lts__t_sectors_srcunit_ltcfabric.sum", "sector", far + told / 2);
    add(out, "l2", "lts__t_sectors_srcnode_gpc.sum", "sector", named - far + told / 2);
    add(out, "l2", "lts__t_sectors_lookup_hit.sum", "sector", found);
    add(out, "l2", "lts__t_sectors_lookup_miss.sum", "sector", missed);
    add(out, "l2", "lts__t_sector_hit_rate.pct", "%", 100 * ratio(found, found + missed));
    add(out, "l2", "lts__d_sectors_fill_device.sum", "sector", (double)(x->fills + all->code_read));

    const double dram_read = (double)(all->dram_read + all->code_read);
    add(out, "dram", "dram__sectors_read.sum", "sector", dram_read);
    add(out, "dram", "ptxloom__dram_sectors_code.sum", "sector", (double)all->code_read);
    add(out, "dram", "dram__sectors_write.sum", "sector", (double)all->dram_written);
    add(out, "dram", "dram__bytes_read.sum", "B", dram_read * sector);
    add(out, "dram", "dram__bytes_write.sum", "B", (double)all->dram_written * sector);
    add(out, "dram", "dram__throughput.avg.pct_of_peak_sustained_elapsed", "%",
        100 * ratio((dram_read + (double)all->dram_written) * sector,
                    m->mem.dram.bytes_per_cycle * (double)cycles));
}
