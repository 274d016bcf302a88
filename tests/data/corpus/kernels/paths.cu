/* paths.cu - ways through the program: switches, early ends, nests, calls through tables, recursion, constants, arrays of a thread. */
#include <cstdint>
#define K extern "C" __global__ void
__constant__ unsigned table[256] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};
__constant__ uint8_t code[32] = {0, 1, 2, 3, 1, 4, 5, 0, 2, 6, 1, 7, 3, 2, 5, 4, 0, 6, 1, 1, 2, 3, 7, 4, 5, 6, 0, 2, 3, 1, 4, 7};
//! switch_warps 66 256 | u32:528:0:8 | u32:16896 | out u32:16896
K switch_warps(const unsigned *op, const unsigned *in, unsigned *out) /* all lanes of a warp go the same way */
{
    int t = blockIdx.x * 256 + threadIdx.x;
    unsigned x = in[t], y = t;
    for (int i = 0; i < 8; i++)
        switch ((op[t >> 5] + i) & 7) {
        case 0: x += y; break;
        case 1: x ^= y << 3; break;
        case 2: y = x / (y | 1); break;
        case 3: x = __popc(x) * y; break;
        case 4: y = y * y + x; break;
        case 5: x = x % 1021 + y; break;
        case 6: x = __brev(x) - y; break;
        default: y ^= x >> 5;
        }
    out[t] = x ^ y;
}
//! random_lengths 66 128 | u32:8448:0:64 | out f32:8448
K random_lengths(const unsigned *n, float *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    unsigned m = n[t];
    if (m < 4) { out[t] = 0; return; }
    float s = 1;
    for (unsigned i = 0; i < m; i++) s = s * 1.01f + 1.f / (i + 1);
    out[t] = s;
}
//! deep_nest 33 256 | u32:8448 | out u32:8448
K deep_nest(const unsigned *in, unsigned *out)
{
    int t = blockIdx.x * 256 + threadIdx.x;
    unsigned x = in[t], s = 0;
    for (int i = 0; i < 6; i++) {
        if (x & 1) {
            if (x & 2) { s += x / 3; if (x & 4) s ^= in[(x >> 8) % 8448]; else s *= 5; }
            else s -= in[(x >> 4) % 8448];
        } else if (x & 8) {
            s = s * 7 + (x >> 3);
            if (x & 16) s += __popc(s);
        } else
            s ^= x << 2;
        x = x * 1103515245u + 12345u;
    }
    out[t] = s;
}
static __device__ __noinline__ unsigned f0(unsigned x) { return x * 3 + 1; }
static __device__ __noinline__ unsigned f1(unsigned x) { return x >> 1 ^ 0x5bd1e995u; }
static __device__ __noinline__ unsigned f2(unsigned x) { return __popc(x) + (x << 4); }
static __device__ __noinline__ unsigned f3(unsigned x) { return x - (x >> 7) * 13; }
typedef unsigned (*step)(unsigned);
static __device__ step steps[4] = {f0, f1, f2, f3};
//! table_of_steps 33 128 | u32:132:0:4 | u32:4224 | out u32:4224
K table_of_steps(const unsigned *which, const unsigned *in, unsigned *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    unsigned x = in[t];
    for (int i = 0; i < 10; i++) x = steps[(which[t >> 5] + i) & 3](x);
    out[t] = x;
}
static __device__ int tree_sum(const int *v, int node, int n)
{
    if (node >= n) return 0;
    return v[node] + tree_sum(v, 2 * node + 1, n) - tree_sum(v, 2 * node + 2, n);
}
//! tree_recursive 16 32 | s32:512:-100:100 | out s32:512 | s s32 31
K tree_recursive(const int *v, int *out, int n)
{
    int t = blockIdx.x * 32 + threadIdx.x;
    out[t] = tree_sum(v + (t & 255), 0, n);
}
//! byte_code 33 128 | u32:4224 | out u32:4224 | s s32 6
K byte_code(const unsigned *in, unsigned *out, int times)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    unsigned a = in[t], b = t, c = 1;
    for (int k = 0; k < times; k++)
        for (int pc = 0; pc < 32; pc++)
            switch (code[pc]) {
            case 0: a += b; break;
            case 1: b ^= a; break;
            case 2: c += a & 15; break;
            case 3: a = a << 1 | a >> 31; break;
            case 4: b -= c; break;
            case 5: c *= 3; break;
            case 6: a ^= c << 8; break;
            default: b = b * 5 + 1;
            }
    out[t] = a ^ b ^ c;
}
//! constant_by_lane 66 128 | u32:8448 | out u32:8448
K constant_by_lane(const unsigned *in, unsigned *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    unsigned x = in[t], s = 0;
    for (int i = 0; i < 8; i++) { s += table[x & 15]; x = x >> 4 ^ s; }
    out[t] = s;
}
//! rounds_until_all 66 128 | u32:8448:1:5000 | out u32:8448
K rounds_until_all(const unsigned *in, unsigned *out) /* a warp goes on until a vote says that all are done */
{
    int t = blockIdx.x * 128 + threadIdx.x;
    unsigned x = in[t], n = 0;
    while (__any_sync(~0u, x != 1) && n < 100) {
        if (x != 1) x = x & 1 ? 3 * x + 1 : x >> 1;
        n++;
    }
    out[t] = n * 65536 + x % 65536;
}
//! pivot_rows 16 64 | f32:36864:-1:1 | out f32:6144
K pivot_rows(const float *in, float *out) /* elimination with pivots of a system of six equations a thread, in local memory */
{
    int t = blockIdx.x * 64 + threadIdx.x;
    float m[6][6];
    int p[6];
    for (int i = 0; i < 6; i++) { p[i] = i; for (int j = 0; j < 6; j++) m[i][j] = in[(i * 6 + j) * 1024 + t]; }
    for (int k = 0; k < 5; k++) {
        int best = k;
        for (int i = k + 1; i < 6; i++) if (fabsf(m[p[i]][k]) > fabsf(m[p[best]][k])) best = i;
        int s = p[k]; p[k] = p[best]; p[best] = s;
        for (int i = k + 1; i < 6; i++) {
            float f = m[p[i]][k] / m[p[k]][k];
            for (int j = k + 1; j < 6; j++) m[p[i]][j] -= f * m[p[k]][j];
        }
    }
    for (int k = 0; k < 6; k++) out[t * 6 + k] = m[p[k]][k];
}
//! match_groups 33 128 | u32:4224:0:6 | out u32:4224
K match_groups(const unsigned *in, unsigned *out)
{
    int t = blockIdx.x * 128 + threadIdx.x;
    unsigned m = __match_any_sync(~0u, in[t]), lane = t & 31;
    unsigned rank = __popc(m & ((1u << lane) - 1)), leader = __ffs(m) - 1;
    out[t] = __shfl_sync(~0u, t * 17, leader) + rank;
}
//! shuffle_transpose 66 256 | u32:135168 | out u32:135168
K shuffle_transpose(const unsigned *in, unsigned *out) /* eight by eight words among eight lanes, by exchanges */
{
    int t = blockIdx.x * 256 + threadIdx.x, lane = t & 7;
    unsigned v[8];
    for (int i = 0; i < 8; i++) v[i] = in[i * 16896 + t];
    for (int d = 1; d < 8; d *= 2)
        for (int i = 0; i < 8; i++)
            if (!(i & d)) {
                unsigned give = lane & d ? v[i] : v[i | d], got = __shfl_xor_sync(~0u, give, d);
                if (lane & d) v[i] = got; else v[i | d] = got;
            }
    for (int i = 0; i < 8; i++) out[i * 16896 + t] = v[i];
}
