# launches.awk - makes the launch files of the corpus from the lines `//!` of its kernels.
#
#     awk -v out=FOLDER -f launches.awk seeds.tsv launches.jsonl kernels/*.cu
#
# A line stands before a kernel, its parts divided by ` | `:
#
#     //! NAME GRID BLOCK [SHARED] | PART | PART ...
#
# GRID and BLOCK are X, X,Y or X,Y,Z, SHARED the bytes of dynamic shared memory. Each PART is an argument of the kernel, in order:
#
#     s KIND VALUE            a scalar
#     KIND:COUNT[:LO:HI]      a buffer of random values; without LO:HI from the whole range of integers, or from 0 to 1
#     iota KIND:COUNT         a buffer of 0, 1, 2 ...
#     inout KIND:COUNT[...]   a buffer of random values whose bytes afterwards are a result
#     out KIND:COUNT          a buffer of zeros whose bytes afterwards are a result; `zero` says the same of one that is also read
#     scratch KIND:COUNT      a buffer of zeros that is no result
#     {...}                   an argument as it stands in a launch file
#
# or a word: `unordered`, the result depends on the order of the threads, so that its bytes are not compared; `cooperative`, the
# blocks may wait for each other.
#
# Every buffer of random values gets the next seed. seeds.tsv has the first seed of each file. launches.jsonl has the launches that
# were written by hand, one a line.

function dimensions(word,  d, n) {
    n = split(word, d, ",")
    return "[" d[1] ", " (n > 1 ? d[2] : 1) ", " (n > 2 ? d[3] : 1) "]"
}

function buffer(word, limits,  p, n, init) {
    n = split(limits, p, ":")
    if (word == "out" || word == "zero" || word == "scratch") init = "{\"const\": 0}"
    else if (word == "iota") init = "\"iota\""
    else init = "{\"hash\": " seed++ (n > 2 ? ", \"lo\": " p[3] ", \"hi\": " p[4] : "") "}"
    return "{\"buffer\": \"" p[1] "\", \"count\": " p[2] ", \"init\": " init \
        ", \"output\": " (word == "out" || word == "zero" || word == "inout" ? "true" : "false") "}"
}

FILENAME ~ /seeds\.tsv$/ {
    first[$1] = $2
    next
}

FILENAME ~ /\.jsonl$/ {
    match($0, /"name": "[^"]*"/)
    file = out "/" substr($0, RSTART + 9, RLENGTH - 10) ".json"
    print >file
    close(file)
    next
}

FNR == 1 {
    module = FILENAME
    gsub(/.*\/|\.(cu|ptx)$/, "", module)
    seed = first[module]
}

/^\/\/!/ {
    sub(/\r$/, "")
    n = split(substr($0, 4), part, / \| /)
    split(part[1], head, " ")
    ordered = "true"
    cooperative = arguments = ""
    for (k = 2; k <= n; k++) {
        gsub(/^ +| +$/, "", part[k])
        words = split(part[k], word, " ")
        if (word[1] == "unordered") { ordered = "false"; continue }
        if (word[1] == "cooperative") { cooperative = ", \"cooperative\": true"; continue }
        if (substr(part[k], 1, 1) == "{") text = part[k]
        else if (word[1] == "s") text = "{\"scalar\": \"" word[2] "\", \"value\": " word[3] "}"
        else text = buffer(word[1], word[words])
        arguments = arguments (arguments == "" ? "" : ", ") text
    }
    file = out "/" head[1] ".json"
    printf "{\"name\": \"%s\", \"ptx\": \"../kernels/%s.ptx\", \"entry\": \"%s\", \"grid\": %s, \"block\": %s, ", \
        head[1], module, head[1], dimensions(head[2]), dimensions(head[3]) >file
    printf "\"dynamic_shared\": %d, \"deterministic\": %s, \"tags\": [\"%s\"]%s, \"args\": [%s]}\n", \
        head[4], ordered, module, cooperative, arguments >file
    close(file)
}
