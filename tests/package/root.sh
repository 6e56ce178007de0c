# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Sourced by the tests that make a root of some packages' files and run in it what a package of weft has. Installs nothing.
# Usage: . root.sh; enter "$@"; make_root; files_of PACKAGE... | copy; inside COMMAND...
PATH=$PATH:/usr/sbin:/sbin
fail() { echo "${0##*/}: $*" >&2; exit 1; }
skip() { echo "SKIPPED: $*"; exit 77; }

# A mount and a network namespace, with rights over a chroot. Runs the script again in there.
enter() {
  if [ -z "${WEFT_CLEAN_ROOT-}" ]; then
    for how in "unshare -m -n" "unshare -r -m -n"; do
      # shellcheck disable=SC2086  # words
      if $how chroot / true 2>/dev/null; then WEFT_CLEAN_ROOT=1 exec $how "$0" "$@"; fi
    done
    skip "neither root nor a user namespace: the package was not tried in a clean root"
  fi
  ip link set lo up || skip "no loopback interface in a network namespace (Debian package iproute2)"
}

# An empty root in $folder/root, gone when the script ends.
make_root() {
  folder=$(mktemp -d)
  root=$folder/root
  trap 'umount -l "$root/proc" "$root/dev/null" 2>/dev/null || true; rm -rf --one-file-system "$folder"' EXIT
  chmod 755 "$folder"
  mkdir -p "$root/usr" "$root/proc" "$root/etc/ld.so.conf.d" "$root/tmp"
  chmod 1777 "$root/tmp"
  for link in bin sbin lib lib32 lib64; do if [ -L /$link ]; then mkdir -p "$root/usr/$link"; ln -s usr/$link "$root/$link"; fi; done
  mount --rbind /proc "$root/proc"
  mkdir "$root/dev"
  : >"$root/dev/null"
  mount --bind /dev/null "$root/dev/null"
}

# "a (>= 1) | b, c": one a line, a|b for either of them.
names() { tr ',' '\n' | sed -E 's/\([^)]*\)//g; s/:[a-z0-9]+//g; s/ //g' | grep . || true; }
installed() { [ "$(dpkg-query -W -f '${db:Status-Status}\n' "$1" 2>/dev/null | head -1)" = installed ]; }
providers() { dpkg-query -W -f '${Package}\t${Provides}\n' | awk -F'\t' -v n="$1" '{ gsub(/ |\([^)]*\)/, "", $2); split($2, p, ","); for (i in p) if (p[i] == n) print $1 }'; }
real() {  # of a|b: the first package that is installed, or one that provides one of them
  local name
  for name in ${1//|/ }; do if installed "$name"; then echo "$name"; return; fi; done
  for name in ${1//|/ }; do providers "$name"; done | head -1
}
# These packages, what they ask for, and what that asks for.
closure() {
  local -A seen=()
  local queue=("$@") name found
  while [ ${#queue[@]} -gt 0 ]; do
    name=${queue[0]} queue=("${queue[@]:1}")
    found=$(real "$name")
    [ -n "$found" ] || fail "the package depends on $name, which is not installed here"
    [ -z "${seen[$found]-}" ] || continue
    seen[$found]=1
    mapfile -t -O ${#queue[@]} queue < <(dpkg-query -W -f '${Pre-Depends},${Depends}\n' "$found" | head -1 | names)
  done
  printf '%s\n' "${!seen[@]}"
}
files_of() {  # regular files and links, at their place in a merged /usr
  dpkg -L "$@" | sort -u | { if [ -L /lib ]; then sed -E 's,^/(bin|sbin|lib|lib32|lib64)/,/usr/\1/,'; else cat; fi; } \
    | grep -vE '^/usr/share/(doc|man|locale|info|lintian)/' | while read -r file; do
        if [ -L "$file" ] || [ -f "$file" ]; then echo ".$file"; fi
      done | sort -u
}
copy() { tar -C / -c --no-recursion -T - | tar -C "$root" -x --no-same-owner; }

# Without root's rights, where there is more than one user.
inside() {
  local user=()
  if setpriv --reuid=65534 true 2>/dev/null; then user=(--userspec=65534:65534); fi
  env -i PATH=/usr/bin:/bin HOME=/tmp TMPDIR=/tmp CXX=g++ timeout "${WEFT_INSIDE_SECONDS-60}" "$(command -v chroot)" "${user[@]}" "$root" "$@"
}
