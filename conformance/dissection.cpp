// SPDX-License-Identifier: Apache-2.0
#include "conformance/dissection.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "rdmap/atomic_messages.hpp"
#include "rdmap/control.hpp"
#include "rdmap/error_table.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"

namespace weft::conformance {
namespace {

std::string hex(Bytes octets, std::size_t most = 16) {
  std::string text;
  for (const std::byte octet : octets.first(std::min(octets.size(), most))) {
    text += fmt::format("{}{:02x}", text.empty() ? "" : " ", std::to_integer<unsigned>(octet));
  }
  return octets.size() > most ? text + " ..." : text;
}

// Collects the fields of one ULPDU; offsets of the ULPDU become offsets of the piece.
class UlpduFields {
 public:
  UlpduFields(const FpduSeen& fpdu, std::vector<Field>& out) : fpdu_(fpdu), out_(out) {}

  void add(std::size_t at, std::size_t size, std::string_view layer, std::string_view name, std::string value,
           std::string meaning = {}) {
    out_.push_back({fpdu_.ulpdu_at(at), size, layer, name, std::move(value), std::move(meaning)});
  }
  template <typename F>
  void number(std::size_t base, std::string_view layer, std::string_view name, std::string meaning = {}) {
    constexpr std::size_t kSize = sizeof(F::get(Bytes{}));
    const auto value = F::get(fpdu_.ulpdu.subspan(base));
    add(base + F::end - kSize, kSize, layer, name, fmt::format("{:#0{}x}", value, 2 + 2 * kSize), std::move(meaning));
  }

 private:
  const FpduSeen& fpdu_;
  std::vector<Field>& out_;
};

// --- RDMAP messages that have a header of their own

// Whether all of a header of this size is there; shows what is when it is not, and what is more than it.
bool whole(UlpduFields& fields, std::size_t base, Bytes payload, std::size_t size) {
  if (payload.size() < size && !payload.empty()) {
    fields.add(base, payload.size(), "rdmap", "header", hex(payload, 64),
               fmt::format("cut short: it has {} octets", size));
  }
  if (payload.size() > size) {
    fields.add(base + size, payload.size() - size, "rdmap", "surplus", hex(payload.subspan(size)),
               "no message of this kind has it");
  }
  return payload.size() >= size;
}

void put_read_request(UlpduFields& fields, std::size_t base, Bytes payload) {
  using L = rdmap::ReadRequestLayout;
  if (!whole(fields, base, payload, L::kSize)) return;
  fields.number<L::SinkStag>(base, "rdmap", "SinkSTag");
  fields.number<L::SinkTo>(base, "rdmap", "SinkTO");
  fields.number<L::Size>(base, "rdmap", "RDMARDSZ", fmt::format("{} octets to read", L::Size::get(payload)));
  fields.number<L::SourceStag>(base, "rdmap", "SrcSTag");
  fields.number<L::SourceTo>(base, "rdmap", "SrcTO");
}

void put_atomic_request(UlpduFields& fields, std::size_t base, Bytes payload) {
  using L = rdmap::AtomicRequestLayout;
  if (!whole(fields, base, payload, L::kSize)) return;
  const auto kind = rdmap::atomic_kind(L::AOpCode::get(payload) & L::kAOpCodeMask);
  const std::string name = !kind ? "unknown" : kind == rdmap::AtomicOperation::Kind::kFetchAdd ? "FetchAdd" : "CmpSwap";
  fields.number<L::AOpCode>(base, "rdmap", "AOpCode", name);
  fields.number<L::RequestId>(base, "rdmap", "Request Identifier");
  fields.number<L::RemoteStag>(base, "rdmap", "Remote STag");
  fields.number<L::RemoteTo>(base, "rdmap", "Remote Tagged Offset");
  fields.number<L::AddSwapData>(base, "rdmap", "Add or Swap Data");
  fields.number<L::AddSwapMask>(base, "rdmap", "Add or Swap Mask");
  fields.number<L::CompareData>(base, "rdmap", "Compare Data");
  fields.number<L::CompareMask>(base, "rdmap", "Compare Mask");
}

void put_atomic_response(UlpduFields& fields, std::size_t base, Bytes payload) {
  using L = rdmap::AtomicResponseLayout;
  if (!whole(fields, base, payload, L::kSize)) return;
  fields.number<L::RequestId>(base, "rdmap", "Original Request Identifier");
  fields.number<L::Original>(base, "rdmap", "Original Remote Data Value");
}

void put_terminate(UlpduFields& fields, std::size_t base, Bytes payload) {
  using L = rdmap::TerminateLayout;
  const auto report = rdmap::parse_terminate(payload);
  if (!report) {
    static_cast<void>(whole(fields, base, payload, L::kShortest));
    return;
  }
  const auto& error = report->meant().error;
  fields.add(
      base, 2, "rdmap", "Terminate Control", hex(payload.first(2)),
      fmt::format("layer {}, type {}, code {:#04x}: {}{}", std::to_underlying(error.layer), error.type, error.code,
                  rdmap::sentence(error), report->siw_layout ? " (laid out as Linux siw does)" : ""));
  const auto bits = L::HeaderBits::get(payload);
  fields.add(base + 2, 2, "rdmap", "HdrCt and Reserved", hex(payload.subspan(2, 2)),
             fmt::format("M={} D={} R={}", bits >> 7 & 1, bits >> 6 & 1, bits >> 5 & 1));
  if (payload.size() == L::kDdpHeaderAt - 1)
    fields.add(base + L::kShortest, 1, "rdmap", "surplus", hex(payload.subspan(L::kShortest)));
  if (payload.size() >= L::kDdpHeaderAt) fields.number<L::SegmentLength>(base, "rdmap", "DDP Segment Length");
  if (payload.size() > L::kDdpHeaderAt) {
    const Bytes quoted = payload.subspan(L::kDdpHeaderAt);
    fields.add(base + L::kDdpHeaderAt, quoted.size(), "rdmap", "Terminated headers", hex(quoted, 64));
  }
}

void put_payload(UlpduFields& fields, std::size_t base, Bytes payload) {
  if (payload.empty()) return;
  fields.add(base, payload.size(), "ulp", "payload", hex(payload), recognise_payload(payload));
}

void put_message(UlpduFields& fields, std::size_t base, std::uint8_t opcode, Bytes payload) {
  switch (static_cast<rdmap::Opcode>(opcode)) {
    using enum rdmap::Opcode;
    case kReadRequest: return put_read_request(fields, base, payload);
    case kAtomicRequest: return put_atomic_request(fields, base, payload);
    case kAtomicResponse: return put_atomic_response(fields, base, payload);
    case kTerminate: return put_terminate(fields, base, payload);
    case kImmediate:
    case kImmediateSolicited:
      if (!payload.empty()) fields.add(base, payload.size(), "rdmap", "Immediate Data", hex(payload));
      return;
    case kWrite:
    case kReadResponse:
    case kSend:
    case kSendInvalidate:
    case kSendSolicited:
    case kSendSolicitedInvalidate: return put_payload(fields, base, payload);
  }
  put_payload(fields, base, payload);
}

void put_ddp_and_rdmap(const FpduSeen& fpdu, std::vector<Field>& out) {
  UlpduFields fields(fpdu, out);
  const Bytes ulpdu = fpdu.ulpdu;
  if (ulpdu.empty()) return;
  const auto control = ddp::TaggedLayout::Ctrl::get(ulpdu);
  const bool tagged = (control & ddp::Control::kTagged) != 0;
  const std::size_t size = tagged ? ddp::TaggedLayout::kSize : ddp::UntaggedLayout::kSize;
  if (ulpdu.size() < size) {
    fields.add(0, ulpdu.size(), "ddp", "ULPDU", hex(ulpdu), "too short for a DDP header");
    return;
  }
  fields.add(0, 1, "ddp", "DDP Control", fmt::format("{:#04x}", control),
             fmt::format("T={} L={} Rsvd={} DV={}", control >> 7, control >> 6 & 1, control >> 2 & 15, control & 3));
  const auto rdmap_control = ddp::TaggedLayout::RsvdUlp::get(ulpdu);
  const auto* row = rdmap::find_opcode(rdmap::opcode_bits(rdmap_control));
  fields.add(1, 1, "rdmap", "RDMAP Control", fmt::format("{:#04x}", rdmap_control),
             fmt::format("RV={} Rsv={} opcode {}: {}", rdmap_control >> 6, rdmap_control >> 4 & 3, rdmap_control & 15,
                         row != nullptr ? row->name : "unassigned"));
  if (tagged) {
    fields.number<ddp::TaggedLayout::StagField>(0, "ddp", "STag");
    fields.number<ddp::TaggedLayout::ToField>(0, "ddp", "TO");
  } else {
    using L = ddp::UntaggedLayout;
    const bool invalidates = row != nullptr && row->invalidates;
    fields.number<L::RsvdUlpWord>(0, "rdmap", "Invalidate STag", invalidates ? "" : "not used by this message");
    fields.number<L::QnField>(0, "ddp", "QN");
    fields.number<L::MsnField>(0, "ddp", "MSN");
    fields.number<L::MoField>(0, "ddp", "MO");
  }
  put_message(fields, size, rdmap::opcode_bits(rdmap_control), ulpdu.subspan(size));
}

std::string_view verdict(CrcVerdict crc) noexcept {
  switch (crc) {
    case CrcVerdict::kGood: return "right";
    case CrcVerdict::kBad: return "wrong";
    case CrcVerdict::kNotInUse: return "CRCs are not in use";
  }
  return {};
}

}  // namespace

std::vector<Field> dissect(const FpduSeen& fpdu) {
  std::vector<Field> out;
  for (const MarkerSeen& marker : fpdu.markers) {
    const bool right = marker.reserved == 0 && marker.pointer == marker.expected_pointer;
    out.push_back({marker.at, mpa::kMarkerSize, "mpa", "Marker",
                   fmt::format("{:04x} {:04x}", marker.reserved, marker.pointer),
                   right ? fmt::format("the FPDU began {} octets before", marker.pointer)
                         : fmt::format("should be 0000 {:04x}", marker.expected_pointer)});
  }
  const std::size_t leading = !fpdu.markers.empty() && fpdu.markers.front().at == 0 ? mpa::kMarkerSize : 0;
  out.push_back({leading, mpa::kLengthSize, "mpa", "ULPDU_Length", fmt::format("{:#06x}", fpdu.ulpdu_length),
                 fmt::format("{} octets", fpdu.ulpdu_length)});
  put_ddp_and_rdmap(fpdu, out);
  if (!fpdu.pad.empty()) {
    out.push_back({fpdu.ulpdu_at(fpdu.ulpdu.size()), fpdu.pad.size(), "mpa", "PAD", hex(fpdu.pad), {}});
  }
  const std::size_t end = fpdu.piece.octets.size();
  out.push_back({end - mpa::kCrcSize, mpa::kCrcSize, "mpa", "CRC", fmt::format("{:#010x}", fpdu.crc_field),
                 fpdu.crc == CrcVerdict::kBad ? fmt::format("wrong: computed {:#010x}", fpdu.crc_computed)
                                              : std::string(verdict(fpdu.crc))});
  std::ranges::sort(out, {}, &Field::at);
  return out;
}

std::vector<Field> dissect(const StartupSeen& seen) {
  const Bytes octets = seen.piece.octets;
  std::vector<Field> out;
  const auto add = [&](std::size_t at, std::size_t size, std::string_view name, std::string value,
                       std::string meaning = {}) {
    out.push_back({at, size, "mpa", name, std::move(value), std::move(meaning)});
  };
  std::string key;
  for (const std::byte octet : octets.first(std::min(octets.size(), mpa::kKeySize))) {
    const auto c = std::to_integer<unsigned char>(octet);
    key += c >= 0x20 && c < 0x7f ? static_cast<char>(c) : '.';
  }
  add(0, key.size(), "Key", "\"" + key + "\"");
  const auto rest = [&](std::size_t at) {  // of a frame that is none
    if (octets.size() > at) add(at, octets.size() - at, "octets", hex(octets.subspan(at)));
    return out;
  };
  if (octets.size() < mpa::kFixedFrameSize) return rest(key.size());
  const auto flags = std::to_integer<unsigned>(octets[16]);
  add(16, 1, "Flags", fmt::format("{:#04x}", flags),
      fmt::format("M={} C={} R={} S={} Res={}", flags >> 7, flags >> 6 & 1, flags >> 5 & 1, flags >> 4 & 1,
                  flags & 15));
  add(17, 1, "Rev", fmt::format("{}", std::to_integer<unsigned>(octets[17])));
  add(18, 2, "PD_Length", fmt::format("{}", Be<18, std::uint16_t>::get(octets)));
  if (!seen.frame) {
    out.back().meaning = std::string(mpa::explain(seen.frame.error()).sentence);
    return rest(mpa::kFixedFrameSize);
  }
  std::size_t at = mpa::kFixedFrameSize;
  if (const auto& more = seen.frame->enhanced) {
    add(at, 2, "A, B, IRD", hex(octets.subspan(at, 2)),
        fmt::format("A={} ({}) B={} IRD {}", int{more->peer_to_peer},
                    more->peer_to_peer ? "peer to peer" : "client-server", int{more->rtr.send}, more->ird));
    add(at + 2, 2, "C, D, ORD", hex(octets.subspan(at + 2, 2)),
        fmt::format("C={} D={} ORD {}", int{more->rtr.write}, int{more->rtr.read}, more->ord));
    at += mpa::kEnhancedDataSize;
  }
  if (const Bytes data = seen.frame->private_data; !data.empty()) {
    add(at, data.size(), "Private Data", hex(data), fmt::format("{} octets", data.size()));
  }
  return out;
}

}  // namespace weft::conformance
