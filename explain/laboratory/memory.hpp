// SPDX-License-Identifier: Apache-2.0
// The registered memory and the posted receives of a script, with all the checks of the live stack. What is placed is
// kept, and told. It is bounded: when kMostPages are in use it drops what comes, and full() says so.
#pragma once

#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "explain/laboratory/script.hpp"
#include "explain/laboratory/sparse_octets.hpp"
#include "rdmap/memory.hpp"

namespace weft::explain::laboratory {

// Octets that have changed: in the region or the receive of that index.
struct Placed {
  enum class Where : std::uint8_t { kRegion, kReceive } where{};
  std::size_t index{};
  std::uint64_t offset{};
  std::vector<std::byte> octets{};
};

class Memory final : public rdmap::Memory {
 public:
  static constexpr std::size_t kMostPages = (32U << 20) / SparseOctets::kPage;

  // `script` outlives it.
  explicit Memory(const Script& script);

  void post_receive(std::uint64_t size);
  [[nodiscard]] std::size_t receives_posted() const noexcept { return receives_.size(); }
  // A local segment of these octets: in the region with that STag, if they lie in one, and its lkey is the region's index
  // plus one; else of octets that are not kept, and its lkey is 0.
  [[nodiscard]] rdmap::LocalSegment local(std::uint32_t stag, std::uint64_t offset, std::uint32_t size) const;
  [[nodiscard]] std::vector<Placed> take_placed() noexcept { return std::exchange(placed_, {}); }
  [[nodiscard]] bool full() const noexcept { return full_; }

  // --- ddp::Placement
  std::expected<void, ddp::AccessError> place_tagged(ddp::Stag stag, ddp::TaggedOffset offset, Bytes payload) override;
  std::optional<ddp::ReceiveBuffer> take_receive() override;
  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                      Bytes payload) override;

  // --- rdmap::Memory
  std::expected<void, ddp::AccessError> check_read(ddp::Stag stag, ddp::TaggedOffset offset,
                                                   std::uint32_t length) override;
  std::expected<void, ddp::AccessError> read_tagged(ddp::Stag stag, ddp::TaggedOffset offset,
                                                    MutableBytes out) override;
  std::expected<std::uint64_t, ddp::AccessError> atomic(ddp::Stag stag, ddp::TaggedOffset offset,
                                                        const rdmap::AtomicOperation& op) override;
  std::expected<void, ddp::AccessError> invalidate(ddp::Stag stag) override;
  std::expected<void, ddp::LocalFault> gather(rdmap::LocalSegments source, std::uint64_t offset,
                                              MutableBytes out) override;
  std::expected<void, ddp::LocalFault> scatter(rdmap::LocalSegments sink, std::uint64_t offset, Bytes payload) override;
  std::expected<void, ddp::LocalFault> perform_local(std::uint64_t cookie) override;

 private:
  struct Region {
    const RegionScript* script{};
    SparseOctets octets{};  // offsets count from its first octet
    bool valid = true;
  };
  struct Found {
    std::size_t index{};
    std::uint64_t offset{};  // in the region
  };
  using Right = bool RegionScript::*;

  [[nodiscard]] std::expected<Found, ddp::AccessError> find(ddp::Stag stag, ddp::TaggedOffset offset,
                                                            std::uint64_t length, Right right) const;
  // Where a local segment lies, which local() has made; nothing for octets that are not kept.
  [[nodiscard]] std::optional<Found> find(const rdmap::LocalSegment& segment) const;
  void put(Placed::Where where, const Found& to, Bytes octets);

  std::vector<Region> regions_{};
  std::map<std::uint32_t, std::size_t> by_stag_{};
  std::vector<std::uint64_t> receives_{};  // sizes
  std::size_t taken_ = 0;                  // receives that messages have taken
  std::vector<Placed> placed_{};
  std::size_t pages_ = 0;
  bool full_ = false;
};

}  // namespace weft::explain::laboratory
