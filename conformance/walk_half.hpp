// SPDX-License-Identifier: Apache-2.0
/// @file
/// The state of one direction of a walk. Only walk.hpp uses it.
///
/// Each struct contains one aspect of the state. What concerns both directions belongs to Walk.
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

/// Holds the position of a direction in the order of the events. The two directions keep the order by waiting for each
/// other. Octets of one event have one turn; turns rise.
struct WalkTurn {
  bool undecided = false;                     ///< a look-ahead is in progress, and the other direction waits
  bool held = false;                          ///< waits for the other direction
  bool overtaken = false;                     ///< the other direction has waited long enough
  std::optional<std::uint64_t> late_until{};  ///< FPDUs up to this turn are reported later than they should be
  std::uint64_t last = 0;                     ///< turn of the last reported FPDU

  /// Returns true once for the first FPDU after those that were reported late. `turn` is the turn in which it ends.
  [[nodiscard]] bool in_order_again(std::uint64_t turn) noexcept {
    const bool again = late_until && turn > *late_until;
    if (again) late_until.reset();
    return again;
  }
  /// Records that an FPDU which ends in `turn` was reported. `other` is the state of the other direction.
  void go_on(std::uint64_t turn, const WalkTurn& other) noexcept {
    if (std::exchange(overtaken, false)) late_until = other.last;
    last = turn;
  }
};

/// Holds the startup frame of a direction.
struct WalkStartup {
  /// Describes the position of the frame.
  struct Span {
    std::uint64_t begin{};  ///< stream offset of the first octet
    std::uint64_t end{};    ///< stream offset after the last octet
    std::uint64_t turn{};   ///< turn of the first octet
  };
  std::optional<StartupFlags> flags{};  ///< flags of the frame, if there was one
  std::optional<std::uint64_t> base{};  ///< stream offset of the first octet after the frame, while known
  std::optional<Span> span{};           ///< position of the frame, even if it is invalid
  bool rejected = false;       ///< the frame of either end rejected the connection: what follows belongs to the ULP
  bool may_be_missing = true;  ///< the position of the frame was not captured: FPDUs may follow without it

  /// Returns the position of an octet in the FPDU stream; nothing if unknown.
  [[nodiscard]] std::optional<std::uint64_t> position_of(std::uint64_t stream_offset) const noexcept {
    if (!base || stream_offset < *base) return std::nullopt;
    return stream_offset - *base;
  }
};

/// Describes a position at which MPA has to begin although there is no key: the first octet, or the first octet after
/// the frame of the other end.
struct WalkFront {
  std::uint64_t at = 0;       ///< stream offset of the position
  std::uint64_t look_at = 0;  ///< stream offset after which more can be decided
  bool no_fpdu = false;       ///< no FPDU begins there
  bool sent_first = false;    ///< the octets there were sent before the frame of the other end, which answers them
};

/// Holds the state of the FPDUs: what was reported, and where and how the next one is framed.
struct WalkFpdus {
  Track track{};                              ///< framing and position of the next FPDU
  std::uint64_t number = 0;                   ///< number of FPDUs reported
  std::uint64_t last_at = 0;                  ///< stream offset of the last FPDU reported
  bool mid_stream = false;                    ///< the beginning of the stream was not followed
  bool nesting = false;                       ///< FPDUs may have been the payload of others in this direction
  bool may_be_nested = false;                 ///< those that are followed now may be, too
  std::optional<std::uint64_t> guessed_at{};  ///< stream offset from which Markers, or their absence, are only a guess

  /// Returns whether nothing of the stream was reported or missed.
  [[nodiscard]] bool at_the_beginning() const noexcept { return number == 0 && !mid_stream && track.position == 0; }
  /// Returns the least distance in octets to the next FPDU if none begins here. The first FPDU may begin at any octet,
  /// because PD_Length of the startup frame may be wrong. Later ones begin at multiples of 4.
  [[nodiscard]] std::size_t least_skip() const noexcept { return number == 0 ? 1 : 4; }
  /// Returns whether an FPDU that begins there begins so close to the guess that a Marker cannot have appeared twice
  /// before it. What a longer FPDU has inside may still be Markers.
  [[nodiscard]] bool guessed(std::uint64_t stream_offset) const noexcept {
    return guessed_at && stream_offset < *guessed_at + 2 * mpa::kMarkerPeriod;
  }
  /// Returns whether all FPDUs reported so far began that close to the guess.
  [[nodiscard]] bool guessed() const noexcept { return guessed(last_at); }
};

/// Holds the state of the search for the next FPDU after a loss. Each loss creates it anew.
struct WalkSearch {
  static constexpr std::uint64_t kNever = ~std::uint64_t{0};  ///< no attempt is due

  std::uint64_t lost_at = 0;       ///< stream offset of the loss
  std::uint64_t since = 0;         ///< stream offset of the first octet searched
  bool told = false;               ///< the loss was reported by a LostSeen
  bool uncaptured = false;         ///< the capture lacks octets there, or the beginning: the sender is not the cause
  bool given_up = false;           ///< no FPDU is searched for any more
  Resync resync{};                 ///< state of the scan
  std::uint64_t look_at = kNever;  ///< stream offset that must be shown for the next attempt
  std::optional<Track> found{};    ///< a sequence of FPDUs begins at the front
  std::size_t followed = 0;        ///< number of octets of that sequence that were looked at
  Track reached{};                 ///< framing and position of the FPDU after them
  std::size_t packets = 0;         ///< number of packets that begin with an FPDU of it
  bool proven = false;             ///< enough of it was looked at; it waits for the other direction
  bool may_be_nested = false;      ///< it may be the payload of an FPDU that was not captured
};

/// Describes what ends the available data: a gap, FIN or RST.
struct WalkStop {
  std::optional<TcpGap> gap{};        ///< gap in the capture
  std::optional<TcpClosed> closed{};  ///< FIN or reset
  bool end_told = false;              ///< the end was reported by an EndSeen

  /// Returns whether a gap, FIN or RST follows the available octets.
  [[nodiscard]] bool near() const noexcept { return gap || closed; }
  /// Returns whether a FIN follows: no more octets will arrive.
  [[nodiscard]] bool at_fin() const noexcept { return !gap && closed && closed->how == Closing::kFin; }
};

/// Holds the whole state of one direction.
struct WalkHalf {
  /// Identifies what the walk does with the octets of the direction.
  enum class Phase : std::uint8_t {
    kSearching,  ///< searches for the startup frame
    kStartup,    ///< reads the startup frame
    kWaiting,    ///< waits for the frame of the other end
    kUnagreed,   ///< the frame of the other end will not arrive: FPDUs may begin here nevertheless
    kFollowing,  ///< reads FPDUs
    kLost,       ///< searches for an FPDU
    kIgnoring,   ///< ignores the octets, which are not or no longer MPA
  };

  End end{};                        ///< sender
  Phase phase = Phase::kSearching;  ///< current activity
  OctetWindow window{};             ///< octets that were not processed
  std::uint64_t run_begin = 0;  ///< stream offset of the octets that arrived since the last ones of the other direction
  std::size_t needed = 0;       ///< number of octets in the window that the next attempt needs
  WalkTurn turn{};              ///< position in the order of the capture
  WalkStartup startup{};        ///< startup frame
  WalkFront front{};            ///< kSearching: where MPA has to begin
  WalkFpdus fpdus{};            ///< kFollowing: FPDUs
  WalkSearch search{};          ///< kLost: search for the next FPDU
  WalkStop stop{};              ///< what ends the available data
  std::uint64_t missing = 0;    ///< octets that the capture lacks
  std::uint64_t unread = 0;     ///< octets that were not read for that reason, up to the last FPDU that was found again

  /// Returns whether nothing of the startup was captured so far.
  [[nodiscard]] bool startup_may_come() const noexcept { return !startup.flags && fpdus.number == 0; }
};

}  // namespace weft::conformance
