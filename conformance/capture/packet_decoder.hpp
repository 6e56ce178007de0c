// SPDX-License-Identifier: Apache-2.0
// A packet as the TCP segment or UDP datagram in it. Written here and not taken from libtins, which allocates an object
// per header and throws when a length is wrong: docs/decisions/0004-captures.md.
#pragma once

#include <expected>
#include <optional>
#include <span>
#include <vector>

#include "conformance/capture/fragments.hpp"
#include "conformance/packet.hpp"
#include "packet/encapsulation.hpp"
#include "packet/header_walk.hpp"
#include "packet/tcp.hpp"
#include "packet/udp.hpp"

namespace weft::conformance::capture {

struct TcpPacket {
  std::uint64_t number{};
  packet::HeaderPath path{};
  packet::Endpoint source{};
  packet::Endpoint destination{};
  packet::TcpHeader header{};
  std::size_t payload_size{};                   // as sent
  std::span<const Part> payload{};              // what was captured of it: the beginning, without holes
  std::optional<std::uint64_t> acknowledged{};  // as a stream offset, which the connection finds
};

struct UdpPacket {
  packet::HeaderPath path{};
  packet::Endpoint source{};
  packet::Endpoint destination{};
  std::size_t payload_size{};  // as sent
  Bytes payload{};             // what was captured of it
};

class PacketDecoder {
 public:
  // What it gives is valid until the next call, and while the packet is.
  [[nodiscard]] std::expected<TcpPacket, packet::Unread> decode(const Packet& packet);
  [[nodiscard]] std::expected<UdpPacket, packet::Unread> decode_datagram(const Packet& packet);

 private:
  // Where the octets lie in which `InnermostIp::at` and the like are offsets: the packet, or a datagram put together.
  struct Source {
    Bytes octets{};
    std::span<const Part> parts{};  // of the octets, in order and without holes; empty: all of this packet
  };
  struct Found {
    packet::InnermostIp ip{};
    Bytes payload{};     // of IP, as captured; parts_ are its parts
    std::size_t size{};  // as sent
  };
  [[nodiscard]] std::expected<Found, packet::Unread> find(const Packet& packet, packet::IpProtocol protocol);
  void take_parts(const Source& source, std::uint64_t number, std::size_t begin, std::size_t size);
  [[nodiscard]] std::expected<TcpPacket, packet::Unread> decode_segment(const packet::InnermostIp& ip, Bytes segment,
                                                                        std::size_t size);

  Fragments fragments_{};
  std::vector<Part> parts_{};
};

}  // namespace weft::conformance::capture
