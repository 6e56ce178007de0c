// SPDX-License-Identifier: Apache-2.0
#include "explain/model/packet_heads.hpp"

#include <algorithm>

#include "conformance/capture/header_walk.hpp"
#include "conformance/capture/tcp_header.hpp"

namespace weft::explain {
namespace {

namespace capture = conformance::capture;

// No headers are longer: link layer, encapsulations, IPv6 with extensions, TCP with options.
constexpr std::size_t kLongestHead = 512;

// Where IP and TCP begin, and the octets up to TCP's payload. What cannot be parsed is shown as it is.
RawHead head_of(const conformance::Packet& packet) {
  RawHead head{.number = packet.number, .time = packet.time, .link = packet.link};
  const Bytes captured = packet.captured;
  const std::size_t most = std::min(captured.size(), kLongestHead);
  std::size_t size = most;
  head.ip_at = head.tcp_at = size;
  if (const auto found = capture::find_innermost(packet.link, captured, packet.original_size)) {
    const capture::IpPacket& ip = found->packet;
    head.ip_at = std::min(found->at, most);
    head.tcp_at = size = std::min(ip.payload_at, most);
    const Bytes segment = captured.subspan(head.tcp_at);
    const bool whole = ip.protocol == capture::kTcp && !ip.fragment;
    const auto tcp = capture::parse_tcp(segment, std::max(ip.payload_size, segment.size()));
    if (whole && tcp) size = std::min(most, head.tcp_at + tcp->size);
  }
  head.octets.assign(captured.begin(), captured.begin() + static_cast<std::ptrdiff_t>(size));
  return head;
}

bool is_end(const conformance::ConnectionEnd& end, const capture::Address& address, std::uint16_t port) {
  return end.port == port && end.address == capture::in_words(address);
}

}  // namespace

void PacketHeads::note(const conformance::Packet& packet) {
  if (heads_.empty()) first_time_ = packet.time;
  heads_.push_back(head_of(packet));
  heads_.back().time -= first_time_;
  if (heads_.size() > kKept) heads_.pop_front();
  note_syn(heads_.back());
}

void PacketHeads::note_syn(const RawHead& head) {
  const Bytes octets = head.octets;
  if (head.tcp_at >= octets.size()) return;
  const auto tcp = capture::parse_tcp(octets.subspan(head.tcp_at), octets.size() - head.tcp_at);
  if (!tcp || !tcp->syn) return;
  const auto found = capture::find_innermost(head.link, octets, octets.size());
  if (!found) return;
  const capture::IpPacket& ip = found->packet;
  syns_.push_back({ip.source, ip.destination, tcp->source_port, tcp->destination_port, tcp->ack, head});
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
    const bool out =
        is_end(info.first, syn.source, syn.source_port) && is_end(info.second, syn.destination, syn.destination_port);
    const bool back =
        is_end(info.second, syn.source, syn.source_port) && is_end(info.first, syn.destination, syn.destination_port);
    if (out || back) found.push_back(syn);
  }
  return found;
}

}  // namespace weft::explain
