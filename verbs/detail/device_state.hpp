// SPDX-License-Identifier: Apache-2.0
// An opened device: its description and its queue of asynchronous events.
#pragma once

#include <memory>
#include <optional>

#include "verbs/detail/notification_queue.hpp"
#include "verbs/device.hpp"

namespace weft::verbs::detail {

class DeviceState {
 public:
  // Peers can cause events, so their number is bounded (SEC-2.2.7-01).
  static constexpr std::size_t kMaxAsyncEvents = 1024;

  [[nodiscard]] static Result<std::shared_ptr<DeviceState>> create(DeviceInfo info);
  DeviceState(DeviceInfo info, std::shared_ptr<NotificationQueue<AsyncEvent>> events);

  // Never blocks. When the queue is full the last place says so, instead of losing events silently.
  void raise(const AsyncEvent& event);

  const DeviceInfo info;
  const std::shared_ptr<NotificationQueue<AsyncEvent>> events;
};

// Every live object made from a domain holds a copy of `in_use`.
class ProtectionDomainState {
 public:
  explicit ProtectionDomainState(std::shared_ptr<DeviceState> on);
  const std::shared_ptr<DeviceState> device;
  const std::uint32_t number;
  const std::shared_ptr<int> in_use = std::make_shared<int>(0);
};

}  // namespace weft::verbs::detail
