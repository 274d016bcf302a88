/* covered.c - input_read as libFuzzer calls it: clang's fuzzer that mutates inputs towards code
 * that none of them reached yet.
 *
 *     ../configure CC=clang --disable-avx2 \
 *         CFLAGS='-O1 -g -fsanitize=fuzzer-no-link,address,undefined
 *           -fno-sanitize-recover=undefined'
 *     make && make tests/fuzz/covered tests/fuzz/kept
 *     mkdir corpus && tests/fuzz/kept --seeds corpus && tests/fuzz/kept --words >words
 *     tests/fuzz/covered -dict=words -max_total_time=3600 corpus
 *
 * To keep what was found: tests/fuzz/covered -merge=1 smaller corpus, then tests/fuzz/kept --pack
 * smaller | xz -9e. */
#include "tests/fuzz/input.h"
#include "tests/harness.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
    static char *folder;
    if (!folder) folder = scratch_make();
    input_read(folder, data, n);
    return 0;
}
