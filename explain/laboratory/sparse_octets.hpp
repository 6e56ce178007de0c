// SPDX-License-Identifier: Apache-2.0
// Octets of a buffer that may be as large as an address space: only pages that were written take memory. What was not
// written reads as zero.
#pragma once

#include <array>
#include <cstdint>
#include <map>

#include "common/wire.hpp"

namespace weft::explain::laboratory {

class SparseOctets {
 public:
  static constexpr std::size_t kPage = 4096;

  // Pages that writing these octets would add.
  [[nodiscard]] std::size_t new_pages(std::uint64_t offset, std::size_t size) const;
  void write(std::uint64_t offset, Bytes octets);
  void read(std::uint64_t offset, MutableBytes out) const;

 private:
  using Page = std::array<std::byte, kPage>;
  std::map<std::uint64_t, Page> pages_{};
};

}  // namespace weft::explain::laboratory
