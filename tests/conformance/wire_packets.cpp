// SPDX-License-Identifier: Apache-2.0
#include "tests/conformance/wire_packets.hpp"

namespace weft::conformance::testing {
namespace {

bool is_ipv6(const Octets& ip) { return std::to_integer<unsigned>(ip.at(0) >> 4) == 6; }

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
  Octets header;
  append(header, segment.from_server ? segment.server_port : segment.client_port, 2);
  append(header, segment.from_server ? segment.client_port : segment.server_port, 2);
  append(header, segment.sequence, 4);
  append(header, segment.ack ? segment.acknowledgement : 0, 4);
  const unsigned flags =
      (segment.fin ? 1U : 0U) | (segment.syn ? 2U : 0U) | (segment.rst ? 4U : 0U) | (segment.ack ? 16U : 0U);
  append(header, (segment.mss ? 0x7000U : 0x5000U) | flags, 2);
  append(header, 0xffff, 2);  // window
  append(header, 0, 4);       // checksum, at which the auditor does not look, and urgent pointer
  if (segment.mss) {
    append(header, 0x010303070204, 6);  // no-operation, window scale, MSS
    append(header, *segment.mss, 2);
  }
  append(header, octets(segment.payload));
  return header;
}

Octets ipv4(bool from_server, const Octets& payload, std::uint16_t id, std::uint16_t flags_and_offset,
            const Octets& options) {
  Octets packet;
  append(packet, 0x45 + options.size() / 4, 1);
  append(packet, 0, 1);
  append(packet, 20 + options.size() + payload.size(), 2);
  append(packet, id, 2);
  append(packet, flags_and_offset, 2);
  append(packet, 0x4006, 2);  // time to live, TCP
  append(packet, 0, 2);
  append(packet, from_server ? 0x0a000002 : 0x0a000001, 4);
  append(packet, from_server ? 0x0a000001 : 0x0a000002, 4);
  append(packet, options);
  append(packet, payload);
  return packet;
}

Octets ipv4(const Segment& segment, const Octets& options) {
  return ipv4(segment.from_server, tcp(segment), 1, 0x4000, options);
}

Octets ipv6(const Segment& segment, std::uint8_t next, const Octets& extensions) {
  const Octets payload = tcp(segment);
  Octets packet;
  append(packet, 0x60000000, 4);
  append(packet, extensions.size() + payload.size(), 2);
  append(packet, next, 1);
  append(packet, 64, 1);
  for (const bool server : {segment.from_server, !segment.from_server}) {
    append(packet, 0xfd00000000000000, 8);
    append(packet, server ? 2 : 1, 8);
  }
  append(packet, extensions);
  append(packet, payload);
  return packet;
}

Octets ethernet(const Octets& ip, const std::vector<std::uint16_t>& tags) {
  Octets packet(12);
  for (const std::uint16_t tag : tags) {
    append(packet, tag, 2);
    append(packet, 0x0123, 2);
  }
  append(packet, is_ipv6(ip) ? 0x86dd : 0x0800, 2);
  append(packet, ip);
  return packet;
}

}  // namespace weft::conformance::testing
