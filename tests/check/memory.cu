// Invalid accesses, and their fixed counterparts.

extern "C" __global__ void beyond(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = i;
}

extern "C" __global__ void beyond_ok(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = i;
}

// Two invalid accesses: the launch continues after the first.
extern "C" __global__ void two(int *out, const int *in, int n)
{
    int t = threadIdx.x;
    int v = in[t - 1];
    out[t] = v;
    out[t + 64] = v;
}

extern "C" __global__ void two_ok(int *out, const int *in, int n)
{
    int t = threadIdx.x;
    int v = t ? in[t - 1] : 0;
    out[t] = v;
    if (t + 64 < n) out[t + 64] = v;
}

extern "C" __global__ void askew(char *p)
{
    *(int *)(p + threadIdx.x * 2) = 1;
}

extern "C" __global__ void askew_ok(char *p)
{
    *(int *)(p + threadIdx.x * 4) = 1;
}

extern "C" __global__ void tile_end(int *out)
{
    __shared__ int tile[32];
    tile[threadIdx.x + 1] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void tile_end_ok(int *out)
{
    __shared__ int tile[33];
    tile[threadIdx.x + 1] = 1;
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}

extern "C" __global__ void dynamic_end(int *out)
{
    extern __shared__ int more[];
    more[threadIdx.x * 2] = 1;
    out[threadIdx.x] = more[threadIdx.x * 2];
}

extern "C" __global__ void freed(int *out)
{
    int *p = (int *)malloc(16);
    p[0] = 1;
    free(p);
    out[threadIdx.x] = p[0];
}

extern "C" __global__ void freed_ok(int *out)
{
    int *p = (int *)malloc(16);
    p[0] = 1;
    out[threadIdx.x] = p[0];
    free(p);
}

extern "C" __global__ void freed_twice(int *out)
{
    int *p = (int *)malloc(16);
    free(p);
    free(p);
}

extern "C" __global__ void leak(int *out)
{
    int *p = (int *)malloc(16);
    p[0] = threadIdx.x;
    out[threadIdx.x] = p[0];
}

extern "C" __global__ void no_pointer(int **p)
{
    *p[threadIdx.x] = 1;
}

extern "C" __global__ void freed_twice_ok(int *out)
{
    int *p = (int *)malloc(16);
    free(p);
    p = nullptr;
    free(p);
}

extern "C" __global__ void leak_ok(int *out)
{
    int *p = (int *)malloc(16);
    p[0] = threadIdx.x;
    out[threadIdx.x] = p[0];
    free(p);
}

// Neither a multiple of four nor in bounds: hardware checks the former first.
extern "C" __global__ void askew_end(char *p)
{
    *(int *)(p + 61) = 1;
}

// A small array that the assembler promotes to registers, unless it checks.
template <int LAST> __device__ static int picked(const int *in)
{
    int a[8];
    for (int k = 0; k < 8; k++) a[k] = in[k] + threadIdx.x;
    a[in[threadIdx.x] & LAST] = 5;
    int s = 0;
    for (int k = 0; k < 8; k++) s += a[in[k] & 7];
    return s;
}
extern "C" __global__ void array_end(int *out, const int *in) { out[threadIdx.x] = picked<31>(in); }
extern "C" __global__ void array_end_ok(int *out, const int *in) { out[threadIdx.x] = picked<7>(in); }

// The compiler names no line for the copy loop.
struct record { int part[6]; };
extern "C" __global__ void record_end(record *out, const record *in)
{
    memcpy(&out[threadIdx.x], &in[threadIdx.x + 1], sizeof *out);
}

// An index past the end of an array in constant memory, which another array follows.
__constant__ int weights[8] = {1, 2, 3, 4, 5, 6, 7, 8};
__constant__ int offsets[8] = {8, 7, 6, 5, 4, 3, 2, 1};
extern "C" __global__ void constants_end(int *out) { out[threadIdx.x] = weights[threadIdx.x + 1] + offsets[7 - threadIdx.x]; }
extern "C" __global__ void constants_end_ok(int *out) { out[threadIdx.x] = weights[threadIdx.x] + offsets[7 - threadIdx.x]; }
