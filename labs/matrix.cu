// matrix.cu - block shapes and transposition: the same words in a different order. Matrices of nx columns and ny rows.
#define AT int ix = blockIdx.x * blockDim.x + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y; if (ix >= nx || iy >= ny) return
#define K extern "C" __global__ void
K sum_matrix(const float *a, const float *b, float *c, int nx, int ny) { AT; int i = iy * nx + ix; c[i] = a[i] + b[i]; }
K sum_matrix_columns(const float *a, const float *b, float *c, int nx, int ny)
{
    int ix = blockIdx.x * blockDim.x + threadIdx.x;
    if (ix < nx) for (int iy = 0; iy < ny; iy++) c[iy * nx + ix] = a[iy * nx + ix] + b[iy * nx + ix];
}
K copy_row(const float *in, float *out, int nx, int ny) { AT; out[iy * nx + ix] = in[iy * nx + ix]; }
K copy_col(const float *in, float *out, int nx, int ny) { AT; out[ix * ny + iy] = in[ix * ny + iy]; }
K naive_row(const float *in, float *out, int nx, int ny) { AT; out[ix * ny + iy] = in[iy * nx + ix]; }
K naive_col(const float *in, float *out, int nx, int ny) { AT; out[iy * nx + ix] = in[ix * ny + iy]; }
K unroll4_row(const float *in, float *out, int nx, int ny)
{
    int ix = blockIdx.x * blockDim.x * 4 + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;
    for (int k = 0; k < 4; k++) out[(ix + k * blockDim.x) * ny + iy] = in[iy * nx + ix + k * blockDim.x];
}
K unroll4_col(const float *in, float *out, int nx, int ny)
{
    int ix = blockIdx.x * blockDim.x * 4 + threadIdx.x, iy = blockIdx.y * blockDim.y + threadIdx.y;
    for (int k = 0; k < 4; k++) out[iy * nx + ix + k * blockDim.x] = in[(ix + k * blockDim.x) * ny + iy];
}
K diagonal_row(const float *in, float *out, int nx, int ny)
{
    int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x, ix = bx * blockDim.x + threadIdx.x, iy = by * blockDim.y + threadIdx.y;
    if (ix < nx && iy < ny) out[ix * ny + iy] = in[iy * nx + ix];
}
K diagonal_col(const float *in, float *out, int nx, int ny)
{
    int by = blockIdx.x, bx = (blockIdx.x + blockIdx.y) % gridDim.x, ix = bx * blockDim.x + threadIdx.x, iy = by * blockDim.y + threadIdx.y;
    if (ix < nx && iy < ny) out[iy * nx + ix] = in[ix * ny + iy];
}
// Through shared memory, tile of BY rows and BX columns with padding PAD; both global accesses along rows.
template <int BX, int BY, int PAD> __device__ void through_tile(const float *in, float *out, int nx, int ny)
{
    __shared__ float tile[BY][BX + PAD];
    int ix = blockIdx.x * BX + threadIdx.x, iy = blockIdx.y * BY + threadIdx.y;
    tile[threadIdx.y][threadIdx.x] = in[iy * nx + ix];
    unsigned b = threadIdx.y * blockDim.x + threadIdx.x, row = b / blockDim.y, col = b % blockDim.y; // divisions by values unknown at compile time
    __syncthreads();
    out[(blockIdx.x * BX + row) * ny + blockIdx.y * BY + col] = tile[col][row];
}
K tile_32x16(const float *in, float *out, int nx, int ny) { through_tile<32, 16, 0>(in, out, nx, ny); }
K tile_32x16_pad1(const float *in, float *out, int nx, int ny) { through_tile<32, 16, 1>(in, out, nx, ny); }
K tile_32x16_pad2(const float *in, float *out, int nx, int ny) { through_tile<32, 16, 2>(in, out, nx, ny); }
K tile_32x32(const float *in, float *out, int nx, int ny) { through_tile<32, 32, 0>(in, out, nx, ny); }
// Two tiles per block, side by side in one array of rows of 2 BX + PAD words.
template <int BX, int BY, int PAD> __device__ void two_tiles(const float *in, float *out, int nx, int ny)
{
    __shared__ float tile[BY * (BX * 2 + PAD)];
    int ix = blockIdx.x * BX * 2 + threadIdx.x, iy = blockIdx.y * BY + threadIdx.y;
    int at = threadIdx.y * (BX * 2 + PAD) + threadIdx.x;
    tile[at] = in[iy * nx + ix];
    tile[at + BX] = in[iy * nx + ix + BX];
    unsigned b = threadIdx.y * blockDim.x + threadIdx.x, row = b / blockDim.y, col = b % blockDim.y; // divisions by values unknown at compile time
    __syncthreads();
    int to = (blockIdx.x * BX * 2 + row) * ny + blockIdx.y * BY + col;
    out[to] = tile[col * (BX * 2 + PAD) + row];
    out[to + ny * BX] = tile[col * (BX * 2 + PAD) + row + BX];
}
K two_tiles_32x32(const float *in, float *out, int nx, int ny) { two_tiles<32, 32, 2>(in, out, nx, ny); }
K two_tiles_32x16(const float *in, float *out, int nx, int ny) { two_tiles<32, 16, 2>(in, out, nx, ny); }
K two_tiles_16x16(const float *in, float *out, int nx, int ny) { two_tiles<16, 16, 2>(in, out, nx, ny); }
K two_tiles_32x32_nopad(const float *in, float *out, int nx, int ny) { two_tiles<32, 32, 0>(in, out, nx, ny); }
K two_tiles_32x16_nopad(const float *in, float *out, int nx, int ny) { two_tiles<32, 16, 0>(in, out, nx, ny); }
K two_tiles_16x16_nopad(const float *in, float *out, int nx, int ny) { two_tiles<16, 16, 0>(in, out, nx, ny); }
