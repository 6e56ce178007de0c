// SPDX-License-Identifier: Apache-2.0
/// @file
/// Pieces of a connection in the order of the capture: startup frames, FPDUs, losses and ends.
///
/// The walk (walk.hpp) produces them from TCP octets with the parsers of the live stack, the rules check them, and
/// `weft dissect` prints them. A piece does not state whether it is correct.
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

/// Holds the octets of one piece and their places. Spans are valid until the next call of the walk.
struct Piece {
  Direction from{};  ///< sender
  /// Offset of octets[0] in its direction of the TCP connection (TcpSegment::stream_offset).
  std::uint64_t stream_offset{};
  Bytes octets{};                               ///< octets as they were on the wire
  Place first{};                                ///< place of octets[0]
  Place last{};                                 ///< place of the last octet: `last.packet` completed the piece
  std::optional<std::uint64_t> acknowledged{};  ///< TcpOctets::acknowledged of octets[0]
  /// Returns the stream offset of the first octet after the piece.
  [[nodiscard]] std::uint64_t end() const noexcept { return stream_offset + octets.size(); }
};

/// Reports octets before the start of MPA (MPA-1.2-02). Reported once per direction, when its startup frame is found.
struct StreamingSeen {
  Direction from{};        ///< sender
  std::uint64_t octets{};  ///< total number of octets
};

/// Describes an MPA Request or Reply frame.
struct StartupSeen {
  Piece piece{};  ///< octets from the key to the private data, as far as available
  std::expected<mpa::StartupFrame, mpa::Fault> frame{};  ///< parsed frame, or the error in it
};

/// Describes a Marker: actual and expected content (MPA-4.3-05, MPA-4.3-07).
struct MarkerSeen {
  std::size_t at{};                  ///< offset in Piece::octets
  std::uint16_t reserved{};          ///< first two octets, which should be 0
  std::uint16_t pointer{};           ///< FPDUPTR
  std::uint16_t expected_pointer{};  ///< expected FPDUPTR
};

/// Identifies the result of a CRC check.
enum class CrcVerdict : std::uint8_t {
  kGood,      ///< the CRC is correct
  kBad,       ///< the CRC is wrong
  kNotInUse,  ///< neither end requested CRCs
};

/// Describes one FPDU and its parts. Spans are valid until the next call of the walk.
struct FpduSeen {
  Piece piece{};  ///< octets of the FPDU, including Markers
  /// Position in the FPDU stream: octets after the sender's startup frame; unknown if mid_stream is set.
  std::uint64_t position{};
  std::uint64_t number{};                 ///< number of the FPDU in its direction, from 1
  mpa::Framing framing{};                 ///< framing of this direction
  std::uint16_t ulpdu_length{};           ///< ULPDU_Length
  std::span<const MarkerSeen> markers{};  ///< Markers in order
  Bytes ulpdu{};                          ///< ULPDU without Markers; contiguous
  Bytes pad{};                            ///< padding, 0 to 3 octets
  CrcVerdict crc{};                       ///< result of the CRC check
  std::uint32_t crc_field{};              ///< value of the CRC field, read with the least significant octet first
  std::uint32_t crc_computed{};  ///< CRC computed over the octets of MPA-4.4-14 to -16; only valid if `crc` is kBad
  bool mid_stream{};  ///< the capture lacks the beginning of the stream, or octets before this FPDU: see ResumedSeen

  bool guessed{};        ///< whether the stream has Markers is a guess that no CRC confirms: its octets may be others
  bool may_be_nested{};  ///< it may be the payload of an FPDU that the capture lacks

  /// Returns the offset in Piece::octets of an octet of the ULPDU. Markers lie between the octets of a ULPDU.
  [[nodiscard]] std::size_t ulpdu_at(std::size_t offset) const noexcept;
};

/// Identifies why FPDUs were lost.
enum class LossReason : std::uint8_t {
  kCaptureGap,  ///< the capture lost octets, which is not the fault of an end
  kNotAnFpdu,   ///< octets that should be an FPDU are not one: CRC, Markers and lengths do not match
};
/// Reports that the FPDUs of a direction could not be followed any further. The rules discard their state of that
/// direction.
struct LostSeen {
  Direction from{};                     ///< sender
  LossReason reason{};                  ///< cause
  std::uint64_t stream_offset{};        ///< stream offset of the end of the last FPDU
  Place place{};                        ///< place of that end in the capture
  std::optional<mpa::FrameKind> key{};  ///< key of the startup frame that follows instead, if any
  /// TcpOctets::acknowledged of the octet at `place`.
  std::optional<std::uint64_t> acknowledged{};
};
/// Reports that FPDUs were found again: at least two in sequence whose lengths lead from one to the next, with correct
/// CRCs or plausible headers.
struct ResumedSeen {
  Direction from{};               ///< sender
  std::uint64_t skipped{};        ///< number of octets between the loss and the FPDU
  std::uint64_t stream_offset{};  ///< stream offset of the FPDU
  Place place{};                  ///< place of the FPDU in the capture
};

/// Reports a TCP segment, for the rules about alignment.
struct SegmentSeen {
  Direction from{};      ///< sender
  TcpSegment segment{};  ///< segment as reported by the TCP layer
};

/// Reports the end of one direction of the connection.
struct EndSeen {
  Direction from{};                   ///< sender
  Closing how{};                      ///< kind of the end: FIN or reset
  std::uint64_t packet{};             ///< packet of the FIN or reset
  std::uint64_t unfinished{};         ///< number of octets of an incomplete frame or FPDU
  Place unfinished_at{};              ///< place of its first octet
  std::uint64_t unfinished_offset{};  ///< stream offset of its first octet, or of the end of the stream
  /// TcpOctets::acknowledged of its first octet.
  std::optional<std::uint64_t> unfinished_acknowledged{};
};

/// Reports the end of the capture. What has not happened by then is unknown, not a violation.
struct CaptureOver {};

/// Holds one piece. A std::visit() over it has to handle all alternatives.
using Seen =
    std::variant<StreamingSeen, StartupSeen, FpduSeen, LostSeen, ResumedSeen, SegmentSeen, EndSeen, CaptureOver>;

}  // namespace weft::conformance
