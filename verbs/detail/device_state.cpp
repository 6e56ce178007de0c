// SPDX-License-Identifier: Apache-2.0
#include "verbs/detail/device_state.hpp"

#include <atomic>
#include <utility>

namespace weft::verbs::detail {

Result<std::shared_ptr<DeviceState>> DeviceState::create(DeviceInfo info) {
  auto events = NotificationQueue<AsyncEvent>::create(kMaxAsyncEvents);
  if (!events) return std::unexpected(events.error());
  return std::make_shared<DeviceState>(std::move(info), std::move(*events));
}

DeviceState::DeviceState(DeviceInfo description, std::shared_ptr<NotificationQueue<AsyncEvent>> queue)
    : info(std::move(description)), events(std::move(queue)) {}

void DeviceState::raise(const AsyncEvent& event) {
  if (!events->post(event)) events->post({.type = AsyncEventType::kEventsLost}, true);
}

namespace {
std::uint32_t next_domain() {
  static std::atomic<std::uint32_t> last{0};
  return ++last;
}
}  // namespace

ProtectionDomainState::ProtectionDomainState(std::shared_ptr<DeviceState> on)
    : device(std::move(on)), number(next_domain()) {}

}  // namespace weft::verbs::detail
