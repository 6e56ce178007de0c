// SPDX-License-Identifier: Apache-2.0
#include "packet/link_layer.hpp"

#include <bit>

namespace weft::packet {
namespace {

// Layouts as the link types' registry describes them (tcpdump.org/linktypes). What follows is told by an EtherType at
// `protocol`; the header is `size` octets long.
struct LinkLayout {
  std::size_t protocol{};
  std::size_t size{};
};
constexpr LinkLayout kEthernet{12, EthernetLayout::kSize};
constexpr LinkLayout kLinuxCooked{14, 16};
constexpr LinkLayout kLinuxCooked2{0, 20};
constexpr std::size_t kFamilySize = 4;

Stepped step_layout(const LinkLayout& layout, HeaderCursor& cursor) noexcept {
  if (!cursor.has(layout.size)) return std::unexpected(Unread::kMalformed);
  const std::uint16_t type = Be<0, std::uint16_t>::get(cursor.rest().subspan(layout.protocol));
  cursor.at += layout.size;
  return NextHeader{NextHeader::kEtherType, type};
}

// Address families are numbers of the operating system that captured; for DLT_NULL also in its byte order.
Stepped step_family(HeaderCursor& cursor) noexcept {
  if (!cursor.has(kFamilySize)) return std::unexpected(Unread::kMalformed);
  std::uint32_t family = Be<0, std::uint32_t>::get(cursor.rest());
  if ((family & 0xffffU) == 0) family = std::byteswap(family);
  const bool ipv4 = family == 2;
  const bool ipv6 = family == 10 || family == 24 || family == 28 || family == 30;
  if (!ipv4 && !ipv6) return std::unexpected(Unread::kNotTcp);
  cursor.at += kFamilySize;
  return NextHeader{NextHeader::kIp};
}

}  // namespace

Stepped step_ethernet(HeaderCursor& cursor) noexcept { return step_layout(kEthernet, cursor); }

Stepped step_link(LinkType link, HeaderCursor& cursor) noexcept {
  switch (link) {
    case LinkType::kEthernet: return step_layout(kEthernet, cursor);
    case LinkType::kLinuxCooked: return step_layout(kLinuxCooked, cursor);
    case LinkType::kLinuxCooked2: return step_layout(kLinuxCooked2, cursor);
    case LinkType::kNull:
    case LinkType::kLoop: return step_family(cursor);
    case LinkType::kRawIp:
    case LinkType::kIpv4:
    case LinkType::kIpv6: return NextHeader{NextHeader::kIp};
    case LinkType::kUnknown: break;
  }
  return std::unexpected(Unread::kNotTcp);
}

}  // namespace weft::packet
