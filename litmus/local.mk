# litmus: litmus tests and the axioms of the PTX memory model. Depends on base only.
libptxloom_a_SOURCES += litmus/litmus.h litmus/parse.c litmus/outcome.c litmus/axioms.c litmus/sc.c
unit_tests += tests/unit/test_litmus
