/* parting.c - recorded: the order of lanes at a divergent branch, and the lanes that leave a loop
 * polling memory together (tests/data/probes/parting.*). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/probes/probe.h"

enum { LANES = 32, WORDS = 4, ELEMENTS = 1024 };

/* The list of each lane has as many steps as the label specifies; an element that refers to itself
 * ends it. */
static void make_lists(const char *rounds, uint32_t *next)
{
    for (uint32_t k = 0; k < ELEMENTS; k++) next[k] = k;
    for (uint32_t l = 0; l < LANES; l++, rounds += strcspn(rounds, ",\t"), rounds += *rounds == ',')
        for (uint32_t q = 0, n = (uint32_t)strtoul(rounds, NULL, 10), at = l;
             q < n && LANES * (q + 1) + l < ELEMENTS; q++)
            at = next[at] = LANES * (q + 1) + l;
}

/* The masks recorded by lanes, in the order of their clocks. */
static void put_groups(const uint32_t *out, char *to)
{
    uint32_t left = UINT32_MAX;
    for (char between = '\t'; left; between = ' ') {
        uint32_t first = LANES;
        for (uint32_t l = 0; l < LANES; l++)
            if (left >> l & 1 && (first == LANES || out[l * WORDS] < out[first * WORDS])) first = l;
        for (uint32_t l = 0; l < LANES; l++)
            if (out[l * WORDS] == out[first * WORDS] &&
                out[l * WORDS + 1] == out[first * WORDS + 1])
                left &= ~(1u << l);
        to += sprintf(to, "%c%08x", between, (unsigned)out[first * WORDS + 1]);
    }
}

static void parting(pl_mode mode)
{
    probe p;
    static uint32_t next[ELEMENTS];
    probe_open(&p, "parting", "parting");
    for (size_t k = 0; k < p.lines; k++) {
        char kind[8], how[8], got[1024];
        uint32_t out[LANES * WORDS];
        int n = 0;
        if (sscanf(p.line[k], "%7s %7s %n", kind, how, &n) != 2) break;
        const char *label = p.line[k] + n;
        bool sides = strcmp(kind, "sides") == 0;
        probe_kernel(&p, sides ? "sides" : strcmp(how, "shared") == 0 ? "walkILi0" : "walkILi1");
        p.launch.mode = mode;
        probe_shape(&p, 1, LANES);
        pl_ptr from = probe_buffer(&p, 0, NULL, sizeof out);
        if (sides) {
            probe_arg32(&p, 1, (uint32_t)strtoul(label, NULL, 10));
            probe_arg32(&p, 2, strcmp(how, "high") == 0);
        } else {
            make_lists(label, next);
            probe_buffer(&p, 1, next, sizeof next);
            probe_buffer(&p, 2, NULL, sizeof next);
        }
        n += (int)strcspn(label, "\t");
        memcpy(got, p.line[k], (size_t)n);
        if (probe_run(&p)) {
            probe_read(&p, from, out, sizeof out);
            put_groups(out, got + n);
        } else
            strcpy(got + n, "\tfailed");
        probe_row(&p, p.line[k], got);
        probe_done(&p);
    }
    probe_close(&p);
}

int main(void)
{
    parting(PL_MODE_FUNCTIONAL);
    parting(PL_MODE_TIMING);
    return tap_done();
}
