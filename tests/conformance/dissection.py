#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft dissect --json` over pcap-samples/: the fields of each startup frame and FPDU cover all of its octets, each once, and say
what the forge put there, also where the capture lacks the beginning or octets in between.

    dissection.py WEFT
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/forge"))
from conversation import write_pcap  # noqa: E402
from story import Story  # noqa: E402

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


def meanings(piece):
    return {field["name"]: field["meaning"] for field in piece["fields"]}


# Capture, packet, and what the only FPDU in it holds: (field, value). The octets are those of the forge, or of siw.
HELD = [
    ("forged/story.pcap", 15, [("AOpCode", "0"), ("Request Identifier", "0x00000077"), ("Remote STag", "0x10203040"),
                               ("Remote Tagged Offset", "0x0000000000001008"), ("Add or Swap Data", "0x0000000000000001"),
                               ("Add or Swap Mask", "0x0000000000000000"), ("Compare Data", "0x0000000000000000"),
                               ("Compare Mask", "0xffffffffffffffff")]),
    ("forged/story.pcap", 16, [("Original Request Identifier", "0x00000077"),
                               ("Original Remote Data Value", "0x0000000000000029")]),
    ("forged/story.pcap", 17, [("Opcode", "4"), ("Invalidate STag", "0x10203040"), ("MSN", "0x00000003")]),
    ("forged/story.pcap", 18, [("Opcode", "8"), ("Immediate Data", b"8 octets".hex(" "))]),
    ("broken/rdmap-4.8-10.pcap", 9, [("Layer", "0"), ("EType", "1"), ("Error Code", "0x00"), ("M", "1"), ("D", "1"), ("R", "0"),
                                     ("Terminated DDP Header", "41 41 00 00 00 00 00 00 00 01 00 00 00 01 00 00 00 00")]),
    ("broken/rdmap-iana-3.2-01.pcap", 9, [("Layer", "1"), ("EType", "0"), ("Error Code", "0x01"),
                                          ("DDP Segment Length", "0x003e"),
                                          ("Terminated DDP Header", "81 40 10 20 30 40 00 00 00 00 00 00 10 00")]),
    ("21-term-read-bad-stag.pcap", 10, [("Layer", "1"), ("EType", "0"), ("D", "0"), ("DDP Segment Length", "0x0000"),
                                        ("Terminated DDP Header", "41 41 00 00 00 00 00 00 00 01 00 00 00 64 00 00 00 00")]),
    ("broken/ddp-4-01.pcap", 8, [("ULPDU", "c1 40 10 20 30 40 00 00 00 00 00 00 00")]),
]


def check_held(weft):
    wrong = []
    for capture, packet, fields in HELD:
        _, pieces = dissect(weft, SAMPLES / capture, "--packet", str(packet))
        for name, value in fields:
            if len(pieces) != 1 or values(pieces[0], name) != [value]:
                wrong.append(f"{capture}, packet {packet}: {name} is not {value}")
    for capture, packet, name, words in (("21-term-read-bad-stag.pcap", 10, "Layer and EType", "as Linux siw does"),
                                         ("broken/ddp-4-01.pcap", 8, "ULPDU", "too short"),
                                         ("broken/rdmapx-4-02.pcap", 8, "header", "cut short: it has 52 octets")):
        _, pieces = dissect(weft, SAMPLES / capture, "--packet", str(packet))
        if words not in meanings(pieces[0]).get(name, ""):
            wrong.append(f"{capture}, packet {packet}: nothing says `{words}`")
    return wrong


def check_markers(weft):
    """MPA-4.3-04, MPA-4.3-05: at each multiple of 512 octets after the startup frame, none elsewhere, and each points at the
    length field of its FPDU."""
    _, pieces = dissect(weft, SAMPLES / "forged/story-markers.pcap")
    wrong, seen = [], 0
    for direction in ("initiator", "responder"):
        mine = [piece for piece in pieces if piece["direction"] == direction]
        begin = mine[0]["stream_offset"] + mine[0]["octets"]
        marked = any(values(piece, "Marker") for piece in mine)
        for piece in mine[1:]:
            at = {field["name"]: field["at"] for field in piece["fields"]}
            position = piece["stream_offset"] - begin
            found = [(f["at"], f["value"]) for f in piece["fields"] if f["name"] == "Marker"]
            due = [here for here in range(piece["octets"]) if marked and (position + here) % 512 == 0]
            if found != [(here, f"0000 {max(0, here - at['ULPDU_Length']):04x}") for here in due]:
                wrong.append(f"story-markers.pcap, {direction}, {piece['what']}: Markers {found}, due at {due}")
            seen += len(found)
    return wrong if seen > 1 else [f"story-markers.pcap: {seen} Markers"]


def check_resynchronised(weft):
    """A capture that begins in mid-connection, or lost a packet: what can be followed reads as in the whole capture."""
    story, wrong = Story().start().steps().close(), []
    with tempfile.TemporaryDirectory() as folder:
        capture = Path(folder) / "story.pcap"
        write_pcap(capture, story.packets)
        whole = {piece["packet"]: piece["fields"] for piece in dissect(weft, capture)[1]}
        for what, lost in (("without its beginning", range(1, 8)), ("without packet 10", range(10, 11))):
            write_pcap(capture, [packet for number, packet in enumerate(story.packets, 1) if number not in lost])
            _, pieces = dissect(weft, capture)
            packets = [number for number in range(1, len(story.packets) + 1) if number not in lost]
            shown = {packets[piece["packet"] - 1]: piece["fields"] for piece in pieces if "fields" in piece}
            if shown != {number: fields for number, fields in whole.items() if number not in lost}:
                wrong.append(f"the story {what}: packets {sorted(shown)} of {sorted(whole)}, or other fields in them")
            if not any("FPDUs again" in piece.get("remark", "") for piece in pieces):
                wrong.append(f"the story {what}: nothing tells it")
    return wrong


def main():
    weft = sys.argv[1]
    wrong, count = check_story(weft) + check_held(weft) + check_markers(weft) + check_resynchronised(weft), 0
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
