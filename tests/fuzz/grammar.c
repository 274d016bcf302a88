/* grammar.c - random PTX from the instruction table (see grammar.h). */
#include "tests/fuzz/grammar.h"

#include "isa/table/form.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t grammar_below(grammar *g, size_t n)
{
    uint64_t z = g->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    return n ? (size_t)(z % n) : 0;
}

static bool chance(grammar *g, unsigned percent)
{
    return grammar_below(g, 100) < percent;
}

void grammar_add(grammar *g, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    int n = vsnprintf(NULL, 0, format, ap);
    va_end(ap);
    if (g->n + (size_t)n + 1 > g->cap) {
        g->cap = (g->cap + (size_t)n + 256) * 2;
        g->at = realloc(g->at, g->cap);
        if (!g->at) exit(EXIT_FAILURE);
    }
    va_start(ap, format);
    vsnprintf(g->at + g->n, g->cap - g->n, format, ap);
    va_end(ap);
    g->n += (size_t)n;
}

void grammar_free(grammar *g)
{
    free(g->at);
    g->at = NULL;
    g->n = g->cap = 0;
}

#define PICK(g, list) ((list)[grammar_below((g), sizeof(list) / sizeof *(list))])

/* ---- registers ---- */

/* Ten registers of each: %r0 to %r9. */
static const struct reg {
    const char *stem, *type;
    unsigned since;
} regs[] = {
    {"%rs", "b16", 10},   {"%r", "b32", 10},  {"%rd", "b64", 10},  {"%f", "f32", 10},
    {"%fd", "f64", 10},   {"%p", "pred", 10}, {"%rq", "b128", 83}, {"%h", "f16", 42},
    {"%hh", "f16x2", 42}, {"%us", "u16", 10}, {"%ss", "s16", 10},  {"%u", "u32", 10},
    {"%s", "s32", 10},    {"%ud", "u64", 10}, {"%sd", "s64", 10},  {"%c", "b8", 10},
};

void grammar_frame(grammar *g, unsigned version, const char *target)
{
    grammar_add(g, ".version %u.%u\n.target %s\n.address_size 64\n", version / 10, version % 10,
                target);
    grammar_add(g, ".global .align 16 .b32 gvar[64];\n.const .align 16 .b32 cvar[64];\n");
    grammar_add(g, ".global .texref gtex;\n.global .surfref gsurf;\n");
    grammar_add(
        g, ".func foo() { ret; }\n.func (.reg .b32 rv) bar(.reg .b32 x) { mov.b32 rv, x; ret; }\n");
    grammar_add(g, ".visible .entry k(.param .u64 pa)\n{\n.shared .align 16 .b32 svar[64];\n.local "
                   ".align 16 .b32 lvar[64];\n");
    for (size_t k = 0; k < sizeof regs / sizeof *regs; k++)
        if (version >= regs[k].since &&
            (regs[k].since != 42 || strtoul(target + 3, NULL, 10) >= 53) &&
            (regs[k].since != 83 || strtoul(target + 3, NULL, 10) >= 70))
            grammar_add(g, ".reg .%s %s<10>;%s", regs[k].type, regs[k].stem,
                        k % 4 == 3 ? "\n" : " ");
    grammar_add(g, "\n");
}

static void add_register(grammar *g, const struct reg *r)
{
    grammar_add(g, "%s%zu", r->stem, 1 + grammar_below(g, 8));
}

/* Usually a register that fits the type, preferably the untyped one of its width. */
static void typed_register(grammar *g, pl_word type)
{
    int bits = pl_type_bits(type);
    char kind = pl_type_kind(type);
    const struct reg *fits[16];
    size_t n = 0;
    for (size_t k = 0; k < sizeof regs / sizeof *regs; k++) {
        pl_word w = pl_word_find(regs[k].type, strlen(regs[k].type));
        if (pl_type_bits(w) == (bits < 8 ? 8 : bits) && (kind == 'p') == (pl_type_kind(w) == 'p'))
            fits[n++] = &regs[k];
    }
    if (!n) {
        add_register(g, &PICK(g, regs));
        return;
    }
    for (unsigned tries = 0; tries < 6; tries++) {
        const struct reg *r = fits[grammar_below(g, n)];
        pl_word w = pl_word_find(r->type, strlen(r->type));
        if (w == type || (pl_type_kind(w) == 'b' && kind != 'f') ||
            (pl_type_kind(w) == 'b' && bits != 32 && bits != 64) || chance(g, 12)) {
            add_register(g, r);
            return;
        }
    }
    add_register(g, fits[grammar_below(g, n)]);
}

/* ---- constants ---- */

static void integer(grammar *g)
{
    static const char *const some[] = {
        "0",           "1",           "-1",         "2",
        "3",           "4",           "7",          "8",
        "15",          "16",          "31",         "32",
        "63",          "64",          "100",        "127",
        "128",         "255",         "256",        "512",
        "1024",        "32767",       "32768",      "65535",
        "65536",       "0x7fffffff",  "0x80000000", "0xffffffff",
        "0x100000000", "-2147483648", "-32768",     "(1+2)",
        "2*3",         "1<<4",        "WARP_SZ",    "5U",
        "~0",          "!1",          "7/2",        "-7%3",
        "0b101",       "017",         "(1>2)?3:4",  "0x7fffffffffffffff"};
    grammar_add(g, "%s", PICK(g, some));
}

static void floating(grammar *g)
{
    static const char *const some[] = {
        "1.0",  "0.5",    "-2.0",       "0f3F800000",        "0d3FF0000000000000",
        "1e10", "1.5e-3", "0F00000000", "0D0000000000000000"};
    grammar_add(g, "%s", PICK(g, some));
}

static void ranged(grammar *g, int64_t low, int64_t high)
{
    if (low > high) {
        integer(g);
        return;
    }
    switch (grammar_below(g, 12)) {
    case 0: grammar_add(g, "%lld", (long long)low); break;
    case 1: grammar_add(g, "%lld", (long long)high); break;
    case 2: grammar_add(g, "%lld", (long long)low - 1); break;
    case 3: grammar_add(g, "%lld", (long long)high + 1); break;
    case 4: integer(g); break;
    default:
        grammar_add(g, "%lld",
                    (long long)(low + (int64_t)grammar_below(g, (size_t)(high - low + 1))));
        break;
    }
}

/* ---- operands ---- */

static const char *const names[] = {"gvar",    "cvar",     "svar",  "lvar",    "pa",
                                    "foo",     "gtex",     "gsurf", "L9",      "%tid.x",
                                    "%laneid", "%clock64", "%tid",  "nothing", "WARP_SZ"};

/* An operand of a different kind than required. */
static void anything(grammar *g)
{
    switch (grammar_below(g, 9)) {
    case 0: integer(g); break;
    case 1: floating(g); break;
    case 2: grammar_add(g, "%s", PICK(g, names)); break;
    case 3: grammar_add(g, "[%%rd%zu+%zu]", grammar_below(g, 10), 4 * grammar_below(g, 5)); break;
    case 4: grammar_add(g, "{%%r1,%%r2}"); break;
    case 5: grammar_add(g, "_"); break;
    case 6: grammar_add(g, "%s%%p%zu", chance(g, 50) ? "!" : "", grammar_below(g, 10)); break;
    default: add_register(g, &PICK(g, regs)); break;
    }
}

static void address(grammar *g, pl_word space, bool tensor)
{
    static const char *const offsets[] = {"", "", "", "+4", "+16", "+-8", "+0x100", "+1"};
    const char *text = pl_word_text[space], *name = NULL;
    grammar_add(g, "[");
    if (tensor) {
        if (chance(g, 92))
            grammar_add(g, "%%r%zu", grammar_below(g, 10));
        else
            anything(g);
    } else if (chance(g, 6)) {
        static const char *const strange[] = {"gvar", "cvar", "svar", "lvar", "pa",  "%f1",   "%p1",
                                              "%rs1", "64",   "0",    "gtex", "foo", "%tid.x"};
        grammar_add(g, "%s", PICK(g, strange));
    } else {
        if (!strncmp(text, "shared", 6)) name = "svar";
        if (!strcmp(text, "global")) name = "gvar";
        if (!strcmp(text, "const")) name = "cvar";
        if (!strcmp(text, "local")) name = "lvar";
        if (!strncmp(text, "param", 5)) name = "pa";
        if (name && chance(g, name[0] == 'p' ? 90 : 25))
            grammar_add(g, "%s", name);
        else if (!strncmp(text, "shared", 6) && chance(g, 50))
            grammar_add(g, "%%r%zu", grammar_below(g, 10));
        else
            grammar_add(g, "%%rd%zu", grammar_below(g, 10));
    }
    grammar_add(g, "%s]", PICK(g, offsets));
}

static void value(grammar *g, const pl_ospec *s, pl_word type)
{
    if (chance(g, 5)) {
        anything(g);
        return;
    }
    if (s->sink_ok && chance(g, 8)) {
        grammar_add(g, "_");
        return;
    }
    if (s->read && !s->written && chance(g, s->reg_only ? 4 : 18)) {
        char kind = pl_type_kind(type);
        if (kind == 'f' ? chance(g, 85) : chance(g, 4))
            floating(g);
        else
            ranged(g, s->lo, s->hi);
        return;
    }
    if (s->kind == PL_K_VAR && chance(g, 20)) {
        grammar_add(g, "%s%s", PICK(g, names), chance(g, 20) ? "+4" : "");
        return;
    }
    if (s->negatable ? chance(g, 30) : chance(g, 1)) grammar_add(g, "!");
    typed_register(g, type);
}

static void operand(grammar *g, const pl_form *f, unsigned k, const uint16_t *mods, pl_word space)
{
    const pl_ospec *s = &f->operand[k];
    pl_word type = pl_operand_type(f, k, mods);
    int count = pl_operand_count(f, k, mods);
    if (chance(g, 3)) {
        anything(g);
        return;
    }
    switch ((pl_okind)s->kind) {
    case PL_K_IMM: ranged(g, s->lo, s->hi); return;
    case PL_K_ADDR: address(g, space, type == W_b32); return;
    case PL_K_LABEL: grammar_add(g, "%s", chance(g, 85) ? "L9" : PICK(g, names)); return;
    case PL_K_LABELS:
    case PL_K_PROTO: grammar_add(g, "%s", PICK(g, names)); return;
    case PL_K_FUNC: grammar_add(g, "%s", chance(g, 80) ? "foo" : PICK(g, names)); return;
    case PL_K_ARGS:
    case PL_K_RETS: grammar_add(g, "()"); return;
    case PL_K_OPAQUE: grammar_add(g, "[%s", chance(g, 50) ? "%rd1" : PICK(g, names)); return;
    default: break;
    }
    if (!count) {
        value(g, s, type);
        return;
    }
    if (chance(g, 6)) count += chance(g, 50) ? 1 : count > 1 ? -1 : 1;
    if (count == 1 && chance(g, 30)) {
        value(g, s, type);
        return;
    }
    grammar_add(g, "{");
    bool strange = chance(g, 15);
    size_t first = grammar_below(g, 8);
    const char *stem = NULL; /* registers of one kind, as written by compilers */
    for (size_t j = 0; !stem; j++) {
        const struct reg *r = &PICK(g, regs);
        pl_word w = pl_word_find(r->type, strlen(r->type));
        if (j > 40 ||
            (pl_type_bits(w) == pl_type_bits(type) && (w == type || pl_type_kind(w) == 'b')))
            stem = r->stem;
    }
    for (int e = 0; e < count; e++) {
        if (e) grammar_add(g, ",");
        if (strange)
            value(g, s, type);
        else
            grammar_add(g, "%s%zu", stem, (first + (size_t)e) % 10);
    }
    grammar_add(g, "}");
}

/* ---- statements ---- */

enum { MOST_WORDS = PL_MAX_SLOTS + 2 };

typedef struct words {
    pl_word at[MOST_WORDS];
    unsigned n;
} words;

static pl_word space_word(const words *w)
{
    pl_word space = W_none;
    for (unsigned k = 0; k < w->n; k++) switch (w->at[k]) {
        case W_const:
        case W_global:
        case W_local:
        case W_param:
        case W_param__entry:
        case W_param__func:
        case W_shared:
        case W_shared__cta:
        case W_shared__cluster: space = w->at[k]; break;
        default: break;
        }
    return space;
}

/* Words for every slot; several tries to satisfy the form's conditions, since many combinations are
 * rejected. */
static void choose_words(grammar *g, const pl_form *f, uint16_t *mods)
{
    for (unsigned tries = 0; tries < 12; tries++) {
        bool good = true;
        memset(mods, 0, PL_MAX_SLOTS * sizeof *mods);
        for (unsigned k = 0; k < f->nslots; k++)
            if (!f->slot[k].optional || chance(g, 35))
                mods[k] = f->slot[k].word[grammar_below(g, f->slot[k].n)];
        for (unsigned k = 0; k < f->nwhere; k++)
            if (f->where[k].holds && !f->where[k].holds(mods)) good = false;
        if (good || chance(g, 8)) return;
    }
}

static void damage_words(grammar *g, const pl_mnem_info *m, words *w)
{
    unsigned k = (unsigned)grammar_below(g, w->n ? w->n : 1),
             j = (unsigned)grammar_below(g, w->n ? w->n : 1);
    const pl_form *f = &pl_forms[m->first + grammar_below(g, m->count)];
    pl_word other = W_none;
    if (f->nslots) {
        const pl_slot *s = &f->slot[grammar_below(g, f->nslots)];
        other = s->word[grammar_below(g, s->n)];
    }
    switch (grammar_below(g, 7)) {
    case 0: /* one missing */
        if (!w->n) return;
        memmove(w->at + k, w->at + k + 1, (w->n - k - 1) * sizeof *w->at);
        w->n--;
        return;
    case 1: /* one repeated */
        if (!w->n || w->n == MOST_WORDS) return;
        w->at[w->n++] = w->at[k];
        return;
    case 2: /* two swapped */
    case 3:
        if (w->n) {
            pl_word t = w->at[k];
            w->at[k] = w->at[j];
            w->at[j] = t;
        }
        return;
    case 4: /* another word of the same instruction */
        if (w->n && other) w->at[k] = other;
        return;
    case 5: /* any word */
        if (w->n) w->at[k] = (pl_word)(1 + grammar_below(g, W_count - 1));
        return;
    default:
        if (other && w->n < MOST_WORDS) w->at[w->n++] = other;
        return;
    }
}

void grammar_statement(grammar *g)
{
    const pl_mnem_info *m;
    const pl_form *f;
    do { /* every instruction is selected frequently, those of many forms more so */
        bool by_form = chance(g, 40);
        f = &pl_forms[grammar_below(g, pl_nforms)];
        m = by_form ? &pl_mnems[f->mnem] : &pl_mnems[grammar_below(g, pl_nmnems)];
        if (!by_form && m->count) f = &pl_forms[m->first + grammar_below(g, m->count)];
    } while (m->name[0] == '~' || !m->count);
    uint16_t mods[PL_MAX_SLOTS];
    words w = {.n = 0};
    choose_words(g, f, mods);
    for (unsigned k = 0; k < f->nslots; k++)
        if (mods[k]) w.at[w.n++] = (pl_word)mods[k];
    pl_word space = space_word(&w);
    if (chance(g, 25)) damage_words(g, m, &w);
    if (chance(g, 4)) damage_words(g, m, &w);
    if (chance(g, 8)) grammar_add(g, "@%s%%p%zu ", chance(g, 40) ? "!" : "", grammar_below(g, 10));
    grammar_add(g, "%s", m->name);
    for (unsigned k = 0; k < w.n; k++) grammar_add(g, ".%s", pl_word_text[w.at[k]]);
    /* operands, one missing, one too many */
    unsigned most = chance(g, 3) && f->noperands ? f->noperands - 1u : f->noperands, written = 0;
    bool hint = false, inside = false;
    for (unsigned k = 0; k < w.n; k++) hint |= w.at[k] == W_L2__cache_hint;
    for (unsigned k = 0; k < most; k++) {
        const pl_ospec *s = &f->operand[k];
        bool policy = !strcmp(s->name, "policy"),
             coordinate = inside && s->rule && !strcmp(s->name, "c");
        if (inside && !coordinate && s->kind != PL_K_OPAQUE) {
            grammar_add(g, "]");
            inside = false;
        }
        /* A tensor's map and coordinates share the brackets. */
        if (!strcmp(s->name, "map") && chance(g, 97)) {
            grammar_add(g, written++ ? ", [%%rd%zu" : " [%%rd%zu", grammar_below(g, 10));
            inside = true;
            continue;
        }
        if (policy ? hint != chance(g, 95) : s->optional && !s->joined && chance(g, 55)) continue;
        if (s->joined && chance(g, 70)) continue;
        if (s->joined)
            grammar_add(g, "|");
        else
            grammar_add(g, written ? ", " : " ");
        size_t before = g->n;
        if (s->kind == PL_K_OPAQUE && inside) {
            grammar_add(g, "%%rd2");
        } else {
            operand(g, f, k, mods, space);
            if (s->kind == PL_K_OPAQUE && g->at[before] == '[') inside = true;
        }
        written++;
    }
    if (inside) grammar_add(g, "]");
    if (chance(g, 2)) {
        grammar_add(g, written ? ", " : " ");
        anything(g);
    }
    grammar_add(g, ";");
}

/* ---- one operand at a time ---- */

/* Possible replacements of an operand; after the registers. */
static const char *const instead[] = {
    "5",          "-1",     "300",    "0x1ffffffff", "1.5",
    "0f3F800000", "_",      "!%p1",   "-%r1",        "gvar",
    "cvar",       "svar",   "lvar",   "pa",          "gtex",
    "foo",        "L9",     "%tid.x", "%tid",        "WARP_SZ",
    "%clock64",   "{%r1}",  "{%rs1}", "{%rd1}",      "{5}",
    "[%r1]",      "[%rd1]", "[gvar]", "[svar]",      "[5]",
    "[%rd1+4]",   "%r1+4",  "gvar+4", "(%r1)",       "%r1|%p1",
    "",           "{_}",    "[%rs1]", "[%f1]",       "[lvar]",
    "[cvar]",     "[pa]",   "%r1.b0", "%r1.h1",      "0x8000000000000000"};

static void canonical(grammar *g, const pl_form *f, unsigned k, const uint16_t *mods, pl_word space,
                      const char *stem)
{
    const pl_ospec *s = &f->operand[k];
    pl_word type = pl_operand_type(f, k, mods);
    int count = pl_operand_count(f, k, mods);
    const char *text = pl_word_text[space];
    switch ((pl_okind)s->kind) {
    case PL_K_IMM: grammar_add(g, "%lld", (long long)(s->lo <= s->hi ? s->lo : 1)); return;
    case PL_K_ADDR:
        if (type == W_b32)
            grammar_add(g, "[%%r9]");
        else if (!strncmp(text, "param", 5))
            grammar_add(g, "[pa]");
        else
            grammar_add(g, "[%%rd9]");
        return;
    case PL_K_LABEL: grammar_add(g, "L9"); return;
    case PL_K_LABELS:
    case PL_K_PROTO: grammar_add(g, "nothing"); return;
    case PL_K_FUNC: grammar_add(g, "foo"); return;
    case PL_K_ARGS:
    case PL_K_RETS: grammar_add(g, "()"); return;
    case PL_K_OPAQUE: grammar_add(g, "%%rd1"); return;
    default: break;
    }
    for (size_t r = 0; !stem && r < sizeof regs / sizeof *regs; r++) {
        pl_word w = pl_word_find(regs[r].type, strlen(regs[r].type));
        int bits = pl_type_bits(type) < 8 && pl_type_kind(type) != 'p' ? 8 : pl_type_bits(type);
        if (pl_type_bits(w) == bits && (pl_type_kind(w) == 'p') == (pl_type_kind(type) == 'p'))
            stem = regs[r].stem;
    }
    if (!stem) stem = "%r";
    if (!count) {
        grammar_add(g, "%s%u", stem, k + 1);
        return;
    }
    grammar_add(g, "{");
    for (int e = 0; e < count; e++) grammar_add(g, "%s%s%d", e ? "," : "", stem, e % 10);
    grammar_add(g, "}");
}

void grammar_probe(grammar *g, unsigned form, void (*statement)(grammar *g, void *ctx), void *ctx)
{
    const pl_form *f = &pl_forms[form];
    const pl_mnem_info *m = &pl_mnems[f->mnem];
    size_t nregs = sizeof regs / sizeof *regs, ninstead = sizeof instead / sizeof *instead;
    if (m->name[0] == '~') return;
    for (unsigned at = 0; at < f->noperands; at++)
        for (size_t what = 0; what < nregs + ninstead; what++) {
            uint16_t mods[PL_MAX_SLOTS];
            words w = {.n = 0};
            bool hint = false, inside = false;
            choose_words(g, f, mods);
            for (unsigned k = 0; k < f->nslots; k++) {
                if (mods[k]) w.at[w.n++] = (pl_word)mods[k];
                hint |= mods[k] == W_L2__cache_hint;
            }
            g->n = 0;
            grammar_add(g, "%s", m->name);
            for (unsigned k = 0; k < w.n; k++) grammar_add(g, ".%s", pl_word_text[w.at[k]]);
            for (unsigned k = 0, written = 0; k < f->noperands; k++) {
                const pl_ospec *s = &f->operand[k];
                bool coordinate = inside && s->rule && !strcmp(s->name, "c");
                if (inside && !coordinate && s->kind != PL_K_OPAQUE) {
                    grammar_add(g, "]");
                    inside = false;
                }
                if (k != at && (!strcmp(s->name, "policy") ? !hint : s->optional)) continue;
                grammar_add(g, "%s", s->joined ? "|" : written ? ", " : " ");
                if (s->kind == PL_K_OPAQUE && !inside) {
                    grammar_add(g, "[");
                    inside = true;
                }
                if (k == at && what >= nregs)
                    grammar_add(g, "%s", instead[what - nregs]);
                else
                    canonical(g, f, k, mods, space_word(&w), k == at ? regs[what].stem : NULL);
                written++;
            }
            grammar_add(g, "%s;", inside ? "]" : "");
            statement(g, ctx);
        }
}

/* ---- modules ---- */

static const char *const globals[] = {
    ".global .b32 v%u;\n",
    ".global .align 16 .b8 v%u[64];\n",
    ".const .f32 v%u = 1.5;\n",
    ".global .u64 v%u = gvar;\n",
    ".global .u8 v%u[4] = {0xff(gvar), 1, 2};\n",
    ".visible .global .v2 .f32 v%u[2] = {{1.0, 2.0}, {3.0}};\n",
    ".extern .shared .b8 v%u[];\n",
    ".weak .global .b32 v%u = 7;\n",
    ".common .global .b32 v%u;\n",
    ".global .attribute(.managed) .s32 v%u = -1;\n",
    ".global .texref v%u;\n",
    ".file %u \"a.c\"\n",
    ".pragma \"nounroll\";\n",
    ".section .debug_str { .b8 %u, 2 }\n",
    ".global .b64 v%u = generic(gvar)+8;\n",
    ".func v%u();\n",
    ".func (.param .b32 o) v%u(.param .align 8 .b8 p[12]) { st.param.b32 [o], 3; ret; }\n",
    ".alias v%u, foo;\n",
    ".global .b32 v%u[] = {1, 2, 3};\n",
    ".global .b32 v%u[2][3] = {{1}, {2, 3}};\n",
    ".func v%u() .noreturn { trap; }\n"};
static const char *const locals[] = {".reg .b32 %%q%u<4>;\n",
                                     ".local .align 8 .b8 w%u[16];\n",
                                     ".shared .f32 w%u[32];\n",
                                     "{ .reg .b64 w%u; mov.u64 w%u, 1; }\n",
                                     "A%u: bra A%u;\n",
                                     ".param .b32 w%u;\n",
                                     "T%u: .branchtargets L9;\n",
                                     "P%u: .callprototype (.param .b32 _) _ (.param .b32 _);\n",
                                     ".loc 1 %u 3\n",
                                     "call foo;\n",
                                     "call (%%r%u), bar, (%%r1);\n",
                                     "@%%p%u bra L9;\n",
                                     ".pragma \"nounroll\";\n",
                                     "{ A%u: bra L9; }\n",
                                     ".reg .v2 .f32 w%u;\n"};
static const char *const kernels[] = {"",
                                      "",
                                      ".maxntid 128",
                                      ".reqntid 32, 2 .minnctapersm 2",
                                      ".maxnreg 64",
                                      ".explicitcluster",
                                      ".maxntid 0",
                                      ".reqntid 32 .reqnctapercluster 2 .blocksareclusters",
                                      ".noreturn",
                                      ".maxntid 1, 2, 3, 4"};

/* One of ptxloom's own patterns with up to two places for one number. */
static void place(grammar *g, const char *pattern, unsigned n)
{
    for (const char *s = pattern; *s; s++)
        if (s[0] == '%' && s[1] == 'u')
            grammar_add(g, "%u", n), s++;
        else if (s[0] == '%' && s[1] == '%')
            grammar_add(g, "%%"), s++;
        else
            grammar_add(g, "%c", *s);
}

void grammar_module(grammar *g, unsigned version, const char *target)
{
    grammar_frame(g, version, target);
    for (size_t k = 1 + grammar_below(g, 3); k > 0; k--) {
        if (chance(g, 35))
            place(g, PICK(g, locals), (unsigned)grammar_below(g, 9));
        else
            grammar_statement(g);
        grammar_add(g, "\n");
    }
    grammar_add(g, "L9: ret;\n}\n");
    for (size_t k = grammar_below(g, 3); k > 0; k--)
        place(g, PICK(g, globals), (unsigned)grammar_below(g, 20));
    grammar_add(
        g, ".visible .entry k2(.param .u64 .ptr .global .align 16 a, .param .b8 b[%zu]) %s\n{\n",
        grammar_below(g, 40), PICK(g, kernels));
    grammar_add(g, "ret;\n}\n");
}
