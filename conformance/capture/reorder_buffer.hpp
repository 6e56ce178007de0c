// SPDX-License-Identifier: Apache-2.0
// Octets of one direction that came before those in front of them. libtins' DataTracker keeps and joins them; what it
// does not keep is noted here: which packet each came from. It is only given octets that it does not hold yet, so that
// the first copy of an octet wins.
#pragma once

#include <tins/tcp_ip/data_tracker.h>

#include <cstdint>
#include <map>

#include "conformance/capture/event_queue.hpp"

namespace weft::conformance::capture {

class ReorderBuffer {
 public:
  // `origin` is the sequence number of stream offset 0.
  explicit ReorderBuffer(std::uint32_t origin) noexcept : origin_(origin) {}

  [[nodiscard]] bool empty() const noexcept { return pieces_.empty(); }
  // Octets of memory, book-keeping included: a piece of one octet costs much more than that.
  [[nodiscard]] std::size_t cost() const noexcept { return cost_; }
  [[nodiscard]] std::uint64_t first() const noexcept { return pieces_.begin()->first; }  // only when not empty
  // All of these. Takes steps with their number, as add() does: let there be octets in the capture for each.
  [[nodiscard]] bool holds(std::uint64_t begin, std::uint64_t end) const noexcept;

  // Nothing here or in [offset, ...) is before `next`, the offset that the direction waits for.
  // `acknowledged` is TcpOctets::acknowledged.
  void add(std::uint64_t next, std::uint64_t offset, Bytes octets, Place place,
           std::optional<std::uint64_t> acknowledged);
  // `size` octets were sent and not captured: the snap length cut them off. Only up to the next ones held: a packet can
  // claim any size, so what is after them would cost steps that nothing in the capture pays for.
  void add_cut(std::uint64_t offset, std::uint64_t size);

  // Gives what follows on `next` without a hole, as TcpOctets (and TcpGap for what was cut). Where the next hole
  // begins.
  std::uint64_t take(std::uint64_t next, std::size_t connection, End from, std::uint64_t packet, EventQueue& out);

 private:
  struct Piece {
    std::uint64_t size{};
    Place place{};
    bool cut{};
    std::optional<std::uint64_t> acknowledged{};
  };
  static constexpr std::size_t kPieceCost = 224;  // two nodes of a map and a vector

  template <typename Keep>
  void fill_holes(std::uint64_t begin, std::uint64_t end, Keep keep);
  [[nodiscard]] std::uint32_t sequence(std::uint64_t offset) const noexcept {
    return origin_ + static_cast<std::uint32_t>(offset);
  }
  Bytes joined(std::uint64_t next, EventQueue& out);

  std::uint32_t origin_;
  std::map<std::uint64_t, Piece> pieces_{};  // by offset; they do not overlap
  Tins::TCPIP::DataTracker tracker_{};
  std::size_t cost_ = 0;
};

}  // namespace weft::conformance::capture
