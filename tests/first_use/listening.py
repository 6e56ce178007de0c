# SPDX-License-Identifier: Apache-2.0
"""When a server listens, its client may come."""

import time
from pathlib import Path

LISTEN = "0A"  # in /proc/net/tcp


def listeners(process="self"):
    """How many sockets listen in the network namespace of a process."""
    tables = (Path(f"/proc/{process}/net/{name}") for name in ("tcp", "tcp6"))
    return sum(line.split()[3] == LISTEN for table in tables if table.exists() for line in table.read_text().splitlines()[1:])


def start(server, process="self", seconds=60):
    """Calls `server`, which starts one, and comes back with it when it listens or has ended."""
    before = listeners(process)
    started = server()
    deadline = time.monotonic() + seconds
    while started.poll() is None and listeners(process) <= before and time.monotonic() < deadline:
        time.sleep(0.05)
    return started
