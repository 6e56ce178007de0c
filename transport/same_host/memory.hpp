// SPDX-License-Identifier: Apache-2.0
// The file in memory that two processes share, mapped: a page with the headers of both rings, then their octets. It is
// sealed against another size, so no access to it raises SIGBUS, whatever the peer does with its descriptor. Pages cost
// memory once octets have been in them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <system_error>
#include <utility>

#include "transport/same_host/ring.hpp"

namespace weft::transport::same_host {

// Owns the mapping, not a descriptor.
class Memory {
 public:
  static constexpr std::size_t kLeastRing = 4096;       // octets, what an initiator may choose
  static constexpr std::size_t kMostRing = 16U << 20U;  // octets

  // Whose octets a ring carries.
  enum class From : std::uint8_t { kInitiator, kAcceptor };

  // Makes a sealed file for two empty rings, each of `ring_octets`, and maps it. The caller closes the descriptor.
  [[nodiscard]] static std::expected<std::pair<Memory, int>, std::error_code> create(std::size_t ring_octets) noexcept;
  // Maps the file of another process. `file` remains the caller's. Fails with bad_message if it has not the size that
  // `ring_octets` asks for, is not sealed, or if `ring_octets` is not a size of a ring.
  [[nodiscard]] static std::expected<Memory, std::error_code> map(int file, std::uint64_t ring_octets) noexcept;

  ~Memory();
  Memory(Memory&& other) noexcept
      : begin_(std::exchange(other.begin_, nullptr)), ring_octets_(std::exchange(other.ring_octets_, 0)) {}
  Memory& operator=(Memory&&) = delete;

  [[nodiscard]] Ring ring(From from) const noexcept;

 private:
  [[nodiscard]] static std::expected<Memory, std::error_code> map_checked(int file, std::size_t ring_octets) noexcept;
  Memory(std::byte* begin, std::size_t ring_octets) noexcept : begin_(begin), ring_octets_(ring_octets) {}

  std::byte* begin_;
  std::size_t ring_octets_;
};

}  // namespace weft::transport::same_host
