/* run_words.c - elements common to all forms of results: the status, hashes, counters, numbers. */
#include "cli/run.h"
#include "cli/stop.h"
#include <inttypes.h>
#include <string.h>

const char *run_status_word(const run_case *c)
{
    switch (c->status) {
    case PL_OK: return c->differs ? "differs" : "ok";
    case PL_INVALID: return "invalid";
    case PL_FAULT: return "fault";
    case PL_NOMEM: return "out of memory";
    case PL_IO: return "file error";
    case PL_UNSUPPORTED: return "unsupported";
    case PL_INTERRUPTED: return "interrupted";
    case PL_WAITING: return "waiting";
    }
    return "unknown";
}

bool run_hash(const run_case *c, size_t k, char hex[65])
{
    if (pl_case_sha256(c->launch, k, hex) == PL_OK) return true;
    run_report_stop(c, "hashing", k);
    return false;
}

void run_report_stop(const run_case *c, const char *doing, size_t k)
{
    if (c->status == PL_INTERRUPTED) return;
    char what[64];
    snprintf(what, sizeof what, "%s argument %zu", doing, k + 1);
    pl_gpu_report(c->gpu, "E0420", cli_stop == CLI_TIMED_OUT ? "the time limit" : "an interrupt",
                  what, NULL, NULL);
}

double run_counter(const run_case *c, const char *name)
{
    for (size_t i = 0; i < c->result.ncounters; i++) {
        if (strcmp(c->result.counter[i].name, name) == 0) return c->result.counter[i].value;
    }
    return -1;
}

const char *run_grouped(uint64_t n, char buf[32])
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRIu64, n), to = 0;
    for (int i = 0; i < len; i++) {
        if (i > 0 && (len - i) % 3 == 0) buf[to++] = ',';
        buf[to++] = digits[i];
    }
    buf[to] = '\0';
    return buf;
}
