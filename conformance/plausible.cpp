// SPDX-License-Identifier: Apache-2.0
#include "conformance/plausible.hpp"

#include <algorithm>

#include "ddp/header.hpp"
#include "rdmap/atomic_messages.hpp"
#include "rdmap/control.hpp"
#include "rdmap/immediate.hpp"
#include "rdmap/opcodes.hpp"
#include "rdmap/read_request.hpp"
#include "rdmap/terminate.hpp"

namespace weft::conformance {
namespace {

constexpr std::uint8_t kReservedOfDdp = 0x3c;
constexpr std::uint8_t kReservedOfRdmap = 0x30;

// Messages whose size is fixed say more than others: a wrong ULPDU_Length shows.
bool size_fits(rdmap::Opcode opcode, std::size_t payload) noexcept {
  using enum rdmap::Opcode;
  switch (opcode) {
    case kReadRequest: return payload == rdmap::ReadRequestLayout::kSize;
    case kTerminate: return payload >= rdmap::TerminateLayout::kShortest && payload <= rdmap::TerminateLayout::kLongest;
    case kImmediate:
    case kImmediateSolicited: return payload == sizeof(rdmap::ImmediateData);
    case kAtomicRequest: return payload == rdmap::AtomicRequestLayout::kSize;
    case kAtomicResponse: return payload == rdmap::AtomicResponseLayout::kSize;
    case kWrite:
    case kReadResponse:
    case kSend:
    case kSendInvalidate:
    case kSendSolicited:
    case kSendSolicitedInvalidate: return true;
  }
  return false;
}

}  // namespace

bool plausible_ulpdu(Bytes ulpdu, std::size_t length) noexcept {
  const auto header = ddp::parse(ulpdu.first(std::min(ulpdu.size(), length)));
  if (!header) return false;
  const std::uint8_t ddp_control = ddp::TaggedLayout::Ctrl::get(ulpdu);
  const std::uint8_t rdmap_control = ddp::TaggedLayout::RsvdUlp::get(ulpdu);
  if ((ddp_control & kReservedOfDdp) != 0 || (rdmap_control & kReservedOfRdmap) != 0) return false;
  if (rdmap::version_bits(rdmap_control) != rdmap::Control::kVersion) return false;
  const rdmap::OpcodeRow* row = rdmap::find_opcode(rdmap::opcode_bits(rdmap_control));
  if (row == nullptr || !size_fits(row->opcode, length - ddp::header_size(*header))) return false;
  const auto* untagged = std::get_if<ddp::UntaggedHeader>(&*header);
  if (untagged == nullptr) return row->tagged();
  return row->queue && untagged->queue == static_cast<std::uint32_t>(*row->queue);
}

}  // namespace weft::conformance
