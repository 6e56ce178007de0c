// SPDX-License-Identifier: Apache-2.0
#include "verbs/base/device_state.hpp"

#include <atomic>
#include <utility>

namespace weft::verbs::detail {

Quotas::Quotas(const DeviceLimits& limits)
    : domains(std::make_shared<Quota>("max_pd", limits.max_pd)),
      regions(std::make_shared<Quota>("max_mr", limits.max_mr)),
      windows(std::make_shared<Quota>("max_mw", limits.max_mw)),
      completion_queues(std::make_shared<Quota>("max_cq", limits.max_cq)),
      queue_pairs(std::make_shared<Quota>("max_qp", limits.max_qp)),
      shared_receive_queues(std::make_shared<Quota>("max_srq", limits.max_srq)) {}

Result<std::shared_ptr<DeviceState>> DeviceState::create(DeviceInfo info, const DeviceLimits& limits) {
  auto events = NotificationQueue<AsyncEvent>::create(kMaxAsyncEvents);
  if (!events) return std::unexpected(events.error());
  return std::make_shared<DeviceState>(std::move(info), limits, std::move(*events));
}

DeviceState::DeviceState(DeviceInfo description, const DeviceLimits& limits,
                         std::shared_ptr<NotificationQueue<AsyncEvent>> queue)
    : info(std::move(description)), quotas(limits), events(std::move(queue)), interface_(info.interface) {}

void DeviceState::raise(const AsyncEvent& event) {
  if (!events->post(event)) events->post({.type = AsyncEventType::kEventsLost}, true);
}

void DeviceState::interface_is(const transport::Interface* now) {
  const std::lock_guard lock(interface_mutex_);
  if (!interface_) return;
  const bool up = now != nullptr && now->up;
  if (up != interface_->up) raise({.type = up ? AsyncEventType::kPortActive : AsyncEventType::kPortError});
  if (now == nullptr) {
    raise({.type = AsyncEventType::kDeviceFatal});
    return interface_.reset();
  }
  if (now->hardware_address != interface_->hardware_address || now->addresses != interface_->addresses) {
    raise({.type = AsyncEventType::kAddressChange});
  }
  interface_ = *now;
}

bool DeviceState::raise_stall(const AsyncEvent& event, Instant now) {
  {
    const std::lock_guard lock(stalls_mutex_);
    if (!stalls_.take(now)) return false;
  }
  raise(event);
  return true;
}

namespace {
std::uint32_t next_domain() {
  static std::atomic<std::uint32_t> last{0};
  return ++last;
}
}  // namespace

ProtectionDomainState::ProtectionDomainState(std::shared_ptr<DeviceState> on, Quota::Share share)
    : device(std::move(on)), number(next_domain()), share_(std::move(share)) {}

}  // namespace weft::verbs::detail
