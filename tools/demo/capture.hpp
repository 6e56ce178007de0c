// SPDX-License-Identifier: Apache-2.0
// Reads back the one connection of a capture file: what each end sent, put together from its TCP packets.
#pragma once

#include <string>
#include <vector>

#include "common/wire.hpp"
#include "tools/cli/outcome.hpp"

namespace weft::tools::demo {

struct Flow {
  std::vector<std::byte> octets{};
  std::uint64_t packets{};  // with payload
};

struct Capture {
  Flow initiator{};  // who sent the SYN
  Flow responder{};
};

// The file holds one IPv4 connection without loss or reordering, as the pcap tap writes it.
Outcome<Capture> read_capture(const std::string& path);

}  // namespace weft::tools::demo
