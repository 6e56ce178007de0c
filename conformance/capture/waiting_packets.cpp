// SPDX-License-Identifier: Apache-2.0
#include "conformance/capture/waiting_packets.hpp"

#include <iterator>
#include <utility>

namespace weft::conformance::capture {

namespace {

// An end never acknowledges less than before. What was sent before a reset is not known from that.
bool was_sent_before(const packet::TcpHeader& one, const packet::TcpHeader& other) noexcept {
  if (!one.ack || !other.ack || one.rst || other.rst) return false;
  return static_cast<std::int32_t>(one.acknowledgement - other.acknowledgement) < 0;
}

}  // namespace

KeptPacket::KeptPacket(const TcpPacket& packet)
    : packet_(packet), parts_(packet.payload.begin(), packet.payload.end()) {
  for (const Part& part : parts_) {
    const auto* raw = reinterpret_cast<const std::uint8_t*>(part.octets.data());
    octets_.insert(octets_.end(), raw, raw + part.octets.size());
  }
  lay_out(std::as_bytes(std::span(octets_)));
  packet_.payload = parts_;
}

void KeptPacket::lay_out(Bytes octets) noexcept {
  for (Part& part : parts_) {
    part.octets = octets.first(part.octets.size());
    octets = octets.subspan(part.octets.size());
  }
}

TcpPacket KeptPacket::give(EventQueue& out) {
  if (!octets_.empty()) lay_out(out.keep(std::move(octets_)));
  return packet_;
}

void WaitingPackets::push(const TcpPacket& packet, std::uint64_t since, std::uint64_t beyond) {
  auto place = entries_.end();
  while (place != entries_.begin() && was_sent_before(packet.header, std::prev(place)->kept.packet().header)) --place;
  const std::uint64_t waiting_since = place == entries_.end() ? since : place->waiting_since;
  cost_ += entries_.insert(place, {KeptPacket(packet), since, waiting_since, beyond})->kept.cost();
}

TcpPacket WaitingPackets::pop(EventQueue& out) {
  Entry& first = entries_.front();
  cost_ -= first.kept.cost();
  TcpPacket packet = first.kept.give(out);
  parts_.assign(packet.payload.begin(), packet.payload.end());
  packet.payload = parts_;
  entries_.pop_front();
  return packet;
}

}  // namespace weft::conformance::capture
