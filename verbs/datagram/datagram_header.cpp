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

std::string_view explain(DatagramError error) noexcept {
  switch (error) {
    case DatagramError::kTooShort: return "the datagram is shorter than its header";
    case DatagramError::kNotCaptured: return "the header was not captured completely";
    case DatagramError::kVersion: return "the version is not 1";
    case DatagramError::kFlags: return "a reserved flag is set";
    case DatagramError::kNumber: return "a number of a queue pair has more than 24 bits";
    case DatagramError::kLength: return "the length is not that of the payload";
  }
  return {};
}

std::expected<DatagramHeader, DatagramError> parse_datagram(Bytes captured, std::size_t size) noexcept {
  using enum DatagramError;
  if (size < Layout::kSize) return std::unexpected(kTooShort);
  if (captured.size() < Layout::kSize) return std::unexpected(kNotCaptured);
  if (Layout::Version::get(captured) != Layout::kVersion) return std::unexpected(kVersion);
  const std::uint8_t flags = Layout::Flags::get(captured);
  if ((flags & ~(Layout::kSolicited | Layout::kHasImmediate)) != 0) return std::unexpected(kFlags);
  DatagramHeader header{.destination = Layout::Destination::get(captured),
                        .source = Layout::Source::get(captured),
                        .qkey = Layout::Qkey::get(captured),
                        .length = Layout::Length::get(captured),
                        .solicited = (flags & Layout::kSolicited) != 0};
  if (header.length != size - Layout::kSize) return std::unexpected(kLength);
  if (header.destination > kHighestNumber || header.source > kHighestNumber) return std::unexpected(kNumber);
  if ((flags & Layout::kHasImmediate) != 0) {
    std::ranges::copy(captured.subspan(Layout::kImmediateOffset, 4), header.immediate.emplace().begin());
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
