/* op_texture.c - texture fetches, surface accesses, and queries of both.
 *
 * A texture or surface operand is a 64-bit register that holds a handle, or the name of a .texref,
 * .samplerref or .surfref variable. In the latter case the register holds the variable's address,
 * and the variable holds the handle. texture.c computes the result of a fetch. Faults of surfaces
 * are the H200's (driver 580.159.04, 2026-11, probe tex.surface_faults). */
#include "emu/exec/texture/texture.h"

#include <string.h>

#include "base/plural.h"
#include "emu/exec/hooks.h"
#include "emu/exec/memory/address.h"
#include "emu/exec/memory/atomic_ops.h"

/* ---- operands ---- */

/* Index of the operand with this name; all forms use the same names. PL_NO_OPERAND: the form has
 * none, or it was omitted. */
static unsigned operand(const pl_insn *i, const char *name)
{
    const pl_form *f = &pl_forms[i->form];
    for (unsigned k = 0; k < f->noperands && k < PL_INLINE_OPERANDS; k++)
        if (!strcmp(f->operand[k].name, name)) return i->op[k] == PL_NO_OPERAND ? PL_NO_OPERAND : k;
    return PL_NO_OPERAND;
}

/* Element e of a vector operand. */
static uint32_t element(const pl_warp *w, const pl_insn *i, unsigned k, unsigned e, unsigned lane)
{
    return pl_row32(w, pl_more(w, i, i->op[k] + e))[lane];
}

static float as_float(uint32_t bits)
{
    float f;
    memcpy(&f, &bits, 4);
    return f;
}

static const pl_object *object(pl_warp *w, const pl_insn *i, unsigned k, unsigned lane,
                               pl_object_kind kind)
{
    uint64_t handle = pl_row64(w, i->op[k])[lane];
    const uint8_t *variable = handle > UINT32_MAX ? pl_memory_at(w->grid->memory, handle, 8) : NULL;
    if (variable) memcpy(&handle, variable, 8);
    const pl_object *o = pl_object_find(w->grid->objects, handle);
    if (w->fx) {
        w->fx->object = handle;
        w->fx->sampled = w->fx->filtered = w->fx->gathered = w->fx->mip_filtered = false;
    }
    if (o && o->kind == kind) return o;
    const char *what = kind == PL_OBJECT_SURFACE ? "surface" : "texture";
    if (variable && !handle) {
        pl_fault(w, 1u << lane, 0, "CUDA_ERROR_ILLEGAL_ADDRESS",
                 "the %s reference has neither an array nor memory", what);
        return NULL;
    }
    pl_fault(w, 1u << lane, handle, "CUDA_ERROR_ILLEGAL_ADDRESS", "0x%llx is not a handle of a %s",
             (unsigned long long)handle, what);
    return NULL;
}

typedef struct geometry {
    uint8_t dims;
    bool layered, cube;
} geometry;

static geometry geometry_of(int word)
{
    switch (word) {
    case W_1d: return (geometry){1, false, false};
    case W_3d: return (geometry){3, false, false};
    case W_a1d: return (geometry){1, true, false};
    case W_a2d: return (geometry){2, true, false};
    case W_cube: return (geometry){3, false, true};
    case W_acube: return (geometry){3, true, true};
    default: return (geometry){2, false, false};
    }
}

/* ---- textures ---- */

/* A fetched value in the type requested by the instruction. */
static uint32_t convert_result(uint32_t v, int type)
{
    return type == W_f16 || type == W_f16x2 ? f16_from_f32(v, PL_RN) : v;
}

/* Texel offsets have four bits, those of gathers six (H200, driver 580.159.04, 2026-11, probe
 * tex2.offsets). */
static int32_t texel_offset(uint32_t v, bool gather)
{
    unsigned unused = gather ? 26 : 28;
    return (int32_t)(v << unused) >> unused;
}

/* Notifies a checker of the texels that a lane reads, and finds those that no allocation holds. */
typedef struct lane_watch {
    pl_texel_watch watch; /* must be the first member */
    pl_warp *w;
    unsigned lane;
    uint64_t *missing; /* set to the address of a texel that does not exist */
} lane_watch;

static void reads(const pl_texel_watch *watch, uint64_t address, unsigned bytes)
{
    const lane_watch *x = (const lane_watch *)(const void *)watch;
    const pl_hooks *h = x->w->grid->hooks;
    if (h) h->texel(h, x->w, x->lane, address, bytes);
    if (!pl_memory_at(x->w->grid->memory, address, bytes)) *x->missing = address;
}

/* True if an allocation holds all texels. The description of a texture in linear memory may exceed
 * it (H100). */
static bool is_whole(const pl_memory *m, const pl_object *t)
{
    const pl_image *i = &t->images.level[0];
    const uint64_t row = (uint64_t)i->width * pl_texel_bytes(t->images.format);
    return t->source == PL_TEXTURE_ARRAY ||
           pl_memory_at(m, i->address, i->pitch * (i->height - 1) + row);
}

/* A texture instruction, and the indices of its operands. */
typedef struct fetch_insn {
    pl_warp *w;
    const pl_insn *i;
    geometry g;
    pl_level_kind level;
    int gather; /* component; -1: no gather */
    bool integer;
    unsigned texture, sampler, coord, lod, dx, dy, offset;
} fetch_insn;

/* The fetch of one lane. */
static pl_fetch fetch_of_lane(const fetch_insn *x, unsigned l, const pl_texel_watch *watch)
{
    pl_warp *w = x->w;
    const pl_insn *i = x->i;
    pl_fetch f = {.dims = x->g.dims,
                  .watch = watch,
                  .integer = x->integer,
                  .cube = x->g.cube,
                  .layered = x->g.layered,
                  .level = (uint8_t)x->level,
                  .gather = (int8_t)x->gather};
    for (unsigned k = 0; k < x->g.dims; k++) {
        f.coord[k] = element(w, i, x->coord, k + x->g.layered, l);
        if (x->offset != PL_NO_OPERAND && !x->g.cube)
            f.offset[k] = texel_offset(element(w, i, x->offset, k, l), x->gather >= 0);
        if (x->level == PL_LEVEL_GRADIENT) {
            f.ddx[k] = as_float(element(w, i, x->dx, k, l));
            f.ddy[k] = as_float(element(w, i, x->dy, k, l));
        }
    }
    if (x->g.layered) f.layer = (int32_t)element(w, i, x->coord, 0, l);
    if (x->level == PL_LEVEL_GIVEN) {
        const uint32_t v = pl_row32(w, i->op[x->lod])[l];
        f.lod = f.integer ? (float)(int32_t)v : as_float(v);
    }
    return f;
}

/* Stores a fetched texel: four results, or two with a pair of f16 each. */
static void set_result(uint32_t (*out)[PL_LANES], unsigned l, const uint32_t v[4], int type)
{
    for (unsigned k = 0; k < 4 && type != W_f16x2; k++) out[k][l] = convert_result(v[k], type);
    for (unsigned k = 0; k < 2 && type == W_f16x2; k++)
        out[k][l] = convert_result(v[2 * k], type) | convert_result(v[2 * k + 1], type) << 16;
}

static void fetch(pl_warp *w, const pl_insn *i, int geom, int type, int ctype, pl_level_kind level,
                  int gather)
{
    const fetch_insn x = {.w = w,
                          .i = i,
                          .g = geometry_of(geom),
                          .level = level,
                          .gather = gather,
                          .integer = ctype == W_s32,
                          .texture = operand(i, "a"),
                          .sampler = operand(i, "b"),
                          .coord = operand(i, "c"),
                          .lod = operand(i, "lod"),
                          .dx = operand(i, "dx"),
                          .dy = operand(i, "dy"),
                          .offset = operand(i, "offset")};
    const unsigned resident = operand(i, "p");
    if (geom == W_2dms || geom == W_a2dms || operand(i, "depth") != PL_NO_OPERAND) {
        pl_fault(w, w->exec, 0, "CUDA_ERROR_NOT_SUPPORTED",
                 "multi-sample and depth textures, which CUDA programs cannot make");
        return;
    }
    uint32_t out[4][PL_LANES] = {{0}}, bytes = 4;
    uint64_t address[PL_LANES] = {0};
    bool linear = false;
    for (uint32_t m = w->exec; m; m &= m - 1) {
        const unsigned l = (unsigned)__builtin_ctz(m);
        const pl_object *t = object(w, i, x.texture, l, PL_OBJECT_TEXTURE);
        const pl_object *s =
            t && x.sampler != PL_NO_OPERAND ? object(w, i, x.sampler, l, PL_OBJECT_TEXTURE) : t;
        if (!s) return;
        uint64_t missing = 0;
        const lane_watch watch = {.watch = {reads}, .w = w, .lane = l, .missing = &missing};
        const bool watched = w->grid->hooks || !is_whole(w->grid->memory, t);
        const pl_fetch f = fetch_of_lane(&x, l, watched ? &watch.watch : NULL);
        uint32_t v[4];
        pl_texture_fetch(w->grid->memory, &t->images, &s->sampler, &f, v);
        if (missing && t->source != PL_TEXTURE_ARRAY) {
            pl_bounds_fault(w, l, PL_SP_GLOBAL, missing, pl_texel_bytes(t->images.format),
                            "texture fetch");
            return;
        }
        address[l] = pl_texture_address(&t->images, &s->sampler, &f, t->source == PL_TEXTURE_ARRAY);
        bytes = pl_texel_bytes(t->images.format);
        linear = s->sampler.linear;
        set_result(out, l, v, type);
    }
    for (unsigned k = 0; k < (type == W_f16x2 ? 2 : 4); k++) {
        uint32_t row = pl_more(w, i, i->op[0] + k);
        if (row != PL_NO_OPERAND) pl_blend32(w, pl_row32(w, row), out[k]);
    }
    /* All of a texture is resident. */
    if (resident != PL_NO_OPERAND) pl_pred_write(w, i->op[resident], UINT32_MAX);
    pl_record_effect(w, PL_SP_TEX, PL_AC_LOAD, bytes, w->exec, address, 0);
    if (!w->fx) return;
    w->fx->sampled = !x.integer;
    w->fx->gathered = gather >= 0;
    w->fx->filtered = w->fx->sampled && gather < 0 && linear;
    w->fx->mip_filtered = w->fx->filtered && x.g.dims == 3 && !x.g.cube;
}

void exec_tex(pl_warp *w, const pl_insn *i, int geom, int type, int ctype)
{
    fetch(w, i, geom, type, ctype, PL_LEVEL_BASE, -1);
}

void exec_tex_level(pl_warp *w, const pl_insn *i, int geom, int type, int ctype)
{
    fetch(w, i, geom, type, ctype, PL_LEVEL_GIVEN, -1);
}

void exec_tex_grad(pl_warp *w, const pl_insn *i, int geom, int type)
{
    fetch(w, i, geom, type, W_f32, PL_LEVEL_GRADIENT, -1);
}

void exec_tld4(pl_warp *w, const pl_insn *i, int comp, int geom, int type)
{
    fetch(w, i, geom, type, W_f32, PL_LEVEL_BASE,
          comp == W_r   ? 0
          : comp == W_g ? 1
          : comp == W_b ? 2
                        : 3);
}

/* ---- surfaces ---- */

/* The texels of a surface access of one lane. NULL after a fault, and with .zero outside of the
 * surface. */
static uint8_t *surface_texels(pl_warp *w, const pl_insn *i, const pl_object *o, int geom,
                               int clamp, unsigned lane, unsigned bytes, bool scaled,
                               uint64_t *address)
{
    geometry g = geometry_of(geom);
    const pl_image *m = &o->images.level[0];
    unsigned c = operand(i, "c");
    int64_t at[3] = {0, 0, 0};
    const int64_t size[3] = {(int64_t)m->width * pl_texel_bytes(o->images.format), m->height,
                             m->depth};
    for (unsigned k = 0; k < g.dims; k++) at[k] = (int32_t)element(w, i, c, k + g.layered, lane);
    if (g.layered) at[2] = (int32_t)element(w, i, c, 0, lane);
    if (scaled) at[0] *= bytes;
    if (at[0] % (int64_t)bytes) {
        pl_fault(w, 1u << lane, (uint64_t)at[0], "CUDA_ERROR_MISALIGNED_ADDRESS",
                 "surface access of %u byte%s at byte %lld of a row", bytes, pl_plural(bytes),
                 (long long)at[0]);
        return NULL;
    }
    bool layers = g.layered || o->images.cubemap;
    for (unsigned k = 0; k < 3; k++) {
        int64_t most = size[k] - (k ? 1 : (int64_t)bytes);
        if (at[k] >= 0 && at[k] <= most) continue;
        if (clamp == W_trap)
            pl_fault(w, 1u << lane, (uint64_t)at[k], "CUDA_ERROR_ILLEGAL_ADDRESS",
                     "surface access outside of the surface: %s %lld of %lld",
                     k == 0   ? "byte"
                     : k == 1 ? "row"
                              : "layer",
                     (long long)at[k], (long long)size[k]);
        if (clamp != W_clamp) return NULL;
        /* Negative layers are treated as large ones (recorded). */
        at[k] = (at[k] < 0 && !(k == 2 && layers)) || most < 0 ? 0 : most;
    }
    *address = pl_image_tiled_address(m, (uint64_t)at[0], (uint64_t)at[1], (uint64_t)at[2]);
    const uint64_t byte = pl_image_byte(m, (uint64_t)at[0], (uint64_t)at[1], (uint64_t)at[2]);
    if (w->grid->hooks) w->grid->hooks->texel(w->grid->hooks, w, lane, byte, bytes);
    return pl_memory_at(w->grid->memory, byte, bytes);
}

static bool launch_failed(const pl_warp *w)
{
    return pl_failed(w->grid);
}

/* Element e of the data operand: 64-bit registers for .b64, and wider ones where the form
 * permits. */
static uint64_t data(const pl_warp *w, const pl_insn *i, unsigned k, unsigned e, unsigned bits,
                     unsigned lane)
{
    uint32_t row = pl_more(w, i, i->op[k] + e);
    return bits == 64 ? pl_row64(w, row)[lane] : pl_row32(w, row)[lane];
}

void exec_suld(pl_warp *w, const pl_insn *i, int geom, int type, int clamp)
{
    unsigned a = operand(i, "a"), bits = (unsigned)pl_type_bits((pl_word)type),
             n = (unsigned)pl_operand_count(&pl_forms[i->form], 0, i->mods);
    unsigned bytes = bits / 8 * n;
    uint64_t out[4][PL_LANES] = {{0}}, address[PL_LANES] = {0};
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const pl_object *o = object(w, i, a, l, PL_OBJECT_SURFACE);
        const uint8_t *p =
            o ? surface_texels(w, i, o, geom, clamp, l, bytes, false, &address[l]) : NULL;
        if (launch_failed(w)) return;
        for (unsigned k = 0; p && k < n; k++) memcpy(&out[k][l], p + k * bits / 8, bits / 8);
    }
    for (unsigned k = 0; k < n; k++) {
        uint32_t row = pl_more(w, i, i->op[0] + k);
        if (row == PL_NO_OPERAND) continue;
        if (bits == 64) {
            pl_blend64(w, pl_row64(w, row), out[k]);
            continue;
        }
        uint32_t v[PL_LANES];
        for (unsigned l = 0; l < PL_LANES; l++) v[l] = (uint32_t)out[k][l];
        pl_blend32(w, pl_row32(w, row), v);
    }
    pl_record_effect(w, PL_SP_TEX, PL_AC_LOAD, bytes, w->exec, address, 0);
}

void exec_sust(pl_warp *w, const pl_insn *i, int geom, int type, int clamp)
{
    unsigned a = operand(i, "a"), b = operand(i, "b"), bits = (unsigned)pl_type_bits((pl_word)type);
    unsigned n = (unsigned)pl_operand_count(&pl_forms[i->form], b, i->mods), bytes = bits / 8 * n;
    uint64_t address[PL_LANES] = {0};
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const pl_object *o = object(w, i, a, l, PL_OBJECT_SURFACE);
        uint8_t *p = o ? surface_texels(w, i, o, geom, clamp, l, bytes, false, &address[l]) : NULL;
        if (launch_failed(w)) return;
        for (unsigned k = 0; p && k < n; k++) {
            uint64_t v = data(w, i, b, k, bits, l);
            memcpy(p + k * bits / 8, &v, bits / 8);
        }
    }
    pl_record_effect(w, PL_SP_TEX, PL_AC_STORE, bytes, w->exec, address, 0);
}

/* A 32-bit value as a channel of the surface's format: integers saturate, floats are rounded (PTX
 * ISA 9.0, "sust"). */
static uint32_t to_channel(uint32_t v, pl_texel_format f)
{
    if (f.kind == PL_CHANNEL_FLOAT) return f.bits == 16 ? f16_from_f32(v, PL_RN) : v;
    if (f.bits == 32) return v;
    if (f.kind == PL_CHANNEL_UNSIGNED) return v >> f.bits ? (1u << f.bits) - 1 : v;
    int32_t most = (1 << (f.bits - 1)) - 1, s = (int32_t)v;
    return (uint32_t)(s > most ? most : s < -most - 1 ? -most - 1 : s);
}

void exec_sust_formatted(pl_warp *w, const pl_insn *i, int geom, int clamp)
{
    unsigned a = operand(i, "a"), b = operand(i, "b"),
             n = (unsigned)pl_operand_count(&pl_forms[i->form], b, i->mods);
    uint64_t address[PL_LANES] = {0};
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const pl_object *o = object(w, i, a, l, PL_OBJECT_SURFACE);
        if (!o) return;
        pl_texel_format f = o->images.format;
        uint8_t *p = surface_texels(w, i, o, geom, clamp, l, pl_texel_bytes(f), true, &address[l]);
        if (launch_failed(w)) return;
        for (unsigned k = 0; p && k < f.channels; k++) {
            uint32_t v = k < n ? to_channel(element(w, i, b, k, l), f) : 0;
            memcpy(p + k * f.bits / 8u, &v, f.bits / 8u);
        }
    }
    pl_record_effect(w, PL_SP_TEX, PL_AC_STORE, 4, w->exec, address, 0);
}

/* scaled: the .p form, whose coordinates are in texels, with the signedness given by the format. */
static void reduce(pl_warp *w, const pl_insn *i, int op, int geom, int type, int clamp, bool scaled)
{
    unsigned a = operand(i, "a"), b = operand(i, "b"),
             bytes = (unsigned)pl_type_bits((pl_word)type) / 8;
    const int with_sign = bytes == 8 ? W_s64 : W_s32, without = bytes == 8 ? W_u64 : W_u32;
    uint64_t address[PL_LANES] = {0};
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const pl_object *o = object(w, i, a, l, PL_OBJECT_SURFACE);
        uint8_t *p = o ? surface_texels(w, i, o, geom, clamp, l, bytes, scaled, &address[l]) : NULL;
        if (launch_failed(w)) return;
        if (!p) continue;
        uint64_t old = 0, v = bytes == 8 ? pl_row64(w, i->op[b])[l] : pl_row32(w, i->op[b])[l];
        memcpy(&old, p, bytes);
        const bool sign = o->images.format.kind == PL_CHANNEL_SIGNED;
        v = pl_atomic_step(op,
                           !scaled ? type
                           : sign  ? with_sign
                                   : without,
                           PL_ATOMIC_GLOBAL, old, v, 0);
        memcpy(p, &v, bytes);
    }
    pl_record_effect(w, PL_SP_TEX, PL_AC_REDUCTION, bytes, w->exec, address, 0);
}

void exec_sured(pl_warp *w, const pl_insn *i, int op, int geom, int type, int clamp)
{
    reduce(w, i, op, geom, type, clamp, false);
}

void exec_sured_formatted(pl_warp *w, const pl_insn *i, int op, int geom, int type, int clamp)
{
    reduce(w, i, op, geom, type, clamp, true);
}

/* ---- queries ---- */

/* Results of channel_data_type and channel_order (PTX ISA 9.0, section 5.3.3). */
static uint32_t channel_type(const pl_object *o)
{
    pl_texel_format f = o->images.format;
    unsigned size = f.bits == 8 ? 0 : f.bits == 16 ? 1 : 2;
    if (f.kind == PL_CHANNEL_FLOAT) return f.bits == 16 ? 0x10dd : 0x10de;
    bool normalized = o->kind == PL_OBJECT_TEXTURE && o->sampler.to_float;
    if (normalized) return (f.kind == PL_CHANNEL_SIGNED ? 0x10d0 : 0x10d2) + size;
    return (f.kind == PL_CHANNEL_SIGNED ? 0x10d7 : 0x10da) + size;
}

static uint32_t address_mode(uint8_t mode)
{
    static const uint8_t numbers[] = {[PL_ADDRESS_WRAP] = 0,
                                      [PL_ADDRESS_MIRROR] = 1,
                                      [PL_ADDRESS_CLAMP] = 3,
                                      [PL_ADDRESS_BORDER] = 4};
    return numbers[mode];
}

/* Depth and height are 0 if the texture does not have them (recorded). */
static uint32_t query_result(const pl_object *o, int query, uint32_t level)
{
    const pl_image_set *s = &o->images;
    const pl_image *m = &s->level[level < s->levels ? level : s->levels - 1];
    uint32_t layers = s->cubemap ? m->depth / 6 : m->depth;
    switch (query) {
    case W_width: return m->width;
    case W_height: return s->dims > 1 ? m->height : 0;
    case W_depth: return s->dims > 2 ? m->depth : 0;
    case W_array_size: return s->layered ? layers : 0;
    case W_num_mipmap_levels: return s->levels;
    case W_channel_data_type: return channel_type(o);
    case W_channel_order:
        return s->format.channels == 1 ? 0x10b0 : s->format.channels == 2 ? 0x10b2 : 0x10b5;
    case W_normalized_coords: return o->sampler.normalized;
    case W_filter_mode: return o->sampler.linear;
    case W_addr_mode_0: return address_mode(o->sampler.address[0]);
    case W_addr_mode_1: return address_mode(o->sampler.address[1]);
    case W_addr_mode_2: return address_mode(o->sampler.address[2]);
    case W_num_samples: return 1;
    default: /* force_unnormalized_coords, memory_layout */ return 0;
    }
}

static void run_query(pl_warp *w, const pl_insn *i, int query, pl_object_kind kind)
{
    unsigned a = operand(i, "a"), lod = operand(i, "lod");
    uint32_t out[PL_LANES] = {0};
    for (uint32_t m = w->exec; m; m &= m - 1) {
        unsigned l = (unsigned)__builtin_ctz(m);
        const pl_object *o = object(w, i, a, l, kind);
        if (!o) return;
        out[l] = query_result(o, query, lod == PL_NO_OPERAND ? 0 : pl_row32(w, i->op[lod])[l]);
    }
    pl_blend32(w, pl_row32(w, i->op[0]), out);
}

void exec_txq(pl_warp *w, const pl_insn *i, int query)
{
    run_query(w, i, query, PL_OBJECT_TEXTURE);
}

void exec_suq(pl_warp *w, const pl_insn *i, int query)
{
    run_query(w, i, query, PL_OBJECT_SURFACE);
}

/* Samplers and textures are objects of the same kind here. */
void exec_istypep(pl_warp *w, const pl_insn *i, int what)
{
    uint32_t r = 0;
    for (unsigned l = 0; l < PL_LANES; l++) {
        uint64_t handle = pl_row64(w, i->op[1])[l];
        const uint8_t *variable =
            handle > UINT32_MAX ? pl_memory_at(w->grid->memory, handle, 8) : NULL;
        if (variable) memcpy(&handle, variable, 8);
        const pl_object *o = pl_object_find(w->grid->objects, handle);
        r |= (uint32_t)(o && o->kind == (what == W_surfref ? PL_OBJECT_SURFACE : PL_OBJECT_TEXTURE))
             << l;
    }
    pl_pred_write(w, i->op[0], r);
}
