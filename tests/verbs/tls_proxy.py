#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A TLS end that is not weft's: relays one connection between a side with TLS and a plain one, until both have closed.

    tls_proxy.py listen|connect PORT CERTIFICATE CA

listen: TLS towards the client that comes, plain to PORT. connect: plain towards that client, TLS to PORT. Prints where it listens.
Octets go in pieces of odd sizes. What each side closes, it closes at the other: close_notify, then FIN."""

import select
import socket
import ssl
import sys

PIECE = 1237


class Plain:
    def __init__(self, connection):
        self.socket = connection

    def take(self, octets):  # what they mean, and whether it is the end
        return octets, not octets

    def rest(self):  # what came with the handshake: no select() tells of it
        return b"", False

    def put(self, octets):
        self.socket.sendall(octets)

    def end(self):
        self.socket.shutdown(socket.SHUT_WR)


class Secured(Plain):
    def __init__(self, connection, context, server):
        super().__init__(connection)
        self.incoming, self.outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        self.tls = context.wrap_bio(self.incoming, self.outgoing, server_side=server)
        while not self.step(self.tls.do_handshake):
            octets = connection.recv(PIECE)
            if not octets:
                raise ConnectionError("the peer has gone within the handshake")
            self.incoming.write(octets)

    def step(self, call):
        try:
            call()
            done = True
        except ssl.SSLWantReadError:
            done = False
        self.socket.sendall(self.outgoing.read())
        return done

    def take(self, octets):
        if not octets:
            raise ConnectionError("FIN without close_notify")
        self.incoming.write(octets)
        return self.rest()

    def rest(self):
        clear = b""
        try:
            while piece := self.tls.read(PIECE):
                clear += piece
        except ssl.SSLWantReadError:
            return clear, False
        except ssl.SSLZeroReturnError:
            pass
        return clear, True

    def put(self, octets):
        self.tls.write(octets)
        self.socket.sendall(self.outgoing.read())

    def end(self):
        self.step(self.tls.unwrap)
        super().end()


def relay(one, other):
    ways = {one.socket: (one, other), other.socket: (other, one)}

    def carry(source, sink, octets, ended):
        if octets:
            sink.put(octets)
        if ended:
            del ways[source.socket]
            sink.end()

    for source, sink in list(ways.values()):
        carry(source, sink, *source.rest())
    while ways:
        for ready in select.select(list(ways), [], [])[0]:
            source, sink = ways[ready]
            carry(source, sink, *source.take(ready.recv(PIECE)))


def main():
    role, port, certificate, authority = sys.argv[1:]
    server = role == "listen"
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER if server else ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_REQUIRED
    context.load_cert_chain(certificate)
    context.load_verify_locations(authority)
    listener = socket.create_server(("127.0.0.1", 0))
    print("listening on", listener.getsockname()[1], flush=True)
    client = listener.accept()[0]
    onward = socket.create_connection(("127.0.0.1", int(port)))
    for end in client, onward:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if server:
        relay(Secured(client, context, True), Plain(onward))
    else:
        relay(Plain(client), Secured(onward, context, False))
    print("both have closed", flush=True)


if __name__ == "__main__":
    main()
