/* sparse_array.c - the memory of sparse arrays and of arrays with deferred mapping.
 *
 * An array always has memory of its own. A tile that is not mapped holds zeros: what copies store
 * there is cleared. The contents of a mapped tile are in the array; they move between it and the
 * tile pool when the tile is mapped and unmapped. Kernels cannot store to such arrays. */
#include "cudart/state.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The file of a tile pool. */
typedef struct pool_file {
    int fd;
    unsigned refs; /* tiles */
} pool_file;

typedef struct place {
    pool_file *pool; /* NULL: not mapped */
    uint64_t offset;
} place;

struct cuda_tiles {
    cuda_tile_layout l;
    unsigned n[3]; /* tiles by direction */
    place at[];
};

/* CUarrayMapInfo */
typedef struct map_info {
    int resource;
    cuda_array *array;
    int part;
    union {
        struct {
            unsigned level, layer, offset[3], extent[3];
        } level;
        struct {
            unsigned layer;
            uint64_t offset, size;
        } tail;
    } u;
    int operation, handle_type;
    uint64_t pool, offset;
    unsigned devices, flags, reserved[2];
} map_info;
_Static_assert(sizeof(map_info) == 96, "layout of CUDA 13");

struct cuda_tiles *cuda_new_tiles(const cuda_tile_layout *l)
{
    size_t total = 1;
    unsigned n[3];
    for (int k = 0; k < 3; k++) {
        n[k] = l->whole ? 1 : (unsigned)((l->extent[k] + l->size[k] - 1) / l->size[k]);
        total *= n[k];
    }
    struct cuda_tiles *t = calloc(1, sizeof *t + total * sizeof *t->at);
    if (!t) return NULL;
    t->l = *l;
    memcpy(t->n, n, sizeof n);
    for (int k = 0; k < 3; k++)
        if (l->whole) t->l.size[k] = (unsigned)l->extent[k];
    return t;
}

static size_t index_of(const struct cuda_tiles *t, unsigned x, unsigned y, unsigned z)
{
    return ((size_t)z * t->n[1] + y) * t->n[0] + x;
}

/* Calls `each` for the rows of a tile, until it returns false: their bytes, and the position of the
 * row in the tile. Returns the last result. */
static bool each_row(const struct cuda_tiles *t, unsigned x, unsigned y, unsigned z, int file,
                     uint64_t offset, bool (*each)(uint8_t *row, size_t bytes, int file, off_t at))
{
    const cuda_tile_layout *l = &t->l;
    const size_t left = (size_t)x * l->size[0], top = (size_t)y * l->size[1],
                 front = (size_t)z * l->size[2];
    const size_t width = left + l->size[0] < l->extent[0] ? l->size[0] : l->extent[0] - left;
    for (size_t k = 0; k < l->size[2] && front + k < l->extent[2]; k++)
        for (size_t i = 0; i < l->size[1] && top + i < l->extent[1]; i++)
            if (!each(l->bytes + (front + k) * l->slice + (top + i) * l->pitch + left * l->texel,
                      width * l->texel, file,
                      (off_t)(offset + (k * l->size[1] + i) * l->size[0] * l->texel)))
                return false;
    return true;
}

static bool load_row(uint8_t *row, size_t bytes, int file, off_t at)
{
    return pread(file, row, bytes, at) == (ssize_t)bytes;
}

static bool store_row(uint8_t *row, size_t bytes, int file, off_t at)
{
    return pwrite(file, row, bytes, at) == (ssize_t)bytes;
}

static bool clear_row(uint8_t *row, size_t bytes, int file, off_t at)
{
    (void)file, (void)at;
    memset(row, 0, bytes);
    return true;
}

static void release(pool_file *f)
{
    if (--f->refs) return;
    if (f->fd >= 0) close(f->fd);
    free(f);
}

/* Maps a tile, or (without a pool) unmaps it. False: the tile pool cannot be written, and the tile
 * is mapped as before, or it cannot be read, and the tile is not mapped. */
static bool set_tile(struct cuda_tiles *t, unsigned x, unsigned y, unsigned z, place to)
{
    place *p = &t->at[index_of(t, x, y, z)];
    if (p->pool) {
        if (!each_row(t, x, y, z, p->pool->fd, p->offset, store_row)) return false;
        each_row(t, x, y, z, -1, 0, clear_row);
        release(p->pool);
        p->pool = NULL;
    }
    if (!to.pool) return true;
    if (!each_row(t, x, y, z, to.pool->fd, to.offset, load_row)) {
        each_row(t, x, y, z, -1, 0, clear_row);
        return false;
    }
    *p = to;
    p->pool->refs++;
    return true;
}

void cuda_free_tiles(struct cuda_tiles *t)
{
    for (size_t k = 0; t && k < (size_t)t->n[0] * t->n[1] * t->n[2]; k++)
        if (t->at[k].pool) release(t->at[k].pool);
    free(t);
}

void cuda_clear_unmapped(const struct cuda_tiles *t)
{
    for (unsigned z = 0; z < t->n[2]; z++)
        for (unsigned y = 0; y < t->n[1]; y++)
            for (unsigned x = 0; x < t->n[0]; x++)
                if (!t->at[index_of(t, x, y, z)].pool) each_row(t, x, y, z, -1, 0, clear_row);
}

/* Converts the region of a mapping to tiles. False: it does not consist of whole tiles. */
static bool tiles_of(const map_info *m, const struct cuda_tiles *t, unsigned first[3],
                     unsigned n[3])
{
    for (int k = 0; k < 3; k++) {
        const size_t extent = t->l.extent[k];
        const unsigned tile = t->l.size[k], size = m->u.level.extent[k];
        const unsigned at = m->u.level.offset[k] + (k == 2 && t->l.layered ? m->u.level.layer : 0);
        first[k] = 0;
        n[k] = 1;
        if (t->l.whole) continue;
        if (!size || at % tile || at >= extent || size > t->n[k] * tile - at ||
            (size % tile && at + size != extent))
            return false;
        first[k] = at / tile;
        n[k] = (size + tile - 1) / tile;
    }
    return true;
}

cuda_array *cuda_mapped_array(const void *list, size_t k)
{
    return ((const map_info *)list)[k].array;
}

uint64_t cuda_mapped_pool(const void *list, size_t k)
{
    return ((const map_info *)list)[k].pool;
}

int cuda_map_tiles(const void *list, size_t k, int device, int fd, uint64_t size)
{
    enum { MAP = 1, UNMAP = 2, LEVEL = 0 };
    const map_info *m = (const map_info *)list + k;
    unsigned first[3], n[3];
    struct cuda_tiles *t = m->array->tiles;
    if (m->flags || m->reserved[0] || m->reserved[1] || m->devices != 1u << device ||
        (m->operation != MAP && m->operation != UNMAP) || (m->operation == UNMAP) != !m->pool)
        return CU_INVALID_VALUE;
    if (!t) return m->array->desc.levels > 1 ? CU_OK : CU_INVALID_VALUE;
    if (!t->l.whole && (m->part != LEVEL || m->u.level.level)) return CU_INVALID_VALUE;
    if (!tiles_of(m, t, first, n)) return CU_INVALID_VALUE;
    const uint64_t bytes =
        t->l.whole ? t->l.all_bytes : (uint64_t)n[0] * n[1] * n[2] * CUDA_TILE_BYTES;
    if (m->pool &&
        (fd < 0 || m->offset % CUDA_TILE_BYTES || m->offset > size || bytes > size - m->offset))
        return CU_INVALID_VALUE;
    pool_file *f = m->pool ? calloc(1, sizeof *f) : NULL;
    if (m->pool && !f) return CU_MEMORY_ALLOCATION;
    if (f) *f = (pool_file){dup(fd), 1};
    bool ok = !f || f->fd >= 0;
    uint64_t at = m->offset;
    for (unsigned z = 0; z < n[2]; z++)
        for (unsigned y = 0; y < n[1]; y++)
            for (unsigned x = 0; x < n[0] && ok; x++, at += CUDA_TILE_BYTES)
                ok = set_tile(t, first[0] + x, first[1] + y, first[2] + z, (place){f, at});
    if (f) release(f);
    return ok ? CU_OK : CU_OPERATING_SYSTEM;
}
