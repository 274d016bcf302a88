/* stop.h - what ends a command before it is done: Ctrl-C, SIGTERM and time limits. */
#ifndef PL_CLI_STOP_H
#define PL_CLI_STOP_H

#include "cli/cli.h"

/* 0: go on; 1: interrupted by the user; 2: out of time. Emulator and library look at it: see cancel
 * in ptxloom.h. */
enum { CLI_GO_ON, CLI_INTERRUPTED, CLI_OUT_OF_TIME };
extern volatile int cli_stop;

/* From here on SIGINT, SIGTERM and the timer set cli_stop; a second SIGINT ends the process at
 * once. */
void cli_catch_signals(void);
/* Do signals end the wait for a file that is no ordinary one? While inputs are read, yes; results
 * are written to their end. */
void cli_end_waiting(bool yes);
/* In so many seconds cli_stop becomes CLI_OUT_OF_TIME; 0: never. */
void cli_set_timer(uint64_t seconds);

/* The option --timeout SECONDS, and what it does: sets the timer. */
#define CLI_TIMEOUT                                                                                \
    {                                                                                              \
        "timeout", 0, "SECONDS", "give up after this time"                                         \
    }
bool cli_timeout(cli_args *a);

struct sqlite3;
/* Catches signals, and lets them and the time limit end every query of the connection. */
void cli_stoppable(struct sqlite3 *db);
/* Reports why a query was ended. Returns CLI_SYSTEM. */
int cli_stopped(pl_gpu *gpu);
/* Reports what SQLite says about the connection, or why it was stopped. Returns the exit status. */
int cli_sql_failed(pl_gpu *gpu, struct sqlite3 *db, const char *help);

#endif
