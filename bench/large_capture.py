#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a large pcap file: large_capture.py FILE SIZE-IN-MB PAYLOAD [CONNECTIONS] [SWAP].

TCP segments of PAYLOAD octets on CONNECTIONS connections in turn (1), each with its handshake and an acknowledgement for every
second segment. SWAP: one pair of neighbours in this number of segments of a connection has changed places (0: none)."""

import struct
import sys


def frame(client, seq, ack, flags, payload, from_server):
    ports = (7471, client) if from_server else (client, 7471)
    ends = (b"\x0a\0\0\x02", b"\x0a\0\0\x01") if from_server else (b"\x0a\0\0\x01", b"\x0a\0\0\x02")
    ip = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 40 + len(payload), 0, 0x4000, 64, 6, 0, *ends)
    tcp = struct.pack("!HHIIBBHHH", *ports, seq & 0xFFFFFFFF, ack & 0xFFFFFFFF, 0x50, flags, 0xFFFF, 0, 0)
    return b"\0" * 12 + b"\x08\0" + ip + tcp + payload


def main():
    path, megabytes, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    connections = int(sys.argv[4]) if len(sys.argv) > 4 else 1
    swap = int(sys.argv[5]) if len(sys.argv) > 5 else 0
    payload = bytes(i * 7 & 0xFF for i in range(size))
    with open(path, "wb", buffering=1 << 20) as out:
        out.write(struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 262144, 1))
        state = {"written": 24, "time": 0}

        def write(*what):
            octets = frame(*what)
            state["time"] += 1000
            out.write(struct.pack("<IIII", state["time"] // 10**9, state["time"] % 10**9, len(octets), len(octets)) + octets)
            state["written"] += 16 + len(octets)

        ports = range(20000, 20000 + connections)
        for port in ports:
            write(port, 0xFFFF0000, 0, 2, b"", False)
            write(port, 1, 0xFFFF0001, 18, b"", True)
        turn = 0
        while state["written"] < megabytes * 10**6:
            first = 0xFFFF0001 + turn * size
            for port in ports:
                order = (first + size, first) if swap and turn % swap < 2 else (first, first + size)
                for seq in order:
                    write(port, seq, 2, 16, payload, False)
                write(port, 2, first + 2 * size, 16, b"", True)
            turn += 2


main()
