// SPDX-License-Identifier: Apache-2.0
// From what TCP carried to what there is to see: startup frames and FPDUs, in the order of the capture. The walk judges
// nothing; where the octets make no sense it says so (LostSeen), looks for the next FPDU (ResumedSeen) and goes on.
//
//   Walk walk;
//   walk.feed(event);                                     // events of one connection, in the order of the capture
//   while (const Seen* seen = walk.next()) std::visit(..., *seen);   // until there is none, before the next event
//   walk.finish();                                        // and once more next() until there is none
//
// Memory is bounded: per direction the octets of an FPDU or of the look-ahead, and those that wait until the framing is
// known, which takes the other direction's startup frame.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
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

// The walk over one connection. Not safe for threads.
class Walk {
 public:
  static constexpr std::size_t kSearched = 64U << 10;      // octets before MPA in which a key is looked for
  static constexpr std::size_t kKeptOfSearch = 1024;       // more than a startup frame has
  static constexpr std::size_t kMostWaiting = 256U << 10;  // octets of one direction that wait for the other
  static constexpr std::uint64_t kGivenUp = 1U << 20;      // octets without an FPDU where no startup frame was seen

  void feed(const TcpEvent& event);  // spans in it are not needed once next() has given null
  // Null when there is no more to see in what was fed. Valid until the next call.
  [[nodiscard]] const Seen* next();
  // The capture is over: what waits for more octets is decided with those that are there.
  void finish() noexcept { finished_ = true; }

  // A startup frame was found, or FPDUs.
  [[nodiscard]] bool iwarp() const noexcept { return initiator_.has_value(); }
  // False when no startup frame told who the Initiator is; then the end that the capture shows first is taken for it.
  [[nodiscard]] bool roles_known() const noexcept { return roles_known_; }
  // Once iwarp() is true.
  [[nodiscard]] std::optional<End> initiator() const noexcept { return initiator_; }
  // All that this end sent up to now was captured, from its SYN on.
  [[nodiscard]] bool whole(End end) const noexcept { return !half(end).startup.may_be_missing; }
  // The packet in which the startup frame of this end begins that it has not finished by now, if any.
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
  [[nodiscard]] bool must_wait(Half& half, std::uint64_t packet);

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
  bool follow_cut(Half& half);
  bool leave_to_ulp(Half& half);
  Verdict other_framing(Half& half);
  [[nodiscard]] std::size_t first_needed(const Half& half, std::size_t needed) const noexcept;
  bool tell_fpdu(Half& half, const Extent& size, CrcVerdict crc);

  // walk_resync.cpp
  void lose(Half& half, std::optional<LossReason> told);
  [[nodiscard]] static std::optional<mpa::FrameKind> key_here(const Half& half) noexcept;
  bool regain(Half& half);
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
  std::deque<TcpSegment> segments_{};  // until the roles are known
  std::vector<Seen> queue_{};          // a few at a time; its memory is used again
  std::size_t told_ = 0;               // of the queue
  FpduReader reader_{};
  bool finished_ = false;
  bool over_told_ = false;
};

}  // namespace weft::conformance
