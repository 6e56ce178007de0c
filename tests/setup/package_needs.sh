#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# cpack on a machine without what it runs says which Debian package has it. package_needs.sh BUILD-FOLDER
set -euo pipefail
build=$1
source=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
for program in cmake cpack; do ln -s "$(command -v $program)" "$work/bin/$program"; done
fail() { echo "package_needs.sh: $*; it was said:" >&2; cat "$work/said" >&2; exit 1; }
provide() { printf '#!/bin/sh\n' >"$work/bin/$1"; chmod +x "$work/bin/$1"; }
# Programs are looked for in this PATH, and not where the system has them.
forced=(-D CMAKE_FIND_USE_CMAKE_SYSTEM_PATH=OFF)
needs() { PATH=$work/bin cmake "${forced[@]}" -D CPACK_GENERATOR="$1" -P "$source/cmake/WeftPackageNeeds.cmake" >"$work/said" 2>&1; }

PATH=$work/bin cpack -G DEB "${forced[@]}" --config "$build/CPackConfig.cmake" -B "$work/made" >"$work/said" 2>&1 && fail "cpack is content"
[ "$(grep -c 'CMake Error' "$work/said")" = 1 ] || fail "not one error, but several"
grep -qF '    dpkg-dev: ' "$work/said" || fail "dpkg-dev is not named"
grep -qF '    file: ' "$work/said" || fail "file is not named"
grep -qF '    apt-get install --no-install-recommends dpkg-dev file' "$work/said" || fail "no command to type"

provide dpkg-shlibdeps
needs DEB && fail "file is not missed"
grep -qF '    apt-get install --no-install-recommends file' "$work/said" || fail "not file alone"
provide file
needs DEB || fail "nothing is missing"
rm "$work/bin/file"
needs TGZ || fail "an archive needs neither"
echo "cpack says what is missing"
