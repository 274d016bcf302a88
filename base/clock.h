/* clock.h - the host's clock. */
#ifndef PL_BASE_CLOCK_H
#define PL_BASE_CLOCK_H

/* Seconds since an arbitrary moment before the process started; monotonic. */
double pl_clock_seconds(void);

#endif
