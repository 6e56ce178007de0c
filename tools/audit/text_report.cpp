// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <iterator>

#include "rdmap/text.hpp"
#include "tools/audit/octet_rows.hpp"
#include "tools/audit/text_finding.hpp"
#include "tools/audit/tls_words.hpp"
#include "tools/audit/verdict.hpp"
#include "tools/audit/writings.hpp"

namespace weft::tools::audit {

using conformance::ConnectionReport;
using conformance::Direction;
using conformance::Finding;
using conformance::Severity;
using conformance::Tally;

namespace {

using Out = std::back_insert_iterator<std::string>;

constexpr std::array kWorstFirst{Severity::kViolation, Severity::kWarning, Severity::kNote};

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
  if (frame->private_data.empty()) return;
  fmt::format_to(out, "    The private data, numbered from their own first octet (hexadecimal):\n{}",
                 rows_of({.octets = frame->private_data}, Colour::kBold, Palette()));
}

void put_tally(Out out, std::string_view name, const Tally& tally) {
  fmt::format_to(out, "  {} sent {} FPDU{}", name, tally.fpdus, plural(tally.fpdus));
  if (tally.framing) {
    fmt::format_to(out, " (CRC {}, Markers {})", tally.framing->crc ? "on" : "off",
                   tally.framing->markers ? "on" : "off");
  }
  for (std::size_t opcode = 0; opcode < tally.by_opcode.size(); ++opcode) {
    const auto& count = tally.by_opcode[opcode];
    if (count.segments == 0) continue;
    fmt::format_to(out, "\n    {:40} {:>8} message{:1} {:>10} octets", rdmap::name(static_cast<std::uint8_t>(opcode)),
                   count.messages, plural(count.messages), count.octets);
  }
  if (tally.streaming_octets != 0) fmt::format_to(out, "\n    {} octets before MPA started", tally.streaming_octets);
  if (const Coverage coverage = coverage_of(tally); !coverage.whole()) {
    fmt::format_to(out, "\n    not all of it was captured: {}", in_words(coverage));
  } else if (tally.octets_skipped != 0) {
    fmt::format_to(out, "\n    {} octets were skipped to find FPDUs again", tally.octets_skipped);
  } else if (tally.mid_stream) {
    fmt::format_to(out, "\n    its beginning was not captured");
  }
  fmt::format_to(out, "\n");
}

void put_head(Out out, const ConnectionReport& report, const Palette& palette) {
  const std::string head = fmt::format("connection {}: {} (initiator{}) -> {} (responder), packets {} to {}{}",
                                       report.info.number, address_of(report.end(Direction::kFromInitiator)),
                                       report.roles_known ? "" : "?", address_of(report.end(Direction::kFromResponder)),
                                       report.info.first_packet, report.info.last_packet, path_of(report.info));
  fmt::format_to(out, "\n{}\n", palette.paint(Colour::kBold, head));
}

void put_facts(Out out, const ConnectionReport& report) {
  if (report.tls) fmt::format_to(out, "  {}\n", in_words(*report.tls, true));
  put_frame(out, "Request", report.facts.request, report.facts.no_request);
  put_frame(out, "Reply", report.facts.reply, report.facts.no_reply);
  if (report.rtr) fmt::format_to(out, "  ready-to-receive indication: a zero-length {}\n", mpa::name(report.rtr));
  put_tally(out, "initiator", report.tally(Direction::kFromInitiator));
  put_tally(out, "responder", report.tally(Direction::kFromResponder));
  if (report.evicted) fmt::format_to(out, "  too many connections at a time: the rest of this one was not checked\n");
}

void put_suppressed(Out out, const ConnectionReport& report, Severity severity, const Palette& palette) {
  for (const auto& more : report.suppressed) {
    if (more.rule->severity != severity) continue;
    fmt::format_to(out, "  {} {}: {} more by the {}{}\n", painted(severity, palette),
                   palette.paint(Colour::kBold, more.rule->clause), more.count, who(more.direction),
                   more.known ? ", known" : "");
  }
}

// The worst first; those of one severity in the order of their packets, as they come.
void put_findings(Out out, const ConnectionReport& report, const Palette& palette) {
  for (const Severity severity : kWorstFirst) {
    for (const Finding& finding : report.findings) {
      if (finding.rule->severity == severity) fmt::format_to(out, "{}", text_of_finding(finding, palette));
    }
    put_suppressed(out, report, severity, palette);
  }
}

void put_left_out(Out out, const LeftOut& left_out, const Palette& palette) {
  fmt::format_to(out, "\n{} more connection{} of iWARP, which {} not described (--max-connections){}{}\n",
                 left_out.connections, plural(left_out.connections), left_out.connections == 1 ? "is" : "are",
                 left_out.coverage.whole() ? "" : "; ", gaps_of(left_out));
  for (const Broken& one : left_out.broken) {
    fmt::format_to(out, "  {} {} ({}): {} finding{}{}, the first in connection {}, packet {}\n",
                   painted(one.rule->severity, palette), palette.paint(Colour::kBold, one.rule->clause),
                   one.rule->section, one.count, plural(one.count), known_part_of(one), one.connection,
                   one.place.packet);
  }
}

void put_tls(Out out, const Report& report, const Palette& palette) {
  for (const conformance::TlsReport& one : report.tls) {
    fmt::format_to(out, "\n{}\n  {}\n", palette.paint(Colour::kBold, head_of(one.info)), in_words(one.facts, false));
  }
  if (const std::size_t more = report.tls_connections - report.tls.size(); more != 0)
    fmt::format_to(out, "\n{} more connection{} of TLS\n", more, plural(more));
}

}  // namespace

std::string text_of_connection(const ConnectionReport& report, const Palette& palette) {
  std::string text;
  Out out(text);
  put_head(out, report, palette);
  put_facts(out, report);
  for (const Severity severity : kWorstFirst) put_suppressed(out, report, severity, palette);
  fmt::format_to(out, "  over: {}\n", in_words(counts_of(report)));
  return text;
}

std::string head_of(const Report& report) {
  const std::string tls =
      report.tls_connections == 0 ? "" : fmt::format(", {} of TLS without iWARP", report.tls_connections);
  return fmt::format("{}: {} packet{}, {} TCP connection{}, {} of iWARP{}\n", report.file, report.packets,
                     plural(report.packets), report.tcp_connections, plural(report.tcp_connections),
                     report.iwarp_connections(), tls);
}

std::string text_of(const Report& report, const Palette& palette) {
  std::string text = head_of(report);
  Out out(text);
  for (const ConnectionReport& connection : report.connections) {
    put_head(out, connection, palette);
    put_facts(out, connection);
    put_findings(out, connection, palette);
  }
  if (report.left_out.connections != 0) put_left_out(out, report.left_out, palette);
  put_tls(out, report, palette);
  return text + '\n';
}

}  // namespace weft::tools::audit
