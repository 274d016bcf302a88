/* green_context.h - green contexts, as seen by the code that runs kernels. */
#ifndef PL_CUDART_GREEN_CONTEXT_H
#define PL_CUDART_GREEN_CONTEXT_H

#include "cudart/state.h"

enum { CUDA_SM_WORDS = 10 }; /* 64 SMs each */

/* CUdevResource: a set of SMs. The members from `device` to `bit` are in its private bytes. */
typedef struct cuda_sm_set {
    int type, device;
    unsigned split; /* number of the call that created it; 0: all SMs of a device or context */
    unsigned padding;
    uint64_t bit[CUDA_SM_WORDS];
    unsigned sms, min_sms, alignment;
    unsigned reserved[9];
} cuda_sm_set;
_Static_assert(sizeof(cuda_sm_set) == 144 && offsetof(cuda_sm_set, sms) == 96, "layout of CUDA 13");

struct cuda_green {
    cuda_sm_set r;
    cuda_context context;
    struct cuda_parts *parts; /* parts of its kernels (concurrent_kernels.c); owned, or NULL */
};

/* Returns the current green context; NULL: the current context is not a green one. */
static inline cuda_green *cuda_current_green(void)
{
    return cuda_self.context ? cuda_self.context->green : NULL;
}

/* Returns the green context of a stream, or NULL. Default streams belong to the current context. */
static inline cuda_green *cuda_stream_green(const cuda_stream *s)
{
    const cuda_context *c = s->context;
    if (s == &cuda.device[s->device].legacy || s == cuda_self.stream[s->device])
        return cuda_current_green();
    return c ? c->green : NULL;
}

/* Returns the number of its SMs; NULL: of the current device. */
static inline unsigned cuda_green_sms(const cuda_green *g)
{
    return g ? g->r.sms : cuda_current_device()->sms;
}

#endif
