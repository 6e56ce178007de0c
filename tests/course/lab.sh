#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A lab works in a copy of the checkout without the answers, leaves that copy as it is, and keeps a student's files; the container image has what the
# lab needs and no answer. lab.sh WEFT
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "lab: $*" >&2; exit 1; }

# What the image has, in a checkout of its own.
mkdir "$work/weft"
while read -r _ from to; do
  mkdir -p "$(dirname "$work$to")"
  cp -r "$root/$from" "$work$to"
done < <(grep -E '^COPY [^-.]' "$root/docs/course/Containerfile")
answers=$(sed -n 's/^RUN rm -rf \(\/weft\/.*\) \\$/\1/p' "$root/docs/course/Containerfile")
for path in $answers; do
  [[ $path != /weft/* ]] && continue
  [ -e "$work$path" ] || fail "the image removes $path, which is not there"
  rm -r "${work:?}$path"
done
[ ! -e "$work/weft/docs/course/answers" ] || fail "the image has the answers"
! grep -rqs 'if (entry.copy.front == entry.copy.back)' "$work/weft" || fail "the image has the answer to 7.4"
! grep -rqs 'it reads `front`, then' "$work/weft" || fail "the image has the answer to 7.4 in words"
! grep -rqs 'compare_swap(offsetof' "$work/weft" || fail "the image has the answer to 7.5"
grep -qx '    rm -r docs/course/answers examples/kv_store_read.cpp' "$root/docs/course/teaching.md" || fail "teaching.md removes something else"

PATH=$(cd "$(dirname "$1")" && pwd):$PATH
export PATH
listing() { (cd "$work/weft" && find . -path ./build -prune -o -print | sort | md5sum); }
before=$(listing)
enter() { (cd "$work/weft" && unset WEFT && . docs/course/lab.sh "$@" >/dev/null && pwd && echo "$WEFT"); }
[ "$(enter)" = "$work/weft/build/lab"$'\n'"$work/weft" ] || fail "the lab is not in build/lab"
[ "$(enter "$work/elsewhere")" = "$work/elsewhere"$'\n'"$work/weft" ] || fail "the lab is not where it should be"
echo mine >"$work/elsewhere/store/kv_store_read.cpp"
echo '1.1 5' >"$work/elsewhere/answers.txt"
enter "$work/elsewhere" >/dev/null
[ "$(cat "$work/elsewhere/store/kv_store_read.cpp" "$work/elsewhere/answers.txt")" = "mine"$'\n'"1.1 5" ] || fail "a second time it replaces a student's files"
(cd "$work/elsewhere" && docs/course/check.py 1.1 5 && ! docs/course/check.py --all --report scores.json) >"$work/said" || fail "check.py: $(cat "$work/said")"
grep -qx '1 of [0-9]* exercises are right' "$work/said" || fail "check.py --all says: $(tail -n 1 "$work/said")"
(cd "$work/elsewhere" && tools/forge/forge.py edit pcap-samples/forged/story.pcap pad.pcap --fpdu 6 --part pad --octets 0a >/dev/null && docs/course/check.py 2.3 pad.pcap >/dev/null) ||
  fail "forge.py does not work in the lab"
[ "$(listing)" = "$before" ] || fail "the lab changes the checkout"
if PATH=/usr/bin:/bin enter "$work/none" 2>"$work/said"; then fail "a lab without weft"; fi
grep -qx "lab.sh: weft is not built: type ./demo in $work/weft" "$work/said" || fail "without weft it says: $(cat "$work/said")"
echo "a lab is set up without the answers, and the checkout stays as it is"
