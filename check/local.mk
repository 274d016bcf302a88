# check: the checkers of `ptxloom run --check`. emu/exec notifies them of events; lib/check.c converts findings to messages.
libptxloom_a_SOURCES += check/check.c check/check.h check/internal.h check/synchronisation.c check/sync_places.c check/sync_places.h check/race.c check/race.h check/race_async.c check/race_cluster.c check/compare_swap.c check/device_launch.c check/wgmma_operands.c check/texels.c check/findings.c check/mem.c check/sync.c \
	check/vector_clock.c check/vector_clock.h check/shadow.c check/shadow.h \
	check/init.c check/init.h check/init_follow.c check/init_memory.c check/init_rules.c check/validity.c check/validity.h check/undefined.c check/undefined.h check/accessed_ranges.c check/watch.c check/wgmma_registers.c
