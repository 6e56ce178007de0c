#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# All C++ is formatted as .clang-format says. To mend: tests/lint/format.sh --fix
set -euo pipefail
cd "$(dirname "$0")/../.."
mode=(--dry-run --Werror)
[ "${1-}" = --fix ] && mode=(-i)
find common packet mpa ddp rdmap engine conformance explain probe transport verbs compat tools bench tests examples docs -name build -prune -o \
  \( -name '*.cpp' -o -name '*.hpp' \) -print0 | xargs -0 -r clang-format-19 "${mode[@]}"
