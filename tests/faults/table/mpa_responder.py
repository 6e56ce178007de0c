# SPDX-License-Identifier: Apache-2.0
"""The responder: revisions, what it agrees to, and what its Reply says."""

from . import TABLE

START, NEGOTIATION = "startup frame", "negotiation"
at = TABLE.file("mpa/responder.cpp")

REVISION = "MPA-7.1.1-20 MPA-7.1.1-21 MPA2-10-03 MPA2-10-10 MPA-7.1.2-04"
at("revision-unchecked", START, REVISION, "A Request of any revision is accepted.",
   "if (!speaks(policy_, (*request)->revision)) return fail(Fault::kUnsupportedRevision);", "")
SPEAKS = "revision >= 1 && revision <= std::min(policy.revision, kHighestRevision)"
at("revision-0-accepted", START, REVISION, "A Request of revision 0 is accepted.", SPEAKS, "revision <= std::min(policy.revision, kHighestRevision)")
at("revision-1-refused", START, "MPA2-6-09 MPA2-10-06 MPA-7.1.1-20 MPA2-6-08", "A Request of revision 1 is refused.",
   SPEAKS, "revision == kHighestRevision")
at("surplus-after-request", START, "MPA-7.1.1-25 MPA-7.1.2-29 MPA-7.1.2-30 MPA-7.1.2-04",
   "Octets after the private data of the Request are thrown away.",
   "if (octets.size() > (*request)->size()) return fail(Fault::kSurplusAfterRequest);",
   "if (octets.size() > (*request)->size()) { request_ = received(**request); advance(Trigger::kRequest); "
   "return {.consumed = octets.size(), .outcome = request_}; }")
at("reply-of-revision-2", NEGOTIATION, "MPA2-10-04 MPA2-10-09 MPA-7.1.1-22 MPA2-6-06 MPA-7.1.1-19 MPA-3-14",
   "A Request of revision 1 is answered by a Reply of revision 2.",
   "request_.revision", "static_cast<std::uint8_t>(2)", near=".reserved = 0,\n          .revision = request_.revision,")
at("reply-denies-crc", "CRC", "MPA-4.1-08 MPA-4.4-10 MPA-7.1.1-09 MPA-7.1.1-13 MPA-4.4-04 MPA-4.4-05",
   "The Reply says C = 0, and CRCs are checked all the same.",
   "policy_.crc || request_.crc_wanted", "request_.crc_wanted", near=".crc = policy_.crc || request_.crc_wanted,  // what will be")
at("crc-by-request-alone", "CRC", "MPA-7.1.1-11 MPA-4.4-09 MPA-4.4-18 MPA-4.4-13 MPA-6-03",
   "A Request with C = 0 turns CRCs off, whatever the Reply says.",
   "policy_.crc || request_.crc_wanted", "request_.crc_wanted", near=".crc = policy_.crc || request_.crc_wanted,  // MPA-7.1.1-11")
at("crc-by-reply-alone", "CRC", "MPA-7.1.1-11 MPA-4.4-09 MPA-4.4-18 MPA-4.4-13 MPA-6-03",
   "A Request with C = 1 does not turn CRCs on where the responder wants none.",
   "policy_.crc || request_.crc_wanted", "policy_.crc", near=".crc = policy_.crc || request_.crc_wanted,  // MPA-7.1.1-11",
   policy="crc=off")
at("markers-unasked", "Markers", "MPA-7.1.1-07 MPA-7.1.1-06 MPA-7.1.2-23", "Markers are sent to a peer that wants none.",
   "request_.markers_wanted", "true")
at("markers-expected-unasked", "Markers", "MPA-7.1.1-06 MPA-7.1.2-11 MPA-5.2-01 MPA-7.1.1-07",
   "Markers are expected of a peer that was not asked for them.",
   "policy_.markers", "true", near=".markers_in = policy_.markers")
at("markers-asked-unexpected", "Markers", "MPA-7.1.1-06 MPA-7.1.1-08 MPA-7.1.2-11 MPA-5.2-01",
   "The Reply asks for Markers, and they are not understood.",
   "policy_.markers", "true", near=".kind = FrameKind::kReply,\n          .markers = policy_.markers")
at("ord-beyond-ird-of-peer", NEGOTIATION, "MPA2-9.1-02 MPA2-9.1-05 MPA2-9.1-06 MPA2-9.1-08 MPA2-9.1-10 MPA2-3-02",
   "The Reply's ORD is greater than the IRD of the Request.",
   "ord_within(from_wire(own.ord), request_.peer_ird)", "from_wire(own.ord)")
at("ird-told-unasked", NEGOTIATION, "MPA2-9.1-20 MPA2-9.1-19", "An ORD of 0x3FFF is answered by an IRD.",
   "request_.peer_ord ? to_wire(ird) : kNoNegotiation", "to_wire(ird)")
at("ord-told-unasked", NEGOTIATION, "MPA2-9.1-22 MPA2-9.1-19", "An IRD of 0x3FFF is answered by an ORD.",
   "request_.peer_ird ? to_wire(ord) : kNoNegotiation", "to_wire(ord)")
at("a-bit-not-mirrored", NEGOTIATION, "MPA2-9.2-06 MPA2-9.2-09 MPA2-9.2-11 MPA2-9.2-07",
   "A peer-to-peer Request gets a Reply with A = 0.",
   "request_.peer_to_peer", "false", near=".peer_to_peer = request_.peer_to_peer,  // MPA2-9.2-06")
at("a-bit-made-up", NEGOTIATION, "MPA2-9.2-17 MPA2-9.2-18", "A client-server Request gets a Reply with A = 1.",
   "request_.peer_to_peer", "true", near=".peer_to_peer = request_.peer_to_peer,  // MPA2-9.2-06")
RTR = "if (data.peer_to_peer) data.rtr = reply_types(policy_.rtr, request_.rtr_offered, from_wire(own.ird));"
at("no-rtr-named", NEGOTIATION, "MPA2-9.2-07 MPA2-9.2-09 MPA2-9.2-11", "The Reply names no ready-to-receive type.", RTR, "")
at("rtr-without-a", NEGOTIATION, "MPA2-9.2-18",
   "A client-server Reply names ready-to-receive types.", RTR, "data.rtr = policy_.rtr;")
at("unenhanced-reply", NEGOTIATION, "MPA2-10-02 MPA2-10-08", "An enhanced Request gets a Reply without enhanced data.",
   "if (request_.enhanced) frame.enhanced = reply_data(agreement.ird, agreement.ord, own);", "")
at("enhanced-reply-unasked", NEGOTIATION, "MPA2-10-04 MPA2-10-09 MPA2-6-06 MPA2-6-07",
   "A Request of revision 2 without S gets an enhanced Reply.",
   "if (request_.enhanced) frame.enhanced = reply_data(agreement.ird, agreement.ord, own);",
   "frame.enhanced = reply_data(agreement.ird, agreement.ord, own);")
at("rejection-without-r", START, "MPA-7.1.1-16 MPA-7.1.2-05 MPA-7.1.2-21",
   "A rejecting Reply has R = 0.", "frame.reject = true;", "")
at("unenhanced-rejection", NEGOTIATION, "MPA2-10-02 MPA2-10-08", "An enhanced Request is rejected without enhanced data.",
   "if (request_.enhanced) frame.enhanced = reply_data(from_wire(own.ird), from_wire(own.ord), own);", "")
phase = TABLE.file("mpa/startup_phase.hpp")
phase("fence-down", START, "MPA-7.1.2-17 MPA2-3-03 MPA2-3-04 MPA-7.1.3-03",
      "A responder speaks before the first good FPDU has come.",
      "phase == Phase::kMustSendFirst || phase == Phase::kOpen", "phase == Phase::kMustSendFirst || phase == Phase::kOpen || phase == Phase::kFenced")
