#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Does the Debian package name everything that it needs? Unpacks it into a root that holds the files of the packages in its Depends, theirs
# in turn, and nothing else, and runs rping there: under `weft run`, and as docs/drop-in.md does it for a whole system. Installs nothing.
# clean_root.sh PACKAGE   (exit code 77: no namespace can be had, nothing was tried)
set -euo pipefail
# shellcheck source=tests/package/root.sh
. "$(dirname "$0")/root.sh"
enter "$@"
package=$1
for program in rping ibv_devices; do command -v $program >/dev/null || skip "$program is not installed (rdmacm-utils, ibverbs-utils)"; done
make_root

mapfile -t direct < <(dpkg-deb -f "$package" Depends | names)
list=$(closure "${direct[@]}" | sort)
mapfile -t all <<<"$list"
echo "== the package asks for ${direct[*]}; a root of ${all[*]}"
for name in libibverbs1 librdmacm1 ibverbs-providers; do [[ " ${all[*]} " != *" $name "* ]] || fail "it needs $name, whose place it takes"; done
files_of "${all[@]}" | copy
cp "$(readlink -f "$(command -v rping)")" "$(readlink -f "$(command -v ibv_devices)")" "$root/usr/bin"
dpkg-deb -x "$package" "$root"

# COMMAND-PREFIX...: a server and a client of rping in there.
ping_inside() {
  local port=$((20000 + RANDOM % 10000)) server state=1
  inside "$@" rping -s -a 127.0.0.1 -p $port -C 3 -V >"$folder/server.log" 2>&1 &
  server=$!
  for _ in $(seq 1 100); do  # until the server listens
    kill -0 $server 2>/dev/null || break
    if inside "$@" rping -c -a 127.0.0.1 -p $port -C 3 -v -V >"$folder/client.log" 2>&1; then state=0; break; fi
    sleep 0.1
  done
  [ $state = 0 ] || kill $server 2>/dev/null || true
  wait $server && [ $state = 0 ] && grep -q rdma-ping-2 "$folder/client.log"
}
say_logs() { cat "$folder/server.log" "$folder/client.log" 2>/dev/null || true; }

echo "== what is in it, by itself"
private=$(dirname "$(cd "$root" && find ./usr -path '*/weft/libibverbs.so.1')")
private=${private#.}
content=$(cd "$root$private" && echo ./*)
[ "$content" = "./libibverbs.so ./libibverbs.so.1 ./librdmacm.so ./librdmacm.so.1 ./librspreload.so ./libweft.so ./libweft.so.0 ./libweftpaths.so" ] || fail "$private has $content"
[ -z "$(find "$root/usr" -name 'libibverbs*' -not -path "*$private/*" -o -name 'librdmacm*' -not -path "*$private/*")" ] || fail "the root is not clean"
dpkg-deb --fsys-tarfile "$package" | tar -t | while read -r file; do
  [ -e "$root/$file" ] || fail "$file leads nowhere"
  if [[ $file == */bin/* || $file == *.so.[0-9]* ]]; then
    # shellcheck disable=SC2016  # the loader's $ORIGIN
    paths=$(readelf -d "$root/$file" | grep -E 'R(UN)?PATH' | grep -vE '\(RUNPATH\) .*\[\$ORIGIN\]' || true)
    [ -z "$paths" ] || fail "$file: $paths"
  fi
done
if command -v groff >/dev/null; then
  for page in "$root"/usr/share/man/man1/weft*.1*; do
    warnings=$({ case $page in *.gz) gzip -dc "$page" ;; *) cat "$page" ;; esac; } | groff -man -Tutf8 -ww 2>&1 >/dev/null)
    [ -z "$warnings" ] || fail "$page: $warnings"
  done
fi

echo "== weft, in there"
inside weft --version
inside weft info >/dev/null
inside weft run -- ibv_devices | grep -q weft_lo || fail "ibv_devices sees no device of weft"
ping_inside weft run -- || { say_logs; fail "rping under weft run"; }

echo "== without one of its dependencies, it does not run: nothing comes from outside of the root"
for name in "${direct[@]}"; do
  [ "$name" != libc6 ] || continue
  library=$(files_of "$(real "$name")" | grep -E '\.so\.[0-9.]+$' | head -1)
  mv "$root/$library" "$folder/away"
  if inside weft info >/dev/null 2>&1 && inside weft run -- ibv_devices >/dev/null 2>&1; then fail "$name is asked for, and not needed"; fi
  mv "$folder/away" "$root/$library"
done

echo "== ld.so.conf.d, as docs/drop-in.md has it, beside the distribution's libraries"
line=$(grep -m1 -oE 'echo [^ ]*/weft >/etc/ld\.so\.conf\.d/[^ ]+' "$root/usr/share/doc/weft/drop-in.md")
read -r _ documented file <<<"${line/>/}"
[ "$documented" = "$private" ] || [ "$(dpkg --print-architecture)" != amd64 ] || fail "drop-in.md names $documented, the package has $private"
list=$(closure libibverbs1 librdmacm1)
mapfile -t theirs <<<"$list"
files_of "${theirs[@]}" | copy
cp /etc/ld.so.conf "$root/etc/"
[ -e "$root/etc/ld.so.conf.d" ] && cp /etc/ld.so.conf.d/*-linux-gnu.conf "$root/etc/ld.so.conf.d/"
ldconfig -r "$root"
if ping_inside; then fail "rping runs on the distribution's libraries: this test proves nothing here"; fi
echo "$private" >"$root$file"
ldconfig -r "$root"
for library in libibverbs.so.1 librdmacm.so.1; do
  [[ $(ldconfig -r "$root" -p | grep -m1 "$library ") == *"$private/$library" ]] || fail "$library of weft is not the first: $(ldconfig -r "$root" -p)"
done
ping_inside || { say_logs; fail "rping without weft run"; }
rm "$root$file"
ldconfig -r "$root"
if ping_inside; then fail "the file is gone, and weft is still there"; fi
echo "== well"
