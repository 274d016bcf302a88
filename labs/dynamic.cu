// dynamic.cu - dynamic shared memory, sized by the launch: the tiles of shared.cu and rectangle.cu, and words chosen by the host.
#define K extern "C" __global__ void
#define IDX (threadIdx.y * blockDim.x + threadIdx.x)
extern __shared__ int space[];
K row_col_dynamic(int *out)
{
    space[IDX] = IDX;
    __syncthreads();
    out[IDX] = space[threadIdx.x * blockDim.y + threadIdx.y];
}
K row_col_dynamic_pad1(int *out)
{
    space[threadIdx.y * (blockDim.x + 1) + threadIdx.x] = IDX;
    __syncthreads();
    out[IDX] = space[threadIdx.x * (blockDim.x + 1) + threadIdx.y];
}
K rect_row_col_dynamic(int *out)
{
    unsigned row = IDX / blockDim.y, col = IDX % blockDim.y;
    space[IDX] = IDX;
    __syncthreads();
    out[IDX] = space[col * blockDim.x + row];
}
K rect_row_col_dynamic_pad2(int *out)
{
    unsigned row = IDX / blockDim.y, col = IDX % blockDim.y;
    space[threadIdx.y * (blockDim.x + 2) + threadIdx.x] = IDX;
    __syncthreads();
    out[IDX] = space[col * (blockDim.x + 2) + row];
}
// One warp reads the words whose indices are in `word`.
K pattern(const int *word, int *out)
{
    out[threadIdx.x] = space[word[threadIdx.x]];
}
