/* transformer.cu - what runs language models: norms, soft maxima, attention, rotations, packed weights, samples, and their steps backward. */
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <cfloat>
#include <cstdint>
#define K extern "C" __global__ void
#define WARP 32

__device__ __forceinline__ float warpReduceSum(float v)
{
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xFFFFFFFF, v, offset);
    return v;
}
__device__ __forceinline__ float warpReduceMax(float v)
{
    for (int offset = 16; offset > 0; offset /= 2) v = fmaxf(v, __shfl_xor_sync(0xFFFFFFFF, v, offset));
    return v;
}

//! softmax_row_a_thread 4 64 | f32:65536:-5:5 | out f32:65536 | s s32 256 | s s32 256
K softmax_row_a_thread(float *inp, float *out, int N, int C)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < N) {
        const float *inp_row = inp + i * C;
        float *out_row = out + i * C;
        float maxval = -INFINITY;
        for (int j = 0; j < C; j++)
            if (inp_row[j] > maxval) maxval = inp_row[j];
        double sum = 0.0;
        for (int j = 0; j < C; j++) {
            out_row[j] = expf(inp_row[j] - maxval);
            sum += out_row[j];
        }
        for (int j = 0; j < C; j++) out_row[j] /= (float)sum;
    }
}

//! softmax_block_of_shared_maxima 128 128 1024 | f32:131072:-5:5 | out f32:131072 | s s32 1024
K softmax_block_of_shared_maxima(const float *inp, float *out, int C)
{
    extern __shared__ float shared[];
    int idx = blockIdx.x, tid = threadIdx.x, warpId = tid / 32, laneId = tid % 32, warps = blockDim.x / 32;
    float *maxvals = shared, *sumvals = &shared[warps];
    const float *x = inp + idx * C;
    float m = -INFINITY;
    for (int i = tid; i < C; i += blockDim.x) m = fmaxf(m, x[i]);
    m = warpReduceMax(m);
    if (laneId == 0) maxvals[warpId] = m;
    __syncthreads();
    if (tid == 0) {
        float v = maxvals[tid];
        for (int i = 1; i < warps; i++) v = fmaxf(v, maxvals[i]);
        maxvals[0] = v;
    }
    __syncthreads();
    float offset = maxvals[0];
    for (int i = tid; i < C; i += blockDim.x) out[idx * C + i] = expf(x[i] - offset);
    float s = 0;
    for (int i = tid; i < C; i += blockDim.x) s += out[idx * C + i];
    s = warpReduceSum(s);
    if (laneId == 0) sumvals[warpId] = s;
    __syncthreads();
    if (tid == 0) {
        float v = sumvals[tid];
        for (int i = 1; i < warps; ++i) v += sumvals[i];
        sumvals[0] = v;
    }
    __syncthreads();
    float sum = sumvals[0];
    for (int i = tid; i < C; i += blockDim.x) out[idx * C + i] = out[idx * C + i] / sum;
}

//! layernorm_naive_a_thread_a_row 8 32 | out f32:98304 | out f32:256 | out f32:256 | f32:98304:-1:1 | f32:384:0.5:1.5 | f32:384:-1:1 | s s32 256 | s s32 384
K layernorm_naive_a_thread_a_row(float *out, float *mean, float *rstd, const float *inp, const float *weight, const float *bias, int N, int C)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    float eps = 1e-5f;
    if (idx < N) {
        const float *x = inp + idx * C;
        float m = 0.0f;
        for (int i = 0; i < C; i++) m += x[i];
        m = m / C;
        float v = 0.0f;
        for (int i = 0; i < C; i++) {
            float xshift = x[i] - m;
            v += xshift * xshift;
        }
        v = v / C;
        float s = 1.0f / sqrtf(v + eps);
        for (int i = 0; i < C; i++) out[idx * C + i] = (s * (x[i] - m)) * weight[i] + bias[i];
        mean[idx] = m;
        rstd[idx] = s;
    }
}

//! attention_scores_every_pair_a_thread 96 256 | out f32:24576 | f32:18432:-1:1 | s s32 1 | s s32 64 | s s32 96 | s s32 6
// B T C NH of scores B NH T T; the threads above the diagonal return.
K attention_scores_every_pair_a_thread(float *preatt, const float *inp, int B, int T, int C, int NH)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x, total = B * NH * T * T;
    if (idx < total) {
        int t2 = idx % T, t = (idx / T) % T;
        if (t2 > t) {
            preatt[idx] = -INFINITY;
            return;
        }
        int h = (idx / (T * T)) % NH, b = idx / (NH * T * T), C3 = C * 3, hs = C / NH;
        const float *q = inp + b * T * C3 + t * C3 + h * hs, *k = inp + b * T * C3 + t2 * C3 + h * hs + C;
        float val = 0.0f;
        for (int i = 0; i < hs; i++) val += q[i] * k[i];
        val *= 1.0 / sqrtf(hs);
        preatt[idx] = val;
    }
}

//! flash_forward_small_tiles 4,2 32 12672 | f32:32768:-1:1 | f32:32768:-1:1 | f32:32768:-1:1 | s s32 128 | s s32 32 | s s32 4 | s s32 4 | s s32 32 | s s32 32 | s f32 0.177 | zero f32:1024 | f32:1024:-1000:-999 | zero f32:32768
K flash_forward_small_tiles(const float *Q, const float *Kk, const float *V, const int N, const int d, const int Tc, const int Tr, const int Bc, const int Br,
                            const float scale, float *l, float *m, float *O)
{
    int tx = threadIdx.x, bx = blockIdx.x, by = blockIdx.y;
    int qkv = (bx * gridDim.y * N * d) + (by * N * d), lm = (bx * gridDim.y * N) + (by * N);
    extern __shared__ float sram[];
    const int tile = 32 * 33;
    float *Kj = sram, *Vj = &sram[tile], *S = &sram[tile * 2];
    for (int j = 0; j < Tc; j++) {
        __syncthreads();
        for (int x = 0; x < 32; x++) Kj[x * 33 + tx] = Kk[qkv + (j * Bc + x) * d + tx];
        __syncthreads();
        for (int x = 0; x < 32; x++) Vj[x * 33 + tx] = V[qkv + (j * Bc + x) * d + tx];
        __syncthreads();
        for (int i = 0; i < Tr; i++) {
            float row_m_prev = m[lm + Br * i + tx], row_l_prev = l[lm + Br * i + tx], row_m = -INFINITY;
            for (int y = 0; y < Bc; y++) {
                float sum = 0;
                for (int x = 0; x < 32; x++) sum += Q[qkv + (i * Br + tx) * d + x] * Kj[y * 33 + x];
                sum *= scale;
                S[33 * tx + y] = sum;
                if (sum > row_m) row_m = sum;
            }
            float row_l = 0;
            for (int y = 0; y < Bc; y++) {
                S[33 * tx + y] = __expf(S[33 * tx + y] - row_m);
                row_l += S[33 * tx + y];
            }
            float row_m_new = max(row_m_prev, row_m);
            float row_l_new = __expf(row_m_prev - row_m_new) * row_l_prev + __expf(row_m - row_m_new) * row_l;
            for (int x = 0; x < 32; x++) {
                float pv = 0;
                for (int y = 0; y < Bc; y++) pv += S[33 * tx + y] * Vj[y * 33 + x];
                float *o = &O[qkv + (i * Br + tx) * d + x];
                *o = (1 / row_l_new) * ((row_l_prev * __expf(row_m_prev - row_m_new) * *o) + (__expf(row_m - row_m_new) * pv));
            }
            m[lm + Br * i + tx] = row_m_new;
            l[lm + Br * i + tx] = row_l_new;
        }
    }
}

//! cross_entropy_and_its_gradient_vectors 64 256 | f32:131072:-4:4 | s32:64:0:2048 | out f32:64 | out f32:131072 | s s32 2048
K cross_entropy_and_its_gradient_vectors(const float *__restrict__ logits, const int *__restrict__ target, float *loss, float *__restrict__ grad, int V)
{
    __shared__ float part[8];
    const float4 *x = (const float4 *)(logits + (size_t)blockIdx.x * V);
    float4 *g = (float4 *)(grad + (size_t)blockIdx.x * V);
    float m = -FLT_MAX, s = 0;
    for (int i = threadIdx.x; i < V / 4; i += blockDim.x) {
        float4 v = x[i];
        float old = m;
        m = fmaxf(m, fmaxf(fmaxf(v.x, v.y), fmaxf(v.z, v.w)));
        s = s * __expf(old - m) + __expf(v.x - m) + __expf(v.y - m) + __expf(v.z - m) + __expf(v.w - m);
    }
    float wm = warpReduceMax(m);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = wm;
    __syncthreads();
    float bm = part[0];
    for (int i = 1; i < 8; i++) bm = fmaxf(bm, part[i]);
    __syncthreads();
    s = warpReduceSum(s * __expf(m - bm));
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    float bs = 0;
    for (int i = 0; i < 8; i++) bs += part[i];
    int t = target[blockIdx.x];
    if (threadIdx.x == 0) loss[blockIdx.x] = logf(bs) + bm - logits[(size_t)blockIdx.x * V + t];
    float inv = 1 / bs;
    for (int i = threadIdx.x; i < V / 4; i += blockDim.x) {
        float4 v = x[i];
        v.x = __expf(v.x - bm) * inv - (4 * i == t);
        v.y = __expf(v.y - bm) * inv - (4 * i + 1 == t);
        v.z = __expf(v.z - bm) * inv - (4 * i + 2 == t);
        v.w = __expf(v.w - bm) * inv - (4 * i + 3 == t);
        g[i] = v;
    }
}

//! encoder_adds_tokens_and_positions 96 256 | out f32:98304 | s32:256:0:500 | f32:192000:-1:1 | f32:49152:-1:1 | s s32 2 | s s32 128 | s s32 384
K encoder_adds_tokens_and_positions(float *out, const int *inp, const float *wte, const float *wpe, int B, int T, int C)
{
    int idx = (blockIdx.x * blockDim.x + threadIdx.x) * 4, N = B * T * C;
    if (idx < N) {
        int bt = idx / C, b = bt / T, t = bt % T, c = idx % C, ix = inp[b * T + t];
        const float4 a = *(const float4 *)&wte[ix * C + c], p = *(const float4 *)&wpe[t * C + c];
        *(float4 *)&out[b * T * C + t * C + c] = make_float4(a.x + p.x, a.y + p.y, a.z + p.z, a.w + p.w);
    }
}

//! rows_of_q4_blocks_times_vector 128 32,4 | u32:147456 | f32:2048:-1:1 | out f32:512 | s s32 2048
// Blocks of 32 weights: a half scale and 16 bytes with two values each, 18 bytes a block without padding.
struct __align__(2) q4_block { __half d; uint8_t qs[16]; };
K rows_of_q4_blocks_times_vector(const q4_block *__restrict__ w, const float *__restrict__ x, float *__restrict__ y, int n)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, blocks = n / 32;
    const q4_block *r = w + (size_t)row * blocks;
    float s = 0;
    for (int b = threadIdx.x; b < blocks; b += 32) {
        float d = (float)(__half_as_ushort(r[b].d) & 0x3ff) * 0.001f, t = 0;
#pragma unroll
        for (int i = 0; i < 16; i++) {
            int q = r[b].qs[i];
            t += ((q & 15) - 8) * x[b * 32 + i] + ((q >> 4) - 8) * x[b * 32 + i + 16];
        }
        s += d * t;
    }
    s = warpReduceSum(s);
    if (threadIdx.x == 0) y[row] = s;
}

//! rotary_halves_of_heads 128 64 | inout bf16:65536:-1:1 | s32:128:0:4096 | s s32 8 | s s32 64 | s f32 10000
K rotary_halves_of_heads(__nv_bfloat16 *q, const int *pos, int heads, int hd, float base)
{
    int token = blockIdx.x;
    for (int i = threadIdx.x; i < heads * hd / 2; i += blockDim.x) {
        int h = i / (hd / 2), j = i % (hd / 2);
        float freq = powf(base, -2.0f * j / hd), s, c;
        sincosf(pos[token] * freq, &s, &c);
        __nv_bfloat16 *p = q + ((size_t)token * heads + h) * hd;
        float a = __bfloat162float(p[j]), b = __bfloat162float(p[j + hd / 2]);
        p[j] = __float2bfloat16(a * c - b * s);
        p[j + hd / 2] = __float2bfloat16(a * s + b * c);
    }
}

//! gemv_of_bf16_rows_four_warps 256 128 | bf16:1048576:-1:1 | bf16:1024:-1:1 | out bf16:1024 | s s32 1024
K gemv_of_bf16_rows_four_warps(const __nv_bfloat16 *__restrict__ W, const __nv_bfloat16 *__restrict__ x, __nv_bfloat16 *__restrict__ y, int n)
{
    int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x & 31;
    const uint4 *w = (const uint4 *)(W + (size_t)row * n), *v = (const uint4 *)x;
    float s = 0;
    for (int i = lane; i < n / 8; i += 32) {
        uint4 a = w[i], b = v[i];
        const __nv_bfloat162 *pa = (const __nv_bfloat162 *)&a, *pb = (const __nv_bfloat162 *)&b;
#pragma unroll
        for (int k = 0; k < 4; k++) {
            float2 fa = __bfloat1622float2(pa[k]), fb = __bfloat1622float2(pb[k]);
            s += fa.x * fb.x + fa.y * fb.y;
        }
    }
    s = warpReduceSum(s);
    if (lane == 0) y[row] = __float2bfloat16(s);
}

//! residual_then_layernorm_cached_row 64 32,4 | out f32:196608 | out f32:196608 | f32:196608:-1:1 | f32:196608:-1:1 | f32:768:0.5:1.5 | f32:768:-1:1 | s s32 768
K residual_then_layernorm_cached_row(float *residual, float *normed, const float *a, const float *b, const float *weight, const float *bias, int C)
{
    __shared__ float rows[4][768];
    int row = blockIdx.x * 4 + threadIdx.y;
    float sum = 0;
    for (int c = threadIdx.x; c < C; c += 32) {
        float v = a[row * C + c] + b[row * C + c];
        residual[row * C + c] = v;
        rows[threadIdx.y][c] = v;
        sum += v;
    }
    for (int o = 16; o; o >>= 1) sum += __shfl_xor_sync(~0u, sum, o);
    float m = sum / C, v = 0;
    for (int c = threadIdx.x; c < C; c += 32) v += (rows[threadIdx.y][c] - m) * (rows[threadIdx.y][c] - m);
    for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(~0u, v, o);
    float s = rsqrtf(v / C + 1e-5f);
    for (int c = threadIdx.x; c < C; c += 32) normed[row * C + c] = s * (rows[threadIdx.y][c] - m) * weight[c] + bias[c];
}

//! gelu_backward_of_pairs 192 256 | f32:98304:-3:3 | f32:98304:-1:1 | out f32:98304 | s s32 98304
K gelu_backward_of_pairs(const float2 *inp, const float2 *dout, float2 *dinp, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 2 >= n) return;
    float2 x = inp[i], d = dout[i], r;
    auto g = [](float x) {
        float cube = 0.044715f * x * x * x, arg = 0.7978845608f * (x + cube), t = tanhf(arg), c = coshf(arg), sech = 1.0f / (c * c);
        return 0.5f * (1.0f + t) + x * 0.5f * sech * 0.7978845608f * (1.0f + 3.0f * 0.044715f * x * x);
    };
    r.x = g(x.x) * d.x;
    r.y = g(x.y) * d.y;
    dinp[i] = r;
}

//! one_token_chosen_by_running_sum 16 256 | f32:65536:0:0.001 | f32:16:0:1 | out s32:16 | s s32 4096
// Sum of all, a prefix by threads, the first place beyond the coin.
K one_token_chosen_by_running_sum(const float *p, const float *coin, int *token, int V)
{
    __shared__ float run[256];
    __shared__ int found;
    const float *row = p + blockIdx.x * V;
    int per = V / 256, at = threadIdx.x * per;
    float s = 0;
    for (int i = 0; i < per; i++) s += row[at + i];
    run[threadIdx.x] = s;
    if (threadIdx.x == 0) found = V - 1;
    __syncthreads();
    for (int d = 1; d < 256; d *= 2) {
        float v = threadIdx.x >= d ? run[threadIdx.x - d] : 0;
        __syncthreads();
        run[threadIdx.x] += v;
        __syncthreads();
    }
    float want = coin[blockIdx.x] * run[255], before = threadIdx.x ? run[threadIdx.x - 1] : 0;
    if (want >= before && want < run[threadIdx.x]) {
        int i = 0;
        for (; i < per - 1; i++) {
            before += row[at + i];
            if (before > want) break;
        }
        atomicMin(&found, at + i);
    }
    __syncthreads();
    if (threadIdx.x == 0) token[blockIdx.x] = found;
}

//! weights_of_bytes_and_row_scales_linear 16,16 16,16 | f32:65536:-1:1 | s8:65536 | f32:256:0:0.01 | out f32:65536 | s s32 256
K weights_of_bytes_and_row_scales_linear(const float *x, const int8_t *w, const float *scale, float *y, int n)
{
    __shared__ float xs[16][17];
    __shared__ float ws[16][17];
    int tx = threadIdx.x, ty = threadIdx.y, r = blockIdx.y * 16, c = blockIdx.x * 16;
    float s = 0;
    for (int k = 0; k < n; k += 16) {
        xs[ty][tx] = x[(r + ty) * n + k + tx];
        ws[ty][tx] = (float)w[(c + ty) * n + k + tx];
        __syncthreads();
#pragma unroll
        for (int i = 0; i < 16; i++) s += xs[ty][i] * ws[tx][i];
        __syncthreads();
    }
    y[(r + ty) * n + c + tx] = s * scale[c + tx];
}
