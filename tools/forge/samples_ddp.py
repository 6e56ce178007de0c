# SPDX-License-Identifier: Apache-2.0
"""Samples that break a rule of DDP."""

from samples import sample
from story import ADVERTISED, SINK, STEPS, I, R, Story
from wire import READ_RESPONSE, SEND, SEND_SE, TERMINATE, WRITE, tagged, untagged

ULPDU = {name: ulpdu for name, _, ulpdu in STEPS}
SIDE = {name: side for name, side, _ in STEPS}


def with_step(step, ulpdu, certain=None):
    story = Story().start().steps(**{step.replace(" ", "_"): ulpdu}).close()
    return story, SIDE[step], certain or step


@sample("DDP-4-01", "a ULPDU of 13 octets: too short for any DDP header")
def _():
    story, side, step = Story().start().steps(["first", "answer"]), I, "short"
    story.fpdu("short", I, tagged(WRITE, ADVERTISED, 0)[:13])
    return story.close(), side, step


@sample("DDP-4.1-13", "DV is 2")
def _():
    return with_step("last", untagged(SEND, 5, b"goodbye, and thanks", dv=2))


@sample("DDP-4.1-11", "a Rsvd bit of the DDP Control Field is set")
def _():
    return with_step("last", untagged(SEND, 5, b"goodbye, and thanks", rsvd=8))


@sample("DDP-4.3-09", "a Send on queue 4")
def _():
    return with_step("last", untagged(SEND, 5, b"goodbye, and thanks", qn=4))


@sample("DDP-4.3-11", "the first Send has MSN 0")
def _():
    changes = {name.replace(" ", "_"): ULPDU[name][:10] + (int.from_bytes(ULPDU[name][10:14], "big") - 1).to_bytes(4, "big") + ULPDU[name][14:]
               for name in ("first", "halves", "halves end", "invalidate", "immediate", "last")}
    return Story().start().steps(**changes).close(), I, "first"


@sample("DDP-4.3-10", "an MSN is left out")
def _():
    return with_step("last", untagged(SEND, 6, b"goodbye, and thanks"))


@sample("DDP-4.3-13", "the second half of a message has another MSN")
def _():
    story = Story().start().steps(["first", "answer", "halves"])
    story.fpdu("halves end", I, untagged(SEND, 3, b"the second", mo=16))
    return story.close(), I, "halves end"


@sample("DDP-4.1-05", "a Send begins although the one before had no L")
def _():
    return with_step("halves end", None, certain="invalidate")


@sample("DDP-4.1-06", "L is set on a segment that is not the last one")
def _():
    return with_step("halves", untagged(SEND, 2, b"the first half, "), certain="halves end")


@sample("DDP-4.1-08", "L comes with a segment from the middle of the message")
def _():
    story = Story().start().steps(["first", "answer"])
    story.fpdu("a", I, untagged(SEND, 2, b"one ", last=0)).fpdu("c", I, untagged(SEND, 2, b"three", mo=8, last=0))
    return story.fpdu("b", I, untagged(SEND, 2, b"two ", mo=4)).close(), I, "b"


@sample("DDP-4.2-10", "the STag changes inside a Write")
def _():
    return with_step("write end", tagged(WRITE, 0x99999999, 0x1030, bytes(range(48, 64))))


@sample("DDP-4.2-06", "a Write goes on as a Read Response")
def _():
    story = Story().start().steps(["first", "answer", "write"])
    story.fpdu("write end", I, tagged(READ_RESPONSE, ADVERTISED, 0x1030, bytes(16)))
    return story.close(), I, "write end"


@sample("DDP-4.3-06", "a Send goes on as a Send with Solicited Event")
def _():
    return with_step("halves end", untagged(SEND_SE, 2, b"the second", mo=16))


@sample("DDP-4.3-15", "a message begins at MO 4")
def _():
    return with_step("last", untagged(SEND, 5, b"goodbye, and thanks", mo=4))


@sample("DDP-5.2-07", "a hole of 8 octets in a Send")
def _():
    return with_step("halves end", untagged(SEND, 2, b"the second", mo=24))


@sample("DDP-5.2-10", "a hole of 16 octets in a Write")
def _():
    return with_step("write end", tagged(WRITE, ADVERTISED, 0x1040, bytes(range(48, 64))))


@sample("DDP-5.3-02", "the segments of a Send are not sent in the order of MO", severity="warning")
def _():
    story = Story().start().steps(["first", "answer"])
    story.fpdu("b", I, untagged(SEND, 2, b"two ", mo=4, last=0))
    story.fpdu("a", I, untagged(SEND, 2, b"one ", last=0))
    return story.fpdu("c", I, untagged(SEND, 2, b"three", mo=8)).close(), I, "a"


@sample("DDP-5.3-03", "the segments of a Write are not sent in the order of TO", severity="warning")
def _():
    story = Story().start().steps(["first", "answer"])
    story.fpdu("b", I, tagged(WRITE, ADVERTISED, 0x1010, bytes(16), last=0))
    story.fpdu("a", I, tagged(WRITE, ADVERTISED, 0x1000, bytes(16), last=0))
    return story.fpdu("c", I, tagged(WRITE, ADVERTISED, 0x1020, bytes(16))).close(), I, "a"


@sample("DDP-5.2-11", "a segment without payload ends a Send that has others")
def _():
    return with_step("halves end", [untagged(SEND, 2, b"the second", mo=16, last=0), untagged(SEND, 2, mo=26)])


@sample("DDP-5.2-11", "a Read Response without octets and without L, and nothing after it", variant="read-response")
def _():
    story = Story().start().steps(["first", "answer", "read"]).fpdu("response", R, tagged(READ_RESPONSE, SINK, 0x2000, last=0))
    return story.close(), R, "response"


@sample("DDP-5.2-11", "a Send without octets and without L, and nothing after it", variant="send")
def _():
    story = Story().start().steps(["first", "answer"]).fpdu("empty", I, untagged(SEND, 2, last=0))
    return story.close(), I, "empty"


@sample("DDP-5.2-11", "a Terminate without octets and without L, and nothing after it", variant="terminate")
def _():
    story = Story().start().steps(["first", "answer"]).fpdu("empty", R, untagged(TERMINATE, 1, last=0))
    return story.close(R), R, "empty"
