/* stop_flag.h - a flag that another thread or a signal handler sets to end work early. */
#ifndef PL_BASE_STOP_FLAG_H
#define PL_BASE_STOP_FLAG_H

#include <stddef.h>

/* Its value; 0 without a flag. */
static inline int pl_stop_flag(const volatile int *flag)
{
    return flag ? __atomic_load_n(flag, __ATOMIC_RELAXED) : 0;
}

#endif
