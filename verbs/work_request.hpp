// SPDX-License-Identifier: Apache-2.0
// Work requests: what an application posts to a send queue, a receive queue or a shared receive queue.
// Enumerators that libibverbs also has carry its values, so that a C facade converts without a table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "rdmap/memory.hpp"  // LocalSegment
#include "verbs/error.hpp"

namespace weft::verbs {

class MemoryRegion;
class MemoryWindow;

// {address, length, lkey}. The address lies in the region's own address space: it counts from the region's iova, which
// is the virtual address unless the region was registered otherwise (zero-based: from 0).
using Sge = rdmap::LocalSegment;

// Rights to a memory region or window. Other bits are refused: Errc::kInvalidArgument, "access" or "bind.access".
enum class Access : std::uint32_t {
  kNone = 0,                // local reading alone
  kLocalWrite = 1U << 0,    // receives and read sinks may go there; local reading is always allowed
  kRemoteWrite = 1U << 1,   // needs kLocalWrite
  kRemoteRead = 1U << 2,    // RDMA Reads of the peer
  kRemoteAtomic = 1U << 3,  // needs kLocalWrite
  kWindowBind = 1U << 4,    // memory windows may be bound to the region
  kZeroBased = 1U << 5,     // tagged offsets count from 0
};
// All rights of both.
[[nodiscard]] constexpr Access operator|(Access a, Access b) noexcept {
  return static_cast<Access>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
// Whether `set` has all of `right`.
[[nodiscard]] constexpr bool has(Access set, Access right) noexcept {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(right)) == static_cast<std::uint32_t>(right);
}
// Every right but kZeroBased.
inline constexpr Access kAllAccess =
    Access::kLocalWrite | Access::kRemoteWrite | Access::kRemoteRead | Access::kRemoteAtomic | Access::kWindowBind;

// What a send queue can do. Other values are refused: Errc::kInvalidArgument, "opcode".
enum class SendOpcode : std::uint8_t {
  kRdmaWrite = 0,               // to the peer's memory, which is told nothing of it
  kRdmaWriteWithImmediate = 1,  // an RDMA Write, then an Immediate Data message (RFC 7306 section 6)
  kSend = 2,                    // into a receive that the peer has posted
  kRdmaRead = 4,                // one segment
  kCompareAndSwap = 5,          // one segment of 8 octets receives the old value, in host order
  // The same, with an addition at the peer (RFC 7306 section 5).
  kFetchAndAdd = 6,
  kLocalInvalidate = 7,     // ends the access that an STag of ours gives: a region's or a window's
  kBindWindow = 8,          // gives a memory window part of a region: WindowBind
  kSendWithInvalidate = 9,  // a Send that also invalidates an STag of the peer's
  kImmediate = 32,          // Immediate Data alone; not in libibverbs
};

// How a work request of a send queue is done. Other bits are refused: Errc::kInvalidArgument, "flags".
enum class SendFlags : std::uint32_t {
  kNone = 0,             // success is not reported
  kFence = 1U << 0,      // start after all earlier RDMA Reads and atomics of this queue pair have completed
  kSignaled = 1U << 1,   // report success; failures are always reported
  kSolicited = 1U << 2,  // Send and Immediate Data: wakes a peer that armed for solicited completions only
  kInline = 1U << 3,     // the octets are copied before post_send returns; lkeys are not looked at
};
// All flags of both.
[[nodiscard]] constexpr SendFlags operator|(SendFlags a, SendFlags b) noexcept {
  return static_cast<SendFlags>(static_cast<std::uint32_t>(a) | static_cast<std::uint32_t>(b));
}
// Whether `set` has any of `flag`.
[[nodiscard]] constexpr bool has(SendFlags set, SendFlags flag) noexcept {
  return (static_cast<std::uint32_t>(set) & static_cast<std::uint32_t>(flag)) != 0;
}

// Eight octets that come with the completion of a receive (RFC 7306 section 6). They are not swapped.
using ImmediateData = std::array<std::byte, 8>;

// Parameters of SendOpcode::kBindWindow. A window of type 2 must not be bound: invalidate it first. One of type 1 may
// be; a length of 0, which needs no region, unbinds it.
struct WindowBind {
  const MemoryWindow* window{};  // the window to bind; read during the call only
  const MemoryRegion* region{};  // the region that it opens; read during the call only
  std::uint32_t rkey{};          // the window's next key: MemoryWindow::next_rkey(); its upper 24 bits are the window's
  std::uint64_t address{};       // in the region's address space, as in an Sge
  std::uint64_t length{};        // in octets
  Access access{};               // remote rights, and kZeroBased. Writes and atomics need a region with kLocalWrite
};

// A work request for the send queue. Which members it needs is said by the opcode.
struct SendRequest {
  std::uint64_t wr_id{};                   // comes back in the completion
  SendOpcode opcode{};                     // what to do
  SendFlags flags{};                       // and how
  std::span<const Sge> segments{};         // read during the call only
  std::uint64_t remote_address{};          // tagged offset at the peer
  std::uint32_t rkey{};                    // the peer's STag
  std::uint64_t compare{};                 // kCompareAndSwap
  std::uint64_t swap_or_add{};             // kCompareAndSwap, kFetchAndAdd
  std::uint64_t compare_mask = ~0ULL;      // kCompareAndSwap
  std::uint64_t swap_or_add_mask = ~0ULL;  // kCompareAndSwap; for kFetchAndAdd see masked_add
  bool masked_add{};                // kFetchAndAdd: swap_or_add_mask marks field borders; else one 64-bit addition
  ImmediateData immediate{};        // kRdmaWriteWithImmediate, kImmediate
  std::uint32_t invalidate_rkey{};  // kSendWithInvalidate: the peer's STag; kLocalInvalidate: our own
  WindowBind bind{};                // kBindWindow
};

// A work request for a receive queue: where the octets of one Send go.
struct ReceiveRequest {
  std::uint64_t wr_id{};            // comes back in the completion
  std::span<const Sge> segments{};  // filled one after the other; read during the call only
};

// A list was posted up to `posted` requests; the next one failed with `error`.
struct PostFailure {
  Error error{};         // of the first request that was not posted
  std::size_t posted{};  // how many of the list were posted before it
};
// Nothing, or how far the list was posted.
using PostResult = std::expected<void, PostFailure>;

}  // namespace weft::verbs
