// SPDX-License-Identifier: Apache-2.0
// The ladders of all connections. Each is printed when its connection is over; or, where a capture cannot be read
// twice, line by line as its messages end, and nothing of it is folded.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "tools/dissect/folding.hpp"
#include "tools/dissect/ladder.hpp"
#include "tools/dissect/ladder_text.hpp"
#include "tools/dissect/reading.hpp"

namespace weft::tools::dissect {

class Overview {
 public:
  struct Style {
    Look look{};
    bool all{};   // nothing folded
    bool live{};  // line by line
  };
  using Print = std::function<void(const std::string&)>;

  Overview(const Style& style, Print print) : style_(style), print_(std::move(print)) {}

  void note(const conformance::Packet& packet) { times_.note(packet); }
  void take(const Watched& watched, const conformance::Seen& seen);
  void over(const Watched& watched);

 private:
  struct Kept {
    explicit Kept(bool all) : folding(all) {}
    Ladder ladder{};
    Folding folding;
    bool headed = false;
  };
  void print_live(const Watched& watched, Kept& kept, const Entry& entry);
  [[nodiscard]] std::string heading(const Watched& watched, bool over) const;

  Style style_;
  Print print_;
  PacketTimes times_{};
  std::map<std::size_t, Kept> kept_{};
  std::optional<std::size_t> printed_{};  // the connection of the last line, when live
};

}  // namespace weft::tools::dissect
