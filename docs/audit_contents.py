#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a conforming capture of pcap-samples/ contains, in the words of docs/clauses/audit-samples.csv: a rule had something to
judge in a capture only if what the rule is about was there. Reads captures by itself, with nothing of weft and no more than those
samples need: pcap, TCP without losses, startup frames first.

    docs/audit_contents.py CAPTURE...    print what is in them
"""

import struct
import sys
from pathlib import Path

SYN, FIN = 2, 1
SENDS = {3: "Send", 4: "Send with Invalidate", 5: "Send with SE", 6: "Send with SE and Invalidate"}
NAMES = {0: "RDMA Write", 1: "Read Request", 2: "Read Response", 7: "Terminate", 10: "Atomic Request", 11: "Atomic Response",
         **dict.fromkeys(SENDS, "Send"), 8: "Immediate Data", 9: "Immediate Data"}
MARKER = 4
ERRORS = {(0, 0): "a Local Catastrophic Error", (0, 1): "a protection error", (0, 2): "an operation error",
          (1, 0): "a DDP Local Catastrophic Error", (1, 1): "an error of DDP", (1, 2): "an error of DDP",
          (2, 0): "an error of MPA"}


# --- packets to streams

def packets(data):
    """(number, IP packet) of a pcap file; none of another format."""
    order = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}.get(data[:4])
    if order is None:
        return
    link = struct.unpack(order + "I", data[20:24])[0]
    skip = {1: 14, 0: 4, 101: 0, 113: 16, 276: 20}.get(link)
    at, number = 24, 0
    while skip is not None and at + 16 <= len(data):
        size = struct.unpack(order + "I", data[at + 8:at + 12])[0]
        number += 1
        yield number, data[at + 16 + skip:at + 16 + size]
        at += 16 + size


def segments(data):
    """(packet, (source, destination), sequence number, flags, octets)"""
    for number, ip in packets(data):
        if len(ip) >= 20 and ip[0] >> 4 == 4 and ip[9] == 6:
            tcp, ends = ip[(ip[0] & 15) * 4:struct.unpack(">H", ip[2:4])[0]], (ip[12:16], ip[16:20])
        elif len(ip) >= 40 and ip[0] >> 4 == 6 and ip[6] == 6:
            tcp, ends = ip[40:40 + struct.unpack(">H", ip[4:6])[0]], (ip[8:24], ip[24:40])
        else:
            continue
        source, destination = (ends[0], tcp[0:2]), (ends[1], tcp[2:4])
        yield number, (source, destination), struct.unpack(">I", tcp[4:8])[0], tcp[13], tcp[(tcp[12] >> 4) * 4:]


class Stream:
    """One direction of a TCP connection."""

    def __init__(self):
        self.octets, self.next, self.syn, self.fin, self.ends = bytearray(), None, False, False, []

    def take(self, number, sequence, flags, payload):
        if flags & SYN:
            self.syn, self.next = True, (sequence + 1) & 0xFFFFFFFF
        if self.next is None:
            self.next = sequence
        missing = (self.next - sequence) & 0xFFFFFFFF
        if missing < len(payload):  # in order, or partly seen before
            self.octets += payload[missing:]
            self.next = (sequence + len(payload)) & 0xFFFFFFFF
            self.ends.append((len(self.octets), number))
        self.fin = self.fin or bool(flags & FIN)

    def packet(self, end):
        """Where the octet before this one came."""
        return next(number for reached, number in self.ends if reached >= end)


def connections(data):
    """Pairs of streams."""
    found, current = [], {}
    for number, (source, destination), sequence, flags, payload in segments(data):
        key = frozenset((source, destination))
        if key not in current or (flags & SYN and source in current[key] and current[key][source].syn):
            current[key] = {source: Stream(), destination: Stream()}
            found.append(current[key])
        current[key][source].take(number, sequence, flags, payload)
    return [tuple(pair.values()) for pair in found]


# --- streams to FPDUs

class Frame:
    def __init__(self, stream):
        flags, self.revision, length = struct.unpack(">BBH", stream.octets[16:20])
        self.markers, self.crc, self.reject, self.s = (flags & bit != 0 for bit in (0x80, 0x40, 0x20, 0x10))
        self.size = 20 + length
        self.a = self.s and stream.octets[20:21] >= b"\x80"
        depths = struct.unpack(">HH", stream.octets[20:24]) if self.s and len(stream.octets) >= 24 else (0, 0)
        self.left = {name for name, depth in zip(("IRD", "ORD"), depths) if depth & 0x3FFF == 0x3FFF}  # to the ULP


def startup(pair):
    """The streams of Initiator and Responder with their frames; None where there are none."""
    for initiator, responder in (pair, pair[::-1]):
        if initiator.octets[:16] == b"MPA ID Req Frame" and len(initiator.octets) >= 20:
            answered = responder.octets[:16] == b"MPA ID Rep Frame" and len(responder.octets) >= 20
            return initiator, responder, Frame(initiator), Frame(responder) if answered else None
    return None


class Fpdu:
    def __init__(self):
        self.ulpdu, self.pad, self.packet = b"", b"", 0


def fpdus(stream, start, markers, has):
    """Those that are complete, behind the frame."""
    octets, at, found = bytes(stream.octets[start:]), 0, []

    def take(count, where):
        nonlocal at
        taken = b""
        while count:
            if markers and at % 512 == 0 and at + MARKER <= len(octets):
                has.add("a Marker")
                has.add("the first Marker" if at == 0 else where)
                at += MARKER
            step = min(count, 512 - at % 512) if markers else count
            if at + step > len(octets):
                raise EOFError
            taken, at, count, where = taken + octets[at:at + step], at + step, count - step, "a Marker inside an FPDU"
        return taken

    try:
        while at < len(octets):
            fpdu = Fpdu()
            length = struct.unpack(">H", take(2, "a Marker between two FPDUs"))[0]
            fpdu.ulpdu = take(length, "a Marker inside an FPDU")
            fpdu.pad = take((2 - length) % 4, "a Marker inside an FPDU")
            take(4, "a Marker inside an FPDU")
            fpdu.packet = stream.packet(start + at)
            found.append(fpdu)
    except EOFError:
        pass
    return found


# --- what there is

def frames_have(request, reply, has):
    for frame in filter(None, (request, reply)):
        has.add("a startup frame")
        has.add(f"a frame of revision {frame.revision}")
        has.add("private data" if frame.size > 20 + 4 * frame.s else "no private data")
        if frame.s:
            has.add("a frame with S")
            has.add("A" if frame.a else "S without A")
    if reply is None:
        return
    has.add("a Reply")
    has.add("a rejecting Reply" if reply.reject else "an accepting Reply")
    if not reply.reject and reply.s:
        has.update(f"an accepting Reply to an {name} of 0x3FFF" for name in request.left)
    if not reply.reject:
        has.add("an accepting Reply to S" if request.s else "an accepting Reply to no S")
        has.add("an accepting Reply to A" if request.a else "an accepting Reply to no A")


def segments_have(ulpdus, has):
    """The DDP segments of one direction."""
    first, open_tagged = {}, False
    for u in ulpdus:
        tagged, last, opcode = u[0] & 0x80, bool(u[0] & 0x40), u[1] & 15
        payload = len(u) - (14 if tagged else 18)
        has.add(NAMES.get(opcode, "another opcode"))
        has.add("a message of RFC 7306" if opcode > 7 else "a message of RFC 5040")
        if tagged:
            several = open_tagged or not last
            open_tagged = not last
        else:
            has.add("an untagged message")
            queue, msn, offset = struct.unpack(">III", u[6:18])
            several = offset > 0 or not last
            if first.setdefault(queue, msn) != msn:
                has.add("two messages of a queue")
        if several:
            has.add("a tagged message in several segments" if tagged else "an untagged message in several segments")
            has.add("a message in several segments")
        elif payload == 0:
            has.add("a message without octets")


def requests_have(timeline, limited, has):
    """Reads and atomics: (who, ULPDU) of both directions in order."""
    waiting = {}
    for who, u in timeline:
        opcode = u[1] & 15
        if opcode == 1 and len(u) >= 34:
            has.add("a Read and a named IRD" if limited else "a Read")
            waiting.setdefault((who, 2), []).append("a Read of nothing, answered" if u[30:34] == bytes(4) else "a Read, answered")
        elif opcode == 10 and len(u) >= 22:
            has.add("a FetchAdd" if u[21] & 15 == 0 else "a CmpSwap")
            waiting.setdefault((who, 11), []).append("an Atomic Request, answered")
        elif opcode in (2, 11) and u[0] & 0x40:
            queue = waiting.get((not who, opcode), [])
            if len(queue) > 1:
                has.add("two Reads outstanding, answered" if opcode == 2 else "two Atomic Requests outstanding, answered")
            if queue:
                has.add(queue.pop(0))


def terminates_have(ulpdus, has):
    for u in (u for u in ulpdus if u[1] & 15 == 7 and len(u) >= 22):
        layer, kind, bits, quoted = u[18] >> 4, u[18] & 15, u[20], u[24:]
        if bits & 0x1F or (layer, kind) not in ERRORS:
            continue  # siw's layout
        has.update({"a Terminate as the RFC lays it out", ERRORS[layer, kind]})
        if bits & 0xC0 == 0xC0:
            has.add("a Terminate with M and D")
            has.update({"an error of DDP with M and D"} if layer == 1 else ())
            if (layer, kind) == (0, 1) and not quoted[0] & 0x80 and quoted[1] & 15 == 1:
                has.add("a protection error of a Read Request")
        if bits & 0x20:
            has.add("a Terminate with R")


def contents(path):
    has = set()
    for pair in connections(path.read_bytes()):
        found = startup(pair)
        if found is None:
            continue
        initiator, responder, request, reply = found
        frames_have(request, reply, has)
        if reply is None or reply.reject:
            continue
        sent = [fpdus(initiator, request.size, reply.markers, has), fpdus(responder, reply.size, request.markers, has)]
        if sent[0]:
            has.add("an FPDU of the Initiator behind A" if request.a and reply.a else "an FPDU of the Initiator")
        if sent[1]:
            has.add("an FPDU of the Responder")
        for stream, mine, peer in ((initiator, sent[0], reply), (responder, sent[1], request)):
            if not mine:
                continue
            has.add("an FPDU")
            has.update({"a CRC"} if request.crc or reply.crc else ())
            has.update({"a PAD"} if any(fpdu.pad for fpdu in mine) else ())
            has.update({"an FPDU behind M=0"} if not peer.markers else ())
            has.update({"an FPDU behind the handshake"} if initiator.syn and responder.syn else ())
            has.update({"a FIN behind an FPDU"} if stream.fin else ())
            ulpdus = [fpdu.ulpdu for fpdu in mine if len(fpdu.ulpdu) >= 18 or fpdu.ulpdu[:1] >= b"\x80" and len(fpdu.ulpdu) >= 14]
            segments_have(ulpdus, has)
            terminates_have(ulpdus, has)
            has.update({"a FIN behind a Terminate"} if stream.fin and ulpdus and ulpdus[-1][1] & 15 == 7 else ())
        timeline = sorted([(fpdu.packet, who, fpdu.ulpdu) for who in (0, 1) for fpdu in sent[who]], key=lambda entry: entry[0])
        requests_have([(bool(who), ulpdu) for _, who, ulpdu in timeline], request.s and reply.s, has)
    return has


if __name__ == "__main__":
    for name in sys.argv[1:]:
        print(f"{name}: {', '.join(sorted(contents(Path(name))))}")
