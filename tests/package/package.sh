#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Are the Debian packages whole, modest in what they ask for, and does what is in them run from a clean folder? Installs nothing.
# package.sh BUILD-FOLDER VERSION
set -euo pipefail
build=$1 version=$2
here=$(cd "$(dirname "$0")" && pwd)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
fail() { echo "package: $*" >&2; exit 1; }

release=$here/../../cmake/release.sh
"$release" --build "$build" --output "$folder/cpack" >"$folder/log" 2>&1 || { cat "$folder/log"; exit 1; }
machine=$(dpkg --print-architecture)
made=$(cd "$folder/cpack" && echo ./*.deb)
[ "$made" = "./weft-dev_${version}_$machine.deb ./weft_${version}_$machine.deb" ] || fail "cpack made $made"
# As docs/ci.md has it: this names one of the two.
[ "$(compgen -G "$folder/cpack/weft_*.deb" | wc -l)" = 1 ] || fail "weft_*.deb is not the package weft alone"
[ "$(cd "$folder/cpack" && sha256sum --strict -c SHA256SUMS | grep -c ': OK$')" = 2 ] || fail "SHA256SUMS: $(cat "$folder/cpack/SHA256SUMS")"
echo "== what the release script refuses"
# WANTED-CODE WORD ARGUMENT...
refuses() {
  local code=0 said
  said=$("$release" --output "$folder/refused" "${@:3}" 2>&1) || code=$?
  [[ $code == "$1" && $said == *"$2"* ]] || fail "release.sh ${*:3}: exit code $code: $said"
}
refuses 2 'amd64 or arm64' --arch mips
refuses 2 CPackConfig.cmake --build "$folder"
refuses 1 'no commit' no-such-commit
package=$folder/cpack/weft_${version}_$machine.deb
development=$folder/cpack/weft-dev_${version}_$machine.deb
mkdir -p "$build/tests/package"  # for clean_root.sh and clean_root_dev.sh
cp "$package" "$build/tests/package/weft.deb"
cp "$development" "$build/tests/package/weft-dev.deb"

echo "== what they say of themselves"
fields=(Package Version Section Architecture Depends Suggests Maintainer Description)
dpkg-deb -f "$package" "${fields[@]}"
dpkg-deb -f "$development" "${fields[@]}"
# PACKAGE FIELD VALUE
says() { [ "$(dpkg-deb -f "$1" "$2")" = "$3" ] || fail "$1: $2: $(dpkg-deb -f "$1" "$2")"; }
says "$package" Package weft
says "$package" Section net
says "$development" Package weft-dev
says "$development" Section libdevel
depends=$(dpkg-deb -f "$package" Depends)
[[ $depends == *libc6* ]] || fail "it does not depend on libc6: dpkg-shlibdeps found nothing"
# The libraries that it replaces for a program may be there or not.
for name in libibverbs librdmacm libweft -dev pkg-config; do [[ $depends != *$name* ]] || fail "it depends on $name"; done
for each in "$package" "$development"; do
  for name in Provides Conflicts Replaces Breaks; do says "$each" $name ""; done
  [[ $(dpkg-deb -f "$each" Description | head -1) == "userspace iWARP: "* ]] || fail "the summary of $each"
done

# list PACKAGE: its files, into $folder/content.
list() {
  dpkg-deb -c "$1" | awk '{ print $6 }' >"$folder/content"
  if grep -vE '^\./(usr/((bin|include|lib|share)/.*)?)?$' "$folder/content"; then fail "this is outside of its folders"; fi
  if dpkg-deb -c "$1" | awk '$2 != "root/root" || substr($1, 6, 1) == "w" || substr($1, 9, 1) == "w"' | grep -v '^l' | grep .; then
    fail "these belong to another user, or others may write them"
  fi
}
has() { grep -qE "^\./usr/$1\$" "$folder/content" || fail "it has no file usr/$1"; }
has_not() { if grep -E "^\./usr/$1" "$folder/content"; then fail "this belongs into the other package"; fi; }

echo "== what is in weft-dev"
list "$development"
has include/weft/weft.hpp
has include/weft/verbs/verbs.hpp
has include/weft/conformance/connection_audit.hpp
has 'lib/.*libweft_verbs\.a'
has 'lib/.*cmake/weft/weft-config\.cmake'
has 'lib/.*pkgconfig/weft\.pc'
has share/doc/weft-dev/copyright
has share/doc/weft-dev/LICENSE
for file in CMakeLists.txt remote_notebook.cpp judge_startup.cpp run.sh kv_store.hpp kv_store_read.hpp kv_store_read.cpp kv_store_server.cpp kv_store_client.cpp kv_store.sh asio/CMakeLists.txt asio/crowd.cpp \
            nfs/{CMakeLists.txt,nfs.cpp,nfs3.cpp,nfs3.hpp,rpc_rdma.cpp,rpc_rdma.hpp,xdr.hpp}; do has "share/doc/weft-dev/examples/$file"; done
has_not bin/
has_not share/doc/weft/
has_not share/man/
has_not 'lib/.*\.so'
grep -E '^\./usr/include/' "$folder/content" | grep -vE '^\./usr/include/(weft/.*)?$' && fail "this is in the include path of every program"

echo "== what is in weft"
list "$package"
has bin/weft
has share/doc/weft/copyright
has share/doc/weft/LICENSE
has share/doc/weft/audit.schema.json
has share/doc/weft/probe.schema.json
for file in libweft.so.0 libibverbs.so libibverbs.so.1 librdmacm.so librdmacm.so.1 librspreload.so libweftpaths.so; do has "lib/.*weft/${file//./\\.}"; done
has 'share/man/man1/weft\.1'
# COMMAND...: its subcommands, from the table after --help. Each has a page.
"$build/tools/weft" --help | sed -n '/^Subcommands:/,/^$/s/^  \([a-z][a-z-]*\).*/\1/p' >"$folder/subcommands"
[ "$(wc -l <"$folder/subcommands")" -ge 8 ] || fail "weft --help lists the subcommands $(cat "$folder/subcommands")"
while read -r name; do has "share/man/man1/weft-$name\\.1"; done <"$folder/subcommands"
has_not include/
has_not share/doc/weft-dev/
has_not 'lib/.*\.(a|cmake|pc)$'
if grep -E '/lib(ibverbs|rdmacm)\.so' "$folder/content" | grep -v /weft/; then fail "this would hide the system's libraries"; fi

echo "== unpacked"
root=$folder/root
dpkg-deb -x "$package" "$root"
"$root/usr/bin/weft" --version
"$root/usr/bin/weft" info >/dev/null
"$root/usr/bin/weft" demo --pcap "$folder/demo.pcap" >/dev/null
python3 "$here/documents.py" "$root/usr"

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
