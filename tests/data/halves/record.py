#!/usr/bin/env python3
"""record.py <sequences.tsv >new.tsv - counts the machine instructions that ptxas -O3 makes of each sequence for sm_90a.

A sequence stands in a kernel that has loaded %r1 to %r6, %rd3 to %rd5 and %h1 from the thread's 256 bytes at %rd1 (head.ptx); tests/int64_expansion.c
runs the same. What ptxas puts behind the code (a branch to itself, empty instructions) does not count. The last column is what ptxloom makes
more or fewer; it is kept."""
import struct
import subprocess
import sys
import tempfile

NOP, BRA = 0x918, 0x947


def count(cubin):
    data = open(cubin, "rb").read()
    at, size, n, names = struct.unpack_from("<Q", data, 40)[0], *struct.unpack_from("<HHH", data, 58)
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, at + k * size) for k in range(n)]
    strings = sections[names][4]
    for s in sections:
        if data[strings + s[0]:data.index(b"\0", strings + s[0])] == b".text.k":
            code = [struct.unpack_from("<H", data, s[4] + k)[0] & 0xfff for k in range(0, s[5], 16)]
            code = [op for op in code if op != NOP]
            return len(code) - (code[-1] == BRA)
    sys.exit("no code in " + cubin)


head = open(sys.path[0] + "/head.ptx").read()
with tempfile.TemporaryDirectory() as folder:
    for line in sys.stdin:
        if not line.startswith("#"):
            name, body, _, more = line.rstrip("\n").split("\t")
            open(folder + "/k.ptx", "w").write(head + body + "\nret;\n}\n")
            subprocess.run(["ptxas", "-arch=sm_90a", "-O3", "k.ptx", "-o", "k.cubin"], cwd=folder, check=True)
            line = "%s\t%s\t%d\t%s\n" % (name, body, count(folder + "/k.cubin"), more)
        print(line, end="")
