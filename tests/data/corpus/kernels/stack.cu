/* stack.cu - kernels whose threads keep arrays of their own, follow tables of functions, or recurse. */
#include <cstdint>
#define K extern "C" __global__ void
K insertion_rows(const float *in, float *out, int n) /* sorts 16 numbers a thread, in local memory */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float a[16];
    for (int i = 0; i < 16; i++) a[i] = in[t * 16 + i];
    for (int i = 1; i < n; i++) {
        float v = a[i];
        int j = i - 1;
        while (j >= 0 && a[j] > v) { a[j + 1] = a[j]; j--; }
        a[j + 1] = v;
    }
    for (int i = 0; i < 16; i++) out[t * 16 + i] = a[i];
}
K heap_of_eight(const unsigned *in, unsigned *out, int n) /* keeps the eight smallest of n */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, size = 0;
    unsigned h[8];
    for (int k = 0; k < n; k++) {
        unsigned v = in[k * gridDim.x * blockDim.x + t];
        if (size < 8) {
            int i = size++;
            while (i > 0 && h[(i - 1) / 2] < v) { h[i] = h[(i - 1) / 2]; i = (i - 1) / 2; }
            h[i] = v;
        } else if (v < h[0]) {
            int i = 0;
            for (;;) {
                int c = 2 * i + 1;
                if (c >= 8) break;
                if (c + 1 < 8 && h[c + 1] > h[c]) c++;
                if (h[c] <= v) break;
                h[i] = h[c];
                i = c;
            }
            h[i] = v;
        }
    }
    unsigned x = 0;
    for (int i = 0; i < 8; i++) x = x * 31 + h[i];
    out[t] = x;
}
K rpn_machine(const unsigned char *code, const int *in, int *out, int n) /* a stack machine */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, sp = 2, stack[12] = {1, t};
    for (int pc = 0; pc < n; pc++) {
        switch (code[pc]) {
        case 0: stack[sp++] = in[t]; break;
        case 1: sp--; stack[sp - 1] += stack[sp]; break;
        case 2: sp--; stack[sp - 1] *= stack[sp]; break;
        case 3: stack[sp] = stack[sp - 1]; sp++; break;
        case 4: stack[sp - 1] = ~stack[sp - 1]; break;
        default: stack[sp - 1] ^= t; break;
        }
        if (sp > 10) sp = 10;
        if (sp < 2) { stack[sp++] = pc; stack[sp++] = t; }
    }
    out[t] = stack[sp - 1];
}
K cholesky_six(const double *in, double *out) /* factor of a 6 x 6 matrix a thread */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    double a[6][6];
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) a[i][j] = (i == j ? 8.0 : 0.25) + in[t] * 0.01 * (i + j);
    for (int j = 0; j < 6; j++) {
        for (int k = 0; k < j; k++) a[j][j] -= a[j][k] * a[j][k];
        a[j][j] = sqrt(a[j][j]);
        for (int i = j + 1; i < 6; i++) {
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[j][k];
            a[i][j] /= a[j][j];
        }
    }
    double s = 0;
    for (int i = 0; i < 6; i++) s += a[i][i] + a[5][i];
    out[t] = s;
}
struct shape { virtual __device__ float area(float x) const = 0; };
struct round_one : shape { __device__ float area(float x) const override { return 3.1415927f * x * x; } };
struct flat_one : shape { __device__ float area(float x) const override { return x * x + 1; } };
struct long_one : shape { __device__ float area(float x) const override { return x * 7 + sqrtf(x); } };
K areas(const float *in, float *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    round_one a; flat_one b; long_one c;
    const shape *s[3] = {&a, &b, &c};
    float sum = 0;
    for (int k = 0; k < n; k++) sum += s[(t + k) % 3]->area(in[t] + k);
    out[t] = sum;
}
__device__ __noinline__ unsigned ackermann(unsigned m, unsigned n)
{
    if (m == 0) return n + 1;
    if (n == 0) return ackermann(m - 1, 1);
    return ackermann(m - 1, ackermann(m, n - 1));
}
K ack(const unsigned *in, unsigned *out) { int t = blockIdx.x * blockDim.x + threadIdx.x; out[t] = ackermann(2, in[t] % 3 + 1); }
__device__ __noinline__ float horner(const float *c, float x, int n) { float r = 0; for (int k = 0; k < n; k++) r = r * x + c[k]; return r; }
K called_horner(const float *c, const float *in, float *out, int n)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    float s = 0;
    for (int k = 0; k < 4; k++) s += horner(c + k, in[t] + k, n);
    out[t] = s;
}
K quick_stack(int *data, int n) /* quicksort of n numbers a thread with a stack of its own */
{
    int t = blockIdx.x * blockDim.x + threadIdx.x, lo[16], hi[16], sp = 0;
    int *a = data + t * n;
    lo[sp] = 0; hi[sp++] = n - 1;
    while (sp) {
        int l = lo[--sp], h = hi[sp];
        if (l >= h) continue;
        int p = a[(l + h) / 2], i = l, j = h;
        while (i <= j) {
            while (a[i] < p) i++;
            while (a[j] > p) j--;
            if (i <= j) { int x = a[i]; a[i] = a[j]; a[j] = x; i++; j--; }
        }
        lo[sp] = l; hi[sp++] = j;
        lo[sp] = i; hi[sp++] = h;
    }
}
