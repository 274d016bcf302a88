/* explain.c - explanations of a name: an instruction, a special register, a diagnostic, a key of a
 * machine file, a metric and the other topics of pl_explain.
 *
 * Everything shown comes from the tables themselves (isa/table/ptx.isa, ptx/directives.def,
 * base/diag.def, arch/machine_keys.c, traces/metrics.list ...), so it cannot disagree with the
 * behaviour. */
#include "lib/cuda_error.h"
#include "lib/glossary.h"
#include "lib/internal.h"
#include "arch/builtin_machines.h"
#include "base/map.h"
#include "compiler/pass_manager.h"
#include "ptx/directive.h"
#include "traces/trace.h"
#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { MAX_WORDS = 24, LINE = 100 };

/* Text that grows in an arena. */
typedef struct text {
    pl_arena *arena;
    char *at;
    size_t n, cap;
} text;

static void append(text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append(text *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *s = pl_arena_vprintf(t->arena, fmt, ap);
    va_end(ap);
    while (s && *s) *pl_push(t->arena, t) = *s++;
}

static const char *finish(text *t)
{
    *pl_push(t->arena, t) = '\0';
    return t->at;
}

/* Appends a paragraph, indented and wrapped. */
static void paragraph(text *t, const char *s, int indent)
{
    int column = 0;
    while (*s) {
        size_t n = strcspn(s, " ");
        if (column > 0 && column + 1 + (int)n > LINE - indent) {
            append(t, "\n");
            column = 0;
        }
        if (column == 0)
            append(t, "%*s", indent, "");
        else
            append(t, " ");
        append(t, "%.*s", (int)n, s);
        column += (int)n + 1;
        s += n;
        while (*s == ' ') s++;
    }
    append(t, "\n");
}

/* ---------------------------------------------------------------- instructions */

typedef struct query {
    int mnem;
    uint16_t word[MAX_WORDS];
    size_t n;
    const char *unknown; /* first word that is not in the table */
    size_t unknown_length;
} query;

/* Splits "ld.global.v4.f32". False if the mnemonic is unknown. Mnemonics may contain dots
 * (cp.async). */
static bool read_query(const char *topic, query *q)
{
    size_t n = strlen(topic);
    *q = (query){.mnem = -1};
    /* Longest prefix that is a mnemonic. */
    for (size_t len = n; len > 0 && q->mnem < 0; len--) {
        if (len < n && topic[len] != '.') continue;
        q->mnem = pl_mnem_find(topic, len);
        if (q->mnem >= 0) topic += len;
    }
    if (q->mnem < 0) return false;
    while (*topic == '.' && q->n < MAX_WORDS) {
        size_t len = strcspn(topic + 1, ".");
        uint16_t w = (uint16_t)pl_word_find(topic + 1, len);
        if (w == W_none && !q->unknown) {
            q->unknown = topic + 1;
            q->unknown_length = len;
        }
        q->word[q->n++] = w;
        topic += 1 + len;
    }
    return true;
}

/* True if every word of the query matches a separate slot of the form; mods receives the words by
 * slot. */
static bool matches(const pl_form *f, const query *q, uint16_t mods[PL_MAX_SLOTS])
{
    for (unsigned s = 0; s < PL_MAX_SLOTS; s++) mods[s] = W_none;
    for (size_t k = 0; k < q->n; k++) {
        bool found = false;
        for (unsigned s = 0; s < f->nslots && !found; s++) {
            for (unsigned i = 0; i < f->slot[s].n && mods[s] == W_none; i++)
                found |= f->slot[s].word[i] == q->word[k];
            if (found) mods[s] = q->word[k];
        }
        if (!found) return false;
    }
    return true;
}

/* Appends the versions that these words require; lines that depend on other words are only counted.
 */
static void append_versions(text *t, const pl_form *f, const uint16_t *mods)
{
    unsigned hidden = 0;
    for (unsigned i = 0; i < f->nsince; i++) {
        const pl_since *s = &f->since[i];
        if (s->applies && !s->applies(mods))
            hidden++;
        else
            append(t, "    since PTX %u.%u, %s\n", s->ptx / 10u, s->ptx % 10u,
                   s->target ? s->target : "any target");
    }
    if (hidden > 0)
        append(t, "    some of its modifiers need later versions: name them to see which\n");
}

/* Returns a statement of this form. */
static const char *form_example(const char *syntax)
{
    static const struct {
        const char *syntax, *version, *target, *statement;
    } examples[] = {
#define FORM_EXAMPLE(...) {__VA_ARGS__},
#include "isa/table/form_examples.def"
#undef FORM_EXAMPLE
    };
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
        if (!strcmp(examples[k].syntax, syntax)) return examples[k].statement;
    return NULL;
}

static void append_form(text *t, const pl_form *f, const uint16_t *mods)
{
    const char *example = form_example(f->syntax);
    append(t, "\n  %s\n", f->syntax);
    if (example) append(t, "    example: %s\n", example);
    for (unsigned i = 0; i < f->nslots; i++) {
        const pl_slot *s = &f->slot[i];
        if (s->group == G_none ||
            (s->n == 1 && strcmp(pl_word_text[s->word[0]], pl_group_text[s->group]) == 0))
            continue;
        text words = {.arena = t->arena};
        append(&words, ".%s%s:", pl_group_text[s->group], s->optional ? " (optional)" : "");
        for (unsigned k = 0; k < s->n; k++) append(&words, " %s", pl_word_text[s->word[k]]);
        paragraph(t, finish(&words), 4);
    }
    append_versions(t, f, mods);
    for (unsigned i = 0; i < f->nwhere; i++) {
        if (i == 0 || strcmp(f->where[i].message, f->where[i - 1].message) != 0)
            append(t, "    rule: %s\n", f->where[i].message);
    }
    if (f->unsupported) append(t, "    NOT EXECUTED by this version: %s\n", f->unsupported);
    if (f->note) paragraph(t, f->note, 4);
    if ((f->effects & PL_EF_ASYNC) && (f->effects & (PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC)))
        append(t, "    takes effect at its modelled completion in timing mode, at once in "
                  "functional mode; "
                  "`run --async` selects\n");
    append(t, "    latency class %s; defined in isa/%s:%d\n",
           f->latency_class ? pl_class_text[f->latency_class(mods)] : "-", f->file, f->line);
}

/* Returns a statement with this instruction. */
static const char *mnemonic_example(const char *mnemonic)
{
    static const struct {
        const char *mnemonic, *version, *target, *statement;
    } examples[] = {
#define EXAMPLE(...) {__VA_ARGS__},
#include "isa/table/mnemonic_examples.def"
#undef EXAMPLE
    };
    for (size_t k = 0; k < sizeof examples / sizeof *examples; k++)
        if (!strcmp(examples[k].mnemonic, mnemonic)) return examples[k].statement;
    return NULL;
}

static const char *instruction(pl_gpu *gpu, const char *topic)
{
    query q;
    if (!read_query(topic, &q)) return NULL;
    const pl_mnem_info *m = &pl_mnems[q.mnem];
    text t = {.arena = gpu->explanations};
    append(&t, "%s - %s\n", m->name, m->title);
    if (mnemonic_example(m->name)) append(&t, "\n  example: %s\n", mnemonic_example(m->name));
    bool any_match = false;
    uint16_t mods[PL_MAX_SLOTS];
    for (unsigned k = m->first; k < (unsigned)m->first + m->count; k++)
        any_match |= matches(&pl_forms[k], &q, mods);
    if (q.unknown)
        append(&t, "\n'.%.*s' is not a modifier of PTX that ptxloom knows. ", (int)q.unknown_length,
               q.unknown);
    else if (!any_match)
        append(&t, "\nNo form of %s takes all of these modifiers. ", m->name);
    if (!any_match) append(&t, "All forms of %s:\n", m->name);
    for (unsigned k = m->first; k < (unsigned)m->first + m->count; k++) {
        bool matching = matches(&pl_forms[k], &q, mods);
        if (!any_match || matching) append_form(&t, &pl_forms[k], mods);
    }
    return finish(&t);
}

/* ---------------------------------------------------------------- other words of PTX */

static void append_since(text *t, unsigned ptx, const char *target)
{
    append(t, "  since PTX %u.%u, %s\n", ptx / 10u, ptx % 10u, target);
}

/* "%tid", or a component of it, such as "%tid.x". */
static const char *special_register(pl_gpu *gpu, const char *topic)
{
    if (*topic != '%') return NULL;
    const char *name = topic + 1;
    const size_t n = strcspn(name, ".");
    unsigned k = 0;
    while (k < pl_nsregs && (strlen(pl_sregs[k].name) != n || memcmp(pl_sregs[k].name, name, n)))
        k++;
    if (k == pl_nsregs) return NULL;
    const pl_sreg_info *r = &pl_sregs[k];
    const bool component = name[n] && strchr("xyzw", name[n + 1]) && name[n + 1] && !name[n + 2];
    if (name[n] && !(r->vector && component)) return NULL;
    text t = {.arena = gpu->explanations};
    append(&t, "%%%s - special register\n\n", r->name);
    paragraph(&t, r->title, 2);
    append(&t, "\n  type .%s%s\n", pl_word_text[r->type],
           r->vector ? ", with the components .x, .y and .z" : "");
    append_since(&t, r->ptx, r->target);
    return finish(&t);
}

static const char *directive(pl_gpu *gpu, const char *topic)
{
    const pl_directive *d = pl_directive_find(topic);
    if (!d) return NULL;
    text t = {.arena = gpu->explanations};
    append(&t, "%s - directive\n\n", d->name);
    paragraph(&t, d->meaning, 2);
    append(&t, "\n");
    append_since(&t, d->ptx, d->target);
    return finish(&t);
}

static bool open_explanations(pl_gpu *gpu)
{
    if (!gpu->explanations) gpu->explanations = pl_arena_open();
    if (!gpu->explanations) pl_gpu_no_memory(gpu, "while explaining");
    return gpu->explanations != NULL;
}

const char *pl_explain_unsupported(pl_gpu *gpu)
{
    PL_GUARD(pl_gpu_no_memory(gpu, "while explaining"); return NULL)
    if (!open_explanations(gpu)) return NULL;
    text t = {.arena = gpu->explanations};
    for (unsigned k = 0; k < pl_nforms; k++) {
        if (pl_forms[k].unsupported)
            append(&t, "%s\n    %s\n", pl_forms[k].syntax, pl_forms[k].unsupported);
    }
    return finish(&t);
}

/* ---------------------------------------------------------------- the other tables */

/* Appends the text of a diagnostic: X stands for a text in it, N for a number. A text directly
 * after a letter is the ending of a word, and one after another value belongs to it. */
static void append_format(text *t, const char *fmt)
{
    char before = ' ';
    for (const char *s = fmt; *s;) {
        const size_t plain = strcspn(s, "%");
        if (plain) append(t, "%.*s", (int)plain, s);
        if (plain) before = s[plain - 1];
        s += plain;
        if (!*s) break;
        const char kind = s[1 + strcspn(s + 1, "csdugxp%")];
        s += 2 + strcspn(s + 1, "csdugxp%");
        if (kind == '%')
            append(t, "%%");
        else if (strchr("dugx", kind))
            append(t, "N");
        else if (!isalpha((unsigned char)before))
            append(t, "X");
        else if (before != 'X' && before != 's')
            append(t, "s");
        before = 'X';
    }
}

static const char *diagnostic(pl_gpu *gpu, const char *topic)
{
    pl_diag_id id;
    char code[8];
    size_t n = strlen(topic);
    if (n >= sizeof code) return NULL;
    for (size_t i = 0; i <= n; i++) code[i] = (char)toupper((unsigned char)topic[i]);
    if (!pl_diag_by_code(code, &id)) return NULL;
    text t = {.arena = gpu->explanations};
    append(&t, "%s: ", code);
    append_format(&t, pl_diag_format(id));
    append(&t, "\n\n");
    paragraph(&t, pl_diag_explanation(id), 2);
    return finish(&t);
}

/* Appends the value of a key in a built-in machine file, with its provenance. */
static void machine_value(pl_gpu *gpu, text *t, const pl_machine_text *m, const char *section,
                          const char *key)
{
    pl_diags ignored;
    pl_conf *c;
    pl_diags_init(&ignored, gpu->explanations);
    if (pl_conf_read(gpu->explanations, &ignored, m->name, m->text, m->size, &c) != PL_OK) return;
    const pl_conf_entry *e = pl_conf_find(c, section, key);
    if (!e) return;
    append(t, "  %-14s %s%s%s   (%s%s%s)\n", m->name, e->value, *e->unit ? " " : "", e->unit,
           pl_provenance_word(e->provenance), *e->source ? ": " : "", e->source);
}

static const char *machine_key(pl_gpu *gpu, const char *topic)
{
    const char *dot = strrchr(topic, '.');
    if (!dot || dot == topic) return NULL;
    const char *section = pl_arena_strndup(gpu->explanations, topic, (size_t)(dot - topic));
    size_t n = 0;
    const pl_conf_key *keys = pl_machine_keys(section, &n);
    for (size_t i = 0; i < n; i++) {
        if (strcmp(keys[i].key, dot + 1) != 0) continue;
        text t = {.arena = gpu->explanations};
        append(&t, "%s - key of a machine file, section [%s]\n\n", topic, section);
        if (keys[i].about) paragraph(&t, keys[i].about, 2);
        if (keys[i].unit && *keys[i].unit) append(&t, "  unit: %s\n", keys[i].unit);
        if (keys[i].words) append(&t, "  one of: %s\n", keys[i].words);
        if (keys[i].min != 0 || keys[i].max != 0)
            append(&t, "  range: %g to %g\n", keys[i].min, keys[i].max);
        append(&t, "\n");
        for (const pl_machine_text *m = pl_machine_texts; m->name; m++)
            machine_value(gpu, &t, m, section, keys[i].key);
        return finish(&t);
    }
    return NULL;
}

static void section_key(text *t, const char *section, const char *key, const char *about)
{
    paragraph(
        t,
        pl_arena_printf(t->arena, "%s.%s%s%s", section, key, about ? ": " : "", about ? about : ""),
        2);
}

/* Lists the keys of a section. Where the model accepts any key, lists those of the built-in
 * machines. */
static const char *machine_section(pl_gpu *gpu, const char *topic)
{
    size_t n = 0;
    const pl_conf_key *keys = pl_machine_keys(topic, &n);
    text t = {.arena = gpu->explanations};
    pl_map listed;
    pl_map_init(&listed, gpu->explanations);
    append(&t, "%s - section of a machine file; its keys are\n\n", topic);
    bool found = false;
    for (const pl_machine_text *m = pl_machine_texts; m->name; m++) {
        pl_diags ignored;
        pl_conf *c;
        pl_diags_init(&ignored, gpu->explanations);
        if (pl_conf_read(gpu->explanations, &ignored, m->name, m->text, m->size, &c) != PL_OK)
            continue;
        for (size_t i = 0; i < c->entry.n; i++) {
            const pl_conf_entry *e = &c->entry.at[i];
            if (strcmp(e->section, topic) != 0) continue;
            found = true;
            if (!keys && !pl_map_put(&listed, e->key, strlen(e->key), &listed))
                section_key(&t, topic, e->key, NULL);
        }
    }
    for (size_t i = 0; found && i < n; i++) section_key(&t, topic, keys[i].key, keys[i].about);
    return found ? finish(&t) : NULL;
}

/* Lists the tables, or the other metrics, that a formula reads: the names after FROM and JOIN, each
 * once. */
static void append_sources(pl_gpu *gpu, text *t, const char *formula, bool metrics)
{
    pl_map seen;
    pl_map_init(&seen, gpu->explanations);
    for (const char *p = formula; *p; p++) {
        bool from = strncmp(p, "FROM ", 5) == 0 || strncmp(p, "JOIN ", 5) == 0,
             launch = strncmp(p, "k.", 2) == 0;
        if (launch)
            launch =
                p == formula || !(isalnum((unsigned char)p[-1]) || p[-1] == '_' || p[-1] == '.');
        if (!from && !launch) continue;
        const char *name = from ? p + 5 : "kernel";
        bool quoted = *name == '"';
        name += quoted;
        size_t n = quoted ? strcspn(name, "\"") : strspn(name, "abcdefghijklmnopqrstuvwxyz_");
        if (quoted != metrics || n == 0 || pl_map_put(&seen, name, n, &seen)) continue;
        append(t, "%s%.*s", seen.n == 1 ? (metrics ? "\n  other metrics: " : "\n  tables: ") : ", ",
               (int)n, name);
    }
    if (seen.n) append(t, "\n");
}

static const char *metric(pl_gpu *gpu, const char *topic)
{
    const pl_tracedb_metric *m = pl_tracedb_metric_find(topic);
    if (!m) return NULL;
    text t = {.arena = gpu->explanations};
    append(&t, "%s - metric (%s)%s%s\n\n", m->name, m->family, m->unit && *m->unit ? ", in " : "",
           m->unit ? m->unit : "");
    if (m->meaning) paragraph(&t, m->meaning, 2);
    if (strcmp(m->formula, "NULL") == 0) {
        append(&t, "\n  it has no value: nothing in the model corresponds to it\n");
    } else {
        append(&t, "\n  computed from a trace as\n");
        paragraph(&t, m->formula, 4);
        append_sources(gpu, &t, m->formula, false);
        append_sources(gpu, &t, m->formula, true);
        append(
            &t,
            "  k is the launch's row of the table kernel; ptxloom-trace(5) explains the tables\n");
    }
    return finish(&t);
}

static const char *named_query(pl_gpu *gpu, const char *topic)
{
    const pl_tracedb_query *q = pl_tracedb_queries;
    while (q->name && strcmp(q->name, topic) != 0) q++;
    if (!q->name) return NULL;
    text t = {.arena = gpu->explanations};
    append(&t, "%s - query of a trace: ptxloom query FILE.db %s\n\n", q->name, q->name);
    paragraph(&t, q->title, 2);
    append(&t, "\n  its SQL: ptxloom query FILE.db \"SELECT sql FROM query WHERE name = '%s'\"\n",
           q->name);
    return finish(&t);
}

/* Rules are named by their words: "small grid" or small_grid. */
static const char *advice_rule(pl_gpu *gpu, const char *topic)
{
    char *words = pl_arena_strdup(gpu->explanations, topic);
    for (char *p = words; p && *p; p++)
        if (*p == '_') *p = ' ';
    const pl_tracedb_rule *r = pl_tracedb_rules;
    while (words && r->name && strcmp(r->name, words) != 0) r++;
    if (!words || !r->name) return NULL;
    text t = {.arena = gpu->explanations};
    append(&t, "%s - rule of the query advice; its share is a share of %s\n\n", r->name, r->of);
    paragraph(&t, r->title, 2);
    append(&t, "\n  what to try, and how to see that it helped\n");
    paragraph(&t, r->check, 4);
    append(&t, "\n  its SQL: ptxloom query FILE.db \"SELECT sql FROM rule WHERE name = '%s'\"\n",
           r->name);
    return finish(&t);
}

static const char *const pass_kinds[] = {
    [PL_PASS_CODE] = "runs on the instruction list",
    [PL_PASS_IR] = "runs on the block graph at -O2",
    [PL_PASS_LAUNCH] = "runs at launch, for the machine",
    [PL_PASS_NESTED] = "runs inside other passes",
};

static const char *pass(pl_gpu *gpu, const char *topic)
{
    const pl_pass_id id = pl_pass_find(topic, strlen(topic));
    if (id == PL_PASS_COUNT) return NULL;
    const pl_pass_info *p = &pl_passes[id];
    text t = {.arena = gpu->explanations};
    append(&t, "%s - pass of the assembler, in %s\n\n", p->name, p->file);
    paragraph(&t, p->summary, 2);
    append(&t, "\n  %s", pass_kinds[p->kind]);
    unsigned runs = 0;
    for (uint32_t k = 0; k < pl_pass_pipeline_length; k++)
        if (pl_pass_pipeline[k] == id) append(&t, "%s%u", runs++ ? " and " : ", as number ", k + 1);
    if (runs) append(&t, " of %u", pl_pass_pipeline_length);
    if (p->kind == PL_PASS_IR || p->kind == PL_PASS_CODE)
        append(&t, "\n  see its result: ptxloom as K.ptx --print-after=%s", p->name);
    append(&t,
           p->required ? "\n  it cannot be skipped\n"
                       : "\n  leave it out: ptxloom as K.ptx --skip-pass=%s\n",
           p->name);
    return finish(&t);
}

static const char *all_passes(pl_gpu *gpu, const char *topic)
{
    if (strcmp(topic, "passes") != 0) return NULL;
    text t = {.arena = gpu->explanations};
    append(&t, "passes of the assembler, in order; * cannot be skipped\n\n");
    for (uint32_t k = 0; k < pl_pass_pipeline_length; k++) {
        const pl_pass_info *p = &pl_passes[pl_pass_pipeline[k]];
        append(&t, "%4u  %s%s\n", k + 1, p->name, p->required ? " *" : "");
        paragraph(&t, p->summary, 10);
    }
    for (uint32_t k = 0; k < PL_PASS_COUNT; k++)
        if (pl_passes[k].kind >= PL_PASS_LAUNCH) {
            append(&t, "      %s (%s)\n", pl_passes[k].name, pass_kinds[pl_passes[k].kind]);
            paragraph(&t, pl_passes[k].summary, 10);
        }
    return finish(&t);
}

/* A stall reason, as traces name it, or as Nsight Compute does: stall_long_scoreboard. */
static const char *stall_reason(pl_gpu *gpu, const char *topic)
{
    static const struct {
        const char *word, *meaning;
    } reason[] = {
#define X(name, word, text) {word, text},
        PL_STALLS(X)
#undef X
    };
    if (strncmp(topic, "stall_", 6) == 0) topic += 6;
    for (size_t k = 0; k < sizeof reason / sizeof *reason; k++) {
        if (strcmp(reason[k].word, topic) != 0) continue;
        text t = {.arena = gpu->explanations};
        append(&t, "%s - why a warp does not issue (stall reason)\n\n", topic);
        paragraph(&t, reason[k].meaning, 2);
        append(&t, "\n  ptxloom query F.db stalls counts the cycles by reason, stalls_by_line and\n"
                   "  stalls_by_source by line\n");
        return finish(&t);
    }
    return NULL;
}

/* Compares in the spelling of the glossary: "bank_conflict", "Bank conflicts" match "bank
 * conflict". */
static bool is_term(const char *term, const char *topic)
{
    const size_t n = strlen(term);
    for (size_t k = 0; k < n; k++) {
        const char a = term[k] == '-' ? ' ' : (char)tolower((unsigned char)term[k]);
        const char b =
            topic[k] == '_' || topic[k] == '-' ? ' ' : (char)tolower((unsigned char)topic[k]);
        if (a != b) return false;
    }
    return topic[n] == '\0' || (topic[n] == 's' && topic[n + 1] == '\0');
}

static const char *glossary(pl_gpu *gpu, const char *topic)
{
    const pl_glossary_entry *e = pl_glossary;
    while (e->term && !is_term(e->term, topic)) e++;
    if (!e->term) return NULL;
    text t = {.arena = gpu->explanations};
    append(&t, "%s - term of the glossary\n\n", e->term);
    paragraph(&t, e->meaning, 2);
    return finish(&t);
}

static const char *cuda_error(pl_gpu *gpu, const char *topic)
{
    const char *about = NULL, *cause;
    const int number = pl_cuda_error_number(topic);
    if (number < 0) return NULL;
    const char *driver = pl_cuda_driver_error(number, &about),
               *runtime = pl_cuda_error(number, &about);
    text t = {.arena = gpu->explanations};
    append(&t, "%s (%d) - error of CUDA programs\n\n", runtime ? runtime : driver, number);
    if (runtime && driver) append(&t, "  in the driver API: %s\n", driver);
    append(&t, "  text: %s\n", about);
    if ((cause = pl_cuda_error_cause(number)) != NULL) {
        append(&t, "\n");
        paragraph(&t, cause, 2);
    }
    return finish(&t);
}

/* Returns the names of metrics that begin with the topic, at most `most`; NULL: none. */
static const char *names_with_prefix(pl_gpu *gpu, const char *topic, unsigned max)
{
    const char *list = NULL;
    const size_t n = strlen(topic);
    unsigned found = 0;
    for (const pl_tracedb_metric *m = pl_tracedb_metrics; m->name && n >= 3; m++) {
        if (strncmp(m->name, topic, n) != 0) continue;
        if (found++ < max)
            list = list ? pl_arena_printf(gpu->messages, "%s, %s", list, m->name) : m->name;
    }
    return list ? pl_arena_printf(gpu->messages, "metrics with this prefix: %s%s", list,
                                  found > max ? ", ..." : "")
                : NULL;
}

/* The first line is the title; of the others, those without indentation are paragraphs. */
static const char *finding_kind(pl_gpu *gpu, const char *topic)
{
    const char *s = pl_check_explain(gpu, topic), *end = s ? strchr(s, '\n') : NULL;
    text t = {.arena = gpu->explanations};
    if (!end) return s;
    append(&t, "%.*s\n", (int)(end - s), s);
    for (s = end + 1; *s; s = end + (*end == '\n')) {
        end = s + strcspn(s, "\n");
        if (*s == ' ' || *s == '\n')
            append(&t, "%.*s\n", (int)(end - s), s);
        else
            paragraph(&t, pl_arena_strndup(gpu->explanations, s, (size_t)(end - s)), 2);
    }
    return finish(&t);
}

/* `sync` is a section and a checker. */
static const char *section_or_checker(pl_gpu *gpu, const char *topic)
{
    const char *section = machine_section(gpu, topic), *checker = finding_kind(gpu, topic);
    return section && checker ? pl_arena_printf(gpu->explanations, "%s\n%s", checker, section)
           : section          ? section
                              : checker;
}

/* The names of all tables. *words of them can be followed by modifiers or components. */
static const char **all_names(pl_gpu *gpu, size_t *words, size_t *count)
{
    size_t n = 0, cap = pl_nmnems + pl_nsregs + pl_ndirectives;
    for (const pl_tracedb_metric *m = pl_tracedb_metrics; m->name; m++) cap++;
    for (const pl_tracedb_query *q = pl_tracedb_queries; q->name; q++) cap++;
    for (const pl_glossary_entry *e = pl_glossary; e->term; e++) cap++;
    for (size_t k = 0; pl_cuda_error_name(k); k++) cap++;
    const char **name = pl_arena_array(gpu->messages, const char *, cap + 1);
    for (unsigned i = 0; i < pl_nmnems; i++) name[n++] = pl_mnems[i].name;
    for (unsigned i = 0; i < pl_nsregs; i++)
        name[n++] = pl_arena_printf(gpu->messages, "%%%s", pl_sregs[i].name);
    *words = n;
    for (unsigned i = 0; i < pl_ndirectives; i++) name[n++] = pl_directives[i].name;
    for (const pl_tracedb_metric *m = pl_tracedb_metrics; m->name; m++) name[n++] = m->name;
    for (const pl_tracedb_query *q = pl_tracedb_queries; q->name; q++) name[n++] = q->name;
    for (const pl_glossary_entry *e = pl_glossary; e->term; e++) name[n++] = e->term;
    for (size_t k = 0; pl_cuda_error_name(k); k++) name[n++] = pl_cuda_error_name(k);
    *count = n;
    return name;
}

/* Reports an unknown topic, with the nearest names of all tables. */
static void report_unknown(pl_gpu *gpu, const char *topic)
{
    size_t words, n;
    const char **name = all_names(gpu, &words, &n);
    const char *longer = names_with_prefix(gpu, topic, 4),
               *nearest = longer ? NULL : pl_nearest(topic, name, n);
    const char *machine = NULL;
    for (size_t k = 0; pl_gpu_builtin(k); k++)
        if (strcmp(topic, pl_gpu_builtin(k)) == 0)
            machine = pl_arena_printf(gpu->messages,
                                      "it is a machine: ptxloom run kernel.ptx ... --arch %s; "
                                      "`ptxloom explain l1` lists keys of its file",
                                      topic);
    if (!nearest && !longer)
        nearest =
            pl_nearest(pl_arena_strndup(gpu->messages, topic, strcspn(topic, ".")), name, words);
    pl_diag *d = pl_report(&gpu->diags, PL_E0008, (pl_loc){.file = UINT32_MAX}, topic);
    d->help = machine   ? machine
              : longer  ? longer
              : nearest ? pl_arena_printf(gpu->messages, "did you mean '%s'?", nearest)
                        : pl_diag_explanation(PL_E0008);
}

const char *pl_explain(pl_gpu *gpu, const char *topic)
{
    PL_GUARD(pl_gpu_no_memory(gpu, "while explaining"); return NULL)
    static const char *(*const table[])(pl_gpu *, const char *) = {
        diagnostic,         metric,   machine_key, instruction,  named_query, advice_rule,
        section_or_checker, pass,     all_passes,  stall_reason, cuda_error,  glossary,
        special_register,   directive};
    if (!open_explanations(gpu)) return NULL;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const char *found = table[i](gpu, topic);
        if (found) return found;
    }
    report_unknown(gpu, topic);
    return NULL;
}
