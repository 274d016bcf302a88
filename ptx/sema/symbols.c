/* symbols.c - names and their bindings: interning, scopes, registers created on demand, labels used
 * before their definition.
 *
 * Every distinct spelling is one pl_sym, so a name is hashed once per occurrence and looked up
 * through one pointer: the symbol itself holds its innermost binding. Closing a block removes its
 * bindings. A register of `.reg .b32 %r<100>` is created at its first reference. Labels belong to
 * their block: two blocks may each have a DONE, as inline assembly produces. A branch is queued in
 * its block until the block ends, and moves to the enclosing one if the block has no such label. */
#include "ptx/directive.h"
#include "ptx/internal.h"
#include "ptx/parse/parse.h"

#include <string.h>

static void grow_table(pl_parse *p)
{
    size_t cap = p->syms.cap ? p->syms.cap * 4 : 2048;
    pl_sym_slot *slot = pl_arena_array(p->names, pl_sym_slot, cap);
    if (!slot) return;
    for (size_t k = 0; k < p->syms.cap; k++) {
        const pl_sym_slot *old = &p->syms.slot[k];
        size_t to = old->hash & (cap - 1);
        while (old->sym && slot[to].sym) to = (to + 1) & (cap - 1);
        if (old->sym) slot[to] = *old;
    }
    p->syms.slot = slot;
    p->syms.cap = cap;
}

/* Classifies a new spelling, once per distinct spelling. Special registers are already known
 * (pl_names_begin). */
static void classify(pl_sym *s)
{
    s->mnem = s->sreg = -1;
    if (s->name[0] == '.') {
        s->token = T_WORD;
        s->word = (uint16_t)pl_word_find(s->name + 1, s->len - 1);
        const pl_directive *d = pl_directive_find(s->name);
        if (d) s->token = d->token;
        return;
    }
    if (s->name[0] >= 'a' && s->name[0] <= 'z') s->mnem = (int16_t)pl_mnem_find(s->name, s->len);
    uint32_t digits = 0;
    while (digits < s->len && s->name[s->len - 1 - digits] >= '0' &&
           s->name[s->len - 1 - digits] <= '9')
        digits++;
    s->numbered = digits > 0 && digits < 10 && digits < s->len;
}

static uint64_t load8(const char *at)
{
    uint64_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

static uint64_t load4(const char *at)
{
    uint32_t x;
    memcpy(&x, at, sizeof x);
    return x;
}

/* The first and the last eight bytes of a text, which overlap in a short one. */
static void load_ends(const char *text, size_t n, uint64_t ends[2])
{
    ends[1] = 0;
    if (n >= 8) {
        ends[0] = load8(text);
        ends[1] = load8(text + n - 8);
    } else if (n >= 4)
        ends[0] = load4(text) << 32 | load4(text + n - 4);
    else
        ends[0] = n ? (uint64_t)(unsigned char)text[0] << 16 |
                          (uint64_t)(unsigned char)text[n / 2] << 8 | (unsigned char)text[n - 1]
                    : 0;
}

/* Multiplicative hashing (Knuth, "The Art of Computer Programming", volume 3, section 6.4), eight
 * bytes per step. */
static uint32_t hash(const char *text, size_t n, const uint64_t ends[2])
{
    const uint64_t factor = 0x9E3779B97F4A7C15u;
    uint64_t h = (n ^ ends[0]) * factor;
    for (size_t k = 8; k + 8 < n; k += 8) h = (h ^ h >> 32 ^ load8(text + k)) * factor;
    h = (h ^ h >> 32 ^ ends[1]) * factor;
    h ^= h >> 32;
    return (uint32_t)((h * factor) >> 32);
}

pl_sym *pl_sym_intern(pl_parse *p, const char *text, size_t n)
{
    uint64_t ends[2];
    load_ends(text, n, ends);
    uint32_t h = hash(text, n, ends);
    if (2 * p->syms.n >= p->syms.cap) grow_table(p);
    pl_sym_slot *slot =
        p->syms.cap ? &p->syms.slot[h & (p->syms.cap - 1)] : NULL; /* NULL: out of memory */
    for (; slot && slot->sym;
         slot = slot + 1 < p->syms.slot + p->syms.cap ? slot + 1 : p->syms.slot) {
        pl_sym *s = slot->sym;
        if (slot->hash == h && s->len == n && s->ends[0] == ends[0] && s->ends[1] == ends[1] &&
            (n <= 16 || !memcmp(s->name + 8, text + 8, n - 16)))
            return s;
    }
    pl_sym *s = pl_arena_new(p->names, pl_sym);
    s->name = pl_arena_strndup(p->arena, text, n);
    s->len = (uint32_t)n;
    memcpy(s->ends, ends, sizeof ends);
    classify(s);
    /* Out of memory: the arena reuses the symbol's memory, so it must not be entered. */
    if (!pl_parse_ok(p)) return s;
    *slot = (pl_sym_slot){h, s};
    p->syms.n++;
    return s;
}

void pl_names_begin(pl_parse *p)
{
    char name[64] = "%";
    for (unsigned k = 0; k < pl_nsregs; k++) {
        size_t n = strlen(pl_sregs[k].name);
        if (n + 1 >= sizeof name) continue;
        memcpy(name + 1, pl_sregs[k].name, n);
        pl_sym_intern(p, name, n + 1)->sreg = (int16_t)k;
    }
}

/* ---- bindings ---- */

const char *pl_bind_noun(const pl_binding *b)
{
    switch (b->kind) {
    case PL_B_REG: return "register";
    case PL_B_VAR: return b->var->space == PL_SP_PARAM ? "parameter" : "variable";
    case PL_B_FUNC: return b->func->entry ? "kernel" : "function";
    case PL_B_LABEL: return "label";
    case PL_B_TABLE: return "table of targets";
    case PL_B_RANGE: return "range of registers";
    default: return "name";
    }
}

static pl_scope *scope_at(pl_parse *p, uint32_t depth)
{
    pl_scope *s = p->scope;
    for (uint32_t d = p->depth; d > depth; d--) s = s->outer;
    return s;
}

static pl_binding *attach(pl_parse *p, pl_sym *s, const pl_binding *b, uint32_t depth)
{
    pl_binding *n = !s->bound          ? &s->first
                    : p->free_bindings ? p->free_bindings
                                       : pl_arena_new(p->names, pl_binding);
    pl_scope *scope = scope_at(p, depth);
    pl_binding **top = b->kind == PL_B_RANGE ? &s->range : &s->binding;
    if (n == p->free_bindings) p->free_bindings = n->next;
    s->bound = true;
    *n = *b;
    n->sym = s;
    n->depth = depth;
    if (!pl_parse_ok(p)) return n; /* the arena reuses its memory: it must not be in a list twice */
    while (*top && (*top)->depth > depth) top = &(*top)->outer;
    n->outer = *top;
    *top = n;
    n->next = scope->bindings;
    scope->bindings = n;
    return n;
}

pl_reg *pl_reg_new(pl_parse *p, const char *name, pl_word type, uint16_t vec)
{
    pl_reg *r = pl_arena_new(p->arena, pl_reg);
    r->name = name;
    r->type = type;
    r->vec = vec;
    if (p->func) {
        r->id = (uint32_t)p->func->regs.n;
        *pl_push(p->arena, &p->func->regs) = r;
    }
    return r;
}

/* Splits %r12 into the symbol %r and 12, and rewrites %r012 as %r12: ptxas treats both as the same
 * register. */
static void find_stem(pl_parse *p, pl_sym *s)
{
    uint32_t n = s->len;
    while (s->name[n - 1] >= '0' && s->name[n - 1] <= '9') n--;
    for (uint32_t k = n; k < s->len; k++) s->number = s->number * 10 + (uint32_t)(s->name[k] - '0');
    s->stem = pl_sym_intern(p, s->name, n);
    s->sibling = s->stem->numbers;
    s->stem->numbers = s;
    s->stem->nnumbers++;
}

/* The symbol %r12 of the stem %r. Ranges request many of them, so the name is formatted by hand. */
static pl_sym *numbered_sym(pl_parse *p, const pl_sym *stem, uint32_t number)
{
    char text[256],
        *name = stem->len + 10 <= sizeof text ? text : pl_arena_alloc(p->names, stem->len + 10);
    uint32_t digits = 1, n;
    for (n = number; n >= 10; n /= 10) digits++;
    if (!name) return pl_sym_intern(p, stem->name, stem->len);
    memcpy(name, stem->name, stem->len);
    n = number;
    for (uint32_t k = stem->len + digits; k-- > stem->len; n /= 10) name[k] = (char)('0' + n % 10);
    return pl_sym_intern(p, name, stem->len + digits);
}

static pl_binding *find_binding(pl_parse *p, pl_sym *s)
{
    pl_binding *b = s->binding;
    if (!s->numbered || (b && b->depth == p->depth)) return b;
    if (!s->stem) find_stem(p, s);
    pl_binding *r = s->stem->range;
    while (r && s->number >= r->range->count) r = r->outer;
    if (!r || (b && b->depth >= r->depth)) return b;
    pl_binding made = {.kind = PL_B_REG, .at = r->at};
    if (s->name[s->stem->len] == '0' && s->len > s->stem->len + 1) {
        pl_binding *same = find_binding(p, numbered_sym(p, s->stem, s->number));
        if (!same || same->kind != PL_B_REG) return same;
        made.reg = same->reg;
    } else {
        made.reg = pl_reg_new(p, s->name, r->range->type, r->range->vec);
    }
    made.user = p->func;
    return attach(p, s, &made, r->depth);
}

/* Registers and local memory at module scope (PTX before 3.0) belong to the thread. Each kernel has
 * its own. Two functions of one thread would share the values, which the frames here do not
 * support. */
static void instantiate_for_function(pl_parse *p, pl_binding *b, pl_loc at)
{
    const bool local = b->kind == PL_B_VAR && b->var->space == PL_SP_LOCAL;
    if (b->user == p->func || !p->func || (b->kind != PL_B_REG && !local)) return;
    if (b->user && (!b->user->entry || !p->func->entry))
        pl_report(p->diags, PL_E0393, at, b->sym->name, b->user->name, p->func->name);
    b->user = p->func;
    if (!local) {
        b->reg = pl_reg_new(p, b->reg->name, b->reg->type, b->reg->vec);
        return;
    }
    pl_var *v = pl_arena_new(p->arena, pl_var);
    *v = *b->var;
    v->owner = p->func;
    v->block = p->scope->number;
    v->depth = p->depth;
    b->var = v;
    *pl_push(p->arena, &p->func->vars) = v;
}

pl_binding *pl_name_lookup(pl_parse *p, pl_sym *s)
{
    pl_binding *b = find_binding(p, s);
    if (b && !b->depth) instantiate_for_function(p, b, b->at);
    return b;
}

/* Returns the register range in this scope that contains the register, or a register of this scope
 * that the new range contains. */
static const pl_binding *range_conflict(pl_parse *p, pl_sym *s, const pl_binding *b)
{
    if (b->kind == PL_B_RANGE) {
        if (s->range && s->range->depth == p->depth) return s->range;
        /* search the shorter list: registers of the range, or symbols with this stem */
        for (uint32_t k = 0; b->range->count < s->nnumbers && k < b->range->count; k++) {
            const pl_sym *o = numbered_sym(p, s, k);
            if (o->binding && o->binding->depth == p->depth) return o->binding;
        }
        for (const pl_sym *o = b->range->count < s->nnumbers ? NULL : s->numbers; o; o = o->sibling)
            if (o->binding && o->binding->depth == p->depth && o->number < b->range->count)
                return o->binding;
        return NULL;
    }
    if (!s->numbered) return NULL;
    if (!s->stem) find_stem(p, s);
    const pl_binding *r = s->stem->range;
    return r && r->depth == p->depth && s->number < r->range->count ? r : NULL;
}

bool pl_name_bind(pl_parse *p, pl_sym *s, pl_binding b)
{
    const pl_binding *old =
        b.kind != PL_B_RANGE && s->binding && s->binding->depth == p->depth ? s->binding : NULL;
    if (old && old->kind == PL_B_BAD) old = NULL;
    if (!old) old = range_conflict(p, s, &b);
    if (old) {
        pl_diag *d = pl_report(p->diags, PL_E0301, b.at, s->name);
        d->help = pl_arena_printf(p->arena, "the %s '%s' of line %u has this name already",
                                  pl_bind_noun(old), old->sym->name, old->at.line);
        return false;
    }
    attach(p, s, &b, p->depth);
    return true;
}

void pl_name_bind_module(pl_parse *p, pl_sym *s, pl_binding b)
{
    attach(p, s, &b, 0);
}

/* ---- scopes and labels ---- */

void pl_scope_open(pl_parse *p, pl_loc at)
{
    pl_scope *s = pl_arena_new(p->names, pl_scope);
    if (p->depth == PL_MAX_NESTING) pl_report(p->diags, PL_E0108, at, (int)PL_MAX_NESTING);
    s->at = at;
    s->number = ++p->nscopes;
    s->outer = p->scope;
    p->scope = s;
    p->depth++;
}

static void add_use(pl_scope *s, pl_label_use *first, pl_label_use *last)
{
    if (s->last_use)
        s->last_use->next = first;
    else
        s->uses = first;
    s->last_use = last;
}

void pl_scope_close(pl_parse *p)
{
    pl_scope *s = p->scope, *outer = s->outer;
    if (!s->has_labels && p->depth > 1) {
        if (s->uses) add_use(outer, s->uses, s->last_use);
    } else {
        for (pl_label_use *u = s->uses, *next; u; u = next) {
            pl_binding *b = u->sym->binding;
            next = u->next;
            u->next = NULL;
            if (b && b->kind == PL_B_LABEL && b->depth == p->depth)
                *u->where = b->label;
            else if (p->depth > 1)
                add_use(outer, u, u);
            else
                pl_name_undefined(p, u->sym, u->at);
        }
    }
    for (pl_binding *b = s->bindings, *next; b; b = next) {
        next = b->next;
        pl_binding **top = b->kind == PL_B_RANGE ? &b->sym->range : &b->sym->binding;
        /* Bindings created on demand in an outer scope may be above this one's neighbours, so
         * unlink rather than pop. */
        while (*top && *top != b) top = &(*top)->outer;
        if (*top) *top = b->outer;
        if (b == &b->sym->first)
            b->sym->bound = false;
        else {
            b->next = p->free_bindings;
            p->free_bindings = b;
        }
    }
    p->scope = outer;
    p->depth--;
}

void pl_label_define(pl_parse *p, pl_sym *s, pl_loc at)
{
    pl_label *l = pl_arena_new(p->arena, pl_label);
    l->name = s->name;
    l->at = at;
    if (!p->func || !pl_name_bind(p, s, (pl_binding){.kind = PL_B_LABEL, .label = l, .at = at}))
        return;
    l->defined = true;
    l->stmt = (uint32_t)p->func->body.n;
    *pl_push(p->arena, &p->func->labels) = l;
    p->scope->has_labels = true;
}

void pl_label_refer(pl_parse *p, pl_sym *s, pl_loc at, pl_label **where)
{
    pl_label_use *u = pl_arena_new(p->names, pl_label_use);
    *u = (pl_label_use){.sym = s, .where = where, .at = at};
    add_use(p->scope, u, u);
}

/* ---- undefined names ---- */

/* True for tid.x written instead of %tid.x. */
static bool lacks_percent(const pl_sym *s)
{
    unsigned k = 0;
    while (k < pl_nsregs && strcmp(pl_sregs[k].name, s->name) != 0) k++;
    return k < pl_nsregs;
}

void pl_name_undefined(pl_parse *p, pl_sym *s, pl_loc at)
{
    if (p->func_has_syntax_error) return;
    pl_diag *d = pl_report(p->diags, PL_E0302, at, s->name);
    if (s->numbered && s->stem && s->stem->range) {
        d->help = pl_arena_printf(p->arena, "%s<%u> has the registers %s0 to %s%u", s->stem->name,
                                  s->stem->range->range->count, s->stem->name, s->stem->name,
                                  s->stem->range->range->count - 1);
    } else if (lacks_percent(s)) {
        d->help = pl_arena_printf(p->arena, "did you mean the special register '%%%s'?", s->name);
    } else {
        unsigned limit = pl_edit_limit(s->len), best = limit + 1;
        const pl_sym *near = NULL;
        /* Searches all names, for as many messages as are kept. */
        for (size_t k = 0; p->diags->errors <= p->diags->limit && k < p->syms.cap; k++) {
            const pl_sym *o = p->syms.slot[k].sym;
            if (!o || !o->binding || o->binding->kind == PL_B_BAD) continue;
            unsigned distance = pl_edit_distance(s->name, s->len, o->name, o->len, best);
            if (distance < best ||
                (distance == best && near && best <= limit && strcmp(o->name, near->name) < 0)) {
                best = distance;
                near = o;
            }
        }
        if (near)
            d->help = pl_arena_printf(p->arena, "did you mean the %s '%s'?",
                                      pl_bind_noun(near->binding), near->name);
        else if (s->mnem >= 0)
            d->help = pl_arena_printf(p->arena, "'%s' is an instruction", s->name);
    }
    /* Bound from here on, so that it is reported once in this function. */
    pl_name_bind_bad(p, s, p->depth ? 1 : 0, at);
}

void pl_name_bind_bad(pl_parse *p, pl_sym *s, uint32_t depth, pl_loc at)
{
    attach(p, s, &(pl_binding){.kind = PL_B_BAD, .at = at}, depth);
}
