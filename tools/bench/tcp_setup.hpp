// SPDX-License-Identifier: Apache-2.0
// Makes the raw TCP connections between the two processes of a measurement.
#pragma once

#include <memory>

#include "tools/bench/endpoint.hpp"
#include "tools/bench/tcp_socket.hpp"

namespace weft::tools::bench {

// The follower's side, and the leader's.
Outcome<std::unique_ptr<Endpoint>> tcp_accept_all(const TcpListener& listener, const Options& options);
Outcome<std::unique_ptr<Endpoint>> tcp_connect_all(std::uint16_t port, const Options& options);

}  // namespace weft::tools::bench
