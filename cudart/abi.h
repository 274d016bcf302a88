/* abi.h - types of the CUDA runtime's binary interface: sizes, offsets and numbers as compiled into
 * programs (CUDA 13.0, x86-64 and aarch64 Linux).
 *
 * The declarations are independent of the toolkit, so the build does not need it. Handles are
 * pointers that are opaque outside this library. */
#ifndef PL_CUDART_ABI_H
#define PL_CUDART_ABI_H

#include <stddef.h>
#include <stdint.h>

/* cudaError_t values that this library returns by name. CUresult has the same numbers from 100 on.
 */
enum {
    CU_OK = 0,
    CU_INVALID_VALUE = 1,
    CU_MEMORY_ALLOCATION = 2,
    CU_INITIALIZATION = 3,
    CU_UNLOADING = 4,
    CU_INVALID_CONFIGURATION = 9,
    CU_INVALID_PITCH = 12,
    CU_INVALID_SYMBOL = 13,
    CU_INVALID_CHANNEL = 20,
    CU_INVALID_DIRECTION = 21,
    CU_INVALID_NORM_SETTING = 27,
    CU_INSUFFICIENT_DRIVER = 35,
    CU_UNAVAILABLE = 46,
    CU_MISSING_CONFIGURATION = 52,
    CU_INVALID_FUNCTION = 98,
    CU_NO_DEVICE = 100,
    CU_INVALID_DEVICE = 101,
    CU_INVALID_IMAGE = 200,
    CU_INVALID_CONTEXT = 201,
    CU_MAP_FAILED = 205,
    CU_NO_IMAGE = 209,
    CU_UNSUPPORTED_LIMIT = 215,
    CU_PEER_UNSUPPORTED = 217,
    CU_INVALID_PTX = 218,
    CU_UNSUPPORTED_PTX = 222,
    CU_INVALID_SOURCE = 300,
    CU_FILE_NOT_FOUND = 301,
    CU_OPERATING_SYSTEM = 304,
    CU_INVALID_HANDLE = 400,
    CU_ILLEGAL_STATE = 401,
    CU_LOSSY_QUERY = 402,
    CU_NOT_FOUND = 500,
    CU_NOT_READY = 600,
    CU_ILLEGAL_ADDRESS = 700,
    CU_OUT_OF_RESOURCES = 701,
    CU_LAUNCH_TIMEOUT = 702,
    CU_PEER_ENABLED = 704,
    CU_PEER_NOT_ENABLED = 705,
    CU_CONTEXT_DESTROYED = 709,
    CU_ALREADY_REGISTERED = 712,
    CU_NOT_REGISTERED = 713,
    CU_LAUNCH_FAILURE = 719,
    CU_COOPERATIVE_TOO_LARGE = 720,
    CU_NOT_PERMITTED = 800,
    CU_NOT_SUPPORTED = 801,
    CU_CAPTURE_UNSUPPORTED = 900,
    CU_CAPTURED_EVENT = 907,
    CU_INVALID_CLUSTER = 912,
    CU_UNKNOWN = 999
};

/* cudaMemcpyKind */
enum { COPY_H2H, COPY_H2D, COPY_D2H, COPY_D2D, COPY_DEFAULT };

/* cudaMemoryType */
enum { MEMORY_UNREGISTERED, MEMORY_HOST, MEMORY_DEVICE, MEMORY_MANAGED };

typedef struct dim3 {
    unsigned x, y, z;
} dim3;

/* cudaIpcMemHandle_t, cudaIpcEventHandle_t */
typedef struct cuda_ipc {
    char bytes[64];
} cuda_ipc;

typedef struct cuda_extent {
    size_t width, height, depth;
} cuda_extent;

typedef struct cuda_pos {
    size_t x, y, z;
} cuda_pos;

typedef struct cuda_pitched {
    void *ptr;
    size_t pitch, xsize, ysize;
} cuda_pitched;

typedef struct cuda_channel {
    int x, y, z, w, kind;
} cuda_channel;

typedef struct cuda_pointer_attributes {
    int type, device;
    void *device_pointer, *host_pointer;
    long reserved[8];
} cuda_pointer_attributes;

typedef struct cuda_func_attributes {
    size_t shared, constant, local;
    int max_threads, registers, ptx_version, binary_version, cache_mode, max_dynamic_shared,
        carveout, cluster_must_be_set, cluster_width, cluster_height, cluster_depth, cluster_policy,
        nonportable_cluster;
    int reserved[16];
} cuda_func_attributes;

/* cudaResourceType */
enum { RESOURCE_ARRAY, RESOURCE_MIPMAPPED, RESOURCE_LINEAR, RESOURCE_PITCH };

/* cudaResourceDesc, cudaTextureDesc */
typedef struct cuda_resource {
    int type, pad;
    union {
        struct cuda_array *array;
        struct {
            void *p;
            cuda_channel channel;
            size_t bytes;
        } linear;
        struct {
            void *p;
            cuda_channel channel;
            size_t width, height, pitch;
        } pitch;
        int reserved[32];
    } u;
    unsigned flags;
} cuda_resource;
_Static_assert(sizeof(cuda_resource) == 144, "layout of CUDA 13");

typedef struct cuda_texture {
    int address[3], filter, read, srgb;
    float border[4];
    int normalized;
    unsigned anisotropy;
    int mip_filter;
    float lod_bias, lod_min, lod_max;
    int no_trilinear, seamless;
} cuda_texture;
_Static_assert(sizeof(cuda_texture) == 72, "layout of CUDA 13");

/* CUDA_ARRAY_DESCRIPTOR, CUDA_ARRAY3D_DESCRIPTOR */
typedef struct cuda_array_2d {
    size_t width, height;
    int format;
    unsigned channels;
} cuda_array_2d;
typedef struct cuda_array_3d {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
} cuda_array_3d;

/* CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC */
typedef struct cuda_driver_resource {
    int type;
    union {
        struct cuda_array *array;
        struct {
            uint64_t address;
            int format;
            unsigned channels;
            size_t bytes;
        } linear;
        struct {
            uint64_t address;
            int format;
            unsigned channels;
            size_t width, height, pitch;
        } pitch;
        int reserved[32];
    } u;
    unsigned flags;
} cuda_driver_resource;
typedef struct cuda_driver_texture {
    int address[3], filter;
    unsigned flags, anisotropy;
    int mip_filter;
    float lod_bias, lod_min, lod_max, border[4];
    int reserved[12];
} cuda_driver_texture;
enum { CUDA_TEXTURE_FLAGS = 0x73 }; /* CU_TRSF_... */
_Static_assert(sizeof(cuda_driver_resource) == 144, "layout of CUDA 13");
_Static_assert(sizeof(cuda_driver_texture) == 104, "layout of CUDA 13");

typedef struct cuda_copy3d {
    struct cuda_array *from_array;
    cuda_pos from_pos;
    cuda_pitched from;
    struct cuda_array *to_array;
    cuda_pos to_pos;
    cuda_pitched to;
    cuda_extent extent;
    int kind;
} cuda_copy3d;

/* cudaLaunchAttribute: 64 bytes; the value starts at byte 8. */
typedef struct cuda_launch_attribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int number;
        unsigned cluster[3];
        struct {
            void *event;
            int flags, at_start;
        } event;
    } value;
} cuda_launch_attribute;

enum {
    ATTRIBUTE_ACCESS_POLICY = 1,
    ATTRIBUTE_COOPERATIVE = 2,
    ATTRIBUTE_SYNC_POLICY = 3,
    ATTRIBUTE_CLUSTER = 4,
    ATTRIBUTE_POLICY = 5, /* of the scheduling of clusters */
    ATTRIBUTE_SERIALIZATION = 6,
    ATTRIBUTE_EVENT = 7,
    ATTRIBUTE_PRIORITY = 8,
    ATTRIBUTE_PREFERRED_CLUSTER = 11,
    ATTRIBUTE_COMPLETION_EVENT = 12,
    ATTRIBUTE_UPDATABLE = 13,
    ATTRIBUTE_RESERVED = 15,
    LAST_ATTRIBUTE = 16
};

enum { LAST_CLUSTER_POLICY = 2 }; /* cudaClusterSchedulingPolicy */

enum { SCHEDULE_MASK = 7 }; /* cudaDeviceScheduleMask, CU_CTX_SCHED_MASK */

enum { EVENT_NO_TIMING = 2, EVENT_INTERPROCESS = 4 }; /* cudaEventDisableTiming, ...Interprocess */

typedef struct cuda_launch_config {
    dim3 grid, block;
    size_t shared;
    struct cuda_stream *stream;
    cuda_launch_attribute *attribute;
    unsigned attributes;
} cuda_launch_config;

/* Argument of __cudaRegisterFatBinary. */
typedef struct cuda_fatbin_wrapper {
    uint32_t magic, version;
    const void *data;
    const void *const *linked; /* version 2: containers, NULL after the last */
} cuda_fatbin_wrapper;

typedef struct cuda_prop_13 {
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t memory, shared_block;
    int registers_block, warp;
    size_t pitch;
    int threads_block, threads_dim[3], grid[3];
    size_t constant;
    int major, minor;
    size_t texture_align, texture_pitch_align;
    int sms, integrated, map_host, tex1d, tex1d_mip, tex2d[2], tex2d_mip[2], tex2d_linear[3],
        tex2d_gather[2], tex3d[3], tex3d_alt[3], cube, tex1d_layered[2], tex2d_layered[3],
        cube_layered[2], surf1d, surf2d[2], surf3d[3], surf1d_layered[2], surf2d_layered[3],
        surf_cube, surf_cube_layered[2];
    size_t surface_align;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified,
        bus_width, l2, l2_persisting, threads_sm, stream_priorities, global_l1, local_l1;
    size_t shared_sm;
    int registers_sm, managed, multi_gpu_board, multi_gpu_group, host_atomics, pageable,
        concurrent_managed, preemption, host_pointer_registered, cooperative;
    size_t shared_optin;
    int pageable_host_tables, direct_managed, blocks_sm, policy_window;
    size_t shared_reserved;
    int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, pools, rdma;
    unsigned rdma_flush;
    int rdma_order;
    unsigned pool_handles;
    int deferred_arrays, ipc_event, cluster, unified_functions, numa_config, numa_id, mps,
        host_numa_id;
    unsigned pci_device_id, pci_subsystem_id;
    int host_numa_ipc, reserved[56];
} cuda_prop_13;

/* Of CUDA 12; that of CUDA 11 ends before host_register. */
typedef struct cuda_prop_12 {
    char name[256];
    unsigned char uuid[16];
    char luid[8];
    unsigned luid_mask;
    size_t memory, shared_block;
    int registers_block, warp;
    size_t pitch;
    int threads_block, threads_dim[3], grid[3], clock;
    size_t constant;
    int major, minor;
    size_t texture_align, texture_pitch_align;
    int overlap, sms, timeout, integrated, map_host, compute_mode, tex1d, tex1d_mip, tex1d_linear,
        tex2d[2], tex2d_mip[2], tex2d_linear[3], tex2d_gather[2], tex3d[3], tex3d_alt[3], cube,
        tex1d_layered[2], tex2d_layered[3], cube_layered[2], surf1d, surf2d[2], surf3d[3],
        surf1d_layered[2], surf2d_layered[3], surf_cube, surf_cube_layered[2];
    size_t surface_align;
    int concurrent_kernels, ecc, pci_bus, pci_device, pci_domain, tcc, async_engines, unified,
        memory_clock, bus_width, l2, l2_persisting, threads_sm, stream_priorities, global_l1,
        local_l1;
    size_t shared_sm;
    int registers_sm, managed, multi_gpu_board, multi_gpu_group, host_atomics, single_to_double,
        pageable, concurrent_managed, preemption, host_pointer_registered, cooperative,
        cooperative_multi;
    size_t shared_optin;
    int pageable_host_tables, direct_managed, blocks_sm, policy_window;
    size_t shared_reserved;
    int host_register, sparse_arrays, host_register_read_only, timeline_semaphores, pools, rdma;
    unsigned rdma_flush;
    int rdma_order;
    unsigned pool_handles;
    int deferred_arrays, ipc_event, cluster, unified_functions, reserved[63];
} cuda_prop_12;

_Static_assert(sizeof(cuda_prop_13) == 1008, "layout of CUDA 13");
_Static_assert(sizeof(cuda_prop_12) == 1032, "layout of CUDA 12");
_Static_assert(sizeof(cuda_func_attributes) == 144, "layout of CUDA 13");
_Static_assert(sizeof(cuda_pointer_attributes) == 88, "layout of CUDA 13");
_Static_assert(sizeof(cuda_copy3d) == 160, "layout of CUDA 13");

#endif
