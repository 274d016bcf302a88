/* heterogeneous.cu - the loops of suites of benchmarks for machines with accelerators, their sizes passed at run time. */
#include <cstdint>
#include <cfloat>
#define K extern "C" __global__ void

#define TILE 16
//! hot_chip_tile 10,10 16,16 | f32:16384:0:1 | f32:16384:320:340 | out f32:16384 | s s32 128 | s s32 128 | s s32 2 | s f32 0.5 | s f32 0.1 | s f32 0.1 | s f32 0.0625
// Two steps of heat in a tile whose edges are computed twice; what is outside repeats the edge.
K hot_chip_tile(const float *power, const float *src, float *dst, int cols, int rows, int steps, float step_cap, float rx, float ry, float rz)
{
    __shared__ float now[TILE][TILE], heat[TILE][TILE], next[TILE][TILE];
    int bx = blockIdx.x, by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
    int small = TILE - 2 * steps;
    int y0 = small * by - steps, x0 = small * bx - steps, y = y0 + ty, x = x0 + tx;
    int index = cols * y + x;
    if (y >= 0 && y < rows && x >= 0 && x < cols) {
        now[ty][tx] = src[index];
        heat[ty][tx] = power[index];
    }
    __syncthreads();
    int top = y0 < 0 ? -y0 : 0, bottom = y0 + TILE > rows ? TILE - 1 - (y0 + TILE - rows) : TILE - 1;
    int left = x0 < 0 ? -x0 : 0, right = x0 + TILE > cols ? TILE - 1 - (x0 + TILE - cols) : TILE - 1;
    int n = ty - 1 < top ? top : ty - 1, s = ty + 1 > bottom ? bottom : ty + 1;
    int w = tx - 1 < left ? left : tx - 1, e = tx + 1 > right ? right : tx + 1;
    bool computed = false;
    for (int i = 0; i < steps; i++) {
        computed = false;
        if (tx >= i + 1 && tx <= TILE - i - 2 && ty >= i + 1 && ty <= TILE - i - 2 && tx >= left && tx <= right && ty >= top && ty <= bottom) {
            computed = true;
            next[ty][tx] = now[ty][tx] + step_cap * (heat[ty][tx] + (now[s][tx] + now[n][tx] - 2.0f * now[ty][tx]) * ry +
                           (now[ty][e] + now[ty][w] - 2.0f * now[ty][tx]) * rx + (80.0f - now[ty][tx]) * rz);
        }
        __syncthreads();
        if (i == steps - 1) break;
        if (computed) now[ty][tx] = next[ty][tx];
        __syncthreads();
    }
    if (computed) dst[index] = next[ty][tx];
}

//! hot_stack_column 2,8 32,8 | f32:32768:0:1 | f32:32768:300:330 | out f32:32768 | s s32 64 | s s32 64 | s s32 8 | s f32 0.1 | s f32 0.1 | s f32 0.05 | s f32 0.7
K hot_stack_column(const float *p, const float *in, float *out, int nx, int ny, int nz, float ce, float cn, float ct, float cc)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x, j = blockDim.y * blockIdx.y + threadIdx.y;
    int c = i + j * nx, xy = nx * ny;
    int W = i == 0 ? c : c - 1, E = i == nx - 1 ? c : c + 1, N = j == 0 ? c : c - nx, S = j == ny - 1 ? c : c + nx;
    float below = in[c], here = in[c], above = in[c + xy];
    out[c] = cc * here + ce * in[W] + ce * in[E] + cn * in[S] + cn * in[N] + ct * below + ct * above + 0.01f * p[c] + ct * 80.0f;
    c += xy, W += xy, E += xy, N += xy, S += xy;
    for (int k = 1; k < nz - 1; k++) {
        below = here;
        here = above;
        above = in[c + xy];
        out[c] = cc * here + ce * in[W] + ce * in[E] + cn * in[S] + cn * in[N] + ct * below + ct * above + 0.01f * p[c] + ct * 80.0f;
        c += xy, W += xy, E += xy, N += xy, S += xy;
    }
    below = here;
    here = above;
    out[c] = cc * here + ce * in[W] + ce * in[E] + cn * in[S] + cn * in[N] + ct * below + ct * above + 0.01f * p[c] + ct * 80.0f;
}

//! speckle_divergence 6,6 16,16 | f32:9216 | f32:9216:-1:1 | f32:9216:-1:1 | f32:9216:-1:1 | f32:9216:-1:1 | inout f32:9216:0.5:1.5 | s s32 96 | s f32 0.5
// The second half of a step of anisotropic diffusion, tiles of coefficients with neighbours that other blocks own.
K speckle_divergence(const float *c, const float *dE, const float *dW, const float *dN, const float *dS, float *J, int cols, float lambda)
{
    __shared__ float cc[16][16], cs[16][16], ce[16][16], res[16][16];
    int tx = threadIdx.x, ty = threadIdx.y;
    int index = cols * 16 * blockIdx.y + 16 * blockIdx.x + cols * ty + tx;
    int south = cols * 16 * blockIdx.y + 16 * blockIdx.x + cols * 16 + tx, east = cols * 16 * blockIdx.y + 16 * blockIdx.x + cols * ty + 16;
    res[ty][tx] = J[index];
    __syncthreads();
    if (blockIdx.y == gridDim.y - 1) south = cols * 16 * (gridDim.y - 1) + 16 * blockIdx.x + cols * 15 + tx;
    if (blockIdx.x == gridDim.x - 1) east = cols * 16 * blockIdx.y + 16 * (gridDim.x - 1) + cols * ty + 15;
    cs[ty][tx] = c[south];
    ce[ty][tx] = c[east];
    cc[ty][tx] = c[index];
    __syncthreads();
    float cN = cc[ty][tx], cW = cc[ty][tx], cS, cE;
    if (tx == 15 && ty == 15) {
        cS = cs[ty][tx];
        cE = ce[ty][tx];
    } else if (tx == 15) {
        cS = cc[ty + 1][tx];
        cE = ce[ty][tx];
    } else if (ty == 15) {
        cS = cs[ty][tx];
        cE = cc[ty][tx + 1];
    } else {
        cS = cc[ty + 1][tx];
        cE = cc[ty][tx + 1];
    }
    float d = cN * dN[index] + cS * dS[index] + cW * dW[index] + cE * dE[index];
    J[index] = res[ty][tx] + 0.25f * lambda * d;
}

//! bounded_paths 9 256 | s s32 6 | s32:14336:0:10 | s32:2048:0:10 | out s32:2048 | s s32 2048 | s s32 0 | s s32 6
// The least sum on the way down a wall, six rows a launch with ghost columns at both sides.
K bounded_paths(int iteration, const int *wall, const int *src, int *results, int cols, int start, int border)
{
    __shared__ int prev[256], result[256];
    int bx = blockIdx.x, tx = threadIdx.x;
    int small = 256 - iteration * 2;
    int first = small * bx - border, last = first + 255, x = first + tx;
    int lo = first < 0 ? -first : 0, hi = last > cols - 1 ? 255 - (last - cols + 1) : 255;
    int W = tx - 1 < lo ? lo : tx - 1, E = tx + 1 > hi ? hi : tx + 1;
    bool valid = tx >= lo && tx <= hi;
    if (x >= 0 && x <= cols - 1) prev[tx] = src[x];
    __syncthreads();
    bool computed = false;
    for (int i = 0; i < iteration; i++) {
        computed = false;
        if (tx >= i + 1 && tx <= 256 - i - 2 && valid) {
            computed = true;
            int shortest = min(prev[W], prev[tx]);
            shortest = min(shortest, prev[E]);
            result[tx] = shortest + wall[cols * (start + i) + x];
        }
        __syncthreads();
        if (i == iteration - 1) break;
        if (computed) prev[tx] = result[tx];
        __syncthreads();
    }
    if (computed) results[x] = result[tx];
}

//! lud_corner 1 16 | inout f32:4096:1:2 | s s32 64 | s s32 16
K lud_corner(float *m, int dim, int offset)
{
    __shared__ float s[16][16];
    int at = offset * dim + offset;
    for (int i = 0; i < 16; i++) {
        s[i][threadIdx.x] = m[at + threadIdx.x];
        at += dim;
    }
    __syncthreads();
    for (int i = 0; i < 15; i++) {
        if (threadIdx.x > i) {
            for (int j = 0; j < i; j++) s[threadIdx.x][i] -= s[threadIdx.x][j] * s[j][i];
            s[threadIdx.x][i] /= s[i][i];
        }
        __syncthreads();
        if (threadIdx.x > i)
            for (int j = 0; j < i + 1; j++) s[i + 1][threadIdx.x] -= s[i + 1][j] * s[j][threadIdx.x];
        __syncthreads();
    }
    at = (offset + 1) * dim + offset;
    for (int i = 1; i < 16; i++) {
        m[at + threadIdx.x] = s[i][threadIdx.x];
        at += dim;
    }
}

//! lud_inner_tiles 11,11 16,16 | inout f32:36864:-1:1 | s s32 192 | s s32 0
K lud_inner_tiles(float *m, int dim, int offset)
{
    __shared__ float row[16][16], col[16][16];
    int gr = offset + (blockIdx.y + 1) * 16, gc = offset + (blockIdx.x + 1) * 16;
    row[threadIdx.y][threadIdx.x] = m[(offset + threadIdx.y) * dim + gc + threadIdx.x];
    col[threadIdx.y][threadIdx.x] = m[(gr + threadIdx.y) * dim + offset + threadIdx.x];
    __syncthreads();
    float sum = 0;
    for (int i = 0; i < 16; i++) sum += col[threadIdx.y][i] * row[i][threadIdx.x];
    m[(gr + threadIdx.y) * dim + gc + threadIdx.x] -= sum;
}

//! needle_tile_diagonal 20 16 | s32:103041:-4:10 | inout s32:103041:-40:40 | s s32 321 | s s32 10 | s s32 20 | s s32 20
// Global alignment: the tiles of one antidiagonal, each filled from its corner on by one warp's half.
K needle_tile_diagonal(const int *reference, int *score, int cols, int penalty, int i, int width)
{
    __shared__ int temp[17][17], ref[16][16];
    int tx = threadIdx.x, bx = blockIdx.x, by = i - 1 - bx;
    int base = cols * 16 * by + 16 * bx;
    int index = base + tx + cols + 1, n = base + tx + 1, w = base + cols, nw = base;
    if (tx == 0) temp[0][0] = score[nw];
    for (int ty = 0; ty < 16; ty++) ref[ty][tx] = reference[index + cols * ty];
    __syncwarp(0xffff);
    temp[tx + 1][0] = score[w + cols * tx];
    __syncwarp(0xffff);
    temp[0][tx + 1] = score[n];
    __syncwarp(0xffff);
    for (int m = 0; m < 16; m++) {
        if (tx <= m) {
            int x = tx + 1, y = m - tx + 1;
            temp[y][x] = max(temp[y - 1][x - 1] + ref[y - 1][x - 1], max(temp[y][x - 1] - penalty, temp[y - 1][x] - penalty));
        }
        __syncwarp(0xffff);
    }
    for (int m = 14; m >= 0; m--) {
        if (tx <= m) {
            int x = tx + 16 - m, y = 16 - tx;
            temp[y][x] = max(temp[y - 1][x - 1] + ref[y - 1][x - 1], max(temp[y][x - 1] - penalty, temp[y - 1][x] - penalty));
        }
        __syncwarp(0xffff);
    }
    for (int ty = 0; ty < 16; ty++) score[index + ty * cols] = temp[ty + 1][tx + 1];
}

//! storm_distances 168 256 | f32:85536:-90:90 | out f32:42768 | s s32 42764 | s f32 30.0 | s f32 90.0
struct Place {
    float lat, lng;
};
K storm_distances(const Place *p, float *d, int n, float lat, float lng)
{
    int g = blockDim.x * (gridDim.x * blockIdx.y + blockIdx.x) + threadIdx.x;
    if (g < n) d[g] = (float)sqrt((lat - p[g].lat) * (lat - p[g].lat) + (lng - p[g].lng) * (lng - p[g].lng));
}

//! nearest_centres 32 256 | f32:163840:0:1 | s s32 8192 | s s32 5 | s s32 20 | f32:400:0:1 | out s32:8192
// Features lie point after point; centres are read by everybody.
K nearest_centres(const float *features, int n, int clusters, int dim, const float *centres, int *member)
{
    int id = blockIdx.x * blockDim.x + threadIdx.x;
    int index = -1;
    if (id < n) {
        float least = FLT_MAX;
        for (int i = 0; i < clusters; i++) {
            float d = 0;
            for (int l = 0; l < dim; l++) {
                float a = features[l * n + id] - centres[i * dim + l];
                d += a * a;
            }
            if (d < least) {
                least = d;
                index = i;
            }
        }
        member[id] = index;
    }
}

//! gain_of_candidate 40 128 128 | s s32 5000 | s s32 32 | f32:163840 | f32:5120:0:4 | s32:5120:0:128 | iota s32:5120 | zero f32:5120 | out u8:5120 | s s32 77
K gain_of_candidate(int num, int dim, const float *coord, const float *cost, const int *assign, const int *centre, float *lower, bool *change, int x)
{
    extern __shared__ float point[];
    int tid = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x == 0)
        for (int i = 0; i < dim; i++) point[i] = coord[i * num + x];
    __syncthreads();
    if (tid < num) {
        float d = 0;
        for (int i = 0; i < dim; i++) d += (coord[i * num + tid] - point[i]) * (coord[i * num + tid] - point[i]);
        if (d < cost[tid]) {
            change[tid] = 1;
            lower[tid] += d - cost[tid];
        } else {
            lower[tid] += cost[tid] - d + centre[assign[tid]];
        }
    }
}

//! fan_of_multipliers 1 512 | out f32:16384 | f32:16384:1:3 | s s32 128 | s s32 5
K fan_of_multipliers(float *m, const float *a, int size, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t) return;
    *(m + size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) =
        *(a + size * (blockDim.x * blockIdx.x + threadIdx.x + t + 1) + t) / *(a + size * t + t);
}

//! fan_of_eliminations 52,52 4,4 | f32:43264:-1:1 | inout f32:43264:-1:1 | inout f32:208:-1:1 | s s32 208 | s s32 3
K fan_of_eliminations(const float *m, float *a, float *b, int size, int t)
{
    if (threadIdx.x + blockIdx.x * blockDim.x >= size - 1 - t) return;
    if (threadIdx.y + blockIdx.y * blockDim.y >= size - t) return;
    int xi = blockIdx.x * blockDim.x + threadIdx.x, yi = blockIdx.y * blockDim.y + threadIdx.y;
    a[size * (xi + 1 + t) + yi + t] -= m[size * (xi + 1 + t) + t] * a[size * t + yi + t];
    if (yi == 0) b[xi + 1 + t] -= m[size * (xi + 1 + t) + yi + t] * b[t];
}

//! step_factors_of_cells 50 192 | s s32 9600 | f32:48000:0.5:1.5 | f32:9600:1:2 | out f32:9600
// Density, momentum and energy of a cell give the longest step of time.
struct F3 {
    float x, y, z;
};
__device__ inline void velocity_of(float density, F3 m, F3 &v)
{
    v.x = m.x / density;
    v.y = m.y / density;
    v.z = m.z / density;
}
K step_factors_of_cells(int n, const float *variables, const float *areas, float *factors)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    float density = variables[i];
    F3 m = {variables[i + n], variables[i + 2 * n], variables[i + 3 * n]}, v;
    float energy = 4.0f + variables[i + 4 * n];
    velocity_of(density, m, v);
    float speed = v.x * v.x + v.y * v.y + v.z * v.z;
    float pressure = (1.4f - 1.0f) * (energy - 0.5f * density * speed);
    float sound = sqrtf(1.4f * pressure / density);
    factors[i] = 0.5f / (sqrtf(areas[i]) * (sqrtf(speed) + sound));
}

//! boxes_in_double 27 64 | f64:6912:0:1 | f64:1728:0:1 | s f64 0.5 | out f64:6912
// Each block a home box of 64 particles, and all boxes around it; a particle has v, x, y, z.
K boxes_in_double(const double4_16a *rv, const double *qv, double alpha, double4_16a *fv)
{
    __shared__ double4_16a ra[64], rb[64];
    __shared__ double qb[64];
    int home = blockIdx.x, t = threadIdx.x, hx = home % 3, hy = home / 3 % 3, hz = home / 9;
    double a2 = 2.0 * alpha * alpha;
    ra[t] = rv[home * 64 + t];
    double4_16a f = {0, 0, 0, 0};
    for (int k = 0; k < 27; k++) {
        int x = hx + k % 3 - 1, y = hy + k / 3 % 3 - 1, z = hz + k / 9 - 1;
        if (x < 0 || x > 2 || y < 0 || y > 2 || z < 0 || z > 2 || k % 9 != 4) continue;
        int b = (z * 3 + y) * 3 + x;
        rb[t] = rv[b * 64 + t];
        qb[t] = qv[b * 64 + t];
        __syncthreads();
        for (int j = 0; j < 64; j++) {
            double r2 = ra[t].x + rb[j].x - (ra[t].y * rb[j].y + ra[t].z * rb[j].z + ra[t].w * rb[j].w);
            double u2 = a2 * r2, vij = exp(-u2), fs = 2 * vij;
            double dx = ra[t].y - rb[j].y, dy = ra[t].z - rb[j].z, dz = ra[t].w - rb[j].w;
            f.x += qb[j] * vij;
            f.y += qb[j] * (fs * dx);
            f.z += qb[j] * (fs * dy);
            f.w += qb[j] * (fs * dz);
        }
        __syncthreads();
    }
    fv[home * 64 + t] = f;
}

//! tree_of_keys_find 128 64 | s s32 3 | s32:33280:0:1000000 | s32:128:0:1000000 | out s32:128 | iota s32:33280
// A block a query, a thread a key of the node.
K tree_of_keys_find(int height, const int *keys, const int *wanted, int *ans, const int *indices)
{
    __shared__ int current, chosen;
    int q = wanted[blockIdx.x], t = threadIdx.x;
    if (t == 0) current = chosen = 0;
    __syncthreads();
    for (int i = 0; i < height; i++) {
        int node = current;
        if (keys[node * 64 + t] <= q && (t == 63 || keys[node * 64 + t + 1] > q)) atomicMax(&chosen, (node * 7 + t + 1) % 520);
        __syncthreads();
        if (t == 0) current = chosen;
        __syncthreads();
    }
    if (keys[current * 64 + t] >= q) atomicMax(ans + blockIdx.x, indices[current * 64 + t]);
}

//! likelihoods_of_particles 8 128 | inout f64:1024:0:64 | inout f64:1024:0:64 | f64:1024 | s32:32:-2:3 | u8:4096 | out f64:1024 | s s32 1000 | s s32 16
K likelihoods_of_particles(double *ax, double *ay, const double *xj, const int *objxy, const unsigned char *I, double *likelihood, int n, int ones)
{
    int i = blockDim.x * blockIdx.x + threadIdx.x;
    if (i < n) {
        ax[i] = ax[i] + 1.0 + 5.0 * xj[i];
        ay[i] = ay[i] - 2.0 + 2.0 * xj[i];
        double sum = 0;
        for (int y = 0; y < ones; y++) {
            int ix = (int)lround(ax[i]) + objxy[y * 2 + 1], iy = (int)lround(ay[i]) + objxy[y * 2];
            int at = abs(ix * 64 + iy);
            if (at >= 4096) at = 0;
            sum += (pow((double)I[at] - 100, 2) - pow((double)I[at] - 228, 2)) / 50.0;
        }
        likelihood[i] = sum / ones;
    }
}
