// SPDX-License-Identifier: Apache-2.0
// Notifications of changes to the network interfaces of this host: up and down, hardware and IP addresses, removal.
#pragma once

#include <expected>
#include <memory>
#include <system_error>

#include "transport/reactor.hpp"

namespace weft::transport {

// Follows the rules of transport/reactor.hpp. The kernel notifies of more than what Interface shows, and several
// changes may be one notification: compare with enumerate_interfaces().
class InterfaceWatch {
 public:
  // Fails if the process cannot open another descriptor, or may not use netlink.
  [[nodiscard]] static std::expected<InterfaceWatch, std::error_code> create(Reactor& reactor, Task on_change);
  ~InterfaceWatch();
  InterfaceWatch(InterfaceWatch&&) noexcept;
  InterfaceWatch& operator=(InterfaceWatch&&) noexcept;

 private:
  struct State;
  explicit InterfaceWatch(std::shared_ptr<State> state) noexcept;
  std::shared_ptr<State> state_;
};

}  // namespace weft::transport
