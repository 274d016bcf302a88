/* attribute_store.c - the values of attributes of streams and kernel nodes. */
#include "cudart/state.h"
#include <stdlib.h>
#include <string.h>

enum { ATTRIBUTES = 17, SYNC_POLICY = 3, DOMAIN_MAP = 9 };

/* Values of all attributes, by stream or node. */
typedef struct cuda_values {
    char value[ATTRIBUTES][CUDA_ATTRIBUTE_BYTES];
} cuda_values;

static cuda_table values;

static cuda_values *values_of(const void *key, bool create)
{
    cuda_values *v = cuda_table_get(&values, key);
    if (v || !create) return v;
    v = calloc(1, sizeof *v);
    if (v && cuda_table_put(&values, key, v)) {
        const int none = -1, remote = 1;
        memcpy(v->value[SYNC_POLICY], &none, sizeof none);
        v->value[DOMAIN_MAP][1] = (char)remote;
        return v;
    }
    free(v);
    return NULL;
}

void cuda_forget_attributes(const void *key)
{
    cuda_values *v = cuda_table_get(&values, key);
    if (!v) return;
    cuda_table_remove(&values, key);
    free(v);
}

int cuda_get_attribute(const void *key, int attribute, void *value)
{
    if (!value || attribute < 1 || attribute >= ATTRIBUTES) return CU_INVALID_VALUE;
    const cuda_values *v = values_of(key, true);
    if (!v) return CU_MEMORY_ALLOCATION;
    memcpy(value, v->value[attribute], CUDA_ATTRIBUTE_BYTES);
    return CU_OK;
}

int cuda_set_attribute(const void *key, int attribute, const void *value)
{
    if (!value || attribute < 1 || attribute >= ATTRIBUTES) return CU_INVALID_VALUE;
    cuda_values *v = values_of(key, true);
    if (!v) return CU_MEMORY_ALLOCATION;
    memcpy(v->value[attribute], value, CUDA_ATTRIBUTE_BYTES);
    return CU_OK;
}

int cuda_copy_attributes(const void *to, const void *from)
{
    const cuda_values *v = values_of(from, false);
    cuda_values *w = v ? values_of(to, true) : NULL;
    if (v && !w) return CU_MEMORY_ALLOCATION;
    if (v) *w = *v;
    return CU_OK;
}
