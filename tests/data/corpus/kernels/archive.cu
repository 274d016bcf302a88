// archive.cu - sorting, scans, hashing, strings, compression
#include <cstdint>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
#define K extern "C" __global__ void

//! shell_sort_rows 33 64 | inout s32:67584
K shell_sort_rows(int *a)
{
    int *p = a + (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    for (int gap = 13; gap > 0; gap = (gap - 1) / 3) {
        for (int i = gap; i < 32; i++) {
            int v = p[i], j = i;
            while (j >= gap && p[j - gap] > v) { p[j] = p[j - gap]; j -= gap; }
            p[j] = v;
        }
    }
}

//! comb_sort_shared 40 32 | inout f32:40960:-10:10
K comb_sort_shared(float *a)
{
    __shared__ float s[32][33];
    int t = threadIdx.x;
    float *g = a + blockIdx.x * 1024;
    for (int i = 0; i < 32; i++) s[i][t] = g[i * 32 + t];
    __syncwarp();
    float *r = s[t];
    int gap = 32;
    bool moved = true;
    while (gap > 1 || moved) {
        gap = gap * 10 / 13;
        if (gap < 1) gap = 1;
        moved = false;
        for (int i = 0; i + gap < 32; i++)
            if (r[i] > r[i + gap]) { float q = r[i]; r[i] = r[i + gap]; r[i + gap] = q; moved = true; }
    }
    __syncwarp();
    for (int i = 0; i < 32; i++) g[i * 32 + t] = s[i][t];
}

//! merge_path_partition 66 128 | iota u32:40000 | iota u32:50000 | out u32:8448 | s u32 40000 | s u32 50000
K merge_path_partition(const uint32_t *a, const uint32_t *b, uint32_t *out, uint32_t na, uint32_t nb)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, diag = (uint32_t)((uint64_t)(na + nb) * i / (gridDim.x * blockDim.x));
    uint32_t lo = diag > nb ? diag - nb : 0, hi = diag < na ? diag : na;
    while (lo < hi) {
        uint32_t mid = (lo + hi) >> 1;
        if (a[mid] <= b[diag - 1 - mid]) lo = mid + 1;
        else hi = mid;
    }
    out[i] = lo;
}

//! counting_by_digit 44 256 | u32:45056 | out u32:704 | s u32 12
K counting_by_digit(const uint32_t *in, uint32_t *out, uint32_t shift)
{
    __shared__ uint32_t bins[16 * 8];
    int t = threadIdx.x, w = t >> 5;
    if (t < 128) bins[t] = 0;
    __syncthreads();
    const uint4 *p = (const uint4 *)(in + blockIdx.x * 1024);
    uint4 v = p[t];
    atomicAdd(&bins[w * 16 + (v.x >> shift & 15)], 1);
    atomicAdd(&bins[w * 16 + (v.y >> shift & 15)], 1);
    atomicAdd(&bins[w * 16 + (v.z >> shift & 15)], 1);
    atomicAdd(&bins[w * 16 + (v.w >> shift & 15)], 1);
    __syncthreads();
    if (t < 16) {
        uint32_t s = 0;
#pragma unroll
        for (int k = 0; k < 8; k++) s += bins[k * 16 + t];
        out[t * gridDim.x + blockIdx.x] = s;
    }
}

//! bitonic_in_lanes 66 128 | inout u64:8448
K bitonic_in_lanes(unsigned long long *a)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned long long v = a[i];
    for (unsigned k = 2; k <= 32; k <<= 1)
        for (unsigned j = k >> 1; j > 0; j >>= 1) {
            unsigned long long o = __shfl_xor_sync(~0u, v, j);
            bool up = (lane & k) == 0, low = (lane & j) == 0;
            v = (up == low) == (v < o) ? v : o;
        }
    a[i] = v;
}

//! segmented_scan_heads 50 256 | f32:12800:0:1 | u8:12800:0:9 | out f32:12800
K segmented_scan_heads(const float *x, const uint8_t *head, float *out)
{
    __shared__ float sv[8];
    __shared__ int sf[8];
    int t = threadIdx.x, lane = t & 31, w = t >> 5, i = blockIdx.x * 256 + t;
    float v = x[i];
    int f = head[i] == 0;
#pragma unroll
    for (int d = 1; d < 32; d <<= 1) {
        float o = __shfl_up_sync(~0u, v, d);
        int g = __shfl_up_sync(~0u, f, d);
        if (lane >= d && !f) { v += o; f = g; }
    }
    if (lane == 31) { sv[w] = v; sf[w] = f; }
    __syncthreads();
    if (!f) {
        float c = 0;
        for (int k = w - 1; k >= 0; k--) { c += sv[k]; if (sf[k]) break; }
        v += c;
    }
    out[i] = v;
}

//! lookback_ticket 48 128 | u32:6144:0:50 | out u32:6144 | scratch u32:49 | cooperative
K lookback_ticket(const uint32_t *in, uint32_t *out, volatile uint32_t *state)
{
    __shared__ uint32_t part[4], before;
    int t = threadIdx.x, lane = t & 31;
    uint32_t v = in[blockIdx.x * 128 + t], s = v;
    for (int d = 1; d < 32; d *= 2) { uint32_t o = __shfl_up_sync(~0u, s, d); if (lane >= d) s += o; }
    if (lane == 31) part[t >> 5] = s;
    __syncthreads();
    for (int w = 0; w < t >> 5; w++) s += part[w];
    if (t == 127) {
        uint32_t p = 0;
        if (blockIdx.x > 0) { do p = state[blockIdx.x - 1]; while (!(p & 0x80000000u)); p &= 0x7fffffffu; }
        before = p;
        __threadfence();
        state[blockIdx.x] = (p + s) | 0x80000000u;
    }
    __syncthreads();
    out[blockIdx.x * 128 + t] = before + s - v;
}

//! xxh32_strings 66 128 | u8:540672 | out u32:8448 | s u32 64
K xxh32_strings(const uint8_t *text, uint32_t *out, uint32_t len)
{
    const uint32_t P1 = 2654435761u, P2 = 2246822519u, P3 = 3266489917u, P4 = 668265263u, P5 = 374761393u;
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *p = text + (size_t)i * len, *end = p + len - (i & 15);
    uint32_t h;
    if (end - p >= 16) {
        uint32_t v1 = i + P1 + P2, v2 = i + P2, v3 = i, v4 = i - P1;
        do {
            const uint32_t *q = (const uint32_t *)p;
            v1 += q[0] * P2; v1 = __funnelshift_l(v1, v1, 13) * P1;
            v2 += q[1] * P2; v2 = __funnelshift_l(v2, v2, 13) * P1;
            v3 += q[2] * P2; v3 = __funnelshift_l(v3, v3, 13) * P1;
            v4 += q[3] * P2; v4 = __funnelshift_l(v4, v4, 13) * P1;
            p += 16;
        } while (p + 16 <= end);
        h = __funnelshift_l(v1, v1, 1) + __funnelshift_l(v2, v2, 7) + __funnelshift_l(v3, v3, 12) + __funnelshift_l(v4, v4, 18);
    } else h = i + P5;
    h += len;
    while (p + 4 <= end) { h += *(const uint32_t *)p * P3; h = __funnelshift_l(h, h, 17) * P4; p += 4; }
    while (p < end) { h += *p++ * P5; h = __funnelshift_l(h, h, 11) * P1; }
    h ^= h >> 15; h *= P2; h ^= h >> 13; h *= P3; h ^= h >> 16;
    out[i] = h;
}

//! cuckoo_lookup 66 128 | u32:16384 | u32:8448 | out u32:8448
K cuckoo_lookup(const uint32_t *__restrict__ table, const uint32_t *__restrict__ keys, uint32_t *out)
{
    uint32_t i = blockIdx.x * blockDim.x + threadIdx.x, k = keys[i], best = 0xffffffffu;
#pragma unroll
    for (int f = 0; f < 3; f++) {
        uint32_t h = (k ^ (0x9e3779b9u * (f + 1))) * 0x85ebca6bu;
        h ^= h >> 15;
        uint32_t slot = __ldg(&table[h & 16383u]);
        if (slot == k) { best = h & 16383u; break; }
        uint32_t d = slot ^ k;
        if (__popc(d) < __popc(best)) best = d;
    }
    out[i] = best;
}

//! utf8_lengths 40 128 | u8:163840 | out u32:5120 | out u32:5120
K utf8_lengths(const uint8_t *s, uint32_t *chars, uint32_t *bad)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *p = s + i * 32;
    uint32_t n = 0, e = 0;
    for (int k = 0; k < 32;) {
        uint8_t c = p[k];
        int more = c < 0x80 ? 0 : c < 0xc0 ? -1 : c < 0xe0 ? 1 : c < 0xf0 ? 2 : c < 0xf8 ? 3 : -1;
        if (more < 0) { e++; k++; continue; }
        bool ok = k + more < 32;
        for (int q = 1; q <= more && ok; q++) ok = (p[k + q] & 0xc0) == 0x80;
        if (ok) { n++; k += more + 1; }
        else { e++; k++; }
    }
    chars[i] = n;
    bad[i] = e;
}

//! run_lengths_of_rows 30 96 | u8:184320:0:3 | out u8:368640 | out u32:2880
K run_lengths_of_rows(const uint8_t *in, uint8_t *out, uint32_t *size)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *p = in + i * 64;
    uint8_t *q = out + i * 128;
    uint32_t n = 0, run = 1;
    uint8_t last = p[0];
    for (int k = 1; k < 64; k++) {
        uint8_t c = p[k];
        if (c == last && run < 255) run++;
        else { q[n++] = (uint8_t)run; q[n++] = last; last = c; run = 1; }
    }
    q[n++] = (uint8_t)run;
    q[n++] = last;
    size[i] = n;
}

//! base64_encode 40 128 | u8:15360 | out u32:5120
__constant__ char b64[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
K base64_encode(const uint8_t *in, uint32_t *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    uint32_t v = in[3 * i] << 16 | in[3 * i + 1] << 8 | in[3 * i + 2];
    uint32_t r = 0;
    for (int k = 0; k < 4; k++) r |= (uint32_t)(uint8_t)b64[v >> (18 - 6 * k) & 63] << 8 * k;
    out[i] = r;
}

//! varint_decode 30 64 | u8:61440 | out u64:1920 | out u32:1920
K varint_decode(const uint8_t *in, unsigned long long *sum, uint32_t *count)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *p = in + i * 32, *e = p + 32;
    unsigned long long s = 0;
    uint32_t n = 0;
    while (p < e) {
        unsigned long long v = 0;
        int sh = 0;
        uint8_t b;
        do { b = *p++; v |= (unsigned long long)(b & 127) << sh; sh += 7; } while ((b & 128) && p < e && sh < 64);
        s += (v >> 1) ^ (0 - (v & 1));
        n++;
    }
    sum[i] = s;
    count[i] = n;
}

//! kmp_matches 20 64 | u8:81920:97:99 | u8:8:97:99 | out s32:1280
K kmp_matches(const char *text, const char *pat, int *out)
{
    __shared__ int fail[8];
    __shared__ char pt[8];
    if (threadIdx.x == 0) {
        fail[0] = 0;
        for (int k = 0; k < 8; k++) pt[k] = pat[k];
        for (int k = 1, j = 0; k < 8; k++) {
            while (j > 0 && pt[k] != pt[j]) j = fail[j - 1];
            if (pt[k] == pt[j]) j++;
            fail[k] = j;
        }
    }
    __syncthreads();
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const char *p = text + i * 64;
    int j = 0, found = 0;
    for (int k = 0; k < 64; k++) {
        while (j > 0 && p[k] != pt[j]) j = fail[j - 1];
        if (p[k] == pt[j]) j++;
        if (j == 8) { found++; j = fail[7]; }
    }
    out[i] = found;
}

//! json_depth 20 128 | u8:163840:32:126 | out s32:2560
K json_depth(const uint8_t *in, int *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    const uint8_t *p = in + i * 64;
    int depth = 0, most = 0, state = 0;
    for (int k = 0; k < 64; k++) {
        uint8_t c = p[k];
        switch (state) {
        case 0:
            if (c == '{' || c == '[') { if (++depth > most) most = depth; }
            else if (c == '}' || c == ']') depth--;
            else if (c == '"') state = 1;
            break;
        case 1:
            if (c == '\\') state = 2;
            else if (c == '"') state = 0;
            break;
        default: state = 1; break;
        }
    }
    out[i] = most * 256 + (depth & 255);
}

//! lz_window_search 16 64 | u8:32768:0:4 | out u32:1024
K lz_window_search(const uint8_t *in, uint32_t *out)
{
    __shared__ uint8_t w[2048];
    for (unsigned k = threadIdx.x; k < 512; k += 64) ((uint32_t *)w)[k] = ((const uint32_t *)(in + blockIdx.x * 2048))[k];
    __syncthreads();
    unsigned at = 256 + threadIdx.x * 16, bestlen = 0, bestdist = 0;
    for (unsigned d = 1; d <= 64; d++) {
        unsigned l = 0;
        while (l < 18 && w[at + l] == w[at - d + l]) l++;
        if (l > bestlen) { bestlen = l; bestdist = d; if (l == 18) break; }
    }
    out[blockIdx.x * 64 + threadIdx.x] = bestdist << 8 | bestlen;
}

//! tile_compact 40 256 | s32:10240:-100:100 | out s32:10240 | out u32:40
K tile_compact(const int *in, int *out, uint32_t *sizes)
{
    __shared__ uint32_t offs[8], total;
    auto tile = cg::tiled_partition<32>(cg::this_thread_block());
    int t = threadIdx.x, v = in[blockIdx.x * 256 + t];
    bool keep = v > 0 && (v & 3) != 1;
    unsigned m = tile.ballot(keep), r = __popc(m & ((1u << tile.thread_rank()) - 1));
    if (tile.thread_rank() == 0) offs[t >> 5] = __popc(m);
    __syncthreads();
    if (t == 0) { uint32_t s = 0; for (int k = 0; k < 8; k++) { uint32_t c = offs[k]; offs[k] = s; s += c; } total = s; }
    __syncthreads();
    if (keep) out[blockIdx.x * 256 + offs[t >> 5] + r] = v;
    if (t == 0) sizes[blockIdx.x] = total;
}
