# man: hand-written pages go to dist_man_MANS; pages that the build generates to nodist_man_MANS and CLEANFILES.
dist_man_MANS += man/ptxloom.1 man/ptxloom-arch.5
