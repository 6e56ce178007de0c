// SPDX-License-Identifier: Apache-2.0
/// @file
/// A TCP connection over an idle network as segments, for captures of octets that passed through sockets. Order,
/// content and direction of the octets are the caller's; sequence numbers and acknowledgments follow from them.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "packet/compose.hpp"

namespace weft::packet {

/// Receives the segments of a conversation.
class SegmentSink {
 public:
  /// Takes a segment with the next `octets` of `payload`. Both are valid during the call only.
  virtual void write(const Segment& segment, PieceReader& payload, std::size_t octets) = 0;

 protected:
  ~SegmentSink() = default;
};

/// Composes the segments of one connection. Not thread-safe. Allocates no memory.
/// A direction sends nothing after its FIN or a RST: later calls for it have no effect.
class Conversation {
 public:
  /// Identifies an end.
  enum class Side : std::uint8_t {
    kOpener,    ///< end that sends the first SYN
    kAnswerer,  ///< other end
  };
  /// Returns the other end.
  [[nodiscard]] static constexpr Side opposite(Side side) noexcept {
    return side == Side::kOpener ? Side::kAnswerer : Side::kOpener;
  }
  /// Describes an end.
  struct End {
    Endpoint endpoint{};            ///< address and port
    std::uint32_t next_sequence{};  ///< sequence number of its SYN
    std::uint8_t station{};         ///< Segment::source_station
  };

  /// Starts a conversation without a segment. `mss` is the maximum payload of a segment in octets, 1 to 65535. The
  /// window is 0xffff, shifted by `window_scale` bits; 0 omits the option. Both SYNs have these values.
  Conversation(const End& opener, const End& answerer, std::size_t mss, std::uint8_t window_scale = 0) noexcept
      : mss_(mss), window_scale_(window_scale), parties_{{{.end = opener}, {.end = answerer}}} {}

  /// Sends the three segments of the handshake.
  void open(SegmentSink& to);
  /// Sends octets in segments of at most the MSS; PSH marks the last one.
  void send(SegmentSink& to, Side from, std::span<const Bytes> pieces);
  /// Sends a FIN and its acknowledgment.
  void finish(SegmentSink& to, Side from);
  /// Sends a RST, which ends both directions.
  void reset(SegmentSink& to, Side from);

 private:
  struct Party {
    End end{};
    std::size_t unacknowledged = 0;  // octets since the other end last sent anything
    bool over = false;               // has sent FIN or RST
  };
  [[nodiscard]] Party& party(Side side) noexcept { return parties_[static_cast<std::size_t>(side)]; }
  void emit(SegmentSink& to, Side from, std::uint8_t flags, PieceReader& payload, std::size_t octets, Bytes options);
  void emit_bare(SegmentSink& to, Side from, std::uint8_t flags, Bytes options = {});

  std::size_t mss_;
  std::uint8_t window_scale_;
  std::array<Party, 2> parties_;
};

}  // namespace weft::packet
