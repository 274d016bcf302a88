/* sha256.h - SHA-256 (FIPS 180-4): identifies runs by content and compares outputs with recorded
 * ones. */
#ifndef PL_BASE_SHA256_H
#define PL_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

typedef struct pl_sha256 {
    uint32_t h[8];
    uint64_t bytes;            /* hashed so far, including the bytes in `pending` */
    unsigned char pending[64]; /* the first bytes % 64 are filled */
} pl_sha256;

void pl_sha256_init(pl_sha256 *s);
void pl_sha256_add(pl_sha256 *s, const void *data, size_t bytes);
/* Ends the message. digest receives 32 bytes. */
void pl_sha256_end(pl_sha256 *s, unsigned char digest[32]);
/* The same; hex receives 64 lower-case digits and a NUL. */
void pl_sha256_hex(pl_sha256 *s, char hex[65]);

#endif
