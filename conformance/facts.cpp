// SPDX-License-Identifier: Apache-2.0
#include "conformance/facts.hpp"

#include "mpa/negotiation.hpp"

namespace weft::conformance {

std::string_view name(NoFrame::Why why) noexcept {
  switch (why) {
    case NoFrame::Why::kNotCaptured: return "not captured";
    case NoFrame::Why::kNoneSent: return "none sent";
    case NoFrame::Why::kUnfinished: return "not finished";
    case NoFrame::Why::kMalformed: return "malformed";
  }
  return {};
}

// MPA2-9.1-06: what one end keeps outstanding is bounded by the IRD that the other end named, unless that was left to
// the ULP (MPA2-9.1-19). Revision 1 does not negotiate.
std::optional<std::uint32_t> Facts::request_limit(Direction from) const noexcept {
  const auto& peer = from == Direction::kFromInitiator ? reply : request;
  if (!request || !reply || !peer->enhanced || !request->enhanced || !reply->enhanced) return std::nullopt;
  const auto ird = mpa::from_wire(peer->enhanced->ird);
  return ird ? std::optional<std::uint32_t>(*ird) : std::nullopt;
}

}  // namespace weft::conformance
