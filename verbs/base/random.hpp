// SPDX-License-Identifier: Apache-2.0
// Random numbers that a peer cannot predict, fetched in batches from the generator of the kernel.
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
