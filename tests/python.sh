#!/bin/sh
# python.sh - the Python module, with the library of this build tree. Skipped if there is no Python with cffi and numpy.
set -u
build=$PWD
if grep -q 'fsanitize=' "$build/config.log"; then echo "1..0 # SKIP a build with sanitizers"; exit 0; fi
for python in "${PYTHON:-python3}" /usr/bin/python3; do
    if "$python" -c 'import cffi, numpy' 2>/dev/null; then
        folder=$(mktemp -d) || exit 1
        trap 'rm -rf "$folder"' EXIT
        mkdir "$folder/ptxloom"
        cp "$srcdir/python/ptxloom/__init__.py" "$build/python/ptxloom/_library.py" "$folder/ptxloom/" || exit 1
        root=$(cd "$srcdir" && pwd)
        export PTXLOOM_LIBRARY="$build/libptxloom.so.1" PTXLOOM_EXTENSION="$build/ptxloom_trace.so" PYTHONPATH="$folder" PYTHONDONTWRITEBYTECODE=1
        cd "$folder" && exec "$python" "$root/tests/python_module.py" "$root"
    fi
done
echo "1..0 # SKIP no Python with cffi and numpy"
