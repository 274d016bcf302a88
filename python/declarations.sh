#!/bin/sh
# declarations.sh - writes the Python module's _library.py: what the public headers declare, and where the library is.
#
#     declarations.sh CC SRCDIR LIBRARY EXTENSION VERSION
cc=$1
srcdir=$2
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/base"
for header in "$srcdir"/base/*.h; do
    sed '/#include </d' "$header" >"$folder/base/${header##*/}" || exit 1
done
sed '/#include </d' "$srcdir/include/ptxloom.h" >"$folder/ptxloom.h" || exit 1
echo '"""Written by declarations.sh: the declarations of ptxloom.h, and where the library is."""'
echo "LIBRARY = \"$3\""
echo "EXTENSION = \"$4\""
echo "VERSION = \"$5\""
echo 'DECLARATIONS = """'
# shellcheck disable=SC2086 # CC may hold options
$cc -E -P -I"$folder" "$folder/ptxloom.h" || exit 1
echo '"""'
