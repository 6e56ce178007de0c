// SPDX-License-Identifier: Apache-2.0
// One MPA frame as a table "field name -> value", in Wireshark's names. Two readers fill such tables for the same
// octets, weft's own parsers (wire_fields) and tshark's dissectors (tshark); the tests compare them as wholes, so a
// field that only one of them sees is a difference too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace weft::captures {

// Numbers in decimal, octet strings as "00:ff".
using Fields = std::map<std::string, std::string>;

enum class FrameType : std::uint8_t { kRequest, kReply, kFpdu };

struct Frame {
  FrameType type{};
  std::size_t connection{};  // counted from 0 in the order of their first packets
  std::uint16_t source_port{};
  Fields fields{};
};

}  // namespace weft::captures
