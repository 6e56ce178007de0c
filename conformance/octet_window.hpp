// SPDX-License-Identifier: Apache-2.0
/// @file
/// The unprocessed octets of one direction, and their places in the capture.
///
/// Octets are borrowed from the caller as long as none are left over from before, so an FPDU within one TCP segment is
/// never copied.
///
/// The walk only sees the octets that were shown. Its decisions must not depend on how many octets arrive at once, so
/// it shows them in steps that it determines (walk_looks.cpp).
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "conformance/tcp_events.hpp"

namespace weft::conformance {

/// Holds the unprocessed octets of one direction. Not thread-safe.
class OctetWindow {
 public:
  /// Appends octets, which must remain valid until keep(). They must follow the previous ones: after a gap, call
  /// restart() first. `turn` is their position in the order of the events of both directions.
  void append(const TcpOctets& piece, std::uint64_t turn = 0);
  /// Copies the borrowed octets that are left, because they are about to become invalid.
  void keep();
  /// Discards all octets. The next octet is that of `stream_offset`.
  void restart(std::uint64_t stream_offset);

  /// Returns the octets that were shown.
  [[nodiscard]] Bytes octets() const noexcept { return rest_.first(shown_); }
  /// Returns how many octets were shown.
  [[nodiscard]] std::size_t size() const noexcept { return shown_; }
  /// Returns whether no octet was shown.
  [[nodiscard]] bool empty() const noexcept { return shown_ == 0; }
  /// Returns all octets, including those that were not shown.
  [[nodiscard]] Bytes all() const noexcept { return rest_; }
  /// Returns how many octets were not shown.
  [[nodiscard]] std::size_t hidden() const noexcept { return rest_.size() - shown_; }
  /// Shows the next `count` octets, or all if there are fewer.
  void show(std::size_t count) { shown_ += std::min(count, hidden()); }
  /// Hides all octets.
  void hide() { shown_ = 0; }

  /// Discards the first `count` of the shown octets. Spans into octets() remain valid until the next append() or
  /// keep().
  void drop(std::size_t count) {
    rest_ = rest_.subspan(count);
    shown_ -= count;
    begin_ += count;
    if (begin_ >= oldest_end_) forget_origins();
  }

  /// Returns the stream offset of octets()[0].
  [[nodiscard]] std::uint64_t begin() const noexcept { return begin_; }
  /// Returns the stream offset after the last shown octet.
  [[nodiscard]] std::uint64_t end() const noexcept { return begin_ + shown_; }
  /// Returns the place of octets()[at]. `at` may equal the size, for the place after the last octet, if any octets were
  /// ever appended.
  [[nodiscard]] Place place(std::size_t at) const noexcept {
    const Origin& from = origin(begin_ + at);
    return &from == &kNowhere ? Place{} : place_in(from, begin_ + at);
  }
  /// Returns whether octets()[at] is the first octet that was appended of its packet. The bound on `at` is that of
  /// place().
  [[nodiscard]] bool begins_packet(std::size_t at) const noexcept {
    return origin(begin_ + at).stream_offset == begin_ + at;
  }
  /// Returns the turn of octets()[at], with the same bound on `at` as place().
  [[nodiscard]] std::uint64_t turn(std::size_t at) const noexcept { return origin(begin_ + at).turn; }
  /// Returns TcpOctets::acknowledged of octets()[at], with the same bound on `at` as place().
  [[nodiscard]] std::optional<std::uint64_t> acknowledged(std::size_t at) const noexcept {
    return origin(begin_ + at).acknowledged;
  }
  /// Returns how many octets from `at` on are contiguous in one packet.
  [[nodiscard]] std::size_t run(std::size_t at) const noexcept;

 private:
  struct Origin {
    std::uint64_t stream_offset{};  // this and the following octets up to the next origin ..
    Place place{};                  // .. lie here
    std::uint64_t turn{};
    std::optional<std::uint64_t> acknowledged{};
  };
  static const Origin kNowhere;
  static Place place_in(const Origin& origin, std::uint64_t offset) noexcept {
    return {origin.place.packet, origin.place.octet + static_cast<std::uint32_t>(offset - origin.stream_offset)};
  }
  [[nodiscard]] const Origin& origin(std::uint64_t offset) const noexcept {
    return offset < oldest_end_ ? oldest_ : origin_behind(offset);
  }
  [[nodiscard]] const Origin& origin_behind(std::uint64_t offset) const noexcept;
  void note_origin(const TcpOctets& piece, std::uint64_t turn);
  [[nodiscard]] std::span<const Origin> newer() const noexcept { return std::span(newer_).subspan(first_newer_); }
  void forget_first_newer() noexcept;
  void forget_origins() noexcept;
  void clear_origins() noexcept;
  [[nodiscard]] bool borrowed() const noexcept { return !rest_.empty() && kept_.empty(); }

  Bytes rest_{};  // into kept_, or borrowed when that is empty
  std::size_t shown_ = 0;
  std::vector<std::byte> kept_{};
  std::uint64_t begin_ = 0;
  // The origin of begin_, and where the next origin begins. Nearly all queries are for this one.
  Origin oldest_{};
  std::uint64_t oldest_end_ = 0;  // 0: there is none
  std::vector<Origin> newer_{};   // from newer_[first_newer_] on; a deque would take memory for each idle connection
  std::size_t first_newer_ = 0;
};

}  // namespace weft::conformance
