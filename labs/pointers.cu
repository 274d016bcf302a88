// pointers.cu - a table of pointers that the host never filled: the first store goes to a null pointer.
extern "C" __global__ void fill(int **rows)
{
    int t = blockIdx.x * blockDim.x + threadIdx.x;
    for (int i = 0; i < 8; i++) rows[t][i] = t * i;
}
