/* otherwise.cu - kernels that another compiler made into PTX:
 *     clang -x cuda --cuda-device-only --cuda-gpu-arch=sm_80 -nocudainc -nocudalib -Xclang -target-feature -Xclang +ptx75 -O3 -S (version 14) */
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define K extern "C" __global__ void
typedef unsigned char u8;
typedef unsigned u32;
typedef unsigned long long u64;
typedef float f4 __attribute__((ext_vector_type(4)));
typedef u32 u4 __attribute__((ext_vector_type(4)));
#define TID __nvvm_read_ptx_sreg_tid_x()
#define BID __nvvm_read_ptx_sreg_ctaid_x()
#define BDIM __nvvm_read_ptx_sreg_ntid_x()
#define ME (BID * BDIM + TID)
#define SYNC __syncthreads()
static __device__ int from_lane(int v, int m) { return __nvvm_shfl_sync_bfly_i32(-1, v, m, 31); }
static __device__ float from_lane_f(float v, int m) { return __nvvm_shfl_sync_bfly_f32(-1, v, m, 31); }

//! clang_scaled_sum 15 128 | f32:1900 | f32:1900 | out f32:1900 | s f32 2.5 | s s32 1900
K clang_scaled_sum(const float *x, const float *y, float *z, float a, int n)
{
    int i = ME;
    if (i < n) z[i] = a * x[i] + y[i];
}

//! clang_row_sums 16 96 | f32:24576:-1:1 | out f32:16
K clang_row_sums(const float *x, float *out)
{
    __shared__ float part[3];
    float s = 0;
    for (int k = TID; k < 1536; k += 96) s += x[BID * 1536 + k];
    for (int m = 16; m; m >>= 1) s += from_lane_f(s, m);
    if (TID % 32 == 0) part[TID / 32] = s;
    SYNC;
    if (TID == 0) out[BID] = part[0] + part[1] + part[2];
}

//! clang_tiled_product 36 64 | f32:2304:-1:1 | f32:2304:-1:1 | out f32:2304 | s s32 48
K clang_tiled_product(const float *a, const float *b, float *c, int n)
{
    __shared__ float sa[8][8], sb[8][8];
    int tx = TID % 8, ty = TID / 8, bx = BID % 6 * 8, by = BID / 6 * 8;
    float s = 0;
    for (int k = 0; k < n; k += 8) {
        sa[ty][tx] = a[(by + ty) * n + k + tx];
        sb[ty][tx] = b[(k + ty) * n + bx + tx];
        SYNC;
        for (int q = 0; q < 8; q++) s += sa[ty][q] * sb[q][tx];
        SYNC;
    }
    c[(by + ty) * n + bx + tx] = s;
}

//! clang_crc_of_words 10 64 | u32:5120 | out u32:640
K clang_crc_of_words(const u32 *in, u32 *out)
{
    u32 crc = ~0u;
    for (int k = 0; k < 8; k++) {
        crc ^= in[ME * 8 + k];
        for (int b = 0; b < 32; b++) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
    }
    out[ME] = ~crc;
}

//! clang_histogram_of_bytes 8 128 | u8:16384 | zero u32:256
K clang_histogram_of_bytes(const u8 *in, u32 *bins)
{
    __shared__ u32 mine[256];
    mine[TID] = mine[TID + 128] = 0;
    SYNC;
    const u32 *p = (const u32 *)in + BID * 512;
    for (int k = TID; k < 512; k += 128) {
        u32 v = p[k];
        for (int b = 0; b < 4; b++, v >>= 8) __nvvm_atom_add_gen_i((int *)&mine[v & 255], 1);
    }
    SYNC;
    for (int k = TID; k < 256; k += 128) __nvvm_atom_add_gen_i((int *)&bins[k], mine[k]);
}

//! clang_newton_roots 12 96 | f64:1152:1:99 | out f64:1152
K clang_newton_roots(const double *x, double *out)
{
    double v = x[ME], r = v;
    for (int k = 0; k < 7; k++) r = 0.5 * (r + v / r);
    out[ME] = r - v / r + __builtin_fabs(r);
}

static __device__ int depth_of(int n) { return n < 2 ? 1 : 1 + depth_of(n & 1 ? (3 * n + 1) >> 1 : n / 2); }

//! clang_recursive_depth 4 64 | s32:256:1:12 | out s32:256
K clang_recursive_depth(const int *n, int *out) { out[ME] = depth_of(n[ME]); }

typedef int (*binary)(int, int);
static __device__ int add(int a, int b) { return a + b; }
static __device__ int xor_(int a, int b) { return a ^ b * 3; }
static __device__ int most(int a, int b) { return a > b ? a : b; }

//! clang_through_pointers 9 64 | s32:576:-99:99 | s32:576:-99:99 | out s32:576
K clang_through_pointers(const int *a, const int *b, int *out)
{
    binary f[3] = {add, xor_, most};
    out[ME] = f[(ME / 32) % 3](a[ME], f[BID % 3](b[ME], (int)TID));
}

//! clang_switch_of_opcodes 6 128 | u32:768 | s32:768:-50:50 | out s32:768
K clang_switch_of_opcodes(const u32 *code, const int *x, int *out)
{
    u32 c = code[ME];
    int v = x[ME];
    for (int k = 0; k < 8; k++, c >>= 4)
        switch (c & 15) {
        case 0: v += 7; break;
        case 1: v *= 3; break;
        case 2: v -= 100; break;
        case 3: v = -v; break;
        case 4: v ^= 0x55; break;
        case 5: v = v / 3; break;
        case 6: v <<= 2; break;
        case 7: v >>= 1; break;
        case 8: v = v % 17; break;
        case 9: v |= 1; break;
        default: v++; break;
        }
    out[ME] = v;
}

struct ray { float ox, oy, oz, dx, dy, dz; };

//! clang_rays_and_boxes 10 64 | f32:3840:-1:1 | f32:96:-1:1 | out s32:640
K clang_rays_and_boxes(const ray *r, const float *box, int *hits)
{
    ray q = r[ME];
    float ix = 1.0f / q.dx, iy = 1.0f / q.dy, iz = 1.0f / q.dz;
    int n = 0;
    for (int k = 0; k < 16; k++) {
        const float *b = box + k * 6;
        float x0 = (b[0] - q.ox) * ix, x1 = (b[0] + 0.5f - q.ox) * ix, y0 = (b[1] - q.oy) * iy, y1 = (b[1] + 0.4f - q.oy) * iy;
        float z0 = (b[2] - q.oz) * iz, z1 = (b[2] + 0.6f - q.oz) * iz;
        float lo = __builtin_fmaxf(__builtin_fmaxf(__builtin_fminf(x0, x1), __builtin_fminf(y0, y1)), __builtin_fminf(z0, z1));
        float hi = __builtin_fminf(__builtin_fminf(__builtin_fmaxf(x0, x1), __builtin_fmaxf(y0, y1)), __builtin_fmaxf(z0, z1));
        if (hi >= lo && hi > 0) n |= 1 << k;
    }
    hits[ME] = n;
}

__constant__ float taps[7] = {0.03f, 0.11f, 0.22f, 0.28f, 0.22f, 0.11f, 0.03f};

//! clang_blur_of_vectors 12 128 | f32:6168 | out f32:6144
K clang_blur_of_vectors(const f4 *x, f4 *y)
{
    f4 a = x[ME], b = x[ME + 1], c = x[ME + 2];
    float v[12] = {a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y, c.z, c.w};
    f4 r = {0, 0, 0, 0};
    for (int k = 0; k < 7; k++) {
        r.x += taps[k] * v[k];
        r.y += taps[k] * v[k + 1];
        r.z += taps[k] * v[k + 2];
        r.w += taps[k] * v[k + 3];
    }
    y[ME] = r;
}

//! clang_sorted_in_local 5 64 | s32:3840 | out s32:3840
K clang_sorted_in_local(const int *in, int *out)
{
    int v[12];
    for (int k = 0; k < 12; k++) v[k] = in[k * 320 + ME];
    for (int k = 1; k < 12; k++) {
        int x = v[k], j = k - 1;
        for (; j >= 0 && v[j] > x; j--) v[j + 1] = v[j];
        v[j + 1] = x;
    }
    for (int k = 0; k < 12; k++) out[k * 320 + ME] = v[k];
}

//! clang_wide_products 8 96 | u64:768 | u64:768 | out u64:768
K clang_wide_products(const u64 *a, const u64 *b, u64 *out)
{
    unsigned __int128 p = (unsigned __int128)a[ME] * b[ME];
    p += (unsigned __int128)(a[ME] ^ b[ME]) << 17;
    out[ME] = (u64)(p >> 64) ^ (u64)p % 1000003;
}
