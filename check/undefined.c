/* undefined.c - operations of the host on uninitialised memory. See undefined.h. */
#include "check/undefined.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/internal.h"

enum { MAX_ORIGINS = 1 << 16 };

uint32_t pl_undefined_add_user(pl_undefined *u, pl_check *k)
{
    pl_check **grown = realloc(u->user, (u->users + 1) * sizeof(*grown));
    if (!grown) return 0;
    u->user = grown;
    u->user[u->users] = k;
    return ++u->users;
}

void pl_undefined_remove_user(pl_undefined *u, uint32_t number)
{
    if (number) u->user[number - 1] = NULL;
}

void pl_undefined_free(pl_undefined *u)
{
    free(u->origin);
    free(u->user);
    pl_validity_free(&u->memory);
    *u = (pl_undefined){0};
}

/* ---- origins ---- */

pl_origin *pl_origin_new(pl_undefined *u, bool *no_memory)
{
    if (u->norigins >= MAX_ORIGINS) return NULL;
    if (u->norigins + 1 >= u->origins) {
        const uint32_t cap = u->origins ? 2 * u->origins : 64;
        pl_origin *o = realloc(u->origin, cap * sizeof *o);
        *no_memory |= !o;
        if (!o) return NULL;
        u->origin = o;
        u->origins = cap;
        if (!u->norigins) u->norigins = 1; /* number 0 is none */
    }
    return &u->origin[u->norigins++];
}

const pl_origin *pl_origin_read(const pl_undefined *u, uint32_t origin)
{
    const pl_origin *o = &u->origin[origin];
    return o->from ? &u->origin[o->from] : o;
}

/* ---- the host ---- */

/* Clips a range to the tracked memory, relative to base. False: they do not overlap. */
static bool clip(const pl_undefined *u, uint64_t address, uint64_t *bytes, uint64_t *at)
{
    *at = address - u->base;
    if (*at >= u->bytes) return false;
    if (*bytes > u->bytes - *at) *bytes = u->bytes - *at;
    return true;
}

bool pl_undefined_set(pl_undefined *u, uint64_t address, uint64_t bytes, bool defined)
{
    uint64_t at;
    return !clip(u, address, &bytes, &at) || pl_validity_all(&u->memory, at, bytes, defined);
}

bool pl_undefined_copy(pl_undefined *u, uint64_t to, uint64_t from, uint64_t bytes)
{
    uint64_t at, source;
    const bool source_tracked = clip(u, from, &bytes, &source);
    if (!clip(u, to, &bytes, &at)) return true;
    if (!source_tracked || !u->memory.undefined_pages)
        return pl_validity_all(&u->memory, at, bytes, true);
    for (uint64_t done = 0; done < bytes;) {
        uint8_t bits[PL_VALIDITY_PAGE];
        uint32_t origin = 0;
        const uint64_t remaining = bytes - done,
                       in_page = PL_VALIDITY_PAGE - (source + done) % PL_VALIDITY_PAGE;
        const unsigned chunk = (unsigned)(remaining < in_page ? remaining : in_page);
        const bool any = pl_validity_get(&u->memory, source + done, chunk, bits, &origin);
        if (!pl_validity_set(&u->memory, at + done, chunk, any ? bits : NULL, origin)) return false;
        done += chunk;
    }
    return true;
}

/* ---- outputs ---- */

static bool report_output(pl_undefined *u, uint32_t origin, uint64_t at, const pl_undefined_what *w)
{
    const pl_origin *store = &u->origin[origin], *load = pl_origin_read(u, origin);
    pl_check *k = store->user ? u->user[store->user - 1] : NULL;
    bool fresh;
    if (!k) return true; /* its module is closed, and has been reported */
    pl_check_finding *f = pl_finding_of(k, PL_FK_INIT_OUTPUT, store->pc,
                                        load->user == store->user ? load->pc : UINT32_MAX, &fresh);
    if (!f) return false;
    f->count++;
    if (!fresh) return true;
    f->by.kernel = store->kernel;
    memcpy(f->by.block, store->block, sizeof store->block);
    memcpy(f->by.thread, store->thread, sizeof store->thread);
    char what[200];
    snprintf(what, sizeof what, "%s %llu of %.150s", w->element ? "element" : "word",
             (unsigned long long)((at - w->start) / (w->element ? w->element : 4)), w->name);
    pl_origin_describe(u, f, load, what);
    return true;
}

/* Elements with only some undefined bytes are ignored: these are probably padding. */
bool pl_undefined_scan(pl_undefined *u, uint64_t address, uint64_t bytes,
                       const pl_undefined_what *what, pl_undefined_read *out)
{
    const uint64_t step = what->element ? what->element : 4;
    uint64_t start;
    *out = (pl_undefined_read){0};
    if (!u->memory.undefined_pages || !clip(u, address, &bytes, &start)) return true;
    for (uint64_t at = 0; at + step <= bytes; at += step) {
        const uint64_t from = start + at;
        const pl_vpage *p = pl_validity_page(&u->memory, from);
        if (!p) {
            const uint64_t left = PL_VALIDITY_PAGE - from % PL_VALIDITY_PAGE;
            if (left > step) at += (left - 1) / step * step;
            continue;
        }
        const unsigned in = (unsigned)(from % PL_VALIDITY_PAGE);
        unsigned n = 0;
        while (n < step && in + n < PL_VALIDITY_PAGE && p->bits[in + n]) n++;
        if (n < step) continue;
        if (p->origin[in / 4]) {
            if (!report_output(u, p->origin[in / 4], address + at, what)) return false;
        } else if (!out->words++) {
            out->first = address + at;
        }
    }
    return true;
}
