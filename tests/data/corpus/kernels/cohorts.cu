/* cohorts.cu - cooperative groups: tiles that reduce and scan, groups by label, halves of a block, the whole grid, clusters. */
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>
#include <cstdint>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

//! means_by_tiles_of_eight 16 128 | f32:16384:-5:5 | out f32:256 | out f32:256
K means_by_tiles_of_eight(const float *x, float *mean, float *top)
{
    auto tile = cg::tiled_partition<8>(cg::this_thread_block());
    int row = blockIdx.x * (blockDim.x / 8) + tile.meta_group_rank();
    float s = 0.0f, m = -1e30f;
    for (int k = tile.thread_rank(); k < 64; k += tile.size()) {
        s += x[row * 64 + k];
        m = fmaxf(m, x[row * 64 + k]);
    }
    s = cg::reduce(tile, s, cg::plus<float>());
    m = cg::reduce(tile, m, cg::greater<float>());
    if (tile.thread_rank() == 0) {
        mean[row] = s / 64.0f;
        top[row] = m;
    }
}

//! places_by_tile_scans 12 256 | u32:3072:0:9 | out u32:3072 | out u32:96
K places_by_tile_scans(const unsigned *count, unsigned *place, unsigned *total)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned c = count[i];
    unsigned before = cg::exclusive_scan(warp, c);
    unsigned most = cg::inclusive_scan(warp, c, cg::greater<unsigned>());
    place[i] = before * 16 + most;
    if (warp.thread_rank() == 31) total[i / 32] = before + c;
}

//! votes_of_labels 10 192 | s32:1920:0:6 | s32:1920:-100:100 | out s32:1920 | out s32:1920
K votes_of_labels(const int *label, const int *value, int *sum, int *rank)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto same = cg::labeled_partition(warp, label[i]);
    sum[i] = cg::reduce(same, value[i], cg::plus<int>());
    rank[i] = same.thread_rank() * 64 + same.num_threads() + 4096 * same.shfl(value[i], 0);
}

//! binary_parties 14 96 | s32:1344:0:1000 | out s32:1344
K binary_parties(const int *x, int *out)
{
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = x[i];
    auto party = cg::binary_partition(warp, v % 3 == 0);
    int r = cg::reduce(party, v, cg::bit_xor<int>());
    if (party.any(v > 900)) r += party.ballot(v > 500) & 0xffff;
    out[i] = r;
}

//! tiles_of_two_warps 8 256 | f32:16384:-1:1 | out f32:32
K tiles_of_two_warps(const float *x, float *norm)
{
    __shared__ cg::block_tile_memory<256> memory;
    auto block = cg::this_thread_block(memory);
    auto tile = cg::tiled_partition<64>(block);
    int row = blockIdx.x * 4 + tile.meta_group_rank();
    float s = 0.0f;
    for (int k = tile.thread_rank(); k < 512; k += 64) s += x[row * 512 + k] * x[row * 512 + k];
    s = cg::reduce(tile, s, cg::plus<float>());
    if (tile.thread_rank() == 0) norm[row] = sqrtf(s);
}

//! whole_grid_relaxes 20 128 | inout f32:2562:0:10 | scratch f32:2562 | s s32 2560 | s s32 6 | cooperative
// Sweeps of an average over neighbours with a barrier of the whole grid between them.
K whole_grid_relaxes(float *a, float *b, int n, int sweeps)
{
    cg::grid_group grid = cg::this_grid();
    int i = (int)grid.thread_rank() + 1;
    if (i == 1) {
        b[0] = a[0];
        b[n + 1] = a[n + 1];
    }
    for (int s = 0; s < sweeps; s++) {
        if (i <= n) b[i] = 0.25f * a[i - 1] + 0.5f * a[i] + 0.25f * a[i + 1];
        grid.sync();
        float *t = a;
        a = b;
        b = t;
    }
}

//! whole_grid_norm 24 160 | f32:30720:-2:2 | zero s32:30 | out f32:30720 | s s32 30720 | cooperative
K whole_grid_norm(const float *x, int *partial, float *out, int n)
{
    cg::grid_group grid = cg::this_grid();
    cg::thread_block block = cg::this_thread_block();
    auto warp = cg::tiled_partition<32>(block);
    int s = 0;
    for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) s += __float2int_rn(x[i] * x[i] * 256.0f);
    s = cg::reduce(warp, s, cg::plus<int>());
    if (warp.thread_rank() == 0) atomicAdd(partial + grid.block_rank() % 30, s);
    cg::sync(grid);
    int all = 0;
    for (int k = 0; k < 30; k++) all += __ldcg(partial + k);
    float scale = rsqrtf(all / 256.0f);
    for (int i = grid.thread_rank(); i < n; i += grid.num_threads()) out[i] = x[i] * scale;
}

//! neighbours_of_cluster_blocks 16 128 | f32:2048:-1:1 | out f32:2048
extern "C" __global__ void __cluster_dims__(4, 1, 1) neighbours_of_cluster_blocks(const float *x, float *y)
{
    __shared__ float mine[128];
    cg::cluster_group cluster = cg::this_cluster();
    int i = blockIdx.x * 128 + threadIdx.x;
    mine[threadIdx.x] = x[i];
    cluster.sync();
    unsigned next = (cluster.block_rank() + 1) % cluster.num_blocks();
    float *theirs = cluster.map_shared_rank(mine, next);
    float far = theirs[127 - threadIdx.x];
    y[i] = mine[threadIdx.x] - 0.5f * far;
    cluster.sync();
}

//! cluster_minimum_kept 24 192 | s32:9216:-30000:30000 | out s32:12
extern "C" __global__ void __cluster_dims__(2, 1, 1) cluster_minimum_kept(const int *x, int *least)
{
    __shared__ int best;
    cg::cluster_group cluster = cg::this_cluster();
    auto warp = cg::tiled_partition<32>(cg::this_thread_block());
    if (threadIdx.x == 0) best = 0x7fffffff;
    cluster.sync();
    int base = (blockIdx.x / 2) * 768, m = 0x7fffffff;
    for (int k = cluster.thread_rank(); k < 768; k += cluster.num_threads()) m = min(m, x[base + k]);
    m = cg::reduce(warp, m, cg::less<int>());
    if (warp.thread_rank() == 0) atomicMin(cluster.map_shared_rank(&best, 0), m);
    cluster.sync();
    if (cluster.thread_rank() == 0) least[blockIdx.x / 2] = best;
}

//! invoked_by_one_of_group 8 128 | u32:1024:0:4096 | zero u32:64 | out u32:1024
K invoked_by_one_of_group(const unsigned *key, unsigned *count, unsigned *seen)
{
    cg::coalesced_group all = cg::coalesced_threads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned k = key[i];
    unsigned r = all.shfl_up(k, 1) + all.shfl_down(k, 2);
    if (k & 1) {
        cg::coalesced_group odd = cg::coalesced_threads();
        if (odd.thread_rank() == 0) atomicAdd(count + (blockIdx.x * 4 + threadIdx.x / 32) % 64, odd.size());
        r ^= odd.shfl(k, odd.size() - 1);
        r += odd.match_any(k & 6);
    }
    seen[i] = r;
}

//! transposed_by_tile_shuffles 6 64 | u8:12288 | out u8:12288
// Bytes of 16 by 16, a tile of sixteen threads each.
K transposed_by_tile_shuffles(const uint4 *in, uint8_t *out)
{
    auto tile = cg::tiled_partition<16>(cg::this_thread_block());
    for (int m = blockIdx.x * 4 + tile.meta_group_rank(); m < 48; m += gridDim.x * 4) {
        uint4 v = in[m * 16 + tile.thread_rank()];
        unsigned w[4] = {v.x, v.y, v.z, v.w};
#pragma unroll
        for (int k = 0; k < 16; k++) {
            int from = (tile.thread_rank() + k) & 15;
            unsigned b = 0;
#pragma unroll
            for (int q = 0; q < 4; q++) {
                unsigned got = tile.shfl(w[q], from);
                if ((tile.thread_rank() >> 2) == q) b = got >> (8 * (tile.thread_rank() & 3));
            }
            out[m * 256 + tile.thread_rank() * 16 + from] = (uint8_t)b;
        }
    }
}
