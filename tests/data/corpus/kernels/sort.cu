// Sorting, merging and searching.
#include <stdint.h>

//! radix_pass 64 256 | u32:65536 | out u32:65536 | s s32 4
// One pass over 4 bits, local to the block: ranks by ballots, in order.
extern "C" __global__ void radix_pass(const uint32_t *in, uint32_t *out, int shift)
{
    __shared__ uint32_t count[8][16], start[16];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    uint32_t *dst = out + blockIdx.x * 1024;
    uint32_t key[4];
    unsigned rank[4];
    if (lane < 16) count[warp][lane] = 0;
    __syncwarp();
#pragma unroll
    for (int r = 0; r < 4; r++) {
        key[r] = in[blockIdx.x * 1024 + warp * 128 + r * 32 + lane];
        unsigned digit = key[r] >> shift & 15, peers = __match_any_sync(~0u, digit);
        unsigned before = count[warp][digit];
        rank[r] = before + __popc(peers & ((1u << lane) - 1));
        __syncwarp();
        if ((peers >> lane) == 1) count[warp][digit] = rank[r] + 1;
        __syncwarp();
    }
    __syncthreads();
    if (threadIdx.x < 16) {
        uint32_t s = 0;
        for (int w = 0; w < 8; w++) {
            uint32_t c = count[w][threadIdx.x];
            count[w][threadIdx.x] = s;
            s += c;
        }
        uint32_t before = s;
        for (int d = 1; d < 16; d *= 2) {
            uint32_t o = __shfl_up_sync(0xffff, s, d, 16);
            if (threadIdx.x >= d) s += o;
        }
        start[threadIdx.x] = s - before;
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < 4; r++) {
        unsigned digit = key[r] >> shift & 15;
        dst[start[digit] + count[warp][digit] + rank[r]] = key[r];
    }
}

//! odd_even_sort 40 64 | inout s32:5120:-1000:1000
extern "C" __global__ void odd_even_sort(int *v)
{
    __shared__ int s[128];
    int *p = v + blockIdx.x * 128;
    s[threadIdx.x] = p[threadIdx.x];
    s[threadIdx.x + 64] = p[threadIdx.x + 64];
    __syncthreads();
    for (int round = 0; round < 128; round++) {
        int i = 2 * threadIdx.x + (round & 1);
        if (i + 1 < 128 && s[i] > s[i + 1]) {
            int t = s[i];
            s[i] = s[i + 1];
            s[i + 1] = t;
        }
        __syncthreads();
    }
    p[threadIdx.x] = s[threadIdx.x];
    p[threadIdx.x + 64] = s[threadIdx.x + 64];
}

//! merge_path 32 128 | s32:16384 | s32:16384 | out s32:32768 | s s32 16384
// Both inputs are made increasing by adding their place to a small number.
__device__ inline int item(const int *v, int i) { return i * 8 + (v[i] & 7); }
extern "C" __global__ void merge_path(const int *a, const int *b, int *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, diag = t * 8;
    int lo = max(0, diag - n), hi = min(diag, n);
    while (lo < hi) {
        int mid = (lo + hi) >> 1;
        if (item(a, mid) <= item(b, diag - 1 - mid)) lo = mid + 1;
        else hi = mid;
    }
    int i = lo, j = diag - lo;
    for (int k = 0; k < 8; k++) {
        bool left = j >= n || (i < n && item(a, i) <= item(b, j));
        out[diag + k] = left ? item(a, i++) : item(b, j++);
    }
}

//! bitonic_regs 64 128 | inout u32:65536
// Each warp sorts 256 numbers, eight a lane, through registers and shuffles.
extern "C" __global__ void bitonic_regs(uint32_t *v)
{
    const int lane = threadIdx.x & 31;
    uint32_t *p = v + (blockIdx.x * 4 + threadIdx.x / 32) * 256, x[8];
#pragma unroll
    for (int k = 0; k < 8; k++) x[k] = p[k * 32 + lane];
#pragma unroll
    for (int size = 2; size <= 256; size <<= 1) {
#pragma unroll
        for (int step = size >> 1; step > 0; step >>= 1) {
            if (step >= 32) {
#pragma unroll
                for (int k = 0; k < 8; k++) {
                    int o = k ^ (step >> 5);
                    if (o > k) {
                        bool up = ((k * 32 & size) == 0) || size == 256;
                        uint32_t a = min(x[k], x[o]), b = max(x[k], x[o]);
                        x[k] = up ? a : b;
                        x[o] = up ? b : a;
                    }
                }
            } else {
#pragma unroll
                for (int k = 0; k < 8; k++) {
                    uint32_t o = __shfl_xor_sync(~0u, x[k], step);
                    bool up = ((k * 32 + lane) & size) == 0, low = (lane & step) == 0;
                    x[k] = up == low ? min(x[k], o) : max(x[k], o);
                }
            }
        }
    }
#pragma unroll
    for (int k = 0; k < 8; k++) p[k * 32 + lane] = x[k];
}

//! binary_search 64 256 | s32:16384 | s32:16384:0:131072 | out s32:16384
extern "C" __global__ void binary_search(const int *noise, const int *query, int *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, q = query[i], lo = 0, len = 16384;
    while (len > 0) {
        int half = len >> 1, m = lo + half;
        if (m * 8 + (__ldg(noise + m) & 7) < q) {
            lo = m + 1;
            len -= half + 1;
        } else len = half;
    }
    found[i] = lo;
}

//! quicksort_stack 16 64 | inout s32:32768
// A thread sorts 32 numbers of its own, recursion by a stack in local memory.
extern "C" __global__ void quicksort_stack(int *data)
{
    int *v = data + (blockIdx.x * blockDim.x + threadIdx.x) * 32;
    int stack[24], top = 0;
    stack[top++] = 0;
    stack[top++] = 31;
    while (top > 0) {
        int hi = stack[--top], lo = stack[--top];
        if (hi - lo < 4) {
            for (int i = lo + 1; i <= hi; i++) {
                int x = v[i], j = i - 1;
                for (; j >= lo && v[j] > x; j--) v[j + 1] = v[j];
                v[j + 1] = x;
            }
            continue;
        }
        int pivot = v[(lo + hi) / 2], i = lo, j = hi;
        while (i <= j) {
            while (v[i] < pivot) i++;
            while (v[j] > pivot) j--;
            if (i <= j) {
                int t = v[i];
                v[i++] = v[j];
                v[j--] = t;
            }
        }
        if (top + 4 <= 24) {
            if (lo < j) stack[top++] = lo, stack[top++] = j;
            if (i < hi) stack[top++] = i, stack[top++] = hi;
        }
    }
}

//! topk_heap 40 128 | f32:163840:-1:1 | out f32:40960
// Every thread keeps the eight largest of 32 strided numbers in registers.
extern "C" __global__ void topk_heap(const float *x, float *out)
{
    float best[8];
#pragma unroll
    for (int k = 0; k < 8; k++) best[k] = -2.0f;
    const float *p = x + blockIdx.x * 4096 + threadIdx.x;
    for (int i = 0; i < 32; i++) {
        float v = p[i * 128];
        if (v <= best[7]) continue;
        best[7] = v;
#pragma unroll
        for (int k = 7; k > 0; k--)
            if (best[k] > best[k - 1]) {
                float t = best[k];
                best[k] = best[k - 1];
                best[k - 1] = t;
            }
    }
    float *o = out + (blockIdx.x * 128 + threadIdx.x) * 8;
#pragma unroll
    for (int k = 0; k < 8; k++) o[k] = best[k];
}
