#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Makes a release's Debian packages, weft and weft-dev, with their checksums. It signs nothing.
#
#   cmake/release.sh [options] [COMMIT]    COMMIT is HEAD unless given; changes that are not committed are left out
#
#   --arch amd64 | arm64  only this one (repeatable); both unless given
#   --output FOLDER       build/release unless given: the packages, SHA256SUMS, and below work/ what a later run continues
#   --build FOLDER        pack this build folder, for this machine, instead of building COMMIT
#
# The machine's own architecture is built with what ./demo installs (cmake/packages.txt). arm64 is cross-compiled in a Debian 12
# root of its own, so that nothing is installed here: that needs root, debootstrap, network and 4 GB, and qemu-user-static comes
# into that root to start what was made. A run that was interrupted is continued by the next one.
set -euo pipefail
export LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=$PATH:/usr/sbin:/sbin
here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
source=${here%/*}
say() { echo "release: $*" >&2; }
fail() { say "$*"; exit 1; }
bad() { say "$*"; usage >&2; exit 2; }
usage() { sed -n '3,/^set -/p' "$0" | sed '$d; s/^# \?//'; }

arches=() output=$source/build/release build='' commit=''
while [ $# -gt 0 ]; do
  case $1 in
    --arch) [[ ${2-} =~ ^(amd64|arm64)$ ]] || bad "--arch wants amd64 or arm64"; arches+=("$2"); shift ;;
    --output) [ -n "${2-}" ] || bad "--output wants a folder"; output=$2; shift ;;
    --build) [ -f "${2-}/CPackConfig.cmake" ] || bad "--build wants a build folder, with CPackConfig.cmake in it"; build=$(readlink -f "$2"); shift ;;
    -h|--help) usage; exit 0 ;;
    -*) bad "unknown option $1" ;;
    *) [ -z "$commit" ] || bad "more than one commit"; commit=$1 ;;
  esac
  shift
done
machine=$(dpkg --print-architecture) || fail "dpkg is missing: packages are made on Debian"
[ -z "$build" ] || arches=("$machine")
[ ${#arches[@]} -gt 0 ] || arches=(amd64 arm64)
mkdir -p "$output/work" || fail "cannot write into $output"
output=$(readlink -f "$output") work=$(readlink -f "$output/work")

# step WHAT COMMAND...: its words go into a log, whose end is shown when it fails.
step() {
  local what=$1 begin=$SECONDS; shift
  say "$what"
  "$@" >"$work/log" 2>&1 </dev/null || { tail -n 30 "$work/log" >&2; fail "$what: failed (whole log: $work/log)"; }
  say "  $((SECONDS - begin)) s"
}

# The commit's files, at the same place in every run: a build there continues.
checkout() {
  local id
  id=$(git -C "$source" rev-parse --verify --quiet "${commit:-HEAD}^{commit}") || fail "no commit ${commit:-HEAD} in $source"
  SOURCE_DATE_EPOCH=$(git -C "$source" log -1 --format=%ct "$id")
  export SOURCE_DATE_EPOCH
  say "commit $id"
  [ "$(cat "$work/source/.commit" 2>/dev/null)" != "$id" ] || return 0
  rm -rf "$work/source" && mkdir "$work/source"
  git -C "$source" archive "$id" | tar -x -C "$work/source"
  echo "$id" >"$work/source/.commit"
}

# inside COMMAND...: in the root for arm64. The mounts are gone with the command.
# shellcheck disable=SC2016  # the inner shell's
inside() {
  unshare -m sh -c 'root=$1 work=$2; shift 2; mkdir -p "$root/work"
    mount --bind "$work" "$root/work" && mount -t proc proc "$root/proc" && exec chroot "$root" "$@"' sh "$root" "$work" "$@"
}

# From the groups build and pack of packages.txt: programs for this machine, the rest for arm64.
packages_for_arm64() {
  echo crossbuild-essential-arm64 qemu-user-static
  awk -F'|' '/^(build|pack) / { gsub(/ /, "", $2); print $2 ($3 ~ /^ *cmd/ ? "" : ":arm64") }' "$source/cmake/packages.txt"
}

make_root() {
  local packages free
  mapfile -t packages < <(packages_for_arm64 | tr ' ' '\n')
  [ "$(cat "$root/.packages" 2>/dev/null)" != "${packages[*]}" ] || return 0
  [ "$(id -u)" = 0 ] || fail "arm64 needs root, for debootstrap and chroot: use sudo, or --arch $machine"
  command -v debootstrap >/dev/null || fail "debootstrap is missing: apt-get install debootstrap"
  free=$(df --output=avail -m "$work" | tail -n 1)
  [ "$free" -ge 4000 ] || fail "arm64 needs 4,000 MB in $work; $((free)) are free"
  if [ ! -d "$root" ]; then
    rm -rf --one-file-system "$root.new"
    step "making a Debian 12 root (needs the network)" debootstrap --variant=minbase bookworm "$root.new" http://deb.debian.org/debian
    echo 'deb http://deb.debian.org/debian-security bookworm-security main' >>"$root.new/etc/apt/sources.list"
    echo force-unsafe-io >"$root.new/etc/dpkg/dpkg.cfg.d/quick"
    mv "$root.new" "$root"
  fi
  inside dpkg --add-architecture arm64
  step "fetching package lists (needs the network)" inside apt-get update
  step "installing the cross compiler and arm64's libraries into that root" \
    inside sh -c 'dpkg --configure -a && apt-get install -y --no-install-recommends "$@"' sh "${packages[@]}"
  # What looks into binaries for cpack (WeftSbom.cmake) has to know arm64's.
  ln -sf ../../bin/aarch64-linux-gnu-objdump "$root/usr/local/bin/objdump"
  echo "${packages[*]}" >"$root/.packages"
}

# pack BUILD-FOLDER PACKAGES-FOLDER
pack() { (cd "$1" && cpack -G DEB -B "$2"); }

release_options=(-G Ninja -DCMAKE_BUILD_TYPE=Release -DWEFT_TESTS=OFF -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=16)
build_own() {
  [ "$1" = "$machine" ] || fail "this machine is $machine: $1 is made on a machine of its own"
  step "configuring for $1" cmake -S "$work/source" -B "$work/$1" "${release_options[@]}"
  step "building for $1" cmake --build "$work/$1"
  step "packing for $1" pack "$work/$1" "$work/packed-$1"
}
build_arm64() {
  root=$work/root
  make_root
  step "configuring for arm64" inside env PKG_CONFIG=aarch64-linux-gnu-pkg-config cmake -S /work/source -B /work/arm64 "${release_options[@]}" \
    -DCMAKE_SYSTEM_NAME=Linux -DCMAKE_SYSTEM_PROCESSOR=aarch64 -DCMAKE_LIBRARY_ARCHITECTURE=aarch64-linux-gnu \
    -DCMAKE_C_COMPILER=aarch64-linux-gnu-gcc -DCMAKE_CXX_COMPILER=aarch64-linux-gnu-g++ \
    -DCMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64-static -DCPACK_DEBIAN_PACKAGE_ARCHITECTURE=arm64
  step "building for arm64" inside cmake --build /work/arm64
  # dpkg-shlibdeps goes by DEB_HOST_ARCH.
  step "packing for arm64" inside env DEB_HOST_ARCH=arm64 SOURCE_DATE_EPOCH="$SOURCE_DATE_EPOCH" sh -c 'cd /work/arm64 && cpack -G DEB -B /work/packed-arm64'
  rm -rf "$work/try" && mkdir "$work/try"
  dpkg-deb -x "$(echo "$work"/packed-arm64/weft_*_arm64.deb)" "$work/try"
  local words
  for words in --version demo; do
    # shellcheck disable=SC2086  # words
    step "arm64's weft $words under emulation" inside sh -c 'cd /tmp && qemu-aarch64-static /work/try/usr/bin/weft "$@"' sh $words
  done
}

if [ -n "$build" ]; then
  step "packing $build" pack "$build" "$work/packed-$machine"
else
  checkout
  for arch in "${arches[@]}"; do
    rm -rf "$work/packed-$arch"
    if [ "$arch" = arm64 ] && [ "$machine" != arm64 ]; then build_arm64; else build_own "$arch"; fi
  done
fi
rm -f "$output"/*.deb "$output/SHA256SUMS"
for arch in "${arches[@]}"; do cp "$work/packed-$arch"/*.deb "$output"; done
(cd "$output" && sha256sum ./*.deb | sed 's, \./, ,' >SHA256SUMS.new && mv SHA256SUMS.new SHA256SUMS)
say "made, in $output:"
cat "$output/SHA256SUMS"
