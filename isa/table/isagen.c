/* isagen.c - reads the instruction table at build time and writes everything that follows from it.
 *
 *     isagen OUTDIR isa/table/ptx.isa
 *
 * The format is described in isa/table/README.md. The program has three parts: reading lines into
 * forms, checking them (a bad table stops the build with file and line), and writing gen_*.h and
 * gen_*.c. It keeps everything in memory until it exits. */
#include <ctype.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "isa/program/insn.h"

enum {
    MAX_SLOTS = 16,
    MAX_OPS = 12,
    MAX_INLINE = PL_INLINE_OPERANDS,
    EXEC_FILES = 8,
    MAX_VARIANTS = 4096
};

/* ---- small tools ---- */

static const char *cur_file = "isagen";
static int cur_line;
static int errors;

static void fail(const char *file, int line, const char *fmt, ...)
{
    va_list ap;
    fprintf(stderr, "%s:%d: error: ", file, line);
    va_start(ap, fmt);
    vfprintf(stderr, fmt, ap);
    va_end(ap);
    fputc('\n', stderr);
    errors++;
}

static void *need(void *p)
{
    if (!p) {
        fprintf(stderr, "isagen: out of memory\n");
        exit(1);
    }
    return p;
}

static char *copy(const char *s, size_t n)
{
    char *r = need(malloc(n + 1));
    memcpy(r, s, n);
    r[n] = 0;
    return r;
}

static char *dup(const char *s)
{
    return copy(s, strlen(s));
}

static char *format(const char *fmt, ...)
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

typedef struct list {
    char **at;
    int n, cap;
} list;

static void add(list *l, const char *s)
{
    if (l->n == l->cap) {
        l->cap = l->cap ? 2 * l->cap : 16;
        l->at = need(realloc(l->at, sizeof *l->at * (size_t)l->cap));
    }
    l->at[l->n++] = dup(s);
}

static int find(const list *l, const char *s)
{
    for (int k = 0; k < l->n; k++)
        if (!strcmp(l->at[k], s)) return k;
    return -1;
}

static int intern(list *l, const char *s)
{
    int k = find(l, s);
    if (k < 0) {
        add(l, s);
        k = l->n - 1;
    }
    return k;
}

static char *trim(char *s)
{
    while (isspace((unsigned char)*s)) s++;
    size_t n = strlen(s);
    while (n && isspace((unsigned char)s[n - 1])) s[--n] = 0;
    return s;
}

static void split_words(const char *s, list *out)
{
    while (*s) {
        while (isspace((unsigned char)*s)) s++;
        const char *b = s;
        while (*s && !isspace((unsigned char)*s)) s++;
        if (s > b) add(out, copy(b, (size_t)(s - b)));
    }
}

/* ---- what the table says ---- */

typedef struct group {
    char *name;
    list words;
} group;

typedef struct rule { /* a value with a condition: class, since, where */
    char *value, *target, *cond;
    int line;
    const char *file;
} rule;

typedef struct rules {
    rule at[48];
    int n;
} rules;

typedef struct slot {
    char *group; /* "" for a required literal */
    bool optional, type;
    list words;
} slot;

typedef enum kind {
    K_VALUE,
    K_IMM,
    K_ADDR,
    K_LABEL,
    K_LABELS,
    K_FUNC,
    K_ARGS,
    K_RETS,
    K_PROTO,
    K_COORD,
    K_OPAQUE,
    K_VAR
} kind;
static const char *const kind_text[] = {"VALUE", "IMM",  "ADDR",  "LABEL", "LABELS", "FUNC",
                                        "ARGS",  "RETS", "PROTO", "COORD", "OPAQUE", "VAR"};

typedef struct operand {
    char *name;
    kind kind;
    bool read, written, optional, sink, reg_only, negatable, joined;
    int tmap; /* 0 same 1 wide 2 half 3 int 4 bits */
    char *type;
    int slot, vslot;
    int count;
    char *rule;
    long long lo, hi;
} operand;

typedef struct form {
    const char *file;
    int line;
    char *syntax, *mnem;
    slot slot[MAX_SLOTS];
    int nslots;
    operand op[MAX_OPS];
    int nops;
    group local[24];
    int nlocal;
    rules where, since, cls;
    list fast, effect;
    char *lane, *warp, *note, *unsupported;
    bool relax;
    struct insn *insn;
    int index;
    int spec[6], nspec; /* slots that the generated code is specialised for */
    int variants;
} form;

typedef struct insn {
    char *name, *title;
    const char *file;
    int line;
    form head; /* defaults: groups, rules and effects before the first form */
    int first, count;
} insn;

typedef struct type_info {
    char *name, *ctype;
    int bits;
    char kind;
} type_info;

typedef struct sreg_info {
    char *name, *type, *title, *target;
    int components, ptx;
} sreg_info;

static list words, groups, classes, mnems, rule_names;
static group global[128];
static int nglobal;
static form *forms;
static int nforms, capforms;
static insn *insns;
static int ninsns, capinsns;
static type_info types[80];
static int ntypes;
static sreg_info sregs[160];
static int nsregs;

static const type_info *type_find(const char *name)
{
    for (int k = 0; k < ntypes; k++)
        if (!strcmp(types[k].name, name)) return &types[k];
    return NULL;
}

/* "shared::cta" -> "shared__cta": a C name for a word. */
static char *cname(const char *w)
{
    char *r = dup(w);
    for (char *p = r; *p; p++)
        if (!isalnum((unsigned char)*p)) *p = '_';
    return r;
}

/* ---- reading ---- */

static const group *group_find(const form *f, const char *name)
{
    for (int k = 0; f && k < f->nlocal; k++)
        if (!strcmp(f->local[k].name, name)) return &f->local[k];
    if (f && f->insn)
        for (int k = 0; k < f->insn->head.nlocal; k++)
            if (!strcmp(f->insn->head.local[k].name, name)) return &f->insn->head.local[k];
    for (int k = 0; k < nglobal; k++)
        if (!strcmp(global[k].name, name)) return &global[k];
    return NULL;
}

static void read_group(group *g, char *name, char *rest)
{
    memset(g, 0, sizeof *g);
    g->name = dup(trim(name));
    list raw = {0};
    split_words(rest, &raw);
    for (int k = 0; k < raw.n; k++) {
        const group *other = NULL; /* a group's name in a list stands for its words */
        for (int j = 0; raw.at[k][0] == '$' && j < nglobal; j++)
            if (!strcmp(global[j].name, raw.at[k] + 1)) other = &global[j];
        if (raw.at[k][0] == '$' && !other) fail(cur_file, cur_line, "no group '%s'", raw.at[k] + 1);
        for (int j = 0; other && j < other->words.n; j++) add(&g->words, other->words.at[j]);
        if (!other && raw.at[k][0] != '$') add(&g->words, raw.at[k]);
    }
    for (int k = 0; k < g->words.n; k++) {
        if (find(&g->words, g->words.at[k]) != k)
            fail(cur_file, cur_line, "'%s' twice in group '%s'", g->words.at[k], g->name);
        intern(&words, g->words.at[k]);
    }
    if (!g->words.n) fail(cur_file, cur_line, "group '%s' is empty", g->name);
    intern(&groups, g->name);
}

/* Splits "VALUE if COND" at the word if. */
static void read_rule(rules *rs, char *text, bool quoted)
{
    if (rs->n == (int)(sizeof rs->at / sizeof *rs->at)) {
        fail(cur_file, cur_line, "too many lines of this kind for one form");
        return;
    }
    rule *r = &rs->at[rs->n++];
    memset(r, 0, sizeof *r);
    r->line = cur_line;
    r->file = cur_file;
    if (quoted) { /* where COND "message" */
        char *q = strchr(text, '"'), *e = strrchr(text, '"');
        if (!q || e == q) {
            fail(cur_file, cur_line, "where needs a \"message\"");
            rs->n--;
            return;
        }
        r->cond = trim(copy(text, (size_t)(q - text)));
        r->value = copy(q + 1, (size_t)(e - q - 1));
        return;
    }
    char *c = strstr(text, " if ");
    if (c) {
        r->cond = trim(dup(c + 4));
        *c = 0;
    }
    r->value = dup(trim(text));
}

static void read_operand(form *f, char *text, bool joined)
{
    text = trim(text);
    if (f->nops == MAX_OPS) {
        fail(cur_file, cur_line, "more than %d operands", MAX_OPS);
        return;
    }
    operand *o = &f->op[f->nops++];
    memset(o, 0, sizeof *o);
    o->slot = o->vslot = -1;
    o->lo = 1;
    o->joined = joined;
    o->read = true;
    if (*text == '=') {
        o->read = false;
        o->written = true;
        text++;
    } else if (*text == '+') {
        o->written = true;
        text++;
    }
    char *colon = strchr(text, ':');
    if (!colon) {
        fail(cur_file, cur_line, "operand '%s' needs a kind: NAME:KIND", text);
        f->nops--;
        return;
    }
    o->name = copy(text, (size_t)(colon - text));
    size_t nn = strlen(o->name);
    if (nn && o->name[nn - 1] == '_') {
        o->sink = true;
        o->name[nn - 1] = 0;
    }
    char *k = dup(colon + 1);
    size_t n = strlen(k);
    if (n && k[n - 1] == '?') {
        o->optional = true;
        k[--n] = 0;
    }
    if (joined) o->optional = true;
    for (; n && (k[n - 1] == '~' || k[n - 1] == '!'); k[--n] = 0)
        *(k[n - 1] == '~' ? &o->negatable : &o->reg_only) = true;
    if (*k == '{') {
        char *e = strchr(k, '}');
        if (!e) {
            fail(cur_file, cur_line, "'{' without '}' in '%s'", k);
            return;
        }
        char *c = copy(k + 1, (size_t)(e - k - 1));
        if (isdigit((unsigned char)*c))
            o->count = atoi(c);
        else if (*c == '@') {
            o->rule = dup(c + 1);
            intern(&rule_names, o->rule);
        } else {
            o->rule = NULL;
            o->vslot = -2;
            for (int s = 0; s < f->nslots; s++)
                if (!strcmp(f->slot[s].group, c)) o->vslot = s;
            if (o->vslot == -2) {
                fail(cur_file, cur_line, "no group '%s' for the length of operand '%s'", c,
                     o->name);
                o->vslot = -1;
            }
        }
        k = e + 1;
    }
    static const struct {
        const char *word;
        kind kind;
    } kinds[] = {{"addr", K_ADDR},     {"label", K_LABEL}, {"labels", K_LABELS}, {"func", K_FUNC},
                 {"args", K_ARGS},     {"rets", K_RETS},   {"proto", K_PROTO},   {"coord", K_COORD},
                 {"opaque", K_OPAQUE}, {"taddr", K_ADDR}};
    for (size_t j = 0; j < sizeof kinds / sizeof *kinds; j++)
        if (!strcmp(k, kinds[j].word)) {
            o->kind = kinds[j].kind;
            o->type = dup(strcmp(k, "taddr") ? "b64" : "b32");
            return;
        }
    if (!strncmp(k, "addr(",
                 5)) { /* an address in a space of its own: a word, or the group that says it */
        o->kind = K_ADDR;
        o->type = copy(k + 5, strlen(k) - 6);
        for (int s = 0; s < f->nslots; s++)
            if (!strcmp(f->slot[s].group, o->type)) o->slot = s;
        if (o->slot < 0 && find(&words, o->type) < 0)
            fail(cur_file, cur_line, "operand '%s': '%s' is no word or group of this form", o->name,
                 o->type);
        return;
    }
    if (!strncmp(k, "imm", 3) && (!k[3] || k[3] == '(')) {
        o->kind = K_IMM;
        o->type = dup("s64");
        if (k[3] == '(') {
            char *e = NULL;
            o->lo = strtoll(k + 4, &e, 0);
            if (strncmp(e, "..", 2))
                fail(cur_file, cur_line, "imm range is imm(LO..HI)");
            else
                o->hi = strtoll(e + 2, NULL, 0);
        }
        return;
    }
    static const char *const maps[] = {"", "wide(", "half(", "int(", "bits("};
    for (int j = 1; j < 5; j++)
        if (!strncmp(k, maps[j], strlen(maps[j])) && k[strlen(k) - 1] == ')') {
            o->tmap = j;
            k = copy(k + strlen(maps[j]), strlen(k) - strlen(maps[j]) - 1);
        }
    if (!strncmp(k, "var(", 4)) {
        o->kind = K_VAR;
        k = copy(k + 4, strlen(k) - 5);
    }
    o->type = dup(k);
    for (int s = 0; s < f->nslots; s++)
        if (!strcmp(f->slot[s].group, k)) o->slot = s;
    if (o->slot < 0 && !type_find(k))
        fail(cur_file, cur_line, "operand '%s': '%s' is no kind, type or group of this form",
             o->name, k);
    if (o->slot >= 0 && !f->slot[o->slot].type)
        fail(cur_file, cur_line, "operand '%s': group '%s' does not hold types", o->name, k);
}

static void read_form_line(form *f, char *text)
{
    /* the mnemonic part ends at the first blank */
    char *s = text;
    while (*s && !isspace((unsigned char)*s)) s++;
    char *head = copy(text, (size_t)(s - text));
    f->syntax = dup(text);
    char *p = head;
    while (*p && *p != '.' && *p != '{') p++;
    f->mnem = copy(head, (size_t)(p - head));
    if (strcmp(f->mnem, f->insn->name))
        fail(cur_file, cur_line, "form of '%s' inside insn '%s'", f->mnem, f->insn->name);
    while (*p) {
        bool opt = *p == '{';
        if (opt) p++;
        if (*p != '.') {
            fail(cur_file, cur_line, "expected '.' at '%s'", p);
            return;
        }
        char *b = ++p;
        while (*p && *p != '.' && *p != '{' && *p != '}') p++;
        char *w = copy(b, (size_t)(p - b));
        if (opt) {
            if (*p != '}') {
                fail(cur_file, cur_line, "'{' without '}' in the form line");
                return;
            }
            p++;
        }
        if (f->nslots == MAX_SLOTS) {
            fail(cur_file, cur_line, "more than %d modifiers", MAX_SLOTS);
            return;
        }
        slot *sl = &f->slot[f->nslots++];
        memset(sl, 0, sizeof *sl);
        sl->optional = opt;
        sl->group = w; /* resolved when the block has been read */
    }
    char *rest = trim(dup(s));
    f->syntax = format("%s|%s", head,
                       rest); /* operands are read in finish_form, when the groups are known */
}

/* Slots and operands, once the block with its groups has been read. */
static void finish_form(form *f)
{
    cur_file = f->file;
    cur_line = f->line;
    char *bar = strchr(f->syntax, '|');
    char *operands = dup(bar + 1);
    f->syntax = copy(f->syntax, (size_t)(bar - f->syntax));
    for (int k = 0; k < f->nslots; k++) {
        slot *s = &f->slot[k];
        const group *g = group_find(f, s->group);
        if (g) {
            s->words = g->words;
            intern(&groups, s->group);
            for (int j = 0; j < k; j++)
                if (!strcmp(f->slot[j].group, s->group))
                    fail(f->file, f->line, "group '%s' twice in one form", s->group);
        } else {
            add(&s->words, s->group);
            intern(&words, s->group);
            if (s->optional)
                intern(&groups, s->group);
            else
                s->group = dup("");
        }
        s->type = true;
        for (int j = 0; j < s->words.n; j++)
            if (!type_find(s->words.at[j])) s->type = false;
    }
    char *p = operands;
    bool joined = false;
    list texts = {0};
    while (*p) {
        char *b = p;
        int depth = 0;
        while (*p && (depth || (*p != ',' && *p != '|'))) {
            depth += *p == '(' || *p == '{';
            depth -= *p == ')' || *p == '}';
            p++;
        }
        char *t = trim(copy(b, (size_t)(p - b)));
        add(&texts, t);
        read_operand(f, t, joined);
        joined = *p == '|';
        if (*p) p++;
    }
    /* the manual's way of writing it */
    char *out = format("%s", f->syntax);
    for (int k = 0; k < f->nops; k++) {
        const operand *o = &f->op[k];
        const char *sep = k == 0 ? " " : o->joined ? "|" : ", ";
        const char *fmt = o->kind == K_ADDR                      ? "%s%s[%s]"
                          : o->count || o->rule || o->vslot >= 0 ? "%s%s{%s}"
                                                                 : "%s%s%s";
        char *piece = format(fmt, "", sep, o->name);
        out = o->optional && !o->joined ? format("%s{%s}", out, piece) : format("%s%s", out, piece);
    }
    f->syntax = out;
}

static void read_block_line(form *f, char *text)
{
    char *eq = strchr(text, '=');
    char *sp = text;
    while (*sp && !isspace((unsigned char)*sp)) sp++;
    char *key = copy(text, (size_t)(sp - text)), *rest = trim(dup(sp));
    if (*rest == '=' && eq) {
        if (f->nlocal == (int)(sizeof f->local / sizeof *f->local))
            fail(cur_file, cur_line, "too many groups in one form");
        else
            read_group(&f->local[f->nlocal++], key, trim(rest + 1));
        return;
    }
    if (!strcmp(key, "since"))
        read_rule(&f->since, rest, false);
    else if (!strcmp(key, "where"))
        read_rule(&f->where, rest, true);
    else if (!strcmp(key, "class"))
        read_rule(&f->cls, rest, false);
    else if (!strcmp(key, "lane"))
        f->lane = f->lane ? format("%s\n%s", f->lane, rest) : dup(rest);
    else if (!strcmp(key, "warp"))
        f->warp = dup(rest);
    else if (!strcmp(key, "fast"))
        split_words(rest, &f->fast);
    else if (!strcmp(key, "effect"))
        split_words(rest, &f->effect);
    else if (!strcmp(key, "relax"))
        f->relax = true;
    else if (!strcmp(key, "status")) {
        char *q = strchr(rest, '"'), *e = strrchr(rest, '"');
        if (strncmp(rest, "unsupported", 11) || !q || e == q)
            fail(cur_file, cur_line, "status is: status unsupported \"why\"");
        else
            f->unsupported = copy(q + 1, (size_t)(e - q - 1));
    } else if (!strcmp(key, "note")) {
        char *q = strchr(rest, '"'), *e = strrchr(rest, '"');
        if (!q || e == q)
            fail(cur_file, cur_line, "note needs \"text\"");
        else
            f->note = copy(q + 1, (size_t)(e - q - 1));
    } else
        fail(cur_file, cur_line, "unknown line '%s'", key);
}

static void merge_rules(rules *to, const rules *from)
{
    for (int k = 0; k < from->n && to->n < (int)(sizeof to->at / sizeof *to->at); k++)
        to->at[to->n++] = from->at[k];
}

static void read_type_line(char *rest)
{
    list l = {0};
    split_words(rest, &l);
    if (l.n != 4 || ntypes == (int)(sizeof types / sizeof *types)) {
        fail(cur_file, cur_line, "type NAME BITS KIND CTYPE");
        return;
    }
    types[ntypes++] = (type_info){l.at[0], l.at[3], atoi(l.at[1]), l.at[2][0]};
    intern(&words, l.at[0]);
}

static int version_number(const char *s)
{
    char *e;
    long major = strtol(s, &e, 10);
    return (int)(major * 10 + (*e == '.' ? strtol(e + 1, NULL, 10) : 0));
}

static void read_sreg_line(char *rest)
{
    char *q = strchr(rest, '"'), *e = strrchr(rest, '"');
    list l = {0};
    if (q && e > q) {
        split_words(copy(rest, (size_t)(q - rest)), &l);
        if (l.n == 5 && nsregs < (int)(sizeof sregs / sizeof *sregs)) {
            sregs[nsregs++] = (sreg_info){l.at[0], l.at[1],       copy(q + 1, (size_t)(e - q - 1)),
                                          l.at[4], atoi(l.at[2]), version_number(l.at[3])};
            intern(&words, l.at[0]);
            return;
        }
    }
    fail(cur_file, cur_line, "sreg NAME TYPE COMPONENTS PTX TARGET \"meaning\"");
}

static void read_file(const char *path, int depth)
{
    FILE *in = fopen(path, "r");
    if (!in) {
        fail(cur_file, cur_line, "cannot open '%s'", path);
        return;
    }
    const char *file = dup(path);
    char raw[8192];
    char *text = dup("");
    int line = 0, start = 0;
    form *f = NULL;
    insn *in_insn = NULL;
    while (fgets(raw, sizeof raw, in)) {
        line++;
        size_t n = strlen(raw);
        while (n && (raw[n - 1] == '\n' || raw[n - 1] == '\r')) raw[--n] = 0;
        for (char *c = raw, *q = NULL; *c; c++) { /* comment: # outside quotes, at a word's start */
            if (*c == '"') q = q ? NULL : c;
            if (*c == '#' && !q && (c == raw || isspace((unsigned char)c[-1]))) {
                *c = 0;
                n = (size_t)(c - raw);
                break;
            }
        }
        bool more = n && raw[n - 1] == '\\';
        if (more) raw[n - 1] = 0;
        if (!*text) start = line;
        text = format("%s%s", text, raw);
        if (more) continue;
        bool indented = isspace((unsigned char)*text);
        char *t = trim(text);
        text = dup("");
        cur_file = file;
        cur_line = start;
        if (!*t) continue;
        char *sp = t;
        while (*sp && !isspace((unsigned char)*sp)) sp++;
        char *key = copy(t, (size_t)(sp - t)), *rest = trim(dup(sp));
        if (indented) {
            if (f)
                read_block_line(f, t);
            else if (in_insn)
                read_block_line(&in_insn->head, t);
            else
                fail(file, start, "indented line outside of an insn");
        } else if (!strcmp(key, "include")) {
            const char *slash = strrchr(path, '/');
            if (depth > 4)
                fail(file, start, "includes nested too deeply");
            else
                read_file(format("%.*s%s", slash ? (int)(slash - path + 1) : 0, path, rest),
                          depth + 1);
            f = NULL;
            in_insn = NULL;
        } else if (!strcmp(key, "type")) {
            read_type_line(rest);
        } else if (!strcmp(key, "sreg")) {
            read_sreg_line(rest);
        } else if (!strcmp(key, "group")) {
            char *eq = strchr(rest, '=');
            if (!eq || nglobal == (int)(sizeof global / sizeof *global)) {
                fail(file, start, "group NAME = words");
                continue;
            }
            *eq = 0;
            read_group(&global[nglobal++], rest, eq + 1);
        } else if (!strcmp(key, "insn")) {
            if (ninsns == capinsns) {
                capinsns = capinsns ? 2 * capinsns : 512;
                if (insns) { /* forms point at insns: keep them in place */
                    fail(file, start, "too many insns");
                    continue;
                }
                insns = need(calloc((size_t)capinsns * 4, sizeof *insns));
                capinsns *= 4;
            }
            in_insn = &insns[ninsns++];
            f = NULL;
            char *q = strchr(rest, '"'), *e = strrchr(rest, '"');
            if (!q || e == q) {
                fail(file, start, "insn NAME \"meaning\"");
                q = e = NULL;
            }
            in_insn->name = trim(q ? copy(rest, (size_t)(q - rest)) : dup(rest));
            in_insn->title = q ? copy(q + 1, (size_t)(e - q - 1)) : dup("");
            in_insn->file = file;
            in_insn->line = start;
            intern(&mnems, in_insn->name);
        } else if (!strcmp(key, "class")) {
            intern(&classes, rest);
            f = NULL;
            in_insn = NULL;
        } else if (!strcmp(key, "form")) {
            if (!in_insn) {
                fail(file, start, "form outside of an insn");
                continue;
            }
            if (nforms == capforms) {
                capforms = capforms ? 2 * capforms : 1024;
                forms = need(realloc(forms, sizeof *forms * (size_t)capforms));
            }
            f = &forms[nforms++];
            memset(f, 0, sizeof *f);
            f->file = file;
            f->line = start;
            f->insn = in_insn;
            read_form_line(f, rest);
        } else
            fail(file, start, "unknown line '%s'", key);
    }
    fclose(in);
}

/* ---- conditions ---- */

static bool known_group(const char *name)
{
    return find(&groups, name) >= 0;
}

/* Is the name at [b, e) tested for presence (not compared with == or !=)? */
static bool flag_position(const char *text, const char *b, const char *e)
{
    while (isspace((unsigned char)*e)) e++;
    if ((e[0] == '=' || e[0] == '!') && e[1] == '=') return true;
    while (b > text && isspace((unsigned char)b[-1])) b--;
    return !(b - text >= 2 && b[-1] == '=' && (b[-2] == '=' || b[-2] == '!'));
}

/* Rewrites a condition over groups and words as a C expression over m[]. */
static char *condition(const form *f, const char *text, const char *file, int line)
{
    char *out = dup("");
    const char *p = text;
    while (*p) {
        if (!isalnum((unsigned char)*p) && *p != '_') {
            out = format("%s%c", out, *p++);
            continue;
        }
        const char *b = p;
        while (isalnum((unsigned char)*p) || *p == '_' || (p[0] == ':' && p[1] == ':') ||
               (p > b && p[-1] == ':' && *p == ':'))
            p++;
        char *id = copy(b, (size_t)(p - b));
        int s = -1;
        for (int k = 0; k < f->nslots; k++)
            if (!strcmp(f->slot[k].group, id) && *id) s = k;
        if (s >= 0)
            out = format("%sm[%d]", out, s);
        else if (!strcmp(id, "none"))
            out = format("%sW_none", out);
        else if (!strcmp(id, "bits"))
            out = format("%stype_bits", out);
        else if (strspn(id, "0123456789") == strlen(id))
            out = format("%s%s", out, id);
        else if (flag_position(text, b, p) && known_group(id))
            out = format("%s0", out); /* a group that this form lacks is absent */
        else if (find(&words, id) >= 0)
            out = format("%sW_%s", out, cname(id));
        else if (known_group(id))
            out = format("%s0", out);
        else {
            fail(file, line, "'%s' is no group or word", id);
            return dup("0");
        }
    }
    return out;
}

static list cond_funcs; /* bodies; function number is the index */

static int cond_func(const form *f, const rule *r)
{
    if (!r->cond || !*r->cond) return -1;
    /* a lone optional word that this form lacks can never hold */
    char *c = condition(f, r->cond, r->file, r->line);
    return intern(&cond_funcs, c);
}

/* ---- checks ---- */

static bool uses(const char *text, const char *name)
{
    size_t n = strlen(name);
    for (const char *p = text; (p = strstr(p, name)); p++) {
        bool left = p == text || (!isalnum((unsigned char)p[-1]) && p[-1] != '_');
        bool right = !isalnum((unsigned char)p[n]) && p[n] != '_';
        if (left && right) return true;
    }
    return false;
}

static int slot_choices(const slot *s)
{
    return s->words.n + s->optional;
}

static void add_spec(form *f, int s)
{
    for (int k = 0; k < f->nspec; k++)
        if (f->spec[k] == s) return;
    if (f->nspec == 6) {
        fail(f->file, f->line, "more than 6 specialised groups");
        return;
    }
    f->spec[f->nspec++] = s;
}

static void check_form(form *f)
{
    if (!f->cls.n || (f->cls.at[f->cls.n - 1].cond && *f->cls.at[f->cls.n - 1].cond))
        fail(f->file, f->line, "the form needs a class without a condition as its last class line");
    if (!f->since.n) fail(f->file, f->line, "the form needs a since line");
    if (!f->lane && !f->warp && !f->unsupported)
        fail(f->file, f->line, "the form needs a meaning: lane, warp, or status unsupported");
    if (f->warp && f->nops > MAX_INLINE)
        fail(f->file, f->line, "an instruction holds %d operands, and this form has %d", MAX_INLINE,
             f->nops);
    if (f->lane && f->warp) fail(f->file, f->line, "the form has both lane and warp lines");
    for (int k = 0; k < f->nops; k++)
        for (int j = 0; j < k; j++)
            if (!strcmp(f->op[k].name, f->op[j].name))
                fail(f->file, f->line, "operand '%s' twice", f->op[k].name);
    for (int k = 0; f->lane && k < f->nops; k++)
        if (f->op[k].written && !uses(f->lane, f->op[k].name))
            fail(f->file, f->line, "the lane line never sets operand '%s'", f->op[k].name);
    for (int k = 0; k < f->fast.n; k++) {
        int s = -1;
        for (int j = 0; j < f->nslots; j++)
            if (!strcmp(f->slot[j].group, f->fast.at[k])) s = j;
        if (s < 0)
            fail(f->file, f->line, "fast: no group '%s' in this form", f->fast.at[k]);
        else
            add_spec(f, s);
    }
    if (f->lane) {
        for (int k = 0; k < f->nops; k++) {
            if (f->op[k].slot >= 0) add_spec(f, f->op[k].slot);
            if (f->op[k].vslot >= 0) add_spec(f, f->op[k].vslot);
            if (f->op[k].rule) fail(f->file, f->line, "a lane form cannot have a vector by rule");
        }
    }
    long v = 1;
    for (int k = 0; k < f->nspec; k++) v *= slot_choices(&f->slot[f->spec[k]]);
    if (v > MAX_VARIANTS)
        fail(f->file, f->line, "%ld specialised loops; at most %d (fewer fast groups)", v,
             MAX_VARIANTS);
    f->variants = f->unsupported && !f->lane && !f->warp ? 0 : (int)v;
    for (form *g = forms; g < f; g++) {
        if (strcmp(g->mnem, f->mnem) || g->nslots != f->nslots || g->nops != f->nops) continue;
        bool same = true;
        for (int k = 0; same && k < f->nslots; k++) {
            bool common = false;
            for (int j = 0; j < f->slot[k].words.n; j++)
                common |= find(&g->slot[k].words, f->slot[k].words.at[j]) >= 0;
            same = common && f->slot[k].optional == g->slot[k].optional;
        }
        for (int k = 0; same && k < f->nops; k++)
            same =
                f->op[k].kind == g->op[k].kind && f->op[k].count == g->op[k].count &&
                f->op[k].reg_only == g->op[k].reg_only &&
                (f->op[k].slot >= 0 || g->op[k].slot >= 0 || !strcmp(f->op[k].type, g->op[k].type));
        if (same) fail(f->file, f->line, "the form overlaps the one at %s:%d", g->file, g->line);
    }
}

/* ---- writing ---- */

static const char *out_dir;

static FILE *out_open(const char *name)
{
    FILE *o = fopen(format("%s/%s", out_dir, name), "w");
    if (!o) {
        fprintf(stderr, "isagen: cannot write %s/%s\n", out_dir, name);
        exit(1);
    }
    fprintf(o, "/* %s - written by isagen from the instruction table; do not edit. */\n", name);
    return o;
}

static void c_string(FILE *o, const char *s)
{
    fputc('"', o);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\') fputc('\\', o);
        fputc(*s, o);
    }
    fputc('"', o);
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void write_words(void)
{
    FILE *o = out_open("gen_words.h");
    fprintf(o, "#ifndef PL_GEN_WORDS_H\n#define PL_GEN_WORDS_H\n\n");
    fprintf(o, "/* Every word that may follow a mnemonic, type names and special registers "
               "included. */\n");
    fprintf(o, "typedef enum pl_word {\n    W_none,\n");
    for (int k = 0; k < words.n; k++) fprintf(o, "    W_%s,\n", cname(words.at[k]));
    fprintf(o, "    W_count\n} pl_word;\n\n/* Names of modifier groups. */\ntypedef enum pl_group "
               "{\n    G_none,\n");
    for (int k = 0; k < groups.n; k++) fprintf(o, "    G_%s,\n", cname(groups.at[k]));
    fprintf(o, "    G_count\n} pl_group;\n\n/* Latency classes, priced by every machine file. "
               "*/\ntypedef enum pl_class {\n");
    for (int k = 0; k < classes.n; k++) fprintf(o, "    C_%s,\n", cname(classes.at[k]));
    fprintf(o, "    C_count\n} pl_class;\n\n/* Mnemonics, in alphabetical order. */\ntypedef enum "
               "pl_mnem {\n");
    for (int k = 0; k < mnems.n; k++) fprintf(o, "    M_%s,\n", cname(mnems.at[k]));
    fprintf(o, "    M_count\n} pl_mnem;\n\n/* Forms. */\nenum { PL_FORMS = %d };\n\n#endif\n",
            nforms);
    fclose(o);
}

static int effect_bit(const form *f, const char *name)
{
    static const char *const names[] = {"load", "store", "atomic", "barrier",  "branch",  "exit",
                                        "call", "async", "fence",  "volatile", "converge"};
    for (int k = 0; k < (int)(sizeof names / sizeof *names); k++)
        if (!strcmp(names[k], name)) return 1 << k;
    fail(f->file, f->line, "unknown effect '%s'", name);
    return 0;
}

static int effects_of(const form *f)
{
    int effects = 0;
    for (int k = 0; k < f->effect.n; k++) effects |= effect_bit(f, f->effect.at[k]);
    return effects;
}

static void write_forms(void)
{
    /* class functions: chains of conditions, shared between forms */
    list chains = {0};
    int *cls = need(calloc((size_t)nforms + 1, sizeof *cls));
    for (int n = 0; n < nforms; n++) {
        form *f = &forms[n];
        char *body = dup("");
        for (int k = 0; k < f->cls.n; k++) {
            const rule *r = &f->cls.at[k];
            if (r->cond)
                body = format("%sif (%s) return C_%s; ", body,
                              condition(f, r->cond, r->file, r->line), cname(r->value));
            else {
                body = format("%sreturn C_%s;", body, cname(r->value));
                break;
            }
        }
        cls[n] = intern(&chains, body);
        for (int k = 0; k < f->where.n; k++) cond_func(f, &f->where.at[k]);
        for (int k = 0; k < f->since.n; k++) cond_func(f, &f->since.at[k]);
    }
    FILE *o = out_open("gen_forms.c");
    fprintf(o,
            "#include \"isa/table/form.h\"\n\n#define type_bits(w) pl_type_bits((pl_word)(w))\n\n");
    fprintf(o, "const char *const pl_word_text[] = {\"\",\n");
    for (int k = 0; k < words.n; k++) {
        fprintf(o, "    ");
        c_string(o, words.at[k]);
        fprintf(o, ",\n");
    }
    fprintf(o, "};\n\nconst char *const pl_group_text[] = {\"\",\n");
    for (int k = 0; k < groups.n; k++) fprintf(o, "    \"%s\",\n", groups.at[k]);
    fprintf(o, "};\n\nconst char *const pl_class_text[] = {\n");
    for (int k = 0; k < classes.n; k++) fprintf(o, "    \"%s\",\n", classes.at[k]);
    fprintf(o, "};\n\n");
    /* words sorted for lookup */
    list sorted = {0};
    for (int k = 0; k < words.n; k++) add(&sorted, words.at[k]);
    qsort(sorted.at, (size_t)sorted.n, sizeof *sorted.at, compare_names);
    fprintf(o, "const uint16_t pl_words_sorted[] = {\n");
    for (int k = 0; k < sorted.n; k++) fprintf(o, "    W_%s,\n", cname(sorted.at[k]));
    fprintf(o, "};\n\nconst pl_type_row pl_type_rows[] = {\n");
    for (int k = 0; k < ntypes; k++)
        fprintf(o, "    {W_%s, %d, '%c'},\n", types[k].name, types[k].bits, types[k].kind);
    fprintf(o, "};\nconst unsigned pl_ntypes = %d;\nconst uint16_t pl_word_bits[W_count] = {\n",
            ntypes);
    for (int k = 0; k < ntypes; k++) fprintf(o, "    [W_%s] = %d,\n", types[k].name, types[k].bits);
    fprintf(o, "};\nconst char pl_word_kind[W_count] = {\n");
    for (int k = 0; k < ntypes; k++)
        fprintf(o, "    [W_%s] = '%c',\n", types[k].name, types[k].kind);
    fprintf(o, "};\n\n");
    fprintf(o, "const pl_sreg_info pl_sregs[] = {\n");
    for (int k = 0; k < nsregs; k++) {
        fprintf(o, "    {\"%s\", W_%s, W_%s, %d, %d, \"%s\", ", sregs[k].name, cname(sregs[k].name),
                sregs[k].type, sregs[k].components > 1, sregs[k].ptx, sregs[k].target);
        c_string(o, sregs[k].title);
        fprintf(o, "},\n");
    }
    fprintf(o, "};\nconst unsigned pl_nsregs = %d;\n\n", nsregs);
    for (int k = 0; k < cond_funcs.n; k++)
        fprintf(o, "static bool c%d(const uint16_t *m) { (void)m; return %s; }\n", k,
                cond_funcs.at[k]);
    for (int k = 0; k < chains.n; k++)
        fprintf(o, "static uint16_t k%d(const uint16_t *m) { (void)m; %s }\n", k, chains.at[k]);
    for (int k = 0; k < rule_names.n; k++)
        fprintf(o, "int pl_operand_count_%s(const uint16_t *m);\n", rule_names.at[k]);
    list wordsets = {0}; /* arrays of words, shared */
    for (int n = 0; n < nforms; n++)
        for (int k = 0; k < forms[n].nslots; k++) {
            char *t = dup("");
            for (int j = 0; j < forms[n].slot[k].words.n; j++)
                t = format("%sW_%s, ", t, cname(forms[n].slot[k].words.at[j]));
            intern(&wordsets, t);
        }
    for (int k = 0; k < wordsets.n; k++)
        fprintf(o, "static const uint16_t w%d[] = {%s};\n", k, wordsets.at[k]);
    for (int n = 0; n < nforms; n++) {
        form *f = &forms[n];
        if (f->nslots) {
            fprintf(o, "static const pl_slot s%d[] = {", n);
            for (int k = 0; k < f->nslots; k++) {
                const slot *s = &f->slot[k];
                char *t = dup("");
                for (int j = 0; j < s->words.n; j++)
                    t = format("%sW_%s, ", t, cname(s->words.at[j]));
                fprintf(o, "{G_%s, %d, %d, %d, w%d}, ", *s->group ? cname(s->group) : "none",
                        s->optional, s->type, s->words.n, find(&wordsets, t));
            }
            fprintf(o, "};\n");
        }
        if (f->nops) {
            fprintf(o, "static const pl_ospec o%d[] = {", n);
            for (int k = 0; k < f->nops; k++) {
                const operand *p = &f->op[k];
                fprintf(o,
                        "{\"%s\", PL_K_%s, %d, %d, %d, %d, %d, %d, %d, %d, W_%s, %d, %d, %d, %s%s, "
                        "%lld, %lld}, ",
                        p->name, kind_text[p->kind], p->read, p->written, p->optional, p->sink,
                        p->reg_only, p->negatable, p->joined, p->tmap,
                        p->slot >= 0 ? "none" : cname(p->type), p->slot, p->vslot, p->count,
                        p->rule ? "pl_operand_count_" : "0", p->rule ? p->rule : "", p->lo, p->hi);
            }
            fprintf(o, "};\n");
        }
        if (f->where.n) {
            fprintf(o, "static const pl_where h%d[] = {", n);
            for (int k = 0; k < f->where.n; k++) {
                int c = cond_func(f, &f->where.at[k]);
                fprintf(o, c < 0 ? "{0, " : "{c%d, ", c);
                c_string(o, f->where.at[k].value);
                fprintf(o, "}, ");
            }
            fprintf(o, "};\n");
        }
        fprintf(o, "static const pl_since n%d[] = {", n);
        for (int k = 0; k < f->since.n; k++) {
            char version[32], target[128];
            if (sscanf(f->since.at[k].value, "%31s %127s", version, target) != 2) {
                fail(f->since.at[k].file, f->since.at[k].line, "since PTX TARGET");
                continue;
            }
            int c = cond_func(f, &f->since.at[k]);
            if (c < 0)
                fprintf(o, "{0, %d, \"%s\"}, ", version_number(version), target);
            else
                fprintf(o, "{c%d, %d, \"%s\"}, ", c, version_number(version), target);
        }
        fprintf(o, "};\n");
    }
    fprintf(o, "\nconst pl_form pl_forms[] = {\n");
    for (int n = 0; n < nforms; n++) {
        form *f = &forms[n];
        fprintf(o, "    {M_%s, %d, %d, ", cname(f->mnem), f->nslots, f->nops);
        fprintf(o, f->nslots ? "s%d, " : "0, ", n);
        fprintf(o, f->nops ? "o%d, " : "0, ", n);
        fprintf(o, "%d, %d, ", f->where.n, f->since.n);
        fprintf(o, f->where.n ? "h%d, " : "0, ", n);
        fprintf(o, "n%d, k%d, 0x%x, %d, ", n, cls[n], (unsigned)effects_of(f), f->relax);
        if (f->unsupported)
            c_string(o, f->unsupported);
        else
            fprintf(o, "0");
        fprintf(o, ", ");
        c_string(o, f->syntax);
        fprintf(o, ", ");
        if (f->note)
            c_string(o, f->note);
        else
            fprintf(o, "0");
        const char *slash = strrchr(f->file, '/');
        fprintf(o, ", \"%s\", %d},\n", slash ? slash + 1 : f->file, f->line);
    }
    fprintf(o, "};\nconst unsigned pl_nforms = PL_FORMS;\n\nconst uint16_t pl_form_mnem[PL_FORMS + "
               "1] = {\n");
    for (int n = 0; n < nforms; n++) fprintf(o, "    M_%s,\n", cname(forms[n].mnem));
    fprintf(o, "    UINT16_MAX\n};\nconst uint16_t pl_form_effects[PL_FORMS + 1] = {\n");
    for (int n = 0; n < nforms; n++) fprintf(o, "    0x%x,\n", (unsigned)effects_of(&forms[n]));
    fprintf(o, "    0\n};\n\nconst pl_mnem_info pl_mnems[] = {\n");
    for (int k = 0; k < mnems.n; k++) {
        int first = -1, count = 0;
        for (int n = 0; n < nforms; n++)
            if (!strcmp(forms[n].mnem, mnems.at[k])) {
                first = first < 0 ? n : first;
                count++;
            }
        const char *title = "";
        for (int n = ninsns - 1; n >= 0; n--)
            if (!strcmp(insns[n].name, mnems.at[k])) title = insns[n].title;
        fprintf(o, "    {\"%s\", ", mnems.at[k]);
        c_string(o, title);
        fprintf(o, ", %d, %d},\n", first < 0 ? 0 : first, count);
    }
    fprintf(o, "};\nconst unsigned pl_nmnems = %d;\n", mnems.n);
    fclose(o);
}

/* ---- the lane loops ---- */

/* The C type of operand o under the chosen words of the specialised slots (choice[k]: index of the
 * word, -1 absent). */
static type_info operand_type(const form *f, const operand *o, const int *choice)
{
    const char *name = o->type;
    if (o->slot >= 0) {
        name = f->slot[o->slot].words.at[0];
        for (int k = 0; k < f->nspec; k++)
            if (f->spec[k] == o->slot && choice[k] >= 0)
                name = f->slot[o->slot].words.at[choice[k]];
    }
    const type_info *t = type_find(name);
    type_info r = t ? *t : types[0];
    if (o->tmap) {
        r.bits = o->tmap == 1 ? r.bits * 2 : o->tmap == 2 ? r.bits / 2 : r.bits;
        if (o->tmap >= 3) r.kind = o->tmap == 3 ? 'u' : 'b';
        int width = r.bits <= 8 ? 8 : r.bits <= 16 ? 16 : r.bits <= 32 ? 32 : 64;
        r.ctype =
            r.bits > 64 ? dup("pl_u128") : format(r.kind == 's' ? "int%d_t" : "uint%d_t", width);
    }
    return r;
}

static int vector_length(const form *f, const operand *o, const int *choice)
{
    if (o->vslot < 0) return o->count;
    for (int k = 0; k < f->nspec; k++)
        if (f->spec[k] == o->vslot && choice[k] >= 0)
            return atoi(f->slot[o->vslot].words.at[choice[k]] + 1);
    return 0;
}

/* Names of groups as they appear in lane text. */
static void write_group_values(FILE *o, const form *f, const int *choice, const char *text)
{
    for (int k = 0; k < f->nslots; k++) {
        const slot *s = &f->slot[k];
        if (!*s->group || !uses(text, cname(s->group))) continue;
        int spec = -1;
        for (int j = 0; j < f->nspec; j++)
            if (f->spec[j] == k) spec = j;
        if (spec < 0)
            fprintf(o, "    const int %s = i->mods[%d];\n", cname(s->group), k);
        else if (choice[spec] < 0)
            fprintf(o, "    const int %s = W_none;\n", cname(s->group));
        else
            fprintf(o, "    const int %s = W_%s;\n", cname(s->group),
                    cname(s->words.at[choice[spec]]));
    }
}

static void write_read(FILE *o, const char *var, const char *row, const type_info *t, bool decl)
{
    const char *d = decl ? t->ctype : "";
    if (t->kind == 'p')
        fprintf(o, "        %s%s%s = (%s >> l) & 1u;\n", decl ? "bool" : "", decl ? " " : "", var,
                row);
    else if (t->bits > 64)
        fprintf(o, "        %s %s = {%s[l], %s[PL_LANES + l]};\n", d, var, row, row);
    else
        fprintf(o, "        %s%s%s = (%s)%s[l];\n", d, decl ? " " : "", var, t->ctype, row);
}

static void write_lane(FILE *o, const form *f, int n, int v, const int *choice)
{
    const char *text = f->lane;
    fprintf(o, "\n/* %s:%d %s */\nstatic void x%d_%d(pl_warp *w, const pl_insn *i)\n{\n",
            strrchr(f->file, '/') ? strrchr(f->file, '/') + 1 : f->file, f->line, f->syntax, n, v);
    write_group_values(o, f, choice, text);
    bool cc = uses(text, "CC");
    for (int k = 0; k < f->nops; k++) {
        const operand *p = &f->op[k];
        type_info t = operand_type(f, p, choice);
        int len = vector_length(f, p, choice);
        char *has = format("has_%s", p->name), *sel = format("%s_sel", p->name);
        char *neg = format("%s_neg", p->name);
        if (uses(text, has))
            fprintf(o, "    const bool %s = i->op[%d] != PL_NO_OPERAND;\n", has, k);
        if (uses(text, sel)) fprintf(o, "    const int %s = i->sel[%d];\n", sel, k);
        if (uses(text, neg)) fprintf(o, "    const bool %s = i->neg >> %d & 1;\n", neg, k);
        if (!p->written && !uses(text, p->name)) continue;
        if (k >= MAX_INLINE) {
            fail(f->file, f->line, "lane text uses operand '%s' beyond the %d inline ones", p->name,
                 MAX_INLINE);
            continue;
        }
        if (p->kind == K_IMM) {
            fprintf(o, "    const int32_t %s = (int32_t)i->op[%d];\n", p->name, k);
            continue;
        }
        for (int e = 0; e < (len ? len : 1); e++) {
            char *name = len ? format("%s_%d", p->name, e) : dup(p->name);
            char *index = len ? format("pl_more(w, i, i->op[%d] + %du)", k, e)
                          : p->optional
                              ? format("i->op[%d] == PL_NO_OPERAND ? 0u : i->op[%d]", k, k)
                              : format("i->op[%d]", k);
            if (t.kind == 'p') {
                if (p->read)
                    fprintf(o, "    const uint32_t r_%s = pl_pred_read(w, i, %d);\n", name, k);
                if (p->written) fprintf(o, "    uint32_t v_%s = 0;\n", name);
            } else {
                const char *row = t.bits > 32 ? "uint64_t" : "uint32_t";
                fprintf(o, "    %s%s *r_%s = pl_row%s(w, %s);\n", p->written ? "" : "const ", row,
                        name, t.bits > 32 ? "64" : "32", index);
                if (p->written)
                    fprintf(o, "    %s v_%s[%s];\n", row, name,
                            t.bits > 64 ? "2 * PL_LANES" : "PL_LANES");
            }
        }
    }
    if (cc) fprintf(o, "    const uint32_t cc_in = w->carry;\n    uint32_t cc_out = 0;\n");
    fprintf(o, "    for (unsigned l = 0; l < PL_LANES; l++) {\n");
    if (cc) fprintf(o, "        bool CC = (cc_in >> l) & 1u;\n");
    for (int k = 0; k < f->nops; k++) {
        const operand *p = &f->op[k];
        if ((!p->written && !uses(text, p->name)) || p->kind == K_IMM) continue;
        type_info t = operand_type(f, p, choice);
        int len = vector_length(f, p, choice);
        if (len) fprintf(o, "        %s %s[%d];\n", t.kind == 'p' ? "bool" : t.ctype, p->name, len);
        for (int e = 0; p->read && e < (len ? len : 1); e++) {
            char *row = len ? format("r_%s_%d", p->name, e) : format("r_%s", p->name);
            char *var = len ? format("%s[%d]", p->name, e) : dup(p->name);
            write_read(o, var, row, &t, !len);
        }
        if (!p->read && !len)
            fprintf(o, "        %s %s;\n", t.kind == 'p' ? "bool" : t.ctype, p->name);
    }
    fprintf(o, "        %s;\n", text);
    for (int k = 0; k < f->nops; k++) {
        const operand *p = &f->op[k];
        if (!p->written) continue;
        type_info t = operand_type(f, p, choice);
        int len = vector_length(f, p, choice);
        for (int e = 0; e < (len ? len : 1); e++) {
            char *val = len ? format("v_%s_%d", p->name, e) : format("v_%s", p->name);
            char *var = len ? format("%s[%d]", p->name, e) : dup(p->name);
            if (t.kind == 'p')
                fprintf(o, "        %s |= (uint32_t)(%s) << l;\n", val, var);
            else if (t.bits > 64)
                fprintf(o, "        %s[l] = %s.lo;\n        %s[PL_LANES + l] = %s.hi;\n", val, var,
                        val, var);
            else if (t.bits > 32)
                fprintf(o, "        %s[l] = (uint64_t)%s;\n", val, var);
            else
                fprintf(o, "        %s[l] = (uint32_t)%s%s;\n", val,
                        t.kind == 's' && t.bits < 32 ? "(int32_t)" : "", var);
        }
    }
    if (cc) fprintf(o, "        cc_out |= (uint32_t)CC << l;\n");
    fprintf(o, "    }\n");
    if (cc) fprintf(o, "    w->carry = (cc_in & ~w->exec) | (cc_out & w->exec);\n");
    for (int k = 0; k < f->nops; k++) {
        const operand *p = &f->op[k];
        if (!p->written) continue;
        type_info t = operand_type(f, p, choice);
        int len = vector_length(f, p, choice);
        for (int e = 0; e < (len ? len : 1); e++) {
            char *name = len ? format("%s_%d", p->name, e) : dup(p->name);
            if (t.kind == 'p')
                fprintf(o, "    pl_pred_write(w, i->op[%d], v_%s);\n", k, name);
            else
                fprintf(o, "    pl_blend%s(w, r_%s, v_%s);\n",
                        t.bits > 64   ? "128"
                        : t.bits > 32 ? "64"
                                      : "32",
                        name, name);
        }
    }
    fprintf(o, "}\n");
}

static void write_warp(FILE *o, const form *f, int n, int v, const int *choice)
{
    char *name = dup(f->warp);
    if (!strncmp(name, "inline ", 7)) name = trim(name + 7);
    char *paren = strchr(name, '('), *args = dup("");
    if (paren) {
        *paren = 0;
        args = dup(paren + 1);
        char *e = strrchr(args, ')');
        if (e) *e = 0;
    }
    fprintf(o, "\n/* %s:%d %s */\nstatic void x%d_%d(pl_warp *w, const pl_insn *i)\n{\n",
            strrchr(f->file, '/') ? strrchr(f->file, '/') + 1 : f->file, f->line, f->syntax, n, v);
    fprintf(o, "    %s(w, i", trim(name));
    for (char *a = strtok(args, ","); a; a = strtok(NULL, ",")) {
        a = trim(a);
        int s = -1;
        for (int k = 0; k < f->nslots; k++)
            if (!strcmp(f->slot[k].group, a)) s = k;
        int spec = -1;
        for (int j = 0; j < f->nspec; j++)
            if (f->spec[j] == s) spec = j;
        if (s < 0 && find(&words, a) >= 0)
            fprintf(o, ", W_%s", cname(a));
        else if (s < 0 && strcmp(a, "none") == 0)
            fprintf(o, ", W_none");
        else if (s < 0)
            fail(f->file, f->line, "'%s' in a warp line is neither a group nor a word of the table",
                 a);
        else if (spec < 0)
            fprintf(o, ", i->mods[%d]", s);
        else if (choice[spec] < 0)
            fprintf(o, ", W_none");
        else
            fprintf(o, ", W_%s", cname(f->slot[s].words.at[choice[spec]]));
    }
    fprintf(o, ");\n}\n");
}

static void write_exec(void)
{
    FILE *o[EXEC_FILES];
    for (int k = 0; k < EXEC_FILES; k++) {
        o[k] = out_open(format("gen_exec_%d.c", k));
        fprintf(o[k], "#include \"emu/exec/lane_loops.h\"\n");
    }
    long total = 0, weight[EXEC_FILES] = {0};
    for (int n = 0; n < nforms; n++) {
        form *f = &forms[n];
        if (!f->variants) continue;
        int file = 0;
        for (int k = 1; k < EXEC_FILES; k++)
            if (weight[k] < weight[file]) file = k;
        weight[file] += f->variants * (f->lane ? 4 : 1);
        for (int v = 0; v < f->variants; v++) {
            int choice[6] = {0}, rest = v;
            for (int k = 0; k < f->nspec; k++) {
                const slot *s = &f->slot[f->spec[k]];
                int c = slot_choices(s);
                choice[k] = rest % c - s->optional;
                rest /= c;
            }
            if (f->lane)
                write_lane(o[file], f, n, v, choice);
            else
                write_warp(o[file], f, n, v, choice);
            total++;
        }
        fprintf(o[file], "\npl_exec_fn *const PL_X(pl_xf%d)[] = {", n);
        for (int v = 0; v < f->variants; v++) fprintf(o[file], "x%d_%d, ", n, v);
        fprintf(o[file], "};\n");
    }
    for (int k = 0; k < EXEC_FILES; k++) fclose(o[k]);
    FILE *x = out_open("gen_exec_index.c");
    fprintf(x, "#include \"emu/exec/lane_loops.h\"\n\n/* %ld functions for %d forms */\n", total,
            nforms);
    for (int n = 0; n < nforms; n++)
        if (forms[n].variants) fprintf(x, "extern pl_exec_fn *const PL_X(pl_xf%d)[];\n", n);
    fprintf(x, "\nconst pl_exec_form PL_X(pl_exec_forms)[] = {\n");
    for (int n = 0; n < nforms; n++) {
        form *f = &forms[n];
        if (!f->variants) {
            fprintf(x, "    {0, 0, {0}},\n");
            continue;
        }
        fprintf(x, "    {PL_X(pl_xf%d), %d, {", n, f->nspec);
        for (int k = 0; k < f->nspec; k++) fprintf(x, "%d, ", f->spec[k]);
        fprintf(x, "%s}},\n", f->nspec ? "" : "0");
    }
    fprintf(x, "};\n");
    fclose(x);
    FILE *h = out_open("gen_names.h");
    fprintf(h, "#ifndef PL_GEN_NAMES_H\n#define PL_GEN_NAMES_H\n\n/* Warp-level functions named by "
               "the table: one copy per instruction-set level of the host. */\n");
    list seen = {0};
    for (int n = 0; n < nforms; n++) {
        if (!forms[n].warp || !strncmp(forms[n].warp, "inline ", 7)) continue;
        char *name = dup(forms[n].warp), *paren = strchr(name, '(');
        int args = 0;
        if (paren) {
            *paren = 0;
            for (char *c = paren + 1; *c; c++) args += *c == ',';
            args += paren[1] != ')';
        }
        name = trim(name);
        char *key = format("%s/%d", name, args);
        for (int k = 0; k < seen.n; k++)
            if (!strncmp(seen.at[k], name, strlen(name)) && seen.at[k][strlen(name)] == '/' &&
                strcmp(seen.at[k], key))
                fail(forms[n].file, forms[n].line,
                     "warp function '%s' with different argument counts", name);
        if (find(&seen, key) >= 0) continue;
        add(&seen, key);
        fprintf(h, "#define %s PL_X(%s)\nvoid %s(pl_warp *w, const pl_insn *i", name, name, name);
        for (int k = 0; k < args; k++) fprintf(h, ", int m%d", k);
        fprintf(h, ");\n");
    }
    fprintf(h, "\n#endif\n");
    fclose(h);
}

int main(int argc, char **argv)
{
    if (argc != 3) {
        fprintf(stderr, "usage: isagen OUTDIR TABLE\n");
        return 2;
    }
    out_dir = argv[1];
    read_file(argv[2], 0);
    if (errors) /* a form line that was not understood has no form to check */
        return 1;
    for (int n = 0; n < nforms;
         n++) { /* what stands before the first form of an insn holds for all its forms */
        form *f = &forms[n], *h = &f->insn->head;
        merge_rules(&f->since, &h->since);
        merge_rules(&f->where, &h->where);
        merge_rules(&f->cls, &h->cls);
        for (int k = 0; k < h->effect.n; k++) add(&f->effect, h->effect.at[k]);
        f->relax |= h->relax;
        if (!f->lane && !f->warp && !f->unsupported) {
            f->lane = h->lane;
            f->warp = h->warp;
            f->unsupported = h->unsupported;
        }
        finish_form(f);
        for (int k = 0; k < f->cls.n; k++) intern(&classes, f->cls.at[k].value);
    }
    qsort(mnems.at, (size_t)mnems.n, sizeof *mnems.at, compare_names);
    form *grouped =
        need(calloc((size_t)nforms + 1, sizeof *grouped)); /* all forms of a mnemonic together */
    int at = 0;
    for (int k = 0; k < mnems.n; k++)
        for (int n = 0; n < nforms; n++)
            if (!strcmp(forms[n].mnem, mnems.at[k])) grouped[at++] = forms[n];
    forms = grouped;
    for (int n = 0; n < nforms; n++) check_form(&forms[n]);
    if (!nforms) fail(argv[2], 1, "the table has no forms");
    if (errors) return 1;
    write_words();
    write_forms();
    write_exec();
    if (errors) return 1;
    return 0;
}
