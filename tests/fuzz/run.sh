#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes for WEFT_FUZZ_SECONDS seconds: run.sh TARGET CORPUS. Inputs that reach something new are kept in build-asan/found/; one that fails is
# kept in build-asan/failures/ and named on the last line.
set -eu
name=$(basename "$1")
top=$(cd "$(dirname "$0")/../.." && pwd)/build-asan
export PATH="/usr/lib/llvm-19/bin:$PATH"  # llvm-symbolizer names the functions of a report
mkdir -p "$top/found/$name" "$top/failures"
exec "$1" -max_total_time="${WEFT_FUZZ_SECONDS:?set it to the seconds that this target may take}" -timeout=10 -rss_limit_mb=2048 \
  -print_final_stats=1 -verbosity=0 -artifact_prefix="$top/failures/$name-" "$top/found/$name" "$2"
