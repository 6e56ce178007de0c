// SPDX-License-Identifier: Apache-2.0
#include "verbs/progress/device_watch.hpp"

#include <algorithm>
#include <utility>

#include "verbs/log/log.hpp"

namespace weft::verbs::detail {

void DeviceWatch::add(transport::Reactor& reactor, const std::shared_ptr<DeviceState>& device) {
  const std::lock_guard lock(mutex_);
  std::erase_if(devices_, [](const auto& one) { return one.expired(); });
  devices_.push_back(device);
  if (watch_) return;
  auto watch = transport::InterfaceWatch::create(reactor, [this] { look(); });
  if (watch) {
    watch_.emplace(std::move(*watch));
  } else {
    log_warning("device", "changes to network interfaces raise no events: " + watch.error().message());
  }
}

void DeviceWatch::look() {
  const auto interfaces = transport::enumerate_interfaces();
  if (!interfaces) return;
  std::vector<std::weak_ptr<DeviceState>> devices;
  {
    const std::lock_guard lock(mutex_);
    devices = devices_;
  }
  for (const auto& weak : devices) {
    const auto device = weak.lock();
    if (!device) continue;
    const auto& opened = device->info.interface;
    const auto now = std::ranges::find_if(*interfaces, [&](const transport::Interface& one) {
      return one.index == opened.index && one.name == opened.name;
    });
    device->interface_is(now != interfaces->end() ? &*now : nullptr);
  }
}

}  // namespace weft::verbs::detail
