// SPDX-License-Identifier: Apache-2.0
#include "rdmap/text.hpp"

#include "common/text.hpp"
#include "rdmap/control.hpp"
#include "rdmap/error_table.hpp"

namespace weft::rdmap {
namespace {

std::string numbers(const ErrorCode& error, std::string_view layer) {
  return "layer " + std::to_string(std::to_underlying(error.layer)) + std::string(layer) + ", type " +
         std::to_string(error.type) + ", code " + hex(error.code);
}

std::string sentence_of(const TerminateReport& report) {
  const std::string siw = report.siw_layout ? " (" + std::string(kSiwLayout) + ')' : "";
  return ": " + std::string(sentence(report.meant().error)) + siw;
}

}  // namespace

std::string name(std::uint8_t opcode) {
  const OpcodeRow* const row = find_opcode(opcode);
  return row == nullptr ? "opcode " + std::to_string(opcode) : std::string(row->name);
}

std::string_view name(AtomicOperation::Kind kind) noexcept {
  switch (kind) {
    case AtomicOperation::Kind::kFetchAdd: return "FetchAdd";
    case AtomicOperation::Kind::kCmpSwap: return "CmpSwap";
  }
  return {};
}

std::string_view name(Layer layer) noexcept {
  switch (layer) {
    case Layer::kRdmap: return "RDMAP";
    case Layer::kDdp: return "DDP";
    case Layer::kLlp: return "LLP";
  }
  return "unknown";
}

std::string text(const ErrorCode& error) { return numbers(error, {}); }

std::string text_with_layer(const ErrorCode& error) {
  return numbers(error, " (" + std::string(name(error.layer)) + ')');
}

std::string short_text(const ErrorCode& error) {
  return short_hex(std::to_underlying(error.layer)).substr(2) + '/' + short_hex(error.type).substr(2) + '/' +
         hex(error.code).substr(2);
}

std::string text(const TerminateReport& report) { return text(report.meant().error) + sentence_of(report); }

std::string short_text(const TerminateReport& report) { return short_text(report.meant().error) + sentence_of(report); }

std::string text(const AtomicOperation& operation) {
  const std::string front = std::string(name(operation.kind));
  const std::string value = short_hex(operation.add_or_swap);
  if (operation.kind == AtomicOperation::Kind::kFetchAdd) return front + " of " + value;
  if (operation.compare_mask == 0) return front + " without comparison: swap in " + value;
  return front + " of " + short_hex(operation.compare) + " for " + value;
}

std::string control_text(std::uint64_t octet) {
  const auto control = static_cast<std::uint8_t>(octet);
  const std::uint8_t opcode = opcode_bits(control);
  const OpcodeRow* const row = find_opcode(opcode);
  return "RV=" + std::to_string(control >> 6) + " Rsv=" + std::to_string(control >> 4 & 3) + " opcode " +
         std::to_string(opcode) + ": " + std::string(row != nullptr ? row->name : "unassigned");
}

std::string aopcode_text(std::uint64_t word) {
  const auto kind = atomic_kind(static_cast<std::uint32_t>(word) & AtomicRequestLayout::kAOpCodeMask);
  return kind ? std::string(name(*kind)) : "unknown";
}

std::string read_size_text(std::uint64_t size) { return octets_text(size) + " to read"; }

}  // namespace weft::rdmap
