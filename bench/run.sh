#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds a benchmark and runs it, so that none is measured with a program older than its sources: `cmake --build build` leaves them out.
# run.sh [--build FOLDER] TARGET [ARGUMENTS OF THE PROGRAM]...   (TARGET: weft_scale_bench, weft_octet_cost_bench, weft_capture_bench, weft_bench_layers)
set -euo pipefail
usage() { sed -n '3,4s/^# //p' "$0"; }
bad() { echo "run.sh: $*" >&2; usage >&2; exit 2; }
root=$(cd "$(dirname "$(readlink -f "$0")")/.." && pwd)
build=$root/build
case ${1-} in
  -h|--help) usage; exit 0 ;;
  --build) build=${2-}; shift 2 || bad "--build wants a folder" ;;
esac
target=${1-}
[[ $target =~ ^weft_[a-z_]+$ ]] || bad "no benchmark is called '$target'"
shift
[ -f "$build/CMakeCache.txt" ] || { echo "run.sh: $build is not configured: cmake --preset release" >&2; exit 1; }
grep -q '^CMAKE_BUILD_TYPE:[A-Z]*=Rel' "$build/CMakeCache.txt" || echo "run.sh: $build is no release build: its figures say little" >&2
cmake --build "$build" --target "$target" >&2
exec "$build/bench/$target" "$@"
