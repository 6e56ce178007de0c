# SPDX-License-Identifier: Apache-2.0
"""Samples that break a rule of RDMAP: RFC 5040 and RFC 7306."""

import struct

from samples import sample
from samples_ddp import with_step
from samples_startup import reply, request
from story import ADVERTISED, SINK, STEPS, I, R, Story
from wire import (ATOMIC_REQUEST, ATOMIC_RESPONSE, IMMEDIATE, READ_REQUEST, READ_RESPONSE, SEND, TERMINATE, WRITE,
                  atomic_request, atomic_response, enhanced, read_request, tagged, terminate, untagged)

ULPDU = {name: ulpdu for name, _, ulpdu in STEPS}
READ = read_request(SINK, 0x2000, 24, ADVERTISED, 0x1000)


@sample("RDMAP-4.1-17", "RV is 0")
def _():
    return with_step("last", untagged(SEND, 5, b"goodbye, and thanks", rv=0))


@sample("RDMAP-4.1-20", "an Rsv bit of the RDMAP Control Field is set")
def _():
    return with_step("last", untagged(SEND, 5, b"goodbye, and thanks", rdmap_rsvd=1))


@sample("RDMAP-4.1-22", "opcode 12 is not assigned")
def _():
    return with_step("last", untagged(12, 5, b"goodbye, and thanks"))


# --- T and QN follow from the opcode

@sample("RDMAP-5.1-01", "a Write in an untagged segment")
def _():
    return with_step("last", untagged(WRITE, 5, b"goodbye, and thanks"))


@sample("RDMAP-5.2.1-01", "a Read Request in a tagged segment")
def _():
    story = Story().start().steps(["first", "answer"]).fpdu("read", I, tagged(READ_REQUEST, ADVERTISED, 0, READ))
    return story.close(), I, "read"


@sample("RDMAP-5.2.2-02", "a Read Response in an untagged segment")
def _():
    story = Story().start().steps(["first", "answer", "read"]).fpdu("response", R, untagged(READ_RESPONSE, 2, bytes(24)))
    return story.close(), R, "response"


@sample("RDMAP-5.3-01", "a Send in a tagged segment")
def _():
    return with_step("last", tagged(SEND, ADVERTISED, 0, b"goodbye, and thanks"))


@sample("RDMAP-5.4-01", "a Terminate in a tagged segment")
def _():
    return with_step("last answer", tagged(TERMINATE, 0, 0, terminate(0, 0, 0)))


@sample("RDMAPX-6.3-01", "Immediate Data in a tagged segment")
def _():
    return with_step("immediate", tagged(IMMEDIATE, ADVERTISED, 0, b"8 octets"))


@sample("RDMAPX-5.2.1-14", "an Atomic Request in a tagged segment")
def _():
    story = Story().start().steps(["first", "answer"])
    story.fpdu("atomic", I, tagged(ATOMIC_REQUEST, ADVERTISED, 0, atomic_request(0, 1, ADVERTISED, 0, 1, 0)))
    return story.close(), I, "atomic"


@sample("RDMAPX-5.2.2-05", "an Atomic Response in a tagged segment")
def _():
    return with_step("atomic response", tagged(ATOMIC_RESPONSE, 0, 0, atomic_response(0x77, 41)))


@sample("RDMAP-5.3-08", "a Send on queue 1")
def _():
    return with_step("last", untagged(SEND, 3, b"goodbye, and thanks", qn=1))


@sample("RDMAP-5.2.1-06", "a Read Request on queue 0")
def _():
    story = Story().start().steps(["first", "answer"]).fpdu("read", I, untagged(READ_REQUEST, 2, READ, qn=0))
    return story.close(), I, "read"


@sample("RDMAP-5.4-02", "a Terminate on queue 0")
def _():
    return with_step("last answer", untagged(TERMINATE, 2, terminate(0, 0, 0), qn=0))


@sample("RDMAPX-6.3-04", "Immediate Data on queue 1")
def _():
    return with_step("immediate", untagged(IMMEDIATE, 3, b"8 octets", qn=1))


@sample("RDMAPX-5.2.1-19", "an Atomic Request on queue 0")
def _():
    story = Story().start().steps(["first", "answer"])
    story.fpdu("atomic", I, untagged(ATOMIC_REQUEST, 2, atomic_request(0, 1, ADVERTISED, 0, 1, 0), qn=0))
    return story.close(), I, "atomic"


@sample("RDMAPX-5.2.2-06", "an Atomic Response on queue 0")
def _():
    return with_step("atomic response", untagged(ATOMIC_RESPONSE, 2, atomic_response(0x77, 41), qn=0))


@sample("RDMAP-4.1-23", "a Send names an STag to invalidate")
def _():
    return with_step("last", untagged(SEND, 5, b"goodbye, and thanks", invalidate=ADVERTISED))


@sample("RDMAPX-4.1-03", "Immediate Data names an STag to invalidate")
def _():
    return with_step("immediate", untagged(IMMEDIATE, 4, b"8 octets", invalidate=ADVERTISED))


# --- Reads

def read_story(*responses, requests=(READ,), certain="response"):
    story = Story().start().steps(["first", "answer"])
    for number, octets in enumerate(requests):
        story.fpdu("read" if number == 0 else f"read {number}", I, untagged(READ_REQUEST, number + 1, octets))
    for number, ulpdu in enumerate(responses):
        story.fpdu("response" if number == 0 else f"response {number}", R, ulpdu)
    return story.close(), R, certain


@sample("RDMAP-4.4-01", "a Read Request with 4 octets after its header")
def _():
    return with_step("read", untagged(READ_REQUEST, 1, READ + b"more"))


@sample("RDMAP-5.2-01", "a Read Response without a request")
def _():
    return read_story(tagged(READ_RESPONSE, SINK, 0x2000, bytes(24)), requests=())


@sample("RDMAP-5.2.2-07", "the second of two Reads is answered first")
def _():
    second = read_request(SINK, 0x4000, 8, ADVERTISED, 0x1000)
    return read_story(tagged(READ_RESPONSE, SINK, 0x4000, bytes(8)), tagged(READ_RESPONSE, SINK, 0x2000, bytes(24)),
                      requests=(READ, second))


@sample("RDMAP-4.4-03", "a Read Response to another STag than the SinkSTag")
def _():
    return read_story(tagged(READ_RESPONSE, SINK + 1, 0x2000, bytes(24)))


@sample("RDMAP-4.4-04", "a Read Response to another TO than the SinkTO")
def _():
    return read_story(tagged(READ_RESPONSE, SINK, 0x2004, bytes(24)))


@sample("RDMAP-4.4-07", "a Read Response 4 octets short")
def _():
    return read_story(tagged(READ_RESPONSE, SINK, 0x2000, bytes(20)))


@sample("RDMAP-5.2.1-15", "a Read of nothing is answered with 4 octets")
def _():
    nothing = read_request(SINK, 0x2000, 0, ADVERTISED, 0x1000)
    return read_story(tagged(READ_RESPONSE, SINK, 0x2000, bytes(4)), requests=(nothing,))


@sample("RDMAP-6.1-08", "three Reads outstanding, the responder's IRD is 2")
def _():
    story = Story().start(request(data=enhanced(ord=2)), reply(data=enhanced(ird=2))).steps(["first", "answer"])
    for number in range(3):
        story.fpdu(f"read {number}", I, untagged(READ_REQUEST, number + 1, READ))
    for number in range(3):
        story.fpdu("response", R, tagged(READ_RESPONSE, SINK, 0x2000, bytes(24)))
    return story.close(), I, "read 2"


@sample("RDMAP-6.1-08", "the second Read is captured after the response to the first, which it does not acknowledge; the IRD is 1",
        variant="acknowledges-less")
def _():
    story = Story().start(request(data=enhanced(ord=1)), reply(data=enhanced(ird=1))).steps(["first", "answer"])
    response = tagged(READ_RESPONSE, SINK, 0x2000, bytes(24))
    story.fpdu("read", I, untagged(READ_REQUEST, 1, READ)).fpdu("response", R, response)
    story.fpdu("second", I, untagged(READ_REQUEST, 2, READ), less=1).fpdu("response 2", R, response)
    return story.close(), I, "second"


# --- Atomics and Immediate Data

def atomic_story(request_octets, *responses, certain="atomic"):
    story = Story().start().steps(["first", "answer"])
    story.fpdu("atomic", I, untagged(ATOMIC_REQUEST, 1, request_octets))
    for number, octets in enumerate(responses):
        story.fpdu("response", R, untagged(ATOMIC_RESPONSE, number + 1, octets))
    return story.close(), I if certain == "atomic" else R, certain


FETCH_ADD = atomic_request(0, 0x77, ADVERTISED, 0x1008, 1, 0)


@sample("RDMAPX-6.3-05", "Immediate Data of 7 octets")
def _():
    return with_step("immediate", untagged(IMMEDIATE, 4, b"7 octet"))


@sample("RDMAPX-4-02", "an Atomic Request of 48 octets")
def _():
    return atomic_story(FETCH_ADD[:48])


@sample("RDMAPX-4-03", "an Atomic Response of 32 octets, the size that RFC 7306 section 4 names by mistake")
def _():
    return atomic_story(FETCH_ADD, atomic_response(0x77, 41) + bytes(20), certain="response")


@sample("RDMAPX-5.2.1-02", "a reserved bit of an Atomic Request is set")
def _():
    return atomic_story(atomic_request(0, 0x77, ADVERTISED, 0x1008, 1, 0, reserved=1), atomic_response(0x77, 41))


@sample("RDMAPX-5.2.1-04", "AOpCode is 1")
def _():
    return atomic_story(atomic_request(1, 0x77, ADVERTISED, 0x1008, 1, 0))


@sample("RDMAPX-5.2.1-12", "Compare Data in a FetchAdd is not zero")
def _():
    return atomic_story(atomic_request(0, 0x77, ADVERTISED, 0x1008, 1, 0, compare=5), atomic_response(0x77, 41))


@sample("RDMAPX-5.2.1-13", "Compare Mask in a FetchAdd is not all ones")
def _():
    return atomic_story(atomic_request(0, 0x77, ADVERTISED, 0x1008, 1, 0, compare_mask=0), atomic_response(0x77, 41))


@sample("RDMAPX-5.2.2-02", "an Atomic Response with an identifier that no request has")
def _():
    return atomic_story(FETCH_ADD, atomic_response(0x78, 41), certain="response")


@sample("RDMAPX-5.2.2-11", "the second of two Atomic Requests is answered first")
def _():
    story = Story().start().steps(["first", "answer"])
    for number in (1, 2):
        story.fpdu("atomic", I, untagged(ATOMIC_REQUEST, number, atomic_request(0, number, ADVERTISED, 0x1008, 1, 0)))
    story.fpdu("response", R, untagged(ATOMIC_RESPONSE, 1, atomic_response(2, 41)))
    story.fpdu("response 2", R, untagged(ATOMIC_RESPONSE, 2, atomic_response(1, 42)))
    return story.close(), R, "response"


def mixed(*answers, requests):
    story = Story().start().steps(["first", "answer"])
    for number, ulpdu in enumerate(requests):
        story.fpdu(f"request {number}", I, ulpdu)
    for number, ulpdu in enumerate(answers):
        story.fpdu(f"response {number}", R, ulpdu)
    return story.close(), R, "response 0"


@sample("RDMAPX-7-11", "a Read that follows an atomic is answered first")
def _():
    return mixed(tagged(READ_RESPONSE, SINK, 0x2000, bytes(24)), untagged(ATOMIC_RESPONSE, 1, atomic_response(0x77, 41)),
                 requests=(untagged(ATOMIC_REQUEST, 1, FETCH_ADD), untagged(READ_REQUEST, 2, READ)))


@sample("RDMAPX-7-15", "an atomic that follows a Read is answered first")
def _():
    return mixed(untagged(ATOMIC_RESPONSE, 1, atomic_response(0x77, 41)), tagged(READ_RESPONSE, SINK, 0x2000, bytes(24)),
                 requests=(untagged(READ_REQUEST, 1, READ), untagged(ATOMIC_REQUEST, 2, FETCH_ADD)))


# --- Terminate: the responder ends the stream over the Write of the story

QUOTED = ULPDU["write"][:14]
LENGTH = len(ULPDU["write"])


def ended(payload, *, msn=1, mo=0, last=1, before=("first", "answer", "write")):
    story = Story().start().steps(before)
    story.fpdu("terminate", R, untagged(TERMINATE, msn, payload, mo=mo, last=last))
    return story.close(R), R, "terminate"


def over_the_write(*, layer=1, etype=1, code=0, m=1, d=1, r=0, length=LENGTH, header=QUOTED, **how):
    return terminate(layer, etype, code, m=m, d=d, r=r, length=length, header=header, **how)


@sample("RDMAP-5.4-05", "the Terminate has no L: it is not complete in one segment", severity="warning")
def _():
    return ended(over_the_write(), last=0)


@sample("RDMAP-5.4-05", "the Terminate comes in two segments", severity="warning", variant="two-segments")
def _():
    story = Story().start().steps(["first", "answer", "write"])
    whole = over_the_write()
    story.fpdu("terminate", R, untagged(TERMINATE, 1, whole[:8], last=0)).fpdu("end", R, untagged(TERMINATE, 1, whole[8:], mo=8))
    return story.close(R), R, "terminate"


@sample("RDMAP-4.8-02", "a Terminate with 4 octets more than M, D and R announce")
def _():
    return ended(over_the_write() + b"more")


@sample("RDMAP-4.8-04", "the fields of the Terminate lie as Linux siw has them")
def _():
    return ended(bytes([0x21, 0x02, 0x03, 0x00]) + struct.pack(">H", len(ULPDU["first"])) + ULPDU["first"][:18])


@sample("RDMAP-4.8-05", "layer 0, type 1 and a code that no registry has")
def _():
    return ended(over_the_write(code=0x42))


@sample("RDMAP-4.8-11", "a reserved bit of the Terminate is set")
def _():
    return ended(over_the_write(reserved=1))


@sample("RDMAP-4.8-11", "the lowest bit of the third octet is set in a Terminate without quotation", variant="third-octet")
def _():
    return ended(terminate(0, 0, 0, reserved=0x100))


@sample("RDMAP-4.8-08", "M is 0 in a Terminate that quotes a segment", severity="warning")
def _():
    return ended(over_the_write(m=0))


@sample("RDMAP-4.8-09", "D is 0 in a Terminate about a DDP error", severity="warning")
def _():
    return ended(over_the_write(d=0, header=b""))


@sample("RDMAP-4.8-10", "R is 0 in a Terminate about the protection of a Read Request", severity="warning")
def _():
    read = ULPDU["read"]
    return ended(terminate(0, 1, 0, m=1, d=1, length=len(read), header=read[:18]), before=("first", "answer", "read"))


@sample("RDMAP-4.8-13", "the DDP Segment Length is that of no segment")
def _():
    return ended(over_the_write(length=LENGTH + 1))


@sample("RDMAP-4.8-15", "the Terminate quotes a header that the peer never sent")
def _():
    return ended(over_the_write(header=tagged(WRITE, 0x66666666, 0)))


@sample("RDMAP-4.8-18", "R is 1, and the quoted segment is a Write")
def _():
    return ended(over_the_write(r=1, rdma=READ))


@sample("RDMAP-4.8-37", "a Local Catastrophic Error quotes a segment")
def _():
    return ended(over_the_write(layer=0, etype=0))


@sample("RDMAP-IANA-3.2-01", "a DDP Local Catastrophic Error with code 1")
def _():
    return ended(over_the_write(etype=0, code=1))


@sample("DDP-7.2-14", "a DDP error of type 3")
def _():
    return ended(over_the_write(etype=3))


@sample("RDMAP-5.4-10", "a Send follows the Terminate")
def _():
    story, _, _ = ended(over_the_write())
    story = Story().start().steps(["first", "answer", "write"])
    story.fpdu("terminate", R, untagged(TERMINATE, 1, over_the_write())).fpdu("more", R, ULPDU["last answer"])
    return story.close(R), R, "more"


@sample("RDMAP-6.2.1-05", "the connection is reset after the Terminate", severity="warning")
def _():
    story = Story().start().steps(["first", "answer", "write"])
    story.fpdu("terminate", R, untagged(TERMINATE, 1, over_the_write()))
    story.at["reset"] = story.talk.reset(R)
    return story, R, "reset"
