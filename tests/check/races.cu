// Races and their fixed counterparts: NAME has a race, NAME_ok is the same kernel without it. cases.tsv has the expected findings.
#include <cuda_pipeline.h>

extern "C" __global__ void reverse(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    out[t] = tile[63 - t];
}

extern "C" __global__ void reverse_ok(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    out[t] = tile[63 - t];
}

// The barrier at the end of the loop is missing.
extern "C" __global__ void rounds(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[t] = in[k * 64 + t];
        __syncthreads();
        sum += tile[63 - t];
    }
    out[t] = sum;
}

extern "C" __global__ void rounds_ok(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[t] = in[k * 64 + t];
        __syncthreads();
        sum += tile[63 - t];
        __syncthreads();
    }
    out[t] = sum;
}

extern "C" __global__ void histogram(int *h, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    h[in[i] & 7] += 1;
}

extern "C" __global__ void histogram_ok(int *h, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(&h[in[i] & 7], 1);
}

extern "C" __global__ void flag(int *h, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] & 1) h[0] = 1;
}

extern "C" __global__ void flag_ok(int *h, const int *in)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (in[i] & 1) atomicExch(h, 1);
}

extern "C" __global__ void counter_of_block(int *h)
{
    atomicAdd_block(h, 1);
}

extern "C" __global__ void counter_of_block_ok(int *h)
{
    atomicAdd_block(&h[blockIdx.x], 1);
}

extern "C" __global__ void looked_at(int *h, int *out)
{
    atomicAdd(h, 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = *h;
}

extern "C" __global__ void looked_at_ok(int *h, int *out)
{
    out[blockIdx.x * blockDim.x + threadIdx.x] = atomicAdd(h, 1);
}

// The last block adds up the results of the others: without fences their visibility is not guaranteed.
extern "C" __global__ void last_block(int *part, int *count, int *out)
{
    if (threadIdx.x) return;
    part[blockIdx.x] = blockIdx.x;
    if (atomicAdd(count, 1) + 1 != gridDim.x) return;
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
}

extern "C" __global__ void last_block_ok(int *part, int *count, int *out)
{
    if (threadIdx.x) return;
    part[blockIdx.x] = blockIdx.x;
    __threadfence();
    if (atomicAdd(count, 1) + 1 != gridDim.x) return;
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
}

// The fence has the scope of its own block only.
extern "C" __global__ void last_block_narrow(int *part, int *count, int *out)
{
    if (threadIdx.x) return;
    part[blockIdx.x] = blockIdx.x;
    __threadfence_block();
    if (atomicAdd(count, 1) + 1 != gridDim.x) return;
    __threadfence();
    int sum = 0;
    for (int i = 0; i < gridDim.x; i++) sum += part[i];
    *out = sum;
}

extern "C" __global__ void lanes(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    v[t] = t;
    out[t] = v[t ^ 1];
}

extern "C" __global__ void lanes_ok(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    v[t] = t;
    __syncwarp();
    out[t] = v[t ^ 1];
}

// Pairs of lanes synchronise, but the partner is in another pair.
extern "C" __global__ void pairs(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    v[t] = t;
    __syncwarp(t < 16 ? 0x0000ffff : 0xffff0000);
    out[t] = v[t ^ 16];
}

extern "C" __global__ void pairs_ok(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    v[t] = t;
    __syncwarp(t < 16 ? 0x0000ffff : 0xffff0000);
    out[t] = v[t ^ 8];
}

// A barrier orders threads, but does not wait for copies.
extern "C" __global__ void copied(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_commit();
    __syncthreads();
    out[t] = tile[63 - t];
    __pipeline_wait_prior(0);
}

extern "C" __global__ void copied_ok(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    __pipeline_memcpy_async(&tile[t], &in[t], 4);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = tile[63 - t];
}

// Two halves of a block pass on a value through named barriers.
extern "C" __global__ void roles(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    if (t < 32) {
        v[t] = t;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        out[t] = v[t - 32];
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
}

extern "C" __global__ void roles_ok(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    if (t < 32) {
        v[t] = t;
        asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[t] = v[t - 32];
    }
}

// A lock without fences, and with them.
extern "C" __global__ void locked(int *lock, int *sum)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1)) {}
    *sum += 1;
    atomicExch(lock, 0);
}

extern "C" __global__ void locked_ok(int *lock, int *sum)
{
    if (threadIdx.x) return;
    while (atomicCAS(lock, 0, 1)) {}
    __threadfence();
    *sum += 1;
    __threadfence();
    atomicExch(lock, 0);
}

// Adjacent bytes in one word.
extern "C" __global__ void bytes(unsigned char *out)
{
    out[(threadIdx.x + 1) / 2] = threadIdx.x;
}

extern "C" __global__ void bytes_ok(unsigned char *out)
{
    out[threadIdx.x] = threadIdx.x;
}

// ---- asynchronous copies and products: fences between proxies, and waits ----

__device__ static unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

__device__ static void fence_proxy()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

__device__ static void copy_out(int *to, const int *from, unsigned bytes)
{
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(at(from)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

__device__ static void copy_in(int *to, const int *from, unsigned bytes, unsigned long long *bar)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(at(bar)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), "l"(from), "r"(bytes), "r"(at(bar)) : "memory");
}

__device__ static void init_bar(unsigned long long *bar)
{
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(bar)) : "memory");
    __syncthreads();
}

__device__ static void wait_bar(unsigned long long *bar, unsigned phase)
{
    unsigned done;
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(bar)), "r"(phase) : "memory");
    while (!done);
}

// A barrier orders threads, but does not make their writes visible to the copy engine.
extern "C" __global__ void passed_on(int *out)
{
    __shared__ __align__(128) int tile[64];
    int t = threadIdx.x;
    tile[t] = t;
    __syncthreads();
    if (t == 0) {
        copy_out(out, tile, sizeof tile);
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

extern "C" __global__ void passed_on_ok(int *out)
{
    __shared__ __align__(128) int tile[64];
    int t = threadIdx.x;
    tile[t] = t;
    fence_proxy();
    __syncthreads();
    if (t == 0) {
        copy_out(out, tile, sizeof tile);
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
}

// The tile is overwritten while it may still be copied.
extern "C" __global__ void reused(int *out)
{
    __shared__ __align__(128) int tile[64];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        tile[t] = t + k;
        fence_proxy();
        __syncthreads();
        if (t == 0) copy_out(out + 64 * k, tile, sizeof tile);
        __syncthreads();
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void reused_ok(int *out)
{
    __shared__ __align__(128) int tile[64];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        tile[t] = t + k;
        fence_proxy();
        __syncthreads();
        if (t == 0) {
            copy_out(out + 64 * k, tile, sizeof tile);
            asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        }
        __syncthreads();
    }
    if (t == 0) asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

// wait_group.read waits until the tile has been read, not until the result has been written.
extern "C" __global__ void read_back(int *out)
{
    __shared__ __align__(128) int tile[64];
    int t = threadIdx.x;
    tile[t] = t;
    fence_proxy();
    __syncthreads();
    if (t == 0) {
        copy_out(out, tile, sizeof tile);
        asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
        out[64] = *(volatile int *)out;
    }
}

extern "C" __global__ void read_back_ok(int *out)
{
    __shared__ __align__(128) int tile[64];
    int t = threadIdx.x;
    tile[t] = t;
    fence_proxy();
    __syncthreads();
    if (t == 0) {
        copy_out(out, tile, sizeof tile);
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        out[64] = *(volatile int *)out;
    }
}

// Only the thread that starts the copy waits for it; the barrier comes before that.
extern "C" __global__ void fetched(int *out, const int *in)
{
    __shared__ __align__(128) int tile[64];
    __shared__ unsigned long long bar;
    int t = threadIdx.x;
    init_bar(&bar);
    if (t == 0) copy_in(tile, in, sizeof tile, &bar);
    __syncthreads();
    if (t == 0) wait_bar(&bar, 0);
    out[t] = tile[t];
}

extern "C" __global__ void fetched_ok(int *out, const int *in)
{
    __shared__ __align__(128) int tile[64];
    __shared__ unsigned long long bar;
    int t = threadIdx.x;
    init_bar(&bar);
    if (t == 0) copy_in(tile, in, sizeof tile, &bar);
    wait_bar(&bar, 0);
    out[t] = tile[t];
}

// Tiles of tensors: read too early; stored without a fence between the proxies.
struct __align__(64) map { char bytes[128]; };

__device__ static void load_tile(float *to, const map *m, int x, int y, unsigned long long *bar)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(at(bar)) : "memory");
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(at(to)), "l"(m), "r"(x), "r"(y), "r"(at(bar)) : "memory");
}

__device__ static void store_tile(const map *m, int x, int y, const float *from)
{
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%1, %2}], [%3];" ::"l"(m), "r"(x), "r"(y), "r"(at(from)) : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

extern "C" __global__ void tile_early(const __grid_constant__ map in, const __grid_constant__ map out)
{
    __shared__ __align__(128) float tile[256];
    __shared__ unsigned long long bar;
    int t = threadIdx.x;
    init_bar(&bar);
    if (t == 0) load_tile(tile, &in, 0, 0, &bar);
    __syncthreads();
    tile[t] *= 2;
    wait_bar(&bar, 0);
    fence_proxy();
    __syncthreads();
    if (t == 0) store_tile(&out, 0, 0, tile);
}

extern "C" __global__ void tile_unfenced(const __grid_constant__ map in, const __grid_constant__ map out)
{
    __shared__ __align__(128) float tile[256];
    __shared__ unsigned long long bar;
    int t = threadIdx.x;
    init_bar(&bar);
    if (t == 0) load_tile(tile, &in, 0, 0, &bar);
    wait_bar(&bar, 0);
    tile[t] *= 2;
    __syncthreads();
    if (t == 0) store_tile(&out, 0, 0, tile);
}

extern "C" __global__ void tile_ok(const __grid_constant__ map in, const __grid_constant__ map out)
{
    __shared__ __align__(128) float tile[256];
    __shared__ unsigned long long bar;
    int t = threadIdx.x;
    init_bar(&bar);
    if (t == 0) load_tile(tile, &in, 0, 0, &bar);
    wait_bar(&bar, 0);
    tile[t] *= 2;
    fence_proxy();
    __syncthreads();
    if (t == 0) store_tile(&out, 0, 0, tile);
}

// Two blocks store tiles that overlap.
extern "C" __global__ void tiles_overlap(const __grid_constant__ map out)
{
    __shared__ __align__(128) float tile[256];
    tile[threadIdx.x] = threadIdx.x + blockIdx.x;
    fence_proxy();
    __syncthreads();
    if (threadIdx.x == 0) store_tile(&out, 0, 4 * blockIdx.x, tile);
}

extern "C" __global__ void tiles_overlap_ok(const __grid_constant__ map out)
{
    __shared__ __align__(128) float tile[256];
    tile[threadIdx.x] = threadIdx.x + blockIdx.x;
    fence_proxy();
    __syncthreads();
    if (threadIdx.x == 0) store_tile(&out, 0, 8 * blockIdx.x, tile);
}

// A warpgroup multiplies 64x16 by 16x8 matrices that it has written to shared memory.
__device__ static unsigned long long matrix(const void *p)
{
    return (at(p) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32; // core matrices: 128 bytes along k, 256 along lines
}

__device__ static void fill(unsigned short *a, unsigned short *b)
{
    int t = threadIdx.x;
    for (int k = t; k < 64 * 16; k += 128) a[k] = 0x3c00;
    b[t] = 0x3c00;
}

__device__ static void multiply(float d[4], const unsigned short *a, const unsigned short *b)
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "l"(matrix(a)), "l"(matrix(b)) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ static void wait_product()
{
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

extern "C" __global__ void product_unfenced(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    float d[4];
    fill(a, b);
    __syncthreads();
    multiply(d, a, b);
    wait_product();
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = d[k];
}

// The next matrix is written while the product may still read this one.
extern "C" __global__ void product_reused(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    float d[4];
    fill(a, b);
    fence_proxy();
    __syncthreads();
    multiply(d, a, b);
    __syncthreads();
    b[threadIdx.x] = 0;
    wait_product();
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = d[k];
}

extern "C" __global__ void product_ok(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    float d[4];
    fill(a, b);
    fence_proxy();
    __syncthreads();
    multiply(d, a, b);
    wait_product();
    __syncthreads();
    b[threadIdx.x] = 0;
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = d[k];
}

// ---- textures and surfaces: they do not see writes of the launch through other paths ----

extern "C" __global__ void fetched_back(int *data, cudaTextureObject_t tex, int *out)
{
    int t = threadIdx.x;
    data[t] = t;
    __syncthreads();
    out[t] = tex1Dfetch<int>(tex, 63 - t);
}

extern "C" __global__ void fetched_back_ok(int *data, cudaTextureObject_t tex, int *out)
{
    int t = threadIdx.x;
    data[t] = t;
    __syncthreads();
    out[t] = data[63 - t] + tex1Dfetch<int>(tex, 64 + t);
}

extern "C" __global__ void on_surface(cudaSurfaceObject_t surf, int *out)
{
    int t = threadIdx.x, v;
    surf1Dwrite(t, surf, t * 4);
    surf1Dread(&v, surf, (63 - t) * 4);
    out[t] = v;
}

extern "C" __global__ void on_surface_ok(cudaSurfaceObject_t surf, int *out)
{
    int t = threadIdx.x, v;
    surf1Dwrite(t, surf, t * 4);
    __syncthreads();
    surf1Dread(&v, surf, (63 - t) * 4);
    out[t] = v;
}

// The compiler relies on __restrict__, and loads through the path that does not see writes.
extern "C" __global__ void promised(int *data, const int *__restrict__ same, int *out)
{
    int t = threadIdx.x;
    data[t] = t;
    __syncthreads();
    out[t] = __ldg(same + 63 - t);
}

extern "C" __global__ void promised_ok(int *data, const int *same, int *out)
{
    int t = threadIdx.x;
    data[t] = t;
    __syncthreads();
    out[t] = *(volatile const int *)(same + 63 - t);
}

// Each lane reads the word that its neighbour overwrites.
extern "C" __global__ void shifted(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    int v = tile[t ^ 1];
    tile[t] = v + 1;
    out[t] = tile[t];
}

extern "C" __global__ void shifted_ok(int *out, const int *in)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = in[t];
    __syncthreads();
    int v = tile[t ^ 1];
    __syncwarp();
    tile[t] = v + 1;
    out[t] = tile[t];
}

// The warps store their number in one word; the final value is nondeterministic.
extern "C" __global__ void latest(volatile int *warp)
{
    if (threadIdx.x % 32 == 0) *warp = threadIdx.x / 32;
}

extern "C" __global__ void latest_ok(int *warp)
{
    if (threadIdx.x % 32 == 0) atomicMax(warp, threadIdx.x / 32);
}

// Peterson's lock: the release must be recognised, although the thread writes the flag again after it.
__device__ static void leave(unsigned *flag)
{
    asm volatile("st.release.cta.u32 [%0], 0;" ::"l"(flag) : "memory");
}

__device__ static void leave_relaxed(unsigned *flag)
{
    asm volatile("st.relaxed.cta.u32 [%0], 0;" ::"l"(flag) : "memory");
}

__device__ static unsigned look(unsigned *flag)
{
    unsigned v;
    asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(v) : "l"(flag) : "memory");
    return v;
}

__device__ static void enter(unsigned *state, unsigned me)
{
    asm volatile("st.relaxed.cta.u32 [%0], 1;" ::"l"(state + me) : "memory");
    asm volatile("st.release.cta.u32 [%0], %1;" ::"l"(state + 2), "r"(1 - me) : "memory"); // a thread that enters through it has seen my writes
    asm volatile("fence.sc.cta;" ::: "memory");
    while (look(state + 1 - me) && look(state + 2) == 1 - me) {}
}

extern "C" __global__ void excluded(unsigned *state, unsigned *count)
{
    unsigned me = threadIdx.x / 32;
    if (threadIdx.x % 32) return;
    for (int r = 0; r < 5; r++) {
        enter(state, me);
        *count += 1;
        leave_relaxed(state + me);
    }
}

extern "C" __global__ void excluded_ok(unsigned *state, unsigned *count)
{
    unsigned me = threadIdx.x / 32;
    if (threadIdx.x % 32) return;
    for (int r = 0; r < 5; r++) {
        enter(state, me);
        *count += 1;
        leave(state + me);
    }
}

// A block writes to the shared memory of the other block of its cluster, which may have ended by then.
__device__ static void meet()
{
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

__device__ static void tell(int *v, int value)
{
    unsigned rank, there;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(v)), "r"(rank ^ 1));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(value) : "memory");
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) left(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    meet();
    tell(v + t, t);
    out[blockIdx.x * 32 + t] = t;
}

extern "C" __global__ void __cluster_dims__(2, 1, 1) left_ok(int *out)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    meet();
    tell(v + t, t);
    meet();
    out[blockIdx.x * 32 + t] = v[t];
}

// Two products; a sum is stored without waiting for it.
__device__ static void two_products(float *out, unsigned short *a, unsigned short *b, bool all)
{
    float d[4], e[4];
    fill(a, b);
    fence_proxy();
    __syncthreads();
    multiply(d, a, b);
    multiply(e, a, b);
    if (all) wait_product();
    else asm volatile("wgmma.wait_group.sync.aligned 1;" ::: "memory");
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = d[k];
    for (int k = 0; k < 4; k++) out[512 + threadIdx.x * 4 + k] = e[k];
    wait_product();
}

extern "C" __global__ void product_early(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    two_products(out, a, b, false);
}

extern "C" __global__ void product_early_ok(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    two_products(out, a, b, true);
}

// A product that no wgmma.fence orders after earlier accesses to its registers.
__device__ static void bare(float d[4], const unsigned short *a, const unsigned short *b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "l"(matrix(a)), "l"(matrix(b)) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    wait_product();
}

extern "C" __global__ void product_bare(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    float d[4];
    fill(a, b);
    fence_proxy();
    __syncthreads();
    bare(d, a, b);
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = d[k];
}

extern "C" __global__ void product_bare_ok(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    float d[4];
    fill(a, b);
    fence_proxy();
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    bare(d, a, b);
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = d[k];
}

// All threads write one vector: the same one, or vectors that differ only in their last element.
extern "C" __global__ void same_vector(int4 *out)
{
    out[0] = make_int4(1, 2, 3, 4);
}

extern "C" __global__ void other_vector(int4 *out)
{
    out[0] = make_int4(1, 2, 3, threadIdx.x);
}

extern "C" __global__ void same_vector_ok(int4 *out)
{
    if (threadIdx.x == 0) out[0] = make_int4(1, 2, 3, 4);
}

// Matrix A in registers: the next one is loaded into the same registers while the product may still
// read them.
__device__ static void products_in_turn(float *out, unsigned short *a, unsigned short *b, bool each)
{
    const unsigned *words = (const unsigned *)a;
    float d[4] = {};
    fill(a, b);
    fence_proxy();
    __syncthreads();
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        unsigned r[4];
        for (int j = 0; j < 4; j++) r[j] = words[(threadIdx.x + 128 * j + k) & 511];
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %5, %6, %7}, %8, 1, 1, 1, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "l"(matrix(b)) : "memory");
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (each) wait_product();
    }
    wait_product();
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = d[k];
}

extern "C" __global__ void product_operand(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    products_in_turn(out, a, b, false);
}

extern "C" __global__ void product_operand_ok(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    products_in_turn(out, a, b, true);
}

// A sum to which the product adds changes after wgmma.fence.
__device__ static void changed(float *out, unsigned short *a, unsigned short *b, bool late)
{
    float d[4];
    fill(a, b);
    fence_proxy();
    __syncthreads();
    multiply(d, a, b);
    wait_product();
    if (!late)
        for (int k = 0; k < 4; k++) d[k] *= 0.5f;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    if (late)
        for (int k = 0; k < 4; k++) asm volatile("mul.f32 %0, %0, 0f3F000000;" : "+f"(d[k]));
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "l"(matrix(a)), "l"(matrix(b)) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    wait_product();
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = d[k];
}

extern "C" __global__ void product_changed(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    changed(out, a, b, true);
}

extern "C" __global__ void product_changed_ok(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    changed(out, a, b, false);
}

// The sum of an outstanding product is read and written, and a register of its matrix A is read.
template <bool EARLY> __device__ static void touched(float *out, unsigned short *a, unsigned short *b)
{
    float d[4] = {};
    unsigned r = 0x3c003c00, copy;
    fill(a, b);
    fence_proxy();
    __syncthreads();
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%5, %5, %5, %5}, %6, 1, 1, 1, 0;\n\t"
                 "wgmma.commit_group.sync.aligned;\n\t"
                 "wgmma.wait_group.sync.aligned %7;\n\t"
                 "add.f32 %0, %0, 0f3F800000;\n\t"
                 "add.u32 %4, %5, 1;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "=r"(copy)
                 : "r"(r), "l"(matrix(b)), "n"(EARLY) : "memory");
    wait_product();
    for (int k = 0; k < 4; k++) out[threadIdx.x * 4 + k] = d[k] + copy;
}

extern "C" __global__ void product_touched(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    touched<true>(out, a, b);
}

extern "C" __global__ void product_touched_ok(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    touched<false>(out, a, b);
}

// The last thread to count resets the counter: the counting is atomic, and the last thread has seen all counts.
__device__ static void count(unsigned *counter, int *out, unsigned last)
{
    if (atomicAdd(counter, 1) == last) {
        out[0]++;
        *counter = 0;
    }
}

extern "C" __global__ void set_back(int *out, unsigned *counter) { count(counter, out, gridDim.x * blockDim.x / 2); }
extern "C" __global__ void set_back_ok(int *out, unsigned *counter) { count(counter, out, gridDim.x * blockDim.x - 1); }

// A barrier of two warps in shared memory reserved for the system, as in tiles of cooperative groups.
__device__ static unsigned long long system_barrier()
{
    unsigned long long at;
    asm volatile("{ .reg .u32 s; .reg .u64 e; mov.u32 s, %%reserved_smem_offset_1; cvt.u64.u32 e, s; cvta.shared.u64 %0, e; }" : "=l"(at));
    if (threadIdx.x == 0) asm volatile("red.and.release.cta.b32 [%0], 0;" ::"l"(at) : "memory");
    __syncthreads();
    return at;
}

template <bool ACQUIRE> __device__ static void meet(unsigned long long at)
{
    unsigned was, mine = 1u << threadIdx.x / 32;
    __syncwarp();
    if (threadIdx.x % 32 == 0) {
        asm volatile("atom.or.acq_rel.cta.b32 %0, [%1], %2;" : "=r"(was) : "l"(at), "r"(mine) : "memory");
        if ((was | mine) == 3)
            asm volatile("red.and.relaxed.cta.b32 [%0], 0;" ::"l"(at) : "memory");
        else
            do
                if (ACQUIRE)
                    asm volatile("ld.acquire.cta.u32 %0, [%1];" : "=r"(was) : "l"(at) : "memory");
                else
                    asm volatile("ld.relaxed.cta.u32 %0, [%1];" : "=r"(was) : "l"(at) : "memory");
            while (was & mine);
    }
    __syncwarp();
}

template <bool ACQUIRE> __device__ static void swapped(int *out)
{
    __shared__ int tile[64];
    unsigned long long at = system_barrier();
    tile[threadIdx.x] = threadIdx.x;
    meet<ACQUIRE>(at);
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void two_warps(int *out) { swapped<false>(out); }
extern "C" __global__ void two_warps_ok(int *out) { swapped<true>(out); }

/* The result of the load is unused: it is an access nevertheless. */
template <bool APART> __device__ static void read_for_nothing(int *out)
{
    int value;
    out[threadIdx.x] = threadIdx.x;
    if (APART) __syncthreads();
    asm volatile("ld.global.u32 %0, [%1];" : "=r"(value) : "l"(out + (threadIdx.x ^ 1)));
}

extern "C" __global__ void unused_read(int *out) { read_for_nothing<false>(out); }
extern "C" __global__ void unused_read_ok(int *out) { read_for_nothing<true>(out); }

/* Other threads may miss writes between a thread's arrival at an mbarrier and its wait. */
template <bool BEFORE> __device__ static void arrives(int *out)
{
    __shared__ int tile[64];
    __shared__ unsigned long long bar;
    unsigned long long phase;
    unsigned done;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at(&bar)) : "memory");
    __syncthreads();
    if (BEFORE) tile[threadIdx.x] = threadIdx.x;
    asm volatile("mbarrier.arrive.shared.b64 %0, [%1];" : "=l"(phase) : "r"(at(&bar)) : "memory");
    if (!BEFORE) tile[threadIdx.x] = threadIdx.x;
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&bar)), "l"(phase) : "memory");
    while (!done);
    out[threadIdx.x] = tile[63 - threadIdx.x];
}

extern "C" __global__ void late_write(int *out) { arrives<false>(out); }
extern "C" __global__ void late_write_ok(int *out) { arrives<true>(out); }

/* Each half of a warp synchronises separately. */
template <bool ALL> __device__ static void halves_meet(int *out)
{
    __shared__ int tile[32];
    tile[threadIdx.x] = threadIdx.x;
    if (ALL)
        __syncwarp();
    else if (threadIdx.x < 16)
        __syncwarp(0xffff);
    else
        __syncwarp(0xffff0000);
    out[threadIdx.x] = tile[threadIdx.x ^ 16];
}

extern "C" __global__ void halves(int *out) { halves_meet<false>(out); }
extern "C" __global__ void halves_ok(int *out) { halves_meet<true>(out); }

/* A ticket lock that is released without a fence. */
template <bool FENCE> __device__ static void serve(int *out, unsigned *ticket)
{
    if (threadIdx.x) return;
    const unsigned mine = atomicAdd(ticket, 1);
    while (atomicAdd(ticket + 1, 0) != mine) {}
    __threadfence();
    *out += 1;
    if (FENCE) __threadfence();
    atomicAdd(ticket + 1, 1);
}

extern "C" __global__ void tickets(int *out, unsigned *ticket) { serve<false>(out, ticket); }
extern "C" __global__ void tickets_ok(int *out, unsigned *ticket) { serve<true>(out, ticket); }

/* Decoupled look-back: a block polls the flags of its predecessors, and adds up their sums. */
template <bool ACQUIRE> __device__ static void look_back(int *out, int *sum, int *flag)
{
    int before = 0, there;
    if (threadIdx.x) return;
    sum[blockIdx.x] = blockIdx.x + 1;
    asm volatile("st.release.gpu.global.u32 [%0], 1;" ::"l"(flag + blockIdx.x) : "memory");
    for (int k = (int)blockIdx.x - 1; k >= 0; k--) {
        do
            if (ACQUIRE)
                asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(flag + k) : "memory");
            else
                asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(there) : "l"(flag + k) : "memory");
        while (!there);
        before += sum[k];
    }
    out[blockIdx.x] = before + blockIdx.x + 1;
}

extern "C" __global__ void looks_back(int *out, int *sum, int *flag) { look_back<false>(out, sum, flag); }
extern "C" __global__ void looks_back_ok(int *out, int *sum, int *flag) { look_back<true>(out, sum, flag); }

/* Threads of one block push nodes, and another block reads the top node. */
template <bool FENCE> __device__ static void push(int *out, int *value, int *next, int *top)
{
    const int me = threadIdx.x + 1;
    if (blockIdx.x == 0) {
        int old = 0, was;
        value[me] = 10 + me;
        do {
            was = old;
            next[me] = was;
            if (FENCE) __threadfence();
        } while ((old = atomicCAS(top, was, me)) != was);
    } else if (threadIdx.x == 0) {
        int k;
        while ((k = atomicAdd(top, 0)) == 0) {}
        __threadfence();
        *out = value[k];
    }
}

extern "C" __global__ void pushed(int *out, int *value, int *next, int *top) { push<false>(out, value, next, top); }
extern "C" __global__ void pushed_ok(int *out, int *value, int *next, int *top) { push<true>(out, value, next, top); }

/* A queue slot that has been reserved is not filled yet. */
template <bool READY> __device__ static void fill(int *out, int *item, int *taken, int *ready)
{
    if (threadIdx.x) return;
    if (blockIdx.x == 0) {
        const int k = atomicAdd(taken, 1);
        item[k] = 100 + k;
        __threadfence();
        if (READY) atomicExch(ready + k, 1);
    } else {
        while (atomicAdd(READY ? ready : taken, 0) == 0) {}
        __threadfence();
        *out = item[0];
    }
}

extern "C" __global__ void taken(int *out, int *item, int *taken, int *ready) { fill<false>(out, item, taken, ready); }
extern "C" __global__ void taken_ok(int *out, int *item, int *taken, int *ready) { fill<true>(out, item, taken, ready); }

/* Two tiles are outstanding; the wait leaves one copy too many pending. */
template <int AHEAD> __device__ static void tiles_ahead(int *out, const int *in)
{
    __shared__ __align__(16) int tile[2][128];
    int sum = 0;
    for (int k = 0; k < 5; k++) {
        if (k < 4) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(at(&tile[k & 1][4 * threadIdx.x])), "l"(in + 128 * k + 4 * threadIdx.x) : "memory");
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (k == 0) continue;
        asm volatile("cp.async.wait_group %0;" ::"n"(AHEAD) : "memory");
        __syncwarp();
        sum += tile[(k - 1) & 1][127 - threadIdx.x];
        __syncwarp();
    }
    out[threadIdx.x] = sum;
}

extern "C" __global__ void ahead(int *out, const int *in) { tiles_ahead<2>(out, in); }
extern "C" __global__ void ahead_ok(int *out, const int *in) { tiles_ahead<1>(out, in); }

/* A block writes to the shared memory of the other one of its cluster, and arrives at its mbarrier. */
template <bool BEHIND> __device__ static void tell(int *out)
{
    __shared__ int tile[32];
    __shared__ unsigned long long bar;
    unsigned rank, far_tile, far_bar, done;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(at(&bar)) : "memory");
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_tile) : "r"(at(&tile[threadIdx.x])), "r"(rank ^ 1));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_bar) : "r"(at(&bar)), "r"(rank ^ 1));
    if (BEHIND) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far_tile), "r"(threadIdx.x) : "memory");
    asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(far_bar) : "memory");
    if (!BEHIND) asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(far_tile), "r"(threadIdx.x) : "memory");
    do
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&bar)) : "memory");
    while (!done);
    out[32 * blockIdx.x + threadIdx.x] = tile[31 - threadIdx.x];
    asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}

extern "C" __global__ void __cluster_dims__(2) told(int *out) { tell<false>(out); }
extern "C" __global__ void __cluster_dims__(2) told_ok(int *out) { tell<true>(out); }

/* The last steps of a sum as they were written when the lanes of a warp ran in lockstep. */
template <bool SYNC> __device__ static void warp_tree(int *out)
{
    __shared__ volatile int s[64];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x >= 32) return;
#pragma unroll
    for (int d = 32; d; d /= 2) {
        int v = s[threadIdx.x] + s[threadIdx.x + d];
        if (SYNC) __syncwarp();
        s[threadIdx.x] = v;
        if (SYNC) __syncwarp();
    }
    if (threadIdx.x == 0) *out = s[0];
}
extern "C" __global__ void lockstep(int *out) { warp_tree<false>(out); }
extern "C" __global__ void lockstep_ok(int *out) { warp_tree<true>(out); }

// Lane 0 clears the counter to which its warp adds.
template <bool SYNC> __device__ static void clear(int *n)
{
    if (threadIdx.x == 0) *n = 0;
    if (SYNC) __syncwarp();
    atomicAdd(n, 1);
}
extern "C" __global__ void cleared_beside(int *n) { clear<false>(n); }
extern "C" __global__ void cleared_beside_ok(int *n) { clear<true>(n); }

// Thread 0 arrives twice, so that the second phase completes without the last thread.
template <bool TWICE> __device__ static void arrive(int *out)
{
    __shared__ unsigned long long bar;
    __shared__ int s[64];
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 64;" ::"r"(at(&bar)) : "memory");
    __syncthreads();
    for (int k = 0; k < 2; k++) {
        unsigned done;
        s[threadIdx.x] = k;
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(&bar)) : "memory");
        if (TWICE && k == 0 && threadIdx.x == 0) asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(&bar)) : "memory");
        do
            asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(&bar)), "r"(k) : "memory");
        while (!done);
        if (k) out[threadIdx.x] = s[63 - threadIdx.x];
    }
}
extern "C" __global__ void arrived_twice(int *out) { arrive<true>(out); }
extern "C" __global__ void arrived_twice_ok(int *out) { arrive<false>(out); }

// A warp writes and ends: the end of a thread is no arrival at the barrier of the others.
template <bool SYNC> __device__ static void end_early(int *out)
{
    __shared__ int s[64];
    s[threadIdx.x] = threadIdx.x;
    if (SYNC) __syncthreads();
    if (threadIdx.x >= 32) return;
    __syncthreads();
    out[threadIdx.x] = s[63 - threadIdx.x];
}
extern "C" __global__ void exited(int *out) { end_early<false>(out); }
extern "C" __global__ void exited_ok(int *out) { end_early<true>(out); }

// The same within a warp.
template <bool SYNC> __device__ static void lanes_end(int *out)
{
    __shared__ int s[32];
    s[threadIdx.x] = threadIdx.x;
    if (SYNC) __syncwarp();
    if (threadIdx.x >= 16) return;
    __syncwarp();
    __syncthreads();
    out[threadIdx.x] = s[31 - threadIdx.x];
}
extern "C" __global__ void lanes_exited(int *out) { lanes_end<false>(out); }
extern "C" __global__ void lanes_exited_ok(int *out) { lanes_end<true>(out); }

// Four warps take registers that no other warp has returned.
template <bool RETURN> __device__ static void take_registers(int *out)
{
    if (RETURN && threadIdx.x < 128) asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
    if (threadIdx.x >= 128 && threadIdx.x < 256) asm volatile("setmaxnreg.inc.sync.aligned.u32 184;");
    out[threadIdx.x] = 1;
}
extern "C" __global__ void __launch_bounds__(512, 1) registers_taken(int *out) { take_registers<false>(out); }
extern "C" __global__ void __launch_bounds__(512, 1) registers_taken_ok(int *out) { take_registers<true>(out); }

// A compare and swap that finds another value only reads.
template <int FOUND> __device__ static void peek(int *word, int *out)
{
    if (threadIdx.x < 32) out[threadIdx.x] = *word;
    else out[threadIdx.x] = atomicCAS(word, FOUND, 7);
}
extern "C" __global__ void peeked(int *word, int *out) { peek<0>(word, out); }
extern "C" __global__ void peeked_ok(int *word, int *out) { peek<5>(word, out); }

// The last lane reads what its warp has counted: only in one order of the lanes after all of them.
template <bool SYNC> __device__ static void reread(int *n, int *out)
{
    const int v = atomicAdd(n, threadIdx.x == 3 ? 2 : 1);
    if (SYNC) __syncwarp();
    if (threadIdx.x == 31) *out = v + *n;
}
extern "C" __global__ void last_lane(int *n, int *out) { reread<false>(n, out); }
extern "C" __global__ void last_lane_ok(int *n, int *out) { reread<true>(n, out); }

// A block of the heap that one warp has freed is the other's next: free happens before malloc.
template <bool OWN> __device__ static void use_block(int *out)
{
    __shared__ int *common;
    if (threadIdx.x == 0) common = (int *)malloc(sizeof *common);
    __syncthreads();
    int *p = OWN ? (int *)malloc(sizeof *p) : common;
    *p = threadIdx.x / 32;
    out[threadIdx.x] = *p;
    if (OWN) free(p);
    __syncthreads();
    if (threadIdx.x == 0) free(common);
}
extern "C" __global__ void block_shared(int *out) { use_block<false>(out); }
extern "C" __global__ void block_shared_ok(int *out) { use_block<true>(out); }
