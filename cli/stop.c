/* stop.c - signals and time limits. */
#include "cli/stop.h"
#include <signal.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

enum {
    STEPS = 10000
}; /* SQLite operations between two polls of cli_stop: less than a millisecond */

volatile int cli_stop;

/* A signal that arrives just before the process waits for a file would not end the wait: it is
 * repeated. */
static void on_signal(int sig)
{
    if (sig != SIGALRM)
        cli_stop = CLI_INTERRUPTED;
    else if (cli_stop == CLI_CONTINUE)
        cli_stop = CLI_TIMED_OUT;
    alarm(1);
}

void cli_interrupt_waits(bool enable)
{
    static const int signals[] = {SIGALRM, SIGINT, SIGTERM};
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) {
        struct sigaction a;
        if (sigaction(signals[k], NULL, &a) != 0) continue;
        a.sa_flags = enable ? a.sa_flags & ~SA_RESTART : a.sa_flags | SA_RESTART;
        sigaction(signals[k], &a, NULL);
    }
}

void cli_catch_signals(void)
{
    struct sigaction a = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &a, NULL);
    a.sa_flags = SA_RESTART | (int)SA_RESETHAND; /* a second ^C ends the process at once */
    sigaction(SIGINT, &a, NULL);
    sigaction(SIGTERM, &a, NULL);
}

void cli_set_timer(uint64_t seconds)
{
    const struct itimerval t = {.it_value = {.tv_sec = (time_t)seconds}};
    setitimer(ITIMER_REAL, &t, NULL);
}

bool cli_timeout(cli_args *a)
{
    uint64_t seconds;
    if (!cli_number(a, "--timeout", 1, 1u << 30, &seconds)) return false;
    cli_catch_signals();
    cli_set_timer(seconds);
    return true;
}

static int poll_stop(void *ctx)
{
    (void)ctx;
    return cli_stop != CLI_CONTINUE;
}

void cli_make_interruptible(struct sqlite3 *db)
{
    cli_catch_signals();
    sqlite3_progress_handler(db, STEPS, poll_stop, NULL);
}

int cli_sql_failed(pl_gpu *gpu, struct sqlite3 *db, const char *help)
{
    int code = sqlite3_errcode(db);
    if (cli_stop) return cli_stopped(gpu);
    if (code == SQLITE_NOMEM) return cli_no_memory();
    const int why = pl_trace_errno(db);
    if ((code & 0xff) == SQLITE_CORRUPT && !why)
        help = "the file is damaged or incomplete: write it again with ptxloom run --trace FILE.db";
    pl_gpu_report(gpu, "E0703", why ? strerror(why) : sqlite3_errmsg(db), NULL, NULL, help);
    return why ? CLI_SYSTEM : CLI_INPUT;
}

int cli_stopped(pl_gpu *gpu)
{
    pl_gpu_report(gpu, "E0712", cli_stop == CLI_TIMED_OUT ? "the time limit" : "an interrupt", NULL,
                  NULL, NULL);
    return CLI_SYSTEM;
}
