# traces: events into SQLite files, and the views that read them. Depends on isa and base.
#
# The schema, the metric views (metrics.list) and the named queries (queries/NAME.sql) are text that
# embed.awk turns into traces/gen_sql.c. To add a metric, add a line; to add a query, add a file.
# To add a file: libptxloom_a_SOURCES += traces/NAME.c traces/NAME.h
# To add a unit test: unit_tests += tests/unit/test_NAME
libptxloom_a_SOURCES += traces/trace.h traces/tracedb.h traces/writer.c traces/statement.c traces/db_template.c traces/sql_texts.c traces/db_open.h traces/db_open.c traces/trace_open.c traces/listing.c traces/sass_opcode.c traces/event_rows.c traces/application_rows.c traces/unit_timeline.c traces/filter.c \
	traces/pack/event_blocks.c traces/pack/format.h traces/pack/column_encode.c traces/pack/column_decode.c traces/vtab.h traces/vtab.c
nodist_libptxloom_a_SOURCES += traces/gen_sql.c traces/gen_template.c

traces/gen_sql.c: $(srcdir)/traces/schema.sql $(srcdir)/traces/rows.sql $(srcdir)/traces/packed.sql $(srcdir)/traces/migrate.sql \
		$(srcdir)/traces/metrics.list $(srcdir)/traces/embed.awk \
		$(srcdir)/traces/rules $(wildcard $(srcdir)/traces/rules/*.sql) $(srcdir)/traces/queries $(wildcard $(srcdir)/traces/queries/*.sql)
	$(AM_V_GEN)$(MKDIR_P) traces && cd $(srcdir) && \
	LC_ALL=C $(AWK) -f traces/embed.awk traces/schema.sql traces/rows.sql traces/packed.sql traces/migrate.sql traces/metrics.list traces/rules/*.sql traces/queries/*.sql \
		>"$(abs_top_builddir)/$@.tmp" && mv "$(abs_top_builddir)/$@.tmp" "$(abs_top_builddir)/$@"

# An empty trace, of which every new trace is a copy. A program run on the build machine creates it.
# In a cross build the SQLite of the target is unknown, and traces create their tables at run time.
traces_template_sources = traces/make_template.c traces/db_template.c traces/sql_texts.c traces/db_open.c
if PL_CROSS
traces/gen_template.c: traces/gen_sql.c
	$(AM_V_GEN)printf '#include "traces/tracedb.h"\nconst unsigned char pl_tracedb_template[1];\nconst size_t pl_tracedb_template_bytes = 0;\n' >$@
else
traces_maketemplate = traces/maketemplate$(BUILD_EXEEXT)
$(traces_maketemplate): $(addprefix $(srcdir)/,$(traces_template_sources)) $(srcdir)/traces/tracedb.h $(srcdir)/traces/db_open.h traces/gen_sql.c
	$(AM_V_CC)$(CC_FOR_BUILD) -std=c17 -O1 -g -D_XOPEN_SOURCE=700 -I$(srcdir) $(SQLITE_CFLAGS) -o $@ \
		$(addprefix $(srcdir)/,$(traces_template_sources)) traces/gen_sql.c $(SQLITE_LIBS)
traces/gen_template.c: $(traces_maketemplate)
	$(AM_V_GEN)$(traces_maketemplate) $@.db >$@.tmp && mv $@.tmp $@
CLEANFILES += $(traces_maketemplate)
endif
CLEANFILES += traces/gen_template.c traces/gen_template.c.tmp
EXTRA_DIST += traces/make_template.c

# The report: a page of its own files, with panels.sql in it, as C strings (report/embed.awk).
libptxloom_a_SOURCES += traces/line_diff.c traces/line_diff.h traces/report/report.c traces/report/report.h traces/report/timeline.c \
	traces/report/accesses.c traces/report/detail.h traces/report/bytes.c traces/report/bytes.h
nodist_libptxloom_a_SOURCES += traces/gen_report.c
report_files = traces/report/panels.sql traces/report/report.html traces/report/style.css traces/report/base.js \
	traces/report/application.js traces/report/overview.js traces/report/timeline.js traces/report/source.js traces/report/memory.js traces/report/page.js
traces/gen_report.c: traces/report/embed.awk $(report_files)
	$(AM_V_GEN)$(MKDIR_P) traces && cd $(srcdir) && \
	LC_ALL=C $(AWK) -f traces/report/embed.awk $(report_files) \
		>"$(abs_top_builddir)/$@.tmp" && mv "$(abs_top_builddir)/$@.tmp" "$(abs_top_builddir)/$@"
CLEANFILES += traces/gen_report.c traces/gen_report.c.tmp
EXTRA_DIST += traces/report/embed.awk $(report_files)
CLEANFILES += traces/gen_sql.c traces/gen_sql.c.tmp
EXTRA_DIST += traces/schema.sql traces/rows.sql traces/packed.sql traces/migrate.sql traces/metrics.list traces/embed.awk traces/rules traces/queries

# The module with which other programs read packed traces. Libtool would build it only with shared libraries enabled.
loadabledir = $(libdir)/ptxloom
loadable_DATA = ptxloom_trace.so
loadable_sources = base/array.c traces/sqlite_extension.c traces/vtab.c traces/pack/column_decode.c
ptxloom_trace.so: $(addprefix $(srcdir)/,$(loadable_sources)) $(srcdir)/base/array.h $(srcdir)/traces/local.mk $(srcdir)/traces/vtab.h $(srcdir)/traces/pack/format.h
	$(AM_V_CCLD)$(CC) -shared -fPIC -DPL_LOADABLE $(DEFS) $(AM_CPPFLAGS) $(CPPFLAGS) $(AM_CFLAGS) $(CFLAGS) $(LDFLAGS) \
		$(filter %.c,$^) -o $@
EXTRA_DIST += traces/sqlite_extension.c
CLEANFILES += ptxloom_trace.so
unit_tests += tests/unit/test_trace tests/unit/test_packed
unit_tests += tests/unit/test_trace_query
tests_unit_test_trace_query_SOURCES = tests/unit/test_trace_query.c cli/cmd_query.c cli/query_out.c cli/terminal.c cli/options.c cli/output.c cli/stop.c
tests_unit_test_trace_query_LDADD = $(LDADD) $(SQLITE_LIBS)
dist_man_MANS += man/ptxloom-trace.5
dist_doc_DATA += doc/sql-cookbook.md
