# scratch.sh - the beginning of a test script that runs ptxloom in a folder of its own: sourced, not run.
#
# Sets $loom (the command) and $root (the source tree), both absolute, goes into a fresh folder that is removed at the end, and
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
