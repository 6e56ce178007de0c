#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Is the Debian package whole, modest in what it asks for, and does what is in it run from a clean folder? Installs nothing.
# package.sh BUILD-FOLDER VERSION
set -euo pipefail
build=$1 version=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "package: $*" >&2; exit 1; }

(cd "$build" && cpack -G DEB -B "$folder/cpack") >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
package=$folder/cpack/weft_${version}_$(dpkg --print-architecture).deb
[ -f "$package" ] || fail "there is no $package; cpack made: $(ls "$folder/cpack")"
cp "$package" "$build/tests/package/weft.deb"  # for clean_root.sh

echo "== what it says of itself"
dpkg-deb -f "$package" Package Version Section Architecture Depends Maintainer Description
field() { dpkg-deb -f "$package" "$1"; }
[ "$(field Package)" = weft ] || fail "its name is $(field Package)"
[ "$(field Section)" = net ] || fail "its section is $(field Section)"
[[ $(field Depends) == *libc6* ]] || fail "it does not depend on libc6: dpkg-shlibdeps found nothing"
# The libraries that it replaces for a program may be there or not.
for name in Provides Conflicts Replaces Breaks; do [ -z "$(field $name)" ] || fail "$name: $(field $name)"; done
for name in libibverbs librdmacm libweft; do [[ $(field Depends) != *$name* ]] || fail "it depends on $name"; done

echo "== what is in it"
dpkg-deb -c "$package" | awk '{ print $6 }' >"$folder/content"
has() { grep -qE "^\./usr/$1\$" "$folder/content" || fail "it has no file usr/$1"; }
has bin/weft
has include/weft/verbs/verbs.hpp
has 'lib/.*libweft_verbs\.a'
has 'lib/.*cmake/weft/weft-config\.cmake'
has 'lib/.*pkgconfig/weft\.pc'
has share/doc/weft/copyright
for file in libweft.so.0 libibverbs.so libibverbs.so.1 librdmacm.so librdmacm.so.1; do has "lib/.*weft/${file//./\\.}"; done
for page in weft weft-demo weft-rping weft-info weft-bench weft-run; do has "share/man/man1/$page\\.1"; done
if grep -vE '^\./(usr/((bin|include|lib|share)/.*)?)?$' "$folder/content"; then fail "this is outside of its folders"; fi
if grep -E '/lib(ibverbs|rdmacm)\.so' "$folder/content" | grep -v /weft/; then fail "this would hide the system's libraries"; fi
if dpkg-deb -c "$package" | awk '$2 != "root/root" || substr($1, 6, 1) == "w" || substr($1, 9, 1) == "w"' | grep -v '^l' | grep .; then
  fail "these belong to another user, or others may write them"
fi

echo "== unpacked"
root=$folder/root
dpkg-deb -x "$package" "$root"
"$root/usr/bin/weft" --version
"$root/usr/bin/weft" info >/dev/null
"$root/usr/bin/weft" demo --pcap "$folder/demo.pcap" >/dev/null

echo "== the drop-in libraries, found beside the command"
libraries=$(dirname "$(grep -m1 -E '/weft/libibverbs\.so\.1$' "$folder/content")")
# shellcheck disable=SC2016  # the inner shell is asked
seen=$("$root/usr/bin/weft" run -- sh -c 'echo "$LD_LIBRARY_PATH"')
[[ $seen == "$root/${libraries#./}"* ]] || fail "weft run takes the libraries from $seen"
if command -v rping >/dev/null; then
  port=$((20000 + RANDOM % 10000))
  "$root/usr/bin/weft" run -- rping -s -a 127.0.0.1 -p $port -C 3 -V &
  server=$!
  for _ in 1 2 3 4 5 6 7 8 9 10; do  # until the server listens
    if "$root/usr/bin/weft" run -- rping -c -a 127.0.0.1 -p $port -C 3 -v -V >"$root/rping.log" 2>&1; then break; fi
    sleep 0.3
  done
  wait $server || fail "rping's server from the package ended with $?"
  grep -q 'rdma-ping-2' "$root/rping.log" || fail "rping from the package: $(cat "$root/rping.log")"

  echo "== the script of docs/ci.md, as the package has it"
  mkdir "$folder/ci"
  sed -n '/^    #!\/bin\/sh$/,/^$/s/^    //p' "$root/usr/share/doc/weft/ci.md" >"$folder/ci/rdma-test.sh"
  grep -q 'weft run' "$folder/ci/rdma-test.sh" || fail "ci.md has no script"
  printf '#!/bin/sh\necho 127.0.0.1\n' >"$folder/ci/hostname"  # not every build machine has an address of its own
  chmod +x "$folder/ci/"*
  (cd "$folder/ci" && PATH=$folder/ci:$root/usr/bin:$PATH ./rdma-test.sh >log 2>&1) || fail "rdma-test.sh: $(cat "$folder/ci/log")"
  compgen -G "$folder/ci/rdma-*.pcap" >/dev/null || fail "rdma-test.sh left no capture"
else
  echo "SKIPPED rping: it is not installed (Debian package rdmacm-utils): the package's libraries are not tried"
fi
