// SPDX-License-Identifier: Apache-2.0
// Reads and what they share with atomics, of requests.hpp.
#include "conformance/rules/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "conformance/rules/atomics.hpp"
#include "conformance/rules/ddp_order.hpp"
#include "conformance/rules/rule_group.hpp"
#include "rdmap/read_request.hpp"

namespace weft::conformance::rules {

namespace {

constexpr Rule kReadRequestSize{"RDMAP-4.4-01", Severity::kViolation, Layer::kRdmap, "RFC 5040 4.4",
                                "An RDMA Read Request has exactly 28 octets after the DDP header."};
constexpr Rule kUnrequested{"RDMAP-5.2-01", Severity::kViolation, Layer::kRdmap, "RFC 5040 5.2",
                            "An RDMA Read is exactly one Read Request and one Read Response."};
constexpr Rule kResponseOrder{"RDMAP-5.2.2-07", Severity::kViolation, Layer::kRdmap, "RFC 5040 5.2.2",
                              "Read Responses are sent in the order in which the Read Requests were received."};
constexpr Rule kResponseStag{"RDMAP-4.4-03", Severity::kViolation, Layer::kRdmap, "RFC 5040 4.4",
                             "The STag of a Read Response is the SinkSTag of its Read Request."};
constexpr Rule kResponseOffset{"RDMAP-4.4-04", Severity::kViolation, Layer::kRdmap, "RFC 5040 4.4",
                               "The TO of a Read Response is the SinkTO of its Read Request."};
constexpr Rule kResponseLength{"RDMAP-4.4-07", Severity::kViolation, Layer::kRdmap, "RFC 5040 4.4",
                               "A Read Response carries as many octets as the RDMARDSZ of its Read Request says."};
constexpr Rule kEmptyRead{"RDMAP-5.2.1-15", Severity::kViolation, Layer::kRdmap, "RFC 5040 5.2.1",
                          "A Read Request of zero octets is answered with a Read Response of zero octets."};
constexpr Rule kTooManyRequests{"RDMAP-6.1-08", Severity::kViolation, Layer::kRdmap, "RFC 5040 6.1",
                                "No more Read and Atomic Requests are outstanding than were negotiated."};
constexpr Rule kReadBehindAtomic{"RDMAPX-7-11", Severity::kViolation, Layer::kRdmap, "RFC 7306 7",
                                 "A Read Response is not generated before the Atomic Response of an older request."};
constexpr Rule kAtomicBehindRead{"RDMAPX-7-15", Severity::kViolation, Layer::kRdmap, "RFC 7306 7",
                                 "An Atomic Response is not generated before the Read Response of an older request."};
constexpr std::array kReadRules{&kReadRequestSize,  &kUnrequested,     &kResponseOrder, &kResponseStag,
                                &kResponseOffset,   &kResponseLength,  &kEmptyRead,     &kTooManyRequests,
                                &kReadBehindAtomic, &kAtomicBehindRead};
const RuleGroup kReadGroup{kReadRules};

std::string number_in_words(bool atomic, std::uint32_t number) {
  return atomic ? fmt::format("{:#x}", number) : std::to_string(number);
}

std::string request_in_words(bool atomic, std::uint32_t number) {
  return (atomic ? "Atomic Request " : "Read Request ") + number_in_words(atomic, number);
}

// A segment of a Read Response.
bool lies_within(const Ulpdu& ulpdu, const PendingRequest& request) noexcept {
  const auto& header = *ulpdu.tagged();
  const std::uint64_t at = header.offset.value - request.sink_offset;
  return header.stag == request.sink_stag && at <= request.size && ulpdu.payload.size() <= request.size - at;
}

}  // namespace

void Requests::on_read_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings) {
  if (!ulpdu.in_one_segment()) return forget();
  const auto request = rdmap::parse_read_request(ulpdu.payload);
  if (!request) {
    findings.add(kReadRequestSize, ulpdu.in_payload(0, ulpdu.payload.size()),
                 fmt::format("the Read Request has {} octets after the DDP header, not {}", ulpdu.payload.size(),
                             rdmap::ReadRequestLayout::kSize));
    return forget();
  }
  add(ulpdu,
      {.number = ulpdu.untagged()->msn.value,
       .end = ulpdu.fpdu->piece.end(),
       .sink_stag = request->sink_stag,
       .sink_offset = request->sink_offset.value,
       .size = request->size},
      facts, findings);
}

void Requests::add(const Ulpdu& ulpdu, const Request& request, const Facts& facts, Findings& findings) {
  if (unknown_) return;
  const std::uint32_t msn = ulpdu.untagged()->msn.value;
  const bool early = answered_early(ulpdu, request);
  if (append(request, msn) && early) pending_.pop_back();
  if (!early && !unknown_ && !places_) count_request(ulpdu, facts, findings);
}

// As the requester knew: a response that it has not acknowledged was outstanding when it sent this request. What it
// acknowledges and the capture has not shown yet may be a response.
void Requests::count_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings) {
  const auto& acknowledged = ulpdu.fpdu->piece.acknowledged;
  if (acknowledged) {
    answered_.erase(answered_.begin(), std::ranges::upper_bound(answered_, *acknowledged));
  }
  const std::size_t outstanding = this->outstanding(acknowledged);
  const auto limit = facts.request_limit(ulpdu.from());
  const bool all_seen = counted_ && acknowledged && responses_.end && *acknowledged <= *responses_.end;
  const bool too_many = all_seen && limit && outstanding > *limit;
  if (too_many && !told_) {
    findings.add(kTooManyRequests, ulpdu.octets(0, 2),
                 fmt::format("{} requests are outstanding; the peer's IRD is {}", outstanding, *limit));
  }
  told_ = too_many;
  if (outstanding > kMost) forget();
}

// Of a response that has all of its octets, the requester need not miss the L.
std::size_t Requests::outstanding(std::optional<std::uint64_t> acknowledged) const noexcept {
  const bool under_way = response_ && response_->judged;
  const bool received = under_way && without_last_ && acknowledged && *acknowledged >= response_->end;
  return pending_.size() + answered_.size() + (under_way && !received ? 1 : 0);
}

bool Requests::on_read_response(const Ulpdu& ulpdu, const Segment& segment, Findings& findings) {
  if (places_) {
    places_->on_read_response(pending_, ulpdu, segment.begins, more_sent(ulpdu.fpdu->piece));
    look_for_place();
    return true;
  }
  const auto& header = *ulpdu.tagged();
  const std::uint64_t end = header.offset.value + ulpdu.payload.size();
  if (!response_ && cut_ == std::pair(header.stag, header.offset.value)) {  // told already
    cut_->second = end;
    return true;
  }
  without_last_.reset();
  if (response_ && response_->judged && segment.begins) response_.reset();
  if (!response_) response_ = begin_response(ulpdu, findings);
  response_->octets += ulpdu.payload.size();
  response_->end = ulpdu.fpdu->piece.end();
  if (response_->displaced) judge_place(ulpdu, findings);
  if (response_->judged && !segment.jumped) judge_length(ulpdu, findings);
  const bool astray = response_->astray;
  cut_.reset();
  if (ulpdu.last()) {
    if (response_->judged) answered_.push_back(response_->end);
    if (response_->judged && response_->octets < response_->read.size) cut_ = std::pair(header.stag, end);
    response_.reset();
  }
  return !astray;
}

void Requests::on_empty_segment(const Ulpdu& ulpdu) {
  if (unknown_ || places_ || response_ || pending_.empty()) return;
  const Request& next = pending_.front();
  if (!next.known || next.atomic || next.size > 0) return;
  answered_.push_back(ulpdu.fpdu->piece.end());
  pending_.pop_front();
}

Requests::Pending::const_iterator Requests::oldest(bool atomic) const noexcept {
  return std::ranges::find_if(pending_, [&](const Request& one) { return one.known && one.atomic == atomic; });
}

// The request whose response begins with this segment; none: pending_.end(). Segments may come in any order (DDP-5.3-03). STag
// and TO of a response without octets may be anything (DDP-5.2-12).
Requests::Pending::const_iterator Requests::answered_by(const Ulpdu& ulpdu) const noexcept {
  const auto first = oldest(false);
  if (ulpdu.payload.empty()) return first;
  if (first != pending_.end() && !ulpdu.last() && lies_within(ulpdu, *first)) return first;
  const auto& header = *ulpdu.tagged();
  return std::ranges::find_if(pending_, [&](const Request& one) {
    return one.known && !one.atomic && one.sink_stag == header.stag && one.sink_offset == header.offset.value;
  });
}

bool Requests::begins_next_response(const Ulpdu& ulpdu) const noexcept {
  if (!without_last_) return false;
  const auto meant = answered_by(ulpdu);
  return meant != pending_.end() && (!ulpdu.payload.empty() || meant->size == 0);
}

// False: it was sent before its request had arrived.
bool Requests::judge_arrival(const Ulpdu& ulpdu, const Where& where, const Request& meant, Findings& findings) {
  const auto& acknowledged = ulpdu.fpdu->piece.acknowledged;
  if (!sent_without(acknowledged, meant.end)) return true;
  findings.add(meant.atomic ? kAtomicUnrequested : kUnrequested, where,
               fmt::format("the response acknowledges {} octets: {}, which ends at {}, had not arrived", *acknowledged,
                           request_in_words(meant.atomic, meant.number), meant.end));
  return false;
}

void Requests::judge_order(const Ulpdu& ulpdu, const Where& where, Pending::const_iterator meant, Findings& findings) {
  if (!judge_arrival(ulpdu, where, *meant, findings) || meant == pending_.begin()) return;
  const auto alike = oldest(meant->atomic);
  const bool same_kind = alike != meant;
  const Request& older = same_kind ? *alike : pending_.front();
  const Rule& rule = same_kind ? (meant->atomic ? kAtomicOrder : kResponseOrder)
                               : (meant->atomic ? kAtomicBehindRead : kReadBehindAtomic);
  findings.add(rule, where,
               fmt::format("the {} Response answers request {} while {} is older", meant->atomic ? "Atomic" : "Read",
                           number_in_words(meant->atomic, meant->number),
                           same_kind ? "request " + number_in_words(older.atomic, older.number)
                                     : request_in_words(older.atomic, older.number)));
}

// Takes the request that this response answers: the oldest one, if all is well.
Requests::Response Requests::begin_response(const Ulpdu& ulpdu, Findings& findings) {
  const auto& header = *ulpdu.tagged();
  if (unknown_ || answers_unseen()) return {};
  const auto first = oldest(false);
  if (first == pending_.end()) {
    unrequested(
        ulpdu, {.sink_stag = header.stag, .sink_offset = header.offset.value},
        findings.prepare(kUnrequested, ulpdu.octets(0, 2),
                         fmt::format("a Read Response to STag {:08x} comes while no Read Request is outstanding",
                                     header.stag.value)));
    return {.astray = !unknown_};  // false if unrequested() has forgotten everything
  }
  const auto elsewhere = [&] {
    return findings.prepare(kResponseOffset, ulpdu.field<ddp::TaggedLayout::ToField>(),
                            fmt::format("the Read Response begins at TO {:#x}; the request (MSN {}) named {:#x}",
                                        header.offset.value, first->number, first->sink_offset));
  };
  bool astray = false;
  std::optional<Finding> displaced;
  auto meant = answered_by(ulpdu);
  if (meant == pending_.end()) {
    meant = first;
    astray = true;
    if (first->sink_stag != header.stag) {
      findings.add(kResponseStag, ulpdu.field<ddp::TaggedLayout::StagField>(),
                   fmt::format("the Read Response goes to STag {:08x}; the request (MSN {}) named {:08x}",
                               header.stag.value, first->number, first->sink_stag.value));
    } else {
      findings.add(elsewhere());
    }
  } else {
    if (!ulpdu.payload.empty() && header.offset.value != meant->sink_offset) displaced = elsewhere();
    judge_order(ulpdu, ulpdu.octets(0, ddp::TaggedLayout::kSize), meant, findings);
  }
  const Request read = *meant;
  pending_.erase(meant);
  return {.judged = true, .read = read, .astray = astray, .displaced = std::move(displaced)};
}

// Of a response whose first segment is not that of the SinkTO: it may be one of the others.
void Requests::judge_place(const Ulpdu& ulpdu, Findings& findings) {
  const Request& read = response_->read;
  if (ulpdu.tagged()->offset.value == read.sink_offset && !ulpdu.payload.empty()) return response_->displaced.reset();
  if (!ulpdu.last() && response_->octets < read.size && lies_within(ulpdu, read)) return;
  findings.add(*std::exchange(response_->displaced, std::nullopt));
  response_->astray = true;
}

void Requests::judge_length(const Ulpdu& ulpdu, Findings& findings) {
  const std::uint32_t asked = response_->read.size;
  if (response_->octets == asked && !ulpdu.last()) {
    without_last_ =
        findings.prepare(kLastMissing, ulpdu.octets(0, 1),
                         fmt::format("the Read Response has the {} octets that request {} asked for, and no L", asked,
                                     response_->read.number));
  }
  const bool wrong = response_->octets > asked || (ulpdu.last() && response_->octets < asked);
  if (!wrong || response_->too_long) return;
  response_->too_long = true;
  findings.add(asked == 0 ? kEmptyRead : kResponseLength, ulpdu.octets(0, 2),
               fmt::format("the Read Response has {}{} octets; request {} asked for {}",
                           ulpdu.last() ? "" : "at least ", response_->octets, response_->read.number, asked));
}

void Requests::end_response(Findings& findings) {
  auto missing = std::exchange(without_last_, std::nullopt);
  if (!missing) return;
  findings.add(std::move(*missing));
  answered_.push_back(response_->end);
  response_.reset();
}

void Requests::forget() {
  without_last_.reset();
  pending_.clear();
  answered_.clear();
  early_.clear();
  unrequested_.clear();
  response_ = Response{};  // the next segment may be in the middle of one
  cut_.reset();
  places_.reset();
  unknown_ = true;
}

}  // namespace weft::conformance::rules
