// SPDX-License-Identifier: Apache-2.0
#include "verbs/datagram/datagram_header.hpp"

#include <algorithm>

#include "verbs/base/queue_pair_numbers.hpp"

namespace weft::verbs::detail {

namespace {

using Layout = DatagramLayout;
constexpr std::uint32_t kHighestNumber = QueuePairNumbers::kHighest;

}  // namespace

void serialize(const DatagramHeader& header, MutableBytes out) noexcept {
  Layout::Version::put(out, Layout::kVersion);
  Layout::Flags::put(out, static_cast<std::uint8_t>((header.solicited ? Layout::kSolicited : 0) |
                                                    (header.immediate ? Layout::kHasImmediate : 0)));
  Layout::Length::put(out, header.length);
  Layout::Destination::put(out, header.destination);
  Layout::Source::put(out, header.source);
  Layout::Qkey::put(out, header.qkey);
  std::ranges::copy(header.immediate.value_or(std::array<std::byte, 4>{}), out.begin() + Layout::kImmediateOffset);
}

std::optional<DatagramHeader> parse_datagram(Bytes datagram) noexcept {
  if (datagram.size() < Layout::kSize || Layout::Version::get(datagram) != Layout::kVersion) return std::nullopt;
  const std::uint8_t flags = Layout::Flags::get(datagram);
  if ((flags & ~(Layout::kSolicited | Layout::kHasImmediate)) != 0) return std::nullopt;
  DatagramHeader header{.destination = Layout::Destination::get(datagram),
                        .source = Layout::Source::get(datagram),
                        .qkey = Layout::Qkey::get(datagram),
                        .length = Layout::Length::get(datagram),
                        .solicited = (flags & Layout::kSolicited) != 0};
  if (header.length != datagram.size() - Layout::kSize) return std::nullopt;
  if (header.destination > kHighestNumber || header.source > kHighestNumber) return std::nullopt;
  if ((flags & Layout::kHasImmediate) != 0) {
    std::ranges::copy(datagram.subspan(Layout::kImmediateOffset, 4), header.immediate.emplace().begin());
  }
  return header;
}

// As in an IPv6 header; 0x1B is InfiniBand's transport header, which would follow.
std::array<std::byte, 40> route_header(const transport::Address& source, const transport::Address& destination,
                                       std::uint16_t length) noexcept {
  std::array<std::byte, 40> header{};
  header[0] = std::byte{0x60};
  Be<4, std::uint16_t>::put(header, length);
  header[6] = std::byte{0x1B};
  header[7] = std::byte{64};
  std::ranges::copy(source.to_ipv6(), header.begin() + 8);
  std::ranges::copy(destination.to_ipv6(), header.begin() + 24);
  return header;
}

}  // namespace weft::verbs::detail
