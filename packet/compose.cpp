// SPDX-License-Identifier: Apache-2.0
#include "packet/compose.hpp"

#include <algorithm>

#include "packet/checksum.hpp"
#include "packet/encapsulation.hpp"
#include "packet/ip.hpp"
#include "packet/tcp.hpp"

namespace weft::packet {
namespace {

void put(MutableBytes at, Bytes octets) { std::ranges::copy(octets, at.begin()); }

// Made-up addresses: a socket does not tell the real ones.
void put_ethernet(MutableBytes frame, const Segment& segment) {
  using L = EthernetLayout;
  L::DestinationFirst::put(frame, L::kLocallyAdministered);
  L::DestinationLast::put(frame, segment.destination_station);
  L::SourceFirst::put(frame, L::kLocallyAdministered);
  L::SourceLast::put(frame, segment.source_station);
  L::Type::put(frame, segment.source.address.version == 4 ? kTypeIpv4 : kTypeIpv6);
}

template <typename L>
void put_addresses(MutableBytes packet, const Segment& segment) {
  put(packet.subspan(L::kSource), Bytes(segment.source.address.octets).first(L::kAddressSize));
  put(packet.subspan(L::kDestination), Bytes(segment.destination.address.octets).first(L::kAddressSize));
}

void put_ipv4(MutableBytes packet, const Segment& segment) {
  using L = Ipv4Layout;
  L::VersionAndLength::put(packet, 0x45);
  L::TotalLength::put(packet, static_cast<std::uint16_t>(packet.size()));
  L::FlagsAndOffset::put(packet, L::kDontFragment);  // so the identification may stay 0 (RFC 6864)
  L::TimeToLive::put(packet, 64);
  L::Protocol::put(packet, kTcp);
  put_addresses<L>(packet, segment);
  L::Checksum::put(packet, fold(sum_words(packet.first(L::kSize))));
}

void put_ipv6(MutableBytes packet, const Segment& segment) {
  using L = Ipv6Layout;
  L::Version::put(packet, 0x60);
  L::PayloadLength::put(packet, static_cast<std::uint16_t>(packet.size() - L::kSize));
  L::NextHeader::put(packet, kTcp);
  L::HopLimit::put(packet, 64);
  put_addresses<L>(packet, segment);
}

void put_tcp(MutableBytes tcp_part, const Segment& segment) {
  using L = TcpLayout;
  L::SourcePort::put(tcp_part, segment.source.port);
  L::DestinationPort::put(tcp_part, segment.destination.port);
  L::Sequence::put(tcp_part, segment.sequence);
  L::Acknowledgement::put(tcp_part, segment.acknowledgement);
  L::DataOffset::put(tcp_part, static_cast<std::uint8_t>((L::kSize + segment.options.size()) / 4 << 4));
  L::Flags::put(tcp_part, segment.flags);
  L::Window::put(tcp_part, segment.window);
  put(tcp_part.subspan(L::kSize), segment.options);
}

// Over the pseudo header (addresses, protocol, length) and the whole TCP part, whose own checksum field is still zero.
// Octets that are zero add nothing, so both versions' pseudo headers come down to the same sum.
void put_tcp_checksum(MutableBytes tcp_part, const Segment& segment) {
  const std::uint64_t pseudo =
      sum_words(segment.source.address.octets) + sum_words(segment.destination.address.octets) + kTcp + tcp_part.size();
  TcpLayout::Checksum::put(tcp_part, fold(pseudo + sum_words(tcp_part)));
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
  const bool ipv4 = segment.source.address.version == 4;
  const std::size_t ip_size = ipv4 ? Ipv4Layout::kSize : Ipv6Layout::kSize;
  const std::size_t headers = EthernetLayout::kSize + ip_size + TcpLayout::kSize + segment.options.size();
  frame.resize(headers + payload_octets);
  std::fill_n(frame.begin(), headers, std::byte{0});

  const MutableBytes packet = MutableBytes(frame).subspan(EthernetLayout::kSize);
  const MutableBytes tcp_part = packet.subspan(ip_size);
  put_ethernet(frame, segment);
  (ipv4 ? put_ipv4 : put_ipv6)(packet, segment);
  put_tcp(tcp_part, segment);
  payload.take(MutableBytes(frame).subspan(headers));
  put_tcp_checksum(tcp_part, segment);
}

}  // namespace weft::packet
