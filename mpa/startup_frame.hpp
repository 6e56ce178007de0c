// SPDX-License-Identifier: Apache-2.0
// The MPA Request and Reply frames, RFC 5044 section 7.1.1 and RFC 6581 section 6. This file is the only place that
// knows their layout (MPA-7.1.1-01, MPA2-6-01, MPA2-6-02):
//
//   +-----------------------------------------------+
//   | Key, 16 octets: "MPA ID Req Frame" or "... Rep ..."
//   +---+---+---+---+---------+-----------+---------------------+
//   | M | C | R | S |  Res    |  Rev      |  PD_Length          |
//   +---+---+---+---+---------+-----------+---------------------+
//   | Private Data, PD_Length octets. With S it begins with the enhanced data:
//   |   A B IRD(14)  C D ORD(14)                                         (MPA2-9-01)
//   +-----------------------------------------------+
// Private data may be absent (MPA-7.1.1-24). A frame is not padded, has no CRC and no Markers (MPA-7.1-05,
// MPA-7.1.1-30).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>

#include "common/wire.hpp"
#include "mpa/errors.hpp"
#include "mpa/policy.hpp"

namespace weft::mpa {

enum class FrameKind : std::uint8_t { kRequest, kReply };

inline constexpr std::size_t kKeySize = 16;
inline constexpr std::size_t kFixedFrameSize = 20;
inline constexpr std::size_t kEnhancedDataSize = 4;
inline constexpr std::size_t kMaxPrivateData = 512;                                          // MPA-7.1.1-28
inline constexpr std::size_t kMaxEnhancedPrivateData = kMaxPrivateData - kEnhancedDataSize;  // MPA2-9-03
inline constexpr std::size_t kMaxStartupFrameSize = kFixedFrameSize + kMaxPrivateData;

// RFC 6581 section 9 (MPA2-5-01, MPA2-9-04). IRD and ORD are the sender's own, 14 bits; kNoNegotiation leaves them to
// the ULP (MPA2-9.1-19).
struct EnhancedData {
  bool peer_to_peer{};  // A
  RtrTypes rtr{};       // B send, C write, D read; as received, also where A = 0 tells to ignore them
  std::uint16_t ird{};
  std::uint16_t ord{};
  bool operator==(const EnhancedData&) const = default;
};

struct StartupFrame {
  FrameKind kind{};
  bool markers{};           // M: wants Markers in what it receives (MPA-7.1.1-06)
  bool crc{};               // C
  bool reject{};            // R: means something in a Reply only (MPA-7.1.1-15)
  std::uint8_t reserved{};  // Res bits as received; sent as zero, never checked (MPA-7.1.1-18, MPA2-6-05)
  std::uint8_t revision{};  // as received, any value
  std::optional<EnhancedData> enhanced{};  // with S, and only then (MPA2-6-03, MPA2-6-06, MPA2-10-07)
  Bytes private_data{};                    // the ULP's, without the enhanced data; points into the octets parsed

  [[nodiscard]] std::size_t size() const noexcept {
    return kFixedFrameSize + (enhanced ? kEnhancedDataSize : 0) + private_data.size();
  }
};

// Which frame a stream begins with; nothing when fewer than 16 octets are there or they are no MPA key.
[[nodiscard]] std::optional<FrameKind> frame_kind(Bytes octets) noexcept;

// Octets that the frame at the front still needs at least; 0 when it is complete (or beyond repair: see parse).
[[nodiscard]] std::size_t missing_octets(Bytes octets) noexcept;

// Parses the frame at the front of `octets`; empty when it is not complete. A bad key or PD_Length is refused as soon
// as it is seen. The caller checks `revision` (each role has its own rule). S is a reserved bit below revision 2 and
// then ignored. Faults: kBadKey, kRoleClash (a Request where a Reply is due), kPrivateDataTooLong,
// kEnhancedDataMissing.
[[nodiscard]] std::expected<std::optional<StartupFrame>, Fault> parse_startup_frame(Bytes octets,
                                                                                    FrameKind expected) noexcept;

// Writes the frame and returns its size; `room` holds frame.size() octets and the private data is within its bound.
// `reserved` is written as it is, for testers; a conforming sender leaves it zero (MPA-7.1.1-17, MPA2-6-04).
std::size_t serialize(const StartupFrame& frame, MutableBytes room) noexcept;

}  // namespace weft::mpa
