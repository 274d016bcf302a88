# memmodel: ports, caches, crossbar, DRAM: operates on requests, not on warps or opcodes. Depends on base.
# To add a file: libptxloom_a_SOURCES += memmodel/NAME.c memmodel/NAME.h
# To add a unit test: unit_tests += tests/unit/test_NAME
libptxloom_a_SOURCES += \
	memmodel/cache.c memmodel/cache.h \
	memmodel/coalescer.c memmodel/coalescer.h \
	memmodel/fast_division.h \
	memmodel/dram.c memmodel/dram.h \
	memmodel/l1.c memmodel/l1.h \
	memmodel/memsys.c memmodel/memsys_parts.h memmodel/timing_wheel.c memmodel/crossbar.c memmodel/l2_slice.c memmodel/atomic_unit.c memmodel/mshr.c memmodel/mshr.h memmodel/memsys.h \
	memmodel/page_faults.c memmodel/page_faults.h \
	memmodel/port.h memmodel/request.h \
	memmodel/tlb.c memmodel/tlb.h
unit_tests += tests/unit/test_mem_parts tests/unit/test_mem_system
