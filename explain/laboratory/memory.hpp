// SPDX-License-Identifier: Apache-2.0
// The registered memory and the posted receives of a script, with all the checks of the live stack. What is placed is
// kept, and told. It is bounded: when kMostPages are in use it drops what comes, and full() says so.
#pragma once

#include <utility>
#include <vector>

#include "explain/laboratory/script.hpp"
#include "explain/laboratory/sparse_octets.hpp"
#include "rdmap/region_table.hpp"

namespace weft::explain::laboratory {

// Octets that have changed: in the region or the receive of that index.
struct Placed {
  enum class Where : std::uint8_t { kRegion, kReceive } where{};
  std::size_t index{};
  std::uint64_t offset{};
  std::vector<std::byte> octets{};
};

class Memory final : public rdmap::RegionTable {
 public:
  static constexpr std::size_t kMostPages = (32U << 20) / SparseOctets::kPage;

  explicit Memory(const Script& script);

  void post_receive(std::uint64_t size) { receives_.push_back(size); }
  [[nodiscard]] std::size_t receives_posted() const noexcept { return receives_.size(); }
  // A local segment of these octets: in the region with that STag if they lie in one that is valid, else in a null
  // region.
  [[nodiscard]] rdmap::LocalSegment segment(std::uint32_t stag, std::uint64_t offset, std::uint32_t size);
  [[nodiscard]] std::vector<Placed> take_placed() noexcept { return std::exchange(placed_, {}); }
  [[nodiscard]] bool full() const noexcept { return full_; }

  std::optional<ddp::ReceiveBuffer> take_receive() override;
  std::expected<void, ddp::LocalFault> place_untagged(const ddp::ReceiveBuffer& buffer, std::uint64_t offset,
                                                      Bytes payload) override;
  bool borrow(rdmap::LocalSegments, std::uint64_t, std::uint64_t, std::span<Bytes>, std::size_t& used) override {
    used = 0;
    return false;
  }

 private:
  void put(const Place& to, Bytes octets) override;
  void get(const Place& from, MutableBytes out) override;

  std::vector<SparseOctets> octets_{};     // by index of the region; offsets count from its first octet
  std::uint32_t nowhere_ = 0;              // lkey of the null region
  std::vector<std::uint64_t> receives_{};  // sizes
  std::size_t taken_ = 0;                  // receives that messages have taken
  std::vector<Placed> placed_{};
  std::size_t pages_ = 0;
  bool full_ = false;
};

}  // namespace weft::explain::laboratory
