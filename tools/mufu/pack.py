#!/usr/bin/env python3
"""Makes tests/data/mufu/hashes.bin from the files that a capture on the hardware wrote.

    pack.py RECORDINGS hashes.bin

RECORDINGS holds mufu_hash.bin (for 15 functions, a hash of every block of 2^15 inputs over all
2^32), mufu_16.bin (all results of the 16-bit functions) and mufu_64.bin (high words of the 64-bit
ones). The result is a sequence of little-endian records,

    char name[32]; uint32 first_input, log2_block, count, 0; uint64 hash[count]

where a block's hash is the sum over its inputs x of

    (result(x) ^ rotate_left(x * 0x9e3779b1, 16)) * 0xd6e8feb86659fd93        modulo 2^64

Hashes of neighbouring blocks add, so blocks are widened to 2^20 inputs, except where
tools/mufu/solve needs the recorded ones: in the intervals that determine the tables.
"""
import struct
import sys

MASK = (1 << 64) - 1
MULTIPLIER = 0xD6E8FEB86659FD93

# Function, first input, number of binades recorded in blocks of 2^15.
TABLES = [
    ("rcp_approx_ftz_f32", 0x3F800000, 1),
    ("rsqrt_approx_ftz_f32", 0x3F800000, 2),
    ("sqrt_approx_ftz_f32", 0x3F800000, 2),
    ("ex2_approx_ftz_f32", 0x3F800000, 1),
    ("lg2_approx_ftz_f32", 0x40000000, 1),
    ("sin_approx_ftz_f32", 0x3C000000, 8),
    ("tanh_approx_f32", 0x3B800000, 11),
]


def mixed(x):
    x = x * 0x9E3779B1 & 0xFFFFFFFF
    return (x << 16 | x >> 16) & 0xFFFFFFFF


def record(out, name, first, log2_block, hashes):
    out.write(struct.pack("<32s4I", name.encode(), first, log2_block, len(hashes), 0))
    out.write(struct.pack("<%dQ" % len(hashes), *hashes))


def hashed(inputs, results, block):
    hashes = []
    for i in range(0, len(inputs), block):
        pairs = zip(inputs[i : i + block], results[i : i + block])
        hashes.append(sum(r ^ mixed(x) for x, r in pairs) * MULTIPLIER & MASK)
    return hashes


def main(folder, path):
    with open(path, "wb") as out:
        with open(folder + "/mufu_hash.bin", "rb") as f:
            while head := f.read(40):
                name = head[:32].rstrip(b"\0").decode()
                n = struct.unpack_from("<2I", head, 32)[1]
                h = struct.unpack("<%dQ" % n, f.read(8 * n))
                record(out, name, 0, 20, [sum(h[i : i + 32]) & MASK for i in range(0, n, 32)])
                for table, first, binades in TABLES:
                    if table == name:
                        k = first >> 15
                        record(out, name, first, 15, h[k : k + 256 * binades])
        with open(folder + "/mufu_16.bin", "rb") as f:
            while head := f.read(32):
                results = struct.unpack("<65536H", f.read(131072))
                record(out, head.rstrip(b"\0").decode(), 0, 10, hashed(range(65536), results, 1024))
        with open(folder + "/mufu_64.bin", "rb") as f:
            while head := f.read(24):
                first, low, op, n, _, words = struct.unpack("<6I", head)
                assert words == 1, "a low word that is not zero"
                results = struct.unpack("<%dI" % n, f.read(4 * n))
                name = ("rsqrt" if op else "rcp") + "_approx_ftz_f64"
                record(out, name, first, 12, hashed(range(first, first + n), results, 4096))


if __name__ == "__main__":
    main(*sys.argv[1:])
