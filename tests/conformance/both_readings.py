# SPDX-License-Identifier: Apache-2.0
"""What `weft dissect --json` and tshark show of a capture, in one form: messages (startup frames and FPDUs) by the packet in
which they end, each with its fields under the names of Wireshark's filters."""

import json
import os
import struct
import subprocess
import tempfile
import xml.etree.ElementTree as ElementTree
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

# Those of docs/tshark.md. A user's own settings must not decide a test.
TSHARK = ["tshark", "-n", "-o", "tcp.try_heuristic_first:TRUE", "--enable-heuristic", "iwarp_mpa_tcp",
          "--disable-protocol", "smb_direct", "--disable-protocol", "rpcordma"]
SHOWN = ["-Y", "iwarp_mpa || _ws.malformed", "-T", "pdml", "-J", "iwarp_mpa iwarp_ddp_rdmap _ws.malformed"]

# Compared octet by octet; all others are numbers.
OCTETS = {"iwarp_mpa.key.req", "iwarp_mpa.key.rep", "iwarp_mpa.privatedata", "iwarp_mpa.pad", "iwarp_mpa.crc",
          "iwarp_mpa.crc_check", "iwarp_ddp.rsvdulp", "iwarp_rdma.term_ddp_h", "iwarp_rdma.term_rdma_h"}
LENGTH, VERDICT = "iwarp_mpa.ulpdulength", "verdict on the CRC"

PCAP = {b"\xd4\xc3\xb2\xa1": "<", b"\x4d\x3c\xb2\xa1": "<", b"\xa1\xb2\xc3\xd4": ">", b"\xa1\xb2\x3c\x4d": ">"}  # octet order


@dataclass
class Field:
    value: object       # a number, or octets in hexadecimal; None: no value
    place: int | None   # of MPA's fields in the message, of the others in the ULPDU without Markers
    size: int = 0       # octets; 0 where weft counted them with another field


@dataclass
class Message:
    what: str
    fields: dict = field(default_factory=lambda: defaultdict(list))  # filter -> Fields: a Marker's come more than once
    unnamed: dict = field(default_factory=dict)  # name -> value: of weft's, those that tshark has no name for
    piece: dict = field(default_factory=dict)    # weft's, as it came

    def number(self, name):
        return self.fields[name][0].value if self.fields.get(name) else None


def value_of(name, value):
    """weft writes octets as `0a 0b`, numbers as `0x0a` or `10`, and keys as they read."""
    if name.startswith("iwarp_mpa.key"):
        return value[1:-1].encode("latin-1").hex()
    return value.replace(" ", "") if name in OCTETS else int(value, 0)


def weft_message(piece):
    message = Message("FPDU" if piece["what"].startswith("FPDU") else piece["what"], piece=piece)
    markers = [f["at"] for f in piece["fields"] if f["name"] == "Marker"]
    names = {f["name"]: f["value"] for f in piece["fields"]}
    ulpdu_at = next((f["at"] for f in piece["fields"] if f["layer"] in ("ddp", "rdmap", "ulp")), 0)
    for f in piece["fields"]:
        place = f["at"]
        if f["layer"] != "mpa":
            place -= ulpdu_at + 4 * sum(ulpdu_at < at < place for at in markers)
        if not f["filter"]:
            message.unnamed[f["name"]] = f["value"]
            continue
        message.fields[f["filter"]].append(Field(value_of(f["filter"], f["value"]), place, f["size"]))
        if f["filter"] == "iwarp_mpa.crc_check":
            message.fields[VERDICT].append(Field("good" if f["meaning"] == "right" else "bad", None))
    if "Invalidate STag" in names:  # of untagged segments RFC 5041 calls the octet and the word RsvdULP
        octets = names["RDMAP Control"][2:] + names["Invalidate STag"][2:]
        message.fields["iwarp_ddp.rsvdulp"].append(Field(octets, 1, 5))
    return message


def weft_reads(weft, capture):
    """Messages by packet; empty where weft finds no iWARP."""
    done = subprocess.run([weft, "dissect", "--json", capture], capture_output=True, text=True, check=False)
    messages = defaultdict(list)
    for piece in map(json.loads, done.stdout.splitlines()):
        if "fields" in piece:
            messages[piece["packet"]].append(weft_message(piece))
    return messages


def add_fields(message, proto, begin):
    for f in proto.iter("field"):
        name, value = f.get("name", ""), f.get("value")
        if not name.startswith("iwarp") or not value or f.find("field") is not None:
            continue
        place = int(f.get("pos")) - begin
        message.fields[name].append(Field(value if name in OCTETS else int(value, 16), place, int(f.get("size"))))
        if name == "iwarp_mpa.crc_check":
            message.fields[VERDICT].append(Field("good" if "Good CRC32" in f.get("showname") else "bad", None))


def packets_of(capture):
    octets = capture.read_bytes()
    order = PCAP.get(octets[:4])
    if order is None or struct.unpack_from(order + "I", octets, 20) != (1,):
        raise SystemExit(f"{capture.name}: neither pcapng nor anything but Ethernet is understood here")
    at = 24
    while at < len(octets):
        size, = struct.unpack_from(order + "I", octets, at + 8)
        yield bytearray(octets[at + 16:at + 16 + size])
        at += 16 + size


def concatenated(captures, path):
    """All of them in one file, with addresses of their own: to start tshark takes longer than to read a small capture. Returns of
    each packet where it was."""
    origins = []
    with path.open("wb") as out:
        out.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 262144, 1))
        for number, capture in enumerate(captures):
            network = bytes((10, number >> 8, number & 255))
            for own_number, packet in enumerate(packets_of(capture), 1):
                for address in {b"\x08\x00": (26, 30), b"\x86\xdd": (22, 38)}.get(bytes(packet[12:14]), ()):
                    packet[address:address + 3] = network
                out.write(struct.pack("<IIII", 1_700_000_000 + len(origins), 0, len(packet), len(packet)) + packet)
                origins.append((capture, own_number))
    return origins


def tshark_reads(captures):
    """Of each capture: messages by packet, and the packets that it calls malformed."""
    settings = {**os.environ, "WIRESHARK_CONFIG_DIR": "/nonexistent"}
    readings = {capture: (defaultdict(list), set()) for capture in captures}
    with tempfile.TemporaryDirectory() as folder:
        together = Path(folder) / "all.pcap"
        origins = concatenated(captures, together)
        done = subprocess.run([*TSHARK, "-r", together, *SHOWN], capture_output=True, check=True, env=settings)
    for packet in ElementTree.fromstring(done.stdout).iter("packet"):
        capture, number = origins[int(packet.find("proto[@name='geninfo']/field[@name='num']").get("show")) - 1]
        messages, malformed = readings[capture]
        if packet.find(".//proto[@name='_ws.malformed']") is not None:
            malformed.add(number)
        for proto in packet.findall("proto"):
            begin = int(proto.get("pos", "0"))
            if proto.get("name") == "iwarp_mpa":
                startup = proto.find("field[@name='iwarp_mpa.fpdu']") is None
                messages[number].append(Message("startup frame" if startup else "FPDU"))
            if proto.get("name") in ("iwarp_mpa", "iwarp_ddp_rdmap"):
                add_fields(messages[number][-1], proto, begin)
    return readings


def paired(ours, theirs):
    """The messages of one packet: pairs that are the same message, those of ours without a partner, and those of theirs."""
    pairs, alone, left = [], [], list(theirs)
    for one in ours:
        same = next((m for m in left if m.what == one.what and m.number(LENGTH) == one.number(LENGTH)), None)
        if same is None:
            alone.append(one)
        else:
            left.remove(same)
            pairs.append((one, same))
    return pairs, alone, left
