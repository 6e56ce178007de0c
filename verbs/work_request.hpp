// SPDX-License-Identifier: Apache-2.0
/// @file
/// Work requests: what an application posts to a send queue, a receive queue or a shared receive queue.
///
/// Enumerators that also exist in libibverbs have its values, so that a C facade converts them without a table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "common/access.hpp"
#include "common/local_segment.hpp"
#include "verbs/error.hpp"

namespace weft::verbs {

class MemoryRegion;
class MemoryWindow;

/// Represents a scatter/gather element: {address, length, lkey}.
/// The address is relative to the region's iova. The iova is the virtual address of the region, unless the region was
/// registered with another one (kZeroBased: 0).
using Sge = LocalSegment;

/// Specifies rights to a memory region or window; see weft::Access.
using weft::Access;
using weft::kAllAccess;

/// Identifies the operation of a send work request. Other values are rejected with Errc::kInvalidArgument, "opcode".
enum class SendOpcode : std::uint8_t {
  kRdmaWrite = 0,               ///< writes to the peer's memory without notifying the peer's application
  kRdmaWriteWithImmediate = 1,  ///< an RDMA Write, then an Immediate Data message (RFC 7306 section 6)
  kSend = 2,                    ///< sends a message into a receive that the peer posted
  /// Sends a message plus four octets of immediate data for the completion of its receive: the first four of
  /// SendRequest::immediate. RFC 7306 has no such operation: an Immediate Data message and a Send go out, which the
  /// peer combines. Both ends must have called QueuePair::combine_immediate(); Errc::kNotSupported otherwise.
  kSendWithImmediate = 3,
  kRdmaRead = 4,  ///< reads the peer's memory into one segment
  /// Compares 8 octets at the peer and swaps them if equal (RFC 7306 section 5).
  /// One segment of 8 octets receives the old value in host order; it may have any alignment.
  /// SendRequest::remote_address must be a multiple of 8. The peer ends the connection otherwise, and the completion
  /// has WcStatus::kRemoteOperationError; QueuePairQuery::stream_error has the reason.
  kCompareAndSwap = 5,
  /// Adds to 8 octets at the peer (RFC 7306 section 5). Segment and alignment as for kCompareAndSwap.
  kFetchAndAdd = 6,
  kLocalInvalidate = 7,     ///< invalidates a local STag, of a region or a window
  kBindWindow = 8,          ///< binds a memory window to part of a region: WindowBind
  kSendWithInvalidate = 9,  ///< sends a message and invalidates an STag of the peer
  kImmediate = 32,          ///< sends Immediate Data alone; not in libibverbs
};

/// Specifies how a send work request is processed. Other bits are rejected with Errc::kInvalidArgument, "flags".
enum class SendFlags : std::uint32_t {
  kNone = 0,             ///< success is not reported
  kFence = 1U << 0,      ///< starts after all earlier RDMA Reads and atomics of this queue pair have completed
  kSignaled = 1U << 1,   ///< reports success; failures are always reported
  kSolicited = 1U << 2,  ///< Send and Immediate Data: wakes a peer that armed for solicited completions only
  kInline = 1U << 3,     ///< copies the data before post_send() returns; lkeys are not checked
};
/// Returns the union of two sets of flags.
[[nodiscard]] constexpr SendFlags operator|(SendFlags a, SendFlags b) noexcept {
  return static_cast<SendFlags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
/// Returns whether `set` contains any bit of `flag`.
[[nodiscard]] constexpr bool has(SendFlags set, SendFlags flag) noexcept {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(flag)) != 0;
}

/// Holds the eight octets of an Immediate Data message (RFC 7306 section 6). A receive's completion delivers them.
/// weft does not change their byte order.
using ImmediateData = std::array<std::byte, 8>;

/// Specifies the parameters of SendOpcode::kBindWindow.
/// A window of type 2 must be unbound: invalidate it first. A window of type 1 may be bound; a length of 0, which needs
/// no region, unbinds it.
struct WindowBind {
  const MemoryWindow* window{};  ///< window to bind; used only during the call
  const MemoryRegion* region{};  ///< region to bind the window to; used only during the call
  std::uint32_t rkey{};          ///< new key: MemoryWindow::next_rkey(); the upper 24 bits must be the window's
  std::uint64_t address{};       ///< first octet, relative to the region's iova as in an Sge
  std::uint64_t length{};        ///< length in octets
  Access access{};  ///< remote rights and kZeroBased; kRemoteWrite and kRemoteAtomic require kLocalWrite of the region
};

/// Describes one work request for a send queue. The opcode determines which members are used.
struct SendRequest {
  std::uint64_t wr_id{};                   ///< application's value, returned in the completion
  SendOpcode opcode{};                     ///< operation
  SendFlags flags{};                       ///< processing options
  std::span<const Sge> segments{};         ///< local memory; the list itself is read only during the call
  std::uint64_t remote_address{};          ///< tagged offset at the peer; atomics: a multiple of 8
  std::uint32_t rkey{};                    ///< STag of the peer's memory
  std::uint64_t compare{};                 ///< kCompareAndSwap: value to compare with
  std::uint64_t swap_or_add{};             ///< kCompareAndSwap: new value; kFetchAndAdd: addend
  std::uint64_t compare_mask = ~0ULL;      ///< kCompareAndSwap: bits to compare
  std::uint64_t swap_or_add_mask = ~0ULL;  ///< kCompareAndSwap: bits to swap; kFetchAndAdd: see masked_add
  /// kFetchAndAdd: true: swap_or_add_mask separates fields that are added independently (RFC 7306 section 5.1.1);
  /// false: one 64-bit addition.
  bool masked_add{};
  ImmediateData immediate{};        ///< kRdmaWriteWithImmediate, kSendWithImmediate, kImmediate: data to deliver
  std::uint32_t invalidate_rkey{};  ///< kSendWithInvalidate: STag of the peer; kLocalInvalidate: local STag
  WindowBind bind{};                ///< kBindWindow: parameters
};

/// Describes one work request for a receive queue: the memory that one Send fills.
struct ReceiveRequest {
  std::uint64_t wr_id{};            ///< application's value, returned in the completion
  std::span<const Sge> segments{};  ///< segments, filled in order; the list itself is read only during the call
};

/// Describes a list that was posted in part: the first `posted` requests were posted, and the next one failed.
struct PostFailure {
  Error error{};         ///< error of the first request that was not posted
  std::size_t posted{};  ///< number of requests that were posted before it
};
/// Holds the result of posting a list: nothing, or a PostFailure.
using PostResult = std::expected<void, PostFailure>;

}  // namespace weft::verbs
