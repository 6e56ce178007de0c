// SPDX-License-Identifier: Apache-2.0
// The definition of one remote peer, for counts per peer.
#pragma once

#include <algorithm>
#include <cstddef>

#include "transport/endpoint.hpp"

namespace weft::verbs::detail {

// One subscriber's address. IPv6 gives each a prefix of 64 bits at least, and so addresses without end; neighbors on a
// link share theirs.
[[nodiscard]] inline transport::Address one_peer(transport::Address address) noexcept {
  if (address.family == transport::Family::kIpv6 && !address.is_link_local())
    std::fill_n(address.octets.begin() + 8, 8, std::byte{});
  return address;
}

}  // namespace weft::verbs::detail
