// SPDX-License-Identifier: Apache-2.0
// The memory of an end as a capture betrays it: nothing on the wire tells of a registration, but what a peer wrote,
// read or changed was registered.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace weft::explain {

/// What was seen to be allowed of a region.
struct Rights {
  bool write{};   ///< the target of RDMA Writes
  bool read{};    ///< the source of the peer's RDMA Reads
  bool atomic{};  ///< the target of the peer's atomic operations
  bool sink{};    ///< where this end's own RDMA Reads put what they read

  /// Both together.
  [[nodiscard]] constexpr Rights operator|(const Rights& more) const noexcept {
    return {write || more.write, read || more.read, atomic || more.atomic, sink || more.sink};
  }
};

/// Memory that an STag names.
struct Region {
  std::uint32_t stag{};              ///< its key
  std::uint64_t begin{};             ///< the lowest TO that was used
  std::uint64_t octets{};            ///< up to the highest one
  Rights rights{};                   ///< that were used
  std::string why{};                 ///< how it is known, in words
  std::vector<std::byte> content{};  ///< its first octets as the peer read them first; zeros where it did not

  /// Grows so that it has these octets, too. Its end may be 2^64.
  void cover(std::uint64_t from, std::uint64_t count) noexcept;
};

/// A receive that was posted: a message of queue 0 took it.
struct Receive {
  std::uint32_t msn{};     ///< of the message
  std::uint64_t octets{};  ///< of the message; the receive itself had as many or more
};

/// What one end has for its peer's messages.
struct EndMemory {
  std::vector<Region> regions{};    ///< in the order in which they were used first
  std::vector<Receive> receives{};  ///< of queue 0, in the order of the messages
};

/// Where payload lands.
struct Placed {
  /// What `index` counts.
  enum class Where : std::uint8_t {
    kRegion,   ///< EndMemory::regions
    kReceive,  ///< EndMemory::receives
  };
  Where where{};           ///< a region or a receive
  std::size_t index{};     ///< which one
  std::uint64_t offset{};  ///< from its beginning
  std::uint64_t octets{};  ///< of payload
};

/// What a request does to a region of the end that receives it.
struct Touched {
  /// The kind of request.
  enum class How : std::uint8_t {
    kRead,        ///< RDMA Read
    kAtomic,      ///< FetchAdd or CmpSwap
    kInvalidate,  ///< a Send that invalidates the STag
  };
  How how{};               ///< what is done
  std::size_t region{};    ///< an index into EndMemory::regions
  std::uint64_t offset{};  ///< from its beginning
  std::uint64_t octets{};  ///< 0 when all of it is meant
};
/// "read", "atomic", "invalidate".
[[nodiscard]] std::string_view name(Touched::How how) noexcept;

struct Connection;

/// Infers the memory of both ends, and with it what each row does there. The rows' messages and refusals are known.
void infer_memory(Connection& connection);

/// Fills in Region::content. The regions, and which message answers which, are known.
void find_contents(Connection& connection);

}  // namespace weft::explain
