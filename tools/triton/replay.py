#!/usr/bin/env python3
"""Runs the launches that record.py has recorded, and compares their buffers.

    replay.py PTXLOOM FOLDER [OPTION ...]

PTXLOOM: the command. The options are those of `ptxloom run`. Prints each launch that fails or differs, and the number of equal ones.
Sums by float atomics have an order of their own on a GPU, so their last bits may differ. Exit status 1: a launch failed or differs."""
import json, os, subprocess, sys


def outputs(value):
    """All values of "sha256", in order."""
    if isinstance(value, list):
        return [d for v in value for d in outputs(v)]
    if not isinstance(value, dict):
        return []
    return [d for k, v in value.items() for d in ([v] if k == "sha256" else outputs(v))]


def verdict(command, want):
    """"", or what is wrong with the launch."""
    r = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if r.returncode:
        return f"status {r.returncode}: {r.stderr.strip()[:200]}"
    digests = outputs(json.loads(r.stdout))
    differ = [str(n + 1) for n, (a, b) in enumerate(zip(digests, want)) if a != b]
    if len(digests) != len(want):
        return f"{len(digests)} outputs of {len(want)}"
    return "buffer " + ", ".join(differ) + " differs" if differ else ""


def main(ptxloom, folder, *options):
    equal = total = 0
    for line in open(os.path.join(folder, "launches.tsv")):
        name, entry, *digests = line.split()
        wrong = verdict([ptxloom, "run", os.path.join(folder, name + ".json"), "--json", *options], digests)
        total += 1
        equal += not wrong
        if wrong:
            print(f"{name} ({entry}): {wrong}")
    print(f"{equal} of {total} launches equal")
    return equal != total


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
