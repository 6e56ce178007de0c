// SPDX-License-Identifier: Apache-2.0
#include "transport/interfaces.hpp"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>
#include <map>
#include <memory>

#include "transport/detail/last_error.hpp"

namespace weft::transport {
namespace {

class Descriptor {
 public:
  explicit Descriptor(int descriptor) noexcept : value(descriptor) {}
  ~Descriptor() {
    if (value >= 0) ::close(value);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  const int value;
};

// Interface queries take any socket; a host may lack one of the families.
int open_query_socket() {
  const int v4 = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  return v4 >= 0 ? v4 : socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
}

// 0: there is no such interface any more. if_nametoindex(3) would open a socket of its own.
std::uint32_t query_index(int query, std::string_view name) {
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  return ioctl(query, SIOCGIFINDEX, &request) == 0 ? static_cast<std::uint32_t>(request.ifr_ifindex) : 0;
}

std::uint32_t query_mtu(int query, const std::string& name) {
  ifreq request{};
  name.copy(request.ifr_name, IFNAMSIZ - 1);
  return ioctl(query, SIOCGIFMTU, &request) == 0 ? static_cast<std::uint32_t>(request.ifr_mtu) : 0;
}

std::uint8_t prefix_length(const sockaddr* netmask, Family family) {
  // A netmask's family is not always filled in; the address's family tells where its octets lie.
  sockaddr_storage mask{};
  if (netmask == nullptr) return 0;
  std::memcpy(&mask, netmask, family == Family::kIpv4 ? sizeof(sockaddr_in) : sizeof(sockaddr_in6));
  mask.ss_family = family == Family::kIpv4 ? AF_INET : AF_INET6;
  const auto endpoint = Endpoint::from_sockaddr(reinterpret_cast<const sockaddr*>(&mask), sizeof mask);
  int bits = 0;
  for (const std::byte octet : endpoint->address.octets) bits += std::popcount(std::to_integer<unsigned>(octet));
  return static_cast<std::uint8_t>(bits);
}

void add_hardware_address(Interface& interface, const sockaddr* address) {
  sockaddr_ll link{};
  std::memcpy(&link, address, sizeof link);
  if (link.sll_halen != interface.hardware_address.size()) return;
  std::memcpy(interface.hardware_address.data(), link.sll_addr, interface.hardware_address.size());
}

void add_address(Interface& interface, const ifaddrs& entry) {
  if (entry.ifa_addr == nullptr) return;
  if (entry.ifa_addr->sa_family == AF_PACKET) return add_hardware_address(interface, entry.ifa_addr);
  const auto endpoint = Endpoint::from_sockaddr(entry.ifa_addr, sizeof(sockaddr_in6));
  if (!endpoint) return;  // a family that is not IP
  interface.addresses.push_back({endpoint->address, prefix_length(entry.ifa_netmask, endpoint->address.family)});
}

bool owns(const Interface& interface, const Address& local) {
  if (interface.loopback && local.is_loopback() && local.family == Family::kIpv4) return true;
  return std::ranges::any_of(interface.addresses, [&](const InterfaceAddress& own) {
    // Without a scope a link-local address matches on the first interface that has it.
    return own.address.octets == local.octets && own.address.family == local.family &&
           (local.scope == 0 || own.address.scope == local.scope);
  });
}

}  // namespace

std::expected<std::vector<Interface>, std::error_code> enumerate_interfaces() {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return std::unexpected(last_error());
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  const Descriptor query(open_query_socket());
  if (query.value < 0) return std::unexpected(last_error());
  std::map<std::uint32_t, Interface> by_index;
  for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
    const std::uint32_t index = query_index(query.value, entry->ifa_name);
    if (index == 0) continue;  // gone since
    Interface& interface = by_index[index];
    if (interface.index == 0) {
      interface.name = entry->ifa_name;
      interface.index = index;
      interface.mtu = query_mtu(query.value, interface.name);
      interface.up = (entry->ifa_flags & IFF_UP) != 0 && (entry->ifa_flags & IFF_RUNNING) != 0;
      interface.loopback = (entry->ifa_flags & IFF_LOOPBACK) != 0;
    }
    add_address(interface, *entry);
  }
  std::vector<Interface> interfaces;
  for (auto& [index, interface] : by_index) interfaces.push_back(std::move(interface));
  return interfaces;
}

std::optional<Interface> find_owner(const std::vector<Interface>& interfaces, const Address& local) {
  if (local.is_any()) return std::nullopt;
  const auto owner = std::ranges::find_if(interfaces, [&](const Interface& each) { return owns(each, local); });
  if (owner == interfaces.end()) return std::nullopt;
  return *owner;
}

}  // namespace weft::transport
