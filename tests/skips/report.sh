#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Shows which cases of the last ctest run were skipped, and why. report.sh [--skip] BUILD-FOLDER [SANITIZER-FOLDER...]
#   --skip    exit code 77, ctest's "Skipped", if there is any
# Of a sanitizer's folder only the number by program: such a run leaves out dozens that the ordinary one has tried.
set -euo pipefail
code=0
[ "$1" != --skip ] || { code=77; shift; }
list() { echo "$1/tests/skipped.txt"; }
count() { sort -u "$(list "$1")" | wc -l; }

any=0
if [ -s "$(list "$1")" ]; then
  any=1
  echo "$(count "$1") skipped; what they would have tested is not tested here ($(list "$1")):"
  sort -u "$(list "$1")" | awk -F'\t' '{ print "    " $1 ($2 == "-" ? "" : " " $2) ": " $3 }'
fi
for folder in "${@:2}"; do
  [ -s "$(list "$folder")" ] || continue
  any=1
  echo "$(count "$folder") skipped under a sanitizer, each with its reason in $(list "$folder"):"
  sort -u "$(list "$folder")" | awk -F'\t' '{ n[$1]++ } END { for (name in n) printf "    %s: %d\n", name, n[name] }' | sort
done
[ "$any" = 1 ] && exit "$code"
echo "no case was skipped"
