// Kernels that read uninitialised memory, and counterparts that do not.
#include <cuda_pipeline.h>

struct pair { char tag; int value; };

extern __shared__ int best[];

extern "C" __global__ void branch(int *out)
{
    int v = out[threadIdx.x];
    if (v > best[0])
        out[threadIdx.x] = 1;
}

extern "C" __global__ void branch_ok(int *out)
{
    if (threadIdx.x == 0)
        best[0] = 3;
    __syncthreads();
    int v = out[threadIdx.x];
    if (v > best[0])
        out[threadIdx.x] = 1;
}

extern "C" __global__ void address(int *out, int n)
{
    int index[8];
    for (int k = 1; k < n; k++)
        index[k] = k;
    out[index[threadIdx.x & 7]] = 1;
}

extern "C" __global__ void address_ok(int *out, int n)
{
    int index[8];
    for (int k = 0; k < n; k++)
        index[k] = k;
    out[index[threadIdx.x & 7]] = 1;
}

extern "C" __global__ void counter(int *count, int *out)
{
    atomicAdd(count, 1);
    out[threadIdx.x] = 2;
}

extern "C" __global__ void shared_counter(int *out)
{
    __shared__ int count;
    atomicAdd(&count, 1);
    __syncthreads();
    out[threadIdx.x] = count;
}

extern "C" __global__ void shared_counter_ok(int *out)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1);
    __syncthreads();
    out[threadIdx.x] = count;
}

extern "C" __global__ void tail(float *out, const float *in, int n)
{
    __shared__ float tile[64];
    if (threadIdx.x < n)
        tile[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    out[threadIdx.x] = 2.0f * tile[63 - threadIdx.x];
}

extern "C" __global__ void tail_ok(float *out, const float *in, int n)
{
    __shared__ float tile[64];
    tile[threadIdx.x] = threadIdx.x < n ? in[threadIdx.x] : 0;
    __syncthreads();
    out[threadIdx.x] = 2.0f * tile[63 - threadIdx.x];
}

/* Copies of padding are not an error. */
extern "C" __global__ void padding_ok(pair *out, int n)
{
    __shared__ pair all[32];
    all[threadIdx.x].tag = 'x';
    all[threadIdx.x].value = n;
    __syncthreads();
    out[threadIdx.x] = all[31 - threadIdx.x];
}

/* Only the low byte matters. */
extern "C" __global__ void low_byte_ok(int *out)
{
    __shared__ unsigned all[32];
    ((unsigned char *)&all[threadIdx.x])[0] = (unsigned char)threadIdx.x;
    __syncthreads();
    if ((all[31 - threadIdx.x] & 255) > 7)
        out[threadIdx.x] = 1;
}

extern "C" __global__ void high_byte(int *out)
{
    __shared__ unsigned all[32];
    ((unsigned char *)&all[threadIdx.x])[0] = (unsigned char)threadIdx.x;
    __syncthreads();
    if ((all[31 - threadIdx.x] & 511) > 7)
        out[threadIdx.x] = 1;
}

__device__ __noinline__ int twice(int v)
{
    return 2 * v;
}

/* A block of the device heap. */
extern "C" __global__ void heap(int *out, int n)
{
    int *p = (int *)malloc(32 * sizeof *p);
    for (int k = 1; k < n; k++)
        p[k] = k;
    int sum = 0;
    for (int k = 0; k < 32; k++)
        sum ^= p[k];
    out[threadIdx.x] = sum;
    free(p);
}

extern "C" __global__ void heap_ok(int *out, int n)
{
    int *p = (int *)malloc(32 * sizeof *p);
    for (int k = 0; k < n; k++)
        p[k] = k;
    int sum = 0;
    for (int k = 0; k < 32; k++)
        sum ^= p[k];
    out[threadIdx.x] = sum;
    free(p);
}

/* An asynchronous copy propagates undefined values. */
extern "C" __global__ void copied(int *out, const int4 *in)
{
    __shared__ int4 tile[32];
    __pipeline_memcpy_async(&tile[threadIdx.x], &in[threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    if (tile[31 - threadIdx.x].w)
        out[threadIdx.x] = 1;
}

/* Through a call, a shuffle and arithmetic. */
extern "C" __global__ void far(int *out, const int *in)
{
    __shared__ int tile[32];
    if (threadIdx.x != 5)
        tile[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    int v = twice(tile[threadIdx.x]) + 1;
    v = __shfl_sync(0xffffffff, v, 31 - threadIdx.x);
    out[threadIdx.x] = v;
}

extern "C" __global__ void far_ok(int *out, const int *in)
{
    __shared__ int tile[32];
    if (threadIdx.x != 5)
        tile[threadIdx.x] = in[threadIdx.x];
    __syncwarp();
    int v = twice(tile[threadIdx.x]) + 1;
    v = __shfl_sync(0xffffffff, v, 31 - threadIdx.x);
    if (threadIdx.x != 26)
        out[threadIdx.x] = v;
}

/* In a matrix product only rows and columns with undefined elements are undefined. */
extern "C" __global__ void rows_ok(float *out, const unsigned *in)
{
    __shared__ unsigned a[16 * 8], b[8 * 8];
    int l = threadIdx.x, g = l / 4, t = l % 4;
    if (g < 4)
        for (int k = 0; k < 2; k++)
            a[g * 8 + t + 4 * k] = in[l];
    b[g * 8 + t] = b[g * 8 + t + 4] = in[l];
    __syncwarp();
    float d[4] = {0, 0, 0, 0};
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(a[g * 8 + t]), "r"(a[(g + 8) * 8 + t]), "r"(a[g * 8 + t + 4]), "r"(a[(g + 8) * 8 + t + 4]),
          "r"(b[g * 8 + t]), "r"(b[g * 8 + t + 4]));
    if (g < 4)
        out[l] = d[0];
}

/* A buffer initialised only by the first half of the threads. */
extern "C" __global__ void half_filled(int *scratch, int *out)
{
    if (threadIdx.x < 16)
        scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (scratch[31 - threadIdx.x] == 3)
        out[threadIdx.x] = 1;
}

extern "C" __global__ void half_filled_ok(int *scratch, int *out)
{
    if (threadIdx.x < 32)
        scratch[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (scratch[31 - threadIdx.x] == 3)
        out[threadIdx.x] = 1;
}

/* ---- propagation of undefined values through copies, textures and products ---- */

__device__ static unsigned at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

struct __align__(64) map { char bytes[128]; };

__device__ static void load_tile(float *to, const map *m, unsigned long long *bar)
{
    unsigned done;
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at(bar)) : "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(at(bar)) : "memory");
        asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%2, %2}], [%3];" ::"r"(at(to)), "l"(m), "r"(0), "r"(at(bar)) : "memory");
    }
    do asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(at(bar)) : "memory");
    while (!done);
}

extern "C" __global__ void tile(const __grid_constant__ map in, float *out)
{
    __shared__ __align__(128) float v[256];
    __shared__ unsigned long long bar;
    load_tile(v, &in, &bar);
    out[threadIdx.x] = v[threadIdx.x];
}

// Rows 8 and up of the surface are never written; the second kernel reads only the first ones.
extern "C" __global__ void surface(cudaSurfaceObject_t s, int *out)
{
    int t = threadIdx.x, v;
    if (t < 48) surf1Dwrite(t, s, t * 4);
    __syncthreads();
    surf1Dread(&v, s, t * 4);
    out[t] = v;
}

extern "C" __global__ void surface_ok(cudaSurfaceObject_t s, int *out)
{
    int t = threadIdx.x, v;
    surf1Dwrite(t, s, t * 4);
    __syncthreads();
    surf1Dread(&v, s, t * 4);
    out[t] = v;
}

// Column 5 of b is uninitialised: only column 5 of the product is undefined.
__device__ static void product(float *out, unsigned short *a, unsigned short *b, int column)
{
    int t = threadIdx.x;
    float d[4];
    for (int k = t; k < 64 * 16; k += 128) a[k] = 0x3c00;
    if (t / 8 % 8 != 5) b[t] = 0x3c00;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    unsigned long long da = (at(a) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32,
                       db = (at(b) >> 4 & 0x3fff) | 8ull << 16 | 16ull << 32;
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 0, 1, 1, 0, 0;"
                 : "=f"(d[0]), "=f"(d[1]), "=f"(d[2]), "=f"(d[3]) : "l"(da), "l"(db) : "memory");
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    if (t % 4 == column / 2) out[t / 4] = column % 2 ? d[1] : d[0];
}

extern "C" __global__ void multiplied(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    product(out, a, b, 5);
}

extern "C" __global__ void multiplied_ok(float *out)
{
    __shared__ __align__(128) unsigned short a[64 * 16], b[16 * 8];
    product(out, a, b, 4);
}

// A local variable is written through its generic address before the first call.
__device__ __noinline__ static int next_of(int v) { return v + 1; }
template <bool SET> __device__ static void through_pointer(int *out)
{
    int a[2], v;
    if (SET) asm volatile("st.u32 [%0], %1;" ::"l"(a), "r"(threadIdx.x) : "memory");
    const int n = next_of(threadIdx.x);
    asm volatile("ld.u32 %0, [%1];" : "=r"(v) : "l"(a) : "memory");
    out[threadIdx.x] = v + n;
}
extern "C" __global__ void pointed(int *out) { through_pointer<false>(out); }
extern "C" __global__ void pointed_ok(int *out) { through_pointer<true>(out); }

// Nobody has written what a kernel prints.
template <bool SET> __device__ static void print(int *n)
{
    if (SET) *n = 0;
    printf("%.0d", *n);
}
extern "C" __global__ void printed(int *n) { print<false>(n); }
extern "C" __global__ void printed_ok(int *n) { print<true>(n); }

// The output is one of two values, of which nobody has written the other.
template <bool OTHER> __device__ static void select(int *out, int n)
{
    __shared__ int s[2];
    int v;
    s[0] = n;
    asm volatile("{ .reg .pred p, q; .reg .b32 a, b; ld.shared.u32 a, [%1]; ld.shared.u32 b, [%1+4];\n"
                 "setp.lt.s32 p, b, a; setp.lt.and.s32 q, %2, 3, p; selp.b32 %0, b, a, q; }"
                 : "=r"(v) : "r"((unsigned)__cvta_generic_to_shared(s)), "r"(OTHER ? -1 : n) : "memory");
    *out = v;
}
extern "C" __global__ void selected(int *out, int n) { select<true>(out, n); }
extern "C" __global__ void selected_ok(int *out, int n) { select<false>(out, n); }
