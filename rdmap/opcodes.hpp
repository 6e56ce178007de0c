// SPDX-License-Identifier: Apache-2.0
// The RDMAP message types: RFC 5040 figure 4 and RFC 7306 figure 2. What fits together is decided by this one table.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

#include "common/table.hpp"
#include "ddp/untagged_queues.hpp"

namespace weft::rdmap {

enum class Opcode : std::uint8_t {
  kWrite = 0x0,
  kReadRequest = 0x1,
  kReadResponse = 0x2,
  kSend = 0x3,
  kSendInvalidate = 0x4,
  kSendSolicited = 0x5,
  kSendSolicitedInvalidate = 0x6,
  kTerminate = 0x7,
  kImmediate = 0x8,
  kImmediateSolicited = 0x9,
  kAtomicRequest = 0xA,
  kAtomicResponse = 0xB,
};

struct OpcodeRow {
  Opcode opcode{};
  std::optional<ddp::QueueNumber> queue{};  // absent: a tagged message (T = 1)
  bool invalidates{};                       // the RsvdULP word is an STag; in all others it is sent as zero
  bool solicited{};
  std::string_view name{};
  [[nodiscard]] constexpr bool tagged() const noexcept { return !queue.has_value(); }
};

namespace detail {
using enum ddp::QueueNumber;
inline constexpr std::array kOpcodeTable{
    OpcodeRow{Opcode::kWrite, {}, false, false, "RDMA Write"},                                         // RDMAP-4.1-07
    OpcodeRow{Opcode::kReadRequest, kRequest, false, false, "RDMA Read Request"},                      // RDMAP-4.1-08
    OpcodeRow{Opcode::kReadResponse, {}, false, false, "RDMA Read Response"},                          // RDMAP-4.1-09
    OpcodeRow{Opcode::kSend, ddp::QueueNumber::kSend, false, false, "Send"},                           // RDMAP-4.1-10
    OpcodeRow{Opcode::kSendInvalidate, ddp::QueueNumber::kSend, true, false, "Send with Invalidate"},  // RDMAP-4.1-11
    OpcodeRow{Opcode::kSendSolicited, ddp::QueueNumber::kSend, false, true,
              "Send with Solicited Event"},  // RDMAP-4.1-12
    OpcodeRow{Opcode::kSendSolicitedInvalidate, ddp::QueueNumber::kSend, true, true,
              "Send with Solicited Event and Invalidate"},                                   // RDMAP-4.1-13
    OpcodeRow{Opcode::kTerminate, ddp::QueueNumber::kTerminate, false, false, "Terminate"},  // RDMAP-4.1-14
    OpcodeRow{Opcode::kImmediate, ddp::QueueNumber::kSend, false, false, "Immediate Data"},  // RDMAPX-4.1-05
    OpcodeRow{Opcode::kImmediateSolicited, ddp::QueueNumber::kSend, false, true,
              "Immediate Data with Solicited Event"},                             // RDMAPX-4.1-06
    OpcodeRow{Opcode::kAtomicRequest, kRequest, false, false, "Atomic Request"},  // RDMAPX-4.1-07
    OpcodeRow{Opcode::kAtomicResponse, ddp::QueueNumber::kAtomicResponse, false, false,
              "Atomic Response"},  // RDMAPX-4.1-08
};
}  // namespace detail

inline constexpr const auto& kOpcodeTable = detail::kOpcodeTable;
static_assert(kOpcodeTable.size() == std::to_underlying(Opcode::kAtomicResponse) + 1 &&
              in_order(kOpcodeTable, &OpcodeRow::opcode));

// The row of a value from the wire, or null: 0xC to 0xE are unassigned, 0xF is for experiments (RDMAP-4.1-15,
// RDMAP-IANA-3.4-01).
[[nodiscard]] constexpr const OpcodeRow* find_opcode(std::uint8_t value) noexcept {
  return value < kOpcodeTable.size() ? &kOpcodeTable[value] : nullptr;
}

[[nodiscard]] constexpr const OpcodeRow& row(Opcode opcode) noexcept {
  return kOpcodeTable[std::to_underlying(opcode)];
}

[[nodiscard]] constexpr bool is_immediate(Opcode opcode) noexcept {
  return opcode == Opcode::kImmediate || opcode == Opcode::kImmediateSolicited;
}

// RFC 7306 defines it: where RFC 5040 lists messages, this one is not among them.
[[nodiscard]] constexpr bool is_of_rfc_7306(Opcode opcode) noexcept {
  switch (opcode) {
    case Opcode::kWrite:
    case Opcode::kReadRequest:
    case Opcode::kReadResponse:
    case Opcode::kSend:
    case Opcode::kSendInvalidate:
    case Opcode::kSendSolicited:
    case Opcode::kSendSolicitedInvalidate:
    case Opcode::kTerminate: return false;
    case Opcode::kImmediate:
    case Opcode::kImmediateSolicited:
    case Opcode::kAtomicRequest:
    case Opcode::kAtomicResponse: return true;
  }
  std::unreachable();
}

// The four Sends and the two kinds of Immediate Data differ by what they ask of the receiver.
[[nodiscard]] constexpr Opcode send_opcode(bool solicited, bool invalidate) noexcept {
  if (invalidate) return solicited ? Opcode::kSendSolicitedInvalidate : Opcode::kSendInvalidate;
  return solicited ? Opcode::kSendSolicited : Opcode::kSend;
}
[[nodiscard]] constexpr Opcode immediate_opcode(bool solicited) noexcept {
  return solicited ? Opcode::kImmediateSolicited : Opcode::kImmediate;
}

}  // namespace weft::rdmap
