#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a copy costs on this machine (lesson 1): octets through TCP over 127.0.0.1, received once and received with further copies.
copies.py [--json] [SECONDS]: for about that time (10). Each case is measured nine times, in turns; what is printed is the median, and the median
distance from it. Python only starts the copies: memcpy and the kernel make them."""

import json
import os
import resource
import socket
import statistics
import sys
import time

MIB = 1 << 20
FAR = 64 * MIB  # more than a processor's cache, on most machines


def copy_rate(size, seconds):
    """Octets a second of copying a block of this size again and again."""
    source, target = memoryview(bytearray(size)), memoryview(bytearray(size))
    copied, begin = 0, time.monotonic()
    while time.monotonic() - begin < seconds:
        target[:] = source
        copied += size
    return copied / (time.monotonic() - begin)


def send(connection, seconds):
    """In a child: blocks of a MiB."""
    block, end = bytes(MIB), time.monotonic() + seconds
    while time.monotonic() < end:
        connection.sendall(block)
    connection.close()
    os._exit(0)


def receive(copies, seconds):
    """(octets a second, the receiver's processor time in ns for each KiB) of TCP with this number of copies behind the socket's own."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    child = os.fork()
    if child == 0:
        server.close()
        send(client, seconds)
    client.close()
    staging = memoryview(bytearray(MIB))
    places = [memoryview(bytearray(FAR)) for _ in range(copies)]  # where an application wants its data: not in the cache
    octets, before, begin = 0, resource.getrusage(resource.RUSAGE_SELF), time.monotonic()
    while count := server.recv_into(staging):
        at = octets % FAR
        at = 0 if at + count > FAR else at
        for place in places:
            place[at:at + count] = staging[:count]
        octets += count
    took, after = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_SELF)
    os.waitpid(child, 0)
    busy = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return octets / took, 1e9 * busy / (octets / 1024)


ROUNDS = 9
LINES = {"copy in the cache": "a copy whose octets are in the cache", "copy in memory": "a copy whose octets are in memory",
         **{f"TCP and {copies} copies": f"TCP, and {copies} copies at the receiver" for copies in range(3)}}


def measure(turn):
    """name -> figures of all rounds: octets a second, and of TCP (name + ", ns a KiB") the receiver's time."""
    found = {}
    for _ in range(ROUNDS):
        now = {"copy in the cache": copy_rate(MIB // 16, turn), "copy in memory": copy_rate(FAR, turn)}
        for copies in range(3):
            name = f"TCP and {copies} copies"
            now[name], now[f"{name}, ns a KiB"] = receive(copies, turn)
        for name, figure in now.items():
            found.setdefault(name, []).append(figure)
    return found


def spread(figures):
    """The median distance from the median, in percent of it."""
    middle = statistics.median(figures)
    return 100 * statistics.median(abs(figure - middle) for figure in figures) / middle


def main():
    words = [word for word in sys.argv[1:] if word != "--json"]
    rounds = measure((float(words[0]) if words else 10.0) / 5 / ROUNDS)
    figures = {name: statistics.median(each) for name, each in rounds.items()}
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    for name, line in LINES.items():
        cost = figures.get(f"{name}, ns a KiB")
        print(f"{line:38}{figures[name] / 1e9:6.1f} GB/s (+-{spread(rounds[name]):3.0f} %)"
              + (f"   {cost:5.0f} ns of the receiver for a KiB (+-{spread(rounds[f'{name}, ns a KiB']):3.0f} %)" if cost else ""))


if __name__ == "__main__":
    main()
