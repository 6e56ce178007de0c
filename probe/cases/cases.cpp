// SPDX-License-Identifier: Apache-2.0
#include "probe/cases/cases.hpp"

namespace weft::probe {

std::span<const Case> all_cases() {
  static const std::vector<Case> all = [] {
    std::vector<Case> out;
    for (const auto table : {request_cases, crc_cases}) {
      const auto cases = table();
      out.insert(out.end(), cases.begin(), cases.end());
    }
    return out;
  }();
  return all;
}

}  // namespace weft::probe
