#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a script that may skip: tell.sh COMMAND... The exit code is 77, ctest's "Skipped", when the script passes and has printed a line
# "SKIPPED: reason", or "SKIPPED case: reason" of a part.
set -uo pipefail
"$@" 2>&1 | awk '{ print; fflush() } /^SKIPPED( .*)?: / { skipped = 1 } END { exit skipped ? 77 : 0 }'
status=("${PIPESTATUS[@]}")
[ "${status[0]}" != 0 ] || exit "${status[1]}"
exit "${status[0]}"
