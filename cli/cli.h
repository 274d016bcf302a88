/* cli.h - what the commands of `ptxloom` share: exit statuses, messages, options.
 *
 * A command is one function in one file (cmd_NAME.c) and one row of the table in main.c. Results go
 * to standard output, messages to standard error. Commands use include/ptxloom.h only. */
#ifndef PL_CLI_CLI_H
#define PL_CLI_CLI_H

#include "ptxloom.h"
#include <stdio.h>

/* Exit statuses of every command. */
enum {
    CLI_OK = 0,
    CLI_FAILED = 1, /* the program under emulation failed */
    CLI_INPUT = 2,  /* the input was wrong */
    CLI_SYSTEM = 3  /* files, memory, interruption */
};

/* argv[0] is the command's name. */
int cmd_run(int argc, char **argv);
int cmd_exec(int argc, char **argv);
int cmd_check(int argc, char **argv);
int cmd_as(int argc, char **argv);
int cmd_dis(int argc, char **argv);
int cmd_fmt(int argc, char **argv);
int cmd_explain(int argc, char **argv);
int cmd_occupancy(int argc, char **argv);
int cmd_litmus(int argc, char **argv);
int cmd_query(int argc, char **argv);
int cmd_report(int argc, char **argv);
int cmd_diff(int argc, char **argv);
int cmd_export(int argc, char **argv);
int cmd_shell(int argc, char **argv);

int cli_status(pl_status st);
/* The graver of two exit statuses. */
int cli_worse(int a, int b);
/* Whether to use colours: a terminal, and the user did not object (NO_COLOR, TERM=dumb). */
bool cli_colour(FILE *f);
/* Prints text that came from a file, without what a terminal would obey (pl_printable). _lines:
 * tabs and line ends stay. */
void cli_print(FILE *f, const char *text, size_t n);
void cli_print_lines(FILE *f, const char *text, size_t n);
/* The same as a string, in to; cut off when it is longer. Returns to. */
const char *cli_printable(char *to, size_t size, const char *text);
/* Prints the diagnostics from number `first` on to standard error. */
void cli_messages(pl_gpu *gpu, size_t first);
/* Text of a file for JSON, which has only UTF-8; NULL gives null. NULL: out of memory. */
struct json_t *cli_json_text(const char *s);
/* Prints it on standard output; NULL is no memory. False: it did not get there, as cli_finish will
 * say. */
bool cli_print_json(const struct json_t *root);
/* Says that there is no memory, unless that was said; CLI_SYSTEM. */
int cli_no_memory(void);
/* Flushes standard output; CLI_SYSTEM with a message when anything written to it was lost, else
 * `status`. */
int cli_finish(int status);
/* Writes out standard output, and keeps for cli_finish why that failed. */
void cli_flush(void);
/* Before all else: standard files that were closed are so for whoever writes to them, and a closed
 * pipe is an error of writing. */
void cli_standard_files(void);

/* Writes a whole file; a report when that fails. */
pl_status cli_write_file(pl_gpu *gpu, const char *path, const pl_output_how *how, const char *bytes,
                         size_t n);
/* The same with the object file of a module. */
pl_status cli_write_object(pl_gpu *gpu, const char *path, bool force, pl_module *m);

/* ---- options ---- */

typedef struct cli_option {
    const char *name;  /* "arch" for --arch */
    char letter;       /* 'k' for -k, or 0 */
    const char *takes; /* what the value is called in the help; NULL: no value */
    const char *help; /* NULL: the word is known, so that its use gets a message of its own, but not
                         offered */
} cli_option;

/* The option of all commands that write files. */
#define CLI_FORCE                                                                                  \
    {                                                                                              \
        "force", 0, NULL, "replace files that exist, whatever they are"                            \
    }

typedef struct cli_args {
    pl_gpu *gpu; /* takes the messages */
    int argc;
    char **argv;
    int at;             /* next of argv */
    bool operands_only; /* after -- */
    const char *value;  /* of the option, or the operand */
} cli_args;

enum { CLI_OPERAND = -1, CLI_END = -2, CLI_BAD = -3, CLI_HELP = -4 };

/* The next option (its index in the table), or one of the above. --name VALUE, --name=VALUE, -k
 * VALUE and -kVALUE are all understood; options and operands may be mixed. */
int cli_next(cli_args *a, const cli_option *option, size_t n);
/* Help of a command: its usage lines and its options. */
void cli_help(const char *usage, const cli_option *option, size_t n);
/* The value of -O: 0 or 2. */
bool cli_opt_level(cli_args *a, int *level);
/* What the pass options ask for: --skip-pass, --print-after, --verify-ir, --time-passes, --tune.
 * PTXLOOM_VERIFY_IR=1 in the environment is
 * --verify-ir. */
typedef enum cli_pass_option {
    CLI_SKIP_PASS,
    CLI_PRINT_AFTER,
    CLI_VERIFY_IR,
    CLI_TIME_PASSES,
    CLI_TUNE
} cli_pass_option;
void cli_pass_defaults(pl_pass_control *c);
bool cli_pass_value(cli_args *a, cli_pass_option which, pl_pass_control *c);
/* A number in lo..hi, or a report and false. */
bool cli_number(cli_args *a, const char *option, uint64_t lo, uint64_t hi, uint64_t *out);
/* A size: bytes after a number with K, M, G or T (powers of 1024); a plain number counts MiB. */
bool cli_size(cli_args *a, const char *option, uint64_t *bytes);
/* X, X,Y or X,Y,Z. */
bool cli_shape(cli_args *a, const char *option, uint32_t out[3]);

#endif
