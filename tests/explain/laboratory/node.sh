#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a script of the laboratory's tests with node. node.sh SCRIPT ARGUMENTS...
command -v node >/dev/null || { echo "SKIPPED: node is not installed, so the WebAssembly module cannot be run"; exit 77; }
exec node "$@"
