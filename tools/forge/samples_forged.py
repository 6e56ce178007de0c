# SPDX-License-Identifier: Apache-2.0
"""Conforming conversations of what the story does not tell: name, what it shows, story."""

from samples_rdmap import ended, over_the_write
from samples_startup import reply, request
from story import ADVERTISED, SINK, I, R, Story
from wire import (ATOMIC_REQUEST, ATOMIC_RESPONSE, READ_REQUEST, READ_RESPONSE, SEND, TERMINATE, atomic_request,
                  atomic_response, enhanced, read_request, tagged, terminate, untagged)


def two_requests():
    story = Story().start().steps(["first", "answer"])
    for msn in (1, 2):
        story.fpdu("read", I, untagged(READ_REQUEST, msn, read_request(SINK, 0x1000 * msn, 24, ADVERTISED, 0x1000)))
    for msn in (1, 2):
        story.fpdu("response", R, tagged(READ_RESPONSE, SINK, 0x1000 * msn, bytes(24)))
    for msn, identifier in ((3, 7), (4, 5)):
        story.fpdu("atomic", I, untagged(ATOMIC_REQUEST, msn, atomic_request(0, identifier, ADVERTISED, 0x1008, 1, 0)))
    for msn, identifier in ((1, 7), (2, 5)):
        story.fpdu("atomic response", R, untagged(ATOMIC_RESPONSE, msn, atomic_response(identifier, 40 + msn)))
    return story.close()


def markers_between_and_inside():
    """4 octets of Marker, 2 of length, 18 of header, 484 of payload and 4 of CRC are 512, where the second Marker stands."""
    story = Story(markers_to=(I, R)).start(request(m=1), reply(m=1))
    for side in (I, R):
        story.fpdu("first", side, untagged(SEND, 1, bytes(484))).fpdu("second", side, untagged(SEND, 2, bytes(600)))
    return story.close()


def not_answered():
    story = Story()
    story.talk.data(I, request())
    return story.close(R)


def depths_left():
    """RFC 6581 section 9.1: 0x3FFF is answered by 0x3FFF."""
    left = enhanced(ird=0x3FFF, ord=0x3FFF)
    return Story().start(request(data=left), reply(data=left)).steps().close()


def depths_left_in_reply():
    """The Responder leaves it to the ULP, though the Initiator named numbers."""
    return Story().start(request(), reply(data=enhanced(ird=0x3FFF, ord=0x3FFF))).steps().close()


def refused_for_ird():
    """RFC 6581 section 9.1: a Reply that names the ORD that it would need, and a Terminate with code 6."""
    story = Story().start(request(data=enhanced(ird=1)), reply(r=1, data=enhanced(ord=16)))
    return story.fpdu("terminate", R, untagged(TERMINATE, 1, terminate(2, 0, 6))).close(R)


def failed_before_the_first():
    """RFC 6581 section 9.3: the Responder fails before the Initiator's first FPDU, and says so before it closes."""
    story = Story().start().fpdu("terminate", R, untagged(TERMINATE, 1, terminate(2, 0, 5)))
    return story.close(R)


def more():
    yield "request-not-answered", "a Request, to which the other end closes the connection", not_answered()
    yield "two-requests", "two Reads and then two atomics outstanding at a time, answered in their order", two_requests()
    yield "markers-between-and-inside", "Markers between two FPDUs and inside one", markers_between_and_inside()
    yield "depths-left", "IRD and ORD are left to the ULP by both ends", depths_left()
    yield "depths-left-in-reply", "IRD and ORD are left to the ULP by the Responder alone", depths_left_in_reply()
    yield "refused-for-ird", "a Reply that refuses for the IRD, with the Terminate of RFC 6581 section 9.1", refused_for_ird()
    yield "failed-before-the-first", "a Terminate of the Responder before the Initiator's first FPDU", failed_before_the_first()
    yield "terminate-ddp-local", "a Terminate for a Local Catastrophic Error of DDP", ended(over_the_write(etype=0))[0]
