// SPDX-License-Identifier: Apache-2.0
#include "conformance/plausible.hpp"

#include <algorithm>

#include "ddp/header.hpp"
#include "rdmap/control.hpp"
#include "rdmap/opcodes.hpp"

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

}  // namespace weft::conformance
