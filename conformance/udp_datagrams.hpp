// SPDX-License-Identifier: Apache-2.0
/// @file
/// UDP datagrams of a capture. No rule judges them: iWARP has none.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "conformance/packet.hpp"
#include "conformance/tcp_connections.hpp"

namespace weft::conformance {

/// Describes a UDP datagram.
struct UdpDatagram {
  std::string path{};           ///< encapsulations, as in ConnectionInfo::path
  ConnectionEnd source{};       ///< sender
  ConnectionEnd destination{};  ///< receiver
  std::size_t size{};           ///< octets of payload as sent
  Bytes payload{};              ///< captured octets of the payload; valid until the next call, and while the packet is
};

/// Finds the UDP datagrams of a capture, and puts together those that came in IP fragments. Not thread-safe.
class UdpDatagrams {
 public:
  /// Starts without fragments.
  UdpDatagrams();
  /// Discards incomplete datagrams.
  ~UdpDatagrams();
  /// Takes over the state of another object, which must not be used afterwards.
  UdpDatagrams(UdpDatagrams&&) noexcept;
  /// Replaces the state by that of another object, which must not be used afterwards.
  UdpDatagrams& operator=(UdpDatagrams&&) noexcept;

  /// Takes the next packet. Returns the innermost datagram that it is or completes; nothing for any other packet.
  [[nodiscard]] std::optional<UdpDatagram> take(const Packet& packet);

 private:
  class Decoder;
  std::unique_ptr<Decoder> decoder_;
};

}  // namespace weft::conformance
