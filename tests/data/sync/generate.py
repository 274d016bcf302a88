#!/usr/bin/env python3
"""generate.py - writes table.ptx and table.tsv: kernels that wait for each other in unusual ways, one situation each.

    python3 tests/data/sync/generate.py tests/data/sync

Parameters of a kernel: `out`, 2,048 words, and `g`, 64 zeroed words that threads use as flags. Thread t of block b owns out[256 b + t], where it
stores how far it has come, and out[1024 + 256 b + t] for a value. %t is the thread in its block, %l its lane, %w its warp, %c the block.
A line of table.tsv: name, blocks, threads of a block, blocks of a cluster (0: none), what happens.
"""
import sys

rows = []


def row(name, block, text, what, grid=1, cluster=0, functions=""):
    rows.append((name, grid, block, cluster, what, text, functions))


def mark(n):
    return f"st.volatile.global.u32 [%out],{n};"


labels = [0]


def label():
    labels[0] += 1
    return f"X{labels[0]}"


def put(reg):
    return f"st.volatile.global.u32 [%out+4096],{reg};"


def when(cond, yes, no=""):
    """cond: 'lt %t,40'. Neither side comes back before it is done."""
    other, end = label(), label()
    op, args = cond.split(" ", 1)
    return f"setp.{op}.u32 %p0,{args}; @!%p0 bra {other};\n {yes}\n bra {end};\n{other}:\n {no}\n{end}:\n"


def spin(word=0):
    """Until another thread has set the flag."""
    l = label()
    return f"{l}: ld.relaxed.gpu.global.u32 %s,[%g+{4 * word}]; setp.eq.u32 %p1,%s,0; @%p1 bra {l};\n"


def flag(word=0):
    return f"st.relaxed.gpu.global.u32 [%g+{4 * word}],1;"


LATE = "nanosleep.u32 1000; nanosleep.u32 1000; nanosleep.u32 1000;"
ALL = "0xffffffff"

# ---- a part of the threads at bar.sync ----
row("some_then_end", 64, when("lt %t,40", "bar.sync 0;" + mark(2), LATE), "threads 0 to 39 wait, the others end late")
row("some_skip_early", 64, when("lt %t,40", LATE + "bar.sync 0;" + mark(2)), "threads 0 to 39 come late, the others have ended")
row("half_warp_then_end", 32, when("lt %l,16", "bar.sync 0;" + mark(2), LATE), "half of the only warp waits, the other half ends late")
row("some_others_spin", 64, when("lt %t,40", "bar.sync 0;" + mark(2) + flag(), spin() + mark(3)), "the others of a warp spin until those at the barrier go on")
row("half_warp_others_spin", 32, when("lt %l,16", "bar.sync 0;" + mark(2) + flag(), spin() + mark(3)), "the same in the only warp")
row("warp_others_spin", 64, when("eq %w,0", "bar.sync 0;" + mark(2) + flag(), spin() + mark(3)), "one warp waits, the other spins until it goes on")
row("two_places", 64, when("lt %t,40", "bar.sync 0;" + mark(2), LATE + "bar.sync 0;" + mark(3)), "the same barrier in two branches of a warp")
row("two_places_even", 64, when("eq %e,0", "bar.sync 0;" + mark(2), LATE + "bar.sync 0;" + mark(3)), "the same barrier in two branches, even and odd lanes")
row("twice_and_once", 64, when("lt %t,40", "bar.sync 0;" + mark(2) + "bar.sync 0;" + mark(3), "bar.sync 0;" + mark(4)), "two barriers in one branch, one in the other, whose threads end")
row("twice_and_once_spin", 64, when("lt %t,40", "bar.sync 0;" + mark(2) + "bar.sync 0;" + mark(3) + flag(), "bar.sync 0;" + mark(4) + spin() + mark(5)),
    "two barriers in one branch, one in the other, whose threads spin")
row("some_then_all", 64, when("lt %t,40", "bar.sync 0;" + mark(2)) + "bar.sync 0;" + mark(3), "threads 0 to 39 wait once more than the others")
row("some_then_all_spin", 64, when("lt %t,40", "bar.sync 0;" + mark(2)) + "bar.sync 0;" + mark(3) + when("lt %t,40", flag(), spin() + mark(4)),
    "the same; afterwards the others spin until threads 0 to 39 go on")
row("one_lane", 64, when("eq %l,0", "bar.sync 0;" + mark(2)) + f"bar.warp.sync {ALL};" + mark(3), "lane 0 of each warp waits, then all meet in the warp")
row("one_lane_other_warps_end", 128, when("eq %w,0", "bar.sync 0;" + mark(2), when("eq %t,32", "bar.sync 0;" + mark(3), LATE)),
    "a warp and a lane of the next wait, all others end")
row("one_lane_spin", 64, when("eq %l,0", "bar.sync 0;" + mark(2) + flag(), spin() + mark(3)), "lane 0 of each warp waits, the others spin until it goes on")
row("order", 64, "st.shared.u32 [%sh],%t;" + when("lt %t,40", "bar.sync 0; ld.shared.u32 %v,[%sx];" + put("%v") + mark(2), "bar.sync 0; ld.shared.u32 %v,[%sx];" + put("%v") + mark(3)),
    "stores before a barrier in two branches are seen behind it")
row("guarded", 64, "setp.lt.u32 %p2,%t,40; @%p2 bar.sync 0;" + mark(2), "@p bar.sync")
row("guarded_spin", 64, "setp.lt.u32 %p2,%t,40; @%p2 bar.sync 0;" + mark(2) + when("lt %t,40", flag(), spin() + mark(3)), "@p bar.sync, then the others spin")
row("guarded_warp", 64, "setp.lt.u32 %p2,%t,32; @%p2 bar.sync 0;" + mark(2), "@p bar.sync for one warp")
row("guarded_both", 64, "setp.lt.u32 %p2,%t,40; @%p2 bar.sync 0; @!%p2 bar.sync 0;" + mark(2), "@p bar.sync, @!p bar.sync")

# ---- threads that end ----
row("ret_late", 64, when("lt %t,32", "bar.sync 0;" + mark(2), LATE + "ret;"), "a warp returns while the other waits")
row("exit_late", 64, when("lt %t,32", "bar.sync 0;" + mark(2), LATE + "exit;"), "a warp exits while the other waits")
row("fall_late", 64, when("lt %t,32", "bar.sync 0;" + mark(2), LATE), "a warp comes to the end while the other waits")
row("exit_lanes", 64, when("lt %l,16", LATE + "exit;", "bar.sync 0;" + mark(2)), "half of each warp exits late")
row("exit_guarded", 64, LATE + "setp.lt.u32 %p2,%l,16; @%p2 exit; bar.sync 0;" + mark(2), "@p exit, then the others wait")
row("ret_guarded", 64, LATE + "setp.lt.u32 %p2,%t,48; @%p2 ret; bar.sync 0;" + mark(2), "@p ret of a warp and a half, then the others wait")
row("exit_in_function", 64, when("lt %t,32", "bar.sync 0;" + mark(2), "call leave, ();"), "a function exits", functions=".func leave () { " + LATE + " exit; }\n")
row("ret_in_function", 64, "{ .param .b32 a; st.param.b32 [a],%t; call wait_some,(a); }" + mark(2) + "bar.sync 0;" + mark(3),
    "a part returns from a function, the others wait in it; then all wait",
    functions=".func wait_some (.param .b32 a) { .reg .b32 %a; .reg .pred %q; ld.param.b32 %a,[a]; setp.ge.u32 %q,%a,40; @%q ret; bar.sync 0; ret; }\n")
row("function_for_some", 64, when("lt %t,40", "call wait0, ();" + mark(2), LATE), "a part calls a function with a barrier, the others end", functions=".func wait0 () { bar.sync 0; ret; }\n")
row("two_functions", 64, when("eq %e,0", "call wait1, ();" + mark(2), "call wait2, ();" + mark(3)), "even and odd lanes wait in two functions",
    functions=".func wait1 () { bar.sync 0; ret; }\n.func wait2 () { nanosleep.u32 1000; bar.sync 0; ret; }\n")
row("trap_late", 64, when("lt %t,32", "bar.sync 0;" + mark(2), LATE + "trap;"), "a warp traps while the other waits")
row("ended_before", 96, when("lt %t,32", "exit;") + LATE + "bar.sync 0;" + mark(2), "a warp has ended before the others wait")
row("end_after_wait", 64, when("lt %t,32", "bar.sync 0;" + mark(2) + "bar.sync 0;" + mark(3), "bar.sync 0;" + mark(4) + LATE), "a warp waits once and ends, the other waits again")
row("tail_guard", 128, when("ge %t,100", "exit;") + "st.shared.u32 [%sh],%t; bar.sync 0; bar.sync 0;" + mark(2), "28 lanes end first, two barriers")

# ---- numbers of threads ----
row("count_warp", 64, when("lt %t,32", "bar.sync 1,32;" + mark(2), spin(1) if False else ""), "a barrier of one warp")
row("count_half_warp", 64, when("lt %t,16", "bar.sync 1,32;" + mark(2)), "half a warp at a barrier of 32 threads, the others end")
row("count_half_warp_late", 64, when("lt %t,16", "bar.sync 1,32;" + mark(2), LATE), "half a warp at a barrier of 32 threads, the others end late")
row("count_half_warp_spin", 32, when("lt %t,16", "bar.sync 1,32;" + mark(2) + flag(), spin() + mark(3)), "half a warp at a barrier of 32 threads, the other half spins")
row("count_some_spin", 64, when("lt %t,16", "bar.sync 1,64;" + mark(2) + flag(), when("lt %t,32", spin() + mark(3), "bar.sync 1,64;" + mark(4))),
    "48 threads of two warps at a barrier of 64, the rest spins")
row("count_two_halves", 64, when("eq %w,0", when("lt %l,16", "bar.sync 1,64;" + mark(2) + flag(), "bar.sync 1,64;" + mark(3)), spin() + mark(4)),
    "two halves of a warp at a barrier of 64 in two branches, the other warp spins")
row("count_halves_warp", 32, when("lt %l,16", "bar.sync 1,32;" + mark(2), LATE + "bar.sync 1,32;" + mark(3)), "two halves of a warp at a barrier of 32 in two branches")
row("count_halves_spin", 32, when("lt %l,16", "bar.sync 1,32;" + mark(2) + flag(), spin() + "bar.sync 1,32;" + mark(3)),
    "the same; the second half comes when the first has gone on")
row("count_missing_ended", 64, when("eq %w,0", "bar.sync 1,64;" + mark(2)), "a barrier of 64, the other warp ends at once")
row("count_missing_late", 64, when("eq %w,0", "bar.sync 1,64;" + mark(2), LATE), "a barrier of 64, the other warp ends late")
row("count0_missing_ended", 64, when("eq %w,0", "bar.sync 0,64;" + mark(2)), "barrier 0 of 64, the other warp ends at once")
row("count0_missing_late", 64, when("eq %w,0", "bar.sync 0,64;" + mark(2), LATE), "barrier 0 of 64, the other warp ends late")
row("count_missing_lanes", 64, when("ge %t,48", "exit;") + "bar.sync 1,64;" + mark(2), "a barrier of 64, 16 lanes have ended")
row("count_too_many", 64, "mov.u32 %r1,96; bar.sync 1,%r1;" + mark(2), "a barrier of 96 in a block of 64")
row("count_three_of_two", 96, "bar.sync 1,64;" + mark(2), "three warps at a barrier of 64, the first two end")
row("count_three_of_two_spin", 96, "bar.sync 1,64;" + mark(2) + "atom.add.relaxed.gpu.global.u32 %s,[%g],1; "
    "L: ld.relaxed.gpu.global.u32 %s,[%g]; setp.lt.u32 %p1,%s,96; @%p1 bra L;" + mark(3), "three warps at a barrier of 64, then they wait for each other")
row("count_unlike", 96, when("eq %w,0", "bar.sync 1,64;" + mark(2), LATE + "bar.sync 1,96;" + mark(3)), "different numbers at a barrier")
row("count_and_none", 64, when("eq %w,0", "bar.sync 1,64;" + mark(2), LATE + "bar.sync 1;" + mark(3)), "one with a number, one without")
row("count_33", 64, "mov.u32 %r1,33; bar.sync 1,%r1;" + mark(2), "33 threads")
row("count_0", 64, "mov.u32 %r1,0; bar.sync 1,%r1;" + mark(2), "0 threads")
row("count_4096", 64, "mov.u32 %r1,4096; bar.sync 1,%r1;" + mark(2), "4,096 threads")
row("count_lanes", 64, when("lt %l,16", "mov.u32 %r1,32;", "mov.u32 %r1,64;") + "barrier.sync 1,%r1;" + mark(2), "lanes with different numbers of threads")
row("id_lanes", 64, "and.b32 %r1,%l,1; barrier.sync %r1,64;" + mark(2), "lanes with different barriers in a register")
row("id_lanes_end", 64, "and.b32 %r1,%l,1; barrier.sync %r1;" + mark(2), "the same without a number of threads")
row("id_16", 64, "mov.u32 %r1,16; bar.sync %r1;" + mark(2), "barrier 16 in a register")
row("id_1000", 64, "add.u32 %r1,%z,1000; bar.sync %r1;" + mark(2), "barrier 1000 in a register")

# ---- named barriers without a number ----
row("named_ended", 64, when("eq %w,0", "bar.sync 1;" + mark(2)), "barrier 1, the other warp has ended")
row("named_late", 64, when("eq %w,0", "bar.sync 1;" + mark(2), LATE), "barrier 1, the other warp ends late")
row("named_unlike", 64, when("eq %w,0", "bar.sync 1;" + mark(2), "bar.sync 0;" + mark(3)), "two warps at different barriers")
row("named_cross", 64, when("eq %w,0", "bar.sync 1,64; bar.sync 2,64;" + mark(2), "bar.sync 2,64; bar.sync 1,64;" + mark(3)), "two warps at two barriers in opposite order")
row("branches_unlike", 32, when("lt %l,16", "bar.sync 1,32;" + mark(2), "bar.sync 2,32;" + mark(3)), "two branches of a warp at different barriers of 32")
row("branches_unlike_64", 64, when("lt %l,16", "bar.sync 1,64;" + mark(2), "bar.sync 2,64;" + mark(3)), "two branches of two warps at different barriers of 64")
row("branches_unlike_all", 32, when("lt %l,16", "bar.sync 0;" + mark(2), "bar.sync 1;" + mark(3)), "two branches at barriers 0 and 1 without numbers")
row("branches_unlike_spin", 64, when("lt %l,16", "bar.sync 1,64;" + mark(2) + flag(), "bar.sync 2,64;" + mark(3) + spin() + mark(4)),
    "two branches of two warps at different barriers of 64; the second waits for the first to go on")
row("branches_cross", 32, when("lt %l,16", "bar.sync 1,32; bar.sync 2,32;" + mark(2), "bar.sync 2,32; bar.sync 1,32;" + mark(3)), "two branches at two barriers in opposite order")

# ---- bar.arrive ----
row("ring", 64, "mov.u32 %r1,0;" + when("eq %w,0", "A: st.shared.u32 [%sh],%r1; bar.arrive 1,64; bar.sync 2,64; add.u32 %r1,%r1,1; setp.lt.u32 %p3,%r1,5; @%p3 bra A;",
    "mov.u32 %v,0; B: bar.sync 1,64; ld.shared.u32 %r2,[%sx]; add.u32 %v,%v,%r2; bar.arrive 2,64; add.u32 %r1,%r1,1; setp.lt.u32 %p3,%r1,5; @%p3 bra B;" + put("%v")) + mark(2),
    "producer and consumer, five rounds")
row("arrive_end", 64, when("eq %w,0", "bar.sync 1,64;" + mark(2), LATE + "bar.arrive 1,64;"), "the other warp arrives and ends")
row("arrive_two_halves", 64, when("eq %w,1", "bar.sync 1,64;" + mark(2), when("lt %l,16", "bar.arrive 1,64;" + mark(3), LATE + "bar.arrive 1,64;" + mark(4))),
    "the halves of a warp arrive one after the other")
row("arrive_half_spin", 64, when("eq %w,1", "bar.sync 1,64;" + mark(2) + flag(), when("lt %l,16", "bar.arrive 1,64;" + mark(3), spin() + mark(4))),
    "half of a warp arrives, the other half spins")
row("arrive_half_end", 64, when("eq %w,1", "bar.sync 1,64;" + mark(2), when("lt %l,16", "bar.arrive 1,64;" + mark(3))), "half of a warp arrives, the other half ends")
row("arrive_two_halves_spin", 64, when("eq %w,1", "bar.sync 1,96;" + mark(2) + flag(), when("lt %l,16", "bar.arrive 1,96;" + mark(3), "bar.arrive 1,96;" + mark(4) + spin())),
    "the halves of a warp arrive at a barrier of 96 where one warp waits")
row("arrive_twice", 64, when("eq %w,0", "bar.arrive 1,96; bar.arrive 1,96;" + mark(2), "bar.sync 1,96;" + mark(3)), "a warp arrives twice at a barrier of 96")
row("arrive_fills", 64, when("eq %w,0", "bar.arrive 1,64; bar.arrive 1,64;" + mark(2) + flag(), spin() + "bar.sync 1,64;" + mark(3)), "a warp arrives twice at a barrier of 64, then the other waits")
row("arrive_only", 64, "bar.arrive 1,128;" + mark(2), "nobody waits")
row("arrive_33", 64, "mov.u32 %r1,33; bar.arrive 1,%r1;" + mark(2), "arrive with 33 threads")

# ---- bar.red ----
row("red_some", 64, "setp.lt.u32 %p2,%l,20;" + when("lt %t,40", "bar.red.popc.u32 %v,0,%p2;" + put("%v") + mark(2), LATE), "bar.red by threads 0 to 39, the others end late")
row("red_two_places", 64, "setp.lt.u32 %p2,%l,20;" + when("lt %t,40", "bar.red.popc.u32 %v,0,%p2;" + put("%v") + mark(2), "bar.red.popc.u32 %v,0,%p2;" + put("%v") + mark(3)), "bar.red in two branches")
row("red_and_some", 64, "setp.lt.u32 %p2,%t,40;" + when("lt %t,40", "bar.red.and.pred %p3,0,%p2; selp.u32 %v,1,2,%p3;" + put("%v") + mark(2), LATE), "bar.red.and by threads 0 to 39")
row("red_or_some", 64, "setp.gt.u32 %p2,%t,40;" + when("lt %t,40", "bar.red.or.pred %p3,0,%p2; selp.u32 %v,1,2,%p3;" + put("%v") + mark(2), LATE), "bar.red.or by threads 0 to 39")
row("red_ended", 96, "setp.lt.u32 %p2,%l,20;" + when("lt %t,32", "exit;") + "bar.red.popc.u32 %v,0,%p2;" + put("%v") + mark(2), "bar.red after a warp has ended")
row("red_and_ended", 96, "setp.lt.u32 %p2,%l,40;" + when("lt %t,48", "exit;") + "bar.red.and.pred %p3,0,%p2; selp.u32 %v,1,2,%p3;" + put("%v") + mark(2), "bar.red.and after a warp and a half have ended")
row("red_with_sync", 64, "setp.lt.u32 %p2,%l,20;" + when("eq %w,0", "bar.red.popc.u32 %v,0,%p2;" + put("%v") + mark(2), "bar.sync 0;" + mark(3)), "bar.red in one warp, bar.sync in the other")
row("red_half_of_64", 64, "setp.lt.u32 %p2,%l,20;" + when("lt %l,16", "bar.red.popc.u32 %v,1,64,%p2;" + put("%v") + mark(2), LATE), "bar.red with 64 threads by half of each warp")
row("red_guarded", 64, "mov.u32 %v,99; setp.lt.u32 %p2,%l,20; setp.lt.u32 %p4,%t,40; @%p4 bar.red.popc.u32 %v,0,%p2;" + put("%v") + mark(2), "@p bar.red")
row("red_after_arrive", 64, "setp.lt.u32 %p2,%l,20;" + when("eq %w,0", "bar.arrive 1,64;" + mark(2), "bar.red.popc.u32 %v,1,64,%p2;" + put("%v") + mark(3)), "bar.red with a warp that arrives")

# ---- barrier, whose lanes need not come together ----
row("free_some_end", 64, when("lt %t,40", "barrier.sync 0;" + mark(2), LATE), "barrier.sync by threads 0 to 39, the others end late")
row("free_some_spin", 64, when("lt %t,40", "barrier.sync 0;" + mark(2) + flag(), spin() + mark(3)), "barrier.sync by threads 0 to 39, the others spin")
row("free_two_places", 64, when("lt %t,40", "barrier.sync 0;" + mark(2), LATE + "barrier.sync 0;" + mark(3)), "barrier.sync in two branches")
row("free_trips", 64, "and.b32 %r1,%t,3; L: barrier.sync 0; sub.u32 %r1,%r1,1; setp.ge.s32 %p3,%r1,0; @%p3 bra L;" + mark(2), "barrier.sync in a loop of 1 to 4 iterations by lane")
row("free_trips_spin", 64, "and.b32 %r1,%t,3; L: barrier.sync 0; sub.u32 %r1,%r1,1; setp.ge.s32 %p3,%r1,0; @%p3 bra L;" + mark(2) +
    when("eq %t,3", flag(), spin() + mark(3)), "the same; those that are done spin until thread 3 is")
row("free_even_spin", 64, when("eq %e,0", "barrier.sync 1,64;" + mark(2) + flag(), spin() + mark(3)), "even lanes of two warps at a barrier of 64, odd lanes spin")
row("free_even_32", 64, when("eq %e,0", "barrier.sync 1,32;" + mark(2) + flag(), spin() + mark(3)), "even lanes of two warps at a barrier of 32, odd lanes spin")
row("free_arrive_sync", 64, when("lt %l,16", "barrier.arrive 1,64;" + mark(2), "barrier.sync 1,64;" + mark(3)), "half of each warp arrives, the other half waits")
row("free_red", 64, "setp.lt.u32 %p2,%l,20;" + when("lt %t,40", "barrier.red.popc.u32 %v,0,%p2;" + put("%v") + mark(2), "barrier.red.popc.u32 %v,0,%p2;" + put("%v") + mark(3)), "barrier.red in two branches")
row("free_and_aligned", 64, when("lt %t,40", "barrier.sync 0;" + mark(2), "bar.sync 0;" + mark(3)), "barrier.sync in one branch, bar.sync in the other")
row("free_count_half", 32, when("lt %l,16", "barrier.sync 1,32;" + mark(2) + flag(), spin() + mark(3)), "half a warp at barrier.sync of 32, the other half spins")

# ---- loops ----
row("trips_by_warp", 64, "mad.lo.u32 %r1,%w,2,3; L: bar.sync 0; sub.u32 %r1,%r1,1; setp.gt.u32 %p3,%r1,0; @%p3 bra L;" + mark(2), "3 and 5 iterations by warp, then they end")
row("trips_by_warp_spin", 64, "mad.lo.u32 %r1,%w,2,3; L: bar.sync 0; sub.u32 %r1,%r1,1; setp.gt.u32 %p3,%r1,0; @%p3 bra L;" + mark(2) + when("eq %w,1", flag(), spin() + mark(3)),
    "3 and 5 iterations by warp, then the first spins until the second is done")
row("trips_by_lane", 64, "and.b32 %r1,%t,3; L: bar.sync 0; sub.u32 %r1,%r1,1; setp.ge.s32 %p3,%r1,0; @%p3 bra L;" + mark(2), "1 to 4 iterations by lane, then they end")
row("trips_by_lane_spin", 64, "and.b32 %r1,%t,3; L: bar.sync 0; sub.u32 %r1,%r1,1; setp.ge.s32 %p3,%r1,0; @%p3 bra L;" + mark(2) + when("eq %t,3", flag(), spin() + mark(3)),
    "1 to 4 iterations by lane, then they spin until thread 3 is done")
row("trips_sum", 64, "and.b32 %r1,%t,3; mov.u32 %v,0; st.shared.u32 [%sh],1; L: bar.sync 0; ld.shared.u32 %r2,[%sx]; add.u32 %v,%v,%r2; bar.sync 0; sub.u32 %r1,%r1,1; "
    "setp.ge.s32 %p3,%r1,0; @%p3 bra L;" + put("%v") + mark(2), "two barriers in such a loop")

# ---- meeting in a warp ----
row("warp_exited_before", 32, when("lt %l,16", "exit;") + f"bar.warp.sync {ALL};" + mark(2), "the mask names lanes that have ended")
row("warp_exited_late", 32, when("lt %l,16", LATE + LATE + "exit;", f"bar.warp.sync {ALL};" + mark(2)), "the mask names lanes that end late")
row("warp_ret_late", 32, when("lt %l,16", LATE + LATE + "ret;", f"bar.warp.sync {ALL};" + mark(2)), "the mask names lanes that return late")
row("warp_not_in", 32, "mov.u32 %r1,2; add.u32 %r1,%r1,%z; bar.warp.sync %r1;" + mark(2), "the mask leaves out lanes that execute it")
row("warp_two_masks", 32, when("lt %l,16", "bar.warp.sync 0x0000ffff;" + mark(2), "bar.warp.sync 0xffff0000;" + mark(3)), "two branches, each with its mask")
row("warp_two_masks_one_place", 32, "mov.u32 %r1,0xffff; setp.ge.u32 %p2,%l,16; @%p2 mov.u32 %r1,0xffff0000; bar.warp.sync %r1;" + mark(2), "two masks at one place")
row("warp_overlap", 32, when("lt %l,16", f"bar.warp.sync {ALL};" + mark(2), "bar.warp.sync 0xffff0000;" + mark(3)), "two branches, masks that overlap")
row("warp_overlap_spin", 32, when("lt %l,16", f"bar.warp.sync {ALL};" + mark(2) + flag(), "bar.warp.sync 0xffff0000;" + mark(3) + spin() + mark(4)), "the same; the second half spins until the first goes on")
row("warp_two_places", 32, when("lt %l,16", f"bar.warp.sync {ALL};" + mark(2), LATE + f"bar.warp.sync {ALL};" + mark(3)), "two branches with the full mask")
row("warp_two_places_spin", 32, when("lt %l,16", f"bar.warp.sync {ALL};" + mark(2) + flag(), f"bar.warp.sync {ALL};" + mark(3) + spin() + mark(4)), "the same; the second half spins until the first goes on")
row("warp_others_spin_lane", 32, when("lt %l,16", f"bar.warp.sync {ALL};" + mark(2) + flag(), spin() + mark(3)), "half waits for the full mask, the other half spins until it goes on")
row("warp_and_bar", 32, when("lt %l,16", f"bar.warp.sync {ALL};" + mark(2), "bar.sync 0;" + mark(3)), "half waits for the full mask, the other half at bar.sync")
row("warp_and_barrier", 32, when("lt %l,16", f"bar.warp.sync {ALL};" + mark(2), "barrier.sync 0;" + mark(3)), "half waits for the full mask, the other half at barrier.sync")
row("warp_and_vote", 32, "setp.lt.u32 %p2,%l,20;" + when("lt %l,16", f"bar.warp.sync {ALL};" + mark(2), f"vote.sync.ballot.b32 %v,%p2,{ALL};" + put("%v") + mark(3)),
    "half waits for the full mask, the other half votes with it")
row("vote_exited", 32, "setp.lt.u32 %p2,%l,20;" + when("lt %l,16", "exit;") + f"vote.sync.ballot.b32 %v,%p2,{ALL};" + put("%v") + mark(2), "a vote whose mask names lanes that have ended")
row("vote_all_exited", 32, "setp.ge.u32 %p2,%l,16;" + when("lt %l,16", "exit;") + f"vote.sync.all.pred %p3,%p2,{ALL}; selp.u32 %v,1,2,%p3;" + put("%v") + mark(2), "the same with .all")
row("shfl_exited", 32, when("lt %l,16", "exit;") + f"shfl.sync.idx.b32 %v|%p2,%t,20,31,{ALL};" + put("%v") + mark(2), "a shuffle whose mask names lanes that have ended")
row("match_exited", 32, when("lt %l,16", "exit;") + f"and.b32 %r1,%l,1; match.any.sync.b32 %v,%r1,{ALL};" + put("%v") + mark(2), "a match whose mask names lanes that have ended")
row("redux_exited", 32, when("lt %l,16", "exit;") + f"redux.sync.add.u32 %v,%l,{ALL};" + put("%v") + mark(2), "a reduction whose mask names lanes that have ended")
row("elect_exited", 32, when("lt %l,16", "exit;") + f"elect.sync %v|%p2,{ALL};" + put("%v") + mark(2), "elect whose mask names lanes that have ended")
row("shfl_half_spin", 32, when("lt %l,16", f"shfl.sync.idx.b32 %v|%p2,%t,20,31,{ALL};" + put("%v") + mark(2) + flag(), spin() + mark(3)), "half shuffles with the full mask, the other half spins")
row("shfl_two_places", 32, when("lt %l,16", f"shfl.sync.bfly.b32 %v|%p2,%t,16,31,{ALL};" + put("%v") + mark(2), f"shfl.sync.bfly.b32 %v|%p2,%t,16,31,{ALL};" + put("%v") + mark(3)),
    "a shuffle with the full mask in two branches")
row("activemask_part", 32, when("lt %l,12", "activemask.b32 %v;" + put("%v") + mark(2), "activemask.b32 %v;" + put("%v") + mark(3)), "activemask in two branches")

# ---- clusters ----
C = "barrier.cluster.arrive; barrier.cluster.wait;"
row("cluster_ended", 64, when("eq %c,0", "exit;") + LATE + C + mark(2), "a block has ended", grid=2, cluster=2)
row("cluster_end_late", 64, when("eq %c,0", LATE + LATE + "exit;") + C + mark(2), "a block ends late", grid=2, cluster=2)
row("cluster_ret_late", 64, when("eq %c,0", LATE + LATE + "ret;") + C + mark(2), "a block returns late", grid=2, cluster=2)
row("cluster_warp_ends", 64, when("eq %w,1", LATE + "exit;") + C + mark(2), "a warp of each block ends late", grid=2, cluster=2)
row("cluster_lanes_end", 64, when("lt %l,16", LATE + "exit;", C + mark(2)), "half of each warp ends late", grid=2, cluster=2)
row("cluster_block_spins", 64, when("eq %c,0", spin() + mark(3), C + mark(2) + flag()), "a block spins until the other goes on", grid=2, cluster=2)
row("cluster_lanes_spin", 64, when("lt %l,16", spin() + mark(3), C + mark(2) + flag()), "half of each warp spins until the other half goes on", grid=2, cluster=2)
row("cluster_wait_only", 64, "barrier.cluster.wait;" + mark(2), "wait without arrive", grid=2, cluster=2)
row("cluster_arrive_twice", 64, "barrier.cluster.arrive; barrier.cluster.arrive;" + mark(2), "arrive twice", grid=2, cluster=2)
row("cluster_arrive_end", 64, when("eq %c,0", "barrier.cluster.arrive; exit;") + C + mark(2), "a block arrives and ends", grid=2, cluster=2)
row("cluster_two_places", 64, when("eq %e,0", C + mark(2), C + mark(3)), "two branches of a warp", grid=2, cluster=2)
row("cluster_trips", 64, "mad.lo.u32 %r1,%c,2,3; L:" + C + "sub.u32 %r1,%r1,1; setp.gt.u32 %p3,%r1,0; @%p3 bra L;" + mark(2), "3 and 5 iterations by block", grid=2, cluster=2)
row("cluster_trips_spin", 64, "mad.lo.u32 %r1,%c,2,3; L:" + C + "sub.u32 %r1,%r1,1; setp.gt.u32 %p3,%r1,0; @%p3 bra L;" + mark(2) + when("eq %c,0", spin() + mark(3), flag()),
    "3 and 5 iterations by block, then the first spins", grid=2, cluster=2)
row("cluster_of_one", 64, C + mark(2), "without clusters")
row("cluster_of_one_some", 64, when("lt %t,40", C + mark(2), LATE), "without clusters, a part of the threads")
row("cluster_aligned_some", 64, when("lt %t,40", "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" + mark(2), LATE), "aligned, a part of the threads", grid=2, cluster=2)
row("cluster_and_bar", 64, when("eq %w,0", C + mark(2), "bar.sync 0;" + mark(3)), "one warp at the cluster barrier, the other at bar.sync", grid=2, cluster=2)

# ---- mbarriers ----
INIT = "mov.u32 %r3,buf; setp.eq.u32 %p2,%t,0; @%p2 mbarrier.init.shared.b64 [%r3],64; bar.sync 0;"
W = lambda: (lambda l: f"{l}: mbarrier.try_wait.parity.shared.b64 %p3,[%r3],0; @!%p3 bra {l};")(label())
TW = lambda: (lambda l: f"{l}: mbarrier.test_wait.parity.shared.b64 %p3,[%r3],0; @!%p3 bra {l};")(label())
A = "mbarrier.arrive.shared.b64 _,[%r3];"
row("mbar_all", 64, INIT + A + W() + mark(2), "all arrive and wait")
row("mbar_some_end", 64, INIT + when("lt %t,40", A + W() + mark(2)), "threads 0 to 39 arrive, the others end")
row("mbar_some_test", 64, INIT + when("lt %t,40", A + TW() + mark(2)), "the same with test_wait")
row("mbar_drop", 64, INIT + when("lt %t,40", A + W() + mark(2), LATE + "mbarrier.arrive_drop.shared.b64 _,[%r3];" + mark(3)), "the others drop out")
row("mbar_tx", 64, INIT + when("eq %t,0", "mbarrier.arrive.expect_tx.shared.b64 _,[%r3],64;", A) + W() + mark(2), "64 bytes are expected and do not come")


def ptx():
    text = [".version 8.0\n.target sm_90a\n.address_size 64\n"]
    for name, grid, block, cluster, what, body, functions in rows:
        text.append(functions)
        text.append(f"""// {what}
.visible .entry {name}(.param .u64 o,.param .u64 f)
{{
 .reg .b32 %t,%l,%w,%c,%e,%s,%v,%z,%sh,%sx,%r<8>; .reg .b64 %out,%g,%a<4>; .reg .pred %p<8>;
 .shared .align 16 .b8 buf[2048];
 mov.u32 %t,%tid.x; and.b32 %l,%t,31; shr.u32 %w,%t,5; mov.u32 %c,%ctaid.x; and.b32 %e,%t,1;
 ld.param.u64 %out,[o]; ld.param.u64 %g,[f]; mad.lo.u32 %r0,%c,256,%t; mul.wide.u32 %a0,%r0,4; add.u64 %out,%out,%a0;
 ld.global.u32 %z,[%g+128]; mov.u32 %sh,buf; mad.lo.u32 %sh,%t,4,%sh; xor.b32 %sx,%t,32; mov.u32 %r0,buf; mad.lo.u32 %sx,%sx,4,%r0;
 {mark(1)}
 {body}
 ret;
}}
""")
    return "".join(text)


def main():
    folder = sys.argv[1]
    with open(f"{folder}/table.ptx", "w", encoding="ascii") as f:
        f.write(ptx())
    with open(f"{folder}/table.tsv", "w", encoding="ascii") as f:
        for name, grid, block, cluster, what, _, _ in rows:
            f.write(f"{name}\t{grid}\t{block}\t{cluster}\t{what}\n")


main()
