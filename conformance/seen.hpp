// SPDX-License-Identifier: Apache-2.0
// What there is to see on one connection, piece by piece in the order of the capture: the walk (walk.hpp) makes these
// of TCP octets with the parsers of the live stack, the rules judge them, `weft dissect` prints them. Nothing here says
// whether a piece is right.
#pragma once

#include <array>
#include <cstdint>
#include <expected>
#include <optional>
#include <span>
#include <variant>

#include "common/wire.hpp"
#include "conformance/place.hpp"
#include "conformance/tcp_events.hpp"
#include "ddp/header.hpp"
#include "mpa/errors.hpp"
#include "mpa/fpdu.hpp"
#include "mpa/startup_frame.hpp"

namespace weft::conformance {

// Octets of one direction that belong together, and where they lie. Spans are valid until the next call of the walk.
struct Piece {
  Direction from{};               // who sent them
  std::uint64_t stream_offset{};  // of octets[0] in its direction of the TCP connection (TcpSegment::stream_offset)
  Bytes octets{};                 // as they were on the wire
  Place first{};                  // of octets[0]
  Place last{};                   // of the last octet: `last.packet` is where the piece was complete
};

// Octets before MPA started (MPA-1.2-02). Told once per direction, when its startup frame was found.
struct StreamingSeen {
  Direction from{};        // who sent them
  std::uint64_t octets{};  // in all
};

// An MPA Request or Reply frame.
struct StartupSeen {
  Piece piece{};                                         // key to private data, as far as they were there
  std::expected<mpa::StartupFrame, mpa::Fault> frame{};  // what it says, or what is wrong with it
};

// A Marker as it was, and what it should have been (MPA-4.3-05, MPA-4.3-07).
struct MarkerSeen {
  std::size_t at{};                  // in the piece's octets
  std::uint16_t reserved{};          // its first two octets, which are to be 0
  std::uint16_t pointer{};           // its FPDUPTR
  std::uint16_t expected_pointer{};  // what that should have been
};

// What an FPDU's CRC field says of it.
enum class CrcVerdict : std::uint8_t {
  kGood,      // it is what the octets give
  kBad,       // it is not
  kNotInUse,  // neither end asked for CRCs
};

// One FPDU, taken apart. Spans are valid until the next call of the walk.
struct FpduSeen {
  Piece piece{};             // Markers included
  std::uint64_t position{};  // of the FPDU in the FPDU stream: octets behind the sender's own startup frame. Markers
                             // stand at multiples of 512 of it. Meaningless (0 is somewhere) when `mid_stream` is set
  std::uint64_t number{};    // in its direction, counted from 1
  mpa::Framing framing{};    // in force for this direction
  std::uint16_t ulpdu_length{};           // its first field
  std::span<const MarkerSeen> markers{};  // front to back
  Bytes ulpdu{};                          // without Markers; contiguous
  Bytes pad{};                            // 0 to 3 octets
  CrcVerdict crc{};                       // whether it holds
  std::uint32_t crc_field{};              // least significant octet first
  std::uint32_t crc_computed{};           // over what MPA-4.4-14 to -16 name; only where `crc` is kBad
  bool mid_stream{};  // the capture does not show the beginning, or lost octets before this one: see ResumedSeen

  // Where an octet of the ULPDU lies in piece.octets: Markers lie between them.
  [[nodiscard]] std::size_t ulpdu_at(std::size_t offset) const noexcept;
};

// Why FPDUs are lost.
enum class LossReason : std::uint8_t {
  kCaptureGap,  // the capture lost octets: neither end's fault
  kNotAnFpdu,   // what should be an FPDU is none: CRC, Markers and lengths lead nowhere
};
// The FPDUs of a direction could not be followed any more. The rules forget what they know of it.
struct LostSeen {
  Direction from{};                     // whose FPDUs they were
  LossReason reason{};                  // why
  std::uint64_t stream_offset{};        // where the last FPDU ends
  Place place{};                        // the same, in the capture
  std::optional<mpa::FrameKind> key{};  // of the startup frame that stands there instead
};
// An FPDU was found again: by two or more in a row whose lengths lead from one to the next and whose CRC or headers
// fit.
struct ResumedSeen {
  Direction from{};               // who sent it
  std::uint64_t skipped{};        // octets in between
  std::uint64_t stream_offset{};  // where it begins
  Place place{};                  // the same, in the capture
};

struct SegmentSeen {     // a TCP segment, for the rules on alignment
  Direction from{};      // who sent it
  TcpSegment segment{};  // as TCP's layer told it
};

// One direction of the connection ended.
struct EndSeen {
  Direction from{};                   // whose
  Closing how{};                      // by a FIN or a reset
  std::uint64_t packet{};             // that said so
  std::uint64_t unfinished{};         // octets of a frame or FPDU that had begun
  Place unfinished_at{};              // where that begins
  std::uint64_t unfinished_offset{};  // in the stream; without unfinished octets, the end
};

// The capture is over; what did not happen by now is unknown, not wrong.
struct CaptureOver {};

// One piece. A std::visit over it has to know them all.
using Seen =
    std::variant<StreamingSeen, StartupSeen, FpduSeen, LostSeen, ResumedSeen, SegmentSeen, EndSeen, CaptureOver>;

}  // namespace weft::conformance
