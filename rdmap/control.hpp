// SPDX-License-Identifier: Apache-2.0
// The RDMAP Control Field, RFC 5040 section 4.1: the first RsvdULP octet of every DDP header (RDMAP-4.1-01).
#pragma once

#include <cstdint>

#include "ddp/msn.hpp"
#include "ddp/segmenter.hpp"
#include "rdmap/opcodes.hpp"

namespace weft::rdmap {

//   bit  0 1   2 3   4 5 6 7
//      +-----+-----+---------+
//      | RV  | Rsv | Opcode  |     RV version                        (RDMAP-4.1-02)
//      +-----+-----+---------+
struct Control {
  static constexpr std::uint8_t kVersionMask = 0xC0;
  static constexpr std::uint8_t kVersion = 0x40;  // 01b, an IETF RNIC
  static constexpr std::uint8_t kOpcodeMask = 0x0F;
};

// The octet that we send: version 1 (RDMAP-4.1-17, RDMAPX-4.1-01), reserved bits zero (RDMAP-4.1-20).
[[nodiscard]] constexpr std::uint8_t control_octet(Opcode opcode) noexcept {
  return static_cast<std::uint8_t>(Control::kVersion | std::to_underlying(opcode));
}

// Reserved bits are not looked at (RDMAP-4.1-21).
[[nodiscard]] constexpr std::uint8_t version_bits(std::uint8_t control) noexcept {
  return control & Control::kVersionMask;
}
[[nodiscard]] constexpr std::uint8_t opcode_bits(std::uint8_t control) noexcept {
  return control & Control::kOpcodeMask;
}

// How an outgoing message is handed to DDP: a tagged one with STag and TO, an untagged one with the opcode's queue, and
// an STag to invalidate only where the opcode has one (RDMAP-4.1-03, RDMAP-4.1-06, RDMAP-4.1-23, RDMAPX-4.1-03).
[[nodiscard]] constexpr ddp::TaggedSegmenter tagged_message(Opcode opcode, ddp::Stag stag, ddp::TaggedOffset offset,
                                                            std::uint32_t length) noexcept {
  return {control_octet(opcode), stag, offset, length};
}
[[nodiscard]] constexpr ddp::UntaggedSegmenter untagged_message(Opcode opcode, ddp::Msn msn, std::uint32_t length,
                                                                ddp::Stag invalidate = {}) noexcept {
  const OpcodeRow& kind = row(opcode);
  return {control_octet(opcode), kind.invalidates ? invalidate.value : 0, std::to_underlying(*kind.queue), msn, length};
}

}  // namespace weft::rdmap
