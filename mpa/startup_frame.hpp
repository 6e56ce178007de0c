// SPDX-License-Identifier: Apache-2.0
/// @file
/// Layout of the MPA Request and Reply frames (RFC 5044 section 7.1.1, RFC 6581 section 6). Only this file contains it
/// (MPA-7.1.1-01, MPA2-6-01, MPA2-6-02):
///
///     +-----------------------------------------------+
///     | Key, 16 octets: "MPA ID Req Frame" or "... Rep ..."
///     +---+---+---+---+---------+-----------+---------------------+
///     | M | C | R | S |  Res    |  Rev      |  PD_Length          |
///     +---+---+---+---+---------+-----------+---------------------+
///     | Private Data, PD_Length octets. With S it begins with the enhanced data:
///     |   A B IRD(14)  C D ORD(14)                                         (MPA2-9-01)
///     +-----------------------------------------------+
///
/// Private data may be absent (MPA-7.1.1-24). A frame is not padded, has no CRC and no Markers (MPA-7.1-05,
/// MPA-7.1.1-30).
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

/// Identifies a startup frame.
enum class FrameKind : std::uint8_t { kRequest, kReply };

/// Size of the key in octets.
inline constexpr std::size_t kKeySize = 16;
/// Size of a frame without private data in octets.
inline constexpr std::size_t kFixedFrameSize = 20;
/// Size of the enhanced data in octets.
inline constexpr std::size_t kEnhancedDataSize = 4;
inline constexpr std::size_t kMaxPrivateData = 512;  ///< maximum of private data in octets (MPA-7.1.1-28)
/// The same beside enhanced data (MPA2-9-03).
inline constexpr std::size_t kMaxEnhancedPrivateData = kMaxPrivateData - kEnhancedDataSize;
/// Size of the largest frame in octets.
inline constexpr std::size_t kMaxStartupFrameSize = kFixedFrameSize + kMaxPrivateData;

/// Holds the enhanced data (RFC 6581 section 9, MPA2-5-01, MPA2-9-04). IRD and ORD are the sender's, 14 bits;
/// kNoNegotiation leaves them to the ULP (MPA2-9.1-19).
struct EnhancedData {
  bool peer_to_peer{};  ///< A: peer-to-peer mode
  RtrTypes rtr{};       ///< B send, C write, D read; as received, even if A = 0 requires to ignore them
  /// IRD of the sender.
  std::uint16_t ird{};
  /// ORD of the sender.
  std::uint16_t ord{};
  /// Compares all members.
  bool operator==(const EnhancedData&) const = default;
};

/// Holds the content of a startup frame.
struct StartupFrame {
  /// Request or Reply.
  FrameKind kind{};
  bool markers{};           ///< M: requests Markers from the other end (MPA-7.1.1-06)
  bool crc{};               ///< C: requests CRCs
  bool reject{};            ///< R: rejects; only meaningful in a Reply (MPA-7.1.1-15)
  std::uint8_t reserved{};  ///< Res bits as received; sent as zero and never checked (MPA-7.1.1-18, MPA2-6-05)
  std::uint8_t revision{};  ///< MPA revision as received, any value
  /// Enhanced data; present if and only if S is set (MPA2-6-03, MPA2-6-06, MPA2-10-07).
  std::optional<EnhancedData> enhanced{};
  Bytes private_data{};  ///< private data of the ULP, without the enhanced data; refers to the parsed octets

  /// Returns the size of the frame in octets.
  [[nodiscard]] std::size_t size() const noexcept {
    return kFixedFrameSize + (enhanced ? kEnhancedDataSize : 0) + private_data.size();
  }
};

/// Returns the kind of frame that a stream begins with. Returns nothing if there are fewer than 16 octets, or if they
/// are not an MPA key.
[[nodiscard]] std::optional<FrameKind> frame_kind(Bytes octets) noexcept;

/// Returns the least number of octets that are missing from the frame at the front; 0 if it is complete or invalid (see
/// parse_startup_frame()).
[[nodiscard]] std::size_t missing_octets(Bytes octets) noexcept;

/// Parses the frame at the front of `octets`. Returns nothing if it is incomplete. An invalid key or PD_Length is
/// detected as soon as it is present.
/// The caller checks `revision`, because each role has its own rule. Below revision 2, S is a reserved bit and ignored.
/// Faults: kBadKey, kRoleClash (a Request instead of a Reply), kPrivateDataTooLong, kEnhancedDataMissing.
[[nodiscard]] std::expected<std::optional<StartupFrame>, Fault> parse_startup_frame(Bytes octets,
                                                                                    FrameKind expected) noexcept;

/// Writes the frame and returns its size. `room` must hold frame.size() octets, and the private data must be within its
/// maximum.
/// `reserved` is written unchanged, for testers; a conforming sender leaves it zero (MPA-7.1.1-17, MPA2-6-04).
std::size_t serialize(const StartupFrame& frame, MutableBytes room) noexcept;

}  // namespace weft::mpa
