# cli: the ptxloom command. Uses include/ptxloom.h only.
# To begin: bin_PROGRAMS += ptxloom, ptxloom_SOURCES = cli/main.c cli/NAME.c ..., ptxloom_LDADD = libptxloom.la
# (an own LDADD keeps libcheck out of the command).
