// SPDX-License-Identifier: Apache-2.0
// What rping has done so far, for the line at the end.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/cli/outcome.hpp"
#include "tools/rping/options.hpp"

namespace weft::tools::rping {

// Counted by the thread of each connection.
struct Tally {
  std::atomic<std::uint64_t> clients = 0;     // server: connections that were accepted
  std::atomic<std::uint64_t> pings = 0;       // that went there and back
  std::atomic<std::uint64_t> octets = 0;      // of their text, each way
  std::atomic<std::uint64_t> mismatches = 0;  // with -V; the connection ends with the first one

  void add_ping(std::uint64_t size) noexcept {
    ++pings;
    octets += size;
  }
  void add(const Tally& other) noexcept;
};

// "10 pings, 640 octets each way", and with -V ", 0 data mismatches".
[[nodiscard]] std::string tally_text(const Tally& tally, const Options& options);
// A server's: "2 clients, " before that.
[[nodiscard]] std::string server_tally_text(const Tally& tally, const Options& options);

// A line on stderr: stdout has what the stock tool prints, and nothing else.
void say(std::string_view line);

// What `done` means at the end. As ping(8) has it, a user who ends it with ^C is content, unless nothing was done by
// then.
[[nodiscard]] Outcome<void> verdict(const Outcome<void>& done, const Tally& tally);

}  // namespace weft::tools::rping
