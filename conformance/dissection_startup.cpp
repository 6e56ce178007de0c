// SPDX-License-Identifier: Apache-2.0
// The fields of a startup frame: RFC 5044 section 7.1.1, with RFC 6581's enhanced data.
#include <fmt/format.h>

#include <algorithm>

#include "conformance/dissection.hpp"
#include "conformance/text.hpp"

namespace weft::conformance {
namespace {

class FrameFields {
 public:
  void add(std::size_t size, const FieldName& name, std::string value, std::string meaning = {}) {
    out.push_back({at, size, name, std::move(value), std::move(meaning)});
    at += size;
  }
  // Some bits of the field that was added last.
  void part(const FieldName& name, std::uint64_t value) {
    out.push_back({out.back().at, 0, name, std::to_string(value), {}});
  }

  std::vector<Field> out{};
  std::size_t at = 0;
};

std::string printable(Bytes octets) {
  std::string text = "\"";
  for (const std::byte octet : octets) {
    const auto c = std::to_integer<unsigned char>(octet);
    text += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '.';
  }
  return text + '"';
}

// MPA2-6-01: S was the first of RFC 5044's five reserved bits.
void put_flags(FrameFields& fields, unsigned flags) {
  fields.add(1, {"mpa", "Flags"}, fmt::format("{:#04x}", flags),
             fmt::format("M={} C={} R={} S={} Res={}", flags >> 7, flags >> 6 & 1, flags >> 5 & 1, flags >> 4 & 1,
                         flags & 15));
  fields.part({"mpa", "M", "iwarp_mpa.marker_flag"}, flags >> 7);
  fields.part({"mpa", "C", "iwarp_mpa.crc_flag"}, flags >> 6 & 1);
  fields.part({"mpa", "R", "iwarp_mpa.rej_flag"}, flags >> 5 & 1);
  fields.part({"mpa", "S"}, flags >> 4 & 1);
  fields.part({"mpa", "Res", "iwarp_mpa.res"}, flags & 15);
}

void put_enhanced(FrameFields& fields, const mpa::EnhancedData& more, Bytes octets) {
  fields.add(2, {"mpa", "A, B, IRD"}, hex(octets.first(2)),
             fmt::format("A={} ({}) B={} IRD {}", int{more.peer_to_peer},
                         more.peer_to_peer ? "peer to peer" : "client-server", int{more.rtr.send}, more.ird));
  fields.part({"mpa", "A"}, more.peer_to_peer);
  fields.part({"mpa", "B"}, more.rtr.send);
  fields.part({"mpa", "IRD"}, more.ird);
  fields.add(2, {"mpa", "C, D, ORD"}, hex(octets.subspan(2, 2)),
             fmt::format("C={} D={} ORD {}", int{more.rtr.write}, int{more.rtr.read}, more.ord));
  fields.part({"mpa", "C"}, more.rtr.write);
  fields.part({"mpa", "D"}, more.rtr.read);
  fields.part({"mpa", "ORD"}, more.ord);
}

}  // namespace

std::vector<Field> dissect(const StartupSeen& seen) {
  const Bytes octets = seen.piece.octets;
  FrameFields fields;
  const auto rest = [&] {  // of a frame that is none
    if (octets.size() > fields.at) {
      const Bytes left = octets.subspan(fields.at);
      fields.add(left.size(), {"mpa", "octets"}, hex(left));
    }
    return std::move(fields.out);
  };
  const Bytes key = octets.first(std::min(octets.size(), mpa::kKeySize));
  const bool reply = seen.piece.from == Direction::kFromResponder;
  fields.add(key.size(), {"mpa", "Key", reply ? "iwarp_mpa.key.rep" : "iwarp_mpa.key.req"}, printable(key));
  if (octets.size() < mpa::kFixedFrameSize) return rest();
  put_flags(fields, std::to_integer<unsigned>(octets[16]));
  fields.add(1, {"mpa", "Rev", "iwarp_mpa.rev"}, fmt::format("{}", std::to_integer<unsigned>(octets[17])));
  fields.add(2, {"mpa", "PD_Length", "iwarp_mpa.pdlength"}, fmt::format("{}", Be<18, std::uint16_t>::get(octets)));
  if (!seen.frame) {
    fields.out.back().meaning = std::string(mpa::explain(seen.frame.error()).sentence);
    return rest();
  }
  if (const auto& more = seen.frame->enhanced) put_enhanced(fields, *more, octets.subspan(mpa::kFixedFrameSize));
  if (const Bytes data = seen.frame->private_data; !data.empty()) {
    fields.add(data.size(), {"mpa", "Private Data", "iwarp_mpa.privatedata"}, hex(data),
               fmt::format("{} octets", data.size()));
  }
  return std::move(fields.out);
}

}  // namespace weft::conformance
