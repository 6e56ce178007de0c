#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What `weft explain --json` says of each octet is what `weft dissect --json` says, for every capture of pcap-samples/: the same
startup frames and FPDUs, in the same packets, with the same fields; the octets are those of the capture.

    agreement.py WEFT
"""

import json
import subprocess
import sys
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[3] / "pcap-samples"
NO_IWARP = 3


def run(weft, *arguments):
    return subprocess.run([weft, *arguments], capture_output=True, text=True, check=False)


def dissected(weft, capture):
    """(exit code, pieces by connection)"""
    done = run(weft, "dissect", "--json", capture)
    pieces = {}
    for line in map(json.loads, done.stdout.splitlines()):
        if "fields" in line:
            pieces.setdefault(line["connection"], []).append(line)
    return done.returncode, pieces


def explained(weft, capture):
    done = run(weft, "explain", "--json", capture)
    return done.returncode, json.loads(done.stdout) if done.stdout else {"connections": []}


def fields_of(row, model):
    """As `weft dissect` spells them."""
    for at, size, name, value, *meaning in row["fields"]:
        layer, field, *_ = model["names"][name]
        yield {"at": at, "size": size, "layer": layer, "name": field, "value": model["strings"][value],
               "meaning": model["strings"][meaning[0]] if meaning else ""}


def faults_of(piece, row, model):
    """Where a piece and its row differ."""
    plain = [{key: field[key] for key in ("at", "size", "layer", "name", "value", "meaning")} for field in piece["fields"]]
    pairs = {"direction": row["from"], "packet": row["packet"], "stream_offset": row["stream_offset"], "octets": row["size"],
             "what": f"FPDU {row['number']}" if row["kind"] == "fpdu" else "startup frame"}
    for key, value in pairs.items():
        if piece[key] != value:
            yield f"{key}: {piece[key]} and {value}"
    if plain != list(fields_of(row, model)):
        yield f"fields: {plain} and {list(fields_of(row, model))}"
    if len(row["octets"]) != 2 * row["size"]:
        yield "not all octets are there"
    for field in piece["fields"]:
        if field["name"] == "STag" and bytes.fromhex(row["octets"]).find(bytes.fromhex(field["value"][2:])) < 0 and not row.get("markers"):
            yield "the octets are not those of the fields"


def compare(weft, capture):
    """(faults, pieces)"""
    code, pieces = dissected(weft, capture)
    other_code, model = explained(weft, capture)
    faults = [] if code == other_code else [f"exit codes {code} and {other_code}"]
    rows = {c["id"]: [row for row in c["rows"] if "fields" in row] for c in model["connections"]}
    if code != NO_IWARP and {key for key, some in rows.items() if some} != set(pieces):
        faults.append(f"connections {set(pieces)} and {set(rows)}")
    for connection, there in pieces.items():
        here = rows.get(connection, [])
        if len(here) != len(there):
            faults.append(f"connection {connection}: {len(there)} pieces and {len(here)}")
        for piece, row in zip(there, here):
            faults += [f"connection {connection}, packet {piece['packet']}: {fault}" for fault in faults_of(piece, row, model)]
    return faults, sum(map(len, pieces.values()))


def main():
    (weft,) = sys.argv[1:]
    captures, pieces, wrong = sorted(SAMPLES.rglob("*.pcap")), 0, 0
    for capture in captures:
        faults, count = compare(weft, str(capture))
        pieces += count
        for fault in faults[:5]:
            print(f"{capture.relative_to(SAMPLES)}: {fault}"[:2000])
        wrong += bool(faults)
    print(f"{len(captures)} captures, {pieces} startup frames and FPDUs, {wrong} captures differ")
    return 1 if wrong or len(captures) < 200 or pieces < 2000 else 0


sys.exit(main())
