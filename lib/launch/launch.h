/* launch.h - shared by the files that check and run a launch, and report its results. */
#ifndef PL_LIB_LAUNCH_LAUNCH_H
#define PL_LIB_LAUNCH_LAUNCH_H

#include "lib/internal.h"

/* A launch that has been checked. */
typedef struct pl_launch_shape {
    const pl_prog_func *f;
    uint32_t cluster[3]; /* 1,1,1 without a cluster */
    uint32_t threads;    /* per block */
    uint32_t shared;     /* static plus dynamic */
    pl_occupancy occupancy;
} pl_launch_shape;

/* ---- launch_check.c ---- */
/* Checks a launch. PL_INVALID or PL_UNSUPPORTED: it cannot run, as a diagnostic says. */
pl_status pl_launch_check(pl_gpu *gpu, pl_module *m, const pl_launch *l, pl_launch_shape *s);
/* True if this GPU supports the shape of a device-side launch. *o: its occupancy. */
bool pl_launch_shape_fits(const pl_gpu *gpu, const pl_prog_func *f, const pl_child *c,
                          pl_occupancy *o);
/* SMs that blocks of the launch run on. */
uint32_t pl_launch_sms(const pl_gpu *gpu, const pl_launch *l);
/* Reports that a launch is refused ("grid 0,1,1": "every dimension ..."). Returns PL_INVALID. */
pl_status pl_launch_refuse(pl_gpu *gpu, const char *what, const char *why);
/* True for a shape that is not zero: a cluster, or a directive of the kernel. */
static inline bool pl_is_shape_given(const uint32_t v[3])
{
    return v[0] | v[1] | v[2];
}

/* ---- launch_messages.c ---- */
/* "8,8,1". */
const char *pl_launch_dim3(pl_gpu *gpu, const uint32_t v[3]);
/* Copies the place of a fault for pl_result. NULL: no memory. */
const pl_fault_place *pl_launch_fault_place(pl_module *m, const pl_fault_info *f);
/* Reports a fault of the emulated program at its PTX position. */
void pl_launch_report_fault(pl_module *m, const pl_grid *g);
void pl_launch_report_warning(pl_module *m, const pl_fault_info *f);
/* Reports that a limit or an interrupt stopped the chain of grids. */
void pl_launch_report_stop(pl_module *m, const pl_launch *l, const pl_grid *head);
/* Reports that a chain of grids ran out of host memory. Returns PL_NOMEM. */
pl_status pl_launch_no_memory(pl_gpu *gpu, const pl_grid *head);

#endif
