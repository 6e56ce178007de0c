// SPDX-License-Identifier: Apache-2.0
// What a stream has of its device: a queue pair, its completion queue, and three pieces of registered memory. Their
// STags are good on this queue pair's stream alone.
#pragma once

#include <cstdlib>
#include <memory>
#include <optional>
#include <span>

#include "compat/rsockets/sizes.hpp"
#include "compat/rsockets/wire.hpp"
#include "verbs/device.hpp"

namespace weft::compat::rsockets {

// Receives beyond the credits: for messages without a sequence number. A peer that keeps to the protocol has fewer of
// them under way; one that does not waits (StartupPolicy::no_receive).
inline constexpr std::uint32_t kControlReceives = 16;
// Entries of the send queue that data leave free, for messages without data.
inline constexpr std::uint32_t kControlSends = 8;

class RegisteredMemory {
 public:
  static verbs::Result<RegisteredMemory> make(verbs::ProtectionDomain& domain, std::size_t octets, verbs::Access access,
                                              const verbs::QueuePair& pair);
  [[nodiscard]] std::span<std::byte> octets() const noexcept { return {octets_, size_}; }
  [[nodiscard]] std::uint32_t stag() const noexcept { return region_->rkey(); }
  [[nodiscard]] std::uint64_t remote(std::size_t offset = 0) const noexcept { return region_->iova() + offset; }
  [[nodiscard]] verbs::Sge sge(std::span<const std::byte> part) const noexcept;

 private:
  struct Free {
    void operator()(void* octets) const noexcept { std::free(octets); }
  };
  std::unique_ptr<void, Free> allocated_{};
  std::byte* octets_ = nullptr;  // the first aligned one
  std::size_t size_ = 0;
  std::optional<verbs::MemoryRegion> region_{};
};

// Members in the order in which they may be taken down, last first.
struct Endpoint {
  // Every receive is posted. The domain is kept and has to outlive it.
  static verbs::Result<std::unique_ptr<Endpoint>> make(verbs::Device& device, verbs::ProtectionDomain& domain,
                                                       const Sizes& wanted);

  [[nodiscard]] std::span<std::byte, kMessageOctets> message(std::uint64_t receive) const noexcept;
  verbs::Result<void> post_receive(std::uint64_t receive) const;
  [[nodiscard]] std::span<std::byte> send_ring() const noexcept;
  [[nodiscard]] std::span<std::byte> target_sgl() const noexcept;
  [[nodiscard]] std::span<std::byte> target_iomap() const noexcept;
  [[nodiscard]] std::uint32_t receives() const noexcept { return sizes.receive_queue + kControlReceives; }
  // So many the completion queue holds.
  [[nodiscard]] std::uint32_t completions() const noexcept { return sizes.send_queue + kControlSends + receives(); }
  // For the private data.
  [[nodiscard]] ConnectData offer() const;

  const Sizes sizes;
  verbs::ProtectionDomain& domain;
  verbs::CompletionChannel channel;
  verbs::CompletionQueue queue;
  mutable verbs::QueuePair pair;
  RegisteredMemory target;  // our target SGL and iomap: the peer writes there
  RegisteredMemory inbox;   // and there what is for the program
  RegisteredMemory own;     // received messages, then the ring of what is sent
};

}  // namespace weft::compat::rsockets
