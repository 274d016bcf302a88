// memory.cu - global memory: the cost of a warp's addresses. Offsets, structures of arrays, gathers, bytes with a stride.
extern "C" __global__ void read_offset(const float *a, const float *b, float *c, int n, int offset)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = i + offset;
    if (k < n) c[i] = a[k] + b[k];
}
extern "C" __global__ void read_offset4(const float *a, const float *b, float *c, int n, int offset)
{
    unsigned i = blockIdx.x * blockDim.x * 4 + threadIdx.x, k = i + offset;
    if (k < n) c[i] = a[k] + b[k];
    if (k + blockDim.x < n) c[i + blockDim.x] = a[k + blockDim.x] + b[k + blockDim.x];
    if (k + 2 * blockDim.x < n) c[i + 2 * blockDim.x] = a[k + 2 * blockDim.x] + b[k + 2 * blockDim.x];
    if (k + 3 * blockDim.x < n) c[i + 3 * blockDim.x] = a[k + 3 * blockDim.x] + b[k + 3 * blockDim.x];
}
extern "C" __global__ void write_offset(const float *a, const float *b, float *c, int n, int offset)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = i + offset;
    if (k < n) c[k] = a[i] + b[i];
}
struct pair { float x, y; };
extern "C" __global__ void array_of_structures(const pair *in, pair *out, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    pair p = in[i];
    p.x += 10.f;
    p.y += 20.f;
    out[i] = p;
}
extern "C" __global__ void array_of_aligned_structures(const float2 *in, float2 *out, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float2 p = in[i];
    p.x += 10.f;
    p.y += 20.f;
    out[i] = p;
}
extern "C" __global__ void structure_of_arrays(const float *x, const float *y, float *u, float *v, int n)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n) return;
    float a = x[i], b = y[i];
    u[i] = a + 10.f;
    v[i] = b + 20.f;
}
// One warp: lane l reads word l * stride % wrap + offset.
extern "C" __global__ void gather(const float *a, float *c, int stride, int wrap, int offset)
{
    c[threadIdx.x] = a[threadIdx.x * stride % wrap + offset];
}
extern "C" __global__ void scatter(float *c, int stride, int wrap, int offset)
{
    c[threadIdx.x * stride % wrap + offset] = 1.f;
}
// Eight sequential bytes for each thread.
extern "C" __global__ void bytes(const unsigned char *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    for (int k = 0; k < 8; k++) sum = sum * 3 + in[i * 8 + k];
    out[i] = sum;
}
extern "C" __global__ void first_bytes(const unsigned char *in, unsigned *out)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    out[i] = in[i * 8];
}
