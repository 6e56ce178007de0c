#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a copy costs on this machine (lesson 1): octets through TCP over 127.0.0.1, received once and received with further copies.
copies.py [--json] [SECONDS]: for about that time (5). Python only starts the copies: memcpy and the kernel make them."""

import json
import os
import resource
import socket
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


def main():
    words = [word for word in sys.argv[1:] if word != "--json"]
    turn = (float(words[0]) if words else 5.0) / 5
    figures = {"copy in the cache": copy_rate(MIB // 16, turn), "copy in memory": copy_rate(FAR, turn)}
    for copies in range(3):
        figures[f"TCP and {copies} copies"], figures[f"TCP and {copies} copies, ns a KiB"] = receive(copies, turn)
    if "--json" in sys.argv:
        print(json.dumps(figures))
        return
    print(f"a copy whose octets are in the cache   {figures['copy in the cache'] / 1e9:6.1f} GB/s")
    print(f"a copy whose octets are in memory      {figures['copy in memory'] / 1e9:6.1f} GB/s")
    for copies in range(3):
        rate, cost = figures[f"TCP and {copies} copies"], figures[f"TCP and {copies} copies, ns a KiB"]
        print(f"TCP, and {copies} copies at the receiver      {rate / 1e9:6.1f} GB/s   {cost:6.0f} ns of the receiver for a KiB")


if __name__ == "__main__":
    main()
