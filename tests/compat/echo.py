# SPDX-License-Identifier: Apache-2.0
"""An ordinary program with sockets: sends a stream to a server that sends it back, until either end shuts it. It knows nothing of
RDMA; cases.py runs it under librspreload.so."""
import ctypes
import socket
import sys


def accept(listener):
    """As socket.accept, but with accept(2): Python calls accept4, which Debian 12's librspreload.so does not know."""
    return socket.socket(fileno=ctypes.CDLL(None).accept(listener.fileno(), None, None))


def serve(address, port):
    family = socket.AF_INET6 if ":" in address else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as listener:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((address, port))
        listener.listen(5)
        with accept(listener) as peer:
            while octets := peer.recv(65536):
                peer.sendall(octets)


def ask(address, port):
    sent = bytes(range(251)) * 200
    with socket.create_connection((address, port)) as peer:
        peer.sendall(sent)
        peer.shutdown(socket.SHUT_WR)
        back = b""
        while octets := peer.recv(100000):
            back += octets
    print("all came back" if back == sent else f"{len(back)} of {len(sent)} octets came back")


if __name__ == "__main__":
    {"server": serve, "client": ask}[sys.argv[1]](sys.argv[2], int(sys.argv[3]))
