/* module_cache.c - assembled modules are stored in a folder of the user, so that the next run of a
 * program loads its modules instead of assembling them.
 *
 * The name of a file is a hash of the module's PTX texts, of the options that affect the assembled
 * program, and of the running library. Processes may share the folder, since files are created
 * atomically (pl_output_open). If a file cannot be read or written, the module is assembled as
 * without a cache. */
#define _GNU_SOURCE /* dladdr */
#include "cudart/state.h"
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MIN_TEXT_BYTES = 64 << 10, /* bytes of PTX: less is assembled within some milliseconds */
    PATH = 4096
};
#define MAX_CACHE_BYTES                                                                            \
    (UINT64_C(512) << 20) /* total bytes: beyond that, the oldest files are removed */
#define SUFFIX ".plo"

/* ---- names ---- */

/* Two 64-bit hashes: FNV-1a, and a multiply-and-rotate hash. */
typedef struct hash {
    uint64_t a, b;
} hash;

static void add_bytes(hash *h, const void *data, size_t n)
{
    const uint8_t *p = data;
    for (size_t k = 0; k < n; k++) {
        h->a = (h->a ^ p[k]) * UINT64_C(0x100000001b3);
        h->b = (h->b << 23 | h->b >> 41) * UINT64_C(0x9e3779b97f4a7c15) + p[k];
    }
}

static void add_text(hash *h, const char *text)
{
    add_bytes(h, text, strlen(text) + 1);
}

/* Adds the file that contains this library: another build may assemble differently. */
static bool add_library(hash *h)
{
    Dl_info info;
    struct stat st;
    if (!dladdr(&cuda, &info) || !info.dli_fname || stat(info.dli_fname, &st) != 0) return false;
    const int64_t what[] = {st.st_size, st.st_mtim.tv_sec, st.st_mtim.tv_nsec, (int64_t)st.st_ino};
    add_bytes(h, what, sizeof what);
    return true;
}

/* Returns the folder; false: none. */
static bool cache_folder(char *path, size_t size)
{
    const char *option_value = cuda.options.cache, *xdg = getenv("XDG_CACHE_HOME"),
               *home = getenv("HOME");
    int n = -1;
    if (option_value && strcmp(option_value, "off") == 0) return false;
    if (option_value)
        n = snprintf(path, size, "%s", option_value);
    else if (xdg && *xdg)
        n = snprintf(path, size, "%s/ptxloom", xdg);
    else if (home && *home)
        n = snprintf(path, size, "%s/.cache/ptxloom", home);
    return n > 0 && (size_t)n < size;
}

/* Objects lack data that checkers require for modules with wgmma (pl_wgmma_hazard). */
static bool is_complete_as_object(const cuda_module *m)
{
    for (size_t k = 0; cuda.options.check && k < m->ntexts; k++)
        if (strstr(m->text[k], "wgmma.mma_async")) return false;
    return true;
}

/* Returns the module's file; false: it is not cached. */
static bool cache_path(const cuda_module *m, char *path, size_t size)
{
    hash h = {UINT64_C(0xcbf29ce484222325), 1};
    size_t bytes = 0;
    for (size_t k = 0; k < m->ntexts; k++) bytes += strlen(m->text[k]);
    double lanes = 0;
    pl_gpu_value(cuda_current_device()->gpu, "sm.lanes", "", &lanes);
    if (bytes < MIN_TEXT_BYTES || lanes != 32 || !is_complete_as_object(m) ||
        !cache_folder(path, size) || !add_library(&h))
        return false;
    const unsigned checked = cuda.options.check != NULL;
    add_bytes(&h, &cuda.options.opt_level, sizeof cuda.options.opt_level);
    add_bytes(&h, &checked, sizeof checked);
    add_text(&h, pl_gpu_name(cuda_current_device()->gpu));
    add_text(&h, m->name);
    for (size_t k = 0; k < m->ntexts; k++) add_text(&h, m->text[k]);
    const size_t at = strlen(path);
    const int n = snprintf(path + at, size - at, "/%016" PRIx64 "%016" PRIx64 SUFFIX, h.a, h.b);
    return n > 0 && (size_t)n < size - at;
}

/* ---- files ---- */

static char *read_all(int file, size_t *bytes)
{
    struct stat st;
    if (fstat(file, &st) != 0 || st.st_size <= 0) return NULL;
    char *data = malloc((size_t)st.st_size + 1);
    size_t n = 0;
    while (data && n < (size_t)st.st_size) {
        const ssize_t got = read(file, data + n, (size_t)st.st_size - n);
        if (got <= 0) break;
        n += (size_t)got;
    }
    if (data && n == (size_t)st.st_size) {
        data[n] = '\0';
        *bytes = n;
        return data;
    }
    free(data);
    return NULL;
}

/* Creates the folder and its parents. */
static void make_folders(char *path)
{
    for (char *p = path + 1; (p = strchr(p, '/')) != NULL; p++) {
        *p = '\0';
        mkdir(path, 0700);
        *p = '/';
    }
}

static void write_all(pl_gpu *gpu, const char *path, const char *data, size_t bytes)
{
    const pl_output_how how = {.kind = PL_OUTPUT_OBJECT};
    pl_output *o;
    if (pl_output_open(gpu, path, &how, &o) != PL_OK) return;
    const bool written = fwrite(data, 1, bytes, pl_output_stream(o)) == bytes;
    pl_output_close(o, written ? PL_OK : PL_IO);
}

/* Returns the total bytes of the files in the folder, and the name of the oldest one. */
static uint64_t folder_bytes(DIR *d, char oldest[NAME_MAX + 1])
{
    uint64_t sum = 0;
    struct timespec oldest_time = {0};
    rewinddir(d);
    *oldest = '\0';
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        struct stat st;
        if (!strstr(e->d_name, SUFFIX) ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        sum += (uint64_t)st.st_size;
        const struct timespec t = st.st_mtim;
        if (*oldest && (t.tv_sec > oldest_time.tv_sec ||
                        (t.tv_sec == oldest_time.tv_sec && t.tv_nsec >= oldest_time.tv_nsec)))
            continue;
        oldest_time = t;
        snprintf(oldest, NAME_MAX + 1, "%s", e->d_name);
    }
    return sum;
}

/* Removes the least recently used files until there is space for one more. */
static void evict_oldest(char *path, uint64_t bytes)
{
    char oldest[NAME_MAX + 1];
    char *slash = strrchr(path, '/');
    *slash = '\0';
    DIR *d = opendir(path);
    *slash = '/';
    while (d && folder_bytes(d, oldest) + bytes > MAX_CACHE_BYTES && *oldest)
        if (unlinkat(dirfd(d), oldest, 0) != 0) break;
    if (d) closedir(d);
}

/* ---- modules ---- */

bool cuda_cache_load(const cuda_module *m, const pl_load_options *options, pl_module **out)
{
    char path[PATH];
    pl_gpu *gpu = cuda_current_device()->gpu;
    size_t bytes = 0;
    if (!cache_path(m, path, sizeof path)) return false;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) return false;
    char *data = read_all(file, &bytes);
    futimens(file, NULL); /* marks it as used */
    close(file);
    const bool ok = data && pl_module_load(gpu, m->name, data, bytes, options, out) == PL_OK;
    free(data);
    if (!ok) {
        pl_gpu_diag_clear(gpu);
        unlink(path);
    }
    return ok;
}

void cuda_cache_store(const cuda_module *m, pl_module *assembled)
{
    char path[PATH];
    const char *data;
    size_t bytes;
    pl_gpu *gpu = cuda_current_device()->gpu;
    if (pl_gpu_diag_count(gpu) || !cache_path(m, path, sizeof path)) return;
    if (pl_module_save(assembled, PL_SAVE_OBJECT, &data, &bytes) == PL_OK) {
        make_folders(path);
        evict_oldest(path, bytes);
        write_all(gpu, path, data, bytes);
    }
    pl_gpu_diag_clear(gpu);
}
