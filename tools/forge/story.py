# SPDX-License-Identifier: Apache-2.0
"""A short conforming conversation with something of everything, told step by step. A sample that breaks a rule tells the same
story with one step changed, so that nothing else can be wrong with it."""

from conversation import INITIATOR, RESPONDER, Conversation
from wire import (ATOMIC_REQUEST, ATOMIC_RESPONSE, IMMEDIATE, READ_REQUEST, READ_RESPONSE, REPLY_KEY, REQUEST_KEY, SEND,
                  SEND_INV, WRITE, Framer, atomic_request, atomic_response, enhanced, read_request, startup, tagged, untagged)

I, R = INITIATOR, RESPONDER
ADVERTISED, SINK = 0x10203040, 0x55667700  # STags: the responder's buffer, the initiator's

# name, who, ULPDU. The initiator's queue 0 has the MSNs 1 (first), 2 (halves), 3 (invalidate), 4 (immediate), 5 (last).
STEPS = [
    ("first", I, untagged(SEND, 1, b"a buffer, please")),
    ("answer", R, untagged(SEND, 1, b"10203040 at 4096")),
    ("write", I, tagged(WRITE, ADVERTISED, 0x1000, bytes(range(48)), last=0)),
    ("write end", I, tagged(WRITE, ADVERTISED, 0x1030, bytes(range(48, 64)))),
    ("read", I, untagged(READ_REQUEST, 1, read_request(SINK, 0x2000, 24, ADVERTISED, 0x1000))),
    ("response", R, tagged(READ_RESPONSE, SINK, 0x2000, bytes(range(16)), last=0)),
    ("response end", R, tagged(READ_RESPONSE, SINK, 0x2010, bytes(range(16, 24)))),
    ("halves", I, untagged(SEND, 2, b"the first half, ", last=0)),
    ("halves end", I, untagged(SEND, 2, b"the second", mo=16)),
    ("atomic", I, untagged(ATOMIC_REQUEST, 2, atomic_request(0, 0x77, ADVERTISED, 0x1008, 1, 0))),
    ("atomic response", R, untagged(ATOMIC_RESPONSE, 1, atomic_response(0x77, 41))),
    ("invalidate", I, untagged(SEND_INV, 3, b"it is yours again", invalidate=ADVERTISED)),
    ("immediate", I, untagged(IMMEDIATE, 4, b"8 octets")),
    ("last", I, untagged(SEND, 5, b"goodbye, and thanks")),
    ("last answer", R, untagged(SEND, 2, b"goodbye, and thanks")),
]

REQUEST = startup(REQUEST_KEY, s=1, data=enhanced())
REPLY = startup(REPLY_KEY, s=1, data=enhanced())


class Story:
    def __init__(self, *, crc=True, markers_to=(), mss=1460, number=0, talk=None):
        """`markers_to`: the ends that want Markers in what they receive. `number` makes the addresses another pair. `talk`: a
        conversation whose handshake has been told already."""
        self.talk = talk or Conversation(mss=mss, number=number)
        self.framers = {I: Framer(crc, R in markers_to), R: Framer(crc, I in markers_to)}
        self.at = {}  # step -> packet number
        if talk is None:
            self.talk.open()

    @property
    def packets(self):
        return self.talk.packets

    def start(self, request=REQUEST, reply=REPLY):
        self.at["request"] = self.talk.data(I, request)
        self.at["reply"] = self.talk.data(R, reply)
        return self

    def fpdu(self, name, side, ulpdu, less=0, **how):
        """One FPDU in a segment of its own, which acknowledges `less` octets less than were sent."""
        self.at[name] = self.talk.data(side, self.framers[side].frame(ulpdu, **how), less)
        return self

    def steps(self, names=None, **changes):
        """The steps of the story. A change (spaces are underscores) is a ULPDU, a tuple (ULPDU, how to frame it), a list of
        ULPDUs in its place, or None to leave it out."""
        for name, side, ulpdu in STEPS:
            if names is not None and name not in names:
                continue
            change = changes.pop(name.replace(" ", "_"), ulpdu)
            if change is None:
                continue
            if isinstance(change, tuple):
                self.fpdu(name, side, change[0], **change[1])
                continue
            for piece in change if isinstance(change, list) else [change]:
                self.fpdu(name, side, piece)
        assert not changes, changes
        return self

    def close(self, side=I):
        self.at["fin"] = self.talk.close(side)
        return self
