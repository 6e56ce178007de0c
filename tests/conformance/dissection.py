#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft dissect --json` over pcap-samples/: the fields of each startup frame and FPDU cover all of its octets, each once, and say
what the forge put there.

    dissection.py WEFT
"""

import json
import subprocess
import sys
from pathlib import Path

SAMPLES = Path(__file__).resolve().parents[2] / "pcap-samples"
NO_IWARP = 3


def dissect(weft, capture, *options):
    done = subprocess.run([weft, "dissect", "--json", *options, capture], capture_output=True, text=True, check=False)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()]


def covered(piece):
    """Markers lie between the octets of other fields, whose sizes do not count them."""
    return sum(field["size"] for field in piece["fields"]) == piece["octets"] and piece["fields"][0]["at"] == 0


def values(piece, *names):
    return [field["value"] for field in piece["fields"] if field["name"] in names]


def check_story(weft):
    """What tools/forge/story.py tells, in order."""
    _, pieces = dissect(weft, SAMPLES / "forged/story.pcap")
    told = [field["meaning"].partition(": ")[2] for piece in pieces for field in piece["fields"] if field["name"] == "RDMAP Control"]
    expected = ["Send", "Send", "RDMA Write", "RDMA Write", "RDMA Read Request", "RDMA Read Response", "RDMA Read Response", "Send",
                "Send", "Atomic Request", "Atomic Response", "Send with Invalidate", "Immediate Data", "Send", "Send"]
    _, one = dissect(weft, SAMPLES / "forged/story.pcap", "--packet", "10")
    read = values(one[0], "SinkSTag", "SinkTO", "RDMARDSZ", "SrcSTag", "SrcTO") if len(one) == 1 else []
    wrong = []
    if told != expected:
        wrong.append(f"the story was read as {told}")
    if read != ["0x55667700", "0x0000000000002000", "0x00000018", "0x10203040", "0x0000000000001000"]:
        wrong.append(f"the Read Request in packet 10 was read as {read}")
    _, nfs = dissect(weft, SAMPLES / "70-nfs3-rdma.pcap")
    if not any("RPC-over-RDMA" in field["meaning"] for piece in nfs for field in piece.get("fields", [])):
        wrong.append("nothing of RPC-over-RDMA is recognised in the capture of NFS")
    return wrong


def main():
    weft = sys.argv[1]
    wrong, count = check_story(weft), 0
    for capture in sorted(SAMPLES.glob("**/*.pcap")):
        status, pieces = dissect(weft, capture)
        if status not in (0, NO_IWARP) or (status == 0) != bool(pieces):
            wrong.append(f"{capture.name}: exit status {status}, {len(pieces)} pieces")
        for piece in pieces:
            count += 1
            if "fields" in piece and not covered(piece):
                wrong.append(f"{capture.name}, packet {piece['packet']}: the fields do not cover the {piece['octets']} octets")
    for line in wrong[:40]:
        print(line, file=sys.stderr)
    print(f"{count} frames and FPDUs, {len(wrong)} wrong")
    return 1 if wrong or not count else 0


if __name__ == "__main__":
    sys.exit(main())
