// SPDX-License-Identifier: Apache-2.0
// Addresses as the connection manager takes them: transport's plain values, and a blocking look-up for names.
#pragma once

#include <cstdint>
#include <string>

#include "transport/endpoint.hpp"
#include "verbs/error.hpp"

namespace weft::verbs {

using Address = transport::Address;    // of a host: transport::Address
using Endpoint = transport::Endpoint;  // an address and a port: transport::Endpoint

// A host name or a numeric address. May ask a name server, and so block.
[[nodiscard]] Result<Endpoint> lookup(const std::string& host, std::uint16_t port);

}  // namespace weft::verbs
