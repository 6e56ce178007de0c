#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Do libc's functions do for rsockets what they do for the kernel's sockets? Runs as an ordinary program, once with the kernel's sockets and
once under librspreload.so (the argument): each check has to hold in both."""
import ctypes
import errno
import os
import select
import socket
import subprocess
import sys
import threading

LIBC = ctypes.CDLL(None, use_errno=True)


def pair():
    with socket.create_server(("127.0.0.1", 0)) as listener:
        client = socket.create_connection(listener.getsockname())
        server, _ = listener.accept()
    return client, server


def error_of(call, *arguments):
    try:
        call(*arguments)
    except OSError as error:
        return error.errno
    return 0


def check(what, given, wanted):
    if given != wanted:
        sys.exit(f"{what}: {given!r}, not {wanted!r}")


def shutdown_of_a_listener():
    listener = socket.create_server(("127.0.0.1", 0))
    address = listener.getsockname()
    answers = []
    waits = threading.Thread(target=lambda: answers.append(error_of(listener.accept)))
    waits.start()
    listener.shutdown(socket.SHUT_WR)  # has no effect
    for _ in range(2):
        client = socket.create_connection(address)
        waits.join()
        check("accept() after a connection", answers.pop(), 0)
        waits = threading.Thread(target=lambda: answers.append(error_of(listener.accept)))
        waits.start()
        client.close()
    listener.shutdown(socket.SHUT_RDWR)
    waits.join()
    check("accept() that waits while another thread calls shutdown()", answers.pop(), errno.EINVAL)
    check("accept() after shutdown()", error_of(listener.accept), errno.EINVAL)
    check("connect() after shutdown()", error_of(socket.create_connection, address), errno.ECONNREFUSED)


def no_file_position():
    client, _ = pair()
    check("lseek()", error_of(os.lseek, client.fileno(), 0, os.SEEK_CUR), errno.ESPIPE)


def no_epoll_set():
    client, server = pair()
    event = ctypes.create_string_buffer(12)
    check("epoll_ctl()", LIBC.epoll_ctl(client.fileno(), 1, server.fileno(), event), -1)
    check("errno of epoll_ctl()", ctypes.get_errno(), errno.EINVAL)
    check("epoll_wait()", LIBC.epoll_wait(client.fileno(), event, 1, 0), -1)
    check("errno of epoll_wait()", ctypes.get_errno(), errno.EINVAL)
    server.sendall(b"x")
    check("recv() after that", client.recv(10), b"x")


def copies_of_an_epoll_set():
    client, server = pair()
    first = select.epoll()
    first.register(client, select.EPOLLIN)
    copy = select.epoll.fromfd(os.dup(first.fileno()))
    server.sendall(b"x")
    check("epoll_wait() on a copy", copy.poll(10), [(client.fileno(), select.EPOLLIN)])
    first.close()
    check("epoll_wait() on the copy that is left", copy.poll(10), [(client.fileno(), select.EPOLLIN)])


def formatted_output():
    client, server = pair()
    check("dprintf()", LIBC.dprintf(client.fileno(), b"%s has %d\n", b"one", 1), 10)
    check("__dprintf_chk()", LIBC.__dprintf_chk(client.fileno(), 1, b"%s\n", b"two"), 4)
    with server.makefile("rb") as file:
        check("its text", file.readline() + file.readline(), b"one has 1\ntwo\n")


def readiness():
    client, server = pair()
    check("select()", select.select([client], [client], [], 0), ([], [client], []))
    server.sendall(b"x")
    check("select() after an octet", select.select([client], [], [], 10), ([client], [], []))
    client.recv(1)
    time = (ctypes.c_long * 2)(0, 20000)
    check("select() that finds nothing", LIBC.select(0, None, None, None, time), 0)
    wanted = (ctypes.c_ulong * 16)()
    wanted[client.fileno() // 64] = 1 << client.fileno() % 64
    time[1] = 20000
    check("select() on a socket that has nothing", LIBC.select(client.fileno() + 1, wanted, None, None, time), 0)
    check("the time that is left", time[1], 0)


def main():
    if len(sys.argv) == 2:
        for preload in {}, {"LD_PRELOAD": sys.argv[1], "WEFT_LOG": "off"}:
            subprocess.run([sys.executable, __file__], env={**os.environ, **preload}, check=True, timeout=60)
        return
    shutdown_of_a_listener()
    no_file_position()
    no_epoll_set()
    copies_of_an_epoll_set()
    formatted_output()
    readiness()


main()
