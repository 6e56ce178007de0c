#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `weft audit` against pcap-samples/: each broken sample gives exactly the finding that NAME.expected.json names, a forged
conforming one none, and a capture of siw no violation but those in pcap-samples/siw.expected.json.

    samples.py WEFT
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "pcap-samples"
NO_VIOLATION, VIOLATIONS, NO_IWARP = 0, 1, 3


def audit(weft, capture, folder):
    report = Path(folder) / "report.json"
    status = subprocess.run([weft, "audit", "--quiet", "--json", report, capture], check=False, stderr=subprocess.DEVNULL).returncode
    return status, json.loads(report.read_text())["findings"]


def seen(finding, keys):
    return {key: finding[key] for key in keys}


def check_expected(weft, expected_file, folder):
    capture = expected_file.with_name(expected_file.name.replace(".expected.json", ".pcap"))
    expected = json.loads(expected_file.read_text())
    status, findings = audit(weft, capture, folder)
    also = set(expected.get("also", []))
    left = [f for f in findings if f["clause"] not in also]
    wanted = expected["findings"]
    right = len(left) == len(wanted) and all(seen(f, w.keys()) == w for f, w in zip(left, wanted))
    right = right and also <= {f["clause"] for f in findings}
    violations = any(f["severity"] == "violation" for f in findings)
    right = right and status == (VIOLATIONS if violations else NO_VIOLATION)
    if right:
        return 0
    print(f"{capture.name}: exit status {status}, expected {wanted} and {sorted(also)}, found", file=sys.stderr)
    for finding in findings:
        print("   ", seen(finding, ("clause", "severity", "direction", "packet", "message")), file=sys.stderr)
    return 1


def check_siw(weft, folder):
    """Which clauses siw breaks how often in which capture; anything else is a false alarm, or news."""
    known = json.loads((SAMPLES / "siw.expected.json").read_text())
    wrong = 0
    captures = sorted(SAMPLES.glob("*.pcap"))
    for capture in captures:
        status, findings = audit(weft, capture, folder)
        counts = {}
        for finding in findings:
            if finding["severity"] == "violation":
                counts[finding["clause"]] = counts.get(finding["clause"], 0) + 1
        expected = known.get(capture.name, {})
        if status == NO_IWARP and expected != "no iWARP":
            print(f"{capture.name}: no iWARP found", file=sys.stderr)
            wrong += 1
        elif status != NO_IWARP and counts != expected:
            print(f"{capture.name}: found {counts}, expected {expected}", file=sys.stderr)
            wrong += 1
    return len(captures), wrong


def main():
    weft = sys.argv[1]
    expected_files = sorted(SAMPLES.glob("*/*.expected.json"))
    if not expected_files:
        sys.exit(f"no samples in {SAMPLES}")
    with tempfile.TemporaryDirectory() as folder:
        wrong = sum(check_expected(weft, file, folder) for file in expected_files)
        siw, siw_wrong = check_siw(weft, folder)
    print(f"{len(expected_files)} samples of the forge, {wrong} wrong; {siw} captures of siw, {siw_wrong} wrong")
    return 1 if wrong or siw_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
