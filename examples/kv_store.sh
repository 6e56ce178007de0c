#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the key-value store on this machine: puts, gets, refusals, and a race of two writers with a reader. kv_store.sh SERVER CLIENT
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
"$1" >"$folder/server" 2>"$folder/complaints" & server=$!
for _ in {1..100}; do grep -q 'listening on port' "$folder/server" && break; sleep 0.1; done
port=$(sed -n 's/.*listening on port //p' "$folder/server")
put() { timeout 60 "$client" put 127.0.0.1 "$port" "$@"; }
get() { timeout 60 "$client" get 127.0.0.1 "$port" "$@"; }
client=$2
fail() { echo "kv_store: $*" >&2; exit 1; }

# refused WORDS COMMAND...: it fails, and says these words.
refused() {
  local words=$1 said
  shift
  if said=$("$@" 2>&1); then fail "not refused: $*"; fi
  [[ $said == *"$words"* ]] || fail "$*: says '$said' and not '$words'"
}
long() { printf "%0$1d" 0 | tr 0 "$2"; }  # a word of this length, of one letter

put one 1
put two 2
put one "another value"
put empty ""
[ "$(get one)" = "another value" ] || fail "a value was not replaced"
[ "$(get two)" = 2 ] || fail "a value is gone"
[ "$(get empty)" = "" ] || fail "an empty value is none"
put "$(long 31 k)" "$(long 999 v)"
[ "$(get "$(long 31 k)")" = "$(long 999 v)" ] || fail "the longest key and value"
refused "there is no such key" get three
refused "has to have 1 to 31 octets" put "" 1
refused "has to have 1 to 31 octets" put "$(long 32 k)" 1
refused "has more than 999 octets" put one "$(long 1000 v)"
refused "usage" "$client" get 127.0.0.1
refused "PORT: has to be a number" "$client" get 127.0.0.1 here one
refused "kv_store_client" "$client" get 127.0.0.1 1 one  # a port at which nothing listens

# More keys than one home has room for, so that some lie after others'. One process for all would show less.
for i in {1..60}; do put "key $i" "value $i"; done
for i in {1..60}; do [ "$(get "key $i")" = "value $i" ] || fail "key $i has another value"; done

# A value is one writer's as a whole. That the stamps had to say so at least once shows that they were tried.
a=$(long 999 a) b=$(long 999 b) again=0
put race "$a"
for round in {1..20}; do
  put race "$a" 5000 & one=$!
  put race "$b" 5000 & other=$!
  get race 3000 >"$folder/values" 2>"$folder/again"
  wait "$one" "$other"
  if grep -vxE "$a|$b" "$folder/values" | cut -c1-40,960- >"$folder/mixed"; then :; fi
  [ ! -s "$folder/mixed" ] || fail "these values are mixed: $(head -n 3 "$folder/mixed")"
  [ "$(wc -l <"$folder/values")" = 3000 ] || fail "a get is missing"
  again=$(sed -n 's/ times an entry changed.*//p' "$folder/again")
  [ "$again" = 0 ] || break
done
[ "$again" != 0 ] || fail "in $round rounds no entry changed while it was read"
[ ! -s "$folder/complaints" ] || fail "the server complains: $(head -n 3 "$folder/complaints")"
echo "two writers and a reader: $again times an entry changed while it was read, and no value was mixed"
