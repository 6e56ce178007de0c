#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`weft audit` of a pipe and of an interface: what is known is printed at once, and an interrupt brings the summary.

    as_it_goes.py WEFT
"""

import os
import select
import signal
import socket
import subprocess
import sys
import time

from command import CLEAN, UNREADABLE, VIOLATION, VIOLATIONS, WARNING, WRONG, check

PATIENCE = 60  # seconds


class Running:
    """A `weft audit` whose output is collected while it runs."""

    def __init__(self, weft, *words):
        self.process = subprocess.Popen([weft, "audit", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.said = {self.process.stdout: "", self.process.stderr: ""}

    def wait_for(self, words, stream=None):
        """True once they were said; False when it ended, or took too long."""
        stream = stream or self.process.stdout
        end = time.monotonic() + PATIENCE
        while words not in self.said[stream] and time.monotonic() < end:
            if select.select([stream], [], [], 1)[0]:
                more = os.read(stream.fileno(), 65536).decode()
                if not more:
                    break
                self.said[stream] += more
        return words in self.said[stream]

    def end(self):
        out, complaint = self.process.communicate(timeout=PATIENCE)
        return self.process.returncode, self.said[self.process.stdout] + out.decode(), complaint.decode()


def record_ends(capture):
    """After the file's header and each packet of a little-endian pcap file."""
    ends = [24]
    while ends[-1] < len(capture):
        ends.append(ends[-1] + 16 + int.from_bytes(capture[ends[-1] + 8:ends[-1] + 12], "little"))
    return ends


def pipe(weft):
    capture = VIOLATION.read_bytes()
    ends = record_ends(capture)
    run = Running(weft, "-")
    # All but the last packet: the writer is silent then, and does not close.
    run.process.stdin.write(capture[:ends[-2]])
    run.process.stdin.flush()
    check("a finding is printed while the writer is silent", run.wait_for("violation MPA-4.1-03"))
    check("with its connection and place", run.wait_for("The rule: ") and "connection 0 (" in run.said[run.process.stdout])
    check("no verdict yet", "VIOLATIONS" not in run.said[run.process.stdout])
    run.process.stdin.write(capture[ends[-2]:])
    status, shown, _ = run.end()
    check("the end brings the verdict", status == VIOLATIONS and shown.splitlines()[-1].startswith("VIOLATIONS: 1 violation"))
    check("a finding is told once, and counted in the summary", shown.count("The rule: ") == 1 and shown.count("MPA-4.1-03") == 2)
    check("the connection is described", "\nconnection 0: " in shown and "sent 1 FPDU" in shown or "FPDUs (" in shown)


def interrupted_pipe(weft):
    capture = VIOLATION.read_bytes()
    run = Running(weft, "-")
    run.process.stdin.write(capture[:record_ends(capture)[-2]])
    run.process.stdin.flush()
    check("a finding before the interrupt", run.wait_for("violation MPA-4.1-03"))
    run.process.send_signal(signal.SIGINT)
    status, shown, _ = run.end()
    check("an interrupt brings the summary and the verdict", status == VIOLATIONS and shown.splitlines()[-1].startswith("VIOLATIONS: 1 violation"))


def interrupted_before_others(weft):
    """Of several captures, each whose turn had not come is told as unread."""
    capture, others = VIOLATION.read_bytes(), (CLEAN, WARNING)
    run = Running(weft, "-", *map(str, others))
    run.process.stdin.write(capture[:record_ends(capture)[-2]])
    run.process.stdin.flush()
    check("a finding in the first of several", run.wait_for("violation MPA-4.1-03"))
    run.process.send_signal(signal.SIGINT)
    status, shown, complaint = run.end()
    check("captures that were not read are no success", status == UNREADABLE)
    check("the first of several was read until then", "\n-: VIOLATIONS: 1 violation" in shown)
    for other in others:
        sentence = f"{other} was not read: the interrupt came before its turn"
        check(f"{other.name}: at its place and in the list at the end", shown.count(f"{other}: NOT READ TO ITS END: {sentence}\n") == 2)
        check(f"{other.name}: on standard error", sentence in complaint)
    check("the last line is the verdict over all", shown.splitlines()[-1].startswith("NOT READ TO ITS END: 1 violation"))


def talk():
    """A startup on loopback whose Request has a reserved bit set. The port of its sender."""
    with socket.create_server(("127.0.0.1", 0)) as listener, socket.create_connection(listener.getsockname()) as client:
        server, _ = listener.accept()
        with server:
            client.sendall(b"MPA ID Req Frame" + bytes([0x41, 1, 0, 0]))
            assert server.recv(20, socket.MSG_WAITALL)
            server.sendall(b"MPA ID Rep Frame" + bytes([0x40, 1, 0, 0]))
            assert client.recv(20, socket.MSG_WAITALL)
            return client.getsockname()[1]


def interface(weft):
    """Left out, loudly, where there is no right to capture."""
    run = Running(weft, "-i", "lo")
    if not run.wait_for("^C ends it", run.process.stderr):
        _, _, complaint = run.end()
        said = " ".join(f"{run.said[run.process.stderr]}{complaint}".split())
        print(f"SKIPPED live capture: {said}")
        return
    check("it says to what it listens", "listening on lo (filter: tcp" in run.said[run.process.stderr])
    port = talk()
    check("the finding is printed while it listens", run.wait_for(f"127.0.0.1:{port}") and run.wait_for("The rule: "))
    check("so is the connection that is over", run.wait_for(f"127.0.0.1:{port} (initiator) -> "))
    run.process.send_signal(signal.SIGINT)
    status, shown, _ = run.end()
    check("an interrupt brings the verdict", status == VIOLATIONS and shown.splitlines()[-1].startswith("VIOLATIONS: "))


def main():
    weft = sys.argv[1]
    pipe(weft)
    interrupted_pipe(weft)
    interrupted_before_others(weft)
    interface(weft)
    for line in WRONG:
        print(line, file=sys.stderr)
    return 1 if WRONG else 0


if __name__ == "__main__":
    sys.exit(main())
