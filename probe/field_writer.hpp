// SPDX-License-Identifier: Apache-2.0
// Sequences of big-endian numbers, for messages that are not performance-critical.
#pragma once

#include <array>
#include <concepts>
#include <utility>
#include <vector>

#include "common/wire.hpp"

namespace weft::probe {

// Appends to a vector.
class FieldWriter {
 public:
  template <std::unsigned_integral T>
  FieldWriter& put(T value) {
    std::array<std::byte, sizeof(T)> field{};
    Be<0, T>::put(field, value);
    return put(Bytes(field));
  }
  FieldWriter& put(Bytes octets) {
    octets_.reserve(256);  // without it g++ 12 takes an insert for one beyond the end
    octets_.insert(octets_.end(), octets.begin(), octets.end());
    return *this;
  }
  [[nodiscard]] std::vector<std::byte> take() && { return std::move(octets_); }

 private:
  std::vector<std::byte> octets_{};
};

// Reads from the front. After the end, it returns zeros and good() returns false.
class FieldReader {
 public:
  explicit FieldReader(Bytes octets) noexcept : rest_(octets) {}
  template <std::unsigned_integral T>
  T get() noexcept {
    if (rest_.size() < sizeof(T)) {
      good_ = false;
      return 0;
    }
    const T value = Be<0, T>::get(rest_);
    rest_ = rest_.subspan(sizeof(T));
    return value;
  }
  [[nodiscard]] bool good() const noexcept { return good_; }
  [[nodiscard]] Bytes rest() const noexcept { return rest_; }

 private:
  Bytes rest_;
  bool good_ = true;
};

}  // namespace weft::probe
