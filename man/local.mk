# man: hand-written pages go to dist_man_MANS; pages that the build generates to nodist_man_MANS and CLEANFILES.
dist_man_MANS += man/ptxloom.1 man/ptxloom-exec.1 man/ptxloom-arch.5 man/ptxloom-litmus.5

# The reference pages say what `ptxloom explain` says.
nodist_man_MANS = man/ptxloom-isa.7 man/ptxloom-diag.7
CLEANFILES += man/ptxloom-isa.7 man/ptxloom-diag.7
EXTRA_DIST += man/reference.sh
man/ptxloom-isa.7: ptxloom$(EXEEXT) $(srcdir)/man/reference.sh $(isa_tables) ptx/directives.def
	$(AM_V_GEN)$(MKDIR_P) man && $(SHELL) $(srcdir)/man/reference.sh isa ./ptxloom$(EXEEXT) $(srcdir) >$@.tmp && mv $@.tmp $@
man/ptxloom-diag.7: ptxloom$(EXEEXT) $(srcdir)/man/reference.sh base/diag.def
	$(AM_V_GEN)$(MKDIR_P) man && $(SHELL) $(srcdir)/man/reference.sh diag ./ptxloom$(EXEEXT) $(srcdir) >$@.tmp && mv $@.tmp $@
