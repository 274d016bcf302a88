/* form_match.c - matches the words of an instruction with the forms of the table (see
 * form_match.h).
 *
 * Each slot of a form accepts one word of its list. fits() assigns the words to slots in order and
 * backtracks when a later word finds none. A form has at most 16 slots, and results are cached by
 * the words, so this runs once for each distinct instruction of a module. If no form fits, the
 * nearest one leaves the fewest words unassigned and the fewest slots empty; the unassigned word is
 * reported as the error. */
#include "isa/table/form_match.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_WORDS = 32 };

typedef struct entry {
    struct entry *next;
    uint64_t hash;
    int mnem;
    unsigned n;
    const uint16_t *words;
    pl_match match;
} entry;

struct pl_matcher {
    pl_arena *arena;
    unsigned ptx, sm;
    char suffix;
    entry **bucket;
    size_t n, cap;
};

pl_matcher *pl_matcher_new(pl_arena *arena)
{
    pl_matcher *m = pl_arena_new(arena, pl_matcher);
    if (!m) return NULL;
    m->arena = arena;
    m->cap = 256;
    m->bucket = pl_arena_array(arena, entry *, m->cap);
    return m->bucket ? m : NULL;
}

void pl_matcher_target(pl_matcher *m, unsigned ptx, unsigned sm, char suffix)
{
    m->ptx = ptx;
    m->sm = sm;
    m->suffix = suffix;
    memset(m->bucket, 0, m->cap * sizeof *m->bucket);
    m->n = 0;
}

/* ---- targets ---- */

bool pl_target_has(unsigned sm, char suffix, const char *target)
{
    for (const char *s = target; s && *s; s = strchr(s, '|') ? strchr(s, '|') + 1 : NULL) {
        char *end;
        unsigned need = (unsigned)strtoul(s + 3, &end, 10);
        if (*end == 'a'   ? suffix == 'a' && sm == need
            : *end == 'f' ? suffix && sm / 10 == need / 10 && sm >= need
                          : sm >= need)
            return true;
    }
    return false;
}

const char *pl_target_text(pl_arena *arena, const char *target)
{
    const char *text = "";
    for (const char *s = target; *s;) {
        size_t n = strcspn(s, "|");
        bool last = !s[n];
        char end = s[n - 1];
        text = pl_arena_printf(arena, "%s%s%.*s%s", text,
                               s == target ? ""
                               : last      ? " or "
                                           : ", ",
                               (int)n, s,
                               end == 'f'            ? " (or a newer one of its family)"
                               : end == 'a' || !last ? ""
                                                     : " or newer");
        s += n + !last;
    }
    return text;
}

/* ---- words into slots ---- */

static bool slot_accepts(const pl_slot *s, pl_word w)
{
    for (unsigned k = 0; k < s->n; k++)
        if (s->word[k] == w) return true;
    return false;
}

static bool has_required_words(const pl_form *f, const uint16_t *mods)
{
    for (unsigned s = 0; s < f->nslots; s++)
        if (!f->slot[s].optional && !mods[s]) return false;
    return true;
}

/* Words of these kinds fill their slots from left to right; others may fill any slot that accepts
 * them. */
enum { KIND_TYPE, KIND_SPACE, KIND_LAYOUT, KIND_PRIORITY, KINDS };

static int kind_of(const pl_slot *slot, pl_word w)
{
    const char *t = pl_word_text[w];
    if (slot->type) return KIND_TYPE;
    if (!strcmp(t, "row") || !strcmp(t, "col")) return KIND_LAYOUT;
    if (!strncmp(t, "L2::evict_", 10)) return KIND_PRIORITY;
    if (!strcmp(t, "global") || !strcmp(t, "local") || !strcmp(t, "const") ||
        !strncmp(t, "param", 5) || !strncmp(t, "shared", 6))
        return KIND_SPACE;
    return -1;
}

/* The recursion depth is the number of words. first: the first slot still available to words of
 * each kind. */
static bool match_slots(const pl_form *f, const pl_match_word *words, unsigned n, unsigned k,
                        const uint8_t *first, uint16_t *mods)
{
    if (k == n) return has_required_words(f, mods);
    for (unsigned s = 0; s < f->nslots; s++) {
        const pl_slot *slot = &f->slot[s];
        if (mods[s] || !slot_accepts(slot, words[k].word)) continue;
        int kind = kind_of(slot, words[k].word);
        if (kind >= 0 && s < first[kind]) continue;
        uint8_t next[KINDS];
        memcpy(next, first, sizeof next);
        if (kind >= 0) next[kind] = (uint8_t)(s + 1);
        mods[s] = (uint16_t)words[k].word;
        if (match_slots(f, words, n, k + 1, next, mods)) return true;
        mods[s] = W_none;
    }
    return false;
}

/* The distance of a form from the words: the first word without a slot, and the first slot left
 * empty. */
typedef struct distance {
    unsigned score;
    int unmatched, empty;
} distance;

static distance measure_distance(const pl_form *f, const pl_match_word *words, unsigned n)
{
    uint16_t mods[PL_MAX_SLOTS] = {0};
    distance d = {.unmatched = -1, .empty = -1};
    for (unsigned k = 0; k < n; k++) {
        unsigned s = 0;
        while (s < f->nslots && (mods[s] || !slot_accepts(&f->slot[s], words[k].word))) s++;
        if (s < f->nslots) {
            mods[s] = (uint16_t)words[k].word;
            continue;
        }
        /* A type mismatch is more significant than a modifier mismatch. */
        d.score += pl_type_bits(words[k].word) ? 5 : 4;
        if (d.unmatched < 0) d.unmatched = (int)k;
    }
    for (unsigned s = 0; s < f->nslots; s++)
        if (!mods[s] && !f->slot[s].optional) {
            d.score += 3;
            if (d.empty < 0) d.empty = (int)s;
        }
    return d;
}

static bool has_word(int mnem, pl_word w)
{
    for (unsigned f = 0; f < pl_mnems[mnem].count; f++)
        for (unsigned s = 0; s < pl_forms[pl_mnems[mnem].first + f].nslots; s++)
            if (slot_accepts(&pl_forms[pl_mnems[mnem].first + f].slot[s], w)) return true;
    return false;
}

/* ptxas accepts modifiers in any order, but some dotted parts belong to the instruction's name:
 * mul.lo, cp.async.bulk, mbarrier.try_wait.parity (measured with shuffled words, ptxas 13.0:
 * `add.f32.rn` is accepted, `mul.s32.lo` is not). These words come first, in the order given here.
 * PTX words contain no spaces, so a list is one string. */
static const struct {
    const char *mnems, *words;
} names[] = {
    {" mul mul24 mad mad24 madc ", " lo hi wide "},
    {" dp2a ", " lo hi "},
    {" div ", " full "},
    {" shf ", " l r "},
    {" cvt ", " pack "},
    {" cvta ", " to "},
    {" fence membar ", " proxy "},
    {" setmaxnreg ", " inc dec "},
    {" cp ",
     " reduce async bulk prefetch tensor commit_group wait_group wait_all mbarrier arrive "},
    {" mbarrier ", " init inval arrive arrive_drop test_wait try_wait pending_count complete_tx "
                   "expect_tx noComplete parity "},
    {" bar ", " cta warp sync arrive red "},
    {" barrier ", " cluster cta arrive wait red "}, /* .sync may follow .aligned */
    {" wmma ", " load store mma a b c d "},
    {" wgmma ", " fence commit_group wait_group mma_async "},
    {" multimem ", " ld_reduce st red cp reduce async bulk "},
    {" suld sust sured ", " b p "},
    {" tex txq ", " base level grad "},
    {" tensormap ", " replace cp_fenceproxy "},
    {" createpolicy ", " fractional range cvt "},
    {" st red ", " async bulk "},
    {" tcgen05 ",
     " alloc dealloc relinquish_alloc_permit ld st red wait::ld wait::st cp shift commit mma ws "},
    {" clusterlaunchcontrol ", " try_cancel async query_cancel "},
};

static const char *find_in_list(const char *list, const char *word)
{
    size_t n = strlen(word);
    for (const char *s = strstr(list, word); s; s = strstr(s + 1, word))
        if (s[-1] == ' ' && s[n] == ' ') return s;
    return NULL;
}

/* The index of the first word that must come earlier, or -1. */
static int out_of_order(int mnem, const pl_match_word *words, unsigned n)
{
    const char *list = NULL, *last = NULL;
    bool ended = false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++)
        if (find_in_list(names[k].mnems, pl_mnems[mnem].name)) list = names[k].words;
    for (unsigned k = 0; list && k < n; k++) {
        const char *at = words[k].word ? find_in_list(list, pl_word_text[words[k].word]) : NULL;
        if (at && (ended || (last && at <= last))) return (int)k;
        last = at ? at : last;
        ended |= !at;
    }
    return -1;
}

static void add_word(pl_match *r, uint16_t w)
{
    for (unsigned k = 0; k < r->nrequired; k++)
        if (r->required[k] == w) return;
    if (r->nrequired < PL_MAX_REQUIRED) r->required[r->nrequired++] = w;
}

/* True if exactly one word is missing. Then lists each valid one: .rn for cvt.f32.s32, and not the
 * .rni of another form. */
static bool find_missing_word(pl_match *r, int mnem, const pl_match_word *words, unsigned n)
{
    pl_match_word more[MAX_WORDS + 1];
    memcpy(more, words, n * sizeof *words);
    for (unsigned k = 0; k < pl_mnems[mnem].count; k++) {
        const pl_form *f = &pl_forms[pl_mnems[mnem].first + k];
        for (unsigned s = 0; s < f->nslots && n < f->nslots; s++)
            for (unsigned w = 0; w < f->slot[s].n; w++) {
                uint16_t mods[PL_MAX_SLOTS] = {0};
                uint8_t first[KINDS] = {0};
                more[n].word = (pl_word)f->slot[s].word[w];
                if (!match_slots(f, more, n + 1, 0, first, mods)) continue;
                if (!r->nrequired) r->form = f;
                add_word(r, f->slot[s].word[w]);
            }
    }
    return r->nrequired > 0;
}

static void diagnose(pl_match *r, int mnem, const pl_match_word *words, unsigned n)
{
    unsigned best = ~0u;
    distance d = {0};
    for (unsigned k = 0; k < pl_mnems[mnem].count; k++) {
        const pl_form *f = &pl_forms[pl_mnems[mnem].first + k];
        distance e = measure_distance(f, words, n);
        if (e.score < best) {
            best = e.score;
            d = e;
            r->form = f;
        }
    }
    r->mismatch = PL_MISMATCH_COMBINATION;
    r->index = n ? n - 1 : 0;
    for (unsigned k = 0; k < n; k++)
        if (!words[k].word || !has_word(mnem, words[k].word)) {
            r->mismatch = words[k].word ? PL_MISMATCH_NOT_OF_MNEMONIC : PL_MISMATCH_UNKNOWN;
            r->index = k;
            return;
        }
    if (d.unmatched >= 0) {
        r->index = (unsigned)d.unmatched;
        for (unsigned k = 0; k < r->index; k++)
            if (words[k].word == words[r->index].word) r->mismatch = PL_MISMATCH_DUPLICATE;
    } else if (d.empty >= 0) {
        r->mismatch = PL_MISMATCH_MISSING;
        r->index = (unsigned)d.empty;
        if (find_missing_word(r, mnem, words, n)) return;
        /* all equally near forms list the words that they accept */
        for (unsigned k = 0; k < pl_mnems[mnem].count; k++) {
            const pl_form *f = &pl_forms[pl_mnems[mnem].first + k];
            distance e = measure_distance(f, words, n);
            for (unsigned w = 0; e.score == best && w < f->slot[e.empty].n; w++)
                add_word(r, f->slot[e.empty].word[w]);
        }
    }
}

/* Returns the requirement of newer modules that a form violates. Since sm_70 the threads of a warp
 * need not run in lockstep, so PTX 6.4 removed the forms that assumed it. Since sm_20 a
 * multiply-add must specify its rounding. */
static const char *removal_reason(const pl_matcher *m, const pl_form *f, const uint16_t *mods)
{
    const char *name = pl_mnems[f->mnem].name, *must_have = NULL;
    bool single = false;
    for (unsigned s = 0; s < f->nslots; s++) single |= mods[s] == W_f32;
    if (m->ptx >= 64 && m->sm >= 70 && (!strcmp(name, "shfl") || !strcmp(name, "vote")))
        must_have = " sync ";
    if (m->ptx >= 40 && m->sm >= 20 && !strcmp(name, "mad") && single) must_have = " rn rz rm rp ";
    for (unsigned s = 0; must_have && s < f->nslots; s++)
        if (mods[s] && find_in_list(must_have, pl_word_text[mods[s]])) return NULL;
    return !must_have ? NULL
           : single   ? "sm_20 and newer need .rn, .rz, .rm or .rp"
                      : "sm_70 and newer need .sync and a mask of the lanes that take part";
}

/* Returns 90 for "sm_90a". */
static long target_number(const char *target)
{
    return strtol(target + strcspn(target, "0123456789"), NULL, 10);
}

/* sm_1x flushes subnormal single-precision numbers to zero, as if every instruction had .ftz. Up to
 * PTX 1.4 conversions from and to f64 do not. ptxas 13.0 does the same for such modules. */
static void flush_subnormals(const pl_matcher *m, const pl_form *f, uint16_t *mods)
{
    bool wide = false;
    for (unsigned s = 0; s < f->nslots; s++) wide |= mods[s] == W_f64;
    if (wide && m->ptx <= 14) return;
    for (unsigned s = 0; s < f->nslots; s++) {
        if (mods[s] || !f->slot[s].optional || !slot_accepts(&f->slot[s], W_ftz)) continue;
        mods[s] = W_ftz;
        for (unsigned k = 0; k < f->nwhere && mods[s]; k++)
            if (f->where[k].holds && !f->where[k].holds(mods)) mods[s] = W_none;
        return;
    }
}

/* For words that fit f with these mods: true if its conditions hold and the module's version
 * supports it. */
static bool check_conditions(const pl_matcher *m, const pl_form *f, const uint16_t *mods,
                             pl_match *r)
{
    for (unsigned k = 0; k < f->nwhere; k++)
        if (f->where[k].holds && !f->where[k].holds(mods)) {
            if (r->mismatch != PL_MISMATCH_VERSION && r->mismatch != PL_MISMATCH_CONSTRAINT) {
                r->mismatch = PL_MISMATCH_CONSTRAINT;
                r->form = f;
                r->message = f->where[k].message;
            }
            return false;
        }
    const char *reason = removal_reason(m, f, mods);
    if (reason) {
        r->mismatch = PL_MISMATCH_CONSTRAINT;
        r->form = f;
        r->message = reason;
        return false;
    }
    unsigned ptx = 0;
    const char *target = NULL;
    bool has = true, missing = false; /* the message names a target that the module lacks, else the
                                         newest required one */
    for (unsigned k = 0; k < f->nsince; k++) {
        const pl_since *s = &f->since[k];
        if (s->applies && !s->applies(mods)) continue;
        bool new_target = !pl_target_has(m->sm, m->suffix, s->target);
        has &= s->ptx <= m->ptx && !new_target;
        ptx = s->ptx > ptx ? s->ptx : ptx;
        missing |= new_target;
        if (!target || new_target || (!missing && target_number(s->target) > target_number(target)))
            target = s->target;
    }
    if (!has && r->mismatch != PL_MISMATCH_VERSION) {
        r->mismatch = PL_MISMATCH_VERSION;
        r->form = f;
        r->ptx = ptx;
        r->target = target;
    }
    return has;
}

static void match(const pl_matcher *m, int mnem, const pl_match_word *words, unsigned n,
                  pl_match *r)
{
    pl_choice *found = NULL;
    *r = (pl_match){0};
    for (unsigned k = 0; k < pl_mnems[mnem].count; k++) {
        const pl_form *f = &pl_forms[pl_mnems[mnem].first + k];
        uint16_t mods[PL_MAX_SLOTS] = {0};
        uint8_t first[KINDS] = {0};
        if (n > f->nslots || !match_slots(f, words, n, 0, first, mods) ||
            !check_conditions(m, f, mods, r))
            continue;
        if (!found) found = pl_arena_array(m->arena, pl_choice, pl_mnems[mnem].count - k);
        found[r->n].form = (uint16_t)(f - pl_forms);
        if (m->sm && m->sm < 20) flush_subnormals(m, f, mods);
        memcpy(found[r->n++].mods, mods, sizeof mods);
    }
    int misplaced = r->n ? out_of_order(mnem, words, n) : -1;
    if (misplaced >= 0) {
        *r = (pl_match){.mismatch = PL_MISMATCH_ORDER,
                        .index = (unsigned)misplaced,
                        .form = &pl_forms[found[0].form]};
        return;
    }
    r->at = found;
    if (!r->n && !r->mismatch) diagnose(r, mnem, words, n);
}

/* ---- cache ---- */

static void grow(pl_matcher *m)
{
    size_t cap = m->cap * 4;
    entry **bucket = pl_arena_array(m->arena, entry *, cap);
    if (!bucket) return;
    for (size_t k = 0; k < m->cap; k++)
        for (entry *e = m->bucket[k], *next; e; e = next) {
            next = e->next;
            e->next = bucket[e->hash & (cap - 1)];
            bucket[e->hash & (cap - 1)] = e;
        }
    m->bucket = bucket;
    m->cap = cap;
}

const pl_match *pl_match_words(pl_matcher *m, int mnem, const pl_match_word *words, unsigned n)
{
    uint64_t hash = (uint64_t)mnem + 1;
    bool known = true;
    n = n > MAX_WORDS ? MAX_WORDS : n;
    for (unsigned k = 0; k < n; k++) {
        hash = (hash ^ words[k].word) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
        known &= words[k].word != W_none;
    }
    for (entry *e = known ? m->bucket[hash & (m->cap - 1)] : NULL; e; e = e->next) {
        if (e->hash != hash || e->mnem != mnem || e->n != n) continue;
        unsigned k = 0;
        while (k < n && e->words[k] == words[k].word) k++;
        if (k == n) return &e->match;
    }
    entry *e = pl_arena_new(m->arena, entry);
    match(m, mnem, words, n, &e->match);
    if (!known) return &e->match; /* an unknown word: do not cache */
    uint16_t *copy = pl_arena_array(m->arena, uint16_t, n ? n : 1);
    for (unsigned k = 0; k < n; k++) copy[k] = (uint16_t)words[k].word;
    e->hash = hash;
    e->mnem = mnem;
    e->n = n;
    e->words = copy;
    if (m->n >= m->cap) grow(m);
    e->next = m->bucket[hash & (m->cap - 1)];
    m->bucket[hash & (m->cap - 1)] = e;
    m->n++;
    return &e->match;
}

/* ---- suggestions ---- */

const char *pl_match_suggest(int mnem, const char *text, size_t n)
{
    unsigned best = pl_edit_limit(n) + 1;
    const char *found = NULL;
    for (unsigned f = 0; f < pl_mnems[mnem].count; f++) {
        const pl_form *form = &pl_forms[pl_mnems[mnem].first + f];
        for (unsigned s = 0; s < form->nslots; s++)
            for (unsigned k = 0; k < form->slot[s].n; k++) {
                const char *w = pl_word_text[form->slot[s].word[k]];
                unsigned e = pl_edit_distance(text, n, w, strlen(w), best);
                if (e < best) {
                    best = e;
                    found = w;
                }
            }
    }
    return found;
}

const char *pl_match_suggest_mnem(const char *text, size_t n)
{
    unsigned best = pl_edit_limit(n) + 1;
    const char *found = NULL;
    for (unsigned k = 0; k < pl_nmnems; k++) {
        unsigned e = pl_edit_distance(text, n, pl_mnems[k].name, strlen(pl_mnems[k].name), best);
        if (e < best) {
            best = e;
            found = pl_mnems[k].name;
        }
    }
    return found;
}

const char *pl_match_suggest_type(pl_arena *arena, const char *text, size_t n)
{
    unsigned best = pl_edit_limit(n) + 1;
    const char *found = NULL;
    for (unsigned k = 0; k < pl_ntypes; k++) {
        const char *w = pl_word_text[pl_type_rows[k].word];
        unsigned e = pl_edit_distance(text, n, w, strlen(w), best);
        if (e < best) {
            best = e;
            found = w;
        }
    }
    return found ? pl_arena_printf(arena, "did you mean '.%s'?", found) : NULL;
}
