// SPDX-License-Identifier: Apache-2.0
// Private to transport/: one TCP segment as an Ethernet frame, checksums included.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/wire.hpp"
#include "transport/endpoint.hpp"

namespace weft::transport::detail {

namespace tcp_flag {
inline constexpr std::uint8_t kFin = 0x01;
inline constexpr std::uint8_t kSyn = 0x02;
inline constexpr std::uint8_t kRst = 0x04;
inline constexpr std::uint8_t kPsh = 0x08;
inline constexpr std::uint8_t kAck = 0x10;
}  // namespace tcp_flag

struct Segment {
  const Endpoint& source;
  const Endpoint& destination;
  std::uint32_t sequence{};
  std::uint32_t acknowledgement{};
  std::uint8_t flags{};
  std::uint16_t window{};
  Bytes options{};  // a multiple of four octets
};

// Takes octets from the front of a list of pieces.
class PieceReader {
 public:
  explicit PieceReader(std::span<const Bytes> pieces) noexcept : pieces_(pieces) {}
  [[nodiscard]] std::size_t left() const noexcept;
  void take(MutableBytes into) noexcept;  // the caller asks for no more than left()

 private:
  std::span<const Bytes> pieces_;
  std::size_t taken_of_first_ = 0;
};

// Both endpoints are of one family. `frame` is overwritten; its storage is kept for the next call. The next
// `payload_octets` of `payload` go into the frame; the caller keeps to PcapTap::kMaxSegment.
void compose(std::vector<std::byte>& frame, const Segment& segment, PieceReader& payload, std::size_t payload_octets);

}  // namespace weft::transport::detail
