// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/ip_packet.hpp"

#include <tins/ip_address.h>
#include <tins/ipv6_address.h>

#include <algorithm>
#include <cstring>

namespace weft::conformance::capture {
namespace {

// RFC 791 section 3.1.
struct Ipv4Layout {
  using VersionAndLength = Be<0, std::uint8_t>;
  using TotalLength = Be<2, std::uint16_t>;
  using Identification = Be<4, std::uint16_t>;
  using FlagsAndOffset = Be<6, std::uint16_t>;
  using Protocol = Be<9, std::uint8_t>;
  static constexpr std::size_t kSource = 12;
  static constexpr std::size_t kDestination = 16;
  static constexpr std::size_t kSize = 20;  // without options
  static constexpr std::uint16_t kMoreFragments = 0x2000;
  static constexpr std::uint16_t kOffsetMask = 0x1fff;  // in units of eight octets
};

// RFC 8200 section 3.
struct Ipv6Layout {
  using PayloadLength = Be<4, std::uint16_t>;
  using NextHeader = Be<6, std::uint8_t>;
  static constexpr std::size_t kSource = 8;
  static constexpr std::size_t kDestination = 24;
  static constexpr std::size_t kSize = 40;
};

// Section 4: what all extension headers begin with, and the Fragment header (4.5).
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

Address address(Bytes octets, std::uint8_t version) noexcept {
  Address address{.version = version};
  std::ranges::copy(octets.first(version == 4 ? 4 : 16), address.octets.begin());
  return address;
}

// No packet is larger (Linux' "big TCP" stops at half of it), whatever the capture says: that is only a number in a
// file.
constexpr std::size_t kLargest = 1 << 20;

// Zero where the length does not fit: TCP segmentation in the network card, packets beyond 64 KiB (RFC 2675).
std::size_t claimed_or_rest(std::size_t claimed, std::size_t rest) noexcept {
  return claimed == 0 ? rest : std::min(claimed, rest);
}

std::expected<IpPacket, Unread> parse_ipv4(std::size_t at, Bytes captured, std::size_t original_size) noexcept {
  using L = Ipv4Layout;
  const Bytes octets = captured.subspan(std::min(at, captured.size()));
  if (octets.size() < L::kSize || L::VersionAndLength::get(octets) >> 4 != 4)
    return std::unexpected(Unread::kMalformed);
  const std::size_t header = std::size_t{4} * (L::VersionAndLength::get(octets) & 0xfU);
  const std::size_t total = claimed_or_rest(L::TotalLength::get(octets), original_size - at);
  if (header < L::kSize || header > total) return std::unexpected(Unread::kMalformed);
  IpPacket packet{.source = address(octets.subspan(L::kSource), 4),
                  .destination = address(octets.subspan(L::kDestination), 4),
                  .protocol = L::Protocol::get(octets),
                  .payload_at = at + header,
                  .payload_size = total - header};
  const std::uint16_t flags = L::FlagsAndOffset::get(octets);
  const bool more = (flags & L::kMoreFragments) != 0;
  const std::uint32_t offset = (flags & L::kOffsetMask) * 8U;
  if (more || offset != 0) packet.fragment = Fragment{L::Identification::get(octets), offset, more};
  return packet;
}

// Octets of an extension header; 0 when it is none that may stand before TCP.
std::size_t extension_size(std::uint8_t kind, Bytes octets) noexcept {
  const std::size_t length = ExtensionLayout::Length::get(octets);
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

bool is_extension(std::uint8_t kind) noexcept {
  constexpr std::array kKinds{kHopByHop,           kRouting,  kFragment,     kAuthentication,
                              kDestinationOptions, kMobility, kHostIdentity, kShim6};
  return std::ranges::find(kKinds, kind) != kKinds.end();
}

std::optional<Fragment> fragment(Bytes header) noexcept {
  using L = ExtensionLayout;
  const std::uint16_t word = L::FragmentOffset::get(header);
  const bool more = (word & L::kMoreFragments) != 0;
  const std::uint32_t offset = word & L::kOffsetMask;
  if (!more && offset == 0) return std::nullopt;  // an "atomic fragment" (RFC 6946) is whole
  return Fragment{L::Identification::get(header), offset, more};
}

// Ends where the packet's headers end, or at the header of a fragment: what follows belongs to a datagram.
std::expected<IpPacket, Unread> skip_extensions(IpPacket packet, Bytes captured) noexcept {
  while (is_extension(packet.protocol)) {
    const Bytes octets = captured.subspan(std::min(packet.payload_at, captured.size()));
    if (octets.size() < ExtensionLayout::kSize) return std::unexpected(Unread::kMalformed);
    const std::size_t size = extension_size(packet.protocol, octets);
    if (size > packet.payload_size) return std::unexpected(Unread::kMalformed);
    if (packet.protocol == kFragment) packet.fragment = fragment(octets);
    packet.protocol = ExtensionLayout::NextHeader::get(octets);
    packet.payload_at += size;
    packet.payload_size -= size;
    if (packet.fragment) break;
  }
  return packet;
}

std::expected<IpPacket, Unread> parse_ipv6(std::size_t at, Bytes captured, std::size_t original_size) noexcept {
  using L = Ipv6Layout;
  const Bytes octets = captured.subspan(std::min(at, captured.size()));
  if (octets.size() < L::kSize || std::to_integer<unsigned>(octets[0] >> 4) != 6) {
    return std::unexpected(Unread::kMalformed);
  }
  const std::size_t rest = original_size - at - L::kSize;
  return skip_extensions({.source = address(octets.subspan(L::kSource), 6),
                          .destination = address(octets.subspan(L::kDestination), 6),
                          .protocol = L::NextHeader::get(octets),
                          .payload_at = at + L::kSize,
                          .payload_size = claimed_or_rest(L::PayloadLength::get(octets), rest)},
                         captured);
}

}  // namespace

std::expected<IpPacket, Unread> parse_ip(IpAt at, Bytes captured, std::size_t original_size) noexcept {
  const std::size_t size = std::max(std::min(original_size, kLargest), captured.size());
  return at.version == 4 ? parse_ipv4(at.offset, captured, size) : parse_ipv6(at.offset, captured, size);
}

std::string in_words(const Address& address) {
  if (address.version == 6) {
    return Tins::IPv6Address(reinterpret_cast<const std::uint8_t*>(address.octets.data())).to_string();
  }
  std::uint32_t word{};
  std::memcpy(&word, address.octets.data(), sizeof word);  // libtins takes it in network byte order
  return Tins::IPv4Address(word).to_string();
}

}  // namespace weft::conformance::capture
