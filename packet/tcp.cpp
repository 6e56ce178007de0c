// SPDX-License-Identifier: Apache-2.0
#include "packet/tcp.hpp"

#include <algorithm>

namespace weft::packet {
namespace {

std::optional<std::uint16_t> find_mss(Bytes options) noexcept {
  while (!options.empty()) {
    const auto kind = std::to_integer<std::uint8_t>(options[0]);
    if (kind == tcp_option::kEnd) break;
    if (kind == tcp_option::kNoOperation) {
      options = options.subspan(1);
      continue;
    }
    if (options.size() < 2) break;
    const auto size = std::to_integer<std::size_t>(options[1]);
    if (size < 2 || size > options.size()) break;
    if (kind == tcp_option::kMss && size == tcp_option::kMssSize) return Be<2, std::uint16_t>::get(options);
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
                   .syn = (flags & tcp_flag::kSyn) != 0,
                   .ack = (flags & tcp_flag::kAck) != 0,
                   .fin = (flags & tcp_flag::kFin) != 0,
                   .rst = (flags & tcp_flag::kRst) != 0,
                   .size = size};
  const std::size_t captured = std::min(size, octets.size());
  if (header.syn) header.mss = find_mss(octets.subspan(TcpLayout::kSize, captured - TcpLayout::kSize));
  return header;
}

}  // namespace weft::packet
