# SPDX-License-Identifier: Apache-2.0
"""rpma.py server | client ADDRESS PORT: remote memory by librpma. The server offers 64 KiB; the client writes them, flushes, and reads them
back."""
import ctypes
import sys

SIZE = 65536
REMOTE = 1  # RPMA_UTIL_IBV_CONTEXT_REMOTE
READ_SOURCE, READ_SINK, WRITE_SOURCE, WRITE_SINK, FLUSH = 1, 2, 4, 8, 16
ALWAYS = 3  # RPMA_F_COMPLETION_ALWAYS
VISIBILITY = 1  # RPMA_FLUSH_TYPE_VISIBILITY
ESTABLISHED, CLOSED = 0, 1
rpma = ctypes.CDLL("librpma.so.0")


class PrivateData(ctypes.Structure):
    _fields_ = [("ptr", ctypes.c_void_p), ("len", ctypes.c_uint8)]


def call(function, *arguments):
    code = getattr(rpma, function)(*arguments)
    if code != 0:
        sys.exit(f"{function}: {code}")


def made(function, *arguments):
    pointer = ctypes.c_void_p()
    call(function, *arguments, ctypes.byref(pointer))
    return pointer


def expect(connection, wanted):
    event = ctypes.c_int()
    call("rpma_conn_next_event", connection, ctypes.byref(event))
    if event.value != wanted:
        sys.exit(f"event {event.value} instead of {wanted}")


def serve(address, port):
    peer = made("rpma_peer_new", made("rpma_utils_get_ibv_context", address, 0))
    memory = ctypes.create_string_buffer(SIZE)
    region = made("rpma_mr_reg", peer, memory, ctypes.c_size_t(SIZE), READ_SOURCE | WRITE_SINK | FLUSH)
    size = ctypes.c_size_t()
    call("rpma_mr_get_descriptor_size", region, ctypes.byref(size))
    descriptor = ctypes.create_string_buffer(size.value)
    call("rpma_mr_get_descriptor", region, descriptor)
    endpoint = made("rpma_ep_listen", peer, address, port)
    request = made("rpma_ep_next_conn_req", endpoint, None)
    data = PrivateData(ctypes.addressof(descriptor), size.value)
    connection = made("rpma_conn_req_connect", ctypes.byref(request), ctypes.byref(data))
    expect(connection, ESTABLISHED)
    expect(connection, CLOSED)
    print("the last octets are", memory.raw[-8:])


def use(address, port):
    peer = made("rpma_peer_new", made("rpma_utils_get_ibv_context", address, REMOTE))
    request = made("rpma_conn_req_new", peer, address, port, None)
    connection = made("rpma_conn_req_connect", ctypes.byref(request), None)
    expect(connection, ESTABLISHED)
    data = PrivateData()
    call("rpma_conn_get_private_data", connection, ctypes.byref(data))
    remote = made("rpma_mr_remote_from_descriptor", ctypes.c_void_p(data.ptr), ctypes.c_size_t(data.len))
    octets = bytes(range(251)) * 261
    source = ctypes.create_string_buffer(octets[:SIZE], SIZE)
    sink = ctypes.create_string_buffer(SIZE)
    from_here = made("rpma_mr_reg", peer, source, ctypes.c_size_t(SIZE), WRITE_SOURCE)
    to_here = made("rpma_mr_reg", peer, sink, ctypes.c_size_t(SIZE), READ_SINK)
    queue = made("rpma_conn_get_cq", connection)
    none, whole = ctypes.c_size_t(0), ctypes.c_size_t(SIZE)

    def finish(function, *arguments):
        call(function, connection, *arguments, ALWAYS, None)
        call("rpma_cq_wait", queue)
        completion = ctypes.create_string_buffer(64)  # ibv_wc: wr_id, then the status
        call("rpma_cq_get_wc", queue, 1, completion, None)
        if status := int.from_bytes(completion.raw[8:12], sys.byteorder):
            sys.exit(f"{function}: status {status}")

    finish("rpma_write", remote, none, from_here, none, whole)
    finish("rpma_atomic_write", remote, ctypes.c_size_t(SIZE - 8), b"librpma.")
    finish("rpma_flush", remote, none, whole, VISIBILITY)
    finish("rpma_read", to_here, none, remote, none, whole)
    same = sink.raw[:-8] == source.raw[:-8] and sink.raw[-8:] == b"librpma."
    call("rpma_conn_disconnect", connection)
    expect(connection, CLOSED)
    sys.exit(None if same else "other octets came back")


(serve if sys.argv[1] == "server" else use)(sys.argv[2].encode(), sys.argv[3].encode())
