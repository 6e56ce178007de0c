#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A second configuration is no reason to build anything again: not libweft.so, whose only source CMake writes, nor the command. In a
# tree of its own, whose compiler and linker make empty files: only their turn matters. With another compiler, it keeps the
# variables of the preset.
set -euo pipefail
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
said=$work/said
fail() { echo "configured_again.sh: $*; it was said:" >&2; tail -n 40 "$said" >&2; exit 1; }

# "$@" is the command of a compiler or a linker.
cat >"$work/outputs" <<'EOF'
#!/bin/sh
while [ $# -gt 0 ]; do
  case $1 in -o|-MF) : >"$2"; shift ;; esac
  shift
done
EOF
chmod +x "$work/outputs"

configure() {
  cmake -G Ninja -S "$source" -B "$work/build" -DCMAKE_BUILD_TYPE=Release -DWEFT_TESTS=OFF \
    -DCMAKE_{C,CXX}_COMPILER_LAUNCHER="$work/outputs" -DCMAKE_{C,CXX}_LINKER_LAUNCHER="$work/outputs" >"$said" 2>&1 || fail "cmake"
}
build() { ninja -C "$work/build" weft weft_compat weft_ibverbs weft_rdmacm >"$said" 2>&1 || fail "ninja"; }

configure
build
for made in tools/weft compat/lib/libweft.so.0; do
  if [ ! -f "$work/build/$made" ] || [ -s "$work/build/$made" ]; then fail "$made was made by something else than this test"; fi
done
build
grep -q 'no work to do' "$said" || fail "there is always something to do: nothing can be said of a configuration"
configure
build
grep -q 'no work to do' "$said" || fail "configured again, it builds again"

echo "== what a changed source would be told"
touch "$work/build/compat/empty.cpp"
build
grep -q 'Linking CXX shared library .*libweft\.so' "$said" || fail "a change is not seen: this test proves nothing"
echo "a second configuration builds nothing"

# With another compiler of the same name, the variables of the preset stay.
mkdir -p "$work"/small/build "$work"/{first,second}
for folder in first second; do printf '#!/bin/sh\nexec cc "$@"\n' >"$work/$folder/own-cc"; done
chmod +x "$work"/{first,second}/own-cc
cd "$work/small"
printf 'cmake_minimum_required(VERSION 3.25)\nproject(small C)\n' >CMakeLists.txt
cat >CMakePresets.json <<'EOF'
{"version": 6, "configurePresets": [{"name": "own", "generator": "Ninja", "binaryDir": "${sourceDir}/build",
 "cacheVariables": {"CMAKE_C_COMPILER": "own-cc", "WEFT_SANITIZE": "address,undefined"}}]}
EOF
for folder in first second; do
  (root=$work/small && . "$source/cmake/setup.sh" && PATH=$work/$folder:$PATH configure own) >"$said" 2>&1 || fail "configure"
  grep -q "$folder/own-cc" build/CMakeFiles/*/CMakeCCompiler.cmake || fail "the compiler is not the one in $folder/"
  grep -q '^WEFT_SANITIZE:.*=address,undefined$' build/CMakeCache.txt || fail "WEFT_SANITIZE was lost with the compiler in $folder/"
done
grep -q 'the compiler has changed' "$said" || fail "a second configuration is not mentioned"
echo "with another compiler, the preset's variables stay"
