// SPDX-License-Identifier: Apache-2.0
/// @file
/// The walk over one connection: from TCP events to startup frames and FPDUs, in the order of the events.
///
/// The walk checks no rules. If octets make no sense, it reports that (LostSeen), searches for the next FPDU
/// (ResumedSeen) and continues.
///
///     Walk walk;
///     walk.feed(event);                                     // events of one connection, in order
///     while (const Seen* seen = walk.next()) std::visit(..., *seen);   // until null, before the next event
///     walk.finish();                                        // then call next() again until it returns null
///
/// Memory is bounded. Per direction, it holds the octets of one FPDU or of a look-ahead, and those that wait until the
/// framing is known, which requires the startup frame of the other direction.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "conformance/fpdu_chain.hpp"
#include "conformance/fpdu_reading.hpp"
#include "conformance/resync.hpp"
#include "conformance/seen.hpp"
#include "conformance/startup_search.hpp"
#include "conformance/tcp_events.hpp"
#include "conformance/walk_half.hpp"

namespace weft::conformance {

/// Turns the TCP events of one connection into pieces. Not thread-safe.
class Walk {
 public:
  static constexpr std::size_t kSearched = 64U << 10;  ///< maximum of octets before MPA in which a key is searched for
  /// Octets kept during that search; more than a startup frame has.
  static constexpr std::size_t kKeptOfSearch = 1024;
  /// Maximum of octets of one direction that wait for the other one.
  static constexpr std::size_t kMostWaiting = 256U << 10;
  /// Maximum of octets without an FPDU if no startup frame was seen.
  static constexpr std::uint64_t kGivenUp = 1U << 20;

  /// Takes an event. Its spans must remain valid until next() returns null.
  void feed(const TcpEvent& event);
  /// Returns the next piece of what was fed, or null if there is none. It is valid until the next call.
  [[nodiscard]] const Seen* next();
  /// Ends the capture. What waits for more octets is decided with the available ones.
  void finish() noexcept { finished_ = true; }

  /// Returns whether a startup frame or FPDUs were found.
  [[nodiscard]] bool iwarp() const noexcept { return initiator_.has_value(); }
  /// Returns whether a startup frame determined the Initiator. If not, the end that the capture shows first counts as
  /// the Initiator.
  [[nodiscard]] bool roles_known() const noexcept { return roles_known_; }
  /// Returns the Initiator, once iwarp() is true.
  [[nodiscard]] std::optional<End> initiator() const noexcept { return initiator_; }
  /// Returns whether everything that this end has sent so far was captured, from its SYN on.
  [[nodiscard]] bool whole(End end) const noexcept { return !half(end).startup.may_be_missing; }
  /// Returns how many octets of this end the capture lacks so far.
  [[nodiscard]] std::uint64_t missing(End end) const noexcept { return half(end).missing; }
  /// Returns how many octets of this end were not read because the capture lacks them, or others near them.
  [[nodiscard]] std::uint64_t unread(End end) const noexcept;
  /// Returns how many octets of both directions are kept.
  [[nodiscard]] std::size_t held() const noexcept {
    return halves_[0].window.all().size() + halves_[1].window.all().size();
  }
  /// Returns the packet in which an incomplete startup frame of this end begins, if there is one.
  [[nodiscard]] std::optional<std::uint64_t> unfinished_frame(End end) const noexcept;

 private:
  using Half = WalkHalf;
  using Phase = WalkHalf::Phase;

  // walk.cpp: events, and which direction is next.
  void on(const TcpOpened& opened);
  void on(const TcpSegment& segment);
  void on(const TcpOctets& octets);
  void on(const TcpGap& gap);
  void on(const TcpClosed& closed);
  bool advance();
  bool step(Half& half);
  bool step_phase(Half& half);
  [[nodiscard]] bool must_wait(Half& half, std::uint64_t turn);

  // walk_looks.cpp
  bool show_more();
  [[nodiscard]] std::size_t next_look(Half& half) const;
  [[nodiscard]] std::size_t next_search(const Half& half) const;
  [[nodiscard]] std::size_t next_scan(Half& half, std::size_t wanted) const;
  // No more octets follow those in the window.
  [[nodiscard]] bool cut(const Half& half) const noexcept;
  // There are octets enough for another look.
  [[nodiscard]] bool due(const Half& half) const noexcept;

  void tell(Seen seen) { queue_.push_back(std::move(seen)); }

  // walk_ends.cpp: gaps and ends.
  bool apply_gap(Half& half);
  bool tell_end(Half& half);

  // walk_startup.cpp
  bool search(Half& half);
  bool search_inside(Half& half);
  bool begin_startup(Half& half, const KeyFound& key);
  bool startup(Half& half);
  bool startup_cut_short(Half& half);
  void leave_startup(Half& half, std::size_t size, const StartupFlags& flags);
  void set_initiator(End end, bool known);
  bool wait_for_framing(Half& half);

  // walk_front.cpp: FPDUs that nothing was agreed for, and what was sent in a startup frame's place.
  bool look_at_front(Half& half);
  bool take_for_frame(Half& half);
  bool begin_unagreed(Half& half);
  [[nodiscard]] bool at_once(const Half& half) const noexcept;
  void follow_from_here(Half& half, const Track& track);
  void note_front(Half& half, const WalkStartup::Span& answered);

  // walk_fpdus.cpp
  bool follow(Half& half);
  bool follow_doubtful(Half& half, const Extent& size);
  [[nodiscard]] static bool lacks_markers(const Half& half) noexcept;
  [[nodiscard]] static bool swallows_fpdus(Bytes octets, const WalkFpdus& fpdus);
  bool follow_cut(Half& half);
  [[nodiscard]] bool ends_rejection(const Half& half, const Extent& size) const noexcept;
  bool leave_to_ulp(Half& half);
  Verdict other_framing(Half& half);
  [[nodiscard]] std::size_t first_needed(const Half& half, std::size_t needed) const noexcept;
  bool tell_fpdu(Half& half, const Extent& size, CrcVerdict crc);

  // walk_resync.cpp
  void lose(Half& half, std::optional<LossReason> told);
  [[nodiscard]] static std::optional<mpa::FrameKind> key_here(const Half& half) noexcept;
  bool regain(Half& half);
  bool follow_found(Half& half);
  static void judge_cut_row(Half& half);
  bool prove(Half& half);
  bool resume_in_order(Half& half);
  void resume(Half& half, const Track& track);
  [[nodiscard]] Known known(const Half& half) const noexcept;

  [[nodiscard]] Half& half(End end) noexcept { return halves_[static_cast<std::size_t>(end)]; }
  [[nodiscard]] const Half& half(End end) const noexcept { return halves_[static_cast<std::size_t>(end)]; }
  [[nodiscard]] Half& other(const Half& one) noexcept { return half(opposite(one.end)); }
  [[nodiscard]] const Half& other(const Half& one) const noexcept {
    return halves_[static_cast<std::size_t>(opposite(one.end))];
  }
  [[nodiscard]] Direction direction(End end) const noexcept {
    return initiator_ == end ? Direction::kFromInitiator : Direction::kFromResponder;
  }
  [[nodiscard]] Piece piece(const Half& half, std::size_t size) const noexcept;

  std::array<Half, 2> halves_{Half{.end = End::kFirst}, Half{.end = End::kSecond}};
  std::optional<End> initiator_{};
  std::optional<End> last_from_{};  // octets
  bool roles_known_ = false;
  std::vector<TcpSegment> segments_{};  // until the roles are known
  std::vector<Seen> queue_{};           // a few at a time; its memory is used again
  std::size_t told_ = 0;                // of the queue
  FpduReader reader_{};
  std::uint64_t turns_ = 0;  // events with octets so far
  bool finished_ = false;
  bool over_told_ = false;
};

}  // namespace weft::conformance
