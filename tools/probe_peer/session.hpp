// SPDX-License-Identifier: Apache-2.0
// A session: protection domains, regions of every kind, and the report. It outlives the connections that join it.
#pragma once

#include <chrono>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "probe/peer_protocol.hpp"
#include "tools/probe_peer/resources.hpp"

namespace weft::tools::probe_peer {

using probe::Region;

// Memory and its registration; the memory outlives it.
struct Registered {
  std::unique_ptr<std::byte[]> octets{};
  std::size_t size{};   // of the region
  std::size_t begin{};  // of the region in `octets`
  std::optional<verbs::MemoryRegion> region{};
  Region told{};  // as the advert has it
};

// Registers `size` octets, which hold their first content, as a region of this kind and these rights.
[[nodiscard]] Registered make_region(verbs::ProtectionDomain& domain, std::uint8_t kind, std::uint8_t rights,
                                     std::size_t size, const verbs::RegionOptions& options = {});

// Converts a set of Region::Right to access rights.
[[nodiscard]] verbs::Access remote_access_of(std::uint8_t rights) noexcept;

class Session {
 public:
  Session(Resources& resources, std::uint32_t number);

  [[nodiscard]] std::uint32_t number() const noexcept { return number_; }
  // Returns the size of its memory.
  [[nodiscard]] std::size_t octets() const noexcept;
  verbs::ProtectionDomain& domain(bool other) noexcept { return other ? other_ : own_; }
  // Receives that its connections share; made at first use.
  verbs::SharedReceiveQueue& shared_receives(std::uint16_t count, std::uint16_t size);
  // Posts one more of them: a buffer's number, or any other.
  void post_shared_receive(std::uint32_t index);
  // The regions that every connection is told of.
  [[nodiscard]] std::vector<Region> regions() const;
  // The memory of an own region with this STag, if it is one.
  Registered* find(std::uint32_t stag) noexcept;
  void revoke(std::uint32_t stag);

  // What is in `report` becomes visible to Reads.
  void publish() noexcept;
  probe::PeerReport report{};

  // The memory of the orders: the source of their sends and writes, and the sink of their reads. As long as the longest
  // order. Created at first use, because most connections give no orders.
  static constexpr std::uint32_t kWork = 1U << 20U;
  [[nodiscard]] verbs::Sge work(bool other, std::uint32_t length);
  // Where the receives of the shared queue go.
  Registered receives{};
  std::uint16_t receive_count{};
  std::uint16_t receive_size{};

  unsigned connections{};  // alive
  std::chrono::steady_clock::time_point idle_since = std::chrono::steady_clock::now();

 private:
  std::uint32_t number_;
  verbs::ProtectionDomain own_;
  verbs::ProtectionDomain other_;
  verbs::QueuePair spare_;  // never connected: what is for it alone is of another stream than any
  std::deque<Registered> regions_{};
  Registered report_memory_{};
  Registered work_{};
  Registered other_work_{};
  std::optional<verbs::SharedReceiveQueue> shared_{};
};

}  // namespace weft::tools::probe_peer
