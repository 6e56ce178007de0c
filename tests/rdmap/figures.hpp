// SPDX-License-Identifier: Apache-2.0
// RFC 5040 figure 4 and RFC 7306 figure 2 as they stand there, with the clauses that give each message its T and QN.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "rdmap/opcodes.hpp"

namespace weft::rdmap::figures {

struct FigureRow {
  std::uint8_t opcode;
  int queue;  // -1: tagged
  Opcode meant;
  std::string_view buffer_model;  // the clause that says T
  std::string_view queue_number;  // and QN
};

inline constexpr std::array kFigures = std::to_array<FigureRow>({
    {0x0, -1, Opcode::kWrite, "RDMAP-5.1-01", ""},
    {0x1, 1, Opcode::kReadRequest, "RDMAP-5.2.1-01", "RDMAP-5.2.1-06"},
    {0x2, -1, Opcode::kReadResponse, "RDMAP-5.2.2-02", ""},
    {0x3, 0, Opcode::kSend, "RDMAP-5.3-01", "RDMAP-5.3-08"},
    {0x4, 0, Opcode::kSendInvalidate, "RDMAP-5.3-01", "RDMAP-5.3-08"},
    {0x5, 0, Opcode::kSendSolicited, "RDMAP-5.3-01", "RDMAP-5.3-08"},
    {0x6, 0, Opcode::kSendSolicitedInvalidate, "RDMAP-5.3-01", "RDMAP-5.3-08"},
    {0x7, 2, Opcode::kTerminate, "RDMAP-5.4-01", "RDMAP-5.4-02"},
    {0x8, 0, Opcode::kImmediate, "RDMAPX-6.3-01", "RDMAPX-6.3-04"},
    {0x9, 0, Opcode::kImmediateSolicited, "RDMAPX-6.3-01", "RDMAPX-6.3-04"},
    {0xa, 1, Opcode::kAtomicRequest, "RDMAPX-5.2.1-14", "RDMAPX-5.2.1-19"},
    {0xb, 3, Opcode::kAtomicResponse, "RDMAPX-5.2.2-05", "RDMAPX-5.2.2-06"},
});
static_assert(kFigures.size() == kOpcodeTable.size());

}  // namespace weft::rdmap::figures
