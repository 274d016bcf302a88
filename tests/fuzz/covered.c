/* covered.c - entry point of libFuzzer, which calls input_read: clang's fuzzer that mutates
 * inputs to reach new code.
 *
 *     ../configure CC=clang --disable-avx2 \
 *         CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined
 *           -fno-sanitize-recover=undefined'
 *     make && make tests/fuzz/covered tests/fuzz/kept
 *     mkdir corpus && tests/fuzz/kept --seeds corpus && tests/fuzz/kept --words >words
 *     tests/fuzz/covered -dict=words -max_total_time=3600 corpus
 *
 * FUZZ_READER=o passes every input to one reader, here that of objects, regardless of its first
 * byte. At the end it prints the number of inputs of each reader.
 *
 * To keep the inputs found: tests/fuzz/covered -merge=1 smaller corpus, then tests/fuzz/kept
 * --pack smaller | xz -9e. */
#include "tests/fuzz/input.h"
#include "tests/harness.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct {
    uint8_t kind;
    const char *name;
} readers[] = {{INPUT_PTX, "PTX at -O2"},      {INPUT_PLAIN, "PTX at -O0, layout"},
               {INPUT_OBJECT, "objects"},      {INPUT_LAUNCH, "launch files"},
               {INPUT_ARGUMENT, "arguments"},  {INPUT_MACHINE, "machine files"},
               {INPUT_PACKED, "packed events"}};
static unsigned long long inputs[UINT8_MAX + 1];

static void print_inputs(void)
{
    for (size_t k = 0; k < sizeof readers / sizeof *readers; k++)
        fprintf(stderr, "%10llu inputs: %s\n", inputs[readers[k].kind], readers[k].name);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static char *folder;
    static const char *reader;
    if (!folder) {
        folder = scratch_make();
        reader = getenv("FUZZ_READER");
        atexit(print_inputs);
    }
    if (n == 0) return 0;
    uint8_t *own = malloc(n); /* of exactly this size, for the sanitizers */
    if (!own) return 0;
    memcpy(own, data, n);
    if (reader && *reader) own[0] = (uint8_t)*reader;
    inputs[own[0]]++;
    input_read(folder, own, n);
    free(own);
    return 0;
}
