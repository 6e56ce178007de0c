// SPDX-License-Identifier: Apache-2.0
// Queries of the routing table.
#pragma once

#include <chrono>
#include <expected>
#include <system_error>

#include "transport/bound_socket.hpp"
#include "transport/endpoint.hpp"

namespace weft::transport {

// Returns the local address that the system would use towards `remote`. Sends nothing. Uses the routing table of the
// network namespace of the calling thread. If `traveller` is a socket that this thread created for the connection, the
// result may be cached for up to kRouteIsFresh, so that a program with many connections to one peer queries the system
// once in that time. `now` is the time of the call.
[[nodiscard]] std::expected<Address, std::error_code> local_address_towards(
    const Address& remote, const BoundSocket& traveller = {},
    std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());
inline constexpr std::chrono::milliseconds kRouteIsFresh{1};

}  // namespace weft::transport
