// SPDX-License-Identifier: Apache-2.0
#include "explain/model/arithmetic.hpp"

#include <fmt/format.h>

#include "conformance/fpdu_reading.hpp"

namespace weft::explain {
namespace {

std::string count_text(std::size_t count) { return fmt::format("{} octet{}", count, count == 1 ? "" : "s"); }

}  // namespace

// MPA-4.1-05.
Pad pad_of(const conformance::FpduSeen& fpdu) {
  const std::size_t ulpdu = fpdu.ulpdu_length;
  const std::size_t before = mpa::kLengthSize + ulpdu;
  const std::size_t pad = mpa::pad_size(ulpdu);
  return {pad, fmt::format("{} + {} = {}, {} mod 4 = {}: {}", mpa::kLengthSize, ulpdu, before, before, before % 4,
                           pad == 0 ? "no padding" : count_text(pad) + " of padding")};
}

// MPA-4.4-14 to MPA-4.4-16. Where CRCs are not in use the field means nothing, and neither do words.
Crc crc_of(const conformance::FpduSeen& fpdu) {
  Crc crc{.field = fpdu.crc_field,
          .computed = conformance::computed_crc(fpdu.piece.octets),
          .verdict = fpdu.crc,
          .words = {}};
  if (fpdu.crc == conformance::CrcVerdict::kNotInUse) return crc;
  crc.words = fmt::format("over the {} octets before it", fpdu.piece.octets.size() - mpa::kCrcSize);
  if (const std::size_t markers = fpdu.markers.size(); markers != 0)
    crc.words += fmt::format(" (including {} Marker{})", markers, markers == 1 ? "" : "s");
  return crc;
}

std::vector<MarkerAt> markers_of(const conformance::FpduSeen& fpdu) {
  std::vector<MarkerAt> out;
  for (const auto& marker : fpdu.markers) {
    const bool right = marker.pointer == marker.expected_pointer;
    const std::string where = marker.expected_pointer == 0 ? "the ULPDU_Length field right after it"
                                                           : fmt::format("the FPDU's ULPDU_Length field, {} before",
                                                                         count_text(marker.expected_pointer));
    out.push_back({marker.at, marker.pointer,
                   right ? where : fmt::format("{} octets before; it should point at {}", marker.pointer, where)});
  }
  return out;
}

}  // namespace weft::explain
