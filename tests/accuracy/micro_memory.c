/* micro_memory.c - the memory microbenchmarks: the recorded kernels, run as by the recording
 * programs.
 *
 * tests/data/micro/{smem,coal_atom,mem_chase,mem_bw,memrate,turn}.ptx.xz are the output of nvcc
 * 13.0 -O3 -arch=sm_90a for the programs beside them. The functions here repeat the host side of
 * those programs: the same arguments, patterns and orders. Fewer iterations are run if a rate is
 * compared and the iterations are identical. If the order that ptxas gave a sequence of loads
 * determines its time, the sequence is written in that order (machine code of ptxas 13.0 -O3 for
 * sm_90a) and run as written. */
#include "tests/accuracy/micro.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Registers after the first of a load of 32, 64 and 128 bits. */
static const char *const words[] = {"", ",y", ",y,z,w"};

typedef struct program {
    micro *m;
    pl_module *module;
} program;

static program open_program(micro *m, const char *name)
{
    char relative[64];
    snprintf(relative, sizeof relative, "micro/%s.ptx.xz", name);
    char *path = data_path(relative);
    size_t n;
    char *text = read_whole(path, &n);
    program p = {.m = m};
    if (pl_module_load(m->gpu, path, text, n, NULL, &p.module) != PL_OK) {
        fprintf(stderr, "%s: %s\n", path,
                pl_gpu_diag_count(m->gpu) ? pl_gpu_diag(m->gpu, 0, false).rendered : "not loaded");
        exit(EXIT_FAILURE);
    }
    free(text);
    free(path);
    return p;
}

static void close_program(program *p)
{
    pl_module_close(p->module);
}

/* Runs a kernel; m->result has the values it stored at m->out. */
static bool launch(const program *p, const char *kernel, unsigned blocks, unsigned threads,
                   unsigned dynamic_shared, const void *params, uint32_t bytes)
{
    micro *m = p->m;
    pl_launch l = {.kernel = kernel,
                   .grid = {blocks, 1, 1},
                   .block = {threads, 1, 1},
                   .dynamic_shared = dynamic_shared,
                   .params = params,
                   .param_bytes = bytes,
                   .mode = PL_MODE_TIMING,
                   .threads = 1};
    pl_result r = {.status = PL_INVALID};
    memset(m->result, 0, sizeof m->result);
    bool ran = pl_copy_to_device(m->gpu, m->out, m->result, sizeof m->result) == PL_OK &&
               pl_launch_kernel(m->gpu, p->module, &l, &r) == PL_OK && r.status == PL_OK &&
               pl_copy_from_device(m->gpu, m->result, m->out, sizeof m->result) == PL_OK;
    if (!ran && m->verbose && pl_gpu_diag_count(m->gpu))
        printf("  %s\n", pl_gpu_diag(m->gpu, 0, false).rendered);
    pl_gpu_diag_clear(m->gpu);
    return ran;
}

static void clear_input(const micro *m, uint64_t bytes)
{
    static const char zero[1 << 16];
    for (uint64_t at = 0; at < bytes; at += sizeof zero)
        pl_copy_to_device(m->gpu, m->in + at, zero, sizeof zero);
}

/* Mean time of the blocks, each of which stored its start and end. */
static double mean_span(const micro *m, unsigned blocks)
{
    double sum = 0;
    for (unsigned b = 0; b < blocks; b++) sum += (double)(m->result[2 * b + 1] - m->result[2 * b]);
    return sum / blocks;
}

/* ---- the latency ladder ---- */

static uint32_t draw(uint64_t *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
    return (uint32_t)(*s >> 32);
}

/* A ring through n lines in random order; only the first `used` of its links are followed. */
static void link_ring(const micro *m, uint32_t *order, uint32_t n, uint32_t used, uint64_t *seed)
{
    for (uint32_t i = 0; i < n; i++) order[i] = i;
    for (uint32_t i = n - 1; i > 0; i--) {
        uint32_t j = draw(seed) % (i + 1), t = order[i];
        order[i] = order[j];
        order[j] = t;
    }
    for (uint32_t i = 0; i < n && i < used; i++) {
        uint64_t to = m->in + (uint64_t)order[i + 1 == n ? 0 : i + 1] * 128;
        pl_copy_to_device(m->gpu, m->in + (uint64_t)order[i] * 128, &to, 8);
    }
}

/* Footprints that fit in the memory of this program. The recorded cg rows above 64 MB access too
 * few lines and are unusable. */
void memory(micro *m)
{
    static const struct {
        const char *policy, *kernel;
    } chase[] = {{"ca", "_Z5chaseILi0EEvPcjjPx"},
                 {"cg", "_Z5chaseILi1EEvPcjjPx"},
                 {"nc", "_Z5chaseILi3EEvPcjjPx"}};
    program p = open_program(m, "mem_chase");
    table t = read_micro("mem_latency");
    uint64_t seed = 88172645463325252u, linked = 0;
    double cycles = -1;
    uint32_t *order = malloc((m->big / 128 + 1) * sizeof *order);
    if (!order) exit(EXIT_FAILURE);
    open_table(m, "memory");
    for (size_t i = 0; i < t.rows; i++) {
        const char *policy = text_at(&t, i, "policy");
        const uint64_t footprint = (uint64_t)number_at(&t, i, "footprint_bytes");
        const bool large = footprint > 64 << 20;
        if (strcmp(text_at(&t, i, "test"), "chase") != 0 || footprint > m->big ||
            (large && strcmp(policy, "ca") != 0))
            continue;
        uint32_t n = (uint32_t)(footprint / 128), warm = large ? 4096 : n + 16,
                 count = large || n > 16384 ? 16384
                         : n < 2048         ? 2048
                                            : n;
        count = (count + 255) / 256 * 256;
        if (linked != footprint) link_ring(m, order, n, warm + count, &seed);
        linked = footprint;
        const struct {
            uint64_t start;
            uint32_t warm, n;
            uint64_t out;
        } params = {m->in + (uint64_t)order[0] * 128, warm, count, m->out};
        for (size_t k = 0; k < sizeof chase / sizeof *chase; k++) {
            if (strcmp(policy, chase[k].policy) != 0) continue;
            /* the L1 has no effect beyond a megabyte: the figure of the preceding row, which is the
             * same chase with .ca */
            if (k == 0 || footprint <= 1 << 20)
                cycles = launch(&p, chase[k].kernel, 1, 1, 0, &params, sizeof params)
                             ? (double)m->result[1] / (double)m->result[2]
                             : -1;
            row(m, number_at(&t, i, "mean_per_load"), cycles, "%s %.0f KiB", policy,
                (double)footprint / 1024);
        }
    }
    close_table(m);
    free(order);
    table_free(&t);
    close_program(&p);
}

/* ---- shared memory ---- */

static bool shared_offsets(const char *pattern, unsigned width, uint32_t *offset)
{
    unsigned k;
    for (unsigned l = 0; l < 32; l++) {
        if (sscanf(pattern, "stride%u", &k) == 1)
            offset[l] = l * k * width % 49152;
        else if (sscanf(pattern, "ways%u", &k) == 1)
            offset[l] = (l % k * 128 + l / k * width) % 49152;
        else if (strcmp(pattern, "rev") == 0)
            offset[l] = (31 - l) * width;
        else if (strcmp(pattern, "halves_same") == 0)
            offset[l] = (l & 15) * width;
        else if (strcmp(pattern, "quarters_same") == 0)
            offset[l] = (l & 7) * width;
        else if (strcmp(pattern, "pairs_same") == 0)
            offset[l] = (l >> 1) * width;
        else if (strcmp(pattern, "quads_same") == 0)
            offset[l] = (l >> 2) * width;
        else if (strcmp(pattern, "half_conf") == 0)
            offset[l] = (l & 15) * width + (l >> 4) * 128 * width;
        else if (strcmp(pattern, "quarter_conf") == 0)
            offset[l] = (l & 7) * width + (l >> 3) * 128 * width;
        else if (strcmp(pattern, "pair_interleave") == 0)
            offset[l] = (l >> 1) * width + (l & 1) * 4096;
        else if (strcmp(pattern, "evenodd") == 0)
            offset[l] = (l & 1) * 16 * width + (l >> 1) * width;
        else if (strcmp(pattern, "xor8") == 0)
            offset[l] = (l ^ 8) * width;
        else if (strcmp(pattern, "bcast2rows") == 0)
            offset[l] = (l & 1) * 128;
        else if (strcmp(pattern, "bcast4rows") == 0)
            offset[l] = (l & 3) * 128;
        else
            return false;
    }
    return true;
}

/* n loads, each of a word that is added up and `further` ones, of which ptxas issues `ahead` before
 * it adds up the first `each`. They are followed by a store that is never executed, which first
 * loads its address, a parameter. */
static double load_stream(micro *m, const char *statement, const char *further, const char *address,
                          unsigned n, unsigned ahead, unsigned each)
{
    enum { RING = 16 };
    put(m, "mov.u32 i, 0;\nagain: mov.u32 r1, 0; mov.u32 r2, 0;\n");
    start_clock(m);
    for (unsigned e = 0, sum = 0; sum < n; e++) {
        if (e < n) put(m, "%s{v%u%s}, [%s];\n", statement, e % RING, further, address);
        while (sum < n && (e + 1 >= n || sum + ahead <= e))
            for (unsigned k = 0; k < each; k++)
                put(m, "add.u32 r%u, r%u, v%u;\n", 1 + sum % 2, 1 + sum % 2, sum % RING), sum++;
    }
    put(m, "add.u32 r1, r1, r2; setp.eq.u32 p, r1, 0x7fffff01; @p ld.param.u64 q, [pout]; @p "
           "st.global.u32 [q+8], r1;\n");
    stop_clock(m);
    put(m, "add.u32 i, i, 1; setp.lt.u32 more, i, 3; @more bra again;\n");
    store_best(m);
    m->in_order = true;
    bool ran = run(m, 1, 32, 0);
    m->in_order = false;
    return ran ? (double)m->result[0] / n : -1;
}

/* All patterns of a width in one launch, as recorded, and the matrix loads. The recorded bandwidth
 * rows are wrong. */
void shared(micro *m)
{
    static const char *const kernel[] = {"_Z1kILi4EEvPKjiPj", "_Z1kILi8EEvPKjiPj",
                                         "_Z1kILi16EEvPKjiPj"};
    static const char *const what[] = {"dep_latency", "cycles_per_load_1warp",
                                       "cycles_per_store_1warp"};
    static const char *const form[] = {"ld.volatile.shared.u32", "ld.volatile.shared.v2.u32",
                                       "ld.volatile.shared.v4.u32"};
    static const double repeats[] = {16, 64, 64};
    program p = open_program(m, "smem");
    table t = read_micro("smem");
    open_table(m, "shared");
    for (unsigned w = 0; w < 3; w++) {
        uint32_t offset[64 * 32], n = 0;
        size_t at[64];
        for (size_t i = 0; i < t.rows && n < 64; i++)
            if (number_at(&t, i, "bits") == 32u << w &&
                shared_offsets(text_at(&t, i, "pattern"), 4u << w, offset + 32 * n))
                at[n++] = i;
        pl_copy_to_device(m->gpu, m->in, offset, n * 128);
        const struct {
            uint64_t offset;
            uint32_t n, pad;
            uint64_t out;
        } params = {m->in, n, 0, m->out};
        bool ran = launch(&p, kernel[w], 1, 32, 49152, &params, sizeof params);
        const uint32_t *cycles = (const uint32_t *)m->result;
        for (uint32_t k = 0; k < n; k++)
            for (unsigned c = 0; c < 3; c += 2)
                row(m, number_at(&t, at[k], what[c]), ran ? cycles[3 * k + c] / repeats[c] : -1,
                    "%u bit %s %s", 32u << w, text_at(&t, at[k], "pattern"), what[c]);
        for (uint32_t k = 0; k < n; k++) {
            pl_copy_to_device(m->gpu, m->in, offset + 32 * k, 128);
            begin(m);
            put(m, ".reg .b32 v<16>; mad.wide.u32 at, tid, 4, in; ld.global.u32 r0, [at]; add.u32 "
                   "r0, r0, sa;\n");
            row(m, number_at(&t, at[k], what[1]),
                load_stream(m, form[w], words[w], "r0", 64, 12, 2), "%u bit %s %s", 32u << w,
                text_at(&t, at[k], "pattern"), what[1]);
        }
    }
    for (size_t i = 0; i < t.rows;
         i++) { /* ptxas issues one of them while it adds up the preceding one */
        unsigned stride;
        if (sscanf(text_at(&t, i, "pattern"), "ldmatrix_x4_rowstride%u", &stride) != 1) continue;
        const struct {
            uint64_t out;
            uint32_t stride, step;
        } params = {m->out, stride, 0};
        bool ran = launch(&p, "_Z3ldmPjij", 1, 32, 49152, &params, sizeof params);
        row(m, number_at(&t, i, what[0]), ran ? *(const uint32_t *)m->result / repeats[0] : -1,
            "ldmatrix stride %u %s", stride, what[0]);
        begin(m);
        put(m, ".reg .b32 v<16>; mad.lo.u32 r0, tid, %u, sa;\n", stride);
        row(m, number_at(&t, i, what[1]),
            load_stream(m, "ldmatrix.sync.aligned.m8n8.x4.shared.b16", words[2], "r0", 64, 1, 1),
            "ldmatrix stride %u %s", stride, what[1]);
    }
    table_free(&t);
    close_table(m);
    close_program(&p);
}

/* ---- coalescing ---- */

/* The recorded buffers began in the L2 partition that the SM of the first block reads through.
 * Their first 4 KiB have average latency, the first of them slightly below the mean. The buffers
 * here do the same. */
enum { NEAR = 17 * 4096 };

/* The recorded throughput out of the L2 is wrong. */
void coalescing(micro *m)
{
    program p = open_program(m, "coal_atom");
    table t = read_micro("coalescing");
    open_table(m, "coalescing");
    clear_input(m, 1 << 20);
    for (size_t i = 0; i < t.rows; i++) {
        unsigned bits = (unsigned)number_at(&t, i, "bits"),
                 stride = (unsigned)number_at(&t, i, "stride_bytes"),
                 offset = (unsigned)number_at(&t, i, "offset_bytes");
        const struct {
            uint64_t in;
            uint32_t stride, offset, step, pad;
            uint64_t out;
        } params = {m->in + NEAR, stride, offset, 0, 0, m->out};
        static const char *const form[] = {"_Z2coILi%uELi0EEvmjjjPj", "_Z2coILi%uELi1EEvmjjjPj",
                                           "_Z4costILi%uEEvmjjjPj"};
        static const char *const what[] = {"L1_lat", "L2_lat", "cyc_per_store"};
        for (unsigned k = 0; k < 3; k++) {
            char name[40];
            snprintf(name, sizeof name, form[k], bits / 8);
            bool ran = launch(&p, name, 1, 32, 0, &params, sizeof params);
            const uint32_t *cycles = (const uint32_t *)m->result;
            row(m, number_at(&t, i, what[k]),
                !ran     ? -1
                : k == 2 ? cycles[2] / 32.0
                         : cycles[0],
                "%u bit stride %u offset %u %s", bits, stride, offset, what[k]);
        }
        begin(m);
        put(m,
            ".reg .b32 v<16>; mul.wide.u32 at, tid, %u; add.u64 at, at, in; add.u64 at, at, %u;\n",
            stride, offset + NEAR);
        row(m, number_at(&t, i, "L1_cyc_per_load"),
            load_stream(m,
                        bits == 32   ? "ld.global.ca.u32"
                        : bits == 64 ? "ld.global.ca.v2.u32"
                                     : "ld.global.ca.v4.u32",
                        words[bits / 64], "at", 32, 1, 2),
            "%u bit stride %u offset %u L1_cyc_per_load", bits, stride, offset);
    }
    table_free(&t);
    close_table(m);
    close_program(&p);
}

/* ---- atomics ---- */

/* Additions in shared memory that are loops: the time of an iteration after the first, by the
 * pattern of conflicting lanes. Only for all lanes: other patterns reconverge after a branch of the
 * kernel itself. Random words are several patterns with one name: their mean. */
static void casts(micro *m)
{
    static const char *const kernel[] = {"_Z3addIfEvPKiPT_Pi", "_Z3addIdEvPKiPT_Pi",
                                         "_Z3addIyEvPKiPT_Pi"};
    static const char *const type[] = {"f32", "f64", "u64"};
    program p = open_program(m, "cast");
    table t = read_micro("cast");
    double base[3][2] = {{0}}, sum[3][2] = {{0}};
    for (size_t i = 0; i < t.rows; i++) {
        int32_t word[32];
        bool whole = true;
        const char *at = text_at(&t, i, "words"), *pattern = text_at(&t, i, "pattern");
        unsigned kind = 0, rounds = (unsigned)number_at(&t, i, "rounds");
        while (strcmp(type[kind], text_at(&t, i, "type")) != 0) kind++;
        for (unsigned k = 0; k < 32; k++, at += *at == ',') {
            word[k] = (int32_t)strtol(at, (char **)(uintptr_t)&at, 10);
            whole &= word[k] >= 0;
        }
        if (!whole) continue;
        pl_copy_to_device(m->gpu, m->in, word, sizeof word);
        const struct {
            uint64_t words, sums, cycles;
        } params = {m->in, m->in + 4096, m->out};
        bool ran = launch(&p, kernel[kind], 1, 32, 0, &params, sizeof params);
        double recorded = number_at(&t, i, "cycles"), modelled = (double)(int32_t)m->result[0];
        if (strcmp(pattern, "neighbours 32") ==
            0) { /* one iteration: the first row of whole warps */
            base[kind][0] = recorded;
            base[kind][1] = modelled;
            continue;
        }
        if (rounds == 1) continue;
        sum[kind][0] += (recorded - base[kind][0]) / (rounds - 1);
        sum[kind][1] += ran ? (modelled - base[kind][1]) / (rounds - 1) : -1e9;
        /* The types alternate. */
        if (i + 3 < t.rows && strcmp(pattern, text_at(&t, i + 3, "pattern")) == 0) continue;
        row(m, sum[kind][0], sum[kind][1], "%s added to shared memory, %s", type[kind], pattern);
        sum[kind][0] = sum[kind][1] = 0;
    }
    table_free(&t);
    close_program(&p);
}

/* The latencies; one block and every SM, with all warps. Every SM runs fewer iterations than
 * recorded. */
void atomics(micro *m)
{
    static const char *const op[] = {
        "atom.global.add.u32", "atom.global.add.f32",         "atom.global.add.f64",
        "atom.global.add.u64", "atom.global.cas.b32",         "atom.global.exch.b32",
        "atom.global.max.s32", "atom.global.add.noftz.f16x2", "red.global.add.u32",
        "atom.shared.add.u32", "atom.shared.add.f32",         "atom.shared.cas.b32",
        "atom.shared.add.u64"};
    program p = open_program(m, "coal_atom");
    table t = read_micro("atomics");
    open_table(m, "atomics");
    for (size_t i = 0; i < t.rows; i++) {
        const char *mode = text_at(&t, i, "mode");
        unsigned blocks = (unsigned)number_at(&t, i, "blocks"),
                 threads = (unsigned)number_at(&t, i, "threads"), kind = 0;
        uint32_t mask = (uint32_t)number_at(&t, i, "mask"), n = (uint32_t)number_at(&t, i, "n");
        bool latency = strncmp(mode, "lat", 3) == 0, ways = strcmp(mode, "ways") == 0;
        if (!latency &&
            (threads != 1024 || (blocks != 1 && blocks != 132) || (ways && mask != 4092)))
            continue;
        while (strcmp(op[kind], text_at(&t, i, "op")) != 0) kind++;
        if (blocks > 1) n = strcmp(mode, "ways") == 0 ? 3 : strcmp(mode, "same") == 0 ? 16 : n;
        const struct {
            uint64_t base;
            uint32_t mul, mask, n, pad;
            uint64_t sink, spans;
            int32_t dependent;
        } params = {m->in + NEAR,
                    (uint32_t)number_at(&t, i, "mul"),
                    mask,
                    n,
                    0,
                    m->out + 8 * (OUT_WORDS - 1),
                    m->out,
                    latency};
        char name[40];
        snprintf(name, sizeof name, "_Z3atkILi%uEEvPcjjiPjPxi", kind);
        clear_input(m, 1 << 20);
        double cycles =
            launch(&p, name, blocks, threads, 0, &params, 44) ? mean_span(m, blocks) : -1;
        row(m,
            latency ? number_at(&t, i, "cycles_per_op_per_thread")
                    : number_at(&t, i, "ops_per_clk"),
            latency ? cycles / n : (double)blocks * threads * n / cycles, "%s %s %u x %u", op[kind],
            mode, blocks, threads);
    }
    table_free(&t);
    close_program(&p);
    casts(m);
    close_table(m);
}

/* ---- bandwidth ---- */

void bandwidths(micro *m)
{
    program p = open_program(m, "mem_bw");
    table t = read_micro("mem_bw");
    open_table(m, "bandwidth");
    for (size_t i = 0; i < t.rows; i++) {
        const char *test = text_at(&t, i, "test");
        unsigned width = (unsigned)number_at(&t, i, "width"),
                 blocks = (unsigned)number_at(&t, i, "blocks"),
                 threads = (unsigned)number_at(&t, i, "threads"), per = 0, own = 0, rounds = 2;
        bool l1 = strcmp(test, "L1") == 0;
        if (l1)
            per = 32768, rounds = 4;
        else if (strcmp(test, "L2_1sm") == 0)
            per = 262144;
        else if (strcmp(test, "L2_all_priv64K") == 0)
            per = own = 65536, rounds = 3;
        else if (strcmp(test, "L2_scale") == 0 && blocks <= 68)
            per = own = 131072, rounds = 3;
        else
            continue;
        const struct {
            uint64_t base, own;
            uint32_t per, rounds;
            uint64_t spans, sink;
        } params = {m->in, own, per, rounds, m->out, m->out + 8 * (OUT_WORDS - 1)};
        char name[40];
        snprintf(name, sizeof name, "_Z2rdILi%uELb%dEEvPKcmjiPxPj", width, l1);
        bool ran = launch(&p, name, blocks, threads, 0, &params, sizeof params);
        row(m, number_at(&t, i, "bytes_per_clk"),
            ran ? (double)per * rounds * blocks / mean_span(m, blocks) : -1, "%s %u B %u x %u",
            test, width, blocks, threads);
    }
    table_free(&t);
    close_table(m);
    close_program(&p);
}

/* ---- rates of gathers, scattered stores, indexed constants and bulk copies (memrate.cu) ---- */

/* Mean over the blocks of the stored values; -1 if the kernel did not run. */
static double mean_time(const micro *m, bool ran, unsigned blocks)
{
    double sum = 0;
    for (unsigned b = 0; b < blocks; b++) sum += (double)m->result[b];
    return ran ? sum / blocks : -1;
}

static double gather_time(const program *p, bool cached, uint32_t mask, unsigned blocks,
                          unsigned threads, uint32_t lines, uint32_t sectors, uint32_t n)
{
    const micro *m = p->m;
    const struct {
        uint64_t buf;
        uint32_t mask, lines, sectors, n;
        uint64_t t, sink;
    } params = {m->in, mask, lines, sectors, n, m->out, m->out + 8 * (OUT_WORDS - 1)};
    return mean_time(m,
                     launch(p,
                            cached ? "_Z6gatherILi0EEvPKcjiiiPyPj" : "_Z6gatherILi1EEvPKcjiiiPyPj",
                            blocks, threads, 0, &params, sizeof params),
                     blocks);
}

static double scatter_time(const program *p, unsigned blocks, unsigned threads, uint32_t lines,
                           uint32_t n)
{
    const micro *m = p->m;
    const struct {
        uint64_t buf;
        uint32_t mask, lines, n, pad;
        uint64_t t;
    } params = {m->in, (1 << 17) - 1, lines, n, 0, m->out};
    return mean_time(m, launch(p, "_Z7scatterPcjiiPy", blocks, threads, 0, &params, sizeof params),
                     blocks);
}

static double constant_time(const program *p, unsigned threads, uint32_t words_read, uint32_t step,
                            uint32_t n, bool chain)
{
    const micro *m = p->m;
    const struct {
        uint32_t words, step, n, chain;
        uint64_t t, sink;
    } params = {words_read, step, n, chain, m->out, m->out + 8 * (OUT_WORDS - 1)};
    return mean_time(m, launch(p, "_Z9constantsiiiiPyPj", 1, threads, 0, &params, sizeof params),
                     1);
}

static double bulk_time(const program *p, const char *test, unsigned blocks, uint32_t bytes,
                        uint32_t copies)
{
    const micro *m = p->m;
    const struct {
        uint64_t buf;
        uint32_t bytes, copies, what, pad;
        uint64_t t;
    } params = {
        m->in,  bytes,
        copies, strcmp(test, "bulk_load") == 0 ? 0 : strcmp(test, "bulk_store_read") == 0 ? 1 : 2,
        0,      m->out};
    return mean_time(m, launch(p, "_Z4bulkPcjiiPy", blocks, 32, 65536, &params, sizeof params),
                     blocks);
}

/* Rows of 16, 13 and 8 words that each thread of a block stores word by word, all warps together
 * (turn.cu): the cycles until the last fence has completed, mean over the blocks. */
static double turn_time(const program *p, const char *test, unsigned blocks, unsigned threads)
{
    const micro *m = p->m;
    enum { STAMPS = 8, FENCED = 4 };
    const unsigned warps = threads / 32;
    const struct {
        uint64_t in, out, t;
        uint32_t stagger;
    } params = {m->in, m->in, m->out, 0};
    char kernel[64];
    double sum = 0;
    snprintf(kernel, sizeof kernel, "_Z4turnILi%sELi0ELi1EEvPKfPfPmi", test + strlen("store"));
    if (!launch(p, kernel, blocks, threads, 0, &params, 28)) return -1;
    for (unsigned b = 0; b < blocks; b++) {
        uint64_t first = UINT64_MAX, last = 0;
        for (unsigned w = b * warps; w < (b + 1) * warps; w++) {
            if (m->result[w * STAMPS] < first) first = m->result[w * STAMPS];
            if (m->result[w * STAMPS + FENCED] > last) last = m->result[w * STAMPS + FENCED];
        }
        sum += (double)(last - first);
    }
    return sum / blocks;
}

static void turns(micro *m)
{
    program p = open_program(m, "turn");
    table t = read_micro("turn");
    for (size_t i = 0; i < t.rows; i++) {
        const char *test = text_at(&t, i, "test");
        unsigned blocks = (unsigned)number_at(&t, i, "blocks"),
                 threads = (unsigned)number_at(&t, i, "threads");
        if (strncmp(test, "store", 5) != 0 || blocks != 36 || threads < 128 ||
            number_at(&t, i, "stagger") > 0 || number_at(&t, i, "warm") < 1)
            continue;
        row(m, number_at(&t, i, "fenced_last"), turn_time(&p, test, blocks, threads),
            "rows %s %u x %u", test, blocks, threads);
    }
    table_free(&t);
    close_program(&p);
}

/* One SM and the whole GPU with all warps; constants as seen by one warp and by a full SM. */
void rates(micro *m)
{
    program p = open_program(m, "memrate");
    table t = read_micro("memrate");
    open_table(m, "rates");
    turns(m);
    clear_input(m, 1 << 24);
    for (size_t i = 0; i < t.rows; i++) {
        const char *test = text_at(&t, i, "test");
        unsigned blocks = (unsigned)number_at(&t, i, "blocks"),
                 threads = (unsigned)number_at(&t, i, "threads"),
                 a = (unsigned)number_at(&t, i, "a");
        unsigned b = (unsigned)number_at(&t, i, "b"), n = (unsigned)number_at(&t, i, "n"),
                 few = blocks > 1 ? 16 : n;
        double modelled;
        if (strcmp(test, "gather_l1") == 0)
            modelled = gather_time(&p, true, 511, blocks, threads, a, b, n) / n;
        else if (strncmp(test, "gather_l2", 9) == 0 && b == 1 && (blocks == 1 || blocks == 132) &&
                 threads == 1024)
            modelled = gather_time(&p, false, strcmp(test, "gather_l2_1m") == 0 ? 8191 : 131071,
                                   blocks, threads, a, b, few) /
                       few;
        else if (strcmp(test, "scatter") == 0 && threads != 256)
            modelled = scatter_time(&p, blocks, threads, a, n) / n;
        else if (strncmp(test, "const", 5) == 0 && threads != 128)
            modelled = constant_time(&p, threads, a, b, 64, strcmp(test, "const_chain") == 0) / 64;
        else if (strncmp(test, "bulk", 4) == 0 && b == 1)
            modelled = bulk_time(&p, test, blocks, a, b);
        else
            continue;
        row(m, number_at(&t, i, "cycles") / n, modelled, "%s %u x %u: %u %u", test, blocks, threads,
            a, b);
    }
    table_free(&t);
    close_table(m);
    close_program(&p);
}
