# SPDX-License-Identifier: Apache-2.0
"""Holds what `weft audit` says of many small conversations, each with one thing changed, against what an oracle expects."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/forge"))
from conversation import write_pcap  # noqa: E402

ANYTHING = None  # no clause need be found: a ULP may have meant what the change says


def audit(weft, conversations):
    """The clauses found in each. They are connections of one capture: each is to have a pair of addresses of its own."""
    with tempfile.TemporaryDirectory() as folder:
        capture, report = Path(folder) / "mutations.pcap", Path(folder) / "report.json"
        write_pcap(capture, [packet for packets in conversations for packet in packets])
        status = subprocess.run([weft, "audit", "--quiet", "--json", report, capture], check=False).returncode
        document = json.loads(report.read_text())
    if status != 1 or len(document["connections"]) != len(conversations):
        sys.exit(f"exit status {status}, {len(document['connections'])} connections of {len(conversations)}")
    found = [[] for _ in conversations]
    for finding in document["findings"]:
        found[finding["connection"]].append(finding["clause"])
    return found


def fits(clauses, answer):
    if answer is ANYTHING:
        return not clauses
    return sorted(clauses) == sorted(answer if isinstance(answer, tuple) else (answer,))


def compare(weft, cases):
    """`cases`: what was changed, the packets, and the right answers: a clause that is found alone, a tuple of clauses, or
    ANYTHING where nothing need be found. Returns the exit status."""
    wrong = 0
    for (label, _, expected), clauses in zip(cases, audit(weft, [packets for _, packets, _ in cases])):
        if any(fits(clauses, answer) for answer in expected):
            continue
        wrong += 1
        wanted = sorted(str(clause) for clause in expected)
        print(f"{label}: found {clauses or 'nothing'}, expected one of {wanted}", file=sys.stderr)
    print(f"{len(cases)} bits flipped, {wrong} answers wrong")
    return 1 if wrong else 0
