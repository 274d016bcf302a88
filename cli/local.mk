# cli: the ptxloom command. Uses include/ptxloom.h only. An own LDADD keeps libcheck out of the command.
# To add a command: cli/cmd_NAME.c here, its function in cli.h, a row in main.c.
bin_PROGRAMS += ptxloom
ptxloom_SOURCES = cli/main.c cli/cli.h cli/options.c cli/output.c cli/stop.c cli/stop.h \
	cli/cmd_run.c cli/run.h cli/run_json.c cli/run_text.c cli/run_summary.c cli/cmd_check.c cli/cmd_dis.c cli/cmd_fmt.c cli/cmd_explain.c \
	cli/cmd_query.c cli/cmd_report.c cli/cmd_diff.c cli/cmd_export.c cli/perfetto.c cli/perfetto.h cli/cmd_shell.c cli/query.h \
	cli/query_out.c cli/query_out.h cli/terminal.c cli/terminal.h
ptxloom_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEDIT_CFLAGS)
ptxloom_LDADD = libptxloom.la $(SQLITE_LIBS) $(LIBEDIT_LIBS)
ptxloom_SOURCES += cli/cmd_exec.c cli/cmd_as.c cli/cmd_occupancy.c cli/cmd_litmus.c
unit_tests += tests/cli/test_cli
