// SPDX-License-Identifier: Apache-2.0
//
//   | Ethernet II, 14 octets | IPv4, 20 (RFC 791) or IPv6, 40 (RFC 8200) | TCP, 20 + options (RFC 9293) | payload |
#include "transport/detail/packet.hpp"

#include <algorithm>

namespace weft::transport::detail {
namespace {

constexpr std::size_t kEthernetSize = 14;
constexpr std::size_t kIpv4Size = 20;
constexpr std::size_t kIpv6Size = 40;
constexpr std::size_t kTcpSize = 20;
constexpr std::uint8_t kTcpProtocol = 6;

namespace ethernet {
// Made-up, locally administered addresses 02:00:00:00:00:00: a socket does not tell the real ones.
using DestinationFirst = Be<0, std::uint8_t>;
using SourceFirst = Be<6, std::uint8_t>;
using Type = Be<12, std::uint16_t>;
constexpr std::uint8_t kLocallyAdministered = 0x02;
constexpr std::uint16_t kIpv4 = 0x0800;
constexpr std::uint16_t kIpv6 = 0x86DD;
}  // namespace ethernet

namespace ipv4 {
using VersionAndLength = Be<0, std::uint8_t>;
using TotalLength = Be<2, std::uint16_t>;
using FlagsAndFragment = Be<6, std::uint16_t>;
using TimeToLive = Be<8, std::uint8_t>;
using Protocol = Be<9, std::uint8_t>;
using Checksum = Be<10, std::uint16_t>;
constexpr std::size_t kSource = 12;
constexpr std::size_t kDestination = 16;
constexpr std::size_t kAddressSize = 4;
}  // namespace ipv4

namespace ipv6 {
using Version = Be<0, std::uint8_t>;
using PayloadLength = Be<4, std::uint16_t>;
using NextHeader = Be<6, std::uint8_t>;
using HopLimit = Be<7, std::uint8_t>;
constexpr std::size_t kSource = 8;
constexpr std::size_t kDestination = 24;
constexpr std::size_t kAddressSize = 16;
}  // namespace ipv6

namespace tcp {
using SourcePort = Be<0, std::uint16_t>;
using DestinationPort = Be<2, std::uint16_t>;
using Sequence = Be<4, std::uint32_t>;
using Acknowledgement = Be<8, std::uint32_t>;
using DataOffset = Be<12, std::uint8_t>;  // in words of four octets, in the upper half
using Flags = Be<13, std::uint8_t>;
using Window = Be<14, std::uint16_t>;
using Checksum = Be<16, std::uint16_t>;
}  // namespace tcp

// The Internet checksum (RFC 1071) before folding; an odd last octet is padded with zero.
std::uint64_t sum_words(Bytes octets) {
  std::uint64_t sum = 0;
  std::size_t i = 0;
  for (; i + 1 < octets.size(); i += 2) {
    sum += std::to_integer<std::uint64_t>(octets[i]) << 8 | std::to_integer<std::uint64_t>(octets[i + 1]);
  }
  if (i < octets.size()) sum += std::to_integer<std::uint64_t>(octets[i]) << 8;
  return sum;
}

std::uint16_t fold(std::uint64_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

void put(MutableBytes at, Bytes octets) { std::ranges::copy(octets, at.begin()); }

void put_ethernet(MutableBytes frame, Family family) {
  ethernet::DestinationFirst::put(frame, ethernet::kLocallyAdministered);
  ethernet::SourceFirst::put(frame, ethernet::kLocallyAdministered);
  ethernet::Type::put(frame, family == Family::kIpv4 ? ethernet::kIpv4 : ethernet::kIpv6);
}

void put_ipv4(MutableBytes packet, const Segment& segment) {
  ipv4::VersionAndLength::put(packet, 0x45);
  ipv4::TotalLength::put(packet, static_cast<std::uint16_t>(packet.size()));
  ipv4::FlagsAndFragment::put(packet, 0x4000);  // Don't Fragment; so the identification may stay 0 (RFC 6864)
  ipv4::TimeToLive::put(packet, 64);
  ipv4::Protocol::put(packet, kTcpProtocol);
  put(packet.subspan(ipv4::kSource), Bytes(segment.source.address.octets).first(ipv4::kAddressSize));
  put(packet.subspan(ipv4::kDestination), Bytes(segment.destination.address.octets).first(ipv4::kAddressSize));
  ipv4::Checksum::put(packet, fold(sum_words(packet.first(kIpv4Size))));
}

void put_ipv6(MutableBytes packet, const Segment& segment) {
  ipv6::Version::put(packet, 0x60);
  ipv6::PayloadLength::put(packet, static_cast<std::uint16_t>(packet.size() - kIpv6Size));
  ipv6::NextHeader::put(packet, kTcpProtocol);
  ipv6::HopLimit::put(packet, 64);
  put(packet.subspan(ipv6::kSource), Bytes(segment.source.address.octets).first(ipv6::kAddressSize));
  put(packet.subspan(ipv6::kDestination), Bytes(segment.destination.address.octets).first(ipv6::kAddressSize));
}

void put_tcp(MutableBytes tcp_part, const Segment& segment) {
  tcp::SourcePort::put(tcp_part, segment.source.port);
  tcp::DestinationPort::put(tcp_part, segment.destination.port);
  tcp::Sequence::put(tcp_part, segment.sequence);
  tcp::Acknowledgement::put(tcp_part, segment.acknowledgement);
  tcp::DataOffset::put(tcp_part, static_cast<std::uint8_t>((kTcpSize + segment.options.size()) / 4 << 4));
  tcp::Flags::put(tcp_part, segment.flags);
  tcp::Window::put(tcp_part, segment.window);
  put(tcp_part.subspan(kTcpSize), segment.options);
}

// Over the pseudo header (addresses, protocol, length) and the whole TCP part, whose own checksum field is still zero.
// Octets that are zero add nothing, so both families' pseudo headers come down to the same sum.
void put_tcp_checksum(MutableBytes tcp_part, const Segment& segment) {
  const std::uint64_t pseudo = sum_words(segment.source.address.octets) +
                               sum_words(segment.destination.address.octets) + kTcpProtocol + tcp_part.size();
  tcp::Checksum::put(tcp_part, fold(pseudo + sum_words(tcp_part)));
}

}  // namespace

std::size_t PieceReader::left() const noexcept {
  std::size_t octets = 0;
  for (const Bytes piece : pieces_) octets += piece.size();
  return octets - taken_of_first_;
}

void PieceReader::take(MutableBytes into) noexcept {
  while (!into.empty()) {
    const Bytes first = pieces_.front().subspan(taken_of_first_);
    const std::size_t count = std::min(first.size(), into.size());
    std::ranges::copy(first.first(count), into.begin());
    into = into.subspan(count);
    taken_of_first_ += count;
    if (count == first.size()) {
      pieces_ = pieces_.subspan(1);
      taken_of_first_ = 0;
    }
  }
}

void compose(std::vector<std::byte>& frame, const Segment& segment, PieceReader& payload, std::size_t payload_octets) {
  const Family family = segment.source.address.family;
  const std::size_t ip_size = family == Family::kIpv4 ? kIpv4Size : kIpv6Size;
  const std::size_t headers = kEthernetSize + ip_size + kTcpSize + segment.options.size();
  frame.resize(headers + payload_octets);
  std::fill_n(frame.begin(), headers, std::byte{0});

  const MutableBytes packet = MutableBytes(frame).subspan(kEthernetSize);
  const MutableBytes tcp_part = packet.subspan(ip_size);
  put_ethernet(frame, family);
  if (family == Family::kIpv4) {
    put_ipv4(packet, segment);
  } else {
    put_ipv6(packet, segment);
  }
  put_tcp(tcp_part, segment);
  payload.take(MutableBytes(frame).subspan(headers));
  put_tcp_checksum(tcp_part, segment);
}

}  // namespace weft::transport::detail
