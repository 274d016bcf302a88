/* poison.h - in builds with the address sanitizer, poisons and unpoisons parts of a block of
 * memory: access to a poisoned byte is reported.
 *
 * Other builds compile to nothing. The shadow has one byte for 8 bytes of memory, so an unpoisoned
 * range must start at a multiple of 8. */
#ifndef PL_BASE_POISON_H
#define PL_BASE_POISON_H

#if defined(__SANITIZE_ADDRESS__)
#define PL_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define PL_POISON 1
#endif
#endif

#ifdef PL_POISON
#include <sanitizer/asan_interface.h>
#define pl_poison_memory(at, bytes)   __asan_poison_memory_region((at), (bytes))
#define pl_unpoison_memory(at, bytes) __asan_unpoison_memory_region((at), (bytes))
#define PL_POISON_ALIGN               ((size_t)8)
#define PL_RED_ZONE                   ((size_t)16) /* poisoned bytes after every allocation */
#else
#define pl_poison_memory(at, bytes)   ((void)0)
#define pl_unpoison_memory(at, bytes) ((void)0)
#define PL_POISON_ALIGN               ((size_t)1)
#define PL_RED_ZONE                   ((size_t)0)
#endif

#endif
