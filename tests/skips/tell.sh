#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a script that may skip, whole (exit code 77) or in part, and puts what it says of that into the list that report.sh shows.
# tell.sh NAME COMMAND...   A line "SKIPPED CASE: reason", or "SKIPPED: reason" of the whole, goes into the list.
set -uo pipefail
name=$1
shift
words=$(mktemp)
trap 'rm -f "$words"' EXIT
"$@" 2>&1 | tee "$words"
status=${PIPESTATUS[0]}
[ -n "${WEFT_SKIPPED_CASES-}" ] || exit "$status"
lines=$(NAME=$name awk '
  /^SKIPPED: / { print ENVIRON["NAME"] "\t-\t" substr($0, 10) }
  /^SKIPPED .*: / { at = index($0, ": "); print ENVIRON["NAME"] "\t" substr($0, 9, at - 9) "\t" substr($0, at + 2) }' "$words")
[ -n "$lines" ] || [ "$status" != 77 ] || lines=$name$'\t-\tno reason given'
if [ -n "$lines" ] && ! printf '%s\n' "$lines" >>"$WEFT_SKIPPED_CASES"; then
  [ "$status" != 0 ] || status=77  # not told, so not green
fi
exit "$status"
