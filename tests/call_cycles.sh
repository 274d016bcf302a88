#!/bin/sh
# call_cycles.sh - no cyclic dependence spans more than three source files: the strongly connected components of the build's object files.
#
# An object depends on another if it references one of its symbols. Objects compiled from one source with several sets of flags count as
# one. Their symbols end in the name of the set, so that none is defined twice. Skipped without nm, or if the objects have no symbols
# (link-time optimisation).
command -v nm >/dev/null 2>&1 || { echo "1..0 # SKIP no nm"; exit 0; }
most=3
for folder in arch base check cli compiler cudart emu isa lib litmus memmodel ptx traces; do
    test -d "$folder" && find "$folder" -name '*.o'
done >circles.tmp
xargs nm -A <circles.tmp 2>/dev/null | awk -v most=$most '
    function file_of(object) {
        sub(/:.*/, "", object)
        sub(/[a-z0-9_]*-/, "", object)
        sub(/\.o$/, ".c", object)
        return object
    }
    # Tarjan: numbers the components reachable from v that have no number yet.
    function visit(v, n, k, w, text, to) {
        number[v] = low[v] = ++visited
        stack[++top] = v
        on_stack[v] = 1
        n = split(uses[v], to, SUBSEP)
        for (k = 2; k <= n; k++) {
            w = to[k]
            if (!(w in number)) {
                visit(w)
                if (low[w] < low[v]) low[v] = low[w]
            } else if (on_stack[w] && number[w] < low[v]) low[v] = number[w]
        }
        if (low[v] != number[v]) return
        n = 0
        do {
            w = stack[top--]
            on_stack[w] = 0
            text = text " " w
            n++
        } while (w != v)
        if (n > largest) largest = n
        if (n > 1) components++
        if (n > most) {
            bad++
            print "# " n " files call each other:" text
        }
    }
    {
        file = file_of($1)
        if ($1 ~ /libpl_exec_base_a-/ && $(NF - 1) ~ /^[TDBR]$/ && $NF !~ /_base$/) {
            print "# " $NF " of " file " has no suffix"
            unsuffixed++
        }
        files[file] = 1
        if ($(NF - 1) ~ /^[TDBRV]$/) owner[$NF] = file
        else if ($(NF - 1) == "U") { named[++nnamed] = $NF; by[nnamed] = file }
    }
    END {
        for (k = 1; k <= nnamed; k++) {
            to = owner[named[k]]
            if (to == "" || to == by[k] || (by[k] SUBSEP to) in edge) continue
            edge[by[k], to] = 1
            edges++
            uses[by[k]] = uses[by[k]] SUBSEP to
        }
        for (file in files) nfiles++
        if (edges < 100) { print "1..0 # SKIP the objects of the build have no symbols"; exit }
        for (file in files) if (!(file in number)) visit(file)
        print "1..2"
        print (bad ? "not ok" : "ok") " 1 - " nfiles " files, " edges " edges, " components + 0 " cycles of at most " largest " files"
        print (unsuffixed ? "not ok" : "ok") " 2 - symbols of files compiled for several instruction sets differ"
    }'
rm -f circles.tmp
