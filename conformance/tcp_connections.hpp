// SPDX-License-Identifier: Apache-2.0
/// @file
/// Reassembly of the TCP connections of a capture. The input is packets in the order of the capture; the output is
/// octets in sequence, each once, and the gaps in the capture. The two directions of a connection come in an order in
/// which the ends can have sent: no octet before those that its packet acknowledges, whatever the order in the capture.
///
///     TcpConnections tcp;
///     while (there is a packet) {
///       tcp.take(packet);
///       while (const auto event = tcp.next()) ...
///     }
///     tcp.finish();
///     while (const auto event = tcp.next()) ...
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <variant>

#include "conformance/packet.hpp"
#include "conformance/tcp_events.hpp"

namespace weft::conformance {

/// Identifies one end of a connection.
struct ConnectionEnd {
  std::string address{};  ///< address: "192.0.2.1", "2001:db8::1"
  std::uint16_t port{};   ///< TCP port
};

/// Describes a connection of the capture.
struct ConnectionInfo {
  std::size_t number{};  ///< number from 0, in the order of the capture
  /// Encapsulations of its first packet, from the outside to the inside: "VLAN 5, VXLAN 42". Connections are told apart
  /// by their innermost addresses and ports alone: labels and keys may differ by direction.
  std::string path{};
  ConnectionEnd first{};         ///< end that sent the first packet
  ConnectionEnd second{};        ///< other end
  std::uint64_t packets{};       ///< number of packets of both ends
  std::uint64_t first_packet{};  ///< number of the first packet
  std::uint64_t last_packet{};   ///< number of the last packet
  std::int64_t first_time{};     ///< time of the first packet in nanoseconds since 1970
  std::int64_t last_time{};      ///< time of the last packet in nanoseconds since 1970
};

/// Reports the end of a connection. No event of it follows.
/// The reason is one of: the capture ended, another connection has used the same addresses and ports for a while, both
/// ends had closed it and many others have closed since, or too many others were active since (`evicted`).
struct ConnectionOver {
  ConnectionInfo info{};  ///< final description
  bool evicted{};         ///< the connection was dropped because there were too many others
};

/// Describes an event of a connection. The first event of a connection is TcpOpened, and the last one is
/// ConnectionOver.
struct ConnectionEvent {
  std::size_t connection{};                        ///< ConnectionInfo::number
  std::variant<TcpEvent, ConnectionOver> event{};  ///< event
};

/// Counts the packets of a capture.
struct PacketCounts {
  std::uint64_t tcp{};        ///< TCP packets
  std::uint64_t not_tcp{};    ///< packets of another protocol
  std::uint64_t malformed{};  ///< packets with invalid or truncated headers
  std::uint64_t fragments{};  ///< fragments of IP datagrams; also counted as `tcp` once they form a complete datagram
};

/// Limits memory. A capture that exceeds the limits loses its idlest connections, or gets gaps.
struct TcpLimits {
  std::size_t connections = 65536;  ///< open connections; beyond it, the one that has been idle for longest ends
  std::size_t closed = 1024;        ///< connections closed by both ends, kept for late copies of their packets
  std::size_t buffered_per_direction = std::size_t{32} << 20;  ///< octets of one direction that wait for preceding ones
  std::size_t buffered = std::size_t{256} << 20;  ///< octets of all connections that wait for preceding ones
};

/// Reassembles the TCP streams of a capture. Not thread-safe.
class TcpConnections {
 public:
  /// Creates an empty set of connections. The limits apply to the whole capture.
  explicit TcpConnections(const TcpLimits& limits = {});
  /// Discards pending events.
  ~TcpConnections();
  /// Takes over the state of another object, which must not be used afterwards.
  TcpConnections(TcpConnections&&) noexcept;
  /// Replaces the state by that of another object, which must not be used afterwards.
  TcpConnections& operator=(TcpConnections&&) noexcept;

  /// Takes a packet. Returns false and takes nothing if events are pending. The octets must remain valid until all of
  /// its events were returned.
  bool take(const Packet& packet);
  /// Ends the capture. Octets that wait for preceding ones are delivered with the gaps reported, and all connections
  /// end.
  void finish();
  /// Returns the next event, or nothing. Its spans are valid until the next call of any member.
  [[nodiscard]] std::optional<ConnectionEvent> next();

  /// Returns the description of a connection, or null once it is over: ConnectionOver contains it.
  [[nodiscard]] const ConnectionInfo* info(std::size_t connection) const noexcept;
  /// Returns the counts of packets so far.
  [[nodiscard]] const PacketCounts& counts() const noexcept;

 private:
  class Table;
  std::unique_ptr<Table> table_;
};

}  // namespace weft::conformance
