// SPDX-License-Identifier: Apache-2.0
// What the command line of `weft dissect` asks for.
#pragma once

#include <string>

#include "tools/dissect/wanted.hpp"

namespace weft::tools::dissect {

struct Options {
  std::string file{};
  std::string keylog{};  // empty: none
  bool overview{};       // the ladders alone
  bool fields{};         // the fields alone
  bool all{};            // of the ladders: nothing folded
  bool explain{};        // of the fields: a sentence below each
  std::string json{};    // only the fields, as JSON, to this file; -: standard output
  Asked asked{};

  [[nodiscard]] bool wants_ladders() const noexcept { return !fields && json.empty() && !asked.packet; }
  [[nodiscard]] bool wants_fields() const noexcept { return !overview; }
};

}  // namespace weft::tools::dissect
