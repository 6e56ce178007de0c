// SPDX-License-Identifier: Apache-2.0
/// @file
/// Registered memory of one stream without threads: regions by STag and posted receives, with the checks of the live
/// stack (rdmap/grant.hpp). Simulations, tests and benchmarks use it; verbs/memory has the table of the live stack.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <vector>

#include "rdmap/grant.hpp"
#include "rdmap/memory.hpp"
#include "rdmap/segment_walk.hpp"

namespace weft::rdmap {

/// Owns the memory that one stream and its peer access. An STag is also the lkey of its region, and addresses of local
/// segments are tagged offsets. Not thread-safe.
class RegionTable : public Memory {
 public:
  /// Registered memory.
  struct Region {
    Grant grant{};                    ///< grant.start is not used
    std::vector<std::byte> octets{};  ///< grant.length of them, unless a derived class keeps them elsewhere
    std::size_t index{};              ///< number of regions that were registered before
    bool valid = true;                ///< false: invalidated
  };

  /// Creates an empty table for the accesses of the stream `who`.
  explicit RegionTable(Accessor who = {.domain = 1, .stream = 1}) noexcept : who_(who) {}

  /// Registers what `grant` says. The caller fills in the octets.
  Region& add(std::uint32_t stag, const Grant& grant);
  /// Registers `size` octets of zeros for this stream alone, so that the peer may invalidate the STag.
  Region& add(std::uint32_t stag, std::size_t size, std::uint64_t first_offset = 0, Access access = kAllAccess);
  /// Returns all regions by STag.
  [[nodiscard]] std::map<std::uint32_t, Region>& regions() noexcept { return regions_; }
  /// Posts a receive of `capacity` octets, which received() returns.
  void post_receive(std::uint64_t cookie, std::size_t capacity);
  /// Returns the octets of each posted receive by cookie.
  [[nodiscard]] std::map<std::uint64_t, std::vector<std::byte>>& received() noexcept { return received_; }

  // --- ddp::Placement
  std::expected<void, ddp::AccessError> place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) override;
  std::optional<ddp::ReceiveBuffer> take_receive() override;
  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                      Bytes payload) override;

  // --- Memory
  std::expected<void, ddp::AccessError> check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                   std::uint32_t length) override;
  std::expected<void, ddp::AccessError> read_tagged(ddp::Stag stag, ddp::TaggedOffset offset,
                                                    MutableBytes out) override;
  /// The value is little-endian in memory, so that simulations have the same octets on every machine. The tagged offset
  /// must be a multiple of 8.
  std::expected<std::uint64_t, ddp::AccessError> atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                        const AtomicOperation& operation) override;
  std::expected<void, ddp::AccessError> invalidate(ddp::Stag stag) override;
  std::expected<void, ddp::LocalFault> gather(LocalSegments source, std::uint64_t offset, MutableBytes out) override;
  bool borrow(LocalSegments source, std::uint64_t offset, std::uint64_t length, std::span<Bytes> pieces,
              std::size_t& used) override;
  std::expected<void, ddp::LocalFault> scatter(LocalSegments sink, std::uint64_t offset, Bytes payload) override;
  std::expected<void, ddp::LocalFault> perform_local(std::uint64_t cookie) override;

 protected:
  /// Where an access that was checked begins.
  struct Place {
    Region* region{};
    std::uint64_t at{};  ///< octets from the region's first one
  };

  /// Copies octets to a place. A derived class may keep them elsewhere.
  virtual void put(const Place& to, Bytes octets);
  /// Copies octets from a place.
  virtual void get(const Place& from, MutableBytes out);
  /// Returns where an element of a scatter/gather list begins.
  [[nodiscard]] std::expected<Place, ddp::LocalFault> local(const LocalSegment& segment, Access needed,
                                                            std::uint64_t skip, std::uint64_t length);

 private:
  [[nodiscard]] Region* find(std::uint32_t stag);
  [[nodiscard]] std::expected<Place, ddp::AccessError> remote(ddp::Stag stag, Access needed, ddp::TaggedOffset offset,
                                                              std::uint64_t length);

  Accessor who_;
  std::map<std::uint32_t, Region> regions_{};
  std::deque<ddp::ReceiveBuffer> receives_{};
  std::map<std::uint64_t, std::vector<std::byte>> received_{};
};

}  // namespace weft::rdmap
