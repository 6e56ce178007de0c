// SPDX-License-Identifier: Apache-2.0
// The octets of one direction that have been fed and not been used up, and where in the capture each of them lies.
// Octets fed are borrowed as long as nothing is left over from before: an FPDU that lies inside one TCP segment is
// never copied.
//
// The walk sees as much of them as was shown: what it decides must not depend on how many octets came at once, so it
// has them shown in steps of its own choosing (walk_looks.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "conformance/tcp_events.hpp"

namespace weft::conformance {

// The octets of one direction that are in hand. Not safe for threads.
class OctetWindow {
 public:
  // The octets must stay valid until keep(). They follow the ones before: after a gap call restart() first.
  void append(const TcpOctets& piece);
  // Copies what is left of borrowed octets: they are about to go away.
  void keep();
  // Drops everything; the next octet is that of `stream_offset`.
  void restart(std::uint64_t stream_offset);

  // Those that were shown.
  [[nodiscard]] Bytes octets() const noexcept { return rest_.first(shown_); }
  // How many were shown.
  [[nodiscard]] std::size_t size() const noexcept { return shown_; }
  // None was shown.
  [[nodiscard]] bool empty() const noexcept { return shown_ == 0; }
  // All that are there, and those of them that were not shown yet.
  // All that are there.
  [[nodiscard]] Bytes all() const noexcept { return rest_; }
  // How many of these were not shown yet.
  [[nodiscard]] std::size_t hidden() const noexcept { return rest_.size() - shown_; }
  // Shows the next `count`, or what there is of them.
  void show(std::size_t count) { shown_ += std::min(count, hidden()); }
  // As if none had been shown.
  void hide() { shown_ = 0; }

  // Of those that were shown.
  // Spans into octets() stay valid until the next append() or keep().
  void drop(std::size_t count) {
    rest_ = rest_.subspan(count);
    shown_ -= count;
    begin_ += count;
    if (begin_ >= oldest_end_) forget_origins();
  }

  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }  // stream offset of octets()[0]
  // stream offset behind the last one
  [[nodiscard]] std::uint64_t end() const noexcept { return begin_ + shown_; }
  // Of octets()[at]; `at` may also be the size when something was ever fed: right behind the last one.
  [[nodiscard]] Place place(std::size_t at) const noexcept {
    const std::uint64_t offset = begin_ + at;
    return offset < oldest_end_ ? place_in(oldest_, offset) : place_behind(offset);
  }
  // Octets from `at` on that lie side by side in one packet.
  [[nodiscard]] std::size_t run(std::size_t at) const noexcept;

 private:
  struct Origin {
    std::uint64_t stream_offset{};  // this and the following octets up to the next origin ..
    Place place{};                  // .. lie here
  };
  static Place place_in(const Origin& origin, std::uint64_t offset) noexcept {
    return {origin.place.packet, origin.place.octet + static_cast<std::uint32_t>(offset - origin.stream_offset)};
  }
  [[nodiscard]] Place place_behind(std::uint64_t offset) const noexcept;
  void note_origin(const TcpOctets& piece);
  void forget_origins() noexcept;
  void clear_origins() noexcept;
  [[nodiscard]] bool borrowed() const noexcept { return !rest_.empty() && kept_.empty(); }

  Bytes rest_{};  // into kept_, or borrowed when that is empty
  std::size_t shown_ = 0;
  std::vector<std::byte> kept_{};
  std::uint64_t begin_ = 0;
  // Of begin_, and where the next one begins; it is nearly always the one that is asked for.
  Origin oldest_{};
  std::uint64_t oldest_end_ = 0;  // 0: there is none
  std::deque<Origin> newer_{};
};

}  // namespace weft::conformance
