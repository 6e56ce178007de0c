// SPDX-License-Identifier: Apache-2.0
#include "conformance/tally.hpp"

#include "ddp/header.hpp"
#include "rdmap/control.hpp"

namespace weft::conformance {

void Tally::count(const FpduSeen& fpdu) {
  framing = fpdu.framing;
  ++fpdus;
  markers += fpdu.markers.size();
  if (!fpdu.may_be_nested) octets_read += fpdu.piece.octets.size();
  mid_stream = mid_stream || fpdu.mid_stream;
  if (fpdu.crc == CrcVerdict::kBad) {
    ++bad_crcs;
    return;
  }
  if (ddp::find_error(fpdu.ulpdu)) return;
  const ddp::Header header = ddp::read(fpdu.ulpdu);
  MessageCount& count = by_opcode[rdmap::opcode_bits(ddp::TaggedLayout::RsvdUlp::get(fpdu.ulpdu))];
  ++count.segments;
  count.octets += fpdu.ulpdu.size() - ddp::header_size(header);
  if (std::visit([](const auto& h) { return h.last; }, header)) ++count.messages;
}

}  // namespace weft::conformance
