// SPDX-License-Identifier: Apache-2.0
// A captured connection as the laboratory needs it to play one of its ends: the frames that the other end sent, and a
// script of what this end must have had and done for that.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/direction.hpp"
#include "tests/captures/capture_file.hpp"

namespace weft::explain::laboratory::test {

struct FedFrame {
  std::vector<std::byte> octets{};
  std::uint32_t row{};  // frames of both directions, counted in the order of the capture
  bool startup{};
};

struct Played {
  std::string script{};
  std::vector<FedFrame> frames{};
  bool crc{};  // in use
};

// `from`: the other end. Throws when the capture has more than the observer of the engine takes.
[[nodiscard]] Played play_against(const captures::Connection& connection, engine::Direction from);

}  // namespace weft::explain::laboratory::test
