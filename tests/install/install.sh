#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Does an installed weft serve a project that knows nothing of this tree? install.sh BUILD-FOLDER COMPILER
set -euo pipefail
build=$1 compiler=$2
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/moved
fail() { echo "install: $*" >&2; exit 1; }

# The tree is moved after installing: neither package may remember where it was made.
cmake --install "$build" --prefix "$folder/installed" >"$folder/install.log" || { cat "$folder/install.log"; exit 1; }
mv "$folder/installed" "$prefix"
examples=$prefix/share/doc/weft-dev/examples

echo "== archives for every compiler"
find "$prefix" -name 'libweft_*.a' -print0 | xargs -0 readelf --section-headers --wide >"$folder/sections"
grep -q ' \.text' "$folder/sections"
if grep -m1 'gnu\.lto' "$folder/sections"; then fail "an installed archive holds what only this very compiler can link"; fi

echo "== headers: each names its like below weft/, each that it names is there, each of the C++ interface, verbs/ and conformance/ compiles alone"
cd "$prefix/include"
[ "$(echo ./*)" = ./weft ] || fail "include/ has $(echo ./*)"
if grep -rn '#include "' weft; then fail "these depend on the include path of the program"; fi
grep -rhoE '#include <weft/[^>]+' weft | cut -d'<' -f2 | sort -u | xargs ls >/dev/null
# shellcheck disable=SC2016  # the inner shell has the header's name
printf '%s\n' weft/*.hpp weft/verbs/*.hpp weft/conformance/*.hpp | xargs -P2 -I{} sh -c \
  'echo "#include <{}>" | "$1" -std=c++23 -Wall -Wextra -Werror -fsyntax-only -I. -x c++ -' - "$compiler"
cd - >/dev/null

# Builds the project in there through find_package(weft), and runs its tests.
by_cmake() {
  cmake -S "$1" -B "$folder/build-${1##*/}" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release
  cmake --build "$folder/build-${1##*/}"
  ctest --test-dir "$folder/build-${1##*/}" --output-on-failure --no-tests=error
}
echo "== find_package(weft)"
by_cmake "$examples"
by_cmake "$examples/asio"
by_cmake "$examples/nfs"
by_cmake "$here/neighbour"

PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weft.pc)")
export PKG_CONFIG_PATH
# FLAGS... FILE: builds it to $folder/program.
by_pkg_config() {
  # shellcheck disable=SC2046  # flags are words
  "$compiler" -std=c++23 -Wall -Wextra -o "$folder/program" "$@" $(pkg-config --cflags --libs weft)
}
echo "== pkg-config weft"
# Its own headers and threads: nothing of the libraries below it.
read -ra flags <<<"$(pkg-config --cflags weft)"
for flag in "${flags[@]}"; do
  case $flag in
    -pthread) ;;
    -I*) [ "$(realpath "${flag#-I}")" = "$(realpath "$prefix/include")" ] || fail "pkg-config --cflags weft has $flag" ;;
    *) fail "pkg-config --cflags weft has $flag" ;;
  esac
done
by_pkg_config "$examples/remote_notebook.cpp"
"$examples/run.sh" "$folder/program"
# The program's own folder in front of weft's, and after it.
by_pkg_config -I "$here/neighbour/own" "$here/neighbour/neighbour.cpp"
"$folder/program"
by_pkg_config -idirafter "$here/neighbour/own" "$here/neighbour/neighbour.cpp"
"$folder/program"

echo "== documents"
python3 "$here/../package/documents.py" "$prefix"

echo "== the installed command"
"$prefix/bin/weft" --help >/dev/null
"$prefix/bin/weft" info
