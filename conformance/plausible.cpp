// SPDX-License-Identifier: Apache-2.0
#include "conformance/plausible.hpp"

#include <algorithm>
#include <utility>

#include "ddp/header.hpp"
#include "mpa/errors.hpp"
#include "rdmap/control.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/terminate.hpp"

namespace weft::conformance {
namespace {

constexpr std::uint8_t kReservedOfDdp = 0x3c;
constexpr std::uint8_t kReservedOfRdmap = 0x30;

}  // namespace

bool plausible_ulpdu(Bytes ulpdu, std::size_t length) noexcept {
  const auto header = ddp::parse(ulpdu.first(std::min(ulpdu.size(), length)));
  if (!header) return false;
  const std::uint8_t ddp_control = ddp::TaggedLayout::Ctrl::get(ulpdu);
  const std::uint8_t rdmap_control = ddp::TaggedLayout::RsvdUlp::get(ulpdu);
  if ((ddp_control & kReservedOfDdp) != 0 || (rdmap_control & kReservedOfRdmap) != 0) return false;
  if (rdmap::version_bits(rdmap_control) != rdmap::Control::kVersion) return false;
  const rdmap::OpcodeRow* row = rdmap::find_opcode(rdmap::opcode_bits(rdmap_control));
  // Messages whose size is fixed say more than others: a wrong ULPDU_Length shows.
  if (row == nullptr || !row->payload.allows(length - ddp::header_size(*header))) return false;
  const auto* untagged = std::get_if<ddp::UntaggedHeader>(&*header);
  if (untagged == nullptr) return row->tagged();
  return row->queue && untagged->queue == static_cast<std::uint32_t>(*row->queue);
}

// Its other fields may be wrong: the rules judge them.
bool plausible_startup_error(Bytes ulpdu) noexcept {
  if (ddp::find_error(ulpdu) == ddp::HeaderError::kTooShort) return false;
  const ddp::Header header = ddp::read(ulpdu);
  const auto opcode = rdmap::opcode_bits(ddp::TaggedLayout::RsvdUlp::get(ulpdu));
  if (!std::holds_alternative<ddp::UntaggedHeader>(header) || opcode != std::to_underlying(rdmap::Opcode::kTerminate)) {
    return false;
  }
  const auto report = rdmap::parse_terminate(ulpdu.subspan(ddp::header_size(header)));
  if (!report) return false;
  const rdmap::ErrorCode& error = report->as_rfc.error;
  return error.layer == rdmap::Layer::kLlp && error.type == mpa::kErrorType &&
         error.code >= std::to_underlying(mpa::ErrorCode::kLocalFailure) &&
         error.code <= std::to_underlying(mpa::ErrorCode::kNoMatchingRtr);
}

}  // namespace weft::conformance
