// SPDX-License-Identifier: Apache-2.0
// The fields of an FPDU: MPA's, DDP's, and the RDMAP control octet.
#include "conformance/dissection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <iterator>

#include "conformance/ulpdu_fields.hpp"
#include "rdmap/control.hpp"

namespace weft::conformance {
namespace {

void put_ddp_control(UlpduFields& fields, unsigned control) {
  fields.add(0, 1, {"ddp", "DDP Control"}, fmt::format("{:#04x}", control),
             fmt::format("T={} L={} Rsvd={} DV={}", control >> 7, control >> 6 & 1, control >> 2 & 15, control & 3));
  fields.part({"ddp", "T", "iwarp_ddp.tagged_flag"}, control >> 7);
  fields.part({"ddp", "L", "iwarp_ddp.last_flag"}, control >> 6 & 1);
  fields.part({"ddp", "Rsvd", "iwarp_ddp.rsvd"}, control >> 2 & 15);
  fields.part({"ddp", "DV", "iwarp_ddp.dv"}, control & 3);
}

void put_rdmap_control(UlpduFields& fields, unsigned control, const rdmap::OpcodeRow* row) {
  fields.add(1, 1, {"rdmap", "RDMAP Control"}, fmt::format("{:#04x}", control),
             fmt::format("RV={} Rsv={} opcode {}: {}", control >> 6, control >> 4 & 3, control & 15,
                         row != nullptr ? row->name : "unassigned"));
  fields.part({"rdmap", "RV", "iwarp_rdma.version"}, control >> 6);
  fields.part({"rdmap", "Rsv", "iwarp_rdma.rsv"}, control >> 4 & 3);
  fields.part({"rdmap", "Opcode", "iwarp_rdma.opcode"}, control & 15);
}

void put_tagged(UlpduFields& fields) {
  fields.number<ddp::TaggedLayout::StagField>(0, {"ddp", "STag", "iwarp_ddp.stag"});
  fields.number<ddp::TaggedLayout::ToField>(0, {"ddp", "TO", "iwarp_ddp.tagged_offset"});
}

void put_untagged(UlpduFields& fields, const rdmap::OpcodeRow* row) {
  using L = ddp::UntaggedLayout;
  const bool invalidates = row != nullptr && row->invalidates;
  const bool of_rfc_5040 =
      row != nullptr && row->opcode <= rdmap::Opcode::kTerminate;  // the others' Wireshark leaves out
  const auto* filter = invalidates ? "iwarp_rdma.inval_stag" : of_rfc_5040 ? "iwarp_rdma.reserved" : "";
  fields.number<L::RsvdUlpWord>(0, {"rdmap", "Invalidate STag", filter}, invalidates ? "" : "not used by this message");
  fields.number<L::QnField>(0, {"ddp", "QN", "iwarp_ddp.qn"});
  fields.number<L::MsnField>(0, {"ddp", "MSN", "iwarp_ddp.msn"});
  fields.number<L::MoField>(0, {"ddp", "MO", "iwarp_ddp.mo"});
}

void put_ddp_and_rdmap(const FpduSeen& fpdu, std::vector<Field>& out) {
  UlpduFields fields(fpdu, out);
  const Bytes ulpdu = fpdu.ulpdu;
  if (ulpdu.empty()) return;
  const auto control = ddp::TaggedLayout::Ctrl::get(ulpdu);
  const bool tagged = (control & ddp::Control::kTagged) != 0;
  const std::size_t size = tagged ? ddp::TaggedLayout::kSize : ddp::UntaggedLayout::kSize;
  if (ulpdu.size() < size) {
    fields.add(0, ulpdu.size(), {"ddp", "ULPDU"}, hex(ulpdu), "too short for a DDP header");
    return;
  }
  const auto rdmap_control = ddp::TaggedLayout::RsvdUlp::get(ulpdu);
  const std::uint8_t opcode = rdmap::opcode_bits(rdmap_control);
  const auto* row = rdmap::find_opcode(opcode);
  put_ddp_control(fields, control);
  put_rdmap_control(fields, rdmap_control, row);
  if (tagged) {
    put_tagged(fields);
  } else {
    put_untagged(fields, row);
  }
  put_message(fields, size, opcode, ulpdu.subspan(size));
}

void put_marker(const MarkerSeen& marker, std::vector<Field>& out) {
  const bool right = marker.reserved == 0 && marker.pointer == marker.expected_pointer;
  out.push_back({marker.at,
                 mpa::kMarkerSize,
                 {"mpa", "Marker"},
                 fmt::format("{:04x} {:04x}", marker.reserved, marker.pointer),
                 right ? fmt::format("the FPDU began {} octets before", marker.pointer)
                       : fmt::format("should be 0000 {:04x}", marker.expected_pointer)});
  out.push_back({marker.at, 0, {"mpa", "RESERVED", "iwarp_mpa.marker_res"}, std::to_string(marker.reserved), {}});
  out.push_back({marker.at + 2, 0, {"mpa", "FPDUPTR", "iwarp_mpa.marker_fpduptr"}, std::to_string(marker.pointer), {}});
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

}  // namespace

std::vector<Field> dissect(const FpduSeen& fpdu) {
  std::vector<Field> markers;
  std::vector<Field> out;
  for (const MarkerSeen& marker : fpdu.markers) put_marker(marker, markers);
  const std::size_t leading = !fpdu.markers.empty() && fpdu.markers.front().at == 0 ? mpa::kMarkerSize : 0;
  out.push_back({leading,
                 mpa::kLengthSize,
                 {"mpa", "ULPDU_Length", "iwarp_mpa.ulpdulength"},
                 fmt::format("{:#06x}", fpdu.ulpdu_length),
                 fmt::format("{} octets", fpdu.ulpdu_length)});
  put_ddp_and_rdmap(fpdu, out);
  if (!fpdu.pad.empty()) {
    out.push_back(
        {fpdu.ulpdu_at(fpdu.ulpdu.size()), fpdu.pad.size(), {"mpa", "PAD", "iwarp_mpa.pad"}, hex(fpdu.pad), {}});
  }
  const bool checked = fpdu.crc != CrcVerdict::kNotInUse;
  out.push_back({fpdu.piece.octets.size() - mpa::kCrcSize,
                 mpa::kCrcSize,
                 {"mpa", "CRC", checked ? "iwarp_mpa.crc_check" : "iwarp_mpa.crc"},
                 crc_octets(fpdu.crc_field),
                 verdict(fpdu)});
  if (markers.empty()) return out;
  std::vector<Field> all;
  std::ranges::merge(markers, out, std::back_inserter(all), {}, &Field::at, &Field::at);
  return all;
}

}  // namespace weft::conformance
