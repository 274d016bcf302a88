/* record.c - runs the kernels of generate.py on a GPU and prints a row for each: module, kernel, digest.
 *
 *     record NAME CUBIN        NAME.ptx's kernels k0, k1, ... out of what ptxas made of it
 *
 * A kernel that takes four seconds or fails gets "-" (ptxas -O3 loses threads at warp-wide instructions of a few of them).
 * Not part of the build: needs CUDA's driver. cc -I. tests/data/programs/record.c -lcuda */
#include "tests/cuda.h"
#include "tests/programs.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FINISHED = 7, TIME_LIMIT = 4 };

/* In a process of its own, since a kernel that fails takes the context with it: kernels from `k` on, a line each. */
static void run_from(const char *module, const char *cubin, int k)
{
    static uint32_t in[PROGRAMS_IN / 4];
    static uint64_t out[PROGRAMS_OUT / 8];
    CUdevice device;
    CUcontext context;
    CUmodule m;
    CUdeviceptr din, dout;
    need(cuInit(0), "init");
    need(cuDeviceGet(&device, 0), "device");
    need(cuDevicePrimaryCtxRetain(&context, device), "context");
    need(cuCtxSetCurrent(context), "context");
    need(cuMemAlloc(&din, sizeof in), "memory");
    need(cuMemAlloc(&dout, sizeof out), "memory");
    programs_input(in);
    need(cuMemcpyHtoD(din, in, sizeof in), "copy");
    need(cuModuleLoad(&m, cubin), cubin);
    for (;; k++) {
        char name[16];
        CUfunction f;
        snprintf(name, sizeof name, "k%d", k);
        if (cuModuleGetFunction(&f, m, name) != CUDA_SUCCESS) exit(FINISHED);
        alarm(TIME_LIMIT);
        need(cuMemsetD8(dout, 0, sizeof out), "clear");
        void *params[] = {&din, &dout};
        need(cuLaunchKernel(f, PROGRAMS_BLOCKS, 1, 1, PROGRAMS_THREADS, 1, 1, 0, NULL, params, NULL), name);
        need(cuMemcpyDtoH(out, dout, sizeof out), name);
        printf("%s\t%d\t%016llx\n", module, k, (unsigned long long)programs_digest(out));
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    int k = 0, link[2], status;
    if (argc != 3) return 2;
    do {
        if (pipe(link)) return 1;
        fflush(stdout); /* or the child writes it again */
        pid_t child = fork();
        if (child == 0) {
            dup2(link[1], 1);
            run_from(argv[1], argv[2], k);
        }
        close(link[1]);
        FILE *lines = fdopen(link[0], "r");
        for (char line[256]; fgets(line, sizeof line, lines); k++) fputs(line, stdout);
        fclose(lines);
        waitpid(child, &status, 0);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != FINISHED) printf("%s\t%d\t-\n", argv[1], k++);
    } while (!WIFEXITED(status) || WEXITSTATUS(status) != FINISHED);
    return 0;
}
