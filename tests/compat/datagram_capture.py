#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What ibv_ud_pingpong sends under `weft run --pcap` is in the captures of both of its ends: tshark finds every checksum right, and
`weft dissect` finds nothing wrong.

    datagram_capture.py WEFT
"""

import json
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

SKIPPED, DATAGRAMS, SIZE = 77, 50, 1024
HEADER = 20


def own_address():
    """Of an interface that is not the loopback one; None without."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.254", 9))  # sends nothing
        except OSError:
            return None
        address = probe.getsockname()[0]
    return None if address.startswith("127.") else address


def free_port():
    with socket.socket() as one:
        one.bind(("", 0))
        return one.getsockname()[1]


def listens(port):
    return any(line.split()[1].endswith(f":{port:04X}") and line.split()[3] == "0A"
               for table in ("tcp", "tcp6") for line in Path(f"/proc/net/{table}").read_text().splitlines()[1:])


def ping(weft, address, captures):
    port = free_port()
    command = [weft, "run", "--pcap"], ["ibv_ud_pingpong", "-g", "0", "-n", str(DATAGRAMS), "-s", str(SIZE), "-p", str(port)]
    with subprocess.Popen([*command[0], captures[0], *command[1]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as server:
        try:
            end = time.monotonic() + 20
            while not listens(port) and server.poll() is None and time.monotonic() < end:
                time.sleep(0.02)
            client = subprocess.run([*command[0], captures[1], *command[1], address], capture_output=True, text=True, timeout=30, check=False)
            status = server.wait(timeout=30)
            return [] if (client.returncode, status) == (0, 0) else [f"client {client.returncode}, server {status}: {client.stdout}{client.stderr}"]
        finally:
            server.kill()


def check(weft, capture):
    done = subprocess.run([weft, "dissect", "--json", capture], capture_output=True, text=True, check=False)
    lines, wrong = [json.loads(line) for line in done.stdout.splitlines()], []
    if len(lines) < 2 * DATAGRAMS or any(line["wrong"] or line["octets"] != HEADER + SIZE for line in lines):
        wrong.append(f"{capture}: {len(lines)} datagrams: {lines[:1]}{done.stderr}")
    if len({line["source"] for line in lines}) != 2 or {f["value"] for x in lines for f in x["fields"] if f["name"] == "Q_Key"} != {"0x11111111"}:
        wrong.append(f"{capture}: other senders or another Q_Key")
    if shutil.which("tshark") is None:
        print("SKIPPED case: tshark is not installed: nobody else has judged the checksums")
        return wrong
    tshark = subprocess.run(["tshark", "-n", "-r", capture, "-o", "udp.check_checksum:TRUE", "-o", "ip.check_checksum:TRUE", "-T", "fields",
                             "-e", "ip.checksum.status", "-e", "udp.checksum.status"], capture_output=True, text=True, check=False)
    if tshark.stdout.splitlines() != ["1\t1"] * len(lines):  # 1: good
        wrong.append(f"{capture}: tshark found {set(tshark.stdout.splitlines())}")
    return wrong


def main():
    weft, address = sys.argv[1], own_address()
    if shutil.which("ibv_ud_pingpong") is None or address is None:
        print("SKIPPED: ibv_ud_pingpong (Debian package ibverbs-utils) or an interface besides the loopback one is missing")
        return SKIPPED
    with tempfile.TemporaryDirectory() as folder:
        captures = [f"{folder}/server.pcap", f"{folder}/client.pcap"]
        wrong = ping(weft, address, captures)
        wrong += [] if wrong else [line for capture in captures for line in check(weft, capture)]
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
