#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Does an installed weft serve a project that knows nothing of this tree? install.sh BUILD-FOLDER COMPILER
set -euo pipefail
build=$1 compiler=$2
examples=$(cd "$(dirname "$0")/../../examples" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
prefix=$folder/moved

# The tree is moved after installing: neither package may remember where it was made.
cmake --install "$build" --prefix "$folder/installed" >"$folder/install.log" || { cat "$folder/install.log"; exit 1; }
mv "$folder/installed" "$prefix"
cp -r "$examples" "$folder/examples"

echo "== archives for every compiler"
find "$prefix" -name 'libweft_*.a' -print0 | xargs -0 readelf --section-headers --wide >"$folder/sections"
grep -q ' \.text' "$folder/sections"
if grep -m1 'gnu\.lto' "$folder/sections"; then
  echo "an installed archive holds what only this very compiler can link" >&2
  exit 1
fi

echo "== find_package(weft)"
cmake -S "$folder/examples" -B "$folder/build" -DCMAKE_PREFIX_PATH="$prefix" -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_BUILD_TYPE=Release
cmake --build "$folder/build"
ctest --test-dir "$folder/build" --output-on-failure --no-tests=error

echo "== pkg-config weft"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name weft.pc)")
export PKG_CONFIG_PATH
# shellcheck disable=SC2046  # flags are words
"$compiler" -std=c++23 -Wall -Wextra -o "$folder/notebook" "$folder/examples/remote_notebook.cpp" $(pkg-config --cflags --libs weft)
"$folder/examples/run.sh" "$folder/notebook"

echo "== the installed command"
"$prefix/bin/weft" --help >/dev/null
"$prefix/bin/weft" info
