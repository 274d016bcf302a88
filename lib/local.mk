# lib: the public interface of include/ptxloom.h, the only place that joins the parts.
# To add a file: libptxloom_la_SOURCES += lib/NAME.c
# The public header is installed as PREFIX/include/ptxloom/ptxloom.h, with the headers of base that it needs beside
# it (pkgincludebase_HEADERS, in base/local.mk); ptxloom.pc gives the -I flag.
pkginclude_HEADERS += include/ptxloom.h
