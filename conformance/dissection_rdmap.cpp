// SPDX-License-Identifier: Apache-2.0
// The fields after the DDP header: those of the RDMAP messages that are nothing but a header, or payload.
#include <utility>

#include "conformance/field_list.hpp"
#include "rdmap/error_table.hpp"
#include "rdmap/text.hpp"

namespace weft::conformance {
namespace {

constexpr auto kPayloadFields =
    field_table("ulp", "the application's own octets",
                {octet_field(0, "payload", "", "Octets of the application, which iWARP only carries.")});

constexpr const FieldInfo& kSurplus = rdmap::kWrongLengthFields[1];

// Shows what is there of a header that has fewer octets than it should.
void put_cut_short(FieldList& fields, std::size_t base, Bytes payload, std::size_t size) {
  if (payload.empty()) return;
  fields.octets(base, payload.size(), rdmap::kWrongLengthFields[0], "cut short: it has " + octets_text(size), 64);
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
void put_terminate_control(FieldList& fields, std::size_t base, Bytes payload, const rdmap::TerminateReport& report) {
  const auto& [error, layer, type, code, header_bits, m, d, r, reserved] = rdmap::kTerminateFields;
  fields.header(base, rdmap::kTerminateFields);
  const auto layer_value = static_cast<unsigned>(layer.value(payload));
  fields.last(type).filter = type_filter(layer_value);
  fields.last(code).filter = code_filter(layer_value, static_cast<unsigned>(type.value(payload)));
  fields.last(error).meaning = rdmap::text(report);
}

// RDMAP-4.8-02: each of the quoted headers only if its bit says so, without padding; siw's bits say so too.
void put_terminate(FieldList& fields, std::size_t base, Bytes payload) {
  using L = rdmap::TerminateLayout;
  const auto report = rdmap::parse_terminate(payload);
  if (!report) return put_cut_short(fields, base, payload, L::kShortest);
  put_terminate_control(fields, base, payload, *report);
  const auto& [length, ddp_header, rdma_header] = rdmap::kQuoteFields;
  const rdmap::Terminate& meant = report->meant();
  std::size_t at = L::kShortest;
  if (meant.segment_length || meant.ddp_header) {
    fields.number(base, length);
    at = L::kDdpHeaderAt;
  }
  const auto quote = [&](std::size_t size, const FieldInfo& info, std::string meaning) {
    if (size > 0) fields.octets(base + std::exchange(at, at + size), size, info, std::move(meaning), 64);
  };
  if (meant.ddp_header) quote(meant.ddp_header->octets().size(), ddp_header, {});
  if (meant.read_request) quote(rdmap::ReadRequestLayout::kSize, rdma_header, {});
  quote(payload.size() - at, kSurplus, "no header that HdrCt announces, or cut short");
}

void put_header(FieldList& fields, std::size_t base, Bytes payload, std::span<const FieldInfo> table) {
  const std::size_t size = end_of(table);
  if (payload.size() < size) return put_cut_short(fields, base, payload, size);
  fields.header(base, table);
  if (payload.size() > size)
    fields.octets(base + size, payload.size() - size, kSurplus, "no message of this kind has it");
}

// Wireshark has two names for what is data to add or to swap.
void name_swap_fields(FieldList& fields, Bytes payload) {
  using L = rdmap::AtomicRequestLayout;
  if (payload.size() < L::kSize) return;
  const auto kind = rdmap::atomic_kind(L::AOpCode::get(payload) & L::kAOpCodeMask);
  if (kind != rdmap::AtomicOperation::Kind::kCmpSwap) return;
  fields.last(rdmap::kAtomicRequestFields[6]).filter = "iwarp_rdma.atomic.swap_data";
  fields.last(rdmap::kAtomicRequestFields[7]).filter = "iwarp_rdma.atomic.swap_mask";
}

}  // namespace

void put_message(FieldList& fields, std::size_t base, std::uint8_t opcode, Bytes payload) {
  const auto* const row = rdmap::find_opcode(opcode);
  const auto table = row == nullptr ? std::span<const FieldInfo>() : rdmap::fields_of(row->opcode);
  if (table.empty() || end_of(table) == 0) {
    if (payload.empty()) return;
    const FieldInfo& info = table.empty() ? kPayloadFields[0] : table[0];
    fields.octets(base, payload.size(), info, table.empty() ? recognise_payload(payload) : std::string());
  } else if (row->opcode == rdmap::Opcode::kTerminate) {
    put_terminate(fields, base, payload);
  } else {
    put_header(fields, base, payload, table);
    if (row->opcode == rdmap::Opcode::kAtomicRequest) name_swap_fields(fields, payload);
  }
}

}  // namespace weft::conformance
