/* app.h - a CUDA program as compiled by nvcc, written by hand: the compiler's additions are here,
 * so that the tests need no toolkit. */
#ifndef PL_TESTS_CUDART_APP_H
#define PL_TESTS_CUDART_APP_H

#include "cudart/abi.h"
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The entry points to which the program links. */
void **__cudaRegisterFatBinary(void *data);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *stub, char *device_stub, const char *name,
                            int threads, void *tid, void *bid, void *block, void *grid, int *warp);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int external,
                       size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name,
                              int external, size_t size, int constant, int global);
char __cudaInitModule(void **handle);
/* cudaKernelNodeParams */
typedef struct kernel_params {
    const void *function;
    dim3 grid, block;
    unsigned shared;
    void **args, **extra;
} kernel_params;

int cudaLaunchKernel(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                     void *stream);
int cudaLaunchCooperativeKernel(const void *function, dim3 grid, dim3 block, void **args,
                                size_t shared, void *stream);
int cudaMalloc(void **p, size_t size);
int cudaFree(void *p);
int cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);
int cudaGetSymbolAddress(void **address, const void *symbol);
int cudaMemcpyFromSymbol(void *to, const void *symbol, size_t bytes, size_t offset, int kind);
int cudaMemset(void *p, int value, size_t bytes);
int cudaMemset2D(void *p, size_t pitch, int value, size_t width, size_t height);
int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width,
                 size_t height, int kind);
int cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height);
int cudaMallocManaged(void **p, size_t size, unsigned flags);
int cudaHostAlloc(void **p, size_t size, unsigned flags);
int cudaFreeHost(void *p);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
int cudaGetDeviceCount(int *count);
int cudaGetDeviceProperties(cuda_prop_13 *p, int device);
int cudaPointerGetAttributes(cuda_pointer_attributes *out, const void *p);
int cudaStreamCreate(void **stream);
int cudaStreamDestroy(void *stream);
int cudaStreamSynchronize(void *stream);
int cudaEventCreate(void **event);
int cudaEventRecord(void *event, void *stream);
int cudaEventElapsedTime(float *ms, void *from, void *to);
int cudaLaunchHostFunc(void *stream, void (*fn)(void *), void *arg);
int cudaGraphicsMapResources(int n, void *resources, void *stream);
const char *cudaGetErrorName(int error);
int cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaStreamIsCapturing(void *stream, int *status);
int cudaGraphCreate(void **out, unsigned flags);
int cudaGraphAddKernelNode(void **out, void *graph, void *const *before, size_t nbefore,
                           const void *params);
int cudaGraphAddMemcpyNode1D(void **out, void *graph, void *const *before, size_t nbefore, void *to,
                             const void *from, size_t bytes, int kind);
int cudaGraphAddHostNode(void **out, void *graph, void *const *before, size_t nbefore,
                         const void *params);
int cudaGraphAddDependencies(void *graph, void *const *from, void *const *to, const void *data,
                             size_t n);
int cudaGraphGetNodes(void *graph, void **out, size_t *n);
int cudaGraphGetEdges(void *graph, void **from, void **to, void *data, size_t *n);
int cudaGraphInstantiate(void **out, void *graph, unsigned long long flags);
int cudaGraphExecKernelNodeSetParams(void *exec, void *node, const void *params);
int cudaGraphLaunch(void *exec, void *stream);
int cudaGraphExecDestroy(void *exec);
int cudaGraphDestroy(void *graph);
int cudaMallocAsync(void **out, size_t bytes, void *stream);
int cudaFreeAsync(void *p, void *stream);
int cudaDeviceGetDefaultMemPool(void **out, int device);
int cudaMemPoolTrimTo(void *pool, size_t keep);
int cudaMemPoolGetAttribute(void *pool, int attribute, void *value);
int cudaDeviceReset(void);
int cudaStreamCreateWithFlags(void **stream, unsigned flags);
int cudaStreamQuery(void *stream);
int cudaEventSynchronize(void *event);
int cudaEventQuery(void *event);
int cudaMemsetAsync(void *p, int value, size_t bytes, void *stream);

/* Makes the primary context of device 0 current for calls of the driver. */
void app_driver(void);

/* The kernels of app.c: their stubs. */
extern const char stub_add[], stub_count[], stub_store[], stub_say[], stub_spin[], stub_nop[],
    stub_work[], stub_countdown[], stub_timer[], stub_pick[], stub_index[], stub_relay[],
    stub_sweep[], stub_hold[], stub_answer[], stub_beat[];
/* Host shadows of the variables. */
extern char shadow_total[8], shadow_factor[16];
extern int *managed_number;

/* Tests of app_clock.c. */
void clock_(void);
void overlap(void);
void polling(void);
void waiting(void);
void waiting_beyond_budget(void);
void global_timer(void);
void profiler(void);
void host_clock(void);
void priorities(void);
void equal_launches(void);
void transfers(void);
void managed_pages(void);
void managed_written(void);
void managed_shared_block(void);
void managed_touched(void);
void managed_order(void);
void mapped_memory(void);
/* Of app_driver.c. */
void green(void);
void node_updates(void);
void error_names(void);
void occupancy(void);
void tensor_maps(void);
void context_flags(void);
void as_recorded(void);
void set_launches(void);
void asserts(void);
/* Of app_nvtx.c. */
void ranges(void);
/* Of app_graph.c. */
void graph_memory(void);
void graph_memory_concurrent(void);
void graph_captured_memory(void);
void graph_condition(void);
void graphs_of_kernels(void);
void graphs_of_kernels_refused(void);
void graph_in_capture(void);
void graph_edges(void);
void estimated_traffic(void);
void graph_rules(void);
void graph_capture_into(void);
void graph_object(void);
void capture_rules(void);
void link_ptx(void);
void grid_barrier(void);
/* Of app_check.c. */
void undefined(void);
void undefined_output(void);
void undefined_ended(void);
void undefined_exits(void);
void undefined_left(void);
void undefined_alarm(void);
void undefined_copy(void);
void refused_calls(void);
void undefined_texels(void);
void stream_early(void);
void stream_late(void);
void stream_race(void);
void variable_race(void);
void array_race(void);
void set_race(void);
void copy_race(void);
void graph_race(void);
void dependent_race(void);
void leak(void);
void managed_race(void);
void exits_before_barrier(void);
void managed_unwritten(void);
void host_race(void);
void host_function_race(void);
void misaligned(void);
/* Of app_devices.c. */
void devices(void);
void peers(void);
void peer_variables(void);
void device_pools(void);
void device_contexts(void);
void device_attributes(void);
void peer_transfers(void);
/* Of app_api.c. */
void batched_calls(void);
void driver_copies(void);
void driver_contexts(void);
void stream_values(void);
void graph_block(void);
void contexts_of_handles(void);
void first_versions(void);
void export_tables(void);
void advice(void);
void stream_attributes(void);
void deferred_work(void);
void refused(void);
void graphs_refused(void);
/* Of app_values.c. */
void values_of_kernels(void);
void values_of_host(void);
void values_of_mailboxes(void);
void host_function_waits(void);
void host_functions_later(void);
void graph_function_waits(void);
void values_of_threads(void);
void values_in_graphs(void);
void values_on_the_clock(void);
void values_never(void);
void kernel_waits(void);
void kernel_waits_on_device(void);
void kernel_waits_in_graph(void);
void kernel_waits_for_thread(void);
void kernel_runs_for_long(void);
void kernel_on_the_clock(void);
void kernel_left_waiting(void);
void values_late(void);
void kernels_wait(void);
void graph_waits_for_event(void);
void kernel_waits_for_ever(void);
/* Of app_memory.c. */
void virtual_memory(void);
void ipc(void);
void pool_ipc(void);
void forked(void);
void oversubscribed(void);
void registered(void);
void driver_array(void);
void texture_references(void);
void unbound_reference(void);
void texture_past_end(void);
void texture_past_end_in_page(void);
void normalised_coordinates(void);
void old_properties(void);

/* Microseconds between two events in a stream, recorded before and after `work`. */
float app_between(void *stream, void (*work)(void *ctx, void *stream), void *ctx);
/* Microseconds of a recorded row with this name; < 0: no row of this name is compared. */
typedef double row_time(void *ctx, const char *name, size_t n);
typedef struct row_errors {
    size_t rows;
    double mean, worst;
} row_errors;
/* Over the rows of $APP_TRANSFERS with a parameter of at most `most`. Errors of more than 30 % are
 * printed, which changes the output. */
row_errors app_compare_rows(size_t most, row_time *time, void *ctx);

/* Exits with a message unless the call returns the expected value. */
#define EXPECT(call, expected)                                                                     \
    do {                                                                                           \
        const long long got = (long long)(call), want = (long long)(expected);                     \
        if (got != want) {                                                                         \
            printf("%s:%d: %s is %lld, not %lld\n", __FILE__, __LINE__, #call, got, want);         \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static inline dim3 shape(unsigned x)
{
    return (dim3){x, 1, 1};
}

#endif
