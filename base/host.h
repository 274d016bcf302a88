/* host.h - memory that the host can still provide to this process.
 *
 * Linux overcommits memory and kills a process that uses memory that does not exist. Code that is
 * about to use much memory checks here first. */
#ifndef PL_BASE_HOST_H
#define PL_BASE_HOST_H

#include <stdint.h>

typedef struct pl_host_available {
    uint64_t bytes; /* UINT64_MAX: unknown */
    const char *by; /* source of the limit, as the end of a sentence: "is free on this computer" */
} pl_host_available;

/* The minimum of: available memory, the limits of the process's control groups, and its limits on
 * address space and data. untouched: bytes that the process has allocated but not written yet; they
 * count as used. */
pl_host_available pl_host_memory(uint64_t untouched);

/* The minimum of its limits on address space and data. */
pl_host_available pl_host_address_space(void);

/* Memory available under the control groups that `list` (/proc/self/cgroup) names, with their files
 * below `root` (/sys/fs/cgroup); UINT64_MAX: no limit. */
uint64_t pl_host_cgroup_available(const char *list, const char *root);

#endif
