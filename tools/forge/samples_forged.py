# SPDX-License-Identifier: Apache-2.0
"""Conforming conversations of what the story does not tell: name, what it shows, story."""

from samples_rdmap import ended, over_the_write
from samples_startup import reply, request
from story import ADVERTISED, SINK, I, R, Story
from wire import (ATOMIC_REQUEST, ATOMIC_RESPONSE, READ_REQUEST, READ_RESPONSE, SEND, atomic_request, atomic_response,
                  read_request, tagged, untagged)


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


def more():
    yield "request-not-answered", "a Request, to which the other end closes the connection", not_answered()
    yield "two-requests", "two Reads and then two atomics outstanding at a time, answered in their order", two_requests()
    yield "markers-between-and-inside", "Markers between two FPDUs and inside one", markers_between_and_inside()
    yield "terminate-ddp-local", "a Terminate for a Local Catastrophic Error of DDP", ended(over_the_write(etype=0))[0]
