// SPDX-License-Identifier: Apache-2.0
// Requests of one direction that the other end has not answered, in the order in which they were sent.
#pragma once

#include <cstdint>
#include <deque>

#include "ddp/header.hpp"

namespace weft::conformance::rules {

// A Read or an Atomic Request.
struct PendingRequest {
  bool known = true;  // false: the capture lost it, and the MSN of a later request shows that it was sent
  bool atomic{};
  std::uint32_t number{};  // of a Read its MSN, of an atomic its Request Identifier
  std::uint64_t end{};     // stream offset after it
  ddp::Stag sink_stag{};   // of a Read only, and the rest
  std::uint64_t sink_offset{};
  std::uint32_t size{};
  std::uint64_t answered{};  // octets of its response that came before a gap
};
using PendingRequests = std::deque<PendingRequest>;

}  // namespace weft::conformance::rules
