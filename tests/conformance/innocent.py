#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""innocent.py WEFT: `weft audit` accuses nobody in captures of correct ends that lack packets or octets (innocent/)."""
import json
import pathlib
import subprocess
import sys

CAPTURES = sorted(pathlib.Path(__file__).with_name("innocent").glob("*.pcap"))


def violations(weft, capture):
    run = subprocess.run([weft, "audit", "--summary", capture], capture_output=True, text=True, timeout=60)
    if run.returncode not in (0, 1, 2):
        return [f"exit code {run.returncode}"]
    return [line for line in run.stdout.splitlines() if line.startswith("violation")]


def main():
    assert len(CAPTURES) == 30, CAPTURES
    found = {path.name: told for path in CAPTURES if (told := violations(sys.argv[1], path))}
    if found:
        sys.exit(json.dumps(found, indent=2))


main()
