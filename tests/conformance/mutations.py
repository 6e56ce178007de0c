#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Flips each bit of each DDP and RDMAP header of a conforming conversation, one at a time, repairs the CRC, and compares what
`weft audit` says with a table, made from the RFCs' figures alone, of what that bit means.

    mutations.py WEFT
"""

import sys

from oracle import ANYTHING, compare  # and where the forge is
from story import STEPS, Story

SEND_LIKE = {3: "Send", 4: "Send with Invalidate", 5: "Send with SE", 6: "Send with SE and Invalidate"}
MODEL = {0: "RDMAP-5.1-01", 1: "RDMAP-5.2.1-01", 2: "RDMAP-5.2.2-02", 7: "RDMAP-5.4-01", 10: "RDMAPX-5.2.1-14",
         11: "RDMAPX-5.2.2-05", **{op: "RDMAP-5.3-01" for op in SEND_LIKE}, 8: "RDMAPX-6.3-01", 9: "RDMAPX-6.3-01"}
QUEUE_RULE = {1: "RDMAP-5.2.1-06", 7: "RDMAP-5.4-02", 10: "RDMAPX-5.2.1-19", 11: "RDMAPX-5.2.2-06",
              **{op: "RDMAP-5.3-08" for op in SEND_LIKE}, 8: "RDMAPX-6.3-04", 9: "RDMAPX-6.3-04"}
QUEUE = {1: 1, 7: 2, 10: 1, 11: 3}
TAGGED = {0, 2}
# What a ULPDU that lacks its last octets breaks, by its step of the story (mutations_mpa.py cuts them).
TOO_SHORT = {"write": "DDP-5.2-10", "read": "RDMAP-4.4-01", "response": "DDP-5.2-10", "response end": "RDMAP-4.4-07",
             "halves": "DDP-5.2-07", "atomic": "RDMAPX-4-02", "atomic response": "RDMAPX-4-03", "immediate": "RDMAPX-6.3-05"}


def opcode_changed(name, old, new, tagged):
    """Another opcode in the RDMAP control octet."""
    if new > 11:
        return {"RDMAP-4.1-22"}
    if tagged != (new in TAGGED):
        return {MODEL[new]}
    if not tagged and QUEUE.get(new, 0) != QUEUE.get(old, 0):
        return {QUEUE_RULE[new]}
    if name.startswith("halves"):
        return {"DDP-4.3-06", "RDMAP-4.1-23", "RDMAPX-6.3-05"}
    if tagged:  # a Write becomes a Read Response without a request, a Read Response a Write
        return {"DDP-4.2-06", "RDMAP-5.2-01", "RDMAP-4.4-07", "DDP-4.1-05", "RDMAP-4.4-03", "RDMAP-4.4-04", ANYTHING}
    if old in (8, 9) and new in (8, 9):
        return {ANYTHING}
    if new in (8, 9):
        return {"RDMAPX-6.3-05", "RDMAPX-4.1-03"}
    if old == 4:
        return {"RDMAP-4.1-23"} if new in (3, 5) else {ANYTHING}
    return {"RDMAPX-4-02", "RDMAP-4.4-01", "RDMAPX-5.2.1-04", "RDMAPX-4-03", ANYTHING} if new in (1, 10) else {ANYTHING}


# What follows the DDP header: offset in it -> clauses.
def read_request_field(at):
    if at < 4:
        return {"RDMAP-4.4-03"}
    if at < 12:
        return {"RDMAP-4.4-04"}
    return {"RDMAP-4.4-07"} if at < 16 else {ANYTHING}


def atomic_request_field(at, mask):
    if at < 4:
        return {"RDMAPX-5.2.1-04"} if at == 3 and mask & 0x0D else {ANYTHING} if at == 3 and mask & 0x02 else {"RDMAPX-5.2.1-02"}
    if at < 8:
        return {"RDMAPX-5.2.2-02"}
    if 36 <= at < 44:
        return {"RDMAPX-5.2.1-12"}
    return {"RDMAPX-5.2.1-13"} if at >= 44 else {ANYTHING}


def meaning(name, ulpdu, at, mask):
    """The clauses one of which must be found, ANYTHING among them if nothing need be."""
    tagged, opcode = ulpdu[0] >> 7, ulpdu[1] & 0x0F
    size = 14 if tagged else 18
    if at == 0:
        if mask & 0x80:
            return {"DDP-4-01", MODEL[opcode], *(["DDP-4.3-09"] if tagged else [])}
        if mask & 0x40:
            return {"DDP-4.1-05", "DDP-4.1-06", "DDP-4.2-06", "DDP-5.2-10", "RDMAP-5.2-01", "RDMAP-4.4-07", "RDMAP-5.4-05",
                    "RDMAP-4.4-04", ANYTHING}
        return {"DDP-4.1-11"} if mask & 0x3C else {"DDP-4.1-13"}
    if at == 1:
        if mask & 0xC0:
            return {"RDMAP-4.1-17"}
        return {"RDMAP-4.1-20"} if mask & 0x30 else opcode_changed(name, opcode, opcode ^ mask, bool(tagged))
    if tagged and at < 6:
        if opcode == 2:
            return {"RDMAP-4.4-03", "DDP-4.2-10"}
        return {"DDP-4.2-10"} if name.startswith("write") else {ANYTHING}
    if tagged and at < 14:
        if opcode == 2:
            return {"RDMAP-4.4-04", "DDP-5.2-10"}
        return {"DDP-5.2-10", "DDP-5.3-03"}  # or the segments are merely out of order
    if at < 6:
        if name.startswith("halves"):
            return {"DDP-4.3-06", "RDMAP-4.1-23"}
        return {ANYTHING} if opcode in (4, 6) else {"RDMAPX-4.1-03"} if opcode >= 8 else {"RDMAP-4.1-23"}
    if at < 10:
        return {"DDP-4.3-09"} if at < 9 or mask & 0xFC else {QUEUE_RULE[opcode]}
    if at < 14:
        return {"DDP-4.3-10", "DDP-4.3-11", "DDP-4.3-13", "DDP-4.1-05", "DDP-4.1-06"}
    if at < 18:
        return {"DDP-4.3-15", "DDP-5.2-07", "DDP-5.3-02", "DDP-4.1-08", "RDMAPX-6.3-05",
                ANYTHING if opcode in (1, 10, 11) else "DDP-5.2-07"}
    behind = at - size
    if opcode == 1:
        return read_request_field(behind)
    if opcode == 10:
        return atomic_request_field(behind, mask)
    return {"RDMAPX-5.2.2-02"} if behind < 4 else {ANYTHING}


def header_size(ulpdu):
    size, opcode = 14 if ulpdu[0] >> 7 else 18, ulpdu[1] & 0x0F
    return size + {1: 28, 10: 52, 11: 12}.get(opcode, 0)


def mutations():
    for name, _, ulpdu in STEPS:
        for at in range(header_size(ulpdu)):
            for bit in range(8):
                yield name, ulpdu, at, 1 << bit


def conversation(number, name, ulpdu, at, mask):
    """Each in a connection of its own: another pair of addresses."""
    story = Story(number=number).start()
    changed = ulpdu[:at] + bytes([ulpdu[at] ^ mask]) + ulpdu[at + 1:]
    return story.steps(**{name.replace(" ", "_"): changed}).close().packets


def main():
    cases = [(f"'{name}', octet {at}, bit {mask:02x}", conversation(number, name, ulpdu, at, mask),
              meaning(name, ulpdu, at, mask)) for number, (name, ulpdu, at, mask) in enumerate(mutations())]
    return compare(sys.argv[1], cases)


if __name__ == "__main__":
    sys.exit(main())
