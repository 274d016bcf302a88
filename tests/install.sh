#!/bin/sh
# install.sh - checks the results of `make install`: the command, linking with the libraries as documented, completion, and
# that `make uninstall` leaves nothing.
set -u
build=$PWD
. "$srcdir/tests/scratch.sh"
unset PTXLOOM_ARCH_PATH # the installed machines are found without it
: >out
if grep -q 'fsanitize=' "$build/config.log"; then echo "1..0 # SKIP a build with sanitizers"; exit 0; fi
unset MAKEFLAGS MFLAGS MAKELEVEL
make -s -C "$build" install DESTDIR="$scratch/root" >said 2>&1
test_that "make install"
prefix=$scratch/root$(sed -n 's/^prefix=//p' "$build/ptxloom.pc")
lib=$(dirname "$(find "$scratch/root" -name libptxloom.so)")
bin=$(dirname "$(find "$scratch/root" -path '*bin/ptxloom')")
share=$(dirname "$(find "$scratch/root" -path '*/ptxloom/examples')")

# --- programs

export PKG_CONFIG_PATH="$lib/pkgconfig"
flags() { pkg-config --define-variable=prefix="$prefix" "$@" ptxloom; }
cat >"$scratch/prog.c" <<'C'
#include <ptxloom.h>
#include <stdio.h>
static const char ptx[] = ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k(.param .u64 out) {\n"
                          ".reg .b32 r; .reg .b64 p; ld.param.u64 p, [out]; mov.u32 r, %tid.x; mad.wide.u32 p, r, 4, p;\n"
                          "st.global.u32 [p], r; ret; }\n";
int main(void)
{
    pl_gpu *gpu;
    pl_module *m;
    pl_ptr x;
    pl_launch l = {"k", {1, 1, 1}, {32, 1, 1}};
    pl_result r;
    unsigned v[32];
    if (pl_gpu_open(&gpu, "h200") != PL_OK || pl_module_load(gpu, "k.ptx", ptx, sizeof ptx - 1, NULL, &m) != PL_OK ||
        pl_alloc_device(gpu, sizeof v, "x", &x) != PL_OK)
        return 1;
    l.params = &x;
    l.param_bytes = sizeof x;
    l.mode = PL_MODE_TIMING;
    if (pl_launch_kernel(gpu, m, &l, &r) != PL_OK || pl_copy_from_device(gpu, v, x, sizeof v) != PL_OK) return 1;
    printf("%u %d\n", v[31], r.cycles > 0);
    pl_module_close(m);
    pl_gpu_close(gpu);
    return 0;
}
C
cp "$scratch/prog.c" "$scratch/prog.cc"
# shellcheck disable=SC2046 # one word per flag
cc -o "$scratch/shared" "$scratch/prog.c" $(flags --cflags --libs) >said 2>&1 &&
    [ "$(LD_LIBRARY_PATH=$lib "$scratch/shared")" = "31 1" ]
test_that "cc prog.c \$(pkg-config --cflags --libs ptxloom)"
# shellcheck disable=SC2046
cc -o "$scratch/static" "$scratch/prog.c" $(flags --cflags) "$lib/libptxloom.a" $(flags --static --libs | sed 's/-lptxloom//') >said 2>&1 &&
    [ "$("$scratch/static")" = "31 1" ]
test_that "the static library"
if command -v c++ >/dev/null 2>&1; then
    # shellcheck disable=SC2046
    c++ -Wno-missing-field-initializers -o "$scratch/cpp" "$scratch/prog.cc" $(flags --cflags --libs) >said 2>&1 &&
        [ "$(LD_LIBRARY_PATH=$lib "$scratch/cpp")" = "31 1" ]
    test_that "c++ prog.cc \$(pkg-config --cflags --libs ptxloom)"
fi

if [ -f "$lib/pkgconfig/ptxloom-cuda.pc" ]; then
    echo 'int cudaGetDeviceCount(int *); int main(void) { int n = 0; return cudaGetDeviceCount(&n) || n != 1; }' >"$scratch/device.c"
    # shellcheck disable=SC2046
    cc -o "$scratch/device" "$scratch/device.c" $(pkg-config --define-variable=prefix="$prefix" --libs ptxloom-cuda) >said 2>&1 && "$scratch/device" >>said 2>&1
    test_that "cc prog.c \$(pkg-config --libs ptxloom-cuda)"
fi

# --- command, examples, labs, manual pages

(cd "$share/examples" && "$bin/ptxloom" run matmul.json) >said 2>&1 && grep -q cycles said
test_that "an installed example"
[ -s "$share/labs/rows.tsv" ] && [ -n "$(find "$scratch/root" -name ptxloom.1)" ] && [ -n "$(find "$scratch/root" -name ptxloom-isa.7)" ]
test_that "labs and manual pages"
"$bin/ptxloom" --version >said && grep -q '^ptxloom [0-9.]*' said && grep -q '^machines: .*h200' said
test_that "the version and the machines"

# --- completion

complete() # WORD... : the completions that bash offers for the last one
{
    bash -c 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ptxloom 2>/dev/null; echo "${COMPREPLY[@]}"' \
        "$scratch/root$(sed -n 's/^datarootdir = //p; ' "$build/Makefile" | head -1 | sed "s|\${prefix}|$(sed -n 's/^prefix=//p' "$build/ptxloom.pc")|")/bash-completion/completions/ptxloom" "$@"
}
if command -v bash >/dev/null 2>&1; then
    [ "$(complete ptxloom oc)" = occupancy ] && [ "$(complete ptxloom run --mode '')" = "timing functional" ] &&
        [ "$(complete ptxloom run --arch h2)" = h200 ] && [ "$(complete ptxloom query --advi)" = --advise ]
    test_that "completion in bash"
fi
for shell in zsh fish; do
    command -v $shell >/dev/null 2>&1 || continue
    $shell -n "$(find "$scratch/root" -name "$([ $shell = zsh ] && echo _ptxloom || echo ptxloom.fish)")" >said 2>&1
    test_that "completion in $shell"
done

make -s -C "$build" uninstall DESTDIR="$scratch/root" >said 2>&1
find "$scratch/root" ! -type d >said
[ ! -s said ]
test_that "make uninstall leaves no file"
echo "1..$n"
