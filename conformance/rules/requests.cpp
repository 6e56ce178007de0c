// SPDX-License-Identifier: Apache-2.0
// Reads, of requests.hpp.
#include "conformance/rules/requests.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "conformance/rules/tables.hpp"
#include "rdmap/read_request.hpp"

namespace weft::conformance::rules {

namespace {

constexpr Rule kReadRequestSize{"RDMAP-4.4-01", Severity::kViolation, Layer::kRdmap, "RFC 5040 4.4",
                                "An RDMA Read Request is 28 octets behind the DDP header, and nothing else."};
constexpr Rule kUnrequested{"RDMAP-5.2-01", Severity::kViolation, Layer::kRdmap, "RFC 5040 5.2",
                            "An RDMA Read is exactly one Read Request and one Read Response."};
constexpr Rule kResponseOrder{"RDMAP-5.2.2-07", Severity::kViolation, Layer::kRdmap, "RFC 5040 5.2.2",
                              "Read Responses are sent in the order in which the Read Requests were received."};
constexpr Rule kResponseStag{"RDMAP-4.4-03", Severity::kViolation, Layer::kRdmap, "RFC 5040 4.4",
                             "The STag of a Read Response is the SinkSTag of its Read Request."};
constexpr Rule kResponseOffset{"RDMAP-4.4-04", Severity::kViolation, Layer::kRdmap, "RFC 5040 4.4",
                               "The TO of a Read Response's first segment is the SinkTO of its Read Request."};
constexpr Rule kResponseLength{"RDMAP-4.4-07", Severity::kViolation, Layer::kRdmap, "RFC 5040 4.4",
                               "A Read Response carries as many octets as the RDMARDSZ of its Read Request says."};
constexpr Rule kEmptyRead{"RDMAP-5.2.1-15", Severity::kViolation, Layer::kRdmap, "RFC 5040 5.2.1",
                          "A Read Request of zero octets is answered with a Read Response of zero octets."};
constexpr Rule kTooManyRequests{"RDMAP-6.1-08", Severity::kViolation, Layer::kRdmap, "RFC 5040 6.1",
                                "No more Read and Atomic Requests are outstanding than were negotiated."};
constexpr std::array kReadRules{&kReadRequestSize, &kUnrequested,    &kResponseOrder, &kResponseStag,
                                &kResponseOffset,  &kResponseLength, &kEmptyRead,     &kTooManyRequests};

}  // namespace

void Requests::on_read_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings) {
  if (!ulpdu.in_one_segment()) return forget();
  const auto request = rdmap::parse_read_request(ulpdu.payload);
  if (!request) {
    findings.add(kReadRequestSize, ulpdu.in_payload(0, ulpdu.payload.size()),
                 fmt::format("the Read Request has {} octets behind the DDP header, not {}", ulpdu.payload.size(),
                             rdmap::ReadRequestLayout::kSize));
    return forget();
  }
  reads_.push_back({request->sink_stag, request->sink_offset.value, request->size, ulpdu.untagged()->msn.value});
  count_request(ulpdu, facts, findings);
}

void Requests::count_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings) {
  const std::size_t outstanding = reads_.size() + atomics_.size();
  const auto limit = facts.request_limit(ulpdu.from());
  if (complete_ && limit && outstanding > *limit && !told_) {
    told_ = true;
    findings.add(kTooManyRequests, ulpdu.octets(0, 2),
                 fmt::format("{} requests are outstanding; the peer's IRD is {}", outstanding, *limit));
  }
  if (outstanding > kMost) forget();
}

bool Requests::on_read_response(const Ulpdu& ulpdu, bool jumped, Findings& findings) {
  const auto& header = *ulpdu.tagged();
  const std::uint64_t end = header.offset.value + ulpdu.payload.size();
  if (!response_ && cut_ == std::pair(header.stag, header.offset.value)) {  // told already
    cut_->second = end;
    return true;
  }
  if (!response_) response_ = begin_response(ulpdu, findings);
  response_->octets += ulpdu.payload.size();
  if (response_->judged && !jumped) judge_length(ulpdu, findings);
  const bool astray = response_->astray;
  cut_.reset();
  if (ulpdu.last()) {
    if (response_->judged && response_->octets < response_->read.size) cut_ = std::pair(header.stag, end);
    resume();
    response_.reset();
    told_ = false;
  }
  return !astray;
}

// A request that is not known may have named the same sink. One that also asked for that many octets is taken for the one that
// is answered; what is older was answered before the capture could show it.
void Requests::resume() {
  const auto meant = std::ranges::find(reads_, response_->read.msn, &Read::msn);
  if (!response_->tentative || response_->octets != response_->read.size || meant == reads_.end()) return;
  reads_.erase(reads_.begin(), meant + 1);
  complete_ = true;
}

// Takes the request that this response answers: the oldest one, if all is well.
Requests::Response Requests::begin_response(const Ulpdu& ulpdu, Findings& findings) {
  const auto& header = *ulpdu.tagged();
  const auto fits = [&](const Read& read) {
    return read.sink_stag == header.stag && read.sink_offset == header.offset.value;
  };
  if (reads_.empty()) {
    if (complete_) {
      doubt(findings.prepare(
          kUnrequested, ulpdu.octets(0, 2),
          fmt::format("a Read Response to STag {:08x} comes while no Read Request is outstanding", header.stag.value)));
    }
    return {.astray = complete_};
  }
  // STag and TO of a response without octets may be anything (DDP-5.2-12).
  const bool anything_fits = ulpdu.payload.empty() && ulpdu.last();
  const auto candidates = anything_fits ? std::ssize(reads_) : std::ranges::count_if(reads_, fits);
  if (!complete_ && candidates > 1) {  // which of them is answered is unknown: those before it may be answered already
    reads_.clear();
    return {};
  }
  const auto oldest = reads_.begin();
  bool astray = false;
  auto meant = anything_fits ? oldest : std::ranges::find_if(reads_, fits);
  if (meant == reads_.end()) {
    if (!complete_) return {};  // its request may be one that the capture does not show
    meant = oldest;
    astray = true;
    if (oldest->sink_stag != header.stag) {
      findings.add(kResponseStag, ulpdu.field<ddp::TaggedLayout::StagField>(),
                   fmt::format("the Read Response goes to STag {:08x}; the request (MSN {}) named {:08x}",
                               header.stag.value, oldest->msn, oldest->sink_stag.value));
    } else {
      findings.add(kResponseOffset, ulpdu.field<ddp::TaggedLayout::ToField>(),
                   fmt::format("the Read Response begins at TO {:#x}; the request (MSN {}) named {:#x}",
                               header.offset.value, oldest->msn, oldest->sink_offset));
    }
  } else if (meant != oldest && complete_) {
    findings.add(
        kResponseOrder, ulpdu.octets(0, ddp::TaggedLayout::kSize),
        fmt::format("the Read Response answers request {} while request {} is older", meant->msn, oldest->msn));
  }
  const Read read = *meant;
  if (!complete_) return {.read = read, .tentative = true};
  reads_.erase(meant);
  return {.judged = true, .read = read, .astray = astray};
}

void Requests::judge_length(const Ulpdu& ulpdu, Findings& findings) {
  const std::uint32_t asked = response_->read.size;
  const bool wrong = response_->octets > asked || (ulpdu.last() && response_->octets < asked);
  if (!wrong || response_->too_long) return;
  response_->too_long = true;
  findings.add(asked == 0 ? kEmptyRead : kResponseLength, ulpdu.octets(0, 2),
               fmt::format("the Read Response has {}{} octets; request {} asked for {}",
                           ulpdu.last() ? "" : "at least ", response_->octets, response_->read.msn, asked));
}

void Requests::doubt(Finding finding) {
  if (unrequested_.size() < Findings::kMost) unrequested_.push_back(std::move(finding));
}

void Requests::confirm_unrequested(Findings& findings) {
  for (Finding& finding : unrequested_) findings.add(std::move(finding));
  unrequested_.clear();
}

void Requests::forget() {
  reads_.clear();
  atomics_.clear();
  response_ = Response{};  // the next segment may be in the middle of one
  cut_.reset();
  complete_ = false;
  told_ = false;
}

}  // namespace weft::conformance::rules

namespace weft::conformance {

std::span<const Rule* const> read_rules() noexcept { return rules::kReadRules; }

}  // namespace weft::conformance
