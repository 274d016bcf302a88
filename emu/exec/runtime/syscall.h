/* syscall.h - a call of a function of the driver or of the device runtime, as used by the
 * implementations in cuda_builtins.c and device_runtime.c. */
#ifndef PL_EMU_EXEC_RUNTIME_SYSCALL_H
#define PL_EMU_EXEC_RUNTIME_SYSCALL_H

#include "emu/exec/runtime/cuda_builtins.h"

/* cudaError_t */
enum {
    PL_CUDA_INVALID_VALUE = 1,
    PL_CUDA_INVALID_CONFIGURATION = 9,
    PL_CUDA_INVALID_PITCH = 12,
    PL_CUDA_INVALID_DIRECTION = 21,
    PL_CUDA_INVALID_FUNCTION = 98,
    PL_CUDA_INVALID_DEVICE = 101,
    PL_CUDA_PENDING_EXCEEDED = 69,
    PL_CUDA_UNSUPPORTED_LIMIT = 215,
    PL_CUDA_ILLEGAL_ADDRESS = 700,
    PL_CUDA_NOT_SUPPORTED = 801
};
/* The streams cudaStreamTailLaunch, cudaStreamFireAndForget. */
enum { PL_TAIL_LAUNCH = 3, PL_FIRE_AND_FORGET_LAUNCH = 4 };

typedef struct pl_call {
    pl_warp *w;
    const pl_prog_func *f;
    const pl_prog_call *c;
    const pl_call_frame *node; /* of the caller */
} pl_call;

/* Argument n of a lane of the current half; zero if the call does not have it. */
uint64_t pl_call_argument(const pl_call *k, unsigned n, unsigned lane);
void pl_call_copy_argument(const pl_call *k, unsigned n, unsigned lane, void *to, size_t bytes);
/* Sets the result of a lane. */
void pl_call_return(const pl_call *k, unsigned lane, uint64_t value);
/* The bytes at a generic address of a lane, for reading or writing; NULL: not all of them exist. */
uint8_t *pl_call_memory(pl_warp *w, unsigned lane, uint64_t address, uint64_t bytes);
/* Stores `bytes` bytes of a value to the address in argument 0; the result reports success. */
void pl_call_store(const pl_call *k, unsigned lane, uint64_t value, size_t bytes);
/* Returns a cudaError_t, and sets the lane's last error to it unless it is 0. */
void pl_call_return_error(const pl_call *k, unsigned lane, uint32_t error);
/* The last error of a lane; NULL: out of memory. */
uint32_t *pl_call_last_error(pl_warp *w, unsigned lane);
/* Sets the last error of the lane to a non-zero error. */
void pl_call_set_last_error(pl_warp *w, unsigned lane, uint32_t error);
/* Adds a child of a lane to those of the grid; false: out of memory, and c->params is freed. */
bool pl_call_add_child(pl_warp *w, unsigned lane, const pl_child *c);

/* device_runtime.c: queries, copies and conditionals of the device runtime. */
typedef void pl_call_fn(const pl_call *k, unsigned lane);
pl_call_fn pl_call_memcpy, pl_call_memcpy2d, pl_call_memcpy3d, pl_call_memset, pl_call_memset2d,
    pl_call_memset3d, pl_call_device_count, pl_call_get_device, pl_call_get_attribute,
    pl_call_get_limit, pl_call_cache_config, pl_call_bank_config, pl_call_func_attributes,
    pl_call_occupancy, pl_call_runtime_version, pl_call_error_name, pl_call_error_string,
    pl_call_set_conditional, pl_call_launch_graph, pl_call_node_param, pl_call_node_grid,
    pl_call_node_enabled, pl_call_node_updates;

#endif
