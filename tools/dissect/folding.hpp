// SPDX-License-Identifier: Apache-2.0
// As much of a ladder as is shown: its beginning and its end, what went wrong, and of what is between them how many
// messages of each kind. So its length and memory are bounded, however long the connection lived.
#pragma once

#include <cstdint>
#include <deque>
#include <variant>
#include <vector>

#include "tools/dissect/entry.hpp"

namespace weft::tools::dissect {

// Messages that are counted instead of shown.
struct Fold {
  struct Kind {
    conformance::Direction from{};
    std::uint8_t opcode{};
    std::uint64_t messages{};
    std::uint64_t octets{};  // of payload
  };
  std::vector<Kind> kinds{};  // in the order in which they came; at most 16 of each direction
  std::uint64_t messages{};
  std::uint64_t notes{};
  std::uint64_t first_packet{}, last_packet{};

  void add(const Entry& entry);
};

using Rung = std::variant<Entry, Fold>;

class Folding {
 public:
  static constexpr std::size_t kFirst = 40;  // entries that are shown from the beginning
  static constexpr std::size_t kLast = 10;   // and from the end
  static constexpr std::size_t kNotes = 40;  // between them, of what is no message, and of Terminates

  // `all`: nothing is folded, and memory grows with the ladder.
  explicit Folding(bool all) : all_(all) {}

  void add(Entry entry);
  // Hands over each rung, in order.
  template <typename Take>
  void each(const Take& take) const {
    for (const Rung& rung : shown_) take(rung);
    for (const Entry& entry : last_) take(Rung(entry));
  }
  [[nodiscard]] bool empty() const noexcept { return shown_.empty(); }

 private:
  void settle(Entry entry);

  bool all_;
  std::size_t notes_ = 0;  // between
  std::vector<Rung> shown_{};
  std::deque<Entry> last_{};
};

}  // namespace weft::tools::dissect
