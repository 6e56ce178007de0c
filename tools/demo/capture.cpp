// SPDX-License-Identifier: Apache-2.0
#include "tools/demo/capture.hpp"

#include <pcap/pcap.h>

#include <memory>
#include <optional>

namespace weft::tools::demo {
namespace {

constexpr std::size_t kEthernetSize = 14;
using EtherType = Be<12, std::uint16_t>;
using IpVersionLength = Be<0, std::uint8_t>;
using IpTotalLength = Be<2, std::uint16_t>;
using TcpSourcePort = Be<0, std::uint16_t>;
using TcpOffsetFlags = Be<12, std::uint16_t>;
constexpr std::uint16_t kSyn = 0x02;
constexpr std::uint16_t kAck = 0x10;

struct Segment {
  std::uint16_t source_port{};
  bool opens{};  // SYN without ACK
  Bytes payload{};
};

std::optional<Bytes> ip_packet(Bytes frame) {
  if (frame.size() < kEthernetSize + 20 || EtherType::get(frame) != 0x0800) return std::nullopt;
  const Bytes packet = frame.subspan(kEthernetSize);
  const std::size_t length = IpTotalLength::get(packet);
  if (IpVersionLength::get(packet) >> 4 != 4 || length > packet.size()) return std::nullopt;
  return packet.first(length);
}

std::optional<Segment> tcp_segment(Bytes frame) {
  const auto packet = ip_packet(frame);
  if (!packet) return std::nullopt;
  const std::size_t ip_header = 4U * (IpVersionLength::get(*packet) & 0x0f);
  if (packet->size() < ip_header + 20) return std::nullopt;
  const Bytes tcp = packet->subspan(ip_header);
  const std::uint16_t offset_flags = TcpOffsetFlags::get(tcp);
  const std::size_t tcp_header = 4U * (offset_flags >> 12);
  if (tcp.size() < tcp_header) return std::nullopt;
  return Segment{TcpSourcePort::get(tcp), (offset_flags & (kSyn | kAck)) == kSyn, tcp.subspan(tcp_header)};
}

}  // namespace

Outcome<Capture> read_capture(const std::string& path) {
  char error[PCAP_ERRBUF_SIZE] = "";
  const std::unique_ptr<pcap_t, void (*)(pcap_t*)> file(::pcap_open_offline(path.c_str(), error), ::pcap_close);
  if (!file) return failure("cannot read the capture: " + std::string(error) + ".");
  Capture capture;
  std::optional<std::uint16_t> initiator;
  pcap_pkthdr* header = nullptr;
  const u_char* data = nullptr;
  while (::pcap_next_ex(file.get(), &header, &data) == 1) {
    const auto segment = tcp_segment(std::as_bytes(std::span(data, header->caplen)));
    if (!segment) return failure("the capture holds a packet that is not TCP over IPv4.");
    if (segment->opens) initiator = segment->source_port;
    if (segment->payload.empty()) continue;
    Flow& flow = segment->source_port == initiator ? capture.initiator : capture.responder;
    flow.octets.insert(flow.octets.end(), segment->payload.begin(), segment->payload.end());
    ++flow.packets;
  }
  return capture;
}

}  // namespace weft::tools::demo
