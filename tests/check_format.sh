#!/bin/sh
# check_format.sh - findings in the format of compute-sanitizer, its exit statuses, and filtering of findings. The kernels are
# those of tests/check; similar bugs were run under compute-sanitizer 2025.3.1 on an H100 (2026-11).
set -u
. "$srcdir/tests/scratch.sh"

# lines STATUS ARGUMENTS... <<END: the lines of the output that begin with ===
lines()
{
    n=$((n + 1))
    wanted_status=$1
    shift
    cat >wanted
    "$loom" run "$@" --mode functional --check-format compute-sanitizer >out 2>err
    status=$?
    grep '^=====' out >found
    if [ $status -eq "$wanted_status" ] && cmp -s wanted found; then echo "ok $n - $*"; else
        echo "not ok $n - $*"
        echo "# status $status, expected $wanted_status"
        diff wanted found | sed 's/^/# /'
        sed 's/^/# /' err
    fi
}
# finds STATUS NUMBER ARGUMENTS...: this many errors and warnings
finds()
{
    n=$((n + 1))
    wanted_status=$1
    wanted=$2
    shift 2
    "$loom" run "$@" --mode functional >out 2>err
    status=$?
    found=$(grep -cE '(error|warning): kernel' err)
    if [ $status -eq "$wanted_status" ] && [ "$found" -eq "$wanted" ]; then echo "ok $n - $*"; else
        echo "not ok $n - $*"
        echo "# status $status, expected $wanted_status; $found findings, expected $wanted"
        sed 's/^/# /' err
    fi
}

cp "$root"/tests/check/*.ptx .

lines 0 memory.ptx -k beyond -g 2 -b 64 'out:s32[100]' s32:100 --check mem <<'END'
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at beyond+0x80 in memory.cu:6
=========     by thread (36,0,0) in block (1,0,0)
=========     Access to 0x7fa000001390 is out of bounds
=========     and is 1 bytes after the nearest allocation at 0x7fa000001200 of size 400 bytes
========= 
========= ERROR SUMMARY: 28 errors
========= ERROR SUMMARY: 27 errors were not printed. Use --print-limit option to adjust the number of printed errors
END
lines 0 memory.ptx -k askew -g 1 -b 8 'u8[64]' --check mem <<'END'
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at askew+0x80 in memory.cu:34
=========     by thread (1,0,0) in block (0,0,0)
=========     Access to 0x7fa000001202 is misaligned
=========     and is inside the nearest allocation at 0x7fa000001200 of size 64 bytes
========= 
========= ERROR SUMMARY: 4 errors
========= ERROR SUMMARY: 3 errors were not printed. Use --print-limit option to adjust the number of printed errors
END
lines 0 memory.ptx -k tile_end -g 1 -b 32 'out:s32[32]' --check mem <<'END'
========= COMPUTE-SANITIZER
========= Invalid __shared__ write of size 4 bytes
=========     at tile_end+0x70 in memory.cu:45
=========     by thread (31,0,0) in block (0,0,0)
=========     Access to 0x480 is out of bounds
========= 
========= ERROR SUMMARY: 1 error
END
lines 1 memory.ptx -k freed_twice -g 1 -b 1 'out:s32[32]' --check mem <<'END'
========= COMPUTE-SANITIZER
========= Malloc/Free Error encountered : Device-side double free
=========     at freed_twice+0x110 in memory.cu:85
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7fa000002400
========= 
========= Target application returned an error
========= ERROR SUMMARY: 1 error
END
lines 7 memory.ptx -k leak -g 1 -b 2 'out:s32[32]' --check mem --error-exitcode 7 <<'END'
========= COMPUTE-SANITIZER
========= Leaked 32 bytes on the device heap
========= 
========= LEAK SUMMARY: 32 bytes leaked in 2 allocations
========= ERROR SUMMARY: 1 error
END
lines 0 races.ptx -k reverse -g 1 -b 64 'out:s32[64]' 's32[64]=iota' --check race <<'END'
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at reverse+0xc0 in races.cu:8
=========     and Read access at reverse+0xd0 in races.cu:9 [256 hazards]
========= 
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
END
lines 0 races.ptx -k flag -g 2 -b 64 'out:s32[8]' 's32[128]=iota' --check race <<'END'
========= COMPUTE-SANITIZER
========= Warning: Race reported between Write access at flag+0xe0 in races.cu:62
=========     and Write access at flag+0xe0 in races.cu:62 [252 hazards]
========= 
========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
END
lines 0 races.ptx -k reverse_ok -g 1 -b 64 'out:s32[64]' 's32[64]=iota' --check race,mem --error-exitcode 5 <<'END'
========= COMPUTE-SANITIZER
========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)
========= ERROR SUMMARY: 0 errors
END
lines 5 races.ptx -k reverse -g 1 -b 64 'out:s32[64]' 's32[64]=iota' --check race --error-exitcode 5 <<'END'
========= COMPUTE-SANITIZER
========= Error: Race reported between Write access at reverse+0xc0 in races.cu:8
=========     and Read access at reverse+0xd0 in races.cu:9 [256 hazards]
========= 
========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)
END
lines 0 init.ptx -k counter -g 1 -b 32 's32[1]' 'out:s32[32]' --check init <<'END'
========= COMPUTE-SANITIZER
========= Uninitialized __global__ memory read of size 4 bytes
=========     at counter+0x90 in init.cu:43
=========     by thread (0,0,0) in block (0,0,0)
=========     Address 0x7fa000001200
========= 
========= ERROR SUMMARY: 1 error
END
lines 0 sync.ptx -k mask -g 1 -b 32 'out:s32[32]' --check sync <<'END'
========= COMPUTE-SANITIZER
========= Barrier error detected. Invalid arguments.
=========     at mask+0x40 in sync.cu:6
=========     by thread (16,0,0) in block (0,0,0)
========= 
========= ERROR SUMMARY: 1 error
END
lines 0 sync.ptx -k no_init -g 1 -b 32 'out:s32[32]' --check sync <<'END'
========= COMPUTE-SANITIZER
========= Barrier error detected. Missing init.
=========     at no_init+0x80 in sync.cu:93
=========     by thread (0,0,0) in block (0,0,0)
========= 
========= ERROR SUMMARY: 1 error
END

# filtering of findings
finds 1 3 races.ptx -k histogram -g 2 -b 64 'out:s32[8]' 's32[128]=iota' --check race
finds 0 0 races.ptx -k histogram -g 2 -b 64 'out:s32[8]' 's32[128]=iota' --check race --check-kernel 'rev*'
finds 1 3 races.ptx -k histogram -g 2 -b 64 'out:s32[8]' 's32[128]=iota' --check race --check-kernel 'hist*'
cat >known.txt <<'END'
# the counts are deliberately wrong
race-raw  hist*
race-same-value * races.cu:50
END
finds 1 1 races.ptx -k histogram -g 2 -b 64 'out:s32[8]' 's32[128]=iota' --check race --suppressions known.txt
echo 'race-* *' >>known.txt
finds 0 0 races.ptx -k histogram -g 2 -b 64 'out:s32[8]' 's32[128]=iota' --check race --suppressions known.txt
finds 2 0 races.ptx -k histogram -g 2 -b 64 'out:s32[8]' 's32[128]=iota' --check race --suppressions nothing.txt
finds 9 3 races.ptx -k histogram -g 2 -b 64 'out:s32[8]' 's32[128]=iota' --check race --error-exitcode 9
finds 0 0 races.ptx -k histogram_ok -g 2 -b 64 'out:s32[8]=0' 's32[128]=iota' --check all --error-exitcode 9
finds 0 0 tensor.ptx -k ring -g 1 -b 64 --arch b200 'u32[32]=iota' 'out:u32[64]=0' --check all --error-exitcode 9
finds 0 0 tensor.ptx -k relaxed -g 2 -b 64 --cluster 2 --arch b200 'out:u32[1]=0' --check all --error-exitcode 9

# a race that only another order of lanes shows
finds 0 0 races.ptx -k last_lane -g 1 -b 32 'out:s32[1]=0' 'out:s32[1]' --check race
finds 1 1 races.ptx -k last_lane -g 1 -b 32 'out:s32[1]=0' 'out:s32[1]' --check race --schedules 4
finds 0 0 races.ptx -k last_lane_ok -g 1 -b 32 'out:s32[1]=0' 'out:s32[1]' --check race --schedules 16

# uninitialised shared memory through a generic address of 32 bits
cat >narrow.ptx <<'END'
.version 7.0
.target sm_52
.address_size 32
.visible .entry k(.param .u32 out)
{
    .shared .align 4 .b8 s[256];
    .reg .u32 %o, %s, %v; .reg .pred %p;
    ld.param.u32 %o, [out];
    mov.u32 %s, s;
    cvta.shared.u32 %s, %s;
    ld.u32 %v, [%s+4];
    setp.eq.u32 %p, %v, 3;
    @%p st.global.u32 [%o], %v;
    ret;
}
END
finds 1 1 narrow.ptx -k k -g 1 -b 1 'out:u32[1]=0' --check init

# grids that device code launches: the parent writes after the launch, or reads what the child writes; two children are concurrent
cat >grids.ptx <<'END'
.version 9.0
.target sm_90
.address_size 64
.extern .func (.param .b64 buffer) cudaGetParameterBuffer(.param .b64 alignment, .param .b64 size);
.extern .func (.param .b32 error) cudaLaunchDevice(.param .b64 kernel, .param .b64 buffer, .param .align 4 .b8 grid[12], .param .align 4 .b8 block[12], .param .b32 shared, .param .b64 stream);
.visible .entry child(.param .u64 o)
{
    .reg .b64 %o; .reg .b32 %t;
    ld.param.u64 %o, [o];
    ld.global.u32 %t, [%o];
    st.global.u32 [%o+4], %t;
    ret;
}
.func start(.param .b64 o, .param .b64 stream)
{
    .reg .b64 %o, %b, %k, %s;
    ld.param.u64 %o, [o]; ld.param.u64 %s, [stream];
    { .param .b64 alignment; .param .b64 size; .param .b64 buffer;
      st.param.b64 [alignment], 64; st.param.b64 [size], 8;
      call (buffer), cudaGetParameterBuffer, (alignment, size); ld.param.b64 %b, [buffer]; }
    st.u64 [%b], %o; mov.u64 %k, child;
    { .param .b64 kernel; .param .b64 buffer; .param .align 4 .b8 grid[12]; .param .align 4 .b8 block[12]; .param .b32 shared; .param .b64 stream; .param .b32 result;
      st.param.b64 [kernel], %k; st.param.b64 [buffer], %b;
      st.param.b32 [grid], 1; st.param.b32 [grid+4], 1; st.param.b32 [grid+8], 1;
      st.param.b32 [block], 1; st.param.b32 [block+4], 1; st.param.b32 [block+8], 1;
      st.param.b32 [shared], 0; st.param.b64 [stream], %s;
      call (result), cudaLaunchDevice, (kernel, buffer, grid, block, shared, stream); }
    ret;
}
.visible .entry parent(.param .u64 o, .param .u64 stream, .param .u32 at, .param .u64 second)
{
    .reg .b64 %o, %a, %s; .reg .b32 %t; .reg .pred %p;
    ld.param.u64 %o, [o]; ld.param.u64 %s, [stream]; ld.param.u32 %t, [at];
    st.global.u32 [%o], 7;
    { .param .b64 a; .param .b64 b; st.param.b64 [a], %o; st.param.b64 [b], %s; call start, (a, b); }
    mul.wide.u32 %a, %t, 4; add.u64 %a, %o, %a;
    st.global.u32 [%a], 8;
    ld.param.u64 %s, [second]; setp.eq.u64 %p, %s, 9; @%p ret;
    { .param .b64 a; .param .b64 b; st.param.b64 [a], %o; st.param.b64 [b], %s; call start, (a, b); }
    ret;
}
END
finds 0 0 grids.ptx -k parent -g 1 -b 1 'out:s32[4]' u64:0 u32:3 u64:9 --check race
finds 1 1 grids.ptx -k parent -g 1 -b 1 'out:s32[4]' u64:0 u32:0 u64:9 --check race
finds 1 1 grids.ptx -k parent -g 1 -b 1 'out:s32[4]' u64:0 u32:1 u64:9 --check race
finds 0 0 grids.ptx -k parent -g 1 -b 1 'out:s32[4]' u64:3 u32:0 u64:9 --check race
finds 0 0 grids.ptx -k parent -g 1 -b 1 'out:s32[4]' u64:0 u32:3 u64:0 --check race
finds 0 0 grids.ptx -k parent -g 1 -b 1 'out:s32[4]' u64:4 u32:3 u64:3 --check race
finds 0 1 grids.ptx -k parent -g 1 -b 1 'out:s32[4]' u64:4 u32:3 u64:4 --check race
finds 1 4 grids.ptx -k parent -g 2 -b 1 'out:s32[4]' u64:0 u32:3 u64:9 --check race

# a dependent grid that does not wait
cp "$root/examples/overlap.json" .
sed 's/griddepcontrol.wait;//' "$root/examples/overlap.ptx" >overlap.ptx
finds 1 1 overlap.json --check race
n=$((n + 1))
if grep -q "of another grid ('look_up') reads it" err && grep -q 'cudaGridDependencySynchronize() first' err; then echo "ok $n - the other grid"; else
    echo "not ok $n - the other grid"
    sed 's/^/# /' err
fi
cp "$root/examples/overlap.ptx" .
finds 0 0 overlap.json --check race

# findings in a trace
n=$((n + 1))
"$loom" run races.ptx -k histogram -g 2 -b 64 'out:s32[8]' 's32[128]=iota' --check race --mode functional --trace found.db >out 2>err
"$loom" query found.db "SELECT f.tool || '-' || f.kind, i.ptx_line > 0, f.line, f.other_line, f.block_x >= 0, f.other_thread_x >= 0, f.count > 0
    FROM finding f JOIN kernel k ON k.id = f.kernel JOIN instruction i ON i.module = k.module AND i.pc = f.pc ORDER BY 1, f.line, f.other_line" --csv >rows 2>&1
"$loom" query found.db findings --csv >named 2>&1
if [ "$(grep -c '^race-[a-z-]*,1,[0-9]*,[0-9]*,1,1,1' rows)" -eq 3 ] && [ "$(grep -c ',race-.*races.cu:50,races.cu:50,' named)" -eq 3 ]; then
    echo "ok $n - findings in a trace"
else
    echo "not ok $n - findings in a trace"
    sed 's/^/# /' err rows named
fi

echo "1..$n"
