#!/bin/sh
# wave64.sh - warps of 64 lanes: their traces and figures, which do not depend on the number of host threads.
#
# Results are compared elsewhere: tests/suite_wide (the recorded kernels) and tests/ptx/exec/wave64. The page about it: doc/warp-width.md.
srcdir=${srcdir:-.}
. "$srcdir/tests/scratch.sh"

# equal WHAT EXPECTED TEXT
equal() {
    n=$((n + 1))
    if [ "$2" = "$3" ]; then
        echo "ok $n - $1"
    else
        echo "not ok $n - $1"
        printf 'expected: %s\n     got: %s\n' "$2" "$3" | sed 's/^/#   /'
    fi
}

query() {
    "$loom" query "$1" --csv "$2" | tail -n +2 | tr '\n' ';'
}

# sides ARCH BIT OPTION ...: 3 blocks of 136 threads; in the last 64-lane warp one half has 8 threads and the other
# none.
sides() {
    arch=$1 bit=$2
    shift 2
    "$loom" run "$root/examples/width.ptx" -k sides -g 3 -b 136 'out:u32[136]=0' "u32:$bit" --arch "$arch" "$@"
}

on=smsp__thread_inst_executed_pred_on.sum
for mode in functional timing; do
    for format in rows packed; do
        db=$mode-$format.db
        sides wave64 32 --mode $mode --trace $db --trace-level mem --trace-format $format >said
        equal "$mode, $format: warps and lanes" '9,64;' "$(query $db 'SELECT warps, (SELECT count(*) FROM lane) FROM kernel')"
        equal "$mode, $format: lanes of a mask" '0;' \
            "$(query $db 'SELECT count(*) FROM inst WHERE lanes <> (SELECT count(*) FROM lane WHERE mask >> lane & 1)')"
        equal "$mode, $format: diverged at lane 32" '-4294967296;-1;255;4294967295;' \
            "$(query $db 'SELECT DISTINCT mask FROM inst WHERE lanes > 0 ORDER BY mask')"
        equal "$mode, $format: each half stores separately" '0,4294967295,6;0,255,3;32,-4294967296,6;' \
            "$(query $db 'SELECT first_lane, mask, count(*) FROM mem GROUP BY 1, 2 ORDER BY 1, 2 DESC')"
        equal "$mode, $format: every thread stores its word" '136,0,540,3;' \
            "$(query $db 'SELECT count(DISTINCT a), min(a), max(a), min(n) FROM (SELECT address - (SELECT min(address) FROM mem_lane) AS a, count(*) AS n FROM mem_lane GROUP BY 1)')"
        equal "$mode, $format: the same sums" '1;' \
            "$(query $db "SELECT (SELECT sum(lanes) FROM pc_stat) = coalesce((SELECT value FROM counter WHERE name = '$on'), (SELECT thread_inst_executed FROM kernel))")"
    done
done

# Addresses without a stride: a list by lane, which starts at lane 0 for both halves.
cat >gather.ptx <<'END'
.version 8.0
.target sm_80
.address_size 64
.visible .entry k(.param .u64 out)
{
    .reg .u32 %t, %v;
    .reg .u64 %offset, %out;
    mov.u32 %t, %tid.x;
    mul.lo.u32 %v, %t, %t;
    and.b32 %v, %v, 63;
    ld.param.u64 %out, [out];
    mul.wide.u32 %offset, %v, 4;
    add.u64 %out, %out, %offset;
    ld.global.u32 %v, [%out];
    st.global.u32 [%out], %v;
    ret;
}
END
for format in rows packed; do
    "$loom" run gather.ptx -g 1 -b 64 'u32[64]=0' --arch wave64 --trace g-$format.db --trace-level mem --trace-format $format >said
    equal "$format: lists of addresses" '32,0,2;64,32,2;' \
        "$(query g-$format.db 'SELECT json_array_length(offsets), first_lane, count(*) FROM mem GROUP BY 2 ORDER BY 2')"
    equal "$format: addresses by lane" '0;' "$(query g-$format.db \
        'SELECT count(*) FROM mem_lane WHERE address - (SELECT min(address) FROM mem_lane) <> 4 * (lane * lane % 64)')"
done

figures='cycles|inst_executed|sha256'
equal 'results do not depend on host threads' "$(sides wave64 32 --json | grep -E "$figures")" "$(sides wave64 32 --json --threads 3 | grep -E "$figures")"
"$loom" report timing-rows.db -o report.html >said 2>&1
equal 'a report with 64-lane warps' 0 $?
echo "1..$n"
