# scratch.sh - the prologue of a test script that runs ptxloom in its own folder: sourced, not run.
#
# Sets $loom (the command) and $root (the source tree), both absolute, changes to a new folder that is removed at the end, and
# sets n, the number of tests, to 0.
LC_ALL=C
export LC_ALL
loom=${PTXLOOM:-$PWD/ptxloom}
case $srcdir in /*) root=$srcdir ;; *) root=$PWD/$srcdir ;; esac
PTXLOOM_ARCH_PATH=$root/arch
export PTXLOOM_ARCH_PATH
scratch=$(mktemp -d "${TMPDIR:-/tmp}/ptxloom-$(basename "$0" .sh).XXXXXX") || exit 99
trap 'chmod -R u+w "$scratch"; rm -rf "$scratch"' EXIT
cd "$scratch" || exit 99
n=0

# One test: passes if the preceding command succeeded.
test_that() # WHAT
{
    verdict=$?
    n=$((n + 1))
    if [ $verdict -eq 0 ]; then echo "ok $n - $1"; else
        echo "not ok $n - $1"
        sed 's/^/# /' out said
    fi
}
# Runs ptxloom; true if it exits with STATUS. Its output is in the files `out` and `said`.
status() # STATUS ARGUMENTS...
{
    wanted=$1
    shift
    "$loom" "$@" >out 2>said
    found=$?
    [ $found -eq "$wanted" ] || { echo "status $found, not $wanted" >>said; return 1; }
}
