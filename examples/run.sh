#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs both ends of the example on this machine and checks what the server found in its notebook: run.sh PROGRAM
set -euo pipefail
folder=$(mktemp -d)
trap 'kill "$server" 2>/dev/null || true; rm -rf "$folder"' EXIT
"$1" serve >"$folder/server" & server=$!
for _ in {1..100}; do grep -q 'listening on port' "$folder/server" && break; sleep 0.1; done
port=$(sed -n 's/^listening on port //p' "$folder/server")
"$1" visit 127.0.0.1 "$port" "hello from over there"
wait "$server"
cat "$folder/server"
grep -qx 'the notebook says: hello from over there' "$folder/server"
