// SPDX-License-Identifier: Apache-2.0
#include "tools/audit/text_finding.hpp"

#include <fmt/format.h>

#include "common/shown_text.hpp"
#include "tools/audit/octet_rows.hpp"
#include "tools/audit/writings.hpp"

namespace weft::tools::audit {

using conformance::Finding;
using conformance::Severity;

namespace {

// Octets have two numbers: where they lie in the packet, and in what their sender sent. Each says which it is.
std::string where(const Finding& finding) {
  std::string text = in_words(finding.place);
  const bool known = finding.place.octet != 0 || finding.stream_offset != 0;
  if (finding.direction && known) {
    text += fmt::format(", offset {} in the {}'s stream", finding.stream_offset, who(finding.direction));
  }
  return text;
}

std::string by_whom(const Finding& finding) {
  return finding.direction ? fmt::format("by the {}", who(finding.direction)) : std::string("by both ends");
}

std::string excerpt_of_finding(const Finding& finding, const Palette& palette) {
  const conformance::Excerpt& excerpt = finding.excerpt;
  if (excerpt.octets.empty()) return {};
  const OctetRows rows{excerpt.stream_offset, excerpt.octets, excerpt.mark, excerpt.marked};
  return fmt::format("    Octets, numbered by their offset in the {}'s stream (hexadecimal):\n{}",
                     who(finding.direction), rows_of(rows, colour_of(finding.rule->severity), palette));
}

std::string text_with(const Finding& finding, const std::string& connection, const Palette& palette) {
  const std::string_view indent = connection.empty() ? "  " : "";
  std::string text = fmt::format("{}{} {} ({}): {}{}, {}\n", indent, painted(finding.rule->severity, palette),
                                 palette.paint(Colour::kBold, finding.rule->clause), finding.rule->section, connection,
                                 by_whom(finding), where(finding));
  text += fmt::format("    {}\n    The rule: {}\n", finding.message, finding.rule->sentence);
  if (finding.known)
    text += fmt::format("    Known{}{}\n", finding.known->empty() ? "" : ": ", shown_text(*finding.known));
  return text + excerpt_of_finding(finding, palette);
}

}  // namespace

Colour colour_of(Severity severity) noexcept {
  switch (severity) {
    case Severity::kViolation: return Colour::kRed;
    case Severity::kWarning: return Colour::kYellow;
    case Severity::kNote: return Colour::kDim;
  }
  return Colour::kBold;
}

std::string painted(Severity severity, const Palette& palette) {
  return palette.paint(colour_of(severity), conformance::name(severity));
}

std::string address_of(const conformance::ConnectionEnd& end) {
  const bool v6 = end.address.find(':') != std::string::npos;
  return v6 ? fmt::format("[{}]:{}", end.address, end.port) : fmt::format("{}:{}", end.address, end.port);
}

std::string path_of(const conformance::ConnectionInfo& info) { return info.path.empty() ? "" : ", in " + info.path; }

std::string in_words(const conformance::Place& place) {
  // Octet 0 is the link layer's: no octet of a connection has this number.
  if (place.octet == 0) return fmt::format("packet {}", place.packet);
  return fmt::format("packet {}, octet {} of the packet", place.packet, place.octet);
}

std::string text_of_finding(const Finding& finding, const Palette& palette) { return text_with(finding, {}, palette); }

std::string text_of_finding(const Finding& finding, const conformance::ConnectionInfo& info, const Palette& palette) {
  return text_with(
      finding, fmt::format("connection {} ({} and {}), ", info.number, address_of(info.first), address_of(info.second)),
      palette);
}

}  // namespace weft::tools::audit
