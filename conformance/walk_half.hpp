// SPDX-License-Identifier: Apache-2.0
// One direction of a walk (walk.hpp, which alone uses this): its octets, and a part for each thing that is known of it.
// A part knows its own matter only; what takes both directions is the walk's.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "conformance/fpdu_reading.hpp"
#include "conformance/octet_window.hpp"
#include "conformance/resync.hpp"
#include "conformance/startup_search.hpp"
#include "conformance/tcp_events.hpp"

namespace weft::conformance {

// Its place in the order of the capture, which the two directions keep by waiting for each other.
struct WalkTurn {
  bool undecided = false;                     // look-ahead is going on: the other direction waits
  bool held = false;                          // waits for the other direction
  bool overtaken = false;                     // the other direction has waited long enough
  std::optional<std::uint64_t> late_until{};  // FPDUs up to this packet come later than they should
  std::uint64_t last_packet = 0;              // of the last FPDU told

  // An FPDU that ends in `packet` is about to be told. True: it is the first behind those that came too late.
  [[nodiscard]] bool in_order_again(std::uint64_t packet) noexcept {
    const bool again = late_until && packet > *late_until;
    if (again) late_until.reset();
    return again;
  }
  // An FPDU that ends in `packet` is told; `other` is the other direction's turn.
  void go_on(std::uint64_t packet, const WalkTurn& other) noexcept {
    if (std::exchange(overtaken, false)) late_until = other.last_packet;
    last_packet = packet;
  }
};

// What its startup frame said, if it was there.
struct WalkStartup {
  // Where the frame lay.
  struct Span {
    std::uint64_t begin{};                        // stream offset
    std::uint64_t first_packet{}, last_packet{};  // that it lay in
  };
  std::optional<StartupFlags> flags{};  // of the frame, if it was there
  std::optional<std::uint64_t> base{};  // stream offset of the first octet behind the frame, while that is known
  std::optional<Span> span{};           // where it lay, whatever was wrong with it
  bool rejected = false;                // by either end's frame: what follows belongs to the ULP
  bool may_be_missing = true;           // its place was not captured: FPDUs may be there without it

  // Where in the FPDU stream an octet lies.
  [[nodiscard]] std::optional<std::uint64_t> position_of(std::uint64_t stream_offset) const noexcept {
    if (!base || stream_offset < *base) return std::nullopt;
    return stream_offset - *base;
  }
};

// Where something of MPA has to begin although no key shows it: with the first octet, or with the first one behind the
// other end's frame.
struct WalkFront {
  std::uint64_t at = 0;       // stream offset
  std::uint64_t look_at = 0;  // the stream offset behind which there is more to say of it
  bool no_fpdu = false;       // begins there
  bool sent_first = false;    // what begins there was sent before the other end's frame, which answers it
};

// The FPDUs that were told, and where and how the next one is framed.
struct WalkFpdus {
  Track track{};                              // of the next one
  std::uint64_t number = 0;                   // of those told
  bool mid_stream = false;                    // the beginning of the stream was not followed
  std::optional<std::uint64_t> guessed_at{};  // stream offset since when there were no Markers, and might be

  // Nothing of the stream was told or missed.
  [[nodiscard]] bool at_the_beginning() const noexcept { return number == 0 && !mid_stream && track.position == 0; }
  // Octets behind which the next FPDU begins at the earliest, when none begins here. The first may not begin where
  // PD_Length says.
  [[nodiscard]] std::size_t least_skip() const noexcept { return number == 0 ? 1 : 4; }
  // So near behind the guess a Marker could not yet have shown itself twice.
  [[nodiscard]] bool guessed(std::uint64_t stream_offset) const noexcept {
    return guessed_at && stream_offset - *guessed_at < 2 * mpa::kMarkerPeriod;
  }
};

// The search for the next FPDU, from when the last one was lost; made anew by each loss.
struct WalkSearch {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};  // no look is due

  std::uint64_t lost_at = 0;       // stream offset
  bool told = false;               // with a LostSeen
  Resync resync{};                 // what the search remembers
  std::uint64_t look_at = kNever;  // the stream offset that must be shown for the next look
  std::optional<Track> found{};    // FPDUs begin at the front, and the other direction goes first
};

// What its octets run into.
struct WalkStop {
  std::optional<TcpGap> gap{};        // octets that the capture has not
  std::optional<TcpClosed> closed{};  // a FIN or a reset
  bool end_told = false;              // by an EndSeen

  // It runs into something.
  [[nodiscard]] bool near() const noexcept { return gap || closed; }
  // A FIN follows the octets: more will never come.
  [[nodiscard]] bool at_fin() const noexcept { return !gap && closed && closed->how == Closing::kFin; }
};

// All of one direction.
struct WalkHalf {
  // What the walk does with the direction's octets.
  enum class Phase : std::uint8_t {
    kSearching,  // for the startup frame
    kStartup,    // in it
    kWaiting,    // behind it, for the other end's
    kUnagreed,   // behind it, and the other end's will not come: FPDUs may begin here all the same
    kFollowing,  // FPDU by FPDU
    kLost,       // looking for one
    kIgnoring,   // no MPA (any more)
  };

  End end{};                        // who sends it
  Phase phase = Phase::kSearching;  // what the walk does with its octets
  OctetWindow window{};             // those that are not used up
  std::uint64_t run_begin = 0;      // stream offset of the octets that came since the other direction's last ones
  std::size_t needed = 0;           // octets in the window before another look is worth while
  WalkTurn turn{};                  // its place in the order of the capture
  WalkStartup startup{};            // what its startup frame said
  WalkFront front{};                // kSearching
  WalkFpdus fpdus{};                // kFollowing: what was told, and what comes next
  WalkSearch search{};              // kLost
  WalkStop stop{};                  // what its octets run into

  // Nothing of the startup was captured so far.
  [[nodiscard]] bool startup_may_come() const noexcept { return !startup.flags && fpdus.number == 0; }
};

}  // namespace weft::conformance
