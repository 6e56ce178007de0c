// SPDX-License-Identifier: Apache-2.0
/// @file
/// Search for MPA startup frames in the octets of a direction.
///
/// TCP may carry other octets before the frame (MPA-1.2-02), and the key itself may be wrong (MPA-7.1.1-02,
/// MPA-7.1.1-04).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "common/wire.hpp"
#include "mpa/startup_frame.hpp"

namespace weft::conformance {

/// Describes where a startup frame begins.
struct KeyFound {
  std::size_t at{};       ///< offset of its first octet
  mpa::FrameKind kind{};  ///< kind of the frame; for a damaged key, the kind that it resembles more
};

/// Returns the first key, or what a few changed octets have left of one.
[[nodiscard]] std::optional<KeyFound> find_key(Bytes octets) noexcept;
/// Returns an incomplete key at the end of the octets, if there is enough of it to recognize it. The first 10 octets do
/// not distinguish the two keys; until then, it counts as a Request.
[[nodiscard]] std::optional<KeyFound> find_cut_key(Bytes octets) noexcept;

/// Returns whether the fixed part of a frame begins with a key, or nearly so.
[[nodiscard]] bool resembles_key(Bytes octets) noexcept;
/// Returns whether the octets after the key are possible in a startup frame: no reserved bit, a known revision, a
/// possible PD_Length.
[[nodiscard]] bool resembles_fixed_part(Bytes octets) noexcept;

/// Holds the front of a startup frame with a corrected key, so that the parser reads the rest.
class RepairedFrame {
 public:
  /// Copies `octets` and writes the key of `kind` into the copy.
  RepairedFrame(Bytes octets, mpa::FrameKind kind);
  /// Returns the parsed frame; nothing if more octets are needed.
  [[nodiscard]] std::expected<std::optional<mpa::StartupFrame>, mpa::Fault> parse() const noexcept;

 private:
  std::vector<std::byte> octets_{};
  mpa::FrameKind kind_;
};

/// Holds the M, C and R bits of a frame whose fixed part is complete.
struct StartupFlags {
  bool markers{};  ///< the M bit, whatever else is wrong with the frame
  bool crc{};      ///< the C bit
  bool reject{};   ///< the R bit
};
/// Returns the bits of the frame that begins here.
[[nodiscard]] StartupFlags startup_flags(Bytes octets) noexcept;
/// Returns the size of the frame according to PD_Length. The fixed part must be complete.
[[nodiscard]] std::size_t startup_size(Bytes octets) noexcept;

}  // namespace weft::conformance
