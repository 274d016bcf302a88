/* input.h - one input of the coverage-guided fuzzer, passed to its reader. */
#ifndef PL_TESTS_INPUT_H
#define PL_TESTS_INPUT_H

#include <stddef.h>
#include <stdint.h>

/* The first byte of an input selects the reader of the rest. */
enum {
    INPUT_PTX = 'p',      /* PTX, assembled at -O2, saved in both forms and read again */
    INPUT_PLAIN = 'q',    /* PTX, formatted twice, and assembled at -O0 */
    INPUT_OBJECT = 'o',   /* an object, or a program as text; an object first gets a valid hash */
    INPUT_LAUNCH = 'j',   /* a launch file */
    INPUT_ARGUMENT = 'a', /* an argument in command-line notation */
    INPUT_MACHINE = 'c',  /* a machine file */
    INPUT_PACKED = 't'    /* a block of packed events of a trace, after the number of its stream; it
                             first gets a valid checksum */
};

/* Reads the input. A broken guarantee of the library (a rejection without a message, an object that
 * does not load again) ends the program with abort(). `folder` is for files that the readers
 * open. */
void input_read(const char *folder, const uint8_t *data, size_t n);

/* Gives an object (anything else is unchanged) the hashes required for reading it: of the
 * instruction table, of itself. */
void input_seal(char *object, size_t n);

#endif
