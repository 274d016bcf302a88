# python: the module over the shared library. What C declares is what the module declares: _library.py is made from the
# installed headers.
if PL_PYTHON
ptxloompythondir = $(pythondir)/ptxloom
dist_ptxloompython_DATA = python/ptxloom/__init__.py
nodist_ptxloompython_DATA = python/ptxloom/_library.py
endif
python/ptxloom/_library.py: $(pkginclude_HEADERS) $(pkgincludebase_HEADERS) $(srcdir)/python/declarations.sh
	$(AM_V_GEN)$(MKDIR_P) python/ptxloom && $(SHELL) $(srcdir)/python/declarations.sh '$(CC)' $(srcdir) $(libdir)/$(so_name) \
	  $(pkglibdir)/ptxloom_trace.so $(PACKAGE_VERSION) >$@.tmp && mv $@.tmp $@
all_files += python/ptxloom/_library.py
CLEANFILES += python/ptxloom/_library.py
EXTRA_DIST += python/declarations.sh tests/python.sh tests/python_module.py
installed_tests += tests/python.sh
