/* stop.h - early termination of a command: Ctrl-C, SIGTERM and time limits. */
#ifndef PL_CLI_STOP_H
#define PL_CLI_STOP_H

#include "cli/cli.h"

/* 0: continue; 1: interrupted by the user; 2: time limit expired. Emulator and library poll it: see
 * cancel in ptxloom.h. */
enum { CLI_CONTINUE, CLI_INTERRUPTED, CLI_TIMED_OUT };
extern volatile int cli_stop;

/* Installs handlers: from now on SIGINT, SIGTERM and the timer set cli_stop; a second SIGINT ends
 * the process at once. */
void cli_catch_signals(void);
/* Selects whether signals interrupt waiting for a file that is not a regular file. They do while
 * inputs are read; results are written completely. */
void cli_interrupt_waits(bool enable);
/* Sets cli_stop to CLI_TIMED_OUT after this many seconds; 0: never. */
void cli_set_timer(uint64_t seconds);

/* The option --timeout SECONDS; it sets the timer. */
#define CLI_TIMEOUT                                                                                \
    {                                                                                              \
        "timeout", 0, "SECONDS", "stop after this time"                                            \
    }
bool cli_timeout(cli_args *a);

struct sqlite3;
/* Catches signals, and lets them and the time limit interrupt every query of the connection. */
void cli_make_interruptible(struct sqlite3 *db);
/* Reports why a query was interrupted. Returns CLI_SYSTEM. */
int cli_stopped(pl_gpu *gpu);
/* Reports the SQLite error of the connection, or why it was stopped. Returns the exit status. */
int cli_sql_failed(pl_gpu *gpu, struct sqlite3 *db, const char *help);

#endif
