/* managed.h - the units in which the driver moves managed memory between host and GPU. */
#ifndef PL_BASE_MANAGED_H
#define PL_BASE_MANAGED_H

/* In bytes, as recorded (tests/data/micro/managed_order.tsv). */
enum {
    PL_MANAGED_PAGE = 4096,      /* the host, and page faults of the GPU */
    PL_MANAGED_CHUNK = 64 << 10, /* what migrates at least */
    PL_MANAGED_BLOCK = 2 << 20   /* what the driver migrates and prefetches together; aligned */
};

#endif
