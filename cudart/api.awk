# api.awk - generates an output from cudart/api.def; -v what=code|header|map|doc|driver selects it.
function fail(text) { printf "api.def:%d: %s\n", NR, text > "/dev/stderr"; failed = 1; exit 1 }

# The names of the arguments, for the call.
function names(args, n, part, k, out, word) {
    if (args == "void" || args == "") return ""
    n = split(args, part, ",")
    out = ""
    for (k = 1; k <= n; k++) {
        word = part[k]
        sub(/^.*[ *]/, "", word)
        out = out (k > 1 ? ", " : "") word
    }
    return out
}

# Entry point `from`, exported as `name` in these versions.
function export(name, from, versions, n, v, k, bits) {
    n = split(versions, v, ",")
    bits = 0
    for (k = 1; k <= n; k++) {
        bits += v[k] == "13" ? 4 : v[k] == "12" ? 2 : 1
        globals[v[k]] = globals[v[k]] " " name ";"
        if (what != "code") continue
        printf "__typeof__(%s) %s_v%s __attribute__((alias(\"%s\"), visibility(\"default\")));\n", from, from, v[k], from
        printf "__asm__(\".symver %s_v%s, %s%s%s\");\n", from, v[k], name, v[k] == "13" ? "@@" : "@", node[v[k]]
    }
    if (kind == "refuse") bits += 8
    table = table sprintf("    {\"%s\", %d, (void *)(uintptr_t)%s},\n", name, bits, from)
}

function wrapper(variant, name, full, from, way) {
    full = name (variant == "" ? "" : "_" variant)
    from = "rt_" full suffix
    if (what == "code") {
        printf "\n%s %s(%s)\n{\n", result, from, kind == "refuse" ? "void" : args
        if (kind == "refuse")
            printf "    return cuda_refused(\"%s\", \"%s\");\n", full, note
        else if (entry == "raw")
            printf "    %spl_%s(%s);\n", result == "void" ? "" : "return ", implementation, names(args)
        else {
            way = how[entry]
            if (entry ~ /^driver/ && args ~ /void \*stream(,|$)/) way = "cuda_stream_enters(stream, " how[entry == "driver" ? "handle" : "handle+"] ")"
            printf "    int error = cuda_enter%s(\"%s\", %s, %s);\n", of_driver ? "_driver" : "", full, way, variant == "" ? "false" : "true"
            printf "    if (!error) error = pl_%s(%s);\n", implementation, names(args)
            print of_driver ? "    return cuda_leave_driver(error);" : "    return cuda_leave(error);"
        }
        print "}"
    }
    if (what == "driver" && name ~ /^cu[A-Z]/) printf "STUB(%s)\n", full
    export(full, from, versions)
}

BEGIN {
    how["query"] = "CUDA_QUERY"; how["query+"] = "CUDA_QUERY_ANYWHERE"; how["work"] = "CUDA_WORK"; how["data"] = "CUDA_DATA"; how["work+"] = "CUDA_WORK_ANYWHERE"; how["late"] = "CUDA_EMPTY"; how["late+"] = "CUDA_EMPTY_ANYWHERE"
    how["driver"] = "CUDA_IN_CONTEXT"; how["driver-"] = "CUDA_OF_CONTEXT"; how["handle"] = "CUDA_BY_HANDLE"; how["system"] = "CUDA_INITIALISED"
    how["driver+"] = how["driver"]; how["handle+"] = "CUDA_BY_HANDLE_ANYWHERE"; how["system-"] = "CUDA_BY_PROGRAM"; how["loader"] = "CUDA_ALWAYS"
    globals["13"] = " InitializeInjectionNvtx2;" # nvtx.c
    node["13"] = "libcudart.so.13"; node["12"] = "libcudart.so.12"; node["11"] = "libcudart.so.11.0"
    if (what == "code") print "/* Made from cudart/api.def. */\n#include \"cudart/state.h\"\n#pragma GCC diagnostic ignored \"-Wmissing-prototypes\""
    if (what == "header") print "/* Made from cudart/api.def. */\ntypedef void cuda_host_fn(void *arg);\ntypedef size_t cuda_shared_fn(int threads);\ntypedef void cuda_callback_fn(void *stream, int status, void *arg);\n"
}
BEGIN {
    if (what == "driver") { # link-time library; CUDA_ERROR_STUB_LIBRARY
        print "/* Made from cudart/api.def. */\n#pragma GCC diagnostic ignored \"-Wmissing-prototypes\""
        print "#define STUB(name) int name(void) { return 34; }"
    }
    if (what == "doc") {
        print "# CUDA calls in ptxloom, one by one\n"
        print "This page lists every entry point of the runtime and of the driver of CUDA 13. *Exact*: as the documentation of CUDA says, as far as a program can tell"
        print "from results; times are modelled. *Approximate*: with the difference that stands beside it. *Refused*: the call answers"
        print "`cudaErrorNotSupported`, and the first time a sentence on standard error says so. Calls with a `_ptsz` or `_ptds` twin"
        print "have it here, too. This page is made from `cudart/api.def`; [cuda-programs.md](cuda-programs.md) tells how to run programs."
    }
}
/^#/ || /^ *$/ { next }
/^== / {
    if (what == "doc") printf "\n## %s\n\n| entry point | how | |\n| --- | --- | --- |\n", substr($0, 4)
    next
}
{
    line = $0
    note = ""
    if ((at = index(line, " ; ")) > 0) { note = substr(line, at + 3); line = substr(line, 1, at - 1) }
    kind = $1; entry = $2; variant = $3
    if (kind != "exact" && kind != "approx" && kind != "refuse") fail("the line begins with exact, approx or refuse")
    if (entry != "raw" && !(entry in how)) fail("the second word is raw, query, query+, work, data, work+, late, late+, driver, driver+, driver-, handle, handle+, system, system- or loader")
    of_driver = entry ~ /^(driver|handle|system|loader)/
    if (kind != "exact" && note == "") fail("approx and refuse need a note")
    open = index(line, "(")
    if (!open || substr(line, length(line)) != ")") fail("no signature")
    args = substr(line, open + 1, length(line) - open - 1)
    head = substr(line, 1, open - 1)
    sub(/^[^ ]+ +[^ ]+ +[^ ]+ +/, "", head)
    name = head
    sub(/^.* /, "", name)
    result = substr(head, 1, length(head) - length(name) - 1)
    versions = of_driver ? "13" : "11,12,13"
    suffix = ""
    implementation = ""
    if ((at = index(name, "=")) > 0) {
        implementation = substr(name, at + 1)
        name = substr(name, 1, at - 1)
    }
    if ((at = index(name, "@")) > 0) {
        versions = substr(name, at + 1)
        name = substr(name, 1, at - 1)
        suffix = versions ~ /13/ ? "" : versions ~ /12/ ? "_12" : "_11"
    }
    if (seen[name suffix]++) fail(name " stands there twice")
    count[kind]++
    if (implementation == "") implementation = name suffix; 
    if (what == "header" && kind != "refuse" && implementation == name suffix) printf "%s pl_%s%s(%s);\n", result, name, suffix, args
    if (what == "doc") printf "| `%s`%s | %s | %s |\n", name, versions == "11,12,13" || of_driver ? "" : " (" versions ")", kind == "approx" ? "approximate" : kind == "refuse" ? "refused" : "exact", note
    wrapper("", name)
    if (variant != "-") wrapper(variant, name)
}
END {
    if (failed) exit 1
    if (what == "map") # host_clock.c and signals.c
        print "GLIBC_2.2.5 {\n    global: gettimeofday; time; _exit; _Exit;\n};\nGLIBC_2.17 {\n    global: clock_gettime; gettimeofday; time; _exit; _Exit;\n};\nGLIBC_2.24 {\n    global: quick_exit;\n};"
    if (what == "map")
        for (k = 12; k <= 13; k++) { # nvrtc.c, nvjitlink.c
            printf "libnvrtc.so.%d {\n    global: nvrtcGetCUBIN; nvrtcGetCUBINSize;\n};\n", k
            printf "libnvJitLink.so.%d {\n    global: nvJitLink*; __nvJitLink*;\n};\n", k
        }
    if (what == "map")
        for (k = 11; k <= 13; k++)
            printf "%s {\n    global:%s\n%s};\n", node[k ""], globals[k ""], k == 13 ? "    local: *;\n" : ""
    if (what == "code")
        printf "\nconst cuda_entry_point cuda_entry_points[] = {\n%s};\nconst size_t cuda_entry_point_count = sizeof cuda_entry_points / sizeof *cuda_entry_points;\n", table
}
