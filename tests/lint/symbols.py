#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs nm over the core libraries (arguments) and fails on what only I/O, clocks, threads or randomness would need."""

import re
import subprocess
import sys

FORBIDDEN = re.compile(
    r"""^(
      # sockets and files
      socket|connect|accept4?|bind|listen|send(to|msg|mmsg|file)?|recv(from|msg|mmsg)?|shutdown|[gs]etsockopt|getaddrinfo
      |p?poll|p?select|epoll_\w+|eventfd|io_uring\w*|open(at)?(64)?|f(open|read|write|close|printf|puts)(64)?|read|write|readv|writev
      |p?printf|puts|putchar|std::.*(basic_)?[io]f?stream.*|std::ios_base::Init.*|std::c(out|err|log)
      # clocks
      |clock(_gettime|_getres|_nanosleep)?|time|gettimeofday|nanosleep|u?sleep|timer(fd)?_\w+|std::chrono::.*clock.*::now.*
      # threads
      |pthread_\w+|sem_\w+|std::thread.*|std::(shared_|recursive_|timed_)?mutex.*|std::condition_variable.*|std::this_thread.*
      |std::__atomic_futex.*|futex|fork|vfork|clone
      # randomness
      |rand(om)?(_r)?|s?rand48|arc4random\w*|getrandom|getentropy|std::random_device.*
    )(@.*)?(\(.*)?$""",
    re.X,
)


def undefined(library):
    out = subprocess.run(["nm", "-uC", library], check=True, capture_output=True, text=True).stdout
    for line in out.splitlines():
        match = re.match(r"\s+[Uw]\s+(.+)", line)
        if match and not (line.lstrip().startswith("w ") and "__gthread" in line):
            yield match[1]


def main(libraries):
    if not libraries:
        sys.exit("no library given")
    faults = [f"{library}: {name}" for library in libraries for name in sorted(set(undefined(library))) if FORBIDDEN.match(name)]
    print("\n".join(faults) or f"{len(libraries)} core libraries need no socket, clock, thread or randomness")
    return 1 if faults else 0


sys.exit(main(sys.argv[1:]))
