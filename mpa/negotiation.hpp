// SPDX-License-Identifier: Apache-2.0
// The arithmetic of RFC 6581 section 9: Read depths and ready-to-receive types, as functions without state.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "mpa/agreement.hpp"
#include "mpa/policy.hpp"

namespace weft::mpa {

// MPA2-9.1-19: 0x3FFF on the wire says that the value is not negotiated.
[[nodiscard]] constexpr ReadDepth from_wire(std::uint16_t value) noexcept {
  return value == kNoNegotiation ? std::nullopt : ReadDepth(value);
}
[[nodiscard]] constexpr std::uint16_t to_wire(ReadDepth depth) noexcept { return depth.value_or(kNoNegotiation); }

// Our ORD under the peer's IRD: responder MPA2-9.1-02, MPA2-9.1-08, MPA2-9.1-10, initiator MPA2-9.1-14, so that
// MPA2-9.1-06 and MPA2-3-02 hold. A peer that does not negotiate leaves ours as it is (MPA2-9.1-21, MPA2-9.1-22).
[[nodiscard]] constexpr ReadDepth ord_within(ReadDepth own_ord, ReadDepth peer_ird) noexcept {
  if (!peer_ird || !own_ord) return peer_ird ? peer_ird : own_ord;
  return std::min(*own_ord, *peer_ird);
}

// Can our IRD serve the peer's ORD (MPA2-9.1-13)? Always, when either is not negotiated (MPA2-9.1-23).
[[nodiscard]] constexpr bool ird_suffices(ReadDepth own_ird, ReadDepth peer_ord) noexcept {
  return !own_ird || !peer_ord || *own_ird >= *peer_ord;
}

[[nodiscard]] constexpr RtrTypes common(const RtrTypes& a, const RtrTypes& b) noexcept {
  return {.send = a.send && b.send, .write = a.write && b.write, .read = a.read && b.read};
}

// The types that a responder names in its Reply: those in common (MPA2-9.2-07, MPA2-9.2-09), or else all that it
// supports (MPA2-9.2-11). An RTR by Read takes an inbound Read; with an IRD of 0 it is named only when there is nothing
// else.
[[nodiscard]] constexpr RtrTypes reply_types(const RtrTypes& supported, const RtrTypes& offered,
                                             ReadDepth own_ird) noexcept {
  const RtrTypes shared = common(supported, offered);
  RtrTypes named = shared.any() ? shared : supported;
  if (own_ird == 0 && (named.send || named.write)) named.read = false;
  return named;
}

// MPA2-1.1-02: the initiator picks one of the common types. A Write costs nothing; a Read takes a place in the
// responder's inbound queue, if there is one; a Send takes a posted receive.
[[nodiscard]] constexpr std::optional<Rtr> choose(const RtrTypes& shared, ReadDepth peer_ird) noexcept {
  if (shared.write) return Rtr::kWrite;
  if (shared.read && peer_ird != 0) return Rtr::kRead;
  if (shared.send) return Rtr::kSend;
  return std::nullopt;
}

}  // namespace weft::mpa
