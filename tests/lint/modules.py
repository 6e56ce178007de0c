# SPDX-License-Identifier: Apache-2.0
"""The architecture as a table: which module may include what. Everything that checks the picture reads it from here."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# What verbs/ shows to its users: its headers, not those in its layers.
VERBS = sorted(f"verbs/{path.name}" for path in (ROOT / "verbs").glob("*.hpp"))

# module -> folders (or single files) of this tree it may include besides itself
MAY_INCLUDE = {
    "common": [],
    "packet": ["common"],
    "mpa": ["common"],
    "ddp": ["common"],
    # DDP's vocabulary (headers, numbers, errors, what a message is handed over as), not its queues and windows
    "rdmap": ["common", "ddp/header.hpp", "ddp/placement.hpp", "ddp/errors.hpp", "ddp/msn.hpp", "ddp/segmenter.hpp", "ddp/tagged.hpp",
              "ddp/untagged_queues.hpp"],
    "engine": ["common", "mpa", "ddp", "rdmap"],
    "conformance": ["common", "packet", "mpa", "ddp", "rdmap", "engine", "transport/system_words.hpp"],
    "explain": ["common", "packet", "mpa", "ddp", "rdmap", "engine", "conformance"],
    "transport": ["common", "packet"],
    # It forges octets, so it has no use for the engine; of transport/ it takes sockets, and the values that name an end.
    "probe": ["common", "mpa", "ddp", "rdmap", "conformance", "transport/blocking_socket.hpp", "transport/endpoint.hpp",
              "transport/system_words.hpp"],
    "verbs": ["common", "mpa", "ddp", "rdmap", "engine", "transport"],
    # The C++ interface: what it shows is its own and what verbs/ shows. Of common/ it takes the big-endian fields.
    "weft": [*VERBS, "common/access.hpp", "common/wire.hpp"],
    # verbs/device.hpp shows the interfaces; rdma_getaddrinfo() asks for a route before there is a connection; a thread that
    # waits is cancelled in the same places whether the wait is the engine's or a facade's. Its own thread and descriptors keep
    # out of the program's way as those of transport/ do.
    "compat": [*VERBS, "transport/cancellation.hpp", "transport/interfaces.hpp", "transport/route.hpp", "transport/own_descriptors.hpp", "transport/descriptor_limit.hpp",
               "transport/blocked_signals.hpp", "transport/poll_timeout.hpp", "common/wire.hpp"],
    "tools": ["common", "mpa", "ddp", "rdmap", "engine", "conformance", "explain", "probe", "transport", "verbs", "bench"],
    "bench": ["common", "mpa", "ddp", "rdmap", "engine", "conformance", "transport", "verbs", "weft", "tools"],
}

# The layers of verbs/: each may include those before it, and no other. What lies in verbs/ itself may include all.
LAYERS = ["verbs/base", "verbs/log", "verbs/memory", "verbs/progress", "verbs/stream", "verbs/objects", "verbs/datagram", "verbs/connecting"]

# The directories of a module: which others of it, or single headers of theirs, the headers of each may include, and which its sources
# besides.
DIRECTORIES = {
    **{layer: (LAYERS[:i], []) for i, layer in enumerate(LAYERS)},
    # A protocol of its own over the public verbs (docs/decisions/0023-rsockets.md). Beside librdmacm's entry points none may use it;
    # of the drop-in libraries it takes how calls fail, the settings, and a device that is open already.
    "compat/rsockets": (["compat/objects/report.hpp"], ["compat/objects/settings.hpp", "compat/objects/context.hpp"]),
    # Its thread is none of the program's, for librspreload.so: rsockets has the mark of such a thread.
    "compat/direct": (["compat/objects/forks.hpp"],
                      ["compat/objects/report.hpp", "compat/objects/settings.hpp", "compat/rsockets/call.hpp"]),
    "compat/objects": ([], ["compat/direct/connections.hpp"]),
    "compat/ibverbs": (["compat/objects"], []),
    "compat/rdmacm": (["compat/objects"], ["compat/rsockets/calls.hpp", "compat/rsockets/epoll.hpp"]),
    # libc's functions on sockets, over rsockets: librspreload.so.
    "compat/preload": ([], ["compat/rsockets/calls.hpp", "compat/rsockets/epoll.hpp", "compat/objects/cancellation.hpp"]),
}

# The core does no I/O, reads no clock, starts no thread and draws no random number.
CORE = ["common", "mpa", "ddp", "rdmap", "engine"]

# Users of weft include headers of these modules: those directly in the module, not those in a folder below it.
PUBLIC = ["weft", "verbs", "conformance"]

# A public header that is there for the users of a library may include it. No other does.
FOR_USERS_OF = {"weft/asio.hpp": "boost", "weft/asio_waiting.hpp": "boost"}

# The C++ interface stands for itself: its headers reach none of these layers, whatever they include.
NOT_REACHED = {"weft": ["mpa", "ddp", "rdmap", "engine", "transport"]}

# Libraries besides the C++ standard library: which module, or folder of one, may use them, and whether its headers may too.
# The system's headers (sockets, poll, files) count as a library, named by their folder or bare .h name.
LIBRARIES = {
    "isa-l": {"modules": ["common"], "in_headers": False},
    "boost": {"modules": ["transport", "tools", "weft"], "in_headers": True},
    "pcap": {"modules": ["transport", "tools", "conformance/capture"], "in_headers": True},
    "openssl": {"modules": ["transport/tls", "conformance/tls", "tools/bench"], "in_headers": False},
    "tins": {"modules": ["conformance/capture"], "in_headers": True},
    "zlib.h": {"modules": ["conformance/capture"], "in_headers": False},
    "zstd.h": {"modules": ["conformance/capture"], "in_headers": False},
    "zstd_errors.h": {"modules": ["conformance/capture"], "in_headers": False},
    "lzma.h": {"modules": ["conformance/capture"], "in_headers": False},
    "fmt": {"modules": ["conformance", "explain", "probe", "weft", "tools/probe", "tools/audit", "tools/dissect", "tools/explain"], "in_headers": False},
    "spdlog": {"modules": ["transport", "verbs", "tools", "bench"], "in_headers": False},
    "CLI": {"modules": ["tools", "bench"], "in_headers": True},
    "infiniband": {"modules": ["compat/ibverbs", "compat/objects", "bench"], "in_headers": True},
    "rdma": {"modules": ["compat"], "in_headers": True},
    "system": {"modules": ["packet", "transport", "verbs", "weft", "probe", "compat", "tools", "bench", "conformance/capture"], "in_headers": True},
}

# Standard headers that bring I/O, clocks, threads or randomness. <chrono> is allowed: its durations are plain numbers.
NOT_IN_CORE = {
    "condition_variable", "csignal", "ctime", "filesystem", "fstream", "future", "iostream", "latch", "barrier", "mutex",
    "random", "semaphore", "shared_mutex", "stop_token", "thread", "cstdio", "syncstream",
}


def sources(module):
    """All C++ files of a module, in a fixed order."""
    return sorted(p for p in (ROOT / module).rglob("*") if p.suffix in (".hpp", ".cpp", ".h", ".c"))
