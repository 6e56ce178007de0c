// SPDX-License-Identifier: Apache-2.0
#include "packet/header_walk.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

#include "packet/encapsulation.hpp"

namespace weft::packet {
namespace {

Stepped step(const NextHeader& header, HeaderCursor& cursor) noexcept {
  switch (header.what) {
    case NextHeader::kEthernet: return step_ethernet(cursor);
    case NextHeader::kEtherType: return step_ether_type(header.value, cursor);
    case NextHeader::kPpp: return step_ppp(cursor);
    case NextHeader::kIpProtocol: return step_protocol(static_cast<std::uint8_t>(header.value), cursor);
    case NextHeader::kIp: break;
  }
  return std::unexpected(Unread::kNotTcp);
}

// Each step moves on by at least an octet, or hands over to one that does; the path bounds the number of IP headers.
// `udp`: becomes the last packet of UDP on the way, if not null.
std::expected<InnermostIp, Unread> walk_headers(NextHeader header, HeaderCursor& cursor,
                                                std::optional<InnermostIp>* udp = nullptr) noexcept {
  for (;;) {
    if (header.what == NextHeader::kIp) {
      const std::size_t at = cursor.at;
      const auto ip = parse_ip(cursor);
      if (!ip) return std::unexpected(ip.error());
      // What is after the payload is padding, of this packet or of one around it.
      cursor.original = std::min(std::max(cursor.original, cursor.captured.size()), ip->payload_at + ip->payload_size);
      cursor.captured = cursor.captured.first(std::min(cursor.captured.size(), cursor.original));
      if (ip->protocol == kTcp || ip->fragment) return InnermostIp{.at = at, .packet = *ip, .path = cursor.path};
      if (udp != nullptr && ip->protocol == kUdp) *udp = InnermostIp{.at = at, .packet = *ip, .path = cursor.path};
      cursor.at = std::min(ip->payload_at, cursor.captured.size());
      header = {NextHeader::kIpProtocol, ip->protocol};
    }
    const auto next = step(header, cursor);
    if (!next) return std::unexpected(next.error());
    header = *next;
  }
}

}  // namespace

std::expected<InnermostIp, Unread> find_innermost(LinkType link, Bytes captured, std::size_t original_size) noexcept {
  HeaderCursor cursor{.captured = captured, .original = std::max(original_size, captured.size())};
  const auto first = step_link(link, cursor);
  if (!first) return std::unexpected(first.error());
  return walk_headers(*first, cursor);
}

std::expected<InnermostIp, Unread> find_innermost_udp(LinkType link, Bytes captured,
                                                      std::size_t original_size) noexcept {
  HeaderCursor cursor{.captured = captured, .original = std::max(original_size, captured.size())};
  const auto first = step_link(link, cursor);
  if (!first) return std::unexpected(first.error());
  std::optional<InnermostIp> udp;
  auto found = walk_headers(*first, cursor, &udp);
  if (found && found->packet.fragment) return found;
  if (found) return std::unexpected(Unread::kNotTcp);
  if (udp) return *udp;
  return found;
}

std::expected<InnermostIp, Unread> find_innermost(const IpPacket& datagram, const HeaderPath& path,
                                                  Bytes payload) noexcept {
  HeaderCursor cursor{.captured = payload, .original = payload.size(), .path = path};
  return walk_headers({NextHeader::kIpProtocol, datagram.protocol}, cursor);
}

std::string in_words(const HeaderPath& path) {
  using enum Encapsulation;
  constexpr std::array kNames{"VLAN",    "MPLS",  "PPPoE session", "IP in IP",       "EtherIP", "GRE",
                              "GRE key", "NVGRE", "PPTP call",     "ERSPAN session", "VXLAN",   "Geneve"};
  static_assert(kNames.size() == std::to_underlying(kGeneve) + 1);
  std::string words;
  for (const auto& [kind, id] : path.layers()) {
    if (!words.empty()) words += ", ";
    words += kNames[std::to_underlying(kind)];
    if (kind != kIp && kind != kEtherIp && kind != kGre) words += ' ' + std::to_string(id);
  }
  return words;
}

}  // namespace weft::packet
