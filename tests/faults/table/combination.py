# SPDX-License-Identifier: Apache-2.0
"""What a hurried implementer gets right alone, and wrong together with something else: Markers without CRCs, a Terminate during a Response, atomics
beside Reads, an STag that is used again."""

from functools import partial

from . import TABLE
from .mpa_fpdu import BAD_CRC

CRC, MARKERS, NEGOTIATION, SEND, READ = "CRC", "Markers", "negotiation", "Send and Invalidate", "Read"
NO_CRC = "crc=off"
received = TABLE.file("mpa/fpdu_receiver.cpp")
received("crc-unchecked-where-read-in-place", CRC, BAD_CRC, "The CRC of an FPDU is not looked at whose payload was read into the user's buffer.",
         "!crc_matches(fpdu, landed)", "landed.octets.empty() && !crc_matches(fpdu, landed)")
received("markers-left-in-without-crc", MARKERS, "MPA-4.3-03 MPA-4.3-18 MPA-7.1.1-06 MPA-5.2-01 MPA-1.2-03 MPA-4.3-11",
         "Where CRCs are off, Markers stay in the payload.",
         "framing_.markers", "framing_.markers && framing_.crc", near="if (framing_.markers) {\n    const std::size_t first", policy=NO_CRC + ",markers=on")
sent = TABLE.file("mpa/fpdu_sender.cpp")
sent("no-markers-without-crc", MARKERS, "MPA-4.3-03 MPA-7.1.1-08 MPA-7.1.1-06 MPA-4.3-04 MPA-4.3-11 MPA-4.3-13 MPA-7.1.2-22",
     "Where CRCs are off, room for Markers is left, and none is written.",
     "framing_.markers", "framing_.markers && framing_.crc", near="if (framing_.markers) {\n    if (header > 0)", policy=NO_CRC)
layout = TABLE.file("mpa/fpdu.hpp")
layout("no-crc-field-without-crc", CRC, "MPA-7.1.1-12 MPA-4.4-12 MPA-4.1-07 MPA-4.1-01", "Where CRCs are off, there is no CRC field.",
       "bare_fpdu_size(ulpdu)", "bare_fpdu_size(ulpdu) - (framing.crc ? 0 : kCrcSize)", near="const std::size_t bare = bare_fpdu_size(ulpdu);", policy=NO_CRC)
startup = TABLE.file("engine/state_startup.cpp")
startup("crc-sent-but-unchecked", CRC, "MPA-7.1.1-11 MPA-4.4-09 " + BAD_CRC, "A CRC that the peer alone asked for is sent, and not checked.",
        "agreement.inbound()", "mpa::Framing{agreement.crc && config.mpa.crc, agreement.markers_in}", policy=NO_CRC)
cutter = TABLE.file("engine/fpdu_cutter.cpp")
cutter("no-crc-in-terminate", "Terminate", "MPA-4.4-13 MPA-4.4-17 MPA-4.1-06 MPA-4.4-09 MPA-7.1.1-11", "The CRC field of a Terminate is 0.",
       "batch.commit(octets);", "if (message.purpose == OutgoingMessage::Purpose::kTerminate) std::ranges::fill(room.first(octets).last(4), std::byte{0}); "
       "batch.commit(octets);", near="const std::size_t octets = sender_.seal(room, ulpdu);\n  batch.commit(octets);")

frame = TABLE.file("mpa/startup_frame.cpp")
frame("s-bit-in-revision-1", NEGOTIATION, "MPA2-6-07 MPA2-10-04 MPA2-10-06 MPA2-6-09 MPA-7.1.1-18 MPA-7.1.1-19 MPA-7.1.1-22",
      "The reserved bit that is S from revision 2 on counts in a Request of revision 1.",
      "(Layout::Flags::get(octets) & Flag::kEnhanced) != 0 && Layout::Revision::get(octets) >= kFirstEnhancedRevision",
      "(Layout::Flags::get(octets) & Flag::kEnhanced) != 0")
responder = TABLE.file("mpa/responder.cpp")
responder("markers-mirrored", MARKERS, "MPA-7.1.1-06 MPA-7.1.1-08 MPA-7.1.2-11 MPA-5.2-01", "A Reply to a Request with M = 1 has M = 1, and Markers are not understood.",
          "policy_.markers", "policy_.markers || request_.markers_wanted", near=".kind = FrameKind::kReply,\n          .markers = policy_.markers")
responder("rtr-read-beside-ird-0", NEGOTIATION, "MPA2-9.1-09 MPA2-9.2-07 MPA2-9.2-12 MPA2-9.1-04 MPA2-1.1-01 MPA2-3-03",
          "The Reply names a Read as ready-to-receive message beside an IRD of 0, and has no place for it.",
          "if (named.read && result.ird == 0) result.ird = 1;", "", policy="rtr=read")
calls = partial(TABLE.file("engine/state_startup.cpp"), peer="connects")
calls("no-rtr-with-ord-0", NEGOTIATION, "MPA2-9.2-12 MPA2-5-03 MPA2-9.3-03 MPA2-3-03",
      "Where the ORD is 0, the ready-to-receive message is left out.",
      "if (agreement.rtr) queue.push(rtr_request(*agreement.rtr), true);",
      "if (agreement.rtr && config.mpa.ord != 0) queue.push(rtr_request(*agreement.rtr), true);", policy="peer-to-peer=on,rtr=read")
negotiation = TABLE.file("mpa/negotiation.hpp")
negotiation("rtr-read-to-ird-0", NEGOTIATION, "MPA2-9.1-14 MPA2-9.1-06 MPA2-3-02 MPA2-9.2-13 MPA2-9.2-14 MPA2-9.2-12 RDMAP-6.1-08",
            "The ready-to-receive message is a Read though the Reply has an IRD of 0.",
            "shared.read && peer_ird != 0", "shared.read", peer="connects", policy="peer-to-peer=on,rtr=send+read")
receive = TABLE.file("engine/state_receive.cpp")
receive("fence-down-before-fpdu-is-good", "startup frame", "MPA-7.1.2-17 MPA2-3-03 MPA2-3-04 MPA-7.1.3-03",
        "A responder may speak as soon as an FPDU has begun to arrive, good or not.",
        "rdma->inbound.verified_any()", "!octets.empty()")

opcodes = TABLE.file("rdmap/opcodes.hpp")
opcodes("solicited-immediate-is-a-send", "Immediate Data", "RDMAPX-4.1-06 RDMAPX-6.3-07 RDMAPX-6.1-02 RDMAPX-6.2-01 RDMAPX-6.3-02 RDMAPX-10-01",
        "Immediate Data with Solicited Event is taken as a Send.",
        "row(opcode).content == Content::kAside", "opcode == Opcode::kImmediate")
outbound = TABLE.file("engine/outbound.cpp")
NUMBERED = "DDP-4.3-10 DDP-4.3-11 RDMAP-5.4-05 RDMAPX-5.2-02 RDMAPX-5.2-01 RDMAPX-5.2.1-19 RDMAPX-6.3-04 RDMAPX-5-08 RDMAPX-5.2.2-06"
outbound("immediate-numbered-apart", "Immediate Data", NUMBERED, "Immediate Data and Sends, which share a queue, are numbered apart.",
         "sends_.take()", "atomic_responses_.take()", near="void Outbound::start_own(std::uint64_t ticket, SendEntry& entry) {\n  entry.msn = sends_.take();")
outbound("atomics-numbered-apart", "atomics", NUMBERED, "Atomics and Reads, which share a queue, are numbered apart.",
         "requests_.take()", "request.operation == Operation::kRead ? requests_.take() : terminates_.take()")
outbound("terminate-numbered-with-sends", "Terminate", NUMBERED, "The MSN of a Terminate goes on from that of the last Send.",
         "terminates_.take()", "sends_.take()")
outbound("atomic-responses-numbered-with-reads", "atomics", NUMBERED, "A Read Response takes an MSN of the Atomic Responses.",
         "return true;", "static_cast<void>(atomic_responses_.take()); return true;",
         near="FromTaggedBuffer{read->source_stag, read->source_offset});\n    return true;")
outbound("atomics-beside-ord", "resources", "RDMAPX-5.2-03 RDMAP-6.1-08 RDMAP-6.1-06 MPA2-3-02 MPA2-9.1-14 SEC-6.4.3.3-04 MPA2-9.1-10",
         "Atomics do not count where the ORD is kept.", "awaits_response(head.request.operation)", "head.request.operation == Operation::kRead")
outbound("no-terminate-during-response", "Terminate", "RDMAP-6.2.1-01 RDMAP-7.1-03 RDMAP-7.1-04 RDMAP-3.2-04 RDMAP-3.2-06 RDMAP-3.2-09 MPA-8-16 RDMAP-7.1-05",
         "An error that is found while a message is under way ends the stream without a word.",
         "terminate_ = std::make_unique<rdmap::Terminate>(message);", "if (!current_) terminate_ = std::make_unique<rdmap::Terminate>(message);")
responses = TABLE.file("rdmap/response_queue.hpp")
responses("atomics-overtake-reads", "ordering", "RDMAP-5.2.2-07 RDMAP-5.2.1-08 RDMAPX-5.2.2-11 RDMAPX-5.2.1-21 RDMAPX-5.4-10 RDMAPX-7-15 RDMAP-5.5-24",
          "An atomic is answered ahead of the Reads that wait.",
          "if (!waiting_.push(request)) return std::unexpected(OperationError::kCatastrophicStream);",
          "if (!waiting_.push(request)) return std::unexpected(OperationError::kCatastrophicStream); "
          "for (std::size_t i = waiting_.size() - 1; i > 1 && std::holds_alternative<AtomicRequest>(waiting_[i].request) && "
          "std::holds_alternative<ReadRequest>(waiting_[i - 1].request); --i) "
          "{ const InboundRequest last = waiting_[i]; waiting_[i] = waiting_[i - 1]; waiting_[i - 1] = last; }")

inbound = TABLE.file("engine/inbound.cpp")
INVALIDATED = "RDMAP-5.3-14 RDMAP-1.2-02 RDMAP-5.3-13 RDMAP-5.3-16 RDMAP-4.1-11 RDMAP-4.1-13"
inbound("segmented-send-does-not-invalidate", SEND, INVALIDATED, "A Send with Invalidate in several segments invalidates nothing.",
        "kind.invalidates", "kind.invalidates && std::get<ddp::UntaggedHeader>(segment_.header).offset.value == 0")
inbound("empty-send-does-not-invalidate", SEND, INVALIDATED, "A Send with Invalidate without octets invalidates nothing.",
        "kind.invalidates", "kind.invalidates && filled.length > 0")
inbound("empty-response-unasked", READ, "RDMAP-5.2.2-05 RDMAP-7.2-01 RDMAP-3.2-09 RDMAP-5.2.2-08",
        "A Read Response without octets that was not asked for is dropped without a word.",
        "if (!piece) return refuse({.error = piece.error(), .wrong_answer = true});",
        "if (!piece) { if (payload.empty()) return Verdict::kGood; return refuse({.error = piece.error(), .wrong_answer = true}); }")
receive("invalidates-with-first-segment", SEND, INVALIDATED, "A Send with Invalidate in several segments invalidates as soon as it begins.",
        "std::visit([&](const auto& delivery) { deliver(delivery, segment, now); }, segment.delivery);",
        "if (const auto* first = std::get_if<ddp::UntaggedHeader>(&segment.header); first != nullptr && !first->last && rdmap::row(segment.opcode).invalidates) "
        "static_cast<void>(memory.invalidate(ddp::Stag{first->rsvd_ulp_word})); "
        "std::visit([&](const auto& delivery) { deliver(delivery, segment, now); }, segment.delivery);")
terminate = TABLE.file("rdmap/terminate.cpp")
terminate("terminate-reserved-checked", "Terminate", "RDMAP-4.8-12 RDMAP-5.4-06 RDMAP-5.4-07 RDMAP-5.4-08", "A Terminate whose reserved bits are not zero is malformed.",
          "payload.size() < L::kShortest", "payload.size() < L::kShortest || L::Reserved::get(payload) != 0")
state = TABLE.file("rdmap/stream_state.hpp")
state("deaf-after-own-close", "close", "DDP-6.2.1-08 RDMAP-6.2-02 DDP-6.2.1-02 DDP-5.2-05", "What arrives after the own user has asked for the end is dropped.",
      "state == StreamState::kOperational || state == StreamState::kClosing", "state == StreamState::kOperational")
end = TABLE.file("engine/state_end.cpp")
LEFT = "queue.empty() && rdma->outbound.at_rest()"
end("fin-ahead-of-responses", "close", "DDP-6.2.1-02 DDP-6.2.1-06 DDP-6.2.1-07 RDMAP-5.2.1-11 RDMAP-6.2-02 DDP-5.2-04",
    "A graceful end does not wait for the Responses that are owed.", LEFT, "queue.empty()")
end("fin-ahead-of-work", "close", "DDP-6.2.1-02 RDMAP-6.2-02 DDP-5.2-04 DDP-6.2.1-06", "A graceful end does not wait for the work that was posted.",
    LEFT, "rdma->outbound.at_rest()")

grant = TABLE.file("rdmap/grant.hpp")
RIGHTS = "rights and bounds"
FOREIGN = "DDP-8.2-03 DDP-8.2-05 DDP-8.3.1-02 DDP-8.3.1-03 SEC-6.1.1-01 SEC-6.1.1-03 SEC-6.1.1-04 SEC-2.2.4-02 SEC-2.2.5-02 " \
          "RDMAP-8.1.1-01 RDMAP-8.1.1-02 RDMAP-7.2-10 RDMAP-4.8-27"
ASSOCIATED = "if (!detail::associated(grant, who)) return std::unexpected(ddp::AccessError::kNotAssociated);"
grant("reads-of-foreign-memory", RIGHTS, FOREIGN, "Domain and stream of an STag are not compared when it is read.",
      ASSOCIATED, "if (needed != Access::kRemoteRead && !detail::associated(grant, who)) return std::unexpected(ddp::AccessError::kNotAssociated);")
grant("atomics-on-foreign-memory", "atomics", FOREIGN + " RDMAPX-8.2-06", "Domain and stream of an STag are not compared for an atomic.",
      ASSOCIATED, "if (needed != Access::kRemoteAtomic && !detail::associated(grant, who)) return std::unexpected(ddp::AccessError::kNotAssociated);")
memory = TABLE.file("verbs/memory/stream_memory.cpp")
memory("rights-at-first-use-only", RIGHTS, "DDP-7.1-13 RDMAP-7.2-11 SEC-2.2.2-02 SEC-6.3.5-02 RDMAP-4.8-26 RDMAPX-8.2-06",
       "The rights of an STag are not looked at when a stream uses it twice in a row.",
       "return resolve_remote(remote_lease_.grant(), who_, needed, offset.value, length);",
       "static std::atomic<std::uint64_t> last{0}; const std::uint64_t use = who_.stream << 32U | stag.value; "
       "return resolve_remote(remote_lease_.grant(), who_, last.exchange(use) == use ? Access::kNone : needed, offset.value, length);")
memory("atomic-needs-all-rights", "atomics", "RDMAPX-8.2-06 RDMAPX-5.2.1-22 RDMAPX-5-06", "An atomic needs the rights to read and to write, too.",
       "Access::kRemoteAtomic", "Access::kRemoteAtomic | Access::kRemoteRead | Access::kRemoteWrite")
table = TABLE.file("verbs/memory/stag_table.cpp")
table("stale-stag-still-cached", RIGHTS,
      "RDMAP-5.3-14 RDMAP-1.2-02 RDMAP-5.3-13 DDP-8.3-02 DDP-8.3.1-07 SEC-6.2.2-02 RDMAP-8.1.1-06 DDP-7.1-12 RDMAP-7.2-09",
      "The STag that a stream used last stays good for it when it is revoked or invalidated.",
      "held_ = entry_->take_lease();", "held_ = true; entry_->leases.fetch_add(1);", near="held_ = entry_->take_lease();\n  return held_;")
region = TABLE.file("verbs/memory/region_state.cpp")
region("window-to-end-of-region", RIGHTS,
       "DDP-7.1-14 DDP-7.1-15 DDP-7.2-04 DDP-8.1-01 DDP-8.3.1-04 SEC-6.2.1-01 SEC-6.2.1-02 SEC-6.3.1-01 RDMAP-7.2-13 RDMAP-8.1.1-03 RDMAP-4.8-25",
       "A window reaches to the end of its region.",
       "length", "region->grant().length - (address - region->grant().first_offset)", near="length,\n                    .first_offset = has(")
region("window-of-all-streams", RIGHTS, FOREIGN + " RDMAP-5.3-13 RDMAP-5.3-14 RDMAP-7.2-08", "A window that belongs to one stream is good on all streams of its domain.",
       "limited ? who.stream : 0", "std::uint64_t{0}")
