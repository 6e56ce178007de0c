// SPDX-License-Identifier: Apache-2.0
// What DDP needs from the owner of memory (RFC 5041 sections 5 and 7.1). The live stack implements it over registered
// memory, an observer (engine/observer.hpp) over a recorder, the tests over plain vectors. DDP itself never touches a
// user's octet.
#pragma once

#include <cstdint>
#include <expected>
#include <optional>

#include "common/wire.hpp"
#include "ddp/header.hpp"

namespace weft::ddp {

// Why an STag does not give the access that a segment or request asks for, in the order in which it is checked
// (the RFCs fix none; docs/decisions/0022-order-of-checks.md says why this one). Each layer maps it to its own
// Terminate code.
enum class AccessError : std::uint8_t {
  kInvalidStag,    // unknown, revoked or invalidated
  kNotAssociated,  // belongs to another Protection Domain or another stream
  kAccessRights,   // no remote write, read or atomic right
  kOffsetWrap,     // TO + length passes 2^64
  kBaseOrBounds,   // some octet lies outside the buffer
  kUnaligned,      // atomics only: the address is not a multiple of 8 (RFC 7306 section 5)
};

// The local owner of a buffer took it away, or never had the right to use it. Our side's fault, not the peer's.
enum class LocalFault : std::uint8_t {
  kInvalidKey,    // the lkey is unknown or was deregistered
  kAccessRights,  // the memory may not be written (or read) locally
  kBaseOrBounds,  // outside the region
};

// An untagged buffer of queue 0: one posted receive. `cookie` names it to its owner, who also knows its scatter list.
struct ReceiveBuffer {
  std::uint64_t cookie{};
  std::uint64_t capacity{};  // octets
  bool operator==(const ReceiveBuffer&) const = default;
};

class Placement {
 public:
  virtual ~Placement() = default;

  // RDMA Write: checks the access, then copies `payload` to [offset, offset + size) of the tagged buffer, the last
  // octet last and with release order. Never called with an empty payload (DDP-4.2: zero length touches nothing). On
  // error no octet has been written.
  virtual std::expected<void, AccessError> place_tagged(Stag stag, TaggedOffset offset, Bytes payload) = 0;

  // The next posted receive of queue 0, taken off its queue (own or shared). Empty when none is posted.
  virtual std::optional<ReceiveBuffer> take_receive() = 0;

  // Copies `payload` to `offset` of the receive that was taken last: a message is complete before the next one on its
  // queue begins. DDP has checked offset + size <= capacity.
  virtual std::expected<void, LocalFault> place_untagged(const ReceiveBuffer& buffer, std::uint64_t offset,
                                                         Bytes payload) = 0;
};

}  // namespace weft::ddp
