// SPDX-License-Identifier: Apache-2.0
// The memory of an application that sends one message after the other: a few in turns, as with a queue depth of 8.
#pragma once

#include <cstddef>
#include <vector>

namespace weft::uring {

class Source {
 public:
  static constexpr std::size_t kMessages = 8;

  explicit Source(std::size_t octets) : octets_(octets), memory_(kMessages * octets, 'x') {}
  [[nodiscard]] std::size_t octets() const { return octets_; }
  char* next() {
    turn_ = (turn_ + 1) % kMessages;
    return memory_.data() + turn_ * octets_;
  }

 private:
  std::size_t octets_;
  std::vector<char> memory_;
  std::size_t turn_ = 0;
};

}  // namespace weft::uring
