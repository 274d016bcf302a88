/* cli.h - declarations shared by the commands of `ptxloom`: exit statuses, messages, options.
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
    CLI_FAILED = 1, /* the emulated program failed */
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
/* Returns the more severe of two exit statuses. */
int cli_worse(int a, int b);
/* True if output may be coloured: it is a terminal, and the user did not disable colours (NO_COLOR,
 * TERM=dumb). */
bool cli_colour(FILE *f);
/* Prints text from a file, with terminal control characters replaced (pl_printable). _lines: tabs
 * and line ends are kept. */
void cli_print(FILE *f, const char *text, size_t n);
void cli_print_lines(FILE *f, const char *text, size_t n);
/* The same into a string, truncated to its size. Returns to. */
const char *cli_printable(char *to, size_t size, const char *text);
/* Prints the diagnostics from index `first` on to standard error. */
void cli_messages(pl_gpu *gpu, size_t first);
/* Returns text of a file as JSON, which supports only UTF-8; NULL gives null. NULL: out of memory.
 */
struct json_t *cli_json_text(const char *s);
/* Prints it on standard output; root NULL means that memory was exhausted. False: the output
 * failed, as cli_finish reports. */
bool cli_print_json(const struct json_t *root);
/* Reports that memory is exhausted, unless that was reported; returns CLI_SYSTEM. */
int cli_no_memory(void);
/* Flushes standard output; returns CLI_SYSTEM with a message if any output was lost, else `status`.
 */
int cli_finish(int status);
/* Flushes standard output, and records the reason of a failure for cli_finish. */
void cli_flush(void);
/* True if standard output is a pipe whose reader has ended, such as head. Then cli_finish has no
 * message. */
bool cli_reader_left(void);
/* Must be called first: standard files that were closed remain closed to writers, and a closed pipe
 * becomes a write error. */
void cli_standard_files(void);

/* Writes a whole file; reports a failure. */
pl_status cli_write_file(pl_gpu *gpu, const char *path, const pl_output_how *how, const char *bytes,
                         size_t n);
/* Writes the object file of a module; reports a failure. */
pl_status cli_write_object(pl_gpu *gpu, const char *path, bool force, pl_module *m);

/* ---- options ---- */

typedef struct cli_option {
    const char *name;  /* "arch" for --arch */
    char letter;       /* 'k' for -k, or 0 */
    const char *takes; /* name of the value in the help; NULL: no value */
    const char *help;  /* NULL: the option is recognised, so that its use gets a specific message,
                          but it is not listed */
} cli_option;

/* The --force option of all commands that write files. */
#define CLI_FORCE                                                                                  \
    {                                                                                              \
        "force", 0, NULL, "replace existing files of any kind"                                     \
    }

typedef struct cli_args {
    pl_gpu *gpu; /* receives the messages */
    int argc;
    char **argv;
    int at;             /* next index in argv */
    bool operands_only; /* after -- */
    const char *value;  /* value of the option, or the operand */
} cli_args;

enum { CLI_OPERAND = -1, CLI_END = -2, CLI_BAD = -3, CLI_HELP = -4 };

/* Returns the next option (its index in the table), or one of the above. Accepts --name VALUE,
 * --name=VALUE, -k VALUE and -kVALUE; options and operands may be mixed. */
int cli_next(cli_args *a, const cli_option *option, size_t n);
/* Prints the help of a command: its usage lines and its options. */
void cli_help(const char *usage, const cli_option *option, size_t n);
/* Parses the value of -O: 0 or 2. */
bool cli_opt_level(cli_args *a, int *level);
/* The pass options: --skip-pass, --print-after, --verify-ir, --time-passes, --tune.
 * PTXLOOM_VERIFY_IR=1 in the environment is equivalent to --verify-ir. */
typedef enum cli_pass_option {
    CLI_SKIP_PASS,
    CLI_PRINT_AFTER,
    CLI_VERIFY_IR,
    CLI_TIME_PASSES,
    CLI_TUNE
} cli_pass_option;
void cli_pass_defaults(pl_pass_control *c);
bool cli_pass_value(cli_args *a, cli_pass_option which, pl_pass_control *c);
/* Parses a number in lo..hi; false after a report. */
bool cli_number(cli_args *a, const char *option, uint64_t lo, uint64_t hi, uint64_t *out);
/* Parses a size: bytes if the number has the suffix K, M, G or T (powers of 1024); a plain number
 * counts MiB. */
bool cli_size(cli_args *a, const char *option, uint64_t *bytes);
/* Parses X, X,Y or X,Y,Z. */
bool cli_shape(cli_args *a, const char *option, uint32_t out[3]);

#endif
