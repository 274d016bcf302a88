/* elf_common.c - shared by the writer and the reader of objects: the sections, and the version hash
 * of the instruction table. */
#include "isa/object/elf.h"

#include <pthread.h>
#include <string.h>

#include "base/sha256.h"
#include "isa/object/elf_layout.h"

const pl_section_row pl_object_section[PL_S_COUNT] = {
    [PL_S_NULL] = {.name = "", .type = SHT_NULL},
    [PL_S_NOTE] = {.name = ".note.ptxloom", .type = SHT_NOTE, .align = 4},
    [PL_S_TEXT] = {.name = ".text",
                   .type = SHT_PROGBITS,
                   .flags = SHF_ALLOC | SHF_EXECINSTR,
                   .align = 8,
                   .record = &pl_record_insn},
    [PL_S_GLOBAL] = {.name = ".data.global",
                     .type = SHT_PROGBITS,
                     .flags = SHF_ALLOC | SHF_WRITE,
                     .align = 16},
    [PL_S_CONST] = {.name = ".data.const", .type = SHT_PROGBITS, .flags = SHF_ALLOC, .align = 16},
    [PL_S_GLOBAL_ZERO] = {.name = ".bss.global",
                          .type = SHT_NOBITS,
                          .flags = SHF_ALLOC | SHF_WRITE,
                          .align = 16},
    [PL_S_CONST_ZERO] = {.name = ".bss.const", .type = SHT_NOBITS, .flags = SHF_ALLOC, .align = 16},
    [PL_S_SHARED] = {.name = ".bss.shared",
                     .type = SHT_NOBITS,
                     .flags = SHF_ALLOC | SHF_WRITE,
                     .align = 16},
    [PL_S_RELA_GLOBAL] = {.name = ".rela.data.global",
                          .type = SHT_RELA,
                          .flags = SHF_INFO_LINK,
                          .align = 8,
                          .extra = sizeof(Elf64_Rela)},
    [PL_S_RELA_CONST] = {.name = ".rela.data.const",
                         .type = SHT_RELA,
                         .flags = SHF_INFO_LINK,
                         .align = 8,
                         .extra = sizeof(Elf64_Rela)},
    [PL_S_FUNCS] = {.name = ".ptxloom.funcs",
                    .type = SHT_PROGBITS,
                    .align = 4,
                    .record = &pl_record_func,
                    .extra = PL_FN_NUMBERS},
    [PL_S_ROWS] = {.name = ".ptxloom.rows",
                   .type = SHT_PROGBITS,
                   .align = 4,
                   .record = &pl_record_row},
    [PL_S_PARAMS] = {.name = ".ptxloom.params",
                     .type = SHT_PROGBITS,
                     .align = 4,
                     .record = &pl_record_param},
    [PL_S_FORMALS] = {.name = ".ptxloom.formals",
                      .type = SHT_PROGBITS,
                      .align = 4,
                      .record = &pl_record_move},
    [PL_S_RESULTS] = {.name = ".ptxloom.results",
                      .type = SHT_PROGBITS,
                      .align = 4,
                      .record = &pl_record_move},
    [PL_S_CALLS] = {.name = ".ptxloom.calls",
                    .type = SHT_PROGBITS,
                    .align = 4,
                    .record = &pl_record_call},
    [PL_S_MOVES] = {.name = ".ptxloom.moves",
                    .type = SHT_PROGBITS,
                    .align = 4,
                    .record = &pl_record_move},
    [PL_S_POOL] = {.name = ".ptxloom.pool", .type = SHT_PROGBITS, .align = 4, .extra = 4},
    [PL_S_VARS] = {.name = ".ptxloom.vars",
                   .type = SHT_PROGBITS,
                   .align = 4,
                   .record = &pl_record_var,
                   .extra = PL_VN_NUMBERS},
    [PL_S_LINES] = {.name = ".ptxloom.lines",
                    .type = SHT_PROGBITS,
                    .align = 4,
                    .record = &pl_record_line},
    [PL_S_INLINES] = {.name = ".ptxloom.inlines",
                      .type = SHT_PROGBITS,
                      .align = 4,
                      .record = &pl_record_inlined},
    [PL_S_FILES] = {.name = ".ptxloom.files", .type = SHT_PROGBITS, .align = 4, .extra = 4},
    [PL_S_SOURCES] = {.name = ".ptxloom.sources",
                      .type = SHT_PROGBITS,
                      .align = 4,
                      .record = &pl_record_source},
    [PL_S_PTX] = {.name = ".ptxloom.ptx", .type = SHT_PROGBITS, .align = 1},
    [PL_S_SYMTAB] = {.name = ".symtab", .type = SHT_SYMTAB, .align = 8, .extra = sizeof(Elf64_Sym)},
    [PL_S_STRTAB] = {.name = ".strtab", .type = SHT_STRTAB, .align = 1},
    [PL_S_SHSTRTAB] = {.name = ".shstrtab", .type = SHT_STRTAB, .align = 1},
};

size_t pl_section_entry(pl_section s)
{
    const pl_section_row *r = &pl_object_section[s];
    return r->record ? pl_record_bytes(r->record) + 4u * r->extra : r->extra;
}

bool pl_object_is(const char *bytes, size_t n)
{
    return n >= SELFMAG && memcmp(bytes, ELFMAG, SELFMAG) == 0;
}

static void add_number(pl_sha256 *s, unsigned v)
{
    const unsigned char b[] = {(unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
                               (unsigned char)(v >> 24)};
    pl_sha256_add(s, b, sizeof b);
}

static void add_text(pl_sha256 *s, const char *t)
{
    pl_sha256_add(s, t, strlen(t) + 1);
}

static char table_hash[65];

static void hash_table(void)
{
    pl_sha256 s;
    pl_sha256_init(&s);
    for (unsigned k = 0; k < W_count; k++) add_text(&s, pl_word_text[k]);
    for (unsigned k = 0; k < C_count; k++) add_text(&s, pl_class_text[k]);
    for (unsigned k = 0; k < pl_nsregs; k++) {
        add_text(&s, pl_sregs[k].name);
        add_number(&s, pl_sregs[k].word);
    }
    for (unsigned k = 0; k < pl_nforms; k++) {
        const pl_form *f = &pl_forms[k];
        add_text(&s, pl_mnems[f->mnem].name);
        add_text(&s, f->syntax);
        add_number(&s, f->effects);
        for (unsigned n = 0; n < f->nslots; n++) add_number(&s, f->slot[n].group);
        for (unsigned n = 0; n < f->noperands; n++) add_number(&s, f->operand[n].kind);
    }
    pl_sha256_hex(&s, table_hash);
}

/* The table is constant, so its hash is computed once per process. */
void pl_table_hash(char hex[65])
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, hash_table);
    memcpy(hex, table_hash, sizeof table_hash);
}
