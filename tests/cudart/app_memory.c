/* app_memory.c - tests of memory that programs map themselves, share, or register. */
#define _DEFAULT_SOURCE /* MAP_ANONYMOUS */
#include "tests/cudart/app.h"
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

/* Two pieces of physical memory behind each other; then one of them at both places, also through
 * an exported handle. */
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
    EXPECT(cuMemAddressReserve(&at, 2 * piece, 0, 0, 0), 0);
    for (int k = 0; k < 2; k++) {
        EXPECT(cuMemCreate(&handle[k], piece, &properties, 0), 0);
        EXPECT(cuMemMap(at + (size_t)k * piece, piece, 0, handle[k], 0), 0);
    }
    EXPECT(cuMemMap(at, piece, 0, handle[1], 0), CU_INVALID_VALUE); /* it is taken */
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
    store(d + 8, 0x44444444);
    EXPECT(cudaMemcpy(both, d + piece + 8, 4, COPY_D2H), 0);
    EXPECT(both[0], 0x44444444);
    EXPECT(cuMemAddressFree(at, 2 * piece), CU_INVALID_VALUE);
    EXPECT(cuMemUnmap(at, 2 * piece), 0);
    EXPECT(cuMemAddressFree(at, 2 * piece), 0);
    for (int k = 0; k < 3; k++) EXPECT(cuMemRelease(handle[k]), 0);
    EXPECT(cuMemRelease(handle[0]), CU_INVALID_VALUE);
    close(file);
}

/* The process at the other end: it changes what it is shown. */
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

/* Device memory of two processes; the second one is this program again. */
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
    EXPECT(cudaIpcOpenMemHandle(&d, handle, 1), 201); /* that is for other processes */
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

/* Memory to the end of the last page that the program has. */
void registered(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *p = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    unsigned value = 0;
    EXPECT(munmap(p + page, page), 0);
    EXPECT(cudaHostRegister(p, page, 0), 0);
    store(p + page - 4, 9);
    memcpy(&value, p + page - 4, sizeof value);
    EXPECT(value, 9);
    EXPECT(cudaHostUnregister(p), 0);
    EXPECT(cudaHostUnregister(p), CU_NOT_REGISTERED);
}
