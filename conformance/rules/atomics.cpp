// SPDX-License-Identifier: Apache-2.0
// Atomics, of requests.hpp.
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "conformance/rules/atomics.hpp"
#include "conformance/rules/requests.hpp"
#include "conformance/rules/rule_group.hpp"
#include "rdmap/atomic_messages.hpp"

namespace weft::conformance::rules {

namespace {

constexpr Rule kAtomicRequestSize{"RDMAPX-4-02", Severity::kViolation, Layer::kRdmap, "RFC 7306 4",
                                  "An Atomic Request is 52 octets after the DDP header, and nothing else."};
constexpr Rule kAtomicResponseSize{"RDMAPX-4-03", Severity::kViolation, Layer::kRdmap, "RFC 7306 4",
                                   "An Atomic Response is 12 octets after the DDP header, and nothing else."};
constexpr Rule kAtomicReserved{"RDMAPX-5.2.1-02", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.1",
                               "The 28 reserved bits of an Atomic Request are sent as zero."};
constexpr Rule kAOpCode{"RDMAPX-5.2.1-04", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.1",
                        "AOpCode is 0 (FetchAdd) or 2 (CmpSwap)."};
constexpr Rule kCompareData{"RDMAPX-5.2.1-12", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.1",
                            "Compare Data is zero in a FetchAdd."};
constexpr Rule kCompareMask{"RDMAPX-5.2.1-13", Severity::kViolation, Layer::kRdmap, "RFC 7306 5.2.1",
                            "Compare Mask is all ones in a FetchAdd."};
constexpr std::array kAtomicRules{&kAtomicRequestSize, &kAtomicResponseSize, &kAtomicReserved,    &kAOpCode,
                                  &kCompareData,       &kCompareMask,        &kAtomicUnrequested, &kAtomicOrder};
const RuleGroup kAtomicGroup{kAtomicRules};

using Asked = rdmap::AtomicRequestLayout;

template <typename Field>
Where field(const Ulpdu& ulpdu) noexcept {
  return ulpdu.field<Field>(ddp::UntaggedLayout::kSize);
}

void judge_fields(const Ulpdu& ulpdu, Findings& findings) {
  const std::uint32_t first = Asked::AOpCode::get(ulpdu.payload);
  const std::uint32_t aopcode = first & Asked::kAOpCodeMask;
  if (aopcode != first) {
    findings.add(kAtomicReserved, field<Asked::AOpCode>(ulpdu),
                 fmt::format("the reserved bits are {:07x}, not 0", first >> 4));
  }
  const auto kind = rdmap::atomic_kind(aopcode);
  if (!kind) {
    findings.add(kAOpCode, field<Asked::AOpCode>(ulpdu), fmt::format("AOpCode is {}", aopcode));
  }
  if (kind != rdmap::AtomicOperation::Kind::kFetchAdd) return;
  if (const auto data = Asked::CompareData::get(ulpdu.payload); data != 0) {
    findings.add(kCompareData, field<Asked::CompareData>(ulpdu),
                 fmt::format("Compare Data is {:#x} in a FetchAdd, not 0", data));
  }
  if (const auto mask = Asked::CompareMask::get(ulpdu.payload); mask != std::numeric_limits<std::uint64_t>::max()) {
    findings.add(kCompareMask, field<Asked::CompareMask>(ulpdu),
                 fmt::format("Compare Mask is {:#x} in a FetchAdd, not all ones", mask));
  }
}

}  // namespace

void Requests::on_atomic_request(const Ulpdu& ulpdu, const Facts& facts, Findings& findings) {
  if (!ulpdu.in_one_segment()) return forget();
  if (ulpdu.payload.size() != Asked::kSize) {
    findings.add(kAtomicRequestSize, ulpdu.in_payload(0, ulpdu.payload.size()),
                 fmt::format("the Atomic Request has {} octets after the DDP header, not {}", ulpdu.payload.size(),
                             Asked::kSize));
    return forget();
  }
  judge_fields(ulpdu, findings);
  add(ulpdu, {.atomic = true, .number = Asked::RequestId::get(ulpdu.payload), .end = ulpdu.fpdu->piece.end()}, facts,
      findings);
}

void Requests::on_atomic_response(const Ulpdu& ulpdu, Findings& findings) {
  if (!ulpdu.in_one_segment()) return forget();
  const auto response = rdmap::parse_atomic_response(ulpdu.payload);
  if (!response) {
    findings.add(kAtomicResponseSize, ulpdu.in_payload(0, ulpdu.payload.size()),
                 fmt::format("the Atomic Response has {} octets after the DDP header, not {}", ulpdu.payload.size(),
                             rdmap::AtomicResponseLayout::kSize));
    return forget();
  }
  if (places_) {
    places_->on_atomic_response(pending_, ulpdu, response->request_id, more_sent(ulpdu.fpdu->piece));
    return look_for_place();
  }
  if (unknown_ || answers_unseen()) return;
  const Where id = field<rdmap::AtomicResponseLayout::RequestId>(ulpdu);
  const auto meant = std::ranges::find_if(
      pending_, [&](const Request& one) { return one.known && one.atomic && one.number == response->request_id; });
  if (meant != pending_.end()) {
    judge_order(ulpdu, id, meant, findings);
    answered_.push_back(ulpdu.fpdu->piece.end());
    pending_.erase(meant);
    return;
  }
  const auto first = oldest(true);
  unrequested(ulpdu, {.atomic = true, .number = response->request_id},
              findings.prepare(kAtomicUnrequested, id,
                               fmt::format("Original Request Identifier {:#x} belongs to no outstanding Atomic Request",
                                           response->request_id)));
  if (!unknown_ && first != pending_.end()) pending_.erase(first);
}

}  // namespace weft::conformance::rules
