/* record.cu - runs the kernels of table.ptx on a GPU and prints a line for each: name, verdict, progress and values.
 *
 *     record table.tsv CUBIN >recorded.tsv
 *
 * A verdict is `ok`, `hang` (not done after SECONDS) or CUDA's name of the error. Then: for each block how far its threads came, and the values
 * that they stored, both as runs "count*number". A line whose last field is `varies` had another result in one of RUNS runs. Each kernel has
 * a process of its own, since one that hangs or fails takes the context with it; `out` lies in host memory, where it can be read all the same.
 * Not part of the build: nvcc -arch=sm_90 record.cu -lcuda */
#include <cuda.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WORDS = 2048, HALF = 1024, BLOCK = 256, RUNS = 5 };
#define SECONDS 0.7

static void need(CUresult r, const char *what)
{
    const char *name = "?";
    if (r == CUDA_SUCCESS) return;
    cuGetErrorName(r, &name);
    printf("%s: %s\n", what, name);
    fflush(stdout);
    _exit(1);
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static size_t runs(char *text, size_t n, const unsigned *word, int count)
{
    for (int k = 0, from = 0; k < count; k = from) {
        while (from < count && word[from] == word[k]) from++;
        n += (size_t)sprintf(text + n, "%s%d*%u", k ? " " : "", from - k, word[k]);
    }
    return n;
}

/* One launch; what it left, as a line without its name. */
static void launch(CUfunction f, int grid, int block, int cluster, unsigned *out, CUdeviceptr g, char *text)
{
    CUdeviceptr dout;
    const char *verdict = "hang";
    need(cuMemHostGetDevicePointer(&dout, out, 0), "mapped memory");
    need(cuMemsetD8(g, 0, 256), "clear");
    need(cuCtxSynchronize(), "clear");
    memset(out, 0, WORDS * sizeof *out);
    void *params[] = {&dout, &g};
    CUlaunchAttribute a;
    memset(&a, 0, sizeof a);
    a.id = CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION;
    a.value.clusterDim.x = (unsigned)cluster;
    a.value.clusterDim.y = a.value.clusterDim.z = 1;
    CUlaunchConfig c;
    memset(&c, 0, sizeof c);
    c.gridDimX = (unsigned)grid;
    c.blockDimX = (unsigned)block;
    c.gridDimY = c.gridDimZ = c.blockDimY = c.blockDimZ = 1;
    c.attrs = &a;
    c.numAttrs = cluster > 0;
    CUresult r = cuLaunchKernelEx(&c, f, params, NULL);
    const double end = now() + SECONDS;
    if (r == CUDA_SUCCESS)
        for (r = CUDA_ERROR_NOT_READY; r == CUDA_ERROR_NOT_READY && now() < end;) r = cuStreamQuery(0);
    if (r == CUDA_SUCCESS) verdict = "ok";
    else if (r != CUDA_ERROR_NOT_READY) cuGetErrorName(r, &verdict);
    size_t n = (size_t)sprintf(text, "%s", verdict);
    for (int part = 0; part < 2; part++)
        for (int b = 0; b < grid; b++) {
            n += (size_t)sprintf(text + n, "%s", b ? "; " : "\t");
            n = runs(text, n, out + part * HALF + b * BLOCK, block);
        }
}

static void run(const char *name, const char *cubin, int grid, int block, int cluster)
{
    static char first[1 << 16], again[1 << 16];
    CUdevice device;
    CUcontext context;
    CUmodule m;
    CUfunction f;
    CUdeviceptr g;
    unsigned *out;
    bool varies = false;
    need(cuInit(0), "init");
    need(cuDeviceGet(&device, 0), "device");
    need(cuDevicePrimaryCtxRetain(&context, device), "context");
    need(cuCtxSetCurrent(context), "context");
    need(cuModuleLoad(&m, cubin), cubin);
    need(cuModuleGetFunction(&f, m, name), name);
    need(cuMemAlloc(&g, 256), "memory");
    need(cuMemHostAlloc((void **)&out, WORDS * sizeof *out, CU_MEMHOSTALLOC_DEVICEMAP), "host memory");
    launch(f, grid, block, cluster, out, g, first);
    for (int k = 1; k < RUNS && !strncmp(first, "ok", 2) && !varies; k++) {
        launch(f, grid, block, cluster, out, g, again);
        varies = strcmp(first, again) != 0;
    }
    printf("%s\t%s\t%s\n", name, first, varies ? "varies" : "-");
    if (varies) printf("# then %s\n", again);
    fflush(stdout);
    _exit(0);
}

int main(int argc, char **argv)
{
    char line[1024], name[256];
    if (argc != 3) return 2;
    FILE *table = fopen(argv[1], "r");
    if (!table) return 1;
    printf("# name, verdict, how far each thread came, what it stored, whether that varies; blocks are separated by ;\n");
    while (fgets(line, sizeof line, table)) {
        int grid, block, cluster, status, waited = 0;
        if (sscanf(line, "%255s %d %d %d", name, &grid, &block, &cluster) != 4) continue;
        fflush(stdout);
        pid_t child = fork();
        if (child == 0) run(name, argv[2], grid, block, cluster);
        while (waitpid(child, &status, WNOHANG) == 0 && waited++ < 1500) usleep(10000);
        if (waited >= 1500) {
            kill(child, 9);
            waitpid(child, &status, 0);
            printf("%s\tlost\n", name);
        }
    }
    return 0;
}
