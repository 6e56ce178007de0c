#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast `weft audit` reads a large capture, by the clock, and what memory it takes: beside `tshark -q -z io,stat,0`, which
dissects the same file, and `capinfos`, which only reads it. They take turns on one file, which lies in the page cache; a program
that takes longer than half a minute runs once.

The captures are conforming iWARP with CRCs: RDMA Writes, complete in one FPDU each, on eight connections in turn.

Exit codes: 0 measured, 1 a program failed or the audit found something, 2 wrong usage, 77 tshark or capinfos is missing."""
import argparse
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time

from machine import machine

PROJECT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(PROJECT / "tools/forge"))
from conversation import ACK, PSH  # noqa: E402
from story import ADVERTISED, Story  # noqa: E402
from wire import WRITE, Framer, tagged  # noqa: E402

CONNECTIONS = 8
ROTATION = 16  # frames of different octets
SLOW = 30      # seconds: a program that takes longer runs once
SHAPES = {     # name: octets of a Write, FPDUs of a frame, what it stands for
    "mtu1500": (1440, 1, "an FPDU of 1460 octets in each frame"),
    "offload": (1440, 44, "44 such FPDUs in each frame, as segmentation offload shows them"),
    "small": (64, 16, "16 Writes of 64 octets in each frame"),
}


def words(octets):
    """The sum of its 16-bit words, from which Internet checksums are made."""
    return sum(struct.unpack(f">{len(octets) // 2}H", octets))


def checksum(total):
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class Stream:
    """One connection's frames from the initiator: the same few again and again, but for what TCP and IP count."""

    def __init__(self, number, payloads):
        self.story = Story(number=number + 1).start()
        here, there = (self.story.talk.ends[side] for side in ("initiator", "responder"))
        self.sequence, acknowledged = here.sequence, there.sequence
        self.frames = []
        for payload in payloads:
            ip = struct.pack(">BBHHHBBH", 0x45, 0, 40 + len(payload), 0, 0x4000, 64, 6, 0) + here.address + there.address
            ip = ip[:10] + struct.pack(">H", checksum(words(ip))) + ip[12:]
            tcp_front = struct.pack(">HH", here.port, there.port)
            tcp_back = struct.pack(">IBBH", acknowledged, 0x50, PSH | ACK, 65535)
            total = words(here.address + there.address) + 6 + 20 + len(payload) + words(tcp_front + tcp_back + payload)
            size = 14 + 40 + len(payload)
            front = there.mac + here.mac + b"\x08\x00" + ip + tcp_front
            self.frames.append((size, front, tcp_back, b"\0\0" + payload, total, len(payload)))

    def frame(self, index):
        size, front, back, payload, total, length = self.frames[index]
        sequence = self.sequence & 0xFFFFFFFF
        self.sequence += length
        total += (sequence >> 16) + (sequence & 0xFFFF)
        return size, b"".join((front, struct.pack(">I", sequence), back, struct.pack(">H", checksum(total)), payload))


def write_capture(path, octets, shape):
    size, fpdus, _ = SHAPES[shape]
    framer = Framer()
    payloads = []
    for index in range(ROTATION):
        data = bytes((index + i * 7) & 0xFF for i in range(size))
        payloads.append(b"".join(framer.frame(tagged(WRITE, ADVERTISED, 0x1000 * (index + i), data)) for i in range(fpdus)))
    streams = [Stream(number, payloads) for number in range(CONNECTIONS)]
    with path.open("wb", buffering=1 << 20) as out:
        clock = written = 0

        def put(length, frame):
            nonlocal clock, written
            clock += 1
            out.write(struct.pack("<IIII", 1_700_000_000 + clock // 10**6, clock % 10**6, length, length))
            out.write(frame)
            written += 16 + length

        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for stream in streams:
            for packet in stream.story.packets:
                put(len(packet), packet)
        turn = 0
        while written < octets:
            put(*streams[turn % CONNECTIONS].frame(turn // CONNECTIONS % ROTATION))
            turn += 1


def run(command):
    """Seconds, and the most memory in MiB."""
    began = time.monotonic()
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    said = process.stderr.read()
    _, status, usage = os.wait4(process.pid, 0)
    code = process.returncode = os.waitstatus_to_exitcode(status)
    if code != 0:
        sys.exit(f"{' '.join(command)}: exit code {code}: {said.decode()}")
    return time.monotonic() - began, usage.ru_maxrss / 1024


def measure(path, weft, repetitions, left_out):
    commands = {
        "weft audit": [weft, "audit", "--quiet", str(path)],
        "capinfos": ["capinfos", str(path)],
        "tshark": ["tshark", "-q", "-z", "io,stat,0", "-r", str(path)],
    }
    for name in left_out:
        del commands[name]
    seconds, memory = {name: [] for name in commands}, dict.fromkeys(commands, 0.0)
    for _ in range(repetitions):
        for name, command in commands.items():
            if seconds[name] and seconds[name][0] > SLOW:
                continue
            took, most = run(command)
            seconds[name].append(took)
            memory[name] = max(memory[name], most)
    octets = path.stat().st_size
    return [{"program": name, "seconds": seconds[name], "mb_per_second": octets / 1e6 / statistics.median(seconds[name]),
             "memory_mib": memory[name]} for name in commands]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--weft", default=str(PROJECT / "build/tools/weft"), help="the command")
    parser.add_argument("--octets", type=float, default=1e9, help="of each capture (10^9: tshark takes minutes)")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--shape", choices=SHAPES, action="append", help="this shape alone (all)")
    parser.add_argument("--without", choices=("capinfos", "tshark"), action="append", default=[], help="do not run it")
    parser.add_argument("--folder", help="where the captures lie meanwhile; wants room for one (a temporary folder)")
    parser.add_argument("--json", metavar="FILE", help="where all figures go")
    arguments = parser.parse_args()
    if not all(shutil.which(name) for name in ("tshark", "capinfos")):
        print("tshark or capinfos is not installed")
        return 77
    result = {"machine": machine(), "octets": int(arguments.octets), "shapes": {}}
    print(f"{'capture':10} {'program':12} {'MB/s':>8} {'MiB':>8} {'runs':>5}   medians, most memory")
    for shape in arguments.shape or SHAPES:
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            path = pathlib.Path(folder) / f"{shape}.pcap"
            write_capture(path, int(arguments.octets), shape)
            rows = measure(path, arguments.weft, arguments.repetitions, arguments.without)
        result["shapes"][shape] = {"what": SHAPES[shape][2], "programs": rows}
        for row in rows:
            print(f"{shape:10} {row['program']:12} {row['mb_per_second']:8.0f} {row['memory_mib']:8.0f} {len(row['seconds']):5}", flush=True)
        if arguments.json:  # what was measured is kept when the rest is not
            pathlib.Path(arguments.json).write_text(json.dumps(result, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
