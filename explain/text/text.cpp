// SPDX-License-Identifier: Apache-2.0
#include "explain/text/text.hpp"

#include <fmt/format.h>

#include "common/text.hpp"
#include "explain/text/effects.hpp"
#include "rdmap/opcodes.hpp"

namespace weft::explain {
namespace {

constexpr std::size_t kNameWidth = 28;

Hue hue_of(std::string_view layer) {
  if (layer == "mpa") return Hue::kMpa;
  if (layer == "ddp") return Hue::kDdp;
  if (layer == "rdmap") return Hue::kRdmap;
  return layer == "ulp" ? Hue::kPayload : Hue::kTcp;
}

bool is_terminate(const Row& row) {
  return row.segment && row.segment->opcode == std::to_underlying(rdmap::Opcode::kTerminate);
}

Hue hue_of(const Row& row) {
  switch (row.kind) {
    case RowKind::kTcp: return Hue::kTcp;
    case RowKind::kStartup: return Hue::kMpa;
    case RowKind::kFpdu: return !row.segment || is_terminate(row) ? Hue::kTerminate : Hue::kRdmap;
    case RowKind::kGap: return Hue::kRemark;
  }
  return Hue::kPlain;
}

Line ladder_line(const Row& row) {
  const bool left = row.from == Direction::kFromInitiator;
  const std::string_view arrow = row.kind == RowKind::kGap ? left ? "initiator:" : "responder:"
                                 : left                    ? "initiator ->"
                                                           : "<- responder";
  return {{Hue::kQuiet, fmt::format("{:>12} {:>8}  ", seconds_text(row.time), row.packet)},
          {Hue::kHeading, fmt::format("{:12}  ", arrow)},
          {hue_of(row), row.words}};
}

// Bits stand in the meaning of their octets.
void tell_fields(std::vector<Line>& lines, const Glossary& glossary, const std::vector<FieldAt>& fields,
                 bool terminate) {
  for (const FieldAt& field : fields) {
    if (field.size == 0) continue;
    const FieldInfo& note = glossary.names()[field.name];
    const Hue layer = hue_of(note.layer);
    const Hue hue = terminate && layer == Hue::kRdmap ? Hue::kTerminate : layer;
    Line line{{hue, fmt::format("  {:8}", note.layer)},
              {Hue::kQuiet, fmt::format("{:>6}  ", fmt::format("+{}", field.at))},
              {hue, fmt::format("{:{}} ", note.name, kNameWidth)},
              {Hue::kPlain, glossary.texts()[field.value]}};
    if (field.meaning) line.push_back({Hue::kPlain, "  " + glossary.texts()[*field.meaning]});
    if (!note.reference.empty()) line.push_back({Hue::kQuiet, fmt::format("  ({})", note.reference)});
    lines.push_back(std::move(line));
  }
}

// In the order of the wire (MPA-4.4-13).
std::string wire_order(std::uint32_t crc) {
  return fmt::format("{:02x} {:02x} {:02x} {:02x}", crc & 0xff, crc >> 8 & 0xff, crc >> 16 & 0xff, crc >> 24);
}

std::string crc_text(const Crc& crc) {
  switch (crc.verdict) {
    case conformance::CrcVerdict::kGood:
      return fmt::format("CRC32c {} is {}, sent with its least significant octet first: {}", crc.words,
                         hex(crc.computed), wire_order(crc.computed));
    case conformance::CrcVerdict::kBad:
      return fmt::format("CRC32c {} is {}, and the field says {}: the FPDU is damaged", crc.words, hex(crc.computed),
                         hex(crc.field));
    case conformance::CrcVerdict::kNotInUse: return "neither end asked for CRCs: the field is there and means nothing";
  }
  return {};
}

void tell_arithmetic(std::vector<Line>& lines, const Wire& wire) {
  const auto put = [&](std::string_view what, const std::string& words) {
    lines.push_back({{Hue::kMpa, fmt::format("  {:18}", what)}, {Hue::kPlain, words}});
  };
  for (const MarkerAt& marker : wire.markers)
    put("Marker", fmt::format("at octet {} points at {}", marker.at, marker.points_at));
  if (wire.pad) put("padding", wire.pad->words);
  if (wire.crc) put("CRC", crc_text(*wire.crc));
}

void tell_findings(std::vector<Line>& lines, const Connection& connection, const Row& row) {
  for (const std::size_t index : row.findings) {
    const auto& finding = connection.findings[index].finding;
    const std::string_view stop = finding.message.ends_with('.') ? "" : ".";
    lines.push_back({{Hue::kRemark, fmt::format("  {:18}", conformance::name(finding.rule->severity))},
                     {Hue::kPlain, fmt::format("{}: {}{} {}", finding.rule->clause, finding.message, stop,
                                               finding.rule->sentence)}});
  }
}

}  // namespace

std::vector<Line> heading_of(const Model& model) {
  std::vector<Line> lines;
  lines.push_back({{Hue::kHeading, model.source}});
  for (const std::string& note : model.notes) lines.push_back({{Hue::kRemark, note}});
  return lines;
}

std::vector<Line> heading_of(const Connection& connection) {
  const bool known = connection.roles_known;
  std::vector<Line> lines(1);
  lines.push_back(
      {{Hue::kHeading, fmt::format("connection {}: initiator{} {}, responder{} {}", connection.id, known ? "" : "?",
                                   connection.initiator, known ? "" : "?", connection.responder)}});
  const auto markers = [&](Direction from) {
    return connection.settled.markers[index_of(from)] ? "with Markers" : "without Markers";
  };
  lines.push_back({{Hue::kMpa, fmt::format("{}; the initiator sends {}, the responder {}",
                                           connection.settled.crc ? "CRCs are in use" : "CRCs are not in use",
                                           markers(Direction::kFromInitiator), markers(Direction::kFromResponder))}});
  lines.push_back({{Hue::kQuiet, fmt::format("{:>12} {:>8}  {:12}  {}", "seconds", "packet", "sent by", "what")}});
  return lines;
}

std::vector<Line> lines_of(const Model& model, const Connection& connection, std::size_t index) {
  const Row& row = connection.rows[index];
  std::vector<Line> lines;
  lines.push_back(ladder_line(row));
  tell_fields(lines, model.glossary, row.wire.fields, is_terminate(row));
  tell_arithmetic(lines, row.wire);
  tell_effects(lines, connection, row);
  tell_findings(lines, connection, row);
  return lines;
}

}  // namespace weft::explain
