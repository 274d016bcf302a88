/* statement.c - one instruction: selects its form, and checks its operands.
 *
 * isa/table/form_match.c has matched the words, which leaves one form or a few. The operands are
 * checked against each of these without diagnostics, to select the form. If no form accepts them,
 * they are checked again with diagnostics against the form that matched furthest. */
#include "ptx/sema/operand_check.h"

#include <string.h>

enum { MAX_ITEMS = 24 };

static const pl_node *node(const pl_parse *p, uint32_t n)
{
    return &p->nodes.at[n];
}

void pl_stmt_words(pl_parse *p)
{
    p->match = NULL;
    p->nwords = 0;
    p->word_overflow = false;
}

/* Cache slot of an opcode (multiplicative hashing over its first and last bytes). */
static pl_opcode *opcode_slot(pl_parse *p, const char *text, size_t n)
{
    uint64_t first = 0, last = 0;
    if (!p->opcodes || n >= PL_OPCODE_LENGTH) return NULL;
    memcpy(&first, text, n < 8 ? n : 8);
    if (n > 8) memcpy(&last, text + n - 8, 8);
    uint64_t h = (first ^ last * 3 ^ n) * UINT64_C(0x9e3779b97f4a7c15);
    return &p->opcodes[(h >> 32) % PL_OPCODES];
}

pl_sym *pl_stmt_cache_lookup(pl_parse *p, const char *text, size_t n)
{
    const pl_opcode *o = opcode_slot(p, text, n);
    if (!o || o->n != n || memcmp(o->text, text, n) != 0) return NULL;
    memcpy(p->word, o->word, o->nwords * sizeof *o->word);
    p->nwords = o->nwords;
    p->word_overflow = false;
    p->match = o->match;
    return o->name;
}

void pl_stmt_cache_add(pl_parse *p, const char *text, size_t n, pl_sym *name)
{
    pl_opcode *o = opcode_slot(p, text, n);
    if (!o || !p->match || !p->match->n || p->nwords > PL_OPCODE_WORDS) return;
    *o =
        (pl_opcode){.n = (uint8_t)n, .nwords = (uint8_t)p->nwords, .name = name, .match = p->match};
    memcpy(o->text, text, n);
    memcpy(o->word, p->word, p->nwords * sizeof *o->word);
}

void pl_stmt_word(pl_parse *p, pl_sym *s, pl_loc at)
{
    if (p->nwords == PL_MAX_WORDS) {
        if (!p->word_overflow) pl_report(p->diags, PL_E0202, at, (int)PL_MAX_WORDS);
        p->word_overflow = true;
        return;
    }
    /* ptxas silently accepts these twice, and the meaning is unambiguous. */
    for (unsigned k = 0; k < p->nwords; k++)
        switch (p->word[k].word == s->word ? s->word : W_none) {
        case W_sat:
        case W_cc:
        case W_NaN:
        case W_approx:
        case W_uni:
        case W_sync:
        case W_relu:
        case W_satfinite:
        case W_shiftamt: return;
        default: break;
        }
    p->word[p->nwords] = (pl_match_word){.word = s->word, .text = s->name + 1, .len = s->len - 1};
    p->word_at[p->nwords++] = at;
}

/* A position named by .loc. */
typedef struct position {
    uint32_t file, line, column;
    uint32_t inlined; /* not part of the key: the inlining given by the latest .loc with this
                         position */
} position;

enum { POSITION_KEY = offsetof(position, inlined) };

static position *position_key(pl_parse *p, const pl_number *file, const pl_number *line,
                              const pl_number *column)
{
    position *x = pl_arena_new(p->names, position);
    *x = (position){(uint32_t)file->bits, (uint32_t)line->bits, (uint32_t)column->bits, 0};
    return x;
}

/* The call at a position, in the table of inlined calls: 1 + its index. */
static uint32_t inlined_call(pl_parse *p, const position *at)
{
    pl_prog_inline *key = pl_arena_new(p->names, pl_prog_inline);
    *key = (pl_prog_inline){at->file, at->line, at->inlined};
    const uint32_t *known = pl_map_get(&p->inlines, (const char *)key, sizeof *key);
    if (known) return *known;
    uint32_t *number = pl_arena_new(p->names, uint32_t);
    *pl_push(p->arena, &p->ast->inlines) = *key;
    *number = (uint32_t)p->ast->inlines.n;
    pl_map_put(&p->inlines, (const char *)key, sizeof *key, number);
    return *number;
}

void pl_stmt_inlined(pl_parse *p, pl_sym *function_name, pl_loc function_name_at, pl_sym *name,
                     pl_loc name_at, pl_sym *inlined_at, pl_loc inlined_at_at,
                     const pl_number *file, const pl_number *line, const pl_number *column,
                     pl_loc at)
{
    pl_module_needs(p, function_name_at, "inlined_at", 72, "sm_10");
    if (strcmp(function_name->name, "function_name"))
        pl_report(p->diags, PL_E0380, function_name_at, "function_name is missing");
    if (strcmp(inlined_at->name, "inlined_at"))
        pl_report(p->diags, PL_E0380, inlined_at_at, "inlined_at is missing");
    const position *call =
        pl_map_get(&p->locs, (const char *)position_key(p, file, line, column), POSITION_KEY);
    if (call)
        p->inlined = inlined_call(p, call);
    else
        pl_report(p->diags, PL_E0380, at, "a line that no earlier .loc names");
    pl_loc_name *u = pl_arena_new(p->names, pl_loc_name);
    *u = (pl_loc_name){.name = name->name, .n = name->len, .at = name_at, .next = p->loc_names};
    p->loc_names = u;
}

/* The position in the intermediate language, after one in the source; it is unused. */
void pl_stmt_loc_intermediate(pl_parse *p, const pl_number *file, const pl_number *line,
                              const pl_number *column, pl_loc at)
{
    const pl_number *const number[] = {file, line, column};
    pl_directive_needs(p, at, ".loc_intermediate");
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (number[k]->bits > UINT32_MAX)
            pl_report(p->diags, PL_E0316, at, (int)number[k]->len, number[k]->text,
                      ".loc_intermediate");
}

void pl_stmt_loc(pl_parse *p, const pl_number *file, const pl_number *line, const pl_number *column,
                 pl_loc at)
{
    pl_module_started(p, at);
    const pl_number *const number[] = {file, line, column};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        if (number[k]->bits > UINT32_MAX)
            pl_report(p->diags, PL_E0316, at, (int)number[k]->len, number[k]->text, ".loc");
    position *x = position_key(p, file, line, column);
    x->inlined = p->inlined;
    pl_map_put(&p->locs, (const char *)x, POSITION_KEY, x);
    pl_stmt *s = pl_push(p->arena, &p->func->body);
    *s = (pl_stmt){.kind = PL_S_LOC,
                   .line = at.line,
                   .column = at.column,
                   .src_file = (uint32_t)file->bits,
                   .src_line = (uint32_t)line->bits,
                   .inlined = p->inlined};
    p->inlined = 0;
}

static bool is_optional(const pl_ospec *s)
{
    return s->optional || s->joined;
}

static bool has_word(const pl_attempt *a, const char *word)
{
    for (unsigned k = 0; k < a->form->nslots; k++)
        if (!strcmp(pl_word_text[a->mods[k]], word)) return true;
    return false;
}

/* A cache policy must be present exactly if the modifiers require it (ld, st, atom, cp.async ...
 * .L2::cache_hint). */
static bool check_policy(const pl_attempt *a)
{
    bool hint = false;
    for (unsigned k = 0; k < a->form->nslots; k++) hint |= a->mods[k] == W_L2__cache_hint;
    for (unsigned k = 1; k < a->form->noperands; k++)
        if ((hint || a->form->operand[k].optional) && !strcmp(a->form->operand[k].name, "policy") &&
            (a->out[k].kind != PL_O_NONE) != hint) {
            pl_report(a->p->diags, PL_E0234, a->at, pl_full_name(a->p, a->opcode))->help =
                pl_syntax_help(a->p, a->form);
            return false;
        }
    return true;
}

/* A copy to several blocks has a mask of blocks, any other copy has none. */
static bool check_mask(const pl_attempt *a)
{
    if (a->opcode->mnem != M_cp) return true;
    for (unsigned k = 1; k < a->form->noperands; k++) {
        if (!a->form->operand[k].optional || strcmp(a->form->operand[k].name, "mask") != 0)
            continue;
        bool given = a->out[k].kind != PL_O_NONE;
        if (given == (has_word(a, "multicast::cluster") || has_word(a, "multicast::cluster::16b") ||
                      has_word(a, "multicast::cluster::32b")))
            continue;
        pl_report(a->p->diags, PL_E0205, given ? a->out[k].at : a->at,
                  pl_full_name(a->p, a->opcode), given ? "too many" : "too few")
            ->help = pl_syntax_help(a->p, a->form);
        return false;
    }
    return true;
}

/* d|p: elect and lop3 with a predicate operation always have p. Neither they nor textures accept a
 * sink in its place. The other instructions must not discard both results. */
static bool check_pair(const pl_attempt *a)
{
    for (unsigned k = 1; k < a->form->noperands; k++) {
        if (!a->form->operand[k].joined) continue;
        if (a->out[k].kind == PL_O_NONE &&
            (a->opcode->mnem == M_elect || a->opcode->mnem == M_lop3)) {
            pl_report(a->p->diags, PL_E0245, a->out[k - 1].at, pl_full_name(a->p, a->opcode))
                ->help = pl_syntax_help(a->p, a->form);
            return false;
        }
        bool needs_result = a->opcode->mnem == M_elect || a->opcode->mnem == M_lop3 ||
                            a->opcode->mnem == M_tex || a->opcode->mnem == M_tld4;
        if (needs_result && a->out[k].kind == PL_O_SINK) {
            pl_report(a->p->diags, PL_E0207, a->out[k].at, pl_full_name(a->p, a->opcode));
            return false;
        }
        if (a->out[k].kind == PL_O_SINK && a->out[k - 1].kind == PL_O_SINK) {
            pl_report(a->p->diags, PL_E0238, a->out[k].at);
            return false;
        }
    }
    return true;
}

/* An arrival in another block returns no state, and only try_wait has a time limit. */
static bool check_mbarrier(const pl_attempt *a)
{
    if (a->opcode->mnem != M_mbarrier) return true;
    if ((has_word(a, "arrive") || has_word(a, "arrive_drop")) && has_word(a, "shared::cluster") &&
        a->out[0].kind != PL_O_SINK) {
        pl_report(a->p->diags, PL_E0247, a->out[0].at, pl_full_name(a->p, a->opcode));
        return false;
    }
    if (has_word(a, "arrive") && a->out[0].kind == PL_O_SINK &&
        !pl_module_needs(a->p, a->out[0].at, "an arrival without a result", 71, "sm_80"))
        return false;
    if ((has_word(a, "arrive") || has_word(a, "arrive_drop")) && !has_word(a, "noComplete") &&
        a->out[2].kind != PL_O_NONE &&
        !pl_module_needs(a->p, a->out[2].at, "a count of arrivals", 78, "sm_90"))
        return false;
    if (has_word(a, "test_wait") && a->form->noperands == 4 && a->out[3].kind != PL_O_NONE) {
        pl_report(a->p->diags, PL_E0248, a->out[3].at, pl_full_name(a->p, a->opcode));
        return false;
    }
    return true;
}

/* Checks that the address size is that of the module. */
static bool check_address_size(const pl_attempt *a)
{
    if (a->opcode->mnem != M_cvta || a->p->ast->address_size == 32 || !has_word(a, "u32"))
        return true;
    pl_report(a->p->diags, PL_E0218, a->at, pl_full_name(a->p, a->opcode),
              "addresses of this module have 64 bits (.address_size 64)");
    return false;
}

/* For a query of the wrong object kind, names the right one; NULL: the operand is correct. */
static const char *query_problem(const pl_attempt *a)
{
    const pl_operand_draft *o = &a->out[1];
    if (!a->p->ast->texmode_independent || o->kind != PL_O_VAR) return NULL;
    bool of_sampler = has_word(a, "filter_mode") || has_word(a, "addr_mode_0") ||
                      has_word(a, "addr_mode_1") || has_word(a, "addr_mode_2") ||
                      has_word(a, "force_unnormalized_coords");
    if (of_sampler == (o->var->type == W_samplerref)) return NULL;
    return of_sampler ? "this is asked of a sampler (texmode_independent)"
                      : "this is asked of a texture";
}

/* A texture access needs a sampler in a module with independent samplers. */
static bool lacks_sampler(const pl_attempt *a)
{
    if (!a->p->ast->texmode_independent) return false;
    for (unsigned k = 0; k < a->form->noperands; k++)
        if (a->form->operand[k].kind == PL_K_OPAQUE && !strcmp(a->form->operand[k].name, "b") &&
            a->out[k].kind != PL_O_NONE)
            return false;
    return true;
}

/* Operands of tex and tld4 that PTX 4.3 added, and the predicate of 7.1. */
static bool check_texture_features(const pl_attempt *a)
{
    bool cube = has_word(a, "cube") || has_word(a, "acube");
    for (unsigned k = 0; k < a->form->noperands; k++) {
        const pl_ospec *s = &a->form->operand[k];
        const char *feature = NULL;
        if (a->out[k].kind == PL_O_NONE) continue;
        if (s->joined && !pl_module_needs(a->p, a->at, "a predicate result", 71, "sm_60"))
            return false;
        if (s->kind == PL_K_OPAQUE && !strcmp(s->name, "b") && !a->p->ast->texmode_independent)
            feature = "a sampler of its own";
        if (!strcmp(s->name, "dy") && cube) feature = "a gradient of a cube";
        if (!strcmp(s->name, "offset")) feature = "an offset";
        if (!strcmp(s->name, "depth")) feature = "a depth to compare with";
        if (feature && !pl_module_needs(a->p, a->at, feature, 43, "sm_20")) return false;
    }
    return true;
}

/* Cubes do not support offsets; volumes and integer coordinates do not support reference depths. */
static bool check_texture(const pl_attempt *a)
{
    const char *query = a->opcode->mnem == M_txq ? query_problem(a) : NULL;
    if (query) {
        pl_report(a->p->diags, PL_E0218, a->out[1].at, pl_full_name(a->p, a->opcode), query);
        return false;
    }
    if (a->opcode->mnem != M_tex && a->opcode->mnem != M_tld4) return true;
    if (lacks_sampler(a)) {
        pl_report(a->p->diags, PL_E0218, a->at, pl_full_name(a->p, a->opcode),
                  "a sampler follows the texture (texmode_independent)");
        return false;
    }
    if (!check_texture_features(a)) return false;
    for (unsigned k = 0; k < a->form->noperands; k++) {
        const char *name = a->form->operand[k].name, *problem = NULL;
        if (a->out[k].kind == PL_O_NONE) continue;
        if (!strcmp(name, "offset") && (has_word(a, "cube") || has_word(a, "acube")))
            problem = "a cube takes no offset";
        if (!strcmp(name, "depth") &&
            (has_word(a, "3d") || has_word(a, "2dms") || has_word(a, "a2dms") ||
             a->mods[a->form->nslots - 1] == W_s32))
            problem = "only one- and two-dimensional textures and cubes with floating-point "
                      "coordinates are compared with a depth";
        if (problem) {
            pl_report(a->p->diags, PL_E0218, a->out[k].at, pl_full_name(a->p, a->opcode), problem);
            return false;
        }
    }
    return true;
}

enum { WARP = -1 };

/* Constants that ptxas 13.0 restricts although the operand may also be a register: the 16 barriers
 * of a block, bit fields, and sizes of asynchronous copies. (PTX ISA 9.0, sections 9.7.13.1, 9.7.1
 * and 9.7.9.25.) */
static const struct {
    uint16_t mnem;
    const char *operand;
    int64_t low, high, step;    /* step 0: a power of two; WARP: the warp size */
    const char *with, *without; /* a modifier that the row requires, and one that it excludes */
} limits[] = {
    {M_bar, "b", 1, UINT32_MAX, WARP, "arrive", NULL},
    {M_barrier, "b", 1, UINT32_MAX, WARP, "arrive", NULL},
    {M_mbarrier, "n", 1, INT64_MAX, 1, "arrive", "expect_tx"},
    {M_mbarrier, "n", 1, INT64_MAX, 1, "arrive_drop", "expect_tx"},
    {M_bar, "a", 0, 15, 1, NULL, NULL},
    {M_barrier, "a", 0, 15, 1, NULL, NULL},
    {M_bar, "b", 0, UINT32_MAX, WARP, NULL, NULL},
    {M_barrier, "b", 0, UINT32_MAX, WARP, NULL, NULL},
    {M_bfe, "b", 0, 255, 1, NULL, NULL},
    {M_bfe, "c", 0, 255, 1, NULL, NULL},
    {M_bfi, "c", 0, 255, 1, NULL, NULL},
    {M_bfi, "d", 0, 255, 1, NULL, NULL},
    {M_setmaxnreg, "a", 24, 256, 8, NULL, NULL},
    {M_cp, "size", 0, INT32_MAX, 0, NULL, NULL}, /* 16 bytes in bulk copies */
    {M_cp, "src", 0, 16, 1, NULL, NULL},
    {M_alloca, "align", 1, INT32_MAX, 0, NULL, NULL},
    {M_tcgen05, "n", 32, 512, 32, "exclusive", NULL},
    {M_tcgen05, "n", 32, 512, 0, NULL, "exclusive"},
    {M_st, "size", 0, 1 << 24, 1, NULL, NULL},
    {M_mbarrier, "state", 0, 1, 1, "parity", NULL},
};

/* True if row k of the limits applies to this operand. The first such row is used. */
static bool limit_applies(const pl_attempt *a, size_t k, const char *operand)
{
    return limits[k].mnem == a->opcode->mnem && !strcmp(limits[k].operand, operand) &&
           (!limits[k].with || has_word(a, limits[k].with)) &&
           (!limits[k].without || !has_word(a, limits[k].without));
}

static bool check_constants(const pl_attempt *a)
{
    /* bar.warp.sync takes a mask. */
    bool one_warp = a->form->effects & PL_EF_BARRIER && a->form->effects & PL_EF_CONVERGE;
    const size_t rows = sizeof limits / sizeof *limits;
    for (unsigned j = 0; j < a->form->noperands && !one_warp; j++) {
        const pl_operand_draft *o = &a->out[j];
        size_t k = 0;
        while (o->kind == PL_O_IMM && k < rows && !limit_applies(a, k, a->form->operand[j].name))
            k++;
        if (o->kind != PL_O_IMM || k == rows) continue;
        pl_word type = pl_operand_type(a->form, j, a->mods);
        int64_t value = pl_word_bits[type] > 32       ? o->imm
                        : limits[k].high == INT64_MAX ? o->given
                        : limits[k].high > INT32_MAX  ? (int64_t)(uint32_t)o->imm
                                                      : (int32_t)o->imm;
        if (value < limits[k].low || value > limits[k].high) {
            pl_report(a->p->diags, PL_E0209, o->at, pl_full_name(a->p, a->opcode),
                      pl_range_text(a->p->arena, limits[k].low, limits[k].high), (long long)value);
            return false;
        }
        int64_t step = limits[k].step == 0 && has_word(a, "bulk") ? 16
                       : limits[k].step == WARP                   ? (int64_t)a->p->lanes
                                                                  : limits[k].step;
        if (step ? value % step != 0 : (value & (value - 1)) != 0) {
            pl_report(a->p->diags, PL_E0246, o->at, pl_full_name(a->p, a->opcode),
                      step ? pl_arena_printf(a->p->arena, "multiple of %d", (int)step)
                           : "power of two",
                      (long long)value);
            return false;
        }
    }
    return true;
}

/* The primary part of a range of createpolicy is not larger than the range. */
static bool check_policy_range(const pl_attempt *a)
{
    if (a->opcode->mnem != M_createpolicy || !has_word(a, "range")) return true;
    const pl_operand_draft *primary = &a->out[2], *total = &a->out[3];
    if (primary->kind != PL_O_IMM || total->kind != PL_O_IMM) return true;
    int64_t most = (uint32_t)total->imm, value = (uint32_t)primary->imm;
    if (value <= most) return true;
    pl_report(a->p->diags, PL_E0209, primary->at, pl_full_name(a->p, a->opcode),
              pl_range_text(a->p->arena, 0, most), (long long)value);
    return false;
}

/* Reports a constant that is not in 0..high or not a multiple of step. */
static bool check_selector(const pl_attempt *a, const pl_operand_draft *o, int high, int step)
{
    if (o->kind != PL_O_IMM) return true;
    if (o->given >= 0 && o->given <= high && o->given % step == 0) return true;
    if (o->given < 0 || o->given > high)
        pl_report(a->p->diags, PL_E0209, o->at, pl_full_name(a->p, a->opcode),
                  pl_range_text(a->p->arena, 0, high), (long long)o->given);
    else
        pl_report(a->p->diags, PL_E0246, o->at, pl_full_name(a->p, a->opcode),
                  pl_arena_printf(a->p->arena, "multiple of %d", step), (long long)o->given);
    return false;
}

/* The scale factors of a block-scaled mma: {first byte, thread of the group}. The factors of a row
 * fill one, two or four bytes of the register. */
static bool check_scale_selectors(const pl_attempt *a)
{
    if (a->opcode->mnem != M_mma) return true;
    const bool four = has_word(a, "scale_vec::4X"),
               two = has_word(a, "scale_vec::2X") || has_word(a, "kind::mxf4");
    for (unsigned k = 0; k < a->form->noperands; k++) {
        const char *name = a->form->operand[k].name;
        const bool of_a = !strcmp(name, "ia");
        const pl_operand_draft *o = &a->out[k];
        if ((!of_a && strcmp(name, "ib") != 0) || o->kind != PL_O_VEC || o->n != 2) continue;
        if (!check_selector(a, &o->elem[0], four ? 0 : 3, two ? 2 : 1) ||
            !check_selector(a, &o->elem[1], of_a ? 1 : 3, 1))
            return false;
    }
    return true;
}

/* Checks scale factors: a factor of wgmma is 1 or -1. The accumulator of tcgen05.mma is divided by
 * a power of two only where it is read as a wide floating-point number. */
static bool check_scale(const pl_attempt *a)
{
    for (unsigned k = 0; k < a->form->noperands; k++) {
        const char *name = a->form->operand[k].name;
        const pl_operand_draft *o = &a->out[k];
        if (a->opcode->mnem == M_wgmma && (!strcmp(name, "na") || !strcmp(name, "nb")) &&
            o->imm == 0) {
            pl_report(a->p->diags, PL_E0218, o->at, pl_full_name(a->p, a->opcode),
                      "a factor is multiplied by 1 or by -1");
            return false;
        }
        if (a->opcode->mnem != M_tcgen05 || strcmp(name, "scale") != 0 || o->kind == PL_O_NONE)
            continue;
        if (has_word(a, "kind::f8f6f4")) {
            pl_report(a->p->diags, PL_E0218, o->at, pl_full_name(a->p, a->opcode),
                      "the accumulator of kind::f16 and kind::tf32 is scaled");
            return false;
        }
        if (!has_word(a, "kind::i8") &&
            !pl_module_needs(a->p, o->at, "a scaled accumulator", 86, "sm_100f"))
            return false;
    }
    return true;
}

/* Numbers of tensor map fields that only some targets support. */
static const struct {
    uint16_t mnem, word;
    int64_t from;
    uint16_t ptx;
    const char *target;
} newer[] = {{M_tensormap, W_elemtype, 13, 87, "sm_100f|sm_110f|sm_120f"},
             {M_tensormap, W_swizzle_mode, 4, 88, "sm_103a"}};

static bool check_map_numbers(const pl_attempt *a)
{
    for (size_t k = 0; k < sizeof newer / sizeof *newer; k++) {
        const pl_operand_draft *value = &a->out[1];
        if (a->opcode->mnem == newer[k].mnem && has_word(a, pl_word_text[newer[k].word]) &&
            value->imm >= newer[k].from &&
            !pl_module_needs(a->p, value->at, "this number", newer[k].ptx, newer[k].target))
            return false;
    }
    return true;
}

static void report_operand_number(const pl_attempt *a, pl_loc at, const char *why)
{
    pl_report(a->p->diags, PL_E0205, at, pl_full_name(a->p, a->opcode), why)->help =
        pl_syntax_help(a->p, a->form);
}

/* Called when all items have matched: the operands from k on must be optional. */
static bool match_absent_operands(const pl_attempt *a, unsigned k)
{
    for (; k < a->form->noperands; k++) {
        if (a->out) memset(&a->out[k], 0, sizeof a->out[k]);
        if (is_optional(&a->form->operand[k])) continue;
        if (a->report) report_operand_number(a, a->at, "too few");
        return false;
    }
    return true;
}

/* Reports that item i matches no operand. */
static void report_unmatched_item(const pl_attempt *a, unsigned i)
{
    const pl_node *n = node(a->p, a->items[i].node);
    if (a->items[i].second_of_pair)
        pl_report(a->p->diags, PL_E0231, n->at, pl_full_name(a->p, a->opcode))->help =
            pl_syntax_help(a->p, a->form);
    else
        report_operand_number(a, n->at, i < a->form->noperands ? "too few" : "too many");
}

/* True if operand k is optional, and the item is not it: there are items enough for the operands
 * after it, and it does not match. */
static bool skips_operand(const pl_attempt *a, unsigned k, unsigned i)
{
    const pl_ospec *s = &a->form->operand[k];
    pl_operand_draft unused = {0};
    if (!is_optional(s) || s->joined || k + 1 >= a->form->noperands ||
        a->nitems - i > a->form->noperands - k - 1)
        return false;
    pl_attempt quiet = *a;
    quiet.report = false;
    quiet.out = NULL;
    return !pl_operand_check(&quiet, k, &a->items[i], &unused);
}

/* Matches the items with the form's operands in order. Optional operands that do not match are
 * skipped. */
static bool match_operands(pl_attempt *a)
{
    unsigned i = 0, k = 0;
    pl_operand_draft scratch;
    for (; k < a->form->noperands && (i < a->nitems || i == 0); k++) {
        const pl_ospec *s = &a->form->operand[k];
        const bool have = i < a->nitems && a->items[i].second_of_pair == s->joined;
        pl_operand_draft *o = a->out ? &a->out[k] : &scratch;
        memset(o, 0, sizeof *o);
        if (!have && !is_optional(s)) break;
        if (!have || skips_operand(a, k, i)) continue;
        a->matched = i;
        if (!pl_operand_check(a, k, &a->items[i], o)) return false;
        i++;
    }
    a->matched = i;
    if (i == a->nitems) return match_absent_operands(a, i ? k : 0);
    if (a->report) report_unmatched_item(a, i);
    return false;
}

static unsigned split_items(pl_parse *p, uint32_t operands, pl_item *items, bool *too_many)
{
    unsigned n = 0;
    uint32_t e = operands ? node(p, operands)->first : 0;
    for (; e && n + 2 < MAX_ITEMS; e = node(p, e)->next) {
        const pl_node *x = node(p, e);
        if (x->kind == PL_N_PAIR) {
            items[n++] = (pl_item){.node = x->first, .first_of_pair = true};
            items[n++] = (pl_item){.node = x->last, .second_of_pair = true};
        } else if (x->kind == PL_N_ADDR) {
            bool first = true;
            for (uint32_t f = x->first; f && n + 2 < MAX_ITEMS; f = node(p, f)->next) {
                items[n++] = (pl_item){.node = f, .bracket = first, .inside = !first};
                first = false;
            }
        } else {
            items[n++] = (pl_item){.node = e};
        }
    }
    *too_many = e != 0;
    return n;
}

/* ---- the instruction ---- */

static const char *required_words(pl_parse *p, const pl_match *m)
{
    const char *text = "";
    for (unsigned k = 0; k < m->nrequired; k++)
        text = pl_arena_printf(p->arena, "%s%s.%s", text,
                               k == 0                  ? ""
                               : k + 1 == m->nrequired ? " or "
                                                       : ", ",
                               pl_word_text[m->required[k]]);
    return m->nrequired == PL_MAX_REQUIRED ? pl_arena_printf(p->arena, "%s ...", text) : text;
}

static void report_words(pl_parse *p, const pl_sym *opcode, pl_loc at, const pl_match *m)
{
    pl_diag *d = NULL;
    const char *suggestion;
    pl_loc where = m->index < p->nwords ? p->word_at[m->index] : at;
    const char *word = m->index < p->nwords ? p->word[m->index].text : "";
    switch (m->mismatch) {
    case PL_MISMATCH_NONE: return;
    case PL_MISMATCH_UNKNOWN:
    case PL_MISMATCH_NOT_OF_MNEMONIC:
        d = pl_report(p->diags, m->mismatch == PL_MISMATCH_UNKNOWN ? PL_E0220 : PL_E0214, where,
                      m->mismatch == PL_MISMATCH_UNKNOWN ? word : opcode->name, word);
        suggestion = pl_match_suggest((int)opcode->mnem, word, strlen(word));
        d->help = suggestion ? pl_arena_printf(p->arena, "did you mean '.%s'?", suggestion)
                  : m->form  ? pl_syntax_help(p, m->form)
                             : NULL;
        return;
    case PL_MISMATCH_COMBINATION:
        d = pl_report(p->diags, PL_E0215, where, word, opcode->name);
        break;
    case PL_MISMATCH_DUPLICATE: d = pl_report(p->diags, PL_E0216, where, word); break;
    case PL_MISMATCH_ORDER: d = pl_report(p->diags, PL_E0219, where, word, opcode->name); break;
    case PL_MISMATCH_MISSING:
        d = pl_report(p->diags, PL_E0217, at, pl_full_name(p, opcode), required_words(p, m));
        break;
    case PL_MISMATCH_CONSTRAINT:
        d = pl_report(p->diags, PL_E0218, at, pl_full_name(p, opcode), m->message);
        break;
    case PL_MISMATCH_VERSION:
        pl_module_needs(p, at, pl_full_name(p, opcode), m->ptx, m->target);
        return;
    }
    if (d && m->form) d->help = pl_syntax_help(p, m->form);
}

static pl_reg *guard_register(pl_parse *p, pl_sym *guard, pl_loc at)
{
    const pl_binding *b = pl_name_lookup(p, guard);
    if (!b) {
        pl_name_undefined(p, guard, at);
        return NULL;
    }
    if (b->kind == PL_B_BAD) return NULL;
    if (b->kind != PL_B_REG || b->reg->type != W_pred) {
        pl_report(p->diags, PL_E0221, at, guard->name);
        return NULL;
    }
    return b->reg;
}

/* wmma has had .aligned since PTX 6.3. */
static void add_aligned(pl_parse *p, const pl_sym *opcode, pl_loc at)
{
    static const char text[] = "aligned";
    if (opcode->mnem != M_wmma || p->ast->ptx >= 63 || p->nwords == PL_MAX_WORDS) return;
    for (unsigned k = 0; k < p->nwords; k++)
        if (p->word[k].word == W_aligned) {
            pl_module_needs(p, p->word_at[k], "wmma with .aligned", 63, "sm_70");
            return;
        }
    p->word[p->nwords] = (pl_match_word){.word = W_aligned, .text = text, .len = sizeof text - 1};
    p->word_at[p->nwords++] = at;
}

/* Operands after the first erroneous one are not checked, but undeclared names are always reported.
 */
static void report_undefined_names(pl_attempt *a)
{
    for (unsigned k = a->matched + 1; k < a->nitems; k++) {
        const pl_node *n = node(a->p, a->items[k].node);
        if (n->kind == PL_N_NAME && n->sym->sreg < 0 && !pl_name_lookup(a->p, n->sym))
            pl_name_undefined(a->p, n->sym, n->at);
    }
}

/* ---- conversion to the tree ---- */

static void convert_operand(pl_parse *p, const pl_operand_draft *d, bool called, pl_operand *o)
{
    pl_func *f = p->func;
    *o = (pl_operand){.kind = d->kind,
                      .neg = d->neg,
                      .is_float = d->is_float,
                      .sel = d->sel,
                      .nlanes = d->nlanes,
                      .lanes = d->lanes,
                      .imm = d->imm};
    switch ((pl_operand_kind)d->kind) {
    case PL_O_NONE:
    case PL_O_IMM:
    case PL_O_SINK: break;
    case PL_O_REG: o->reg = d->reg; break;
    case PL_O_SREG: o->sreg = d->sreg; break;
    case PL_O_ADDR:
        o->on_var = d->var != NULL;
        if (d->var)
            o->var = d->var;
        else
            o->reg = d->reg;
        break;
    case PL_O_VAR: o->var = d->var; break;
    case PL_O_TABLE: o->table = d->table; break;
    case PL_O_LABEL: pl_label_refer(p, d->label, d->at, &o->label); break;
    case PL_O_FUNC:
        o->func = d->func;
        o->line = d->at.line;
        o->column = d->at.column;
        break;
    case PL_O_VEC:
    case PL_O_ARGS:
        o->n = d->n;
        o->elem =
            d->n ? pl_arena_alloc_aligned(p->arena, d->n * sizeof *o->elem, _Alignof(pl_operand))
                 : NULL;
        if (!o->elem) o->n = 0;
        for (unsigned k = 0; k < o->n; k++) convert_operand(p, &d->elem[k], false, &o->elem[k]);
        break;
    }
    const pl_var *v = pl_operand_var(o);
    if (d->kind == PL_O_FUNC || (v && !v->owner))
        *pl_push(p->arena, &f->uses) = (pl_use){o, called};
}

static void append_statement(const pl_attempt *a, const pl_choice *what, pl_reg *guard, bool neg)
{
    pl_parse *p = a->p;
    unsigned n = a->form->noperands;
    pl_operand *op =
        n ? pl_arena_alloc_aligned(p->arena, n * sizeof *op, _Alignof(pl_operand)) : NULL;
    for (unsigned k = 0; k < n; k++)
        convert_operand(p, &a->out[k], a->form->operand[k].kind == PL_K_FUNC, &op[k]);
    *pl_push(p->arena, &p->func->body) =
        (pl_stmt){.kind = PL_S_INSN,
                  .guard_neg = neg,
                  .line = a->at.line,
                  .column = a->at.column,
                  .length = (uint16_t)(a->at.length < UINT16_MAX ? a->at.length : UINT16_MAX),
                  .what = what,
                  .guard = guard,
                  .op = op};
}

/* Labels named by an erroneous statement must exist nevertheless. */
static void refer_to_labels(const pl_attempt *a)
{
    for (unsigned k = 0; k < a->form->noperands; k++)
        if (a->out[k].kind == PL_O_LABEL && a->out[k].label)
            pl_label_refer(a->p, a->out[k].label, a->out[k].at,
                           pl_arena_new(a->p->names, pl_label *));
}

/* The forms that the words of an instruction match. NULL: none, which is reported. */
static const pl_match *match_opcode(pl_parse *p, pl_sym *opcode, pl_loc at)
{
    if (opcode->mnem < 0) {
        pl_diag *d = pl_report(p->diags, PL_E0201, at, opcode->name);
        const char *s = pl_match_suggest_mnem(opcode->name, opcode->len);
        if (s) d->help = pl_arena_printf(p->arena, "did you mean '%s'?", s);
        return NULL;
    }
    if (!p->match) add_aligned(p, opcode, at);
    if (!p->match) p->match = pl_match_words(p->matcher, opcode->mnem, p->word, p->nwords);
    if (p->match->n) return p->match;
    if (!p->word_overflow) report_words(p, opcode, at, p->match);
    return NULL;
}

/* The form that the operands match, or else the one that they match furthest. */
static const pl_choice *choose_form(pl_attempt *a, const pl_match *m)
{
    const pl_choice *best = &m->at[0];
    unsigned furthest = 0;
    for (unsigned k = 0; k < m->n && m->n > 1; k++) {
        a->form = &pl_forms[m->at[k].form];
        a->mods = m->at[k].mods;
        a->matched = a->match_quality = 0;
        if (match_operands(a)) return &m->at[k];
        const unsigned score = 4 * a->matched + a->match_quality;
        if (score > furthest || k == 0) {
            furthest = score;
            best = &m->at[k];
        }
    }
    return best;
}

/* Checks operands that have matched their form. False: one is wrong, which is reported. */
static bool check_statement(pl_attempt *a)
{
    return check_policy(a) && check_mask(a) && check_pair(a) && check_mbarrier(a) &&
           check_texture(a) && check_address_size(a) && pl_video_check_signs(a) && check_scale(a) &&
           check_constants(a) && check_policy_range(a) && check_scale_selectors(a) &&
           check_map_numbers(a) && pl_call_check(a->p, a->form, a->out, a->at);
}

/* Appends the statement to the function if it is right. guarded: it has a guard; NULL: that is
 * wrong. */
static void add_statement(pl_attempt *a, const pl_match *m, bool guarded, pl_reg *guard, bool neg)
{
    pl_operand_draft out[PL_MAX_OPERANDS];
    const pl_choice *best = choose_form(a, m);
    a->form = &pl_forms[best->form];
    a->mods = best->mods;
    a->out = out;
    a->report = true;
    for (unsigned k = 0; k < a->form->noperands; k++) out[k].kind = PL_O_NONE;
    const bool good = match_operands(a);
    if (!good) report_undefined_names(a);
    if (good && check_statement(a) && (!guarded || guard))
        append_statement(a, best, guard, neg);
    else
        refer_to_labels(a);
}

void pl_stmt_insn(pl_parse *p, pl_sym *guard, bool neg, pl_loc guard_at, pl_sym *opcode, pl_loc at,
                  uint32_t operands)
{
    pl_item items[MAX_ITEMS];
    bool too_many;
    if (p->func) {
        pl_reg *g = guard ? guard_register(p, guard, guard_at) : NULL;
        const pl_match *m = match_opcode(p, opcode, at);
        pl_attempt a = {.p = p, .items = items, .opcode = opcode, .at = at};
        if (m) a.nitems = split_items(p, operands, items, &too_many);
        if (m && too_many)
            pl_report(p->diags, PL_E0205, at, pl_full_name(p, opcode), "too many");
        else if (m)
            add_statement(&a, m, guard != NULL, g, neg);
    }
    pl_nodes_reset(p);
}
