/* init_memory.c - undefined bits in memory: loads, stores, atomic operations, copies, calls. */
#include <stdio.h>
#include <string.h>

#include "check/init.h"
#include "check/internal.h"
#include "emu/exec/memory/address.h"
#include "emu/exec/runtime/cuda_builtins.h"
#include "emu/exec/tma/tma_copy.h"

enum { MAX_BYTES = 32 };

/* ---- locations ---- */

/* Location of a lane's bytes. */
typedef struct location {
    pl_validity *validity; /* NULL: always defined */
    uint64_t at;
    pl_space space;
    uint64_t address; /* for messages */
    bool local;       /* lanes are interleaved by words */
} location;

static pl_validity *shared_of(pl_warp *w, uint64_t address, uint64_t *at)
{
    const uint32_t rank = (uint32_t)(address / PL_SHARED_SLICE);
    const pl_cta *c = rank == w->cta->cluster_rank                      ? w->cta
                      : w->cta->cluster && rank < w->cta->cluster->size ? w->cta->cluster->cta[rank]
                                                                        : NULL;
    *at = address % PL_SHARED_SLICE;
    if (!c || *at < c->shared_start || *at >= c->shared_end) return NULL;
    *at -= c->shared_start;
    return &block_of(c)->validity;
}

/* Returns NULL for memory outside the tracked range: writes of the host to it are not observed. */
static pl_validity *global_of(pl_warp *w, uint64_t address)
{
    pl_undefined *u = check_of(w)->undefined;
    return address - u->base < u->bytes ? &u->memory : NULL;
}

static location locate(pl_warp *w, unsigned lane, pl_space space, uint64_t address)
{
    if (space == PL_SP_GENERIC) space = pl_generic_space(&address);
    location p = {.space = space, .address = address};
    if (space == PL_SP_SHARED) {
        p.validity = shared_of(w, address, &p.at);
        p.address = address % PL_SHARED_SLICE;
    } else if (space == PL_SP_LOCAL && address < w->local_bytes) {
        pl_traced *s = pl_traced_of(w);
        if (!s) return p;
        p.validity = &s->local;
        p.at = (address / 4 * PL_LANES + lane) * 4 + address % 4;
        p.local = true;
    } else if (space == PL_SP_GLOBAL) {
        p.validity = global_of(w, address);
        p.at = address - check_of(w)->base;
    }
    return p;
}

/* Returns the contiguous part of [at, at + bytes), from byte `done` on. */
static unsigned contiguous_part(const location *p, unsigned done, unsigned bytes, uint64_t *at)
{
    if (!p->local) {
        *at = p->at + done;
        return bytes - done;
    }
    const unsigned in_word = (unsigned)(p->at % 4) + done;
    *at = p->at - p->at % 4 + (uint64_t)(in_word / 4) * PL_LANES * 4 + in_word % 4;
    return 4 - in_word % 4 < bytes - done ? 4 - in_word % 4 : bytes - done;
}

/* Reads the undefined bits of bytes of memory. True if there are any. */
static bool read_bits(pl_warp *w, unsigned lane, const location *p, unsigned bytes, uint8_t *bits,
                      uint32_t *origin)
{
    bool any = false;
    if (!p->validity || (!p->local && bytes <= 16 && !pl_validity_page(p->validity, p->at) &&
                         !pl_validity_page(p->validity, p->at + bytes - 1))) {
        memset(bits, 0, bytes);
        return false;
    }
    for (unsigned done = 0; done < bytes;) {
        uint64_t at;
        uint32_t from = 0;
        const unsigned part = contiguous_part(p, done, bytes, &at);
        if (pl_validity_get(p->validity, at, part, bits + done, &from) && !any) {
            unsigned n = done;
            while (!bits[n]) n++;
            any = true;
            *origin = from ? from : pl_init_origin(w, lane, p->space, p->address + n, 0);
        }
        done += part;
    }
    return any;
}

/* bits NULL: the bytes are defined. */
static void write_bits(pl_warp *w, const location *p, unsigned bytes, const uint8_t *bits,
                       uint32_t origin)
{
    for (unsigned done = 0; p->validity && done < bytes;) {
        uint64_t at;
        const unsigned part = contiguous_part(p, done, bytes, &at);
        if (!pl_validity_set(p->validity, at, part, bits ? bits + done : NULL, origin))
            check_of(w)->no_memory = true;
        done += part;
    }
}

bool pl_init_read(pl_warp *w, unsigned lane, pl_space space, uint64_t address, unsigned bytes,
                  uint8_t *bits, uint32_t *origin)
{
    const location p = locate(w, lane, space, address);
    return read_bits(w, lane, &p, bytes, bits, origin);
}

void pl_init_write(pl_warp *w, unsigned lane, pl_space space, uint64_t address, unsigned bytes,
                   const uint8_t *bits, uint32_t origin)
{
    const location p = locate(w, lane, space, address);
    write_bits(w, &p, bytes, bits, origin);
}

bool pl_init_all_defined(const pl_warp *w, pl_space space)
{
    const bool global = !check_of(w)->undefined->memory.undefined_pages,
               shared = !w->cta->cluster && !block_of(w->cta)->validity.undefined_pages;
    switch (space) {
    case PL_SP_GLOBAL: return global;
    case PL_SP_SHARED: return shared;
    case PL_SP_GENERIC: return global && shared && !w->local_bytes;
    case PL_SP_LOCAL: return false;
    default: return true;
    }
}

/* ---- ld, st, atom, red ---- */

typedef struct access_shape {
    unsigned log2, count, flags, bytes; /* bytes: per lane */
    pl_space space;
    unsigned address, data; /* operands */
} access_shape;

static access_shape access_shape_of(const pl_insn *i)
{
    const pl_mnem m = (pl_mnem)pl_forms[i->form].mnem;
    const bool first = m == M_st || m == M_red || m == M__save;
    access_shape x = {.log2 = i->sel[PL_M_LOG2],
                      .count = i->sel[PL_M_COUNT] ? i->sel[PL_M_COUNT] : 1,
                      .flags = i->sel[PL_M_FLAGS],
                      .space = (pl_space)i->sel[PL_M_SPACE],
                      .address = !first,
                      .data = first};
    x.bytes = x.count << x.log2;
    return x;
}

static const pl_init_insn *init_insn_of(const pl_warp *w, const pl_insn *i)
{
    return &check_of(w)->init.insn[i - w->code];
}

static void check_address(pl_warp *w, const pl_insn *i, pl_traced *s, unsigned operand, bool narrow)
{
    if (i->op[operand] != PL_NO_OPERAND)
        pl_traced_report(w, s, pl_traced_row(w) + i->op[operand], narrow ? 1 : 2, w->exec,
                         PL_FK_INIT_ADDRESS, "an address");
}

static uint32_t data_row(const pl_warp *w, const pl_insn *i, const access_shape *x, unsigned n)
{
    return x->count > 1 ? pl_more(w, i, i->op[x->data] + n) : i->op[x->data];
}

/* Returns the bits of loaded element n. */
static uint64_t element(const access_shape *x, const uint8_t *bits, unsigned n)
{
    uint64_t v = 0;
    const unsigned size = 8u << x->log2;
    memcpy(&v, bits + ((size_t)n << x->log2), (size_t)1 << (x->log2 < 3 ? x->log2 : 3));
    if (x->flags & PL_MF_SIGNED && size < 64 && v >> (size - 1) & 1u) v |= ~0ull << size;
    return v;
}

static bool is_wide(const access_shape *x)
{
    return x->flags & PL_MF_WIDE || x->log2 >= 3;
}

static void set_loaded(pl_warp *w, const pl_insn *i, const access_shape *x, pl_traced *s,
                       uint32_t lanes, uint8_t (*bits)[MAX_BYTES], const uint32_t *origin)
{
    for (unsigned n = 0; n < x->count; n++) {
        const uint32_t row = data_row(w, i, x, n);
        if (row == PL_NO_OPERAND) continue;
        for (unsigned half = 0; half < (x->log2 == 4 ? 2u : 1u); half++) {
            uint64_t v[PL_LANES] = {0};
            for (uint32_t m = bits ? lanes : 0; m; m &= m - 1) {
                const unsigned l = (unsigned)__builtin_ctz(m);
                v[l] = element(x, bits[l] + 8 * half, n);
            }
            pl_traced_set(s, pl_traced_row(w) + row + 2 * half, is_wide(x), lanes, v, origin);
        }
    }
}

static void load(pl_warp *w, const pl_insn *i)
{
    const pl_init_insn *init = init_insn_of(w, i);
    const access_shape x = access_shape_of(i);
    pl_traced *s = unit_of(w)->traced;
    const uint32_t exec = w->exec;
    uint8_t bits[PL_LANES][MAX_BYTES];
    uint32_t origin[PL_LANES] = {0}, undefined = 0;
    if (s && s->n) {
        pl_traced_guard(w, i, s);
        check_address(w, i, s, x.address, x.flags & PL_MF_ADDR32);
    }
    if (x.space == PL_SP_LOCAL && !s) s = pl_traced_of(w);
    if (!pl_init_all_defined(w, x.space) && x.bytes <= MAX_BYTES) {
        uint64_t addr[PL_LANES];
        pl_addresses(w, i, x.address, x.flags & PL_MF_ADDR32, i->imm, addr);
        for (uint32_t m = exec; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            const location p = locate(w, l, x.space, addr[l]);
            undefined |= (uint32_t)read_bits(w, l, &p, x.bytes, bits[l], &origin[l]) << l;
        }
    }
    init->inner(w, i);
    if (undefined) s = pl_traced_of(w);
    if (s && (undefined || s->n)) set_loaded(w, i, &x, s, exec, undefined ? bits : NULL, origin);
}

/* Collects the undefined bits of the value that a lane stores. True if there are any. */
static bool stored_bits(const pl_warp *w, const pl_insn *i, const access_shape *x,
                        const pl_traced *s, unsigned lane, uint8_t *bits, uint32_t *origin)
{
    bool any = false;
    for (unsigned n = 0; n < x->count; n++) {
        const uint32_t row = pl_traced_row(w) + data_row(w, i, x, n);
        for (unsigned half = 0; half < (x->log2 == 4 ? 2u : 1u); half++) {
            const uint64_t v =
                row < s->rows ? pl_traced_bits(s, row + 2 * half, is_wide(x), lane) : 0;
            const size_t size = (size_t)1 << (x->log2 < 3 ? x->log2 : 3);
            memcpy(bits + ((size_t)n << x->log2) + 8 * (size_t)half, &v, size);
            if (v && !any) *origin = s->origin[(size_t)(row + 2 * half) * PL_LANES + lane];
            any |= v != 0;
        }
    }
    return any;
}

static void store(pl_warp *w, const pl_insn *i)
{
    const access_shape x = access_shape_of(i);
    pl_traced *s = unit_of(w)->traced;
    const uint32_t exec = w->exec;
    uint64_t addr[PL_LANES];
    if (x.space == PL_SP_LOCAL && !s) s = pl_traced_of(w);
    if (s && s->n) {
        pl_traced_guard(w, i, s);
        check_address(w, i, s, x.address, x.flags & PL_MF_ADDR32);
    }
    init_insn_of(w, i)->inner(w, i);
    if (((!s || !s->n) && pl_init_all_defined(w, x.space)) || x.bytes > MAX_BYTES) return;
    pl_addresses(w, i, x.address, x.flags & PL_MF_ADDR32, i->imm, addr);
    for (uint32_t m = exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        const location p = locate(w, l, x.space, addr[l]);
        uint8_t bits[MAX_BYTES];
        uint32_t origin = 0;
        const bool any = s && s->n && stored_bits(w, i, &x, s, l, bits, &origin);
        if (any && p.space == PL_SP_GLOBAL)
            origin = pl_init_origin(w, l, PL_SP_GLOBAL, p.address, origin);
        write_bits(w, &p, x.bytes, any ? bits : NULL, origin);
    }
}

/* Atomic operations observe the memory contents and their operands. */
static void atomic(pl_warp *w, const pl_insn *i)
{
    const pl_init_insn *init = init_insn_of(w, i);
    const access_shape x = access_shape_of(i);
    pl_traced *s = unit_of(w)->traced;
    const uint32_t exec = w->exec;
    const bool maybe_undefined = !pl_init_all_defined(w, x.space) && x.bytes <= MAX_BYTES;
    if (s && s->n) {
        const pl_init_use *use = &check_of(w)->init.use[init->first];
        pl_traced_guard(w, i, s);
        check_address(w, i, s, x.address, x.flags & PL_MF_ADDR32);
        for (unsigned n = 0; n < init->reads; n++)
            if (!use[n].pred)
                pl_traced_report(w, s, pl_traced_row(w) + use[n].row, use[n].rows, exec,
                                 PL_FK_INIT_ATOMIC, "the operand of an atomic operation");
    }
    if (maybe_undefined) {
        uint64_t addr[PL_LANES];
        pl_addresses(w, i, x.address, x.flags & PL_MF_ADDR32, i->imm, addr);
        for (uint32_t m = exec; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            const location p = locate(w, l, x.space, addr[l]);
            uint8_t bits[MAX_BYTES];
            uint32_t origin = 0;
            if (!read_bits(w, l, &p, x.bytes, bits, &origin)) continue;
            if (!pl_insn_has(i, W_exch))
                pl_init_report(w, PL_FK_INIT_ATOMIC, 1u << l, origin,
                               "the result of an atomic operation");
            write_bits(w, &p, x.bytes, NULL, 0);
        }
    }
    init->inner(w, i);
}

/* An argument of printf is an output. */
void pl_init_print(const pl_hooks *h, pl_warp *w, unsigned lane, uint64_t address, unsigned bytes)
{
    const pl_check *k = (const pl_check *)(const void *)h;
    uint8_t bits[MAX_BYTES];
    uint32_t origin = 0;
    if (k->tools & PL_CHECK_INIT && bytes <= sizeof bits &&
        pl_init_read(w, lane, PL_SP_GENERIC, address, bytes, bits, &origin))
        pl_init_report(w, PL_FK_INIT_OUTPUT, 1u << lane, origin, "the output of printf");
}

/* ---- copies ---- */

/* Copies undefined bits from one location to another. */
static void copy_bits(pl_warp *w, unsigned lane, const location *from, const location *to,
                      uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes;) {
        uint8_t bits[MAX_BYTES];
        uint32_t origin = 0;
        const unsigned part = bytes - done < MAX_BYTES ? (unsigned)(bytes - done) : MAX_BYTES;
        location a = *from, b = *to;
        a.at += done;
        a.address += done;
        b.at += done;
        const bool any = read_bits(w, lane, &a, part, bits, &origin);
        write_bits(w, &b, part, any ? bits : NULL, origin);
        done += part;
    }
}

static void copy_async(pl_warp *w, const pl_insn *i)
{
    const unsigned flags = i->sel[PL_M_FLAGS], bytes = i->op[2];
    pl_traced *s = unit_of(w)->traced;
    const uint32_t exec = w->exec;
    uint64_t to[PL_LANES], from[PL_LANES];
    uint8_t nread[PL_LANES];
    if (s && s->n) {
        pl_traced_guard(w, i, s);
        check_address(w, i, s, 0, flags & PL_MF_ADDR32);
        check_address(w, i, s, 1, flags & PL_MF_ADDR32_2);
    }
    pl_addresses(w, i, 0, flags & PL_MF_ADDR32, i->imm, to);
    pl_addresses(w, i, 1, flags & PL_MF_ADDR32_2, (int32_t)i->target, from);
    for (unsigned l = 0; l < PL_LANES; l++) nread[l] = (uint8_t)pl_copy_reads(w, i, l);
    init_insn_of(w, i)->inner(w, i);
    for (uint32_t m = pl_init_all_defined(w, PL_SP_GENERIC) ? 0 : exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        const location a = locate(w, l, PL_SP_GLOBAL, from[l]),
                       b = locate(w, l, PL_SP_SHARED, to[l]);
        const unsigned read = nread[l];
        location padding = b;
        padding.at += read;
        copy_bits(w, l, &a, &b, read);
        if (read < bytes) write_bits(w, &padding, bytes - read, NULL, 0);
    }
}

static location locate_host(pl_warp *w, const uint8_t *bytes)
{
    place p;
    if (!bytes || !pl_place_at(w, (uint8_t *)(uintptr_t)bytes, &p)) return (location){0};
    if (!p.owner)
        return (location){.validity = global_of(w, p.address + check_of(w)->base),
                          .at = p.address,
                          .space = PL_SP_GLOBAL,
                          .address = p.address + check_of(w)->base};
    const uint64_t start = w->cta->shared_start;
    return (location){.validity = p.address >= start ? &p.owner->validity : NULL,
                      .at = p.address - start,
                      .space = PL_SP_SHARED,
                      .address = p.address};
}

/* A copied tile, and its start in shared memory. */
typedef struct tile {
    pl_warp *w;
    const pl_tma_copy *copy;
    location at;
} tile;

/* Copies one piece of the tile. Bytes outside the tensor are filled with zeros. Sums count as
 * defined. */
static bool copy_piece(void *ctx, const pl_tma_piece *part)
{
    const tile *t = ctx;
    location shared = t->at;
    const location global = locate(t->w, 0, PL_SP_GLOBAL, part->address);
    const uint32_t offset = part->shared - t->copy->at;
    shared.at += offset;
    shared.address += offset;
    if (t->copy->kind == PL_TMA_LOAD) {
        write_bits(t->w, &shared, 16, NULL, 0);
        copy_bits(t->w, 0, &global, &shared, part->valid);
    } else if (t->copy->kind == PL_TMA_STORE) {
        copy_bits(t->w, 0, &shared, &global, part->valid);
    } else {
        write_bits(t->w, &global, part->valid, NULL, 0);
    }
    return true;
}

/* Copies propagate undefined bits; sums count as defined. */
void pl_init_copy(pl_warp *w, const pl_async_op *o)
{
    if (o->kind == PL_ASYNC_ARRIVE || o->family == PL_ASYNC_GROUP) return;
    if (o->kind == PL_ASYNC_TENSOR) {
        tile t = {.w = w, .copy = o->tensor, .at = locate_host(w, o->tensor->tile)};
        if (!pl_init_all_defined(w, PL_SP_SHARED) || !pl_init_all_defined(w, PL_SP_GLOBAL))
            pl_tma_walk(o->tensor, copy_piece, &t);
        return;
    }
    const unsigned lane = w->exec ? (unsigned)__builtin_ctz(w->exec) : 0;
    const location to = locate_host(w, o->to), from = locate_host(w, o->from);
    if (!to.validity) return;
    if (o->kind == PL_ASYNC_COPY && from.validity)
        copy_bits(w, lane, &from, &to, o->bytes);
    else
        write_bits(w, &to, o->bytes, NULL, 0);
}

/* 8 x 8 matrices: lane r of the lanes with addresses specifies a row, which four lanes receive. */
static void load_matrix(pl_warp *w, const pl_insn *i)
{
    const pl_init_insn *x = init_insn_of(w, i);
    pl_traced *s = unit_of(w)->traced;
    const uint32_t exec = w->exec;
    const bool maybe_undefined = !pl_init_all_defined(w, PL_SP_SHARED);
    pl_memory_effect own_effect, *const fx = w->fx;
    if (s && s->n) {
        pl_traced_guard(w, i, s);
        check_address(w, i, s, 1, i->sel[PL_M_FLAGS] & PL_MF_ADDR32);
    }
    if (!maybe_undefined && (!s || !s->n)) {
        x->inner(w, i);
        return;
    }
    if (!fx) w->fx = &own_effect;
    w->fx->mask = 0;
    x->inner(w, i);
    const pl_memory_effect *e = w->fx;
    uint32_t undefined = 0, origin[PL_LANES] = {0};
    for (uint32_t m = maybe_undefined && e->space == PL_SP_SHARED ? e->mask : 0; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        uint8_t bits[MAX_BYTES];
        const location p = locate(w, l, PL_SP_SHARED, e->addr[l]);
        const unsigned bytes = e->size < 16 ? e->size : 16;
        undefined |= (uint32_t)read_bits(w, l, &p, bytes, bits, &origin[l]) << l;
    }
    w->fx = fx;
    if (undefined) s = pl_traced_of(w);
    const pl_init_use *use = &check_of(w)->init.use[x->first + x->reads];
    for (unsigned n = 0; s && n < x->writes; n++) {
        const bool transposed = pl_insn_has(i, W_trans);
        uint64_t v[PL_LANES] = {0};
        uint32_t from[PL_LANES] = {0};
        for (unsigned l = 0; l < PL_LANES; l++) {
            const uint32_t rows =
                (transposed ? 3u << l % 4 * 2 : 1u << l / 4) << n % 4 * 8 & undefined;
            if (!rows) continue;
            v[l] = UINT32_MAX;
            from[l] = origin[__builtin_ctz(rows)];
        }
        pl_traced_set(s, pl_traced_row(w) + use[n].row, false, exec, v, from);
    }
}

/* Other instructions that write memory: the written bytes count as defined. */
static void other_store(pl_warp *w, const pl_insn *i)
{
    pl_memory_effect own_effect, *const fx = w->fx;
    pl_traced *s = unit_of(w)->traced;
    if (s && s->n) pl_traced_guard(w, i, s);
    if (!fx) w->fx = &own_effect;
    w->fx->mask = 0;
    init_insn_of(w, i)->inner(w, i);
    const pl_memory_effect *e = w->fx;
    for (uint32_t m = e->kind == PL_AC_STORE ? e->mask : 0; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        const location p = locate(w, l, (pl_space)e->space, e->addr[l]);
        write_bits(w, &p, e->size, NULL, 0);
    }
    w->fx = fx;
}

/* ---- calls ---- */

static location locate_local(pl_traced *s, unsigned lane, uint64_t offset)
{
    return (location){.validity = &s->local,
                      .at = (offset / 4 * PL_LANES + lane) * 4 + offset % 4,
                      .space = PL_SP_LOCAL,
                      .address = offset,
                      .local = true};
}

/* Copies the bits of arguments or results between two frames. */
static void copy_values(pl_warp *w, pl_traced *s, uint32_t lanes, const pl_call_move *from,
                        const pl_call_move *to, uint32_t n, const pl_call_frame *a,
                        const pl_call_frame *b)
{
    for (uint32_t k = 0; k < n; k++) {
        if (from[k].pred || to[k].pred) {
            const uint32_t p = a->pred + from[k].from, q = b->pred + to[k].to;
            if (p < s->preds && q < s->preds)
                pl_traced_set_pred(s, q, lanes, s->pred[p], &s->pred_origin[(size_t)p * PL_LANES]);
            continue;
        }
        const uint32_t bytes = from[k].bytes < to[k].bytes ? from[k].bytes : to[k].bytes;
        for (uint32_t m = lanes; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            for (uint32_t done = 0; done < bytes; done += 8) {
                const unsigned part = bytes - done < 8 ? bytes - done : 8;
                uint8_t bits[8] = {0};
                uint32_t origin = 0;
                bool any;
                if (from[k].reg) {
                    const uint32_t row = a->row + from[k].from;
                    const uint64_t v =
                        row < s->rows ? pl_traced_bits(s, row, from[k].bytes > 4, l) : 0;
                    memcpy(bits, &v, 8);
                    any = v != 0;
                    if (any) origin = s->origin[(size_t)row * PL_LANES + l];
                } else {
                    const location p = locate_local(s, l, (uint64_t)a->local + from[k].from + done);
                    any = read_bits(w, l, &p, part, bits, &origin);
                }
                if (to[k].reg) {
                    uint64_t v[PL_LANES] = {0};
                    uint32_t o[PL_LANES] = {0};
                    memcpy(&v[l], bits, part);
                    o[l] = origin;
                    if (b->row + to[k].to + 1 < s->rows)
                        pl_traced_set(s, b->row + to[k].to, to[k].bytes > 4, 1u << l, v, o);
                } else {
                    const location p = locate_local(s, l, (uint64_t)b->local + to[k].to + done);
                    write_bits(w, &p, part, any ? bits : NULL, origin);
                }
            }
        }
    }
}

/* Initialises a new frame: its registers are defined, its local variables are not. */
static void open_frame(pl_warp *w, pl_traced *s, uint32_t lanes, const pl_call_frame *f)
{
    const pl_prog_func *fn = &w->program->funcs.at[f->func];
    static const uint64_t none[PL_LANES] = {0};
    for (uint32_t r = 0; s->n && r < fn->rows && f->row + r < s->rows; r++)
        if (s->undefined[f->row + r] & lanes)
            pl_traced_set(s, f->row + r, false, lanes, none, NULL);
    for (uint32_t p = 0; s->n && p < fn->preds && f->pred + p < s->preds; p++)
        pl_traced_set_pred(s, f->pred + p, lanes, 0, NULL);
    for (uint32_t at = f->local; at < f->local_top; at += 4)
        for (uint32_t m = lanes; m; m &= m - 1) {
            const unsigned l = (unsigned)__builtin_ctz(m);
            if (!pl_validity_all(&s->local, ((uint64_t)at / 4 * PL_LANES + l) * 4, 4, false))
                check_of(w)->no_memory = true;
        }
}

/* A block that malloc has returned to a lane is uninitialised. */
static void mark_allocated(pl_warp *w, unsigned lane, const pl_call_move *to)
{
    const pl_call_frame *f = pl_warp_current_call(w);
    uint64_t address;
    if (to->bytes != 8) return;
    if (to->reg)
        address = pl_row64(w, to->to)[lane];
    else
        memcpy(&address,
               w->local + (size_t)(pl_first_lane(w) + lane) * w->local_bytes + f->local + to->to,
               8);
    const pl_heap_block *b =
        w->grid->system ? pl_heap_block_at(&w->grid->system->heap, address) : NULL;
    if (b && !pl_undefined_set(check_of(w)->undefined, address, b->size, false))
        check_of(w)->no_memory = true;
}

/* The results of the driver's functions are defined. */
static void define_results(pl_warp *w, const pl_prog_call *c)
{
    static const uint64_t none[PL_LANES] = {0};
    const pl_call_frame *f = pl_warp_current_call(w);
    const bool allocates = strcmp(w->program->funcs.at[c->callee].name, "malloc") == 0;
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_set_half(w, h);
        pl_traced *s = unit_of(w)->traced;
        const uint32_t lanes = pl_of_half(w, w->all);
        for (uint32_t k = 0; k < c->nrets; k++) {
            const pl_call_move *to = w->program->moves.at + c->first_ret + k;
            if (s && to->reg && f->row + to->to + 1 < s->rows)
                pl_traced_set(s, f->row + to->to, to->bytes > 4, lanes, none, NULL);
            for (uint32_t m = lanes; m; m &= m - 1) {
                const unsigned l = (unsigned)__builtin_ctz(m);
                const location p =
                    s ? locate_local(s, l, (uint64_t)f->local + to->to) : (location){0};
                if (s && !to->reg) write_bits(w, &p, to->bytes, NULL, 0);
                if (allocates) mark_allocated(w, l, to);
            }
        }
    }
    pl_warp_set_half(w, 0);
}

static void call(pl_warp *w, const pl_insn *i)
{
    const uint16_t before = w->split[w->current].call;
    const pl_prog_call *c = &w->program->calls.at[i->target];
    init_insn_of(w, i)->inner(w, i);
    if (w->stop || !w->nsplits) return;
    if (w->split[w->current].call == before) {
        if (c->callee != UINT32_MAX && w->program->funcs.at[c->callee].system) define_results(w, c);
        return;
    }
    const pl_call_frame *f = pl_warp_current_call(w);
    const pl_prog_func *fn = &w->program->funcs.at[f->func];
    for (unsigned h = 0; h < w->halves; h++) {
        pl_warp_set_half(w, h);
        pl_traced *s = pl_traced_of(w);
        const uint32_t lanes = pl_of_half(w, w->all);
        if (!s || !lanes) continue;
        open_frame(w, s, lanes, f);
        copy_values(w, s, lanes, w->program->moves.at + c->first_arg, fn->formal.at, c->nargs,
                    &w->call[f->parent], f);
    }
    pl_warp_set_half(w, 0);
}

static void ret(pl_warp *w, const pl_insn *i)
{
    const pl_call_frame f = *pl_warp_current_call(w);
    pl_traced *s = unit_of(w)->traced;
    if (s && s->n) pl_traced_guard(w, i, s);
    if (w->split[w->current].call) {
        const pl_prog_call *c = &w->program->calls.at[w->code[f.site].target];
        const pl_prog_func *fn = &w->program->funcs.at[f.func];
        for (unsigned h = 0; h < w->halves; h++) {
            pl_warp_set_half(w, h);
            s = unit_of(w)->traced;
            const uint32_t lanes = pl_of_half(w, w->all);
            if (s && lanes)
                copy_values(w, s, lanes, fn->result.at, w->program->moves.at + c->first_ret,
                            c->nrets, &f, &w->call[f.parent]);
        }
        pl_warp_set_half(w, 0);
    }
    init_insn_of(w, i)->inner(w, i);
}

/* ---- binding ---- */

pl_exec_fn *pl_init_memory_wrapper(const pl_insn *i)
{
    const pl_form *f = &pl_forms[i->form];
    const bool async = f->effects & PL_EF_ASYNC || pl_insn_has(i, W_bulk);
    switch ((int)f->mnem) {
    case M_ld:
    case M__restore:
    case M_ldu: return load;
    case M__save: return store;
    case M_st: return async ? NULL : store;
    case M_atom:
    case M_red:
    case M__cast: return async ? NULL : atomic;
    case M_cp:
        return f->noperands >= 3 && !pl_insn_has(i, W_bulk) && !pl_insn_has(i, W_mbarrier)
                   ? copy_async
                   : NULL;
    case M_ldmatrix: return load_matrix;
    case M_tex:
    case M_tld4:
    case M_suld:
    case M_sust:
    case M_sured: return pl_init_fetch;
    case M_wgmma: return pl_insn_has(i, W_mma_async) ? pl_init_product : NULL;
    case M_stmatrix:
    case M_mbarrier: return other_store;
    case M_tcgen05: return pl_insn_has(i, W_alloc) ? other_store : NULL;
    case M_call: return call;
    case M__ret:
    case M_ret: return ret;
    default: return NULL;
    }
}

bool pl_init_block_starts(pl_check *k, pl_cta *c)
{
    pl_validity *v = &block_of(c)->validity;
    const uint64_t bytes = c->shared_end - c->shared_start;
    v->starts_undefined = true;
    v->undefined_pages = (bytes + PL_VALIDITY_PAGE - 1) / PL_VALIDITY_PAGE;
    (void)k;
    return bytes % PL_VALIDITY_PAGE == 0 ||
           pl_validity_set(v, bytes, PL_VALIDITY_PAGE - (unsigned)(bytes % PL_VALIDITY_PAGE), NULL,
                           0);
}
