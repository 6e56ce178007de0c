// SPDX-License-Identifier: Apache-2.0
// Atomics, of requests.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "conformance/rules/requests.hpp"
#include "conformance/rules/tables.hpp"
#include "rdmap/atomic_messages.hpp"

namespace weft::conformance::rules {

namespace {

constexpr Rule kAtomicRequestSize{"RDMAPX-4-02", Severity::kViolation, Layer::kRdmap, "RFC 7306 4",
                                  "An Atomic Request is 52 octets behind the DDP header, and nothing else."};
constexpr Rule kAtomicResponseSize{"RDMAPX-4-03", Severity::kViolation, Layer::kRdmap, "RFC 7306 4",
                                   "An Atomic Response is 12 octets behind the DDP header, and nothing else."};
constexpr Rule kAtomicReserved{"RDMAPX-5.2.1-02", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.1",
                               "The 28 reserved bits of an Atomic Request are sent as zero."};
constexpr Rule kAOpCode{"RDMAPX-5.2.1-04", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.1",
                        "AOpCode is 0 (FetchAdd) or 2 (CmpSwap)."};
constexpr Rule kCompareData{"RDMAPX-5.2.1-12", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.1",
                            "Compare Data is zero in a FetchAdd."};
constexpr Rule kCompareMask{"RDMAPX-5.2.1-13", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.1",
                            "Compare Mask is all ones in a FetchAdd."};
constexpr Rule kAtomicUnrequested{"RDMAPX-5.2.2-02", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.2",
                                  "An Atomic Response returns the Request Identifier of its Atomic Request."};
constexpr Rule kAtomicOrder{"RDMAPX-5.2.2-11", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.2",
                            "Atomic Responses are sent in the order in which the Atomic Requests were received."};
constexpr std::array kAtomicRules{&kAtomicRequestSize, &kAtomicResponseSize, &kAtomicReserved,    &kAOpCode,
                                  &kCompareData,       &kCompareMask,        &kAtomicUnrequested, &kAtomicOrder};

using Request = rdmap::AtomicRequestLayout;

template <typename Field>
Where field(const Ulpdu& ulpdu) noexcept {
  return ulpdu.field<Field>(ddp::UntaggedLayout::kSize);
}

void judge_fields(const Ulpdu& ulpdu, Findings& findings) {
  const std::uint32_t first = Request::AOpCode::get(ulpdu.payload);
  const std::uint32_t aopcode = first & Request::kAOpCodeMask;
  if (aopcode != first) {
    findings.add(kAtomicReserved, field<Request::AOpCode>(ulpdu),
                 fmt::format("the reserved bits are {:07x}, not 0", first >> 4));
  }
  const auto kind = rdmap::atomic_kind(aopcode);
  if (!kind) {
    findings.add(kAOpCode, field<Request::AOpCode>(ulpdu), fmt::format("AOpCode is {}", aopcode));
  }
  if (kind != rdmap::AtomicOperation::Kind::kFetchAdd) return;
  if (const auto data = Request::CompareData::get(ulpdu.payload); data != 0) {
    findings.add(kCompareData, field<Request::CompareData>(ulpdu),
                 fmt::format("Compare Data is {:#x} in a FetchAdd, not 0", data));
  }
  if (const auto mask = Request::CompareMask::get(ulpdu.payload); mask != std::numeric_limits<std::uint64_t>::max()) {
    findings.add(kCompareMask, field<Request::CompareMask>(ulpdu),
                 fmt::format("Compare Mask is {:#x} in a FetchAdd, not all ones", mask));
  }
}

}  // namespace

void Requests::on_atomic_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings) {
  if (!ulpdu.in_one_segment()) return forget();
  if (ulpdu.payload.size() != Request::kSize) {
    findings.add(kAtomicRequestSize, ulpdu.in_payload(0, ulpdu.payload.size()),
                 fmt::format("the Atomic Request has {} octets behind the DDP header, not {}", ulpdu.payload.size(),
                             Request::kSize));
    return forget();
  }
  judge_fields(ulpdu, findings);
  atomics_.push_back(Request::RequestId::get(ulpdu.payload));
  count_request(ulpdu, facts, findings);
}

void Requests::on_atomic_response(const Ulpdu& ulpdu, Findings& findings) {
  if (!ulpdu.in_one_segment()) {
    if (complete_ && atomics_.empty()) {
      doubt(findings.prepare(kAtomicUnrequested, ulpdu.octets(0, 2),
                             "an Atomic Response in several segments comes while no Atomic Request is outstanding"));
    }
    return forget();
  }
  const auto response = rdmap::parse_atomic_response(ulpdu.payload);
  if (!response) {
    findings.add(kAtomicResponseSize, ulpdu.in_payload(0, ulpdu.payload.size()),
                 fmt::format("the Atomic Response has {} octets behind the DDP header, not {}", ulpdu.payload.size(),
                             rdmap::AtomicResponseLayout::kSize));
    return forget();
  }
  const Where id = field<rdmap::AtomicResponseLayout::RequestId>(ulpdu);
  const auto meant = std::ranges::find(atomics_, response->request_id);
  if (meant == atomics_.end()) {
    if (complete_) {
      doubt(findings.prepare(kAtomicUnrequested, id,
                             fmt::format("Original Request Identifier {:#x} belongs to no outstanding Atomic Request",
                                         response->request_id)));
    }
    if (complete_ && !atomics_.empty()) atomics_.pop_front();
  } else {
    if (meant != atomics_.begin() && complete_) {
      findings.add(kAtomicOrder, id,
                   fmt::format("the Atomic Response answers request {:#x} while request {:#x} is older",
                               response->request_id, atomics_.front()));
    }
    if (complete_) {
      atomics_.erase(meant);
    } else {
      atomics_.erase(atomics_.begin(), meant + 1);
    }
  }
  told_ = false;
}

}  // namespace weft::conformance::rules

namespace weft::conformance {

std::span<const Rule* const> atomic_rules() noexcept { return rules::kAtomicRules; }

}  // namespace weft::conformance
