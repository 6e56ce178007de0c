// SPDX-License-Identifier: Apache-2.0
// The state of an open device: its description and its queue of asynchronous events.
#pragma once

#include <chrono>
#include <memory>
#include <mutex>
#include <optional>

#include "verbs/base/notification_queue.hpp"
#include "verbs/base/quota.hpp"
#include "verbs/base/token_bucket.hpp"
#include "verbs/device.hpp"

namespace weft::verbs::detail {

// The counts of DeviceLimits, each kept.
struct Quotas {
  explicit Quotas(const DeviceLimits& limits);
  const std::shared_ptr<Quota> domains, regions, windows, completion_queues, queue_pairs, shared_receive_queues;
};

class DeviceState {
 public:
  // Peers can cause events, so their number is bounded (SEC-2.2.7-01).
  static constexpr std::size_t kMaxAsyncEvents = 1024;

  [[nodiscard]] static Result<std::shared_ptr<DeviceState>> create(DeviceInfo info,
                                                                   const DeviceLimits& limits = Device::limits());
  DeviceState(DeviceInfo info, const DeviceLimits& limits, std::shared_ptr<NotificationQueue<AsyncEvent>> events);

  // Never blocks. When the queue is full the last place says so, instead of losing events silently.
  void raise(const AsyncEvent& event);
  // As raise(), for a kind of event that peers can cause without limit: holds only a few, so that others keep their
  // places. Returns false if there is no place now.
  [[nodiscard]] bool raise_stall(const AsyncEvent& event, Instant now);

  // How its interface is now; null: it is gone. Raises an event for each difference to what was known before.
  void interface_is(const transport::Interface* now);

  const DeviceInfo info;  // as it was opened
  const Quotas quotas;
  const std::shared_ptr<NotificationQueue<AsyncEvent>> events;

 private:
  std::mutex interface_mutex_{};
  std::optional<transport::Interface> interface_;  // null once it is gone
  std::mutex stalls_mutex_{};
  TokenBucket stalls_{{.burst = 100, .each = std::chrono::milliseconds(10)}};
};

// Device::open with other counts than the usual ones, for tests.
[[nodiscard]] Result<Device> open_device(DeviceInfo info, const DeviceLimits& limits);

class ProtectionDomainState {
 public:
  explicit ProtectionDomainState(std::shared_ptr<DeviceState> on, Quota::Share share = {});
  const std::shared_ptr<DeviceState> device;
  const std::uint32_t number;

 private:
  const Quota::Share share_;
};

}  // namespace weft::verbs::detail
