// SPDX-License-Identifier: Apache-2.0
// Numbers that a peer cannot predict, from the kernel's generator, fetched in batches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace weft::verbs::detail {

class RandomSource {
 public:
  [[nodiscard]] std::uint32_t next();

 private:
  std::mutex mutex_;
  std::array<std::uint32_t, 64> batch_{};
  std::size_t left_ = 0;
};

}  // namespace weft::verbs::detail
