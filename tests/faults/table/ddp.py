# SPDX-License-Identifier: Apache-2.0
"""DDP: headers, untagged queues, tagged placement."""

from . import SMALL, TABLE

HEADER, QUEUES, TAGGED = "DDP header", "untagged queues", "tagged placement"
header = TABLE.file("ddp/header.hpp")
VERSION = "if ((control & Control::kVersionMask) == Control::kVersion) return std::nullopt;"
header("ddp-version-unchecked", HEADER, "DDP-4.1-15 DDP-7.2-07 DDP-7.2-13 DDP-6.2.2-03", "A segment of any DDP version is taken.",
       VERSION, "return std::nullopt;")
header("ddp-reserved-checked", HEADER, "DDP-4.1-12", "A segment with reserved bits set is refused.",
       VERSION, "if ((control & 0x3f) == Control::kVersion) return std::nullopt;")
header("ddp-version-always-untagged", HEADER, "DDP-7.2-07 DDP-4.1-15",
       "A wrong version of a tagged segment is told as that of an untagged one.",
       "tagged ? HeaderError::kTaggedVersion : HeaderError::kUntaggedVersion", "HeaderError::kUntaggedVersion")
header("ddp-version-always-tagged", HEADER, "DDP-7.2-13 DDP-4.1-15",
       "A wrong version of an untagged segment is told as that of a tagged one.",
       "tagged ? HeaderError::kTaggedVersion : HeaderError::kUntaggedVersion", "HeaderError::kTaggedVersion")
OCTET = "static_cast<std::uint8_t>((tagged ? Control::kTagged : 0) | (last ? Control::kLast : 0) | Control::kVersion)"
header("ddp-reserved-sent", HEADER, "DDP-4.1-11", "A reserved bit of the DDP Control Field is sent as 1.",
       OCTET, "static_cast<std::uint8_t>((tagged ? Control::kTagged : 0) | (last ? Control::kLast : 0) | Control::kVersion | 0x04)")
header("ddp-version-sent", HEADER, "DDP-4.1-13 DDP-4.1-14", "DDP version 0 is sent.",
       OCTET, "static_cast<std::uint8_t>((tagged ? Control::kTagged : 0) | (last ? Control::kLast : 0))")
header("last-on-all-segments", HEADER, "DDP-4.1-06 DDP-4.1-07 DDP-4.1-08 DDP-5.2-04 RDMAP-5.2.1-11",
       "L is sent on every segment.",
       OCTET, "static_cast<std::uint8_t>((tagged ? Control::kTagged : 0) | Control::kLast | Control::kVersion)", policy=SMALL)
header("last-on-no-tagged-segment", HEADER, "DDP-4.1-05 RDMAP-5.2.1-11 RDMAP-5.2.1-15", "L is sent on no tagged segment.",
       OCTET, "static_cast<std::uint8_t>((tagged ? Control::kTagged : (last ? Control::kLast : 0)) | Control::kVersion)")

window = TABLE.file("ddp/message_window.hpp")
MSN = "if (msn != expected_) return std::unexpected(UntaggedError::kMsnRange);"
BAD_MSN = "DDP-7.1-09 DDP-7.1-10 DDP-7.2-10 SEC-5.1.1-02 DDP-5.3-06 DDP-5.1.2-01"
window("msn-unchecked", QUEUES, BAD_MSN, "The MSN of an untagged segment may be anything.", MSN, "")
window("msn-not-behind", QUEUES, BAD_MSN, "An MSN that was there before is taken again.",
       MSN, "if (msn.value > expected_.value) return std::unexpected(UntaggedError::kMsnRange);")
window("msn-not-ahead", QUEUES, BAD_MSN + " DDP-5.3-07 DDP-5.4-03", "An MSN that is too far ahead is taken.",
       MSN, "if (msn.value < expected_.value) return std::unexpected(UntaggedError::kMsnRange);")
window("msn-error-code", QUEUES, "DDP-7.2-10 DDP-7.1-09 SEC-5.1.1-02", "A wrong MSN is told as a wrong MO.",
       MSN, "if (msn != expected_) return std::unexpected(UntaggedError::kInvalidOffset);")
MO = "if (offset.value > limit) return std::unexpected(UntaggedError::kInvalidOffset);"
window("mo-unchecked", QUEUES, "DDP-7.1-07 DDP-7.2-11", "The MO of an untagged segment may lie anywhere.", MO, "")
window("mo-error-code", QUEUES, "DDP-7.1-07 DDP-7.2-11", "An MO outside the buffer is told as a message that is too long.",
       MO, "if (offset.value > limit) return std::unexpected(UntaggedError::kTooLong);")
LENGTH = "if (length > limit - offset.value) return std::unexpected(UntaggedError::kTooLong);"
window("too-long-unchecked", QUEUES, "DDP-7.1-08 DDP-7.2-12 RDMAP-5.3-04 DDP-1.2-03",
       "A message may be longer than its buffer.", LENGTH, "")
window("too-long-error-code", QUEUES, "DDP-7.2-12 DDP-7.1-08 RDMAP-5.3-04",
       "A message that is too long is told as a missing buffer.",
       LENGTH, "if (length > limit - offset.value) return std::unexpected(UntaggedError::kNoBuffer);")
window("full-buffer-refused", QUEUES, "RDMAP-5.3-03 DDP-7.1-08 RDMAPX-5.2.1-22 RDMAPX-5-03",
       "A message as long as its buffer is refused.",
       "length > limit - offset.value", "length >= limit - offset.value")
window("hole-in-message", "ordering", "DDP-5.4-03 DDP-5.4-02 DDP-4.1-09 DDP-7.1-07",
       "A message is delivered though octets of it are missing.",
       "if (placed_ != end || furthest_ != end) return std::unexpected(UntaggedError::kInvalidOffset);", "")
window("delivered-without-last", "ordering", "DDP-4.1-10 DDP-5.4-03 DDP-5.4-02 DDP-4.1-09 DDP-5.4-05",
       "The first segment completes a message, whatever its L says.",
       "if (!header.last) return std::nullopt;", "")
window("length-of-last-segment", "Send and Invalidate", "DDP-5.4-05 RDMAP-5.3-03",
       "A message is told to be as long as its last segment.",
       "static_cast<std::uint32_t>(end)", "static_cast<std::uint32_t>(length)")
msn = TABLE.file("ddp/msn.hpp")
msn("msn-by-two", QUEUES, "DDP-4.3-10 DDP-7.1-09 DDP-7.1-10 RDMAP-5.3-05",
    "MSNs count in steps of two, received and sent.", "msn.value + 1U", "msn.value + 2U")
msn("msn-stands-still", QUEUES, "DDP-4.3-10", "Each message of a queue is sent with the same MSN.", "next_ = next(next_);", "")
numbers = TABLE.file("ddp/untagged_queues.hpp")
numbers("queue-unchecked", QUEUES, "DDP-7.1-01 DDP-7.2-08 RDMAPX-10.2-01",
        "A queue that does not exist is left to the opcode's check.",
        "queue > static_cast<std::uint32_t>(QueueNumber::kAtomicResponse)", "false")
receive = TABLE.file("ddp/receive_queue.cpp")
receive("placed-at-the-front", "Send and Invalidate", "DDP-5.2-05 DDP-4.1-04 DDP-5.2-07 DDP-4.3-14 DDP-3-04 DDP-5.4-02 RDMAP-5.3-03",
        "Every segment of a Send is placed at the front of its buffer.",
        "placement.place_untagged(*open_, header.offset.value, payload)", "placement.place_untagged(*open_, 0, payload)")
queue = TABLE.file("ddp/message_queue.hpp")
queue("segments-of-requests-forgotten", "Read", "DDP-5.2-05 RDMAP-5.2.1-11 RDMAP-5.2.1-02 DDP-5.4-02",
      "A Read Request in several segments is put together wrongly.",
      "std::ranges::copy(payload, octets_->begin() + header.offset.value);", "std::ranges::copy(payload, octets_->begin());")

tagged = TABLE.file("ddp/tagged.hpp")
tagged("empty-write-checked", TAGGED, "DDP-5.2-13 RDMAP-5.1-10 DDP-5.2-12", "STag and TO of a Write without octets are checked.",
       "if (payload.empty()) return {};",
       "if (payload.empty() && (header.stag.value == 0 || header.offset.value != 0)) return std::unexpected(TaggedError::kInvalidStag); "
       "if (payload.empty()) return {};")
tagged("tagged-last-octet-lost", TAGGED, "DDP-5.2-05 DDP-4.1-03 RDMAP-5.1-05 DDP-5.1.1-01 RDMAP-B-06 RDMAP-5.5-14",
       "The last octet of each tagged segment is not placed.",
       "placement.place_tagged(header.stag, header.offset, payload)",
       "placement.place_tagged(header.stag, header.offset, payload.first(payload.size() > 1 ? payload.size() - 1 : 1))")
tagged("tagged-place-aligned", TAGGED, "DDP-4.2-12 DDP-4.2-11 RDMAP-5.1-04 RDMAP-5.1-05 DDP-5.1.1-01",
       "A TO is rounded down to a multiple of four.",
       "placement.place_tagged(header.stag, header.offset, payload)",
       "placement.place_tagged(header.stag, TaggedOffset{header.offset.value & ~std::uint64_t{3}}, payload)")
errors = TABLE.file("ddp/errors.hpp")
errors("invalid-stag-error-code", TAGGED, "DDP-7.2-03 DDP-7.1-12 SEC-5.1.1-01",
       "An invalid STag of a Write is told as out of bounds.",
       "return TaggedError::kInvalidStag;", "return TaggedError::kBaseOrBounds;",
       near="case AccessError::kInvalidStag: return TaggedError::kInvalidStag;")
errors("foreign-stag-error-code", TAGGED, "DDP-7.2-05 DDP-8.2-03 DDP-8.2-05 SEC-6.1.1-01 SEC-6.1.1-03 SEC-2.2.4-02",
       "A foreign STag of a Write is told as out of bounds.",
       "return TaggedError::kNotAssociated;", "return TaggedError::kBaseOrBounds;")
errors("bounds-error-code", TAGGED, "DDP-7.2-04 DDP-7.1-14 DDP-7.1-15 SEC-6.2.1-01 SEC-6.2.1-02",
       "A Write out of bounds is told as one that wraps.",
       "return TaggedError::kBaseOrBounds;", "return TaggedError::kOffsetWrap;",
       near="case AccessError::kBaseOrBounds: return TaggedError::kBaseOrBounds;")
segments = TABLE.file("ddp/segmenter.hpp")
segments("to-stands-still", TAGGED, "DDP-5.2-10 DDP-5.3-03 RDMAP-5.2.1-11 RDMAP-4.4-04",
         "All segments of a tagged message are sent with the same TO.",
         "first_.value + offset", "first_.value", policy=SMALL)
segments("mo-stands-still", QUEUES, "DDP-5.2-07 DDP-4.3-14 DDP-5.3-02 DDP-4.1-08",
         "All segments of an untagged message are sent with MO 0.",
         "header.offset = {offset};", "header.offset = {0};", policy=SMALL)
