#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# clang-tidy over the sources of some modules: tidy.sh BUILD-FOLDER ROOM... (the build folder holds compile_commands.json).
set -euo pipefail
cd "$(dirname "$0")/../.."
build=$1; shift
find "$@" -name '*.cpp' -print0 | xargs -0 -r -n 1 clang-tidy-19 --quiet -p "$build" --extra-arg=-Wno-unknown-warning-option 2> >(grep -vE 'warnings? generated|^$' >&2)
