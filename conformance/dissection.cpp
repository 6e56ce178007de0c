// SPDX-License-Identifier: Apache-2.0
// The fields of startup frames and FPDUs: MPA's, DDP's, and the RDMAP control octet.
#include "conformance/dissection.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "conformance/field_list.hpp"
#include "ddp/text.hpp"
#include "mpa/text.hpp"
#include "rdmap/control.hpp"
#include "rdmap/text.hpp"

namespace weft::conformance {
namespace {

void put_ulp_word(FieldList& fields, const rdmap::OpcodeRow* row) {
  const bool invalidates = row != nullptr && row->invalidates;
  const bool of_rfc_5040 = row != nullptr && row->rfc == 5040;  // the others' Wireshark leaves out
  Field& word = fields.number(0, rdmap::kInvalidateFields[0]);
  word.filter = invalidates ? "iwarp_rdma.inval_stag" : of_rfc_5040 ? "iwarp_rdma.reserved" : "";
  if (!invalidates) word.meaning = "not used by this message";
}

void put_ddp_and_rdmap(const FpduSeen& fpdu, std::vector<Field>& out) {
  const Bytes ulpdu = fpdu.ulpdu;
  FieldList fields(ulpdu, out, &fpdu);
  if (ulpdu.empty()) return;
  if (ddp::find_error(ulpdu) == ddp::HeaderError::kTooShort) {
    fields.octets(0, ulpdu.size(), ddp::kShortUlpduFields[0], "too short for a DDP header");
    return;
  }
  const ddp::Header header = ddp::read(ulpdu);
  const std::uint8_t opcode = rdmap::opcode_bits(ddp::TaggedLayout::RsvdUlp::get(ulpdu));
  fields.header(0, ddp::kControlFields);
  fields.header(0, rdmap::kControlFields);
  if (std::holds_alternative<ddp::TaggedHeader>(header)) {
    fields.header(0, ddp::kTaggedFields);
  } else {
    put_ulp_word(fields, rdmap::find_opcode(opcode));
    fields.header(0, ddp::kUntaggedFields);
  }
  const std::size_t size = ddp::header_size(header);
  put_message(fields, size, opcode, ulpdu.subspan(size));
}

void put_marker(const MarkerSeen& marker, std::vector<Field>& out) {
  const auto& [whole, reserved, pointer] = mpa::kMarkerFields;
  const bool right = marker.reserved == 0 && marker.pointer == marker.expected_pointer;
  const auto digits = [](std::uint16_t value) { return hex(value).substr(2); };
  out.push_back({marker.at, mpa::kMarkerSize, &whole, digits(marker.reserved) + ' ' + digits(marker.pointer),
                 right ? "the FPDU began " + octets_text(marker.pointer) + " before"
                       : "should be 0000 " + digits(marker.expected_pointer)});
  out.push_back({marker.at, 0, &reserved, std::to_string(marker.reserved), {}, reserved.filter});
  out.push_back({marker.at + 2, 0, &pointer, std::to_string(marker.pointer), {}, pointer.filter});
}

// In the order of the wire: least significant octet first (MPA-4.4-13).
std::string crc_octets(std::uint32_t crc) {
  std::array<std::byte, mpa::kCrcSize> octets{};
  Be<0, std::uint32_t>::put(octets, std::byteswap(crc));
  return hex(octets);
}

std::string verdict(const FpduSeen& fpdu) {
  switch (fpdu.crc) {
    case CrcVerdict::kGood: return "right";
    case CrcVerdict::kBad: return "wrong: computed " + crc_octets(fpdu.crc_computed);
    case CrcVerdict::kNotInUse: return "CRCs are not in use";
  }
  return {};
}

std::string printable(Bytes octets) {
  std::string text = "\"";
  for (const std::byte octet : octets) {
    const auto c = std::to_integer<unsigned char>(octet);
    text += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '.';
  }
  return text + '"';
}

}  // namespace

std::vector<Field> dissect(const FpduSeen& fpdu) {
  const auto& [length, pad, crc] = mpa::kFpduFields;
  std::vector<Field> markers;
  std::vector<Field> out;
  for (const MarkerSeen& marker : fpdu.markers) put_marker(marker, markers);
  const std::size_t leading = !fpdu.markers.empty() && fpdu.markers.front().at == 0 ? mpa::kMarkerSize : 0;
  FieldList fields(fpdu.piece.octets, out);
  fields.number(leading, length);
  put_ddp_and_rdmap(fpdu, out);
  if (!fpdu.pad.empty()) fields.add(fpdu.ulpdu_at(fpdu.ulpdu.size()), fpdu.pad.size(), pad, hex(fpdu.pad));
  Field& last =
      fields.add(fpdu.piece.octets.size() - crc.size, crc.size, crc, crc_octets(fpdu.crc_field), verdict(fpdu));
  if (fpdu.crc != CrcVerdict::kNotInUse) last.filter = "iwarp_mpa.crc_check";
  if (markers.empty()) return out;
  std::vector<Field> all;
  std::ranges::merge(markers, out, std::back_inserter(all), {}, &Field::at, &Field::at);
  return all;
}

std::vector<Field> dissect(const StartupSeen& seen) {
  const auto& [private_data, invalid_rest] = mpa::kDataFields;
  const std::span<const FieldInfo> table = mpa::kStartupFields;
  const Bytes octets = seen.piece.octets;
  std::vector<Field> out;
  FieldList fields(octets, out);
  const auto put_rest = [&](std::size_t at, const FieldInfo& info, std::string meaning) {
    if (octets.size() > at) fields.octets(at, octets.size() - at, info, std::move(meaning));
  };
  const Bytes key = octets.first(std::min(octets.size(), mpa::kKeySize));
  const bool reply = seen.piece.from == Direction::kFromResponder;
  fields.add(0, key.size(), table.front(), printable(key)).filter = reply ? "iwarp_mpa.key.rep" : "iwarp_mpa.key.req";
  std::size_t at = key.size();
  if (octets.size() >= mpa::kFixedFrameSize) {
    fields.header(0, table.subspan(1));
    for (const FieldInfo& info : table.last(2)) fields.last(info).value = std::to_string(info.value(octets));
    at = mpa::kFixedFrameSize;
    if (!seen.frame) out.back().meaning = mpa::explain(seen.frame.error()).sentence;
  }
  if (at < mpa::kFixedFrameSize || !seen.frame) return put_rest(at, invalid_rest, {}), out;
  if (seen.frame->enhanced) {
    fields.header(at, mpa::kEnhancedFields);
    for (const FieldInfo& info : mpa::kEnhancedFields)
      if (info.bits == 0) fields.last(info).value = hex(octets.subspan(at + info.at, info.size));
    at += mpa::kEnhancedDataSize;
  }
  put_rest(at, private_data, octets_text(octets.size() - at));
  return out;
}

}  // namespace weft::conformance
