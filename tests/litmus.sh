#!/bin/sh
# litmus.sh - the outcomes of programs are exactly those that the PTX memory model allows.
#
#   examples/*.ptx                 kernels with all their fences produce the same bytes under both consistencies, kernels without them do not
#   tests/litmus/NAME.litmus       strong consistency gives only outcomes of interleavings of the threads; weak consistency everything
#                                  that the axioms allow, unless the test gives a reason; and the condition holds as the axioms require
#   tests/litmus/bad/NAME.litmus   rejected with the message and position in its first line: // LINE:COLUMN ID
#
# To add a test, add a file.
srcdir=${srcdir:-.}
. "$srcdir/tests/scratch.sh"

report() {
    n=$((n + 1))
    if [ "$1" -eq 0 ]; then
        echo "ok $n - $2"
    else
        echo "not ok $n - $2"
        sed 's/^/#   /' said
    fi
}

for file in "$root"/tests/litmus/*.litmus; do
    "$loom" litmus --strict -q --runs 512 "$file" >said 2>&1
    report $? "$(basename "$file" .litmus)"
done

# Reordering by an assembler is allowed, too.
"$loom" litmus -O2 -q --consistency weak --runs 256 "$root"/tests/litmus/*.litmus >said 2>&1
report $? "all at -O2"

# sum KERNEL OPTION ...: the checksum of an example's output.
sum() {
    file=$1
    shift
    case $file in
    *.json) "$loom" run "$file" --mode functional "$@" ;;
    *) "$loom" run "$file" -g 100 -b 1 'u32[100]=0' 'u32[1]=0' 'out:u32[1]=0' --mode functional "$@" ;;
    esac 2>said | sed -n 's/.*sha256 //p'
}

cp "$root"/examples/tensor_copy.json .
for name in last_block.ptx tensor_copy.json; do
    kernel=${name%.*}.ptx
    for fences in with without; do
        if [ $fences = with ]; then cp "$root/examples/$kernel" .; else grep -v fence "$root/examples/$kernel" >"$kernel"; fi
        strong=$(sum $name)
        for more in "--schedule random:1" "--schedule random:2" "--async late"; do
            weak=$(sum $name --consistency weak $more)
            if [ $fences = with ]; then [ "$weak" = "$strong" ]; else [ "$weak" != "$strong" ]; fi && [ -n "$weak" ]
            report $? "$kernel $fences its fences, $more"
        done
    done
done

for file in "$root"/tests/litmus/bad/*.litmus; do
    read -r _ place id <"$file"
    "$loom" litmus "$file" >said 2>&1
    status=$?
    [ "$status" -eq 2 ] || echo "exit status $status, not 2" >>said
    grep -q "^$file:$place: error: .*\[$id\]$" said || status=1
    [ "$(grep -c ': error: ' said)" -eq 1 ] || status=1
    report $((status != 2)) "bad/$(basename "$file" .litmus)"
done
echo "1..$n"
