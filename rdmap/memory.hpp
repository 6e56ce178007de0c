// SPDX-License-Identifier: Apache-2.0
/// @file
/// What RDMAP needs from the owner of memory besides placement: sources to read, atomics, invalidation.
#pragma once

#include <cstdint>
#include <expected>
#include <span>

#include "common/local_segment.hpp"
#include "ddp/placement.hpp"

namespace weft::rdmap {

/// Represents one element of a scatter/gather list. Only the owner of memory uses the address and checks the key.
using weft::LocalSegment;
/// Refers to a scatter/gather list.
using LocalSegments = std::span<const LocalSegment>;

/// Describes an atomic operation (RFC 7306 section 5). Operands are in host order.
struct AtomicOperation {
  enum class Kind : std::uint32_t { kFetchAdd = 0, kCmpSwap = 2 };
  Kind kind{};
  std::uint64_t add_or_swap{};
  std::uint64_t add_or_swap_mask{};
  std::uint64_t compare{};
  std::uint64_t compare_mask{};
};

/// Gives RDMAP access to registered memory. The owner of the memory implements it.
class Memory : public ddp::Placement {
 public:
  // --- As Data Source of a peer's RDMA Read or target of a peer's atomic. Zero-length reads never get here.

  /// Checks the whole range of an RDMA Read Request (RDMAP-5.2), before the first octet of the response is sent.
  virtual std::expected<void, ddp::AccessError> check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                           std::uint32_t length) = 0;
  /// Checks the access again and copies out.size() octets. The STag may have been revoked between two segments of a
  /// response.
  virtual std::expected<void, ddp::AccessError> read_tagged(ddp::Stag stag, ddp::TaggedOffset offset,
                                                            MutableBytes out) = 0;
  /// Executes an atomic on the 8 octets at `offset`, serialized with all other atomics of the device. Returns the old
  /// value.
  virtual std::expected<std::uint64_t, ddp::AccessError> atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                                const AtomicOperation& op) = 0;
  /// Invalidates an STag for a Send with Invalidate. Once it returns, no octet of the buffer is accessible by this
  /// STag.
  virtual std::expected<void, ddp::AccessError> invalidate(ddp::Stag stag) = 0;

  // --- The local side's own work requests.

  /// Copies out.size() octets from `offset` of the gather list: the source of a Send or Write.
  virtual std::expected<void, ddp::LocalFault> gather(LocalSegments source, std::uint64_t offset, MutableBytes out) = 0;
  /// Appends spans of the same octets to `pieces` instead of copying them, for streams without CRCs. `used` receives
  /// the number of spans.
  /// Returns false if the caller has to copy: not supported, or too few elements in `pieces`.
  virtual bool borrow(LocalSegments source, std::uint64_t offset, std::uint64_t length, std::span<Bytes> pieces,
                      std::size_t& used) {
    static_cast<void>(source), static_cast<void>(offset), static_cast<void>(length), static_cast<void>(pieces);
    used = 0;
    return false;
  }
  /// Copies `payload` to `offset` of the scatter list: the sink of a Read Response or Atomic Response.
  virtual std::expected<void, ddp::LocalFault> scatter(LocalSegments sink, std::uint64_t offset, Bytes payload) = 0;

  /// Returns the memory in which octets [offset, offset + length) of the last taken receive, or of a scatter list, will
  /// be placed, after the same checks, so that they can be read from the socket directly.
  /// Returns an empty span if the memory is not contiguous or may not be written. Valid until the next call.
  virtual MutableBytes landing(const ddp::ReceiveBuffer& buffer, std::uint64_t offset, std::uint64_t length) {
    static_cast<void>(buffer), static_cast<void>(offset), static_cast<void>(length);
    return {};
  }
  virtual MutableBytes landing(LocalSegments sink, std::uint64_t offset, std::uint64_t length) {
    static_cast<void>(sink), static_cast<void>(offset), static_cast<void>(length);
    return {};
  }

  /// Performs a work request that never leaves the host (Local Invalidate, Bind Memory Window) at its turn in the send
  /// queue.
  virtual std::expected<void, ddp::LocalFault> perform_local(std::uint64_t cookie) = 0;
};

}  // namespace weft::rdmap
