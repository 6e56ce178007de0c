// SPDX-License-Identifier: Apache-2.0
// Turns a host and a service, names or numbers, into endpoints.
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

// The rules of all reactor objects are in transport/reactor.hpp. A numeric host and service need no look-up. Others are
// looked up by getaddrinfo in a thread that the reactor starts at first use; getaddrinfo cannot be interrupted, so
// ~Reactor waits for a look-up that is under way (~Resolver does not).
class Resolver {
 public:
  // At least one endpoint, in the system's order of preference.
  using OnDone = std::move_only_function<void(std::expected<std::vector<Endpoint>, std::error_code>)>;

  // An empty host means this host's loopback addresses; an empty service means port 0. Calls `on_done` exactly once,
  // unless it is destroyed before.
  Resolver(Reactor& reactor, std::string host, std::string service, OnDone on_done);
  ~Resolver();
  Resolver(Resolver&&) noexcept;
  Resolver& operator=(Resolver&&) noexcept;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
