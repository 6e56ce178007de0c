#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cmake on a machine that lacks what weft needs: one list of Debian's packages, whatever this machine has. Headers and packages are
# looked for in a root of this test's own, programs in a PATH of its own.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root said=$work/said
mkdir -p "$root/usr/include" "$root/pc" "$work/bin"
ln -s "$(command -v cmake)" "$work/bin/cmake"
unset PKG_CONFIG_PATH PKG_CONFIG CXX CC
export PKG_CONFIG_LIBDIR=$root/pc
fail() { echo "needs.sh: $*; it was said:" >&2; cat "$said" >&2; exit 1; }
says() { grep -qF -- "$1" "$said" || fail "not a word of '$1'"; }
silent() { ! grep -qF -- "$1" "$said" || fail "it speaks of '$1'"; }

# configure <path> <arguments>...: a configuration that has to fail, with one error.
configure() {
  local path=$1
  shift
  rm -rf "$work/build"
  PATH=$path "$work/bin/cmake" -G Ninja -S "$source" -B "$work/build" "$@" >"$said" 2>&1 && fail "cmake is content"
  [ "$(grep -c 'CMake Error' "$said")" = 1 ] || fail "more than one error"
  says 'Missing here'
}
fake=(-DCMAKE_FIND_ROOT_PATH="$root" -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY)
# Of packages.txt the groups given: "package kind name".
table() { awk -F'|' -v groups=" $* " '/^[^#]/ { g = $1; gsub(/ /, "", g); if (index(groups, " " g " ")) print $2, $3 }' "$source/cmake/packages.txt"; }
packages() { table "$@" | awk '$2 != "cmd" { print $1 }' | paste -sd' '; }

echo "== nothing but programs"
configure "$PATH" "${fake[@]}"
for package in $(packages build unit); do says "    $package: "; done
says "    apt-get install --no-install-recommends $(packages build unit)"
says "-DWEFT_TESTS=OFF builds everything else"
configure "$PATH" "${fake[@]}" -DWEFT_TESTS=OFF
says "    apt-get install --no-install-recommends $(packages build)"
silent WEFT_TESTS=OFF
for package in $(packages unit); do silent "$package"; done

echo "== what ./demo installs: only the tests lack something"
table build | while read -r _ kind name; do
  if [ "$kind" = header ]; then mkdir -p "$(dirname "$root/usr/include/$name")"; : >"$root/usr/include/$name"; fi
  if [ "$kind" = pc ]; then printf 'Name: %s\nDescription: none\nVersion: 9\n' "$name" >"$root/pc/$name.pc"; fi
done
configure "$PATH" "${fake[@]}"
says "    apt-get install --no-install-recommends $(packages unit)"
says "Only the tests need $(packages unit | sed 's/ /, /g')"
for package in $(packages build); do silent "$package"; done

echo "== no programs"
configure "$work/bin" "${fake[@]}"
for package in g++ ninja-build make pkg-config python3 libgmock-dev; do says "    $package: "; done
silent CMAKE_MAKE_PROGRAM

echo "== the compiler that the sanitizer presets choose"
configure "$work/bin" "${fake[@]}" -DCMAKE_CXX_COMPILER=clang++-19 -DCMAKE_C_COMPILER=clang-19
says "    clang-19: "
silent "    g++: "
echo "cmake says what is missing"
