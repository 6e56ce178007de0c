// SPDX-License-Identifier: Apache-2.0
#include "tools/dissect/fields.hpp"

#include <fmt/format.h>

#include "common/json.hpp"
#include "tools/audit/report.hpp"

namespace weft::tools::dissect {
namespace {

using conformance::Field;

std::string packets_text(const conformance::Piece& piece) {
  return piece.first.packet == piece.last.packet
             ? fmt::format("packet {}", piece.last.packet)
             : fmt::format("packets {} to {}", piece.first.packet, piece.last.packet);
}

std::string field_line(const Field& field, Hue hue, const Palette& palette) {
  const std::string place = fmt::format("{:>6}", fmt::format("+{}", field.at));
  return fmt::format("  {} {}  {} {}{}{}\n", paint(palette, hue, fmt::format("{:6}", field.info->layer)),
                     palette.paint(Colour::kDim, place), paint(palette, hue, fmt::format("{:28}", field.info->name)),
                     field.value, field.meaning.empty() ? "" : "  ", field.meaning);
}

}  // namespace

std::string fields_heading(const Palette& palette) {
  return palette.paint(Colour::kBold, "fields: layer, octet within the frame or FPDU, name, value, meaning") + '\n';
}

std::string fields_text(const std::vector<Field>& fields, const Palette& palette, bool explain, bool terminate) {
  std::string text;
  for (const Field& field : fields) {
    const bool bits = field.size == 0;  // the meaning of their octets has them
    const Hue hue = hue_of(field.info->layer);
    if (!bits) text += field_line(field, terminate && hue == Hue::kRdmap ? Hue::kTerminate : hue, palette);
    if (!explain) continue;
    const std::string front = bits ? fmt::format("  {}={}: ", field.info->name, field.value) : "";
    text += fmt::format("{:17}{}\n", "", palette.paint(Colour::kDim, front + std::string(field.info->sentence)));
  }
  return text;
}

std::string text_of(const Frame& frame, const Palette& palette, bool explain) {
  const conformance::Piece& piece = frame.piece;
  const std::string head = fmt::format("connection {}, {}: {} of the {}", frame.connection, packets_text(piece),
                                       frame.what, audit::who(piece.from));
  const std::string place =
      fmt::format(", {} octets from octet {} of packet {} on, stream offset {}", piece.octets.size(), piece.first.octet,
                  piece.first.packet, piece.stream_offset);
  return palette.paint(Colour::kBold, head) + palette.paint(Colour::kDim, place) + '\n' +
         fields_text(frame.fields, palette, explain, frame.terminate);
}

std::string text_of(const Remark& remark, const Palette& palette) {
  return paint(palette, Hue::kRemark,
               fmt::format("connection {}, packet {}: {} of the {}", remark.connection, remark.packet, remark.sentence,
                           audit::who(remark.from))) +
         '\n';
}

std::string json_of(const Frame& frame) {
  const conformance::Piece& piece = frame.piece;
  JsonWriter json(JsonForm::kCompact);
  json.put("connection", frame.connection).put("direction", audit::who(piece.from)).put("what", frame.what);
  json.put("first_packet", piece.first.packet).put("packet", piece.last.packet).put("offset", piece.first.octet);
  json.put("stream_offset", piece.stream_offset).put("octets", piece.octets.size());
  put_fields(json, frame.fields);
  return json.finish() + '\n';
}

void put_fields(JsonWriter& json, const std::vector<Field>& fields) {
  json.begin_array("fields");
  for (const Field& field : fields) {
    json.begin_object().put("at", field.at).put("size", field.size).put("layer", field.info->layer);
    json.put("name", field.info->name)
        .put("filter", field.filter)
        .put("value", field.value)
        .put("meaning", field.meaning)
        .end();
  }
  json.end();
}

std::string json_of(const Remark& remark) {
  JsonWriter json(JsonForm::kCompact);
  json.put("connection", remark.connection).put("direction", audit::who(remark.from)).put("what", "remark");
  return json.put("packet", remark.packet).put("remark", remark.sentence).finish() + '\n';
}

}  // namespace weft::tools::dissect
