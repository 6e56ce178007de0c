#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `weft audit` against pcap-samples/: each broken sample gives exactly the finding that NAME.expected.json names, a forged
conforming one none, a recording of weft what its file says of the connection too, and a capture of siw no violation but those in
pcap-samples/siw.expected.json.

    samples.py WEFT

NAME.expected.json: {"findings": [{"clause": ..., "severity": ..., "direction": ..., "packet": ...}], "also": [clauses that may
come of the same cause], "connections": [{"mpa": {...}, "messages": {...}}], "terminates": ["responder 1/2/0x05"]}. In a finding
and in "mpa" the keys that are there have to agree, the rest is complete.
"""

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "pcap-samples"
NO_VIOLATION, VIOLATIONS, NO_IWARP = 0, 1, 3


def audit(weft, capture, folder):
    report = Path(folder) / "report.json"
    status = subprocess.run([weft, "audit", "--quiet", "--json", report, capture], check=False, stderr=subprocess.DEVNULL).returncode
    return status, json.loads(report.read_text())


def seen(finding, keys):
    return {key: finding[key] for key in keys}


def agrees(got, wanted):
    """Each key of `wanted`, and of the objects in it, has its value in `got`."""
    if isinstance(wanted, dict):
        return isinstance(got, dict) and all(key in got and agrees(got[key], value) for key, value in wanted.items())
    return got == wanted


def terminates(weft, capture):
    """Who sent a Terminate, with layer, type and code."""
    done = subprocess.run([weft, "dissect", "--json", capture], capture_output=True, text=True, check=False)
    pieces = [json.loads(line) for line in done.stdout.splitlines()]
    told = [(piece, re.match("layer ([0-9]+), type ([0-9]+), code (0x[0-9a-f]{2})", field["meaning"] or ""))
            for piece in pieces for field in piece.get("fields", [])]
    return [f"{piece['direction']} {'/'.join(code.groups())}" for piece, code in told if code]


def connection_problems(got, wanted):
    problems = [f"{key} is {got['mpa'].get(key)}, not {value}" for key, value in wanted["mpa"].items()
                if not agrees(got["mpa"].get(key), value)]
    if got["messages"] != wanted["messages"]:
        problems.append(f"messages are {got['messages']}, not {wanted['messages']}")
    return problems


def report_problems(weft, capture, report, expected):
    """What the report says of the connections otherwise."""
    if "connections" not in expected:
        return []
    if len(report["connections"]) != len(expected["connections"]):
        return [f"{len(report['connections'])} connections, not {len(expected['connections'])}"]
    problems = [problem for got, wanted in zip(report["connections"], expected["connections"])
                for problem in connection_problems(got, wanted)]
    errors = terminates(weft, capture)
    if errors != expected["terminates"]:
        problems.append(f"the Terminates are {errors}, not {expected['terminates']}")
    return problems


def findings_agree(status, findings, expected):
    also = set(expected.get("also", []))
    left = [f for f in findings if f["clause"] not in also]
    wanted = expected["findings"]
    right = len(left) == len(wanted) and all(seen(f, w.keys()) == w for f, w in zip(left, wanted))
    violations = any(f["severity"] == "violation" for f in findings)
    return right and also <= {f["clause"] for f in findings} and status == (VIOLATIONS if violations else NO_VIOLATION)


def check(weft, capture, expected, folder):
    """1 when `weft audit` says of the capture anything but what is expected, and tells that; else 0."""
    status, report = audit(weft, capture, folder)
    problems = report_problems(weft, capture, report, expected)
    if not findings_agree(status, report["findings"], expected):
        problems.append(f"exit status {status}, expected {expected['findings']} and {expected.get('also', [])}, found")
        problems += [f"    {seen(f, ('clause', 'severity', 'direction', 'packet', 'message'))}" for f in report["findings"]]
    for problem in problems:
        print(f"{capture.name}: {problem}", file=sys.stderr)
    return 1 if problems else 0


def check_expected(weft, expected_file, folder):
    capture = expected_file.with_name(expected_file.name.replace(".expected.json", ".pcap"))
    return check(weft, capture, json.loads(expected_file.read_text()), folder)


def check_siw(weft, folder):
    """Which clauses siw breaks how often in which capture; anything else is a false alarm, or news."""
    known = json.loads((SAMPLES / "siw.expected.json").read_text())
    wrong = 0
    captures = sorted(SAMPLES.glob("*.pcap"))
    for capture in captures:
        status, report = audit(weft, capture, folder)
        counts = {}
        for finding in report["findings"]:
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
    print(f"{len(expected_files)} samples with an expectation each, {wrong} wrong; {siw} captures of siw, {siw_wrong} wrong")
    return 1 if wrong or siw_wrong else 0


if __name__ == "__main__":
    sys.exit(main())
