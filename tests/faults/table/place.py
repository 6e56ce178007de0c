# SPDX-License-Identifier: Apache-2.0
"""What a hurried implementer gets right in the first message, and wrong later: late in a stream, at the last segment, at the second Marker, in the
answer to another kind of message."""

from functools import partial

from . import SMALL, TABLE
from .mpa_fpdu import BAD_CRC
from .rdmap import VERSION as BAD_VERSION

CRC, MARKERS, FPDU, START = "CRC", "Markers", "FPDU", "startup frame"
QUEUES, SEND, READ, WRITE = "untagged queues", "Send and Invalidate", "Read", "Write"
GOOD_CRC = "MPA-4.4-13 MPA-4.4-14 MPA-4.4-16 MPA-4.4-17 MPA-4.1-06 MPA-4.4-09 MPA-7.1.1-11"
IN_PIECES = "MPA-5.1-06 MPA-6-06 MPA-A.4-01 MPA-A.4-02 DDP-3-04"
IN_STREAM = "MPA-5.2-01 MPA-4.3-03 MPA-4.3-04 MPA-4.3-08 MPA-4.3-09 MPA-4.3-11 MPA-4.3-13 MPA-4.3-17 MPA-4.3-18 MPA-7.1.1-06 MPA-7.1.1-08"
RESPONSE = "RDMAP-5.2.1-11 RDMAP-4.4-07 DDP-5.2-04 DDP-4.1-05 DDP-4.1-06 DDP-5.2-10 RDMAP-5.2.1-10"

received = TABLE.file("mpa/fpdu_receiver.cpp")
CHECK = "!crc_matches(fpdu, landed)"
received("crc-unchecked-late", CRC, BAD_CRC, "The CRC is looked at in the first 64 KiB of a stream only.",
         CHECK, "position_ < 65536 && !crc_matches(fpdu, landed)")
received("crc-without-leading-marker", CRC, BAD_CRC + " MPA-4.4-16 MPA-4.3-08",
         "The Marker in front of an FPDU is left out when its CRC is checked.",
         CHECK, "!crc_matches(fpdu.subspan(header), landed)", policy="markers=on")
received("judged-before-crc-is-there", FPDU, IN_PIECES, "An FPDU whose CRC field comes in a later read ends the stream.",
         "if (!has(stream, size)) return std::nullopt;",
         "if (!has(stream, size)) { if (stream.size() >= size - kCrcSize) return fail(Fault::kCrcMismatch); return std::nullopt; }")
received("leading-marker-at-begin-only", MARKERS, IN_STREAM, "Of the Markers in front of FPDUs only that of the first one is expected.",
         "octets_to_marker(position_) == 0", "position_ == 0", policy="markers=on")
received("second-marker-in-payload", MARKERS, IN_STREAM + " MPA-2-05",
         "The second Marker inside an FPDU is sought four octets too early.",
         "marker += kMarkerPeriod;", "marker += kMarkerGap;", policy="markers=on")

sent = TABLE.file("mpa/fpdu_sender.cpp")
DISTANCE = "write_marker(fpdu.subspan(at), at - header);"
POINTS = "MPA-4.2-04 MPA-4.3-05 MPA-4.3-15 MPA-4.3-16"
sent("marker-leaves-out-markers", MARKERS, POINTS, "A Marker does not count the Markers before it in the same FPDU.",
     "at - header", "at - header - (left - 1) * kMarkerSize", near=DISTANCE)
WRITE_CRC = "write_crc(fpdu);"
sent("crc-without-leading-marker-sent", CRC, GOOD_CRC, "The CRC that is sent leaves out the Marker in front of the FPDU.",
     WRITE_CRC, "CrcField::put(fpdu.last(kCrcSize), crc32c(fpdu.subspan(header, size - kCrcSize - header)));")
sent("crc-without-pad-sent", CRC, GOOD_CRC, "The CRC that is sent leaves out the PAD.",
     WRITE_CRC, "CrcField::put(fpdu.last(kCrcSize), crc32c(fpdu.first(size - kCrcSize - pad_size(ulpdu))));")
sent("crc-not-sent-late", CRC, GOOD_CRC, "Zeros are sent in place of the CRC after the first 16 KiB of a stream.",
     "framing_.crc", "framing_.crc && position_ < 16384", near="if (framing_.crc) {\n    write_crc")

layout = TABLE.file("mpa/fpdu.hpp")
COUNT = "bare <= first ? 0 : 1 + (bare - first - 1) / kMarkerGap"
layout("marker-before-crc-forgotten", MARKERS, IN_STREAM + " MPA-4.4-15", "A Marker directly in front of the CRC field is forgotten, sent and received.",
       COUNT, "bare <= first + kCrcSize ? 0 : 1 + (bare - first - 1) / kMarkerGap")
layout("marker-behind-crc-counted", MARKERS, IN_STREAM, "A Marker directly after an FPDU belongs to it, sent and received.",
       COUNT, "bare < first ? 0 : 1 + (bare - first) / kMarkerGap")

frame = TABLE.file("mpa/startup_frame.cpp")
START_UP = "MPA-7.1.1-01 MPA-7.1.1-23 MPA-7.1.1-25 MPA-7.1.2-01 MPA-7.1.2-03 MPA-7.1.2-09 MPA-7.1.2-27 MPA-5.1-06 MPA-7.1.5-04"
frame("request-in-one-piece", START, START_UP, "A Request whose private data comes later than its head is refused.",
      "if (missing_octets(octets) > 0) return std::nullopt;", "if (missing_octets(octets) > 0) return std::unexpected(Fault::kStartupCutShort);")
frame("key-in-one-piece", START, START_UP, "A startup frame of which a part of the key comes alone is refused.",
      "if (octets.size() < kFixedFrameSize) return std::nullopt;",
      "if (octets.size() < kFixedFrameSize) { if (!octets.empty()) return std::unexpected(Fault::kStartupCutShort); return std::nullopt; }")

responder = TABLE.file("mpa/responder.cpp")
responder("crc-of-first-connection-only", CRC, BAD_CRC + " " + GOOD_CRC, "The second connection of a process, and each later one, has no CRCs.",
          "policy_.crc || request_.crc_wanted", "[&] { static int before = 0; return before++ == 0 && (policy_.crc || request_.crc_wanted); }()",
          near=".crc = policy_.crc || request_.crc_wanted,  // MPA-7.1.1-11")
responder("a-bit-not-mirrored-in-rejection", "negotiation", "MPA2-9.2-06 MPA2-9.2-09 MPA2-9.2-18 MPA2-9.2-11",
          "A peer-to-peer Request is rejected by a Reply with A = 0.",
          "if (request_.enhanced) frame.enhanced = reply_data(from_wire(own.ird), from_wire(own.ord), own);",
          "if (request_.enhanced) { frame.enhanced = reply_data(from_wire(own.ird), from_wire(own.ord), own); frame.enhanced->peer_to_peer = false; }")
initiator = partial(TABLE.file("mpa/initiator.cpp"), peer="connects")
initiator("octets-behind-reply-lost", START, "MPA-7.1.1-25 MPA-7.1.2-29 MPA-7.1.2-30 MPA-7.1.2-14 MPA-7.1.2-17",
          "Octets after the private data of the Reply are thrown away.",
          "return judge(**reply, octets.size() > (*reply)->size());",
          "auto step = judge(**reply, false); if (step.consumed != 0) step.consumed = octets.size(); return step;")

header = TABLE.file("ddp/header.hpp")
header("ddp-reserved-checked-if-tagged", "DDP header", "DDP-4.1-12", "A tagged segment with reserved bits set is refused.",
       "(control & Control::kVersionMask) == Control::kVersion", "(control & (tagged ? 0x3f : 0x03)) == Control::kVersion")
window = TABLE.file("ddp/message_window.hpp")
BAD_MSN = "DDP-7.1-09 DDP-7.1-10 DDP-7.2-10 SEC-5.1.1-02 DDP-5.3-06 DDP-5.1.2-01 DDP-4.3-13"
window("msn-unchecked-after-32", QUEUES, BAD_MSN, "From the 33rd message of a queue on the MSN may be anything.",
       "msn != expected_", "msn != expected_ && expected_.value <= 32")
window("msn-of-first-segment-only", QUEUES, BAD_MSN, "The MSN of a segment that goes on with a message is not looked at.",
       "msn != expected_", "msn != expected_ && placed_ == 0")
window("too-long-in-first-segment-only", QUEUES, "DDP-7.1-08 DDP-7.2-12 RDMAP-5.3-04 DDP-1.2-03",
       "Only the first segment of a Send is compared with the length of the buffer.",
       "length > limit - offset.value", "(offset.value == 0 || capacity <= 64) && length > limit - offset.value")
receive = TABLE.file("ddp/receive_queue.cpp")
receive("segments-in-order-only", QUEUES, "DDP-5.2-05 DDP-5.3-04 DDP-5.2-07 DDP-5.4-02 DDP-4.3-14",
        "The segments of a Send are taken only if each goes on where the last one ended.",
        "if (payload.empty()) return {};",
        "if (!window_.goes_on_at(header.offset)) return std::unexpected(UntaggedError::kInvalidOffset); if (payload.empty()) return {};")
receive("immediate-segments-at-the-front", "Immediate Data", "RDMAPX-6.2-01 RDMAPX-6-01 RDMAPX-6.1-02 DDP-5.2-05",
        "Each segment of Immediate Data is placed at the front of it.",
        "aside_.begin() + header.offset.value", "aside_.begin()")
tagged = TABLE.file("ddp/tagged.hpp")
tagged("octet-lost-between-segments", WRITE, "DDP-5.2-05 DDP-4.1-03 RDMAP-5.1-05 DDP-5.1.1-01 RDMAP-B-06 RDMAP-5.5-14",
       "Each segment of a Write but the last one loses its last octet.",
       "placement.place_tagged(header.stag, header.offset, payload)",
       "placement.place_tagged(header.stag, header.offset, header.last || payload.size() < 2 ? payload : payload.first(payload.size() - 1))")
segments = TABLE.file("ddp/segmenter.hpp")
TAKE = "const bool last = cut_.take(length);"
segments("full-last-segment-without-l", READ, RESPONSE, "The last segment of a tagged message in several segments has no L if it is full.",
         "cut_.take(length)", "(cut_.take(length) && !(offset > 0 && length + TaggedLayout::kSize == mulpdu))", near=TAKE, policy=SMALL)
segments("last-at-8-kib", READ, RESPONSE, "A long tagged message has L at 8 KiB, too.",
         "cut_.take(length)", "(cut_.take(length) || (offset < 8192 && offset + length >= 8192))", near=TAKE)
UNTAGGED = "header.offset = {offset};\n    header.last = cut_.take(length);"
SAME = "DDP-4.3-06 DDP-4.3-08 RDMAP-5.3-12 RDMAP-4.1-03 RDMAP-4.1-05 RDMAP-4.1-11 RDMAP-4.1-12 RDMAP-4.1-13"
segments("invalidated-stag-in-first-segment-only", SEND, SAME, "Of a Send with Invalidate only the first segment has the STag.",
         "header.last = cut_.take(length);", "header.last = cut_.take(length); if (offset > 0) header.rsvd_ulp_word = 0;", near=UNTAGGED, policy=SMALL)
segments("solicited-in-last-segment-only", SEND, SAME, "Of a Send with Solicited Event only the last segment says so.",
         "header.last = cut_.take(length);",
         "header.last = cut_.take(length); if (!header.last && (header.rsvd_ulp & 0x0f) == 5) header.rsvd_ulp -= 2;", near=UNTAGGED, policy=SMALL)

admit = TABLE.file("rdmap/admit.hpp")
VERSION = "version_bits(control) != Control::kVersion"
admit("rdmap-version-of-first-segment-only", "RDMAP header", BAD_VERSION, "The RDMAP version of a segment that goes on with a message is not looked at.",
      VERSION, "!(std::holds_alternative<ddp::UntaggedHeader>(header) && std::get<ddp::UntaggedHeader>(header).offset.value != 0) && " + VERSION)
admit("rdmap-version-of-tagged-unchecked", "RDMAP header", BAD_VERSION, "The RDMAP version of a tagged segment is not looked at.",
      VERSION, "std::holds_alternative<ddp::UntaggedHeader>(header) && " + VERSION)
control = TABLE.file("rdmap/control.hpp")
control("rdmap-reserved-checked-of-rfc-7306", "RDMAP header", "RDMAP-4.1-21 RDMAPX-4.1-09",
        "Reserved bits of the RDMAP Control Field count as version in Immediate Data and atomics.",
        "control & Control::kVersionMask", "control & ((control & 0x08) != 0 ? 0xF0 : Control::kVersionMask)")

inbound = TABLE.file("engine/inbound.cpp")
inbound("empty-last-segment-dropped", SEND, "DDP-4.4-02 DDP-5.4-02 DDP-5.4-05 DDP-4.1-09 RDMAP-5.3-03",
        "The last segment of a Send is dropped if it has no octets.",
        "send(opcode, std::get<ddp::UntaggedHeader>(header), payload)",
        "payload.empty() && std::get<ddp::UntaggedHeader>(header).offset.value != 0 ? Verdict::kGood : "
        "send(opcode, std::get<ddp::UntaggedHeader>(header), payload)")
reader = TABLE.file("engine/payload_reader.cpp")
reader("response-repeats-4-kib", READ, RESPONSE + " RDMAP-4.4-09", "A Read Response repeats its first 4 KiB.",
       "from.offset.value + offset", "from.offset.value + (offset & 0xfff)", policy=SMALL)
outbound = TABLE.file("engine/outbound.cpp")
outbound("atomics-use-up-ird", "resources", "RDMAPX-5.2.2-07 RDMAPX-5.2-03 RDMAP-6.1-05 RDMAPX-5.2.1-22 MPA2-3-01",
         "An atomic that was answered keeps its place in the IRD.",
         "parts_.inbound.answered();", "if (std::holds_alternative<ddp::TaggedSegmenter>(current_->segments)) parts_.inbound.answered();")
outbound("empty-reads-use-up-ird", "resources", "RDMAP-5.2.1-15 RDMAP-5.2.2-03 RDMAP-6.1-05 RDMAP-5.2.1-12 MPA2-3-01",
         "A Read of no octets that was answered keeps its place in the IRD.",
         "parts_.inbound.answered();", "if (current_->progress().sent() > 0) parts_.inbound.answered();")
end = TABLE.file("engine/state_end.cpp")
end("no-terminate-late", "Terminate", "RDMAP-6.2.1-01 RDMAP-7.1-03 RDMAP-7.1-04 RDMAP-3.2-04 RDMAP-3.2-06 RDMAP-3.2-09 MPA-8-16 DDP-6.2.2-06",
    "After an error after the first 4 KiB the stream ends without a word.",
    "may_speak && !fault.in_terminate", "may_speak && !fault.in_terminate && rdma->inbound.position() < 4096")
