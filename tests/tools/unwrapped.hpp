// SPDX-License-Identifier: Apache-2.0
// Reports are wrapped to 80 columns. Their text as it was before: lines that continue another one are joined to it.
#pragma once

#include <regex>
#include <string>

namespace weft::test {

inline std::string unwrapped(const std::string& report) {
  static const std::regex kContinued("\n {4,}(?=[^ ])");
  return std::regex_replace(report, kContinued, " ");
}

}  // namespace weft::test
