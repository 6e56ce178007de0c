# SPDX-License-Identifier: Apache-2.0
"""The architecture as a table: which room may include what. Everything that checks the picture reads it from here."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What verbs/ shows to its users: its headers, not those in its wings.
VERBS = sorted(f"verbs/{path.name}" for path in (ROOT / "verbs").glob("*.hpp"))

# room -> folders (or single files) of this tree it may include besides itself
MAY_INCLUDE = {
    "common": [],
    "mpa": ["common"],
    "ddp": ["common"],
    # DDP's vocabulary (headers, numbers, errors, what a message is handed over as), not its queues and windows
    "rdmap": ["common", "ddp/header.hpp", "ddp/placement.hpp", "ddp/errors.hpp", "ddp/msn.hpp", "ddp/segmenter.hpp", "ddp/tagged.hpp",
              "ddp/untagged_queues.hpp"],
    "engine": ["common", "mpa", "ddp", "rdmap"],
    "conformance": ["common", "mpa", "ddp", "rdmap", "engine"],
    "explain": ["common", "mpa", "ddp", "rdmap", "engine", "conformance"],
    "transport": ["common"],
    # It forges octets, so it has no use for the engine; of transport/ it takes the values that name an end.
    "probe": ["common", "mpa", "ddp", "rdmap", "conformance", "transport/endpoint.hpp"],
    "verbs": ["common", "mpa", "ddp", "rdmap", "engine", "transport"],
    # verbs/device.hpp shows the interfaces; rdma_getaddrinfo() asks for a route before there is a connection.
    "compat": [*VERBS, "transport/interfaces.hpp", "transport/route.hpp"],
    "tools": ["common", "mpa", "ddp", "rdmap", "engine", "conformance", "explain", "probe", "transport", "verbs", "bench"],
    "bench": ["common", "mpa", "ddp", "rdmap", "engine", "conformance", "transport", "verbs", "tools"],
}

# The wings of a room: which other wings of it, or single headers of theirs, the headers of each may include, and which its sources
# besides. What lies in the room itself may include all. In verbs/, connecting is for it alone.
WINGS = {
    "verbs/log": (["verbs/detail"], []),
    "verbs/memory": (["verbs/detail"], ["verbs/log"]),
    "verbs/progress": (["verbs/detail"], ["verbs/stream", "verbs/log"]),
    "verbs/stream": (["verbs/detail", "verbs/log", "verbs/memory", "verbs/progress"], []),
    "verbs/detail": (["verbs/memory", "verbs/progress", "verbs/stream"], ["verbs/log"]),
    "verbs/connecting": (["verbs/detail", "verbs/progress", "verbs/stream"], ["verbs/log"]),
    # A protocol of its own over the public verbs (docs/decisions/0023-rsockets.md). Beside librdmacm's entry points none may use it;
    # of the drop-in libraries it takes how calls fail, the settings, and a device that is open already.
    "compat/rsockets": (["compat/objects/report.hpp"], ["compat/objects/settings.hpp", "compat/objects/context.hpp"]),
    "compat/objects": ([], []),
    "compat/ibverbs": (["compat/objects"], []),
    "compat/rdmacm": (["compat/objects"], ["compat/rsockets/calls.hpp"]),
}

# The core does no I/O, reads no clock, starts no thread and draws no random number.
CORE = ["common", "mpa", "ddp", "rdmap", "engine"]

# Users of weft include headers of these rooms: those directly in the room, not those in a folder below it.
PUBLIC = ["verbs", "conformance"]

# Libraries besides the C++ standard library: which room, or folder of one, may use them, and whether its headers may too.
# The system's headers (sockets, poll, files) count as a library, named by their folder or bare .h name.
LIBRARIES = {
    "isa-l": {"rooms": ["common"], "in_headers": False},
    "boost": {"rooms": ["transport", "tools"], "in_headers": True},
    "pcap": {"rooms": ["transport", "tools", "conformance/capture"], "in_headers": True},
    "openssl": {"rooms": ["transport/tls", "conformance/tls", "tools/bench"], "in_headers": False},
    "tins": {"rooms": ["conformance/capture"], "in_headers": True},
    "zlib.h": {"rooms": ["conformance/capture"], "in_headers": False},
    "zstd.h": {"rooms": ["conformance/capture"], "in_headers": False},
    "zstd_errors.h": {"rooms": ["conformance/capture"], "in_headers": False},
    "lzma.h": {"rooms": ["conformance/capture"], "in_headers": False},
    "fmt": {"rooms": ["conformance", "explain", "probe", "tools/probe", "tools/audit", "tools/dissect", "tools/explain"], "in_headers": False},
    "spdlog": {"rooms": ["transport", "verbs", "tools", "bench"], "in_headers": False},
    "CLI": {"rooms": ["tools", "bench"], "in_headers": True},
    "infiniband": {"rooms": ["compat/ibverbs", "compat/objects"], "in_headers": True},
    "rdma": {"rooms": ["compat"], "in_headers": True},
    "system": {"rooms": ["transport", "verbs", "probe", "compat", "tools", "bench", "conformance/capture"], "in_headers": True},
}

# Standard headers that bring I/O, clocks, threads or randomness. <chrono> is allowed: its durations are plain numbers.
NOT_IN_CORE = {
    "condition_variable", "csignal", "ctime", "filesystem", "fstream", "future", "iostream", "latch", "barrier", "mutex",
    "random", "semaphore", "shared_mutex", "stop_token", "thread", "cstdio", "syncstream",
}


def sources(room):
    """All C++ files of a room, in a fixed order."""
    return sorted(p for p in (ROOT / room).rglob("*") if p.suffix in (".hpp", ".cpp", ".h", ".c"))
