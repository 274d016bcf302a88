// lockstep.cu - code that relies on lanes of a warp executing in lockstep, each with a version that does not.
#define K extern "C" __global__ void
// One half of the warp writes, the other half reads: the two sides of a branch, whose order is undefined.
K handover(int *out)
{
    __shared__ volatile int box[32];
    int t = threadIdx.x;
    box[t] = -1;
    __syncwarp();
    if (t < 16) box[t + 16] = t;
    else out[t - 16] = box[t];
}
K handover_sync(int *out)
{
    __shared__ volatile int box[32];
    int t = threadIdx.x;
    box[t] = -1;
    __syncwarp();
    if (t < 16) box[t + 16] = t;
    __syncwarp();
    if (t >= 16) out[t - 16] = box[t];
}
// A lock that all lanes of a warp try to acquire. The lane that holds it makes progress while the others spin, or it does not.
K lock(int *counter, int *mutex)
{
    while (atomicCAS(mutex, 0, 1) != 0) {}
    *(volatile int *)counter = *(volatile int *)counter + 1;
    __threadfence();
    atomicExch(mutex, 0);
}
// The last warp of a reduction. Without volatile the compiler holds in a register the values that other lanes wait for.
#define STEPS d[t] += d[t + 32]; d[t] += d[t + 16]; d[t] += d[t + 8]; d[t] += d[t + 4]; d[t] += d[t + 2]; d[t] += d[t + 1]
K tail(const int *in, int *out)
{
    __shared__ int d[64];
    int t = threadIdx.x;
    d[t] = in[t];
    d[t + 32] = in[t + 32];
    STEPS;
    if (t == 0) out[0] = d[0];
}
K tail_volatile(const int *in, int *out)
{
    __shared__ volatile int d[64];
    int t = threadIdx.x;
    d[t] = in[t];
    d[t + 32] = in[t + 32];
    STEPS;
    if (t == 0) out[0] = d[0];
}
K tail_sync(const int *in, int *out)
{
    __shared__ int d[64];
    int t = threadIdx.x;
    d[t] = in[t];
    d[t + 32] = in[t + 32];
    for (int s = 32; s > 0; s >>= 1) {
        __syncwarp();
        int v = d[t + s];
        __syncwarp();
        d[t] += v;
    }
    if (t == 0) out[0] = d[0];
}
