# SPDX-License-Identifier: Apache-2.0
"""The TCP connections of a capture, the octets of each direction, and what MPA makes of them: startup frames and FPDUs."""

import struct
from dataclasses import dataclass, field

from capture_file import SEQUENCES, Unreadable
from conversation import FIN, INITIATOR, RESPONDER, SYN
from wire import REPLY_KEY, REQUEST_KEY, crc32c

ACK = 16
FIXED = 20  # octets of a startup frame before its private data
PERIOD = 512
MOST_MISSING = 1 << 22  # octets in a row that the capture lost


@dataclass
class Part:
    """Octets of one kind in a row. `frame` is the startup frame or FPDU that they belong to."""
    kind: str  # startup, marker, length, ulpdu, pad, crc
    begin: int
    end: int


@dataclass
class Frame:
    kind: str  # "startup" or "fpdu"
    begin: int
    parts: list = field(default_factory=list)
    right_crc: bool = False

    @property
    def end(self):
        return self.parts[-1].end

    def offsets(self, kind):
        """Stream offsets of the octets of one kind; "fpdu" stands for all of them."""
        return [at for part in self.parts if kind in (part.kind, "fpdu") for at in range(part.begin, part.end)]


class Half:
    """One direction. Offset 0 is the octet after the SYN, or the first one that was captured."""

    def __init__(self, source):
        self.source, self.base, self.packets = source, None, []
        self.octets, self.have = bytearray(), bytearray()
        self.frames, self.markers = [], False

    def offset(self, sequence):
        """Of a sequence number; negative for what came before, such as the SYN and keep-alives."""
        distance = (sequence - self.base) % SEQUENCES
        return distance - SEQUENCES if distance >= SEQUENCES // 2 else distance

    def begin_of(self, packet):
        return self.offset(packet.sequence + (1 if packet.flags & SYN else 0))

    def take(self, packet):
        if self.base is None:
            self.base = (packet.sequence + (1 if packet.flags & SYN else 0)) % SEQUENCES
        self.packets.append(packet)
        payload, at = packet.payload, self.begin_of(packet)
        if not payload or at < 0:
            return
        if at > len(self.octets) + MOST_MISSING:
            raise Unreadable("sequence numbers leap by more than TCP can have on its way")
        missing = at + len(payload) - len(self.octets)
        if missing > 0:
            self.octets.extend(bytes(missing))
            self.have.extend(bytes(missing))
        for i, octet in enumerate(payload):
            if not self.have[at + i]:
                self.octets[at + i], self.have[at + i] = octet, 1

    def whole(self, begin, size):
        return begin + size <= len(self.have) and all(self.have[begin:begin + size])

    def find_startup(self):
        keys = [at for at in (self.octets.find(REQUEST_KEY), self.octets.find(REPLY_KEY)) if at >= 0]
        if not keys or not self.whole(min(keys), FIXED):
            return
        begin = min(keys)
        size = FIXED + struct.unpack_from(">H", self.octets, begin + 18)[0]
        if self.whole(begin, size):
            self.frames = [Frame("startup", begin, [Part("startup", begin, begin + size)])]

    def find_fpdus(self, markers):
        self.markers = markers
        base = at = self.frames[0].end
        while frame := self._fpdu(at, base):
            self.frames.append(frame)
            at = frame.end

    def _fpdu(self, begin, base):
        """RFC 5044 section 4: walks the parts, and steps over a Marker at each multiple of 512 octets."""
        frame, at = Frame("fpdu", begin), begin
        sizes = {"length": 2, "ulpdu": None, "pad": None, "crc": 4}
        for kind in sizes:
            left = sizes[kind]
            if kind == "ulpdu":
                left = int.from_bytes(bytes(self.octets[i] for i in frame.offsets("length")), "big")
                sizes["pad"] = (2 - left) % 4
            while left:
                if self._marker_due(at, base):
                    at = self._part(frame, "marker", at, 4)
                size = min(left, PERIOD - (at - base) % PERIOD) if self.markers else left
                if not self.whole(at, size):
                    return None
                at = self._part(frame, kind, at, size)
                left -= size
        octets = bytes(self.octets[begin:at])
        frame.right_crc = struct.pack("<I", crc32c(octets[:-4])) == octets[-4:]
        return frame

    def _marker_due(self, at, base):
        return self.markers and (at - base) % PERIOD == 0

    @staticmethod
    def _part(frame, kind, at, size):
        frame.parts.append(Part(kind, at, at + size))
        return at + size


class Connection:
    def __init__(self, packet):
        self.halves = {packet.source: Half(packet.source)}
        self.halves.setdefault(packet.destination, Half(packet.destination))
        self.sides = {}
        self.first_sequence = packet.sequence

    def half_of(self, packet):
        return self.halves[packet.source]

    def other(self, half):
        return next(one for one in self.halves.values() if one is not half)

    def begins_anew(self, packet):
        """A SYN that is no retransmission of the first one: the ports serve another connection."""
        return packet.flags & (SYN | ACK) == SYN and packet.sequence != self.first_sequence

    def read(self):
        """Which end is the Initiator, and where the FPDUs are."""
        first, second = self.halves.values()
        for half in (first, second):
            half.find_startup()
        replied = first.frames and first.octets.startswith(REPLY_KEY, first.frames[0].begin)
        requested = second.frames and second.octets.startswith(REQUEST_KEY, second.frames[0].begin)
        initiator, responder = (second, first) if replied or requested else (first, second)
        self.sides = {INITIATOR: initiator, RESPONDER: responder}
        for half in (first, second):
            peer = self.other(half)
            if half.frames:
                asked = bool(peer.frames) and peer.octets[peer.frames[0].begin + 16] & 0x80 != 0
                half.find_fpdus(asked)


def connections(capture):
    """In the order in which the capture shows them, as weft counts them."""
    found, live = [], {}
    for packet in capture.packets:
        packet.connection = None
        if packet.ip is None or packet.source == packet.destination:
            continue
        key = frozenset((packet.source, packet.destination))
        if key not in live or live[key].begins_anew(packet):
            live[key] = Connection(packet)
            found.append(live[key])
        packet.connection = live[key]
        live[key].half_of(packet).take(packet)
    for connection in found:
        connection.read()
    return found
