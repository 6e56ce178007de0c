#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Fuzzes for some seconds: run.sh TARGET CORPUS SECONDS. Inputs that reach something new are kept in build-fuzz/found/, one that
# fails is kept in build-fuzz/failures/ and named on the last line.
set -eu
name=$(basename "$1")
top=$(cd "$(dirname "$0")/../.." && pwd)/build-fuzz
export PATH="/usr/lib/llvm-19/bin:$PATH"  # llvm-symbolizer names the functions of a report
mkdir -p "$top/found/$name" "$top/failures"
exec "$1" -max_total_time="$3" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1 -verbosity=0 \
  -artifact_prefix="$top/failures/$name-" "$top/found/$name" "$2"
