/* printf.h - device printf: formatting as the driver does, and the buffer that holds the text until
 * the host looks.
 *
 * The grammar is the CUDA C++ Programming Guide's: flags, width (digits or *), precision (digits),
 * size (h l ll), type. Whatever does not fit it is printed as it stands. Recorded: 423 formats
 * (H200, driver 580.159.04, 2026-11, probes host.printf). */
#ifndef PL_EMU_EXEC_RUNTIME_PRINTF_H
#define PL_EMU_EXEC_RUNTIME_PRINTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PL_PRINT_ARGS = 32,
    PL_PRINT_DEFAULT = 8650752, /* bytes of the buffer (H200, driver 580.159.04, 2026-11) */
    PL_PRINT_MOST = 256 << 20   /* characters: a width in a format makes any number of them */
};

/* Text of finished calls, oldest first. When a call does not fit, the oldest are forgotten. */
typedef struct pl_print_buffer {
    char *text; /* owned; what counts is text[start .. n) */
    size_t start, n, cap;
    uint64_t ever;  /* characters that were added, also those forgotten */
    uint64_t limit; /* bytes of records that it may hold */
    struct pl_print_record {
        size_t chars;  /* of text */
        uint64_t cost; /* bytes of the record on the device */
    } * record;        /* owned */
    size_t first, records, cap_records;
    uint64_t held; /* cost of all records */
    uint64_t most; /* characters that it may hold, 0: PL_PRINT_MOST */
    bool full;     /* a call did not fit into that: nothing is added any more */
    bool lost;     /* memory was exhausted */
} pl_print_buffer;

void pl_print_close(pl_print_buffer *b);
/* Adds the text of one call. */
void pl_print_add(pl_print_buffer *b, const char *text, size_t n, uint64_t cost);

/* Where the arguments of a call come from. */
typedef struct pl_print_source {
    void *ctx;
    /* Copies `bytes` of the argument buffer at `offset`; what cannot be read is zero. False: the
     * launch has failed. */
    bool (*argument)(void *ctx, uint64_t offset, void *to, size_t bytes);
    /* The string at a device address, at most `size` characters; NULL: nothing is there. */
    const char *(*string)(void *ctx, uint64_t address, char *to, size_t size);
} pl_print_source;

/* Formats one call into the buffer. Returns how many arguments were taken, the value of vprintf. */
int pl_print_format(pl_print_buffer *b, const char *format, const pl_print_source *from);

#endif
