/* terminal.c - text wrapped to the width of the terminal; elsewhere lines have their full length.
 * Work without output shows its seconds on a terminal. */
#include "cli/terminal.h"
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { MIN_WIDTH = 20 };

int cli_width(FILE *f)
{
    struct winsize w;
    const char *columns = getenv("COLUMNS");
    int n = 0;
    if (!isatty(fileno(f))) return 0;
    if (columns && atoi(columns) > 0)
        n = atoi(columns);
    else if (ioctl(fileno(f), TIOCGWINSZ, &w) == 0)
        n = w.ws_col;
    return n > 0 && n < MIN_WIDTH ? MIN_WIDTH : n;
}

/* Returns the length of the colour sequence at s (ESC [ ... m), or 0. */
static size_t colour_length(const char *s, size_t n)
{
    size_t k = 2;
    if (n < 3 || s[0] != '\033' || s[1] != '[') return 0;
    while (k < n && (s[k] == ';' || (s[k] >= '0' && s[k] <= '9'))) k++;
    return k < n && s[k] == 'm' ? k + 1 : 0;
}

/* Returns the columns of n bytes of UTF-8 text: bytes that are neither continuation bytes nor part
 * of a colour sequence. */
static int display_width(const char *s, size_t n)
{
    int columns = 0;
    for (size_t i = 0; i < n;) {
        const size_t colour = colour_length(s + i, n - i);
        if (!colour) columns += (s[i] & 0xc0) != 0x80;
        i += colour ? colour : 1;
    }
    return columns;
}

/* Prints one line, wrapped at blanks. */
static void put_line(FILE *f, const char *line, size_t n, int width, int hang)
{
    size_t indent = 0;
    int column = 0;
    while (indent < n && line[indent] == ' ') indent++;
    if (hang < 0) hang = (int)indent;
    if (hang > width / 2) hang = width / 4;
    for (size_t at = 0; at < n;) {
        size_t blanks = at, word, end;
        while (blanks < n && line[blanks] == ' ') blanks++;
        for (end = word = blanks; end < n && line[end] != ' ';) end++;
        int gap = (int)(blanks - at), length = display_width(line + word, end - word);
        if (column > hang && column + gap + length > width) {
            fprintf(f, "\n%*s", hang, "");
            column = hang;
            gap = 0;
        }
        fprintf(f, "%*s", gap, "");
        column += gap;
        for (size_t i = word; i < end; i++) { /* a word wider than the terminal is split */
            const size_t colour = colour_length(line + i, end - i);
            if (colour) {
                fwrite(line + i, 1, colour, f);
                i += colour - 1;
                continue;
            }
            const bool is_start = (line[i] & 0xc0) != 0x80;
            if (is_start && column == width) {
                fprintf(f, "\n%*s", hang, "");
                column = hang;
            }
            putc(line[i], f);
            column += is_start;
        }
        at = end;
    }
}

void cli_put_wrapped(FILE *f, const char *text, int width, int hang)
{
    while (*text) {
        size_t n = strcspn(text, "\n");
        if (width == 0 || display_width(text, n) <= width)
            fwrite(text, 1, n, f);
        else
            put_line(f, text, n, width, hang);
        text += n;
        if (*text) putc(*text++, f);
    }
}

/* ---- work without output ---- */

static struct {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t ended;
    const char *what;
    bool runs, ends;
} busy = {.lock = PTHREAD_MUTEX_INITIALIZER, .ended = PTHREAD_COND_INITIALIZER};

/* Prints a line each second until the work ends. */
static void *show_seconds(void *unused)
{
    const int width = cli_width(stderr);
    struct timespec next;
    unsigned seconds = 0;
    (void)unused;
    clock_gettime(CLOCK_REALTIME, &next);
    pthread_mutex_lock(&busy.lock);
    while (!busy.ends) {
        next.tv_sec++;
        while (!busy.ends && pthread_cond_timedwait(&busy.ended, &busy.lock, &next) == 0) {
        }
        char line[80];
        snprintf(line, sizeof line, "%s: %u s", busy.what, ++seconds);
        if (!busy.ends) fprintf(stderr, "\r%.*s\033[K", width ? width - 1 : (int)sizeof line, line);
    }
    if (seconds > 1) fputs("\r\033[K", stderr);
    pthread_mutex_unlock(&busy.lock);
    return NULL;
}

void cli_busy(const char *what)
{
    sigset_t all, before;
    if (busy.runs || !isatty(fileno(stderr))) return;
    busy.what = what;
    busy.ends = false;
    sigfillset(&all); /* signals interrupt the waits of the first thread */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    busy.runs = pthread_create(&busy.thread, NULL, show_seconds, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

void cli_busy_end(void)
{
    if (!busy.runs) return;
    pthread_mutex_lock(&busy.lock);
    busy.ends = true;
    pthread_cond_signal(&busy.ended);
    pthread_mutex_unlock(&busy.lock);
    pthread_join(busy.thread, NULL);
    busy.runs = false;
}
