// SPDX-License-Identifier: Apache-2.0
// The untagged half of ddp_order.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conformance/rules/ddp_order.hpp"
#include "conformance/rules/rule_group.hpp"
#include "ddp/msn.hpp"

namespace weft::conformance::rules {

const Rule kLastMissing{"DDP-4.1-05", Severity::kViolation, Layer::kDdp, "RFC 5041 4.1",
                        "L is set on the final segment of every DDP message."};
const Rule kEmptySegment{"DDP-5.2-11", Severity::kViolation, Layer::kDdp, "RFC 5041 5.2",
                         "Only a message without octets has a segment without payload, and then just that one."};

namespace {

constexpr Rule kFirstMsn{"DDP-4.3-11", Severity::kViolation, Layer::kDdp, "RFC 5041 4.3",
                         "The first message on each queue of a stream has MSN 1."};
constexpr Rule kMsnSequence{"DDP-4.3-10", Severity::kViolation, Layer::kDdp, "RFC 5041 4.3",
                            "The MSN rises by one with each new message to the same queue."};
constexpr Rule kMsnWithinMessage{"DDP-4.3-13", Severity::kViolation, Layer::kDdp, "RFC 5041 4.3",
                                 "All segments of an untagged message carry the same MSN."};
constexpr Rule kLastTooEarly{"DDP-4.1-06", Severity::kViolation, Layer::kDdp, "RFC 5041 4.1",
                             "L is not set on any but the final segment of a DDP message."};
constexpr Rule kLastNotLargestOffset{"DDP-4.1-08", Severity::kViolation, Layer::kDdp, "RFC 5041 4.1",
                                     "The segment with L carries the largest MO of its message."};
constexpr Rule kRsvdUlpUntagged{"DDP-4.3-06", Severity::kViolation, Layer::kDdp, "RFC 5041 4.3",
                                "All segments of an untagged message carry the same RsvdULP."};
constexpr Rule kFirstOffset{"DDP-4.3-15", Severity::kViolation, Layer::kDdp, "RFC 5041 4.3",
                            "The segment with the first octet of an untagged message has MO 0."};
constexpr Rule kMessageOffset{"DDP-5.2-07", Severity::kViolation, Layer::kDdp, "RFC 5041 5.2",
                              "MO is the offset of the segment's first octet from the start of the message."};
constexpr Rule kOffsetOrder{"DDP-5.3-02", Severity::kWarning, Layer::kDdp, "RFC 5041 5.3",
                            "Segments of an untagged message are sent in increasing MO order."};
constexpr std::array kQueueOrderRules{&kFirstMsn,      &kMsnSequence,          &kMsnWithinMessage, &kLastMissing,
                                      &kLastTooEarly,  &kLastNotLargestOffset, &kRsvdUlpUntagged,  &kFirstOffset,
                                      &kMessageOffset, &kOffsetOrder,          &kEmptySegment};
const RuleGroup kQueueOrderGroup{kQueueOrderRules};

}  // namespace

using Untagged = ddp::UntaggedLayout;

void QueueOrder::on(const Ulpdu& ulpdu, bool flawed, Findings& findings) {
  const auto& header = *ulpdu.untagged();
  without_last_.reset();
  const bool goes_on = any_ && open_ && header.msn.value == msn_;
  if (goes_on) {
    judge_inside(ulpdu, flawed, findings);
  } else {
    judge_start(ulpdu, findings);
    if (coverage_.empty()) flawed_ = flawed;
    if (ulpdu.empty_and_not_last()) judge_empty(ulpdu, findings);
  }
  coverage_.add(header.offset.value, ulpdu.payload.size());
  next_offset_ = std::uint64_t{header.offset.value} + ulpdu.payload.size();
  if (!header.last) return await_last(ulpdu, findings);
  if (whole_) judge_end(ulpdu, findings);
  open_ = false;
}

void QueueOrder::await_last(const Ulpdu& ulpdu, Findings& findings) {
  const rdmap::OpcodeRow* kind = rdmap::find_opcode(ulpdu.opcode());
  if (kind == nullptr || !kind->payload.is_fixed()) return;
  const bool complete = coverage_.contiguous() && coverage_.begin() == 0 && coverage_.end() == kind->payload.least;
  if (!whole_ || !complete) return;
  without_last_ =
      findings.prepare(kLastMissing, ulpdu.octets(0, 1),
                       fmt::format("message {} of queue {} has the {} octets of a message of its kind, and no L", msn_,
                                   ulpdu.untagged()->queue, kind->payload.least));
}

void QueueOrder::overtake(std::uint32_t queue, const Ulpdu& later, Findings& findings) {
  const bool told = empty_told_ && coverage_.empty();
  if (!open_ || !whole_ || told || without_last_) return;
  without_last_ = findings.prepare(
      kLastMissing, later.octets(0, 1),
      fmt::format("another message follows although no segment of message {} of queue {} had L", msn_, queue));
}

void QueueOrder::end(Findings& findings) {
  if (auto missing = std::exchange(without_last_, std::nullopt)) findings.add(std::move(*missing));
}

// A segment of another MSN than the open message, or with no message open.
void QueueOrder::judge_start(const Ulpdu& ulpdu, Findings& findings) {
  const auto& header = *ulpdu.untagged();
  const std::uint32_t msn = header.msn.value;
  const bool from_its_start = header.offset.value == 0;
  const std::uint32_t expected = any_ ? ddp::next(ddp::Msn{msn_}).value : ddp::kFirstMsn.value;

  if (any_ && open_ && whole_) {
    if (header.offset.value == next_offset_ && next_offset_ != 0) {
      if (meant_ != msn) {
        findings.add(kMsnWithinMessage, ulpdu.field<Untagged::MsnField>(),
                     fmt::format("MSN is {} in a segment that goes on at MO {} where message {} of queue {} stopped",
                                 msn, header.offset.value, msn_, header.queue));
      }
      meant_ = std::exchange(msn_, msn);
      several_ = true;
      return;
    }
    if (msn == expected) {
      const bool told = empty_told_ && coverage_.empty();
      if (!told) {
        findings.add(kLastMissing, ulpdu.octets(0, 1),
                     fmt::format("message {} of queue {} begins although no segment of message {} had L", msn,
                                 header.queue, msn_));
      }
      return begin(ulpdu);
    }
  }
  if (any_ && !open_ && msn == msn_ && !from_its_start && header.offset.value == next_offset_) {
    findings.add(kLastTooEarly, ulpdu.octets(0, 1),
                 fmt::format("one more segment (MO {}) of message {} of queue {}, which had its L already",
                             header.offset.value, msn, header.queue));
    begin(ulpdu);
    whole_ = false;
    return;
  }
  const bool fits = msn == expected || (meant_ && msn == ddp::next(ddp::Msn{*meant_}).value);
  const bool known = sequence_known_;
  if (known && !fits) {
    const Rule& rule = any_ ? kMsnSequence : kFirstMsn;
    findings.add(rule, ulpdu.field<Untagged::MsnField>(),
                 fmt::format("MSN is {}, not {}, in a new message of queue {}", msn, expected, header.queue));
  }
  begin(ulpdu);
  if (known && !fits) meant_ = expected;
}

void QueueOrder::begin(const Ulpdu& ulpdu) {
  const auto& header = *ulpdu.untagged();
  whole_ = sequence_known_;  // after a hole in the capture, segments of the first message may be missing
  sequence_known_ = any_ = open_ = true;
  several_ = empty_told_ = false;
  msn_ = header.msn.value;
  std::ranges::copy(ulpdu.fpdu->ulpdu.subspan(1, rsvd_ulp_.size()), rsvd_ulp_.begin());
  coverage_.clear();
  jump_.reset();
  meant_.reset();
}

void QueueOrder::judge_inside(const Ulpdu& ulpdu, bool flawed, Findings& findings) {
  const auto& header = *ulpdu.untagged();
  const Bytes rsvd_ulp = ulpdu.fpdu->ulpdu.subspan(1, rsvd_ulp_.size());
  if (!flawed && !flawed_ && !std::ranges::equal(rsvd_ulp, rsvd_ulp_)) {
    flawed_ = true;
    findings.add(kRsvdUlpUntagged, ulpdu.octets(1, rsvd_ulp_.size()),
                 fmt::format("RsvdULP differs from the first segment of message {} of queue {}", msn_, header.queue));
  }
  if (ulpdu.payload.empty()) judge_empty(ulpdu, findings);
  several_ = true;
  if (header.offset.value != next_offset_ && !jump_) {
    const Where at = ulpdu.field<Untagged::MoField>();
    jump_ = Jump{place_of(at), ulpdu.fpdu->piece.stream_offset + at.at, static_cast<std::uint32_t>(next_offset_),
                 header.offset.value};
  }
}

// Once for a message.
void QueueOrder::judge_empty(const Ulpdu& ulpdu, Findings& findings) {
  if (std::exchange(empty_told_, true)) return;
  const std::uint32_t queue = ulpdu.untagged()->queue;
  findings.add(kEmptySegment, ulpdu.field<Untagged::MoField>(),
               ulpdu.last()
                   ? fmt::format("message {} of queue {} has a segment without payload among others", msn_, queue)
                   : fmt::format("message {} of queue {} has a segment without payload and without L", msn_, queue));
}

// All octets of a message must have come by its L; in which order is only a SHOULD.
void QueueOrder::judge_end(const Ulpdu& ulpdu, Findings& findings) {
  const auto& header = *ulpdu.untagged();
  if (!coverage_.known()) return;
  const auto told = [&](const Rule& rule) {
    findings.add(rule, ulpdu.from(), jump_->place, jump_->stream_offset,
                 fmt::format("MO is {} where the segment before in message {} of queue {} ended at {}", jump_->found,
                             msn_, header.queue, jump_->expected));
  };
  if (coverage_.begin() != 0 || (coverage_.empty() && header.offset.value != 0)) {
    findings.add(kFirstOffset, ulpdu.field<Untagged::MoField>(),
                 fmt::format("message {} of queue {} begins at MO {}, not 0", msn_, header.queue,
                             coverage_.empty() ? header.offset.value : coverage_.begin()));
  } else if (!coverage_.contiguous() || coverage_.overlaps()) {
    if (jump_ && !empty_told_) told(kMessageOffset);
  } else if (next_offset_ != coverage_.end()) {
    findings.add(kLastNotLargestOffset, ulpdu.field<Untagged::MoField>(),
                 fmt::format("L comes at MO {}, but message {} of queue {} has octets up to {}", header.offset.value,
                             msn_, header.queue, coverage_.end()));
  } else if (jump_) {
    told(kOffsetOrder);
  }
}

}  // namespace weft::conformance::rules
