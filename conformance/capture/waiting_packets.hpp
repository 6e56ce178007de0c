// SPDX-License-Identifier: Apache-2.0
// Packets of one direction that acknowledge octets of the other direction which the capture has not shown yet. Two
// taps, a span port or the queues of a network card deliver the directions out of step; acknowledgment numbers tell in
// which order the ends sent.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <vector>

#include "conformance/capture/event_queue.hpp"
#include "conformance/capture/packet_decoder.hpp"

namespace weft::conformance::capture {

// A packet with octets of its own: those of the capture are gone when the next one is read.
class KeptPacket {
 public:
  explicit KeptPacket(const TcpPacket& packet);
  KeptPacket(KeptPacket&&) noexcept = default;  // vectors keep their place
  KeptPacket& operator=(KeptPacket&&) noexcept = default;
  KeptPacket(const KeptPacket&) = delete;
  KeptPacket& operator=(const KeptPacket&) = delete;
  ~KeptPacket() = default;
  // Its payload is valid as long as this is.
  [[nodiscard]] const TcpPacket& packet() const noexcept { return packet_; }
  // Its payload becomes that of the queue, whose events may refer to it. Call it once.
  [[nodiscard]] TcpPacket give(EventQueue& out);
  // Octets of memory, bookkeeping included.
  [[nodiscard]] std::size_t cost() const noexcept { return octets_.size() + sizeof(*this) + kOverhead; }

 private:
  static constexpr std::size_t kOverhead = 64;  // nodes and blocks
  void lay_out(Bytes octets) noexcept;

  TcpPacket packet_{};  // its payload is `parts_`
  std::vector<std::uint8_t> octets_{};
  std::vector<Part> parts_{};
};

// In the order in which the end sent them, as far as acknowledgments tell; else in the order of the capture.
class WaitingPackets {
 public:
  struct Entry {
    KeptPacket kept;
    std::uint64_t since{};          // packets of the connection when it began to wait
    std::uint64_t waiting_since{};  // likewise, it or the first that it holds up
    std::uint64_t beyond{};         // packets of the other direction that showed a hole by then
  };

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  [[nodiscard]] std::size_t cost() const noexcept { return cost_; }
  [[nodiscard]] const Entry& front() const noexcept { return entries_.front(); }
  [[nodiscard]] std::list<Entry>::const_iterator begin() const noexcept { return entries_.begin(); }
  [[nodiscard]] std::list<Entry>::const_iterator end() const noexcept { return entries_.end(); }
  void push(const TcpPacket& packet, std::uint64_t since, std::uint64_t beyond);
  [[nodiscard]] TcpPacket pop(EventQueue& out);

 private:
  std::list<Entry> entries_{};
  std::size_t cost_ = 0;
  std::vector<Part> parts_{};  // of the packet given last
};

}  // namespace weft::conformance::capture
