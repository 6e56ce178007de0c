#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tries the page in Debian's Chromium, headless: browser.sh PAGE-WRITER FOLDER TEST.mjs...
# What Node.js needs for that comes from npm into FOLDER, at the versions and with the checksums of package-lock.json.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
writer=$1 folder=$2
shift 2
skip() { echo "SKIPPED: $*"; exit 77; }
for tool in node chromium npm; do
  command -v "$tool" >/dev/null || skip "no $tool here (cmake/packages.txt, group test): the page is not tried in a browser"
done
mkdir -p "$folder"
exec 9>"$folder/lock"  # several entries of ctest may come at once
flock 9
if ! cmp -s "$here/package-lock.json" "$folder/installed-lock.json"; then
  cp "$here/package.json" "$here/package-lock.json" "$folder"
  # A checksum that is wrong is a failure, no reason to skip. Where no registry answers, npm's own pauses are minutes.
  if ! said=$(cd "$folder" && npm ci --ignore-scripts --no-audit --no-fund --no-update-notifier \
              --fetch-retries 3 --fetch-retry-mintimeout 500 --fetch-retry-maxtimeout 3000 2>&1); then
    [[ $said == *EINTEGRITY* ]] && { echo "$said"; exit 1; }
    skip "npm cannot fetch playwright-core and axe-core: $(grep -i -m 1 "npm err" <<<"$said" || echo "$said")"
  fi
  cp "$here/package-lock.json" "$folder/installed-lock.json"
fi
flock -u 9
export WEFT_PAGE_WRITER=$writer WEFT_NODE_MODULES=$folder/node_modules WEFT_CHROMIUM
WEFT_CHROMIUM=$(command -v chromium)
if [ "$1" = --screenshots ]; then exec node "$here/screenshots.mjs" "${@:2}"; fi
tests=()
for name in "$@"; do tests+=("$here/$name"); done
exec node --test --test-reporter=spec "${tests[@]}"
