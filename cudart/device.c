/* device.c - queries of the device: attributes and properties.
 *
 * Attributes by number are the single source; the properties are derived from them. Values in the
 * machine description are taken from there; the others are those of the H200 (driver 580.159.04,
 * 2026-11, probes host.device). */
#include "cudart/state.h"
#include <stdio.h>
#include <string.h>

enum { ATTRIBUTES = 148, VERSION = 13000 };

static const int recorded[ATTRIBUTES] = {
    [1] = 1024,     [2] = 1024,   [3] = 1024,       [4] = 64,          [6] = 65535,
    [7] = 65535,    [8] = 49152,  [9] = 65536,      [10] = 32,         [11] = 2147483647,
    [14] = 512,     [15] = 1,     [19] = 1,         [21] = 131072,     [22] = 131072,
    [23] = 65536,   [24] = 16384, [25] = 16384,     [26] = 16384,      [27] = 32768,
    [28] = 32768,   [29] = 2048,  [30] = 512,       [31] = 1,          [32] = 1,
    [41] = 1,       [42] = 32768, [43] = 2048,      [44] = 1,          [45] = 32768,
    [46] = 32768,   [47] = 8192,  [48] = 8192,      [49] = 32768,      [51] = 32,
    [52] = 32768,   [53] = 32768, [54] = 2046,      [55] = 32768,      [56] = 131072,
    [57] = 65536,   [58] = 16384, [59] = 16384,     [60] = 16384,      [61] = 32768,
    [62] = 2048,    [63] = 32768, [64] = 32768,     [65] = 2048,       [66] = 32768,
    [67] = 32768,   [68] = 2046,  [69] = 268435456, [70] = 131072,     [71] = 65000,
    [72] = 2097120, [73] = 32768, [74] = 32768,     [77] = 32768,      [78] = 1,
    [79] = 1,       [80] = 1,     [83] = 1,         [87] = 2,          [89] = 1,
    [90] = 1,       [91] = 1,     [95] = 1,         [96] = 1,          [99] = 1,
    [102] = 1,      [103] = 1,    [107] = 1,        [109] = 134217728, [110] = 1,
    [112] = 1,      [113] = 1,    [114] = 1,        [115] = 1,         [116] = 1,
    [117] = 1,      [118] = 100,  [119] = 9,        [120] = 1,         [121] = 1,
    [122] = 1,      [123] = 1,    [124] = 1,        [125] = 1,         [126] = 4,
    [127] = 1,      [128] = 1,    [129] = 1,        [131] = -1,        [141] = 1,
    [142] = 1,      [144] = 1,    [145] = 1,
};

/* Attributes from the machine description: number of the attribute, key, unit, and factor. */
static const struct {
    int attribute;
    const char *key, *unit;
    double factor;
} described[] = {
    {5, "launch.grid_x", "", 1},
    {12, "sm.registers", "", 1},
    {13, "machine.clock", "MHz", 1e3},
    {16, "sm.count", "", 1},
    {36, "device.memory_clock", "MHz", 1e3},
    {37, "device.bus_width", "", 1},
    {38, "l2.size", "B", 1},
    {39, "sm.threads", "", 1},
    {40, "device.copy_engines", "", 1},
    {81, "shared.per_sm", "B", 1},
    {82, "sm.registers", "", 1},
    {97, "shared.per_block", "B", 1},
    {106, "sm.blocks", "", 1},
    {111, "shared.reserved", "B", 1},
};

static bool attribute(int k, int *value)
{
    double v;
    if (k < 1 || k >= ATTRIBUTES) return false;
    *value = recorded[k];
    for (size_t i = 0; i < sizeof described / sizeof *described; i++)
        if (described[i].attribute == k &&
            pl_gpu_value(cuda.device[0].gpu, described[i].key, described[i].unit, &v))
            *value = (int)(v * described[i].factor);
    if (k == 75) *value = (int)cuda_capability() / 10;
    if (k == 76) *value = (int)cuda_capability() % 10;
    /* Five eighths of the L2. */
    if (k == 108 && pl_gpu_value(cuda.device[0].gpu, "l2.size", "B", &v))
        *value = cuda_capability() >= 80 ? (int)(v * 5 / 8) : 0;
    return true;
}

static int attribute_value(int k)
{
    int value = 0;
    attribute(k, &value);
    return value;
}

/* Returns an attribute that may differ between devices: 33 is the PCI bus number. */
static int device_attribute(int k, int device)
{
    return k == 33 ? device + 1 : attribute_value(k);
}

int pl_cudaDeviceGetAttribute(int *value, int k, int device)
{
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (!value || !attribute(k, value)) return CU_INVALID_VALUE;
    *value = device_attribute(k, device);
    return CU_OK;
}

const char *cuda_device_name(void)
{
    const char *name = pl_gpu_text(cuda.device[0].gpu, "device.name");
    if (!name) name = pl_gpu_text(cuda.device[0].gpu, "machine.title");
    return name ? name : pl_gpu_name(cuda.device[0].gpu);
}

/* Returns the properties that all devices share, without names. */
static cuda_prop_13 properties(void)
{
    return (cuda_prop_13){
        .memory = cuda_device_bytes(),
        .shared_block = (size_t)attribute_value(8),
        .registers_block = attribute_value(12),
        .warp = attribute_value(10),
        .pitch = (size_t)attribute_value(11),
        .threads_block = attribute_value(1),
        .threads_dim = {attribute_value(2), attribute_value(3), attribute_value(4)},
        .grid = {attribute_value(5), attribute_value(6), attribute_value(7)},
        .constant = (size_t)attribute_value(9),
        .major = attribute_value(75),
        .minor = attribute_value(76),
        .texture_align = (size_t)attribute_value(14),
        .texture_pitch_align = (size_t)attribute_value(51),
        .sms = attribute_value(16),
        .map_host = attribute_value(19),
        .tex1d = attribute_value(21),
        .tex1d_mip = attribute_value(77),
        .tex2d = {attribute_value(22), attribute_value(23)},
        .tex2d_mip = {attribute_value(73), attribute_value(74)},
        .tex2d_linear = {attribute_value(70), attribute_value(71), attribute_value(72)},
        .tex2d_gather = {attribute_value(45), attribute_value(46)},
        .tex3d = {attribute_value(24), attribute_value(25), attribute_value(26)},
        .tex3d_alt = {attribute_value(47), attribute_value(48), attribute_value(49)},
        .cube = attribute_value(52),
        .tex1d_layered = {attribute_value(42), attribute_value(43)},
        .tex2d_layered = {attribute_value(27), attribute_value(28), attribute_value(29)},
        .cube_layered = {attribute_value(53), attribute_value(54)},
        .surf1d = attribute_value(55),
        .surf2d = {attribute_value(56), attribute_value(57)},
        .surf3d = {attribute_value(58), attribute_value(59), attribute_value(60)},
        .surf1d_layered = {attribute_value(61), attribute_value(62)},
        .surf2d_layered = {attribute_value(63), attribute_value(64), attribute_value(65)},
        .surf_cube = attribute_value(66),
        .surf_cube_layered = {attribute_value(67), attribute_value(68)},
        .surface_align = (size_t)attribute_value(30),
        .concurrent_kernels = attribute_value(31),
        .ecc = attribute_value(32),
        .async_engines = attribute_value(40),
        .unified = attribute_value(41),
        .bus_width = attribute_value(37),
        .l2 = attribute_value(38),
        .l2_persisting = attribute_value(108),
        .threads_sm = attribute_value(39),
        .stream_priorities = attribute_value(78),
        .global_l1 = attribute_value(79),
        .local_l1 = attribute_value(80),
        .shared_sm = (size_t)attribute_value(81),
        .registers_sm = attribute_value(82),
        .managed = attribute_value(83),
        .host_atomics = attribute_value(86),
        .pageable = attribute_value(88),
        .concurrent_managed = attribute_value(89),
        .preemption = attribute_value(90),
        .host_pointer_registered = attribute_value(91),
        .cooperative = attribute_value(95),
        .shared_optin = (size_t)attribute_value(97),
        .blocks_sm = attribute_value(106),
        .policy_window = attribute_value(109),
        .shared_reserved = (size_t)attribute_value(111),
        .host_register = attribute_value(99),
        .host_register_read_only = attribute_value(113),
        .timeline_semaphores = attribute_value(114),
        .pools = attribute_value(115),
        .rdma = attribute_value(116),
        .rdma_flush = (unsigned)attribute_value(117),
        .rdma_order = attribute_value(118),
        .pool_handles = (unsigned)attribute_value(119),
        .sparse_arrays = attribute_value(112),
        .deferred_arrays = attribute_value(121),
        .ipc_event = attribute_value(122),
        .cluster = attribute_value(120),
        .unified_functions = attribute_value(123),
        .host_numa_id = -1};
}

int pl_cudaGetDeviceProperties(cuda_prop_13 *p, int device)
{
    if (!p) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    *p = properties();
    snprintf(p->name, sizeof p->name, "%s", cuda_device_name());
    snprintf((char *)p->uuid, sizeof p->uuid, "ptxloom-%s", pl_gpu_name(cuda.device[0].gpu));
    p->uuid[sizeof p->uuid - 1] = (unsigned char)device;
    p->pci_bus = device_attribute(33, device);
    return CU_OK;
}

/* The same in the order of CUDA 12, with the fields that CUDA 13 removed. */
int pl_cudaGetDeviceProperties_v2_12(cuda_prop_12 *p, int device)
{
    cuda_prop_13 q;
    if (!p) return CU_INVALID_VALUE;
    const int error = pl_cudaGetDeviceProperties(&q, device);
    if (error) return error;
    *p = (cuda_prop_12){.clock = attribute_value(13),
                        .overlap = attribute_value(15),
                        .timeout = attribute_value(17),
                        .compute_mode = attribute_value(20),
                        .tex1d_linear = attribute_value(69),
                        .memory_clock = attribute_value(36),
                        .single_to_double = attribute_value(87),
                        .cooperative_multi = attribute_value(96)};
#define SAME(field)                                                                                \
    _Static_assert(sizeof p->field == sizeof q.field, "of the same size");                         \
    memcpy(&p->field, &q.field, sizeof p->field);
#include "cudart/properties.def"
#undef SAME
    return CU_OK;
}

int pl_cudaGetDeviceProperties_12(void *p, int device)
{
    cuda_prop_12 q;
    if (!p) return CU_INVALID_VALUE;
    const int error = pl_cudaGetDeviceProperties_v2_12(&q, device);
    if (!error) memcpy(p, &q, offsetof(cuda_prop_12, host_register));
    return error;
}

int pl_cudaGetDeviceCount(int *count)
{
    if (!count) return CU_INVALID_VALUE;
    *count = cuda.devices ? cuda.devices : cuda.forked_devices;
    return CU_OK;
}

int pl_cudaGetDevice(int *device)
{
    if (!device) return CU_INVALID_VALUE;
    *device = cuda_self.device;
    return CU_OK;
}

int pl_cudaSetDevice(int device)
{
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    cuda_self.device = device;
    cuda_self.context = NULL;
    cuda_self.has_context = true;
    return cuda.unavailable >> device & 1 ? CU_UNAVAILABLE : CU_OK;
}

enum {
    MAPS_HOST = 8, /* cudaDeviceMapHost */
    NOT_STORED = MAPS_HOST | 0x20
};

bool cuda_valid_device_flags(unsigned flags)
{
    enum { FLAGS = 0xff };
    const unsigned policy = flags & SCHEDULE_MASK;
    return !(flags & ~(unsigned)FLAGS) && !(policy & (policy - 1));
}

int pl_cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    enum { FLAGS_ARE_VALID = 1 };
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    if (!(flags & FLAGS_ARE_VALID)) return CU_OK;
    if (!cuda_valid_device_flags(device_flags)) return CU_INVALID_VALUE;
    cuda.device[device].flags = device_flags & ~(unsigned)NOT_STORED;
    cuda.was_reset &= ~(1u << device);
    return CU_OK;
}

int pl_cudaChooseDevice(int *device, const void *wanted)
{
    if (!device || !wanted) return CU_INVALID_VALUE;
    *device = 0;
    return CU_OK;
}

int pl_cudaSetValidDevices(const int *device, int n)
{
    if (n < 0 || n > cuda.devices || (n && !device)) return CU_INVALID_VALUE;
    for (int k = 0; k < n; k++)
        if (!cuda_is_device(device[k])) return CU_INVALID_DEVICE;
    return CU_OK;
}

/* There is no other device that writes memory. */
int pl_cudaDeviceFlushGPUDirectRDMAWrites(int target, int scope)
{
    enum { TO_OWNER = 100, TO_ALL_DEVICES = 200 };
    return target || (scope != TO_OWNER && scope != TO_ALL_DEVICES) ? CU_INVALID_VALUE : CU_OK;
}

int pl_cudaSetDeviceFlags(unsigned flags)
{
    if (!cuda_valid_device_flags(flags)) return CU_INVALID_VALUE;
    cuda_current_device()->flags = flags & ~(unsigned)NOT_STORED;
    return CU_OK;
}

/* A context that was reset while it is current has no flags (H100). */
int pl_cudaGetDeviceFlags(unsigned *flags)
{
    if (!flags) return CU_INVALID_VALUE;
    *flags = cuda_current_was_reset() ? 0 : cuda_current_device()->flags | MAPS_HOST;
    return CU_OK;
}

int pl_cuDriverGetVersion(int *version)
{
    if (!version) return CU_INVALID_VALUE;
    *version = VERSION;
    return CU_OK;
}

/* Without a context, too, the error is the last one of the thread (H100). */
static int get_version(int *version, int value)
{
    if (!version) return cuda_self.last = CU_INVALID_VALUE;
    *version = value;
    return CU_OK;
}

int pl_cudaDriverGetVersion(int *version)
{
    return get_version(version, VERSION);
}

int pl_cudaRuntimeGetVersion(int *version)
{
    return get_version(version, VERSION);
}

int pl_cudaRuntimeGetVersion_12(int *version)
{
    return get_version(version, 12080);
}

int pl_cudaRuntimeGetVersion_11(int *version)
{
    return get_version(version, 11080);
}

int pl_cudaDeviceGetPCIBusId(char *text, int size, int device)
{
    enum { ROOM = 13 }; /* for "0000:00:00.0" */
    if (!text || size < ROOM) return CU_INVALID_VALUE;
    if (!cuda_is_device(device)) return CU_INVALID_DEVICE;
    snprintf(text, (size_t)size, "0000:%02x:00.0", (unsigned)device_attribute(33, device));
    return CU_OK;
}

/* text: domain:bus:device.function, or without the domain or without the function. */
int pl_cudaDeviceGetByPCIBusId(int *device, const char *text)
{
    unsigned domain = 0, bus, slot, function = 0;
    if (!device || !text) return CU_INVALID_VALUE;
    if (sscanf(text, "%x:%x:%x.%x", &domain, &bus, &slot, &function) < 3) {
        domain = 0;
        if (sscanf(text, "%x:%x.%x", &bus, &slot, &function) < 2) return CU_INVALID_VALUE;
    }
    for (*device = 0; *device < cuda.devices; ++*device)
        if (bus == (unsigned)device_attribute(33, *device) && !domain && !slot && !function)
            return CU_OK;
    return CU_INVALID_DEVICE;
}

/* ---- caches and banks: programs may request a configuration; the model chooses its own ---- */

int pl_cudaDeviceSetCacheConfig(int config)
{
    if (config < 0 || config > 3) return CU_INVALID_VALUE;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (!unsafe) cuda_current_device()->cache_config = config;
    return unsafe;
}

int pl_cudaDeviceGetCacheConfig(int *config)
{
    if (!config) return CU_INVALID_VALUE;
    *config = cuda_current_device()->cache_config;
    return CU_OK;
}

int pl_cudaDeviceSetSharedMemConfig(int config)
{
    return config < 0 || config > 2 ? CU_INVALID_VALUE : CU_OK;
}

int pl_cudaDeviceGetSharedMemConfig(int *config)
{
    if (!config) return CU_INVALID_VALUE;
    *config = 1; /* banks of four bytes */
    return CU_OK;
}

/* ---- limits ---- */

/* cudaLimit */
enum {
    STACK = 0,
    FIFO = 1,
    HEAP = 2,
    PENDING_LAUNCHES = 4,
    FETCH = 5,
    PERSISTING = 6,
    SHARED = 7, /* those of graphics contexts */
    CIG = 8,
    LIMITS = 10,
    LAST_LIMIT = 9
};
static const uint64_t limits[LIMITS] = {1024, 8650752, 8388608, 0, 2048, 64, 11796480, 232448};

/* CU_OK if the limit exists. */
static int check_limit(int limit)
{
    if (limit < 0 || limit >= LIMITS) return CU_INVALID_VALUE;
    return limit == 3 || limit == LAST_LIMIT ? CU_UNSUPPORTED_LIMIT : CU_OK;
}

int pl_cudaDeviceGetLimit(size_t *value, int limit)
{
    const int error = value ? check_limit(limit) : CU_INVALID_VALUE;
    if (error) return error;
    const cuda_limits *l = cuda_current_limits();
    const bool set = l->set >> limit & 1;
    double persisting = 0;
    *value = set ? l->value[limit] : limits[limit];
    if (limit == PERSISTING && !set &&
        pl_gpu_value(cuda_current_device()->gpu, "l2.persisting", "B", &persisting))
        *value = (size_t)persisting;
    return CU_OK;
}

static size_t clamp(size_t value, size_t least, size_t most)
{
    return value < least ? least : value > most ? most : value;
}

/* Returns the value that the driver uses (H100). */
static size_t adjusted_limit(int limit, size_t value)
{
    enum {
        MIN_FIFO = 512 << 10,
        FIFO_UNIT = 64,
        MIN_HEAP = 4 << 20,
        HEAP_UNIT = 64 << 10,
        MIN_LAUNCHES = 32,
        MAX_LAUNCHES = 599186,
        PERSISTING_PARTS = 10, /* the largest persisting part of the L2 has this many */
        MAX_PERSISTING = 108   /* cudaDeviceAttr */
    };
    const size_t part = (size_t)attribute_value(MAX_PERSISTING) / PERSISTING_PARTS;
    switch (limit) {
    case STACK: return (value + 15) / 16 * 16;
    case FIFO: return cuda_round_up(clamp(value, MIN_FIFO, (size_t)1 << 31), FIFO_UNIT);
    case HEAP: return value < MIN_HEAP ? MIN_HEAP : cuda_round_up(value, HEAP_UNIT);
    case PENDING_LAUNCHES: return clamp(value, MIN_LAUNCHES, MAX_LAUNCHES);
    case PERSISTING: return part ? (value + part - 1) / part * part : value;
    default: return value;
    }
}

/* All threads of the device need a stack. */
static size_t max_stack(void)
{
    enum { MOST = 512 << 10, SMS = 16, THREADS = 39 }; /* cudaDeviceAttr */
    const size_t threads = (size_t)attribute_value(SMS) * (size_t)attribute_value(THREADS),
                 each = threads ? cuda_device_bytes() / threads : MOST;
    return each < MOST ? each : MOST;
}

/* False: kernels have used the memory. */
static bool can_resize(int limit, size_t value)
{
    cuda_device *d = cuda_current_device();
    if (limit == HEAP) return pl_gpu_heap(d->gpu, value) == PL_OK;
    if (limit != FIFO) return true;
    cuda_flush();
    return !d->printed;
}

int pl_cudaDeviceSetLimit(int limit, size_t value)
{
    const int error = check_limit(limit);
    if (error) return error;
    if (limit == SHARED || limit == CIG) return CU_NOT_PERMITTED;
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (unsafe) return unsafe;
    if ((limit == STACK && value > max_stack()) || (limit == FETCH && value > 128) ||
        (limit == PERSISTING && value > (size_t)attribute_value(108)))
        return CU_INVALID_VALUE;
    value = adjusted_limit(limit, value);
    if (!can_resize(limit, value)) return CU_INVALID_VALUE;
    cuda_limits *l = cuda_current_limits();
    l->value[limit] = value;
    l->set |= 1u << limit;
    return CU_OK;
}

int pl_cudaCtxResetPersistingL2Cache(void)
{
    return CU_OK;
}

int pl_cudaProfilerStart(void)
{
    cuda.paused = false;
    return CU_OK;
}

int pl_cudaProfilerStop(void)
{
    const int unsafe = cuda_check_captures(CUDA_UNSAFE_CALL);
    if (!unsafe) cuda.paused = true;
    return unsafe;
}
