/* clang_grids.cu - kernels that another compiler made into PTX (how, otherwise.cu says), in grids of the size of the machine. */
#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __shared__ __attribute__((shared))
#define K extern "C" __global__ void
typedef unsigned char u8;
typedef unsigned u32;
typedef unsigned long long u64;
typedef float f4 __attribute__((ext_vector_type(4)));
typedef u32 u2 __attribute__((ext_vector_type(2)));
#define TID __nvvm_read_ptx_sreg_tid_x()
#define BID __nvvm_read_ptx_sreg_ctaid_x()
#define ME (BID * __nvvm_read_ptx_sreg_ntid_x() + TID)
#define SYNC __syncthreads()

//! clang_products_of_small_tiles 264 64 | f32:270336:-1:1 | f32:256:-1:1 | out f32:270336
// Each block multiplies 64 rows of sixteen by one 16 by 16.
K clang_products_of_small_tiles(const float *x, const float *m, float *y)
{
    __shared__ float s[256];
    for (u32 k = TID; k < 256; k += 64) s[k] = m[k];
    SYNC;
    const f4 *row = (const f4 *)(x + ME * 16);
    f4 *out = (f4 *)(y + ME * 16);
    f4 v[4] = {row[0], row[1], row[2], row[3]};
    for (int j = 0; j < 4; j++) {
        f4 a = 0;
#pragma unroll
        for (int k = 0; k < 16; k++) a += v[k / 4][k % 4] * *(f4 *)(s + k * 16 + j * 4);
        out[j] = a;
    }
}

//! clang_stencil_of_nine 512 128 | f32:66564:-1:1 | out f32:65536
// 256 by 256, a row of 128 a block.
K clang_stencil_of_nine(const float *a, float *b)
{
    int x = BID % 2 * 128 + TID, y = BID / 2;
    float s = 0;
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++) s += a[(y + j) * 258 + x + i] * (float)((j + 1) * (i + 1));
    b[y * 256 + x] = s / 36.0f;
}

//! clang_walks_in_trees 264 96 | u32:65536:0:1000 | u32:25344:0:1000 | out u32:25344
// Fourteen steps down an implicit tree of 16,384 keys of the first quarter.
K clang_walks_in_trees(const u32 *tree, const u32 *key, u32 *leaf)
{
    u32 k = key[ME], at = 1;
    while (at < 16384) at = at * 2 + (tree[at] < k);
    leaf[ME] = at;
}

//! clang_bins_of_values 132 256 | u8:270336 | zero u32:64
K clang_bins_of_values(const u8 *x, u32 *bins)
{
    __shared__ u32 s[64];
    if (TID < 64) s[TID] = 0;
    SYNC;
    for (u32 k = 0; k < 8; k++) __nvvm_atom_add_gen_i((int *)&s[x[(BID * 8 + k) * 256 + TID] >> 2], 1);
    SYNC;
    if (TID < 64) __nvvm_atom_add_gen_i((int *)bins + TID, (int)s[TID]);
}

//! clang_random_walk_words 264 128 | u64:33792 | out u64:33792 | s s32 25
K clang_random_walk_words(const u64 *seed, u64 *out, int n)
{
    u64 a = seed[ME], b = a * 0x9e3779b97f4a7c15ull | 1, s = 0;
    for (int k = 0; k < n; k++) {
        u64 t = a ^ a << 23;
        a = b;
        b = t ^ b ^ t >> 17 ^ b >> 26;
        s += (a + b) % 1000;
        if (s & 1) s = s * 3 + 1;
        else s >>= 1;
    }
    out[ME] = s;
}

//! clang_doubles_iterated 132 128 | f64:16896:1:9 | out f64:16896
K clang_doubles_iterated(const double *x, double *y)
{
    double v = x[ME], r = v;
    for (int k = 0; k < 6; k++) r = 0.5 * (r + v / r);
    y[ME] = r - __nvvm_sqrt_rn_d(v);
}
