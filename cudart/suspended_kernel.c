/* suspended_kernel.c - the list of kernels that wait for memory to change. */
#include "cudart/activity.h"
#include "cudart/blocked.h"
#include "cudart/suspended_kernel.h"
#include <stdlib.h>
#include <string.h>

bool cuda_waits_patiently;

static void free_owned(cuda_suspended *x)
{
    free(x->managed);
    for (size_t k = 0; k < x->nranges; k++) free((char *)(uintptr_t)x->range[k].wrong);
    free(x->range);
}

bool cuda_add_suspended(cuda_suspended *x)
{
    cuda_suspended *w = malloc(sizeof *w);
    if (!w) {
        free_owned(x);
        return false;
    }
    *w = *x;
    w->next = cuda.suspended;
    cuda.suspended = w;
    return true;
}

cuda_suspended *cuda_find_suspended(const void *params)
{
    cuda_suspended *w = cuda.suspended;
    while (w && w->params != params) w = w->next;
    return w;
}

void cuda_remove_suspended(cuda_suspended *x)
{
    cuda_suspended **at = &cuda.suspended;
    while (*at != x) at = &(*at)->next;
    *at = x->next;
    free(x);
}

bool cuda_kernel_runs(void)
{
    const cuda_suspended *w = cuda.suspended;
    while (w && !w->running) w = w->next;
    return w != NULL;
}

static void drop(cuda_suspended *w)
{
    pl_launch_drop(w->launch);
    free_owned(w);
    cuda_remove_suspended(w);
}

void cuda_drop_suspended(const void *params)
{
    cuda_suspended *w = cuda_find_suspended(params);
    if (w) drop(w);
}

void cuda_drop_all_suspended(void)
{
    while (cuda.suspended) drop(cuda.suspended);
}

static char *unstarted; /* name of the latest kernel that did not begin; owned, NULL: none */

void cuda_note_unstarted(cuda_function *f)
{
    free(unstarted);
    unstarted = f ? strdup(cuda_shown_name(f)) : NULL;
}

static void report_unstarted(void)
{
    if (!unstarted) return;
    cuda_report("kernel '%s' has not begun: with --check, a kernel begins when the one before has "
                "ended. If the kernel above waits for it, run the program without --check",
                unstarted);
    free(unstarted);
    unstarted = NULL;
}

bool cuda_report_suspended(void)
{
    const bool any = cuda.suspended != NULL;
    while (cuda.suspended) {
        cuda_suspended *w = cuda.suspended;
        pl_result r;
        pl_launch_fail(w->launch, &r);
        w->launch = NULL;
        drop(w);
        cuda_flush();
        cuda_print_messages();
        report_unstarted();
    }
    return any;
}
