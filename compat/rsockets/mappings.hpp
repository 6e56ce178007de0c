// SPDX-License-Identifier: Apache-2.0
// Direct data placement (riomap, riowrite): memory of the program that the peer may write to, and what the peer has
// told of its own.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "compat/rsockets/wire.hpp"
#include "verbs/memory.hpp"

namespace weft::compat::rsockets {

class Mappings {
 public:
  // `target_iomap`: our own memory, where the peer writes its mappings. `peer`: its table, for ours.
  Mappings(std::span<std::byte> target_iomap, const ConnectData& peer);

  // --- The peer's memory
  [[nodiscard]] std::optional<std::string_view> updated(std::uint32_t index);
  // What is mapped from this offset on.
  [[nodiscard]] std::optional<RemoteBuffer> find(std::uint64_t offset) const;

  // --- Our own
  // One of the peer's entries is used for it, if there is one left. False: there is none.
  bool add_remote(verbs::MemoryRegion region, std::uint64_t offset);
  void add_local(verbs::MemoryRegion region) { local_.push_back(std::move(region)); }
  [[nodiscard]] bool entry_left() const noexcept;
  // Deregisters what was mapped with this address and length. False: nothing was.
  bool remove(const void* address, std::size_t length);

  // --- What the peer has to be told, before the next data
  struct Update {
    std::uint32_t index{};
    std::uint64_t address{};  // of the peer's entry
    std::uint32_t stag{};
    std::array<std::byte, kIomapEntryOctets> octets{};
  };
  [[nodiscard]] std::optional<Update> pending() const;
  void told() { pending_.pop_front(); }

 private:
  struct Own {
    std::optional<verbs::MemoryRegion> region{};
    std::uint64_t offset{};
  };

  const std::span<std::byte> target_;
  const ConnectData peer_;
  std::vector<RemoteMapping> of_peer_;
  std::vector<Own> own_;  // grows to the size of the peer's table at most, which is a few thousand
  std::deque<std::uint32_t> pending_;
  std::vector<verbs::MemoryRegion> local_;
};

}  // namespace weft::compat::rsockets
