#!/usr/bin/env python3
"""Replays recursion.tsv.xz and loops.tsv.xz by rules, and says how many groups in a row come out as they were recorded.

    replay.py

What a warp of an H200 does with lanes that have parted (driver 580.159.04, 2026-11):

- A branch parts the active lanes: the fewer go on first, those who do not jump where both are as many. The others are remembered; of several
  ways that lanes part only the last are. A return to several places parts the way of the lowest lane from the rest, and so on.
- BSSY adds the active lanes to its barrier register. BSYNC: lanes that are not in the register pass; the others wait for all that are in it. The
  register is one of the warp, not of a call: BMOV keeps and gives back its value (that of the lowest active lane), and who waits in an outer call waits
  for the value that is there now.
- When the active lanes must wait, those remembered go on. When none are, and all lanes of the register stand at the BSYNC, all lanes that stand there go on
  together, at whatever depth they are; else those furthest on in the code of those who can run.
- YIELD: those remembered have their turn, else the next lane by number behind the one that had the last turn, of the lanes that have not run since; with
  it all who stand at the same instruction. A lane that waits at a BSYNC can have the turn: all who wait there go on, and their registers are
  forgotten, so that those who come later pass.
"""
import collections
import lzma
import os

HERE = os.path.dirname(os.path.abspath(__file__))
M64 = (1 << 64) - 1


def rows(name):
    return [l.split("\t") for l in lzma.open(os.path.join(HERE, name), "rt").read().split("\n")[1:] if l]


def lanes(mask):
    return [l for l in range(32) if mask >> l & 1]


def count(mask):
    return bin(mask).count("1")


def mask_of(some):
    return sum(1 << l for l in some)


def hashed(seed, i):
    z = (seed * 0x9E3779B97F4A7C15 + i + 1) & M64
    z ^= z >> 30
    z = z * 0xBF58476D1CE4E5B9 & M64
    z ^= z >> 27
    z = z * 0x94D049BB133111EB & M64
    return z ^ z >> 31


class Recursion:
    """recursion.cu by blocks of its code: its places are logged in ENTRY, SECOND, BEHIND and LEAVING."""
    ENTRY, OUTSIDE, FIRST, SECOND, BEHIND, MEET, LEAVING, KERNEL, RETURN = range(9)
    NAMES = {ENTRY: "entry", SECOND: "second", BEHIND: "behind_second", LEAVING: "leaving"}

    def __init__(self):
        self.coins = [[1 + (hashed(23222, 8 * l + j) >> 32) % 19 for j in range(8)] for l in range(32)]
        self.frame = [[[20 + (hashed(23223, l) >> 32) % 30, 0, 0]] for l in range(32)]  # left, from, the barrier as it was
        self.pc, self.back = [self.ENTRY] * 32, [[self.KERNEL] for _ in range(32)]
        self.register = self.waiting = self.gone = 0
        self.remembered, self.active, self.at, self.log = None, 0xffffffff, self.ENTRY, []

    def part(self, stay, to_stay, jump, to_jump):
        ways = [(m, to) for m, to in ((stay, to_stay), (jump, to_jump)) if m]
        ways.sort(key=lambda way: count(way[0]))
        self.active, self.at = ways[0]
        for m, to in ways[1:]:
            self.remembered = m
            for l in lanes(m):
                self.pc[l] = to

    def step(self):
        m, at = self.active, self.at
        for l in lanes(m):
            self.pc[l] = at
        if at in self.NAMES:
            self.log.append((self.NAMES[at], m))
        if at == self.ENTRY:
            for l in lanes(m):
                self.frame[l][-1][2] = self.register
            self.register = m
            jump = mask_of(l for l in lanes(m) if self.frame[l][-1][0] == 0)
            self.part(m & ~jump, self.OUTSIDE, jump, self.MEET)
        elif at == self.OUTSIDE:
            jump = mask_of(l for l in lanes(m) if self.frame[l][-1][0] < 0 or self.frame[l][-1][1] == 8)
            self.part(m & ~jump, self.FIRST, jump, self.MEET)
        elif at in (self.FIRST, self.SECOND):
            for l in lanes(m):
                left, first, _ = self.frame[l][-1]
                self.frame[l].append([left - self.coins[l][first] if at == self.FIRST else left, first + 1, 0])
                self.back[l].append(self.SECOND if at == self.FIRST else self.BEHIND)
            self.at = self.ENTRY
        elif at == self.BEHIND:
            self.at = self.MEET
        elif at == self.MEET:
            waits = m & self.register
            if not self.register & ~(self.waiting | m):
                self.active, self.at = (self.register & ~self.gone) | (m & ~waits), self.LEAVING
                self.waiting &= ~self.active
            else:
                self.waiting |= waits
                self.active, self.at = m & ~waits, self.LEAVING
        elif at == self.LEAVING:
            self.register = self.frame[lanes(m)[0]][-1][2]
            self.at = self.RETURN
        elif at == self.RETURN:
            for l in lanes(m):
                self.frame[l].pop()
                self.pc[l] = self.back[l].pop()
            while True:
                lead = self.pc[lanes(m)[0]]
                way = mask_of(l for l in lanes(m) if self.pc[l] == lead)
                rest = m & ~way
                if not rest or count(way) < count(rest):
                    self.remembered = rest or self.remembered
                    self.active, self.at = way, lead
                    return
                self.remembered, m = way, rest
        else:
            self.gone |= m
            self.active = 0

    def choose(self):
        some = [l for l in lanes(self.remembered or 0) if not (self.waiting | self.gone) >> l & 1]
        self.remembered = None
        if some:
            self.at = self.pc[some[0]]
            self.active = mask_of(l for l in some if self.pc[l] == self.at)
            return True
        here = mask_of(l for l in range(32) if self.pc[l] == self.MEET and not self.gone >> l & 1)
        if self.register and not self.register & ~here & ~self.gone:
            self.waiting, self.active, self.at = 0, here, self.LEAVING
            return True
        some = [l for l in range(32) if not (self.waiting | self.gone) >> l & 1]
        if some:
            self.at = max(self.pc[l] for l in some)
            self.active = mask_of(l for l in some if self.pc[l] == self.at)
        return bool(some)

    def run(self, n):
        while len(self.log) < n and (self.active or self.choose()):
            self.step()


class Walk:
    """walk<4> of loops.cu: places of a round, ten a round. The lane that had the last turn is what the launch before has left."""
    OUTER, INNER, YIELD, IN, MEET, OUTER_MEET, BEHIND = range(7)
    ROUNDS = 4

    def __init__(self, lengths, turn):
        self.lengths, self.left, self.turn = lengths, list(lengths[0]), turn
        self.pc, self.register, self.waits, self.gone = [0] * 32, [0, 0], [None] * 32, 0
        self.remembered, self.active, self.ran, self.log = 0, 0xffffffff, 0, []

    def next_turn(self, yields):
        free = [l for l in range(32) if not self.gone >> l & 1]
        others = [l for l in free if not (yields | self.ran) >> l & 1]
        alone = not others
        others = others or [l for l in free if not yields >> l & 1] or free
        self.active = 0
        if not others:
            return
        lane = min(others, key=lambda l: (l - self.turn - 1) % 32)
        pc, at = self.pc[lane], self.waits[lane]
        if at is None:
            self.active = mask_of(l for l in free if self.waits[l] is None and self.pc[l] == pc)
        else:
            self.active = mask_of(l for l in free if self.waits[l] == at and self.pc[l] == pc)
            for l in lanes(self.active):
                self.waits[l], self.pc[l] = None, pc + 1
            self.register = [0, 0]
        self.remembered, self.ran = 0, self.active
        if not alone:
            self.turn = lane

    def take_remembered(self):
        m, self.remembered = self.remembered, 0
        if m and all(self.waits[l] is None and not self.gone >> l & 1 for l in lanes(m)):
            self.active = m
            return True
        return False

    def step(self):
        m = self.active
        pc = self.pc[lanes(m)[0]]
        r, at = divmod(pc, 10)
        self.ran |= m
        for l in lanes(m):
            self.pc[l] = pc + 1
        if r == self.ROUNDS:
            self.gone |= m
            if not self.take_remembered():
                self.next_turn(0)
        elif at in (self.OUTER, self.INNER):
            self.register[at] |= m
        elif at == self.YIELD:
            if not self.take_remembered():
                self.next_turn(m)
        elif at == self.IN:
            self.log.append(("in_%d" % r, m))
            for l in lanes(m):
                self.left[l] -= 1
                self.pc[l] = 10 * r + (self.YIELD if self.left[l] else self.MEET)
            stay = mask_of(l for l in lanes(m) if self.left[l])
            if stay and m & ~stay:
                self.active, self.remembered = (stay, m & ~stay) if count(stay) < count(m & ~stay) else (m & ~stay, stay)
        elif at in (self.MEET, self.OUTER_MEET):
            b = 1 if at == self.MEET else 0
            waiting = mask_of(l for l in range(32) if self.waits[l] == b)
            own = m & self.register[b]
            if own and not self.register[b] & ~(waiting | m) & ~self.gone:
                self.active = (self.register[b] & (waiting | m)) | (m & ~own)
                for l in lanes(self.active):
                    self.waits[l], self.pc[l] = None, pc + 1
                self.register[b] = 0
                return
            for l in lanes(own):
                self.waits[l], self.pc[l] = b, pc
            self.active = m & ~own
            if not self.active and not self.take_remembered():
                self.next_turn(0)
        else:
            self.log.append(("behind_%d" % r, m))
            for l in lanes(m):
                self.pc[l] = 10 * (r + 1)
                self.left[l] = self.lengths[r + 1][l] if r + 1 < self.ROUNDS else 0

    def run(self, n):
        for _ in range(40 * n):
            if len(self.log) >= n or not self.active:
                return
            self.step()


def mixed(x):
    x ^= x >> 16
    x = x * 0x7feb352d & 0xffffffff
    x ^= x >> 15
    x = x * 0x846ca68b & 0xffffffff
    return x ^ x >> 16


LENGTHS = {"random_24": lambda r, l: 1 + mixed(r * 32 + l) % 24, "ladder": lambda r, l: 1 + l, "three": lambda r, l: mixed(r * 32 + l + 777) % 3 * 7 + 2}


def agree(seen, made):
    k = 0
    while k < min(len(seen), len(made)) and seen[k] == made[k]:
        k += 1
    return k


def main():
    seen = [(r[1], int(r[2], 16)) for r in rows("recursion.tsv.xz")]
    made = Recursion()
    made.run(len(seen))
    print("recursion: %d of %d groups" % (agree(seen, made.log), len(seen)))
    way = collections.defaultdict(list)
    for r in rows("loops.tsv.xz"):
        way[r[0], r[1]].append((r[3], int(r[4], 16)))
    for name, length in LENGTHS.items():
        seen, best = way["walk", name], 0
        for turn in range(32):
            made = Walk([[length(r, l) for l in range(32)] for r in range(Walk.ROUNDS)], turn)
            made.run(len(seen))
            best = max(best, agree(seen, made.log))
        print("walk, lengths %s: %d of %d groups" % (name, best, len(seen)))


main()
