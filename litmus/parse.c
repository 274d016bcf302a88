/* parse.c - parses a litmus test. The format is described in ptxloom-litmus(5).
 *
 * Statements are PTX, which the assembler checks later, with their positions in the file. Here they
 * are interpreted only as far as the axioms require: the variables read and written, the ordering,
 * and the scope. */
#include "litmus/litmus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef enum kind { T_END, T_WORD, T_NUMBER, T_STRING, T_MARK } kind;

typedef struct token {
    kind kind;
    size_t from, to;
    uint32_t line, column;
    uint64_t number;
} token;

typedef struct reader {
    pl_diags *diags;
    uint32_t file;
    const char *text;
    size_t bytes, at;
    uint32_t line;
    size_t line_start;
    token next;
    bool failed;
    pl_litmus_test *t;
    token declared[PL_LITMUS_VARS]; /* declarations of the variables */
} reader;

/* ---- tokens ---- */

static void skip(reader *r)
{
    while (r->at < r->bytes) {
        const char *p = r->text + r->at;
        size_t left = r->bytes - r->at, n = 1;
        if (left >= 2 && p[0] == '/' && p[1] == '/') {
            const char *end = memchr(p, '\n', left);
            n = end ? (size_t)(end - p) : left;
        } else if (left >= 2 && p[0] == '/' && p[1] == '*') {
            for (n = 2; n < left && !(p[n] == '/' && n > 2 && p[n - 1] == '*'); n++)
                if (p[n] == '\n') {
                    r->line++;
                    r->line_start = r->at + n + 1;
                }
            n += n < left;
        } else if (*p == '\n') {
            r->line++;
            r->line_start = r->at + 1;
        } else if (!isspace((unsigned char)*p))
            return;
        r->at += n;
    }
}

static bool is_word_part(const char *p, size_t left, size_t n)
{
    return isalnum((unsigned char)p[n]) || p[n] == '_' || p[n] == '.' ||
           (p[n] == ':' && n + 1 < left && p[n + 1] == ':') ||
           (p[n] == ':' && n > 0 && p[n - 1] == ':');
}

static void advance(reader *r)
{
    skip(r);
    const char *p = r->text + r->at;
    size_t left = r->bytes - r->at, n = 0;
    token *k = &r->next;
    *k = (token){.kind = T_END,
                 .from = r->at,
                 .line = r->line,
                 .column = (uint32_t)(r->at - r->line_start) + 1};
    if (left == 0)
        k->to = r->at;
    else if (isdigit((unsigned char)*p)) {
        while (n < left && isalnum((unsigned char)p[n])) n++;
        char digits[24], *end = digits;
        snprintf(digits, sizeof digits, "%.*s", (int)n, p);
        k->number = strtoull(digits, &end, 0);
        k->kind = n < sizeof digits && *end == '\0' ? T_NUMBER : T_MARK;
    } else if (isalpha((unsigned char)*p) || *p == '_') {
        while (n < left && is_word_part(p, left, n)) n++;
        k->kind = T_WORD;
    } else if (*p == '"') {
        n = 1;
        while (n < left && p[n] != '"' && p[n] != '\n') n++;
        k->kind = n < left && p[n] == '"' ? T_STRING : T_MARK;
        n += k->kind == T_STRING;
    } else {
        static const char *const pairs[] = {"==", "!=", "&&", "||"};
        n = 1;
        for (size_t q = 0; q < sizeof pairs / sizeof *pairs; q++)
            if (left >= 2 && memcmp(p, pairs[q], 2) == 0) n = 2;
        k->kind = T_MARK;
    }
    k->to = r->at += n;
}

static bool next_is(const reader *r, const char *word)
{
    size_t n = strlen(word);
    return r->next.kind != T_END && r->next.kind != T_STRING && r->next.to - r->next.from == n &&
           memcmp(r->text + r->next.from, word, n) == 0;
}

static pl_loc loc_of(const reader *r, token k)
{
    return (pl_loc){
        .file = r->file, .line = k.line, .column = k.column, .length = (uint32_t)(k.to - k.from)};
}

static const char *spelling(const reader *r, token k)
{
    return k.kind == T_END
               ? "the end of the file"
               : pl_arena_printf(r->diags->arena, "'%.*s'", (int)(k.to - k.from), r->text + k.from);
}

/* Reports that `what` was expected instead of the next token. Only the first error is reported,
 * because later ones are unreliable. */
static bool report_expected(reader *r, const char *what)
{
    pl_diag *d =
        r->failed ? NULL
                  : pl_report(r->diags, PL_E0901, loc_of(r, r->next), what, spelling(r, r->next));
    if (d && strcmp(what, "'litmus'") == 0)
        d->help = "a litmus test begins with litmus \"TITLE\"; and ptxloom run or check takes PTX";
    r->failed = true;
    return false;
}

/* Reports the token as an error. why: the second text of the message, if it has one. */
static bool report_token(reader *r, token k, pl_diag_id id, const char *why)
{
    if (!r->failed)
        pl_report(r->diags, id, loc_of(r, k),
                  pl_arena_printf(r->diags->arena, "%.*s", (int)(k.to - k.from), r->text + k.from),
                  why);
    r->failed = true;
    return false;
}

static bool report_too_many(reader *r, token k, const char *what, int max)
{
    if (!r->failed) pl_report(r->diags, PL_E0904, loc_of(r, k), what, max);
    r->failed = true;
    return false;
}

static bool accept(reader *r, const char *word)
{
    if (!next_is(r, word)) return false;
    advance(r);
    return true;
}

static bool expect(reader *r, const char *word)
{
    return accept(r, word) || report_expected(r, pl_arena_printf(r->diags->arena, "'%s'", word));
}

static bool number(reader *r, const char *what, uint64_t max, uint32_t *out)
{
    if (r->next.kind != T_NUMBER || r->next.number > max) return report_expected(r, what);
    *out = (uint32_t)r->next.number;
    advance(r);
    return true;
}

static bool string(reader *r, char *out, size_t size)
{
    if (r->next.kind != T_STRING) return report_expected(r, "a text in quotation marks");
    snprintf(out, size, "%.*s", (int)(r->next.to - r->next.from - 2), r->text + r->next.from + 1);
    advance(r);
    return true;
}

/* ---- names ---- */

/* r0 .. r15, or -1. */
static int register_number(const reader *r, token k)
{
    const char *p = r->text + k.from;
    size_t n = k.to - k.from;
    if (k.kind != T_WORD || p[0] != 'r' || n < 2 || n > 3 || !isdigit((unsigned char)p[1]) ||
        (n == 3 && !isdigit((unsigned char)p[2])))
        return -1;
    int number = n == 2 ? p[1] - '0' : 10 * (p[1] - '0') + p[2] - '0';
    return number < PL_LITMUS_REGS ? number : -1;
}

static int variable(const reader *r, token k)
{
    size_t bytes = k.to - k.from;
    for (unsigned n = 0; k.kind == T_WORD && n < r->t->nvars; n++)
        if (strlen(r->t->var[n].name) == bytes &&
            memcmp(r->t->var[n].name, r->text + k.from, bytes) == 0)
            return (int)n;
    return -1;
}

/* The part of a mnemonic from *at to the next single dot. False: none left. */
static bool next_word(const reader *r, token k, size_t *at, char *out, size_t size)
{
    if (*at >= k.to) return false;
    size_t from = *at + (r->text[*at] == '.'), to = from;
    while (to < k.to && r->text[to] != '.') to++;
    snprintf(out, size, "%.*s", (int)(to - from), r->text + from);
    *at = to;
    return true;
}

/* ---- declarations ---- */

static bool declare(reader *r, bool shared)
{
    pl_litmus_test *t = r->t;
    do {
        token name = r->next;
        if (r->next.kind != T_WORD) return report_expected(r, "the name of a variable");
        size_t n = name.to - name.from;
        if (register_number(r, name) >= 0 || memchr(r->text + name.from, '.', n) ||
            n >= sizeof t->var->name || r->text[name.from] == '_')
            return report_token(r, name, PL_E0903,
                                "names of variables have up to 15 letters and digits, and are no "
                                "registers (r0 to r15)");
        if (variable(r, name) >= 0) return report_token(r, name, PL_E0301, NULL);
        if (t->nvars == PL_LITMUS_VARS)
            return report_too_many(r, name, "variables", PL_LITMUS_VARS);
        r->declared[t->nvars] = name;
        pl_litmus_var *v = &t->var[t->nvars++];
        *v = (pl_litmus_var){.shared = shared};
        memcpy(v->name, r->text + name.from, n);
        advance(r);
        if (accept(r, "=") && !number(r, "a value", UINT32_MAX, &v->init)) return false;
        uint32_t cta = 0;
        if (shared && accept(r, "@") &&
            (!expect(r, "cta") || !number(r, "the number of a block", 15, &cta)))
            return false;
        v->cta = (int)cta;
    } while (accept(r, ","));
    return expect(r, ";");
}

/* ---- statements ---- */

static bool value(reader *r, pl_litmus_value *out)
{
    int reg = register_number(r, r->next);
    bool minus = reg < 0 && accept(r, "-");
    if (reg < 0 && r->next.kind != T_NUMBER)
        return report_expected(r, "a register (r0 to r15) or a number");
    *out = (pl_litmus_value){.reg = reg >= 0,
                             .bits = reg >= 0 ? (uint32_t)reg : (uint32_t)r->next.number};
    if (minus) out->bits = 0u - out->bits;
    advance(r);
    return true;
}

static bool destination(reader *r, pl_litmus_op *o)
{
    int reg = register_number(r, r->next);
    if (reg < 0) return report_expected(r, "a register (r0 to r15)");
    o->dst = (int8_t)reg;
    advance(r);
    return true;
}

static bool address(reader *r, int8_t *out)
{
    if (!expect(r, "[")) return false;
    int v = variable(r, r->next);
    if (v < 0)
        return r->next.kind == T_WORD ? report_token(r, r->next, PL_E0302, NULL)
                                      : report_expected(r, "the name of a variable");
    *out = (int8_t)v;
    advance(r);
    return expect(r, "]");
}

static const struct {
    const char *name;
    int order;
} orders[] = {{"weak", PL_LITMUS_WEAK},       {"relaxed", PL_LITMUS_RELAXED},
              {"acquire", PL_LITMUS_ACQUIRE}, {"release", PL_LITMUS_RELEASE},
              {"acq_rel", PL_LITMUS_ACQ_REL}, {"sc", PL_LITMUS_SC}};
static const struct {
    const char *name;
    pl_litmus_scope scope;
} scopes[] = {{"cta", PL_LITMUS_CTA},
              {"cluster", PL_LITMUS_CLUSTER},
              {"gpu", PL_LITMUS_GPU},
              {"gl", PL_LITMUS_GPU},
              {"sys", PL_LITMUS_SYS}};
static const struct {
    const char *name;
    pl_litmus_fn fn;
} functions[] = {{"mov", PL_LITMUS_MOV}, {"add", PL_LITMUS_ADD}, {"and", PL_LITMUS_AND},
                 {"or", PL_LITMUS_OR},   {"xor", PL_LITMUS_XOR}, {"min", PL_LITMUS_MIN},
                 {"max", PL_LITMUS_MAX}, {"inc", PL_LITMUS_INC}, {"exch", PL_LITMUS_EXCH},
                 {"cas", PL_LITMUS_CAS}};

/* The meaning of the words of a mnemonic. */
typedef struct words {
    int order, scope, fn; /* -1: not specified */
    bool shared, cluster, global, volatile_, typed, sync, arrive, wait, aligned;
} words;

static bool read_words(reader *r, token k, size_t at, words *w)
{
    char word[32];
    *w = (words){.order = -1, .scope = -1, .fn = -1};
    while (next_word(r, k, &at, word, sizeof word)) {
        bool known = true;
        if (strcmp(word, "volatile") == 0)
            w->volatile_ = true;
        else if (strcmp(word, "global") == 0)
            w->global = true;
        else if (strcmp(word, "shared") == 0 || strcmp(word, "shared::cta") == 0)
            w->shared = true;
        else if (strcmp(word, "shared::cluster") == 0)
            w->shared = w->cluster = true;
        else if (strcmp(word, "u32") == 0 || strcmp(word, "b32") == 0)
            w->typed = true;
        else if (strcmp(word, "sync") == 0)
            w->sync = true;
        else if (strcmp(word, "arrive") == 0)
            w->arrive = true;
        else if (strcmp(word, "wait") == 0)
            w->wait = true;
        else if (strcmp(word, "aligned") == 0)
            w->aligned = true;
        else
            known = false;
        for (size_t q = 0; !known && q < sizeof orders / sizeof *orders && w->order < 0; q++)
            if ((known = strcmp(word, orders[q].name) == 0)) w->order = orders[q].order;
        for (size_t q = 0; !known && q < sizeof scopes / sizeof *scopes && w->scope < 0; q++)
            if ((known = strcmp(word, scopes[q].name) == 0)) w->scope = (int)scopes[q].scope;
        for (size_t q = 0; !known && q < sizeof functions / sizeof *functions && w->fn < 0; q++)
            if ((known = strcmp(word, functions[q].name) == 0)) w->fn = (int)functions[q].fn;
        if (!known)
            return report_token(r, k, PL_E0903,
                                pl_arena_printf(r->diags->arena,
                                                "'.%s' is beyond what the axioms here describe",
                                                word));
    }
    return true;
}

static bool memory_operation(reader *r, token k, const words *w, const pl_litmus_thread *th,
                             pl_litmus_op *o)
{
    bool atomic = o->kind == PL_LITMUS_ATOM || o->kind == PL_LITMUS_RED;
    if (!w->typed)
        return report_token(r, k, PL_E0903, "variables have 32 bits: write .u32 or .b32");
    if (o->kind != PL_LITMUS_STORE && o->kind != PL_LITMUS_RED &&
        !(destination(r, o) && expect(r, ",")))
        return false;
    if (!address(r, &o->var)) return false;
    if (o->kind != PL_LITMUS_LOAD && !(expect(r, ",") && value(r, &o->a))) return false;
    if (atomic && w->fn == PL_LITMUS_CAS && !(expect(r, ",") && value(r, &o->b))) return false;
    const pl_litmus_var *v = &r->t->var[o->var];
    if (v->shared && !w->shared)
        return report_token(r, k, PL_E0903,
                            "its variable is in shared memory: write .shared or .shared::cluster");
    if (!v->shared && w->shared)
        return report_token(r, k, PL_E0903, "its variable is in global memory");
    if (v->shared && !w->cluster && (uint32_t)v->cta != th->cta)
        return report_token(
            r, k, PL_E0903,
            "its variable is in the shared memory of another block: write .shared::cluster");
    if (v->shared && (uint32_t)v->cta / r->t->cluster != th->cta / r->t->cluster)
        return report_token(r, k, PL_E0903,
                            "its variable is in the shared memory of another cluster");
    o->order = (uint8_t)(w->order >= 0            ? w->order
                         : atomic || w->volatile_ ? PL_LITMUS_RELAXED
                                                  : PL_LITMUS_WEAK);
    o->scope = (uint8_t)(w->volatile_ ? PL_LITMUS_SYS : w->scope >= 0 ? w->scope : PL_LITMUS_GPU);
    if (atomic && w->fn < 0)
        return report_token(r, k, PL_E0903,
                            "it has no operation: exch, add, inc, and, or, xor, min, max or cas");
    o->fn = (uint8_t)(atomic ? w->fn : 0);
    return true;
}

static bool synchronisation(reader *r, token k, const words *w, const char *name, pl_litmus_op *o)
{
    if (o->kind == PL_LITMUS_FENCE) {
        bool old = strcmp(name, "membar") == 0;
        if (w->scope < 0)
            return report_token(r, k, PL_E0903, "it has no scope: cta, cluster, gpu or sys");
        o->order = (uint8_t)(old ? PL_LITMUS_SC : w->order >= 0 ? w->order : PL_LITMUS_ACQ_REL);
        o->scope = (uint8_t)w->scope;
        return true;
    }
    if (w->scope == PL_LITMUS_CLUSTER && w->arrive != w->wait) {
        o->kind = w->arrive ? PL_LITMUS_ARRIVE : PL_LITMUS_WAIT;
        o->order = (uint8_t)(w->order >= 0 ? w->order
                             : w->arrive   ? PL_LITMUS_RELEASE
                                           : PL_LITMUS_ACQUIRE);
        return true;
    }
    uint32_t number_of = 0;
    if (!w->sync)
        return report_token(r, k, PL_E0903,
                            "of barriers, a test can have bar.sync, barrier.cluster.arrive and "
                            "barrier.cluster.wait");
    if (!number(r, "the number of a barrier, 0 to 14", 14, &number_of)) return false;
    o->barrier = (uint8_t)number_of;
    return true;
}

/* True if the mnemonic is spelled like this. A trailing '*' matches any suffix. */
static bool is_spelled(const reader *r, token k, const char *text)
{
    size_t n = strlen(text), length = k.to - k.from;
    bool rest = text[n - 1] == '*';
    n -= rest;
    return (rest ? length >= n : length == n) && memcmp(r->text + k.from, text, n) == 0;
}

/* Bulk copies, and the fence between their proxy and that of other instructions. */
static bool asynchronous(reader *r, token k, pl_litmus_thread *th, pl_litmus_op *o)
{
    uint32_t n = 0;
    if (o->kind == PL_LITMUS_PROXY || o->kind == PL_LITMUS_COMMIT) return true;
    if (o->kind == PL_LITMUS_DONE) return number(r, "0, the groups that may go on", 0, &n);
    if (!is_spelled(r, k, "cp.async.bulk.global.shared::cta.bulk_group"))
        return report_token(
            r, k, PL_E0903,
            "of bulk copies, a test can have cp.async.bulk.global.shared::cta.bulk_group");
    if (!address(r, &o->var) || !expect(r, ",") || !address(r, &o->source) || !expect(r, ","))
        return false;
    const pl_litmus_var *to = &r->t->var[o->var], *from = &r->t->var[o->source];
    if (to->shared || !from->shared || (uint32_t)from->cta != th->cta)
        return report_token(r, k, PL_E0903,
                            "it copies from its block's shared memory to global memory");
    if (r->next.kind != T_NUMBER || r->next.number != 16)
        return report_expected(r, "16 (a variable and what is behind it)");
    advance(r);
    return true;
}

static bool alu(reader *r, token k, const words *w, const char *name, pl_litmus_op *o)
{
    o->fn = PL_LITMUS_CAS;
    for (size_t q = 0; q < 5; q++) /* mov, add, and, or, xor */
        if (strcmp(name, functions[q].name) == 0) o->fn = (uint8_t)functions[q].fn;
    if (o->fn == PL_LITMUS_CAS)
        return report_token(r, k, PL_E0903,
                            "the statements are ld, st, atom, red, fence, membar, bar.sync, "
                            "barrier.cluster, cp.async.bulk, mov, add, "
                            "and, or, xor");
    if (!w->typed)
        return report_token(r, k, PL_E0903, "registers have 32 bits: write .u32 or .b32");
    return destination(r, o) && expect(r, ",") && value(r, &o->a) &&
           (o->fn == PL_LITMUS_MOV || (expect(r, ",") && value(r, &o->b)));
}

static bool statement(reader *r, pl_litmus_thread *th)
{
    token k = r->next;
    size_t at = k.from;
    char name[32];
    words w;
    static const struct {
        const char *name;
        pl_litmus_kind kind;
    } kinds[] = {{"ld", PL_LITMUS_LOAD},     {"st", PL_LITMUS_STORE},
                 {"atom", PL_LITMUS_ATOM},   {"red", PL_LITMUS_RED},
                 {"fence", PL_LITMUS_FENCE}, {"membar", PL_LITMUS_FENCE},
                 {"bar", PL_LITMUS_BARRIER}, {"barrier", PL_LITMUS_BARRIER}};
    if (k.kind != T_WORD) return report_expected(r, "a PTX statement or '}'");
    if (th->nops == PL_LITMUS_OPS)
        return report_too_many(r, k, "statements in a thread", PL_LITMUS_OPS);
    pl_litmus_op *o = &th->op[th->nops++];
    *o = (pl_litmus_op){.kind = PL_LITMUS_ALU, .var = -1, .dst = -1, .source = -1, .from = k.from};
    next_word(r, k, &at, name, sizeof name);
    for (size_t q = 0; q < sizeof kinds / sizeof *kinds; q++)
        if (strcmp(name, kinds[q].name) == 0) o->kind = (uint8_t)kinds[q].kind;
    bool proxy = is_spelled(r, k, "fence.proxy.async") || is_spelled(r, k, "fence.proxy.async.*");
    bool async = proxy || is_spelled(r, k, "cp.async.bulk.*");
    if (!async && !read_words(r, k, at, &w)) return false;
    if (async)
        o->kind = proxy                                            ? PL_LITMUS_PROXY
                  : is_spelled(r, k, "cp.async.bulk.commit_group") ? PL_LITMUS_COMMIT
                  : is_spelled(r, k, "cp.async.bulk.wait_group")   ? PL_LITMUS_DONE
                                                                   : PL_LITMUS_COPY;
    advance(r);
    bool ok = async                      ? asynchronous(r, k, th, o)
              : o->kind == PL_LITMUS_ALU ? alu(r, k, &w, name, o)
              : o->kind <= PL_LITMUS_RED ? memory_operation(r, k, &w, th, o)
                                         : synchronisation(r, k, &w, name, o);
    o->to = r->next.to;
    return ok && expect(r, ";");
}

static bool thread(reader *r, size_t header)
{
    pl_litmus_test *t = r->t;
    token k = r->next;
    uint32_t n = 0;
    if (t->nthreads == PL_LITMUS_THREADS)
        return report_too_many(r, k, "threads", PL_LITMUS_THREADS);
    if (r->next.kind != T_NUMBER || r->next.number != t->nthreads)
        return report_expected(
            r, pl_arena_printf(r->diags->arena, "'%u' (threads are numbered from 0)", t->nthreads));
    pl_litmus_thread *th = &t->thread[t->nthreads];
    *th = (pl_litmus_thread){.header = header};
    advance(r);
    if (!expect(r, "@") || !expect(r, "cta") ||
        !number(r, "the number of a block, 0 to 15", 15, &th->cta))
        return false;
    for (unsigned q = 0; q < t->nthreads; q++) /* its own warp, unless the test specifies one */
        if (t->thread[q].cta == th->cta && t->thread[q].warp >= n) n = t->thread[q].warp + 1;
    th->warp = n;
    if (accept(r, "warp") && !number(r, "the number of a warp, 0 to 7", 7, &th->warp)) return false;
    for (unsigned q = 0; q < t->nthreads; q++)
        th->lane += t->thread[q].cta == th->cta && t->thread[q].warp == th->warp;
    if (!expect(r, "{")) return false;
    while (!next_is(r, "}"))
        if (!statement(r, th)) return false;
    th->close = r->next.from;
    t->nthreads++;
    advance(r);
    return true;
}

/* ---- the condition ---- */

static bool observe(reader *r, pl_litmus_observed o, unsigned *out)
{
    pl_litmus_test *t = r->t;
    for (*out = 0; *out < t->nobserved; ++*out) {
        const pl_litmus_observed *p = &t->observed[*out];
        if (p->thread == o.thread && (o.thread < 0 ? p->var == o.var : p->reg == o.reg))
            return true;
    }
    if (t->nobserved == PL_LITMUS_OBSERVED)
        return report_too_many(r, r->next,
                               "registers that loads fill and variables in the condition",
                               PL_LITMUS_OBSERVED);
    t->observed[t->nobserved++] = o;
    return true;
}

static bool push(reader *r, pl_litmus_term x)
{
    if (r->t->nterms == PL_LITMUS_TERMS)
        return report_too_many(r, r->next, "parts of a condition", PL_LITMUS_TERMS);
    r->t->term[r->t->nterms++] = x;
    return true;
}

static bool either(reader *r, unsigned depth);

static bool comparison(reader *r, unsigned depth)
{
    pl_litmus_term x = {.op = PL_LITMUS_EQ};
    pl_litmus_observed o = {.thread = -1};
    if (depth > 20) return report_too_many(r, r->next, "levels of parentheses", 20);
    if (accept(r, "!"))
        return comparison(r, depth + 1) && push(r, (pl_litmus_term){.op = PL_LITMUS_NOT});
    if (accept(r, "(")) return either(r, depth + 1) && expect(r, ")");
    if (r->next.kind == T_NUMBER) {
        token k = r->next;
        if (k.number >= r->t->nthreads) return report_token(r, k, PL_E0902, "thread of this test");
        o.thread = (int)k.number;
        advance(r);
        if (!expect(r, ":")) return false;
        o.reg = register_number(r, r->next);
        if (o.reg < 0) return report_expected(r, "a register (r0 to r15)");
    } else {
        o.var = variable(r, r->next);
        if (o.var < 0)
            return r->next.kind == T_WORD
                       ? report_token(r, r->next, PL_E0902, "variable of this test")
                       : report_expected(r, "a register (1:r0) or a variable");
    }
    advance(r);
    if (!observe(r, o, &x.observed)) return false;
    if (accept(r, "!="))
        x.op = PL_LITMUS_NE;
    else if (!expect(r, "=="))
        return false;
    return number(r, "a value", UINT32_MAX, &x.value) && push(r, x);
}

static bool both(reader *r, unsigned depth)
{
    if (!comparison(r, depth)) return false;
    while (accept(r, "&&"))
        if (!comparison(r, depth) || !push(r, (pl_litmus_term){.op = PL_LITMUS_BOTH})) return false;
    return true;
}

static bool either(reader *r, unsigned depth)
{
    if (!both(r, depth)) return false;
    while (accept(r, "||"))
        if (!both(r, depth) || !push(r, (pl_litmus_term){.op = PL_LITMUS_EITHER})) return false;
    return true;
}

static bool condition(reader *r)
{
    pl_litmus_test *t = r->t;
    t->condition = r->next.from;
    bool never = accept(r, "~");
    if (accept(r, "exists"))
        t->quantifier = never ? PL_LITMUS_NEVER : PL_LITMUS_EXISTS;
    else if (!never && accept(r, "forall"))
        t->quantifier = PL_LITMUS_FORALL;
    else
        return report_expected(r, never ? "'exists'"
                                        : "'thread' or a condition: exists, ~exists or forall");
    for (unsigned k = 0; k < t->nthreads;
         k++) /* values that threads have read are part of an outcome */
        for (unsigned m = 0; m < t->thread[k].nops; m++) {
            const pl_litmus_op *o = &t->thread[k].op[m];
            unsigned unused;
            if ((o->kind == PL_LITMUS_LOAD || o->kind == PL_LITMUS_ATOM) &&
                !observe(r, (pl_litmus_observed){(int)k, o->dst, -1}, &unused))
                return false;
        }
    if (!either(r, 0)) return false;
    t->condition_end = r->next.from;
    if (accept(r, "unseen") && !string(r, t->unseen, sizeof t->unseen)) return false;
    if (!expect(r, ";")) return false;
    return r->next.kind == T_END || report_expected(r, "the end of the file");
}

static bool whole(reader *r)
{
    pl_litmus_test *t = r->t;
    unsigned events = 0;
    advance(r);
    if (!expect(r, "litmus") || !string(r, t->title, sizeof t->title) || !expect(r, ";"))
        return false;
    for (;;) {
        token k = r->next;
        bool ok = true;
        if (accept(r, "global"))
            ok = declare(r, false);
        else if (accept(r, "shared"))
            ok = declare(r, true);
        else if (t->nthreads == 0 && accept(r, "cluster")) {
            uint32_t n = 0;
            ok = number(r, "the blocks of a cluster, 1 to 8", 8, &n) && expect(r, ";");
            t->cluster = n ? n : 1;
        } else if (accept(r, "thread"))
            ok = thread(r, k.from);
        else
            break;
        if (!ok) return false;
    }
    for (unsigned k = 0; k < t->nthreads; k++) /* a copy reads and writes: two events */
        for (unsigned m = 0; m < t->thread[k].nops; m++)
            events += t->thread[k].op[m].kind == PL_LITMUS_COPY ? 2 : 1;
    if (events + t->nvars > PL_LITMUS_EVENTS)
        return report_too_many(r, r->next, "statements and variables", PL_LITMUS_EVENTS);
    for (unsigned k = 0; t->nthreads && k < t->nvars; k++) {
        bool lives = !t->var[k].shared;
        for (unsigned m = 0; m < t->nthreads; m++)
            lives |= t->thread[m].cta == (uint32_t)t->var[k].cta;
        if (!lives) return report_token(r, r->declared[k], PL_E0905, NULL);
    }
    return t->nthreads ? condition(r)
                       : report_expected(r, "'global', 'shared', 'cluster' or 'thread'");
}

pl_status pl_litmus_parse(pl_diags *diags, uint32_t file, const char *text, size_t bytes,
                          pl_litmus_test *out)
{
    reader r = {.diags = diags, .file = file, .text = text, .bytes = bytes, .line = 1, .t = out};
    memset(out, 0, sizeof *out);
    out->cluster = 1;
    return whole(&r) ? PL_OK : PL_INVALID;
}
