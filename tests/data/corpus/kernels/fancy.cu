/* fancy.cu - clusters, bulk copies, scans over blocks, function pointers, recursion, chance, and many or few threads. */
#include <cooperative_groups.h>
#include <cstdint>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;
//! cluster_extent 48 128 | f32:24576:-9:9 | out f32:24
// The least and the greatest of four blocks' numbers: each block reads the others' shared memory.
K __cluster_dims__(4, 1, 1) cluster_extent(const float4 *in, float2 *out)
{
    __shared__ float2 part[4];
    auto cluster = cg::this_cluster();
    float4 v = in[blockIdx.x * 128 + threadIdx.x];
    float lo = fminf(fminf(v.x, v.y), fminf(v.z, v.w)), hi = fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w));
    for (int d = 16; d; d >>= 1) {
        lo = fminf(lo, __shfl_xor_sync(~0u, lo, d));
        hi = fmaxf(hi, __shfl_xor_sync(~0u, hi, d));
    }
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = make_float2(lo, hi);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x < 16) {
        float2 p = cluster.map_shared_rank(part, threadIdx.x / 4)[threadIdx.x % 4];
        for (int d = 8; d; d >>= 1) {
            p.x = fminf(p.x, __shfl_xor_sync(0xffff, p.x, d));
            p.y = fmaxf(p.y, __shfl_xor_sync(0xffff, p.y, d));
        }
        if (threadIdx.x == 0) out[blockIdx.x / 4] = p;
    }
    cluster.sync();
}
//! cluster_exchange 64 256 | u32:65536 | out u32:65536
// Two blocks of a cluster give each other the half of their tile that belongs to the other's columns.
K __cluster_dims__(2, 1, 1) cluster_exchange(const unsigned *in, unsigned *out)
{
    __shared__ unsigned tile[32][33];
    auto cluster = cg::this_cluster();
    const int x = threadIdx.x % 32, y = threadIdx.x / 32, rank = cluster.block_rank();
    cluster.sync(); /* the other block must have begun before its shared memory is written */
    for (int k = 0; k < 32; k += 8) {
        int to = x / 16;
        unsigned *far = cluster.map_shared_rank(&tile[0][0], to);
        far[(rank * 16 + x % 16) * 33 + y + k] = in[blockIdx.x * 1024 + (y + k) * 32 + x];
    }
    cluster.sync();
    for (int k = 0; k < 32; k += 8) out[blockIdx.x * 1024 + (y + k) * 32 + x] = tile[y + k][x];
}
//! cluster_prefix 64 64 | s32:16384:-50:51 | out s32:16384
// Running sums over eight blocks: each adds the totals of those before it.
K __cluster_dims__(8, 1, 1) cluster_prefix(const int4 *in, int4 *out)
{
    __shared__ int warp[2], total;
    auto cluster = cg::this_cluster();
    int t = threadIdx.x, lane = t & 31;
    int4 v = in[blockIdx.x * 64 + t];
    v.y += v.x, v.z += v.y, v.w += v.z;
    int s = v.w;
    for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(~0u, s, d);
        if (lane >= d) s += o;
    }
    if (lane == 31) warp[t / 32] = s;
    __syncthreads();
    if (t == 0) total = warp[0] + warp[1];
    int before = s - v.w + (t >= 32 ? warp[0] : 0);
    cluster.sync();
    for (unsigned r = 0; r < cluster.block_rank(); r++) before += *cluster.map_shared_rank(&total, r);
    out[blockIdx.x * 64 + t] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
    cluster.sync();
}
static __device__ uint32_t shared_address(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
static __device__ void bulk_load(void *to, const void *from, uint32_t bytes, uint64_t *bar)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(bar)), "r"(bytes) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(__cvta_generic_to_global(from)), "r"(bytes), "r"(shared_address(bar))
                 : "memory");
}
static __device__ void bulk_wait(uint64_t *bar, uint32_t phase)
{
    asm volatile("{ .reg .pred p; again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1; @!p bra again; }" ::"r"(shared_address(bar)), "r"(phase)
                 : "memory");
}
//! bulk_reverse 66 128 | u32:135168 | out u32:135168
// Eight kilobytes come in one bulk copy, are turned round in place, and leave in one.
K bulk_reverse(const uint32_t *in, uint32_t *out)
{
    __shared__ __align__(128) uint32_t s[2048];
    __shared__ uint64_t bar;
    int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar)));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        bulk_load(s, in + blockIdx.x * 2048, 8192, &bar);
    }
    __syncthreads();
    bulk_wait(&bar, 0);
    for (int i = t; i < 1024; i += 128) {
        uint32_t a = s[i], b = s[2047 - i];
        s[i] = b;
        s[2047 - i] = a;
    }
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 8192;" ::"l"(__cvta_generic_to_global(out + blockIdx.x * 2048)),
                     "r"(shared_address(s))
                     : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
}
//! bulk_rows_dot 32 96 | f32:196608:-1:1 | f32:384:-1:1 | out f32:512
// Sixteen rows of 384 a block through a ring of three buffers, each multiplied by the vector in registers.
K bulk_rows_dot(const float *a, const float *x, float *y)
{
    __shared__ __align__(128) float s[3][384];
    __shared__ uint64_t bar[3];
    __shared__ float part[2][3];
    int t = threadIdx.x;
    const float *mine = a + blockIdx.x * 16 * 384;
    float4 v = ((const float4 *)x)[t];
    if (t == 0) {
        for (int k = 0; k < 3; k++) asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&bar[k])));
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        for (int k = 0; k < 3; k++) bulk_load(s[k], mine + k * 384, 1536, &bar[k]);
    }
    __syncthreads();
    for (int r = 0, slot = 0, phase = 0; r < 16; r++) {
        bulk_wait(&bar[slot], phase);
        float4 u = *(const float4 *)&s[slot][t * 4];
        float d = u.x * v.x + u.y * v.y + u.z * v.z + u.w * v.w;
        for (int k = 16; k; k >>= 1) d += __shfl_xor_sync(~0u, d, k);
        if (t % 32 == 0) part[r & 1][t / 32] = d;
        __syncthreads();
        if (t == 0) {
            if (r + 3 < 16) bulk_load(s[slot], mine + (r + 3) * 384, 1536, &bar[slot]);
            y[blockIdx.x * 16 + r] = part[r & 1][0] + part[r & 1][1] + part[r & 1][2];
        }
        if (++slot == 3) slot = 0, phase ^= 1;
    }
}
//! running_maximum 80 128 | s32:40960 | out s32:40960 | zero u64:80 | zero u32:1
// One pass over all blocks: tickets give the order, a block waits for the maximum before it.
K running_maximum(const int4 *in, int4 *out, volatile unsigned long long *carry, unsigned *ticket)
{
    __shared__ int warp[4], before;
    __shared__ unsigned block;
    const int t = threadIdx.x, lane = t & 31;
    if (t == 0) block = atomicAdd(ticket, 1u);
    __syncthreads();
    int4 v = in[block * 128 + t];
    v.y = max(v.x, v.y), v.z = max(v.y, v.z), v.w = max(v.z, v.w);
    int s = v.w;
    for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(~0u, s, d);
        if (lane >= d) s = max(s, o);
    }
    if (lane == 31) warp[t / 32] = s;
    __syncthreads();
    if (t == 0) {
        int all = max(max(warp[0], warp[1]), max(warp[2], warp[3])), b = INT32_MIN;
        if (block) {
            unsigned long long c;
            while (!((c = carry[block - 1]) >> 32)) {}
            b = (int)(unsigned)c;
        }
        carry[block] = 1ull << 32 | (unsigned)max(all, b);
        before = b;
    }
    int p = __shfl_up_sync(~0u, s, 1);
    __syncthreads();
    if (lane == 0) p = before;
    p = max(p, before);
    for (int w = 0; w < t / 32; w++) p = max(p, warp[w]);
    out[block * 128 + t] = make_int4(max(v.x, p), max(v.y, p), max(v.z, p), max(v.w, p));
}
//! flagged_sums 16 512 | f32:16384:0:1 | u8:16384:0:12 | out f32:16384
// A segmented scan: sums begin anew where the flag is zero; two tiles of 512 a block.
K flagged_sums(const float *in, const uint8_t *flag, float *out)
{
    __shared__ float ws[16];
    __shared__ int wf[16];
    const int t = threadIdx.x, lane = t & 31, w = t / 32;
    float carry = 0;
    for (int k = 0; k < 2; k++) {
        int i = (blockIdx.x * 2 + k) * 512 + t, f = flag[i] == 0;
        float v = in[i];
        for (int d = 1; d < 32; d *= 2) {
            float ov = __shfl_up_sync(~0u, v, d);
            int of = __shfl_up_sync(~0u, f, d);
            if (lane >= d) {
                if (!f) v += ov;
                f |= of;
            }
        }
        if (lane == 31) ws[w] = v, wf[w] = f;
        __syncthreads();
        float add = carry, all = carry;
        for (int j = 0; j < 16; j++) {
            if (j == w) add = all;
            all = wf[j] ? ws[j] : all + ws[j];
        }
        out[i] = f ? v : v + add;
        carry = all;
        __syncthreads();
    }
}
//! key_totals 24 192 | u32:4608:0:4 | u32:4608 | out u64:4608
// Neighbouring lanes with the same key: the first of a run writes the sum of the run.
K key_totals(const unsigned *key, const unsigned *value, unsigned long long *total)
{
    const unsigned i = blockIdx.x * 192 + threadIdx.x, lane = threadIdx.x & 31, k = key[i];
    unsigned before = __shfl_up_sync(~0u, k, 1), heads = __ballot_sync(~0u, before != k) | 1;
    unsigned long long v = value[i];
    unsigned after = lane == 31 ? 0 : heads >> (lane + 1), left = after ? __ffs(after) - 1 : 31 - lane;
    for (unsigned d = 1; d < 32; d *= 2) {
        unsigned long long o = __shfl_down_sync(~0u, v, d);
        if (left >= d) v += o;
    }
    if (heads >> lane & 1) total[i] = v;
}
typedef float (*Curve)(float, float);
static __device__ float curve_a(float x, float p) { return x * p + 1; }
static __device__ float curve_b(float x, float p) { return __sinf(x) * p; }
static __device__ float curve_c(float x, float p) { return x > p ? sqrtf(x - p) : x; }
static __device__ float curve_d(float x, float p) { return x / (1 + fabsf(p * x)); }
static __device__ Curve curves[4] = {curve_a, curve_b, curve_c, curve_d};
//! curve_chain 32 128 | u32:4096 | f32:4096:-1:1 | out f32:4096 | s s32 6
// A program of calls through a table: two bits choose the next function, for half of the warps the same in all lanes.
K curve_chain(const unsigned *program, const float *x, float *y, int n)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    unsigned p = program[t & 32 ? t & ~31 : t];
    float v = x[t];
    for (int k = 0; k < n; k++, p >>= 2) v = curves[p & 3](v, 0.3f + 0.1f * k);
    y[t] = v;
}
//! simpson_halving 16 64 | f64:2048:0:3 | out f64:1024
// Adaptive integration by recursion, to a depth of three.
static __device__ double bump(double x) { return 1 / (0.01 + (x - 1) * (x - 1)); }
static __device__ __noinline__ double simpson(double a, double fa, double m, double fm, double b, double fb, double whole, int depth)
{
    double l = (a + m) / 2, r = (m + b) / 2, fl = bump(l), fr = bump(r);
    double left = (m - a) / 6 * (fa + 4 * fl + fm), right = (b - m) / 6 * (fm + 4 * fr + fb), d = left + right - whole;
    if (depth == 0 || fabs(d) < 1e-7) return left + right + d / 15;
    return simpson(a, fa, l, fl, m, fm, left, depth - 1) + simpson(m, fm, r, fr, b, fb, right, depth - 1);
}
K simpson_halving(const double2 *range, double *area)
{
    int t = blockIdx.x * 64 + threadIdx.x;
    double a = range[t].x, b = a + 0.5 * range[t].y, m = (a + b) / 2, fa = bump(a), fm = bump(m), fb = bump(b);
    area[t] = simpson(a, fa, m, fm, b, fb, (b - a) / 6 * (fa + 4 * fm + fb), 3);
}
//! ising_sweeps 20 256 | u32:5120:1:4000000000 | out s8:20480 | out s32:20
// 32 x 32 spins that wrap, sixteen half sweeps of Metropolis, two spins of a colour a thread.
K ising_sweeps(const unsigned *seed, signed char *spin, int *sum)
{
    __shared__ signed char s[32][32];
    __shared__ int m;
    int t = threadIdx.x;
    unsigned r = seed[blockIdx.x * 256 + t];
    if (t == 0) m = 0;
    for (int k = 0; k < 4; k++) s[t / 8][t % 8 * 4 + k] = r >> (8 * k + 3) & 1 ? 1 : -1;
    for (int sweep = 0; sweep < 16; sweep++) {
        __syncthreads();
        for (int k = 0; k < 2; k++) {
            int y = t / 16 + 16 * k, x = t % 16 * 2 + ((y + sweep) & 1);
            int e = s[y][x] * (s[y][(x + 1) & 31] + s[y][(x + 31) & 31] + s[(y + 1) & 31][x] + s[(y + 31) & 31][x]);
            r ^= r << 13, r ^= r >> 17, r ^= r << 5;
            if (e <= 0 || r < (e == 2 ? 707000000u : 116400000u)) s[y][x] = -s[y][x];
        }
    }
    __syncthreads();
    int mine = 0;
    for (int k = 0; k < 4; k++) mine += spin[blockIdx.x * 1024 + k * 256 + t] = s[t / 32 + 8 * k][t % 32];
    atomicAdd(&m, mine);
    __syncthreads();
    if (t == 0) sum[blockIdx.x] = m;
}
//! asian_paths 32 96 | out f32:3072 | s f32 100 | s f32 98 | s s32 24
// The mean along a path of 24 steps, a multiply-with-carry generator and the method of Box and Muller.
K asian_paths(float *pay, float price, float strike, int steps)
{
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x, z = 362436069u ^ t * 2654435761u, w = 521288629u + t;
    float s = price, sum = 0, spare = 0;
    for (int i = 0; i < steps; i++) {
        float g = spare;
        if (!(i & 1)) {
            z = 36969 * (z & 65535) + (z >> 16);
            w = 18000 * (w & 65535) + (w >> 16);
            float u = ((z << 16) + (w & 65535) + 0.5f) * 2.3283064e-10f, v = (w << 16 ^ z) * 2.3283064e-10f, r = sqrtf(-2 * logf(u)), sn, cs;
            sincospif(2 * v, &sn, &cs);
            g = r * cs;
            spare = r * sn;
        }
        s *= __expf(0.0003f + 0.04f * g);
        sum += s;
    }
    pay[t] = fmaxf(sum / steps - strike, 0.0f);
}
//! sphere_walks 24 64 | f32:3072:-0.6:0.6 | out f32:1536 | out u32:1536
// Laplace's equation in a square by jumps to the border of the greatest circle that fits, four walks a thread.
K sphere_walks(const float2 *start, float *value, unsigned *jumps)
{
    unsigned t = blockIdx.x * 64 + threadIdx.x, r = t * 747796405u + 2891336453u, n = 0;
    float sum = 0;
    for (int k = 0; k < 4; k++) {
        float2 p = start[t];
        for (int j = 0; j < 64; j++, n++) {
            float d = fminf(1 - fabsf(p.x), 1 - fabsf(p.y));
            if (d < 0.01f) break;
            r = r * 747796405u + 2891336453u;
            unsigned x = ((r >> ((r >> 28) + 4)) ^ r) * 277803737u;
            float sn, cs;
            __sincosf((x >> 8) * 3.7450704e-7f, &sn, &cs);
            p.x += d * cs;
            p.y += d * sn;
        }
        sum += p.x * p.x - p.y * p.y;
    }
    value[t] = sum / 4;
    jumps[t] = n;
}
//! dot_volatile 40 256 | f32:40960:-1:1 | f32:40960:-1:1 | out f64:40
// The reduction of old textbooks: volatile shared memory within the last warp.
K dot_volatile(const float *a, const float *b, double *out)
{
    __shared__ volatile double s[256];
    unsigned t = threadIdx.x, i = blockIdx.x * 1024 + t;
    s[t] = (double)a[i] * b[i] + (double)a[i + 256] * b[i + 256] + (double)a[i + 512] * b[i + 512] + (double)a[i + 768] * b[i + 768];
    __syncthreads();
    for (unsigned d = 128; d > 32; d >>= 1) {
        if (t < d) s[t] += s[t + d];
        __syncthreads();
    }
    if (t < 32)
        for (unsigned d = 32; d; d >>= 1) {
            double v = s[t + d];
            __syncwarp();
            s[t] += v;
            __syncwarp();
        }
    if (t == 0) out[blockIdx.x] = s[0];
}
//! lane_statistics 44 224 | s32:9856:-1000:1000 | out s32:1540
// Least, greatest, sum and parity of each warp, and which lane holds the greatest.
K lane_statistics(const int *in, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = in[i], w = i / 32;
    int lo = __reduce_min_sync(~0u, v), hi = __reduce_max_sync(~0u, v), sum = __reduce_add_sync(~0u, v);
    unsigned even = __reduce_xor_sync(~0u, (unsigned)v), who = __ballot_sync(~0u, v == hi);
    unsigned positive = __ballot_sync(~0u, v > 0);
    int all = 0;
    if (v > 0) all = __popc(__match_any_sync(positive, v & 3));
    if ((threadIdx.x & 31) == 0) {
        out[w * 5] = lo;
        out[w * 5 + 1] = hi;
        out[w * 5 + 2] = sum;
        out[w * 5 + 3] = (int)even;
        out[w * 5 + 4] = __ffs(who) * 100 + all;
    }
}
//! centre_rows 2400 64 | f32:230400:-1:1 | out f32:230400
// Thousands of small blocks: a row of 96 less its mean.
K centre_rows(const float *in, float *out)
{
    __shared__ float part[2];
    int t = threadIdx.x, base = blockIdx.x * 96;
    float a = in[base + t], b = t < 32 ? in[base + 64 + t] : 0, s = a + b;
    for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
    if (t % 32 == 0) part[t / 32] = s;
    __syncthreads();
    s = (part[0] + part[1]) / 96;
    out[base + t] = a - s;
    if (t < 32) out[base + 64 + t] = b - s;
}
//! series_products 20 64 | f64:20480:-1:1 | f64:16:-1:1 | out f64:20480
// Products of power series of sixteen terms in registers, many of them.
K __launch_bounds__(64) series_products(const double *in, const double *by, double *out)
{
    int t = blockIdx.x * 64 + threadIdx.x, n = gridDim.x * 64;
    double a[16], b[16], c[16];
#pragma unroll
    for (int i = 0; i < 16; i++) a[i] = in[i * n + t], b[i] = by[i];
#pragma unroll 1
    for (int k = 0; k < 4; k++) {
#pragma unroll
        for (int i = 0; i < 16; i++) {
            c[i] = 0;
#pragma unroll
            for (int j = 0; j <= i; j++) c[i] = fma(a[j], b[i - j], c[i]);
        }
#pragma unroll
        for (int i = 0; i < 16; i++) a[i] = c[i] * 0.5;
    }
#pragma unroll
    for (int i = 0; i < 16; i++) out[i * n + t] = a[i];
}
//! local_modes 36 96 | u8:110592 | out u8:3456 | out u8:3456
// The commonest of 32 small numbers: sixteen counts in a local array.
K local_modes(const uint8_t *in, uint8_t *mode, uint8_t *times)
{
    int t = blockIdx.x * 96 + threadIdx.x, n[16] = {}, best = 0;
    const uchar4 *p = (const uchar4 *)in + t * 8;
    for (int k = 0; k < 8; k++) {
        uchar4 v = p[k];
        n[v.x >> 4]++, n[v.y >> 4]++, n[v.z >> 4]++, n[v.w >> 4]++;
    }
    for (int k = 1; k < 16; k++)
        if (n[k] > n[best]) best = k;
    mode[t] = (uint8_t)best;
    times[t] = (uint8_t)n[best];
}
//! list_members 8 1024 4096 | u32:2048 | out u32:65536 | out u32:8
// The places of the ones among 8,192 bits a block, in order: a count of bits a thread, a scan in dynamic shared memory.
K list_members(const unsigned *bits, unsigned *member, unsigned *count)
{
    extern __shared__ unsigned n[];
    unsigned t = threadIdx.x, w = bits[blockIdx.x * 256 + t / 4] >> (t & 3) * 8 & 255, c = __popc(w);
    n[t] = c;
    for (unsigned d = 1; d < 1024; d *= 2) {
        __syncthreads();
        unsigned o = t >= d ? n[t - d] : 0;
        __syncthreads();
        n[t] += o;
    }
    unsigned at = blockIdx.x * 8192 + n[t] - c;
    for (; w; w &= w - 1) member[at++] = t * 8 + __ffs(w) - 1;
    if (t == 1023) count[blockIdx.x] = n[t];
}
