# ptx: lexer, parser, names and types, lowering to the machine program. Depends on isa and base.
# To add a file: libptxloom_la_SOURCES += ptx/NAME.c ptx/NAME.h    A unit test: unit_tests += tests/unit/test_NAME
# The grammar: ptx/lex.l and ptx/parse.y; the C files that flex and bison make of them go into `make dist`.
libptxloom_la_SOURCES += \
	ptx/ast.h ptx/internal.h ptx/operand.h ptx/plain.h ptx/print.h \
	ptx/lex.l ptx/parse.y \
	ptx/names.c ptx/number.c ptx/expr.c ptx/module.c ptx/decl.c ptx/func.c \
	ptx/section.c ptx/plain.c ptx/stmt.c ptx/operand.c ptx/video.c ptx/call.c ptx/print.c
BUILT_SOURCES += ptx/parse.h
libptxloom_la_SOURCES += ptx/link.c ptx/link.h ptx/callgraph.c ptx/callgraph.h ptx/lower.c ptx/lower.h ptx/assemble.c ptx/assemble.h ptx/shared.c ptx/shared.h ptx/variables.c ptx/variables.h
unit_tests += tests/unit/test_ptx tests/unit/test_plain
