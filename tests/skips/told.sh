#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Exit codes and lists of tests that skip: told.sh PROBE (probe.cpp)
set -euo pipefail
probe=$(realpath "$1")
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/build/tests" "$work/build-asan/tests"
export WEFT_SKIPPED_CASES=$work/build/tests/skipped.txt
fail() { echo "told.sh: $*" >&2; [ ! -e "$WEFT_SKIPPED_CASES" ] || sort -u "$WEFT_SKIPPED_CASES" >&2; exit 1; }

lines_of() { if [ -e "$1" ]; then wc -l <"$1"; else echo 0; fi; }
# expect CODE LINES COMMAND...: this exit code, and that number of new lines in the list.
expect() {
  local code=$1 lines=$2 status=0 before after
  shift 2
  before=$(lines_of "$WEFT_SKIPPED_CASES")
  "$@" >"$work/said" 2>&1 || status=$?
  after=$(lines_of "$WEFT_SKIPPED_CASES")
  [ "$status" = "$code" ] || fail "$*: exit code $status instead of $code: $(cat "$work/said")"
  [ $((after - before)) = "$lines" ] || fail "$*: $((after - before)) lines in the list instead of $lines"
}
# has LINE FILE: that whole line.
has() { grep -qxF "$1" "$2" || fail "not a line of $2: $1"; }
tab=$'\t'

echo "== programs"
expect 0 0 "$probe" --gtest_filter='*Passes'
expect 0 3 "$probe" --gtest_filter='-*Fails'             # what passed, passed
expect 77 1 "$probe" --gtest_filter='Probe.IsSkipped'    # nothing was tested
expect 1 3 "$probe"                                      # a failure stays one
has "skips_probe${tab}Probe.IsSkipped${tab}on purpose, in two lines" "$WEFT_SKIPPED_CASES"
has "skips_probe${tab}Probe.IsSkippedWithoutAWord${tab}no reason given" "$WEFT_SKIPPED_CASES"
has "skips_probe${tab}Before.IsSkipped${tab}before it begins" "$WEFT_SKIPPED_CASES"
expect 77 0 env WEFT_SKIPPED_CASES="$work/no/folder" "$probe" --gtest_filter='-*Fails'  # told nowhere: not green
expect 0 0 env -u WEFT_SKIPPED_CASES "$probe" --gtest_filter='-*Fails'                  # by hand

echo "== many at once: every line is whole"
rm "$WEFT_SKIPPED_CASES"
for _ in {1..20}; do "$probe" --gtest_filter='-*Fails' >/dev/null & done
wait
[ "$(lines_of "$WEFT_SKIPPED_CASES") $(sort -u "$WEFT_SKIPPED_CASES" | wc -l)" = "60 3" ] || fail "lines are torn or lost"

echo "== scripts"
expect 0 0 "$here/tell.sh" whole true
expect 3 0 "$here/tell.sh" whole sh -c 'echo all well; exit 3'
expect 77 1 "$here/tell.sh" whole sh -c 'echo "SKIPPED: no namespace: none"; exit 77'
has "whole${tab}-${tab}no namespace: none" "$WEFT_SKIPPED_CASES"
expect 0 2 "$here/tell.sh" part sh -c 'echo "SKIPPED fio [::1]: no fio" >&2; echo "SKIPPED a/b & c: no c"'
has "part${tab}a/b & c${tab}no c" "$WEFT_SKIPPED_CASES"
expect 77 1 "$here/tell.sh" mute sh -c 'exit 77'
has "mute${tab}-${tab}no reason given" "$WEFT_SKIPPED_CASES"
expect 77 0 env WEFT_SKIPPED_CASES="$work/no/folder" "$here/tell.sh" part echo 'SKIPPED a: b'

echo "== the report"
printf 'p\tA.a\twhy\np\tA.b\twhy\nq\tB.c\twhy\n' >"$work/build-asan/tests/skipped.txt"
status=0
"$here/report.sh" --skip "$work/build" "$work/build-asan" "$work/build-tsan" >"$work/report" || status=$?
[ "$status" = 77 ] || fail "the report ended with $status"
has "7 skipped; what they would have tested is not tested here ($work/build/tests/skipped.txt):" "$work/report"
has "    skips_probe Probe.IsSkipped: on purpose, in two lines" "$work/report"
has "    whole: no namespace: none" "$work/report"
has "3 skipped under a sanitizer, each with its reason in $work/build-asan/tests/skipped.txt:" "$work/report"
has "    p: 2" "$work/report"
"$here/report.sh" "$work/build" >/dev/null || fail "without --skip the report is no verdict"
[ "$("$here/report.sh" --skip "$work/none")" = "no case was skipped" ] || fail "an empty list"

echo "== ctest"
mkdir -p "$work/ctest/tests"
cat >"$work/CMakeLists.txt" <<EOF
cmake_minimum_required(VERSION 3.25)
project(skips NONE)
include($here/../../cmake/WeftSkips.cmake)
enable_testing()
weft_skipped_cases()
add_test(NAME none COMMAND $probe --gtest_filter=*Passes)
add_test(NAME part COMMAND $probe --gtest_filter=-*Fails)
weft_tells_skips(none)
weft_tells_skips(part)
weft_script_test(whole sh $work/whole.sh)
EOF
echo 'echo "SKIPPED: no such thing"; exit 77' >"$work/whole.sh"
cmake -G Ninja -S "$work" -B "$work/ctest" >"$work/said" || fail "$(cat "$work/said")"
# ctest_says NAME LINES PATTERN...: that entry alone, the lines of the list behind it, and what ctest says.
ctest_says() {
  local name=$1 lines=$2 pattern
  shift 2
  ctest --test-dir "$work/ctest" -R "^$name\$" >"$work/said" 2>&1 || fail "ctest failed: $(cat "$work/said")"
  for pattern in "$@"; do grep -qE "$pattern" "$work/said" || fail "ctest says nothing like '$pattern': $(cat "$work/said")"; done
  [ "$(lines_of "$work/ctest/tests/skipped.txt")" = "$lines" ] || fail "$name: $lines lines in the list"
}
ctest_says part 3 ' part \.* +Passed' '[0-9] - skipped_cases_are_in_tests/skipped.txt \(Skipped\)'
ctest_says whole 1 '[0-9] - whole \(Skipped\)' '[0-9] - skipped_cases_are_in_tests/skipped.txt \(Skipped\)'
ctest_says none 0 ' skipped_cases_are_in_tests/skipped.txt \.* +Passed'
