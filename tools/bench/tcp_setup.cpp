// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/tcp_setup.hpp"

#include "tools/bench/tcp_crowd.hpp"
#include "tools/bench/tcp_endpoint.hpp"

namespace weft::tools::bench {
namespace {

template <typename Next>
Outcome<std::unique_ptr<Endpoint>> assemble_tcp(const Options& options, Next next) {
  std::vector<UniqueFd> sockets;
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    auto socket = next();
    if (!socket) return std::unexpected(socket.error());
    sockets.push_back(std::move(*socket));
  }
  if (options.connections > 1) return TcpCrowd::create(std::move(sockets), options);
  return std::make_unique<TcpEndpoint>(std::move(sockets.front()), options);
}

}  // namespace

Outcome<std::unique_ptr<Endpoint>> tcp_accept_all(const TcpListener& listener, const Options& options) {
  return assemble_tcp(options, [&] { return tcp_accept(listener); });
}

Outcome<std::unique_ptr<Endpoint>> tcp_connect_all(std::uint16_t port, const Options& options) {
  return assemble_tcp(options, [&] { return tcp_connect_to_loopback(port, options.segments.emss); });
}

}  // namespace weft::tools::bench
