// SPDX-License-Identifier: Apache-2.0
/// @file
/// What DDP needs from the owner of memory (RFC 5041 sections 5 and 7.1).
///
/// The live stack implements it with registered memory, an observer (engine/observer.hpp) with a recorder, and the
/// tests with vectors. DDP itself never accesses an octet of the user.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "common/wire.hpp"
#include "ddp/header.hpp"

namespace weft::ddp {

/// Identifies why an STag does not permit the access of a segment or request, in the order in which it is checked. The
/// RFCs specify no order; docs/decisions/0022-order-of-checks.md explains this one. Each layer maps it to its own
/// Terminate code.
enum class AccessError : std::uint8_t {
  kInvalidStag,    ///< unknown, revoked or invalidated
  kNotAssociated,  ///< belongs to another Protection Domain or another stream
  kAccessRights,   ///< lacks the remote write, read or atomic right
  kOffsetWrap,     ///< TO + length exceeds 2^64
  kBaseOrBounds,   ///< some octets are outside the buffer
  kUnaligned,      ///< atomics: the address is not a multiple of 8 (RFC 7306 section 5)
};

/// Identifies why a local work request cannot access its memory: the owner of the buffer released it, or never had the
/// right to use it. It is a local fault, not the peer's.
enum class LocalFault : std::uint8_t {
  kInvalidKey,    ///< the lkey is unknown or was deregistered
  kAccessRights,  ///< the memory does not permit local writing (or reading)
  kBaseOrBounds,  ///< the range is outside the region
};

/// Describes an untagged buffer of queue 0: one posted receive. `cookie` identifies it to its owner, which also has its
/// scatter list.
struct ReceiveBuffer {
  std::uint64_t cookie{};
  std::uint64_t capacity{};  ///< capacity in octets
  bool operator==(const ReceiveBuffer&) const = default;
};

/// Places the payload of segments in memory.
class Placement {
 public:
  virtual ~Placement() = default;

  /// Places the payload of an RDMA Write. Checks the access, then copies `payload` to [offset, offset + size) of the
  /// tagged buffer. The last octet becomes visible last, with release order; if the buffer's end is aligned to 8 or 4
  /// octets, these become visible as one word.
  /// Never called with an empty payload (DDP-4.2: zero length accesses nothing). On error, no octet has been written.
  virtual std::expected<void, AccessError> place_tagged(Stag stag, TaggedOffset offset, Bytes payload) = 0;

  /// Removes the next posted receive of queue 0 from its queue (own or shared) and returns it. Returns nothing if none
  /// is posted.
  virtual std::optional<ReceiveBuffer> take_receive() = 0;

  /// Copies `payload` to `offset` of the receive that was taken last. A message is complete before the next one on its
  /// queue begins. DDP has checked that offset + size <= capacity.
  virtual std::expected<void, LocalFault> place_untagged(const ReceiveBuffer& buffer, std::uint64_t offset,
                                                         Bytes payload) = 0;
};

}  // namespace weft::ddp
