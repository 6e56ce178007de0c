// SPDX-License-Identifier: Apache-2.0
// The tagged half of ddp_order.hpp. A tagged message has no number: that a segment goes on is told by the missing L of
// the one before (DDP-5.2-06).
#include <fmt/format.h>

#include <utility>

#include "conformance/rules/ddp_order.hpp"
#include "conformance/rules/rule_group.hpp"
#include "ddp/untagged_queues.hpp"

namespace weft::conformance::rules {

namespace {

constexpr Rule kStagWithinMessage{"DDP-4.2-10", Severity::kViolation, Layer::kDdp, "RFC 5041 4.2",
                                  "All segments of a tagged message carry the same STag."};
constexpr Rule kRsvdUlpTagged{"DDP-4.2-06", Severity::kViolation, Layer::kDdp, "RFC 5041 4.2",
                              "All segments of a tagged message carry the same RsvdULP."};
constexpr Rule kTaggedOffset{"DDP-5.2-10", Severity::kViolation, Layer::kDdp, "RFC 5041 5.2",
                             "TO is the TO of the message plus the offset of the segment's first octet in it."};
constexpr Rule kTaggedOrder{"DDP-5.3-03", Severity::kWarning, Layer::kDdp, "RFC 5041 5.3",
                            "Segments of a tagged message are sent in increasing TO order."};
constexpr std::array kTaggedOrderRules{&kStagWithinMessage, &kRsvdUlpTagged, &kTaggedOffset, &kTaggedOrder};
const RuleGroup kTaggedOrderGroup{kTaggedOrderRules};

}  // namespace

using Tagged = ddp::TaggedLayout;

namespace {
constexpr std::uint64_t kMiddle = std::uint64_t{1} << 63;
}

void TaggedOrder::on(const Ulpdu& ulpdu, Findings& findings) {
  const auto& header = *ulpdu.tagged();
  begun_ = false;
  without_last_.reset();
  if (ulpdu.payload.empty() && (open_ || !header.last)) return judge_empty(ulpdu, findings);
  if (open_ && !excused_) judge_inside(ulpdu, findings);
  begun_ = !open_;
  if (begun_) begin(ulpdu);
  coverage_.add(kMiddle + (header.offset.value - first_offset_), ulpdu.payload.size());
  next_offset_ = header.offset.value + ulpdu.payload.size();
}

void TaggedOrder::conclude(const Ulpdu& ulpdu, Findings& findings) {
  if (!open_ || !ulpdu.last()) return;
  if (!excused_) judge_end(ulpdu, findings);
  open_ = false;
}

bool TaggedOrder::continued_by(const Ulpdu& ulpdu) const noexcept {
  const auto& header = *ulpdu.tagged();
  return open_ && !excused_ && !coverage_.empty() && !ulpdu.payload.empty() && has(header.stag) &&
         header.offset.value == next_offset_;
}

void TaggedOrder::begin(const Ulpdu& ulpdu) {
  const auto& header = *ulpdu.tagged();
  open_ = true;
  excused_ = false;
  whole_ = std::exchange(whole_next_, true);
  stag_ = header.stag;
  other_stag_.reset();
  first_offset_ = next_offset_ = header.offset.value;
  coverage_.clear();
  jump_.reset();
  empty_told_ = false;
}

// It belongs to no message, or ends the one that is open, which had octets. Its STag and TO may be anything
// (DDP-5.2-12).
void TaggedOrder::judge_empty(const Ulpdu& ulpdu, Findings& findings) {
  if (!open_ || !excused_) {
    findings.add(kEmptySegment, ulpdu.octets(0, 1),
                 open_ ? "a tagged message has a segment without payload among others"
                       : "a tagged segment has no payload and no L");
    empty_told_ = true;
  }
  if (ulpdu.last()) close();
}

// Closes the message when this segment belongs to another one.
void TaggedOrder::judge_inside(const Ulpdu& ulpdu, Findings& findings) {
  const auto& header = *ulpdu.tagged();
  const bool goes_on_there = header.offset.value == next_offset_;
  if (!has(header.stag) && !goes_on_there) {
    findings.add(kLastMissing, ulpdu.octets(0, 1),
                 fmt::format("a message to STag {:08x} begins although no segment of the one to {:08x} had L",
                             header.stag.value, stag_.value));
    close();
    return;
  }
  if (!has(header.stag) && !other_stag_) {
    findings.add(kStagWithinMessage, ulpdu.field<Tagged::StagField>(),
                 fmt::format("STag is {:08x}, not {:08x} as in the segments before", header.stag.value, stag_.value));
  }
  if (header.stag != stag_) other_stag_ = header.stag;
  if (!goes_on_there && !jump_) {
    const Where at = ulpdu.field<Tagged::ToField>();
    jump_ = Jump{place_of(at), ulpdu.fpdu->piece.stream_offset + at.at, next_offset_, header.offset.value};
  }
}

void TaggedOrder::judge_end(const Ulpdu& ulpdu, Findings& findings) {
  if (!whole_ || !jump_ || !coverage_.known()) return;
  const bool complete = coverage_.contiguous() && !coverage_.overlaps();
  if (!complete && empty_told_) return;  // its octets may be what is missing
  findings.add(complete ? kTaggedOrder : kTaggedOffset, ulpdu.from(), jump_->place, jump_->stream_offset,
               fmt::format("TO is {:#x} where the segment before ended at {:#x}", jump_->found, jump_->expected));
}

void TaggedOrder::overtake(const Ulpdu& later, Findings& findings) {
  if (!open_ || !whole_ || excused_ || without_last_) return;
  without_last_ = findings.prepare(
      kLastMissing, later.octets(0, 1),
      fmt::format("another message follows although no segment of the one to STag {:08x} had L", stag_.value));
}

void TaggedOrder::end(Findings& findings) {
  if (auto missing = std::exchange(without_last_, std::nullopt)) findings.add(std::move(*missing));
}

bool DdpOrder::on(const Ulpdu& ulpdu, bool flawed, Findings& findings) {
  if (const auto* untagged = ulpdu.untagged(); untagged != nullptr) {
    if (untagged->queue < queues_.size()) queues_[untagged->queue].on(ulpdu, flawed, findings);
    if (ulpdu.in_one_segment()) overtake(ulpdu, findings);
    return true;
  }
  const bool response = ulpdu.opcode() == std::to_underlying(rdmap::Opcode::kReadResponse);
  TaggedOrder& here = response ? responses_ : writes_;
  TaggedOrder& other = response ? writes_ : responses_;
  if (other.continued_by(ulpdu)) {
    findings.add(kRsvdUlpTagged, ulpdu.octets(1, 1),
                 fmt::format("RsvdULP changes to {:02x} in a segment that goes on where the one before stopped",
                             ulpdu.rdmap_control));
    other.close();  // what is left of either message is not known
    return false;
  }
  here.on(ulpdu, findings);
  if (!response && here.begun() && ulpdu.last()) overtake(ulpdu, findings);
  return true;
}

void DdpOrder::conclude(const Ulpdu& ulpdu, Findings& findings) {
  if (ulpdu.tagged() == nullptr) return;
  const bool response = ulpdu.opcode() == std::to_underlying(rdmap::Opcode::kReadResponse);
  (response ? responses_ : writes_).conclude(ulpdu, findings);
}

// Messages are sent in the order in which they were submitted (DDP-5.3-01): Writes, Sends and requests have one order, and
// responses another. An open message that a whole one comes after may have been put aside, until the stream ends.
void DdpOrder::overtake(const Ulpdu& ulpdu, Findings& findings) {
  const auto* untagged = ulpdu.untagged();
  if (untagged != nullptr && untagged->queue > std::to_underlying(ddp::QueueNumber::kRequest)) return;
  if (untagged != nullptr) writes_.overtake(ulpdu, findings);
  for (std::uint32_t queue = 0; queue <= std::to_underlying(ddp::QueueNumber::kRequest); ++queue) {
    if (untagged == nullptr || untagged->queue != queue) queues_[queue].overtake(queue, ulpdu, findings);
  }
}

void DdpOrder::end(Findings& findings) {
  writes_.end(findings);
  for (QueueOrder& queue : queues_) queue.end(findings);
}

void DdpOrder::forget() {
  queues_.fill(QueueOrder{false});
  writes_ = responses_ = TaggedOrder{false};
}

}  // namespace weft::conformance::rules
