// SPDX-License-Identifier: Apache-2.0
// Axes that many rules have in common.
#pragma once

#include <algorithm>
#include <iterator>

#include "probe/plan/combination.hpp"

namespace weft::probe::plan {

inline const std::vector<Place> kEverywhere{Place::kFirst, Place::kSecond, Place::kMiddle, Place::kAfter32Messages,
                                            Place::kAfter20000Octets};
// After the first FPDU of the stream.
inline const std::vector<Place> kBehindFirst{Place::kSecond, Place::kMiddle, Place::kAfter32Messages,
                                             Place::kAfter20000Octets};
inline const std::vector<Segment> kEachSegment{Segment::kOnly, Segment::kFirstOf3, Segment::kSecondOf3,
                                               Segment::kThirdOf3};
inline const std::vector<Delivery> kEachDelivery{Delivery::kApart, Delivery::kGlued, Delivery::kDribbled};
inline const std::vector<Message> kEachMessage{Message::kWrite,
                                               Message::kReadRequest,
                                               Message::kReadResponse,
                                               Message::kSend,
                                               Message::kSendInvalidate,
                                               Message::kSendSolicited,
                                               Message::kSendSolicitedInvalidate,
                                               Message::kTerminate,
                                               Message::kImmediate,
                                               Message::kImmediateSolicited,
                                               Message::kFetchAdd,
                                               Message::kCmpSwap,
                                               Message::kAtomicResponse};
// Messages that access the peer's memory.
inline const std::vector<Message> kAccesses{Message::kWrite, Message::kReadRequest, Message::kFetchAdd,
                                            Message::kCmpSwap};

// Returns the messages that satisfy `are`, in order.
[[nodiscard]] inline std::vector<Message> messages_that(bool (*are)(Message)) {
  std::vector<Message> out;
  std::ranges::copy_if(kEachMessage, std::back_inserter(out), are);
  return out;
}

[[nodiscard]] constexpr std::uint32_t needs_if(bool wanted, std::uint32_t needs) noexcept { return wanted ? needs : 0; }
[[nodiscard]] constexpr std::uint32_t atomics_too(const Combination& how) noexcept {
  return needs_if(is_atomic(how.message), kAtomics);
}

}  // namespace weft::probe::plan
