// SPDX-License-Identifier: Apache-2.0
// What crossed each layer, counted from the captured octets with the stack's own parsers: MPA frames and FPDUs, DDP
// segments, RDMAP messages. A wrong CRC or an unreadable header is an error.
#pragma once

#include <array>
#include <cstdint>

#include "mpa/policy.hpp"
#include "rdmap/opcodes.hpp"
#include "tools/demo/capture.hpp"

namespace weft::tools::demo {

struct StartupSummary {
  std::uint8_t revision{};
  bool crc{};
  bool markers{};
  std::size_t private_data{};  // octets
  std::uint16_t ird = mpa::kNoNegotiation;
  std::uint16_t ord = mpa::kNoNegotiation;
};

// One direction.
struct FlowSummary {
  std::uint64_t octets{};
  std::uint64_t packets{};
  StartupSummary startup{};
  std::uint64_t fpdus{};
  std::uint64_t markers{};
  std::uint64_t tagged{};  // DDP segments
  std::uint64_t untagged{};
  std::array<std::uint64_t, rdmap::kOpcodeTable.size()> messages{};  // by opcode
};

struct WireSummary {
  bool crc{};  // of all FPDUs, checked
  FlowSummary initiator{};
  FlowSummary responder{};
};

Outcome<WireSummary> summarise(Capture capture);

}  // namespace weft::tools::demo
