// SPDX-License-Identifier: Apache-2.0
// A ladder as lines: the Initiator on the left, the Responder on the right, and what each sends with an arrow to the
// other. No line is longer than kWidth; what does not fit goes on in the next one.
#pragma once

#include <string>

#include "conformance/tcp_connections.hpp"
#include "tools/dissect/folding.hpp"

namespace weft::tools::dissect {

inline constexpr std::size_t kWidth = 100;

// Whose ladder it is. The packets are told where they are known.
struct Heading {
  std::size_t connection{};
  const conformance::ConnectionInfo* info{};
  conformance::End initiator{};
  bool roles_known{};
  bool over{};  // the connection: `info` has its last packet
};

[[nodiscard]] std::string heading_text(const Heading& heading, const Palette& palette);
[[nodiscard]] std::string text_of(const Entry& entry, const Palette& palette);
[[nodiscard]] std::string text_of(const Fold& fold, const Palette& palette);

}  // namespace weft::tools::dissect
