/* browser.c - opens reports in headless Chromium and exercises them as a user would. Checks that
 * every panel shows its numbers, that clicks and keys work as labelled, and that the console has no
 * messages. Pictures have content in the light and dark themes, and a trace of a million
 * instructions is displayed within two seconds.
 *
 *     browser [PAGE.html ...]    checks the panels of these reports instead (made with
 *       --baseline)
 *
 * Speaks the DevTools protocol over a pipe (--remote-debugging-pipe): a sequence of NUL-terminated
 * JSON messages on the browser's file descriptors 3 and 4. Without a browser every test is
 * skipped; $CHROMIUM overrides the browser's path. */
#include "tests/harness.h"
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define SECONDS 300

/* ---- the browser ---- */

typedef struct browser {
    pid_t pid;
    int to, from, next;
    char *buffer; /* received data not parsed yet */
    size_t n, cap;
    char session[64];
    int complaints; /* exceptions, and errors and warnings on the console */
    bool dead;
} browser;

static const char *find_browser(void)
{
    static const char *const names[] = {"chromium", "chromium-browser", "google-chrome",
                                        "google-chrome-stable"};
    static char path[4096];
    const char *own = getenv("CHROMIUM"), *dirs = getenv("PATH");
    if (own && *own) return own;
    for (const char *p = dirs; p && *p; p += strcspn(p, ":"), p += *p == ':')
        for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
            snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(p, ":"), p, names[i]);
            if (access(path, X_OK) == 0) return path;
        }
    return NULL;
}

static bool start(browser *b, const char *program, const char *folder)
{
    int in[2], out[2];
    char profile[4096], sandbox[] = "--no-sandbox";
    snprintf(profile, sizeof profile, "--user-data-dir=%s/profile", folder);
    if (pipe(in) != 0 || pipe(out) != 0) return false;
    b->pid = fork();
    if (b->pid == 0) {
        /* Moves away from 3 and 4 first, so that neither overwrites the other. */
        int r = fcntl(in[0], F_DUPFD, 10), w = fcntl(out[1], F_DUPFD, 10),
            null = open("/dev/null", O_RDWR);
        dup2(null, 0);
        dup2(null, 1);
        dup2(null, 2);
        dup2(r, 3);
        dup2(w, 4);
        for (int fd = 5; fd < 64; fd++) close(fd);
        setenv("HOME", folder, 1);
        execl(program, program, "--headless=new", "--disable-gpu", "--remote-debugging-pipe",
              "--no-first-run", "--disable-extensions", "--hide-scrollbars",
              geteuid() == 0 ? sandbox : "--disable-sync", "--disable-dev-shm-usage", profile,
              (char *)NULL);
        _exit(99);
    }
    close(in[0]);
    close(out[1]);
    b->to = in[1];
    b->from = out[0];
    return b->pid > 0;
}

/* Returns the next message; NULL: the browser has exited or timed out. */
static json_t *next_message(browser *b)
{
    for (;;) {
        char *end = b->n ? memchr(b->buffer, 0, b->n) : NULL;
        if (end) {
            size_t n = (size_t)(end - b->buffer);
            json_t *m = json_loadb(b->buffer, n, 0, NULL);
            memmove(b->buffer, end + 1, b->n - n - 1);
            b->n -= n + 1;
            return m;
        }
        if (b->cap - b->n < 65536) {
            b->cap = b->cap * 2 + 131072;
            b->buffer = realloc(b->buffer, b->cap);
            if (!b->buffer) exit(EXIT_FAILURE);
        }
        struct pollfd p = {.fd = b->from, .events = POLLIN};
        ssize_t got = poll(&p, 1, 90000) > 0 ? read(b->from, b->buffer + b->n, b->cap - b->n) : 0;
        if (got <= 0) {
            b->dead = true;
            return NULL;
        }
        b->n += (size_t)got;
    }
}

static void note_complaint(browser *b, const json_t *m)
{
    const char *method = json_string_value(json_object_get(m, "method"));
    const json_t *params = json_object_get(m, "params");
    const char *type = json_string_value(json_object_get(params, "type"));
    const char *level =
        json_string_value(json_object_get(json_object_get(params, "entry"), "level"));
    bool bad = method && (strcmp(method, "Runtime.exceptionThrown") == 0 ||
                          (strcmp(method, "Runtime.consoleAPICalled") == 0 && type &&
                           (strcmp(type, "error") == 0 || strcmp(type, "warning") == 0)) ||
                          (strcmp(method, "Log.entryAdded") == 0 && level &&
                           (strcmp(level, "error") == 0 || strcmp(level, "warning") == 0)));
    if (!bad) return;
    char *text = json_dumps(m, JSON_COMPACT);
    tap_note("%.600s", text);
    free(text);
    b->complaints++;
}

/* Sends a command and waits for its result, which the caller must decref; takes ownership of
 * params. */
static json_t *call(browser *b, const char *method, json_t *params)
{
    int id = ++b->next;
    json_t *m = json_pack("{s:i, s:s, s:o}", "id", id, "method", method, "params",
                          params ? params : json_object());
    if (b->session[0]) json_object_set_new(m, "sessionId", json_string(b->session));
    char *text = json_dumps(m, JSON_COMPACT);
    json_decref(m);
    size_t n = strlen(text) + 1;
    for (size_t at = 0; at < n && !b->dead;) {
        ssize_t w = write(b->to, text + at, n - at);
        if (w <= 0) b->dead = true;
        at += w > 0 ? (size_t)w : 0;
    }
    free(text);
    while (!b->dead && (m = next_message(b)) != NULL) {
        if (json_integer_value(json_object_get(m, "id")) == id) {
            json_t *result = json_incref(json_object_get(m, "result"));
            if (json_object_get(m, "error"))
                tap_note(
                    "%s: %s", method,
                    json_string_value(json_object_get(json_object_get(m, "error"), "message")));
            json_decref(m);
            return result;
        }
        note_complaint(b, m);
        json_decref(m);
    }
    return NULL;
}

/* Evaluates a JavaScript expression; an exception counts as a complaint. */
static json_t *eval(browser *b, const char *expression)
{
    json_t *r = call(b, "Runtime.evaluate",
                     json_pack("{s:s, s:b, s:b}", "expression", expression, "returnByValue", 1,
                               "awaitPromise", 1));
    json_t *value = json_incref(json_object_get(json_object_get(r, "result"), "value"));
    const json_t *wrong = json_object_get(r, "exceptionDetails");
    if (wrong) {
        char *text = json_dumps(wrong, JSON_COMPACT);
        tap_note("%s: %.600s", expression, text);
        free(text);
        b->complaints++;
    }
    json_decref(r);
    return value;
}

static double number(browser *b, const char *expression)
{
    json_t *v = eval(b, expression);
    double d = json_is_true(v) ? 1 : json_is_number(v) ? json_number_value(v) : -1;
    json_decref(v);
    return d;
}

static bool is_true(browser *b, const char *expression)
{
    return number(b, expression) == 1;
}

static void pause_ms(long ms)
{
    nanosleep(&(struct timespec){.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000}, NULL);
}

static bool attach(browser *b)
{
    json_t *r = call(b, "Target.createTarget", json_pack("{s:s}", "url", "about:blank"));
    const char *target = json_string_value(json_object_get(r, "targetId"));
    json_t *s = target ? call(b, "Target.attachToTarget",
                              json_pack("{s:s, s:b}", "targetId", target, "flatten", 1))
                       : NULL;
    const char *session = json_string_value(json_object_get(s, "sessionId"));
    if (session) snprintf(b->session, sizeof b->session, "%s", session);
    json_decref(r);
    json_decref(s);
    static const char *const domains[] = {"Runtime.enable", "Log.enable", "Page.enable"};
    for (size_t i = 0; session && i < sizeof domains / sizeof *domains; i++)
        json_decref(call(b, domains[i], NULL));
    if (session)
        json_decref(call(b, "Emulation.setDeviceMetricsOverride",
                         json_pack("{s:i, s:i, s:i, s:b}", "width", 1400, "height", 1000,
                                   "deviceScaleFactor", 1, "mobile", 0)));
    return b->session[0] != '\0';
}

static void scheme(browser *b, const char *which)
{
    json_decref(call(
        b, "Emulation.setEmulatedMedia",
        json_pack("{s:[{s:s, s:s}]}", "features", "name", "prefers-color-scheme", "value", which)));
}

/* Opens a file; returns milliseconds from the start of loading until the page was ready, -1:
 * never. */
static double open_page(browser *b, const char *path)
{
    char url[4200];
    snprintf(url, sizeof url, "file://%s", path);
    json_decref(call(b, "Page.navigate", json_pack("{s:s}", "url", url)));
    for (int i = 0; i < 600 && !b->dead; i++) {
        double ms = number(b, "document.readyState === 'complete' && document.documentElement ? "
                              "Number(document.documentElement.dataset.loaded || -1) : -1");
        if (ms >= 0) return ms;
        pause_ms(50);
    }
    return -1;
}

/* ---- pictures ---- */

/* Contents of the picture of an element: number of distinct colours, share of the most common one,
 * and mean brightness. The browser computes them by decoding its own screenshot. */
typedef struct look {
    double colours, commonest, brightness;
} look;

static look look_at(browser *b, const char *selector)
{
    char code[1024];
    look l = {-1, -1, -1};
    snprintf(code, sizeof code,
             "(() => { const e = document.querySelector('%s'); e.scrollIntoView({block: 'start'}); "
             "const r = e.getBoundingClientRect(); return [r.x + scrollX, r.y + scrollY, r.width, "
             "Math.min(r.height, 900)]; })()",
             selector);
    json_t *box = eval(b, code);
    pause_ms(200);
    json_t *shot =
        json_array_size(box) == 4
            ? call(b, "Page.captureScreenshot",
                   json_pack("{s:s, s:b, s:{s:O, s:O, s:O, s:O, s:i}}", "format", "png",
                             "captureBeyondViewport", 1, "clip", "x", json_array_get(box, 0), "y",
                             json_array_get(box, 1), "width", json_array_get(box, 2), "height",
                             json_array_get(box, 3), "scale", 1))
            : NULL;
    const char *data = json_string_value(json_object_get(shot, "data"));
    if (data) {
        static const char before[] =
            "(async () => { const i = new Image(); i.src = 'data:image/png;base64,";
        static const char after[] =
            "'; await i.decode(); const c = document.createElement('canvas'); c.width = i.width; "
            "c.height = i.height; const g = c.getContext('2d', {willReadFrequently: true});"
            "g.drawImage(i, 0, 0); const d = g.getImageData(0, 0, c.width, c.height).data, n = new "
            "Map(); let sum = 0;"
            "for (let k = 0; k < d.length; k += 4) { const v = d[k] << 16 | d[k + 1] << 8 | d[k + "
            "2]; n.set(v, (n.get(v) || 0) + 1); sum += d[k] + d[k + 1] + d[k + 2]; }"
            "return [n.size, Math.max(...n.values()) * 4 / d.length, sum / (d.length * 0.75)]; "
            "})()";
        size_t size = sizeof before + strlen(data) + sizeof after;
        char *text = malloc(size);
        if (!text) exit(EXIT_FAILURE);
        snprintf(text, size, "%s%s%s", before, data, after);
        json_t *v = eval(b, text);
        l = (look){json_number_value(json_array_get(v, 0)), json_number_value(json_array_get(v, 1)),
                   json_number_value(json_array_get(v, 2))};
        json_decref(v);
        free(text);
    }
    json_decref(box);
    json_decref(shot);
    return l;
}

/* ---- reports ---- */

static char *folder;

static bool loom(const char *const words[])
{
    const char *argv[24] = {loom_path()};
    for (int i = 0; words[i]; i++) argv[i + 1] = words[i];
    run_result r = run_command(argv, SECONDS);
    bool good = r.status == 0;
    if (!good) tap_note("ptxloom %s: %s", words[0], r.err);
    run_free(&r);
    return good;
}

/* Traces the case and writes a report of it; returns the report's path, in a static buffer. */
static const char *make_report(const char *case_name, const char *baseline_case)
{
    static char html[4096];
    char db[4096], base[4096], part[256];
    snprintf(html, sizeof html, "%s/%s.html", folder, case_name);
    snprintf(db, sizeof db, "%s/%s.db", folder, case_name);
    snprintf(base, sizeof base, "%s/base.db", folder);
    snprintf(part, sizeof part, "suite/cases/%s.json", case_name);
    char *launch = data_path(part);
    bool good =
        loom((const char *const[]){"run", launch, "--trace", db, "--trace-level", "mem", NULL});
    free(launch);
    if (good && baseline_case) {
        snprintf(part, sizeof part, "suite/cases/%s.json", baseline_case);
        launch = data_path(part);
        good = loom((const char *const[]){"run", launch, "--trace", base, "--trace-level",
                                          "summary", NULL});
        free(launch);
    }
    good = good && loom((const char *const[]){"report", db, "-o", html,
                                              baseline_case ? "--baseline" : NULL, base, NULL});
    return good ? html : NULL;
}

/* The same for the matrix product, run with an option. */
static const char *make_matmul_report(const char *name, const char *option, const char *value)
{
    static char html[4096];
    char db[4096], launch[4096];
    const char *root = getenv("srcdir");
    snprintf(html, sizeof html, "%s/%s.html", folder, name);
    snprintf(db, sizeof db, "%s/%s.db", folder, name);
    snprintf(launch, sizeof launch, "%s/examples/matmul.json", root ? root : ".");
    return loom((const char *const[]){"run", launch, option, value, "--trace", db, "--trace-level",
                                      "mem", NULL}) &&
                   loom((const char *const[]){"report", db, "-o", html, NULL})
               ? html
               : NULL;
}

/* Checks every panel: numbers name their sources, and nothing looks like a failed calculation. */
static void check_panels(browser *b, const char *name)
{
    static const struct {
        const char *id;
        int numbers;
        const char *picture; /* selector of its required content */
    } panel[] = {
        {"overview", 10, ".tile"}, {"advice", 1, "article"},          {"speed", 8, ".bar i"},
        {"roofline", 3, "circle"}, {"occupancy", 6, "svg path.step"}, {"stalls", 4, ".stack i"},
        {"timeline", 1, "canvas"}, {"source", 20, ".row code s"},     {"memory", 20, "path.link"},
        {"accesses", 2, "svg"},    {"divergence", 1, "canvas"},       {"maps", 4, "canvas"},
        {"units", 2, "canvas"},    {"compare", 10, "table"},          {"metrics", 100, "table"},
        {"machine", 100, "table"}};
    eval(b, "drawAll()");
    for (size_t i = 0; i < sizeof panel / sizeof *panel; i++) {
        char code[400];
        snprintf(code, sizeof code, "document.querySelectorAll('#panel-%s .body .num').length",
                 panel[i].id);
        double n = number(b, code);
        snprintf(code, sizeof code,
                 "document.querySelector('#panel-%s .body %s') !== null && "
                 "!/NaN|undefined|Infinity/.test(document.querySelector('#panel-%s').innerText)",
                 panel[i].id, panel[i].picture, panel[i].id);
        bool whole = is_true(b, code);
        tap(n >= panel[i].numbers && whole, "%s: panel '%s' shows its picture and %.0f numbers",
            name, panel[i].id, n);
    }
    tap(is_true(b,
                "[...document.querySelectorAll('.num')].every(e => e.dataset.c || e.dataset.m) && "
                "[...document.querySelectorAll('.num[data-q]')].every(e => e.dataset.q === '' || "
                "DATA.queries[e.dataset.q])"),
        "%s: every number names its query or metric", name);
    tap(is_true(b, "L.units.length > 0 && L.units.every(u => u.windows.split(' ').reduce((s, w) => "
                   "s + +w.split(':')[1], 0) === u.sectors)"),
        "%s: windows of slices and channels sum correctly", name);
    tap(is_true(b, "['facts', 'occupancy', 'levels'].every(q => "
                   "[...document.querySelectorAll(`.num[data-q=${q}]`)].filter(e => "
                   "L[q][e.dataset.c] !== undefined && !e.closest('#panel-compare'))"
                   ".every(e => String(L[q][e.dataset.c]) === e.dataset.v)) && "
                   "[...document.querySelectorAll('.num[data-m]')].filter(e => e.dataset.m && "
                   "!e.closest('#panel-compare'))"
                   ".every(e => Math.abs(L.metric[e.dataset.m] - e.dataset.v) < 1e-9 * "
                   "Math.abs(L.metric[e.dataset.m]) + 1e-12)"),
        "%s: displayed numbers match the data", name);
}

/* Values that the page calculates itself: the model's occupancy, and no more warps than slots. */
static void check_occupancy(browser *b, const char *name)
{
    eval(b, "drawAll()");
    tap(is_true(b,
                "L.occupancy.theoretical > 0 && "
                "[...document.querySelectorAll('path.step')].every(e => Math.abs(e.dataset.here - "
                "L.occupancy.theoretical) < 1e-9) && document.querySelectorAll('path.step').length "
                "=== 3"),
        "%s: the occupancy of other sizes starts from the model's occupancy", name);
    tap(is_true(b, "(() => { const m = /At most ([0-9,]+) warps? at once, of ([0-9,]+) "
                   "slots/.exec(document.querySelector('#alive')."
                   "textContent), n = s => +s.replace(/,/g, ''); return n(m[1]) > 0 && n(m[1]) <= "
                   "n(m[2]); })()"),
        "%s: live warps fit the warp slots", name);
}

static void press(browser *b, const char *key)
{
    json_decref(call(b, "Input.dispatchKeyEvent",
                     json_pack("{s:s, s:s, s:s}", "type", "keyDown", "key", key, "text",
                               strlen(key) == 1 ? key : "")));
    json_decref(
        call(b, "Input.dispatchKeyEvent", json_pack("{s:s, s:s}", "type", "keyUp", "key", key)));
    pause_ms(60);
}

/* Clicks the middle of an element, like a mouse. */
static void click(browser *b, const char *selector)
{
    char code[600];
    snprintf(
        code, sizeof code,
        "(() => { const e = document.querySelector('%s'); e.scrollIntoView({block: 'center'}); "
        "const r = e.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2]; })()",
        selector);
    json_t *at = eval(b, code);
    static const char *const type[] = {"mouseMoved", "mousePressed", "mouseReleased"};
    for (int i = 0; i < 3 && json_array_size(at) == 2; i++)
        json_decref(call(b, "Input.dispatchMouseEvent",
                         json_pack("{s:s, s:O, s:O, s:s, s:i}", "type", type[i], "x",
                                   json_array_get(at, 0), "y", json_array_get(at, 1), "button",
                                   i ? "left" : "none", "clickCount", i ? 1 : 0)));
    json_decref(at);
    pause_ms(60);
}

static void check_use(browser *b)
{
    click(b, "#panel-speed .sql");
    tap(is_true(b, "!document.querySelector('#panel-speed .query').hidden && "
                   "document.querySelector('#panel-speed .query').textContent.includes('SELECT')"),
        "a click shows a panel's SQL");
    click(b, ".reasons button:nth-child(2)");
    tap(is_true(
            b,
            "document.querySelector('.reasons button:nth-child(2)').getAttribute('aria-pressed') "
            "=== 'true' && document.querySelectorAll('#reason tbody tr').length > 0"),
        "a click on a stall reason shows its lines");
    click(b, "#reason [data-line]");
    tap(is_true(b, "document.querySelectorAll('.row.chosen').length === 1 && "
                   "document.querySelectorAll('.row.linked').length >= 1"),
        "a click on a line marks it and its machine instructions");
    click(b, "[data-measure=issues]");
    tap(is_true(b, "source.measure === 'issues' && "
                   "document.querySelector('[data-measure=issues]').getAttribute('aria-pressed') "
                   "=== 'true'"),
        "selecting another metric recolours the listing");
    click(b, "[data-do=slots]");
    tap(is_true(b, "timeline.x1 - timeline.x0 < 40 && "
                   "document.querySelector('#scale').textContent.startsWith('issue slots')"),
        "the timeline zooms in to issue slots");
    eval(b, "document.querySelector('#rows').focus()");
    press(b, ".");
    tap(is_true(b, "timeline.cursor !== null && timeline.cursor.i === 1 && "
                   "document.querySelector('#issue').textContent.includes('cycle')"),
        "a key moves to the next issue and describes it");
    press(b, "0");
    tap(is_true(b, "timeline.x0 === 0 && timeline.x1 === L.facts.cycles"),
        "a key restores the view of the whole launch");
    press(b, "ArrowDown");
    eval(b, "document.activeElement.blur()");
    press(b, "4");
    tap(is_true(
            b,
            "document.activeElement.id === PANELS.filter(p => p.el && p.el.isConnected)[3].el.id"),
        "a digit key opens the panel with that number");
    press(b, "?");
    tap(is_true(b, "document.querySelector('#keys').open"), "? lists the keys");
    eval(b, "document.querySelector('#keys').close()");
    eval(b, "document.querySelector('#panel-overview .num').scrollIntoView({block: 'center'})");
    pause_ms(300); /* scrolling hides tooltips */
    eval(b, "document.querySelector('#panel-overview .num').dispatchEvent(new MouseEvent("
            "'mouseover', {bubbles: true, clientX: 300, clientY: 300}))");
    tap(is_true(b, "!document.querySelector('#tip').hidden && document.querySelector('#tip "
                   "pre').textContent.includes('FROM kernel')"),
        "a number's tooltip shows the SQL query it comes from");
    eval(b, "document.querySelector('#panel-speed .num').scrollIntoView({block: 'center'})");
    pause_ms(300);
    eval(b, "document.querySelector('#panel-speed .num').focus({preventScroll: true})");
    tap(is_true(b, "!document.querySelector('#tip').hidden && "
                   "document.querySelector('#tip').textContent.includes('speed_of_light')"),
        "keyboard focus shows the same tooltip");
    static const char *const cells[][2] = {{"#map", "#cell"}, {"#masks", "#mask"}};
    for (int i = 0; i < 2; i++) {
        char code[200];
        snprintf(code, sizeof code,
                 "window.before = document.querySelector('%s').textContent; "
                 "document.querySelector('%s').focus()",
                 cells[i][1], cells[i][0]);
        eval(b, code);
        press(b, "ArrowRight");
        snprintf(code, sizeof code, "document.querySelector('%s').textContent !== window.before",
                 cells[i][1]);
        tap(is_true(b, code), "arrow keys describe the cells of %s", cells[i][0]);
    }
    eval(b, "document.querySelector('#find').value = 'hit_rate'; "
            "document.querySelector('#find').oninput()");
    tap(is_true(b, "(() => { const n = document.querySelectorAll('#list tbody tr').length; return "
                   "n > 0 && n < 30; })()"),
        "metrics can be searched");
    tap(is_true(b, "[...document.querySelectorAll('button, select, input, canvas[tabindex], "
                   "svg')].every(e => e.innerText || e.getAttribute('aria-label') || "
                   "e.labels?.length || e.closest('label'))"),
        "every interactive element has an accessible name");
}

/* The picture of an access shows as many sectors, or words of the fullest bank, as the model
 * counted. */
static void check_accesses(browser *b)
{
    int global = 0, shared = 0, wrong = 0;
    double n = number(b, "document.querySelector('#which').options.length");
    for (int i = 0; i < (int)n; i++) {
        char code[300];
        snprintf(code, sizeof code,
                 "(() => { const s = document.querySelector('#which'); s.value = %d; "
                 "s.onchange({target: s}); return "
                 "document.querySelector('#picture').textContent.includes('word 1'); })()",
                 i);
        bool banks = is_true(b, code);
        double counted =
            number(b, "Number(/: (\\d+) (sectors?|wavefronts?)/.exec(document.querySelector('"
                      "#picture svg').getAttribute('aria-label'))[1])");
        double drawn =
            number(b, banks ? "[...document.querySelectorAll('#picture svg text')].filter(e => "
                              "e.textContent.startsWith('word')).length"
                            : "document.querySelectorAll('#picture rect.cell[data-tip]').length");
        wrong += counted != drawn || counted < 1;
        *(banks ? &shared : &global) += 1;
    }
    tap(wrong == 0 && global > 0 && shared > 0,
        "pictures of %d global and %d shared accesses match the model's counts", global, shared);
}

static void check_looks(browser *b)
{
    static const char *const pictures[] = {"#panel-roofline svg",     "#panel-timeline #rows",
                                           "#panel-source .code",     "#panel-memory svg",
                                           "#panel-accesses svg",     "#panel-maps #map",
                                           "#panel-divergence #masks"};
    for (size_t i = 0; i < sizeof pictures / sizeof *pictures; i++) {
        look light = look_at(b, pictures[i]);
        tap(light.colours >= 12 && light.commonest < 0.985,
            "%s is drawn: %.0f colours, %.0f %% background", pictures[i], light.colours,
            100 * light.commonest);
    }
    look light = look_at(b, "#panel-overview");
    scheme(b, "dark");
    pause_ms(200);
    look dark = look_at(b, "#panel-overview");
    tap(light.brightness > 190 && dark.brightness < 80 && dark.brightness > 0,
        "the page follows the system's light or dark theme (brightness %.0f and %.0f)",
        light.brightness, dark.brightness);
    click(b, "#theme");
    pause_ms(200);
    look chosen = look_at(b, "#panel-overview");
    tap(chosen.brightness > 190, "a button switches the theme");
    scheme(b, "light");
}

/* A kernel whose PTX refers to lines of a CUDA file that exists. */
static void check_cuda_lines(browser *b)
{
    char ptx[4096], cuda[4096], db[4096], html[4096], launch[4096];
    snprintf(ptx, sizeof ptx, "%s/loc.ptx", folder);
    snprintf(cuda, sizeof cuda, "%s/loc.cu", folder);
    snprintf(db, sizeof db, "%s/loc.db", folder);
    snprintf(html, sizeof html, "%s/loc.html", folder);
    FILE *f = fopen(cuda, "w"), *g = fopen(ptx, "w");
    fprintf(f, "__global__ void add_one(float *x)\n{\n    x[threadIdx.x] += 1;\n}\n");
    fprintf(g,
            ".version 8.0\n.target sm_90\n.address_size 64\n.file 1 \"%s\"\n.visible .entry "
            "add_one(.param .u64 x)\n{\n .reg .b32 %%t; .reg .f32 %%f; .reg .b64 %%a, %%o;\n"
            ".loc 1 1 1\n ld.param.u64 %%a, [x];\n.loc 1 3 5\n mov.u32 %%t, %%tid.x;\n "
            "mul.wide.u32 %%o, %%t, 4;\n add.u64 %%a, %%a, %%o;\n ld.global.f32 %%f, [%%a];\n"
            " add.f32 %%f, %%f, 0f3f800000;\n st.global.f32 [%%a], %%f;\n.loc 1 4 1\n ret;\n}\n",
            cuda);
    fclose(f);
    fclose(g);
    snprintf(launch, sizeof launch, "%s", ptx);
    bool good = loom((const char *const[]){"run", launch, "-g", "2", "-b", "64", "f32[64]=0",
                                           "--trace", db, NULL}) &&
                loom((const char *const[]){"report", db, "-o", html, NULL}) &&
                open_page(b, html) >= 0;
    if (good) eval(b, "drawAll()");
    tap(good && is_true(b, "document.querySelector('.code.three') !== null && "
                           "document.querySelector('[data-pane=cuda]').textContent.includes('x["
                           "threadIdx.x] += 1')"),
        "CUDA lines are shown next to PTX and machine code");
    eval(b, "source.choose('src', 3, true)");
    tap(good &&
            is_true(b, "document.querySelectorAll('[data-pane=ptx] .row.linked').length >= 4 && "
                       "document.querySelectorAll('[data-pane=machine] .row.linked').length >= 3"),
        "a CUDA line marks its PTX lines and machine instructions");
}

/* A report of two small launches, compared with itself; returns its path, in a static buffer. */
static const char *make_small_report(void)
{
    static char html[4096];
    char db[4096];
    snprintf(html, sizeof html, "%s/small.html", folder);
    snprintf(db, sizeof db, "%s/small.db", folder);
    char *launch = data_path("../../examples/overlap.json");
    bool good =
        loom((const char *const[]){"run", launch, "--trace", db, "--trace-level", "mem", NULL}) &&
        loom((const char *const[]){"report", db, "-o", html, "--baseline", db, NULL});
    free(launch);
    return good ? html : NULL;
}

/* Markup in the data of a report is shown as text, whichever column has it. For each query the test
 * changes, one at a time, the text columns that the page compares with strings, then all other text
 * columns, then all numeric columns. If any markup gets through, the page's content security policy
 * prevents it from running. */
static void check_markup(browser *b)
{
    static const char code[] =
        "const X = '<i class=\"injected\">x</i>\">\\'<img src=x onerror=\"window.pwned = 1\">', "
        "data = DATA.launches[0];"
        "const tables = [...Object.entries(data), ...Object.entries(data.baseline)].filter(([, v]) "
        "=> v && v.columns);"
        "let found = false; tip.show = html => { const t = document.createElement('template'); "
        "t.innerHTML = html; found ||= $('.injected', t.content) !== null; };"
        "const look = name => { ready.clear(); try { show(0); drawAll(); } catch (e) { }"
        "  found ||= document.querySelector('.injected') !== null;"
        "  for (const e of $$('.num')) tip.origin(e, 0, 0);"
        "  for (const e of $$('[data-tip]')) tip.text(e, 0, 0);"
        "  const bad = found ? [name] : []; found = false; return bad; };"
        "const change = (t, columns, name) => { const old = t.rows.map(r => [...r]);"
        "  for (const r of t.rows) for (const c of columns) r[c] = String(r[c] ?? '') + X;"
        "  const bad = look(name); t.rows.forEach((r, i) => r.splice(0, r.length, ...old[i])); "
        "return bad; };"
        "const words = ['name', 'kind', 'space', 'language', 'side', 'component', 'level', "
        "'status', 'family', 'windows'];"
        "const checkTable = k => { const [q, t] = tables[k], numbers = [], others = [], bad = [];"
        "  t.columns.forEach((c, i) => words.includes(c) ? bad.push(...change(t, [i], q + '.' + "
        "c)) : (TEXT.has(c) ? others : numbers).push(i));"
        "  return [...bad, ...change(t, others, q + ': texts'), ...change(t, numbers, q + ': "
        "numbers')]; };"
        "const checkRest = () => { for (const a of data.accesses) for (const s of a.samples) for "
        "(const k of ['space', 'kind', 'level']) s[k] += X;"
        "  for (const r of data.baseline.lines) r[0] += X; return look('accesses and lines'); };";
    const int before = b->complaints;
    eval(b, code);
    const int n = (int)number(b, "tables.length");
    size_t bad = 0;
    for (int i = 0; i <= n && !b->dead; i++) {
        char call_of[40];
        snprintf(call_of, sizeof call_of, i < n ? "checkTable(%d)" : "checkRest()", i);
        json_t *names = eval(b, call_of);
        if (!json_is_array(names)) bad++;
        for (size_t k = 0; k < json_array_size(names); k++, bad++)
            tap_note("%s", json_string_value(json_array_get(names, k)));
        json_decref(names);
    }
    tap(n >= 20 && bad == 0 && !b->dead, "markup in any column of %d queries is shown as text", n);
    eval(b, "document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.pwned = "
            "1\"><svg onload=\"window.pwned = 2\">');"
            "{ const s = document.createElement('script'); s.textContent = 'window.pwned = 3'; "
            "document.body.append(s); } 0");
    pause_ms(500);
    tap(is_true(b, "window.pwned === undefined"), "no other script can run");
    tap(is_true(b, "new Promise(done => { document.addEventListener('securitypolicyviolation', e "
                   "=> done(e.effectiveDirective === 'connect-src'));"
                   "fetch('http://127.0.0.1:9/').catch(() => 0); })"),
        "the network is unreachable");
    b->complaints = before; /* blocked requests are reported on the console */
}

/* The page on the screen of a phone. */
static void check_narrow(browser *b, const char *html)
{
    json_decref(call(b, "Emulation.setDeviceMetricsOverride",
                     json_pack("{s:i, s:i, s:i, s:b}", "width", 400, "height", 800,
                               "deviceScaleFactor", 1, "mobile", 0)));
    double ms = open_page(b, html);
    tap(ms >= 0 && is_true(b, "drawAll(), $$('main > section').every(e => $('.body', "
                              "e).innerText.length > 10) && !document.querySelector('.body > "
                              ".note:only-child')"),
        "every panel is drawn at a width of 400 pixels");
    tap(ms >= 0 && is_true(b, "{ const seen = $$('#top h1, .controls > *').map(e => "
                              "e.getBoundingClientRect()).filter(r => r.width > 0);"
                              "seen.length >= 3 && seen[0].width > 50 && "
                              "seen.every(r => r.right <= innerWidth); }"),
        "the title and the controls are visible at a width of 400 pixels");
    tap(ms >= 0 && is_true(b, "$$('.sol').length > 0 && $$('.sol').every(e => "
                              "e.getBoundingClientRect().right <= "
                              "e.closest('section').getBoundingClientRect().right)"),
        "bars stay inside their panels at a width of 400 pixels");
    json_decref(call(b, "Emulation.setDeviceMetricsOverride",
                     json_pack("{s:i, s:i, s:i, s:b}", "width", 1400, "height", 1000,
                               "deviceScaleFactor", 1, "mobile", 0)));
}

/* The timeline of a CUDA program: its texts are neither squeezed nor do they overlap. */
static void check_application(browser *b)
{
    static const char texts[] =
        "{ const texts = [], draw = CanvasRenderingContext2D.prototype, fill = draw.fillText;"
        "draw.fillText = function (t, x, y, most) { const w = this.measureText(t).width;"
        "  texts.push({x, y, end: x + w, squeezed: most < w}); fill.call(this, t, x, y); };"
        "application.view.draw(); draw.fillText = fill;"
        "const axis = texts.filter(e => e.y === 12);"
        "texts.length >= 6 && axis.length >= 2 && texts.every(e => !e.squeezed) && "
        "axis.every((e, i) => i === 0 || e.x >= axis[i - 1].end); }";
    char db[4096], html[4096];
    snprintf(db, sizeof db, "%s/application.db", folder);
    snprintf(html, sizeof html, "%s/application.html", folder);
    if (access("tests/cudart/app", X_OK) != 0) return; /* configured without the CUDA runtime */
    const bool made = loom((const char *const[]){
                          "exec", "--arch", "toy", "--mode", "functional", "--trace", db, "sh",
                          "-c", "tests/cudart/app priorities >/dev/null; test $? = 5", NULL}) &&
                      loom((const char *const[]){"report", db, "-o", html, NULL});
    for (int width = 1400; made && width >= 400; width -= 1000) {
        json_decref(call(b, "Emulation.setDeviceMetricsOverride",
                         json_pack("{s:i, s:i, s:i, s:b}", "width", width, "height", 1000,
                                   "deviceScaleFactor", 1, "mobile", 0)));
        const double ms = open_page(b, html);
        if (ms >= 0) eval(b, "drawAll()");
        tap(ms >= 0 && is_true(b, texts), "texts of the application's timeline at %d pixels",
            width);
    }
    tap(made, "a report of a CUDA program is made");
    json_decref(call(b, "Emulation.setDeviceMetricsOverride",
                     json_pack("{s:i, s:i, s:i, s:b}", "width", 1400, "height", 1000,
                               "deviceScaleFactor", 1, "mobile", 0)));
}

static void check_all(browser *b)
{
    const char *html = make_report("transpose_shared", "transpose_padded");
    double ms = html ? open_page(b, html) : -1;
    tap(ms >= 0, "a report opens");
    if (ms < 0) return;
    check_panels(b, "transpose_shared");
    check_use(b);
    check_accesses(b);
    check_looks(b);
    check_occupancy(b, "transpose_shared");
    check_narrow(b, html);
    check_application(b);
    html = make_small_report();
    ms = html ? open_page(b, html) : -1;
    tap(ms >= 0, "a report of small launches opens");
    if (ms >= 0) check_markup(b);
    check_cuda_lines(b);
    html = make_matmul_report("functional", "--mode", "functional");
    ms = html ? open_page(b, html) : -1;
    tap(ms >= 0 && is_true(b, "L.facts.cycles === null && L.facts.status === 'ok' && "
                              "!document.querySelector('#panel-overview').innerText"
                              ".includes('until failure')"),
        "functional mode has no cycles until a failure");
    html = make_matmul_report("wide", "--arch", "wave64");
    ms = html ? open_page(b, html) : -1;
    tap(ms >= 0, "a report with 64-lane warps opens");
    if (ms >= 0) check_occupancy(b, "wide warps");
    html = make_report("nested_divergence", NULL);
    ms = html ? open_page(b, html) : -1;
    for (int i = 0; i < 2 && ms >= 0; i++) { /* the best of three runs: the machine is shared */
        double again = open_page(b, html);
        if (again >= 0 && again < ms) ms = again;
    }
    double rows = number(b, "L.time.rows");
    eval(b, "drawAll()");
    tap(number(b, "document.querySelectorAll('#panel-divergence .body .num').length") >=
                1 + 3 * number(b, "Math.min(12, L.branches.length)") &&
            number(b, "L.branches.length") > 0,
        "each executed branch has its three numbers");
    tap(ms >= 0 && ms < 2000 && rows >= 1e6,
        "a trace of %.0f instructions is displayed after %.0f ms", rows, ms);
    tap(b->complaints == 0 && !b->dead, "the console has no messages");
}

/* Checks an existing report. */
static void check_page(browser *b, const char *path)
{
    char *whole = realpath(path, NULL);
    double ms = whole ? open_page(b, whole) : -1;
    free(whole);
    tap(ms >= 0 && ms < 2000, "%s: %.0f instructions are displayed after %.0f ms", path,
        ms >= 0 ? number(b, "L.time.rows") : 0, ms);
    if (ms < 0) return;
    check_panels(b, path);
    tap(b->complaints == 0 && !b->dead, "%s: the console has no messages", path);
}

int main(int argc, char **argv)
{
    const char *program = find_browser();
    if (!program) {
        tap(true, "reports in a browser # SKIP no Chromium here: apt-get install chromium, or set "
                  "$CHROMIUM");
        return tap_done();
    }
    signal(SIGPIPE, SIG_IGN);
    browser b = {0};
    folder = scratch_make();
    if (start(&b, program, folder) && attach(&b)) {
        for (int i = 1; i < argc; i++) check_page(&b, argv[i]);
        if (argc == 1) check_all(&b);
    } else {
        tap(true, "reports in a browser # SKIP %s does not start here", program);
    }
    if (b.pid > 0) kill(b.pid, SIGKILL), waitpid(b.pid, NULL, 0);
    free(b.buffer);
    pause_ms(200);
    scratch_remove(folder);
    return tap_done();
}
