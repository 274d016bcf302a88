/* entry_point.c - lookup of API functions by name: cuGetProcAddress and related calls. */
#include "cudart/state.h"
#include <stdio.h>
#include <string.h>

enum { REFUSED = 8 /* in cuda_entry_point.versions */ };

enum { NEWEST = 13000, FOUND = 0, NO_SUCH_NAME = 1, TOO_OLD = 2, PER_THREAD = 2 };

static const struct {
    const char *name;
    int version[4];
} since[] = {
#define SINCE(name, ...) {name, {__VA_ARGS__}},
#include "cudart/driver_versions.def"
#undef SINCE
};

/* Returns the number of forms that a call has in a CUDA version; -1: unknown name. */
static int count_forms(const char *name, int version)
{
    for (size_t k = 0; k < sizeof since / sizeof *since; k++) {
        int n = 0;
        if (strcmp(since[k].name, name) != 0) continue;
        while (n < 4 && since[k].version[n] && since[k].version[n] <= version) n++;
        return n;
    }
    return -1;
}

/* Returns a function of the driver; NULL: none, or not of the driver. */
static void *address_of(const char *name, bool refused)
{
    if (strncmp(name, "cu", 2) != 0 || strncmp(name, "cuda", 4) == 0) return NULL;
    for (size_t k = 0; k < cuda_entry_point_count; k++)
        if ((refused || !(cuda_entry_points[k].versions & REFUSED)) &&
            strcmp(cuda_entry_points[k].name, name) == 0)
            return cuda_entry_points[k].address;
    return NULL;
}

/* True for a later form of a call by its own name: "cuMemAlloc_v2". */
static bool is_later_form(const char *name)
{
    const char *end = strrchr(name, '_');
    char base[128];
    if (!end || end[1] != 'v' || (size_t)(end - name) >= sizeof base) return false;
    snprintf(base, sizeof base, "%.*s", (int)(end - name), name);
    return count_forms(base, NEWEST) > 1;
}

/* Finds the latest form of a call in this version. A program gets a form with addresses of 32 bits,
 * which fails when it is called. */
static int entry_point(const char *name, int version, bool per_thread, void **out)
{
    char full[128];
    const int forms = count_forms(name, version);
    *out = NULL;
    if (is_later_form(name)) return NO_SUCH_NAME;
    for (int k = forms < 0 ? 1 : forms; k > 0 && !*out; k--) {
        char suffix[16] = "";
        if (k > 1) snprintf(suffix, sizeof suffix, "_v%d", k);
        static const char *const stream[] = {"_ptsz", "_ptds", ""};
        for (int pass = per_thread ? 0 : 2; pass < 3 && !*out; pass++) {
            snprintf(full, sizeof full, "%s%s%s", name, suffix, stream[pass]);
            *out = address_of(full, forms == 1 && count_forms(name, NEWEST) > 1);
        }
    }
    return *out ? FOUND : forms == 0 ? TOO_OLD : NO_SUCH_NAME;
}

int pl_cuGetProcAddress_v2(const char *name, void **out, int version, uint64_t flags, int *status)
{
    if (!name || !out || flags > PER_THREAD || version > NEWEST) return CU_INVALID_VALUE;
    const int found = entry_point(name, version, flags == PER_THREAD, out);
    if (status) *status = found;
    return CU_OK;
}

int pl_cuGetProcAddress(const char *name, void **out, int version, uint64_t flags)
{
    return pl_cuGetProcAddress_v2(name, out, version, flags, NULL);
}

int pl_cudaGetDriverEntryPointByVersion(const char *name, void **out, unsigned version,
                                        unsigned long long flags, int *status)
{
    if (!name || !out || flags > PER_THREAD || version > NEWEST) return CU_INVALID_VALUE;
    const int found = entry_point(name, (int)version, flags == PER_THREAD, out);
    if (status) *status = found;
    return CU_OK;
}

int pl_cudaGetDriverEntryPoint(const char *name, void **out, unsigned long long flags, int *status)
{
    return pl_cudaGetDriverEntryPointByVersion(name, out, NEWEST, flags, status);
}
