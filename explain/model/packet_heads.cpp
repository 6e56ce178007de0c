// SPDX-License-Identifier: Apache-2.0
#include "explain/model/packet_heads.hpp"

#include <algorithm>

#include "packet/encapsulation.hpp"
#include "packet/header_walk.hpp"
#include "packet/tcp.hpp"

namespace weft::explain {
namespace {

// No headers are longer: link layer, encapsulations, IPv6 with extensions, TCP with options.
constexpr std::size_t kLongestHead = 512;

bool is_end(const conformance::ConnectionEnd& end, const packet::Endpoint& endpoint) {
  return end.port == endpoint.port && end.address == in_words(endpoint.address);
}

}  // namespace

// Where IP and TCP begin, and the octets up to TCP's payload. What cannot be parsed is shown as it is.
void PacketHeads::note(const conformance::Packet& packet) {
  if (heads_.empty()) first_time_ = packet.time;
  RawHead& head = heads_.emplace_back(packet.number, packet.time - first_time_, packet.link);
  if (heads_.size() > kKept) heads_.pop_front();
  const Bytes captured = packet.captured;
  const std::size_t most = std::min(captured.size(), kLongestHead);
  std::size_t size = head.ip_at = head.tcp_at = most;
  std::optional<SynSeen> syn;
  if (const auto found = packet::find_innermost(packet.link, captured, packet.original_size)) {
    const packet::IpPacket& ip = found->packet;
    head.ip_at = std::min(found->at, most);
    head.tcp_at = size = std::min(ip.payload_at, most);
    const Bytes segment = captured.subspan(head.tcp_at);
    const bool whole = ip.protocol == packet::kTcp && !ip.fragment;
    const auto tcp = packet::parse_tcp(segment, std::max(ip.payload_size, segment.size()));
    if (whole && tcp) {
      size = std::min(most, head.tcp_at + tcp->size);
      if (tcp->syn && head.tcp_at + tcp->size <= most)
        syn = {{ip.source, tcp->source_port}, {ip.destination, tcp->destination_port}, tcp->ack, {}};
    }
  }
  head.octets.assign(captured.begin(), captured.begin() + static_cast<std::ptrdiff_t>(size));
  if (!syn) return;
  syn->head = head;
  syns_.push_back(std::move(*syn));
  if (syns_.size() > kKept) syns_.pop_front();
}

// The numbers of a file's packets have no holes.
const RawHead* PacketHeads::find(std::uint64_t number) const noexcept {
  if (heads_.empty() || number < heads_.front().number || number > heads_.back().number) return nullptr;
  const std::uint64_t index = number - heads_.front().number;
  return index < heads_.size() && heads_[index].number == number ? &heads_[index] : nullptr;
}

std::int64_t PacketHeads::time_of(std::uint64_t number) const noexcept {
  if (heads_.empty()) return 0;
  const RawHead* const found = find(number);
  return found != nullptr ? found->time : heads_.front().time;
}

std::vector<SynSeen> PacketHeads::syns(const conformance::ConnectionInfo& info, std::uint64_t before) const {
  std::vector<SynSeen> found;
  for (const SynSeen& syn : syns_) {
    if (syn.head.number < info.first_packet || syn.head.number > before) continue;
    const bool out = is_end(info.first, syn.source) && is_end(info.second, syn.destination);
    const bool back = is_end(info.second, syn.source) && is_end(info.first, syn.destination);
    if (out || back) found.push_back(syn);
  }
  return found;
}

}  // namespace weft::explain
