// SPDX-License-Identifier: Apache-2.0
// The fields of Ethernet, IP and TCP.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text.hpp"
#include "explain/model/packet_heads.hpp"
#include "packet/ip.hpp"

namespace weft::explain {
namespace {

class HeadFields {
 public:
  HeadFields(const RawHead& head, Glossary& glossary, std::vector<FieldAt>& out)
      : octets_(head.octets), glossary_(glossary), out_(out) {}

  void layer(std::string_view layer, std::size_t base) noexcept {
    layer_ = layer;
    base_ = base;
  }
  // All of the field was captured.
  [[nodiscard]] bool has(std::size_t at, std::size_t size) const noexcept {
    return base_ + at + size <= octets_.size();
  }
  [[nodiscard]] std::uint64_t number(std::size_t at, std::size_t size) const noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < size; ++i) value = value << 8 | std::to_integer<std::uint64_t>(octets_[base_ + at + i]);
    return value;
  }
  void put(std::size_t at, std::size_t size, std::string_view name, std::string value, std::string meaning = {}) {
    out_.push_back(glossary_.add(base_ + at, size, layer_, name, std::move(value), std::move(meaning)));
  }
  void decimal(std::size_t at, std::size_t size, std::string_view name) {
    if (has(at, size)) put(at, size, name, std::to_string(number(at, size)));
  }
  void hexadecimal(std::size_t at, std::size_t size, std::string_view name, std::string meaning = {}) {
    if (has(at, size)) put(at, size, name, hex_number(number(at, size), size), std::move(meaning));
  }
  // Up to `end` in the layer.
  void rest(std::size_t at, std::size_t end, std::string_view name) {
    const std::size_t to = std::min(base_ + end, octets_.size());
    if (base_ + at < to) put(at, to - base_ - at, name, hex(octets_.subspan(base_ + at, to - base_ - at), 64));
  }
  void address(std::size_t at, std::uint8_t version, std::string_view name) {
    const std::size_t size = version == 4 ? packet::Ipv4Layout::kAddressSize : packet::Ipv6Layout::kAddressSize;
    if (has(at, size)) put(at, size, name, in_words(packet::address(octets_.subspan(base_ + at), version)));
  }
  void mac(std::size_t at, std::string_view name) {
    if (!has(at, 6)) return;
    std::string text = hex(octets_.subspan(base_ + at, 6));
    std::ranges::replace(text, ' ', ':');
    put(at, 6, name, std::move(text));
  }

 private:
  Bytes octets_;
  Glossary& glossary_;
  std::vector<FieldAt>& out_;
  std::string_view layer_{};
  std::size_t base_ = 0;
};

void put_link(HeadFields& fields, const RawHead& head) {
  if (head.link != conformance::LinkType::kEthernet || head.ip_at < packet::EthernetLayout::kSize) {
    fields.layer("link", 0);
    return fields.rest(0, head.ip_at, "Link-layer header");
  }
  fields.layer("ethernet", 0);
  fields.mac(0, "Destination");
  fields.mac(6, "Source");
  fields.hexadecimal(12, 2, "Type",
                     fields.number(12, 2) == packet::kTypeIpv4   ? "IPv4"
                     : fields.number(12, 2) == packet::kTypeIpv6 ? "IPv6"
                                                                 : "");
  fields.rest(packet::EthernetLayout::kSize, head.ip_at, "Type");
}

void put_ipv4(HeadFields& fields, std::size_t end) {
  const std::uint64_t first = fields.number(0, 1);
  fields.hexadecimal(0, 1, "Version and IHL", fmt::format("version 4, a header of {} octets", (first & 15) * 4));
  fields.hexadecimal(1, 1, "Type of Service");
  fields.decimal(2, 2, "Total Length");
  fields.hexadecimal(4, 2, "Identification");
  if (fields.has(6, 2))
    fields.hexadecimal(6, 2, "Flags and Fragment Offset",
                       (fields.number(6, 2) & packet::Ipv4Layout::kDontFragment) != 0 ? "don't fragment" : "");
  fields.decimal(8, 1, "Time to Live");
  fields.decimal(9, 1, "Protocol");
  fields.hexadecimal(10, 2, "Header Checksum");
  fields.address(12, 4, "Source Address");
  fields.address(16, 4, "Destination Address");
  fields.rest(20, end, "Options");
}

void put_ipv6(HeadFields& fields, std::size_t end) {
  fields.hexadecimal(0, 4, "Version, Class and Flow", "version 6");
  fields.decimal(4, 2, "Payload Length");
  fields.decimal(6, 1, "Next Header");
  fields.decimal(7, 1, "Hop Limit");
  fields.address(8, 6, "IPv6 Source Address");
  fields.address(24, 6, "IPv6 Destination Address");
  fields.rest(40, end, "Extension headers");
}

void put_ip(HeadFields& fields, const RawHead& head) {
  fields.layer("ip", head.ip_at);
  if (!fields.has(0, 1)) return;
  const std::size_t end = head.tcp_at - head.ip_at;
  if (fields.number(0, 1) >> 4 == 4) return put_ipv4(fields, end);
  if (fields.number(0, 1) >> 4 == 6) put_ipv6(fields, end);
}

std::string flags_in_words(std::uint64_t flags) {
  constexpr std::array kNames{"FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR"};
  std::string words;
  for (std::size_t bit = 0; bit < kNames.size(); ++bit) {
    if ((flags >> bit & 1) != 0) words += (words.empty() ? "" : ", ") + std::string(kNames[bit]);
  }
  return words;
}

void put_tcp(HeadFields& fields, const RawHead& head) {
  fields.layer("tcp", head.tcp_at);
  fields.decimal(0, 2, "Source Port");
  fields.decimal(2, 2, "Destination Port");
  fields.decimal(4, 4, "Sequence Number");
  fields.decimal(8, 4, "Acknowledgment Number");
  if (fields.has(12, 1))
    fields.hexadecimal(12, 1, "Data Offset", fmt::format("a header of {} octets", (fields.number(12, 1) >> 4) * 4));
  if (fields.has(13, 1)) fields.hexadecimal(13, 1, "Flags", flags_in_words(fields.number(13, 1)));
  fields.decimal(14, 2, "Window");
  fields.hexadecimal(16, 2, "Checksum");
  fields.decimal(18, 2, "Urgent Pointer");
  fields.rest(20, head.octets.size(), "Options");
}

}  // namespace

PacketHead explained(const RawHead& head, Glossary& glossary) {
  PacketHead out{head.number, head.time, head.octets, {}};
  HeadFields fields(head, glossary, out.fields);
  put_link(fields, head);
  put_ip(fields, head);
  put_tcp(fields, head);
  return out;
}

}  // namespace weft::explain
