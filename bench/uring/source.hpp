// SPDX-License-Identifier: Apache-2.0
// Memory to send from and to receive into.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace weft::uring {

// So many octets that begin half a page behind the start of one. Some processors copy at a tenth of their speed (rep
// movsb) where source and destination lie at nearly the same offset of a page, and the kernel's memory begins at a
// page's start: without this, one contestant would be measured with that, and another without.
class Memory {
 public:
  explicit Memory(std::size_t octets) : octets_(octets), memory_(octets + 2 * kPage, 'x') {
    const auto at = reinterpret_cast<std::uintptr_t>(memory_.data());
    skipped_ = (kPage - at % kPage) + kPage / 2;
  }
  [[nodiscard]] std::size_t size() const { return octets_; }
  char* data() { return memory_.data() + skipped_; }

 private:
  static constexpr std::size_t kPage = 4096;
  std::size_t octets_;
  std::vector<char> memory_;
  std::size_t skipped_ = 0;
};

// The memory of an application that sends one message after the other: a few in turns, as with a queue depth of 8.
class Source {
 public:
  static constexpr std::size_t kMessages = 8;

  explicit Source(std::size_t octets) : octets_(octets), memory_(kMessages * octets) {}
  [[nodiscard]] std::size_t octets() const { return octets_; }
  char* next() {
    turn_ = (turn_ + 1) % kMessages;
    return memory_.data() + turn_ * octets_;
  }

 private:
  std::size_t octets_;
  Memory memory_;
  std::size_t turn_ = 0;
};

}  // namespace weft::uring
