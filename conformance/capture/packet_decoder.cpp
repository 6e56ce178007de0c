// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/packet_decoder.hpp"

#include <algorithm>

#include "packet/encapsulation.hpp"

namespace weft::conformance::capture {
namespace {

using packet::Unread;

// What is left of the parts after `octets` octets.
void drop_front(std::vector<Part>& parts, std::size_t octets) {
  for (Part& part : parts) {
    const std::size_t here = std::min(octets, part.octets.size());
    part.octets = part.octets.subspan(here);
    part.place.octet += static_cast<std::uint32_t>(here);
    octets -= here;
  }
  std::erase_if(parts, [](const Part& part) { return part.octets.empty(); });
}

}  // namespace

std::expected<TcpPacket, Unread> PacketDecoder::decode(const Packet& packet) {
  const auto found = find(packet, packet::kTcp);
  if (!found) return std::unexpected(found.error());
  auto decoded = decode_segment(found->ip, found->payload, found->size);
  if (decoded) decoded->number = packet.number;
  return decoded;
}

std::expected<UdpPacket, Unread> PacketDecoder::decode_datagram(const Packet& packet) {
  const auto found = find(packet, packet::kUdp);
  if (!found) return std::unexpected(found.error());
  const auto header = packet::parse_udp(found->payload, found->size);
  if (!header) return std::unexpected(header.error());
  const Bytes rest = found->payload.subspan(packet::UdpLayout::kSize);
  return UdpPacket{.path = found->ip.path,
                   .source = {found->ip.packet.source, header->source_port},
                   .destination = {found->ip.packet.destination, header->destination_port},
                   .payload_size = header->payload_size,
                   .payload = rest.first(std::min(rest.size(), header->payload_size))};
}

// An encapsulated datagram may come in fragments, and so may what it carries.
std::expected<PacketDecoder::Found, Unread> PacketDecoder::find(const Packet& packet, packet::IpProtocol protocol) {
  Source source{.octets = packet.captured};
  auto ip = protocol == packet::kTcp ? packet::find_innermost(packet.link, packet.captured, packet.original_size)
                                     : packet::find_innermost_udp(packet.link, packet.captured, packet.original_size);
  while (ip && ip->packet.fragment) {
    const std::uint8_t begins_with = ip->packet.protocol;
    if (!packet::leads_to_tcp(begins_with) && !packet::is_extension(begins_with))
      return std::unexpected(Unread::kNotTcp);
    take_parts(source, packet.number, ip->packet.payload_at, ip->packet.payload_size);
    const auto* whole = fragments_.add(ip->packet, packet.time, parts_);
    if (whole == nullptr) return std::unexpected(Unread::kFragment);
    source = {whole->payload, whole->parts};
    ip->packet.payload_at = 0;
    ip->packet.payload_size = whole->payload.size();
    ip->packet.fragment.reset();
    const auto rest = packet::skip_extensions(ip->packet, source.octets);
    if (!rest) return std::unexpected(rest.error());
    ip->packet = *rest;
    if (ip->packet.protocol != protocol && !ip->packet.fragment)
      ip = find_innermost(ip->packet, ip->path, source.octets);
  }
  if (!ip) return std::unexpected(ip.error());
  if (ip->packet.protocol != protocol) return std::unexpected(Unread::kNotTcp);
  const std::size_t size = ip->packet.payload_size;
  const std::size_t begin = std::min(ip->packet.payload_at, source.octets.size());
  const Bytes payload = source.octets.subspan(begin, std::min(size, source.octets.size() - begin));
  take_parts(source, packet.number, begin, payload.size());
  return Found{*ip, payload, size};
}

// The parts of [begin, begin + size) of the source, as far as they were captured.
void PacketDecoder::take_parts(const Source& source, std::uint64_t number, std::size_t begin, std::size_t size) {
  begin = std::min(begin, source.octets.size());
  size = std::min(size, source.octets.size() - begin);
  parts_.clear();
  if (source.parts.empty()) {
    parts_.push_back({source.octets.subspan(begin, size), {number, static_cast<std::uint32_t>(begin)}});
    return;
  }
  parts_.assign(source.parts.begin(), source.parts.end());
  drop_front(parts_, begin);
  for (Part& part : parts_) {
    part.octets = part.octets.first(std::min(part.octets.size(), size));
    size -= part.octets.size();
  }
  std::erase_if(parts_, [](const Part& part) { return part.octets.empty(); });
}

std::expected<TcpPacket, Unread> PacketDecoder::decode_segment(const packet::InnermostIp& ip, Bytes segment,
                                                               std::size_t size) {
  const auto header = packet::parse_tcp(segment, size);
  if (!header) return std::unexpected(header.error());
  drop_front(parts_, header->size);
  return TcpPacket{.path = ip.path,
                   .source = {ip.packet.source, header->source_port},
                   .destination = {ip.packet.destination, header->destination_port},
                   .header = *header,
                   .payload_size = size - header->size,
                   .payload = parts_};
}

}  // namespace weft::conformance::capture
