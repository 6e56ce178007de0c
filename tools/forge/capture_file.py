# SPDX-License-Identifier: Apache-2.0
"""pcap files and the packets in them, to be read, changed and written back: what is not changed stays octet for octet."""

import struct

from conversation import checksum

ETHERNET, NULL, LOOP, SLL, SLL2 = 1, 0, 108, 113, 276
RAW = {12, 14, 101, 228, 229}
VLAN = {0x8100, 0x88A8, 0x9100}
IPV4, IPV6 = 0x0800, 0x86DD
MAGICS = {b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">", b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<"}
SEQUENCES = 1 << 32


class Unreadable(Exception):
    """The file is no capture that can be edited; the text says why."""


class Packet:
    """A captured frame. `ip` is where its IP header begins, None when it carries no whole TCP header. Read before it is
    changed: `payload` is changed as a whole, and repair() makes lengths and checksums fit."""

    def __init__(self, seconds, fraction, original, octets, link):
        self.seconds, self.fraction, self.original, self.octets = seconds, fraction, original, bytes(octets)
        self.was = self.octets
        self.ip = None
        at = _network_layer(self.octets, link)
        if at is not None:
            self._find_tcp(at)

    def _find_tcp(self, at):
        octets = self.octets
        version = octets[at] >> 4 if at < len(octets) else 0
        if version == 4 and len(octets) >= at + 20:
            total = struct.unpack_from(">H", octets, at + 2)[0]
            fragment = struct.unpack_from(">H", octets, at + 6)[0] & 0x3FFF
            tcp, protocol = at + (octets[at] & 15) * 4, octets[at + 9]
            end = at + total if total else self.original
            self.addresses = octets[at + 12:at + 16], octets[at + 16:at + 20]
            if fragment:
                return
        elif version == 6 and len(octets) >= at + 40:
            end = at + 40 + struct.unpack_from(">H", octets, at + 4)[0]
            tcp, protocol = at + 40, octets[at + 6]
            self.addresses = octets[at + 8:at + 24], octets[at + 24:at + 40]
            while protocol in (0, 43, 60) and len(octets) >= tcp + 8:
                protocol, tcp = octets[tcp], tcp + 8 + octets[tcp + 1] * 8
        else:
            return
        if protocol != 6 or len(octets) < tcp + 20:
            return
        begin = tcp + (octets[tcp + 12] >> 4) * 4
        if begin > min(end, len(octets)):
            return
        self.ip, self.tcp, self.begin, self.end = at, tcp, begin, end
        self.cut = end > len(octets)  # by the snap length

    @property
    def ports(self):
        return struct.unpack_from(">HH", self.octets, self.tcp)

    @property
    def source(self):
        return self.addresses[0], self.ports[0]

    @property
    def destination(self):
        return self.addresses[1], self.ports[1]

    @property
    def sequence(self):
        return struct.unpack_from(">I", self.octets, self.tcp + 4)[0]

    @property
    def acknowledged(self):
        return struct.unpack_from(">I", self.octets, self.tcp + 8)[0]

    @property
    def flags(self):
        return self.octets[self.tcp + 13]

    @property
    def payload(self):
        return self.octets[self.begin:self.end]

    @property
    def changed(self):
        return self.octets != self.was

    def put(self, at, octets):
        self.octets = self.octets[:at] + octets + self.octets[at + len(octets):]

    def replace_payload(self, payload):
        grown = len(payload) - (self.end - self.begin)
        self.octets = self.octets[:self.begin] + payload + self.octets[self.end:]
        self.end += grown
        self.original += grown

    def selective(self):
        """Where the sequence numbers of SACK options lie."""
        at, end = self.tcp + 20, self.begin
        while at + 1 < end and self.octets[at] != 0:
            if self.octets[at] == 1:
                at += 1
                continue
            size = self.octets[at + 1]
            if size < 2 or at + size > end:
                return
            if self.octets[at] == 5:
                yield from range(at + 2, at + size - 3, 4)
            at += size

    def repair(self, *, ip_length=True, ip_checksum=True, tcp_checksum=True):
        if ip_length:
            size = self.end - self.ip
            if size > 0xFFFF:
                raise Unreadable(f"a packet would grow to {size} octets, more than IP carries")
            fourth = self.octets[self.ip] >> 4 == 4
            self.put(self.ip + (2 if fourth else 4), struct.pack(">H", size if fourth else size - 40))
        if ip_checksum and self.octets[self.ip] >> 4 == 4:
            header = self.octets[self.ip:self.ip + (self.octets[self.ip] & 15) * 4]
            self.put(self.ip + 10, struct.pack(">H", checksum(header[:10] + b"\0\0" + header[12:])))
        if tcp_checksum and not self.cut:
            segment = self.octets[self.tcp:self.end]
            pseudo = self.addresses[0] + self.addresses[1] + struct.pack(">II", len(segment), 6)
            self.put(self.tcp + 16, struct.pack(">H", checksum(pseudo + segment[:16] + b"\0\0" + segment[18:])))


def _network_layer(octets, link):
    """Where IP begins; None when the frame carries none."""
    if link in RAW:
        return 0
    if link in (NULL, LOOP):
        return 4
    if link == ETHERNET:
        at = 12
    elif link == SLL:
        at = 14
    elif link == SLL2:
        return 20 if octets[:2] in (b"\x08\x00", b"\x86\xdd") else None
    else:
        raise Unreadable(f"link type {link} is not known")
    while len(octets) >= at + 2:
        kind = struct.unpack_from(">H", octets, at)[0]
        if kind in (IPV4, IPV6):
            return at + 2
        if kind not in VLAN:
            return None
        at += 4
    return None


class CaptureFile:
    """`packets[0]` is Wireshark's frame 1."""

    def __init__(self, path):
        octets = path.read_bytes()
        self.order = MAGICS.get(octets[:4])
        if octets[:4] == b"\x0a\x0d\x0d\x0a":
            raise Unreadable(f"{path} is pcapng: editcap -F pcap {path} OUT makes it one that can be edited")
        if self.order is None or len(octets) < 24:
            raise Unreadable(f"{path} is no pcap file")
        self.head, self.packets, at = octets[:24], [], 24
        link = struct.unpack_from(self.order + "I", octets, 20)[0] & 0x0FFFFFFF
        while at + 16 <= len(octets):
            seconds, fraction, size, original = struct.unpack_from(self.order + "IIII", octets, at)
            if at + 16 + size > len(octets):
                break
            self.packets.append(Packet(seconds, fraction, original, octets[at + 16:at + 16 + size], link))
            at += 16 + size
        self.rest = octets[at:]  # of a packet that the file cuts short

    def write(self, path):
        out = bytearray(self.head)
        for packet in self.packets:
            out += struct.pack(self.order + "IIII", packet.seconds, packet.fraction, len(packet.octets), packet.original)
            out += packet.octets
        path.write_bytes(out + self.rest)
