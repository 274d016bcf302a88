# cli: the ptxloom command. Uses include/ptxloom.h only. A separate LDADD keeps libcheck out of the command.
# To add a command: cli/cmd_NAME.c here, its function in cli.h, a row in main.c.
bin_PROGRAMS += ptxloom
ptxloom_SOURCES = cli/main.c cli/cli.h cli/options.c cli/output.c cli/stop.c cli/stop.h \
	cli/cmd_run.c cli/run.h cli/run_words.c cli/run_json.c cli/run_text.c cli/run_summary.c cli/cmd_check.c cli/cmd_dis.c cli/cmd_fmt.c cli/cmd_explain.c \
	cli/cmd_query.c cli/cmd_report.c cli/cmd_diff.c cli/cmd_export.c cli/perfetto.c cli/perfetto.h cli/cmd_shell.c cli/query.h \
	cli/query_out.c cli/query_out.h cli/terminal.c cli/terminal.h
ptxloom_CPPFLAGS = $(AM_CPPFLAGS) $(LIBEDIT_CFLAGS)
ptxloom_LDADD = $(loom) $(LIBEDIT_LIBS)
ptxloom_SOURCES += cli/cmd_exec.c cli/cmd_as.c cli/cmd_occupancy.c cli/cmd_litmus.c
unit_tests += tests/cli/test_cli

# The revision for `ptxloom --version`: of the checkout, or the file `revision` of an archive (dist-hook).
cli/gen_revision.h: force
	@$(MKDIR_P) cli && printf '#define CLI_REVISION "%s"\n' "$$(cat $(srcdir)/revision 2>/dev/null || \
	  { test -e $(srcdir)/.git && git -C $(srcdir) rev-parse --short=10 HEAD; } 2>/dev/null)" >$@.tmp && \
	  if cmp -s $@.tmp $@; then rm $@.tmp; else mv $@.tmp $@; fi
force:
.PHONY: force
BUILT_SOURCES += cli/gen_revision.h
CLEANFILES += cli/gen_revision.h
dist-hook:
	{ cat $(srcdir)/revision 2>/dev/null || git -C $(srcdir) rev-parse --short=10 HEAD 2>/dev/null || true; } >$(distdir)/revision

# Completion for three shells, generated from the output of `ptxloom COMMAND --help`.
completions = cli/completion/ptxloom cli/completion/_ptxloom cli/completion/ptxloom.fish
$(completions): ptxloom$(EXEEXT) $(srcdir)/cli/completion.sh $(srcdir)/cli/completion.awk
	$(AM_V_GEN)$(MKDIR_P) cli/completion && $(SHELL) $(srcdir)/cli/completion.sh ./ptxloom$(EXEEXT) $(srcdir) $@ >$@.tmp && mv $@.tmp $@
bashcompletiondir = $(datadir)/bash-completion/completions
nodist_bashcompletion_DATA = cli/completion/ptxloom
zshcompletiondir = $(datadir)/zsh/vendor-completions
nodist_zshcompletion_DATA = cli/completion/_ptxloom
fishcompletiondir = $(datadir)/fish/vendor_completions.d
nodist_fishcompletion_DATA = cli/completion/ptxloom.fish
CLEANFILES += $(completions)
EXTRA_DIST += cli/completion.sh cli/completion.awk
