#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A capture of many short connections, and what `weft audit` makes of it: beyond --max-connections it describes none, counts all,
and needs no memory for them.

    many_connections.py WEFT                                   the test
    many_connections.py --write FILE COUNT [--every N]         such a capture; each Nth breaks a rule
    many_connections.py --measure WEFT COUNT [audit options]   seconds and memory of the auditor
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree
from collections import Counter
from pathlib import Path

from command import fits

ROOT = Path(__file__).resolve().parents[2]
FIN, SYN, ACK = 1, 2, 16
REQUEST, REPLY = b"MPA ID Req Frame", b"MPA ID Rep Frame"


def startup(key, reserved):
    return key + bytes([0x40 | reserved, 1, 0, 0])  # CRC, revision 1, no private data


class Capture:
    def __init__(self, file):
        self.file = file
        self.packets = 0
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1))

    def packet(self, to_server, client, sequence, acknowledgement, flags, payload=b""):
        """`client`: address and port; the server is 10.255.0.1:7471."""
        ends = [client, (0x0AFF0001, 7471)]
        (source, from_port), (destination, to_port) = ends if to_server else ends[::-1]
        tcp = struct.pack(">HHIIBBHHH", from_port, to_port, sequence, acknowledgement, 0x50, flags, 0xFFFF, 0, 0) + payload
        ip = struct.pack(">BBHHHBBHII", 0x45, 0, 20 + len(tcp), 0, 0x4000, 64, 6, 0, source, destination)
        octets = bytes(12) + b"\x08\x00" + ip + tcp
        self.packets += 1
        self.file.write(struct.pack("<IIII", self.packets // 1000000, self.packets % 1000000, len(octets), len(octets)) + octets)

    def connection(self, number, broken):
        client = (0x0A000001 + number // 60000, 1024 + number % 60000)
        request, reply = startup(REQUEST, 0x01 if broken else 0), startup(REPLY, 0)
        after, behind = 1001 + len(request), 5001 + len(reply)
        self.packet(True, client, 1000, 0, SYN)
        self.packet(False, client, 5000, 1001, SYN | ACK)
        self.packet(True, client, 1001, 5001, ACK, request)
        self.packet(False, client, 5001, after, ACK, reply)
        self.packet(True, client, after, behind, FIN | ACK)
        self.packet(False, client, behind, after + 1, FIN | ACK)
        self.packet(True, client, after + 1, behind + 1, ACK)


def write(path, count, every):
    with open(path, "wb") as file:
        capture = Capture(file)
        for number in range(count):
            capture.connection(number, every != 0 and number % every == 0)


def audit(weft, capture, folder, *options):
    written, xml_written = folder / "report.json", folder / "report.xml"
    done = subprocess.run([weft, "audit", *options, "--json", written, "--junit", xml_written, capture], capture_output=True, check=False)
    return done.returncode, done.stdout.decode(), json.loads(written.read_text()), xml.etree.ElementTree.parse(xml_written).getroot()


def test(weft, folder):
    count, most = 3000, 7
    capture = folder / "many.pcap"
    write(capture, count, 3)
    status, _, whole, _ = audit(weft, capture, folder)
    assert status == 1 and len(whole["connections"]) == count and "left_out" not in whole
    broken = Counter((finding["clause"], finding["severity"]) for finding in whole["findings"])
    assert sum(broken.values()) >= count // 3, broken

    status, text, short, suites = audit(weft, capture, folder, "--max-connections", str(most))
    schema = json.loads((ROOT / "docs/audit.schema.json").read_text())
    assert not fits(short, schema, schema["$defs"]), fits(short, schema, schema["$defs"])
    assert status == 1 and short["tcp_connections"] == count
    assert len(short["connections"]) == most and short["left_out"]["connections"] == count - most
    counted = Counter((finding["clause"], finding["severity"]) for finding in short["findings"])
    for one in short["left_out"]["findings"]:
        counted[(one["clause"], one["severity"])] += one["count"]
        first = next(f for f in whole["findings"] if f["clause"] == one["clause"] and f["connection"] >= most)
        assert (one["connection"], one["packet"]) == (first["connection"], first["packet"]), one
    assert counted == broken, (counted, broken)
    assert f"{count} of iWARP\n" in text and f"{count - most} more connections of iWARP" in text, text[-600:]
    assert len(suites.findall("testsuite")) == most + 1
    rules = [one for one in short["left_out"]["findings"] if one["severity"] == "violation"]
    assert len(suites.findall("testsuite")[-1].findall(".//failure")) == len(rules) > 0

    # The exit code counts what is not described: here only the last connection breaks a rule.
    with open(capture, "wb") as file:
        forged = Capture(file)
        for number in range(100):
            forged.connection(number, number == 99)
    assert audit(weft, capture, folder, "--max-connections", "1")[0] == 1
    assert subprocess.run([weft, "audit", "--max-connections", "0", capture], capture_output=True, check=False).returncode == 2


def memory(weft, capture, *options):
    """Kilobytes at most."""
    plain = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1")
    with subprocess.Popen([weft, "audit", "--quiet", *options, capture], stderr=subprocess.DEVNULL, env=plain) as process:
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode in (0, 1, 3), process.returncode
    return used.ru_maxrss


def test_memory(weft, folder):
    few, many = folder / "few.pcap", folder / "many.pcap"
    write(few, 4000, 3)
    write(many, 16000, 3)
    used = [memory(weft, capture, "--max-connections", "10") for capture in (few, many)]
    assert used[1] < 1.25 * used[0], used


def test_other_protocols(weft, folder):
    """A connection that speaks something else costs little, whatever a capture has of it."""
    used = []
    for count in (2000, 22000):
        capture = folder / "other.pcap"
        with open(capture, "wb") as file:
            forged = Capture(file)
            for number in range(count):
                client = (0x0A000001 + number // 60000, 1024 + number % 60000)
                forged.packet(True, client, 1, 0, ACK, b"GET / HTTP/1.1\r\nHost: example.com\r\n\r\n")
        used.append(memory(weft, capture))
    assert used[1] - used[0] < 20000 * 5, used  # kilobytes: 5 for each


def measure(weft, count, options):
    with tempfile.TemporaryDirectory() as name:
        capture = Path(name) / "many.pcap"
        write(capture, count, 3)
        begun = time.monotonic()
        used = memory(weft, capture, *options)
        print(f"{count} connections, {capture.stat().st_size / 1e6:.0f} MB: {time.monotonic() - begun:.1f} s, {used / 1024:.0f} MB")


def main():
    words = sys.argv[1:]
    if words[0] == "--write":
        write(words[1], int(words[2]), int(words[4]) if len(words) > 4 else 0)
    elif words[0] == "--measure":
        measure(words[1], int(words[2]), words[3:])
    else:
        with tempfile.TemporaryDirectory() as name:
            test(words[0], Path(name))
            test_memory(words[0], Path(name))
            test_other_protocols(words[0], Path(name))


if __name__ == "__main__":
    main()
