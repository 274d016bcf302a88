# traces: events into SQLite files, and the views that read them. Depends on isa and base.
# To add a file: libptxloom_la_SOURCES += traces/NAME.c traces/NAME.h
# To add a unit test: unit_tests += tests/unit/test_NAME
