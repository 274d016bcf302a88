/* generators.cu - the library's generators of random numbers, which have large tables. */
#include <cstdint>
#include <curand_kernel.h>

//! xorwow_states 8 64 | out u32:512 | out f32:1024 | out f32:512 | s u64 1234
// The library's default generator, set up and drawn from by every thread.
extern "C" __global__ void xorwow_states(unsigned *bits, float2 *normals, float *uniforms, unsigned long long seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState state;
    curand_init(seed, i & 7, 0, &state);
    unsigned b = 0;
    for (int k = 0; k < 8; k++) b ^= curand(&state) >> k;
    bits[i] = b;
    normals[i] = curand_normal2(&state);
    uniforms[i] = curand_uniform(&state) + curand_log_normal(&state, 0.f, 0.5f);
}

//! philox_library 30 128 | out f32:15360 | out u32:3840 | s u64 99
extern "C" __global__ void philox_library(float4 *normals, unsigned *poisson, unsigned long long seed)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandStatePhilox4_32_10_t state;
    curand_init(seed, i, i & 3, &state);
    normals[i] = curand_normal4(&state);
    poisson[i] = curand_poisson(&state, 3.5);
}
