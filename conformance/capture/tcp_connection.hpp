// SPDX-License-Identifier: Apache-2.0
// One TCP connection: who its ends are, what their SYNs said, and its two directions, put into the order in which the
// ends sent. A packet waits until what it acknowledges has been seen; but not forever: the capture may have lost it.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "conformance/capture/tcp_direction.hpp"
#include "conformance/capture/waiting_packets.hpp"

namespace weft::conformance::capture {

class TcpConnection {
 public:
  // `packet` is the first one.
  TcpConnection(std::size_t number, const TcpPacket& packet, std::int64_t time, BufferBudget& budget);

  [[nodiscard]] const ConnectionInfo& info() const noexcept { return info_; }
  [[nodiscard]] bool closed() const noexcept { return first_.direction.closed() && second_.direction.closed(); }
  // Not a packet of this connection: its SYN opens another one between the same addresses and ports.
  [[nodiscard]] bool is_other(const TcpPacket& packet) const noexcept;
  // Its numbers are near those of this connection.
  [[nodiscard]] bool claims(const TcpPacket& packet) const noexcept;
  void take(const TcpPacket& packet, std::int64_t time, EventQueue& out);
  // Nothing of it follows.
  void finish(bool evicted, EventQueue& out);

 private:
  // Octets after a hole.
  struct Stretch {
    std::uint64_t begin{};
    std::uint64_t end{};
    std::uint64_t packets{};  // of the connection before the first packet of the stretch
    std::uint64_t beyond{};   // of the direction, likewise: Half::beyond
  };
  struct Half {
    TcpDirection direction;
    bool syn_seen = false;
    std::optional<std::uint32_t> first_sequence{};  // the lowest that it sent without SYN, or that was acknowledged
    bool arrived = false;                           // a packet of this end
    bool absent = false;                            // nothing of this end has come for so long that nobody waits for it
    std::optional<std::uint16_t> mss{};
    // What the capture has shown, packets that wait included: all octets before `captured`, and stretches after holes.
    std::uint64_t captured = 0;
    std::vector<Stretch> ahead{};  // in order, with holes between them; kMostAhead at most
    std::uint64_t beyond = 0;      // packets that came while there was a hole before them
    // Packets of the connection when one came that acknowledged no more than had been seen; of these the one with the
    // highest sequence number.
    std::uint64_t modest_at = 0;
    std::uint32_t modest_sequence = 0;
    WaitingPackets waiting{};
  };
  [[nodiscard]] End sender(const TcpPacket& packet) const noexcept {
    return packet.source == first_end_ ? End::kFirst : End::kSecond;
  }
  [[nodiscard]] Half& half(End end) noexcept { return end == End::kFirst ? first_ : second_; }
  [[nodiscard]] const Half& half(End end) const noexcept { return end == End::kFirst ? first_ : second_; }
  void note_arrival(Half& from, Half& to, const TcpPacket& packet);
  static void note_sequence(Half& of, std::uint32_t sequence) noexcept;
  static void note_octets(Half& from, Stretch stretch);
  static void join_captured(Half& from) noexcept;
  void note_modest(Half& from, std::uint32_t sequence) const noexcept;
  [[nodiscard]] static bool need_not_wait(const Half& from, const WaitingPackets::Entry& entry) noexcept;
  [[nodiscard]] bool must_wait(const Half& from, const Half& to, const TcpPacket& packet) const noexcept;
  [[nodiscard]] bool waits_at_hole(const WaitingPackets::Entry& entry, Half& to) const noexcept;
  [[nodiscard]] bool overdue(const Half& from, Half& to) const noexcept;
  void release(EventQueue& out);
  void release_first(Half& from, Half& to, EventQueue& out, bool at_end = false);
  void process(TcpPacket packet, EventQueue& out);
  void open(EventQueue& out);
  void reset(End end, const TcpPacket& packet, EventQueue& out);
  void close_by_reset(End by, std::uint64_t packet, EventQueue& out);
  void count_waiting() noexcept;

  ConnectionInfo info_{};
  packet::Endpoint first_end_{};
  Half first_;
  Half second_;
  BufferShare waiting_share_;  // of the packets that wait
  // A reset whose number is not the next one: its receiver may have answered it by a challenge ACK (RFC 5961 section
  // 3).
  struct Doubted {
    End by{};
    std::uint64_t packet{};
  };
  std::optional<Doubted> doubted_reset_{};
  bool spoken_ = false;  // a packet without SYN has arrived
  bool opened_ = false;  // and told
};

}  // namespace weft::conformance::capture
