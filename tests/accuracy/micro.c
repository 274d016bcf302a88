/* micro.c - `make accuracy`: costs of individual operations, on a real H200 and in the model.
 *
 *     micro [-v | --update] [TABLE]...     tables: ops mma memory constant shared coalescing
 *       atomics sync bandwidth rates; -v prints every row
 *
 * tests/data/micro holds the measurements of small programs on an H200 (driver 580.159.04,
 * 2026-11): a dependent chain for latency, many independent operations for throughput, pointer
 * chases for the levels of memory, and so on. This program expresses the same measurements as PTX,
 * runs them in timing mode, and compares. Fails if fewer rows of a table are within 10 % than
 * committed (tests/data/accuracy.tsv); --update commits the current ones. Times are differences of
 * %clock64 inside the kernel, as on the hardware. */
#include "tests/accuracy/micro.h"
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TEXT = 4 << 20 };

void put(micro *m, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(m->text + m->n, TEXT - m->n, fmt, ap);
    va_end(ap);
    if (n < 0 || (m->n += (size_t)n) >= TEXT) exit(EXIT_FAILURE);
}

/* Every kernel has three parameters and the registers below. */
void begin(micro *m)
{
    m->n = 0;
    put(m, ".version 9.0\n.target sm_90a\n.address_size 64\n"
           ".visible .entry k(.param .u64 pin, .param .u64 pout, .param .u32 pn)\n{\n"
           ".reg .pred p, more; .reg .b32 tid, n, i, x, y, z, w, sa, r<16>; .reg .b64 in, out, at, "
           "t0, t1, best, d, q;\n"
           "ld.param.u64 in, [pin]; ld.param.u64 out, [pout]; ld.param.u32 n, [pn];\n"
           "mov.u32 tid, %%tid.x; mov.u32 x, 0; mov.b64 best, 0x7fffffffffffffff;\n");
    if (m->shared) put(m, ".shared .align 1024 .b8 s[%u]; mov.u32 sa, s;\n", m->shared);
}

void start_clock(micro *m)
{
    put(m, "bar.sync 0; mov.u64 t0, %%clock64;\n");
}

/* The minimum of several measurements is kept in `best`. */
void stop_clock(micro *m)
{
    put(m, "mov.u64 t1, %%clock64; sub.u64 d, t1, t0; min.u64 best, best, d;\n");
}

void store_best(micro *m)
{
    put(m, "setp.eq.u32 p, tid, 0; @p st.global.u64 [out], best;\n");
}

/* Assembles and runs the text; m->result has the values stored by the kernel. Returns false if it
 * did not run. */
static bool run_cluster(micro *m, unsigned blocks, unsigned threads, uint32_t n, unsigned cluster)
{
    struct {
        uint64_t in, out;
        uint32_t n, pad;
    } params = {m->in, m->out, n, 0};
    put(m, "ret;\n}\n");
    pl_module *module = NULL;
    const pl_load_options as_written = {.opt_level = 0};
    pl_launch l = {.kernel = "k",
                   .grid = {blocks, 1, 1},
                   .block = {threads, 1, 1},
                   .cluster = {cluster, cluster ? 1 : 0, cluster ? 1 : 0},
                   .params = &params,
                   .param_bytes = 20,
                   .mode = PL_MODE_TIMING,
                   .threads = 1};
    pl_result r = {.status = PL_INVALID};
    memset(m->result, 0, sizeof m->result);
    if (pl_module_load(m->gpu, "micro.ptx", m->text, m->n, m->in_order ? &as_written : NULL,
                       &module) == PL_OK &&
        pl_copy_to_device(m->gpu, m->out, m->result, sizeof m->result) == PL_OK &&
        pl_launch_kernel(m->gpu, module, &l, &r) == PL_OK && r.status == PL_OK)
        pl_copy_from_device(m->gpu, m->result, m->out, sizeof m->result);
    else if (m->verbose && pl_gpu_diag_count(m->gpu))
        printf("  %s\n", pl_gpu_diag(m->gpu, 0, false).rendered);
    pl_gpu_diag_clear(m->gpu);
    if (module) pl_module_close(module);
    return r.status == PL_OK;
}

bool run(micro *m, unsigned blocks, unsigned threads, uint32_t n)
{
    return run_cluster(m, blocks, threads, n, 0);
}

/* ---- the comparison ---- */

void open_table(micro *m, const char *name)
{
    m->name = name;
    m->rows = m->inside = m->failed = 0;
    m->shared = strcmp(name, "sync") == 0 || strcmp(name, "shared") == 0 ? 49152
                : strcmp(name, "rates") == 0                             ? 32768
                                                                         : 8192;
}

void row(micro *m, double recorded, double modelled, const char *fmt, ...)
{
    if (!(recorded > 0)) return;
    double error = modelled / recorded - 1;
    bool good = fabs(error) <= 0.1;
    m->rows++;
    m->inside += good;
    m->failed += !(modelled > 0);
    if (!m->verbose) return;
    char name[128];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(name, sizeof name, fmt, ap);
    va_end(ap);
    printf("%-12s %-48s %12.2f %12.2f %+8.1f%%%s\n", m->name, name, recorded, modelled, 100 * error,
           good ? "" : "  *");
    fflush(stdout);
}

void close_table(micro *m)
{
    printf("micro %-12s %4zu of %4zu within 10%%\n", m->name, m->inside, m->rows);
    fflush(stdout);
    figures_add(&m->figures, m->rows ? 100 - 100.0 * (double)m->inside / (double)m->rows : 0,
                "microbenchmarks %s: %% of rows beyond 10 %%", m->name);
    m->all_rows += m->rows;
    m->all_inside += m->inside;
}

table read_micro(const char *name)
{
    char relative[64];
    snprintf(relative, sizeof relative, "micro/%s.tsv.xz", name);
    char *path = data_path(relative);
    table t = table_read(path);
    free(path);
    return t;
}

const char *text_at(const table *t, size_t i, const char *column)
{
    return t->row[i][table_column(t, column)];
}
double number_at(const table *t, size_t i, const char *column)
{
    return strtod(text_at(t, i, column), NULL);
}

/* ---- operations ---- */

/* Writes the statement with %0, %1 and %2 replaced. */
static void operation(micro *m, const char *s, const char *acc, const char *b, const char *c)
{
    for (; *s; s++) {
        if (*s != '%' || s[1] < '0' || s[1] > '2') {
            put(m, "%c", *s);
            continue;
        }
        put(m, "%s", s[1] == '0' ? acc : s[1] == '1' ? b : c);
        s++;
    }
    put(m, "\n");
}

/* Operands like those of the recording: moderate numbers that no operation turns into special
 * values. */
static void fill_operands(micro *m, const char *type)
{
    static const uint32_t f32[8] = {0x3f8ccccd, 0x3f800347, 0x3f7ffc11, 0x3f800123,
                                    0x3f7fff55, 0x3a83126f, 0xba83126f};
    static const uint64_t u64[8] = {0x123456789abcdef1, 0xfedcba9876543211, 0x0fedcba987654325,
                                    0xa5a5a5a55a5a5a57, 0x700000000000001f, 0x13579bdf02468acd,
                                    0x2000000004d};
    static const uint16_t u16[8] = {0x3c10, 0x3c01, 0x3bff, 0x3c02, 0x3bfe, 0x1400, 0x1200};
    static const double f64[8] = {1.1, 1.00012, 0.99991, 1.0003, 0.9997, 1e-3, -1e-3};
    const void *from = strcmp(type, "u64") == 0   ? (const void *)u64
                       : strcmp(type, "u16") == 0 ? (const void *)u16
                       : strcmp(type, "f64") == 0 ? (const void *)f64
                                                  : (const void *)f32;
    pl_copy_to_device(m->gpu, m->in, from,
                      strcmp(type, "u16") == 0         ? 16
                      : strlen(type) && type[1] == '6' ? 64
                                                       : 32);
}

static void load_operands(micro *m, const char *type)
{
    unsigned size = (unsigned)atoi(type + 1) / 8;
    put(m,
        ".reg .%c%s a<4>, b<4>, c<2>; mul.lo.u32 y, tid, n; shr.u32 y, y, 30; cvt.u64.u32 d, y; "
        "add.u64 in, in, d; mad.lo.u32 sa, tid, 8, sa;\n",
        *type == 'u' ? 'b' : *type, type + 1);
    for (unsigned k = 0; k < 6; k++)
        put(m, "ld.global.%s %s%u, [in+%u];\n", type, k < 4 ? "b" : "c", k < 4 ? k : k - 4,
            (k + 1) * size);
    put(m, "ld.global.%s a0, [in]; st.shared.%s [sa], a0;\n", type, type);
}

static double op_latency(micro *m, const char *type, const char *statement, unsigned repeats)
{
    begin(m);
    load_operands(m, type);
    put(m, "mov.u32 i, 0;\nagain: bar.sync 0;\n");
    start_clock(m);
    put(m, "bar.sync 0; ld.volatile.shared.%s a0, [sa];\n", type);
    for (unsigned k = 0; k < repeats; k++) {
        char b[4] = {'b', (char)('0' + k % 4)}, c[4] = {'c', (char)('0' + k % 2)};
        operation(m, statement, "a0", b, c);
    }
    put(m, "st.volatile.shared.%s [sa], a0; bar.sync 0;\n", type);
    stop_clock(m);
    put(m,
        "ld.global.%s a0, [in]; st.volatile.shared.%s [sa], a0; add.u32 i, i, 1; setp.lt.u32 more, "
        "i, 3; @more bra again;\n",
        type, type);
    store_best(m);
    return run(m, 1, 32, 0) ? (double)m->result[0] : -1;
}

static double op_cycles(micro *m, const char *type, const char *statement, unsigned per,
                        unsigned chains, unsigned warps, uint32_t n)
{
    begin(m);
    load_operands(m, type);
    put(m, "mov.u32 z, 0;\nagain: bar.sync 0;\n");
    start_clock(m);
    put(m, "bar.sync 0;\n");
    for (unsigned j = 0; j < chains; j++) put(m, "ld.volatile.shared.%s a%u, [sa];\n", type, j);
    put(m, "mov.u32 i, 0;\nloop: .pragma \"nounroll\";\n");
    for (unsigned k = 0; k < per; k++) {
        char b[4] = {'b', (char)('0' + k % 4)}, c[4] = {'c', (char)('0' + k % 2)};
        for (unsigned j = 0; j < chains; j++) {
            char a[4] = {'a', (char)('0' + j)};
            operation(m, statement, a, b, c);
        }
    }
    put(m, "add.u32 i, i, 1; setp.lt.u32 more, i, n; @more bra loop;\n");
    for (unsigned j = 0; j < chains; j++) put(m, "st.volatile.shared.%s [sa], a%u;\n", type, j);
    put(m, "bar.sync 0;\n");
    stop_clock(m);
    put(m, "add.u32 z, z, 1; setp.lt.u32 more, z, 2; @more bra again;\n");
    store_best(m);
    return run(m, 1, warps * 32, n) ? (double)m->result[0] : -1;
}

static void ops(micro *m)
{
    static const struct {
        const char *column;
        unsigned warps, chains;
    } config[] = {{"interval", 1, 4},
                  {"rate_4w_single", 4, 1},
                  {"rate_4w", 4, 4},
                  {"rate_32w", 32, 4},
                  {"rate_32w_single", 32, 1}};
    table t = read_micro("ops");
    open_table(m, "ops");
    for (size_t i = 0; i < t.rows; i++) {
        const char *type = text_at(&t, i, "type"), *s = text_at(&t, i, "statement"),
                   *name = text_at(&t, i, "op");
        bool heavy = text_at(&t, i, "weight")[0] == 'H';
        unsigned u1 = heavy ? 8 : 32, u2 = heavy ? 24 : 96, per = heavy ? 4 : 16;
        fill_operands(m, type);
        double a = op_latency(m, type, s, u1), b = op_latency(m, type, s, u2);
        row(m, number_at(&t, i, "latency"), (b - a) / (u2 - u1), "%s latency", name);
        for (size_t k = 0; k < sizeof config / sizeof *config; k++) {
            const uint32_t n1 = 2, n2 = 6;
            double c1 = op_cycles(m, type, s, per, config[k].chains, config[k].warps, n1);
            double c2 = op_cycles(m, type, s, per, config[k].chains, config[k].warps, n2);
            double rate = config[k].warps * 32.0 * (n2 - n1) * per * config[k].chains / (c2 - c1);
            row(m, number_at(&t, i, config[k].column), k == 0 ? 32 / rate : rate, "%s %s", name,
                config[k].column);
        }
    }
    table_free(&t);
    close_table(m);
}

static double mma_cycles(micro *m, const char *instruction, const char *registers, unsigned chains,
                         unsigned warps, uint32_t n)
{
    static const char *const word = "abcdefgh";
    int na = registers[0] - '0', nb = registers[2] - '0', nc = registers[4] - '0';
    char type = registers[5] == 'f' ? 'f' : 'b';
    begin(m);
    put(m, ".reg .b32 a<4>, b<4>; .reg .%c32 c<64>;\n", type);
    for (int k = 0; k < 4; k++) put(m, "add.u32 a%d, tid, %d; xor.b32 b%d, tid, %d;\n", k, k, k, k);
    for (unsigned k = 0; k < chains * (unsigned)nc; k++) put(m, "mov.b32 c%u, tid;\n", k);
    put(m, "mov.u32 z, 0;\nagain:\n");
    start_clock(m);
    put(m, "bar.sync 0; mov.u32 i, 0;\nloop: .pragma \"nounroll\";\n");
    for (unsigned k = 0; k < 8 * chains; k++) {
        unsigned j = k % chains * (unsigned)nc;
        put(m, "%s {", instruction);
        for (int e = 0; e < nc; e++) put(m, "%sc%u", e ? "," : "", j + (unsigned)e);
        put(m, "},{");
        for (int e = 0; e < na; e++) put(m, "%s%c%d", e ? "," : "", word[0], e);
        put(m, "},{");
        for (int e = 0; e < nb; e++) put(m, "%s%c%d", e ? "," : "", word[1], e);
        put(m, "},{");
        for (int e = 0; e < nc; e++) put(m, "%sc%u", e ? "," : "", j + (unsigned)e);
        put(m, "};\n");
    }
    put(m, "add.u32 i, i, 1; setp.lt.u32 more, i, n; @more bra loop;\n");
    for (unsigned k = 0; k < chains * (unsigned)nc; k++)
        put(m, "mov.b32 y, c%u; xor.b32 x, x, y;\n", k);
    put(m, "st.volatile.shared.u32 [sa], x; bar.sync 0;\n");
    stop_clock(m);
    put(m, "add.u32 z, z, 1; setp.lt.u32 more, z, 2; @more bra again;\n");
    store_best(m);
    return run(m, 1, warps * 32, n) ? (double)m->result[0] : -1;
}

static void mma(micro *m)
{
    table t = read_micro("mma");
    open_table(m, "mma");
    for (size_t i = 0; i < t.rows; i++) {
        static const struct {
            const char *column;
            unsigned chains, warps;
        } config[] = {{"latency", 1, 1}, {"interval", 4, 4}, {"interval_4w", 2, 16}};
        for (size_t k = 0; k < sizeof config / sizeof *config; k++) {
            const char *s = text_at(&t, i, "instruction"), *r = text_at(&t, i, "registers");
            double a = mma_cycles(m, s, r, config[k].chains, config[k].warps, 2),
                   b = mma_cycles(m, s, r, config[k].chains, config[k].warps, 6);
            double each = (b - a) / 4 / 8 / config[k].chains / ((config[k].warps + 3) / 4);
            row(m, number_at(&t, i, config[k].column), each, "%s %s", text_at(&t, i, "variant"),
                config[k].column);
        }
    }
    table_free(&t);
    close_table(m);
}

/* ---- constants ---- */

static double const_chase(micro *m, unsigned footprint, unsigned stride)
{
    unsigned nodes = footprint / stride, steps = 1024;
    m->n = 0;
    begin(m);
    /* the array precedes the kernel */
    char *kernel = malloc(m->n + 1);
    if (!kernel) exit(EXIT_FAILURE);
    memcpy(kernel, m->text, m->n + 1);
    char *entry = strstr(kernel, ".visible");
    m->n = (size_t)(entry - kernel);
    put(m, ".const .align 4 .u32 c[%u] = {", footprint / 4);
    for (unsigned k = 0; k < footprint / 4; k++)
        put(m, "%s%u", k ? "," : "",
            k * 4 % stride ? 0 : (k * 4 / stride + 1) % nodes * (stride / 4));
    put(m, "};\n%s", entry);
    free(kernel);
    put(m, "mov.u64 at, c; mov.b64 q, at; mov.u32 i, 0;\nwarm: ld.const.u32 x, [q]; mul.wide.u32 "
           "d, x, 4; add.u64 q, at, d; add.u32 i, i, 1; setp.lt.u32 more, i, n; @more bra warm;\n");
    put(m, "mov.u64 t0, %%clock64; mov.u32 i, 0;\nloop:\n");
    for (int k = 0; k < 16; k++)
        put(m, "ld.const.u32 x, [q]; mul.wide.u32 d, x, 4; add.u64 q, at, d;\n");
    put(m,
        "add.u32 i, i, 16; setp.lt.u32 more, i, %u; @more bra loop; setp.eq.u32 p, x, 1; @p "
        "st.global.u32 [out+8], x;\n",
        steps);
    put(m, "mov.u64 t1, %%clock64; sub.u64 d, t1, t0; st.global.u64 [out], d;\n");
    return run(m, 1, 1, nodes * 2) ? (double)m->result[0] / steps : -1;
}

static void constants(micro *m)
{
    table t = read_micro("mem_latency");
    open_table(m, "constant");
    for (size_t i = 0; i < t.rows; i++) {
        if (strcmp(text_at(&t, i, "test"), "const") != 0) continue;
        unsigned footprint = (unsigned)number_at(&t, i, "footprint_bytes"),
                 stride = (unsigned)number_at(&t, i, "stride");
        if (stride < 64 && footprint > 4096) continue; /* the same as 4096 */
        row(m, number_at(&t, i, "mean_per_load"), const_chase(m, footprint, stride),
            "%u B stride %u", footprint, stride);
    }
    table_free(&t);
    close_table(m);
}

/* ---- barriers, copies, instruction caches ---- */

static double barrier_cycles(micro *m, const char *name, unsigned warps)
{
    begin(m);
    bool red = strstr(name, "red") != NULL, mbar = strstr(name, "mbar") != NULL;
    put(m,
        "mov.u32 y, 0; mov.u32 i, 0; setp.eq.u32 p, tid, 0; @p mbarrier.init.shared.b64 [sa], "
        "%u;\nagain: bar.sync 0;\n",
        warps * 32);
    start_clock(m);
    if (mbar) {
        put(m, "mov.u32 z, 0;\nloop: mbarrier.arrive.shared.b64 d, [sa];\nwait: "
               "mbarrier.try_wait.parity.shared.b64 p, [sa], y; @!p bra wait; xor.b32 y, y, 1;"
               "add.u32 z, z, 1; setp.lt.u32 more, z, 16; @more bra loop;\n");
    } else {
        for (int k = 0; k < (red ? 16 : 32); k++) {
            if (red)
                put(m, "and.b32 r0, x, 1; setp.ne.u32 p, r0, 0; bar.red.popc.u32 r0, 0, p; add.u32 "
                       "x, x, r0;\n");
            else
                put(m, "bar.sync 0;\n");
        }
    }
    stop_clock(m);
    put(m, "add.u32 i, i, 1; setp.lt.u32 more, i, 4; @more bra again; setp.eq.u32 p, x, "
           "0x7fff1111; @p st.global.u32 [out+8], x;\n");
    store_best(m);
    return run(m, 1, warps * 32, 0) ? (double)m->result[0] / (red || mbar ? 16 : 32) : -1;
}

static double cluster_cycles(micro *m, const char *what, unsigned size)
{
    unsigned n = strcmp(what, "barrier") == 0 ? 8 : 16;
    begin(m);
    put(m,
        "mov.u32 r1, %%cluster_ctarank; add.u32 r2, r1, 1; rem.u32 r2, r2, %u; "
        "mapa.shared::cluster.u32 r3, sa, r2; mad.lo.u32 r3, tid, 4, r3; mad.lo.u32 r4, tid, 4, sa;"
        "st.shared.u32 [r4], 0; barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; "
        "mov.u32 i, 0;\nagain:\n",
        size);
    start_clock(m);
    for (unsigned k = 0; k < n; k++) {
        if (n == 8)
            put(m, "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n");
        else if (strcmp(what, "dsm_ld") == 0)
            put(m, "add.u32 y, r3, x; ld.shared::cluster.u32 x, [y];\n");
        else
            put(m, "add.u32 y, r3, x; atom.shared::cluster.add.u32 x, [y], 0;\n");
    }
    put(m, "setp.eq.u32 p, x, 1; @p st.global.u32 [out+8], x;\n");
    stop_clock(m);
    put(m, "add.u32 i, i, 1; setp.lt.u32 more, i, 4; @more bra again; "
           "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;"
           "setp.eq.u32 p, r1, 0; setp.eq.and.u32 p, tid, 0, p; @p st.global.u64 [out], best;\n");
    return run_cluster(m, size, n == 8 ? 128 : 32, 0, size) ? (double)m->result[0] / n : -1;
}

static double copy_cycles(micro *m, const char *name)
{
    unsigned bytes = 0;
    bool bulk = sscanf(name, "cp_async_bulk_%u", &bytes) == 1;
    if (!bulk) sscanf(name, "cp_async_%uB", &bytes);
    begin(m);
    put(m,
        ".shared .align 8 .b8 mb[8]; mov.u32 r1, mb; mov.u32 i, 0; mov.u32 y, 0; mad.wide.u32 at, "
        "tid, %u, in; mad.lo.u32 r0, tid, %u, sa; setp.ne.u32 p, tid, 0;"
        "@p bra again; mbarrier.init.shared.b64 [r1], 1;\nagain: bar.sync 0;\n",
        bytes, bytes);
    start_clock(m);
    if (bulk) {
        put(m,
            "setp.ne.u32 p, tid, 0; @p bra wait; fence.proxy.async; "
            "mbarrier.arrive.expect_tx.shared.b64 d, [r1], %u;"
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [sa], [in], %u, "
            "[r1];\n",
            bytes, bytes);
        put(m, "wait: mbarrier.try_wait.parity.shared.b64 p, [r1], y; @!p bra wait; xor.b32 y, y, "
               "1;\n");
    } else {
        put(m,
            "cp.async.%s.shared.global [r0], [at], %u; cp.async.commit_group; cp.async.wait_group "
            "0;\n",
            bytes == 16 ? "cg" : "ca", bytes);
    }
    stop_clock(m);
    put(m, "add.u32 i, i, 1; setp.lt.u32 more, i, 4; @more bra again;\n");
    store_best(m);
    return run(m, 1, 32, 0) ? (double)m->result[0] : -1;
}

/* Straight-line code, repeated. The first iteration, whose code was already in the L2, is not
 * compared, nor is small code with many warps: there the assembler moved instructions out of the
 * measured section (the recorded figures are below one instruction per cycle). */
static void icache(micro *m, const char *name, const table *t, size_t i)
{
    unsigned bytes = 0, warps = 0;
    sscanf(name, "icache_%uB_warps%u", &bytes, &warps);
    if (bytes < 4096 || warps > 4) return;
    unsigned n = bytes / 16;
    begin(m);
    put(m, ".reg .f32 f<6>; mov.u32 i, 0;\n");
    for (int k = 0; k < 6; k++) put(m, "ld.global.f32 f%d, [in+%d];\n", k, k * 4);
    put(m, "again: bar.sync 0;\n");
    start_clock(m);
    put(m, "bar.sync 0;\n");
    for (unsigned k = 0; k < n; k++) put(m, "fma.rn.f32 f%u, f%u, f4, f5;\n", k % 4, k % 4);
    put(m, "bar.sync 0; mov.u64 t1, %%clock64; sub.u64 d, t1, t0; setp.eq.u32 p, i, 0; @!p min.u64 "
           "best, best, d;"
           "add.u32 i, i, 1; setp.lt.u32 more, i, 3; @more bra again; add.f32 f0, f0, f1; add.f32 "
           "f2, f2, f3; add.f32 f0, f0, f2;"
           "mad.wide.u32 at, tid, 4, out; st.global.f32 [at+1024], f0; setp.eq.u32 p, tid, 0; @p "
           "st.global.u64 [out], best;\n");
    bool ran = run(m, 1, warps * 32, 0);
    row(m, number_at(t, i, "per_op_b"), ran ? (double)m->result[0] / n : -1, "%s warm", name);
}

static void sync_rows(micro *m)
{
    table t = read_micro("sync_launch");
    open_table(m, "sync");
    for (size_t i = 0; i < t.rows; i++) {
        const char *name = text_at(&t, i, "test");
        unsigned k;
        char what[32];
        const char *w = strstr(name, "_w");
        if ((strncmp(name, "bar_", 4) == 0 || strncmp(name, "mbar", 4) == 0) && w)
            row(m, number_at(&t, i, "per_op_a"), barrier_cycles(m, name, (unsigned)atoi(w + 2)),
                "%s", name);
        else if (sscanf(name, "cluster%u_%31s", &k, what) == 2 && strncmp(what, "dsm_bw", 6) != 0)
            row(m, number_at(&t, i, "per_op_a"), cluster_cycles(m, what, k), "%s", name);
        else if (strncmp(name, "cp_async", 8) == 0)
            row(m, number_at(&t, i, "raw_cycles"), copy_cycles(m, name), "%s", name);
        else if (strncmp(name, "icache", 6) == 0)
            icache(m, name, &t, i);
    }
    table_free(&t);
    close_table(m);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(micro *m);
    } part[] = {{"ops", ops},
                {"mma", mma},
                {"memory", memory},
                {"constant", constants},
                {"shared", shared},
                {"coalescing", coalescing},
                {"atomics", atomics},
                {"sync", sync_rows},
                {"bandwidth", bandwidths},
                {"rates", rates}};
    micro *m = calloc(1, sizeof *m);
    if (!m || !(m->text = malloc(TEXT)) || pl_gpu_open(&m->gpu, "h200") != PL_OK)
        return EXIT_FAILURE;
    m->big = 260ull << 20;
    if (pl_alloc_device(m->gpu, m->big, "in", &m->in) != PL_OK ||
        pl_alloc_device(m->gpu, sizeof m->result, "out", &m->out) != PL_OK)
        return EXIT_FAILURE;
    int first = 1;
    bool update = argc > 1 && strcmp(argv[1], "--update") == 0;
    if (update) first = 2;
    if (argc > 1 && strcmp(argv[1], "-v") == 0) {
        m->verbose = true;
        first = 2;
        printf("%-12s %-48s %12s %12s %9s\n", "table", "what", "H200", "modelled", "error");
    }
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        bool selected = first >= argc;
        for (int a = first; a < argc; a++) selected |= strcmp(argv[a], part[k].name) == 0;
        if (selected) part[k].run(m);
    }
    printf("micro: %zu of %zu rows within 10%% (%.1f%%)\n", m->all_inside, m->all_rows,
           m->all_rows ? 100.0 * (double)m->all_inside / (double)m->all_rows : 0);
    bool ok = update ? figures_update(&m->figures) : figures_check(&m->figures) == 0;
    figures_free(&m->figures);
    pl_gpu_close(m->gpu);
    free(m->text);
    free(m);
    return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}
