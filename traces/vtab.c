/* vtab.c - the SQL tables inst and mem of a packed trace: SQLite virtual tables over packed blocks.
 *
 * A query's constraints on kernel, sm, block, warp, pc, cycle and ids become ranges. Blocks whose
 * ranges in packed_block do not overlap them are skipped. Of the other blocks only the columns that
 * the query reads are unpacked. SQLite re-checks every row, so ranges may be too wide, but never
 * too narrow.
 *
 * Compiled twice: into the library, and with PL_LOADABLE into the module that other programs load.
 */
#include "traces/vtab.h"
#include "base/array.h"
#include "isa/program/insn.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef PL_LOADABLE
SQLITE_EXTENSION_INIT3
#endif

enum { CACHED_BLOCKS = 256 };

/* Fields that constraints may refer to; all but the first two differ between the rows of a block.
 */
typedef enum field { F_KERNEL, F_SM, F_ID, F_INST, F_CYCLE, F_BLOCK, F_WARP, F_PC, F_COUNT } field;

/* The source of the values of an SQL column. */
typedef enum source {
    S_FIELD,
    S_COLUMN,
    S_SPACE,
    S_KIND,
    S_SIZE,
    S_SUBCORE,
    S_LANES,
    S_FIRST_LANE,
    S_ADDRESS,
    S_STRIDE,
    S_OFFSETS
} source;

typedef struct sql_column {
    const char *name, *type;
    uint8_t source, index; /* field, or column of the block */
} sql_column;

/* The columns of rows.sql, in the same order. */
static const sql_column inst_columns[] = {
    {"id", "INTEGER PRIMARY KEY", S_FIELD, F_ID},
    {"kernel", "INTEGER", S_FIELD, F_KERNEL},
    {"cycle", "INTEGER", S_FIELD, F_CYCLE},
    {"sm", "INTEGER", S_FIELD, F_SM},
    {"subcore", "INTEGER", S_SUBCORE, 0},
    {"block", "INTEGER", S_FIELD, F_BLOCK},
    {"warp", "INTEGER", S_FIELD, F_WARP},
    {"pc", "INTEGER", S_FIELD, F_PC},
    {"mask", "INTEGER", S_COLUMN, PL_PI_MASK},
    {"lanes", "INTEGER", S_LANES, PL_PI_MASK},
    {"weight", "INTEGER", S_COLUMN, PL_PI_WEIGHT},
    {"stall", "INTEGER", S_COLUMN, PL_PI_STALL},
    {"stall_cycles", "INTEGER", S_COLUMN, PL_PI_WAITED},
    {"latency", "INTEGER", S_COLUMN, PL_PI_LATENCY},
};
static const sql_column mem_columns[] = {
    {"id", "INTEGER PRIMARY KEY", S_FIELD, F_ID},
    {"inst", "INTEGER", S_FIELD, F_INST},
    {"kernel", "INTEGER", S_FIELD, F_KERNEL},
    {"cycle", "INTEGER", S_FIELD, F_CYCLE},
    {"sm", "INTEGER", S_FIELD, F_SM},
    {"block", "INTEGER", S_FIELD, F_BLOCK},
    {"warp", "INTEGER", S_FIELD, F_WARP},
    {"pc", "INTEGER", S_FIELD, F_PC},
    {"space", "INTEGER", S_SPACE, PL_PM_ACCESS},
    {"kind", "INTEGER", S_KIND, PL_PM_ACCESS},
    {"mask", "INTEGER", S_COLUMN, PL_PM_MASK},
    {"size", "INTEGER", S_SIZE, PL_PM_ACCESS},
    {"first_lane", "INTEGER", S_FIRST_LANE, PL_PM_MASK},
    {"address", "INTEGER", S_ADDRESS, PL_PM_ADDRESS},
    {"stride", "INTEGER", S_STRIDE, PL_PM_STRIDE},
    {"offsets", "TEXT", S_OFFSETS, 0},
    {"sectors", "INTEGER", S_COLUMN, PL_PM_SECTORS},
    {"wavefronts", "INTEGER", S_COLUMN, PL_PM_WAVEFRONTS},
    {"level", "INTEGER", S_COLUMN, PL_PM_LEVEL},
    {"latency", "INTEGER", S_COLUMN, PL_PM_LATENCY},
};

typedef struct range {
    sqlite3_int64 first, last;
} range;

/* An unpacked block, and its rows sorted by id and by inst once a query has requested that order.
 */
typedef struct loaded_block {
    pl_unpacker u;
    uint16_t *order[2];
    uint32_t pins; /* cursors positioned on it */
    uint64_t used;
    size_t entry; /* index in the directory */
} loaded_block;

/* A row of packed_block. */
typedef struct entry {
    sqlite3_int64 id, rows;
    range span[F_COUNT];
    loaded_block *loaded; /* or NULL */
} entry;

typedef struct table {
    sqlite3_vtab base; /* must be first: SQLite's part */
    sqlite3 *db;
    char *schema; /* the database that holds it: "main" */
    pl_packed_stream stream;
    const sql_column *column;
    int ncolumns;
    bool directory_read; /* the directory has been read */
    bool busy; /* packed_block or packed_data is being read: reading them must not recurse into
                  this table */
    entry *entry;
    size_t nentries;
    double rows;
    sqlite3_stmt *read; /* data of a block */
    loaded_block *cache[CACHED_BLOCKS];
    size_t ncached;
    uint64_t clock;
} table;

typedef struct cursor {
    sqlite3_vtab_cursor base;
    range bounds[F_COUNT];
    size_t entry; /* current entry of the directory; nentries: at the end */
    loaded_block *block;
    const uint16_t *order;  /* rows of the block sorted by id or inst; NULL: in storage order */
    uint32_t at, end, row;  /* indices in that order; current row */
    uint8_t check[F_COUNT]; /* fields that need a per-row check within the block */
    unsigned nchecks;
    const uint64_t *value[F_COUNT]; /* columns of these; F_BLOCK and F_WARP: indices of warps */
} cursor;

static int failed(table *t, const char *why, sqlite3_int64 block)
{
    if (!why) return SQLITE_NOMEM;
    sqlite3_free(t->base.zErrMsg);
    t->base.zErrMsg = sqlite3_mprintf("%s (packed_block %lld)", why, block);
    return SQLITE_CORRUPT;
}

/* Verifies that packed_block and packed_data are tables. A view could read inst or mem, and so
 * recurse without end. */
static int check_tables(table *t)
{
    static const char *const name[] = {"packed_block", "packed_data"};
    for (int i = 0; i < 2; i++) {
        int code = sqlite3_table_column_metadata(t->db, t->schema, name[i], NULL, NULL, NULL, NULL,
                                                 NULL, NULL);
        if (code == SQLITE_OK) continue;
        sqlite3_free(t->base.zErrMsg);
        t->base.zErrMsg = sqlite3_mprintf("the trace has no table %s", name[i]);
        return code == SQLITE_NOMEM ? code : SQLITE_CORRUPT;
    }
    return SQLITE_OK;
}

/* ---------------------------------------------------------------- tables */

static void free_block(loaded_block *b)
{
    pl_unpack_close(&b->u);
    free(b->order[0]);
    free(b->order[1]);
    free(b);
}

static int disconnect(sqlite3_vtab *base)
{
    table *t = (table *)base;
    for (size_t i = 0; i < t->ncached; i++) free_block(t->cache[i]);
    sqlite3_finalize(t->read);
    sqlite3_free(t->schema);
    free(t->entry);
    free(t);
    return SQLITE_OK;
}

static int connect_table(sqlite3 *db, void *ctx, int argc, const char *const *argv,
                         sqlite3_vtab **out, char **error)
{
    (void)ctx;
    bool inst = argc == 4 && strcmp(argv[3], "inst") == 0;
    if (!inst && (argc != 4 || strcmp(argv[3], "mem") != 0)) {
        *error = sqlite3_mprintf("ptxloom_trace takes one argument: inst or mem");
        return SQLITE_ERROR;
    }
    table *t = calloc(1, sizeof *t);
    if (!t) return SQLITE_NOMEM;
    t->db = db;
    t->stream = inst ? PL_PACKED_INST_STREAM : PL_PACKED_MEM_STREAM;
    t->column = inst ? inst_columns : mem_columns;
    t->ncolumns = (int)(inst ? sizeof inst_columns : sizeof mem_columns) / (int)sizeof *t->column;
    t->schema = sqlite3_mprintf("%s", argv[1]);
    sqlite3_str *sql = sqlite3_str_new(db);
    for (int i = 0; i < t->ncolumns; i++)
        sqlite3_str_appendf(sql, "%s%s %s", i ? ", " : "CREATE TABLE x (", t->column[i].name,
                            t->column[i].type);
    sqlite3_str_appendall(sql, ")");
    char *declaration = sqlite3_str_finish(sql);
    int code = t->schema && declaration ? sqlite3_declare_vtab(db, declaration) : SQLITE_NOMEM;
    sqlite3_free(declaration);
#ifdef SQLITE_VTAB_INNOCUOUS
    if (code == SQLITE_OK) code = sqlite3_vtab_config(db, SQLITE_VTAB_INNOCUOUS);
#endif
    if (code == SQLITE_OK)
        *out = &t->base;
    else
        disconnect(&t->base);
    return code;
}

static int read_entries(table *t)
{
    static const char columns[] =
        "id, rows, kernel, kernel, sm, sm, first_id, last_id, first_inst, last_inst, "
        "first_cycle, last_cycle, first_block, last_block, first_warp, last_warp, "
        "first_pc, last_pc";
    char *sql = sqlite3_mprintf("SELECT %s FROM \"%w\".packed_block WHERE stream = %d ORDER BY id",
                                columns, t->schema, (int)t->stream);
    char *read = sqlite3_mprintf("SELECT data FROM \"%w\".packed_data WHERE id = ?", t->schema);
    sqlite3_stmt *s = NULL;
    size_t cap = 0;
    int code = sql && read ? sqlite3_prepare_v2(t->db, sql, -1, &s, NULL) : SQLITE_NOMEM;
    if (code == SQLITE_OK && !t->read) code = sqlite3_prepare_v2(t->db, read, -1, &t->read, NULL);
    while (code == SQLITE_OK && (code = sqlite3_step(s)) == SQLITE_ROW) {
        if (t->nentries == cap && !pl_array_grow(&t->entry, &cap, sizeof *t->entry)) {
            code = SQLITE_NOMEM;
            break;
        }
        entry *e = &t->entry[t->nentries++];
        *e = (entry){.id = sqlite3_column_int64(s, 0), .rows = sqlite3_column_int64(s, 1)};
        for (int f = 0; f < F_COUNT; f++)
            e->span[f] =
                (range){sqlite3_column_int64(s, 2 + 2 * f), sqlite3_column_int64(s, 3 + 2 * f)};
        t->rows += (double)e->rows;
        code = SQLITE_OK;
    }
    if (code == SQLITE_DONE) {
        code = SQLITE_OK;
        t->directory_read = true;
    } else {
        t->nentries = 0;
        t->rows = 0;
    }
    sqlite3_finalize(s);
    sqlite3_free(sql);
    sqlite3_free(read);
    return code;
}

/* Reads the directory of blocks, once. */
static int read_directory(table *t)
{
    if (t->directory_read) return SQLITE_OK;
    if (t->busy) return failed(t, "packed events contain themselves", 0);
    int code = check_tables(t);
    if (code != SQLITE_OK) return code;
    t->busy = true;
    code = read_entries(t);
    t->busy = false;
    return code;
}

/* ---------------------------------------------------------------- planning */

static bool field_of(const table *t, int column, field *f)
{
    if (column < 0) { /* the rowid */
        *f = F_ID;
        return true;
    }
    if (column >= t->ncolumns || t->column[column].source != S_FIELD) return false;
    *f = (field)t->column[column].index;
    return true;
}

/* The plan is a string: for each constraint used, a letter for the field and one for the operator.
 */
static int best_index(sqlite3_vtab *base, sqlite3_index_info *info)
{
    /* Estimated selectivity of an equality. */
    static const double selectivity[F_COUNT] = {
        [F_KERNEL] = 0.5,  [F_SM] = 0.02,    [F_ID] = 0,     [F_INST] = 0,
        [F_CYCLE] = 0.001, [F_BLOCK] = 0.01, [F_WARP] = 0.1, [F_PC] = 0.02};
    table *t = (table *)base;
    char plan[2 * 64 + 1];
    int n = 0, code = read_directory(t);
    double fraction = 1;
    bool single = false;
    /* A system failure recurs in filter, whose error code SQLite keeps. */
    if (code != SQLITE_OK && base->zErrMsg) return code;
    for (int i = 0; i < info->nConstraint && n < 64; i++) {
        field f;
        char op;
        if (!info->aConstraint[i].usable || !field_of(t, info->aConstraint[i].iColumn, &f))
            continue;
        switch (info->aConstraint[i].op) {
        case SQLITE_INDEX_CONSTRAINT_EQ: op = '='; break;
        case SQLITE_INDEX_CONSTRAINT_GT: op = '>'; break;
        case SQLITE_INDEX_CONSTRAINT_GE: op = 'g'; break;
        case SQLITE_INDEX_CONSTRAINT_LT: op = '<'; break;
        case SQLITE_INDEX_CONSTRAINT_LE: op = 'l'; break;
        default: continue;
        }
        plan[2 * n] = (char)('a' + (int)f);
        plan[2 * n + 1] = op;
        info->aConstraintUsage[i].argvIndex = ++n;
        fraction *= op == '=' ? selectivity[f] : 0.3;
        single |= op == '=' && (f == F_ID || f == F_INST);
    }
    plan[2 * n] = '\0';
    info->idxStr = sqlite3_mprintf("%s", plan);
    info->needToFreeIdxStr = 1;
    if (!info->idxStr) return SQLITE_NOMEM;
    double rows = single ? 1 : t->rows * fraction;
    if (!(rows >= 1)) rows = 1;
    if (rows > 1e15) rows = 1e15; /* the directory is not trusted */
    info->estimatedRows = (sqlite3_int64)rows;
    info->estimatedCost = rows + (double)t->nentries * 0.05 + 10;
    return SQLITE_OK;
}

/* ---------------------------------------------------------------- blocks */

static int load(table *t, size_t k, loaded_block **out)
{
    entry *e = &t->entry[k];
    if (e->loaded) {
        e->loaded->used = ++t->clock;
        *out = e->loaded;
        return SQLITE_OK;
    }
    size_t slot = t->ncached;
    if (slot == CACHED_BLOCKS) {
        uint64_t oldest = UINT64_MAX;
        for (size_t i = 0; i < t->ncached; i++) {
            if (t->cache[i]->pins || t->cache[i]->used >= oldest) continue;
            oldest = t->cache[i]->used;
            slot = i;
        }
        if (slot == CACHED_BLOCKS) return SQLITE_NOMEM; /* all blocks are pinned by cursors */
        t->entry[t->cache[slot]->entry].loaded = NULL;
        free_block(t->cache[slot]);
        t->cache[slot] = t->cache[--t->ncached];
        slot = t->ncached;
    }
    if (t->busy) return failed(t, "packed events contain themselves", e->id);
    loaded_block *b = calloc(1, sizeof *b);
    if (!b) return SQLITE_NOMEM;
    sqlite3_bind_int64(t->read, 1, e->id);
    const char *why = "a block of packed events is missing";
    t->busy = true;
    bool good = false;
    if (sqlite3_step(t->read) == SQLITE_ROW) {
        const void *bytes = sqlite3_column_blob(t->read, 0);
        good =
            pl_unpack_open(&b->u, t->stream, bytes, (size_t)sqlite3_column_bytes(t->read, 0), &why);
        if (!bytes && sqlite3_errcode(t->db) == SQLITE_NOMEM) why = NULL;
    }
    int code = sqlite3_reset(t->read);
    t->busy = false;
    if (code == SQLITE_OK && !good) code = failed(t, why, e->id);
    if (code != SQLITE_OK) {
        free_block(b);
        return code;
    }
    b->entry = k;
    b->used = ++t->clock;
    t->cache[slot] = e->loaded = b;
    t->ncached++;
    *out = b;
    return SQLITE_OK;
}

/* The column of the block that holds a field: its own, or the warp index. */
static unsigned column_of(const table *t, field f)
{
    switch (f) {
    case F_ID: return t->stream == PL_PACKED_INST_STREAM ? (unsigned)PL_PI_ID : (unsigned)PL_PM_ID;
    case F_INST:
        return t->stream == PL_PACKED_INST_STREAM ? (unsigned)PL_PI_ID : (unsigned)PL_PM_INST;
    case F_CYCLE: return PL_PI_CYCLE;
    case F_PC: return PL_PI_PC;
    default: return PL_PI_WARP;
    }
}

static sqlite3_int64 field_value(const loaded_block *b, field f, const uint64_t *v, uint32_t row)
{
    if (f == F_BLOCK) return b->u.warp[v[row]].block;
    if (f == F_WARP) return b->u.warp[v[row]].warp;
    return (sqlite3_int64)v[row];
}

typedef struct sort_key {
    sqlite3_int64 value;
    uint16_t row;
} sort_key;

static int by_value(const void *a, const void *b)
{
    const sort_key *x = a, *y = b;
    if (x->value != y->value) return x->value < y->value ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

/* The rows of a block sorted by id or inst. */
static const uint16_t *order_by(loaded_block *b, field f, const uint64_t *v)
{
    uint16_t **order = &b->order[f == F_INST];
    if (*order) return *order;
    sort_key *r = malloc(b->u.n * sizeof *r);
    *order = malloc(b->u.n * sizeof **order);
    for (uint32_t i = 0; r && *order && i < b->u.n; i++)
        r[i] = (sort_key){(sqlite3_int64)v[i], (uint16_t)i};
    if (r && *order) qsort(r, b->u.n, sizeof *r, by_value);
    for (uint32_t i = 0; r && *order && i < b->u.n; i++) (*order)[i] = r[i].row;
    if (!r) {
        free(*order);
        *order = NULL;
    }
    free(r);
    return *order;
}

/* The first index of the order whose value is at least `min`. */
static uint32_t lower_bound(const uint16_t *order, const uint64_t *v, uint32_t n, sqlite3_int64 min)
{
    uint32_t lo = 0, hi = n;
    while (lo < hi) {
        uint32_t middle = (lo + hi) / 2;
        if ((sqlite3_int64)v[order[middle]] < min)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

/* ---------------------------------------------------------------- cursors */

static int open_cursor(sqlite3_vtab *base, sqlite3_vtab_cursor **out)
{
    (void)base;
    cursor *c = calloc(1, sizeof *c);
    if (!c) return SQLITE_NOMEM;
    *out = &c->base;
    return SQLITE_OK;
}

static void unpin_block(cursor *c)
{
    if (c->block) c->block->pins--;
    c->block = NULL;
}

static int close_cursor(sqlite3_vtab_cursor *base)
{
    unpin_block((cursor *)base);
    free(base);
    return SQLITE_OK;
}

/* Positions the cursor on the block of the current directory entry, at its first candidate row. */
static int pin_block(cursor *c)
{
    table *t = (table *)c->base.pVtab;
    const entry *e = &t->entry[c->entry];
    loaded_block *b;
    const char *why;
    int code = load(t, c->entry, &b);
    if (code != SQLITE_OK) return code;
    c->block = b;
    b->pins++;
    c->order = NULL;
    c->at = 0;
    c->end = b->u.n;
    c->nchecks = 0;
    for (int f = F_ID; f < F_COUNT; f++) {
        if (e->span[f].first >= c->bounds[f].first && e->span[f].last <= c->bounds[f].last)
            continue;
        const uint64_t *v = pl_unpack_column(&b->u, column_of(t, (field)f), &why);
        if (!v) return failed(t, why, e->id);
        c->check[c->nchecks++] = (uint8_t)f;
        c->value[f] = v;
        if ((f == F_ID || f == F_INST) && !c->order) {
            c->order = order_by(b, (field)f, v);
            if (!c->order) return SQLITE_NOMEM;
            c->at = lower_bound(c->order, v, c->end, c->bounds[f].first);
            if (c->bounds[f].last < INT64_MAX)
                c->end = lower_bound(c->order, v, c->end, c->bounds[f].last + 1);
        }
    }
    return SQLITE_OK;
}

/* Advances from index `at` to the next row within the ranges. If the newly entered block has none,
 * the cursor stays on one of its rows, which SQLite then rejects: this lets a query be interrupted
 * between two blocks. */
static int advance(cursor *c)
{
    table *t = (table *)c->base.pVtab;
    bool entered = false;
    for (;;) {
        for (; c->block && c->at < c->end; c->at++) {
            bool good = true;
            c->row = c->order ? c->order[c->at] : c->at;
            for (unsigned k = 0; good && k < c->nchecks; k++) {
                field f = (field)c->check[k];
                sqlite3_int64 v = field_value(c->block, f, c->value[f], c->row);
                good = v >= c->bounds[f].first && v <= c->bounds[f].last;
            }
            if (good) return SQLITE_OK;
        }
        if (entered) {
            c->row = 0;
            return SQLITE_OK;
        }
        if (c->block) {
            unpin_block(c);
            c->entry++;
        }
        for (; c->entry < t->nentries; c->entry++) {
            const range *span = t->entry[c->entry].span;
            bool overlaps = true;
            for (int f = 0; overlaps && f < F_COUNT; f++)
                overlaps = span[f].last >= c->bounds[f].first && span[f].first <= c->bounds[f].last;
            if (overlaps) break;
        }
        if (c->entry == t->nentries) return SQLITE_OK;
        int code = pin_block(c);
        if (code != SQLITE_OK) {
            unpin_block(c);
            c->entry = t->nentries;
            return code;
        }
        entered = true;
    }
}

static int filter(sqlite3_vtab_cursor *base, int number, const char *plan, int argc,
                  sqlite3_value **argv)
{
    (void)number;
    cursor *c = (cursor *)base;
    table *t = (table *)base->pVtab;
    int code = read_directory(t);
    if (code != SQLITE_OK) return code;
    unpin_block(c);
    for (int f = 0; f < F_COUNT; f++) c->bounds[f] = (range){INT64_MIN, INT64_MAX};
    for (int i = 0; i < argc; i++) {
        range *r = &c->bounds[plan[2 * i] - 'a'];
        if (sqlite3_value_type(argv[i]) != SQLITE_INTEGER) continue; /* left to SQLite */
        sqlite3_int64 v = sqlite3_value_int64(argv[i]);
        char op = plan[2 * i + 1];
        if (op == '>' || op == 'g' || op == '=') {
            if (op == '>' && v < INT64_MAX) v++;
            if (v > r->first) r->first = v;
        }
        if (op == '<' || op == 'l' || op == '=') {
            if (op == '<' && v > INT64_MIN) v--;
            if (v < r->last) r->last = v;
        }
    }
    c->entry = 0;
    return advance(c);
}

static int next_row(sqlite3_vtab_cursor *base)
{
    cursor *c = (cursor *)base;
    c->at++;
    return advance(c);
}

static int at_end(sqlite3_vtab_cursor *base)
{
    const cursor *c = (const cursor *)base;
    return c->entry >= ((const table *)base->pVtab)->nentries;
}

static int offsets_result(cursor *c, sqlite3_context *ctx, const char **why)
{
    int64_t offset[PL_TRACED_LANES];
    char buf[PL_TRACED_LANES * 22 + 2];
    const uint64_t *mask = pl_unpack_column(&c->block->u, PL_PM_MASK, why);
    if (!mask || !pl_unpack_offsets(&c->block->u, c->row, offset, why)) return SQLITE_CORRUPT;
    size_t n = pl_packed_offsets_text(buf, mask[c->row], offset);
    sqlite3_result_text(ctx, buf, (int)n, SQLITE_TRANSIENT);
    return SQLITE_OK;
}

static int column_value(sqlite3_vtab_cursor *base, sqlite3_context *ctx, int k)
{
    cursor *c = (cursor *)base;
    table *t = (table *)base->pVtab;
    const sql_column *column = &t->column[k];
    const entry *e = &t->entry[c->entry];
    const char *why = NULL;
    field f = (field)column->index;
    unsigned from = column->index;
    if (column->source == S_FIELD) {
        if (f == F_KERNEL || f == F_SM) {
            sqlite3_result_int64(ctx, e->span[f].first);
            return SQLITE_OK;
        }
        from = column_of(t, f);
    } else if (column->source == S_SUBCORE) {
        from = PL_PI_WARP;
    }
    if (column->source == S_FIRST_LANE || column->source == S_ADDRESS ||
        column->source == S_STRIDE || column->source == S_OFFSETS) {
        const uint64_t *access = pl_unpack_column(&c->block->u, PL_PM_ACCESS, &why);
        if (!access) return failed(t, why, e->id);
        uint64_t shape = access[c->row] >> 32;
        bool regular = shape == PL_SHAPE_STRIDE, none = shape == PL_SHAPE_NONE;
        if (none || (column->source == S_STRIDE && !regular) ||
            (column->source == S_OFFSETS && regular))
            return SQLITE_OK; /* NULL */
        if (column->source == S_OFFSETS)
            return offsets_result(c, ctx, &why) == SQLITE_OK ? SQLITE_OK : failed(t, why, e->id);
    }
    const uint64_t *v = pl_unpack_column(&c->block->u, from, &why);
    if (!v) return failed(t, why, e->id);
    switch ((source)column->source) {
    case S_FIELD: sqlite3_result_int64(ctx, field_value(c->block, f, v, c->row)); break;
    case S_SPACE: sqlite3_result_int(ctx, (int)(v[c->row] & 0xff)); break;
    case S_KIND: sqlite3_result_int(ctx, (int)(v[c->row] >> 8 & 0xff)); break;
    case S_SIZE: sqlite3_result_int(ctx, (int)(v[c->row] >> 16 & 0xffff)); break;
    case S_SUBCORE: sqlite3_result_int64(ctx, c->block->u.warp[v[c->row]].subcore); break;
    case S_LANES: sqlite3_result_int(ctx, __builtin_popcountll(v[c->row])); break;
    case S_FIRST_LANE:
        if (v[c->row]) sqlite3_result_int(ctx, __builtin_ctzll(v[c->row]));
        break;
    default: sqlite3_result_int64(ctx, (sqlite3_int64)v[c->row]); break;
    }
    return SQLITE_OK;
}

static int row_id(sqlite3_vtab_cursor *base, sqlite3_int64 *out)
{
    cursor *c = (cursor *)base;
    table *t = (table *)base->pVtab;
    const char *why;
    const uint64_t *v = pl_unpack_column(&c->block->u, column_of(t, F_ID), &why);
    if (!v) return failed(t, why, t->entry[c->entry].id);
    *out = (sqlite3_int64)v[c->row];
    return SQLITE_OK;
}

int pl_tracedb_register(sqlite3 *db)
{
    static const sqlite3_module module = {
        .iVersion = 1,
        .xCreate = connect_table,
        .xConnect = connect_table,
        .xBestIndex = best_index,
        .xDisconnect = disconnect,
        .xDestroy = disconnect,
        .xOpen = open_cursor,
        .xClose = close_cursor,
        .xFilter = filter,
        .xNext = next_row,
        .xEof = at_end,
        .xColumn = column_value,
        .xRowid = row_id,
    };
    return sqlite3_create_module(db, "ptxloom_trace", &module, NULL);
}
