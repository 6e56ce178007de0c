// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/link_layer.hpp"

#include <bit>

namespace weft::conformance::capture {
namespace {

// Layouts as the link types' registry describes them (tcpdump.org/linktypes). What follows is told by an EtherType at
// `protocol`; the header is `size` octets long.
struct LinkLayout {
  std::size_t protocol{};
  std::size_t size{};
};
constexpr LinkLayout kEthernet{12, 14};
constexpr LinkLayout kLinuxCooked{14, 16};
constexpr LinkLayout kLinuxCooked2{0, 20};
constexpr LinkLayout kVlanTag{2, 4};  // tag control, EtherType of what is tagged
constexpr std::size_t kFamilySize = 4;

constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kIpv6 = 0x86dd;
constexpr bool is_vlan(std::uint16_t type) noexcept {
  return type == 0x8100 || type == 0x88a8 || type == 0x9100 || type == 0x9200;  // 802.1Q, 802.1ad, and QinQ before it
}

std::expected<IpAt, Unread> behind_ether_type(const LinkLayout& layout, Bytes captured) noexcept {
  if (captured.size() < layout.size) return std::unexpected(Unread::kMalformed);
  std::uint16_t type = Be<0, std::uint16_t>::get(captured.subspan(layout.protocol));
  std::size_t at = layout.size;
  for (; is_vlan(type); at += kVlanTag.size) {
    if (captured.size() - at < kVlanTag.size) return std::unexpected(Unread::kMalformed);
    type = Be<kVlanTag.protocol, std::uint16_t>::get(captured.subspan(at));
  }
  if (type == kIpv4) return IpAt{4, at};
  if (type == kIpv6) return IpAt{6, at};
  return std::unexpected(Unread::kNotTcp);
}

// IP tells its version itself.
std::expected<IpAt, Unread> behind_nothing(std::size_t at, Bytes captured) noexcept {
  if (captured.size() <= at) return std::unexpected(Unread::kMalformed);
  const auto version = std::to_integer<std::uint8_t>(captured[at] >> 4);
  if (version == 4 || version == 6) return IpAt{version, at};
  return std::unexpected(Unread::kMalformed);
}

// Address families are numbers of the operating system that captured; for DLT_NULL also in its byte order.
std::expected<IpAt, Unread> behind_family(Bytes captured) noexcept {
  if (captured.size() < kFamilySize) return std::unexpected(Unread::kMalformed);
  std::uint32_t family = Be<0, std::uint32_t>::get(captured);
  if ((family & 0xffffU) == 0) family = std::byteswap(family);
  const bool ipv4 = family == 2;
  const bool ipv6 = family == 10 || family == 24 || family == 28 || family == 30;
  if (!ipv4 && !ipv6) return std::unexpected(Unread::kNotTcp);
  return behind_nothing(kFamilySize, captured);
}

}  // namespace

std::expected<IpAt, Unread> find_ip(LinkType link, Bytes captured) noexcept {
  switch (link) {
    case LinkType::kEthernet: return behind_ether_type(kEthernet, captured);
    case LinkType::kLinuxCooked: return behind_ether_type(kLinuxCooked, captured);
    case LinkType::kLinuxCooked2: return behind_ether_type(kLinuxCooked2, captured);
    case LinkType::kNull:
    case LinkType::kLoop: return behind_family(captured);
    case LinkType::kRawIp:
    case LinkType::kIpv4:
    case LinkType::kIpv6: return behind_nothing(0, captured);
  }
  return std::unexpected(Unread::kNotTcp);
}

}  // namespace weft::conformance::capture
