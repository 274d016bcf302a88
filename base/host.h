/* host.h - how much memory the computer that runs ptxloom can still give this process.
 *
 * Linux promises memory that it does not have and kills a process that uses it. Whoever is about to
 * use much asks here first. */
#ifndef PL_BASE_HOST_H
#define PL_BASE_HOST_H

#include <stdint.h>

typedef struct pl_host_room {
    uint64_t bytes; /* UINT64_MAX: nobody knows */
    const char *by; /* what sets the limit, as the end of a sentence: "is free on this computer" */
} pl_host_room;

/* The least of: memory that is available, what the control groups of the process leave, and its
 * limits on address space and data. untouched: bytes that the process has allocated and not written
 * yet; they count as used. */
pl_host_room pl_host_memory(uint64_t untouched);

/* What the control groups leave that `list` (/proc/self/cgroup) names, with their files below
 * `root` (/sys/fs/cgroup); UINT64_MAX: no limit. */
uint64_t pl_host_group_room(const char *list, const char *root);

#endif
