/* inference.cu - what a language model runs for every token, forward and a little backward. */
#include <cstdint>
#include <cfloat>
#include <cuda_fp16.h>
#include <cuda_bf16.h>
#define K extern "C" __global__ void

__device__ __forceinline__ float warp_sum(float x)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) x += __shfl_xor_sync(0xffffffff, x, mask, 32);
    return x;
}

__device__ __forceinline__ float warp_max(float x)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, mask, 32));
    return x;
}

//! tokens_and_places 512 256 | out f32:524288 | s32:2048:0:500 | f32:128000:-1:1 | f32:65536:-1:1 | s s32 8 | s s32 256 | s s32 256
K tokens_and_places(float *out, const int *inp, const float *wte, const float *wpe, int B, int T, int C)
{
    int idx = (blockIdx.x * blockDim.x + threadIdx.x) * 4;
    int N = B * T * C;
    if (idx < N) {
        int bt = idx / C, b = bt / T, t = bt % T, c = idx % C;
        int ix = inp[b * T + t];
        float4 e = *(const float4 *)(wte + ix * C + c), p = *(const float4 *)(wpe + t * C + c);
        *(float4 *)(out + b * T * C + t * C + c) = make_float4(e.x + p.x, e.y + p.y, e.z + p.z, e.w + p.w);
    }
}

//! layernorm_a_warp_a_row 64 128 | out f32:196608 | out f32:256 | out f32:256 | f32:196608:-1:1 | f32:768:0.5:1.5 | f32:768:-1:1 | s s32 256 | s s32 768
K layernorm_a_warp_a_row(float *__restrict__ out, float *__restrict__ mean, float *__restrict__ rstd, const float *__restrict__ inp,
                         const float *__restrict__ weight, const float *__restrict__ bias, int N, int C)
{
    int idx = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32, lane = threadIdx.x % 32;
    if (idx >= N) return;
    const float *x = inp + idx * C;
    float sum = 0.0f;
    for (int i = lane; i < C; i += 32) sum += x[i];
    float m = warp_sum(sum) / C;
    if (lane == 0 && mean != nullptr) __stcs(mean + idx, m);
    sum = 0.0f;
    for (int i = lane; i < C; i += 32) {
        float diff = x[i] - m;
        sum += diff * diff;
    }
    float s = rsqrtf(warp_sum(sum) / C + 1e-5f);
    if (lane == 0 && rstd != nullptr) __stcs(rstd + idx, s);
    float *o = out + idx * C;
    for (int c = lane; c < C; c += 32) {
        float n = s * (__ldcs(x + c) - m);
        __stcs(o + c, n * weight[c] + bias[c]);
    }
}

//! heads_permuted 384 256 | out f32:98304 | out f32:98304 | out f32:98304 | f32:294912:-1:1 | s s32 2 | s s32 64 | s s32 12 | s s32 64
K heads_permuted(float *q, float *k, float *v, const float *inp, int B, int N, int NH, int d)
{
    int idx = blockIdx.x * blockDim.x + threadIdx.x;
    if (idx < B * NH * N * d) {
        int b = idx / (NH * N * d), rest = idx % (NH * N * d);
        int nh_ = rest / (N * d);
        rest = rest % (N * d);
        int n = rest / d, d_ = rest % d;
        int inp_idx = (b * N * 3 * NH * d) + (n * 3 * NH * d) + (0 * NH * d) + (nh_ * d) + d_;
        q[idx] = inp[inp_idx];
        k[idx] = inp[inp_idx + NH * d];
        v[idx] = inp[inp_idx + 2 * (NH * d)];
    }
}

//! triangle_softmax 96 128 | out f32:65536 | s f32 0.125 | f32:65536:-8:8 | s s32 4 | s s32 128
// Attention over what came before, a warp a row, four values a load, the maximum kept up as the row goes by.
K triangle_softmax(float *out, float inv_temperature, const float *inp, int N, int T)
{
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, warps = blockDim.x / 32;
    int idx = (gridDim.x - blockIdx.x - 1) * warps + warp;
    if (idx >= N * T) return;
    int own_pos = idx % T, pos_by_4 = own_pos / 4;
    const float *x = inp + idx * T;
    float maxval = -FLT_MAX, sumval = 0.0f;
    const float4 *x4 = reinterpret_cast<const float4 *>(x);
    for (int i = lane; i < pos_by_4; i += 32) {
        float4 v = x4[i];
        float old = maxval;
        maxval = fmaxf(fmaxf(maxval, fmaxf(v.x, v.y)), fmaxf(v.z, v.w));
        sumval *= expf(inv_temperature * (old - maxval));
        sumval += expf(inv_temperature * (v.x - maxval)) + expf(inv_temperature * (v.y - maxval));
        sumval += expf(inv_temperature * (v.z - maxval)) + expf(inv_temperature * (v.w - maxval));
    }
    if (4 * pos_by_4 + lane <= own_pos) {
        float old = maxval;
        maxval = fmaxf(maxval, x[4 * pos_by_4 + lane]);
        sumval *= expf(inv_temperature * (old - maxval));
        sumval += expf(inv_temperature * (x[4 * pos_by_4 + lane] - maxval));
    }
    float global_max = warp_max(maxval);
    sumval *= expf(inv_temperature * (maxval - global_max));
    float norm = 1.f / warp_sum(sumval);
    for (int i = lane; i <= own_pos; i += 32) __stcs(out + idx * T + i, expf(inv_temperature * (__ldcs(x + i) - global_max)) * norm);
}

//! gelu_by_tanh 132 256 | out f32:135168 | f32:135168:-3:3 | s s32 135000
K gelu_by_tanh(float *out, const float *inp, int N)
{
    for (int i = (blockIdx.x * blockDim.x + threadIdx.x) * 4; i < N; i += gridDim.x * blockDim.x * 4) {
        float4 v = *(const float4 *)(inp + i);
        float *p = &v.x;
        for (int k = 0; k < 4; k++) {
            float x = p[k], cube = 0.044715f * x * x * x;
            p[k] = 0.5f * x * (1.0f + tanhf(0.7978845608f * (x + cube)));
        }
        *(float4 *)(out + i) = v;
    }
}

//! loss_of_the_target 20 128 | out f32:2560 | f32:512000 | s32:2560:0:200 | s s32 40 | s s32 64 | s s32 200
K loss_of_the_target(float *losses, const float *probs, const int *targets, int B, int T, int V)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < B * T) {
        int b = i / T, t = i % T;
        const float *p = probs + b * T * V + t * V;
        losses[i] = -logf(p[targets[b * T + t]]);
    }
}

//! adamw_with_decay 500 256 | inout f32:128000:-1:1 | f32:128000:-0.1:0.1 | inout f32:128000:-0.1:0.1 | inout f32:128000:0:0.01 | s s32 127990 | s f32 0.001 | s f32 0.9 | s f32 0.999 | s f32 0.1 | s f32 0.001 | s f32 1e-8 | s f32 0.01
__device__ inline float lerp1(float start, float end, float weight) { return fmaf(weight, end, fmaf(-weight, start, start)); }
K adamw_with_decay(float *params, const float *grads, float *m_memory, float *v_memory, int num, float rate, float beta1, float beta2, float correct1,
                   float correct2, float eps, float decay)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= num) return;
    float grad = grads[i], m = m_memory[i], v = v_memory[i];
    m = lerp1(grad, m, beta1);
    m_memory[i] = m;
    v = lerp1(grad * grad, v, beta2);
    v_memory[i] = v;
    m /= correct1;
    v /= correct2;
    params[i] -= rate * (m / (sqrtf(v) + eps) + decay * params[i]);
}

//! bias_backward_sum 12 256 1024 | zero f32:384 | f32:98304:-1:1 | s s32 256 | s s32 384
// 32 columns a block, eight warps take rows.
K bias_backward_sum(float *dbias, const float *dout, int BT, int OC)
{
    extern __shared__ float smem[];
    int warp = threadIdx.x / 32, lane = threadIdx.x % 32, tl = blockIdx.x * 32, vstep = blockDim.x / 32;
    const float *column = dout + tl + lane;
    float sum = 0.0f;
    for (int row = warp; row < BT; row += vstep) sum += column[row * OC];
    smem[lane + warp * 32] = sum;
    __syncthreads();
    sum = 0.0f;
    if (warp == 0) {
        for (int j = 0; j < vstep; j++) sum += smem[lane + j * 32];
        dbias[tl + lane] += sum;
    }
}

//! four_bit_rows_times_vector 128 32,4 | u32:131072 | f16:32768:0:0.1 | f32:2048:-1:1 | out f32:512 | s s32 2048
// Blocks of 32 weights of four bits and a scale: the low nibbles are the first sixteen.
K four_bit_rows_times_vector(const uint32_t *qs, const half *scale, const float *y, float *dst, int ncols)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, tid = threadIdx.x, blocks = ncols / 32;
    float tmp = 0.0f;
    for (int i = tid; i < blocks; i += 32) {
        float d = __half2float(scale[row * blocks + i]), part = 0;
        for (int w = 0; w < 4; w++) {
            uint32_t v = qs[(row * blocks + i) * 4 + w];
#pragma unroll
            for (int b = 0; b < 4; b++) {
                int q = v >> (8 * b) & 0xff;
                part += (float)((q & 0xf) - 8) * y[i * 32 + w * 4 + b];
                part += (float)((q >> 4) - 8) * y[i * 32 + w * 4 + b + 16];
            }
        }
        tmp += d * part;
    }
    tmp = warp_sum(tmp);
    if (tid == 0) dst[row] = tmp;
}

//! bytes_with_scale_dot 64 128 | s8:262144:-127:128 | f32:8192:0:0.01 | s8:1024:-127:128 | f32:32:0:0.01 | out f32:256 | s s32 32
// Both sides in blocks of 32 bytes, four bytes a product.
K bytes_with_scale_dot(const int *wq, const float *wd, const int *xq, const float *xd, float *dst, int blocks)
{
    int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    float acc = 0;
    for (int g = lane; g < blocks * 8; g += 32) {
        int b = g / 8, sum = __dp4a(wq[row * blocks * 8 + g], xq[g], 0);
        acc += wd[row * blocks + b] * xd[b] * (float)sum;
    }
    acc = warp_sum(acc);
    if (lane == 0) dst[row] = acc;
}

//! activations_to_bytes 64 256 | f32:65536:-3:3 | out s8:65536 | out f32:2048 | out f32:2048 | s s32 65536
K activations_to_bytes(const float *x, int8_t *q, float *ds, float *sums, int n)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    for (; i < n; i += gridDim.x * blockDim.x) {
        float xi = x[i], amax = fabsf(xi), sum = xi;
        amax = warp_max(amax);
        sum = warp_sum(sum);
        float d = amax / 127;
        q[i] = amax == 0.0f ? 0 : roundf(xi / d);
        if (i % 32 > 0) continue;
        ds[i / 32] = d;
        sums[i / 32] = sum;
    }
}

//! interleaved_rope 8,64 32 | f32:32768:-1:1 | out f32:32768 | s32:64:0:4096 | s s32 512 | s s32 64 | s f32 0.25 | s f32 0.864
K interleaved_rope(const float *x, float *dst, const int *pos, int ncols, int ndims, float freq_scale, float theta_scale)
{
    int col = 2 * (blockDim.x * blockIdx.x + threadIdx.x), row = blockIdx.y;
    if (col >= ncols) return;
    int i = row * ncols + col, in_head = col % ndims;
    float theta = pos[row] * freq_scale * powf(theta_scale, in_head / 2.0f);
    float c, s;
    sincosf(theta, &s, &c);
    float x0 = x[i], x1 = x[i + 1];
    dst[i] = x0 * c - x1 * s;
    dst[i + 1] = x0 * s + x1 * c;
}

//! rms_of_bf16_rows 256 256 | bf16:524288:-1:1 | bf16:2048:0.5:1.5 | out bf16:524288 | s s32 2048 | s f32 0.00001
K rms_of_bf16_rows(const __nv_bfloat16 *x, const __nv_bfloat16 *w, __nv_bfloat16 *y, int cols, float eps)
{
    __shared__ float part[8];
    const __nv_bfloat162 *row = (const __nv_bfloat162 *)(x + blockIdx.x * cols);
    float s = 0;
    for (int i = threadIdx.x; i < cols / 2; i += blockDim.x) {
        float2 v = __bfloat1622float2(row[i]);
        s += v.x * v.x + v.y * v.y;
    }
    s = warp_sum(s);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    s = threadIdx.x % 32 < 8 ? part[threadIdx.x % 32] : 0;
    s = warp_sum(s);
    float scale = rsqrtf(s / cols + eps);
    for (int i = threadIdx.x; i < cols / 2; i += blockDim.x) {
        float2 v = __bfloat1622float2(row[i]), g = __bfloat1622float2(((const __nv_bfloat162 *)w)[i]);
        ((__nv_bfloat162 *)(y + blockIdx.x * cols))[i] = __floats2bfloat162_rn(v.x * scale * g.x, v.y * scale * g.y);
    }
}

//! silu_times_up 2000 128 | f16:512000:-4:4 | f16:512000:-2:2 | out f16:512000 | s s32 512000
K silu_times_up(const half2 *gate, const half2 *up, half2 *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i * 2 >= n) return;
    float2 g = __half22float2(gate[i]), u = __half22float2(up[i]);
    g.x = g.x / (1.0f + __expf(-g.x)) * u.x;
    g.y = g.y / (1.0f + __expf(-g.y)) * u.y;
    out[i] = __float22half2_rn(g);
}

//! one_query_many_keys 16 128 | f32:1024:-1:1 | f16:524288:-1:1 | f16:524288:-1:1 | out f32:1024 | s s32 500 | s f32 0.125
// One head a block, 64 wide: scores to shared memory, softmax, then a weighted sum of values by two halves of the block.
K one_query_many_keys(const float *q, const half *k, const half *v, float *out, int len, float scale)
{
    __shared__ float score[512], red[4], qs[64], acc[64];
    int h = blockIdx.x, t = threadIdx.x;
    if (t < 64) qs[t] = q[h * 64 + t] * scale;
    __syncthreads();
    float m = -1e30f;
    for (int j = t; j < len; j += 128) {
        const half2 *kr = (const half2 *)(k + (h * 512 + j) * 64);
        float s = 0;
#pragma unroll 8
        for (int d = 0; d < 32; d++) {
            float2 kk = __half22float2(kr[d]);
            s += qs[2 * d] * kk.x + qs[2 * d + 1] * kk.y;
        }
        score[j] = s;
        m = fmaxf(m, s);
    }
    m = warp_max(m);
    if (t % 32 == 0) red[t / 32] = m;
    __syncthreads();
    m = fmaxf(fmaxf(red[0], red[1]), fmaxf(red[2], red[3]));
    __syncthreads();
    float sum = 0;
    for (int j = t; j < len; j += 128) sum += score[j] = __expf(score[j] - m);
    sum = warp_sum(sum);
    if (t % 32 == 0) red[t / 32] = sum;
    __syncthreads();
    sum = red[0] + red[1] + red[2] + red[3];
    float o = 0;
    for (int j = t / 64; j < len; j += 2) o += score[j] * __half2float(v[(h * 512 + j) * 64 + t % 64]);
    if (t >= 64) acc[t - 64] = o;
    __syncthreads();
    if (t < 64) out[h * 64 + t] = (o + acc[t]) / sum;
}

//! tiles_of_attention 4,4 32 16384 | f32:32768:-1:1 | f32:32768:-1:1 | f32:32768:-1:1 | s s32 64 | s s32 32 | s s32 2 | s s32 2 | s s32 32 | s s32 32 | s f32 0.1767767 | zero f32:1024 | f32:1024:-10000:-9999 | zero f32:32768
// The shortest way to write it: one warp a tile of queries, keys and values tile by tile, everything through memory.
K tiles_of_attention(const float *Q, const float *Kx, const float *V, int N, int d, int Tc, int Tr, int Bc, int Br, float softmax_scale, float *l, float *m,
                     float *O)
{
    extern __shared__ float sram[];
    int tx = threadIdx.x, bx = blockIdx.x, by = blockIdx.y;
    int qkv = (bx * gridDim.y * N * d) + (by * N * d), lm = (bx * gridDim.y * N) + (by * N), tile = Bc * d;
    float *Qi = sram, *Kj = &sram[tile], *Vj = &sram[tile * 2], *S = &sram[tile * 3];
    for (int j = 0; j < Tc; j++) {
        for (int x = 0; x < d; x++) {
            Kj[tx * d + x] = Kx[qkv + tile * j + tx * d + x];
            Vj[tx * d + x] = V[qkv + tile * j + tx * d + x];
        }
        __syncthreads();
        for (int i = 0; i < Tr; i++) {
            for (int x = 0; x < d; x++) Qi[tx * d + x] = Q[qkv + tile * i + tx * d + x];
            float row_m_prev = m[lm + Br * i + tx], row_l_prev = l[lm + Br * i + tx];
            float row_m = -INFINITY;
            for (int y = 0; y < Bc; y++) {
                float sum = 0;
                for (int x = 0; x < d; x++) sum += Qi[tx * d + x] * Kj[y * d + x];
                sum *= softmax_scale;
                S[Bc * tx + y] = sum;
                if (sum > row_m) row_m = sum;
            }
            float row_l = 0;
            for (int y = 0; y < Bc; y++) {
                S[Bc * tx + y] = __expf(S[Bc * tx + y] - row_m);
                row_l += S[Bc * tx + y];
            }
            float row_m_new = max(row_m_prev, row_m);
            float row_l_new = __expf(row_m_prev - row_m_new) * row_l_prev + __expf(row_m - row_m_new) * row_l;
            for (int x = 0; x < d; x++) {
                float pv = 0;
                for (int y = 0; y < Bc; y++) pv += S[Bc * tx + y] * Vj[y * d + x];
                O[qkv + tile * i + tx * d + x] = (1 / row_l_new) * ((row_l_prev * __expf(row_m_prev - row_m_new) * O[qkv + tile * i + tx * d + x]) +
                                                                     (__expf(row_m - row_m_new) * pv));
            }
            m[lm + Br * i + tx] = row_m_new;
            l[lm + Br * i + tx] = row_l_new;
        }
        __syncthreads();
    }
}

//! best_token_of_row 8 1024 | f32:256000:-10:10 | out s32:8 | s s32 32000
K best_token_of_row(const float *logits, int *token, int V)
{
    __shared__ float vals[32];
    __shared__ int cols[32];
    const float *row = logits + (size_t)blockIdx.x * V;
    float best = -FLT_MAX;
    int at = -1;
    for (int c = threadIdx.x; c < V; c += blockDim.x)
        if (row[c] > best) {
            best = row[c];
            at = c;
        }
#pragma unroll
    for (int mask = 16; mask > 0; mask >>= 1) {
        float v = __shfl_xor_sync(0xffffffff, best, mask);
        int c = __shfl_xor_sync(0xffffffff, at, mask);
        if (v > best || (v == best && c < at)) {
            best = v;
            at = c;
        }
    }
    if (threadIdx.x % 32 == 0) {
        vals[threadIdx.x / 32] = best;
        cols[threadIdx.x / 32] = at;
    }
    __syncthreads();
    if (threadIdx.x < 32) {
        best = vals[threadIdx.x];
        at = cols[threadIdx.x];
        for (int mask = 16; mask > 0; mask >>= 1) {
            float v = __shfl_xor_sync(0xffffffff, best, mask);
            int c = __shfl_xor_sync(0xffffffff, at, mask);
            if (v > best || (v == best && c < at)) {
                best = v;
                at = c;
            }
        }
        if (threadIdx.x == 0) token[blockIdx.x] = at;
    }
}

//! repeats_made_unlikely 125 256 | inout f32:32000:-10:10 | s32:256:0:32000 | s s32 32000 | s s32 256 | s f32 1.3 | s f32 0.2
K repeats_made_unlikely(float *logits, const int *history, int V, int n, float repeat, float presence)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= V) return;
    int count = 0;
    for (int j = 0; j < n; j++) count += history[j] == i;
    if (count == 0) return;
    float x = logits[i];
    x = x > 0 ? x / repeat : x * repeat;
    logits[i] = x - presence * (float)count;
}

//! keys_into_pages 64 128 | f16:65536:-1:1 | f16:65536:-1:1 | zero f16:262144 | zero f16:262144 | s32:64:-8:256 | s s32 1024 | s s32 16 | s s32 64 | s s32 16 | unordered
// A token that has no place (negative) leaves at once; keys are laid out in eights.
K keys_into_pages(const half *key, const half *value, half *kc, half *vc, const int *slots, int stride, int heads, int size, int block_size)
{
    int token = blockIdx.x, slot = slots[token];
    if (slot < 0) return;
    int block = slot / block_size, offset = slot % block_size, n = heads * size;
    for (int i = threadIdx.x; i < n; i += blockDim.x) {
        int head = i / size, ho = i % size, x_idx = ho / 8, xo = ho % 8;
        kc[block * heads * (size / 8) * block_size * 8 + head * (size / 8) * block_size * 8 + x_idx * block_size * 8 + offset * 8 + xo] = key[token * stride + i];
        vc[block * heads * size * block_size + head * size * block_size + ho * block_size + offset] = value[token * stride + i];
    }
}
