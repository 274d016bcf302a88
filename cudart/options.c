/* options.c - reads $PTXLOOM_OPTIONS, which `ptxloom exec` sets from its own options.
 *
 * Words are separated by blanks; a blank within a word is written as \ and a blank, and a backslash
 * as \\. */
#define _GNU_SOURCE /* environ, program_invocation_name */
#include "cudart/state.h"
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum option_id {
#define EXEC_OPTION(id, name, letter, takes, help) O_##id,
#include "include/exec_options.def"
#undef EXEC_OPTION
    O_COUNT
};

static const struct {
    const char *name;
    char letter;
    const char *takes;
} option[O_COUNT] = {
#define EXEC_OPTION(id, name, letter, takes, help) {name, letter, takes},
#include "include/exec_options.def"
#undef EXEC_OPTION
};

/* Returns the next word, terminated in place; NULL at the end. */
static char *next_word(char **cursor)
{
    char *from = *cursor, *word, *to;
    while (*from == ' ') from++;
    if (!*from) return NULL;
    for (word = to = from; *from && *from != ' ';) {
        if (*from == '\\' && from[1]) from++;
        *to++ = *from++;
    }
    *cursor = *from ? from + 1 : from;
    *to = '\0';
    return word;
}

static char range[64]; /* valid values of a number or size; empty: neither */

static bool parse_number(const char *text, uint64_t lo, uint64_t hi, uint64_t *out)
{
    char *end;
    *out = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && !*end && *out >= lo && *out <= hi) return true;
    snprintf(range, sizeof range, "a number from %" PRIu64 " to %" PRIu64, lo, hi);
    return false;
}

static bool parse_size(const char *text, uint64_t *out)
{
    snprintf(range, sizeof range, "a size such as 500M, 2G or 64K; a plain number counts MiB");
    return pl_read_size(text, out);
}

/* Matches a word of n bytes against the option's choices, which are separated by bars; *out: its
 * index. */
static bool match_word(const char *text, size_t n, int id, int *out)
{
    *out = 0;
    for (const char *word = option[id].takes;; ++*out) {
        const size_t length = strcspn(word, "|");
        if (length == n && memcmp(text, word, n) == 0) return true;
        if (!word[length]) return false;
        word += length + 1;
    }
}

static bool parse_word(const char *text, int id, int *out)
{
    return match_word(text, strlen(text), id, out);
}

/* Matches words separated by commas. */
static bool check_words(const char *text, int id)
{
    for (int k;; text++) {
        const size_t n = strcspn(text, ",");
        if (!match_word(text, n, id, &k)) return false;
        text += n;
        if (!*text) return true;
    }
}

/* all, first=N, budget=SECONDS */
static bool parse_timing(cuda_options *o, const char *text)
{
    static const char first[] = "first=", budget[] = "budget=";
    const bool first_n = strncmp(text, first, strlen(first)) == 0,
               by_budget = strncmp(text, budget, strlen(budget)) == 0;
    uint64_t n = 0;
    if (strcmp(text, "all") != 0 && !first_n && !by_budget) return false;
    if ((first_n || by_budget) &&
        !parse_number(text + (first_n ? strlen(first) : strlen(budget)), 1, 1u << 30, &n))
        return false;
    o->timing = first_n ? CUDA_TIME_FIRST : by_budget ? CUDA_TIME_BUDGET : CUDA_TIME_ALL;
    o->timing_limit = (double)n;
    return true;
}

static bool parse_schedule(const char *text, cuda_options *o)
{
    static const char random[] = "random:";
    const size_t n = strlen(random);
    o->random = strncmp(text, random, n) == 0;
    return o->random && parse_number(text + n, 0, UINT64_MAX, &o->seed);
}

/* Sets an option of checkers, or one without a value. */
static bool set_checker(cuda_options *o, int id, const char *value)
{
    int k = 0;
    bool ok = true;
    switch (id) {
    case O_CHECK:
        ok = check_words(value, id);
        o->check = value;
        break;
    case O_CHECK_KERNEL: o->check_kernel = value; break;
    case O_SUPPRESSIONS: o->suppressions = value; break;
    case O_TRACK_ORIGINS: break; /* always shown */
    case O_LEAK_CHECK:
        ok = parse_word(value, id, &k);
        o->leak_check = k == 0;
        break;
    case O_CHECK_FORMAT:
        ok = parse_word(value, id, &k);
        o->sanitizer = k == 1;
        break;
    case O_ERROR_EXITCODE:
        ok = parse_number(value, 0, 255, &o->exitcode);
        o->exitcode_given = true;
        break;
    case O_CHECK_LIMIT: ok = parse_number(value, 0, UINT32_MAX, &o->check_limit); break;
    default: break;
    }
    return ok;
}

static bool set_option(cuda_options *o, int id, const char *value)
{
    int k = 0;
    bool ok = true;
    switch (id) {
    case O_ARCH:
        o->arch = value;
        o->arch_given = true;
        break;
    case O_MODE:
        ok = parse_word(value, id, &k);
        o->mode = k == 0 ? PL_MODE_TIMING : PL_MODE_FUNCTIONAL;
        o->mode_given = true;
        break;
    case O_TIMING:
        o->mode = PL_MODE_TIMING;
        o->mode_given = o->timing_given = true;
        ok = parse_timing(o, value);
        break;
    case O_HOST_CLOCK:
        ok = parse_word(value, id, &k);
        o->host_clock = k == 1;
        break;
    case O_PROFILE_FROM_START:
        ok = parse_word(value, id, &k);
        o->from_profiler = k == 1;
        break;
    case O_MODULE_CACHE: o->cache = value; break;
    case O_SCHEDULE: ok = parse_schedule(value, o); break;
    case O_MEMOIZE:
        ok = parse_word(value, id, &k);
        o->memoize = k == 0;
        break;
    case O_BOUNDS:
        ok = parse_word(value, id, &k);
        o->page_bounds = k == 1;
        break;
    case O_OPT:
        ok = parse_word(value, id, &k);
        o->opt_level = 2 * k;
        break;
    case O_TRACE: o->trace = value; break;
    case O_TRACE_LEVEL:
        ok = parse_word(value, id, &k);
        o->trace_level = (pl_trace_level)k;
        break;
    case O_TRACE_FORMAT:
        ok = parse_word(value, id, &k);
        o->packed = k == 1;
        break;
    case O_TRACE_KERNEL: o->filter.kernel = value; break;
    case O_TRACE_LIMIT: ok = parse_size(value, &o->trace_limit); break;
    case O_THREADS: ok = parse_number(value, 1, 256, &o->threads); break;
    case O_DEVICES: ok = parse_number(value, 1, CUDA_DEVICES, &o->devices); break;
    case O_TIMEOUT: ok = parse_number(value, 1, 1u << 30, &o->timeout); break;
    case O_MAX_CYCLES: ok = parse_number(value, 1, UINT64_MAX, &o->max_cycles); break;
    case O_MAX_INSTRUCTIONS: ok = parse_number(value, 1, UINT64_MAX, &o->max_instructions); break;
    case O_METRICS:
        o->metrics = value;
        o->mode = PL_MODE_TIMING;
        o->mode_given = true;
        break;
    case O_SUMMARY: o->summary = true; break;
    case O_API_LOG: o->log = true; break;
    default: ok = set_checker(o, id, value);
    }
    return ok;
}

/* False: the value is invalid, which is reported. */
static bool apply_option(cuda_options *o, int id, const char *value)
{
    const char *takes = option[id].takes;
    *range = '\0';
    if ((!takes || *value) && set_option(o, id, value)) return true;
    cuda_report("'%s' is not a value for --%s: it is %s", value, option[id].name,
                *range && (strcmp(takes, "N") == 0 || strcmp(takes, "SIZE") == 0) ? range : takes);
    return false;
}

/* Returns the option that a word names: --NAME, --NAME=VALUE, -X, -XVALUE. *value: the remainder of
 * the word, or NULL. -1: none. */
static int find_option(const char *word, const char **value)
{
    *value = NULL;
    for (int k = 0; k < O_COUNT; k++) {
        const size_t n = strlen(option[k].name);
        if (word[0] == '-' && word[1] == '-' && strncmp(word + 2, option[k].name, n) == 0 &&
            (word[n + 2] == '\0' || word[n + 2] == '=')) {
            if (word[n + 2]) *value = word + n + 3;
            return k;
        }
        if (option[k].letter && word[0] == '-' && word[1] == option[k].letter) {
            if (word[2]) *value = word + 2;
            return k;
        }
    }
    return -1;
}

/* Completes the options that were not given. By default a few seconds are spent on the timing
 * model, unless an option asks for many executions rather than for times. */
static void choose_mode(cuda_options *o)
{
    enum { DEFAULT_BUDGET = 5, TIMING_BUDGET = 60 }; /* seconds */
    if (!o->mode_given && (o->random || o->check)) o->mode = PL_MODE_FUNCTIONAL;
    if (!o->timing_given) o->timing_limit = o->mode_given ? TIMING_BUDGET : DEFAULT_BUDGET;
}

static bool read_options(cuda_options *o)
{
    const char *environment = getenv("PTXLOOM_OPTIONS");
    static char *text; /* the options point into it; it is never freed */
    char *word;
    *o = (cuda_options){.arch = "h200",
                        .mode = PL_MODE_TIMING,
                        .opt_level = 2,
                        .memoize = true,
                        .devices = 1,
                        .check_limit = 100,
                        .timing = CUDA_TIME_BUDGET,
                        .trace_level = PL_TRACE_SUMMARY};
    if (!environment) return true;
    char *cursor = text = strdup(environment);
    if (!cursor) return false;
    while ((word = next_word(&cursor)) != NULL) {
        const char *value;
        const int id = find_option(word, &value);
        if (id < 0) {
            cuda_report("unknown option '%s' in PTXLOOM_OPTIONS; `ptxloom exec --help` lists them",
                        word);
            return false;
        }
        if (option[id].takes && !value && !(value = next_word(&cursor))) {
            cuda_report("%s needs a value", word);
            return false;
        }
        if (!apply_option(o, id, value)) return false;
    }
    choose_mode(o);
    if (o->random && o->mode == PL_MODE_TIMING) {
        cuda_report(
            "--schedule and --mode timing exclude each other: the timing model decides which "
            "warp is next");
        return false;
    }
    if (o->page_bounds && o->check) {
        cuda_report(
            "--bounds page and --check exclude each other: checkers know bounds to the byte");
        return false;
    }
    return true;
}

/* Checks what only the library knows: the machine, names of metrics, the file of suppressions.
 * False: it is invalid, which is reported. */
static bool check_names(const cuda_options *o)
{
    pl_gpu *gpu = NULL;
    pl_trace *trace = NULL;
    pl_checks *checks = NULL;
    const pl_trace_options summary = {.level = PL_TRACE_SUMMARY};
    const pl_checks_options checked = {.tools = o->check, .suppressions = o->suppressions};
    const pl_metric *metric;
    size_t n;
    if (!o->arch_given && !o->metrics && !(o->check && o->suppressions)) return true;
    bool ok = pl_gpu_open(&gpu, o->arch) == PL_OK;
    if (ok && o->metrics)
        ok = pl_trace_open(gpu, NULL, &summary, &trace) == PL_OK &&
             pl_trace_metrics(trace, o->metrics, &metric, &n) == PL_OK;
    if (ok && o->check && o->suppressions) ok = pl_checks_open(gpu, &checked, &checks) == PL_OK;
    if (!ok && gpu) cuda_print_messages_of(gpu);
    if (checks) pl_checks_close(checks);
    if (trace) pl_trace_close(trace, false);
    if (gpu) pl_gpu_close(gpu);
    return ok;
}

#ifdef __GLIBC__
/* Sets what the C library sets in its own constructor, which runs later (-z initfirst). */
static void set_program(char **argv, char **environment)
{
    if (environ || !argv[0]) return;
    const char *slash = strrchr(argv[0], '/');
    environ = environment;
    program_invocation_name = argv[0];
    program_invocation_short_name = slash ? argv[0] + (slash + 1 - argv[0]) : argv[0];
}

/* Runs before the constructors of the program and of its libraries. The dynamic linker passes the
 * arguments of main. */
__attribute__((constructor(101))) static void begin(int argc, char **argv, char **environment)
{
    (void)argc;
    set_program(argv, environment);
#else
__attribute__((constructor(101))) static void begin(void)
{
#endif
    if (!read_options(&cuda.options) || !check_names(&cuda.options)) _exit(2);
}
