/* host.c - available memory of the host. See host.h. */
#include "base/host.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MAX_PATH_BYTES = 4096 };

/* Reads the number that follows a name at the start of a line of a file; false if there is none. An
 * empty name reads the file's first word. */
static bool read_number(const char *path, const char *name, uint64_t *out)
{
    FILE *f = fopen(path, "r");
    char line[256];
    bool found = false;
    const size_t n = strlen(name);
    while (f && !found && fgets(line, sizeof line, f)) {
        char *end = line;
        if (strncmp(line, name, n) != 0) continue;
        *out = strtoull(line + n, &end, 10);
        found = end != line + n;
    }
    if (f) fclose(f);
    return found;
}

static uint64_t subtract(uint64_t limit, uint64_t used)
{
    return limit > used ? limit - used : 0;
}

/* Available memory of one control group: its limit, minus the memory in use that cannot be
 * reclaimed. */
static uint64_t cgroup_available(const char *folder, bool v2)
{
    char path[MAX_PATH_BYTES + 64];
    uint64_t limit, used = 0, cache = 0;
    snprintf(path, sizeof path, "%s/%s", folder, v2 ? "memory.max" : "memory.limit_in_bytes");
    if (!read_number(path, "", &limit)) /* "max", or no such file */
        return UINT64_MAX;
    snprintf(path, sizeof path, "%s/%s", folder, v2 ? "memory.current" : "memory.usage_in_bytes");
    read_number(path, "", &used);
    snprintf(path, sizeof path, "%s/memory.stat", folder);
    read_number(path, v2 ? "inactive_file " : "total_inactive_file ", &cache);
    return subtract(limit, subtract(used, cache));
}

/* The minimum over a control group and its ancestors. Inside a container the path is that of the
 * host, and the container's own group is at the root. */
static uint64_t cgroups_available(const char *root, const char *path, bool v2)
{
    char folder[MAX_PATH_BYTES];
    uint64_t minimum = UINT64_MAX;
    const size_t base = strlen(root);
    if (snprintf(folder, sizeof folder, "%s%s", root, path) >= (int)sizeof folder) return minimum;
    for (;;) {
        const uint64_t available = cgroup_available(folder, v2);
        minimum = available < minimum ? available : minimum;
        char *slash = strrchr(folder, '/');
        if (!slash || (size_t)(slash - folder) < base) return minimum;
        *slash = '\0';
    }
}

uint64_t pl_host_cgroup_available(const char *list, const char *root)
{
    char line[MAX_PATH_BYTES], v1_root[MAX_PATH_BYTES];
    uint64_t minimum = UINT64_MAX;
    FILE *f = fopen(list, "r");
    snprintf(v1_root, sizeof v1_root, "%s/memory", root);
    while (f && fgets(line, sizeof line, f)) { /* NUMBER:CONTROLLERS:PATH */
        line[strcspn(line, "\n")] = '\0';
        char *controllers = strchr(line, ':'),
             *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path) continue;
        *path++ = '\0';
        const bool v2 = controllers[1] == '\0';
        if (!v2 && strcmp(controllers + 1, "memory") != 0) continue;
        const uint64_t available = cgroups_available(v2 ? root : v1_root, path, v2);
        minimum = available < minimum ? available : minimum;
    }
    if (f) fclose(f);
    return minimum;
}

/* Memory that the process may still map under one of its limits. */
static uint64_t rlimit_available(int which, const char *used_name)
{
    struct rlimit r;
    uint64_t kilobytes = 0;
    if (getrlimit(which, &r) != 0 || r.rlim_cur == RLIM_INFINITY) return UINT64_MAX;
    read_number("/proc/self/status", used_name, &kilobytes);
    return subtract(r.rlim_cur, kilobytes * 1024);
}

static uint64_t system_available(void)
{
    uint64_t kilobytes;
    if (read_number("/proc/meminfo", "MemAvailable:", &kilobytes)) return kilobytes * 1024;
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

static void take_minimum(pl_host_available *minimum, uint64_t bytes, const char *by)
{
    if (bytes < minimum->bytes) *minimum = (pl_host_available){bytes, by};
}

pl_host_available pl_host_address_space(void)
{
    pl_host_available r = {UINT64_MAX, "is there"};
    take_minimum(&r, rlimit_available(RLIMIT_AS, "VmSize:"),
                 "is left by the limit on address space (ulimit -v)");
    take_minimum(&r, rlimit_available(RLIMIT_DATA, "VmData:"),
                 "is left by the limit on data (ulimit -d)");
    return r;
}

pl_host_available pl_host_memory(uint64_t untouched)
{
    pl_host_available r = pl_host_address_space();
    const uint64_t computer = system_available(),
                   group = pl_host_cgroup_available("/proc/self/cgroup", "/sys/fs/cgroup");
    if (computer != UINT64_MAX)
        take_minimum(&r, subtract(computer, untouched), "is free on this computer");
    if (group != UINT64_MAX)
        take_minimum(&r, subtract(group, untouched),
                     "is left by the control group of the process (memory.max)");
    return r;
}
