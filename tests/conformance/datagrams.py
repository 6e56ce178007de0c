#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft dissect` shows the datagrams of weft's queue pairs (docs/decisions/0032-datagrams.md), names what is wrong with one, and
leaves other UDP alone; `weft audit` judges none of it. The captures are made here, from the RFCs and the decision.

    datagrams.py WEFT
"""

import ipaddress
import json
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools/forge"))
from conversation import checksum  # noqa: E402

QKEY = 0x11111111
V4, V6 = ("192.0.2.1", "192.0.2.2"), ("2001:db8::1", "2001:db8::2")
NO_IWARP, NOT_FOUND = 3, 1


def frame(ends, source_port, port, payload):
    """Ethernet, IP (RFC 791, RFC 8200) and UDP (RFC 768)."""
    source, destination = (ipaddress.ip_address(end).packed for end in ends)
    size = 8 + len(payload)
    udp = struct.pack(">HHHH", source_port, port, size, 0)
    pseudo = struct.pack(">BBH", 0, 17, size) if len(source) == 4 else struct.pack(">IHBB", size, 0, 0, 17)
    udp = udp[:6] + struct.pack(">H", checksum(source + destination + pseudo + udp + payload) or 0xFFFF) + payload
    if len(source) == 16:
        return bytes(12) + b"\x86\xdd" + struct.pack(">IHBB", 0x60000000, size, 17, 64) + source + destination + udp
    ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + size, 0, 0x4000, 64, 17, 0) + source + destination
    return bytes(12) + b"\x08\x00" + ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:] + udp


def datagram(source_port=4000, port=5000, payload=b"hello", version=1, flags=0, length=None, immediate=0):
    size = len(payload) if length is None else length
    return struct.pack(">BBHIIII", version, flags, size, port << 8 | 255, source_port << 8 | 255, QKEY, immediate) + payload


def write(path, frames):
    """Each a frame, or a frame and how much of it was captured."""
    octets = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1)
    for number, one in enumerate(frames):
        whole, kept = one if isinstance(one, tuple) else (one, len(one))
        octets += struct.pack("<IIII", 1, number, kept, len(whole)) + whole[:kept]
    path.write_bytes(octets)


# Frame, and what dissect says is wrong: "" nothing, None that it is not weft's.
CASES = [
    (frame(V4, 4000, 5000, datagram()), ""),
    (frame(V6, 4000, 5000, datagram(flags=3, immediate=7)), ""),
    (frame(V4, 4000, 5000, datagram(payload=b"")), ""),
    (frame(V4, 4000, 5000, datagram(version=2)), "the version is not 1"),
    (frame(V4, 4000, 5000, datagram(flags=4)), "a reserved flag is set"),
    (frame(V4, 4000, 5000, datagram(length=9)), "the length is not that of the payload"),
    (frame(V4, 4000, 5000, datagram()[:14]), "the datagram is shorter than its header"),
    ((frame(V4, 4000, 5000, datagram()), 58), "the header was not captured completely"),
    ((frame(V4, 4000, 5000, datagram()), 64), ""),  # of the payload, some octets are not there
    (frame(V4, 4000, 53, b"a question " * 9), None),
    (frame(V4, 4000, 5000, datagram(source_port=4001)), None),
    (frame(V4, 4000, 5000, b""), None),
    ((frame(V4, 4000, 5000, datagram()), 40), None),  # within the header of UDP
]


def run(weft, *words):
    done = subprocess.run([weft, *map(str, words)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def values(line):
    return {field["name"]: field["value"] for field in line["fields"]}


def check_fields(lines, wrong):
    expected = {"Version": "0x01", "Flags": "0x03", "Rsv": "0", "Imm": "1", "SE": "1", "Length": "0x0005", "Destination QP": "0x001388ff",
                "Source QP": "0x000fa0ff", "Q_Key": "0x11111111", "Immediate Data": "0x00000007", "Payload": b"hello".hex(" ")}
    if values(lines[1]) != expected:
        wrong.append(f"packet 2 was read as {values(lines[1])}")
    ends = {name: lines[1][name] for name in ("packet", "seconds", "source", "destination", "octets")}
    if ends != {"packet": 2, "seconds": "0.000001", "source": "[2001:db8::1]:4000", "destination": "[2001:db8::2]:5000", "octets": 25}:
        wrong.append(f"packet 2 is {ends}")
    for line in lines:
        if any(line["fields"][i]["at"] < line["fields"][i - 1]["at"] for i in range(1, len(line["fields"]))):
            wrong.append(f"packet {line['packet']}: the fields are out of order")


def check_forged(weft, folder, wrong):
    capture = folder / "datagrams.pcap"
    write(capture, [one for one, _ in CASES])
    status, out, _ = run(weft, "dissect", "--json", capture)
    lines = [json.loads(line) for line in out.splitlines()]
    told = {line["packet"]: line["wrong"] for line in lines}
    if status != 0 or told != {number: what for number, (_, what) in enumerate(CASES, 1) if what is not None}:
        wrong.append(f"exit status {status}, datagrams {told}")
    check_fields(lines, wrong)
    status, out, _ = run(weft, "dissect", "--explain", capture)
    for text in ("192.0.2.1:4000 to 192.0.2.2:5000: 5 octets, Q_Key 0x11111111", "solicited, immediate data", "the version is not 1",
                 "The key that the receiver must have"):
        if status != 0 or text not in out:
            wrong.append(f"the text lacks '{text}' (exit status {status})")
    for words, code in ((("--packet", 2), 0), (("--packet", 10), NOT_FOUND), (("--connection", 0), NOT_FOUND)):
        if run(weft, "dissect", *words, capture)[0] != code:
            wrong.append(f"dissect {words}: exit status is not {code}")
    status, out, errors = run(weft, "audit", capture)
    if status != NO_IWARP or "error" in out + errors or "violat" in out:
        wrong.append(f"audit: exit status {status}: {out}{errors}")


def check_cut(weft, folder, wrong):
    """No prefix and no octet of a datagram crashes anything."""
    whole, frames = frame(V4, 4000, 5000, datagram(flags=3)), []
    for kept in range(len(whole)):
        frames.append((whole, kept))
    for at in range(14, len(whole)):
        frames.append(whole[:at] + bytes([whole[at] ^ 0xFF]) + whole[at + 1:])
    capture = folder / "cut.pcap"
    write(capture, frames)
    for words in (("dissect", capture), ("dissect", "--all", "--explain", capture), ("dissect", "--json", capture), ("audit", capture),
                  ("explain", "--text", capture)):
        if run(weft, *words)[0] not in (0, NO_IWARP):
            wrong.append(f"{words}: exit status {run(weft, *words)[0]}")


def check_long(weft, folder, wrong):
    capture = folder / "long.pcap"
    write(capture, [frame(V4, 4000, 5000, datagram())] * 100)
    if "... 60 more datagrams" not in run(weft, "dissect", "--overview", capture)[1]:
        wrong.append("a long overview is not cut")
    if run(weft, "dissect", "--overview", "--all", capture)[1].count("Q_Key 0x") != 100:
        wrong.append("--all does not show all")


def main():
    wrong = []
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_forged, check_cut, check_long):
            check(sys.argv[1], Path(folder), wrong)
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
