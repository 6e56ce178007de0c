#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# bench/run.sh never runs a program that is older than its sources: with a cmake that this test puts there; nothing is built.
set -euo pipefail
run=$(cd "$(dirname "$0")/../.." && pwd)/bench/run.sh
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/bin" "$work/build/bench"
fail() { echo "$*" >&2; exit 1; }
provide() { printf '#!/bin/sh\n%s\n' "$2" >"$1"; chmod +x "$1"; }
run() { PATH=$work/bin:$PATH "$run" --build "$work/build" "$@" 2>"$work/errors"; }

program=$work/build/bench/weft_scale_bench
provide "$program" 'echo old'
if run weft_scale_bench >"$work/output"; then fail "a folder that is not configured was measured"; fi
grep -q 'is not configured' "$work/errors" || fail "no word of the folder: $(cat "$work/errors")"

echo 'CMAKE_BUILD_TYPE:STRING=Release' >"$work/build/CMakeCache.txt"
provide "$work/bin/cmake" "printf '#!/bin/sh\\necho new \"\$@\"\\n' >'$program'; echo built \"\$@\""
said=$(run weft_scale_bench --only memory)
[ "$said" = "new --only memory" ] || fail "the program said '$said'"
grep -q -- "--target weft_scale_bench" "$work/errors" || fail "not built: $(cat "$work/errors")"
if grep -q 'no release build' "$work/errors"; then fail "a release build is called none"; fi

echo 'CMAKE_BUILD_TYPE:STRING=Debug' >"$work/build/CMakeCache.txt"
run weft_scale_bench >/dev/null
grep -q 'no release build' "$work/errors" || fail "no word of the build type"

provide "$work/bin/cmake" 'exit 1'
provide "$program" 'echo old'
if run weft_scale_bench >"$work/output"; then fail "a build that failed was measured"; fi
[ ! -s "$work/output" ] || fail "the old program ran"

code=0; run ../weft >/dev/null || code=$?
[ $code = 2 ] || fail "exit code $code instead of 2 for a target that is none"
echo "bench/run.sh builds first"
