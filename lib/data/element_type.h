/* element_type.h - the element types of buffers and scalar arguments, as launch files and the
 * command line name them.
 *
 * A type is a row: name, size, kind, and for the small floating-point formats the number of stored
 * mantissa bits and the exponent bias. Values are passed as pl_number (as written by the user) and
 * as bits (as stored in memory). No operation here depends on the host's rounding mode, or on its
 * byte order beyond little endian. */
#ifndef PL_LIB_DATA_ELEMENT_TYPE_H
#define PL_LIB_DATA_ELEMENT_TYPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct pl_element {
    const char *name; /* "f16" */
    const char *npy;  /* dtype written to .npy files: "<f2" */
    uint8_t bytes;
    char kind;        /* 'u', 's' or 'f' */
    uint8_t mantissa; /* floats: stored mantissa bits */
    int16_t bias;     /* floats: exponent bias */
    uint16_t largest; /* 8- and 16-bit floats: code of the largest finite value, to which conversion
                         saturates; 0: it overflows to infinity */
    uint16_t nan;     /* 8- and 16-bit floats: a quiet NaN */
} pl_element;

extern const pl_element pl_elements[]; /* terminated by a row whose name is NULL */

/* Returns the row with this name (n bytes), or NULL. */
const pl_element *pl_element_find(const char *name, size_t n);

/* Returns the element type that an unknown word means, such as f32 for "float", or a similar name;
 * NULL: none. */
const char *pl_element_suggestion(const char *word);

/* A number as written. */
typedef struct pl_number {
    enum { PL_NUM_INT, PL_NUM_REAL, PL_NUM_F32_BITS, PL_NUM_F64_BITS } kind;
    bool negative;      /* INT: value is -magnitude */
    uint64_t magnitude; /* INT; the BITS kinds: the bits */
    double real;        /* the value, rounded to double; not for the BITS kinds */
} pl_number;

/* Parses decimal and 0x integers, decimal fractions, nan, inf, and PTX's 0f/0d bit patterns. False
 * unless all n bytes are one number that fits 64 bits. */
bool pl_number_parse(const char *text, size_t n, pl_number *out);

typedef enum pl_fit { PL_FIT_OK, PL_FIT_RANGE, PL_FIT_FRACTION, PL_FIT_KIND } pl_fit;
/* Encodes a number in a type. RANGE: too large; FRACTION: a fraction for an integer type; KIND:
 * 0f/0d bits of another width. */
pl_fit pl_element_encode(const pl_element *e, const pl_number *v, uint64_t *bits);
/* Returns the range for messages: "-2147483648 to 2147483647". */
const char *pl_element_range(const pl_element *e);

/* Rounds a float to an 8- or 16-bit format: nearest even, subnormals kept, saturated. */
uint32_t pl_element_narrow(const pl_element *e, float f);
/* Returns the value of a floating-point element. */
double pl_element_value(const pl_element *e, uint64_t bits);
/* Prints one element at p ("-1.5", "4294967295") with enough digits to distinguish neighbouring
 * values. Returns the length. */
int pl_element_print(const pl_element *e, const void *p, char *buf, size_t size);

#endif
