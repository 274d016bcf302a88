// Incorrect uses of barriers, masks and shuffles, and their fixed counterparts.

extern "C" __global__ void mask(int *out)
{
    int v = threadIdx.x;
    v = __shfl_sync(0xffff, v, 0);
    out[threadIdx.x] = v;
}

extern "C" __global__ void mask_ok(int *out)
{
    int v = threadIdx.x;
    v = __shfl_sync(0xffffffff, v, 0);
    out[threadIdx.x] = v;
}

extern "C" __global__ void half(int *out)
{
    int v = threadIdx.x;
    if (v >= 16) return;
    v += __shfl_down_sync(0xffff, v, 8);
    out[threadIdx.x] = v;
}

extern "C" __global__ void half_ok(int *out)
{
    int v = threadIdx.x;
    if (v >= 16) return;
    v += __shfl_down_sync(0xffff, v, 8, 16);
    out[threadIdx.x] = v;
}

extern "C" __global__ void two_barriers(int *out)
{
    if (threadIdx.x < 32) {
        out[threadIdx.x] = 1;
        __syncthreads();
    } else {
        __syncthreads();
        out[threadIdx.x] = out[threadIdx.x - 32];
    }
}

extern "C" __global__ void two_barriers_ok(int *out)
{
    if (threadIdx.x < 32) out[threadIdx.x] = 1;
    __syncthreads();
    if (threadIdx.x >= 32) out[threadIdx.x] = out[threadIdx.x - 32];
}

extern "C" __global__ void early(int *out, int n)
{
    if (threadIdx.x >= n) return;
    __syncthreads();
    out[threadIdx.x] = 1;
}

extern "C" __global__ void counts(int *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 1, 96;");
    out[threadIdx.x] = 1;
}

extern "C" __global__ void counts_ok(int *out)
{
    if (threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;");
    else
        asm volatile("bar.sync 1, 64;");
    out[threadIdx.x] = 1;
}

extern "C" __global__ void never(int *out)
{
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 96;");
    out[threadIdx.x] = 1;
}

extern "C" __global__ void nobody_writes(volatile int *flag)
{
    while (*flag == 0) {}
}

extern "C" __global__ void no_init(int *out)
{
    __shared__ unsigned long long bar;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        bar = 0x7fffff0000000000ull;
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
    }
    __syncthreads();
    out[threadIdx.x] = 1;
}

extern "C" __global__ void no_init_ok(int *out)
{
    __shared__ unsigned long long bar;
    unsigned at = (unsigned)__cvta_generic_to_shared(&bar);
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at) : "memory");
        asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(at) : "memory");
    }
    __syncthreads();
    out[threadIdx.x] = 1;
}

extern "C" __global__ void never_ok(int *out)
{
    asm volatile("bar.sync 1, 64;");
    out[threadIdx.x] = 1;
}

extern "C" __global__ void nobody_writes_ok(volatile int *flag)
{
    if (threadIdx.x == 32) *flag = 1;
    while (*flag == 0) {}
}

// The threads of the last half warp bypass the barrier. An early return is not an error (`early`).
extern "C" __global__ void skipped(int *out)
{
    int t = threadIdx.x;
    if (t < 48) {
        __syncthreads();
        out[t] = 1;
    }
    out[t + 64] = 2;
}

extern "C" __global__ void skipped_ok(int *out)
{
    int t = threadIdx.x;
    __syncthreads();
    if (t < 48) out[t] = 1;
    out[t + 64] = 2;
}
