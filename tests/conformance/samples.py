#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds `weft audit` against pcap-samples/: each capture gives exactly the findings that NAME.expected.json names; the captures
of siw and of weft also what their files say of the connections.

    samples.py WEFT                   the test
    samples.py WEFT --write CAPTURE   NAME.expected.json of these captures from what weft says today: read what changes

NAME.expected.json: {"findings": [{"clause": ..., "severity": ..., "direction": ..., "packet": ...}], "also": [clauses that may
come of the same cause], "connections": [{"mpa": {...}, "messages": {...}}], "terminates": ["responder 1/2/0x05"]}. In a finding
and in "mpa" the keys that are there have to agree, the rest is complete. "exit_status" is there where most octets are missing.
"""

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "pcap-samples"
NO_VIOLATION, VIOLATIONS, UNREADABLE, NO_IWARP = 0, 1, 2, 3


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
    """The end that sent a Terminate, with layer, type and code."""
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
    return right and also <= {f["clause"] for f in findings} and status == exit_status(findings, expected)


def exit_status(findings, expected):
    if "exit_status" in expected:
        return expected["exit_status"]
    if expected.get("connections") == []:
        return NO_IWARP
    return VIOLATIONS if any(f["severity"] == "violation" for f in findings) else NO_VIOLATION


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


def check_expected(weft, capture, folder):
    return check(weft, capture, json.loads(capture.with_suffix(".expected.json").read_text()), folder)


def start_up(mpa):
    return {key: {k: v for k, v in part.items() if k != "packet"} if isinstance(part, dict) else part
            for key, part in mpa.items()}


def expectation(weft, capture, folder):
    """What `weft audit` says of it today."""
    status, report = audit(weft, capture, folder)
    incomplete = {"exit_status": status} if status == UNREADABLE else {}
    return {"findings": [seen(f, ("clause", "severity", "direction", "packet")) for f in report["findings"]], "also": [], **incomplete,
            "connections": [{"mpa": start_up(c["mpa"]), "messages": c["messages"]} for c in report["connections"]],
            "terminates": terminates(weft, capture)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("weft")
    parser.add_argument("--write", nargs="+", metavar="CAPTURE", type=Path, default=[])
    options = parser.parse_args()
    captures = sorted(SAMPLES.rglob("*.pcap*"))
    if not captures:
        sys.exit(f"no samples in {SAMPLES}")
    with tempfile.TemporaryDirectory() as folder:
        for capture in options.write:
            expected = expectation(options.weft, capture, folder)
            capture.with_suffix(".expected.json").write_text(json.dumps(expected, indent=2) + "\n")
        expectations = {path.with_suffix("").with_suffix("") for path in SAMPLES.rglob("*.expected.json")}
        alone = {path.with_suffix("") for path in captures} ^ expectations
        for path in sorted(alone):
            print(f"{path}: a capture and its .expected.json go together", file=sys.stderr)
        wrong = len(alone) + sum(check_expected(options.weft, capture, folder) for capture in captures
                                 if capture.with_suffix("") not in alone)
    print(f"{len(captures)} samples, {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
