# SPDX-License-Identifier: Apache-2.0
"""Samples that break a rule of MPA's startup. Each returns a Story, who broke it, and at which step it became certain."""

from samples import sample
from story import REPLY, REQUEST, I, R, Story
from wire import REPLY_KEY, REQUEST_KEY, SEND, WRITE, enhanced, startup, tagged, untagged


def request(**fields):
    fields.setdefault("s", 1)
    fields.setdefault("data", enhanced() if fields["s"] else b"")
    return startup(REQUEST_KEY, **fields)


def reply(**fields):
    fields.setdefault("s", 1)
    fields.setdefault("data", enhanced() if fields["s"] else b"")
    return startup(REPLY_KEY, **fields)


def whole(request_frame=REQUEST, reply_frame=REPLY, **how):
    return Story(**how).start(request_frame, reply_frame).steps().close()


@sample("MPA-7.1.1-02", "the Request's key has a wrong letter, and is answered all the same")
def _():
    return whole(b"MPA ID Rec Frame" + REQUEST[16:]), I, "request"


@sample("MPA-7.1.1-04", "the Reply's key has a wrong letter")
def _():
    return whole(REQUEST, b"MPA ID Ref Frame" + REPLY[16:]), R, "reply"


@sample("MPA-7.1.1-02", "both ends send a Reply", variant="both-reply")
def _():
    story = Story()
    story.at["reply"] = story.talk.data(R, REPLY)
    story.at["second"] = story.talk.data(I, REPLY)
    return story.steps().close(), I, "second"


@sample("MPA-7.1.1-04", "both ends send a Request", variant="both-request")
def _():
    return whole(REQUEST, REQUEST), R, "reply"


@sample("MPA-7.1.1-04", "the Request is answered in another protocol", variant="other-protocol")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, REQUEST)
    story.at["reply"] = story.talk.data(R, b"HTTP/1.0 400 Bad Request\r\n\r\n")
    return story.close(R), R, "reply"


@sample("MPA-7.1.1-04", "the key of the Reply does not even resemble one, and is taken for it all the same", variant="no-key")
def _():
    return whole(REQUEST, b"what is this key" + REPLY[16:]), R, "reply"


@sample("MPA-7.1.1-14", "R is set in the Request")
def _():
    return whole(request(r=1)), I, "request"


@sample("MPA-7.1.1-17", "a reserved bit is set in a Request of revision 1")
def _():
    return whole(request(s=0, rev=1, res=4), reply(s=0, rev=1)), I, "request"


@sample("MPA2-6-04", "a reserved bit is set in a Request of revision 2")
def _():
    return whole(request(res=8)), I, "request"


@sample("MPA-7.1.1-19", "the revision of both frames is 0, as RDMAC has it")
def _():
    story = whole(request(s=0, rev=0), reply(s=0, rev=1))
    return story, I, "request"


@sample("MPA2-6-07", "S is set in a Request of revision 1")
def _():
    return whole(request(rev=1), reply(s=0, rev=1)), I, "request"


@sample("MPA-7.1.1-28", "the Request announces 513 octets of private data and sends them")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, request(s=0, data=bytes(513)))
    story.talk.close(R)
    return story, I, "request"


@sample("MPA-7.1.1-23", "the Request ends by FIN before its private data is complete")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, request(s=0, data=b"short", pd_length=64))
    story.at["fin"] = story.talk.fin(I)
    story.talk.fin(R)
    return story, I, "request"


@sample("MPA-7.1.1-23", "the Request ends by FIN inside its key", variant="cut-key")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, REQUEST[:12])
    story.talk.fin(I)
    story.talk.fin(R)
    return story, I, "request"


@sample("MPA-7.1.1-23", "the Reply ends by FIN inside its key", variant="cut-reply")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, REQUEST)
    story.at["reply"] = story.talk.data(R, REPLY[:12])
    return story.close(R), R, "reply"


@sample("MPA-7.1.1-23", "the private data of the Reply is 8 octets longer than its PD_Length", variant="surplus")
def _():
    return whole(request(s=0), reply(s=0, data=b"12 octets ..", pd_length=4)), R, "reply"


@sample("MPA-7.1.1-23", "the PD_Length of the Reply is 59 more than there is", variant="reply-length")
def _():
    story = Story().start(request(s=0), reply(s=0, data=b"short", pd_length=64)).steps().close()
    return story, R, None


@sample("MPA-1.2-01", "two Requests, and then a Reply")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, REQUEST)
    story.at["second"] = story.talk.data(I, REQUEST)
    story.talk.data(R, REPLY)
    return story.steps().close(), I, "second"


@sample("MPA-1.2-01", "two Replies to one Request", variant="second-reply")
def _():
    story = Story().start()
    story.at["second"] = story.talk.data(R, REPLY)
    return story.steps().close(), R, "second"


@sample("MPA-1.2-01", "a second Request in the place of the first FPDU", variant="request-for-fpdu")
def _():
    story = Story().start()
    story.at["second"] = story.talk.data(I, REQUEST)
    return story.close(), I, "second"


@sample("MPA-1.2-01", "a second Request among the FPDUs", variant="among-fpdus")
def _():
    story = Story().start().steps(["first", "answer"])
    story.at["second"] = story.talk.data(I, REQUEST)
    return story.close(), I, "second"


@sample("MPA-7.1.1-23", "octets that are no FPDU follow a Request that is never answered", variant="no-reply")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, request(s=0, data=b"12 octets ..", pd_length=4))
    return story.close(), I, "request"


@sample("MPA-7.1.1-23", "octets that are no FPDU follow a Request, and then comes a Reply that rejects", variant="rejected")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, request(s=0, data=b"12 octets ..", pd_length=4))
    story.at["reply"] = story.talk.data(R, reply(s=0, r=1))
    return story.close(), I, "request"


@sample("MPA2-6-11", "S is set, but there are only two octets of private data")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, request(data=b"\0\0"))
    story.talk.close(R)
    return story, I, "request"


@sample("MPA2-9.2-18", "A is 0 and C is set in the Request")
def _():
    return whole(request(data=enhanced(c=1))), I, "request"


@sample("MPA2-9.2-04", "A is 1 in the Request and no ready-to-receive type is named")
def _():
    story = Story().start(request(data=enhanced(a=1)), reply(r=1, data=enhanced(a=1, c=1))).close(R)
    return story, I, "request"


def peer_to_peer(first, request_bits, reply_bits):
    story = Story().start(request(data=enhanced(a=1, **request_bits)), reply(data=enhanced(a=1, **reply_bits)))
    return story.fpdu("indication", I, first)


@sample("MPA2-9.2-06", "the Reply turns A = 1 of the Request into 0")
def _():
    story = Story().start(request(data=enhanced(a=1, c=1)), reply(data=enhanced()))
    return story.fpdu("indication", I, tagged(WRITE, 0, 0)).close(), R, "reply"


@sample("MPA2-9.2-17", "the Reply turns A = 0 of the Request into 1")
def _():
    return Story().start(REQUEST, reply(data=enhanced(a=1, c=1))).close(), R, "reply"


@sample("MPA2-9.2-09", "the Reply accepts a peer-to-peer Request and names no type of indication")
def _():
    return Story().start(request(data=enhanced(a=1, c=1)), reply(data=enhanced(a=1))).close(), R, "reply"


@sample("MPA2-10-02", "an enhanced Request is accepted by a Reply without S")
def _():
    return Story().start(REQUEST, reply(s=0)).close(), R, "reply"


@sample("MPA2-10-04", "a Request without S is answered by a Reply with S")
def _():
    return Story().start(request(s=0), REPLY).close(), R, "reply"


@sample("MPA2-9.1-08", "the ORD of the Reply is greater than the IRD of the Request")
def _():
    return whole(request(data=enhanced(ird=4)), reply(data=enhanced(ord=5))), R, "reply"


@sample("MPA2-9.1-04", "the IRD of the Reply is smaller than the ORD of the Request", severity="warning")
def _():
    return whole(request(data=enhanced(ord=8)), reply(data=enhanced(ird=7))), R, "reply"


@sample("MPA2-9.1-20", "the ORD of the Request is 0x3FFF, and the IRD of the Reply a number")
def _():
    return whole(request(data=enhanced(ord=0x3FFF)), reply(data=enhanced(ird=8))), R, "reply"


@sample("MPA2-9.1-22", "the IRD of the Request is 0x3FFF, and the ORD of the Reply a number")
def _():
    return whole(request(data=enhanced(ird=0x3FFF)), reply(data=enhanced(ord=8))), R, "reply"


@sample("MPA-7.1.2-12", "the Reply is sent before the Request is complete")
def _():
    story = Story()
    story.talk.data(I, REQUEST[:10])
    story.at["reply"] = story.talk.data(R, REPLY)
    story.talk.data(I, REQUEST[10:])
    return story.steps().close(), R, "reply"


@sample("MPA-7.1.2-12", "a Reply, and never a Request", variant="no-request")
def _():
    story = Story()
    story.at["reply"] = story.talk.data(R, REPLY)
    return story.close(), R, "reply"


@sample("MPA-7.1.2-13", "the first FPDU is sent before the Reply has come")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, REQUEST)
    story.fpdu("first", I, untagged(SEND, 1, b"too soon"))
    story.at["reply"] = story.talk.data(R, REPLY)
    return story.fpdu("answer", R, untagged(SEND, 1, b"never mind")).close(), I, "first"


@sample("MPA-7.1.2-13", "the initiator sends FPDUs, and never comes a Reply", variant="no-reply")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, REQUEST)
    return story.steps(["first", "write", "write end"]).close(), I, "first"


@sample("MPA-7.1.2-01", "the initiator's first octets are an FPDU; the Reply came before any Request", also=["MPA-7.1.2-12"])
def _():
    story = Story()
    story.at["reply"] = story.talk.data(R, REPLY)
    return story.steps().close(), I, "first"


@sample("MPA-7.1.2-24", "the responder answers the Request with an FPDU")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, REQUEST)
    return story.steps(["answer"]).close(), R, "answer"


@sample("MPA-7.1.2-24", "FPDUs, and no startup frame in either direction", variant="no-frames")
def _():
    return Story().steps(["first", "write", "write end"]).close(), I, "first"


@sample("MPA-7.1.2-17", "the responder sends an FPDU before the initiator's first")
def _():
    story = Story().start()
    return story.steps(["answer"]).steps(["first"]).close(), R, "answer"


@sample("MPA-7.1.1-16", "an FPDU follows a Reply that rejects")
def _():
    story = Story().start(REQUEST, reply(r=1))
    return story.steps(["first"]).close(), I, "first"


@sample("MPA-7.1.1-16", "a rejecting responder sends an FPDU", variant="of-the-responder")
def _():
    story = Story().start(REQUEST, reply(r=1))
    return story.steps(["answer"]).close(), R, "answer"


@sample("MPA-7.1.2-13", "the first FPDU is sent before the Reply has come, which rejects", variant="rejected")
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, REQUEST)
    story.fpdu("first", I, untagged(SEND, 1, b"too soon"))
    story.at["reply"] = story.talk.data(R, reply(r=1))
    return story.close(R), I, "first"


@sample("MPA2-5-03", "peer to peer: the first FPDU is a Send with octets in it")
def _():
    return peer_to_peer(untagged(SEND, 1, b"no indication"), {"b": 1}, {"b": 1}).close(), I, "indication"


@sample("MPA2-9.2-12", "peer to peer: the indication is a Write, the ends agreed on a Send")
def _():
    return peer_to_peer(tagged(WRITE, 0, 0), {"b": 1, "c": 1}, {"b": 1}).close(), I, "indication"


@sample("MPA-4.4-05", "no CRCs: C is 0 in both frames", severity="warning")
def _():
    return whole(request(c=0), reply(c=0), crc=False), None, "reply"


@sample("MPA2-4.3-01", "the Reply and an FPDU share a TCP segment, as the initiator did not wait either", severity="warning",
        also=["MPA-7.1.2-13"])
def _():
    story = Story()
    story.at["request"] = story.talk.data(I, REQUEST)
    story.fpdu("first", I, untagged(SEND, 1, b"too soon"))
    story.at["reply"] = story.talk.data(R, REPLY + story.framers[R].frame(untagged(SEND, 1, b"here already")))
    return story.close(), R, "reply"


# --- Captured in the right order, but sent before what they answer had arrived: the acknowledgment number tells

@sample("MPA-7.1.2-12", "the Reply, captured after the Request, acknowledges 10 octets of it", variant="acknowledges-less")
def _():
    story = Story()
    story.talk.data(I, REQUEST)
    story.at["reply"] = story.talk.data(R, REPLY, less=len(REQUEST) - 10)
    return story.steps().close(), R, "reply"


@sample("MPA-7.1.2-13", "the first FPDU, captured after the Reply, acknowledges none of it", variant="acknowledges-less")
def _():
    story = Story().start()
    story.fpdu("first", I, untagged(SEND, 1, b"too soon"), less=len(REPLY))
    return story.fpdu("answer", R, untagged(SEND, 1, b"never mind")).close(), I, "first"


@sample("MPA-7.1.2-17", "the responder's FPDU, captured after the initiator's first, does not acknowledge it",
        variant="acknowledges-less")
def _():
    story = Story().start().steps(["first"])
    story.fpdu("answer", R, untagged(SEND, 1, b"without having waited"), less=1)
    return story.close(), R, "answer"
