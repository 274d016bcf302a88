/* fullgrids.cu - sums, prefixes, copies, gathers and rows of layers in grids that fill the machine once or several times. */
#include <cstdint>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#define K extern "C" __global__ void

//! sum_of_pairs_by_shuffles 264 256 | f32:1081344:-1:1 | out f32:264
// Eight float2 a thread, then warps, then the first warp.
K sum_of_pairs_by_shuffles(const float2 *x, float *sums)
{
    __shared__ float part[8];
    const float2 *p = x + blockIdx.x * 2048 + threadIdx.x;
    float s = 0.0f;
#pragma unroll
    for (int k = 0; k < 8; k++) {
        float2 v = p[k * 256];
        s += v.x - 0.5f * v.y;
    }
    for (int d = 16; d; d /= 2) s += __shfl_xor_sync(~0u, s, d);
    if (threadIdx.x % 32 == 0) part[threadIdx.x / 32] = s;
    __syncthreads();
    if (threadIdx.x < 8) {
        s = part[threadIdx.x];
        for (int d = 4; d; d /= 2) s += __shfl_down_sync(0xff, s, d, 8);
        if (threadIdx.x == 0) sums[blockIdx.x] = s;
    }
}

//! products_of_residues 396 128 | u32:202752 | out u32:396
// A product modulo a prime, tree in shared memory from the front half.
K products_of_residues(const uint32_t *x, uint32_t *out)
{
    __shared__ uint64_t s[128];
    const uint64_t p = 4294967291u;
    uint64_t v = 1;
    for (int k = 0; k < 4; k++) v = v * (x[(blockIdx.x * 4 + k) * 128 + threadIdx.x] | 1) % p;
    s[threadIdx.x] = v;
    for (int half = 64; half > 0; half >>= 1) {
        __syncthreads();
        if (threadIdx.x < half) s[threadIdx.x] = s[threadIdx.x] * s[threadIdx.x + half] % p;
    }
    if (threadIdx.x == 0) out[blockIdx.x] = (uint32_t)s[0];
}

//! largest_and_its_place 264 192 | f32:506880:-100:100 | out f32:264 | out s32:264
K largest_and_its_place(const float *x, float *value, int *place)
{
    __shared__ float v[192];
    __shared__ int at[192];
    int t = threadIdx.x, base = blockIdx.x * 1920, best = base + t;
    float m = x[best];
    for (int k = 1; k < 10; k++) {
        float y = x[base + k * 192 + t];
        if (y > m) {
            m = y;
            best = base + k * 192 + t;
        }
    }
    v[t] = m;
    at[t] = best;
    __syncthreads();
    for (int n = 96; n >= 3; n /= 2) {
        if (t < n && (v[t + n] > v[t] || (v[t + n] == v[t] && at[t + n] < at[t]))) {
            v[t] = v[t + n];
            at[t] = at[t + n];
        }
        __syncthreads();
    }
    if (t == 0) {
        int w = v[1] > v[0] ? 1 : 0;
        if (v[2] > v[w]) w = 2;
        value[blockIdx.x] = v[w];
        place[blockIdx.x] = at[w];
    }
}

//! dots_of_halves_striding 132 512 | f16:1351680:-1:1 | f16:1351680:-1:1 | out f32:132 | s s32 675840
K dots_of_halves_striding(const __half2 *a, const __half2 *b, float *out, int n)
{
    __shared__ float s[16];
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float2 u = __half22float2(a[i]), v = __half22float2(b[i]);
        sum = fmaf(u.x, v.x, fmaf(u.y, v.y, sum));
    }
    for (int d = 1; d < 32; d <<= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if ((threadIdx.x & 31) == 0) s[threadIdx.x >> 5] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float r = 0.0f;
        for (int k = 0; k < 16; k++) r += s[k];
        out[blockIdx.x] = r;
    }
}

//! bf16_accumulated_in_pairs 528 128 | bf16:540672:-1:1 | bf16:540672:-1:1 | out bf16:4224
// Products and sums stay in bf16, a warp a row.
K bf16_accumulated_in_pairs(const __nv_bfloat162 *a, const __nv_bfloat162 *b, __nv_bfloat162 *out)
{
    int warp = (blockIdx.x * 128 + threadIdx.x) / 32, lane = threadIdx.x % 32;
    __nv_bfloat162 s = __float2bfloat162_rn(0.0f);
#pragma unroll
    for (int k = 0; k < 4; k++) s = __hfma2(a[warp * 128 + k * 32 + lane], b[warp * 128 + k * 32 + lane], s);
    for (int d = 16; d; d >>= 1) s = __hadd2(s, __shfl_xor_sync(~0u, s, d));
    if (lane == 0) out[warp] = s;
}

//! inclusive_by_warps_then_block 264 512 | s32:540672:-100:100 | out s32:540672
// Four a thread in registers as int4, prefixes of warps by shuffles, of sixteen warps by one of them.
K inclusive_by_warps_then_block(const int4 *x, int4 *y)
{
    __shared__ int part[16];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, i = blockIdx.x * 512 + threadIdx.x;
    int4 v = x[i];
    v.y += v.x;
    v.z += v.y;
    v.w += v.z;
    int s = v.w;
    for (int d = 1; d < 32; d *= 2) {
        int o = __shfl_up_sync(~0u, s, d);
        if (lane >= d) s += o;
    }
    if (lane == 31) part[warp] = s;
    __syncthreads();
    if (warp == 0) {
        int p = lane < 16 ? part[lane] : 0;
        for (int d = 1; d < 16; d *= 2) {
            int o = __shfl_up_sync(~0u, p, d);
            if (lane >= d) p += o;
        }
        if (lane < 16) part[lane] = p;
    }
    __syncthreads();
    int before = s - v.w + (warp ? part[warp - 1] : 0);
    y[i] = make_int4(v.x + before, v.y + before, v.z + before, v.w + before);
}

//! prefix_maxima_of_doubles 132 256 | f64:33792:-1:1 | out f64:33792
// Hillis and Steele, one buffer and two barriers a step.
K prefix_maxima_of_doubles(const double *x, double *y)
{
    __shared__ double s[256];
    int t = threadIdx.x;
    s[t] = x[blockIdx.x * 256 + t];
    __syncthreads();
    for (int d = 1; d < 256; d <<= 1) {
        double v = s[t];
        if (t >= d) v = fmax(v, s[t - d]);
        __syncthreads();
        s[t] = v;
        __syncthreads();
    }
    y[blockIdx.x * 256 + t] = s[t];
}

//! raked_exclusive_sums 200 160 | u32:192000:0:1000 | out u32:192000
// Six a thread; one warp rakes the 160 sums.
K raked_exclusive_sums(const uint32_t *x, uint32_t *y)
{
    __shared__ uint32_t s[165];
    int t = threadIdx.x, b = blockIdx.x * 960;
    uint32_t v[6], sum = 0;
    for (int k = 0; k < 6; k++) {
        v[k] = x[b + t * 6 + k];
        sum += v[k];
    }
    s[t] = sum;
    __syncthreads();
    if (t < 32) {
        uint32_t a = 0, w[5];
        for (int k = 0; k < 5; k++) {
            w[k] = s[t * 5 + k];
            a += w[k];
        }
        uint32_t inc = a;
        for (int d = 1; d < 32; d <<= 1) {
            uint32_t o = __shfl_up_sync(~0u, inc, d);
            if (t >= d) inc += o;
        }
        a = inc - a;
        for (int k = 0; k < 5; k++) {
            s[t * 5 + k] = a;
            a += w[k];
        }
    }
    __syncthreads();
    uint32_t a = s[t];
    for (int k = 0; k < 6; k++) {
        y[b + t * 6 + k] = a;
        a += v[k];
    }
}

//! compacted_by_flags_in_block 264 256 | s32:270336:-1000:1000 | out s32:270336 | out s32:264
K compacted_by_flags_in_block(const int *x, int *kept, int *count)
{
    __shared__ int warps[8];
    __shared__ int done;
    int t = threadIdx.x, lane = t % 32, w = t / 32;
    if (t == 0) done = 0;
    __syncthreads();
    for (int k = 0; k < 4; k++) {
        int v = x[blockIdx.x * 1024 + k * 256 + t];
        bool keep = v % 3 == 0;
        unsigned m = __ballot_sync(~0u, keep);
        if (lane == 0) warps[w] = __popc(m);
        __syncthreads();
        int at = done;
        for (int q = 0; q < w; q++) at += warps[q];
        if (keep) kept[blockIdx.x * 1024 + at + __popc(m & ((1u << lane) - 1))] = v;
        __syncthreads();
        if (t == 255) done = at + __popc(m);
        __syncthreads();
    }
    if (t == 0) count[blockIdx.x] = done;
}

//! words_five_apart 528 256 | f32:675840:-1:1 | out f32:135168
K words_five_apart(const float *x, float *y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    y[i] = x[i * 5 + 2] * 3.0f;
}

//! doubles_nine_apart_stored 264 128 | f64:33792:-1:1 | out f64:304128
K doubles_nine_apart_stored(const double *x, double *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    y[i * 9 + 4] = x[i] + 1.0;
}

//! bytes_one_by_one 1056 128 | u8:135168 | out u8:135168
K bytes_one_by_one(const uint8_t *x, uint8_t *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    y[i] = (uint8_t)(255 - x[i] / 3);
}

//! long_triad_of_doubles 4224 256 | f64:6488064:-1:1 | f64:6488064:-1:1 | out f64:6488064 | s f64 0.75
// 156 MB in all.
K long_triad_of_doubles(const double2 *a, const double2 *b, double2 *c, double f)
{
    int n = 3244032;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 4224 * 256) {
        double2 u = a[i], v = b[i];
        c[i] = make_double2(fma(f, u.x, v.x), fma(f, u.y, v.y));
    }
}

//! long_random_gather 2112 256 | u32:4325376:0:8388608 | f32:8388608:-1:1 | out f32:4325376
// Eight independent random words a thread out of 32 MB.
K long_random_gather(const uint32_t *index, const float *table, float *y)
{
    int i = blockIdx.x * 2048 + threadIdx.x;
#pragma unroll
    for (int k = 0; k < 8; k++) y[i + k * 256] = table[index[i + k * 256]];
}

//! long_scatter_by_odd_factor 1056 256 | u32:1081344 | out u32:2097152
// A store of a word into a sector each.
K long_scatter_by_odd_factor(const uint32_t *x, uint32_t *y)
{
    uint32_t i = blockIdx.x * 1024 + threadIdx.x;
    for (int k = 0; k < 4; k++) {
        uint32_t j = i + k * 256;
        y[j * 2654435u % 2097152u] = x[j] ^ j;
    }
}

//! long_copy_of_bytes_by_16 1056 512 | u8:60555264 | out u8:60555264
K long_copy_of_bytes_by_16(const uint4 *x, uint4 *y)
{
    for (int k = 0; k < 7; k++) {
        int i = (k * 1056 + blockIdx.x) * 512 + threadIdx.x;
        uint4 v = x[i];
        v.x ^= 0x01010101u;
        v.w = ~v.w;
        y[i] = v;
    }
}

//! long_rows_a_thread 264 128 | f32:8650752:-1:1 | out f32:33792
// A row of 256 each: lanes are a kilobyte apart.
K long_rows_a_thread(const float *x, float *y)
{
    int i = blockIdx.x * 128 + threadIdx.x;
    const float *row = x + (size_t)i * 256;
    float s = 0.0f;
    for (int k = 0; k < 256; k++) s += row[k] * row[k];
    y[i] = sqrtf(s);
}

//! columns_summed_by_lanes 132 256 | f32:2162688:-1:1 | out f32:8448
// 64 columns a block, four rows at once, 256 rows.
K columns_summed_by_lanes(const float *x, float *y)
{
    __shared__ float s[4][64];
    int c = threadIdx.x % 64, r = threadIdx.x / 64;
    float v = 0.0f;
    for (int k = r; k < 256; k += 4) v += x[k * 8448 + blockIdx.x * 64 + c];
    s[r][c] = v;
    __syncthreads();
    if (r == 0) y[blockIdx.x * 64 + c] = s[0][c] + s[1][c] + s[2][c] + s[3][c];
}

//! softmax_of_bf16_rows_by_block 396 256 | bf16:405504:-4:4 | out bf16:405504
K softmax_of_bf16_rows_by_block(const __nv_bfloat162 *x, __nv_bfloat162 *y)
{
    __shared__ float m[8], s[8];
    int t = threadIdx.x, lane = t % 32, w = t / 32, i = blockIdx.x * 512 + t;
    float2 a = __bfloat1622float2(x[i]), b = __bfloat1622float2(x[i + 256]);
    float top = fmaxf(fmaxf(a.x, a.y), fmaxf(b.x, b.y));
    for (int d = 16; d; d >>= 1) top = fmaxf(top, __shfl_xor_sync(~0u, top, d));
    if (lane == 0) m[w] = top;
    __syncthreads();
    top = m[0];
    for (int k = 1; k < 8; k++) top = fmaxf(top, m[k]);
    a.x = __expf(a.x - top);
    a.y = __expf(a.y - top);
    b.x = __expf(b.x - top);
    b.y = __expf(b.y - top);
    float sum = a.x + a.y + b.x + b.y;
    for (int d = 16; d; d >>= 1) sum += __shfl_xor_sync(~0u, sum, d);
    if (lane == 0) s[w] = sum;
    __syncthreads();
    sum = 0.0f;
    for (int k = 0; k < 8; k++) sum += s[k];
    float r = 1.0f / sum;
    y[i] = __floats2bfloat162_rn(a.x * r, a.y * r);
    y[i + 256] = __floats2bfloat162_rn(b.x * r, b.y * r);
}

//! layernorm_of_halves_768 528 96 | f16:405504:-2:2 | f16:768:0:2 | f16:768:-1:1 | out f16:405504 | s f32 0.00001
// Eight halves a thread as one vector.
K layernorm_of_halves_768(const uint4 *x, const uint4 *gamma, const uint4 *beta, uint4 *y, float eps)
{
    __shared__ float p[6];
    int t = threadIdx.x;
    uint4 raw = x[blockIdx.x * 96 + t], g4 = gamma[t], b4 = beta[t];
    const __half2 *h = (const __half2 *)&raw, *g = (const __half2 *)&g4, *b = (const __half2 *)&b4;
    float2 v[4];
    float s = 0.0f, q = 0.0f;
    for (int k = 0; k < 4; k++) {
        v[k] = __half22float2(h[k]);
        s += v[k].x + v[k].y;
        q += v[k].x * v[k].x + v[k].y * v[k].y;
    }
    for (int d = 16; d; d >>= 1) {
        s += __shfl_xor_sync(~0u, s, d);
        q += __shfl_xor_sync(~0u, q, d);
    }
    if (t % 32 == 0) {
        p[t / 32] = s;
        p[3 + t / 32] = q;
    }
    __syncthreads();
    float mean = (p[0] + p[1] + p[2]) / 768.0f, var = (p[3] + p[4] + p[5]) / 768.0f - mean * mean, r = rsqrtf(var + eps);
    uint4 out;
    __half2 *o = (__half2 *)&out;
    for (int k = 0; k < 4; k++) {
        float2 gg = __half22float2(g[k]), bb = __half22float2(b[k]);
        o[k] = __floats2half2_rn((v[k].x - mean) * r * gg.x + bb.x, (v[k].y - mean) * r * gg.y + bb.y);
    }
    y[blockIdx.x * 96 + t] = out;
}

//! newest_token_attends 192 128 | f16:24576:-1:1 | f16:1572864:-1:1 | f16:1572864:-1:1 | out f32:24576
// A head of 128 a block, 64 keys, scores in shared memory.
K newest_token_attends(const __half *q, const __half *k, const __half *v, float *out)
{
    __shared__ float qs[128], score[64];
    int t = threadIdx.x, lane = t % 32, w = t / 32;
    qs[t] = __half2float(q[blockIdx.x * 128 + t]) * 0.0884f;
    __syncthreads();
    const __half2 *kb = (const __half2 *)(k + blockIdx.x * 8192);
    for (int j = w; j < 64; j += 4) {
        float2 a = __half22float2(kb[j * 64 + lane]), b = __half22float2(kb[j * 64 + 32 + lane]);
        float s = a.x * qs[lane * 2] + a.y * qs[lane * 2 + 1] + b.x * qs[64 + lane * 2] + b.y * qs[65 + lane * 2];
        for (int d = 16; d; d >>= 1) s += __shfl_xor_sync(~0u, s, d);
        if (lane == 0) score[j] = s;
    }
    __syncthreads();
    float m = -1e30f, sum = 0.0f, acc = 0.0f;
    for (int j = 0; j < 64; j++) m = fmaxf(m, score[j]);
    for (int j = 0; j < 64; j++) {
        float e = __expf(score[j] - m);
        sum += e;
        acc += e * __half2float(v[blockIdx.x * 8192 + j * 128 + t]);
    }
    out[blockIdx.x * 128 + t] = acc / sum;
}

//! records_chased_by_lanes 200 32 | u32:1048576:0:65536 | out u32:6400
// Records of 64 bytes; the next is named by the words read so far.
K records_chased_by_lanes(const uint4 *node, uint32_t *out)
{
    uint32_t i = blockIdx.x * 32 + threadIdx.x, at = i * 7 & 65535, sum = 0;
    for (int k = 0; k < 12; k++) {
        uint4 v = node[at * 4], w = node[at * 4 + 2];
        sum += v.y ^ w.z;
        at = (v.x + w.w + k) & 65535;
    }
    out[i] = sum;
}

//! names_of_names_of_names 264 256 | u32:67584:0:262144 | u32:262144:0:262144 | u32:262144:0:131072 | f32:131072:-1:1 | out f32:67584
K names_of_names_of_names(const uint32_t *a, const uint32_t *b, const uint32_t *c, const float *v, float *out)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    out[i] = v[c[b[a[i]]]];
}

struct Body3 {
    float x, y, z;
};
//! points_of_twelve_bytes 528 256 | f32:405504:-1:1 | out f32:405504 | s f32 0.6 | s f32 0.8
K points_of_twelve_bytes(const Body3 *p, Body3 *q, float c, float s)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    Body3 v = p[i];
    q[i] = {c * v.x - s * v.y, s * v.x + c * v.y, v.z + 1.0f};
}

//! bf16_scaled_and_added 264 256 | bf16:1081344:-1:1 | bf16:1081344:-1:1 | out bf16:1081344 | s f32 1.25
K bf16_scaled_and_added(const uint4 *x, const uint4 *y, uint4 *z, float a)
{
    __nv_bfloat162 f = __float2bfloat162_rn(a);
    for (int k = 0; k < 2; k++) {
        int i = (blockIdx.x * 2 + k) * 256 + threadIdx.x;
        uint4 u = x[i], v = y[i], r;
        const __nv_bfloat162 *p = (const __nv_bfloat162 *)&u, *q = (const __nv_bfloat162 *)&v;
        __nv_bfloat162 *o = (__nv_bfloat162 *)&r;
        for (int e = 0; e < 4; e++) o[e] = __hfma2(f, p[e], q[e]);
        z[i] = r;
    }
}

//! halves_through_a_polynomial 396 128 | f16:202752:-1:1 | out f16:202752
K halves_through_a_polynomial(const __half2 *x, __half2 *y)
{
    const __half2 c0 = __float2half2_rn(0.5f), c1 = __float2half2_rn(-0.25f), c2 = __float2half2_rn(0.125f), one = __float2half2_rn(1.0f);
    for (int k = 0; k < 2; k++) {
        int i = (blockIdx.x * 2 + k) * 128 + threadIdx.x;
        __half2 v = x[i], p = __hfma2(__hfma2(__hfma2(c2, v, c1), v, c0), v, one);
        p = __hmul2(p, __hmax2(v, __hneg2(v)));
        for (int r = 0; r < 6; r++) p = __hfma2(p, c0, __hmin2(v, one));
        y[i] = p;
    }
}

//! silu_of_bf16_one_a_thread 1056 256 | bf16:270336:-6:6 | out bf16:270336
K silu_of_bf16_one_a_thread(const __nv_bfloat16 *x, __nv_bfloat16 *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float v = __bfloat162float(x[i]);
    y[i] = __float2bfloat16(v / (1.0f + __expf(-v)));
}

//! halves_compared_and_chosen 264 128 | f16:135168:-2:2 | f16:135168:-2:2 | out f16:135168
K halves_compared_and_chosen(const __half *a, const __half *b, __half *c)
{
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 128 + threadIdx.x;
        __half u = a[i], v = b[i], r;
        if (__hgt(u, v)) r = __hsub(u, v);
        else if (__hlt(u, __float2half(-1.0f))) r = __hmul(u, v);
        else r = __hdiv(u, __hadd(__habs(v), __float2half(1.0f)));
        c[i] = r;
    }
}

//! runs_of_equal_keys_summed 264 256 | s32:270336:0:40 | f32:270336:0:1 | out f32:270336
// Each warp sums the runs of equal keys among its 32 sorted-by-chance elements.
K runs_of_equal_keys_summed(const int *key, const float *x, float *y)
{
    int lane = threadIdx.x % 32;
    for (int k = 0; k < 4; k++) {
        int i = (blockIdx.x * 4 + k) * 256 + threadIdx.x, key0 = key[i] / 20;
        float v = x[i];
#pragma unroll
        for (int d = 1; d < 32; d <<= 1) {
            float o = __shfl_up_sync(~0u, v, d);
            int ok = __shfl_up_sync(~0u, key0, d);
            if (lane >= d && ok == key0) v += o;
        }
        y[i] = v;
    }
}

//! moments_of_columns_in_float4 66 256 | f32:1081344:-1:1 | out f32:270336
// 16 rows; mean and deviation of four columns a thread.
K moments_of_columns_in_float4(const float4 *x, float4 *y)
{
    int i = blockIdx.x * 256 + threadIdx.x;
    float4 s = {0, 0, 0, 0}, q = {0, 0, 0, 0};
    for (int r = 0; r < 16; r++) {
        float4 v = x[r * 16896 + i];
        s.x += v.x, s.y += v.y, s.z += v.z, s.w += v.w;
        q.x += v.x * v.x, q.y += v.y * v.y, q.z += v.z * v.z, q.w += v.w * v.w;
    }
    const float n = 1.0f / 16;
    s.x *= n, s.y *= n, s.z *= n, s.w *= n;
    y[i] = s;
    y[16896 + i] = make_float4(q.x * n - s.x * s.x, q.y * n - s.y * s.y, q.z * n - s.z * s.z, q.w * n - s.w * s.w);
}
