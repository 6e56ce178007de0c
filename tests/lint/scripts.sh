#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# ./check and ./demo say in a sentence what is wrong: with the command line, or with a machine where they cannot install
# what is missing. Runs copies of them, with a PATH that has only what this test puts there; nothing is built.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/weft/tests/interop" "$work/bin"
cp -r "$root/check" "$root/demo" "$root/cmake" "$work/weft"
cp "$root/tests/interop/packages.txt" "$work/weft/tests/interop"
for tool in bash sed grep cut readlink dirname mkdir rm nproc awk; do ln -s "$(command -v "$tool")" "$work/bin/$tool"; done
printf '#!/bin/sh\n[ "$1" = -un ] && echo user || echo 1000\n' >"$work/bin/id"  # not root
chmod +x "$work/bin/id"

# expect <exit code> <words> <command>...: the command ends with this code and says these words.
expect() {
  local code=$1 words=$2 said status=0
  shift 2
  said=$(cd "$work/weft" && PATH=$work/bin "$@" 2>&1 </dev/null) || status=$?
  [ "$status" = "$code" ] && [[ $said == *"$words"* ]] && return
  printf '%s: exit code %s instead of %s, or not a word of "%s":\n%s\n' "$*" "$status" "$code" "$words" "$said" >&2
  exit 1
}
provide() { printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"; chmod +x "$work/bin/$1"; }

expect 0 'Usage: ./check' ./check --help
expect 0 'Takes no arguments' ./demo --help
expect 2 "unknown argument 'fast'" ./check fast
expect 2 'needs a number of seconds' ./check --fuzz soon
expect 2 "unknown argument 'fast'" ./demo fast
expect 1 'there is no apt to install them' ./demo
expect 1 'ninja-build | runs the build' ./check --quick
provide apt-get 'exit 1'
expect 1 'there is no sudo; as root, run: apt-get install' ./demo
provide sudo 'exit 1'
expect 1 'sudo wants a password but there is no terminal; as root, run: apt-get install' ./demo
rm -rf "$work/weft/build"
: >"$work/weft/build"  # a file, which not even root can write into as a folder
expect 1 "cannot write into" ./demo
echo "check and demo say what is wrong"
