/* elf_write.c - writes a machine program as an ELF object. See isa/object/elf_layout.h. */
#include "isa/object/elf.h"

#include <stdlib.h>
#include <string.h>

#include "base/sha256.h"
#include "isa/object/elf_layout.h"

/* A growing byte buffer. */
typedef struct bytes {
    char *at;
    size_t n, cap;
    bool failed;
} bytes;

typedef struct writer {
    const pl_program *p;
    bytes part[PL_S_COUNT];
    struct {
        const void *at;
        size_t n;
    } records[PL_S_COUNT];     /* arrays written directly from memory: most of the file */
    uint64_t zero[PL_S_COUNT]; /* sizes of sections without bytes in the file */
    uint32_t *func_symbol, *var_symbol;
    uint32_t locals; /* number of local symbols, which come first */
    bool failed;
} writer;

/* Ensures space for n more bytes. */
static bool reserve(bytes *b, size_t n)
{
    if (b->cap - b->n < n) {
        size_t cap = b->n + n > 2 * b->cap ? b->n + n : 2 * b->cap;
        cap = cap < 256 ? 256 : cap;
        char *at = realloc(b->at, cap);
        if (!at) {
            b->failed = true;
            return false;
        }
        b->at = at;
        b->cap = cap;
    }
    return true;
}

/* Appends n zeroed bytes; NULL when out of memory. */
static char *append_zeros(bytes *b, size_t n)
{
    if (!reserve(b, n)) return NULL;
    if (!n) return b->at;
    char *to = b->at + b->n;
    memset(to, 0, n);
    b->n += n;
    return to;
}

static void put_number(char *to, uint64_t v, unsigned n)
{
    for (unsigned k = 0; k < n; k++) to[k] = (char)(v >> 8 * k);
}

static void put_u32(bytes *b, uint32_t v)
{
    char *to = append_zeros(b, 4);
    if (to) put_number(to, v, 4);
}

static void append(bytes *b, const void *from, size_t n)
{
    if (!n || !reserve(b, n)) return;
    memcpy(b->at + b->n, from, n);
    b->n += n;
}

/* Offset of the text in the string table; 0 means none. */
static uint32_t put_string(writer *w, const char *s)
{
    bytes *b = &w->part[PL_S_STRTAB];
    if (!s) return 0;
    uint32_t at = (uint32_t)b->n;
    append(b, s, strlen(s) + 1);
    return at;
}

static void put_record(writer *w, pl_section s, const void *record)
{
    const pl_record *r = pl_object_section[s].record;
    char *to = append_zeros(&w->part[s], pl_record_bytes(r));
    for (unsigned k = 0; to && k < r->n; k++) {
        const pl_field *f = &r->field[k];
        if (f->kind == PL_F_TEXT) {
            put_number(to, put_string(w, pl_field_text(f, record)), 4);
            to += 4;
        } else
            for (unsigned e = 0; e < f->count; e++, to += f->bytes)
                put_number(to, pl_field_get(f, record, e), f->bytes);
    }
}

/* True if the fields of a record are laid out in memory as in the file, from offset *from on. */
static bool has_file_layout(const pl_record *r, size_t *from)
{
    size_t next = r->n ? r->field[0].at : 0;
    *from = next;
    for (unsigned k = 0; k < r->n; k++) {
        const pl_field *f = &r->field[k];
        if (f->kind == PL_F_TEXT || f->at != next) return false;
        next += (size_t)f->bytes * f->count;
    }
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
}

static void put_records(writer *w, pl_section s, const void *at, size_t n)
{
    for (size_t k = 0; k < n; k++)
        put_record(w, s, (const char *)at + k * pl_object_section[s].record->size);
}

/* The same for a section that consists only of these records. */
static void put_all_records(writer *w, pl_section s, const void *at, size_t n)
{
    size_t from;
    if (n && has_file_layout(pl_object_section[s].record, &from)) {
        w->records[s].at = (const char *)at + from;
        w->records[s].n = n;
    } else
        put_records(w, s, at, n);
}

static size_t section_bytes(const writer *w, unsigned s)
{
    return w->part[s].n + (s == PL_S_PTX ? w->p->text_bytes : 0) +
           (w->records[s].n ? w->records[s].n * pl_record_bytes(pl_object_section[s].record) : 0);
}

/* ---- symbols and data ---- */

static uint32_t put_symbol(writer *w, const char *name, unsigned char info, uint16_t section,
                           uint64_t value, uint64_t size)
{
    bytes *b = &w->part[PL_S_SYMTAB];
    uint32_t index = (uint32_t)(b->n / sizeof(Elf64_Sym));
    uint32_t string = put_string(w, name);
    char *to = append_zeros(b, sizeof(Elf64_Sym));
    if (to) {
        put_number(to + offsetof(Elf64_Sym, st_name), string, 4);
        put_number(to + offsetof(Elf64_Sym, st_info), info, 1);
        put_number(to + offsetof(Elf64_Sym, st_shndx), section, 2);
        put_number(to + offsetof(Elf64_Sym, st_value), value, 8);
        put_number(to + offsetof(Elf64_Sym, st_size), size, 8);
    }
    return index;
}

/* Linkage 0: none, 3: weak, else global (pl_linkage of ptx/ast.h). */
static unsigned char binding(uint8_t linkage, bool global)
{
    return linkage == 3 ? STB_WEAK : linkage || global ? STB_GLOBAL : STB_LOCAL;
}

static pl_section section_of(const pl_prog_var *v)
{
    bool data = v->init || v->reloc.n;
    switch ((pl_space)v->space) {
    case PL_SP_GLOBAL: return data ? PL_S_GLOBAL : PL_S_GLOBAL_ZERO;
    case PL_SP_CONST: return data ? PL_S_CONST : PL_S_CONST_ZERO;
    default: return PL_S_SHARED;
    }
}

/* Places the variable in its section and returns the offset. */
static uint64_t put_data(writer *w, const pl_prog_var *v, pl_section s)
{
    uint64_t align = v->align ? v->align : 1;
    bytes *b = &w->part[s];
    if (s == PL_S_CONST) { /* the contents of the bank when a kernel starts */
        append_zeros(b, v->address + v->size > b->n ? (size_t)(v->address + v->size - b->n) : 0);
        if (!b->failed && v->init && v->size) memcpy(b->at + v->address, v->init, (size_t)v->size);
        return v->address;
    }
    /* Placed by the assembler; kernels share the same addresses. */
    if (s == PL_S_SHARED || s == PL_S_CONST_ZERO) {
        if (v->address + v->size > w->zero[s]) w->zero[s] = v->address + v->size;
        return v->address;
    }
    if (s == PL_S_GLOBAL_ZERO) {
        uint64_t at = (w->zero[s] + align - 1) / align * align;
        w->zero[s] = at + v->size;
        return at;
    }
    append_zeros(b, (size_t)((align - b->n % align) % align));
    uint64_t at = b->n;
    char *to = append_zeros(b, (size_t)v->size);
    if (to && v->init) memcpy(to, v->init, (size_t)v->size);
    return at;
}

static void put_relocations(writer *w, const pl_prog_var *v, pl_section s, uint64_t at)
{
    bytes *b = &w->part[s == PL_S_CONST ? PL_S_RELA_CONST : PL_S_RELA_GLOBAL];
    for (size_t k = 0; k < v->reloc.n; k++) {
        const pl_prog_reloc *r = &v->reloc.at[k];
        bool variable = r->kind == PL_RELOC_VAR || r->kind == PL_RELOC_GENERIC;
        uint64_t symbol = variable                   ? w->var_symbol[r->symbol]
                          : r->kind == PL_RELOC_FUNC ? w->func_symbol[r->symbol]
                                                     : 0;
        char *to = append_zeros(b, sizeof(Elf64_Rela));
        if (!to) return;
        put_number(to + offsetof(Elf64_Rela, r_offset), at + r->offset, 8);
        put_number(to + offsetof(Elf64_Rela, r_info),
                   ELF64_R_INFO(symbol, (uint64_t)PL_RELA_TYPE(r->kind, r->bytes, r->shift)), 8);
        put_number(to + offsetof(Elf64_Rela, r_addend), (uint64_t)r->addend, 8);
    }
}

/* Local symbols come first in an ELF file. */
static void put_symbols(writer *w, uint64_t *offset)
{
    const pl_program *p = w->p;
    size_t entry = pl_section_entry(PL_S_TEXT);
    put_symbol(w, NULL, 0, 0, 0, 0);
    for (int round = 0; round < 2; round++) {
        for (size_t k = 0; k < p->funcs.n; k++) {
            const pl_prog_func *f = &p->funcs.at[k];
            unsigned char b = f->count ? binding(f->linkage, f->entry) : STB_GLOBAL;
            if ((b == STB_LOCAL) == (round == 0))
                w->func_symbol[k] =
                    f->count ? put_symbol(w, f->name, (unsigned char)ELF64_ST_INFO(b, STT_FUNC),
                                          PL_S_TEXT, f->first * entry, f->count * entry)
                             : put_symbol(w, f->name, (unsigned char)ELF64_ST_INFO(b, STT_NOTYPE),
                                          SHN_UNDEF, 0, 0);
        }
        for (size_t k = 0; k < p->vars.n; k++) {
            const pl_prog_var *v = &p->vars.at[k];
            unsigned char b = binding(v->linkage, false);
            if ((b == STB_LOCAL) == (round == 0))
                w->var_symbol[k] =
                    put_symbol(w, v->name, (unsigned char)ELF64_ST_INFO(b, STT_OBJECT),
                               (uint16_t)section_of(v), offset[k], v->size);
        }
        if (round == 0) w->locals = (uint32_t)(w->part[PL_S_SYMTAB].n / sizeof(Elf64_Sym));
    }
}

static void put_variables(writer *w)
{
    const pl_program *p = w->p;
    uint64_t *offset = calloc(p->vars.n + 1, sizeof *offset);
    w->failed |= !offset;
    if (!offset) return;
    for (size_t k = 0; k < p->vars.n; k++)
        offset[k] = put_data(w, &p->vars.at[k], section_of(&p->vars.at[k]));
    put_symbols(w, offset);
    for (size_t k = 0; k < p->vars.n; k++) {
        put_relocations(w, &p->vars.at[k], section_of(&p->vars.at[k]), offset[k]);
        put_u32(&w->part[PL_S_VARS], w->var_symbol[k]);
        put_record(w, PL_S_VARS, &p->vars.at[k]);
    }
    free(offset);
}

static void put_functions(writer *w)
{
    for (size_t k = 0; k < w->p->funcs.n; k++) {
        const pl_prog_func *f = &w->p->funcs.at[k];
        bytes *b = &w->part[PL_S_FUNCS];
        put_u32(b, w->func_symbol[k]);
        put_u32(b, (uint32_t)f->init.n);
        put_u32(b, (uint32_t)f->params.n);
        put_u32(b, (uint32_t)f->formal.n);
        put_u32(b, (uint32_t)f->result.n);
        put_record(w, PL_S_FUNCS, f);
        put_records(w, PL_S_ROWS, f->init.at, f->init.n);
        put_records(w, PL_S_PARAMS, f->params.at, f->params.n);
        put_records(w, PL_S_FORMALS, f->formal.at, f->formal.n);
        put_records(w, PL_S_RESULTS, f->result.at, f->result.n);
    }
}

static void put_tables(writer *w)
{
    const pl_program *p = w->p;
    put_all_records(w, PL_S_TEXT, p->code.at, p->code.n);
    put_records(w, PL_S_CALLS, p->calls.at, p->calls.n);
    put_records(w, PL_S_MOVES, p->moves.at, p->moves.n);
    put_all_records(w, PL_S_LINES, p->lines.at, p->lines.n);
    put_records(w, PL_S_INLINES, p->inlines.at, p->inlines.n);
    put_records(w, PL_S_SOURCES, p->sources.at, p->sources.n);
    for (size_t k = 0; k < p->pool.n; k++) put_u32(&w->part[PL_S_POOL], p->pool.at[k]);
    for (size_t k = 0; k < p->files.n; k++)
        put_u32(&w->part[PL_S_FILES], put_string(w, p->files.at[k]));
}

static void put_note(writer *w)
{
    const pl_program *p = w->p;
    char table[65];
    pl_table_hash(table);
    bytes *b = &w->part[PL_S_NOTE];
    put_u32(b, PL_NOTE_NAME_BYTES);
    put_u32(b, PL_NOTE_BYTES);
    put_u32(b, PL_NOTE_TYPE);
    append(b, "PTXLOOM", PL_NOTE_NAME_BYTES);
    put_u32(b, PL_OBJECT_FORMAT);
    put_u32(b, (uint32_t)p->opt_level);
    put_u32(b, p->ptx);
    put_u32(b, p->sm);
    put_u32(b, (uint32_t)(unsigned char)p->sm_suffix);
    append(b, table, 64);
    append_zeros(b, 64); /* filled in once the content is known */
}

/* ---- the file ---- */

static void put_header(char *to, uint64_t sections_at)
{
    memcpy(to, ELFMAG, SELFMAG);
    to[EI_CLASS] = ELFCLASS64;
    to[EI_DATA] = ELFDATA2LSB;
    to[EI_VERSION] = EV_CURRENT;
    put_number(to + offsetof(Elf64_Ehdr, e_type), ET_REL, 2);
    put_number(to + offsetof(Elf64_Ehdr, e_machine), EM_NONE, 2); /* not an existing machine */
    put_number(to + offsetof(Elf64_Ehdr, e_version), EV_CURRENT, 4);
    put_number(to + offsetof(Elf64_Ehdr, e_shoff), sections_at, 8);
    put_number(to + offsetof(Elf64_Ehdr, e_ehsize), sizeof(Elf64_Ehdr), 2);
    put_number(to + offsetof(Elf64_Ehdr, e_shentsize), sizeof(Elf64_Shdr), 2);
    put_number(to + offsetof(Elf64_Ehdr, e_shnum), PL_S_COUNT, 2);
    put_number(to + offsetof(Elf64_Ehdr, e_shstrndx), PL_S_SHSTRTAB, 2);
}

static void put_section_header(const writer *w, char *to, pl_section s, uint32_t name, uint64_t at,
                               uint64_t size)
{
    const pl_section_row *r = &pl_object_section[s];
    uint32_t link = 0, info = 0;
    if (s == PL_S_SYMTAB) {
        link = PL_S_STRTAB;
        info = w->locals;
    } else if (r->type == SHT_RELA) {
        link = PL_S_SYMTAB;
        info = s == PL_S_RELA_CONST ? PL_S_CONST : PL_S_GLOBAL;
    }
    put_number(to + offsetof(Elf64_Shdr, sh_name), name, 4);
    put_number(to + offsetof(Elf64_Shdr, sh_type), r->type, 4);
    put_number(to + offsetof(Elf64_Shdr, sh_flags), r->flags, 8);
    put_number(to + offsetof(Elf64_Shdr, sh_offset), at, 8);
    put_number(to + offsetof(Elf64_Shdr, sh_size), size, 8);
    put_number(to + offsetof(Elf64_Shdr, sh_link), link, 4);
    put_number(to + offsetof(Elf64_Shdr, sh_info), info, 4);
    put_number(to + offsetof(Elf64_Shdr, sh_addralign), r->align, 8);
    put_number(to + offsetof(Elf64_Shdr, sh_entsize), pl_section_entry(s), 8);
}

/* Output in pieces of one size, except the last. Hashing and writing few large pieces is faster
 * than many small ones, and the records must be assembled anyway, because in memory each is
 * preceded by other data. */
typedef struct sink {
    pl_object_put *put;
    void *to;
    size_t n; /* bytes so far */
    bool failed;
    char piece[1 << 16];
} sink;

/* Passes on a full piece, or the last one. */
static void flush_piece(sink *o)
{
    const size_t n = o->n % sizeof o->piece ? o->n % sizeof o->piece : sizeof o->piece;
    if (o->n && !o->failed) o->failed = !o->put(o->to, o->piece, n);
}

/* from NULL: zeros. */
static void emit(sink *o, const char *from, size_t n)
{
    for (size_t k; n; n -= k) {
        char *at = o->piece + o->n % sizeof o->piece;
        k = sizeof o->piece - (size_t)(at - o->piece);
        k = n < k ? n : k;
        if (from) {
            memcpy(at, from, k);
            from += k;
        } else
            memset(at, 0, k);
        o->n += k;
        if (o->n % sizeof o->piece == 0) flush_piece(o);
    }
}

static void emit_padding(sink *o, size_t align)
{
    emit(o, NULL, (align - o->n % align) % align);
}

static void emit_section(const writer *w, unsigned s, sink *o)
{
    emit(o, w->part[s].at, w->part[s].n);
    if (s == PL_S_PTX) emit(o, w->p->text, w->p->text_bytes);
    const size_t n = w->records[s].n, size = n ? pl_record_bytes(pl_object_section[s].record) : 0;
    for (size_t k = 0; k < n; k++)
        emit(o, (const char *)w->records[s].at + k * pl_object_section[s].record->size, size);
}

/* Sends the file from the first byte to the last. */
static void send_file(const writer *w, const uint32_t *name, sink *o)
{
    char header[sizeof(Elf64_Ehdr)] = {0}, sections[sizeof(Elf64_Shdr) * PL_S_COUNT] = {0};
    uint64_t end = sizeof header;
    for (unsigned s = 1; s < PL_S_COUNT; s++) {
        const uint64_t align = pl_object_section[s].align, at = (end + align - 1) / align * align,
                       size = section_bytes(w, s);
        put_section_header(w, sections + s * sizeof(Elf64_Shdr), (pl_section)s, name[s], at,
                           pl_object_section[s].type == SHT_NOBITS ? w->zero[s] : size);
        end = at + size;
    }
    put_header(header, (end + 7) / 8 * 8);
    emit(o, header, sizeof header);
    for (unsigned s = 1; s < PL_S_COUNT; s++) {
        emit_padding(o, pl_object_section[s].align);
        emit_section(w, s, o);
    }
    emit_padding(o, 8);
    emit(o, sections, sizeof sections);
    if (o->n % sizeof o->piece) flush_piece(o);
}

static bool put_hash(void *to, const char *at, size_t n)
{
    pl_sha256_add(to, at, n);
    return true;
}

/* The file is generated twice, because it contains its own hash. */
static pl_status put_file(writer *w, pl_object_put *put, void *to)
{
    uint32_t name[PL_S_COUNT] = {0};
    append(&w->part[PL_S_SHSTRTAB], "", 1);
    for (unsigned s = 1; s < PL_S_COUNT; s++) {
        name[s] = (uint32_t)w->part[PL_S_SHSTRTAB].n;
        append(&w->part[PL_S_SHSTRTAB], pl_object_section[s].name,
               strlen(pl_object_section[s].name) + 1);
    }
    for (unsigned s = 0; s < PL_S_COUNT; s++) w->failed |= w->part[s].failed;
    if (w->failed) return PL_NOMEM;
    pl_sha256 hash;
    char hex[65];
    pl_sha256_init(&hash);
    send_file(w, name, &(sink){.put = put_hash, .to = &hash});
    pl_sha256_hex(&hash, hex);
    memcpy(w->part[PL_S_NOTE].at + 12 + PL_NOTE_NAME_BYTES + PL_NOTE_CONTENT, hex, 64);
    sink file = {.put = put, .to = to};
    send_file(w, name, &file);
    return file.failed ? PL_IO : PL_OK;
}

pl_status pl_object_send(const pl_program *p, pl_object_put *put, void *to)
{
    writer w = {.p = p};
    pl_status st = PL_NOMEM;
    w.func_symbol = calloc(p->funcs.n + 1, sizeof *w.func_symbol);
    w.var_symbol = calloc(p->vars.n + 1, sizeof *w.var_symbol);
    append(&w.part[PL_S_STRTAB], "", 1);
    w.failed = !w.func_symbol || !w.var_symbol;
    if (!w.failed) {
        put_variables(&w);
        put_functions(&w);
        put_tables(&w);
        put_note(&w);
        st = put_file(&w, put, to);
    }
    for (unsigned s = 0; s < PL_S_COUNT; s++) free(w.part[s].at);
    free(w.func_symbol);
    free(w.var_symbol);
    return st;
}

static bool put_bytes(void *to, const char *at, size_t n)
{
    append(to, at, n);
    return !((bytes *)to)->failed;
}

pl_status pl_object_write(const pl_program *p, char **out, size_t *n)
{
    bytes file = {0};
    pl_status st = pl_object_send(p, put_bytes, &file);
    if (st != PL_OK) {
        free(file.at);
        return PL_NOMEM;
    }
    *out = file.at;
    *n = file.n;
    return PL_OK;
}
