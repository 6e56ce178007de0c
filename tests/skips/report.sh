#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows what the last run of ctest has skipped, and why: report.sh BUILD-FOLDER...
set -euo pipefail
lines=$(for folder in "$@"; do
  awk -v folder="$folder" '/^[0-9]+\/[0-9]+ Test: / { name = $3 } /^SKIPPED( .*)?: / { print "    " folder ": " name substr($0, 8) }' \
    "$folder/Testing/Temporary/LastTest.log" 2>/dev/null || true
done | sort -u)
[ -n "$lines" ] || { echo "no case was skipped"; exit 0; }
printf '%s\n' "$(wc -l <<<"$lines") skipped; what they would have tested is not tested here:" "$lines"
