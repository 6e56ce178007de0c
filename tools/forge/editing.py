# SPDX-License-Identifier: Apache-2.0
"""Changes octets of a captured connection and makes what lies around them right again: ULPDU_Length, PAD, Markers and CRC of the
FPDU, sequence numbers of the rest of the connection, lengths and checksums of IP and TCP. Each repair can be left out."""

import struct
from dataclasses import dataclass, fields

from capture_file import SEQUENCES, Unreadable
from conversation import INITIATOR
from streams import ACK, FIXED, PERIOD, connections
from wire import crc32c


@dataclass
class Repairs:
    length: bool = True  # ULPDU_Length, or PD_Length of a startup frame
    pad: bool = True
    markers: bool = True
    crc: bool = True
    sequence: bool = True  # sequence, acknowledgement and SACK numbers of the whole connection
    ip_length: bool = True
    ip_checksum: bool = True
    tcp_checksum: bool = True


@dataclass
class Edit:
    """One change. `place` is "packet", "fpdu" or "startup"; packets and FPDUs are counted from 1."""
    place: str
    number: int = 1
    side: str = INITIATOR
    connection: int = None
    part: str = "ulpdu"  # of an FPDU: ulpdu, length, pad, crc, marker, or fpdu for all of it
    at: int = 0
    action: str = None  # set, xor, insert, delete
    octets: bytes = b""
    count: int = 0

    def __str__(self):
        where = {"packet": f"payload of packet {self.number}", "fpdu": f"{self.part} of FPDU {self.number} of the {self.side}",
                 "startup": f"startup frame of the {self.side}"}[self.place]
        return f"{self.action} {self.octets.hex() or self.count} at octet {self.at} of the {where}"


class Changes:
    """What the edits want of one direction, by stream offset."""

    def __init__(self, half):
        self.half, self.values, self.deleted, self.before, self.after = half, {}, set(), {}, {}

    def apply(self, edit, region):
        last = edit.at + (edit.count if edit.action == "delete" else 1 if edit.action == "insert" else len(edit.octets))
        room = len(region) + (1 if edit.action == "insert" and region else 0)
        if edit.at < 0 or last > room:
            raise Unreadable(f"{edit}: there are only {len(region)} octets")
        if edit.action == "delete":
            self.deleted.update(region[edit.at:last])
        elif edit.action == "insert":
            known = self.before if edit.at < len(region) else self.after
            at = region[min(edit.at, len(region) - 1)]
            known[at] = known.get(at, b"") + edit.octets
        else:
            for at, octet in zip(region[edit.at:last], edit.octets):
                old = self.values.get(at, self.half.octets[at])
                self.values[at] = old ^ octet if edit.action == "xor" else octet

    def touch(self, offsets):
        return any(at in known for at in offsets for known in (self.values, self.deleted, self.before, self.after))

    def cells(self, offsets):
        """(octet, the old offset that it belongs to), as the edits left them."""
        for at in offsets:
            yield from ((octet, at) for octet in self.before.get(at, b""))
            if at not in self.deleted:
                yield self.values.get(at, self.half.octets[at]), at
            yield from ((octet, at) for octet in self.after.get(at, b""))


class Rewritten:
    """The new octets of a direction, and where each old one went."""

    def __init__(self, changes, repairs):
        self.changes, self.half, self.repairs = changes, changes.half, repairs
        self.cells, self.base, at = [], 0, 0
        for frame in self.half.frames:
            self.cells += changes.cells(range(at, frame.begin))
            if frame.kind == "startup":
                self.cells += self._startup(frame)
                self.base, self.old_base = len(self.cells), frame.end
            else:
                self.cells += self._fpdu(frame)
            at = frame.end
        self.cells += changes.cells(range(at, len(self.half.octets)))
        self.octets = bytes(octet for octet, _ in self.cells)
        self.places, new = [], 0
        for old in range(len(self.half.octets) + 1):
            while new < len(self.cells) and self.cells[new][1] < old:
                new += 1
            self.places.append(new)

    def shift(self, old):
        """By how much a stream offset moved."""
        return 0 if old < 0 else self.places[min(old, len(self.places) - 1)] - min(old, len(self.places) - 1)

    def _startup(self, frame):
        cells = list(self.changes.cells(range(frame.begin, frame.end)))
        length = range(frame.begin + FIXED - 2, frame.begin + FIXED)
        grown = len(cells) - (frame.end - frame.begin)
        if grown and self.repairs.length and not self.changes.touch(length):
            cells[FIXED - 2:FIXED] = zip(struct.pack(">H", len(cells) - FIXED), length)
        return cells

    def _fpdu(self, frame):
        offsets = {kind: frame.offsets(kind) for kind in ("length", "ulpdu", "pad", "crc")}
        new = {kind: list(self.changes.cells(offsets[kind])) for kind in offsets}
        own = {kind: self.changes.touch(offsets[kind]) for kind in offsets}
        size = len(new["ulpdu"])
        if size != len(offsets["ulpdu"]):
            if self.repairs.length and not own["length"]:
                new["length"] = list(zip(struct.pack(">H", size & 0xFFFF), offsets["length"]))
            if self.repairs.pad and not own["pad"]:
                before = (offsets["ulpdu"] or offsets["length"])[-1]
                new["pad"] = (new["pad"] + [(0, (offsets["pad"] or [before])[-1])] * 3)[:(2 - size) % 4]
        cells = self._laid_out(frame, new)
        whole = [octet for octet, _ in cells]
        if self.repairs.crc and frame.right_crc and not own["crc"] and bytes(whole) != self.half.octets[frame.begin:frame.end]:
            cells[-4:] = zip(struct.pack("<I", crc32c(bytes(whole[:-4]))), offsets["crc"])
        return cells

    def _laid_out(self, frame, new):
        """With Markers where they have to be, unless nothing moved; then as they were."""
        at = len(self.cells)
        size = sum(len(cells) for cells in new.values()) + 4 * sum(part.kind == "marker" for part in frame.parts)
        moved = size != frame.end - frame.begin or at - self.base != frame.begin - self.old_base
        if self.half.markers and self.repairs.markers and moved:
            return self._with_markers(at, [cell for kind in ("length", "ulpdu", "pad", "crc") for cell in new[kind]])
        cells = []
        for part in frame.parts:
            if part.kind == "crc":
                cells += new["pad"]
            if part.kind in ("length", "crc"):
                cells += new[part.kind]
            elif part.kind in ("ulpdu", "marker"):
                cells += self.changes.cells(range(part.begin, part.end))
        return cells

    def _with_markers(self, at, octets):
        """RFC 5044 section 4.3: FPDUPTR is the distance from ULPDU_Length, zero in front of it."""
        cells, header = [], None
        for octet in octets:
            if (at + len(cells) - self.base) % PERIOD == 0:
                pointer = 0 if header is None else len(cells) - header
                cells += [(value, octet[1]) for value in struct.pack(">HH", 0, pointer)]
            header = len(cells) if header is None else header
            cells.append(octet)
        return cells


def _region(capture, found, edit):
    """The half that the edit is about, and the stream offsets among which `at` counts."""
    if edit.place == "packet":
        if not 1 <= edit.number <= len(capture.packets):
            raise Unreadable(f"{edit}: the file has {len(capture.packets)} packets")
        packet = capture.packets[edit.number - 1]
        if packet.connection is None or not packet.payload:
            raise Unreadable(f"{edit}: it carries no octets of TCP")
        half = packet.connection.half_of(packet)
        begin = half.begin_of(packet)
        if begin < 0:
            raise Unreadable(f"{edit}: its octets lie before the connection's first")
        return half, range(begin, begin + len(packet.payload))
    if edit.connection is None:
        chosen = [one for one in found if any(half.frames for half in one.halves.values())]
    else:
        chosen = found[edit.connection:edit.connection + 1]
    if not chosen:
        raise Unreadable(f"{edit}: there is no such connection")
    half = chosen[0].sides[edit.side]
    frames = [frame for frame in half.frames if frame.kind == edit.place]
    number = edit.number if edit.place == "fpdu" else 1
    if not 1 <= number <= len(frames):
        raise Unreadable(f"{edit}: the {edit.side} has {len(frames)} of them")
    frame = frames[number - 1]
    return half, frame.offsets(edit.part if edit.place == "fpdu" else "startup")


def _carry_over(capture, rewritten, repairs):
    """From the streams to the packets."""
    for packet in capture.packets:
        if packet.connection is None:
            continue
        half = packet.connection.half_of(packet)
        peer = packet.connection.other(half)
        own, other = rewritten.get(id(half)), rewritten.get(id(peer))
        acknowledged, sequence = packet.acknowledged, packet.sequence
        if own:
            begin, size = half.begin_of(packet), len(packet.payload)
            if size and begin >= 0:
                new = own.octets[own.places[begin]:own.places[begin + size]]
                if new != half.octets[begin:begin + size]:
                    if packet.cut:
                        raise Unreadable("the capture does not hold all octets of a packet that would change")
                    packet.replace_payload(new)
            if repairs.sequence and own.shift(begin):
                packet.put(packet.tcp + 4, struct.pack(">I", (sequence + own.shift(begin)) % SEQUENCES))
        if other and repairs.sequence and packet.flags & ACK:
            for at in [packet.tcp + 8, *packet.selective()]:
                number = acknowledged if at == packet.tcp + 8 else struct.unpack_from(">I", packet.octets, at)[0]
                number += other.shift(peer.offset(number))
                packet.put(at, struct.pack(">I", number % SEQUENCES))


def edit_capture(capture, edits, repairs=None, all_checksums=False):
    """Changes `capture` in place. What none of the edits concerns stays as it was, wrong or right."""
    repairs = repairs or Repairs()
    found, changes = connections(capture), {}
    for edit in edits:
        half, region = _region(capture, found, edit)
        changes.setdefault(id(half), Changes(half)).apply(edit, region)
    _carry_over(capture, {key: Rewritten(change, repairs) for key, change in changes.items()}, repairs)
    for packet in capture.packets:
        if packet.changed or (all_checksums and packet.connection is not None):
            packet.repair(ip_length=repairs.ip_length and packet.changed, ip_checksum=repairs.ip_checksum,
                          tcp_checksum=repairs.tcp_checksum)
    return sum(packet.changed for packet in capture.packets)


REPAIRS = [one.name for one in fields(Repairs)]
