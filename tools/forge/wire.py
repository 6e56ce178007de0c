# SPDX-License-Identifier: Apache-2.0
"""The octets of MPA, DDP and RDMAP, written from the RFCs' figures. Shares nothing with weft's C++: what the forge writes is
evidence from outside. Every field can be given a value that no RFC allows."""

import struct

REQUEST_KEY = b"MPA ID Req Frame"
REPLY_KEY = b"MPA ID Rep Frame"

# RDMAP opcodes, RFC 5040 figure 4 and RFC 7306 figure 2.
WRITE, READ_REQUEST, READ_RESPONSE, SEND, SEND_INV, SEND_SE, SEND_SE_INV, TERMINATE = range(8)
IMMEDIATE, IMMEDIATE_SE, ATOMIC_REQUEST, ATOMIC_RESPONSE = range(8, 12)
QUEUE = {READ_REQUEST: 1, TERMINATE: 2, ATOMIC_REQUEST: 1, ATOMIC_RESPONSE: 3}


def _crc_table():
    table = []
    for value in range(256):
        for _ in range(8):
            value = value >> 1 ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _crc_table()


def crc32c(octets):
    """RFC 3720 12.1: reflected, all ones before and after. RFC 5044 puts its least significant octet first."""
    value = 0xFFFFFFFF
    for octet in octets:
        value = value >> 8 ^ _TABLE[(value ^ octet) & 0xFF]
    return value ^ 0xFFFFFFFF


# --- MPA startup, RFC 5044 7.1.1 and RFC 6581 section 9

def startup(key, *, m=0, c=1, r=0, s=0, res=0, rev=2, data=b"", pd_length=None):
    flags = m << 7 | c << 6 | r << 5 | s << 4 | res
    length = len(data) if pd_length is None else pd_length
    return key + struct.pack(">BBH", flags, rev, length) + data


def enhanced(*, a=0, b=0, c=0, d=0, ird=8, ord=8):
    return struct.pack(">HH", a << 15 | b << 14 | ird, c << 15 | d << 14 | ord)


# --- FPDUs, RFC 5044 section 4

class Framer:
    """One direction: knows where it stands, because Markers lie at multiples of 512 octets of the FPDU stream."""

    def __init__(self, crc=True, markers=False):
        self.crc, self.markers, self.position = crc, markers, 0

    def frame(self, ulpdu, *, length=None, pad=None, crc=None, marker=None):
        """`crc`: octets, or a function of the right value; `marker(index, position, fpdu_pointer)` gives another Marker."""
        length = len(ulpdu) if length is None else length
        pad = bytes((2 - len(ulpdu)) % 4) if pad is None else pad
        body = struct.pack(">H", length) + ulpdu + pad
        out, header_at, count = bytearray(), None, 0

        def put_marker():
            nonlocal count
            pointer = 0 if header_at is None else self.position + len(out) - header_at
            octets = struct.pack(">HH", 0, pointer)
            if marker is not None:
                octets = marker(count, self.position + len(out), octets)
            count += 1
            out.extend(octets)

        def due():
            return self.markers and (self.position + len(out)) % 512 == 0

        for octet in body:
            if due():
                put_marker()
            if header_at is None:
                header_at = self.position + len(out)
            out.append(octet)
        if due():
            put_marker()
        right = struct.pack("<I", crc32c(out)) if self.crc else bytes(4)
        out += right if crc is None else crc(right) if callable(crc) else crc
        self.position += len(out)
        return bytes(out)


# --- ULPDUs

def tagged(opcode, stag, to, payload=b"", *, last=1, t=1, rsvd=0, dv=1, rv=1, rdmap_rsvd=0):
    control = t << 7 | last << 6 | rsvd << 2 | dv
    return struct.pack(">BBIQ", control, rv << 6 | rdmap_rsvd << 4 | opcode, stag, to) + payload


def untagged(opcode, msn, payload=b"", *, mo=0, last=1, qn=None, t=0, rsvd=0, dv=1, rv=1, rdmap_rsvd=0, invalidate=0):
    control = t << 7 | last << 6 | rsvd << 2 | dv
    queue = QUEUE.get(opcode, 0) if qn is None else qn
    return struct.pack(">BBIIII", control, rv << 6 | rdmap_rsvd << 4 | opcode, invalidate, queue, msn, mo) + payload


def read_request(sink_stag, sink_to, size, source_stag, source_to):
    return struct.pack(">IQIIQ", sink_stag, sink_to, size, source_stag, source_to)


def atomic_request(aopcode, identifier, stag, to, data, mask, compare=0, compare_mask=2**64 - 1, reserved=0):
    return struct.pack(">IIIQQQQQ", reserved << 4 | aopcode, identifier, stag, to, data, mask, compare, compare_mask)


def atomic_response(identifier, original):
    return struct.pack(">IQ", identifier, original)


def terminate(layer, etype, code, *, m=0, d=0, r=0, reserved=0, length=None, header=b"", rdma=b""):
    out = struct.pack(">BBBB", layer << 4 | etype, code, m << 7 | d << 6 | r << 5 | reserved >> 8, reserved & 0xFF)
    if length is not None:
        out += struct.pack(">H", length)
    return out + header + rdma
