// SPDX-License-Identifier: Apache-2.0
// The table of edits: captures of weft, of siw and of the forge, in each of which the student changes one thing.
#pragma once

#include <string>
#include <vector>

#include "tests/explain/laboratory/played.hpp"

namespace weft::explain::laboratory::test {

struct Act {
  std::vector<std::byte> octets{};  // that are fed; none is the peer's FIN
  std::uint32_t row{};
};

struct Edit {
  std::string name{};  // "40-crc-rping, FPDU 3: bit of octet 2, CRC repaired"
  std::string script{};
  std::vector<Act> acts{};
  bool changed = true;  // false: the capture as it was
};

// `samples`: the folder pcap-samples.
[[nodiscard]] std::vector<Edit> table_of_edits(const std::string& samples);

}  // namespace weft::explain::laboratory::test
