# doc: pages in Markdown, installed as they are. Sessions that they show are run by tests/docs.c.
dist_doc_DATA += README.md doc/tour.md doc/architecture.md doc/building.md doc/numerics.md doc/ptxas-differences.md doc/testing.md
dist_doc_DATA += doc/adding-a-component.md doc/accuracy.md doc/accuracy.svg
dist_doc_DATA += doc/life-of-a-launch.md doc/adding-an-instruction.md
dist_doc_DATA += doc/labs.md doc/objects.md doc/assembler.md doc/textures-and-tensors.md doc/streams.md
dist_doc_DATA += doc/report.md doc/report.svg
dist_doc_DATA += doc/probes.md
dist_doc_DATA += doc/faults.md
dist_doc_DATA += doc/warp-width.md
dist_doc_DATA += doc/memory-consistency.md doc/checkers.md
dist_doc_DATA += doc/glossary.md doc/python.md

# The schema of launch files, for editors; generated from the table of keys.
dist_doc_DATA += doc/launch.schema.json
EXTRA_DIST += doc/launch_schema.awk
schema:
	$(AWK) -f $(srcdir)/doc/launch_schema.awk $(srcdir)/lib/data/element_type.c $(srcdir)/lib/launch/launch_keys.def \
		>$(srcdir)/doc/launch.schema.json
.PHONY: schema
