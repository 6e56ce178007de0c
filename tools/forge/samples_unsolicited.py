# SPDX-License-Identifier: Apache-2.0
"""Samples of responses that answer nothing: Read Responses and Atomic Responses of every kind."""

from samples import sample
from samples_rdmap import READ
from story import ADVERTISED, SINK, I, R, Story
from wire import (ATOMIC_REQUEST, ATOMIC_RESPONSE, READ_REQUEST, READ_RESPONSE, atomic_request, atomic_response, tagged,
                  untagged)

READ_IT = untagged(READ_REQUEST, 1, READ)
ADD = untagged(ATOMIC_REQUEST, 1, atomic_request(0, 0x77, ADVERTISED, 0x1008, 1, 0))
OCTETS = tagged(READ_RESPONSE, SINK, 0x2000, bytes(24))


def original(msn=1, payload=None, **how):
    return untagged(ATOMIC_RESPONSE, msn, atomic_response(0x77, 41) if payload is None else payload, **how)


def unsolicited(*fpdus, side=R):
    """The last of (who, ULPDU) answers nothing."""
    story = Story().start().steps(["first", "answer"])
    for who, ulpdu in fpdus:
        story.fpdu("response", who, ulpdu)
    return story.close(), side, "response"


@sample("RDMAP-5.2-01", "a Read Response of no octets without a request", variant="empty")
def _():
    return unsolicited((R, tagged(READ_RESPONSE, 0, 0)))


@sample("RDMAP-5.2-01", "a second Read Response to one request", variant="second")
def _():
    return unsolicited((I, READ_IT), (R, OCTETS), (R, OCTETS))


@sample("RDMAP-5.2-01", "a Read Response while an Atomic Request is outstanding and no Read", variant="atomic")
def _():
    return unsolicited((I, ADD), (R, OCTETS))


@sample("RDMAP-5.2-01", "the requester sends the Read Response itself", variant="own")
def _():
    return unsolicited((I, READ_IT), (I, OCTETS), side=I)


@sample("RDMAPX-5.2.2-02", "an Atomic Response without a request", variant="unsolicited")
def _():
    return unsolicited((R, original()))


@sample("RDMAPX-5.2.2-02", "a second Atomic Response to one request", variant="second")
def _():
    return unsolicited((I, ADD), (R, original()), (R, original(2)))


@sample("RDMAPX-5.2.2-02", "an Atomic Response while a Read is outstanding and no Atomic Request", variant="read")
def _():
    return unsolicited((I, READ_IT), (R, original()))


@sample("RDMAPX-5.2.2-02", "the requester sends the Atomic Response itself", variant="own")
def _():
    return unsolicited((I, ADD), (I, original()), side=I)


@sample("RDMAPX-5.2.2-02", "an Atomic Response in two segments without a request", variant="segments")
def _():
    story = Story().start().steps(["first", "answer"])
    whole = atomic_response(0x77, 41)
    story.fpdu("response", R, original(payload=whole[:8], last=0)).fpdu("end", R, original(payload=whole[8:], mo=8))
    return story.close(), R, "end"


def sent_blindly(asked, answer):
    """The answer, captured after the request, does not acknowledge all of it."""
    story = Story().start().steps(["first", "answer"]).fpdu("request", I, asked)
    return story.fpdu("response", R, answer, less=1).close(), R, "response"


@sample("RDMAP-5.2-01", "a Read Response that does not acknowledge its request: it was sent before", variant="acknowledges-less")
def _():
    return sent_blindly(READ_IT, OCTETS)


@sample("RDMAPX-5.2.2-02", "an Atomic Response that does not acknowledge its request: it was sent before",
        variant="acknowledges-less")
def _():
    return sent_blindly(ADD, original())
