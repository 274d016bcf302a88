/* cuda_error.c - names, descriptions and usual causes of CUDA errors. */
#include "lib/internal.h"
#include "lib/cuda_error.h"
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    int number;
    const char *name, *text;
} entry;

static const entry runtime_error[] = {
#define ERROR(number, name, text) {number, name, text},
#include "emu/exec/runtime/errors.def"
#undef ERROR
    {0, NULL, NULL}};

static const entry driver_error[] = {
#define DRIVER_ERROR(number, name, text) {number, name, text},
#include "emu/exec/runtime/driver_errors.def"
#undef DRIVER_ERROR
    {0, NULL, NULL}};

static const struct {
    int number;
    const char *text;
} cause[] = {
#define CAUSE(number, text) {number, text},
#include "lib/error_causes.def"
#undef CAUSE
    {0, NULL}};

static const char *lookup(const entry *e, int number, const char **text)
{
    while (e->name && e->number != number) e++;
    if (e->name && text) *text = e->text;
    return e->name;
}

const char *pl_cuda_error(int number, const char **text)
{
    return lookup(runtime_error, number, text);
}

const char *pl_cuda_driver_error(int number, const char **text)
{
    return lookup(driver_error, number, text);
}

static bool same_name(const char *a, const char *b)
{
    while (*a && tolower((unsigned char)*a) == tolower((unsigned char)*b)) a++, b++;
    return !*a && !*b;
}

int pl_cuda_error_number(const char *topic)
{
    const size_t digits = strspn(topic, "0123456789");
    if (digits > 0 && digits < 7 && topic[digits] == '\0') {
        const int number = atoi(topic);
        return pl_cuda_error(number, NULL) || pl_cuda_driver_error(number, NULL) ? number : -1;
    }
    for (const entry *e = runtime_error; e->name; e++)
        if (same_name(e->name, topic)) return e->number;
    for (const entry *e = driver_error; e->name; e++)
        if (same_name(e->name, topic)) return e->number;
    return -1;
}

const char *pl_cuda_error_cause(int number)
{
    size_t k = 0;
    while (cause[k].text && cause[k].number != number) k++;
    return cause[k].text;
}

const char *pl_cuda_error_name(size_t k)
{
    enum { RUNTIME = sizeof runtime_error / sizeof *runtime_error - 1 };
    return k < RUNTIME ? runtime_error[k].name : driver_error[k - RUNTIME].name;
}
