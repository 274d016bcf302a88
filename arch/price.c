/* price.c - parses the [price] lines of a machine description: the costs of instruction classes.
 *
 * "alu*9 imad*4 xu*3 @130" lists hardware instructions with their counts. "tensor:6" occupies a
 * unit for this many cycles without an instruction. "@130" is the total latency; without it, the
 * latencies are summed. "-" means nothing. */
#include "arch/machine_parts.h"
#include "isa/table/form.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LATENCY = 100000 /* cycles */, MAX_COUNT = 10000 };

#define OP_WORD(name, word, text)           word,
#define PIPE_WORD(name, word, shared, text) word,
/* A list for messages. */
#define SPACE_OP_WORD(name, word, text)           " " word
#define SPACE_PIPE_WORD(name, word, shared, text) " " word

const char *const pl_op_words[PL_OP_COUNT] = {PL_OPS(OP_WORD)};
static const char *const pipe_words[] = {PL_PIPES(PIPE_WORD)};

/* A price that is being read. */
typedef struct price_reader {
    const pl_machine *m;
    pl_price *p;
    uint32_t latency_sum; /* of the instructions so far */
    uint32_t issue_slots; /* issues without a unit: they are those of units occupied by ':' */
    uint32_t cross_pipe_latency; /* of the last instruction */
    long latency;                /* the total given by '@'; -1: none */
} price_reader;

static int word_index(const char *const *words, size_t n, const char *s, size_t len)
{
    for (size_t i = 0; i < n; i++) {
        if (strlen(words[i]) == len && strncmp(words[i], s, len) == 0) return (int)i;
    }
    return -1;
}

static bool occupy_pipe(pl_price *p, int pipe, double cycles, uint32_t n)
{
    if (cycles <= 0) return true;
    for (uint32_t i = 0; i < p->npipes; i++) {
        if (p->pipe[i].pipe != pipe) continue;
        p->pipe[i].cycles = (uint16_t)(p->pipe[i].cycles + cycles + 0.5);
        p->pipe[i].n = (uint8_t)(p->pipe[i].n + n);
        return true;
    }
    if (p->npipes == sizeof p->pipe / sizeof *p->pipe) return false;
    p->pipe[p->npipes].pipe = (uint8_t)pipe;
    p->pipe[p->npipes].cycles = (uint16_t)(cycles + 0.5);
    p->pipe[p->npipes].n = (uint8_t)n;
    p->npipes++;
    return true;
}

/* The functions below return NULL, or a description of the error. */

/* Adds n cycles of a unit. */
static const char *add_unit(price_reader *r, const char *word, size_t len, long n)
{
    const int pipe = word_index(pipe_words, PL_PIPE_COUNT, word, len);
    if (pipe < 0) return "the word before ':' must be a unit:" PL_PIPES(SPACE_PIPE_WORD);
    return occupy_pipe(r->p, pipe, (double)n, r->issue_slots ? r->issue_slots : 1)
               ? NULL
               : "too many different units";
}

/* Adds n hardware instructions. */
static const char *add_instructions(price_reader *r, const char *word, size_t len, long n)
{
    const int op = word_index(pl_op_words, PL_OP_COUNT, word, len);
    if (op < 0) return "the words are hardware instructions:" PL_OPS(SPACE_OP_WORD);
    const pl_op_cost *c = &r->m->op[op];
    pl_price *p = r->p;
    const uint32_t count = (uint32_t)n;
    p->issues += count;
    if (op == PL_OP_ISSUE) r->issue_slots += count;
    if (op == PL_OP_BRANCH) p->branches += count;
    r->latency_sum += count * c->latency;
    if (c->pipe < PL_PIPE_COUNT && !occupy_pipe(p, c->pipe, (double)n * c->interval, count))
        return "too many different units";
    if (c->pipe == PL_PIPE_HEAVY && !occupy_pipe(p, PL_PIPE_FMA, (double)n, count))
        return "too many different units";
    p->warp_reissue += count * c->warp_reissue;
    r->cross_pipe_latency = c->cross_pipe_latency;
    if (c->pipe == PL_PIPE_XU || c->pipe == PL_PIPE_MIO || c->pipe == PL_PIPE_ADU ||
        c->pipe == PL_PIPE_LSU)
        p->variable = true;
    return NULL;
}

/* Reads the word at *s, and its count. */
static const char *read_word(price_reader *r, const char **s)
{
    const char *word = *s;
    const size_t len = strcspn(word, " \t\r\n\v\f*:");
    *s += len;
    if (len == 1 && *word == '-') return NULL;
    if (*word == '@') {
        r->latency = strtol(word + 1, NULL, 10);
        return r->latency < 0 || r->latency > MAX_LATENCY ? "a latency is @ and a number of cycles"
                                                          : NULL;
    }
    const char kind = **s;
    long n = 1;
    if (kind == '*' || kind == ':') {
        char *end;
        n = strtol(*s + 1, &end, 10);
        if (end == *s + 1 || n < 0 || n > MAX_COUNT) return "a count is a number from 0 to 10000";
        *s = end;
    }
    return kind == ':' ? add_unit(r, word, len, n) : add_instructions(r, word, len, n);
}

static const char *read_price(const pl_machine *m, const char *s, pl_price *p)
{
    price_reader r = {.m = m, .p = p, .latency = -1};
    *p = (pl_price){0};
    for (;;) {
        while (isspace((unsigned char)*s)) s++;
        if (!*s) break;
        const char *wrong = read_word(&r, &s);
        if (wrong) return wrong;
    }
    p->latency = r.latency >= 0 ? (uint32_t)r.latency : r.latency_sum;
    p->cross_pipe_latency =
        p->issues == 1 && r.latency < 0 && r.cross_pipe_latency ? r.cross_pipe_latency : p->latency;
    p->ends = p->branches > 0 && r.latency > 0;
    return NULL;
}

/* Parses one [price] line; false with a diagnostic. */
static bool read_line(const pl_machine *m, pl_diags *d, const pl_conf_entry *e, pl_price *out)
{
    const char *wrong = read_price(m, e->value, out);
    if (wrong) pl_report(d, PL_E0513, e->value_at, e->key, e->value, wrong);
    return !wrong;
}

/* Reads the lines of classes without a price. read: by entry, set for these lines; or NULL. */
static bool read_classes(pl_machine *m, pl_conf *c, pl_diags *d, bool *priced, bool *read)
{
    bool ok = true;
    for (unsigned k = 0; k < C_count; k++) {
        const pl_conf_entry *e = pl_conf_find(c, "price", pl_class_text[k]);
        if (!e || priced[k]) continue;
        priced[k] = true;
        if (read) read[e - c->entry.at] = true;
        ok &= read_line(m, d, e, &m->price[k]);
    }
    return ok;
}

bool pl_prices_read(pl_machine *m, pl_conf *c, pl_diags *d, bool *priced)
{
    bool *read = pl_arena_array(c->arena, bool, c->entry.n + 1);
    struct {
        pl_conf_key *at;
        size_t n, cap;
    } keys = {0};
    if (!read) return false;
    bool ok = read_classes(m, c, d, priced, read);
    for (size_t k = 0; k < c->entry.n; k++) {
        const pl_conf_entry *e = &c->entry.at[k];
        pl_price unused;
        if (strcmp(e->section, "price") != 0) continue;
        if (!read[k]) ok &= read_line(m, d, e, &unused);
        *pl_push(c->arena, &keys) = (pl_conf_key){.key = e->key,
                                                  .type = PL_CONF_TEXT,
                                                  .unit = "",
                                                  .about = "hardware instructions of the class",
                                                  .offset = keys.n * sizeof(char *)};
    }
    const char **text = pl_arena_array(c->arena, const char *, keys.n + 1);
    if (!pl_arena_ok(c->arena)) return false;
    if (keys.n) ok &= pl_conf_bind(c, "price", keys.at, keys.n, text);
    return ok;
}

bool pl_prices_complete(pl_machine *m, pl_conf *c, pl_diags *d, bool *priced)
{
    return read_classes(m, c, d, priced, NULL);
}

void pl_prices_inherit(pl_machine *m, bool *priced)
{
    for (unsigned k = 0; k < C_count; k++) {
        const uint16_t other = pl_classes[k].price_as;
        if (priced[k] || other == C_count || !priced[other]) continue;
        m->price[k] = m->price[other];
        priced[k] = true;
    }
}
