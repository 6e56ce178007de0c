// SPDX-License-Identifier: Apache-2.0
// The TCP connections of a capture. Packets go in, in the order of the capture; what TCP made of them comes out:
// octets in sequence, each once, and where the capture has none.
//
//   TcpConnections tcp;
//   while (there is a packet) {
//     tcp.take(packet);
//     while (const auto event = tcp.next()) ...
//   }
//   tcp.finish();
//   while (const auto event = tcp.next()) ...
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

// One end of a connection, as its packets name it.
struct ConnectionEnd {
  std::string address{};  // "192.0.2.1", "2001:db8::1"
  std::uint16_t port{};   // TCP's
};

// A connection of the capture.
struct ConnectionInfo {
  std::size_t number{};                         // from 0, in the order in which the capture shows them
  ConnectionEnd first{};                        // the end that sent the first packet
  ConnectionEnd second{};                       // the other one
  std::uint64_t packets{};                      // of both ends
  std::uint64_t first_packet{}, last_packet{};  // their numbers
  std::int64_t first_time{}, last_time{};       // nanoseconds since 1970
};

// A connection is over. Nothing of it follows: the capture is over, its addresses and ports serve another connection,
// both ends had closed it and many others have closed since, or too many others were heard of since (`evicted`).
struct ConnectionOver {
  ConnectionInfo info{};  // as it was in the end
  bool evicted{};         // there were too many others
};

// What happened to which connection. The first event of a connection is TcpOpened, the last ConnectionOver.
struct ConnectionEvent {
  std::size_t connection{};                        // ConnectionInfo::number
  std::variant<TcpEvent, ConnectionOver> event{};  // what happened
};

// What became of the packets.
struct PacketCounts {
  std::uint64_t tcp{};        // packets of TCP
  std::uint64_t not_tcp{};    // of another protocol
  std::uint64_t malformed{};  // headers that make no sense or are cut
  std::uint64_t fragments{};  // of IP datagrams; counted as `tcp` when they made one whole
};

// What is kept at most. A capture that needs more loses its idlest connections, or gets gaps.
struct TcpLimits {
  std::size_t connections = 65536;  // live ones; beyond, the one idle for the longest is over
  std::size_t closed = 1024;        // by both ends: kept for late copies of their packets
  std::size_t buffered_per_direction = std::size_t{32} << 20;  // octets that wait for those before them
  std::size_t buffered = std::size_t{256} << 20;               // the same, of all connections together
};

// Puts the TCP streams of a capture back together. Not safe for threads.
class TcpConnections {
 public:
  explicit TcpConnections(const TcpLimits& limits = {});  // for all of the capture
  ~TcpConnections();                                      // what was not polled is lost
  TcpConnections(TcpConnections&&) noexcept;              // the other one is not used any more
  TcpConnections& operator=(TcpConnections&&) noexcept;   // what this was is forgotten

  // False, and nothing taken, while there are events to be polled. The packet's octets have to stay until they are.
  bool take(const Packet& packet);
  // The capture is over: what waits for octets before it comes now, with the gaps told, and every connection is over.
  void finish();
  // Spans in it are valid until the next call of anything here.
  [[nodiscard]] std::optional<ConnectionEvent> next();

  // Of a connection that is not over; nullptr otherwise: ConnectionOver brings it.
  [[nodiscard]] const ConnectionInfo* info(std::size_t connection) const noexcept;
  [[nodiscard]] const PacketCounts& counts() const noexcept;  // what became of the packets up to now

 private:
  class Table;
  std::unique_ptr<Table> table_;
};

}  // namespace weft::conformance
