#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# few_descriptors.sh PROGRAM: the program of docs/your-first-program.md with fewer and fewer file descriptors, until it fails. Both of its
# threads then report what failed, and the exit code is 1.
set -u
for ((most = 60; most > 8; --most)); do
  said=$(ulimit -n "$most"; exec "$1" 2>&1)
  code=$?
  [ "$code" != 0 ] || continue
  printf 'with %s descriptors, exit code %s:\n%s\n' "$most" "$code" "$said"
  [ "$code" = 1 ] && grep -q '^server: ' <<<"$said" && grep -q '^main: ' <<<"$said"
  exit
done
echo "it never failed"
exit 1
