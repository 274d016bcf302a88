/* accesses.c - aggregates the rows of mem: traffic by address and time, and single accesses lane by
 * lane. */
#include "isa/program/insn.h"
#include "traces/report/bytes.h"
#include "traces/report/detail.h"
#include <stdlib.h>
#include <string.h>

enum {
    WINDOWS = 128,            /* time windows of a map */
    MAX_PAGES = 96,           /* rows of a map */
    MAX_TRACKED_PAGES = 4096, /* while reading; the page size doubles when there are more */
    FIRST_PAGE = 7,           /* log2 of the initial page size in bytes: a line */
    MAX_LANE_BYTES = 1024,    /* most bytes of a lane that are drawn */
    MAX_COST = 65             /* limit for counting sectors or passes of an access */
};

static const char *const level_name[] = {"l1", "l2", "dram"}; /* levels shown in a map */
enum { LEVELS = sizeof level_name / sizeof *level_name };

typedef struct page {
    uint64_t number;
    uint32_t sectors[LEVELS][WINDOWS];
} page;

/* Statistics of the accesses of one machine instruction. */
typedef struct access {
    uint64_t count, sectors, wavefronts;
    int64_t first, most_expensive; /* rows of mem: the first access and the most expensive one */
    uint64_t cost;                 /* of the most expensive access */
    uint32_t by_cost[MAX_COST + 1];
    bool shared;
} access;

typedef struct survey {
    const pl_report_launch *l;
    uint64_t width; /* cycles per window */
    int page_bits;
    page *page;
    size_t npages;
    uint32_t *slot;                   /* open addressing: index in page plus one */
    access *access;                   /* by pc */
    int level_of[16], global, shared; /* level_of[mem.level]: index in level_name, or -1 */
} survey;

enum { SLOTS = 4 * MAX_TRACKED_PAGES, LANES = PL_LANES * PL_MAX_HALVES };

/* ---- lanes ---- */

/* Reads the addresses of the active lanes of a row; false if its offsets cannot be parsed. Columns
 * as in the statements below. */
static bool lane_addresses(sqlite3_stmt *s, uint64_t mask, int address_column, uint64_t addr[LANES])
{
    uint64_t base = (uint64_t)sqlite3_column_int64(s, address_column);
    int64_t first = sqlite3_column_int64(s, address_column - 1);
    if (sqlite3_column_type(s, address_column + 1) != SQLITE_NULL) {
        uint64_t stride = (uint64_t)sqlite3_column_int64(s, address_column + 1);
        /* Modulo 2^64, whatever values the file contains. */
        for (unsigned i = 0; i < LANES; i++) addr[i] = base + stride * (i - (uint64_t)first);
        return true;
    }
    const char *p = (const char *)sqlite3_column_text(s, address_column + 2);
    for (int i = 0; p && *p && i < LANES; i++) {
        char *end;
        p += strspn(p, "[, ");
        long long v = strtoll(p, &end, 10);
        if (end == p && (mask >> i & 1)) return false;
        addr[i] = base + (uint64_t)v;
        p += strcspn(p, ",]");
    }
    return p != NULL;
}

/* ---- pages ---- */

static size_t slot_of(const survey *v, uint64_t number)
{
    size_t at = (size_t)((number * 0x9e3779b97f4a7c15u) >> 40) % SLOTS;
    while (v->slot[at] && v->page[v->slot[at] - 1].number != number) at = (at + 1) % SLOTS;
    return at;
}

static int by_number(const void *a, const void *b)
{
    uint64_t x = ((const page *)a)->number, y = ((const page *)b)->number;
    return (x > y) - (x < y);
}

/* Doubles the page size; leaves the pages sorted by address. */
static void double_pages(survey *v)
{
    size_t n = 0;
    qsort(v->page, v->npages, sizeof *v->page, by_number);
    for (size_t i = 0; i < v->npages; i++) {
        page *p = &v->page[i];
        p->number >>= 1;
        if (n && v->page[n - 1].number == p->number) {
            uint32_t *to = &v->page[n - 1].sectors[0][0], *from = &p->sectors[0][0];
            for (size_t k = 0; k < LEVELS * WINDOWS; k++) to[k] += from[k];
        } else if (n++ != i) {
            v->page[n - 1] = *p;
        }
    }
    v->npages = n;
    v->page_bits++;
    memset(v->slot, 0, SLOTS * sizeof *v->slot);
    for (size_t i = 0; i < n; i++) v->slot[slot_of(v, v->page[i].number)] = (uint32_t)i + 1;
}

static page *page_at(survey *v, uint64_t address)
{
    size_t at = slot_of(v, address >> v->page_bits);
    if (v->slot[at]) return &v->page[v->slot[at] - 1];
    while (v->npages == MAX_TRACKED_PAGES) {
        double_pages(v);
        at = slot_of(v, address >> v->page_bits);
        if (v->slot[at]) return &v->page[v->slot[at] - 1];
    }
    page *p = &v->page[v->npages++];
    *p = (page){.number = address >> v->page_bits};
    v->slot[at] = (uint32_t)v->npages;
    return p;
}

/* Distributes the sectors of an access over its active lanes; the shares add up to all sectors. */
static void add_traffic(survey *v, sqlite3_stmt *s, uint64_t mask, uint64_t sectors, int level,
                        uint64_t window)
{
    uint64_t addr[LANES] = {0}, n = 0, assigned = 0, k = 0;
    if (!lane_addresses(s, mask, 5, addr)) return;
    for (int i = 0; i < LANES; i++) n += mask >> i & 1;
    for (int i = 0; i < LANES; i++) {
        if (!(mask >> i & 1)) continue;
        uint64_t share = sectors * ++k / n - assigned;
        assigned += share;
        if (share) page_at(v, addr[i])->sectors[level][window] += (uint32_t)share;
    }
}

/* ---- the pass over mem ---- */

static void record_access(access *a, int64_t id, uint64_t sectors, uint64_t wavefronts, bool shared)
{
    uint64_t cost = shared ? wavefronts : sectors;
    if (a->count++ == 0) a->first = id;
    if (a->count == 1 || cost > a->cost) {
        a->most_expensive = id;
        a->cost = cost;
    }
    a->shared = shared;
    a->sectors += sectors;
    a->wavefronts += wavefronts;
    a->by_cost[cost <= MAX_COST ? cost : MAX_COST]++;
}

static bool read_rows(survey *v)
{
    static const char sql[] = "SELECT id, cycle, pc, mask, first_lane, address, stride, offsets, "
                              "space, sectors, wavefronts, "
                              "level FROM mem WHERE kernel = ?";
    sqlite3_stmt *s = NULL;
    int code = SQLITE_ERROR;
    if (sqlite3_prepare_v2(v->l->db, sql, -1, &s, NULL) != SQLITE_OK) return false;
    sqlite3_bind_int64(s, 1, v->l->kernel);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        uint64_t pc = (uint64_t)sqlite3_column_int64(s, 2),
                 sectors = (uint64_t)sqlite3_column_int64(s, 9);
        uint64_t window = (uint64_t)sqlite3_column_int64(s, 1) / v->width;
        int space = sqlite3_column_int(s, 8), level = sqlite3_column_int(s, 11);
        if (pc < v->l->code)
            record_access(&v->access[pc], sqlite3_column_int64(s, 0), sectors,
                          (uint64_t)sqlite3_column_int64(s, 10), space == v->shared);
        level = level >= 0 && level < 16 ? v->level_of[level] : -1;
        if (v->l->timing && space == v->global && level >= 0 && window < WINDOWS && sectors)
            add_traffic(v, s, (uint64_t)sqlite3_column_int64(s, 3), sectors, level, window);
    }
    return pl_report_finalize(s, code);
}

/* Reads the ids of the names in the columns space and level. */
static bool read_names(survey *v)
{
    sqlite3_stmt *s = NULL;
    int code;
    for (int i = 0; i < 16; i++) v->level_of[i] = -1;
    v->global = v->shared = -1;
    if (sqlite3_prepare_v2(
            v->l->db, "SELECT 0, id, name FROM space UNION ALL SELECT 1, id, name FROM mem_level",
            -1, &s, NULL) != SQLITE_OK)
        return false;
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        int id = sqlite3_column_int(s, 1);
        const char *name = (const char *)sqlite3_column_text(s, 2);
        if (!name) continue;
        if (sqlite3_column_int(s, 0) == 0) {
            if (strcmp(name, "global") == 0) v->global = id;
            if (strcmp(name, "shared") == 0) v->shared = id;
        } else {
            for (int i = 0; i < LEVELS; i++)
                if (id >= 0 && id < 16 && strcmp(name, level_name[i]) == 0) v->level_of[id] = i;
        }
    }
    return pl_report_finalize(s, code);
}

/* ---- output ---- */

static bool write_map(survey *v, pl_json *j)
{
    pl_bytes b = {0};
    while (v->npages > MAX_PAGES) double_pages(v);
    qsort(v->page, v->npages, sizeof *v->page, by_number);
    pl_json_key(j, "maps"), pl_json_open(j, '{');
    pl_json_key(j, "width"), pl_json_int(j, (int64_t)v->width);
    pl_json_key(j, "windows"), pl_json_int(j, WINDOWS);
    pl_json_key(j, "page"), pl_json_int(j, (int64_t)1 << v->page_bits);
    pl_json_key(j, "levels"), pl_json_open(j, '[');
    for (int i = 0; i < LEVELS; i++) pl_json_text(j, level_name[i]);
    pl_json_close(j);
    pl_json_key(j, "addresses"), pl_json_open(j, '[');
    for (size_t i = 0; i < v->npages; i++) {
        pl_json_int(j, (int64_t)(v->page[i].number << v->page_bits));
        for (size_t k = 0; k < LEVELS * WINDOWS; k++)
            pl_bytes_sparse(&b, (&v->page[i].sectors[0][0])[k]);
    }
    pl_json_close(j);
    pl_bytes_end(&b);
    pl_json_key(j, "sectors"), pl_json_base64(j, b.at, b.n);
    pl_json_close(j);
    free(b.at);
    return !b.failed;
}

static bool write_sample(const survey *v, int64_t id, const char *which, pl_json *j)
{
    static const char sql[] =
        "SELECT m.cycle, m.pc, m.mask, m.first_lane, m.address, m.stride, m.offsets, s.name, "
        "a.name, m.size, m.sectors, "
        "m.wavefronts, l.name, m.latency, m.sm, m.block, m.warp FROM mem m JOIN space s ON s.id = "
        "m.space "
        "JOIN access_kind a ON a.id = m.kind JOIN mem_level l ON l.id = m.level WHERE m.id = ?";
    static const struct {
        const char *name;
        int column;
    } number[] = {{"cycle", 0},    {"size", 9}, {"sectors", 10}, {"wavefronts", 11},
                  {"latency", 13}, {"sm", 14},  {"block", 15},   {"warp", 16}};
    uint64_t addr[LANES] = {0};
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(v->l->db, sql, -1, &s, NULL) != SQLITE_OK) return false;
    sqlite3_bind_int64(s, 1, id);
    int code = sqlite3_step(s);
    uint64_t mask = (uint64_t)sqlite3_column_int64(s, 2);
    const int64_t size = sqlite3_column_int64(s, 9);
    if (code == SQLITE_ROW && size >= 0 && size <= MAX_LANE_BYTES &&
        lane_addresses(s, mask, 4, addr)) {
        pl_json_open(j, '{');
        pl_json_key(j, "mem"), pl_json_int(j, id);
        pl_json_key(j, "which"), pl_json_text(j, which);
        for (size_t i = 0; i < sizeof number / sizeof *number; i++)
            pl_json_key(j, number[i].name),
                pl_json_int(j, sqlite3_column_int64(s, number[i].column));
        pl_json_key(j, "space"), pl_json_text(j, (const char *)sqlite3_column_text(s, 7));
        pl_json_key(j, "kind"), pl_json_text(j, (const char *)sqlite3_column_text(s, 8));
        pl_json_key(j, "level"), pl_json_text(j, (const char *)sqlite3_column_text(s, 12));
        pl_json_key(j, "lanes"), pl_json_open(j, '[');
        const int lanes = mask >> PL_LANES ? LANES : PL_LANES;
        for (int i = 0; i < lanes; i++) {
            if (mask >> i & 1)
                pl_json_int(j, (int64_t)addr[i]);
            else
                pl_json_null(j);
        }
        pl_json_close(j);
        pl_json_close(j);
    }
    return sqlite3_finalize(s) == SQLITE_OK;
}

static bool write_accesses(const survey *v, pl_json *j)
{
    bool good = true;
    pl_json_key(j, "accesses"), pl_json_open(j, '[');
    for (size_t pc = 0; good && pc < v->l->code; pc++) {
        const access *a = &v->access[pc];
        if (a->count == 0) continue;
        pl_json_open(j, '{');
        pl_json_key(j, "pc"), pl_json_int(j, (int64_t)pc);
        pl_json_key(j, "rows"), pl_json_int(j, (int64_t)a->count);
        pl_json_key(j, "sectors"), pl_json_int(j, (int64_t)a->sectors);
        pl_json_key(j, "wavefronts"), pl_json_int(j, (int64_t)a->wavefronts);
        pl_json_key(j, "measure"), pl_json_text(j, a->shared ? "wavefronts" : "sectors");
        pl_json_key(j, "spread"), pl_json_open(j, '[');
        for (int i = 0; i <= MAX_COST; i++) {
            if (a->by_cost[i] == 0) continue;
            pl_json_open(j, '[');
            pl_json_int(j, i);
            pl_json_int(j, a->by_cost[i]);
            pl_json_close(j);
        }
        pl_json_close(j);
        pl_json_key(j, "samples"), pl_json_open(j, '[');
        good = write_sample(v, a->most_expensive, "dearest", j);
        if (a->first != a->most_expensive) good = good && write_sample(v, a->first, "first", j);
        pl_json_close(j);
        pl_json_close(j);
    }
    pl_json_close(j);
    return good;
}

bool pl_report_memory(const pl_report_launch *l, pl_json *j)
{
    survey v = {.l = l, .page_bits = FIRST_PAGE, .width = l->cycles / WINDOWS + 1};
    v.page = calloc(MAX_TRACKED_PAGES, sizeof *v.page);
    v.slot = calloc(SLOTS, sizeof *v.slot);
    v.access = calloc(l->code + 1, sizeof *v.access);
    bool good = v.page && v.slot && v.access && read_names(&v) && read_rows(&v);
    if (good && l->timing) good = write_map(&v, j);
    good = good && write_accesses(&v, j);
    free(v.page);
    free(v.slot);
    free(v.access);
    return good;
}
