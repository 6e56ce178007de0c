# SPDX-License-Identifier: Apache-2.0
"""A TCP connection as packets of a capture file: Ethernet, IPv4, correct checksums, one packet a microsecond."""

import struct

INITIATOR, RESPONDER = "initiator", "responder"
FIN, SYN, RST, PSH, ACK = 1, 2, 4, 8, 16


def checksum(octets):
    if len(octets) % 2:
        octets += b"\0"
    total = sum(struct.unpack(f">{len(octets) // 2}H", octets))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


class End:
    def __init__(self, address, port, mac, sequence):
        self.address, self.port, self.mac, self.sequence = bytes(map(int, address.split("."))), port, mac, sequence


class Conversation:
    """`packets` are complete frames; packet numbers count from 1 as Wireshark's do."""

    def __init__(self, port=7174, mss=1460, number=0):
        """`number`: conversations of one capture differ in it, and so in the initiator's address."""
        initiator = "192.0.2.1" if number == 0 else f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
        self.ends = {
            INITIATOR: End(initiator, 47174, bytes.fromhex("020000000001"), 0x10000000),
            RESPONDER: End("192.0.2.2", port, bytes.fromhex("020000000002"), 0x20000000),
        }
        self.mss = mss
        self.packets = []

    def packet(self, side, payload=b"", flags=ACK, options=b"", less=0):
        """Appends one segment and returns its packet number. It acknowledges all that the other end has sent but `less` octets:
        these had not arrived when it was sent, wherever the capture shows it."""
        here, there = self.ends[side], self.ends[RESPONDER if side == INITIATOR else INITIATOR]
        acknowledged = there.sequence - less if flags & ACK else 0
        offset = 5 + len(options) // 4
        tcp = struct.pack(">HHIIBBHHH", here.port, there.port, here.sequence & 0xFFFFFFFF, acknowledged & 0xFFFFFFFF,
                          offset << 4, flags, 65535, 0, 0) + options
        pseudo = here.address + there.address + struct.pack(">BBH", 0, 6, len(tcp) + len(payload))
        tcp = tcp[:16] + struct.pack(">H", checksum(pseudo + tcp + payload)) + tcp[18:]
        ip = struct.pack(">BBHHHBBH", 0x45, 0, 20 + len(tcp) + len(payload), len(self.packets) & 0xFFFF, 0x4000, 64, 6, 0)
        ip += here.address + there.address
        ip = ip[:10] + struct.pack(">H", checksum(ip)) + ip[12:]
        self.packets.append(there.mac + here.mac + b"\x08\x00" + ip + tcp + payload)
        here.sequence += len(payload) + (1 if flags & (SYN | FIN) else 0)
        return len(self.packets)

    def syn(self, side, flags=SYN, payload=b""):
        return self.packet(side, payload, flags, struct.pack(">BBH", 2, 4, self.mss))

    def open(self):
        self.syn(INITIATOR)
        self.syn(RESPONDER, SYN | ACK)
        self.packet(INITIATOR)

    def data(self, side, payload, less=0):
        return self.packet(side, payload, PSH | ACK, less=less)

    def close(self, side=INITIATOR):
        number = self.packet(side, flags=FIN | ACK)
        other = RESPONDER if side == INITIATOR else INITIATOR
        self.packet(other, flags=FIN | ACK)
        self.packet(side)
        return number

    def fin(self, side):
        return self.packet(side, flags=FIN | ACK)

    def reset(self, side):
        return self.packet(side, flags=RST | ACK)


def write_pcap(path, packets):
    out = bytearray(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
    for number, packet in enumerate(packets):
        out += struct.pack("<IIII", 1_700_000_000, number, len(packet), len(packet)) + packet
    path.write_bytes(out)
