// SPDX-License-Identifier: Apache-2.0
// The RDMAP messages that have a header of their own.
#include <fmt/format.h>

#include "conformance/ulpdu_fields.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/control.hpp"
#include "rdmap/error_table.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"

namespace weft::conformance {
namespace {

// Whether all of a header of this size is there; shows what is when it is not.
bool whole(UlpduFields& fields, std::size_t base, Bytes payload, std::size_t size) {
  if (payload.size() < size && !payload.empty()) {
    fields.add(base, payload.size(), {"rdmap", "header"}, hex(payload, 64),
               fmt::format("cut short: it has {} octets", size));
  }
  return payload.size() >= size;
}

void put_surplus(UlpduFields& fields, std::size_t base, Bytes payload, std::size_t size) {
  if (payload.size() <= size) return;
  fields.add(base + size, payload.size() - size, {"rdmap", "surplus"}, hex(payload.subspan(size)),
             "no message of this kind has it");
}

void put_read_request(UlpduFields& fields, std::size_t base, Bytes payload) {
  using L = rdmap::ReadRequestLayout;
  if (!whole(fields, base, payload, L::kSize)) return;
  fields.number<L::SinkStag>(base, {"rdmap", "SinkSTag", "iwarp_rdma.sinkstag"});
  fields.number<L::SinkTo>(base, {"rdmap", "SinkTO", "iwarp_rdma.sinkto"});
  fields.number<L::Size>(base, {"rdmap", "RDMARDSZ", "iwarp_rdma.rdmardsz"},
                         fmt::format("{} octets to read", L::Size::get(payload)));
  fields.number<L::SourceStag>(base, {"rdmap", "SrcSTag", "iwarp_rdma.srcstag"});
  fields.number<L::SourceTo>(base, {"rdmap", "SrcTO", "iwarp_rdma.srcto"});
  put_surplus(fields, base, payload, L::kSize);
}

void put_atomic_request(UlpduFields& fields, std::size_t base, Bytes payload) {
  using L = rdmap::AtomicRequestLayout;
  if (!whole(fields, base, payload, L::kSize)) return;
  const std::uint32_t word = L::AOpCode::get(payload);
  const auto kind = rdmap::atomic_kind(word & L::kAOpCodeMask);
  const bool swap = kind == rdmap::AtomicOperation::Kind::kCmpSwap;
  fields.number<L::AOpCode>(base, {"rdmap", "AOpCode and Reserved"}, !kind ? "unknown" : swap ? "CmpSwap" : "FetchAdd");
  fields.part({"rdmap", "Reserved", "iwarp_rdma.atomic.reserved"}, word >> 4);
  fields.part({"rdmap", "AOpCode", "iwarp_rdma.atomic.opcode"}, word & L::kAOpCodeMask);
  fields.number<L::RequestId>(base, {"rdmap", "Request Identifier", "iwarp_rdma.atomic.request_identifier"});
  fields.number<L::RemoteStag>(base, {"rdmap", "Remote STag", "iwarp_rdma.atomic.remote_stag"});
  fields.number<L::RemoteTo>(base, {"rdmap", "Remote Tagged Offset", "iwarp_rdma.atomic.remote_tagged_offset"});
  fields.number<L::AddSwapData>(
      base, {"rdmap", "Add or Swap Data", swap ? "iwarp_rdma.atomic.swap_data" : "iwarp_rdma.atomic.add_data"});
  fields.number<L::AddSwapMask>(
      base, {"rdmap", "Add or Swap Mask", swap ? "iwarp_rdma.atomic.swap_mask" : "iwarp_rdma.atomic.add_mask"});
  fields.number<L::CompareData>(base, {"rdmap", "Compare Data", "iwarp_rdma.atomic.compare_data"});
  fields.number<L::CompareMask>(base, {"rdmap", "Compare Mask", "iwarp_rdma.atomic.compare_mask"});
  put_surplus(fields, base, payload, L::kSize);
}

void put_atomic_response(UlpduFields& fields, std::size_t base, Bytes payload) {
  using L = rdmap::AtomicResponseLayout;
  if (!whole(fields, base, payload, L::kSize)) return;
  fields.number<L::RequestId>(
      base, {"rdmap", "Original Request Identifier", "iwarp_rdma.atomic.original_request_identifier"});
  fields.number<L::Original>(base,
                             {"rdmap", "Original Remote Data Value", "iwarp_rdma.atomic.original_remote_data_value"});
  put_surplus(fields, base, payload, L::kSize);
}

// Wireshark has a field for each layer's error types, and for each list of codes.
constexpr std::string_view type_filter(unsigned layer) noexcept {
  switch (layer) {
    case 0: return "iwarp_rdma.term_etype_rdma";
    case 1: return "iwarp_rdma.term_etype_ddp";
    case 2: return "iwarp_rdma.term_etype_llp";
    default: return "iwarp_rdma.term_etype";
  }
}

constexpr std::string_view code_filter(unsigned layer, unsigned type) noexcept {
  if (layer == 0 && (type == 1 || type == 2)) return "iwarp_rdma.term_errcode_rdma";
  if (layer == 1 && type == 1) return "iwarp_rdma.term_errcode_ddp_tagged";
  if (layer == 1 && type == 2) return "iwarp_rdma.term_errcode_ddp_untagged";
  if (layer == 2 && type == 0) return "iwarp_rdma.term_errcode_llp";
  return "iwarp_rdma.term_errcode";
}

// The fields are told as the RFC lays them out, also where siw meant others (`report`).
void put_terminate_control(UlpduFields& fields, std::size_t base, Bytes payload, const rdmap::TerminateReport& report) {
  using L = rdmap::TerminateLayout;
  const auto& error = report.meant().error;
  const unsigned control = L::LayerAndType::get(payload);
  const unsigned layer = control >> 4;
  const unsigned type = control & 15;
  fields.number<L::LayerAndType>(
      base, {"rdmap", "Layer and EType"},
      fmt::format("layer {}, type {}, code {:#04x}: {}{}", std::to_underlying(error.layer), error.type, error.code,
                  rdmap::sentence(error), report.siw_layout ? " (laid out as Linux siw does)" : ""));
  fields.part({"rdmap", "Layer", "iwarp_rdma.term_layer"}, layer);
  fields.part({"rdmap", "EType", type_filter(layer)}, type);
  fields.number<L::Code>(base, {"rdmap", "Error Code", code_filter(layer, type)});
  using BitsAndReserved = Be<2, std::uint16_t>;
  const unsigned bits = BitsAndReserved::get(payload);
  fields.number<BitsAndReserved>(base, {"rdmap", "HdrCt and Reserved"},
                                 fmt::format("M={} D={} R={}", bits >> 15, bits >> 14 & 1, bits >> 13 & 1));
  fields.part({"rdmap", "M", "iwarp_rdma.term_hdrct_m"}, bits >> 15);
  fields.part({"rdmap", "D", "iwarp_rdma.hdrct_d"}, bits >> 14 & 1);
  fields.part({"rdmap", "R", "iwarp_rdma.hdrct_r"}, bits >> 13 & 1);
  fields.part({"rdmap", "Reserved", "iwarp_rdma.term_rsvd"}, bits & 0x1fff);
}

// RDMAP-4.8-02: each of the quoted headers only if its bit says so, without padding; siw's bits say so too.
void put_terminate(UlpduFields& fields, std::size_t base, Bytes payload) {
  using L = rdmap::TerminateLayout;
  const auto report = rdmap::parse_terminate(payload);
  if (!report) return static_cast<void>(whole(fields, base, payload, L::kShortest));
  put_terminate_control(fields, base, payload, *report);
  const rdmap::Terminate& meant = report->meant();
  std::size_t at = L::kShortest;
  if (meant.segment_length || meant.ddp_header) {
    fields.number<L::SegmentLength>(base, {"rdmap", "DDP Segment Length", "iwarp_rdma.term_ddp_seg_len"});
    at = L::kDdpHeaderAt;
  }
  const auto quote = [&](std::size_t size, const FieldName& name, std::string meaning) {
    fields.add(base + at, size, name, hex(payload.subspan(at, size), 64), std::move(meaning));
    at += size;
  };
  if (meant.ddp_header)
    quote(meant.ddp_header->octets().size(), {"rdmap", "Terminated DDP Header", "iwarp_rdma.term_ddp_h"}, {});
  if (meant.read_request)
    quote(rdmap::ReadRequestLayout::kSize, {"rdmap", "Terminated RDMA Header", "iwarp_rdma.term_rdma_h"}, {});
  if (payload.size() > at)
    quote(payload.size() - at, {"rdmap", "surplus"}, "no header that HdrCt announces, or cut short");
}

void put_payload(UlpduFields& fields, std::size_t base, Bytes payload) {
  if (payload.empty()) return;
  fields.add(base, payload.size(), {"ulp", "payload"}, hex(payload), recognise_payload(payload));
}

}  // namespace

void put_message(UlpduFields& fields, std::size_t base, std::uint8_t opcode, Bytes payload) {
  switch (static_cast<rdmap::Opcode>(opcode)) {
    using enum rdmap::Opcode;
    case kReadRequest: return put_read_request(fields, base, payload);
    case kAtomicRequest: return put_atomic_request(fields, base, payload);
    case kAtomicResponse: return put_atomic_response(fields, base, payload);
    case kTerminate: return put_terminate(fields, base, payload);
    case kImmediate:
    case kImmediateSolicited:
      if (!payload.empty()) fields.add(base, payload.size(), {"rdmap", "Immediate Data"}, hex(payload));
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

}  // namespace weft::conformance
