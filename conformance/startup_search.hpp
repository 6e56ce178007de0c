// SPDX-License-Identifier: Apache-2.0
// Where in a direction's octets its MPA startup frame begins. TCP may have carried other octets before (MPA-1.2-02),
// and the key itself may be wrong (MPA-7.1.1-02, MPA-7.1.1-04).
#pragma once

#include <array>
#include <optional>
#include <vector>

#include "common/wire.hpp"
#include "mpa/startup_frame.hpp"

namespace weft::conformance {

// Where a startup frame begins.
struct KeyFound {
  std::size_t at{};       // of its first octet, in what was searched
  mpa::FrameKind kind{};  // of a key with changed octets: the one that it resembles more
};

// The first key, or what a few changed octets have left of one.
[[nodiscard]] std::optional<KeyFound> find_key(Bytes octets) noexcept;
// The octets end in a key that is not all there, but so much of it that it is nothing else. Which of the two it is,
// 10 octets tell; until then it is taken for a Request.
[[nodiscard]] std::optional<KeyFound> find_cut_key(Bytes octets) noexcept;

// Of a frame whose fixed part is there. Its key is one, or nearly.
[[nodiscard]] bool resembles_key(Bytes octets) noexcept;
// What is behind the key is what a startup frame has there: no reserved bit, a revision, a possible PD_Length.
[[nodiscard]] bool resembles_fixed_part(Bytes octets) noexcept;

// The front of a startup frame with the key put right, so that the parser reads what is behind it.
class RepairedFrame {
 public:
  // `octets` are copied. `kind`: the key that they are to have.
  RepairedFrame(Bytes octets, mpa::FrameKind kind);
  // What the frame says, with the right key; nothing when more octets are needed.
  [[nodiscard]] std::expected<std::optional<mpa::StartupFrame>, mpa::Fault> parse() const noexcept;

 private:
  std::vector<std::byte> octets_{};
  mpa::FrameKind kind_;
};

// The M, C and R bits of a frame whose fixed part is there.
struct StartupFlags {
  bool markers{}, crc{}, reject{};  // each as it is, whatever is wrong with the frame
};
// Of the frame that begins here.
[[nodiscard]] StartupFlags startup_flags(Bytes octets) noexcept;
// What PD_Length makes the frame's size. The fixed part is there.
[[nodiscard]] std::size_t startup_size(Bytes octets) noexcept;

}  // namespace weft::conformance
