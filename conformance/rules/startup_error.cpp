// SPDX-License-Identifier: Apache-2.0
#include "conformance/rules/startup_error.hpp"

#include <utility>

#include "ddp/header.hpp"
#include "mpa/errors.hpp"
#include "rdmap/control.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/terminate.hpp"

namespace weft::conformance {

bool is_startup_error(const FpduSeen& fpdu, const Facts& facts) noexcept {
  if (fpdu.piece.from != Direction::kFromResponder || fpdu.crc == CrcVerdict::kBad) return false;
  if (!facts.request || !facts.request->enhanced || !facts.reply || !facts.reply->enhanced) return false;
  const auto header = ddp::parse(fpdu.ulpdu);
  if (!header || !std::holds_alternative<ddp::UntaggedHeader>(*header)) return false;
  const auto opcode = rdmap::opcode_bits(ddp::TaggedLayout::RsvdUlp::get(fpdu.ulpdu));
  if (opcode != std::to_underlying(rdmap::Opcode::kTerminate)) return false;
  const auto report = rdmap::parse_terminate(fpdu.ulpdu.subspan(ddp::header_size(*header)));
  if (!report) return false;
  const rdmap::ErrorCode& error = report->as_rfc.error;
  return error.layer == rdmap::Layer::kLlp && error.type == mpa::kErrorType &&
         (error.code == std::to_underlying(mpa::ErrorCode::kLocalFailure) ||
          error.code == std::to_underlying(mpa::ErrorCode::kInsufficientIrd));
}

}  // namespace weft::conformance
