# SPDX-License-Identifier: Apache-2.0
"""The engine: startup, what a segment leads to, what is sent."""

from . import SMALL, TABLE

SEND, READ, WRITE = "Send and Invalidate", "Read", "Write"
startup = TABLE.file("engine/state_startup.cpp")
startup("no-startup-time-out", "startup frame", "MPA-7.1.2-26 MPA-7.1.2-31", "A responder waits for the Request without end.",
        "deadlines.startup = now + config.startup_timeout;", "")
startup("no-time-out-for-reply", "startup frame", "MPA-7.1.2-31", "An initiator waits for the Reply without end.",
        "deadlines.startup = now + config.startup_timeout;",
        "if (config.role == mpa::Role::kResponder) deadlines.startup = now + config.startup_timeout;", peer="connects")
startup("open-after-bad-frame", "startup frame", "MPA-8-09 MPA-7.1.2-04 MPA-7.1.2-18 MPA-7.1.3-02 MPA-7.1.1-03 MPA-7.1.2-14",
        "TCP stays open after a startup frame that is none.",
        "if (!failure.terminate_in) return end(Disposition::kClose, false);", "if (!failure.terminate_in) return;")
DEPTH = "std::min(ird, std::max<std::uint32_t>(config.max_ird, ready_to_receive ? 1 : 0))"
startup("ird-unbounded", "resources", "RDMAP-6.1-09 MPA2-3-01 SEC-6.4.3.3-03 SEC-2.2.8-01 RDMAP-4.8-33 DDP-7.2-09",
        "Far more requests are held than IRD says.",
        DEPTH, DEPTH + " + 4096")
startup("ird-one-short", "resources", "RDMAP-6.1-05 RDMAP-5.2.2-03 MPA2-3-01 RDMAPX-5.2.2-07 MPA2-9.1-04",
        "One request fewer is held than IRD says.",
        DEPTH, "(ird > 1 ? ird - 1 : ird)")

inbound = TABLE.file("engine/inbound.cpp")
inbound("empty-send-dropped", SEND, "RDMAP-5.3-10 RDMAP-5.3-11 DDP-4.4-02", "A Send without octets is dropped.",
        "send(opcode, std::get<ddp::UntaggedHeader>(header), payload)",
        "payload.empty() ? Verdict::kGood : send(opcode, std::get<ddp::UntaggedHeader>(header), payload)")
inbound("send-lost-without-receive", "untagged queues", "DDP-7.1-02 DDP-7.1-06 DDP-7.2-09 RDMAPX-6.1-03 RDMAP-5.3-02 SEC-6.4.3.1-04",
        "A Send that finds no receive is dropped.",
        "if (std::holds_alternative<ddp::NoReceivePosted>(*placed)) return Verdict::kNoReceive;",
        "if (std::holds_alternative<ddp::NoReceivePosted>(*placed)) return Verdict::kGood;")
inbound("no-receive-error-code", "untagged queues", "DDP-7.2-09 DDP-7.1-02 DDP-7.1-06 RDMAPX-6.1-03",
        "A Send that finds no receive is told as one that is too long.",
        "rdmap::error_code(ddp::UntaggedError::kNoBuffer)", "rdmap::error_code(ddp::UntaggedError::kTooLong)")
inbound("invalidates-another-stag", SEND, "RDMAP-5.3-14 RDMAP-1.2-02 RDMAP-5.3-13",
        "A Send with Invalidate invalidates the STag with another key.",
        "ddp::Stag{filled.rsvd_ulp_word}", "ddp::Stag{filled.rsvd_ulp_word ^ 1}")
inbound("solicited-does-not-invalidate", SEND, "RDMAP-5.3-14 RDMAP-1.2-02 RDMAP-4.1-13",
        "A Send with Solicited Event and Invalidate invalidates nothing.",
        "kind.invalidates", "kind.invalidates && !kind.solicited")
inbound("immediate-raises-no-event", "Immediate Data", "RDMAPX-6.1-02 RDMAP-2.4-03 RDMAP-5.3-06",
        "Immediate Data with Solicited Event raises no event.",
        "kind.solicited", "kind.solicited && !rdmap::is_immediate(kind.opcode)")
inbound("immediate-always-raises-an-event", "Immediate Data", "RDMAPX-6.1-02 RDMAP-2.4-03 RDMAP-5.3-06",
        "Immediate Data without Solicited Event raises an event.",
        "kind.solicited", "kind.solicited || rdmap::is_immediate(kind.opcode)")
inbound("write-refused-silently", WRITE, "RDMAP-5.1-03 RDMAP-3.2-06 DDP-7.1-12 DDP-7.1-13 DDP-7.1-15 SEC-5.1.1-01 SEC-6.1.1-01 RDMAP-7-01",
        "A Write that may not be placed is dropped without a word.",
        "if (!placed) return refuse(placed.error());", "if (!placed) return Verdict::kGood;",
        near="const auto placed = ddp::place_tagged(header, payload, placement_);\n  if (!placed) return refuse(placed.error());")
inbound("unasked-response-dropped", READ, "RDMAP-5.2.2-05 RDMAP-7.2-01 RDMAP-3.2-09 RDMAP-5.2.2-08",
        "A Read Response that was not asked for is dropped without a word.",
        "if (!piece) return refuse({.error = piece.error(), .wrong_answer = true});", "if (!piece) return Verdict::kGood;")
inbound("immediate-into-buffer", "Immediate Data", "RDMAPX-6.3-02 RDMAPX-6-01 RDMAPX-6.2-01 RDMAPX-6.4-01",
        "Immediate Data needs a receive that has room for it.",
        "rdmap::is_immediate(opcode) ? Where::kAside : Where::kBuffer", "Where::kBuffer")
inbound("immediate-octets-swapped", "Immediate Data", "RDMAPX-6.2-01 RDMAPX-6-01 RDMAPX-4-01",
        "Immediate Data is delivered with its first and last octet exchanged.",
        "send.immediate = *immediate;", "send.immediate = *immediate; std::swap((*send.immediate)[0], (*send.immediate)[7]);")

receive = TABLE.file("engine/state_receive.cpp")
receive("cannot-invalidate-tolerated", SEND, "RDMAP-5.3-15 RDMAP-7.2-07 RDMAP-7.2-08 RDMAP-4.8-29 RDMAP-8.1.1-07",
        "An STag that cannot be invalidated ends nothing.",
        "fail(make_fault(rdmap::kCannotInvalidate, segment.stream_offset, rdmap::segment_in_error(segment.ulpdu)), now);", "")
receive("cannot-invalidate-error-code", SEND, "RDMAP-5.3-15 RDMAP-4.8-29 RDMAP-4.8-35",
        "An STag that cannot be invalidated is told as out of bounds.",
        "rdmap::kCannotInvalidate", "rdmap::error_code(rdmap::ProtectionError::kBaseOrBounds)")
receive("empty-read-validated", READ, "RDMAP-5.2.1-14 RDMAP-5.2.1-12 RDMAP-5.2.1-15 SEC-6.3.5-04",
        "The STag of a Read without octets is checked.",
        "request.size > 0", "true")
receive("empty-read-unanswered", READ, "RDMAP-5.2.1-15 RDMAP-5.2.1-12 RDMAP-5.2.1-11", "A Read without octets is not answered.",
        "queue_response({rdmap::segment_in_error(segment.ulpdu), request, segment.stream_offset}, now);",
        "if (request.size > 0) queue_response({rdmap::segment_in_error(segment.ulpdu), request, segment.stream_offset}, now); "
        "else rdma->inbound.answered();")
receive("refused-read-unanswered", READ, 
        "RDMAP-5.2.1-05 RDMAP-3.2-09 RDMAP-7.1-04 RDMAP-5.2.1-13 RDMAP-7.2-09 RDMAP-7.2-11 RDMAP-7.2-13 SEC-6.3.5-02",
        "A Read that may not be answered is dropped without a word.",
        "return fail(make_fault(rdmap::request_error(allowed.error()), segment.stream_offset, quoted), now);",
        "return rdma->inbound.answered();")

outbound = TABLE.file("engine/outbound.cpp")
outbound("response-to-source-stag", READ, "RDMAP-4.4-03 RDMAP-5.2.1-11 RDMAP-3.1-04",
         "A Read Response names the source STag.", "read->sink_stag", "read->source_stag")
outbound("response-to-source-offset", READ, "RDMAP-4.4-04 RDMAP-4.4-05 RDMAP-5.2.1-11 RDMAP-3.1-04",
         "A Read Response begins at the offset of the source.",
         "read->sink_offset", "read->source_offset")
outbound("response-one-short", READ, "RDMAP-5.2.1-11 RDMAP-4.4-07", "A Read Response has one octet fewer than was asked for.",
         "read->size", "read->size > 1 ? read->size - 1 : read->size")
outbound("atomic-identifier-lost", "atomics", "RDMAPX-5.2.2-02 RDMAPX-5.2.1-05",
         "An Atomic Response has the identifier 0.", "atomic.request_id", "0U")
outbound("atomic-executed-twice", "atomics", "RDMAPX-5.1.1-01 RDMAPX-5.2.1-22 RDMAPX-5.2.1-16", "An atomic is executed twice.",
         "parts_.memory.atomic(atomic.stag, atomic.offset, atomic.operation)",
         "(static_cast<void>(parts_.memory.atomic(atomic.stag, atomic.offset, atomic.operation)), "
         "parts_.memory.atomic(atomic.stag, atomic.offset, atomic.operation))")
outbound("immediate-without-solicited", "Immediate Data", "RDMAPX-4.1-06 RDMAPX-4.1-02 RDMAPX-10-01",
         "Immediate Data with Solicited Event is sent as without.", "solicited ? own.solicited : own.plain", "own.plain")
outbound("immediate-of-7-octets", "Immediate Data", "RDMAPX-6.3-05 RDMAPX-4-01", "Immediate Data is sent one octet short.",
         "own.octets", "own.octets - 1", near="*entry.msn, own.octets")
reader = TABLE.file("engine/payload_reader.cpp")
reader("response-repeats-itself", READ, "RDMAP-5.2.1-11 RDMAP-4.4-09 DDP-5.2-04 RDMAP-5.2.1-10",
       "Each segment of a Read Response has the octets of the first.",
       "from.offset.value + offset", "from.offset.value", policy=SMALL)
