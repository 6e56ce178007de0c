#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Measures again what the security review of November 2026 did to weft, with its methods: hostile peers at plain sockets
beside honest ones, over loopback only. Prints a table with the review's figures (at 4b04e4d) beside the measured ones.

  attacks.py [--short] [--json FILE] [--only NAME[,NAME]] ATTACK_ENDS

ATTACK_ENDS is the program of that name in the build folder. --short takes seconds and looks at the outcome alone: it
fails when an honest client does not come in."""

import argparse
import json
import multiprocessing
import multiprocessing.pool
import os
import select
import socket
import statistics
import struct
import subprocess
import sys
import time

REQUEST = b"MPA ID Req Frame\x40\x01\0\0"  # revision 1, CRC


def crc32c(octets: bytes) -> int:
    crc = 0xFFFFFFFF
    for octet in octets:
        crc ^= octet
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def fpdu(ulpdu: bytes) -> bytes:
    body = struct.pack(">H", len(ulpdu)) + ulpdu
    body += bytes(-len(body) % 4)
    return body + struct.pack("<I", crc32c(body))


EMPTY_WRITE = fpdu(b"\xc1\x40" + bytes(4) + bytes(8))  # DDP: tagged, last, version 1; RDMAP: version 1, Write


def read_request(msn: int, key: int, address: int) -> bytes:
    header = b"\x41\x41" + bytes(4) + struct.pack(">III", 1, msn, 0)
    return fpdu(header + struct.pack(">IQIIQ", 1, 0, 32 << 20, key, address))


def dial(port: int) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port))


def start_up(port: int) -> tuple[socket.socket, bytes]:
    peer = dial(port)
    peer.sendall(REQUEST)
    reply = b""
    while len(reply) < 20 or len(reply) < 20 + struct.unpack(">H", reply[18:20])[0]:
        some = peer.recv(512)
        if not some:
            raise ConnectionError("no Reply")
        reply += some
    return peer, reply[20:]


# --- Attackers. Each is a process that runs until it is ended.


def half_open(port: int, count: int, slow: bool) -> None:
    """Connections that send nothing, or an octet a second; renewed when closed."""
    poller = select.poll()
    peers: dict[int, tuple[socket.socket, int]] = {}
    said_at = time.monotonic()

    def renew() -> None:
        peer = socket.socket()
        peer.setblocking(False)
        peer.connect_ex(("127.0.0.1", port))
        peers[peer.fileno()] = (peer, 0)
        poller.register(peer, select.POLLIN)

    for _ in range(count):
        renew()
    while True:
        for descriptor, _ in poller.poll(100):
            peer, _ = peers.pop(descriptor)
            poller.unregister(descriptor)
            peer.close()
            renew()
        if slow and time.monotonic() - said_at >= 1:
            said_at = time.monotonic()
            for descriptor, (peer, said) in list(peers.items()):
                if said >= len(REQUEST) - 1:
                    continue  # all but the last octet
                try:
                    peer.send(REQUEST[said : said + 1])
                    peers[descriptor] = (peer, said + 1)
                except OSError:
                    pass


def flood(port: int, count: int) -> None:
    """Empty RDMA Writes, as fast as the server takes them."""
    peers = [start_up(port)[0] for _ in range(count)]
    octets = EMPTY_WRITE * (64 * 1024 // len(EMPTY_WRITE))
    left = {}
    for peer in peers:
        peer.setblocking(False)
        left[peer.fileno()] = (peer, memoryview(octets))
    while True:
        for descriptor in select.select([], list(left), [])[1]:
            peer, rest = left[descriptor]
            try:
                rest = rest[peer.send(rest) :]
            except BlockingIOError:
                continue
            left[descriptor] = (peer, rest if len(rest) else memoryview(octets))


def bad_start_ups(port: int) -> None:
    while True:
        try:
            with dial(port) as peer:
                peer.sendall(b"X" * 20)
                peer.recv(1)
        except OSError:
            pass


class Attack:
    def __init__(self, target, *arguments):
        self.process = multiprocessing.Process(target=target, args=arguments, daemon=True)

    def __enter__(self):
        self.process.start()
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.join()


# --- Honest ends


class Server:
    def __init__(self, ends: str, backlog: int, drop_after: int = 0, stderr=subprocess.DEVNULL):
        self.process = subprocess.Popen(
            [ends, "serve", str(backlog), str(drop_after)], stdout=subprocess.PIPE, stderr=stderr, text=True
        )
        self.port = int(self.process.stdout.readline())

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()

    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))


def ends_say(ends: str, *words) -> list[str]:
    done = subprocess.run([ends, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=600)
    if done.returncode != 0:
        return [*done.stdout.split(), "failed"]
    return done.stdout.split()


def summary(said: list[str]) -> dict:
    times = [float(word) for word in said if word != "failed"]
    return {
        "clients": len(said),
        "came_in": len(times),
        "median_ms": round(statistics.median(times), 3) if times else None,
        "max_ms": round(max(times), 3) if times else None,
    }


# --- The review's tables

D01 = [  # backlog, connections, slow, what the review saw
    (128, 200, False, "first one 8.2 s"),
    (128, 200, False, "4 clients: median 8.3 s, max 10.0 s"),
    (128, 400, True, "0 of 12"),
    (3, 12, False, "0 of 6"),
    (1, 5, False, "0 of 4"),
]


def d01(ends: str, short: bool) -> list[dict]:
    rows = []
    for index, (backlog, count, slow, review) in enumerate(D01):
        clients = 4 if index == 1 else 1
        each, pause = (6, 20) if short else (60, 100)
        with Server(ends, backlog) as server:
            quiet = summary(ends_say(ends, "connect", server.port, each, pause))
            with Attack(half_open, server.port, count, slow):
                time.sleep(1 if short else 12)  # beyond a startup's time-out
                with multiprocessing.pool.ThreadPool(clients) as pool:
                    said = pool.map(lambda _: ends_say(ends, "connect", server.port, each, pause), range(clients))
        attacked = summary([word for one in said for word in one])
        what = f"backlog {backlog}, {count} {'slow' if slow else 'silent'} connections, {clients} client(s)"
        rows.append({"attack": what, "review": review, "quiet": quiet, "attacked": attacked,
                     "passed": attacked["came_in"] == attacked["clients"] == each * clients})
    return rows


D05 = [(0, "0.10 / 10 ms; 0.7 ms"), (1, "10.8 / 33 ms; 4.6 ms"), (10, "292 / 368 ms; 650 ms"),
       (50, "1527 / 2091 ms; up to 2 s")]


def d05(ends: str, short: bool) -> list[dict]:
    rows = []
    quiet = None
    for count, review in D05[:2] if short else D05:
        with Server(ends, 128) as server, Attack(flood, server.port, count) if count else Attack(time.sleep, 1):
            time.sleep(1 if short else 3)
            said = ends_say(ends, "ping", server.port, 1 if short else 8)
        result = summary(said[1:])
        result["set_up_ms"] = float(said[0]) if said and said[0] != "failed" else None
        quiet = quiet or result
        rows.append({"attack": f"{count} connections that send empty Writes", "review": review, "quiet": quiet,
                     "attacked": result, "passed": "failed" not in said and len(said) > 1})
    return rows


def d03(ends: str, short: bool) -> list[dict]:
    seconds = 2 if short else 5
    reader, writer = os.pipe()  # not read meanwhile
    with Server(ends, 128, stderr=writer) as server:
        quiet = summary(ends_say(ends, "connect", server.port, 6, 20))
        with Attack(bad_start_ups, server.port):
            time.sleep(seconds)
        attacked = summary(ends_say(ends, "connect", server.port, 6, 20))
    os.set_blocking(reader, False)
    os.close(writer)
    try:
        log = len(os.read(reader, 1 << 20))
    except BlockingIOError:
        log = 0
    os.close(reader)
    attacked["log_octets"] = log
    return [{"attack": f"bad startups for {seconds} s, standard error a pipe that is not read",
             "review": "no set-up after 321 of them", "quiet": quiet, "attacked": attacked,
             "passed": attacked["came_in"] == 6}]


def d08(ends: str, short: bool) -> list[dict]:
    count, limit = (10, 20) if short else (100, 70)
    with Server(ends, 128, drop_after=1000) as server:
        before = server.descriptors()
        peers = []
        for _ in range(count):
            peer, told = start_up(server.port)
            key, address = struct.unpack("<IQ", told[:12])
            peer.sendall(b"".join(read_request(msn, key, address) for msn in range(1, 65)))
            peers.append(peer)  # and reads nothing
        begin = time.monotonic()
        while server.descriptors() > before + 2 and time.monotonic() - begin < limit:
            time.sleep(0.1)
        gone = round(time.monotonic() - begin, 1)
        left = max(server.descriptors() - before, 0)
    return [{"attack": f"{count} peers that ask for Reads and do not read, destroyed 1 s after accept",
             "review": "all stay until 60 s", "quiet": {},
             "attacked": {"gone_after_s": gone, "descriptors_left": left}, "passed": short or left <= 2}]


ATTACKS = {"D-01": d01, "D-03": d03, "D-05": d05, "D-08": d08}


def markdown(results: dict) -> str:
    def told(figures: dict) -> str:
        return ", ".join(f"{name} {value}" for name, value in figures.items()) or "-"

    lines = ["| | attack | the review, at 4b04e4d | quiet, now | under attack, now | held |", "|---|---|---|---|---|---|"]
    for name, rows in results.items():
        for row in rows:
            lines.append(f"| {name} | {row['attack']} | {row['review']} | {told(row['quiet'])} | {told(row['attacked'])} | "
                         f"{'yes' if row['passed'] else 'NO'} |")
    return "\n".join(lines)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--short", action="store_true")
    options.add_argument("--json")
    options.add_argument("--only", default=",".join(ATTACKS))
    options.add_argument("ends")
    chosen = options.parse_args()
    results = {name: ATTACKS[name](chosen.ends, chosen.short) for name in chosen.only.split(",")}
    print(markdown(results))
    if chosen.json:
        with open(chosen.json, "w", encoding="ascii") as file:
            json.dump(results, file, indent=1)
    return 0 if all(row["passed"] for rows in results.values() for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
