# ptx: lexer, parser, names and types, lowering to the machine program. Depends on isa and base.
# To add a file: libptxloom_la_SOURCES += ptx/NAME.c ptx/NAME.h    A unit test: unit_tests += tests/unit/test_NAME
# The grammar: ptx/parse/lex.l and ptx/parse/parse.y; the C files that flex and bison make of them go into `make dist`.
libptxloom_la_SOURCES += \
	ptx/ast.h ptx/internal.h ptx/sema/operand_check.h ptx/parse/fast_path.h ptx/format.h \
	ptx/parse/lex.l ptx/parse/parse.y \
	ptx/sema/symbols.c ptx/parse/number.c ptx/parse/expression.c ptx/parse/parser.c ptx/parse/lex_support.c ptx/sema/module.c ptx/sema/declaration.c ptx/sema/function.c \
	ptx/parse/debug_section.c ptx/parse/fast_path.c ptx/sema/message_text.c ptx/sema/version_check.c ptx/sema/statement.c ptx/sema/operand_address.c ptx/sema/operand_check.c ptx/sema/operand_parts.h ptx/sema/operand_value.c ptx/sema/operand_vector.c ptx/sema/video_modifiers.c ptx/sema/call_check.c ptx/format.c
BUILT_SOURCES += ptx/parse/parse.h
libptxloom_la_SOURCES += ptx/lower/link.c ptx/lower/link.h ptx/lower/call_graph.c ptx/lower/call_graph.h ptx/lower/lower.c ptx/lower/lower.h ptx/lower/assemble.c ptx/lower/assemble.h ptx/lower/shared_layout.c ptx/lower/shared_layout.h ptx/lower/constant_layout.c ptx/lower/constant_layout.h
unit_tests += tests/unit/test_ptx tests/unit/test_plain
