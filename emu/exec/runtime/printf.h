/* printf.h - device printf: formatting as in the driver, and the buffer that holds the text until
 * the host reads it.
 *
 * The grammar is the CUDA C++ Programming Guide's: flags, width (digits or *), precision (digits),
 * size (h l ll), type. Text that does not match it is printed unchanged. Recorded: 423 formats
 * (H200, driver 580.159.04, 2026-11, probes host.printf). */
#ifndef PL_EMU_EXEC_RUNTIME_PRINTF_H
#define PL_EMU_EXEC_RUNTIME_PRINTF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PL_PRINT_ARGS = 32,
    PL_PRINT_DEFAULT = 8650752,    /* bytes of the buffer (H200, driver 580.159.04, 2026-11) */
    PL_PRINT_MAX_CHARS = 256 << 20 /* characters: the width of a conversion can produce any number
                                 of them */
};

/* Text of completed calls, oldest first. If a call does not fit, the oldest are discarded. */
typedef struct pl_print_buffer {
    char *text; /* owned; valid text is text[start .. n) */
    size_t start, n, cap;
    uint64_t total_chars; /* total characters added, including discarded ones */
    uint64_t limit;       /* maximum bytes of records */
    struct pl_print_record {
        size_t chars;  /* of text */
        uint64_t cost; /* bytes of the record on the device */
    } * record;        /* owned */
    size_t first, records, cap_records;
    uint64_t total_cost; /* total cost of all records */
    uint64_t max_chars;  /* maximum characters, 0: PL_PRINT_MAX_CHARS */
    bool full;           /* a call exceeded this limit: no more text is added */
    bool out_of_memory;  /* out of memory */
} pl_print_buffer;

void pl_print_close(pl_print_buffer *b);
/* Adds the text of one call. */
void pl_print_add(pl_print_buffer *b, const char *text, size_t n, uint64_t cost);

/* The source of a call's arguments. */
typedef struct pl_print_source {
    void *ctx;
    /* Copies `bytes` of the argument buffer at `offset`; unreadable bytes are zero. False: the
     * launch has failed. */
    bool (*argument)(void *ctx, uint64_t offset, void *to, size_t bytes);
    /* The string at a device address, at most `size` characters; NULL: the address is unmapped. */
    const char *(*string)(void *ctx, uint64_t address, char *to, size_t size);
} pl_print_source;

/* Formats one call into the buffer. Returns the number of arguments consumed, which is the result
 * of vprintf. */
int pl_print_format(pl_print_buffer *b, const char *format, const pl_print_source *from);

#endif
