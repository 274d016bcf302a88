/* decode.c - costs, kinds and dependences of a program's instructions; see decode.h. */
#include "emu/sm/decode.h"
#include "emu/exec/dispatch.h"
#include "memmodel/l1.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* Offsets of the sizes of block and grid and of the kernel's parameters in the driver's constant
 * bank, as read by machine code for sm_90. */
enum { BANK_SIZES = 0, BANK_DESCRIPTOR = 0x208, BANK_PARAMETERS = 0x210 };

/* The unit that executes an instruction of this kind. */
static pl_unit_id unit_of(pl_kind kind, const pl_price *price)
{
    switch (kind) {
    case PL_KIND_MATH: return price->variable ? PL_UNIT_SPECIAL_FUNCTION : PL_UNIT_NONE;
    case PL_KIND_MEMORY:
    case PL_KIND_MATRIX_MEMORY:
    case PL_KIND_COPY:
    case PL_KIND_COMMIT:
    case PL_KIND_BULK:
    case PL_KIND_MBARRIER:
    case PL_KIND_MBARRIER_WAIT: return PL_UNIT_LSU;
    case PL_KIND_PARAM: return PL_UNIT_CONSTANT;
    case PL_KIND_WGMMA:
    case PL_KIND_WGMMA_COMMIT: return PL_UNIT_TENSOR;
    case PL_KIND_BARRIER:
    case PL_KIND_CLUSTER_ARRIVE:
    case PL_KIND_CLUSTER_WAIT: return PL_UNIT_BARRIER;
    case PL_KIND_FENCE_CTA:
    case PL_KIND_FENCE_GPU:
    case PL_KIND_FENCE_SYS:
    case PL_KIND_FENCE_PROXY:
    case PL_KIND_FENCE_VIEW: return PL_UNIT_FENCE;
    case PL_KIND_BRANCH: return PL_UNIT_BRANCH;
    case PL_KIND_SLEEP: return PL_UNIT_SLEEP;
    default: return PL_UNIT_NONE;
    }
}

/* n of a shape word such as m64n128k16, in units of 8; 1 if there is none. */
static uint16_t shape_scale(const pl_insn *i, const pl_form *f)
{
    for (unsigned k = 0; k < f->nslots; k++) {
        const char *s = pl_word_text[i->mods[k]];
        if (s[0] != 'm' || !isdigit((unsigned char)s[1])) continue;
        const char *n = strchr(s, 'n');
        int v = n ? atoi(n + 1) : 0;
        if (v >= 8) return (uint16_t)(v / 8);
    }
    return 1;
}

/* The class of an atomic's arithmetic in the L2: given by the last type word of the instruction. */
static uint8_t atomic_alu(const pl_insn *i, const pl_form *f)
{
    int bits = 32;
    char letter = 'u';
    for (unsigned k = 0; k < f->nslots; k++) {
        pl_word w = (pl_word)i->mods[k];
        char c = pl_type_kind(w);
        if (!c) continue;
        letter = c;
        bits = pl_type_bits(w);
    }
    return letter == 'f'                        ? PL_ALU_FLOAT
           : bits > 32 || pl_insn_has(i, W_cas) ? PL_ALU_WIDE
                                                : PL_ALU_INT;
}

/* Index of the operand with this name in the table. */
static uint8_t operand_named(const pl_form *f, const char *name)
{
    for (unsigned k = 0; k < f->noperands; k++) {
        if (strcmp(f->operand[k].name, name) == 0) return (uint8_t)k;
    }
    return UINT8_MAX;
}

/* Eviction priorities, L1 bypass, and prefetch sizes, as recorded in policy.tsv.xz for an H200. */
static void decode_cache_policy(pl_decoded_insn *d, const pl_insn *i, const pl_form *f)
{
    const bool first = pl_insn_has(i, W_cs) || pl_insn_has(i, W_L1__evict_first) ||
                       pl_insn_has(i, W_L1__no_allocate) || pl_insn_has(i, W_lu);
    d->l1_policy = pl_insn_has(i, W_L1__no_allocate) || pl_insn_has(i, W_lu) ? PL_L1_TAG_LOOKUP
                                                                             : PL_L1_TAG_ALLOCATE;
    d->rank[0] = first                                   ? PL_RANK_FIRST
                 : pl_insn_has(i, W_L1__evict_unchanged) ? PL_RANK_UNCHANGED
                 : pl_insn_has(i, W_L1__evict_last)      ? PL_RANK_LAST
                                                         : PL_RANK_NORMAL;
    d->rank[1] = first || pl_insn_has(i, W_L2__evict_first) ? PL_RANK_FIRST
                 : pl_insn_has(i, W_L2__evict_last)         ? PL_RANK_LAST
                                                            : PL_RANK_NORMAL;
    d->prefetch_sectors = pl_insn_has(i, W_L2__256B) ? 8 : pl_insn_has(i, W_L2__128B) ? 4 : 0;
    d->cache_op = f->mnem == M_prefetch || f->mnem == M_prefetchu ? PL_UP_PREFETCH
                  : f->mnem == M_applypriority                    ? PL_UP_DEMOTE
                  : f->mnem == M_discard                          ? PL_UP_DISCARD
                                                                  : PL_UP_NONE;
    d->policy_operand = pl_insn_has(i, W_L2__cache_hint) ? operand_named(f, "policy") : UINT8_MAX;
}

typedef struct lists {
    uint32_t rows[4][64]; /* read rows, written rows, read predicates, written predicates */
    unsigned n[4];
} lists;

static void add_row(lists *l, unsigned which, uint32_t row)
{
    if (row == UINT32_MAX || l->n[which] >= 64) return;
    l->rows[which][l->n[which]++] = row;
}

/* Adds the registers of operand k to the lists. */
static void add_operand_rows(lists *l, const pl_program *p, const pl_insn *i, const pl_form *f,
                             unsigned k)
{
    const pl_ospec *o = &f->operand[k];
    if (k >= PL_INLINE_OPERANDS || i->op[k] == UINT32_MAX) return;
    if (o->kind != PL_K_VALUE && o->kind != PL_K_ADDR && o->kind != PL_K_VAR &&
        o->kind != PL_K_COORD && o->kind != PL_K_OPAQUE)
        return;
    pl_word type = o->kind == PL_K_ADDR ? (pl_word)0 : pl_operand_type(f, k, i->mods);
    bool pred = o->kind == PL_K_VALUE && pl_type_kind(type) == 'p';
    int bits = o->kind == PL_K_ADDR ? 32 : pl_type_bits(type);
    if (f->effects & (PL_EF_LOAD | PL_EF_STORE) && i->flags & PL_IF_MEM &&
        i->sel[PL_M_FLAGS] & PL_MF_WIDE && bits < 64)
        bits = 64;
    int count = o->kind == PL_K_ADDR ? 0 : pl_operand_count(f, k, i->mods);
    for (int e = 0; e < (count ? count : 1); e++) {
        uint32_t row = i->op[k];
        if (count) {
            size_t at = (size_t)i->extra_ops + i->op[k] + (size_t)e;
            if (at >= p->pool.n) return;
            row = p->pool.at[at];
            if (row == UINT32_MAX) continue;
        }
        for (int part = 0; part < (bits + 31) / 32 || part == 0; part++) {
            uint32_t r = row + (uint32_t)part;
            if (o->read || !o->written) add_row(l, pred ? 2 : 0, r);
            if (o->written) add_row(l, pred ? 3 : 1, r);
            if (pred) break;
        }
    }
}

/* The initial contents of a row: irrelevant, a number, or a special register that differs between
 * blocks (fetched by the uniform datapath) or lanes. */
enum { FIXED, BY_BLOCK, BY_LANE, NUMBER };

/* True for operations that both integer pipes support: the assembler distributes additions and
 * shifts over them (IADD3 and IMAD.IADD, SHF and IMAD.SHL). Packed additions and shifts by a
 * register only have one pipe (tests/data/micro add_s16x2, shl_b32). */
static bool on_either_pipe(const pl_insn *i, const uint8_t *fetched, uint32_t rows)
{
    static const uint16_t spread[] = {M_add, M_sub, M_shl, M__mov};
    const pl_form *f = &pl_forms[i->form];
    if (i->latency_class != C_alu) return false;
    if (f->mnem == M_shl && i->op[2] < rows && fetched[i->op[2]] != NUMBER) return false;
    for (unsigned k = 0; k < f->nslots; k++)
        if (i->mods[k] == W_u16x2 || i->mods[k] == W_s16x2) return false;
    for (size_t k = 0; k < sizeof spread / sizeof *spread; k++) {
        if (pl_forms[i->form].mnem == spread[k]) return true;
    }
    return false;
}

/* Cycles of the two integer pipes for operations that only one of them supports, in a region
 * without branches. */
typedef struct balance {
    uint32_t alu, fma;
    size_t end; /* end of the region */
} balance;

static balance measure_balance(const pl_program *p, const pl_machine *m, const uint8_t *fetched,
                               uint32_t rows, size_t pc)
{
    balance b = {0};
    for (; pc < p->code.n; pc++) {
        const pl_insn *i = &p->code.at[pc];
        const pl_price *price = &m->price[i->latency_class];
        bool either = on_either_pipe(i, fetched, rows), heavy = false;
        for (uint32_t k = 0; k < price->npipes; k++) heavy |= price->pipe[k].pipe == PL_PIPE_HEAVY;
        for (uint32_t k = 0; k < price->npipes; k++) {
            const uint32_t pipe = price->pipe[k].pipe, cycles = price->pipe[k].cycles;
            if (pipe == PL_PIPE_ALU && !either)
                b.alu += cycles;
            else if (pipe == PL_PIPE_HEAVY || (pipe == PL_PIPE_FMA && !heavy) ||
                     (either && pl_forms[i->form].mnem == M_shl))
                b.fma += cycles;
        }
        if (pl_classes[i->latency_class].kind == PL_KIND_BRANCH ||
            pl_classes[i->latency_class].kind == PL_KIND_EXIT)
            break;
    }
    b.end = pc + 1;
    return b;
}

/* True if the row is a register: not a number, and not a value known to the driver or the
 * hardware. */
static bool is_register(uint32_t row, const uint8_t *fetched, uint32_t rows)
{
    return row >= rows || !fetched[row];
}

/* Counts the registers that an arithmetic instruction reads, by bank, and separately those that are
 * not among the n rows of `before`. Numbers and special registers do not count. Instructions that
 * go through queues are not limited by operand fetch. */
static void count_reads(pl_decoded_insn *d, uint32_t banks, const lists *l, const uint8_t *fetched,
                        uint32_t rows, const uint32_t *before, unsigned n)
{
    if (!banks || d->kind != PL_KIND_MATH || d->price->issues != 1 || !d->price->npipes ||
        d->price->variable || d->price->pipe[0].pipe == PL_PIPE_TENSOR)
        return;
    for (unsigned k = 0; k < l->n[0]; k++) {
        uint32_t row = l->rows[0][k];
        bool seen = !is_register(row, fetched, rows);
        for (unsigned o = 0; o < k; o++) seen |= l->rows[0][o] == row;
        if (seen) continue;
        bool reused = false;
        for (unsigned o = 0; o < n; o++) reused |= before[o] == row;
        d->reads[0][row % banks]++;
        d->reads[1][row % banks] = (uint8_t)(d->reads[1][row % banks] + !reused);
    }
}

static pl_side side_of(const pl_decoded_insn *d)
{
    if (d->kind != PL_KIND_MATH || d->price->issues != 1 || !d->price->npipes) return PL_SIDE_NONE;
    if (d->on_fma) return PL_SIDE_FMA;
    switch ((pl_pipe)d->price->pipe[0].pipe) {
    case PL_PIPE_ALU: return PL_SIDE_ALU;
    case PL_PIPE_FMA:
    case PL_PIPE_HEAVY: return PL_SIDE_FMA;
    case PL_PIPE_HALF: return PL_SIDE_HALF;
    case PL_PIPE_FP64: return PL_SIDE_FP64;
    default: return PL_SIDE_NONE;
    }
}

/* A move from a special register that the hardware must fetch, as found in unoptimised programs. */
static bool fetches_special(const pl_insn *i, const uint8_t *fetched, uint32_t rows)
{
    return pl_forms[i->form].mnem == M_mov && pl_forms[i->form].noperands == 2 && i->op[1] < rows &&
           fetched[i->op[1]] != NUMBER && fetched[i->op[1]];
}

/* Number of passes of a warp's data through the exchange unit: for a shuffle, for each read of the
 * empty lane list, and for the message of a fence to the L1 (of gpu scope: fence_unit.c). Also for
 * a special register, unless it is uniform over a block. (Those, reductions and comparisons of all
 * lanes are counted at the address divergence unit.) Counted by
 * l1tex__data_pipe_lsu_wavefronts_mem_shared.sum. */
static uint8_t exchanges(const pl_insn *i, const pl_price *p, const uint8_t *fetched, uint32_t rows)
{
    const uint8_t of_class = pl_classes[i->latency_class].exchanges;
    const bool fetch = pl_forms[i->form].mnem == M_mov || pl_forms[i->form].mnem == M__s2r;
    if (fetch && pl_forms[i->form].noperands == 2 && i->op[1] < rows &&
        fetched[i->op[1]] == BY_BLOCK)
        return 0;
    if (of_class != PL_EXCHANGES_BY_PIPES) return of_class;
    for (uint32_t k = 0; k < p->npipes; k++) {
        if (p->pipe[k].pipe == PL_PIPE_MIO || p->pipe[k].pipe == PL_PIPE_ADU) return 1;
    }
    return 0;
}

/* Marks the rows of a function that hold special registers which differ between blocks or lanes. */
static void mark_special(uint8_t *fetched, uint32_t rows, const pl_prog_func *f)
{
    memset(fetched, 0, rows);
    for (size_t k = 0; k < f->init.n; k++) {
        const pl_frame_init *r = &f->init.at[k];
        if (r->row >= rows) continue;
        if (!r->sreg) {
            fetched[r->row] = NUMBER;
            continue;
        }
        const char *s = pl_word_text[r->sreg];
        if (*s == '%') s++;
        bool block = strncmp(s, "ctaid", 5) == 0 || strncmp(s, "cluster", 7) == 0 ||
                     strncmp(s, "smid", 4) == 0;
        /* Ntid, nctaid, nsmid ...: words of the constant bank. */
        fetched[r->row] = *s == 'n' ? FIXED : block ? BY_BLOCK : BY_LANE;
    }
}

/* The operand of a shuffle that specifies a lane, or a distance. */
enum { SHFL_LANE = 3 };

/* Marks rows that hold the number 1. */
static void mark_ones(bool *ones, uint32_t rows, const pl_prog_func *f)
{
    memset(ones, 0, rows * sizeof *ones);
    for (size_t k = 0; k < f->init.n; k++) {
        const pl_frame_init *r = &f->init.at[k];
        if (r->row < rows) ones[r->row] = !r->sreg && r->reloc == 0 && r->bits == 1;
    }
}

/* True if the instruction adds 1 to a word for each lane. */
static bool increments(const pl_insn *i, const pl_form *f, const lists *l, const bool *ones,
                       uint32_t rows)
{
    bool one = false;
    for (unsigned k = 0; k < l->n[0]; k++) one |= l->rows[0][k] < rows && ones[l->rows[0][k]];
    return one && f->effects & PL_EF_ATOMIC && i->sel[PL_M_LOG2] == 2 && pl_insn_has(i, W_add);
}

/* Tracks in program order whether rows may differ between the lanes of a block. */
typedef struct variance {
    bool *varies; /* by row */
    uint32_t rows;
} variance;

static void init_variance(variance *x, const pl_prog_func *f)
{
    memset(x->varies, 0, x->rows * sizeof *x->varies);
    for (size_t k = 0; k < f->init.n; k++) {
        const pl_frame_init *r = &f->init.at[k];
        if (!r->sreg || r->row >= x->rows) continue;
        const char *s = pl_word_text[r->sreg];
        if (*s == '%') s++;
        x->varies[r->row] =
            *s != 'n' && strncmp(s, "ctaid", 5) != 0 && strncmp(s, "cluster", 7) != 0;
    }
}

/* Number of components of a fetch that are used: unused ones share a register
 * (compiler/opt/dce.c). */
static uint8_t components(const lists *l)
{
    uint8_t own = 0;
    for (unsigned k = 0; k < l->n[1]; k++) {
        unsigned others = 0;
        for (unsigned j = 0; j < l->n[1]; j++) others += l->rows[1][j] == l->rows[1][k];
        own = (uint8_t)(own + (others == 1));
    }
    return own;
}

/* True if one lane performs the operation for its warp when all lanes have the same address
 * (compiler/codegen/aggregate_atomics.c). This applies to additions, and to operations supported by
 * REDUX if the old value is unused. It does not apply to inc, dec, exch and cas, whose lanes are
 * serialised. */
static bool is_warp_aggregable(const pl_insn *i, const pl_form *f)
{
    return pl_insn_has(i, W_add) || (f->mnem == M_red && pl_insn_is_warp_aggregable(i));
}

/* Processes instruction i. Returns true if it is an integer atomic whose address is the same for
 * all lanes. */
static bool uniform_atomic(variance *x, const pl_decoded_insn *d, const pl_insn *i,
                           const pl_form *f, const lists *l)
{
    bool v = i->guard != PL_PT ||
             (f->effects & (PL_EF_LOAD | PL_EF_ATOMIC) && i->sel[PL_M_SPACE] != PL_SP_PARAM);
    bool atomic = f->effects & PL_EF_ATOMIC && d->alu == PL_ALU_INT && l->n[0] > 0;
    bool uniform = atomic && l->rows[0][0] < x->rows && !x->varies[l->rows[0][0]];
    for (unsigned k = 0; k < l->n[0] && !v; k++)
        v = l->rows[0][k] >= x->rows || x->varies[l->rows[0][k]];
    for (unsigned k = 0; k < l->n[1]; k++) {
        if (l->rows[1][k] < x->rows) x->varies[l->rows[1][k]] = v;
    }
    return uniform && is_warp_aggregable(i, f);
}

/* Constants of the module at known offsets, and the addresses of its variables, are not held in
 * registers on the hardware. The uniform datapath or the instruction itself reads them from the
 * constant bank (c[3][...], c[4][...] in machine code for sm_90). The warp stalls until they are
 * available. A free load takes the place of the uniform datapath's load: the next instructions wait
 * for the constants that it reads. */
enum {
    MAX_DUE = 16,
    ADDRESSES = 0x70000000 /* the driver's table of addresses of variables, which is not part of the
                              module's constants */
};

typedef struct constants {
    uint32_t *at;  /* by row that holds an address: offset of the constant in the constant banks,
                      plus 1; 0: unknown */
    bool *address; /* by row: it is the address of a variable in global memory, and `at` is the
                      location of that address */
    uint32_t rows;
    uint32_t due[MAX_DUE], head, tail; /* constants for which the next instructions wait, one per
                                      line */
    uint32_t last;                     /* line */
} constants;

static void init_constants(constants *x, const pl_program *p, const pl_prog_func *f)
{
    memset(x->at, 0, x->rows * sizeof *x->at);
    memset(x->address, 0, x->rows * sizeof *x->address);
    x->head = x->tail = 0;
    x->last = UINT32_MAX;
    for (size_t k = 0; k < f->init.n; k++) {
        const pl_frame_init *r = &f->init.at[k];
        if (r->reloc != PL_RELOC_VAR || r->row >= x->rows || r->symbol >= p->vars.n) continue;
        const pl_prog_var *v = &p->vars.at[r->symbol];
        if (v->space == PL_SP_CONST)
            x->at[r->row] = (uint32_t)(v->address + r->bits) + 1;
        else if (v->space == PL_SP_GLOBAL)
            x->at[r->row] = ADDRESSES + r->symbol * 8 + 1;
        x->address[r->row] = v->space == PL_SP_GLOBAL;
    }
}

/* Processes an instruction in program order. Returns the constant that it waits for, plus 1. */
static uint32_t operand_constant(constants *x, const pl_decoded_insn *d, const pl_insn *i,
                                 const lists *l, uint32_t line)
{
    const bool free = !d->price->issues || d->division_path;
    const bool load = pl_forms[i->form].mnem == M_ld && i->sel[PL_M_SPACE] == PL_SP_CONST;
    uint32_t found = 0;
    for (unsigned k = 0; k < l->n[0] && !found; k++) {
        uint32_t row = l->rows[0][k];
        if (row < x->rows && x->at[row] && (load || x->address[row]))
            found = x->at[row] + (load ? (uint32_t)i->imm : 0);
    }
    if (!free) {
        if (found)
            x->last = found / line;
        else if (x->head != x->tail)
            found = x->due[x->head++ % MAX_DUE];
        return found;
    }
    if (load && found && found / line != x->last && x->tail - x->head < MAX_DUE) {
        x->due[x->tail++ % MAX_DUE] = found;
        x->last = found / line;
    }
    return 0;
}

static bool is_indirect_call(const pl_program *p, const pl_insn *i, const pl_form *f)
{
    return (f->effects & PL_EF_CALL) && i->target < p->calls.n &&
           p->calls.at[i->target].callee == UINT32_MAX;
}

/* Accesses that order others at cluster scope or wider. ptxas emits MEMBAR before a release, also
 * in shared memory, with ERRBAR and CGAERRBAR as for a fence; two of them before an arrival at an
 * mbarrier. It emits CCTL after an acquire, which waits for the result, and NOP after an acquire of
 * block scope (machine code of ptxas 13.0 for sm_90, 2026-11). */
static void decode_ordering(pl_decoded_insn *d, const pl_insn *i, const pl_form *f)
{
    const bool reaches =
        pl_insn_has(i, W_gpu) || pl_insn_has(i, W_sys) || pl_insn_has(i, W_cluster);
    const bool mbarrier = d->kind == PL_KIND_MBARRIER || d->kind == PL_KIND_MBARRIER_WAIT;
    const bool acquires = (mbarrier || f->effects & (PL_EF_LOAD | PL_EF_ATOMIC)) &&
                          (pl_insn_has(i, W_acquire) || pl_insn_has(i, W_acq_rel));
    if (d->kind != PL_KIND_MEMORY && !mbarrier) return;
    d->code.nops = acquires && (!mbarrier || reaches);
    if (!reaches) return;
    if (pl_insn_has(i, W_release) || pl_insn_has(i, W_acq_rel)) d->releases = mbarrier ? 4 : 3;
    d->acquires = acquires;
}

/* The state of the decoder while it walks through the code. */
typedef struct decoder {
    pl_decoded *out;
    const pl_program *p;
    const pl_machine *m;
    uint32_t rows;      /* maximum number of rows of a function */
    uint8_t *fetched;   /* by row of the function: its contents before the program writes it */
    bool *ones;         /* by row: it holds the number 1 */
    bool ends;          /* a return at this point ends the kernel */
    lists last_issuing; /* of the last instruction with a cost */
    size_t last_issuing_pc;
    balance pipes;
    constants module;
    variance lanes;
} decoder;

static bool open_decoder(decoder *x, pl_arena *a)
{
    x->rows = 1;
    for (size_t k = 0; k < x->p->funcs.n; k++)
        if (x->p->funcs.at[k].rows > x->rows) x->rows = x->p->funcs.at[k].rows;
    x->fetched = pl_arena_array(a, uint8_t, x->rows);
    x->ones = pl_arena_array(a, bool, x->rows);
    x->module = (constants){.at = pl_arena_array(a, uint32_t, x->rows),
                            .address = pl_arena_array(a, bool, x->rows),
                            .rows = x->rows};
    x->lanes = (variance){.varies = pl_arena_array(a, bool, x->rows), .rows = x->rows};
    if (!pl_arena_ok(a)) return false;
    x->out->late_atomics = pl_has_bulk_reductions(x->p);
    return true;
}

/* Starts the function that begins at `pc`, if any. */
static void begin_function(decoder *x, size_t pc)
{
    for (size_t k = 0; k < x->p->funcs.n; k++) {
        if (x->p->funcs.at[k].first != pc) continue;
        x->ends = x->p->funcs.at[k].entry;
        mark_special(x->fetched, x->rows, &x->p->funcs.at[k]);
        mark_ones(x->ones, x->rows, &x->p->funcs.at[k]);
        init_variance(&x->lanes, &x->p->funcs.at[k]);
        init_constants(&x->module, x->p, &x->p->funcs.at[k]);
    }
}

/* Space, width and effect of a memory access. */
static void decode_memory(pl_decoded_insn *d, const pl_insn *i, const pl_form *f)
{
    d->texture = pl_classes[i->latency_class].texture;
    decode_cache_policy(d, i, f);
    d->needs_effect = (i->flags & PL_IF_MEM) != 0 || d->cache_op != PL_UP_NONE || d->texture ||
                      d->kind == PL_KIND_BULK || d->kind == PL_KIND_COPY ||
                      d->kind == PL_KIND_MBARRIER || d->kind == PL_KIND_MBARRIER_WAIT;
    d->load =
        (f->effects & (PL_EF_LOAD | PL_EF_STORE | PL_EF_ATOMIC | PL_EF_VOLATILE | PL_EF_ASYNC)) ==
        PL_EF_LOAD;
    d->addresses = d->texture || (d->kind == PL_KIND_MEMORY && i->sel[PL_M_SPACE] != PL_SP_CONST) ||
                   d->kind == PL_KIND_MATRIX_MEMORY || d->kind == PL_KIND_COPY;
    d->read_only = pl_insn_has(i, W_nc);
    d->shared = i->flags & PL_IF_MEM && i->sel[PL_M_SPACE] == PL_SP_SHARED;
    d->generic = i->flags & PL_IF_MEM && i->sel[PL_M_SPACE] == PL_SP_GENERIC;
    d->alu = f->effects & PL_EF_ATOMIC ? atomic_alu(i, f) : PL_ALU_INT;
    d->compare = f->effects & PL_EF_ATOMIC && pl_insn_has(i, W_cas);
    d->cast = f->mnem == M__cast;
    d->fence = d->kind == PL_KIND_FENCE_GPU || d->kind == PL_KIND_FENCE_SYS ||
               (d->kind == PL_KIND_CLUSTER_ARRIVE && !pl_insn_has(i, W_relaxed));
    d->fence |= d->releases != 0;
    d->bypasses_l1 = d->kind == PL_KIND_COPY && pl_insn_has(i, W_cg);
    d->is_try_wait = d->kind == PL_KIND_MBARRIER_WAIT && pl_insn_has(i, W_try_wait);
}

/* Operands that units read when the instruction has issued. */
static void decode_unit_operands(pl_decoded_insn *d, const pl_insn *i, const pl_form *f)
{
    d->scale = d->kind == PL_KIND_WGMMA ? shape_scale(i, f) : 1;
    if (f->noperands && f->operand[0].kind == PL_K_IMM)
        d->wait_n = i->op[0] > 255 ? 255 : (uint8_t)i->op[0];
    d->size_operand = operand_named(f, "size");
    if (d->size_operand != UINT8_MAX && f->operand[d->size_operand].kind == PL_K_IMM)
        d->size_operand = UINT8_MAX; /* not a register */
    d->barrier_operand = operand_named(f, "mbar");
    d->tensor = operand_named(f, "map") != UINT8_MAX;
}

/* The word of the driver's constant bank that it reads. */
static void decode_bank(pl_decoded_insn *d, const pl_insn *i, const pl_form *f, const lists *l)
{
    bool formal = i->sel[PL_M_SPACE] == PL_SP_PARAM && i->op[1] == UINT32_MAX;
    d->bank = d->kind == PL_KIND_PARAM &&
              (f->mnem == M__desc || (l->n[1] && (formal || f->mnem == M__ldc)));
    if (d->bank)
        d->bank_at = (uint16_t)(f->mnem == M__ldc    ? BANK_SIZES
                                : f->mnem == M__desc ? BANK_DESCRIPTOR
                                                     : BANK_PARAMETERS + (uint64_t)i->imm);
}

/* Selects one of the two integer pipes. */
static void decode_pipes(decoder *x, pl_decoded_insn *d, const pl_insn *i, const pl_form *f,
                         size_t pc)
{
    const bool either = on_either_pipe(i, x->fetched, x->rows);
    if (pc >= x->pipes.end) x->pipes = measure_balance(x->p, x->m, x->fetched, x->rows, pc);
    /* The assembler balances the load of both pipes. */
    d->on_fma = either && (f->mnem == M_shl || x->pipes.fma < x->pipes.alu);
    if (either && f->mnem != M_shl)
        *(d->on_fma ? &x->pipes.fma : &x->pipes.alu) += d->price->pipe[0].cycles;
    d->pipe_side = (uint8_t)side_of(d);
}

static void decode_flow(const decoder *x, pl_decoded_insn *d, const pl_insn *i, const pl_form *f)
{
    d->indirect = f->mnem == M_brx || f->mnem == M__ret || (f->mnem == M_ret && !x->ends) ||
                  is_indirect_call(x->p, i, f);
    d->reconverges = f->mnem == M__bsync;
    d->yields = f->mnem == M__yield;
    d->drains_pipe = d->reconverges || f->mnem == M__warpsync || (f->effects & PL_EF_CALL);
    d->waits_all = (f->effects & PL_EF_CALL) || (f->mnem == M_ret && !x->ends);
}

/* Registers that it reads, and those also read by the preceding instruction. */
static void decode_reads(decoder *x, pl_decoded_insn *d, const lists *l, size_t pc)
{
    if (!d->price->issues) return;
    count_reads(d, x->m->sm.register_banks, l, x->fetched, x->rows, x->last_issuing.rows[0],
                x->last_issuing.n[0]);
    d->reuse_distance = pc - x->last_issuing_pc < 256 ? (uint8_t)(pc - x->last_issuing_pc) : 0;
    x->last_issuing = *l;
    x->last_issuing_pc = pc;
}

/* Constants, exchanges between lanes, and the unit. */
static void decode_exchanges(decoder *x, pl_decoded_insn *d, const pl_insn *i, const pl_form *f,
                             const lists *l)
{
    const bool indexed =
        d->kind == PL_KIND_MEMORY && !d->texture && i->sel[PL_M_SPACE] == PL_SP_CONST;
    if (!indexed)
        d->constant = operand_constant(&x->module, d, i, l, (uint32_t)x->m->constant.line);
    d->uniform = uniform_atomic(&x->lanes, d, i, f, l);
    if (fetches_special(i, x->fetched, x->rows)) d->price = &x->m->price[C_sreg];
    d->unit = (uint8_t)unit_of((pl_kind)d->kind, d->price);
    d->exchange = exchanges(i, d->price, x->fetched, x->rows);
    d->extra_latency = f->mnem == M_shfl && is_register(i->op[SHFL_LANE], x->fetched, x->rows)
                           ? (uint8_t)x->m->op[PL_OP_SHFL].operand
                           : 0;
    d->metric = pl_metric_class_of(i, d, x->ends);
}

static void count_operands(pl_decoded_insn *d, const pl_insn *i, const lists *l)
{
    d->nread = (uint8_t)l->n[0];
    d->nwrite = (uint8_t)l->n[1];
    d->components = d->texture ? components(l) : 0;
    d->npread = (uint8_t)l->n[2];
    d->npwrite = (uint8_t)l->n[3];
    /* nbody: two cycles for each of its 128-bit loads. */
    if (!d->texture &&
        (d->exchange || ((d->kind == PL_KIND_MEMORY || d->kind == PL_KIND_MATRIX_MEMORY) &&
                         i->sel[PL_M_SPACE] != PL_SP_CONST)))
        d->metric.writebacks = (uint8_t)((d->nwrite + 1) / 2);
}

static void decode_insn(decoder *x, pl_decoded_insn *d, lists *l, size_t pc)
{
    const pl_insn *i = &x->p->code.at[pc];
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 0; k < f->noperands; k++) add_operand_rows(l, x->p, i, f, k);
    if (i->guard != PL_PT) {
        add_row(l, 2, i->guard);
        d->guarded = true;
    }
    d->price = &x->m->price[i->latency_class];
    d->kind = pl_classes[i->latency_class].kind;
    d->division_path = (uint8_t)pl_division_path_of(i->latency_class);
    decode_ordering(d, i, f);
    decode_memory(d, i, f);
    decode_unit_operands(d, i, f);
    begin_function(x, pc);
    d->is_increment = d->shared && increments(i, f, l, x->ones, x->rows);
    d->ordered = pl_insn_is_ordered(x->p, i, x->out->late_atomics);
    x->out->ordered |= d->ordered;
    decode_bank(d, i, f, l);
    decode_pipes(x, d, i, f, pc);
    decode_flow(x, d, i, f);
    decode_reads(x, d, l, pc);
    decode_exchanges(x, d, i, f, l);
    count_operands(d, i, l);
}

/* Assigns code addresses. A function begins at a line of the instruction cache, regardless of the
 * preceding code. */
static void layout_code(pl_decoded *out, const pl_program *p, const pl_machine *m)
{
    uint32_t address = 0, line = (uint32_t)m->fetch.line;
    for (size_t f = 0; f < p->funcs.n; f++) {
        const pl_prog_func *fn = &p->funcs.at[f];
        address = (address + line - 1) / line * line;
        for (size_t pc = fn->first; pc < fn->first + (size_t)fn->count; pc++) {
            out->at[pc].address = address;
            /* Subroutines are located elsewhere. */
            if (!out->at[pc].division_path)
                address +=
                    (out->at[pc].price->issues + out->at[pc].code.nops) * m->fetch.instruction;
        }
    }
    out->bytes = address;
}

/* True if the result needs a scoreboard. */
static bool is_variable(const pl_decoded_insn *d)
{
    if (!d->price->issues || d->division_path || !(d->nwrite || d->npwrite)) return false;
    switch ((pl_kind)d->kind) {
    case PL_KIND_MEMORY:
    case PL_KIND_MATRIX_MEMORY:
    case PL_KIND_MBARRIER:
    case PL_KIND_MBARRIER_WAIT: return true;
    case PL_KIND_PARAM: return d->metric.ldc;
    case PL_KIND_MATH: return d->price->variable;
    default: return false;
    }
}

static pl_queue queue_of(const pl_decoded_insn *d)
{
    if (!d->price->issues || d->division_path) return PL_QUEUE_NONE;
    switch ((pl_kind)d->kind) {
    case PL_KIND_MEMORY:
    case PL_KIND_COPY:
    case PL_KIND_MATRIX_MEMORY: return pl_decoded_is_lg(d) ? PL_QUEUE_LG : PL_QUEUE_MIO;
    case PL_KIND_MATH: return d->price->variable ? PL_QUEUE_MIO : PL_QUEUE_NONE;
    default: return PL_QUEUE_NONE;
    }
}

static pl_control_insn control_insn(const pl_decoded_insn *d)
{
    return (pl_control_insn){.price = d->price,
                             .rows = d->rows,
                             .nread = d->nread,
                             .nwrite = d->nwrite,
                             .npread = d->npread,
                             .npwrite = d->npwrite,
                             .kind = d->kind,
                             .side = d->pipe_side,
                             .queue = (uint8_t)queue_of(d),
                             .free = !d->price->issues || d->division_path,
                             .variable = is_variable(d),
                             .late = pl_decoded_is_late(d),
                             .guarded = d->guarded,
                             .bank = d->bank,
                             .on_fma = d->on_fma,
                             .address_unit = d->addresses,
                             .acquires = d->acquires,
                             .waits_all = d->waits_all,
                             .drains_pipe = d->drains_pipe,
                             .code = d->code};
}

/* False: out of memory. */
static bool add_control_codes(pl_decoded *out, const pl_program *p, const pl_machine *m)
{
    const size_t n = p->code.n;
    pl_control_insn *insn = calloc(n + 1, sizeof *insn);
    if (!insn) return false;
    for (size_t pc = 0; pc < n; pc++) insn[pc] = control_insn(&out->at[pc]);
    const bool ok = pl_pass_assign_control_codes(insn, out->rows, p, m);
    for (size_t pc = 0; pc < n && ok; pc++) out->at[pc].code = insn[pc].code;
    free(insn);
    return ok;
}

bool pl_decode(pl_decoded *out, pl_arena *a, const pl_program *p, const pl_machine *m)
{
    const size_t n = p->code.n;
    *out = (pl_decoded){0};
    out->at = pl_arena_array(a, pl_decoded_insn, n ? n : 1);
    decoder x = {.out = out, .p = p, .m = m};
    struct {
        uint32_t *at;
        size_t n, cap;
    } rows = {0};
    if (!pl_arena_ok(a) || !open_decoder(&x, a)) return false;
    for (size_t pc = 0; pc < n; pc++) {
        lists l = {0};
        decode_insn(&x, &out->at[pc], &l, pc);
        out->at[pc].rows = (uint32_t)rows.n;
        for (unsigned w = 0; w < 4; w++) {
            for (unsigned k = 0; k < l.n[w]; k++) {
                uint32_t *slot = pl_push(a, &rows);
                if (!pl_arena_ok(a)) return false;
                *slot = l.rows[w][k];
            }
        }
    }
    out->rows = rows.at;
    if (!add_control_codes(out, p, m)) return false;
    layout_code(out, p, m);
    return true;
}
