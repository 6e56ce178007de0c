// SPDX-License-Identifier: Apache-2.0
#include "explain/tour/wire.hpp"

#include <utility>

namespace weft::explain {
namespace {

using Tcp = packet::Conversation;

constexpr std::int64_t kBetweenPackets = 25'000;  // nanoseconds

// 192.0.2.1 and 192.0.2.2, which are for documentation (RFC 5737).
Tcp::End tour_end(std::uint8_t host, std::uint16_t port, std::uint32_t sequence) {
  const packet::Address address{{std::byte{192}, std::byte{0}, std::byte{2}, std::byte{host}}, 4};
  return {.endpoint = {address, port}, .next_sequence = sequence, .station = host};
}

Tcp::Side tour_side(TourEnd end) { return end == TourEnd::kInitiator ? Tcp::Side::kOpener : Tcp::Side::kAnswerer; }

}  // namespace

TourWire::TourWire(Take take)
    : take_(std::move(take)), tcp_(tour_end(1, 40000, 0x10000000), tour_end(2, 7174, 0x20000000), kMss) {}

void TourWire::open() { tcp_.open(*this); }
void TourWire::send(TourEnd from, Bytes octets) { tcp_.send(*this, tour_side(from), {&octets, 1}); }
void TourWire::finish(TourEnd from) { tcp_.finish(*this, tour_side(from)); }

void TourWire::write(const packet::Segment& segment, packet::PieceReader& payload, std::size_t octets) {
  packet::compose(frame_, segment, payload, octets);
  take_({.number = ++packets_,
         .time = std::exchange(now_, now_ + kBetweenPackets),
         .link = conformance::LinkType::kEthernet,
         .captured = frame_,
         .original_size = static_cast<std::uint32_t>(frame_.size())});
}

}  // namespace weft::explain
