/* managed.cu - what managed memory and priorities of streams cost, as a program sees it (tests/data/micro/managed.tsv).
 * Each line: what, bytes or count, then microseconds: the median, the least, the largest of the repetitions. Every part is a
 * process of its own with a time limit; with an argument: that part alone. */
#include "rows.h"
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <csignal>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

static double now_us() { return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now().time_since_epoch()).count(); }
__device__ unsigned long long ns() { unsigned long long t; asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)); return t; }
// One block works so long; the first start and the last end of all blocks.
__global__ void work(unsigned long long for_ns, unsigned long long *from, unsigned long long *to) {
    extern __shared__ char room[];
    unsigned long long t = ns();
    if (threadIdx.x == 0) atomicMin(from, t);
    while (ns() - t < for_ns) { }
    if (threadIdx.x == 0) atomicMax(to, ns());
}
__global__ void timed(const uint4 *p, size_t n, unsigned *sink, unsigned long long *from, unsigned long long *to) {
    unsigned sum = 0;
    if (threadIdx.x == 0) atomicMin(from, ns());
    for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) { uint4 v = p[i]; sum += v.x ^ v.y ^ v.z ^ v.w; }
    if (sum == 0x12345) *sink = sum;
    __syncthreads();
    if (threadIdx.x == 0) atomicMax(to, ns());
}
template <class F> static double host(F f) { double t = now_us(); f(); return now_us() - t; }
static void touch(char *p, size_t bytes, int value) { memset(p, value, bytes); }
static unsigned long long look(const char *p, size_t bytes, size_t step) { unsigned long long s = 0; for (size_t i = 0; i < bytes; i += step) s += *(volatile const unsigned char *)(p + i); return s; }

static void sizes_of(size_t n) {
    cudaMemLocation dev = {}, cpu = {}; dev.type = cudaMemLocationTypeDevice; dev.id = 0; cpu.type = cudaMemLocationTypeHost;
    std::vector<double> hf, ha, rf, ra, ba, bp, bg, wf, wn, pt, ptc, pb, pbc, rp, sf, mf, ma, mh, yf, ya, of, oa, pn, ct, cc, cf, ca, st, in[2], fb, ab, cm, fr;
    char *other; unsigned long long *when;
    OK(cudaMalloc(&other, n)); OK(cudaMalloc(&when, 16));
    for (int k = 0; k < (n > (32u << 20) ? 3 : n > (2u << 20) ? 5 : 7); k++) {
        char *p;
        auto make = [&] { OK(cudaMallocManaged(&p, n)); };
        auto reads = [&] { read16<<<GRID, BLOCK>>>((const uint4 *)p, n / 16, sink); };
        make();
        hf.push_back(host([&] { touch(p, n, 1); }));
        ha.push_back(host([&] { touch(p, n, 2); }));
        rf.push_back(events(reads));
        ra.push_back(events(reads));
        bp.push_back(host([&] { look(p, n, 4096); }));
        bg.push_back(host([&] { look(p, n, 4096); }));
        OK(cudaMemPrefetchAsync(p, n, dev, 0, 0)); OK(cudaDeviceSynchronize());
        ba.push_back(host([&] { touch(p, n, 3); }));
        wf.push_back(events([&] { write16<<<GRID, BLOCK>>>((uint4 *)p, n / 16); }));
        touch(p, n, 4);
        pt.push_back(events([&] { ptc.push_back(host([&] { OK(cudaMemPrefetchAsync(p, n, dev, 0, 0)); })); }));
        rp.push_back(events(reads));
        pb.push_back(events([&] { pbc.push_back(host([&] { OK(cudaMemPrefetchAsync(p, n, cpu, 0, 0)); })); }));
        touch(p, n, 5);
        sf.push_back(events([&] { strided<<<GRID, BLOCK>>>(p, n, 65536, sink); }));
        OK(cudaFree(p));
        make();
        wn.push_back(events([&] { write16<<<GRID, BLOCK>>>((uint4 *)p, n / 16); }));
        OK(cudaFree(p));
        make();
        pn.push_back(events([&] { OK(cudaMemPrefetchAsync(p, n, dev, 0, 0)); }));
        OK(cudaFree(p));
        make(); touch(p, n, 1);
        ct.push_back(events([&] { cc.push_back(host([&] { OK(cudaMemcpyAsync(other, p, n, cudaMemcpyDefault, 0)); })); }));
        cf.push_back(events([&] { OK(cudaMemcpyAsync(p, other, n, cudaMemcpyDefault, 0)); }));
        st.push_back(events([&] { OK(cudaMemsetAsync(p, 0, n, 0)); }));
        ca.push_back(events([&] { OK(cudaMemcpyAsync(other, p, n, cudaMemcpyDefault, 0)); }));
        OK(cudaFree(p));
        // The same access, timed by the kernel itself.
        make(); touch(p, n, 1);
        for (int w = 0; w < 3; w++) {
            unsigned long long z[2] = {~0ull, 0};
            OK(cudaMemcpy(when, z, sizeof z, cudaMemcpyHostToDevice));
            timed<<<GRID, BLOCK>>>((const uint4 *)p, n / 16, sink, when, when + 1);
            OK(cudaMemcpy(z, when, sizeof z, cudaMemcpyDeviceToHost));
            if (w < 2) in[w].push_back((z[1] - z[0]) * 1e-3);
        }
        OK(cudaFree(p));
        make(); touch(p, n, 1);
        fb.push_back(events([&] { read16<<<1, BLOCK>>>((const uint4 *)p, n / 16, sink); }));
        ab.push_back(events([&] { read16<<<1, BLOCK>>>((const uint4 *)p, n / 16, sink); }));
        OK(cudaFree(p));
        cm.push_back(host(make)); touch(p, n, 1); reads(); OK(cudaDeviceSynchronize());
        fr.push_back(host([&] { OK(cudaFree(p)); }));
        make(); touch(p, n, 1);
        OK(cudaMemAdvise(p, n, cudaMemAdviseSetReadMostly, dev));
        mf.push_back(events(reads));
        ma.push_back(events(reads));
        mh.push_back(host([&] { look(p, n, 4096); }));
        OK(cudaFree(p));
        make(); touch(p, n, 1);
        OK(cudaMemAdvise(p, n, cudaMemAdviseSetAccessedBy, dev));
        yf.push_back(events(reads));
        ya.push_back(events(reads));
        OK(cudaFree(p));
        make(); touch(p, n, 1);
        OK(cudaMemAdvise(p, n, cudaMemAdviseSetPreferredLocation, cpu));
        of.push_back(events(reads));
        oa.push_back(events(reads));
        OK(cudaFree(p));
    }
    row("managed kernel reads what the host wrote, within the kernel", n, in[0]); row("managed kernel reads again, within the kernel", n, in[1]);
    row("managed one block reads what the host wrote", n, fb); row("managed one block reads again", n, ab);
    row("managed copy to the device of what the host wrote", n, ct); row("managed copy to the device, call", n, cc); row("managed copy from the device", n, cf); row("managed set", n, st); row("managed copy to the device again", n, ca);
    row("managed allocation, call", n, cm); row("managed free, call", n, fr);
    row("managed host writes new memory", n, hf); row("managed host writes again", n, ha);
    row("managed kernel reads what the host wrote", n, rf); row("managed kernel reads again", n, ra);
    row("managed host reads each page after the kernel", n, bp); row("managed host reads each page again", n, bg);
    row("managed host writes all after a prefetch to the device", n, ba);
    row("managed kernel writes what the host wrote", n, wf); row("managed kernel writes new memory", n, wn);
    row("managed prefetch to the device", n, pt); row("managed prefetch to the device, call", n, ptc);
    row("managed kernel reads after the prefetch", n, rp);
    row("managed prefetch to the host", n, pb); row("managed prefetch to the host, call", n, pbc);
    row("managed prefetch of new memory to the device", n, pn);
    row("managed kernel reads 4 bytes of each 64 KiB", n, sf);
    row("managed read mostly, kernel reads first", n, mf); row("managed read mostly, kernel reads again", n, ma); row("managed read mostly, host reads after that", n, mh);
    row("managed accessed by, kernel reads first", n, yf); row("managed accessed by, kernel reads again", n, ya);
    row("managed preferred on the host, kernel reads first", n, of); row("managed preferred on the host, kernel reads again", n, oa);
}

static void priorities() {
    unsigned long long *t, *dt, big = ~0ull; int least, most;
    OK(cudaHostAlloc(&t, 64, cudaHostAllocMapped)); OK(cudaMalloc(&dt, 64)); OK(cudaDeviceGetStreamPriorityRange(&least, &most));
    OK(cudaFuncSetAttribute(work, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    cudaStream_t low, same, high;
    OK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least)); OK(cudaStreamCreateWithPriority(&same, cudaStreamNonBlocking, least)); OK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, most));
    // A kernel of 8 waves with one block of 100 us on each SM; 250 us later one of `blocks` blocks of 100 us in the other stream.
    for (int which = 0; which < 2; which++) for (int blocks : {1, 66, 132, 264}) {
        std::vector<double> begins, ends, first_ends;
        for (int k = 0; k < 7; k++) {
            t[0] = t[2] = big; t[1] = t[3] = 0;
            OK(cudaMemcpy(dt, t, 64, cudaMemcpyHostToDevice)); OK(cudaDeviceSynchronize());
            work<<<132 * 8, 32, 200 << 10, low>>>(100000, dt, dt + 1);
            double s = now_us(); while (now_us() - s < 250) { }
            work<<<blocks, 32, 200 << 10, which ? high : same>>>(100000, dt + 2, dt + 3);
            OK(cudaDeviceSynchronize()); OK(cudaMemcpy(t, dt, 64, cudaMemcpyDeviceToHost));
            begins.push_back((t[2] - t[0]) * 1e-3); ends.push_back((t[3] - t[0]) * 1e-3); first_ends.push_back((t[1] - t[0]) * 1e-3);
        }
        row(which ? "priority high, second kernel begins" : "priority same, second kernel begins", blocks, begins);
        row(which ? "priority high, second kernel ends" : "priority same, second kernel ends", blocks, ends);
        row(which ? "priority high, first kernel ends" : "priority same, first kernel ends", blocks, first_ends);
    }
    // 8 kernels of one wave each in the low stream, then one in the other: does it overtake the kernels that have not begun?
    for (int which = 0; which < 2; which++) {
        std::vector<double> begins;
        for (int k = 0; k < 7; k++) {
            t[0] = t[2] = big; t[1] = t[3] = 0;
            OK(cudaMemcpy(dt, t, 64, cudaMemcpyHostToDevice)); OK(cudaDeviceSynchronize());
            for (int i = 0; i < 8; i++) work<<<132, 32, 200 << 10, low>>>(100000, dt, dt + 1);
            work<<<132, 32, 200 << 10, which ? high : same>>>(100000, dt + 2, dt + 3);
            OK(cudaDeviceSynchronize()); OK(cudaMemcpy(t, dt, 64, cudaMemcpyDeviceToHost));
            begins.push_back((t[2] - t[0]) * 1e-3);
        }
        row(which ? "priority high, kernel behind 8 of another stream begins" : "priority same, kernel behind 8 of another stream begins", 8, begins);
    }
}


static void sparse() {
    // All threads at once, 4 bytes of each step; on what the host wrote and on new memory; then all of it.
    for (size_t n : {(size_t)4 << 20, (size_t)64 << 20, (size_t)256 << 20}) for (size_t step : {(size_t)4096, (size_t)65536, (size_t)524288, (size_t)2 << 20}) {
        std::vector<double> v[6]; char name[100];
        for (int k = 0; k < 3; k++) {
            char *p;
            OK(cudaMallocManaged(&p, n)); memset(p, 1, n);
            v[0].push_back(events([&] { strided<<<GRID, BLOCK>>>(p, n, step, sink); }));
            v[1].push_back(events([&] { strided<<<GRID, BLOCK>>>(p, n, step, sink); }));
            v[2].push_back(events([&] { read16<<<GRID, BLOCK>>>((const uint4 *)p, n / 16, sink); }));
            v[3].push_back(host([&] { look(p, n, step); }));
            v[4].push_back(host([&] { look(p, n, 4096); }));
            OK(cudaFree(p));
            OK(cudaMallocManaged(&p, n));
            v[5].push_back(events([&] { strided<<<GRID, BLOCK>>>(p, n, step, sink); }));
            OK(cudaFree(p));
        }
        static const char *const what[] = {"kernel reads what the host wrote", "kernel reads again", "kernel reads all after that", "host reads after that", "host reads each page after that", "kernel reads new memory"};
        for (int w = 0; w < 6; w++) { snprintf(name, sizeof name, "managed sparse one in %zu, %s", step, what[w]); row(name, n, v[w]); }
    }
}
static void run_part(const std::string &part) {
    cudaDeviceProp p;
    OK(cudaGetDeviceProperties(&p, 0)); OK(cudaMalloc(&sink, 4)); OK(cudaEventCreate(&a)); OK(cudaEventCreate(&b));
    printf("# part %s on %s\n", part.c_str(), p.name);
    nop<<<1, 1>>>(); OK(cudaDeviceSynchronize());
    if (part == "sparse") sparse();
    else if (part == "priorities") priorities();
    else sizes_of(strtoull(part.c_str(), nullptr, 10));
    fflush(stdout); _exit(0);
}
static void child(const char *self, const char *part, double limit_us) {
    double t = now_us(); int status = 0;
    fflush(stdout);
    pid_t pid = fork();
    if (!pid) { execl("/proc/self/exe", self, part, (char *)nullptr); _exit(127); }
    for (bool killed = false;;) {
        if (waitpid(pid, &status, WNOHANG) == pid) break;
        if (!killed && now_us() - t > limit_us) { kill(pid, SIGKILL); killed = true; printf("# part %s: beyond its time\n", part); }
        if (killed && now_us() - t > limit_us + 4e6) return;
        usleep(1000);
    }
    if (status) printf("# part %s: status %d\n", part, status);
    printf("# part %s took %.0f ms\n", part, (now_us() - t) * 1e-3); fflush(stdout);
}
int main(int argc, char **argv) {
    if (argc > 1) run_part(argv[1]);
    double t = now_us();
    for (const char *part : {"4096", "65536", "262144", "1048576", "2097152", "4194304", "16777216", "priorities", "67108864", "sparse", "268435456"})
        if (now_us() - t < 95e6) child(argv[0], part, 20e6); else printf("# part %s left out\n", part);
    return 0;
}
