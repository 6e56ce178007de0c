// SPDX-License-Identifier: Apache-2.0
// What the routing table says of a destination.
#pragma once

#include <chrono>
#include <expected>
#include <system_error>

#include "transport/bound_socket.hpp"
#include "transport/endpoint.hpp"

namespace weft::transport {

// The local address that the system would use towards `remote`. Sends nothing. The table is that of the calling
// thread's network namespace. With the socket that is to go there, made by this thread, the answer may be as old as
// kRouteIsFresh: a program that makes many connections to one peer asks the system once in that time. `now` is the time
// of the call.
[[nodiscard]] std::expected<Address, std::error_code> local_address_towards(
    const Address& remote, const BoundSocket& traveller = {},
    std::chrono::steady_clock::time_point now = std::chrono::steady_clock::now());
inline constexpr std::chrono::milliseconds kRouteIsFresh{1};

}  // namespace weft::transport
