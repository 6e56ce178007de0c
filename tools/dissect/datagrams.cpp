// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/datagrams.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "common/json.hpp"
#include "common/text.hpp"
#include "conformance/field_list.hpp"
#include "tools/audit/text_finding.hpp"
#include "tools/dissect/fields.hpp"
#include "verbs/datagram/datagram_text.hpp"

namespace weft::tools::dissect {
namespace {

using conformance::Field;
using conformance::UdpDatagram;
using Layout = verbs::detail::DatagramLayout;

// 48 bits agree, so hardly any other UDP is taken for weft's, and one with a wrong version or length is still told.
bool is_wefts(const UdpDatagram& datagram) {
  constexpr std::size_t kNumbersEnd = 12;
  if (datagram.payload.size() < kNumbersEnd) return false;
  using verbs::DatagramQueuePair;
  return Layout::Destination::get(datagram.payload) == DatagramQueuePair::number_at(datagram.destination.port) &&
         Layout::Source::get(datagram.payload) == DatagramQueuePair::number_at(datagram.source.port);
}

// As far as they were captured.
std::vector<Field> fields_of(const UdpDatagram& datagram) {
  std::vector<Field> fields;
  conformance::FieldList list(datagram.payload, fields);
  for (const FieldInfo& info : verbs::detail::kDatagramFields) {
    if (std::size_t{info.at} + info.size > datagram.payload.size()) break;
    list.number(0, info);
  }
  if (datagram.payload.size() > Layout::kSize) {
    list.octets(Layout::kSize, datagram.payload.size() - Layout::kSize, verbs::detail::kDatagramPayloadFields[0]);
  }
  return fields;
}

// Describes what is wrong with a datagram; empty if nothing is.
std::string wrong_with(const UdpDatagram& datagram) {
  const auto header = verbs::detail::parse_datagram(datagram.payload, datagram.size);
  return header ? std::string() : std::string(explain(header.error()));
}

std::string json_of(const conformance::Packet& packet, const UdpDatagram& datagram, std::string_view time) {
  JsonWriter json(JsonForm::kCompact);
  json.put("what", "datagram").put("packet", packet.number).put("seconds", time);
  json.put("source", audit::address_of(datagram.source)).put("destination", audit::address_of(datagram.destination));
  json.put("octets", datagram.size).put("wrong", wrong_with(datagram));
  put_fields(json, fields_of(datagram));
  return json.finish() + '\n';
}

std::string text_of(const conformance::Packet& packet, const UdpDatagram& datagram, const Palette& palette,
                    bool explain) {
  const std::string head = fmt::format("datagram, packet {}: {} to {}", packet.number,
                                       audit::address_of(datagram.source), audit::address_of(datagram.destination));
  const std::string place =
      fmt::format(", {} octets{}{}", datagram.size, datagram.path.empty() ? "" : ", in ", datagram.path);
  std::string text = palette.paint(Colour::kBold, head) + palette.paint(Colour::kDim, place) + '\n';
  text += fields_text(fields_of(datagram), palette, explain, false);
  const std::string wrong = wrong_with(datagram);
  return wrong.empty() ? text : text + "  " + paint(palette, Hue::kTerminate, wrong) + '\n';
}

}  // namespace

void Datagrams::take(const conformance::Packet& packet) {
  if (!std::exchange(any_packet_, true)) first_time_ = packet.time;
  const auto datagram = udp_.take(packet);
  if (!datagram || !is_wefts(*datagram)) return;
  ++count_;
  if (!wanted_.datagram(packet.number)) return;
  if (style_.overview) list(packet, *datagram);
  if (!style_.fields) return;
  print_(style_.json ? json_of(packet, *datagram, seconds_text(packet.time - first_time_))
                     : text_of(packet, *datagram, style_.palette, style_.explain));
}

void Datagrams::list(const conformance::Packet& packet, const UdpDatagram& datagram) {
  if (!style_.all && count_ > kListed) return;
  if (count_ == 1) {
    listed_ =
        style_.palette.paint(Colour::kBold, "datagrams: seconds, packet, sender, receiver, payload, Q_Key") + '\n';
  }
  const auto header = verbs::detail::parse_datagram(datagram.payload, datagram.size);
  const std::string what =
      header ? fmt::format("{} octets, Q_Key 0x{:08x}{}{}", header->length, header->qkey,
                           header->solicited ? ", solicited" : "", header->immediate ? ", immediate data" : "")
             : paint(style_.palette, Hue::kTerminate, explain(header.error()));
  listed_ += fmt::format("{:>12} {:>8}  {} to {}: {}\n", seconds_text(packet.time - first_time_), packet.number,
                         audit::address_of(datagram.source), audit::address_of(datagram.destination), what);
  if (style_.live) print_(std::exchange(listed_, {}));
}

void Datagrams::finish() {
  if (!style_.overview || count_ == 0 || !wanted_.datagrams()) return;
  if (!style_.all && count_ > kListed) listed_ += fmt::format("{:>25}{} more datagrams\n", "... ", count_ - kListed);
  print_(listed_ + '\n');
}

}  // namespace weft::tools::dissect
