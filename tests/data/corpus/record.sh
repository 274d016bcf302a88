#!/bin/sh
# record.sh - records launches of the corpus on a GPU: results.tsv and metrics.tsv, in the folder OUT.
#
#     record.sh OUT CORPUS [CASE.json...]
#
# CORPUS is tests/corpus of a build folder: cases/*.json, made of the lines `//!` of the kernels by launches.awk, and kernels/*.ptx,
# made of kernels/*.cu by nvcc (../README.md).
#
# Needs a GPU, ptxas, ncu (Nsight Compute), python3 with numpy. As with ../suite: cold caches, clocks as they are, four launches
# for the cycles, one more for the metrics; the metrics are those that ptxloom has too.
set -e
out=$1
corpus=$2
here=$(cd "$(dirname "$0")" && pwd)
shift 2
test $# -gt 0 || set -- "$corpus"/cases/*.json
mkdir -p "$out/cubin"
for f in "$corpus"/kernels/*.ptx; do ptxas -arch=sm_90a -O3 -o "$out/cubin/$(basename "$f" .ptx).cubin" "$f"; done
record="python3 $here/record.py"
$record outputs "$out/cubin" "$@" >"$out/outputs.txt"
profile()
{
    ncu --clock-control none --csv --page raw --print-units base --target-processes all "$@"
}
cycles=gpc__cycles_elapsed.max,sm__cycles_active.max
metrics=dram__bytes_read.sum,\
dram__bytes_write.sum,\
dram__sectors_read.sum,\
dram__sectors_write.sum,\
gpc__cycles_elapsed.max,\
gpu__time_duration.sum,\
idc__requests.sum,\
idc__requests_lookup_miss.sum,\
l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum,\
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum,\
l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum,\
l1tex__data_pipe_lsu_wavefronts_mem_shared.sum,\
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_ld.sum,\
l1tex__data_pipe_lsu_wavefronts_mem_shared_op_st.sum,\
l1tex__lsu_writeback_active.sum,\
l1tex__m_l1tex2xbar_write_sectors.sum,\
l1tex__m_xbar2l1tex_read_sectors.sum,\
l1tex__t_requests_pipe_lsu_mem_global_op_atom.sum,\
l1tex__t_requests_pipe_lsu_mem_global_op_ld.sum,\
l1tex__t_requests_pipe_lsu_mem_global_op_red.sum,\
l1tex__t_requests_pipe_lsu_mem_global_op_st.sum,\
l1tex__t_requests_pipe_lsu_mem_local_op_ld.sum,\
l1tex__t_requests_pipe_lsu_mem_local_op_st.sum,\
l1tex__t_sectors_pipe_lsu_mem_global_op_atom.sum,\
l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum,\
l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_hit.sum,\
l1tex__t_sectors_pipe_lsu_mem_global_op_ld_lookup_miss.sum,\
l1tex__t_sectors_pipe_lsu_mem_global_op_red.sum,\
l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum,\
l1tex__t_sectors_pipe_lsu_mem_local_op_ld.sum,\
l1tex__t_sectors_pipe_lsu_mem_local_op_ld_lookup_hit.sum,\
l1tex__t_sectors_pipe_lsu_mem_local_op_st.sum,\
lts__d_sectors_fill_device.sum,\
lts__t_requests.sum,\
lts__t_sectors.sum,\
lts__t_sectors_lookup_hit.sum,\
lts__t_sectors_lookup_miss.sum,\
lts__t_sectors_op_atom.sum,\
lts__t_sectors_op_read.sum,\
lts__t_sectors_op_red.sum,\
lts__t_sectors_op_write.sum,\
sm__ctas_launched.sum,\
sm__cycles_active.avg,\
sm__cycles_active.max,\
sm__cycles_active.min,\
sm__cycles_active.sum,\
sm__icc_requests.sum,\
sm__icc_requests_lookup_miss.sum,\
sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active,\
sm__pipe_tensor_cycles_active.max.pct_of_peak_sustained_active,\
sm__pipe_tensor_cycles_active.min.pct_of_peak_sustained_active,\
sm__warps_active.avg.pct_of_peak_sustained_active,\
sm__warps_active.max.pct_of_peak_sustained_active,\
sm__warps_active.min.pct_of_peak_sustained_active,\
smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_drain_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_membar_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio,\
smsp__average_warps_issue_stalled_wait_per_issue_active.ratio,\
smsp__inst_executed.sum,\
smsp__inst_executed_op_branch.sum,\
smsp__inst_executed_pipe_adu.sum,\
smsp__inst_executed_pipe_alu.sum,\
smsp__inst_executed_pipe_cbu.sum,\
smsp__inst_executed_pipe_fma.sum,\
smsp__inst_executed_pipe_fma_type_fp16.sum,\
smsp__inst_executed_pipe_fmaheavy.sum,\
smsp__inst_executed_pipe_fmalite.sum,\
smsp__inst_executed_pipe_fp64.sum,\
smsp__inst_executed_pipe_lsu.sum,\
smsp__inst_executed_pipe_tensor.sum,\
smsp__inst_executed_pipe_xu.sum,\
smsp__issue_active.avg.pct_of_peak_sustained_active,\
smsp__issue_active.max.pct_of_peak_sustained_active,\
smsp__issue_active.min.pct_of_peak_sustained_active,\
smsp__issue_active.sum,\
smsp__sass_branch_targets.sum,\
smsp__sass_branch_targets_threads_divergent.sum,\
smsp__sass_branch_targets_threads_uniform.sum,\
smsp__sass_inst_executed_op_global_ld.sum,\
smsp__sass_inst_executed_op_shared_ld.sum,\
smsp__thread_inst_executed.sum,\
smsp__thread_inst_executed_per_inst_executed.ratio,\
smsp__warps_launched.sum,\
launch__occupancy_limit_blocks,\
launch__occupancy_limit_registers,\
launch__occupancy_limit_shared_mem,\
launch__occupancy_limit_warps,\
launch__shared_mem_config_size,\
launch__waves_per_multiprocessor
profile --cache-control all --metrics $cycles $record launch 4 "$out/cubin" "$@" >"$out/cold.csv"
profile --cache-control none --metrics $cycles $record launch 4 "$out/cubin" "$@" >"$out/warm.csv"
profile --cache-control all --metrics $metrics $record launch 1 "$out/cubin" "$@" >"$out/metrics.csv"
cd "$out"
$record table outputs.txt cold.csv warm.csv metrics.csv $metrics
xz -9 -k -f metrics.tsv
