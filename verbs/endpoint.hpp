// SPDX-License-Identifier: Apache-2.0
/// @file
/// Addresses of the connection manager, and a blocking name lookup.
#pragma once

#include <cstdint>
#include <string>

#include "transport/endpoint.hpp"
#include "verbs/error.hpp"

namespace weft::verbs {

/// Represents the IP address of a host.
using Address = transport::Address;
/// Represents an IP address and a TCP port.
using Endpoint = transport::Endpoint;

/// Resolves a host name or a numeric address. May query a name server, and therefore may block.
/// Returns the first address that the system's resolver finds, with `port` (host order).
/// Errors: Errc::kUnreachable if the name is unknown; kNotSupported if its address is neither IPv4 nor IPv6.
[[nodiscard]] Result<Endpoint> lookup(const std::string& host, std::uint16_t port);

}  // namespace weft::verbs
