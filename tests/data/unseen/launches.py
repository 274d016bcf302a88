#!/usr/bin/env python3
"""Makes the launch files in cases/ from the lines `//!` of kernels/*.cu and of modules written by hand.

    launches.py SEED FILE.cu...

A line stands before a kernel, its parts divided by `|`:

    //! NAME GRID BLOCK [SHARED] | PART | PART ...

GRID and BLOCK are X, X,Y or X,Y,Z, SHARED the bytes of dynamic shared memory. Every PART is an argument of the kernel, in order:

    s KIND VALUE            a scalar
    KIND:COUNT[:LO:HI]      a buffer of random values (of the whole range of integers, or 0 to 1, without LO:HI)
    iota KIND:COUNT         a buffer of 0, 1, 2 ...
    inout KIND:COUNT[...]   a buffer of random values whose bytes afterwards are a result
    out KIND:COUNT          a buffer of zeros whose bytes afterwards are a result; `zero` says the same of one that is also read
    scratch KIND:COUNT      a buffer of zeros that is no result

or an argument as it stands in the launch file (`{"tensormap": ...}`), or a word: `unordered`, the result depends on the order of the
threads, so that its bytes are not compared; `cooperative`, the blocks may wait for each other.

Every buffer of random values gets the next seed, counted from SEED over all files of the command. New files get a SEED that no case
has, so that those recorded before stay as they are; the files were made together, in the order of the alphabet, with

    1001    dense elementwise graph image integer nn physics programs reduce sort
    4001    figures matrix meeting oneblock paths shared_use stream
    5001    bodies crypt dyn fancy learn pde solve spectral tables text vision
    6001    classroom genome hashes market optics waves
    7001    ciphers fields generators hopper idioms layers lecture pixels relations warpgroup
    8001    clusters codecs lanes loops network numbers objects panels samples sciences scopes sparse tiles
    9001    collectives courses grammar heterogeneous inference polyhedral products shades words_and_graphs
    10001   cohorts guarded handwritten lessons numerics synchronised
    10501   pictures symbols
    10701   estimates worlds
    10901   by_hand otherwise quickmath unoptimised
    11001   assembled clang_grids engines fullgrids oddities subjects waiting
    13001   algebra fusions hardware ladders manners searches
    15001   archive ciphering layering ventures views
    17001   apparatus assemblies habits orders recordings trainings vaults workloads
    19001   calculus contention drills fragments machinery memories mixtures overlap
    20001   dialects exercises lattices pipes primitives products_again simulations studies transformer wanderings
    21001   variants
    21101   matrix_units
    21201   wayward
    21301   reckoning
    21401   probes_of_habit
    23001   commonplace
    23101   workshop
    23201   crossroads
    23301   rendezvous
    23401   laboratory

and the launches of mixed, stack and tensor were written by hand."""
import json
import os
import sys


def number(word):
    return float(word) if "." in word or "e" in word else int(word)


def dimensions(word):
    return ([int(x) for x in word.split(",")] + [1, 1])[:3]


def launch(line, file, seed):
    """The launch file of one line, and the seed for the next."""
    head, *parts = [p.strip() for p in line[3:].split(" | ")]
    name, grid, block, *shared = head.split()
    case = {"name": name, "ptx": "../kernels/%s.ptx" % file, "entry": name, "grid": dimensions(grid), "block": dimensions(block),
            "dynamic_shared": int(shared[0]) if shared else 0, "deterministic": True, "tags": [file], "args": []}
    for part in parts:
        words = part.split()
        if words[0] == "unordered":
            case["deterministic"] = False
        elif words[0] == "cooperative":
            case["cooperative"] = True
        elif part.startswith("{"):
            case["args"].append(json.loads(part))
        elif words[0] == "s":
            case["args"].append({"scalar": words[1], "value": float(words[2]) if words[1][0] == "f" else int(words[2])})
        else:
            kind, count, *limits = words[-1].split(":")
            init = {"hash": seed}
            if limits:
                init["lo"], init["hi"] = map(number, limits)
            if words[0] in ("out", "zero", "scratch"):
                init = {"const": 0}
            elif words[0] == "iota":
                init = "iota"
            else:
                seed += 1
            case["args"].append({"buffer": kind, "count": int(count), "init": init, "output": words[0] in ("out", "zero", "inout")})
    return case, seed


def main():
    seed = int(sys.argv[1])
    for path in sys.argv[2:]:
        folder = os.path.join(os.path.dirname(path), "..", "cases")
        for line in open(path):
            if line.startswith("//!"):
                case, seed = launch(line, os.path.splitext(os.path.basename(path))[0], seed)
                with open(os.path.join(folder, case["name"] + ".json"), "w") as f:
                    json.dump(case, f)


if __name__ == "__main__":
    main()
