# SPDX-License-Identifier: Apache-2.0
"""perftest's programs, as the distribution has them, between two processes on 127.0.0.1 under `weft run`."""
import os
import pathlib
import subprocess
import sys
import time

TIME_LIMIT = 120  # seconds, of one run
ATTEMPTS = 5      # of one figure; each on a port of its own, which another process may have


class Failed(Exception):
    pass


def listens(port):
    for table in ("tcp", "tcp6"):
        for line in pathlib.Path(f"/proc/net/{table}").read_text().splitlines()[1:]:
            fields = line.split()
            if fields[3] == "0A" and fields[1].endswith(f":{port:04X}"):
                return True
    return False


def numbers_behind(text, header):
    """The row of figures below the line that begins with `header`."""
    lines = text.splitlines()
    for line, row in zip(lines, lines[1:]):
        if line.strip().startswith(header):
            return [float(word) for word in row.split()]
    raise Failed(f"no figures in:\n{text}")


class Perftest:
    """One end-to-end run of a stock program: server, client, and what the client prints."""

    def __init__(self, weft, libraries, crc="on", pinned=False):
        self.run = [weft, "run", "--policy", f"crc={crc},same-host=off", "--"]
        self.environment = dict(os.environ, WEFT_LIBRARY_PATH=libraries)
        self.port = 20000 + os.getpid() % 20000
        self.places = [[], []]  # of client and server, as words before the command
        if pinned:
            self.places = [["taskset", "-c", str(cpu)] for cpu in sorted(os.sched_getaffinity(0))[:2]]

    def start(self, command, place):
        return subprocess.Popen([*place, *self.run, *command], env=self.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    def pair(self, command):
        self.port += 1
        command = [*command, "-R", "-p", str(self.port)]
        server = self.start(command, self.places[1])
        try:
            until = time.monotonic() + 10
            while not listens(self.port) and server.poll() is None and time.monotonic() < until:
                time.sleep(0.01)
            client = self.start([*command, "127.0.0.1"], self.places[0])
            try:
                said, _ = client.communicate(timeout=TIME_LIMIT)
                if client.returncode != 0:
                    raise Failed(f"{' '.join(command)}: exit code {client.returncode}:\n{said}")
                server.communicate(timeout=10)
                return said
            finally:
                client.kill()
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{' '.join(command)}: does not end") from late
        finally:
            server.kill()
            server.communicate()


def patiently(measure):
    """A figure, though a port may be taken or a process start late."""
    for attempt in range(ATTEMPTS):
        try:
            return measure()
        except Failed as failed:
            if attempt == ATTEMPTS - 1:
                raise
            print(f"once more: {failed}", file=sys.stderr, flush=True)
