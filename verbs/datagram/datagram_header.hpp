// SPDX-License-Identifier: Apache-2.0
// The octets of a datagram between two weft ends. No RFC stands behind this format: iWARP has connections alone, and
// the header is weft's own (docs/decisions/0032-datagrams.md). What is in the receive in front of the payload is the
// header of InfiniBand that programs expect there.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <expected>
#include <optional>
#include <string_view>

#include "common/wire.hpp"
#include "transport/endpoint.hpp"

namespace weft::verbs::detail {

struct DatagramHeader {
  std::uint32_t destination{};  // numbers of queue pairs, 24 bits
  std::uint32_t source{};
  std::uint32_t qkey{};
  std::uint16_t length{};  // of the payload
  bool solicited{};
  std::optional<std::array<std::byte, 4>> immediate{};
};

struct DatagramLayout {
  using Version = Be<0, std::uint8_t>;
  using Flags = Be<1, std::uint8_t>;
  using Length = Be<2, std::uint16_t>;
  using Destination = Be<4, std::uint32_t>;
  using Source = Be<8, std::uint32_t>;
  using Qkey = Be<12, std::uint32_t>;
  static constexpr std::size_t kImmediateOffset = 16;  // four octets, zero without the flag
  static constexpr std::size_t kSize = 20;

  static constexpr std::uint8_t kVersion = 1;
  static constexpr std::uint8_t kSolicited = 1;  // the other flags are zero
  static constexpr std::uint8_t kHasImmediate = 2;
};

// `out` has room for DatagramLayout::kSize.
void serialize(const DatagramHeader& header, MutableBytes out) noexcept;
enum class DatagramError : std::uint8_t {
  kTooShort,     // for the header
  kNotCaptured,  // the header was sent, but is not all there
  kVersion,      // another one
  kFlags,        // an undefined one is set
  kNumber,       // of more than 24 bits
  kLength,       // is not that of the rest
};
// Static storage.
[[nodiscard]] std::string_view explain(DatagramError error) noexcept;
// `captured` are the first octets of a datagram of `size`.
[[nodiscard]] std::expected<DatagramHeader, DatagramError> parse_datagram(Bytes captured, std::size_t size) noexcept;
[[nodiscard]] inline std::expected<DatagramHeader, DatagramError> parse_datagram(Bytes datagram) noexcept {
  return parse_datagram(datagram, datagram.size());
}

// InfiniBand's Global Route Header (40 octets).
[[nodiscard]] std::array<std::byte, 40> route_header(const transport::Address& source,
                                                     const transport::Address& destination,
                                                     std::uint16_t length) noexcept;

}  // namespace weft::verbs::detail
