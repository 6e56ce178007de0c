// SPDX-License-Identifier: Apache-2.0
#include "tools/bench/tcp_setup.hpp"

#include "tools/bench/policy.hpp"
#include "tools/bench/raw_calls.hpp"
#include "tools/bench/tcp_crowd.hpp"
#include "tools/bench/tcp_endpoint.hpp"

namespace weft::tools::bench {
namespace {

template <typename Next>
Outcome<std::unique_ptr<Endpoint>> assemble_tcp(const Options& options, Next next) {
  std::vector<std::unique_ptr<RawStream>> streams;
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    auto stream = next();
    if (!stream) return std::unexpected(stream.error());
    streams.push_back(std::move(*stream));
  }
  if (options.connections > 1) return TcpCrowd::create(std::move(streams), options);
  return std::make_unique<TcpEndpoint>(std::move(streams.front()), options);
}

}  // namespace

Outcome<std::unique_ptr<Endpoint>> tcp_accept_all(TcpListener listener, const Options& options, Protection protection) {
  const auto policy = policy_of(options);
  if (!policy) return std::unexpected(policy.error());
  auto maker = StreamMaker::make(*policy, protection);
  if (!maker) return std::unexpected(maker.error());
  if (options.kind == Kind::kSetup) return std::make_unique<RawAnswers>(std::move(listener), std::move(*maker));
  return assemble_tcp(options, [&]() -> Outcome<std::unique_ptr<RawStream>> {
    auto socket = tcp_accept(listener);
    if (!socket) return std::unexpected(socket.error());
    return maker->at_listener(std::move(*socket));
  });
}

Outcome<std::unique_ptr<Endpoint>> tcp_connect_all(std::uint16_t port, const Options& options, Protection protection) {
  const auto policy = policy_of(options);
  if (!policy) return std::unexpected(policy.error());
  if (options.kind == Kind::kSetup) return std::make_unique<RawCalls>(port, options.caller, *policy, protection);
  auto maker = StreamMaker::make(*policy, protection);
  if (!maker) return std::unexpected(maker.error());
  return assemble_tcp(options, [&]() -> Outcome<std::unique_ptr<RawStream>> {
    auto socket = tcp_connect_to_loopback(port, tcp_settings(options));
    if (!socket) return std::unexpected(socket.error());
    return maker->at_caller(std::move(*socket));
  });
}

}  // namespace weft::tools::bench
