// SPDX-License-Identifier: Apache-2.0
//
//   | Ethernet II, 14 octets | IPv4, 20 (RFC 791) | TCP, 20 + options (RFC 9293) | payload |
#include "explain/tour/wire.hpp"

#include <algorithm>
#include <utility>

namespace weft::explain {
namespace {

constexpr std::size_t kEthernetSize = 14, kIpSize = 20, kTcpSize = 20;
constexpr std::int64_t kBetweenPackets = 25'000;                          // nanoseconds
constexpr std::array<std::uint32_t, 2> kAddress{0xc0000201, 0xc0000202};  // 192.0.2.1 and .2: of RFC 5737
constexpr std::array<std::uint16_t, 2> kPort{40000, 7174};

// Maximum segment size, and no-operations to fill a word of four octets.
constexpr std::array kSynOptions{std::byte{2}, std::byte{4}, static_cast<std::byte>(TourWire::kMss >> 8),
                                 static_cast<std::byte>(TourWire::kMss & 0xff)};

namespace ethernet {
using DestinationFirst = Be<0, std::uint8_t>;
using DestinationLast = Be<5, std::uint8_t>;
using SourceFirst = Be<6, std::uint8_t>;
using SourceLast = Be<11, std::uint8_t>;
using Type = Be<12, std::uint16_t>;
constexpr std::uint8_t kLocallyAdministered = 0x02;
}  // namespace ethernet

namespace ip {
using VersionAndLength = Be<0, std::uint8_t>;
using TotalLength = Be<2, std::uint16_t>;
using FlagsAndFragment = Be<6, std::uint16_t>;
using TimeToLive = Be<8, std::uint8_t>;
using Protocol = Be<9, std::uint8_t>;
using Checksum = Be<10, std::uint16_t>;
using Source = Be<12, std::uint32_t>;
using Destination = Be<16, std::uint32_t>;
constexpr std::uint8_t kTcp = 6;
}  // namespace ip

namespace tcp {
using SourcePort = Be<0, std::uint16_t>;
using DestinationPort = Be<2, std::uint16_t>;
using Sequence = Be<4, std::uint32_t>;
using Acknowledgement = Be<8, std::uint32_t>;
using DataOffset = Be<12, std::uint8_t>;
using FlagBits = Be<13, std::uint8_t>;
using Window = Be<14, std::uint16_t>;
using Checksum = Be<16, std::uint16_t>;
}  // namespace tcp

// The Internet checksum (RFC 1071) before folding; an odd last octet is padded with zero.
std::uint32_t sum_words(Bytes octets, std::uint32_t sum = 0) {
  for (std::size_t i = 0; i < octets.size(); ++i)
    sum += std::to_integer<std::uint32_t>(octets[i]) << (i % 2 == 0 ? 8 : 0);
  return sum;
}

std::uint16_t fold(std::uint32_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace

void TourWire::open() {
  emit(TourEnd::kInitiator, {.syn = true}, {});
  emit(TourEnd::kResponder, {.syn = true, .ack = true}, {});
  emit(TourEnd::kInitiator, {.ack = true}, {});
}

void TourWire::send(TourEnd from, Bytes octets) { emit(from, {.ack = true, .psh = true}, octets); }

void TourWire::finish(TourEnd from) {
  emit(from, {.ack = true, .fin = true}, {});
  emit(from == TourEnd::kInitiator ? TourEnd::kResponder : TourEnd::kInitiator, {.ack = true}, {});
}

void TourWire::emit(TourEnd from, Flags flags, Bytes payload) {
  const auto us = static_cast<std::size_t>(from), them = 1 - us;
  const Bytes options = flags.syn ? Bytes(kSynOptions) : Bytes();
  const std::size_t headers = kEthernetSize + kIpSize + kTcpSize + options.size();
  std::vector<std::byte> frame(headers + payload.size());
  const MutableBytes all(frame), packet = all.subspan(kEthernetSize), segment = packet.subspan(kIpSize);
  std::ranges::copy(payload, all.subspan(headers).begin());

  ethernet::DestinationFirst::put(all, ethernet::kLocallyAdministered);
  ethernet::DestinationLast::put(all, static_cast<std::uint8_t>(them + 1));
  ethernet::SourceFirst::put(all, ethernet::kLocallyAdministered);
  ethernet::SourceLast::put(all, static_cast<std::uint8_t>(us + 1));
  ethernet::Type::put(all, 0x0800);

  ip::VersionAndLength::put(packet, 0x45);
  ip::TotalLength::put(packet, static_cast<std::uint16_t>(packet.size()));
  ip::FlagsAndFragment::put(packet, 0x4000);  // Don't Fragment
  ip::TimeToLive::put(packet, 64);
  ip::Protocol::put(packet, ip::kTcp);
  ip::Source::put(packet, kAddress[us]);
  ip::Destination::put(packet, kAddress[them]);
  ip::Checksum::put(packet, fold(sum_words(packet.first(kIpSize))));

  tcp::SourcePort::put(segment, kPort[us]);
  tcp::DestinationPort::put(segment, kPort[them]);
  tcp::Sequence::put(segment, sequence_[us]);
  tcp::Acknowledgement::put(segment, flags.ack ? sequence_[them] : 0);
  tcp::DataOffset::put(segment, static_cast<std::uint8_t>((kTcpSize + options.size()) / 4 << 4));
  tcp::FlagBits::put(segment, flags.octet());
  tcp::Window::put(segment, 0xffff);
  std::ranges::copy(options, segment.subspan(kTcpSize).begin());
  // The pseudo header: addresses, protocol, length.
  const std::uint32_t pseudo = sum_words(packet.subspan(12, 8), ip::kTcp + static_cast<std::uint32_t>(segment.size()));
  tcp::Checksum::put(segment, fold(sum_words(segment, pseudo)));

  // SYN and FIN count as one octet each (RFC 9293 section 3.4).
  sequence_[us] += static_cast<std::uint32_t>(payload.size()) + (flags.syn || flags.fin ? 1 : 0);
  take_({.number = ++packets_,
         .time = std::exchange(now_, now_ + kBetweenPackets),
         .link = conformance::LinkType::kEthernet,
         .captured = frame,
         .original_size = static_cast<std::uint32_t>(frame.size())});
}

}  // namespace weft::explain
