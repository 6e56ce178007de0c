// SPDX-License-Identifier: Apache-2.0
#include "packet/ip.hpp"

#include <arpa/inet.h>

#include <algorithm>
#include <array>

namespace weft::packet {
namespace {

// RFC 8200 section 4: what all extension headers begin with, and the Fragment header (4.5).
struct ExtensionLayout {
  using NextHeader = Be<0, std::uint8_t>;
  using Length = Be<1, std::uint8_t>;
  using FragmentOffset = Be<2, std::uint16_t>;
  using Identification = Be<4, std::uint32_t>;
  static constexpr std::size_t kSize = 8;  // at least
  static constexpr std::uint16_t kMoreFragments = 1;
  static constexpr std::uint16_t kOffsetMask = 0xfff8;
};
enum Extension : std::uint8_t {
  kHopByHop = 0,
  kRouting = 43,
  kFragment = 44,
  kAuthentication = 51,
  kDestinationOptions = 60,
  kMobility = 135,
  kHostIdentity = 139,
  kShim6 = 140,
};

// No packet is larger (Linux' "big TCP" stops at half of it), whatever the capture says: that is only a number in a
// file.
constexpr std::size_t kLargest = 1 << 20;

// Zero where the length does not fit: TCP segmentation in the network card, packets beyond 64 KiB (RFC 2675).
std::size_t claimed_or_rest(std::size_t claimed, std::size_t rest) noexcept {
  return claimed == 0 ? rest : std::min(claimed, rest);
}

// `sent`: octets from the cursor to the end of the packet.
std::expected<IpPacket, Unread> parse_ipv4(const HeaderCursor& cursor, std::size_t sent) noexcept {
  using L = Ipv4Layout;
  if (!cursor.has(L::kSize)) return std::unexpected(Unread::kMalformed);
  const Bytes octets = cursor.rest();
  const std::size_t header = L::size_of(octets);
  const std::size_t total = claimed_or_rest(L::TotalLength::get(octets), sent);
  if (header < L::kSize || header > total) return std::unexpected(Unread::kMalformed);
  IpPacket packet{.source = address(octets.subspan(L::kSource), 4),
                  .destination = address(octets.subspan(L::kDestination), 4),
                  .protocol = L::Protocol::get(octets),
                  .payload_at = cursor.at + header,
                  .payload_size = total - header};
  const std::uint16_t flags = L::FlagsAndOffset::get(octets);
  const bool more = (flags & L::kMoreFragments) != 0;
  const std::uint32_t offset = (flags & L::kOffsetMask) * 8U;
  if (more || offset != 0) packet.fragment = Fragment{L::Identification::get(octets), offset, more};
  return packet;
}

// Octets of an extension header whose second octet is `length`; 0 when it is none that may stand before TCP.
std::size_t extension_size(std::uint8_t kind, std::size_t length) noexcept {
  switch (kind) {
    case kHopByHop:
    case kRouting:
    case kDestinationOptions:
    case kMobility:
    case kHostIdentity:
    case kShim6: return (length + 1) * 8;
    case kAuthentication: return (length + 2) * 4;  // RFC 4302 section 2.2
    case kFragment: return ExtensionLayout::kSize;
    default: return 0;
  }
}

std::optional<Fragment> fragment(Bytes header) noexcept {
  using L = ExtensionLayout;
  const std::uint16_t word = L::FragmentOffset::get(header);
  const bool more = (word & L::kMoreFragments) != 0;
  const std::uint32_t offset = word & L::kOffsetMask;
  if (!more && offset == 0) return std::nullopt;  // an "atomic fragment" (RFC 6946) is whole
  return Fragment{L::Identification::get(header), offset, more};
}

std::expected<IpPacket, Unread> parse_ipv6(const HeaderCursor& cursor, std::size_t sent) noexcept {
  using L = Ipv6Layout;
  if (!cursor.has(L::kSize)) return std::unexpected(Unread::kMalformed);
  const Bytes octets = cursor.rest();
  return skip_extensions({.source = address(octets.subspan(L::kSource), 6),
                          .destination = address(octets.subspan(L::kDestination), 6),
                          .protocol = L::NextHeader::get(octets),
                          .payload_at = cursor.at + L::kSize,
                          .payload_size = claimed_or_rest(L::PayloadLength::get(octets), sent - L::kSize)},
                         cursor.captured);
}

}  // namespace

Address address(Bytes octets, std::uint8_t version) noexcept {
  Address address{.version = version};
  std::ranges::copy(octets.first(version == 4 ? Ipv4Layout::kAddressSize : Ipv6Layout::kAddressSize),
                    address.octets.begin());
  return address;
}

bool is_extension(std::uint8_t protocol) noexcept { return extension_size(protocol, 0) != 0; }

// Ends where the packet's headers end, or at the header of a fragment: what follows belongs to a datagram.
std::expected<IpPacket, Unread> skip_extensions(IpPacket packet, Bytes captured) noexcept {
  while (is_extension(packet.protocol)) {
    const Bytes octets = captured.subspan(std::min(packet.payload_at, captured.size()));
    if (octets.size() < ExtensionLayout::kSize) return std::unexpected(Unread::kMalformed);
    const std::size_t size = extension_size(packet.protocol, ExtensionLayout::Length::get(octets));
    if (size > packet.payload_size) return std::unexpected(Unread::kMalformed);
    if (packet.protocol == kFragment) packet.fragment = fragment(octets);
    packet.protocol = ExtensionLayout::NextHeader::get(octets);
    packet.payload_at += size;
    packet.payload_size -= size;
    if (packet.fragment) break;
  }
  return packet;
}

std::expected<IpPacket, Unread> parse_ip(const HeaderCursor& cursor) noexcept {
  const std::size_t sent = std::max(std::min(cursor.original, kLargest), cursor.captured.size()) - cursor.at;
  switch (ip_version(cursor.rest())) {
    case 4: return parse_ipv4(cursor, sent);
    case 6: return parse_ipv6(cursor, sent);
    default: return std::unexpected(Unread::kMalformed);
  }
}

std::string in_words(const Address& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(address.version == 6 ? AF_INET6 : AF_INET, address.octets.data(), text.data(), text.size());
  return text.data();
}

}  // namespace weft::packet
