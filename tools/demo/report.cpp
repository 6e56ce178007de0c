// SPDX-License-Identifier: Apache-2.0
#include "tools/demo/report.hpp"

#include <array>
#include <string_view>
#include <variant>

#include "conformance/capture_reader.hpp"
#include "conformance/connection_audit.hpp"
#include "conformance/tcp_connections.hpp"
#include "rdmap/opcodes.hpp"

namespace weft::tools::demo {
namespace {

using conformance::Tally;

struct Flow {
  std::uint64_t octets{};
  std::uint64_t packets{};  // with payload
};

// What one connection carried.
struct Carried {
  std::array<Flow, 2> flows{};  // by End
  conformance::ConnectionAudit audit{0};

  void take_events_of(conformance::TcpConnections& tcp) {
    while (const auto event = tcp.next()) {
      const auto* seen = std::get_if<conformance::TcpEvent>(&event->event);
      if (seen == nullptr || event->connection != 0) continue;
      if (const auto* segment = std::get_if<conformance::TcpSegment>(seen)) {
        Flow& flow = flows[static_cast<std::size_t>(segment->from)];
        flow.octets += segment->size;
        ++flow.packets;
      }
      audit.on(*seen);
    }
  }
};

Outcome<Carried> read_capture(const std::string& path) {
  auto reader = conformance::CaptureReader::open(path);
  if (!reader) return failure("cannot read the capture: " + reader.error().sentence + ".");
  conformance::TcpConnections tcp;
  Carried carried;
  const auto damage = conformance::read_packets(*reader, [&](const conformance::Packet& packet) {
    tcp.take(packet);
    carried.take_events_of(tcp);
  });
  if (damage) return failure("cannot read the capture: " + damage->sentence + ".");
  tcp.finish();
  carried.take_events_of(tcp);
  carried.audit.finish();
  const conformance::Facts& facts = carried.audit.facts();
  if (!facts.request || !facts.reply) return failure("the capture holds no complete MPA startup.");
  for (const conformance::Finding& finding : carried.audit.findings().all()) {
    if (finding.rule->severity == conformance::Severity::kViolation)
      return failure("the capture violates " + std::string(finding.rule->clause) + ": " + finding.message);
  }
  return carried;
}

std::string count(std::uint64_t number, std::string_view noun) {
  return std::to_string(number) + ' ' + std::string(noun) + (number == 1 ? "" : "s");
}

std::string startup(const conformance::StartupFacts& frame) {
  std::string text = "revision " + std::to_string(frame.revision) + ", CRC " + (frame.crc ? "on" : "off") +
                     ", Markers " + (frame.markers ? "wanted" : "not wanted");
  const auto credit = [&](std::string_view name, std::uint16_t number) {
    if (number != mpa::kNoNegotiation) text += ", " + std::string(name) + ' ' + std::to_string(number);
  };
  if (frame.enhanced) {
    credit("IRD", frame.enhanced->ird);
    credit("ORD", frame.enhanced->ord);
  }
  return text + ", " + count(frame.private_data.size(), "octet") + " of private data";
}

std::string fpdus(const Tally& out, const Tally& back, bool crc) {
  const std::uint64_t markers = out.markers + back.markers;
  return count(out.fpdus, "FPDU") + " out, " + std::to_string(back.fpdus) + " back, " +
         (crc ? "every CRC32C right" : "no CRC") + (markers == 0 ? ", no Markers" : ", " + count(markers, "Marker"));
}

std::string segments(const Tally& tally) {
  std::array<std::uint64_t, 2> seen{};  // untagged, tagged
  for (const rdmap::OpcodeRow& row : rdmap::kOpcodeTable)
    seen[row.tagged() ? 1 : 0] += tally.by_opcode[std::to_underlying(row.opcode)].segments;
  return std::to_string(seen[1]) + " tagged and " + std::to_string(seen[0]) + " untagged segments";
}

std::string messages(const Tally& tally) {
  std::string text;
  for (const rdmap::OpcodeRow& row : rdmap::kOpcodeTable) {
    const std::uint64_t number = tally.by_opcode[std::to_underlying(row.opcode)].messages;
    if (number != 0) text += (text.empty() ? "" : ", ") + std::to_string(number) + ' ' + std::string(row.name);
  }
  return text;
}

std::string line(std::string_view layer, const std::string& text) {
  std::string out = "  ";
  out += layer;
  out.resize(9, ' ');
  return out + text + '\n';
}

}  // namespace

Outcome<std::string> describe_layers(const std::string& path) {
  const auto carried = read_capture(path);
  if (!carried) return std::unexpected(carried.error());
  const conformance::Facts& facts = carried->audit.facts();
  const Tally& out = carried->audit.tally(conformance::Direction::kFromInitiator);
  const Tally& back = carried->audit.tally(conformance::Direction::kFromResponder);
  const bool first = carried->audit.initiator() == conformance::End::kFirst;
  const Flow& sent = carried->flows[first ? 0 : 1];
  const Flow& received = carried->flows[first ? 1 : 0];
  return line("TCP", count(sent.octets, "octet") + " out in " + count(sent.packets, "packet") + ", " +
                         std::to_string(received.octets) + " back in " + std::to_string(received.packets)) +
         line("MPA", "Request: " + startup(*facts.request)) + line("", "Reply:   " + startup(*facts.reply)) +
         line("", fpdus(out, back, facts.request->crc || facts.reply->crc)) + line("DDP", segments(out) + " out") +
         line("", segments(back) + " back") + line("RDMAP", messages(out) + " out") +
         line("", messages(back) + " back");
}

}  // namespace weft::tools::demo
