// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <span>

#include "rdmap/opcodes.hpp"
#include "tools/audit/report.hpp"

namespace weft::tools::audit {

using conformance::ConnectionReport;
using conformance::Direction;
using conformance::Finding;
using conformance::Severity;
using conformance::Tally;

namespace {

using Out = std::back_insert_iterator<std::string>;

std::string_view plural(std::size_t count) noexcept { return count == 1 ? "" : "s"; }

std::string address(const conformance::ConnectionEnd& end) {
  const bool v6 = end.address.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", end.address, end.port) : fmt::format("{}:{}", end.address, end.port);
}

// Rows of 16 octets as Wireshark shows them, `marked` of them from `mark` on in brackets.
void put_octets(Out out, std::uint64_t first, std::span<const std::byte> octets, std::size_t mark, std::size_t marked) {
  for (std::size_t row = 0; row < octets.size(); row += 16) {
    const auto shown = octets.subspan(row, std::min<std::size_t>(16, octets.size() - row));
    std::string hex;
    std::string characters;
    for (std::size_t i = 0; i < shown.size(); ++i) {
      const std::size_t at = row + i;
      const bool opens = marked != 0 && at == mark;
      const bool closed = marked != 0 && at == mark + marked && i != 0;  // in the row before, otherwise
      const auto value = std::to_integer<unsigned char>(shown[i]);
      hex += fmt::format("{}{:02x}", opens ? '[' : closed ? ']' : ' ', value);
      characters += value >= 0x20 && value < 0x7F ? static_cast<char>(value) : '.';
    }
    if (marked != 0 && row + shown.size() == mark + marked) hex += ']';
    fmt::format_to(out, "      {:08x} {:49}  {}\n", first + row, hex, characters);
  }
}

void put_frame(Out out, std::string_view name, const std::optional<conformance::StartupFacts>& frame,
               const conformance::NoFrame& none) {
  if (!frame) {
    fmt::format_to(out, "  {:8} {}{}\n", name, none.packet == 0 ? "" : fmt::format("packet {}, ", none.packet),
                   conformance::name(none.why));
    return;
  }
  fmt::format_to(out, "  {:8} packet {}, revision {}, M={} C={}{}, {} octets of private data", name, frame->packet,
                 frame->revision, int{frame->markers}, int{frame->crc}, frame->reject ? ", rejected" : "",
                 frame->private_data.size());
  if (frame->enhanced) {
    const auto& more = *frame->enhanced;
    fmt::format_to(out, ", IRD {}, ORD {}", more.ird, more.ord);
    if (more.peer_to_peer) {
      fmt::format_to(out, ", peer to peer, ready to receive by{}{}{}", more.rtr.send ? " Send" : "",
                     more.rtr.write ? " Write" : "", more.rtr.read ? " Read" : "");
    }
  }
  fmt::format_to(out, "\n");
  put_octets(out, 0, frame->private_data, 0, 0);
}

void put_tally(Out out, std::string_view name, const Tally& tally) {
  fmt::format_to(out, "  {} sent {} FPDU{}", name, tally.fpdus, plural(tally.fpdus));
  if (tally.framing) {
    fmt::format_to(out, " (CRC {}, Markers {})", tally.framing->crc ? "on" : "off",
                   tally.framing->markers ? "on" : "off");
  }
  for (std::size_t opcode = 0; opcode < tally.by_opcode.size(); ++opcode) {
    const auto& count = tally.by_opcode[opcode];
    const auto* row = rdmap::find_opcode(static_cast<std::uint8_t>(opcode));
    if (count.segments == 0) continue;
    fmt::format_to(out, "\n    {:42} {:>8} message{:1} {:>12} octets",
                   row != nullptr ? std::string(row->name) : fmt::format("opcode {}", opcode), count.messages,
                   plural(count.messages), count.octets);
  }
  if (tally.streaming_octets != 0) fmt::format_to(out, "\n    {} octets before MPA started", tally.streaming_octets);
  if (tally.mid_stream) {
    fmt::format_to(out, "\n    not all of it was captured: {} octets were skipped to find FPDUs again",
                   tally.octets_skipped);
  }
  fmt::format_to(out, "\n");
}

void put_finding(Out out, const Finding& finding) {
  fmt::format_to(out, "  {} {} ({}): {}, packet {}, octet {}\n", conformance::name(finding.rule->severity),
                 finding.rule->clause, finding.rule->section,
                 finding.direction ? fmt::format("by the {}", who(finding.direction)) : std::string("by both ends"),
                 finding.place.packet, finding.place.octet);
  fmt::format_to(out, "    {}\n    The rule: {}\n", finding.message, finding.rule->sentence);
  const conformance::Excerpt& excerpt = finding.excerpt;
  put_octets(out, excerpt.stream_offset, excerpt.octets, excerpt.mark, excerpt.marked);
}

void put_connection(Out out, const ConnectionReport& report) {
  fmt::format_to(out, "\nconnection {}: {} (initiator{}) -> {} (responder), packets {} to {}\n", report.info.number,
                 address(report.end(Direction::kFromInitiator)), report.roles_known ? "" : "?",
                 address(report.end(Direction::kFromResponder)), report.info.first_packet, report.info.last_packet);
  put_frame(out, "Request", report.facts.request, report.facts.no_request);
  put_frame(out, "Reply", report.facts.reply, report.facts.no_reply);
  if (report.rtr) fmt::format_to(out, "  ready to receive: told by a zero-length {}\n", mpa::name(report.rtr));
  put_tally(out, "initiator", report.tally(Direction::kFromInitiator));
  put_tally(out, "responder", report.tally(Direction::kFromResponder));
  if (report.evicted) fmt::format_to(out, "  too many connections at a time: the rest of this one was not looked at\n");
  for (const Finding& finding : report.findings) put_finding(out, finding);
  for (const auto& more : report.suppressed) {
    fmt::format_to(out, "  {} {}: {} more by the {}\n", conformance::name(more.rule->severity), more.rule->clause,
                   more.count, who(more.direction));
  }
}

void put_left_out(Out out, const LeftOut& left_out) {
  fmt::format_to(out, "\n{} more connection{} of iWARP, which {} not described (--max-connections)\n",
                 left_out.connections, plural(left_out.connections), left_out.connections == 1 ? "is" : "are");
  for (const LeftOut::Broken& one : left_out.broken) {
    fmt::format_to(out, "  {} {} ({}): {} finding{}, the first in connection {}, packet {}\n",
                   conformance::name(one.rule->severity), one.rule->clause, one.rule->section, one.count,
                   plural(one.count), one.connection, one.packet);
  }
}

}  // namespace

std::string text_of(const Report& report) {
  std::string text;
  Out out(text);
  fmt::format_to(out, "{}: {} packet{}, {} TCP connection{}, {} of iWARP\n", report.file, report.packets,
                 plural(report.packets), report.tcp_connections, plural(report.tcp_connections),
                 report.connections.size() + report.left_out.connections);
  for (const ConnectionReport& connection : report.connections) put_connection(out, connection);
  if (report.left_out.connections != 0) put_left_out(out, report.left_out);
  const std::array counts{report.count(Severity::kViolation), report.count(Severity::kWarning),
                          report.count(Severity::kNote)};
  fmt::format_to(out, "\n{} violation{}, {} warning{}, {} note{}\n", counts[0], plural(counts[0]), counts[1],
                 plural(counts[1]), counts[2], plural(counts[2]));
  return text;
}

}  // namespace weft::tools::audit
