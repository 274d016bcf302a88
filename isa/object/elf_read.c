/* elf_read.c - reads an ELF object back into a machine program. See isa/object/elf_layout.h.
 *
 * The file is untrusted: every offset, size, count and number is checked before it is used, and the
 * resulting program is verified as a whole (isa/program/verify.c). The content hash detects
 * accidental damage; the checks cover everything else. */
#include "isa/object/elf.h"

#include <string.h>

#include "base/guard.h"
#include "base/sha256.h"
#include "isa/program/verify.h"
#include "isa/object/elf_layout.h"
#include "isa/program/canonicalize.h"

typedef struct symbol {
    const char *name;
    uint64_t value, size;
    uint32_t section;
} symbol;

typedef struct reader {
    const char *at; /* the file */
    size_t n;
    pl_diags *diags;
    pl_loc loc;
    pl_program *p;
    struct {
        const char *at;
        uint64_t n;
    } part[PL_S_COUNT];
    char *strings;
    size_t nsymbols;
    bool reported;
} reader;

static uint64_t read_le(const char *at, unsigned n)
{
    uint64_t v = 0;
    for (unsigned k = 0; k < n; k++) v |= (uint64_t)(unsigned char)at[k] << 8 * k;
    return v;
}

/* Reports the first error only. */
static bool report_error(reader *r, pl_diag_id id, const char *why)
{
    if (!r->reported) pl_report(r->diags, id, r->loc, why);
    r->reported = true;
    return false;
}

static bool report_damage(reader *r, const char *why)
{
    return report_error(r, PL_E0611, why);
}

/* ---- sections ---- */

static bool read_header(reader *r)
{
    const char *h = r->at;
    if (r->n < sizeof(Elf64_Ehdr)) return report_damage(r, "it ends within the header");
    if (h[EI_CLASS] != ELFCLASS64 || h[EI_DATA] != ELFDATA2LSB ||
        read_le(h + offsetof(Elf64_Ehdr, e_machine), 2) != EM_NONE ||
        read_le(h + offsetof(Elf64_Ehdr, e_type), 2) != ET_REL)
        return report_error(r, PL_E0610, "it is for another machine");
    if (read_le(h + offsetof(Elf64_Ehdr, e_shentsize), 2) != sizeof(Elf64_Shdr))
        return report_damage(r, "its section headers have the wrong size");
    uint64_t at = read_le(h + offsetof(Elf64_Ehdr, e_shoff), 8),
             count = read_le(h + offsetof(Elf64_Ehdr, e_shnum), 2);
    if (at > r->n || (r->n - at) / sizeof(Elf64_Shdr) < count)
        return report_damage(r, "it ends before its section headers");
    if (count != PL_S_COUNT || read_le(h + offsetof(Elf64_Ehdr, e_shstrndx), 2) != PL_S_SHSTRTAB)
        return report_error(r, PL_E0610, "its sections are not those of ptxloom");
    return true;
}

static const char *section_header(const reader *r, unsigned s)
{
    return r->at + read_le(r->at + offsetof(Elf64_Ehdr, e_shoff), 8) + s * sizeof(Elf64_Shdr);
}

static bool read_section(reader *r, unsigned s)
{
    const pl_section_row *row = &pl_object_section[s];
    const char *h = section_header(r, s);
    uint64_t at = read_le(h + offsetof(Elf64_Shdr, sh_offset), 8),
             n = read_le(h + offsetof(Elf64_Shdr, sh_size), 8);
    size_t entry = pl_section_entry((pl_section)s);
    if (read_le(h + offsetof(Elf64_Shdr, sh_type), 4) != row->type ||
        read_le(h + offsetof(Elf64_Shdr, sh_entsize), 8) != entry)
        return report_error(r, PL_E0610, "its sections are not those of ptxloom");
    if (row->type != SHT_NOBITS && (at > r->n || n > r->n - at))
        return report_damage(r, "it ends within a section");
    if (entry && n % entry) return report_damage(r, "a section ends within an entry");
    r->part[s].at = row->type == SHT_NOBITS ? NULL : r->at + at;
    r->part[s].n = n;
    return true;
}

static bool check_names(reader *r)
{
    uint64_t n = r->part[PL_S_SHSTRTAB].n;
    for (unsigned s = 1; s < PL_S_COUNT; s++) {
        const char *name = pl_object_section[s].name;
        uint64_t at = read_le(section_header(r, s) + offsetof(Elf64_Shdr, sh_name), 4);
        if (at > n || n - at < strlen(name) + 1 ||
            memcmp(r->part[PL_S_SHSTRTAB].at + at, name, strlen(name) + 1) != 0)
            return report_error(r, PL_E0610, "its sections are not those of ptxloom");
    }
    return true;
}

static bool check_content(reader *r, const char *note)
{
    static const char zeros[64];
    const char *stored = note + PL_NOTE_CONTENT;
    size_t before = (size_t)(stored - r->at);
    pl_sha256 s;
    char hex[65];
    pl_sha256_init(&s);
    pl_sha256_add(&s, r->at, before);
    pl_sha256_add(&s, zeros, sizeof zeros);
    pl_sha256_add(&s, stored + sizeof zeros, r->n - before - sizeof zeros);
    pl_sha256_hex(&s, hex);
    return memcmp(hex, stored, 64) == 0 || report_damage(r, "its content is not what was written");
}

static bool read_note(reader *r)
{
    const char *at = r->part[PL_S_NOTE].at;
    if (r->part[PL_S_NOTE].n < 12 + PL_NOTE_NAME_BYTES + PL_NOTE_FORMAT + 4 ||
        memcmp(at + 12, "PTXLOOM", PL_NOTE_NAME_BYTES) != 0)
        return report_error(r, PL_E0610, "it has no note of ptxloom");
    at += 12 + PL_NOTE_NAME_BYTES;
    if (read_le(at + PL_NOTE_FORMAT, 4) != PL_OBJECT_FORMAT)
        return report_error(r, PL_E0612, "another format");
    if (r->part[PL_S_NOTE].n != 12 + PL_NOTE_NAME_BYTES + PL_NOTE_BYTES)
        return report_damage(r, "its note has the wrong size");
    char table[65];
    pl_table_hash(table);
    if (memcmp(at + PL_NOTE_TABLE, table, 64) != 0)
        return report_error(r, PL_E0612, "another instruction table");
    pl_program *p = r->p;
    uint64_t suffix = read_le(at + PL_NOTE_SUFFIX, 4), sm = read_le(at + PL_NOTE_SM, 4),
             opt = read_le(at + PL_NOTE_OPT, 4), ptx = read_le(at + PL_NOTE_PTX, 4);
    if ((suffix && suffix != 'a' && suffix != 'f') || sm > 999 || opt > 9 || ptx > 999)
        return report_damage(r, "its note makes no sense");
    p->opt_level = (int)opt;
    p->ptx = (uint16_t)ptx;
    p->sm = (uint16_t)sm;
    p->sm_suffix = (char)suffix;
    p->target = suffix ? pl_arena_printf(p->arena, "sm_%u%c", (unsigned)sm, (char)suffix)
                       : pl_arena_printf(p->arena, "sm_%u", (unsigned)sm);
    return check_content(r, at);
}

/* ---- records ---- */

static const char *string(reader *r, uint64_t at)
{
    if (at < r->part[PL_S_STRTAB].n) return r->strings + at;
    report_damage(r, "a name is outside the string table");
    return "";
}

static void get_record(reader *r, const pl_record *rec, const char *from, void *to)
{
    for (unsigned k = 0; k < rec->n; k++) {
        const pl_field *f = &rec->field[k];
        if (f->kind == PL_F_TEXT) {
            uint64_t at = read_le(from, 4);
            pl_field_set_text(f, to, string(r, at));
            if (at == 0) report_damage(r, "a name is missing");
            from += 4;
            continue;
        }
        for (unsigned e = 0; e < f->count; e++, from += f->bytes) {
            uint64_t v = read_le(from, f->bytes);
            if (f->kind == PL_F_BOOL && v > 1) {
                report_damage(r, "a flag is neither 0 nor 1");
                v = 0;
            }
            pl_field_set(f, to, e, v);
        }
    }
}

static size_t entry_count(const reader *r, pl_section s)
{
    return (size_t)(r->part[s].n / pl_section_entry(s));
}

/* Reads entries first .. first + n of a section into an array in the program's arena. */
static void *get_records(reader *r, pl_section s, size_t first, size_t n)
{
    const pl_section_row *row = &pl_object_section[s];
    size_t entry = pl_section_entry(s);
    char *to = pl_arena_alloc(r->p->arena, row->record->size * n + 1);
    for (size_t k = 0; to && k < n; k++)
        get_record(r, row->record, r->part[s].at + (first + k) * entry + 4u * row->extra,
                   to + k * row->record->size);
    return to;
}

#define GET_TABLE(r, s, vector)                                                                    \
    ((vector)->at = get_records((r), (s), 0, entry_count((r), (s))),                               \
     (vector)->n = (vector)->cap = (vector)->at ? entry_count((r), (s)) : 0)

static uint32_t *get_numbers(reader *r, pl_section s, size_t *n)
{
    size_t count = entry_count(r, s);
    uint32_t *to = pl_arena_array(r->p->arena, uint32_t, count + 1);
    for (size_t k = 0; to && k < count; k++) to[k] = (uint32_t)read_le(r->part[s].at + 4 * k, 4);
    *n = to ? count : 0;
    return to;
}

static bool get_symbol(reader *r, uint64_t index, symbol *out)
{
    if (index == 0 || index >= r->nsymbols) return report_damage(r, "a symbol number is too large");
    const char *at = r->part[PL_S_SYMTAB].at + index * sizeof(Elf64_Sym);
    uint64_t name = read_le(at + offsetof(Elf64_Sym, st_name), 4);
    *out = (symbol){.name = string(r, name),
                    .value = read_le(at + offsetof(Elf64_Sym, st_value), 8),
                    .size = read_le(at + offsetof(Elf64_Sym, st_size), 8),
                    .section = (uint32_t)read_le(at + offsetof(Elf64_Sym, st_shndx), 2)};
    return name != 0 || report_damage(r, "a symbol has no name");
}

/* ---- functions ---- */

/* Reads the next n entries of a section for a function. */
static void *next_records(reader *r, pl_section s, size_t *next, uint64_t n)
{
    if (n > entry_count(r, s) - *next) {
        report_damage(r, "a function has more entries than its table");
        return NULL;
    }
    void *at = get_records(r, s, *next, (size_t)n);
    *next += (size_t)n;
    return at;
}

#define NEXT_RECORDS(r, s, next, count, vector)                                                    \
    ((vector)->at = next_records((r), (s), (next), (count)),                                       \
     (vector)->n = (vector)->cap = (vector)->at ? (size_t)(count) : 0)

static bool read_functions(reader *r, uint32_t *of_symbol)
{
    pl_program *p = r->p;
    size_t next[PL_S_COUNT] = {0}, entry = pl_section_entry(PL_S_FUNCS),
           code = pl_section_entry(PL_S_TEXT);
    GET_TABLE(r, PL_S_FUNCS, &p->funcs);
    for (size_t k = 0; k < p->funcs.n && !r->reported; k++) {
        pl_prog_func *f = &p->funcs.at[k];
        const char *at = r->part[PL_S_FUNCS].at + k * entry;
        uint64_t number[PL_FN_NUMBERS];
        for (unsigned e = 0; e < PL_FN_NUMBERS; e++) number[e] = read_le(at + 4 * e, 4);
        symbol s;
        if (!get_symbol(r, number[PL_FN_SYMBOL], &s)) return false;
        of_symbol[number[PL_FN_SYMBOL]] = (uint32_t)k + 1;
        f->name = s.name;
        if (s.section == PL_S_TEXT) {
            uint64_t n = entry_count(r, PL_S_TEXT);
            if (s.value % code || s.size % code || s.value / code > n ||
                s.size / code > n - s.value / code)
                return report_damage(r, "a function is outside the code");
            f->first = (uint32_t)(s.value / code);
            f->count = (uint32_t)(s.size / code);
        } else if (s.section != SHN_UNDEF)
            return report_damage(r, "a function is outside the code");
        NEXT_RECORDS(r, PL_S_ROWS, &next[PL_S_ROWS], number[PL_FN_ROWS], &f->init);
        NEXT_RECORDS(r, PL_S_PARAMS, &next[PL_S_PARAMS], number[PL_FN_PARAMS], &f->params);
        NEXT_RECORDS(r, PL_S_FORMALS, &next[PL_S_FORMALS], number[PL_FN_FORMALS], &f->formal);
        NEXT_RECORDS(r, PL_S_RESULTS, &next[PL_S_RESULTS], number[PL_FN_RESULTS], &f->result);
    }
    return !r->reported;
}

/* ---- variables ---- */

static bool read_data(reader *r, pl_prog_var *v, const symbol *s)
{
    bool data = s->section == PL_S_GLOBAL || s->section == PL_S_CONST,
         zero = s->section == PL_S_GLOBAL_ZERO || s->section == PL_S_CONST_ZERO;
    bool global = s->section == PL_S_GLOBAL || s->section == PL_S_GLOBAL_ZERO;
    if ((!data && !zero && s->section != PL_S_SHARED) ||
        (v->space == PL_SP_GLOBAL) != ((data || zero) && global) ||
        (v->space == PL_SP_CONST) != ((data || zero) && !global))
        return report_damage(r, "a variable is in no section of its state space");
    uint64_t section_bytes = r->part[s->section].n;
    if (s->value > section_bytes || s->size > section_bytes - s->value)
        return report_damage(r, "a variable is outside its section");
    if (data) v->init = (const uint8_t *)pl_arena_alloc(r->p->arena, (size_t)s->size + 1);
    if (data && v->init)
        memcpy((uint8_t *)(uintptr_t)v->init, r->part[s->section].at + s->value, (size_t)s->size);
    if (v->space != PL_SP_GLOBAL) v->address = s->value;
    return true;
}

static bool read_variables(reader *r, uint32_t *of_symbol, symbol *symbols)
{
    pl_program *p = r->p;
    size_t entry = pl_section_entry(PL_S_VARS);
    GET_TABLE(r, PL_S_VARS, &p->vars);
    for (size_t k = 0; k < p->vars.n && !r->reported; k++) {
        pl_prog_var *v = &p->vars.at[k];
        uint64_t index = read_le(r->part[PL_S_VARS].at + k * entry + (size_t)4 * PL_VN_SYMBOL, 4);
        if (!get_symbol(r, index, &symbols[k]) || !read_data(r, v, &symbols[k])) return false;
        of_symbol[index] = (uint32_t)k + 1;
        v->name = symbols[k].name;
        v->size = symbols[k].size;
    }
    return !r->reported;
}

static bool read_relocation(reader *r, const char *at, const pl_prog_var *v, const symbol *s,
                            const uint32_t *func_of, const uint32_t *var_of, pl_prog_reloc *out)
{
    uint64_t info = read_le(at + offsetof(Elf64_Rela, r_info), 8), symbol_index = ELF64_R_SYM(info),
             type = ELF64_R_TYPE(info);
    *out = (pl_prog_reloc){.offset = read_le(at + offsetof(Elf64_Rela, r_offset), 8) - s->value,
                           .kind = (uint8_t)type,
                           .bytes = (uint8_t)(type >> 8),
                           .shift = (uint8_t)(type >> 16),
                           .addend = (int64_t)read_le(at + offsetof(Elf64_Rela, r_addend), 8)};
    if (symbol_index >= r->nsymbols || type >> 24 || out->shift > 63 || out->bytes > 8 ||
        out->bytes > v->size - out->offset)
        return report_damage(r, "a relocation makes no sense");
    bool variable = out->kind == PL_RELOC_VAR || out->kind == PL_RELOC_GENERIC;
    uint32_t found = variable                     ? var_of[symbol_index]
                     : out->kind == PL_RELOC_FUNC ? func_of[symbol_index]
                                                  : 0;
    if (out->kind != PL_RELOC_NONE && !found) return report_damage(r, "a relocation has no symbol");
    out->symbol = found ? found - 1 : 0;
    return true;
}

/* Relocations are in the order of the variables that they fill. */
static bool read_relocations(reader *r, pl_section s, pl_section data, const symbol *symbols,
                             const uint32_t *func_of, const uint32_t *var_of)
{
    pl_program *p = r->p;
    size_t n = entry_count(r, s), var = 0;
    for (size_t k = 0; k < n; k++) {
        const char *at = r->part[s].at + k * sizeof(Elf64_Rela);
        uint64_t offset = read_le(at + offsetof(Elf64_Rela, r_offset), 8);
        while (var < p->vars.n && (symbols[var].section != data || offset < symbols[var].value ||
                                   offset - symbols[var].value >= symbols[var].size))
            var++;
        pl_prog_reloc x;
        if (var == p->vars.n) return report_damage(r, "a relocation is outside the variables");
        if (!read_relocation(r, at, &p->vars.at[var], &symbols[var], func_of, var_of, &x))
            return false;
        *pl_push(p->arena, &p->vars.at[var].reloc) = x;
    }
    return true;
}

/* ---- the file ---- */

static bool read_strings(reader *r)
{
    uint64_t n = r->part[PL_S_STRTAB].n;
    if (n == 0 || r->part[PL_S_STRTAB].at[n - 1] != '\0')
        return report_damage(r, "its string table has no end");
    r->strings = pl_arena_alloc(r->p->arena, (size_t)n);
    if (!r->strings) return false;
    memcpy(r->strings, r->part[PL_S_STRTAB].at, (size_t)n);
    r->nsymbols = entry_count(r, PL_S_SYMTAB);
    return true;
}

static bool read_text(reader *r)
{
    pl_program *p = r->p;
    char *text = pl_arena_alloc(p->arena, (size_t)r->part[PL_S_PTX].n + 1);
    if (!text) return false;
    memcpy(text, r->part[PL_S_PTX].at, (size_t)r->part[PL_S_PTX].n);
    p->text = text;
    p->text_bytes = (size_t)r->part[PL_S_PTX].n;
    size_t nfiles;
    const uint32_t *file = get_numbers(r, PL_S_FILES, &nfiles);
    for (size_t k = 0; k < nfiles; k++)
        *pl_push(p->arena, &p->files) = file[k] ? string(r, file[k]) : NULL;
    GET_TABLE(r, PL_S_SOURCES, &p->sources);
    return true;
}

static bool read_program(reader *r)
{
    pl_program *p = r->p;
    if (!read_header(r)) return false;
    /* The note comes first: a version mismatch reported there explains all other unexpected
     * contents. */
    for (unsigned s = 1; s < PL_S_COUNT; s++)
        if (!read_section(r, s) || (s == PL_S_NOTE && !read_note(r))) return false;
    if (!check_names(r) || !read_strings(r) || !read_text(r)) return false;
    uint32_t *func_of = pl_arena_array(p->arena, uint32_t, r->nsymbols + 1),
             *var_of = pl_arena_array(p->arena, uint32_t, r->nsymbols + 1);
    symbol *symbols = pl_arena_array(p->arena, symbol, entry_count(r, PL_S_VARS) + 1);
    if (!func_of || !var_of || !symbols || !read_functions(r, func_of) ||
        !read_variables(r, var_of, symbols) ||
        !read_relocations(r, PL_S_RELA_GLOBAL, PL_S_GLOBAL, symbols, func_of, var_of) ||
        !read_relocations(r, PL_S_RELA_CONST, PL_S_CONST, symbols, func_of, var_of))
        return false;
    GET_TABLE(r, PL_S_TEXT, &p->code);
    GET_TABLE(r, PL_S_CALLS, &p->calls);
    GET_TABLE(r, PL_S_MOVES, &p->moves);
    GET_TABLE(r, PL_S_LINES, &p->lines);
    GET_TABLE(r, PL_S_INLINES, &p->inlines);
    p->pool.at = get_numbers(r, PL_S_POOL, &p->pool.n);
    p->pool.cap = p->pool.n;
    if (r->reported || !pl_arena_ok(p->arena)) return false;
    const char *why = pl_program_check(p);
    return !why || report_damage(r, why);
}

static bool read_guarded(reader *r)
{
    PL_GUARD(return false)
    return read_program(r);
}

pl_status pl_object_read(const char *bytes, size_t n, pl_diags *diags, pl_loc at, pl_program **out)
{
    *out = NULL;
    PL_UNGUARDED;
    pl_arena *arena = pl_arena_open();
    pl_program *p = arena ? pl_arena_new(arena, pl_program) : NULL;
    if (!p) {
        pl_arena_close(arena);
        return PL_NOMEM;
    }
    p->arena = arena;
    reader r = {.at = bytes, .n = n, .diags = diags, .loc = at, .p = p};
    if (read_guarded(&r)) {
        *out = p;
        return PL_OK;
    }
    pl_arena_close(arena);
    return r.reported ? PL_INVALID : PL_NOMEM;
}
