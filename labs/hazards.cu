// hazards.cu - bugs that a correct result can mask, and their fixes: NAME is wrong, NAME_ok is fixed. Run with --check all.
#define K extern "C" __global__ void

// Thread 0 sums the values that all threads of its block have stored in shared memory, in each iteration.
template <bool behind_write, bool behind_read> __device__ void sums(const int *in, int *out, int rounds)
{
    __shared__ int value[128];
    int sum = 0;
    for (int r = 0; r < rounds; r++) {
        value[threadIdx.x] = in[(blockIdx.x * rounds + r) * blockDim.x + threadIdx.x];
        if (behind_write) __syncthreads();
        if (threadIdx.x == 0)
            for (int k = 0; k < blockDim.x; k++) sum += value[k];
        if (behind_read) __syncthreads();
    }
    if (threadIdx.x == 0) out[blockIdx.x] = sum;
}
K sums_without(const int *in, int *out, int rounds) { sums<false, false>(in, out, rounds); }
K sums_one(const int *in, int *out, int rounds) { sums<true, false>(in, out, rounds); }
K sums_ok(const int *in, int *out, int rounds) { sums<true, true>(in, out, rounds); }

// The last block accesses elements past the end.
K add_one(int *x, int n) { x[blockIdx.x * blockDim.x + threadIdx.x] += 1; }
K add_one_ok(int *x, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] += 1;
}

// Blocks add to a counter with block scope.
K in_block(int *count) { atomicAdd_block(count, 1); }
K in_block_ok(int *count) { atomicAdd(count, 1); }

// The largest element: the initial maximum is uninitialised.
K largest(const int *in, int *out)
{
    __shared__ int most;
    __syncthreads();
    atomicMax(&most, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = most;
}
K largest_ok(const int *in, int *out)
{
    __shared__ int most;
    if (threadIdx.x == 0) most = in[0];
    __syncthreads();
    atomicMax(&most, in[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) *out = most;
}

// A sum of 16 lanes with a mask of eight.
K sum_of_lanes(int *x)
{
    int v = x[threadIdx.x];
    for (int d = 8; d; d /= 2) v += __shfl_down_sync(0x00ff, v, d, 16);
    if (threadIdx.x == 0) x[0] = v;
}
K sum_of_lanes_ok(int *x)
{
    int v = x[threadIdx.x];
    for (int d = 8; d; d /= 2) v += __shfl_down_sync(0xffff, v, d, 16);
    if (threadIdx.x == 0) x[0] = v;
}


// ---- one pair for each other kind of finding ----

__device__ static unsigned at(const void *p) { return (unsigned)__cvta_generic_to_shared(p); }

// race-war: lanes shift an array to the left. A neighbour may write before the lane has read.
K shift_left(int *x)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    v[t] = x[t];
    __syncwarp();
    int next = v[(t + 1) % 32];
    v[t] = next;
    x[t] = v[t];
}
K shift_left_ok(int *x)
{
    __shared__ int v[32];
    int t = threadIdx.x;
    v[t] = x[t];
    __syncwarp();
    int next = v[(t + 1) % 32];
    __syncwarp();
    v[t] = next;
    x[t] = v[t];
}

// race-waw: all threads that find the value write its position; the last write wins.
K find(const int *x, int wanted, int *where)
{
    if (x[threadIdx.x] % 8 == wanted) *where = threadIdx.x;
}
K find_ok(const int *x, int wanted, int *where)
{
    if (x[threadIdx.x] % 8 == wanted) atomicMin(where, threadIdx.x);
}

// race-same-value: a flag set by many threads.
K any_negative(const int *x, int *flag)
{
    if (x[threadIdx.x] < 20) *flag = 1;
}
K any_negative_ok(const int *x, int *flag)
{
    int any = __syncthreads_or(x[threadIdx.x] < 20);
    if (threadIdx.x == 0) *flag = any;
}

// race-mixed: the counter is incremented by atomics and read by a plain load.
K count_and_look(int *count, int *seen)
{
    atomicAdd(count, 1);
    if (threadIdx.x == 0) *seen = *count;
}
K count_and_look_ok(int *count, int *seen)
{
    atomicAdd(count, 1);
    __syncthreads();
    if (threadIdx.x == 0) *seen = *count;
}

// race-volatile: volatile guarantees the access, not its order.
K last_warp(volatile int *who)
{
    if (threadIdx.x % 32 == 0) *who = threadIdx.x / 32;
}
K last_warp_ok(int *who)
{
    if (threadIdx.x % 32 == 0) atomicMax(who, threadIdx.x / 32);
}

// race-async: the copy is in flight, and the barrier does not wait for it.
__device__ static void start_copy(int *to, const int *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.commit_group;" ::"r"(at(to)), "l"(from) : "memory");
}
K fetch_ahead(const int *in, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    start_copy(tile + t, in + t);
    __syncthreads();
    out[t] = tile[63 - t];
}
K fetch_ahead_ok(const int *in, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    start_copy(tile + t, in + t);
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    out[t] = tile[63 - t];
}

// race-proxy: the copy engine accesses memory through another proxy.
__device__ static void copy_tile(int *to, const int *tile)
{
    if (threadIdx.x) return;
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 256;" ::"l"(to), "r"(at(tile)) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}
K send_tile(int *out)
{
    __shared__ __align__(128) int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    copy_tile(out, tile);
}
K send_tile_ok(int *out)
{
    __shared__ __align__(128) int tile[64];
    tile[threadIdx.x] = threadIdx.x;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    copy_tile(out, tile);
}

// race-cluster: the neighbour block may have ended.
__device__ static void meet_cluster() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
__device__ static void give_neighbour(int *v)
{
    unsigned rank, there;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(v)), "r"(rank ^ 1));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there), "r"(rank) : "memory");
}
K __cluster_dims__(2, 1, 1) greet(int *out)
{
    __shared__ int v[32];
    meet_cluster();
    give_neighbour(v + threadIdx.x);
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}
K __cluster_dims__(2, 1, 1) greet_ok(int *out)
{
    __shared__ int v[32];
    meet_cluster();
    give_neighbour(v + threadIdx.x);
    meet_cluster();
    out[blockIdx.x * 32 + threadIdx.x] = v[threadIdx.x];
}

// mem-misaligned: a vector of four numbers at an arbitrary index.
K by_four(const float *x, float4 *y) { y[threadIdx.x] = *(const float4 *)(x + 1 + threadIdx.x); }
K by_four_ok(const float *x, float4 *y)
{
    const float *p = x + 1 + threadIdx.x;
    y[threadIdx.x] = make_float4(p[0], p[1], p[2], p[3]);
}

// mem-freed and mem-leak: heap memory that is freed too early, or never.
K too_early(int *out)
{
    int *p = (int *)malloc(8);
    p[1] = 7;
    free(p);
    out[threadIdx.x] = p[1];
}
K too_early_ok(int *out)
{
    int *p = (int *)malloc(8);
    p[1] = 7;
    out[threadIdx.x] = p[1];
    free(p);
}
K never_given_back(int *out)
{
    int *p = (int *)malloc(8);
    p[1] = 7;
    out[threadIdx.x] = p[1];
}
K never_given_back_ok(int *out)
{
    int p[2];
    p[1] = 7;
    out[threadIdx.x] = p[1];
}

// init-branch: the limit is compared before it is initialised.
extern __shared__ int limit[];
K above(const int *x, int *out)
{
    if (x[threadIdx.x] > limit[0]) out[threadIdx.x] = 1;
}
K above_ok(const int *x, int *out)
{
    if (threadIdx.x == 0) limit[0] = 5;
    __syncthreads();
    if (x[threadIdx.x] > limit[0]) out[threadIdx.x] = 1;
}

// init-address: some entries of the table of indices are uninitialised.
K by_table(int *out, int n)
{
    __shared__ int place[32];
    int t = threadIdx.x;
    if (t < n) place[t] = 31 - t;
    __syncthreads();
    out[place[t]] = t;
}
K by_table_ok(int *out, int n)
{
    __shared__ int place[32];
    int t = threadIdx.x;
    if (t < n) place[t] = 31 - t;
    __syncthreads();
    if (t < n) out[place[t]] = t;
}

// init-output: the end of the tile is uninitialised.
K reversed(const int *x, int *out, int n)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    if (t < n) tile[t] = x[t];
    __syncthreads();
    out[t] = tile[31 - t];
}
K reversed_ok(const int *x, int *out, int n)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    tile[t] = t < n ? x[t] : 0;
    __syncthreads();
    out[t] = tile[31 - t];
}

// sync-barrier: two roles with different thread counts for one barrier.
K two_roles(int *x)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory");
    else
        asm volatile("bar.sync 1, 96;" ::: "memory");
    x[threadIdx.x] = 1;
}
K two_roles_ok(int *x)
{
    asm volatile("bar.sync 1, 64;" ::: "memory");
    x[threadIdx.x] = 1;
}

// sync-divergent: each half of the block has a __syncthreads() of its own.
K two_ways(int *x)
{
    if (threadIdx.x < 32) {
        x[threadIdx.x] += 1;
        __syncthreads();
    } else {
        __syncthreads();
        x[threadIdx.x] += x[threadIdx.x - 32];
    }
}
K two_ways_ok(int *x)
{
    if (threadIdx.x < 32) x[threadIdx.x] += 1;
    __syncthreads();
    if (threadIdx.x >= 32) x[threadIdx.x] += x[threadIdx.x - 32];
}

// sync-shuffle: the value of a lane that has exited is undefined.
K halves(int *x)
{
    int v = x[threadIdx.x];
    if (threadIdx.x >= 16) return;
    x[threadIdx.x] = v + __shfl_down_sync(0xffff, v, 8);
}
K halves_ok(int *x)
{
    int v = x[threadIdx.x];
    if (threadIdx.x >= 16) return;
    x[threadIdx.x] = v + __shfl_down_sync(0xffff, v, 8, 16);
}

// sync-mbarrier: the barrier object is not initialised by mbarrier.init.
__device__ static void arrive(unsigned long long *bar) { asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at(bar)) : "memory"); }
K uncounted(int *x)
{
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        bar = 0x7fffff0000000000ull;
        arrive(&bar);
    }
    x[threadIdx.x] = 1;
}
K uncounted_ok(int *x)
{
    __shared__ unsigned long long bar;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(&bar)) : "memory");
        arrive(&bar);
    }
    x[threadIdx.x] = 1;
}

// sync-wgmma: the product of matrices of ones is still in flight when its sum is stored.
__device__ static void multiply(float d[4], unsigned short *b)
{
    unsigned ones = 0x3c003c00; // two halves
    b[threadIdx.x] = 0x3c00;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    unsigned long long matrix = (at(b) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 0, 1, 1, 0;"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "r"(ones), "l"(matrix) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
K product(float *x)
{
    __shared__ __align__(128) unsigned short b[128];
    float d[4];
    multiply(d, b);
    x[threadIdx.x] = d[0];
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}
K product_ok(float *x)
{
    __shared__ __align__(128) unsigned short b[128];
    float d[4];
    multiply(d, b);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    x[threadIdx.x] = d[0];
}

// sync-wgmma-fence: the writes of the accumulator registers are not ordered before the first product.
template <bool fence> __device__ void product_from(float *x, unsigned short *b)
{
    unsigned ones = 0x3c003c00; // two halves
    float d[4] = {x[threadIdx.x]};
    b[threadIdx.x] = 0x3c00;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    unsigned long long matrix = (at(b) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32;
    if (fence) asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 1, 1, 1, 0;"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(ones), "l"(matrix) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    x[threadIdx.x] = d[0];
}
K added(float *x)
{
    __shared__ __align__(128) unsigned short b[128];
    product_from<false>(x, b);
}
K added_ok(float *x)
{
    __shared__ __align__(128) unsigned short b[128];
    product_from<true>(x, b);
}

// sync-wgmma-operand: matrix A is in registers, and the next one is loaded into them while the product is in flight.
template <bool wait> __device__ void products_of(float *x, unsigned short *b)
{
    float d[4] = {};
    b[threadIdx.x] = 0x3c00;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    unsigned long long matrix = (at(b) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32;
#pragma unroll 1
    for (int k = 0; k < 2; k++) {
        unsigned a = ((unsigned *)b)[threadIdx.x + k & 63];
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, {%4, %4, %4, %4}, %5, 1, 1, 1, 0;"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]) : "r"(a), "l"(matrix) : "memory");
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (wait) asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    }
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    x[threadIdx.x] = d[0];
}
K refilled(float *x)
{
    __shared__ __align__(128) unsigned short b[128];
    products_of<false>(x, b);
}
K refilled_ok(float *x)
{
    __shared__ __align__(128) unsigned short b[128];
    products_of<true>(x, b);
}

// deadlock-hang: the second warp never arrives.
K half_comes(int *x)
{
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 64;" ::: "memory");
    x[threadIdx.x] = 1;
}
K half_comes_ok(int *x)
{
    asm volatile("bar.sync 1, 64;" ::: "memory");
    x[threadIdx.x] = 1;
}
