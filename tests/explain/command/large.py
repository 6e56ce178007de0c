#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""large.py WEFT: a capture of 100,000 messages becomes a page that says what it leaves out, within 300 MiB and 10 seconds."""
import pathlib
import resource
import struct
import subprocess
import sys
import tempfile
import time

MESSAGES = 100_000
MOST_KIB = 300 * 1024
MOST_SECONDS = 10
CLIENT, SERVER = (bytes([10, 0, 0, 1]), 40000), (bytes([10, 0, 0, 2]), 4420)


class Capture:
    """A TCP connection as pcap, one segment a packet. Nothing checks its checksums."""

    def __init__(self, file):
        self.file = file
        self.next = {CLIENT: 1000, SERVER: 2000}
        self.time = 0
        file.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))

    def packet(self, sender, octets=b"", flags=0x18):
        receiver = SERVER if sender is CLIENT else CLIENT
        ack = self.next[receiver] if flags & 0x10 else 0
        tcp = struct.pack("!HHIIBBHHH", sender[1], receiver[1], self.next[sender], ack, 0x50, flags, 65535, 0, 0)
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 40 + len(octets), 0, 0x4000, 64, 6, 0) + sender[0] + receiver[0]
        frame = bytes(12) + b"\x08\x00" + ip + tcp + octets
        self.time += 1
        self.file.write(struct.pack("<IIII", self.time // 1_000_000, self.time % 1_000_000, len(frame), len(frame)) + frame)
        self.next[sender] += len(octets) + (1 if flags & 3 else 0)


def write(path):
    with open(path, "wb") as file:
        capture = Capture(file)
        capture.packet(CLIENT, flags=0x02)
        capture.packet(SERVER, flags=0x12)
        capture.packet(CLIENT, flags=0x10)
        capture.packet(CLIENT, b"MPA ID Req Frame" + bytes([0, 1, 0, 0]))  # RFC 5044 figure 9, no CRCs
        capture.packet(SERVER, b"MPA ID Rep Frame" + bytes([0, 1, 0, 0]))
        for msn in range(1, MESSAGES + 1):
            ulpdu = struct.pack("!BBIIII", 0x41, 0x43, 0, 0, msn, 0) + bytes(8)  # a Send: RFC 5041 figure 4
            capture.packet(CLIENT, struct.pack("!H", len(ulpdu)) + ulpdu + bytes(-(2 + len(ulpdu)) % 4) + bytes(4))


def main(weft):
    with tempfile.TemporaryDirectory() as folder:
        trace, page = pathlib.Path(folder, "large.pcap"), pathlib.Path(folder, "large.html")
        write(trace)
        begun = time.monotonic()
        subprocess.run([weft, "explain", trace, "-o", page], check=True, stdout=subprocess.DEVNULL)
        seconds = time.monotonic() - begun
        kib = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
        said = "Only the first 20000 rows of the capture are shown." in page.read_text()
    print(f"{MESSAGES} messages: {seconds:.1f} s, {kib / 1024:.0f} MiB, the page {'says' if said else 'does not say'} what it leaves out")
    return 0 if said and kib <= MOST_KIB and seconds <= MOST_SECONDS else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
