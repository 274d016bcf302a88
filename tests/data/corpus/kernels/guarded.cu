/* guarded.cu - programs on blocks of values as a compiler for tensors writes them: vector accesses under a predicate, no branches. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cstdint>
#define K extern "C" __global__ void

__device__ __forceinline__ uint4 load4(const void *p, bool on, uint32_t other = 0)
{
    uint4 v;
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %5, 0;\nmov.u32 %0, %6;\nmov.u32 %1, %6;\nmov.u32 %2, %6;\nmov.u32 %3, %6;\n"
                 "@p ld.global.v4.b32 {%0, %1, %2, %3}, [%4 + 0];\n}"
                 : "=r"(v.x), "=r"(v.y), "=r"(v.z), "=r"(v.w)
                 : "l"(p), "r"((int)on), "r"(other));
    return v;
}

__device__ __forceinline__ uint32_t load1(const void *p, bool on, uint32_t other = 0)
{
    uint32_t v;
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\nmov.u32 %0, %3;\n@p ld.global.b32 {%0}, [%1 + 0];\n}" : "=r"(v) : "l"(p), "r"((int)on), "r"(other));
    return v;
}

__device__ __forceinline__ void store4(void *p, uint4 v, bool on)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %5, 0;\n@p st.global.v4.b32 [%0 + 0], {%1, %2, %3, %4};\n}" ::"l"(p), "r"(v.x), "r"(v.y), "r"(v.z), "r"(v.w), "r"((int)on) : "memory");
}

__device__ __forceinline__ void store1(void *p, uint32_t v, bool on)
{
    asm volatile("{\n.reg .pred p;\nsetp.ne.b32 p, %2, 0;\n@p st.global.b32 [%0 + 0], {%1};\n}" ::"l"(p), "r"(v), "r"((int)on) : "memory");
}

__device__ __forceinline__ float f(uint32_t x) { return __uint_as_float(x); }
__device__ __forceinline__ uint32_t u(float x) { return __float_as_uint(x); }

__device__ __forceinline__ float over_block(float x, float *room, bool largest)
{
    for (int m = 16; m; m >>= 1) {
        float o = __shfl_xor_sync(~0u, x, m);
        x = largest ? fmaxf(x, o) : x + o;
    }
    __syncthreads();
    if (threadIdx.x % 32 == 0) room[threadIdx.x / 32] = x;
    __syncthreads();
    x = room[threadIdx.x % 4];
    for (int m = 2; m; m >>= 1) {
        float o = __shfl_xor_sync(~0u, x, m);
        x = largest ? fmaxf(x, o) : x + o;
    }
    return x;
}

//! sum_of_vectors_masked 13 128 | f32:12345 | f32:12345 | out f32:12348 | s s32 12345
K sum_of_vectors_masked(const float *x, const float *y, float *out, int n)
{
    int base = blockIdx.x * 1024 + threadIdx.x * 4;
    bool on0 = base + 3 < n, on1 = base + 515 < n;
    uint4 a = load4(x + base, on0), b = load4(x + base + 512, on1), c = load4(y + base, on0), d = load4(y + base + 512, on1);
    store4(out + base, make_uint4(u(f(a.x) + f(c.x)), u(f(a.y) + f(c.y)), u(f(a.z) + f(c.z)), u(f(a.w) + f(c.w))), on0);
    store4(out + base + 512, make_uint4(u(f(b.x) + f(d.x)), u(f(b.y) + f(d.y)), u(f(b.z) + f(d.z)), u(f(b.w) + f(d.w))), on1);
}

//! softmax_of_padded_rows 64 128 | f32:49920:-4:4 | out f32:49920 | s s32 780 | s s32 780
extern "C" __global__ void __launch_bounds__(128) softmax_of_padded_rows(const float *in, float *out, int stride, int n)
{
    __shared__ float room[4];
    int c0 = threadIdx.x * 4, c1 = c0 + 512;
    const float *row = in + blockIdx.x * stride;
    bool on0 = c0 < n, on1 = c1 < n;
    uint4 a = load4(row + c0, on0, 0xff800000u), b = load4(row + c1, on1, 0xff800000u);
    float v[8] = {f(a.x), f(a.y), f(a.z), f(a.w), f(b.x), f(b.y), f(b.z), f(b.w)}, m = v[0], s = 0;
#pragma unroll
    for (int k = 1; k < 8; k++) m = fmaxf(m, v[k]);
    m = over_block(m, room, true);
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float t = (v[k] - m) * 1.44269504f;
        asm("ex2.approx.f32 %0, %1;" : "=f"(v[k]) : "f"(t));
        s += v[k];
    }
    s = over_block(s, room, false);
    float r[8];
#pragma unroll
    for (int k = 0; k < 8; k++) asm("div.full.f32 %0, %1, %2;" : "=f"(r[k]) : "f"(v[k]), "f"(s));
    float *to = out + blockIdx.x * stride;
    store4(to + c0, make_uint4(u(r[0]), u(r[1]), u(r[2]), u(r[3])), on0);
    store4(to + c1, make_uint4(u(r[4]), u(r[5]), u(r[6]), u(r[7])), on1);
}

//! rms_norm_of_bf16_padded 48 128 | bf16:46080:-2:2 | bf16:960:0.5:1.5 | out bf16:46080 | s s32 960 | s f32 0.00001
extern "C" __global__ void __launch_bounds__(128) rms_norm_of_bf16_padded(const __nv_bfloat16 *x, const __nv_bfloat16 *w, __nv_bfloat16 *y, int n, float eps)
{
    __shared__ float room[4];
    int c = threadIdx.x * 8;
    bool on = c < n;
    uint4 a = load4(x + blockIdx.x * n + c, on), g = load4(w + c, on);
    uint32_t pa[4] = {a.x, a.y, a.z, a.w}, pg[4] = {g.x, g.y, g.z, g.w}, po[4];
    float s = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float lo = f(pa[k] << 16), hi = f(pa[k] & 0xffff0000u);
        s += lo * lo + hi * hi;
    }
    s = rsqrtf(over_block(s, room, false) / (float)n + eps);
#pragma unroll
    for (int k = 0; k < 4; k++) {
        float lo = f(pa[k] << 16) * s * f(pg[k] << 16), hi = f(pa[k] & 0xffff0000u) * s * f(pg[k] & 0xffff0000u);
        asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(po[k]) : "f"(hi), "f"(lo));
    }
    store4(y + blockIdx.x * n + c, make_uint4(po[0], po[1], po[2], po[3]), on);
}

//! dropout_by_counter_masked 10 128 | f32:9999 | out f32:10000 | s s32 9999 | s u32 123 | s f32 0.4
K dropout_by_counter_masked(const float *x, float *y, int n, uint32_t seed, float p)
{
    int at = blockIdx.x * 1024 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        int i = at + k * 128;
        bool on = i < n;
        uint32_t c0 = i, c1 = 0, c2 = 0, c3 = 0, k0 = seed, k1 = 0;
#pragma unroll
        for (int r = 0; r < 10; r++) {
            uint32_t h0 = __umulhi(0xD2511F53u, c0), h1 = __umulhi(0xCD9E8D57u, c2), l0 = 0xD2511F53u * c0, l1 = 0xCD9E8D57u * c2;
            c0 = h1 ^ c1 ^ k0;
            c1 = l1;
            c2 = h0 ^ c3 ^ k1;
            c3 = l0;
            k0 += 0x9E3779B9u;
            k1 += 0xBB67AE85u;
        }
        int s = (int)c0;
        s = s < 0 ? -s - 1 : s;
        float rnd = (float)s * 4.6566127342e-10f;
        float v = f(load1(x + i, on));
        store1(y + i, u(rnd > p ? v / (1.0f - p) : 0.0f), on);
    }
}

//! block_product_cp_async 3,4 128 | f16:24576:-1:1 | f16:32768:-1:1 | out f16:49152 | s s32 192 | s s32 256 | s s32 128
// 64 by 64 a block, 32 deep, three stages of cp.async whose source size is zero behind the edge, ldmatrix and mma.
extern "C" __global__ void __launch_bounds__(128) block_product_cp_async(const __half *a, const __half *b, __half *c, int m, int n, int k)
{
    __shared__ __align__(128) __half sa[3][64 * 32], sb[3][32 * 64];
    int t = threadIdx.x, lane = t % 32, wm = t / 64 * 32, wn = t / 32 % 2 * 32, row0 = blockIdx.x * 64, col0 = blockIdx.y * 64;
    auto fetch = [&](int stage, int kk) {
#pragma unroll
        for (int q = 0; q < 2; q++) {
            int e = t + q * 128, r = e / 4, x = e % 4, sw = x ^ (r / 2 % 4);
            uint32_t to = (uint32_t)__cvta_generic_to_shared(&sa[stage][r * 32 + sw * 8]);
            asm volatile("cp.async.cg.shared.global [%0 + 0], [%1 + 0], 0x10, %2;" ::"r"(to), "l"(a + (row0 + r) * k + kk + x * 8), "r"(kk < k ? 16 : 0));
            int rb = e / 8, xb = e % 8, swb = xb ^ (rb % 8);
            to = (uint32_t)__cvta_generic_to_shared(&sb[stage][rb * 64 + swb * 8]);
            asm volatile("cp.async.cg.shared.global [%0 + 0], [%1 + 0], 0x10, %2;" ::"r"(to), "l"(b + (kk + rb) * n + col0 + xb * 8), "r"(kk < k ? 16 : 0));
        }
        asm volatile("cp.async.commit_group;");
    };
    float d[2][4][4] = {};
    fetch(0, 0);
    fetch(1, 32);
    int stage = 0;
    for (int kk = 0; kk < k; kk += 32) {
        asm volatile("cp.async.wait_group 0x1;" ::: "memory");
        __syncthreads();
        fetch((stage + 2) % 3, kk + 64 < k ? kk + 64 : k);
#pragma unroll
        for (int ks = 0; ks < 2; ks++) {
            uint32_t fa[2][4], fb[4][2];
#pragma unroll
            for (int i = 0; i < 2; i++) {
                int r = wm + i * 16 + lane % 16, x = ks * 2 + lane / 16;
                uint32_t at = (uint32_t)__cvta_generic_to_shared(&sa[stage][r * 32 + (x ^ (r / 2 % 4)) * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4 + 0];"
                             : "=r"(fa[i][0]), "=r"(fa[i][1]), "=r"(fa[i][2]), "=r"(fa[i][3])
                             : "r"(at)
                             : "memory");
            }
#pragma unroll
            for (int j = 0; j < 2; j++) {
                int r = ks * 16 + lane % 16, x = wn / 8 + j * 2 + lane / 16;
                uint32_t at = (uint32_t)__cvta_generic_to_shared(&sb[stage][r * 64 + (x ^ (r % 8)) * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4 + 0];"
                             : "=r"(fb[j * 2][0]), "=r"(fb[j * 2][1]), "=r"(fb[j * 2 + 1][0]), "=r"(fb[j * 2 + 1][1])
                             : "r"(at)
                             : "memory");
            }
#pragma unroll
            for (int i = 0; i < 2; i++)
#pragma unroll
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 { %0, %1, %2, %3 }, { %4, %5, %6, %7 }, { %8, %9 }, { %0, %1, %2, %3 };"
                                 : "+f"(d[i][j][0]), "+f"(d[i][j][1]), "+f"(d[i][j][2]), "+f"(d[i][j][3])
                                 : "r"(fa[i][0]), "r"(fa[i][1]), "r"(fa[i][2]), "r"(fa[i][3]), "r"(fb[j][0]), "r"(fb[j][1]));
        }
        stage = (stage + 1) % 3;
    }
#pragma unroll
    for (int i = 0; i < 2; i++)
#pragma unroll
        for (int j = 0; j < 4; j++) {
            int r = row0 + wm + i * 16 + lane / 4, x = col0 + wn + j * 8 + lane % 4 * 2;
            uint32_t lo, hi;
            asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(lo) : "f"(d[i][j][1]), "f"(d[i][j][0]));
            asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(hi) : "f"(d[i][j][3]), "f"(d[i][j][2]));
            store1(c + r * n + x, lo, r < m && x < n);
            store1(c + (r + 8) * n + x, hi, r + 8 < m && x < n);
        }
}

//! cumulated_rows_masked 40 128 | f32:20000:-1:1 | out f32:20000 | s s32 500
K cumulated_rows_masked(const float *x, float *y, int n)
{
    __shared__ float totals[4];
    int c = threadIdx.x * 4, lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    bool on = c < n;
    uint4 a = load4(x + blockIdx.x * n + c, on);
    float v0 = f(a.x), v1 = v0 + f(a.y), v2 = v1 + f(a.z), v3 = v2 + f(a.w), s = v3;
#pragma unroll
    for (int m = 1; m < 32; m <<= 1) {
        float o = __shfl_up_sync(~0u, s, m);
        s = lane >= m ? s + o : s;
    }
    float before = __shfl_up_sync(~0u, s, 1);
    before = lane == 0 ? 0.0f : before;
    if (lane == 31) totals[warp] = s;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 3; k++) before += k < warp ? totals[k] : 0.0f;
    store4(y + blockIdx.x * n + c, make_uint4(u(v0 + before), u(v1 + before), u(v2 + before), u(v3 + before)), on);
}

//! rows_gathered_and_weighted 60 128 | f32:65536:-1:1 | s32:960:0:128 | f32:960:0:1 | out f32:30720 | s s32 128 | s s32 512
K rows_gathered_and_weighted(const float *table, const int *rows, const float *weight, float *out, int count, int width)
{
    int c = threadIdx.x * 4;
    float s[4] = {0, 0, 0, 0};
    for (int k = 0; k < 16; k += 4) {
        int r[4];
        float w[4];
        uint4 v[4];
#pragma unroll
        for (int q = 0; q < 4; q++) {
            r[q] = (int)load1(rows + blockIdx.x * 16 + k + q, true);
            w[q] = f(load1(weight + blockIdx.x * 16 + k + q, true));
        }
#pragma unroll
        for (int q = 0; q < 4; q++) v[q] = load4(table + (int64_t)r[q] * width + c, r[q] < count && c < width);
#pragma unroll
        for (int q = 0; q < 4; q++) {
            s[0] += w[q] * f(v[q].x);
            s[1] += w[q] * f(v[q].y);
            s[2] += w[q] * f(v[q].z);
            s[3] += w[q] * f(v[q].w);
        }
    }
    store4(out + blockIdx.x * width + c, make_uint4(u(s[0]), u(s[1]), u(s[2]), u(s[3])), c < width);
}

//! arg_of_largest_masked 32 128 | f32:16000:-9:9 | out s32:32 | out f32:32 | s s32 500
K arg_of_largest_masked(const float *x, int *index, float *value, int n)
{
    __shared__ float rv[4];
    __shared__ int ri[4];
    int c = threadIdx.x;
    float best = -INFINITY;
    int at = 0;
#pragma unroll
    for (int k = 0; k < 4; k++) {
        int i = c + k * 128;
        float v = f(load1(x + blockIdx.x * n + i, i < n, 0xff800000u));
        bool g = v > best || (v == best && i < at);
        best = g ? v : best;
        at = g ? i : at;
    }
#pragma unroll
    for (int m = 16; m; m >>= 1) {
        float v = __shfl_xor_sync(~0u, best, m);
        int i = __shfl_xor_sync(~0u, at, m);
        bool g = v > best || (v == best && i < at);
        best = g ? v : best;
        at = g ? i : at;
    }
    if (c % 32 == 0) {
        rv[c / 32] = best;
        ri[c / 32] = at;
    }
    __syncthreads();
    best = rv[c % 4];
    at = ri[c % 4];
#pragma unroll
    for (int m = 2; m; m >>= 1) {
        float v = __shfl_xor_sync(~0u, best, m);
        int i = __shfl_xor_sync(~0u, at, m);
        bool g = v > best || (v == best && i < at);
        best = g ? v : best;
        at = g ? i : at;
    }
    store1(index + blockIdx.x, at, c == 0);
    store1(value + blockIdx.x, u(best), c == 0);
}
