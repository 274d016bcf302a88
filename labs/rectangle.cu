// rectangle.cu - a tile of shared memory that is wider than high, read along its columns. One block; X columns, Y rows.
#define K extern "C" __global__ void
#define IDX (threadIdx.y * blockDim.x + threadIdx.x)
template <int X, int Y, int PAD> __device__ void rectangle(int *out)
{
    __shared__ int tile[Y][X + PAD];
    unsigned row = IDX / blockDim.y, col = IDX % blockDim.y;
    tile[threadIdx.y][threadIdx.x] = IDX;
    __syncthreads();
    out[IDX] = tile[col][row];
}
K rect_row_row(int *out)
{
    __shared__ int tile[16][32];
    tile[threadIdx.y][threadIdx.x] = IDX;
    __syncthreads();
    out[IDX] = tile[threadIdx.y][threadIdx.x];
}
K rect_col_col(int *out)
{
    __shared__ int tile[32][16];
    tile[threadIdx.x][threadIdx.y] = IDX;
    __syncthreads();
    out[IDX] = tile[threadIdx.x][threadIdx.y];
}
K rect_row_col(int *out) { rectangle<32, 16, 0>(out); }
K rect_row_col_pad1(int *out) { rectangle<32, 16, 1>(out); }
K rect_row_col_pad2(int *out) { rectangle<32, 16, 2>(out); }
K rect_row_col_pad3(int *out) { rectangle<32, 16, 3>(out); }
K rect_row_col_pad4(int *out) { rectangle<32, 16, 4>(out); }
K rect_row_col_8x2(int *out) { rectangle<8, 2, 0>(out); }
template <int PAD> __device__ void rectangle_col_row(int *out)
{
    __shared__ int tile[16][32 + PAD];
    unsigned row = IDX / blockDim.y, col = IDX % blockDim.y;
    tile[col][row] = IDX;
    __syncthreads();
    out[IDX] = tile[threadIdx.y][threadIdx.x];
}
K rect_col_row_pad1(int *out) { rectangle_col_row<1>(out); }
K rect_col_row_pad2(int *out) { rectangle_col_row<2>(out); }
