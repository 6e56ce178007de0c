// SPDX-License-Identifier: Apache-2.0
// Notifies open devices of changes to their network interfaces.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "transport/interface_watch.hpp"
#include "verbs/base/device_state.hpp"

namespace weft::verbs::detail {

class DeviceWatch {
 public:
  DeviceWatch() = default;
  ~DeviceWatch() = default;
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  // From here on, while a thread runs the reactor. Without netlink, or another descriptor, nothing is watched.
  void add(transport::Reactor& reactor, const std::shared_ptr<DeviceState>& device);

 private:
  void look();

  std::mutex mutex_;
  std::vector<std::weak_ptr<DeviceState>> devices_;
  std::optional<transport::InterfaceWatch> watch_;  // its callback takes the lock: never destroyed with it held
};

}  // namespace weft::verbs::detail
