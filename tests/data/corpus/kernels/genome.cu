/* genome.cu - sequences, reads, trees of species, markers; and the tables that hold them. */
#include <cstdint>
#include <cuda_pipeline_primitives.h>

#define FULL_MASK 0xffffffffU
typedef uint64_t kmer_t;

//! kmer_spectrum 30 128 | u8:61568:0:4 | zero u32:1024 | s s32 61568
// words of five letters, counted in shared memory, sixteen positions a thread
extern "C" __global__ void kmer_spectrum(const uint8_t *base, uint32_t *count, int n)
{
    __shared__ uint32_t local[1024];
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) local[i] = 0;
    __syncthreads();
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * 16;
    uint32_t word = 0;
    for (int i = 0; i < 4; i++) word = word << 2 | base[start + i];
    for (int i = 4; i < 20 && start + i < n; i++) {
        word = (word << 2 | base[start + i]) & 1023;
        atomicAdd(&local[word], 1u);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < 1024; i += blockDim.x)
        if (local[i]) atomicAdd(&count[i], local[i]);
}

__host__ __device__ inline kmer_t reverse_complement(kmer_t k)
{
    k = ~k;
    k = (k >> 2 & 0x3333333333333333ull) | (k & 0x3333333333333333ull) << 2;
    k = (k >> 4 & 0x0f0f0f0f0f0f0f0full) | (k & 0x0f0f0f0f0f0f0f0full) << 4;
    k = (k >> 8 & 0x00ff00ff00ff00ffull) | (k & 0x00ff00ff00ff00ffull) << 8;
    k = (k >> 16 & 0x0000ffff0000ffffull) | (k & 0x0000ffff0000ffffull) << 16;
    return k >> 32 | k << 32;
}

//! canonical_kmers 132 320 | u64:84480 | out u64:84480 | s s32 84480
extern "C" __global__ void canonical_kmers(const kmer_t *in, kmer_t *out, int n)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        kmer_t f = in[i], r = reverse_complement(f);
        out[i] = f < r ? f : r;
    }
}

//! banded_align 36 64 | u8:147456:0:4 | u8:147456:0:4 | out s32:2304
// two reads of 64 letters a thread, a band of seventeen diagonals in an array
extern "C" __global__ void banded_align(const uint8_t *a, const uint8_t *b, int *score)
{
    const int L = 64, B = 8, W = 2 * B + 1;
    short row[W + 1];
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *p = a + t * L, *q = b + t * L;
#pragma unroll
    for (int k = 0; k < W; k++) row[k] = k >= B ? -2 * (k - B) : -1000;
    row[W] = -1000;
#pragma unroll 1
    for (int i = 1; i <= L; i++) {
        int left = -1000;
        uint8_t c = p[i - 1];
#pragma unroll
        for (int k = 0; k < W; k++) {
            int j = i + k - B, v = -1000;
            if (j == 0) {
                v = -2 * i;
            } else if (j > 0 && j <= L) {
                v = row[k] + (c == q[j - 1] ? 2 : -1);
                v = max(v, row[k + 1] - 2);
                v = max(v, left - 2);
            }
            row[k] = v;
            left = v;
        }
    }
    score[t] = row[B];
}

//! backward_search 20 192 | u32:8192 | u32:8192 | u32:3840 | out u32:7680 | s s32 4096
// intervals of words of up to sixteen letters in an index of bit vectors: blocks of 64 letters, two bits each
extern "C" __global__ void backward_search(const uint32_t *low, const uint32_t *high, const uint32_t *pattern, uint2 *interval, int words)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t p = pattern[t], lo = 0, hi = words * 32;
    for (int i = 0; i < 16 && lo < hi; i++, p >>= 2) {
        uint32_t c = p & 3, la = 0, ha = 0;
        uint32_t ml = c & 1 ? 0 : FULL_MASK, mh = c & 2 ? 0 : FULL_MASK;
        // the occurrences before a place: from the nearest of every eighth word on
        for (uint32_t w = (lo >> 5) & ~7u; w < (lo >> 5); w++) la += __popc((low[w] ^ ml) & (high[w] ^ mh));
        la += __popc((low[lo >> 5] ^ ml) & (high[lo >> 5] ^ mh) & ((1u << (lo & 31)) - 1));
        for (uint32_t w = (hi >> 5) & ~7u; w < (hi >> 5); w++) ha += __popc((low[w] ^ ml) & (high[w] ^ mh));
        ha += __popc((low[hi >> 5] ^ ml) & (high[hi >> 5] ^ mh) & ((1u << (hi & 31)) - 1));
        uint32_t base = c * words * 8;
        lo = base + (lo & ~255u) / 4 + la;
        hi = base + (hi & ~255u) / 4 + ha;
    }
    interval[t] = make_uint2(lo, hi);
}

//! hmm_forward 22 128 | f32:1024:0:0.0625 | f32:128:0.05:0.9 | u8:5632:0:4 | out f32:88 | s s32 64
// 32 states, a lane each; the column of probabilities travels through shuffles and is scaled every step
extern "C" __global__ void hmm_forward(const float *trans, const float *emit, const uint8_t *seq, float *loglik, int len)
{
    __shared__ float A[32][33];
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, id = blockIdx.x * 4 + warp;
    for (int i = threadIdx.x; i < 1024; i += blockDim.x) A[i >> 5][i & 31] = trans[i];
    __syncthreads();
    const uint8_t *s = seq + id * len;
    float f = emit[s[0] * 32 + lane] / 32, ll = 0;
    for (int i = 1; i < len; i++) {
        float g = 0;
#pragma unroll 8
        for (int k = 0; k < 32; k++) g += __shfl_sync(FULL_MASK, f, k) * A[k][lane];
        f = g * emit[s[i] * 32 + lane];
        float z = f;
        for (int o = 16; o; o >>= 1) z += __shfl_xor_sync(FULL_MASK, z, o);
        f /= z;
        ll += logf(z);
    }
    if (lane == 0) loglik[id] = ll;
}

struct __align__(16) Sketch {
    unsigned long long x, y, z, w;
};

//! sketch_distances 12,12 16,16 | u64:768 | out u16:36864
// all pairs of 192 sketches of 256 bits
extern "C" __global__ void sketch_distances(const Sketch *sketch, unsigned short *dist)
{
    __shared__ Sketch rows[16], cols[16];
    int tx = threadIdx.x, ty = threadIdx.y;
    if (ty == 0) rows[tx] = sketch[blockIdx.y * 16 + tx];
    if (ty == 1) cols[tx] = sketch[blockIdx.x * 16 + tx];
    __syncthreads();
    Sketch a = rows[ty], b = cols[tx];
    dist[(blockIdx.y * 16 + ty) * 192 + blockIdx.x * 16 + tx] =
        __popcll(a.x ^ b.x) + __popcll(a.y ^ b.y) + __popcll(a.z ^ b.z) + __popcll(a.w ^ b.w);
}

//! pileup_votes 64 256 | u8:65536:0:4 | out u8:2048 | out u8:2048
// 32 reads over 2048 places: a warp votes on a place
extern "C" __global__ void pileup_votes(const uint8_t *read, uint8_t *call, uint8_t *depth)
{
    int lane = threadIdx.x & 31, place = (blockIdx.x * blockDim.x + threadIdx.x) / 32 * 4;
    for (int k = 0; k < 4; k++, place++) {
        uint8_t b = read[lane * 2048 + place];
        int best = 0, most = -1;
        for (int c = 0; c < 4; c++) {
            int n = __popc(__ballot_sync(FULL_MASK, b == c));
            if (n > most) most = n, best = c;
        }
        if (lane == 0) {
            call[place] = "ACGT"[best];
            depth[place] = most;
        }
    }
}

//! quality_trim 27 96 | u8:259200:2:41 | out s32:5184 | s s32 100 | s s32 28
// cuts both ends off while their letters are poor, then where a window of four falls below the bound
extern "C" __global__ void quality_trim(const uint8_t *quality, int2 *kept, int len, int bound)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *q = quality + t * len;
    int from = 0, to = len;
    while (from < to && q[from] < bound) from++;
    while (to > from && q[to - 1] < bound) to--;
    for (int i = from; i + 4 <= to; i++)
        if (q[i] + q[i + 1] + q[i + 2] + q[i + 3] < 3 * bound) {
            to = i;
            break;
        }
    kept[t] = make_int2(from, to);
}

//! linkage_pairs 8,8 16,8 | u64:1024 | u64:2048 | out f32:8192
// r squared of 64 markers with 128 others, of 1024 haplotypes as bits
extern "C" __global__ void linkage_pairs(const uint64_t *left, const uint64_t *right, float *r2)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    int na = 0, nb = 0, nab = 0;
    for (int w = 0; w < 16; w++) {
        uint64_t a = left[i * 16 + w], b = right[j * 16 + w];
        na += __popcll(a);
        nb += __popcll(b);
        nab += __popcll(a & b);
    }
    float pa = na / 1024.0f, pb = nb / 1024.0f, d = nab / 1024.0f - pa * pb;
    float v = pa * (1 - pa) * pb * (1 - pb);
    r2[i * 128 + j] = v > 0 ? d * d / v : 0;
}

//! felsenstein_stack 15 128 | u8:15360:0:4 | f32:16:0.02:0.3 | out f64:1920
// likelihood of a tree of eight species, a site a thread: a program in postfix order drives a stack of vectors
extern "C" __global__ void felsenstein_stack(const uint8_t *site, const float *branch, double *lnl)
{
    const signed char program[15] = {0, 1, -1, 2, 3, -1, -1, 4, 5, -1, 6, -1, 7, -1, -1};
    double stack[8][4];
    int sp = 0, t = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll 1
    for (int pc = 0; pc < 15; pc++) {
        int op = program[pc];
        if (op >= 0) {
            int base = site[t * 8 + op];
            for (int s = 0; s < 4; s++) stack[sp][s] = s == base;
            sp++;
        } else {
            double same0 = 0.25 + 0.75 * exp(-(double)branch[pc]), same1 = 0.25 + 0.75 * exp(-(double)branch[pc - 1]);
            double other0 = (1 - same0) / 3, other1 = (1 - same1) / 3;
            double r0 = 0, r1 = 0;
            for (int s = 0; s < 4; s++) r0 += stack[sp - 1][s], r1 += stack[sp - 2][s];
            for (int s = 0; s < 4; s++) {
                double x = other0 * r0 + (same0 - other0) * stack[sp - 1][s];
                double y = other1 * r1 + (same1 - other1) * stack[sp - 2][s];
                stack[sp - 2][s] = x * y;
            }
            sp--;
        }
    }
    lnl[t] = log(0.25 * (stack[0][0] + stack[0][1] + stack[0][2] + stack[0][3]));
}

//! minimizer_marks 40 128 | u32:5135 | out u8:5120
// which word of every window of sixteen is least by its hash; a block stages the hashes of its words
extern "C" __global__ void minimizer_marks(const uint32_t *word, uint8_t *where)
{
    __shared__ uint32_t h[128 + 15];
    int base = blockIdx.x * 128;
    for (int i = threadIdx.x; i < 128 + 15; i += 128) {
        uint32_t x = word[base + i];
        x = (x ^ x >> 16) * 0x7feb352du;
        x = (x ^ x >> 15) * 0x846ca68bu;
        h[i] = x ^ x >> 16;
    }
    __syncthreads();
    int best = 0;
#pragma unroll
    for (int k = 1; k < 16; k++)
        if (h[threadIdx.x + k] < h[threadIdx.x + best]) best = k;
    where[base + threadIdx.x] = best;
}

//! expression_spmm 48 32,8 | u32:384:0:25 | u32:9216:0:512 | f32:9216:0:4 | f32:16384:-1:1 | out f32:12288
// a sparse matrix of 384 rows times 512 x 32 values: a warp a row, a lane a column
extern "C" __global__ void expression_spmm(const unsigned *len, const unsigned *col, const float *val, const float *dense, float *out)
{
    int row = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    unsigned n = len[row], mycol = 0;
    float myval = 0, acc = 0;
    if (lane < n) {
        mycol = col[row * 24 + lane];
        myval = val[row * 24 + lane];
    }
    for (unsigned k = 0; k < n; k++) {
        unsigned c = __shfl_sync(FULL_MASK, mycol, k);
        float v = __shfl_sync(FULL_MASK, myval, k);
        acc += v * dense[c * 32 + lane];
    }
    out[row * 32 + lane] = acc;
}

//! anchor_chains 10 256 | u32:2560:0:2000 | u32:2560:0:2000 | out s32:2560
// the best chain that ends in an anchor, one anchor after another, all threads looking back
extern "C" __global__ void anchor_chains(const unsigned *x, const unsigned *y, int *score)
{
    __shared__ int sx[256], sy[256], f[256], warp_best[8];
    int t = threadIdx.x, base = blockIdx.x * 256;
    sx[t] = x[base + t] + t * 4;
    sy[t] = y[base + t] + t * 4;
    f[t] = 15;
    __syncthreads();
    for (int i = 1; i < 256; i++) {
        int best = 15;
        if (t < i && i - t <= 128) {
            int dx = sx[i] - sx[t], dy = sy[i] - sy[t];
            if (dx > 0 && dy > 0) {
                int gap = abs(dx - dy);
                best = f[t] + min(min(dx, dy), 15) - (gap ? (gap >> 6) + (31 - __clz(gap)) / 2 : 0);
            }
        }
        best = __reduce_max_sync(FULL_MASK, best);
        if ((t & 31) == 0) warp_best[t >> 5] = best;
        __syncthreads();
        if (t == 0) {
            int m = 15;
            for (int w = 0; w < 8; w++) m = max(m, warp_best[w]);
            f[i] = m;
        }
        __syncthreads();
    }
    score[base + t] = f[t];
}

//! four_digit_counts 32 256 | u32:65536 | zero u32:1024
// the counts of all four bytes of a key in one pass, as a radix sort wants them
extern "C" __global__ void four_digit_counts(const uint4 *key, unsigned *count)
{
    __shared__ unsigned c[4][256];
    for (int d = 0; d < 4; d++) c[d][threadIdx.x] = 0;
    __syncthreads();
    for (int r = 0; r < 2; r++) {
        uint4 q = key[(blockIdx.x * 2 + r) * 256 + threadIdx.x];
        unsigned k[4] = {q.x, q.y, q.z, q.w};
#pragma unroll
        for (int j = 0; j < 4; j++)
#pragma unroll
            for (int d = 0; d < 4; d++) atomicAdd(&c[d][k[j] >> (8 * d) & 255], 1u);
    }
    __syncthreads();
    for (int d = 0; d < 4; d++) atomicAdd(&count[d * 256 + threadIdx.x], c[d][threadIdx.x]);
}

//! compact_reads 7 1024 | u32:28672:0:100 | out u32:28672 | out u32:7
// keeps what passes, in order: a scan over the warps of the block, four rounds of a tile
extern "C" __global__ void __launch_bounds__(1024) compact_reads(const unsigned *q, unsigned *kept, unsigned *total)
{
    __shared__ unsigned sums[32], base;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    if (threadIdx.x == 0) base = 0;
    for (int round = 0; round < 4; round++) {
        unsigned i = (blockIdx.x * 4 + round) * 1024 + threadIdx.x, v = q[i];
        bool pass = v >= 30;
        unsigned mask = __ballot_sync(FULL_MASK, pass), before = __popc(mask & ((1u << lane) - 1));
        if (lane == 0) sums[warp] = __popc(mask);
        __syncthreads();
        if (warp == 0) {
            unsigned s = sums[lane], own = s;
            for (int o = 1; o < 32; o *= 2) {
                unsigned u = __shfl_up_sync(FULL_MASK, s, o);
                if (lane >= o) s += u;
            }
            sums[lane] = base + s - own;
            __syncwarp();
            if (lane == 31) base += s;
        }
        __syncthreads();
        if (pass) kept[blockIdx.x * 4096 + sums[warp] + before] = v << 16 | threadIdx.x;
        __syncthreads();
    }
    if (threadIdx.x == 0) total[blockIdx.x] = base;
}

//! profile_products 8,6 128 49152 | f32:65536:-1:1 | f32:12288:-1:1 | out f32:49152
// 512 rows with 96 rows, 128 values each: tiles of 64 x 16, two stages of copies ahead; asks for more shared memory than it uses
extern "C" __global__ void profile_products(const float *a, const float *b, float *c)
{
    extern __shared__ __align__(16) float stage[];
    const int K = 128, t = threadIdx.x, row0 = blockIdx.x * 64, col0 = blockIdx.y * 16;
    auto fetch = [&](int k0, int s) {
        float *sa = stage + s * 64 * 36, *sb = stage + 3 * 64 * 36 + s * 16 * 36;
        for (int i = t; i < 64 * 8; i += 128)
            __pipeline_memcpy_async(sa + (i / 8) * 36 + i % 8 * 4, a + (row0 + i / 8) * K + k0 + i % 8 * 4, 16);
        for (int i = t; i < 16 * 8; i += 128)
            __pipeline_memcpy_async(sb + (i / 8) * 36 + i % 8 * 4, b + (col0 + i / 8) * K + k0 + i % 8 * 4, 16);
        __pipeline_commit();
    };
    fetch(0, 0);
    fetch(32, 1);
    float acc[8] = {};
    const int r = t / 16 * 8, j = t % 16;
    for (int k0 = 0, s = 0; k0 < K; k0 += 32, s = (s + 1) % 3) {
        if (k0 + 64 < K)
            fetch(k0 + 64, (s + 2) % 3);
        else
            __pipeline_commit();
        __pipeline_wait_prior(2);
        __syncthreads();
        const float *sa = stage + s * 64 * 36, *sb = stage + 3 * 64 * 36 + s * 16 * 36 + j * 36;
#pragma unroll
        for (int k = 0; k < 32; k += 4) {
            float4 y = *(const float4 *)(sb + k);
#pragma unroll
            for (int i = 0; i < 8; i++) {
                float4 x = *(const float4 *)(sa + (r + i) * 36 + k);
                acc[i] += x.x * y.x + x.y * y.y + x.z * y.z + x.w * y.w;
            }
        }
        __syncthreads();
    }
#pragma unroll
    for (int i = 0; i < 8; i++) c[(row0 + r + i) * 96 + col0 + j] = acc[i];
}
