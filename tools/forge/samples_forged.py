# SPDX-License-Identifier: Apache-2.0
"""Conforming conversations of what the story does not tell: name, what it shows, story."""

from conversation import ACK, RST, SYN, Conversation
from samples_rdmap import ended, over_the_write
from samples_startup import reply, request
from story import ADVERTISED, REPLY, REQUEST, SINK, STEPS, I, R, Story
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


# --- Ways to open and end TCP that RFC 9293 or RFC 7413 allows, and a capture does not often show

def told(talk, request_sent=True, reply_sent=False):
    """The rest of the story on a connection that is open."""
    story = Story(talk=talk)
    if not request_sent:
        talk.data(I, REQUEST)
    if not reply_sent:
        talk.data(R, REPLY)
    return story.steps()


def again(talk, side, octets):
    """What this end sends next are its last `octets` of sequence space once more."""
    talk.ends[side].sequence -= octets


def fast_open(reply=b"", talk=None):
    talk = talk or Conversation()
    talk.syn(I, payload=REQUEST)
    talk.syn(R, SYN | ACK, reply)
    talk.packet(I)
    return told(talk, reply_sent=bool(reply))


def fast_open_refused():
    talk = Conversation()
    talk.syn(I, payload=REQUEST)
    again(talk, I, len(REQUEST))
    talk.syn(R, SYN | ACK)
    talk.packet(I)
    return told(talk, request_sent=False).close()


def second_syn_with_data():
    talk = Conversation()
    talk.syn(I)
    again(talk, I, 1)
    talk.syn(I, payload=REQUEST)
    talk.syn(R, SYN | ACK)
    talk.packet(I)
    return told(talk).close()


def simultaneous_open():
    """RFC 9293 section 3.5, figure 7."""
    talk = Conversation()
    for flags in (SYN, SYN | ACK):
        for side in (I, R):
            if flags & ACK:
                again(talk, side, 1)
            talk.syn(side, flags)
    return told(talk, request_sent=False).close()


def renumbered(talk):
    """The ports are used again: both ends choose other numbers."""
    for end in talk.ends.values():
        end.sequence = end.sequence * 3 + 0x5432_1000 & 0xFFFFFFFF
    return talk


def ports_used_again():
    first = Story().start().steps().close()
    return fast_open(talk=renumbered(first.talk)).close()


def challenge_ack():
    """RFC 5961 section 4: a SYN that nobody of this connection sent is answered by an acknowledgment, and all goes on."""
    story = Story().start().steps(["first", "answer"])
    here = story.talk.ends[I]
    sequence, here.sequence = here.sequence, 0x71000000
    story.talk.syn(I)
    here.sequence = sequence
    story.talk.packet(R)
    return story.steps([name for name, _, _ in STEPS if name not in ("first", "answer")]).close()


def started_anew():
    """The Initiator's host has lost its state and opens the connection anew from the same port: the acknowledgment that its
    SYN provokes makes it reset the old one, and its SYN is sent again."""
    story = Story().start().steps(["first", "answer"])
    here, there = story.talk.ends[I], story.talk.ends[R]
    old = here.sequence
    here.sequence = 0x11000000
    story.talk.syn(I)
    here.sequence = old
    story.talk.packet(R)
    story.talk.packet(I, flags=RST)
    here.sequence, there.sequence = 0x11000000, 0x21000000
    story.talk.open()
    return told(story.talk, request_sent=False).close()


def reset_with_text():
    """RFC 9293 section 3.5.3: a reset may carry why it came."""
    story = Story().start().steps()
    story.talk.packet(R, b"no more of this", RST | ACK)
    return story


def more():
    yield "request-not-answered", "a Request, to which the other end closes the connection", not_answered()
    yield "two-requests", "two Reads and then two atomics outstanding at a time, answered in their order", two_requests()
    yield "markers-between-and-inside", "Markers between two FPDUs and inside one", markers_between_and_inside()
    yield "depths-left", "IRD and ORD are left to the ULP by both ends", depths_left()
    yield "depths-left-in-reply", "IRD and ORD are left to the ULP by the Responder alone", depths_left_in_reply()
    yield "refused-for-ird", "a Reply that refuses for the IRD, with the Terminate of RFC 6581 section 9.1", refused_for_ird()
    yield "failed-before-the-first", "a Terminate of the Responder before the Initiator's first FPDU", failed_before_the_first()
    yield "fast-open", "the Request lies in the SYN (RFC 7413)", fast_open().close()
    yield "fast-open-both", "the Request lies in the SYN, and the Reply in its answer", fast_open(REPLY).close()
    yield "fast-open-refused", "the Request lies in a SYN whose data are not taken, and is sent again", fast_open_refused()
    yield "fast-open-second-syn", "only the second SYN has the Request with it", second_syn_with_data()
    yield "simultaneous-open", "both ends send a SYN", simultaneous_open()
    yield "ports-used-again", "a second connection between the same ports, the Request in its SYN", ports_used_again()
    yield "challenge-ack", "a stray SYN among the FPDUs, and the acknowledgment that answers it", challenge_ack()
    yield "started-anew", "a connection that one end has forgotten, and the next one from the same port", started_anew()
    yield "reset-with-text", "a reset with octets in it", reset_with_text()
    yield "terminate-ddp-local", "a Terminate for a Local Catastrophic Error of DDP", ended(over_the_write(etype=0))[0]
