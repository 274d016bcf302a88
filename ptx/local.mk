# ptx: lexer, parser, names and types, lowering to the machine program. Depends on isa and base.
# To add a file: libptxloom_la_SOURCES += ptx/NAME.c ptx/NAME.h    A unit test: unit_tests += tests/unit/test_NAME
# The grammar: libptxloom_la_SOURCES += ptx/lex.l ptx/parse.y and BUILT_SOURCES += ptx/parse.h (automake runs
# flex and bison -d; the C files go into `make dist`). Generated code that -Wconversion objects to gets a
# `#pragma GCC diagnostic ignored` in the prologue of the .l or .y file itself.
