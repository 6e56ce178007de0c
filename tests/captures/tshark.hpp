// SPDX-License-Identifier: Apache-2.0
// tshark as a second reader of capture files: its dissectors share no code with weft.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tests/captures/fields.hpp"

namespace weft::captures {

// False when there is no tshark on this machine: tests then skip, and say so.
bool have_tshark();

struct Dissection {
  std::vector<Frame> frames{};       // of all connections, in the order of the file
  std::vector<std::string> notes{};  // "_ws.malformed" and the like, with the packet's number: empty when all is well
  std::size_t good_crcs{};
  std::size_t bad_crcs{};
};

// The same without the fields: for captures of many megaoctets.
struct Tally {
  std::size_t fpdus{};
  std::size_t good_crcs{};
  std::size_t bad_crcs{};
  std::size_t malformed{};
};
struct Verdict : Tally {
  std::map<std::pair<std::uint16_t, std::uint16_t>, Tally> streams{};  // by source and destination port
};
Verdict judge(const std::string& path);

// Throws std::runtime_error when tshark fails or its output cannot be understood.
Dissection dissect(const std::string& path);

}  // namespace weft::captures
