// SPDX-License-Identifier: Apache-2.0
// What RDMAP needs from the owner of memory beyond placement: sources to read, atomics, invalidation.
#pragma once

#include <cstdint>
#include <expected>
#include <span>

#include "ddp/placement.hpp"

namespace weft::rdmap {

// One element of a work request's scatter or gather list. The address is only ever used by the owner of memory, who
// checks the key each time: memory may be deregistered while work is outstanding.
struct LocalSegment {
  std::uint64_t address{};
  std::uint32_t length{};
  std::uint32_t lkey{};
  bool operator==(const LocalSegment&) const = default;
};
using LocalSegments = std::span<const LocalSegment>;

// RFC 7306 section 5, operands in host order.
struct AtomicOperation {
  enum class Kind : std::uint32_t { kFetchAdd = 0, kCmpSwap = 2 };
  Kind kind{};
  std::uint64_t add_or_swap{};
  std::uint64_t add_or_swap_mask{};
  std::uint64_t compare{};
  std::uint64_t compare_mask{};
};

class Memory : public ddp::Placement {
 public:
  // --- As Data Source of a peer's RDMA Read or target of a peer's atomic. Zero-length reads never get here.

  // The checks of an RDMA Read Request (RDMAP-5.2), for the whole range, before the first octet is answered.
  virtual std::expected<void, ddp::AccessError> check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                           std::uint32_t length) = 0;
  // Checks again and copies out.size() octets: the STag may have been revoked between two segments of one response.
  virtual std::expected<void, ddp::AccessError> read_tagged(ddp::Stag stag, ddp::TaggedOffset offset,
                                                            MutableBytes out) = 0;
  // Executes one atomic on the 8 octets at `offset`, serialised with every other atomic of the device; returns the old
  // value.
  virtual std::expected<std::uint64_t, ddp::AccessError> atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                                const AtomicOperation& op) = 0;
  // Send with Invalidate: on return no octet of the buffer can be reached through this STag any more.
  virtual std::expected<void, ddp::AccessError> invalidate(ddp::Stag stag) = 0;

  // --- The local side's own work requests.

  // Copies out.size() octets from `offset` of the gather list: the source of a Send or Write.
  virtual std::expected<void, ddp::LocalFault> gather(LocalSegments source, std::uint64_t offset, MutableBytes out) = 0;
  // The same octets without a copy, for streams without a CRC: appends spans to `pieces`, or returns false to ask for a
  // copy (not supported, or not enough slots). `used` is how many were appended.
  virtual bool borrow(LocalSegments source, std::uint64_t offset, std::uint64_t length, std::span<Bytes> pieces,
                      std::size_t& used) {
    static_cast<void>(source), static_cast<void>(offset), static_cast<void>(length), static_cast<void>(pieces);
    used = 0;
    return false;
  }
  // Copies `payload` to `offset` of the scatter list: the sink of a Read Response or Atomic Response.
  virtual std::expected<void, ddp::LocalFault> scatter(LocalSegments sink, std::uint64_t offset, Bytes payload) = 0;

  // Where octets [offset, offset + length) of the receive that was taken last, or of a scatter list, are going to be
  // placed, after the same checks, so that the socket may put them there. Empty when they do not lie side by side, or
  // may not be placed. Good until the next call.
  virtual MutableBytes landing(const ddp::ReceiveBuffer& buffer, std::uint64_t offset, std::uint64_t length) {
    static_cast<void>(buffer), static_cast<void>(offset), static_cast<void>(length);
    return {};
  }
  virtual MutableBytes landing(LocalSegments sink, std::uint64_t offset, std::uint64_t length) {
    static_cast<void>(sink), static_cast<void>(offset), static_cast<void>(length);
    return {};
  }

  // A work request that never leaves the host (Local Invalidate, Bind Memory Window), carried out at its turn in the
  // send queue.
  virtual std::expected<void, ddp::LocalFault> perform_local(std::uint64_t cookie) = 0;
};

}  // namespace weft::rdmap
