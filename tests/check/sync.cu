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

/* The mask names lanes that have left the loop, and wait for lane 31. */
template <bool COUNT> __device__ static void leave(int *out, volatile int *go)
{
    unsigned m = ~0u;
    int v = 0;
    for (int k = 0; k < 4; k++) {
        const bool more = (int)(threadIdx.x % 4) >= k;
        if (COUNT) m = __ballot_sync(m, more);
        if (!more) break;
        v += __shfl_sync(m, k, 31);
    }
    if (threadIdx.x == 31) *go = 1;
    while (!*go) {}
    out[threadIdx.x] = v;
}
extern "C" __global__ void left_loop(int *out, int *go) { leave<false>(out, go); }
extern "C" __global__ void left_loop_ok(int *out, int *go) { leave<true>(out, go); }

/* The mbarrier of the next round. */
template <bool INVAL> __device__ static void two_rounds(int *out)
{
    __shared__ unsigned long long bar;
    const unsigned b = (unsigned)__cvta_generic_to_shared(&bar);
    for (int k = 0; k < 2; k++) {
        if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(b) : "memory");
        __syncwarp();
        asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(b) : "memory");
        __syncwarp();
        if (INVAL && threadIdx.x == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b) : "memory");
        __syncwarp();
    }
    out[threadIdx.x] = 1;
}
extern "C" __global__ void initialised_again(int *out) { two_rounds<false>(out); }
extern "C" __global__ void initialised_again_ok(int *out) { two_rounds<true>(out); }

/* Data overwrite an mbarrier; an mbarrier is used after its end. */
template <int AT, bool INVAL> __device__ static void overwrite(int *out)
{
    __shared__ unsigned long long bar[2];
    const unsigned b = (unsigned)__cvta_generic_to_shared(bar);
    if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 33;" ::"r"(b) : "memory");
    __syncwarp();
    if (INVAL && threadIdx.x == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b) : "memory");
    __syncwarp();
    if (!INVAL && threadIdx.x == 0) asm volatile("st.shared.u32 [%0], 7;" ::"r"(b + AT) : "memory");
    __syncwarp();
    asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(b) : "memory");
    out[threadIdx.x] = 1;
}
extern "C" __global__ void data_over_mbarrier(int *out) { overwrite<4, false>(out); }
extern "C" __global__ void data_over_mbarrier_ok(int *out) { overwrite<8, false>(out); }
extern "C" __global__ void after_inval(int *out) { overwrite<0, true>(out); }
