/* idioms.cu - what the language has: classes, unions, calls through tables, wide integers, atomics of every width, rounding, the library. */
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cuda/std/array>
#include <cuda/std/complex>
#include <cuda/std/tuple>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

struct Circle {
    float r;
};
struct Box {
    float w, h;
};
struct Poly {
    int n;
    float x[4], y[4];
};
struct Shape {
    int tag;
    union {
        Circle c;
        Box b;
        Poly p;
    };
};
__device__ __noinline__ float shape_area(const Shape &s)
{
    switch (s.tag) {
    case 0: return 3.14159265f * s.c.r * s.c.r;
    case 1: return s.b.w * s.b.h;
    case 2: {
        float a = 0;
        for (int i = 0; i < s.p.n; i++) {
            int j = (i + 1) % s.p.n;
            a += s.p.x[i] * s.p.y[j] - s.p.x[j] * s.p.y[i];
        }
        return 0.5f * fabsf(a);
    }
    default: return -1;
    }
}
//! tagged_unions 18 96 | u8:1728:0:4 | f32:13824:-2:2 | out f32:1728
// A union in local memory, read by a function that is really called.
extern "C" __global__ void tagged_unions(const unsigned char *tags, const float *data, float *area)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Shape s;
    s.tag = tags[i];
    if (s.tag == 0) {
        s.c.r = data[i * 8];
    } else if (s.tag == 1) {
        s.b = {data[i * 8], data[i * 8 + 1]};
    } else {
        s.p.n = 3 + (i & 1);
        for (int k = 0; k < 4; k++) s.p.x[k] = data[i * 8 + k], s.p.y[k] = data[i * 8 + 4 + k];
    }
    area[i] = shape_area(s);
}

typedef int (*binary_op)(int, int);
__device__ __noinline__ int op_add(int a, int b) { return a + b; }
__device__ __noinline__ int op_gcd(int a, int b)
{
    a = abs(a), b = abs(b);
    while (b) {
        int t = a % b;
        a = b;
        b = t;
    }
    return a;
}
__device__ __noinline__ int op_pow(int a, int b)
{
    int r = 1;
    for (b &= 7; b; b >>= 1, a *= a)
        if (b & 1) r *= a;
    return r;
}
__device__ __noinline__ int op_hash(int a, int b) { return (a ^ (b << 7)) * 0x01000193; }
__device__ binary_op const ops[4] = {op_add, op_gcd, op_pow, op_hash};
//! table_of_functions 15 128 | u8:1920:0:4 | s32:1920:-999:999 | s32:1920:-999:999 | out s32:1920
extern "C" __global__ void table_of_functions(const unsigned char *which, const int *a, const int *b, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    int r = ops[which[i]](a[i], b[i]);
    r += ops[blockIdx.x % 4](r, 13);
    out[i] = r;
}

// A parser by functions that call each other; the text is made of the digits of a random word.
struct Parser {
    const char *p, *end;
};
__device__ int parse_sum(Parser &s, int depth);
__device__ __noinline__ int parse_atom(Parser &s, int depth)
{
    if (s.p >= s.end || depth > 3) return 1;
    char c = *s.p++;
    if (c % 4 == 0) return parse_sum(s, depth + 1);
    return c & 63;
}
__device__ __noinline__ int parse_product(Parser &s, int depth)
{
    int v = parse_atom(s, depth);
    while (s.p < s.end && *s.p % 8 == 1) {
        s.p++;
        v = v * parse_atom(s, depth) % 10007;
    }
    return v;
}
__device__ __noinline__ int parse_sum(Parser &s, int depth)
{
    int v = parse_product(s, depth);
    while (s.p < s.end && *s.p % 8 != 7) {
        s.p++;
        v += parse_product(s, depth);
    }
    if (s.p < s.end) s.p++;
    return v;
}
//! mutual_recursion 8 64 | s8:16384:0:127 | out s32:512
extern "C" __global__ void mutual_recursion(const char *text, int *value)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    Parser s = {text + i * 32, text + i * 32 + 32};
    int v = 0;
    while (s.p < s.end) v = v * 31 + parse_sum(s, 0);
    value[i] = v;
}

//! wide_accumulators 30 64 | u64:7680 | u64:7680 | out u64:3840 | out u64:1920
// 128 bits: sums of products, a shift, a division by 64 bits.
extern "C" __global__ void wide_accumulators(const uint64_t *a, const uint64_t *b, uint64_t *sum, uint64_t *quotient)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned __int128 s = 0;
    for (int k = 0; k < 4; k++) s += (unsigned __int128)a[i * 4 + k] * b[i * 4 + k];
    __int128 t = (__int128)(int64_t)a[i * 4] * (int64_t)b[i * 4 + 1];
    if (t < 0) s ^= (unsigned __int128)-t >> 3;
    sum[2 * i] = (uint64_t)s;
    sum[2 * i + 1] = (uint64_t)(s >> 64);
    quotient[i] = (uint64_t)(s / (b[i * 4] | 1)) + (uint64_t)(s % 1000000007u);
}

template <typename T, int N>
struct Matrix {
    T v[N][N];
    __device__ static Matrix identity()
    {
        Matrix m = {};
        for (int i = 0; i < N; i++) m.v[i][i] = 1;
        return m;
    }
    __device__ Matrix operator*(const Matrix &o) const
    {
        Matrix m;
#pragma unroll
        for (int i = 0; i < N; i++)
#pragma unroll
            for (int j = 0; j < N; j++) {
                T s = 0;
#pragma unroll
                for (int k = 0; k < N; k++) s += v[i][k] * o.v[k][j];
                m.v[i][j] = s;
            }
        return m;
    }
    __device__ Matrix operator+(const Matrix &o) const
    {
        Matrix m;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) m.v[i][j] = v[i][j] + o.v[i][j];
        return m;
    }
    __device__ Matrix operator*(T s) const
    {
        Matrix m;
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) m.v[i][j] = v[i][j] * s;
        return m;
    }
};
//! matrix_exponential 9 128 | f64:10368:-1:1 | out f64:10368
// Taylor's series of 3 x 3 matrices by a class with operators, then squarings.
extern "C" __global__ void matrix_exponential(const double *in, double *out)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    Matrix<double, 3> a;
    for (int i = 0; i < 9; i++) a.v[i / 3][i % 3] = in[t * 9 + i] / 16;
    auto sum = Matrix<double, 3>::identity(), term = sum;
    for (int k = 1; k <= 8; k++) {
        term = term * a * (1.0 / k);
        sum = sum + term;
    }
    for (int k = 0; k < 4; k++) sum = sum * sum;
    for (int i = 0; i < 9; i++) out[t * 9 + i] = sum.v[i / 3][i % 3];
}

//! atomics_of_64_bits 24 128 | u64:3072 | inout u64:64 | inout s64:16 | zero u64:32
extern "C" __global__ void atomics_of_64_bits(const unsigned long long *in, unsigned long long *cells, long long *extremes, unsigned long long *shared_out)
{
    __shared__ unsigned long long s[32];
    if (threadIdx.x < 32) s[threadIdx.x] = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned long long v = in[i];
    atomicAdd(&s[v & 31], v >> 7);
    atomicMax(&cells[i % 16], v);
    atomicMin(&cells[16 + i % 16], v ^ 0x5555);
    atomicXor(&cells[32 + v % 16], v << 1);
    atomicOr(&cells[48 + i % 8], v & 0x0101010101010101ull);
    atomicAnd(&cells[56 + i % 8], v | 0xfefefefefefefefeull);
    atomicMax(&extremes[v % 8], (long long)v);
    atomicMin(&extremes[8 + v % 8], (long long)(v * 3));
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&shared_out[threadIdx.x], s[threadIdx.x]);
}

//! half_counters 10 96 | u8:960 | zero f16:64 | zero bf16:64 | zero f64:16 | zero f32:16
// Additions of small whole numbers to halves, pairs and doubles, exact in every order.
extern "C" __global__ void half_counters(const unsigned char *in, __half2 *h, __nv_bfloat162 *b, double *d, float *f)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned v = in[i];
    atomicAdd(&h[v & 31], __floats2half2_rn(1.0f, (float)(v >> 6)));
    atomicAdd(&b[v >> 3], __floats2bfloat162_rn((float)(v & 1), 2.0f));
    atomicAdd(&d[v % 16], (double)v * 0.5);
    atomicAdd(&f[(v >> 2) % 16], (float)(v & 7) - 3.0f);
}

//! warp_opinions 28 128 | u32:3584:0:9 | u32:3584 | out u32:3584 | out u32:3584 | out u32:112
extern "C" __global__ void warp_opinions(const unsigned *key, const unsigned *value, unsigned *a, unsigned *b, unsigned *c)
{
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x, k = key[i], v = value[i], lane = threadIdx.x % 32;
    unsigned same = __match_any_sync(~0u, k);
    unsigned sum = __reduce_add_sync(same, v & 0xffff), low = __reduce_min_sync(same, v), bits = __reduce_or_sync(same, 1u << (v & 31));
    int all;
    unsigned who = __match_all_sync(~0u, k < 9, &all), top = __reduce_max_sync(~0u, v ^ k), odd = __reduce_xor_sync(~0u, v);
    int s = __reduce_min_sync(~0u, (int)v);
    a[i] = sum * 3 + low + bits + (who != 0) + all;
    b[i] = __ballot_sync(~0u, v & 4) ^ top ^ odd ^ s ^ __popc(same & ((1u << lane) - 1));
    if (lane == 0) c[i / 32] = __any_sync(1u, v & 1) + 2 * __all_sync(1u, k > 4);
}

//! bit_matrices 20 64 | u32:1280 | out u32:1280 | out u32:1280
// 32 x 32 bits turned over: by 32 votes, and by five rounds of exchanges.
extern "C" __global__ void bit_matrices(const unsigned *in, unsigned *by_votes, unsigned *by_swaps)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, lane = threadIdx.x & 31;
    unsigned v = in[i], r = 0;
    for (int k = 0; k < 32; k++) {
        unsigned b = __ballot_sync(~0u, v >> k & 1);
        if (lane == k) r = b;
    }
    by_votes[i] = r;
    unsigned x = v;
    const unsigned masks[5] = {0x0000ffff, 0x00ff00ff, 0x0f0f0f0f, 0x33333333, 0x55555555};
#pragma unroll
    for (int k = 0; k < 5; k++) {
        int s = 16 >> k;
        unsigned m = masks[k], y = __shfl_xor_sync(~0u, x, s);
        x = lane & s ? (x & ~m) | (y >> s & m) : (x & m) | (y << s & ~m);
    }
    by_swaps[i] = x;
}

//! packed_bytes_words 16 192 | u32:3072 | u32:3072 | out u32:12288
extern "C" __global__ void packed_bytes_words(const unsigned *a, const unsigned *b, uint4 *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned x = a[i], y = b[i];
    uint4 r;
    r.x = __vadd4(x, y) ^ __vabsdiffu4(x, y) ^ __vcmpgtu2(x, y);
    r.y = __vavgs4(x, y) + __vmaxs2(x, y) + __vsubus4(x, y) + __vseteq4(x, y & 0xff00ff00);
    r.z = __byte_perm(x, y, 0x3175) ^ __funnelshift_l(x, y, y & 31) ^ __funnelshift_rc(x, y, x & 63) ^ __brev(x) ^ __vsadu4(x, y);
    r.w = __sad((int)x, (int)y, 5u) + __uhadd(x, y) + __rhadd((int)x, (int)y) + __mulhi((int)x, (int)y) + __ffs(x) + __clz(y) + __vabsss4(x) + __vnegss2(y);
    out[i] = r;
}

struct Particle {
    double2 pos;
    float3 vel;
    short2 cell;
    uchar4 colour;
    unsigned id : 20, kind : 5, alive : 1;
};
//! struct_to_arrays 13 96 | f64:2496:-10:10 | f32:3744:-1:1 | u32:1248 | out f64:2496 | out f32:3744 | out s16:2496 | out u8:4992 | out u32:1248
extern "C" __global__ void struct_to_arrays(const double2 *pos, const float *vel, const unsigned *seed, double2 *po, float *vo, short2 *co, uchar4 *uo,
                                            unsigned *io)
{
    __shared__ Particle buf[96];
    int t = threadIdx.x, i = blockIdx.x * 96 + t;
    Particle p;
    p.pos = pos[i];
    p.vel = make_float3(vel[3 * i], vel[3 * i + 1], vel[3 * i + 2]);
    p.cell = make_short2((short)(p.pos.x * 100), (short)floor(p.pos.y * 10));
    unsigned s = seed[i];
    p.colour = make_uchar4(s, s >> 8, s >> 16, s >> 24);
    p.id = s >> 3;
    p.kind = s & 31;
    p.alive = p.vel.x > 0;
    buf[t] = p;
    __syncthreads();
    Particle q = buf[(t * 7 + 5) % 96];
    q.pos.x += q.vel.x * 0.125;
    q.pos.y += q.vel.y * 0.125;
    if (!q.alive) q.kind += 3, q.colour.w /= 2;
    po[i] = q.pos;
    vo[3 * i] = q.vel.x, vo[3 * i + 1] = q.vel.y, vo[3 * i + 2] = q.vel.z;
    co[i] = q.cell;
    uo[i] = q.colour;
    io[i] = q.id ^ q.kind << 25 ^ (unsigned)q.alive << 31;
}

//! carved_shared 17 200 6432 | f32:3400:-1:1 | u16:3400 | out f64:200 | out u32:3400
// Arrays of four types in one piece of dynamic shared memory.
extern "C" __global__ void __launch_bounds__(256, 4) carved_shared(const float *x, const unsigned short *k, double *sums, unsigned *ranks)
{
    extern __shared__ __align__(16) unsigned char raw[];
    double *d = reinterpret_cast<double *>(raw);
    float4 *f = reinterpret_cast<float4 *>(raw + 1600);
    unsigned short *u = reinterpret_cast<unsigned short *>(raw + 4800);
    unsigned char *c = raw + 5200;
    int t = threadIdx.x, i = blockIdx.x * 200 + t;
    float v = x[i];
    d[t] = v;
    f[t] = make_float4(v, v * v, 1, 0);
    u[t] = k[i];
    c[t] = (unsigned char)(t * 37);
    __syncthreads();
    unsigned r = 0;
    for (int j = 0; j < 200; j++) r += u[j] < u[t] || (u[j] == u[t] && j < t);
    ranks[i] = r * 256 + c[(t + 31) % 200];
    float4 g = f[199 - t];
    d[t] += (double)g.x * g.y + g.z;
    __syncthreads();
    if (t < 100) d[t] += d[t + 100];
    __syncthreads();
    if (blockIdx.x == 0) sums[t] = t < 100 ? d[t] : d[t] - d[199 - t];
}

//! few_registers 40 512 | f32:20480:-1:1 | out f32:20480
// Thirty-two registers for sixteen sums at once.
extern "C" __global__ void __launch_bounds__(512, 4) few_registers(const float *in, float *out)
{
    int i = blockIdx.x * 512 + threadIdx.x;
    float x = in[i], s[24];
#pragma unroll
    for (int k = 0; k < 24; k++) s[k] = x + k;
    for (int it = 0; it < 6; it++) {
#pragma unroll
        for (int k = 0; k < 24; k++) s[k] = s[k] * s[(k + 7) % 24] * 0.03f + s[(k + 3) % 24] - x;
    }
    float r = 0;
#pragma unroll
    for (int k = 0; k < 24; k++) r += s[k] * (k & 1 ? 1.0f : -1.0f);
    out[i] = r;
}

template <typename F, typename G>
__device__ auto compose(F f, G g)
{
    return [=](auto x) { return f(g(x)); };
}
//! lambdas_and_tuples 25 64 | f32:1600:0.1:4 | f64:1600:0.1:4 | out f32:1600 | out f64:1600
extern "C" __global__ void lambdas_and_tuples(const float *a, const double *b, float *fo, double *d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    auto sq = [](auto x) { return x * x + decltype(x)(1); };
    auto inv = [](auto x) { return decltype(x)(1) / x; };
    auto root = [](auto x) { return sqrt(x); };
    auto chain = compose(root, compose(inv, sq));
    cuda::std::array<float, 5> w = {0.1f, 0.2f, 0.4f, 0.2f, 0.1f};
    float s = 0;
    for (size_t k = 0; k < w.size(); k++) s += w[k] * chain(a[(i + k) % 1600]);
    auto [x, y] = cuda::std::make_tuple(chain(b[i]), compose(inv, root)(b[i]));
    fo[i] = s;
    d[i] = x + y;
}

//! numbers_from_text 9 64 | u8:18432 | out f32:576 | out s32:576
// A state machine with jumps reads numbers out of 32 characters.
extern "C" __global__ void numbers_from_text(const unsigned char *raw, float *value, int *count)
{
    const char alphabet[17] = "0123456789.-e+, ";
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0, n = 0, exponent, sign, places;
    long long digits;
    float total = 0;
    auto next = [&]() { return k < 32 ? alphabet[raw[i * 32 + k++] & 15] : '\0'; };
    char c;
start:
    digits = 0, places = 0, exponent = 0, sign = 1;
    c = next();
    if (!c) goto done;
    if (c == '-') {
        sign = -1;
        c = next();
    }
    if (c == '.') goto fraction;
    if (c < '0' || c > '9') goto start;
    do {
        digits = digits * 10 + (c - '0');
        c = next();
    } while (c >= '0' && c <= '9' && digits < 100000000);
    if (c != '.') goto tail;
fraction:
    while ((c = next()) >= '0' && c <= '9' && digits < 100000000) {
        digits = digits * 10 + (c - '0');
        places++;
    }
tail:
    if (c == 'e') {
        int es = 1;
        c = next();
        if (c == '-' || c == '+') {
            es = c == '-' ? -1 : 1;
            c = next();
        }
        if (c >= '0' && c <= '9') exponent = es * (c - '0');
    }
    {
        float v = (float)digits;
        for (int e = exponent - places; e > 0; e--) v *= 10;
        for (int e = exponent - places; e < 0; e++) v /= 10;
        total += sign * v;
        n++;
    }
    if (k < 32) goto start;
done:
    value[i] = total;
    count[i] = n;
}

struct Node {
    const char *word;
    const Node *left, *right;
    int weight;
};
__device__ const Node leaves[4] = {{"dew", nullptr, nullptr, 1}, {"ice", nullptr, nullptr, 3}, {"rain", nullptr, nullptr, 9}, {"wind", nullptr, nullptr, -5}};
__device__ const Node twigs[2] = {{"hail", &leaves[0], &leaves[1], -2}, {"snow", &leaves[2], &leaves[3], 7}};
__device__ const Node root = {"mist", &twigs[0], &twigs[1], 4};
__device__ int visits[7];
//! pointers_in_data 6 128 | u8:3072:97:123 | out s32:768
// A tree of words whose addresses stand in initialised memory.
extern "C" __global__ void pointers_in_data(const char *letters, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
    const char *w = letters + i * 4;
    for (const Node *n = &root; n;) {
        int k = 0;
        while (k < 4 && n->word[k] && n->word[k] == w[k]) k++;
        int d = k < 4 ? w[k] - n->word[k] : 0;
        sum = sum * 3 + n->weight + d;
        n = d < 0 ? n->left : n->right;
    }
    visits[i % 7] = sum;
    out[i] = sum;
}

//! directed_rounding 20 96 | f32:1920:-3:3 | f32:1920:0.5:2 | f64:1920:-3:3 | out f32:7680 | out f64:3840 | out s32:1920
// Intervals: sums, products, quotients, roots down and up, and conversions in every direction.
extern "C" __global__ void directed_rounding(const float *a, const float *b, const double *c, float4 *f, double2 *d, int *n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float x = a[i], y = b[i];
    double z = c[i];
    float lo = __fadd_rd(__fmul_rd(x, y), __fdiv_rd(x, y)), hi = __fadd_ru(__fmul_ru(x, y), __fdiv_ru(x, y));
    f[i] = make_float4(lo, hi, __fmaf_rz(x, y, __fsqrt_ru(y)), __fsub_rz(__frcp_rd(y), __fsqrt_rz(y)) + __frsqrt_rn(y));
    d[i] = make_double2(__dadd_rd(__dmul_ru(z, y), __ddiv_rz(z, y)), __fma_ru(z, z, __dsqrt_rd(fabs(z))) + __drcp_rn(z));
    n[i] = __float2int_rd(x * 100) + __float2int_ru(y * 100) * 3 + __double2int_rz(z * 100) * 5 + (int)__float2ll_rn(x * 1e9f) +
           __half_as_short(__float2half_rz(x)) + __half_as_short(__float2half_ru(y)) + __float_as_int(__ll2float_rd((long long)(z * 1e15))) +
           __float_as_int(__double2float_ru(z)) + __half2int_rd(__float2half(x * 50));
}

//! special_functions 12 64 | f32:768:0.1:6 | f64:768:0.2:5 | out f32:12288 | out f64:3840
extern "C" __global__ void special_functions(const float *a, const double *b, float *f, double *d)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, e, q;
    float x = a[i], g[16];
    g[0] = tgammaf(x), g[1] = lgammaf(x), g[2] = erfcf(x), g[3] = erfcinvf(x * 0.3f), g[4] = normcdff(x - 3), g[5] = normcdfinvf(x / 6.5f);
    g[6] = j0f(x), g[7] = y1f(x), g[8] = cbrtf(x), g[9] = rhypotf(x, 2), g[10] = fmodf(x * 100, 0.7f), g[11] = remquof(x * 10, 1.3f, &q) + q;
    g[12] = nextafterf(x, 0) - x, g[13] = frexpf(x, &e) + e + ilogbf(x), g[14] = ldexpf(x, i % 9 - 4) + logbf(x), g[15] = sinpif(x) * cospif(x) + atan2f(x, 2 - x);
    for (int k = 0; k < 16; k++) f[i * 16 + k] = g[k];
    double z = b[i], w;
    d[i * 5] = cyl_bessel_i0(z);
    d[i * 5 + 1] = erfcx(z) + expm1(-z);
    d[i * 5 + 2] = log1p(z) * asinh(z) + modf(z * 3, &w) + w;
    d[i * 5 + 3] = tgamma(z) + acosh(z + 1);
    d[i * 5 + 4] = rcbrt(z) + atanh(z / 6) + exp10(z / 4) + sinh(z / 8);
}

//! half_functions 20 64 | f16:2560:0.1:4 | bf16:2560:0.1:4 | out f16:10240 | out bf16:10240
extern "C" __global__ void half_functions(const __half2 *a, const __nv_bfloat162 *b, __half2 *h, __nv_bfloat162 *o)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    __half2 x = a[i];
    __nv_bfloat162 y = b[i];
    h[i * 4] = h2sin(x);
    h[i * 4 + 1] = __hadd2(h2exp(x), h2rsqrt(x));
    h[i * 4 + 2] = __hfma2_relu(h2log(x), x, __hneg2(h2sqrt(x)));
    h[i * 4 + 3] = __hmax2(h2rcp(x), __h2div(x, __float2half2_rn(3.0f)));
    o[i * 4] = h2cos(y);
    o[i * 4 + 1] = __hsub2(h2exp2(y), h2floor(y));
    o[i * 4 + 2] = __hmin2(h2log2(y), __hmul2_sat(y, y));
    o[i * 4 + 3] = __h2div(h2rint(y), h2trunc(__hadd2(y, y)));
    if (__hbgt2(x, __low2half2(x))) h[i * 4] = __lows2half2(x, h[i * 4]);
}

//! roots_of_polynomials 12 96 | f64:5760:-2:2 | out f64:9216
// All four roots at once by the library's complex numbers.
extern "C" __global__ void roots_of_polynomials(const double *coef, double2 *roots)
{
    using C = cuda::std::complex<double>;
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    double c[5];
    for (int k = 0; k < 4; k++) c[k] = coef[t * 5 + k];
    C r[4], s(0.4, 0.9);
    r[0] = C(1, 0);
    for (int k = 1; k < 4; k++) r[k] = r[k - 1] * s;
    for (int it = 0; it < 12; it++)
        for (int k = 0; k < 4; k++) {
            C p(1, 0), q(1, 0);
            for (int j = 3; j >= 0; j--) p = p * r[k] + c[j];
            for (int j = 0; j < 4; j++)
                if (j != k) q *= r[k] - r[j];
            r[k] -= p / q;
        }
    for (int k = 0; k < 4; k++) roots[t * 4 + k] = make_double2(r[k].real(), r[k].imag());
}

//! volatile_handshake 10 64 | u32:640 | out u32:640
// Two warps hand words to each other through volatile shared memory, turn by turn.
extern "C" __global__ void volatile_handshake(const unsigned *in, unsigned *out)
{
    __shared__ volatile unsigned box[32], turn;
    int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
    unsigned v = in[blockIdx.x * 64 + threadIdx.x];
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    for (int r = 0; r < 6; r++) {
        while (turn != 2 * r + warp) {
        }
        __syncwarp();
        if (r + warp) v += box[(lane + 1) & 31] * 5;
        __syncwarp();
        box[lane] = v ^ r;
        __threadfence_block();
        __syncwarp();
        if (lane == 0) turn = 2 * r + warp + 1;
    }
    out[blockIdx.x * 64 + threadIdx.x] = v;
}
