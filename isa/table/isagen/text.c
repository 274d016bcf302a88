/* text.c - strings, lists of strings, and messages of isagen. */
#include "isa/table/isagen/isagen.h"

#include <stdarg.h>

const char *cur_file = "isagen";
int cur_line;
int errors;

void fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "%s:%d: error: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    errors++;
}

void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "isagen: out of memory\n");
        exit(1);
    }
    return p;
}

char *copy(const char *s, size_t n)
{
    char *r = need(malloc(n + 1));
    memcpy(r, s, n);
    r[n] = 0;
    return r;
}

char *dup(const char *s)
{
    return copy(s, strlen(s));
}

char *format(const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    int n = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    char *r = need(malloc((size_t)n + 1));
    va_start(ap, fmt);
    vsnprintf(r, (size_t)n + 1, fmt, ap);
    va_end(ap);
    return r;
}

void add(list *l, const char *s)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->at = need(realloc(l->at, sizeof *l->at * (size_t)l->cap));
    }
    l->at[l->n++] = dup(s);
}

int find(const list *l, const char *s)
{
    for (int k = 0; k < l->n; k++)
        if (!strcmp(l->at[k], s)) return k;
    return -1;
}

int intern(list *l, const char *s)
{
    int k = find(l, s);
    if (k < 0) {
        add(l, s);
        k = l->n - 1;
    }
    return k;
}

char *trim(char *s)
{
    while (isspace((unsigned char)*s)) s++;
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1])) s[--n] = 0;
    return s;
}

void split_words(const char *s, list *out)
{
    while (*s) {
        while (isspace((unsigned char)*s)) s++;
        const char *b = s;
        while (*s && !isspace((unsigned char)*s)) s++;
        if (s > b) add(out, copy(b, (size_t)(s - b)));
    }
}

/* "shared::cta" -> "shared__cta": a C name for a word. */
char *cname(const char *w)
{
    char *r = dup(w);
    for (char *p = r; *p; p++)
        if (!isalnum((unsigned char)*p)) *p = '_';
    return r;
}

bool uses(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p++) {
        bool left = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_');
        bool right = !isalnum((unsigned char)p[n]) && p[n] != '_';
        if (left && right) return true;
    }
    return false;
}
