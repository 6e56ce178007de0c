// SPDX-License-Identifier: Apache-2.0
/// @file
/// Work requests that the user of an engine posts, and their results.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/table.hpp"
#include "rdmap/memory.hpp"
#include "rdmap/opcodes.hpp"

namespace weft::engine {

enum class Operation : std::uint8_t {
  kSend,            ///< Send (RFC 5040 section 5.3); `invalidate` and `solicited` select its three other kinds
  kWrite,           ///< RDMA Write (RFC 5040 section 5.1)
  kWriteImmediate,  ///< RDMA Write, then Immediate Data (RFC 7306 section 6): two messages, one completion
  kImmediate,       ///< Immediate Data alone
  kSendImmediate,   ///< Immediate Data that belongs to the Send after it; see Engine::combine_immediate()
  kRead,            ///< RDMA Read (RFC 5040 section 5.2)
  kFetchAdd,        ///< atomic (RFC 7306 section 5)
  kCmpSwap,
  kLocal,  ///< Local Invalidate or Bind: Memory::perform_local() at its turn; sends nothing
};

/// A message whose octets come from the work request itself.
struct OwnMessage {
  rdmap::Opcode plain{};
  rdmap::Opcode solicited{};
  std::uint32_t octets{};
};

namespace detail {
inline constexpr OwnMessage kImmediateMessage{rdmap::Opcode::kImmediate, rdmap::Opcode::kImmediateSolicited, 8};
}  // namespace detail

/// All that is said of an operation in general.
struct OperationRow {
  Operation operation{};
  bool awaits_response{};      ///< takes a place of ORD until the response is complete
  std::uint8_t list_octets{};  ///< what the list must have; 0: any
  /// Message that carries the octets of the gather list or of inline data.
  std::optional<rdmap::Opcode> carrier{};
  /// The only message, or the one that follows the carrier; null: none.
  const OwnMessage* own{};
  std::string_view name{};  ///< for people
};

inline constexpr std::array kOperationTable = std::to_array<OperationRow>({
    {Operation::kSend, false, 0, rdmap::Opcode::kSend, nullptr, "Send"},
    {Operation::kWrite, false, 0, rdmap::Opcode::kWrite, nullptr, "RDMA Write"},
    {Operation::kWriteImmediate, false, 0, rdmap::Opcode::kWrite, &detail::kImmediateMessage,
     "RDMA Write with Immediate Data"},
    {Operation::kImmediate, false, 0, {}, &detail::kImmediateMessage, "Immediate Data"},
    {Operation::kSendImmediate, false, 0, rdmap::Opcode::kSend, &detail::kImmediateMessage, "Send with Immediate Data"},
    {Operation::kRead, true, 0, {}, nullptr, "RDMA Read"},
    {Operation::kFetchAdd, true, 8, {}, nullptr, "FetchAdd"},
    {Operation::kCmpSwap, true, 8, {}, nullptr, "CmpSwap"},
    {Operation::kLocal, false, 0, {}, nullptr, "local operation"},
});
static_assert(in_order(kOperationTable, &OperationRow::operation));

/// A column of the table as one word, bit by operation: posting and starting work ask several times.
template <typename Fits>
consteval std::uint32_t operations_that(Fits fits) {
  std::uint32_t bits = 0;
  for (const OperationRow& kind : kOperationTable)
    bits |= std::uint32_t{fits(kind)} << std::to_underlying(kind.operation);
  return bits;
}
/// Returns whether the operation is among `operations`.
[[nodiscard]] constexpr bool is_among(std::uint32_t operations, Operation operation) noexcept {
  return (operations >> std::to_underlying(operation) & 1U) != 0;
}

/// Returns the row of an operation.
[[nodiscard]] constexpr const OperationRow& row(Operation operation) noexcept {
  return kOperationTable[std::to_underlying(operation)];
}

inline constexpr std::size_t kMaxSegments = 32;   ///< scatter/gather elements of one work request
inline constexpr std::size_t kMaxInline = 256;    ///< octets of inline data, which is stored in place of the segments
inline constexpr std::size_t kImmediateSize = 8;  ///< octets of Immediate Data (RFC 7306 section 6.3)
/// The last octets of Immediate Data that belongs to the Send after it; see Engine::combine_immediate().
inline constexpr std::array kSendFollows{std::byte{0x53}, std::byte{0x45}, std::byte{0x4e}, std::byte{0x44}};

struct WorkRequest {
  std::uint64_t cookie{};
  Operation operation{};
  /// Starts after all earlier RDMA Reads and atomics of this stream have completed (RFC 5040 section 5.5).
  bool fence{};
  bool solicited{};                       ///< Send and Immediate Data: raises a Solicited Event at the peer
  std::optional<ddp::Stag> invalidate{};  ///< Send with Invalidate: STag to invalidate
  rdmap::LocalSegments local{};           ///< gather list (Send, Write) or scatter list (Read; atomics: 8 octets)
  Bytes inline_data{};  ///< Send and Write: used instead of `local` if not empty; copied before post() returns
  ddp::Stag remote_stag{};
  ddp::TaggedOffset remote_offset{};
  ddp::Stag sink_stag{};  ///< Read: Data Sink of the request, which the response must repeat
  ddp::TaggedOffset sink_offset{};
  rdmap::AtomicOperation atomic{};
  std::array<std::byte, kImmediateSize> immediate{};
};

enum class PostError : std::uint8_t {
  kQueueFull,     ///< the send queue has its maximum of uncompleted work requests
  kNotConnected,  ///< the stream is not, or no longer, in RDMA mode
  kTooManySegments,
  kInlineTooLong,
  kMessageTooLong,  ///< 2^32 octets or more (DDP-5.2-03)
  kNoReadDepth,     ///< ORD is 0: an RDMA Read or atomic can never start
  kNotAgreed,       ///< a Send with Immediate Data without combine_immediate()
  kBadOperands,     ///< operands do not fit, such as the sink of an atomic that is not 8 octets
};

enum class WorkStatus : std::uint8_t {
  kSuccess,
  kLocalProtection,  ///< a LocalFault while gathering or scattering
  kRemoteAccess,     ///< the Terminate of the peer names a protection error of this work request
  kRemoteOperation,  ///< the Terminate of the peer names another error of this work request
  kBadResponse,      ///< the Read or Atomic Response of the peer does not match its request
  kFlushed,          ///< not performed, or result unknown: the stream ended first
};

}  // namespace weft::engine
