/* timeline.c - aggregates the rows of inst for the timeline and the divergence view.
 *
 * Two passes. The first fills time windows for every multiprocessor and counts the rows of each.
 * The second records the single issues of as many multiprocessors as the report has space for, the
 * busiest first. */
#include "base/array.h"
#include "isa/program/insn.h"
#include "traces/report/bytes.h"
#include "traces/report/detail.h"
#include <stdlib.h>
#include <string.h>

enum { WINDOWS = 512, MAX_WARPS = 60000, MASK_WARPS = 4, MASKS = 2048 };

typedef struct warp {
    uint32_t sm, block, warp, subcore;
    uint64_t first, last, executed, lanes;
} warp;

typedef struct issue {
    uint64_t cycle;
    uint32_t at; /* index of its warp */
    uint32_t pc, stall_cycles, latency;
    uint64_t mask;
    uint8_t stall;
} issue;

typedef struct timeline {
    const pl_report_launch *l;
    uint64_t width; /* cycles per window */
    uint32_t windows;
    warp *warp; /* by multiprocessor and time */
    size_t nwarps;
    uint32_t *warp_index; /* by block * warps_per_block + warp: index in `warp` plus one */
    uint32_t *issues;     /* [sm][window] */
    uint64_t *waited;     /* [sm][window][reason]: stall cycles within the window */
    uint64_t *rows;       /* [sm] */
    uint64_t total, by_lanes[PL_LANES * PL_MAX_HALVES + 1];
    uint32_t watched[MASK_WARPS]; /* indices of the warps whose masks are recorded */
    size_t nwatched, nmasks[MASK_WARPS];
    pl_bytes masks[MASK_WARPS];
    uint64_t last_mask[MASK_WARPS];
    uint32_t last_pc[MASK_WARPS];
} timeline;

/* ---- warps ---- */

static bool read_warps(timeline *t)
{
    static const char sql[] =
        "SELECT b.sm, w.block, w.warp, w.subcore, w.first_cycle, w.last_cycle, w.executed, w.lanes "
        "FROM warp w "
        "JOIN block b ON b.kernel = w.kernel AND b.block = w.block WHERE w.kernel = ? "
        "ORDER BY b.sm, w.first_cycle, w.block, w.warp";
    const pl_report_launch *l = t->l;
    sqlite3_stmt *s = NULL;
    int code;
    size_t cap = 0;
    if (sqlite3_prepare_v2(l->db, sql, -1, &s, NULL) != SQLITE_OK) return false;
    sqlite3_bind_int64(s, 1, l->kernel);
    while ((code = sqlite3_step(s)) == SQLITE_ROW) {
        if (t->nwarps == cap && !pl_array_grow(&t->warp, &cap, sizeof *t->warp)) break;
        warp *w = &t->warp[t->nwarps];
        *w = (warp){.sm = (uint32_t)sqlite3_column_int64(s, 0),
                    .block = (uint32_t)sqlite3_column_int64(s, 1),
                    .warp = (uint32_t)sqlite3_column_int64(s, 2),
                    .subcore = (uint32_t)sqlite3_column_int64(s, 3),
                    .first = (uint64_t)sqlite3_column_int64(s, 4),
                    .last = (uint64_t)sqlite3_column_int64(s, 5),
                    .executed = (uint64_t)sqlite3_column_int64(s, 6),
                    .lanes = (uint64_t)sqlite3_column_int64(s, 7)};
        uint64_t key = w->block * l->per_block + w->warp;
        if (w->sm >= l->sms || w->warp >= l->per_block || key >= l->warp_slots) continue;
        t->warp_index[key] = (uint32_t)++t->nwarps;
    }
    return pl_report_finalize(s, code);
}

/* Selects the warps with the smallest share of active lanes. */
static void choose_watched(timeline *t)
{
    for (size_t i = 0; i < t->nwarps; i++) {
        const warp *w = &t->warp[i];
        size_t at = t->nwatched;
        if (w->executed == 0) continue;
        double share = (double)w->lanes / (double)w->executed;
        while (at > 0) {
            const warp *v = &t->warp[t->watched[at - 1]];
            if ((double)v->lanes / (double)v->executed <= share) break;
            at--;
        }
        if (at == MASK_WARPS) continue;
        size_t last = t->nwatched < MASK_WARPS ? t->nwatched++ : MASK_WARPS - 1;
        memmove(&t->watched[at + 1], &t->watched[at], (last - at) * sizeof *t->watched);
        t->watched[at] = (uint32_t)i;
    }
}

/* ---- passes over inst ---- */

static sqlite3_stmt *prepare_rows(const pl_report_launch *l)
{
    static const char sql[] =
        "SELECT cycle, sm, block, warp, pc, mask, lanes, stall, stall_cycles, latency FROM inst "
        "WHERE kernel = ? AND id >= ? AND id < ?";
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v2(l->db, sql, -1, &s, NULL) != SQLITE_OK) return NULL;
    sqlite3_bind_int64(s, 1, l->kernel);
    sqlite3_bind_int64(s, 2, l->first_inst);
    sqlite3_bind_int64(s, 3, l->end_inst);
    return s;
}

/* The warp of a row: its index plus one, or 0 if there is no such warp. */
static uint32_t find_warp(const timeline *t, sqlite3_stmt *s)
{
    uint64_t block = (uint64_t)sqlite3_column_int64(s, 2), w = (uint64_t)sqlite3_column_int64(s, 3);
    uint64_t key = block * t->l->per_block + w;
    return w < t->l->per_block && key < t->l->warp_slots ? t->warp_index[key] : 0;
}

/* Distributes the stall before an issue over the windows that it spans. */
static void add_wait(timeline *t, uint64_t sm, uint64_t cycle, uint64_t wait, uint64_t reason)
{
    uint64_t from = wait < cycle ? cycle - wait : 0;
    while (from < cycle) {
        uint64_t w = from / t->width, end = (w + 1) * t->width;
        if (w >= t->windows) return;
        if (end > cycle) end = cycle;
        t->waited[(sm * t->windows + w) * t->l->reasons + reason] += end - from;
        from = end;
    }
}

/* Writes a mask, or the difference of two: 32 lanes, and 32 more in a trace of wide warps. */
static void put_mask(const timeline *t, pl_bytes *b, uint64_t mask)
{
    pl_bytes_number(b, (uint32_t)mask);
    if (t->l->lanes > PL_LANES) pl_bytes_number(b, mask >> PL_LANES);
}

static void record_mask(timeline *t, uint32_t at, uint32_t pc, uint64_t mask)
{
    for (size_t i = 0; i < t->nwatched; i++) {
        if (t->watched[i] != at || t->nmasks[i] == MASKS) continue;
        pl_bytes_signed(&t->masks[i], (int64_t)pc - t->last_pc[i]);
        put_mask(t, &t->masks[i], mask ^ t->last_mask[i]);
        t->last_pc[i] = pc;
        t->last_mask[i] = mask;
        t->nmasks[i]++;
    }
}

static bool first_pass(timeline *t)
{
    sqlite3_stmt *s = prepare_rows(t->l);
    int code = SQLITE_ERROR;
    while (s && (code = sqlite3_step(s)) == SQLITE_ROW) {
        uint64_t cycle = (uint64_t)sqlite3_column_int64(s, 0),
                 sm = (uint64_t)sqlite3_column_int64(s, 1);
        uint64_t lanes = (uint64_t)sqlite3_column_int64(s, 6),
                 reason = (uint64_t)sqlite3_column_int64(s, 7);
        uint32_t at = find_warp(t, s);
        t->total++;
        t->by_lanes[lanes <= t->l->lanes ? lanes : t->l->lanes]++;
        if (sm >= t->l->sms || !at) continue;
        record_mask(t, at - 1, (uint32_t)sqlite3_column_int64(s, 4),
                    (uint64_t)sqlite3_column_int64(s, 5));
        t->rows[sm]++;
        if (!t->l->timing || cycle / t->width >= t->windows) continue;
        t->issues[sm * t->windows + cycle / t->width]++;
        if (reason < t->l->reasons)
            add_wait(t, sm, cycle, (uint64_t)sqlite3_column_int64(s, 8), reason);
    }
    return pl_report_finalize(s, code);
}

/* Selects the multiprocessors whose issues are recorded individually: the busiest that fit, at
 * least one. */
static uint64_t choose_sms(const timeline *t, bool *chosen)
{
    uint64_t kept = 0;
    for (;;) {
        size_t best = SIZE_MAX;
        for (size_t sm = 0; sm < t->l->sms; sm++) {
            if (chosen[sm] || t->rows[sm] == 0 || (kept && kept + t->rows[sm] > t->l->max_issues))
                continue;
            if (best == SIZE_MAX || t->rows[sm] > t->rows[best]) best = sm;
        }
        if (best == SIZE_MAX) return kept;
        chosen[best] = true;
        kept += t->rows[best];
        if (kept >= t->l->max_issues) return kept;
    }
}

/* Groups issues by warp, in time order within each (the input is in time order). */
static issue *group_by_warp(const timeline *t, const issue *in, size_t n, uint32_t *count)
{
    issue *out = malloc((n + 1) * sizeof *out);
    size_t *start = calloc(t->nwarps + 1, sizeof *start);
    if (out && start) {
        for (size_t i = 0; i < n; i++) count[in[i].at]++;
        for (size_t i = 0, sum = 0; i < t->nwarps; i++) {
            start[i] = sum;
            sum += count[i];
        }
        for (size_t i = 0; i < n; i++) out[start[in[i].at]++] = in[i];
    } else {
        free(out);
        out = NULL;
    }
    free(start);
    return out;
}

/* A record begins with a byte. Its low five bits are the stall reason. 0x20: the pc follows the
 * previous one; 0x40: the mask equals the previous one; 0x80: the latency equals that of this pc's
 * previous record. Numbers follow: cycles since the previous issue, stall cycles, and those of pc
 * (signed difference), mask and latency that the flags do not imply. */
static void encode(const timeline *t, const issue *e, size_t n, uint32_t *latency, pl_bytes *b)
{
    uint64_t cycle = t->warp[e->at].first;
    uint32_t pc = UINT32_MAX;
    uint64_t mask = UINT32_MAX;
    for (size_t i = 0; i < n; i++, e++) {
        bool next = e->pc == pc + 1, same = e->mask == mask,
             known = e->pc < t->l->code && latency[e->pc] == e->latency;
        pl_bytes_byte(b, (e->stall & 0x1fu) | (next ? 0x20u : 0) | (same ? 0x40u : 0) |
                             (known ? 0x80u : 0));
        pl_bytes_number(b, e->cycle - cycle);
        pl_bytes_number(b, e->stall_cycles);
        if (!next) pl_bytes_signed(b, (int64_t)e->pc - (int64_t)(uint32_t)(pc + 1));
        if (!same) put_mask(t, b, e->mask);
        if (!known) pl_bytes_number(b, e->latency);
        if (e->pc < t->l->code) latency[e->pc] = e->latency;
        cycle = e->cycle;
        pc = e->pc;
        mask = e->mask;
    }
}

/* Writes the recorded issues, warp by warp: index of the warp, number of issues, records. */
static bool write_issues(const timeline *t, const issue *in, size_t n, pl_json *j)
{
    uint32_t *count = calloc(t->nwarps + 1, sizeof *count),
             *latency = calloc(t->l->code + 1, sizeof *latency);
    issue *sorted = count && latency ? group_by_warp(t, in, n, count) : NULL;
    pl_bytes b = {0};
    bool good = sorted != NULL;
    for (size_t i = 0, at = 0; good && i < t->nwarps; i++) {
        if (count[i] == 0) continue;
        pl_bytes_number(&b, i);
        pl_bytes_number(&b, count[i]);
        encode(t, sorted + at, count[i], latency, &b);
        at += count[i];
    }
    good = good && !b.failed;
    if (good) pl_json_key(j, "data"), pl_json_base64(j, b.at, b.n);
    free(b.at);
    free(sorted);
    free(latency);
    free(count);
    return good;
}

static bool second_pass(const timeline *t, pl_json *j)
{
    bool *chosen = calloc(t->l->sms + 1, sizeof *chosen);
    if (!chosen) return false;
    uint64_t rows = choose_sms(t, chosen), cap = rows < t->l->max_issues ? rows : t->l->max_issues,
             last = 0;
    issue *kept = malloc((cap + 1) * sizeof *kept);
    sqlite3_stmt *s = kept ? prepare_rows(t->l) : NULL;
    int code = SQLITE_ERROR;
    size_t n = 0;
    while (s && (code = sqlite3_step(s)) == SQLITE_ROW) {
        uint64_t sm = (uint64_t)sqlite3_column_int64(s, 1);
        uint32_t at = find_warp(t, s);
        if (!at || sm >= t->l->sms || !chosen[sm]) continue;
        if (n == cap || at > MAX_WARPS) break;
        kept[n++] = (issue){.cycle = (uint64_t)sqlite3_column_int64(s, 0),
                            .at = at - 1,
                            .pc = (uint32_t)sqlite3_column_int64(s, 4),
                            .mask = (uint64_t)sqlite3_column_int64(s, 5),
                            .stall = (uint8_t)sqlite3_column_int(s, 7),
                            .stall_cycles = (uint32_t)sqlite3_column_int64(s, 8),
                            .latency = (uint32_t)sqlite3_column_int64(s, 9)};
        last = kept[n - 1].cycle;
    }
    bool complete = code == SQLITE_DONE,
         good = (complete || code == SQLITE_ROW) && sqlite3_finalize(s) == SQLITE_OK;
    pl_json_key(j, "slots"), pl_json_open(j, '{');
    pl_json_key(j, "rows"), pl_json_int(j, (int64_t)n);
    pl_json_key(j, "until"), complete ? pl_json_null(j) : pl_json_int(j, (int64_t)last);
    pl_json_key(j, "sms"), pl_json_open(j, '[');
    for (size_t sm = 0; sm < t->l->sms; sm++)
        if (chosen[sm]) pl_json_int(j, (int64_t)sm);
    pl_json_close(j);
    good = good && write_issues(t, kept, n, j);
    pl_json_close(j);
    free(kept);
    free(chosen);
    return good;
}

/* ---- output ---- */

static bool put_bytes(pl_json *j, const char *key, pl_bytes *b)
{
    bool good = !b->failed;
    pl_bytes_end(b);
    pl_json_key(j, key), pl_json_base64(j, b->at, b->n);
    free(b->at);
    *b = (pl_bytes){0};
    return good && !b->failed;
}

static bool write_windows(const timeline *t, pl_json *j)
{
    const pl_report_launch *l = t->l;
    pl_bytes issues = {0}, main_reason = {0}, mix = {0};
    uint64_t *sum = calloc(l->reasons * t->windows, sizeof *sum);
    for (size_t i = 0; sum && i < l->sms * t->windows; i++) {
        const uint64_t *w = &t->waited[i * l->reasons];
        size_t best = 0;
        for (size_t r = 1; r < l->reasons; r++) {
            sum[r * t->windows + i % t->windows] += w[r];
            if (w[r] > (best ? w[best] : 0)) best = r;
        }
        pl_bytes_sparse(&issues, t->issues[i]);
        pl_bytes_sparse(&main_reason, best);
    }
    for (size_t i = 0; sum && i < l->reasons * t->windows; i++) pl_bytes_sparse(&mix, sum[i]);
    /* All three, even if the first fails: each call frees its memory. */
    bool good = put_bytes(j, "issues", &issues);
    good = put_bytes(j, "main", &main_reason) && good;
    good = put_bytes(j, "mix", &mix) && good && sum;
    free(sum);
    return good;
}

/* Writes warps in the order of multiprocessor and time: differences of sm and of first cycle (from
 * 0 for each multiprocessor), block (signed difference), warp, sub-core, length, executed
 * instructions, lanes. */
static bool write_warps(const timeline *t, pl_json *j)
{
    pl_bytes b = {0};
    uint32_t sm = 0, block = 0;
    uint64_t first = 0;
    size_t n = t->nwarps < MAX_WARPS ? t->nwarps : MAX_WARPS;
    for (size_t i = 0; i < n; i++) {
        const warp *w = &t->warp[i];
        if (w->sm != sm) first = 0;
        pl_bytes_number(&b, w->sm - sm);
        pl_bytes_number(&b, w->first - first);
        pl_bytes_signed(&b, (int64_t)w->block - block);
        pl_bytes_number(&b, w->warp);
        pl_bytes_number(&b, w->subcore);
        pl_bytes_number(&b, w->last - w->first);
        pl_bytes_number(&b, w->executed);
        pl_bytes_number(&b, w->lanes);
        sm = w->sm;
        block = w->block;
        first = w->first;
    }
    pl_json_key(j, "warps"), pl_json_int(j, (int64_t)n);
    pl_json_key(j, "warps_total"), pl_json_int(j, (int64_t)t->nwarps);
    return put_bytes(j, "lives", &b);
}

static bool write_lanes(timeline *t, pl_json *j)
{
    bool good = true;
    pl_json_key(j, "lanes"), pl_json_open(j, '{');
    pl_json_key(j, "rows"), pl_json_int(j, (int64_t)t->total);
    pl_json_key(j, "histogram"), pl_json_open(j, '[');
    for (size_t i = 0; i <= t->l->lanes; i++) pl_json_int(j, (int64_t)t->by_lanes[i]);
    pl_json_close(j);
    pl_json_key(j, "warps"), pl_json_open(j, '[');
    for (size_t i = 0; i < t->nwatched; i++) {
        const warp *w = &t->warp[t->watched[i]];
        pl_json_open(j, '{');
        pl_json_key(j, "block"), pl_json_int(j, w->block);
        pl_json_key(j, "warp"), pl_json_int(j, w->warp);
        pl_json_key(j, "sm"), pl_json_int(j, w->sm);
        pl_json_key(j, "executed"), pl_json_int(j, (int64_t)w->executed);
        pl_json_key(j, "lanes"), pl_json_int(j, (int64_t)w->lanes);
        pl_json_key(j, "rows"), pl_json_int(j, (int64_t)t->nmasks[i]);
        good &= put_bytes(j, "data", &t->masks[i]);
        pl_json_close(j);
    }
    pl_json_close(j);
    pl_json_close(j);
    return good;
}

bool pl_report_timeline(const pl_report_launch *l, pl_json *j)
{
    timeline t = {.l = l};
    t.width = l->cycles / WINDOWS + 1;
    t.windows = (uint32_t)(l->cycles / t.width) + 1;
    t.warp_index = calloc(l->warp_slots + 1, sizeof *t.warp_index);
    t.issues = calloc(l->sms * t.windows + 1, sizeof *t.issues);
    t.waited = calloc(l->sms * t.windows * l->reasons + 1, sizeof *t.waited);
    t.rows = calloc(l->sms + 1, sizeof *t.rows);
    bool good = t.warp_index && t.issues && t.waited && t.rows && read_warps(&t);
    if (good) choose_watched(&t);
    good = good && first_pass(&t) && write_lanes(&t, j);
    if (good && l->timing) {
        pl_json_key(j, "timeline"), pl_json_open(j, '{');
        pl_json_key(j, "rows"), pl_json_int(j, (int64_t)t.total);
        pl_json_key(j, "width"), pl_json_int(j, (int64_t)t.width);
        pl_json_key(j, "windows"), pl_json_int(j, t.windows);
        pl_json_key(j, "sms"), pl_json_int(j, (int64_t)l->sms);
        pl_json_key(j, "reasons"), pl_json_int(j, (int64_t)l->reasons);
        good = write_windows(&t, j) && write_warps(&t, j) && second_pass(&t, j);
        pl_json_close(j);
    }
    for (size_t i = 0; i < MASK_WARPS; i++) free(t.masks[i].at);
    free(t.warp);
    free(t.warp_index);
    free(t.issues);
    free(t.waited);
    free(t.rows);
    return good;
}
