/* clock.h - the time of the computer that runs ptxloom. */
#ifndef PL_BASE_CLOCK_H
#define PL_BASE_CLOCK_H

/* Seconds since some moment before the process began; it never goes back. */
double pl_clock_seconds(void);

#endif
