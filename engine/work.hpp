// SPDX-License-Identifier: Apache-2.0
// Work requests that the user of an engine posts, and what it hears back.
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "rdmap/memory.hpp"

namespace weft::engine {

enum class Operation : std::uint8_t {
  kSend,            // RFC 5040 section 5.3; with `invalidate` and `solicited` its three other flavours
  kWrite,           // RFC 5040 section 5.1
  kWriteImmediate,  // an RDMA Write followed by an Immediate Data message (RFC 7306 section 6): two messages, one
                    // completion
  kImmediate,       // Immediate Data alone
  kRead,            // RFC 5040 section 5.2
  kFetchAdd,        // RFC 7306 section 5
  kCmpSwap,
  kLocal,  // Local Invalidate or Bind: Memory::perform_local at its turn, nothing on the wire
};

inline constexpr std::size_t kMaxSegments = 16;   // scatter/gather elements of one work request
inline constexpr std::size_t kMaxInline = 256;    // octets of inline data (they live where the segments would)
inline constexpr std::size_t kImmediateSize = 8;  // RFC 7306 section 6.3

struct WorkRequest {
  std::uint64_t cookie{};
  Operation operation{};
  bool fence{};  // wait until all earlier RDMA Reads and atomics of this stream have completed (RFC 5040 section 5.5)
  bool solicited{};                       // Send and Immediate Data: raise a Solicited Event at the peer
  std::optional<ddp::Stag> invalidate{};  // Send with Invalidate
  rdmap::LocalSegments local{};           // gather list (Send, Write) or scatter list (Read, atomics: 8 octets)
  Bytes inline_data{};  // Send and Write: used instead of `local` when not empty; copied before post() returns
  ddp::Stag remote_stag{};
  ddp::TaggedOffset remote_offset{};
  ddp::Stag sink_stag{};  // Read: what the request names as Data Sink; the response must name the same
  ddp::TaggedOffset sink_offset{};
  rdmap::AtomicOperation atomic{};
  std::array<std::byte, kImmediateSize> immediate{};
};

enum class PostError : std::uint8_t {
  kQueueFull,     // the send queue holds its bound of uncompleted work requests
  kNotConnected,  // the stream is not (or no longer) in RDMA mode
  kTooManySegments,
  kInlineTooLong,
  kMessageTooLong,  // 2^32 octets or more (DDP-5.2-03)
  kNoReadDepth,     // ORD is 0: an RDMA Read or atomic could never start
  kBadOperands,     // for instance an atomic whose sink is not 8 octets
};

enum class WorkStatus : std::uint8_t {
  kSuccess,
  kLocalProtection,  // a LocalFault while gathering or scattering
  kRemoteAccess,     // the peer's Terminate named a protection error of this work request
  kRemoteOperation,  // the peer's Terminate named another error of this work request
  kBadResponse,      // the peer's Read or Atomic Response did not answer its request
  kFlushed,          // never carried out, or outcome unknown: the stream went down first
};

}  // namespace weft::engine
