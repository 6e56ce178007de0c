// SPDX-License-Identifier: Apache-2.0
// A ladder as lines: the initiator on the left, the responder on the right, and what each sends with an arrow to the
// other. No line is longer than the width; the rest goes to the next line. Below 60 columns, time and packet have a
// line of their own.
#pragma once

#include <string>

#include "conformance/tcp_connections.hpp"
#include "tools/dissect/folding.hpp"

namespace weft::tools::dissect {

// How it is printed.
struct Look {
  Palette palette{};
  std::size_t width = 80;  // columns, at least 20
};

// Whose ladder it is. The packets are told where they are known.
struct Heading {
  std::size_t connection{};
  const conformance::ConnectionInfo* info{};
  conformance::End initiator{};
  bool roles_known{};
  bool over{};  // the connection: `info` has its last packet
};

[[nodiscard]] std::string heading_text(const Heading& heading, const Look& look);
[[nodiscard]] std::string text_of(const Entry& entry, const Look& look);
[[nodiscard]] std::string text_of(const Fold& fold, const Look& look);

}  // namespace weft::tools::dissect
