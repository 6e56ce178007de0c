// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/tcp_header.hpp"

#include <algorithm>

namespace weft::conformance::capture {
namespace {

struct TcpLayout {
  using SourcePort = Be<0, std::uint16_t>;
  using DestinationPort = Be<2, std::uint16_t>;
  using Sequence = Be<4, std::uint32_t>;
  using Acknowledgement = Be<8, std::uint32_t>;
  using DataOffset = Be<12, std::uint8_t>;  // upper half: in words of four octets
  using Flags = Be<13, std::uint8_t>;
  static constexpr std::size_t kSize = 20;  // without options
};
constexpr std::uint8_t kFin = 0x01;
constexpr std::uint8_t kSyn = 0x02;
constexpr std::uint8_t kRst = 0x04;
constexpr std::uint8_t kAck = 0x10;

// Section 3.2.
constexpr std::uint8_t kEndOfOptions = 0;
constexpr std::uint8_t kNoOperation = 1;
constexpr std::uint8_t kMss = 2;
constexpr std::size_t kMssSize = 4;

std::optional<std::uint16_t> find_mss(Bytes options) noexcept {
  while (!options.empty()) {
    const auto kind = std::to_integer<std::uint8_t>(options[0]);
    if (kind == kEndOfOptions) break;
    if (kind == kNoOperation) {
      options = options.subspan(1);
      continue;
    }
    if (options.size() < 2) break;
    const auto size = std::to_integer<std::size_t>(options[1]);
    if (size < 2 || size > options.size()) break;
    if (kind == kMss && size == kMssSize) return Be<2, std::uint16_t>::get(options);
    options = options.subspan(size);
  }
  return std::nullopt;
}

}  // namespace

std::expected<TcpHeader, Unread> parse_tcp(Bytes octets, std::size_t original_size) noexcept {
  if (octets.size() < TcpLayout::kSize) return std::unexpected(Unread::kMalformed);
  const std::size_t size = std::size_t{4} * (TcpLayout::DataOffset::get(octets) >> 4);
  if (size < TcpLayout::kSize || size > original_size) return std::unexpected(Unread::kMalformed);
  const std::uint8_t flags = TcpLayout::Flags::get(octets);
  TcpHeader header{.source_port = TcpLayout::SourcePort::get(octets),
                   .destination_port = TcpLayout::DestinationPort::get(octets),
                   .sequence = TcpLayout::Sequence::get(octets),
                   .acknowledgement = TcpLayout::Acknowledgement::get(octets),
                   .syn = (flags & kSyn) != 0,
                   .ack = (flags & kAck) != 0,
                   .fin = (flags & kFin) != 0,
                   .rst = (flags & kRst) != 0,
                   .size = size};
  const std::size_t captured = std::min(size, octets.size());
  if (header.syn) header.mss = find_mss(octets.subspan(TcpLayout::kSize, captured - TcpLayout::kSize));
  return header;
}

}  // namespace weft::conformance::capture
