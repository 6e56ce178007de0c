// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/packet_decoder.hpp"

#include <algorithm>

namespace weft::conformance::capture {
namespace {

// What is left of the parts behind `octets` octets.
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
  const auto at = find_ip(packet.link, packet.captured);
  if (!at) return std::unexpected(at.error());
  const auto ip = parse_ip(*at, packet.captured, packet.original_size);
  if (!ip) return std::unexpected(ip.error());
  if (ip->protocol != kTcp) return std::unexpected(Unread::kNotTcp);
  parts_.clear();
  Bytes segment{};
  std::size_t size = ip->payload_size;
  if (ip->fragment) {
    const auto* whole = fragments_.add(*ip, packet);
    if (whole == nullptr) return std::unexpected(Unread::kFragment);
    segment = whole->payload;
    size = segment.size();
    parts_ = whole->parts;
  } else {
    const std::size_t begin = std::min(ip->payload_at, packet.captured.size());
    segment = packet.captured.subspan(begin, std::min(size, packet.captured.size() - begin));
    parts_.push_back({segment, {packet.number, static_cast<std::uint32_t>(begin)}});
  }
  auto decoded = decode_segment(*ip, segment, size);
  if (decoded) decoded->number = packet.number;
  return decoded;
}

std::expected<TcpPacket, Unread> PacketDecoder::decode_segment(const IpPacket& ip, Bytes segment, std::size_t size) {
  const auto header = parse_tcp(segment, size);
  if (!header) return std::unexpected(header.error());
  drop_front(parts_, header->size);
  return TcpPacket{.source = ip.source,
                   .destination = ip.destination,
                   .header = *header,
                   .payload_size = size - header->size,
                   .payload = parts_};
}

}  // namespace weft::conformance::capture
