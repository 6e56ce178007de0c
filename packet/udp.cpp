// SPDX-License-Identifier: Apache-2.0
#include "packet/udp.hpp"

namespace weft::packet {

std::expected<UdpHeader, Unread> parse_udp(Bytes octets, std::size_t original_size) noexcept {
  using L = UdpLayout;
  if (octets.size() < L::kSize) return std::unexpected(Unread::kMalformed);
  const std::size_t length = L::Length::get(octets);
  if (length < L::kSize || length > original_size) return std::unexpected(Unread::kMalformed);
  return UdpHeader{.source_port = L::SourcePort::get(octets),
                   .destination_port = L::DestinationPort::get(octets),
                   .payload_size = length - L::kSize};
}

void serialize(const UdpHeader& header, MutableBytes out) noexcept {
  using L = UdpLayout;
  L::SourcePort::put(out, header.source_port);
  L::DestinationPort::put(out, header.destination_port);
  L::Length::put(out, static_cast<std::uint16_t>(L::kSize + header.payload_size));
  L::Checksum::put(out, 0);
}

}  // namespace weft::packet
