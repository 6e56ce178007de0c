# SPDX-License-Identifier: Apache-2.0
"""forge.py edit: the command line of editing.py."""

import argparse
import sys
from pathlib import Path

from capture_file import CaptureFile, Unreadable
from conversation import INITIATOR, RESPONDER
from editing import REPAIRS, Edit, Repairs, edit_capture

DESCRIPTION = """Changes octets of a pcap file and repairs what the change made wrong around them. An edit begins with --packet,
--fpdu or --startup; the options after it belong to it, and there may be several edits. Offsets count the octets of the
file as it is before any edit. Packets are numbered as Wireshark numbers frames, FPDUs from 1 in each direction."""

EPILOG = """offsets in the ULPDU (RFC 5041, RFC 5040; numbers are decimal, octets hexadecimal)
  0      T 80, L 40, reserved 3c, DV 03
  1      RV c0, reserved 30, opcode 0f
  tagged:    2 STag, 6 TO, 14 payload
  untagged:  2 Invalidate STag, 6 QN, 10 MSN, 14 MO, 18 payload
  Read Request, from 18 on: sink STag, 22 sink TO, 30 size, 34 source STag, 38 source TO
offsets in a startup frame: 0 key, 16 M 80, C 40, R 20, S 10, reserved 0f, 17 revision, 18 PD_Length, 20 private data

examples
  forge.py edit in.pcap out.pcap --fpdu 3 --from responder --xor 02             DV becomes 3
  forge.py edit in.pcap out.pcap --fpdu 2 --at 2 --octets 0badcafe              another STag
  forge.py edit in.pcap out.pcap --startup request --at 16 --xor 08             a reserved bit of the Request
  forge.py edit in.pcap out.pcap --packet 12 --at 30 --delete 8 --no-length     8 octets less, ULPDU_Length as it was
  forge.py edit in.pcap out.pcap --fpdu 1 --part crc --xor 01 --fpdu 2 --part pad --octets 0a"""


HELP = ("ULPDU_Length; PD_Length", "PAD, when the ULPDU's size changed", "Markers after octets that moved",
        "the CRC of an FPDU that had a right one", "sequence and acknowledgement numbers", "IP's length", "IPv4's checksum",
        "TCP's checksum")  # as REPAIRS


class Begin(argparse.Action):
    def __call__(self, parser, options, value, option=None):
        place = option[2:]
        edit = Edit(place)
        if place == "startup":
            edit.side = INITIATOR if value == "request" else RESPONDER
        else:
            edit.number = value
        options.edits = [*options.edits, edit]


class Set(argparse.Action):
    """An option of the edit that was begun last."""

    def __call__(self, parser, options, value, option=None):
        if not options.edits:
            parser.error(f"{option}: begin an edit with --packet, --fpdu or --startup")
        edit = options.edits[-1]
        if self.dest in ("set", "xor", "insert", "delete"):
            if edit.action is not None:
                parser.error(f"{option}: this edit has --{edit.action} already")
            edit.action = self.dest
            if self.dest == "delete":
                edit.count = value
            else:
                edit.octets = value
        else:
            setattr(edit, self.dest, value)


def octets(text):
    return bytes.fromhex(text)


def parser_of():
    parser = argparse.ArgumentParser(prog="forge.py edit", description=DESCRIPTION, epilog=EPILOG,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.set_defaults(edits=[])
    parser.add_argument("input", type=Path, help="a pcap file: Ethernet, Linux cooked, loopback or raw IP")
    parser.add_argument("output", type=Path)
    where = parser.add_argument_group("where")
    where.add_argument("--packet", action=Begin, type=int, metavar="N", help="the TCP payload of this packet")
    where.add_argument("--fpdu", action=Begin, type=int, metavar="K", help="an FPDU: its ULPDU, or --part")
    where.add_argument("--startup", action=Begin, choices=("request", "reply"), help="a startup frame")
    where.add_argument("--from", action=Set, dest="side", choices=(INITIATOR, RESPONDER),
                       help="who sent the FPDU (the initiator)")
    where.add_argument("--part", action=Set, choices=("ulpdu", "length", "pad", "crc", "marker", "fpdu"), help="of the FPDU")
    where.add_argument("--connection", action=Set, type=int, metavar="N",
                       help="counted from 0, as weft audit does (the first one with a startup frame)")
    where.add_argument("--at", action=Set, type=int, metavar="OFFSET", help="in that payload, part or frame (0)")
    what = parser.add_argument_group("what")
    what.add_argument("--octets", action=Set, dest="set", type=octets, metavar="HEX", help="instead of those that are there")
    what.add_argument("--xor", action=Set, type=octets, metavar="HEX", help="flips these bits")
    what.add_argument("--insert", action=Set, type=octets, metavar="HEX", help="in front of the octet there, or after the last")
    what.add_argument("--delete", action=Set, type=int, metavar="COUNT")
    leave = parser.add_argument_group("what is not repaired")
    for name, text in zip(REPAIRS, HELP):
        leave.add_argument("--no-" + name.replace("_", "-"), action="store_false", dest="repair_" + name, help=text)
    parser.add_argument("--all-checksums", action="store_true",
                        help="also in packets that did not change: a sender's capture often has none, the card puts them in")
    return parser


def main(words):
    parser = parser_of()
    options = parser.parse_args(words)
    for edit in options.edits:
        if edit.action is None:
            parser.error("each edit needs --octets, --xor, --insert or --delete")
    repairs = Repairs(**{name: getattr(options, "repair_" + name) for name in REPAIRS})
    try:
        capture = CaptureFile(options.input)
        changed = edit_capture(capture, options.edits, repairs, options.all_checksums)
        capture.write(options.output)
    except (OSError, Unreadable) as error:
        print(f"forge.py edit: {error}", file=sys.stderr)
        return 2
    for edit in options.edits:
        print(edit)
    print(f"{changed} of {len(capture.packets)} packets changed")
    return 0
