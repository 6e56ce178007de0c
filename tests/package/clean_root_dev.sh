#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Does the Debian package weft-dev name everything that a program built on weft needs, and nothing else? Unpacks it into a root that holds
# the files of the tools below and of the packages in its Depends, with theirs in turn, and builds and runs the examples there.
# clean_root_dev.sh PACKAGE   (exit code 77: no namespace can be had, nothing was tried)
set -euo pipefail
# shellcheck source=tests/package/root.sh
. "$(dirname "$0")/root.sh"
enter "$@"
package=$1
neighbour=$(cd "$(dirname "$0")/../install/neighbour" && pwd)
export WEFT_INSIDE_SECONDS=300
# The compiler, what CMake needs to run it, and what examples/run.sh calls. The package depends on none of them.
tools=(g++ cmake ninja-build dash bash coreutils grep sed)
for name in "${tools[@]}"; do installed "$name" || skip "the package $name is not installed: nothing can be compiled with Debian's own"; done
make_root

mapfile -t direct < <(dpkg-deb -f "$package" Depends | names)
list=$(closure "${tools[@]}" | sort)
mapfile -t of_tools <<<"$list"
list=$(closure "${direct[@]}" | sort | comm -23 - <(printf '%s\n' "${of_tools[@]}"))
mapfile -t asked_for <<<"$list"
echo "== beside ${tools[*]} and theirs: ${asked_for[*]}"
files_of "${of_tools[@]}" "${asked_for[@]}" | copy
dpkg-deb -x "$package" "$root"
cp -r "$neighbour" "$root/tmp/neighbour"
chmod -R a+rX "$root/tmp/neighbour"
examples=/usr/share/doc/weft-dev/examples

# SOURCES: through find_package(weft).
by_cmake() {
  inside cmake -S "$1" -B "/tmp/build-${1##*/}" -G Ninja >"$folder/cmake.log" 2>&1 || { cat "$folder/cmake.log"; return 1; }
  inside cmake --build "/tmp/build-${1##*/}"
  inside ctest --test-dir "/tmp/build-${1##*/}" --output-on-failure --no-tests=error
}
echo "== find_package(weft)"
by_cmake $examples
by_cmake /tmp/neighbour

echo "== pkg-config weft"
flags=$(inside pkg-config --cflags --libs weft)
for flag in $flags; do
  [[ $flag != -I* ]] || [ ! -e "$root${flag#-I}/verbs" ] || fail "pkg-config brings a folder of weft's into the include path: $flag"
done
# shellcheck disable=SC2086  # flags are words
inside g++ -std=c++23 -Wall -Wextra -I /tmp/neighbour/own -o /tmp/program /tmp/neighbour/neighbour.cpp $flags
inside /tmp/program

echo "== each package that it asks for is needed"
# Links all of weft's libraries, whatever a program uses of them: FLAGS of the others.
link_all() {
  local own=()
  mapfile -t own < <(tr ' ' '\n' <<<"$flags" | grep '^-lweft_')
  echo 'int main() {}' | inside g++ -x c++ - -o /tmp/all -Wl,--whole-archive "${own[@]}" -Wl,--no-whole-archive "$@" -pthread
}
# PACKAGE: the libraries it links with; those of what it stands for, where it has no files.
libraries_of() {
  local found
  found=$(files_of "$1" | sed -nE 's,.*/lib([^/]+)\.so$,-l\1,p')
  [ -n "$found" ] || found=$(dpkg-query -W -f '${Depends}\n' "$1" | names | while read -r name; do files_of "$(real "$name")"; done | sed -nE 's,.*/lib([^/]+)\.so$,-l\1,p')
  echo "$found"
}
mapfile -t others < <(tr ' ' '\n' <<<"$flags" | grep '^-l' | grep -v '^-lweft_')
link_all "${others[@]}" || fail "weft's libraries do not link with ${others[*]}"
for name in "${direct[@]}"; do
  [ "$name" != pkg-config ] || continue
  library=$(libraries_of "$name")
  mapfile -t rest < <(printf '%s\n' "${others[@]}" | grep -vxF -e "$library")
  [ ${#rest[@]} -lt ${#others[@]} ] || fail "$name is asked for, and pkg-config names nothing of it ($library)"
  if link_all "${rest[@]}" 2>"$folder/link.log"; then fail "$name is asked for, and not needed: all links without $library"; fi
  grep -qE 'undefined reference|DSO missing' "$folder/link.log" || fail "without $library: $(cat "$folder/link.log")"
done
for program in pkg-config pkgconf; do [ ! -e "$root/usr/bin/$program" ] || mv "$root/usr/bin/$program" "$folder"; done
if inside cmake -S $examples -B /tmp/build-without -G Ninja >/dev/null 2>&1; then fail "find_package(weft) needs no pkg-config"; fi
echo "== well"
