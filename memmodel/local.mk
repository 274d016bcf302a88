# memmodel: ports, caches, crossbar, DRAM: knows requests, never warps or opcodes. Depends on base.
# To add a file: libptxloom_la_SOURCES += memmodel/NAME.c memmodel/NAME.h
# To add a unit test: unit_tests += tests/unit/test_NAME
