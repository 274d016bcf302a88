// shared.cu - banks of shared memory: rows and columns of a tile, with padding and without. One block; out gets its indices in another order.
#define K extern "C" __global__ void
#define IDX (threadIdx.y * blockDim.x + threadIdx.x)
template <int B, int PAD> __device__ void square(int *out, bool column_store, bool column_load)
{
    __shared__ int tile[B][B + PAD];
    if (column_store) tile[threadIdx.x][threadIdx.y] = IDX; else tile[threadIdx.y][threadIdx.x] = IDX;
    __syncthreads();
    out[IDX] = column_load ? tile[threadIdx.x][threadIdx.y] : tile[threadIdx.y][threadIdx.x];
}
K row_row(int *out) { square<32, 0>(out, false, false); }
K col_col(int *out) { square<32, 0>(out, true, true); }
K row_col(int *out) { square<32, 0>(out, false, true); }
K col_row(int *out) { square<32, 0>(out, true, false); }
K row_col_pad1(int *out) { square<32, 1>(out, false, true); }
K row_col_pad2(int *out) { square<32, 2>(out, false, true); }
K row_col_pad3(int *out) { square<32, 3>(out, false, true); }
K row_col_pad4(int *out) { square<32, 4>(out, false, true); }
K row_col_16(int *out) { square<16, 0>(out, false, true); }
K col_col_16(int *out) { square<16, 0>(out, true, true); }
K row_row_4(int *out) { square<4, 0>(out, false, false); }
K col_col_4(int *out) { square<4, 0>(out, true, true); }
K row_col_4(int *out) { square<4, 0>(out, false, true); }
K col_row_4(int *out) { square<4, 0>(out, true, false); }
