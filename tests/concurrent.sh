#!/bin/sh
# concurrent.sh - prints the paths of the recorded launches whose blocks or threads communicate.
#
#     concurrent.sh [PATTERN]
#
# Their kernels, or a function in the same file, use atomic operations, fences, asynchronous copies or clusters. PATTERN: only launch
# files whose paths match. Called by tsan.sh and determinism.sh in the build folder.
for folder in "${srcdir:-.}/tests/data/suite" tests/corpus; do
    {
        awk '
            FNR == 1 { kernel = ""; beside = 0 }
            /\.(entry|func) / {
                kernel = $0
                sub(/^.*\.(entry|func) *(\([^)]*\) *)?/, "", kernel)
                sub(/[^A-Za-z0-9_$].*/, "", kernel)
                if ($0 ~ /\.func /) kernel = "*"
            }
            /atom\.|[^a-z]red\.|cp\.async|cp\.reduce|st\.async|cluster|\.acquire|\.release|membar|fence\./ { if (kernel != "") print "uses", FILENAME, kernel }
        ' "$folder"/kernels/*.ptx | sort -u
        grep -H -o -E '"(ptx|entry)": *"[^"]*"' "$folder"/cases/*.json | sed 's/: *"/ /g; s/:"/ /; s/"//g; s/^/case /'
    } | awk -v folder="$folder" -v pattern="${1:-.}" '
        $1 == "uses" { uses[$2 " " $3] = 1; next }
        $3 == "ptx" { ptx[$2] = $4; sub(/^\.\./, folder, ptx[$2]) }
        $3 == "entry" && $2 ~ pattern {
            if ((ptx[$2] " " $4) in uses || (ptx[$2] " *") in uses) print $2
        }'
done
