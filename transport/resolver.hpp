// SPDX-License-Identifier: Apache-2.0
// Resolution of a host and a service, as names or numbers, to endpoints.
#pragma once

#include <expected>
#include <functional>
#include <memory>
#include <string>
#include <system_error>
#include <vector>

#include "transport/endpoint.hpp"
#include "transport/reactor.hpp"

namespace weft::transport {

// Follows the rules of transport/reactor.hpp. A numeric host and service need no lookup. Names are resolved by
// getaddrinfo() in a thread that the reactor starts on first use. getaddrinfo() cannot be interrupted, so ~Reactor
// waits for a lookup in progress (~Resolver does not).
class Resolver {
 public:
  // Receives at least one endpoint, in the order of preference of the system.
  using OnDone = std::move_only_function<void(std::expected<std::vector<Endpoint>, std::error_code>)>;

  // An empty host means the loopback addresses of this host; an empty service means port 0. Calls `on_done` exactly
  // once, unless it is destroyed before.
  Resolver(Reactor& reactor, std::string host, std::string service, OnDone on_done);
  ~Resolver();
  Resolver(Resolver&&) noexcept;
  Resolver& operator=(Resolver&&) noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
