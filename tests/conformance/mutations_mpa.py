#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The same as mutations.py for what MPA adds: flips each bit of each ULPDU_Length, PAD, Marker (the CRC repaired) and CRC of a
conforming conversation, and compares what `weft audit` says with a table made from the figures of RFC 5044.

    mutations_mpa.py WEFT
"""

import sys

from mutations import TOO_SHORT
from oracle import ANYTHING, compare  # and where the forge is
from samples_startup import reply, request
from story import STEPS, I, R, Story
from wire import SEND, untagged


def told(number, step, ulpdu, **how):
    story = Story(number=number).start()
    return story.steps(**{step.replace(" ", "_"): (ulpdu, how)}).close().packets


def flipped(octets, bit):
    return bytes(octet ^ (1 << bit % 8 if at == bit // 8 else 0) for at, octet in enumerate(octets))


def pad_size(length):
    return (2 - length) % 4


def fpdu_size(length):
    return 2 + length + pad_size(length) + 4


def length_meaning(step, ulpdu, length):
    """Another length makes PAD of ULPDU, or says that the next FPDU begins where it does not."""
    right, wrong = fpdu_size(len(ulpdu)), fpdu_size(length)
    if right == wrong and length > len(ulpdu):
        return {ANYTHING}  # zeros of the PAD belong to the message now: the sender may have meant that
    if right == wrong:
        return {("MPA-4.1-03", TOO_SHORT[step])} if step in TOO_SHORT else {"MPA-4.1-03"}
    side = {name: who for name, who, _ in STEPS}[step]
    sizes = [fpdu_size(len(u)) for name, who, u in STEPS[[name for name, _, _ in STEPS].index(step):] if who == side]
    ends = [sum(sizes[:count]) for count in range(1, len(sizes) + 1)]
    if wrong in ends:
        return {"MPA-4.4-13"}  # there an FPDU does begin: for all that can be seen the CRC of a long one is wrong
    if wrong > ends[-1] and len(ends) == 1:
        return {"MPA-7.2-01"}  # the FIN comes inside it
    if wrong < ends[-1] and wrong > (ends[-2] if len(ends) > 1 else 0):
        return {"MPA-4.1-02", "MPA-4.4-13"}  # what is left may be the beginning of one more
    if wrong < right and (ulpdu + bytes(pad_size(len(ulpdu))))[wrong - 6:wrong - 2] == bytes(4):
        return {"MPA-4.1-02", ("MPA-7.1.1-11", "MPA-4.4-13")}  # zeros for a CRC look like none
    return {"MPA-4.1-02"}


def fields(number):
    """Of each FPDU of the story."""
    for step, _, ulpdu in STEPS:
        size = len(ulpdu)
        for bit in range(16):
            length = size ^ 1 << bit
            yield f"'{step}', ULPDU_Length {length:#06x}, not {size:#06x}", told(next(number), step, ulpdu, length=length), \
                length_meaning(step, ulpdu, length)
        for bit in range(8 * pad_size(size)):
            pad = flipped(bytes(pad_size(size)), bit)
            yield f"'{step}', PAD, bit {bit}", told(next(number), step, ulpdu, pad=pad), {"MPA-4.1-03"}
        for bit in range(32):
            yield f"'{step}', CRC, bit {bit}", told(next(number), step, ulpdu, crc=lambda right, bit=bit: flipped(right, bit)), \
                {"MPA-4.4-13"}


# Position 0 has the first Marker, 512 one between two FPDUs, 1024 one inside the second.
MARKED = [untagged(SEND, 1, bytes(484)), untagged(SEND, 2, bytes(700)), untagged(SEND, 3, bytes(9))]


def marker_meaning(position, bit):
    if position == 0:
        return {"MPA-4.3-12"}
    if bit < 16:
        return {"MPA-4.2-02"}
    if bit in (24, 25):  # the low bits of the last octet
        return {"MPA-4.2-05"}
    return {"MPA-4.3-07"} if position == 512 else {"MPA-4.3-05"}


def marked(number, side, position, bit):
    story = Story(number=number, markers_to=(I, R)).start(request(m=1), reply(m=1))
    if side == R:
        story.fpdu("first", I, MARKED[0])
    change = lambda _, at, octets: flipped(octets, bit) if at == position else octets  # noqa: E731
    for at, ulpdu in enumerate(MARKED):
        story.fpdu(at, side, ulpdu, marker=change)
    return story.close().packets


def markers(number):
    for side in (I, R):
        for position in (0, 512, 1024):
            for bit in range(32):
                yield f"Marker of the {side} at {position}, bit {bit}", marked(next(number), side, position, bit), \
                    marker_meaning(position, bit)


def main():
    number = iter(range(1, 1 << 24))
    return compare(sys.argv[1], [*fields(number), *markers(number)])


if __name__ == "__main__":
    sys.exit(main())
