// SPDX-License-Identifier: Apache-2.0
// The list of devices: one per network interface, and the same pointers in every list.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>

#include "compat/objects/context.hpp"
#include "compat/objects/report.hpp"
#include "compat/objects/settings.hpp"
#include "transport/interfaces.hpp"

namespace weft::compat {

namespace {

struct Known {
  TableMutex mutex{};
  std::map<std::string, std::unique_ptr<Device>> devices{};
};

// Never destroyed, see Registry.
Known& known() {
  static auto* const all = new Known;
  return *all;
}

void copy_text(const std::string& text, char* into, std::size_t size) {
  const std::size_t length = std::min(text.size(), size - 1);
  std::memcpy(into, text.data(), length);
  into[length] = '\0';
}

// The paths are where the kernel would have them; programs that look there find nothing, and go on.
std::unique_ptr<Device> make_device(const verbs::DeviceInfo& info, std::size_t index) {
  auto device = std::make_unique<Device>();
  const bool roce = device_kind() == verbs::DeviceKind::kRoce;
  device->node_type = roce ? IBV_NODE_CA : IBV_NODE_RNIC;
  device->transport_type = roce ? IBV_TRANSPORT_IB : IBV_TRANSPORT_IWARP;
  const std::string uverbs = "uverbs" + std::to_string(index);
  copy_text(info.name, device->name, sizeof device->name);
  copy_text(uverbs, device->dev_name, sizeof device->dev_name);
  copy_text("/sys/class/infiniband_verbs/" + uverbs, device->dev_path, sizeof device->dev_path);
  copy_text("/sys/class/infiniband/" + info.name, device->ibdev_path, sizeof device->ibdev_path);
  return device;
}

Device& enter(Known& all, verbs::DeviceInfo info) {
  auto& place = all.devices[info.name];
  if (!place) place = make_device(info, all.devices.size() - 1);
  place->info = std::move(info);
  return *place;
}

}  // namespace

bool leads_somewhere(const verbs::DeviceInfo& info) noexcept {
  return !info.interface.loopback && info.interface.up && !info.interface.addresses.empty();
}

ibv_device** get_device_list(int* count) noexcept {
  return guarded_null([&]() -> ibv_device** {
    static_cast<void>(connection_policy());  // a first call: WEFT_LOG holds from here on
    if (count != nullptr) *count = 0;
    auto found = verbs::Device::list();
    if (!found) return refused_null("ibv_get_device_list", found.error());
    // No adapter is a loopback device: UCX would take it for a second path to each peer.
    if (device_kind() == verbs::DeviceKind::kRoce && std::ranges::any_of(*found, leads_somewhere)) {
      std::erase_if(*found, [](const auto& info) { return info.interface.loopback; });
    }
    // Programs that take the first device want one that leads somewhere.
    std::ranges::sort(*found, {}, [](const auto& info) {
      const auto& interface = info.interface;
      const int rank = interface.addresses.empty() || !interface.up ? 2 : interface.loopback ? 1 : 0;
      return std::pair(rank, interface.index);
    });
    // Allocated by malloc(): qperf frees the list with free(), as rdma-core permits.
    const auto list = static_cast<ibv_device**>(std::calloc(found->size() + 1, sizeof(ibv_device*)));
    if (list == nullptr) throw std::bad_alloc();
    std::unique_ptr<ibv_device*, FreeDeviceList> until_filled(list);
    if (count != nullptr) *count = static_cast<int>(found->size());
    Known& all = known();
    const std::lock_guard lock(all.mutex);
    std::ranges::transform(*found, list, [&](auto& info) { return &enter(all, std::move(info)); });
    return until_filled.release();
  });
}

void free_device_list(ibv_device** list) noexcept { std::free(static_cast<void*>(list)); }

Device* find_device(const verbs::Address& local) {
  auto found = verbs::Device::list();
  if (!found) return nullptr;
  std::vector<transport::Interface> interfaces;
  for (const auto& info : *found) interfaces.push_back(info.interface);
  const auto owner = transport::find_owner(interfaces, local);
  if (!owner) return nullptr;
  const auto info = std::ranges::find(*found, owner->name, [](const auto& one) { return one.interface.name; });
  Known& all = known();
  const std::lock_guard lock(all.mutex);
  return &enter(all, std::move(*info));
}

std::optional<verbs::Address> device_address(const Device& device) {
  const auto& addresses = device.info.interface.addresses;
  const auto rank = [](const transport::InterfaceAddress& one) {
    const bool link_local = one.address.scope != 0;
    return one.address.family == transport::Family::kIpv4 ? 0 : link_local ? 2 : 1;
  };
  const auto best = std::ranges::min_element(addresses, {}, rank);
  return best == addresses.end() ? std::nullopt : std::optional(best->address);
}

// As siw makes it: the interface's hardware address, or its name where it has none.
std::uint64_t device_guid(const Device& device) noexcept {
  std::array<std::byte, 8> guid{};
  const auto& interface = device.info.interface;
  const bool none = interface.hardware_address == decltype(interface.hardware_address){};
  if (none) {
    std::memcpy(guid.data(), interface.name.data(), std::min(interface.name.size(), guid.size()));
  } else {
    std::ranges::copy(interface.hardware_address, guid.begin());
  }
  return std::bit_cast<std::uint64_t>(guid);
}

}  // namespace weft::compat
