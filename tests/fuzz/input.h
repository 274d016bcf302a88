/* input.h - one input of the coverage-guided fuzzer, given to the reader that it is meant for. */
#ifndef PL_TESTS_INPUT_H
#define PL_TESTS_INPUT_H

#include <stddef.h>
#include <stdint.h>

/* The first byte of an input says which reader gets the rest of it. */
enum {
    INPUT_PTX = 'p',      /* PTX, assembled at -O2, saved in both forms and read again */
    INPUT_PLAIN = 'q',    /* PTX, laid out anew twice, and assembled at -O0 */
    INPUT_OBJECT = 'o',   /* an object, or a program as text; an object gets a right hash first */
    INPUT_LAUNCH = 'j',   /* a launch file */
    INPUT_ARGUMENT = 'a', /* an argument in the notation of the command line */
    INPUT_MACHINE = 'c',  /* a machine file */
    INPUT_PACKED = 't' /* a block of packed events of a trace, behind the number of its stream; it
                          gets a right checksum first */
};

/* Reads the input. A promise that the library breaks (a refusal without a message, an object that
 * does not load again) ends the program with abort(). `folder` is for files that the readers want
 * to open. */
void input_read(const char *folder, const uint8_t *data, size_t n);

/* Gives an object (anything else stays as it is) the hashes that it must have to be read at all: of
 * the instruction table, of itself. */
void input_seal(char *object, size_t n);

#endif
