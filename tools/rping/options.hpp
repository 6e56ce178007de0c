// SPDX-License-Identifier: Apache-2.0
// What `weft rping` was asked to do. The letters are those of rdma-core's rping.
#pragma once

#include <cstdint>
#include <cstdio>
#include <optional>
#include <string_view>

#include "tools/rping/ping_text.hpp"
#include "verbs/connection.hpp"

namespace weft::tools::rping {

struct Options {
  bool server{};                            // -s, else -c
  bool persistent{};                        // -P
  std::uint32_t max_clients = 1024;         // --max-clients
  verbs::Endpoint address{};                // -a, -p
  std::optional<verbs::Endpoint> source{};  // -I
  std::uint32_t size = kDefaultSize;        // -S
  std::uint32_t count = 0;                  // -C; 0: until something ends it
  bool verbose{};                           // -v
  bool validate{};                          // -V
  bool debug{};                             // -d
  verbs::Policy policy{};                   // --mpa-rev, --no-crc, --markers, --rtr
  std::optional<std::uint32_t> ird{};       // --ird
  std::optional<std::uint32_t> ord{};       // --ord

  // A line of -d.
  void trace(std::string_view line) const {
    if (debug) std::printf("%.*s\n", static_cast<int>(line.size()), line.data());
  }
};

}  // namespace weft::tools::rping
