/* app_memory.c - tests of memory that programs map themselves, share, or register. */
#define _GNU_SOURCE /* MAP_ANONYMOUS, dlvsym */
#include "tests/cudart/app.h"
#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

int cuInit(unsigned flags);
int cuMemGetAllocationGranularity(size_t *out, const void *properties, int option);
int cuMemAddressReserve(uint64_t *out, size_t size, size_t alignment, uint64_t wish,
                        unsigned long long flags);
int cuMemAddressFree(uint64_t address, size_t size);
int cuMemCreate(uint64_t *out, size_t size, const void *properties, unsigned long long flags);
int cuMemRelease(uint64_t handle);
int cuMemMap(uint64_t address, size_t size, size_t offset, uint64_t handle,
             unsigned long long flags);
int cuMemUnmap(uint64_t address, size_t size);
int cuMemSetAccess(uint64_t address, size_t size, const void *access, size_t n);
int cuMemExportToShareableHandle(void *out, uint64_t handle, int type, unsigned long long flags);
int cuMemImportFromShareableHandle(uint64_t *out, void *file, int type);
int cudaIpcGetMemHandle(cuda_ipc *out, void *p);
int cudaIpcOpenMemHandle(void **out, cuda_ipc handle, unsigned flags);
int cudaIpcCloseMemHandle(void *p);
int cudaHostRegister(void *p, size_t size, unsigned flags);
int cudaHostUnregister(void *p);

static void store(void *to, unsigned value)
{
    void *args[] = {&to, &value};
    EXPECT(cudaLaunchKernel(stub_store, shape(1), shape(1), args, 0, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 0);
}

/* Two adjacent pieces of physical memory; then one of them at both addresses, also through an
 * exported handle. */
void virtual_memory(void)
{
    const struct {
        int type, handle_types, location_type, location;
        void *meta;
        char flags[8];
    } properties = {1, 1, 1, 0, NULL, {0}};
    const struct {
        int location_type, location, flags;
    } access = {1, 0, 3};
    size_t piece = 0;
    uint64_t at, handle[3];
    int file;
    EXPECT(cuInit(0), 0);
    EXPECT(cuMemGetAllocationGranularity(&piece, &properties, 0), 0);
    EXPECT(cuMemAddressReserve(&at, 2 * piece, 3, 0, 0), CU_INVALID_VALUE);
    EXPECT(cuMemAddressReserve(&at, 2 * piece, 8 * piece, 0, 0), 0);
    EXPECT(at % (8 * piece), 0);
    for (int k = 0; k < 2; k++) {
        EXPECT(cuMemCreate(&handle[k], piece, &properties, 0), 0);
        EXPECT(cuMemMap(at + (size_t)k * piece, piece, 0, handle[k], 0), 0);
    }
    EXPECT(cuMemMap(at, piece, 0, handle[1], 0), CU_INVALID_VALUE); /* already in use */
    EXPECT(cuMemSetAccess(at, 2 * piece, &access, 1), 0);
    char *const d = (char *)(uintptr_t)at;
    unsigned both[2] = {0, 0};
    EXPECT(cudaMemset(d, 0x11, 2 * piece), 0);
    store(d + piece - 4, 0x22222222);
    store(d + piece, 0x33333333);
    EXPECT(cudaMemcpy(both, d + piece - 4, 8, COPY_D2H), 0);
    EXPECT(both[0] == 0x22222222 && both[1] == 0x33333333, 1);
    EXPECT(cudaMemcpy(both, d + 2 * piece - 4, 8, COPY_D2H), CU_INVALID_VALUE);
    EXPECT(cuMemUnmap(at, 2 * piece), 0);
    EXPECT(cudaMemcpy(both, d, 8, COPY_D2H), CU_INVALID_VALUE);
    EXPECT(cuMemExportToShareableHandle(&file, handle[1], 1, 0), 0);
    EXPECT(cuMemImportFromShareableHandle(&handle[2], (void *)(intptr_t)file, 1), 0);
    EXPECT(cuMemMap(at, piece, 0, handle[1], 0), 0);
    EXPECT(cuMemMap(at + piece, piece, 0, handle[2], 0), 0);
    EXPECT(cudaMemset(d, 0, 4), CU_INVALID_VALUE); /* no access has been granted */
    EXPECT(cuMemSetAccess(at, 2 * piece, &access, 1), 0);
    store(d + 8, 0x44444444);
    EXPECT(cudaMemcpy(both, d + piece + 8, 4, COPY_D2H), 0);
    EXPECT(both[0], 0x44444444);
    EXPECT(cuMemAddressFree(at, 2 * piece), CU_INVALID_VALUE);
    EXPECT(cuMemUnmap(at, 2 * piece), 0);
    EXPECT(cuMemUnmap(at, 2 * piece), 0); /* nothing is mapped */
    EXPECT(cuMemMap(at, piece, piece, handle[0], 0), CU_NOT_SUPPORTED);
    EXPECT(cuMemAddressFree(at, 2 * piece), 0);
    for (int k = 0; k < 3; k++) EXPECT(cuMemRelease(handle[k]), 0);
    EXPECT(cuMemRelease(handle[0]), CU_INVALID_VALUE);
    close(file);
}

/* The process at the other end: it modifies the shared memory. */
static void other_process(const char *text)
{
    cuda_ipc handle;
    unsigned value = 0;
    void *p;
    for (size_t k = 0; k < sizeof handle; k++) {
        unsigned byte;
        EXPECT(sscanf(text + 2 * k, "%2x", &byte), 1);
        handle.bytes[k] = (char)byte;
    }
    EXPECT(cudaIpcOpenMemHandle(&p, handle, 1), 0);
    EXPECT(cudaMemcpy(&value, p, 4, COPY_D2H), 0);
    EXPECT(value, 5);
    store(p, 6);
    EXPECT(cudaIpcCloseMemHandle(p), 0);
    EXPECT(cudaIpcCloseMemHandle(p), CU_INVALID_VALUE);
}

/* Device memory shared by two processes; the second one is this program again. */
void ipc(void)
{
    char text[2 * sizeof(cuda_ipc) + 1];
    const char *given = getenv("APP_IPC");
    cuda_ipc handle;
    unsigned value = 0;
    int status = -1;
    void *d;
    if (given) {
        other_process(given);
        return;
    }
    EXPECT(cudaMalloc(&d, 4), 0);
    store(d, 5);
    EXPECT(cudaIpcGetMemHandle(&handle, d), 0);
    EXPECT(cudaIpcOpenMemHandle(&d, handle, 1), 201); /* only for other processes */
    for (size_t k = 0; k < sizeof handle; k++)
        sprintf(text + 2 * k, "%02x", (unsigned char)handle.bytes[k]);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        setenv("APP_IPC", text, 1);
        close(1);
        execl("/proc/self/exe", "app", "ipc", (char *)NULL);
        _exit(99);
    }
    EXPECT(waitpid(child, &status, 0) == child, 1);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 5, 1);
    EXPECT(cudaMemcpy(&value, d, 4, COPY_D2H), 0);
    EXPECT(value, 6);
    EXPECT(cudaFree(d), 0);
}

int cudaMemPoolCreate(void **out, const void *properties);
int cudaMemPoolExportToShareableHandle(void *out, void *pool, int type, unsigned flags);
int cudaMemPoolImportFromShareableHandle(void **out, void *file, int type, unsigned flags);
int cudaMemPoolExportPointer(void *out, void *p);
int cudaMemPoolImportPointer(void **out, void *pool, void *data);
int cudaMallocFromPoolAsync(void **out, size_t bytes, void *pool, void *stream);

int cudaMemPoolSetAttribute(void *pool, int attribute, void *value);

/* The other process finds the file of the pool and the allocation's data as open files. */
static void other_pool(const char *text)
{
    int file, data;
    char bytes[64];
    unsigned value = 0;
    void *pool, *p, *q;
    EXPECT(sscanf(text, "%d %d", &file, &data), 2);
    EXPECT(pread(data, bytes, sizeof bytes, 0), sizeof bytes);
    EXPECT(cudaMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)data, 1, 0),
           CU_INVALID_VALUE);
    EXPECT(cudaMemPoolImportFromShareableHandle(&pool, (void *)(uintptr_t)file, 1, 0), 0);
    EXPECT(cudaMallocFromPoolAsync(&q, 4, pool, NULL), CU_INVALID_VALUE);
    EXPECT(cudaMemPoolSetAttribute(pool, 4, bytes), CU_INVALID_VALUE);
    bytes[32] ^= 1; /* as if from another pool */
    EXPECT(cudaMemPoolImportPointer(&p, pool, bytes), CU_INVALID_VALUE);
    bytes[32] ^= 1;
    EXPECT(cudaMemPoolImportPointer(&p, pool, bytes), 0);
    EXPECT(cudaMemcpy(&value, p, 4, COPY_D2H), 0);
    EXPECT(value, 5);
    store(p, 6);
    EXPECT(cudaFreeAsync(p, NULL), 0);
}

/* A memory pool whose allocations other processes can import. */
void pool_ipc(void)
{
    const char *given = getenv("APP_IPC");
    struct {
        int type, handle_types, location_type, location;
        char rest[72];
    } properties = {1, 1, 1, 0, {0}};
    char text[64], data[64];
    unsigned value = 0;
    int status = -1, file = -1;
    void *pool, *d, *other;
    if (given) {
        other_pool(given);
        return;
    }
    EXPECT(cudaMemPoolCreate(&pool, &properties), 0);
    EXPECT(cudaMallocFromPoolAsync(&d, 4, pool, NULL), 0);
    EXPECT(cudaMallocAsync(&other, 4, NULL), 0);
    store(d, 5);
    EXPECT(cudaMemPoolExportPointer(data, other), CU_INVALID_VALUE); /* its pool is not shareable */
    EXPECT(cudaMemPoolExportPointer(data, d), 0);
    EXPECT(cudaMemPoolExportToShareableHandle(&file, pool, 1, 0), 0);
    FILE *f = tmpfile();
    EXPECT(f && fwrite(data, sizeof data, 1, f) == 1 && fflush(f) == 0, 1);
    sprintf(text, "%d %d", dup(file), dup(fileno(f))); /* they stay open in the other process */
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        setenv("APP_IPC", text, 1);
        close(1);
        execl("/proc/self/exe", "app", "pool_ipc", (char *)NULL);
        _exit(99);
    }
    EXPECT(waitpid(child, &status, 0) == child, 1);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 5, 1);
    EXPECT(cudaMemcpy(&value, d, 4, COPY_D2H), 0);
    EXPECT(value, 6);
    EXPECT(cudaFreeAsync(d, NULL), 0);
    fclose(f);
}

/* A forked process cannot use the devices of its parent, and does not end the parent's trace. */
void forked(void)
{
    unsigned value = 0;
    int status = -1, devices = 0;
    cuda_prop_13 properties;
    void *d, *other;
    EXPECT(cudaMalloc(&d, 4), 0);
    store(d, 5);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        EXPECT(cudaGetDeviceCount(&devices), 0); /* and properties: as recorded on an H100 */
        EXPECT(devices, 1);
        EXPECT(cudaGetDeviceProperties(&properties, 0), 0);
        EXPECT(cudaMalloc(&other, 4), CU_INITIALIZATION);
        EXPECT(cudaMemcpy(&value, d, 4, COPY_D2H), CU_INITIALIZATION);
        EXPECT(cudaDeviceSynchronize(), CU_INITIALIZATION);
        EXPECT(value, 0);
        exit(value == 0 ? 7 : 8);
    }
    EXPECT(waitpid(child, &status, 0) == child, 1);
    EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 7, 1);
    store(d, 6);
    EXPECT(cudaMemcpy(&value, d, 4, COPY_D2H), 0);
    EXPECT(value, 6);
}

int cudaMemPrefetchAsync(const void *p, size_t bytes, uint64_t location, unsigned flags,
                         void *stream);
int cudaMemGetInfo(size_t *unused, size_t *total);

static uint64_t free_mib(void)
{
    size_t unused, total;
    EXPECT(cudaMemGetInfo(&unused, &total), 0);
    EXPECT(total == (size_t)1 << 30, 1);
    return unused >> 20;
}

/* Managed memory beyond that of the device, which has 1 GiB. */
void oversubscribed(void)
{
    enum { MIB = 1 << 20, SIZE = 1536, DEVICE = 1, HOST = 2 };
    const size_t bytes = (size_t)SIZE * MIB;
    unsigned value = 3;
    char *p, *few;
    void *q;
    EXPECT(cudaMallocManaged((void **)&p, bytes, 1), 0);
    EXPECT(free_mib(), 1024); /* its pages are on the device once that accesses them */
    memcpy(p, &value, sizeof value);
    for (unsigned k = 0; k < 2; k++) {
        store(p + bytes - 4, 7 + k);
        EXPECT(free_mib(), 0);
    }
    memcpy(&value, p + bytes - 4, sizeof value);
    EXPECT(value == 8 && *p == 3, 1);
    EXPECT(cudaMalloc(&q, (size_t)512 * MIB), 0); /* pages move to the host */
    EXPECT(cudaMemPrefetchAsync(p, bytes, HOST, 0, NULL), 0);
    EXPECT(free_mib(), 512);
    EXPECT(cudaMallocManaged((void **)&few, MIB, 1), 0);
    store(few, 1);
    EXPECT(free_mib(), 510); /* a block of 2 MiB */
    EXPECT(cudaMemPrefetchAsync(p, (size_t)100 * MIB, DEVICE, 0, NULL), 0);
    EXPECT(free_mib(), 410);
    EXPECT(cudaMalloc(&q, (size_t)513 * MIB), CU_MEMORY_ALLOCATION); /* device memory stays */
    EXPECT(cudaFree(p), 0);
    EXPECT(free_mib(), 510);
    EXPECT(cudaMallocManaged((void **)&p, bytes << 5, 1), 0); /* as on an H100 */
    EXPECT(cudaFree(p), 0);
    EXPECT(cudaMallocManaged((void **)&p, (size_t)1 << 48, 1), CU_MEMORY_ALLOCATION);
}

/* Memory up to the end of the program's last page. */
void registered(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned value = 0;
    void *q;
    EXPECT(cudaHostAlloc(&q, (size_t)1 << 45, 0),
           CU_MEMORY_ALLOCATION); /* more than the host has */
    EXPECT(munmap(p + page, page), 0);
    EXPECT(cudaHostRegister(p, page, 0), 0);
    store(p + page - 4, 9);
    memcpy(&value, p + page - 4, sizeof value);
    EXPECT(value, 9);
    EXPECT(cudaHostUnregister(p), 0);
    EXPECT(cudaHostUnregister(p), CU_NOT_REGISTERED);
}

/* ---------------------------------------------------------------- arrays of the driver */

int cuArrayCreate_v2(void **out, const void *params);
int cuArrayGetDescriptor_v2(void *out, void *a);
int cuArrayDestroy(void *a);
int cuTexObjectCreate(unsigned long long *out, const void *resource, const void *texture,
                      const void *view);
int cuMemcpy2D_v2(const void *params);
int cuModuleLoadData(void **out, const void *image);
int cuModuleGetFunction(void **out, void *m, const char *name);
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **params, void **extra);

int cudaMemcpy2DToArray(void *to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                        size_t height, int kind);

static const char fetch_text[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".visible .entry fetch(.param .u64 to, .param .u64 t, .param .f32 x, .param .f32 y)\n"
    "{ .reg .f32 f<7>; .reg .b64 d<3>; ld.param.u64 d1, [to]; ld.param.u64 d2, [t];\n"
    "  ld.param.f32 f5, [x]; ld.param.f32 f6, [y];\n"
    "  tex.2d.v4.f32.f32 {f1, f2, f3, f4}, [d2, {f5, f6}]; st.f32 [d1], f1; ret; }\n";

/* CUDA_ARRAY_DESCRIPTOR, CUDA_RESOURCE_DESC, CUDA_TEXTURE_DESC and CUDA_MEMCPY2D */
typedef struct array_desc {
    size_t width, height;
    int format;
    unsigned channels;
} array_desc;

typedef struct resource_desc {
    int type;
    union {
        void *array;
        int reserved[32];
    } u;
    unsigned flags;
} resource_desc;

typedef struct texture_desc {
    int address[3], filter;
    unsigned flags, more[20];
} texture_desc;

typedef struct copy_2d {
    size_t from_x, from_y;
    unsigned from_type;
    const void *from_host;
    uint64_t from_device;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    unsigned to_type;
    void *to_host;
    uint64_t to_device;
    void *to_array;
    size_t to_pitch, width, height;
} copy_2d;

enum { FORMAT_U8 = 1, FORMAT_F32 = 0x20 };
enum { CLAMP = 1, BORDER = 3 };               /* addressing */
enum { POINT, LINEAR };                       /* filter */
enum { READ_AS_INTEGER = 1, NORMALISED = 2 }; /* flags */
enum { BORDER_COLOUR = 5 };                   /* index in `more` */

/* An array, and a kernel that fetches one value of a texture. */
typedef struct fetcher {
    void *array, *kernel, *result;
} fetcher;

static fetcher open_fetcher(const array_desc *desc)
{
    fetcher f;
    void *m;
    app_driver();
    EXPECT(cuArrayCreate_v2(&f.array, desc), 0);
    EXPECT(cuModuleLoadData(&m, fetch_text), 0);
    EXPECT(cuModuleGetFunction(&f.kernel, m, "fetch"), 0);
    EXPECT(cudaMalloc(&f.result, 4), 0);
    return f;
}

static unsigned long long texture_of(const fetcher *f, const texture_desc *texture)
{
    const resource_desc resource = {.u.array = f->array};
    unsigned long long t;
    EXPECT(cuTexObjectCreate(&t, &resource, texture, NULL), 0);
    return t;
}

/* Copies the first component of the texel at (x, y) to *out. */
static void fetch(const fetcher *f, unsigned long long texture, float x, float y, void *out)
{
    void *args[] = {(void *)(uintptr_t)&f->result, &texture, &x, &y};
    EXPECT(cuLaunchKernel(f->kernel, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
    EXPECT(cudaMemcpy(out, f->result, 4, COPY_D2H), 0);
}

/* Bytes in an array, read as numbers from 0 to 1 at texel (x, 1). */
void driver_array(void)
{
    const array_desc desc = {4, 2, FORMAT_U8, 1};
    const unsigned char texel[2][4] = {{0, 0, 0, 0}, {0, 51, 102, 255}};
    const fetcher f = open_fetcher(&desc);
    texture_desc texture = {{CLAMP, CLAMP, CLAMP}, POINT, 0, {0}};
    array_desc back;
    copy_2d copy = {.from_type = 1,
                    .from_host = texel,
                    .from_pitch = 4,
                    .to_type = 3,
                    .to_array = f.array,
                    .width = 4,
                    .height = 2};
    EXPECT(cuArrayGetDescriptor_v2(&back, f.array), 0);
    EXPECT(back.width == 4 && back.height == 2 && back.format == FORMAT_U8 && back.channels == 1,
           1);
    EXPECT(cuMemcpy2D_v2(&copy), 0);
    copy.from_x = 1; /* the last column would be in the next row */
    EXPECT(cuMemcpy2D_v2(&copy), CU_INVALID_VALUE);
    const unsigned long long t = texture_of(&f, &texture);
    for (int k = 0; k < 4; k++) {
        float value = -1;
        fetch(&f, t, (float)k + 0.5f, 1.5f, &value);
        EXPECT(value * 255 + 0.5f, texel[1][k]);
    }
    /* The driver filters integers that stay integers: half of 102 + 255, rounded. */
    int mixed = 0;
    texture.filter = LINEAR;
    texture.flags = READ_AS_INTEGER;
    fetch(&f, texture_of(&f, &texture), 3, 1.5f, &mixed);
    EXPECT(mixed, 179);
    /* The border of such a texture has 8 bits. */
    const float half = 0.5f;
    float border = -1;
    texture = (texture_desc){{BORDER, BORDER, CLAMP}, POINT, 0, {0}};
    memcpy(&texture.more[BORDER_COLOUR], &half, sizeof half);
    fetch(&f, texture_of(&f, &texture), 99, 1.5f, &border);
    EXPECT(border * 255 + 0.25f, 127);
    EXPECT(cuArrayDestroy(f.array), 0);
}

/* ---------------------------------------------------------------- texture references */

int cuModuleGetTexRef(void **out, void *m, const char *name);
int cuModuleGetSurfRef(void **out, void *m, const char *name);
int cuModuleUnload(void *m);
int cuTexRefCreate(void **out);
int cuTexRefDestroy(void *t);
int cuTexRefSetArray(void *t, void *a, unsigned flags);
int cuTexRefSetAddress_v2(size_t *offset, void *t, uint64_t address, size_t bytes);
int cuTexRefSetAddress2D_v3(void *t, const void *desc, uint64_t address, size_t pitch);
int cuTexRefSetFormat(void *t, int format, int channels);
int cuTexRefSetAddressMode(void *t, int dim, int mode);
int cuTexRefSetFilterMode(void *t, int mode);
int cuTexRefSetMipmapFilterMode(void *t, int mode);
int cuTexRefSetMaxAnisotropy(void *t, unsigned ratio);
int cuTexRefSetFlags(void *t, unsigned flags);
int cuTexRefGetAddress_v2(uint64_t *address, void *t);
int cuTexRefGetArray(void **out, void *t);
int cuTexRefGetMipmappedArray(void **out, void *t);
int cuTexRefGetFormat(int *format, int *channels, void *t);
int cuTexRefGetAddressMode(int *mode, void *t, int dim);
int cuTexRefGetMaxAnisotropy(int *ratio, void *t);
int cuTexRefGetFlags(unsigned *flags, void *t);
int cuParamSetTexRef(void *f, int unit, void *t);
int cuSurfRefSetArray(void *s, void *a, unsigned flags);
int cuSurfRefGetArray(void **out, void *s);
int cuArray3DCreate_v2(void **out, const void *params);
int cuMemcpyHtoA_v2(void *a, size_t offset, const void *from, size_t bytes);

static const char reference_text[] =
    ".version 8.0\n.target sm_90, texmode_unified\n.address_size 64\n"
    ".global .texref tx;\n.global .texref t2;\n.global .surfref sf;\n"
    ".visible .entry fetch(.param .u64 to, .param .f32 x, .param .f32 y)\n"
    "{ .reg .f32 f<6>; .reg .b64 d<2>; ld.param.u64 d1, [to]; ld.param.f32 f5, [x];\n"
    "  tex.1d.v4.f32.f32 {f1, f2, f3, f4}, [tx, {f5}]; st.f32 [d1], f1; ret; }\n"
    ".visible .entry fetch2(.param .u64 to, .param .f32 x, .param .f32 y)\n"
    "{ .reg .f32 f<7>; .reg .b64 d<2>; ld.param.u64 d1, [to]; ld.param.f32 f5, [x];\n"
    "  ld.param.f32 f6, [y];\n"
    "  tex.2d.v4.f32.f32 {f1, f2, f3, f4}, [t2, {f5, f6}]; st.f32 [d1], f1; ret; }\n"
    ".visible .entry load(.param .u64 to, .param .f32 x, .param .f32 y)\n"
    "{ .reg .b32 r<3>; .reg .f32 f<2>; .reg .b64 d<2>; ld.param.u64 d1, [to];\n"
    "  ld.param.f32 f1, [x]; cvt.rzi.s32.f32 r1, f1;\n"
    "  suld.b.1d.b32.trap {r2}, [sf, {r1}]; st.b32 [d1], r2; ret; }\n";

/* Returns what a kernel of the module reads at (x, y). */
static float read_at(void *m, const char *kernel, float x, float y)
{
    static void *result;
    float value = -1;
    void *f;
    if (!result) EXPECT(cudaMalloc(&result, 4), 0);
    void *args[] = {&result, &x, &y};
    EXPECT(cuModuleGetFunction(&f, m, kernel), 0);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
    EXPECT(cudaMemcpy(&value, result, 4, COPY_D2H), 0);
    return value;
}

/* Compares what is read at eight coordinates, in units of 1/64. */
static void expect_row(void *m, const float expected[8])
{
    static const float x[8] = {0, 0.5f, 1, 1.25f, 2, 3.9f, 4.5f, -3};
    for (int k = 0; k < 8; k++) EXPECT(read_at(m, "fetch", x[k], 0) * 64, expected[k] * 64);
}

/* Values and errors as recorded on an H100 (driver 580). */
static void reference_to_array(void *m, void *t)
{
    const array_desc desc = {4, 0, FORMAT_F32, 1};
    const float texel[4] = {10, 20, 30, 40};
    void *a, *b;
    unsigned flags;
    int format, channels, mode;
    enum { WRAP = 0, OVERRIDE = 1 };
    EXPECT(cuTexRefGetArray(&b, t), CU_INVALID_VALUE);
    EXPECT(cuTexRefGetMipmappedArray(&b, t), CU_INVALID_VALUE);
    EXPECT(cuTexRefGetFormat(&format, &channels, t), 0);
    EXPECT(format == FORMAT_F32 && channels == 1, true);
    EXPECT(cuTexRefGetAddressMode(&mode, t, 2), 0);
    EXPECT(mode, CLAMP);
    EXPECT(cuArrayCreate_v2(&a, &desc), 0);
    EXPECT(cuMemcpyHtoA_v2(a, 0, texel, sizeof texel), 0);
    EXPECT(cuTexRefSetArray(t, a, 2), CU_INVALID_VALUE);
    EXPECT(cuTexRefSetArray(t, NULL, OVERRIDE), CU_INVALID_HANDLE);
    EXPECT(cuTexRefSetArray(t, a, OVERRIDE), 0);
    EXPECT(cuTexRefGetArray(&b, t), 0);
    EXPECT(a == b, true);
    expect_row(m, (const float[]){10, 10, 20, 20, 30, 40, 40, 10});
    EXPECT(cuTexRefSetFilterMode(t, LINEAR), 0);
    expect_row(m, (const float[]){10, 10, 15, 17.5f, 25, 40, 40, 10});
    EXPECT(cuTexRefSetAddressMode(t, 0, BORDER), 0);
    expect_row(m, (const float[]){5, 10, 15, 17.5f, 25, 24.0625f, 0, 0});
    EXPECT(cuTexRefSetAddressMode(t, 0, WRAP), 0);
    EXPECT(cuTexRefSetFlags(t, NORMALISED), 0);
    EXPECT(cuTexRefSetFilterMode(t, POINT), 0);
    expect_row(m, (const float[]){10, 30, 10, 20, 10, 40, 30, 10});
    EXPECT(cuTexRefSetFlags(t, 0x100), CU_INVALID_VALUE);
    EXPECT(cuTexRefGetFlags(&flags, t), 0);
    EXPECT(flags, NORMALISED);
    EXPECT(cuTexRefSetFlags(t, 0), 0);
}

static void reference_to_memory(void *m, void *t, void *t2)
{
    const float texel[8] = {15, 25, 35, 45, 55, 65, 75, 85};
    const array_desc desc = {2, 2, FORMAT_F32, 1};
    size_t offset = 99;
    uint64_t at;
    void *p;
    EXPECT(cudaMalloc(&p, 256), 0);
    EXPECT(cudaMemcpy(p, texel, sizeof texel, COPY_H2D), 0);
    const uint64_t address = (uintptr_t)p;
    EXPECT(cuTexRefSetAddress_v2(&offset, t, address, 16), 0);
    EXPECT(offset, 0);
    EXPECT(cuTexRefGetAddress_v2(&at, t), 0);
    EXPECT(at == address, true);
    EXPECT(read_at(m, "fetch", 2, 0), 35);
    EXPECT(cuTexRefSetAddress_v2(&offset, t, address + 16, 16), 0);
    EXPECT(offset, 16);
    EXPECT(read_at(m, "fetch", 5, 0), 65);
    EXPECT(cuTexRefSetAddress_v2(&offset, t, 0, 16), 0); /* removes the assignment */
    EXPECT(offset, 0);
    EXPECT(cuTexRefGetAddress_v2(&at, t), 0);
    EXPECT(at == 0, true);
    EXPECT(cuTexRefSetAddress2D_v3(t2, &desc, address, 20), CU_INVALID_VALUE);
    EXPECT(cuTexRefSetAddress2D_v3(t2, &desc, address, 32), 0);
    EXPECT(read_at(m, "fetch2", 1.5f, 0.5f), 25);
}

static void own_references(void *m)
{
    void *t, *f, *b;
    uint64_t at;
    int number;
    EXPECT(cuTexRefCreate(&t), 0);
    EXPECT(cuTexRefGetAddress_v2(&at, t), CU_INVALID_VALUE);
    EXPECT(cuTexRefGetArray(&b, t), CU_INVALID_VALUE);
    EXPECT(cuTexRefSetAddressMode(t, 3, BORDER), CU_INVALID_VALUE);
    EXPECT(cuTexRefSetAddressMode(t, -1, BORDER), CU_INVALID_VALUE);
    EXPECT(cuTexRefSetAddressMode(t, 0, 9), 0); /* CU_TR_ADDRESS_MODE_CLAMP */
    EXPECT(cuTexRefGetAddressMode(&number, t, 0), 0);
    EXPECT(number, 1);
    EXPECT(cuTexRefSetMipmapFilterMode(t, 5), CU_INVALID_VALUE);
    EXPECT(cuTexRefSetFlags(t, 0xc), 0);
    EXPECT(cuTexRefSetFlags(t, 0x40), CU_INVALID_VALUE);
    EXPECT(cuTexRefSetFilterMode(t, 7), 0);
    EXPECT(cuTexRefSetMaxAnisotropy(t, 40), 0);
    EXPECT(cuTexRefGetMaxAnisotropy(&number, t), 0);
    EXPECT(number, 40);
    EXPECT(cuTexRefSetFormat(t, 5, 1), 0);
    EXPECT(cuTexRefSetFormat(t, FORMAT_F32, 3), CU_INVALID_VALUE);
    EXPECT(cuTexRefDestroy(t), 0);
    EXPECT(cuTexRefGetMaxAnisotropy(&number, t), CU_INVALID_HANDLE);
    EXPECT(cuTexRefSetArray(NULL, NULL, 1), CU_INVALID_HANDLE);
    EXPECT(cuTexRefSetFlags(NULL, 0), CU_INVALID_HANDLE);
    EXPECT(cuTexRefGetArray(&b, NULL), CU_INVALID_HANDLE);
    EXPECT(cuTexRefGetAddress_v2(&at, NULL), CU_INVALID_HANDLE);
    EXPECT(cuTexRefDestroy(NULL), CU_INVALID_HANDLE);
    EXPECT(cuModuleGetTexRef(&t, m, "tx"), 0);
    EXPECT(cuModuleGetFunction(&f, m, "fetch"), 0);
    EXPECT(cuParamSetTexRef(f, -1, t), 0);
    EXPECT(cuParamSetTexRef(f, -1, NULL), CU_INVALID_HANDLE);
    EXPECT(cuTexRefDestroy(t), 0);
}

static void surface_references(void *m)
{
    /* CUDA_ARRAY3D_DESCRIPTOR */
    struct {
        size_t width, height, depth;
        int format;
        unsigned channels, flags;
    } desc = {8, 0, 0, FORMAT_F32, 1, 2};
    const float texel[8] = {0, 11, 22, 33};
    void *s, *a, *b, *plain;
    EXPECT(cuModuleGetSurfRef(&s, m, "sf"), 0);
    EXPECT(cuSurfRefGetArray(&b, s), CU_INVALID_VALUE);
    EXPECT(cuArray3DCreate_v2(&a, &desc), 0);
    desc.flags = 0;
    EXPECT(cuArray3DCreate_v2(&plain, &desc), 0);
    EXPECT(cuMemcpyHtoA_v2(a, 0, texel, sizeof texel), 0);
    EXPECT(cuSurfRefSetArray(s, NULL, 0), CU_INVALID_HANDLE);
    EXPECT(cuSurfRefSetArray(s, a, 1), CU_INVALID_VALUE);
    EXPECT(cuSurfRefSetArray(s, plain, 0), CU_INVALID_VALUE);
    EXPECT(cuSurfRefSetArray(s, a, 0), 0);
    EXPECT(cuSurfRefGetArray(&b, s), 0);
    EXPECT(a == b, true);
    EXPECT(read_at(m, "load", 8, 0), 22);
}

void texture_references(void)
{
    void *m, *t, *t2, *s;
    app_driver();
    EXPECT(cuModuleLoadData(&m, reference_text), 0);
    EXPECT(cuModuleGetTexRef(&t, m, "tx"), 0);
    EXPECT(cuModuleGetTexRef(&t2, m, "tx"), 0);
    EXPECT(t == t2, true);
    EXPECT(cuModuleGetTexRef(&t2, m, "t2"), 0);
    EXPECT(cuModuleGetTexRef(&s, m, "none"), CU_NOT_FOUND);
    EXPECT(cuModuleGetTexRef(&s, m, "sf"), CU_NOT_FOUND);
    EXPECT(cuModuleGetSurfRef(&s, m, "tx"), CU_NOT_FOUND);
    reference_to_array(m, t);
    reference_to_memory(m, t, t2);
    own_references(m);
    surface_references(m);
    EXPECT(cuModuleUnload(m), 0);
}

/* A kernel reads a reference to which the program has assigned nothing. */
void unbound_reference(void)
{
    float x = 0;
    void *m, *f, *p, *args[] = {&p, &x, &x};
    app_driver();
    EXPECT(cudaMalloc(&p, 4), 0);
    EXPECT(cuModuleLoadData(&m, reference_text), 0);
    EXPECT(cuModuleGetFunction(&f, m, "fetch"), 0);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
    EXPECT(cudaDeviceSynchronize(), 700);
}

/* A texture of more texels than its memory has: those of the memory can be read. Returns what is
 * read behind them, or the error. */
static int read_past_end(float *value)
{
    const float three = 3;
    void *m, *t, *p, *f;
    size_t offset;
    float x = 2;
    app_driver();
    EXPECT(cudaMalloc(&p, 4), 0);
    EXPECT(cudaMemcpy(p, &three, 4, COPY_H2D), 0);
    EXPECT(cuModuleLoadData(&m, reference_text), 0);
    EXPECT(cuModuleGetTexRef(&t, m, "tx"), 0);
    EXPECT(cuTexRefSetAddress_v2(&offset, t, (uintptr_t)p, 16), 0);
    EXPECT(read_at(m, "fetch", 0, 0), 3);
    void *args[] = {&p, &x, &x};
    EXPECT(cuModuleGetFunction(&f, m, "fetch"), 0);
    EXPECT(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL), 0);
    return cudaMemcpy(value, p, 4, COPY_D2H);
}

void texture_past_end(void)
{
    float value;
    EXPECT(read_past_end(&value), 700);
}

void texture_past_end_in_page(void)
{
    float value = -1;
    EXPECT(read_past_end(&value), 0);
    EXPECT(value, 0);
}

/* Filtered fetches of a texture of 640x480, as recorded on an H100. Normalised coordinates have 21
 * bits of fraction: with more bits, other weights result. */
void normalised_coordinates(void)
{
    static const struct {
        uint32_t x, y; /* bits of the coordinates */
        unsigned column, row;
        uint32_t texel[4], result; /* bits; from (column, row) to (column + 1, row + 1) */
    } fetched[] = {
        {0x3f3ef43c,
         0x3f5eec8c,
         476,
         417,
         {0xbcf37c00, 0xbf50b010, 0x3f7194e6, 0x3f46ecd2},
         0x3ba2d83f},
        {0x3defc4e0,
         0x3c988400,
         74,
         8,
         {0x3f1c6272, 0x3f29d13a, 0xbea51ef0, 0x3e74aa30},
         0x3ea3fdc4},
        {0x3e710580,
         0x3e263670,
         150,
         77,
         {0xbf7de16e, 0xbc5ee300, 0x3efd25c8, 0x3f283422},
         0xbe960917},
        {0x3f240230,
         0x3f6d3624,
         409,
         444,
         {0x3f7773e0, 0x3f5b643a, 0xbf68d32c, 0x3f5c522c},
         0x3f2b180c},
        {0x3ef49938,
         0x3f0d5214,
         305,
         264,
         {0xbefa1cd4, 0x3f278532, 0x3f6e1f4e, 0xbe64cdd8},
         0x3e4c82cf},
    };
    const array_desc desc = {640, 480, FORMAT_F32, 1};
    const texture_desc texture = {{CLAMP, CLAMP, CLAMP}, LINEAR, NORMALISED, {0}};
    const fetcher f = open_fetcher(&desc);
    const unsigned long long t = texture_of(&f, &texture);
    for (size_t k = 0; k < sizeof fetched / sizeof *fetched; k++) {
        const size_t pitch = 2 * sizeof(float);
        uint32_t result = 0;
        float x, y;
        memcpy(&x, &fetched[k].x, sizeof x);
        memcpy(&y, &fetched[k].y, sizeof y);
        EXPECT(cudaMemcpy2DToArray(f.array, fetched[k].column * sizeof(float), fetched[k].row,
                                   fetched[k].texel, pitch, pitch, 2, COPY_H2D),
               0);
        fetch(&f, t, x, y, &result);
        EXPECT(result, fetched[k].result);
    }
    EXPECT(cuArrayDestroy(f.array), 0);
}

/* ---------------------------------------------------------------- properties of older versions */

typedef int properties_call(void *p, int device);

static properties_call *call_of(const char *name, const char *version)
{
    union {
        void *address;
        properties_call *call;
    } found = {.address = dlvsym(RTLD_DEFAULT, name, version)};
    EXPECT(found.address != NULL, 1);
    return found.call;
}

static int at(const char *p, size_t offset)
{
    int value;
    memcpy(&value, p + offset, sizeof value);
    return value;
}

/* The properties requested by programs of CUDA 11 and 12: their offsets, and their ends. */
void old_properties(void)
{
    enum { BYTES_11 = 728, BYTES_12 = 1032, CLOCK = 348, MAJOR = 360, SMS = 388 };
    char p[1100];
    cuda_prop_13 now;
    EXPECT(cudaGetDeviceProperties(&now, 0), 0);
    for (int k = 0; k < 2; k++) {
        const size_t bytes = k ? BYTES_12 : BYTES_11;
        memset(p, 0x5a, sizeof p);
        EXPECT(k ? call_of("cudaGetDeviceProperties_v2", "libcudart.so.12")(p, 0)
                 : call_of("cudaGetDeviceProperties", "libcudart.so.11.0")(p, 0),
               0);
        EXPECT(strcmp(p, now.name), 0);
        EXPECT(at(p, CLOCK) > 1000, 1);
        EXPECT(at(p, MAJOR), now.major);
        EXPECT(at(p, SMS), now.sms);
        for (size_t b = bytes; b < sizeof p; b++) EXPECT(p[b], 0x5a);
    }
}
