/* test_trace.c - the trace writer: the numbers of a file agree, and a run that failed, was killed,
 * or filled the disk never leaves a file that looks complete. */
#include "isa/table/form.h"
#include "isa/program/insn.h"
#include "tests/unit/unit.h"
#include "traces/tracedb.h"
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NPC = 6, BLOCKS = 3, WARPS = 2 };
enum { PC_LOAD, PC_ADD, PC_BARRIER, PC_SHARED, PC_DIV, PC_EXIT };

static char folder[64], path[96], part[112];

static void enter_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/test_trace_XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/run.db", folder);
    snprintf(part, sizeof part, "%s.part", path);
}

static void leave_folder(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    ck_assert_int_eq(system(command), 0);
}

static bool exists(const char *file)
{
    struct stat st;
    return stat(file, &st) == 0;
}

/* ---- a synthetic program and its events ---- */

static void describe(void *ctx, uint32_t pc, pl_tracedb_insn *out)
{
    static const struct {
        const char *text, *mnemonic, *cls;
        uint32_t effects;
    } row[NPC] = {
        [PC_LOAD] = {"ld.global.f32 R4, [R2]", "ld", "ldg", PL_EF_LOAD},
        [PC_ADD] = {"@P2 add.f32 R5, R4, R4", "add", "fma", 0},
        [PC_BARRIER] = {"bar.sync 0", "bar", "barrier", PL_EF_BARRIER},
        [PC_SHARED] = {"st.shared.v2.f32 [R6], {R4, R5}", "st", "sts", PL_EF_STORE},
        [PC_DIV] = {"div.u32 R7, R8, R9", "div", "div", 0},
        [PC_EXIT] = {"exit", "exit", "exit", PL_EF_EXIT},
    };
    *out = (pl_tracedb_insn){.function = "k",
                             .text = row[pc].text,
                             .ptx_line = pc + 1,
                             .src_file = ctx,
                             .src_line = ctx ? 2 : 0,
                             .form = pc,
                             .mnemonic = row[pc].mnemonic,
                             .syntax = row[pc].mnemonic,
                             .cls = row[pc].cls,
                             .effects = row[pc].effects};
}

static const char ptx[] = "ld\nadd\nbar\nst\ndiv\nexit\n";

static pl_tracedb *open_trace(pl_tracedb_level level, uint64_t max_bytes)
{
    static const char *const space[] = {"generic", NULL,    NULL,    "const",
                                        "global",  "local", "param", "shared"};
    static const pl_tracedb_value value[] = {{"sm", "count", "2", "", "chosen", ""},
                                             {"l1", "size", "128", "KiB", "measured", "x"}};
    pl_tracedb *t;
    pl_tracedb_options o = {.level = level,
                            .max_bytes = max_bytes,
                            .version = "0.1.0",
                            .command = "ptxloom run k.ptx",
                            .machine = "toy",
                            .sms = 2,
                            .subcores = 4,
                            .max_warps = 8,
                            .clock_mhz = 1000,
                            .value = value,
                            .nvalues = 2,
                            .space = space,
                            .nspaces = 8};
    pl_status st = pl_tracedb_open(&t, path, &o);
    ck_assert_msg(st == PL_OK, "open: %s", pl_tracedb_error(t));
    return t;
}

typedef struct sums {
    pl_pc_stat stat[NPC];
    uint64_t cycles, events;
} sums;

/* Every warp runs the program `rounds` times; if stuck, the last warp of the last block stops at
 * its barrier. A division is priced as 20 instructions. */
static void send_events(const pl_sink *sink, sums *s, uint32_t rounds, bool stuck)
{
    uint64_t seq = 0, addr[PL_LANES];
    for (uint32_t r = 0; r < rounds; r++) {
        for (uint32_t w = 0; w < BLOCKS * WARPS; w++) {
            for (uint32_t pc = 0; pc < NPC; pc++) {
                uint32_t mask = pc == PC_ADD ? 0x0000fff0 : 0xffffffff,
                         issues = pc == PC_DIV ? 20 : 1;
                pl_inst_event e = {.seq = seq++,
                                   .cycle = s->cycles++,
                                   .block = w / WARPS,
                                   .warp = w % WARPS,
                                   .pc = pc,
                                   .mask = mask,
                                   .weight = issues,
                                   .sm = (uint16_t)(w / WARPS % 2),
                                   .subcore = (uint8_t)(w % 4),
                                   .stall = pc == PC_ADD ? PL_STALL_LONG_SCOREBOARD : PL_STALL_NONE,
                                   .stall_cycles = pc == PC_ADD ? 30 : 0,
                                   .latency = 4};
                pl_pc_stat *p = &s->stat[pc];
                p->issues += issues;
                p->executed++;
                p->lanes += issues * (uint64_t)__builtin_popcount(mask);
                p->stall[e.stall] += e.stall == PL_STALL_NONE ? 1 : e.stall_cycles;
                p->latency += 4;
                s->events++;
                if (sink && sink->inst) sink->inst(sink->ctx, &e);
                if (pc == PC_LOAD || pc == PC_SHARED) {
                    p->requests++;
                    p->sectors +=
                        pc == PC_LOAD ? 8 : 0; /* stride 8 bytes: 32 lanes lie in 8 sectors */
                    p->wavefronts += 2;
                    p->conflicts += pc == PC_SHARED;
                    p->l1_hits += pc == PC_LOAD ? 2 : 0;
                    for (uint32_t i = 0; i < PL_LANES; i++)
                        addr[i] = pc == PC_LOAD ? 0x7f00000000ull + 8 * i : (i * i) % 64 * 8;
                    pl_mem_event m = {.seq = e.seq,
                                      .cycle = e.cycle,
                                      .block = e.block,
                                      .warp = e.warp,
                                      .pc = pc,
                                      .mask = mask,
                                      .sm = e.sm,
                                      .space = pc == PC_LOAD ? 4 : 7,
                                      .kind = pc == PC_LOAD ? PL_AC_LOAD : PL_AC_STORE,
                                      .size = pc == PC_LOAD ? 4 : 8,
                                      .sectors = pc == PC_LOAD ? 8 : 0,
                                      .wavefronts = 2,
                                      .level = pc == PC_LOAD ? PL_LV_DRAM : PL_LV_SHARED,
                                      .latency = 100,
                                      .addr = addr};
                    if (sink && sink->mem) sink->mem(sink->ctx, &m);
                }
                if (stuck && pc == PC_BARRIER && w == BLOCKS * WARPS - 1) break;
            }
        }
    }
}

static pl_status write_launch(pl_tracedb *t, sums *s, uint32_t rounds, bool stuck, const char *cuda)
{
    static const pl_counter counter[] = {{"sm", "sm__cycles_active.sum", "cycles", 500},
                                         {"dram", "dram__sectors_read.sum", "sectors", 1000},
                                         {"dram", "homemade", "things", 7}};
    char beside[112]; /* the PTX, in the folder of the CUDA source */
    snprintf(beside, sizeof beside, "%s/k.ptx", folder);
    const char *const file = beside;
    pl_tracedb_kernel k = {.entry = "k",
                           .timing = true,
                           .grid = {BLOCKS, 1, 1},
                           .block = {WARPS * PL_LANES, 1, 1},
                           .module = "k.ptx",
                           .path = &file,
                           .npaths = 1,
                           .text = ptx,
                           .text_bytes = sizeof ptx - 1,
                           .target = "sm_90",
                           .opt_level = 2,
                           .ninsns = NPC,
                           .insn = describe,
                           .ctx = (void *)(uintptr_t)cuda};
    memset(s, 0, sizeof *s);
    if (pl_tracedb_begin(t, &k) != PL_OK) return PL_IO;
    send_events(pl_tracedb_sink(t), s, rounds, stuck);
    static const pl_tracedb_fault fault = {
        .pc = PC_BARRIER, .block = {2, 0, 0}, .thread = {33, 0, 0}, .address = 16};
    pl_tracedb_result r = {.status = stuck ? "fault" : "ok",
                           .complete = !stuck,
                           .fault = stuck ? &fault : NULL,
                           .error = stuck ? "cudaErrorLaunchTimeout" : NULL,
                           .error_text = stuck ? "deadlock" : NULL,
                           .cycles = s->cycles,
                           .theoretical_occupancy = 0.5,
                           .pc_stat = s->stat,
                           .npc = NPC,
                           .counter = counter,
                           .ncounters = 3,
                           .printed = "one\ntwo\n"};
    for (int pc = 0; pc < NPC; pc++) {
        r.inst_executed += s->stat[pc].issues;
        r.thread_inst_executed += s->stat[pc].lanes;
    }
    return pl_tracedb_end(t, &r);
}

static void write_file(pl_tracedb_level level, uint32_t launches, uint32_t rounds)
{
    sums s;
    pl_tracedb *t = open_trace(level, 0);
    for (uint32_t i = 0; i < launches; i++)
        ck_assert_int_eq(write_launch(t, &s, rounds, false, NULL), PL_OK);
    ck_assert_int_eq(pl_tracedb_close(t, true), PL_OK);
}

/* ---- reading back ---- */

static double number(const char *sql)
{
    sqlite3 *db;
    sqlite3_stmt *s;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_msg(sqlite3_prepare_v2(db, sql, -1, &s, NULL) == SQLITE_OK, "%s: %s", sql,
                  sqlite3_errmsg(db));
    ck_assert_msg(sqlite3_step(s) == SQLITE_ROW, "%s: no row", sql);
    double v = sqlite3_column_double(s, 0);
    sqlite3_finalize(s);
    sqlite3_close(db);
    return v;
}

#define NUMBER(sql, expected) ck_assert_double_eq_tol(number(sql), (double)(expected), 1e-9)

START_TEST(counts_agree)
{
    enter_folder();
    write_file(PL_TRACEDB_MEM, 2, 10);
    ck_assert(!exists(part));
    NUMBER("PRAGMA user_version", PL_TRACEDB_SCHEMA);
    NUMBER("PRAGMA application_id", PL_TRACEDB_APPLICATION);
    NUMBER("SELECT count(*) FROM pragma_foreign_key_check", 0);
    NUMBER("SELECT integrity_check = 'ok' FROM pragma_integrity_check", 1);
    NUMBER("SELECT journal_mode = 'delete' FROM pragma_journal_mode", 1);
    NUMBER("SELECT count(*) FROM kernel", 2);
    NUMBER("SELECT count(*) FROM module", 1);
    NUMBER("SELECT count(*) FROM instruction", NPC);
    /* 6 warps, 10 rounds, 5 plain instructions and a division of 20 */
    NUMBER("SELECT sum(issues) FROM pc_stat WHERE kernel = 2", 60 * 25);
    NUMBER("SELECT inst_executed FROM kernel WHERE id = 2", 60 * 25);
    NUMBER("SELECT count(*) FROM inst WHERE kernel = 2", 60 * 6);
    NUMBER("SELECT sum(executed) FROM pc_stat WHERE kernel = 2", 60 * 6);
    NUMBER("SELECT sum(issues) FROM pc_stat s WHERE kernel = 1 AND issues = executed", 60 * 5);
    NUMBER("SELECT count(*) FROM inst n JOIN pc_stat s USING (kernel, pc) WHERE kernel = 1 AND "
           "s.issues = s.executed",
           60 * 5);
    NUMBER(
        "SELECT min(id) = (SELECT first_inst FROM kernel WHERE id = 2) FROM inst WHERE kernel = 2",
        1);
    NUMBER("SELECT count(*) FROM mem", 2 * 60 * 2);
    NUMBER("SELECT sum(n.pc = m.pc AND n.block = m.block AND n.warp = m.warp AND n.cycle = "
           "m.cycle) FROM mem m JOIN inst n ON n.id = m.inst",
           240);
    NUMBER("SELECT sum(executed) FROM warp WHERE kernel = 1", 360);
    NUMBER("SELECT sum(weight) FROM inst WHERE kernel = 1", 60 * 25);
    NUMBER("SELECT sum(inst_executed) FROM warp WHERE kernel = 1", 60 * 25);
    NUMBER("SELECT sum(inst_executed) FROM block WHERE kernel = 1", 60 * 25);
    NUMBER("SELECT sum(value) FROM counter_time WHERE kernel = 1 AND name = 'inst_executed'",
           60 * 25);
    NUMBER("SELECT sum(value) FROM counter_time WHERE kernel = 1 AND name = 'sectors'", 480);
    NUMBER("SELECT cycles FROM stall_sum WHERE kernel = 1 AND reason = 'long_scoreboard'", 60 * 30);
    NUMBER("SELECT count(*) FROM event WHERE kind = 'print'", 4);
    NUMBER("SELECT unit = 'KiB' AND value = 128 FROM machine_value WHERE key = 'size'", 1);
    leave_folder();
}
END_TEST

START_TEST(a_summary_has_statistics_only)
{
    enter_folder();
    write_file(PL_TRACEDB_SUMMARY, 1, 3);
    NUMBER("SELECT sum(issues) FROM pc_stat", 18 * 25);
    NUMBER("SELECT (SELECT count(*) FROM inst) + (SELECT count(*) FROM mem) + (SELECT count(*) "
           "FROM warp)",
           0);
    NUMBER("SELECT first_inst IS NULL FROM kernel", 1);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_msg(st.st_size < 600000, "a summary takes %lld bytes", (long long)st.st_size);
    leave_folder();
}
END_TEST

START_TEST(metrics_follow_their_definitions)
{
    enter_folder();
    write_file(PL_TRACEDB_SUMMARY, 1, 10);
    NUMBER("SELECT value FROM gld_efficiency", 50); /* 128 bytes requested, 8 sectors transferred */
    NUMBER("SELECT value FROM gld_transactions_per_request", 8);
    NUMBER("SELECT value FROM global_hit_rate", 25);
    /* 360 cycles at 1 GHz: bytes per ns. */
    NUMBER("SELECT value FROM gld_throughput", 60.0 * 8 * 32 / 360);
    NUMBER("SELECT value FROM shared_store_transactions_per_request", 2);
    NUMBER("SELECT value FROM shared_efficiency", 100); /* 256 bytes in two passes of 128 */
    NUMBER("SELECT value FROM \"smsp__inst_executed.sum\"", 60 * 25);
    NUMBER("SELECT value FROM ipc", 60 * 25 / 500.0);
    NUMBER("SELECT value FROM inst_per_warp", 60 * 25 / 6.0);
    NUMBER("SELECT value FROM warp_execution_efficiency",
           100.0 * (60 * 24 * 32 + 60 * 12) / (60 * 25 * 32));
    NUMBER("SELECT value FROM stall_memory_dependency", 100);
    NUMBER("SELECT value FROM \"dram__bytes_read.sum\"", 32000);
    NUMBER("SELECT value FROM dram_read_throughput", 32000 / 360.0);
    /* A counter without its own view. */
    NUMBER("SELECT value FROM metric WHERE name = 'homemade'", 7);
    NUMBER("SELECT branch_efficiency.value IS NULL FROM branch_efficiency", 1);
    NUMBER("SELECT max(n) FROM (SELECT count(*) AS n FROM metric GROUP BY kernel, name)", 1);
    for (const pl_tracedb_metric *m = pl_tracedb_metrics; m->name; m++) {
        char sql[200];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM \"%s\"", m->name);
        NUMBER(sql, 1);
        ck_assert_ptr_eq(pl_tracedb_metric_find(m->name), m);
        ck_assert(*m->meaning && *m->unit && *m->formula);
    }
    ck_assert_ptr_null(pl_tracedb_metric_find("no_such_metric"));
    leave_folder();
}
END_TEST

START_TEST(shipped_queries_run)
{
    enter_folder();
    write_file(PL_TRACEDB_MEM, 2, 20);
    sqlite3 *db;
    int n = 0;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (const pl_tracedb_query *q = pl_tracedb_queries; q->name; q++, n++) {
        char *error = NULL;
        ck_assert_msg(strlen(q->title) > 10, "%s has no title", q->name);
        ck_assert_msg(sqlite3_exec(db, q->sql, NULL, NULL, &error) == SQLITE_OK, "%s: %s", q->name,
                      error);
    }
    sqlite3_close(db);
    ck_assert_int_ge(n, 40);
    NUMBER("SELECT count(*) FROM query", n);
    for (const pl_tracedb_query *q = pl_tracedb_queries; q->name; q++) {
        if (strcmp(q->name, "checks") != 0) continue;
        char sql[2000];
        snprintf(sql, sizeof sql,
                 "SELECT min(\"issues = inst_executed\" + \"lanes = thread instructions\" + "
                 "\"executed = rows of inst\" +"
                 " \"warps = rows of inst\") FROM (%.*s)",
                 (int)strcspn(q->sql, ";"), q->sql);
        NUMBER(sql, 4);
    }
    leave_folder();
}
END_TEST

START_TEST(lane_addresses_round_trip)
{
    enter_folder();
    write_file(PL_TRACEDB_MEM, 1, 1);
    NUMBER("SELECT count(*) FROM mem WHERE stride = 8 AND offsets IS NULL AND space = 4", 6);
    NUMBER("SELECT count(*) FROM mem WHERE stride IS NULL AND offsets IS NOT NULL AND space = 7",
           6);
    NUMBER("SELECT count(*) FROM mem_lane", 12 * 32);
    NUMBER("SELECT sum(address <> 545460846592 + 8 * lane) FROM mem_lane WHERE space = 'global'",
           0);
    NUMBER("SELECT sum(address <> lane * lane % 64 * 8) FROM mem_lane WHERE space = 'shared' AND "
           "kind = 'store'",
           0);
    leave_folder();
}
END_TEST

START_TEST(inactive_lanes_have_no_address)
{
    static const struct {
        uint32_t mask;
        uint64_t addr[PL_LANES];
        int stride; /* -1: irregular */
    } row[] = {
        {0x00000000, {0}, -1},
        {0x00000010, {0, 0, 0, 0, 77}, 0},
        {0x00000012, {9, 100, 9, 9, 112}, 4},
        {0x00000012, {9, 112, 9, 9, 100}, -4},
        {0x0000000b, {100, 104, 9, 113}, -1},
        {0x80000001, {[0] = 5, [31] = 5}, 0},
    };
    sums s = {0};
    enter_folder();
    pl_tracedb *t = open_trace(PL_TRACEDB_MEM, 0);
    pl_tracedb_kernel k = {.entry = "k",
                           .timing = true,
                           .grid = {1, 1, 1},
                           .block = {32, 1, 1},
                           .ninsns = NPC,
                           .insn = describe};
    ck_assert_int_eq(pl_tracedb_begin(t, &k), PL_OK);
    const pl_sink *sink = pl_tracedb_sink(t);
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        pl_inst_event e = {.seq = i, .cycle = i, .pc = PC_LOAD, .mask = row[i].mask, .weight = 1};
        pl_mem_event m = {.seq = i,
                          .cycle = i,
                          .pc = PC_LOAD,
                          .mask = row[i].mask,
                          .space = 4,
                          .size = 4,
                          .addr = row[i].addr};
        sink->inst(sink->ctx, &e);
        sink->mem(sink->ctx, &m);
        s.stat[PC_LOAD].issues++;
        s.stat[PC_LOAD].executed++;
    }
    pl_tracedb_result r = {.status = "ok", .complete = true, .pc_stat = s.stat, .npc = NPC};
    ck_assert_int_eq(pl_tracedb_end(t, &r), PL_OK);
    ck_assert_int_eq(pl_tracedb_close(t, true), PL_OK);
    for (unsigned i = 0; i < sizeof row / sizeof *row; i++) {
        char sql[160];
        snprintf(sql, sizeof sql, "SELECT count(*) FROM mem_lane WHERE mem = %u", i + 1);
        NUMBER(sql, __builtin_popcount(row[i].mask));
        for (int lane = 0; lane < PL_LANES; lane++) {
            if (!(row[i].mask >> lane & 1)) continue;
            snprintf(sql, sizeof sql, "SELECT address FROM mem_lane WHERE mem = %u AND lane = %d",
                     i + 1, lane);
            NUMBER(sql, row[i].addr[lane]);
        }
    }
    NUMBER("SELECT count(*) FROM mem WHERE stride IS NULL", 2);
    NUMBER("SELECT offsets = "
           "'[0,4,null,13,null,null,null,null,null,null,null,null,null,null,null,null,null,null,"
           "null,null,null,null,null,"
           "null,null,null,null,null,null,null,null,null]' FROM mem WHERE offsets IS NOT NULL",
           1);
    leave_folder();
}
END_TEST

/* Results come up to LATEST instructions later, in another order than the instructions, or never:
 * so often that no room is left to wait for the first ones, one of which comes after all. */
enum { LATEST = 5000, RESULTS = PL_TRACEDB_MAX_QUEUED + 3 * LATEST };

static uint32_t late_by(uint64_t seq)
{
    return seq % 3 ? 0 : 1 + (uint32_t)(seq * 0x9e3779b97f4a7c15u >> 33) % (LATEST - 1);
}

static bool never_comes(uint64_t seq)
{
    return seq % 1503 == 21;
}

START_TEST(late_results_update_their_rows)
{
    static uint64_t due[LATEST][64];
    static unsigned ndue[LATEST];
    for (int packed = 0; packed < 2; packed++) {
        enter_folder();
        sums s = {0};
        pl_tracedb *t;
        const pl_tracedb_options o = {.level = PL_TRACEDB_INST, .packed = packed, .sms = 2};
        ck_assert_int_eq(pl_tracedb_open(&t, path, &o), PL_OK);
        const pl_tracedb_kernel k = {.entry = "k",
                                     .timing = true,
                                     .grid = {1, 1, 1},
                                     .block = {32, 1, 1},
                                     .ninsns = NPC,
                                     .insn = describe};
        ck_assert_int_eq(pl_tracedb_begin(t, &k), PL_OK);
        const pl_sink *sink = pl_tracedb_sink(t);
        memset(ndue, 0, sizeof ndue);
        for (uint64_t i = 0; i < RESULTS + LATEST; i++) {
            for (unsigned *n = &ndue[i % LATEST]; *n > 0; --*n) {
                const uint64_t seq = due[i % LATEST][*n - 1];
                sink->done(sink->ctx, seq, late_by(seq));
            }
            if (i >= RESULTS) continue;
            const uint32_t late = late_by(i);
            const pl_inst_event e = {.seq = i,
                                     .cycle = i,
                                     .pc = PC_LOAD,
                                     .mask = 1,
                                     .sm = (uint16_t)(i / 3 % 2),
                                     .latency = late ? PL_LATENCY_LATER : 4};
            sink->inst(sink->ctx, &e);
            if (!late || never_comes(i)) continue;
            const uint64_t when = (i + late) % LATEST;
            ck_assert_uint_lt(ndue[when], 64);
            due[when][ndue[when]++] = i;
        }
        sink->done(sink->ctx, 21, 77);
        s.stat[PC_LOAD].issues = s.stat[PC_LOAD].executed = RESULTS;
        const pl_tracedb_result r = {
            .status = "ok", .complete = true, .pc_stat = s.stat, .npc = NPC};
        ck_assert_int_eq(pl_tracedb_end(t, &r), PL_OK);
        ck_assert_int_eq(pl_tracedb_close(t, true), PL_OK);

        sqlite3 *db;
        sqlite3_stmt *q;
        pl_arena *arena = pl_arena_open();
        pl_diags diags;
        pl_diags_init(&diags, arena);
        ck_assert_int_eq(pl_tracedb_connect(&diags, path, &db), PL_OK);
        ck_assert_int_eq(
            sqlite3_prepare_v2(db, "SELECT id - (SELECT first_inst FROM kernel), latency FROM inst",
                               -1, &q, NULL),
            SQLITE_OK);
        uint64_t rows = 0;
        for (; sqlite3_step(q) == SQLITE_ROW; rows++) {
            const uint64_t seq = (uint64_t)sqlite3_column_int64(q, 0), late = late_by(seq);
            const uint64_t expected = never_comes(seq) ? 0 : late ? late : 4;
            ck_assert_msg((uint64_t)sqlite3_column_int64(q, 1) == expected,
                          "%s: issue %llu has latency %lld", packed ? "packed" : "rows",
                          (unsigned long long)seq, (long long)sqlite3_column_int64(q, 1));
        }
        ck_assert_uint_eq(rows, RESULTS);
        sqlite3_finalize(q);
        sqlite3_close(db);
        pl_arena_close(arena);
        leave_folder();
    }
}
END_TEST

START_TEST(barriers_pair_arrival_and_departure)
{
    enter_folder();
    sums s;
    pl_tracedb *t = open_trace(PL_TRACEDB_INST, 0);
    ck_assert_int_eq(write_launch(t, &s, 1, true, NULL), PL_OK);
    ck_assert_int_eq(pl_tracedb_close(t, true), PL_OK);
    NUMBER("SELECT count(*) FROM barrier WHERE resumed = arrived + 1", 5);
    NUMBER("SELECT block * 10 + warp FROM barrier WHERE resumed IS NULL", 21);
    NUMBER("SELECT count(*) FROM event WHERE kind = 'fault' AND text = 'deadlock'", 1);
    NUMBER("SELECT count(*) FROM pragma_foreign_key_check", 0);
    leave_folder();
}
END_TEST

START_TEST(metric_windows_double)
{
    enter_folder();
    sums s;
    pl_tracedb *t = open_trace(PL_TRACEDB_INST, 0);
    /* 36,000 cycles: windows of 256. */
    ck_assert_int_eq(write_launch(t, &s, 1000, false, NULL), PL_OK);
    ck_assert_int_eq(pl_tracedb_close(t, true), PL_OK);
    NUMBER("SELECT sum(value) FROM counter_time WHERE name = 'inst_executed'", 36000 / NPC * 25);
    NUMBER("SELECT max(cycles) FROM counter_time", 256);
    /* 256 rows: 42 times the program, and four rows, including one division. */
    NUMBER("SELECT max(value) FROM counter_time WHERE name = 'inst_executed'", 256 / NPC * 25 + 23);
    NUMBER("SELECT count(*) FROM counter_time WHERE name = 'inst_executed'", (36000 + 255) / 256);
    leave_folder();
}
END_TEST

START_TEST(source_lines_are_found)
{
    enter_folder();
    char cuda[96];
    snprintf(cuda, sizeof cuda, "%s/k.cu", folder);
    FILE *f = fopen(cuda, "w");
    fputs("first\nsecond\nthird\n", f);
    fclose(f);
    sums s;
    pl_tracedb *t = open_trace(PL_TRACEDB_SUMMARY, 0);
    ck_assert_int_eq(write_launch(t, &s, 1, false, cuda), PL_OK);
    ck_assert_int_eq(pl_tracedb_close(t, true), PL_OK);
    NUMBER("SELECT count(*) FROM listing WHERE src = 'second' AND src_line = 2", NPC);
    NUMBER("SELECT sum(ptx = substr(text, 1, length(ptx))) FROM listing WHERE pc <> 1", NPC - 1);
    NUMBER("SELECT count(*) FROM source_line WHERE source = (SELECT id FROM source WHERE language "
           "= 'cuda')",
           1);
    NUMBER("SELECT count(*) FROM isa_form WHERE effects = 'load'", 1);
    leave_folder();
}
END_TEST

START_TEST(output_is_deterministic)
{
    char keep[112], command[256];
    enter_folder();
    setenv("SOURCE_DATE_EPOCH", "1700000000", 1);
    write_file(PL_TRACEDB_MEM, 1, 50);
    snprintf(keep, sizeof keep, "%s.first", path);
    ck_assert_int_eq(rename(path, keep), 0);
    write_file(PL_TRACEDB_MEM, 1, 50);
    snprintf(command, sizeof command, "cmp '%s' '%s'", path, keep);
    ck_assert_int_eq(system(command), 0);
    leave_folder();
}
END_TEST

/* ---- must never happen: a damaged file with a valid name ---- */

START_TEST(file_is_renamed_last)
{
    enter_folder();
    sums s;
    pl_tracedb *t = open_trace(PL_TRACEDB_INST, 0);
    ck_assert(exists(part) && !exists(path));
    ck_assert_int_eq(write_launch(t, &s, 5, false, NULL), PL_OK);
    ck_assert(exists(part) && !exists(path));
    unsigned char version[4];
    FILE *f = fopen(part, "rb");
    /* Big-endian user_version. */
    ck_assert(fseek(f, 60, SEEK_SET) == 0 && fread(version, 1, 4, f) == 4);
    fclose(f);
    ck_assert_int_eq(version[3], 0);
    ck_assert_int_eq(pl_tracedb_close(t, false), PL_OK); /* discarded */
    ck_assert(!exists(part) && !exists(path));
    leave_folder();
}
END_TEST

START_TEST(close_during_launch_discards_file)
{
    enter_folder();
    pl_tracedb *t = open_trace(PL_TRACEDB_INST, 0);
    pl_tracedb_kernel k = {
        .entry = "k", .grid = {1, 1, 1}, .block = {32, 1, 1}, .ninsns = NPC, .insn = describe};
    ck_assert_int_eq(pl_tracedb_begin(t, &k), PL_OK);
    ck_assert_int_eq(pl_tracedb_close(t, true), PL_INTERRUPTED);
    ck_assert_ptr_nonnull(pl_tracedb_error(t));
    ck_assert_int_eq(pl_tracedb_close(t, false), PL_OK);
    ck_assert(!exists(part) && !exists(path));
    leave_folder();
}
END_TEST

/* A child writes launches endlessly and is killed after a varying delay: a valid earlier file must
 * be unchanged, and the next run must succeed despite leftover files. */
START_TEST(killed_at_random_times)
{
    enter_folder();
    write_file(PL_TRACEDB_SUMMARY, 1, 1);
    for (unsigned i = 0; i < 12; i++) {
        pid_t child = fork();
        if (child == 0) {
            sums s;
            pl_tracedb *t = open_trace(PL_TRACEDB_MEM, 0);
            for (;;) write_launch(t, &s, 20, false, NULL);
        }
        nanosleep(&(struct timespec){.tv_nsec = i * 7000000L}, NULL);
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        NUMBER("SELECT count(*) FROM kernel", 1);
        NUMBER("SELECT level = 'summary' FROM run", 1);
    }
    write_file(PL_TRACEDB_INST, 2, 1);
    NUMBER("SELECT count(*) FROM kernel", 2);
    ck_assert(!exists(part));
    leave_folder();
}
END_TEST

START_TEST(second_writer_is_rejected)
{
    enter_folder();
    int ready[2], go[2];
    char c = 0;
    ck_assert(pipe(ready) == 0 && pipe(go) == 0);
    pid_t child = fork();
    if (child == 0) {
        sums s;
        pl_tracedb *t = open_trace(PL_TRACEDB_INST, 0);
        bool good = write(ready[1], &c, 1) == 1 && read(go[0], &c, 1) == 1 &&
                    write_launch(t, &s, 1, false, NULL) == PL_OK &&
                    pl_tracedb_close(t, true) == PL_OK;
        _exit(good ? 0 : 1);
    }
    ck_assert_int_eq(read(ready[0], &c, 1), 1);
    pl_tracedb *t;
    pl_tracedb_options o = {.level = PL_TRACEDB_INST};
    ck_assert_int_eq(pl_tracedb_open(&t, path, &o), PL_IO);
    ck_assert_ptr_nonnull(strstr(pl_tracedb_error(t), "another program"));
    pl_tracedb_close(t, false);
    ck_assert(exists(part)); /* belongs to the other writer */
    int status;
    ck_assert_int_eq(write(go[1], &c, 1), 1);
    waitpid(child, &status, 0);
    ck_assert_int_eq(status, 0);
    NUMBER("SELECT count(*) FROM kernel", 1);
    leave_folder();
}
END_TEST

START_TEST(unwritable_paths)
{
    static const char slip[] = ".version 9.0\n";
    char bad[128];
    pl_tracedb *t;
    pl_tracedb_options o = {.level = PL_TRACEDB_SUMMARY};
    enter_folder();
    snprintf(bad, sizeof bad, "%s/missing/x.db", folder);
    ck_assert_int_eq(pl_tracedb_open(&t, bad, &o), PL_IO);
    ck_assert_str_eq(pl_tracedb_error(t), "No such file or directory");
    pl_tracedb_close(t, false);

    ck_assert_int_eq(pl_tracedb_open(&t, folder, &o), PL_IO);
    ck_assert_ptr_nonnull(pl_tracedb_error(t));
    pl_tracedb_close(t, false);

    ck_assert_int_eq(pl_tracedb_open(&t, "", &o), PL_INVALID);
    pl_tracedb_close(t, false);

    /* --trace k.ptx */
    snprintf(bad, sizeof bad, "%s/k.ptx", folder);
    FILE *f = fopen(bad, "w+");
    fputs(slip, f);
    fflush(f);
    ck_assert_int_eq(pl_tracedb_open(&t, bad, &o), PL_INVALID);
    ck_assert_ptr_nonnull(strstr(pl_tracedb_error(t), "not a ptxloom trace"));
    pl_tracedb_close(t, false);
    char text[64] = "";
    rewind(f);
    ck_assert_ptr_nonnull(fgets(text, sizeof text, f));
    ck_assert_str_eq(text, slip);
    fclose(f);
    leave_folder();
}
END_TEST

/* The size limit of the process simulates a full disk: writes past it fail. */
START_TEST(full_disk)
{
    enter_folder();
    signal(SIGXFSZ, SIG_IGN);
    for (rlim_t limit = 100 << 10; limit <= 3200 << 10; limit *= 2) {
        sums s;
        struct rlimit small = {limit, RLIM_INFINITY}, none = {RLIM_INFINITY, RLIM_INFINITY};
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
        pl_tracedb *t;
        pl_tracedb_options o = {.level = PL_TRACEDB_MEM};
        pl_status st = pl_tracedb_open(&t, path, &o);
        if (st == PL_OK) st = write_launch(t, &s, 2000, false, NULL);
        if (st == PL_OK) st = pl_tracedb_close(t, true);
        ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &none), 0);
        ck_assert_int_eq(st, PL_IO);
        ck_assert_msg(strlen(pl_tracedb_error(t)) > 5, "no reason given");
        ck_assert_int_eq(pl_tracedb_close(t, false), PL_OK);
        ck_assert(!exists(part) && !exists(path));
    }
    leave_folder();
}
END_TEST

START_TEST(size_limit)
{
    enter_folder();
    sums s;
    pl_tracedb *t = open_trace(PL_TRACEDB_MEM, 6 << 20);
    ck_assert_int_eq(write_launch(t, &s, 8000, false, NULL), PL_OK);
    uint64_t dropped = pl_tracedb_dropped(t);
    ck_assert_int_eq(pl_tracedb_close(t, true), PL_OK);
    ck_assert_uint_gt(dropped, 0);
    struct stat st;
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_msg(st.st_size <= 6 << 20, "%lld bytes", (long long)st.st_size);
    NUMBER("SELECT dropped FROM kernel", dropped);
    NUMBER("SELECT (SELECT count(*) FROM inst) + (SELECT count(*) FROM mem) + (SELECT dropped FROM "
           "kernel)",
           8000 * 6 * (6 + 2));
    NUMBER("SELECT count(*) FROM event WHERE kind = 'dropped'", 1);
    NUMBER("SELECT sum(issues) = (SELECT inst_executed FROM kernel) FROM pc_stat", 1);
    NUMBER("SELECT sum(executed) FROM warp", 8000 * 36);
    NUMBER("SELECT count(*) FROM pragma_foreign_key_check", 0);
    leave_folder();
}
END_TEST

START_TEST(filters_keep_statistics)
{
    static const struct {
        pl_tracedb_filter filter;
        const char *words, *outside; /* rows that must not exist */
        uint32_t inst, mem;
    } row[] = {
        /* 6 warps, 4 rounds, 6 instructions of which 2 access memory */
        {{0}, NULL, "0", 144, 48},
        {{.sm = "1"}, "sm 1", "sm <> 1", 48, 16},
        {{.block = "2:"}, "block 2:", "block < 2", 48, 16},
        {{.block = "0,2"}, "block 0,2", "block = 1", 96, 32},
        {{.warp = "0", .pc = ":1"}, "warp 0, pc :1", "warp <> 0 OR pc > 1", 24, 12},
        {{.pc = "line:4:5,0"}, "pc line:4:5,0", "pc NOT IN (0, 3, 4)", 72, 48},
        {{.cycles = "36:71"}, "cycles 36:71", "cycle < 36 OR cycle > 71", 36, 12},
        {{.cls = "store,ld"}, "class store,ld", "pc NOT IN (0, 3)", 48, 48},
        {{.cls = "barrier"}, "class barrier", "pc <> 2", 24, 0},
        {{.kernel = "k"}, "kernel k", "0", 144, 48},
        {{.kernel = "*"}, "kernel *", "0", 144, 48},
        {{.kernel = "other"}, "kernel other", "1", 0, 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        sums s;
        char sql[200];
        pl_tracedb *t;
        pl_tracedb_options o = {.level = PL_TRACEDB_MEM, .filter = row[i].filter};
        enter_folder();
        ck_assert_int_eq(pl_tracedb_open(&t, path, &o), PL_OK);
        ck_assert_int_eq(write_launch(t, &s, 4, false, NULL), PL_OK);
        ck_assert_int_eq(pl_tracedb_close(t, true), PL_OK);
        NUMBER("SELECT count(*) FROM inst", row[i].inst);
        NUMBER("SELECT count(*) FROM mem", row[i].mem);
        NUMBER("SELECT filtered FROM kernel", 144 + 48 - row[i].inst - row[i].mem);
        snprintf(sql, sizeof sql, "SELECT count(*) FROM inst WHERE %s", row[i].outside);
        NUMBER(sql, 0);
        snprintf(sql, sizeof sql, "SELECT filter IS %s%s%s FROM run", row[i].words ? "'" : "",
                 row[i].words ? row[i].words : "NULL", row[i].words ? "'" : "");
        NUMBER(sql, 1);
        NUMBER("SELECT sum(executed) FROM pc_stat", 144);
        NUMBER("SELECT sum(executed) FROM warp", 144);
        leave_folder();
    }
}
END_TEST

START_TEST(invalid_filter_messages)
{
    static const struct {
        pl_tracedb_filter filter;
        const char *option;
    } row[] = {
        {{.sm = "1-3"}, "--trace-sm"},
        {{.sm = ""}, "--trace-sm"},
        {{.block = "3:1"}, "--trace-block"},
        {{.warp = "1,"}, "--trace-warp"},
        {{.warp = "line:3"}, "--trace-warp"},
        {{.pc = "line"}, "--trace-pc"},
        {{.cycles = ":"}, "--trace-cycles"},
        {{.cycles = "99999999999999999999"}, "--trace-cycles"},
        {{.cls = "lod"}, "--trace-class"},
        {{.cls = "load,"}, "--trace-class"},
        {{.sample = "1/0"}, "--trace-sample"},
        {{.sample = "0.1"}, "--trace-sample"},
        {{.kernel = ""}, "--trace-kernel"},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        pl_tracedb_filter_error bad = {0};
        ck_assert_msg(pl_tracedb_filter_check(&row[i].filter, &bad) == PL_INVALID, "row %zu", i);
        ck_assert_str_eq(bad.option, row[i].option);
        ck_assert_ptr_nonnull(bad.expected);
    }
}
END_TEST

START_TEST(sampling_keeps_whole_warps)
{
    enter_folder();
    pl_tracedb *t;
    pl_tracedb_options o = {.level = PL_TRACEDB_INST, .filter = {.sample = "1/10"}};
    pl_tracedb_kernel k = {
        .entry = "k", .grid = {1000, 1, 1}, .block = {64, 1, 1}, .ninsns = NPC, .insn = describe};
    pl_pc_stat stat[NPC] = {{0}};
    ck_assert_int_eq(pl_tracedb_open(&t, path, &o), PL_OK);
    ck_assert_int_eq(pl_tracedb_begin(t, &k), PL_OK);
    const pl_sink *sink = pl_tracedb_sink(t);
    for (uint32_t i = 0; i < 2000 * NPC; i++) {
        pl_inst_event e = {
            .seq = i, .block = i / NPC / 2, .warp = i / NPC % 2, .pc = i % NPC, .mask = 1};
        sink->inst(sink->ctx, &e);
        stat[e.pc].executed++;
    }
    pl_tracedb_result r = {.status = "ok", .complete = true, .pc_stat = stat, .npc = NPC};
    ck_assert_int_eq(pl_tracedb_end(t, &r), PL_OK);
    ck_assert_int_eq(pl_tracedb_close(t, true), PL_OK);
    NUMBER(
        "SELECT count(*) FROM (SELECT count(*) AS n FROM inst GROUP BY block, warp) WHERE n <> 6",
        0);
    double warps = number("SELECT count(*) FROM (SELECT DISTINCT block, warp FROM inst)");
    ck_assert_msg(warps > 120 && warps < 280, "%.0f warps of 2000", warps);
    NUMBER("SELECT count(*) FROM warp", 2000);
    leave_folder();
}
END_TEST

START_TEST(opcode_memory_access)
{
    static const struct {
        const char *text;
        uint32_t effects;
        const char *kind, *space;
        uint32_t bytes;
    } row[] = {
        {"add.f32 R1, R2, R3", 0, NULL, NULL, 0},
        {"ld.global.nc.v4.f32 {R1, R2, R3, R4}, [R6]", PL_EF_LOAD, "load", "global", 16},
        {"@!P3 ld.global.L2::64B.u8 R1, [R2+4]", PL_EF_LOAD, "load", "global", 1},
        {"ld.f64 R1, [R2]", PL_EF_LOAD, "load", "generic", 8},
        {"st.shared::cta.v2.b16 [R1], {R2, R3}", PL_EF_STORE, "store", "shared", 4},
        {"st.local.b128 [R1], R2", PL_EF_STORE, "store", "local", 16},
        {"atom.global.gpu.relaxed.add.noftz.f16x2 R1, [R2], R3",
         PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC, "atomic", "global", 4},
        {"red.shared.add.u32 [R1], R2", PL_EF_STORE | PL_EF_ATOMIC, "reduction", "shared", 4},
        {"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {R1, R2, R3, R4}, [R5]", PL_EF_LOAD, "load",
         "shared", 16},
        {"cp.async.ca.shared.global [R1], [R2], 16", PL_EF_ASYNC | PL_EF_LOAD, "async", "shared",
         0},
        {"prefetch.global.L2 [R1]", PL_EF_LOAD, "prefetch", "global", 0},
        {"tex.2d.v4.f32.f32 {R1, R2, R3, R4}, [t, {R5, R6}]", PL_EF_LOAD, "load", "texture", 0},
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        pl_tracedb_access a = pl_tracedb_opcode(row[i].text, row[i].effects);
        ck_assert_pstr_eq(a.kind, row[i].kind);
        ck_assert_pstr_eq(a.space, row[i].space);
        ck_assert_msg(a.bytes == row[i].bytes, "%s: %u bytes", row[i].text, a.bytes);
    }
}
END_TEST

/* Reads a file of the source tree into buf. */
static void read_page(const char *name, char *buf, size_t size)
{
    const char *root = getenv("abs_srcdir");
    char file[512];
    snprintf(file, sizeof file, "%s/%s", root ? root : ".", name);
    FILE *f = fopen(file, "r");
    ck_assert_msg(f != NULL, "cannot open %s", file);
    buf[fread(buf, 1, size - 1, f)] = '\0';
    fclose(f);
}

/* Words consist of letters, digits and underscores. */
static bool mentions(const char *text, const char *word)
{
    static const char part_of_word[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    size_t n = strlen(word);
    for (const char *p = text; (p = strstr(p, word)) != NULL; p += n)
        if ((p == text || !strchr(part_of_word, p[-1])) && (!p[n] || !strchr(part_of_word, p[n])))
            return true;
    return false;
}

START_TEST(manual_page_is_complete)
{
    static char page[64 << 10];
    read_page("man/ptxloom-trace.5", page, sizeof page);
    enter_folder();
    write_file(PL_TRACEDB_SUMMARY, 1, 1);
    sqlite3 *db;
    sqlite3_stmt *s;
    int columns = 0;
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    ck_assert_int_eq(pl_tracedb_register(db), SQLITE_OK);
    ck_assert_int_eq(
        sqlite3_prepare_v2(
            db,
            "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_info(m.name) c WHERE m.type "
            "IN ('table', 'view')"
            " AND m.name NOT LIKE 'sqlite%' AND m.name NOT IN (SELECT name FROM metric_info)",
            -1, &s, NULL),
        SQLITE_OK);
    for (; sqlite3_step(s) == SQLITE_ROW; columns++) {
        const char *table = (const char *)sqlite3_column_text(s, 0),
                   *column = (const char *)sqlite3_column_text(s, 1);
        ck_assert_msg(mentions(page, table) && mentions(page, column),
                      "ptxloom-trace(5) does not name %s.%s", table, column);
    }
    sqlite3_finalize(s);
    sqlite3_close(db);
    ck_assert_int_gt(columns, 150);
    leave_folder();
}
END_TEST

START_TEST(the_cookbook_runs)
{
    static char page[64 << 10];
    static const char begin[] = "```sql\n";
    int blocks = 0;
    sqlite3 *db;
    read_page("doc/sql-cookbook.md", page, sizeof page);
    enter_folder();
    write_file(PL_TRACEDB_MEM, 2, 20);
    ck_assert_int_eq(sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
    for (char *p = page; (p = strstr(p, begin)) != NULL; blocks++) {
        char *sql = p + sizeof begin - 1, *error = NULL;
        p = strstr(sql, "```");
        ck_assert_ptr_nonnull(p);
        *p++ = '\0';
        ck_assert_msg(sqlite3_exec(db, sql, NULL, NULL, &error) == SQLITE_OK, "%s: %s", sql, error);
    }
    sqlite3_close(db);
    ck_assert_int_gt(blocks, 12);
    leave_folder();
}
END_TEST

UNIT_MAIN("trace", counts_agree, a_summary_has_statistics_only, metrics_follow_their_definitions,
          shipped_queries_run, lane_addresses_round_trip, inactive_lanes_have_no_address,
          late_results_update_their_rows, barriers_pair_arrival_and_departure,
          metric_windows_double, source_lines_are_found, output_is_deterministic,
          file_is_renamed_last, close_during_launch_discards_file, killed_at_random_times,
          second_writer_is_rejected, unwritable_paths, full_disk, size_limit,
          invalid_filter_messages, filters_keep_statistics, sampling_keeps_whole_warps,
          opcode_memory_access, manual_page_is_complete, the_cookbook_runs)
