# cudart: the CUDA runtime for programs built by nvcc. Uses include/ptxloom.h only.
# To add an entry point: a line in cudart/api.def, and the function pl_NAME in one of the files.
# The library is a separate shared object, which programs load in place of NVIDIA's, with the same symbol names and versions,
# so it is linked like a program, by a separate rule. Its constructors run before those of all other libraries (initfirst).
if PL_CUDART
cudartdir = $(pkglibdir)
cudart_PROGRAMS = cudart/libptxloom_cuda.so
pkgconfig_DATA += ptxloom-cuda.pc
cudart_sources = \
	cudart/abi.h cudart/activity.c cudart/advice.c cudart/allocation.c cudart/array.c cudart/attribute.c cudart/attribute_store.c \
	cudart/batch.c cudart/blocked_event.c cudart/blocked_stream.c cudart/caller.c cudart/capture_rules.c cudart/checked.c \
	cudart/clock.c cudart/clock_keys.def cudart/code_info.c cudart/concurrent_kernels.c cudart/copy.c cudart/device.c \
	cudart/driver.c cudart/driver_array.c cudart/driver_context.c cudart/driver_graph.c cudart/driver_memory.c \
	cudart/driver_module.c cudart/driver_versions.def cudart/entry_point.c cudart/errors.c cudart/fatbin.c cudart/graph.c \
	cudart/graph.h cudart/graph_capture.c cudart/graph_condition.c cudart/graph_dot.c cudart/graph_edges.c cudart/graph_exec.c \
	cudart/graph_launch.c cudart/graph_memory.c cudart/graph_nodes.c cudart/graph_objects.c cudart/graph_update.c \
	cudart/green_context.c cudart/green_context.h cudart/happens_before.c cudart/host_clock.c cudart/host_race.c \
	cudart/host_thread.c cudart/image.c cudart/image.h cudart/kernel.c cudart/kernel_run.c cudart/launch.c cudart/linker.c \
	cudart/linker_input.c cudart/logs.c cudart/memory.c cudart/memory_name.c cudart/migrate.c cudart/module.c cudart/module_cache.c \
	cudart/nvjitlink.c cudart/nvrtc.c cudart/nvtx.c cudart/options.c cudart/patch.c cudart/peer.c cudart/pool.c \
	cudart/properties.def cudart/runtime.c cudart/set_launch.c cudart/signals.c cudart/sparse_array.c cudart/state.c cudart/activity.h cudart/blocked.h cudart/checking.h cudart/clock.h cudart/state.h \
	cudart/stream.c cudart/stream_memory.c cudart/stream_op.c cudart/stream_race.c cudart/stream_time.c cudart/suspended_kernel.c \
	cudart/suspended_kernel.h cudart/table.c cudart/tensor_map.c cudart/texture_reference.c cudart/timing.c cudart/transfer.c cudart/virtual_memory.c \
	cudart/wait_value.c
cudart_libptxloom_cuda_so_SOURCES = $(cudart_sources)
nodist_cudart_libptxloom_cuda_so_SOURCES = cudart/gen_api.c
cudart_libptxloom_cuda_so_CFLAGS = $(AM_CFLAGS) -fPIC -fvisibility=hidden
cudart_libptxloom_cuda_so_LINK = $(CC) $(AM_CFLAGS) $(CFLAGS) -shared -Wl,-soname,libcudart.so.13 -Wl,-z,now -Wl,-z,initfirst \
	-Wl,--version-script=cudart/gen_versions.map $(LDFLAGS) -o $@
cudart_libptxloom_cuda_so_LDADD = $(loom) $(LIBS) -ldl -lm
cudart_libptxloom_cuda_so_DEPENDENCIES = libptxloom.a cudart/gen_versions.map
cudart_names = libcudart.so libcudart.so.13 libcudart.so.12 libcudart.so.11.0 libcuda.so.1
# A program that is linked with -lcuda must also run with NVIDIA's driver. So libcuda.so, for which it is linked, has the driver's
# SONAME and its symbols without versions. It is a filter: when a program opens it, the symbols are those of the library.
cudart_PROGRAMS += cudart/libcuda.so
cudart_libcuda_so_SOURCES =
nodist_cudart_libcuda_so_SOURCES = cudart/gen_driver.c
cudart_libcuda_so_CFLAGS = $(AM_CFLAGS) -fPIC
cudart_libcuda_so_LINK = $(CC) $(AM_CFLAGS) $(CFLAGS) -shared -Wl,-soname,libcuda.so.1 -Wl,-F,libcudart.so.13 -Wl,-rpath,'$$ORIGIN' $(LDFLAGS) -o $@
cudart_libcuda_so_LDADD =

cudart_generate = $(AM_V_GEN)$(MKDIR_P) cudart && $(AWK) -f $(srcdir)/cudart/api.awk -v what
cudart/gen_api.h: $(srcdir)/cudart/api.def $(srcdir)/cudart/api.awk
	$(cudart_generate)=header $(srcdir)/cudart/api.def >$@.tmp && mv $@.tmp $@
cudart/gen_api.c: $(srcdir)/cudart/api.def $(srcdir)/cudart/api.awk
	$(cudart_generate)=code $(srcdir)/cudart/api.def >$@.tmp && mv $@.tmp $@
cudart/gen_driver.c: $(srcdir)/cudart/api.def $(srcdir)/cudart/api.awk
	$(cudart_generate)=driver $(srcdir)/cudart/api.def >$@.tmp && mv $@.tmp $@
cudart/gen_versions.map: $(srcdir)/cudart/api.def $(srcdir)/cudart/api.awk
	$(cudart_generate)=map $(srcdir)/cudart/api.def >$@.tmp && mv $@.tmp $@
BUILT_SOURCES += cudart/gen_api.h
CLEANFILES += cudart/gen_api.h cudart/gen_api.c cudart/gen_driver.c cudart/gen_versions.map

# Names by which programs load the library.
all_files += cudart/names
cudart/names: cudart/libptxloom_cuda.so
	$(AM_V_GEN)for n in $(cudart_names); do ln -sf libptxloom_cuda.so cudart/$$n || exit 1; done; touch $@
CLEANFILES += cudart/names cudart/libcudart.so cudart/libcudart.so.13 cudart/libcudart.so.12 cudart/libcudart.so.11.0 cudart/libcuda.so.1
cuda-api-update:
	$(AWK) -v what=doc -f $(srcdir)/cudart/api.awk $(srcdir)/cudart/api.def >$(srcdir)/doc/cuda-api.md
# A program like those of nvcc, linked to the library.
check_PROGRAMS += tests/cudart/app
tests_cudart_app_SOURCES = tests/cudart/app.c tests/cudart/app_clock.c tests/cudart/app_nvtx.c tests/cudart/app_graph.c tests/cudart/app_memory.c tests/cudart/app_devices.c tests/cudart/app_check.c tests/cudart/app_api.c tests/cudart/app_values.c tests/cudart/app_driver.c tests/cudart/app.h
tests_cudart_app_LDADD = cudart/libptxloom_cuda.so -lm
tests_cudart_app_DEPENDENCIES = cudart/names
tests_cudart_app_LINK = $(CC) $(AM_CFLAGS) $(CFLAGS) $(LDFLAGS) -o $@
install-data-hook:
	for n in $(cudart_names); do ln -sf libptxloom_cuda.so $(DESTDIR)$(cudartdir)/$$n || exit 1; done
extra_installed += $(cudart_names:%=$(cudartdir)/%)
endif
EXTRA_DIST += cudart/api.def cudart/api.awk
noinst_HEADERS += include/exec_options.def
dist_doc_DATA += doc/cuda-programs.md doc/cuda-api.md
EXTRA_DIST += tests/cudart/findings.txt
