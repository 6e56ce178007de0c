// SPDX-License-Identifier: Apache-2.0
#include "verbs/device.hpp"

#include <algorithm>
#include <utility>

#include "transport/cancellation.hpp"
#include "verbs/base/device_state.hpp"
#include "verbs/objects/completion_queue_state.hpp"
#include "verbs/progress/runtime.hpp"

namespace weft::verbs {

namespace {

constexpr DeviceLimits kLimits{};
constexpr std::string_view kNamePrefix = "weft_";

DeviceInfo describe(transport::Interface interface) {
  DeviceInfo info{.name = std::string(kNamePrefix) + interface.name, .interface = std::move(interface)};
  return info;
}

template <typename Wanted>
Result<DeviceInfo> find_device(Wanted wanted) {
  auto devices = Device::list();
  if (!devices) return std::unexpected(devices.error());
  const auto found = std::ranges::find_if(*devices, wanted);
  if (found == devices->end()) return fail(Errc::kNoDevice, "device", "no interface has this name or address");
  return std::move(*found);
}

}  // namespace

const DeviceLimits& Device::limits() noexcept { return kLimits; }

Result<std::vector<DeviceInfo>> Device::list() {
  auto interfaces = transport::enumerate_interfaces();
  if (!interfaces) return fail(Errc::kSystem, "interfaces", "cannot be listed", interfaces.error().value());
  std::vector<DeviceInfo> devices;
  for (auto& interface : *interfaces) devices.push_back(describe(std::move(interface)));
  return devices;
}

Result<Device> detail::open_device(DeviceInfo info, const DeviceLimits& limits) {
  auto runtime = detail::Runtime::acquire();
  if (!runtime) return std::unexpected(runtime.error());
  auto state = detail::DeviceState::create(std::move(info), limits);
  if (!state) return std::unexpected(state.error());
  (*runtime)->watch_interface(*state);
  Device device;
  device.self_ = {std::move(*runtime), std::move(*state)};
  return device;
}

Result<Device> Device::open(std::string_view name) {
  auto info =
      find_device([&](const DeviceInfo& device) { return device.name == name || device.interface.name == name; });
  if (!info) return std::unexpected(info.error());
  return detail::open_device(std::move(*info), limits());
}

Result<Device> Device::open(const Address& local) {
  auto interfaces = transport::enumerate_interfaces();
  if (!interfaces) return fail(Errc::kSystem, "interfaces", "cannot be listed", interfaces.error().value());
  auto owner = transport::find_owner(*interfaces, local.is_any() ? Address::loopback(local.family) : local);
  if (!owner) return fail(Errc::kNoDevice, "local", "no interface has this address");
  return detail::open_device(describe(std::move(*owner)), limits());
}

const DeviceInfo& Device::info() const noexcept { return self_->info; }
int Device::async_descriptor() const noexcept { return self_->events->descriptor(); }
Result<AsyncEvent> Device::get_async_event() const {
  const transport::NoCancellationButInWaits not_cancelled;
  auto* const own = self_.ours();
  if (own == nullptr) return detail::not_ours("device");
  if (const auto started = self_.runtime->start(); !started)
    return std::unexpected(started.error());  // it sees the interface
  return own->events->get();
}

Result<ProtectionDomain> Device::allocate_protection_domain() {
  auto share = detail::Quota::take(self_->quotas.domains);
  if (!share) return std::unexpected(share.error());
  ProtectionDomain domain;
  domain.self_ = {self_.runtime, std::make_shared<detail::ProtectionDomainState>(self_.state, std::move(*share))};
  return domain;
}

Result<CompletionQueue> Device::create_completion_queue(const CompletionQueueAttributes& attributes) {
  if (attributes.capacity == 0 || attributes.capacity > limits().max_cqe) {
    return fail(Errc::kLimitExceeded, "capacity", "zero, or larger than the device's limit");
  }
  auto share = detail::Quota::take(self_->quotas.completion_queues);
  if (!share) return std::unexpected(share.error());
  auto channel = attributes.channel != nullptr ? attributes.channel->self_.state : nullptr;
  CompletionQueue queue;
  queue.self_ = {self_.runtime, std::make_shared<detail::CompletionQueueState>(*self_.runtime, self_.state, attributes,
                                                                               std::move(channel), std::move(*share))};
  return queue;
}

}  // namespace weft::verbs
