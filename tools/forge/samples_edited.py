# SPDX-License-Identifier: Apache-2.0
"""Captures of real siw with one thing broken, by editing.py: what surrounds the break is not made up."""

from dataclasses import dataclass, field

from capture_file import CaptureFile
from conversation import INITIATOR, RESPONDER
from editing import Edit, Repairs, edit_capture

I, R = INITIATOR, RESPONDER
RPING = "40-crc-rping"  # CRCs; three rounds of Send, Read, Write


@dataclass
class Edited:
    name: str
    source: str
    clause: str
    side: str
    packet: int
    shows: str
    edits: list
    also: list = field(default_factory=list)
    repairs: Repairs = field(default_factory=Repairs)

    def capture(self, samples):
        """Checksums are made right everywhere: on the loopback interface the kernel computes none."""
        capture = CaptureFile(samples / f"{self.source}.pcap")
        edit_capture(capture, self.edits, self.repairs, all_checksums=True)
        return capture

    @property
    def expected(self):
        finding = {"clause": self.clause, "severity": "violation", "direction": self.side, "packet": self.packet}
        return {"findings": [finding], "also": self.also}


def fpdu(number, side, at, action, octets=b"", part="ulpdu", count=0):
    return Edit("fpdu", number, side, part=part, at=at, action=action, octets=octets, count=count)


EDITED = [
    Edited("rping-reserved-bit", RPING, "MPA2-6-04", I, 4, "a reserved bit is set in the Request",
           [Edit("startup", at=16, action="xor", octets=b"\x08")]),
    Edited("rping-crc", RPING, "MPA-4.4-13", I, 8, "one bit of the CRC of the first FPDU is wrong",
           [fpdu(1, I, 0, "xor", b"\x01", part="crc")]),
    Edited("rping-length", RPING, "MPA-4.1-02", I, 11, "8 octets of a Read Response are left out, its ULPDU_Length stays",
           [fpdu(2, I, 22, "delete", count=8)], repairs=Repairs(length=False, pad=False, crc=False)),
    Edited("rping-dv", RPING, "DDP-4.1-13", I, 13, "DV is 3", [fpdu(3, I, 0, "xor", b"\x02")]),
    Edited("rping-msn", RPING, "DDP-4.3-10", R, 31, "the last Send has MSN 7; it is the sixth",
           [fpdu(12, R, 13, "set", b"\x07")]),
    Edited("rping-opcode", RPING, "RDMAP-4.1-22", I, 13, "a Send has the opcode 12", [fpdu(3, I, 1, "xor", b"\x0f")]),
    Edited("rping-response-short", RPING, "RDMAP-4.4-07", I, 11, "a Read Response is 8 octets shorter than was asked for",
           [fpdu(2, I, 22, "delete", count=8)]),
    Edited("rping-response-stag", RPING, "RDMAP-4.4-03", I, 11, "a Read Response goes to another STag",
           [fpdu(2, I, 2, "xor", b"\0\0\1")]),
    Edited("mpa-v1-rv", "51-mpa-v1-crc", "RDMAP-4.1-17", I, 10, "revision 1 of MPA: a Read Request with RV 2",
           [fpdu(2, I, 1, "xor", b"\xc0")]),
]
