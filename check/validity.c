/* validity.c - pages of defined and undefined bits. See validity.h. */
#include "check/validity.h"

#include <stdlib.h>
#include <string.h>

/* Memory that starts undefined consists of small pieces: shared and local memory. */
enum { LEAF_SHIFT = 10, LEAF_PAGES = 1 << LEAF_SHIFT, SMALL_SHIFT = 5 };

struct pl_validity_leaf {
    bool used;
    pl_vpage *page[];
};

static unsigned shift(const pl_validity *v)
{
    return v->starts_undefined ? SMALL_SHIFT : LEAF_SHIFT;
}

static unsigned leaf_pages(const pl_validity *v)
{
    return 1u << shift(v);
}

/* A page that is wholly uninitialised. */
#define ALL4  0xff, 0xff, 0xff, 0xff
#define ALL16 ALL4, ALL4, ALL4, ALL4
#define ALL64 ALL16, ALL16, ALL16, ALL16
static const pl_vpage uninitialised = {.undefined = PL_VALIDITY_PAGE,
                                       .bits = {ALL64, ALL64, ALL64, ALL64}};

static pl_vpage *uninitialised_page(void)
{
    return (pl_vpage *)(uintptr_t)&uninitialised;
}

/* Marks a leaf that is wholly uninitialised. */
static struct pl_validity_leaf uninitialised_leaf;

const pl_vpage *pl_validity_page(const pl_validity *v, uint64_t address)
{
    const uint64_t number = address / PL_VALIDITY_PAGE, leaf = number >> shift(v);
    if (leaf >= v->leaves || !v->leaf[leaf]) return v->starts_undefined ? &uninitialised : NULL;
    return v->leaf[leaf] == &uninitialised_leaf ? &uninitialised
                                                : v->leaf[leaf]->page[number & (leaf_pages(v) - 1)];
}

/* Returns the address of the leaf's pointer; NULL: out of memory. */
static struct pl_validity_leaf **leaf_slot(pl_validity *v, uint64_t leaf)
{
    if (leaf >= v->leaves) {
        size_t n = v->leaves ? v->leaves : 1;
        while (n <= leaf) n *= 2;
        struct pl_validity_leaf **l = calloc(n, sizeof(*l)); /* large ones remain untouched pages */
        if (!l) return NULL;
        if (v->leaves) memcpy(l, v->leaf, v->leaves * sizeof(*l));
        free(v->leaf);
        v->leaf = l;
        v->leaves = n;
    }
    return &v->leaf[leaf];
}

/* Returns the address of the page's pointer; NULL: out of memory. */
static pl_vpage **page_slot(pl_validity *v, uint64_t address)
{
    const uint64_t number = address / PL_VALIDITY_PAGE;
    const unsigned pages = leaf_pages(v);
    struct pl_validity_leaf **leaf = leaf_slot(v, number >> shift(v));
    if (!leaf) return NULL;
    if (!*leaf || *leaf == &uninitialised_leaf) {
        struct pl_validity_leaf *l = calloc(1, sizeof *l + pages * sizeof(*l->page));
        if (!l) return NULL;
        l->used = true;
        for (unsigned n = 0; (v->starts_undefined || *leaf) && n < pages; n++)
            l->page[n] = uninitialised_page();
        *leaf = l;
    }
    return &(*leaf)->page[number & (pages - 1)];
}

/* Returns the page as a writable one, allocated if necessary. NULL: out of memory. */
static pl_vpage *make_writable(pl_validity *v, pl_vpage **at)
{
    if (*at && *at != &uninitialised) return *at;
    pl_vpage *p = calloc(1, sizeof *p);
    if (!p) return NULL;
    if (*at)
        *p = uninitialised;
    else
        v->undefined_pages++;
    return *at = p;
}

static void drop_if_defined(pl_validity *v, pl_vpage **at)
{
    if ((*at)->undefined) return;
    free(*at);
    *at = NULL;
    v->undefined_pages--;
}

/* Returns the number of bytes that are not zero. */
static unsigned count_undefined(const uint8_t *bits, unsigned n)
{
    unsigned all = 0;
    for (unsigned k = 0; k < n; k++) all += bits[k] != 0;
    return all;
}

static bool set_part(pl_validity *v, uint64_t address, unsigned bytes, const uint8_t *bits,
                     uint32_t origin)
{
    const pl_vpage *now = pl_validity_page(v, address);
    const unsigned undefined = bits ? count_undefined(bits, bytes) : 0;
    if (!now && !undefined) return true;
    pl_vpage **at = page_slot(v, address), *p = at ? make_writable(v, at) : NULL;
    if (!p) return false;
    const unsigned from = (unsigned)(address % PL_VALIDITY_PAGE);
    p->undefined += undefined;
    p->undefined -= count_undefined(p->bits + from, bytes);
    if (bits)
        memcpy(p->bits + from, bits, bytes);
    else
        memset(p->bits + from, 0, bytes);
    for (unsigned k = from / 4; undefined && k <= (from + bytes - 1) / 4; k++)
        p->origin[k] = origin;
    drop_if_defined(v, at);
    return true;
}

bool pl_validity_set(pl_validity *v, uint64_t address, unsigned bytes, const uint8_t *bits,
                     uint32_t origin)
{
    while (bytes) {
        const unsigned remaining = PL_VALIDITY_PAGE - (unsigned)(address % PL_VALIDITY_PAGE),
                       chunk = bytes < remaining ? bytes : remaining;
        if (!set_part(v, address, chunk, bits, origin)) return false;
        bytes -= chunk;
        address += chunk;
        if (bits) bits += chunk;
    }
    return true;
}

static void free_leaf(pl_validity *v, struct pl_validity_leaf *l)
{
    if (l == &uninitialised_leaf) v->undefined_pages -= LEAF_PAGES;
    for (size_t n = 0; l && l != &uninitialised_leaf && n < leaf_pages(v); n++) {
        v->undefined_pages -= l->page[n] != NULL;
        if (l->page[n] != &uninitialised) free(l->page[n]);
    }
    if (l != &uninitialised_leaf) free(l);
}

/* Makes a whole leaf defined or undefined, if the range starts with one. False: it does not. */
static bool set_leaf(pl_validity *v, uint64_t address, uint64_t bytes, bool defined, bool *failed)
{
    const uint64_t leaf = (uint64_t)LEAF_PAGES * PL_VALIDITY_PAGE;
    if (v->starts_undefined || address % leaf || bytes < leaf) return false;
    struct pl_validity_leaf **at = leaf_slot(v, address / leaf);
    *failed = !at;
    if (!at) return true;
    free_leaf(v, *at);
    *at = defined ? NULL : &uninitialised_leaf;
    if (!defined) v->undefined_pages += LEAF_PAGES;
    return true;
}

static bool undefine_part(pl_validity *v, uint64_t address, unsigned bytes)
{
    const unsigned from = (unsigned)(address % PL_VALIDITY_PAGE);
    pl_vpage **at = page_slot(v, address);
    if (!at) return false;
    if (bytes == PL_VALIDITY_PAGE) {
        if (!*at) v->undefined_pages++;
        if (*at != &uninitialised) free(*at);
        *at = uninitialised_page();
    } else if (*at != &uninitialised) {
        pl_vpage *p = make_writable(v, at);
        if (!p) return false;
        p->undefined += bytes - count_undefined(p->bits + from, bytes);
        memset(p->bits + from, 0xff, bytes);
        for (unsigned k = (from + 3) / 4; k < (from + bytes) / 4; k++) p->origin[k] = 0;
    }
    return true;
}

static bool define_part(pl_validity *v, uint64_t address, unsigned bytes)
{
    if (bytes < PL_VALIDITY_PAGE) return set_part(v, address, bytes, NULL, 0);
    if (!pl_validity_page(v, address)) return true;
    pl_vpage **at = page_slot(v, address);
    if (!at) return false;
    if (*at != &uninitialised) free(*at);
    *at = NULL;
    v->undefined_pages--;
    return true;
}

bool pl_validity_all(pl_validity *v, uint64_t address, uint64_t bytes, bool defined)
{
    bool failed = false;
    while (bytes && !failed) {
        const uint64_t leaf = (uint64_t)LEAF_PAGES * PL_VALIDITY_PAGE,
                       remaining = PL_VALIDITY_PAGE - address % PL_VALIDITY_PAGE;
        uint64_t chunk = bytes < remaining ? bytes : remaining;
        if (defined && !v->undefined_pages) return true;
        if (set_leaf(v, address, bytes, defined, &failed))
            chunk = leaf;
        else
            failed = !(defined ? define_part(v, address, (unsigned)chunk)
                               : undefine_part(v, address, (unsigned)chunk));
        bytes -= chunk;
        address += chunk;
    }
    return !failed;
}

bool pl_validity_get(const pl_validity *v, uint64_t address, unsigned bytes, uint8_t *bits,
                     uint32_t *origin)
{
    bool any = false;
    for (unsigned k = 0; k < bytes;) {
        const pl_vpage *p = pl_validity_page(v, address + k);
        const unsigned from = (unsigned)((address + k) % PL_VALIDITY_PAGE),
                       remaining = PL_VALIDITY_PAGE - from,
                       chunk = bytes - k < remaining ? bytes - k : remaining;
        if (p)
            memcpy(bits + k, p->bits + from, chunk);
        else
            memset(bits + k, 0, chunk);
        for (unsigned n = 0; p && !any && n < chunk; n++) {
            if (!bits[k + n]) continue;
            any = true;
            *origin = p->origin[(from + n) / 4];
        }
        k += chunk;
    }
    return any;
}

void pl_validity_free(pl_validity *v)
{
    for (size_t k = 0; k < v->leaves; k++) free_leaf(v, v->leaf[k]);
    free(v->leaf);
    *v = (pl_validity){.starts_undefined = v->starts_undefined};
}
