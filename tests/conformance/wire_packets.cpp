// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/wire_packets.hpp"

#include "packet/compose.hpp"
#include "packet/ip.hpp"
#include "packet/tcp.hpp"

namespace weft::conformance::testing {
namespace {

using packet::Ipv4Layout, packet::Ipv6Layout;

packet::Endpoint end(const Segment& segment, bool server, std::uint8_t version) {
  packet::Endpoint end{.address = {.version = version}, .port = server ? segment.server_port : segment.client_port};
  end.address.octets[0] = version == 4 ? std::byte{0x0a} : std::byte{0xfd};
  end.address.octets[version == 4 ? 3 : 15] = server ? std::byte{2} : std::byte{1};
  return end;
}

// Without the link layer.
Octets ip_packet(const Segment& segment, std::uint8_t version) {
  Octets options;
  if (segment.mss) {
    append(options, 0x010303070204, 6);  // no-operation, window scale, MSS
    append(options, *segment.mss, 2);
  }
  const auto source = end(segment, segment.from_server, version),
             destination = end(segment, !segment.from_server, version);
  const unsigned flags =
      (segment.fin ? 1U : 0U) | (segment.syn ? 2U : 0U) | (segment.rst ? 4U : 0U) | (segment.ack ? 16U : 0U);
  const Bytes payload = std::as_bytes(std::span(segment.payload));
  packet::PieceReader pieces({&payload, 1});
  Octets frame;
  packet::compose(frame,
                  {.source = source,
                   .destination = destination,
                   .sequence = segment.sequence,
                   .acknowledgement = segment.ack ? segment.acknowledgement : 0,
                   .flags = static_cast<std::uint8_t>(flags),
                   .window = 0xffff,
                   .options = options},
                  pieces, payload.size());
  frame.erase(frame.begin(), frame.begin() + packet::EthernetLayout::kSize);
  return frame;
}

}  // namespace

Octets octets(std::string_view text) {
  const Bytes bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

std::string text(Bytes octets) { return {reinterpret_cast<const char*>(octets.data()), octets.size()}; }

void append(Octets& to, const Octets& what) { to.insert(to.end(), what.begin(), what.end()); }

void append(Octets& to, std::uint64_t value, std::size_t size) {
  for (std::size_t i = size; i > 0; --i) to.push_back(static_cast<std::byte>(value >> (8 * (i - 1)) & 0xff));
}

void append_little(Octets& to, std::uint64_t value, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) to.push_back(static_cast<std::byte>(value >> (8 * i) & 0xff));
}

Octets tcp(const Segment& segment) {
  const Octets ip = ip_packet(segment, 4);
  return {ip.begin() + Ipv4Layout::kSize, ip.end()};
}

Octets ipv4(bool from_server, const Octets& payload, std::uint16_t id, std::uint16_t flags_and_offset,
            const Octets& options) {
  Octets packet = ip_packet({.from_server = from_server}, 4);
  packet.resize(Ipv4Layout::kSize);
  append(packet, options);
  append(packet, payload);
  Ipv4Layout::VersionAndLength::put(packet, static_cast<std::uint8_t>(0x45 + options.size() / 4));
  Ipv4Layout::TotalLength::put(packet, static_cast<std::uint16_t>(packet.size()));
  Ipv4Layout::Identification::put(packet, id);
  Ipv4Layout::FlagsAndOffset::put(packet, flags_and_offset);
  return packet;
}

Octets ipv4(const Segment& segment, const Octets& options) {
  return ipv4(segment.from_server, tcp(segment), 1, Ipv4Layout::kDontFragment, options);
}

Octets ipv6(const Segment& segment, std::uint8_t next, const Octets& extensions) {
  Octets packet = ip_packet(segment, 6);
  packet.insert(packet.begin() + Ipv6Layout::kSize, extensions.begin(), extensions.end());
  Ipv6Layout::PayloadLength::put(packet, static_cast<std::uint16_t>(packet.size() - Ipv6Layout::kSize));
  Ipv6Layout::NextHeader::put(packet, next);
  return packet;
}

Octets ethernet(const Octets& ip, const std::vector<std::uint16_t>& tags) {
  Octets packet(12);
  for (const std::uint16_t tag : tags) {
    append(packet, tag, 2);
    append(packet, 0x0123, 2);
  }
  append(packet, packet::ip_version(ip) == 6 ? packet::kTypeIpv6 : packet::kTypeIpv4, 2);
  append(packet, ip);
  return packet;
}

}  // namespace weft::conformance::testing
