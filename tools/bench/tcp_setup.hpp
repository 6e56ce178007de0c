// SPDX-License-Identifier: Apache-2.0
// Makes the raw TCP connections between the two processes of a measurement, in clear or with OpenSSL.
#pragma once

#include <memory>

#include "tools/bench/endpoint.hpp"
#include "tools/bench/stream_maker.hpp"
#include "tools/bench/tcp_socket.hpp"

namespace weft::tools::bench {

// As many as options.connections says: the follower's side, and the leader's.
Outcome<std::unique_ptr<Endpoint>> tcp_accept_all(TcpListener listener, const Options& options, Protection protection);
Outcome<std::unique_ptr<Endpoint>> tcp_connect_all(std::uint16_t port, const Options& options, Protection protection);

}  // namespace weft::tools::bench
