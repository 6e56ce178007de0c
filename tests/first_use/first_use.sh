#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Does what README.md and docs/ say work for a reader who has nothing but it? Makes a root of Debian's smallest system (debootstrap), puts a
# copy of the checkout into it, and types there what the documents say, in their order (walk.py; the tables are in plan.py).
# first_use.sh [DOCUMENT...]   (exit code 77: the root cannot be made here, nothing was tried)
# WEFT_FIRST_USE_ROOT=FOLDER takes a root that is there, and leaves it: to try a document again without building anew.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
PATH=$PATH:/usr/sbin:/sbin
skip() { echo "SKIPPED: what the documents say was not tried in a clean root: $*"; exit 77; }

# --- A mount, a process and a host name of its own: what is mounted and started below goes with this process
if [ -z "${WEFT_FIRST_USE-}" ]; then
  [ "$(id -u)" = 0 ] || skip "debootstrap needs root"
  command -v debootstrap >/dev/null || skip "debootstrap is not installed"
  unshare -m -p -f -u -n true 2>/dev/null || skip "no namespaces can be made here"
  WEFT_FIRST_USE=1 exec unshare -m -p -f -u --kill-child --mount-proc "$0" "$@"
fi
hostname first-use

# Debian's archives as this machine has them, and what it tells apt of the way there.
mapfile -t archives < <(apt-get indextargets --format '$(REPO_URI) $(RELEASE) $(COMPONENT)' 'Created-By: Packages' 'Origin: Debian' |
                        grep -E ' bookworm(-updates|-security)? main$' | sort -u)
archive=$(printf '%s\n' "${archives[@]}" | sed -n 's/ bookworm main$//p' | head -1)
[ -n "$archive" ] || skip "apt knows no archive of Debian 12 here (apt-get update?)"
probe=$(mktemp)
/usr/lib/apt/apt-helper download-file "${archive%/}/dists/bookworm/InRelease" "$probe" >/dev/null 2>&1 || { rm -f "$probe"; skip "$archive does not answer"; }
rm -f "$probe"
proxy=$(apt-config shell proxy Acquire::http::Proxy)
if [ -n "$proxy" ]; then eval "$proxy"; export http_proxy=$proxy; fi

# --- The root: in memory where there is plenty, so that nothing is left behind whatever happens
root=${WEFT_FIRST_USE_ROOT-}
if [ -z "$root" ]; then
  root=$(mktemp -d)
  trap 'umount -R -l "$root" 2>/dev/null || true; rm -rf --one-file-system "$root"' EXIT
  trap 'exit 1' INT TERM
  [ "$(awk '/MemAvailable/ { print int($2 / 1000000) }' /proc/meminfo)" -lt 12 ] || mount -t tmpfs -o mode=755,size=8g first-use "$root"
fi
if [ ! -e "$root/etc/debian_version" ]; then
  echo "== debootstrap from $archive"
  debootstrap --variant=minbase bookworm "$root" "$archive" >"$root.log" 2>&1 || { tail -n 20 "$root.log"; rm -f "$root.log"; exit 1; }
  rm -f "$root.log"
fi
umount "$root/proc" 2>/dev/null || true  # debootstrap leaves it there, and it shows another namespace's processes
mount -t proc proc "$root/proc"
mount --rbind /dev "$root/dev"
printf 'deb %s\n' "${archives[@]}" >"$root/etc/apt/sources.list"
{ apt-config dump | grep -E '^Acquire::(Check-|https?::)' || true; echo 'Acquire::Retries "3";'; } >"$root/etc/apt/apt.conf.d/99here"
echo force-unsafe-io >"$root/etc/dpkg/dpkg.cfg.d/here"  # it does not have to outlive a power failure
cp /etc/resolv.conf "$root/etc/"
printf '127.0.0.1 localhost\n::1 localhost\n192.0.2.7 first-use\n' >"$root/etc/hosts"  # as every container has it

# --- The checkout: what a clone would bring, and what is changed of it. It is where it is outside, so that the build below holds there
mkdir -p "$root$source"
if git -C "$source" -c safe.directory='*' ls-files -z >"$root/tmp/files" 2>/dev/null; then
  tar -C "$source" --ignore-failed-read --null -T "$root/tmp/files" -c 2>/dev/null | tar -C "$root$source" -x --no-same-owner
else  # a release's archive
  tar -C "$source" --exclude='./build*' -c . | tar -C "$root$source" -x --no-same-owner
fi
# And the release build. There ninja compares each object with its sources and headers once more, so it compiles what a missing header calls
# for. Objects that include a header of a package of another version than the root's are left out. Only the commands that compile the
# others are not tried then; WEFT_FIRST_USE_ANEW=1 tries them, too.
other_versions() {
  local package
  while read -r package; do
    apt-cache policy "$package" | awk -v p="$package" '$1 == "Installed:" { installed = $2 } $1 == "Candidate:" && $2 != installed { print p }'
  done < <(awk -F'|' '$1 ~ /^build/ { gsub(/ /, "", $2); print $2 }' "$source/cmake/packages.txt")
}
mapfile -t others < <(other_versions)
if [ -z "${WEFT_FIRST_USE_ANEW-}" ] && [ -e "$source/build/tools/weft" ] && [[ " ${others[*]} " != *" g++ "* ]]; then
  tar -C "$source" --format=posix --exclude='build/tests' --exclude='build/check' --exclude='build/faults' -c build |
    tar -C "$root$source" -x --no-same-owner
  for package in "${others[@]}"; do dpkg -L "$package" | grep ^/usr/include || true; done >"$root/tmp/headers"
  # ninja prints an object, and then, indented, each file that it was made from.
  ninja -C "$source/build" -t deps | awk 'NR == FNR { other[$1]; next } /^[^ ]/ { object = $1; sub(/:$/, "", object) } /^ / && $1 in other { print object }' \
    "$root/tmp/headers" - | sort -u >"$root/tmp/objects"
  (cd "$root$source/build" && xargs -r rm -f <"$root/tmp/objects")
  echo "== the release build comes along, but for $(wc -l <"$root/tmp/objects") objects with headers of other versions: ${others[*]-}"
  rm "$root$source/build/build.ninja"
  sed -i 's/^WEFT_TESTS:BOOL=.*/WEFT_TESTS:BOOL=OFF/; s/^\(WEFT_WASM_[A-Z]*:[A-Z]*\)=.*/\1=NOTFOUND/' "$root$source/build/CMakeCache.txt"
fi
ln -s "$source" "$root/root/weft"

# --- A network without a way out, with the address that the documents take for an example
unshare -n sh -c 'ip link set lo up && ip address add 192.0.2.7/32 dev lo && exec sleep infinity' &
network=$!
until [ -e /proc/$network/net/tcp ] && nsenter --net=/proc/$network/ns/net ip -o address show dev lo 2>/dev/null | grep -q 192.0.2.7; do
  kill -0 $network 2>/dev/null || skip "no loopback interface in a network namespace (Debian package iproute2)"
  sleep 0.1
done

# One processor: the other tests want the other. nproc and cmake look at these.
outside() {
  env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root TERM=dumb ${http_proxy+http_proxy="$http_proxy"} \
    OMP_NUM_THREADS=1 CMAKE_BUILD_PARALLEL_LEVEL=1 python3 -B "$@"
}
result=0
echo "== what the documents say"
outside "$here/walk.py" "$root" "$network" "$source" "$@" || result=1
if [ $# = 0 ]; then
  echo "== what docs/first-ten-minutes.svg shows"
  outside "$here/recording.py" --root "$root" "$network" "$source" || result=1
fi
exit $result
