// SPDX-License-Identifier: Apache-2.0
#include "packet/encapsulation.hpp"

#include <algorithm>

#include "packet/checksum.hpp"
#include "packet/ip.hpp"

namespace weft::packet {
namespace {

constexpr auto kTooDeep = Unread::kNotTcp;

Stepped next(NextHeader::What what, std::uint16_t value = 0) noexcept { return NextHeader{what, value}; }

bool is_vlan(std::uint16_t type) noexcept {
  return type == kTypeVlan || type == kTypeService || type == kTypeQinQ || type == kTypeQinQ2;
}

bool is_known(std::uint16_t type) noexcept {
  return type == kTypeIpv4 || type == kTypeIpv6 || is_vlan(type) ||
         std::ranges::find(kTunnelTypes, type) != kTunnelTypes.end();
}

Stepped step_vlan(HeaderCursor& cursor) noexcept {
  constexpr std::size_t kSize = 4;  // tag control, EtherType of what is tagged
  if (!cursor.has(kSize)) return std::unexpected(Unread::kMalformed);
  const Bytes tag = cursor.rest();
  if (!cursor.path.add(Encapsulation::kVlan, Be<0, std::uint16_t>::get(tag) & 0xfffU)) return std::unexpected(kTooDeep);
  cursor.at += kSize;
  return next(NextHeader::kEtherType, Be<2, std::uint16_t>::get(tag));
}

// A header of IPv4 whose checksum is right, or one of IPv6 whose length is.
bool is_ip(Bytes octets) noexcept {
  if (octets.size() < Ipv4Layout::kSize) return false;
  if (ip_version(octets) == 6) {
    using L = Ipv6Layout;
    return octets.size() >= L::kSize && L::PayloadLength::get(octets) <= octets.size() - L::kSize;
  }
  const std::size_t size = Ipv4Layout::size_of(octets);
  return ip_version(octets) == 4 && size >= Ipv4Layout::kSize && size <= octets.size() &&
         fold(sum_words(octets.first(size))) == 0;
}

// After the last label there is no type. A pseudowire's control word begins with four zero bits (RFC 4385). Ethernet
// without a control word may begin as IP does: what it would be as IP tells, then its EtherType.
Stepped behind_mpls(HeaderCursor& cursor) noexcept {
  constexpr std::size_t kControlWord = 4;
  const Bytes rest = cursor.rest();
  const auto frame_at = [&](std::size_t at) {
    return rest.size() >= at + EthernetLayout::kSize && is_known(EthernetLayout::Type::get(rest.subspan(at)));
  };
  if (rest.empty()) return std::unexpected(Unread::kMalformed);
  const auto bits = std::to_integer<unsigned>(rest[0]) >> 4;
  if (bits == 0 && frame_at(kControlWord)) {
    cursor.at += kControlWord;
    return next(NextHeader::kEthernet);
  }
  if (frame_at(0) && !is_ip(rest)) return next(NextHeader::kEthernet);
  if (bits == 4 || bits == 6) return next(NextHeader::kIp);
  return std::unexpected(Unread::kNotTcp);
}

// RFC 3032 section 2.1.
Stepped step_mpls(HeaderCursor& cursor) noexcept {
  constexpr std::size_t kSize = 4;
  for (bool last = false; !last;) {
    if (!cursor.has(kSize)) return std::unexpected(Unread::kMalformed);
    const std::uint32_t entry = Be<0, std::uint32_t>::get(cursor.rest());
    last = (entry & 0x100U) != 0;
    if (!cursor.path.add(Encapsulation::kMpls, entry >> 12)) return std::unexpected(kTooDeep);
    cursor.at += kSize;
  }
  return behind_mpls(cursor);
}

// RFC 2516 section 4: version and type, code (0: session), session, length.
Stepped step_pppoe(HeaderCursor& cursor) noexcept {
  constexpr std::size_t kSize = 6;
  if (!cursor.has(kSize)) return std::unexpected(Unread::kMalformed);
  const Bytes header = cursor.rest();
  if (Be<0, std::uint16_t>::get(header) != 0x1100) return std::unexpected(Unread::kNotTcp);
  if (!cursor.path.add(Encapsulation::kPppoe, Be<2, std::uint16_t>::get(header))) return std::unexpected(kTooDeep);
  cursor.at += kSize;
  return next(NextHeader::kPpp);
}

// Where ERSPAN's frame begins. Type I has no header of its own, and no sequence number in GRE's.
Stepped step_erspan2(HeaderCursor& cursor, bool sequence) noexcept {
  constexpr std::size_t kSize = 8;
  std::uint32_t session = 0;
  if (sequence) {
    if (!cursor.has(kSize)) return std::unexpected(Unread::kMalformed);
    if (std::to_integer<unsigned>(cursor.rest()[0]) >> 4 != 1) return std::unexpected(Unread::kNotTcp);
    session = Be<2, std::uint16_t>::get(cursor.rest()) & 0x3ffU;
    cursor.at += kSize;
  }
  if (!cursor.path.add(Encapsulation::kErspan, session)) return std::unexpected(kTooDeep);
  return next(NextHeader::kEthernet);
}

// Type III: the last two octets say what the frame is, and whether a platform's header follows.
Stepped step_erspan3(HeaderCursor& cursor) noexcept {
  constexpr std::size_t kSize = 12;
  constexpr std::size_t kPlatform = 8;
  if (!cursor.has(kSize)) return std::unexpected(Unread::kMalformed);
  const Bytes header = cursor.rest();
  if (std::to_integer<unsigned>(header[0]) >> 4 != 2) return std::unexpected(Unread::kNotTcp);
  const std::uint16_t flags = Be<10, std::uint16_t>::get(header);
  const std::size_t size = kSize + ((flags & 1U) != 0 ? kPlatform : 0);
  if (!cursor.has(size)) return std::unexpected(Unread::kMalformed);
  if (!cursor.path.add(Encapsulation::kErspan, Be<2, std::uint16_t>::get(header) & 0x3ffU))
    return std::unexpected(kTooDeep);
  cursor.at += size;
  const unsigned frame = flags >> 10 & 0x1fU;
  if (frame == 0) return next(NextHeader::kEthernet);
  return frame == 2 ? next(NextHeader::kIp) : std::unexpected(Unread::kNotTcp);
}

// What GRE carries.
struct GreHeader {
  bool checksum{}, key{}, sequence{}, acknowledgment{};
  unsigned version{};
  std::uint16_t type{};
  std::uint32_t key_value{};

  [[nodiscard]] std::size_t size() const noexcept {
    return 4 + (checksum ? 4U : 0U) + (key ? 4U : 0U) + (sequence ? 4U : 0U) + (acknowledgment ? 4U : 0U);
  }
};

// Version 1 is PPTP's (RFC 2637 section 4.1). NVGRE has a key and neither checksum nor sequence (RFC 7637 section 3.2),
// and so has Ethernet in GRE with a key.
bool note_gre(const GreHeader& gre, HeaderPath& path) noexcept {
  if (gre.version == 1) return path.add(Encapsulation::kPptp, gre.key_value & 0xffffU);
  if (gre.type == kTypeErspan2 || gre.type == kTypeErspan3) return true;  // the session says more
  if (!gre.key) return path.add(Encapsulation::kGre);
  const bool nvgre = gre.type == kTypeBridged && !gre.checksum && !gre.sequence;
  return nvgre ? path.add(Encapsulation::kNvgre, gre.key_value >> 8) : path.add(Encapsulation::kGreKey, gre.key_value);
}

// RFC 2784 section 2.1 and 2890 section 2. Routing (RFC 1701) was never used.
Stepped step_gre(HeaderCursor& cursor) noexcept {
  if (!cursor.has(4)) return std::unexpected(Unread::kMalformed);
  const std::uint16_t flags = Be<0, std::uint16_t>::get(cursor.rest());
  GreHeader gre{.checksum = (flags & 0x8000U) != 0,
                .key = (flags & 0x2000U) != 0,
                .sequence = (flags & 0x1000U) != 0,
                .acknowledgment = (flags & 0x0080U) != 0,
                .version = flags & 7U,
                .type = Be<2, std::uint16_t>::get(cursor.rest())};
  if ((flags & 0x4000U) != 0 || gre.version > 1 || (gre.version == 0 && gre.acknowledgment))
    return std::unexpected(Unread::kNotTcp);
  if (!cursor.has(gre.size())) return std::unexpected(Unread::kMalformed);
  const std::size_t key_at = gre.checksum ? 8 : 4;
  if (gre.key) gre.key_value = Be<0, std::uint32_t>::get(cursor.rest().subspan(key_at));
  if (!note_gre(gre, cursor.path)) return std::unexpected(kTooDeep);
  cursor.at += gre.size();
  switch (gre.type) {
    case kTypeErspan2: return step_erspan2(cursor, gre.sequence);
    case kTypeErspan3: return step_erspan3(cursor);
    default: return next(NextHeader::kEtherType, gre.type);
  }
}

// RFC 7348 section 5; with the P bit, what follows is told (draft-ietf-nvo3-vxlan-gpe).
Stepped step_vxlan(HeaderCursor& cursor) noexcept {
  constexpr std::size_t kSize = 8;
  if (!cursor.has(kSize)) return std::unexpected(Unread::kMalformed);
  const Bytes header = cursor.rest();
  const auto flags = std::to_integer<unsigned>(header[0]);
  if ((flags & 0x08U) == 0) return std::unexpected(Unread::kNotTcp);
  if (!cursor.path.add(Encapsulation::kVxlan, Be<4, std::uint32_t>::get(header) >> 8)) return std::unexpected(kTooDeep);
  cursor.at += kSize;
  if ((flags & 0x04U) == 0) return next(NextHeader::kEthernet);
  switch (std::to_integer<unsigned>(header[3])) {
    case 1:
    case 2: return next(NextHeader::kIp);
    case 3: return next(NextHeader::kEthernet);
    case 5: return next(NextHeader::kEtherType, kTypeMpls);
    default: return std::unexpected(Unread::kNotTcp);
  }
}

// RFC 8926 section 3.4.
Stepped step_geneve(HeaderCursor& cursor) noexcept {
  constexpr std::size_t kSize = 8;
  if (!cursor.has(kSize)) return std::unexpected(Unread::kMalformed);
  const Bytes header = cursor.rest();
  const auto first = std::to_integer<unsigned>(header[0]);
  if (first >> 6 != 0) return std::unexpected(Unread::kNotTcp);
  const std::size_t size = kSize + std::size_t{4} * (first & 0x3fU);
  if (!cursor.has(size)) return std::unexpected(Unread::kMalformed);
  if (!cursor.path.add(Encapsulation::kGeneve, Be<4, std::uint32_t>::get(header) >> 8))
    return std::unexpected(kTooDeep);
  cursor.at += size;
  return next(NextHeader::kEtherType, Be<2, std::uint16_t>::get(header));
}

// The port tells, as it tells the receiver.
Stepped step_udp(HeaderCursor& cursor) noexcept {
  constexpr std::size_t kSize = 8;
  if (!cursor.has(kSize)) return std::unexpected(Unread::kMalformed);
  const std::uint16_t port = Be<2, std::uint16_t>::get(cursor.rest());
  cursor.at += kSize;
  switch (port) {
    case kVxlan:
    case kVxlanGpe:
    case kVxlanOfLinux: return step_vxlan(cursor);
    case kGeneve: return step_geneve(cursor);
    case kMplsInUdp: return step_mpls(cursor);
    case kGreInUdp: return step_gre(cursor);
    default: return std::unexpected(Unread::kNotTcp);
  }
}

// RFC 3378: a version and zeros, then the frame.
Stepped step_ether_ip(HeaderCursor& cursor) noexcept {
  constexpr std::size_t kSize = 2;
  if (!cursor.has(kSize)) return std::unexpected(Unread::kMalformed);
  if (!cursor.path.add(Encapsulation::kEtherIp)) return std::unexpected(kTooDeep);
  cursor.at += kSize;
  return next(NextHeader::kEthernet);
}

}  // namespace

Stepped step_ether_type(std::uint16_t type, HeaderCursor& cursor) noexcept {
  if (is_vlan(type)) return step_vlan(cursor);
  switch (type) {
    case kTypeIpv4:
    case kTypeIpv6: return next(NextHeader::kIp);
    case kTypeMpls:
    case kTypeMplsMulticast: return step_mpls(cursor);
    case kTypePppoe: return step_pppoe(cursor);
    case kTypePpp: return next(NextHeader::kPpp);
    case kTypeBridged: return next(NextHeader::kEthernet);
    default: return std::unexpected(Unread::kNotTcp);
  }
}

// RFC 1661 section 2: two octets, or one with its lowest bit set. PPTP may put address and control (ff 03) before it.
Stepped step_ppp(HeaderCursor& cursor) noexcept {
  if (!cursor.has(4)) return std::unexpected(Unread::kMalformed);
  if (Be<0, std::uint16_t>::get(cursor.rest()) == 0xff03) cursor.at += 2;
  const auto first = std::to_integer<std::uint16_t>(cursor.rest()[0]);
  const bool one = (first & 1U) != 0;
  const std::uint16_t protocol = one ? first : Be<0, std::uint16_t>::get(cursor.rest());
  cursor.at += one ? 1 : 2;
  switch (protocol) {
    case 0x0021:
    case 0x0057: return next(NextHeader::kIp);
    case 0x0281:
    case 0x0283: return step_mpls(cursor);
    default: return std::unexpected(Unread::kNotTcp);
  }
}

bool leads_to_tcp(std::uint8_t protocol) noexcept {
  return protocol == kTcp || protocol == kUdp || std::ranges::find(kTunnels, protocol) != kTunnels.end();
}

Stepped step_protocol(std::uint8_t protocol, HeaderCursor& cursor) noexcept {
  switch (protocol) {
    case kIpv4InIp:
    case kIpv6InIp: return cursor.path.add(Encapsulation::kIp) ? next(NextHeader::kIp) : std::unexpected(kTooDeep);
    case kUdp: return step_udp(cursor);
    case kGre: return step_gre(cursor);
    case kEtherIp: return step_ether_ip(cursor);
    case kMplsInIp: return step_mpls(cursor);
    default: return std::unexpected(Unread::kNotTcp);
  }
}

}  // namespace weft::packet
