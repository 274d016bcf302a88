#!/usr/bin/env python3
"""Asks NVIDIA's assembler about statements and compares its verdicts with ours. Needs ptxas; the project does not.

    tests/fuzz/generate SEED ROWS >rows
    judge.py BUILD rows [-o judged.tsv] [--show N]

BUILD is the build folder (for tests/ptxas_statements and tests/fuzz/generate). A row is "version<TAB>target<TAB>statement". Many
statements go into one file; ptxas names the lines it refuses, these are taken out, and the rest is tried again until the
file passes. judged.tsv has the columns of tests/data/ptxas/generated.tsv. A statement that makes ptxas itself fall down has no
verdict and is left out.
"""
import argparse, collections, os, re, subprocess, sys, tempfile

WHERE = re.compile(r"line (\d+); (?:error|fatal)\s*: (.*)")

def assembler(text, arch, scratch):
    path = os.path.join(scratch, "m.ptx")
    with open(path, "w") as f:
        f.write(text)
    p = subprocess.run(["ptxas", "-arch", arch, "-O1", "-o", os.devnull, path], capture_output=True, text=True)
    return p.returncode, p.stderr + p.stdout

def judge(statements, frame, arch, scratch):
    """[(accepted, message)] for statements of one frame."""
    before, after = frame.split("@STATEMENT@")
    first = before.count("\n") + 1
    verdict = [None] * len(statements)
    live = list(range(len(statements)))
    while live:
        rc, out = assembler(before + "\n".join(statements[k] for k in live) + after, arch, scratch)
        if rc == 0:
            for k in live:
                verdict[k] = (True, "")
            break
        bad = {}
        for m in WHERE.finditer(out):
            place = int(m[1]) - first
            if 0 <= place < len(live):
                bad.setdefault(place, m[2])
        # After an error the parser of ptxas may stumble over a good line: believe that only when it stands alone.
        if len(bad) > 1:
            bad = {k: v for k, v in bad.items() if not v.startswith("Parsing error")} or bad
        if not bad:  # an error of the whole function: find its statement by halves
            if len(live) == 1:
                verdict[live[0]] = (False, out.strip().splitlines()[0][:200] if out.strip() else "?") if rc > 0 else None
                break
            half = len(live) // 2
            for part in (live[:half], live[half:]):
                for k, v in zip(part, judge([statements[k] for k in part], frame, arch, scratch)):
                    verdict[k] = v
            break
        for place, text in bad.items():
            verdict[live[place]] = (False, text)
        live = [k for place, k in enumerate(live) if place not in bad]
    return verdict

# Statements that end the thread or jump away go last: what follows them is not looked at closely.
LEAVES = re.compile(r"^(@\S+ )?(ret|exit|trap|bra|brx)\b")

def main():
    a = argparse.ArgumentParser()
    a.add_argument("build")
    a.add_argument("rows")
    a.add_argument("-o", "--output")
    a.add_argument("--show", type=int, default=40)
    a.add_argument("--batch", type=int, default=400)
    o = a.parse_args()
    rows = [tuple(l.rstrip("\n").split("\t", 2)) for l in open(o.rows)]
    ours = subprocess.run([os.path.join(o.build, "tests/ptxas_statements"), o.rows], capture_output=True, text=True, cwd=o.build)
    ours = [tuple(l.split("\t", 1)) for l in ours.stdout.splitlines()]
    if len(ours) != len(rows):
        sys.exit("tests/ptxas_statements answered %d of %d rows" % (len(ours), len(rows)))
    groups = collections.defaultdict(list)
    for k, (version, target, statement) in enumerate(rows):
        groups[version, target].append(k)
    verdict = [None] * len(rows)
    with tempfile.TemporaryDirectory() as scratch:
        for (version, target), members in groups.items():
            frame = subprocess.run([os.path.join(o.build, "tests/fuzz/generate"), "--frame", version, target],
                                   capture_output=True, text=True, check=True).stdout
            arch = target if int(re.sub(r"\D", "", target)) >= 75 else "sm_75"
            members.sort(key=lambda k: bool(LEAVES.match(rows[k][2])))
            for at in range(0, len(members), o.batch):
                part = members[at:at + o.batch]
                for k, v in zip(part, judge([rows[k][2] for k in part], frame, arch, scratch)):
                    verdict[k] = v
    if o.output:
        with open(o.output, "w") as f:
            f.write("#version\ttarget\taccepted\tstatement\n")
            for row, v in zip(rows, verdict):
                if v:
                    f.write("\t".join((row[0], row[1], "1" if v[0] else "0", row[2])) + "\n")
    shown = collections.Counter()
    judged = [(row, v, w) for row, v, w in zip(rows, verdict, ours) if v]
    for row, v, w in judged:
        if v[0] != (w[0] == "1"):
            kind = "refused" if v[0] else "taken"
            shown[kind] += 1
            if shown[kind] <= o.show:
                print("wrongly %s: %s %s %s | %s" % (kind, *row, w[1] if v[0] else v[1]))
    for accepted, name in ((True, "accepted"), (False, "refused")):
        part = [w[0] == "1" for _, v, w in judged if v[0] == accepted]
        good = sum(x == accepted for x in part)
        print("%s by ptxas: %d, we agree on %d (%.2f %%)" % (name, len(part), good, 100 * good / max(1, len(part))))

main()
