// SPDX-License-Identifier: Apache-2.0
// What a run learns about its peer: how long a round trip takes, whether it floods, and how many connections it serves.
#pragma once

#include <atomic>
#include <cstddef>

#include "common/instant.hpp"

namespace weft::probe {

// Thread-safe. One object for all conversations with a peer.
class Learned {
 public:
  // Notes how long the peer took for an answer that it owed at once: network, peer and prober together.
  void saw_round_trip(Duration took) noexcept;
  // Returns the longest of these times; 0 if there is none yet.
  [[nodiscard]] Duration round_trip() const noexcept { return Duration(round_trip_.load()); }
  // Returns how long silence has to last before it means something. `least`: with a peer that answers at once.
  [[nodiscard]] Duration quiet(Duration least) const noexcept { return least + 2 * round_trip(); }
  // Returns how long a reaction is waited for. `patience`: with a peer that answers at once.
  [[nodiscard]] Duration patience(Duration patience) const noexcept { return patience + 4 * round_trip(); }

  // Notes that a conversation met its bound.
  void saw_flood() noexcept { floods_ = true; }
  // Returns how many octets a conversation takes from the peer. Fewer after the first flood, so that a run against such
  // a peer ends.
  [[nodiscard]] std::size_t most_received() const noexcept { return floods_ ? kMostOfAFlooder : kMostReceived; }
  // Notes that the peer serves one connection at a time: a case gives up its connection when it opens the next one, and
  // one that needs both does not apply. A new connection that is refused, rejected or reset at once is tried again.
  void saw_one_at_a_time() noexcept { one_at_a_time_ = true; }
  [[nodiscard]] bool one_at_a_time() const noexcept { return one_at_a_time_; }
  // Notes that a conversation keeps these octets for the reports.
  void keeps(std::size_t octets) noexcept { kept_ += octets; }
  // Notes that so many of them were given up.
  void gave_up(std::size_t octets) noexcept { kept_ -= octets; }
  // Returns how many octets one conversation may keep.
  [[nodiscard]] std::size_t most_kept() const noexcept { return kept_ > kMostKept ? kMostBeyond : kMostOfOne; }

  static constexpr std::size_t kMostReceived = 64U << 20U;
  static constexpr std::size_t kMostOfAFlooder = 8U << 20U;
  static constexpr std::size_t kMostKept = 128U << 20U;  // of a run, but for the conversations that are under way
  static constexpr std::size_t kMostOfOne = 4U << 20U;
  static constexpr std::size_t kMostBeyond = 64U << 10U;

 private:
  std::atomic<Duration::rep> round_trip_ = 0;
  std::atomic<std::size_t> kept_ = 0;
  std::atomic<bool> floods_ = false;
  std::atomic<bool> one_at_a_time_ = false;
};

}  // namespace weft::probe
