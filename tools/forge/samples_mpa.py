# SPDX-License-Identifier: Apache-2.0
"""Samples that break a rule of MPA's framing."""

import struct

from samples import sample
from samples_startup import reply, request
from story import STEPS, I, R, Story
from wire import SEND, WRITE, startup, tagged, untagged

ULPDU = {name: ulpdu for name, _, ulpdu in STEPS}


def framed(step, **how):
    story = Story().start()
    return story.steps(**{step.replace(" ", "_"): (ULPDU[step], how)}).close(), I, step


@sample("MPA-4.1-03", "a PAD octet is 0a")
def _():
    return framed("invalidate", pad=b"\x0a" + bytes((2 - len(ULPDU["invalidate"])) % 4 - 1))


@sample("MPA-4.4-13", "the CRC of one FPDU is wrong in one bit")
def _():
    return framed("halves", crc=lambda right: bytes([right[0] ^ 1]) + right[1:])


@sample("MPA-7.1.1-11", "both ends asked for CRCs, the initiator sends zeros")
def _():
    story = Story().start()
    for name, side, ulpdu in STEPS:
        story.fpdu(name, side, ulpdu, **({"crc": bytes(4)} if side == I else {}))
    return story.close(), I, "first"


@sample("MPA-4.1-02", "a ULPDU_Length is 8 less than what is sent")
def _():
    return framed("halves", length=len(ULPDU["halves"]) - 8)


@sample("MPA-3-05", "a ULPDU of 65000 octets, more than DDP may hand down", also=["MPA-3-03", "MPA-5.1-04"])
def _():
    story = Story().start()
    story.steps(["first"])
    octets = story.framers[I].frame(tagged(WRITE, 0x10203040, 0, bytes(65000 - 14)))
    for at in range(0, len(octets), 1460):
        story.at["long"] = story.talk.data(I, octets[at:at + 1460])
    return story.close(), I, "long"


@sample("MPA-3-03", "a ULPDU longer than the MULPDU of the connection's MSS", severity="warning", also=["MPA-5.1-04"])
def _():
    story = Story(mss=536).start()
    story.steps(["first"])
    octets = story.framers[I].frame(tagged(WRITE, 0x10203040, 0, bytes(1000)))
    story.talk.data(I, octets[:536])
    story.at["long"] = story.talk.data(I, octets[536:])
    return story.steps(["last answer"], last_answer=None).close(), I, None


@sample("MPA-5.1-04", "FPDUs that begin anywhere in TCP segments", severity="warning")
def _():
    story = Story().start()
    octets = b"".join(story.framers[I].frame(tagged(WRITE, 0x10203040, 64 * n, bytes(64))) for n in range(40))
    for at in range(0, len(octets), 100):
        story.at["misaligned"] = story.talk.data(I, octets[at:at + 100])
    return story.close(), I, None


@sample("MPA-7.2-01", "a FIN in the middle of an FPDU")
def _():
    story = Story().start().steps(["first", "answer"])
    story.talk.data(I, story.framers[I].frame(ULPDU["write"])[:40])
    story.at["fin"] = story.talk.fin(I)
    story.talk.fin(R)
    return story, I, "fin"


# --- Markers: the responder asks for them, the initiator sends them

WITH_MARKERS = (request(), reply(m=1))


def long_story(marker=None, broken=1):
    """Four Sends of 600 octets, so that Markers lie inside them; the Marker rule is broken in one."""
    story = Story(markers_to=(R,)).start(*WITH_MARKERS)
    for number in range(4):
        how = {"marker": marker} if number == broken and marker else {}
        story.fpdu(f"send {number}", I, untagged(SEND, number + 1, bytes([number]) * 600), **how)
    return story.close(), I, f"send {broken}"


@sample("MPA-4.2-02", "the reserved half of a Marker is not zero")
def _():
    return long_story(lambda index, position, octets: b"\0\1" + octets[2:])


@sample("MPA-4.2-05", "the two lowest bits of an FPDUPTR are not zero")
def _():
    return long_story(lambda index, position, octets: octets[:3] + bytes([octets[3] | 2]))


@sample("MPA-4.3-05", "an FPDUPTR is four octets off")
def _():
    return long_story(lambda index, position, octets: struct.pack(">HH", 0, struct.unpack(">HH", octets)[1] + 4))


@sample("MPA-4.3-07", "a Marker between two FPDUs has an FPDUPTR that is not zero")
def _():
    story = Story(markers_to=(R,)).start(*WITH_MARKERS)
    # 4 octets of Marker and an FPDU of 508: the next Marker stands at the boundary.
    story.fpdu("first", I, untagged(SEND, 1, bytes(508 - 6 - 18)))
    story.fpdu("second", I, untagged(SEND, 2, b"behind the Marker"), marker=lambda i, p, octets: b"\0\0\0\x08")
    return story.close(), I, "second"


@sample("MPA-4.3-12", "the first Marker is not zero")
def _():
    return long_story(lambda index, position, octets: b"\0\0\0\4" if position == 0 else octets, broken=0)


@sample("MPA-7.1.1-07", "Markers that were not asked for")
def _():
    story = Story(markers_to=(R,)).start(request(), reply())
    for number in range(4):
        story.fpdu(f"send {number}", I, untagged(SEND, number + 1, bytes([number]) * 600))
    return story.close(), I, "send 0"


@sample("MPA-7.1.1-08", "no Markers although the responder asked for them")
def _():
    story = Story().start(*WITH_MARKERS)
    for number in range(4):
        story.fpdu(f"send {number}", I, untagged(SEND, number + 1, bytes([number]) * 600))
    return story.close(), I, "send 0"
