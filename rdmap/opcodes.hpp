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

/// What a message is in the exchange of requests and responses (RFC 5040 section 5.5).
enum class Part : std::uint8_t {
  kTransfer,  ///< is answered by nothing
  kRequest,   ///< takes a place of the peer's IRD until its response is complete
  kResponse,  ///< answers a request
  kEnd,       ///< Terminate
};

/// Whose octets the payload of a message is, and where the receiver puts them.
enum class Content : std::uint8_t {
  kPlaced,  ///< the upper layer's, in a tagged buffer or a receive
  kAside,   ///< the upper layer's, in the completion: the receive's memory stays as it is
  kHeader,  ///< RDMAP's own
};

/// Bounds of a message's payload in octets.
struct PayloadSize {
  std::uint32_t least{};
  std::uint32_t most{};
  [[nodiscard]] constexpr bool is_fixed() const noexcept { return least == most; }
  [[nodiscard]] constexpr bool allows(std::uint64_t size) const noexcept { return size >= least && size <= most; }
};

/// All that is said of a message type in general. Modules ask these columns instead of listing opcodes.
struct OpcodeRow {
  Opcode opcode{};
  Part part{};
  Content content{};
  bool invalidates{};   ///< the RsvdULP word is an STag; in all others it is sent as zero
  bool solicited{};     ///< asks for a Solicited Event
  std::uint16_t rfc{};  ///< that defines it: where RFC 5040 lists messages, those of RFC 7306 are not among them
  std::optional<ddp::QueueNumber> queue{};  ///< absent: a tagged message (T = 1)
  PayloadSize payload{};
  std::string_view name{};
  [[nodiscard]] constexpr bool tagged() const noexcept { return !queue.has_value(); }
};

namespace detail {
using Queue = ddp::QueueNumber;
inline constexpr PayloadSize kAny{0, ~std::uint32_t{0}};
constexpr PayloadSize exactly(std::uint32_t octets) noexcept { return {octets, octets}; }
// clang-format off: a table
inline constexpr std::array kOpcodeTable = std::to_array<OpcodeRow>({
    // RDMAP-4.1-07, RDMAP-4.1-08, RDMAP-4.1-09, RDMAP-4.1-10, RDMAP-4.1-11, RDMAP-4.1-12, RDMAP-4.1-13, RDMAP-4.1-14
    {Opcode::kWrite, Part::kTransfer, Content::kPlaced, false, false, 5040, {}, kAny, "RDMA Write"},
    {Opcode::kReadRequest, Part::kRequest, Content::kHeader, false, false, 5040, Queue::kRequest, exactly(28),
     "RDMA Read Request"},
    {Opcode::kReadResponse, Part::kResponse, Content::kPlaced, false, false, 5040, {}, kAny, "RDMA Read Response"},
    {Opcode::kSend, Part::kTransfer, Content::kPlaced, false, false, 5040, Queue::kSend, kAny, "Send"},
    {Opcode::kSendInvalidate, Part::kTransfer, Content::kPlaced, true, false, 5040, Queue::kSend, kAny, "Send with Invalidate"},
    {Opcode::kSendSolicited, Part::kTransfer, Content::kPlaced, false, true, 5040, Queue::kSend, kAny,
     "Send with Solicited Event"},
    {Opcode::kSendSolicitedInvalidate, Part::kTransfer, Content::kPlaced, true, true, 5040, Queue::kSend, kAny,
     "Send with Solicited Event and Invalidate"},
    {Opcode::kTerminate, Part::kEnd, Content::kHeader, false, false, 5040, Queue::kTerminate, {4, 52}, "Terminate"},
    // RDMAPX-4.1-05, RDMAPX-4.1-06, RDMAPX-4.1-07, RDMAPX-4.1-08
    {Opcode::kImmediate, Part::kTransfer, Content::kAside, false, false, 7306, Queue::kSend, exactly(8), "Immediate Data"},
    {Opcode::kImmediateSolicited, Part::kTransfer, Content::kAside, false, true, 7306, Queue::kSend, exactly(8),
     "Immediate Data with Solicited Event"},
    {Opcode::kAtomicRequest, Part::kRequest, Content::kHeader, false, false, 7306, Queue::kRequest, exactly(52),
     "Atomic Request"},
    {Opcode::kAtomicResponse, Part::kResponse, Content::kHeader, false, false, 7306, Queue::kAtomicResponse, exactly(12),
     "Atomic Response"},
});
// clang-format on
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

[[nodiscard]] constexpr bool is_immediate(Opcode opcode) noexcept { return row(opcode).content == Content::kAside; }

// The four Sends and the two kinds of Immediate Data differ by what they ask of the receiver.
[[nodiscard]] constexpr Opcode send_opcode(bool solicited, bool invalidate) noexcept {
  if (invalidate) return solicited ? Opcode::kSendSolicitedInvalidate : Opcode::kSendInvalidate;
  return solicited ? Opcode::kSendSolicited : Opcode::kSend;
}
[[nodiscard]] constexpr Opcode immediate_opcode(bool solicited) noexcept {
  return solicited ? Opcode::kImmediateSolicited : Opcode::kImmediate;
}

}  // namespace weft::rdmap
