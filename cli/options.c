/* options.c - parses command lines, and prints their help. */
#include "cli/cli.h"
#include "cli/terminal.h"
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int report_unknown_option(cli_args *a, const char *word, const cli_option *option, size_t n)
{
    const char *names[64];
    size_t known = 0;
    char help[128];
    for (size_t i = 0; i < n && known < 64; i++)
        if (option[i].help) names[known++] = option[i].name;
    const char *near = word[1] == '-' ? pl_nearest(word + 2, names, known) : NULL;
    if (near)
        snprintf(help, sizeof help, "did you mean '--%s'?", near);
    else
        snprintf(help, sizeof help, "`ptxloom %s --help` lists the options", a->argv[0]);
    pl_gpu_report(a->gpu, "E0003", word, a->argv[0], NULL, help);
    return CLI_BAD;
}

/* Takes the option's value: after '=', or the next word. */
static int take_value(cli_args *a, const cli_option *option, int k, const char *word,
                      const char *attached)
{
    a->value = attached;
    if (!option[k].takes) {
        if (!attached) return k;
        pl_gpu_report(a->gpu, "E0005", attached, word, "it takes no value", NULL);
        return CLI_BAD;
    }
    if (!attached && a->at < a->argc) a->value = a->argv[a->at++];
    if (a->value) return k;
    char help[600];
    snprintf(help, sizeof help, "%s %s: %s", word, option[k].takes, option[k].help);
    pl_gpu_report(a->gpu, "E0004", word, NULL, NULL, help);
    return CLI_BAD;
}

int cli_next(cli_args *a, const cli_option *option, size_t n)
{
    if (a->at >= a->argc) return CLI_END;
    char *word = a->argv[a->at++];
    a->value = word;
    if (a->operands_only || word[0] != '-' || word[1] == '\0') return CLI_OPERAND;
    if (strcmp(word, "--") == 0) {
        a->operands_only = true;
        return cli_next(a, option, n);
    }
    if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0) return CLI_HELP;
    for (size_t i = 0; i < n; i++) {
        if (word[1] != '-') {
            if (option[i].letter && word[1] == option[i].letter) {
                const char short_form[] = {'-', word[1], '\0'};
                const char *attached = word[2] == '=' ? word + 3 : word + 2;
                return take_value(a, option, (int)i, short_form, word[2] ? attached : NULL);
            }
            continue;
        }
        size_t len = strlen(option[i].name);
        if (strncmp(word + 2, option[i].name, len) != 0) continue;
        if (word[2 + len] == '\0') return take_value(a, option, (int)i, word, NULL);
        if (word[2 + len] == '=') {
            char long_form[64];
            snprintf(long_form, sizeof long_form, "--%s", option[i].name);
            return take_value(a, option, (int)i, long_form, word + 3 + len);
        }
    }
    return report_unknown_option(a, word, option, n);
}

void cli_help(const char *usage, const cli_option *option, size_t n)
{
    enum { HELP_COLUMN = 37 };
    const int width = cli_width(stdout);
    cli_put_wrapped(stdout, usage, width, -1);
    putchar('\n');
    for (size_t i = 0; i < n; i++) {
        char left[64];
        if (!option[i].help) continue;
        int used = option[i].letter ? snprintf(left, sizeof left, "-%c", option[i].letter)
                                    : snprintf(left, sizeof left, "  ");
        used += snprintf(left + used, sizeof left - (size_t)used, "%s--%s",
                         option[i].letter ? ", " : "  ", option[i].name);
        if (option[i].takes)
            snprintf(left + used, sizeof left - (size_t)used, " %s", option[i].takes);
        char line[512];
        snprintf(line, sizeof line, "  %-34s %s\n", left, option[i].help);
        cli_put_wrapped(stdout, line, width, HELP_COLUMN);
    }
}

bool cli_opt_level(cli_args *a, int *level)
{
    *level = a->value[0] == '0' ? 0 : 2;
    if (strcmp(a->value, "0") == 0 || strcmp(a->value, "2") == 0) return true;
    pl_gpu_report(a->gpu, "E0005", a->value, "-O", "it is 0 or 2", NULL);
    return false;
}

static void print_text(void *to, const char *text, size_t n)
{
    fwrite(text, 1, n, to);
}

void cli_pass_defaults(pl_pass_control *c)
{
    const char *verify = getenv("PTXLOOM_VERIFY_IR");
    *c = (pl_pass_control){
        .verify = verify && *verify && strcmp(verify, "0") != 0, .print = print_text, .to = stdout};
}

bool cli_pass_value(cli_args *a, cli_pass_option which, pl_pass_control *c)
{
    switch (which) {
    case CLI_SKIP_PASS: c->skip = a->value; break;
    case CLI_PRINT_AFTER: c->print_after = a->value; break;
    case CLI_VERIFY_IR: c->verify = true; break;
    case CLI_TIME_PASSES: c->time = true; break;
    case CLI_TUNE: c->tune = a->value; break;
    }
    return true;
}

bool cli_number(cli_args *a, const char *option, uint64_t lo, uint64_t hi, uint64_t *out)
{
    char *end, range[64];
    errno = 0;
    unsigned long long v = strtoull(a->value, &end, 0);
    if (isdigit((unsigned char)a->value[0]) && *end == '\0' && errno == 0 && v >= lo && v <= hi) {
        *out = v;
        return true;
    }
    snprintf(range, sizeof range, "a whole number, %" PRIu64 " to %" PRIu64, lo, hi);
    pl_gpu_report(a->gpu, "E0005", a->value, option, range, NULL);
    return false;
}

bool cli_size(cli_args *a, const char *option, uint64_t *bytes)
{
    if (pl_read_size(a->value, bytes)) return true;
    pl_gpu_report(a->gpu, "E0005", a->value, option,
                  "a size such as 500M, 2G or 64K; a plain number counts MiB", NULL);
    return false;
}

bool cli_shape(cli_args *a, const char *option, uint32_t out[3])
{
    const char *s = a->value;
    int n = 0;
    bool ok = true;
    out[0] = out[1] = out[2] = 1;
    for (; ok && n < 3; n++) {
        char *end;
        errno = 0;
        unsigned long v = isdigit((unsigned char)*s) ? strtoul(s, &end, 10) : 0;
        ok = isdigit((unsigned char)*s) && errno == 0 && v >= 1 && v <= INT32_MAX;
        if (!ok) break;
        out[n] = (uint32_t)v;
        s = end;
        if (*s != ',') break;
        s++;
    }
    if (ok && *s == '\0') return true;
    pl_gpu_report(a->gpu, "E0005", a->value, option, "X, X,Y or X,Y,Z, each from 1 to 2147483647",
                  NULL);
    return false;
}
