/* real.c - see real.h. */
#include "base/real.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
    MAX_DIGITS = 17,
    MAX_PLAIN_EXPONENT = 15 /* largest exponent of numbers written without one */
};

int pl_print_digits(double v, int n, char *buf, size_t size)
{
    char digits[40];
    if (!isfinite(v)) return snprintf(buf, size, "%g", v);
    if (n > MAX_DIGITS) n = MAX_DIGITS;
    snprintf(digits, sizeof digits, "%.*e", n - 1, v); /* -d.ddde+dd */
    const int exponent = atoi(strchr(digits, 'e') + 1);
    if (exponent < n || exponent > MAX_PLAIN_EXPONENT) return snprintf(buf, size, "%.*g", n, v);
    char whole[MAX_PLAIN_EXPONENT + 4], *to = whole;
    for (const char *p = digits; *p != 'e'; p++)
        if (*p != '.') *to++ = *p;
    for (int k = n; k <= exponent; k++) *to++ = '0';
    *to = '\0';
    return snprintf(buf, size, "%s", whole);
}

int pl_print_real(double v, char *buf, size_t size)
{
    int length = 0;
    for (int n = 1; n <= MAX_DIGITS; n++) {
        length = pl_print_digits(v, n, buf, size);
        if (strtod(buf, NULL) == v) break;
    }
    return length;
}

bool pl_read_size(const char *text, uint64_t *bytes)
{
    static const char units[] = "KMGT";
    enum { MAX_BITS = 60 };
    char *end;
    if (!isdigit((unsigned char)*text)) return false;
    errno = 0;
    const unsigned long long n = strtoull(text, &end, 10);
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : &units[1];
    if (errno || !unit) return false;
    end += *end != '\0';
    if (*end && strcasecmp(end, "B") != 0 && strcasecmp(end, "iB") != 0) return false;
    const unsigned shift = 10 * (unsigned)(unit - units + 1);
    *bytes = (uint64_t)n << shift;
    return n >= 1 && n <= UINT64_C(1) << (MAX_BITS - shift);
}
