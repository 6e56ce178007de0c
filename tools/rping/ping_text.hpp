// SPDX-License-Identifier: Apache-2.0
// What rping writes into its buffer: "rdma-ping-<n>: ", then the characters 'A' to 'z' over and over, each ping
// starting one character later than the one before, and a NUL in the last octet. The server echoes as far as the first
// NUL.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace weft::tools::rping {

inline constexpr std::uint32_t kDefaultSize = 64;  // as the program does; its manual page says 100
inline constexpr std::uint32_t kMinSize = 26;      // room for the prefix with the largest number
inline constexpr std::uint32_t kMaxSize = 65535;

// Fills all of `buffer`, which has at least kMinSize octets.
void fill_ping_text(std::span<char> buffer, std::uint32_t ping);

// The text in `buffer` up to its first NUL, or all of it.
[[nodiscard]] std::string_view text_in(std::span<const char> buffer);

// That text for a terminal: what a peer sent may be anything, so octets that cannot be printed become \xNN.
[[nodiscard]] std::string shown_text(std::span<const char> buffer);

}  // namespace weft::tools::rping
