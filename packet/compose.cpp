// SPDX-License-Identifier: Apache-2.0
#include "packet/compose.hpp"

#include <algorithm>

#include "packet/checksum.hpp"
#include "packet/encapsulation.hpp"
#include "packet/ip.hpp"
#include "packet/tcp.hpp"
#include "packet/udp.hpp"

namespace weft::packet {
namespace {

// What the headers before that of the transport protocol need to know, and its checksum.
struct Way {
  const Endpoint& source;
  const Endpoint& destination;
  std::uint8_t source_station;
  std::uint8_t destination_station;
  std::uint8_t protocol;

  [[nodiscard]] bool ipv4() const noexcept { return source.address.version == 4; }
};

Way way_of(const auto& part, std::uint8_t protocol) {
  return {part.source, part.destination, part.source_station, part.destination_station, protocol};
}

void put(MutableBytes at, Bytes octets) { std::ranges::copy(octets, at.begin()); }

// Made-up addresses: a socket does not tell the real ones.
void put_ethernet(MutableBytes frame, const Way& way) {
  using L = EthernetLayout;
  L::DestinationFirst::put(frame, L::kLocallyAdministered);
  L::DestinationLast::put(frame, way.destination_station);
  L::SourceFirst::put(frame, L::kLocallyAdministered);
  L::SourceLast::put(frame, way.source_station);
  L::Type::put(frame, way.ipv4() ? kTypeIpv4 : kTypeIpv6);
}

template <typename L>
void put_addresses(MutableBytes packet, const Way& way) {
  put(packet.subspan(L::kSource), Bytes(way.source.address.octets).first(L::kAddressSize));
  put(packet.subspan(L::kDestination), Bytes(way.destination.address.octets).first(L::kAddressSize));
}

void put_ipv4(MutableBytes packet, const Way& way) {
  using L = Ipv4Layout;
  L::VersionAndLength::put(packet, 0x45);
  L::TotalLength::put(packet, static_cast<std::uint16_t>(packet.size()));
  L::FlagsAndOffset::put(packet, L::kDontFragment);  // so the identification may stay 0 (RFC 6864)
  L::TimeToLive::put(packet, 64);
  L::Protocol::put(packet, way.protocol);
  put_addresses<L>(packet, way);
  L::Checksum::put(packet, fold(sum_words(packet.first(L::kSize))));
}

void put_ipv6(MutableBytes packet, const Way& way) {
  using L = Ipv6Layout;
  L::Version::put(packet, 0x60);
  L::PayloadLength::put(packet, static_cast<std::uint16_t>(packet.size() - L::kSize));
  L::NextHeader::put(packet, way.protocol);
  L::HopLimit::put(packet, 64);
  put_addresses<L>(packet, way);
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

// Its own checksum field is still zero.
std::uint16_t checksum_of(Bytes part, const Way& way) {
  return transport_checksum(way.source.address, way.destination.address, way.protocol, part);
}

// The headers before the transport part, and the payload after its header of `header_octets`, which is zero. Returns
// that part.
MutableBytes put_around(std::vector<std::byte>& frame, const Way& way, std::size_t header_octets, PieceReader& payload,
                        std::size_t payload_octets) {
  const std::size_t ip_size = way.ipv4() ? Ipv4Layout::kSize : Ipv6Layout::kSize;
  const std::size_t headers = EthernetLayout::kSize + ip_size + header_octets;
  frame.resize(headers + payload_octets);
  std::fill_n(frame.begin(), headers, std::byte{0});
  const MutableBytes packet = MutableBytes(frame).subspan(EthernetLayout::kSize);
  put_ethernet(frame, way);
  (way.ipv4() ? put_ipv4 : put_ipv6)(packet, way);
  payload.take(MutableBytes(frame).subspan(headers));
  return packet.subspan(ip_size);
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
  const Way way = way_of(segment, kTcp);
  const MutableBytes part = put_around(frame, way, TcpLayout::kSize + segment.options.size(), payload, payload_octets);
  put_tcp(part, segment);
  TcpLayout::Checksum::put(part, checksum_of(part, way));
}

// RFC 768: a checksum that is zero is sent as all ones, because zero says that there is none.
void compose(std::vector<std::byte>& frame, const Datagram& datagram, PieceReader& payload,
             std::size_t payload_octets) {
  const Way way = way_of(datagram, kUdp);
  const MutableBytes part = put_around(frame, way, UdpLayout::kSize, payload, payload_octets);
  serialize({.source_port = datagram.source.port,
             .destination_port = datagram.destination.port,
             .payload_size = payload_octets},
            part);
  const std::uint16_t checksum = checksum_of(part, way);
  UdpLayout::Checksum::put(part, checksum == 0 ? std::uint16_t{0xffff} : checksum);
}

}  // namespace weft::packet
