/* workshop.cu - operators of deep learning as the writers of frameworks make them: attention, caches, norms, soft maxima, packed weights, experts, optimisers, convolutions, pools, cells, scans. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#include <mma.h>
#include <cooperative_groups.h>
#include <cfloat>
#include <cstdint>
#define K extern "C" __global__ void
namespace cg = cooperative_groups;

static constexpr unsigned kFull = 0xffffffffu;

template <typename T> struct SumOp { static __device__ __forceinline__ T id() { return T(0); } __device__ __forceinline__ T operator()(T a, T b) const { return a + b; } };
template <typename T> struct MaxOp { static __device__ __forceinline__ T id() { return T(-FLT_MAX); } __device__ __forceinline__ T operator()(T a, T b) const { return a > b ? a : b; } };

template <template <typename> class Op, typename T>
__device__ __forceinline__ T warp_all(T v)
{
    Op<T> op;
#pragma unroll
    for (int m = 16; m; m >>= 1) v = op(v, __shfl_xor_sync(kFull, v, m));
    return v;
}

template <template <typename> class Op, typename T, int WARPS>
__device__ T block_all(T v, T *room)
{
    v = warp_all<Op>(v);
    __syncthreads();
    if ((threadIdx.x & 31) == 0) room[threadIdx.x >> 5] = v;
    __syncthreads();
    T r = Op<T>::id();
#pragma unroll
    for (int i = 0; i < WARPS; i++) r = Op<T>()(r, room[i]);
    return r;
}

// ------------------------------------------------------------------------------------------------ attention

struct MmaHalf {
    static __device__ __forceinline__ void run(float (&d)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
    {
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\n"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
    static __device__ __forceinline__ uint32_t pack(float x, float y)
    {
        __half2 h = __floats2half2_rn(x, y);
        return *reinterpret_cast<uint32_t *>(&h);
    }
};

//! causal_flash_prefill_of_two_warps_head_of_32 8,17 64 | f16:139264:-1:1 | f16:139264:-1:1 | f16:139264:-1:1 | out f16:139264 | s s32 256 | s f32 0.25503
// Q K V O are heads x N x 32; the scale already holds log2(e).
K __launch_bounds__(64) causal_flash_prefill_of_two_warps_head_of_32(const __half *__restrict__ Q, const __half *__restrict__ Kp, const __half *__restrict__ V,
                                                                      __half *__restrict__ O, int N, float scale_log2)
{
    constexpr int D = 32, BM = 32, BN = 32, LD = D + 8;
    __shared__ __align__(16) __half sK[BN][LD];
    __shared__ __align__(16) __half sV[BN][LD];
    const int tid = threadIdx.x, warp = tid >> 5, lane = tid & 31, g = lane >> 2, t = lane & 3;
    const size_t head = (size_t)blockIdx.y * N * D;
    const int row0 = blockIdx.x * BM + warp * 16;

    uint32_t qa[2][4];
    {
        const __half *q = Q + head + (size_t)row0 * D;
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            qa[kk][0] = *reinterpret_cast<const uint32_t *>(q + g * D + kk * 16 + 2 * t);
            qa[kk][1] = *reinterpret_cast<const uint32_t *>(q + (g + 8) * D + kk * 16 + 2 * t);
            qa[kk][2] = *reinterpret_cast<const uint32_t *>(q + g * D + kk * 16 + 2 * t + 8);
            qa[kk][3] = *reinterpret_cast<const uint32_t *>(q + (g + 8) * D + kk * 16 + 2 * t + 8);
        }
    }
    float acc[4][4] = {};
    float mrow[2] = {-INFINITY, -INFINITY}, lrow[2] = {0.f, 0.f};

    for (int kt = 0; kt <= (int)blockIdx.x; ++kt) {
        __syncthreads();
#pragma unroll
        for (int i = tid; i < BN * D / 8; i += 64) {
            int r = i >> 2, c = (i & 3) * 8;
            size_t src = head + (size_t)(kt * BN + r) * D + c;
            *reinterpret_cast<uint4 *>(&sK[r][c]) = *reinterpret_cast<const uint4 *>(Kp + src);
            *reinterpret_cast<uint4 *>(&sV[r][c]) = *reinterpret_cast<const uint4 *>(V + src);
        }
        __syncthreads();

        float s[4][4] = {};
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int kk = 0; kk < 2; kk++) {
                uint32_t b0 = *reinterpret_cast<const uint32_t *>(&sK[j * 8 + g][kk * 16 + 2 * t]);
                uint32_t b1 = *reinterpret_cast<const uint32_t *>(&sK[j * 8 + g][kk * 16 + 2 * t + 8]);
                MmaHalf::run(s[j], qa[kk], b0, b1);
            }
        if (kt == (int)blockIdx.x) {
#pragma unroll
            for (int j = 0; j < 4; j++)
#pragma unroll
                for (int e = 0; e < 4; e++) {
                    int col = kt * BN + j * 8 + 2 * t + (e & 1), row = row0 + g + (e >> 1) * 8;
                    if (col > row) s[j][e] = -INFINITY;
                }
        }
#pragma unroll
        for (int h = 0; h < 2; h++) {
            float mx = mrow[h];
#pragma unroll
            for (int j = 0; j < 4; j++) mx = fmaxf(mx, fmaxf(s[j][2 * h], s[j][2 * h + 1]));
            mx = fmaxf(mx, __shfl_xor_sync(kFull, mx, 1));
            mx = fmaxf(mx, __shfl_xor_sync(kFull, mx, 2));
            const float corr = exp2f((mrow[h] - mx) * scale_log2);
            mrow[h] = mx;
            float sum = 0.f;
#pragma unroll
            for (int j = 0; j < 4; j++) {
                s[j][2 * h] = exp2f(s[j][2 * h] * scale_log2 - mx * scale_log2);
                s[j][2 * h + 1] = exp2f(s[j][2 * h + 1] * scale_log2 - mx * scale_log2);
                sum += s[j][2 * h] + s[j][2 * h + 1];
                acc[j][2 * h] *= corr;
                acc[j][2 * h + 1] *= corr;
            }
            lrow[h] = lrow[h] * corr + sum;
        }
#pragma unroll
        for (int kk = 0; kk < 2; kk++) {
            uint32_t pa[4] = {MmaHalf::pack(s[2 * kk][0], s[2 * kk][1]), MmaHalf::pack(s[2 * kk][2], s[2 * kk][3]),
                              MmaHalf::pack(s[2 * kk + 1][0], s[2 * kk + 1][1]), MmaHalf::pack(s[2 * kk + 1][2], s[2 * kk + 1][3])};
#pragma unroll
            for (int j = 0; j < 4; j++) {
                uint32_t b0, b1;
                uint32_t addr = (uint32_t)__cvta_generic_to_shared(&sV[kk * 16 + (lane & 15)][j * 8]);
                asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];\n" : "=r"(b0), "=r"(b1) : "r"(addr));
                MmaHalf::run(acc[j], pa, b0, b1);
            }
        }
    }
#pragma unroll
    for (int h = 0; h < 2; h++) {
        float l = lrow[h];
        l += __shfl_xor_sync(kFull, l, 1);
        l += __shfl_xor_sync(kFull, l, 2);
        const float inv = 1.f / l;
        __half *o = O + head + (size_t)(row0 + g + 8 * h) * D;
#pragma unroll
        for (int j = 0; j < 4; j++) *reinterpret_cast<uint32_t *>(o + j * 8 + 2 * t) = MmaHalf::pack(acc[j][2 * h] * inv, acc[j][2 * h + 1] * inv);
    }
}

//! decode_step_over_pages_of_int8_keys 8,20 128 | out f16:10240 | f16:10240:-1:1 | s8:196608:-127:128 | s8:196608:-127:128 | f32:3072:0.002:0.01 | f32:3072:0.002:0.01 | s32:320:0:96 | s32:20:1:257 | s f32 0.125
// 20 sequences, 8 query heads, 2 key heads, head of 64, pages of 16 tokens, 96 pages, at most 16 pages a sequence.
struct PagedShape { static constexpr int kDim = 64, kPage = 16, kKvHeads = 2, kHeads = 8, kMaxPages = 16; };
K decode_step_over_pages_of_int8_keys(__half *out, const __half *__restrict__ q, const int8_t *__restrict__ k_cache, const int8_t *__restrict__ v_cache,
                                      const float *__restrict__ k_scale, const float *__restrict__ v_scale, const int *__restrict__ block_tables,
                                      const int *__restrict__ context_lens, float scale)
{
    using S = PagedShape;
    __shared__ float logits[S::kMaxPages * S::kPage];
    __shared__ float red[8];
    __shared__ float halves[2][S::kDim];
    const int head = blockIdx.x, seq = blockIdx.y, kv_head = head / (S::kHeads / S::kKvHeads), tid = threadIdx.x;
    const int ctx = context_lens[seq];
    const int *table = block_tables + seq * S::kMaxPages;
    const int sub = tid & 7, group = tid >> 3;            // eight lanes read a token

    float qf[8];
    {
        const uint4 raw = *reinterpret_cast<const uint4 *>(q + (seq * S::kHeads + head) * S::kDim + sub * 8);
        const __half2 *h = reinterpret_cast<const __half2 *>(&raw);
        for (int i = 0; i < 4; i++) {
            float2 f = __half22float2(h[i]);
            qf[2 * i] = f.x * scale;
            qf[2 * i + 1] = f.y * scale;
        }
    }
    float best = -FLT_MAX;
    const int rounds = (ctx + 15) / 16;
    for (int r = 0; r < rounds; r++) {
        const int tok = r * 16 + group;
        const int page = table[r];
        const int slot = (page * S::kPage + group) * S::kKvHeads + kv_head;
        const int2 raw = __ldg(reinterpret_cast<const int2 *>(k_cache + slot * S::kDim) + sub);
        const char4 lo = *reinterpret_cast<const char4 *>(&raw.x), hi = *reinterpret_cast<const char4 *>(&raw.y);
        float dot = qf[0] * lo.x + qf[1] * lo.y + qf[2] * lo.z + qf[3] * lo.w;
        dot += qf[4] * hi.x + qf[5] * hi.y + qf[6] * hi.z + qf[7] * hi.w;
        dot += __shfl_xor_sync(kFull, dot, 4);
        dot += __shfl_xor_sync(kFull, dot, 2);
        dot += __shfl_xor_sync(kFull, dot, 1);
        dot *= k_scale[slot];
        if (tok < ctx) {
            if (sub == 0) logits[tok] = dot;
            best = fmaxf(best, dot);
        }
    }
    best = block_all<MaxOp, float, 4>(best, red);
    float sum = 0.f;
    for (int i = tid; i < ctx; i += blockDim.x) {
        float e = __expf(logits[i] - best);
        logits[i] = e;
        sum += e;
    }
    sum = block_all<SumOp, float, 4>(sum, red);
    const float inv = __fdividef(1.f, sum + 1e-6f);

    const int d = tid & 63, part = tid >> 6;
    float acc = 0.f;
#pragma unroll 4
    for (int tok = part; tok < ctx; tok += 2) {
        int slot = (table[tok / S::kPage] * S::kPage + tok % S::kPage) * S::kKvHeads + kv_head;
        acc += logits[tok] * v_scale[slot] * (float)v_cache[slot * S::kDim + d];
    }
    halves[part][d] = acc;
    __syncthreads();
    if (tid < S::kDim) out[(seq * S::kHeads + head) * S::kDim + tid] = __float2half((halves[0][tid] + halves[1][tid]) * inv);
}

//! adjacent_pairs_rotated_and_keys_put_in_pages 96 192 | inout bf16:73728:-1:1 | bf16:12288:-1:1 | bf16:12288:-1:1 | out bf16:12288 | out bf16:12288 | f32:32768:-1:1 | s32:96:0:512 | iota s32:96 | s s32 12 | s s32 2
// 96 tokens, heads of 64; the pages hold 16 tokens: keys as page, head, dim/8, token, 8 and values as page, head, dim, token.
template <int HEAD>
__device__ __forceinline__ __nv_bfloat162 rotate_pair(__nv_bfloat162 v, const float *cs, int pair)
{
    float x = __low2float(v), y = __high2float(v), c = cs[pair], s = cs[HEAD / 2 + pair];
    return __floats2bfloat162_rn(x * c - y * s, y * c + x * s);
}
K adjacent_pairs_rotated_and_keys_put_in_pages(__nv_bfloat16 *query, const __nv_bfloat16 *key, const __nv_bfloat16 *value, __nv_bfloat16 *key_pages,
                                               __nv_bfloat16 *value_pages, const float *cos_sin, const int *positions, const int *slots, int heads, int kv_heads)
{
    constexpr int HEAD = 64, PAGE = 16;
    const int token = blockIdx.x;
    const float *cs = cos_sin + positions[token] * HEAD;
    auto *q2 = reinterpret_cast<__nv_bfloat162 *>(query + token * heads * HEAD);
    for (int i = threadIdx.x; i < heads * HEAD / 2; i += blockDim.x) q2[i] = rotate_pair<HEAD>(q2[i], cs, i % (HEAD / 2));

    const int slot = slots[token];
    if (slot < 0) return;
    const int page = slot / PAGE, at = slot % PAGE;
    const auto *k2 = reinterpret_cast<const __nv_bfloat162 *>(key + token * kv_heads * HEAD);
    for (int i = threadIdx.x; i < kv_heads * HEAD / 2; i += blockDim.x) {
        const int h = i / (HEAD / 2), p = i % (HEAD / 2), d = 2 * p;
        const __nv_bfloat162 r = rotate_pair<HEAD>(k2[i], cs, p);
        const int base = ((page * kv_heads + h) * (HEAD / 8) + d / 8) * PAGE * 8 + at * 8 + d % 8;
        *reinterpret_cast<__nv_bfloat162 *>(key_pages + base) = r;
    }
    for (int i = threadIdx.x; i < kv_heads * HEAD; i += blockDim.x) {
        const int h = i / HEAD, d = i % HEAD;
        value_pages[((page * kv_heads + h) * HEAD + d) * PAGE + at] = value[token * kv_heads * HEAD + i];
    }
}

// ------------------------------------------------------------------------------------------------ norms

//! layernorm_backwards_gradients_of_gain_in_registers 66 128 | out f32:202752 | out f32:25344 | out f32:25344 | f32:202752:-1:1 | f32:202752:-2:2 | f32:384:0.5:1.5 | f32:528:-0.1:0.1 | f32:528:0.7:1.1 | s s32 528
K layernorm_backwards_gradients_of_gain_in_registers(float *__restrict__ dx, float *__restrict__ dgamma_part, float *__restrict__ dbeta_part,
                                                     const float *__restrict__ dy, const float *__restrict__ x, const float *__restrict__ gamma,
                                                     const float *__restrict__ mean, const float *__restrict__ rstd, int rows)
{
    constexpr int C = 384, T = 128, PER = C / T;
    __shared__ float2 room[2][T / 32];
    float gm[PER], dg[PER], db[PER];
#pragma unroll
    for (int i = 0; i < PER; i++) {
        gm[i] = gamma[threadIdx.x + i * T];
        dg[i] = db[i] = 0.0f;
    }
    int flip = 0;
    for (int row = blockIdx.x; row < rows; row += gridDim.x, flip ^= 1) {
        const float mu = mean[row], rs = rstd[row];
        float xh[PER], wdy[PER], c1 = 0, c2 = 0;
#pragma unroll
        for (int i = 0; i < PER; i++) {
            const int col = threadIdx.x + i * T;
            const float g = dy[row * C + col];
            xh[i] = (x[row * C + col] - mu) * rs;
            wdy[i] = g * gm[i];
            c1 += xh[i] * wdy[i];
            c2 += wdy[i];
            dg[i] = fmaf(g, xh[i], dg[i]);
            db[i] += g;
        }
        for (int o = 16; o > 0; o >>= 1) {
            c1 += __shfl_down_sync(kFull, c1, o);
            c2 += __shfl_down_sync(kFull, c2, o);
        }
        if (threadIdx.x % 32 == 0) room[flip][threadIdx.x / 32] = make_float2(c1, c2);
        __syncthreads();
        float a = 0, b = 0;
        for (int w = 0; w < T / 32; w++) {
            a += room[flip][w].x;
            b += room[flip][w].y;
        }
        a /= C;
        b /= C;
#pragma unroll
        for (int i = 0; i < PER; i++) dx[row * C + threadIdx.x + i * T] = (wdy[i] - (xh[i] * a + b)) * rs;
    }
#pragma unroll
    for (int i = 0; i < PER; i++) {
        dgamma_part[blockIdx.x * C + threadIdx.x + i * T] = dg[i];
        dbeta_part[blockIdx.x * C + threadIdx.x + i * T] = db[i];
    }
}

//! rms_norm_backwards_of_half_pairs_row_a_warp 33 256 | f16:135168:-2:2 | f16:135168:-1:1 | f16:512:0.5:1.5 | out f16:135168 | s s32 264 | s f32 0.000001
union HalfEight { uint4 raw; __half2 h[4]; };
K rms_norm_backwards_of_half_pairs_row_a_warp(const uint4 *x, const uint4 *dy, const uint4 *w, uint4 *dx, int rows, float eps)
{
    const int lane = threadIdx.x & 31, row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
    if (row >= rows) return;
    const int VECS = 512 / 8;
    HalfEight xv[2], gv[2];
    float ss = 0.f, dot = 0.f;
    for (int p = 0; p < 2; ++p) {
        HalfEight wv;
        xv[p].raw = x[row * VECS + p * 32 + lane];
        gv[p].raw = dy[row * VECS + p * 32 + lane];
        wv.raw = __ldg(w + p * 32 + lane);
        for (int j = 0; j < 4; ++j) {
            gv[p].h[j] = __hmul2(gv[p].h[j], wv.h[j]);
            const float2 a = __half22float2(xv[p].h[j]), b = __half22float2(gv[p].h[j]);
            ss += a.x * a.x + a.y * a.y;
            dot += a.x * b.x + a.y * b.y;
        }
    }
    ss = warp_all<SumOp>(ss);
    dot = warp_all<SumOp>(dot);
    const float r = rsqrtf(ss / 512.f + eps);
    const __half2 r2 = __float2half2_rn(r), coef = __float2half2_rn(-r * r * r * dot / 512.f);
    for (int p = 0; p < 2; ++p) {
        HalfEight o;
        for (int j = 0; j < 4; ++j) o.h[j] = __hfma2(coef, xv[p].h[j], __hmul2(gv[p].h[j], r2));
        dx[row * VECS + p * 32 + lane] = o.raw;
    }
}

// ------------------------------------------------------------------------------------------------ soft maxima and losses

__device__ __forceinline__ uint32_t sortable(float f)
{
    uint32_t u = __float_as_uint(f);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

//! probabilities_of_best_forty_by_digit_histograms 132 256 16384 | f32:540672:-8:8 | f32:132:0.5:1.5 | out f32:540672 | out s32:132 | s s32 4096 | s s32 40
K probabilities_of_best_forty_by_digit_histograms(const float *logits, const float *temperature, float *probs, int *kept, int vocab, int k)
{
    extern __shared__ __align__(16) float row_s[];
    __shared__ int hist[256];
    __shared__ uint32_t s_prefix;
    __shared__ int s_left;
    __shared__ float red[8];
    __shared__ int redi[8];
    const int tid = threadIdx.x;
    const float inv_t = 1.0f / temperature[blockIdx.x];
    const float4 *src = reinterpret_cast<const float4 *>(logits + (size_t)blockIdx.x * vocab);
    float mx = -FLT_MAX;
    for (int i = tid; i < vocab / 4; i += blockDim.x) {
        float4 v = src[i];
        v.x *= inv_t; v.y *= inv_t; v.z *= inv_t; v.w *= inv_t;
        reinterpret_cast<float4 *>(row_s)[i] = v;
        mx = fmaxf(fmaxf(mx, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
    }
    mx = block_all<MaxOp, float, 8>(mx, red);

    uint32_t prefix = 0, mask = 0;
    int left = k;
    for (int shift = 24; shift >= 0; shift -= 8) {
        hist[tid] = 0;
        __syncthreads();
        for (int i = tid; i < vocab; i += blockDim.x) {
            const uint32_t key = sortable(row_s[i]);
            if ((key & mask) == prefix) atomicAdd(&hist[(key >> shift) & 255], 1);
        }
        __syncthreads();
        if (tid < 32) {                                     // each lane sums eight bins from the top
            int mine[8], total = 0;
            for (int j = 0; j < 8; j++) total += mine[j] = hist[255 - (tid * 8 + j)];
            int incl = total;
            for (int o = 1; o < 32; o <<= 1) {
                int up = __shfl_up_sync(kFull, incl, o);
                if (tid >= o) incl += up;
            }
            int before = incl - total;
            if (before < left && incl >= left) {
                int j = 0;
                while (before + mine[j] < left) before += mine[j++];
                s_prefix = prefix | (uint32_t)(255 - (tid * 8 + j)) << shift;
                s_left = left - before;
            }
        }
        __syncthreads();
        prefix = s_prefix;
        left = s_left;
        mask |= 255u << shift;
    }
    float sum = 0;
    int n = 0;
    for (int i = tid; i < vocab; i += blockDim.x) {
        const float v = row_s[i];
        if (sortable(v) >= prefix) {
            sum += __expf(v - mx);
            n++;
        }
    }
    sum = block_all<SumOp, float, 8>(sum, red);
    n = block_all<SumOp, int, 8>(n, redi);
    const float scale = 1.0f / sum;
    for (int i = tid; i < vocab; i += blockDim.x) {
        const float v = row_s[i];
        probs[(size_t)blockIdx.x * vocab + i] = sortable(v) >= prefix ? __expf(v - mx) * scale : 0.0f;
    }
    if (tid == 0) kept[blockIdx.x] = n;
}

//! smoothed_loss_and_its_gradient_of_bf16_logits_once_over 150 320 | bf16:750000:-6:6 | s32:150:-500:5000 | out f32:150 | out bf16:750000 | s s32 5000 | s f32 0.1 | s f32 0.0066667
// A target below nought is ignored.
struct OnlineMax {
    float m, s;
    __device__ void push(float v)
    {
        if (v > m) {
            s = s * __expf(m - v) + 1.f;
            m = v;
        } else
            s += __expf(v - m);
    }
    __device__ OnlineMax joined(const OnlineMax &o) const
    {
        float big = fmaxf(m, o.m);
        return {big, s * __expf(m - big) + o.s * __expf(o.m - big)};
    }
};
struct alignas(16) BrainEight { __nv_bfloat162 p[4]; };
K __launch_bounds__(320) smoothed_loss_and_its_gradient_of_bf16_logits_once_over(const __nv_bfloat16 *__restrict__ logits, const int *__restrict__ targets, float *__restrict__ loss,
                                                                                 __nv_bfloat16 *__restrict__ dlogits, int vocab, float smooth, float grad_scale)
{
    const int row = blockIdx.x, target = targets[row], vecs = vocab / 8;
    const BrainEight *in = reinterpret_cast<const BrainEight *>(logits + (size_t)row * vocab);
    BrainEight *out = reinterpret_cast<BrainEight *>(dlogits + (size_t)row * vocab);
    if (target < 0) {
        BrainEight z;
        for (auto &q : z.p) q = __float2bfloat162_rn(0.f);
        for (int i = threadIdx.x; i < vecs; i += blockDim.x) out[i] = z;
        if (threadIdx.x == 0) loss[row] = 0.f;
        return;
    }
    __shared__ OnlineMax part[10];
    __shared__ float red[10];
    OnlineMax st{-FLT_MAX, 0.f};
    float plain = 0.f;
    for (int i = threadIdx.x; i < vecs; i += blockDim.x) {
        const BrainEight v = in[i];
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float2 f = __bfloat1622float2(v.p[j]);
            st.push(f.x);
            st.push(f.y);
            plain += f.x + f.y;
        }
    }
    for (int o = 16; o; o /= 2) st = st.joined({__shfl_xor_sync(kFull, st.m, o), __shfl_xor_sync(kFull, st.s, o)});
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = st;
    plain = block_all<SumOp, float, 10>(plain, red);
    st = part[0];
    for (int w = 1; w < 10; w++) st = st.joined(part[w]);

    const float lse = st.m + __logf(st.s), even = smooth / vocab;
    if (threadIdx.x == 0) {
        const float xt = __bfloat162float(logits[(size_t)row * vocab + target]);
        loss[row] = (1.f - smooth) * (lse - xt) + smooth * (lse - plain / vocab);
    }
    for (int i = threadIdx.x; i < vecs; i += blockDim.x) {
        const BrainEight v = in[i];
        BrainEight g;
#pragma unroll
        for (int j = 0; j < 4; j++) {
            const float2 f = __bfloat1622float2(v.p[j]);
            const int c = i * 8 + j * 2;
            float a = __expf(f.x - lse) - even - (c == target ? 1.f - smooth : 0.f);
            float b = __expf(f.y - lse) - even - (c + 1 == target ? 1.f - smooth : 0.f);
            g.p[j] = __floats2bfloat162_rn(a * grad_scale, b * grad_scale);
        }
        out[i] = g;
    }
}

// ------------------------------------------------------------------------------------------------ packed weights

//! vector_times_fours_unpacked_by_magic_thousand 132 128 | u32:135168 | f16:8448:0.005:0.02 | u8:8448:0:16 | f16:2048:-1:1 | out f16:528 | s s32 2048
// A word holds eight weights; bits 4j and 16+4j are weights 2j and 2j+1, groups of 128 have a scale and a zero.
__device__ __forceinline__ __half2 nibbles_as_halves(uint32_t w)
{
    uint32_t r;
    asm("lop3.b32 %0, %1, 0x000f000f, 0x64006400, 0xea;" : "=r"(r) : "r"(w));
    return *reinterpret_cast<__half2 *>(&r);
}
K vector_times_fours_unpacked_by_magic_thousand(const uint4 *__restrict__ qweight, const __half *__restrict__ scales, const uint8_t *__restrict__ zeros,
                                                const __half *__restrict__ x, __half *__restrict__ y, int k)
{
    const int lane = threadIdx.x % 32, n = blockIdx.x * 4 + threadIdx.x / 32, groups = k / 128;
    float acc = 0.f;
    for (int v = lane; v < k / 32; v += 32) {
        const uint4 packed = qweight[n * (k / 32) + v];
        const uint32_t words[4] = {packed.x, packed.y, packed.z, packed.w};
        const int grp = v / 4;
        const float s = __half2float(scales[n * groups + grp]);
        const __half2 zero = __half2half2(__ushort2half_rn(1024 + zeros[n * groups + grp]));
        float sum = 0.f;
#pragma unroll
        for (int q = 0; q < 4; q++) {
            const uint4 xr = *reinterpret_cast<const uint4 *>(x + v * 32 + q * 8);
            const __half2 *x2 = reinterpret_cast<const __half2 *>(&xr);
            __half2 t = __half2half2(__ushort_as_half(0));
#pragma unroll
            for (int j = 0; j < 4; j++) t = __hfma2(__hsub2(nibbles_as_halves(words[q] >> (4 * j)), zero), x2[j], t);
            sum += __low2float(t) + __high2float(t);
        }
        acc = fmaf(sum, s, acc);
    }
    for (int o = 16; o; o >>= 1) acc += __shfl_down_sync(kFull, acc, o);
    if (lane == 0) y[n] = __float2half_rn(acc);
}

//! four_rows_of_e4m3_times_brain_vector 132 96 | u8:1622016:0:112 | bf16:3072:-1:1 | f32:528:0.01:0.02 | f32:528:-1:1 | out bf16:528
template <int ROWS, int THREADS, int COLS>
struct Fp8Gemv {
    float acc[ROWS];
    __device__ void clear() { for (int r = 0; r < ROWS; r++) acc[r] = 0.f; }
    __device__ void slice(const uint8_t *w, const __nv_bfloat16 *x, int c)
    {
        float xs[16];
        for (int h = 0; h < 2; h++) {
            const BrainEight b = *reinterpret_cast<const BrainEight *>(x + c + 8 * h);
            for (int j = 0; j < 4; j++) {
                xs[8 * h + 2 * j] = __low2float(b.p[j]);
                xs[8 * h + 2 * j + 1] = __high2float(b.p[j]);
            }
        }
        uint4 raw[ROWS];
#pragma unroll
        for (int r = 0; r < ROWS; r++) raw[r] = __ldcs(reinterpret_cast<const uint4 *>(w + r * COLS + c));
#pragma unroll
        for (int r = 0; r < ROWS; r++) {
            const uint32_t q[4] = {raw[r].x, raw[r].y, raw[r].z, raw[r].w};
#pragma unroll
            for (int j = 0; j < 4; j++) {
                __nv_fp8x4_e4m3 e;
                e.__x = q[j];
                const float4 f = static_cast<float4>(e);
                acc[r] += f.x * xs[4 * j] + f.y * xs[4 * j + 1] + f.z * xs[4 * j + 2] + f.w * xs[4 * j + 3];
            }
        }
    }
};
K four_rows_of_e4m3_times_brain_vector(const uint8_t *w, const __nv_bfloat16 *x, const float *scale, const float *bias, __nv_bfloat16 *y)
{
    constexpr int ROWS = 4, THREADS = 96, COLS = 3072;
    __shared__ float s[ROWS][THREADS / 32];
    Fp8Gemv<ROWS, THREADS, COLS> g;
    g.clear();
    for (int c = threadIdx.x * 16; c < COLS; c += THREADS * 16) g.slice(w + (size_t)blockIdx.x * ROWS * COLS, x, c);
    for (int r = 0; r < ROWS; r++) {
        float v = warp_all<SumOp>(g.acc[r]);
        if ((threadIdx.x & 31) == r) s[r][threadIdx.x >> 5] = v;
    }
    __syncthreads();
    if (threadIdx.x < ROWS) {
        const int row = blockIdx.x * ROWS + threadIdx.x;
        float v = s[threadIdx.x][0] + s[threadIdx.x][1] + s[threadIdx.x][2];
        v = v * scale[row] + bias[row];
        y[row] = __float2bfloat16(v);
    }
}

//! normal_floats_of_four_bits_looked_up_in_lanes 132 256 | u32:33792 | u8:4224 | f32:17:0.001:0.004 | s f32 0.05 | f32:16:-1:1 | out bf16:270336
// The greatest of every 64 is itself a byte, with a scale for 256 of them; the table of sixteen lives in the registers of the warp.
K normal_floats_of_four_bits_looked_up_in_lanes(const uint32_t *packed, const uint8_t *qabsmax, const float *second, float offset, const float *code, uint4 *out)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    const float entry = code[threadIdx.x & 15];
    const uint32_t w = packed[i];
    const int block = i >> 3;
    const float amax = fmaf((float)qabsmax[block], second[block >> 8], offset);
    uint32_t res[4];
#pragma unroll
    for (int b = 0; b < 4; b++) {
        const uint32_t byte = __byte_perm(w, 0, 0x4440 + b);
        const float hi = __shfl_sync(kFull, entry, byte >> 4) * amax;
        const float lo = __shfl_sync(kFull, entry, byte & 15, 16) * amax;
        const __nv_bfloat162 p = __floats2bfloat162_rn(hi, lo);
        res[b] = *reinterpret_cast<const uint32_t *>(&p);
    }
    out[i] = make_uint4(res[0], res[1], res[2], res[3]);
}

// ------------------------------------------------------------------------------------------------ experts and embeddings

//! two_experts_a_token_with_room_for_seventy 1 512 | f32:8192:-3:3 | out s32:1024 | out s32:1024 | out f32:1024 | out s32:1120 | out s32:16
// All first choices are seated before the second ones.
K two_experts_a_token_with_room_for_seventy(const float4 *logits, int *expert_of, int *place_of, float *gate_of, int *token_at, int *counts)
{
    constexpr int E = 16, CAP = 70, WARPS = 16;
    __shared__ int tally[2][WARPS][E];
    __shared__ int seats[E];
    const int tok = threadIdx.x, lane = tok & 31, warp = tok >> 5;
    float p[E];
#pragma unroll
    for (int i = 0; i < 4; i++) {
        float4 v = logits[tok * 4 + i];
        p[4 * i] = v.x; p[4 * i + 1] = v.y; p[4 * i + 2] = v.z; p[4 * i + 3] = v.w;
    }
    int pick[2] = {0, 0};
    float val[2] = {-FLT_MAX, -FLT_MAX};
#pragma unroll
    for (int e = 0; e < E; e++) {
        if (p[e] > val[0]) {
            val[1] = val[0]; pick[1] = pick[0];
            val[0] = p[e]; pick[0] = e;
        } else if (p[e] > val[1]) {
            val[1] = p[e]; pick[1] = e;
        }
    }
    float total = 0;
#pragma unroll
    for (int e = 0; e < E; e++) total += expf(p[e] - val[0]);
    float gate[2] = {1.0f / total, expf(val[1] - val[0]) / total};
    const float norm = gate[0] + gate[1];

    for (int i = tok; i < 2 * WARPS * E; i += 512) (&tally[0][0][0])[i] = 0;
    __syncthreads();
    int rank[2];
#pragma unroll
    for (int c = 0; c < 2; c++) {
        const unsigned peers = __match_any_sync(kFull, pick[c]);
        rank[c] = __popc(peers & ((1u << lane) - 1));
        if (rank[c] == 0) tally[c][warp][pick[c]] = __popc(peers);
    }
    __syncthreads();
    if (tok < E) {
        int run = 0;
        for (int c = 0; c < 2; c++)
            for (int w = 0; w < WARPS; w++) {
                int n = tally[c][w][tok];
                tally[c][w][tok] = run;
                run += n;
            }
        seats[tok] = min(run, CAP);
        counts[tok] = run;
    }
    for (int i = tok; i < E * CAP; i += 512) token_at[i] = -1;
    __syncthreads();
    for (int c = 0; c < 2; c++) {
        const int e = pick[c], where = tally[c][warp][e] + rank[c];
        const bool sits = where < seats[e];
        expert_of[tok * 2 + c] = e;
        place_of[tok * 2 + c] = sits ? where : -1;
        gate_of[tok * 2 + c] = sits ? gate[c] / norm : 0.0f;
        if (sits) token_at[e * CAP + where] = tok;
    }
}

//! gradient_of_table_gathered_by_ballots 66 256 | s64:1024:0:528 | f32:131072:-1:1 | out f32:67584 | s s32 1024 | s s32 3
// A warp owns a word of the table and looks for it among all tokens; rows are divided by how often they occur.
K gradient_of_table_gathered_by_ballots(const int64_t *__restrict__ ids, const float4 *__restrict__ grad, float4 *__restrict__ table_grad, int tokens, int padding)
{
    const int word = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5), lane = threadIdx.x & 31;
    float4 acc = make_float4(0.f, 0.f, 0.f, 0.f);
    if (word == padding) {
        table_grad[word * 32 + lane] = acc;
        return;
    }
    int seen = 0;
    for (int base = 0; base < tokens; base += 32) {
        unsigned hits = __ballot_sync(kFull, ids[base + lane] == word);
        seen += __popc(hits);
        while (hits) {
            const int b = __ffs(hits) - 1;
            hits &= hits - 1;
            const float4 g = grad[(base + b) * 32 + lane];
            acc.x += g.x;
            acc.y += g.y;
            acc.z += g.z;
            acc.w += g.w;
        }
    }
    if (seen > 1) {
        const float f = 1.0f / seen;
        acc.x *= f; acc.y *= f; acc.z *= f; acc.w *= f;
    }
    table_grad[word * 32 + lane] = acc;
}

// ------------------------------------------------------------------------------------------------ optimiser

//! lion_with_brain_state_rounded_by_chance 132 512 | inout bf16:540672:-1:1 | inout bf16:540672:-0.1:0.1 | bf16:540672:-0.5:0.5 | s s64 540672 | s f32 0.001 | s f32 0.9 | s f32 0.99 | s f32 0.01 | s u32 77
__device__ __noinline__ uint32_t stir(uint32_t v)
{
    uint32_t s = v * 747796405u + 2891336453u;
    uint32_t w = ((s >> ((s >> 28) + 4)) ^ s) * 277803737u;
    return (w >> 22) ^ w;
}
__device__ __forceinline__ uint16_t round_by_chance(float f, uint32_t r16) { return (uint16_t)((__float_as_uint(f) + (r16 & 0xffffu)) >> 16); }
K lion_with_brain_state_rounded_by_chance(uint16_t *param, uint16_t *momentum, const uint16_t *grad, int64_t n, float lr, float beta1, float beta2, float decay, uint32_t seed)
{
    const int64_t stride = (int64_t)gridDim.x * blockDim.x * 4;
    for (int64_t i = ((int64_t)blockIdx.x * blockDim.x + threadIdx.x) * 4; i < n; i += stride) {
        const ushort4 p4 = *(const ushort4 *)(param + i), m4 = *(const ushort4 *)(momentum + i), g4 = *(const ushort4 *)(grad + i);
        const uint16_t ps[4] = {p4.x, p4.y, p4.z, p4.w}, ms[4] = {m4.x, m4.y, m4.z, m4.w}, gs[4] = {g4.x, g4.y, g4.z, g4.w};
        uint16_t po[4], mo[4];
        const uint32_t r0 = stir(seed ^ (uint32_t)i), r1 = stir(r0 + 0x9e3779b9u);
#pragma unroll
        for (int j = 0; j < 4; j++) {
            float p = __uint_as_float((uint32_t)ps[j] << 16);
            const float m = __uint_as_float((uint32_t)ms[j] << 16), g = __uint_as_float((uint32_t)gs[j] << 16);
            const float c = beta1 * m + (1.0f - beta1) * g;
            const float dir = (c > 0.0f) - (c < 0.0f);
            p = p * (1.0f - lr * decay) - lr * dir;
            po[j] = round_by_chance(p, (j & 2 ? r1 : r0) >> (16 * (j & 1)));
            mo[j] = __bfloat16_as_ushort(__float2bfloat16_rn(beta2 * m + (1.0f - beta2) * g));
        }
        *(ushort4 *)(param + i) = make_ushort4(po[0], po[1], po[2], po[3]);
        *(ushort4 *)(momentum + i) = make_ushort4(mo[0], mo[1], mo[2], mo[3]);
    }
}

// ------------------------------------------------------------------------------------------------ convolutions and pools

//! depthwise_three_by_three_stride_two_channels_last 14,7,2 96,2 | bf16:301056:-2:2 | bf16:1728:-1:1 | bf16:192:-1:1 | out bf16:75264 | s s32 28 | s s32 28 | s s32 192
K depthwise_three_by_three_stride_two_channels_last(const __nv_bfloat162 *__restrict__ in, const __nv_bfloat162 *__restrict__ filt, const __nv_bfloat162 *__restrict__ bias,
                                                    __nv_bfloat162 *__restrict__ out, int H, int W, int C)
{
    const int c2 = C / 2, c = threadIdx.x, ox = blockIdx.x, oy = blockIdx.y * 2 + threadIdx.y, n = blockIdx.z;
    const int OH = (H + 1) / 2, OW = (W + 1) / 2;
    if (oy >= OH) return;
    __nv_bfloat162 acc = bias[c];
#pragma unroll
    for (int ky = 0; ky < 3; ky++) {
        const int y = oy * 2 + ky - 1;
        if ((unsigned)y >= (unsigned)H) continue;
#pragma unroll
        for (int kx = 0; kx < 3; kx++) {
            const int x = ox * 2 + kx - 1;
            if ((unsigned)x < (unsigned)W) acc = __hfma2(in[((n * H + y) * W + x) * c2 + c], filt[(ky * 3 + kx) * c2 + c], acc);
        }
    }
    const __nv_bfloat162 six = __float2bfloat162_rn(6.0f), none = __float2bfloat162_rn(0.0f);
    out[((n * OH + oy) * OW + ox) * c2 + c] = __hmin2(__hmax2(acc, none), six);
}

//! stem_of_seven_by_seven_eight_maps_a_thread 2,4,8 16,8 | f32:24576:-1:1 | f32:4704:-0.2:0.2 | f32:32:-1:1 | out f32:65536
// Two pictures of 3 x 64 x 64 become 32 x 32 x 32; blockIdx.z is the picture times four and the eight maps.
K stem_of_seven_by_seven_eight_maps_a_thread(const float *image, const float *filters, const float *bias, float *maps)
{
    enum { KS = 7, IN = 64, OUT = 32, MAPS = 8, PH = 7 * 2 + KS, PW = 15 * 2 + KS };
    __shared__ float patch[3][PH][PW + 1];
    __shared__ __align__(16) float weight[3 * KS * KS][MAPS];
    const int tid = threadIdx.y * 16 + threadIdx.x, pic = blockIdx.z >> 2, m0 = (blockIdx.z & 3) * MAPS;
    const int x0 = blockIdx.x * 32 - 3, y0 = blockIdx.y * 16 - 3;
    for (int i = tid; i < 3 * PH * PW; i += 128) {
        const int c = i / (PH * PW), r = i / PW % PH, q = i % PW, y = y0 + r, x = x0 + q;
        patch[c][r][q] = (y >= 0 && y < IN && x >= 0 && x < IN) ? image[((pic * 3 + c) * IN + y) * IN + x] : 0.0f;
    }
    for (int i = tid; i < 147 * MAPS; i += 128) weight[i % 147][i / 147] = filters[m0 * 147 + i];
    __syncthreads();
    float acc[MAPS];
    for (int m = 0; m < MAPS; m++) acc[m] = bias[m0 + m];
    for (int c = 0; c < 3; c++)
        for (int ky = 0; ky < KS; ky++)
#pragma unroll
            for (int kx = 0; kx < KS; kx++) {
                const float v = patch[c][threadIdx.y * 2 + ky][threadIdx.x * 2 + kx];
                const float4 *w = reinterpret_cast<const float4 *>(weight[(c * KS + ky) * KS + kx]);
                const float4 a = w[0], b = w[1];
                acc[0] += v * a.x; acc[1] += v * a.y; acc[2] += v * a.z; acc[3] += v * a.w;
                acc[4] += v * b.x; acc[5] += v * b.y; acc[6] += v * b.z; acc[7] += v * b.w;
            }
    const int oy = blockIdx.y * 8 + threadIdx.y, ox = blockIdx.x * 16 + threadIdx.x;
    for (int m = 0; m < MAPS; m++) maps[((pic * 32 + m0 + m) * OUT + oy) * OUT + ox] = fmaxf(acc[m], 0.0f);
}

//! winograd_two_by_two_from_filter_to_picture_in_one 16,4,2 16,4 | f32:36992:-1:1 | f32:2304:-0.5:0.5 | out f32:32768
// Two pictures of 16 padded planes of 34 x 34, sixteen maps; a thread makes one tile of one map.
K winograd_two_by_two_from_filter_to_picture_in_one(const float *__restrict__ in, const float *__restrict__ filt, float *__restrict__ out)
{
    constexpr int C = 16, P = 34;
    __shared__ float u[4][C][16];
    const int tx = threadIdx.x, ky = threadIdx.y, k = blockIdx.y * 4 + ky;
    {                                                       // G g G^T, thread tx takes plane tx
        const float *g = filt + (k * C + tx) * 9;
        float t[4][3];
        for (int j = 0; j < 3; j++) {
            const float a = g[j], b = g[3 + j], c = g[6 + j];
            t[0][j] = a;
            t[1][j] = 0.5f * (a + b + c);
            t[2][j] = 0.5f * (a - b + c);
            t[3][j] = c;
        }
        for (int i = 0; i < 4; i++) {
            const float a = t[i][0], b = t[i][1], c = t[i][2];
            u[ky][tx][i * 4 + 0] = a;
            u[ky][tx][i * 4 + 1] = 0.5f * (a + b + c);
            u[ky][tx][i * 4 + 2] = 0.5f * (a - b + c);
            u[ky][tx][i * 4 + 3] = c;
        }
    }
    __syncthreads();
    float m[4][4] = {};
    const float *base = in + (size_t)blockIdx.z * C * P * P + blockIdx.x * 2 * P + tx * 2;
#pragma unroll 1
    for (int c = 0; c < C; c++, base += P * P) {
        float d[4][4];
#pragma unroll
        for (int r = 0; r < 4; r++) {
            const float2 lo = *reinterpret_cast<const float2 *>(base + r * P), hi = *reinterpret_cast<const float2 *>(base + r * P + 2);
            d[r][0] = lo.x - hi.x;
            d[r][1] = lo.y + hi.x;
            d[r][2] = hi.x - lo.y;
            d[r][3] = lo.y - hi.y;
        }
#pragma unroll
        for (int j = 0; j < 4; j++) {
            m[0][j] += (d[0][j] - d[2][j]) * u[ky][c][j];
            m[1][j] += (d[1][j] + d[2][j]) * u[ky][c][4 + j];
            m[2][j] += (d[2][j] - d[1][j]) * u[ky][c][8 + j];
            m[3][j] += (d[1][j] - d[3][j]) * u[ky][c][12 + j];
        }
    }
    float *o = out + ((size_t)(blockIdx.z * 16 + k) * 32 + blockIdx.x * 2) * 32 + tx * 2;
    float s[2][4];
    for (int j = 0; j < 4; j++) {
        s[0][j] = m[0][j] + m[1][j] + m[2][j];
        s[1][j] = m[1][j] - m[2][j] - m[3][j];
    }
    for (int r = 0; r < 2; r++) *reinterpret_cast<float2 *>(o + r * 32) = make_float2(s[r][0] + s[r][1] + s[r][2], s[r][1] - s[r][2] - s[r][3]);
}

//! planes_averaged_to_seven_by_seven_uneven_windows 120 224 | f16:235320:-1:1 | out f16:5880 | s s32 37 | s s32 53
static __device__ int window_start(int i, int out, int in) { return i * in / out; }
static __device__ int window_end(int i, int out, int in) { return ((i + 1) * in + out - 1) / out; }
K planes_averaged_to_seven_by_seven_uneven_windows(const __half *in, __half *out, int H, int W)
{
    const __half *plane = in + blockIdx.x * H * W;
    const int ow = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int xs = window_start(ow, 7, W), xe = window_end(ow, 7, W), wide = xe - xs;
    int oh = 0;
    while (oh < 7) {
        const int ys = window_start(oh, 7, H), area = (window_end(oh, 7, H) - ys) * wide;
        float sum = 0;
        for (int i = lane; i < area; i += 32) sum += __half2float(plane[(ys + i / wide) * W + xs + i % wide]);
        sum = warp_all<SumOp>(sum);
        if (!lane) out[(blockIdx.x * 7 + oh) * 7 + ow] = __float2half(sum / area);
        ++oh;
    }
}

//! groups_of_sixteen_channels_normed_by_cluster_of_four 4,32 256 | f32:524288:-2:2 | f32:128:0.5:1.5 | f32:128:-0.5:0.5 | out f32:524288 | s f32 0.00001
// Four pictures of 1024 points with 128 channels last, eight groups; a cluster shares the sums of a group, then swish.
K __cluster_dims__(4, 1, 1) groups_of_sixteen_channels_normed_by_cluster_of_four(const float *x, const float *gain, const float *bias, float *y, float eps)
{
    cg::cluster_group cluster = cg::this_cluster();
    __shared__ float red[8];
    __shared__ float mine[2];
    const int rank = cluster.block_rank(), n = blockIdx.y / 8, g = blockIdx.y % 8;
    const size_t at = ((size_t)n * 1024 + rank * 256 + threadIdx.x) * 128 + g * 16;
    float4 v[4];
    float sum = 0;
    for (int i = 0; i < 4; i++) {
        v[i] = reinterpret_cast<const float4 *>(x + at)[i];
        sum += v[i].x + v[i].y + v[i].z + v[i].w;
    }
    auto over_cluster = [&](float s, int slot) {
        s = block_all<SumOp, float, 8>(s, red);
        if (threadIdx.x == 0) mine[slot] = s;
        cluster.sync();
        float all = 0;
        for (int r = 0; r < 4; r++) all += cluster.map_shared_rank(mine, r)[slot];
        return all;
    };
    const float mean = over_cluster(sum, 0) / 16384.0f;
    float sq = 0;
    for (int i = 0; i < 4; i++) {
        const float a = v[i].x - mean, b = v[i].y - mean, c = v[i].z - mean, d = v[i].w - mean;
        sq += a * a + b * b + c * c + d * d;
    }
    const float rstd = rsqrtf(over_cluster(sq, 1) / 16384.0f + eps);
    auto act = [](float t) { return t / (1.0f + __expf(-t)); };
    for (int i = 0; i < 4; i++) {
        const float4 w = reinterpret_cast<const float4 *>(gain + g * 16)[i], b = reinterpret_cast<const float4 *>(bias + g * 16)[i];
        float4 o;
        o.x = act((v[i].x - mean) * rstd * w.x + b.x);
        o.y = act((v[i].y - mean) * rstd * w.y + b.y);
        o.z = act((v[i].z - mean) * rstd * w.z + b.z);
        o.w = act((v[i].w - mean) * rstd * w.w + b.w);
        reinterpret_cast<float4 *>(y + at)[i] = o;
    }
    cluster.sync();                                         // nobody leaves while its sums are read
}

//! philox_dropout_with_bias_and_residual_bits_kept 256 128 | f32:262144:-1:1 | f32:512:-1:1 | f32:262144:-1:1 | out f32:262144 | out u32:8192 | s s32 512 | s f32 0.15 | s u64 123456789 | s u64 42
struct Philox {
    uint2 key;
    __device__ explicit Philox(uint64_t seed) : key(make_uint2((uint32_t)seed, (uint32_t)(seed >> 32))) {}
    static __device__ __forceinline__ uint4 once(uint4 c, uint2 k)
    {
        const uint32_t h0 = __umulhi(0xD2511F53u, c.x), l0 = 0xD2511F53u * c.x, h1 = __umulhi(0xCD9E8D57u, c.z), l1 = 0xCD9E8D57u * c.z;
        return make_uint4(h1 ^ c.y ^ k.x, l1, h0 ^ c.w ^ k.y, l0);
    }
    __device__ uint4 at(uint64_t sub, uint64_t offset) const
    {
        uint4 c = make_uint4((uint32_t)offset, (uint32_t)(offset >> 32), (uint32_t)sub, (uint32_t)(sub >> 32));
        uint2 k = key;
#pragma unroll
        for (int i = 0; i < 9; i++) {
            c = once(c, k);
            k.x += 0x9E3779B9u;
            k.y += 0xBB67AE85u;
        }
        return once(c, k);
    }
};
K philox_dropout_with_bias_and_residual_bits_kept(const float4 *x, const float4 *bias, const float4 *residual, float4 *y, uint32_t *mask, int cols, float p, uint64_t seed, uint64_t offset)
{
    const Philox gen(seed);
    const float scale = 1.0f / (1.0f - p);
    const uint32_t limit = (uint32_t)(p * 4294967296.0f);
    for (int rep = 0; rep < 2; rep++) {
        const int i = (rep * gridDim.x + blockIdx.x) * blockDim.x + threadIdx.x;
        const uint4 r = gen.at(i, offset);
        const bool kx = r.x >= limit, ky = r.y >= limit, kz = r.z >= limit, kw = r.w >= limit;
        const float4 a = x[i], b = bias[i % (cols / 4)], c = residual[i];
        float4 o;
        o.x = c.x + (kx ? (a.x + b.x) * scale : 0.f);
        o.y = c.y + (ky ? (a.y + b.y) * scale : 0.f);
        o.z = c.z + (kz ? (a.z + b.z) * scale : 0.f);
        o.w = c.w + (kw ? (a.w + b.w) * scale : 0.f);
        y[i] = o;
        const unsigned bx = __ballot_sync(kFull, kx), by = __ballot_sync(kFull, ky), bz = __ballot_sync(kFull, kz), bw = __ballot_sync(kFull, kw);
        const int lane = threadIdx.x & 31;
        if (lane < 4) mask[(i >> 5) * 4 + lane] = lane == 0 ? bx : lane == 1 ? by : lane == 2 ? bz : bw;
    }
}

// ------------------------------------------------------------------------------------------------ searching

//! four_beams_step_with_twice_as_many_candidates 40 128 | f32:160000:-4:4 | f32:160:-20:0 | out s32:160 | out s32:160 | out f32:160 | out f32:40 | s s32 1000 | s s32 2 | s s32 9 | s f32 0.6
K four_beams_step_with_twice_as_many_candidates(const float *logits, const float *beam_scores, int *next_token, int *from_beam, float *next_score, float *best_done,
                                                int vocab, int eos, int length, float penalty)
{
    constexpr int B = 4, T = 128;
    __shared__ float lse[B], carried[B];
    __shared__ unsigned long long warp_best[T / 32];
    __shared__ unsigned long long chosen[2 * B];
    const int tid = threadIdx.x, lane = tid % 32, warp = tid / 32;
    const float *base = logits + (size_t)blockIdx.x * B * vocab;
    {                                                       // each warp normalises one beam
        const float *row = base + warp * vocab;
        float m = -FLT_MAX, s = 0;
        for (int i = lane; i < vocab; i += 32) m = fmaxf(m, row[i]);
        m = warp_all<MaxOp>(m);
        for (int i = lane; i < vocab; i += 32) s += expf(row[i] - m);
        s = warp_all<SumOp>(s);
        if (lane == 0) {
            lse[warp] = m + logf(s);
            carried[warp] = beam_scores[blockIdx.x * B + warp];
        }
    }
    __syncthreads();
    unsigned long long ceiling = ~0ull;
    for (int c = 0; c < 2 * B; c++) {
        unsigned long long best = 0;
        for (int b = 0; b < B; b++)
            for (int v = tid; v < vocab; v += T) {
                const float sc = carried[b] + base[b * vocab + v] - lse[b];
                const unsigned long long key = (unsigned long long)sortable(sc) << 32 | (uint32_t)(~(b * vocab + v));
                if (key < ceiling && key > best) best = key;
            }
        for (int o = 16; o; o >>= 1) {
            const unsigned long long other = __shfl_xor_sync(kFull, best, o);
            if (other > best) best = other;
        }
        if (lane == 0) warp_best[warp] = best;
        __syncthreads();
        best = warp_best[0];
        for (int w = 1; w < T / 32; w++) best = best > warp_best[w] ? best : warp_best[w];
        if (tid == 0) chosen[c] = best;
        ceiling = best;
        __syncthreads();
    }
    if (tid != 0) return;
    const float lp = powf((5.0f + length) / 6.0f, penalty);
    float done = -1e9f;
    int kept = 0;
    for (int c = 0; c < 2 * B && kept < B; c++) {
        const uint32_t ordered = (uint32_t)(chosen[c] >> 32), index = ~(uint32_t)chosen[c];
        const float sc = __uint_as_float(ordered & 0x80000000u ? ordered ^ 0x80000000u : ~ordered);
        const int beam = index / vocab, token = index % vocab;
        if (token == eos) {
            if (c < B) done = fmaxf(done, sc / lp);
            continue;
        }
        next_token[blockIdx.x * B + kept] = token;
        from_beam[blockIdx.x * B + kept] = beam;
        next_score[blockIdx.x * B + kept++] = sc;
    }
    best_done[blockIdx.x] = done;
}

//! best_sixty_four_merged_bitonically_chunk_by_chunk 96 64 | f16:98304:-10:10 | out f16:6144 | out u16:6144 | s s32 1024
// Each pair is a word: the sortable half above, the inverted place below.
template <bool DOWN> __device__ __forceinline__ void swap_if(uint32_t &a, uint32_t &b)
{
    if (DOWN ? a < b : a > b) {
        uint32_t t = a;
        a = b;
        b = t;
    }
}
K best_sixty_four_merged_bitonically_chunk_by_chunk(const __half *in, __half *vals, uint16_t *places, int n)
{
    __shared__ uint32_t s[64];
    const int t = threadIdx.x;
    const __half *row = in + blockIdx.x * n;
    uint32_t best = 0;
    for (int base = 0; base < n; base += 64) {
        const uint32_t bits = __half_as_ushort(row[base + t]);
        const uint32_t ord = (bits & 0x8000u) ? (~bits & 0xffffu) : (bits | 0x8000u);
        s[t] = ord << 16 | (0xffffu - (base + t));
        __syncthreads();
        for (int size = 2; size <= 64; size <<= 1)          // ascending, so that it meets the descending best
            for (int step = size >> 1; step; step >>= 1) {
                const int mate = t ^ step;
                if (mate > t) {
                    if (t & size) swap_if<true>(s[t], s[mate]);
                    else swap_if<false>(s[t], s[mate]);
                }
                __syncthreads();
            }
        if (s[t] > best) best = s[t];
        __syncthreads();
        s[t] = best;
        __syncthreads();
        for (int step = 32; step; step >>= 1) {
            if (!(t & step)) swap_if<true>(s[t], s[t | step]);
            __syncthreads();
        }
        best = s[t];
        __syncthreads();
    }
    const uint32_t ord = best >> 16;
    vals[blockIdx.x * 64 + t] = __ushort_as_half((unsigned short)((ord & 0x8000u) ? (ord & 0x7fffu) : (~ord & 0xffffu)));
    places[blockIdx.x * 64 + t] = (uint16_t)(0xffffu - (best & 0xffffu));
}

// ------------------------------------------------------------------------------------------------ cells and scans

//! gated_unit_with_its_weights_in_registers_over_twenty_steps 36 192 | f32:138240:-1:1 | f32:12288:-0.2:0.2 | f32:192:-0.1:0.1 | f32:2304:-0.5:0.5 | s32:36:5:21 | out f32:46080 | s s32 20
// The products with the inputs are given; sequences end early, then the states stay.
__device__ __forceinline__ float logistic(float v) { return 1.0f / (1.0f + __expf(-v)); }
K __launch_bounds__(192) gated_unit_with_its_weights_in_registers_over_twenty_steps(const float *__restrict__ gates_x, const float *__restrict__ w_hh, const float *__restrict__ b_hh,
                                                                                   const float *__restrict__ h0, const int *__restrict__ lengths, float *__restrict__ hs, int steps)
{
    constexpr int H = 64;
    __shared__ __align__(16) float h[H];
    __shared__ float pre[3 * H];
    __shared__ float xn[H];
    const int r = threadIdx.x, b = blockIdx.x, len = lengths[b];
    float4 w[H / 4];
#pragma unroll
    for (int i = 0; i < H / 4; i++) w[i] = reinterpret_cast<const float4 *>(w_hh + r * H)[i];
    const float bias = b_hh[r];
    if (r < H) h[r] = h0[b * H + r];
    __syncthreads();
    const float *gx = gates_x + (size_t)b * steps * 3 * H;
    float *to = hs + (size_t)b * steps * H;
    float next = gx[r];
    for (int t = 0; t < steps; t++) {
        const float x = next;
        if (t + 1 < steps) next = gx[(t + 1) * 3 * H + r];
        if (t < len) {
            float a0 = bias, a1 = 0, a2 = 0, a3 = 0;
#pragma unroll
            for (int i = 0; i < H / 4; i++) {
                const float4 v = reinterpret_cast<const float4 *>(h)[i];
                a0 += w[i].x * v.x;
                a1 += w[i].y * v.y;
                a2 += w[i].z * v.z;
                a3 += w[i].w * v.w;
            }
            const float dot = (a0 + a1) + (a2 + a3);
            if (r < 2 * H) pre[r] = logistic(dot + x);
            else {
                pre[r] = dot;
                xn[r - 2 * H] = x;
            }
            __syncthreads();
            if (r < H) {
                const float cand = tanhf(xn[r] + pre[r] * pre[2 * H + r]), z = pre[H + r];
                h[r] = (1.0f - z) * cand + z * h[r];
            }
            __syncthreads();
        }
        if (r < H) to[t * H + r] = h[r];
    }
}

//! selective_scan_four_steps_a_thread_then_gate 72,2 128 | f32:73728:-1:1 | f32:73728:-3:1 | f32:576:-2:0 | f32:8192:-1:1 | f32:8192:-1:1 | f32:72:-1:1 | f32:73728:-2:2 | f32:72:-1:1 | out f32:73728 | out f32:1152
// 2 sequences of 512 in 72 channels, eight states; u, delta, z and y are batch x channel x time, B and C batch x state x time.
struct Affine {
    float a, b;
    __device__ __forceinline__ Affine then(const Affine &o) const { return {a * o.a, fmaf(b, o.a, o.b)}; }
};
K selective_scan_four_steps_a_thread_then_gate(const float *__restrict__ u, const float *__restrict__ delta, const float *__restrict__ A, const float *__restrict__ Bm,
                                               const float *__restrict__ Cm, const float *__restrict__ D, const float *__restrict__ z, const float *__restrict__ delta_bias,
                                               float *__restrict__ y, float *__restrict__ last)
{
    constexpr int L = 512, N = 8, DIM = 72, ITEMS = 4;
    __shared__ Affine totals[2][4];
    const int d = blockIdx.x, b = blockIdx.y, tid = threadIdx.x, lane = tid & 31, warp = tid >> 5;
    const size_t row = ((size_t)b * DIM + d) * L / ITEMS + tid;
    auto load4 = [](const float *p, size_t i, float (&o)[4]) {
        const float4 v = reinterpret_cast<const float4 *>(p)[i];
        o[0] = v.x; o[1] = v.y; o[2] = v.z; o[3] = v.w;
    };
    float uu[ITEMS], dt[ITEMS], acc[ITEMS];
    load4(u, row, uu);
    load4(delta, row, dt);
    const float skip = D[d], db = delta_bias[d];
#pragma unroll
    for (int i = 0; i < ITEMS; i++) {
        const float v = dt[i] + db;
        dt[i] = v > 20.0f ? v : log1pf(__expf(v));
        acc[i] = skip * uu[i];
    }
#pragma unroll 2
    for (int n = 0; n < N; n++) {
        const float rate = A[d * N + n] * 1.44269504f;
        float bn[ITEMS], cn[ITEMS];
        load4(Bm, ((size_t)b * N + n) * (L / ITEMS) + tid, bn);
        load4(Cm, ((size_t)b * N + n) * (L / ITEMS) + tid, cn);
        Affine st[ITEMS];
#pragma unroll
        for (int i = 0; i < ITEMS; i++) {
            st[i] = {exp2f(dt[i] * rate), dt[i] * uu[i] * bn[i]};
            if (i) st[i] = st[i - 1].then(st[i]);
        }
        Affine inc = st[ITEMS - 1];
#pragma unroll
        for (int o = 1; o < 32; o <<= 1) {
            const Affine up = {__shfl_up_sync(kFull, inc.a, o), __shfl_up_sync(kFull, inc.b, o)};
            if (lane >= o) inc = up.then(inc);
        }
        if (lane == 31) totals[n & 1][warp] = inc;
        Affine before = {__shfl_up_sync(kFull, inc.a, 1), __shfl_up_sync(kFull, inc.b, 1)};
        if (lane == 0) before = {1.0f, 0.0f};
        __syncthreads();
        float state = 0.0f;
        for (int w = 0; w < warp; w++) state = fmaf(state, totals[n & 1][w].a, totals[n & 1][w].b);
        state = fmaf(state, before.a, before.b);
#pragma unroll
        for (int i = 0; i < ITEMS; i++) acc[i] = fmaf(cn[i], fmaf(state, st[i].a, st[i].b), acc[i]);
        if (tid == 127) last[(b * DIM + d) * N + n] = fmaf(state, st[ITEMS - 1].a, st[ITEMS - 1].b);
    }
    float gate[ITEMS];
    load4(z, row, gate);
#pragma unroll
    for (int i = 0; i < ITEMS; i++) acc[i] *= gate[i] / (1.0f + __expf(-gate[i]));
    reinterpret_cast<float4 *>(y)[row] = make_float4(acc[0], acc[1], acc[2], acc[3]);
}

// ------------------------------------------------------------------------------------------------ all pairs

//! dots_of_all_pairs_of_twenty_seven_features_by_units 140 128 | f16:241920:-1:1 | out f16:58240
// A sample has 27 vectors of 64; its answer is the first vector, then the lower triangle of the products, padded to 416.
K dots_of_all_pairs_of_twenty_seven_features_by_units(const __half *features, __half *answer)
{
    using namespace nvcuda;
    constexpr int F = 27, D = 64, PAIRS = F * (F - 1) / 2, WIDE = 416, LD = D + 8;
    __shared__ __align__(32) __half x[32 * LD];
    __shared__ __align__(32) float z[32 * 36];
    const __half *mine = features + (size_t)blockIdx.x * F * D;
    __half *res = answer + (size_t)blockIdx.x * WIDE;
    for (int i = threadIdx.x; i < 32 * D / 8; i += blockDim.x) {
        const int r = i / (D / 8), c = i % (D / 8) * 8;
        uint4 v = make_uint4(0, 0, 0, 0);
        if (r < F) v = *reinterpret_cast<const uint4 *>(mine + r * D + c);
        *reinterpret_cast<uint4 *>(x + r * LD + c) = v;
    }
    __syncthreads();
    const int warp = threadIdx.x / 32, tr = warp / 2, tc = warp % 2;
    if (tc <= tr) {
        wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
        wmma::fill_fragment(acc, 0.0f);
#pragma unroll
        for (int k = 0; k < D; k += 16) {
            wmma::fragment<wmma::matrix_a, 16, 16, 16, __half, wmma::row_major> a;
            wmma::fragment<wmma::matrix_b, 16, 16, 16, __half, wmma::col_major> b;
            wmma::load_matrix_sync(a, x + tr * 16 * LD + k, LD);
            wmma::load_matrix_sync(b, x + tc * 16 * LD + k, LD);
            wmma::mma_sync(acc, a, b, acc);
        }
        wmma::store_matrix_sync(z + tr * 16 * 36 + tc * 16, acc, 36, wmma::mem_row_major);
    }
    if (threadIdx.x < D) res[threadIdx.x] = x[threadIdx.x];
    __syncthreads();
    for (int i = threadIdx.x; i < WIDE - D; i += blockDim.x) {
        if (i >= PAIRS) {
            res[D + i] = __float2half(0.0f);
            continue;
        }
        int r = (int)((sqrtf(8.0f * i + 1.0f) + 1.0f) * 0.5f);
        while (r * (r - 1) / 2 > i) r--;
        while (r * (r + 1) / 2 <= i) r++;
        const int c = i - r * (r - 1) / 2;
        res[D + i] = __float2half(z[r * 36 + c]);
    }
}
